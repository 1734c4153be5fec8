//! Caches, USD and compressed files from the command line: described, converted, fitted, baked, written into.

use super::{Folder, QUAD, character, fails, ok};
use std::path::Path;

fn seed(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(name).to_string_lossy().into_owned()
}

#[test]
fn alembic_and_usd_are_described_converted_and_baked() {
    let folder = Folder::new("caches");
    for (name, joints, n_morphs) in
        [("abc/moving.abc", 0, 1), ("usd/skinned.usda", 2, 2), ("usd/moving.usda", 0, 2)]
    {
        let report = ok(&["info", "--json", &seed(name)]);
        assert!(report["vertices"].as_u64().unwrap() >= 3, "{report}");
        assert_eq!(report["clips"].as_array().unwrap().len(), 1, "{report}");
        let glb = folder.at("out.glb");
        ok(&["convert", "--json", &seed(name), &glb]);
        let written = character(&glb);
        assert_eq!((written.clips.len(), written.morphs.len()), (1, n_morphs), "{name}");
        assert!(written.rig.map_or(0, |rig| rig.n_joints()) >= joints, "{name}");
        let frames = folder.at(&format!("frames-{joints}-{n_morphs}"));
        ok(&["convert", "--json", &seed(name), &frames]);
        assert!(std::fs::read_dir(&frames).unwrap().count() >= 2, "{name}");
    }
}

/// A square that moves up over three frames.
fn mdd(n_vertices: i32) -> Vec<u8> {
    let mut bytes: Vec<u8> = [3, n_vertices].map(i32::to_be_bytes).concat();
    let quad = [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
    let times = [0.0, 0.5, 1.0f32];
    let points = times
        .iter()
        .flat_map(|t| quad.iter().cycle().take(n_vertices as usize).map(move |p| [p[0], p[1], *t]));
    let floats = times.iter().copied().chain(points.flatten());
    bytes.extend(floats.flat_map(f32::to_be_bytes));
    bytes
}

#[test]
fn point_caches_move_the_mesh_that_is_named() {
    let folder = Folder::new("points");
    let mesh = folder.write("square.obj", QUAD);
    let cache = folder.at("wave.mdd");
    std::fs::write(&cache, mdd(4)).unwrap();
    assert!(fails(&["info", &cache], 1).contains("wave.obj"));
    let glb = folder.at("wave.glb");
    ok(&["convert", "--json", &cache, &glb, "--mesh", &mesh]);
    let written = character(&glb);
    let at_end = written.positions_at(written.clips.first(), 1.0).unwrap();
    assert!(at_end.iter().all(|p| (p.z - 1.0).abs() < 1e-4), "{at_end:?}");
    let skin = folder.at("skin.glb");
    ok(&["fit", "--json", &cache, "--mesh", &mesh, "--bones", "1", "-o", &skin]);
    assert!(character(&skin).skin.is_some());
    std::fs::write(&cache, mdd(3)).unwrap();
    let error = fails(&["convert", &cache, &glb, "--mesh", &mesh], 1);
    assert!(error.contains("3 vertices") && error.contains("has 4"), "{error}");
    assert!(fails(&["convert", &mesh, &glb, "--mesh", &mesh], 1).contains("not a point cache"));
}

/// Files of other programs, compressed and cached, through commands that write into what they opened.
#[test]
fn files_of_other_programs_are_converted_posed_and_fitted() {
    let Some(interop) = sinew_outside::interop() else { return };
    let folder = Folder::new("interop");
    let at = |name: &str| interop.join(name).to_string_lossy().into_owned();
    let out = folder.at("out.glb");
    for name in [
        "gltf/pirate.glb",
        "gltf/duck_three.glb",
        "gltf/CesiumMan-draco/CesiumMan.gltf",
        "usd/CesiumMan.usdz",
    ] {
        ok(&["convert", "--json", &at(name), &out]);
        assert!(character(&out).mesh.n_faces() > 0);
    }
    ok(&["refit", "--json", &at("gltf/CesiumMan-draco/CesiumMan.gltf"), "--scale", "legs=0.9", "-o", &out]);
    assert!(character(&out).skin.is_some());
    ok(&["fit", "--json", &at("abc/animatedCube_cortex.abc"), "--bones", "2", "-o", &out]);
    let error = fails(&["fit", &at("abc/variableTopoSubd.abc"), "-o", &out], 1);
    assert!(error.contains("change at frame 6"), "{error}");
    assert!(fails(&["info", &at("abc/cube_prman.abc")], 1).contains("abcconvert"));
}
