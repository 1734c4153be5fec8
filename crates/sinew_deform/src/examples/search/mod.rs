//! Searching the pose space for the pose that reaches its targets best.
//!
//! # Source
//! Hansen (2006), §7.5. Differs: `newton` uses derivatives, which Hansen does not.

mod climb;
mod descent;
mod everywhere;
mod hooke;
mod lanes;
mod model;
mod newton;
mod residual;
mod rows;
pub(super) mod scouts;

use super::{
    blend::Blend,
    energy::{Energy, Target},
    objective::{Objective, Term},
    screw::Screw,
    space::PoseSpace,
};
use crate::{DeformError, HandlePose};
use glam::DVec3;

/// How weights are searched for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Optimiser {
    /// Derivatives: fewest evaluations, lowest energy. Sinew's own.
    #[default]
    Newton,
    /// Simple hill climbing, algorithm 4.
    Climb,
    /// Steepest-descent hill climbing, §7.5.4.1.
    Steepest,
    /// Hooke and Jeeves, §7.5.4.2.
    HookeJeeves,
    /// Simple Hooke and Jeeves, algorithm 5.
    SimpleHooke,
    /// Simulated annealing, §7.5.4.3, which Hansen describes but did not implement.
    Annealing,
    /// Exhaustive search, §7.5.4.4, algorithm 6.
    Exhaustive,
}

impl Optimiser {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Newton,
        Self::Climb,
        Self::Steepest,
        Self::HookeJeeves,
        Self::SimpleHooke,
        Self::Annealing,
        Self::Exhaustive,
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newton => "newton",
            Self::Climb => "climb",
            Self::Steepest => "steepest",
            Self::HookeJeeves => "hooke-jeeves",
            Self::SimpleHooke => "simple-hooke",
            Self::Annealing => "annealing",
            Self::Exhaustive => "exhaustive",
        }
    }

    /// The optimiser with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|optimiser| optimiser.name() == name)
    }
}

/// In which order examples are tried and loaded (§7.5.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reorder {
    /// In the order of the user.
    #[default]
    None,
    /// The example nearest to the targets first.
    Distance,
    /// The example of most weight in the last frame first.
    Weight,
}

impl Reorder {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::None, Self::Distance, Self::Weight];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Distance => "distance",
            Self::Weight => "weight",
        }
    }

    /// The order with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.name() == name)
    }
}

/// Parameters of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchParams {
    /// The function that is minimised.
    pub objective: Objective,
    /// How weights are searched for.
    pub optimiser: Optimiser,
    /// In which order examples are tried, and loaded if the blend depends on it.
    pub reorder: Reorder,
    /// Whether examples are loaded one after the other, as in Hansen (2006), rather than all at once.
    pub sequential: bool,
    /// Least and greatest weight (§7.5.5).
    pub limits: [f64; 2],
    /// How far a weight may move from that of the last frame; `None` for the values of Hansen (2006): 0.15 for `climb`.
    pub local: Option<f64>,
    /// How often a search of Hansen (2006) is repeated from its own result, as long as that helps. Hansen runs it once
    /// per frame.
    pub rounds: usize,
    /// With `newton`: start from the best of many poses rather than from the last one. For single poses; frames of a
    /// motion should not jump.
    pub multi_start: bool,
    /// With `newton`: let handles move a little beyond what the examples span, so that targets are reached.
    pub residual: bool,
    /// Seed of `annealing`.
    pub seed: u64,
}

impl SearchParams {
    /// Whether small motions beyond the examples are allowed and possible.
    pub(super) fn uses_residual(&self) -> bool {
        self.residual && self.optimiser == Optimiser::Newton && !self.sequential
    }
}

impl Default for SearchParams {
    fn default() -> Self {
        Self {
            objective: Objective::default(),
            optimiser: Optimiser::default(),
            reorder: Reorder::default(),
            sequential: false,
            limits: [0.0, 1.0],
            local: None,
            rounds: 1,
            multi_start: false,
            residual: false,
            seed: 0,
        }
    }
}

/// How far `climb` may move a weight in a frame (§7.5.5).
const CLIMB_LOCAL_LIMIT: f64 = 0.15;

/// Result of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchResult {
    /// Weight of every example.
    pub weights: Vec<f64>,
    /// Small motions beyond the examples.
    pub residual: Residual,
    /// Energy of the weights, without residual motion.
    pub energy: f64,
    /// Contribution of each term, factor included.
    pub terms: Vec<(Term, f64)>,
    /// How often an energy was computed; a gradient counts as one.
    pub evaluations: usize,
    /// Where the grips are, without the shift.
    pub grips: Vec<DVec3>,
    /// How far the whole body is shifted, so that what carries it is at its targets.
    pub shift: DVec3,
    /// The order in which examples were tried and loaded.
    pub order: Vec<usize>,
}

