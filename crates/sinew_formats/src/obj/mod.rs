//! Wavefront OBJ, and the base colours of its MTL.
//!
//! # Limits
//! Curves, surfaces, lines and points are left out with a warning. A vertex keeps its normal only if all its
//! corners agree on one. Of materials: `Kd`, `d`, `map_Kd`.

mod mtl;
mod write;

pub use write::{write_obj, write_obj_file, write_obj_library, write_obj_with};

use crate::{
    FormatError,
    polygons::{Model, NONE, Polygons},
    side_files::SideFiles,
    text::{Faults, excerpt, fields, integer, lines, number},
};
use glam::{DVec3, Vec3};
use sinew_geom::{Material, Warnings};
use std::collections::{BTreeSet, HashMap};

/// What to do about faulty lines.
const REMEDY: &str = "correct the line (`v x y z`, `f 1 2 3`), or export the file again";

/// Read OBJ from memory. `side` gives the material library and pictures; they may be missing.
///
/// # Errors
/// All faulty lines.
pub fn read_obj(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let mut reader = Reader::default();
    // A backslash at the end of a line joins it with the next; that is rare enough to be done in a separate pass.
    let joined = memchr::memmem::find(bytes, b"\\\n").or_else(|| memchr::memmem::find(bytes, b"\\\r\n"));
    let text = if joined.is_some() { join_lines(bytes) } else { Vec::new() };
    for (line, content) in lines(if joined.is_some() { &text } else { bytes }) {
        reader.read_line(line, content);
        if reader.faults.is_full() {
            break;
        }
    }
    reader.finish(side, name, warnings)
}

/// Join continued lines and add the line breaks after them, so that line numbers stay correct.
fn join_lines(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut owed = 0;
    for (_, line) in lines(bytes) {
        match line.strip_suffix(b"\\") {
            Some(head) => {
                out.extend_from_slice(head);
                out.push(b' ');
                owed += 1;
            }
            None => {
                out.extend_from_slice(line);
                out.resize(out.len() + 1 + std::mem::take(&mut owed), b'\n');
            }
        }
    }
    out
}

#[derive(Default)]
struct Reader {
    polygons: Polygons,
    normals: Vec<Vec3>,
    /// Parallel to the corners; [`NONE`] where there is none.
    normal_corners: Vec<u32>,
    has_uvs: bool,
    has_normals: bool,
    libraries: BTreeSet<String>,
    material_names: Vec<String>,
    material_indices: HashMap<String, u16>,
    material: Option<u16>,
    n_skipped: usize,
    /// Line of each face, for faults that are found only at the end.
    face_lines: Vec<u32>,
    faults: Faults,
}

impl Reader {
    fn read_line(&mut self, line: usize, content: &[u8]) {
        let mut fields = fields(content).take_while(|field| field[0] != b'#');
        let Some(keyword) = fields.next() else { return };
        match keyword {
            b"v" => self.read_vertex(line, fields),
            b"f" | b"fo" => self.read_face(line, fields),
            b"vt" => self.read_uv(line, fields),
            b"vn" => self.read_normal(line, fields),
            b"usemtl" => self.use_material(rest_of(content, keyword)),
            b"mtllib" => drop(self.libraries.insert(rest_of(content, keyword))),
            b"l" | b"p" | b"curv" | b"curv2" | b"surf" => self.n_skipped += 1,
            // Groups, smoothing, comments, and other statements.
            _ => {}
        }
    }

