//! Ten thousand hostile connections on loopback, for a few seconds: an honest page does not notice. Measured, so not part of the
//! usual run, and only on a machine that does nothing else:
//! `ulimit -n 32768; cargo test -p sinew_studio --test studio -- --ignored --nocapture hostile`.

use crate::{raise, server::Server};
use std::{
    io::Write,
    net::TcpStream,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::{Duration, Instant},
};

const N_SOCKETS: usize = 10_000;
/// Drags that are measured before the attack.
const N_BEFORE: usize = 200;
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

/// The time that 99 of 100 drags stay below, and all of it for people.
fn summary(mut times: Vec<Duration>) -> (Duration, String) {
    times.sort();
    let (n, p99) = (times.len(), times[times.len() * 99 / 100]);
    (p99, format!("{n} drags: median {:?}, p99 {p99:?}, worst {:?}", times[n / 2], times[n - 1]))
}

#[test]
#[ignore = "a measurement"]
fn hostile_sockets_are_not_noticed() {
    let server = Server::sample("hostile");
    let mut page = server.page();
    page.drag(1, raise(1.0), true);
    let mut next = 2;
    let mut drag = || {
        let begun = Instant::now();
        page.drag(next, raise(f64::from(next % 40)), true);
        next += 1;
        begun.elapsed()
    };
    println!("before: {}", summary((0..N_BEFORE).map(|_| drag()).collect()).1);
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
        while !is_over.load(Ordering::Relaxed) {
            times.push(drag());
        }
    });
    // A browser that comes now gets in.
    assert_eq!(server.get("/").0, 200);
    let (p99, times) = summary(times);
    let memory = memory_mb();
    println!("{} sockets: {times}; {memory} MB", n_open.into_inner());
    assert!(p99 < MAX_DRAG && memory < MAX_MEMORY_MB);
}
