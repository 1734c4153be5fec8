//! Rules that hold over frames of a clip, as rows that the solver understands.
//!
//! # Source
//! Gradients as in `solve::system`: an equation's derivative by its arrows, here handed on as pulls on points of
//! joints, since a clip's joints move otherwise than a single pose's.

use super::World;
use crate::{
    compile::{Aim, Arrow, Carrier, Kind, Problem},
    language::Span,
    solve::nearest_on_segments,
};
use glam::DVec3;
use std::ops::Range;

/// Deviation of a rule that counts as one, in metres, unless it says `soft`.
const SIGMA: f64 = 1e-3;

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
    /// A joint stays in one place, which is free.
    Hold(usize, DVec3),
}

/// A residual and how places of joints change it.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// In units of what counts as one.
    pub residual: f64,
    /// Joint, place, and direction in which moving it raises the residual.
    pub pulls: Vec<(usize, DVec3, DVec3)>,
}

impl FrameRule {
    pub(super) fn new(what: What, frames: Range<usize>, span: Span) -> Self {
        let soft = match &what {
            What::Equations(problem) => problem.rules().iter().find_map(|rule| Some(rule.soft? * rule.scale)),
            What::Hold(..) => None,
        };
        Self { frames, fade: 0.0, contact: None, span, what, sigma: soft.unwrap_or(SIGMA) }
    }

    /// Joints it speaks about.
    pub fn joints(&self) -> Vec<usize> {
        let mut joints = match &self.what {
            What::Hold(joint, _) => vec![*joint],
            What::Equations(problem) => self.carriers(problem).map(|(carrier, _)| carrier.bone()).collect(),
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
        let What::Equations(problem) = &self.what else { return false };
        let rests = |arrow: &Arrow| {
            let places = arrow.terms.iter().filter(|(carrier, _)| matches!(carrier, Carrier::Place(_)));
            let sum: f64 = places.map(|(_, weight)| weight).sum();
            sum.abs() < 1e-9 && !arrow.terms.is_empty()
        };
        let mut arrows = problem.blocks.iter().flat_map(|block| problem.arrows_of(&block.kind));
        arrows.all(|arrow| rests(&problem.arrows[arrow]))
    }

    /// How much it counts in a frame, 0 to 1.
    fn share(&self, frame: usize) -> f64 {
        if self.fade <= 0.0 {
            return 1.0;
        }
        let inside = (frame - self.frames.start + 1).min(self.frames.end.saturating_sub(frame)) as f64;
        (inside / (self.fade + 1.0)).min(1.0)
    }

    /// By how much the rule is broken, in metres (a radian counts as 0.1).
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
            What::Equations(problem) => {
                for block in &problem.blocks {
                    let rows = Rows { problem, world, scale: block.scale };
                    let first = out.len();
                    rows.add(&block.kind, out);
                    if problem.rules()[block.rule].aim == Aim::AtMostZero {
                        let mut at = 0;
                        out.retain(|row| {
                            at += 1;
                            at <= first || row.residual > 0.0
                        });
                    }
                }
            }
        }
    }
}

/// Give joints that are held a place: the middle of where a motion has them.
pub(super) fn anchor(rules: &mut [FrameRule], worlds: &[World]) {
    for rule in rules {
        let frames = rule.frames.start.min(worlds.len())..rule.frames.end.min(worlds.len());
        if let What::Hold(joint, place) = &mut rule.what {
            let path: Vec<DVec3> = worlds[frames].iter().map(|world| world.positions[*joint]).collect();
            *place = super::contacts::median(&path);
        }
    }
}

struct Rows<'a> {
    problem: &'a Problem,
    world: &'a World,
    scale: f64,
}

