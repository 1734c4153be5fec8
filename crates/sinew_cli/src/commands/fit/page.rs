//! `--report`: one page that shows where a fit is good and where it is not.

use super::method::Fitted;
use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sinew::{
    formats::write_atomic,
    geom::Mesh,
    skin::{SkinErrors, SkinFitter},
};
use std::path::Path;

const TEMPLATE: &str = include_str!("page.html");
/// Where the template takes the data.
const PLACE: &str = "/*DATA*/null";

/// Write the page.
pub fn write(
    path: &Path,
    rest: &Mesh,
    fitter: &SkinFitter,
    fitted: &Fitted,
    errors: &SkinErrors,
    report: &Value,
) -> anyhow::Result<()> {
    let skin = &fitted.fit.skin;
    let command: Vec<String> = std::env::args().map(|argument| quoted(&argument)).collect();
    let data = json!({
        "report": report,
        "command": command.join(" "),
        "influences": skin.influences,
        "positions": floats(skin.rest.iter().flat_map(|p| p.as_vec3().to_array())),
        "faces": encode(rest.faces().iter().flatten().flat_map(|v| v.to_le_bytes())),
        "error": floats(errors.per_vertex.iter().map(|&e| e as f32)),
        "leaning": floats(errors.normals.per_vertex.iter().copied()),
        "deformation": floats(fitter.vertex_deformation()?),
        "strongest": encode(skin.strongest_bones().iter().flat_map(|v| v.to_le_bytes())),
        "indices": encode(skin.indices.iter().flat_map(|v| v.to_le_bytes())),
        "weights": encode(skin.weights.iter().map(|w| (w * 255.0).round() as u8)),
        "joints": floats(skin.bone_middles().iter().flat_map(|p| p.as_vec3().to_array())),
        "perFrame": errors.per_frame,
        "perRound": fitted.fit.report.errors,
    });
    // A closing tag inside a name must not end the script.
    let text = data.to_string().replace("</", "<\\/");
    let page = TEMPLATE.replacen(PLACE, &text, 1);
    write_atomic(path, page.as_bytes())
        .with_context(|| format!("{}: the report cannot be written", path.display()))
}

fn quoted(argument: &str) -> String {
    let plain = argument.chars().all(|c| c.is_alphanumeric() || "-_./=%,:+".contains(c));
    if plain { argument.to_owned() } else { format!("'{}'", argument.replace('\'', "'\\''")) }
}

fn encode(bytes: impl Iterator<Item = u8>) -> String {
    STANDARD.encode(bytes.collect::<Vec<u8>>())
}

fn floats(values: impl IntoIterator<Item = f32>) -> String {
    encode(values.into_iter().flat_map(f32::to_le_bytes))
}
