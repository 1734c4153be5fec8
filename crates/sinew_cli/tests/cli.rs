//! The command line as a script sees it.

#![allow(clippy::unwrap_used)]

#[cfg(unix)]
#[path = "cli/bench.rs"]
mod bench;
#[path = "cli/caches.rs"]
mod caches;
#[path = "cli/every_character.rs"]
mod every_character;
#[path = "cli/examples.rs"]
mod examples;
#[cfg(feature = "fbx")]
#[path = "cli/fbx.rs"]
mod fbx;
#[path = "cli/fit.rs"]
mod fit;
#[path = "cli/flesh.rs"]
mod flesh;
#[path = "cli/host.rs"]
mod host;
#[path = "cli/judges.rs"]
mod judges;
#[path = "cli/licenses.rs"]
mod licenses;
#[path = "cli/muscle.rs"]
mod muscle;
#[path = "cli/parts.rs"]
mod parts;
#[path = "cli/play.rs"]
mod play;
#[path = "cli/pose.rs"]
mod pose;
#[path = "cli/project.rs"]
mod project;
#[path = "cli/puppet.rs"]
mod puppet;
#[path = "cli/refit.rs"]
mod refit;
#[path = "cli/rig.rs"]
mod rig;
#[path = "cli/scale.rs"]
mod scale;
#[path = "cli/skeleton.rs"]
mod skeleton;
#[path = "cli/solve.rs"]
mod solve;
#[path = "cli/turntable.rs"]
mod turntable;
#[path = "cli/vrm.rs"]
mod vrm;
#[path = "cli/walk.rs"]
mod walk;

use serde_json::Value;
use sinew::{
    formats::read_any,
    geom::{Character, Warnings},
};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

const SINEW: &str = env!("CARGO_BIN_EXE_sinew");

fn sinew(args: &[&str]) -> Output {
    Command::new(SINEW).args(args).output().unwrap()
}

fn ok(args: &[&str]) -> Value {
    let output = sinew(args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {said}");
    // Exactly one object, and nothing else.
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}"))
}

fn fails(args: &[&str], code: i32) -> String {
    let output = sinew(args);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    said
}

/// A sample character in a folder.
fn sample(folder: &Folder, name: &str) -> String {
    let path = folder.at(&format!("{name}.glb"));
    ok(&["sample", name, "-n", "1500", "-o", &path, "--json"]);
    path
}

fn character(path: &str) -> Character {
    read_any(Path::new(path), &mut Warnings::default()).unwrap().into_character().unwrap()
}

