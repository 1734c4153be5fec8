//! Where a character's surface is at a moment of a clip.

use super::Character;
use crate::{Clip, GeomError, Pose, rig::skin_linear};
use glam::{DAffine3, DMat3, DVec3, Vec3};

/// Entries of a matrix, or diagonals of the mesh, by which the rest pose may miss the bind pose and count as the same.
const SAME_AS_BOUND: f64 = 1e-5;

impl Character {
    /// Positions of all vertices, in world space: morphs, then the skin by linear blending. Without a clip, the
    /// rest pose of the rig.
    ///
    /// # Errors
    /// If skin, rig and mesh do not fit each other.
    pub fn positions_at(&self, clip: Option<&Clip>, time_secs: f32) -> Result<Vec<Vec3>, GeomError> {
        let mut weights: Vec<f32> = self.morphs.iter().map(|m| m.default_weight).collect();
        if let Some(clip) = clip {
            clip.sample_morphs(time_secs, &mut weights);
        }
        let mut world = Vec::new();
        if let Some(rig) = &self.rig {
            let pose = clip.map_or_else(|| rig.rest_pose(), |clip| clip.sample(rig, time_secs));
            rig.forward(&pose, &mut world)?;
        }
        self.skinned(&weights, &world)
    }

    /// Positions of all vertices in a pose of the rig, and morphs as they are by default.
    ///
    /// # Errors
    /// If pose, skin, rig and mesh do not fit each other.
    pub fn positions_posed(&self, pose: &Pose) -> Result<Vec<Vec3>, GeomError> {
        let mut world = Vec::new();
        if let Some(rig) = &self.rig {
            rig.forward(pose, &mut world)?;
        }
        self.positions_by(&world)
    }

    /// Positions of all vertices with the joints at `world_from_joint`, and morphs as they are by default.
    ///
    /// # Errors
    /// If skin, joints and mesh do not fit each other.
    pub fn positions_by(&self, world_from_joint: &[DAffine3]) -> Result<Vec<Vec3>, GeomError> {
        let weights: Vec<f32> = self.morphs.iter().map(|m| m.default_weight).collect();
        self.skinned(&weights, world_from_joint)
    }

    /// What leads from the surface as the resting skeleton shows it back to the mesh, for every vertex. `None` if they are
    /// the same, as they are where the rest pose is the bind pose.
    pub fn mesh_from_rest(&self) -> Option<Vec<DAffine3>> {
        let (rig, skin) = (self.rig.as_ref()?, self.skin.as_ref()?);
        let matrices = skin.matrices(&rig.rest_world());
        let size = self.mesh.diagonal().max(f64::MIN_POSITIVE);
        let is_plain = |m: &DAffine3| {
            let linear = (m.matrix3 - DMat3::IDENTITY)
                .to_cols_array()
                .into_iter()
                .fold(0.0, |a: f64, x| a.max(x.abs()));
            linear <= SAME_AS_BOUND && m.translation.abs().max_element() <= SAME_AS_BOUND * size
        };
        if matrices.iter().all(is_plain) {
            return None;
        }
        let back = |v: usize| {
            let zero = DAffine3::from_mat3_translation(DMat3::ZERO, DVec3::ZERO);
            let blended = skin.vertex(v).fold(zero, |sum, (slot, weight)| {
                let (m, w) = (&matrices[slot as usize], f64::from(weight));
                DAffine3 {
                    matrix3: sum.matrix3 + m.matrix3 * w,
                    translation: sum.translation + m.translation * w,
                }
            });
            let inverse = blended.inverse();
            if inverse.is_finite() { inverse } else { DAffine3::IDENTITY }
        };
        Some((0..skin.n_vertices()).map(back).collect())
    }

    fn skinned(&self, weights: &[f32], world: &[DAffine3]) -> Result<Vec<Vec3>, GeomError> {
        let mut rest: Vec<Vec3> = self.mesh.positions().iter().map(|p| p.as_vec3()).collect();
        for (morph, &weight) in self.morphs.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            rest.iter_mut().zip(&morph.offsets).for_each(|(p, offset)| *p += weight * *offset);
        }
        let (Some(_), Some(skin)) = (&self.rig, &self.skin) else { return Ok(rest) };
        if let Some(slot) = skin.slots.iter().find(|slot| slot.joint >= world.len()) {
            return Err(GeomError::OutOfRange {
                what: "joint of a skin slot",
                index: slot.joint,
                len: world.len(),
            });
        }
        let mut out = vec![Vec3::ZERO; rest.len()];
        skin_linear(skin, &skin.matrices(world), &rest, &mut out)?;
        Ok(out)
    }
}
