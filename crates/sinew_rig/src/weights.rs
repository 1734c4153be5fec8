//! Skin weights by heat that spreads from bones through the solid.
//!
//! # Source
//! Baran and Popović, *Automatic rigging and animation of 3D characters* (2007), §4: `(L + H) wᵢ = H pᵢ`. Differs: solved in
//! the solid instead of on the surface, so that loose parts and open surfaces take part; `pᵢ` by distance along paths
//! inside, as in Dionne and de Lasa, *Geodesic voxel binding for production character meshes* (2013).
//! # Symbols
//! `L` Laplacian of the cells; `H = c / d²` with the distance `d` of a cell from its nearest bone; `pᵢ` 1 where bone `i`
//! is that bone.
//! # Cost
//! One pass of distances and some twenty rounds of conjugate gradients per bone.

use crate::{skeleton::Skeleton, solid::Solid, symmetry::Plane};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, mesh::UnionFind};

/// Cells on the longest side of the solid.
const RESOLUTION: usize = 72;
/// Cells beyond which weights do not change visibly.
const N_CELLS: usize = 30_000;
/// Heat from a bone at one cell's distance, relative to that between cells.
const HEAT: f64 = 0.5;
/// Conjugate gradients end at this residual or after this many rounds.
const TOLERANCE: f64 = 1e-3;
const MOST_ROUNDS: usize = 80;
/// Loose parts smaller than this share of the diagonal move as one piece.
const SMALL_PART: f64 = 0.1;
/// Loose parts smaller than this that mostly belong to one bone are bound to it.
const MEDIUM_PART: f64 = 0.35;

/// The four strongest joints of a vertex.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VertexWeights {
    pub joints: [u16; 4],
    pub weights: [f32; 4],
}

/// Weights of the vertices of a mesh whose diagonal is 1.
pub(crate) fn compute_weights(mesh: &Mesh, skeleton: &Skeleton, _plane: &Plane) -> Vec<VertexWeights> {
    let coarse = Solid::build(mesh, RESOLUTION / 2);
    let solid = Solid::build_like(mesh, &coarse, RESOLUTION, N_CELLS);
    let of_cells = spread_heat(&solid, skeleton);
    let n = skeleton.joints.len();
    let at_vertex = |&point: &DVec3| {
        let mut row = vec![0.0; n];
        for (cell, share) in solid.blend_at(point) {
            row.iter_mut().zip(&of_cells).for_each(|(w, of_bone)| *w += share * f64::from(of_bone[cell]));
        }
        row
    };
    let mut rows: Vec<Vec<f64>> = mesh.positions().par_iter().map(at_vertex).collect();
    bind_loose_parts(mesh, &mut rows);
    rows.par_iter().map(|row| strongest(row)).collect()
}

/// Equilibrium of every bone in every cell.
fn spread_heat(solid: &Solid, skeleton: &Skeleton) -> Vec<Vec<f32>> {
    let n = skeleton.joints.len();
    let distances: Vec<Vec<f32>> = (0..n)
        .into_par_iter()
        .map(|k| solid.distances(&bone_cells(solid, skeleton, k), f64::INFINITY))
        .collect();
    let nearest: Vec<(u32, f64)> = (0..solid.len())
        .into_par_iter()
        .map(|cell| {
            let best = (0..n).min_by(|&a, &b| distances[a][cell].total_cmp(&distances[b][cell])).unwrap_or(0);
            let near = f64::from(distances[best][cell]);
            (best as u32, if near.is_finite() { near } else { 10.0 })
        })
        .collect();
    let heat: Vec<f64> =
        nearest.iter().map(|(_, d)| HEAT * (solid.cell() / (d + 0.5 * solid.cell())).powi(2)).collect();
    let system = HeatSystem::new(solid, heat);
    (0..n as u32)
        .into_par_iter()
        .map(|bone| {
            system.solve(&nearest.iter().map(|(b, _)| f64::from(u8::from(*b == bone))).collect::<Vec<f64>>())
        })
        .collect()
}

