//! Ten thousand connections that mean no good, on loopback and for a few seconds: an honest page does not notice. Measured, so not
//! part of the usual run: `ulimit -n 32768; cargo test -p sinew_studio --test studio -- --ignored --nocapture hostile`.

use crate::{raise, server::Server};
use std::{
    io::Write,
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const N_SOCKETS: usize = 10_000;
const MAX_MEMORY_MB: usize = 500;
const MAX_DRAG: Duration = Duration::from_millis(100);

/// Resident memory of this process, server and attackers together.
fn memory_mb() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<usize>().ok()).unwrap_or(0) / 1024
}

/// One of the things that connections without the cookie can do.
fn attack(server: &Server, k: usize) -> Option<TcpStream> {
    let mut stream = TcpStream::connect(&server.host).ok()?;
    let host = &server.host;
    let text = match k % 5 {
        0 => String::new(),
        1 => "GET / HTTP/1.1\r\nHost: ".to_owned(),
        2 => format!("GET / HTTP/1.1\r\nHost: {host}\r\nCookie: sinew=0\r\n\r\n"),
        3 => format!("GET / HTTP/1.1\r\nHost: {host}\r\nX: {}", "x".repeat(60_000)),
        _ => format!(
            "POST /upload?drop=1&name=a HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: 999999999\r\n\r\n"
        ),
    };
    stream.set_write_timeout(Some(Duration::from_secs(1))).ok()?;
    let _ = stream.write_all(text.as_bytes());
    Some(stream)
}

#[test]
#[ignore = "a measurement"]
fn hostile_sockets_are_not_noticed() {
    let server = Server::sample("hostile");
    let mut page = server.page();
    page.drag(1, raise(1.0), true);
    let (is_over, n_open) = (AtomicBool::new(false), AtomicUsize::new(0));
    let mut times: Vec<Duration> = Vec::new();
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (server, is_over, n_open) = (&server, &is_over, &n_open);
            scope.spawn(move || {
                let mut open = Vec::new();
                for k in 0..N_SOCKETS / 4 {
                    open.extend(attack(server, k + part));
                    n_open.fetch_add(1, Ordering::Relaxed);
                }
                // A connection that was closed is opened again, for as long as it takes.
                let end = Instant::now() + Duration::from_secs(5);
                let mut k = 0;
                while Instant::now() < end {
                    if let (Some(stream), Some(slot)) = (attack(server, k), open.get_mut(k % (N_SOCKETS / 4)))
                    {
                        *slot = stream;
                    }
                    k += 1;
                }
                is_over.store(true, Ordering::Relaxed);
            });
        }
        let mut drag = 2;
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            page.drag(drag, raise(f64::from(drag % 40)), true);
            times.push(begun.elapsed());
            drag += 1;
        }
    });
    // A browser that comes now gets in.
    assert_eq!(server.get("/").0, 200);
    times.sort();
    let p99 = times[times.len() * 99 / 100];
    let memory = memory_mb();
    println!(
        "{} sockets, {} drags: median {:?}, p99 {p99:?}, worst {:?}; {memory} MB",
        n_open.into_inner(),
        times.len(),
        times[times.len() / 2],
        times[times.len() - 1]
    );
    assert!(p99 < MAX_DRAG && memory < MAX_MEMORY_MB);
}
