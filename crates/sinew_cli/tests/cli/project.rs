//! Projects and other files of our own: what commands do not change comes out again.

use super::{Folder, fails, ok};
use serde_json::Value;

fn names(value: &Value) -> Vec<String> {
    let name = |item: &Value| item.as_str().or(item["name"].as_str()).unwrap().to_owned();
    value.as_array().unwrap().iter().map(name).collect()
}

fn clips(file: &str) -> Vec<String> {
    names(&ok(&["info", file, "--json"])["clips"])
}

fn warns(report: &Value, of: &str) -> bool {
    report["warnings"].as_array().unwrap().iter().any(|warning| warning.as_str().unwrap().contains(of))
}

/// How many example poses a project has: all of them are searched.
fn n_poses(project: &str, to: &str) -> usize {
    ok(&["reach", project, "--to", to, "--json"])["weights"].as_object().unwrap().len()
}

#[test]
fn projects_keep_their_poses_if_the_output_is_a_project() {
    let folder = Folder::new("project");
    let at = |name: &str| folder.at(name);
    let (first, walked, small) = (at("a.sinew.glb"), at("walked.sinew.glb"), at("small.sinew.glb"));
    ok(&["sample", "biped", "-n", "2000", "--poses", "walk", "-o", &first, "--json"]);
    let n = n_poses(&first, "hand.L=0.5,1.2,0.3");
    assert!(n > 2);
    let report = ok(&["walk", &first, "-o", &walked, "--json"]);
    assert!(!warns(&report, "left out"), "{report}");
    assert_eq!(n_poses(&walked, "hand.L=0.5,1.2,0.3"), n);
    ok(&["convert", &walked, &small, "--unit", "cm", "--json"]);
    assert_eq!(n_poses(&small, "hand.L=0.005,0.012,0.003"), n);
    assert_eq!(clips(&small), clips(&walked));
    // What leaves a project is named, and so is what does not fit any more.
    let plain = ok(&["convert", &walked, &at("plain.glb"), "--json"]);
    assert!(warns(&plain, "left out: example poses. Name the output NAME.sinew.glb"), "{plain}");
    let turned = ok(&["convert", &walked, &at("turned.sinew.glb"), "--facing", "x", "--json"]);
    assert!(warns(&turned, "made for the surface at rest as it was: example poses"), "{turned}");
}

#[test]
fn projects_of_a_later_version_are_refused_by_every_command() {
    let folder = Folder::new("newer");
    let (path, out) = (folder.at("a.sinew.glb"), folder.at("out.glb"));
    ok(&["sample", "biped", "-n", "1000", "--poses", "walk", "-o", &path, "--json"]);
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(11).position(|window| window == br#""version":1"#).unwrap();
    bytes[at + 10] = b'9';
    std::fs::write(&path, bytes).unwrap();
    for args in [
        ["walk", &path, "-o", &out].as_slice(),
        &["convert", &path, &out],
        &["turntable", &path, "-o", &out],
        &["handles", "auto", &path, "-o", &out],
        &["flesh", &path, "-o", &out],
        &["refit", &path, "-o", &out],
    ] {
        assert!(fails(args, 1).contains("newer version"), "{args:?}");
    }
}

#[test]
fn our_own_characters_keep_skeleton_and_clips() {
    let folder = Folder::new("own");
    let at = |name: &str| folder.at(name);
    let (fox, walked) = (at("fox.glb"), at("walked.glb"));
    ok(&["sample", "quadruped", "-n", "1000", "-o", &fox, "--json"]);
    ok(&["walk", &fox, "-o", &walked, "--json"]);
    let (joints, all) = (ok(&["info", &walked, "--json"])["joints"].clone(), clips(&walked));
    let kept = |file: &str, new: usize| {
        let (now, clips) = (ok(&["info", file, "--json"]), clips(file));
        assert_eq!(now["joints"], joints, "{file}");
        assert!(clips.len() == all.len() + new && all.iter().all(|clip| clips.contains(clip)), "{clips:?}");
    };
    ok(&["flesh", &walked, "--clip", "walk", "--cells", "200", "-o", &at("flesh.glb"), "--json"]);
    kept(&at("flesh.glb"), 1);
    ok(&["refit", &walked, "--clip", "walk", "-o", &at("refit.glb"), "--json"]);
    kept(&at("refit.glb"), 1);
    let rules = at("rules.txt");
    std::fs::write(&rules, "maximize head.y\n").unwrap();
    ok(&["solve", &rules, "--skeleton", &walked, "-o", &at("solved.glb"), "--json"]);
    kept(&at("solved.glb"), 1);
}

#[test]
fn a_mesh_on_a_turntable_can_still_walk() {
    let folder = Folder::new("turning");
    let at = |name: &str| folder.at(name);
    ok(&["sample", "biped", "-n", "3000", "-o", &at("a.glb"), "--json"]);
    ok(&["convert", &at("a.glb"), &at("a.obj"), "--json"]);
    ok(&["turntable", &at("a.obj"), "-o", &at("turning.glb"), "--json"]);
    let report = ok(&["walk", &at("turning.glb"), "-o", &at("walked.glb"), "--json"]);
    assert_eq!(report["feet"].as_array().unwrap().len(), 2, "{report}");
    assert_eq!(clips(&at("walked.glb")), ["walk", "turntable"]);
}
