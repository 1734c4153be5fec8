//! Footprints: where feet are planted in a motion, and where they will be on another ground.

use super::{
    JointFrames,
    body::Leg,
    contacts::median,
    feet::{FootPart, Sole, Stance},
};
use glam::{DMat3, DQuat, DVec3};
use sinew_geom::path::PlacedGround;
use std::ops::Range;

/// A footprint: the ball of a foot on the ground.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Footprint {
    /// Middle of the ball.
    pub origin: DVec3,
    /// `world ← sole`: x to the side, y along the normal of the ground, z to the toes.
    pub rotation: DQuat,
}

/// Distance of a sole from the ground beyond which another place is searched, metres.
const MAX_UNEVENNESS_METRES: f64 = 0.008;
/// Distance kept from an edge, metres.
const EDGE_ROOM_METRES: f64 = 0.02;
/// Step of the search for another place, metres.
const SEARCH_STEP_METRES: f64 = 0.01;
/// Samples along a sole.
const N_SEARCH_STEPS: usize = 9;

impl Footprint {
    /// A footprint with a heading on ground with a normal.
    pub fn new(origin: DVec3, forward: DVec3, normal: DVec3) -> Self {
        let flat = forward - normal * normal.dot(forward);
        let z = flat.try_normalize().unwrap_or_else(|| normal.any_orthonormal_vector());
        let rotation = DQuat::from_mat3(&DMat3::from_cols(normal.cross(z), normal, z));
        Self { origin, rotation }
    }

    /// Between two footprints.
    pub fn blend(&self, other: &Self, u: f64) -> Self {
        Self { origin: self.origin.lerp(other.origin, u), rotation: self.rotation.slerp(other.rotation, u) }
    }

    /// World position of a point of the sole of a flat foot.
    pub fn place(&self, sole: &Sole, local: DVec3) -> DVec3 {
        self.origin + self.rotation * (sole.frame.inverse() * (local - sole.ball))
    }

    /// Footprint of a stance: median position, mean heading while it is flat.
    pub fn of_stance(stance: &Stance, leg: &Leg, sole: &Sole, worlds: &[JointFrames]) -> Self {
        let flat = stance.flat();
        let calm = if flat.is_empty() { stance.frames.clone() } else { flat };
        let forward: DVec3 = calm.map(|t| worlds[t].rotations[leg.ankle] * (sole.frame * DVec3::Z)).sum();
        let path = |frames: &Range<usize>, local: DVec3| -> Vec<DVec3> {
            frames.clone().map(|t| worlds[t].point(leg.ankle, local)).collect()
        };
        let print = Self::new(DVec3::ZERO, forward, stance.normal);
        let origin = match (&stance.ball, &stance.heel) {
            (Some(frames), _) => median(&path(frames, sole.ball)),
            (None, Some(frames)) => median(&path(frames, sole.heel)) - print.place(sole, sole.heel),
            (None, None) => median(&path(&stance.frames, sole.ball)),
        };
        Self { origin, ..print }
    }

    /// The footprint a foot would leave in one frame if it were set down on a plane.
    pub fn below(world: &JointFrames, leg: &Leg, sole: &Sole, plane: &Self) -> Self {
        let normal = plane.rotation * DVec3::Y;
        let ball = world.point(leg.ankle, sole.ball);
        let drop = normal.dot(ball - plane.origin) / normal.y.max(0.1);
        let forward = world.rotations[leg.ankle] * (sole.frame * DVec3::Z);
        Self::new(ball - DVec3::Y * drop, forward, normal)
    }

    /// Set a sole down near a place of another ground, with a heading: where the ground is even enough for it, and
    /// high enough not to enter it.
    pub fn settle(site: &PlacedGround, place: DVec3, forward: DVec3, sole: &Sole) -> Self {
        let ahead = DVec3::new(forward.x, 0.0, forward.z).try_normalize().unwrap_or(DVec3::Z);
        let reach = SoleExtent::of(sole);
        let seat = |shift: f64| FittedFootprint::find(site, place + ahead * shift, ahead, &reach);
        let n = ((reach.front - reach.back + 2.0 * EDGE_ROOM_METRES) / SEARCH_STEP_METRES).ceil() as i32;
        let tries = (0..=2 * n)
            .map(|i| f64::from(if i % 2 == 0 { i / 2 } else { -(i + 1) / 2 }) * SEARCH_STEP_METRES);
        let even = tries.map(seat).find(|seat| seat.unevenness <= MAX_UNEVENNESS_METRES);
        // No even place is near: the foot rests on the highest edge.
        even.unwrap_or_else(|| FittedFootprint::on_edge(site, place, ahead, &reach)).print
    }
}

