//! USD: `.usda`, `.usdc`, `.usd` and `.usdz`.
//!
//! # Source
//! OpenUSD 24, read without its library; see the modules.
//! # Limits
//! Meshes, transforms, skeletons with their skins and animations, blend shapes, points over time. The stage becomes a glTF scene,
//! which is read like any other: so names and the tree are kept in the GLB that is written. No materials, texture coordinates,
//! normals, cameras, lights, curves; no time offsets of layers.

mod binary;
mod compose;
mod described;
mod mesh;
mod numbers;
mod packed;
mod scene;
mod shapes;
mod stage;
mod text;
mod value;
mod zip;

use crate::{
    Fault, FormatError, GltfFile, Place, gltf, no_side_files, polygons::stem, side_files::SideFiles,
};
use glam::DMat4;
use sinew_geom::Warnings;
use stage::Stage;
use value::Value;

/// Time codes per second of files that do not say.
const DEFAULT_RATE: f64 = 24.0;
/// Metres of a unit of files that do not say.
const DEFAULT_UNIT: f64 = 0.01;

/// Whether bytes begin as USD of any form.
pub(crate) fn is_usd(bytes: &[u8]) -> bool {
    bytes.starts_with(b"#usda ") || binary::is_crate(bytes)
}

/// Read USD from memory; `side` gives the files that it refers to.
///
/// # Errors
/// The faults of the file and of its meshes, and if there is nothing in it that moves or is seen.
pub fn read_usd(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<GltfFile, FormatError> {
    let glb = to_glb(bytes, side, name, warnings)?;
    let mut said = Warnings::default();
    let read = gltf::read_gltf_with_host(&glb, &no_side_files, name, &mut said);
    said.messages.into_iter().for_each(|message| warnings.push(message));
    read
}

fn to_glb(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    let fail = |faults| FormatError::faults(name, faults);
    let layer = compose::compose(bytes, side, warnings).map_err(|fault| fail(vec![fault]))?;
    let number =
        |key: &str| layer.fields.get(key).and_then(Value::number).filter(|x| x.is_finite() && *x > 0.0);
    let unit = number("metersPerUnit").unwrap_or_else(|| {
        warnings.push("the file does not state its unit; it is centimetres, as USD says");
        DEFAULT_UNIT
    });
    let up = layer.fields.get("upAxis").and_then(Value::text);
    let turned =
        if up == Some("Z") { DMat4::from_rotation_x(-std::f64::consts::FRAC_PI_2) } else { DMat4::IDENTITY };
    let placement = turned * DMat4::from_scale(glam::DVec3::splat(unit));
    let mut stage = Stage::new(&layer.root, placement, warnings).map_err(|fault| fail(vec![fault]))?;
    let meshes = std::mem::take(&mut stage.meshes);
    let mut faults = Vec::new();
    for mesh in &meshes {
        if let Err(fault) = stage.add_mesh(mesh, warnings) {
            faults.push(fault);
        }
    }
    // One broken mesh does not hide the others.
    if faults.len() < meshes.len() {
        faults.drain(..).for_each(|fault| warnings.push(format!("{}; left out", fault.cause)));
    }
    if meshes.is_empty() && stage.skeletons.is_empty() {
        let cause = "there is neither a mesh nor a skeleton in it that is shown";
        faults.push(Fault::new(Place::Whole, cause).with_remedy("export meshes or a skeleton"));
    }
    if !faults.is_empty() {
        return Err(fail(faults));
    }
    if !stage.ignored.is_empty() {
        let list: Vec<&str> = stage.ignored.iter().map(String::as_str).collect();
        warnings.push(format!("not read: {}", list.join(", ")));
    }
    let rate = number("timeCodesPerSecond").or_else(|| number("framesPerSecond")).unwrap_or(DEFAULT_RATE);
    stage.scene.finish(&stem(name), rate)
}
