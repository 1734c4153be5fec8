//! Reaching: targets on handles are dragged, and the body follows by a search over the stored examples.
//!
//! The result is a preview: it becomes the pose only when the user accepts it.
//!
//! # Source
//! Hansen (2006), §7.6.1. Differs: weights can be set directly, and everything that the dragged limb does not touch can
//! be pinned.

use crate::{Command, Document, Example, SearchSettings, SessionError};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_deform::{
    HandlePose, HandleSet,
    examples::{
        Blend, ExamplePose, Objective, Optimiser, PoseSpace, Residual, SearchParams, Start, Target, Term,
    },
};
use sinew_geom::{Character, Handle, Move, Warnings};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// A target nearer than this share of the body is reached.
pub const REACHED_SHARE: f64 = 1e-3;
/// Rounds after which a local search has converged.
const MAX_ROUNDS: usize = 60;

/// The objective while a target is dragged, unless the user chooses another: reach the targets with as little
/// weight as possible. Hansen (2006) lets weights sum to 1 instead; then an arm that is half raised also makes a leg
/// step, if another example does.
pub fn reach_objective() -> Objective {
    Objective::new(
        [Term::DistanceToTarget, Term::SumOfWeights].map(|term| (term, term.default_factor())).to_vec(),
    )
}

/// Reach for targets: the examples are searched, or with `weights` blended without a search. What is found is shown to all
/// pages as `reach` and in frames, and is not done until it is accepted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, deny_unknown_fields)]
pub struct ReachGoal {
    /// All targets there are.
    pub targets: Vec<TargetGoal>,
    /// Whether all handles stay where they are that are not in the chain of a target.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub pin_others: bool,
    /// Whether to look for the best pose anywhere, rather than near the present one.
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub multi_start: bool,
    /// Weights by name of example, set by the user: the pose is their blend, and nothing is searched.
    pub weights: Option<Vec<(String, f64)>>,
}

/// A target as the user puts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields = nullable))]
#[serde(deny_unknown_fields)]
pub struct TargetGoal {
    /// Name of the handle.
    pub handle: String,
    /// Where its middle should be; where it is at present if absent.
    #[serde(default)]
    pub position: Option<[f64; 3]>,
    /// Whether it must be there.
    #[serde(default)]
    #[cfg_attr(feature = "ts", ts(optional, as = "Option<_>"))]
    pub pin: bool,
}

/// What was found, for showing.
#[derive(Debug, Clone, PartialEq)]
pub struct ReachReport {
    /// Handle, target, where the handle is, whether it is pinned.
    pub targets: Vec<(String, DVec3, DVec3, bool)>,
    /// Whether all else is pinned.
    pub pin_others: bool,
    /// Name and weight of every example.
    pub weights: Vec<(String, f64)>,
    /// Value of each term.
    pub terms: Vec<(Term, f64)>,
    /// The objective searched with.
    pub objective: String,
    /// Evaluations of the objective.
    pub evaluations: usize,
    /// Time to search.
    pub time: Duration,
    /// Whether every target is reached.
    pub is_reached: bool,
    /// Greatest distance of a target missed, as a share of the body.
    pub missed: f64,
}

/// A search in progress.
#[derive(Debug, Clone)]
pub struct Reach {
    body: Arc<Character>,
    handles: Vec<Arc<Handle>>,
    examples: Vec<Arc<Example>>,
    /// The pose it set out from.
    base: Arc<Vec<Move>>,
    set: HandleSet,
    space: PoseSpace,
    params: SearchParams,
    targets: Vec<Target>,
    pin_others: bool,
    /// Where handles were when everything else was pinned.
    held: Vec<DVec3>,
    weights: Vec<f64>,
    residual: Residual,
    order: Vec<usize>,
    grips: Vec<DVec3>,
    is_first: bool,
    evaluations: usize,
    time: Duration,
}

