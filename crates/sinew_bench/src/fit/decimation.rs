//! Figures 6.6 to 6.21 of Antonopoulos (2010) as tables: time and errors over the fraction of vertices removed, for
//! eight variants on four sequences; and the default fit on a decimated sequence.

use super::{
    data::Sequence,
    plots::{self, Curve},
};
use crate::measure::{cpu_secs, in_pool};
use sinew::skin::{
    Blending, DecimateParams, FitParams, Grouping, Merge, Placement, Queue, SkinFitter, ThesisParams,
    no_progress,
};
use std::{path::Path, time::Instant};

const SEQUENCES: [&str; 4] = ["tablecloth", "flag", "horse-collapse", "balloon"];
const AMOUNTS: [f64; 7] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6];
const BONES: usize = 50;

/// Print the tables; with a folder, write plots of them into it.
pub fn run(folder: Option<&Path>) -> anyhow::Result<()> {
    for name in SEQUENCES {
        let sequence = Sequence::load(name)?;
        let curves = in_pool(1, || tables(&sequence))?;
        if let Some(folder) = folder {
            plots::write(folder, name, &AMOUNTS, &curves)?;
        }
    }
    Ok(())
}

fn tables(sequence: &Sequence) -> anyhow::Result<Vec<Curve>> {
    let mut frames = &sequence.frames;
    let fitter = SkinFitter::new(sequence.frames.rest(), &mut frames)?;
    println!("\n{} (50 bones; columns: share of the vertices removed)", sequence.name);
    println!("{:<18}{:<12}{}", "variant", "", AMOUNTS.map(|a| format!("{:>10.0} %", 100.0 * a)).concat());
    let mut curves = Vec::new();
    for corrected in [false, true] {
        for placement in [Placement::PCenter, Placement::Deform(Grouping::RegionGrowing)] {
            for merge in [Merge::Optimal, Merge::Second] {
                curves.push(variant(&fitter, placement, merge, corrected)?);
            }
        }
    }
    default_fit(&fitter)?;
    Ok(curves)
}

fn variant(
    fitter: &SkinFitter,
    placement: Placement,
    merge: Merge,
    corrected: bool,
) -> anyhow::Result<Curve> {
    let is_pcenter = placement == Placement::PCenter;
    let params = ThesisParams {
        bones: BONES,
        placement,
        blending: if is_pcenter { Blending::Distance } else { Blending::Convolution },
        correct_weights: corrected,
        correct_rest: corrected,
        ..ThesisParams::default()
    };
    let short = if merge == Merge::Optimal { "OS" } else { "SE" };
    let name = match (corrected, is_pcenter) {
        (false, true) => format!("{short}(PC)"),
        (false, false) => format!("{short}(Deform)"),
        (true, true) => format!("{short}(Corr)"),
        (true, false) => format!("{short}(Corr_Deform)"),
    };
    let mut points = Vec::new();
    for amount in AMOUNTS {
        let queue = if is_pcenter { Queue::Global } else { Queue::Regions { shuffling_ratio: 0.2 } };
        let decimate = DecimateParams { amount, merge, queue };
        let ((fit, left), seconds) = timed(|| {
            Ok(match amount > 0.0 {
                true => fitter.fit_thesis_decimated(&params, &decimate, &no_progress)?,
                false => (fitter.fit_thesis(&params, &no_progress)?, fitter.n_vertices()),
            })
        })?;
        let errors = fitter.measure(&fit.skin)?;
        let cells = [seconds, left as f64, errors.de, errors.e_rms, errors.d_avg];
        points.push(cells);
    }
    for (at, what) in ["seconds", "vertices", "dE", "E_RMS", "d_avg"].iter().enumerate() {
        let row: String = points.iter().map(|cells| format!("{:>12.4}", cells[at])).collect();
        println!("{name:<18}{what:<12}{row}");
    }
    Ok((name, points))
}

/// Processor time of work on one thread. The system counts it in hundredths; what takes few of them is timed by the
/// clock.
fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, f64)> {
    const MIN_SECS: f64 = 0.2;
    let (before, start) = (cpu_secs(), Instant::now());
    let done = work()?;
    let wall = start.elapsed().as_secs_f64();
    let cpu = before.zip(cpu_secs()).map(|(before, after)| after - before).filter(|cpu| *cpu > MIN_SECS);
    Ok((done, cpu.unwrap_or(wall)))
}

/// Runs of a fit, of which the median counts.
const RUNS: usize = 5;

/// The default fit: its own time without the decimation, which several fits can share.
fn default_fit(fitter: &SkinFitter) -> anyhow::Result<()> {
    let params = FitParams { bones: BONES, ..FitParams::default() };
    let (mut seconds, mut ratio) = (String::new(), String::new());
    let mut whole = (0.0, 0.0);
    for amount in AMOUNTS {
        let small = fitter.decimate(&DecimateParams { amount, ..DecimateParams::default() })?;
        let mut runs = Vec::new();
        for _ in 0..RUNS {
            runs.push(timed(|| {
                Ok(match amount > 0.0 {
                    true => fitter.fit_decimated(&params, &small, &no_progress)?,
                    false => fitter.fit(&params, &no_progress)?,
                })
            })?);
        }
        runs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (fit, took) = &runs[RUNS / 2];
        let error = fitter.measure(&fit.skin)?.e_rms;
        whole = if amount > 0.0 { whole } else { (*took, error) };
        seconds += &format!("{:>9.2} s  ", took);
        ratio += &format!("{:>5.2}x{:>+5.1}%", whole.0 / took, 100.0 * (error / whole.1 - 1.0));
    }
    println!("{:<18}{:<12}{seconds}", "default", "seconds");
    println!("{:<18}{:<12}{ratio}", "default", "gain, error");
    Ok(())
}
