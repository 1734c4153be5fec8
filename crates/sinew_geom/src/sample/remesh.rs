//! Thinning a fine mesh to a given number of well-shaped triangles, finer where the shape has more detail.
//!
//! # Source
//! Edge collapse under the link condition: Dey et al., *Topology preserving edge contraction* (1999). Edge flips and
//! tangential relaxation: Botsch and Kobbelt, *A remeshing approach to multiresolution modeling* (2004). Differs:
//! shortest relative edge first, until a vertex count is met.
//! # Cost
//! `O(n log n)` in the number of removed vertices, one field projection each.
//! # Limits
//! Closed manifolds only; topology never changes.

use super::field::Regions;
use glam::DVec3;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A collapse may not turn a face by more than this cosine.
const MIN_TURN_COSINE: f64 = 0.3;
/// Nor create an angle with a smaller sine.
const MIN_SINE: f64 = 0.2;
/// Vertices of higher valence are not created by collapsing.
const MAX_VALENCE: usize = 9;

/// A closed triangle mesh that is being modified.
pub(super) struct Remesher<'a> {
    regions: &'a Regions<'a>,
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    /// Faces around each vertex; empty once the vertex is removed.
    around: Vec<Vec<u32>>,
    /// Target relative edge length at each vertex.
    grain: Vec<f64>,
    /// How often a vertex has changed, to recognise stale heap entries.
    version: Vec<u32>,
}

/// Marks a removed face.
const REMOVED_FACE: [u32; 3] = [u32::MAX; 3];

/// Total order on costs, which are finite and not negative.
#[derive(PartialEq)]
struct Cost(f64);
impl Eq for Cost {}
impl PartialOrd for Cost {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Cost {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

type Entry = Reverse<(Cost, u32, u32, u32)>;

impl<'a> Remesher<'a> {
    pub fn new(regions: &'a Regions<'a>, positions: Vec<DVec3>, faces: Vec<[u32; 3]>) -> Self {
        let mut around = vec![Vec::with_capacity(7); positions.len()];
        for (f, face) in faces.iter().enumerate() {
            for &v in face {
                around[v as usize].push(f as u32);
            }
        }
        let mut grain: Vec<f64> = positions.par_iter().map(|&p| regions.owner(p).grain).collect();
        smooth_grain(&mut grain, &faces);
        let version = vec![0; positions.len()];
        Self { regions, positions, faces, around, grain, version }
    }

    /// Collapse edges until `n_vertices` are left, or no edge can be collapsed.
    pub fn thin(&mut self, n_vertices: usize) {
        let mut left = self.positions.len();
        let mut heap: BinaryHeap<Entry> = BinaryHeap::new();
        for face in &self.faces {
            for i in 0..3 {
                let (u, v) = (face[i], face[(i + 1) % 3]);
                if u < v {
                    heap.push(self.entry(u, v));
                }
            }
        }
        while left > n_vertices {
            let Some(Reverse((_, u, v, stamp))) = heap.pop() else { break };
            let stale = self.stamp(u, v) != stamp || self.around[u as usize].is_empty();
            if stale || self.around[v as usize].is_empty() || !self.collapse(u, v) {
                continue;
            }
            left -= 1;
            for w in self.ring(u) {
                heap.push(self.entry(u.min(w), u.max(w)));
            }
        }
    }

    fn stamp(&self, u: u32, v: u32) -> u32 {
        self.version[u as usize].wrapping_add(self.version[v as usize])
    }

    fn entry(&self, u: u32, v: u32) -> Entry {
        let (a, b) = (u as usize, v as usize);
        let length = self.positions[a].distance(self.positions[b]);
        Reverse((Cost(length / (self.grain[a] + self.grain[b])), u, v, self.stamp(u, v)))
    }

    /// Neighbours of a vertex, each once, in the order of its faces.
    fn ring(&self, v: u32) -> Vec<u32> {
        let mut ring = Vec::with_capacity(8);
        for &f in &self.around[v as usize] {
            let face = self.faces[f as usize];
            let i = face.iter().position(|&w| w == v).unwrap_or(0);
            ring.push(face[(i + 1) % 3]);
        }
        ring
    }

