//! `sinew turntable`: a clip that turns a character once about its vertical axis.

use super::{
    input::{read_surface, with_path},
    output::{OutputOptions, check_name, write_character},
};
use crate::console::Console;
use clap::Args;
use serde_json::json;
use sinew::{
    geom::Warnings,
    session::{Document, TurntableSettings, add_turntable},
};
use std::path::PathBuf;

/// Add a clip that turns a character once about its vertical axis
#[derive(Args)]
pub struct TurntableArgs {
    /// Mesh or character
    pub model: PathBuf,
    /// Duration of the turn in seconds
    #[arg(long, value_name = "S", default_value_t = TurntableSettings::default().seconds)]
    pub seconds: f64,
    /// Name of the clip to write
    #[arg(long, value_name = "NAME", default_value_t = TurntableSettings::default().clip)]
    pub name: String,
    /// File to write (glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &TurntableArgs, console: &Console) -> anyhow::Result<()> {
    check_name(&args.output, false)?;
    let mut warnings = Warnings::default();
    let (character, origin) = read_surface(&args.model, console, &mut warnings)?;
    let settings = TurntableSettings { clip: args.name.clone(), seconds: args.seconds };
    let turned =
        add_turntable(&Document::new(character), &settings).map_err(|error| with_path(error, &args.model))?;
    let options = OutputOptions { clip: Some(args.name.clone()), fps: None, influences: 4, origin };
    let bytes = write_character(&turned.character(), &args.output, &options, &mut warnings)?;
    console.warn(&args.model, &warnings);
    let report = json!({
        "clip": args.name,
        "seconds": args.seconds,
        "written": args.output.display().to_string(),
        "bytes": bytes,
        "warnings": warnings.messages,
    });
    console.result(&report, || {
        format!("{}  clip {:?} of {} s, {bytes} bytes", args.output.display(), args.name, args.seconds)
    })
}
