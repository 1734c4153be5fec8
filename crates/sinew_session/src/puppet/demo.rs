//! A demonstration of our own: an actor grown by this code, and what its poses mean for the samples.

use super::{Actor, ActorSource, Pair, PuppetData};
use crate::{DEFAULT_FPS, Document, SessionError, draw_thumbnail};
use glam::{DQuat, DVec3};
use sinew_formats::pairs::{PairTarget, PosePair};
use sinew_geom::{Pose, Rig, Transform, sample::Sample};
use sinew_puppet::{BodyPose, CanonicalPose};
use std::{f64::consts::TAU, sync::Arc};

/// Seconds of each thing it does.
const SCENE: f64 = 3.0;

/// Angles of a body that stands at zero, in radians; lifts of the knees from 0 to 1.
#[derive(Debug, Clone, Copy, Default)]
struct Gesture {
    knee: [f64; 2],
    /// Of each arm, left and right: to the side, and forwards.
    aside: [f64; 2],
    ahead: [f64; 2],
    /// Of the trunk: forwards, to the left, about itself.
    bow: f64,
    lean: f64,
    twist: f64,
}

impl Gesture {
    /// A step in place, `strength` high; the arms swing against the legs.
    fn step(phase: f64, strength: f64) -> Self {
        let s = (TAU * phase).sin();
        Self {
            knee: [strength * s.max(0.0), strength * (-s).max(0.0)],
            ahead: [-0.7 * strength * s, 0.7 * strength * s],
            ..Self::default()
        }
    }

    fn run(phase: f64) -> Self {
        let step = Self::step(phase, 1.0);
        Self { ahead: step.ahead.map(|a| 1.4 * a + 0.5), bow: 0.35, ..step }
    }

    fn crouch(depth: f64) -> Self {
        Self { knee: [depth; 2], bow: 0.3 * depth, ..Self::default() }
    }

    fn lerp(&self, other: &Self, t: f64) -> Self {
        let pair = |a: [f64; 2], b: [f64; 2]| [0, 1].map(|k| a[k] + t * (b[k] - a[k]));
        Self {
            knee: pair(self.knee, other.knee),
            aside: pair(self.aside, other.aside),
            ahead: pair(self.ahead, other.ahead),
            bow: self.bow + t * (other.bow - self.bow),
            lean: self.lean + t * (other.lean - self.lean),
            twist: self.twist + t * (other.twist - self.twist),
        }
    }

    /// The body: the standing one with its limbs turned, its lower foot on the ground.
    fn body(&self) -> BodyPose {
        let rest = CanonicalPose::rest();
        let mut joints: [DVec3; 20] = std::array::from_fn(|k| rest.joint(k));
        let turn = |joints: std::ops::Range<usize>, about: usize, q: DQuat, all: &mut [DVec3; 20]| {
            let from = all[about];
            all[joints].iter_mut().for_each(|p| *p = from + q * (*p - from));
        };
        for side in 0..2 {
            let out = if side == 0 { 1.0 } else { -1.0 };
            let (shoulder, hip) = (4 + 4 * side, 12 + 4 * side);
            let arm =
                DQuat::from_rotation_z(out * self.aside[side]) * DQuat::from_rotation_x(-self.ahead[side]);
            turn(shoulder + 1..shoulder + 4, shoulder, arm, &mut joints);
            let lift = self.knee[side];
            turn(hip + 1..hip + 4, hip, DQuat::from_rotation_x(-1.3 * lift), &mut joints);
            turn(hip + 2..hip + 4, hip + 1, DQuat::from_rotation_x(1.7 * lift), &mut joints);
        }
        let trunk = DQuat::from_rotation_y(self.twist)
            * DQuat::from_rotation_z(-self.lean)
            * DQuat::from_rotation_x(self.bow);
        turn(1..12, 0, trunk, &mut joints);
        let low = joints.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        BodyPose::new(joints.map(|p| p - DVec3::Y * low))
    }
}

