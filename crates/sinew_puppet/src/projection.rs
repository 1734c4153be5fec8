//! Which blend of example poses is nearest to a pose.
//!
//! # Source
//! Sun (2017), §4.4, eqs. 4.3–4.9. With `Σ w = 1`, `‖w‖₁ = 1 + 2 Σ max(−w, 0)`: the L1 term of eq. 4.6 is a penalty on
//! negative weights alone. So one solver covers all three projections: penalty 0 is the linear one (eq. 4.3), an
//! infinite penalty the positive one (eq. 4.5), and a finite one that of eq. 4.6. Differs: a small ridge makes the
//! weights unique when examples repeat or are collinear; poses are taken relative to the mean of the examples, which
//! changes only rounding.
//! # Symbols
//! `X` [d × n] examples less their mean; `G = XᵀX + ρI`; `b = Xᵀx`; `λ` penalty; `μ` multiplier of `Σ w = 1`
//! # Cost
//! new: n² d, and n³ for the linear map. solve: n d for `b`, then for each change of the active set one row of the
//! Cholesky factor, or the rows behind the one removed; with a warm start from the last pose, one or two changes.
//! # Limits
//! Examples that are exactly alike share their weight evenly.

use crate::PuppetError;
use sinew_geom::linalg::{dot_wide, factor_rows_with, solve_lower, solve_pairs, solve_upper};

/// How a pose is expressed by examples.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Projection {
    /// Any weights that sum to one: the best fit, but the least stable (eq. 4.3).
    Linear,
    /// No negative weights: stable, but without extrapolation (eq. 4.5).
    Positive,
    /// Penalised negative weights: the `λ` of eq. 4.6, as a share of the mean square of the examples, so that it means
    /// the same for an arm as for a body.
    L1(f64),
    /// By distance: each example counts by its distance from the pose, and has weight 1 at its own pose
    /// (radial basis functions `−r` with constants, or, which is the same, ordinary kriging).
    Radial,
}

impl Default for Projection {
    fn default() -> Self {
        Self::L1(Self::LAMBDA)
    }
}

impl Projection {
    /// Default penalty.
    pub const LAMBDA: f64 = 0.02;

    /// Names of all.
    pub const NAMES: [&str; 4] = ["linear", "positive", "l1", "radial"];

    /// Projection of a name; `lambda` is the penalty of `l1`.
    pub fn from_name(name: &str, lambda: f64) -> Option<Self> {
        match name {
            "linear" => Some(Self::Linear),
            "positive" => Some(Self::Positive),
            "l1" => Some(Self::L1(lambda)),
            "radial" => Some(Self::Radial),
            _ => None,
        }
    }

    /// Name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Positive => "positive",
            Self::L1(_) => "l1",
            Self::Radial => "radial",
        }
    }

    /// The `λ` of eq. 4.6, as a share.
    pub fn lambda(self) -> f64 {
        match self {
            Self::Linear | Self::Radial => 0.0,
            Self::Positive => f64::INFINITY,
            Self::L1(lambda) => lambda,
        }
    }
}

/// Settings of a projection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectionParams {
    /// Which of them.
    pub projection: Projection,
    /// `ρ` as a share of the mean square of the examples (1e-4): how strongly weights are kept small and shared.
    pub ridge: f64,
}

impl Default for ProjectionParams {
    fn default() -> Self {
        Self { projection: Projection::default(), ridge: 1e-4 }
    }
}

/// How a projection went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProjectionReport {
    /// Root mean square difference between pose and blend, over the numbers of a pose.
    pub residual: f64,
    /// Sets of active weights that were tried.
    pub iterations: usize,
    /// Whether the conditions of an optimum hold; false if rounding prevented further progress.
    pub converged: bool,
}

