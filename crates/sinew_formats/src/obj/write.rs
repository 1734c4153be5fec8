//! Writing OBJ, with its material library and pictures beside it.

use crate::{FormatError, color::screen_color, names::Names, write_atomic};
use sinew_geom::{AlphaMode, Character, Image, Material, Uvs};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Text of an OBJ file: vertices in their order, colours, normals, texture coordinates, polygons and the names of
/// their materials. Numbers are written with enough digits to read the same number again.
pub fn write_obj(character: &Character) -> Vec<u8> {
    write_text(character, None).into_bytes()
}

/// As [`write_obj`], naming a material library that [`write_obj_library`] has written.
pub fn write_obj_with(character: &Character, library: Option<&str>) -> Vec<u8> {
    write_text(character, library).into_bytes()
}

/// Write `NAME.obj` and, if there are materials, `NAME.mtl` (`NAME_sinew.mtl` if there is a foreign one) and the
/// pictures beside it; returns the number of bytes of all of them.
///
/// # Errors
/// Any error of the system.
pub fn write_obj_file(path: &Path, character: &Character) -> Result<u64, FormatError> {
    let (library, n_bytes) = write_obj_library(path, &character.surface.materials)?;
    let text = write_obj_with(character, library.as_deref());
    write_atomic(path, &text)?;
    Ok(n_bytes + text.len() as u64)
}

/// Write the material library and the pictures of an OBJ file of this path; returns the library's name, if there are
/// materials, and the number of bytes. Files of other origin are not overwritten.
///
/// # Errors
/// Any error of the system.
pub fn write_obj_library(path: &Path, materials: &[Material]) -> Result<(Option<String>, u64), FormatError> {
    if materials.is_empty() {
        return Ok((None, 0));
    }
    let library = library_path(path);
    let mut n_bytes = 0;
    let mut pictures = Vec::with_capacity(materials.len());
    for (index, material) in materials.iter().enumerate() {
        let Some(image) = &material.base_color_image else {
            pictures.push(None);
            continue;
        };
        let picture = picture_path(path, index, image);
        write_atomic(&picture, &image.bytes)?;
        n_bytes += image.bytes.len() as u64;
        pictures.push(picture.file_name().map(|name| name.to_string_lossy().into_owned()));
    }
    let text = write_library(materials, &pictures);
    write_atomic(&library, text.as_bytes())?;
    let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok((Some(name), n_bytes + text.len() as u64))
}

/// `NAME.mtl`, unless it has another origin: a library may hold more than we know.
fn library_path(path: &Path) -> PathBuf {
    let usual = path.with_extension("mtl");
    match std::fs::read(&usual) {
        Ok(bytes) if !bytes.starts_with(b"# Sinew") => {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            path.with_file_name(format!("{stem}_sinew.mtl"))
        }
        _ => usual,
    }
}

// Writing to a string cannot fail, so results of `write!` are dropped below.

fn write_text(character: &Character, library: Option<&str>) -> String {
    let (mesh, surface) = (&character.mesh, &character.surface);
    let mut out = String::with_capacity(mesh.n_vertices() * 40 + mesh.n_faces() * 24);
    out.push_str("# Sinew\n");
    if let Some(library) = library {
        let _ = writeln!(out, "mtllib {library}");
    }
    for (v, p) in mesh.positions().iter().enumerate() {
        let _ = write!(out, "v {} {} {}", p.x, p.y, p.z);
        if let Some(color) = surface.colors.as_ref().and_then(|colors| colors.get(v)) {
            let [r, g, b, _] = screen_color(*color);
            let _ = write!(out, " {r} {g} {b}");
        }
        out.push('\n');
    }
    let normals = surface.normals.as_ref().filter(|normals| normals.len() == mesh.n_vertices());
    for n in normals.into_iter().flatten() {
        let _ = writeln!(out, "vn {} {} {}", n.x, n.y, n.z);
    }
    for [u, v] in surface.uvs.iter().flat_map(|uvs| &uvs.coords) {
        let _ = writeln!(out, "vt {u} {}", 1.0 - v);
    }
    write_faces(&mut out, character, normals.is_some());
    out
}

