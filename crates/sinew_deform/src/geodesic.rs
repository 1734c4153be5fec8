//! Distances over a surface, along edges and straight across pairs of faces.
//!
//! # Source
//! Dijkstra (1959), over the edges of the mesh and the diagonals of the quadrilaterals that two neighbouring faces form
//! when laid flat. The diagonals halve the error of edges alone and are worth their cost.
//! # Cost
//! new: linear. Distances: `O(n log n)`, or only the part within the limit.
//! # Limits
//! An upper bound of the distance on the surface, too long by up to a fifth across stretched faces. Edges with more or
//! fewer than two faces get no diagonal.

use glam::DVec3;
use sinew_geom::{Mesh, mesh::Adjacency};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Steps one can take from vertex to vertex, with their lengths.
#[derive(Debug, Clone)]
pub(crate) struct Steps {
    starts: Vec<u32>,
    steps: Vec<(u32, f64)>,
}

impl Steps {
    /// Steps of a mesh.
    pub fn new(mesh: &Mesh, adjacency: &Adjacency) -> Self {
        let at = |v: u32| mesh.positions()[v as usize];
        let edges = adjacency.edges.vertices().iter().map(|&[a, b]| (a, b, at(a).distance(at(b))));
        let diagonals = (0..adjacency.edges.len()).filter_map(|edge| diagonal(mesh, adjacency, edge));
        let all: Vec<(u32, u32, f64)> = edges.chain(diagonals).collect();
        let mut starts = vec![0u32; mesh.n_vertices() + 1];
        for &(a, b, _) in &all {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        }
        (0..mesh.n_vertices()).for_each(|v| starts[v + 1] += starts[v]);
        let mut next = starts.clone();
        let mut steps = vec![(0, 0.0); 2 * all.len()];
        let mut put = |from: u32, to: u32, length: f64| {
            steps[next[from as usize] as usize] = (to, length);
            next[from as usize] += 1;
        };
        for (a, b, length) in all {
            put(a, b, length);
            put(b, a, length);
        }
        Self { starts, steps }
    }

    /// Distance of every vertex from the sources, each of which starts at its own distance; infinite if
    /// unreachable or beyond `limit`.
    pub fn distances(&self, sources: &[(u32, f64)], limit: f64) -> Vec<f64> {
        self.distances_until(sources, limit, |_| false)
    }

    /// The same, up to the first vertex, in the order of distance, for which `stop` returns true; beyond it some
    /// distances are upper bounds, the others infinite.
    pub fn distances_until(
        &self,
        sources: &[(u32, f64)],
        limit: f64,
        mut stop: impl FnMut(u32) -> bool,
    ) -> Vec<f64> {
        let mut distance = vec![f64::INFINITY; self.starts.len() - 1];
        // Finite non-negative floats order like their bits, and bits are totally ordered.
        let mut queue = BinaryHeap::new();
        for &(v, d) in sources.iter().filter(|(_, d)| *d <= limit) {
            if d < distance[v as usize] {
                distance[v as usize] = d;
                queue.push(Reverse((d.to_bits(), v)));
            }
        }
        while let Some(Reverse((bits, v))) = queue.pop() {
            let here = f64::from_bits(bits);
            if here > distance[v as usize] {
                continue;
            }
            if stop(v) {
                break;
            }
            let (first, last) = (self.starts[v as usize] as usize, self.starts[v as usize + 1] as usize);
            for &(next, length) in &self.steps[first..last] {
                let there = here + length;
                if there < distance[next as usize] && there <= limit {
                    distance[next as usize] = there;
                    queue.push(Reverse((there.to_bits(), next)));
                }
            }
        }
        distance
    }
}

/// The path across an edge between the corners opposite to it, if it is straight when both faces lie flat.
fn diagonal(mesh: &Mesh, adjacency: &Adjacency, edge: usize) -> Option<(u32, u32, f64)> {
    if adjacency.edges.n_uses(edge) != 2 {
        return None;
    }
    let [a, b] = adjacency.edges.vertices()[edge];
    let mut uses = adjacency.edges.uses(edge);
    let mut opposite = || mesh.faces()[uses.next()?.face as usize].into_iter().find(|&v| v != a && v != b);
    let (c, d) = (opposite()?, opposite()?);
    let at = |v: u32| mesh.positions()[v as usize];
    let along = (at(b) - at(a)).try_normalize()?;
    let length = at(a).distance(at(b));
    let flat = |p: DVec3| {
        let x = (p - at(a)).dot(along);
        (x, (p - at(a) - along * x).length())
    };
    let ((xc, yc), (xd, yd)) = (flat(at(c)), flat(at(d)));
    let crossing = xc + (xd - xc) * yc / (yc + yd);
    // A NaN, from two faces without area, is no crossing either.
    (c != d && crossing >= 0.0 && crossing <= length).then(|| (c, d, (xd - xc).hypot(yc + yd)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagonals_run_straight_across_two_faces() {
        // A unit square cut along one diagonal: the other one is found, also when the square is folded.
        for z in [0.0, 1.0] {
            let s = if z == 0.0 { 1.0 } else { 0.5 };
            let positions = vec![DVec3::ZERO, DVec3::X, DVec3::new(s, s, z / 2f64.sqrt()), DVec3::Y];
            let mesh = Mesh::new(positions, vec![[0, 1, 3], [1, 2, 3]]).unwrap();
            let steps = Steps::new(&mesh, &Adjacency::new(&mesh));
            let d = steps.distances(&[(0, 0.25)], f64::INFINITY);
            assert!((d[2] - 0.25 - 2f64.sqrt()).abs() < 1e-12, "{d:?}");
            let near = steps.distances(&[(0, 0.0)], 1.2);
            assert!(near[1] == 1.0 && near[2].is_infinite());
        }
    }
}
