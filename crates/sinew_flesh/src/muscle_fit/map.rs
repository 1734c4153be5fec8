//! A map from one character to another: the cells of the first, moved around the second.
//!
//! # Source
//! Capell (2004), §6.7.1, eqs. 6.7 and 6.8, in four stages: a similarity of the skeletons, then skeletons, features and
//! the whole surface with as little distortion of the cells' angles as possible. Differs: angles are measured by their
//! cosines, whose derivatives have no poles; a barrier (Li et al. 2020) keeps every corner of every cell from
//! inverting; before the search the cells are bent by a radial interpolation of bones and features, so that it begins
//! near the solution.
//! # Symbols
//! `h` the map; `a` angles between edges of a cell at a corner; `v` volume of the corner's unit edges, 1 if upright
//! # Cost
//! Some hundred evaluations of all cells; a closest-point query per vertex every few of them.
//! # Limits
//! Parts that lie outside the cells follow the nearest one.

use super::{Bounds, MinimiseParams, hexes::Hexes, minimise};
use crate::{Body, FleshError, muscle::MuscleError};
use glam::{DAffine3, DMat3, DVec3};
use sinew_geom::{
    Mesh,
    linalg::{DenseCholesky, svd3},
    measure::{compute_vertex_normals, compute_volume},
    query::SurfaceTree,
};
use std::ops::ControlFlow;

/// What counts in a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapParams {
    /// `ω_skel`, for a distance of a diagonal. Default 300.
    pub skeleton: f64,
    /// `ω_f`. Default 1000.
    pub features: f64,
    /// `ω_surf`. Default 1000.
    pub surface: f64,
}

impl Default for MapParams {
    fn default() -> Self {
        Self { skeleton: 300.0, features: 1000.0, surface: 1000.0 }
    }
}

/// What a map is fitted to: pairs of places, the first of the source, the second of the target.
#[derive(Debug, Clone, Default)]
pub struct MapPairs {
    /// Joints of both skeletons.
    pub bones: Vec<[DVec3; 2]>,
    /// Places that a user paired.
    pub features: Vec<[DVec3; 2]>,
}

/// How well a map fits, in diagonals of the target.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MapReport {
    /// Mean distance of joints.
    pub skeleton: f64,
    /// Mean distance of features.
    pub features: f64,
    /// Mean distance of the surface.
    pub surface: f64,
    /// Least volume of a corner's unit edges: 1 in a cube, 0 where a cell folds over.
    pub least_volume: f64,
}

/// A map between the insides of two characters.
#[derive(Debug, Clone)]
pub struct CharacterMap {
    cells: Vec<[u32; 8]>,
    rest: Vec<DVec3>,
    nodes: Vec<DVec3>,
    /// How well it fits.
    pub report: MapReport,
}

/// Vertices of the surface that are matched at most.
const MAX_POINTS: usize = 3000;
/// Below this volume a corner resists.
const BARRIER_VOLUME: f64 = 0.35;
/// Rounds of stages two and three, of closest points in stage four, and between them.
const STAGE_ROUNDS: (usize, usize, usize) = (120, 12, 30);

