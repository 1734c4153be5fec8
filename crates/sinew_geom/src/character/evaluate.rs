//! Where a character's surface is at a moment of a clip.

use super::Character;
use crate::{Clip, GeomError, Pose, rig::skin_linear};
use glam::Vec3;

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
        let pose = self.rig.as_ref().map(|rig| match clip {
            Some(clip) => clip.sample(rig, time_secs),
            None => rig.rest_pose(),
        });
        self.positions_of(pose.as_ref(), &weights)
    }

    /// Positions of all vertices in a pose of the rig, in world space.
    ///
    /// # Errors
    /// If pose, skin, rig and mesh do not fit each other.
    pub fn positions_posed(&self, pose: &Pose) -> Result<Vec<Vec3>, GeomError> {
        let weights: Vec<f32> = self.morphs.iter().map(|m| m.default_weight).collect();
        self.positions_of(Some(pose), &weights)
    }

    fn positions_of(&self, pose: Option<&Pose>, weights: &[f32]) -> Result<Vec<Vec3>, GeomError> {
        let mut rest: Vec<Vec3> = self.mesh.positions().iter().map(|p| p.as_vec3()).collect();
        for (morph, &weight) in self.morphs.iter().zip(weights).filter(|(_, w)| **w != 0.0) {
            rest.iter_mut().zip(&morph.offsets).for_each(|(p, offset)| *p += weight * *offset);
        }
        let (Some(rig), Some(skin), Some(pose)) = (&self.rig, &self.skin, pose) else { return Ok(rest) };
        let mut world = Vec::new();
        rig.forward(pose, &mut world)?;
        if let Some(slot) = skin.slots.iter().find(|slot| slot.joint >= world.len()) {
            return Err(GeomError::OutOfRange {
                what: "joint of a skin slot",
                index: slot.joint,
                len: world.len(),
            });
        }
        let mut out = vec![Vec3::ZERO; rest.len()];
        skin_linear(skin, &skin.matrices(&world), &rest, &mut out)?;
        Ok(out)
    }
}
