//! Derivatives of rows by degrees of freedom, from the screws of those.
//!
//! # Source
//! Featherstone, *Rigid Body Dynamics Algorithms* (2008), ch. 2: a degree of freedom moves everything it carries by one
//! screw.
//! # Symbols
//! Velocity of an arrow by degree of freedom `d`: `W_d l_d + a_d × M_d` with `(l_d, a_d)` its screw and `W_d`, `M_d` the
//! weights and the weighted sum of the part of the arrow that `d` carries.

use super::{Equations, RowSink, VectorDerivative};
use crate::{Screw, compile::Carrier, joint_frames::Carriers};
use glam::DVec3;
use std::ops::Range;

/// Velocities of all arrows by the degrees of freedom that move them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Columns {
    arrows: Vec<ArrowColumns>,
    /// Degree of freedom of each velocity, arrow after arrow.
    dofs: Vec<u32>,
    /// Column of each velocity.
    columns: Vec<u32>,
    velocities: Vec<DVec3>,
    /// Columns that change each named degree of freedom, and how much.
    named: Vec<Vec<(u32, f64)>>,
}

#[derive(Debug, Clone)]
struct ArrowColumns {
    segments: Vec<Segment>,
    velocities: Range<usize>,
}

/// Degrees of freedom that carry the same terms of an arrow.
#[derive(Debug, Clone)]
struct Segment {
    terms: Vec<(Carrier, f64)>,
    /// Sum of the weights of places among them.
    weight: f64,
    dofs: Vec<u32>,
}

impl Columns {
    /// Columns numbered as degrees of freedom are. `moving` lists those that move a carrier, `named` those that change
    /// a named degree of freedom.
    pub fn new<I: Iterator<Item = usize>>(
        equations: &Equations,
        moving: impl Fn(Carrier) -> I,
        named: impl Fn(usize) -> Vec<u32>,
    ) -> Self {
        let mut result = Self::default();
        for arrow in &equations.arrows {
            let first = result.dofs.len();
            // Which terms each degree of freedom carries.
            let mut carried: Vec<(u32, Vec<u32>)> = Vec::new();
            for (term, (carrier, _)) in arrow.terms.iter().enumerate() {
                for dof in moving(*carrier) {
                    match carried.iter_mut().find(|(of, _)| *of == dof as u32) {
                        Some((_, terms)) => terms.push(term as u32),
                        None => carried.push((dof as u32, vec![term as u32])),
                    }
                }
            }
            let segments = segments(&arrow.terms, carried);
            segments.iter().for_each(|segment| result.dofs.extend(&segment.dofs));
            result.arrows.push(ArrowColumns { segments, velocities: first..result.dofs.len() });
        }
        result.columns.clone_from(&result.dofs);
        result.velocities = vec![DVec3::ZERO; result.dofs.len()];
        let slopes = |index: usize| named(index).into_iter().map(|column| (column, 1.0)).collect();
        result.named = (0..equations.named.len()).map(slopes).collect();
        result
    }

    /// Degrees of freedom that change anything, in rising order.
    pub fn used(&self) -> Vec<usize> {
        let named = self.named.iter().flatten().map(|(column, _)| *column);
        let mut used: Vec<usize> = self.columns.iter().copied().chain(named).map(|d| d as usize).collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// Number columns otherwise.
    pub fn renumber(&mut self, new: &[u32]) {
        let named = self.named.iter_mut().flatten().map(|(column, _)| column);
        self.columns.iter_mut().chain(named).for_each(|column| *column = new[*column as usize]);
    }

    /// Compute the velocities from frames of joints and the screw of each degree of freedom.
    #[inline(always)]
    pub fn update(&mut self, frames: &impl Carriers, screws: &[Screw]) {
        for arrow in &self.arrows {
            let mut at = arrow.velocities.start;
            for segment in &arrow.segments {
                let mut moved = DVec3::ZERO;
                for (carrier, weight) in &segment.terms {
                    moved += carrier.at(frames) * *weight;
                }
                for &dof in &segment.dofs {
                    let screw = &screws[dof as usize];
                    self.velocities[at] = screw.linear * segment.weight + screw.angular.cross(moved);
                    at += 1;
                }
            }
        }
    }

    /// Set how much each column changes a named degree of freedom.
    pub fn update_slopes(&mut self, named: usize, slope_of: impl Fn(usize) -> f64) {
        self.named[named].iter_mut().for_each(|(column, slope)| *slope = slope_of(*column as usize));
    }

    /// Columns of an arrow with its velocities.
    #[inline(always)]
    pub fn of_arrow(&self, arrow: usize) -> impl Iterator<Item = (usize, DVec3)> + '_ {
        let range = self.arrows[arrow].velocities.clone();
        let columns = &self.columns[range.clone()];
        columns.iter().zip(&self.velocities[range]).map(|(column, velocity)| (*column as usize, *velocity))
    }

