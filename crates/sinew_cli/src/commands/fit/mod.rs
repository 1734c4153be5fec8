//! `sinew fit`: a deforming mesh becomes bones and weights.

mod args;
mod input;
mod method;
mod page;

pub use args::FitArgs;

use super::input::with_path;
use crate::console::Console;
use anyhow::{bail, ensure};
use glam::DVec3;
use input::{Frames, Input};
use method::Fitted;
use serde_json::{Value, json};
use sinew::{
    formats::{gltf, no_side_files, write_atomic},
    geom::{Mesh, Warnings},
    session::Engine,
    session::{
        FitOutcome, SkinFile, SkinFileParams, measure_character, most_bones, warn_of_frames, write_skin,
    },
    skin::{BoneKind, SkinError, SkinErrors, SkinFitter, compute_bind_stretch, fit_streamed},
};
use std::{ops::Range, time::Instant};

pub fn run(args: &FitArgs, console: &Console) -> anyhow::Result<()> {
    let seed = console.seed;
    let shown = args.output.display();
    let is_glb = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
    ensure!(is_glb, "{shown}: a skin is written as .glb");
    ensure!(args.fps.is_none_or(|fps| fps.is_finite() && fps > 0.0), "--fps must be positive");
    ensure!(
        !(method::is_thesis(args) && args.error.is_some()),
        "--error works with the default method; leave out --joints and --weights"
    );
    ensure!(args.seconds.is_none_or(|s| s.is_finite() && s >= 0.0), "--seconds must not be negative");
    ensure!(args.bones != Some(0), "--bones 0: 0 bones cannot move anything; ask for at least 1");
    let mut warnings = Warnings::default();
    check_engine(args, &mut warnings)?;
    warn_of_idle_options(args, &mut warnings);
    let mut times = Times::new();
    let inputs = open(args, &mut warnings)?;
    if let Some(n_sample) = args.sample {
        return streamed(args, seed, &inputs, n_sample, console, warnings, times);
    }
    let fitter = read(args, &inputs, console, &mut warnings)?;
    times.lap("read");
    let fitted = method::perform(args, seed, (&fitter, inputs[0].rest()), console, &mut times)
        .map_err(|error| with_path(error, &args.sequences[0]))?;
    let exported = export(args, &inputs, &fitted, &mut warnings)?;
    write_atomic(&args.output, &exported.bytes)?;
    times.lap("write");
    let clips = clips_of(&inputs);
    let errors = measure(&exported, &clips, inputs[0].fps, &fitter, console)?;
    times.lap("measure");
    warn_of_oddities(&fitter, &fitted, args, &errors, &mut warnings);
    let mut report = describe(args, inputs[0].rest(), &fitted, &exported, &errors);
    warn_of_looks(args, &report, (&errors, exported.skin_bytes), &mut warnings);
    console.warn(&args.sequences[0], &warnings);
    report["seconds"] = times.to_json();
    report["warnings"] = json!(warnings.messages);
    if let Some(path) = &args.report {
        page::write(path, inputs[0].rest(), &fitter, &fitted, &errors, &report)?;
        report["report"] = json!(path.display().to_string());
    }
    console.result(&report, || as_text(&report))
}

/// Refuse what a program does not take.
fn check_engine(args: &FitArgs, warnings: &mut Warnings) -> anyhow::Result<()> {
    let Some(engine) = args.engine else { return Ok(()) };
    let (name, limits) = (engine.name(), engine.limits());
    let (bones, influences) = (args.bones.unwrap_or_default(), args.influences.unwrap_or_default());
    let most = most_bones(args.transforms, limits.joints);
    ensure!(
        bones <= most,
        "--bones {bones}: {name} draws {} joints of a skin with the root{}; ask for {most} bones or fewer",
        limits.joints,
        if args.transforms == BoneKind::Affine { ", and affine bones take two each" } else { "" }
    );
    ensure!(
        usize::from(influences) <= limits.influences,
        "--influences {influences}: {name} takes {} bones per vertex; ask for no more",
        limits.influences
    );
    if args.transforms == BoneKind::Affine && !limits.plays_shear {
        warnings.push(format!(
            "{name} composes scales without shear, so that affine bones will look wrong there; leave out --transforms affine"
        ));
    }
    Ok(())
}

