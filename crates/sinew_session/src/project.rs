//! The project file `NAME.sinew.glb`: a plain glTF 2.0 file that opens anywhere, with what glTF cannot say in the
//! root extension `SINEW_character`.
//!
//! The fields of the extension are those of `sinew_formats::gltf` and those that the parts of the document write (see
//! `parts`). An object `{"bufferView": n}` stands for bytes. What a later version adds is kept and written back, with the
//! bytes it names in this way.

use crate::{
    Document, SessionError, Unknown, hidden_parts,
    parts::{LoadedFields, PARTS, SavedFields, name_views, renumber},
    surface_parts::warn_gone,
};
use serde_json::{Map, Value};
use sinew_formats::{
    FormatError, GltfFile,
    gltf::{
        CHARACTER_EXTENSION, CHARACTER_VERSION, GlbOptions, PartChoice, fields_beyond_character,
        portable_extensions, read_gltf_with_host, read_views, write_glb_hosted,
    },
    no_side_files,
};
use sinew_geom::Warnings;
use std::{path::Path, sync::Arc};

/// Bytes of a project file.
///
/// # Errors
/// If the character cannot be written as glTF.
pub fn write_project(document: &Document, warnings: &mut Warnings) -> Result<Vec<u8>, SessionError> {
    let mut saved = SavedFields { fields: document.unknown.fields.clone(), views: Vec::new() };
    let mut extensions = document.unknown.extensions.clone();
    let kept = &document.unknown.views;
    saved.fields.values_mut().chain(extensions.values_mut()).for_each(|value| {
        renumber(value, &mut |old| {
            saved.views.push(kept.get(old)?.as_ref().clone());
            Some(saved.views.len() - 1)
        });
    });
    PARTS.iter().for_each(|part| part.save(document, &mut saved));
    let SavedFields { fields, views } = saved;
    extensions.insert(CHARACTER_EXTENSION.into(), Value::Object(fields));
    warn_gone(document, warnings);
    // Without a file to write into, the fields of the project alone say what is hidden.
    let hidden = document.host.is_some().then(|| hidden_parts(document));
    let parts = PartChoice { hidden, ..PartChoice::default() };
    let options = GlbOptions { max_influences: 8, extensions, views, parts, ..GlbOptions::default() };
    Ok(write_glb_hosted(document.host.as_deref(), &document.character(), &options, warnings)?)
}

/// Read a project file, or any GLB, from its bytes. `path` is for messages.
///
/// # Errors
/// If the file is broken, or was written by a later version of this program.
pub fn read_project(bytes: &[u8], path: &Path, warnings: &mut Warnings) -> Result<Document, SessionError> {
    let name = path.to_string_lossy();
    let file = read_gltf_with_host(bytes, &no_side_files, &name, warnings)?;
    document_of(file, path, &|indices| read_views(bytes, &no_side_files, &name, indices), warnings)
}

/// Reads buffer views of the file by their numbers.
pub(crate) type Views<'a> = dyn Fn(&[usize]) -> Result<Vec<Vec<u8>>, FormatError> + 'a;

/// The document of a glTF file.
pub(crate) fn document_of(
    file: GltfFile,
    path: &Path,
    views: &Views,
    warnings: &mut Warnings,
) -> Result<Document, SessionError> {
    let own = file.extensions.get(CHARACTER_EXTENSION);
    let found = own.and_then(|own| own["version"].as_u64()).unwrap_or(0);
    if found > u64::from(CHARACTER_VERSION) {
        let known = u64::from(CHARACTER_VERSION);
        return Err(SessionError::Newer { path: path.to_owned(), found, known });
    }
    let fields = fields_beyond_character(&file.extensions);
    let is_project = fields.contains_key("pose");
    let mut document = Document::new(file.character);
    // The numbers of nodes and the like that others' data may hold stay true only in the file itself, which is kept, or in a
    // file that we wrote ourselves.
    let mut extensions = match (&file.host, is_project) {
        (Some(_), _) => portable_extensions(&file.extensions, &mut Warnings::default()),
        (None, true) => file.extensions.clone(),
        (None, false) => portable_extensions(&file.extensions, warnings),
    };
    document.host = file.host;
    extensions.remove(CHARACTER_EXTENSION);
    let mut loaded = LoadedFields {
        views: read_named_views(fields.values().chain(extensions.values()), views),
        fields,
        n_vertices: document.mesh().n_vertices(),
        faults: Vec::new(),
    };
    PARTS.iter().for_each(|part| part.load(&mut document, &mut loaded));
    document.unknown = Arc::new(take_unknown(&mut loaded, extensions));
    for fault in &loaded.faults {
        warnings.push(format!("/extensions/{CHARACTER_EXTENSION}: {fault}"));
    }
    Ok(document)
}

/// Numbers and bytes of all buffer views that values name, read at once because each reading goes through the whole file.
fn read_named_views<'a>(
    values: impl Iterator<Item = &'a Value>,
    views: &Views,
) -> (Vec<usize>, Vec<Vec<u8>>) {
    let mut named = Vec::new();
    values.for_each(|value| name_views(value, &mut named));
    named.sort_unstable();
    named.dedup();
    // If some are absent, those that are there should not be lost with them.
    let one = |&index: &usize| views(&[index]).ok().and_then(|mut views| views.pop()).unwrap_or_default();
    let bytes = views(&named).unwrap_or_else(|_| named.iter().map(one).collect());
    (named, bytes)
}

/// What no part has taken, with the bytes it names, numbered from 0.
fn take_unknown(loaded: &mut LoadedFields, mut extensions: Map<String, Value>) -> Unknown {
    let mut fields = std::mem::take(&mut loaded.fields);
    let mut views = Vec::new();
    fields.values_mut().chain(extensions.values_mut()).for_each(|value| {
        renumber(value, &mut |old| {
            views.push(Arc::new(loaded.view(old)?));
            Some(views.len() - 1)
        });
    });
    Unknown { extensions, fields, views }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grow_sample;
    use sinew_formats::gltf::read_gltf;
    use sinew_geom::sample::Sample;
    use std::{cell::Cell, ops::ControlFlow};

    /// Each reading goes through the whole file, which may be large.
    #[test]
    fn pictures_of_all_poses_are_read_at_once() {
        let (mut warnings, mut go_on) = (Warnings::default(), |_| ControlFlow::Continue(()));
        let document = grow_sample(Sample::Biped, 1_000, &mut go_on, &mut warnings).unwrap();
        let bytes = write_project(&document, &mut warnings).unwrap();
        let file = read_gltf(&bytes, &no_side_files, "x", &mut warnings).unwrap();
        let n_readings = Cell::new(0);
        let views = |indices: &[usize]| {
            n_readings.set(n_readings.get() + 1);
            read_views(&bytes, &no_side_files, "x", indices)
        };
        let back = document_of(file, Path::new("x"), &views, &mut warnings).unwrap();
        assert!(back.examples.len() == 3 && back.examples == document.examples);
        assert_eq!((n_readings.get(), warnings.messages.len()), (1, 0));
    }
}
