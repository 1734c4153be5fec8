//! A line of a journal: a checksum, where the line belongs, and the entry.
//!
//! `CHECKSUM GENERATION NUMBER STEP ENTRY`: 16 hexadecimal digits over everything behind them; which base the lines go on
//! from; how many lines of it came before; the step of the history that is present after it; JSON. So a damaged line is
//! recognised whatever was changed in it, and the lines behind it still say where they belong. Lines of older versions are
//! JSON alone.

use crate::Command;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a line of a journal says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Entry {
    /// The first line: which file the lines go on from with its checksum, and what the user knows the document as.
    Opened {
        base: String,
        name: String,
        path: Option<PathBuf>,
        is_dirty: bool,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sum: Option<String>,
    },
    /// A step; `merged` if it took the place of the one before.
    Done { merged: bool, command: Command },
    /// Another step became the present one, so many back or forward.
    Jump(isize),
    /// The present step was taken back without a trace.
    Forget,
    /// The document was saved as it is at this point.
    Saved(PathBuf),
}

/// Where a line belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    /// Number of the base.
    pub generation: usize,
    /// Lines since the base before this one.
    pub number: usize,
    /// The step that is present after it, counted from the base.
    pub step: isize,
}

/// A line as it was found.
#[derive(Debug)]
pub(crate) enum Line {
    /// As it was written; old ones have no place.
    Whole(Option<Place>, Box<Entry>),
    /// Written as it is by another version, whose entry this one does not know.
    Unknown(Option<Place>),
    /// Not as it was written.
    Damaged,
}

impl Line {
    /// Where it belongs, if it says so.
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::Whole(place, _) | Self::Unknown(place) => *place,
            Self::Damaged => None,
        }
    }

    /// What it says.
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Whole(_, entry) => Some(entry),
            Self::Unknown(_) | Self::Damaged => None,
        }
    }
}

/// Add a line to a text.
///
/// # Errors
/// If the entry cannot be written as JSON.
pub(crate) fn write_line(place: Place, entry: &Entry, text: &mut Vec<u8>) -> Result<(), serde_json::Error> {
    let Place { generation, number, step } = place;
    let mut body = format!("{generation} {number} {step} ").into_bytes();
    serde_json::to_writer(&mut body, entry)?;
    text.extend_from_slice(format!("{:016x} ", checksum(&body)).as_bytes());
    text.extend_from_slice(&body);
    text.push(b'\n');
    Ok(())
}

/// All lines of a journal. One that was cut off at the end counts as damaged.
pub(crate) fn read_lines(text: &[u8]) -> Vec<Line> {
    text.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()).map(read_line).collect()
}

fn read_line(line: &[u8]) -> Line {
    if line.starts_with(b"{") {
        return match serde_json::from_slice(line) {
            Ok(entry) => Line::Whole(None, Box::new(entry)),
            Err(_) if serde_json::from_slice::<serde_json::Value>(line).is_ok() => Line::Unknown(None),
            Err(_) => Line::Damaged,
        };
    }
    let Some((place, entry)) = checked(line) else { return Line::Damaged };
    match serde_json::from_slice(entry) {
        Ok(entry) => Line::Whole(Some(place), Box::new(entry)),
        Err(_) => Line::Unknown(Some(place)),
    }
}

/// Place and entry of a line whose checksum is right.
fn checked(line: &[u8]) -> Option<(Place, &[u8])> {
    let (sum, body) = (line.get(..16)?, line.get(17..)?);
    let sum = u64::from_str_radix(std::str::from_utf8(sum).ok()?, 16).ok()?;
    if line[16] != b' ' || sum != checksum(body) {
        return None;
    }
    let mut words = body.splitn(4, |&byte| byte == b' ');
    let mut number = || std::str::from_utf8(words.next()?).ok()?.parse::<isize>().ok();
    let (generation, at, step) = (number()?, number()?, number()?);
    let place = Place { generation: generation.try_into().ok()?, number: at.try_into().ok()?, step };
    Some((place, words.next()?))
}

/// Checksum of a base, as its journal states it.
pub(crate) fn sum_of(bytes: &[u8]) -> String {
    format!("{:016x}", checksum(bytes))
}

/// FNV-1a with 64 bits. Each byte is mixed in by a bijection, so that no change of a single byte goes unnoticed.
fn checksum(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |sum, byte| (sum ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_bit_is_noticed() {
        let place = Place { generation: 3, number: 12, step: -4 };
        let mut text = Vec::new();
        write_line(place, &Entry::Jump(-7), &mut text).unwrap();
        let whole = read_lines(&text);
        assert!(matches!(&whole[..], [Line::Whole(Some(found), entry)]
            if *found == place && **entry == Entry::Jump(-7)));
        for bit in 0..8 * (text.len() - 1) {
            let mut damaged = text.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let lines = read_lines(&damaged);
            // Digits of the checksum have two cases.
            let is_same = lines.len() == 1 && lines[0].place() == Some(place);
            let is_case = bit / 8 < 16 && damaged[bit / 8].eq_ignore_ascii_case(&text[bit / 8]);
            assert_eq!(is_same, is_case, "bit {bit}");
            assert!(is_same || lines.iter().all(|line| matches!(line, Line::Damaged)), "bit {bit}");
        }
        // Without its end it is whole; cut off it is not.
        assert!(read_lines(&text[..text.len() - 1])[0].entry().is_some());
        assert!(read_lines(&text[..text.len() - 2])[0].entry().is_none());
        // Lines of older versions, and entries of later ones.
        assert!(matches!(&read_lines(b"{\"jump\":2}\n")[..], [Line::Whole(None, _)]));
        assert!(matches!(
            &read_lines(b"{\"dance\":2}\n{\"jump\":\n")[..],
            [Line::Unknown(None), Line::Damaged]
        ));
    }
}
