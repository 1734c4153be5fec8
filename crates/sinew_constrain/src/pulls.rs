//! Equations of rules as pulls on points of joints: the size of each error, and the direction in which moving a joint
//! reduces it.
//!
//! # Source
//! Gradients as in `solve::system`: the derivative of an equation with respect to its arrows, passed on here to the
//! points that carry them, for callers that draw the pulls or that do not move joints by the skeleton's own degrees of
//! freedom.

use crate::{
    Freedom,
    clip::World,
    compile::{Aim, Arrow, Block, Carrier, Kind, Problem},
    solve::{height_over, nearest_on_segments},
};
use glam::{DQuat, DVec3};
use sinew_geom::{DofKind, EulerOrder};

/// Lengths below this have no direction.
const NO_LENGTH: f64 = 1e-9;
/// Where a direction that a joint carries is drawn, metres from the joint.
const AXIS_SHOWN: f64 = 0.2;

/// A joint, a place that it carries, and the direction in which moving it raises a residual.
type Pull = (usize, DVec3, DVec3);

/// A residual and how places of joints change it.
#[derive(Debug, Clone, Default)]
pub struct Row {
    /// In units of what counts as one.
    pub residual: f64,
    /// Joint, place, and direction in which moving it raises the residual.
    pub pulls: Vec<Pull>,
}

/// Rows of a block of equations; none where an inequality holds.
pub(crate) fn add(problem: &Problem, block: &Block, world: &World, out: &mut Vec<Row>) {
    let first = out.len();
    Rows { problem, world, scale: block.scale }.add(&block.kind, out);
    if problem.rules()[block.rule].aim == Aim::AtMostZero {
        let mut at = 0;
        out.retain(|row| {
            at += 1;
            at <= first || row.residual > 0.0
        });
    }
}

/// Where a rule would have a joint, for the eye.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mark {
    /// Index of the rule.
    pub rule: usize,
    /// The joint.
    pub joint: usize,
    /// Where it is, or the tip of a direction it carries.
    pub from: DVec3,
    /// Where the rule wants that, if everything else stays; the same place where the rule holds.
    pub to: DVec3,
}

/// A mark for every group of equations of a problem that is about a joint.
pub fn marks(problem: &Problem, world: &World) -> Vec<Mark> {
    let mut found = Vec::new();
    let mut rows = Vec::new();
    for block in problem.blocks.iter().filter(|block| problem.rules()[block.rule].aim != Aim::Least) {
        rows.clear();
        Rows { problem, world, scale: block.scale }.add(&block.kind, &mut rows);
        // Of several joints, the one the equations know first.
        let Some(&(joint, place, _)) = rows.first().and_then(|row| row.pulls.first()) else { continue };
        let mut step = DVec3::ZERO;
        for row in &rows {
            let pull: DVec3 = row.pulls.iter().filter(|p| p.0 == joint && p.1 == place).map(|p| p.2).sum();
            let is_off = problem.rules()[block.rule].aim != Aim::AtMostZero || row.residual > 0.0;
            if is_off && pull.length_squared() > NO_LENGTH * NO_LENGTH {
                step -= pull * (row.residual / pull.length_squared());
            }
        }
        let at = world.positions[joint];
        let shown = if place == at { 1.0 } else { AXIS_SHOWN };
        let from = at + (place - at) * shown;
        found.push(Mark { rule: block.rule, joint, from, to: from + step * shown });
    }
    found
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
            Kind::Height { a, ref site, sign, by } => {
                let (height, gradient) = height_over(site, self.value(a));
                out.push(self.row(sign * height - by, &[(a, gradient * sign)]));
            }
            Kind::Scalar { expr } => out.push(self.scalar(expr)),
        }
    }

    /// A free equation, by its symbolic derivatives.
    fn scalar(&self, expr: crate::symbolic::Expr) -> Row {
        let n = self.problem.skeleton.n_freedoms();
        let mut symbols = vec![0.0; n + 3 * self.problem.arrows.len()];
        let freedoms = self.problem.freedoms_named(expr);
        for &freedom in &freedoms {
            symbols[freedom] = self.freedom(freedom).0;
        }
        for arrow in self.problem.arrows_of(&Kind::Scalar { expr }) {
            symbols[n + 3 * arrow..][..3].copy_from_slice(&self.value(arrow).to_array());
        }
        let mut arena = self.problem.arena.clone();
        let gradient = arena.gradient(expr);
        let mut parts: Vec<(usize, DVec3)> = Vec::new();
        let mut turned = Vec::new();
        for (symbol, derivative) in gradient {
            let slope = arena.evaluate(derivative, &symbols);
            match symbol.checked_sub(n) {
                Some(component) => parts.push((component / 3, DVec3::AXES[component % 3] * slope)),
                None => {
                    let pulls = self.freedom(symbol).1.into_iter();
                    turned.extend(pulls.map(|(joint, at, by)| (joint, at, by * (slope * self.scale))));
                }
            }
        }
        let mut row = self.row(arena.evaluate(expr, &symbols), &parts);
        row.pulls.extend(turned);
        row
    }

    /// Value of a degree of freedom, and what moves it: pulls on its joint, and the opposite ones on its parent, since it
    /// counts from there.
    fn freedom(&self, freedom: usize) -> (f64, Vec<Pull>) {
        let skeleton = &self.problem.skeleton;
        let Freedom { bone, kind, .. } = skeleton.freedoms()[freedom];
        let of = &skeleton.bones()[bone];
        let (place, axis) = (self.world.positions[bone], kind as usize % 3);
        let above = of.parent.map_or(DQuat::IDENTITY, |parent| self.world.rotations[parent]);
        let from = of.parent.map_or(DVec3::ZERO, |parent| self.world.positions[parent]);
        let (value, own) = if kind < DofKind::Rx {
            let along = above * DVec3::AXES[axis];
            (along.dot(place - from), vec![(bone, place, along)])
        } else {
            let local = above.inverse() * self.world.rotations[bone];
            let turn = of.rest_rotation().inverse() * local;
            let torque = above * of.rest_rotation() * angle_gradient(of.euler, turn)[axis];
            // A torque is a pair of forces.
            let arm = torque.try_normalize().unwrap_or(DVec3::X).any_orthonormal_vector();
            let force = torque.cross(arm);
            (of.euler.to_angles(turn)[axis], vec![(bone, place + arm, force), (bone, place, -force)])
        };
        let against = of.parent.into_iter().flat_map(|parent| own.iter().map(move |p| (parent, p.1, -p.2)));
        let all = own.iter().copied().chain(against).collect();
        (value, all)
    }
}

/// How Euler angles change with the angular velocity of a turn, in the frame the turn begins in: the dual basis of the
/// axes. Where two axes are one, their angles share the change.
fn angle_gradient(order: EulerOrder, turn: DQuat) -> [DVec3; 3] {
    const STEP: f64 = 1e-6;
    let at = |axis: DVec3, by: f64| order.to_angles(DQuat::from_scaled_axis(axis * by) * turn);
    let slope = |axis: DVec3| (at(axis, STEP) - at(axis, -STEP)) / (2.0 * STEP);
    // Half a turn either way is the same angle, but no slope; nor is there one where axes meet.
    let tame = |v: DVec3| DVec3::from_array(v.to_array().map(|x| if x.abs() < STEEPEST { x } else { 0.0 }));
    let by = DVec3::AXES.map(|axis| tame(slope(axis)));
    [0, 1, 2].map(|k| DVec3::new(by[0][k], by[1][k], by[2][k]))
}

/// Slopes of angles beyond this are those of a place where axes meet.
const STEEPEST: f64 = 1e4;
