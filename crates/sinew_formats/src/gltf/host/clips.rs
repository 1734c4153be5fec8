//! Clips back to animations of the source's own nodes.

use super::super::read::map::ChannelMap;
use super::super::schema::Animation;
use super::super::write::animation::ClipWriter;
use super::draft::Draft;
use super::morphs::{TargetPlan, widen_animations};
use super::nodes::{Joints, without_matrix};
use super::references::{referring, renumbered};
use super::values::{index, list, member};
use glam::Vec3;
use serde_json::{Value, json};
use sinew_geom::rig::{JointTrack, Keys, MorphTrack};
use sinew_geom::{Character, Clip, Warnings};
use std::collections::HashSet;

/// Which clip of the source a clip is.
#[derive(Clone, Copy)]
enum Found {
    /// The same, perhaps under another name.
    Same(usize),
    /// Changed.
    Changed(usize),
    New,
}

/// Write clips that are new or changed, rename and remove animations; all others stay.
pub(super) fn write_clips(
    draft: &mut Draft,
    now: &Character,
    joints: &Joints,
    plan: &TargetPlan,
    warnings: &mut Warnings,
) {
    widen_animations(draft, plan, &now.morphs);
    let source = draft.source;
    let old = &source.character.clips;
    let found = find(old, now, joints, plan);
    let animation_of = |found: &Found| match found {
        Found::Same(at) | Found::Changed(at) => Some(source.map.clips[*at].animation),
        Found::New => None,
    };
    // New animations, each with the one before which it belongs.
    let mut added: Vec<(Option<usize>, Value)> = Vec::new();
    for (place, clip) in now.clips.iter().enumerate() {
        match found[place] {
            Found::Same(at) => rename(draft, source.map.clips[at].animation, &old[at], clip),
            Found::Changed(at) => change(draft, at, now, clip, joints, plan, warnings),
            Found::New => {
                let written = tracks(draft, now, clip, joints, plan, &HashSet::new(), warnings);
                if written.channels.is_empty() {
                    warnings.push(format!("clip {:?} moves nothing in the file; not written", clip.name));
                    continue;
                }
                let mut animation = json!({ "name": clip.name, "channels": [], "samplers": [] });
                append(draft, &mut animation, written);
                added.push((found[place..].iter().find_map(animation_of), animation));
            }
        }
    }
    let kept: HashSet<usize> = found.iter().filter_map(animation_of).collect();
    let removed = source.map.clips.iter().map(|map| map.animation).filter(|at| !kept.contains(at));
    exchange(draft, added, &removed.collect(), warnings);
}

/// Bring new animations to their places, and take out those that were removed.
fn exchange(
    draft: &mut Draft,
    mut added: Vec<(Option<usize>, Value)>,
    removed: &HashSet<usize>,
    warnings: &mut Warnings,
) {
    if added.is_empty() && removed.is_empty() {
        return;
    }
    if !removed.is_empty() {
        renumbered(&draft.json).into_iter().for_each(|said| warnings.push(said));
    } else if !referring(&draft.json).is_empty() {
        added.iter_mut().for_each(|(before, _)| *before = None);
    }
    let mut added = added.into_iter().peekable();
    let mut all = Vec::new();
    for (at, animation) in std::mem::take(member(&mut draft.json, "animations")).into_iter().enumerate() {
        while let Some((_, new)) = added.next_if(|(before, _)| *before == Some(at)) {
            all.push(new);
        }
        if !removed.contains(&at) {
            all.push(animation);
        }
    }
    all.extend(added.map(|(_, new)| new));
    *member(&mut draft.json, "animations") = all;
    if list(&draft.json, "animations").is_empty()
        && let Some(root) = draft.json.as_object_mut()
    {
        root.shift_remove("animations");
    }
}

