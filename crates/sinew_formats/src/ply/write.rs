//! Writing PLY, binary little endian.

use crate::{color::screen_color, polygons::faces_of};
use sinew_geom::Character;
use std::fmt::Write;

/// Bytes of a PLY file: positions as `double` where `float` would round them, normals and colours if there are
/// any, polygons.
pub fn write_ply(character: &Character) -> Vec<u8> {
    let (mesh, surface) = (&character.mesh, &character.surface);
    let faces = faces_of(character);
    let exact = mesh.positions().iter().all(|p| p.as_vec3().as_dvec3() == *p);
    let scalar = if exact { "float" } else { "double" };
    let mut header = String::from("ply\nformat binary_little_endian 1.0\ncomment Sinew\n");
    // Writing to a string cannot fail.
    let _ = writeln!(header, "element vertex {}", mesh.n_vertices());
    ["x", "y", "z"].iter().for_each(|name| {
        let _ = writeln!(header, "property {scalar} {name}");
    });
    let normals = surface.normals.as_deref().filter(|n| n.len() == mesh.n_vertices());
    if normals.is_some() {
        header.push_str("property float nx\nproperty float ny\nproperty float nz\n");
    }
    let colors = surface.colors.as_deref().filter(|c| c.len() == mesh.n_vertices());
    if colors.is_some() {
        header.push_str(
            "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n",
        );
    }
    let _ = writeln!(header, "element face {}", faces.len());
    header.push_str("property list uint uint vertex_indices\nend_header\n");
    let mut out = header.into_bytes();
    for (v, p) in mesh.positions().iter().enumerate() {
        match exact {
            true => p.to_array().iter().for_each(|&x| out.extend((x as f32).to_le_bytes())),
            false => p.to_array().iter().for_each(|x| out.extend(x.to_le_bytes())),
        }
        if let Some(normals) = normals {
            normals[v].to_array().iter().for_each(|x| out.extend(x.to_le_bytes()));
        }
        if let Some(colors) = colors {
            out.extend(screen_color(colors[v]).map(|c| (c.clamp(0.0, 1.0) * 255.0).round() as u8));
        }
    }
    for face in faces {
        out.extend((face.len() as u32).to_le_bytes());
        face.iter().for_each(|v| out.extend(v.to_le_bytes()));
    }
    out
}
