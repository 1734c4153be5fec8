//! The container of Alembic files: a tree of groups and data, by offsets.
//!
//! # Source
//! The layout is that of the library Ogawa of Alembic 1.5 and later: `Ogawa`, a byte that is 0xff in complete files, a version,
//! the offset of the root group. A group is a number of children and their offsets, the highest bit of which marks data; data
//! is a length and its bytes.
//! # Limits
//! Offsets may point anywhere, also to groups above: whoever follows them counts.

use crate::{Fault, Place};

const DATA: u64 = 1 << 63;
const REMEDY: &str = "the file is damaged or was cut short; export it again";

/// A fault at an offset.
pub(super) fn fault_at(at: u64, cause: impl Into<String>) -> Fault {
    Fault::new(Place::Byte(at), cause).with_remedy(REMEDY)
}

/// A group of children.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    bytes: &'a [u8],
    children: &'a [[u8; 8]],
    /// Where it stands.
    pub at: u64,
}

/// Data and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Data<'a> {
    pub bytes: &'a [u8],
    pub at: u64,
}

fn word(bytes: &[u8], at: u64) -> Option<u64> {
    let at = usize::try_from(at).ok()?;
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// The root group of a file.
///
/// # Errors
/// If this is no complete file of a known version.
pub(super) fn root(bytes: &[u8]) -> Result<Group<'_>, Fault> {
    if !bytes.starts_with(b"Ogawa") {
        return Err(fault_at(0, "the file does not start with `Ogawa`"));
    }
    let (Some(head), Some(at)) = (bytes.get(5..8), word(bytes, 8)) else {
        return Err(fault_at(bytes.len() as u64, "the file ends within its head"));
    };
    if head[1..] != [0, 1] {
        let cause = format!("version {}.{} is not supported", head[1], head[2]);
        return Err(Fault::new(Place::Byte(6), cause).with_remedy("export it with Alembic 1.5 to 1.8"));
    }
    if head[0] != 0xFF {
        return Err(fault_at(5, "the program that wrote the file did not finish it"));
    }
    group(bytes, at)
}

fn group(bytes: &[u8], at: u64) -> Result<Group<'_>, Fault> {
    if at == 0 {
        return Ok(Group { bytes, children: &[], at });
    }
    let n = word(bytes, at).ok_or_else(|| fault_at(at, "a group begins behind the end of the file"))?;
    let (start, n) = (at as usize + 8, usize::try_from(n).unwrap_or(usize::MAX));
    let children = n.checked_mul(8).and_then(|len| bytes.get(start..start.checked_add(len)?));
    let children =
        children.ok_or_else(|| fault_at(at, format!("a group of {n} children does not fit the file")))?;
    Ok(Group { bytes, children: children.as_chunks::<8>().0, at })
}

impl<'a> Group<'a> {
    pub fn n_children(&self) -> usize {
        self.children.len()
    }

    fn child(&self, index: usize) -> Result<u64, Fault> {
        let child = self.children.get(index).map(|child| u64::from_le_bytes(*child));
        child.ok_or_else(|| {
            let n = self.children.len();
            fault_at(self.at, format!("child {index} is missing, the group has {n}"))
        })
    }

    /// Whether a child is data.
    pub fn is_data(&self, index: usize) -> bool {
        self.child(index).is_ok_and(|at| at & DATA != 0)
    }

    /// A child that is a group.
    pub fn group(&self, index: usize) -> Result<Self, Fault> {
        match self.child(index)? {
            at if at & DATA != 0 => {
                Err(fault_at(self.at, format!("child {index} is data instead of a group")))
            }
            at => group(self.bytes, at),
        }
    }

    /// A child that is data.
    pub fn data(&self, index: usize) -> Result<Data<'a>, Fault> {
        let at = self.child(index)?;
        if at & DATA == 0 {
            return Err(fault_at(self.at, format!("child {index} is a group instead of data")));
        }
        let at = at & !DATA;
        if at == 0 {
            return Ok(Data { bytes: &[], at });
        }
        let len =
            word(self.bytes, at).ok_or_else(|| fault_at(at, "data begins behind the end of the file"))?;
        let start = at as usize + 8;
        let end = usize::try_from(len).ok().and_then(|len| start.checked_add(len));
        let bytes = end.and_then(|end| self.bytes.get(start..end));
        let bytes =
            bytes.ok_or_else(|| fault_at(at, format!("data of {len} bytes does not fit the file")))?;
        Ok(Data { bytes, at })
    }
}
