//! What a file holds that is kept as it came, but neither drawn nor moved here: said when the file is opened.

use super::{Source, pictures::undrawn_textures};
use crate::gltf::parts::INSTANCING;
use crate::gltf::schema::Channel;
use serde_json::Value;
use sinew_geom::Warnings;

const POINTER: &str = "KHR_animation_pointer";

/// Name everything of this kind.
pub(super) fn note_unshown(source: &Source, warnings: &mut Warnings) {
    let Ok(json) = source.parse_json() else { return };
    let n_instanced = elements(&json["nodes"]).filter(|node| is_instanced(node)).count();
    if n_instanced > 0 {
        warnings.push(format!(
            "{INSTANCING}: {n_instanced} meshes are drawn many times by others; the copies are kept in the file and stay where they are, but only one of each is shown and moved here"
        ));
    }
    let channels = elements(&json["animations"]).flat_map(|animation| elements(&animation["channels"]));
    let n_pointers = channels.filter(|channel| points(channel)).count();
    if n_pointers > 0 {
        warnings.push(format!(
            "{POINTER}: {n_pointers} channels animate materials, lights and the like; they are kept in the file, but not played here"
        ));
    }
    let n_undrawn = undrawn_textures(source, &json);
    if n_undrawn > 0 {
        let n = elements(&json["textures"]).count();
        warnings.push(format!(
            "{n_undrawn} of {n} textures are compressed for graphics cards (KTX2, DDS): they are kept in the file, but the studio draws their materials without them"
        ));
    }
}

/// Whether a node draws its mesh at many places.
fn is_instanced(node: &Value) -> bool {
    node["extensions"].get(INSTANCING).is_some() && node.get("mesh").is_some()
}

fn points(channel: &Value) -> bool {
    channel["target"]["extensions"].get(POINTER).is_some()
}

/// Whether an animation only animates what joints and morphs cannot say.
pub(super) fn only_points(channels: &[Channel]) -> bool {
    !channels.is_empty() && channels.iter().all(|channel| channel.target.path == "pointer")
}

fn elements(list: &Value) -> impl Iterator<Item = &Value> {
    list.as_array().into_iter().flatten()
}
