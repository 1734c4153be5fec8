//! The page, built from `web/` by the build script and carried in the binary.

use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

/// File name, type and content.
const FILES: [(&str, &str, &[u8]); 3] = [
    ("index.html", "text/html; charset=utf-8", include_bytes!(concat!(env!("OUT_DIR"), "/page/index.html"))),
    ("app.js", "text/javascript; charset=utf-8", include_bytes!(concat!(env!("OUT_DIR"), "/page/app.js"))),
    ("app.css", "text/css; charset=utf-8", include_bytes!(concat!(env!("OUT_DIR"), "/page/app.css"))),
];

/// A file of the page by its name; the empty name is the page itself.
pub fn asset(name: &str) -> Response {
    let name = if name.is_empty() { "index.html" } else { name };
    match FILES.iter().find(|(file, ..)| *file == name) {
        Some((_, kind, content)) => {
            ([(header::CONTENT_TYPE, *kind), (header::CACHE_CONTROL, "no-cache")], *content).into_response()
        }
        None => (StatusCode::NOT_FOUND, "there is nothing here\n").into_response(),
    }
}
