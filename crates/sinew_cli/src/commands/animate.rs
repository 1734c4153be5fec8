//! `sinew animate`: a motion out of example poses, along paths or from example to example.

use super::examples::SearchArgs;
use super::{
    examples::{Body, open, params},
    input::with_path,
    output::{check_name, rate, write_motion_clip},
};
use crate::console::Console;
use anyhow::Context;
use clap::Args;
use glam::{DQuat, DVec3, Vec3};
use serde_json::{Value, json};
use sinew::{
    deform::{
        DeformError, HandlePose,
        examples::{Course, MotionFrame, Objective, SearchParams},
    },
    formats::paths::read_paths,
    geom::{MeshSequence, Warnings},
    session::{DEFAULT_FPS, build_course, check_sequence},
};
use std::path::PathBuf;
use std::{ops::ControlFlow, time::Instant};

/// Move a character along paths or from example to example
#[derive(Args)]
#[command(after_help = "paths.json: {\"walk\":{\"line\":[[0,0],[0,4]],\"feet\":[\"foot.L\",\"foot.R\"]},\
                        \"ground\":{\"hills\":{\"height\":0.3,\"length\":3}}}\n  \
                        or {\"paths\":[{\"handle\":\"hand.L\",\"points\":[[0.3,1.2,0.4],[0.3,1.5,0.4]],\
                        \"seconds\":2,\"pin\":true}]}\nGround: {\"flat\":0}, {\"steps\":{\"rise\":0.15,\
                        \"run\":0.3,\"count\":5}}, hills, {\"field\":{\"cell\":1,\"heights\":[[0,1],[1,0]]}}")]
