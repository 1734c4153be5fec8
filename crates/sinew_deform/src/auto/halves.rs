//! Two handles for a body without limbs: its ends, with soft surface between them.
//!
//! # Source
//! Sinew's own. One handle moves everything and poses nothing; what can be done with a plate, a knot or a head whose limbs were
//! not found is to bend and twist it between the two places that are farthest from each other.

use super::component::Component;
use glam::DVec3;
use sinew_geom::{Handle, query::SurfaceTree};

/// Share of the distance between the ends that each end holds.
const END_SHARE: f64 = 0.35;

/// The only handle of a part and of the small parts on it, in two; unless the part is too small for soft surface between them.
pub(super) fn split_in_two(part: &Component, small: &[Component], whole: Handle) -> Vec<Handle> {
    let steps = part.steps();
    let farthest = |distances: &[f64]| {
        let finite = (0..distances.len()).filter(|&v| distances[v].is_finite());
        finite.max_by(|&a, &b| distances[a].total_cmp(&distances[b])).unwrap_or(0) as u32
    };
    let first = farthest(&steps.distances(&[(0, 0.0)], f64::INFINITY));
    let from_end = steps.distances(&[(first, 0.0)], f64::INFINITY);
    let length = from_end[farthest(&from_end) as usize];
    // The part with more area is the body: 0 is the far half, 1 the near one.
    let end_of = |v: usize| match from_end[v] / length {
        x if x <= END_SHARE => Some(0),
        x if x >= 1.0 - END_SHARE => Some(1),
        _ => None,
    };
    let mut vertices = [Vec::new(), Vec::new()];
    let (mut middle, mut area) = (DVec3::ZERO, 0.0);
    for (v, originals) in part.originals.iter().enumerate() {
        match end_of(v) {
            Some(end) => vertices[end].extend(originals.iter().copied()),
            None => {
                middle += part.mesh.positions()[v] * part.vertex_areas[v];
                area += part.vertex_areas[v];
            }
        }
    }
    if length.is_nan() || length <= 0.0 || area <= 0.0 || vertices.iter().any(Vec::is_empty) {
        return vec![whole];
    }
    let tree = SurfaceTree::new(&part.mesh);
    let mut is_held: Vec<u32> = whole.vertices.clone();
    is_held.sort_unstable();
    for other in small {
        let Some(hit) = other.mesh.positions().first().and_then(|&p| tree.closest_point(p)) else { continue };
        let corner = (0..3).fold(0, |a, b| if hit.barycentric[b] > hit.barycentric[a] { b } else { a });
        if let Some(end) = end_of(part.mesh.faces()[hit.face as usize][corner] as usize) {
            let held = other.originals.iter().flatten().filter(|v| is_held.binary_search(v).is_ok());
            vertices[end].extend(held);
        }
    }
    let [mut body, mut end] = vertices;
    if end.len() > body.len() {
        std::mem::swap(&mut body, &mut end);
    }
    let handle = |name: &str, mut vertices: Vec<u32>, center: DVec3, secondary: Vec<String>| {
        vertices.sort_unstable();
        Handle { name: name.into(), weights: vec![1.0; vertices.len()], vertices, center, secondary }
    };
    vec![
        handle(&whole.name, body, part.centroid(), vec!["end".into()]),
        handle("end", end, middle / area, Vec::new()),
    ]
}
