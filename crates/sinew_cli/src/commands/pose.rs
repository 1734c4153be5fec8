//! `sinew pose`: a model deformed by its handles.

use super::names::one_of;
use super::{
    handles::{Source, find},
    input::{read_surface, with_path},
    output::{OutputOptions, check_name, write_character},
};
use crate::console::Console;
use anyhow::ensure;
use clap::Args;
use serde_json::{Value, json};
use sinew::{
    deform::{
        AutoParams, EditParams, HandlePose, HandleSet, LipmanParams, SurfaceEditor, SurfaceRefiner,
        quality::{Quality, measure_quality},
    },
    formats::{FormatError, handles::read_handles, moves::read_recorded_moves},
    geom::{Character, Handle, Mesh, Move, Surface, Warnings},
};
use sinew::{
    deform::{Frames, Method},
    geom::operators::LaplacianKind,
};
use std::path::PathBuf;
use std::{
    io::Read,
    path::Path,
    time::{Duration, Instant},
};

/// Deform a model by moving its handles
#[derive(Args)]
#[command(
    after_help = "moves.json: {\"moves\":[{\"rotate\":{\"main\":\"elbow.L\",\"axis\":[0,0,1],\"degrees\":60}},\n  \
                  {\"translate\":{\"handles\":[\"head\"],\"vector\":[0,0.1,0]}},\n  \
                  {\"twist\":{\"handles\":[\"hand.L\"],\"axis\":[1,0,0],\"degrees\":90,\"over\":[\"forearm.L\"]}}]}\n\
                  Axes are in model space at rest. Without \"handles\", rotate turns main and its secondary handles.\n\n\
                  frame_ms is the median of five solves (fewer if they take over 2 s together)."
)]
pub struct PoseArgs {
    /// Mesh or character to pose
    pub model: PathBuf,
    /// Handles (handles.json) [default: those of the model, else found as by `sinew handles auto`]
    #[arg(long, value_name = "FILE")]
    pub handles: Option<PathBuf>,
    /// Moves of the handles (moves.json)
    #[arg(long, value_name = "FILE")]
    pub moves: PathBuf,
    /// How the surface between the handles follows
    #[arg(long, default_value = "guided", value_parser = one_of(Method::ALL, Method::name))]
    pub method: Method,
    /// Laplacian weights (lipman only)
    #[arg(long, default_value = "cotangent", value_parser = one_of(LaplacianKind::ALL, LaplacianKind::name))]
    pub laplacian: LaplacianKind,
    /// Rings of handle vertices that enter the system (lipman only)
    #[arg(long, value_name = "RINGS", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    pub band: u8,
    /// Source of the rotation of details: a smooth solution (Hansen 2006), none (as in Blender) or averaged normals
    /// (lipman only)
    #[arg(long, default_value = "smooth", value_parser = one_of(Frames::ALL, Frames::name))]
    pub frames: Frames,
    /// Iterations of refinement of the posed surface at full resolution; 1 suits the guided method
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub refine: u16,
    /// File to write (glb, obj, ply)
    #[arg(long, short)]
    pub output: PathBuf,
}

/// Movement of a refinement, in diagonals, below which no file would show the next.
const SETTLED: f64 = 1e-9;
/// Solves whose median is reported.
const N_SOLVES: usize = 5;
/// Time after which no further solve is made for the sake of the median.
const MAX_TIMING: Duration = Duration::from_secs(2);

