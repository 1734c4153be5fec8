//! Up, forward, unit and class of a skeleton from where its parts are.

use super::{BodyClass, Hinge, Part, parts::Parts};
use crate::{Clip, Pose, Rig, rig::Side};
use glam::{DAffine3, DVec3};

/// Directions of a body.
#[derive(Debug)]
pub(super) struct Frame {
    pub up: DVec3,
    pub forward: DVec3,
    /// Whether sides or ends of the body decided where forward is.
    pub is_forward_known: bool,
}

/// Moments of a clip that are looked at.
const N_MOMENTS: usize = 24;

/// The rest pose, or the most upright pose of the clips if at rest legs and head lie on the same side of the hips; and where its
/// joints are.
pub(super) fn reference_pose(rig: &Rig, clips: &[Clip], found: &Parts) -> (Pose, Vec<DVec3>) {
    let places = |world: &[DAffine3]| world.iter().map(|joint| joint.translation).collect::<Vec<DVec3>>();
    let rest = places(&rig.rest_world());
    if !is_heap(found, &rest) {
        return (rig.rest_pose(), rest);
    }
    let moment = |clip: &Clip, k: usize| clip.duration_secs() * k as f32 / N_MOMENTS as f32;
    let poses = clips.iter().flat_map(|clip| (0..=N_MOMENTS).map(move |k| clip.sample(rig, moment(clip, k))));
    let mut best: Option<(f64, Pose, Vec<DVec3>)> = None;
    let mut world = Vec::new();
    for pose in poses {
        if rig.forward(&pose, &mut world).is_err() {
            continue;
        }
        let there = places(&world);
        let uprightness = uprightness(found, &there);
        if !is_heap(found, &there) && best.as_ref().is_none_or(|best| uprightness > best.0) {
            best = Some((uprightness, pose, there));
        }
    }
    best.map_or_else(|| (rig.rest_pose(), rest), |(_, pose, places)| (pose, places))
}

/// How straight a body stands along an axis of the world: legs, and trunk.
fn uprightness(found: &Parts, places: &[DVec3]) -> f64 {
    let middle = |part: Part| mean(found.joints(part).map(|k| places[k]));
    let (Some(hips), Some(head), Some(feet)) = (middle(Part::Hips), middle(Part::Head), middle(Part::Foot))
    else {
        return 0.0;
    };
    let (trunk, legs) = ((head - hips).normalize_or_zero(), (hips - feet).normalize_or_zero());
    trunk.dot(legs) + trunk.abs().max_element() + legs.abs().max_element()
}

/// Whether the places cannot be those of a body that stands.
fn is_heap(found: &Parts, places: &[DVec3]) -> bool {
    let middle = |part: Part| mean(found.joints(part).map(|k| places[k]));
    let leg = |side: Side| {
        let of = |part: Part| mean(found.joints(part).filter(|&k| found.sides[k] == side).map(|k| places[k]));
        of(Part::Foot).zip(of(Part::Thigh)).and_then(|(foot, thigh)| (foot - thigh).try_normalize())
    };
    if leg(Side::Left).zip(leg(Side::Right)).is_some_and(|(left, right)| left.dot(right) < 0.3) {
        return true;
    }
    let (Some(hips), Some(head), Some(feet)) = (middle(Part::Hips), middle(Part::Head), middle(Part::Foot))
    else {
        return false;
    };
    let (head, feet) = ((head - hips).normalize_or_zero(), (feet - hips).normalize_or_zero());
    head.dot(feet) > 0.7 || head == DVec3::ZERO || feet == DVec3::ZERO
}

