//! MEDIT `.mesh` in ASCII: the surface triangles and quadrilaterals of a tetrahedral mesh.
//!
//! # Limits
//! Tetrahedra and other solids are counted, not kept.

use crate::{
    Fault, FormatError, Place,
    polygons::{Model, Polygons},
    text::{Faults, integer, number, shown, whole, without_mark},
};
use glam::DVec3;
use sinew_geom::Warnings;

/// What to do about faulty lines.
const REMEDY: &str = "vertices count from 1; export the file again";

/// Read `.mesh` from memory.
///
/// # Errors
/// All vertices that do not exist, or the first place where the text stops making sense: records have no lines of
/// their own to go on from.
pub fn read_medit(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let mut words = Words { bytes: without_mark(bytes), at: 0 };
    // Where each face ends in the text.
    let mut face_ends = Vec::new();
    let mut polygons = Polygons::default();
    if words.next().is_none_or(|word| !word.starts_with(b"MeshVersionFormatted")) {
        return Err(whole(
            name,
            "the file does not start with `MeshVersionFormatted`",
            "is it another format named .mesh?",
        ));
    }
    let fail = |fault: Fault| FormatError::faults(name, vec![fault]);
    while let Some(word) = words.next() {
        let width = match word {
            b"Vertices" => 4,
            b"Edges" | b"RequiredEdges" => 3,
            b"Triangles" => 4,
            b"Quadrilaterals" | b"Tetrahedra" => 5,
            b"Hexahedra" => 9,
            b"Corners" | b"RequiredVertices" | b"Ridges" => 1,
            b"Dimension" => 0,
            b"End" => break,
            _ => continue,
        };
        let n = words.integer().map_err(fail)?;
        if word == b"Dimension" {
            if n != 3 {
                return Err(whole(name, format!("the mesh has {n} dimensions"), "only 3 are read"));
            }
            continue;
        }
        for _ in 0..n {
            match word {
                b"Vertices" => {
                    let mut p = [0.0; 3];
                    for x in &mut p {
                        *x = words.number().map_err(fail)?;
                    }
                    words.next();
                    polygons.positions.push(DVec3::from_array(p));
                }
                b"Triangles" | b"Quadrilaterals" => {
                    for _ in 0..width - 1 {
                        // Counted from 1; what cannot be an index is found out of range below.
                        let index = words.integer().map_err(fail)?;
                        polygons.corners.push(u32::try_from(index - 1).unwrap_or(u32::MAX));
                    }
                    face_ends.push(words.at);
                    words.next();
                    polygons.sizes.push(width as u32 - 1);
                }
                _ => {
                    for _ in 0..width {
                        words.number().map_err(fail)?;
                    }
                }
            }
        }
        if matches!(word, b"Tetrahedra" | b"Hexahedra") && n > 0 {
            let what = String::from_utf8_lossy(word).to_lowercase();
            warnings.push(format!("{n} {what} were left out; the surface was read"));
        }
    }
    check_indices(&words, &polygons, &face_ends).finish_with(name, REMEDY)?;
    polygons.finish(name, warnings)
}

fn check_indices(words: &Words, polygons: &Polygons, face_ends: &[usize]) -> Faults {
    let (mut faults, mut corners) = (Faults::default(), polygons.corners.as_slice());
    let n = polygons.positions.len();
    for (face, &size) in polygons.sizes.iter().enumerate() {
        let (own, rest) = corners.split_at(size as usize);
        corners = rest;
        if own.iter().any(|&v| v as usize >= n) {
            let cause = format!("face {} uses a vertex that is not between 1 and {n}", face + 1);
            faults.line(words.line_at(face_ends[face]), cause);
        }
        if faults.is_full() {
            break;
        }
    }
    faults
}

/// Words of the text, comments left out, with the place for messages.
struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        loop {
            let rest = &self.bytes[self.at..];
            let start = rest.iter().position(|byte| !byte.is_ascii_whitespace())?;
            let word = &rest[start..];
            if word[0] == b'#' {
                self.at += start + memchr::memchr(b'\n', word).unwrap_or(word.len());
                continue;
            }
            let end = word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len());
            self.at += start + end;
            return Some(&word[..end]);
        }
    }

    fn number(&mut self) -> Result<f64, Fault> {
        let word = self.next();
        word.and_then(number).ok_or_else(|| self.fault(word, "a number"))
    }

    fn integer(&mut self) -> Result<i64, Fault> {
        let word = self.next();
        word.and_then(integer).filter(|n| *n >= 0).ok_or_else(|| self.fault(word, "a whole number"))
    }

    fn line_at(&self, at: usize) -> usize {
        1 + memchr::memchr_iter(b'\n', &self.bytes[..at]).count()
    }

    fn fault(&self, word: Option<&[u8]>, expected: &str) -> Fault {
        let found = word.map_or("the end of the file".to_owned(), |word| format!("`{}`", shown(word)));
        Fault::new(Place::Line(self.line_at(self.at)), format!("expected {expected}, found {found}"))
    }
}
