//! Limits of how fast a joint moves or changes its speed, over two or three frames.
//!
//! # Source
//! Abdelhay (2008), §5.2, asks for constraints between consecutive poses and on speed and acceleration, as future work.
//! # Symbols
//! `d = Σ c_l p(t − l)`: displacement between frames (`c` = 1, −1) or its change (1, −2, 1); `|d| ≤ limit / fps` or
//! `/ fps²`

use super::{JointFrames, banded::BlockBand};
use glam::DVec3;

/// Excess over a limit that counts as one unit of residual, relative to the limit.
const TOLERANCE_SHARE: f64 = 0.01;

/// Limit of a joint's speed or acceleration.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    pub joint: usize,
    /// Metres per second, or per second squared.
    pub most: f64,
    pub is_acceleration: bool,
}

/// A joint in one frame: where it is, and how the degrees of freedom move it.
#[derive(Debug, Clone)]
pub(super) struct JointSample {
    pub frame: usize,
    pub place: DVec3,
    pub columns: Vec<(usize, DVec3)>,
}

impl Limit {
    fn factors(&self) -> &'static [f64] {
        if self.is_acceleration { &[1.0, -2.0, 1.0] } else { &[1.0, -1.0] }
    }

    /// Number of frames it involves.
    pub fn n_frames(&self) -> usize {
        self.factors().len()
    }

    /// The limit in metres per frame.
    fn max_per_frame(&self, fps: f64) -> f64 {
        self.most / fps.powi(self.n_frames() as i32 - 1)
    }

    /// Excess of positions, the newest first, relative to the limit.
    pub fn excess(&self, fps: f64, places: impl Iterator<Item = DVec3>) -> f64 {
        let way: DVec3 = self.factors().iter().zip(places).map(|(c, p)| *c * p).sum();
        let most = self.max_per_frame(fps);
        (way.length() - most) / most.max(1e-9)
    }

    /// The same at the last of some frames; zero if the limit holds.
    pub fn excess_at(&self, fps: f64, worlds: &[JointFrames]) -> f64 {
        if worlds.len() < self.n_frames() {
            return 0.0;
        }
        self.excess(fps, worlds.iter().rev().map(|world| world.positions[self.joint])).max(0.0)
    }

    /// Add the residual of the last frames, the newest first; zero where the limit holds.
    pub fn add(
        &self,
        fps: f64,
        moments: &[JointSample],
        share: f64,
        n: usize,
        band: &mut BlockBand,
        gradient: &mut [f64],
    ) -> f64 {
        let factors = self.factors();
        let way: DVec3 = factors.iter().zip(moments).map(|(c, moment)| *c * moment.place).sum();
        let (length, most) = (way.length(), self.max_per_frame(fps));
        if length <= most {
            return 0.0;
        }
        // The full second derivative: without the part across the displacement, steps rotate it and never converge.
        let weight = (share / (TOLERANCE_SHARE * most.max(1e-6))).powi(2);
        let (along, bend) = (way / length, (length - most) / length);
        let excess = along * (length - most);
        let curve = |column: DVec3| bend * column + (1.0 - bend) * along.dot(column) * along;
        for (a, newer) in moments[..factors.len()].iter().enumerate() {
            for &(i, column) in &newer.columns {
                gradient[newer.frame * n + i] += weight * factors[a] * column.dot(excess);
                let curved = weight * factors[a] * curve(column);
                for (lag, older) in moments[a..factors.len()].iter().enumerate() {
                    let block = match lag {
                        0 => band.diagonal(newer.frame),
                        1 => band.below(newer.frame),
                        _ => band.two_below(newer.frame),
                    };
                    for &(j, other) in older.columns.iter().filter(|(j, _)| lag > 0 || *j <= i) {
                        block[i * n + j] += factors[a + lag] * curved.dot(other);
                    }
                }
            }
        }
        weight * excess.length_squared()
    }
}
