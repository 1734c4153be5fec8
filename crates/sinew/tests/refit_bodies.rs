//! Clips of every rig and recording of the outside data, on their own bodies and on bodies turned and scaled.

use crate::support::{corpus, data, files_below};
use glam::{DQuat, DVec3};
use sinew::{
    constrain::clip::{Motion, Refit, RefitParams, SkinPoints, refit},
    formats::{Content, read_any},
    geom::{
        Character, Rig, Warnings,
        body_map::{BodyMap, Part},
        rig::Side,
    },
};
use std::{ops::ControlFlow, path::Path};

/// A character in metres with a clip.
fn open(path: &Path) -> Option<Character> {
    let content = read_any(path, &mut Warnings::default()).ok()?;
    let is_bvh = matches!(content, Content::Bvh(_));
    let character = content.into_character()?;
    let rig = character.rig.as_ref().filter(|rig| rig.n_joints() > 3)?;
    let unit = BodyMap::read(rig, &character.clips).metres_per_unit.filter(|_| is_bvh).unwrap_or(1.0);
    character.scaled(unit).ok()
}

/// All clips of the outside data: recordings and rigs.
fn clips() -> Vec<(String, Character)> {
    let (Some(data), Some(corpus)) = (data(), corpus()) else { return Vec::new() };
    let folders = [data.join("bvh"), data.join("rigs"), corpus.join("bvh"), corpus.join("rigs")];
    let files = folders.iter().flat_map(|folder| files_below(folder));
    let is_one = |path: &std::path::PathBuf| {
        path.extension()
            .is_some_and(|e| ["bvh", "glb", "gltf", "vrm"].iter().any(|x| e.eq_ignore_ascii_case(x)))
    };
    files.filter(is_one).filter_map(|path| Some((path.display().to_string(), open(&path)?))).collect()
}

fn motion(character: &Character) -> Option<Motion> {
    let (rig, clip) = (character.rig.as_ref()?, character.clips.first()?);
    let rate = Some(clip.joint_rate()).filter(|rate| *rate >= 20.0).unwrap_or(30.0);
    let mut motion = Motion::from_clip(rig, clip, rate).ok()?;
    motion.poses.truncate(300);
    Some(motion)
}

fn fit(source: &Character, motion: &Motion, target: &Character) -> Option<Refit> {
    let params =
        RefitParams { skins: [SkinPoints::of(source), SkinPoints::of(target)], ..RefitParams::default() };
    let mut go_on = |_| ControlFlow::Continue(());
    let rigs = (source.rig.as_ref()?, target.rig.as_ref()?);
    // Joints that scale unevenly are refused.
    refit((rigs.0, motion), rigs.1, &params, &mut Warnings::default(), &mut go_on).ok()
}

/// Largest distance of joints that move from the source's, moved by `expected`, relative to the size of the body.
fn distance(source: (&Rig, &Motion), target: (&Rig, &Motion), expected: impl Fn(DVec3) -> DVec3) -> f64 {
    let places = |(rig, motion): (&Rig, &Motion)| -> Vec<Vec<DVec3>> {
        let at = |pose| {
            let mut world = Vec::new();
            rig.forward(pose, &mut world).unwrap();
            world.iter().map(|joint| joint.translation).collect()
        };
        motion.poses.iter().map(at).collect()
    };
    let (from, to) = (places(source), places(target));
    let [low, high] =
        [DVec3::min, DVec3::max].map(|f| from[0].iter().copied().reduce(f).unwrap_or(DVec3::ZERO));
    // Where the path begins elsewhere, armatures and poles that never move stay at the origin.
    let is_moved = expected(DVec3::ZERO).length() > 1e-12;
    let moves = |k: &usize| {
        [&from, &to].iter().any(|all| all.iter().any(|frame| frame[*k].distance(all[0][*k]) > 1e-6))
    };
    let is_compared = |k: &usize| !is_moved || moves(k);
    let joints: Vec<usize> = (0..source.0.n_joints()).filter(is_compared).collect();
    let off = |(a, b): (&Vec<DVec3>, &Vec<DVec3>)| {
        joints.iter().map(|&k| expected(a[k]).distance(b[k])).fold(0.0, f64::max)
    };
    from.iter().zip(&to).map(off).fold(0.0, f64::max) / (high - low).max_element().max(1e-9)
}