/// The things the actor does, one after the other, as functions of the seconds.
fn scene(number: usize, secs: f64) -> Gesture {
    let swing = (TAU * secs / 1.5).sin();
    let (up, down) = ((1.0 + swing) / 2.0, (1.0 - swing) / 2.0);
    match number {
        0 => Gesture::step(secs / 1.1, 0.5),
        1 => Gesture::run(secs / 0.6),
        2 => Gesture { aside: [0.0, 2.3 + 0.3 * (TAU * secs / 0.7).sin()], ..Gesture::default() },
        3 => Gesture { aside: [1.3 * up, 0.0], ahead: [1.3 * down, 0.0], ..Gesture::default() },
        4 => Gesture::crouch(0.8 * up),
        5 => Gesture { twist: 0.8 * swing, ..Gesture::default() },
        6 => Gesture { lean: 0.5 * swing, ..Gesture::default() },
        _ => Gesture { aside: [2.6 * up, 2.6 * up], ..Gesture::default() },
    }
}

/// A body that walks and runs in place, waves, swings an arm, crouches, twists, leans and raises both arms.
pub fn demo_actor() -> Actor {
    let n = (8.0 * SCENE * DEFAULT_FPS) as usize;
    let frame = |k: usize| {
        let time = k as f64 / DEFAULT_FPS;
        let (number, secs) = ((time / SCENE) as usize, time % SCENE);
        // It stands for a moment before and after each of them.
        let t = (secs.min(SCENE - secs) / 0.4).clamp(0.0, 1.0);
        let gesture = Gesture::default().lerp(&scene(number, secs), t * t * (3.0 - 2.0 * t));
        (time, gesture.body())
    };
    Actor { frames: (0..=n).map(frame).collect(), fps: DEFAULT_FPS, source: ActorSource::MOTION }
}

