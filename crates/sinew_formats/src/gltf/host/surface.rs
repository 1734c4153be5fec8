//! Positions, normals and tangents of changed parts, back in the space of their meshes.

use super::super::read::map::PartMap;
use super::carry::{Carry, turn_normal, turn_tangent};
use super::draft::Draft;
use glam::{DAffine3, DMat3, DVec3, Vec3};
use sinew_geom::{Character, Warnings};

/// Attributes to be changed: name and new accessor, or nothing to take it out.
pub(super) type Attributes = Vec<(String, Option<usize>)>;

/// Write what changed of a part whose vertices are at `world` of the mesh now.
pub(super) fn write_vertices(
    draft: &mut Draft,
    now: &Character,
    part: &PartMap,
    world: DAffine3,
    carry: Option<&Carry>,
    warnings: &mut Warnings,
) -> Attributes {
    let source = draft.source;
    let before = &source.character;
    let vertices: Vec<usize> = part.vertices.clone().map(|v| source.map.vertex(v)).collect();
    let is_moved = world != part.world.unwrap_or(DAffine3::IDENTITY);
    let stays = |v: usize| !is_moved && now.mesh.positions()[v] == before.mesh.positions()[v];
    let has_positions_changed = !vertices.iter().all(|&v| stays(v));
    let explicit = now.surface.normals.as_ref().zip(before.surface.normals.as_ref());
    let has_new_normal = |v: usize| explicit.is_some_and(|(new, old)| new[v] != old[v]);
    let has_normals_changed = vertices.iter().any(|&v| has_new_normal(v));
    if !has_positions_changed && !has_normals_changed {
        return Vec::new();
    }
    let mesh_from_world = world.inverse();
    if !mesh_from_world.is_finite() || world.matrix3.determinant() == 0.0 {
        warnings.push(format!("node {} is flattened, so changes of its mesh are not written", part.node));
        return Vec::new();
    }
    let mut changed = Attributes::new();
    if has_positions_changed && let Some(old) = read(draft, part, "POSITION") {
        let place = |(v, old): (&usize, [f32; 3])| match stays(*v) {
            true => Vec3::from_array(old),
            false => mesh_from_world.transform_point3(now.mesh.positions()[*v]).as_vec3(),
        };
        let positions: Vec<Vec3> = vertices.iter().zip(old).map(place).collect();
        let accessor = draft.builder.points(&positions, true);
        changed.push(("POSITION".to_owned(), Some(draft.accessor(accessor))));
    }
    let map_at = |v: usize| {
        let moved = carry.and_then(|carry| carry.at(v)).unwrap_or(DMat3::IDENTITY);
        let own = part.world.map_or(DMat3::IDENTITY, |world| world.matrix3);
        mesh_from_world.matrix3 * moved * own
    };
    let is_carried = |v: usize| is_moved || carry.is_some_and(|carry| carry.at(v).is_some());
    let Some(old_normals) = read::<3>(draft, part, "NORMAL") else { return changed };
    let turned = |v: usize, old: [f32; 3]| match explicit.filter(|_| has_new_normal(v)) {
        // Reading turned it by the inverse transpose.
        Some((new, _)) => (world.matrix3.transpose() * new[v].as_dvec3()).normalize_or_zero(),
        None if is_carried(v) => turn_normal(map_at(v), Vec3::from_array(old).as_dvec3()),
        None => Vec3::from_array(old).as_dvec3(),
    };
    let normals: Vec<DVec3> = vertices.iter().zip(&old_normals).map(|(&v, &old)| turned(v, old)).collect();
    let unit = |n: &DVec3| if *n == DVec3::ZERO { Vec3::Y } else { n.as_vec3() };
    let accessor = draft.builder.points(&normals.iter().map(unit).collect::<Vec<_>>(), false);
    changed.push(("NORMAL".to_owned(), Some(draft.accessor(accessor))));
    if let Some(tangents) = read::<4>(draft, part, "TANGENT") {
        let turn = |((&v, [x, y, z, w]), normal): ((&usize, [f32; 4]), &DVec3)| {
            let old = DVec3::new(x.into(), y.into(), z.into());
            let is_kept = !is_carried(v) && !has_new_normal(v);
            let new = if is_kept { old } else { turn_tangent(map_at(v), old, *normal) };
            let new = if new == DVec3::ZERO { normal.any_orthonormal_vector() } else { new };
            let [x, y, z] = new.as_vec3().to_array();
            [x, y, z, w]
        };
        let tangents: Vec<[f32; 4]> = vertices.iter().zip(tangents).zip(&normals).map(turn).collect();
        let accessor = draft.builder.floats("VEC4", &tangents, super::super::write::builder::VERTICES);
        changed.push(("TANGENT".to_owned(), Some(draft.accessor(accessor))));
    }
    changed
}

/// An attribute of a part as the source has it, if it fits.
fn read<const N: usize>(draft: &Draft, part: &PartMap, name: &str) -> Option<Vec<[f32; N]>> {
    let decoder = draft.source.decoder;
    let primitive = decoder.root.meshes[part.mesh].primitives.get(*part.primitives.first()?)?;
    let accessor = *primitive.attributes.get(name)?;
    decoder.floats::<N>(accessor, name).ok().filter(|values| values.len() == part.vertices.len())
}
