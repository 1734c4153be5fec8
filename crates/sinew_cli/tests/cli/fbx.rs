//! FBX on the command line.

use crate::{
    Folder, character,
    judges::{judge_clip, validate},
    ok, sample,
};
use sinew_outside::{files_below, interop, workspace};

/// An FBX file with everything a character has becomes a GLB with the same.
#[test]
fn a_character_is_converted_with_all_it_has() {
    let folder = Folder::new("fbx-convert");
    let bar = workspace().join("fuzz/seeds/fbx/bar.fbx").to_string_lossy().into_owned();
    let report = ok(&["info", "--json", &bar]);
    assert_eq!(report["kind"], "character", "{report}");
    assert_eq!(report["materials"], serde_json::json!(["red"]));
    assert_eq!((report["joints"].as_u64(), report["morphs"].as_u64()), (Some(2), Some(1)));
    assert!(report["generator"].as_str().unwrap().starts_with("FBX 7.4 ASCII"), "{report}");
    let glb = folder.at("bar.glb");
    let done = ok(&["convert", &bar, &glb, "--json"]);
    assert_eq!(done["warnings"], serde_json::json!([]), "{done}");
    let (before, after) = (character(&bar), character(&glb));
    assert_eq!(before.clips, after.clips);
    for time in [0.0, 0.3, 1.0] {
        let at = |body: &sinew::geom::Character| body.positions_at(Some(&body.clips[0]), time).unwrap();
        assert_eq!(at(&before), at(&after));
    }
    judge_clip(&folder, &glb, &[0.0, 0.5, 1.0]);
}

/// Every file converts to a GLB that holds the same surface, clips and pictures.
#[test]
fn every_file_is_converted() {
    let Some(interop) = interop() else { return };
    let folder = Folder::new("fbx-every");
    let files = ["fbx", "character", "pointcache"].map(|name| files_below(&interop.join(name)));
    for path in files.iter().flatten().filter(|path| path.extension().is_some_and(|e| e == "fbx")) {
        let (path, glb) = (path.to_string_lossy().into_owned(), folder.at("out.glb"));
        ok(&["convert", &path, &glb, "--json"]);
        let (before, after) = (character(&path), character(&glb));
        assert_eq!(before.mesh, after.mesh, "{path}");
        assert_eq!(before.surface, after.surface, "{path}");
        assert_eq!(before.clips, after.clips, "{path}");
        // A picture of normals without tangents, which no file here has, is a warning of the validator.
        if !path.contains("marvelous_quad") {
            validate(&glb);
        }
    }
}

/// A motion without a surface moves another body.
#[test]
fn a_motion_moves_another_body() {
    let Some(interop) = interop() else { return };
    let folder = Folder::new("fbx-motion");
    let dance = interop.join("fbx/Silly_Dancing.fbx").to_string_lossy().into_owned();
    let biped = sample(&folder, "biped");
    let out = folder.at("puppet.glb");
    ok(&["puppet", &biped, "--source", &dance, "-o", &out, "--json"]);
    assert!(character(&out).clips.iter().any(|clip| clip.duration_secs() > 1.0));
    ok(&["refit", &dance, "--skeleton", &biped, "-o", &folder.at("refit.glb"), "--json"]);
}