/// The pose space of a document's examples, with their detail layers.
///
/// # Errors
/// If there are no handles or no examples, or one does not fit the handles: it is named.
pub fn build_pose_space(document: &Document) -> Result<(HandleSet, PoseSpace), SessionError> {
    let set = HandleSet::new(document.mesh(), &document.plain_handles(), &mut Warnings::default())?;
    let examples: Vec<_> =
        document.examples.iter().map(|e| ExamplePose { name: &e.name, moves: &e.moves }).collect();
    let mut space = PoseSpace::new(document.mesh(), &set, &examples)?;
    if document.examples.iter().any(|example| example.detail.is_some()) {
        let details = document.examples.iter().map(|example| example.detail.clone()).collect();
        space = space.with_details(details, document.mesh().n_vertices())?;
    }
    Ok((set, space))
}

impl Reach {
    /// Set out from the current pose of a document.
    ///
    /// # Errors
    /// As [`build_pose_space`].
    pub fn new(document: &Document) -> Result<Self, SessionError> {
        let (set, space) = build_pose_space(document)?;
        let params = SearchParams { rounds: MAX_ROUNDS, ..document.search.params(reach_objective()) };
        let present = HandlePose::from_moves(document.mesh(), &set, &document.pose)?;
        let grips = space.grips(&present);
        let mut reach = Self {
            body: document.body.clone(),
            handles: document.handles.clone(),
            examples: document.examples.clone(),
            base: document.pose.clone(),
            set,
            order: (0..space.n_examples()).collect(),
            weights: vec![0.0; space.n_examples()],
            space,
            params,
            targets: Vec::new(),
            pin_others: false,
            held: grips.clone(),
            residual: Residual::default(),
            grips,
            is_first: true,
            evaluations: 0,
            time: Duration::ZERO,
        };
        reach.begin(document)?;
        Ok(reach)
    }

    /// The weights whose blend is nearest to the current pose: exactly that of a stored example.
    fn begin(&mut self, document: &Document) -> Result<(), SessionError> {
        if document.pose.is_empty() {
            return Ok(());
        }
        let same = |example: &Arc<Example>| *example.moves == *document.pose;
        if let Some(at) = document.examples.iter().position(same) {
            self.weights[at] = 1.0;
            return Ok(());
        }
        let everywhere =
            |(handle, position): (usize, &DVec3)| Target { handle, position: *position, is_pinned: false };
        let targets: Vec<Target> = self.grips.iter().enumerate().map(everywhere).collect();
        let params = SearchParams {
            optimiser: Optimiser::Newton,
            sequential: false,
            residual: false,
            multi_start: true,
            ..self.params.clone()
        };
        self.weights = self.space.search(&targets, &params, &Start::default())?.weights;
        Ok(())
    }

