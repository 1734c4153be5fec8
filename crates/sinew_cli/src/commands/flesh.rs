//! `sinew flesh`: elastic flesh over a clip, as a sequence of vertices or a fitted skin.

mod args;
mod muscles;

pub use args::FleshArgs;
pub use muscles::{read_muscles, typed};

use super::{
    input::{read_surface, with_path},
    output::{Origin, check_name, find_clip, rate, write_vertex_clip},
    scene::{Follower, obstacles, pins},
};
use crate::{console::Console, interrupt::Interrupt};
use anyhow::{Context, ensure};
use glam::Vec3;
use muscles::muscle_drive;
use serde_json::{Value, json};
use sinew::{
    flesh::{
        AdaptiveParams, BakeParams, Baker, ControlLattice, FleshError, FleshQuality, LatticeSource, Solid,
        muscle::MuscleSet,
    },
    formats::{medit::read_solids, write_atomic},
    geom::{Character, Clip, Mesh, MeshSequence, Rig, Warnings},
    session::{
        Document, FleshExtras, FleshRunner, FleshSettings, FleshSteps, fit_sequence, flesh_timing,
        simulate_flesh, with_skeleton,
    },
    skin::{FitParams, FitStatus},
};
use std::{ops::ControlFlow, time::Instant};

pub fn run(args: &FleshArgs, console: &Console) -> anyhow::Result<()> {
    let seed = console.seed;
    check_name(&args.output, args.fit.is_none())?;
    let is_glb = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
    ensure!(args.fit.is_none() || is_glb, "{}: a skin is written as .glb", args.output.display());
    let mut warnings = Warnings::default();
    let (mut character, origin) = read_surface(&args.character, console, &mut warnings)?;
    give_bones(args, &mut character, console, &mut warnings)?;
    let clip = clip_of(args, &character, &mut warnings).map_err(|e| with_path(e, &args.character))?;
    let (fps, n_frames) = flesh_timing(clip, (args.fps, args.seconds), character.mesh.n_vertices())?;
    let mut params = params(args, &character, console)?;
    let muscles = args.muscles.as_deref().map(read_muscles).transpose()?;
    if let Some((size, source)) =
        muscles.as_ref().and_then(MuscleSet::lattice).filter(|_| args.cell_size.is_none())
    {
        // Surface muscles are forces on the nodes of one lattice.
        (params.simulation.lattice.size, params.simulation.source) = (Some(size), source);
    }
    let start = Instant::now();
    let mut baker = {
        let _progress = console.progress("filling with flesh");
        match &args.by_handles.moves {
            Some(moves) => {
                let model = (&character, args.character.as_path());
                Follower::of_handles(&args.by_handles, moves, model, &params, console, &mut warnings)?
            }
            None => {
                let baker = Baker::new(&character, clip, &params, &mut warnings);
                Follower::Bones(Box::new(baker.map_err(|e| with_path(e, &args.character))?))
            }
        }
    };
    if muscles.is_some() || !args.belts.is_empty() {
        let shown = args.muscles.as_ref().unwrap_or(&args.character);
        if let Follower::Bones(baker) = &mut baker {
            let drive = muscle_drive(args, muscles.unwrap_or_default(), baker, &character)?;
            baker.set_muscles(drive, params.settle).map_err(|e| with_path(e, shown))?;
        }
    }
    let prepare_secs = start.elapsed().as_secs_f64();
    let (frames, steps, quality) = bake((&mut baker, &character.mesh), (fps, n_frames), console)
        .map_err(|e| with_path(e, &args.character))?;
    warn(&steps, baker.n_jumps(), (frames.len(), n_frames), &mut warnings);
    quality.warn(|vertex| baker.simulation().part_of(vertex), &mut warnings);
    let sequence = MeshSequence::new(character.mesh.clone(), frames, fps)?;
    let mut report = describe(args, &baker, &steps, &sequence);
    report["stopped"] = json!(sequence.n_frames() < n_frames);
    report["stiffness"] = json!(params.simulation.material.young);
    report["deviation_percent_max"] = json!(quality.deviation_percent.0);
    report["stretch_max"] = json!(quality.stretch.0);
    report["volume_ratio"] = json!(quality.volume.map(|(ratio, _)| ratio));
    report["folded_cells"] = json!(quality.folded_cells.0);
    report["prepare_seconds"] = json!(prepare_secs);
    report["bytes"] = json!(write(
        args,
        seed,
        (&character, &origin),
        clip,
        &sequence,
        console,
        &mut report,
        &mut warnings
    )?);
    report["warnings"] = json!(warnings.messages);
    console.warn(&args.character, &warnings);
    console.result(&report, || as_text(&report))
}

