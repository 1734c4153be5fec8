//! `sinew rig`.

use super::{Folder, fails, ok};

/// Our own sample as a mesh without a skeleton.
fn bare(folder: &Folder, sample: &str) -> String {
    let (rigged, bare) = (folder.at(&format!("{sample}.glb")), folder.at(&format!("{sample}.obj")));
    ok(&["sample", sample, "-n", "4000", "-o", &rigged, "--json"]);
    ok(&["convert", &rigged, &bare, "--json"]);
    bare
}

#[test]
fn a_mesh_becomes_a_character_with_names() {
    let folder = Folder::new("rig");
    let (mesh, out) = (bare(&folder, "biped"), folder.at("rigged.glb"));
    let report = ok(&["rig", &mesh, "-o", &out, "--json"]);
    assert_eq!(report["class"], "biped", "{report}");
    assert!(report["confidence"].as_f64().unwrap() > 0.7, "{report}");
    let info = ok(&["info", &out, "--json"]);
    assert!(info.to_string().contains("upper_arm.L"), "{info}");
}

#[test]
fn joints_get_the_names_of_another_program() {
    let folder = Folder::new("rig-names");
    let (mesh, out) = (bare(&folder, "biped"), folder.at("rigged.glb"));
    let report = ok(&["rig", &mesh, "-o", &out, "--names", "mixamo", "--json"]);
    let names: Vec<&str> = report["joints"].as_array().unwrap().iter().filter_map(|n| n.as_str()).collect();
    assert!(names.contains(&"mixamorig:LeftForeArm"), "{names:?}");
    assert!(fails(&["rig", &mesh, "-o", &out, "--names", "maya"], 2).contains("unreal"));
}

#[test]
fn weights_are_made_again_on_the_same_skeleton() {
    let folder = Folder::new("rig-keep");
    let (fox, out) = (folder.at("fox.glb"), folder.at("bound.glb"));
    ok(&["sample", "quadruped", "-n", "2000", "-o", &fox, "--json"]);
    ok(&["rig", &fox, "--keep-skeleton", "-o", &out, "--json"]);
    let (before, after) = (ok(&["info", &fox, "--json"]), ok(&["info", &out, "--json"]));
    assert_eq!(before["clips"].as_array().unwrap().len(), after["clips"].as_array().unwrap().len());
    let mesh = bare(&folder, "biped");
    assert!(fails(&["rig", &mesh, "--keep-skeleton", "-o", &out], 1).contains("no skeleton"));
}
