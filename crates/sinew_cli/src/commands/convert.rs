//! `sinew convert`: any readable format to any writable one.

use super::input::read_over;
use super::output::{
    Origin, OutputOptions, check_name, find_clip, is_folder, write_character, write_frames, write_sequence,
};
use crate::console::{Console, Progress};
use anyhow::{Context, bail, ensure};
use clap::Args;
use glam::{DVec3, Vec3};
use serde_json::json;
use sinew::{
    deform::{HandleSet, SkinDeviation, measure_skin},
    formats::{Content, gltf},
    geom::{Character, MeshSequence, Warnings, mesh::RepairParams},
    session::{DEFAULT_FPS, Document, Placement, count_frames, find_parts, parse_axis, with_handle_skeleton},
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Convert any readable format to any writable one
#[derive(Args)]
pub struct ConvertArgs {
    /// File or folder to read
    pub input: PathBuf,
    /// File to write (glb, obj, ply, bvh), or a folder for a sequence of obj files
    pub output: PathBuf,
    /// Mesh that a point cache (pc2, mdd) deforms [default: the mesh file of the same name beside it]
    #[arg(long, value_name = "FILE")]
    pub mesh: Option<PathBuf>,
    /// Repair the mesh: merge coincident vertices, drop degenerate and duplicate faces, orient, split
    /// non-manifold places
    #[arg(long)]
    pub repair: bool,
    /// With --repair, merge vertices closer than this many metres, not only coincident ones
    #[arg(long, value_name = "METRES", requires = "repair")]
    pub weld: Option<f64>,
    /// Multiply all lengths, for example 0.01 for centimetres
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// Unit of the input, which becomes metres: mm, cm, m, in, ft, or metres as a number
    #[arg(long, value_name = "UNIT", value_parser = unit, conflicts_with = "scale")]
    pub unit: Option<f64>,
    /// Axis of the input that points up: x, y, z, -x, -y or -z; it becomes +Y
    #[arg(long, value_name = "AXIS", value_parser = axis, allow_hyphen_values = true)]
    pub up: Option<DVec3>,
    /// Axis of the input that the body faces; it becomes +Z
    #[arg(long, value_name = "AXIS", value_parser = axis, allow_hyphen_values = true)]
    pub facing: Option<DVec3>,
    /// Write only these parts of the surface, by the names that `sinew info` lists, separated by commas
    #[arg(long, value_name = "NAMES", conflicts_with = "without")]
    pub parts: Vec<String>,
    /// Leave these parts out
    #[arg(long, value_name = "NAMES")]
    pub without: Vec<String>,
    /// Write these parts, but hide them (GLB, KHR_node_visibility)
    #[arg(long, value_name = "NAMES")]
    pub hide: Vec<String>,
    /// Show these parts, which the input hides
    #[arg(long, value_name = "NAMES")]
    pub show: Vec<String>,
    /// Turn handles into bones with at most 4 weights per vertex, for tools that support skeletons only; clips are carried over
    #[arg(long)]
    pub as_skin: bool,
    /// Which clip to write as BVH or as a sequence [default: the first]
    #[arg(long)]
    pub clip: Option<String>,
    /// Frames per second of sequences and BVH [default: as the input, else 30]
    #[arg(long)]
    pub fps: Option<f64>,
    /// Influences per vertex, up to 8; many players ignore more than 4
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=8))]
    pub influences: u8,
}

fn unit(text: &str) -> Result<f64, String> {
    let known = [("mm", 0.001), ("cm", 0.01), ("dm", 0.1), ("m", 1.0), ("in", 0.0254), ("ft", 0.3048)];
    let named = known.iter().find(|(name, _)| *name == text).map(|(_, metres)| *metres);
    let number = || text.parse::<f64>().ok().filter(|metres| metres.is_finite() && *metres > 0.0);
    named.or_else(number).ok_or_else(|| "give mm, cm, m, in, ft, or metres as a number above 0".to_owned())
}

fn axis(text: &str) -> Result<DVec3, String> {
    parse_axis(text).map_err(|error| error.to_string())
}

impl ConvertArgs {
    /// How the input is turned and scaled.
    fn placement(&self) -> anyhow::Result<Placement> {
        Ok(Placement::new(self.up, self.facing, self.unit.unwrap_or(self.scale))?)
    }

