//! From a pose of the actor to weights of the pairs.
//!
//! # Source
//! Sun (2017), §4.3, algorithm 1, step 2. Sinew's own: one space for each part of the actor that moves something, see
//! `parts.rs`; and a limit on extrapolation beyond the pairs.

use crate::{
    CanonicalPose, LimbSet, ProjectionParams, ProjectionSolver, ProjectionState, PuppetError,
    canonical::N_NUMBERS,
};

/// How poses become weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PuppeteerParams {
    /// How a pose is expressed by pairs.
    pub projection: ProjectionParams,
    /// Limit of extrapolation: the largest absolute sum of negative weights (0.5).
    pub limit: f64,
}

impl Default for PuppeteerParams {
    fn default() -> Self {
        Self { projection: ProjectionParams::default(), limit: 0.5 }
    }
}

/// Weights of the pairs for every channel of the character.
#[derive(Debug, Clone, Default)]
pub struct Weights {
    of_space: Vec<Vec<f64>>,
    space_of: Vec<usize>,
    /// Root mean square distance, over the actor's joints, from the pose to the blend of the pairs; metres of the
    /// standard body.
    pub residual: f64,
}

impl Weights {
    /// The same weights for every channel.
    pub fn uniform(weights: Vec<f64>, n_channels: usize) -> Self {
        Self { of_space: vec![weights], space_of: vec![0; n_channels], residual: 0.0 }
    }

    /// Weights of a channel; they sum to one.
    pub fn of(&self, channel: usize) -> &[f64] {
        &self.of_space[self.space_of[channel]]
    }

    /// Linear interpolation to other weights of the same pairs and channels.
    pub fn lerp(&self, to: &Self, share: f64) -> Self {
        let mix = |(a, b): (&f64, &f64)| a + share * (b - a);
        let space = |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(mix).collect();
        Self {
            of_space: self.of_space.iter().zip(&to.of_space).map(space).collect(),
            space_of: self.space_of.clone(),
            residual: mix((&self.residual, &to.residual)),
        }
    }

    /// Mean of the weights of all parts, for display.
    pub fn mean(&self) -> Vec<f64> {
        let n = self.of_space.first().map_or(0, Vec::len);
        let share = 1.0 / self.of_space.len().max(1) as f64;
        (0..n).map(|i| share * self.of_space.iter().map(|weights| weights[i]).sum::<f64>()).collect()
    }
}

/// Pairs, ready to be performed with.
#[derive(Debug, Clone)]
pub struct Puppeteer {
    spaces: Vec<PartSpace>,
    limit: f64,
    weights: Weights,
}

#[derive(Debug, Clone)]
struct PartSpace {
    part: LimbSet,
    solver: ProjectionSolver,
    state: ProjectionState,
}

impl Puppeteer {
    /// Prepare the actor's poses of all pairs, with the part that moves each channel of the character.
    ///
    /// # Errors
    /// No pairs, numbers that are not finite, or settings out of range.
    pub fn new(
        sources: &[CanonicalPose],
        parts: &[LimbSet],
        params: &PuppeteerParams,
    ) -> Result<Self, PuppetError> {
        if params.limit.is_nan() || params.limit < 0.0 {
            let value = params.limit.to_string();
            return Err(PuppetError::Parameter { name: "limit", value, expected: "it must not be negative" });
        }
        let mut distinct: Vec<LimbSet> = Vec::new();
        for part in parts.iter().copied().chain([LimbSet::BODY]) {
            if !distinct.contains(&part)
                && (part != LimbSet::BODY || distinct.is_empty() || parts.contains(&part))
            {
                distinct.push(part);
            }
        }
        let space = |&part: &LimbSet| {
            let numbers: Vec<Vec<f64>> = sources.iter().map(|pose| part.numbers(pose)).collect();
            let solver = ProjectionSolver::new(&numbers, &params.projection)?;
            Ok(PartSpace { part, solver, state: ProjectionState::default() })
        };
        let spaces = distinct.iter().map(space).collect::<Result<Vec<_>, PuppetError>>()?;
        let place = |part| distinct.iter().position(|other| other == part).unwrap_or(0);
        let weights = Weights {
            of_space: vec![vec![0.0; sources.len()]; spaces.len()],
            space_of: parts.iter().map(place).collect(),
            residual: 0.0,
        };
        Ok(Self { spaces, limit: params.limit, weights })
    }

    /// Weights of a pose.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn step(&mut self, pose: &CanonicalPose) -> Result<&Weights, PuppetError> {
        let (mut squares, mut n_numbers) = (0.0, 0);
        for (space, weights) in self.spaces.iter_mut().zip(&mut self.weights.of_space) {
            let numbers = space.part.numbers(pose);
            let report = space.solver.solve(&numbers, &mut space.state)?;
            squares += report.residual * report.residual * numbers.len() as f64;
            n_numbers += numbers.len();
            weights.clone_from(&space.state.weights);
            limit_extrapolation(weights, self.limit);
        }
        debug_assert!(
            n_numbers > 0 && n_numbers.is_multiple_of(3) && n_numbers <= N_NUMBERS * self.spaces.len()
        );
        self.weights.residual = (3.0 * squares / n_numbers as f64).sqrt();
        Ok(&self.weights)
    }
}

/// Limit the sum of negative weights; the others are reduced by as much.
fn limit_extrapolation(weights: &mut [f64], limit: f64) {
    let below: f64 = weights.iter().map(|w| (-w).max(0.0)).sum();
    if below <= limit {
        return;
    }
    let (down, up) = (limit / below, (1.0 + limit) / (1.0 + below));
    weights.iter_mut().for_each(|w| *w *= if *w < 0.0 { down } else { up });
}
