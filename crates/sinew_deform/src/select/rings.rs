//! Growing and shrinking a selection by rings of vertices, and combining selections.

use super::{Selector, marked};

impl Selector<'_> {
    /// Add all vertices within a number of edges. Vertices out of range are ignored.
    pub fn grow(&self, selection: &[u32], rings: usize) -> Vec<u32> {
        marked(&self.spread(self.mark(selection), rings))
    }

    /// Remove all vertices within a number of edges of an unselected one. The rim of an open surface does not shrink
    /// the selection.
    pub fn shrink(&self, selection: &[u32], rings: usize) -> Vec<u32> {
        let outside: Vec<bool> = self.mark(selection).into_iter().map(|inside| !inside).collect();
        let kept: Vec<bool> = self.spread(outside, rings).into_iter().map(|outside| !outside).collect();
        marked(&kept)
    }

    fn mark(&self, selection: &[u32]) -> Vec<bool> {
        let mut marks = vec![false; self.mesh.n_vertices()];
        let n = marks.len();
        selection.iter().filter(|&&v| (v as usize) < n).for_each(|&v| marks[v as usize] = true);
        marks
    }

    /// A breadth-first search: each ring is visited once.
    fn spread(&self, mut marks: Vec<bool>, rings: usize) -> Vec<bool> {
        let mut ring = marked(&marks);
        for _ in 0..rings {
            let mut next = Vec::new();
            for &v in &ring {
                for &w in self.adjacency.neighbors.row(v as usize) {
                    if !std::mem::replace(&mut marks[w as usize], true) {
                        next.push(w);
                    }
                }
            }
            ring = next;
        }
        marks
    }
}

/// Vertices in either of two selections.
pub fn add(selection: &[u32], more: &[u32]) -> Vec<u32> {
    let mut all = [selection, more].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// Vertices of one selection that are not in another. Both must be in increasing order.
pub fn remove(selection: &[u32], less: &[u32]) -> Vec<u32> {
    selection.iter().copied().filter(|v| less.binary_search(v).is_err()).collect()
}
