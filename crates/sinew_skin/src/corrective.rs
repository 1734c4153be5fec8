//! What a skin misses, as the fewest displacements of the rest pose that a given error needs.
//!
//! # Source
//! Antonopoulos (2010), §5.2, eqs. 5.1–5.7, as in `eigenskin`: errors are carried back to the rest pose, and their first
//! singular vectors are kept. Differs: the mean is taken out first; vectors are found on some of the frames and vertices,
//! so that long motions of large meshes need no more memory than they take themselves; and their number follows from the
//! error that may be left.
//! # Symbols
//! `E` [3S × P] errors at rest of `S` vertices in `P` frames, less their mean; `V` the first eigenvectors of `EᵀE`
//! # Cost
//! Two passes over the frames, and the eigenvectors of a matrix of at most 256 × 256.

use crate::{
    FittedSkin, SkinError, SkinFitter,
    eigenskin::{back_to_rest, blend_of},
    source::check_length,
};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use sinew_geom::linalg::symmetric_eigen;

/// Vertices on which displacements are found.
const MAX_VERTICES: usize = 3000;
/// Frames on which displacements are found.
const MAX_FRAMES: usize = 256;

/// Displacements of the rest pose, applied before the skin: a constant one, and some with weights over time.
#[derive(Debug, Clone, PartialEq)]
pub struct Correctives {
    /// Offsets of all vertices that are added in every frame.
    pub constant: Vec<Vec3>,
    /// Offsets of all vertices, one list per displacement.
    pub offsets: Vec<Vec<Vec3>>,
    /// Weights of all displacements from 0 to 1, frame by frame. Never negative, since some players clamp them.
    pub weights: Vec<Vec<f32>>,
}

impl SkinFitter {
    /// The fewest displacements that bring a skin within `target`, as root mean square distance over the diagonal; at most
    /// `most` beside the constant one. `None` if the skin is that near by itself.
    ///
    /// # Errors
    /// If the skin belongs to another mesh or number of frames.
    pub fn correctives(
        &self,
        skin: &FittedSkin,
        target: f64,
        most: usize,
    ) -> Result<Option<Correctives>, SkinError> {
        let n_vertices = self.n_vertices();
        check_length(0, n_vertices, skin.n_vertices())?;
        let target = target * self.tracks.scale;
        let (errors, squared) = self.sampled_errors(skin);
        if squared.sqrt() <= target {
            return Ok(None);
        }
        let frames: Vec<usize> = (0..errors.len()).step_by(errors.len().div_ceil(MAX_FRAMES)).collect();
        let found = Components::new(&errors, &frames, target, most);
        let (mut constant, mut offsets) = self.spread(skin, &frames, &found);
        let mut weights = found.weights(&errors);
        // From 0 to 1: what is least moves into the constant displacement.
        for (k, of) in offsets.iter_mut().enumerate() {
            let all = weights.iter().map(|frame| frame[k]);
            let [low, high] = all.fold([f64::MAX, f64::MIN], |[low, high], w| [low.min(w), high.max(w)]);
            let span = (high - low).max(f64::MIN_POSITIVE);
            constant.iter_mut().zip(of.iter()).for_each(|(sum, o)| *sum += low * *o);
            of.iter_mut().for_each(|o| *o *= span);
            weights.iter_mut().for_each(|frame| frame[k] = ((frame[k] - low) / span).clamp(0.0, 1.0));
        }
        let single = |list: Vec<DVec3>| list.iter().map(|o| o.as_vec3()).collect::<Vec<Vec3>>();
        Ok(Some(Correctives {
            constant: single(constant),
            offsets: offsets.into_iter().map(single).collect(),
            weights: weights.iter().map(|frame| frame.iter().map(|w| *w as f32).collect()).collect(),
        }))
    }

    /// Errors at rest of some vertices in every frame, and the mean square of all in the poses.
    fn sampled_errors(&self, skin: &FittedSkin) -> (Vec<Vec<DVec3>>, f64) {
        let (n_vertices, n_frames) = (self.n_vertices(), self.n_frames());
        let step = n_vertices.div_ceil(MAX_VERTICES);
        let mut wanted = vec![DVec3::ZERO; n_vertices];
        let mut squared = 0.0;
        let mut errors = Vec::with_capacity(n_frames);
        for frame in 0..n_frames {
            self.tracks.frame(frame, &mut wanted);
            let missed = |vertex: usize| blend_of(skin, frame, vertex, wanted[vertex]);
            let lengths: Vec<f64> = (0..n_vertices)
                .into_par_iter()
                .with_min_len(1024)
                .map(|v| missed(v).1.length_squared())
                .collect();
            squared += lengths.iter().sum::<f64>() / (n_vertices * n_frames) as f64;
            errors.push((0..n_vertices).step_by(step).map(|vertex| back_to_rest(missed(vertex))).collect());
        }
        (errors, squared)
    }

    /// The mean and the displacements of all vertices.
    fn spread(
        &self,
        skin: &FittedSkin,
        frames: &[usize],
        found: &Components,
    ) -> (Vec<DVec3>, Vec<Vec<DVec3>>) {
        let n_vertices = self.n_vertices();
        let share = 1.0 / frames.len() as f64;
        let mut mean = vec![DVec3::ZERO; n_vertices];
        let mut offsets = vec![vec![DVec3::ZERO; n_vertices]; found.vectors.len()];
        let mut wanted = mean.clone();
        for (at, &frame) in frames.iter().enumerate() {
            self.tracks.frame(frame, &mut wanted);
            let error = |vertex: usize| back_to_rest(blend_of(skin, frame, vertex, wanted[vertex]));
            let errors: Vec<DVec3> = (0..n_vertices).into_par_iter().with_min_len(1024).map(error).collect();
            mean.iter_mut().zip(&errors).for_each(|(sum, e)| *sum += share * *e);
            for (of, (vector, root)) in offsets.iter_mut().zip(&found.vectors) {
                of.iter_mut().zip(&errors).for_each(|(sum, e)| *sum += vector[at] / root * *e);
            }
        }
        for (of, (vector, root)) in offsets.iter_mut().zip(&found.vectors) {
            let sum: f64 = vector.iter().sum();
            of.iter_mut().zip(&mean).for_each(|(o, m)| *o -= sum / root * *m);
        }
        (mean, offsets)
    }
}