/// The same body is the same clip, and a body larger by 0.1 % shows it, within the corpus' limits of 0.5 and 1 cm of 1.7 m.
#[test]
fn a_clip_on_its_own_body_is_the_same_clip() {
    for (name, character) in clips() {
        let (Some(rig), Some(motion)) = (&character.rig, motion(&character)) else { continue };
        let Some(same) = fit(&character, &motion, &character) else { continue };
        let off = distance((rig, &motion), (rig, &same.motion), |p| p);
        assert!(off < 2.9e-3, "{name}: {off}");
        let larger = character.scaled(1.001).unwrap();
        let Some(fitted) = fit(&character, &motion, &larger) else { panic!("{name}") };
        let start = motion.poses[0].locals[0].translation;
        let off = distance((rig, &motion), (larger.rig.as_ref().unwrap(), &fitted.motion), |p| p);
        let far =
            motion.poses.iter().map(|pose| pose.locals[0].translation.distance(start)).fold(0.0, f64::max);
        assert!(off < 5.9e-3 * (1.0 + far), "{name}: {off} on a body larger by 0.1 %");
    }
}

/// A body turned about up, in rest pose and surface, moves as before and turned; a larger one moves larger. What is left is where
/// the solver stops: its steps are damped along the axes of the world.
#[test]
fn a_turned_or_scaled_body_gives_the_turned_or_scaled_result() {
    let Some(data) = data() else { return };
    let source = open(&data.join("bvh/cmu/02_01.bvh")).unwrap();
    let motion = motion(&source).unwrap();
    for name in ["rigs/quaternius/Casual.glb", "rigs/khronos/CesiumMan.glb", "rigs/quaternius/Husky.glb"] {
        let body = open(&data.join(name)).unwrap();
        let rig = body.rig.as_ref().unwrap();
        let plain = fit(&source, &motion, &body).unwrap();
        for angle in [0.4, 1.9, std::f64::consts::PI] {
            let turn = DQuat::from_rotation_y(angle);
            let mut joints = rig.joints().to_vec();
            for root in joints.iter_mut().filter(|joint| joint.parent.is_none()) {
                root.rest.translation = turn * root.rest.translation;
                root.rest.rotation = turn * root.rest.rotation;
            }
            let turned = Character { rig: Some(Rig::new(joints).unwrap()), ..body.clone() };
            let fitted = fit(&source, &motion, &turned).unwrap();
            let turned = turned.rig.as_ref().unwrap();
            let off = distance((rig, &plain.motion), (turned, &fitted.motion), |p| turn * p);
            assert!(off < 4e-3, "{name} turned by {angle}: {off}");
        }
        for factor in [0.01, 100.0] {
            let scaled = body.scaled(factor).unwrap();
            let fitted = fit(&source, &motion, &scaled).unwrap();
            // The path begins where the clip's does.
            let hips = BodyMap::read(rig, &[]).find(Part::Hips, Side::Middle).unwrap();
            let at = |rig: &Rig, motion: &Motion| {
                let mut world = Vec::new();
                rig.forward(&motion.poses[0], &mut world).unwrap();
                world[hips].translation
            };
            let (from, to) = (at(rig, &plain.motion), at(scaled.rig.as_ref().unwrap(), &fitted.motion));
            let scaled = scaled.rig.as_ref().unwrap();
            let off = distance((rig, &plain.motion), (scaled, &fitted.motion), |p| to + (p - from) * factor);
            assert!(off / factor < 5e-3, "{name} times {factor}: {}", off / factor);
        }
    }
}
