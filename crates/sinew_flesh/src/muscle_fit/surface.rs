//! Forces that give a posed body the shape of another surface.
//!
//! # Source
//! Capell (2004), §6.5.2: the minimum of `C_surf + ω C_smooth` over the forces of eq. 6.5, by correspondence of
//! vertices or by the closest distance, on all vertices or a selection. Differs: because forces and displacements
//! correspond, the search is over displacements, where the cost is a quadratic form (one sparse Cholesky factorisation
//! instead of hundreds of evaluations), and closest points are recomputed until they no longer change (Besl and McKay
//! 1992). The forces are then those that hold the resulting shape, for any material. Smoothness is that of the last
//! round's displacement (iterated Tikhonov).
//! # Symbols
//! `d` displacement of the free nodes from the posed body at rest; `W` weights of nodes at vertices;
//! `(WᵀW / N + ω h² L / V) d = Wᵀ (v̄ − v) / N`, `L` the stiffness of `∫ |∇d|²`, `h` side of a cell, `V` volume
//! # Cost
//! One sparse Cholesky factorisation in a third of the unknowns of a step; per round, one body brought to rest.
//! # Limits
//! Nodes in bones stay where the pose has them.

use super::PosedBody;
use crate::{
    Body, FleshError,
    element::gauss_gradients,
    muscle::MuscleError,
    statics::{free_nodes, holding_forces},
};
use glam::DVec3;
use sinew_geom::{
    Mesh, Warnings,
    linalg::{Cholesky, SparseMatrix},
    measure::{compute_vertex_normals, compute_volume},
    mesh::bounds,
    query::{SurfacePoint, SurfaceTree},
};
use std::collections::BTreeMap;

/// What a vertex is drawn to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Matching {
    /// The vertex of the same number.
    #[default]
    Vertices,
    /// The nearest place of the target.
    Closest,
}

/// How a surface is matched.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceParams {
    /// What a vertex is drawn to.
    pub matching: Matching,
    /// `ω`: how much smoothness counts. Default 0.03.
    pub smooth: f64,
    /// Vertices to match; all if there is no selection.
    pub lasso: Option<Vec<u32>>,
    /// Rounds at most. Default 20.
    pub rounds: usize,
}

impl Default for SurfaceParams {
    fn default() -> Self {
        Self { matching: Matching::Vertices, smooth: 0.03, lasso: None, rounds: 20 }
    }
}

/// Distances of the matched vertices from their target, in metres.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Distances {
    /// Mean.
    pub mean: f64,
    /// Root of the mean square.
    pub rms: f64,
    /// Largest.
    pub max: f64,
}

/// A surface muscle's force, found.
#[derive(Debug, Clone)]
pub struct SurfaceFit {
    /// Forces on nodes in the frame of rest: `η` of eq. 6.6.
    pub forces: Vec<DVec3>,
    /// Displacements of nodes from the posed body without the muscle, in the frame of rest.
    pub displacements: Vec<DVec3>,
    /// Without the muscle.
    pub before: Distances,
    /// With it, after the simulated body has come to rest under its forces.
    pub after: Distances,
    /// Distance of every vertex afterwards; zero for those outside the selection.
    pub distances: Vec<f64>,
    /// Vertices whose nearest place lies on the rim of a hole of the target, which pulls at none.
    pub at_holes: usize,
}

/// Find the forces that give a posed body, at rest without muscles, the shape of a target; the body is left in that shape.
///
/// # Errors
/// Targets of other topology, unit or place; a selection without vertices.
pub fn fit_surface(
    posed: &mut PosedBody,
    faces: &Mesh,
    target: &Mesh,
    params: &SurfaceParams,
    warnings: &mut Warnings,
) -> Result<SurfaceFit, FleshError> {
    let chosen = selection(posed, params)?;
    let start = posed.state.positions.clone();
    let before = posed.positions();
    check_target(faces, &before, target, params.matching)?;
    let matcher = Matcher::new(faces, target, params.matching);
    let (wanted, _) = matcher.targets(&before, &chosen);
    let first = measure(&before, &wanted, &chosen);
    let system = System::new(posed, &chosen, params.smooth)?;
    let mut best = (first.mean, vec![DVec3::ZERO; start.len()]);
    let mut at_holes = 0;
    for _ in 0..params.rounds.max(1) {
        let now = posed.positions();
        let (wanted, n_holes) = matcher.targets(&now, &chosen);
        at_holes = n_holes;
        let moved = system.solve(&posed.body, &now, &wanted, &chosen)?;
        posed.state.positions.iter_mut().zip(&moved).for_each(|(p, d)| *p += *d);
        let holding = holding_forces(&posed.solver, &mut posed.state, &posed.input)?;
        let forces = posed.to_rest(&holding);
        posed.push(holding)?;
        let after = posed.positions();
        let mean = measure(&after, &matcher.targets(&after, &chosen).0, &chosen).mean;
        let is_better = mean < MAX_DISTANCE_RATIO * best.0;
        if mean < best.0 {
            best = (mean, forces);
        }
        if !is_better {
            break;
        }
    }
    if at_holes > 0 {
        warnings.push(format!(
            "{at_holes} of {} vertices are nearest to the rim of a hole of the target; nothing pulls at them",
            chosen.len()
        ));
    }
    let forces = best.1;
    // What counts is where the body comes to rest when the muscle is driven from nothing.
    posed.state.positions.clone_from(&start);
    posed.push(posed.to_pose(&forces))?;
    let moved: Vec<DVec3> = posed.state.positions.iter().zip(&start).map(|(a, b)| *a - *b).collect();
    let displacements = posed.to_rest(&moved);
    let after = posed.positions();
    let (wanted, _) = matcher.targets(&after, &chosen);
    let mut distances = vec![0.0; after.len()];
    chosen.iter().zip(&wanted).for_each(|(&v, to)| distances[v as usize] = after[v as usize].distance(*to));
    let last = measure(&after, &wanted, &chosen);
    Ok(SurfaceFit { forces, displacements, before: first, after: last, distances, at_holes })
}

