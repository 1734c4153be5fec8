//! glTF to [`Character`].

pub(super) mod accessor;
pub(super) mod animation;
pub(super) mod assemble;
mod avatar;
pub(super) mod bind;
pub(super) mod container;
pub(super) mod ignored;
mod influences;
mod info;
pub(super) mod json;
pub(super) mod map;
pub(super) mod material;
mod merge;
pub(super) mod own;
mod part;
pub(super) mod pictures;
pub(super) mod resource;
mod rig;
pub(super) mod scene;
mod sequence;
pub(super) mod surface_parts;
mod unpack;
mod unscale;
mod unshown;

pub use avatar::Avatar;
pub use info::GltfInfo;
pub use sequence::{morph_sequence, read_morph_sequence};

use super::parts::{self, SurfaceParts};
use super::schema::{Object, Root};
use super::source_file::Host;
use crate::{
    Fault, FormatError,
    side_files::{SideFiles, side_files_in},
};
use map::HostMap;
use sinew_geom::{Character, Warnings};
use std::{cell::RefCell, collections::BTreeMap, path::Path, sync::Arc};
use unpack::unpacked;

/// What to do about compressed files.
const DECOMPRESS: &str = "export it without compression";

/// Everything read from a glTF file.
#[derive(Debug, Clone)]
pub struct GltfFile {
    /// Everything in the default scene, as one character; of all scenes if none is the default.
    pub character: Character,
    /// Counts over the whole file.
    pub info: GltfInfo,
    /// Extensions at the root of the file, unchanged. [`portable_extensions`](super::portable_extensions) returns
    /// those that another file may contain.
    pub extensions: Object,
    /// The file itself, if it was asked for, so that the character can be written back into it.
    pub host: Option<Arc<Host>>,
}

/// Read a `.glb`, `.gltf`, `.vrm` or `.vrma` file.
///
/// # Errors
/// If the file cannot be opened, or all faults of its content.
pub fn read_gltf_file(path: &Path, warnings: &mut Warnings) -> Result<GltfFile, FormatError> {
    let bytes = resource::read_whole(path)?;
    let side = side_files_in(path.parent().unwrap_or(Path::new(".")), None);
    read_gltf_with_host(&bytes, &side, &path.to_string_lossy(), warnings)
}

/// Read glTF from memory; `name` is the file in messages and names the character.
///
/// The meshes of the scene become one surface in file order, its vertices neither welded nor reordered, in the
/// space of the world at rest. Nodes that move, and those above them, become the rig. A mesh without skin on a
/// moving node is bound to it. If nothing moves there is neither rig nor skin.
///
/// # Errors
/// All faults of the content. Optional parts (an animation, a picture, an attribute) are left out with a
/// warning instead.
pub fn read_gltf(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<GltfFile, FormatError> {
    let bytes = &*unpacked(bytes, side, name, warnings)?;
    with_source(bytes, side, name, warnings, |source, warnings| {
        ignored::warn_ignored(source.decoder.root, warnings);
        Ok(file_of(source, warnings))
    })
}

fn file_of(source: Source, warnings: &mut Warnings) -> GltfFile {
    let root = source.decoder.root;
    let mut info = GltfInfo::count(root);
    info.avatar = Avatar::read(root, warnings);
    info.n_instances = assemble::instances(root, source.scene).count();
    GltfFile { character: source.character, info, extensions: root.extensions.clone(), host: None }
}

/// As [`read_gltf`], and keep the file with all its side files, so that the character can be written back into it. Files
/// that Sinew wrote by itself hold nothing else and are not kept.
///
/// # Errors
/// As [`read_gltf`].
pub fn read_gltf_with_host(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<GltfFile, FormatError> {
    let bytes = &*unpacked(bytes, side, name, warnings)?;
    let kept: RefCell<BTreeMap<String, Arc<Vec<u8>>>> = RefCell::default();
    let recorded = |file: &str| {
        if let Some(bytes) = kept.borrow().get(file) {
            return Ok(bytes.to_vec());
        }
        let bytes = side(file)?;
        kept.borrow_mut().insert(file.to_owned(), Arc::new(bytes.clone()));
        Ok(bytes)
    };
    let mut file = with_source(bytes, &recorded, name, warnings, |source, warnings| {
        let root = source.decoder.root;
        if assemble::is_own(root) {
            ignored::warn_ignored(root, warnings);
            return Ok((file_of(source, warnings), None));
        }
        for (index, image) in root.images.iter().enumerate() {
            let uri = image.uri.as_ref().filter(|uri| !uri.starts_with("data:"));
            if let Some(Err(cause)) = uri.map(|uri| resource::load_uri(uri, &recorded)) {
                warnings.push(format!("/images/{index}: {cause}; only its name is kept"));
            }
        }
        unshown::note_unshown(&source, warnings);
        let parts = SurfaceParts::of_source(&source).parts;
        Ok((file_of(source, warnings), Some(parts)))
    })?;
    if let Some(parts) = file.1 {
        file.0.host = Some(Arc::new(Host::new(bytes, kept.take(), name, parts)));
    }
    Ok(file.0)
}

/// A file taken apart.
pub(super) struct Source<'a> {
    pub decoder: &'a accessor::Decoder<'a>,
    pub scene: &'a scene::Scene,
    pub json: &'a [u8],
    pub side: SideFiles<'a>,
    pub character: Character,
    pub map: HostMap,
}

impl Source<'_> {
    /// The whole JSON, with what is not read.
    pub fn parse_json(&self) -> serde_json::Result<serde_json::Value> {
        let padding = self.json.iter().rev().take_while(|&&byte| byte == 0).count();
        let text = &self.json[..self.json.len() - padding];
        serde_json::from_slice(text)
    }

    /// Bytes of a file beside this one, if it is there.
    pub fn side_file(&self, uri: &str) -> Option<Vec<u8>> {
        resource::load_uri(uri, self.side).ok()
    }
}

/// Read a file and use its parts.
pub(super) fn with_source<R>(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
    then: impl FnOnce(Source, &mut Warnings) -> Result<R, FormatError>,
) -> Result<R, FormatError> {
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
    let (mut character, map) = assemble::assemble(&decoder, &scene, side, warnings).map_err(fail)?;
    let stem = Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    character.name = stem.unwrap_or_default();
    then(Source { decoder: &decoder, scene: &scene, json: container.json, side, character, map }, warnings)
}

/// Bytes of buffer views of a file, for extensions that refer to them.
///
/// # Errors
/// If the file is broken or has no such view.
pub fn read_views(
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    indices: &[usize],
) -> Result<Vec<Vec<u8>>, FormatError> {
    let bytes = &*unpacked(bytes, side, name, &mut Warnings::default())?;
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
            _ if unpack::is_unpacked(name) => {
                let path = format!("/extensionsRequired/{index}");
                faults.push(Fault::json(path, format!("{name} is not supported")).with_remedy(DECOMPRESS));
            }
            "KHR_mesh_quantization" | parts::VISIBILITY => {}
            // What they say is kept with the materials; where it is lost, that is reported.
            _ if ["KHR_materials_", "EXT_materials_", "KHR_texture_", "EXT_texture_"]
                .iter()
                .any(|start| name.starts_with(start)) => {}
            _ => warnings
                .push(format!("the file requires {name}, which is not known here; it was read without")),
        }
    }
    faults
}