/// Name options that change nothing in the fit that is asked for.
fn warn_of_idle_options(args: &FitArgs, warnings: &mut Warnings) {
    if args.stiffness.is_some() {
        let thesis = method::is_thesis(args)
            .then_some("with --joints and --weights the rest pose is corrected freely");
        let kept = args.keep_rest.then_some("with --keep-rest the rest pose is not corrected");
        let sampled = args.sample.map(|_| "with --sample the rest pose is not corrected");
        if let Some(cause) = kept.or(sampled).or(thesis) {
            warnings.push(format!("--stiffness has no effect: {cause}"));
        }
    }
    if args.flat && args.transforms == BoneKind::Affine {
        warnings.push("--flat has no effect: affine bones are never in a tree");
    }
}

/// A fit of which only a sample of the vertices is held in memory.
fn streamed(
    args: &FitArgs,
    seed: u64,
    inputs: &[Input],
    n_sample: usize,
    console: &Console,
    mut warnings: Warnings,
    mut times: Times,
) -> anyhow::Result<()> {
    let progress = console.progress("fitting");
    let quiet = |_: f64| {};
    let mut frames = Frames { inputs, warnings: Warnings::default(), progress: &quiet };
    let params = method::default_params(args, seed);
    let show = |status: sinew::skin::FitStatus| progress.update(status.share);
    let done = fit_streamed(inputs[0].rest(), &mut frames, &params, n_sample, &show);
    frames.warnings.messages.into_iter().for_each(|message| warnings.push(message));
    let (fit, errors) = done.map_err(|error| named(error, args))?;
    times.lap("fit");
    let fitted = Fitted {
        fit,
        eigenskin: None,
        n_fitted: n_sample.min(inputs[0].rest().n_vertices()),
        method: "streamed",
    };
    let exported = export(args, inputs, &fitted, &mut warnings)?;
    write_atomic(&args.output, &exported.bytes)?;
    times.lap("write");
    console.warn(&args.sequences[0], &warnings);
    let mut report = describe(args, inputs[0].rest(), &fitted, &exported, &errors);
    report["rest_corrected"] = json!(false);
    report["seconds"] = times.to_json();
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
}

/// An error with the name of the file it is about.
fn named(error: SkinError, args: &FitArgs) -> anyhow::Error {
    match error {
        // Its reader has named the file.
        SkinError::Source { message } => anyhow::anyhow!(message),
        other => with_path(other, &args.sequences[0]),
    }
}

fn open(args: &FitArgs, warnings: &mut Warnings) -> anyhow::Result<Vec<Input>> {
    let mut inputs: Vec<Input> = Vec::new();
    for path in &args.sequences {
        // One skin file has one rate: further clips are sampled at that of the first.
        let fps = args.fps.or_else(|| inputs.first().map(|first| first.fps));
        let input = Input::open(path, args.mesh.as_deref(), fps, warnings)?;
        if let Some(first) = inputs.first() {
            input.check_same_mesh(first)?;
        }
        inputs.push(input);
    }
    let offset = inputs.first().map_or(DVec3::ZERO, Input::needed_offset);
    if offset != DVec3::ZERO {
        inputs.iter_mut().try_for_each(|input| input.shift(offset))?;
        warnings.push(format!(
            "the mesh lies so far from the origin that the single precision of files would blur it; it was moved by \
             {:.6}, {:.6}, {:.6}",
            offset.x, offset.y, offset.z
        ));
    }
    Ok(inputs)
}

