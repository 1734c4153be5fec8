//! Rules that hold over frames of a clip, as rows for the solver.
//!
//! # Source
//! The equations are those of single poses (see `equations`); their columns are the corrections of the joints of a clip.

use super::{JointFrames, corrections::Corrections, limits::Limit};
use crate::{
    Screw,
    compile::{Aim, EquationKind, Problem},
    equations::{Columns, EquationState, Equations, Form, JacobianRows, RowSink, VectorDerivative},
    language::Span,
};
use glam::DVec3;
use sinew_geom::path::PlacedGround;
use std::{ops::Range, sync::Arc};

/// Standard deviation of a rule without `soft`, in metres.
const TOLERANCE_METRES: f64 = 1e-3;
/// Deviation that is not visible, in metres.
const VISIBLE_METRES: f64 = 5e-3;
/// Ratio of tolerances of successive priorities: a later one moves an earlier one by a thousandth of its residual.
const PRIORITY_RATIO: f64 = 30.0;
const MAX_PRIORITY_LEVELS: u32 = 3;

/// A rule over some frames.
#[derive(Debug, Clone)]
pub struct FrameRule {
    /// When.
    pub frames: Range<usize>,
    /// Frames over which it fades in and out.
    pub fade: f64,
    /// Only while this joint is planted on the ground.
    pub contact: Option<usize>,
    /// Where it was written.
    pub span: Span,
    pub(super) what: RuleKind,
    /// Standard deviation, in metres.
    pub(super) sigma: f64,
}

/// Kind of a rule.
#[derive(Debug, Clone)]
pub(super) enum RuleKind {
    /// Equations and inequalities of one line.
    Equations(Box<Equations>),
    /// A quantity to minimise.
    Objective(Box<Equations>),
    /// A joint stays in one place, which [`anchor`] chooses.
    Hold(Box<Equations>),
    /// A joint moves no faster than this.
    Limit(Limit),
}

impl FrameRule {
    pub(super) fn new(what: RuleKind, frames: Range<usize>, span: Span) -> Self {
        Self { frames, fade: 0.0, contact: None, span, what, sigma: TOLERANCE_METRES }
    }

    /// The rules of a problem with one line.
    pub(super) fn of_problem(problem: &Problem, frames: Range<usize>, span: Span) -> Self {
        let rules = problem.rules();
        let equations = Box::new(Equations::new(problem));
        if rules.iter().any(|rule| rule.aim == Aim::Objective) {
            return Self::new(RuleKind::Objective(equations), frames, span);
        }
        let soft = rules.iter().find_map(|rule| Some(rule.soft? * rule.scale));
        let priority = rules.iter().map(|rule| rule.priority).max().unwrap_or(1);
        let later = PRIORITY_RATIO.powi(priority.saturating_sub(1).min(MAX_PRIORITY_LEVELS) as i32);
        Self {
            sigma: soft.unwrap_or(TOLERANCE_METRES * later),
            ..Self::new(RuleKind::Equations(equations), frames, span)
        }
    }

    fn equations(&self) -> Option<&Equations> {
        match &self.what {
            RuleKind::Equations(equations) | RuleKind::Objective(equations) | RuleKind::Hold(equations) => {
                Some(equations)
            }
            RuleKind::Limit(_) => None,
        }
    }

    /// Joints it reads.
    pub fn joints(&self) -> Vec<usize> {
        let mut joints: Vec<usize> = match &self.what {
            RuleKind::Limit(limit) => vec![limit.joint],
            _ => self.equations().map_or_else(Vec::new, |equations| equations.joints().collect()),
        };
        joints.sort_unstable();
        joints.dedup();
        joints
    }

    /// Whether it relates joints to one another, and not to the world.
    pub(super) fn is_relative(&self) -> bool {
        self.equations().is_some_and(Equations::is_relative)
    }

    /// Deviation up to which it counts as held, in metres; soft rules are never broken.
    pub(super) fn allowance(&self) -> f64 {
        if self.sigma > TOLERANCE_METRES { f64::INFINITY } else { VISIBLE_METRES }
    }

