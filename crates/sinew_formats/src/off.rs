//! OFF, COFF and relatives, with comments, glued headers and colours.
//!
//! # Limits
//! ASCII, three dimensions. Normals and texture coordinates of NOFF and STOFF are skipped.

use crate::{
    Fault, FormatError, Place,
    polygons::{Model, Polygons},
    text::{Faults, excerpt, fields, file_error, integer, lines, number, without_comment},
};
use glam::DVec3;
use sinew_geom::Warnings;

const REMEDY: &str = "an OFF file starts with `OFF` and the numbers of vertices, faces and edges";

/// What to do about faulty lines.
const LINE_REMEDY: &str =
    "vertices are `x y z`, faces a count and as many vertices from 0 on; export the file again";

/// Read OFF from memory.
///
/// # Errors
/// All faulty lines.
pub fn read_off(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let mut rows = lines(bytes)
        .map(|(n, line)| (n, without_comment(line)))
        .filter(|(_, line)| fields(line).next().is_some());
    let (first_line, head) = rows.next().ok_or_else(|| file_error(name, "the file is empty", REMEDY))?;
    let head = head.trim_ascii();
    let Some(end) = head.windows(3).position(|w| w == b"OFF").map(|at| at + 3) else {
        return Err(file_error(name, format!("`{}` is not an OFF header", excerpt(head)), REMEDY));
    };
    let (prefix, after) = (&head[..end - 3], &head[end..]);
    if prefix.len() > 6 || !prefix.iter().all(|byte| b"STCN4n".contains(byte)) {
        return Err(file_error(name, format!("`{}` is not an OFF header", excerpt(head)), REMEDY));
    }
    if prefix.contains(&b'4') || prefix.contains(&b'n') || after.trim_ascii().starts_with(b"BINARY") {
        return Err(file_error(
            name,
            "binary and four-dimensional OFF are not read",
            "save it as plain ASCII OFF",
        ));
    }
    let count = |field| integer(field).filter(|n| *n >= 0);
    let counts: Vec<i64> = fields(after).map_while(count).collect();
    let (line, counts) = match counts.as_slice() {
        [] => match rows.next() {
            Some((line, row)) => (line, fields(row).map_while(count).collect()),
            None => (first_line, counts),
        },
        _ => (first_line, counts),
    };
    let [n_vertices, n_faces, ..] = counts[..] else {
        let fault = Fault::new(Place::Line(line), "the numbers of vertices and faces are missing");
        return Err(FormatError::faults(name, vec![fault.with_remedy(REMEDY)]));
    };
    let n_normal = if prefix.contains(&b'N') { 3 } else { 0 };
    let mut reader = Reader { colors: prefix.contains(&b'C').then_some(n_normal), ..Reader::default() };
    let mut last_line = line;
    for (line, row) in rows {
        last_line = line;
        if (reader.polygons.positions.len() as i64) < n_vertices {
            reader.read_vertex(line, row);
        } else if (reader.polygons.sizes.len() as i64) < n_faces {
            reader.read_face(line, row, n_vertices);
        }
        if reader.faults.is_full() {
            break;
        }
    }
    let found = (reader.polygons.positions.len() as i64, reader.polygons.sizes.len() as i64);
    if !reader.faults.is_full() && (found.0 < n_vertices || found.1 < n_faces) {
        let cause = format!(
            "the file ends with {} of {n_vertices} vertices and {} of {n_faces} faces; it was cut short",
            found.0, found.1
        );
        reader.faults.line(last_line, cause);
    }
    reader.faults.finish_with(name, LINE_REMEDY)?;
    // Any number above one means that all are bytes.
    if reader.polygons.colors.iter().flatten().any(|&c| c > 1.0) {
        reader.polygons.colors.iter_mut().flatten().for_each(|c| *c /= 255.0);
    }
    reader.polygons.colors.iter_mut().for_each(|c| c[3] = if c[3] < 0.0 { 1.0 } else { c[3] });
    reader.polygons.finish(name, warnings)
}

#[derive(Default)]
struct Reader {
    polygons: Polygons,
    /// Numbers between the position and the colour, if there are colours.
    colors: Option<usize>,
    faults: Faults,
}

impl Reader {
    fn read_vertex(&mut self, line: usize, row: &[u8]) {
        let mut values = fields(row).map(|field| number(field).ok_or(field));
        let mut next = || values.next().unwrap_or(Err(b""));
        match (next(), next(), next()) {
            (Ok(x), Ok(y), Ok(z)) => self.polygons.positions.push(DVec3::new(x, y, z)),
            _ => {
                self.faults.line(line, format!("`{}` is not a vertex of three numbers", excerpt(row)));
                // Counted, so that later lines are not misread.
                return self.polygons.positions.push(DVec3::ZERO);
            }
        }
        if let Some(n_before) = self.colors {
            let rgba: Vec<f64> = values.map_while(Result::ok).skip(n_before).take(4).collect();
            if let [r, g, b, ..] = rgba[..] {
                // A missing opacity is stored as a negative one until the scale is known.
                let a = rgba.get(3).map_or(-1.0, |a| a.max(0.0));
                self.polygons.colors.push([r, g, b, a]);
            }
        }
    }

    fn read_face(&mut self, line: usize, row: &[u8], n_vertices: i64) {
        let mut parts = fields(row);
        let size = parts.next().and_then(integer).unwrap_or(-1);
        let start = self.polygons.corners.len();
        for part in parts.take(size.clamp(0, row.len() as i64) as usize) {
            match integer(part) {
                Some(v) if (0..n_vertices).contains(&v) => self.polygons.corners.push(v as u32),
                Some(v) => {
                    self.faults.line(line, format!("face uses vertex {v}, but there are {n_vertices}"));
                    self.polygons.corners.push(0);
                }
                None => break,
            }
        }
        let found = self.polygons.corners.len() - start;
        if found as i64 != size {
            self.faults.line(line, format!("`{}` is not a face: a count and as many vertices", excerpt(row)));
        }
        self.polygons.sizes.push(found as u32);
    }
}
