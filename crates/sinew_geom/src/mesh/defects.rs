//! Counting the defects of a mesh.

use super::{EdgeTable, RawMesh, union_find::UnionFind};
use glam::DVec3;

/// Faults of a mesh as it was read, counted on its polygons. All zero for a closed oriented manifold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Defects {
    /// Vertices no face uses.
    pub unreferenced_vertices: usize,
    /// Vertices at a position another vertex before them has already.
    pub coincident_vertices: usize,
    /// Vertices with a NaN or infinite coordinate.
    pub non_finite_vertices: usize,
    /// Faces with the same vertices as an earlier face, whatever their direction.
    pub duplicate_faces: usize,
    /// Faces without area, by their own shape or at the scale of the mesh.
    pub degenerate_faces: usize,
    /// Those of them that have a shape, but are too small at the scale of the mesh.
    pub tiny_faces: usize,
    /// Edges with one face.
    pub boundary_edges: usize,
    /// Edges with more than two faces.
    pub non_manifold_edges: usize,
    /// Vertices where the faces form more than one fan ("bow-ties"), other than at non-manifold edges.
    pub non_manifold_vertices: usize,
    /// Directed edges that more than one face uses, each counted once.
    pub inconsistent_edges: usize,
    /// Sets of faces connected through shared vertices.
    pub components: usize,
    /// Vertices used − edges + faces.
    pub euler_characteristic: i64,
}

/// A face is degenerate if its area is below this fraction of its longest edge squared: rounding of
/// coordinates to `f32` leaves about 1e-7, exact collinearity in decimal digits about 1e-16.
const AREA_TOLERANCE: f64 = 1e-10;

/// So is a face whose area is below this fraction of the mesh's diagonal squared, with edges about a millionth of
/// it. Such faces are counted, but never removed: a small part of a large scene is made of them.
const SCALE_TOLERANCE: f64 = 1e-12;

impl RawMesh {
    /// Count every kind of fault, in linear time except for sorting.
    pub fn defects(&self) -> Defects {
        let edges = EdgeTable::from_polygons(self.positions().len(), || self.faces());
        let mut defects = Defects {
            non_finite_vertices: self.positions().iter().filter(|p| !p.is_finite()).count(),
            coincident_vertices: count_coincident(self.positions()),
            duplicate_faces: count_duplicates(self),
            ..Defects::default()
        };
        self.count_degenerate(&mut defects);
        for edge in 0..edges.len() {
            let n_forward = edges.uses(edge).filter(|used| used.forward).count();
            let n_backward = edges.n_uses(edge) - n_forward;
            defects.boundary_edges += usize::from(n_forward + n_backward == 1);
            defects.non_manifold_edges += usize::from(n_forward + n_backward > 2);
            defects.inconsistent_edges += usize::from(n_forward > 1) + usize::from(n_backward > 1);
        }
        self.count_vertices(&edges, &mut defects);
        let n_used = self.positions().len() - defects.unreferenced_vertices;
        defects.euler_characteristic = n_used as i64 - edges.len() as i64 + self.n_faces() as i64;
        defects
    }

    fn count_degenerate(&self, defects: &mut Defects) {
        let finite: Vec<DVec3> = self.positions().iter().copied().filter(|p| p.is_finite()).collect();
        let [low, high] = super::bounds(&finite);
        let smallest = SCALE_TOLERANCE * low.distance_squared(high);
        for face in self.faces() {
            let flat = is_degenerate(self.positions(), face);
            let tiny = !flat && fan_area(self.positions(), face) < smallest;
            defects.degenerate_faces += usize::from(flat || tiny);
            defects.tiny_faces += usize::from(tiny);
        }
    }

