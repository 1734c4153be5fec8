//! Dense Cholesky factorisation by rows, in the caller's memory: for small systems inside other kernels.
//!
//! # Source
//! Golub and Van Loan, *Matrix Computations*, §4.2. The inner products are [`dot_wide`], so that the compiler keeps
//! them in wide registers.
//! # Cost
//! [`factor_rows`]: n³/3. [`solve_lower`], [`solve_upper`]: n² each.

use super::{dot_wide, fma};

/// Replace the lower triangle of a matrix, given by rows, by its Cholesky factor `L`. `pivot` gets the square of each
/// diagonal entry and returns the entry, or `None` to stop; then the row is returned as an error.
#[inline(always)]
pub fn factor_rows_with<const FMA: bool, const N: usize>(
    a: &mut [f64],
    n: usize,
    pivot: impl Fn(f64) -> Option<f64>,
) -> Result<(), usize> {
    for i in 0..n {
        let (before, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let other = &before[j * n..j * n + j + 1];
            row[j] = (row[j] - dot_wide::<FMA, N>(&row[..j], &other[..j])) / other[j];
        }
        row[i] = pivot(row[i] - dot_wide::<FMA, N>(&row[..i], &row[..i])).ok_or(i)?;
    }
    Ok(())
}

/// The same for a matrix that must be positive definite.
#[inline(always)]
pub fn factor_rows<const FMA: bool, const N: usize>(a: &mut [f64], n: usize) -> Result<(), usize> {
    factor_rows_with::<FMA, N>(a, n, |square| (square > 0.0 && square < f64::INFINITY).then(|| square.sqrt()))
}

/// Solve `L y = x` in place.
#[inline(always)]
pub fn solve_lower<const FMA: bool, const N: usize>(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &l[i * n..i * n + i + 1];
        x[i] = (x[i] - dot_wide::<FMA, N>(&row[..i], &x[..i])) / row[i];
    }
}

/// Solve `Lᵀ y = x` in place.
#[inline(always)]
pub fn solve_upper<const FMA: bool>(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let (head, tail) = x.split_at_mut(i);
        for (value, entry) in head.iter_mut().zip(&l[i * n..i * n + i]) {
            *value = fma::<FMA, _>(-tail[0], *entry, *value);
        }
    }
}

/// Solve `L Lᵀ y = b` in place for two right sides at once, which the compiler turns into wide registers. Rows of `factor` are
/// `stride` long, with reciprocals on the diagonal.
pub fn solve_pairs(factor: &[f64], stride: usize, b: &mut [[f64; 2]]) {
    for i in 0..b.len() {
        let (known, rest) = b.split_at_mut(i);
        let row = &factor[i * stride..=i * stride + i];
        let mut sums = [[0.0; 2]; 2];
        for (k, (l, v)) in row.iter().zip(&*known).enumerate() {
            sums[k & 1][0] += l * v[0];
            sums[k & 1][1] += l * v[1];
        }
        rest[0] = [0, 1].map(|c| (rest[0][c] - sums[0][c] - sums[1][c]) * row[i]);
    }
    for i in (0..b.len()).rev() {
        let (head, tail) = b.split_at_mut(i);
        let row = &factor[i * stride..=i * stride + i];
        tail[0] = tail[0].map(|v| v * row[i]);
        for (v, l) in head.iter_mut().zip(row) {
            v[0] -= l * tail[0][0];
            v[1] -= l * tail[0][1];
        }
    }
}

/// Unknowns of a system that [`solve_small`] takes.
pub const MAX_SMALL: usize = 16;

/// Solve a positive definite system of up to [`MAX_SMALL`] unknowns by `LDLᵀ`, in registers where the machine has
/// enough; only the lower triangle of `a` is read. Returns whether it was positive definite.
#[inline(always)]
pub fn solve_small<const FMA: bool>(
    a: &[[f64; MAX_SMALL]; MAX_SMALL],
    m: usize,
    right: &mut [f64; MAX_SMALL],
) -> bool {
    let mut upper = [[0.0; MAX_SMALL]; MAX_SMALL];
    for i in 0..m {
        for c in 0..=i {
            upper[c][i] = a[i][c];
        }
    }
    let mut inverse = [0.0; MAX_SMALL];
    for k in 0..m {
        let pivot = upper[k][k];
        if pivot <= 0.0 || pivot.is_nan() {
            return false;
        }
        inverse[k] = 1.0 / pivot;
        let row = upper[k];
        for i in k + 1..m {
            let factor = -row[i] * inverse[k];
            for c in 0..MAX_SMALL {
                upper[i][c] = fma::<FMA, _>(factor, row[c], upper[i][c]);
            }
        }
        let y = -right[k] * inverse[k];
        for c in k + 1..MAX_SMALL {
            right[c] = fma::<FMA, _>(y, row[c], right[c]);
        }
    }
    for k in (0..m).rev() {
        let mut sum = right[k];
        for c in k + 1..m {
            sum -= upper[k][c] * right[c];
        }
        right[k] = sum * inverse[k];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(n: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| if i == j { 4.0 + i as f64 } else { 1.0 / (1.0 + (i + j) as f64) };
        (0..n * n).map(|at| entry(at % n, at / n)).collect()
    }

    fn right_of(a: &[f64], x: &[f64]) -> Vec<f64> {
        a.chunks_exact(x.len()).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    #[test]
    fn solutions_satisfy_the_system() {
        for n in [1, 3, 16, 41] {
            let a = matrix(n);
            let exact: Vec<f64> = (0..n).map(|i| (i % 7) as f64 - 2.5).collect();
            let (mut factor, mut x) = (a.clone(), right_of(&a, &exact));
            factor_rows::<false, 4>(&mut factor, n).unwrap();
            solve_lower::<false, 4>(&factor, &mut x);
            solve_upper::<false>(&factor, &mut x);
            assert!(x.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-10), "{n}");
            if n <= MAX_SMALL {
                let (mut small, mut right) = ([[0.0; MAX_SMALL]; MAX_SMALL], [0.0; MAX_SMALL]);
                right[..n].copy_from_slice(&right_of(&a, &exact));
                (0..n).for_each(|i| small[i][..n].copy_from_slice(&a[i * n..(i + 1) * n]));
                assert!(solve_small::<false>(&small, n, &mut right));
                assert!(right.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-10), "{n}");
            }
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        assert_eq!(factor_rows::<false, 8>(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(1));
        let mut small = [[0.0; MAX_SMALL]; MAX_SMALL];
        small[0][0] = -1.0;
        assert!(!solve_small::<false>(&small, 1, &mut [0.0; MAX_SMALL]));
    }
}
