//! MEDIT `.mesh` in ASCII: the surface triangles and quadrilaterals of a mesh, or its solids.
//!
//! # Limits
//! A surface is read without its solids, which are counted, and solids without their surface.

use crate::{
    Fault, FormatError, Place,
    polygons::{Model, Polygons},
    text::{Faults, excerpt, file_error, integer, number, without_mark},
};
use glam::DVec3;
use sinew_geom::Warnings;

/// What to do about faulty lines.
const REMEDY: &str = "vertices count from 1; export the file again";

/// Read `.mesh` from memory.
///
/// # Errors
/// All vertices that do not exist, or the first syntax error: records have no separate lines to continue
/// from.
pub fn read_medit(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let mut words = Words { bytes: without_mark(bytes), at: 0 };
    // Where each face ends in the text.
    let mut face_ends = Vec::new();
    let mut polygons = Polygons::default();
    if words.next().is_none_or(|word| !word.starts_with(b"MeshVersionFormatted")) {
        return Err(file_error(
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
            b"Pyramids" => 6,
            b"Prisms" | b"Pentahedra" => 7,
            b"Hexahedra" | b"Hexaedra" => 9,
            b"Corners" | b"RequiredVertices" | b"Ridges" => 1,
            b"Dimension" => 0,
            b"End" => break,
            _ => continue,
        };
        let n = words.integer().map_err(fail)?;
        if word == b"Dimension" {
            if n != 3 {
                return Err(file_error(name, format!("the mesh has {n} dimensions"), "only 3 are read"));
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
                        // Counted from 1; negative or large numbers are found out of range below.
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
        let is_solid = matches!(
            word,
            b"Tetrahedra" | b"Pyramids" | b"Prisms" | b"Pentahedra" | b"Hexahedra" | b"Hexaedra"
        );
        if is_solid && n > 0 {
            let what = String::from_utf8_lossy(word).to_lowercase();
            warnings.push(format!("{n} {what} were left out; the surface was read"));
        }
    }
    check_indices(&words, &polygons, &face_ends).finish_with(name, REMEDY)?;
    polygons.finish(name, warnings)
}

/// Cells of a lattice over shared nodes; indices are checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Solids {
    /// Positions of the nodes.
    pub positions: Vec<DVec3>,
    /// A corner, and three that follow each other counterclockwise as seen from it through the cell.
    pub tetrahedra: Vec<[u32; 4]>,
    /// Two triangles in the same order.
    pub prisms: Vec<[u32; 6]>,
    /// Corner `c` is at the upper end of axis `k` if bit `k` of `c` is set.
    pub hexahedra: Vec<[u32; 8]>,
    /// Edges marked as `Ridges` or `RequiredEdges`.
    pub creases: Vec<[u32; 2]>,
    /// Vertices marked as `Corners` or `RequiredVertices`.
    pub corners: Vec<u32>,
}

/// Position of each corner of a hexahedron, which MEDIT lists around its bottom and around its top.
const AROUND: [usize; 8] = [0, 1, 3, 2, 4, 5, 7, 6];

/// Read the solids of a `.mesh` from memory.
///
/// # Errors
/// As [`read_medit`]; also if there are no solids, or pyramids among them.
pub fn read_solids(bytes: &[u8], name: &str) -> Result<Solids, FormatError> {
    let mut words = Words { bytes: without_mark(bytes), at: 0 };
    let remedy = "a lattice is a MEDIT .mesh with Hexahedra, Tetrahedra or Prisms";
    if words.next().is_none_or(|word| !word.starts_with(b"MeshVersionFormatted")) {
        return Err(file_error(name, "the file does not start with `MeshVersionFormatted`", remedy));
    }
    let fail = |fault: Fault| FormatError::faults(name, vec![fault]);
    let mut raw = RawSolids::default();
    while let Some(word) = words.next() {
        let width = match word {
            b"End" => break,
            b"Dimension" => 0,
            b"Corners" | b"RequiredVertices" | b"Ridges" | b"RequiredEdges" => 1,
            b"Edges" => 2,
            b"Vertices" | b"Triangles" => 3,
            b"Quadrilaterals" | b"Tetrahedra" => 4,
            b"Pyramids" => 5,
            b"Prisms" | b"Pentahedra" => 6,
            b"Hexahedra" | b"Hexaedra" => 8,
            _ => continue,
        };
        let n = words.integer().map_err(fail)?;
        match word {
            b"Dimension" if n != 3 => {
                return Err(file_error(name, format!("the mesh has {n} dimensions"), "only 3 are read"));
            }
            b"Pyramids" if n > 0 => {
                return Err(file_error(
                    name,
                    format!("there are {n} pyramids"),
                    "split each into two tetrahedra",
                ));
            }
            b"Dimension" => {}
            _ => (0..n).try_for_each(|_| raw.record(&mut words, word, width)).map_err(fail)?,
        }
    }
    let solids = raw.finish(&words, name)?;
    let n_cells = solids.tetrahedra.len() + solids.prisms.len() + solids.hexahedra.len();
    if n_cells == 0 { Err(file_error(name, "there are no solids in the file", remedy)) } else { Ok(solids) }
}

/// Solids as they are read, with data for the checks at the end.
#[derive(Default)]
struct RawSolids {
    solids: Solids,
    edges: Vec<[u32; 2]>,
    /// Indices into `edges`, and their places in the text.
    ridges: Vec<(i64, usize)>,
    /// Smallest and largest index of each record, and its place in the text.
    used: Vec<(i64, i64, usize)>,
}

impl RawSolids {
    fn record(&mut self, words: &mut Words, word: &[u8], width: usize) -> Result<(), Fault> {
        if word == b"Vertices" {
            let mut p = [0.0; 3];
            for x in &mut p {
                *x = words.number()?;
            }
            words.next();
            self.solids.positions.push(DVec3::from_array(p));
            return Ok(());
        }
        let mut record = [0i64; 8];
        for x in &mut record[..width] {
            *x = words.integer()?;
        }
        let at = |k: usize| (record[k] - 1).clamp(0, i64::from(u32::MAX)) as u32;
        let mut has_nodes = true;
        match word {
            b"Edges" => self.edges.push([at(0), at(1)]),
            b"Tetrahedra" => self.solids.tetrahedra.push(std::array::from_fn(at)),
            b"Prisms" | b"Pentahedra" => self.solids.prisms.push(std::array::from_fn(at)),
            b"Hexahedra" | b"Hexaedra" => self.solids.hexahedra.push(AROUND.map(at)),
            b"Corners" | b"RequiredVertices" => self.solids.corners.push(at(0)),
            _ => has_nodes = false,
        }
        if matches!(word, b"Ridges" | b"RequiredEdges") {
            self.ridges.push((record[0] - 1, words.at));
        }
        if has_nodes {
            let range = record[..width].iter().fold((i64::MAX, 0), |(l, h), &x| (l.min(x), h.max(x)));
            self.used.push((range.0, range.1, words.at));
        }
        // All records except lists of indices end in a reference number.
        if width > 1 {
            words.next();
        }
        Ok(())
    }

    /// Check indices, and find the edges that stay sharp.
    fn finish(mut self, words: &Words, name: &str) -> Result<Solids, FormatError> {
        let (mut faults, n) = (Faults::default(), self.solids.positions.len() as i64);
        for &(low, high, end) in self.used.iter().filter(|(low, high, _)| *low < 1 || *high > n) {
            if faults.is_full() {
                break;
            }
            let cause = format!("vertex {} is not between 1 and {n}", if low < 1 { low } else { high });
            faults.line(words.line_at(end), cause);
        }
        for &(edge, end) in &self.ridges {
            match usize::try_from(edge).ok().and_then(|edge| self.edges.get(edge)) {
                Some(ends) => self.solids.creases.push(*ends),
                None if faults.is_full() => break,
                None => {
                    let cause = format!("edge {} is not between 1 and {}", edge + 1, self.edges.len());
                    faults.line(words.line_at(end), cause);
                }
            }
        }
        faults.finish_with(name, REMEDY)?;
        Ok(self.solids)
    }
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
        let found = word.map_or("the end of the file".to_owned(), |word| format!("`{}`", excerpt(word)));
        Fault::new(Place::Line(self.line_at(self.at)), format!("expected {expected}, found {found}"))
    }
}