impl Rows<'_> {
    fn carried(&self, carrier: Carrier) -> DVec3 {
        match carrier {
            Carrier::Place(joint) => self.world.positions[joint as usize],
            Carrier::Axis(joint, axis) => self.world.rotations[joint as usize] * DVec3::AXES[axis as usize],
        }
    }

    fn value(&self, arrow: usize) -> DVec3 {
        let Arrow { constant, terms } = &self.problem.arrows[arrow];
        terms.iter().fold(*constant, |sum, (carrier, weight)| sum + self.carried(*carrier) * *weight)
    }

    /// A row with its derivatives by arrows.
    fn row(&self, value: f64, parts: &[(usize, DVec3)]) -> Row {
        let mut pulls = Vec::new();
        for &(arrow, gradient) in parts {
            for &(carrier, weight) in &self.problem.arrows[arrow].terms {
                let (joint, by) = (carrier.bone(), gradient * (weight * self.scale));
                let place = self.world.positions[joint];
                if let Carrier::Axis(..) = carrier {
                    // An axis is the difference of two places.
                    pulls.push((joint, place + self.carried(carrier), by));
                    pulls.push((joint, place, -by));
                } else {
                    pulls.push((joint, place, by));
                }
            }
        }
        Row { residual: value * self.scale, pulls }
    }

    fn add(&self, kind: &Kind, out: &mut Vec<Row>) {
        let unit = |v: DVec3| (v.normalize_or_zero(), if v.length() > 1e-9 { 1.0 / v.length() } else { 0.0 });
        match *kind {
            Kind::Zero { a } => {
                let v = self.value(a);
                out.extend((0..3).map(|k| self.row(v[k], &[(a, DVec3::AXES[k])])));
            }
            Kind::Unit { a, b } => {
                let ((u, per_a), (v, per_b)) = (unit(self.value(a)), unit(self.value(b)));
                out.extend((0..3).map(|k| {
                    let (by_a, by_b) = (DVec3::AXES[k] - u * u[k], DVec3::AXES[k] - v * v[k]);
                    self.row(u[k] - v[k], &[(a, by_a * per_a), (b, by_b * -per_b)])
                }));
            }
            Kind::Length { a, target } => {
                let v = self.value(a);
                // Two joints in one place part in any direction.
                let u = v.try_normalize().unwrap_or(DVec3::X);
                out.push(self.row(v.length() - target, &[(a, u)]));
            }
            Kind::Along { a, normal, offset } => {
                out.push(self.row(normal.dot(self.value(a)) - offset, &[(a, normal)]));
            }
            Kind::Split { a, b } => {
                let (at, (v, per_b)) = (self.value(a), unit(self.value(b)));
                let part = v.dot(at);
                out.push(self.row(part, &[(a, v), (b, (at - v * part) * per_b)]));
            }
            Kind::Clear { ends, by } => {
                let [a, b, c, d] = ends.map(|end| self.value(end));
                let (s, t) = nearest_on_segments([a, b], [c, d]);
                let apart = a.lerp(b, s) - c.lerp(d, t);
                let u = apart.normalize_or_zero();
                let shares = [1.0 - s, s, t - 1.0, -t];
                out.push(self.row(apart.length() - by, &[0, 1, 2, 3].map(|i| (ends[i], u * shares[i]))));
            }
            Kind::Scalar { expr } => out.push(self.scalar(expr)),
        }
    }

    /// A free equation, by its symbolic derivatives.
    fn scalar(&self, expr: crate::symbolic::Expr) -> Row {
        let n = self.problem.skeleton.n_freedoms();
        let mut symbols = vec![0.0; n + 3 * self.problem.arrows.len()];
        for arrow in self.problem.arrows_of(&Kind::Scalar { expr }) {
            symbols[n + 3 * arrow..][..3].copy_from_slice(&self.value(arrow).to_array());
        }
        let mut arena = self.problem.arena.clone();
        let gradient = arena.gradient(expr);
        let mut parts: Vec<(usize, DVec3)> = Vec::new();
        for (symbol, derivative) in gradient {
            let Some(component) = symbol.checked_sub(n) else { continue };
            let slope = arena.evaluate(derivative, &symbols);
            parts.push((component / 3, DVec3::AXES[component % 3] * slope));
        }
        self.row(arena.evaluate(expr, &symbols), &parts)
    }
}
