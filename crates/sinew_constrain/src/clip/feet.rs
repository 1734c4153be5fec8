//! Feet on the ground: the sole in the frame of the ankle, and when its parts are planted.

use super::{
    JointFrames, Motion,
    body::{Body, Leg},
    contacts::{ContactParams, FoundContact, find_contacts, is_in_air, median},
};
use crate::ConstrainError;
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::Rig;
use std::ops::Range;

/// How far heels reach behind ankles, relative to the distance from ankle to ball.
const HEEL_LENGTH_RATIO: f64 = 0.15;
/// Half the width of a sole, relative to the same.
const HALF_WIDTH_RATIO: f64 = 0.18;
/// Mean distance of all joints from one frame to the next, in leg lengths, that is a jump if it is sudden.
const JUMP_LEG_LENGTHS: f64 = 0.08;
/// A distance this many times those before and after is sudden.
const JUMP_RATIO: f64 = 4.0;
/// Speed of a pelvis that no body reaches, in leg lengths per second.
const MAX_LEG_LENGTHS_PER_SEC: f64 = 20.0;

/// Part of a foot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FootPart {
    /// Below and behind the ankle.
    Heel,
    /// Below the joint of the toes.
    Ball,
    /// Tip of the toes; it bends with them and is never held.
    Tip,
}

/// A point of a sole, fixed to a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SolePoint {
    /// Joint that carries it.
    pub joint: usize,
    /// Place in the joint's frame, in metres of the world.
    pub local: DVec3,
    /// Part of the foot.
    pub part: FootPart,
}

/// The sole of a foot, in the frame of its ankle.
#[derive(Debug, Clone, PartialEq)]
pub struct Sole {
    /// `ankle ← sole`: x to the side, y up from the ground, z to the toes.
    pub frame: DQuat,
    /// Middle of the heel.
    pub heel: DVec3,
    /// Middle of the ball; the heel where a foot has no size.
    pub ball: DVec3,
    /// Points that must not enter the ground: two of the heel, two of the ball, the tip. One where it has no size.
    pub points: Vec<SolePoint>,
    /// Frames in which it was measured: those in which the whole foot is planted.
    pub flat: Vec<usize>,
}

impl Sole {
    /// Measure the sole of a leg: `up` is the normal of the ground in the ankle's frame while the foot is flat, in
    /// the given frames. The lowest joint of the foot is `depth` above the ground.
    pub fn measure(leg: &Leg, worlds: &[JointFrames], flat: &[usize], up: DVec3, depth: f64) -> Self {
        let mean = |of: &dyn Fn(&JointFrames) -> DVec3| {
            flat.iter().map(|&t| of(&worlds[t])).sum::<DVec3>() / flat.len().max(1) as f64
        };
        let in_ankle = |joint: usize| {
            mean(&|w| w.rotations[leg.ankle].inverse() * (w.positions[joint] - w.positions[leg.ankle]))
        };
        let Some(toe) = leg.toe else { return Self::without_size(leg.ankle, up, depth, flat) };
        let (toe_at, tip_at) = (in_ankle(toe), leg.tip.map(in_ankle));
        let lowest = [Some(toe_at), tip_at].into_iter().flatten().map(|p| up.dot(p)).fold(0.0, f64::min);
        let level = lowest - depth;
        let on_ground = |p: DVec3| p - up * (up.dot(p) - level);
        let ball = on_ground(toe_at);
        let Some(forward) = (ball - up * level).try_normalize() else {
            return Self::without_size(leg.ankle, up, depth, flat);
        };
        let length = ball.distance(up * level);
        let (heel, side) = (up * level - forward * (HEEL_LENGTH_RATIO * length), up.cross(forward));
        let point = |local, part| SolePoint { joint: leg.ankle, local, part };
        let width = side * (HALF_WIDTH_RATIO * length);
        let mut points = vec![
            point(heel - width, FootPart::Heel),
            point(heel + width, FootPart::Heel),
            point(ball - width, FootPart::Ball),
            point(ball + width, FootPart::Ball),
        ];
        if let Some(tip) = tip_at {
            let below = on_ground(tip) - toe_at;
            let local = mean(&|w| w.rotations[toe].inverse() * (w.rotations[leg.ankle] * below));
            points.push(SolePoint { joint: toe, local, part: FootPart::Tip });
        }
        let frame = DQuat::from_mat3(&DMat3::from_cols(side, up, forward));
        Self { frame, heel, ball, points, flat: flat.to_vec() }
    }

