//! The project file `NAME.sinew.glb`: a plain glTF 2.0 file that opens anywhere, with what glTF cannot say in the
//! root extension `SINEW_character`.
//!
//! Our fields of it, beside those of `sinew_formats::gltf`: `name`, `pose` and `examples` (moves as in moves.json,
//! detail layers as 32-bit floats), `detail` of the present pose, `paths` (as in paths.json), `rules` (text, markers, planes,
//! contacts), `search`, `edit`, `puppet` (pairs as in pairs.json, each with its picture, and settings), `flesh` (settings,
//! joints put by hand, how joints are turned, and paint: a factor a vertex as 32-bit floats). An object `{"bufferView": n}`
//! stands for bytes. What a later version adds is kept and written back; bytes it names in this way
//! come along.

use crate::{
    Command, Document, EditChange, Example, FleshData, Pair, PuppetData, PuppetSettings, RulesData,
    SearchChange, SearchSettings, SessionError, Unknown,
    command::{moves_from_value, moves_to_value, pairs_from_value, pairs_to_value},
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sinew_deform::EditParams;
use sinew_formats::{
    FormatError, GltfFile,
    gltf::{
        CHARACTER_EXTENSION, CHARACTER_VERSION, GlbOptions, fields_beyond_character, no_side_files,
        portable_extensions, read_gltf, read_views, write_glb,
    },
    paths::PathsData,
};
use sinew_geom::Warnings;
use std::{path::Path, sync::Arc};

/// The key by which bytes are named.
const VIEW: &str = "bufferView";

/// Bytes of a project file.
///
/// # Errors
/// If the character cannot be written as glTF.
pub fn write_project(document: &Document, warnings: &mut Warnings) -> Result<Vec<u8>, SessionError> {
    let mut views: Vec<Vec<u8>> = Vec::new();
    let mut fields = document.unknown.fields.clone();
    let mut extensions = document.unknown.extensions.clone();
    let kept = &document.unknown.views;
    fields.values_mut().chain(extensions.values_mut()).for_each(|value| {
        renumber(value, &mut |old| {
            views.push(kept.get(old)?.as_ref().clone());
            Some(views.len() - 1)
        });
    });
    fields.insert("name".into(), json!(document.name));
    fields.insert("pose".into(), moves_to_value(&document.pose));
    fields
        .insert("edit".into(), serde_json::to_value(EditChange::of_all(&document.edit)).unwrap_or_default());
    let example = |example: &Arc<Example>| {
        let mut object = json!({ "name": example.name, "moves": moves_to_value(&example.moves) });
        if let Some(png) = &example.thumbnail {
            views.push(png.as_ref().clone());
            object["thumbnail"] = json!({ VIEW: views.len() - 1 });
        }
        if let Some(detail) = &example.detail {
            views.push(layer_bytes(detail));
            object["detail"] = json!({ VIEW: views.len() - 1 });
        }
        object
    };
    fields.insert("examples".into(), document.examples.iter().map(example).collect());
    if let Some(detail) = &document.detail {
        views.push(layer_bytes(detail));
        fields.insert("detail".into(), json!({ VIEW: views.len() - 1 }));
    }
    if *document.paths != PathsData::default() {
        fields.insert("paths".into(), serde_json::to_value(&*document.paths).unwrap_or_default());
    }
    if *document.rules != RulesData::default() {
        fields.insert("rules".into(), serde_json::to_value(&*document.rules).unwrap_or_default());
    }
    if document.search != SearchSettings::default() {
        let search = serde_json::to_value(SearchChange::of_all(&document.search));
        fields.insert("search".into(), search.unwrap_or_default());
    }
    if *document.puppet != PuppetData::default() {
        fields.insert("puppet".into(), puppet_value(&document.puppet, &mut views));
    }
    if *document.flesh != FleshData::default() {
        let mut flesh = serde_json::to_value(&*document.flesh).unwrap_or_default();
        if let Some(paint) = &document.flesh.paint {
            views.push(layer_bytes(paint));
            flesh["paint"] = json!({ VIEW: views.len() - 1 });
        }
        fields.insert("flesh".into(), flesh);
    }
    extensions.insert(CHARACTER_EXTENSION.into(), Value::Object(fields));
    let options = GlbOptions { max_influences: 8, extensions, views, ..GlbOptions::default() };
    Ok(write_glb(&document.character(), &options, warnings)?)
}

/// Read a project file, or any GLB, from its bytes. `path` is for messages.
///
/// # Errors
/// If the file is broken, or was written by a later version of this program.
pub fn read_project(bytes: &[u8], path: &Path, warnings: &mut Warnings) -> Result<Document, SessionError> {
    let name = path.to_string_lossy();
    let file = read_gltf(bytes, &no_side_files, &name, warnings)?;
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
    let mut fields = fields_beyond_character(&file.extensions);
    let is_project = fields.contains_key("pose");
    let mut document = Document::new(file.character);
    // The numbers of nodes and the like that others' data may hold stay true only in a file that we wrote ourselves.
    let mut extensions =
        if is_project { file.extensions.clone() } else { portable_extensions(&file.extensions, warnings) };
    extensions.remove(CHARACTER_EXTENSION);
    let mut told = Vec::new();
    let mut absent = Vec::new();
    // All at once: each reading goes through the whole file.
    let mut named = Vec::new();
    fields.values().chain(extensions.values()).for_each(|value| name_views(value, &mut named));
    named.sort_unstable();
    named.dedup();
    let found = views(&named).unwrap_or_else(|_| {
        // Some are absent; those that are there should not be lost with them.
        named
            .iter()
            .map(|&index| views(&[index]).ok().and_then(|mut v| v.pop()).unwrap_or_default())
            .collect()
    });
    let mut read = |index: usize| {
        let bytes = named.binary_search(&index).ok().and_then(|at| found.get(at)).filter(|b| !b.is_empty());
        if bytes.is_none() {
            absent.push(format!("there is no buffer view {index}"));
        }
        bytes.cloned()
    };
    let n_vertices = document.mesh().n_vertices();
    document.examples = take_examples(&mut fields, n_vertices, &mut read, &mut told);
    if let Some(value) = fields.remove("detail") {
        document.detail = take_layer(&value, "/detail", n_vertices, &mut read, &mut told);
    }
    if let Some(name) = fields.remove("name").as_ref().and_then(Value::as_str) {
        document.name = name.to_owned();
    }
    if let Some(moves) = fields.remove("pose") {
        match moves_from_value(&moves) {
            Ok(moves) => document.pose = Arc::new(moves),
            Err(error) => told.push(format!("the pose was left out: {error}")),
        }
    }
    if let Some(edit) = fields.remove("edit") {
        let change = serde_json::from_value::<EditChange>(edit).map_err(|error| error.to_string());
        let applied = change.and_then(|change| {
            let mut params = EditParams::default();
            change.apply(&mut params).map(|()| params).map_err(|error| error.to_string())
        });
        match applied {
            Ok(params) => document.edit = params,
            Err(error) => told.push(format!("the method of editing was left out: {error}")),
        }
    }
    take_motion(&mut document, &mut fields, &mut told);
    if let Some(value) = fields.remove("puppet") {
        document.puppet = Arc::new(take_puppet(&value, &mut read, &mut told));
    }
    if let Some(value) = fields.remove("flesh") {
        take_flesh(&mut document, value, &mut read, &mut told);
    }
    document.unknown = Arc::new(keep_unknown(fields, extensions, &mut read));
    let told = told.iter().chain(&absent);
    told.for_each(|message| warnings.push(format!("/extensions/{CHARACTER_EXTENSION}: {message}")));
    Ok(document)
}

/// Paths and the search over examples. What does not fit, or was made by a later version, is told and left out.
fn take_motion(document: &mut Document, fields: &mut Map<String, Value>, told: &mut Vec<String>) {
    if let Some(value) = fields.remove("paths") {
        let read = serde_json::from_value::<PathsData>(value).map_err(|error| error.to_string());
        let set = |paths| {
            Command::SetPaths { paths: Box::new(paths) }.apply(document).map_err(|error| error.to_string())
        };
        match read.and_then(set) {
            Ok(with_paths) => document.paths = with_paths.paths,
            Err(error) => told.push(format!("the paths were left out: {error}")),
        }
    }
    if let Some(value) = fields.remove("rules") {
        let read = serde_json::from_value::<RulesData>(value).map_err(|error| error.to_string());
        match read.and_then(|rules| rules.check().map(|()| rules).map_err(|error| error.to_string())) {
            Ok(rules) => document.rules = Arc::new(rules),
            Err(error) => told.push(format!("the rules were left out: {error}")),
        }
    }
    if let Some(value) = fields.remove("search") {
        let read = serde_json::from_value::<SearchChange>(value).map_err(|error| error.to_string());
        let mut settings = SearchSettings::default();
        match read.and_then(|change| change.apply(&mut settings).map_err(|error| error.to_string())) {
            Ok(()) => document.search = settings,
            Err(error) => told.push(format!("the settings of the search were left out: {error}")),
        }
    }
}

/// Pairs as in pairs.json, each with the bytes of its picture.
fn puppet_value(puppet: &PuppetData, views: &mut Vec<Vec<u8>>) -> Value {
    let mut value = pairs_to_value(&puppet.file());
    for (pair, entry) in puppet.pairs.iter().zip(value["pairs"].as_array_mut().into_iter().flatten()) {
        if let Some(png) = &pair.thumbnail {
            views.push(png.as_ref().clone());
            entry["thumbnail"] = json!({ VIEW: views.len() - 1 });
        }
    }
    value["settings"] = serde_json::to_value(&puppet.settings).unwrap_or_default();
    value
}

/// What does not fit, or was made by a later version, is told and left out.
fn take_puppet(
    value: &Value,
    read: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
    told: &mut Vec<String>,
) -> PuppetData {
    let mut puppet = PuppetData::default();
    match pairs_from_value(value) {
        Ok(file) => puppet = PuppetData::from_file(file),
        Err(error) => told.push(format!("the pairs were left out: {error}")),
    }
    for (pair, entry) in puppet.pairs.iter_mut().zip(value["pairs"].as_array().into_iter().flatten()) {
        let thumbnail = entry["thumbnail"][VIEW].as_u64().and_then(|view| read(view as usize)).map(Arc::new);
        *pair = Arc::new(Pair { thumbnail, ..(**pair).clone() });
    }
    if let Some(settings) = value.get("settings") {
        let settings = PuppetSettings::deserialize(settings).map_err(|error| error.to_string());
        let checked = settings.and_then(|s| s.params(true).map(|_| s).map_err(|error| error.to_string()));
        match checked {
            Ok(settings) => puppet.settings = settings,
            Err(error) => told.push(format!("the settings of puppetry were left out: {error}")),
        }
    }
    puppet
}

/// What does not fit, or was made by a later version, is told and left out.
fn take_flesh(
    document: &mut Document,
    mut value: Value,
    read: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
    told: &mut Vec<String>,
) {
    let n_vertices = document.mesh().n_vertices();
    let paint = value.as_object_mut().and_then(|fields| fields.remove("paint"));
    let paint = paint.and_then(|paint| take_layer(&paint, "/flesh/paint", n_vertices, read, told));
    let flesh = serde_json::from_value::<FleshData>(value).map_err(|error| error.to_string());
    let checked = flesh
        .and_then(|flesh| flesh.settings.params(document).map(|_| flesh).map_err(|error| error.to_string()));
    match checked {
        Ok(flesh) => document.flesh = Arc::new(FleshData { paint, ..flesh }),
        Err(error) => told.push(format!("the flesh was left out: {error}")),
    }
}

/// A detail layer as bytes.
fn layer_bytes(layer: &[f32]) -> Vec<u8> {
    layer.iter().flat_map(|offset| offset.to_le_bytes()).collect()
}

/// A detail layer out of the bytes that a value names; nothing, and told, if it does not fit the mesh.
fn take_layer(
    value: &Value,
    place: &str,
    n_vertices: usize,
    read: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
    told: &mut Vec<String>,
) -> Option<Arc<Vec<f32>>> {
    let bytes = read(value[VIEW].as_u64()? as usize)?;
    let layer: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|word| f32::from_le_bytes(*word)).collect();
    if bytes.len() != 4 * n_vertices || layer.iter().any(|offset| !offset.is_finite()) {
        told.push(format!(
            "{place} was left out: {} bytes are not a finite number for each of {n_vertices} vertices",
            bytes.len()
        ));
        return None;
    }
    Some(Arc::new(layer))
}

