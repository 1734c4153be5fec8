//! Checks of numbers, names and pictures that users give.

use crate::SessionError;
use base64::{Engine, prelude::BASE64_STANDARD};

pub(crate) fn within(what: &'static str, value: f64, [low, high]: [f64; 2]) -> Result<f64, SessionError> {
    if (low..=high).contains(&value) {
        return Ok(value);
    }
    Err(SessionError::Value { what, cause: format!("{value} is not within {low} and {high}") })
}

/// Characters of a name; longer ones are no names.
const MAX_NAME: usize = 200;

pub(crate) fn check_name(what: &'static str, name: &str, is_taken: bool) -> Result<(), SessionError> {
    let cause = match () {
        () if name.trim().is_empty() => "it is empty",
        () if name.len() > MAX_NAME => "it is too long",
        () if is_taken => "it is taken",
        () => return Ok(()),
    };
    Err(SessionError::Name { what, name: name.chars().take(40).collect(), cause })
}

/// Bytes of a thumbnail beyond which it is none.
const MAX_THUMBNAIL: usize = 1 << 20;

pub(crate) fn decode_thumbnail(url: &str) -> Result<Vec<u8>, SessionError> {
    let bytes = url.strip_prefix("data:image/png;base64,").and_then(|text| BASE64_STANDARD.decode(text).ok());
    let is_png = |bytes: &Vec<u8>| bytes.starts_with(b"\x89PNG") && bytes.len() <= MAX_THUMBNAIL;
    bytes.filter(is_png).ok_or_else(|| SessionError::Value {
        what: "thumbnail",
        cause: "expected a data URL of a PNG file below 1 MB".into(),
    })
}
