//! Opening any file or folder.

use crate::{
    BvhFile, Format, FormatError, GltfFile, Model, SequenceFolder, alembic, bvh, fbx,
    format::{read_file, read_mesh},
    gltf, mvnx, point_cache, recording,
    side_files::side_files_in,
    usd,
};
use sinew_geom::{BodyRecording, Character, Warnings};
use std::path::Path;

/// Frames per second where a file does not say.
const DEFAULT_FPS: f64 = 30.0;

/// Content of a file.
#[derive(Debug)]
pub enum Content {
    /// A mesh, with the clip of its vertices if the file has one.
    Model(Box<Model>),
    /// A scene: glTF, or what was translated to it.
    Gltf(Box<GltfFile>),
    /// A skeleton and its motion.
    Bvh(Box<BvhFile>),
    /// Points of a body over time.
    Recording(BodyRecording),
    /// A folder of frames, not read yet.
    Sequence(Box<SequenceFolder>),
}

impl Content {
    /// The character in it, if there is one.
    pub fn into_character(self) -> Option<Character> {
        match self {
            Self::Model(model) => Some(model.character),
            Self::Gltf(file) => Some(file.character),
            Self::Bvh(file) => Some(file.character),
            Self::Recording(_) | Self::Sequence(_) => None,
        }
    }
}

/// Open a file or a folder of frames. The format is found from the content if possible, else from the
/// extension of its name.
///
/// # Errors
/// As the reader of its format; formats that cannot be read give an alternative.
pub fn read_any(path: &Path, warnings: &mut Warnings) -> Result<Content, FormatError> {
    read_any_within(path, None, warnings)
}

/// As [`read_any`], but with a `root` nothing is read that is not really below it: for files of unknown origin, whose
/// side files and frames could be links to anything.
///
/// # Errors
/// As [`read_any`].
pub fn read_any_within(
    path: &Path,
    root: Option<&Path>,
    warnings: &mut Warnings,
) -> Result<Content, FormatError> {
    if path.is_dir() {
        return Ok(Content::Sequence(Box::new(SequenceFolder::open_within(path, root, warnings)?)));
    }
    read_content(&read_file(path)?, path, root, warnings)
}

/// Read a file whose bytes are already in memory; `path` is where its side files are.
///
/// # Errors
/// As [`read_any`].
pub fn read_content(
    bytes: &[u8],
    path: &Path,
    root: Option<&Path>,
    warnings: &mut Warnings,
) -> Result<Content, FormatError> {
    let (name, format) = (path.to_string_lossy(), Format::of_file(bytes, path, warnings)?);
    let folder = path.parent().unwrap_or(Path::new("."));
    let side = side_files_in(folder, root);
    Ok(match format {
        Format::Gltf => Content::Gltf(Box::new(gltf::read_gltf_with_host(bytes, &side, &name, warnings)?)),
        Format::Fbx => Content::Gltf(Box::new(fbx::read_fbx(bytes, &side, &name, warnings)?)),
        Format::Bvh => Content::Bvh(Box::new(bvh::read_bvh(bytes, &name, warnings)?)),
        Format::Pc2 | Format::Mdd => {
            Content::Model(Box::new(point_cache::read_over_neighbour(bytes, path, root, warnings)?))
        }
        Format::Alembic => Content::Model(Box::new(alembic::read_alembic(bytes, &name, warnings)?)),
        Format::Mvnx => Content::Bvh(Box::new(mvnx::read_mvnx(bytes, &name, warnings)?)),
        Format::Usd => Content::Gltf(Box::new(usd::read_usd(bytes, &side, &name, warnings)?)),
        Format::Kinect => Content::Recording(recording::read_kinect(bytes, &name, warnings)?),
        Format::Landmarks => Content::Recording(recording::read_landmarks(bytes, DEFAULT_FPS, &name)?),
        mesh => Content::Model(Box::new(read_mesh(mesh, bytes, &side, &name, warnings)?)),
    })
}