/// One small motion per handle, on top of a blend.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Residual(pub(super) Vec<Screw>);

impl Residual {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Nine numbers per handle: turn, speed, shift.
    pub fn to_numbers(&self) -> Vec<[f64; 9]> {
        let flat = |s: &Screw| {
            let [a, b, c] = [s.turn, s.speed, s.shift].map(|v| v.to_array());
            [a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2]]
        };
        self.0.iter().map(flat).collect()
    }

    /// From such numbers; `None` if one is not finite.
    pub fn from_numbers(numbers: &[[f64; 9]]) -> Option<Self> {
        let screw = |n: &[f64; 9]| Screw {
            turn: DVec3::new(n[0], n[1], n[2]),
            speed: DVec3::new(n[3], n[4], n[5]),
            shift: DVec3::new(n[6], n[7], n[8]),
        };
        numbers.iter().flatten().all(|x| x.is_finite()).then(|| Self(numbers.iter().map(screw).collect()))
    }
}

impl SearchResult {
    /// Mean and greatest distance of targets missed, as lengths.
    pub fn target_errors(&self, targets: &[Target]) -> [f64; 2] {
        let distances: Vec<f64> =
            targets.iter().map(|t| t.position.distance(self.grips[t.handle] + self.shift)).collect();
        let mean = distances.iter().sum::<f64>() / distances.len().max(1) as f64;
        [mean, distances.into_iter().fold(0.0, f64::max)]
    }
}

/// Where a search starts: the last frame.
#[derive(Debug, Clone, Copy, Default)]
pub struct Start<'a> {
    /// Weights; empty for zeros.
    pub weights: &'a [f64],
    /// Positions of the grips; `None` if there was no frame before.
    pub grips: Option<&'a [DVec3]>,
    /// Residual motion.
    pub residual: Option<&'a Residual>,
    /// Targets, by number, that carry the body, with shares that sum to 1: the body is shifted so that they are met.
    /// None if the body stays where it is.
    pub anchors: &'a [(usize, f64)],
}

impl PoseSpace {
    /// The value of each term for given weights, factor included.
    pub fn terms(&self, params: &SearchParams, targets: &[Target], weights: &[f64]) -> Vec<(Term, f64)> {
        let in_order = || Blend::Sequential((0..self.n_examples()).collect());
        let blend = if params.sequential { in_order() } else { Blend::Free };
        Energy::new(self, blend, &params.objective, targets, &[], None).values(weights)
    }

    /// Search for the weights of least energy.
    ///
    /// # Errors
    /// If a target is not finite or of no handle, a weight of the start is not finite or missing, or limits are
    /// invalid.
    pub fn search(
        &self,
        targets: &[Target],
        params: &SearchParams,
        start: &Start<'_>,
    ) -> Result<SearchResult, DeformError> {
        self.check(targets, params, start)?;
        let n = self.n_examples();
        let [low, high] = params.limits;
        let mut weights = start.weights.to_vec();
        weights.resize(n, 0.0);
        weights.iter_mut().for_each(|w| *w = w.clamp(low, high));
        let order = self.order(targets, params.reorder, &weights);
        let blend = if params.sequential { Blend::Sequential(order.clone()) } else { Blend::Free };
        let mut energy = Energy::new(self, blend, &params.objective, targets, start.anchors, start.grips);
        // Newton converges by itself.
        let rounds = if params.optimiser == Optimiser::Newton { 1 } else { params.rounds.max(1) };
        for _ in 0..rounds {
            let before = weights.clone();
            let local = params.local.or((params.optimiser == Optimiser::Climb).then_some(CLIMB_LOCAL_LIMIT));
            let limits: Vec<[f64; 2]> = before
                .iter()
                .map(|w| local.map_or([low, high], |l| [(w - l).max(low), (w + l).min(high)]))
                .collect();
            match params.optimiser {
                Optimiser::Climb => climb::simple(&mut energy, &order, &limits, &mut weights),
                Optimiser::Steepest => climb::steepest(&mut energy, &limits, &mut weights),
                Optimiser::HookeJeeves => hooke::full(&mut energy, &limits, &mut weights),
                Optimiser::SimpleHooke => hooke::simple(&mut energy, &order, &limits, &mut weights),
                Optimiser::Annealing => everywhere::anneal(&mut energy, &limits, params.seed, &mut weights),
                Optimiser::Exhaustive => everywhere::exhaustive(&mut energy, &order, &limits, &mut weights),
                Optimiser::Newton => newton::search(&mut energy, &limits, params.multi_start, &mut weights),
            }
            if weights == before {
                break;
            }
        }
        Ok(self.finish_search(energy, weights, order, params, start.residual))
    }