    /// Which parts are written, and which of them are shown.
    fn chosen_parts(
        &self,
        character: &Character,
        host: Option<&gltf::Host>,
    ) -> anyhow::Result<gltf::PartChoice> {
        let all = gltf::SurfaceParts::of(host, character);
        let names = |keep: &dyn Fn(&gltf::SurfacePart) -> bool| {
            let chosen = all.parts.iter().filter(|part| keep(part));
            chosen.map(|part| part.name.clone()).collect::<BTreeSet<String>>()
        };
        let mut left_out = find_parts(&all, &self.without)?;
        if !self.parts.is_empty() {
            let only = find_parts(&all, &self.parts)?;
            left_out = names(&|part| !only.contains(&part.name));
        }
        ensure!(
            left_out.is_empty() || left_out.len() < all.parts.len(),
            "no part of the surface would be left to write"
        );
        if self.hide.is_empty() && self.show.is_empty() {
            return Ok(gltf::PartChoice { left_out, hidden: None });
        }
        let (hide, show) = (find_parts(&all, &self.hide)?, find_parts(&all, &self.show)?);
        let is_hidden = |part: &gltf::SurfacePart| {
            hide.contains(&part.name) || !(part.is_visible || show.contains(&part.name))
        };
        let hidden = Some(names(&is_hidden));
        Ok(gltf::PartChoice { left_out, hidden })
    }
}

pub fn run(args: &ConvertArgs, console: &Console) -> anyhow::Result<()> {
    ensure!(args.scale.is_finite() && args.scale > 0.0, "--scale {} must be positive", args.scale);
    ensure!(args.fps.is_none_or(|fps| fps.is_finite() && fps > 0.0), "--fps must be positive");
    ensure!(args.weld.is_none_or(|w| w.is_finite() && w >= 0.0), "--weld must not be negative");
    args.placement()?;
    let mut warnings = Warnings::default();
    let progress = console.progress(&format!("reading {}", args.input.display()));
    let content = read_over(&args.input, args.mesh.as_deref(), args.fps, &mut warnings)?;
    let is_sequence = matches!(content, Content::Sequence(_));
    let bakes = has_clip(&content) && is_folder(&args.output);
    check_name(&args.output, is_sequence || bakes)?;
    warn_of_unused(args, &content, &mut warnings);
    let written = write(content, args, &progress, &mut warnings).map_err(|error| named(error, args))?;
    let (n_bytes, skin) = written;
    drop(progress);
    console.warn(&args.input, &warnings);
    let written = args.output.display().to_string();
    let mut value = json!({ "written": written, "bytes": n_bytes, "warnings": warnings.messages });
    let mut text = format!("{written}  {n_bytes} bytes");
    if let Some(error) = skin {
        value["skin_error_rms"] = json!(error.rms);
        value["skin_error_max"] = json!(error.max);
        let percent = |x: f64| 100.0 * x;
        text += &format!(
            "\nskin differs from the handles by {:.2} % of the diagonal on average, {:.2} % at most, over {} poses",
            percent(error.rms),
            percent(error.max),
            error.n_poses
        );
    }
    console.result(&value, || text)
}

/// Errors of parts that do not know which file they work on get its name.
fn named(error: anyhow::Error, args: &ConvertArgs) -> anyhow::Error {
    let text = format!("{error:#}");
    let knows = |path: &Path| {
        text.strip_prefix(&*path.to_string_lossy()).is_some_and(|rest| rest.starts_with([':', '/']))
    };
    let named = knows(&args.input) || knows(&args.output);
    if named { error } else { error.context(args.input.display().to_string()) }
}

/// Write what was read; returns the number of bytes, and how good a skin made of handles is.
fn write(
    content: Content,
    args: &ConvertArgs,
    progress: &Progress,
    warnings: &mut Warnings,
) -> anyhow::Result<(u64, Option<SkinDeviation>)> {
    let mut options = OutputOptions {
        clip: args.clip.clone(),
        fps: args.fps,
        influences: usize::from(args.influences),
        origin: Origin::default(),
    };
    match &content {
        // Its own frame time is exact, while times of keys are rounded.
        Content::Bvh(file) => options.fps = args.fps.or(Some(1.0 / file.frame_secs)),
        Content::Gltf(file) => options.origin = Origin::of(file, &args.input, warnings)?,
        _ => {}
    }
    let n_bytes = match content {
        Content::Recording(_) => {
            bail!("a recording of a body is not a character; it can drive one by `sinew puppet`")
        }
        Content::Sequence(folder) => {
            let fps = args.fps.unwrap_or(DEFAULT_FPS);
            let sequence = folder.read_all(fps, warnings, &mut |share| progress.update(share))?;
            let sequence = placed(sequence.context("stopped")?, &args.placement()?)?;
            let name = args.input.file_stem().unwrap_or_default().to_string_lossy();
            write_sequence(&sequence, folder.surface(), &name, &args.output, warnings)
        }
        Content::Gltf(file) if is_folder(&args.output) => bake(&file.character, args, warnings),
        Content::Model(model) if is_folder(&args.output) && !model.character.clips.is_empty() => {
            bake(&model.character, args, warnings)
        }
        other => {
            let mut character = prepared(other.into_character().unwrap_or_default(), args, warnings)?;
            if let Some(project) = options.origin.project.as_mut() {
                *project = Arc::new(project.scaled(args.placement()?.scale)?);
            }
            options.origin.parts = args.chosen_parts(&character, options.origin.host.as_deref())?;
            let error = if args.as_skin { Some(into_skin(&mut character, warnings)?) } else { None };
            let n_bytes = write_character(&character, &args.output, &options, warnings)?;
            return Ok((n_bytes, error));
        }
    };
    Ok((n_bytes?, None))
}

