//! STL, ASCII and binary.
//!
//! # Limits
//! STL has no shared vertices; they are not merged. Merge them by `--repair`.

use crate::{
    Fault, FormatError, Place,
    polygons::{Model, Polygons},
    text::{Faults, excerpt, fields, file_error, lines, number, without_mark},
};
use glam::DVec3;
use sinew_geom::Warnings;

/// What to do about faulty lines.
const REMEDY: &str =
    "a facet is `facet`, `outer loop`, three `vertex x y z`, `endloop`, `endfacet`; export the file again";

/// Bytes of the header and the count.
const HEADER: usize = 84;
/// Bytes of one binary facet.
const FACET: usize = 50;

/// Read STL from memory.
///
/// # Errors
/// All faulty lines of an ASCII file, or the place where a binary one is cut short.
pub fn read_stl(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    if bytes.is_empty() {
        return Err(file_error(name, "the file is empty", "export it again"));
    }
    // Binary files may start with "solid" too; their length identifies them, and text has no zeros.
    let claimed = bytes.get(80..84).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes);
    let fits = claimed.is_some_and(|n| bytes.len() == HEADER + n as usize * FACET);
    let text = without_mark(bytes).trim_ascii_start();
    let is_solid = text.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid"));
    let is_text = !bytes[..bytes.len().min(1024)].contains(&0);
    if is_solid && is_text && !fits {
        read_ascii(bytes, name, warnings)
    } else {
        read_binary(bytes, claimed, name, warnings)
    }
}

fn read_binary(
    bytes: &[u8],
    claimed: Option<u32>,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let Some(claimed) = claimed else {
        return Err(file_error(
            name,
            "the file is too short for an STL header",
            "it was cut short; export it again",
        ));
    };
    let facets = &bytes[HEADER..];
    let n = facets.len() / FACET;
    if n < claimed as usize {
        let cause = format!("the header announces {claimed} facets, the file holds {n}");
        let fault = Fault::new(Place::Byte((HEADER + n * FACET) as u64), cause);
        return Err(FormatError::faults(name, vec![fault.with_remedy("it was cut short; export it again")]));
    }
    let n_more = facets.len() - claimed as usize * FACET;
    if n_more > 0 {
        warnings.push(format!("{n_more} bytes after the last of {claimed} facets were left out"));
    }
    let mut polygons = Polygons::default();
    for facet in facets.chunks_exact(FACET).take(claimed as usize) {
        let mut numbers = facet[12..48].as_chunks::<4>().0.iter().map(|&b| f64::from(f32::from_le_bytes(b)));
        let mut next = || numbers.next().unwrap_or(0.0);
        for _ in 0..3 {
            polygons.corners.push(polygons.positions.len() as u32);
            polygons.positions.push(DVec3::new(next(), next(), next()));
        }
        polygons.sizes.push(3);
    }
    polygons.finish(name, warnings)
}

fn read_ascii(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let mut polygons = Polygons::default();
    let mut faults = Faults::default();
    let (mut open, mut is_closed) = (0, false);
    for (line, content) in lines(bytes) {
        let mut parts = fields(content);
        match parts.next().map(<[u8]>::to_ascii_lowercase).as_deref() {
            Some(b"vertex") => {
                let mut next = || parts.next().and_then(number);
                match (next(), next(), next()) {
                    (Some(x), Some(y), Some(z)) => {
                        polygons.corners.push(polygons.positions.len() as u32);
                        polygons.positions.push(DVec3::new(x, y, z));
                        open += 1;
                    }
                    _ => {
                        faults.line(line, format!("`{}` is not a vertex of three numbers", excerpt(content)))
                    }
                }
            }
            Some(b"endloop") => {
                polygons.sizes.push(open);
                open = 0;
            }
            Some(b"facet" | b"endfacet") if open > 0 => {
                faults.line(line, "the facet before has no `endloop`");
                open = 0;
            }
            Some(b"endsolid") => is_closed = true,
            Some(b"solid" | b"facet" | b"outer" | b"endfacet") | None => {}
            Some(_) => faults.line(line, format!("`{}` is not STL", excerpt(content))),
        }
        if faults.is_full() {
            break;
        }
    }
    if open > 0 {
        let cause = "the last facet is not closed; the file was cut short";
        faults.line(lines(bytes).count(), cause);
    } else if !is_closed {
        warnings.push("the file has no `endsolid`; it may have been cut short");
    }
    faults.finish_with(name, REMEDY)?;
    polygons.finish(name, warnings)
}
