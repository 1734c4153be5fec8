//! The format of a file, and files that hold one mesh.

use crate::{
    Fault, FormatError, Model, Place,
    alembic::is_alembic,
    fbx, medit,
    mvnx::is_mvnx,
    obj, off, ply,
    side_files::{SideFiles, check_within, side_files_in},
    stl,
    text::{file_error, without_mark},
    usd::is_usd,
};
use sinew_geom::Warnings;
use std::{
    fs,
    io::{ErrorKind, Read},
    path::Path,
};

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
    Fbx,
    Kinect,
    Landmarks,
    Pc2,
    Mdd,
    Alembic,
    Usd,
    Mvnx,
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
            "fbx" => Self::Fbx,
            "txt" => Self::Kinect,
            "json" => Self::Landmarks,
            "pc2" => Self::Pc2,
            "mdd" => Self::Mdd,
            "mvnx" => Self::Mvnx,
            "abc" => Self::Alembic,
            "usd" | "usda" | "usdc" | "usdz" => Self::Usd,
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
            () if starts(b"POINTCACHE2") => Some(Self::Pc2),
            () if is_alembic(bytes) => Some(Self::Alembic),
            () if starts(b"<") && is_mvnx(text) => Some(Self::Mvnx),
            () if is_usd(bytes) => Some(Self::Usd),
            () if starts(b"HIERARCHY") => Some(Self::Bvh),
            () if fbx::is_fbx(bytes) => Some(Self::Fbx),
            () if starts(b"MeshVersionFormatted") => Some(Self::Medit),
            () if starts(b"OFF") || starts(b"COFF") => Some(Self::Off),
            () => None,
        }
    }

    /// Format of a file, by its content if that identifies it, else by its name.
    pub(crate) fn of_file(bytes: &[u8], path: &Path, warnings: &mut Warnings) -> Result<Self, FormatError> {
        if bytes.is_empty() {
            return Err(file_error(&path.to_string_lossy(), "the file is empty", "export it again"));
        }
        let by_name = Self::of_extension(path);
        let format = Self::of_content(bytes).or(by_name).ok_or_else(|| unreadable(path))?;
        if by_name.is_some_and(|named| named != format) {
            warnings.push(format!("the content is {format:?}, whatever the name says; it was read as such"));
        }
        Ok(format)
    }

    /// Whether files of this format hold one mesh.
    pub fn is_mesh(self) -> bool {
        matches!(self, Self::Obj | Self::Ply | Self::Stl | Self::Off | Self::Medit)
    }
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
    let bytes = read_file(path)?;
    let format = Format::of_file(&bytes, path, warnings)?;
    if !format.is_mesh() {
        return Err(unreadable(path));
    }
    let side = side_files_in(path.parent().unwrap_or(Path::new(".")), root);
    read_mesh(format, &bytes, &side, &path.to_string_lossy(), warnings)
}

/// Read bytes of a mesh format.
pub(crate) fn read_mesh(
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
        "dae" | "blend" | "3ds" | "x" | "max" | "ma" | "mb" => {
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

const KNOWN: &str = "readable are obj, ply, stl, off, mesh, glb, gltf, vrm, vrma, fbx, usd, usda, usdc, usdz, abc, pc2 and mdd (beside \
                     their mesh), bvh, mvnx, txt (Kinect), json (landmarks) and folders of numbered meshes";
