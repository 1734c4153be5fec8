//! `sinew turntable`.

use super::{Folder, fails, ok};

#[test]
fn a_turntable_is_one_more_clip_of_the_character() {
    let folder = Folder::new("turntable");
    let (fox, out) = (folder.at("fox.glb"), folder.at("turn.glb"));
    ok(&["sample", "quadruped", "-n", "1000", "-o", &fox, "--json"]);
    ok(&["turntable", &fox, "-o", &out, "--seconds", "2", "--json"]);
    let (before, after) = (ok(&["info", &fox, "--json"]), ok(&["info", &out, "--json"]));
    let n_clips = |info: &serde_json::Value| info["clips"].as_array().unwrap().len();
    assert_eq!(n_clips(&after), n_clips(&before) + 1, "{after}");
    assert!(fails(&["turntable", &out, "-o", &out], 1).contains("taken"));
}