/// Examples, ready to be projected on.
#[derive(Debug, Clone)]
pub struct ProjectionSolver {
    n: usize,
    price: f64,
    mean: Vec<f64>,
    /// Rows are examples.
    x: Vec<f64>,
    gram: Vec<f64>,
    /// Mean of the diagonal, by which tolerances are measured.
    scale: f64,
    /// For the linear projection: rows of the map from `b` to weights, then the weights at `b = 0`.
    linear: Option<(Vec<f64>, Vec<f64>)>,
    /// For the radial one: the distance at which similarity is zero.
    reach: Option<f64>,
    /// Identifies the Gram matrix, so that factors of another one are not reused.
    mark: u64,
}

/// The last weights, from which the next projection starts, and buffers.
#[derive(Debug, Clone, Default)]
pub struct ProjectionState {
    /// The weights; they sum to one.
    pub weights: Vec<f64>,
    sign: Vec<i8>,
    centred: Vec<f64>,
    b: Vec<f64>,
    gradient: Vec<f64>,
    /// Nonzero weights, in the order of the factor.
    active: Vec<usize>,
    /// Rows of the factor of their part of `G`, each of the length of all weights, with reciprocals on the diagonal; `n_factored` rows
    /// are valid.
    factor: Vec<f64>,
    n_factored: usize,
    /// Identifier of its matrix.
    mark: u64,
    y: Vec<f64>,
    both: Vec<[f64; 2]>,
}

/// Gradients are equal if they differ by less than this share of the scale.
const GRADIENT_TOLERANCE: f64 = 1e-10;

/// Typical number of passes of a search.
const TYPICAL_PASSES: usize = 8;

