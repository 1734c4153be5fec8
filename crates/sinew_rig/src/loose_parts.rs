//! Parts of a mesh that hang together with nothing: they ride on a bone.

use crate::{
    parts::find_parts,
    skeleton::Skeleton,
    vertex_weights::{Role, VertexWeights, strongest},
};
use glam::DVec3;
use sinew_geom::Mesh;

/// Loose parts smaller than this share of the diagonal move as one piece.
const SMALL_PART: f64 = 0.1;
/// Loose parts smaller than this that mostly belong to one bone are bound to it.
const MEDIUM_PART: f64 = 0.35;

/// Small loose parts (eyes, teeth, buttons) move as one piece.
pub(crate) fn bind(mesh: &Mesh, skeleton: &Skeleton, roles: &[Role], weights: &mut [VertexWeights]) {
    let n_joints = skeleton.joints.len();
    let parts = find_parts(mesh);
    if parts.len() < 2 {
        return;
    }
    for part in parts {
        let points: Vec<DVec3> = part.iter().map(|&v| mesh.positions()[v as usize]).collect();
        let [low, high] = sinew_geom::mesh::bounds(&points);
        let size = low.distance(high);
        if size >= MEDIUM_PART {
            continue;
        }
        let mut mean = vec![0.0; n_joints];
        for &v in &part {
            let vertex = &weights[v as usize];
            (0..4).for_each(|i| mean[vertex.joints[i] as usize] += vertex.weights[i] / part.len() as f32);
        }
        let owner = find_owner(skeleton, roles, 0.5 * (low + high), 0.6 * size);
        let main = (0..n_joints).max_by(|&a, &b| mean[a].total_cmp(&mean[b])).unwrap_or(0);
        let whole = VertexWeights { joints: [main as u16, 0, 0, 0], weights: [1.0, 0.0, 0.0, 0.0] };
        if let Some(owner) = owner.filter(|_| size < SMALL_PART) {
            let whole = VertexWeights { joints: [owner as u16, 0, 0, 0], ..whole };
            part.iter().for_each(|&v| weights[v as usize] = whole);
        } else if size < SMALL_PART && mean[main] < 0.5 {
            let shared = strongest(&mean);
            part.iter().for_each(|&v| weights[v as usize] = shared);
        } else if size < SMALL_PART || mean[main] > 0.7 {
            part.iter().for_each(|&v| weights[v as usize] = whole);
        }
    }
}

/// The joint that moves only the part around a point.
fn find_owner(skeleton: &Skeleton, roles: &[Role], point: DVec3, reach: f64) -> Option<usize> {
    let distance = |&k: &usize| skeleton.joints[k].position.distance(point);
    let owners = (0..roles.len()).filter(|&k| roles[k] == Role::MovesPart);
    owners.min_by(|a, b| distance(a).total_cmp(&distance(b))).filter(|k| distance(k) < reach)
}