/// Fit a map from the cells of a body, around `mesh`, to a target.
///
/// # Errors
/// Fewer than three pairs to align by; a map that cannot but fold over.
pub fn fit_map(
    (body, mesh): (&Body, &Mesh),
    target: &Mesh,
    pairs: &MapPairs,
    params: &MapParams,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<CharacterMap, FleshError> {
    let all: Vec<[DVec3; 2]> = pairs.bones.iter().chain(&pairs.features).copied().collect();
    if all.len() < 3 {
        return Err(MuscleError::TooFewFeatures { actual: all.len(), extra: " and joints in common" }.into());
    }
    let first = if pairs.bones.len() >= 3 { &pairs.bones } else { &all };
    let aligned = similarity(first);
    let (cells, rest) = (body.lattice.cells(), body.lattice.nodes());
    let hexes = Hexes::new(rest, cells);
    let fixed = |pairs: &[[DVec3; 2]], weight: f64| -> Vec<Term> {
        let share = weight / (pairs.len().max(1) as f64 * target.diagonal().powi(2));
        let one = |[from, to]: &[DVec3; 2]| {
            let (cell, weights) = hexes.find(*from);
            Term { nodes: cells[cell], weights, target: *to, weight: share }
        };
        pairs.iter().map(one).collect()
    };
    let mut search = Search {
        cells,
        angles: cells.iter().map(|cell| angles(&cell.map(|n| rest[n as usize]))).collect(),
        terms: fixed(&pairs.bones, params.skeleton),
        scale: target.diagonal(),
    };
    let start = bent(rest, cells, &aligned, &all, target.diagonal());
    let mut x: Vec<f64> = start.iter().flat_map(|p| (*p / search.scale).to_array()).collect();
    let go_on = |progress: &mut dyn FnMut(f64) -> ControlFlow<()>, share: f64| progress(share).is_continue();
    search.run(&mut x, STAGE_ROUNDS.0);
    search.terms.extend(fixed(&pairs.features, params.features));
    if go_on(progress, 0.2) {
        search.run(&mut x, STAGE_ROUNDS.0);
    }
    let n_fixed = search.terms.len();
    let skin = Skin::new(body, mesh, target);
    for round in 0..STAGE_ROUNDS.1 {
        if !go_on(progress, 0.3 + 0.7 * round as f64 / STAGE_ROUNDS.1 as f64) {
            break;
        }
        search.terms.truncate(n_fixed);
        search.terms.extend(skin.terms(cells, &search.places(&x), params.surface));
        search.run(&mut x, STAGE_ROUNDS.2);
    }
    let nodes = search.places(&x);
    let mut map =
        CharacterMap { cells: cells.to_vec(), rest: rest.to_vec(), nodes, report: MapReport::default() };
    map.report = map.measure(pairs, &skin, target.diagonal());
    map.check()?;
    Ok(map)
}

impl CharacterMap {
    /// Where a place of the source lies in the target.
    pub fn forward(&self, places: &[DVec3]) -> Vec<DVec3> {
        between(&self.cells, &self.rest, &self.nodes, places)
    }

    /// Where a place of the target lies in the source.
    pub fn backward(&self, places: &[DVec3]) -> Vec<DVec3> {
        between(&self.cells, &self.nodes, &self.rest, places)
    }

    /// Displacements of the source's nodes as displacements at places of the target: `d̄ = J d` (eq. 6.9).
    pub fn carry(&self, displacements: &[DVec3], places: &[DVec3]) -> Vec<DVec3> {
        let slopes = self.slopes();
        let turned: Vec<DVec3> = slopes.iter().zip(displacements).map(|(j, d)| *j * *d).collect();
        let hexes = Hexes::new(&self.nodes, &self.cells);
        let one = |p: &DVec3| {
            let (cell, weights) = hexes.find(*p);
            self.cells[cell].iter().zip(weights).map(|(n, w)| turned[*n as usize] * w).sum()
        };
        places.iter().map(one).collect()
    }

    /// `J` at every node: the affine map that fits the edges around it best.
    fn slopes(&self) -> Vec<DMat3> {
        let n = self.rest.len();
        let (mut square, mut mixed) = (vec![DMat3::ZERO; n], vec![DMat3::ZERO; n]);
        for cell in &self.cells {
            for c in 0..8 {
                for axis in 0..3 {
                    let (a, b) = (cell[c] as usize, cell[c ^ 1 << axis] as usize);
                    let (e, f) = (self.rest[b] - self.rest[a], self.nodes[b] - self.nodes[a]);
                    square[a] += DMat3::from_cols(e * e.x, e * e.y, e * e.z);
                    mixed[a] += DMat3::from_cols(f * e.x, f * e.y, f * e.z);
                }
            }
        }
        square.iter().zip(&mixed).map(|(e, f)| *f * e.inverse()).collect()
    }

    /// Volume of the unit edges at every corner of every cell: the least of each cell.
    pub fn volumes(&self) -> Vec<f64> {
        let least = |cell: &[u32; 8]| {
            let at = cell.map(|n| self.nodes[n as usize]);
            (0..8).map(|c| corner(&at, c).volume).fold(f64::INFINITY, f64::min)
        };
        self.cells.iter().map(least).collect()
    }

    fn check(&self) -> Result<(), MuscleError> {
        let volumes = self.volumes();
        let n_cells = volumes.iter().filter(|v| **v <= 0.0 || v.is_nan()).count();
        match volumes.iter().position(|v| *v <= 0.0 || v.is_nan()) {
            Some(cell) => Err(MuscleError::FoldedMap { n_cells, cell, volume: volumes[cell] }),
            None => Ok(()),
        }
    }

    fn measure(&self, pairs: &MapPairs, skin: &Skin, diagonal: f64) -> MapReport {
        let mean = |pairs: &[[DVec3; 2]]| {
            let from: Vec<DVec3> = pairs.iter().map(|p| p[0]).collect();
            let off = self.forward(&from).iter().zip(pairs).map(|(a, b)| a.distance(b[1])).sum::<f64>();
            off / (pairs.len().max(1) as f64 * diagonal)
        };
        MapReport {
            skeleton: mean(&pairs.bones),
            features: mean(&pairs.features),
            surface: skin.distance(&self.nodes) / diagonal,
            least_volume: self.volumes().into_iter().fold(f64::INFINITY, f64::min),
        }
    }
}

fn between(cells: &[[u32; 8]], from: &[DVec3], to: &[DVec3], places: &[DVec3]) -> Vec<DVec3> {
    let hexes = Hexes::new(from, cells);
    let one = |p: &DVec3| {
        let (cell, weights) = hexes.find(*p);
        cells[cell].iter().zip(weights).map(|(n, w)| to[*n as usize] * w).sum()
    };
    places.iter().map(one).collect()
}

/// Stage one: seven degrees of freedom (Umeyama 1991).
fn similarity(pairs: &[[DVec3; 2]]) -> DAffine3 {
    let n = pairs.len() as f64;
    let mean = |k: usize| pairs.iter().map(|p| p[k]).sum::<DVec3>() / n;
    let (from, to) = (mean(0), mean(1));
    let (mut mixed, mut spread) = (DMat3::ZERO, 0.0);
    for [a, b] in pairs {
        let (a, b) = (*a - from, *b - to);
        mixed += DMat3::from_cols(b * a.x, b * a.y, b * a.z);
        spread += a.length_squared();
    }
    let (u, sigma, v) = svd3(&mixed);
    let scale = if spread > 0.0 { (sigma.element_sum() / spread).max(1e-6) } else { 1.0 };
    let matrix3 = u * v.transpose() * scale;
    DAffine3 { matrix3, translation: to - matrix3 * from }
}

/// The nodes aligned and bent so that pairs nearly meet; by as much as no cell folds over.
fn bent(
    rest: &[DVec3],
    cells: &[[u32; 8]],
    aligned: &DAffine3,
    pairs: &[[DVec3; 2]],
    diagonal: f64,
) -> Vec<DVec3> {
    let reach = 0.3 * diagonal;
    let at: Vec<DVec3> = pairs.iter().map(|[a, _]| aligned.transform_point3(*a)).collect();
    let n = at.len();
    let kernel = |a: DVec3, b: DVec3| (-a.distance(b) / reach).exp();
    let mut square: Vec<f64> = (0..n * n).map(|k| kernel(at[k / n], at[k % n])).collect();
    (0..n).for_each(|i| square[i * n + i] += 1e-2);
    let mut columns: Vec<f64> =
        (0..3).flat_map(|k| (0..n).map(move |i| (i, k))).map(|(i, k)| pairs[i][1][k] - at[i][k]).collect();
    let aligned: Vec<DVec3> = rest.iter().map(|p| aligned.transform_point3(*p)).collect();
    let solved = DenseCholesky::new(n, square).and_then(|factor| factor.solve(&mut columns));
    if solved.is_err() {
        return aligned;
    }
    let way = |p: &DVec3| -> DVec3 {
        let one = |i: usize| DVec3::new(columns[i], columns[n + i], columns[2 * n + i]) * kernel(*p, at[i]);
        (0..n).map(one).sum()
    };
    let ways: Vec<DVec3> = aligned.iter().map(way).collect();
    let mut share = 1.0;
    loop {
        let moved: Vec<DVec3> = aligned.iter().zip(&ways).map(|(p, w)| *p + *w * share).collect();
        let upright = |cell: &[u32; 8]| {
            let at = cell.map(|n| moved[n as usize]);
            (0..8).all(|c| corner(&at, c).volume > 0.1)
        };
        if share < 1e-3 || cells.iter().all(upright) {
            return if share < 1e-3 { aligned } else { moved };
        }
        share *= 0.8;
    }
}

/// A corner of a cell: its edges along the axes, as unit vectors with lengths.
struct Corner {
    units: [DVec3; 3],
    lengths: [f64; 3],
    volume: f64,
}

fn corner(at: &[DVec3; 8], c: usize) -> Corner {
    let edge = |axis: usize| (at[c ^ 1 << axis] - at[c]) * if c >> axis & 1 == 1 { -1.0 } else { 1.0 };
    let edges = [edge(0), edge(1), edge(2)];
    let lengths = edges.map(|e| e.length().max(1e-300));
    let units = [0, 1, 2].map(|k| edges[k] / lengths[k]);
    Corner { units, lengths, volume: DMat3::from_cols(units[0], units[1], units[2]).determinant() }
}

const PAIRS: [(usize, usize); 3] = [(0, 1), (0, 2), (1, 2)];

/// Cosines of the angles at the corners of a cell.
fn angles(at: &[DVec3; 8]) -> [[f64; 3]; 8] {
    std::array::from_fn(|c| {
        let corner = corner(at, c);
        PAIRS.map(|(a, b)| corner.units[a].dot(corner.units[b]))
    })
}

/// A place of a cell that is wanted somewhere.
struct Term {
    nodes: [u32; 8],
    weights: [f64; 8],
    target: DVec3,
    weight: f64,
}

struct Search<'a> {
    cells: &'a [[u32; 8]],
    angles: Vec<[[f64; 3]; 8]>,
    terms: Vec<Term>,
    scale: f64,
}