    /// Move `v` onto `u`, at the midpoint, if the mesh stays manifold and no face flips.
    fn collapse(&mut self, u: u32, v: u32) -> bool {
        let (ring_u, ring_v) = (self.ring(u), self.ring(v));
        let n_common = ring_u.iter().filter(|w| ring_v.contains(w)).count();
        if n_common != 2 || ring_u.len() + ring_v.len() - 4 > MAX_VALENCE {
            return false;
        }
        // The two side vertices lose a face; one of valence 3 would fold up.
        if ring_u.iter().any(|&w| ring_v.contains(&w) && self.around[w as usize].len() <= 4) {
            return false;
        }
        let (a, b) = (self.positions[u as usize], self.positions[v as usize]);
        let (to, _) = self.regions.project(0.5 * (a + b), 1e-4, a.distance(b));
        if !self.keeps_shape(u, v, to) || !self.keeps_shape(v, u, to) {
            return false;
        }
        self.positions[u as usize] = to;
        self.grain[u as usize] = 0.5 * (self.grain[u as usize] + self.grain[v as usize]);
        for f in std::mem::take(&mut self.around[v as usize]) {
            if self.faces[f as usize].contains(&u) {
                for w in std::mem::replace(&mut self.faces[f as usize], REMOVED_FACE) {
                    self.around[w as usize].retain(|&g| g != f);
                }
            } else {
                for w in self.faces[f as usize].iter_mut().filter(|w| **w == v) {
                    *w = u;
                }
                self.around[u as usize].push(f);
            }
        }
        self.version[u as usize] = self.version[u as usize].wrapping_add(1);
        true
    }

    /// Whether the faces around `moved`, except those at `other`, stay valid when it moves to `to`.
    fn keeps_shape(&self, moved: u32, other: u32, to: DVec3) -> bool {
        self.around[moved as usize].iter().map(|&f| self.faces[f as usize]).all(|face| {
            if face.contains(&other) {
                return true;
            }
            let before = face.map(|w| self.positions[w as usize]);
            let after = face.map(|w| if w == moved { to } else { self.positions[w as usize] });
            let (n, m) = (normal(before), normal(after));
            n.dot(m) > MIN_TURN_COSINE * n.length() * m.length() && min_sine(after) > MIN_SINE
        })
    }

    /// Alternate flips and relaxation.
    pub fn polish(&mut self, rounds: usize) {
        for _ in 0..rounds {
            self.flip_edges();
            self.relax();
        }
        self.flip_edges();
    }

    /// Flip edges whose opposite angles sum to more than a half turn, where the surface is smooth enough.
    fn flip_edges(&mut self) {
        for _ in 0..4 {
            let mut n_flips = 0;
            for f in 0..self.faces.len() {
                for i in 0..3 {
                    if self.faces[f] != REMOVED_FACE && self.try_flip(f, i) {
                        n_flips += 1;
                    }
                }
            }
            if n_flips == 0 {
                break;
            }
        }
    }

    /// Flip the edge from corner `i` of face `f` if that makes better triangles.
    fn try_flip(&mut self, f: usize, i: usize) -> bool {
        let face = self.faces[f];
        let (u, v, a) = (face[i], face[(i + 1) % 3], face[(i + 2) % 3]);
        let twin = |&&g: &&u32| g as usize != f && self.faces[g as usize].contains(&v);
        let Some(&g) = self.around[u as usize].iter().find(twin) else { return false };
        let other = self.faces[g as usize];
        let Some(&b) = other.iter().find(|&&w| w != u && w != v) else { return false };
        let p = |w: u32| self.positions[w as usize];
        let before = min_sine([p(u), p(v), p(a)]).min(min_sine([p(v), p(u), p(b)]));
        let after = min_sine([p(a), p(u), p(b)]).min(min_sine([p(b), p(v), p(a)]));
        if after <= before * 1.001 {
            return false;
        }
        // Never fold, never break a vertex's fan, never create an edge that exists.
        let (old, new) = (
            [normal([p(u), p(v), p(a)]), normal([p(v), p(u), p(b)])],
            [normal([p(a), p(u), p(b)]), normal([p(b), p(v), p(a)])],
        );
        let mean = old[0] + old[1];
        let flat = |n: DVec3| n.dot(mean) > 0.75 * n.length() * mean.length();
        let bent = new[0].dot(new[1]) < 0.6 * new[0].length() * new[1].length();
        let thin = self.around[u as usize].len() <= 4 || self.around[v as usize].len() <= 4;
        let joined = self.around[a as usize].iter().any(|&h| self.faces[h as usize].contains(&b));
        if thin || joined || bent || !flat(new[0]) || !flat(new[1]) {
            return false;
        }
        self.faces[f] = [a, u, b];
        self.faces[g as usize] = [b, v, a];
        self.around[v as usize].retain(|&h| h as usize != f);
        self.around[u as usize].retain(|&h| h != g);
        self.around[a as usize].push(g);
        self.around[b as usize].push(f as u32);
        true
    }

