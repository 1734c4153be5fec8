//! Commands that need a skeleton give a mesh without one a skeleton, and say so.

use super::{Folder, fails, ok, sinew};

/// A body without bones.
fn bare_biped(folder: &Folder) -> String {
    let (sample, bare) = (folder.at("biped.glb"), folder.at("scan.obj"));
    ok(&["sample", "biped", "--vertices", "3000", "-o", &sample, "--json"]);
    ok(&["convert", &sample, &bare, "--json"]);
    bare
}

#[test]
fn rules_pose_a_mesh_without_a_skeleton() {
    let folder = Folder::new("skeleton-solve");
    let (bare, rules, out) = (bare_biped(&folder), folder.at("x.rules"), folder.at("posed.glb"));
    std::fs::write(&rules, "distance \"foot.L\" \"foot.R\" = 50 cm\n").unwrap();
    let output = sinew(&["solve", &rules, "--skeleton", &bare, "-o", &out, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("was given one") && said.contains("biped") && said.contains("confidence"),
        "{said}"
    );
    let info = ok(&["info", &out, "--json"]);
    assert!(info["joints"].as_u64().unwrap() > 15 && info["clips"].as_array().unwrap().len() == 1, "{info}");
}

#[test]
fn what_cannot_be_rigged_is_refused() {
    let folder = Folder::new("skeleton-refused");
    let point = folder.write("point.obj", "v 1 1 1\nv 1 1 1\nv 1 1 1\nf 1 2 3\n");
    let rules = folder.write("x.rules", "distance hips head = 50 cm\n");
    let message = fails(&["solve", &rules, "--skeleton", &point], 1);
    assert!(message.contains("point.obj") && message.contains("extent"), "{message}");
}