    fn without_size(ankle: usize, up: DVec3, depth: f64, flat: &[usize]) -> Self {
        let local = up * -depth;
        let points = vec![SolePoint { joint: ankle, local, part: FootPart::Heel }];
        Self {
            frame: DQuat::from_rotation_arc(DVec3::Y, up),
            heel: local,
            ball: local,
            points,
            flat: flat.to_vec(),
        }
    }

    /// Whether it has heel and ball.
    pub fn has_size(&self) -> bool {
        self.points.len() > 1
    }
}

/// A planted foot, from touchdown to liftoff.
#[derive(Debug, Clone, PartialEq)]
pub struct Stance {
    /// Which leg of the body.
    pub leg: usize,
    /// Frames in which any part is planted.
    pub frames: Range<usize>,
    /// Frames in which the heel is planted.
    pub heel: Option<Range<usize>>,
    /// Frames in which the ball is planted.
    pub ball: Option<Range<usize>>,
    /// Normal of the ground below.
    pub normal: DVec3,
}

impl Stance {
    /// Frames in which the whole sole is planted.
    pub fn flat(&self) -> Range<usize> {
        match (&self.heel, &self.ball) {
            (Some(a), Some(b)) if a.start.max(b.start) < a.end.min(b.end) => {
                a.start.max(b.start)..a.end.min(b.end)
            }
            _ => 0..0,
        }
    }
}

/// Segments of a motion: it is cut where a body jumps in a way that no body can.
pub fn find_segments(motion: &Motion, worlds: &[JointFrames], pelvis: usize, leg: f64) -> Vec<Range<usize>> {
    let place = |t: usize| worlds[t].positions[pelvis];
    // Mean distance of the joints relative to the pelvis from the previous frame.
    let change = |t: usize| {
        let around = |t: usize| worlds[t].positions.iter().map(move |p| *p - place(t));
        let way: f64 = around(t).zip(around(t - 1)).map(|(a, b)| a.distance(b)).sum();
        way / worlds[t].positions.len() as f64
    };
    let changes: Vec<f64> = (0..worlds.len()).map(|t| if t == 0 { 0.0 } else { change(t) }).collect();
    let is_cut = |t: usize| {
        let around = changes[t - 1].max(changes.get(t + 1).copied().unwrap_or(0.0));
        let is_far = place(t).distance(place(t - 1)) * motion.fps > MAX_LEG_LENGTHS_PER_SEC * leg;
        is_far || changes[t] > (JUMP_LEG_LENGTHS * leg).max(JUMP_RATIO * around)
    };
    let mut starts = vec![0];
    starts.extend((1..worlds.len()).filter(|&t| is_cut(t)));
    starts.push(worlds.len());
    starts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

/// A planted part of a foot, given by the user or detected.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// Name of the joint that carries the foot.
    pub foot: String,
    /// Heel or ball.
    pub part: FootPart,
    /// When.
    pub frames: Range<usize>,
}

/// Given contacts with their positions.
fn given_contacts(
    given: &[Contact],
    (rig, body): (&Rig, &Body),
    soles: &[Sole],
    worlds: &[JointFrames],
) -> Result<Vec<(usize, FootPart, FoundContact)>, ConstrainError> {
    let mut found: Vec<(usize, FootPart, FoundContact)> = Vec::new();
    for contact in given {
        let is_meant = |leg: &Leg| rig.joints()[leg.ankle].name == contact.foot;
        let Some(leg) = body.legs.iter().position(is_meant) else {
            if body.arms.iter().any(|arm| rig.joints()[arm.ankle].name == contact.foot) {
                continue;
            }
            return Err(ConstrainError::no_joint(&contact.foot, rig));
        };
        let frames = contact.frames.start..contact.frames.end.min(worlds.len());
        if frames.start >= frames.end {
            continue;
        }
        let is_heel = contact.part == FootPart::Heel || !soles[leg].has_size();
        let (part, local) =
            if is_heel { (FootPart::Heel, soles[leg].heel) } else { (FootPart::Ball, soles[leg].ball) };
        let path: Vec<DVec3> =
            worlds[frames.clone()].iter().map(|w| w.point(body.legs[leg].ankle, local)).collect();
        found.push((leg, part, FoundContact { place: median(&path), frames, speed: 0.0 }));
    }
    found.sort_by_key(|(leg, part, contact)| (*leg, *part == FootPart::Ball, contact.frames.start));
    Ok(found)
}