fn read(
    args: &FitArgs,
    inputs: &[Input],
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<SkinFitter> {
    let progress = console.progress("reading");
    let show = |share: f64| {
        let _ = progress.update(share);
    };
    let mut frames = Frames { inputs, warnings: Warnings::default(), progress: &show };
    let fitter = SkinFitter::new(inputs[0].rest(), &mut frames);
    frames.warnings.messages.into_iter().for_each(|message| warnings.push(message));
    fitter.map_err(|error| named(error, args))
}

/// Names and frames of the clips.
fn clips_of(inputs: &[Input]) -> Vec<(String, Range<usize>)> {
    let mut first = 0;
    let clip = |input: &Input| {
        let range = first..first + input.n_frames();
        first = range.end;
        (input.name.clone(), range)
    };
    inputs.iter().map(clip).collect()
}

fn export(
    args: &FitArgs,
    inputs: &[Input],
    fitted: &Fitted,
    warnings: &mut Warnings,
) -> anyhow::Result<SkinFile> {
    let params = SkinFileParams {
        name: args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        fps: inputs[0].fps,
        clips: clips_of(inputs),
        key_tolerance: args.key_tolerance,
        quantize: args.quantize,
        flat: args.flat,
        eigenskin: fitted.eigenskin.as_ref(),
        host: inputs[0].host(),
    };
    let exported = write_skin(&fitted.fit, (inputs[0].rest(), inputs[0].surface()), &params, warnings)?;
    let (joints, most) = (exported.report.joints, method::most_joints(args));
    if let Some(engine) = args.engine.filter(|_| joints > most) {
        let name = engine.name();
        warnings.push(format!("the skin has {joints} joints, {name} draws {most}; ask for fewer --bones"));
    }
    Ok(exported)
}

/// Errors of what another program would play: the file, read again.
fn measure(
    exported: &SkinFile,
    clips: &[(String, Range<usize>)],
    fps: f64,
    fitter: &SkinFitter,
    console: &Console,
) -> anyhow::Result<SkinErrors> {
    let progress = console.progress("measuring");
    let mut ignored = Warnings::default();
    let again = gltf::read_gltf(&exported.bytes, &no_side_files, "result", &mut ignored)?.character;
    // A vertex without a face may be lost in a file; then the character itself is measured.
    let fits = again.mesh.n_vertices() == fitter.n_vertices();
    let character = if fits { &again } else { &exported.character };
    let errors = measure_character(fitter, character, (clips, fps), &mut |share| {
        let _ = progress.update(share);
    })?;
    if !errors.e_rms.is_finite() {
        bail!("the result is not finite; this is a fault of ours, please report it");
    }
    Ok(errors)
}

fn warn_of_oddities(
    fitter: &SkinFitter,
    fitted: &Fitted,
    args: &FitArgs,
    errors: &SkinErrors,
    warnings: &mut Warnings,
) {
    warn_of_frames(fitter).into_iter().for_each(|message| warnings.push(message));
    if fitted.fit.report.cancelled {
        warnings
            .push("the time limit was reached before the fit converged; the best result so far was written");
    }
    let fitted_error = fitted.fit.report.errors.last().copied().unwrap_or_default();
    let is_plain = fitted.eigenskin.is_none() && args.key_tolerance.is_none() && fitted.method == "default";
    if is_plain && errors.e_rms_diag1 > 2.0 * fitted_error + 1e-3 {
        warnings.push(format!(
            "the fit is off by {fitted_error:.4} %, the file by {:.4} %: it moves so far from the origin that single \
             precision blurs it; remove the global motion from the sequence",
            errors.e_rms_diag1
        ));
    }
}

/// What would be seen.
fn warn_of_looks(
    args: &FitArgs,
    report: &Value,
    (errors, skin_bytes): (&SkinErrors, usize),
    warnings: &mut Warnings,
) {
    let number = |key: &str| report[key].as_u64().unwrap_or_default() as usize;
    let outcome = FitOutcome {
        errors,
        bones: number("bones"),
        bind_max: report["bind_max"].as_f64().unwrap_or_default(),
        bytes: [number("bytes_in"), skin_bytes],
        target: args.error,
    };
    outcome.warnings().into_iter().for_each(|message| warnings.push(message));
}

fn describe(args: &FitArgs, rest: &Mesh, fitted: &Fitted, exported: &SkinFile, errors: &SkinErrors) -> Value {
    let (report, fit) = (&exported.report, &fitted.fit);
    let n_frames = fit.skin.n_frames();
    let bind = compute_bind_stretch(rest, &fit.skin.rest);
    let n_vertices = fit.skin.n_vertices();
    json!({
        "vertices": n_vertices,
        "frames": n_frames,
        "bones": fit.skin.n_bones,
        "influences": fit.skin.influences,
        "dE": errors.de,
        "E_RMS": errors.e_rms,
        "E_RMS_diag1": errors.e_rms_diag1,
        "d_avg": errors.d_avg,
        "max": errors.max,
        "normals_mean": errors.normals.mean,
        "normals_p99": errors.normals.p99,
        "flipped": errors.normals.flipped,
        "bind_p99": bind[0],
        "bind_max": bind[1],
        "seconds": {},
        "bytes_in": n_vertices * n_frames * 12,
        "bytes_out": exported.bytes.len(),
        "transforms": args.transforms.name(),
        "rest_corrected": !args.keep_rest,
        "method": fitted.method,
        "fitted_vertices": fitted.n_fitted,
        "eigenskin": fitted.eigenskin.as_ref().map_or(0, |eigenskin| eigenskin.offsets.len()),
        "rounds": fit.report.rounds,
        "converged": fit.report.converged,
        "for": args.engine.map(Engine::name),
        "joints": report.joints,
        "depth": report.depth,
        "shifting_joints": report.shifting,
        "keys": report.keys,
        "keys_of_all_frames": report.full_keys,
        "key_tolerance": exported.tolerance,
        "constant_curves": report.constant,
        "quantized": exported.quantized,
        "written": args.output.display().to_string(),
    })
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let (into, out) = (x("bytes_in"), x("bytes_out"));
    [
        format!(
            "{}  {} vertices, {} frames",
            report["written"].as_str().unwrap_or_default(),
            report["vertices"],
            report["frames"]
        ),
        format!(
            "  bones               {} {}, {} per vertex, {} joints, {} in a chain",
            report["bones"],
            report["transforms"].as_str().unwrap_or_default(),
            report["influences"],
            report["joints"],
            report["depth"]
        ),
        format!("  E_RMS_diag1         {:.4} % of the diagonal", x("E_RMS_diag1")),
        format!("  E_RMS, dE, d_avg    {:.4}, {:.3} %, {:.3e}", x("E_RMS"), x("dE"), x("d_avg")),
        format!("  largest error       {:.3e}", x("max")),
        format!(
            "  normals             off by {:.2}°, 1 % by more than {:.1}°, {:.3} % flipped",
            x("normals_mean"),
            x("normals_p99"),
            x("flipped")
        ),
        format!(
            "  bind pose           edges within × {:.2}, 1 % beyond × {:.2}",
            x("bind_max"),
            x("bind_p99")
        ),
        format!(
            "  keys                {}, all frames have {}; within {:.1e}",
            report["keys"],
            report["keys_of_all_frames"],
            x("key_tolerance")
        ),
        format!("  bytes               {out:.0} of {into:.0} ({:.1} %)", 100.0 * out / into),
        format!(
            "  seconds             {:.2} fitting in {} rounds, {:.2} in all",
            report["seconds"]["fit"].as_f64().unwrap_or_default(),
            report["rounds"],
            report["seconds"]["total"].as_f64().unwrap_or_default()
        ),
    ]
    .join("\n")
}

/// How long each step took.
struct Times {
    start: Instant,
    last: Instant,
    laps: Vec<(&'static str, f64)>,
}

impl Times {
    fn new() -> Self {
        let now = Instant::now();
        Self { start: now, last: now, laps: Vec::new() }
    }

    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        self.laps.push((name, (now - self.last).as_secs_f64()));
        self.last = now;
    }

    fn to_json(&self) -> Value {
        let mut seconds: serde_json::Map<String, Value> =
            self.laps.iter().map(|(name, secs)| ((*name).to_owned(), json!(secs))).collect();
        seconds.insert("total".to_owned(), json!(self.start.elapsed().as_secs_f64()));
        seconds.into()
    }
}
