//! Example poses of the samples, as moves of their handles, for example-based animation.

use super::{
    Sample,
    biped::{ANKLE, HIP, KNEE, step},
    motion::{bend_leg, wave},
    plan::v,
};
use crate::Move;
use glam::DVec3;

/// A set of example poses of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoseSet {
    /// Three simple poses of the biped.
    First,
    /// The biped's walk: six poses of the cycle, two for walking up and down, legs and arms spread (set A of Hansen
    /// (2006), figure 9.10).
    Walk,
    /// The biped's limbs at their extremes, four of each limb (set B of Hansen (2006), figure 9.11).
    Limbs,
    /// The sack's crouch and stretch, all that a jump needs (Hansen (2006), appendix F.2).
    Jump,
}

impl PoseSet {
    /// All sets.
    pub const ALL: [Self; 4] = [Self::First, Self::Walk, Self::Limbs, Self::Jump];

    /// Name used on the command line.
    pub fn name(self) -> &'static str {
        ["first", "walk", "limbs", "jump"][self as usize]
    }

    /// The set with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|set| set.name() == name)
    }

    /// The sample whose handles it moves.
    pub fn sample(self) -> Sample {
        if self == Self::Jump { Sample::Sack } else { Sample::Biped }
    }

    /// Poses with their names.
    pub fn poses(self) -> Vec<(String, Vec<Move>)> {
        match self {
            Self::First => first(),
            Self::Walk => walk(),
            Self::Limbs => limbs(),
            Self::Jump => jump(),
        }
    }
}

/// A handle turned with the handles it carries.
fn turn(main: impl Into<String>, axis: DVec3, degrees: f64) -> Move {
    Move::Rotate { main: main.into(), handles: Vec::new(), axis, radians: degrees.to_radians() }
}

fn first() -> Vec<(String, Vec<Move>)> {
    let wave = vec![turn("elbow.L", DVec3::Z, 70.0), turn("forearm.L", DVec3::Z, 45.0)];
    let bow = vec![turn("chest", DVec3::X, 40.0), turn("head", DVec3::X, 20.0)];
    let step = vec![
        turn("knee.L", DVec3::X, -50.0),
        turn("shin.L", DVec3::X, 60.0),
        turn("elbow.R", DVec3::X, -35.0),
        turn("elbow.L", DVec3::X, 25.0),
    ];
    [("wave", wave), ("bow", bow), ("step", step)].map(|(name, moves)| (name.to_owned(), moves)).to_vec()
}

const SIDES: [(&str, f64); 2] = [("L", 1.0), ("R", -1.0)];

/// A leg whose ankle is lifted and moved forward from its place at rest, with the sole pitched.
fn leg(side: &str, up: f64, ahead: f64, pitch: f64) -> [Move; 3] {
    let (hip, knee) = bend_leg(KNEE - HIP, ANKLE - KNEE, ANKLE - HIP + v(0.0, up, ahead), 1.0);
    let knee = knee.max(0.0);
    [
        turn(format!("knee.{side}"), DVec3::X, hip),
        turn(format!("shin.{side}"), DVec3::X, knee),
        turn(format!("foot.{side}"), DVec3::X, pitch - hip - knee),
    ]
}

/// An arm that hangs down and swings forward by an angle, with the elbow bent.
fn arm((side, sign): (&str, f64), swing: f64, bend: f64) -> [Move; 3] {
    [
        turn(format!("elbow.{side}"), DVec3::X, -swing),
        turn(format!("elbow.{side}"), DVec3::Z, -38.0 * sign),
        turn(format!("forearm.{side}"), DVec3::Y, -bend * sign),
    ]
}

fn walk() -> Vec<(String, Vec<Move>)> {
    // In a stride the hips are a little lower than in standing.
    let drop = 0.036;
    let stride = |phase: f64| {
        let mut moves = vec![turn("chest", DVec3::Y, -8.0 * wave(phase + 0.2))];
        for (at, side) in SIDES.into_iter().enumerate() {
            let phase = phase + 0.5 * at as f64;
            let (up, ahead, pitch) = step(phase);
            moves.extend(leg(side.0, up + drop, ahead, pitch));
            moves.extend(arm(side, -22.0 * wave(phase + 0.22), 14.0));
        }
        moves
    };
    let mut poses: Vec<_> = (0..6).map(|i| (format!("walk {}", i + 1), stride(f64::from(i) / 6.0))).collect();
    // Going up, the foot that lands is the higher one; going down, the foot that is planted. With strides they add up
    // to steps up and down with either foot.
    for (name, lifted) in [("left up", 0), ("right up", 1)] {
        let mut moves = Vec::new();
        for (at, side) in SIDES.into_iter().enumerate() {
            moves.extend(leg(
                side.0,
                if at == lifted { 0.3 } else { 0.01 },
                0.06 * f64::from(u8::from(at == lifted)),
                0.0,
            ));
            moves.extend(arm(side, if at == lifted { -10.0 } else { 10.0 }, 14.0));
        }
        poses.push((name.into(), moves));
    }
    let spread = |main: &str, degrees: f64| {
        SIDES.map(|(side, sign)| turn(format!("{main}.{side}"), DVec3::Z, sign * degrees)).to_vec()
    };
    poses.push(("legs apart".into(), spread("knee", 25.0)));
    poses.push(("arms apart".into(), spread("elbow", 38.0)));
    poses
}

fn limbs() -> Vec<(String, Vec<Move>)> {
    let mut poses = Vec::new();
    for (side, sign) in SIDES {
        let part = |main: &str, axis: DVec3, degrees: f64| turn(format!("{main}.{side}"), axis, degrees);
        let mut add = |name: &str, moves: Vec<Move>| poses.push((format!("{name}.{side}"), moves));
        add("leg ahead", vec![part("knee", DVec3::X, -85.0)]);
        add("leg back", vec![part("knee", DVec3::X, 40.0)]);
        add("leg aside", vec![part("knee", DVec3::Z, sign * 50.0)]);
        add("knee bent", vec![part("shin", DVec3::X, 110.0)]);
        add("arm ahead", vec![part("elbow", DVec3::Y, -sign * 90.0)]);
        add("arm up", vec![part("elbow", DVec3::Z, sign * 110.0)]);
        add("arm down", vec![part("elbow", DVec3::Z, -sign * 42.0)]);
        add("elbow bent", vec![part("forearm", DVec3::Y, -sign * 120.0)]);
    }
    poses
}

fn jump() -> Vec<(String, Vec<Move>)> {
    let shift = |handles: &[&str], y: f64, z: f64| Move::Translate {
        handles: handles.iter().map(|s| (*s).to_owned()).collect(),
        vector: v(0.0, y, z),
    };
    let top = ["top", "ear.L", "ear.R"];
    let crouch = vec![
        turn("top", DVec3::X, 35.0),
        shift(&top, -0.2, 0.05),
        shift(&["belly"], -0.08, 0.04),
        turn("ear.L", DVec3::Z, -30.0),
        turn("ear.R", DVec3::Z, 30.0),
    ];
    let stretch = vec![
        turn("top", DVec3::X, -15.0),
        shift(&top, 0.14, 0.0),
        shift(&["belly"], 0.06, -0.02),
        turn("foot.L", DVec3::Z, -45.0),
        turn("foot.R", DVec3::Z, 45.0),
        turn("ear.L", DVec3::Z, 25.0),
        turn("ear.R", DVec3::Z, -25.0),
    ];
    [("crouch", crouch), ("stretch", stretch)].map(|(name, moves)| (name.to_owned(), moves)).to_vec()
}
