//! Rigid motions as screws: a half of a motion is the motion with half of its screw.
//!
//! # Source
//! Murray, Li and Sastry, *A mathematical introduction to robotic manipulation* (1994), §2.3–2.4; the derivative of
//! `V(ω) υ` follows by the product rule.
//! # Symbols
//! `x' = R (x − c) + c + d` about a pivot `c`; `R = exp [ω]×`, `d = V(ω) υ + δ`, `V = I + a [ω]× + b [ω]×²`,
//! `a = (1 − cos θ)/θ²`, `b = (θ − sin θ)/θ³`, `θ = |ω|`

use glam::{DMat3, DQuat, DVec3};

/// A rigid motion about a pivot that can be scaled and added to others.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Screw {
    /// `ω`: rotation vector; whole turns count.
    pub turn: DVec3,
    /// `υ`: initial velocity of the pivot.
    pub speed: DVec3,
    /// `δ`: shift of the pivot that no screw explains.
    pub shift: DVec3,
}

/// Below this ratio `V` is too flat to be inverted: near whole turns a screw would have to run far.
const MIN_DETERMINANT: f64 = 0.05;

impl Screw {
    /// The screw of a motion that turns by a rotation vector and shifts the pivot.
    pub fn of(turn: DVec3, shift: DVec3) -> Self {
        let v = Series::of(turn).v(turn);
        if v.determinant() > MIN_DETERMINANT {
            Self { turn, speed: v.inverse() * shift, shift: DVec3::ZERO }
        } else {
            Self { turn, speed: DVec3::ZERO, shift }
        }
    }

    /// The screw without rounding residue: a handle that only follows its carrier has none.
    pub fn without_noise(self, unit: f64) -> Self {
        const ROUNDING_NOISE: f64 = 1e-12;
        let clean = |v: DVec3, size: f64| if v.length() > ROUNDING_NOISE * size { v } else { DVec3::ZERO };
        Self { turn: clean(self.turn, 1.0), speed: clean(self.speed, unit), shift: clean(self.shift, unit) }
    }

    /// `R` and `V` of a screw that only turns.
    pub fn turn_with_derivative(turn: DVec3) -> (DQuat, DMat3) {
        let series = Series::of(turn);
        (series.rotation(turn), series.v(turn))
    }

    /// `R`, and `d`, the shift of the pivot.
    pub fn motion(&self) -> (DQuat, DVec3) {
        let Screw { turn, speed, shift } = *self;
        let series = Series::of(turn);
        let across = turn.cross(speed);
        (series.rotation(turn), speed + series.a * across + series.b * turn.cross(across) + shift)
    }

    /// The motion with its derivatives: `R`, `d`, `V` and `∂(V υ)/∂ω`. A change of screw `(ω̇, υ̇, δ̇)` turns by
    /// `V ω̇` and shifts the pivot by `V υ̇ + ∂(V υ)/∂ω ω̇ + δ̇`.
    pub fn motion_with_derivatives(&self) -> (DQuat, DVec3, DMat3, DMat3) {
        let Screw { turn, speed, shift } = *self;
        let series = Series::of(turn);
        let v = series.v(turn);
        let across = turn.cross(speed);
        let twice = turn.cross(across);
        let by_turn = skew(speed) * -series.a
            + outer(across * series.a_slope + twice * series.b_slope, turn)
            + (DMat3::from_diagonal(DVec3::splat(turn.dot(speed))) + outer(turn, speed)
                - outer(speed, turn) * 2.0)
                * series.b;
        (series.rotation(turn), v * speed + shift, v, by_turn)
    }

    /// The sum of this and a multiple of another.
    pub fn add(&mut self, share: f64, other: &Self) {
        self.turn += share * other.turn;
        self.speed += share * other.speed;
        self.shift += share * other.shift;
    }
}

/// Functions of the angle, with limits at zero.
struct Series {
    /// `sin(θ/2)/θ`.
    half: f64,
    /// `cos(θ/2)`.
    cos_half: f64,
    a: f64,
    b: f64,
    /// `a'/θ` and `b'/θ`.
    a_slope: f64,
    b_slope: f64,
}