impl Search<'_> {
    fn places(&self, x: &[f64]) -> Vec<DVec3> {
        x.as_chunks::<3>().0.iter().map(|p| DVec3::from_array(*p) * self.scale).collect()
    }

    fn run(&self, x: &mut [f64], rounds: usize) {
        let params = MinimiseParams { rounds, gain: 1e-6, memory: 12, ..MinimiseParams::default() };
        minimise(x, &Bounds::default(), &params, |x, slope| self.value(x, slope));
    }

    fn value(&self, x: &[f64], slope: &mut [f64]) -> f64 {
        let nodes = self.places(x);
        let mut gradient = vec![DVec3::ZERO; nodes.len()];
        let mut value = 0.0;
        let share = 1.0 / (24.0 * self.cells.len() as f64);
        for (cell, wanted) in self.cells.iter().zip(&self.angles) {
            let at = cell.map(|n| nodes[n as usize]);
            for (c, wanted) in wanted.iter().enumerate() {
                let (added, edges) = distortion(&corner(&at, c), wanted);
                value += share * added;
                for (axis, edge) in edges.iter().enumerate() {
                    let side = if c >> axis & 1 == 1 { -share } else { share };
                    gradient[cell[c ^ 1 << axis] as usize] += *edge * side;
                    gradient[cell[c] as usize] -= *edge * side;
                }
            }
        }
        for term in &self.terms {
            let place: DVec3 = term.nodes.iter().zip(term.weights).map(|(n, w)| nodes[*n as usize] * w).sum();
            let missed = place - term.target;
            value += term.weight * missed.length_squared();
            for (n, w) in term.nodes.iter().zip(term.weights) {
                gradient[*n as usize] += missed * (2.0 * term.weight * w);
            }
        }
        slope
            .as_chunks_mut::<3>()
            .0
            .iter_mut()
            .zip(&gradient)
            .for_each(|(to, g)| *to = (*g * self.scale).to_array());
        value
    }
}