/// Whether a file could be written frame by frame: any scene, which may lack the clip, and a mesh that has one.
fn has_clip(content: &Content) -> bool {
    match content {
        Content::Gltf(_) => true,
        Content::Model(model) => !model.character.clips.is_empty(),
        _ => false,
    }
}

/// Replace whatever moves a character by bones made of its handles.
fn into_skin(character: &mut Character, warnings: &mut Warnings) -> anyhow::Result<SkinDeviation> {
    ensure!(
        !character.handles.is_empty(),
        "--as-skin needs handles, and there are none; make some by `sinew handles auto`"
    );
    let set = HandleSet::new(&character.mesh, &character.handles, warnings)?;
    if character.rig.is_some() {
        warnings.push(
            "the skeleton and skin of the input were replaced by those of the handles; its clips move them",
        );
    }
    let skinned = with_handle_skeleton(&Document::new(character.clone()), &mut Warnings::default())?;
    *character = skinned.character();
    let skin = character.skin.as_ref().context("a skin was made")?;
    Ok(measure_skin(&character.mesh, &set, skin)?)
}

fn prepared(character: Character, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<Character> {
    let mut character = character;
    if args.repair {
        let params = RepairParams { weld: Some(args.weld.unwrap_or(0.0)), ..RepairParams::default() };
        let (repaired, report) = character.repaired(&params)?;
        report.describe(warnings);
        let (before, after) = (character.mesh.n_faces(), repaired.mesh.n_faces());
        ensure!(before == 0 || after > 0, "no face has any area, so nothing is left to write");
        character = repaired;
    }
    let placement = args.placement()?;
    if placement.is_identity() { Ok(character) } else { Ok(placement.apply(&character)?) }
}

fn placed(sequence: MeshSequence, placement: &Placement) -> anyhow::Result<MeshSequence> {
    if placement.is_identity() {
        return Ok(sequence);
    }
    let rest = sequence.rest().positions().iter().map(|p| placement.point(*p)).collect();
    let there = |p: &Vec3| placement.point(p.as_dvec3()).as_vec3();
    let frames = sequence.frames().iter().map(|frame| frame.iter().map(there).collect()).collect();
    Ok(MeshSequence::new(sequence.rest().with_positions(rest)?, frames, sequence.fps())?)
}

/// Vertices of a clip over time, frame by frame into a folder: morph animation as it is keyed, anything else
/// sampled. Returns the number of bytes.
fn bake(character: &Character, args: &ConvertArgs, warnings: &mut Warnings) -> anyhow::Result<u64> {
    let placement = args.placement()?;
    let clip = find_clip(character, args.clip.as_deref()).context("a folder of frames needs an animation")?;
    if character.skin.is_none() && !character.morphs.is_empty() && args.fps.is_none() && args.clip.is_none() {
        let sequence =
            gltf::morph_sequence(character, None, warnings).map_err(|fault| anyhow::anyhow!("{fault}"))?;
        let sequence = placed(sequence, &placement)?;
        let n_frames = sequence.n_frames();
        return write_frames(&args.output, &character.surface, n_frames, |frame| Ok(sequence.mesh(frame)?));
    }
    let fps = args.fps.unwrap_or(DEFAULT_FPS);
    let n_frames = count_frames(Some(clip), fps)?;
    write_frames(&args.output, &character.surface, n_frames, |frame| {
        let positions = character.positions_at(Some(clip), (frame as f64 / fps) as f32)?;
        let there = positions.iter().map(|p| placement.point(p.as_dvec3())).collect();
        Ok(character.mesh.with_positions(there)?)
    })
}

/// Say which options this kind of conversion does not use.
fn warn_of_unused(args: &ConvertArgs, content: &Content, warnings: &mut Warnings) {
    let (sequence, bakes) = (matches!(content, Content::Sequence(_)), is_folder(&args.output));
    let is_over_mesh = args.mesh.is_some();
    let ends_with = |ending: &str| args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending));
    let to_bvh = ends_with("bvh");
    let hides = !(args.hide.is_empty() && args.show.is_empty());
    let chooses = !(args.parts.is_empty() && args.without.is_empty());
    let is_made = !matches!(content, Content::Gltf(file) if file.host.is_some());
    let unused = [
        (args.repair && (sequence || bakes), "--repair"),
        (args.as_skin && (sequence || bakes), "--as-skin"),
        (args.clip.is_some() && (sequence || !(bakes || to_bvh)), "--clip"),
        (args.fps.is_some() && !(sequence || bakes || to_bvh || is_over_mesh), "--fps"),
        (hides && (is_made || bakes || !ends_with("glb")), "--hide or --show"),
        (chooses && (sequence || bakes || to_bvh), "--parts or --without"),
    ];
    for (_, option) in unused.iter().filter(|(unused, _)| *unused) {
        warnings.push(format!("{option} has no effect on this conversion"));
    }
}
