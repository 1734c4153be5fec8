//! Repairing meshes, with a report of what was done.
//!
//! # Source
//! Sinew's own. Splitting at fans follows Guéziec et al., *Cutting and stitching: converting sets of polygons to
//! manifold surfaces* (2001), §3: vertices are duplicated so that every vertex has one fan, after cutting along
//! non-manifold edges.
//! # Cost
//! Linear in the number of faces, except for sorting; a few passes.
//! # Limits
//! Holes are not filled and self-intersections not removed. A surface that cannot be oriented keeps inconsistent edges.
//! A closed surface stays closed, unless it touches itself along an edge and its faces form one fan around both ends of
//! it: then it is cut there. A sheet with faces on both sides counts as open: one side is kept.

mod faces;
mod split;

use super::{EdgeTable, Mesh, Ragged, RawMesh};
use crate::Warnings;
use glam::DVec3;
use std::collections::{HashMap, VecDeque};

/// Which faults to repair; by default all of them, welding only exact coincidences.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepairParams {
    /// Merge vertices of open edges closer than this, in metres; `Some(0.0)` merges exact coincidences, `None`
    /// nothing.
    pub weld: Option<f64>,
    /// Remove faces with a repeated vertex; turn or remove other faces without area, unless that tears a hole.
    pub remove_degenerate: bool,
    /// Keep one of several faces with the same vertices, and none of a wall between two solids or of a fold.
    pub remove_duplicates: bool,
    /// Turn faces until neighbours agree, following the majority of each part.
    pub orient: bool,
    /// Multiply vertices until every edge has at most two faces and every vertex one fan.
    pub split_non_manifold: bool,
    /// Drop vertices without a face.
    pub remove_unreferenced: bool,
}

impl Default for RepairParams {
    fn default() -> Self {
        Self {
            weld: Some(0.0),
            remove_degenerate: true,
            remove_duplicates: true,
            orient: true,
            split_non_manifold: true,
            remove_unreferenced: true,
        }
    }
}

/// Report of a repair.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepairReport {
    /// Original vertex of each new vertex.
    pub vertex_sources: Vec<u32>,
    /// Original triangle of each new triangle. After a turned edge it is the triangle whose place it took.
    pub face_sources: Vec<u32>,
    /// Vertices merged into another.
    pub welded_vertices: usize,
    /// Faces without area removed.
    pub removed_degenerate: usize,
    /// Faces without area that remained, because removing them would make a hole.
    pub kept_degenerate: usize,
    /// Edges turned to give area to a face without area.
    pub turned_edges: usize,
    /// Per turned edge, the original triangles on its two sides, from which the corners of the new ones came.
    pub turned_faces: Vec<[u32; 2]>,
    /// Repeated faces removed.
    pub removed_duplicates: usize,
    /// Faces whose direction was reversed.
    pub flipped_faces: usize,
    /// Vertices added by splitting.
    pub split_vertices: usize,
    /// Vertices without a face removed.
    pub removed_unreferenced: usize,
}

impl RepairReport {
    /// Whether nothing had to be repaired.
    pub fn is_unchanged(&self) -> bool {
        let counts = [
            self.welded_vertices,
            self.removed_degenerate,
            self.turned_edges,
            self.removed_duplicates,
            self.flipped_faces,
            self.split_vertices,
            self.removed_unreferenced,
        ];
        counts.iter().all(|&n| n == 0)
    }

    /// Add one sentence for each kind of repair that was needed.
    pub fn describe(&self, warnings: &mut Warnings) {
        let lines = [
            (self.welded_vertices, "coincident vertices were merged"),
            (self.removed_degenerate, "faces without area were removed"),
            (self.kept_degenerate, "faces without area had to stay, since removing them would tear holes"),
            (self.turned_edges, "edges were turned to give flat faces some area"),
            (self.removed_duplicates, "duplicate faces were removed"),
            (self.flipped_faces, "faces were turned to agree with their neighbours"),
            (self.split_vertices, "vertices were added by splitting non-manifold places"),
            (self.removed_unreferenced, "vertices without a face were removed"),
        ];
        for (n, what) in lines.into_iter().filter(|&(n, _)| n > 0) {
            warnings.push(format!("{n} {what}"));
        }
    }
}

