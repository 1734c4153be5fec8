//! Limits of how fast a joint moves or changes its speed, over two or three frames.
//!
//! # Source
//! Abdelhay (2008), §5.2, asks for constraints between consecutive poses and on speed and acceleration, as future work.
//! # Symbols
//! `d = Σ c_l p(t − l)`: displacement between frames (`c` = 1, −1) or its change (1, −2, 1); `|d| ≤ limit / fps` or
//! `/ fps²`

use super::{World, banded::BlockBand};
use glam::DVec3;

/// Share of a limit that counts as one deviation.
const SHARE: f64 = 0.01;

/// How fast a joint may be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limit {
    pub joint: usize,
    /// Metres a second, or a second squared.
    pub most: f64,
    pub is_acceleration: bool,
}

/// A joint in one frame: where it is, and how the degrees of freedom move it.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    pub frame: usize,
    pub place: DVec3,
    pub columns: Vec<(usize, DVec3)>,
}

impl Limit {
    fn factors(&self) -> &'static [f64] {
        if self.is_acceleration { &[1.0, -2.0, 1.0] } else { &[1.0, -1.0] }
    }

    /// Frames it speaks about.
    pub fn n_frames(&self) -> usize {
        self.factors().len()
    }

    /// The limit as metres a frame.
    fn most_a_frame(&self, fps: f64) -> f64 {
        self.most / fps.powi(self.n_frames() as i32 - 1)
    }

    /// By how much places, the newest first, are beyond it: share of the limit.
    pub fn excess(&self, fps: f64, places: impl Iterator<Item = DVec3>) -> f64 {
        let way: DVec3 = self.factors().iter().zip(places).map(|(c, p)| *c * p).sum();
        let most = self.most_a_frame(fps);
        (way.length() - most) / most.max(1e-9)
    }

    /// The same in a whole motion, at worst, up to a frame.
    pub fn excess_at(&self, fps: f64, worlds: &[World]) -> f64 {
        if worlds.len() < self.n_frames() {
            return 0.0;
        }
        self.excess(fps, worlds.iter().rev().map(|world| world.positions[self.joint])).max(0.0)
    }

    /// What the last frames say, the newest first: nothing where the limit holds.
    pub fn add(
        &self,
        fps: f64,
        moments: &[Moment],
        share: f64,
        n: usize,
        band: &mut BlockBand,
        gradient: &mut [f64],
    ) -> f64 {
        let factors = self.factors();
        let way: DVec3 = factors.iter().zip(moments).map(|(c, moment)| *c * moment.place).sum();
        let (length, most) = (way.length(), self.most_a_frame(fps));
        if length <= most {
            return 0.0;
        }
        // All of the second derivative: without what lies across the way, a step may turn it for nothing and never settles.
        let weight = (share / (SHARE * most.max(1e-6))).powi(2);
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
