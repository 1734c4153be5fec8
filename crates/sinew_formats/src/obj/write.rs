//! Writing OBJ.

use crate::polygons::faces_of;
use sinew_geom::Character;
use std::fmt::Write;

/// Text of an OBJ file: vertices in their order, colours, texture coordinates and polygons. Numbers are written
/// with as many digits as it takes to read the same number again.
pub fn write_obj(character: &Character) -> Vec<u8> {
    let (mesh, surface) = (&character.mesh, &character.surface);
    let mut out = String::with_capacity(mesh.n_vertices() * 40 + mesh.n_faces() * 24);
    out.push_str("# Sinew\n");
    // Writing to a string cannot fail.
    for (v, p) in mesh.positions().iter().enumerate() {
        let _ = write!(out, "v {} {} {}", p.x, p.y, p.z);
        if let Some([r, g, b, _]) = surface.colors.as_ref().and_then(|colors| colors.get(v)) {
            let _ = write!(out, " {r} {g} {b}");
        }
        out.push('\n');
    }
    match &surface.uvs {
        Some(uvs) if surface.polygons.is_none() => {
            for [u, v] in &uvs.coords {
                let _ = writeln!(out, "vt {u} {}", 1.0 - v);
            }
            for (face, uv) in mesh.faces().iter().zip(&uvs.corners) {
                let corner = |k: usize| (face[k] + 1, uv[k] + 1);
                let [(a, s), (b, t), (c, u)] = [corner(0), corner(1), corner(2)];
                let _ = writeln!(out, "f {a}/{s} {b}/{t} {c}/{u}");
            }
        }
        _ => {
            for face in faces_of(character) {
                out.push('f');
                face.iter().for_each(|v| {
                    let _ = write!(out, " {}", v + 1);
                });
                out.push('\n');
            }
        }
    }
    out.into_bytes()
}
