//! Components too small to have limbs: eyes, buttons, teeth.

use super::{component::Component, plan::HandlePlan};
use sinew_geom::{Handle, Warnings, query::SurfaceTree};

/// Components nearer than this to a large one, in diagonals of the mesh, move with it.
const MAX_TOUCH_DISTANCE: f64 = 0.02;

/// Largest number of handles for components that touch nothing; a soup of triangles would have thousands.
const MAX_SEPARATE_HANDLES: usize = 64;

/// Give small components to the handle they touch, or their own handle; those that touch soft surface get none, and follow it.
/// `handles` are those of the large components, in order.
pub(super) fn add_small_parts(
    large: &[Component],
    plans: &[HandlePlan],
    small: &[Component],
    diagonal: f64,
    handles: &mut Vec<Handle>,
    warnings: &mut Warnings,
) {
    if small.is_empty() {
        return;
    }
    let trees: Vec<SurfaceTree> = large.iter().map(|part| SurfaceTree::new(&part.mesh)).collect();
    let first: Vec<usize> = plans
        .iter()
        .scan(0, |sum, plan| {
            *sum += plan.rigid.len();
            Some(*sum - plan.rigid.len())
        })
        .collect();
    let is_rigid: Vec<Vec<bool>> = large.iter().zip(plans).map(|(part, plan)| plan.is_rigid(part)).collect();
    let (mut n_joined, mut n_soft, mut n_alone, mut left) = (0, 0, 0, (0, 0));
    for part in small {
        let vertices = part.originals.iter().flatten().copied();
        let (distance, place) = nearest(part, large, &trees);
        if distance <= MAX_TOUCH_DISTANCE * diagonal {
            let (tree, vertex) = place;
            if !is_rigid[tree][vertex as usize] {
                n_soft += 1;
                continue;
            }
            let region = plans[tree].regions.of_vertex[vertex as usize] as usize;
            handles[first[tree] + region].vertices.extend(vertices);
            n_joined += 1;
        } else if n_alone < MAX_SEPARATE_HANDLES {
            n_alone += 1;
            let name = format!("part_{}", large.len() + n_alone);
            let vertices = vertices.collect();
            handles.push(Handle { name, vertices, center: part.centroid(), ..Handle::default() });
        } else {
            left = (left.0 + 1, left.1 + vertices.count());
        }
    }
    for handle in handles.iter_mut() {
        handle.vertices.sort_unstable();
        handle.weights = vec![1.0; handle.vertices.len()];
    }
    if n_joined > 0 {
        warnings.push(format!("{n_joined} small parts move with the handle they touch"));
    }
    if n_soft > 0 {
        warnings.push(format!("{n_soft} small parts touch soft surface and move with it"));
    }
    if n_alone > 0 {
        warnings.push(format!("{n_alone} small parts touch nothing and are handles of their own"));
    }
    if left.0 > 0 {
        warnings.push(format!("{} more parts, {} vertices, touch nothing and got no handle", left.0, left.1));
    }
}

/// Distance to the nearest large component; which one, and its vertex.
fn nearest(part: &Component, large: &[Component], trees: &[SurfaceTree]) -> (f64, (usize, u32)) {
    let mut best = (f64::INFINITY, (0, 0));
    for &p in part.mesh.positions() {
        for (index, tree) in trees.iter().enumerate() {
            let Some(point) = tree.closest_point(p).filter(|point| point.distance < best.0) else { continue };
            let corner =
                (0..3).fold(0, |a, b| if point.barycentric[b] > point.barycentric[a] { b } else { a });
            best = (point.distance, (index, large[index].mesh.faces()[point.face as usize][corner]));
        }
    }
    best
}
