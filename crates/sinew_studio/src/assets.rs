//! The page, built from `web/` by the build script and carried in the binary, packed.

use axum::{
    body::Bytes,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use flate2::read::GzDecoder;
use std::io::{self, Read};

/// A file of the page.
struct Asset {
    name: &'static str,
    kind: &'static str,
    /// Joined, they are one gzip stream; files that begin alike share the first.
    pieces: &'static [&'static [u8]],
}

macro_rules! embedded {
    ($($name:expr),+) => {
        include_bytes!(concat!(env!("OUT_DIR"), "/page/", $($name),+))
    };
}

macro_rules! asset {
    ($name:literal, $kind:literal) => {
        Asset { name: $name, kind: $kind, pieces: &[embedded!($name, ".gz")] }
    };
}

/// The program that follows bodies in pictures, in a thread of its own.
pub const TRACKER: &str = "/pose.js";

/// The network that finds bodies, with which both trackers begin.
static DETECTOR: &[u8] = embedded!("pose-detector.gz-begin");
static LICENSES: &[u8] = embedded!("licenses.json.gz");

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
        pieces: &[DETECTOR, embedded!("pose-lite.gz-end")],
    },
    Asset {
        name: "pose-full.task",
        kind: "application/octet-stream",
        pieces: &[DETECTOR, embedded!("pose-full.gz-end")],
    },
];

/// A file of the page by its name, packed if whoever asks takes that; the empty name is the page itself.
pub fn asset(name: &str, request: &HeaderMap) -> Response {
    let name = if name.is_empty() { "index.html" } else { name };
    match FILES.iter().find(|file| file.name == name) {
        Some(file) => packed(file.kind, packed_bytes(file), request),
        None => (StatusCode::NOT_FOUND, "there is nothing here\n").into_response(),
    }
}

fn packed_bytes(file: &Asset) -> Bytes {
    match file.pieces {
        [whole] => Bytes::from_static(whole),
        pieces => pieces.concat().into(),
    }
}

/// A gzip stream as the answer to a request: as it is, or unpacked for the few that do not take it.
pub fn packed(kind: &'static str, bytes: Bytes, request: &HeaderMap) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-cache"),
        (header::VARY, "accept-encoding"),
    ];
    if takes_gzip(request) {
        let mut response = (headers, bytes).into_response();
        response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        return response;
    }
    match unpack(&bytes) {
        Ok(plain) => (headers, plain).into_response(),
        Err(error) => {
            let text = format!("the program is damaged, install it again: {error}\n");
            (StatusCode::INTERNAL_SERVER_ERROR, text).into_response()
        }
    }
}

fn unpack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain)?;
    Ok(plain)
}

/// Whether a request names gzip among what it takes (RFC 9110 §12.5.3), and not with a weight of nothing.
fn takes_gzip(request: &HeaderMap) -> bool {
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
            "gzip" | "x-gzip" => return is_taken,
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
    unpack(LICENSES)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepting(value: &str) -> HeaderMap {
        [(header::ACCEPT_ENCODING, value.parse().unwrap())].into_iter().collect()
    }

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        for value in ["gzip", "gzip, deflate, br, zstd", "br;q=1.0, GZIP;q=0.5", "*", "deflate, *;q=0.1"] {
            assert!(takes_gzip(&accepting(value)), "{value}");
        }
        for value in ["", "identity", "br", "gzip;q=0", "gzip; q=0.0, *", "*;q=0", "notgzip"] {
            assert!(!takes_gzip(&accepting(value)), "{value}");
        }
        assert!(!takes_gzip(&HeaderMap::new()));
    }

    /// Each is one whole stream, the trackers out of two pieces; their length and checksum are in its end.
    #[test]
    fn every_file_unpacks() {
        for file in &FILES {
            let plain = unpack(&packed_bytes(file)).unwrap_or_else(|error| panic!("{}: {error}", file.name));
            assert!(plain.len() > 100, "{}", file.name);
        }
        let tasks: Vec<_> = FILES.iter().filter(|file| file.name.ends_with(".task")).collect();
        let [lite, full] = [0, 1].map(|k| unpack(&packed_bytes(tasks[k])).unwrap());
        assert!(lite.len() < full.len());
        for task in [lite, full] {
            // A zip: it begins with a file and ends with the end of its directory, which counts two.
            assert_eq!(task[..4], *b"PK\x03\x04");
            let end = &task[task.len() - 22..];
            assert_eq!((&end[..4], end[10]), (&b"PK\x05\x06"[..], 2));
        }
    }

    #[test]
    fn the_networks_are_said_to_be_changed() {
        let list: serde_json::Value = serde_json::from_slice(&page_licenses().unwrap()).unwrap();
        let list = list.as_array().unwrap();
        let model = list.iter().find(|entry| entry["kind"] == "model").unwrap();
        assert_eq!(model["license"], "Apache-2.0");
        assert!(model["note"].as_str().unwrap().contains("Changed by the build of Sinew"));
        assert!(list.iter().any(|entry| entry["name"] == "three"));
        assert!(list.iter().any(|entry| entry["name"] == "@mediapipe/tasks-vision"));
    }
}
