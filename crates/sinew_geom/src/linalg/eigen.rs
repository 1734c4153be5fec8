//! Eigenvalues of symmetric matrices.
//!
//! # Source
//! The solver of `faer`, on one thread.
//! # Cost
//! About `9 n³`.

use faer::{MatRef, Side};

/// Eigenvalues in increasing order and unit eigenvectors, one per row, of a symmetric matrix given row by row. All are
/// NaN if the matrix is not finite.
pub fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    // faer underflows on an empty matrix.
    if n == 0 {
        return (Vec::new(), Vec::new());
    }
    let decomposed = match a.iter().all(|x| x.is_finite()) {
        true => MatRef::from_row_major_slice(a, n, n).self_adjoint_eigen(Side::Lower).ok(),
        false => None,
    };
    let Some(decomposed) = decomposed else { return (vec![f64::NAN; n], vec![f64::NAN; n * n]) };
    let values = decomposed.S().column_vector().iter().copied().collect();
    let vectors = decomposed.U().col_iter().flat_map(|column| column.iter().copied().collect::<Vec<_>>());
    (values, vectors.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_made_of_its_eigenvectors() {
        let n = 7;
        let entry = |i: usize, j: usize| ((i * j + i + j) % 5) as f64 - 1.5 + if i == j { 3.0 } else { 0.0 };
        let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let (values, vectors) = symmetric_eigen(&a, n);
        for i in 0..n {
            for j in 0..n {
                let sum: f64 = (0..n).map(|k| values[k] * vectors[k * n + i] * vectors[k * n + j]).sum();
                assert!((sum - a[i * n + j]).abs() < 1e-12, "{i} {j}: {sum}");
                let dot: f64 = (0..n).map(|k| vectors[i * n + k] * vectors[j * n + k]).sum();
                assert!((dot - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
        assert!(values.is_sorted());
        assert!(symmetric_eigen(&[1.0, f64::NAN, f64::NAN, 1.0], 2).0[0].is_nan());
        assert_eq!(symmetric_eigen(&[], 0), (Vec::new(), Vec::new()));
    }
}