/// A round that leaves more than this share of the distance is the last.
const MAX_DISTANCE_RATIO: f64 = 0.97;

fn selection(posed: &PosedBody, params: &SurfaceParams) -> Result<Vec<u32>, FleshError> {
    let n = posed.body.embedding.len();
    let Some(lasso) = &params.lasso else { return Ok((0..n as u32).collect()) };
    if let Some(&vertex) = lasso.iter().find(|v| **v as usize >= n) {
        return Err(FleshError::OutOfLattice { what: "selected vertex", index: vertex as usize, len: n });
    }
    let mut chosen = lasso.clone();
    chosen.sort_unstable();
    chosen.dedup();
    if chosen.is_empty() { Err(MuscleError::EmptyLasso.into()) } else { Ok(chosen) }
}

/// Targets beyond this factor of size are of another unit.
const OTHER_SCALE: f64 = 3.0;

fn check_target(faces: &Mesh, at: &[DVec3], target: &Mesh, matching: Matching) -> Result<(), MuscleError> {
    if target.n_faces() == 0 {
        return Err(MuscleError::EmptyTarget);
    }
    if matching == Matching::Vertices && target.n_vertices() != at.len() {
        return Err(MuscleError::OtherTopology { expected: at.len(), actual: target.n_vertices() });
    }
    let ratio = target.diagonal() / faces.diagonal();
    // A part of a body, such as an arm, may be smaller than it.
    let is_part = matching == Matching::Closest && ratio > 1.0 / 30.0;
    if ratio > OTHER_SCALE || (ratio < 1.0 / OTHER_SCALE && !is_part) {
        return Err(MuscleError::OtherScale { ratio });
    }
    let ([a, b], [c, d]) = (bounds(at), target.bounds());
    if a.cmpgt(d).any() || c.cmpgt(b).any() {
        let show = |low: DVec3, high: DVec3| format!("{low:.3} to {high:.3}");
        return Err(MuscleError::NoOverlap { target: show(c, d), body: show(a, b) });
    }
    Ok(())
}

fn measure(at: &[DVec3], wanted: &[DVec3], chosen: &[u32]) -> Distances {
    let each = chosen.iter().zip(wanted).map(|(&v, to)| at[v as usize].distance(*to));
    let n = chosen.len() as f64;
    Distances {
        mean: each.clone().sum::<f64>() / n,
        rms: (each.clone().map(|d| d * d).sum::<f64>() / n).sqrt(),
        max: each.fold(0.0, f64::max),
    }
}

/// Where vertices are drawn to.
struct Matcher<'a> {
    faces: &'a Mesh,
    target: &'a Mesh,
    closest: Option<(SurfaceTree, Vec<bool>, f64)>,
}

impl<'a> Matcher<'a> {
    fn new(faces: &'a Mesh, target: &'a Mesh, matching: Matching) -> Self {
        let closest = (matching == Matching::Closest).then(|| {
            let sides = compute_volume(faces).signum() * compute_volume(target).signum();
            (SurfaceTree::new(target), rim(target), sides)
        });
        Self { faces, target, closest }
    }

    /// Target of each chosen vertex, and how many are drawn nowhere because of holes.
    fn targets(&self, at: &[DVec3], chosen: &[u32]) -> (Vec<DVec3>, usize) {
        let Some((tree, rim, sides)) = &self.closest else {
            return (chosen.iter().map(|&v| self.target.positions()[v as usize]).collect(), 0);
        };
        let normals = compute_vertex_normals(at, self.faces.faces());
        let mut n_holes = 0;
        let mut one = |&v: &u32| {
            let p = at[v as usize];
            let Some(hit) = tree.closest_point(p) else { return p };
            if self.is_rim(rim, &hit) {
                n_holes += 1;
                return p;
            }
            let [a, b, c] =
                self.target.faces()[hit.face as usize].map(|v| self.target.positions()[v as usize]);
            // The far side of a thin part is near, but not meant.
            let facing = normals[v as usize].dot((b - a).cross(c - a)) * sides;
            if facing < 0.0 { p } else { hit.position }
        };
        let targets = chosen.iter().map(&mut one).collect();
        (targets, n_holes)
    }

