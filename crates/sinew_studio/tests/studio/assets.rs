//! The page as browsers and simpler programs get it.

use super::*;
use brotli_decompressor::BrotliDecompress;

/// Head and body of an answer.
fn fetch(server: &Server, path: &str, accepts: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(&server.host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let (host, cookie) = (&server.host, &server.cookie);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n{accepts}Connection: close\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
    let body = bytes.split_off(end + 4);
    (String::from_utf8(bytes).unwrap().to_ascii_lowercase(), body)
}

#[test]
fn files_are_sent_packed_and_unpacked_to_those_who_cannot() {
    let server = Server::sample("packed");
    let files = [
        ("/", "text/html"),
        ("/app.js", "text/javascript"),
        ("/app.css", "text/css"),
        ("/pose.js", "text/javascript"),
        ("/pose-wasm.js", "text/javascript"),
        ("/pose.wasm", "application/wasm"),
        ("/pose-lite.task", "application/octet-stream"),
        ("/pose-full.task", "application/octet-stream"),
    ];
    for (path, kind) in files {
        let (head, packed) = fetch(&server, path, "Accept-Encoding: gzip, deflate, br, zstd\r\n");
        assert!(head.contains("vary: accept-encoding"), "{head}");
        let mut unpacked = Vec::new();
        // The trackers are put together out of two pieces and sent as they are.
        if path.ends_with(".task") {
            assert!(!head.contains("content-encoding"), "{head}");
            unpacked = packed;
        } else {
            assert!(head.contains("content-encoding: br"), "{head}");
            BrotliDecompress(&mut &packed[..], &mut unpacked).unwrap();
            assert!(packed.len() < unpacked.len(), "{path}");
        }
        for accepts in ["", "Accept-Encoding: identity\r\n", "Accept-Encoding: br;q=0, gzip\r\n"] {
            let (head, plain) = fetch(&server, path, accepts);
            assert!(head.starts_with("http/1.1 200") && !head.contains("content-encoding"), "{head}");
            assert!(head.contains(&format!("content-type: {kind}")), "{head}");
            assert!(plain == unpacked, "{path} is the same either way");
        }
    }
}

#[test]
fn licences_are_what_the_program_was_given() {
    let server = Server::start("licenses", |_| StudioOptions {
        licenses: r#"{"packages":[]}"#.to_owned(),
        ..StudioOptions::default()
    });
    let (head, body) = fetch(&server, "/licenses.json", "");
    assert!(head.contains("content-type: application/json"), "{head}");
    assert_eq!(body, br#"{"packages":[]}"#);
}
