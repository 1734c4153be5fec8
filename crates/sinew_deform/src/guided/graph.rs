//! As-rigid-as-possible deformation of a weighted graph, some of whose nodes are fixed.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), on a graph as in Zhou et al., *Large mesh
//! deformation using the volumetric graph Laplacian* (2005). Differs: rotations are not smoothed. (It costs up to eight
//! percent of distortion and folds the surface; within the iterations, as SR-ARAP does, it takes hundreds of them.)
//! # Symbols
//! `p` rest, `x` posed positions; `w_ij` edge weights; `R_i` rotations; `L` graph Laplacian
//! # Cost
//! new: one sparse Cholesky factorisation. Each step: one pass over the edges or one back-substitution. Factors and
//! edges are stored in single precision, because memory traffic dominates; positions are not, and each step solves for
//! the remainder of the last one, so that rounding errors do not accumulate.

use super::passes::{Covariances, HalfEdges, Residuals};
use crate::DeformError;
use glam::{DMat3, DQuat, DVec3, Vec3};
use sinew_geom::linalg::{self, Cholesky, SparseMatrix, dispatch};

/// A graph ready to be solved.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    /// Rest positions.
    pub rest: Vec<DVec3>,
    half_edges: HalfEdges,
    /// Nodes whose rotation the solution depends on: the free ones, and held ones beside them.
    turning: Vec<u32>,
    /// Free nodes.
    free: Vec<u32>,
    /// Stiffness of the anchor of each node, besides the held ones.
    anchors: Vec<f64>,
    factor: Option<Cholesky<f32>>,
}

/// Where the nodes of a graph are while it is solved.
#[derive(Debug, Clone)]
pub(crate) struct GraphState {
    /// `x`; the fourth number fills a register.
    pub x: Vec<[f64; 4]>,
    /// `R` of all nodes.
    pub rotations: Vec<DQuat>,
    /// `R` of `turning` nodes, as they are fitted.
    turned: Vec<DQuat>,
    /// Columns of `R`, of `turning` nodes.
    matrices: Vec<[[f32; 4]; 3]>,
    /// Right-hand sides of `free` nodes.
    rhs: Vec<[f64; 4]>,
}