/// A folder of this test's own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-cli-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn at(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    fn write(&self, name: &str, text: &str) -> String {
        std::fs::write(self.0.join(name), text).unwrap();
        self.at(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const QUAD: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";

#[test]
fn info_prints_the_contract_keys() {
    let folder = Folder::new("info");
    let report = ok(&["info", "--json", &folder.write("quad.obj", QUAD)]);
    let keys = "kind vertices faces components boundary_edges non_manifold_edges unreferenced_vertices \
                degenerate_faces joints clips warnings";
    for key in keys.split_whitespace() {
        assert!(report.get(key).is_some(), "{key} is missing in {report}");
    }
    assert_eq!(report["kind"], "mesh");
    assert_eq!((report["vertices"].as_u64(), report["faces"].as_u64()), (Some(4), Some(1)));
    assert_eq!(report["boundary_edges"], 4);
}

#[test]
fn every_sample_can_be_made_listed_and_converted() {
    let folder = Folder::new("sample");
    for name in ["biped", "quadruped", "octopus", "sack", "bar"] {
        let glb = folder.at(&format!("{name}.glb"));
        let made = ok(&["sample", name, "-n", "1500", "-o", &glb, "--json"]);
        let reported = ok(&["info", &glb, "--json"]);
        assert_eq!(reported["kind"], "character");
        for key in ["vertices", "faces", "joints"] {
            assert_eq!(made[key], reported[key], "{name}: {key}");
        }
        assert_eq!(
            (reported["closed"].as_bool(), reported["components"].as_u64()),
            (Some(true), Some(1)),
            "{name}"
        );
        assert!(
            !reported["handles"].as_array().unwrap().is_empty()
                && !reported["clips"].as_array().unwrap().is_empty()
        );
        let obj = folder.at(&format!("{name}.obj"));
        let written = ok(&["convert", &glb, &obj, "--json"]);
        // The surface and its material library.
        let sizes =
            [&obj, &folder.at(&format!("{name}.mtl"))].map(|path| std::fs::metadata(path).unwrap().len());
        assert_eq!(written["bytes"].as_u64(), Some(sizes[0] + sizes[1]));
        assert_eq!(ok(&["info", &obj, "--json"])["vertices"], made["vertices"]);
    }
}

#[test]
fn sequences_go_through_folders_and_glb() {
    let folder = Folder::new("sequence");
    let (glb, frames, again) = (folder.at("flag.glb"), folder.at("frames"), folder.at("again.glb"));
    let made = ok(&["sample", "flag", "-n", "1000", "-o", &glb, "--json"]);
    ok(&["convert", &glb, &frames, "--json"]);
    let reported = ok(&["info", &frames, "--json"]);
    assert_eq!((reported["kind"].as_str(), &reported["frames"]), (Some("sequence"), &made["frames"]));
    ok(&["convert", &frames, &again, "--fps", "24", "--json"]);
    assert_eq!(ok(&["info", &again, "--json"])["vertices"], made["vertices"]);
}

#[test]
fn a_clip_survives_bvh() {
    let folder = Folder::new("bvh");
    let (glb, bvh) = (folder.at("biped.glb"), folder.at("walk.bvh"));
    let made = ok(&["sample", "biped", "-n", "1000", "-o", &glb, "--json"]);
    ok(&["convert", &glb, &bvh, "--json"]);
    let reported = ok(&["info", &bvh, "--json"]);
    assert_eq!((reported["kind"].as_str(), &reported["joints"]), (Some("motion"), &made["joints"]));
}

#[test]
fn repair_corrects_a_soup() {
    let folder = Folder::new("repair");
    let soup = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 4 5 6\nf 4 4 6\n";
    let (input, output) = (folder.write("soup.obj", soup), folder.at("clean.obj"));
    let report = ok(&["convert", "--repair", &input, &output, "--json"]);
    assert!(report["warnings"].to_string().contains("coincident vertices were merged"), "{report}");
    let reported = ok(&["info", &output, "--json"]);
    // The second face runs the wrong way round and is turned; the third has no area.
    assert_eq!(
        (&reported["vertices"], &reported["faces"], &reported["inconsistent_edges"]),
        (&4.into(), &2.into(), &0.into())
    );
}

#[test]
fn failures_name_file_line_cause_and_remedy() {
    let folder = Folder::new("errors");
    let bad = folder.write("bad.obj", "v 0 0 0\nv 1 x 0\nv 0 1 0\nf 1 2 9\n");
    let said = fails(&["info", &bad], 1);
    assert!(said.contains("bad.obj:2:") && said.contains("bad.obj:4:"), "{said}");
    assert!(said.lines().all(|line| line.starts_with("error: ")), "{said}");
    let said = fails(&["info", &folder.at("absent.obj")], 1);
    assert!(said.contains("absent.obj"), "{said}");
    assert!(fails(&["info", &folder.0.to_string_lossy()], 1).contains("no numbered mesh files"));
    let empty = folder.write("empty.glb", "");
    assert!(fails(&["info", &empty], 1).contains("the file is empty"));
    let quad = folder.write("quad.obj", QUAD);
    assert!(fails(&["convert", &quad, &folder.at("x.fbx")], 1).contains("use glb"));
    assert!(fails(&["convert", &quad, &folder.at("x.bvh")], 1).contains("no skeleton"));
    assert!(fails(&["sample", "biped", "-n", "3", "-o", &folder.at("x.glb")], 1).contains("1000"));
    fails(&["sample", "unicorn", "-o", "x.glb"], 2);
    fails(&["info"], 2);
    // A failed write leaves no file behind.
    assert!(!Path::new(&folder.at("x.fbx")).exists());
}

#[test]
fn quads_may_bend_any_way_within_a_sequence() {
    let folder = Folder::new("quads");
    let frames = folder.0.join("frames");
    std::fs::create_dir_all(&frames).unwrap();
    std::fs::write(frames.join("f1.obj"), QUAD).unwrap();
    // The same face, concave: it would be cut along its other diagonal.
    std::fs::write(frames.join("f2.obj"), QUAD.replace("v 1 1 0", "v 0.2 0.2 0")).unwrap();
    let reported = ok(&["info", &frames.to_string_lossy(), "--json"]);
    assert_eq!(reported["frames"], 2);
    std::fs::write(frames.join("f3.obj"), QUAD.replace("f 1 2 3 4", "f 1 2 4 3")).unwrap();
    let said = fails(&["convert", &frames.to_string_lossy(), &folder.at("x.glb")], 1);
    assert!(said.contains("f3.obj") && said.contains("[0, 1, 3, 2] instead of [0, 1, 2, 3]"), "{said}");
}

#[test]
fn frames_of_two_lengths_do_not_mix_and_unused_options_are_reported() {
    let folder = Folder::new("mix");
    let (glb, frames) = (folder.at("bar.glb"), folder.at("frames"));
    ok(&["sample", "bar", "-n", "1000", "-o", &glb, "--json"]);
    let long = ok(&["convert", &glb, &frames, "--fps", "20", "--repair", "--json"]);
    assert!(long["warnings"].to_string().contains("--repair has no effect"), "{long}");
    assert!(fails(&["convert", &glb, &frames, "--fps", "10"], 1).contains("another folder"));
    assert!(fails(&["convert", &glb, &folder.at("other"), "--fps", "1e9"], 1).contains("at most 100000"));
    assert!(
        fails(&["sample", "flag", "-n", "20000", "-o", &folder.at("x.obj")], 1).contains("folder of .obj")
    );
}

#[test]
fn what_could_be_read_is_shown_beside_what_could_not() {
    let folder = Folder::new("mixed");
    let quad = folder.write("quad.obj", QUAD);
    let output = sinew(&["info", &quad, "absent.obj", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["files"][0]["vertices"], 4);
    assert!(value["error"].as_str().unwrap().contains("absent.obj"));
    let output = sinew(&["info", &quad, "absent.obj"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("quad.obj"));
    // A full disk is a failure, not a lost result.
    let full =
        Command::new("sh").args(["-c", &format!("'{SINEW}' info '{quad}' > /dev/full")]).output().unwrap();
    assert_eq!(full.status.code(), Some(1));
}

/// A closed standard error is no error and must not hide the result.
#[test]
fn a_closed_standard_error_is_no_failure() {
    let folder = Folder::new("deaf");
    let quad = folder.write("quad.obj", &QUAD.replace("v 1 1 0", "v nan 1 0"));
    let glb = folder.at("quad.glb");
    for to in ["/dev/full", "&-"] {
        let line = format!(
            "'{SINEW}' convert '{quad}' '{glb}' 2>{to}; echo $?; '{SINEW}' info absent.obj 2>{to}; echo $?"
        );
        let output = Command::new("sh").args(["-c", &line]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.contains("quad.glb") && said.ends_with("0\n1\n"), "{to}: {said}");
    }
}

#[test]
fn absurd_frame_rates_are_refused() {
    let folder = Folder::new("rates");
    let glb = folder.at("bar.glb");
    ok(&["sample", "bar", "-n", "1000", "-o", &glb, "--json"]);
    for fps in ["1e300", "1e19", "1e7"] {
        let said = fails(&["convert", &glb, &folder.at("frames"), "--fps", fps], 1);
        assert!(said.contains("at most 100000") && said.contains("bar.glb"), "{said}");
    }
    let said = fails(&["convert", &glb, &folder.at("x.bvh"), "--clip", "absent"], 1);
    assert!(said.contains("bar.glb: there is no clip"), "{said}");
}

#[test]
fn motions_keep_their_frame_rate() {
    let folder = Folder::new("rate");
    // Only the place of the root moves; 48 frames per second.
    let rows: String = (0..5).map(|i| format!("{i} 0 0\n")).collect();
    let text = format!(
        "HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{{\nOFFSET 0 1 0\n}}\n}}\n\
         MOTION\nFrames: 5\nFrame Time: 0.0208333\n{rows}"
    );
    let (bvh, glb, again) = (folder.write("a.bvh", &text), folder.at("a.glb"), folder.at("b.bvh"));
    ok(&["convert", &bvh, &again, "--json"]);
    let reported = ok(&["info", &again, "--json"]);
    assert_eq!((reported["frames"].as_u64(), reported["fps"].as_f64()), (Some(5), Some(1.0 / 0.020_833_3)));
    // Through GLB the keys tell it, which are keys of translation alone.
    ok(&["convert", &bvh, &glb, "--json"]);
    ok(&["convert", &glb, &again, "--json"]);
    let reported = ok(&["info", &again, "--json"]);
    assert_eq!(reported["frames"], 5, "{reported}");
    assert!((reported["fps"].as_f64().unwrap() - 48.0).abs() < 0.01, "{reported}");
}

#[test]
fn sequences_keep_their_looks() {
    let folder = Folder::new("looks");
    folder.write("a.mtl", "newmtl red\nKd 1 0 0\n");
    std::fs::create_dir_all(folder.0.join("in")).unwrap();
    for frame in 0..3 {
        let text = format!(
            "mtllib a.mtl\nv 0 0 {frame}\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 .5\nvt 0 .7\nvn 0 0 1\n\
             usemtl red\nf 1/1/1 2/2/1 3/3/1\nf 1/5/1 3/3/1 4/4/1\n"
        );
        std::fs::write(folder.0.join(format!("in/f{frame}.obj")), text).unwrap();
    }
    std::fs::copy(folder.at("a.mtl"), folder.at("in/a.mtl")).unwrap();
    let (glb, frames, back) = (folder.at("a.glb"), folder.at("out"), folder.at("back"));
    ok(&["convert", &folder.at("in"), &glb, "--json"]);
    ok(&["convert", &folder.at("in"), &frames, "--json"]);
    ok(&["convert", &glb, &back, "--json"]);
    for path in [glb, folder.at("out/frame_0001.obj"), folder.at("back/frame_0002.obj")] {
        let reported = ok(&["info", &path, "--json"]);
        assert_eq!(
            (reported["textured"].as_bool(), reported["materials"][0].as_str()),
            (Some(true), Some("red")),
            "{reported}"
        );
    }
    let library = std::fs::read_to_string(folder.at("out/frames.mtl")).unwrap();
    assert!(library.contains("newmtl red\nKd 1 0 0"), "{library}");
}

/// Extensions go from glTF to GLB; what other formats lose is reported.
#[test]
fn extensions_go_along_where_they_can() {
    let folder = Folder::new("extensions");
    let text = r#"{"asset": {"version": "2.0"}, "extensionsUsed": ["ACME_note", "VRMC_vrm"],
        "extensions": {"ACME_note": {"by": "me"}, "VRMC_vrm": {"hips": {"node": 0}}},
        "nodes": [{"mesh": 0}], "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"componentType": 5126, "type": "VEC3", "count": 3}]}"#;
    let (gltf, glb) = (folder.write("a.gltf", text), folder.at("b.glb"));
    let done = ok(&["convert", &gltf, &glb, "--json"]);
    assert!(!done["warnings"].to_string().contains("not kept"), "{done}");
    let written = String::from_utf8_lossy(&std::fs::read(glb).unwrap()).into_owned();
    assert!(written.contains(r#""ACME_note":{"by":"me"},"VRMC_vrm":{"hips":{"node":0}}"#), "{written}");
    let done = ok(&["convert", &gltf, &folder.at("b.obj"), "--json"]);
    assert!(done["warnings"].to_string().contains("glTF extensions"), "{done}");
    assert!(done["warnings"].to_string().contains("not kept: extension VRMC_vrm"), "{done}");
}

#[test]
fn json_failures_are_one_object_too() {
    let output = sinew(&["info", "--json", "absent.glb"]);
    assert_eq!(output.status.code(), Some(1));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(value["error"].as_str().unwrap().contains("absent.glb"));
}

#[test]
fn no_command_shows_the_way() {
    let output = sinew(&["help"]);
    assert_eq!(output.status.code(), Some(0));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    for command in ["info", "convert", "sample", "pose", "handles", "studio", "completions"] {
        assert!(text.contains(command), "{text}");
    }
    // A script that asks for an object finds out that there is none: the usage goes to standard error.
    let output = sinew(&["--json"]);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    assert!(String::from_utf8_lossy(&output.stderr).contains("Usage"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(sinew(&["completions", shell]).stdout.len() > 1000);
    }
}

/// Without a command the studio opens; here there is no browser to open it in, which is reported.
#[test]
fn the_studio_is_served_on_this_machine_only() {
    use std::io::{BufRead, BufReader, Read};
    let folder = Folder::new("studio");
    let start = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        command.args(args).env("SINEW_HOME", folder.at("home")).env("PATH", folder.at("no programs"));
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let mut child = start(&[]);
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("http://127.0.0.1:"), "{line}");
    let mut note = [0; 30];
    child.stderr.take().unwrap().read_exact(&mut note).unwrap();
    assert!(String::from_utf8_lossy(&note).contains("note: open this address"), "{note:?}");
    child.kill().unwrap();
    child.wait().unwrap();
    // What cannot be opened is reported before anything is served.
    let output = start(&["studio", "absent.glb"]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("absent.glb"));
    let output = start(&["studio", "--root", &folder.at("absent")]).wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_same_request_gives_the_same_bytes_with_any_threads() {
    let folder = Folder::new("same");
    let files = [("1", "a.glb"), ("2", "b.glb")].map(|(threads, name)| {
        let path = folder.at(name);
        ok(&["sample", "octopus", "-n", "3000", "-o", &path, "--json", "--threads", threads]);
        std::fs::read(path).unwrap()
    });
    assert!(files[0] == files[1]);
}

/// Every bad file, each in a process of its own that may use 1 GB: an answer or an error, never a crash.
#[test]
fn bad_files_never_crash_or_swallow_memory() {
    let Some(data) = sinew_outside::data() else { return };
    let files = bad_files(&data);
    for path in &files {
        let limited = format!("ulimit -v 1048576; exec '{SINEW}' info --json '{}'", path.display());
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {said}", path.display());
        let value: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(value.get("error").is_some() || value.get("kind").is_some(), "{value}");
    }
    assert!(files.len() > 60, "{}", files.len());
}

/// All files made to be wrong.
fn bad_files(data: &Path) -> Vec<PathBuf> {
    sinew_outside::files_below(&data.join("bad"))
}
