//! Primitives to parts: vertices with their attributes, and the triangles over them.

use super::accessor::{Decoder, width_of};
use super::influences::{Influences, read_influences};
use crate::Fault;
use crate::gltf::schema::{Mesh, Primitive};
use glam::Vec3;
use sinew_geom::Warnings;
use std::collections::HashMap;

/// Vertices of one mesh that share their accessors. Primitives of a mesh which differ only in their indices
/// become one part, so that writing a mesh with several materials and reading it back changes nothing.
#[derive(Default)]
pub(super) struct Part {
    /// JSON path of the first primitive.
    pub path: String,
    /// The primitives that show it, by their number in the mesh.
    pub primitives: Vec<usize>,
    pub positions: Vec<Vec3>,
    pub normals: Option<Vec<Vec3>>,
    pub uvs: Option<Vec<[f32; 2]>>,
    pub colors: Option<Vec<[f32; 4]>>,
    pub influences: Option<Influences>,
    /// Offsets of each morph target; `None` where it does not move this part.
    pub targets: Vec<Option<Vec<Vec3>>>,
    /// Triangles with the file's material.
    pub faces: Vec<(Vec<[u32; 3]>, Option<usize>)>,
}

/// Read all parts of a mesh. A broken required element is a fault, a broken optional one a warning.
pub(super) fn read_parts(
    decoder: &Decoder,
    mesh: &Mesh,
    mesh_idx: usize,
    faults: &mut Vec<Fault>,
    warnings: &mut Warnings,
) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut part_of = HashMap::new();
    for (index, primitive) in mesh.primitives.iter().enumerate() {
        let path = format!("/meshes/{mesh_idx}/primitives/{index}");
        if !has_triangles(primitive, &path, warnings) {
            continue;
        }
        let accessors = (&primitive.attributes, &primitive.targets);
        let part = match part_of.get(&accessors) {
            Some(&part) => part,
            None => match read_vertices(decoder, primitive, &path, warnings) {
                Ok(part) => {
                    part_of.insert(accessors, parts.len());
                    parts.push(part);
                    parts.len() - 1
                }
                Err(fault) => {
                    faults.push(fault);
                    continue;
                }
            },
        };
        let part = &mut parts[part];
        match read_faces(decoder, primitive, part.positions.len(), &path) {
            Ok(faces) => {
                part.primitives.push(index);
                part.faces.push((faces, primitive.material));
            }
            Err(fault) => faults.push(fault),
        }
    }
    parts
}

fn has_triangles(primitive: &Primitive, path: &str, warnings: &mut Warnings) -> bool {
    match primitive.mode.unwrap_or(4) {
        4..=6 => true,
        0..=3 => {
            warnings.push(format!("{path}: points and lines are not read"));
            false
        }
        mode => {
            warnings.push(format!("{path}/mode: {mode} is unknown; the primitive is left out"));
            false
        }
    }
}

fn read_vertices(
    decoder: &Decoder,
    primitive: &Primitive,
    path: &str,
    warnings: &mut Warnings,
) -> Result<Part, Fault> {
    let attribute =
        |name: &str| (primitive.attributes.get(name).copied(), format!("{path}/attributes/{name}"));
    let (Some(accessor), place) = attribute("POSITION") else {
        return Err(no_positions(path));
    };
    let mut positions = vec3s(decoder.floats(accessor, &place)?);
    let n_bad = zero_non_finite(&mut positions);
    if n_bad > 0 {
        warnings.push(format!("{place}: {n_bad} vertices are not finite; they were moved to the origin"));
    }
    let n_vertices = positions.len();
    let mut part = Part { path: path.to_owned(), positions, ..Part::default() };
    let mut keep = Keep { n_vertices, warnings };
    if let (Some(accessor), place) = attribute("NORMAL") {
        part.normals = keep.optional(decoder.floats(accessor, &place), &place).map(vec3s).map(unit);
    }
    if let (Some(accessor), place) = attribute("TEXCOORD_0") {
        part.uvs = keep.optional(decoder.floats(accessor, &place), &place).map(finite);
    }
    if let (Some(accessor), place) = attribute("COLOR_0") {
        part.colors = keep.optional(read_colors(decoder, accessor, &place), &place).map(finite);
    }
    for (index, target) in primitive.targets.iter().enumerate() {
        let place = format!("{path}/targets/{index}/POSITION");
        part.targets.push(target.get("POSITION").and_then(|&accessor| {
            let mut offsets = keep.optional(decoder.floats(accessor, &place), &place).map(vec3s)?;
            zero_non_finite(&mut offsets);
            Some(offsets)
        }));
    }
    part.influences = read_influences(decoder, primitive, path, n_vertices)?;
    Ok(part)
}