    /// Its weight in a frame, 0 to 1.
    pub(super) fn share(&self, frame: usize) -> f64 {
        if self.fade <= 0.0 {
            return 1.0;
        }
        let inside = (frame - self.frames.start + 1).min(self.frames.end.saturating_sub(frame)) as f64;
        (inside / (self.fade + 1.0)).min(1.0)
    }

    /// The limit it sets, if any.
    pub(super) fn limit(&self) -> Option<&Limit> {
        if let RuleKind::Limit(limit) = &self.what { Some(limit) } else { None }
    }

    /// By how much the rule is broken in one frame, in metres (a radian counts as 0.1); zero for limits and objectives.
    pub fn violation(&self, world: &JointFrames) -> f64 {
        let (RuleKind::Equations(equations) | RuleKind::Hold(equations)) = &self.what else { return 0.0 };
        let mut state = equations.state();
        equations.evaluate(world, &mut state);
        let mut sum = 0.0;
        for block in &equations.blocks {
            let mut rows = SumOfSquares { sum: 0.0, is_inequality: block.aim == Aim::AtMostZero };
            equations.write(block, &state, &mut rows);
            sum += rows.sum;
        }
        sum.sqrt()
    }

    /// Its equations on the corrections of a clip; none if it is a limit.
    pub(super) fn rows(&self, corrections: &Corrections) -> Option<RuleRows> {
        let equations = self.equations()?;
        let columns = corrections.equation_columns(equations);
        Some(RuleRows::new(equations.clone(), columns))
    }

    /// Whether its rows are a quantity to minimise.
    pub(super) fn is_objective(&self) -> bool {
        matches!(self.what, RuleKind::Objective(_))
    }

    /// Factor of its rows in a frame.
    pub(super) fn factor(&self, frame: usize) -> f64 {
        self.share(frame) / self.sigma
    }
}

/// Rows of a rule in one frame, with their derivatives by corrections.
#[derive(Debug, Clone)]
pub(super) struct RuleRows {
    pub equations: Equations,
    pub state: EquationState,
    pub columns: Columns,
    /// Correction of each column, in rising order.
    pub used: Vec<usize>,
    f: Vec<f64>,
    jacobian: Vec<f64>,
    /// Whether a row only counts where it is positive.
    is_inequality: Vec<bool>,
}

impl RuleRows {
    fn new(equations: Equations, mut columns: Columns) -> Self {
        let used = columns.used();
        let mut new = vec![0; used.last().map_or(0, |last| last + 1)];
        used.iter().enumerate().for_each(|(column, &dof)| new[dof] = column as u32);
        columns.renumber(&new);
        let is_inequality: Vec<bool> = equations
            .blocks
            .iter()
            .flat_map(|block| std::iter::repeat_n(block.aim == Aim::AtMostZero, block.n_rows()))
            .collect();
        let (state, n_rows) = (equations.state(), is_inequality.len());
        let (f, jacobian) = (vec![0.0; n_rows], vec![0.0; n_rows * used.len()]);
        Self { equations, state, columns, used, f, jacobian, is_inequality }
    }

    /// Read frames and screws.
    pub fn update(&mut self, world: &JointFrames, screws: &[Screw]) {
        self.equations.update_arrows(world, &mut self.state);
        self.columns.update(world, screws);
        for (index, dof) in self.equations.named.iter().enumerate() {
            let measured = dof.measure(world);
            self.equations.set_dof(&mut self.state, index, measured.value);
            let slope = |screw: &Screw| {
                let by = if dof.is_rotation { screw.angular } else { screw.linear };
                measured.gradient.dot(by)
            };
            self.columns.update_slopes(index, |column| slope(&screws[self.used[column]]));
        }
        self.equations.run_tape(&mut self.state);
    }

    /// Rows and derivatives after [`RuleRows::update`].
    pub fn compute(&mut self) {
        let Self { equations, state, columns, used, f, jacobian, .. } = self;
        let mut rows = JacobianRows { columns, stride: used.len(), row: 0, f, jacobian };
        equations.blocks.iter().for_each(|block| equations.write(block, state, &mut rows));
    }