/// Cells along a bone: to its children, or beyond the last joint of a chain.
fn bone_cells(solid: &Solid, skeleton: &Skeleton, k: usize) -> Vec<usize> {
    const SAMPLES: usize = 12;
    let here = skeleton.joints[k].position;
    let mut ends: Vec<DVec3> =
        skeleton.joints.iter().filter(|joint| joint.parent == Some(k)).map(|joint| joint.position).collect();
    if ends.is_empty() {
        let before = skeleton.joints[k].parent.map_or(here, |parent| skeleton.joints[parent].position);
        ends.push(here + 0.6 * (here - before));
    }
    let samples = ends
        .iter()
        .flat_map(|&end| (0..SAMPLES).map(move |i| here.lerp(end, i as f64 / (SAMPLES - 1) as f64)));
    let near = |point: DVec3| {
        let cell = solid.nearest(point);
        (solid.points[cell].distance(point) < 2.0 * solid.cell()).then_some(cell)
    };
    let mut cells: Vec<usize> = samples.filter_map(near).collect();
    if cells.is_empty() {
        cells.push(solid.nearest(here));
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// `L + H`, with the neighbours of every cell across its faces.
struct HeatSystem {
    heat: Vec<f64>,
    diagonal: Vec<f64>,
    start: Vec<u32>,
    neighbors: Vec<u32>,
}

impl HeatSystem {
    fn new(solid: &Solid, heat: Vec<f64>) -> Self {
        let near = 1.2 * solid.cell() as f32;
        let (mut start, mut neighbors) = (vec![0], Vec::new());
        for cell in 0..solid.len() {
            neighbors.extend(solid.around(cell).filter(|(_, d)| *d < near).map(|(next, _)| next as u32));
            start.push(neighbors.len() as u32);
        }
        let diagonal = (0..solid.len()).map(|k| f64::from(start[k + 1] - start[k]) + heat[k]).collect();
        Self { heat, diagonal, start, neighbors }
    }

    fn apply(&self, x: &[f64], out: &mut [f64]) {
        for (cell, out) in out.iter_mut().enumerate() {
            let around = &self.neighbors[self.start[cell] as usize..self.start[cell + 1] as usize];
            let flow: f64 = around.iter().map(|&next| x[next as usize]).sum();
            *out = self.diagonal[cell] * x[cell] - flow;
        }
    }

    /// Weights of the bone that is nearest where `p` is 1.
    fn solve(&self, p: &[f64]) -> Vec<f32> {
        let n = p.len();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
        let mut x = p.to_vec();
        let mut product = vec![0.0; n];
        self.apply(&x, &mut product);
        let b: Vec<f64> = p.iter().zip(&self.heat).map(|(p, h)| p * h).collect();
        let goal = TOLERANCE * dot(&b, &b).sqrt();
        let mut r: Vec<f64> = b.iter().zip(&product).map(|(b, ax)| b - ax).collect();
        let mut z: Vec<f64> = r.iter().zip(&self.diagonal).map(|(r, d)| r / d).collect();
        let mut direction = z.clone();
        let mut rz = dot(&r, &z);
        for _ in 0..MOST_ROUNDS {
            if dot(&r, &r).sqrt() <= goal {
                break;
            }
            self.apply(&direction, &mut product);
            let step = rz / dot(&direction, &product).max(1e-300);
            for i in 0..n {
                x[i] += step * direction[i];
                r[i] -= step * product[i];
                z[i] = r[i] / self.diagonal[i];
            }
            let next = dot(&r, &z);
            let turn = next / rz.max(1e-300);
            rz = next;
            for i in 0..n {
                direction[i] = z[i] + turn * direction[i];
            }
        }
        x.iter().map(|&x| x.max(0.0) as f32).collect()
    }
}

/// Small loose parts (eyes, teeth, buttons) move as one piece.
fn bind_loose_parts(mesh: &Mesh, rows: &mut [Vec<f64>]) {
    let parts = find_parts(mesh);
    if parts.len() < 2 {
        return;
    }
    for part in parts {
        let points: Vec<DVec3> = part.iter().map(|&v| mesh.positions()[v]).collect();
        let [low, high] = sinew_geom::mesh::bounds(&points);
        let size = low.distance(high);
        let mut mean = vec![0.0; rows[part[0]].len()];
        part.iter()
            .for_each(|&v| mean.iter_mut().zip(&rows[v]).for_each(|(m, w)| *m += w / part.len() as f64));
        let main = (0..mean.len()).max_by(|&a, &b| mean[a].total_cmp(&mean[b])).unwrap_or(0);
        if size < SMALL_PART && mean[main] < 0.5 {
            part.iter().for_each(|&v| rows[v].copy_from_slice(&mean));
        } else if size < SMALL_PART || (size < MEDIUM_PART && mean[main] > 0.7) {
            part.iter().for_each(|&v| {
                rows[v].fill(0.0);
                rows[v][main] = 1.0;
            });
        }
    }
}

/// Vertices of every connected part; vertices in one place are one.
fn find_parts(mesh: &Mesh) -> Vec<Vec<usize>> {
    const SAME: f64 = 1e-5;
    let n = mesh.n_vertices();
    let key = |v: usize| (mesh.positions()[v] / SAME).round().as_i64vec3().to_array();
    let mut order: Vec<(usize, [i64; 3])> = (0..n).map(|v| (v, key(v))).collect();
    order.sort_unstable_by_key(|&(v, key)| (key, v));
    let mut sets = UnionFind::new(n);
    for pair in order.windows(2) {
        if pair[0].1 == pair[1].1 {
            sets.union(pair[0].0 as u32, pair[1].0 as u32);
        }
    }
    for &[a, b, c] in mesh.faces() {
        sets.union(a, b);
        sets.union(b, c);
    }
    let (labels, n_parts) = sets.labels();
    let mut parts = vec![Vec::new(); n_parts];
    labels.iter().enumerate().for_each(|(v, &part)| parts[part as usize].push(v));
    parts
}

/// The four strongest, which sum to one.
fn strongest(row: &[f64]) -> VertexWeights {
    let mut order: Vec<usize> = (0..row.len()).collect();
    order.sort_by(|&a, &b| row[b].total_cmp(&row[a]).then(a.cmp(&b)));
    order.truncate(4);
    let sum: f64 = order.iter().map(|&k| row[k]).sum();
    let mut out = VertexWeights::default();
    if sum <= 0.0 {
        out.weights[0] = 1.0;
        return out;
    }
    for (slot, &k) in order.iter().enumerate() {
        out.joints[slot] = k as u16;
        out.weights[slot] = (row[k] / sum) as f32;
    }
    out
}