fn mean(points: impl Iterator<Item = DVec3>) -> Option<DVec3> {
    let (sum, n) = points.fold((DVec3::ZERO, 0), |(sum, n), p| (sum + p, n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// The axis within some 35° of a direction, else the direction: legs and trunks of upright bodies lean.
const LEAN_COSINE: f64 = 0.82;
/// The same for where a body faces, 2°: left and right limbs lie opposite each other, and a body may be turned by any angle.
const TURN_COSINE: f64 = 0.9994;

fn snap(direction: DVec3, cosine: f64) -> DVec3 {
    let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
    axes.into_iter().find(|axis| axis.dot(direction) > cosine).unwrap_or(direction)
}

impl Frame {
    /// Up is from feet to where legs and arms of animals begin; left from the right limbs to the left ones.
    pub fn of(found: &Parts, places: &[DVec3]) -> Self {
        let middle = |part: Part| mean(found.joints(part).map(|k| places[k]));
        let pillar = match (middle(Part::Foot), middle(Part::Thigh)) {
            (Some(foot), Some(thigh)) => thigh - foot,
            _ => DVec3::ZERO,
        };
        let up = pillar.try_normalize().map_or(DVec3::Y, |up| snap(up, LEAN_COSINE));
        let on = |parts: &[Part], side: Side| {
            let is_limb = |k: &usize| parts.contains(&found.parts[*k]) && found.sides[*k] == side;
            mean((0..places.len()).filter(is_limb).map(|k| places[k]))
        };
        let flat = |v: DVec3| (v - v.dot(up) * up).try_normalize();
        let across = |parts: &[Part]| match (on(parts, Side::Left), on(parts, Side::Right)) {
            (Some(left), Some(right)) => flat(left - right).map(|left| left.cross(up)),
            _ => None,
        };
        // Where limbs begin lies opposite each other however they are posed; where they end need not.
        let from_sides = across(&[Part::UpperArm, Part::Thigh, Part::Wing, Part::Fin, Part::Shoulder])
            .or_else(|| across(&[Part::Leg, Part::Foot, Part::Hand]));
        let spine = || {
            let back = middle(Part::Tail).or_else(|| middle(Part::Hips)).or_else(|| middle(Part::Spine))?;
            Some(middle(Part::Head)? - back)
        };
        // Of a body along the ground the spine tells better than limbs, one of which may be ahead.
        let along =
            spine().filter(|spine| flat(*spine).is_some_and(|ahead| ahead.dot(*spine) > spine.dot(up).abs()));
        let from_spine = along
            .and_then(flat)
            .filter(|ahead| from_sides.is_some_and(|side| side.dot(*ahead) > LEAN_COSINE));
        let from_limbs = from_spine.or(from_sides).map(|forward| snap(forward, TURN_COSINE));
        // A body without limbs winds at rest: its ends tell only which axis it lies along.
        let known = from_limbs.or_else(|| spine().and_then(flat).map(|forward| snap(forward, LEAN_COSINE)));
        let forward = known.unwrap_or_else(|| flat(DVec3::Z).unwrap_or(DVec3::X));
        Self { up, forward, is_forward_known: known.is_some() }
    }

    fn left(&self) -> DVec3 {
        self.up.cross(self.forward)
    }

    /// Knees and elbows bend in the plane of their limb; straight ones about the axis that brings shins back and hands forward.
    pub fn hinge(&self, rig: &Rig, found: &Parts, places: &[DVec3], joint: usize) -> Option<Hinge> {
        let range = [0.0, 150f64.to_radians()];
        let part = found.parts[joint];
        if !matches!(part, Part::Shin | Part::Forearm) {
            return None;
        }
        let child = (0..places.len()).find(|&c| rig.joints()[c].parent == Some(joint))?;
        let parent = rig.joints()[joint].parent?;
        let upper = (places[joint] - places[parent]).try_normalize()?;
        let lower = (places[child] - places[joint]).try_normalize()?;
        let straight = match part {
            Part::Shin => self.left(),
            _ => upper.cross(self.forward).try_normalize().unwrap_or(self.left()),
        };
        let bent = upper.cross(lower);
        // Below some 10° the plane of the limb is chance.
        let axis = if bent.length() > 0.17 { bent.normalize() } else { straight };
        Some(Hinge { axis, range })
    }
}

/// The plan of a body from its parts.
pub(super) fn classify(found: &Parts, places: &[DVec3], frame: &Frame) -> BodyClass {
    let height = |part: Part| mean(found.joints(part).map(|k| places[k])).map(|p| p.dot(frame.up));
    let n_tentacles = found.joints(Part::Tentacle).count();
    let has_legs = found.has(Part::Thigh) || found.has(Part::Shin);
    if found.has(Part::Leg) {
        return BodyClass::Arthropod;
    }
    if n_tentacles >= 3 {
        return BodyClass::Octopus;
    }
    if found.has(Part::Wing) {
        return BodyClass::Bird;
    }
    if !has_legs {
        let has_spine = found.joints(Part::Spine).count() + found.joints(Part::Tail).count() >= 3;
        let has_arms = found.has(Part::UpperArm);
        return if has_spine && !has_arms { BodyClass::Swimmer } else { BodyClass::Tree };
    }
    let trunk = |part| mean(found.joints(part).map(|k| places[k]));
    let top = trunk(Part::Chest).or_else(|| trunk(Part::Neck)).or_else(|| trunk(Part::Head));
    let is_upright = match (trunk(Part::Hips), top) {
        (Some(hips), Some(top)) => (top - hips).normalize_or_zero().dot(frame.up) > 0.75,
        _ => true,
    };
    let front = height(Part::Hand).or_else(|| height(Part::Forearm));
    let stands_on_hands =
        match (front, height(Part::Foot).or_else(|| height(Part::Shin)), height(Part::Thigh)) {
            (Some(hand), Some(foot), Some(thigh)) => hand - foot < 0.45 * (thigh - foot),
            _ => false,
        };
    match (found.has(Part::UpperArm), is_upright, stands_on_hands) {
        (true, false, true) => BodyClass::Quadruped,
        (true, true, true) if found.limbs.iter().any(|limb| limb == "front") => BodyClass::Quadruped,
        (_, false, _) => BodyClass::HorizontalBiped,
        (_, true, _) => BodyClass::Biped,
    }
}

/// How many of the joints have a meaning, and whether what the class needs was found.
pub(super) fn confidence(found: &Parts, class: BodyClass, frame: &Frame) -> f64 {
    let named = found.n_named as f64 / found.parts.len().max(1) as f64;
    let needed: &[Part] = match class {
        BodyClass::Biped | BodyClass::Quadruped => {
            &[Part::Hips, Part::Head, Part::UpperArm, Part::Forearm, Part::Thigh, Part::Shin, Part::Foot]
        }
        BodyClass::HorizontalBiped | BodyClass::Bird => {
            &[Part::Hips, Part::Head, Part::Thigh, Part::Shin, Part::Foot]
        }
        BodyClass::Arthropod => &[Part::Leg],
        BodyClass::Swimmer if found.has(Part::Tail) => &[Part::Tail],
        BodyClass::Swimmer => &[Part::Spine],
        BodyClass::Octopus => &[Part::Tentacle],
        BodyClass::Tree => return 0.2 * named,
    };
    let there = needed.iter().filter(|part| found.has(**part)).count() as f64 / needed.len() as f64;
    let facing = if frame.is_forward_known { 1.0 } else { 0.7 };
    (there * there * facing * (0.5 + 0.5 * named)).clamp(0.0, 0.98)
}

/// Metres per unit, so that people are about 1.7 m tall and animals between 10 cm and 6 m.
pub(super) fn guess_unit(class: BodyClass, places: &[DVec3], frame: &Frame) -> Option<f64> {
    let heights = places.iter().map(|p| p.dot(frame.up));
    let (low, high) = heights.fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(y), h.max(y)));
    let size = match class {
        // Heads end above their joint.
        BodyClass::Biped => 1.12 * (high - low),
        _ => {
            let [low, high] = crate::mesh::bounds(places);
            low.distance(high)
        }
    };
    let range = if class == BodyClass::Biped { 1.0..2.6 } else { 0.1..6.0 };
    // Inches, and CMU's unit of 1/0.45 inches, are known from other units by the height of a person alone.
    let people: &[f64] = &[1.0, 0.01, 0.0254, 0.0254 / 0.45, 0.001];
    let units = if class == BodyClass::Biped { people } else { &[1.0, 0.01, 0.001] };
    units.iter().copied().find(|unit| range.contains(&(size * unit)))
}
