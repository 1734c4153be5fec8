//! Clips to animations.

use super::builder::{Builder, finite};
use crate::gltf::schema::{Animation, Channel, Sampler, Target};
use glam::Quat;
use sinew_geom::rig::{Interpolate, Interpolation, JointTrack, Keys, MorphTrack};
use sinew_geom::{Clip, Morph, Warnings};

/// Keys per second where curves of different kinds are merged.
const RESAMPLED: f32 = 60.0;
/// Largest number of keys when resampling.
const MAX_RESAMPLED: f32 = 100_000.0;

/// Write a clip. Joint `i` is node `i`; `mesh_node` carries the morphs, if a mesh is written.
pub(super) fn write_clip(
    builder: &mut Builder,
    clip: &Clip,
    n_joints: usize,
    mesh_node: Option<usize>,
    morphs: &[Morph],
    warnings: &mut Warnings,
) {
    let mut writer = ClipWriter::new(builder, clip, warnings);
    for track in clip.joints.iter().filter(|track| track.joint < n_joints) {
        writer.write_track(track.joint, track);
    }
    if let Some(node) = mesh_node {
        let targets: Vec<usize> = (0..morphs.len()).collect();
        writer.write_weights(node, &clip.morphs, morphs, &targets, warnings);
    }
    if !writer.animation.channels.is_empty() {
        let mut animation = writer.animation;
        animation.name = Some(clip.name.clone());
        builder.root.animations.push(animation);
    }
}

/// Delay of a clip so that no key is before zero.
fn start_shift(clip: &Clip) -> f32 {
    let joints = clip.joints.iter().flat_map(|track| {
        [
            track.translation.as_ref().map(|keys| keys.times()[0]),
            track.rotation.as_ref().map(|keys| keys.times()[0]),
            track.scale.as_ref().map(|keys| keys.times()[0]),
        ]
    });
    let morphs = clip.morphs.iter().map(|track| Some(track.keys.times()[0]));
    joints.chain(morphs).flatten().fold(0.0, |shift, first| f32::max(shift, -first))
}

/// Writes the curves of one clip.
pub(in crate::gltf) struct ClipWriter<'a> {
    builder: &'a mut Builder,
    /// What was written so far.
    pub animation: Animation,
    shift: f32,
}

impl<'a> ClipWriter<'a> {
    /// Begin a clip.
    pub fn new(builder: &'a mut Builder, clip: &Clip, warnings: &mut Warnings) -> Self {
        let shift = start_shift(clip);
        if shift > 0.0 {
            warnings
                .push(format!("clip {:?} begins before zero, which glTF forbids; it was moved", clip.name));
        }
        Self { builder, animation: Animation::default(), shift }
    }

    /// Write the curves of a joint onto its node.
    pub fn write_track(&mut self, node: usize, track: &JointTrack) {
        if let Some(keys) = &track.translation {
            self.write(node, "translation", "VEC3", keys, |v| v.to_array());
        }
        if let Some(keys) = &track.rotation {
            self.write(node, "rotation", "VEC4", keys, |q| q.to_array());
        }
        if let Some(keys) = &track.scale {
            self.write(node, "scale", "VEC3", keys, |v| v.to_array());
        }
    }

    /// Write the weights of a mesh whose targets are these morphs, if a track moves any of them.
    pub fn write_weights(
        &mut self,
        node: usize,
        tracks: &[MorphTrack],
        morphs: &[Morph],
        targets: &[usize],
        warnings: &mut Warnings,
    ) {
        let moves = |track: &&MorphTrack| {
            track.morphs.end <= morphs.len() && targets.iter().any(|target| track.morphs.contains(target))
        };
        let tracks: Vec<&MorphTrack> = tracks.iter().filter(moves).collect();
        if !tracks.is_empty() {
            self.write_morphs(node, &tracks, morphs, targets, warnings);
        }
    }

