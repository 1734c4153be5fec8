//! Sparse Cholesky factorisation: symbolic analysis once, numeric factorisation many times, solutions very often.
//!
//! # Source
//! Ordering, symbolic and numeric supernodal factorisation are those of `faer`. The triangular solves are our own
//! (`triangular.rs`), because those of `faer` take two to three times as long for the few interleaved right-hand sides
//! of geometry: see `sinew_bench solve`.
//! # Symbols
//! `P A Pᵀ = L Lᵀ`; `A` [n × n] symmetric positive definite
//! # Cost
//! [`SymbolicCholesky::new`]: ordering (AMD). [`Cholesky::factor`]: the numeric factorisation and one copy of `L`.
//! [`Cholesky::solve`]: two passes over `L`.
//! # Limits
//! Solutions are the same bits for any number of threads. Both triangles of `A` must be stored.

use super::{SparseMatrix, supernodes::Layout, triangular};
use crate::GeomError;
use faer::{
    Par, Side,
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::llt::factor::{LltError, LltRegularization},
    sparse::{
        SparseColMatRef, SymbolicSparseColMatRef,
        linalg::{SupernodalThreshold, SymbolicSupernodalParams, cholesky as sparse},
    },
};
use std::sync::Arc;

/// Columns up to which supernodes may be merged, with the share of zeros that may cost. Fewer zeros than faer's
/// own choice (up to 80 %): our solves lose less to narrow supernodes than to reading zeros.
const RELAXATION: &[(usize, f64)] = &[(4, 0.5), (16, 0.2), (48, 0.1)];

/// Ordering and fill of a matrix's factor: all that depends on its pattern alone.
#[derive(Debug)]
pub struct SymbolicCholesky {
    inner: sparse::SymbolicCholesky<u32>,
    starts: Vec<u32>,
    columns: Vec<u32>,
    layout: Layout,
}

impl SymbolicCholesky {
    /// Order and analyse the pattern of a symmetric matrix.
    ///
    /// # Errors
    /// If the matrix is empty, not square or too large for 32-bit indices.
    pub fn new(a: &SparseMatrix) -> Result<Self, GeomError> {
        let n = a.n_rows();
        if a.n_cols() != n {
            return Err(GeomError::Length { what: "matrix columns", expected: n, actual: a.n_cols() });
        }
        if n == 0 {
            return Err(GeomError::Parameter {
                name: "matrix size",
                value: "0".into(),
                expected: "there must be at least one unknown",
            });
        }
        let too_large = || GeomError::TooLarge {
            what: "matrix factor",
            actual: a.n_entries(),
            limit: u32::MAX as usize / 2,
        };
        if a.n_entries() > u32::MAX as usize / 2 {
            return Err(too_large());
        }
        let starts: Vec<u32> = a.starts().iter().map(|&s| s as u32).collect();
        let columns = a.columns().to_vec();
        let params = sparse::CholeskySymbolicParams {
            // Negative, because faer's own FORCE_SUPERNODAL (zero) excludes diagonal matrices.
            supernodal_flop_ratio_threshold: SupernodalThreshold(-1.0),
            supernodal_params: SymbolicSupernodalParams { relax: Some(RELAXATION) },
            ..Default::default()
        };
        // Rows of a symmetric matrix are its columns.
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &columns);
        let order = sparse::SymmetricOrdering::Amd;
        let inner = sparse::factorize_symbolic_cholesky(pattern, Side::Lower, order, params)
            .map_err(|_| too_large())?;
        let layout = Layout::new(&inner);
        Ok(Self { inner, starts, columns, layout })
    }

    /// The values of the factor, as faer stores them.
    fn factor(&self, a: &SparseMatrix) -> Result<Vec<f64>, GeomError> {
        let same_rows = a.starts().iter().map(|&s| s as u32).eq(self.starts.iter().copied());
        if a.columns() != self.columns || !same_rows {
            return Err(GeomError::Pattern { row: self.first_other_row(a) });
        }
        if let Some(index) = a.values().iter().position(|v| !v.is_finite()) {
            return Err(GeomError::NonFinite { what: "matrix entry", index });
        }
        let n = a.n_rows();
        let pattern = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.columns);
        let matrix = SparseColMatRef::new(pattern, a.values());
        let inner = &self.inner;
        let mut l = vec![0.0f64; inner.len_val()];
        // Sequential: faer's threads cost more than they gain at these sizes.
        let scratch = inner.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut memory = MemBuffer::new(scratch);
        inner
            .factorize_numeric_llt(
                &mut l,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut memory),
                Default::default(),
            )
            .map_err(|LltError::NonPositivePivot { index }| GeomError::NotPositiveDefinite {
                pivot: self.layout.original_column(index),
            })?;
        Ok(l)
    }

    /// The first row whose entries differ, or which only one of the two has.
    fn first_other_row(&self, a: &SparseMatrix) -> usize {
        let n = a.n_rows().min(self.starts.len() - 1);
        let analysed = |row: usize| &self.columns[self.starts[row] as usize..self.starts[row + 1] as usize];
        let given = |row: usize| &a.columns()[a.starts()[row]..a.starts()[row + 1]];
        (0..n).find(|&row| analysed(row) != given(row)).unwrap_or(n)
    }
}

