//! Cholesky factorisation of a symmetric matrix of blocks, coupled over two neighbours on each side.
//!
//! # Source
//! Golub and Van Loan, *Matrix Computations*, §4.3.5 and §4.5: band and block Cholesky factorisation.
//! # Symbols
//! `A` blocks `n × n` on the diagonal; `B`, `C` blocks one and two below it; `A = L Lᵀ`.
//! # Cost
//! About `7 n³` operations and `3 n²` stored numbers per frame; linear in the number of frames.

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
        let (n, size) = (self.n, self.n * self.n);
        let n_frames = self.a.len().checked_div(size).unwrap_or(0);
        for t in 0..n_frames {
            let (done, rest) = self.a.split_at_mut(t * size);
            let a = &mut rest[..size];
            let (b_done, b_rest) = self.b.split_at_mut(t * size);
            let (b, c) = (&mut b_rest[..size], &mut self.c[t * size..][..size]);
            if t >= 2 {
                solve_right(c, &done[(t - 2) * size..][..size], n);
                subtract_product(b, c, &b_done[(t - 1) * size..][..size], n);
                subtract_square(a, c, n);
            }
            if t >= 1 {
                solve_right(b, &done[(t - 1) * size..][..size], n);
                subtract_square(a, b, n);
            }
            if !factor_block(a, n) {
                return Err(t);
            }
        }
        Ok(())
    }

    /// Solve in place with the factor.
    pub fn solve(&self, x: &mut [f64]) {
        let (n, size) = (self.n, self.n * self.n);
        let n_frames = self.a.len().checked_div(size).unwrap_or(0);
        for t in 0..n_frames {
            let (before, now) = x.split_at_mut(t * n);
            let now = &mut now[..n];
            for (lag, blocks) in [(1, &self.b), (2, &self.c)] {
                if t >= lag {
                    subtract_rows(now, &blocks[t * size..][..size], &before[(t - lag) * n..][..n]);
                }
            }
            forward(&self.a[t * size..][..size], now);
        }
        for t in (0..n_frames).rev() {
            let (head, after) = x.split_at_mut((t + 1) * n);
            let now = &mut head[t * n..];
            for (lag, blocks) in [(1, &self.b), (2, &self.c)] {
                if t + lag < n_frames {
                    subtract_columns(now, &blocks[(t + lag) * size..][..size], &after[(lag - 1) * n..][..n]);
                }
            }
            backward(&self.a[t * size..][..size], now);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four sums side by side, so that the compiler may use wide registers.
    let mut sums = [0.0f64; 4];
    let (a4, a_rest) = a.as_chunks::<4>();
    let (b4, b_rest) = b.as_chunks::<4>();
    for (x, y) in a4.iter().zip(b4) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    sums.iter().sum::<f64>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f64>()
}

/// `x ← x L⁻ᵀ`, row by row.
fn solve_right(x: &mut [f64], l: &[f64], n: usize) {
    for row in x.chunks_exact_mut(n) {
        if row.iter().all(|&v| v == 0.0) {
            continue;
        }
        forward(l, row);
    }
}

/// `L y = x` in place.
fn forward(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in 0..n {
        let row = &l[i * n..][..i + 1];
        x[i] = (x[i] - dot(&row[..i], &x[..i])) / row[i];
    }
}

/// `Lᵀ y = x` in place.
fn backward(l: &[f64], x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        x[i] /= l[i * n + i];
        let value = x[i];
        for k in 0..i {
            x[k] -= l[i * n + k] * value;
        }
    }
}

/// `b ← b − c dᵀ`.
fn subtract_product(b: &mut [f64], c: &[f64], d: &[f64], n: usize) {
    for (row, c_row) in b.chunks_exact_mut(n).zip(c.chunks_exact(n)) {
        for (value, d_row) in row.iter_mut().zip(d.chunks_exact(n)) {
            *value -= dot(c_row, d_row);
        }
    }
}

/// `a ← a − c cᵀ` on the lower triangle.
fn subtract_square(a: &mut [f64], c: &[f64], n: usize) {
    for i in 0..n {
        let (ci, row) = (&c[i * n..][..n], &mut a[i * n..][..i + 1]);
        for (j, value) in row.iter_mut().enumerate() {
            *value -= dot(ci, &c[j * n..][..n]);
        }
    }
}

fn factor_block(a: &mut [f64], n: usize) -> bool {
    for i in 0..n {
        let (above, row) = a.split_at_mut(i * n);
        for j in 0..i {
            let other = &above[j * n..][..j + 1];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let rest = row[i] - dot(&row[..i], &row[..i]);
        if !(rest > 0.0 && rest.is_finite()) {
            return false;
        }
        row[i] = rest.sqrt();
    }
    true
}

/// `x ← x − m y`.
fn subtract_rows(x: &mut [f64], m: &[f64], y: &[f64]) {
    for (value, row) in x.iter_mut().zip(m.chunks_exact(y.len())) {
        *value -= dot(row, y);
    }
}

/// `x ← x − mᵀ y`.
fn subtract_columns(x: &mut [f64], m: &[f64], y: &[f64]) {
    for (row, &value) in m.chunks_exact(y.len()).zip(y) {
        for (out, entry) in x.iter_mut().zip(row) {
            *out -= entry * value;
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
    fn what_is_not_positive_is_told() {
        let mut band = BlockBand::new(3, 1);
        for t in 0..3 {
            band.diagonal(t)[0] = if t == 1 { -1.0 } else { 1.0 };
        }
        assert_eq!(band.factor(), Err(1));
    }
}