    /// Whether a place lies on an edge that only one face has.
    fn is_rim(&self, rim: &[bool], hit: &SurfacePoint) -> bool {
        let corners = self.target.faces()[hit.face as usize];
        let near: Vec<u32> =
            corners.iter().zip(hit.barycentric).filter(|(_, w)| *w > 1e-6).map(|(v, _)| *v).collect();
        near.len() < 3 && near.iter().all(|&v| rim[v as usize])
    }
}

/// Vertices of edges that only one face has.
fn rim(mesh: &Mesh) -> Vec<bool> {
    let mut edges: BTreeMap<[u32; 2], usize> = BTreeMap::new();
    for face in mesh.faces() {
        for k in 0..3 {
            let (a, b) = (face[k], face[(k + 1) % 3]);
            *edges.entry([a.min(b), a.max(b)]).or_default() += 1;
        }
    }
    let mut rim = vec![false; mesh.n_vertices()];
    for edge in edges.iter().filter(|(_, n)| **n == 1).map(|(edge, _)| edge) {
        edge.iter().for_each(|&v| rim[v as usize] = true);
    }
    rim
}

/// The normal equations of displacements.
struct System {
    /// For every node the free ones it follows.
    rows: Vec<Vec<(u32, f64)>>,
    factor: Cholesky,
}

impl System {
    fn new(posed: &PosedBody, chosen: &[u32], smooth: f64) -> Result<Self, FleshError> {
        if !(smooth > 0.0 && smooth.is_finite()) {
            let expected = "it must be positive";
            return Err(FleshError::Parameter { name: "weight of smoothness", value: smooth, expected });
        }
        let lattice = &posed.body.lattice;
        let (rows, n) = free_nodes(lattice, &posed.solver.body.is_held);
        let mut entries = Vec::new();
        let mut add = |a: u32, b: u32, value: f64| {
            for &(i, wi) in &rows[a as usize] {
                entries.extend(rows[b as usize].iter().map(|&(j, wj)| (i, j, wi * wj * value)));
            }
        };
        let share = 1.0 / chosen.len() as f64;
        for &vertex in chosen {
            let corners = &lattice.cells()[posed.body.embedding.cell(vertex as usize)];
            let weights = posed.body.embedding.weights(vertex as usize).map(f64::from);
            for (a, wa) in corners.iter().zip(weights) {
                corners.iter().zip(weights).for_each(|(b, wb)| add(*a, *b, share * wa * wb));
            }
        }
        let cells = 0..lattice.n_cells();
        let points: Vec<_> = cells.map(|cell| gauss_gradients(&lattice.corners(cell))).collect();
        let volume = |cell: usize| points[cell].iter().map(|(_, v)| v).sum::<f64>() * lattice.inside()[cell];
        let whole: f64 = (0..points.len()).map(volume).sum();
        let factor = smooth * lattice.size().powi(2) / whole;
        for (cell, points) in points.iter().enumerate() {
            let corners = &lattice.cells()[cell];
            for (gradients, v) in points {
                let v = v * factor * lattice.inside()[cell];
                for (a, ga) in corners.iter().zip(gradients) {
                    corners.iter().zip(gradients).for_each(|(b, gb)| add(*a, *b, v * ga.dot(*gb)));
                }
            }
        }
        let matrix = SparseMatrix::from_triplets(n, n, entries);
        let factor = Cholesky::new(&matrix)?;
        Ok(Self { rows, factor })
    }

    /// Displacements that bring vertices from `at` to where they are wanted.
    fn solve(
        &self,
        body: &Body,
        at: &[DVec3],
        wanted: &[DVec3],
        chosen: &[u32],
    ) -> Result<Vec<DVec3>, FleshError> {
        let mut x = vec![[0.0; 3]; self.factor.n()];
        for (&vertex, wanted) in chosen.iter().zip(wanted) {
            let vertex = vertex as usize;
            let pull = (*wanted - at[vertex]) / chosen.len() as f64;
            let corners = body.lattice.cells()[body.embedding.cell(vertex)];
            for (node, w) in corners.iter().zip(body.embedding.weights(vertex)) {
                for &(free, share) in &self.rows[*node as usize] {
                    (0..3).for_each(|k| x[free as usize][k] += share * f64::from(*w) * pull[k]);
                }
            }
        }
        self.factor.solve(&mut x)?;
        let at = |row: &Vec<(u32, f64)>| {
            row.iter().map(|&(free, w)| DVec3::from_array(x[free as usize]) * w).sum()
        };
        Ok(self.rows.iter().map(at).collect())
    }
}
