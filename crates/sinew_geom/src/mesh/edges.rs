//! Undirected edges with every face that uses them, for polygons of any size.

use super::Ragged;

/// The edges of a set of faces, sorted by their smaller, then their larger vertex.
#[derive(Debug, Clone, Default)]
pub struct EdgeTable {
    vertices: Vec<[u32; 2]>,
    /// Per edge, `2 · half-edge + forward`.
    uses: Ragged,
    /// Face of each half-edge, or `None` if half-edge `h` belongs to triangle `h / 3`.
    face_of_half_edge: Option<Vec<u32>>,
}

/// One face's use of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeUse {
    /// Index of the face.
    pub face: u32,
    /// Position in the list of all corners of the corner the half-edge leaves.
    pub half_edge: u32,
    /// Whether the face runs from the edge's smaller vertex to its larger one.
    pub forward: bool,
}

impl EdgeTable {
    /// Edges of triangles.
    pub fn from_triangles(n_vertices: usize, faces: &[[u32; 3]]) -> Self {
        let half_edges = || faces.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]);
        Self::build(n_vertices, half_edges, None)
    }

    /// Edges of polygons; each face is a ring of vertices. Faces of one corner have none.
    pub fn from_polygons<'a, I>(n_vertices: usize, faces: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = &'a [u32]>,
    {
        let half_edges = || faces().flat_map(|f| (0..f.len()).map(move |i| [f[i], f[(i + 1) % f.len()]]));
        let face_of =
            faces().enumerate().flat_map(|(index, f)| std::iter::repeat_n(index as u32, f.len())).collect();
        Self::build(n_vertices, half_edges, Some(face_of))
    }

    fn build<I>(n_vertices: usize, half_edges: impl Fn() -> I, face_of_half_edge: Option<Vec<u32>>) -> Self
    where
        I: Iterator<Item = [u32; 2]>,
    {
        let ends: Vec<[u32; 2]> = half_edges().collect();
        let by_low = Ragged::from_pairs(n_vertices, || {
            ends.iter().enumerate().filter(|(_, [a, b])| a != b).map(|(h, &[a, b])| (a.min(b), h as u32))
        });
        let mut vertices = Vec::with_capacity(ends.len() / 2 + 1);
        let mut uses = Ragged::default();
        let mut bucket: Vec<(u32, u32)> = Vec::new();
        for (low, row) in by_low.rows().enumerate() {
            let low = low as u32;
            bucket.clear();
            bucket.extend(row.iter().map(|&h| {
                let [a, b] = ends[h as usize];
                (a.max(b), 2 * h + u32::from(a < b))
            }));
            bucket.sort_unstable();
            for group in bucket.chunk_by(|x, y| x.0 == y.0) {
                vertices.push([low, group[0].0]);
                uses.push(group.iter().map(|&(_, packed)| packed));
            }
        }
        Self { vertices, uses, face_of_half_edge }
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    /// Whether there is no edge.
    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// End points of every edge, smaller index first.
    pub fn vertices(&self) -> &[[u32; 2]] {
        &self.vertices
    }

    /// The faces at one edge.
    pub fn uses(&self, edge: usize) -> impl ExactSizeIterator<Item = EdgeUse> + '_ {
        self.uses.row(edge).iter().map(|&packed| {
            let half_edge = packed / 2;
            let face = self.face_of_half_edge.as_ref().map_or(half_edge / 3, |f| f[half_edge as usize]);
            EdgeUse { face, half_edge, forward: packed % 2 == 1 }
        })
    }

    /// Number of faces at one edge.
    pub fn n_uses(&self, edge: usize) -> usize {
        self.uses.row(edge).len()
    }

    /// Index of the edge between two vertices.
    pub fn find(&self, a: u32, b: u32) -> Option<usize> {
        self.vertices.binary_search(&[a.min(b), a.max(b)]).ok()
    }
}
