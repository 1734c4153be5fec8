//! Who may talk to the server, and how much.

use crate::server::Server;
use sinew_studio::StudioOptions;
use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

#[test]
fn foreign_pages_and_names_are_kept_out() {
    let server = Server::sample("guard");
    let host = server.host.clone();
    assert_eq!(server.get("/").0, 200);
    let (status, text) = server.get("/app.js");
    assert!(status == 200 && text.contains("content-security-policy: default-src 'none'"), "{status}");
    let upgrade = |host: &str, origin: &str| {
        let head = format!(
            "GET /ws HTTP/1.1\r\nHost: {host}\r\n{origin}Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        );
        server.raw(&head, b"").0
    };
    assert_eq!(upgrade(&host, "Origin: http://evil.example\r\n"), 403);
    assert_eq!(upgrade(&host, ""), 403);
    let port = host.rsplit(':').next().unwrap();
    let rebound = format!("evil.example:{port}");
    assert_eq!(upgrade(&rebound, &format!("Origin: http://{rebound}\r\n")), 421);
    assert_eq!(server.raw(&format!("GET / HTTP/1.1\r\nHost: {rebound}\r\n"), b"").0, 421);
    let forged = format!(
        "POST /upload?drop=1&name=a.obj HTTP/1.1\r\nHost: {host}\r\nOrigin: http://evil.example\r\nContent-Length: 1\r\n"
    );
    assert_eq!(server.raw(&forged, b"x").0, 403);
    // Nothing of the disk is behind an address.
    for path in [
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/download/../../etc/passwd",
        "/appearance/9",
        "/none",
    ] {
        let (status, text) = server.get(path);
        assert!(status >= 400 && !text.contains("root:"), "{path} {status}");
    }
    let huge = format!(
        "POST /upload?drop=1&name=a.obj HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 2147483648\r\n"
    );
    assert_eq!(server.raw(&huge, b"").0, 413);
    assert_eq!(server.upload("1", "..%2Fa.obj", b"x"), 400);
}

#[test]
fn the_launch_link_lets_in_one_browser() {
    let server = Server::start("link", |_| StudioOptions {
        listen: Some("127.0.0.1".parse().unwrap()),
        ..StudioOptions::default()
    });
    let (host, port) = (&server.host, server.host.rsplit(':').next().unwrap());
    assert!(server.cookie.starts_with(&format!("sinew_{port}=")), "{}", server.cookie);
    let without_cookie =
        |path: &str| server.raw_with(&format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n"), b"");
    // The link was used when the server was started.
    for path in ["/", &server.path, "/launch", "/app.js", "/appearance/0/image/0", "/download/1"] {
        assert_eq!(without_cookie(path).0, 401, "{path}");
    }
    assert!(without_cookie("/").1.contains("sinew studio"), "a page says what to do");
    assert_eq!(server.get("/").0, 200);
    // A browser that is in can let another in.
    let (status, page) = server.get("/launch");
    let link = page.split("/?launch=").nth(1).unwrap();
    let link: String = link.chars().take_while(char::is_ascii_alphanumeric).collect();
    let (first, again) =
        (without_cookie(&format!("/?launch={link}")), without_cookie(&format!("/?launch={link}")));
    assert!(status == 200 && first.0 == 200 && first.1.contains("set-cookie: ") && again.0 == 401);
    // Only the user may read what lets pages in.
    #[cfg(unix)]
    {
        let path = server.folder.join("home/token");
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(path).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
    }
}

/// Connections that say nothing do not keep a browser out, and are closed.
#[test]
fn silent_connections_are_put_out() {
    let server = Server::sample("silent");
    let mut silent: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(&server.host).unwrap();
            stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            stream
        })
        .collect();
    assert_eq!(server.get("/").0, 200);
    // The oldest were closed for the newest.
    silent[0].set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let mut rest = Vec::new();
    let _ = silent[0].read_to_end(&mut rest);
    assert!(rest.is_empty());
    // The last has its ten seconds, and no more.
    let last = silent.last_mut().unwrap();
    last.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let _ = last.read_to_end(&mut rest);
    assert!(!String::from_utf8_lossy(&rest).contains("200 OK"));
}