fn no_positions(path: &str) -> Fault {
    Fault::json(format!("{path}/attributes"), "the primitive has no POSITION")
}

/// Optional attributes: used if they fit, else dropped with a warning.
struct Keep<'a> {
    n_vertices: usize,
    warnings: &'a mut Warnings,
}

impl Keep<'_> {
    fn optional<T>(&mut self, values: Result<Vec<T>, Fault>, place: &str) -> Option<Vec<T>> {
        match values {
            Ok(values) if values.len() == self.n_vertices => return Some(values),
            Ok(values) => {
                let (found, expected) = (values.len(), self.n_vertices);
                self.warnings.push(format!("{place}: {found} elements for {expected} vertices; left out"));
            }
            Err(fault) => self.warnings.push(format!("{place}: {fault}; left out")),
        }
        None
    }
}

fn read_colors(decoder: &Decoder, accessor: usize, place: &str) -> Result<Vec<[f32; 4]>, Fault> {
    if width_of(&decoder.accessor(accessor, place)?.kind) == Some(3) {
        let opaque = |[r, g, b]: [f32; 3]| [r, g, b, 1.0];
        return Ok(decoder.floats::<3>(accessor, place)?.into_iter().map(opaque).collect());
    }
    decoder.floats::<4>(accessor, place)
}

fn read_faces(
    decoder: &Decoder,
    primitive: &Primitive,
    n_vertices: usize,
    path: &str,
) -> Result<Vec<[u32; 3]>, Fault> {
    let corners = match primitive.indices {
        Some(accessor) => decoder.integers::<1>(accessor, &format!("{path}/indices"))?,
        None => {
            decoder.charge(n_vertices as u64, size_of::<u32>(), path)?;
            (0..n_vertices as u32).map(|vertex| [vertex]).collect()
        }
    };
    let corners = corners.as_flattened();
    // A strip or fan has a triangle for every corner.
    decoder.charge(corners.len() as u64, size_of::<[u32; 3]>(), path)?;
    if corners.iter().max().is_some_and(|&most| most as usize >= n_vertices) {
        let (at, vertex) =
            corners.iter().enumerate().find(|&(_, &v)| v as usize >= n_vertices).unwrap_or((0, &0));
        let cause = format!("index {at} names vertex {vertex}, but the primitive has {n_vertices}");
        return Err(Fault::json(format!("{path}/indices"), cause));
    }
    Ok(match primitive.mode.unwrap_or(4) {
        5 => strip_faces(corners),
        6 => corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]).collect(),
        _ => corners.as_chunks::<3>().0.to_vec(),
    })
}

/// Every second triangle of a strip is reversed; triangles without area only connect strips.
fn strip_faces(corners: &[u32]) -> Vec<[u32; 3]> {
    let turned = |(i, w): (usize, &[u32])| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[0], w[2], w[1]] };
    let has_area = |face: &[u32; 3]| face[0] != face[1] && face[1] != face[2] && face[2] != face[0];
    corners.windows(3).enumerate().map(turned).filter(has_area).collect()
}

fn vec3s(values: Vec<[f32; 3]>) -> Vec<Vec3> {
    values.into_iter().map(Vec3::from_array).collect()
}

fn zero_non_finite(values: &mut [Vec3]) -> usize {
    values.iter_mut().filter(|value| !value.is_finite()).map(|value| *value = Vec3::ZERO).count()
}

/// Unit length; vectors that are normalised within rounding are not changed; zero without a direction.
fn unit(mut normals: Vec<Vec3>) -> Vec<Vec3> {
    for normal in &mut normals {
        let is_unit = (normal.length_squared() - 1.0).abs() <= 1e-5;
        if !is_unit {
            *normal = normal.normalize_or_zero();
        }
    }
    normals
}

fn finite<const N: usize>(mut values: Vec<[f32; N]>) -> Vec<[f32; N]> {
    values.as_flattened_mut().iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
    values
}
