//! Flesh frame by frame: timing, statistics of the steps, and the loop, the same for every front end.

use crate::{
    SessionError,
    limits::{DEFAULT_FLESH_SECS, DEFAULT_FPS, check_sequence},
};
use glam::Vec3;
use sinew_flesh::{Baker, FleshError, FleshQuality, Simulation, StepReport};
use sinew_geom::{Clip, Mesh, Warnings};
use std::{ops::ControlFlow, time::Instant};

/// Valid frame rates, in frames per second.
const FPS_RANGE: [f64; 2] = [0.1, 10_000.0];
/// Valid durations, in seconds.
const SECS_RANGE: [f64; 2] = [0.0, 100_000.0];

/// Frames per second and number of frames of a simulation: those of the clip where nothing is given.
///
/// # Errors
/// Numbers that make no sense, or more frames than fit.
pub fn flesh_timing(
    clip: Option<&Clip>,
    (fps, seconds): (Option<f64>, Option<f64>),
    n_vertices: usize,
) -> Result<(f64, usize), SessionError> {
    let fps = fps.unwrap_or_else(|| clip.map_or(DEFAULT_FPS, Clip::joint_rate));
    crate::command::within("fps", fps, FPS_RANGE)?;
    let own = clip.map_or(DEFAULT_FLESH_SECS, |clip| clip.duration_secs().into());
    let seconds = crate::command::within("seconds", seconds.unwrap_or(own), SECS_RANGE)?;
    Ok((fps, check_sequence((seconds * fps).round() + 1.0, n_vertices)?))
}

/// Flesh that can be advanced to a time.
pub trait FleshRunner {
    /// Advance to a time in seconds, reporting each step.
    ///
    /// # Errors
    /// Numbers that are not finite.
    fn advance(&mut self, secs: f64, each: &mut dyn FnMut(&StepReport)) -> Result<(), FleshError>;

    /// The simulation in its present state.
    fn simulation(&self) -> &Simulation;
}

impl FleshRunner for Baker<'_> {
    fn advance(&mut self, secs: f64, each: &mut dyn FnMut(&StepReport)) -> Result<(), FleshError> {
        Baker::advance(self, secs, each)
    }

    fn simulation(&self) -> &Simulation {
        Baker::simulation(self)
    }
}

/// Statistics of the steps of a simulation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleshSteps {
    /// Milliseconds of each step.
    pub millis: Vec<f64>,
    /// Iterations of each step.
    pub iterations: Vec<usize>,
    /// Largest residual of all steps.
    pub residual: f64,
    /// Steps solved by a direct factorisation.
    pub n_direct: usize,
    /// Steps that were not solved to the tolerance.
    pub n_unsolved: usize,
}

impl FleshSteps {
    fn add(&mut self, report: &StepReport, millis: f64) {
        self.millis.push(millis);
        self.iterations.push(report.iterations);
        self.residual = self.residual.max(report.residual);
        self.n_direct += usize::from(report.direct);
        self.n_unsolved += usize::from(!report.converged);
    }

    /// Warn of steps that were not solved.
    pub fn warn(&self, warnings: &mut Warnings) {
        if self.n_unsolved > 0 {
            warnings.push(format!(
                "{} of {} steps were not solved to the tolerance (largest residual {:.1e}); choose shorter steps or \
                 softer flesh",
                self.n_unsolved,
                self.millis.len(),
                self.residual
            ));
        }
    }
}

/// Vertices over time. Those that were done when `progress` stopped it are given; it is called with the share done.
///
/// # Errors
/// Numbers that are not finite.
pub fn simulate_flesh(
    (flesh, mesh): (&mut dyn FleshRunner, &Mesh),
    (fps, n_frames): (f64, usize),
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(Vec<Vec<Vec3>>, FleshSteps, FleshQuality), FleshError> {
    let (mut frames, mut steps) = (Vec::with_capacity(n_frames), FleshSteps::default());
    let mut quality = FleshQuality::new(mesh);
    for frame in 0..n_frames {
        let mut last = Instant::now();
        flesh.advance(frame as f64 / fps, &mut |report| {
            steps.add(report, last.elapsed().as_secs_f64() * 1e3);
            last = Instant::now();
        })?;
        let mut positions = Vec::new();
        flesh.simulation().positions(&mut positions)?;
        quality.observe(flesh.simulation(), &positions, frame as f64 / fps)?;
        frames.push(positions);
        if progress((frame + 1) as f64 / n_frames as f64).is_break() {
            break;
        }
    }
    Ok((frames, steps, quality))
}
