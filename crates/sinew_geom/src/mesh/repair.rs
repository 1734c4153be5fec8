//! Mending meshes, with an account of what was done.
//!
//! # Source
//! Own. Splitting at fans follows Guéziec et al., *Cutting and Stitching* (2001), §3: vertices are multiplied
//! so that every vertex has one fan, after cutting along non-manifold edges.
//! # Cost
//! Linear in the faces, but for sorting; a few passes.
//! # Limits
//! Holes are not filled and self-intersections not removed. A surface that cannot be oriented keeps
//! inconsistent edges.

use super::{EdgeTable, Mesh, Ragged, RawMesh, defects::is_degenerate, union_find::UnionFind};
use crate::Warnings;
use glam::DVec3;
use std::collections::{HashMap, HashSet, VecDeque};

/// Which faults to mend; by default all of them, welding only what coincides exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RepairParams {
    /// Merge vertices closer than this, in metres; `Some(0.0)` merges exact coincidences, `None` nothing.
    pub weld: Option<f64>,
    /// Remove faces with a repeated vertex; turn or remove other faces without area.
    pub remove_degenerate: bool,
    /// Keep one of several faces with the same vertices.
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

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RepairReport {
    /// Original vertex of each new vertex.
    pub vertex_sources: Vec<u32>,
    /// Original triangle of each new triangle. Turned edges make it the triangle whose place it took.
    pub face_sources: Vec<u32>,
    /// Vertices merged into another.
    pub welded_vertices: usize,
    /// Faces without area removed.
    pub removed_degenerate: usize,
    /// Edges turned to give a face without area some.
    pub turned_edges: usize,
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
    /// Whether nothing had to be done.
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

/// Mend a mesh. `may_weld(a, b)` can keep two coincident vertices apart (lips, seams of skin weights).
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
    /// Merge each vertex into the first earlier one within `distance` that it may join.
    fn weld(&mut self, distance: f64, may_weld: impl Fn(u32, u32) -> bool) {
        let [low, high] = super::bounds(&self.positions);
        // Below the resolution of the coordinates only equal ones are near, and cells could not be numbered.
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
        for (v, &p) in self.positions.iter().enumerate() {
            let v = v as u32;
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

    /// A flat face with three different corners (a cap) borrows area: turn its longest edge.
    fn turn_caps(&mut self) {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut touched = vec![false; self.faces.len()];
        for face in 0..self.faces.len() {
            let [a, b, c] = self.faces[face];
            let distinct = a != b && b != c && c != a;
            if touched[face] || !distinct || !is_degenerate(&self.positions, &self.faces[face]) {
                continue;
            }
            let Some((mine, other, across)) = self.cap_neighbor(face, &edges) else { continue };
            if touched[other] {
                continue;
            }
            let corner = |k: usize| self.faces[face][(mine + k) % 3];
            let (from, to, apex) = (corner(0), corner(1), corner(2));
            let turned = [[apex, from, across], [across, to, apex]];
            let exists = edges.find(apex, across).is_some();
            if exists || apex == across || turned.iter().any(|f| is_degenerate(&self.positions, f)) {
                continue;
            }
            self.faces[face] = turned[0];
            self.faces[other] = turned[1];
            (touched[face], touched[other]) = (true, true);
            self.report.turned_edges += 1;
        }
    }

    /// The corner at which a cap's longest edge starts, the one face across it and that face's far vertex.
    fn cap_neighbor(&self, face: usize, edges: &EdgeTable) -> Option<(usize, usize, u32)> {
        let corners = self.faces[face];
        let at = |k: usize| self.positions[corners[k % 3] as usize];
        let length = |k: usize| at(k).distance_squared(at(k + 1));
        let longest = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j)))?;
        let (from, to) = (corners[longest], corners[(longest + 1) % 3]);
        let edge = edges.find(from, to)?;
        let mut uses = edges.uses(edge);
        if uses.len() != 2 {
            return None;
        }
        let other = uses.find(|used| used.face as usize != face)?.face as usize;
        let across = self.faces[other].into_iter().find(|&v| v != from && v != to)?;
        Some((longest, other, across))
    }

    fn remove_degenerate(&mut self) {
        let keep: Vec<bool> = self.faces.iter().map(|f| !is_degenerate(&self.positions, f)).collect();
        self.report.removed_degenerate = self.keep_faces(&keep);
    }

    fn remove_duplicates(&mut self) {
        let mut seen = HashSet::with_capacity(self.faces.len());
        let keep: Vec<bool> = self
            .faces
            .iter()
            .map(|face| {
                let mut key = *face;
                key.sort_unstable();
                seen.insert(key)
            })
            .collect();
        self.report.removed_duplicates = self.keep_faces(&keep);
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

    /// Give every fan its own vertex; edges with more than two faces hold no fan together.
    fn split(&mut self) {
        let before = self.positions.len();
        self.split_fans();
        // Faces that meet in a bad edge may still be one fan around both its ends: cut the surplus loose.
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut loose: Vec<usize> = (0..edges.len())
            .filter(|&edge| edges.n_uses(edge) > 2)
            .flat_map(|edge| edges.uses(edge).skip(2).map(|used| used.face as usize).collect::<Vec<_>>())
            .collect();
        loose.sort_unstable();
        loose.dedup();
        if !loose.is_empty() {
            for face in loose {
                for k in 0..3 {
                    self.faces[face][k] = self.copy_vertex(self.faces[face][k]);
                }
            }
            self.split_fans();
        }
        self.report.split_vertices = self.positions.len() - before;
    }

    fn split_fans(&mut self) {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let n_corners = self.faces.len() as u32 * 3;
        let next: Vec<u32> = (0..n_corners).map(|c| c / 3 * 3 + (c + 1) % 3).collect();
        let mut fans = UnionFind::new(n_corners as usize);
        for edge in (0..edges.len()).filter(|&edge| edges.n_uses(edge) == 2) {
            super::defects::join_fans(&mut fans, &edges, edge, &next);
        }
        // The first fan met at a vertex keeps it, each further one receives a copy.
        let mut taken = vec![false; self.positions.len()];
        let mut vertex_of_fan = vec![u32::MAX; n_corners as usize];
        for corner in 0..n_corners {
            let fan = fans.find(corner) as usize;
            let (face, k) = (corner as usize / 3, corner as usize % 3);
            let v = self.faces[face][k];
            if vertex_of_fan[fan] == u32::MAX {
                let fresh = !std::mem::replace(&mut taken[v as usize], true);
                vertex_of_fan[fan] = if fresh { v } else { self.copy_vertex(v) };
            }
            self.faces[face][k] = vertex_of_fan[fan];
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

    /// Drop faces; returns how many went.
    fn keep_faces(&mut self, keep: &[bool]) -> usize {
        let before = self.faces.len();
        let (mut it, mut it2) = (keep.iter(), keep.iter());
        self.faces.retain(|_| it.next().copied().unwrap_or(true));
        self.report.face_sources.retain(|_| it2.next().copied().unwrap_or(true));
        before - self.faces.len()
    }

    /// Drop vertices no face uses any more and renumber the rest.
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
