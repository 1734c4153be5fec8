//! What a skin misses, as a few displacements of the rest pose that come and go.
//!
//! # Source
//! Antonopoulos 2010, §5.2 eqs. 5.1–5.7 (EigenSkin, after Kry et al. 2002 and Kavan): the error of each vertex and frame
//! is carried back to the rest pose by the inverse of its blended transform, and the first `f` singular vectors of all
//! such errors are kept. Stored as morph targets, which players apply before the skin, exactly as eq. 5.7 wants.
//! Differs: where a blend can hardly be inverted, the error is carried back in the sense of least squares.
//! # Symbols
//! `E` [3N × P] errors at rest; `D` its first left vectors times singular values, `K` the right vectors
//! # Cost
//! `EᵀE` of P × P, its eigenvectors by Jacobi rotations, one product.

use crate::{FittedSkin, SkinError, SkinFitter, source::check_length};
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;

/// Displacements of the rest pose and how much of each a frame takes.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenSkin {
    /// Offsets of all vertices, one list a displacement.
    pub offsets: Vec<Vec<Vec3>>,
    /// Weights of all displacements, frame by frame; the largest of each displacement is one.
    pub weights: Vec<Vec<f32>>,
}

impl EigenSkin {
    /// Rest pose of a frame.
    pub fn rest(&self, skin: &FittedSkin, frame: usize) -> Vec<DVec3> {
        let mut rest = skin.rest.clone();
        for (offsets, w) in self.offsets.iter().zip(&self.weights[frame]) {
            rest.iter_mut().zip(offsets).for_each(|(p, o)| *p += f64::from(*w) * o.as_dvec3());
        }
        rest
    }

    /// Positions of a frame (eq. 5.7).
    pub fn positions(&self, skin: &FittedSkin, frame: usize) -> Vec<DVec3> {
        let corrected = FittedSkin {
            rest: self.rest(skin, frame),
            transforms: skin.frame(frame).to_vec(),
            ..skin.clone()
        };
        corrected.positions(0)
    }
}

impl SkinFitter {
    /// The `n` displacements that lower the error of a skin most; fewer if there are fewer frames.
    ///
    /// # Errors
    /// If the skin belongs to another mesh or number of frames.
    pub fn eigenskin(&self, skin: &FittedSkin, n: usize) -> Result<EigenSkin, SkinError> {
        let tracks = &self.tracks;
        check_length(0, tracks.n_vertices, skin.n_vertices())?;
        let n_frames = tracks.n_frames;
        let n = n.min(n_frames);
        let mut wanted = vec![DVec3::ZERO; tracks.n_vertices];
        // One row a frame.
        let mut errors: Vec<Vec<Vec3>> = Vec::with_capacity(n_frames);
        for frame in 0..n_frames {
            tracks.frame(frame, &mut wanted);
            errors.push(errors_at_rest(skin, frame, &wanted));
        }
        let gram: Vec<f64> = (0..n_frames * n_frames)
            .into_par_iter()
            .map(|at| {
                let (a, b) = (at / n_frames, at % n_frames);
                if b > a {
                    0.0
                } else {
                    errors[a].iter().zip(&errors[b]).map(|(x, y)| f64::from(x.dot(*y))).sum()
                }
            })
            .collect();
        let vectors = largest_eigenvectors(gram, n_frames, n);
        let mut result = EigenSkin { offsets: Vec::new(), weights: vec![Vec::new(); n_frames] };
        for vector in vectors {
            let top = vector.iter().fold(f64::MIN_POSITIVE, |top, w: &f64| top.max(w.abs()));
            let mut offsets = vec![Vec3::ZERO; tracks.n_vertices];
            for (errors, w) in errors.iter().zip(&vector) {
                let w = (w * top) as f32;
                offsets.iter_mut().zip(errors).for_each(|(o, e)| *o += w * *e);
            }
            result.offsets.push(offsets);
            result.weights.iter_mut().zip(&vector).for_each(|(frame, w)| frame.push((w / top) as f32));
        }
        Ok(result)
    }
}

/// Errors of a frame, carried back to the rest pose (eqs. 5.1–5.2).
fn errors_at_rest(skin: &FittedSkin, frame: usize, wanted: &[DVec3]) -> Vec<Vec3> {
    const LITTLE: f64 = 1e-4;
    let transforms = skin.frame(frame);
    let error = |vertex: usize| {
        let (mut linear, mut position) = (DMat3::ZERO, DVec3::ZERO);
        for (bone, w) in skin.vertex(vertex) {
            let (w, t) = (f64::from(w), &transforms[bone as usize]);
            linear += w * t.matrix3;
            position += w * t.transform_point3(skin.rest[vertex]);
        }
        let square = linear.transpose() * linear;
        let size = (square.x_axis.x + square.y_axis.y + square.z_axis.z) / 3.0;
        let damped = square + DMat3::from_diagonal(DVec3::splat(LITTLE * size + f64::MIN_POSITIVE));
        let back = damped.inverse() * (linear.transpose() * (wanted[vertex] - position));
        if back.is_finite() { back.as_vec3() } else { Vec3::ZERO }
    };
    (0..wanted.len()).into_par_iter().with_min_len(512).map(error).collect()
}

/// Eigenvectors of the largest eigenvalues of a symmetric matrix, of which the lower triangle is given, by cyclic Jacobi
/// rotations.
fn largest_eigenvectors(mut a: Vec<f64>, n: usize, wanted: usize) -> Vec<Vec<f64>> {
    const SWEEPS: usize = 30;
    (0..n).for_each(|i| (i + 1..n).for_each(|j| a[i * n + j] = a[j * n + i]));
    let mut v: Vec<f64> = (0..n * n).map(|at| if at / n == at % n { 1.0 } else { 0.0 }).collect();
    let total: f64 = a.iter().map(|x| x * x).sum();
    for _ in 0..SWEEPS {
        let off: f64 =
            (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i * n + j].powi(2)).sum();
        if off <= 1e-24 * total {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, n, p, q);
            }
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| a[j * n + j].total_cmp(&a[i * n + i]).then(i.cmp(&j)));
    order.iter().take(wanted).map(|&k| v[k * n..(k + 1) * n].to_vec()).collect()
}

/// Make the entry (p, q) zero. `v` holds eigenvectors as rows.
fn rotate(a: &mut [f64], v: &mut [f64], n: usize, p: usize, q: usize) {
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
        let (x, y) = (v[p * n + k], v[q * n + k]);
        (v[p * n + k], v[q * n + k]) = (c * x - s * y, s * x + c * y);
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        FitParams, SkinFitter,
        tests::{fit, known_sequence},
    };

    #[test]
    fn more_displacements_leave_less_and_all_leave_nothing() {
        let sequence = known_sequence(6, 8, false);
        let mut source = &sequence;
        let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
        let (skin, plain) = fit(&sequence, &FitParams { bones: 3, ..FitParams::default() });
        let mut last = plain.e_rms;
        for n in [1, 2, 4, 8, 20] {
            let eigen = fitter.eigenskin(&skin, n).unwrap();
            assert_eq!(eigen.offsets.len(), n.min(8));
            let most = eigen.weights.iter().flatten().fold(0.0f32, |most, w| most.max(w.abs()));
            assert!((most - 1.0).abs() < 1e-5);
            let error =
                fitter.measure_positions(&mut |frame| Ok(eigen.positions(&skin, frame))).unwrap().e_rms;
            assert!(error <= last * 1.001, "{n}: {error} after {last}");
            last = error;
        }
        // What is left is the damping of the inverse.
        assert!(last < 0.1 * plain.e_rms, "{last} of {}", plain.e_rms);
    }
}