/// First what is the same and has the same name, then what is the same, then what has the same name.
fn find(old: &[Clip], now: &Character, joints: &Joints, plan: &TargetPlan) -> Vec<Found> {
    let mut found = vec![Found::New; now.clips.len()];
    let mut taken = vec![false; old.len()];
    for round in 0..3 {
        for (clip, found) in now.clips.iter().zip(&mut found).filter(|(_, found)| matches!(found, Found::New))
        {
            let fits = |(at, old): &(usize, &Clip)| {
                let is_named = old.name == clip.name;
                !taken[*at]
                    && match round {
                        0 => is_named && is_same(old, clip, joints, plan),
                        1 => is_same(old, clip, joints, plan),
                        _ => is_named,
                    }
            };
            if let Some((at, _)) = old.iter().enumerate().find(fits) {
                taken[at] = true;
                *found = if round < 2 { Found::Same(at) } else { Found::Changed(at) };
            }
        }
    }
    found
}

fn is_same(old: &Clip, new: &Clip, joints: &Joints, plan: &TargetPlan) -> bool {
    old.joints == new.joints
        && new.joints.iter().all(|track| track.joint < joints.n_kept)
        && old.morphs.len() == new.morphs.len()
        && old.morphs.iter().zip(&new.morphs).all(|(old, new)| is_same_track(old, new, plan))
}

fn is_same_track(old: &MorphTrack, new: &MorphTrack, plan: &TargetPlan) -> bool {
    let moved = old.morphs.clone().map(|morph| plan.new_of.get(morph).copied().flatten());
    moved.eq(new.morphs.clone().map(Some)) && old.keys == new.keys
}

fn rename(draft: &mut Draft, animation: usize, old: &Clip, new: &Clip) {
    if old.name != new.name {
        draft.json["animations"][animation]["name"] = json!(new.name);
    }
}

/// Exchange the channels of an animation that changed; those that were not read stay.
fn change(
    draft: &mut Draft,
    at: usize,
    now: &Character,
    clip: &Clip,
    joints: &Joints,
    plan: &TargetPlan,
    warnings: &mut Warnings,
) {
    let (map, old) = (&draft.source.map.clips[at], &draft.source.character.clips[at]);
    let mut kept = HashSet::new();
    let mut dropped = HashSet::new();
    for &(channel, what) in &map.channels {
        let is_kept = match what {
            ChannelMap::Translation(joint) => {
                joint < joints.n_kept && is_equal(old, clip, joint, |t| t.translation.as_ref())
            }
            ChannelMap::Rotation(joint) => {
                joint < joints.n_kept && is_equal(old, clip, joint, |t| t.rotation.as_ref())
            }
            ChannelMap::Scale(joint) => {
                joint < joints.n_kept && is_equal(old, clip, joint, |t| t.scale.as_ref())
            }
            ChannelMap::Weights(node) => has_same_weights(draft, node, old, clip, plan),
        };
        if is_kept {
            kept.insert(what);
        } else {
            dropped.insert(channel);
        }
    }
    let animation = map.animation;
    let written = tracks(draft, now, clip, joints, plan, &kept, warnings);
    let mut json = draft.json["animations"][animation].take();
    let mut index = 0;
    member(&mut json, "channels").retain(|_| {
        index += 1;
        !dropped.contains(&(index - 1))
    });
    append(draft, &mut json, written);
    drop_samplers(&mut json);
    draft.json["animations"][animation] = json;
}

fn is_equal<T: PartialEq>(
    old: &Clip,
    new: &Clip,
    joint: usize,
    keys: impl Fn(&JointTrack) -> Option<&Keys<T>>,
) -> bool {
    let of = |clip: &Clip| clip.joints.iter().position(|track| track.joint == joint);
    let (a, b) = (of(old).and_then(|at| keys(&old.joints[at])), of(new).and_then(|at| keys(&new.joints[at])));
    a.is_some() && a == b
}

/// Whether the morphs of a node are moved as they were.
fn has_same_weights(draft: &Draft, node: usize, old: &Clip, new: &Clip, plan: &TargetPlan) -> bool {
    let Some(before) = draft.source.map.instances.iter().find(|i| i.node == node) else { return false };
    let Some(instance) = plan.instances.iter().find(|i| i.node == node) else { return false };
    let morphs = instance.morphs();
    let touches = |track: &&MorphTrack, morphs: &[usize]| morphs.iter().any(|m| track.morphs.contains(m));
    let a: Vec<&MorphTrack> = old.morphs.iter().filter(|track| touches(track, &before.morphs)).collect();
    let b: Vec<&MorphTrack> = new.morphs.iter().filter(|track| touches(track, &morphs)).collect();
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same_track(a, b, plan))
}

