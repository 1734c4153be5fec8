//! `sinew fit`: a deforming mesh becomes bones and weights.

mod input;

use super::input::with_path;
use crate::{
    args::FitArgs,
    console::{Console, Progress},
};
use anyhow::{bail, ensure};
use glam::DVec3;
use input::{Frames, Input};
use serde_json::{Value, json};
use sinew::{
    formats::{gltf, write_atomic},
    geom::{Character, Warnings},
    skin::{
        ExportParams, ExportReport, FitParams, FitStatus, SkinErrors, SkinFit, SkinFitter, Stage,
        build_character,
    },
};
use std::{
    ops::{ControlFlow, Range},
    sync::Mutex,
    time::{Duration, Instant},
};

/// Bones if nothing is said.
const DEFAULT_BONES: usize = 50;
/// The most bones that an error may ask for.
const MAX_BONES: usize = 1000;
/// Share of the error that leaving out keys may add by default; errors add in squares.
const KEY_SHARE: f64 = 0.1;

pub fn run(args: &FitArgs, seed: u64, console: &Console) -> anyhow::Result<()> {
    let shown = args.output.display();
    let is_glb = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("glb"));
    ensure!(is_glb, "{shown}: a skin is written as .glb");
    ensure!(args.fps.is_none_or(|fps| fps.is_finite() && fps > 0.0), "--fps must be positive");
    ensure!(args.bones != Some(0), "--bones 0: 0 bones cannot move anything; ask for at least 1");
    let mut warnings = Warnings::default();
    let mut times = Times::new();
    let inputs = open(args, &mut warnings)?;
    let fitter = read(args, &inputs, console, &mut warnings)?;
    times.lap("read");
    let fit = fit(args, seed, &fitter, console, &mut times)
        .map_err(|error| with_path(error, &args.sequences[0]))?;
    let exported = export(args, &inputs, &fitter, &fit, &mut warnings)?;
    write_atomic(&args.output, &exported.bytes)?;
    times.lap("write");
    let clips = clips_of(&inputs);
    let errors = measure(&exported, &clips, inputs[0].fps, &fitter, console)?;
    times.lap("measure");
    tell_oddities(&fitter, &fit, args, &errors, &mut warnings);
    console.warn(&args.sequences[0], &warnings);
    let mut report = describe(args, &fitter, &fit, &exported, &errors);
    report["seconds"] = times.to_json();
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report))
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
    fitter.map_err(|error| match error {
        // Its reader has named the file.
        sinew::skin::SkinError::Source { message } => anyhow::anyhow!(message),
        other => with_path(other, &args.sequences[0]),
    })
}

fn fit(
    args: &FitArgs,
    seed: u64,
    fitter: &SkinFitter,
    console: &Console,
    times: &mut Times,
) -> Result<SkinFit, sinew::skin::SkinError> {
    let params = FitParams {
        bones: args.bones.unwrap_or(DEFAULT_BONES),
        influences: args.influences.into(),
        transforms: args.transforms,
        correct_rest: !args.keep_rest,
        rounds: args.rounds.into(),
        starts: if args.thorough { vec![4.0, 1.0, 0.0] } else { FitParams::default().starts },
        seed,
        ..FitParams::default()
    };
    let progress = console.progress("fitting");
    let placed: Mutex<Option<Duration>> = Mutex::new(None);
    let start = Instant::now();
    let limit = args.seconds.map(Duration::from_secs_f64);
    let hear = |status: FitStatus| tell(&progress, status, start, limit, &placed);
    let fit = match args.error {
        Some(target) => fitter.fit_to_error(target, &FitParams { bones: MAX_BONES, ..params }, &hear),
        None => fitter.fit(&params, &hear),
    };
    times.lap("fit");
    if let Some(placed) = placed.into_inner().ok().flatten() {
        times.laps.push(("place", placed.as_secs_f64()));
    }
    fit
}

