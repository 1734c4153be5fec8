//! The result of a fit, in the caller's space.

use crate::{state::State, tracks::Tracks};
use glam::{DAffine3, DMat3, DVec3};
use rayon::prelude::*;

/// Bones, weights and a rest pose that reproduce a sequence (Antonopoulos (2010), eq. 3.1): vertex `i` in frame `p`
/// is at `Σ_b w_ib T_b^p u_i`.
#[derive(Debug, Clone, PartialEq)]
pub struct FittedSkin {
    /// Rest positions, corrected if requested.
    pub rest: Vec<DVec3>,
    /// Number of bones.
    pub n_bones: usize,
    /// Entries per vertex in `indices` and `weights`.
    pub influences: usize,
    /// Bones of each vertex; unused entries are zero.
    pub indices: Vec<u16>,
    /// Weights, not negative, summing to one; unused entries are zero.
    pub weights: Vec<f32>,
    /// `frame_from_rest` of every bone, frame by frame.
    pub transforms: Vec<DAffine3>,
}

impl FittedSkin {
    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.rest.len()
    }

    /// Number of frames.
    pub fn n_frames(&self) -> usize {
        self.transforms.len().checked_div(self.n_bones).unwrap_or(0)
    }

    /// Transforms of all bones in a frame.
    pub fn frame(&self, frame: usize) -> &[DAffine3] {
        &self.transforms[frame * self.n_bones..(frame + 1) * self.n_bones]
    }

    /// Bones and weights of a vertex.
    pub fn vertex(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = vertex * self.influences..(vertex + 1) * self.influences;
        self.indices[range.clone()]
            .iter()
            .copied()
            .zip(self.weights[range].iter().copied())
            .filter(|(_, weight)| *weight > 0.0)
    }

    /// Positions of all vertices in a frame.
    pub fn positions(&self, frame: usize) -> Vec<DVec3> {
        let transforms = self.frame(frame);
        let position = |vertex: usize| {
            let u = self.rest[vertex];
            self.vertex(vertex)
                .map(|(bone, w)| f64::from(w) * transforms[bone as usize].transform_point3(u))
                .sum()
        };
        (0..self.n_vertices()).into_par_iter().with_min_len(1024).map(position).collect()
    }

    /// Whether bones only turn and shift, to the rounding of single precision. Those that mirror do more than that.
    pub fn is_rigid(&self) -> bool {
        self.transforms.iter().all(|t| {
            let off = t.matrix3.transpose() * t.matrix3 - DMat3::IDENTITY;
            t.matrix3.determinant() > 0.0 && off.to_cols_array().iter().all(|x| x.abs() < 1e-4)
        })
    }

    /// Bones that move at least one vertex.
    pub fn n_used_bones(&self) -> usize {
        let mut used = vec![false; self.n_bones];
        for vertex in 0..self.n_vertices() {
            self.vertex(vertex).for_each(|(bone, _)| used[bone as usize] = true);
        }
        used.iter().filter(|used| **used).count()
    }

    pub(crate) fn from_state(tracks: &Tracks, state: &State) -> Self {
        let (scale, lanes) = (tracks.scale, tracks.n_lanes);
        let outside = |u: &[f32; 3]| DVec3::from_array(u.map(f64::from)) * scale + tracks.rest_center;
        let bones = &state.bones;
        let mut transforms = Vec::with_capacity(tracks.n_frames * bones.n_bones);
        for frame in 0..tracks.n_frames {
            for bone in 0..bones.n_bones {
                let rows = bones.of(bone);
                let column = |a: usize| {
                    DVec3::from_array(std::array::from_fn(|d| {
                        f64::from(rows[a * 3 * lanes + d * lanes + frame])
                    }))
                };
                let a = DMat3::from_cols(column(0), column(1), column(2));
                let moved = column(3) * scale + tracks.centers[frame];
                transforms
                    .push(DAffine3 { matrix3: a, translation: moved - a * outside(&bones.centers[bone]) });
            }
        }
        Self {
            rest: state.rest.iter().map(outside).collect(),
            n_bones: bones.n_bones,
            influences: state.influences.width,
            indices: state.influences.slots.clone(),
            weights: state.influences.weights.clone(),
            transforms,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mirrors_are_not_rigid() {
        let skin = |matrix3: DMat3| FittedSkin {
            rest: vec![DVec3::ZERO],
            n_bones: 1,
            influences: 1,
            indices: vec![0],
            weights: vec![1.0],
            transforms: vec![DAffine3 { matrix3, translation: DVec3::X }],
        };
        assert!(skin(DMat3::from_rotation_z(1.0)).is_rigid());
        assert!(!skin(DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0))).is_rigid());
        assert!(!skin(DMat3::from_diagonal(DVec3::new(2.0, 1.0, 1.0))).is_rigid());
    }
}
