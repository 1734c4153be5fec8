//! Plans of bodies. Each is tried on every view of a shape; the proposal that costs least is used.
//!
//! A cost is a sum of penalties, each zero where the shape is as the plan expects and about one where it is clearly not:
//! proportions out of range, tips that nothing explains, an unusual direction for up. No single test decides.

mod biped;
mod chain;
mod extras;
mod horizontal;
mod legs;
mod many_legs;
mod radial;
mod tree;

use crate::{skeleton::Skeleton, view::View};
use sinew_geom::body_map::BodyClass;

/// What a template makes of a view.
#[derive(Debug, Clone)]
pub(crate) struct Proposal {
    pub class: BodyClass,
    pub skeleton: Skeleton,
    pub cost: Cost,
    /// The greatest confidence that the evidence of this plan can give.
    pub most_confidence: f64,
    /// What each limb was taken for, in plain sentences.
    pub notes: Vec<String>,
}

/// Penalties with their reasons.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cost {
    terms: Vec<(&'static str, f64)>,
}

impl Cost {
    pub fn add(&mut self, reason: &'static str, penalty: f64) {
        // Numbers that are none mean that something could not be measured: that is as bad as it gets.
        let penalty = if penalty.is_finite() { penalty.min(4.0) } else { 4.0 };
        if penalty != 0.0 {
            self.terms.push((reason, penalty));
        }
    }

    /// Nothing within a range, growing with the square outside: 1 at `scale` beyond it.
    pub fn expect(&mut self, reason: &'static str, value: f64, range: [f64; 2], scale: f64) {
        let beyond = (range[0] - value).max(value - range[1]).max(0.0) / scale;
        self.add(reason, if value.is_nan() { f64::NAN } else { beyond * beyond });
    }

    pub fn total(&self) -> f64 {
        self.terms.iter().map(|(_, penalty)| penalty).sum()
    }

    /// Penalties, the greatest first.
    pub fn reasons(&self) -> Vec<(&'static str, f64)> {
        let mut terms = self.terms.clone();
        terms.sort_by(|a, b| b.1.total_cmp(&a.1));
        terms
    }
}

/// What it costs that a plan has no use for a tip, given how far it sticks out.
fn unexplained(view: &View, tip: usize) -> f64 {
    (view.tip(tip).persistence / 0.2).clamp(0.0, 1.5).powi(2)
}

/// All proposals for a view; only those of one class if it is given.
pub(crate) fn propose(view: &View, only: Option<BodyClass>) -> Vec<Proposal> {
    let wants = |class: BodyClass| only.is_none_or(|only| only == class);
    let mut proposals = Vec::new();
    if wants(BodyClass::Biped) {
        proposals.extend(biped::propose(view));
    }
    if wants(BodyClass::Quadruped) {
        proposals.extend(horizontal::propose_quadruped(view));
    }
    if wants(BodyClass::HorizontalBiped) {
        proposals.extend(horizontal::propose_biped(view));
    }
    if wants(BodyClass::Bird) {
        proposals.extend(horizontal::propose_bird(view));
    }
    if wants(BodyClass::Arthropod) {
        proposals.extend(many_legs::propose(view));
    }
    if wants(BodyClass::Swimmer) {
        proposals.extend(chain::propose(view));
    }
    if wants(BodyClass::Octopus) {
        proposals.extend(radial::propose(view));
    }
    if wants(BodyClass::Tree) {
        proposals.extend(tree::propose(view));
    }
    proposals.iter_mut().for_each(|proposal| proposal.cost.add("unusual orientation", view.cost));
    proposals
}
