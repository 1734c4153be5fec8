//! Lines, fields and numbers of text formats, with all faults.

use crate::{Fault, FormatError, Place};

/// Faults after which reading stops: a file of another format would produce millions.
const MAX_FAULTS: usize = 1_000;

/// The text without a byte order mark.
pub(crate) fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// Lines of a text with their numbers, counted from 1; carriage returns and a byte order mark are left out.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut rest = Some(without_mark(bytes));
    let split = std::iter::from_fn(move || {
        let text = rest?;
        match memchr::memchr(b'\n', text) {
            Some(end) => {
                rest = Some(&text[end + 1..]);
                Some(&text[..end])
            }
            None => rest.take().filter(|last| !last.is_empty()),
        }
    });
    split.enumerate().map(|(index, line)| (index + 1, line.strip_suffix(b"\r").unwrap_or(line)))
}

/// Fields of a line, separated by white space.
pub(crate) fn fields(line: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    line.split(|byte| byte.is_ascii_whitespace()).filter(|field| !field.is_empty())
}

/// The part of a line before a `#`.
pub(crate) fn without_comment(line: &[u8]) -> &[u8] {
    &line[..memchr::memchr(b'#', line).unwrap_or(line.len())]
}

/// A number, if the whole field is one. `nan` and `inf` are numbers here: what they mean is decided later.
pub(crate) fn number(field: &[u8]) -> Option<f64> {
    fast_float2::parse(field).ok()
}

/// A number that stays finite as `f32`.
pub(crate) fn finite(field: &[u8]) -> Option<f64> {
    number(field).filter(|x| (*x as f32).is_finite())
}

/// An integer, if the whole field is one.
pub(crate) fn integer(field: &[u8]) -> Option<i64> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// A field as it is shown in messages: its beginning, without control characters.
pub(crate) fn excerpt(field: &[u8]) -> String {
    let text = String::from_utf8_lossy(&field[..field.len().min(40)]);
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Faults of one file while it is read.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    list: Vec<Fault>,
}

impl Faults {
    /// Record a fault at a line.
    pub fn line(&mut self, line: usize, cause: impl Into<String>) {
        self.push(Fault::new(Place::Line(line), cause));
    }

    /// Record any fault, unless there are too many already.
    pub fn push(&mut self, fault: Fault) {
        if self.is_full() {
            return;
        }
        self.list.push(fault);
        if self.is_full() {
            let more = Fault::new(Place::Whole, "there are more faults; reading stopped here");
            self.list.push(more.with_remedy("repair these first; is it another format?"));
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there are too many faults to continue.
    pub fn is_full(&self) -> bool {
        self.list.len() >= MAX_FAULTS
    }

    /// Succeed if there was no fault.
    pub fn finish(self, name: &str) -> Result<(), FormatError> {
        self.finish_with(name, "correct it there, or export the file again")
    }

    /// The same; faults without a remedy get this one.
    pub fn finish_with(mut self, name: &str, remedy: &str) -> Result<(), FormatError> {
        if self.list.is_empty() {
            return Ok(());
        }
        self.list.iter_mut().for_each(|fault| _ = fault.remedy.get_or_insert_with(|| remedy.to_owned()));
        Err(FormatError::faults(name, self.list))
    }
}

/// An error of the file as a whole.
pub(crate) fn file_error(name: &str, cause: impl Into<String>, remedy: &str) -> FormatError {
    FormatError::faults(name, vec![Fault::new(Place::Whole, cause).with_remedy(remedy)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_as_they_like() {
        let found: Vec<_> = lines(b"a\r\nb\n\nc").map(|(n, l)| (n, l.to_vec())).collect();
        assert_eq!(found, [(1, b"a".to_vec()), (2, b"b".to_vec()), (3, vec![]), (4, b"c".to_vec())]);
        assert_eq!(lines(b"").count(), 0);
        assert_eq!(lines(b"\n").count(), 1);
        assert_eq!(lines(b"\xef\xbb\xbfa").next(), Some((1, b"a".as_slice())));
    }
}
