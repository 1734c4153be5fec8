//! As-rigid-as-possible deformation of a weighted graph, some of whose nodes are held.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), on a graph as in Zhou et al., *Large mesh
//! deformation using the volumetric graph Laplacian* (2005). Differs: rotations may be evened out, once, after
//! the iterations. (Smoothing within them, as SR-ARAP does, needs hundreds of iterations to converge.)
//! # Symbols
//! `p` rest, `x` posed positions; `w_ij` edge weights; `R_i` rotations; `L` graph Laplacian; `D` its diagonal
//! # Cost
//! new: two sparse Cholesky factorisations. Each step: one pass over the edges or one back-substitution.

use crate::DeformError;
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::{self, Cholesky, SparseMatrix};

/// A graph ready to be solved.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// Rest positions.
    pub rest: Vec<DVec3>,
    /// Row starts of `neighbors`.
    starts: Vec<u32>,
    /// Neighbour and weight of every half edge.
    half_edges: Vec<(u32, f64)>,
    /// `w_ij (p_i − p_j)` of every half edge.
    edges: Vec<DVec3>,
    /// Half of the sum of each node's `edges`.
    pulls: Vec<DVec3>,
    /// Unknown of each node, or `u32::MAX` if it is held.
    unknown: Vec<u32>,
    /// Free nodes.
    free: Vec<u32>,
    /// How strongly each node is drawn to its target, besides the held ones.
    anchors: Vec<f64>,
    factor: Option<Cholesky<f64>>,
    /// `D` of all nodes.
    degrees: Vec<f64>,
    /// Factor of `D + τ L`.
    smoother: Cholesky<f64>,
}

const HELD: u32 = u32::MAX;
/// Nodes below which a thread is not worth its hand-over.
const GRAIN: usize = 256;
/// Passes of smoothing: several gentle ones take out creases and leave slow bends and twists.
const PASSES: usize = 3;
/// Rounds of rotation fitting an iteration: the next iteration goes on from there.
const ROUNDS: usize = 3;

