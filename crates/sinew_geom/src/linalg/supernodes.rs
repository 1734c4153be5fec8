//! Memory layout of a supernodal factor for our solves.
//!
//! # Source
//! Sinew's own. The elimination tree is cut into subtrees of balanced work, so that threads can solve them in parallel;
//! the remainder above them (the top) is solved sequentially.
//! # Limits
//! The cut does not depend on the number of threads: results are the same bits everywhere.

use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw, supernodal};
use rayon::prelude::*;
use std::ops::Range;

/// Subtrees that can be solved in parallel. More would enlarge the top, which is solved sequentially.
pub(super) const N_PARTS: usize = 4;

/// A block of columns with the same rows below them.
#[derive(Debug, Clone, Copy)]
pub struct Supernode {
    /// First column, in our order.
    pub column: usize,
    /// Number of columns.
    pub width: usize,
    /// Start of its rows in [`Layout::rows`].
    pub rows: usize,
    /// Number of rows below the columns.
    pub height: usize,
    /// Number of those that belong to the supernode's own part; the rest belong to the top.
    pub n_own: usize,
    /// Start of its values, panel after panel of up to [`PANEL_COLUMNS`] columns: the triangle on the diagonal by
    /// rows, with its diagonal inverted; then, by rows, the supernode's columns after the panel; then its rows.
    pub values: usize,
}

/// Largest number of columns that are solved in registers at once.
pub(super) const PANEL_COLUMNS: usize = 8;

impl Supernode {
    /// First column, width and first value of each panel, counted within the supernode.
    #[inline(always)]
    pub fn panels(&self) -> impl DoubleEndedIterator<Item = (usize, usize, usize)> + use<> {
        let (w, h) = (self.width, self.height);
        (0..w.div_ceil(PANEL_COLUMNS)).map(move |p| {
            let j = p * PANEL_COLUMNS;
            // Columns before the panel reach down from their own diagonal to the last row.
            let before = j * (w + h) - j * j.saturating_sub(1) / 2;
            (j, (w - j).min(PANEL_COLUMNS), before)
        })
    }

    fn n_values(&self) -> usize {
        self.width * (self.width + 1) / 2 + self.width * self.height
    }
}

/// Column order, rows and places of values.
#[derive(Debug)]
pub struct Layout {
    pub supernodes: Vec<Supernode>,
    pub rows: Vec<u32>,
    /// Our column of each original one.
    pub column_of: Vec<u32>,
    /// Supernodes and columns of each part; the last entry is the top.
    pub parts: Vec<(Range<usize>, Range<usize>)>,
    /// faer's supernode behind each of ours.
    source: Vec<usize>,
    /// Original index of each column of faer's order.
    original: Vec<u32>,
    n_values: usize,
}

impl Layout {
    pub fn new(symbolic: &SymbolicCholesky<u32>) -> Self {
        let inner = supernodal_part(symbolic);
        let n = symbolic.ncols();
        let n_supernodes = inner.n_supernodes();
        let columns = |s: usize| inner.supernode_begin()[s] as usize..inner.supernode_end()[s] as usize;
        let part_of = cut_tree(inner);
        let mut source: Vec<usize> = (0..n_supernodes).collect();
        source.sort_by_key(|&s| (part_of[s], s));
        let mut new_column = vec![0u32; n];
        for (new, column) in source.iter().flat_map(|&s| columns(s)).enumerate() {
            new_column[column] = new as u32;
        }
        let original: Vec<u32> = match symbolic.perm() {
            Some(perm) => perm.arrays().0.to_vec(),
            None => (0..n as u32).collect(),
        };
        let mut column_of = vec![0; n];
        (0..n).for_each(|c| column_of[original[c] as usize] = new_column[c]);
        let parts = ranges(&source, &part_of, |s| columns(s).len());
        let top = parts[N_PARTS].1.start as u32;
        let (mut supernodes, mut rows, mut n_values) = (Vec::with_capacity(n_supernodes), Vec::new(), 0);
        for &s in &source {
            let start = rows.len();
            rows.extend(inner.supernode(s).pattern().iter().map(|&c| new_column[c as usize]));
            // Rows are ancestors, and the order of ancestors is preserved: first those of the part, then the top.
            debug_assert!(rows[start..].is_sorted());
            let column = new_column[columns(s).start];
            let n_own =
                if column >= top { rows.len() - start } else { rows[start..].partition_point(|&r| r < top) };
            let node = Supernode {
                column: column as usize,
                width: columns(s).len(),
                rows: start,
                height: rows.len() - start,
                n_own,
                values: n_values,
            };
            n_values += node.n_values();
            supernodes.push(node);
        }
        Self { supernodes, rows, column_of, parts, source, original, n_values }
    }

