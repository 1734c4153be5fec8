//! Skins fitted to sequences: error and processor time, beside py-dem-bones.
//!
//! `sinew_bench fit [--peers] [--bones 20,50] [--only flag,balloon] [--kinds rigid]`, or one of `sinew_bench fit
//! --decimation [FOLDER FOR PLOTS]` (figures 6.6–6.21 of Antonopoulos (2010)), `sinew_bench fit --ground` (known bones,
//! hard meshes, memory) and `sinew_bench fit --stream` (400 frames × 200 k vertices).

mod data;
mod decimation;
mod ground;
mod peers;
mod plots;
mod stream;

use crate::measure::{cpu_secs, in_pool};
use data::Sequence;
use peers::Peer;
use sinew::skin::{BoneKind, FitParams, SkinFitter, no_progress};
use std::{path::Path, time::Instant};

/// The five of the bars, then two more on which rigid bones must not lose.
const SEQUENCES: [&str; 7] =
    ["tablecloth", "flag", "balloon", "horse-collapse", "horse-gallop", "pcow", "samba"];
/// How many of them count in the medians.
const COUNTED: usize = 5;

/// Our fits take a second or two, in which a busy machine shows; the peer's take long enough.
const RUNS: usize = 3;

/// A kind of fit: name, bones, whether the rest pose is corrected, and its bars.
struct Kind {
    name: &'static str,
    transforms: BoneKind,
    correct_rest: bool,
    /// Largest error against the peer's default and against its best setting.
    errors: [f64; 2],
    /// Least speed-up at [`BARS_AT`] bones.
    speeds: [f64; 3],
}

const BARS_AT: [usize; 3] = [20, 50, 100];

const KINDS: [Kind; 4] = [
    Kind {
        name: "affine+rest",
        transforms: BoneKind::Affine,
        correct_rest: true,
        errors: [0.40, 0.60],
        speeds: [7.0, 20.0, 40.0],
    },
    Kind {
        name: "affine",
        transforms: BoneKind::Affine,
        correct_rest: false,
        errors: [0.45, 0.66],
        speeds: [8.0, 20.0, 45.0],
    },
    Kind {
        name: "rigid+rest",
        transforms: BoneKind::Rigid,
        correct_rest: true,
        errors: [0.52, 0.78],
        speeds: [6.0, 12.0, 25.0],
    },
    Kind {
        name: "rigid",
        transforms: BoneKind::Rigid,
        correct_rest: false,
        errors: [0.60, 0.88],
        speeds: [6.0, 12.0, 25.0],
    },
];

/// One fit of ours.
struct Cell {
    error: f64,
    cpu: f64,
    bones: usize,
}

/// What to run.
struct Options {
    with_peers: bool,
    bones: Vec<usize>,
    only: Vec<String>,
    kinds: Vec<String>,
}

/// Print the tables.
pub fn run(arguments: &[String]) -> anyhow::Result<()> {
    match arguments.first().map(String::as_str) {
        Some("--decimation") => return decimation::run(arguments.get(1).map(Path::new)),
        Some("--ground") => return ground::run(),
        Some("--stream") => return stream::run(),
        _ => {}
    }
    let options = parse(arguments)?;
    println!(
        "{:<16}{:>6} {:<12}{:>10}{:>9}{:>8} |{:>11}{:>9}{:>8}{:>8} |{:>11}{:>9}{:>8}{:>8}",
        "sequence",
        "bones",
        "kind",
        "E_diag1",
        "cpu s",
        "used",
        "default",
        "cpu s",
        "error",
        "speed",
        "affine=0",
        "cpu s",
        "error",
        "speed"
    );
    let mut ratios: Vec<(usize, usize, [f64; 2], f64, bool)> = Vec::new();
    for (at, name) in SEQUENCES.iter().enumerate() {
        if !options.only.is_empty() && !options.only.iter().any(|only| only == name) {
            continue;
        }
        let sequence = Sequence::load(name)?;
        for &bones in &options.bones {
            let peers = match options.with_peers {
                true => Some([Peer::run(&sequence, bones, 10.0)?, Peer::run(&sequence, bones, 0.0)?]),
                false => None,
            };
            for (k, kind) in KINDS.iter().enumerate() {
                if !options.kinds.is_empty() && !options.kinds.iter().any(|only| only == kind.name) {
                    continue;
                }
                let cell = fit(&sequence, bones, kind)?;
                if let Some([default, best]) = &peers {
                    let errors = [cell.error / default.error, cell.error / best.error];
                    ratios.push((k, bones, errors, default.cpu / cell.cpu, at < COUNTED));
                }
                print_cell(name, bones, kind, &cell, peers.as_ref());
            }
        }
    }
    summarise(&ratios, &options.bones);
    Ok(())
}