/// Repair a mesh. `may_weld(a, b)` can keep two coincident vertices apart (lips, seams of skin weights).
pub fn repair(
    mesh: &Mesh,
    params: &RepairParams,
    may_weld: impl Fn(u32, u32) -> bool,
) -> (Mesh, RepairReport) {
    let mut work = Repair {
        positions: mesh.positions().to_vec(),
        faces: mesh.faces().to_vec(),
        report: RepairReport {
            vertex_sources: (0..mesh.n_vertices() as u32).collect(),
            face_sources: (0..mesh.n_faces() as u32).collect(),
            ..RepairReport::default()
        },
    };
    if let Some(distance) = params.weld {
        work.weld(distance, may_weld);
    }
    if params.remove_degenerate {
        work.turn_caps();
        work.remove_degenerate();
    }
    if params.remove_duplicates {
        work.remove_duplicates();
    }
    if params.orient {
        work.orient();
    }
    if params.split_non_manifold {
        work.split();
    }
    if params.remove_unreferenced {
        work.remove_unreferenced();
    }
    (Mesh { positions: work.positions, faces: work.faces }, work.report)
}

struct Repair {
    positions: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
    report: RepairReport,
}

impl Repair {
    /// Merge each vertex into the first earlier one within `distance` that it may join. Only open edges are welded:
    /// solids that touch are left alone.
    fn weld(&mut self, distance: f64, may_weld: impl Fn(u32, u32) -> bool) {
        let [low, high] = super::bounds(&self.positions);
        // Below the resolution of the coordinates only equal positions are near, and cells could not be numbered.
        let exact = distance <= 1e-15 * low.distance(high).max(low.length()).max(high.length());
        let distance = if exact { 0.0 } else { distance };
        let cell = if exact { 1.0 } else { distance };
        let key = |p: DVec3| -> [i64; 3] {
            let p = p + DVec3::ZERO;
            if exact {
                p.to_array().map(|x| x.to_bits() as i64)
            } else {
                (p / cell).floor().to_array().map(|x| x as i64)
            }
        };
        let reach = if exact { 0..=0 } else { -1..=1 };
        let mut cells: HashMap<[i64; 3], Vec<u32>> = HashMap::with_capacity(self.positions.len());
        let mut target: Vec<u32> = Vec::with_capacity(self.positions.len());
        let is_open = self.open_vertices();
        for (v, &p) in self.positions.iter().enumerate() {
            let v = v as u32;
            if !is_open[v as usize] {
                target.push(v);
                continue;
            }
            let [x, y, z] = key(p);
            let near = |&u: &u32| {
                self.positions[u as usize].distance_squared(p) <= distance * distance && may_weld(u, v)
            };
            let found = reach
                .clone()
                .flat_map(|i| reach.clone().flat_map(move |j| (-1..=1i64).map(move |k| [i, j, k])))
                .filter(|&[_, _, k]| reach.contains(&k))
                .filter_map(|[i, j, k]| cells.get(&[x.wrapping_add(i), y.wrapping_add(j), z.wrapping_add(k)]))
                .find_map(|cell| cell.iter().copied().find(near));
            if found.is_none() {
                cells.entry([x, y, z]).or_default().push(v);
            }
            target.push(found.unwrap_or(v));
        }
        let n_welded = target.iter().enumerate().filter(|&(v, &t)| v as u32 != t).count();
        self.report.welded_vertices = n_welded;
        if n_welded > 0 {
            self.faces.iter_mut().flatten().for_each(|v| *v = target[*v as usize]);
            self.keep_vertices(|v| target[v as usize] == v);
        }
    }

