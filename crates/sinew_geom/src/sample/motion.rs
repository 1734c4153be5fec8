//! Clips of the sample characters: poses as functions of the phase, keyed at 30 fps.

use super::plan::{Plan, Side};
use crate::rig::{Interpolation, JointTrack, Keys};
use crate::{Clip, GeomError, Rig};
use glam::{DVec3, Quat, Vec3};

/// Keys per second; other tools round key times to this grid.
const KEYS_PER_SECOND: usize = 30;

/// Angles and shifts of all bones at one moment.
pub(super) struct Sketch<'a> {
    plan: &'a Plan,
    angles: Vec<DVec3>,
    shifts: Vec<DVec3>,
    scales: Vec<DVec3>,
}

impl Sketch<'_> {
    /// Turn a bone by degrees about the axes of its frame, in addition to its present rotation.
    pub fn turn(&mut self, bone: &str, x: f64, y: f64, z: f64) {
        if let Some(b) = self.plan.find(bone) {
            self.angles[b] += DVec3::new(x, y, z);
        }
    }

    /// Turn a bone given by its left name, on either side: the right gets the mirror image.
    pub fn turn_side(&mut self, stem: &str, side: Side, x: f64, y: f64, z: f64) {
        if side == Side::Right {
            self.turn(&format!("{stem}.R"), x, -y, -z);
        } else {
            self.turn(&format!("{stem}.L"), x, y, z);
        }
    }

    /// Move a bone by metres in its parent's frame.
    pub fn shift(&mut self, bone: &str, by: DVec3) {
        if let Some(b) = self.plan.find(bone) {
            self.shifts[b] += by;
        }
    }

    /// Stretch a bone and its descendants along its own axes.
    pub fn scale(&mut self, bone: &str, by: DVec3) {
        if let Some(b) = self.plan.find(bone) {
            self.scales[b] *= by;
        }
    }
}

/// Bake a cyclic motion: `pose` is called with phases in 0..1, once per key; the last key repeats the first.
pub(super) fn build_clip(
    name: &str,
    plan: &Plan,
    rig: &Rig,
    n_frames: usize,
    pose: impl Fn(f64, &mut Sketch),
) -> Result<Clip, GeomError> {
    let sketch = |frame: usize| {
        let n = plan.bones.len();
        let mut sketch = Sketch {
            plan,
            angles: vec![DVec3::ZERO; n],
            shifts: vec![DVec3::ZERO; n],
            scales: vec![DVec3::ONE; n],
        };
        pose((frame % n_frames) as f64 / n_frames as f64, &mut sketch);
        sketch
    };
    let frames: Vec<Sketch> = (0..=n_frames).map(sketch).collect();
    let times: Vec<f32> = (0..=n_frames).map(|i| (i as f64 / KEYS_PER_SECOND as f64) as f32).collect();
    let mut joints = Vec::new();
    for joint in 0..plan.bones.len() {
        let turns = frames.iter().any(|f| f.angles[joint] != DVec3::ZERO);
        let moves = frames.iter().any(|f| f.shifts[joint] != DVec3::ZERO);
        let rotation = turns.then(|| rotation_keys(rig, joint, &frames, &times)).transpose()?;
        let translation = moves.then(|| translation_keys(rig, joint, &frames, &times)).transpose()?;
        let scales = frames.iter().any(|f| f.scales[joint] != DVec3::ONE);
        let scale = scales.then(|| scale_keys(joint, &frames, &times)).transpose()?;
        if turns || moves || scales {
            joints.push(JointTrack { joint, translation, rotation, scale });
        }
    }
    Ok(Clip { name: name.into(), joints, morphs: Vec::new() })
}

fn rotation_keys(rig: &Rig, joint: usize, frames: &[Sketch], times: &[f32]) -> Result<Keys<Quat>, GeomError> {
    let (rest, euler) = (rig.joints()[joint].rest.rotation, rig.joints()[joint].euler);
    let mut last = Quat::IDENTITY;
    let mut values = Vec::with_capacity(frames.len());
    for frame in frames {
        let angles = frame.angles[joint] * std::f64::consts::PI / 180.0;
        let q = (rest * euler.to_quat(angles)).normalize().as_quat();
        // The same sign as the previous key, so that no blend takes the long way round.
        last = if q.dot(last) < 0.0 { -q } else { q };
        values.push(last);
    }
    Keys::new(times.to_vec(), values, Interpolation::Linear, 1)
}

fn translation_keys(
    rig: &Rig,
    joint: usize,
    frames: &[Sketch],
    times: &[f32],
) -> Result<Keys<Vec3>, GeomError> {
    let rest = rig.joints()[joint].rest.translation;
    let values = frames.iter().map(|frame| (rest + frame.shifts[joint]).as_vec3()).collect();
    Keys::new(times.to_vec(), values, Interpolation::Linear, 1)
}

fn scale_keys(joint: usize, frames: &[Sketch], times: &[f32]) -> Result<Keys<Vec3>, GeomError> {
    let values = frames.iter().map(|frame| frame.scales[joint].as_vec3()).collect();
    Keys::new(times.to_vec(), values, Interpolation::Linear, 1)
}

/// Sine of a phase counted in turns.
pub(super) fn wave(phase: f64) -> f64 {
    (phase * std::f64::consts::TAU).sin()
}

/// Angles in degrees, about x, of the two bones of a leg in the plane x = const, so that its end reaches a position.
///
/// `upper` and `lower` are the bones at rest, `end` the requested offset of the lower bone's end from the upper
/// bone's head. `bend` is +1 for a joint that folds backwards (knee), −1 for one that folds forwards (elbow).
pub(super) fn bend_leg(upper: DVec3, lower: DVec3, end: DVec3, bend: f64) -> (f64, f64) {
    let (a, b) = (upper.y.hypot(upper.z), lower.y.hypot(lower.z));
    let reach = end.y.hypot(end.z).clamp((a - b).abs() * 1.001, (a + b) * 0.9999);
    let angle = |v: DVec3| v.z.atan2(v.y);
    let inner = ((a * a + reach * reach - b * b) / (2.0 * a * reach)).clamp(-1.0, 1.0).acos();
    // Rotation by t about x adds t to the angle measured from y towards z; a knee is in front of the line.
    let upper_angle = angle(end) - bend * inner;
    let knee = DVec3::new(0.0, a * upper_angle.cos(), a * upper_angle.sin());
    let to_end = DVec3::new(0.0, reach * angle(end).cos(), reach * angle(end).sin()) - knee;
    let wrap = |x: f64| (x + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI;
    let first = wrap(upper_angle - angle(upper));
    let second = wrap(angle(to_end) - angle(lower) - first);
    (first.to_degrees(), second.to_degrees())
}