fn take_examples(
    fields: &mut Map<String, Value>,
    n_vertices: usize,
    read: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
    told: &mut Vec<String>,
) -> Vec<Arc<Example>> {
    let Some(Value::Array(list)) = fields.remove("examples") else { return Vec::new() };
    let mut examples: Vec<Arc<Example>> = Vec::new();
    for (at, value) in list.iter().enumerate() {
        let name = value["name"].as_str().map_or_else(|| format!("example {at}"), str::to_owned);
        if examples.iter().any(|other| other.name == name) {
            told.push(format!("/examples/{at}: there are two called {name:?}; the second was left out"));
            continue;
        }
        match moves_from_value(&value["moves"]) {
            Ok(moves) => {
                let view = value["thumbnail"][VIEW].as_u64();
                let thumbnail = view.and_then(|view| read(view as usize)).map(Arc::new);
                let place = format!("/examples/{at}/detail");
                let detail = take_layer(&value["detail"], &place, n_vertices, read, told);
                examples.push(Arc::new(Example { name, moves: Arc::new(moves), detail, thumbnail }));
            }
            Err(error) => told.push(format!("/examples/{at} was left out: {error}")),
        }
    }
    examples
}

/// Data of others with the bytes it names, numbered from 0.
fn keep_unknown(
    mut fields: Map<String, Value>,
    mut extensions: Map<String, Value>,
    read: &mut dyn FnMut(usize) -> Option<Vec<u8>>,
) -> Unknown {
    let mut views = Vec::new();
    fields.values_mut().chain(extensions.values_mut()).for_each(|value| {
        renumber(value, &mut |old| {
            views.push(Arc::new(read(old)?));
            Some(views.len() - 1)
        });
    });
    Unknown { extensions, fields, views }
}

/// The numbers of all buffer views that are named in a value.
fn name_views(value: &Value, named: &mut Vec<usize>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| name_views(item, named)),
        Value::Object(fields) => {
            named.extend(fields.get(VIEW).and_then(Value::as_u64).map(|index| index as usize));
            fields.values().for_each(|field| name_views(field, named));
        }
        _ => {}
    }
}

/// Give every named buffer view in a value its new number; a name without one is taken out.
fn renumber(value: &mut Value, number: &mut dyn FnMut(usize) -> Option<usize>) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| renumber(item, number)),
        Value::Object(fields) => {
            if let Some(old) = fields.get(VIEW).and_then(Value::as_u64) {
                match number(old as usize) {
                    Some(new) => fields.insert(VIEW.into(), json!(new)),
                    None => fields.remove(VIEW),
                };
            }
            fields.values_mut().for_each(|field| renumber(field, number));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grow_sample;
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
