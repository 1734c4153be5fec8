//! Timing on a noisy machine: alternate the contenders, use medians, compare with memory bandwidth.

use rayon::prelude::*;
use std::{hint::black_box, time::Instant};

/// Time two pieces of work alternately, so that disturbances affect both; medians in milliseconds.
pub fn compare(rounds: usize, mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [f64; 2] {
    let time = |work: &mut dyn FnMut()| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e3
    };
    // The first call of each pays for page faults and caches.
    ours();
    theirs();
    let (mut a, mut b) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        a.push(time(&mut ours));
        b.push(time(&mut theirs));
    }
    [median(a), median(b)]
}

/// Median time of one piece of work, in milliseconds.
pub fn time(rounds: usize, work: impl FnMut()) -> f64 {
    compare(rounds, work, || {})[0]
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Bytes per second of two reads and one write of large arrays on `threads` threads (the STREAM triad).
pub fn triad_bandwidth(threads: usize) -> f64 {
    let n = 16 << 20;
    let (a, b) = (vec![1.0f32; n], vec![2.0f32; n]);
    let mut c = vec![0.0f32; n];
    let chunk = n.div_ceil(threads * 8);
    let ms = in_pool(threads, || {
        time(9, || {
            let inputs = a.par_chunks(chunk).zip(b.par_chunks(chunk));
            c.par_chunks_mut(chunk).zip(inputs).for_each(|(c, (a, b))| {
                for i in 0..c.len() {
                    c[i] = a[i] + 0.5 * b[i];
                }
            });
            black_box(&c);
        })
    });
    (3 * n * size_of::<f32>()) as f64 / (ms * 1e-3)
}

/// Bytes per second that one thread reads from an array of `n_bytes`, whichever cache it fits into.
pub fn read_bandwidth(n_bytes: usize, threads: usize) -> f64 {
    let a = vec![1.0f64; (n_bytes / 8).max(1024)];
    let chunk = a.len().div_ceil(threads);
    let sum = |part: &[f64]| {
        let mut sums = [0.0f64; 16];
        for block in part.as_chunks::<16>().0 {
            (0..16).for_each(|k| sums[k] += block[k]);
        }
        sums.iter().sum::<f64>()
    };
    let ms = in_pool(threads, || {
        time(15, || {
            black_box(a.par_chunks(chunk).map(sum).sum::<f64>());
        })
    });
    size_of_val(a.as_slice()) as f64 / (ms * 1e-3)
}

/// Run inside a pool of this many threads.
pub fn in_pool<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> T {
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}

/// One line of a result: name, Sinew, peer, limit, all in milliseconds.
pub fn print_row(what: &str, ours: f64, peer: &str, theirs: f64, limit: Option<f64>) {
    let limit = limit
        .map_or(String::from("        -          -"), |ms| format!("{ms:9.3} {:9.0} %", 100.0 * ms / ours));
    println!("{what:<38} {ours:10.3} {theirs:12.3} {:8.2}x {limit}  {peer}", theirs / ours);
}

/// Head of the table that [`print_row`] fills.
pub fn print_head() {
    println!(
        "{:<38} {:>10} {:>12} {:>9} {:>9} {:>11}  peer",
        "work", "ours ms", "peer ms", "ratio", "limit ms", "of limit"
    );
}

/// Processor seconds of this process so far on all threads, where the system reports them (Linux). Counted in
/// hundredths, so take many rounds.
pub fn cpu_secs() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name in parentheses may hold spaces; user and system time are the 14th and 15th fields.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<f64>().ok();
    Some((ticks()? + ticks()?) / 100.0)
}

/// Processor seconds of this thread so far, to the microsecond, where the system reports them (Linux); else zero.
pub fn thread_secs() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    stat.split_whitespace()
        .next()
        .and_then(|nanos| nanos.parse::<f64>().ok())
        .map_or(0.0, |nanos| nanos * 1e-9)
}
