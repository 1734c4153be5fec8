//! Redundant faces: those without area, and copies of others.

use super::Repair;
use crate::mesh::{EdgeTable, defects::is_degenerate, union_find::UnionFind};
use std::collections::HashMap;

impl Repair {
    /// Give area to a flat face with three different corners (a cap): turn its longest edge.
    pub(super) fn turn_caps(&mut self) {
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
            let sources = &self.report.face_sources;
            self.report.turned_faces.push([sources[face], sources[other]]);
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

    /// Remove faces without area. A flat face whose removal would tear its neighbours apart remains.
    pub(super) fn remove_degenerate(&mut self) {
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut n_uses: Vec<usize> = (0..edges.len()).map(|edge| edges.n_uses(edge)).collect();
        let mut keep = vec![true; self.faces.len()];
        for (face, corners) in self.faces.iter().enumerate() {
            if !is_degenerate(&self.positions, corners) {
                continue;
            }
            let sides = [0, 1, 2].map(|k| edges.find(corners[k], corners[(k + 1) % 3]));
            let opens = self.opens(corners, sides, &n_uses);
            self.report.kept_degenerate += usize::from(opens);
            if !opens {
                keep[face] = false;
                sides.iter().flatten().for_each(|&side| n_uses[side] -= 1);
            }
        }
        self.report.removed_degenerate = self.keep_faces(&keep);
    }

    /// Whether an edge would lose one of a pair of faces. At a rim nothing is torn: it then follows the other
    /// sides of the flat face.
    fn opens(&self, corners: &[u32; 3], sides: [Option<usize>; 3], n_uses: &[usize]) -> bool {
        let [Some(_), Some(_), Some(_)] = sides else { return false };
        let at = |k: usize| self.positions[corners[k % 3] as usize];
        let length = |k: usize| at(k).distance_squared(at(k + 1));
        let longest = (0..3).max_by(|&i, &j| length(i).total_cmp(&length(j)));
        let used = |k: usize| sides[k].map_or(0, |side| n_uses[side]);
        longest.is_some_and(|k| used(k) != 1) && (0..3).any(|k| used(k) % 2 == 0)
    }

    /// Keep one of several faces with the same vertices, and none of a wall between two solids.
    pub(super) fn remove_duplicates(&mut self) {
        let (copy_of, balance) = self.copies();
        let is_wall = self.walls(&copy_of, &balance);
        let keep: Vec<bool> = copy_of.iter().enumerate().map(|(f, &of)| of == f && !is_wall[f]).collect();
        self.report.removed_duplicates = self.keep_faces(&keep);
    }

    /// The first face with the same vertices, and for these the surplus of one direction over the other; odd counts
    /// never balance.
    fn copies(&self) -> (Vec<usize>, Vec<Option<i32>>) {
        let mut first: HashMap<[u32; 3], usize> = HashMap::with_capacity(self.faces.len());
        let mut balance = vec![None; self.faces.len()];
        let mut copy_of = Vec::with_capacity(self.faces.len());
        for (index, face) in self.faces.iter().enumerate() {
            let mut key = *face;
            key.sort_unstable();
            let of = *first.entry(key).or_insert(index);
            let smallest = face.iter().position(|&v| v == key[0]).unwrap_or(0);
            let direction = if face[(smallest + 1) % 3] == key[1] { 1 } else { -1 };
            *balance[of].get_or_insert(0) += direction;
            copy_of.push(of);
        }
        (copy_of, balance)
    }

    /// Patches of faces in both directions that are attached, along most of their rim, to a surface that is closed
    /// without them: what two solids that share a side leave between them, and folds. A sheet drawn from both sides
    /// is mostly free.
    fn walls(&self, copy_of: &[usize], balance: &[Option<i32>]) -> Vec<bool> {
        let two_sided = |face: usize| balance[face] == Some(0);
        let mut is_wall = vec![false; self.faces.len()];
        if !(0..self.faces.len()).any(two_sided) {
            return is_wall;
        }
        let edges = EdgeTable::from_triangles(self.positions.len(), &self.faces);
        let mut patches = UnionFind::new(self.faces.len());
        // Per edge, a two-sided face at it and the numbers of two-sided and of other faces, copies left out.
        let mut rims: Vec<(u32, usize, usize)> = Vec::new();
        for edge in 0..edges.len() {
            let distinct =
                edges.uses(edge).map(|used| used.face).filter(|&f| copy_of[f as usize] == f as usize);
            let (both, others): (Vec<u32>, Vec<u32>) = distinct.partition(|&f| two_sided(f as usize));
            if let Some((&first, more)) = both.split_first() {
                more.iter().for_each(|&f| _ = patches.union(first, f));
                rims.push((first, both.len(), others.len()));
            }
        }
        // Edges that attach a patch to others, minus its free edges; an edge that others need rules it out.
        let mut hold = vec![0i64; self.faces.len()];
        for (face, n_both, n_others) in rims {
            let patch = &mut hold[patches.find(face) as usize];
            *patch = match (n_others, n_both) {
                (0, 1) => patch.saturating_sub(1),
                (0, _) => *patch,
                (n, _) if n % 2 == 1 => i64::MIN,
                _ => patch.saturating_add(i64::from(*patch != i64::MIN)),
            };
        }
        for (face, is_wall) in is_wall.iter_mut().enumerate() {
            *is_wall = two_sided(face) && hold[patches.find(face as u32) as usize] > 0;
        }
        is_wall
    }
}
