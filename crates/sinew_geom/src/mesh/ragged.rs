//! Rows of different lengths in two flat arrays.

/// A list of rows of `u32`, stored back to back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ragged {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Default for Ragged {
    fn default() -> Self {
        Self { starts: vec![0], items: Vec::new() }
    }
}

impl Ragged {
    /// Sort `(row, item)` pairs into rows, keeping the order within each row. The pairs are walked twice.
    pub fn from_pairs<I>(n_rows: usize, pairs: impl Fn() -> I) -> Self
    where
        I: Iterator<Item = (u32, u32)>,
    {
        let mut starts = vec![0u32; n_rows + 1];
        for (row, _) in pairs() {
            starts[row as usize + 1] += 1;
        }
        for row in 0..n_rows {
            starts[row + 1] += starts[row];
        }
        let mut items = vec![0; starts[n_rows] as usize];
        let mut next = starts.clone();
        for (row, item) in pairs() {
            let at = &mut next[row as usize];
            items[*at as usize] = item;
            *at += 1;
        }
        Self { starts, items }
    }

    /// Append a row.
    pub fn push(&mut self, row: impl IntoIterator<Item = u32>) {
        self.items.extend(row);
        self.starts.push(self.items.len() as u32);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.items[self.starts[row] as usize..self.starts[row + 1] as usize]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        (0..self.len()).map(|row| self.row(row))
    }

    /// All items, row after row.
    pub fn items(&self) -> &[u32] {
        &self.items
    }
}
