//! Cutting the surface along level lines into regions, one within the other.

use super::part::Part;

/// A level line: the rim of one connected piece of `{f > level}`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cut {
    /// A vertex of the piece.
    pub peak: u32,
    pub level: f64,
    pub girth: f64,
    /// Area of the piece, by which outer pieces are told from inner ones.
    pub above: f64,
}

/// The region of each vertex and the region around each region. Region 0 is the body, `k + 1` that of cut `k`.
pub(super) struct Regions {
    pub of_vertex: Vec<u32>,
    pub parent: Vec<usize>,
}

/// Cut the surface.
pub(super) fn cut_regions(part: &Part, f: &[f64], cuts: &[Cut]) -> Regions {
    let mut regions = Regions { of_vertex: vec![0; f.len()], parent: vec![0; cuts.len() + 1] };
    let mut order: Vec<usize> = (0..cuts.len()).collect();
    // Large pieces first, so that those within them are painted over them.
    order.sort_by(|&a, &b| cuts[b].above.total_cmp(&cuts[a].above).then(a.cmp(&b)));
    for k in order {
        let Cut { peak, level, .. } = cuts[k];
        let label = k as u32 + 1;
        regions.parent[k + 1] = regions.of_vertex[peak as usize] as usize;
        let mut stack = vec![peak];
        regions.of_vertex[peak as usize] = label;
        while let Some(v) = stack.pop() {
            for &w in part.adjacency.neighbors.row(v as usize) {
                if f[w as usize] > level && regions.of_vertex[w as usize] != label {
                    regions.of_vertex[w as usize] = label;
                    stack.push(w);
                }
            }
        }
    }
    regions
}

impl Regions {
    /// Whether a region lies within another, or is it.
    pub fn is_within(&self, mut inner: usize, outer: usize) -> bool {
        while inner != outer && inner != 0 {
            inner = self.parent[inner];
        }
        inner == outer
    }
}
