//! Rules that hold over frames of a clip, as rows for the solver.
//!
//! # Source
//! Gradients as in `solve::system`: the derivative of an equation with respect to its arrows, passed on here as pulls
//! on points of joints, because the joints of a clip have other degrees of freedom than those of a single pose.

use super::{World, limits::Limit};
use crate::{
    compile::{Arrow, Carrier, Kind, Problem},
    language::Span,
    pulls::{self, Row},
};
use glam::DVec3;
use sinew_geom::path::Site;
use std::{ops::Range, sync::Arc};

/// Deviation of a rule that counts as one, in metres, unless it says `soft`.
const SIGMA: f64 = 1e-3;
/// Deviation that nobody sees, in metres.
const HELD: f64 = 5e-3;
/// How much softer each later priority is: so much that it moves what goes before by a thousandth of what it is off.
const SOFTER: f64 = 30.0;
const MOST_LEVELS: u32 = 3;

/// A rule over some frames.
#[derive(Debug, Clone)]
pub struct FrameRule {
    /// When.
    pub frames: Range<usize>,
    /// Frames over which it comes and goes.
    pub fade: f64,
    /// Only while this joint stands on the ground.
    pub contact: Option<usize>,
    /// Where it was written.
    pub span: Span,
    pub(super) what: What,
    /// Deviation that counts as one, in metres.
    pub(super) sigma: f64,
}

/// What a rule wants.
#[derive(Debug, Clone)]
pub(super) enum What {
    /// Equations of one line.
    Equations(Box<Problem>),
    /// What should be as little as possible.
    Pull(Box<Problem>),
    /// A joint stays in one place, which is free.
    Hold(usize, DVec3),
    /// A joint is not faster than this.
    Limit(Limit),
}

impl FrameRule {
    pub(super) fn new(what: What, frames: Range<usize>, span: Span) -> Self {
        let (soft, priority) = match &what {
            What::Equations(problem) => {
                let soft = problem.rules().iter().find_map(|rule| Some(rule.soft? * rule.scale));
                (soft, problem.rules().iter().map(|rule| rule.priority).max().unwrap_or(1))
            }
            What::Hold(..) | What::Limit(_) | What::Pull(_) => (None, 1),
        };
        let later = SOFTER.powi(priority.saturating_sub(1).min(MOST_LEVELS) as i32);
        Self { frames, fade: 0.0, contact: None, span, what, sigma: soft.unwrap_or(SIGMA * later) }
    }