    /// Copy faer's factor into this layout, each number as `round` gives it.
    pub fn pack<T: Copy + Default + Send>(
        &self,
        symbolic: &SymbolicCholesky<u32>,
        l: &[f64],
        round: impl Fn(f64) -> T + Copy + Sync,
    ) -> Vec<T> {
        let factor = supernodal::SupernodalLltRef::new(supernodal_part(symbolic), l);
        let mut values = vec![T::default(); self.n_values];
        let mut rest = values.as_mut_slice();
        let mut jobs = Vec::with_capacity(self.supernodes.len());
        for (node, &s) in self.supernodes.iter().zip(&self.source) {
            let (own, after) = rest.split_at_mut(node.n_values());
            jobs.push((node, s, own));
            rest = after;
        }
        jobs.into_par_iter().with_min_len(256).for_each(|(node, s, values)| {
            let block = factor.supernode(s).val();
            let column = |j: usize| block.col(j).try_as_col_major().map_or(&[][..], |c| c.as_slice());
            for (j, width, start) in node.panels() {
                let columns: [&[f64]; PANEL_COLUMNS] =
                    std::array::from_fn(|t| if t < width { column(j + t) } else { &[] });
                pack_panel(&columns[..width], j, &mut values[start..], round);
            }
        });
        values
    }

    /// Original index of a column of faer's order.
    pub fn original_column(&self, column: usize) -> usize {
        self.original.get(column).map_or(column, |&c| c as usize)
    }

    /// Bytes of the indices a pass over the factor reads.
    pub fn n_bytes(&self) -> usize {
        size_of_val(self.rows.as_slice()) + size_of_val(self.supernodes.as_slice())
    }
}

/// Copy columns `first ..` of a supernode by rows: the triangle, its diagonal inverted, then all rows below it.
fn pack_panel<T>(columns: &[&[f64]], first: usize, values: &mut [T], round: impl Fn(f64) -> T) {
    let mut at = 0;
    for i in 0..columns.len() {
        for (t, column) in columns[..=i].iter().enumerate() {
            let value = column[first + i];
            values[at] = round(if t == i { 1.0 / value } else { value });
            at += 1;
        }
    }
    for (t, column) in columns.iter().enumerate() {
        let below = &column[first + columns.len()..];
        for (target, &value) in values[at..].chunks_exact_mut(columns.len()).zip(below) {
            target[t] = round(value);
        }
    }
}

fn supernodal_part(symbolic: &SymbolicCholesky<u32>) -> &supernodal::SymbolicSupernodalCholesky<u32> {
    match symbolic.raw() {
        SymbolicCholeskyRaw::Supernodal(inner) => inner,
        SymbolicCholeskyRaw::Simplicial(_) => unreachable!("supernodal factorisation is forced"),
    }
}

/// Part of each supernode: a subtree, or `N_PARTS` for the top.
fn cut_tree(inner: &supernodal::SymbolicSupernodalCholesky<u32>) -> Vec<usize> {
    let n = inner.n_supernodes();
    let mut supernode_of = vec![0usize; inner.ncols()];
    let columns = |s: usize| inner.supernode_begin()[s] as usize..inner.supernode_end()[s] as usize;
    (0..n).for_each(|s| supernode_of[columns(s)].fill(s));
    let parent: Vec<Option<usize>> =
        (0..n).map(|s| inner.supernode(s).pattern().first().map(|&c| supernode_of[c as usize])).collect();
    // Work of a subtree: entries its solve reads, and a little for each supernode. Children come first.
    let mut work: Vec<f64> = (0..n)
        .map(|s| {
            let w = columns(s).len();
            (w * (inner.supernode(s).pattern().len() + w / 2 + 1) + 8) as f64
        })
        .collect();
    let total: f64 = work.iter().sum();
    let mut children = vec![Vec::new(); n];
    for s in 0..n {
        if let Some(p) = parent[s] {
            work[p] += work[s];
            children[p].push(s);
        }
    }
    // Open the largest subtree until none is larger than a fraction of an even share.
    let mut cut: Vec<usize> = (0..n).filter(|&s| parent[s].is_none()).collect();
    let mut part_of = vec![usize::MAX; n];
    while let Some((at, &s)) = cut.iter().enumerate().max_by(|a, b| work[*a.1].total_cmp(&work[*b.1])) {
        if work[s] < total * 0.4 / N_PARTS as f64 || children[s].is_empty() {
            break;
        }
        part_of[s] = N_PARTS;
        cut.swap_remove(at);
        cut.extend(&children[s]);
    }
    cut.sort_by(|&a, &b| work[b].total_cmp(&work[a]).then(a.cmp(&b)));
    let mut load = [0f64; N_PARTS];
    for s in cut {
        let part = (0..N_PARTS).min_by(|&a, &b| load[a].total_cmp(&load[b])).unwrap_or(0);
        load[part] += work[s];
        part_of[s] = part;
    }
    for s in (0..n).rev() {
        if part_of[s] == usize::MAX {
            part_of[s] = parent[s].map_or(0, |p| part_of[p]);
        }
    }
    part_of
}

/// Supernode and column ranges of the parts, for supernodes sorted by part.
fn ranges(
    source: &[usize],
    part_of: &[usize],
    width: impl Fn(usize) -> usize,
) -> Vec<(Range<usize>, Range<usize>)> {
    let (mut s, mut c) = (0, 0);
    (0..=N_PARTS)
        .map(|part| {
            let (s0, c0) = (s, c);
            while s < source.len() && part_of[source[s]] == part {
                c += width(source[s]);
                s += 1;
            }
            (s0..s, c0..c)
        })
        .collect()
}