    /// Vertices at an edge with one face.
    fn open_vertices(&self) -> Vec<bool> {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut is_open = vec![false; self.positions.len()];
        for edge in (0..edges.len()).filter(|&edge| edges.n_uses(edge) == 1) {
            edges.vertices()[edge].iter().for_each(|&v| is_open[v as usize] = true);
        }
        is_open
    }

    /// Walk every part over its two-faced edges and turn the minority.
    fn orient(&mut self) {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let pairs: Vec<(u32, u32, bool)> = (0..edges.len())
            .filter(|&edge| edges.n_uses(edge) == 2)
            .filter_map(|edge| {
                let mut uses = edges.uses(edge);
                let (a, b) = (uses.next()?, uses.next()?);
                Some((a.face, b.face, a.forward == b.forward))
            })
            .collect();
        let across = Ragged::from_pairs(self.faces.len(), || {
            pairs.iter().enumerate().flat_map(|(p, &(a, b, _))| [(a, p as u32), (b, p as u32)])
        });
        let mut flip: Vec<Option<bool>> = vec![None; self.faces.len()];
        let mut queue = VecDeque::new();
        for seed in 0..self.faces.len() {
            if flip[seed].is_some() {
                continue;
            }
            flip[seed] = Some(false);
            queue.push_back(seed);
            let mut part = Vec::new();
            while let Some(face) = queue.pop_front() {
                part.push(face);
                let turned = flip[face].unwrap_or(false);
                for &pair in across.row(face) {
                    let (a, b, disagree) = pairs[pair as usize];
                    let other = if a as usize == face { b } else { a } as usize;
                    if flip[other].is_none() {
                        flip[other] = Some(turned ^ disagree);
                        queue.push_back(other);
                    }
                }
            }
            let n_turned = part.iter().filter(|&&face| flip[face] == Some(true)).count();
            let invert = 2 * n_turned > part.len();
            for face in part {
                if flip[face] == Some(!invert) {
                    self.faces[face].swap(1, 2);
                    self.report.flipped_faces += 1;
                }
            }
        }
    }

    fn copy_vertex(&mut self, v: u32) -> u32 {
        self.positions.push(self.positions[v as usize]);
        self.report.vertex_sources.push(self.report.vertex_sources[v as usize]);
        self.positions.len() as u32 - 1
    }

    fn remove_unreferenced(&mut self) {
        let mut used = vec![false; self.positions.len()];
        self.faces.iter().flatten().for_each(|&v| used[v as usize] = true);
        let before = self.positions.len();
        self.keep_vertices(|v| used[v as usize]);
        self.report.removed_unreferenced = before - self.positions.len();
    }

    /// Drop faces; returns how many were dropped.
    fn keep_faces(&mut self, keep: &[bool]) -> usize {
        let before = self.faces.len();
        let (mut it, mut it2) = (keep.iter(), keep.iter());
        self.faces.retain(|_| it.next().copied().unwrap_or(true));
        self.report.face_sources.retain(|_| it2.next().copied().unwrap_or(true));
        before - self.faces.len()
    }

    /// Drop vertices without a face and renumber the rest.
    fn keep_vertices(&mut self, keep: impl Fn(u32) -> bool) {
        let mut renumbered = vec![u32::MAX; self.positions.len()];
        let mut n_kept = 0;
        for v in 0..self.positions.len() {
            if keep(v as u32) {
                renumbered[v] = n_kept as u32;
                self.positions[n_kept] = self.positions[v];
                self.report.vertex_sources[n_kept] = self.report.vertex_sources[v];
                n_kept += 1;
            }
        }
        self.positions.truncate(n_kept);
        self.report.vertex_sources.truncate(n_kept);
        self.faces.iter_mut().flatten().for_each(|v| *v = renumbered[*v as usize]);
    }
}

impl RawMesh {
    /// The triangles of a valid mesh, to count its defects.
    pub fn from_mesh(mesh: &Mesh) -> Self {
        // Indices of a `Mesh` are in range, so this cannot fail.
        Self::from_triangles(mesh.positions().to_vec(), mesh.faces()).unwrap_or_default()
    }
}