fn write_faces(out: &mut String, character: &Character, with_normals: bool) {
    let (mesh, surface) = (&character.mesh, &character.surface);
    let mut material = None;
    let names = material_names(&surface.materials);
    let mut write_face = |corners: &[u32], first: usize| {
        let used = surface.face_materials.get(first).or(surface.materials.first().map(|_| &0));
        if used != material {
            material = used;
            if let Some(name) = used.and_then(|&m| names.get(usize::from(m))) {
                let _ = writeln!(out, "usemtl {name}");
            }
        }
        let uvs = polygon_uvs(surface.uvs.as_ref(), mesh.faces(), first, corners.len());
        out.push('f');
        for &v in corners {
            let _ = write!(out, " {}", v + 1);
            let uv = uvs.binary_search_by_key(&v, |pair| pair.0).ok().map(|at| uvs[at].1);
            match (uv, with_normals) {
                (Some(uv), true) => drop(write!(out, "/{}/{}", uv + 1, v + 1)),
                (Some(uv), false) => drop(write!(out, "/{}", uv + 1)),
                (None, true) => drop(write!(out, "//{}", v + 1)),
                (None, false) => {}
            }
        }
        out.push('\n');
    };
    match &surface.polygons {
        // A polygon of n corners was cut into n − 2 triangles, one after another.
        Some(polygons) => {
            let mut first = 0;
            for polygon in polygons {
                write_face(polygon, first);
                first += polygon.len().saturating_sub(2);
            }
        }
        None => mesh.faces().iter().enumerate().for_each(|(f, corners)| write_face(corners, f)),
    }
}

/// Texture coordinates of the vertices of a polygon, sorted by vertex, from the triangles it was cut into.
fn polygon_uvs(uvs: Option<&Uvs>, faces: &[[u32; 3]], first: usize, n_corners: usize) -> Vec<(u32, u32)> {
    let Some(uvs) = uvs else { return Vec::new() };
    let triangles = first..(first + n_corners.saturating_sub(2)).min(faces.len()).min(uvs.corners.len());
    let pairs = triangles.flat_map(|f| faces[f].into_iter().zip(uvs.corners[f]));
    let mut pairs: Vec<(u32, u32)> = pairs.collect();
    pairs.sort_unstable();
    pairs
}

fn write_library(materials: &[Material], pictures: &[Option<String>]) -> String {
    let mut out = String::from("# Sinew\n");
    for ((material, name), picture) in materials.iter().zip(material_names(materials)).zip(pictures) {
        let [r, g, b, a] = screen_color(material.base_color.map(|x| x.clamp(0.0, 1.0)));
        let opacity = if material.alpha == AlphaMode::Opaque { 1.0 } else { a };
        let _ = writeln!(out, "newmtl {name}\nKd {r} {g} {b}\nd {opacity}");
        if let Some(picture) = picture {
            let _ = writeln!(out, "map_Kd {picture}");
        }
    }
    out
}

/// Unique names that each fit on one line.
fn material_names(materials: &[Material]) -> Vec<String> {
    let mut names = Names::default();
    // A backslash at the end of a line would join it with the next.
    let is_lost = |c: char| c == '\\' || c.is_whitespace();
    let plain = |m: &Material| {
        m.name.replace(char::is_control, " ").trim_start().trim_end_matches(is_lost).to_owned()
    };
    let name = |m| Some(plain(m)).filter(|name| !name.is_empty()).unwrap_or_else(|| "material".to_owned());
    materials.iter().map(|m| names.unique(&name(m))).collect()
}

/// `NAME_0.png`, or the next name that is not used for another picture.
fn picture_path(path: &Path, index: usize, image: &Image) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().replace(' ', "_");
    let ending = if image.mime == "image/png" { "png" } else { "jpg" };
    let mut found = path.with_file_name(format!("{stem}_{index}.{ending}"));
    for count in 2.. {
        let is_ours = std::fs::read(&found).map_or_else(|_| !found.exists(), |bytes| bytes == *image.bytes);
        if is_ours {
            break;
        }
        found = path.with_file_name(format!("{stem}_{index}_{count}.{ending}"));
    }
    found
}
