//! glTF to [`Character`].

mod accessor;
mod animation;
mod assemble;
mod bind;
mod container;
mod ignored;
mod influences;
mod info;
mod json;
pub(super) mod material;
mod merge;
mod own;
mod part;
mod resource;
mod rig;
mod scene;
mod sequence;
mod unscale;

pub use info::GltfInfo;
pub use resource::{SideFiles, no_side_files};
pub(crate) use resource::{check_within, side_files_in};
pub use sequence::{morph_sequence, read_morph_sequence};

use super::schema::{Object, Root};
use crate::{Fault, FormatError};
use sinew_geom::{Character, Warnings};
use std::path::Path;

/// What to do about compressed files.
const DECOMPRESS: &str =
    "decompress it first, by `npx @gltf-transform/cli copy IN OUT` or by exporting it without compression";

/// Everything read from a glTF file.
#[derive(Debug, Clone)]
pub struct GltfFile {
    /// All that the default scene shows, as one character; of all scenes if none is the default.
    pub character: Character,
    /// Counts over the whole file.
    pub info: GltfInfo,
    /// Extensions at the root of the file as they stand there, for those who know them. What another file may
    /// take over, [`portable_extensions`](super::portable_extensions) tells.
    pub extensions: Object,
}

/// Read a `.glb`, `.gltf`, `.vrm` or `.vrma` file.
///
/// # Errors
/// If the file cannot be opened, or all faults of its content.
pub fn read_gltf_file(path: &Path, warnings: &mut Warnings) -> Result<GltfFile, FormatError> {
    let bytes = resource::read_whole(path)?;
    let side = resource::side_files_in(path.parent().unwrap_or(Path::new(".")), None);
    read_gltf(&bytes, &side, &path.to_string_lossy(), warnings)
}

/// Read glTF from memory; `name` stands for the file in messages and names the character.
///
/// The meshes of the scene become one surface in file order, its vertices neither welded nor reordered, in the
/// space of the world at rest. Nodes that move, and those above them, become the rig. A mesh that hangs on a
/// moving node without skin is bound to it. If nothing moves there is neither rig nor skin.
///
/// # Errors
/// All faults of the content. What can be spared (an animation, a picture, an attribute) is left out with a
/// warning instead.
pub fn read_gltf(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<GltfFile, FormatError> {
    let fail = |faults| FormatError::faults(name, faults);
    let container = container::split_container(bytes).map_err(|fault| fail(vec![fault]))?;
    let root = json::parse_root(&container).map_err(fail)?;
    let mut faults = check_asset(&root, warnings);
    let scene = scene::Scene::read(&root, &mut faults, warnings);
    if !faults.is_empty() {
        return Err(fail(faults));
    }
    let buffers = resource::Buffers::load(&root, container.bin, side);
    let decoder = accessor::Decoder::new(&root, buffers, bytes.len());
    let mut character = assemble::assemble(&decoder, &scene, side, warnings).map_err(fail)?;
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    character.name = stem.unwrap_or_default();
    ignored::warn_ignored(&root, warnings);
    let mut info = GltfInfo::count(&root);
    info.n_instances = assemble::instances(&root, &scene).count();
    Ok(GltfFile { character, info, extensions: root.extensions.clone() })
}

/// Bytes of buffer views of a file, for those who know an extension that names them.
///
/// # Errors
/// If the file is broken or has no such view.
pub fn read_views(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    indices: &[usize],
) -> Result<Vec<Vec<u8>>, FormatError> {
    let fail = |faults| FormatError::faults(name, faults);
    let container = container::split_container(bytes).map_err(|fault| fail(vec![fault]))?;
    let root = json::parse_root(&container).map_err(fail)?;
    let buffers = resource::Buffers::load(&root, container.bin, side);
    let decoder = accessor::Decoder::new(&root, buffers, bytes.len());
    let views = indices.iter().map(|&index| {
        let view = decoder.view(index, "/bufferViews")?;
        decoder.charge(view.len() as u64, 1, "/bufferViews")?;
        Ok(view.to_vec())
    });
    views.collect::<Result<_, Fault>>().map_err(|fault| fail(vec![fault]))
}

fn check_asset(root: &Root, warnings: &mut Warnings) -> Vec<Fault> {
    let mut faults = Vec::new();
    let version = root.asset.min_version.as_ref().unwrap_or(&root.asset.version);
    if !(version == "2" || version.starts_with("2.")) {
        let cause = format!("version {version:?} is not supported");
        faults.push(Fault::json("/asset/version", cause).with_remedy("convert the file to glTF 2.0"));
    }
    for (index, name) in root.extensions_required.iter().enumerate() {
        match name.as_str() {
            "KHR_draco_mesh_compression" | "EXT_meshopt_compression" | "KHR_meshopt_compression" => {
                let path = format!("/extensionsRequired/{index}");
                faults.push(Fault::json(path, format!("{name} is not supported")).with_remedy(DECOMPRESS));
            }
            "KHR_mesh_quantization" => {}
            _ => warnings
                .push(format!("the file requires {name}, which is not known here; it was read without")),
        }
    }
    faults
}