    fn write<T: Interpolate + 'static, const N: usize>(
        &mut self,
        node: usize,
        path: &'static str,
        kind: &'static str,
        keys: &Keys<T>,
        split: impl Fn(T) -> [f32; N],
    ) {
        // A single key has no spline; glTF requires two for it.
        let lone = keys.interpolation() == Interpolation::Cubic && keys.times().len() == 1;
        let values = if lone { &keys.values()[1..2] } else { keys.values() };
        let interpolation = if lone { Interpolation::Linear } else { keys.interpolation() };
        let is_value = |at: usize| interpolation != Interpolation::Cubic || at % 3 == 1;
        let floats = values.iter().enumerate().flat_map(|(at, &value)| {
            let mut floats = split(value);
            if path == "rotation" && is_value(at) {
                make_unit(&mut floats);
            }
            floats
        });
        let output = self.builder.curve_floats(kind, floats);
        self.channel(node, path, keys.times(), output, interpolation);
    }

    fn channel(
        &mut self,
        node: usize,
        path: &'static str,
        times: &[f32],
        output: usize,
        interpolation: Interpolation,
    ) {
        let input = match self.shift > 0.0 {
            true => self.builder.times(&times.iter().map(|time| time + self.shift).collect::<Vec<_>>()),
            false => self.builder.times(times),
        };
        let interpolation = match interpolation {
            Interpolation::Linear => None,
            Interpolation::Step => Some("STEP".to_owned()),
            Interpolation::Cubic => Some("CUBICSPLINE".to_owned()),
        };
        let sampler = self.animation.samplers.len();
        self.animation.samplers.push(Sampler { input, interpolation, output });
        let target = Target { node: Some(node), path: path.to_owned() };
        self.animation.channels.push(Channel { sampler, target });
    }

    /// All morphs belong to one mesh, so their tracks become one curve.
    fn write_morphs(
        &mut self,
        node: usize,
        tracks: &[&MorphTrack],
        morphs: &[Morph],
        targets: &[usize],
        warnings: &mut Warnings,
    ) {
        let first = tracks[0];
        if tracks.len() == 1 && first.morphs.clone().eq(targets.iter().copied()) {
            let keys = &first.keys;
            let lone = keys.interpolation() == Interpolation::Cubic && keys.times().len() == 1;
            if !lone {
                let output = self.builder.curve_floats("SCALAR", keys.values().iter().copied());
                return self.channel(node, "weights", keys.times(), output, keys.interpolation());
            }
        }
        let all = |kind| tracks.iter().all(|track| track.keys.interpolation() == kind);
        let mut times: Vec<f32> = tracks.iter().flat_map(|track| track.keys.times()).copied().collect();
        let interpolation =
            if all(Interpolation::Step) { Interpolation::Step } else { Interpolation::Linear };
        if !all(Interpolation::Step) && !all(Interpolation::Linear) {
            warnings.push(format!("curves of morph weights differ in kind; resampled at {RESAMPLED} Hz"));
            times.extend(grid(&times));
        }
        times.sort_by(f32::total_cmp);
        times.dedup();
        let mut weights: Vec<f32> = morphs.iter().map(|morph| finite(morph.default_weight)).collect();
        let mut values = Vec::with_capacity(times.len() * targets.len());
        for &time in &times {
            for track in tracks {
                let width = track.morphs.len();
                for (curve, morph) in track.morphs.clone().enumerate() {
                    weights[morph] = track.keys.sample_curve(time, curve, width);
                }
            }
            values.extend(targets.iter().map(|&target| weights[target]));
        }
        let output = self.builder.curve_floats("SCALAR", values.into_iter());
        self.channel(node, "weights", &times, output, interpolation);
    }
}

fn grid(times: &[f32]) -> Vec<f32> {
    let start = times.iter().copied().fold(f32::INFINITY, f32::min);
    let end = times.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let n = ((end - start) * RESAMPLED).min(MAX_RESAMPLED) as usize;
    (0..n).map(|at| start + at as f32 / RESAMPLED).collect()
}

/// Unit length; rotations that are normalised within the noise of files are not changed.
fn make_unit(floats: &mut [f32]) {
    let Ok(array) = <[f32; 4]>::try_from(&*floats) else { return };
    let rotation = Quat::from_array(array);
    let length = rotation.length_squared();
    if (length - 1.0).abs() > 1e-3 {
        let unit = if length > 0.0 && length.is_finite() { rotation.normalize() } else { Quat::IDENTITY };
        floats.copy_from_slice(&unit.to_array());
    }
}
