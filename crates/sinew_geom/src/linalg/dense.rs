//! Dense positive definite systems: [`DenseCholesky`] for many right-hand sides, [`solve_definite`] for one small
//! system.
//!
//! # Source
//! [`DenseCholesky`] is that of `faer`, on one thread; [`solve_definite`] is elimination without pivoting.
//! # Cost
//! [`DenseCholesky::new`]: n³/3. [`DenseCholesky::solve`]: 2 n² per right-hand side.
//! # Limits
//! The bits of a solution depend on how many right-hand sides are solved together, never on threads.

use super::{Kernel, dispatch, fma};
use crate::GeomError;
use faer::{
    MatMut, MatRef, Par,
    dyn_stack::{MemBuffer, MemStack},
    linalg::cholesky::llt::{
        factor::{LltError, cholesky_in_place, cholesky_in_place_scratch},
        solve::{solve_in_place, solve_in_place_scratch},
    },
};

/// A factorised symmetric positive definite matrix.
#[derive(Debug, Clone)]
pub struct DenseCholesky {
    n: usize,
    factor: Vec<f64>,
}

impl DenseCholesky {
    /// Factor a matrix given by columns; only its lower triangle is read.
    ///
    /// # Errors
    /// A matrix that is not `n` × `n`, or not positive definite.
    pub fn new(n: usize, mut columns: Vec<f64>) -> Result<Self, GeomError> {
        if columns.len() != n * n {
            return Err(GeomError::Length { what: "dense matrix", expected: n * n, actual: columns.len() });
        }
        let mut memory = MemBuffer::new(cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default()));
        cholesky_in_place(
            MatMut::from_column_major_slice_mut(&mut columns, n, n),
            Default::default(),
            Par::Seq,
            MemStack::new(&mut memory),
            Default::default(),
        )
        .map_err(|LltError::NonPositivePivot { index }| GeomError::NotPositiveDefinite { pivot: index })?;
        Ok(Self { n, factor: columns })
    }

    /// Number of unknowns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Replace right-hand sides, one after another, by their solutions.
    ///
    /// # Errors
    /// A length that is not a multiple of the number of unknowns.
    pub fn solve(&self, columns: &mut [f64]) -> Result<(), GeomError> {
        let m = columns.len().checked_div(self.n).unwrap_or(0);
        if m * self.n != columns.len() {
            return Err(GeomError::Length {
                what: "right-hand sides",
                expected: m * self.n,
                actual: columns.len(),
            });
        }
        let mut memory = MemBuffer::new(solve_in_place_scratch::<f64>(self.n, m, Par::Seq));
        solve_in_place::<f64, f64>(
            MatRef::from_column_major_slice(&self.factor, self.n, self.n),
            MatMut::from_column_major_slice_mut(columns, self.n, m),
            Par::Seq,
            MemStack::new(&mut memory),
        );
        Ok(())
    }
}

/// Solve one small positive definite system in place by `LDLᵀ`, without allocating; `a` is by rows, only its lower
/// triangle is read, and overwritten. `None` if the matrix is not positive definite.
pub fn solve_definite(a: &mut [f64], b: &mut [f64], m: usize) -> Option<()> {
    dispatch(Definite { a, b, m })
}

struct Definite<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    m: usize,
}

impl Kernel for Definite<'_> {
    type Output = Option<()>;

    /// The column of each pivot is stored as a row of the upper triangle, so that elimination reads memory in order.
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Option<()> {
        let Self { a, b, m } = self;
        for i in 0..m {
            for j in 0..i {
                a[j * m + i] = a[i * m + j];
            }
        }
        for k in 0..m {
            let (above, below) = a.split_at_mut((k + 1) * m);
            let row = &above[k * m..];
            let pivot = row[k];
            if pivot.is_nan() || pivot <= 0.0 {
                return None;
            }
            let inverse = 1.0 / pivot;
            for (i, other) in (k + 1..m).zip(below.chunks_exact_mut(m)) {
                let factor = -row[i] * inverse;
                for (x, y) in other[i..].iter_mut().zip(&row[i..]) {
                    *x = fma::<FMA, _>(factor, *y, *x);
                }
                b[i] = fma::<FMA, _>(factor, b[k], b[i]);
            }
        }
        for k in (0..m).rev() {
            let row = &a[k * m..(k + 1) * m];
            let below: f64 = row[k + 1..].iter().zip(&b[k + 1..]).map(|(x, y)| x * y).sum();
            b[k] = (b[k] - below) / row[k];
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| if i == j { 4.0 + i as f64 } else { 1.0 / (1.0 + (i + j) as f64) };
        (0..n * n).map(|at| entry(at % n, at / n)).collect()
    }

    #[test]
    fn solutions_satisfy_the_system() {
        for n in [1, 3, 40, 150] {
            let a = matrix(n);
            let exact: Vec<f64> = (0..2 * n).map(|i| (i % 7) as f64 - 2.5).collect();
            let mut x: Vec<f64> = (0..2 * n)
                .map(|at| (0..n).map(|k| a[k * n + at % n] * exact[at / n * n + k]).sum())
                .collect();
            DenseCholesky::new(n, a).unwrap().solve(&mut x).unwrap();
            assert!(x.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-10), "{n}");
        }
    }

    #[test]
    fn one_small_system_is_solved_in_place() {
        for n in [1, 2, 7, 20] {
            let a = matrix(n);
            let exact: Vec<f64> = (0..n).map(|i| i as f64 - 1.5).collect();
            let mut x: Vec<f64> = (0..n).map(|i| (0..n).map(|k| a[k * n + i] * exact[k]).sum()).collect();
            solve_definite(&mut a.clone(), &mut x, n).unwrap();
            assert!(x.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-12), "{n}");
        }
        assert!(solve_definite(&mut [1.0, 2.0, 2.0, 1.0], &mut [1.0; 2], 2).is_none());
    }

    #[test]
    fn an_indefinite_matrix_and_wrong_lengths_are_refused() {
        let named = DenseCholesky::new(2, vec![1.0, 2.0, 2.0, 1.0]).unwrap_err();
        assert_eq!(named, GeomError::NotPositiveDefinite { pivot: 1 });
        assert!(DenseCholesky::new(2, vec![1.0; 3]).is_err());
        let factor = DenseCholesky::new(2, matrix(2)).unwrap();
        assert!(factor.solve(&mut [1.0; 3]).is_err());
    }
}
