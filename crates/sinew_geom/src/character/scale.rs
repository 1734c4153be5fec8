//! Changing a character's unit of length.

use super::{Character, Handle, Morph};
use crate::{
    Clip, GeomError, Rig, Skin, SkinSlot,
    rig::{JointTrack, Keys},
};
use glam::Vec3;

impl Character {
    /// The same character with all lengths multiplied: mesh, joints, binding, morphs, motion, handles.
    ///
    /// # Errors
    /// If a length overflows.
    pub fn scaled(&self, factor: f64) -> Result<Self, GeomError> {
        let mesh = self.mesh.with_positions(self.mesh.positions().iter().map(|p| *p * factor).collect())?;
        let morph = |m: &Morph| Morph {
            offsets: m.offsets.iter().map(|o| *o * factor as f32).collect(),
            ..m.clone()
        };
        let handle = |h: &Handle| Handle { center: h.center * factor, ..h.clone() };
        Ok(Self {
            mesh,
            rig: self.rig.as_ref().map(|rig| scale_rig(rig, factor)).transpose()?,
            skin: self.skin.clone().map(|skin| scale_skin(skin, factor)),
            morphs: self.morphs.iter().map(morph).collect(),
            clips: self.clips.iter().map(|clip| scale_clip(clip, factor)).collect::<Result<_, _>>()?,
            handles: self.handles.iter().map(handle).collect(),
            ..self.clone()
        })
    }
}

fn scale_rig(rig: &Rig, factor: f64) -> Result<Rig, GeomError> {
    let mut joints = rig.joints().to_vec();
    for joint in &mut joints {
        joint.rest.translation *= factor;
        for dof in joint.dofs.iter_mut().filter(|dof| (dof.kind as usize) < 3) {
            dof.range = dof.range.map(|limit| limit * factor);
        }
    }
    Rig::new(joints)
}

fn scale_skin(mut skin: Skin, factor: f64) -> Skin {
    let scaled = |slot: &SkinSlot| {
        let mut slot = *slot;
        slot.inverse_bind.translation *= factor;
        slot
    };
    skin.slots = skin.slots.iter().map(scaled).collect();
    skin
}

fn scale_clip(clip: &Clip, factor: f64) -> Result<Clip, GeomError> {
    let scale = |keys: &Keys<Vec3>| {
        let values = keys.values().iter().map(|v| *v * factor as f32).collect();
        Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1)
    };
    let track = |track: &JointTrack| {
        Ok(JointTrack { translation: track.translation.as_ref().map(scale).transpose()?, ..track.clone() })
    };
    Ok(Clip { joints: clip.joints.iter().map(track).collect::<Result<_, GeomError>>()?, ..clip.clone() })
}
