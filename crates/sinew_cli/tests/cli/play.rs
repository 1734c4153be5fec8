//! Motions of a mesh that has handles and no skeleton, as other programs play them.

use super::{Folder, judges, ok};
use glam::{DVec3, Vec3};
use serde_json::json;
use sinew::{
    formats::{
        pairs::{PairTarget, PosePair},
        read_any,
    },
    geom::{Character, Warnings, sample::Sample},
    session::{
        Command as Step, Document, Performance, TakeData, demo_actor, grow_sample, perform_take,
        sample_poses, write_project,
    },
};
use sinew_outside::{tool, workspace};
use std::{ops::ControlFlow, path::Path, process::Command};

/// Root mean square distance from the surface, over the diagonal, that a clip may have in a player.
const MOST: f64 = 1e-3;

/// A body with handles and poses, without a skeleton.
fn document() -> Document {
    let mut document =
        grow_sample(Sample::Biped, 2_000, &mut |_| ControlFlow::Continue(()), &mut Warnings::default())
            .unwrap();
    let body = Character { rig: None, skin: None, ..(*document.body).clone() };
    (document.body, document.clips) = (body.into(), Vec::new());
    document.examples = sample_poses(sinew::geom::sample::PoseSet::Walk).unwrap();
    document
}

fn project(folder: &Folder, document: Document) -> String {
    let path = folder.at("handles.sinew.glb");
    std::fs::write(&path, write_project(&document, &mut Warnings::default()).unwrap()).unwrap();
    path
}

/// What the surface solver shows, frame by frame.
fn frames(path: &str) -> Vec<Vec<DVec3>> {
    let mut files: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "obj"));
    files.sort();
    let positions = |file: &Path| {
        let read = read_any(file, &mut Warnings::default()).unwrap().into_character().unwrap();
        read.mesh.positions().to_vec()
    };
    files.iter().map(|file| positions(file)).collect()
}

