//! Cholesky factorisation of a symmetric matrix of blocks, coupled over two neighbours on each side.
//!
//! # Source
//! Golub and Van Loan, *Matrix Computations*, §4.3.5 and §4.5: band and block Cholesky factorisation.
//! # Symbols
//! `A` blocks `n × n` on the diagonal; `B`, `C` blocks one and two below it; `A = L Lᵀ`.
//! # Cost
//! About `7 n³` operations and `3 n²` stored numbers per frame; linear in the number of frames.

use sinew_geom::linalg::{Kernel, dispatch, dot_wide, factor_rows, fma, solve_lower, solve_upper};

/// Sums side by side in a dot product.
const LANES: usize = 8;

/// A symmetric positive definite matrix with one block per frame and couplings of a frame to the next two; factored in
/// place.
#[derive(Debug, Clone, Default)]
pub struct BlockBand {
    n: usize,
    /// Diagonal blocks, row by row; the lower triangle counts.
    a: Vec<f64>,
    /// Block below the diagonal one: row of frame `t`, column of frame `t − 1`.
    b: Vec<f64>,
    /// Block two below: row of frame `t`, column of frame `t − 2`.
    c: Vec<f64>,
}

impl BlockBand {
    /// A matrix of zeros.
    pub fn new(n_frames: usize, n: usize) -> Self {
        let zeros = || vec![0.0; n_frames * n * n];
        Self { n, a: zeros(), b: zeros(), c: zeros() }
    }

    /// Set all to zero.
    pub fn clear(&mut self) {
        for block in [&mut self.a, &mut self.b, &mut self.c] {
            block.fill(0.0);
        }
    }

    /// Diagonal block of a frame.
    pub fn diagonal(&mut self, frame: usize) -> &mut [f64] {
        let size = self.n * self.n;
        &mut self.a[frame * size..][..size]
    }

    /// Block that couples a frame (rows) to the one before (columns).
    pub fn below(&mut self, frame: usize) -> &mut [f64] {
        let size = self.n * self.n;
        &mut self.b[frame * size..][..size]
    }

    /// Block that couples a frame (rows) to the second one before it (columns).
    pub fn two_below(&mut self, frame: usize) -> &mut [f64] {
        let size = self.n * self.n;
        &mut self.c[frame * size..][..size]
    }

    /// Replace the matrix by its factor; returns the frame at which it is not positive definite otherwise.
    pub fn factor(&mut self) -> Result<(), usize> {
        dispatch(Factor(self))
    }

    /// Solve in place with the factor.
    pub fn solve(&self, x: &mut [f64]) {
        dispatch(Solve(self, x));
    }
}

struct Factor<'a>(&'a mut BlockBand);

impl Kernel for Factor<'_> {
    type Output = Result<(), usize>;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> Result<(), usize> {
        let BlockBand { n, a, b, c } = self.0;
        let (n, size) = (*n, *n * *n);
        let n_frames = a.len().checked_div(size).unwrap_or(0);
        for t in 0..n_frames {
            let (done, rest) = a.split_at_mut(t * size);
            let a = &mut rest[..size];
            let (b_done, b_rest) = b.split_at_mut(t * size);
            let (b, c) = (&mut b_rest[..size], &mut c[t * size..][..size]);
            if t >= 2 {
                solve_right::<FMA>(c, &done[(t - 2) * size..][..size], n);
                subtract_product::<FMA>(b, c, &b_done[(t - 1) * size..][..size], n, false);
                subtract_product::<FMA>(a, c, c, n, true);
            }
            if t >= 1 {
                solve_right::<FMA>(b, &done[(t - 1) * size..][..size], n);
                subtract_product::<FMA>(a, b, b, n, true);
            }
            factor_rows::<FMA, LANES>(a, n).map_err(|_| t)?;
        }
        Ok(())
    }
}

struct Solve<'a>(&'a BlockBand, &'a mut [f64]);

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self(BlockBand { n, a, b, c }, x) = self;
        let (n, size) = (*n, *n * *n);
        let n_frames = a.len().checked_div(size).unwrap_or(0);
        for t in 0..n_frames {
            let (before, now) = x.split_at_mut(t * n);
            let now = &mut now[..n];
            for (lag, blocks) in [(1, b), (2, c)] {
                if t >= lag {
                    subtract_rows::<FMA>(now, &blocks[t * size..][..size], &before[(t - lag) * n..][..n]);
                }
            }
            solve_lower::<FMA, LANES>(&a[t * size..][..size], now);
        }
        for t in (0..n_frames).rev() {
            let (head, after) = x.split_at_mut((t + 1) * n);
            let now = &mut head[t * n..];
            for (lag, blocks) in [(1, b), (2, c)] {
                if t + lag < n_frames {
                    let block = &blocks[(t + lag) * size..][..size];
                    subtract_columns::<FMA>(now, block, &after[(lag - 1) * n..][..n]);
                }
            }
            solve_upper::<FMA>(&a[t * size..][..size], now);
        }
    }
}

