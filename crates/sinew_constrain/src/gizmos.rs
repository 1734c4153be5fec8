//! What the viewport draws for rules: where a rule would move a joint.

use crate::{
    compile::{Aim, Carrier, Problem},
    equations::{EquationBlock, Equations, RowSink},
    joint_frames::JointFrames,
};
use glam::DVec3;

/// Derivatives shorter than this have no direction.
const MIN_PULL: f64 = 1e-9;
/// Where a direction that a joint carries is drawn, metres from the joint.
const AXIS_METRES: f64 = 0.2;

/// Where a rule would move a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RuleGizmo {
    /// Index of the rule.
    pub rule: usize,
    /// The joint.
    pub joint: usize,
    /// Where the joint is, or the tip of a direction it carries.
    pub from: DVec3,
    /// Where the rule would move that if everything else stays; equal to `from` where the rule holds.
    pub to: DVec3,
}

/// One gizmo for every block of equations that is about a joint.
pub fn rule_gizmos(problem: &Problem, frames: &JointFrames) -> Vec<RuleGizmo> {
    let equations = Equations::new(problem);
    let mut state = equations.state();
    equations.evaluate(frames, &mut state);
    let gizmo = |block: &EquationBlock| {
        let mut rows = GradientRows { equations: &equations, frames, rows: Vec::new() };
        equations.write(block, &state, &mut rows);
        gizmo_of(block, &rows.rows, frames)
    };
    equations.blocks.iter().filter(|block| block.aim != Aim::Objective).filter_map(gizmo).collect()
}

fn gizmo_of(block: &EquationBlock, rows: &[(f64, Vec<Pull>)], frames: &JointFrames) -> Option<RuleGizmo> {
    // Of several joints, the first that the equations read.
    let Pull { joint, place, .. } = *rows.first()?.1.first()?;
    let mut step = DVec3::ZERO;
    for (residual, pulls) in rows {
        let same = pulls.iter().filter(|pull| pull.joint == joint && pull.place == place);
        let pull: DVec3 = same.map(|pull| pull.direction).sum();
        let is_off = block.aim != Aim::AtMostZero || *residual > 0.0;
        if is_off && pull.length_squared() > MIN_PULL * MIN_PULL {
            step -= pull * (residual / pull.length_squared());
        }
    }
    let at = frames.positions[joint];
    let length = if place == at { 1.0 } else { AXIS_METRES };
    let from = at + (place - at) * length;
    Some(RuleGizmo { rule: block.rule, joint, from, to: from + step * length })
}

/// A place that a joint carries, and the derivative of a row by it.
#[derive(Clone, Copy)]
struct Pull {
    joint: usize,
    place: DVec3,
    direction: DVec3,
}

/// Collects rows with their derivatives by places of joints.
struct GradientRows<'a> {
    equations: &'a Equations,
    frames: &'a JointFrames,
    rows: Vec<(f64, Vec<Pull>)>,
}

impl GradientRows<'_> {
    fn add_arrow(&self, arrow: usize, gradient: DVec3, pulls: &mut Vec<Pull>) {
        for &(carrier, weight) in &self.equations.arrows[arrow].terms {
            let (joint, direction) = (carrier.joint(), gradient * weight);
            let place = self.frames.positions[joint];
            if let Carrier::Axis(..) = carrier {
                // An axis is the difference of two places.
                pulls.push(Pull { joint, place: place + carrier.at(self.frames), direction });
                pulls.push(Pull { joint, place, direction: -direction });
            } else {
                pulls.push(Pull { joint, place, direction });
            }
        }
    }

    fn add_dof(&self, named: usize, slope: f64, pulls: &mut Vec<Pull>) {
        let dof = &self.equations.named[named];
        let (joint, place) = (dof.joint, self.frames.positions[dof.joint]);
        let gradient = dof.measure(self.frames).gradient * slope;
        if dof.is_rotation {
            // A torque is a pair of forces.
            let arm = gradient.try_normalize().unwrap_or(DVec3::X).any_orthonormal_vector();
            let direction = gradient.cross(arm);
            pulls.push(Pull { joint, place: place + arm, direction });
            pulls.push(Pull { joint, place, direction: -direction });
        } else {
            pulls.push(Pull { joint, place, direction: gradient });
        }
    }
}

impl RowSink for GradientRows<'_> {
    fn expression(
        &mut self,
        value: f64,
        by_arrow: impl Iterator<Item = (usize, DVec3)>,
        by_dof: impl Iterator<Item = (usize, f64)>,
    ) {
        let mut pulls = Vec::new();
        by_arrow.for_each(|(arrow, gradient)| self.add_arrow(arrow, gradient, &mut pulls));
        by_dof.for_each(|(named, slope)| self.add_dof(named, slope, &mut pulls));
        self.rows.push((value, pulls));
    }
}