/// Curves of a clip, but for those that are kept.
fn tracks(
    draft: &mut Draft,
    now: &Character,
    clip: &Clip,
    joints: &Joints,
    plan: &TargetPlan,
    kept: &HashSet<ChannelMap>,
    warnings: &mut Warnings,
) -> Animation {
    let mut n_lost = 0;
    for track in &clip.joints {
        match joints.node(track.joint) {
            Some(node) => without_matrix(draft, node),
            None => n_lost += 1,
        }
    }
    if n_lost > 0 {
        warnings.push(format!("clip {:?}: parts that no node of the file moves stay still", clip.name));
    }
    let mut writer = ClipWriter::new(&mut draft.builder, clip, warnings);
    for track in &clip.joints {
        let Some(node) = joints.node(track.joint) else { continue };
        let (parent, unit) = (joints.parent_unit(track.joint), joints.units[track.joint]);
        let is_new = |what: ChannelMap| !kept.contains(&what);
        writer.write_track(
            node,
            &JointTrack {
                joint: track.joint,
                translation: track
                    .translation
                    .as_ref()
                    .filter(|_| is_new(ChannelMap::Translation(track.joint)))
                    .map(|keys| scaled(keys, 1.0 / parent)),
                rotation: track.rotation.clone().filter(|_| is_new(ChannelMap::Rotation(track.joint))),
                scale: track
                    .scale
                    .as_ref()
                    .filter(|_| is_new(ChannelMap::Scale(track.joint)))
                    .map(|keys| scaled(keys, unit / parent)),
            },
        );
    }
    for instance in plan.instances.iter().filter(|i| !kept.contains(&ChannelMap::Weights(i.node))) {
        writer.write_weights(instance.node, &clip.morphs, &now.morphs, &instance.morphs(), warnings);
    }
    writer.animation
}

fn scaled(keys: &Keys<Vec3>, factor: f64) -> Keys<Vec3> {
    if factor == 1.0 {
        return keys.clone();
    }
    let values = keys.values().iter().map(|value| (value.as_dvec3() * factor).as_vec3()).collect();
    Keys::new(keys.times().to_vec(), values, keys.interpolation(), 1).unwrap_or_else(|_| keys.clone())
}

/// Add curves of the builder to an animation of the file.
fn append(draft: &Draft, animation: &mut Value, written: Animation) {
    let first = list(animation, "samplers").len();
    for sampler in written.samplers {
        let mut value = json!({ "input": draft.accessor(sampler.input) });
        if let Some(interpolation) = sampler.interpolation {
            value["interpolation"] = json!(interpolation);
        }
        value["output"] = json!(draft.accessor(sampler.output));
        member(animation, "samplers").push(value);
    }
    for channel in written.channels {
        let target = json!({ "node": channel.target.node, "path": channel.target.path });
        let sampler = first + channel.sampler;
        member(animation, "channels").push(json!({ "sampler": sampler, "target": target }));
    }
}

/// Take out samplers that no channel uses any more.
pub(super) fn drop_samplers(animation: &mut Value) {
    let used: HashSet<usize> =
        list(animation, "channels").iter().filter_map(|channel| index(channel, "sampler")).collect();
    let mut numbers = Vec::new();
    let mut n = 0;
    for at in 0..list(animation, "samplers").len() {
        numbers.push(n);
        n += usize::from(used.contains(&at));
    }
    let mut at = 0;
    member(animation, "samplers").retain(|_| {
        at += 1;
        used.contains(&(at - 1))
    });
    for channel in member(animation, "channels") {
        if let Some(&number) = index(channel, "sampler").and_then(|sampler| numbers.get(sampler)) {
            channel["sampler"] = json!(number);
        }
    }
}
