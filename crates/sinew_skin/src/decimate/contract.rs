//! Edges contracted one after another, the cheapest over all poses first.
//!
//! # Source
//! Antonopoulos (2010), ch. 4: quadrics of the planes around a vertex (eqs. 4.1–4.2, after Garland and Heckbert 1997),
//! summed over the poses (eq. 4.3); second-vertex and optimal placement (§4.4, eqs. 4.7–4.12); flip check (§4.3.2).
//! Differs: the cheaper of the two ends is kept; the rest pose counts as a pose; vertices of an open border move only
//! along it, and an edge is contracted only if the surface stays manifold, neither of which Antonopoulos discusses;
//! planes are weighted by the area of their facet, so that tiny facets do not dominate; normals are checked in up to
//! sixteen poses.
//! # Symbols
//! `Q` [10] symmetric 4 × 4 of a vertex in a pose
//! # Cost
//! A contraction evaluates the edges around one vertex in all poses.

use super::Merge;
use glam::{Mat3, Vec3};
use std::{cmp::Ordering, collections::BinaryHeap};

/// Poses in which facets must not turn over.
const FLIP_POSES: usize = 16;
/// Determinant, relative to the trace, below which the optimal position is undefined (§4.4).
const MIN_RELATIVE_DETERMINANT: f32 = 1e-3;

type Quadric = [f32; 10];

/// A mesh being contracted.
pub(super) struct Contractor {
    n_poses: usize,
    /// Positions, pose by pose within a vertex.
    positions: Vec<Vec3>,
    quadrics: Vec<Quadric>,
    faces: Vec<[u32; 3]>,
    is_gone: Vec<bool>,
    star: Vec<Vec<u32>>,
    locked: Vec<bool>,
    on_border: Vec<bool>,
    versions: Vec<u32>,
    queue: BinaryHeap<Edge>,
    merge: Merge,
    /// The vertex each vertex was merged into; itself while it exists.
    pub parents: Vec<u32>,
    /// Contractions in order: the vertex that was removed and the one that remained.
    pub done: Vec<[u32; 2]>,
}

/// A possible contraction: `from` is removed, `into` remains.
struct Edge {
    cost: f32,
    from: u32,
    into: u32,
    versions: [u32; 2],
}

impl Ord for Edge {
    /// Cheapest first, then by number, so that the order is unique.
    fn cmp(&self, other: &Self) -> Ordering {
        other.cost.total_cmp(&self.cost).then(other.from.cmp(&self.from)).then(other.into.cmp(&self.into))
    }
}

impl PartialOrd for Edge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Edge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Edge {}

impl Contractor {
    /// `positions` hold all poses of a vertex, then of the next. `may_merge` says which ends may be merged.
    pub fn new(
        n_poses: usize,
        positions: Vec<Vec3>,
        faces: Vec<[u32; 3]>,
        locked: Vec<bool>,
        merge: Merge,
        may_merge: &(dyn Fn(u32, u32) -> bool + Sync),
    ) -> Self {
        let n = locked.len();
        let mut star = vec![Vec::new(); n];
        for (index, face) in faces.iter().enumerate() {
            face.iter().for_each(|&v| star[v as usize].push(index as u32));
        }
        let mut contractor = Self {
            n_poses,
            positions,
            quadrics: vec![[0.0; 10]; n * n_poses],
            is_gone: vec![false; faces.len()],
            faces,
            star,
            locked,
            on_border: vec![false; n],
            versions: vec![0; n],
            queue: BinaryHeap::new(),
            merge,
            parents: (0..n as u32).collect(),
            done: Vec::new(),
        };
        contractor.add_planes();
        for v in 0..n as u32 {
            for w in contractor.neighbors(v) {
                if contractor.shared_faces(v, w) == 1 {
                    contractor.on_border[v as usize] = true;
                }
            }
        }
        for v in 0..n as u32 {
            for w in contractor.neighbors(v) {
                if v < w && may_merge(v, w) {
                    contractor.offer(v, w);
                }
            }
        }
        contractor
    }