    fn read_vertex<'a>(&mut self, line: usize, mut fields: impl Iterator<Item = &'a [u8]>) {
        let mut values = [0.0; 7];
        let mut n = 0;
        for field in fields.by_ref().take(7) {
            match number(field) {
                Some(value) => values[n] = value,
                None => self.faults.line(line, format!("`{}` is not a number", excerpt(field))),
            }
            n += 1;
        }
        // A faulty vertex still counts, so that the faces after it are not reported as faulty too.
        if n < 3 {
            self.faults.line(line, format!("a vertex needs 3 coordinates, this one has {n}"));
        }
        let [x, y, z, rgb @ ..] = values;
        // Six numbers are a position and a colour; seven a position, its weight and a colour.
        let rgb = match n {
            6 => Some([rgb[0], rgb[1], rgb[2]]),
            7 => Some([rgb[1], rgb[2], rgb[3]]),
            _ => None,
        };
        if let Some([r, g, b]) = rgb
            && self.polygons.colors.len() == self.polygons.positions.len()
        {
            self.polygons.colors.push([r, g, b, 1.0]);
        }
        self.polygons.positions.push(DVec3::new(x, y, z));
    }

    fn read_uv<'a>(&mut self, line: usize, mut fields: impl Iterator<Item = &'a [u8]>) {
        let (u, v) = (fields.next().and_then(number), fields.next().map_or(Some(0.0), number));
        if u.is_none() || v.is_none() {
            self.faults.line(line, "a texture coordinate needs one or two numbers");
        }
        // OBJ counts from the lower edge of the picture, glTF from the upper.
        self.polygons.uv_coords.push([u.unwrap_or(0.0) as f32, 1.0 - v.unwrap_or(0.0) as f32]);
    }

    fn read_normal<'a>(&mut self, line: usize, mut fields: impl Iterator<Item = &'a [u8]>) {
        let mut next = || fields.next().and_then(number);
        let normal = match (next(), next(), next()) {
            (Some(x), Some(y), Some(z)) => DVec3::new(x, y, z),
            _ => {
                self.faults.line(line, "a normal needs three numbers");
                DVec3::Y
            }
        };
        self.normals.push(normal.as_vec3());
    }

    fn read_face<'a>(&mut self, line: usize, fields: impl Iterator<Item = &'a [u8]>) {
        let start = self.polygons.corners.len();
        for field in fields {
            match self.read_corner(field) {
                Ok([v, uv, normal]) => {
                    self.polygons.corners.push(v);
                    self.polygons.uv_corners.push(uv);
                    self.normal_corners.push(normal);
                    self.has_uvs |= uv != NONE;
                    self.has_normals |= normal != NONE;
                }
                Err(cause) => {
                    self.polygons.corners.truncate(start);
                    self.polygons.uv_corners.truncate(start);
                    self.normal_corners.truncate(start);
                    return self.faults.line(line, cause);
                }
            }
        }
        self.polygons.sizes.push((self.polygons.corners.len() - start) as u32);
        self.face_lines.push(line as u32);
        if let Some(material) = self.material {
            self.polygons.face_materials.resize(self.polygons.sizes.len() - 1, 0);
            self.polygons.face_materials.push(material);
        }
    }

    /// Vertex, texture coordinate and normal of one corner.
    fn read_corner(&self, field: &[u8]) -> Result<[u32; 3], String> {
        let mut parts = field.split(|&byte| byte == b'/');
        let counts = [self.polygons.positions.len(), self.polygons.uv_coords.len(), self.normals.len()];
        let mut corner = [NONE; 3];
        for (k, what) in ["vertex", "texture coordinate", "normal"].into_iter().enumerate() {
            let Some(part) = parts.next().filter(|part| !part.is_empty()) else { continue };
            let Some(index) = quick_integer(part) else {
                return Err(format!("`{}` is not a face corner", excerpt(field)));
            };
            // Indices count from 1, negative ones back from the latest. Vertices may still follow, so only
            // what is certainly wrong is refused here.
            let absolute = if index < 0 { counts[k] as i64 + index } else { index - 1 };
            if index == 0 || absolute < 0 || absolute >= i64::from(NONE) {
                let n = counts[k];
                return Err(format!("face uses {what} {index}, but there are {n} before it"));
            }
            corner[k] = absolute as u32;
        }
        if corner[0] == NONE {
            return Err(format!("`{}` is not a face corner", excerpt(field)));
        }
        Ok(corner)
    }

    /// Materials beyond the largest index are replaced by the last one.
    fn use_material(&mut self, name: String) {
        if self.material_names.is_empty() && !self.polygons.sizes.is_empty() {
            // Faces before the first name have their own material.
            self.material_names.push("default".to_owned());
            self.polygons.face_materials.resize(self.polygons.sizes.len(), 0);
        }
        let index = self.material_names.len().min(u16::MAX as usize) as u16;
        let index = *self.material_indices.entry(name).or_insert_with_key(|name| {
            if self.material_names.len() <= u16::MAX as usize {
                self.material_names.push(name.clone());
            }
            index
        });
        self.material = Some(index);
    }

    fn finish(mut self, side: SideFiles, name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
        self.check_range(warnings);
        std::mem::take(&mut self.faults).finish_with(name, REMEDY)?;
        if self.n_skipped > 0 {
            warnings.push(format!("{} lines, points or curves were left out", self.n_skipped));
        }
        if self.has_normals {
            self.polygons.normals = self.vertex_normals();
            if self.polygons.normals.is_empty() && !self.polygons.positions.is_empty() {
                let cause = "some vertices have several normals (hard edges) or corners without one";
                warnings.push(format!("{cause}; normals were left out, so that edges will look smooth"));
            }
        }
        if !self.polygons.colors.is_empty() && self.polygons.colors.len() < self.polygons.positions.len() {
            warnings.push("only some vertices have a colour; colours were left out");
            self.polygons.colors.clear();
        }
        if !self.has_uvs {
            self.polygons.uv_corners.clear();
        }
        if !self.polygons.face_materials.is_empty() {
            self.polygons.face_materials.resize(self.polygons.sizes.len(), 0);
        }
        let known = mtl::read_libraries(&self.libraries, side, warnings);
        // Of several materials with the same name the first is used.
        let by_name: HashMap<&str, &Material> = known.iter().rev().map(|m| (m.name.as_str(), m)).collect();
        let find = |name: &String| match by_name.get(name.as_str()) {
            Some(&material) => material.clone(),
            None => Material { name: name.clone(), ..Material::default() },
        };
        self.polygons.materials = self.material_names.iter().map(find).collect();
        self.polygons.finish(name, warnings)
    }

    /// Indices that are still out of range when the file has ended: faces may precede their vertices.
    fn check_range(&mut self, warnings: &mut Warnings) {
        let n = self.polygons.positions.len();
        let mut at = 0;
        for (&size, &line) in self.polygons.sizes.iter().zip(&self.face_lines) {
            let corners = &self.polygons.corners[at..at + size as usize];
            at += size as usize;
            if let Some(bad) = corners.iter().find(|&&v| v as usize >= n) {
                self.faults
                    .line(line as usize, format!("face uses vertex {}, but the file has {n}", bad + 1));
                if self.faults.is_full() {
                    break;
                }
            }
        }
        let (n_uvs, n_normals) = (self.polygons.uv_coords.len(), self.normals.len());
        let mut lost = 0;
        for uv in self.polygons.uv_corners.iter_mut().filter(|uv| **uv != NONE && **uv as usize >= n_uvs) {
            *uv = NONE;
            lost += 1;
        }
        if lost > 0 {
            warnings.push(format!("{lost} face corners use texture coordinates that do not exist"));
        }
        self.normal_corners.iter_mut().filter(|i| **i as usize >= n_normals).for_each(|i| *i = NONE);
    }

    /// One normal per vertex, or none at all if some vertex has several or none.
    fn vertex_normals(&self) -> Vec<Vec3> {
        let mut index = vec![NONE; self.polygons.positions.len()];
        for (&v, &normal) in self.polygons.corners.iter().zip(&self.normal_corners) {
            let slot = &mut index[v as usize];
            if normal == NONE
                || (*slot != NONE && self.normals[*slot as usize] != self.normals[normal as usize])
            {
                return Vec::new();
            }
            *slot = normal;
        }
        // Unused vertices get any direction.
        let normal = |i: u32| self.normals.get(i as usize).map_or(Vec3::Y, |n| n.normalize_or(Vec3::Y));
        index.into_iter().map(normal).collect()
    }
}

/// A short decimal integer without conversion to UTF-8: faces are most of an OBJ file.
fn quick_integer(field: &[u8]) -> Option<i64> {
    let digits = field.strip_prefix(b"-").unwrap_or(field);
    if digits.is_empty() || digits.len() > 10 {
        return integer(field);
    }
    let mut value = 0i64;
    for &byte in digits {
        if !byte.is_ascii_digit() {
            return integer(field);
        }
        value = value * 10 + i64::from(byte - b'0');
    }
    Some(if digits.len() < field.len() { -value } else { value })
}

/// Text after the keyword, spaces inside kept.
fn rest_of(content: &[u8], keyword: &[u8]) -> String {
    let start = content.windows(keyword.len()).position(|w| w == keyword).map_or(0, |at| at + keyword.len());
    String::from_utf8_lossy(&content[start..]).trim().to_owned()
}