/// Show how far a fit is; a fit whose time is up keeps the best it has.
fn tell(
    progress: &Progress,
    status: FitStatus,
    start: Instant,
    limit: Option<Duration>,
    placed: &Mutex<Option<Duration>>,
) -> ControlFlow<()> {
    if status.stage == Stage::Refine
        && let Ok(mut placed) = placed.lock()
    {
        placed.get_or_insert_with(|| start.elapsed());
    }
    if status.error.is_finite() {
        progress.say(&format!("fitting, error {:.4} %", status.error));
    }
    let _ = progress.update(status.share);
    let is_over = limit.is_some_and(|limit| start.elapsed() > limit);
    if is_over && status.stage == Stage::Refine { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
}

/// The file as it is written, and what is in it.
struct Exported {
    character: Character,
    bytes: Vec<u8>,
    report: ExportReport,
    tolerance: f64,
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
    fitter: &SkinFitter,
    fit: &SkinFit,
    warnings: &mut Warnings,
) -> anyhow::Result<Exported> {
    let rest = inputs[0].rest();
    let last = fit.report.errors.last().copied().unwrap_or_default();
    let percent = args.key_tolerance.unwrap_or(KEY_SHARE * last);
    let tolerance = percent / 100.0 * rest.diagonal();
    let params = ExportParams {
        fps: inputs[0].fps,
        tolerance,
        clips: clips_of(inputs),
        name: args.output.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
    };
    if inputs.iter().any(|input| input.fps != inputs[0].fps) {
        warnings
            .push(format!("the sequences have different frame rates; all are played at {}", inputs[0].fps));
    }
    let (character, report) = build_character(&fit.skin, rest, inputs[0].surface(), &params, warnings)?;
    let options = gltf::GlbOptions {
        max_influences: args.influences.into(),
        quantize: args.quantize,
        ..gltf::GlbOptions::default()
    };
    let bytes = gltf::write_glb(&character, &options, warnings)?;
    debug_assert_eq!(fitter.n_vertices(), character.mesh.n_vertices());
    Ok(Exported { character, bytes, report, tolerance })
}

/// Errors of what another program would play: the file, read again.
fn measure(
    exported: &Exported,
    clips: &[(String, Range<usize>)],
    fps: f64,
    fitter: &SkinFitter,
    console: &Console,
) -> anyhow::Result<SkinErrors> {
    let progress = console.progress("measuring");
    let mut ignored = Warnings::default();
    let again = gltf::read_gltf(&exported.bytes, &gltf::no_side_files, "result", &mut ignored)?.character;
    // A vertex without a face may be lost in a file; then the character itself is measured.
    let fits = again.mesh.n_vertices() == fitter.n_vertices();
    let character = if fits { &again } else { &exported.character };
    let errors = fitter.measure_positions(&mut |frame| {
        let _ = progress.update(frame as f64 / fitter.n_frames() as f64);
        let (name, range) = clips.iter().find(|(_, range)| range.contains(&frame)).unwrap_or(&clips[0]);
        let clip = character.clips.iter().find(|clip| clip.name == *name);
        let time = ((frame - range.start) as f64 / fps) as f32;
        let positions = character.positions_at(clip, time)?;
        Ok(positions.iter().map(|p| p.as_dvec3()).collect::<Vec<DVec3>>())
    })?;
    if !errors.e_rms.is_finite() {
        bail!("the result is not finite; this is a fault of ours, please report it");
    }
    Ok(errors)
}

fn tell_oddities(
    fitter: &SkinFitter,
    fit: &SkinFit,
    args: &FitArgs,
    errors: &SkinErrors,
    warnings: &mut Warnings,
) {
    if fitter.n_frames() == 1 {
        warnings.push("there is only one frame, so nothing moves");
    } else if fitter.is_still() {
        warnings.push("all frames are alike, so nothing moves");
    }
    if fit.report.cancelled {
        warnings.push("the time was up before the fit had settled; the best so far was kept");
    }
    if let Some(target) = args.error.filter(|&target| errors.e_rms_diag1 > 1.02 * target) {
        let (n, reached) = (fit.skin.n_bones, errors.e_rms_diag1);
        warnings.push(format!("{n} bones reach {reached:.4} %, not the {target} % asked for"));
    }
}

fn describe(
    args: &FitArgs,
    fitter: &SkinFitter,
    fit: &SkinFit,
    exported: &Exported,
    errors: &SkinErrors,
) -> Value {
    let report = &exported.report;
    json!({
        "vertices": fitter.n_vertices(),
        "frames": fitter.n_frames(),
        "bones": fit.skin.n_bones,
        "influences": args.influences,
        "dE": errors.de,
        "E_RMS": errors.e_rms,
        "E_RMS_diag1": errors.e_rms_diag1,
        "d_avg": errors.d_avg,
        "max": errors.max,
        "seconds": {},
        "bytes_in": fitter.n_vertices() * fitter.n_frames() * 12,
        "bytes_out": exported.bytes.len(),
        "transforms": args.transforms.name(),
        "rest_corrected": !args.keep_rest,
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
            "  bones               {} {}, {} a vertex, {} joints",
            report["bones"],
            report["transforms"].as_str().unwrap_or_default(),
            report["influences"],
            report["joints"]
        ),
        format!("  E_RMS_diag1         {:.4} % of the diagonal", x("E_RMS_diag1")),
        format!("  E_RMS, dE, d_avg    {:.4}, {:.3} %, {:.3e}", x("E_RMS"), x("dE"), x("d_avg")),
        format!("  largest error       {:.3e}", x("max")),
        format!(
            "  keys                {} of {}, within {:.1e}",
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