/// The first singular vectors of errors, less their mean.
struct Components {
    mean: Vec<DVec3>,
    /// Vectors over the chosen frames, with their singular values.
    vectors: Vec<(Vec<f64>, f64)>,
    /// The same over the chosen vertices, of unit length.
    basis: Vec<Vec<DVec3>>,
}

impl Components {
    /// As many as leave no more than `target`, root mean square distance, but at most `most`.
    fn new(errors: &[Vec<DVec3>], frames: &[usize], target: f64, most: usize) -> Self {
        let (n, n_vertices) = (frames.len(), errors[0].len());
        let mut mean = vec![DVec3::ZERO; n_vertices];
        for &frame in frames {
            mean.iter_mut().zip(&errors[frame]).for_each(|(sum, e)| *sum += *e / n as f64);
        }
        let centred =
            |frame: usize| errors[frame].iter().zip(&mean).map(|(e, m)| *e - *m).collect::<Vec<_>>();
        let rows: Vec<Vec<DVec3>> = frames.iter().map(|&frame| centred(frame)).collect();
        let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
        let gram: Vec<f64> = (0..n * n).into_par_iter().map(|at| dot(&rows[at / n], &rows[at % n])).collect();
        let (values, vectors) = symmetric_eigen(&gram, n);
        let mut left: f64 = (0..n).map(|at| gram[at * n + at]).sum();
        let enough = target * target * (n * n_vertices) as f64;
        let (mut kept, mut basis) = (Vec::new(), Vec::new());
        for (value, vector) in values.iter().zip(vectors.chunks_exact(n.max(1))).rev() {
            if left <= enough || kept.len() == most || *value <= 0.0 {
                break;
            }
            let root = value.sqrt();
            let mut along = vec![DVec3::ZERO; n_vertices];
            for (row, v) in rows.iter().zip(vector) {
                along.iter_mut().zip(row).for_each(|(sum, e)| *sum += *v / root * *e);
            }
            left -= value;
            kept.push((vector.to_vec(), root));
            basis.push(along);
        }
        Self { mean, vectors: kept, basis }
    }

    /// Weights of every frame.
    fn weights(&self, errors: &[Vec<DVec3>]) -> Vec<Vec<f64>> {
        let weight = |frame: &[DVec3], along: &[DVec3]| {
            frame.iter().zip(&self.mean).zip(along).map(|((e, m), u)| (*e - *m).dot(*u)).sum::<f64>()
        };
        errors.iter().map(|frame| self.basis.iter().map(|along| weight(frame, along)).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        BoneKind, Correctives, FitParams, FittedSkin, SkinFitter,
        tests::{fit, known_sequence},
    };
    use glam::DVec3;

    fn rest(skin: &FittedSkin, correctives: &Correctives, frame: usize) -> Vec<DVec3> {
        let mut rest = skin.rest.clone();
        rest.iter_mut().zip(&correctives.constant).for_each(|(p, o)| *p += o.as_dvec3());
        for (offsets, w) in correctives.offsets.iter().zip(&correctives.weights[frame]) {
            rest.iter_mut().zip(offsets).for_each(|(p, o)| *p += f64::from(*w) * o.as_dvec3());
        }
        rest
    }

    /// Given weights, fewer bones than the motion has: the fewest displacements reach the error that is asked for.
    #[test]
    fn a_given_error_is_reached() {
        let sequence = known_sequence(6, 40, false);
        let fitter = SkinFitter::new(sequence.rest(), &mut &sequence).unwrap();
        let transforms = BoneKind::Affine;
        let params = FitParams { bones: 3, transforms, correct_rest: false, ..FitParams::default() };
        let (start, _) = fit(&sequence, &params);
        let skin = fitter.fit_bones(&start, BoneKind::Rigid).unwrap();
        let size = sequence.rest().diagonal();
        let rms = |e_rms_diag1: f64| e_rms_diag1 / 100.0 * 3f64.sqrt();
        let plain = rms(fitter.measure(&skin).unwrap().e_rms_diag1);
        assert!(fitter.correctives(&skin, 1.01 * plain, 30).unwrap().is_none());
        let mut last = 0;
        for share in [0.5, 0.1, 0.02] {
            let found = fitter.correctives(&skin, share * plain, 30).unwrap().unwrap();
            assert!(found.offsets.len() >= last && found.offsets.len() < 30, "{}", found.offsets.len());
            last = found.offsets.len();
            assert!(found.weights.iter().flatten().all(|w| (0.0..=1.0).contains(w)));
            let positions = |frame: usize| {
                let transforms = skin.frame(frame).to_vec();
                let posed = FittedSkin { rest: rest(&skin, &found, frame), transforms, ..skin.clone() };
                Ok(posed.positions(0))
            };
            let left = rms(fitter.measure_positions(&mut { positions }).unwrap().e_rms_diag1);
            assert!(left < 2.0 * share * plain, "{left} of {plain} at {share}, size {size}");
        }
    }
}
