//! The two passes over a graph's edges that every iteration makes, in wide registers. Vectors have a fourth component
//! that is written as well, so that the compiler does not split the stores.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), eqs. 5 and 8.
//! # Symbols
//! `e_ij = w_ij (p_i − p_j)`, `x` posed positions, `R` rotations, `a`, `t` anchors and their targets
//! # Cost
//! Twenty bytes per edge and end, and a position, or a rotation and a position, from the nearest cache. Everything but
//! positions is in single precision: fewer bytes, and no conversions, which cost more than the sums.

use glam::DVec3;
use sinew_geom::linalg::{Kernel, fma};

/// Edges of a graph from both of their ends, sorted by node.
#[derive(Debug, Clone)]
pub(super) struct HalfEdges {
    /// Row starts of `to` and `terms`.
    pub starts: Vec<u32>,
    /// Node at the other end of every half edge.
    pub to: Vec<u32>,
    /// `w_ij (p_i − p_j)` and `w_ij` of every half edge.
    pub terms: Vec<[f32; 4]>,
    /// Sums of each node's `terms`.
    pub sums: Vec<[f32; 4]>,
}

impl HalfEdges {
    /// Half edges of a node.
    #[inline(always)]
    pub fn row(&self, node: usize) -> impl Iterator<Item = (&[f32; 4], u32)> {
        let span = self.starts[node] as usize..self.starts[node + 1] as usize;
        self.terms[span.clone()].iter().zip(self.to[span].iter().copied())
    }
}

/// `Σ_j (x_i − x_j) e_ijᵀ` of some nodes (eq. 5).
pub(super) struct Covariances<'a> {
    pub edges: &'a HalfEdges,
    pub nodes: &'a [u32],
    pub x: &'a [[f64; 4]],
    pub out: &'a mut [[[f32; 4]; 3]],
}

impl Kernel for Covariances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (&i, out) in self.nodes.iter().zip(self.out) {
            let here = self.x[i as usize];
            let mut sum = [[0.0; 4]; 3];
            for (term, to) in self.edges.row(i as usize) {
                let d = way(&here, &self.x[to as usize]);
                for c in 0..3 {
                    add::<FMA>(&mut sum[c], &d, term[c]);
                }
            }
            *out = sum;
        }
    }
}

/// `½ Σ_j (R_i + R_j) e_ij − w_ij (x_i − x_j)`, and `a (t − x)`, of some nodes: what is left of eq. 8.
pub(super) struct Residuals<'a> {
    pub edges: &'a HalfEdges,
    pub nodes: &'a [u32],
    pub x: &'a [[f64; 4]],
    pub matrices: &'a [[[f32; 4]; 3]],
    pub anchors: &'a [f64],
    pub targets: &'a [DVec3],
    pub out: &'a mut [[f64; 4]],
}

impl Kernel for Residuals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        for (&i, out) in self.nodes.iter().zip(self.out) {
            let i = i as usize;
            let (here, all) = (self.x[i], self.edges.sums[i]);
            // Sums of each column and of the pulls, so that none waits for another.
            let mut turned = [[0.0; 4]; 3];
            let mut pulled = [0.0; 4];
            for (term, to) in self.edges.row(i) {
                let matrix = &self.matrices[to as usize];
                for c in 0..3 {
                    add::<FMA>(&mut turned[c], &matrix[c], term[c]);
                }
                let d = way(&self.x[to as usize], &here);
                add::<FMA>(&mut pulled, &d, term[3]);
            }
            // `R_i` is the same for all neighbours.
            for c in 0..3 {
                add::<FMA>(&mut turned[c], &self.matrices[i][c], all[c]);
            }
            let (target, anchor) = (self.targets[i].extend(0.0).to_array(), self.anchors[i]);
            for l in 0..4 {
                let inner = 0.5 * (turned[0][l] + turned[1][l] + turned[2][l]) + pulled[l];
                out[l] = f64::from(inner) + anchor * (target[l] - here[l]);
            }
        }
    }
}

/// `a − b`, rounded after the subtraction.
#[inline(always)]
fn way(a: &[f64; 4], b: &[f64; 4]) -> [f32; 4] {
    let mut d = [0.0; 4];
    for l in 0..4 {
        d[l] = (a[l] - b[l]) as f32;
    }
    d
}

/// `sum += v · s`.
#[inline(always)]
fn add<const FMA: bool>(sum: &mut [f32; 4], v: &[f32; 4], s: f32) {
    for l in 0..4 {
        sum[l] = fma::<FMA, _>(v[l], s, sum[l]);
    }
}