/// A surface that moves without bones gets some that move as it does, so that flesh has something to follow.
fn give_bones(
    args: &FleshArgs,
    character: &mut Character,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<()> {
    let is_moved = character.skin.is_none() && !character.clips.is_empty();
    if !is_moved || args.by_handles.moves.is_some() {
        return Ok(());
    }
    let _progress = console.progress("looking for a skeleton");
    let rigged = with_skeleton(&Document::new(character.clone()), None);
    let (document, report) = rigged.map_err(|e| with_path(e, &args.character))?;
    warnings.push(report.text);
    *character = document.character();
    Ok(())
}

/// The clip to follow; a character without one keeps its rest pose, a mesh without bones falls.
fn clip_of<'a>(
    args: &FleshArgs,
    character: &'a Character,
    warnings: &mut Warnings,
) -> anyhow::Result<Option<&'a Clip>> {
    if args.by_handles.moves.is_some() {
        return Ok(None);
    }
    if character.skin.is_none() || character.rig.is_none() {
        ensure!(
            args.clip.is_none(),
            "there is neither a skin nor a clip; `sinew rig` gives it bones, or leave out --clip"
        );
        let is_caught = args.obstacles.is_given();
        warnings.push(format!(
            "there is no skin: the body {}; `sinew rig` gives it bones that hold it",
            if is_caught {
                "falls freely until it meets an obstacle"
            } else {
                "rests on the ground below it"
            }
        ));
        return Ok(None);
    }
    if args.clip.is_none() && character.clips.is_empty() {
        warnings.push("there is no clip: the character keeps its rest pose");
        return Ok(None);
    }
    find_clip(character, args.clip.as_deref()).map(Some)
}

fn params(args: &FleshArgs, character: &Character, console: &Console) -> anyhow::Result<BakeParams> {
    let extras = FleshExtras {
        cell_size: args.cell_size,
        source: source(args)?,
        smooth: args.smooth,
        softness: args.softness,
        stiffer: stiffer(args, character.rig.as_ref())?,
        paint: paint(args, character)?,
        element: args.element,
        tolerance: args.tolerance,
        obstacles: obstacles(&args.obstacles, console)?,
        pins: pins(&args.obstacles)?,
        on_handles: args.by_handles.moves.is_some(),
        adaptive: args.adaptive.map(adaptive),
        looped: args.looped.then_some(true),
        settle: !args.no_settle,
    };
    Ok(settings(args).bake_params(character, extras)?)
}

/// What the studio can choose, too.
fn settings(args: &FleshArgs) -> FleshSettings {
    FleshSettings {
        cells: args.cells,
        stiffness: args.stiffness,
        poisson: args.poisson,
        density: args.density,
        damping: args.damping,
        mode: args.mode.name().into(),
        bone_radius: args.bone_radius,
        gravity: [0.0, -args.gravity, 0.0],
        step: args.step,
        floor: args.obstacles.floor,
        friction: args.obstacles.friction,
        colliders: Vec::new(),
    }
}

/// Cells of up to three sizes; bones are found again in them at every change, so that they are looked at every tenth step.
fn adaptive(strain: f64) -> AdaptiveParams {
    AdaptiveParams { thresholds: vec![[strain, 0.4 * strain]; 2], every: 10, ..AdaptiveParams::default() }
}

