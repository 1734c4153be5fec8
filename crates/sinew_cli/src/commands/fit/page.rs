//! `--report`: one page that shows where a fit is good and where it is not.

use super::method::Fitted;
use anyhow::Context;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sinew::{
    formats::write_atomic,
    geom::{Mesh, operators::FacetDeformation},
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
    let deformation = fitter.facet_deformation()?;
    let strongest: Vec<u16> = (0..skin.n_vertices())
        .map(|v| skin.vertex(v).fold((0, 0.0), |best, own| if own.1 > best.1 { own } else { best }).0)
        .collect();
    let command: Vec<String> = std::env::args().map(|argument| quoted(&argument)).collect();
    let data = json!({
        "report": report,
        "command": command.join(" "),
        "influences": skin.influences,
        "positions": floats(skin.rest.iter().flat_map(|p| p.as_vec3().to_array())),
        "faces": encode(rest.faces().iter().flatten().flat_map(|v| v.to_le_bytes())),
        "error": floats(errors.per_vertex.iter().map(|&e| e as f32)),
        "deformation": floats(per_vertex(rest, &deformation)),
        "strongest": encode(strongest.iter().flat_map(|v| v.to_le_bytes())),
        "indices": encode(skin.indices.iter().flat_map(|v| v.to_le_bytes())),
        "weights": encode(skin.weights.iter().map(|w| (w * 255.0).round() as u8)),
        "joints": floats(joints(fitted).into_iter().flatten()),
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

/// Mean deformation of the facets around each vertex.
fn per_vertex(rest: &Mesh, deformation: &[FacetDeformation]) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0); rest.n_vertices()];
    for (face, d) in rest.faces().iter().zip(deformation) {
        for &v in face {
            sums[v as usize].0 += d.total();
            sums[v as usize].1 += 1.0;
        }
    }
    sums.iter().map(|(sum, n): &(f64, f64)| (sum / n.max(1.0)) as f32).collect()
}

/// Middle of what each bone moves.
fn joints(fitted: &Fitted) -> Vec<[f32; 3]> {
    let skin = &fitted.fit.skin;
    let mut sums = vec![(glam::DVec3::ZERO, 0.0); skin.n_bones];
    for (vertex, p) in skin.rest.iter().enumerate() {
        for (bone, w) in skin.vertex(vertex) {
            sums[bone as usize].0 += f64::from(w) * *p;
            sums[bone as usize].1 += f64::from(w);
        }
    }
    sums.iter().map(|(sum, w)| (*sum / w.max(1e-12)).as_vec3().to_array()).collect()
}
