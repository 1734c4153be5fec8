//! Eigenvalues of small symmetric matrices.
//!
//! # Source
//! Jacobi 1846, cyclic sweeps (Golub & Van Loan, *Matrix Computations*, 8.5).
//! # Cost
//! A few sweeps of `n³` each: for some hundred rows at most.

/// Most sweeps; convergence is quadratic, so that a dozen do.
const SWEEPS: usize = 60;
/// What is left off the diagonal, as a share of the whole in squares.
const LEFT: f64 = 1e-30;

/// Eigenvalues and unit eigenvectors, one a row, of a symmetric matrix given row by row, in no order.
pub fn symmetric_eigen(mut a: Vec<f64>, n: usize) -> (Vec<f64>, Vec<f64>) {
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|i| vectors[i * n + i] = 1.0);
    let total: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].powi(2)).sum();
        if off <= LEFT * total {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut vectors, n, p, q);
            }
        }
    }
    ((0..n).map(|i| a[i * n + i]).collect(), vectors)
}

/// Make the entry (p, q) zero.
fn rotate(a: &mut [f64], vectors: &mut [f64], n: usize, p: usize, q: usize) {
    let apq = a[p * n + q];
    if apq == 0.0 {
        return;
    }
    let theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..n {
        let (x, y) = (a[k * n + p], a[k * n + q]);
        (a[k * n + p], a[k * n + q]) = (c * x - s * y, s * x + c * y);
    }
    for k in 0..n {
        let (x, y) = (a[p * n + k], a[q * n + k]);
        (a[p * n + k], a[q * n + k]) = (c * x - s * y, s * x + c * y);
        let (x, y) = (vectors[p * n + k], vectors[q * n + k]);
        (vectors[p * n + k], vectors[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_is_made_of_its_eigenvectors() {
        let n = 7;
        let entry = |i: usize, j: usize| ((i * j + i + j) % 5) as f64 - 1.5 + if i == j { 3.0 } else { 0.0 };
        let a: Vec<f64> = (0..n * n).map(|at| entry(at / n, at % n)).collect();
        let (values, vectors) = symmetric_eigen(a.clone(), n);
        for i in 0..n {
            for j in 0..n {
                let sum: f64 = (0..n).map(|k| values[k] * vectors[k * n + i] * vectors[k * n + j]).sum();
                assert!((sum - a[i * n + j]).abs() < 1e-12, "{i} {j}: {sum}");
                let dot: f64 = (0..n).map(|k| vectors[i * n + k] * vectors[j * n + k]).sum();
                assert!((dot - if i == j { 1.0 } else { 0.0 }).abs() < 1e-12);
            }
        }
        assert_eq!(symmetric_eigen(Vec::new(), 0), (Vec::new(), Vec::new()));
    }
}
