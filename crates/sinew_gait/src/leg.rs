//! A leg: a chain of joints that folds as one, and the foot at its end.
//!
//! All joints between hip and foot bend about one axis across the leg, each in the direction in which it is made to bend, by a
//! common amount `s`; the distance from hip to foot falls with `s`. To reach a place, `s` is found for its distance, and the
//! whole leg is swung at the hip. With one joint between this is the law of cosines; with two it folds as a pantograph, as the
//! legs of dogs and horses do. A knee can never bend sideways or backwards.
//!
//! # Symbols
//! `pᵢ` joints in the base pose, `a` axis, `βᵢ` bend in the base pose, `σᵢ` its direction, `δᵢ` turn from there

use crate::sole::Sole;
use glam::{DAffine3, DQuat, DVec3};

/// Least and largest bend of a joint, in radians.
const LEAST_BEND: f64 = 0.02;
const MOST_BEND: f64 = 2.5;
/// Share of its full length up to which a leg is stretched exactly, and which it never exceeds.
pub(crate) const FREE_REACH: f64 = 0.985;
const FULL_REACH: f64 = 0.998;
/// Halvings of the interval in which the fold is looked for.
const HALVINGS: usize = 48;

/// A leg in the base pose, in the axes of the body.
#[derive(Debug, Clone)]
pub(crate) struct Leg {
    /// Joints from the hip on that fold.
    pub chain: Vec<usize>,
    /// The joint of the foot, which is level while it stands; without one the leg ends in a point of its last joint.
    pub foot: Option<usize>,
    /// Joints of the toes.
    pub toes: Vec<usize>,
    pub points: Vec<DVec3>,
    /// What reaches: the joint of the foot, or the point that stands.
    pub tip: DVec3,
    pub axis: DVec3,
    /// Bend of each joint after the hip, and in which direction it is made to bend.
    pub bends: Vec<(f64, f64)>,
    pub sole: Sole,
    /// Points of the surface near the ground, and the joint of the leg they move with.
    pub surface: Vec<(DVec3, usize)>,
    pub is_right: bool,
    pub is_front: bool,
    /// When in the cycle it lands.
    pub phase: f64,
    /// From where the foot stands in the base pose to where it stands in the gait.
    pub shift: DVec3,
}

/// Rotations of the joints of a leg about one axis.
pub(crate) fn turn_about(point: DVec3, turn: DQuat) -> DAffine3 {
    DAffine3::from_rotation_translation(turn, point - turn * point)
}

impl Leg {
    /// Length of the leg stretched out.
    pub fn length(&self) -> f64 {
        self.distance(f64::NEG_INFINITY)
    }

    /// Whether it has no joint to fold at.
    pub fn is_stiff(&self) -> bool {
        self.bends.is_empty()
    }

    /// What each joint of the chain moves by, folded by `s`, with the hip at rest.
    fn folded(&self, s: f64) -> Vec<DAffine3> {
        let mut moved = vec![DAffine3::IDENTITY];
        for (k, &(bend, direction)) in self.bends.iter().enumerate() {
            let wanted = (direction * bend + s).clamp(LEAST_BEND, MOST_BEND);
            let turn = DQuat::from_axis_angle(self.axis, direction * wanted - bend);
            moved.push(moved[k] * turn_about(self.points[k + 1], turn));
        }
        moved
    }

    fn distance(&self, s: f64) -> f64 {
        let last = self.folded(s).pop().unwrap_or(DAffine3::IDENTITY);
        last.transform_point3(self.tip).distance(self.points[0])
    }

    /// What the joints of the chain move by so that the tip comes to `target`, as near as the leg is long; `carried` is what
    /// the trunk moves the hip by.
    pub fn reach(&self, carried: &DAffine3, target: DVec3) -> Vec<DAffine3> {
        let hip = carried.transform_point3(self.points[0]);
        let distance = soft_limit(target.distance(hip), self.length());
        let (mut low, mut high) = (-MOST_BEND, MOST_BEND);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.distance(middle) > distance { low = middle } else { high = middle }
        }
        let folded = self.folded(0.5 * (low + high));
        let last = folded.last().copied().unwrap_or(DAffine3::IDENTITY);
        let from = carried.transform_vector3(last.transform_point3(self.tip) - self.points[0]);
        let swing = match (from.try_normalize(), (target - hip).try_normalize()) {
            (Some(from), Some(to)) => DQuat::from_rotation_arc(from, to),
            _ => DQuat::IDENTITY,
        };
        let swung = turn_about(hip, swing) * *carried;
        folded.into_iter().map(|moved| swung * moved).collect()
    }
}

