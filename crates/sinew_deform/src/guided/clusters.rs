//! A few thousand nodes that represent the surface of a soft piece and the border of its handles.
//!
//! # Source
//! Sinew's own: disks grown over the edges choose seeds, then each vertex joins the seed nearest along edges. No node
//! mixes soft surface and handle, so that borders stay where they were painted.
//! # Cost
//! `O(n log n)` in the vertices near the soft surface.

use crate::{handled::HandledMesh, local::VertexMap, soft::SoftPiece};
use glam::DVec3;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Nodes over the surface around one piece.
#[derive(Debug, Clone)]
pub(crate) struct Clusters {
    /// Vertices in reach: those of the piece and of its handles' borders, in increasing order.
    pub vertices: Vec<u32>,
    /// Node of each of `vertices`.
    pub node_of: Vec<u32>,
    /// Centre of each node.
    pub centers: Vec<DVec3>,
    /// Handle that holds each node, if any.
    pub owners: Vec<Option<u32>>,
    /// Handle and spring of each node whose vertices follow one without being rigid.
    pub springs: Vec<Option<(u32, f64)>>,
    /// Mean distance between neighbouring nodes.
    pub spacing: f64,
}

/// Clusters, and the places of vertices in them, which are needed only while building.
pub(crate) struct Clustering {
    pub clusters: Clusters,
    /// Place of each vertex in reach among `clusters.vertices`.
    pub local: VertexMap,
}

impl Clustering {
    /// Node of a vertex in reach.
    pub fn node(&self, vertex: u32) -> Option<u32> {
        self.local.get(vertex).map(|at| self.clusters.node_of[at as usize])
    }
}

impl Clustering {
    /// Cluster the surroundings of a piece into about `budget` nodes; if there are fewer vertices, each is a node.
    pub fn new(held: HandledMesh, piece: &SoftPiece, budget: usize) -> Self {
        let HandledMesh { mesh, handles, .. } = held;
        let spacing = spacing_for(held, piece, budget);
        // Only interior nodes need surface beyond the second ring.
        let width = if piece.has_inside() { 2.5 * spacing } else { 0.0 };
        let mut reach = find_reach(held, piece, width);
        reach.sort_unstable();
        let local = VertexMap::numbering(mesh.n_vertices(), &reach);
        let owners: Vec<Option<u32>> = reach
            .iter()
            .map(|&v| handles.owner(v as usize).filter(|_| handles.is_rigid(v as usize)).map(|h| h as u32))
            .collect();
        let area = Patch { held, vertices: &reach, local: &local, owners: &owners };
        let seeds = if piece.vertices.len() <= budget {
            (0..reach.len() as u32).collect()
        } else {
            area.find_seeds(spacing)
        };
        let node_of = area.nearest_seed(&seeds);
        let mut sums = vec![(DVec3::ZERO, 0usize); seeds.len()];
        for (&v, &node) in reach.iter().zip(&node_of) {
            let sum = &mut sums[node as usize];
            *sum = (sum.0 + mesh.positions()[v as usize], sum.1 + 1);
        }
        let centers = sums.iter().map(|(sum, count)| *sum / (*count).max(1) as f64).collect();
        let owners = seeds.iter().map(|&s| owners[s as usize]).collect();
        let mut springs: Vec<Option<(u32, f64)>> = vec![None; seeds.len()];
        for (&v, &node) in reach.iter().zip(&node_of) {
            if let Some((handle, spring)) = handles.spring(v as usize) {
                let share = spring / sums[node as usize].1 as f64;
                let sum = springs[node as usize].get_or_insert((handle, 0.0));
                sum.1 += share;
            }
        }
        let clusters = Clusters { vertices: reach, node_of, centers, owners, springs, spacing };
        Self { clusters, local }
    }
}

