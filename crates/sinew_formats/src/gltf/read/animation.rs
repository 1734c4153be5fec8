//! Animations to clips. A channel that cannot be used is left out with a warning: the model is still usable.

use super::accessor::Decoder;
use super::map::{ChannelMap, ClipMap};
use super::resource::out_of_range;
use super::unshown::only_points;
use crate::Fault;
use crate::gltf::schema::{Animation, Channel};
use glam::{Quat, Vec3};
use sinew_geom::rig::{Interpolate, Interpolation, JointTrack, Keys, MorphTrack};
use sinew_geom::{Clip, Morph, Warnings};
use std::collections::{HashMap, HashSet};

/// What channels refer to.
pub(super) struct Targets<'a> {
    /// Joint of each node.
    pub joint_of: &'a [Option<usize>],
    /// Morphs of each node's mesh, target by target, where it has any.
    pub morphs_of: &'a HashMap<usize, Vec<usize>>,
    /// All morphs.
    pub morphs: &'a [Morph],
}

/// Read all clips that move something, and say where in the file each comes from.
pub(super) fn read_clips(
    decoder: &Decoder,
    targets: &Targets,
    warnings: &mut Warnings,
) -> (Vec<Clip>, Vec<ClipMap>) {
    let (mut clips, mut maps) = (Vec::new(), Vec::new());
    for (index, animation) in decoder.root.animations.iter().enumerate() {
        let name = match animation.name.as_deref() {
            None | Some("") => format!("clip {index}"),
            Some(name) => name.to_owned(),
        };
        let mut reader = ClipReader {
            decoder,
            targets,
            animation,
            path: format!("/animations/{index}"),
            clip: Clip { name, ..Clip::default() },
            track_of: HashMap::new(),
            nodes_with_weights: HashSet::new(),
        };
        let mut channels = Vec::new();
        for (at, channel) in animation.channels.iter().enumerate() {
            match reader.read_channel(at, channel) {
                Ok(what) => channels.extend(what.map(|what| (at, what))),
                Err(fault) => warnings
                    .push(format!("/animations/{index}/channels/{at}: {fault}; the channel is left out")),
            }
        }
        let moves = |track: &JointTrack| {
            track.translation.is_some() || track.rotation.is_some() || track.scale.is_some()
        };
        reader.clip.joints.retain(moves);
        match reader.clip.joints.is_empty() && reader.clip.morphs.is_empty() {
            // Said for the whole file.
            true if only_points(&animation.channels) => {}
            true => warnings.push(format!("/animations/{index}: moves nothing in the scene; left out")),
            false => {
                clips.push(reader.clip);
                maps.push(ClipMap { animation: index, channels });
            }
        }
    }
    (clips, maps)
}

/// Rotations of unit length; those within rounding are not changed, so that files survive a round trip unchanged.
/// Tangents have any length.
fn unit_rotations(keys: Keys<Quat>) -> Result<Keys<Quat>, String> {
    let is_value = |at: usize| keys.interpolation() != Interpolation::Cubic || at % 3 == 1;
    let mut values = keys.values().to_vec();
    for (at, value) in values.iter_mut().enumerate().filter(|(at, _)| is_value(*at)) {
        // In double precision, where the square of any finite key is representable.
        let exact = value.as_dquat();
        let squared = exact.length_squared();
        if squared == 0.0 {
            return Err(format!("value {at} is a rotation of four zeros, which has no direction"));
        }
        if (squared - 1.0).abs() > 1e-5 {
            *value = exact.normalize().as_quat();
        }
    }
    Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1).map_err(|error| error.to_string())
}

/// Weights of the targets of a mesh as tracks of consecutive morphs. If there are several, those that stay at their
/// default weight say nothing, and morphs that another mesh shares may be there already.
fn split_by_morphs(
    keys: Keys<f32>,
    morphs: &[usize],
    all: &[Morph],
    known: &[MorphTrack],
) -> Vec<MorphTrack> {
    let (first, width) = (morphs.first().copied().unwrap_or(0), morphs.len());
    if morphs.iter().enumerate().all(|(target, &morph)| morph == first + target) {
        return vec![MorphTrack { morphs: first..first + width, keys }];
    }
    let mut tracks: Vec<MorphTrack> = Vec::new();
    let mut start = 0;
    for run in morphs.chunk_by(|a, b| *b == a + 1) {
        let columns = start..start + run.len();
        start = columns.end;
        let values: Vec<f32> =
            keys.values().chunks_exact(width).flat_map(|row| &row[columns.clone()]).copied().collect();
        let is_default = |(at, &value): (usize, &f32)| value == all[run[at % run.len()]].default_weight;
        let is_still =
            keys.interpolation() != Interpolation::Cubic && values.iter().enumerate().all(is_default);
        let range = run[0]..run[0] + run.len();
        let is_known = known.iter().chain(&tracks).any(|track| track.morphs == range);
        if !is_still
            && !is_known
            && let Ok(keys) = Keys::new(keys.times().to_vec(), values, keys.interpolation(), run.len())
        {
            tracks.push(MorphTrack { morphs: range, keys });
        }
    }
    tracks
}

