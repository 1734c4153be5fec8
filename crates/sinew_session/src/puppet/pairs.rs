//! What pairs say about the body and its limbs.

use super::PuppetData;
use crate::SessionError;
use glam::DVec3;
use sinew_formats::pairs::PosePair;
use sinew_puppet::{BodyPose, Limb};

/// The pose of the actor.
pub(super) fn body_of(pair: &PosePair) -> Result<BodyPose, SessionError> {
    let joints: [DVec3; 20] = pair.body.as_slice().try_into().map_err(|_| SessionError::Value {
        what: "pairs",
        cause: format!("pair {:?} has no whole body", pair.name),
    })?;
    Ok(BodyPose::new(joints))
}

/// Which limbs move which joints or handles, as set by the user, by their places among `names`.
pub(super) fn find_limbs<'a>(
    kind: &'static str,
    names: impl Iterator<Item = &'a str> + Clone,
    data: &PuppetData,
) -> Result<Vec<(usize, Vec<Limb>)>, SessionError> {
    let limb = |name: &String| {
        Limb::from_name(name)
            .ok_or_else(|| SessionError::absent("limb", name, Limb::ALL.map(Limb::name).into_iter()))
    };
    let entry = |(name, limbs): &(String, Vec<String>)| {
        let place = names.clone().position(|found| found == name);
        let place = place.ok_or_else(|| SessionError::absent(kind, name, names.clone()))?;
        Ok((place, limbs.iter().map(limb).collect::<Result<Vec<_>, _>>()?))
    };
    data.limbs.iter().map(entry).collect()
}