/// Extent of a sole around the ball.
struct SoleExtent {
    back: f64,
    front: f64,
    side: f64,
}

impl SoleExtent {
    fn of(sole: &Sole) -> Self {
        let flat = |local: DVec3| sole.frame.inverse() * (local - sole.ball);
        let of = |part: FootPart| sole.points.iter().filter(move |p| p.part == part).map(|p| flat(p.local));
        let back = of(FootPart::Heel).map(|p| p.z).fold(0.0, f64::min);
        let side = of(FootPart::Ball).map(|p| p.x).fold(0.0, f64::max);
        // Toes are about half as long as the rest of the foot in front of the ankle.
        let has_tip = of(FootPart::Tip).next().is_some();
        Self { back, front: if has_tip { -0.45 * back } else { 0.0 }, side }
    }
}

struct FittedFootprint {
    print: Footprint,
    /// Greatest distance between sole and ground.
    unevenness: f64,
}

impl FittedFootprint {
    /// The plane nearest to the ground below a sole, raised until nothing is below the ground.
    fn find(site: &PlacedGround, place: DVec3, ahead: DVec3, reach: &SoleExtent) -> Self {
        let aside = DVec3::Y.cross(ahead);
        let samples = samples(reach);
        let height = |z: f64, x: f64| {
            let at = place + ahead * z + aside * x;
            site.height(at.x, at.z)
        };
        let heights: Vec<f64> = samples.iter().map(|&[z, x]| height(z, x)).collect();
        let n = samples.len() as f64;
        let mean_z = samples.iter().map(|l| l[0]).sum::<f64>() / n;
        let mean = heights.iter().sum::<f64>() / n;
        // The samples are symmetric, so that the slopes of the nearest plane are found one by one.
        let slope = |of: &dyn Fn(&[f64; 2]) -> f64| {
            let square: f64 = samples.iter().map(|l| of(l).powi(2)).sum();
            let along: f64 = samples.iter().zip(&heights).map(|(l, h)| of(l) * h).sum();
            if square > 1e-12 { along / square } else { 0.0 }
        };
        let (a, b) = (slope(&|l| l[0] - mean_z), slope(&|l| l[1]));
        let plane = |l: &[f64; 2]| mean + a * (l[0] - mean_z) + b * l[1];
        let off: Vec<f64> = samples.iter().zip(&heights).map(|(l, h)| h - plane(l)).collect();
        let raise = off.iter().copied().fold(0.0, f64::max);
        let normal = (DVec3::Y - ahead * a - aside * b).normalize();
        let origin = DVec3::new(place.x, plane(&[0.0, 0.0]) + raise, place.z);
        let unevenness = off.iter().fold(0.0, |worst: f64, x| worst.max(x.abs()));
        Self { print: Footprint::new(origin, ahead, normal), unevenness }
    }

    /// Level on the highest place below.
    fn on_edge(site: &PlacedGround, place: DVec3, ahead: DVec3, reach: &SoleExtent) -> Self {
        let aside = DVec3::Y.cross(ahead);
        let height = samples(reach)
            .iter()
            .map(|&[z, x]| place + ahead * z + aside * x)
            .map(|at| site.height(at.x, at.z))
            .fold(f64::NEG_INFINITY, f64::max);
        let origin = DVec3::new(place.x, height, place.z);
        Self { print: Footprint::new(origin, ahead, DVec3::Y), unevenness: f64::INFINITY }
    }
}

/// Places below a sole, along and aside.
fn samples(reach: &SoleExtent) -> Vec<[f64; 2]> {
    let (low, high) = (reach.back - EDGE_ROOM_METRES, reach.front + EDGE_ROOM_METRES);
    (0..N_SEARCH_STEPS)
        .flat_map(|i| {
            let z = low + (high - low) * i as f64 / (N_SEARCH_STEPS - 1) as f64;
            [[z, -reach.side], [z, 0.0], [z, reach.side]]
        })
        .collect()
}
