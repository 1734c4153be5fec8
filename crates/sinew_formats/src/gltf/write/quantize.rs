//! Vertices in fewer bytes: positions of 16 bits, normals of 8, weights of 16, rounded offsets of morphs of 8.
//!
//! # Source
//! Khronos Group, *KHR_mesh_quantization* (2020). The transform that restores metres is stored in the node, which
//! players ignore for a skinned mesh: there, positions are not quantised.

use super::builder::{Builder, VERTICES, describe};
use crate::gltf::schema::Accessor;
use glam::{DVec3, Vec3};
use sinew_geom::{Morph, mesh::bounds};

pub(super) const EXTENSION: &str = "KHR_mesh_quantization";
/// Below so many vertices, what 8 bits save is not worth an extension that readers must know.
const FEWEST_OFFSETS: usize = 1024;
/// Largest value of a normalised 16-bit component.
const TOP: f64 = 32767.0;

/// Cube in the mesh's space that is mapped to −1 … 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    pub center: DVec3,
    pub scale: f64,
}

impl Grid {
    /// The cube around points.
    pub fn around(points: &[DVec3]) -> Self {
        let [low, high] = bounds(points);
        let scale = 0.5 * (high - low).max_element();
        Self { center: 0.5 * (low + high), scale: if scale > 0.0 { scale } else { 1.0 } }
    }

    /// Add positions.
    pub fn write_positions(self, builder: &mut Builder, points: &[Vec3]) -> usize {
        let quantised = |p: &Vec3| {
            let q = ((p.as_dvec3() - self.center) / self.scale * TOP).round();
            q.to_array().map(|x| x.clamp(-TOP, TOP) as i16)
        };
        let rows: Vec<[i16; 3]> = points.iter().map(quantised).collect();
        // Elements start at multiples of four bytes.
        let bytes = rows.iter().flat_map(|&[x, y, z]| [x, y, z, 0].map(i16::to_le_bytes)).flatten().collect();
        let [mut min, mut max] = [rows.first().copied().unwrap_or_default(); 2];
        for row in &rows {
            (0..3).for_each(|d| (min[d], max[d]) = (min[d].min(row[d]), max[d].max(row[d])));
        }
        let [min, max] = [min, max].map(|ends| ends.map(f64::from).into());
        padded(
            builder,
            bytes,
            Accessor { min, max, normalized: true, ..describe("VEC3", 5122, rows.len()) },
            8,
        )
    }

    /// Offsets of a morph in the units of the grid.
    pub fn offsets(self, offsets: &[Vec3]) -> Vec<Vec3> {
        offsets.iter().map(|offset| (offset.as_dvec3() / self.scale).as_vec3()).collect()
    }
}

/// Add unit normals.
pub(super) fn write_normals(builder: &mut Builder, normals: &[Vec3]) -> usize {
    let quantised = |n: &Vec3| (*n * 127.0).round().to_array().map(|x| x.clamp(-127.0, 127.0) as i8);
    let bytes = normals.iter().map(quantised).flat_map(|[x, y, z]| [x, y, z, 0]).map(|x| x as u8).collect();
    let accessor = Accessor { normalized: true, ..describe("VEC3", 5120, normals.len()) };
    padded(builder, bytes, accessor, 4)
}

/// Add offsets of a morph target: in 8 bits if these hold them, else as `in_full` does.
pub(in crate::gltf) fn write_offsets(
    builder: &mut Builder,
    offsets: &[Vec3],
    in_full: impl FnOnce(&mut Builder, &[Vec3]) -> usize,
) -> usize {
    match whole_offsets(offsets) {
        Some(whole) => write_whole(builder, &whole),
        None => in_full(builder, offsets),
    }
}

/// Offsets of a morph in 8 bits, and whether 127 of them are 1.
struct WholeOffsets {
    rows: Vec<[i8; 3]>,
    normalized: bool,
}

/// Offsets of a morph in 8 bits, if these hold them as they are (see [`Morph::rounded`]) and there are many.
fn whole_offsets(offsets: &[Vec3]) -> Option<WholeOffsets> {
    if offsets.len() < FEWEST_OFFSETS {
        return None;
    }
    let in_units = |unit: f32| {
        let step = |x: f32| {
            let steps = (x * unit).round();
            (steps.abs() <= Morph::STEPS && steps / unit == x).then_some(steps as i8)
        };
        let row = |offset: &Vec3| {
            let [x, y, z] = offset.to_array().map(step);
            Some([x?, y?, z?])
        };
        let rows = offsets.iter().map(row).collect::<Option<Vec<_>>>()?;
        let is_full = rows.as_flattened().iter().any(|x| x.unsigned_abs() == Morph::STEPS as u8);
        is_full.then_some(WholeOffsets { rows, normalized: unit > 1.0 })
    };
    in_units(Morph::STEPS).or_else(|| in_units(1.0))
}

fn write_whole(builder: &mut Builder, offsets: &WholeOffsets) -> usize {
    builder.require(EXTENSION);
    let WholeOffsets { rows, normalized } = offsets;
    let [min, max] = [i8::min, i8::max].map(|pick| {
        let ends = rows.iter().copied().reduce(|a, b| std::array::from_fn(|d| pick(a[d], b[d])));
        ends.unwrap_or_default().map(f64::from).to_vec()
    });
    // Elements start at multiples of four bytes.
    let bytes = rows.iter().flat_map(|&[x, y, z]| [x, y, z, 0]).map(|x| x as u8).collect();
    let normalized = *normalized;
    padded(builder, bytes, Accessor { min, max, normalized, ..describe("VEC3", 5120, rows.len()) }, 4)
}

/// Add weights of 16 bits that sum to one exactly.
pub(super) fn write_weights(builder: &mut Builder, weights: &[[f32; 4]]) -> usize {
    let bytes: Vec<u8> = weights.iter().flat_map(sixteen_bits).flat_map(u16::to_le_bytes).collect();
    let accessor = Accessor { normalized: true, ..describe("VEC4", 5123, weights.len()) };
    builder.accessor(&bytes, accessor, VERTICES)
}

/// Whether 16 bits hold weights as they are.
pub(super) fn are_sixteen_bits(weights: &[[f32; 4]]) -> bool {
    let is_whole = |w: &f32| (w * 65535.0 - (w * 65535.0).round()).abs() < 0.01;
    weights.iter().flatten().all(is_whole)
}

fn sixteen_bits(weights: &[f32; 4]) -> [u16; 4] {
    let mut rounded = weights.map(|w| (w.clamp(0.0, 1.0) * 65535.0).round() as i32);
    let mut largest = 0;
    (1..4).for_each(|at| largest = if rounded[at] > rounded[largest] { at } else { largest });
    // The rounding error is added where it changes least. Sets beyond the first sum to less than one.
    let wanted = (weights.iter().sum::<f32>() * 65535.0).round() as i32;
    rounded[largest] += wanted - rounded.iter().sum::<i32>();
    rounded.map(|w| w.clamp(0, 65535) as u16)
}

fn padded(builder: &mut Builder, bytes: Vec<u8>, accessor: Accessor, stride: u64) -> usize {
    let index = builder.accessor(&bytes, accessor, VERTICES);
    if let Some(view) = builder.root.buffer_views.last_mut() {
        view.byte_stride = Some(stride);
    }
    index
}
