//! The residual of a skin, as a few displacements of the rest pose with weights over time.
//!
//! # Source
//! Antonopoulos (2010), §5.2, eqs. 5.1–5.7 (EigenSkin, after Kry et al. 2002 and Kavan et al. 2007): the error of each
//! vertex and frame is transformed back to the rest pose by the inverse of its blended transform, and the first `f`
//! singular vectors of all such errors are kept. Stored as morph targets, which players apply before the skin, exactly
//! as eq. 5.7 requires. Differs: where a blend is nearly singular its inverse amplifies errors, and the vectors of eq.
//! 5.3 then describe little else. So the inverse is damped, and displacements and weights are refitted in turn to the
//! errors in the poses.
//! # Symbols
//! `E` [3N × P] errors at rest; `K` its first right vectors; `D` the displacements
//! # Cost
//! `EᵀE` of P × P, its eigenvectors; a system of 3f × 3f per vertex, twice.

use crate::{FittedSkin, SkinError, SkinFitter, source::check_length};
use glam::{DMat3, DVec3, Vec3};
use rayon::prelude::*;
use sinew_geom::linalg::{DenseCholesky, symmetric_eigen};

/// Regularisation of displacements and weights towards zero, relative to the diagonal of the equations.
const REGULARISATION: f64 = 1e-9;

/// Displacements of the rest pose and their weight in each frame.
#[derive(Debug, Clone, PartialEq)]
pub struct EigenSkin {
    /// Offsets of all vertices, one list per displacement.
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
    /// The `n` displacements that reduce the error of a skin most; fewer if there are fewer frames.
    ///
    /// # Errors
    /// If the skin belongs to another mesh or number of frames.
    pub fn eigenskin(&self, skin: &FittedSkin, n: usize) -> Result<EigenSkin, SkinError> {
        let tracks = &self.tracks;
        check_length(0, tracks.n_vertices, skin.n_vertices())?;
        let n_frames = tracks.n_frames;
        let n = n.min(n_frames);
        let mut wanted = vec![DVec3::ZERO; tracks.n_vertices];
        // One row per frame.
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
        let mut weights: Vec<Vec<f64>> = vec![Vec::new(); n_frames];
        for vector in largest_eigenvectors(&gram, n_frames, n) {
            weights.iter_mut().zip(&vector).for_each(|(frame, w)| frame.push(*w));
        }
        drop(errors);
        let blends = Blends::new(self, skin)?;
        let mut offsets = blends.fit_offsets(&weights, n)?;
        blends.fit_weights(&offsets, &mut weights)?;
        offsets = blends.fit_offsets(&weights, n)?;
        Ok(finished(offsets, weights, n))
    }
}

/// Scale displacements so that their largest weight is one.
fn finished(offsets: Vec<Vec<DVec3>>, weights: Vec<Vec<f64>>, n: usize) -> EigenSkin {
    let tops: Vec<f64> = (0..n)
        .map(|k| weights.iter().fold(f64::MIN_POSITIVE, |top, frame| top.max(frame[k].abs())))
        .collect();
    let scaled = |frame: &Vec<f64>| frame.iter().zip(&tops).map(|(w, top)| (w / top) as f32).collect();
    EigenSkin {
        offsets: (0..n).map(|k| offsets.iter().map(|of| (of[k] * tops[k]).as_vec3()).collect()).collect(),
        weights: weights.iter().map(scaled).collect(),
    }
}

/// The error of every vertex in every frame, and the linear part of its blend there.
struct Blends {
    n_vertices: usize,
    n_frames: usize,
    /// Frame by frame.
    missed: Vec<(DMat3, DVec3)>,
}

impl Blends {
    fn new(fitter: &SkinFitter, skin: &FittedSkin) -> Result<Self, SkinError> {
        let (n_vertices, n_frames) = (fitter.n_vertices(), fitter.n_frames());
        let mut wanted = vec![DVec3::ZERO; n_vertices];
        let mut missed = Vec::with_capacity(n_vertices * n_frames);
        for frame in 0..n_frames {
            fitter.tracks.frame(frame, &mut wanted);
            missed.extend((0..n_vertices).map(|vertex| blend_of(skin, frame, vertex, wanted[vertex])));
        }
        Ok(Self { n_vertices, n_frames, missed })
    }

