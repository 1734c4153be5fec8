//! `sinew walk`.

use super::{Folder, fails, ok};

#[test]
fn a_dog_walks_on_four_feet_and_its_other_clips_stay() {
    let folder = Folder::new("walk");
    let (fox, out) = (folder.at("fox.glb"), folder.at("walk.glb"));
    ok(&["sample", "quadruped", "-n", "2000", "-o", &fox, "--json"]);
    let made = ok(&["walk", &fox, "--name", "stroll", "-o", &out, "--json"]);
    assert_eq!((made["body"].as_str(), made["gait"].as_str()), (Some("quadruped"), Some("walk")));
    assert_eq!(made["feet"].as_array().unwrap().len(), 4, "{made}");
    assert!(made["damage"].as_array().unwrap().is_empty(), "{made}");
    let (before, after) = (ok(&["info", &fox, "--json"]), ok(&["info", &out, "--json"]));
    let n_clips = |info: &serde_json::Value| info["clips"].as_array().unwrap().len();
    assert_eq!(n_clips(&after), n_clips(&before) + 1, "{after}");
}

#[test]
fn a_mesh_without_a_skeleton_walks_and_what_has_no_legs_is_refused() {
    let folder = Folder::new("walk-mesh");
    let (scan, out, bar) = (folder.at("scan.obj"), folder.at("walk.glb"), folder.at("bar.glb"));
    ok(&["sample", "biped", "-n", "4000", "-o", &scan, "--json"]);
    let made = ok(&["walk", &scan, "--line", "0,2", "--ground", "slope:5", "-o", &out, "--json"]);
    assert_eq!(made["feet"].as_array().unwrap().len(), 2, "{made}");
    ok(&["sample", "bar", "-n", "1000", "-o", &bar, "--json"]);
    assert!(fails(&["walk", &bar, "-o", &out], 1).contains("sinew rig"));
    assert!(fails(&["walk", &scan, "--line", "1", "-o", &out], 1).contains("pairs"));
}
