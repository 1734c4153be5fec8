//! The minimum of a smooth function of many variables within bounds.
//!
//! # Source
//! Byrd, Lu, Nocedal and Zhu, *A limited memory algorithm for bound constrained optimization* (1995), the method of
//! Capell (2004), §6.4.3. Differs: instead of computing a Cauchy point, variables at a bound that push against it are
//! left out of the quasi-Newton step, and the line search follows the step projected onto the bounds (Bertsekas 1982);
//! this needs less code and performs as well for the few bounds of muscles.
//! # Symbols
//! `s`, `y` differences of points and gradients of the last steps
//! # Cost
//! One to two evaluations per round, and `4 m n` multiplications.
//! # Limits
//! Finds a local minimum near the start.

use sinew_geom::linalg::dot;

/// Share of a step at which a search along it gives up.
const MIN_STEP_SHARE: f64 = 1e-6;

/// When to stop.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinimiseParams {
    /// Steps that are remembered. Default 10.
    pub memory: usize,
    /// Rounds at most. Default 200.
    pub rounds: usize,
    /// A round that gains less than this share of the value is the last. Default 1e-9.
    pub gain: f64,
    /// A value that is as good as the least. Default 0.
    pub enough: f64,
}

impl Default for MinimiseParams {
    fn default() -> Self {
        Self { memory: 10, rounds: 200, gain: 1e-9, enough: 0.0 }
    }
}

/// How it went.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MinimiseReport {
    /// The value reached.
    pub value: f64,
    /// Steps taken.
    pub rounds: usize,
    /// Evaluations of the function.
    pub evaluations: usize,
    /// Whether it stopped because nothing was left to gain.
    pub converged: bool,
}

/// Lower and upper bounds; none at all if empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bounds {
    /// Lowest values.
    pub low: Vec<f64>,
    /// Highest values.
    pub high: Vec<f64>,
}

impl Bounds {
    fn clamp(&self, at: usize, x: f64) -> f64 {
        if self.low.is_empty() { x } else { x.clamp(self.low[at], self.high[at]) }
    }

    /// Whether going down the gradient would leave the bounds.
    fn presses(&self, at: usize, x: f64, slope: f64) -> bool {
        !self.low.is_empty() && ((slope > 0.0 && x <= self.low[at]) || (slope < 0.0 && x >= self.high[at]))
    }
}

/// Go down from `x`; `value` writes the gradient.
pub fn minimise(
    x: &mut [f64],
    bounds: &Bounds,
    params: &MinimiseParams,
    mut value: impl FnMut(&[f64], &mut [f64]) -> f64,
) -> MinimiseReport {
    let n = x.len();
    (0..n).for_each(|i| x[i] = bounds.clamp(i, x[i]));
    let mut gradient = vec![0.0; n];
    let mut report = MinimiseReport { value: value(x, &mut gradient), evaluations: 1, ..Default::default() };
    let mut memory: Vec<Pair> = Vec::new();
    let (mut next, mut next_gradient) = (x.to_vec(), vec![0.0; n]);
    while report.rounds < params.rounds {
        let is_free: Vec<bool> = (0..n).map(|i| !bounds.presses(i, x[i], gradient[i])).collect();
        let mut step = quasi_newton(&memory, &gradient, &is_free);
        if dot(&step, &gradient) >= 0.0 {
            memory.clear();
            step = quasi_newton(&memory, &gradient, &is_free);
        }
        let largest = step.iter().fold(0.0, |m: f64, s| m.max(s.abs()));
        if largest == 0.0 || !largest.is_finite() {
            report.converged = largest == 0.0;
            break;
        }
        // Without memory the gradient says nothing about how far to go.
        let whole = if memory.is_empty() { (1.0 / largest).min(1.0) } else { 1.0 };
        let mut length = whole;
        let found = loop {
            (0..n).for_each(|i| next[i] = bounds.clamp(i, x[i] + length * step[i]));
            let at = value(&next, &mut next_gradient);
            report.evaluations += 1;
            let promised: f64 = (0..n).map(|i| gradient[i] * (next[i] - x[i])).sum();
            if at.is_finite() && at <= report.value + 1e-4 * promised {
                break Some(at);
            }
            length *= 0.4;
            if length < MIN_STEP_SHARE * whole {
                break None;
            }
        };
        let Some(at) = found else {
            if memory.is_empty() {
                report.converged = true;
                break;
            }
            memory.clear();
            continue;
        };
        let pair = Pair::new(x, &next, &gradient, &next_gradient);
        if pair.curvature > 1e-12 * dot(&pair.s, &pair.s).sqrt() * dot(&pair.y, &pair.y).sqrt() {
            memory.push(pair);
            if memory.len() > params.memory {
                memory.remove(0);
            }
        }
        let gained = report.value - at;
        x.copy_from_slice(&next);
        gradient.copy_from_slice(&next_gradient);
        report.value = at;
        report.rounds += 1;
        if at <= params.enough || gained <= params.gain * at.abs().max(f64::MIN_POSITIVE) {
            report.converged = true;
            break;
        }
    }
    report
}

struct Pair {
    s: Vec<f64>,
    y: Vec<f64>,
    curvature: f64,
}

impl Pair {
    fn new(x: &[f64], next: &[f64], gradient: &[f64], next_gradient: &[f64]) -> Self {
        let difference = |b: &[f64], a: &[f64]| b.iter().zip(a).map(|(b, a)| b - a).collect::<Vec<f64>>();
        let (s, y) = (difference(next, x), difference(next_gradient, gradient));
        let curvature = dot(&s, &y);
        Self { s, y, curvature }
    }
}

/// `−H g` by the two loops of L-BFGS, on the free variables alone.
fn quasi_newton(memory: &[Pair], gradient: &[f64], is_free: &[bool]) -> Vec<f64> {
    let product = |a: &[f64], b: &[f64]| -> f64 {
        a.iter().zip(b).zip(is_free).filter(|(_, free)| **free).map(|((a, b), _)| a * b).sum()
    };
    let mut q: Vec<f64> =
        gradient.iter().zip(is_free).map(|(g, free)| if *free { -g } else { 0.0 }).collect();
    let mut shares = Vec::new();
    let usable: Vec<(&Pair, f64)> =
        memory.iter().map(|pair| (pair, product(&pair.s, &pair.y))).filter(|(_, c)| *c > 0.0).collect();
    for (pair, curvature) in usable.iter().rev() {
        let share = product(&pair.s, &q) / curvature;
        q.iter_mut().zip(&pair.y).zip(is_free).for_each(|((q, y), f)| *q -= if *f { share * y } else { 0.0 });
        shares.push(share);
    }
    if let Some((pair, curvature)) = usable.last() {
        let scale = curvature / product(&pair.y, &pair.y);
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((pair, curvature), share) in usable.iter().zip(shares.iter().rev()) {
        let back = product(&pair.y, &q) / curvature;
        let add = share - back;
        q.iter_mut().zip(&pair.s).zip(is_free).for_each(|((q, s), f)| *q += if *f { add * s } else { 0.0 });
    }
    q
}
