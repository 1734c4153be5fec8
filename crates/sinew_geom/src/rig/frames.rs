//! Clips from poses, frame by frame.

use super::{Clip, Interpolation, JointTrack, Keys, Pose, Rig};
use crate::{GeomError, Transform};
use glam::{DQuat, DVec3, Vec3};

/// Lengths that differ by less, relative to one metre or to those at rest, count as equal.
const LENGTH_TOLERANCE: f64 = 1e-6;
/// Rotations whose cosine is nearer to one count as equal.
const ROTATION_TOLERANCE: f64 = 1e-12;

impl Clip {
    /// A clip through poses, at `fps` poses per second. Curves that stay at rest are left out, so that no poses make
    /// a clip without curves.
    ///
    /// # Errors
    /// Poses of another rig or with numbers that are not finite.
    pub fn from_poses(name: &str, rig: &Rig, poses: &[Pose], fps: f64) -> Result<Self, GeomError> {
        poses.iter().enumerate().try_for_each(|(index, pose)| check(rig, pose, index))?;
        let times: Vec<f32> = (0..poses.len()).map(|k| (k as f64 / fps) as f32).collect();
        let vectors = |values: Vec<Vec3>| Keys::new(times.clone(), values, Interpolation::Linear, 1);
        let mut joints = Vec::new();
        for (joint, rest) in rig.joints().iter().map(|joint| joint.rest).enumerate() {
            let locals = || poses.iter().map(move |pose| pose.locals[joint]);
            let moves = locals().any(|local| differs(local.translation, rest.translation));
            let grows = locals().any(|local| differs(local.scale, rest.scale));
            let turns =
                locals().any(|local| local.rotation.dot(rest.rotation).abs() < 1.0 - ROTATION_TOLERANCE);
            if !(moves || grows || turns) {
                continue;
            }
            let mut last = rest.rotation;
            // The same sign as the previous key, for players that interpolate linearly.
            let mut near = |q: DQuat| {
                last = if last.dot(q) < 0.0 { -q } else { q };
                last.as_quat().normalize()
            };
            let mut rotations = || {
                Keys::new(
                    times.clone(),
                    locals().map(|l| near(l.rotation)).collect(),
                    Interpolation::Linear,
                    1,
                )
            };
            joints.push(JointTrack {
                joint,
                translation: moves
                    .then(|| vectors(locals().map(|l| l.translation.as_vec3()).collect()))
                    .transpose()?,
                rotation: turns.then(&mut rotations).transpose()?,
                scale: grows.then(|| vectors(locals().map(|l| l.scale.as_vec3()).collect())).transpose()?,
            });
        }
        Ok(Self { name: name.to_owned(), joints, morphs: Vec::new() })
    }

    /// A clip of one frame that holds a pose. Every joint has keys, also at rest: some programs leave joints without
    /// keys as another clip left them.
    ///
    /// # Errors
    /// If the pose is of another rig, or not finite.
    pub fn from_pose(name: &str, rig: &Rig, pose: &Pose) -> Result<Self, GeomError> {
        check(rig, pose, 0)?;
        let mut joints = Vec::with_capacity(rig.n_joints());
        for (joint, (local, of)) in pose.locals.iter().zip(rig.joints()).enumerate() {
            let once = |value: Vec3| Keys::new(vec![0.0], vec![value], Interpolation::Linear, 1);
            let rotation = local.rotation.as_quat().normalize();
            let moves = of.parent.is_none() || differs(local.translation, of.rest.translation);
            joints.push(JointTrack {
                joint,
                translation: moves.then(|| once(local.translation.as_vec3())).transpose()?,
                rotation: Some(Keys::new(vec![0.0], vec![rotation], Interpolation::Linear, 1)?),
                scale: differs(local.scale, of.rest.scale)
                    .then(|| once(local.scale.as_vec3()))
                    .transpose()?,
            });
        }
        Ok(Self { name: name.to_owned(), joints, morphs: Vec::new() })
    }
}

/// Otherwise a curve of NaN would count as one at rest.
fn check(rig: &Rig, pose: &Pose, index: usize) -> Result<(), GeomError> {
    if pose.locals.len() != rig.n_joints() {
        let (expected, actual) = (rig.n_joints(), pose.locals.len());
        return Err(GeomError::Length { what: "pose", expected, actual });
    }
    match pose.locals.iter().all(Transform::is_finite) {
        true => Ok(()),
        false => Err(GeomError::NonFinite { what: "pose", index }),
    }
}

fn differs(a: DVec3, b: DVec3) -> bool {
    a.distance(b) > LENGTH_TOLERANCE * b.length().max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rig::Joint;

    #[test]
    fn poses_are_met_at_their_times_and_rest_has_no_curves() {
        let joint = |name: &str, parent| Joint::new(name, parent, Transform::from_translation(DVec3::X));
        let rig = Rig::new(vec![joint("a", None), joint("b", Some(0)), joint("c", Some(1))]).unwrap();
        let pose = |k: f64| {
            let mut pose = rig.rest_pose();
            pose.locals[0].translation.y = 0.1 * k;
            // Beyond half a turn, so that quaternions change sign.
            pose.locals[1].rotation = DQuat::from_rotation_z(0.5 * k);
            pose
        };
        let poses: Vec<Pose> = (0..20).map(|k| pose(f64::from(k))).collect();
        let clip = Clip::from_poses("walk", &rig, &poses, 25.0).unwrap();
        assert_eq!(clip.joints.len(), 2, "c rests");
        assert!(clip.joints[0].rotation.is_none() && clip.joints[1].translation.is_none());
        for (k, pose) in poses.iter().enumerate() {
            let sampled = clip.sample(&rig, (k as f64 / 25.0) as f32);
            for (a, b) in sampled.locals.iter().zip(&pose.locals) {
                assert!(
                    a.rotation.angle_between(b.rotation) < 1e-3
                        && a.translation.distance(b.translation) < 1e-6
                );
            }
        }
        let values = clip.joints[1].rotation.as_ref().unwrap().values();
        assert!(values.windows(2).all(|pair| pair[0].dot(pair[1]) > 0.0));
        assert!(Clip::from_poses("none", &rig, &[], 25.0).unwrap().joints.is_empty());
        let other = GeomError::Length { what: "pose", expected: 3, actual: 0 };
        assert_eq!(Clip::from_poses("other", &rig, &[Pose::default()], 25.0), Err(other));
    }

    /// Also where everything else is at rest, and a curve of a single frame would be left out.
    #[test]
    fn poses_that_are_no_numbers_are_refused() {
        let rig = Rig::new(vec![Joint::new("a", None, Transform::IDENTITY)]).unwrap();
        for spoil in [
            |local: &mut Transform| local.translation.x = f64::NAN,
            |local: &mut Transform| local.rotation.w = f64::INFINITY,
            |local: &mut Transform| local.scale.z = f64::NAN,
        ] {
            let mut poses = vec![rig.rest_pose(); 3];
            spoil(&mut poses[1].locals[0]);
            let refused = |index| GeomError::NonFinite { what: "pose", index };
            assert_eq!(Clip::from_poses("bad", &rig, &poses, 25.0), Err(refused(1)));
            assert_eq!(Clip::from_pose("bad", &rig, &poses[1]), Err(refused(0)));
        }
    }
}
