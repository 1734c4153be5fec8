//! Every optimiser on every objective, setting and set: Hansen (2006), tables 9.6 and 9.7.

use super::cases::{Body, OBJECTIVES, SETTINGS, body, targets};
use sinew::{
    deform::examples::{Optimiser, SearchParams, SearchResult, Start, Target},
    geom::sample::PoseSet,
};
use std::{hint::black_box, time::Instant};

/// Frames for which a constraint is held still: local searches converge within them.
const ROUNDS: usize = 60;

/// One line of the table.
pub struct Row {
    /// Set, setting and objective.
    pub case: String,
    pub optimiser: Optimiser,
    pub evaluations: usize,
    pub us: f64,
    pub energy: f64,
    /// Share of the body's height by which targets are missed, on average.
    pub missed: f64,
}

/// All lines.
pub fn rows() -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (set, name) in [(PoseSet::Walk, "A"), (PoseSet::Limbs, "B")] {
        let body = body(set, 2_000)?;
        for (setting, wanted) in SETTINGS {
            let targets = targets(&body.space, wanted)?;
            for objective in OBJECTIVES {
                for optimiser in Optimiser::ALL {
                    let params = params(optimiser, objective)?;
                    let (found, us) = timed(&body, &targets, &params)?;
                    rows.push(Row {
                        case: format!("{name} {setting:<9} {objective}"),
                        optimiser,
                        evaluations: found.evaluations,
                        us,
                        energy: found.energy,
                        missed: found.target_errors(&targets)[0] / (10.0 * body.space.unit()),
                    });
                }
            }
        }
    }
    Ok(rows)
}

fn params(optimiser: Optimiser, objective: &str) -> anyhow::Result<SearchParams> {
    // A search of a single pose from rest: local methods run until they converge, ours may also search elsewhere.
    Ok(SearchParams {
        optimiser,
        objective: objective.parse()?,
        rounds: if optimiser == Optimiser::Newton { 1 } else { ROUNDS },
        multi_start: true,
        ..SearchParams::default()
    })
}

fn timed(body: &Body, targets: &[Target], params: &SearchParams) -> anyhow::Result<(SearchResult, f64)> {
    let grips = body.space.rest_grips();
    let start = Start { weights: &[], grips: Some(grips), ..Start::default() };
    let found = body.space.search(targets, params, &start)?;
    let mut times = Vec::new();
    for _ in 0..7 {
        let now = Instant::now();
        black_box(body.space.search(targets, params, &start)?);
        times.push(now.elapsed().as_secs_f64() * 1e6);
    }
    times.sort_by(f64::total_cmp);
    Ok((found, times[times.len() / 2]))
}

/// Print the lines, and where ours is not the best or not the fastest of the best.
pub fn print(rows: &[Row]) {
    println!(
        "\n{:<36}{:<14}{:>12}{:>11}{:>12}{:>12}",
        "set, setting, objective", "optimiser", "evaluations", "µs", "energy", "missed %"
    );
    let (mut worse, mut slower) = (0, 0);
    for case in rows.chunk_by(|a, b| a.case == b.case) {
        let best = case.iter().map(|row| row.energy).fold(f64::INFINITY, f64::min);
        let near = case.iter().filter(|row| row.energy <= best * 1.01 + 1e-9);
        let fastest = near.map(|row| row.us).fold(f64::INFINITY, f64::min);
        for row in case {
            let ours = row.optimiser == Optimiser::Newton;
            let lost = ours && row.energy > best * (1.0 + 1e-6) + 1e-9;
            let slow = ours && row.us > fastest;
            (worse, slower) = (worse + usize::from(lost), slower + usize::from(slow));
            println!(
                "{:<36}{:<14}{:>12}{:>11.1}{:>12.6}{:>12.3}{}{}",
                row.case,
                row.optimiser.name(),
                row.evaluations,
                row.us,
                row.energy,
                100.0 * row.missed,
                if lost { "  not the least energy" } else { "" },
                if slow { "  not the fastest" } else { "" }
            );
        }
    }
    let n = rows.len() / Optimiser::ALL.len();
    println!(
        "newton: least energy in {} of {n} cases, fastest of those within 1 % in {}",
        n - worse,
        n - slower
    );
}
