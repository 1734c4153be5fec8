//! Limbs that a camera loses: the rest of the body is followed, they keep their pose, and come back without a jump.
//!
//! # Source
//! Sinew's own. Sun (2017), §2.2.5, holds the whole body when a joint of it is lost, which of people before a cupboard or with a
//! hand behind their back throws most frames away.

use crate::{
    BodyPose, CanonicalPose, Limb,
    canonical::{BONES, TRUNK},
    figure::smooth,
};
use glam::{DQuat, DVec3};

/// Seconds in which a limb comes back to where it is seen, and in which one that stays lost comes to rest.
const RETURN_SECS: f64 = 0.25;
const REST_SECS: f64 = 0.5;

/// What is known of limbs that are not seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct LimbMemory {
    limbs: [LimbState; 5],
}

#[derive(Debug, Clone, Default)]
struct LimbState {
    /// Since when it is lost.
    lost_at: Option<f64>,
    /// When it came back, and how its bones pointed before.
    back: Option<(f64, [DVec3; 4])>,
    /// In how many frames it kept its pose.
    n_kept: usize,
}

/// Which joints of a limb are not believed.
pub(crate) struct Doubt<'a> {
    pub time: f64,
    /// Seconds after which what jumped is believed, and after which what is lost comes to rest.
    pub accept_secs: f64,
    pub hold_secs: f64,
    /// Whether a joint jumped.
    pub jumped: &'a dyn Fn(usize) -> bool,
}

impl LimbMemory {
    /// In how many frames each limb kept its pose.
    pub fn kept(&self) -> [usize; 5] {
        std::array::from_fn(|k| self.limbs[k].n_kept)
    }

    /// The body with limbs that are lost as they were in `last`. A body whose trunk is lost is returned as it is.
    pub fn complete(&mut self, mut body: BodyPose, last: &CanonicalPose, doubt: &Doubt) -> BodyPose {
        let is_known = |k: usize| body.seen[k] && body.joints[k].is_finite();
        if !(0..4).chain([4, 8, 12, 16]).all(is_known) {
            return body;
        }
        let (rest, place) = (CanonicalPose::rest(), CanonicalPose::of(&body).1);
        let turn = DQuat::from_rotation_y(place.heading);
        for limb in Limb::ALL.into_iter().skip(1) {
            let state = &mut self.limbs[limb as usize];
            let joints = limb.joints().skip(1);
            let is_missing = |k: &usize| !body.seen[*k] || !body.joints[*k].is_finite();
            let missing: Vec<usize> = joints.clone().filter(is_missing).collect();
            let has_jumped = missing.is_empty() && joints.clone().any(doubt.jumped);
            let is_believed = state.lost_at.is_some_and(|at| doubt.time - at > doubt.accept_secs);
            if missing.is_empty() && (!has_jumped || is_believed) {
                if state.lost_at.take().is_some() {
                    state.back = Some((doubt.time, bones(last, limb)));
                }
                continue;
            }
            let since = *state.lost_at.get_or_insert(doubt.time);
            state.n_kept += 1;
            let faded = smooth((doubt.time - since - doubt.hold_secs) / REST_SECS);
            let lost: Vec<usize> = if has_jumped { joints.collect() } else { missing };
            for k in lost {
                let bone = |pose: &CanonicalPose| pose.joint(k) - pose.joint(BONES[k].0);
                let bone = bone(last).lerp(bone(&rest), faded);
                body.joints[k] = body.joints[BONES[k].0] + turn * bone * (place.trunk / TRUNK);
                body.seen[k] = true;
            }
        }
        body
    }

    /// A pose in which limbs that came back are on their way to where they are seen.
    pub fn ease(&mut self, time: f64, pose: CanonicalPose) -> CanonicalPose {
        let mut joints = std::array::from_fn(|k| pose.joint(k));
        for limb in Limb::ALL {
            let state = &mut self.limbs[limb as usize];
            let Some((since, from)) = state.back else { continue };
            let share = smooth((time - since) / RETURN_SECS);
            if share >= 1.0 {
                state.back = None;
                continue;
            }
            for (k, from) in limb.joints().zip(from).skip(1) {
                let (parent, length) = BONES[k];
                let bone = pose.joint(k) - pose.joint(parent);
                joints[k] = joints[parent] + length * from.lerp(bone, share).normalize_or(bone / length);
            }
        }
        CanonicalPose::from_joints(&joints)
    }
}

fn bones(pose: &CanonicalPose, limb: Limb) -> [DVec3; 4] {
    let first = limb.joints().start;
    std::array::from_fn(|i| pose.joint(first + i) - pose.joint(BONES[first + i].0))
}
