//! Skin weights: which joints move a vertex, and how much.

use super::Rig;
use crate::{GeomError, Warnings};
use glam::DAffine3;

/// Weights of a surface on a rig, at most `influences` joints per vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Skin {
    /// What the indices of the influences refer to. One joint may have several slots, when parts of a
    /// surface were bound to it in different spaces.
    pub slots: Vec<SkinSlot>,
    influences: usize,
    indices: Vec<u16>,
    weights: Vec<f32>,
}

/// A joint, and where the surface was when it was bound to it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinSlot {
    /// Joint of the rig.
    pub joint: usize,
    /// `joint_from_mesh` at the time of binding.
    pub inverse_bind: DAffine3,
}

/// Weight sums further than this from one are repaired with a warning. Readers of weights rounded to few bits normalise
/// them without one.
const SUM_TOLERANCE: f32 = 1e-3;

impl Skin {
    /// Check and normalise weights. Both slices hold `influences` entries per vertex.
    ///
    /// Negative and non-finite weights become zero; sums are normalised to one. A vertex without any weight is
    /// bound fully to its first slot. Repairs beyond rounding are reported.
    ///
    /// # Errors
    /// Slices of different or indivisible lengths, or a slot out of range.
    pub fn new(
        slots: Vec<SkinSlot>,
        influences: usize,
        indices: Vec<u16>,
        mut weights: Vec<f32>,
        warnings: &mut Warnings,
    ) -> Result<Self, GeomError> {
        // The next whole number of vertices; zero without influences.
        let whole = indices.len().checked_next_multiple_of(influences).unwrap_or(0);
        if indices.len() != whole {
            let actual = indices.len();
            return Err(GeomError::Length { what: "list of skin joints", expected: whole, actual });
        }
        if weights.len() != whole {
            let actual = weights.len();
            return Err(GeomError::Length { what: "list of skin weights", expected: whole, actual });
        }
        if let Some(&index) = indices.iter().find(|&&slot| slot as usize >= slots.len()) {
            return Err(GeomError::OutOfRange { what: "skin joint", index: index.into(), len: slots.len() });
        }
        let (mut n_bare, mut n_off) = (0, 0);
        for vertex in weights.chunks_exact_mut(influences.max(1)) {
            vertex.iter_mut().filter(|w| !(w.is_finite() && **w >= 0.0)).for_each(|w| *w = 0.0);
            let sum: f32 = vertex.iter().sum();
            if sum > 0.0 && sum.is_finite() {
                n_off += usize::from((sum - 1.0).abs() > SUM_TOLERANCE);
                // Sums within rounding of one are not changed, so that files survive a round trip unchanged.
                if (sum - 1.0).abs() > 1e-6 {
                    vertex.iter_mut().for_each(|w| *w /= sum);
                }
            } else {
                n_bare += 1;
                vertex.fill(0.0);
                vertex[0] = 1.0;
            }
        }
        if n_off > 0 {
            warnings.push(format!("{n_off} vertices have skin weights that do not sum to 1; normalised"));
        }
        if n_bare > 0 {
            warnings.push(format!("{n_bare} vertices have no skin weight; bound to their first joint"));
        }
        Ok(Self { slots, influences, indices, weights })
    }

    /// Slots for every joint of a rig, bound at rest.
    pub fn slots_at_rest(rig: &Rig) -> Vec<SkinSlot> {
        let bind = |(joint, world_from_joint): (usize, DAffine3)| SkinSlot {
            joint,
            inverse_bind: world_from_joint.inverse(),
        };
        rig.rest_world().into_iter().enumerate().map(bind).collect()
    }

    /// Weights as whole shares of 1 / 65535, which files hold in 16 bits without loss; sums stay one.
    pub fn rounded(mut self) -> Self {
        const WHOLE: i32 = u16::MAX as i32;
        for vertex in self.weights.chunks_exact_mut(self.influences.max(1)) {
            let mut shares: Vec<i32> = vertex.iter().map(|w| (w * WHOLE as f32).round() as i32).collect();
            let largest = (0..shares.len()).rev().max_by_key(|&at| shares[at]).unwrap_or(0);
            // The rounding error is added where it changes least.
            shares[largest] += WHOLE - shares.iter().sum::<i32>();
            vertex.iter_mut().zip(&shares).for_each(|(w, share)| *w = *share as f32 / WHOLE as f32);
        }
        self
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.indices.len().checked_div(self.influences).unwrap_or(0)
    }

    /// Entries per vertex.
    pub fn influences(&self) -> usize {
        self.influences
    }

    /// Slot indices, `influences` per vertex.
    pub fn indices(&self) -> &[u16] {
        &self.indices
    }

    /// Weights, `influences` per vertex; they sum to one.
    pub fn weights(&self) -> &[f32] {
        &self.weights
    }

    /// Slots and weights of one vertex.
    pub fn vertex(&self, vertex: usize) -> impl Iterator<Item = (u16, f32)> + '_ {
        let range = vertex * self.influences..(vertex + 1) * self.influences;
        self.indices[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// `world_from_mesh` of every slot, for given joint transforms: the matrices skinning blends.
    pub fn matrices(&self, world_from_joint: &[DAffine3]) -> Vec<DAffine3> {
        self.slots.iter().map(|slot| world_from_joint[slot.joint] * slot.inverse_bind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_weights_are_whole_shares_that_sum_to_one() {
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; 3];
        let weights: Vec<f32> = (0..300).map(|k| ((k * 37 % 101) as f32).powi(2) + 0.1).collect();
        let indices = (0..300).map(|k| k % 3).collect();
        let skin = Skin::new(slots, 3, indices, weights, &mut Warnings::default()).unwrap();
        let rounded = skin.clone().rounded();
        for (a, b) in skin.weights().chunks_exact(3).zip(rounded.weights().chunks_exact(3)) {
            let shares: Vec<f32> = b.iter().map(|w| w * 65535.0).collect();
            assert!(shares.iter().all(|share| (share - share.round()).abs() < 1e-2), "{shares:?}");
            assert_eq!(shares.iter().map(|share| share.round() as i32).sum::<i32>(), 65535);
            assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 2.5 / 65535.0));
        }
        assert_eq!(rounded.clone().rounded(), rounded);
    }

    #[test]
    fn lists_of_the_wrong_length_say_what_would_be_right() {
        let slots = || vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }];
        let error = |influences, n_indices, n_weights| {
            let (indices, weights) = (vec![0; n_indices], vec![1.0; n_weights]);
            let skin = Skin::new(slots(), influences, indices, weights, &mut Warnings::default());
            skin.unwrap_err().to_string()
        };
        assert_eq!(error(4, 7, 7), "list of skin joints has 7 entries, expected 8");
        assert_eq!(error(4, 8, 7), "list of skin weights has 7 entries, expected 8");
        assert_eq!(error(0, 7, 7), "list of skin joints has 7 entries, expected 0");
    }
}