/// Contacts of stances, part by part.
pub fn contacts_of(stances: &[Stance], rig: &Rig, body: &Body) -> Vec<Contact> {
    let mut all = Vec::new();
    for stance in stances {
        let foot = &rig.joints()[body.legs[stance.leg].ankle].name;
        for (part, frames) in [(FootPart::Heel, &stance.heel), (FootPart::Ball, &stance.ball)] {
            if let Some(frames) = frames {
                all.push(Contact { foot: foot.clone(), part, frames: frames.clone() });
            }
        }
    }
    all
}

/// Soles and stances of a motion; if contacts are given, only those. Feet far above slow hands are in the air.
pub fn stances_with(
    given: Option<&[Contact]>,
    (rig, body): (&Rig, &Body),
    worlds: &[JointFrames],
    (fps, segments): (f64, &[Range<usize>]),
    by: (f64, &ContactParams),
    slow_hands: &[(usize, FoundContact)],
) -> Result<(Vec<Sole>, Vec<Stance>), ConstrainError> {
    let (soles, stances) = find_stances(body, worlds, fps, segments, by, slow_hands);
    let Some(given) = given else { return Ok((soles, stances)) };
    let found = given_contacts(given, (rig, body), &soles, worlds)?;
    Ok((soles, join(&found, body.legs.len(), by.0)))
}

/// Soles and stances of a motion.
fn find_stances(
    body: &Body,
    worlds: &[JointFrames],
    fps: f64,
    segments: &[Range<usize>],
    (leg_length, params): (f64, &ContactParams),
    slow_hands: &[(usize, FoundContact)],
) -> (Vec<Sole>, Vec<Stance>) {
    let contacts = |at: &dyn Fn(&JointFrames) -> DVec3| {
        let path: Vec<DVec3> = worlds.iter().map(at).collect();
        find_contacts(&path, fps, segments, leg_length, params)
    };
    let mut soles = Vec::new();
    let mut found: Vec<(usize, FootPart, FoundContact)> = Vec::new();
    for (index, leg) in body.legs.iter().enumerate() {
        let ankle = contacts(&|w| w.positions[leg.ankle]);
        let toe = leg.toe.map_or_else(Vec::new, |toe| contacts(&|w| w.positions[toe]));
        let normals = ground_normals(&ankle, leg_length);
        let (flat, up) = flat_frames(leg, worlds, &ankle, &toe, &normals);
        let sole = Sole::measure(leg, worlds, &flat, up, leg.flesh);
        found.extend(
            contacts(&|w| w.point(leg.ankle, sole.heel)).into_iter().map(|c| (index, FootPart::Heel, c)),
        );
        if sole.has_size() {
            let ball = contacts(&|w| w.point(leg.ankle, sole.ball));
            found.extend(ball.into_iter().map(|c| (index, FootPart::Ball, c)));
        }
        soles.push(sole);
    }
    let feet = found.iter().map(|(.., contact)| contact);
    let all: Vec<&FoundContact> = feet.clone().chain(slow_hands.iter().map(|(_, contact)| contact)).collect();
    let is_planted: Vec<bool> = feet.map(|contact| !is_in_air(contact, &all, leg_length, params)).collect();
    let mut is_planted = is_planted.into_iter();
    found.retain(|_| is_planted.next().unwrap_or(false));
    (soles, join(&found, body.legs.len(), leg_length))
}

/// Frames in which ankle and toes are planted together, and the mean normal of the ground in the ankle's frame; without
/// such frames all planted ones, else the first, as if the body stood upright.
fn flat_frames(
    leg: &Leg,
    worlds: &[JointFrames],
    ankle: &[FoundContact],
    toe: &[FoundContact],
    normals: &[DVec3],
) -> (Vec<usize>, DVec3) {
    let is_in = |t: usize, contacts: &[FoundContact]| contacts.iter().position(|c| c.frames.contains(&t));
    let mut flat: Vec<(usize, DVec3)> = Vec::new();
    for t in 0..worlds.len() {
        if let Some(at) = is_in(t, ankle).filter(|_| leg.toe.is_none() || is_in(t, toe).is_some()) {
            flat.push((t, normals[at]));
        }
    }
    if flat.is_empty() {
        flat = (0..worlds.len()).filter(|&t| is_in(t, toe).is_some()).map(|t| (t, DVec3::Y)).collect();
    }
    if flat.is_empty() {
        flat.push((0, DVec3::Y));
    }
    let up: DVec3 = flat.iter().map(|(t, up)| worlds[*t].rotations[leg.ankle].inverse() * *up).sum();
    (flat.into_iter().map(|(t, _)| t).collect(), up.try_normalize().unwrap_or(DVec3::Y))
}