impl ProjectionSolver {
    /// Prepare examples, each a list of `d` numbers.
    ///
    /// # Errors
    /// No example, examples of different or no length, numbers that are not finite, a negative penalty or ridge.
    pub fn new(examples: &[Vec<f64>], params: &ProjectionParams) -> Result<Self, PuppetError> {
        let d = check(examples, params)?;
        let n = examples.len();
        let mut mean = vec![0.0; d];
        for example in examples {
            mean.iter_mut().zip(example).for_each(|(m, v)| *m += v / n as f64);
        }
        let x: Vec<f64> =
            examples.iter().flat_map(|example| example.iter().zip(&mean).map(|(v, m)| v - m)).collect();
        let row = |i: usize| &x[i * d..(i + 1) * d];
        let mut gram = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let product = dot_wide::<false, 4>(row(i), row(j));
                (gram[i * n + j], gram[j * n + i]) = (product, product);
            }
        }
        let reach = (params.projection == Projection::Radial).then(|| to_likeness(&mut gram, n));
        let trace = (0..n).map(|i| gram[i * n + i]).sum::<f64>() / n as f64;
        // One example, or all alike: any weights fit equally, and the ridge alone decides.
        let scale = if trace > 0.0 { trace } else { 1.0 };
        (0..n).for_each(|i| gram[i * n + i] += params.ridge * scale);
        let price = params.projection.lambda() * scale;
        let linear = (price == 0.0).then(|| linear_map(&gram, n));
        let mark =
            gram.iter().fold(n as u64 | 1, |mark, v| (mark ^ v.to_bits()).wrapping_mul(0x100_0000_01b3));
        Ok(Self { n, price, mean, x, gram, scale, linear, reach, mark })
    }

    /// Number of examples.
    pub fn n_examples(&self) -> usize {
        self.n
    }

    /// Find the weights of a pose, starting from those in `state`.
    ///
    /// # Errors
    /// A pose of another length, or with numbers that are not finite.
    pub fn solve(&self, pose: &[f64], state: &mut ProjectionState) -> Result<ProjectionReport, PuppetError> {
        let d = self.mean.len();
        if pose.len() != d {
            return Err(PuppetError::Length { pair: 0, expected: d, actual: pose.len() });
        }
        if let Some(index) = pose.iter().position(|v| !v.is_finite()) {
            return Err(PuppetError::NonFinite { what: "number of the pose", index });
        }
        state.resize(self.n, self.mark);
        state.centred.clear();
        state.centred.extend(pose.iter().zip(&self.mean).map(|(v, m)| v - m));
        state.b.clear();
        let rows = self.x.chunks_exact(d.max(1));
        match self.reach {
            Some(reach) => state.b.extend(rows.map(|row| reach - distance(row, &state.centred))),
            None => state.b.extend(rows.map(|row| dot_wide::<false, 4>(row, &state.centred))),
        }
        let (iterations, converged) = match &self.linear {
            Some((map, at_zero)) => {
                for (i, weight) in state.weights.iter_mut().enumerate() {
                    *weight = at_zero[i] + dot_wide::<false, 4>(&map[i * self.n..(i + 1) * self.n], &state.b);
                }
                (1, true)
            }
            None => self.search(state),
        };
        Ok(ProjectionReport { residual: self.residual(state), iterations, converged })
    }

    fn residual(&self, state: &mut ProjectionState) -> f64 {
        let d = self.mean.len();
        for (weight, row) in state.weights.iter().zip(self.x.chunks_exact(d)).filter(|(w, _)| **w != 0.0) {
            state.centred.iter_mut().zip(row).for_each(|(v, x)| *v -= weight * x);
        }
        (dot_wide::<false, 4>(&state.centred, &state.centred) / d as f64).sqrt()
    }

    /// Change one weight's state at a time, to positive, negative or none, until no change improves the objective.
    fn search(&self, state: &mut ProjectionState) -> (usize, bool) {
        if state.is_cold() || (self.price.is_infinite() && state.sign.iter().any(|&s| s < 0)) {
            self.start(state);
        }
        let (mut iterations, mut banned, mut best) = (0, usize::MAX, f64::INFINITY);
        // Every pass lowers the objective or ends the search; the limit is for rounding alone.
        for pass in 0..10 * self.n + 50 {
            let (mu, n_tried, dropped) = self.settle(state);
            iterations += n_tried;
            // After a typical number of passes the objective is checked as well.
            let objective = if pass < TYPICAL_PASSES { f64::NEG_INFINITY } else { self.objective(state) };
            // A weight that enters and leaves at once changes only rounding.
            banned = if dropped == Some(banned) || objective >= best { banned } else { usize::MAX };
            best = if pass < TYPICAL_PASSES { best } else { best.min(objective) };
            let Some((entering, sign)) = self.most_wrong(state, mu, banned) else {
                return (iterations, banned == usize::MAX);
            };
            if entering == banned {
                return (iterations, false);
            }
            banned = entering;
            state.sign[entering] = sign;
            state.weights[entering] = 0.0;
            state.active.push(entering);
        }
        (iterations, false)
    }

    /// Begin at the nearest example.
    fn start(&self, state: &mut ProjectionState) {
        state.weights.fill(0.0);
        state.sign.fill(0);
        let cost = |i: usize| 0.5 * self.gram[i * self.n + i] - state.b[i];
        let nearest = (0..self.n).min_by(|&i, &j| cost(i).total_cmp(&cost(j))).unwrap_or(0);
        (state.weights[nearest], state.sign[nearest]) = (1.0, 1);
        (state.active, state.n_factored) = (vec![nearest], 0);
    }

    /// The optimum over the active weights with their signs; those that would change sign leave.
    /// Returns the multiplier, how many sets were tried and the last weight that left.
    fn settle(&self, state: &mut ProjectionState) -> (f64, usize, Option<usize>) {
        let mut dropped = None;
        for n_tried in 1.. {
            let mu = self.solve_active(state);
            let (mut step, mut blocking) = (1.0, None);
            for (k, &i) in state.active.iter().enumerate() {
                let (at, to) = (state.weights[i], state.y[k]);
                if to * f64::from(state.sign[i]) <= 0.0 {
                    let share = if at == to { 0.0 } else { (at / (at - to)).max(0.0) };
                    if share < step {
                        (step, blocking) = (share, Some((k, i)));
                    }
                }
            }
            // The last active weight is one, whatever rounding says.
            let blocking = blocking.filter(|_| state.active.len() > 1);
            let step = if blocking.is_some() { step } else { 1.0 };
            for (k, &i) in state.active.iter().enumerate() {
                state.weights[i] += step * (state.y[k] - state.weights[i]);
            }
            let Some((k, i)) = blocking else { return (mu, n_tried, dropped) };
            (state.weights[i], state.sign[i], dropped) = (0.0, 0, Some(i));
            state.active.remove(k);
            state.n_factored = state.n_factored.min(k);
        }
        unreachable!("every turn removes a weight, and the last stays")
    }

    /// Solve `G w = b + λ[w < 0] + μ`, `Σ w = 1` on the active weights into `y`; returns `μ`.
    fn solve_active(&self, state: &mut ProjectionState) -> f64 {
        self.factorise(state);
        let ProjectionState { sign, b, active, factor, y, both, .. } = state;
        both.clear();
        both.extend(active.iter().map(|&i| [b[i] + if sign[i] < 0 { self.price } else { 0.0 }, 1.0]));
        solve_pairs(factor, self.n, both);
        let [weight, share] = both.iter().fold([0.0; 2], |sum, v| [sum[0] + v[0], sum[1] + v[1]]);
        let mu = (1.0 - weight) / share;
        y.clear();
        y.extend(both.iter().map(|[y, z]| y + mu * z));
        mu
    }

    /// The rows of the factor that are not valid. A weight that enters becomes the last row, so that no other row is
    /// computed again; between poses with the same active weights nothing is.
    fn factorise(&self, state: &mut ProjectionState) {
        let ProjectionState { active, factor, n_factored, .. } = state;
        factor.resize(self.n * self.n, 0.0);
        for r in *n_factored..active.len() {
            let (above, row) = factor.split_at_mut(r * self.n);
            let gram = &self.gram[active[r] * self.n..];
            for (c, &j) in active[..r].iter().enumerate() {
                let other = &above[c * self.n..];
                row[c] = (gram[j] - dot_wide::<false, 4>(&row[..c], &other[..c])) * other[c];
            }
            row[r] = 1.0 / pivot(gram[active[r]] - dot_wide::<false, 4>(&row[..r], &row[..r]), self.scale);
        }
        *n_factored = active.len();
    }

    /// The zero weight that should not be zero: its gradient lies outside `μ ..= μ + λ`.
    fn most_wrong(&self, state: &mut ProjectionState, mu: f64, banned: usize) -> Option<(usize, i8)> {
        self.compute_gradient(state);
        let (mut worst, mut found) = (GRADIENT_TOLERANCE * self.scale, None);
        for i in (0..self.n).filter(|&i| state.sign[i] == 0 && i != banned) {
            let g = state.gradient[i];
            for (wrong, sign) in [(mu - g, 1), (g - self.price - mu, -1)] {
                if wrong > worst {
                    (worst, found) = (wrong, Some((i, sign)));
                }
            }
        }
        found
    }

    /// `G w − b`.
    fn compute_gradient(&self, state: &mut ProjectionState) {
        state.gradient.clear();
        state.gradient.extend(state.b.iter().map(|b| -b));
        for &j in &state.active {
            let (weight, row) = (state.weights[j], &self.gram[j * self.n..(j + 1) * self.n]);
            state.gradient.iter_mut().zip(row).for_each(|(g, v)| *g += weight * v);
        }
    }

    fn objective(&self, state: &ProjectionState) -> f64 {
        let mut sum = 0.0;
        for &i in &state.active {
            let (weight, row) = (state.weights[i], &self.gram[i * self.n..]);
            let product: f64 = state.active.iter().map(|&j| row[j] * state.weights[j]).sum();
            sum += weight * (0.5 * product - state.b[i]);
            if weight < 0.0 {
                sum -= self.price * weight;
            }
        }
        sum
    }
}

