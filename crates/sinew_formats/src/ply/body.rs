//! The body: records of numbers and lists, in text or bytes.

use super::header::{Element, Encoding, Header, Scalar};
use crate::{
    Fault, Place,
    text::{Faults, excerpt, fields, number},
};

/// Whether reading can continue.
pub(super) type Flow = std::ops::ControlFlow<()>;

/// The rest of the file, read from front to back.
pub(super) struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    encoding: Encoding,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8], header: &Header) -> Self {
        Self { bytes, at: header.n_bytes, line: header.n_lines, encoding: header.encoding }
    }

    /// Records there is room for, at most as many as claimed.
    pub fn plausible(&self, element: &Element) -> usize {
        let room = (self.bytes.len() - self.at) / element.min_bytes(self.encoding).max(1);
        room.min(usize::try_from(element.count).unwrap_or(usize::MAX))
    }

    /// Place of a record by its number in [`Source::lists`].
    pub fn place_of(&self, at: usize) -> Place {
        match self.encoding {
            Encoding::Ascii => Place::Line(at),
            _ => Place::Byte(at as u64),
        }
    }

    /// Visit the scalars of every record; a list is represented by its length.
    pub fn records(&mut self, element: &Element, faults: &mut Faults, mut visit: impl FnMut(&[f64])) -> Flow {
        self.walk(element, usize::MAX, faults, |scalars, _, _| visit(scalars))
    }

    /// Visit one list of every record, with the line or byte of the record.
    pub fn lists(
        &mut self,
        element: &Element,
        list: usize,
        faults: &mut Faults,
        mut visit: impl FnMut(&[f64], usize),
    ) -> Flow {
        self.walk(element, list, faults, |_, items, at| visit(items, at))
    }

    /// A faulty line is visited too, as far as it was read, so that the records after it keep their numbers.
    fn walk(
        &mut self,
        element: &Element,
        list: usize,
        faults: &mut Faults,
        mut visit: impl FnMut(&[f64], &[f64], usize),
    ) -> Flow {
        if element.properties.is_empty() {
            return Flow::Continue(());
        }
        let (mut values, mut items) = (vec![0.0; element.properties.len()], Vec::new());
        for record in 0..element.count {
            items.clear();
            let start = self.at;
            let read = match self.encoding {
                Encoding::Ascii => match self.next_line() {
                    Some(line) => self.read_line(element, line, list, &mut values, &mut items),
                    None => {
                        faults.push(self.cut_short(element, record));
                        return Flow::Break(());
                    }
                },
                Encoding::Little => self.read_bytes::<true>(element, record, list, &mut values, &mut items),
                Encoding::Big => self.read_bytes::<false>(element, record, list, &mut values, &mut items),
            };
            if let Err(fault) = read {
                faults.push(fault);
                // Bytes after a wrong count are arbitrary; a line after a wrong line is a line.
                if self.encoding != Encoding::Ascii || faults.is_full() {
                    return Flow::Break(());
                }
            }
            visit(&values, &items, if self.encoding == Encoding::Ascii { self.line } else { start });
        }
        Flow::Continue(())
    }

    /// The next line that is not blank.
    fn next_line(&mut self) -> Option<&'a [u8]> {
        while self.at < self.bytes.len() {
            let rest = &self.bytes[self.at..];
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            self.at += (end + 1).min(rest.len());
            self.line += 1;
            if fields(&rest[..end]).next().is_some() {
                return Some(&rest[..end]);
            }
        }
        None
    }

    fn read_line(
        &self,
        element: &Element,
        line: &[u8],
        list: usize,
        values: &mut [f64],
        items: &mut Vec<f64>,
    ) -> Result<(), Fault> {
        let at = Place::Line(self.line);
        let mut words = fields(line).map(|word| number(word).ok_or(word));
        let mut next = || match words.next() {
            Some(Ok(value)) => Ok(value),
            Some(Err(word)) => Err(Fault::new(at.clone(), format!("`{}` is not a number", excerpt(word)))),
            None => Err(Fault::new(at.clone(), format!("too few numbers for a {}", element.name))),
        };
        for (k, property) in element.properties.iter().enumerate() {
            values[k] = next()?;
            if property.is_list() {
                for _ in 0..list_length(values[k], &at)? {
                    let item = next()?;
                    if k == list {
                        items.push(item);
                    }
                }
            }
        }
        Ok(())
    }

    fn read_bytes<const LITTLE: bool>(
        &mut self,
        element: &Element,
        record: u64,
        list: usize,
        values: &mut [f64],
        items: &mut Vec<f64>,
    ) -> Result<(), Fault> {
        for (k, property) in element.properties.iter().enumerate() {
            let first = property.count.unwrap_or(property.scalar);
            values[k] = self.scalar::<LITTLE>(first).ok_or_else(|| self.cut_short(element, record))?;
            if property.is_list() {
                let n = list_length(values[k], &Place::Byte(self.at as u64))?;
                let n_bytes = n.saturating_mul(property.scalar.n_bytes());
                if n_bytes > self.bytes.len() - self.at {
                    return Err(self.cut_short(element, record));
                }
                if k != list {
                    self.at += n_bytes;
                    continue;
                }
                for _ in 0..n {
                    items.extend(self.scalar::<LITTLE>(property.scalar));
                }
            }
        }
        Ok(())
    }

    #[inline]
    fn scalar<const LITTLE: bool>(&mut self, scalar: Scalar) -> Option<f64> {
        macro_rules! decode {
            ($t:ty) => {{
                let bytes = *self.bytes.get(self.at..)?.first_chunk()?;
                self.at += size_of::<$t>();
                Some(if LITTLE { <$t>::from_le_bytes(bytes) } else { <$t>::from_be_bytes(bytes) } as f64)
            }};
        }
        match scalar {
            Scalar::F32 => decode!(f32),
            Scalar::I32 => decode!(i32),
            Scalar::U8 => decode!(u8),
            Scalar::I8 => decode!(i8),
            Scalar::I16 => decode!(i16),
            Scalar::U16 => decode!(u16),
            Scalar::U32 => decode!(u32),
            Scalar::F64 => decode!(f64),
        }
    }

    fn cut_short(&self, element: &Element, record: u64) -> Fault {
        let place = match self.encoding {
            Encoding::Ascii => Place::Line(self.line),
            _ => Place::Byte(self.bytes.len() as u64),
        };
        let cause =
            format!("the file ends at record {record} of {} of element {}", element.count, element.name);
        Fault::new(place, cause).with_remedy("it was cut short; export it again")
    }
}

fn list_length(value: f64, place: &Place) -> Result<usize, Fault> {
    if (0.0..=f64::from(u32::MAX)).contains(&value) && value.fract() == 0.0 {
        Ok(value as usize)
    } else {
        Err(Fault::new(place.clone(), format!("{value} is not the length of a list")))
    }
}
