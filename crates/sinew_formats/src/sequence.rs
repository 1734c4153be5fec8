//! Mesh sequences as folders of numbered files.
//!
//! The files that differ only in their last number are the frames, in the order of those numbers. A file
//! named `rest`, `reference` or like the frames without a number is the rest pose; without one the first frame
//! is. Frames can be read one by one, so that a sequence need not fit into memory.

use crate::{Fault, Format, FormatError, Place, format::read_mesh_file, text::file_error};
use glam::{DVec3, Vec3};
use sinew_geom::{Character, Mesh, MeshSequence, RawMesh, Surface, Warnings};
use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// A folder of frames, opened but not read.
#[derive(Debug, Clone)]
pub struct SequenceFolder {
    path: PathBuf,
    frames: Vec<PathBuf>,
    rest: Mesh,
    /// Polygons of the rest pose: frames share these, while triangles depend on the shape.
    polygons: RawMesh,
    surface: Surface,
    rest_path: PathBuf,
    /// The folder that limits what is read, if any.
    root: Option<PathBuf>,
    /// Repairs of the rest pose, so that they are not reported again for every frame.
    reported: Vec<String>,
}

impl SequenceFolder {
    /// Find the frames of a folder and read the rest pose.
    ///
    /// # Errors
    /// If the folder holds no numbered meshes, or the rest pose cannot be read.
    pub fn open(path: &Path, warnings: &mut Warnings) -> Result<Self, FormatError> {
        Self::open_within(path, None, warnings)
    }

    /// As [`SequenceFolder::open`], but with a `root` no frame is read that is not really below it.
    ///
    /// # Errors
    /// As [`SequenceFolder::open`].
    pub fn open_within(
        path: &Path,
        root: Option<&Path>,
        warnings: &mut Warnings,
    ) -> Result<Self, FormatError> {
        if path.is_file() {
            let remedy = "a sequence is a folder of numbered mesh files; give the folder that holds them";
            return Err(file_error(&path.to_string_lossy(), "this is a file, not a folder", remedy));
        }
        let files = mesh_files(path)?;
        let name = path.to_string_lossy();
        let Some((pattern, frames)) = frames_of(&files) else {
            let remedy =
                "a sequence is a folder of numbered OBJ, PLY, OFF or STL files; for one mesh give the file";
            return Err(file_error(&name, "the folder holds no numbered mesh files", remedy));
        };
        let rest = files.iter().find(|file| is_rest(file, &pattern));
        let others = files.len() - frames.len() - usize::from(rest.is_some());
        if others > 0 {
            warnings.push(format!("{others} mesh files do not belong to the numbered frames; left out"));
        }
        let rest_path = rest.unwrap_or(&frames[0]).clone();
        let mut reported = Warnings::default();
        let model = read_mesh_file(&rest_path, root, &mut reported)?;
        reported.messages.iter().for_each(|message| warnings.push(message.clone()));
        let (reported, path) = (reported.messages, path.to_owned());
        let Character { mesh: rest, surface, .. } = model.character;
        let root = root.map(Path::to_owned);
        Ok(Self { path, frames, rest, polygons: model.raw, surface, rest_path, root, reported })
    }

    /// The mesh whose connectivity all frames must have.
    pub fn rest(&self) -> &Mesh {
        &self.rest
    }

    /// Appearance of the rest pose; its normals do not fit the frames.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// Files of the frames, in order.
    pub fn frames(&self) -> &[PathBuf] {
        &self.frames
    }

    /// Positions of one frame. Repairs are reported with the name of its file.
    ///
    /// # Errors
    /// If the file cannot be read or its connectivity differs, with the first difference.
    pub fn read_frame(&self, frame: usize, warnings: &mut Warnings) -> Result<Vec<Vec3>, FormatError> {
        Ok(self.read_positions(frame, warnings)?.iter().map(|p| p.as_vec3()).collect())
    }

    /// As [`SequenceFolder::read_frame`], in the precision of the file: far from the origin single precision loses
    /// motion.
    ///
    /// # Errors
    /// As [`SequenceFolder::read_frame`].
    pub fn read_positions(&self, frame: usize, warnings: &mut Warnings) -> Result<Vec<DVec3>, FormatError> {
        let Some(path) = self.frames.get(frame) else {
            let cause = format!("there is no frame {frame} of {}", self.frames.len());
            return Err(file_error(&self.path.to_string_lossy(), cause, "count from 0"));
        };
        let mut repaired = Warnings::default();
        let model = read_mesh_file(path, self.root.as_deref(), &mut repaired)?;
        self.warn(path, repaired, warnings);
        match difference(&self.polygons, &model.raw) {
            None => Ok(model.character.mesh.into_parts().0),
            Some(cause) => {
                let fault =
                    Fault::new(Place::Whole, format!("frame {frame} differs from the rest pose: {cause}"));
                let remedy = "all frames of a sequence must share their vertices and faces";
                Err(FormatError::faults(path, vec![fault.with_remedy(remedy)]))
            }
        }
    }