impl ProjectionState {
    fn resize(&mut self, n: usize, mark: u64) {
        if self.weights.len() != n {
            self.weights = vec![0.0; n];
            self.sign = vec![0; n];
            self.active.clear();
        }
        if self.mark != mark {
            (self.mark, self.n_factored) = (mark, 0);
        }
    }

    fn is_cold(&self) -> bool {
        self.sign.iter().all(|&s| s == 0)
    }
}

fn check(examples: &[Vec<f64>], params: &ProjectionParams) -> Result<usize, PuppetError> {
    let first = examples.first().ok_or(PuppetError::NoPairs)?;
    for (pair, example) in examples.iter().enumerate() {
        if example.len() != first.len() {
            return Err(PuppetError::Length { pair, expected: first.len(), actual: example.len() });
        }
        if example.iter().any(|v| !v.is_finite()) {
            return Err(PuppetError::NonFinite { what: "source pose of pair", index: pair });
        }
    }
    let at_least_zero = |name, value: f64| match value >= 0.0 {
        true => Ok(()),
        false => Err(PuppetError::Parameter {
            name,
            value: value.to_string(),
            expected: "it must not be negative",
        }),
    };
    at_least_zero("lambda", params.projection.lambda())?;
    // Without any ridge, examples that repeat would have no weights of their own.
    if !(params.ridge >= 1e-12 && params.ridge <= 1.0) {
        let value = params.ridge.to_string();
        return Err(PuppetError::Parameter {
            name: "ridge",
            value,
            expected: "it must lie within 1e-12 and 1",
        });
    }
    Ok(first.len())
}

