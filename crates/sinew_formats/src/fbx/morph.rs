//! Blend shapes to morph targets: one for each shape of a channel, in-betweens included.
//!
//! # Source
//! Shapes of a channel lie at weights `w₁ < w₂ < …`; between two of them, and between zero and the first, the offset is
//! interpolated linearly, beyond the last it is extrapolated. So the weight of each shape is piecewise linear in the weight of
//! the channel.

use super::convert::vec3;
use super::corners::Vertices;
use super::draft::Draft;
use crate::Fault;
use crate::gltf::schema::{self, Attributes};
use glam::Vec3;
use serde_json::json;
use ufbx::{BlendChannel, Mesh};

/// Channels of a mesh that have shapes.
pub(super) fn channels(mesh: &Mesh) -> impl Iterator<Item = &BlendChannel> {
    let all = mesh.blend_deformers.iter().flat_map(|deformer| deformer.channels.iter());
    all.map(|channel| &**channel).filter(|channel| !channel.keyframes.is_empty())
}

/// Weights at which the shapes of a channel are.
pub(super) fn stops(channel: &BlendChannel) -> Vec<f64> {
    channel.keyframes.iter().map(|key| key.target_weight).collect()
}

/// Weight of each shape for a weight of the channel.
pub(super) fn shape_weights(stops: &[f64], weight: f64) -> Vec<f64> {
    let mut weights = vec![0.0; stops.len()];
    let on_side = |&at: &usize| stops[at] != 0.0 && (stops[at] > 0.0) == (weight > 0.0);
    let mut side: Vec<usize> = (0..stops.len()).filter(on_side).collect();
    if side.is_empty() {
        // Beyond zero, where no shape is: the first of the other side, backwards.
        side = (0..stops.len()).filter(|&at| stops[at] != 0.0).collect();
        side.sort_by(|&a, &b| stops[a].abs().total_cmp(&stops[b].abs()));
        side.truncate(1);
    }
    side.sort_by(|&a, &b| stops[a].abs().total_cmp(&stops[b].abs()));
    let after =
        side.iter().position(|&at| stops[at].abs() > weight.abs()).unwrap_or(side.len().saturating_sub(1));
    let Some(&next) = side.get(after) else { return weights };
    let before = after.checked_sub(1).map(|at| side[at]);
    let start = before.map_or(0.0, |at| stops[at]);
    let share = (weight - start) / (stops[next] - start);
    if !share.is_finite() {
        return weights;
    }
    weights[next] = share;
    if let Some(before) = before {
        weights[before] = 1.0 - share;
    }
    weights
}

/// Write the targets of a mesh with their names and default weights.
pub(super) fn write_targets(
    draft: &mut Draft,
    mesh: &Mesh,
    vertices: &Vertices,
    json: &mut schema::Mesh,
) -> Result<Vec<Attributes>, Fault> {
    let (mut targets, mut names) = (Vec::new(), Vec::new());
    let vertices_of = first_vertices(mesh.num_vertices, vertices);
    for channel in channels(mesh) {
        let stops = stops(channel);
        json.weights.extend(shape_weights(&stops, channel.weight).into_iter().map(|weight| weight as f32));
        for (at, key) in channel.keyframes.iter().enumerate() {
            draft.budget.charge(vertices.points.len(), 24)?;
            let mut offsets = vec![Vec3::ZERO; vertices.points.len()];
            let shape = &*key.shape;
            for (&point, &offset) in shape.offset_vertices.iter().zip(shape.position_offsets.iter()) {
                let Some(range) = vertices_of.get(point as usize..point as usize + 2) else { continue };
                let range = range[0] as usize..range[1] as usize;
                offsets[range].iter_mut().for_each(|o| *o += vec3(offset));
            }
            targets.push(Attributes::from([("POSITION".to_owned(), draft.builder.offsets(&offsets))]));
            names.push(name_of(channel, at));
        }
    }
    if !names.is_empty() {
        json.extras = json!({ "targetNames": names });
    }
    Ok(targets)
}

/// First vertex of each point, and the number of all.
fn first_vertices(n_points: usize, vertices: &Vertices) -> Vec<u32> {
    let mut first = vec![0; n_points + 1];
    vertices.points.iter().for_each(|&point| first[point as usize + 1] += 1);
    for point in 0..n_points {
        first[point + 1] += first[point];
    }
    first
}

/// Name of a shape: that of the channel, in-betweens with their weight.
fn name_of(channel: &BlendChannel, at: usize) -> String {
    let key = &channel.keyframes[at];
    let names = [&channel.element.name, &key.shape.element.name];
    let name = names.into_iter().find(|name| !name.is_empty()).map(|name| name.to_string());
    let name = name.unwrap_or_else(|| "shape".to_owned());
    match at + 1 == channel.keyframes.len() {
        true => name,
        false => format!("{name} {:.0}%", 100.0 * key.target_weight),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_reached_at_their_weights_and_blend_between() {
        let stops = [0.5, 1.0];
        let table = [
            (0.0, [0.0, 0.0]),
            (0.25, [0.5, 0.0]),
            (0.5, [1.0, 0.0]),
            (0.75, [0.5, 0.5]),
            (1.0, [0.0, 1.0]),
            (1.5, [-1.0, 2.0]),
            (-0.5, [-1.0, 0.0]),
        ];
        for (weight, expected) in table {
            assert_eq!(shape_weights(&stops, weight), expected, "{weight}");
        }
        assert_eq!(shape_weights(&[-1.0, 1.0], -0.5), [0.5, 0.0]);
        assert_eq!(shape_weights(&[1.0], 2.0), [2.0]);
        assert_eq!(shape_weights(&[0.0], 2.0), [0.0]);
        assert!(shape_weights(&[], 1.0).is_empty());
    }
}