    /// Best displacements of each vertex for given weights.
    fn fit_offsets(&self, weights: &[Vec<f64>], n: usize) -> Result<Vec<Vec<DVec3>>, SkinError> {
        let size = 3 * n;
        let of = |vertex: usize| -> Result<Vec<DVec3>, SkinError> {
            let mut matrix = vec![0.0; size * size];
            let mut right = vec![0.0; size];
            for (frame, w) in weights.iter().enumerate() {
                let (linear, missed) = &self.missed[frame * self.n_vertices + vertex];
                let square = (linear.transpose() * *linear).to_cols_array();
                let back = linear.transpose() * *missed;
                for a in 0..n {
                    (0..3).for_each(|d| right[3 * a + d] += w[a] * back[d]);
                    for b in 0..=a {
                        let ww = w[a] * w[b];
                        for c in 0..3 {
                            (0..3).for_each(|r| {
                                matrix[(3 * b + c) * size + 3 * a + r] += ww * square[3 * c + r]
                            });
                        }
                    }
                }
            }
            let trace: f64 = (0..size).map(|at| matrix[at * size + at]).sum();
            (0..size).for_each(|at| matrix[at * size + at] += REGULARISATION * trace / size as f64 + 1e-30);
            DenseCholesky::new(size, matrix)?.solve(&mut right)?;
            Ok(right.as_chunks::<3>().0.iter().map(|o| DVec3::from_array(*o)).collect())
        };
        (0..self.n_vertices).into_par_iter().map(of).collect()
    }

    /// Best weights of each frame for given displacements.
    fn fit_weights(&self, offsets: &[Vec<DVec3>], weights: &mut [Vec<f64>]) -> Result<(), SkinError> {
        debug_assert_eq!(weights.len(), self.n_frames);
        let fitted: Result<Vec<()>, SkinError> = weights
            .par_iter_mut()
            .enumerate()
            .map(|(frame, weights)| {
                let n = weights.len();
                let mut matrix = vec![0.0; n * n];
                let mut right = vec![0.0; n];
                for (vertex, offsets) in offsets.iter().enumerate() {
                    let (linear, missed) = &self.missed[frame * self.n_vertices + vertex];
                    let moved: Vec<DVec3> = offsets.iter().map(|o| *linear * *o).collect();
                    for a in 0..n {
                        right[a] += moved[a].dot(*missed);
                        (0..=a).for_each(|b| matrix[b * n + a] += moved[a].dot(moved[b]));
                    }
                }
                let trace: f64 = (0..n).map(|at| matrix[at * n + at]).sum();
                (0..n).for_each(|at| matrix[at * n + at] += REGULARISATION * trace / n as f64 + 1e-30);
                DenseCholesky::new(n, matrix)?.solve(&mut right)?;
                *weights = right;
                Ok(())
            })
            .collect();
        fitted.map(|_| ())
    }
}

/// The linear part of the blend of a vertex in a frame, and by how much the vertex is missed there.
pub(crate) fn blend_of(skin: &FittedSkin, frame: usize, vertex: usize, wanted: DVec3) -> (DMat3, DVec3) {
    let transforms = skin.frame(frame);
    let (mut linear, mut position) = (DMat3::ZERO, DVec3::ZERO);
    for (bone, w) in skin.vertex(vertex) {
        let (w, t) = (f64::from(w), &transforms[bone as usize]);
        linear += w * t.matrix3;
        position += w * t.transform_point3(skin.rest[vertex]);
    }
    (linear, wanted - position)
}

/// Errors of a frame, carried back to the rest pose (eqs. 5.1–5.2).
fn errors_at_rest(skin: &FittedSkin, frame: usize, wanted: &[DVec3]) -> Vec<Vec3> {
    let error = |vertex: usize| back_to_rest(blend_of(skin, frame, vertex, wanted[vertex])).as_vec3();
    (0..wanted.len()).into_par_iter().with_min_len(512).map(error).collect()
}

/// The error of a vertex, carried back to the rest pose by the damped inverse of its blend.
pub(crate) fn back_to_rest((linear, missed): (DMat3, DVec3)) -> DVec3 {
    const INVERSE_DAMPING: f64 = 1e-2;
    let square = linear.transpose() * linear;
    let size = (square.x_axis.x + square.y_axis.y + square.z_axis.z) / 3.0;
    let damped = square + DMat3::from_diagonal(DVec3::splat(INVERSE_DAMPING * size + f64::MIN_POSITIVE));
    let back = damped.inverse() * (linear.transpose() * missed);
    if back.is_finite() { back } else { DVec3::ZERO }
}

/// Eigenvectors of the largest eigenvalues of a symmetric matrix, of which the lower triangle is given.
fn largest_eigenvectors(a: &[f64], n: usize, wanted: usize) -> Vec<Vec<f64>> {
    let (_, vectors) = symmetric_eigen(a, n);
    vectors.chunks_exact(n.max(1)).rev().take(wanted).map(<[f64]>::to_vec).collect()
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
        assert!(last < 0.01 * plain.e_rms, "{last} of {}", plain.e_rms);
    }
}
