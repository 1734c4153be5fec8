//! PLY: ASCII, little and big endian, faces or triangle strips.
//!
//! Our own rather than `ply-rs-bw`, which stops at the first fault, allocates what a header claims and reads
//! each value into a map.
//!
//! # Limits
//! Elements other than vertices, faces and triangle strips are skipped.

mod body;
mod header;
mod write;

pub use write::write_ply;

use crate::{
    FormatError,
    polygons::{Model, Polygons},
    text::{Faults, whole},
};
use body::Source;
use glam::{DVec3, Vec3};
use header::{Element, Header};
use sinew_geom::Warnings;

/// Read PLY from memory.
///
/// # Errors
/// All faults of the header, or the places where the body does not agree with it.
pub fn read_ply(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let header = header::parse(bytes, name)?;
    let mut source = Source::new(bytes, &header);
    let mut polygons = Polygons::default();
    let mut faults = Faults::default();
    for element in &header.elements {
        let read = match element.name.as_str() {
            "vertex" => read_vertices(&mut source, element, &mut polygons),
            "face" => read_faces(&mut source, element, &mut polygons),
            "tristrips" => read_strips(&mut source, element, &mut polygons),
            _ => source.records(element, |_| {}),
        };
        if let Err(fault) = read {
            faults.push(fault);
            break;
        }
    }
    check_indices(&header, &polygons, &mut faults);
    faults.finish(name)?;
    polygons.finish(name, warnings)
}

fn check_indices(header: &Header, polygons: &Polygons, faults: &mut Faults) {
    let n = polygons.positions.len();
    let mut at = 0;
    for (face, &size) in polygons.sizes.iter().enumerate() {
        let corners = &polygons.corners[at..at + size as usize];
        at += size as usize;
        if let Some(bad) = corners.iter().find(|&&v| v as usize >= n) {
            faults.push(crate::Fault::new(
                header.place_of("face", face),
                format!("face {face} uses vertex {bad}, but there are {n}"),
            ));
            if faults.is_full() {
                break;
            }
        }
    }
}

fn read_vertices(source: &mut Source, element: &Element, out: &mut Polygons) -> Result<(), crate::Fault> {
    let column = |names: &[&str]| names.iter().find_map(|name| element.scalar(name));
    let all = |names: &[&[&str]]| names.iter().map(|n| column(n)).collect::<Option<Vec<usize>>>();
    let Some(xyz) = all(&[&["x"], &["y"], &["z"]]) else {
        let cause = "vertices have no x, y and z";
        return Err(crate::Fault::new(element.place(), cause));
    };
    let normal = all(&[&["nx"], &["ny"], &["nz"]]);
    let uv = all(&[&["s", "u", "texture_u"], &["t", "v", "texture_v"]]);
    let color = all(&[&["red", "r"], &["green", "g"], &["blue", "b"]]);
    let alpha = column(&["alpha", "a"]);
    let byte_color = color.as_ref().is_some_and(|c| element.properties[c[0]].is_integer());
    out.positions.reserve(source.plausible(element));
    source.records(element, |values| {
        out.positions.push(DVec3::new(values[xyz[0]], values[xyz[1]], values[xyz[2]]));
        if let Some(n) = &normal {
            out.normals.push(DVec3::new(values[n[0]], values[n[1]], values[n[2]]).as_vec3());
        }
        if let Some(uv) = &uv {
            out.uv_coords.push([values[uv[0]] as f32, 1.0 - values[uv[1]] as f32]);
        }
        if let Some(c) = &color {
            let scale = if byte_color { 1.0 / 255.0 } else { 1.0 };
            let a = alpha.map_or(1.0, |a| values[a] * scale);
            out.colors.push(
                [values[c[0]] * scale, values[c[1]] * scale, values[c[2]] * scale, a].map(|x| x as f32),
            );
        }
    })?;
    out.normals.iter_mut().for_each(|n| *n = n.normalize_or(Vec3::Y));
    Ok(())
}

fn read_faces(source: &mut Source, element: &Element, out: &mut Polygons) -> Result<(), crate::Fault> {
    let Some(list) = ["vertex_indices", "vertex_index"].iter().find_map(|name| element.list(name)) else {
        return source.records(element, |_| {});
    };
    out.sizes.reserve(source.plausible(element));
    let with_uvs = !out.uv_coords.is_empty();
    source.lists(element, list, |indices| {
        out.sizes.push(indices.len() as u32);
        out.corners.extend(indices.iter().map(|&i| index(i)));
        if with_uvs {
            out.uv_corners.extend(indices.iter().map(|&i| index(i)));
        }
    })
}

/// Each strip is a run of vertices, −1 starting a new one; every second triangle is turned.
fn read_strips(source: &mut Source, element: &Element, out: &mut Polygons) -> Result<(), crate::Fault> {
    let Some(list) = element.properties.iter().position(|p| p.is_list()) else {
        return source.records(element, |_| {});
    };
    source.lists(element, list, |indices| {
        for strip in indices.split(|&i| i < 0.0) {
            for (k, three) in strip.windows(3).enumerate() {
                let [a, b, c] = [index(three[0]), index(three[1]), index(three[2])];
                // Repeated vertices turn a corner of the strip and are no faces.
                if a != b && b != c && c != a {
                    out.corners.extend(if k % 2 == 0 { [a, b, c] } else { [b, a, c] });
                    out.sizes.push(3);
                }
            }
        }
    })
}

/// A vertex index; what is negative or too large becomes one that the range check reports.
fn index(value: f64) -> u32 {
    if value >= 0.0 { value as u32 } else { u32::MAX }
}

/// A header that promises nothing usable.
fn bad_header(name: &str, cause: impl Into<String>) -> FormatError {
    whole(
        name,
        cause,
        "a PLY file starts with `ply`, `format`, `element` and `property` lines and `end_header`",
    )
}
