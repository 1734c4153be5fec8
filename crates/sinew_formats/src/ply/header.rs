//! The header: elements, their properties and where the body starts.

use super::bad_header;
use crate::{
    FormatError, Place,
    text::{Faults, excerpt, fields, integer, without_mark},
};

/// What to do about faulty lines.
const REMEDY: &str = "correct the header, or export the file again";

/// How the body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Ascii,
    Little,
    Big,
}

/// A number type of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn parse(name: &[u8]) -> Option<Self> {
        Some(match name {
            b"char" | b"int8" => Self::I8,
            b"uchar" | b"uint8" => Self::U8,
            b"short" | b"int16" => Self::I16,
            b"ushort" | b"uint16" => Self::U16,
            b"int" | b"int32" => Self::I32,
            b"uint" | b"uint32" => Self::U32,
            b"float" | b"float32" => Self::F32,
            b"double" | b"float64" => Self::F64,
            _ => return None,
        })
    }

    pub fn n_bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// A property: one number, or a list with the type of its count.
#[derive(Debug, Clone)]
pub(super) struct Property {
    pub name: String,
    pub scalar: Scalar,
    pub count: Option<Scalar>,
}

impl Property {
    pub fn is_list(&self) -> bool {
        self.count.is_some()
    }

    /// Value of a full colour channel: the largest of an integer type, one of a real one.
    pub fn largest_color(&self) -> f64 {
        match self.scalar {
            Scalar::F32 | Scalar::F64 => 1.0,
            Scalar::I16 | Scalar::U16 => f64::from(u16::MAX),
            _ => f64::from(u8::MAX),
        }
    }
}

/// A kind of record.
#[derive(Debug, Clone)]
pub(super) struct Element {
    pub name: String,
    /// As claimed; never used for allocation.
    pub count: u64,
    pub properties: Vec<Property>,
    line: usize,
}

impl Element {
    pub fn scalar(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|p| p.name == name && !p.is_list())
    }

    pub fn list(&self, name: &str) -> Option<usize> {
        self.properties.iter().position(|p| p.name == name && p.is_list())
    }

    pub fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Fewest bytes a record can have.
    pub fn min_bytes(&self, encoding: Encoding) -> usize {
        let of = |p: &Property| match encoding {
            Encoding::Ascii => 2,
            _ => p.count.unwrap_or(p.scalar).n_bytes(),
        };
        self.properties.iter().map(of).sum()
    }
}

/// All that precedes the body.
#[derive(Debug, Clone)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<Element>,
    /// Where the body starts.
    pub n_bytes: usize,
    /// Lines of the header.
    pub n_lines: usize,
}

pub(super) fn parse(bytes: &[u8], name: &str) -> Result<Header, FormatError> {
    if bytes.is_empty() {
        return Err(bad_header(name, "the file is empty"));
    }
    if !without_mark(bytes).starts_with(b"ply") {
        return Err(bad_header(name, "the file does not start with `ply`"));
    }
    let mut header = Header { encoding: Encoding::Ascii, elements: Vec::new(), n_bytes: 0, n_lines: 0 };
    let mut faults = Faults::default();
    let mut has_format = false;
    let mut rest = without_mark(bytes);
    loop {
        let Some(end) = memchr::memchr(b'\n', rest) else {
            // A header without a body may lack the last line break.
            if rest.trim_ascii() == b"end_header" {
                header.n_bytes = bytes.len();
                break;
            }
            return Err(bad_header(name, "the header has no `end_header`"));
        };
        let line = &rest[..end];
        rest = &rest[end + 1..];
        header.n_lines += 1;
        let words: Vec<&[u8]> = fields(line).collect();
        match words.as_slice() {
            [b"end_header", ..] => {
                header.n_bytes = bytes.len() - rest.len();
                break;
            }
            [b"format", encoding, ..] => {
                has_format = true;
                match *encoding {
                    b"ascii" => header.encoding = Encoding::Ascii,
                    b"binary_little_endian" => header.encoding = Encoding::Little,
                    b"binary_big_endian" => header.encoding = Encoding::Big,
                    other => faults.line(header.n_lines, format!("format `{}` is unknown", excerpt(other))),
                }
            }
            [b"element", element, count] => match integer(count).filter(|n| *n >= 0) {
                Some(count) => header.elements.push(Element {
                    name: String::from_utf8_lossy(element).into_owned(),
                    count: count as u64,
                    properties: Vec::new(),
                    line: header.n_lines,
                }),
                None => faults.line(header.n_lines, format!("`{}` is not a count", excerpt(count))),
            },
            [b"element", ..] => faults.line(header.n_lines, "an element needs a name and a count"),
            [b"property", property @ ..] => match (header.elements.last_mut(), parse_property(property)) {
                (Some(element), Some(property)) => element.properties.push(property),
                (None, _) => faults.line(header.n_lines, "a property stands before any element"),
                (_, None) => faults.line(header.n_lines, format!("`{}` is not a property", excerpt(line))),
            },
            _ => {}
        }
    }
    if !has_format {
        faults.line(1, "the header has no `format`");
    }
    faults.finish_with(name, REMEDY)?;
    Ok(header)
}

fn parse_property(words: &[&[u8]]) -> Option<Property> {
    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    match words {
        [b"list", count, scalar, name] => Some(Property {
            name: text(name),
            scalar: Scalar::parse(scalar)?,
            count: Some(Scalar::parse(count)?),
        }),
        [scalar, name] => Some(Property { name: text(name), scalar: Scalar::parse(scalar)?, count: None }),
        _ => None,
    }
}
