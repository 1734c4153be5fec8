//! What a figure holds or wears on one side, such as a sword or a bag. It is left out while the body is looked for, and rides
//! on a bone afterwards.

use crate::{
    kd_tree::KdTree,
    parts::find_parts,
    solid::Solid,
    symmetry::{Plane, thin_out},
};
use glam::DVec3;
use sinew_geom::Mesh;

/// Parts whose mirror images are farther from the body than this share of the diagonal are on one side only.
const FAR_SHARE: f64 = 0.035;
/// More of the surface than this is no accessory.
const MAX_AREA_SHARE: f64 = 0.4;
/// Symmetry must become better by this factor.
const MAX_ASYMMETRY_RATIO: f64 = 0.7;
const N_SAMPLES: usize = 120;
const N_POINTS: usize = 12_000;

/// A loose part.
struct Part {
    n_vertices: usize,
    area: f64,
    samples: Vec<DVec3>,
    faces: Vec<[u32; 3]>,
}

/// The mesh without accessories, if there are some.
pub(crate) fn leave_out(mesh: &Mesh, solid: &Solid, planes: &[Plane]) -> Option<Mesh> {
    let parts = list_parts(mesh);
    let total: f64 = parts.iter().map(|part| part.area).sum();
    if parts.len() < 2 || total <= 0.0 {
        return None;
    }
    let tree = KdTree::new(&thin_out(&solid.points, N_POINTS));
    let judge = |plane: &Plane| {
        let off: Vec<f64> = parts.iter().map(|part| asymmetry(part, plane, &tree)).collect();
        let mean = |keep: &dyn Fn(usize) -> bool| {
            let kept = (0..parts.len()).filter(|&k| keep(k));
            let (sum, area) =
                kept.fold((0.0, 0.0), |(s, a), k| (s + off[k] * parts[k].area, a + parts[k].area));
            sum / f64::max(area, 1e-12)
        };
        let is_kept: Vec<bool> =
            (0..parts.len()).map(|k| off[k] < FAR_SHARE || has_twin(&parts, k)).collect();
        let removed: f64 = (0..parts.len()).filter(|&k| !is_kept[k]).map(|k| parts[k].area).sum();
        (mean(&|k| is_kept[k]), mean(&|_| true), removed / total, is_kept)
    };
    let judged: Vec<_> = planes.iter().map(judge).collect();
    let whole = judged.iter().map(|(_, whole, ..)| *whole).fold(f64::MAX, f64::min);
    let best = judged
        .into_iter()
        .filter(|(.., share, _)| *share < MAX_AREA_SHARE)
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let (error, _, share, is_kept) = best;
    if share == 0.0 || error > MAX_ASYMMETRY_RATIO * whole {
        return None;
    }
    let faces = parts.iter().zip(is_kept).filter(|(_, kept)| *kept).flat_map(|(part, _)| part.faces.clone());
    compact(mesh, faces.collect())
}

fn list_parts(mesh: &Mesh) -> Vec<Part> {
    let lists = find_parts(mesh);
    let mut part_of = vec![0; mesh.n_vertices()];
    for (k, list) in lists.iter().enumerate() {
        list.iter().for_each(|&v| part_of[v as usize] = k);
    }
    let mut parts: Vec<Part> = lists
        .iter()
        .map(|list| Part { n_vertices: list.len(), area: 0.0, samples: Vec::new(), faces: Vec::new() })
        .collect();
    for (face, &corners) in mesh.faces().iter().enumerate() {
        let [a, b, c] = mesh.corners(face);
        let part = &mut parts[part_of[corners[0] as usize]];
        part.area += 0.5 * (b - a).cross(c - a).length();
        part.samples.push((a + b + c) / 3.0);
        part.faces.push(corners);
    }
    parts.iter_mut().for_each(|part| part.samples = thin_out(&part.samples, N_SAMPLES));
    parts.retain(|part| !part.faces.is_empty());
    parts
}

/// Mean distance of the part's mirror image from the body.
fn asymmetry(part: &Part, plane: &Plane, tree: &KdTree) -> f64 {
    let sum: f64 = part.samples.iter().map(|&p| tree.nearest(plane.mirror(p)).0.min(2.0 * FAR_SHARE)).sum();
    sum / part.samples.len().max(1) as f64
}

/// Whether there is another part just like this one: an arm that is posed otherwise than the other.
fn has_twin(parts: &[Part], k: usize) -> bool {
    let part = &parts[k];
    let is_like = |other: &Part| {
        (other.area / part.area - 1.0).abs() < 0.05
            && other.n_vertices.abs_diff(part.n_vertices) * 50 <= part.n_vertices
    };
    parts.iter().enumerate().any(|(i, other)| i != k && is_like(other))
}

/// A mesh of some faces, without the vertices that none of them uses.
fn compact(mesh: &Mesh, mut faces: Vec<[u32; 3]>) -> Option<Mesh> {
    let mut number = vec![u32::MAX; mesh.n_vertices()];
    let mut positions = Vec::new();
    for v in faces.iter_mut().flatten() {
        let known = &mut number[*v as usize];
        if *known == u32::MAX {
            *known = positions.len() as u32;
            positions.push(mesh.positions()[*v as usize]);
        }
        *v = *known;
    }
    Mesh::new(positions, faces).ok()
}
