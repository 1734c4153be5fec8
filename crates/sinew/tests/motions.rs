//! Motions of scans that were given handles: what a project of them holds, and how it is stored.

use crate::support::data;
use glam::DVec3;
use sinew::{
    deform::{AutoParams, find_handles},
    formats::{
        gltf::{GlbOptions, write_glb},
        paths::KeyframesData,
        read_any,
    },
    geom::{Move, Warnings},
    session::{Command, Document, Example, Follow, bake, write_project},
};
use std::{ops::ControlFlow, path::Path, sync::Arc};

/// Beside twice the mesh, so many bytes per second of motion may be stored.
const BYTES_PER_SECOND: f64 = 1e5;
/// Of larger scans, preparing the surface would take most of the time of all tests.
const MOST_VERTICES: usize = 60_000;
const FPS: f64 = 30.0;

/// A scan with the handles that are found in it, and poses in which limbs are bent one after the other.
fn posed(path: &Path) -> Option<Document> {
    let mut warnings = Warnings::default();
    let character = read_any(path, &mut warnings).ok()?.into_character()?;
    if character.mesh.n_vertices() > MOST_VERTICES {
        return None;
    }
    let mut document = Document::new(character);
    let go = &mut |_| ControlFlow::Continue(());
    let handles = find_handles(document.mesh(), &AutoParams::default(), go, &mut warnings).unwrap();
    document.handles = handles.into_iter().map(Arc::new).collect();
    let bend = |at: usize| Move::Rotate {
        main: document.handles[at].name.clone(),
        handles: document.handles[at].secondary.clone(),
        axis: [DVec3::X, DVec3::Y, DVec3::Z][at % 3],
        radians: if at.is_multiple_of(2) { 0.6 } else { -0.6 },
    };
    let n = document.handles.len();
    let pose = |k: usize| Example {
        name: format!("pose {k}"),
        moves: Arc::new((1..n).filter(|at| at % 4 == k).map(bend).collect()),
        detail: None,
        thumbnail: None,
    };
    document.examples = (0..4).map(pose).filter(|pose| !pose.moves.is_empty()).map(Arc::new).collect();
    (document.examples.len() > 1).then_some(document)
}

/// Every scan at hand, with a motion: at most twice the mesh and 100 kB per second are stored.
#[test]
fn a_project_of_a_scan_with_motion_is_little_larger_than_its_mesh() {
    let Some(data) = data() else { return };
    let mut n_scans = 0;
    for path in sinew_outside::files_below(&data.join("meshes")) {
        let Some(mut document) = posed(&path) else { continue };
        let mesh =
            write_glb(&document.character(), &GlbOptions::default(), &mut Warnings::default()).unwrap();
        let examples: Vec<String> = document.examples.iter().map(|example| example.name.clone()).collect();
        let mut paths = (*document.paths).clone();
        paths.keyframes = Some(KeyframesData { examples, seconds: 0.5 });
        document = Command::SetPaths { paths: Box::new(paths) }.apply(&document).unwrap();
        let go = |_| ControlFlow::Continue(());
        let (document, report) = bake(&document, "keys", FPS, Follow::Keyframes, &go).unwrap();
        let shown = path.display();
        println!("{shown}: {} frames, {:?}", report.n_frames, report.fit);
        assert!(report.fit.joints > 0, "{shown}: a clip of vertices");
        let seconds = f64::from(document.clips[0].duration_secs());
        let project = write_project(&document, &mut Warnings::default()).unwrap();
        let most = 2.0 * mesh.len() as f64 + BYTES_PER_SECOND * seconds;
        println!("{}: mesh {}, project {}, may be {most}", path.display(), mesh.len(), project.len());
        assert!(
            project.len() as f64 <= most,
            "{}: {} bytes instead of {most}",
            path.display(),
            project.len()
        );
        n_scans += 1;
    }
    assert!(n_scans > 8, "{n_scans} scans");
}
