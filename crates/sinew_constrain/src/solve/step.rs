//! One damped step.
//!
//! # Source
//! Levenberg–Marquardt in Woodbury form (Golub and Van Loan, *Matrix Computations*, §2.1.4): with fewer equations than
//! unknowns, the system to factorise has the size of the equations; otherwise that of the unknowns.
//! # Symbols
//! `J` [m × n] active rows, `W` metric of the unknowns, `E` compliance of the rows, `z` desired step: the minimum of
//! `|f + J d|²/E + |d − z|²/W` is `d = z + W Jᵀ (J W Jᵀ + E)⁻¹ (−f − J z)`.
//! # Cost
//! `m² n + m³/3` for m ≤ n, else `m n² + n³/3`.

use sinew_geom::linalg::{
    Kernel, MAX_SMALL, dispatch, dot_wide, factor_rows, fma, solve_lower, solve_small, solve_upper,
};

/// A linearised problem.
pub(super) struct LinearStep<'a> {
    /// All rows, `stride` apart.
    pub jacobian: &'a [f64],
    pub stride: usize,
    /// First column and number of columns.
    pub columns: [usize; 2],
    /// Active rows.
    pub rows: &'a [u32],
    /// Value of each of these rows.
    pub f: &'a [f64],
    /// Compliance of each of these rows.
    pub compliance: &'a [f64],
    /// Metric of each column; zero fixes it.
    pub metric: &'a [f64],
    /// Desired step of each column.
    pub desired: Option<&'a [f64]>,
}

/// Buffers for steps.
#[derive(Debug, Clone, Default)]
pub(super) struct Scratch {
    /// Transposed Jacobian of a small system, or the packed one of a large.
    packed: Vec<f64>,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl LinearStep<'_> {
    /// The step; `false` if rounding made the system singular.
    #[inline]
    pub fn solve(&self, scratch: &mut Scratch, step: &mut [f64]) -> bool {
        let form = match self.rows.len() {
            m if m <= MAX_SMALL => Form::Small,
            m if m <= self.columns[1] => Form::Wide,
            _ => Form::Tall,
        };
        dispatch(Work { form, linear: self, scratch, step })
    }

    #[inline(always)]
    fn row(&self, index: usize) -> &[f64] {
        let start = self.rows[index] as usize * self.stride + self.columns[0];
        &self.jacobian[start..start + self.columns[1]]
    }

    #[inline(always)]
    fn right(&self, index: usize) -> f64 {
        let base = -self.f[index];
        match self.desired {
            Some(desired) => base - self.row(index).iter().zip(desired).map(|(j, z)| j * z).sum::<f64>(),
            None => base,
        }
    }
}

/// How a step is computed.
enum Form {
    /// At most [`MAX_SMALL`] equations, in registers.
    Small,
    /// At most as many equations as unknowns.
    Wide,
    /// More.
    Tall,
}

struct Work<'a> {
    form: Form,
    linear: &'a LinearStep<'a>,
    scratch: &'a mut Scratch,
    step: &'a mut [f64],
}

impl Kernel for Work<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FMA: bool>(self) -> bool {
        let Self { form, linear, scratch, step } = self;
        match form {
            Form::Small => small::<FMA>(linear, scratch, step),
            Form::Wide => wide::<FMA>(linear, scratch, step),
            Form::Tall => tall::<FMA>(linear, scratch, step),
        }
    }
}

#[inline(always)]
fn small<const FMA: bool>(linear: &LinearStep<'_>, scratch: &mut Scratch, step: &mut [f64]) -> bool {
    let (m, n) = (linear.rows.len(), linear.columns[1]);
    scratch.packed.clear();
    scratch.packed.resize(n * MAX_SMALL, 0.0);
    let (transposed, _) = scratch.packed.as_chunks_mut::<MAX_SMALL>();
    let mut right = [0.0; MAX_SMALL];
    for i in 0..m {
        for (line, x) in transposed.iter_mut().zip(linear.row(i)) {
            line[i] = *x;
        }
        right[i] = linear.right(i);
    }
    let mut a = [[0.0; MAX_SMALL]; MAX_SMALL];
    product::<4, FMA>(transposed, linear.metric, 0, &mut a);
    if m > 4 {
        product::<8, FMA>(transposed, linear.metric, 4, &mut a);
    }
    if m > 8 {
        product::<12, FMA>(transposed, linear.metric, 8, &mut a);
    }
    if m > 12 {
        product::<16, FMA>(transposed, linear.metric, 12, &mut a);
    }
    for i in 0..m {
        a[i][i] += linear.compliance[i];
    }
    if !solve_small::<FMA>(&a, m, &mut right) {
        return false;
    }
    for (c, line) in transposed.iter().enumerate().take(n) {
        let mut sums = [0.0; 4];
        for block in 0..MAX_SMALL / 4 {
            for l in 0..4 {
                sums[l] = fma::<FMA, _>(line[4 * block + l], right[4 * block + l], sums[l]);
            }
        }
        let desired = linear.desired.map_or(0.0, |desired| desired[c]);
        step[c] = fma::<FMA, _>((sums[0] + sums[1]) + (sums[2] + sums[3]), linear.metric[c], desired);
    }
    true
}

