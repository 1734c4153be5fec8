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

use crate::{
    loose_parts,
    skeleton::Skeleton,
    solid::Solid,
    vertex_weights::{Role, VertexWeights, strongest},
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::Mesh;

/// Cells on the longest side of the solid.
const RESOLUTION: usize = 72;
/// Cells beyond which weights do not change visibly.
const N_CELLS: usize = 30_000;
/// Heat from a bone at one cell's distance, relative to that between cells.
const BONE_HEAT: f64 = 2.5;
/// How far the last bone of a chain goes on beyond its joint, in lengths of the bone before.
const LAST_BONE_LENGTHS: f64 = 0.6;
/// Share of the way to its only child that a bone covers: what lies beyond belongs to the child.
const CHILD_SHARE: f64 = 0.9;
/// Share of its length that a bone leaves to its parent where several meet: the pelvis reaches around the hip joints.
const FORK_SHARE: f64 = 0.2;
/// Conjugate gradients end at this residual or after this many rounds.
const TOLERANCE: f64 = 1e-3;
const MAX_ROUNDS: usize = 80;

/// Weights of the vertices of a mesh whose diagonal is 1.
pub(crate) fn compute_weights(mesh: &Mesh, skeleton: &Skeleton, roles: &[Role]) -> Vec<VertexWeights> {
    let coarse = Solid::build(mesh, RESOLUTION / 2);
    let solid = Solid::build_like(mesh, &coarse, RESOLUTION, N_CELLS);
    let n = skeleton.joints.len();
    let of_cells = spread_heat(&solid, skeleton, roles);
    let at_vertex = |row: &mut Vec<f32>, &point: &DVec3| {
        row.fill(0.0);
        for (cell, share) in solid.blend_at(point) {
            let of_cell = &of_cells[cell * n..(cell + 1) * n];
            row.iter_mut().zip(of_cell).for_each(|(w, c)| *w += share as f32 * c);
        }
        strongest(row)
    };
    let mut weights: Vec<VertexWeights> =
        mesh.positions().par_iter().map_init(|| vec![0.0; n], at_vertex).collect();
    loose_parts::bind(mesh, skeleton, roles, &mut weights);
    weights
}

/// Equilibrium of every bone in every cell: `n` numbers per cell.
fn spread_heat(solid: &Solid, skeleton: &Skeleton, roles: &[Role]) -> Vec<f32> {
    let n = skeleton.joints.len();
    let is_inside = |k: usize| near_cell(solid, skeleton.joints[k].position).is_some();
    let moves = |&k: &usize| roles[k] == Role::Moves || (roles[k] == Role::MovesInside && is_inside(k));
    let mut bones: Vec<usize> = (0..n).filter(moves).collect();
    if bones.is_empty() {
        bones = (0..n).collect();
    }
    let mut distances: Vec<Vec<f32>> =
        bones.par_iter().map(|&k| solid.distances(&bone_cells(solid, skeleton, k), f64::INFINITY)).collect();
    let reached: Vec<Option<Vec<f32>>> = (0..bones.len())
        .into_par_iter()
        .map(|bone| reach_end(solid, skeleton, &bones, &distances, bone))
        .collect();
    for (distance, reached) in distances.iter_mut().zip(reached) {
        *distance = reached.unwrap_or_else(|| std::mem::take(distance));
    }
    let nearest: Vec<(u32, f64)> = (0..solid.len())
        .into_par_iter()
        .map(|cell| {
            let distance = |&bone: &usize| distances[bone][cell];
            // Of equally near bones the last: a child rather than its parent.
            let best = (0..bones.len()).rev().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
            let near = f64::from(distances[best][cell]);
            (best as u32, if near.is_finite() { near } else { 10.0 })
        })
        .collect();
    drop(distances);
    let heat: Vec<f64> =
        nearest.iter().map(|(_, d)| BONE_HEAT * (solid.cell() / (d + 0.5 * solid.cell())).powi(2)).collect();
    let system = HeatSystem::new(solid, heat);
    let is_nearest = |bone: u32| nearest.iter().map(move |(b, _)| f64::from(u8::from(*b == bone)));
    let solved: Vec<Vec<f32>> = (0..bones.len() as u32)
        .into_par_iter()
        .map(|bone| system.solve(&is_nearest(bone).collect::<Vec<f64>>()))
        .collect();
    let mut table = vec![0.0; n * solid.len()];
    for (of_bone, &k) in solved.iter().zip(&bones) {
        of_bone.iter().enumerate().for_each(|(cell, &w)| table[cell * n + k] = w);
    }
    table
}

/// The cell at a point that lies in the solid or very near to it.
fn near_cell(solid: &Solid, point: DVec3) -> Option<usize> {
    let cell = solid.nearest(point);
    (solid.points[cell].distance(point) < 2.0 * solid.cell()).then_some(cell)
}

/// Cells along a bone: to its children, or a little beyond the last joint of a chain.
fn bone_cells(solid: &Solid, skeleton: &Skeleton, k: usize) -> Vec<usize> {
    let joints = &skeleton.joints;
    let is_fork = |k: usize| joints.iter().filter(|joint| joint.parent == Some(k)).count() > 1;
    let children = joints.iter().filter(|joint| joint.parent == Some(k));
    let share = if is_fork(k) { 1.0 } else { CHILD_SHARE };
    let mut here = joints[k].position;
    let mut ends: Vec<DVec3> = children.map(|child| here.lerp(child.position, share)).collect();
    if ends.is_empty() {
        let before = joints[k].parent.map_or(here, |parent| joints[parent].position);
        ends.push(here + LAST_BONE_LENGTHS * (here - before));
    } else if joints[k].parent.is_some_and(is_fork) {
        here = here.lerp(ends[0], FORK_SHARE);
    }
    let mut cells: Vec<usize> = Vec::new();
    for end in ends {
        let n = (2.0 * here.distance(end) / solid.cell()) as usize + 1;
        cells.extend((0..=n).filter_map(|i| near_cell(solid, here.lerp(end, i as f64 / n as f64))));
    }
    if cells.is_empty() {
        cells.push(solid.nearest(here));
    }
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Distances from the last bone of a limb, or a head, drawn on to the end of what lies beyond its joint: to fingertips, to the
/// nose. Beyond are cells to which the way from the parent leads past the joint, and which are nearest to these two bones.
fn reach_end(
    solid: &Solid,
    skeleton: &Skeleton,
    bones: &[usize],
    distances: &[Vec<f32>],
    bone: usize,
) -> Option<Vec<f32>> {
    const DETOUR: f64 = 0.6;
    let k = bones[bone];
    let has_child = bones.iter().any(|&other| skeleton.joints[other].parent == Some(k));
    if has_child && !skeleton.joints[k].name.to_lowercase().contains("head") {
        return None;
    }
    let parent = skeleton.joints[k].parent?;
    let before = bones.iter().position(|&other| other == parent)?;
    let (here, there) = (skeleton.joints[k].position, skeleton.joints[parent].position);
    let from_here = solid.distances(&[near_cell(solid, here)?], f64::INFINITY);
    let from_there = solid.distances(&[near_cell(solid, there)?], f64::INFINITY);
    let between = from_there[near_cell(solid, here)?];
    let is_beyond = |&cell: &usize| {
        let detour = from_here[cell] + between - from_there[cell];
        let own = distances[bone][cell].min(distances[before][cell]);
        f64::from(detour) < DETOUR * f64::from(between) && distances.iter().all(|other| other[cell] >= own)
    };
    let end = (0..solid.len())
        .filter(is_beyond)
        .max_by(|&a, &b| from_here[a].total_cmp(&from_here[b]).then(b.cmp(&a)))?;
    let mut cells = bone_cells(solid, skeleton, k);
    let n = (2.0 * here.distance(solid.points[end]) / solid.cell()) as usize + 1;
    // The last fifth is left out: bones end inside the body.
    let point = |i: usize| here.lerp(solid.points[end], 0.8 * i as f64 / n as f64);
    cells.extend((0..=n).filter_map(|i| near_cell(solid, point(i))));
    Some(solid.distances(&cells, f64::INFINITY))
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
        for _ in 0..MAX_ROUNDS {
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