/// Nodes at a time, so that what is between two passes stays in the nearest cache.
const CHUNK_NODES: usize = 256;
/// Rounds of rotation fitting per iteration: the next iteration continues from there.
const ROTATION_ROUNDS: usize = 3;

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
        let (mut to, mut terms) = (vec![0; 2 * edges.len()], vec![[0.0; 4]; 2 * edges.len()]);
        let mut sums = vec![[0.0; 4]; n];
        let mut is_turning: Vec<bool> = held.iter().map(|held| !held).collect();
        for &(a, b, w) in edges {
            for (from, other) in [(a, b), (b, a)] {
                let at = next[from as usize] as usize;
                let e = (rest[from as usize] - rest[other as usize]) * w;
                (to[at], terms[at]) = (other, [e.x as f32, e.y as f32, e.z as f32, w as f32]);
                (0..4).for_each(|k| sums[from as usize][k] += terms[at][k]);
                next[from as usize] += 1;
                is_turning[from as usize] |= !held[other as usize];
            }
        }
        let free: Vec<u32> = (0..n as u32).filter(|&i| !held[i as usize]).collect();
        let mut degrees = vec![0.0; n];
        edges.iter().for_each(|&(a, b, w)| [a, b].iter().for_each(|&i| degrees[i as usize] += w));
        (0..n).filter(|&i| starts[i] == starts[i + 1]).for_each(|i| degrees[i] = 1.0);
        let factor = factor(edges, &free, &degrees, &anchors)?;
        let turning = (0..n as u32).filter(|&i| is_turning[i as usize]).collect();
        Ok(Self { rest, half_edges: HalfEdges { starts, to, terms, sums }, turning, free, anchors, factor })
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.rest.len()
    }

    /// Replace the values of free nodes by the harmonic interpolation of those of held nodes; the values of free
    /// nodes that are anchored are their targets.
    pub fn interpolate(&self, values: &mut [f64]) -> Result<(), DeformError> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let targets = values.to_vec();
        // The second round corrects the rounding of the factor.
        for _ in 0..2 {
            let residual = |&i: &u32| {
                let i = i as usize;
                let mut sum = self.anchors[i] * (targets[i] - values[i]);
                for (term, to) in self.half_edges.row(i) {
                    sum += f64::from(term[3]) * (values[to as usize] - values[i]);
                }
                [sum]
            };
            let mut rhs: Vec<[f64; 1]> = self.free.iter().map(residual).collect();
            factor.solve(&mut rhs)?;
            self.free.iter().zip(&rhs).for_each(|(&i, step)| values[i as usize] += step[0]);
        }
        Ok(())
    }

    /// Start from given positions and rotations.
    pub fn begin(&self, x: &[DVec3], rotations: Vec<DQuat>) -> GraphState {
        let mut state = GraphState {
            x: x.iter().map(|p| [p.x, p.y, p.z, 0.0]).collect(),
            turned: Vec::new(),
            matrices: vec![[[0.0; 4]; 3]; self.n_nodes()],
            rhs: vec![[0.0; 4]; self.free.len()],
            rotations,
        };
        self.take_rotations(&mut state);
        state
    }

    /// Turn rotations towards those that fit positions best: those of the state, or others.
    pub fn fit_rotations(&self, state: &mut GraphState, ahead: Option<&[[f64; 4]]>) {
        let GraphState { x, turned, matrices, .. } = state;
        let x = ahead.unwrap_or(x);
        for (nodes, turned) in self.turning.chunks(CHUNK_NODES).zip(turned.chunks_mut(CHUNK_NODES)) {
            let (mut wide, mut covariances) = ([[[0.0; 4]; 3]; CHUNK_NODES], [DMat3::ZERO; CHUNK_NODES]);
            let (wide, covariances) = (&mut wide[..nodes.len()], &mut covariances[..nodes.len()]);
            dispatch(Covariances { edges: &self.half_edges, nodes, x, out: wide });
            for (matrix, wide) in covariances.iter_mut().zip(wide) {
                let [a, b, c] = wide.map(|c| Vec3::new(c[0], c[1], c[2]).as_dvec3());
                *matrix = DMat3::from_cols(a, b, c);
            }
            linalg::fit_rotations(covariances, turned, ROTATION_ROUNDS);
        }
        self.turning.iter().zip(turned).for_each(|(&i, q)| matrices[i as usize] = columns(*q));
    }

    /// Positions for the state's rotations: held nodes stay where they are, the others solve `L x = b`.
    pub fn solve_positions(&self, targets: &[DVec3], state: &mut GraphState) -> Result<(), DeformError> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let GraphState { x, matrices, rhs, .. } = state;
        let (edges, anchors) = (&self.half_edges, &self.anchors);
        for (nodes, out) in self.free.chunks(CHUNK_NODES).zip(rhs.chunks_mut(CHUNK_NODES)) {
            dispatch(Residuals { edges, nodes, x, matrices, anchors, targets, out });
        }
        factor.solve(rhs)?;
        for (&i, step) in self.free.iter().zip(rhs.iter()) {
            (0..3).for_each(|k| x[i as usize][k] += step[k]);
        }
        Ok(())
    }

    /// Write fitted rotations into the array of all rotations.
    pub fn give_rotations(&self, state: &mut GraphState) {
        self.turning.iter().zip(&state.turned).for_each(|(&i, q)| state.rotations[i as usize] = *q);
    }

    /// Read the fitted nodes from the array of all rotations.
    fn take_rotations(&self, state: &mut GraphState) {
        state.turned = self.turning.iter().map(|&i| state.rotations[i as usize]).collect();
        let turned = self.turning.iter().zip(&state.turned);
        turned.for_each(|(&i, q)| state.matrices[i as usize] = columns(*q));
    }
}

/// Columns of a rotation's matrix, each filling a register.
fn columns(rotation: DQuat) -> [[f32; 4]; 3] {
    let m = DMat3::from_quat(rotation);
    [m.x_axis, m.y_axis, m.z_axis].map(|c| [c.x as f32, c.y as f32, c.z as f32, 0.0])
}

/// Factor of `L` of the free nodes, with anchors; none if all are held.
fn factor(
    edges: &[(u32, u32, f64)],
    free: &[u32],
    degrees: &[f64],
    anchors: &[f64],
) -> Result<Option<Cholesky<f32>>, DeformError> {
    if free.is_empty() {
        return Ok(None);
    }
    const HELD_NODE: u32 = u32::MAX;
    let mut unknown = vec![HELD_NODE; degrees.len()];
    free.iter().zip(0..).for_each(|(&i, at)| unknown[i as usize] = at);
    let links = edges.iter().map(|&(a, b, w)| (unknown[a as usize], unknown[b as usize], w));
    let links = links
        .filter(|&(a, b, _)| a != HELD_NODE && b != HELD_NODE)
        .flat_map(|(a, b, w)| [(a, b, -w), (b, a, -w)]);
    let diagonal = free.iter().zip(0..).map(|(&i, at)| (at, at, degrees[i as usize] + anchors[i as usize]));
    let matrix = SparseMatrix::from_triplets(free.len(), free.len(), links.chain(diagonal));
    Ok(Some(Cholesky::new(&matrix)?))
}