/// Eq. 4.4 once for all poses: `w = G⁻¹b + z (1 − 1ᵀG⁻¹b) / 1ᵀz` with `z = G⁻¹1`.
fn linear_map(gram: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut factor = gram.to_vec();
    let floored = |square: f64| Some(pivot(square, 1.0));
    // With a floor under its pivots a factorisation cannot fail.
    _ = factor_rows_with::<false, 4>(&mut factor, n, floored);
    let solve = |x: &mut [f64]| {
        solve_lower::<false, 4>(&factor, x);
        solve_upper::<false>(&factor, x);
    };
    let mut z = vec![1.0; n];
    solve(&mut z);
    let sum: f64 = z.iter().sum();
    let mut map = vec![0.0; n * n];
    for (j, row) in map.chunks_exact_mut(n).enumerate() {
        // The inverse is symmetric: its columns are its rows.
        row[j] = 1.0;
        solve(row);
        let share = z[j] / sum;
        row.iter_mut().zip(&z).for_each(|(v, z)| *v -= z * share);
    }
    (map, z.iter().map(|z| z / sum).collect())
}

/// Turn a Gram matrix of centred examples into one of similarity: reach minus distance. Returns the reach. With
/// `Σ w = 1` its size does not matter, as long as the matrix is positive definite.
fn to_likeness(gram: &mut [f64], n: usize) -> f64 {
    let squares: Vec<f64> = (0..n).map(|i| gram[i * n + i]).collect();
    for i in 0..n {
        for j in 0..n {
            gram[i * n + j] = (squares[i] + squares[j] - 2.0 * gram[i * n + j]).max(0.0).sqrt();
        }
    }
    let farthest = gram.iter().copied().fold(0.0, f64::max);
    let reach = if farthest > 0.0 { 4.0 * farthest } else { 1.0 };
    gram.iter_mut().for_each(|v| *v = reach - *v);
    reach
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// A pivot lost to rounding becomes the smallest valid one.
fn pivot(square: f64, scale: f64) -> f64 {
    square.max(1e-15 * scale).sqrt()
}
