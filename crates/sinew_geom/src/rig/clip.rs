//! Clips: keyed curves of joints and morph weights.
//!
//! # Source
//! glTF 2.0 specification, appendix C: step, linear (spherical for rotations) and cubic-spline interpolation.

use super::{Pose, Rig};
use crate::GeomError;
use glam::{Quat, Vec3};
use std::ops::Range;

/// How values between two keys are interpolated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interpolation {
    /// The value of the earlier key.
    Step,
    /// Linear, or along the great arc for rotations.
    #[default]
    Linear,
    /// Hermite spline with a tangent on either side of each key.
    Cubic,
}

/// A value that can be interpolated.
pub trait Interpolate: Copy {
    /// Blend linearly; spherically for rotations.
    fn lerp(self, other: Self, t: f32) -> Self;
    /// Weighted sum, projected back onto the value's domain.
    fn combine(terms: [(f32, Self); 4]) -> Self;
    /// Whether every component is finite.
    fn finite(self) -> bool;
}

impl Interpolate for Vec3 {
    fn lerp(self, other: Self, t: f32) -> Self {
        Vec3::lerp(self, other, t)
    }
    fn combine(terms: [(f32, Self); 4]) -> Self {
        terms.iter().map(|&(w, v)| w * v).sum()
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Interpolate for Quat {
    fn lerp(self, other: Self, t: f32) -> Self {
        self.slerp(other, t)
    }
    fn combine(terms: [(f32, Self); 4]) -> Self {
        let sum = terms.iter().fold(Quat::from_xyzw(0.0, 0.0, 0.0, 0.0), |sum, &(w, q)| sum + q * w);
        if sum.length_squared() > 0.0 { sum.normalize() } else { Quat::IDENTITY }
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
}

impl Interpolate for f32 {
    fn lerp(self, other: Self, t: f32) -> Self {
        self + (other - self) * t
    }
    fn combine(terms: [(f32, Self); 4]) -> Self {
        terms.iter().map(|&(w, v)| w * v).sum()
    }
    fn finite(self) -> bool {
        self.is_finite()
    }
}

/// Keys of one curve, or of `width` curves that share their times.
///
/// For [`Interpolation::Cubic`], `values` holds in-tangents, values and out-tangents per key, as glTF does.
#[derive(Debug, Clone, PartialEq)]
pub struct Keys<T> {
    times: Vec<f32>,
    values: Vec<T>,
    interpolation: Interpolation,
}

impl<T: Interpolate> Keys<T> {
    /// Check that times rise, that there is at least one key and the right number of finite values.
    ///
    /// # Errors
    /// With the index of the wrong key.
    pub fn new(
        times: Vec<f32>,
        values: Vec<T>,
        interpolation: Interpolation,
        width: usize,
    ) -> Result<Self, GeomError> {
        let per_key = if interpolation == Interpolation::Cubic { 3 * width } else { width };
        if times.is_empty() || values.len() != times.len() * per_key {
            let expected = times.len().max(1) * per_key;
            return Err(GeomError::Length { what: "key values", expected, actual: values.len() });
        }
        if let Some(index) = times.iter().position(|t| !t.is_finite()) {
            return Err(GeomError::NonFinite { what: "key time", index });
        }
        if let Some(index) = values.iter().position(|v| !v.finite()) {
            return Err(GeomError::NonFinite { what: "key value", index });
        }
        if let Some(index) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            return Err(GeomError::Parameter {
                name: "key times",
                value: format!("{} after {} at key {}", times[index + 1], times[index], index + 1),
                expected: "they must rise strictly",
            });
        }
        Ok(Self { times, values, interpolation })
    }

    /// Key times in seconds, rising.
    pub fn times(&self) -> &[f32] {
        &self.times
    }

    /// Raw values, laid out as glTF does.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// How values between keys are interpolated.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// Value of a single curve at a time; the first and last keys hold outside their range.
    pub fn sample(&self, time: f32) -> T {
        self.sample_curve(time, 0, 1)
    }

    /// Value of curve `curve` of `width`.
    pub fn sample_curve(&self, time: f32, curve: usize, width: usize) -> T {
        let cubic = self.interpolation == Interpolation::Cubic;
        let value = |key: usize| self.values[if cubic { (key * 3 + 1) * width } else { key * width } + curve];
        let next = self.times.partition_point(|&t| t <= time);
        if next == 0 {
            return value(0);
        }
        let key = next - 1;
        if next == self.times.len() || self.interpolation == Interpolation::Step {
            return value(key);
        }
        let span = self.times[next] - self.times[key];
        let t = (time - self.times[key]) / span;
        if !cubic {
            return value(key).lerp(value(next), t);
        }
        // Hermite basis, glTF 2.0 appendix C.5.
        let (t2, t3) = (t * t, t * t * t);
        let out_tangent = self.values[(key * 3 + 2) * width + curve];
        let in_tangent = self.values[next * 3 * width + curve];
        T::combine([
            (2.0 * t3 - 3.0 * t2 + 1.0, value(key)),
            (span * (t3 - 2.0 * t2 + t), out_tangent),
            (-2.0 * t3 + 3.0 * t2, value(next)),
            (span * (t3 - t2), in_tangent),
        ])
    }
}

/// Curves of one joint; an absent curve leaves the rest value.
#[derive(Debug, Clone, PartialEq)]
pub struct JointTrack {
    /// Joint of the rig.
    pub joint: usize,
    /// Local translation.
    pub translation: Option<Keys<Vec3>>,
    /// Local rotation.
    pub rotation: Option<Keys<Quat>>,
    /// Local scale.
    pub scale: Option<Keys<Vec3>>,
}

/// Weights of a run of morph targets.
#[derive(Debug, Clone, PartialEq)]
pub struct MorphTrack {
    /// Which morphs of the character.
    pub morphs: Range<usize>,
    /// As many curves as there are morphs in the run.
    pub keys: Keys<f32>,
}

/// An animation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Clip {
    /// Name shown to the user.
    pub name: String,
    /// Curves of joints, at most one track per joint.
    pub joints: Vec<JointTrack>,
    /// Curves of morph weights.
    pub morphs: Vec<MorphTrack>,
}

impl Clip {
    /// Time of the last key, in seconds.
    pub fn duration_secs(&self) -> f32 {
        let joints = self.joints.iter().flat_map(|track| {
            let last = |times: Option<&[f32]>| times.and_then(|t| t.last().copied());
            [
                last(track.translation.as_ref().map(Keys::times)),
                last(track.rotation.as_ref().map(Keys::times)),
                last(track.scale.as_ref().map(Keys::times)),
            ]
        });
        let morphs = self.morphs.iter().map(|track| track.keys.times().last().copied());
        joints.chain(morphs).flatten().fold(0.0, f32::max)
    }