/// What a corner's angles and volume cost, and the derivative by its edges.
fn distortion(corner: &Corner, wanted: &[f64; 3]) -> (f64, [DVec3; 3]) {
    let (u, lengths) = (&corner.units, &corner.lengths);
    let (mut value, mut slope) = (0.0, [DVec3::ZERO; 3]);
    for ((a, b), wanted) in PAIRS.into_iter().zip(wanted) {
        let cosine = u[a].dot(u[b]);
        let off = cosine - wanted;
        value += off * off;
        slope[a] += (u[b] - u[a] * cosine) * (2.0 * off / lengths[a]);
        slope[b] += (u[a] - u[b] * cosine) * (2.0 * off / lengths[b]);
    }
    let v = corner.volume;
    if v <= 0.0 {
        return (f64::INFINITY, slope);
    }
    if v < BARRIER_VOLUME {
        let (low, log) = (v - BARRIER_VOLUME, (v / BARRIER_VOLUME).ln());
        value -= 10.0 * low * low * log;
        let rise = -10.0 * (2.0 * low * log + low * low / v);
        for k in 0..3 {
            let across = u[(k + 1) % 3].cross(u[(k + 2) % 3]);
            slope[k] += (across - u[k] * v) * (rise / lengths[k]);
        }
    }
    (value, slope)
}

