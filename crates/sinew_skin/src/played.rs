//! Curves of rigid bones as joints of a tree.
//!
//! # Source
//! Sinew's own: keys are left out from the root on, and the curves of a joint are found relative to its parent as it will be
//! played. So errors of keys do not add up along the tree, and a joint that turns about a fixed point of its parent needs no
//! curve of translations.

use crate::{
    FittedSkin,
    keys::{Distance, reduce},
    skeleton::Skeleton,
};
use glam::{DQuat, DVec3, Quat};
use sinew_geom::rig::{JointTrack, Keys};
use std::ops::Range;

/// Where a joint is, frame by frame, as players show it.
struct Played {
    turns: Vec<DQuat>,
    places: Vec<DVec3>,
}

/// The curves of all bones in a clip, by bone, at a number of frames per second; keys are left out within a tolerance.
pub(crate) fn tracks_of(
    skin: &FittedSkin,
    skeleton: &Skeleton,
    reaches: &[f64],
    frames: Range<usize>,
    (fps, tolerance): (f64, f64),
) -> Vec<JointTrack> {
    let times: Vec<f32> = frames.clone().map(|k| ((k - frames.start) as f64 / fps) as f32).collect();
    let mut played: Vec<Option<Played>> = (0..skin.n_bones).map(|_| None).collect();
    let mut tracks: Vec<Option<JointTrack>> = (0..skin.n_bones).map(|_| None).collect();
    for &bone in &skeleton.order {
        let parent = skeleton.parents[bone];
        let above = parent.and_then(|parent| played[parent].as_ref());
        let joint = skeleton.joints[bone];
        let rest = joint - parent.map_or(DVec3::ZERO, |parent| skeleton.joints[parent]);
        let (mut turns, mut places) = (Vec::with_capacity(times.len()), Vec::with_capacity(times.len()));
        for (at, frame) in frames.clone().enumerate() {
            let wanted = &skin.frame(frame)[bone];
            let (turn, place) = (DQuat::from_mat3(&wanted.matrix3), wanted.transform_point3(joint));
            let (turn, place) = match above {
                Some(above) => {
                    let back = above.turns[at].conjugate();
                    (back * turn, back * (place - above.places[at]))
                }
                None => (turn, place),
            };
            let turn = turn.normalize().as_quat();
            turns.push(
                turns.last().map_or(turn, |last: &Quat| if last.dot(turn) < 0.0 { -turn } else { turn }),
            );
            places.push(place.as_vec3());
        }
        let relative = (tolerance / reaches[bone]) as f32;
        let translation = reduce(&places, &times, rest.as_vec3(), tolerance as f32);
        let rotation = reduce(&turns, &times, Quat::IDENTITY, relative);
        played[bone] = Some(Played {
            turns: (0..times.len())
                .map(|at| {
                    let own = sampled(rotation.as_ref(), times[at], Quat::IDENTITY).as_dquat().normalize();
                    above.map_or(own, |above| (above.turns[at] * own).normalize())
                })
                .collect(),
            places: (0..times.len())
                .map(|at| {
                    let own = sampled(translation.as_ref(), times[at], rest.as_vec3()).as_dvec3();
                    above.map_or(own, |above| above.places[at] + above.turns[at] * own)
                })
                .collect(),
        });
        tracks[bone] = Some(JointTrack { joint: bone, translation, rotation, scale: None });
    }
    tracks.into_iter().flatten().collect()
}

fn sampled<T: Distance>(keys: Option<&Keys<T>>, time: f32, rest: T) -> T {
    keys.map_or(rest, |keys| keys.sample(time))
}
