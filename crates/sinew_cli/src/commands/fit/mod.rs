//! `sinew fit`: a deforming mesh becomes bones and weights.

mod args;
mod input;
mod method;
mod page;

pub use args::FitArgs;

use super::{input::with_path, output::rate};
use crate::console::Console;
use anyhow::{bail, ensure};
use glam::DVec3;
use input::{Frames, Input};
use method::Fitted;
use serde_json::{Value, json};
use sinew::{
    formats::{gltf, no_side_files, write_atomic},
    geom::Warnings,
    session::{SkinFile, SkinFileParams, measure_character, write_skin},
    skin::{SkinError, SkinErrors, SkinFitter, fit_streamed},
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
    let mut times = Times::new();
    let inputs = open(args, &mut warnings)?;
    if let Some(n_sample) = args.sample {
        return streamed(args, seed, &inputs, n_sample, console, warnings, times);
    }
    let fitter = read(args, &inputs, console, &mut warnings)?;
    times.lap("read");
    let fitted = method::perform(args, seed, &fitter, console, &mut times)
        .map_err(|error| with_path(error, &args.sequences[0]))?;
    let exported = export(args, &inputs, &fitted, &mut warnings)?;
    write_atomic(&args.output, &exported.bytes)?;
    times.lap("write");
    let clips = clips_of(&inputs);
    let errors = measure(&exported, &clips, inputs[0].fps, &fitter, console)?;
    times.lap("measure");
    warn_of_oddities(&fitter, &fitted, args, &errors, &mut warnings);
    console.warn(&args.sequences[0], &warnings);
    let mut report = describe(args, &fitted, &exported, &errors, fitter.n_frames());
    report["seconds"] = times.to_json();
    report["warnings"] = json!(warnings.messages);
    if let Some(path) = &args.report {
        page::write(path, inputs[0].rest(), &fitter, &fitted, &errors, &report)?;
        report["report"] = json!(path.display().to_string());
    }
    console.result(&report, || as_text(&report))
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
    let hear = |status: sinew::skin::FitStatus| progress.update(status.share);
    let done = fit_streamed(inputs[0].rest(), &mut frames, &params, n_sample, &hear);
    frames.warnings.messages.into_iter().for_each(|message| warnings.push(message));
    let (fit, errors) = done.map_err(|error| named(error, args))?;
    times.lap("fit");
    let n_frames = fit.skin.n_frames();
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
    let mut report = describe(args, &fitted, &exported, &errors, n_frames);
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
        let input = Input::open(path, args.fps, warnings)?;
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
    let hear = |share: f64| {
        let _ = progress.update(share);
    };
    let mut frames = Frames { inputs, warnings: Warnings::default(), progress: &hear };
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
    let fps = inputs[0].fps;
    if inputs.iter().any(|input| input.fps != fps) {
        warnings.push(format!("the sequences have different frame rates; all are played at {}", rate(fps)));
    }
    let params = SkinFileParams {
        name: args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
        fps,
        clips: clips_of(inputs),
        key_tolerance: args.key_tolerance,
        quantize: args.quantize,
        eigenskin: fitted.eigenskin.as_ref(),
    };
    Ok(write_skin(&fitted.fit, (inputs[0].rest(), inputs[0].surface()), &params, warnings)?)
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
    if fitter.n_frames() == 1 {
        warnings.push("there is only one frame, so nothing moves");
    } else if fitter.is_still() {
        warnings.push("all frames are identical, so nothing moves");
    }
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
    if let Some(target) = args.error.filter(|&target| errors.e_rms_diag1 > 1.02 * target) {
        let (n, reached) = (fitted.fit.skin.n_bones, errors.e_rms_diag1);
        warnings.push(format!("{n} bones reach {reached:.4} %, not the {target} % asked for"));
    }
}

fn describe(
    args: &FitArgs,
    fitted: &Fitted,
    exported: &SkinFile,
    errors: &SkinErrors,
    n_frames: usize,
) -> Value {
    let (report, fit) = (&exported.report, &fitted.fit);
    let n_vertices = fit.skin.n_vertices();
    json!({
        "vertices": n_vertices,
        "frames": n_frames,
        "bones": fit.skin.n_bones,
        "influences": args.influences,
        "dE": errors.de,
        "E_RMS": errors.e_rms,
        "E_RMS_diag1": errors.e_rms_diag1,
        "d_avg": errors.d_avg,
        "max": errors.max,
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
        "joints": report.joints,
        "keys": report.keys,
        "keys_of_all_frames": report.full_keys,
        "key_tolerance": exported.tolerance,
        "constant_curves": report.constant,
        "quantized": args.quantize,
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
            "  bones               {} {}, {} per vertex, {} joints",
            report["bones"],
            report["transforms"].as_str().unwrap_or_default(),
            report["influences"],
            report["joints"]
        ),
        format!("  E_RMS_diag1         {:.4} % of the diagonal", x("E_RMS_diag1")),
        format!("  E_RMS, dE, d_avg    {:.4}, {:.3} %, {:.3e}", x("E_RMS"), x("dE"), x("d_avg")),
        format!("  largest error       {:.3e}", x("max")),
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