pub struct AnimateArgs {
    /// Project with handles and example poses
    pub project: PathBuf,
    /// Paths, walk and ground (paths.json)
    #[arg(long, value_name = "FILE", required_unless_present = "keyframes", conflicts_with = "keyframes")]
    pub paths: Option<PathBuf>,
    /// Examples to pass through in this order
    #[arg(long, value_name = "NAME,NAME,…")]
    pub keyframes: Option<String>,
    /// Seconds between keyframes
    #[arg(long, value_name = "S", default_value_t = 0.5)]
    pub seconds: f64,
    /// Frames per second
    #[arg(long, default_value_t = DEFAULT_FPS)]
    pub fps: f64,
    #[command(flatten)]
    pub search: SearchArgs,
    /// File to write: the character with the motion as a clip of its skeleton or its handles (glb), or a folder of obj files
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &AnimateArgs, console: &Console) -> anyhow::Result<()> {
    let seed = console.seed;
    check_name(&args.output, true)?;
    let mut warnings = Warnings::default();
    let body = open(&args.project, args.search.poses, console, &mut warnings)?;
    let mut report = json!({});
    let start = Instant::now();
    let poses = match (&args.paths, &args.keyframes) {
        (Some(path), _) => {
            let file = read_paths(
                &std::fs::read(path).with_context(|| path.display().to_string())?,
                &path.to_string_lossy(),
            )?;
            match file.keyframes.clone() {
                Some(keys) if file.paths.is_empty() && file.walk.is_none() => {
                    keyframes(&body, &keys.examples, keys.seconds, args.fps)?
                }
                _ => {
                    let course = build_course(&body.space, file, body.document.height())
                        .map_err(|error| with_path(error, path))?;
                    let params = params(&args.search, Objective::for_motion(), seed)?;
                    follow(&body, &course, &params, args, console, &mut report)?
                }
            }
        }
        (None, Some(names)) => {
            let names: Vec<String> = names.split(',').map(|name| name.trim().to_owned()).collect();
            keyframes(&body, &names, args.seconds, args.fps)?
        }
        (None, None) => anyhow::bail!("give --paths FILE or --keyframes NAME,NAME,…"),
    };
    let search_ms = start.elapsed().as_secs_f64() * 1e3;
    check_sequence(poses.len() as f64, body.document.mesh().n_vertices())?;
    let frames = solve(&body, &poses, console, &mut warnings)?;
    let total_ms = start.elapsed().as_secs_f64() * 1e3;
    let sequence = MeshSequence::new(body.document.mesh().clone(), frames, args.fps)?;
    let written = {
        let _progress = console.progress("writing");
        let (document, name) = (&body.document, &body.document.name);
        write_motion_clip(document, &sequence, name, &args.output, &mut report, &mut warnings)?
    };
    console.warn(&args.project, &warnings);
    report["frames"] = json!(poses.len());
    report["fps"] = json!(args.fps);
    report["search_ms_per_frame"] = json!(search_ms / poses.len() as f64);
    report["ms_per_frame"] = json!(total_ms / poses.len() as f64);
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(written);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

/// A pose with its detail layer, and the place of the body.
struct Placed {
    pose: HandlePose,
    detail: Option<Vec<f32>>,
    turn: DQuat,
    shift: DVec3,
}

fn follow(
    body: &Body,
    course: &Course,
    params: &SearchParams,
    args: &AnimateArgs,
    console: &Console,
    report: &mut Value,
) -> anyhow::Result<Vec<Placed>> {
    let progress = console.progress("searching");
    let mut poses = Vec::new();
    let (mut errors, mut evaluations) = (Vec::new(), 0);
    let mut each = |at: usize, n: usize, frame: &MotionFrame| {
        let detail = body.space.detail(&frame.found.weights);
        poses.push(Placed { pose: frame.pose.clone(), detail, turn: frame.turn, shift: frame.shift });
        errors.push(frame.found.target_errors(&frame.targets));
        evaluations += frame.found.evaluations;
        progress.update((at + 1) as f64 / n as f64)
    };
    match body.space.follow(course, params, args.fps, &mut each) {
        // It is stopped by ending the program, so the progress is not read then.
        Err(DeformError::Cancelled) | Ok(()) => {}
        Err(error) => return Err(with_path(error, &args.project)),
    }
    let n = errors.len().max(1) as f64;
    report["target_error_mean"] = json!(errors.iter().map(|e| e[0]).sum::<f64>() / n);
    report["target_error_max"] = json!(errors.iter().map(|e| e[1]).fold(0.0, f64::max));
    report["evaluations_per_frame"] = json!(evaluations as f64 / n);
    report["optimiser"] = json!(params.optimiser.name());
    report["objective"] = json!(params.objective.to_string());
    Ok(poses)
}

fn keyframes(body: &Body, names: &[String], secs: f64, fps: f64) -> anyhow::Result<Vec<Placed>> {
    let known: Vec<&str> = body.space.example_names().collect();
    let find = |name: &String| {
        known
            .iter()
            .position(|found| found == name)
            .with_context(|| format!("there is no example {name:?}; there are: {}", known.join(", ")))
    };
    let examples = names.iter().map(find).collect::<anyhow::Result<Vec<_>>>()?;
    let frames = body.space.keyframes(&examples, secs, fps)?;
    let placed = |(weights, pose): (Vec<f64>, HandlePose)| Placed {
        pose,
        detail: body.space.detail(&weights),
        turn: DQuat::IDENTITY,
        shift: DVec3::ZERO,
    };
    Ok(frames.into_iter().map(placed).collect())
}

fn solve(
    body: &Body,
    poses: &[Placed],
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Vec<Vec<Vec3>>> {
    let editor = body.editor(console, warnings)?;
    let progress = console.progress("posing");
    let mut positions = body.document.mesh().positions().to_vec();
    let mut frames = Vec::with_capacity(poses.len());
    let normals = body.rest_normals();
    for (at, Placed { pose, detail, turn, shift }) in poses.iter().enumerate() {
        editor.solve_with_detail(pose, &normals, detail.as_deref(), &mut positions)?;
        frames.push(positions.iter().map(|p| (*turn * *p + *shift).as_vec3()).collect());
        if progress.update((at + 1) as f64 / poses.len() as f64) == ControlFlow::Break(()) {
            break;
        }
    }
    Ok(frames)
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let written = report["written"].as_str().unwrap_or_default();
    let mut lines = vec![format!(
        "{written}  {} frames at {}, {} bytes",
        report["frames"],
        rate(x("fps")),
        report["bytes"]
    )];
    if report.get("target_error_mean").is_some() {
        lines.push(format!(
            "  targets off  {:.4} m on average, {:.4} m at most",
            x("target_error_mean"),
            x("target_error_max")
        ));
    }
    lines.push(format!(
        "  time per frame  {:.2} ms, {:.3} ms of it to search",
        x("ms_per_frame"),
        x("search_ms_per_frame")
    ));
    lines.join("\n")
}
