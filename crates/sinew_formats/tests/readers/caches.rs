//! Vertices over time from other programs: Alembic and point caches.

use glam::Vec3;
use sinew_formats::{Content, Model, alembic, gltf::morph_sequence, point_cache, read_any, read_cache_over};
use sinew_geom::{MeshSequence, Warnings};
use sinew_outside::{files_below, interop};
use std::path::{Path, PathBuf};

fn open(path: &Path) -> Result<(Model, Vec<String>), String> {
    let mut warnings = Warnings::default();
    match read_any(path, &mut warnings).map_err(|error| error.to_string())? {
        Content::Model(model) => Ok((*model, warnings.messages)),
        _ => panic!("{}: not a model", path.display()),
    }
}

fn sequence(model: &Model) -> MeshSequence {
    morph_sequence(&model.character, None, &mut Warnings::default()).unwrap_or_else(|fault| panic!("{fault}"))
}

/// What the index of the files says is in them: meshes with points over time, and what cannot be opened.
#[test]
fn every_alembic_file_opens_or_says_why() {
    let Some(interop) = interop() else { return };
    // Vertices, faces and frames; 0 frames where nothing moves.
    let expected = [
        ("DummyAlembic.abc", Ok(0)),
        ("animatedCube_cortex.abc", Ok(10)),
        ("coloredMesh.abc", Ok(0)),
        ("cube_prman.abc", Err("abcconvert")),
        ("cubes_coloured.abc", Ok(0)),
        ("sphereWithShadingGroups.abc", Ok(0)),
        ("testUsdAbcIsConstant.abc", Ok(240)),
        ("triangleRigged_asymetricalVertexTransform_24fps_2f.abc", Ok(3)),
        ("variableTopoSubd.abc", Ok(0)),
        ("varyingPoints.abc", Err("only 1 Points")),
    ];
    let files = files_below(&interop.join("abc"));
    assert_eq!(files.len(), expected.len());
    for (path, (name, expected)) in files.iter().zip(expected) {
        assert!(path.ends_with(name), "{}", path.display());
        match (open(path), expected) {
            (Ok((model, warnings)), Ok(n_frames)) => {
                let character = &model.character;
                let found = if character.clips.is_empty() { 0 } else { sequence(&model).n_frames() };
                println!(
                    "{name}: {} v {} f {found} frames {warnings:?}",
                    character.mesh.n_vertices(),
                    character.mesh.n_faces()
                );
                assert_eq!(found, n_frames, "{name}");
                assert!(character.mesh.n_faces() > 0, "{name}");
                let changes = warnings.iter().any(|warning| warning.starts_with(alembic::CHANGES));
                assert_eq!(changes, name == "variableTopoSubd.abc", "{warnings:?}");
            }
            (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
            (found, _) => panic!("{name}: {:?}", found.map(|(_, warnings)| warnings)),
        }
    }
}

#[test]
fn broken_alembic_files_say_where() {
    let Some(interop) = interop() else { return };
    for path in files_below(&interop.join("abc_bad")) {
        match open(&path) {
            Ok((model, _)) => println!("{}: {} v", path.display(), model.character.mesh.n_vertices()),
            Err(error) => {
                println!("{error}");
                assert!(error.starts_with(&*path.to_string_lossy()), "{error}");
            }
        }
    }
}

/// A cube that turns and a surface that is closed: faces look outwards, and the volume of what only moves stays.
#[test]
fn alembic_faces_look_outwards() {
    let Some(interop) = interop() else { return };
    for name in ["animatedCube_cortex.abc", "sphereWithShadingGroups.abc", "cubes_coloured.abc"] {
        let (model, _) = open(&interop.join("abc").join(name)).unwrap();
        let volume = sinew_geom::measure::compute_volume(&model.character.mesh);
        assert!(volume > 0.0, "{name}: {volume}");
    }
}

/// Points that move below a transform that moves.
#[test]
fn alembic_points_and_transforms_move_together() {
    let bytes = include_bytes!("../../../../fuzz/seeds/abc/moving.abc");
    let mut warnings = Warnings::default();
    let model = alembic::read_alembic(bytes, "moving.abc", &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    let played = sequence(&model);
    assert_eq!((played.n_frames(), played.fps()), (2, 24.0));
    assert_eq!(played.frames()[0], [Vec3::ZERO, Vec3::X, Vec3::Y]);
    assert_eq!(
        played.frames()[1],
        [Vec3::new(0.0, 0.0, 2.0), Vec3::new(1.0, 0.0, 2.0), Vec3::new(0.0, 1.0, 3.0)]
    );
    let [a, b, c] = model.character.mesh.faces()[0].map(|v| played.frames()[0][v as usize]);
    assert!((b - a).cross(c - a).z > 0.0, "clockwise faces are turned round");
}

#[test]
fn damaged_alembic_files_give_an_error_or_a_mesh() {
    let Some(interop) = interop() else { return };
    for name in [
        "varyingPoints.abc",
        "variableTopoSubd.abc",
        "triangleRigged_asymetricalVertexTransform_24fps_2f.abc",
        "animatedCube_cortex.abc",
    ] {
        let bytes = std::fs::read(interop.join("abc").join(name)).unwrap();
        let attempt = |bytes: &[u8]| {
            if let Err(error) = alembic::read_alembic(bytes, "a.abc", &mut Warnings::default()) {
                assert!(error.to_string().starts_with("a.abc"), "{error}");
            }
        };
        let step = 1 + bytes.len() / 2000;
        (0..bytes.len()).step_by(step).for_each(|end| attempt(&bytes[..end]));
        for at in (0..bytes.len()).step_by(step) {
            for flip in [0x01, 0x80, 0xFF] {
                let mut broken = bytes.clone();
                broken[at] ^= flip;
                attempt(&broken);
            }
        }
    }
}

/// A folder of its own for files of a test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// The cache of 3ds Max holds the poses that the program itself wrote as OBJ files, in another order and 10 units lower, where
/// the pivot of the object is.
#[test]
fn a_point_cache_holds_the_poses_of_its_maker() {
    let Some(interop) = interop() else { return };
    let folder = interop.join("pointcache");
    let bytes = std::fs::read(folder.join("max_cache_box.pc2")).unwrap();
    let cache = point_cache::read_point_cache(&bytes, "box.pc2", None, &mut Warnings::default()).unwrap();
    assert_eq!((cache.frames.len(), cache.n_vertices), (11, 770));
    for (frame, name) in [(4, "max_cache_box_44.obj"), (8, "max_cache_box_48.obj")] {
        let (truth, _) = open(&folder.join(name)).unwrap();
        let mesh = &truth.character.mesh;
        for point in mesh.positions() {
            let lower = point.as_vec3() - Vec3::new(0.0, 0.0, 10.0);
            let off = cache.frames[frame].iter().map(|p| p.distance(lower)).fold(f32::INFINITY, f32::min);
            assert!(f64::from(off) < 1e-4 * mesh.diagonal(), "{name}: {point} is {off} away");
        }
    }
}

#[test]
fn caches_find_the_mesh_beside_them() {
    let folder = Folder::new("caches");
    let at = |name: &str| folder.0.join(name);
    let mut mdd = [2i32, 3].map(i32::to_be_bytes).concat();
    let floats: Vec<f32> = [0.0, 0.5].into_iter().chain((0..18).map(|k| k as f32)).collect();
    mdd.extend(floats.iter().flat_map(|x| x.to_be_bytes()));
    std::fs::write(at("flag.mdd"), &mdd).unwrap();
    let error = open(&at("flag.mdd")).unwrap_err();
    assert!(error.contains("flag.obj") && error.contains("--mesh"), "{error}");
    std::fs::write(at("flag.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let (model, warnings) = open(&at("flag.mdd")).unwrap();
    assert!(warnings[0].contains("flag.obj"), "{warnings:?}");
    assert_eq!(sequence(&model).frames()[1][2], Vec3::new(15.0, 16.0, 17.0));
    assert_eq!(sequence(&model).fps(), 2.0);
    std::fs::write(at("flag.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3 4\n").unwrap();
    let error = open(&at("flag.mdd")).unwrap_err();
    assert!(error.contains("3 vertices") && error.contains("has 4"), "{error}");
    let error =
        read_cache_over(&at("flag.obj"), &at("flag.obj"), None, &mut Warnings::default()).unwrap_err();
    assert!(error.to_string().contains("not a point cache"), "{error}");
}

#[test]
fn damaged_point_caches_give_an_error() {
    let Some(interop) = interop() else { return };
    let bytes = std::fs::read(interop.join("pointcache/max_cache_box.pc2")).unwrap();
    let read = |bytes: &[u8]| point_cache::read_point_cache(bytes, "a.pc2", None, &mut Warnings::default());
    assert_eq!(read(&bytes).unwrap().n_vertices, 770);
    for end in (0..bytes.len()).step_by(101) {
        assert!(read(&bytes[..end]).is_err());
    }
    for at in 0..32 {
        let mut broken = bytes.clone();
        broken[at] ^= 0xFF;
        drop(read(&broken));
    }
}