    /// Rows that count: all of equations, of inequalities those that do not hold.
    fn off(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let rows = self.f.iter().zip(&self.is_inequality).enumerate();
        rows.filter(|(_, (f, is_inequality))| !**is_inequality || **f > 0.0).map(|(row, (f, _))| (row, *f))
    }

    /// Add `w² JᵀJ` to the lower triangle of a block and `w² Jᵀf` to a gradient; returns `w² |f|²`.
    pub fn add(&self, factor: f64, block: &mut [f64], gradient: &mut [f64]) -> f64 {
        let (n, weight) = (gradient.len(), factor * factor);
        let mut cost = 0.0;
        for (row, f) in self.off() {
            let line = &self.jacobian[row * self.used.len()..][..self.used.len()];
            for (k, (&i, a)) in self.used.iter().zip(line).enumerate().filter(|(_, (_, a))| **a != 0.0) {
                gradient[i] += weight * a * f;
                let target = &mut block[i * n..][..n];
                self.used[..=k].iter().zip(line).for_each(|(&j, b)| target[j] += weight * a * b);
            }
            cost += weight * f * f;
        }
        cost
    }
}

/// Adds up the squares of rows that do not hold.
struct SumOfSquares {
    sum: f64,
    is_inequality: bool,
}

impl SumOfSquares {
    fn add(&mut self, value: f64) {
        let excess = if self.is_inequality { value.max(0.0) } else { value };
        self.sum += excess * excess;
    }
}

impl RowSink for SumOfSquares {
    fn row<const N: usize>(&mut self, value: f64, _: [(usize, DVec3); N]) {
        self.add(value);
    }

    fn vector<const N: usize, D: VectorDerivative>(&mut self, value: DVec3, _: [(usize, D); N]) {
        value.to_array().into_iter().for_each(|x| self.add(x));
    }

    fn expression(
        &mut self,
        value: f64,
        _: impl Iterator<Item = (usize, DVec3)>,
        _: impl Iterator<Item = (usize, f64)>,
    ) {
        self.add(value);
    }
}