/// Times a lattice may be subdivided: each makes eight times as many cells.
const MAX_SUBDIVISIONS: usize = 3;

/// Where cells come from; a given lattice is read, checked and subdivided.
fn source(args: &FleshArgs) -> anyhow::Result<LatticeSource> {
    let Some(path) = &args.lattice else {
        return Ok(args.refine.map_or(LatticeSource::Cubes, LatticeSource::Octree));
    };
    ensure!(
        args.subdivide <= MAX_SUBDIVISIONS,
        "--subdivide {} must be at most {MAX_SUBDIVISIONS}, each makes eight times as many cells",
        args.subdivide
    );
    let shown = path.display().to_string();
    let bytes = std::fs::read(path).with_context(|| shown.clone())?;
    let solids = read_solids(&bytes, &shown)?;
    let mut cells: Vec<Solid> = solids.hexahedra.iter().map(|nodes| Solid::Hexahedron(*nodes)).collect();
    cells.extend(solids.tetrahedra.iter().map(|nodes| Solid::Tetrahedron(*nodes)));
    cells.extend(solids.prisms.iter().map(|nodes| Solid::Prism(*nodes)));
    let made = ControlLattice::new(solids.positions, cells)
        .and_then(|lattice| lattice.with_features(solids.creases, solids.corners));
    let mut lattice = made.map_err(|e| with_path(e, path))?;
    for _ in 0..args.subdivide {
        lattice = lattice.subdivide(args.scheme);
    }
    Ok(LatticeSource::Made(Box::new(lattice)))
}

/// `head=20,ear.L=0.3`.
fn stiffer(args: &FleshArgs, rig: Option<&Rig>) -> anyhow::Result<Vec<(usize, f64)>> {
    let one = |text: &String| {
        let parts =
            text.split_once('=').and_then(|(name, factor)| Some((name.trim(), factor.trim().parse().ok()?)));
        let (name, factor): (&str, f64) =
            parts.filter(|(_, factor): &(&str, f64)| factor.is_finite() && *factor > 0.0).with_context(
                || format!("--stiffen {text:?}: give joints and factors above 0, such as head=20,ear.L=0.3"),
            )?;
        let rig = rig.context("--stiffen: there is no skeleton")?;
        let names = || rig.joints().iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>().join(", ");
        let joint = rig
            .find(name)
            .with_context(|| format!("--stiffen: there is no joint {name:?}; there are: {}", names()))?;
        Ok((joint, factor))
    };
    args.stiffen.iter().map(one).collect()
}

/// Factors of vertices, in the order of the mesh: a JSON array of numbers.
fn paint(args: &FleshArgs, character: &Character) -> anyhow::Result<Vec<f32>> {
    let Some(path) = &args.paint else { return Ok(Vec::new()) };
    let what = || format!("--paint {}", path.display());
    let bytes = std::fs::read(path).with_context(what)?;
    let factors: Vec<f32> = serde_json::from_slice(&bytes)
        .map_err(|error| anyhow::anyhow!("{}: a JSON array of factors is expected: {error}", what()))?;
    let (own, given) = (character.mesh.n_vertices(), factors.len());
    ensure!(own == given, "{}: there are {given} factors for {own} vertices; give one per vertex", what());
    Ok(factors)
}

