//! VRM on the command line.

use crate::{Folder, ok};
use serde_json::Value;
use sinew_outside::interop;

/// The terms of an avatar are shown, and its prohibitions said when it is written.
#[test]
fn terms_are_shown_and_prohibitions_said() {
    let Some(interop) = interop() else { return };
    let folder = Folder::new("vrm-terms");
    let at = |name: &str| interop.join(name).to_string_lossy().into_owned();
    let report = ok(&["info", "--json", &at("vrm/vrm0_expressions.vrm")]);
    assert_eq!(
        (&report["redistribution"], &report["modification"]),
        (&"prohibited".into(), &"not said".into())
    );
    assert_eq!(report["authors"], serde_json::json!(["usd-vrm-plugins"]));
    assert_eq!(report["expressions"], serde_json::json!(["Joy (1 morph targets)"]));
    let done = ok(&["convert", &at("vrm/vrm0_expressions.vrm"), &folder.at("a.glb"), "--json"]);
    assert!(
        done["warnings"].to_string().contains("by usd-vrm-plugins prohibits giving it to others"),
        "{done}"
    );
    let done = ok(&["convert", &at("vrm/Godette_vrm_v4.vrm"), &folder.at("b.glb"), "--json"]);
    assert!(!done["warnings"].to_string().contains("prohibits"), "{done}");
}

/// Bones that the file names are those of the body, whatever nodes are called, and damage is reported.
#[test]
fn bones_are_those_that_the_file_names() {
    let Some(interop) = interop() else { return };
    let report = |name: &str| ok(&["info", "--json", &interop.join(name).to_string_lossy()]);
    let body = report("vrm/Godette_vrm_v4.vrm")["body"].clone();
    let part = |name: &str| -> Value {
        let joints = body["joints"].as_array().unwrap();
        joints.iter().find(|joint| joint["name"] == name).unwrap()["part"].clone()
    };
    assert_eq!(part("tummy_Armature"), "spine");
    assert_eq!(body["facing"][2], -1.0, "VRM 0 faces -Z");
    let body = report("vrm/EmissionMigration_v0.107.0.vrm")["body"].clone();
    assert_eq!(body["class"], "biped", "an avatar without skins has a skeleton");
    let said = report("vrm_bad/duplicate_humanoid_bone.vrm")["warnings"].to_string();
    assert!(said.contains("is named twice, by nodes 1 and 2"), "{said}");
    let said = report("vrm_bad/oob_expression_morph.vrm")["warnings"].to_string();
    assert!(said.contains("it moves morph target 7"), "{said}");
}