struct ClipReader<'a> {
    decoder: &'a Decoder<'a>,
    targets: &'a Targets<'a>,
    animation: &'a Animation,
    path: String,
    clip: Clip,
    /// Track of each joint that has one.
    track_of: HashMap<usize, usize>,
    nodes_with_weights: HashSet<usize>,
}

impl ClipReader<'_> {
    fn read_channel(&mut self, at: usize, channel: &Channel) -> Result<Option<ChannelMap>, Fault> {
        // Without a node the target is that of an extension.
        let Some(node) = channel.target.node else { return Ok(None) };
        let place = format!("{}/channels/{at}/target", self.path);
        if node >= self.targets.joint_of.len() {
            return Err(out_of_range(&place, "node", node, self.targets.joint_of.len()));
        }
        if channel.target.path == "weights" {
            return self.read_weights(node, channel, &place).map(|()| Some(ChannelMap::Weights(node)));
        }
        let Some(joint) = self.targets.joint_of[node] else {
            return Err(Fault::json(place, format!("node {node} is not in the scene")));
        };
        let track = self.track(joint);
        let taken = || Fault::json(&place, format!("node {node} has two curves for one property"));
        match channel.target.path.as_str() {
            "translation" | "scale" => {
                let keys = self.keys::<Vec3, 3>(channel, Vec3::from_array)?;
                let track = &mut self.clip.joints[track];
                let (slot, what) = match channel.target.path == "scale" {
                    true => (&mut track.scale, ChannelMap::Scale(joint)),
                    false => (&mut track.translation, ChannelMap::Translation(joint)),
                };
                slot.is_none().then(|| *slot = Some(keys)).ok_or_else(taken)?;
                Ok(Some(what))
            }
            "rotation" => {
                let keys = self.keys::<Quat, 4>(channel, Quat::from_array)?;
                let keys = unit_rotations(keys).map_err(|cause| Fault::json(&place, cause))?;
                let slot = &mut self.clip.joints[track].rotation;
                slot.is_none().then(|| *slot = Some(keys)).ok_or_else(taken)?;
                Ok(Some(ChannelMap::Rotation(joint)))
            }
            other => Err(Fault::json(place, format!("path {other:?} is not known"))),
        }
    }

    fn track(&mut self, joint: usize) -> usize {
        *self.track_of.entry(joint).or_insert_with(|| {
            self.clip.joints.push(JointTrack { joint, translation: None, rotation: None, scale: None });
            self.clip.joints.len() - 1
        })
    }

    fn read_weights(&mut self, node: usize, channel: &Channel, place: &str) -> Result<(), Fault> {
        let Some(morphs) = self.targets.morphs_of.get(&node) else {
            return Err(Fault::json(
                place,
                format!("node {node} has no mesh with morph targets in the scene"),
            ));
        };
        if !self.nodes_with_weights.insert(node) {
            return Err(Fault::json(place, format!("node {node} has two curves for one property")));
        }
        let (times, output, interpolation) = self.sampler(channel)?;
        let values =
            self.decoder.floats::<1>(output, &self.path)?.into_iter().map(|[weight]| weight).collect();
        let keys = Keys::new(times, values, interpolation, morphs.len())
            .map_err(|error| Fault::json(place, error.to_string()))?;
        self.clip.morphs.extend(split_by_morphs(keys, morphs, self.targets.morphs, &self.clip.morphs));
        Ok(())
    }

    fn keys<T: Interpolate, const N: usize>(
        &self,
        channel: &Channel,
        convert: impl Fn([f32; N]) -> T,
    ) -> Result<Keys<T>, Fault> {
        let (times, output, interpolation) = self.sampler(channel)?;
        let values = self.decoder.floats::<N>(output, &self.path)?.into_iter().map(convert).collect();
        let place = format!("{}/samplers/{}", self.path, channel.sampler);
        Keys::new(times, values, interpolation, 1).map_err(|error| Fault::json(place, error.to_string()))
    }

    /// Times, accessor of the values, and interpolation.
    fn sampler(&self, channel: &Channel) -> Result<(Vec<f32>, usize, Interpolation), Fault> {
        let samplers = &self.animation.samplers;
        let place = format!("{}/samplers/{}", self.path, channel.sampler);
        let sampler = samplers
            .get(channel.sampler)
            .ok_or_else(|| out_of_range(&place, "sampler", channel.sampler, samplers.len()))?;
        let times = self.decoder.floats::<1>(sampler.input, &place)?.into_iter().map(|[time]| time).collect();
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::Cubic,
            Some(other) => return Err(Fault::json(place, format!("interpolation {other:?} is not known"))),
        };
        Ok((times, sampler.output, interpolation))
    }
}
