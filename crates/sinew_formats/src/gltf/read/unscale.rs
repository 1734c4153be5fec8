//! Joints in metres: uniform scales are moved out of the rig.
//!
//! Many files have an armature of scale 100 (or 0.01) over joints in centimetres. Joints then do not move in
//! metres, and players lose precision. With `u = product of the scales above and at a joint`, the frame of each
//! joint is enlarged by `u`: translations are multiplied by `u` of the parent, scales divided out, and the
//! bindings multiplied by `u`. Since a uniform scale commutes with rotations, the evaluated surface does not change.

use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::rig::{JointTrack, Keys};
use sinew_geom::{Character, GeomError, Rig};

/// Scales closer to one than this are not changed: they are noise, or intended.
const NOTICEABLE: f64 = 0.01;
/// Largest difference of the three scales of a joint that counts as uniform.
const UNIFORM: f64 = 1e-4;

/// Move the uniform scales of a character's joints into translations and bindings. Returns how much larger the frame of
/// each joint is taken.
pub(super) fn remove_scales(character: &mut Character) -> Result<Vec<f64>, GeomError> {
    let Some(rig) = &character.rig else { return Ok(Vec::new()) };
    let units = find_units(rig, character);
    if units.iter().all(|&unit| unit == 1.0) {
        return Ok(units);
    }
    let parent_unit: Vec<f64> =
        rig.joints().iter().map(|joint| joint.parent.map_or(1.0, |parent| units[parent])).collect();
    let mut joints = rig.joints().to_vec();
    for (index, joint) in joints.iter_mut().enumerate() {
        joint.rest.translation *= parent_unit[index];
        joint.rest.scale *= parent_unit[index] / units[index];
    }
    character.rig = Some(Rig::new(joints)?);
    for slot in character.skin.iter_mut().flat_map(|skin| &mut skin.slots) {
        let bound = DAffine3::from_scale(DVec3::splat(units[slot.joint])) * slot.inverse_bind;
        // The precision of files, so that a round trip preserves it.
        slot.inverse_bind = DAffine3::from_cols_array(&bound.to_cols_array().map(|x| f64::from(x as f32)));
    }
    for track in character.clips.iter_mut().flat_map(|clip| &mut clip.joints) {
        let parent = parent_unit[track.joint];
        multiply(&mut track.translation, parent)?;
        multiply(&mut track.scale, parent / units[track.joint])?;
    }
    Ok(units)
}

/// Factor by which the frame of each joint is enlarged.
fn find_units(rig: &Rig, character: &Character) -> Vec<f64> {
    let mut varies = vec![false; rig.n_joints()];
    for track in character.clips.iter().flat_map(|clip| &clip.joints) {
        varies[track.joint] |= scale_varies(track, rig.joints()[track.joint].rest.scale);
    }
    let mut units: Vec<f64> = Vec::with_capacity(rig.n_joints());
    for (joint, varies) in rig.joints().iter().zip(varies) {
        let scale = joint.rest.scale;
        let uniform =
            scale.min_element() > 0.0 && scale.max_element() < scale.min_element() * (1.0 + UNIFORM);
        let noticeable = (scale.x - 1.0).abs() > NOTICEABLE;
        let own = if uniform && noticeable && !varies { scale.x } else { 1.0 };
        units.push(own * joint.parent.map_or(1.0, |parent| units[parent]));
    }
    units
}

fn scale_varies(track: &JointTrack, rest: DVec3) -> bool {
    let differs =
        |value: &Vec3| (value.as_dvec3() - rest).abs().max_element() > 1e-3 * rest.abs().max_element();
    track.scale.as_ref().is_some_and(|keys| keys.values().iter().any(differs))
}

fn multiply(keys: &mut Option<Keys<Vec3>>, factor: f64) -> Result<(), GeomError> {
    let Some(old) = keys.take_if(|_| factor != 1.0) else { return Ok(()) };
    let values = old.values().iter().map(|value| (value.as_dvec3() * factor).as_vec3()).collect();
    *keys = Some(Keys::new(old.times().to_vec(), values, old.interpolation(), 1)?);
    Ok(())
}