    /// Queued contractions.
    pub fn n_waiting(&self) -> usize {
        self.queue.len()
    }

    /// Do up to `n` contractions; returns how many were done.
    pub fn contract(&mut self, n: usize, may_merge: &(dyn Fn(u32, u32) -> bool + Sync)) -> usize {
        let mut n_done = 0;
        while n_done < n {
            let Some(edge) = self.queue.pop() else { break };
            let now = [edge.from, edge.into].map(|v| self.versions[v as usize]);
            if now == edge.versions && self.is_valid(edge.from, edge.into) {
                self.merge_into(edge.from, edge.into, may_merge);
                n_done += 1;
            }
        }
        n_done
    }

    /// Positions of a vertex in all poses.
    pub fn poses(&self, v: u32) -> &[Vec3] {
        &self.positions[v as usize * self.n_poses..(v as usize + 1) * self.n_poses]
    }

    /// Facets that are left.
    pub fn faces(&self) -> impl Iterator<Item = [u32; 3]> + '_ {
        self.faces.iter().zip(&self.is_gone).filter(|(_, gone)| !**gone).map(|(face, _)| *face)
    }

    fn add_planes(&mut self) {
        for face in &self.faces {
            for pose in 0..self.n_poses {
                let [a, b, c] = face.map(|v| self.positions[v as usize * self.n_poses + pose]);
                let normal = (b - a).cross(c - a);
                let area = normal.length();
                let Some(n) = normal.try_normalize() else { continue };
                let d = -n.dot(a);
                let q = [
                    n.x * n.x,
                    n.x * n.y,
                    n.x * n.z,
                    n.x * d,
                    n.y * n.y,
                    n.y * n.z,
                    n.y * d,
                    n.z * n.z,
                    n.z * d,
                    d * d,
                ];
                for &v in face {
                    let sum = &mut self.quadrics[v as usize * self.n_poses + pose];
                    sum.iter_mut().zip(q).for_each(|(sum, q)| *sum += area * q);
                }
            }
        }
    }

    fn neighbors(&self, v: u32) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        for &face in &self.star[v as usize] {
            found.extend(self.faces[face as usize].iter().filter(|&&w| w != v));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn shared_faces(&self, v: u32, w: u32) -> usize {
        self.star[v as usize].iter().filter(|&&face| self.faces[face as usize].contains(&w)).count()
    }

    /// Put the cheaper direction of an edge into the queue.
    fn offer(&mut self, v: u32, w: u32) {
        let versions = |from: u32, into: u32| [self.versions[from as usize], self.versions[into as usize]];
        let mut best: Option<Edge> = None;
        for (from, into) in [(v, w), (w, v)] {
            // A border moves only along itself; locked vertices do not move.
            let inwards = self.on_border[from as usize] && !self.on_border[into as usize];
            if self.locked[from as usize]
                || inwards
                || (self.locked[into as usize] && self.merge == Merge::Optimal)
            {
                continue;
            }
            let cost = (0..self.n_poses).map(|pose| self.target(from, into, pose).1).sum();
            if best.as_ref().is_none_or(|best| cost < best.cost) {
                best = Some(Edge { cost, from, into, versions: versions(from, into) });
            }
        }
        self.queue.extend(best);
    }

    /// Position of the merged vertex in a pose, and its cost (eqs. 4.3, 4.7).
    fn target(&self, from: u32, into: u32, pose: usize) -> (Vec3, f32) {
        let [p, r] = [from, into].map(|v| v as usize * self.n_poses + pose);
        let q: Quadric = std::array::from_fn(|k| self.quadrics[p][k] + self.quadrics[r][k]);
        let stays = self.positions[r];
        let place = match self.merge {
            Merge::Second => stays,
            Merge::Optimal => best_place(&q, stays, stays.distance(self.positions[p])),
        };
        (place, cost_at(&q, place))
    }

    /// Whether the surface remains manifold and no facet flips.
    fn is_valid(&self, from: u32, into: u32) -> bool {
        let (a, b) = (self.neighbors(from), self.neighbors(into));
        let common = a.iter().filter(|v| b.binary_search(v).is_ok()).count();
        let shared = self.shared_faces(from, into);
        // An edge between two places of the border that is not itself a border would pinch the surface.
        let pinches = shared == 2 && self.on_border[from as usize] && self.on_border[into as usize];
        if shared == 0 || common != shared || pinches {
            return false;
        }
        let step = self.n_poses.div_ceil(FLIP_POSES).max(1);
        (0..self.n_poses).step_by(step).all(|pose| {
            let (place, _) = self.target(from, into, pose);
            let ends: &[u32] = if self.merge == Merge::Optimal { &[from, into] } else { &[from] };
            ends.iter().all(|&v| self.keeps_normals(v, if v == from { into } else { from }, place, pose))
        })
    }

    /// Whether no facet around `v`, except those of the edge, flips when `v` moves.
    fn keeps_normals(&self, v: u32, other: u32, place: Vec3, pose: usize) -> bool {
        let at = |w: u32| self.positions[w as usize * self.n_poses + pose];
        self.star[v as usize]
            .iter()
            .map(|&face| self.faces[face as usize])
            .filter(|face| !face.contains(&other))
            .all(|face| {
                let normal = |p: [Vec3; 3]| (p[1] - p[0]).cross(p[2] - p[0]);
                let before = normal(face.map(at));
                let after = normal(face.map(|w| if w == v { place } else { at(w) }));
                before.dot(after) > 0.0 || before == Vec3::ZERO
            })
    }

    fn merge_into(&mut self, from: u32, into: u32, may_merge: &(dyn Fn(u32, u32) -> bool + Sync)) {
        for pose in 0..self.n_poses {
            let (place, _) = self.target(from, into, pose);
            let [p, r] = [from, into].map(|v| v as usize * self.n_poses + pose);
            self.positions[r] = place;
            let lost = self.quadrics[p];
            self.quadrics[r].iter_mut().zip(lost).for_each(|(sum, q)| *sum += q);
        }
        for face in std::mem::take(&mut self.star[from as usize]) {
            let corners = &mut self.faces[face as usize];
            if corners.contains(&into) {
                self.is_gone[face as usize] = true;
                let corners = *corners;
                for v in corners.into_iter().filter(|&v| v != from) {
                    self.star[v as usize].retain(|&other| other != face);
                }
            } else {
                corners.iter_mut().filter(|v| **v == from).for_each(|v| *v = into);
                self.star[into as usize].push(face);
            }
        }
        self.parents[from as usize] = into;
        self.done.push([from, into]);
        self.versions[from as usize] += 1;
        self.versions[into as usize] += 1;
        for w in self.neighbors(into) {
            if may_merge(w, into) {
                self.offer(w, into);
            }
        }
    }
}

fn cost_at(q: &Quadric, p: Vec3) -> f32 {
    let [xx, xy, xz, xw, yy, yz, yw, zz, zw, ww] = *q;
    let quadratic =
        p.x * (xx * p.x + 2.0 * (xy * p.y + xz * p.z + xw)) + p.y * (yy * p.y + 2.0 * (yz * p.z + yw));
    (quadratic + p.z * (zz * p.z + 2.0 * zw) + ww).max(0.0)
}

/// The position of least error (eq. 4.12); the second vertex where there is none or it is far off.
fn best_place(q: &Quadric, stays: Vec3, edge: f32) -> Vec3 {
    let [xx, xy, xz, xw, yy, yz, yw, zz, zw, _] = *q;
    let a = Mat3::from_cols(Vec3::new(xx, xy, xz), Vec3::new(xy, yy, yz), Vec3::new(xz, yz, zz));
    let size = (xx + yy + zz) / 3.0;
    if a.determinant() <= MIN_RELATIVE_DETERMINANT * size.powi(3) {
        return stays;
    }
    let place = a.inverse() * -Vec3::new(xw, yw, zw);
    if place.is_finite() && place.distance(stays) <= edge { place } else { stays }
}