    /// Keys per second of its morph targets, from the most common distance of two keys, since some animations leave
    /// keys out. `None` without two keys.
    pub fn morph_rate(&self) -> Option<f64> {
        let longest = self.morphs.iter().map(|track| track.keys.times()).max_by_key(|times| times.len())?;
        let mut steps: Vec<f32> = longest.windows(2).map(|pair| pair[1] - pair[0]).collect();
        steps.sort_by(f32::total_cmp);
        let rate = 1.0 / f64::from(*steps.get(steps.len() / 2)?);
        // Frame rates are round numbers; key times are rounded to single precision.
        Some(if rate < 1.0 { rate } else { (1e3 * rate).round() / 1e3 })
    }

    /// Frames per second of the keys of joints, if they are evenly spaced; otherwise 30.
    pub fn joint_rate(&self) -> f64 {
        let times = self.joints.iter().flat_map(|track| {
            [
                track.rotation.as_ref().map(Keys::times),
                track.translation.as_ref().map(Keys::times),
                track.scale.as_ref().map(Keys::times),
            ]
        });
        match times.flatten().max_by_key(|t| t.len()) {
            Some(times) if times.len() > 1 => {
                let rate = (times.len() - 1) as f64 / f64::from(times[times.len() - 1] - times[0]);
                let off = |(i, t): (usize, &f32)| (f64::from(*t - times[0]) * rate - i as f64).abs() > 0.01;
                let even = !times.iter().enumerate().any(off);
                if even && (1.0..=1000.0).contains(&rate) { rate } else { 30.0 }
            }
            _ => 30.0,
        }
    }

    /// Pose of a rig at a time. Joints without a track stay at rest, and so do rotations without a direction, such as
    /// four zeros.
    pub fn sample(&self, rig: &Rig, time: f32) -> Pose {
        let mut pose = rig.rest_pose();
        for track in &self.joints {
            let Some(local) = pose.locals.get_mut(track.joint) else { continue };
            if let Some(keys) = &track.translation {
                local.translation = keys.sample(time).as_dvec3();
            }
            if let Some(keys) = &track.rotation {
                let sampled = keys.sample(time).as_dquat();
                let squared = sampled.length_squared();
                if squared > 0.0 && squared.is_finite() {
                    local.rotation = sampled.normalize();
                }
            }
            if let Some(keys) = &track.scale {
                local.scale = keys.sample(time).as_dvec3();
            }
        }
        pose
    }

    /// Overwrite the weights that this clip animates, at a time.
    pub fn sample_morphs(&self, time: f32, weights: &mut [f32]) {
        for track in &self.morphs {
            for (curve, morph) in track.morphs.clone().enumerate() {
                if let Some(weight) = weights.get_mut(morph) {
                    *weight = track.keys.sample_curve(time, curve, track.morphs.len());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Transform, rig::Joint};
    use glam::DQuat;

    #[test]
    fn a_rotation_without_direction_rests() {
        let rest = Transform { rotation: DQuat::from_rotation_x(1.0), ..Transform::default() };
        let rig = Rig::new(vec![Joint::new("a", None, rest)]).unwrap();
        let values =
            vec![Quat::from_array([0.0; 4]), Quat::from_rotation_y(1.0), Quat::from_array([1e-30; 4])];
        let keys = Keys::new(vec![0.0, 1.0, 2.0], values, Interpolation::Step, 1).unwrap();
        let track = JointTrack { joint: 0, translation: None, rotation: Some(keys), scale: None };
        let clip = Clip { joints: vec![track], ..Clip::default() };
        assert_eq!(clip.sample(&rig, 0.5).locals[0].rotation, rest.rotation);
        assert!(clip.sample(&rig, 1.5).locals[0].rotation.angle_between(DQuat::from_rotation_y(1.0)) < 1e-6);
        assert!(clip.sample(&rig, 2.5).locals[0].rotation.is_finite());
    }
}
