//! Paths through space and the ground under them: what a path animation follows.

mod ground;
mod walk;

pub use ground::{Ground, HeightField, PlacedGround};
pub use walk::{Walk, plan_walk};

use crate::GeomError;
use glam::DVec3;

/// Position over time: through points, without overshooting, at rest between equal ones.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    points: Vec<DVec3>,
    times: Vec<f64>,
    /// Velocity at every point.
    slopes: Vec<DVec3>,
}

impl Path {
    /// A path through points at times in seconds.
    ///
    /// # Errors
    /// If there is no point, not one time per point, a number is not finite, or times do not rise.
    pub fn new(points: Vec<DVec3>, times: Vec<f64>) -> Result<Self, GeomError> {
        let refuse = |name, value, expected| Err(GeomError::Parameter { name, value, expected });
        if points.is_empty() || points.len() != times.len() {
            let value = format!("{} points at {} times", points.len(), times.len());
            return refuse("path", value, "it needs at least one point, and one time per point");
        }
        if let Some(at) = (0..points.len()).find(|&i| !(points[i].is_finite() && times[i].is_finite())) {
            return refuse("path", format!("not finite at point {at}"), "its numbers must be");
        }
        if let Some(at) = (1..times.len()).find(|&i| times[i] <= times[i - 1]) {
            return refuse("times", format!("{} after {}", times[at], times[at - 1]), "times must rise");
        }
        let slopes = slopes(&points, &times);
        Ok(Self { points, times, slopes })
    }

    /// A path through points in a given time, distributed by length; evenly if it has no
    /// length.
    ///
    /// # Errors
    /// As [`Path::new`], and if the time is not above zero.
    pub fn with_duration(points: Vec<DVec3>, secs: f64) -> Result<Self, GeomError> {
        if !(secs.is_finite() && secs > 0.0) {
            let value = secs.to_string();
            return Err(GeomError::Parameter { name: "seconds", value, expected: "it must be above 0" });
        }
        let lengths: Vec<f64> = points.windows(2).map(|pair| pair[0].distance(pair[1])).collect();
        let total: f64 = lengths.iter().sum();
        // A stretch without length still takes a moment, so that times rise.
        let even = total.max(1e-9) * 1e-3;
        let whole = total + even * lengths.len() as f64;
        let mut times = vec![0.0];
        for length in &lengths {
            times.push(times[times.len() - 1] + secs * (length + even) / whole);
        }
        times.truncate(points.len());
        Self::new(points, times)
    }

    /// First and last time.
    pub fn span(&self) -> [f64; 2] {
        [self.times.first().copied().unwrap_or(0.0), self.times.last().copied().unwrap_or(0.0)]
    }

    /// The points.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Time of each point.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Position at a time; constant before and after the path.
    pub fn at(&self, time: f64) -> DVec3 {
        let next = self.times.partition_point(|&t| t <= time);
        let n = self.points.len();
        if next == 0 || next == n {
            return self.points[if next == 0 { 0 } else { n - 1 }];
        }
        let (a, b) = (next - 1, next);
        let width = self.times[b] - self.times[a];
        let t = (time - self.times[a]) / width;
        let (t2, t3) = (t * t, t * t * t);
        self.points[a] * (2.0 * t3 - 3.0 * t2 + 1.0)
            + self.slopes[a] * (width * (t3 - 2.0 * t2 + t))
            + self.points[b] * (3.0 * t2 - 2.0 * t3)
            + self.slopes[b] * (width * (t3 - t2))
    }
}

/// Velocities of a cubic that does not overshoot in any coordinate: zero where the direction reverses (Fritsch and
/// Butland, *A method for constructing local monotone piecewise cubic interpolants*, 1984).
fn slopes(points: &[DVec3], times: &[f64]) -> Vec<DVec3> {
    let n = points.len();
    let chord = |i: usize| (points[i + 1] - points[i]) / (times[i + 1] - times[i]);
    let mean = |i: usize| {
        let (before, after) = (chord(i - 1), chord(i));
        let (h0, h1) = (times[i] - times[i - 1], times[i + 1] - times[i]);
        let one = |a: f64, b: f64| match a * b > 0.0 {
            true => 3.0 * (h0 + h1) / ((2.0 * h1 + h0) / a + (h1 + 2.0 * h0) / b),
            false => 0.0,
        };
        DVec3::new(one(before.x, after.x), one(before.y, after.y), one(before.z, after.z))
    };
    (0..n)
        .map(|i| match i {
            _ if n == 1 => DVec3::ZERO,
            0 => chord(0),
            _ if i == n - 1 => chord(n - 2),
            _ => mean(i),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_meets_its_points_and_does_not_overshoot() {
        let points = vec![DVec3::ZERO, DVec3::X, DVec3::X, DVec3::new(1.0, 2.0, 0.0)];
        let path = Path::new(points.clone(), vec![0.0, 1.0, 2.0, 2.5]).unwrap();
        for (point, time) in points.iter().zip(path.times()) {
            assert!(path.at(*time).distance(*point) < 1e-12);
        }
        for i in 0..=250 {
            let p = path.at(f64::from(i) * 0.01);
            assert!((-1e-12..=1.0 + 1e-12).contains(&p.x) && (-1e-12..=2.0).contains(&p.y), "{p}");
        }
        // At rest between equal points; constant before and after.
        assert_eq!([path.at(1.5), path.at(-1.0), path.at(9.0)], [DVec3::X, points[0], points[3]]);
    }

    #[test]
    fn straight_even_paths_are_straight_and_even() {
        let path = Path::with_duration(vec![DVec3::ZERO, DVec3::X, DVec3::X * 3.0], 3.0).unwrap();
        for i in 0..=30 {
            let time = f64::from(i) * 0.1;
            assert!(path.at(time).distance(DVec3::X * time) < 2e-2, "{time}: {}", path.at(time));
        }
    }

    #[test]
    fn points_without_length_and_single_points_stay_where_they_are() {
        for n in 1..4 {
            let path = Path::with_duration(vec![DVec3::Y; n], 2.0).unwrap();
            assert_eq!(path.at(0.7), DVec3::Y);
        }
    }

    #[test]
    fn paths_that_make_no_sense_are_refused() {
        assert!(Path::new(vec![], vec![]).is_err());
        assert!(Path::new(vec![DVec3::X; 2], vec![0.0, 0.0]).is_err());
        assert!(Path::new(vec![DVec3::X], vec![f64::NAN]).is_err());
        assert!(Path::new(vec![DVec3::NAN], vec![0.0]).is_err());
        assert!(Path::with_duration(vec![DVec3::X], 0.0).is_err());
    }
}
