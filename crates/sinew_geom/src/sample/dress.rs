//! From a body plan to a character: surface, skin, materials, shading and handles.

use super::field::Regions;
use super::grow::{build_surface, vertex_normals};
use super::plan::{HandlePlan, Plan};
use super::weights::build_skin;
use crate::{Character, GeomError, Handle, Mesh, Rig, Skin, Surface};
use glam::DVec3;
use rayon::prelude::*;

/// Share of a vertex's weight that must be on the handle's bone, or its descendants, for the vertex to belong to it.
const MIN_SHARE: f32 = 0.85;

/// A tone between 0 and 1 by which the material's colour is multiplied, from position and normal.
pub(super) type Tone = fn(DVec3, DVec3) -> [f64; 3];

/// Grow and dress a creature.
pub(super) fn build_creature(
    plan: &Plan,
    n_vertices: usize,
    tone: Tone,
) -> Result<(Character, Rig), GeomError> {
    let regions = Regions::new(&plan.field);
    let mesh = build_surface(&regions, n_vertices)?;
    dress(plan, mesh, &regions, tone)
}

/// Dress a given surface.
pub(super) fn dress(
    plan: &Plan,
    mesh: Mesh,
    regions: &Regions,
    tone: Tone,
) -> Result<(Character, Rig), GeomError> {
    let rig = plan.rig()?;
    let skin = build_skin(plan, &rig, &mesh)?;
    let handles = find_handles(plan, &mesh, &skin);
    let surface = paint(plan, &mesh, regions, tone);
    let character = Character {
        mesh,
        surface,
        rig: Some(rig.clone()),
        skin: Some(skin),
        handles,
        ..Character::default()
    };
    Ok((character, rig))
}

fn paint(plan: &Plan, mesh: &Mesh, regions: &Regions, tone: Tone) -> Surface {
    let normals = vertex_normals(mesh);
    let color = |(&p, &n): (&DVec3, &DVec3)| {
        let [r, g, b] = tone(p, n).map(|c| c.clamp(0.0, 1.0) as f32);
        [r, g, b, 1.0]
    };
    let colors = mesh.positions().par_iter().zip(&normals).map(color).collect();
    let tint = |f: usize| {
        let [a, b, c] = mesh.corners(f);
        regions.owner((a + b + c) / 3.0).tint as u16
    };
    let face_materials = (0..mesh.n_faces()).into_par_iter().map(tint).collect();
    Surface {
        normals: Some(normals.iter().map(|n| n.as_vec3()).collect()),
        colors: Some(colors),
        materials: plan.materials.clone(),
        face_materials,
        ..Surface::default()
    }
}

/// Vertices of each handle. They are disjoint: where two plans overlap, the first one has the vertex.
fn find_handles(plan: &Plan, mesh: &Mesh, skin: &Skin) -> Vec<Handle> {
    let mut taken = vec![false; mesh.n_vertices()];
    plan.handles.iter().map(|wanted| find_handle(plan, wanted, mesh, skin, &mut taken)).collect()
}

fn find_handle(plan: &Plan, wanted: &HandlePlan, mesh: &Mesh, skin: &Skin, taken: &mut [bool]) -> Handle {
    let below = descendants(plan, wanted.bone);
    let share = |v: usize| skin.vertex(v).filter(|&(b, _)| below[b as usize]).map(|(_, w)| w).sum::<f32>();
    let distance = |v: usize| mesh.positions()[v].distance(wanted.ball.0);
    let mut vertices: Vec<u32> = (0..mesh.n_vertices())
        .filter(|&v| !taken[v] && distance(v) < wanted.ball.1 && share(v) >= MIN_SHARE)
        .map(|v| v as u32)
        .collect();
    if vertices.is_empty() {
        // A very coarse mesh may have no vertex in the ball; then the nearest one of the bone is used.
        let near = |v: &usize| distance(*v) + f64::from(1.0 - share(*v));
        let free = (0..mesh.n_vertices()).filter(|&v| !taken[v]);
        vertices.extend(free.min_by(|a, b| near(a).total_cmp(&near(b))).map(|v| v as u32));
    }
    vertices.iter().for_each(|&v| taken[v as usize] = true);
    Handle {
        name: wanted.name.clone(),
        weights: vec![1.0; vertices.len()],
        vertices,
        center: wanted.pivot,
        secondary: wanted.secondary.clone(),
    }
}

fn descendants(plan: &Plan, bone: usize) -> Vec<bool> {
    let mut below = vec![false; plan.bones.len()];
    for (b, at) in plan.bones.iter().enumerate() {
        below[b] = b == bone || at.parent.is_some_and(|p| below[p]);
    }
    below
}