/// A factorised matrix, stored in precision `T`.
///
/// `f32` halves the bytes a solve has to read; the factorisation itself is always done in `f64`.
#[derive(Debug, Clone)]
pub struct Cholesky<T = f64> {
    symbolic: Arc<SymbolicCholesky>,
    values: Vec<T>,
}

impl<T: triangular::Real> Cholesky<T> {
    /// Analyse and factor.
    ///
    /// # Errors
    /// If the matrix is not square, or not positive definite.
    pub fn new(a: &SparseMatrix) -> Result<Self, GeomError> {
        Self::factor(Arc::new(SymbolicCholesky::new(a)?), a)
    }

    /// Factor a matrix whose pattern was analysed before.
    ///
    /// # Errors
    /// If the pattern differs from the analysed one, or the matrix is not positive definite.
    pub fn factor(symbolic: Arc<SymbolicCholesky>, a: &SparseMatrix) -> Result<Self, GeomError> {
        let l = symbolic.factor(a)?;
        let values = T::pack(&symbolic.layout, &symbolic.inner, &l);
        Ok(Self { symbolic, values })
    }

    /// Number of unknowns.
    pub fn n(&self) -> usize {
        self.symbolic.starts.len() - 1
    }

    /// Bytes that one pass over the factor reads.
    pub fn n_bytes(&self) -> usize {
        size_of_val(self.values.as_slice()) + self.symbolic.layout.n_bytes()
    }

    /// The shared structure, to factor other values of the same pattern.
    pub fn symbolic(&self) -> &Arc<SymbolicCholesky> {
        &self.symbolic
    }

    /// Replace `R` interleaved right-hand sides by their solutions.
    ///
    /// # Errors
    /// If the length differs from the number of unknowns.
    pub fn solve<const R: usize>(&self, x: &mut [[f64; R]]) -> Result<(), GeomError> {
        if x.len() != self.n() {
            return Err(GeomError::Length { what: "right-hand side", expected: self.n(), actual: x.len() });
        }
        triangular::solve(&self.symbolic.layout, &self.values, x);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Five-point Laplacian of a grid plus a diagonal: large enough for several supernodes and parts.
    fn grid_matrix(w: u32, h: u32, shift: f64) -> SparseMatrix {
        let edge = |a: u32, b: u32| [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)];
        let mut triplets: Vec<(u32, u32, f64)> = (0..w * h).map(|i| (i, i, shift)).collect();
        for y in 0..h {
            for x in 0..w {
                let i = y * w + x;
                if x + 1 < w {
                    triplets.extend(edge(i, i + 1));
                }
                if y + 1 < h {
                    triplets.extend(edge(i, i + w));
                }
            }
        }
        SparseMatrix::from_triplets((w * h) as usize, (w * h) as usize, triplets)
    }

    fn check<const R: usize>(a: &SparseMatrix, factor: &Cholesky<f64>) {
        let n = a.n_rows();
        let exact: Vec<[f64; R]> =
            (0..n).map(|i| std::array::from_fn(|k| ((i * 7 + k * 13) % 31) as f64 / 31.0 - 0.4)).collect();
        let mut x = vec![[0.0; R]; n];
        a.mul_interleaved(&exact, &mut x);
        factor.solve(&mut x).unwrap();
        for (got, want) in x.iter().zip(&exact) {
            for k in 0..R {
                assert!((got[k] - want[k]).abs() < 1e-9, "{R} right-hand sides: {} {}", got[k], want[k]);
            }
        }
    }