    /// Unreferenced and bow-tie vertices, and components.
    fn count_vertices(&self, edges: &EdgeTable, defects: &mut Defects) {
        let corners: Vec<u32> = self.faces().flatten().copied().collect();
        let next = next_corners(self);
        let mut fans = UnionFind::new(corners.len());
        let mut parts = UnionFind::new(self.positions().len());
        for edge in 0..edges.len() {
            let [low, high] = edges.vertices()[edge];
            parts.union(low, high);
            join_fans(&mut fans, edges, edge, &next);
        }
        let mut n_fans = vec![0u32; self.positions().len()];
        let mut used = vec![false; self.positions().len()];
        for (corner, &v) in corners.iter().enumerate() {
            used[v as usize] = true;
            n_fans[v as usize] += u32::from(fans.find(corner as u32) == corner as u32);
        }
        defects.unreferenced_vertices = used.iter().filter(|&&used| !used).count();
        defects.non_manifold_vertices = n_fans.iter().filter(|&&n| n > 1).count();
        defects.components =
            (0..used.len() as u32).filter(|&v| used[v as usize] && parts.find(v) == v).count();
    }
}

/// For each corner in the list of all corners, the next one of its face.
fn next_corners(raw: &RawMesh) -> Vec<u32> {
    let mut next = Vec::new();
    for face in raw.faces() {
        let (start, n) = (next.len() as u32, face.len() as u32);
        next.extend((0..n).map(|i| start + (i + 1) % n));
    }
    next
}

/// A face's corners at an edge, that at the smaller vertex first.
pub(super) fn edge_ends(used: super::EdgeUse, next: &[u32]) -> [u32; 2] {
    let (from, to) = (used.half_edge, next[used.half_edge as usize]);
    if used.forward { [from, to] } else { [to, from] }
}

/// Faces that share an edge belong to one fan at either end of it.
pub(super) fn join_fans(fans: &mut UnionFind, edges: &EdgeTable, edge: usize, next: &[u32]) {
    let mut uses = edges.uses(edge).map(|used| edge_ends(used, next));
    if let Some([low, high]) = uses.next() {
        for [other_low, other_high] in uses {
            fans.union(low, other_low);
            fans.union(high, other_high);
        }
    }
}

/// Whether a polygon has no area for its size, repeated corners included.
pub(super) fn is_degenerate(positions: &[DVec3], face: &[u32]) -> bool {
    let at = |i: usize| positions[face[i % face.len()] as usize];
    let longest = (0..face.len()).map(|i| at(i).distance_squared(at(i + 1))).fold(0.0, f64::max);
    let area = fan_area(positions, face);
    area.is_nan() || 2.0 * area <= AREA_TOLERANCE * longest
}

/// Area of a polygon cut into a fan.
fn fan_area(positions: &[DVec3], face: &[u32]) -> f64 {
    let at = |i: usize| positions[face[i] as usize];
    (2..face.len()).map(|i| (at(i - 1) - at(0)).cross(at(i) - at(0)).length()).sum::<f64>() / 2.0
}

fn count_coincident(positions: &[DVec3]) -> usize {
    // Adding zero turns −0 into 0, so that bitwise order agrees with equality.
    let key = |p: &DVec3| (*p + DVec3::ZERO).to_array().map(f64::to_bits);
    count_repeats(positions.iter().map(key).collect())
}

fn count_duplicates(raw: &RawMesh) -> usize {
    let (mut small, mut large) = (Vec::with_capacity(raw.n_faces()), Vec::new());
    for face in raw.faces() {
        let mut key = face.to_vec();
        key.sort_unstable();
        // Triangles and quads, nearly all faces, sort as plain arrays; a real index never equals the padding.
        match key.len() {
            0..=4 => {
                small.push(std::array::from_fn::<u32, 4, _>(|i| key.get(i).copied().unwrap_or(u32::MAX)))
            }
            _ => large.push(key),
        }
    }
    count_repeats(small) + count_repeats(large)
}

fn count_repeats<K: Ord>(mut keys: Vec<K>) -> usize {
    keys.sort_unstable();
    keys.windows(2).filter(|pair| pair[0] == pair[1]).count()
}
