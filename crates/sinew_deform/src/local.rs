//! Numbers of the vertices of one piece, at a cost that depends on the piece and not on the mesh.

use std::collections::HashMap;

/// An array over the whole mesh is worth it for pieces of at least this share of its vertices.
const DENSE_SHARE: usize = 16;
/// Marks a vertex without a number.
const NO_NUMBER: u32 = u32::MAX;

/// A number for some of a mesh's vertices.
#[derive(Debug, Clone)]
pub(crate) enum VertexMap {
    /// One entry per vertex of the mesh.
    Dense(Vec<u32>),
    /// One entry per numbered vertex. Only looked up, never iterated, so its order has no influence.
    Sparse(HashMap<u32, u32>),
}

impl VertexMap {
    /// An empty map of a mesh's vertices, of which about `expected` will be numbered.
    pub fn new(n_vertices: usize, expected: usize) -> Self {
        if expected.saturating_mul(DENSE_SHARE) >= n_vertices {
            Self::Dense(vec![NO_NUMBER; n_vertices])
        } else {
            Self::Sparse(HashMap::with_capacity(expected))
        }
    }

    /// The vertices, numbered in their order.
    pub fn numbering(n_vertices: usize, vertices: &[u32]) -> Self {
        let mut map = Self::new(n_vertices, vertices.len());
        vertices.iter().zip(0..).for_each(|(&v, at)| {
            map.insert(v, at);
        });
        map
    }

    /// Give a vertex a number, unless it has one; returns whether it had none.
    pub fn insert(&mut self, vertex: u32, number: u32) -> bool {
        let entry = match self {
            Self::Dense(all) => &mut all[vertex as usize],
            Self::Sparse(some) => some.entry(vertex).or_insert(NO_NUMBER),
        };
        let is_new = *entry == NO_NUMBER;
        if is_new {
            *entry = number;
        }
        is_new
    }

    /// The number of a vertex.
    pub fn get(&self, vertex: u32) -> Option<u32> {
        match self {
            Self::Dense(all) => Some(all[vertex as usize]).filter(|&number| number != NO_NUMBER),
            Self::Sparse(some) => some.get(&vertex).copied(),
        }
    }

    /// The numbers of a face's corners, if all have one.
    pub fn face(&self, [a, b, c]: [u32; 3]) -> Option<[u32; 3]> {
        Some([self.get(a)?, self.get(b)?, self.get(c)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_vertices_are_numbered_alike() {
        for n_vertices in [10, 100_000] {
            let mut map = VertexMap::numbering(n_vertices, &[7, 2, 9]);
            assert_eq!(matches!(map, VertexMap::Dense(_)), n_vertices == 10);
            assert_eq!([7, 2, 9, 3].map(|v| map.get(v)), [Some(0), Some(1), Some(2), None]);
            assert!(map.insert(3, 5) && !map.insert(2, 8));
            assert_eq!((map.get(3), map.get(2)), (Some(5), Some(1)));
            assert_eq!(map.face([3, 7, 9]), Some([5, 0, 2]));
            assert_eq!(map.face([3, 7, 4]), None);
        }
    }
}
