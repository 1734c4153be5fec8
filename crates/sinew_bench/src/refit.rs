//! `sinew_bench refit`: walks on other bodies and grounds, beside copied angles and fits frame by frame.
//!
//! The walks of `data/bvh` on four bodies and seven grounds. Copying angles is what most tools do; a fit of every
//! frame on its own is what inverse kinematics in a game engine does.

use crate::{measure::cpu_secs, places};
use anyhow::{Context, ensure};
use sinew::{
    constrain::clip::{Body, Measures, Motion, Refit, RefitParams, refit, scale_limbs},
    formats::{Content, read_any},
    geom::{Rig, Warnings, body_map::BodyMap},
};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Instant,
};

/// The walks among the recordings.
const WALKS: [&str; 3] = [
    "cmu/02_01.bvh",
    "bandai-namco/dataset-1_walk_normal_001.bvh",
    "bandai-namco/dataset-1_walk_giant_001.bvh",
];
/// Bodies, as limbs of other lengths.
const BODIES: [(&str, &[(&str, f64)]); 4] = [
    ("short legs", &[("legs", 0.75)]),
    ("long legs", &[("legs", 1.2)]),
    ("child 0.6", &[("all", 0.6)]),
    ("long arms", &[("arms", 1.3)]),
];
/// Grounds as the command line names them.
const GROUNDS: [&str; 7] =
    ["flat", "slope:10", "slope:-10", "slope:20", "slope:-20", "steps:0.15,0.6", "hills"];

/// Where the recordings are.
fn data() -> PathBuf {
    places::data().join("bvh")
}

/// A recording in metres.
fn open(path: &Path) -> anyhow::Result<(Rig, Motion)> {
    let content = read_any(path, &mut Warnings::default())?;
    let Content::Bvh(file) = content else { anyhow::bail!("{}: no BVH", path.display()) };
    let rig = file.character.rig.as_ref().context("no skeleton")?;
    let unit = BodyMap::read(rig, &file.character.clips).metres_per_unit.unwrap_or(1.0);
    let character = file.character.scaled(unit)?;
    let rig = character.rig.context("no skeleton")?;
    let clip = character.clips.first().context("no clip")?;
    let motion = Motion::from_clip(&rig, clip, (1.0 / file.frame_secs).round())?;
    Ok((rig, motion))
}

/// Sums over cases.
#[derive(Default, Clone, Copy)]
struct Row {
    n: f64,
    slide: f64,
    drift: f64,
    height: f64,
    penetration: f64,
    deepest: f64,
    jerk: f64,
    violations: usize,
}

impl Row {
    fn add(&mut self, m: &Measures, source: &Measures) {
        self.n += 1.0;
        self.slide += 100.0 * m.slide;
        self.drift += 100.0 * m.drift;
        self.height += 100.0 * m.height_error;
        self.penetration += 100.0 * m.penetration;
        self.deepest = self.deepest.max(100.0 * m.penetration);
        self.jerk += m.jerk / source.jerk;
        self.violations += m.limit_violations;
    }

    fn print(&self, what: &str) {
        let mean = |x: f64| x / self.n.max(1.0);
        println!(
            "{what:<42} {:>9.2} {:>8.3} {:>8.3} {:>9.3} {:>9.3} {:>7.2} {:>7}",
            mean(self.slide),
            mean(self.drift),
            mean(self.height),
            mean(self.penetration),
            self.deepest,
            mean(self.jerk),
            self.violations
        );
    }
}

fn head() {
    println!(
        "{:<42} {:>9} {:>8} {:>8} {:>9} {:>9} {:>7} {:>7}",
        "mean of", "slide", "drift", "height", "sinks", "deepest", "jerk", "ranges"
    );
    println!(
        "{:<42} {:>9} {:>8} {:>8} {:>9} {:>9} {:>7} {:>7}",
        "", "cm/s", "cm", "cm", "cm", "cm", "ratio", "broken"
    );
}

fn fit(walk: &(Rig, Motion), target: &Rig, ground: &str, together: bool) -> anyhow::Result<(Refit, f64)> {
    let params =
        RefitParams { ground: Some(ground.parse()?), still_feet: true, together, ..RefitParams::default() };
    let start = Instant::now();
    let mut on = |_| ControlFlow::Continue(());
    let fitted = refit((&walk.0, &walk.1), target, &params, &mut Warnings::default(), &mut on)?;
    Ok((fitted, start.elapsed().as_secs_f64()))
}