/// What a pose of the character is made of.
enum Meaning {
    Rest,
    /// A clip at a share of its length.
    Moment(&'static str, f32),
    /// Joints turned by degrees about the axes of the model at rest, and stretched along them.
    Joints(Vec<(String, [f64; 3], [f64; 3])>),
}

fn turned(joints: &[(&str, [f64; 3])]) -> Meaning {
    Meaning::Joints(joints.iter().map(|(name, turn)| ((*name).to_owned(), *turn, [1.0; 3])).collect())
}

fn stretched(joint: &str, scale: [f64; 3]) -> Meaning {
    Meaning::Joints(vec![(joint.to_owned(), [0.0; 3], scale)])
}

fn meanings(sample: Sample) -> Vec<(&'static str, Gesture, Meaning)> {
    let still = Gesture::default();
    let aside = |left: f64, right: f64| Gesture { aside: [left, right], ..still };
    let mut list = vec![("stand", still, Meaning::Rest)];
    let more = match sample {
        Sample::Quadruped => quadruped(),
        Sample::Bar => vec![
            ("squeeze", Gesture::crouch(0.8), stretched("bone.1", [1.3, 0.6, 1.3])),
            ("stretch", aside(2.6, 2.6), stretched("bone.1", [0.85, 1.35, 0.85])),
            ("twist left", Gesture { twist: 0.8, ..still }, Meaning::Moment("twist", 0.25)),
            ("twist right", Gesture { twist: -0.8, ..still }, Meaning::Moment("twist", 0.75)),
        ],
        Sample::Octopus => vec![
            ("open", aside(1.3, 1.3), Meaning::Moment("swim", 0.05)),
            ("close", aside(2.6, 2.6), Meaning::Moment("swim", 0.4)),
            ("feel left", aside(1.5, 0.0), feeler("L")),
            ("feel right", aside(0.0, 1.5), feeler("R")),
            ("duck", Gesture::crouch(0.8), stretched("mantle", [1.2, 0.6, 1.2])),
        ],
        Sample::Sack => vec![
            ("squash", Gesture::crouch(0.8), stretched("base", [1.2, 0.72, 1.2])),
            ("stretch", aside(2.6, 2.6), stretched("base", [0.88, 1.25, 0.88])),
            ("lean left", Gesture { lean: -0.5, ..still }, Meaning::Moment("sway", 0.25)),
            ("lean right", Gesture { lean: 0.5, ..still }, Meaning::Moment("sway", 0.75)),
            ("left ear", aside(1.5, 0.0), turned(&[("ear.L", [0.0, 0.0, 50.0])])),
            ("right ear", aside(0.0, 1.5), turned(&[("ear.R", [0.0, 0.0, -50.0])])),
        ],
        _ => return Vec::new(),
    };
    list.extend(more);
    list
}

fn quadruped() -> Vec<(&'static str, Gesture, Meaning)> {
    let step = |phase: f64| Gesture::step(phase, 0.5);
    let legs = |front: f64, hind: f64, back: f64| {
        let both = |name: &str, angle: f64| {
            [format!("{name}.L"), format!("{name}.R")].map(|joint| (joint, [angle, 0.0, 0.0], [1.0; 3]))
        };
        let mut joints: Vec<_> = both("upper_arm", front).into_iter().chain(both("thigh", hind)).collect();
        joints.extend(both("forearm", -0.7 * front.min(0.0).abs()));
        joints.push(("spine".to_owned(), [back, 0.0, 0.0], [1.0; 3]));
        Meaning::Joints(joints)
    };
    let paw = turned(&[
        ("upper_arm.R", [-65.0, 0.0, -10.0]),
        ("forearm.R", [-40.0, 0.0, 0.0]),
        ("front_paw.R", [25.0, 0.0, 0.0]),
    ]);
    let still = Gesture::default();
    vec![
        ("left step", step(0.25), Meaning::Moment("walk", 0.25)),
        ("right step", step(0.75), Meaning::Moment("walk", 0.75)),
        ("gather", Gesture::run(0.25), legs(35.0, -35.0, 18.0)),
        ("leap", Gesture::run(0.75), legs(-45.0, 40.0, -12.0)),
        ("wave", Gesture { aside: [0.0, 2.3], ..still }, paw),
        ("wag left", Gesture { aside: [1.3, 0.0], ..still }, Meaning::Moment("wag", 0.1)),
        ("wag right", Gesture { ahead: [1.3, 0.0], ..still }, Meaning::Moment("wag", 0.35)),
    ]
}

fn feeler(side: &str) -> Meaning {
    let joint = |arm: usize, k: usize| (format!("arm{arm}.{k}.{side}"), [-18.0, 0.0, 0.0], [1.0; 3]);
    Meaning::Joints([1, 2].into_iter().flat_map(|arm| (1..=5).map(move |k| joint(arm, k))).collect())
}

/// Pair a sample with the actor of the demonstration; false if there are no pairs for it.
///
/// # Errors
/// If the document is not that sample.
pub fn add_demo(document: &mut Document, sample: Sample) -> Result<bool, SessionError> {
    let list = meanings(sample);
    let Some(rig) = document.body.rig.clone().filter(|_| !list.is_empty()) else { return Ok(false) };
    let mut data = PuppetData { settings: document.puppet.settings.clone(), ..PuppetData::default() };
    for (name, gesture, meaning) in list {
        let pose = pose_of(document, &rig, &meaning)?;
        let mut world = Vec::new();
        rig.forward(&pose, &mut world)?;
        let positions: Vec<DVec3> =
            document.body.positions_by(&world)?.iter().map(|p| p.as_dvec3()).collect();
        let moved = rig.joints().iter().zip(&pose.locals).filter(|(joint, local)| joint.rest != **local);
        let target = PairTarget::Joints(moved.map(|(joint, local)| (joint.name.clone(), *local)).collect());
        let body = gesture.body().joints.to_vec();
        let thumbnail = Some(Arc::new(draw_thumbnail(&document.body, &positions)));
        data.pairs.push(Arc::new(Pair { pair: PosePair { name: name.to_owned(), body, target }, thumbnail }));
    }
    if sample == Sample::Quadruped {
        let tail = (1..=5).map(|k| (format!("tail.{k}"), vec!["arm.L".to_owned()]));
        data.limbs = tail.collect();
    }
    document.puppet = Arc::new(data);
    Ok(true)
}

fn pose_of(document: &Document, rig: &Rig, meaning: &Meaning) -> Result<Pose, SessionError> {
    let mut pose = rig.rest_pose();
    match meaning {
        Meaning::Rest => {}
        Meaning::Moment(clip, share) => {
            let clip = &document.clips[document.find_clip(clip)?];
            pose = clip.sample(rig, share * clip.duration_secs());
        }
        Meaning::Joints(joints) => {
            for (name, degrees, scale) in joints {
                let names = rig.joints().iter().map(|joint| joint.name.as_str());
                let joint = rig.find(name).ok_or_else(|| SessionError::absent("joint", name, names))?;
                let [x, y, z] = degrees.map(f64::to_radians);
                let turn = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
                let local: &mut Transform = &mut pose.locals[joint];
                local.rotation *= turn;
                local.scale *= DVec3::from_array(*scale);
            }
        }
    }
    Ok(pose)
}