impl Series {
    #[inline]
    fn of(turn: DVec3) -> Self {
        let t2 = turn.length_squared();
        if t2 < 1e-2 {
            return Self {
                half: 0.5 - t2 / 48.0 + t2 * t2 / 3840.0 - t2 * t2 * t2 / 645_120.0,
                cos_half: 1.0 - t2 / 8.0 + t2 * t2 / 384.0 - t2 * t2 * t2 / 46_080.0
                    + t2 * t2 * t2 * t2 / 10_321_920.0,
                a: 0.5 - t2 / 24.0 + t2 * t2 / 720.0 - t2 * t2 * t2 / 40_320.0,
                b: 1.0 / 6.0 - t2 / 120.0 + t2 * t2 / 5040.0 - t2 * t2 * t2 / 362_880.0,
                a_slope: -1.0 / 12.0 + t2 / 180.0 - t2 * t2 / 6720.0,
                b_slope: -1.0 / 60.0 + t2 / 1260.0 - t2 * t2 / 60_480.0,
            };
        }
        let t = t2.sqrt();
        let (sin_half, cos_half) = (0.5 * t).sin_cos();
        let (sin, versine) = (2.0 * sin_half * cos_half, 2.0 * sin_half * sin_half);
        Self {
            half: sin_half / t,
            cos_half,
            a: versine / t2,
            b: (t - sin) / (t2 * t),
            a_slope: (t * sin - 2.0 * versine) / (t2 * t2),
            b_slope: (t * versine - 3.0 * (t - sin)) / (t2 * t2 * t),
        }
    }

    fn rotation(&self, turn: DVec3) -> DQuat {
        let v = turn * self.half;
        DQuat::from_xyzw(v.x, v.y, v.z, self.cos_half)
    }

    fn v(&self, turn: DVec3) -> DMat3 {
        let k = skew(turn);
        DMat3::IDENTITY + k * self.a + k * k * self.b
    }
}

/// `[u]×`.
fn skew(u: DVec3) -> DMat3 {
    DMat3::from_cols(DVec3::new(0.0, u.z, -u.y), DVec3::new(-u.z, 0.0, u.x), DVec3::new(u.y, -u.x, 0.0))
}

/// `u vᵀ`.
fn outer(u: DVec3, v: DVec3) -> DMat3 {
    DMat3::from_cols(u * v.x, u * v.y, u * v.z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::f64::consts::{PI, TAU};

    fn vector(size: f64) -> impl Strategy<Value = DVec3> {
        prop::array::uniform3(-size..size).prop_map(DVec3::from_array)
    }

    proptest! {
        #[test]
        fn a_screw_is_the_motion_it_was_made_of(turn in vector(2.0), shift in vector(3.0)) {
            let (rotation, moved) = Screw::of(turn, shift).motion();
            prop_assert!(moved.distance(shift) < 1e-12);
            prop_assert!(rotation.angle_between(DQuat::from_scaled_axis(turn)) < 1e-7);
        }

        #[test]
        fn derivatives_are_those_of_finite_differences(
            turn in vector(2.5), speed in vector(1.0), turning in vector(1.0), speeding in vector(1.0), small in 0..2
        ) {
            let screw = Screw { turn: turn * if small == 0 { 0.01 } else { 1.0 }, speed, shift: DVec3::ZERO };
            let change = Screw { turn: turning, speed: speeding, shift: DVec3::ZERO };
            let step = 1e-6;
            let at = |share: f64| { let mut s = screw; s.add(share, &change); s.motion() };
            let ((before, d0), (after, d1)) = (at(-step), at(step));
            let (rotation, shift, v, by_turn) = screw.motion_with_derivatives();
            prop_assert!(shift.distance(screw.motion().1) < 1e-13);
            let moved = (d1 - d0) / (2.0 * step);
            prop_assert!(moved.distance(v * speeding + by_turn * turning) < 1e-8, "{moved}");
            let turned = (after * before.inverse()).to_scaled_axis() / (2.0 * step);
            prop_assert!(turned.distance(v * turning) < 1e-8, "{turned} of {rotation}");
        }
    }

    #[test]
    fn half_a_turn_about_a_far_pivot_keeps_to_its_arc() {
        // A quarter turn about the origin of a point at (1, 0): half of it is at 45°, not on the chord.
        let pivot = DVec3::X;
        let mut half = Screw::default();
        half.add(0.5, &Screw::of(DVec3::Z * PI / 2.0, DVec3::Y - pivot));
        let there = pivot + half.motion().1;
        assert!(there.distance(DVec3::new(0.5f64.sqrt(), 0.5f64.sqrt(), 0.0)) < 1e-12, "{there}");
    }

    #[test]
    fn whole_turns_are_kept_and_shifted_straight() {
        for turns in [1.0, 2.0] {
            let screw = Screw::of(DVec3::Z * TAU * turns, DVec3::X);
            let (rotation, shift) = screw.motion();
            assert!(rotation.angle_between(DQuat::IDENTITY) < 1e-7 && shift.distance(DVec3::X) < 1e-9);
            let mut half = Screw::default();
            half.add(0.5, &screw);
            assert!(half.motion().1.length() < 2.0, "half of it runs away to {}", half.motion().1);
        }
    }
}
