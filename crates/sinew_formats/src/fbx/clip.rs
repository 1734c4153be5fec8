//! Takes to clips: curves, layers and pivots baked to what nodes and morph targets do.

use super::convert::{quat, vec3};
use super::draft::Draft;
use super::keys::{Curve, cut, sample};
use super::load::within;
use super::mesh::Shown;
use super::morph::{channels, shape_weights, stops};
use crate::Fault;
use crate::gltf::schema::{Animation, Channel, Sampler, Target};
use crate::names::Names;
use glam::{DQuat, Quat, Vec3};
use sinew_geom::Transform;
use std::collections::{BTreeMap, BTreeSet};
use ufbx::{AnimStack, BakeOpts, BakedAnim, BakedAnimRoot, BakedNode, BakedVec3};

/// Frame rates that files may have; others are taken as [`FPS`].
const RATES: std::ops::RangeInclusive<f64> = 1.0..=240.0;
const FPS: f64 = 30.0;
/// Samples between two keys of a curve: five minutes.
const FINE: usize = 10_000;
/// Samples between two keys where those take too much memory.
const COARSE: usize = 32;
/// Memory that a clip may use, as a part of that of the file.
const SHARE: usize = 4;
/// Keys that differ less from the resting node do not move it.
const STILL: f32 = 1e-7;
/// Properties that are not lost (of blend shapes and layers), or mean nothing by themselves.
const KNOWN: [&str; 4] = ["DeformPercent", "Weight", "filmboxTypeID", "lockInfluenceWeights"];

/// Write every take that moves something.
pub(super) fn write_clips(draft: &mut Draft, shown: &[Shown]) -> Result<(), Fault> {
    let mut names = Names::default();
    let scene = draft.scene;
    for (at, stack) in scene.anim_stacks.iter().enumerate() {
        let name = stack.element.name.to_string();
        let name = if name.is_empty() { format!("clip {at}") } else { name };
        let Some(baked) = bake(draft, stack, &name) else { continue };
        let mut writer = Writer { range: range_of(stack, &baked), draft, animation: Animation::default() };
        for node in &baked.nodes {
            writer.write_node(node);
        }
        for shown in shown {
            writer.write_weights(&baked, shown)?;
        }
        let Writer { animation, .. } = writer;
        note_lost(draft, &baked, &name);
        if !animation.channels.is_empty() {
            let name = Some(names.unique(&name));
            draft.builder.root.animations.push(Animation { name, ..animation });
        }
    }
    Ok(())
}

/// Bake at the frame rate of the file; keys that are as close already stay where they are.
fn bake(draft: &mut Draft, stack: &AnimStack, name: &str) -> Option<BakedAnimRoot> {
    let rate = draft.scene.settings.frames_per_second;
    let resample_rate = if RATES.contains(&rate) { rate } else { FPS };
    let limit = draft.budget.left() / SHARE;
    let options = |max_keyframe_segments| BakeOpts {
        temp_allocator: within(limit),
        result_allocator: within(limit),
        resample_rate,
        max_keyframe_segments,
        ..BakeOpts::default()
    };
    if let Ok(baked) = ufbx::bake_anim(draft.scene, &stack.anim, options(FINE)) {
        return Some(baked);
    }
    match ufbx::bake_anim(draft.scene, &stack.anim, options(COARSE)) {
        Ok(baked) => {
            draft.warnings.push(format!(
                "clip {name:?} is sampled coarsely between its keys, because it takes too much memory otherwise"
            ));
            Some(baked)
        }
        Err(error) => {
            let why = &error.description;
            draft.warnings.push(format!("clip {name:?} could not be sampled ({}); left out", &**why));
            None
        }
    }
}

/// Begin and end of a take: as it says, else those of its keys.
fn range_of(stack: &AnimStack, baked: &BakedAnim) -> [f64; 2] {
    let is_range = |[begin, end]: &[f64; 2]| begin.is_finite() && end.is_finite() && end > begin;
    let said = [stack.time_begin, stack.time_end];
    let keys = [baked.key_time_min, baked.key_time_max];
    [said, keys].into_iter().find(is_range).unwrap_or([0.0, f64::from(f32::MAX)])
}

/// Weights of the shapes of a channel, and those of the channel over time.
type Weights = (Vec<f64>, Vec<(f64, f64)>);

struct Writer<'d, 's> {
    draft: &'d mut Draft<'s>,
    animation: Animation,
    range: [f64; 2],
}

impl Writer<'_, '_> {
    fn write_node(&mut self, baked: &BakedNode) {
        let Some(node) = self.draft.scene.nodes.get(baked.typed_id as usize) else { return };
        let Some(index) = self.draft.nodes.find(node) else { return };
        if self.draft.nodes.is_detached(index) {
            let is_still = baked.constant_translation && baked.constant_rotation && baked.constant_scale;
            if !is_still {
                let name = node.element.name.to_string();
                self.draft.warnings.push(format!(
                    "mesh {name:?} follows bones alone; that clips move its node too has no effect"
                ));
            }
            return;
        }
        let rest = super::convert::transform(&node.local_transform);
        let mix = |a: Vec3, b: Vec3, share: f64| a.lerp(b, share as f32);
        let vectors = |keys: &[BakedVec3]| -> Vec<(f64, Vec3)> {
            let keys = keys.iter().filter(|key| key.time.is_finite());
            keys.map(|key| (key.time, vec3(key.value))).collect()
        };
        let turned = baked.rotation_keys.iter().filter(|key| key.time.is_finite());
        let turned: Vec<(f64, DQuat)> = turned.map(|key| (key.time, quat(key.value))).collect();
        if let Some(curve) = cut(&turned, self.range, |a, b, share| a.slerp(b, share)) {
            let values: Vec<Quat> = curve.values.iter().map(|q| q.as_quat()).collect();
            let is_rest = |q: &Quat| q.dot(rest.rotation.as_quat()).abs() > 1.0 - STILL;
            if !values.iter().all(is_rest) {
                let floats = values.iter().flat_map(|q| q.to_array());
                self.push(index, "rotation", "VEC4", &curve.times, floats);
            }
        }
        let Transform { translation, scale, .. } = rest;
        for (path, keys, rest) in [
            ("translation", &baked.translation_keys, translation.as_vec3()),
            ("scale", &baked.scale_keys, scale.as_vec3()),
        ] {
            let Some(curve) = cut(&vectors(keys), self.range, mix) else { continue };
            let size = rest.abs().max_element().max(1.0);
            let is_rest = |v: &Vec3| (*v - rest).abs().max_element() <= STILL * size;
            if !curve.values.iter().all(is_rest) {
                let floats = curve.values.iter().flat_map(|v| v.to_array());
                self.push(index, path, "VEC3", &curve.times, floats);
            }
        }
    }