impl Graph {
    /// Assemble and factor; `smoothness` is `τ`. Every connected part of the free nodes must have a held or anchored node.
    pub fn new(
        rest: Vec<DVec3>,
        edges: &[(u32, u32, f64)],
        held: &[bool],
        anchors: Vec<f64>,
        smoothness: f64,
    ) -> Result<Self, DeformError> {
        let n = rest.len();
        let mut starts = vec![0u32; n + 1];
        for &(a, b, _) in edges {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut half_edges = vec![(0, 0.0); 2 * edges.len()];
        for &(a, b, w) in edges {
            for (from, to) in [(a, b), (b, a)] {
                half_edges[next[from as usize] as usize] = (to, w);
                next[from as usize] += 1;
            }
        }
        let mut unknown = vec![HELD; n];
        let free: Vec<u32> = (0..n as u32).filter(|&i| !held[i as usize]).collect();
        free.iter().enumerate().for_each(|(at, &i)| unknown[i as usize] = at as u32);
        let smoother = edges.iter().flat_map(|&(a, b, w)| {
            let off = -smoothness * w;
            [(a, b, off), (b, a, off), (a, a, w - off), (b, b, w - off)]
        });
        let lone =
            (0..n as u32).filter(|&i| starts[i as usize] == starts[i as usize + 1]).map(|i| (i, i, 1.0));
        let smoother = Cholesky::new(&SparseMatrix::from_triplets(n, n, smoother.chain(lone)))?;
        let degree = |i: usize| match &half_edges[starts[i] as usize..starts[i + 1] as usize] {
            [] => 1.0,
            row => row.iter().map(|(_, w)| w).sum(),
        };
        let degrees = (0..n).map(degree).collect();
        let span = |i: usize| starts[i] as usize..starts[i + 1] as usize;
        let row = |i: usize| half_edges[span(i)].iter().map(move |&(j, w)| (i, j as usize, w));
        let edges: Vec<DVec3> = (0..n).flat_map(row).map(|(i, j, w)| (rest[i] - rest[j]) * w).collect();
        let pulls = (0..n).map(|i| edges[span(i)].iter().sum::<DVec3>() * 0.5).collect();
        let mut graph = Self {
            rest,
            starts,
            half_edges,
            edges,
            pulls,
            unknown,
            free,
            anchors,
            factor: None,
            degrees,
            smoother,
        };
        if !graph.free.is_empty() {
            graph.factor = Some(Cholesky::new(&graph.matrix())?);
        }
        Ok(graph)
    }

    fn matrix(&self) -> SparseMatrix {
        let mut triplets = Vec::with_capacity(self.half_edges.len() + self.free.len());
        for (at, &i) in self.free.iter().enumerate() {
            let diagonal = self.anchors[i as usize] + self.degrees[i as usize];
            for &(j, w) in self.row(i as usize) {
                if self.unknown[j as usize] != HELD {
                    triplets.push((at as u32, self.unknown[j as usize], -w));
                }
            }
            triplets.push((at as u32, at as u32, diagonal));
        }
        SparseMatrix::from_triplets(self.free.len(), self.free.len(), triplets)
    }

    fn row(&self, node: usize) -> &[(u32, f64)] {
        &self.half_edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    fn edges(&self, node: usize) -> &[DVec3] {
        &self.edges[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.rest.len()
    }

    /// Replace the values of free nodes by the harmonic interpolation of those of held nodes.
    pub fn interpolate<const R: usize>(&self, values: &mut [[f64; R]]) -> Result<(), DeformError> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let mut rhs: Vec<[f64; R]> = self
            .free
            .iter()
            .map(|&i| {
                let mut sum = values[i as usize].map(|v| v * self.anchors[i as usize]);
                for &(j, w) in self.row(i as usize).iter().filter(|(j, _)| self.unknown[*j as usize] == HELD)
                {
                    (0..R).for_each(|k| sum[k] += w * values[j as usize][k]);
                }
                sum
            })
            .collect();
        factor.solve(&mut rhs)?;
        self.free.iter().zip(&rhs).for_each(|(&i, value)| values[i as usize] = *value);
        Ok(())
    }

    /// Turn rotations towards those that fit the positions best.
    pub fn fit_rotations(&self, x: &[DVec3], rotations: &mut [DQuat]) {
        let covariance = |i: usize| {
            let mut sum = DMat3::ZERO;
            for (&(j, _), e) in self.row(i).iter().zip(self.edges(i)) {
                let d = x[i] - x[j as usize];
                sum += DMat3::from_cols(d * e.x, d * e.y, d * e.z);
            }
            sum
        };
        let matrices: Vec<DMat3> =
            (0..self.n_nodes()).into_par_iter().with_min_len(GRAIN).map(covariance).collect();
        linalg::fit_rotations(&matrices, rotations, ROUNDS);
    }

    /// Even rotations out: `(D + τ L) R' = D R`, some times over. Creases spread over a few nodes, so that flesh does not fold
    /// into itself.
    pub fn smooth_rotations(&self, rotations: &mut [DQuat]) -> Result<(), DeformError> {
        // Two columns of each rotation matrix; the third follows from them.
        let mut columns: Vec<[f64; 6]> = rotations
            .iter()
            .zip(&self.degrees)
            .map(|(q, degree)| {
                let [u, v] = [*q * DVec3::X * *degree, *q * DVec3::Y * *degree];
                [u.x, u.y, u.z, v.x, v.y, v.z]
            })
            .collect();
        for pass in 0..PASSES {
            if pass > 0 {
                columns.iter_mut().zip(&self.degrees).for_each(|(c, d)| c.iter_mut().for_each(|x| *x *= d));
            }
            self.smoother.solve(&mut columns)?;
        }
        for (q, c) in rotations.iter_mut().zip(&columns) {
            let (u, v) = (DVec3::new(c[0], c[1], c[2]), DVec3::new(c[3], c[4], c[5]));
            let along = u.normalize_or_zero();
            let across = (v - along * v.dot(along)).normalize_or_zero();
            // Opposite neighbours can cancel out; then the node keeps its own rotation.
            if along != DVec3::ZERO && across != DVec3::ZERO {
                *q = DQuat::from_mat3(&DMat3::from_cols(along, across, along.cross(across)));
            }
        }
        Ok(())
    }

    /// Positions for given rotations: held nodes stay where they are, the others solve `L x = b`.
    pub fn solve_positions(
        &self,
        rotations: &[DQuat],
        targets: &[DVec3],
        x: &mut [DVec3],
    ) -> Result<(), DeformError> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let matrices: Vec<DMat3> = rotations.iter().map(|q| DMat3::from_quat(*q)).collect();
        let value = |&i: &u32| {
            let i = i as usize;
            let mut sum = targets[i] * self.anchors[i] + matrices[i] * self.pulls[i];
            for (&(j, w), e) in self.row(i).iter().zip(self.edges(i)) {
                let j = j as usize;
                sum += matrices[j] * *e * 0.5;
                if self.unknown[j] == HELD {
                    sum += x[j] * w;
                }
            }
            sum.to_array()
        };
        let mut rhs: Vec<[f64; 3]> = self.free.par_iter().with_min_len(GRAIN).map(value).collect();
        factor.solve(&mut rhs)?;
        self.free.iter().zip(&rhs).for_each(|(&i, p)| x[i as usize] = DVec3::from_array(*p));
        Ok(())
    }
}