    /// Whether it still belongs to a document: the same surface, handles, examples, and the pose it set out from.
    pub fn serves(&self, document: &Document) -> bool {
        fn is_same<T>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
        }
        Arc::ptr_eq(&self.body, &document.body)
            && is_same(&self.handles, &document.handles)
            && is_same(&self.examples, &document.examples)
            && Arc::ptr_eq(&self.base, &document.pose)
    }

    /// Reach for what is asked, searching as the document says.
    ///
    /// # Errors
    /// If a handle or an example does not exist, or a number is not finite; nothing changes then.
    pub fn follow(&mut self, goal: &ReachGoal, settings: &SearchSettings) -> Result<(), SessionError> {
        self.params = SearchParams { rounds: MAX_ROUNDS, ..settings.params(reach_objective()) };
        let mut targets: Vec<Target> = Vec::new();
        for asked in &goal.targets {
            let handle = self.space.find_handle(&asked.handle)?;
            if targets.iter().any(|other| other.handle == handle) {
                let cause = format!("handle {:?} has two; give it one", asked.handle);
                return Err(SessionError::Value { what: "targets", cause });
            }
            let position = asked.position.map_or(self.grips[handle], DVec3::from_array);
            targets.push(Target { handle, position, is_pinned: asked.pin });
        }
        if goal.pin_others && !self.pin_others {
            self.held.clone_from(&self.grips);
        }
        match &goal.weights {
            Some(named) => self.set_weights(named)?,
            None => self.search(&targets, goal)?,
        }
        (self.targets, self.pin_others) = (targets, goal.pin_others);
        Ok(())
    }

    fn search(&mut self, targets: &[Target], goal: &ReachGoal) -> Result<(), SessionError> {
        let start = Instant::now();
        let mut all = targets.to_vec();
        if goal.pin_others {
            all.extend(self.pins(targets));
        }
        let params = SearchParams { multi_start: goal.multi_start || self.is_first, ..self.params.clone() };
        let found = self.space.search(
            &all,
            &params,
            &Start {
                weights: &self.weights,
                grips: Some(&self.grips),
                residual: Some(&self.residual).filter(|residual| !residual.is_empty()),
                anchors: &[],
            },
        )?;
        self.is_first = false;
        (self.weights, self.residual) = (found.weights, found.residual);
        (self.order, self.grips, self.evaluations) = (found.order, found.grips, found.evaluations);
        self.time = start.elapsed();
        Ok(())
    }

    /// Handles that no target's chain touches, where they were.
    fn pins(&self, targets: &[Target]) -> Vec<Target> {
        let mut is_free = vec![false; self.space.n_handles()];
        targets.iter().flat_map(|t| self.space.chain(t.handle)).for_each(|h| is_free[h] = true);
        let pinned = (0..is_free.len()).filter(|&h| !is_free[h]);
        pinned.map(|handle| Target { handle, position: self.held[handle], is_pinned: true }).collect()
    }

    fn set_weights(&mut self, named: &[(String, f64)]) -> Result<(), SessionError> {
        let names = || self.examples.iter().map(|example| example.name.as_str());
        let mut weights = self.weights.clone();
        for (name, weight) in named {
            let at = names().position(|found| found == name);
            let at = at.ok_or_else(|| SessionError::absent("example", name, names()))?;
            if !weight.is_finite() {
                let cause = format!("{weight} of {name:?} is not finite");
                return Err(SessionError::Value { what: "weight", cause });
            }
            weights[at] = *weight;
        }
        self.weights = weights;
        self.residual = Residual::default();
        self.is_first = false;
        (self.evaluations, self.time) = (0, Duration::ZERO);
        self.grips = self.space.grips(&self.pose());
        Ok(())
    }

    /// The pose that was found.
    pub fn pose(&self) -> HandlePose {
        let blend = if self.params.sequential { Blend::Sequential(self.order.clone()) } else { Blend::Free };
        self.space.blend_with(&blend, &self.weights, &self.residual)
    }

    /// Its detail layer.
    pub fn detail(&self) -> Option<Vec<f32>> {
        self.space.detail(&self.weights)
    }

    /// The step that makes it the pose of the document.
    pub fn command(&self) -> Command {
        let moves = self.space.history(&self.set, &self.pose());
        Command::ReachPose { moves, weights: self.named_weights() }
    }

    fn named_weights(&self) -> Vec<(String, f64)> {
        self.space.example_names().map(str::to_owned).zip(self.weights.iter().copied()).collect()
    }

    /// What was found, for showing.
    pub fn report(&self) -> ReachReport {
        let size = 10.0 * self.space.unit();
        let far = |t: &Target| t.position.distance(self.grips[t.handle]) / size;
        let missed = self.targets.iter().map(far).fold(0.0, f64::max);
        let target =
            |t: &Target| (self.handles[t.handle].name.clone(), t.position, self.grips[t.handle], t.is_pinned);
        ReachReport {
            targets: self.targets.iter().map(target).collect(),
            pin_others: self.pin_others,
            weights: self.named_weights(),
            terms: self.space.terms(&self.params, &self.targets, &self.weights),
            objective: self.params.objective.to_string(),
            evaluations: self.evaluations,
            time: self.time,
            is_reached: missed <= REACHED_SHARE,
            missed,
        }
    }
}
