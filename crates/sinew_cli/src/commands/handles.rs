//! `sinew handles auto`: handles found on any model.

use super::{
    input::{read_surface, with_path},
    output::{OutputOptions, write_character},
};
use crate::console::Console;
use anyhow::{anyhow, bail};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use sinew::{
    deform::{AutoParams, DeformError, SkinHandleParams, find_handles, handles_from_skin},
    formats::{handles::write_handles, write_atomic},
    geom::{Character, Handle, Warnings},
};
use std::path::PathBuf;
use std::{fmt::Write, path::Path};

/// Work with handles, the regions by which a surface is moved
#[derive(Args)]
pub struct HandlesArgs {
    #[command(subcommand)]
    command: HandlesCommand,
}

#[derive(Subcommand)]
pub enum HandlesCommand {
    /// Find handles from the bones if there is a skin, else from the shape
    Auto(HandlesAutoArgs),
}

#[derive(Args)]
pub struct HandlesAutoArgs {
    /// Mesh or character
    pub model: PathBuf,
    /// Approximate number, up to 1000 [default: as many as the shape suggests]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub count: Option<u16>,
    /// Use the shape even if there is a skin
    #[arg(long)]
    pub from_shape: bool,
    /// File to write: only the handles (json), or the character with them (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

/// Names of a list that are shown to people.
const N_SHOWN: usize = 4;

/// Where handles come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    File,
    Model,
    Skin,
    Shape,
}

impl Source {
    /// The word in results for scripts.
    pub fn name(self) -> &'static str {
        ["file", "model", "skin", "shape"][self as usize]
    }

    /// The words in results for people.
    pub fn description(self) -> &'static str {
        [
            "from the handles file",
            "that the model carries",
            "found from its bones",
            "found from its shape alone",
        ][self as usize]
    }
}

/// Run a subcommand of `sinew handles`.
pub fn run(args: &HandlesArgs, console: &Console) -> anyhow::Result<()> {
    match &args.command {
        HandlesCommand::Auto(args) => run_auto(args, console),
    }
}

fn run_auto(args: &HandlesAutoArgs, console: &Console) -> anyhow::Result<()> {
    let is_json = has_ending(&args.output, "json");
    if !is_json && !has_ending(&args.output, "glb") {
        let shown = args.output.display();
        bail!("{shown}: handles are written as .json, or with their character as .glb; name it so");
    }
    let mut warnings = Warnings::default();
    let (mut character, extensions) = read_surface(&args.model, console, &mut warnings)?;
    let params = AutoParams { count: args.count.map(usize::from), ..AutoParams::default() };
    let found = find(&character, &params, args.from_shape, console, &mut warnings);
    let (handles, source) = found.map_err(|error| with_path(error, &args.model))?;
    if source == Source::Skin && args.count.is_some() {
        warnings.push("--count has no effect on handles of bones; add --from-shape to use it");
    }
    let mut report = describe(&character, &handles);
    let n_bytes = if is_json {
        let bytes = write_handles(&handles);
        write_atomic(&args.output, &bytes)?;
        bytes.len() as u64
    } else {
        if !character.handles.is_empty() {
            warnings.push(format!("the {} handles that the model had are replaced", character.handles.len()));
        }
        character.handles = handles;
        let options = OutputOptions { clip: None, fps: None, influences: 4, extensions };
        write_character(&character, &args.output, &options, &mut warnings)?
    };
    console.warn(&args.model, &warnings);
    report["source"] = json!(source.name());
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(n_bytes);
    report["warnings"] = json!(warnings.messages);
    console.result(&report, || as_text(&report, source))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending))
}

/// Handles of a character: of its bones if it has a skin that serves, else of its shape.
pub fn find(
    character: &Character,
    params: &AutoParams,
    from_shape: bool,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(Vec<Handle>, Source)> {
    if !from_shape && character.rig.is_some() && character.skin.is_some() {
        match handles_from_skin(character, &SkinHandleParams::default(), warnings) {
            Ok(handles) => return Ok((handles, Source::Skin)),
            Err(error) => warnings.push(format!("its bones give no handles ({error}); its shape is used")),
        }
    }
    let progress = console.progress("finding handles");
    match find_handles(&character.mesh, params, &mut |share| progress.update(share), warnings) {
        Ok(handles) => Ok((handles, Source::Shape)),
        Err(DeformError::NoHandle) => {
            Err(anyhow!("no face has any area, so there is no surface to hold; repair the model"))
        }
        Err(error) => Err(error.into()),
    }
}

fn describe(character: &Character, handles: &[Handle]) -> Value {
    let handle = |h: &Handle| {
        json!({
            "name": h.name,
            "vertices": h.vertices.len(),
            "center": h.center.to_array(),
            "secondary": h.secondary,
        })
    };
    let n_held: usize = handles.iter().map(|h| h.vertices.len()).sum();
    json!({
        "handles": handles.iter().map(handle).collect::<Vec<_>>(),
        "vertices": character.mesh.n_vertices(),
        "soft_vertices": character.mesh.n_vertices().saturating_sub(n_held),
    })
}

fn as_text(report: &Value, source: Source) -> String {
    let none = Vec::new();
    let handles = report["handles"].as_array().unwrap_or(&none);
    let name = |h: &Value| h["name"].as_str().unwrap_or_default().to_owned();
    let width = handles.iter().map(|h| name(h).chars().count()).max().unwrap_or(0);
    let mut text = format!(
        "{}  {} handles {}, {} of {} vertices soft, {} bytes\n",
        report["written"].as_str().unwrap_or_default(),
        handles.len(),
        source.description(),
        report["soft_vertices"],
        report["vertices"],
        report["bytes"]
    );
    for handle in handles {
        let n = handle["vertices"].as_u64().unwrap_or(0);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {:width$}  {n:>7} vertices{}", name(handle), along(handle));
    }
    text
}

/// Handles that move along with one; of many, the first few.
fn along(handle: &Value) -> String {
    let names = handle["secondary"].as_array().map(Vec::as_slice).unwrap_or_default();
    let shown: Vec<&str> = names.iter().take(N_SHOWN).filter_map(Value::as_str).collect();
    match names.len() {
        0 => String::new(),
        n if n > N_SHOWN => format!("  moves {} and {} more", shown.join(", "), n - N_SHOWN),
        _ => format!("  moves {}", shown.join(", ")),
    }
}
