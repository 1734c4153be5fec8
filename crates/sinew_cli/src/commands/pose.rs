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
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    deform::{
        AutoParams, EditParams, HandlePose, HandleSet, LipmanParams, SurfaceEditor, SurfaceRefiner,
        quality::{Quality, measure_quality},
    },
    formats::{FormatError, handles::read_handles, moves::read_recorded_moves},
    geom::{Character, Handle, Mesh, Move, Surface, Warnings},
    session::posed_warnings,
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
    /// How the surface between the handles follows; skin shows what `convert --as-skin` makes of it
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
    /// Iterations of refinement of the posed surface at full resolution; 0 writes what dragging shows [default: as many as
    /// are worth their time with the guided method, else 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(0..=1000))]
    pub refine: Option<u16>,
    /// File to write (glb, obj, ply)
    #[arg(long, short)]
    pub output: PathBuf,
}

/// Movement of a refinement, in diagonals, below which no file would show the next.
const MIN_MOVEMENT: f64 = 1e-9;
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
    let damage = posed_warnings(&quality, &posed.handles, posed.mesh.n_faces());
    damage.into_iter().for_each(|message| warnings.push(message));
    let names: Vec<&str> = posed.handles.iter().map(|h| h.name.as_str()).collect();
    let mut report = describe(&posed, &quality);
    report["handles"] = json!(names);
    report["handles_from"] = json!(source.name());
    report["method"] = json!(args.method.name());
    report["moves"] = json!(moves.len());
    report["moves_scaled_by"] = json!(recorded.size.map(|size| character.mesh.diagonal() / size));
    report["refinements"] = json!(posed.n_refined);
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
    n_refined: usize,
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
    let n_refined = refine(mesh, &set, &editor, &target, args, console, &mut positions)?;
    Ok(Posed {
        handles: handles.collect(),
        mesh: mesh.with_positions(positions)?,
        n_soft: editor.n_soft(),
        n_refined,
        prepare_ms,
        frame_ms: times[times.len() / 2],
        n_solves: times.len(),
    })
}

/// Refine a posed surface as often as is asked for or worth it, or until nothing moves any more. Returns how often.
fn refine(
    mesh: &Mesh,
    handles: &HandleSet,
    editor: &SurfaceEditor,
    pose: &HandlePose,
    args: &PoseArgs,
    console: &Console,
    positions: &mut [DVec3],
) -> anyhow::Result<usize> {
    let is_wanted = args.refine.map_or(args.method == Method::Guided, |n| n > 0);
    if !is_wanted {
        return Ok(0);
    }
    let named = |error| with_path(error, &args.model);
    let progress = console.progress("preparing to refine");
    let refiner =
        SurfaceRefiner::new(mesh, handles, editor, &|share| progress.update(share)).map_err(named)?;
    drop(progress);
    let progress = console.progress("refining");
    let wanted = args.refine.map_or(refiner.iterations(), usize::from);
    let mut done = 0;
    while done < wanted {
        let next = (wanted - done).min(refiner.iterations());
        let moved = refiner.refine(pose, next, positions).map_err(named)?;
        done += next;
        if moved < MIN_MOVEMENT {
            break;
        }
        let _ = progress.update(done as f64 / wanted as f64);
    }
    Ok(done)
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
        "distortion": quality.distortion,
        "gap": quality.gap,
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
        format!("  distortion          {:.1} %", 100.0 * x("distortion")),
        format!("  flipped faces       {}", report["flipped"]),
        format!(
            "  self-intersections  {} faces that did not intersect at rest",
            report["self_intersections"]
        ),
    ]
    .join("\n")
}