/// Four rows of `J W Jᵀ`, up to column `C`.
#[inline(always)]
fn product<const C: usize, const FMA: bool>(
    transposed: &[[f64; MAX_SMALL]],
    metric: &[f64],
    first: usize,
    a: &mut [[f64; MAX_SMALL]; MAX_SMALL],
) {
    let mut sums = [[0.0; C]; 4];
    for (line, w) in transposed.iter().zip(metric) {
        for r in 0..4 {
            let x = line[first + r] * w;
            for l in 0..C {
                sums[r][l] = fma::<FMA, _>(x, line[l], sums[r][l]);
            }
        }
    }
    for r in 0..4 {
        a[first + r][..C].copy_from_slice(&sums[r]);
    }
}

#[inline(always)]
fn wide<const FMA: bool>(linear: &LinearStep<'_>, scratch: &mut Scratch, step: &mut [f64]) -> bool {
    let (m, n) = (linear.rows.len(), linear.columns[1]);
    let Scratch { packed, matrix, right } = scratch;
    packed.clear();
    for i in 0..m {
        packed.extend(linear.row(i).iter().zip(linear.metric).map(|(j, w)| j * w));
    }
    matrix.clear();
    matrix.resize(m * m, 0.0);
    right.clear();
    for i in 0..m {
        for l in 0..=i {
            matrix[i * m + l] = dot_wide::<FMA, 8>(&packed[i * n..(i + 1) * n], linear.row(l));
        }
        matrix[i * m + i] += linear.compliance[i];
        right.push(linear.right(i));
    }
    if factor_rows::<FMA, 8>(matrix, m).is_err() {
        return false;
    }
    solve_lower::<FMA, 8>(matrix, right);
    solve_upper::<FMA>(matrix, right);
    match linear.desired {
        Some(desired) => step.copy_from_slice(desired),
        None => step.fill(0.0),
    }
    for i in 0..m {
        for c in 0..n {
            step[c] = fma::<FMA, _>(packed[i * n + c], right[i], step[c]);
        }
    }
    true
}

/// Normal equations `(Jᵀ E⁻¹ J + W⁻¹) d = W⁻¹ z − Jᵀ E⁻¹ f`, where columns that are held have a row of their own.
#[inline(always)]
fn tall<const FMA: bool>(linear: &LinearStep<'_>, scratch: &mut Scratch, step: &mut [f64]) -> bool {
    let (m, n) = (linear.rows.len(), linear.columns[1]);
    let Scratch { packed, matrix, right } = scratch;
    matrix.clear();
    matrix.resize(n * n, 0.0);
    right.clear();
    right.resize(n, 0.0);
    for i in 0..m {
        packed.clear();
        packed.extend(linear.row(i).iter().zip(linear.metric).map(|(j, w)| if *w > 0.0 { *j } else { 0.0 }));
        let per = 1.0 / linear.compliance[i];
        for c in 0..n {
            let x = packed[c] * per;
            if x != 0.0 {
                for l in 0..=c {
                    matrix[c * n + l] = fma::<FMA, _>(x, packed[l], matrix[c * n + l]);
                }
                right[c] = fma::<FMA, _>(x, -linear.f[i], right[c]);
            }
        }
    }
    for c in 0..n {
        let per = if linear.metric[c] > 0.0 { 1.0 / linear.metric[c] } else { 1.0 };
        matrix[c * n + c] += per;
        right[c] += linear.desired.map_or(0.0, |desired| desired[c] * per);
    }
    if factor_rows::<FMA, 8>(matrix, n).is_err() {
        return false;
    }
    solve_lower::<FMA, 8>(matrix, right);
    solve_upper::<FMA>(matrix, right);
    step.copy_from_slice(right);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// For any shape, the gradient of the minimised function vanishes at the step.
        #[test]
        fn steps_minimise(m in 1..40usize, n in 1..30usize, seed in any::<u32>(), hold in any::<bool>()) {
            let mut state = seed | 1;
            let mut random = || { state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223); f64::from(state >> 8) / f64::from(1 << 24) - 0.5 };
            let stride = n + 3;
            let jacobian: Vec<f64> = (0..(m + 2) * stride).map(|_| random()).collect();
            let rows: Vec<u32> = (0..m as u32).map(|row| row + 1).collect();
            let f: Vec<f64> = (0..m).map(|_| random()).collect();
            let compliance: Vec<f64> = (0..m).map(|_| 0.3 + random().abs()).collect();
            let metric: Vec<f64> = (0..n).map(|c| if hold && c == 0 { 0.0 } else { 0.5 + random().abs() }).collect();
            let desired: Vec<f64> = (0..n).map(|c| if metric[c] > 0.0 { random() } else { 0.0 }).collect();
            let linear = LinearStep { jacobian: &jacobian, stride, columns: [2, n], rows: &rows, f: &f, compliance: &compliance, metric: &metric, desired: Some(&desired) };
            let mut step = vec![0.0; n];
            prop_assert!(linear.solve(&mut Scratch::default(), &mut step));
            let reach: Vec<f64> = (0..m).map(|i| f[i] + linear.row(i).iter().zip(&step).map(|(j, d)| j * d).sum::<f64>()).collect();
            for c in 0..n {
                if metric[c] == 0.0 {
                    prop_assert!(step[c].abs() < 1e-12);
                    continue;
                }
                let pull: f64 = (0..m).map(|i| linear.row(i)[c] * reach[i] / compliance[i]).sum();
                prop_assert!((pull + (step[c] - desired[c]) / metric[c]).abs() < 1e-9, "column {c}");
            }
        }
    }
}
