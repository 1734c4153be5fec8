//! Hot paths, one line each with its seconds: what [`crate::guard`] compares between two commits.
//!
//! Each path prepares itself, works once to warm up, and is then timed over a fixed number of repetitions, on one thread,
//! in that thread's own processor time where the system reports it (Linux), else in wall time. Short paths are timed again
//! until a third of a second was measured, and the median counts. What only more threads
//! gain or lose is therefore not seen; the other areas show it. Nothing from outside is read.

mod bodies;
mod shapes;

use crate::measure::{in_pool, thread_secs};
use std::time::Instant;

/// One repetition of a prepared path.
type Work = Box<dyn FnMut() -> anyhow::Result<()>>;

/// A path: its name, how often it is repeated, and how it is prepared. Names and repetitions stay as they are: what an older
/// commit measured under a name must be the same work.
struct Hot(&'static str, usize, fn() -> anyhow::Result<Work>);

const PATHS: [Hot; 11] = [
    Hot("pose-frame", 60, shapes::pose_frame),
    Hot("arap-frame", 6, shapes::arap_frame),
    Hot("skinning", 40, shapes::skinning),
    Hot("fit-cloth", 1, shapes::cloth_fit),
    Hot("glb-write", 20, shapes::glb_write),
    Hot("glb-read", 60, shapes::glb_read),
    Hot("obj-read", 20, shapes::obj_read),
    Hot("rules-solve", 500, bodies::rules_solve),
    Hot("refit-walk", 10, bodies::refit_walk),
    Hot("puppet-step", 30, bodies::puppet_step),
    Hot("flesh-step", 100, bodies::flesh_step),
];

/// Names of all paths.
pub fn names() -> Vec<&'static str> {
    PATHS.iter().map(|path| path.0).collect()
}

/// Print `NAME SECONDS` for the paths named, or for all.
pub fn run(words: &[String]) -> anyhow::Result<()> {
    if let Some(word) = words.iter().find(|word| !names().contains(&word.as_str())) {
        anyhow::bail!("there is no hot path {word:?}; there are {}", names().join(", "));
    }
    for path in PATHS.iter().filter(|path| words.is_empty() || words.iter().any(|word| word == path.0)) {
        println!("{} {:.6}", path.0, in_pool(1, || measure(path))?);
    }
    Ok(())
}

/// Seconds that are measured at least: a single timing of 20 ms varies by more than the ratios that the guard looks for.
const MIN_SECS: f64 = 0.33;

/// Median seconds of a path's repetitions.
fn measure(Hot(_, repetitions, prepare): &Hot) -> anyhow::Result<f64> {
    let mut work = prepare()?;
    work()?;
    let mut times = Vec::new();
    while times.iter().sum::<f64>() < MIN_SECS {
        times.push(time(&mut work, *repetitions)?);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[times.len() / 2])
}

fn time(work: &mut Work, repetitions: usize) -> anyhow::Result<f64> {
    let (start, cpu) = (Instant::now(), thread_secs());
    for _ in 0..repetitions {
        work()?;
    }
    let (wall, cpu) = (start.elapsed().as_secs_f64(), thread_secs() - cpu);
    Ok(if cpu > 0.0 { cpu } else { wall.max(f64::EPSILON) })
}
