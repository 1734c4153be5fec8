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
    Fault, FormatError,
    polygons::{Model, Polygons},
    text::{Faults, file_error},
};
use body::{Flow, Source};
use glam::{DVec3, Vec3};
use header::Element;
use sinew_geom::Warnings;

/// What to do about faulty lines.
const REMEDY: &str = "the body does not agree with the header; export the file again";

/// Read PLY from memory.
///
/// # Errors
/// All faults of the header, or the places where the body does not agree with it.
pub fn read_ply(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let header = header::parse(bytes, name)?;
    let mut source = Source::new(bytes, &header);
    let mut reader = Reader::default();
    for element in &header.elements {
        let flow = match element.name.as_str() {
            "vertex" => reader.read_vertices(&mut source, element),
            "face" => {
                tell_lost(element, warnings);
                reader.read_faces(&mut source, element)
            }
            "tristrips" => reader.read_strips(&mut source, element),
            _ => source.records(element, &mut reader.faults, |_| {}),
        };
        if flow.is_break() {
            break;
        }
    }
    reader.check_indices(&source);
    let Reader { mut polygons, faults, .. } = reader;
    faults.finish_with(name, REMEDY)?;
    if !polygons.uv_coords.is_empty() && polygons.uv_coords.len() == polygons.positions.len() {
        polygons.uv_corners = polygons.corners.clone();
    }
    polygons.finish(name, warnings)
}

#[derive(Default)]
struct Reader {
    polygons: Polygons,
    /// Line or byte of each face.
    face_places: Vec<usize>,
    faults: Faults,
}

impl Reader {
    /// Indices out of range; only at the end is it known how many vertices there are.
    fn check_indices(&mut self, source: &Source) {
        let (n, mut at) = (self.polygons.positions.len(), 0);
        for (face, &size) in self.polygons.sizes.iter().enumerate() {
            let corners = &self.polygons.corners[at..at + size as usize];
            at += size as usize;
            if let Some(&bad) = corners.iter().find(|&&v| v as usize >= n) {
                let which =
                    if bad == u32::MAX { "a negative vertex".into() } else { format!("vertex {bad}") };
                let cause = format!("face {face} uses {which}, but there are {n}");
                self.faults.push(Fault::new(source.place_of(self.face_places[face]), cause));
                if self.faults.is_full() {
                    break;
                }
            }
        }
    }

    fn read_vertices(&mut self, source: &mut Source, element: &Element) -> Flow {
        let out = &mut self.polygons;
        let column = |names: &[&str]| names.iter().find_map(|name| element.scalar(name));
        let all = |names: &[&[&str]]| names.iter().map(|n| column(n)).collect::<Option<Vec<usize>>>();
        let Some(xyz) = all(&[&["x"], &["y"], &["z"]]) else {
            let cause = "vertices have no x, y and z";
            self.faults.push(Fault::new(element.place(), cause));
            return Flow::Break(());
        };
        let normal = all(&[&["nx"], &["ny"], &["nz"]]);
        let uv = all(&[&["s", "u", "texture_u"], &["t", "v", "texture_v"]]);
        let color = all(&[&["red", "r"], &["green", "g"], &["blue", "b"]]);
        let alpha = column(&["alpha", "a"]);
        let scale = color.as_ref().map_or(1.0, |c| 1.0 / element.properties[c[0]].largest_color());
        out.positions.reserve(source.plausible(element));
        let flow = source.records(element, &mut self.faults, |values| {
            out.positions.push(DVec3::new(values[xyz[0]], values[xyz[1]], values[xyz[2]]));
            if let Some(n) = &normal {
                out.normals.push(DVec3::new(values[n[0]], values[n[1]], values[n[2]]).as_vec3());
            }
            if let Some(uv) = &uv {
                out.uv_coords.push([values[uv[0]] as f32, 1.0 - values[uv[1]] as f32]);
            }
            if let Some(c) = &color {
                let a = alpha.map_or(1.0, |a| values[a] * scale);
                out.colors.push([values[c[0]] * scale, values[c[1]] * scale, values[c[2]] * scale, a]);
            }
        });
        out.normals.iter_mut().for_each(|n| *n = n.normalize_or(Vec3::Y));
        flow
    }

    fn read_faces(&mut self, source: &mut Source, element: &Element) -> Flow {
        let out = &mut self.polygons;
        let Some(list) = INDEX_LISTS.iter().find_map(|name| element.list(name)) else {
            return source.records(element, &mut self.faults, |_| {});
        };
        out.sizes.reserve(source.plausible(element));
        source.lists(element, list, &mut self.faults, |indices, at| {
            out.sizes.push(indices.len() as u32);
            out.corners.extend(indices.iter().map(|&i| index(i)));
            self.face_places.push(at);
        })
    }

    /// Each strip is a run of vertices, −1 starting a new one; every second triangle is turned.
    fn read_strips(&mut self, source: &mut Source, element: &Element) -> Flow {
        let out = &mut self.polygons;
        let Some(list) = element.properties.iter().position(|p| p.is_list()) else {
            return source.records(element, &mut self.faults, |_| {});
        };
        source.lists(element, list, &mut self.faults, |indices, at| {
            for strip in indices.split(|&i| i < 0.0) {
                for (k, three) in strip.windows(3).enumerate() {
                    let [a, b, c] = [index(three[0]), index(three[1]), index(three[2])];
                    // Repeated vertices turn a corner of the strip and are no faces.
                    if a != b && b != c && c != a {
                        out.corners.extend(if k % 2 == 0 { [a, b, c] } else { [b, a, c] });
                        out.sizes.push(3);
                        self.face_places.push(at);
                    }
                }
            }
        })
    }
}

/// Report the other properties of faces: texture coordinates of their corners, colours.
fn tell_lost(element: &Element, warnings: &mut Warnings) {
    let is_index = |name: &str| INDEX_LISTS.contains(&name);
    let lost = element.properties.iter().map(|p| p.name.as_str()).filter(|name| !is_index(name));
    let lost: Vec<&str> = lost.collect();
    if !lost.is_empty() && element.count > 0 {
        warnings.push(format!("only the corners of faces are read; left out: {}", lost.join(", ")));
    }
}

/// Names of the lists of a face's corners.
const INDEX_LISTS: [&str; 2] = ["vertex_indices", "vertex_index"];

/// A vertex index; negative or large numbers become one that the range check reports.
fn index(value: f64) -> u32 {
    if value >= 0.0 { value as u32 } else { u32::MAX }
}

/// A header without vertices and faces.
fn bad_header(name: &str, cause: impl Into<String>) -> FormatError {
    file_error(
        name,
        cause,
        "a PLY file starts with `ply`, `format`, `element` and `property` lines and `end_header`",
    )
}