pub fn run(args: &PoseArgs, console: &Console) -> anyhow::Result<()> {
    check_name(&args.output, false)?;
    let bvh = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("bvh"));
    ensure!(!bvh, "{}: a posed surface is written as .glb, .obj or .ply", args.output.display());
    let mut warnings = Warnings::default();
    let recorded = read_recorded_moves(&read_bytes(&args.moves)?, &args.moves.to_string_lossy())?;
    if recorded.moves.is_empty() {
        warnings.push(format!("{} holds no moves; the model stays at rest", args.moves.display()));
    }
    let (character, origin) = read_surface(&args.model, console, &mut warnings)?;
    let (handles, source) =
        choose_handles(&character, args.handles.as_deref(), &args.model, console, &mut warnings)?;
    let moves = recorded.for_diagonal(character.mesh.diagonal());
    let posed = pose(&character.mesh, &handles, &moves, args, console, &mut warnings)?;
    let quality = {
        let _progress = console.progress("measuring");
        measure_quality(&character.mesh, posed.mesh.positions())
    };
    let names: Vec<&str> = posed.handles.iter().map(|h| h.name.as_str()).collect();
    let mut report = describe(&posed, &quality);
    report["handles"] = json!(names);
    report["handles_from"] = json!(source.name());
    report["method"] = json!(args.method.name());
    report["moves"] = json!(moves.len());
    report["moves_scaled_by"] = json!(recorded.size.map(|size| character.mesh.diagonal() / size));
    report["refinements"] = json!(args.refine);
    let result = posed_character(character, posed, origin.is_kept_in(&args.output), &mut warnings);
    let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
    let n_bytes = write_character(&result, &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(n_bytes);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report, source))
}

/// Bytes beyond which a file of handles or moves is none.
const MAX_BYTES: u64 = 1 << 28;

/// The whole file or pipe, unless it does not end.
pub(super) fn read_bytes(path: &Path) -> anyhow::Result<Vec<u8>> {
    let io = |error| FormatError::io(path, error);
    let mut bytes = Vec::new();
    std::fs::File::open(path).map_err(io)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(io)?;
    let fits = bytes.len() as u64 <= MAX_BYTES;
    ensure!(fits, "{}: this is larger than 256 MB; give a JSON file of handles or moves", path.display());
    Ok(bytes)
}