/// The surface of the source, matched to that of the target.
struct Skin<'a> {
    body: &'a Body,
    mesh: &'a Mesh,
    target: &'a Mesh,
    tree: SurfaceTree,
    chosen: Vec<usize>,
    sides: f64,
}

impl<'a> Skin<'a> {
    fn new(body: &'a Body, mesh: &'a Mesh, target: &'a Mesh) -> Self {
        let step = mesh.n_vertices().div_ceil(MAX_POINTS).max(1);
        let sides = compute_volume(mesh).signum() * compute_volume(target).signum();
        let chosen = (0..mesh.n_vertices()).step_by(step).collect();
        Self { body, mesh, target, tree: SurfaceTree::new(target), chosen, sides }
    }

    /// Vertices with the nearest places that face the same way.
    fn matches(&self, nodes: &[DVec3]) -> Vec<(usize, DVec3, DVec3)> {
        let at = super::posed::surface_at(self.body, nodes);
        let normals = compute_vertex_normals(&at, self.mesh.faces());
        let one = |&v: &usize| {
            let hit = self.tree.closest_point(at[v])?;
            let [a, b, c] =
                self.target.faces()[hit.face as usize].map(|v| self.target.positions()[v as usize]);
            let facing = normals[v].dot((b - a).cross(c - a)) * self.sides;
            (facing > 0.0).then_some((v, at[v], hit.position))
        };
        self.chosen.iter().filter_map(one).collect()
    }

    fn terms(&self, cells: &[[u32; 8]], nodes: &[DVec3], weight: f64) -> Vec<Term> {
        let matches = self.matches(nodes);
        let share = weight / (matches.len().max(1) as f64 * self.target.diagonal().powi(2));
        let one = |&(v, _, target): &(usize, DVec3, DVec3)| Term {
            nodes: cells[self.body.embedding.cell(v)],
            weights: self.body.embedding.weights(v).map(f64::from),
            target,
            weight: share,
        };
        matches.iter().map(one).collect()
    }

    fn distance(&self, nodes: &[DVec3]) -> f64 {
        let matches = self.matches(nodes);
        matches.iter().map(|(_, a, b)| a.distance(*b)).sum::<f64>() / matches.len().max(1) as f64
    }
}