/// Frame by frame, until Ctrl-C is pressed.
fn bake(
    (baker, mesh): (&mut Follower, &Mesh),
    (fps, n_frames): (f64, usize),
    console: &Console,
) -> Result<(Vec<Vec<Vec3>>, FleshSteps, FleshQuality), FleshError> {
    let interrupt = Interrupt::listen();
    let progress = console.progress("simulating");
    simulate_flesh((baker, mesh), (fps, n_frames), &mut |share| {
        let _ = progress.update(share);
        if interrupt.is_pressed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

fn warn(steps: &FleshSteps, n_jumps: usize, (n_done, n_frames): (usize, usize), warnings: &mut Warnings) {
    steps.warn(warnings);
    if n_jumps > 0 {
        warnings.push(format!("the clip jumps {n_jumps} times; flesh was carried along there"));
    }
    if n_done < n_frames {
        warnings.push(format!("interrupted after {n_done} of {n_frames} frames, which are written"));
    }
}

#[allow(clippy::too_many_arguments)]
fn write(
    args: &FleshArgs,
    seed: u64,
    (character, origin): (&Character, &Origin),
    clip: Option<&Clip>,
    sequence: &MeshSequence,
    console: &Console,
    report: &mut Value,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let name = clip.map_or("flesh", |clip| clip.name.as_str());
    let Some(bones) = args.fit else {
        let _progress = console.progress("writing");
        return write_vertex_clip(character, origin, sequence, name, &args.output, warnings);
    };
    let progress = console.progress("fitting a skin");
    let params = FitParams { bones, seed, ..FitParams::default() };
    let show = |status: FitStatus| progress.update(status.share);
    let looks = (&character.surface, origin.host.as_deref());
    let (fit, file) = fit_sequence(sequence, looks, &params, (&character.name, name), &show, warnings)?;
    report["E_RMS_diag1"] = json!(fit.report.errors.last());
    write_atomic(&args.output, &file.bytes)?;
    Ok(file.bytes.len() as u64)
}

fn describe(args: &FleshArgs, baker: &Follower, steps: &FleshSteps, sequence: &MeshSequence) -> Value {
    let lattice = &baker.body().lattice;
    let median = |list: &[f64]| {
        let mut sorted = list.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied().unwrap_or(0.0)
    };
    let iterations: Vec<f64> = steps.iterations.iter().map(|n| *n as f64).collect();
    let simulated = (sequence.n_frames().max(1) - 1) as f64 / sequence.fps();
    let spent = steps.millis.iter().sum::<f64>() / 1e3;
    json!({
        "frames": sequence.n_frames(),
        "fps": sequence.fps(),
        "vertices": sequence.rest().n_vertices(),
        "cells": lattice.n_cells(),
        "cell_size": lattice.size(),
        "split_cells": baker.body().n_split,
        "nodes": lattice.n_nodes(),
        "held_nodes": baker.n_held(),
        "hanging_nodes": lattice.ties().nodes().len(),
        "dof": 3 * (lattice.n_nodes() - baker.n_held() - lattice.ties().nodes().len()),
        "mode": args.mode.name(),
        "steps": steps.millis.len(),
        "step_ms_median": median(&steps.millis),
        "iterations_median": median(&iterations),
        "residual_max": steps.residual,
        "direct_steps": steps.n_direct,
        "unsolved_steps": steps.n_unsolved,
        "jumps": baker.n_jumps(),
        "cell_changes": baker.n_changes(),
        "real_time_factor": if spent > 0.0 { simulated / spent } else { 0.0 },
        "uncovered_vertices": baker.body().uncovered,
        "written": args.output.display().to_string(),
    })
}

fn as_text(value: &Value) -> String {
    let x = |key: &str| value[key].as_f64().unwrap_or(f64::NAN);
    let changes = match value["cell_changes"].as_u64() {
        Some(n) if n > 0 => format!(" at the end, changed {n} times"),
        _ => String::new(),
    };
    format!(
        "{}  {} frames at {}, {} bytes\n  \
         {} cells of {:.3} m, {} degrees of freedom, {} nodes in bones{changes}\n  \
         {} steps, median {:.2} ms and {} iterations, largest residual {:.1e}\n  {:.1} × real time",
        value["written"].as_str().unwrap_or_default(),
        value["frames"],
        rate(x("fps")),
        value["bytes"],
        value["cells"],
        x("cell_size"),
        value["dof"],
        value["held_nodes"],
        value["steps"],
        x("step_ms_median"),
        value["iterations_median"],
        x("residual_max"),
        x("real_time_factor"),
    )
}