/// Slopes below this count as level ground.
const LEVEL_SLOPE: f64 = 0.06;

/// Normal of the ground at each contact, from the previous and next contacts.
fn ground_normals(contacts: &[FoundContact], leg: f64) -> Vec<DVec3> {
    (0..contacts.len())
        .map(|i| {
            let near = &contacts[i.saturating_sub(1)..(i + 2).min(contacts.len())];
            slope_normal(contacts[i].place, near.iter().map(|c| c.place), leg)
        })
        .collect()
}

/// Normal of the plane through a place that is nearest to others; level if they do not determine it.
pub(super) fn slope_normal(at: DVec3, others: impl Iterator<Item = DVec3>, leg: f64) -> DVec3 {
    // Least squares for the slopes (a, b) of y = a x + b z, regularised towards level.
    let pull = (0.15 * leg).powi(2);
    let (mut xx, mut xz, mut zz, mut xy, mut zy) = (pull, 0.0, pull, 0.0, 0.0);
    for other in others {
        let d = other - at;
        (xx, xz, zz) = (xx + d.x * d.x, xz + d.x * d.z, zz + d.z * d.z);
        (xy, zy) = (xy + d.x * d.y, zy + d.z * d.y);
    }
    let determinant = xx * zz - xz * xz;
    let (a, b) = ((xy * zz - zy * xz) / determinant, (zy * xx - xy * xz) / determinant);
    if a.hypot(b) < LEVEL_SLOPE { DVec3::Y } else { DVec3::new(-a, 1.0, -b).normalize() }
}

/// Contacts of heel and ball that overlap are one stance.
fn join(found: &[(usize, FootPart, FoundContact)], n_legs: usize, leg_length: f64) -> Vec<Stance> {
    let mut stances = Vec::new();
    for leg in 0..n_legs {
        let of = |part: FootPart| found.iter().filter(move |f| f.0 == leg && f.1 == part).map(|f| &f.2);
        let mut heels: Vec<Range<usize>> = of(FootPart::Heel).map(|c| c.frames.clone()).collect();
        let places: Vec<DVec3> = of(FootPart::Heel).chain(of(FootPart::Ball)).map(|c| c.place).collect();
        let normal = |at: DVec3| slope_normal(at, near(&places, at, 2.0 * leg_length), leg_length);
        for ball in of(FootPart::Ball) {
            let frames = &ball.frames;
            let touching = heels.iter().position(|h| h.start < frames.end && frames.start < h.end);
            let heel = touching.map(|at| heels.remove(at));
            // A heel contact that reaches into the next stance of the ball ends there.
            let next = of(FootPart::Ball).map(|c| c.frames.start).filter(|&s| s >= frames.end).min();
            let heel = heel.map(|h| h.start..next.map_or(h.end, |n| h.end.min(n)));
            let (start, end) = heel
                .as_ref()
                .map_or((frames.start, frames.end), |h| (h.start.min(frames.start), h.end.max(frames.end)));
            stances.push(Stance {
                leg,
                frames: start..end,
                heel,
                ball: Some(frames.clone()),
                normal: normal(ball.place),
            });
        }
        for heel in heels {
            let place = of(FootPart::Heel).find(|c| c.frames == heel).map_or(DVec3::ZERO, |c| c.place);
            let (frames, heel) = (heel.clone(), Some(heel));
            stances.push(Stance { leg, frames, heel, ball: None, normal: normal(place) });
        }
    }
    stances.sort_by_key(|stance| (stance.leg, stance.frames.start));
    part_overlaps(&mut stances);
    stances
}

fn near(places: &[DVec3], at: DVec3, reach: f64) -> impl Iterator<Item = DVec3> + '_ {
    places.iter().copied().filter(move |place| place.distance(at) < reach)
}

/// A stance ends where the next of the same leg begins.
fn part_overlaps(stances: &mut Vec<Stance>) {
    for i in 1..stances.len() {
        let (start, leg) = (stances[i].frames.start, stances[i].leg);
        let before = &mut stances[i - 1];
        if before.leg == leg && before.frames.end > start {
            before.frames.end = start;
            for part in [&mut before.heel, &mut before.ball] {
                *part = part.take().map(|r| r.start..r.end.min(start)).filter(|r| r.start < r.end);
            }
        }
    }
    stances.retain(|stance| stance.frames.start < stance.frames.end);
}
