//! Shortest paths along edges.
//!
//! # Source
//! Dijkstra (1959). An upper bound of the distance on the surface, which is what bands around handles need.
//! # Cost
//! `O(n log n)`, or only the part within `limit`.

use crate::{Mesh, mesh::Adjacency};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Distance of every vertex from the nearest source, along edges; infinite if unreachable or beyond `limit`.
/// Sources out of range are ignored.
pub fn compute_distances(mesh: &Mesh, adjacency: &Adjacency, sources: &[u32], limit: f64) -> Vec<f64> {
    let mut distance = vec![f64::INFINITY; mesh.n_vertices()];
    // Finite non-negative floats order like their bits, and bits are totally ordered.
    let mut queue = BinaryHeap::new();
    for &v in sources.iter().filter(|&&v| (v as usize) < mesh.n_vertices()) {
        distance[v as usize] = 0.0;
        queue.push(Reverse((0u64, v)));
    }
    while let Some(Reverse((bits, v))) = queue.pop() {
        let here = f64::from_bits(bits);
        if here > distance[v as usize] {
            continue;
        }
        for &next in adjacency.neighbors.row(v as usize) {
            let length = mesh.positions()[v as usize].distance(mesh.positions()[next as usize]);
            let there = here + length;
            if there < distance[next as usize] && there <= limit {
                distance[next as usize] = there;
                queue.push(Reverse((there.to_bits(), next)));
            }
        }
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn distances_along_a_strip() {
        // Two rows of 10 points one metre apart: along the rows edges are straight.
        let positions = (0..20).map(|i| DVec3::new((i / 2) as f64, (i % 2) as f64, 0.0)).collect();
        let faces =
            (0..9u32).flat_map(|i| [[2 * i, 2 * i + 2, 2 * i + 1], [2 * i + 1, 2 * i + 2, 2 * i + 3]]);
        let mesh = Mesh::new(positions, faces.collect()).unwrap();
        let adjacency = Adjacency::new(&mesh);
        let d = compute_distances(&mesh, &adjacency, &[0, 99], f64::INFINITY);
        (0..10).for_each(|i| assert!((d[2 * i] - i as f64).abs() < 1e-12));
        let near = compute_distances(&mesh, &adjacency, &[0], 3.0);
        assert!(near[6].is_finite() && near[8].is_infinite());
        // Triangle inequality over every edge.
        for &[a, b] in adjacency.edges.vertices() {
            let length = mesh.positions()[a as usize].distance(mesh.positions()[b as usize]);
            assert!((d[a as usize] - d[b as usize]).abs() <= length + 1e-12);
        }
    }
}
