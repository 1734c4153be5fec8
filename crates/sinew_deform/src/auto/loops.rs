//! Lengths of level sets, and whether each is one loop around a limb or several around something else.

use super::{
    component::Component,
    tree::{Tree, arc_at},
};
use sinew_geom::mesh::Ragged;

/// Levels evenly spaced from the least to the most remote vertex.
pub(super) struct Levels {
    low: f64,
    delta: f64,
    pub count: usize,
}

impl Levels {
    /// `None` if all vertices are equally remote.
    pub fn new(f: &[f64], count: usize) -> Option<Self> {
        let low = f.iter().copied().fold(f64::INFINITY, f64::min);
        let high = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let delta = (high - low) / count as f64;
        (delta > 0.0 && delta.is_finite()).then_some(Self { low, delta, count })
    }

    pub fn level(&self, k: usize) -> f64 {
        self.low + self.delta * k as f64
    }

    /// The strip a value lies in.
    pub fn index(&self, value: f64) -> usize {
        (((value - self.low) / self.delta) as usize).min(self.count - 1)
    }
}

/// The level set of an arc at a level.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct LevelSet {
    pub length: f64,
    /// Length of its longest connected line.
    pub longest: f64,
}

/// Level sets of every arc at every level. Linear in faces and the levels that cross them.
pub(super) fn measure_level_sets(
    part: &Component,
    f: &[f64],
    tree: &Tree,
    levels: &Levels,
) -> Vec<Vec<LevelSet>> {
    let n = levels.count;
    let faces = part.mesh.faces();
    let crossing = Ragged::from_pairs(n, || {
        faces.iter().enumerate().flat_map(|(index, face)| {
            let values = face.map(|v| f[v as usize]);
            let low = values.into_iter().fold(f64::INFINITY, f64::min);
            let high = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
            (levels.index(low)..=levels.index(high))
                .filter(move |&k| low <= levels.level(k) && levels.level(k) < high)
                .map(move |k| (k as u32, index as u32))
        })
    });
    let face_edges = edges_of_faces(part);
    let mut class: Vec<u32> = (0..part.adjacency.edges.len() as u32).collect();
    let mut length = vec![0.0; class.len()];
    let mut sets = vec![vec![LevelSet::default(); n]; tree.arcs.len()];
    for (k, row) in crossing.rows().enumerate() {
        let level = levels.level(k);
        let crossed = |face: u32| {
            let corners = faces[face as usize];
            let mut ends = [(0, glam::DVec3::ZERO); 2];
            let mut count = 0;
            for i in 0..3 {
                let (a, b) = (corners[i] as usize, corners[(i + 1) % 3] as usize);
                if (f[a] > level) != (f[b] > level) && count < 2 {
                    let share = (level - f[a]) / (f[b] - f[a]);
                    let point = part.mesh.positions()[a].lerp(part.mesh.positions()[b], share);
                    ends[count] = (face_edges[face as usize][i], point);
                    count += 1;
                }
            }
            ends
        };
        for edge in row.iter().flat_map(|&face| crossed(face)).map(|(edge, _)| edge) {
            (class[edge as usize], length[edge as usize]) = (edge, 0.0);
        }
        for &face in row {
            let [(a, _), (b, _)] = crossed(face);
            let (a, b) = (find(&mut class, a), find(&mut class, b));
            class[a.max(b) as usize] = a.min(b);
        }
        for &face in row {
            let [(edge, p), (_, q)] = crossed(face);
            let root = find(&mut class, edge) as usize;
            let highest = faces[face as usize].into_iter().fold(faces[face as usize][0], |best, v| {
                if f[v as usize] > f[best as usize] { v } else { best }
            });
            let arc = arc_at(tree, tree.of_vertex[highest as usize] as usize, level);
            length[root] += p.distance(q);
            let set = &mut sets[arc][k];
            set.length += p.distance(q);
            set.longest = set.longest.max(length[root]);
        }
    }
    sets
}

/// The edge from each corner of each face to the next.
fn edges_of_faces(part: &Component) -> Vec<[u32; 3]> {
    let mut edges = vec![[0; 3]; part.mesh.n_faces()];
    for edge in 0..part.adjacency.edges.len() {
        for used in part.adjacency.edges.uses(edge) {
            edges[used.half_edge as usize / 3][used.half_edge as usize % 3] = edge as u32;
        }
    }
    edges
}

fn find(set: &mut [u32], mut x: u32) -> u32 {
    while set[x as usize] != x {
        let up = set[set[x as usize] as usize];
        set[x as usize] = up;
        x = up;
    }
    x
}