/// `x ← x L⁻ᵀ`, row by row, from the first entry that is not zero.
#[inline(always)]
fn solve_right<const FMA: bool>(x: &mut [f64], l: &[f64], n: usize) {
    for row in x.chunks_exact_mut(n) {
        let first = first_nonzero(row);
        for i in first..n {
            let known = &l[i * n + first..i * n + i];
            row[i] = (row[i] - dot_wide::<FMA, LANES>(known, &row[first..i])) / l[i * n + i];
        }
    }
}

/// Index of the first entry that is not zero.
#[inline(always)]
fn first_nonzero(row: &[f64]) -> usize {
    row.iter().position(|x| *x != 0.0).unwrap_or(row.len())
}

/// `b ← b − c dᵀ`; if `is_lower`, only on the lower triangle.
#[inline(always)]
fn subtract_product<const FMA: bool>(b: &mut [f64], c: &[f64], d: &[f64], n: usize, is_lower: bool) {
    for (i, (target, row)) in b.chunks_exact_mut(n).zip(c.chunks_exact(n)).enumerate() {
        let first = first_nonzero(row);
        let end = if is_lower { i + 1 } else { n };
        for (value, other) in target[..end].iter_mut().zip(d.chunks_exact(n)) {
            *value -= dot_wide::<FMA, LANES>(&row[first..], &other[first..]);
        }
    }
}

/// `x ← x − m y`.
#[inline(always)]
fn subtract_rows<const FMA: bool>(x: &mut [f64], m: &[f64], y: &[f64]) {
    for (value, row) in x.iter_mut().zip(m.chunks_exact(y.len())) {
        *value -= dot_wide::<FMA, LANES>(row, y);
    }
}

/// `x ← x − mᵀ y`.
#[inline(always)]
fn subtract_columns<const FMA: bool>(x: &mut [f64], m: &[f64], y: &[f64]) {
    for (row, &value) in m.chunks_exact(y.len()).zip(y) {
        for (out, entry) in x.iter_mut().zip(row) {
            *out = fma::<FMA, _>(-entry, value, *out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The matrix `Jᵀ J + I` of random rows over three neighbouring frames, solved by elimination of the whole.
        #[test]
        fn banded_equals_dense(
            n in 1..5usize,
            frames in 1..7usize,
            numbers in prop::collection::vec(-1.0..1.0f64, 600),
        ) {
            let size = n * frames;
            let mut dense = vec![vec![0.0; size]; size];
            for (i, row) in dense.iter_mut().enumerate() {
                row[i] = 1.0;
            }
            let mut at = 0;
            for t in 0..frames {
                let width = n * 3.min(frames - t);
                for _ in 0..n {
                    let row: Vec<f64> = (0..width).map(|k| numbers[(at + k * 7) % 600]).collect();
                    at += 13;
                    for (i, x) in row.iter().enumerate() {
                        for (j, y) in row.iter().enumerate() {
                            dense[t * n + i][t * n + j] += x * y;
                        }
                    }
                }
            }
            let mut band = BlockBand::new(frames, n);
            for t in 0..frames {
                for (i, j) in (0..n * n).map(|k| (k / n, k % n)) {
                    band.diagonal(t)[i * n + j] = dense[t * n + i][t * n + j];
                    if t >= 1 {
                        band.below(t)[i * n + j] = dense[t * n + i][(t - 1) * n + j];
                    }
                    if t >= 2 {
                        band.two_below(t)[i * n + j] = dense[t * n + i][(t - 2) * n + j];
                    }
                }
            }
            let expected: Vec<f64> = (0..size).map(|i| numbers[(i * 31) % 600]).collect();
            let mut x: Vec<f64> =
                dense.iter().map(|row| row.iter().zip(&expected).map(|(a, b)| a * b).sum()).collect();
            band.factor().unwrap();
            band.solve(&mut x);
            for (a, b) in x.iter().zip(&expected) {
                prop_assert!((a - b).abs() < 1e-9, "{x:?} {expected:?}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_is_reported() {
        let mut band = BlockBand::new(3, 1);
        for t in 0..3 {
            band.diagonal(t)[0] = if t == 1 { -1.0 } else { 1.0 };
        }
        assert_eq!(band.factor(), Err(1));
    }
}