/// Handles of a file, else of the model, else found, which is reported.
pub(super) fn choose_handles(
    character: &Character,
    handles: Option<&Path>,
    model: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(Vec<Handle>, Source)> {
    if let Some(path) = handles {
        let handles = read_handles(&read_bytes(path)?, &character.mesh, &path.to_string_lossy())?;
        return Ok((handles, Source::File));
    }
    if !character.handles.is_empty() {
        return Ok((character.handles.clone(), Source::Model));
    }
    let found = find(character, &AutoParams::default(), false, console, warnings);
    let (handles, source) = found.map_err(|error| with_path(error, model))?;
    warnings.push(format!(
        "the model carries no handles and --handles is not given; {} were {}",
        handles.len(),
        source.description()
    ));
    Ok((handles, source))
}

/// A posed surface, and what it took.
struct Posed {
    mesh: Mesh,
    /// The handles where they have gone.
    handles: Vec<Handle>,
    n_soft: usize,
    prepare_ms: f64,
    frame_ms: f64,
    n_solves: usize,
}

fn pose(
    mesh: &Mesh,
    handles: &[Handle],
    moves: &[Move],
    args: &PoseArgs,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Posed> {
    let handles_path = args.handles.as_deref().unwrap_or(&args.model);
    let set = HandleSet::new(mesh, handles, warnings).map_err(|error| with_path(error, handles_path))?;
    let target = HandlePose::from_moves(mesh, &set, moves).map_err(|error| with_path(error, &args.moves))?;
    let progress = console.progress("preparing");
    let start = Instant::now();
    let lipman = LipmanParams {
        laplacian: args.laplacian,
        band: args.band.into(),
        frames: args.frames,
        ..LipmanParams::default()
    };
    let params = EditParams { method: args.method, lipman, ..EditParams::default() };
    let editor = SurfaceEditor::prepare(mesh, &set, &params, warnings, &|share| progress.update(share));
    let editor = editor.map_err(|error| with_path(error, &args.model))?;
    let prepare_ms = milliseconds(start);
    drop(progress);
    let posing = console.progress("posing");
    let mut positions = mesh.positions().to_vec();
    let mut times = Vec::new();
    let start = Instant::now();
    while times.is_empty() || (times.len() < N_SOLVES && start.elapsed() < MAX_TIMING) {
        let start = Instant::now();
        editor.solve(&target, &mut positions).map_err(|error| with_path(error, &args.model))?;
        times.push(milliseconds(start));
    }
    times.sort_by(f64::total_cmp);
    drop(posing);
    let is_sound = positions.iter().all(|p| p.as_vec3().is_finite());
    ensure!(is_sound, "{}: these moves lead out of the range of numbers", args.moves.display());
    let centers = set.handles().iter().zip(target.motions());
    let handles = centers.map(|(h, motion)| Handle { center: motion.position(h.center), ..h.clone() });
    Ok(Posed {
        handles: handles.collect(),
        mesh: refine(mesh, &set, &target, args, console, mesh.with_positions(positions)?)?,
        n_soft: editor.n_soft(),
        prepare_ms,
        frame_ms: times[times.len() / 2],
        n_solves: times.len(),
    })
}

/// Refine a posed surface as often as is asked for, or until nothing moves any more.
fn refine(
    mesh: &Mesh,
    handles: &HandleSet,
    pose: &HandlePose,
    args: &PoseArgs,
    console: &Console,
    posed: Mesh,
) -> anyhow::Result<Mesh> {
    if args.refine == 0 {
        return Ok(posed);
    }
    let mut positions = posed.positions().to_vec();
    let named = |error| with_path(error, &args.model);
    let progress = console.progress("preparing to refine");
    let refiner = SurfaceRefiner::new(mesh, handles, &|share| progress.update(share)).map_err(named)?;
    drop(progress);
    let progress = console.progress("refining");
    for step in 1..=args.refine {
        if refiner.refine(pose, &mut positions).map_err(named)? < SETTLED {
            break;
        }
        let _ = progress.update(f64::from(step) / f64::from(args.refine));
    }
    Ok(posed.with_positions(positions)?)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The character as it is posed. In the file it came from, skeleton, skin, clips and morphs stay: they move the posed shape
/// as they moved the old one. A file of its own has the surface alone.
fn posed_character(rest: Character, posed: Posed, is_hosted: bool, warnings: &mut Warnings) -> Character {
    let surface = Surface { normals: None, ..rest.surface.clone() };
    if is_hosted {
        return Character { mesh: posed.mesh, surface, handles: posed.handles, ..rest };
    }
    let lost = [
        (rest.rig.is_some() || rest.skin.is_some(), "skeleton and skin"),
        (!rest.clips.is_empty(), "animations"),
        (!rest.morphs.is_empty(), "morph targets"),
    ];
    let lost: Vec<&str> = lost.iter().filter(|(has, _)| *has).map(|(_, what)| *what).collect();
    if !lost.is_empty() {
        let lost = lost.join(", ");
        warnings.push(format!("these fit the shape at rest, not the posed one, and are left out: {lost}"));
    }
    Character { name: rest.name, mesh: posed.mesh, surface, handles: posed.handles, ..Character::default() }
}

fn describe(posed: &Posed, quality: &Quality) -> Value {
    json!({
        "vertices": posed.mesh.n_vertices(),
        "roi_vertices": posed.n_soft,
        "prepare_ms": posed.prepare_ms,
        "frame_ms": posed.frame_ms,
        "solves": posed.n_solves,
        "volume_ratio": quality.volume_ratio,
        "edge_rms": quality.edge_rms,
        "arap_energy": quality.arap_energy,
        "flipped": quality.flipped,
        "self_intersections": quality.self_intersections,
    })
}

fn as_text(report: &Value, source: Source) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let n_handles = report["handles"].as_array().map_or(0, Vec::len);
    let written = report["written"].as_str().unwrap_or_default();
    [
        format!("{written}  {} vertices, {} bytes", report["vertices"], report["bytes"]),
        format!("  handles             {n_handles} {}", source.description()),
        format!("  soft vertices       {}", report["roi_vertices"]),
        format!("  prepared in         {:.1} ms", x("prepare_ms")),
        format!("  posed in            {:.2} ms, median of {}", x("frame_ms"), report["solves"]),
        format!("  volume              {:.1} % of rest", 100.0 * x("volume_ratio")),
        format!("  edge change         {:.1} % RMS", 100.0 * x("edge_rms")),
        format!("  ARAP energy / area  {:.3e}", x("arap_energy")),
        format!("  flipped faces       {}", report["flipped"]),
        format!("  self-intersections  {} faces more than at rest", report["self_intersections"]),
    ]
    .join("\n")
}