    /// Joints it speaks about.
    pub fn joints(&self) -> Vec<usize> {
        let mut joints = match &self.what {
            What::Hold(joint, _) => vec![*joint],
            What::Limit(limit) => vec![limit.joint],
            What::Equations(problem) | What::Pull(problem) => {
                let carried = self.carriers(problem).map(|(carrier, _)| carrier.bone());
                let turned = named_bones(problem).flat_map(|(bone, parent)| [Some(bone), parent]).flatten();
                carried.chain(turned).collect()
            }
        };
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    fn carriers<'a>(&self, problem: &'a Problem) -> impl Iterator<Item = (Carrier, f64)> + 'a {
        let arrows = problem.blocks.iter().flat_map(|block| problem.arrows_of(&block.kind));
        arrows.flat_map(|arrow| problem.arrows[arrow].terms.iter().copied())
    }

    /// Whether it is about how joints stand to one another, and not to the world.
    pub(super) fn is_relative(&self) -> bool {
        let (What::Equations(problem) | What::Pull(problem)) = &self.what else { return false };
        if named_bones(problem).any(|(_, parent)| parent.is_none()) {
            return false;
        }
        let rests = |arrow: &Arrow| {
            let places = arrow.terms.iter().filter(|(carrier, _)| matches!(carrier, Carrier::Place(_)));
            let sum: f64 = places.map(|(_, weight)| weight).sum();
            sum.abs() < 1e-9 && !arrow.terms.is_empty()
        };
        let mut arrows = problem.blocks.iter().flat_map(|block| problem.arrows_of(&block.kind));
        arrows.all(|arrow| rests(&problem.arrows[arrow]))
    }

    /// Deviation up to which it counts as held, in metres: rules that give way are never broken.
    pub(super) fn allowance(&self) -> f64 {
        if self.sigma > SIGMA { f64::INFINITY } else { HELD }
    }

    /// How much it counts in a frame, 0 to 1.
    pub(super) fn share(&self, frame: usize) -> f64 {
        if self.fade <= 0.0 {
            return 1.0;
        }
        let inside = (frame - self.frames.start + 1).min(self.frames.end.saturating_sub(frame)) as f64;
        (inside / (self.fade + 1.0)).min(1.0)
    }

    /// The limit it sets, if it does.
    pub(super) fn limit(&self) -> Option<&Limit> {
        if let What::Limit(limit) = &self.what { Some(limit) } else { None }
    }

    /// Rows whose sum should be as little as possible, if that is what it wants.
    pub(super) fn pull(&self, world: &World, out: &mut Vec<Row>) -> bool {
        let What::Pull(problem) = &self.what else { return false };
        out.clear();
        problem.blocks.iter().for_each(|block| pulls::add(problem, block, world, out));
        true
    }

    /// By how much the rule is broken in one frame, in metres (a radian counts as 0.1); nothing if it is a limit or has
    /// no end.
    pub fn violation(&self, world: &World) -> f64 {
        let mut rows = Vec::new();
        self.raw_rows(world, &mut rows);
        rows.iter().map(|row| row.residual * row.residual).sum::<f64>().sqrt()
    }

    /// Rows of the rule in one frame; none where an inequality holds.
    pub fn rows(&self, frame: usize, world: &World, out: &mut Vec<Row>) {
        self.raw_rows(world, out);
        let factor = self.share(frame) / self.sigma;
        for row in out {
            row.residual *= factor;
            row.pulls.iter_mut().for_each(|pull| pull.2 *= factor);
        }
    }

    fn raw_rows(&self, world: &World, out: &mut Vec<Row>) {
        out.clear();
        match &self.what {
            What::Hold(joint, place) => {
                let off = world.positions[*joint] - *place;
                for axis in 0..3 {
                    let pulls = vec![(*joint, world.positions[*joint], DVec3::AXES[axis])];
                    out.push(Row { residual: off[axis], pulls });
                }
            }
            What::Limit(_) | What::Pull(_) => {}
            What::Equations(problem) => {
                for block in &problem.blocks {
                    pulls::add(problem, block, world, out);
                }
            }
        }
    }
}

/// Joints whose degrees of freedom a rule names, with their parents, from which these count.
fn named_bones(problem: &Problem) -> impl Iterator<Item = (usize, Option<usize>)> + '_ {
    let named = |kind: &Kind| match kind {
        Kind::Scalar { expr } => problem.freedoms_named(*expr),
        _ => Vec::new(),
    };
    let freedoms = problem.blocks.iter().flat_map(move |block| named(&block.kind));
    let skeleton = &problem.skeleton;
    freedoms
        .map(|freedom| skeleton.freedoms()[freedom].bone)
        .map(|bone| (bone, skeleton.bones()[bone].parent))
}

/// Give joints that are held a place, the middle of where a motion has them, and rules about the ground the one there is.
pub(super) fn anchor(rules: &mut [FrameRule], worlds: &[World], site: &Site) {
    let ground = Arc::new(site.clone());
    for rule in rules {
        if let What::Equations(problem) | What::Pull(problem) = &mut rule.what {
            for block in &mut problem.blocks {
                if let Kind::Height { site, .. } = &mut block.kind {
                    *site = ground.clone();
                }
            }
        }
        let frames = rule.frames.start.min(worlds.len())..rule.frames.end.min(worlds.len());
        if let What::Hold(joint, place) = &mut rule.what {
            let path: Vec<DVec3> = worlds[frames].iter().map(|world| world.positions[*joint]).collect();
            *place = super::contacts::median(&path);
        }
    }
}
