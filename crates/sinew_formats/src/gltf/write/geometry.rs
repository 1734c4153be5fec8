//! The mesh: vertices split where texture coordinates jump, one primitive per material.

use super::builder::{Builder, VERTICES};
use super::quantize::{self, Grid};
use crate::gltf::normals::smooth_normals;
use crate::gltf::schema::{Attributes, Primitive};
use glam::{DVec3, Vec3};
use sinew_geom::{Character, Uvs, Warnings};
use std::collections::HashMap;

/// The vertices as written: first those of the mesh in their order, then copies at seams.
pub(in crate::gltf) struct Vertices {
    /// Vertex of the mesh that each written vertex comes from.
    pub sources: Vec<u32>,
    pub faces: Vec<[u32; 3]>,
    pub uvs: Option<Vec<[f32; 2]>>,
}

impl Vertices {
    /// Pick an attribute of the mesh's vertices for the written ones.
    pub fn spread<T: Copy>(&self, values: &[T]) -> Vec<T> {
        self.sources.iter().map(|&source| values[source as usize]).collect()
    }
}

/// Decide which vertices are written.
pub(super) fn split_vertices(character: &Character, warnings: &mut Warnings) -> Vertices {
    let (mesh, uvs) = (&character.mesh, character.surface.uvs.as_ref());
    let sources = (0..mesh.n_vertices() as u32).collect();
    let whole = Vertices { sources, faces: mesh.faces().to_vec(), uvs: None };
    let Some(uvs) = uvs else { return whole };
    let in_range = |corners: &[u32; 3]| corners.iter().all(|&corner| (corner as usize) < uvs.coords.len());
    if uvs.corners.len() != mesh.n_faces() || !uvs.corners.iter().all(in_range) {
        warnings.push("the texture coordinates do not fit the mesh; left out");
        return whole;
    }
    if uvs.corners == mesh.faces() && uvs.coords.len() == mesh.n_vertices() {
        return Vertices { uvs: Some(uvs.coords.clone()), ..whole };
    }
    split_at_seams(whole, uvs)
}

fn split_at_seams(mut vertices: Vertices, uvs: &Uvs) -> Vertices {
    let mut coords: Vec<Option<[f32; 2]>> = vec![None; vertices.sources.len()];
    let mut copies: HashMap<(u32, [u32; 2]), u32> = HashMap::new();
    for (face, corners) in vertices.faces.iter_mut().zip(&uvs.corners) {
        for (vertex, &corner) in face.iter_mut().zip(corners) {
            let coord = uvs.coords[corner as usize];
            let first = *coords[*vertex as usize].get_or_insert(coord);
            if first.map(f32::to_bits) == coord.map(f32::to_bits) {
                continue;
            }
            *vertex = *copies.entry((*vertex, coord.map(f32::to_bits))).or_insert_with(|| {
                vertices.sources.push(*vertex);
                coords.push(Some(coord));
                coords.len() as u32 - 1
            });
        }
    }
    vertices.uvs = Some(coords.into_iter().map(|coord| coord.unwrap_or_default()).collect());
    vertices
}

/// Positions in the precision of the file.
pub(super) fn single(positions: &[DVec3]) -> Vec<Vec3> {
    let limit = DVec3::splat(f64::from(f32::MAX));
    positions.iter().map(|p| p.clamp(-limit, limit).as_vec3()).collect()
}

/// Write the attributes all primitives share; in fewer bits on request, positions on a grid if there is one.
pub(super) fn write_attributes(
    builder: &mut Builder,
    character: &Character,
    vertices: &Vertices,
    (is_quantized, grid): (bool, Option<Grid>),
    warnings: &mut Warnings,
) -> Attributes {
    let (mesh, surface) = (&character.mesh, &character.surface);
    let positions = single(mesh.positions());
    let beyond = |p: &&DVec3| p.abs().max_element() > f64::from(f32::MAX);
    let n_beyond = mesh.positions().iter().filter(beyond).count();
    if n_beyond > 0 {
        warnings
            .push(format!("{n_beyond} vertices lie beyond what glTF can hold and were moved to its limit"));
    }
    let mut attributes = Attributes::new();
    let mut add = |name: &str, accessor| attributes.insert(name.to_owned(), accessor);
    let placed = vertices.spread(&positions);
    let placed = match grid {
        Some(grid) => grid.write_positions(builder, &placed),
        None => builder.points(&placed, true),
    };
    add("POSITION", placed);
    let normals = match &surface.normals {
        Some(normals) if normals.len() == positions.len() => normals.clone(),
        _ => smooth_normals(&positions, mesh.faces().iter().copied()),
    };
    let normals: Vec<Vec3> = normals.into_iter().map(unit).collect();
    let normals = vertices.spread(&normals);
    let normals = match is_quantized {
        true => quantize::write_normals(builder, &normals),
        false => builder.points(&normals, false),
    };
    add("NORMAL", normals);
    if let Some(uvs) = &vertices.uvs {
        add("TEXCOORD_0", builder.floats("VEC2", uvs, VERTICES));
    }
    match &surface.colors {
        Some(colors) if colors.len() == positions.len() => {
            let clamped: Vec<[f32; 4]> =
                colors.iter().map(|color| color.map(|x| x.clamp(0.0, 1.0))).collect();
            add("COLOR_0", builder.floats("VEC4", &vertices.spread(&clamped), VERTICES));
        }
        Some(_) => warnings.push("the vertex colours do not fit the mesh; left out"),
        None => {}
    }
    attributes
}

/// Unit length; vectors that are normalised within rounding are not changed; up where there is no direction.
fn unit(normal: Vec3) -> Vec3 {
    match normal.length_squared() {
        length if (length - 1.0).abs() <= 1e-5 => normal,
        _ => normal.try_normalize().unwrap_or(Vec3::Y),
    }
}

/// One primitive per material that has faces, all over the same vertices.
pub(super) fn write_primitives(
    builder: &mut Builder,
    character: &Character,
    vertices: &Vertices,
    attributes: &Attributes,
) -> Vec<Primitive> {
    let n_materials = character.surface.materials.len().max(1);
    let materials = &character.surface.face_materials;
    let mut groups: Vec<Vec<u32>> = vec![Vec::new(); n_materials];
    for (index, face) in vertices.faces.iter().enumerate() {
        let material = materials.get(index).map_or(0, |&material| material as usize);
        groups[if material < n_materials { material } else { 0 }].extend(face);
    }
    let mut primitives = Vec::new();
    for (material, corners) in groups.iter().enumerate().filter(|(_, corners)| !corners.is_empty()) {
        let indices = Some(builder.indices(corners));
        let attributes = attributes.clone();
        primitives.push(Primitive { attributes, indices, material: Some(material), ..Primitive::default() });
    }
    primitives
}
