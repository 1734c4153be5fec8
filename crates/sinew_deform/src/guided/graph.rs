//! As-rigid-as-possible deformation of a weighted graph, some of whose nodes are held.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), on a graph as in Zhou et al., *Large mesh
//! deformation using the volumetric graph Laplacian* (2005). Rotations may be smoothed: Levi and Gotsman,
//! *Smooth rotation enhanced as-rigid-as-possible mesh animation* (2015).
//! # Symbols
//! `p` rest, `x` posed positions; `w_ij` edge weights; `R_i` rotations; `L` graph Laplacian of the free nodes

use crate::DeformError;
use glam::{DMat3, DVec3};
use sinew_geom::linalg::{Cholesky, SparseMatrix, polar};

/// A graph ready to be solved.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// Rest positions.
    pub rest: Vec<DVec3>,
    /// Row starts of `neighbors`.
    starts: Vec<u32>,
    /// Neighbour and weight of every half edge.
    half_edges: Vec<(u32, f64)>,
    /// Unknown of each node, or `u32::MAX` if it is held.
    unknown: Vec<u32>,
    /// Free nodes.
    free: Vec<u32>,
    /// How strongly each node is drawn to its target, besides the held ones.
    anchors: Vec<f64>,
    factor: Option<Cholesky<f64>>,
}

const HELD: u32 = u32::MAX;

impl Graph {
    /// Assemble and factor. Every connected part of the free nodes must have a held or anchored node.
    pub fn new(
        rest: Vec<DVec3>,
        edges: &[(u32, u32, f64)],
        held: &[bool],
        anchors: Vec<f64>,
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
        let mut graph = Self { rest, starts, half_edges, unknown, free, anchors, factor: None };
        if !graph.free.is_empty() {
            graph.factor = Some(Cholesky::new(&graph.matrix())?);
        }
        Ok(graph)
    }

    fn matrix(&self) -> SparseMatrix {
        let mut triplets = Vec::with_capacity(self.half_edges.len() + self.free.len());
        for (at, &i) in self.free.iter().enumerate() {
            let mut diagonal = self.anchors[i as usize];
            for &(j, w) in self.row(i as usize) {
                diagonal += w;
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

    /// The rotations that fit best, smoothed by `alpha` towards those of neighbours.
    pub fn fit_rotations(&self, x: &[DVec3], alpha: f64, rotations: &mut [DMat3]) {
        self.fit_rotations_to(x, alpha, rotations, &[], 0.0)
    }
    pub fn fit_rotations_to(&self, x: &[DVec3], alpha: f64, rotations: &mut [DMat3], guide: &[DMat3], gamma: f64) {
        let before = if alpha > 0.0 { rotations.to_vec() } else { Vec::new() };
        for i in 0..self.n_nodes() {
            let mut s = DMat3::ZERO;
            for &(j, w) in self.row(i) {
                let (e, d) = (self.rest[i] - self.rest[j as usize], x[i] - x[j as usize]);
                let d = d * w;
                s += DMat3::from_cols(d * e.x, d * e.y, d * e.z);
                if alpha > 0.0 {
                    s += before[j as usize] * (2.0 * alpha * w);
                }
            }
            if gamma > 0.0 { let wt: f64 = self.row(i).iter().map(|e| e.1).sum(); s += guide[i] * (gamma * wt); }
            rotations[i] = polar(&s).0;
        }
    }

    pub fn bytes(&self) -> usize { self.factor.as_ref().map_or(0, |f| f.n_bytes()) }
    pub fn smooth(&self, rotations: &mut [DMat3]) {
        let before = rotations.to_vec();
        for i in 0..self.n_nodes() {
            let wt: f64 = self.row(i).iter().map(|e| e.1).sum();
            let mut s = before[i] * wt;
            for &(j, w) in self.row(i) { s += before[j as usize] * w; }
            rotations[i] = polar(&s).0;
        }
    }

    /// Positions for given rotations: held nodes stay where they are, the others solve `L x = b`.
    pub fn solve_positions(
        &self,
        rotations: &[DMat3],
        targets: &[DVec3],
        x: &mut [DVec3],
    ) -> Result<(), DeformError> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let mut rhs: Vec<[f64; 3]> = self
            .free
            .iter()
            .map(|&i| {
                let i = i as usize;
                let mut sum = targets[i] * self.anchors[i];
                for &(j, w) in self.row(i) {
                    let j = j as usize;
                    sum += (rotations[i] + rotations[j]) * (self.rest[i] - self.rest[j]) * (0.5 * w);
                    if self.unknown[j] == HELD {
                        sum += x[j] * w;
                    }
                }
                sum.to_array()
            })
            .collect();
        factor.solve(&mut rhs)?;
        self.free.iter().zip(&rhs).for_each(|(&i, p)| x[i as usize] = DVec3::from_array(*p));
        Ok(())
    }
}
