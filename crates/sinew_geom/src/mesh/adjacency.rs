//! Neighbourhoods in a triangle mesh.

use super::{EdgeTable, Mesh, Ragged, union_find::UnionFind};

/// Vertex stars, neighbours and edges of a [`Mesh`], computed once in linear time.
#[derive(Debug, Clone)]
pub struct Adjacency {
    /// Faces around each vertex, in increasing order.
    pub vertex_faces: Ragged,
    /// Vertices joined to each vertex by an edge, in increasing order.
    pub neighbors: Ragged,
    /// Edges with their faces.
    pub edges: EdgeTable,
}

impl Adjacency {
    /// Compute all tables.
    pub fn new(mesh: &Mesh) -> Self {
        let n = mesh.n_vertices();
        let edges = EdgeTable::from_triangles(n, mesh.faces());
        let vertex_faces = Ragged::from_pairs(n, || {
            mesh.faces().iter().enumerate().flat_map(|(f, corners)| corners.map(|v| (v, f as u32)))
        });
        // Edges are sorted, so each row first receives its smaller and then its larger neighbours, in order.
        let neighbors =
            Ragged::from_pairs(n, || edges.vertices().iter().flat_map(|&[a, b]| [(a, b), (b, a)]));
        Self { vertex_faces, neighbors, edges }
    }

    /// Whether a vertex lies on an edge with a single face.
    pub fn boundary_vertices(&self) -> Vec<bool> {
        let mut on_boundary = vec![false; self.neighbors.len()];
        for (edge, ends) in self.edges.vertices().iter().enumerate() {
            if self.edges.n_uses(edge) == 1 {
                ends.iter().for_each(|&v| on_boundary[v as usize] = true);
            }
        }
        on_boundary
    }

    /// Closed walks along edges with a single face, each with the surface on its left.
    ///
    /// Where several loops touch in one vertex they are separated arbitrarily. A walk that ends (possible
    /// only beside badly oriented faces) is returned open.
    pub fn boundary_loops(&self, mesh: &Mesh) -> Vec<Vec<u32>> {
        let corners = mesh.faces().as_flattened();
        let open: Vec<[u32; 2]> = (0..self.edges.len())
            .filter(|&edge| self.edges.n_uses(edge) == 1)
            .filter_map(|edge| self.edges.uses(edge).next())
            .map(|used| {
                let (face, k) = (used.half_edge / 3, used.half_edge % 3);
                [corners[used.half_edge as usize], corners[(face * 3 + (k + 1) % 3) as usize]]
            })
            .collect();
        let leaving = Ragged::from_pairs(mesh.n_vertices(), || {
            open.iter().enumerate().map(|(index, &[from, _])| (from, index as u32))
        });
        let mut used = vec![false; open.len()];
        // Number of edges leaving a vertex that are already used: many loops may meet in one.
        let mut behind = vec![0usize; mesh.n_vertices()];
        let mut loops = Vec::new();
        for first in 0..open.len() {
            let mut at = first;
            let mut walk = Vec::new();
            while !used[at] {
                used[at] = true;
                walk.push(open[at][0]);
                let (row, skip) = (leaving.row(open[at][1] as usize), &mut behind[open[at][1] as usize]);
                while row.get(*skip).is_some_and(|&next| used[next as usize]) {
                    *skip += 1;
                }
                let Some(&next) = row.get(*skip) else { break };
                at = next as usize;
            }
            if !walk.is_empty() {
                loops.push(walk);
            }
        }
        loops
    }

    /// Component of each vertex, counted from 0 in the order of their first vertex, and how many there are.
    /// Vertices without a face form their own components.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut sets = UnionFind::new(self.neighbors.len());
        for &[a, b] in self.edges.vertices() {
            sets.union(a, b);
        }
        sets.labels()
    }
}
