//! USD packages: `.usdz`, files one behind the other in a zip archive without compression.
//!
//! # Source
//! Pixar, *Usdz File Format Specification*; PKWARE, *APPNOTE*, local file headers.

use crate::{Fault, Place};
use std::collections::BTreeMap;

const HEAD: usize = 30;
const REMEDY: &str =
    "the package is damaged or was made by a common zip program; pack it again with `usdzip`";

/// Files of a package by name, and the name of the first.
pub(super) struct Package<'a> {
    pub first: String,
    pub files: BTreeMap<String, &'a [u8]>,
}

/// Whether bytes begin as a zip archive.
pub(super) fn is_zip(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04")
}

/// Find the files of a package.
///
/// # Errors
/// If one is compressed, encrypted or cut short.
pub(super) fn open(bytes: &[u8]) -> Result<Package<'_>, Fault> {
    let fault = |at: usize, cause: String| Fault::new(Place::Byte(at as u64), cause).with_remedy(REMEDY);
    let mut package = Package { first: String::new(), files: BTreeMap::new() };
    let mut at = 0;
    while is_zip(&bytes[at..]) {
        let head =
            bytes.get(at..at + HEAD).ok_or_else(|| fault(at, "the head of a file is cut short".into()))?;
        let half = |k: usize| usize::from(u16::from_le_bytes([head[k], head[k + 1]]));
        let word = |k: usize| half(k) | half(k + 2) << 16;
        let name_start = at + HEAD;
        let start = name_start + half(26) + half(28);
        let name =
            bytes.get(name_start..name_start + half(26)).map(String::from_utf8_lossy).unwrap_or_default();
        // Flags of encryption and of sizes that stand behind the file.
        if half(6) & 0x09 != 0 || half(8) != 0 {
            return Err(fault(at, format!("the file `{name}` of the package is compressed or encrypted")));
        }
        let content = bytes.get(start..start.saturating_add(word(18)));
        let content =
            content.ok_or_else(|| fault(at, format!("the file `{name}` of the package is cut short")))?;
        if package.files.is_empty() {
            package.first = name.to_string();
        }
        package.files.insert(name.into_owned(), content);
        at = start + content.len();
    }
    match package.files.is_empty() {
        true => Err(fault(0, "the package holds no files".into())),
        false => Ok(package),
    }
}
