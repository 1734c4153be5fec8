//! Writing OBJ, with its material library and pictures beside it.

use crate::{FormatError, write_atomic};
use sinew_geom::{Character, Material, Uvs};
use std::{
    fmt::Write,
    path::{Path, PathBuf},
};

/// Text of an OBJ file: vertices in their order, colours, normals, texture coordinates, polygons and the names of
/// their materials. Numbers are written with as many digits as it takes to read the same number again.
pub fn write_obj(character: &Character) -> Vec<u8> {
    write_text(character, None).into_bytes()
}

/// Write `NAME.obj` and, if there are materials, `NAME.mtl` (`NAME_sinew.mtl` if there is a foreign one) and the
/// pictures beside it; returns the number of bytes
/// of all of them.
///
/// # Errors
/// Whatever the system reports.
pub fn write_obj_file(path: &Path, character: &Character) -> Result<u64, FormatError> {
    let materials = &character.surface.materials;
    let library = library_path(path);
    let name = library.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut n_bytes = 0;
    if !materials.is_empty() {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = write_library(materials, &stem);
        for (index, material) in materials.iter().enumerate() {
            if let Some(image) = &material.base_color_image {
                write_atomic(&path.with_file_name(picture_name(&stem, index, &image.mime)), &image.bytes)?;
                n_bytes += image.bytes.len() as u64;
            }
        }
        write_atomic(&library, text.as_bytes())?;
        n_bytes += text.len() as u64;
    }
    let text = write_text(character, Some(name).filter(|_| !materials.is_empty()).as_deref());
    write_atomic(path, text.as_bytes())?;
    Ok(n_bytes + text.len() as u64)
}

/// `NAME.mtl`, unless somebody else wrote that: a library may hold more than we know.
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
        if let Some([r, g, b, _]) = surface.colors.as_ref().and_then(|colors| colors.get(v)) {
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
    let mut write_face = |corners: &[u32], first: usize| {
        let used = surface.face_materials.get(first).or(surface.materials.first().map(|_| &0));
        if used != material {
            material = used;
            if let Some(m) = used.map(|&m| usize::from(m)).filter(|&m| m < surface.materials.len()) {
                let _ = writeln!(out, "usemtl {}", material_name(&surface.materials, m));
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

fn write_library(materials: &[Material], stem: &str) -> String {
    let mut out = String::from("# Sinew\n");
    for (index, material) in materials.iter().enumerate() {
        // MTL colours are as seen on a screen, glTF factors are linear.
        let [r, g, b] = [0, 1, 2].map(|k| material.base_color[k].clamp(0.0, 1.0).powf(1.0 / 2.2));
        let _ = writeln!(
            out,
            "newmtl {}\nKd {r} {g} {b}\nd {}",
            material_name(materials, index),
            material.base_color[3]
        );
        if let Some(image) = &material.base_color_image {
            let _ = writeln!(out, "map_Kd {}", picture_name(stem, index, &image.mime));
        }
    }
    out
}

/// A name that survives as one line; nameless materials and those whose name stood before get their number.
fn material_name(materials: &[Material], index: usize) -> String {
    let plain = |m: &Material| m.name.replace(char::is_control, " ").trim().to_owned();
    let name = plain(&materials[index]);
    match name.is_empty() || materials[..index].iter().any(|earlier| plain(earlier) == name) {
        true => format!("{name}_{index}"),
        false => name,
    }
}

fn picture_name(stem: &str, index: usize, mime: &str) -> String {
    format!("{}_{index}.{}", stem.replace(' ', "_"), if mime == "image/png" { "png" } else { "jpg" })
}