fn parse(arguments: &[String]) -> anyhow::Result<Options> {
    let mut options =
        Options { with_peers: false, bones: BARS_AT.to_vec(), only: Vec::new(), kinds: Vec::new() };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let list = |value: Option<&String>| -> anyhow::Result<Vec<String>> {
            let value = value.ok_or_else(|| anyhow::anyhow!("{argument} needs a list"))?;
            Ok(value.split(',').map(str::to_owned).collect())
        };
        match argument.as_str() {
            "--peers" => options.with_peers = true,
            "--only" => options.only = list(rest.next())?,
            "--kinds" => options.kinds = list(rest.next())?,
            "--bones" => {
                options.bones = list(rest.next())?.iter().map(|n| n.parse()).collect::<Result<_, _>>()?;
            }
            other => anyhow::bail!("there is no option {other}; there are --peers, --bones, --only, --kinds"),
        }
    }
    Ok(options)
}

/// One thread, so that processor time is what the work takes; the median of `RUNS` fits, which all give the same bits.
fn fit(sequence: &Sequence, bones: usize, kind: &Kind) -> anyhow::Result<Cell> {
    let mut cells: Vec<Cell> =
        (0..RUNS).map(|_| fit_once(sequence, bones, kind)).collect::<anyhow::Result<_>>()?;
    cells.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
    Ok(cells.swap_remove(RUNS / 2))
}

fn fit_once(sequence: &Sequence, bones: usize, kind: &Kind) -> anyhow::Result<Cell> {
    in_pool(1, || {
        let mut frames = &sequence.frames;
        let params = FitParams {
            bones,
            transforms: kind.transforms,
            correct_rest: kind.correct_rest,
            ..FitParams::default()
        };
        // The system counts processor time in hundredths; a fit that takes few of them is timed by the clock.
        let (before, start) = (cpu_secs(), Instant::now());
        let fitter = SkinFitter::new(sequence.frames.rest(), &mut frames)?;
        let fit = fitter.fit(&params, &no_progress)?;
        let wall = start.elapsed().as_secs_f64();
        let cpu = before.zip(cpu_secs()).map_or(wall, |(a, b)| b - a);
        let errors = fitter.measure(&fit.skin)?;
        Ok(Cell { error: errors.e_rms_diag1, cpu, bones: fit.skin.n_used_bones() })
    })
}

fn print_cell(name: &str, bones: usize, kind: &Kind, cell: &Cell, peers: Option<&[Peer; 2]>) {
    print!("{name:<16}{bones:>6} {:<12}{:>10.4}{:>9.2}{:>8}", kind.name, cell.error, cell.cpu, cell.bones);
    for peer in peers.into_iter().flatten() {
        let (error, speed) = (cell.error / peer.error, peer.cpu / cell.cpu);
        print!(" |{:>11.4}{:>9.2}{error:>8.3}{speed:>8.1}", peer.error, peer.cpu);
    }
    println!();
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn summarise(ratios: &[(usize, usize, [f64; 2], f64, bool)], bones: &[usize]) {
    if ratios.is_empty() {
        return;
    }
    println!(
        "\nmedians over the first {COUNTED} sequences at {bones:?} bones and over all, with the bars in parentheses; \
         error against the peer's default and its best setting"
    );
    for (k, kind) in KINDS.iter().enumerate() {
        let counted: Vec<_> = ratios.iter().filter(|r| r.0 == k && r.4).collect();
        let at = |n: usize| counted.iter().filter(move |r| r.1 == n);
        print!("{:<12}", kind.name);
        for (which, bar) in kind.errors.iter().enumerate() {
            print!("{}", if which == 0 { " error" } else { ", best" });
            for &n in bones {
                print!(" {:.3}", median(at(n).map(|r| r.2[which]).collect()));
            }
            print!(" all {:.3} ({bar:.2})", median(counted.iter().map(|r| r.2[which]).collect()));
        }
        print!(", speed");
        for &n in bones {
            let bar = BARS_AT.iter().position(|&at| at == n).map_or(f64::NAN, |at| kind.speeds[at]);
            print!(" {:.1} ({bar})", median(at(n).map(|r| r.3).collect()));
        }
        let worst = ratios.iter().filter(|r| r.0 == k).map(|r| r.2[1]).fold(0.0, f64::max);
        println!(", worst against affine=0 {worst:.3}");
    }
}
