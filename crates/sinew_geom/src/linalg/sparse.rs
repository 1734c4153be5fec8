//! Sparse matrices by rows.

use rayon::prelude::*;

/// A real matrix stored by rows, columns sorted within each.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseMatrix {
    n_cols: usize,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

/// Rows below which a product is not worth several threads.
const PARALLEL_ROWS: usize = 20_000;

impl SparseMatrix {
    /// From `(row, column, value)`; values at the same place are added in the order given.
    ///
    /// # Panics
    /// If an index is out of range: that is a bug of the caller.
    pub fn from_triplets(
        n_rows: usize,
        n_cols: usize,
        triplets: impl IntoIterator<Item = (u32, u32, f64)>,
    ) -> Self {
        let mut rows: Vec<(u32, u32, f64)> = triplets.into_iter().collect();
        for &(row, column, _) in &rows {
            let inside = (row as usize) < n_rows && (column as usize) < n_cols;
            assert!(inside, "entry ({row}, {column}) lies outside a {n_rows} × {n_cols} matrix");
        }
        rows.sort_by_key(|&(row, column, _)| (row, column));
        let mut matrix =
            Self { n_cols, starts: Vec::with_capacity(n_rows + 1), columns: Vec::new(), values: Vec::new() };
        matrix.starts.push(0);
        let mut at = 0;
        for row in 0..n_rows as u32 {
            let first = matrix.columns.len();
            while at < rows.len() && rows[at].0 == row {
                let (_, column, value) = rows[at];
                match matrix.columns[first..].last() {
                    Some(&last) if last == column => {
                        if let Some(sum) = matrix.values.last_mut() {
                            *sum += value;
                        }
                    }
                    _ => {
                        matrix.columns.push(column);
                        matrix.values.push(value);
                    }
                }
                at += 1;
            }
            matrix.starts.push(matrix.columns.len());
        }
        matrix
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }

    /// Number of stored entries.
    pub fn n_entries(&self) -> usize {
        self.values.len()
    }

    /// Columns and values of a row, in order of columns.
    pub fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u32, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.columns[range.clone()].iter().copied().zip(self.values[range].iter().copied())
    }

    /// Start of each row in the list of entries; one longer than the number of rows.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Column of every entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Value of every entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Mutable values of the entries; their places are fixed.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// `out = A x`.
    ///
    /// # Panics
    /// If a length does not fit: that is a bug of the caller.
    pub fn mul_vec(&self, x: &[f64], out: &mut [f64]) {
        self.mul_interleaved::<1>(x.as_chunks().0, out.as_chunks_mut().0);
    }

    /// `out = A x` for `R` vectors at once, interleaved by row.
    ///
    /// # Panics
    /// If a length does not fit: that is a bug of the caller.
    pub fn mul_interleaved<const R: usize>(&self, x: &[[f64; R]], out: &mut [[f64; R]]) {
        assert_eq!((x.len(), out.len()), (self.n_cols, self.n_rows()), "sizes of a sparse product");
        let product = |(row, out): (usize, &mut [f64; R])| {
            let mut sum = [0.0; R];
            for (column, value) in self.row(row) {
                let x = &x[column as usize];
                for k in 0..R {
                    sum[k] += value * x[k];
                }
            }
            *out = sum;
        };
        if out.len() < PARALLEL_ROWS {
            out.iter_mut().enumerate().for_each(product);
        } else {
            out.par_iter_mut().with_min_len(PARALLEL_ROWS / 4).enumerate().for_each(product);
        }
    }

    /// The transpose.
    pub fn transpose(&self) -> Self {
        let mut starts = vec![0; self.n_cols + 1];
        self.columns.iter().for_each(|&c| starts[c as usize + 1] += 1);
        for column in 0..self.n_cols {
            starts[column + 1] += starts[column];
        }
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; self.columns.len()], vec![0.0; self.values.len()]);
        for row in 0..self.n_rows() {
            for (column, value) in self.row(row) {
                let at = &mut next[column as usize];
                columns[*at] = row as u32;
                values[*at] = value;
                *at += 1;
            }
        }
        Self { n_cols: self.n_rows(), starts, columns, values }
    }

    /// `A B`, row by row (Gustavson 1978).
    ///
    /// # Panics
    /// If the inner sizes differ: that is a bug of the caller.
    pub fn multiply(&self, other: &Self) -> Self {
        assert_eq!(self.n_cols, other.n_rows(), "inner sizes of a sparse product");
        let mut sums = vec![0.0; other.n_cols];
        let mut seen = vec![u32::MAX; other.n_cols];
        let mut result =
            Self { n_cols: other.n_cols, starts: vec![0], columns: Vec::new(), values: Vec::new() };
        let mut touched: Vec<u32> = Vec::new();
        for row in 0..self.n_rows() {
            touched.clear();
            for (inner, a) in self.row(row) {
                for (column, b) in other.row(inner as usize) {
                    let c = column as usize;
                    if seen[c] != row as u32 {
                        seen[c] = row as u32;
                        sums[c] = 0.0;
                        touched.push(column);
                    }
                    sums[c] += a * b;
                }
            }
            touched.sort_unstable();
            result.values.extend(touched.iter().map(|&c| sums[c as usize]));
            result.columns.extend_from_slice(&touched);
            result.starts.push(result.columns.len());
        }
        result
    }

    /// `Aᵀ A`, exactly symmetric.
    pub fn gram(&self) -> Self {
        self.transpose().multiply(self)
    }

    /// `A + diag(d)`, where every diagonal entry exists already or is created.
    pub fn add_diagonal(&self, diagonal: &[f64]) -> Self {
        let own = (0..self.n_rows()).flat_map(|row| self.row(row).map(move |(c, v)| (row as u32, c, v)));
        let extra = diagonal.iter().enumerate().map(|(i, &d)| (i as u32, i as u32, d));
        Self::from_triplets(self.n_rows(), self.n_cols, own.chain(extra))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn dense(m: &SparseMatrix) -> Vec<Vec<f64>> {
        let mut out = vec![vec![0.0; m.n_cols()]; m.n_rows()];
        for (i, row) in out.iter_mut().enumerate() {
            m.row(i).for_each(|(c, v)| row[c as usize] += v);
        }
        out
    }

    #[test]
    #[should_panic(expected = "entry (1, 4) lies outside a 2 × 4 matrix")]
    fn an_entry_outside_is_a_bug_of_the_caller() {
        SparseMatrix::from_triplets(2, 4, [(1, 4, 1.0)]);
    }

    proptest! {
        #[test]
        fn products_match_dense_ones(
            a in prop::collection::vec((0u32..5, 0u32..7, -2.0..2.0f64), 0..20),
            b in prop::collection::vec((0u32..7, 0u32..4, -2.0..2.0f64), 0..20),
        ) {
            let (a, b) = (SparseMatrix::from_triplets(5, 7, a), SparseMatrix::from_triplets(7, 4, b));
            let (p, da, db) = (dense(&a.multiply(&b)), dense(&a), dense(&b));
            for i in 0..5 {
                for j in 0..4 {
                    let wanted: f64 = (0..7).map(|k| da[i][k] * db[k][j]).sum();
                    prop_assert!((p[i][j] - wanted).abs() < 1e-12);
                }
            }
            prop_assert_eq!(a.transpose().transpose(), a.clone());
            let gram = dense(&a.gram());
            for i in 0..7 { for j in 0..7 { prop_assert_eq!(gram[i][j], gram[j][i]); } }
        }
    }
}
