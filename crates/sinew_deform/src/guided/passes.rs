//! The two passes over a graph's edges that every iteration makes, in wide registers. Vectors have a fourth number
//! that is written too, lest the compiler cut them in two and one.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), eqs. 5 and 8.
//! # Symbols
//! `e_ij = w_ij (p_i − p_j)`, `x` posed positions, `R` rotations, `a`, `t` anchors and their targets
//! # Cost
//! About twenty bytes an edge and end, and two positions or a rotation from the nearest cache.

use super::graph::Graph;
use glam::DVec3;
use sinew_geom::linalg::Kernel;

/// `Σ_j (x_i − x_j) e_ijᵀ` of some nodes (eq. 5).
pub(super) struct Covariances<'a> {
    pub graph: &'a Graph,
    pub nodes: &'a [u32],
    pub x: &'a [[f64; 4]],
    pub out: &'a mut [[[f64; 4]; 3]],
}

impl Kernel for Covariances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (&i, out) in self.nodes.iter().zip(self.out) {
            let here = self.x[i as usize];
            let mut sum = [[0.0; 4]; 3];
            for (term, to) in row(self.graph, i as usize) {
                let there = self.x[to as usize];
                let mut d = [0.0; 4];
                for l in 0..4 {
                    d[l] = here[l] - there[l];
                }
                for c in 0..3 {
                    add::<FMA>(&mut sum[c], &d, f64::from(term[c]));
                }
            }
            *out = sum;
        }
    }
}

/// `½ Σ_j (R_i + R_j) e_ij − w_ij (x_i − x_j)`, and `a (t − x)`, of some nodes: what is left of eq. 8.
pub(super) struct Residuals<'a> {
    pub graph: &'a Graph,
    pub nodes: &'a [u32],
    pub x: &'a [[f64; 4]],
    pub matrices: &'a [[[f64; 4]; 3]],
    pub targets: &'a [DVec3],
    pub out: &'a mut [[f64; 4]],
}

impl Kernel for Residuals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (&i, out) in self.nodes.iter().zip(self.out) {
            let i = i as usize;
            let (here, all) = (self.x[i], self.graph.sums[i]);
            // What does not depend on the neighbours has been summed up before.
            let mut turned = [0.0; 4];
            for c in 0..3 {
                add::<FMA>(&mut turned, &self.matrices[i][c], all[c]);
            }
            let mut pulled = [0.0; 4];
            for (term, to) in row(self.graph, i) {
                let matrix = &self.matrices[to as usize];
                for c in 0..3 {
                    add::<FMA>(&mut turned, &matrix[c], f64::from(term[c]));
                }
                let there = self.x[to as usize];
                let mut d = [0.0; 4];
                for l in 0..4 {
                    d[l] = there[l] - here[l];
                }
                add::<FMA>(&mut pulled, &d, f64::from(term[3]));
            }
            let (target, anchor) = (self.targets[i].extend(0.0).to_array(), self.graph.anchors[i]);
            for l in 0..4 {
                out[l] = 0.5 * turned[l] + pulled[l] + anchor * (target[l] - here[l]);
            }
        }
    }
}

/// Half edges of a node.
#[inline(always)]
fn row(graph: &Graph, node: usize) -> impl Iterator<Item = (&[f32; 4], u32)> {
    let span = graph.starts[node] as usize..graph.starts[node + 1] as usize;
    graph.terms[span.clone()].iter().zip(graph.to[span].iter().copied())
}

/// `sum += v · s`.
#[inline(always)]
fn add<const FMA: bool>(sum: &mut [f64; 4], v: &[f64; 4], s: f64) {
    for l in 0..4 {
        sum[l] = if FMA { v[l].mul_add(s, sum[l]) } else { sum[l] + v[l] * s };
    }
}
