//! Beginning a clip: with the speed of the skin, and in the middle of a loop if the clip is one.
//!
//! A clip whose last pose is its first is a loop: flesh that begins at rest would jump each time it is played. So the clip
//! is played until flesh returns to where it was, and then recorded.

use crate::{FleshError, Simulation, StepInput};
use glam::DVec3;
use sinew_geom::{Clip, Pose};

/// How near, in diagonals, nodes return in a loop, and how far they must go in between.
const LOOP_DIAGONALS: [f64; 2] = [1e-3, 1e-2];
/// How near, in diagonals, flesh must return to stop playing the loop.
const PERIODIC_DIAGONALS: f64 = 5e-4;
/// Times that a loop is played at most before it is recorded.
const MAX_CYCLES: usize = 4;
/// Moments at which it is looked for motion.
const N_MOMENTS: usize = 8;

impl Simulation {
    /// Whether a clip ends in the pose it begins with, after it has moved.
    ///
    /// # Errors
    /// A clip of another skeleton.
    pub fn is_loop(&self, clip: &Clip) -> Result<bool, FleshError> {
        let Some((rig, _, skeleton)) = &self.rigged else { return Ok(false) };
        let secs = clip.duration_secs();
        let nodes_at = |share: f32| -> Result<Vec<DVec3>, FleshError> {
            let matrices = self.matrices_of(Some(&clip.sample(rig, secs * share)))?;
            let mut input = StepInput::default();
            skeleton.prescribe(&self.body.lattice, &matrices, &mut input)?;
            Ok(input.skinned)
        };
        let first = nodes_at(0.0)?;
        if farthest(&first, &nodes_at(1.0)?) > LOOP_DIAGONALS[0] * self.diagonal {
            return Ok(false);
        }
        for moment in 1..N_MOMENTS {
            if farthest(&first, &nodes_at(moment as f32 / N_MOMENTS as f32)?)
                > LOOP_DIAGONALS[1] * self.diagonal
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Give flesh the speed that its skin has at the beginning, and play a loop of `period` seconds until flesh repeats
    /// itself. `pose_at` gives the pose at a time. Returns how often the loop was played.
    ///
    /// # Errors
    /// Poses of another skeleton, or numbers that are not finite.
    pub fn warm_up(
        &mut self,
        period: Option<f64>,
        max_step: f64,
        pose_at: impl Fn(f64) -> Option<Pose>,
    ) -> Result<usize, FleshError> {
        self.start_with_skin(pose_at(max_step).as_ref(), max_step)?;
        let is_periodic = |period: &f64| {
            *period > 0.0 && self.muscles.as_ref().is_none_or(|muscles| muscles.is_periodic(*period))
        };
        let Some(period) = period.filter(is_periodic) else { return Ok(0) };
        let n_steps = (period / max_step - 1e-6).ceil().max(1.0) as usize;
        let mut n_cycles = 0;
        while n_cycles < MAX_CYCLES {
            n_cycles += 1;
            let before = self.state.positions.clone();
            self.time = 0.0;
            for step in 1..=n_steps {
                let pose = pose_at(period * step as f64 / n_steps as f64);
                self.step(pose.as_ref(), period / n_steps as f64)?;
            }
            if farthest(&before, &self.state.positions) < PERIODIC_DIAGONALS * self.diagonal {
                break;
            }
        }
        self.time = 0.0;
        Ok(n_cycles)
    }

    fn start_with_skin(&mut self, next: Option<&Pose>, secs: f64) -> Result<(), FleshError> {
        let matrices = self.matrices_of(next)?;
        let Some((.., skeleton)) = &self.rigged else { return Ok(()) };
        let mut input = StepInput::default();
        skeleton.prescribe(&self.body.lattice, &matrices, &mut input)?;
        let ways = input.skinned.iter().zip(&self.input.skinned).map(|(to, from)| *to - *from);
        self.state.velocities = ways.map(|way| way / secs).collect();
        Ok(())
    }
}

fn farthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}