    #[test]
    fn solutions_satisfy_the_system_at_every_width() {
        for (w, h) in [(1, 1), (2, 1), (3, 4), (40, 50), (150, 130)] {
            let a = grid_matrix(w, h, 0.1);
            let factor = Cholesky::new(&a).unwrap();
            check::<1>(&a, &factor);
            check::<2>(&a, &factor);
            check::<3>(&a, &factor);
            check::<4>(&a, &factor);
            check::<6>(&a, &factor);
            check::<11>(&a, &factor);
        }
    }

    #[test]
    fn threads_do_not_change_a_bit() {
        let a = grid_matrix(150, 130, 0.01);
        let factor = Cholesky::<f64>::new(&a).unwrap();
        let solve_with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut x = vec![[1.0, -2.0, 0.5]; a.n_rows()];
            pool.install(|| factor.solve(&mut x)).unwrap();
            x
        };
        assert_eq!(solve_with(1), solve_with(3));
    }

    #[test]
    fn new_values_reuse_the_structure() {
        let a = grid_matrix(20, 20, 0.1);
        let first = Cholesky::<f64>::new(&a).unwrap();
        let b = grid_matrix(20, 20, 5.0);
        let second = Cholesky::factor(first.symbolic().clone(), &b).unwrap();
        check::<3>(&b, &second);
        let row_of = |other: &SparseMatrix| match Cholesky::<f64>::factor(first.symbolic().clone(), other) {
            Err(GeomError::Pattern { row }) => row,
            other => panic!("{other:?}"),
        };
        // A grid of another shape; one with fewer rows.
        assert_eq!(row_of(&grid_matrix(10, 40, 0.1)), 0);
        assert_eq!(row_of(&grid_matrix(20, 19, 0.1)), 360);
        // The same number of entries at other places: a count would not explain the error.
        let linked = |a: u32, b: u32| {
            let links = [(a, b, 0.5), (b, a, 0.5)];
            SparseMatrix::from_triplets(4, 4, (0..4).map(|i| (i, i, 2.0)).chain(links))
        };
        let symbolic = Arc::new(SymbolicCholesky::new(&linked(1, 2)).unwrap());
        let error = Cholesky::<f64>::factor(symbolic, &linked(2, 3)).unwrap_err();
        assert_eq!(error.to_string(), "the pattern of the matrix differs from the analysed one in row 1");
    }

    #[test]
    fn an_indefinite_matrix_names_its_pivot() {
        let mut a = grid_matrix(6, 6, 0.1);
        let at = a.row(17).position(|(column, _)| column == 17).unwrap() + a.starts()[17];
        a.values_mut()[at] = -3.0;
        // Elimination reaches the bad vertex or the neighbour it affects.
        let error = Cholesky::<f64>::new(&a).unwrap_err();
        assert!(matches!(error, GeomError::NotPositiveDefinite { pivot } if pivot == 17), "{error}");
    }

    #[test]
    fn single_precision_storage_loses_only_digits() {
        let a = grid_matrix(60, 60, 0.1);
        let mut x = vec![[1.0; 3]; a.n_rows()];
        let mut y = x.clone();
        Cholesky::<f64>::new(&a).unwrap().solve(&mut x).unwrap();
        Cholesky::<f32>::new(&a).unwrap().solve(&mut y).unwrap();
        let worst = crate::measure::largest_error(x.iter().zip(&y).map(|(p, q)| (p[0] - q[0]).abs()));
        assert!(worst < 1e-4 && worst > 0.0, "{worst}");
    }

    proptest! {
        /// Random sparse symmetric positive definite matrices, disconnected ones included.
        #[test]
        fn random_matrices(entries in prop::collection::vec((0u32..30, 0u32..30, -1.0..1.0f64), 0..80)) {
            let both = entries.iter().filter(|e| e.0 != e.1).flat_map(|&(i, j, v)| [(i, j, v), (j, i, v)]);
            let loose = SparseMatrix::from_triplets(30, 30, both);
            let diagonal: Vec<f64> = (0..30).map(|i| 0.5 + loose.row(i).map(|(_, v)| v.abs()).sum::<f64>()).collect();
            let a = loose.add_diagonal(&diagonal);
            check::<3>(&a, &Cholesky::new(&a).unwrap());
        }
    }
}