/// A distance that a leg of a length can bridge: the distance itself unless it is nearly stretched.
fn soft_limit(distance: f64, length: f64) -> f64 {
    let (free, most) = (FREE_REACH * length, FULL_REACH * length);
    if distance <= free {
        distance
    } else {
        free + (most - free) * ((distance - free) / (most - free)).tanh()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn leg(points: &[DVec3], tip: DVec3, directions: &[f64]) -> Leg {
        let all: Vec<DVec3> = points.iter().copied().chain([tip]).collect();
        let bend = |k: usize| {
            let (a, b) = (all[k] - all[k - 1], all[k + 1] - all[k]);
            a.cross(b).dot(DVec3::X).atan2(a.dot(b))
        };
        Leg {
            chain: (0..points.len()).collect(),
            foot: None,
            toes: Vec::new(),
            points: points.to_vec(),
            tip,
            axis: DVec3::X,
            bends: directions.iter().enumerate().map(|(k, &d)| (bend(k + 1), d)).collect(),
            sole: Sole::new(&[tip], DVec3::Z, None),
            surface: Vec::new(),
            is_right: false,
            is_front: false,
            phase: 0.0,
            shift: DVec3::ZERO,
        }
    }

    #[test]
    fn legs_reach_and_their_bones_keep_their_length() {
        let person = leg(&[DVec3::Y, DVec3::new(0.0, 0.5, 0.01)], DVec3::new(0.0, 0.08, 0.0), &[1.0]);
        let dog = leg(
            &[DVec3::new(0.0, 0.6, 0.0), DVec3::new(0.0, 0.4, 0.1), DVec3::new(0.0, 0.2, -0.08)],
            DVec3::ZERO,
            &[1.0, -1.0],
        );
        for (leg, high) in [(person, 1.0), (dog, 0.6)] {
            for k in 0..50 {
                let angle = f64::from(k) * 0.12;
                let carried = turn_about(DVec3::new(0.1, 0.3, 0.2), DQuat::from_rotation_y(0.3 * angle));
                let hip = carried.transform_point3(leg.points[0]);
                let to = hip
                    + high
                        * (0.5 + 0.008 * f64::from(k))
                        * DVec3::new(0.1, -angle.cos().abs() - 0.2, angle.sin()).normalize();
                let moved = leg.reach(&carried, to);
                let tip = moved[moved.len() - 1].transform_point3(leg.tip);
                assert!(tip.distance(to) < 1e-6, "{k}: {tip} for {to}");
                for (k, pair) in leg.points.windows(2).enumerate() {
                    let length =
                        moved[k].transform_point3(pair[0]).distance(moved[k + 1].transform_point3(pair[1]));
                    assert!((length - pair[0].distance(pair[1])).abs() < 1e-12);
                }
            }
        }
    }

    #[test]
    fn a_knee_bends_only_in_its_direction_also_out_of_reach() {
        let person = leg(&[DVec3::Y, DVec3::new(0.0, 0.5, -0.02)], DVec3::new(0.0, 0.08, 0.0), &[1.0]);
        for (y, z) in [(0.1, 0.0), (0.5, 0.3), (-3.0, 0.0), (0.9, 0.1)] {
            let moved = person.reach(&DAffine3::IDENTITY, DVec3::new(0.0, y, z));
            let [hip, knee] = [0, 1].map(|k| moved[k].transform_point3(person.points[k]));
            let tip = moved[1].transform_point3(person.tip);
            let bend = (knee - hip).cross(tip - knee).dot(DVec3::X);
            assert!(bend > 0.0 && tip.is_finite(), "{y} {z}: {bend}");
        }
    }
}
