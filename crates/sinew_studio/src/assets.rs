//! The page, built from `web/` by the build script and carried in the binary, packed.

use axum::{
    body::Bytes,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use brotli_decompressor::BrotliDecompress;
use std::io;

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    /// Each packed for itself; unpacked and joined they are the file. Files that begin alike share the first.
    pieces: &'static [&'static [u8]],
}

macro_rules! embedded {
    ($($name:expr),+) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/page/", $($name),+))
    };
}

macro_rules! asset {
    ($name:literal, $kind:literal) => {
        Asset { name: $name, kind: $kind, pieces: &[embedded!($name, ".br")] }
    };
}

/// The program that follows bodies in pictures, in a thread of its own.
pub const TRACKER: &str = "/pose.js";

/// The network that finds bodies, with which both trackers begin.
static DETECTOR: &[u8] = embedded!("pose-detector.begin.br");
static LICENSES: &[u8] = embedded!("licenses.json.br");

static FILES: [Asset; 8] = [
    asset!("index.html", "text/html; charset=utf-8"),
    asset!("app.js", "text/javascript; charset=utf-8"),
    asset!("app.css", "text/css; charset=utf-8"),
    asset!("pose.js", "text/javascript; charset=utf-8"),
    asset!("pose-wasm.js", "text/javascript; charset=utf-8"),
    asset!("pose.wasm", "application/wasm"),
    Asset {
        name: "pose-lite.task",
        kind: "application/octet-stream",
        pieces: &[DETECTOR, embedded!("pose-lite.end.br")],
    },
    Asset {
        name: "pose-full.task",
        kind: "application/octet-stream",
        pieces: &[DETECTOR, embedded!("pose-full.end.br")],
    },
];

/// A file of the page by its name, packed if the client accepts that; the empty name is the page itself.
pub fn asset(name: &str, request: &HeaderMap) -> Response {
    let name = if name.is_empty() { "index.html" } else { name };
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return (StatusCode::NOT_FOUND, "there is nothing here\n").into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, file.kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    if let ([whole], true) = (file.pieces, takes_brotli(request)) {
        return (headers, [(header::CONTENT_ENCODING, "br")], Bytes::from_static(whole)).into_response();
    }
    match unpack(file.pieces) {
        Ok(plain) => (headers, plain).into_response(),
        Err(error) => {
            let text = format!("the program is damaged, install it again: {error}\n");
            (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
        }
    }
}

fn unpack(pieces: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    for mut piece in pieces.iter().copied() {
        BrotliDecompress(&mut piece, &mut plain)?;
    }
    Ok(plain)
}

/// Whether a request names Brotli among what it takes (RFC 9110 §12.5.3), and not with a weight of nothing. Browsers do where
/// nobody can listen: on this machine, or over TLS.
fn takes_brotli(request: &HeaderMap) -> bool {
    let values = request.get_all(header::ACCEPT_ENCODING).into_iter().filter_map(|value| value.to_str().ok());
    let codings = values.flat_map(|value| value.split(',')).filter_map(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let name = parts.next()?.to_ascii_lowercase();
        let weight = parts.find_map(|part| part.strip_prefix("q=")?.trim().parse::<f64>().ok());
        Some((name, weight.unwrap_or(1.0) > 0.0))
    });
    // What is named counts more than `*`, which means all that is not.
    let mut others = false;
    for (name, is_taken) in codings {
        match name.as_str() {
            "br" => return is_taken,
            "*" => others = is_taken,
            _ => {}
        }
    }
    others
}

/// What the page is made of, with licences, as a JSON array: `kind`, `name`, `version`, `license`, `source`, `texts`
/// and perhaps a `note` of each.
///
/// # Errors
/// If the program is damaged.
pub fn page_licenses() -> io::Result<Vec<u8>> {
    unpack(&[LICENSES])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn brotli_is_sent_to_those_who_take_it() {
        for value in ["br", "gzip, deflate, br, zstd", "gzip;q=1.0, BR;q=0.5", "*", "deflate, *;q=0.1"] {
            assert!(takes_brotli(&accepting(value)), "{value}");
        }
        for value in ["", "identity", "gzip", "br;q=0", "br; q=0.0, *", "*;q=0", "notbr"] {
            assert!(!takes_brotli(&accepting(value)), "{value}");
        }
        assert!(!takes_brotli(&HeaderMap::new()));
    }

    #[test]
    fn every_file_unpacks() {
        for file in &FILES {
            let plain = unpack(file.pieces).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            assert!(plain.len() > 100, "{}", file.name);
        }
        let tasks: Vec<_> = FILES.iter().filter(|file| file.name.ends_with(".task")).collect();
        let [lite, full] = [0, 1].map(|k| unpack(tasks[k].pieces).unwrap());
        assert!(lite.len() < full.len());
        for task in [lite, full] {
            // A zip: it begins with a file and ends with the end of its directory, which counts two.
            assert_eq!(task[..4], *b"PK\x03\x04");
            let end = &task[task.len() - 22..];
            assert_eq!((&end[..4], end[10]), (&b"PK\x05\x06"[..], 2));
        }
    }

    /// Luminance of `#rrggbb`, as WCAG 2.1 defines it.
    fn luminance(colour: &str) -> f64 {
        let channel = |at: usize| {
            let c = f64::from(u8::from_str_radix(&colour[at..at + 2], 16).unwrap()) / 255.0;
            if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    /// Text is legible in both themes: level AA of WCAG 2.1 on everything that it is written on.
    #[test]
    fn text_has_contrast() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/web/src/style/tokens.css");
        let css = std::fs::read_to_string(path).unwrap();
        let texts = ["text", "text-2", "text-3", "accent", "danger", "warning", "good"];
        let code = ["code-verb", "code-function", "code-unit", "code-name"];
        let surfaces = ["panel", "panel-2", "field"];
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for surface in surfaces {
            pairs.extend(texts.iter().chain(&code).map(|text| (*text, surface)));
        }
        pairs.extend([("text", "button"), ("text", "button-hover"), ("accent-text", "accent-strong")]);
        for theme in ["dark", "light"] {
            let begin = css.find(&format!("[data-theme='{theme}'] {{")).unwrap();
            let rules = css[begin..].split('}').next().unwrap();
            let luminance = |name: &str| {
                let value = rules.split(&format!("--{name}: ")).nth(1).unwrap().split(';').next().unwrap();
                luminance(if value == "#fff" { "#ffffff" } else { value })
            };
            for &(text, surface) in &pairs {
                let (a, b) = (luminance(text), luminance(surface));
                let contrast = (a.max(b) + 0.05) / (a.min(b) + 0.05);
                assert!(contrast >= 4.5, "{theme}: --{text} on --{surface} has {contrast:.2}");
            }
        }
    }

    #[test]
    fn changes_of_the_networks_are_stated() {
        let list: serde_json::Value = serde_json::from_slice(&page_licenses().unwrap()).unwrap();
        let list = list.as_array().unwrap();
        let model = list.iter().find(|entry| entry["kind"] == "model").unwrap();
        assert_eq!(model["license"], "Apache-2.0");
        assert!(model["note"].as_str().unwrap().contains("Changed by the build of Sinew"));
        assert!(list.iter().any(|entry| entry["name"] == "three"));
        assert!(list.iter().any(|entry| entry["name"] == "@mediapipe/tasks-vision"));
    }
}