    /// Complete the result for given weights: their energy, and the residual motion that reaches the targets, if
    /// enabled.
    pub(super) fn finish_search(
        &self,
        mut energy: Energy<'_>,
        weights: Vec<f64>,
        order: Vec<usize>,
        params: &SearchParams,
        last: Option<&Residual>,
    ) -> SearchResult {
        let evaluations = energy.evaluations;
        let terms = energy.values(&weights);
        let total = terms.iter().map(|(_, value)| value).sum();
        let mut grips = self.grips(&self.pose_with(&energy.blend, &weights, &[]));
        let mut shift = energy.shift(&grips);
        let mut residual = Residual::default();
        if params.uses_residual() {
            let moved: Vec<Target> =
                energy.targets.iter().map(|t| Target { position: t.position - shift, ..*t }).collect();
            residual = Residual(residual::reach(self, &weights, &moved, last));
            grips = self.grips(&self.pose_with(&Blend::Free, &weights, &residual.0));
            shift = energy.shift(&grips);
        }
        SearchResult { weights, residual, energy: total, terms, evaluations, grips, shift, order }
    }

    /// The pose of a blend. Weights that are missing are zero.
    pub fn blend(&self, blend: &Blend, weights: &[f64]) -> HandlePose {
        self.blend_with(blend, weights, &Residual::default())
    }

    /// The pose of a blend with a small motion on top, which only a free blend takes.
    pub fn blend_with(&self, blend: &Blend, weights: &[f64], residual: &Residual) -> HandlePose {
        let mut padded = weights.to_vec();
        padded.resize(self.n_examples(), 0.0);
        self.pose_with(blend, &padded, &residual.0)
    }

    /// The pose of a result.
    pub fn pose_of(&self, found: &SearchResult, params: &SearchParams) -> HandlePose {
        let blend = if params.sequential { Blend::Sequential(found.order.clone()) } else { Blend::Free };
        self.pose_with(&blend, &found.weights, &found.residual.0)
    }

    /// Centres of the handles in a pose.
    pub fn grips(&self, pose: &HandlePose) -> Vec<DVec3> {
        let place =
            |(motion, grip): (&crate::HandleMotion, &DVec3)| motion.rotation * *grip + motion.translation;
        pose.motions().iter().zip(&self.grip).map(place).collect()
    }

    fn check(&self, targets: &[Target], params: &SearchParams, start: &Start<'_>) -> Result<(), DeformError> {
        for target in targets {
            let Some(name) = self.names.get(target.handle) else {
                let name = target.handle.to_string();
                return Err(DeformError::TargetHandle { name, known: self.names.join(", ") });
            };
            if !target.position.is_finite() {
                return Err(DeformError::NonFinite { what: format!("the target of handle {name:?}") });
            }
        }
        if start.anchors.iter().any(|(at, share)| *at >= targets.len() || !share.is_finite()) {
            let cause = "each must be the number of a target, with a finite share".into();
            return Err(DeformError::Setting { what: "what carries the body", cause });
        }
        if let Some(at) = start.weights.iter().position(|w| !w.is_finite()) {
            return Err(DeformError::NonFinite { what: format!("the weight of example {at}") });
        }
        if start.grips.is_some_and(|grips| grips.len() != self.n_handles()) {
            let (expected, actual) = (self.n_handles(), start.grips.map_or(0, <[_]>::len));
            return Err(DeformError::Length { what: "places of the last frame", expected, actual });
        }
        let [low, high] = params.limits;
        if !(low.is_finite() && high.is_finite() && low <= high) {
            let cause = format!("{low} to {high} is not a range");
            return Err(DeformError::Setting { what: "limits of weights", cause });
        }
        match params.local {
            Some(local) if !(local.is_finite() && local > 0.0) => Err(DeformError::Setting {
                what: "local limit of weights",
                cause: format!("{local} is not above 0"),
            }),
            _ => Ok(()),
        }
    }

    /// Examples in the order in which they are to be tried (§7.5.6).
    fn order(&self, targets: &[Target], reorder: Reorder, weights: &[f64]) -> Vec<usize> {
        let distance = |e: usize| {
            let grips = &self.examples[e].grips;
            targets.iter().map(|t| t.strength() * t.position.distance(grips[t.handle])).sum::<f64>()
        };
        let mut order: Vec<usize> = (0..self.n_examples()).collect();
        match reorder {
            Reorder::None => {}
            Reorder::Distance => order.sort_by(|a, b| distance(*a).total_cmp(&distance(*b))),
            Reorder::Weight => order.sort_by(|a, b| weights[*b].total_cmp(&weights[*a])),
        }
        order
    }
}