/// Distance between nodes at which `budget` of them cover the piece.
fn spacing_for(HandledMesh { mesh, adjacency, .. }: HandledMesh, piece: &SoftPiece, budget: usize) -> f64 {
    let (mut area, mut length, mut n_edges) = (0.0, 0.0, 0usize);
    for &v in &piece.vertices {
        for &f in adjacency.vertex_faces.row(v as usize) {
            let [a, b, c] = mesh.corners(f as usize);
            area += (b - a).cross(c - a).length() / 6.0;
        }
        for &w in adjacency.neighbors.row(v as usize) {
            length += mesh.positions()[v as usize].distance(mesh.positions()[w as usize]);
            n_edges += 1;
        }
    }
    let edge = length / n_edges.max(1) as f64;
    if piece.vertices.len() <= budget { edge } else { (0.89 * area / budget as f64).sqrt().max(edge) }
}

/// Vertices of the piece, and those of handles within `width` of it along edges (at least two rings).
fn find_reach(
    HandledMesh { mesh, adjacency, handles }: HandledMesh,
    piece: &SoftPiece,
    width: f64,
) -> Vec<u32> {
    let mut reach = piece.vertices.clone();
    let mut depth = vec![0.0; reach.len()];
    let mut seen = VertexMap::numbering(mesh.n_vertices(), &reach);
    let mut from = 0;
    for round in 0.. {
        let to = reach.len();
        for at in from..to {
            let v = reach[at] as usize;
            for &w in adjacency.neighbors.row(v) {
                let there = depth[at] + mesh.positions()[v].distance(mesh.positions()[w as usize]);
                let is_wanted = handles.is_rigid(w as usize) && (round < 2 || there <= width);
                if is_wanted && seen.insert(w, 0) {
                    depth.push(there);
                    reach.push(w);
                }
            }
        }
        if reach.len() == to {
            break;
        }
        from = to;
    }
    reach
}

struct Patch<'a> {
    held: HandledMesh<'a>,
    vertices: &'a [u32],
    local: &'a VertexMap,
    owners: &'a [Option<u32>],
}

impl Patch<'_> {
    fn position(&self, at: u32) -> DVec3 {
        self.held.mesh.positions()[self.vertices[at as usize] as usize]
    }

    /// Neighbours of the same kind: soft beside soft, handle beside the same handle.
    fn neighbors(&self, at: u32) -> impl Iterator<Item = u32> + '_ {
        let owner = self.owners[at as usize];
        let row = self.held.adjacency.neighbors.row(self.vertices[at as usize] as usize);
        row.iter().filter_map(|&w| self.local.get(w)).filter(move |&w| self.owners[w as usize] == owner)
    }

    /// Seeds no two of which are nearer than `spacing` along the surface.
    fn find_seeds(&self, spacing: f64) -> Vec<u32> {
        let n = self.vertices.len();
        // Any fixed order without pattern spreads seeds evenly.
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&i| (u64::from(i) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut covered = vec![false; n];
        let mut stamp = vec![u32::MAX; n];
        let (mut seeds, mut queue) = (Vec::new(), Vec::new());
        for seed in order {
            if covered[seed as usize] {
                continue;
            }
            let center = self.position(seed);
            queue.clear();
            queue.push(seed);
            stamp[seed as usize] = seed;
            while let Some(at) = queue.pop() {
                covered[at as usize] = true;
                for next in self.neighbors(at) {
                    if stamp[next as usize] != seed && self.position(next).distance(center) < spacing {
                        stamp[next as usize] = seed;
                        queue.push(next);
                    }
                }
            }
            seeds.push(seed);
        }
        seeds
    }

    /// Index of the seed nearest to each vertex along edges. Every vertex can reach one of its own kind.
    fn nearest_seed(&self, seeds: &[u32]) -> Vec<u32> {
        let mut best = vec![(f64::INFINITY, u32::MAX); self.vertices.len()];
        let mut queue = BinaryHeap::new();
        for (index, &seed) in seeds.iter().enumerate() {
            best[seed as usize] = (0.0, index as u32);
            queue.push(Reverse((0u64, seed)));
        }
        while let Some(Reverse((bits, at))) = queue.pop() {
            let (here, index) = best[at as usize];
            if f64::from_bits(bits) > here {
                continue;
            }
            for next in self.neighbors(at) {
                let there = here + self.position(at).distance(self.position(next));
                if there < best[next as usize].0 {
                    best[next as usize] = (there, index);
                    queue.push(Reverse((there.to_bits(), next)));
                }
            }
        }
        best.into_iter().map(|(_, index)| index).collect()
    }
}
