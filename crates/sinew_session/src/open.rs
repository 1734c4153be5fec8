//! Documents out of files and samples.

use crate::{
    DEFAULT_FPS, Document, Example, Prepared, SessionError, describe_doubts, draw_thumbnail,
    project::document_of,
};
use sinew_formats::{
    Content, FormatError,
    gltf::{read_gltf, read_views, write_sequence_glb},
    no_side_files, read_any_within, read_content, read_file,
};
use sinew_geom::{
    Material, MeshSequence, Move, Surface, Warnings,
    sample::{PoseSet, Sample, build_character, build_sequence},
};
use std::{ops::ControlFlow, path::Path, sync::Arc};

/// Open a file that holds something with a surface: a project, a character, a mesh, or a folder of frames.
///
/// # Errors
/// As the reader of its format, and if there is no surface in it.
pub fn open_file(
    path: &Path,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    warnings: &mut Warnings,
) -> Result<Document, SessionError> {
    open_file_within(path, None, progress, warnings)
}

/// As [`open_file`], but with a `root` nothing is read that does not really lie below it, wherever links lead.
///
/// # Errors
/// As [`open_file`].
pub fn open_file_within(
    path: &Path,
    root: Option<&Path>,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    warnings: &mut Warnings,
) -> Result<Document, SessionError> {
    let unusable = |cause: &str, remedy| SessionError::Unusable {
        path: path.to_owned(),
        cause: cause.to_owned(),
        remedy,
    };
    // Kept as long as the document is made of it: pictures of poses are found in the same bytes.
    let bytes = if path.is_dir() { None } else { Some(read_file(path)?) };
    let content = match &bytes {
        Some(bytes) => read_content(bytes, path, root, warnings)?,
        None => read_any_within(path, root, warnings)?,
    };
    let document = match content {
        Content::Gltf(file) => {
            let bytes = bytes.as_deref().unwrap_or_default();
            document_of(*file, path, &|indices| views_of(bytes, path, indices), warnings)?
        }
        Content::Sequence(folder) => {
            let sequence =
                folder.read_all(DEFAULT_FPS, warnings, progress)?.ok_or(SessionError::Cancelled)?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            of_sequence(&sequence, folder.surface(), &name, warnings)?
        }
        Content::Recording(_) => {
            return Err(unusable("a recording of a body has no surface", "open a mesh or a character"));
        }
        Content::Bvh(_) => {
            return Err(unusable("a skeleton's motion has no surface", "open a mesh or a character"));
        }
        Content::Model(model) => Document::new(model.character),
    };
    if document.mesh().n_faces() == 0 {
        return Err(unusable(
            "there are no faces, so there is no surface to work on",
            "open a mesh with faces",
        ));
    }
    describe_doubts(&document.character()).into_iter().for_each(|doubt| warnings.push(doubt));
    Ok(document)
}

fn views_of(bytes: &[u8], path: &Path, indices: &[usize]) -> Result<Vec<Vec<u8>>, FormatError> {
    read_views(bytes, &no_side_files, &path.to_string_lossy(), indices)
}

/// A sequence as a character whose frames are morph targets: the one form in which glTF can say it.
fn of_sequence(
    sequence: &MeshSequence,
    surface: &Surface,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Document, SessionError> {
    let bytes = write_sequence_glb(sequence, surface, name, warnings)?;
    let mut document = Document::new(read_gltf(&bytes, &no_side_files, name, warnings)?.character);
    document.name = name.to_owned();
    Ok(document)
}

/// Grow a built-in character or cloth. The biped comes with three poses to begin with.
///
/// # Errors
/// If the number of vertices is out of range, or the user stopped it.
pub fn grow_sample(
    sample: Sample,
    n_vertices: usize,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    warnings: &mut Warnings,
) -> Result<Document, SessionError> {
    if sample.is_sequence() {
        let sequence = build_sequence(sample, n_vertices, progress)?;
        // Cloth is seen from both sides.
        let cloth = Material { name: sample.name().into(), double_sided: true, ..Material::default() };
        let surface = Surface { materials: vec![cloth], ..Surface::default() };
        return of_sequence(&sequence, &surface, sample.name(), warnings);
    }
    let mut document = Document::new(build_character(sample, n_vertices)?);
    if sample == Sample::Biped {
        document.examples = sample_poses(PoseSet::First)?;
    }
    Ok(document)
}

/// Vertices of the figure that pictures of poses are drawn of.
const PICTURE_VERTICES: usize = 3_000;

/// A set of example poses of a sample, with pictures.
///
/// # Errors
/// If the sample cannot be grown or posed.
pub fn sample_poses(set: PoseSet) -> Result<Vec<Arc<Example>>, SessionError> {
    let figure = Document::new(build_character(set.sample(), PICTURE_VERTICES)?);
    let prepared = Prepared::new(&figure, &|_| ControlFlow::Continue(()))?;
    let example = |(name, moves): (String, Vec<Move>)| {
        let thumbnail = Some(Arc::new(draw_thumbnail(&figure.body, &prepared.positions(&moves)?)));
        Ok(Arc::new(Example { name, moves: Arc::new(moves), detail: None, thumbnail }))
    };
    set.poses().into_iter().map(example).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growing_a_cloth_can_be_stopped() {
        let mut warnings = Warnings::default();
        let grown = grow_sample(Sample::Flag, 1_000, &mut |_| ControlFlow::Break(()), &mut warnings);
        assert!(matches!(grown, Err(SessionError::Cancelled)));
    }
}
