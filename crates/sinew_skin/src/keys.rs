//! Key reduction: linear interpolation between the remaining keys reproduces a curve within a tolerance.
//!
//! # Source
//! Douglas and Peucker, *Algorithms for the reduction of the number of points required to represent a digitized line or
//! its caricature* (1973), with the interpolation of glTF (linear, or along the great arc for rotations) in place of
//! the line.
//! # Cost
//! Linear in the number of frames for each level of halving; quadratic at worst.

use glam::{Quat, Vec3};
use sinew_geom::rig::{Interpolate, Interpolation, Keys};

/// What the description of times of their own takes in a file, about.
const TIMES_BYTES: usize = 110;

/// A value that has a distance.
pub(crate) trait Distance: Interpolate {
    fn distance_to(self, other: Self) -> f32;
}

impl Distance for Vec3 {
    fn distance_to(self, other: Self) -> f32 {
        self.distance(other)
    }
}

impl Distance for Quat {
    /// Angle between both, in radians. By the chord, since the cosine of small angles has no digits left.
    fn distance_to(self, other: Self) -> f32 {
        let same = if self.dot(other) < 0.0 { -other } else { other };
        4.0 * (0.5 * (self - same).length()).min(1.0).asin()
    }
}

impl Distance for f32 {
    fn distance_to(self, other: Self) -> f32 {
        (self - other).abs()
    }
}

/// Keys of a curve, given at rising times; `None` if it never differs from `rest` by more than the tolerance.
pub(crate) fn reduce<T: Distance>(values: &[T], times: &[f32], rest: T, tolerance: f32) -> Option<Keys<T>> {
    if values.iter().all(|v| v.distance_to(rest) <= tolerance) {
        return None;
    }
    let mut kept = kept_frames(values, times, tolerance);
    // Curves with a key at every frame share their times; others have their own.
    let own = kept.len() * (size_of::<T>() + size_of::<f32>()) + TIMES_BYTES;
    if kept.len() > 1 && own >= size_of_val(values) {
        kept = (0..values.len()).collect();
    }
    let times = kept.iter().map(|&at| times[at]).collect();
    let values = kept.iter().map(|&at| values[at]).collect();
    // Times rise and values are finite, which is all that is required.
    Keys::new(times, values, Interpolation::Linear, 1).ok()
}

/// Frames whose keys are needed.
fn kept_frames<T: Distance>(values: &[T], times: &[f32], tolerance: f32) -> Vec<usize> {
    if values.iter().all(|v| v.distance_to(values[0]) <= tolerance) {
        return vec![0];
    }
    let last = values.len() - 1;
    let mut is_kept = vec![false; values.len()];
    (is_kept[0], is_kept[last]) = (true, true);
    let mut open = vec![(0, last)];
    while let Some((from, to)) = open.pop() {
        let between =
            |at: usize| values[from].lerp(values[to], (times[at] - times[from]) / (times[to] - times[from]));
        let mut worst = (tolerance, None);
        for frame in from + 1..to {
            let off = values[frame].distance_to(between(frame));
            if off > worst.0 {
                worst = (off, Some(frame));
            }
        }
        if let Some(frame) = worst.1 {
            is_kept[frame] = true;
            open.extend([(from, frame), (frame, to)]);
        }
    }
    (0..values.len()).filter(|&frame| is_kept[frame]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn even(n: usize, fps: f64) -> Vec<f32> {
        (0..n).map(|frame| (frame as f64 / fps) as f32).collect()
    }

    #[test]
    fn constant_and_straight_curves_need_few_keys() {
        let straight: Vec<Vec3> = (0..50).map(|f| Vec3::new(f as f32, -2.0 * f as f32, 1.0)).collect();
        assert_eq!(reduce(&straight, &even(50, 24.0), Vec3::ZERO, 1e-4).unwrap().times(), [0.0, 49.0 / 24.0]);
        assert!(reduce(&[Vec3::ONE; 9], &even(9, 24.0), Vec3::ONE, 1e-4).is_none());
        assert_eq!(reduce(&[Vec3::ONE; 9], &even(9, 24.0), Vec3::ZERO, 1e-4).unwrap().times(), [0.0]);
        let turning: Vec<Quat> = (0..30).map(|f| Quat::from_rotation_y(0.05 * f as f32)).collect();
        assert_eq!(reduce(&turning, &even(30, 24.0), Quat::IDENTITY, 1e-3).unwrap().times().len(), 2);
    }

    proptest! {
        #[test]
        fn every_frame_stays_within_the_tolerance(
            steps in prop::collection::vec(prop::array::uniform3(-1.0..1.0f32), 2..40),
            tolerance in 0.01..2.0f32,
        ) {
            let mut at = Vec3::ZERO;
            let values: Vec<Vec3> = steps.iter().map(|s| { at += Vec3::from_array(*s); at }).collect();
            let keys = reduce(&values, &even(values.len(), 30.0), Vec3::splat(100.0), tolerance).unwrap();
            for (frame, value) in values.iter().enumerate() {
                let off = keys.sample((frame as f64 / 30.0) as f32).distance(*value);
                prop_assert!(off <= tolerance + 1e-3, "{frame}: {off}");
            }
            let turns: Vec<Quat> = values.iter().map(|v| Quat::from_scaled_axis(*v * 0.3)).collect();
            let keys = reduce(&turns, &even(turns.len(), 30.0), Quat::from_rotation_x(3.0), tolerance).unwrap();
            for (frame, turn) in turns.iter().enumerate() {
                let off = keys.sample((frame as f64 / 30.0) as f32).distance_to(*turn);
                prop_assert!(off <= tolerance + 5e-3, "{frame}: {off}");
            }
        }
    }
}