    fn warn(&self, path: &Path, repaired: Warnings, warnings: &mut Warnings) {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        for message in repaired.messages {
            match self.reported.contains(&message) {
                true if path == self.rest_path => {}
                true => warnings.push(format!("in other frames too: {message}")),
                false => warnings.push(format!("{file}: {message}")),
            }
        }
    }

    /// Read all frames; `progress` is called with the share done and may stop the work.
    ///
    /// # Errors
    /// Every frame that cannot be used, or `None` if it was stopped.
    pub fn read_all(
        &self,
        fps: f64,
        warnings: &mut Warnings,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Option<MeshSequence>, FormatError> {
        let mut frames = Vec::with_capacity(self.frames.len());
        let mut faults = Vec::new();
        for frame in 0..self.frames.len() {
            match self.read_frame(frame, warnings) {
                Ok(positions) => frames.push(positions),
                Err(FormatError::Faults { path, faults: more }) => {
                    // The list is shown under the folder's name; each fault names its file.
                    let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                    faults.extend(more.into_iter().map(|fault| Fault {
                        cause: format!("{file}{}: {}", fault.place, fault.cause),
                        place: Place::Whole,
                        ..fault
                    }));
                }
                Err(other) => return Err(other),
            }
            if progress((frame + 1) as f64 / self.frames.len() as f64).is_break() {
                return Ok(None);
            }
        }
        if !faults.is_empty() {
            return Err(FormatError::faults(&self.path, faults));
        }
        let sequence = MeshSequence::new(self.rest.clone(), frames, fps);
        sequence
            .map(Some)
            .map_err(|e| file_error(&self.path.to_string_lossy(), e.to_string(), "check the frames"))
    }
}

/// How many frames a folder holds, without reading any; 0 if it is no sequence.
pub fn count_frames(path: &Path) -> usize {
    mesh_files(path).ok().and_then(|files| frames_of(&files)).map_or(0, |(_, frames)| frames.len())
}

fn mesh_files(folder: &Path) -> Result<Vec<PathBuf>, FormatError> {
    let entries = std::fs::read_dir(folder).map_err(|e| FormatError::io(folder, e))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|e| e.ok().map(|e| e.path())).collect();
    files.retain(|file| Format::of_extension(file).is_some_and(Format::is_mesh));
    files.sort();
    Ok(files)
}

/// The largest group of files that differ only in their last number, in the order of the numbers.
fn frames_of(files: &[PathBuf]) -> Option<(String, Vec<PathBuf>)> {
    let mut groups: BTreeMap<String, Vec<(u128, &PathBuf)>> = BTreeMap::new();
    for file in files {
        if let Some((pattern, number)) = split_number(file) {
            groups.entry(pattern).or_default().push((number, file));
        }
    }
    let (pattern, mut frames) = groups.into_iter().max_by_key(|(_, frames)| frames.len())?;
    frames.sort();
    Some((pattern, frames.into_iter().map(|(_, file)| file.clone()).collect()))
}

/// A file's name with its last number replaced by a control character, and the number.
fn split_number(file: &Path) -> Option<(String, u128)> {
    let name = file.file_name()?.to_string_lossy().into_owned();
    let stem_len = file.file_stem()?.to_string_lossy().len();
    let end = name[..stem_len].rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = name[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + name[at..].chars().next().map_or(1, char::len_utf8));
    Some((format!("{}\u{1}{}", &name[..start], &name[end..]), name[start..end].parse().ok()?))
}

fn is_rest(file: &Path, pattern: &str) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let bare = pattern.to_lowercase().replace(['\u{1}', '-', '_', ' '], "");
    let plain = name.replace(['-', '_', ' '], "");
    name.starts_with("rest.") || name.contains("reference") || (plain == bare && !bare.starts_with('.'))
}

/// How the connectivity of two meshes differs, if it does.
fn difference(rest: &RawMesh, frame: &RawMesh) -> Option<String> {
    let (n, wanted) = (frame.positions().len(), rest.positions().len());
    if n != wanted {
        return Some(format!("{n} vertices instead of {wanted}"));
    }
    if rest.n_faces() != frame.n_faces() {
        return Some(format!("{} faces instead of {}", frame.n_faces(), rest.n_faces()));
    }
    let face = rest.faces().zip(frame.faces()).position(|(a, b)| a != b)?;
    let (wanted, found) = (rest.face(face), frame.face(face));
    Some(format!("face {face} joins vertices {found:?} instead of {wanted:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_stand_in_natural_order_and_other_files_are_distinguished() {
        let files: Vec<PathBuf> = [
            "a/walk2.obj",
            "a/walk10.obj",
            "a/walk1.obj",
            "a/walk.obj",
            "a/asset-1000-tri.obj",
            "a/rest.obj",
        ]
        .map(PathBuf::from)
        .to_vec();
        let (pattern, frames) = frames_of(&files).unwrap();
        assert_eq!(frames, ["a/walk1.obj", "a/walk2.obj", "a/walk10.obj"].map(PathBuf::from));
        assert!(
            is_rest(&files[3], &pattern) && is_rest(&files[5], &pattern) && !is_rest(&files[4], &pattern)
        );
        assert!(frames_of(&[PathBuf::from("a/b.obj")]).is_none());
    }
}