    /// Columns of a named degree of freedom, and how much each changes it.
    pub fn of_dof(&self, named: usize) -> &[(u32, f64)] {
        &self.named[named]
    }

    pub fn n_bytes(&self) -> usize {
        let segments = self.arrows.iter().flat_map(|arrow| &arrow.segments);
        let segments: usize = segments.map(|s| 24 * s.terms.len() + 4 * s.dofs.len() + 80).sum();
        segments + self.arrows.len() * size_of::<ArrowColumns>() + 28 * self.velocities.len()
    }
}

fn segments(terms: &[(Carrier, f64)], carried: Vec<(u32, Vec<u32>)>) -> Vec<Segment> {
    let mut segments: Vec<(Vec<u32>, Segment)> = Vec::new();
    for (dof, key) in carried {
        if let Some((_, segment)) = segments.iter_mut().find(|(other, _)| *other == key) {
            segment.dofs.push(dof);
            continue;
        }
        let terms: Vec<(Carrier, f64)> = key.iter().map(|&term| terms[term as usize]).collect();
        let places = terms.iter().filter(|(carrier, _)| matches!(carrier, Carrier::Place(_)));
        let weight = places.map(|(_, weight)| weight).sum();
        segments.push((key, Segment { terms, weight, dofs: vec![dof] }));
    }
    segments.into_iter().map(|(_, segment)| segment).collect()
}

/// Writes rows into a vector and a dense matrix.
pub(crate) struct JacobianRows<'a> {
    pub columns: &'a Columns,
    /// Length of a row of the matrix.
    pub stride: usize,
    /// The next row.
    pub row: usize,
    pub f: &'a mut [f64],
    pub jacobian: &'a mut [f64],
}

impl RowSink for JacobianRows<'_> {
    #[inline(always)]
    fn row<const N: usize>(&mut self, value: f64, parts: [(usize, DVec3); N]) {
        let line = &mut self.jacobian[self.row * self.stride..][..self.stride];
        self.f[self.row] = value;
        line.fill(0.0);
        for (arrow, gradient) in parts {
            for (column, velocity) in self.columns.of_arrow(arrow) {
                line[column] += gradient.dot(velocity);
            }
        }
        self.row += 1;
    }

    #[inline(always)]
    fn vector<const N: usize, D: VectorDerivative>(&mut self, value: DVec3, parts: [(usize, D); N]) {
        let stride = self.stride;
        let lines = &mut self.jacobian[self.row * stride..][..3 * stride];
        self.f[self.row..self.row + 3].copy_from_slice(&value.to_array());
        lines.fill(0.0);
        for (arrow, derivative) in parts {
            for (column, velocity) in self.columns.of_arrow(arrow) {
                let change = derivative.apply(velocity);
                lines[column] += change.x;
                lines[stride + column] += change.y;
                lines[2 * stride + column] += change.z;
            }
        }
        self.row += 3;
    }

    #[inline(always)]
    fn expression(
        &mut self,
        value: f64,
        by_arrow: impl Iterator<Item = (usize, DVec3)>,
        by_dof: impl Iterator<Item = (usize, f64)>,
    ) {
        let line = &mut self.jacobian[self.row * self.stride..][..self.stride];
        self.f[self.row] = value;
        line.fill(0.0);
        for (arrow, gradient) in by_arrow {
            for (column, velocity) in self.columns.of_arrow(arrow) {
                line[column] += gradient.dot(velocity);
            }
        }
        for (dof, derivative) in by_dof {
            for &(column, slope) in self.columns.of_dof(dof) {
                line[column as usize] += derivative * slope;
            }
        }
        self.row += 1;
    }
}