    /// Slide each vertex towards the weighted middle of its faces and back onto the field.
    fn relax(&mut self) {
        let faces: Vec<(DVec3, f64)> = self.faces.par_iter().map(|&face| self.face_center(face)).collect();
        self.positions = (0..self.positions.len())
            .into_par_iter()
            .map(|v| {
                let p = self.positions[v];
                if self.around[v].is_empty() {
                    return p;
                }
                let weighted = |sum: (DVec3, f64), &f: &u32| {
                    let (center, weight) = faces[f as usize];
                    (sum.0 + center * weight, sum.1 + weight)
                };
                let (sum, total) = self.around[v].iter().fold((DVec3::ZERO, 0.0), weighted);
                let shift = sum / total - p;
                let limit = 0.7 * shift.length().max(1e-4);
                let n: DVec3 = self.around[v]
                    .iter()
                    .map(|&f| normal(self.faces[f as usize].map(|w| self.positions[w as usize])))
                    .sum();
                let n = n.normalize_or(DVec3::Y);
                let slid = p + (shift - n * shift.dot(n)) * 0.6;
                self.regions.project(slid, 1e-4, limit).0
            })
            .collect();
    }

    fn face_center(&self, face: [u32; 3]) -> (DVec3, f64) {
        if face == REMOVED_FACE {
            return (DVec3::ZERO, 0.0);
        }
        let p = face.map(|v| self.positions[v as usize]);
        let grain: f64 = face.iter().map(|&v| self.grain[v as usize]).sum::<f64>() / 3.0;
        ((p[0] + p[1] + p[2]) / 3.0, normal(p).length().max(1e-12) / (grain * grain))
    }

    /// Move vertices next to a border between materials onto it, so that colours meet along edges.
    pub fn snap_borders(&mut self) {
        let regions = self.regions;
        let tints: Vec<usize> = self.positions.par_iter().map(|&p| regions.owner(p).tint).collect();
        let mut moves: Vec<(DVec3, f64)> = vec![(DVec3::ZERO, 0.0); self.positions.len()];
        for face in self.faces.iter().filter(|&&face| face != REMOVED_FACE) {
            for i in 0..3 {
                let (u, v) = (face[i] as usize, face[(i + 1) % 3] as usize);
                if u < v && tints[u] != tints[v] {
                    let (t, at) = self.border_on_edge(u, v, tints[u]);
                    let mine = &mut moves[if t < 0.5 { u } else { v }];
                    *mine = (mine.0 + at, mine.1 + 1.0);
                }
            }
        }
        for v in (0..moves.len()).filter(|&v| moves[v].1 > 0.0) {
            let (sum, count) = moves[v];
            let p = self.positions[v];
            let (to, _) = regions.project(sum / count, 1e-4, p.distance(sum / count));
            if self.keeps_shape(v as u32, u32::MAX, to) {
                self.positions[v] = to;
            }
        }
    }

    /// Where the material changes between `u`, whose tint is given, and `v`.
    fn border_on_edge(&self, u: usize, v: usize, tint: usize) -> (f64, DVec3) {
        let (mut low, mut high) = (0.0, 1.0);
        let at = |t: f64| self.positions[u].lerp(self.positions[v], t);
        for _ in 0..7 {
            let middle = 0.5 * (low + high);
            let same = self.regions.owner(at(middle)).tint == tint;
            *if same { &mut low } else { &mut high } = middle;
        }
        (low, at(low))
    }

    /// Positions and faces without removed ones, in their old order.
    pub fn finish(self) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut renamed = vec![u32::MAX; self.positions.len()];
        let mut positions = Vec::new();
        for v in (0..self.positions.len()).filter(|&v| !self.around[v].is_empty()) {
            renamed[v] = positions.len() as u32;
            positions.push(self.positions[v]);
        }
        let live = self.faces.into_iter().filter(|&face| face != REMOVED_FACE);
        (positions, live.map(|face| face.map(|v| renamed[v as usize])).collect())
    }
}

/// Blur the target edge length over the surface, so that it changes gradually.
fn smooth_grain(grain: &mut Vec<f64>, faces: &[[u32; 3]]) {
    for _ in 0..3 {
        let mut sums: Vec<(f64, f64)> = grain.iter().map(|&g| (g, 1.0)).collect();
        for face in faces {
            for i in 0..3 {
                let sum = &mut sums[face[i] as usize];
                *sum = (sum.0 + grain[face[(i + 1) % 3] as usize], sum.1 + 1.0);
            }
        }
        *grain = sums.into_iter().map(|(sum, n)| sum / n).collect();
    }
}

/// Normal of a triangle, twice its area long.
pub(super) fn normal(p: [DVec3; 3]) -> DVec3 {
    (p[1] - p[0]).cross(p[2] - p[0])
}

/// Sine of the smallest angle of a triangle: twice the area over the product of its two longer sides.
pub(super) fn min_sine(p: [DVec3; 3]) -> f64 {
    let mut sides = [p[0].distance(p[1]), p[1].distance(p[2]), p[2].distance(p[0])];
    sides.sort_by(f64::total_cmp);
    normal(p).length() / (sides[1] * sides[2]).max(1e-300)
}
