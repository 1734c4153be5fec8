//! The way of the body over the ground: where it is at each moment, and where it faces.

use crate::{ease, error::GaitError};
use glam::{DQuat, DVec2, DVec3};

/// A body that is always somewhere on a line. On the ground x is left and y ahead, as the body stands at first.
pub(crate) enum Way {
    /// Straight on at a steady speed, without beginning or end.
    Steady { speed: f64 },
    /// From standing along a line to standing.
    Line { points: Vec<DVec2>, along: Vec<f64>, speed: f64, ramp: f64, window: f64 },
}

/// Corners are cut so often by a quarter of their sides.
const ROUNDS: usize = 4;

impl Way {
    /// Along a line; it starts and stops within `ramp` seconds, and looks `window` ahead and back for where it faces.
    pub fn along(line: &[[f64; 2]], speed: f64, ramp: f64, window: f64) -> Result<Self, GaitError> {
        let refuse = |value: String, expected| Err(GaitError::Value { name: "line", value, expected });
        if let Some(k) = line.iter().position(|p| !p.iter().all(|x| x.is_finite())) {
            return refuse(format!("point {k}"), "its numbers must be finite");
        }
        let mut points: Vec<DVec2> = line.iter().map(|p| DVec2::from_array(*p)).collect();
        for _ in 0..ROUNDS {
            points = cut_corners(&points);
        }
        points.dedup_by(|a, b| a.distance(*b) < 1e-9);
        let mut along = vec![0.0];
        for pair in points.windows(2) {
            along.push(along[along.len() - 1] + pair[0].distance(pair[1]));
        }
        let length = along[along.len() - 1];
        if points.len() < 2 || length <= 0.0 {
            return refuse(format!("{} points", line.len()), "it needs two points apart from each other");
        }
        // A line too short to come up to speed is walked more slowly.
        let speed = speed.min(length / ramp);
        Ok(Self::Line { points, along, speed, ramp, window })
    }

    pub fn speed(&self) -> f64 {
        match self {
            Self::Steady { speed } | Self::Line { speed, .. } => *speed,
        }
    }

    /// Seconds until it stands again.
    pub fn duration(&self) -> Option<f64> {
        match self {
            Self::Steady { .. } => None,
            Self::Line { along, speed, ramp, .. } => Some(along[along.len() - 1] / speed + ramp),
        }
    }

    /// How far it has come, and its speed as a share of the full one.
    pub fn progress(&self, time: f64) -> (f64, f64) {
        let Self::Line { along, speed, ramp, .. } = self else { return (self.speed() * time, 1.0) };
        let length = along[along.len() - 1];
        let end = length / speed + ramp;
        // The integral of a smooth step is a polynomial; the way down mirrors the way up.
        let rise = |t: f64| {
            let x = (t / ramp).clamp(0.0, 1.0);
            let integral = x.powi(4) * (2.5 + x * (x - 3.0));
            speed * (ramp * integral + (t - ramp).max(0.0))
        };
        let half = 0.5 * end;
        let share = ease(time / ramp).min(ease((end - time) / ramp));
        if time <= half { (rise(time), share) } else { (length - rise(end - time), share) }
    }

    /// Place on the ground at a length, and the rotation about y that faces along.
    pub fn at(&self, along: f64) -> (DVec2, DQuat) {
        match self {
            Self::Steady { .. } => (DVec2::new(0.0, along), DQuat::IDENTITY),
            Self::Line { window, .. } => {
                let ahead = self.point(along + window) - self.point(along - window);
                (self.point(along), DQuat::from_rotation_y(ahead.x.atan2(ahead.y)))
            }
        }
    }

    /// Place at a length; straight on before its beginning and after its end.
    fn point(&self, at: f64) -> DVec2 {
        let Self::Line { points, along, .. } = self else { return DVec2::new(0.0, at) };
        let k = along.partition_point(|&a| a <= at).clamp(1, points.len() - 1);
        let (a, b) = (points[k - 1], points[k]);
        a + (b - a).normalize_or(DVec2::Y) * (at - along[k - 1])
    }
}

fn cut_corners(points: &[DVec2]) -> Vec<DVec2> {
    let Some((&first, &last)) = points.first().zip(points.last()) else { return Vec::new() };
    let mut cut = vec![first];
    for (k, pair) in points.windows(2).enumerate() {
        if k > 0 {
            cut.push(pair[0].lerp(pair[1], 0.25));
        }
        if k + 2 < points.len() {
            cut.push(pair[0].lerp(pair[1], 0.75));
        }
    }
    cut.push(last);
    cut
}

/// A place on the ground in space, at a height.
pub(crate) fn lift(place: DVec2, height: f64) -> DVec3 {
    DVec3::new(place.x, height, place.y)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_walked_from_standing_to_standing_at_the_speed_that_was_asked_for() {
        let way = Way::along(&[[0.0, 0.0], [0.0, 5.0]], 1.0, 1.0, 0.3).unwrap();
        let end = way.duration().unwrap();
        assert!((end - 6.0).abs() < 1e-12);
        for (time, at, share) in [(0.0, 0.0, 0.0), (end, 5.0, 0.0), (3.0, 2.5, 1.0)] {
            let found = way.progress(time);
            assert!((found.0 - at).abs() < 1e-9 && (found.1 - share).abs() < 1e-9, "{time}: {found:?}");
        }
        // Its speed is the derivative of where it is.
        for k in 1..600 {
            let t = f64::from(k) / 100.0;
            let rate = (way.progress(t + 1e-5).0 - way.progress(t - 1e-5).0) / 2e-5;
            assert!((rate - way.progress(t).1).abs() < 1e-3, "{t}: {rate}");
        }
    }

    #[test]
    fn lines_that_make_no_sense_are_refused() {
        for line in
            [vec![], vec![[0.0, 0.0]], vec![[1.0, 1.0], [1.0, 1.0]], vec![[0.0, f64::NAN], [0.0, 1.0]]]
        {
            assert!(Way::along(&line, 1.0, 1.0, 0.3).is_err(), "{line:?}");
        }
    }
}
