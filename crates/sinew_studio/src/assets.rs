//! The page, built from `web/` by the build script and carried in the binary.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    content: &'static [u8],
    /// Whether it is kept as gzip, which every browser takes.
    is_packed: bool,
}

macro_rules! plain {
    ($name:literal, $kind:literal) => {
        Asset {
            name: $name,
            kind: $kind,
            content: include_bytes!(concat!(env!("OUT_DIR"), "/page/", $name)),
            is_packed: false,
        }
    };
}

macro_rules! packed {
    ($name:literal, $kind:literal) => {
        Asset {
            name: $name,
            kind: $kind,
            content: include_bytes!(concat!(env!("OUT_DIR"), "/page/", $name, ".gz")),
            is_packed: true,
        }
    };
}

/// The program that follows bodies in pictures, in a thread of its own.
pub const TRACKER: &str = "/pose.js";

const FILES: [Asset; 8] = [
    plain!("index.html", "text/html; charset=utf-8"),
    plain!("app.js", "text/javascript; charset=utf-8"),
    plain!("app.css", "text/css; charset=utf-8"),
    plain!("pose.js", "text/javascript; charset=utf-8"),
    packed!("pose-wasm.js", "text/javascript; charset=utf-8"),
    packed!("pose.wasm", "application/wasm"),
    packed!("pose-lite.task", "application/octet-stream"),
    packed!("pose-full.task", "application/octet-stream"),
];

/// A file of the page by its name; the empty name is the page itself.
pub fn asset(name: &str) -> Response {
    let name = if name.is_empty() { "index.html" } else { name };
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here\n").into_response();
    };
    let mut response =
        ([(header::CONTENT_TYPE, file.kind), (header::CACHE_CONTROL, "no-cache")], file.content)
            .into_response();
    if file.is_packed {
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    response
}