/// The table of all cases, one line a walk, body and ground with `--all`.
pub fn run(options: &[String]) -> anyhow::Result<()> {
    let known = ["--all"];
    ensure!(options.iter().all(|o| known.contains(&o.as_str())), "usage: sinew_bench refit [--all]");
    let shows_all = !options.is_empty();
    let (mut total, mut copied, mut single) = (Row::default(), Row::default(), Row::default());
    let mut by_ground = [Row::default(); GROUNDS.len()];
    let mut by_body = [Row::default(); BODIES.len()];
    let mut by_walk = [Row::default(); WALKS.len()];
    let mut times = Vec::new();
    head();
    for (w, name) in WALKS.iter().enumerate() {
        let walk = open(&data().join(name))?;
        let body = Body::find(&walk.0, &[])?;
        for (b, (body_name, limbs)) in BODIES.iter().enumerate() {
            let limbs: Vec<(String, f64)> = limbs.iter().map(|(part, x)| ((*part).to_owned(), *x)).collect();
            let target = scale_limbs(&walk.0, &body, &limbs)?;
            for (g, ground) in GROUNDS.iter().enumerate() {
                let cpu = cpu_secs();
                let (ours, secs) = fit(&walk, &target, ground, true)?;
                let cpu = cpu_secs().zip(cpu).map_or(secs, |(now, then)| now - then);
                times.push((secs * 300.0 / walk.1.n_frames() as f64, cpu * 300.0 / walk.1.n_frames() as f64));
                let (alone, _) = fit(&walk, &target, ground, false)?;
                let source = &ours.report.source;
                for row in [&mut total, &mut by_ground[g], &mut by_body[b], &mut by_walk[w]] {
                    row.add(&ours.report.fitted, source);
                }
                copied.add(&ours.report.copied, source);
                single.add(&alone.report.fitted, source);
                if shows_all {
                    let mut row = Row::default();
                    row.add(&ours.report.fitted, source);
                    let short = name.rsplit('/').next().unwrap_or(name).trim_start_matches("dataset-1_");
                    row.print(&format!("{short} {body_name} {ground} ({})", ours.report.rounds));
                }
            }
        }
    }
    println!();
    by_walk.iter().zip(WALKS).for_each(|(row, name)| row.print(name));
    by_body.iter().zip(BODIES).for_each(|(row, (name, _))| row.print(name));
    by_ground.iter().zip(GROUNDS).for_each(|(row, name)| row.print(name));
    println!();
    copied.print("copied angles");
    single.print("each frame alone");
    total.print("refit");
    println!("{:<42} {:>9} {:>8} {:>8} {:>9} {:>9} {:>7} {:>7}", "bar", 1.0, 0.5, "", "", 0.5, 1.2, 0);
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (middle, worst) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "300 frames: {:.3} s median ({:.3} s processor), {:.3} s worst (bar 0.5)",
        middle.0, middle.1, worst.0
    );
    round_trips()
}

/// There and back: the angles of a clip fitted to another body and back to its own.
fn round_trips() -> anyhow::Result<()> {
    println!("\nthere and back on flat ground, mean angle of a joint (bar 2 degrees)");
    for name in WALKS {
        let walk = open(&data().join(name))?;
        let body = Body::find(&walk.0, &[])?;
        for (body_name, limbs) in BODIES {
            let limbs: Vec<(String, f64)> = limbs.iter().map(|(part, x)| ((*part).to_owned(), *x)).collect();
            let target = scale_limbs(&walk.0, &body, &limbs)?;
            let (there, _) = fit(&walk, &target, "flat", true)?;
            let (back, _) = fit(&(target, there.motion), &walk.0, "flat", true)?;
            let (mut sum, mut n) = (0.0, 0.0);
            for (a, b) in walk.1.poses.iter().zip(&back.motion.poses) {
                for (a, b) in a.locals.iter().zip(&b.locals) {
                    sum += 2.0 * a.rotation.dot(b.rotation).abs().min(1.0).acos();
                    n += 1.0;
                }
            }
            println!("{name:<46} {body_name:<12} {:.3}", (sum / n).to_degrees());
        }
    }
    Ok(())
}
