//! Joint indices and weights of a primitive: any number of sets, of which the eight strongest influences are used.

use super::accessor::Decoder;
use crate::Fault;
use crate::gltf::schema::Primitive;

/// `componentType` of single-precision numbers.
const FLOAT: u32 = 5126;
/// Influences per vertex.
const MAX_INFLUENCES: usize = 8;

/// Largest error of rounding a weight to 8 bits, plus our own rounding; longer integers have less.
const ROUNDING: f32 = 0.501 / 255.0;

/// Influences of every vertex, `width` each; the indices refer to the joints of the instance's skin.
pub(super) struct Influences {
    pub width: usize,
    pub joints: Vec<u16>,
    pub weights: Vec<f32>,
}

impl Influences {
    /// The vertex with the largest joint index, and that index.
    pub fn largest_joint(&self) -> Option<(usize, u16)> {
        let (at, &joint) = self.joints.iter().enumerate().max_by_key(|&(_, joint)| joint)?;
        Some((at / self.width, joint))
    }
}

/// Read `JOINTS_n` and `WEIGHTS_n`; `None` if the primitive has none.
pub(super) fn read_influences(
    decoder: &Decoder,
    primitive: &Primitive,
    path: &str,
    n_vertices: usize,
) -> Result<Option<Influences>, Fault> {
    let mut sets = Vec::new();
    let mut rounded = false;
    while let Some(&joints) = primitive.attributes.get(&format!("JOINTS_{}", sets.len())) {
        let set = sets.len();
        let name = |kind: &str| format!("{path}/attributes/{kind}_{set}");
        let Some(&weights) = primitive.attributes.get(&format!("WEIGHTS_{set}")) else {
            return Err(Fault::json(name("JOINTS"), format!("there is no WEIGHTS_{set} for it")));
        };
        let joints = decoder.integers::<4>(joints, &name("JOINTS"))?;
        rounded |= decoder.accessor(weights, &name("WEIGHTS"))?.component_type != FLOAT;
        let weights = decoder.floats::<4>(weights, &name("WEIGHTS"))?;
        for (len, place) in [(joints.len(), name("JOINTS")), (weights.len(), name("WEIGHTS"))] {
            if len != n_vertices {
                return Err(Fault::json(place, format!("{len} elements for {n_vertices} vertices")));
            }
        }
        sets.push((joints, weights));
    }
    if sets.is_empty() || n_vertices == 0 {
        return Ok(None);
    }
    decoder.charge(n_vertices as u64, 6 * 4 * sets.len(), path)?;
    let mut influences = gather(&sets, n_vertices, path)?;
    if rounded {
        unround(&mut influences);
    }
    Ok(Some(influences))
}

/// Sums that differ from one by no more than rounding are normalised; others remain, and cause a warning.
fn unround(influences: &mut Influences) {
    let tolerance = influences.width as f32 * ROUNDING;
    for row in influences.weights.chunks_exact_mut(influences.width) {
        let sum: f32 = row.iter().sum();
        if (sum - 1.0).abs() <= tolerance && (sum - 1.0).abs() > 1e-6 {
            row.iter_mut().for_each(|weight| *weight /= sum);
        }
    }
}

type Set = (Vec<[u32; 4]>, Vec<[f32; 4]>);

/// Put the sets of each vertex side by side. Entries without weight name joint 0.
fn gather(sets: &[Set], n_vertices: usize, path: &str) -> Result<Influences, Fault> {
    let width = 4 * sets.len();
    let is_used = |weight: f32| weight.is_finite() && weight > 0.0;
    let mut joints = vec![0; n_vertices * width];
    let mut weights = vec![0.0; n_vertices * width];
    for (set, (all_joints, all_weights)) in sets.iter().enumerate() {
        let mut largest = 0;
        let rows = joints.chunks_exact_mut(width).zip(weights.chunks_exact_mut(width));
        for ((out_joints, out_weights), (joints, weights)) in rows.zip(all_joints.iter().zip(all_weights)) {
            for at in 0..4 {
                let used = is_used(weights[at]);
                let joint = if used { joints[at] } else { 0 };
                largest = largest.max(joint);
                out_joints[4 * set + at] = joint as u16;
                out_weights[4 * set + at] = if used { weights[at] } else { 0.0 };
            }
        }
        if largest > u32::from(u16::MAX) {
            let place = format!("{path}/attributes/JOINTS_{set}");
            return Err(Fault::json(place, format!("a vertex names joint {largest}; at most 65535 exist")));
        }
    }
    let mut influences = Influences { width, joints, weights };
    if width > MAX_INFLUENCES {
        influences = strongest(&influences);
    }
    Ok(trim(influences))
}

fn strongest(all: &Influences) -> Influences {
    let rows = all.joints.chunks_exact(all.width).zip(all.weights.chunks_exact(all.width));
    let mut out = Influences { width: MAX_INFLUENCES, joints: Vec::new(), weights: Vec::new() };
    for (joints, weights) in rows {
        let mut row: Vec<(f32, u16)> = weights.iter().copied().zip(joints.iter().copied()).collect();
        row.sort_by(|a, b| b.0.total_cmp(&a.0));
        out.joints.extend(row[..MAX_INFLUENCES].iter().map(|entry| entry.1));
        out.weights.extend(row[..MAX_INFLUENCES].iter().map(|entry| entry.0));
    }
    out
}

/// Drop the last columns if no vertex uses them, so that padding does not survive a round trip.
fn trim(all: Influences) -> Influences {
    let rows = || all.weights.chunks_exact(all.width);
    let is_used = |column: usize| rows().any(|row| row[column] != 0.0);
    let width = (1..=all.width).rev().find(|&width| is_used(width - 1)).unwrap_or(1);
    if width == all.width {
        return all;
    }
    let joints = all.joints.chunks_exact(all.width).flat_map(|row| &row[..width]).copied().collect();
    let weights = rows().flat_map(|row| &row[..width]).copied().collect();
    Influences { width, joints, weights }
}