/// Set the positions of held joints to the median of a motion, and the ground of rules about it.
pub(super) fn anchor(rules: &mut [FrameRule], worlds: &[JointFrames], site: &PlacedGround) {
    let ground = Arc::new(site.clone());
    for rule in rules {
        let frames = rule.frames.start.min(worlds.len())..rule.frames.end.min(worlds.len());
        match &mut rule.what {
            RuleKind::Equations(equations) | RuleKind::Objective(equations) => {
                for block in &mut equations.blocks {
                    if let Form::Closed(EquationKind::Height { site, .. }) = &mut block.form {
                        *site = ground.clone();
                    }
                }
            }
            RuleKind::Hold(equations) => {
                let joint = equations.arrows[0].terms[0].0.joint();
                let path: Vec<DVec3> = worlds[frames].iter().map(|world| world.positions[joint]).collect();
                equations.set_place(super::contacts::median(&path));
            }
            RuleKind::Limit(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        clip::{
            corrections,
            tests::{rules, walk, walker},
        },
        compile::{CompileParams, Scene},
        language::parse,
    };
    use proptest::prelude::*;
    use sinew_geom::{Dof, DofKind, Rig, path::Ground};

    /// Every kind of equation, and an expression that reads places, axes and degrees of freedom.
    const RULES: &str = "pin LeftHand to (0.2, 1, 0.3) m\naim LeftArm -> LeftHand along (0, 0.6, 0.8)\n\
        distance LeftHand RightHand = 90 cm\nput LeftFoot on Wall\ndot(LeftHand - Hips, RightFoot - Head) = 0\n\
        clear LeftHand LeftForeArm from RightFoot RightLeg by 40 cm\nput RightFoot on Ground\n\
        sqrt(Head.y * Head.y + RightHand.x * RightHand.x) = 120 cm\nlook Head at LeftHand\n\
        LeftLeg.rx + 2 * Spine.ry - LeftArm.rz = 10 deg\nHips.ty = 80 cm\nLeftHand.x * sin(Head.rx) = 20 cm";

    fn limited_walker() -> Rig {
        let mut joints = walker(1.0).joints().to_vec();
        let knee = walker(1.0).find("LeftLeg").unwrap();
        joints[knee].dofs = [DofKind::Rx, DofKind::Rz].map(|kind| Dof { kind, range: [-2.0, 2.0] }).to_vec();
        Rig::new(joints).unwrap()
    }

    proptest! {
        /// Derivatives by corrections against finite differences.
        #[test]
        fn columns_are_derivatives(seed in prop::collection::vec(-0.6..0.6f64, 28)) {
            use corrections::CorrectionKind;
            let rig = limited_walker();
            let find = |name: &str| rig.find(name).unwrap();
            let ball = |name: &str| (find(name), CorrectionKind::Ball);
            let free = [
                (find("Hips"), CorrectionKind::Shift), ball("Hips"), ball("Spine"), ball("Head"), ball("LeftArm"), ball("LeftHand"),
                ball("LeftUpLeg"), ball("LeftLeg"), (find("RightLeg"), CorrectionKind::Hinge(DVec3::X)), ball("RightArm"),
            ];
            let rules = {
                let plane = ("Wall".to_owned(), [DVec3::new(0.0, 0.1, 0.0), DVec3::new(0.0, 0.6, 0.8)]);
                let scene = Scene { planes: vec![plane], ground: Some(PlacedGround::of(Ground::Slope(8.0))), ..Scene::default() };
                let (script, found) = parse(RULES);
                prop_assert!(found.is_empty(), "{found:?}");
                let all = crate::Skeleton::from_rig(&walker(1.0)).unwrap();
                let (problem, found) = Problem::new(&script, &all, &scene, &CompileParams::default());
                prop_assert!(!crate::compile::has_errors(&found), "{found:?}");
                FrameRule::of_problem(&problem, 0..1, Span::default())
            };
            let corrections = Corrections::new(&rig, &free, &rules.joints());
            let n = corrections.n;
            let base = &walk(30.0, 1.0, 0.0).poses[7];
            let mut rows = rules.rows(&corrections).unwrap();
            let (mut world, mut screws) = (JointFrames::of(&rig, base), Vec::new());
            let mut evaluate = |x: &[f64]| {
                corrections.forward(&rig, base, x, &mut world, &mut screws);
                rows.update(&world, &screws);
                rows.compute();
                rows.clone()
            };
            let x = &seed[..n];
            let at = evaluate(x);
            prop_assert_eq!(at.f.len(), 18);
            for d in 0..n {
                let mut moved = x.to_vec();
                moved[d] = x[d] + 1e-6;
                let high = evaluate(&moved).f;
                moved[d] = x[d] - 1e-6;
                let low = evaluate(&moved).f;
                for row in 0..at.f.len() {
                    let expected = (high[row] - low[row]) / 2e-6;
                    let column = at.used.iter().position(|&used| used == d);
                    let found = column.map_or(0.0, |column| at.jacobian[row * at.used.len() + column]);
                    prop_assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{row} {d}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_joint_is_held_where_it_mostly_is() {
        let (rig, motion) = (walker(1.0), walk(30.0, 1.0, 0.0));
        let worlds: Vec<JointFrames> = motion.poses.iter().map(|pose| JointFrames::of(&rig, pose)).collect();
        let mut rules = rules(&rig, "hold LeftHand during 3 .. 3");
        anchor(&mut rules, &worlds, &PlacedGround::of(Ground::default()));
        assert!(rules[0].violation(&worlds[3]) < 1e-12);
        let way = worlds[20].positions[rig.find("LeftHand").unwrap()]
            .distance(worlds[3].positions[rig.find("LeftHand").unwrap()]);
        assert!((rules[0].violation(&worlds[20]) - way).abs() < 1e-12);
    }
}