    /// Weights of all targets of a mesh, at all times at which one of their channels bends.
    fn write_weights(&mut self, baked: &BakedAnim, shown: &Shown) -> Result<(), Fault> {
        let Some(mesh) = self.draft.scene.meshes.get(shown.mesh) else { return Ok(()) };
        let mix = |a: f64, b: f64, share: f64| a + (b - a) * share;
        let keys_of: BTreeMap<u32, &[BakedVec3]> = baked.elements.iter().filter_map(percents).collect();
        let mut curves: Vec<Weights> = Vec::new();
        let mut is_moved = false;
        for channel in channels(mesh) {
            let keys = keys_of.get(&channel.element.element_id).copied().unwrap_or(&[]);
            let keys = keys.iter().filter(|key| key.time.is_finite() && key.value.x.is_finite());
            let keys: Vec<(f64, f64)> = keys.map(|key| (key.time, key.value.x / 100.0)).collect();
            let Some(Curve { times, values }) = cut(&keys, self.range, mix) else {
                curves.push((stops(channel), vec![(0.0, channel.weight)]));
                continue;
            };
            is_moved |= values.iter().any(|value| (value - channel.weight).abs() > f64::from(STILL));
            let keys = times.into_iter().map(f64::from).zip(values).collect();
            curves.push((stops(channel), keys));
        }
        if !is_moved {
            return Ok(());
        }
        let mut times: Vec<f32> = curves.iter().flat_map(|(stops, keys)| bends(stops, keys)).collect();
        times.sort_by(f32::total_cmp);
        times.dedup();
        let width: usize = curves.iter().map(|(stops, _)| stops.len()).sum();
        self.draft.budget.charge(times.len(), 8 * width)?;
        let mut values = Vec::with_capacity(times.len() * width);
        for &time in &times {
            for (stops, keys) in &curves {
                let weight = sample(keys, f64::from(time), &mix).unwrap_or(0.0);
                values.extend(shape_weights(stops, weight).into_iter().map(|weight| weight as f32));
            }
        }
        self.push(shown.node, "weights", "SCALAR", &times, values.into_iter());
        Ok(())
    }

    fn push(
        &mut self,
        node: usize,
        path: &str,
        kind: &'static str,
        times: &[f32],
        values: impl Iterator<Item = f32>,
    ) {
        let input = self.draft.builder.times(times);
        let output = self.draft.builder.curve_floats(kind, values);
        let sampler = self.animation.samplers.len();
        self.animation.samplers.push(Sampler { input, interpolation: None, output });
        let target = Target { node: Some(node), path: path.to_owned() };
        self.animation.channels.push(Channel { sampler, target });
    }
}

/// The channel whose weight an element is, with its keys.
fn percents(element: &ufbx::BakedElement) -> Option<(u32, &[BakedVec3])> {
    let prop = element.props.iter().find(|prop| &*prop.name == "DeformPercent")?;
    Some((element.element_id, &prop.keys))
}

/// Times of keys, and those between at which the weight of the channel passes that of a shape.
fn bends(stops: &[f64], keys: &[(f64, f64)]) -> Vec<f32> {
    let mut times: Vec<f32> = keys.iter().map(|(time, _)| *time as f32).collect();
    for pair in keys.windows(2) {
        let [(start, a), (end, b)] = [pair[0], pair[1]];
        let crossed = stops.iter().chain(&[0.0]).filter(|stop| (**stop - a) * (**stop - b) < 0.0);
        times.extend(crossed.map(|stop| (start + (end - start) * (stop - a) / (b - a)) as f32));
    }
    times
}

/// Name what else a take animates.
fn note_lost(draft: &mut Draft, baked: &BakedAnim, name: &str) {
    let moving =
        baked.elements.iter().flat_map(|element| element.props.iter()).filter(|prop| !prop.constant_value);
    let lost: BTreeSet<&str> = moving.map(|prop| &*prop.name).filter(|name| !KNOWN.contains(name)).collect();
    if !lost.is_empty() {
        let names: Vec<&str> = lost.into_iter().collect();
        draft.warnings.push(format!("clip {name:?}: animation of {} was left out", names.join(", ")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_bend_where_a_shape_is_passed() {
        assert_eq!(bends(&[0.5, 1.0], &[(0.0, 0.0), (2.0, 1.0)]), [0.0, 2.0, 1.0]);
        assert_eq!(bends(&[1.0], &[(0.0, -1.0), (1.0, 1.0)]), [0.0, 1.0, 0.5]);
        assert_eq!(bends(&[1.0], &[(0.0, 0.0)]), [0.0]);
    }
}
