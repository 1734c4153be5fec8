//! Buffers and images: the binary chunk, data URIs and side files.

use crate::gltf::schema::Root;
use crate::{Fault, FormatError, side_files::SideFiles};
use base64::{Engine, alphabet, engine::GeneralPurpose, engine::general_purpose};
use std::{
    borrow::Cow,
    collections::HashMap,
    fs,
    path::{Component, Path},
};

/// Read a whole file, naming it on failure.
pub(super) fn read_whole(path: &Path) -> Result<Vec<u8>, FormatError> {
    fs::read(path).map_err(|source| FormatError::io(path, source))
}

/// A buffer's bytes, or why there are none.
enum Content<'a> {
    Bytes(Cow<'a, [u8]>),
    /// The same side file as an earlier buffer.
    SameAs(usize),
    Missing(Fault),
}

/// All buffers of a file. A buffer that cannot be read is a fault only when something needs it.
pub(in crate::gltf) struct Buffers<'a> {
    contents: Vec<Content<'a>>,
}

impl<'a> Buffers<'a> {
    pub fn load(root: &Root, bin: Option<&'a [u8]>, side: SideFiles) -> Self {
        let mut first_of: HashMap<&str, usize> = HashMap::new();
        let mut contents = Vec::with_capacity(root.buffers.len());
        for (index, buffer) in root.buffers.iter().enumerate() {
            let path = format!("/buffers/{index}");
            contents.push(match (&buffer.uri, bin) {
                (Some(uri), _) => match first_of.get(uri.as_str()) {
                    Some(&earlier) => Content::SameAs(earlier),
                    None => {
                        first_of.insert(uri, index);
                        match load_uri(uri, side) {
                            Ok(bytes) => Content::Bytes(bytes.into()),
                            Err(cause) => Content::Missing(Fault::json(path + "/uri", cause)),
                        }
                    }
                },
                (None, Some(bin)) if index == 0 => Content::Bytes(bin.into()),
                (None, _) => Content::Missing(
                    Fault::json(path, "the buffer has no uri and the file no binary chunk for it")
                        .with_remedy("the file was cut short or split; export it again as one GLB"),
                ),
            });
        }
        Self { contents }
    }

    /// Bytes of a buffer, as many as its source really has.
    pub fn bytes(&self, index: usize, path: &str) -> Result<&[u8], Fault> {
        match self.contents.get(index) {
            Some(Content::Bytes(bytes)) => Ok(bytes),
            Some(Content::SameAs(earlier)) => self.bytes(*earlier, path),
            Some(Content::Missing(fault)) => Err(fault.clone()),
            None => Err(out_of_range(path, "buffer", index, self.contents.len())),
        }
    }
}

/// The fault of an index that is out of range.
pub(super) fn out_of_range(path: &str, what: &str, index: usize, len: usize) -> Fault {
    Fault::json(path, format!("there is no {what} {index}; the file has {len}"))
}

/// Bytes behind a URI, or the cause of the fault.
pub(in crate::gltf) fn load_uri(uri: &str, side: SideFiles) -> Result<Vec<u8>, String> {
    if let Some(data) = uri.strip_prefix("data:") {
        let (_, text) = data.split_once(";base64,").ok_or("the data URI is not base64")?;
        return decode_base64(text).ok_or_else(|| "the base64 data is broken".to_owned());
    }
    let name = percent_decode(uri).ok_or("the uri is not valid percent-encoded UTF-8")?;
    if !is_inside(&name) {
        return Err(format!("`{name}` is not a path inside the file's own folder; such files are not read"));
    }
    side(&name)
        .map_err(|error| format!("the side file `{name}` cannot be read ({error}); put it beside this"))
}

/// Accepts missing padding, which some exporters leave out.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let config = general_purpose::GeneralPurposeConfig::new()
        .with_decode_padding_mode(base64::engine::DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(text).ok()
}

fn percent_decode(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = std::str::from_utf8(tail.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).ok()
}

/// Whether a name stays in its folder, on every system: no root, no `..`, no drive, no other scheme.
fn is_inside(name: &str) -> bool {
    let plain = |part: Component| matches!(part, Component::Normal(_) | Component::CurDir);
    !name.is_empty() && !name.contains([':', '\\', '\0']) && Path::new(name).components().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::no_side_files;

    #[test]
    fn uris_stay_in_their_folder() {
        let side = |name: &str| Ok(name.as_bytes().to_vec());
        assert_eq!(load_uri("sub/a%20b.bin", &side).unwrap(), b"sub/a b.bin");
        for bad in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "%2e%2e/x",
            "http://x/y",
            "C:\\x",
            "a\\..\\x",
            "",
            "%",
            "%zz",
            "%ff",
        ] {
            assert!(load_uri(bad, &side).is_err(), "{bad}");
        }
    }

    #[test]
    fn data_uris_decode_with_and_without_padding() {
        for uri in ["data:application/octet-stream;base64,AAEC/w==", "data:;base64,AAEC/w"] {
            assert_eq!(load_uri(uri, &no_side_files).unwrap(), [0, 1, 2, 255]);
        }
        assert!(load_uri("data:text/plain,hello", &no_side_files).is_err());
        assert!(load_uri("data:;base64,!!", &no_side_files).is_err());
    }
}
