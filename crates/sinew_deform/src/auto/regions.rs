//! Cutting the surface along level lines into regions, one within the other.

use super::component::Component;

/// Functions to cut along: remoteness of each vertex, then, negated, distances from tips.
pub(super) struct Fields(pub Vec<Vec<f64>>);

impl Fields {
    pub fn of(&self, cut: &Cut) -> &[f64] {
        &self.0[cut.field]
    }
}

/// A level line: the rim of one connected piece of `{f > level}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// Which function is `f`.
    pub field: usize,
    /// A vertex of the piece.
    pub peak: u32,
    pub level: f64,
    pub girth: f64,
    /// Area of the piece, which distinguishes outer pieces from inner ones.
    pub above: f64,
}

/// The region of each vertex and the region around each region. Region 0 is the body, `k + 1` that of cut `k`.
pub(super) struct Regions {
    pub of_vertex: Vec<u32>,
    pub parent: Vec<usize>,
}

/// Cut the surface.
pub(super) fn cut_regions(part: &Component, fields: &Fields, cuts: &[Cut]) -> Regions {
    let mut regions = Regions { of_vertex: vec![0; part.mesh.n_vertices()], parent: vec![0; cuts.len() + 1] };
    let mut order: Vec<usize> = (0..cuts.len()).collect();
    // Large pieces first, so that those within them are painted over them.
    order.sort_by(|&a, &b| cuts[b].above.total_cmp(&cuts[a].above).then(a.cmp(&b)));
    for k in order {
        regions.parent[k + 1] = regions.of_vertex[cuts[k].peak as usize] as usize;
        let piece = find_piece(part, fields.of(&cuts[k]), &cuts[k]);
        piece.into_iter().for_each(|v| regions.of_vertex[v as usize] = k as u32 + 1);
    }
    regions
}

/// Vertices beyond a cut.
pub(super) fn find_piece(part: &Component, f: &[f64], cut: &Cut) -> Vec<u32> {
    let mut seen = vec![false; f.len()];
    seen[cut.peak as usize] = true;
    let mut piece = vec![cut.peak];
    let mut next = 0;
    while let Some(&v) = piece.get(next) {
        next += 1;
        for &w in part.adjacency.neighbors.row(v as usize) {
            if f[w as usize] > cut.level && !std::mem::replace(&mut seen[w as usize], true) {
                piece.push(w);
            }
        }
    }
    piece
}

impl Regions {
    /// Whether a region is within another, or the same.
    pub fn is_within(&self, mut inner: usize, outer: usize) -> bool {
        while inner != outer && inner != 0 {
            inner = self.parent[inner];
        }
        inner == outer
    }
}
