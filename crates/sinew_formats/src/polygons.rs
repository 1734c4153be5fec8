//! What mesh files have in common: polygons with optional attributes, and their conversion to a character.

use crate::{FormatError, color::linear_color, text};
use glam::{DVec3, Vec3};
use sinew_geom::{Character, Material, Mesh, RawMesh, Surface, Uvs, Warnings};

/// A mesh file as read: the polygons, and the character made of them.
#[derive(Debug, Clone)]
pub struct Model {
    /// Polygons as the file has them, for counting defects.
    pub raw: RawMesh,
    /// Triangles and attributes.
    pub character: Character,
}

/// No entry, in a list that runs parallel to corners.
pub(crate) const NONE: u32 = u32::MAX;

/// Polygons under construction. Indices in `corners` are checked when it is finished.
#[derive(Debug, Default)]
pub(crate) struct Polygons {
    pub positions: Vec<DVec3>,
    pub corners: Vec<u32>,
    pub sizes: Vec<u32>,
    pub uv_coords: Vec<[f32; 2]>,
    /// Parallel to `corners`, or empty; [`NONE`] where a corner has none.
    pub uv_corners: Vec<u32>,
    /// Parallel to `positions`, or empty.
    pub normals: Vec<Vec3>,
    /// Screen colours, parallel to `positions`, or empty.
    pub colors: Vec<[f64; 4]>,
    pub materials: Vec<Material>,
    /// Parallel to `sizes`, or empty.
    pub face_materials: Vec<u16>,
}

impl Polygons {
    /// Check, triangulate and transfer the attributes.
    pub fn finish(mut self, name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
        let raw = RawMesh::new(self.positions, self.corners, &self.sizes).map_err(|error| {
            text::file_error(name, error.to_string(), "the file is damaged; export it again")
        })?;
        let (mesh, sources) = raw.triangulate(warnings);
        let n = mesh.n_vertices();
        let polygons = (!raw.is_triangles())
            .then(|| raw.faces().filter(|f| f.len() >= 3).map(<[u32]>::to_vec).collect());
        let is_bad = |uv: &&mut [f32; 2]| !(uv[0].is_finite() && uv[1].is_finite());
        let n_bad = self.uv_coords.iter_mut().filter(is_bad).map(|uv| *uv = [0.0; 2]).count();
        if n_bad > 0 {
            warnings.push(format!("{n_bad} texture coordinates are not finite; they were set to zero"));
        }
        let starts: Vec<usize> = self
            .sizes
            .iter()
            .scan(0, |end, &size| {
                *end += size as usize;
                Some(*end - size as usize)
            })
            .collect();
        let uvs = (!self.uv_corners.is_empty() && !self.uv_coords.is_empty()).then(|| {
            let corner = |face: u32, k: u32| match self.uv_corners[starts[face as usize] + k as usize] {
                NONE => 0,
                uv => uv,
            };
            let corners = sources.iter().map(|s| s.corners.map(|k| corner(s.face, k))).collect();
            Uvs { coords: self.uv_coords, corners }
        });
        if uvs.is_some() && self.uv_corners.contains(&NONE) {
            warnings.push("some faces have no texture coordinates; they got the first of all");
        }
        let face_materials = if self.face_materials.is_empty() {
            Vec::new()
        } else {
            sources.iter().map(|s| self.face_materials[s.face as usize]).collect()
        };
        let colors = self.colors.into_iter().map(linear_color).collect();
        let surface = Surface {
            polygons,
            normals: usable(self.normals, n, "normals", |n| n.is_finite() && n.length() > 0.5, warnings),
            uvs,
            colors: usable(colors, n, "colours", |c| c.iter().all(|x| x.is_finite()), warnings),
            materials: self.materials,
            face_materials,
        };
        let character = Character { name: stem(name), mesh, surface, ..Character::default() };
        Ok(Model { raw, character })
    }
}

/// An attribute of every vertex, or `None` if it is absent or broken.
fn usable<T>(
    values: Vec<T>,
    n: usize,
    what: &str,
    good: impl Fn(&T) -> bool,
    warnings: &mut Warnings,
) -> Option<Vec<T>> {
    if values.is_empty() {
        return None;
    }
    if values.len() != n || !values.iter().all(good) {
        warnings.push(format!("the vertex {what} are incomplete or not finite; left out"));
        return None;
    }
    Some(values)
}

/// Name of a character from the name of its file.
pub(crate) fn stem(name: &str) -> String {
    let stem = std::path::Path::new(name).file_stem();
    stem.map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Faces to write: the polygons where they are known and still fit, else the triangles.
pub(crate) fn faces_of(character: &Character) -> Vec<&[u32]> {
    let mesh: &Mesh = &character.mesh;
    match &character.surface.polygons {
        Some(polygons) => polygons.iter().map(Vec::as_slice).collect(),
        None => mesh.faces().iter().map(<[u32; 3]>::as_slice).collect(),
    }
}
