//! What of a whole file is not read.

use sinew_geom::Warnings;
use ufbx::{PropFlags, Scene, WarningType};

/// Name everything of this kind.
pub(super) fn warn_lost(scene: &Scene, warnings: &mut Warnings) {
    let is_custom = |node: &ufbx::Node| {
        node.element.props.props.iter().any(|prop| prop.flags.has_any(PropFlags::USER_DEFINED))
    };
    let n_custom = scene.nodes.iter().filter(|node| is_custom(node)).count();
    let n_surfaces = scene.nurbs_surfaces.len() + scene.nurbs_trim_surfaces.len();
    let n_curves = scene.nurbs_curves.len() + scene.line_curves.len();
    let counts = [
        (scene.cameras.len(), "cameras"),
        (scene.lights.len(), "lights"),
        (n_surfaces, "NURBS surfaces"),
        (n_curves, "curves"),
        (scene.procedural_geometries.len(), "procedural geometries"),
        (scene.constraints.len(), "constraints (what they did to the clips was not always baked)"),
        (scene.characters.len(), "definitions of characters"),
        (scene.audio_clips.len(), "sounds"),
        (n_custom, "nodes' custom properties"),
    ];
    let lost: Vec<String> =
        counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if !lost.is_empty() {
        warnings.push(format!("left out: {}", lost.join(", ")));
    }
    if !scene.lod_groups.is_empty() {
        warnings.push("of levels of detail the finest is shown, the others are hidden parts");
    }
    for warning in &scene.metadata.warnings {
        // Files beside this one are looked for where they are needed.
        if warning.type_ != WarningType::MissingExternalFile {
            let times = if warning.count > 1 { format!(" ({} times)", warning.count) } else { String::new() };
            warnings.push(format!("in the FBX data: {}{times}", warning.description.to_lowercase()));
        }
    }
}
