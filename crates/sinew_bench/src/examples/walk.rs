//! A walk over flat and hilly ground with every optimiser, and how smooth it is (Hansen (2006), figures 9.17 and 9.19
//! and appendix F).

use super::cases::{Body, body};
use glam::DVec3;
use sinew::{
    deform::examples::{Course, MotionFrame, Objective, Optimiser, SearchParams, Track},
    geom::{
        path::{Ground, Walk, plan_walk},
        sample::PoseSet,
    },
};
use std::{ops::ControlFlow, time::Instant};

const FPS: f64 = 30.0;

/// Print a line for each ground and optimiser.
pub fn run() -> anyhow::Result<()> {
    let body = body(PoseSet::Walk, 2_000)?;
    println!(
        "\n{:<8}{:<22}{:>12}{:>11}{:>12}{:>13}{:>13}{:>12}",
        "walk", "optimiser", "evaluations", "µs/frame", "energy", "feet off %", "jump/median", "RMS jerk"
    );
    let hills = Ground::Hills { height: 0.3, length: 3.0 };
    for (name, ground) in [("flat", Ground::default()), ("hills", hills)] {
        let course = course(&body, &ground)?;
        let residual = SearchParams { residual: true, ..params(Optimiser::Newton) };
        row(&body, &course, name, "newton and residual", &residual)?;
        for optimiser in Optimiser::ALL {
            row(&body, &course, name, optimiser.name(), &params(optimiser))?;
        }
    }
    Ok(())
}

fn params(optimiser: Optimiser) -> SearchParams {
    SearchParams { optimiser, objective: Objective::for_motion(), ..SearchParams::default() }
}

fn course(body: &Body, ground: &Ground) -> anyhow::Result<Course> {
    let feet = [body.space.find_handle("foot.L")?, body.space.find_handle("foot.R")?];
    let walk = Walk { line: vec![[0.0, 0.0], [0.0, 6.0]], stride: 0.6, secs: 1.2, lift: 0.06, stance: 0.5 };
    let (paths, way) = plan_walk(&walk, feet.map(|h| body.space.rest_grips()[h]), ground)?;
    let tracks = feet.into_iter().zip(paths);
    let tracks =
        tracks.map(|(handle, path)| Track { handle, path, is_pinned: true, carries: true }).collect();
    Ok(Course { tracks, way: Some(way), ground: Some(ground.clone()), abrupt: false })
}

fn row(body: &Body, course: &Course, ground: &str, name: &str, params: &SearchParams) -> anyhow::Result<()> {
    let mut frames: Vec<MotionFrame> = Vec::new();
    let start = Instant::now();
    body.space.follow(course, params, FPS, &mut |_, _, frame| {
        frames.push(frame.clone());
        ControlFlow::Continue(())
    })?;
    let us = start.elapsed().as_secs_f64() * 1e6 / frames.len() as f64;
    // The first frame settles; what comes after is what a user waits for.
    let frames = &frames[1..];
    let n = frames.len() as f64;
    let mean = |value: &dyn Fn(&MotionFrame) -> f64| frames.iter().map(value).sum::<f64>() / n;
    let height = 10.0 * body.space.unit();
    let grips: Vec<Vec<DVec3>> = frames.iter().map(MotionFrame::world_grips).collect();
    println!(
        "{ground:<8}{name:<22}{:>12.0}{us:>11.1}{:>12.5}{:>13.4}{:>13.2}{:>12.1}",
        mean(&|f| f.found.evaluations as f64),
        mean(&|f| f.found.energy),
        100.0 * mean(&|f| f.found.target_errors(&f.targets)[0]) / height,
        jump(&grips),
        jerk(&grips)
    );
    Ok(())
}

/// Greatest step of a handle from frame to frame, in medians of all steps.
fn jump(grips: &[Vec<DVec3>]) -> f64 {
    let mut steps: Vec<f64> = grips
        .windows(2)
        .flat_map(|pair| pair[0].iter().zip(&pair[1]).map(|(a, b)| a.distance(*b)).collect::<Vec<_>>())
        .collect();
    steps.sort_by(f64::total_cmp);
    steps[steps.len() - 1] / steps[steps.len() / 2]
}

/// Third difference of all handles, m/s³.
fn jerk(grips: &[Vec<DVec3>]) -> f64 {
    let (mut sum, mut n) = (0.0, 0usize);
    for four in grips.windows(4) {
        for h in 0..four[0].len() {
            let third = four[3][h] - 3.0 * four[2][h] + 3.0 * four[1][h] - four[0][h];
            sum += (third * FPS.powi(3)).length_squared();
            n += 1;
        }
    }
    (sum / n.max(1) as f64).sqrt()
}
