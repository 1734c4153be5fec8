//! Opening any file: its format and its content.

use crate::{
    BvhFile, Fault, FormatError, GltfFile, Model, Place, SequenceFolder, bvh, gltf, medit, obj, off, ply,
    recording,
    side_files::{SideFiles, check_within, side_files_in},
    stl,
    text::{file_error, without_mark},
};
use sinew_geom::{BodyRecording, Character, Warnings};
use std::{
    fs,
    io::{ErrorKind, Read},
    path::Path,
};

/// Frames per second where a file does not say.
const DEFAULT_FPS: f64 = 30.0;

/// A readable format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Format {
    Obj,
    Ply,
    Stl,
    Off,
    Medit,
    Gltf,
    Bvh,
    Kinect,
    Landmarks,
}

impl Format {
    /// Format by the extension of a name.
    pub fn of_extension(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "obj" => Self::Obj,
            "ply" => Self::Ply,
            "stl" => Self::Stl,
            "off" | "coff" => Self::Off,
            "mesh" => Self::Medit,
            "glb" | "gltf" | "vrm" | "vrma" => Self::Gltf,
            "bvh" => Self::Bvh,
            "txt" => Self::Kinect,
            "json" => Self::Landmarks,
            _ => return None,
        })
    }

    /// Format by the first bytes, where they identify it.
    fn of_content(bytes: &[u8]) -> Option<Self> {
        let text = without_mark(bytes).trim_ascii_start();
        let starts = |word: &[u8]| text.starts_with(word);
        match () {
            () if starts(b"glTF") => Some(Self::Gltf),
            () if starts(b"ply\n") || starts(b"ply\r") => Some(Self::Ply),
            () if starts(b"HIERARCHY") => Some(Self::Bvh),
            () if starts(b"MeshVersionFormatted") => Some(Self::Medit),
            () if starts(b"OFF") || starts(b"COFF") => Some(Self::Off),
            () => None,
        }
    }

    /// Whether files of this format hold one mesh.
    pub fn is_mesh(self) -> bool {
        matches!(self, Self::Obj | Self::Ply | Self::Stl | Self::Off | Self::Medit)
    }
}

/// Content of a file.
#[derive(Debug)]
pub enum Content {
    /// A mesh.
    Model(Box<Model>),
    /// A scene.
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
    let name = path.to_string_lossy();
    if bytes.is_empty() {
        return Err(file_error(&name, "the file is empty", "export it again"));
    }
    let by_name = Format::of_extension(path);
    let format = Format::of_content(bytes).or(by_name).ok_or_else(|| unreadable(path))?;
    if by_name.is_some_and(|named| named != format) {
        warnings.push(format!("the content is {format:?}, whatever the name says; it was read as such"));
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let side = side_files_in(folder, root);
    Ok(match format {
        Format::Gltf => Content::Gltf(Box::new(gltf::read_gltf_with_host(bytes, &side, &name, warnings)?)),
        Format::Bvh => Content::Bvh(Box::new(bvh::read_bvh(bytes, &name, warnings)?)),
        Format::Kinect => Content::Recording(recording::read_kinect(bytes, &name, warnings)?),
        Format::Landmarks => Content::Recording(recording::read_landmarks(bytes, DEFAULT_FPS, &name)?),
        mesh => Content::Model(Box::new(read_mesh(mesh, bytes, &side, &name, warnings)?)),
    })
}

/// Read a file of a mesh format.
pub(crate) fn read_mesh_file(
    path: &Path,
    root: Option<&Path>,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    if let Some(root) = root {
        check_within(path, root).map_err(|error| FormatError::io(path, error))?;
    }
    match read_any_within(path, root, warnings)? {
        Content::Model(model) => Ok(*model),
        _ => Err(unreadable(path)),
    }
}

fn read_mesh(
    format: Format,
    bytes: &[u8],
    side: SideFiles,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let model = match format {
        Format::Ply => ply::read_ply(bytes, name, warnings),
        Format::Stl => stl::read_stl(bytes, name, warnings),
        Format::Off => off::read_off(bytes, name, warnings),
        Format::Medit => medit::read_medit(bytes, name, warnings),
        _ => obj::read_obj(bytes, side, name, warnings),
    }?;
    if model.character.mesh.n_faces() == 0 {
        warnings.push("the file holds no faces");
    }
    Ok(model)
}

/// The whole file; devices and pipes, which may never end, are refused.
///
/// # Errors
/// If it cannot be read.
pub fn read_file(path: &Path) -> Result<Vec<u8>, FormatError> {
    let io = |source| FormatError::io(path, source);
    let mut file = fs::File::open(path).map_err(io)?;
    let meta = file.metadata().map_err(io)?;
    if !meta.is_file() {
        return Err(file_error(
            &path.to_string_lossy(),
            "this is not a regular file",
            "give a file or a folder of frames",
        ));
    }
    let mut bytes = Vec::new();
    // A sparse file may claim more than there is memory.
    bytes.try_reserve_exact(meta.len() as usize).map_err(|_| io(ErrorKind::OutOfMemory.into()))?;
    file.read_to_end(&mut bytes).map_err(io)?;
    Ok(bytes)
}

fn unreadable(path: &Path) -> FormatError {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (cause, remedy) = match ending.as_str() {
        "fbx" | "abc" | "dae" | "blend" | "usd" | "usdc" | "usdz" | "3ds" | "x" | "max" | "ma" | "mb" => {
            (format!(".{ending} files are not read"), "open it in Blender and export it as glTF (.glb)")
        }
        "c3d" | "amc" | "asf" | "trc" => {
            (format!(".{ending} files are not read"), "convert the motion to BVH")
        }
        "mp4" | "avi" | "mov" | "mjpeg" | "webm" | "jpg" | "png" => (
            String::from("this is a picture or a video"),
            "give a mesh, a motion or a recording of landmarks",
        ),
        "" => (String::from("the name has no extension that shows its format"), KNOWN),
        _ => (format!("`.{ending}` is not a format that is read"), KNOWN),
    };
    FormatError::faults(path, vec![Fault::new(Place::Whole, cause).with_remedy(remedy)])
}

const KNOWN: &str = "readable are obj, ply, stl, off, mesh, glb, gltf, vrm, vrma, bvh, txt (Kinect), json (landmarks) \
                     and folders of numbered meshes";
