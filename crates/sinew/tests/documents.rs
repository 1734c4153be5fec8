//! Documents of the outside data: opened, saved as projects, opened again; judged by others.

use crate::support::{data, files_below, tools};
use sinew::{
    geom::Warnings,
    session::{Command, Display, Document, Stage, open_file, read_project, write_project},
};
use std::{ops::ControlFlow, path::Path};

fn open(path: &Path) -> Result<Document, sinew::session::SessionError> {
    open_file(path, &mut |_| ControlFlow::Continue(()), &mut Warnings::default())
}

#[test]
fn broken_files_become_documents_or_clear_errors() {
    let Some(data) = data() else { return };
    let (mut n_opened, mut n_refused) = (0, 0);
    for path in files_below(&data.join("bad")) {
        match open(&path) {
            Ok(document) => {
                n_opened += 1;
                let repaired = Command::Repair {}.apply(&document).map(|repaired| repaired.mesh().n_faces());
                assert!(repaired.is_ok(), "{}: {repaired:?}", path.display());
                let bytes = write_project(&document, &mut Warnings::default()).unwrap();
                let back = read_project(&bytes, &path, &mut Warnings::default()).unwrap();
                assert_eq!(back.mesh().n_faces(), document.mesh().n_faces(), "{}", path.display());
                let go_on = |_| ControlFlow::Continue(());
                let frame = Stage::default().show(&back, &Display::Posed, &go_on).unwrap();
                assert!(frame.positions.iter().all(|p| p.is_finite()), "{}", path.display());
            }
            Err(error) => {
                n_refused += 1;
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                assert!(error.to_string().contains(&name), "{name}: {error}");
            }
        }
    }
    assert!(n_opened > 3 && n_refused > 3, "{n_opened} {n_refused}");
}

/// A project opens in other programs as it is.
#[test]
fn projects_of_rigs_come_back_and_pass_the_validator() {
    let Some(data) = data() else { return };
    let folder = std::env::temp_dir().join(format!("sinew-documents-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut written = Vec::new();
    for name in
        ["khronos/CesiumMan.glb", "khronos/Fox.glb", "quaternius/Husky.glb", "threejs/RobotExpressive.glb"]
    {
        let document = open(&data.join("rigs").join(name)).unwrap();
        let saved = Command::SaveExample { name: "rest".into(), thumbnail: None }.apply(&document).unwrap();
        let bytes = write_project(&saved, &mut Warnings::default()).unwrap();
        let path = folder.join(name.replace('/', "-")).with_extension("sinew.glb");
        std::fs::write(&path, &bytes).unwrap();
        let back = open(&path).unwrap();
        assert_eq!(back.examples[0].name, "rest", "{name}");
        assert_eq!(back.mesh().n_vertices(), document.mesh().n_vertices(), "{name}");
        assert_eq!(
            back.body.skin,
            document.body.skin.clone().map(|_| back.body.skin.clone().unwrap()),
            "{name}"
        );
        let clips =
            |document: &Document| document.clips.iter().map(|clip| clip.name.clone()).collect::<Vec<_>>();
        assert_eq!(clips(&back), clips(&document), "{name}");
        // The same pixels at the same moment.
        let at = |document: &Document| document.body.positions_at(Some(&document.clips[0]), 0.3).unwrap();
        let (a, b) = (at(&document), at(&back));
        let far = a.iter().zip(&b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max);
        assert!(far < 1e-4 * document.mesh().diagonal(), "{name}: {far}");
        // What its own file says wrongly stays: only new messages count.
        written.push(format!("{}={}", path.display(), data.join("rigs").join(name).display()));
    }
    if let Some(tools) = tools() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/judges/validate.mjs");
        let judged = std::process::Command::new("node")
            .arg(script)
            .args(&written)
            .env("SINEW_TOOLS", tools)
            .output()
            .unwrap();
        assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    }
    std::fs::remove_dir_all(folder).unwrap();
}