fn rms(squares: &[f64], size: f64) -> f64 {
    (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() / size
}

/// Vertices of each moment as three.js evaluates them.
fn in_three(folder: &Folder, glb: &str, clip: usize, times: &[f64]) -> Option<Vec<Vec3>> {
    tool("npm/node_modules/three")?;
    let out = folder.at("three.bin");
    let jobs = json!([{ "file": glb, "clip": clip, "times": times, "out": out }]).to_string();
    let jobs = folder.write("three.json", &jobs);
    let script = workspace().join("tests/judges/play.mjs");
    let played = Command::new("node").arg(script).arg(jobs).output().unwrap();
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    let bytes = std::fs::read(&out).unwrap();
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    Some(floats.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect())
}

/// Judges a motion of a file in three.js and in Blender: each shows what the surface solver shows, frame by frame.
fn judge(folder: &Folder, name: &str, (glb, clip): (&str, usize), truth: &[Vec<DVec3>]) {
    judges::validate(glb);
    let character = super::character(glb);
    let (n, size) = (truth[0].len(), character.mesh.diagonal());
    let chosen: Vec<usize> = (0..truth.len()).step_by(truth.len().div_ceil(8)).collect();
    let times: Vec<f64> = chosen.iter().map(|&frame| frame as f64 / 30.0).collect();
    let way =
        |frame: &Vec<DVec3>| truth[0].iter().zip(frame).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let moved = truth.iter().map(way).fold(0.0, f64::max);
    assert!(moved > 0.05 * size, "{name} moves {moved} of {size}");
    if let Some(three) = in_three(folder, glb, clip, &times) {
        // Each primitive has all vertices; those of the mesh come first.
        let moments = three.chunks_exact(three.len() / times.len());
        let far = |(at, moment): (usize, &[Vec3])| {
            let pairs = moment[..n].iter().zip(&truth[chosen[at]]);
            pairs.map(|(a, b)| a.as_dvec3().distance_squared(*b)).collect::<Vec<_>>()
        };
        let error = rms(&moments.enumerate().flat_map(far).collect::<Vec<_>>(), size);
        println!("{name}: three.js {error:.1e}");
        assert!(error <= MOST, "{name}: three.js is off by {error:.1e}");
    }
    if let Some(blender) = judges::in_blender(folder, glb, &character.clips[clip].name, &times) {
        let moments = blender.chunks_exact(blender.len() / times.len());
        // Blender has the vertices in another order.
        let far = |(at, moment): (usize, &[Vec3])| {
            let nearest = |p: &Vec3| {
                let all = truth[chosen[at]].iter();
                all.map(|q| q.distance_squared(p.as_dvec3())).fold(f64::INFINITY, f64::min)
            };
            moment.iter().map(nearest).collect::<Vec<_>>()
        };
        let error = rms(&moments.enumerate().flat_map(far).collect::<Vec<_>>(), size);
        println!("{name}: Blender {error:.1e}");
        assert!(error <= MOST, "{name}: Blender is off by {error:.1e}");
    }
}

/// A walk and keyframes play in three.js and Blender as the surface solver shows them.
#[test]
fn motions_of_handles_play_elsewhere_as_the_surface_is_solved() {
    let folder = Folder::new("play");
    let path = project(&folder, document());
    let walk = folder.write(
        "walk.json",
        r#"{"walk":{"line":[[0,0],[0,2]],"feet":["foot.L","foot.R"]},"ground":{"flat":0}}"#,
    );
    let motions: [(&str, &[&str]); 2] =
        [("walk", &["--paths", &walk]), ("keys", &["--keyframes", "walk 1,legs apart,left up,arms apart"])];
    for (name, motion) in motions {
        let (glb, shown) = (folder.at(&format!("{name}.glb")), folder.at(name));
        let animate = |out: &str| ok(&[&["animate", &path, "-o", out, "--json"][..], motion].concat());
        let report = animate(&glb);
        animate(&shown);
        assert!(report["clip_joints"].as_u64().unwrap() > 0, "a clip of vertices: {report}");
        judge(&folder, name, (&glb, 0), &frames(&shown));
    }
}

/// What an actor did is a take of the handles; the project that holds it plays as the surface is solved, behind another clip and
/// with morph targets in 8 bits.
#[test]
fn takes_of_handles_play_elsewhere_as_the_surface_is_solved() {
    let folder = Folder::new("play-take");
    let (mut document, mut actor) = (document(), demo_actor());
    // It raises both arms in its last scene, and steps in its first.
    actor.frames.retain(|(time, _)| (0.0..1.5).contains(time) || *time >= 21.0);
    let body = |at: f64| {
        let after = |(time, _): &&(f64, sinew::puppet::BodyPose)| *time >= at;
        actor.frames.iter().find(after).unwrap().1.joints.to_vec()
    };
    let example = |name: &str| PairTarget::Example(name.into());
    let pairs = [
        ("rest", 0.0, PairTarget::Joints(Vec::new())),
        ("step", 0.5, example("left up")),
        ("arms", 21.5, example("arms apart")),
    ];
    for (name, at, target) in pairs {
        let pair = PosePair { name: name.into(), body: body(at), target };
        document = Step::PutPair { pair: Box::new(pair), thumbnail: None }.apply(&document).unwrap();
    }
    actor.frames.iter_mut().enumerate().for_each(|(at, (time, _))| *time = at as f64 / actor.fps);
    let go_on = |_| ControlFlow::Continue(());
    let performance = Performance::new(&document, &actor, &go_on).unwrap();
    assert!(!performance.is_of_skeleton());
    let shown = performance.surfaces(&document, &go_on).unwrap();
    let (after, report) = perform_take(&document, "take", &TakeData::new(&actor), &go_on).unwrap();
    assert_eq!(report.n_frames, shown.len());
    assert!(after.body.rig.is_some(), "a clip of vertices");
    let (after, _) = perform_take(&after, "again", &TakeData::new(&actor), &go_on).unwrap();
    let truth: Vec<Vec<DVec3>> =
        shown.iter().map(|frame| frame.iter().map(|p| p.as_dvec3()).collect()).collect();
    let path = project(&folder, after);
    judge(&folder, "take", (&path, 0), &truth);
    judge(&folder, "the same take after a skeleton was made", (&path, 1), &truth);
}
