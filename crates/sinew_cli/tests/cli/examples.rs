//! `sinew reach` and `sinew animate`.

use super::{Folder, fails, judges::judge_clip, ok};
use serde_json::json;
use sinew::{
    formats::read_any,
    geom::{Character, Warnings},
};
use std::path::Path;

const WALK: &str = r#"{"walk":{"line":[[0,0],[0,2]],"feet":["foot.L","foot.R"]},
                       "ground":{"hills":{"height":0.3,"length":3}}}"#;

fn project(folder: &Folder) -> String {
    let path = folder.at("walk.sinew.glb");
    ok(&["sample", "biped", "-n", "2000", "--poses", "walk", "-o", &path, "--json"]);
    path
}

#[test]
fn targets_are_reached_and_the_report_has_its_keys() {
    let folder = Folder::new("reach");
    let (project, posed) = (project(&folder), folder.at("posed.glb"));
    let report =
        ok(&["reach", &project, "--by", "foot.L=0,0.1,0.3", "--pin", "foot.R", "-o", &posed, "--json"]);
    for key in ["weights", "energy", "evaluations", "target_error", "ms", "terms", "written"] {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    assert_eq!(report["weights"].as_object().unwrap().len(), 10);
    assert_eq!(report["reached"], true, "{report}");
    // The posed foot is where it was sent.
    let character = |path: &str| -> Character {
        read_any(Path::new(path), &mut Warnings::default()).unwrap().into_character().unwrap()
    };
    let (rest, there) = (character(&project), character(&posed));
    for (name, offset) in [("foot.L", [0.0, 0.1, 0.3]), ("foot.R", [0.0; 3])] {
        let handle = rest.handles.iter().find(|h| h.name == name).unwrap();
        let middle = |body: &Character| {
            let sum: glam::DVec3 = handle.vertices.iter().map(|v| body.mesh.positions()[*v as usize]).sum();
            sum / handle.vertices.len() as f64
        };
        let missed = (middle(&there) - middle(&rest)).distance(glam::DVec3::from_array(offset));
        assert!(missed < 1e-5, "{name} misses by {missed}");
    }
    // Every method of Hansen (2006) runs, with a custom objective; the same seed gives the same answer.
    for optimiser in ["climb", "steepest", "hooke-jeeves", "simple-hooke", "annealing", "exhaustive"] {
        let args =
            ["reach", &project, "--by", "hand.L=0,0,0.1", "--objective", "dtt+0.2omsow+0.3dfe", "--json"];
        let run = || ok(&[&args[..], &["--optimiser", optimiser, "--seed", "7"]].concat());
        let (report, again) = (run(), run());
        assert!(report["terms"]["like-examples"].as_f64().unwrap() > 0.0, "{report}");
        assert_eq!(report["weights"], again["weights"]);
    }
}

#[test]
fn what_cannot_be_reached_is_reported_with_the_nearest_pose() {
    let folder = Folder::new("beyond");
    let report = ok(&["reach", &project(&folder), "--to", "hand.L=0,9,0", "--json"]);
    assert_eq!(report["reached"], false);
    assert!(report["warnings"].to_string().contains("out of reach"), "{report}");
    assert!((5.0..9.0).contains(&report["target_error"].as_f64().unwrap()), "{report}");
}

#[test]
fn wrong_requests_get_a_remedy() {
    let folder = Folder::new("wrong");
    let (project, plain) = (project(&folder), folder.at("plain.glb"));
    ok(&["sample", "biped", "-n", "1000", "-o", &plain, "--json"]);
    let bar = folder.at("mesh.obj");
    ok(&["convert", &plain, &bar, "--json"]);
    let out = folder.at("out.glb");
    let paths = |name: &str, text: &str| folder.write(name, text);
    let (tail, nan) = (
        paths("tail.json", r#"{"paths":[{"handle":"tail","points":[[0,0,0]]}]}"#),
        paths("nan.json", r#"{"paths":[{"handle":"head","points":[[0,NaN,0]]}]}"#),
    );
    let (still, none) = (
        paths("still.json", r#"{"walk":{"line":[[0,0],[0,0]],"feet":["foot.L","foot.R"]}}"#),
        paths("none.json", "{}"),
    );
    let twice = paths(
        "twice.json",
        r#"{"paths":[{"handle":"head","points":[[0,1,0]]},{"handle":"head","points":[[0,2,0]]}]}"#,
    );
    // Poses of one body on another, and a pose of a handle that is gone.
    let (dog, torn) = (folder.at("dog.glb"), folder.at("torn.sinew.glb"));
    ok(&["sample", "quadruped", "-n", "1000", "-o", &dog, "--json"]);
    let bytes = std::fs::read(&project).unwrap();
    let at = bytes.windows(16).position(|w| w == b"{\"main\":\"knee.L\"").unwrap();
    let renamed = [&bytes[..at], b"{\"main\":\"tail.L\"", &bytes[at + 16..]].concat();
    std::fs::write(&torn, renamed).unwrap();
    let cases: [(&[&str], i32, &str); 17] = [
        (&["reach", &dog, "--poses", "walk", "--to", "head=0,1,0"], 1, "example \"walk 1\" does not fit"),
        (&["reach", &torn, "--to", "head=0,1,0"], 1, "names handle \"tail.L\", which does not exist"),
        (&["reach", &plain, "--to", "head=0,1,0"], 1, "no example poses"),
        (&["reach", &bar, "--to", "head=0,1,0"], 1, "no handles"),
        (&["reach", &project, "--to", "tail=0,1,0"], 1, "\"tail\""),
        (&["reach", &project, "--to", "head=0,NaN,0"], 1, "not finite"),
        (&["reach", &project, "--to", "head=0,1"], 1, "hand.L=0.3,1.2,0.4"),
        (&["reach", &project, "--to", "head"], 1, "hand.L=0.3,1.2,0.4"),
        (&["reach", &project, "--to", "head=0,1,0", "--pin", "head"], 1, "two targets"),
        (&["reach", &project, "--to", "head=0,1,0", "--objective", "dtt+foo"], 1, "\"foo\""),
        (&["reach", &project, "--to", "head=0,1,0", "--limits", "1"], 1, "0..1"),
        (&["reach", &project], 2, "--to"),
        (&["animate", &project, "--paths", &tail, "-o", &out], 1, "\"tail\""),
        (&["animate", &project, "--paths", &nan, "-o", &out], 1, "nan.json:1"),
        (&["animate", &project, "--paths", &still, "-o", &out], 1, "two points"),
        (&["animate", &project, "--paths", &none, "-o", &out], 1, "neither a path nor a walk"),
        (&["animate", &project, "--paths", &twice, "-o", &out], 1, "two paths"),
    ];
    for (args, code, expected) in cases {
        let said = fails(args, code);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    assert!(fails(&["animate", &project, "--keyframes", "run", "-o", &out], 1).contains("walk 1"));
    assert!(fails(&["animate", &project, "--keyframes", "up", "--fps", "0", "-o", &out], 1).contains("up"));
    assert!(fails(&["sample", "sack", "--poses", "walk", "-o", &out], 1).contains("biped"));
    assert!(!Path::new(&out).exists(), "nothing is written when something is wrong");
    // A path of one point holds its handle there for one frame.
    let point = paths("point.json", r#"{"paths":[{"handle":"hand.L","points":[[0.5,1,0.2]],"pin":true}]}"#);
    let report = ok(&["animate", &project, "--paths", &point, "-o", &out, "--json"]);
    assert_eq!(report["frames"], 1);
    // One of no length holds it as long as its times say.
    let held = paths(
        "held.json",
        r#"{"paths":[{"handle":"hand.L","points":[[0.5,1,0.2],[0.5,1,0.2]],"times":[0,1],"pin":true}]}"#,
    );
    let report = ok(&["animate", &project, "--paths", &held, "-o", &out, "--json"]);
    assert_eq!(report["frames"], 31);
    assert!(report["target_error_max"].as_f64().unwrap() < 1e-6, "{report}");
}

#[test]
fn a_jump_comes_from_two_examples() {
    let folder = Folder::new("jump");
    let (sack, out) = (folder.at("sack.sinew.glb"), folder.at("jump.glb"));
    ok(&["sample", "sack", "-n", "2000", "--poses", "jump", "-o", &sack, "--json"]);
    // Base and top: down, up, in the air, and down again. The base carries the body.
    let base = [[0.0, 0.04, 0.0], [0.0, 0.04, 0.0], [0.0, 0.5, 0.3], [0.0, 0.04, 0.6], [0.0, 0.04, 0.6]];
    let top = [[0.0, 0.55, 0.0], [0.0, 0.38, 0.03], [0.0, 1.15, 0.3], [0.0, 0.38, 0.63], [0.0, 0.55, 0.6]];
    let times = [0.0, 0.4, 0.8, 1.2, 1.6];
    let path = |handle: &str, points: [[f64; 3]; 5], carries: bool| json!({"handle": handle, "points": points, "times": times, "carries": carries});
    let file = json!({"paths": [path("base", base, true), path("top", top, false)]});
    let paths = folder.write("jump.json", &file.to_string());
    let report = ok(&["animate", &sack, "--paths", &paths, "-o", &out, "--json"]);
    assert_eq!(report["frames"], 49);
    assert!(report["target_error_mean"].as_f64().unwrap() < 0.02, "{report}");
    let jump = read_any(Path::new(&out), &mut Warnings::default()).unwrap().into_character().unwrap();
    let height = |time: f32| {
        let positions = jump.positions_at(jump.clips.first(), time).unwrap();
        positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min)
    };
    assert!(height(0.0) < 0.05 && height(0.8) > 0.3 && height(1.6) < 0.05, "{} {}", height(0.0), height(0.8));
}

/// The walk as Blender plays it, beside the frames as plain files.
#[test]
fn a_walk_plays_in_blender_as_it_was_made() {
    let folder = Folder::new("blender");
    let (project, walk) = (project(&folder), folder.write("walk.json", WALK));
    let (glb, frames) = (folder.at("walk.glb"), folder.at("frames"));
    let report = ok(&["animate", &project, "--paths", &walk, "--fps", "24", "-o", &glb, "--json"]);
    // The bar: feet within 1 % of the body's height.
    assert!(report["target_error_mean"].as_f64().unwrap() < 0.017, "{report}");
    ok(&["animate", &project, "--paths", &walk, "--fps", "24", "-o", &frames, "--json"]);
    let n_frames = report["frames"].as_u64().unwrap();
    let shown: Vec<u64> = (0..n_frames).step_by(17).collect();
    let times: Vec<f64> = shown.iter().map(|f| *f as f64 / 24.0).collect();
    // A clip of the skeleton with a few morph targets, within 0.1 % rms of the frames.
    assert!(report["clip_error_percent"].as_f64().unwrap() < 0.1, "{report}");
    assert!(report["clip_joints"].as_u64() > Some(0) && report["clip_morphs"].as_u64() < Some(6), "{report}");
    let read = |path: &Path| read_any(path, &mut Warnings::default()).unwrap().into_character().unwrap();
    let character = read(Path::new(&glb));
    for (frame, time) in shown.iter().zip(&times) {
        let wanted = read(&Path::new(&frames).join(format!("frame_{frame:04}.obj"))).mesh;
        let found = character.positions_at(character.clips.first(), *time as f32).unwrap();
        let squared = found.iter().zip(wanted.positions()).map(|(p, q)| p.as_dvec3().distance_squared(*q));
        let rms = (squared.sum::<f64>() / found.len() as f64).sqrt() / character.mesh.diagonal();
        assert!(found.len() == wanted.n_vertices() && rms < 2e-3, "frame {frame}: {rms}");
    }
    judge_clip(&folder, &glb, &times);
}
