//! A foot that rolls on the ground: over its heel when it lands, over its ball or its toes when it leaves.
//!
//! The sole is the lower hull of the foot seen from the side. Pitched by an angle, the foot stands on one corner of the hull;
//! from corner to corner it rolls along the edge between them, so that no point on the ground slides. A foot with a joint at
//! its toes turns about that joint instead, and the toes stay flat.
//!
//! # Symbols
//! `φ` pitch of the foot, positive with the heel up; `(z, y)` along the foot and up, the ground at 0

use glam::{DAffine3, DQuat, DVec2, DVec3};

/// The rolling edge of a foot, as it stands in the base pose.
#[derive(Debug, Clone)]
pub(crate) struct Sole {
    /// Where the sole lies on the ground, and along which direction.
    origin: DVec3,
    ahead: DVec3,
    /// Corners from the heel to the toes, as `(z, y)`.
    corners: Vec<DVec2>,
    /// The corner it stands on when flat, of those with equal height the first.
    flat: usize,
    /// Joint of the toes, about which the heel rises.
    toe: Option<DVec2>,
}

/// Corners that are lower by less than this share of the foot lie on the ground together.
const MAX_CORNER_HEIGHT: f64 = 0.02;

impl Sole {
    /// Of points of the foot; `ahead` is level. The lowest of them touches the ground.
    pub fn new(points: &[DVec3], ahead: DVec3, toe: Option<DVec3>) -> Self {
        let low = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let low = if low.is_finite() { low } else { 0.0 };
        let middle = points.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / points.len().max(1) as f64;
        let origin = DVec3 { y: low, ..middle };
        let side = |p: &DVec3| DVec2::new((*p - origin).dot(ahead), p.y - low);
        let corners = lower_hull(points.iter().map(side).collect());
        let long = corners.last().zip(corners.first()).map_or(0.0, |(a, b)| a.x - b.x);
        let flat = corners.iter().position(|c| c.y <= MAX_CORNER_HEIGHT * long).unwrap_or(0);
        Self { origin, ahead, corners, flat, toe: toe.map(|toe| side(&toe)) }
    }

    /// Where its sole is on the ground in the base pose.
    pub fn origin(&self) -> DVec3 {
        self.origin
    }

    /// Length of the foot.
    pub fn length(&self) -> f64 {
        self.corners.last().zip(self.corners.first()).map_or(0.0, |(a, b)| a.x - b.x)
    }

    /// The motion of the foot from the base pose, rolled to a pitch on level ground.
    pub fn roll(&self, pitch: f64) -> DAffine3 {
        // About the left: y turns to z, the heel goes up.
        let axis = DVec3::Y.cross(self.ahead);
        let turn = DQuat::from_axis_angle(axis, pitch);
        let (corner, contact) = self.contact(pitch);
        let place = |p: DVec2| self.origin + self.ahead * p.x + DVec3::Y * p.y;
        DAffine3::from_rotation_translation(turn, place(contact) - turn * place(corner))
    }

    /// The point of the foot that stands, and where.
    fn contact(&self, pitch: f64) -> (DVec2, DVec2) {
        let Some(&start) = self.corners.get(self.flat) else { return (DVec2::ZERO, DVec2::ZERO) };
        if let Some(toe) = self.toe.filter(|_| pitch > 0.0) {
            return (toe, toe);
        }
        let mut at = self.flat;
        let mut along = start.x;
        if pitch > 0.0 {
            while let Some(next) = self.corners.get(at + 1).map(|c| *c - self.corners[at]) {
                if next.y.atan2(next.x) >= pitch {
                    break;
                }
                along += next.length();
                at += 1;
            }
        } else {
            while let Some(next) = at.checked_sub(1).map(|k| self.corners[k] - self.corners[at]) {
                if next.y.atan2(-next.x) >= -pitch {
                    break;
                }
                along -= next.length();
                at -= 1;
            }
        }
        (self.corners[at], DVec2::new(along, 0.0))
    }
}

/// Corners of the lower hull from left to right.
fn lower_hull(mut points: Vec<DVec2>) -> Vec<DVec2> {
    points.retain(|p| p.is_finite());
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let mut hull: Vec<DVec2> = Vec::new();
    for point in points {
        while let [.., a, b] = hull[..] {
            if (b - a).perp_dot(point - a) > 0.0 {
                break;
            }
            hull.pop();
        }
        hull.push(point);
    }
    hull
}

#[cfg(test)]
mod tests {
    use super::*;

    fn foot(toe: Option<DVec3>) -> (Vec<DVec3>, Sole) {
        // A shoe: heel and ball on the ground, toes and heel rounded.
        let side = [(-0.08, 0.02), (-0.05, 0.0), (0.1, 0.0), (0.16, 0.01), (0.18, 0.03), (0.0, 0.1)];
        let points: Vec<DVec3> = side.map(|(z, y)| DVec3::new(0.1, y, z)).to_vec();
        let sole = Sole::new(&points, DVec3::Z, toe);
        (points, sole)
    }

    #[test]
    fn a_rolling_foot_stands_on_the_ground_and_does_not_slide() {
        let (points, sole) = foot(None);
        let mut before = sole.roll(-0.6);
        for k in -599..=900 {
            let now = sole.roll(f64::from(k) / 1000.0);
            let low = points.iter().map(|p| now.transform_point3(*p).y).fold(f64::INFINITY, f64::min);
            assert!(low.abs() < 1e-12, "{k}: {low}");
            // What is lowest now hardly moved since.
            for p in &points {
                let (a, b) = (before.transform_point3(*p), now.transform_point3(*p));
                if b.y < 1e-12 {
                    assert!(a.distance(b) < 1e-3 * 0.2, "{k}: {a} to {b}");
                }
            }
            before = now;
        }
        assert!(sole.roll(0.0).abs_diff_eq(DAffine3::IDENTITY, 1e-12));
    }

    #[test]
    fn toes_stay_where_they_are_while_the_heel_rises() {
        let toe = DVec3::new(0.1, 0.02, 0.1);
        let (_, sole) = foot(Some(toe));
        assert!(sole.roll(0.7).transform_point3(toe).distance(toe) < 1e-12);
        assert!(sole.roll(0.7).transform_point3(DVec3::new(0.1, 0.1, 0.0)).y > 0.1);
    }

    #[test]
    fn a_foot_without_points_turns_where_it_is() {
        let sole = Sole::new(&[], DVec3::Z, None);
        assert!(sole.roll(0.5).is_finite());
    }
}
