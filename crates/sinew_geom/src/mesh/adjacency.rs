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
