//! A file being written: the source's JSON with changes, the source's bytes, and new data behind them.

use super::super::extension::{NAME, SinewCharacter, SourceSize};
use super::super::read::Source;
use super::super::write::builder::{Builder, pack_glb, unwritable};
use super::values::{list, member};
use super::{compact, gaps, pack};
use crate::FormatError;
use crate::names::Names;
use serde::Deserialize;
use serde_json::{Value, json};
use sinew_geom::Warnings;

/// See the module.
pub(super) struct Draft<'a> {
    pub source: &'a Source<'a>,
    pub json: Value,
    bin: Vec<u8>,
    /// New data; its accessors and views are numbered from [`Draft::accessor`] and [`Draft::view`] on.
    pub builder: Builder,
    /// Our extension as the source has it.
    pub extension: SinewCharacter,
    /// What of the source is not ours.
    pub size: SourceSize,
    n_accessors: usize,
    n_views: usize,
    names: Option<Names>,
}

impl<'a> Draft<'a> {
    pub fn new(source: &'a Source<'a>) -> Result<Self, FormatError> {
        let json = source.parse_json().map_err(|error| unwritable(error.to_string()))?;
        let (n_accessors, n_views) = (list(&json, "accessors").len(), list(&json, "bufferViews").len());
        let extension = json["extensions"].get(NAME).and_then(|own| SinewCharacter::deserialize(own).ok());
        let size = SourceSize { accessors: n_accessors, buffer_views: n_views, bytes: usize::MAX };
        Ok(Self {
            source,
            json,
            bin: Vec::new(),
            builder: Builder::new(),
            extension: extension.unwrap_or_default(),
            size,
            n_accessors,
            n_views,
            names: None,
        })
    }

    /// Bring all buffers and images into the file; returns whether there was anything outside.
    pub fn pack(&mut self, warnings: &mut Warnings) -> bool {
        let (bin, moved) = pack::pack_buffers(&mut self.json, self.source, warnings);
        self.bin = bin;
        let fits = |size: &SourceSize| {
            size.accessors <= self.n_accessors
                && size.buffer_views <= self.n_views
                && size.bytes <= self.bin.len()
        };
        let known = self.extension.source.filter(fits).filter(|_| !moved);
        self.size = known.unwrap_or(SourceSize { bytes: self.bin.len(), ..self.size });
        let images = pack::images(&mut self.json, self.source);
        let has_images = !images.is_empty();
        for (image, bytes, mime) in images {
            let view = self.builder.view(&bytes, None);
            let view = self.view(view);
            let object = &mut self.json["images"][image];
            object["bufferView"] = json!(view);
            object["mimeType"] = json!(mime);
            if let Some(object) = object.as_object_mut() {
                object.shift_remove("uri");
            }
        }
        moved || has_images
    }

    /// Drop the bytes that only these views name. All that is left counts as the source's.
    pub fn shed(&mut self, views: &[usize]) {
        gaps::close_gaps(&mut self.json, &mut self.bin, views);
        self.size =
            SourceSize { accessors: self.n_accessors, buffer_views: self.n_views, bytes: self.bin.len() };
    }

    /// Number in the file of an accessor of the builder.
    pub fn accessor(&self, index: usize) -> usize {
        self.n_accessors + index
    }

    /// Number in the file of a view of the builder.
    pub fn view(&self, index: usize) -> usize {
        self.n_views + index
    }

    /// Add views for extensions; returns the number of the first.
    pub fn add_views(&mut self, views: &[Vec<u8>]) -> usize {
        let first = self.n_views + self.builder.root.buffer_views.len();
        for view in views {
            self.builder.view(if view.is_empty() { &[0; 4] } else { view }, None);
        }
        first
    }

    /// Add an element to a list of the file; returns its number.
    pub fn push(&mut self, key: &str, element: Value) -> usize {
        let list = member(&mut self.json, key);
        list.push(element);
        list.len() - 1
    }

    /// Add a node below another, or to the scene.
    pub fn push_node(&mut self, mut node: Value, parent: Option<usize>) -> usize {
        let names = self.names.get_or_insert_with(|| {
            let mut names = Names::default();
            for name in list(&self.json, "nodes").iter().filter_map(|node| node["name"].as_str()) {
                names.unique(name);
            }
            names
        });
        node["name"] = json!(names.unique(node["name"].as_str().unwrap_or("node")));
        let index = self.push("nodes", node);
        match parent {
            Some(parent) => member(&mut self.json["nodes"][parent], "children").push(json!(index)),
            None => {
                let scene = self.json["scene"].as_u64().unwrap_or(0) as usize;
                if let Some(scene) = self.json.get_mut("scenes").and_then(|scenes| scenes.get_mut(scene)) {
                    member(scene, "nodes").push(json!(index));
                }
            }
        }
        index
    }

    /// The bytes of the file.
    ///
    /// # Errors
    /// If it would have more than 4 GiB.
    pub fn finish(mut self) -> Result<Vec<u8>, FormatError> {
        let (added, bytes) = self.builder.into_parts();
        let base = self.bin.len().next_multiple_of(4);
        if !bytes.is_empty() {
            self.bin.resize(base, 0);
            self.bin.extend_from_slice(&bytes);
        }
        let as_value = |error: serde_json::Error| unwritable(error.to_string());
        for mut view in added.buffer_views {
            view.byte_offset += base as u64;
            member(&mut self.json, "bufferViews").push(serde_json::to_value(view).map_err(as_value)?);
        }
        for mut accessor in added.accessors {
            accessor.buffer_view.iter_mut().for_each(|view| *view += self.n_views);
            if let Some(sparse) = &mut accessor.sparse {
                sparse.indices.buffer_view += self.n_views;
                sparse.values.buffer_view += self.n_views;
            }
            member(&mut self.json, "accessors").push(serde_json::to_value(accessor).map_err(as_value)?);
        }
        for (key, names) in
            [("extensionsUsed", added.extensions_used), ("extensionsRequired", added.extensions_required)]
        {
            for name in names {
                if !list(&self.json, key).iter().any(|known| *known == name) {
                    member(&mut self.json, key).push(json!(name));
                }
            }
        }
        compact::drop_unused(&mut self.json, &mut self.bin, &self.size);
        if !self.bin.is_empty() {
            let buffers = member(&mut self.json, "buffers");
            if buffers.is_empty() {
                buffers.push(json!({}));
            }
            buffers[0]["byteLength"] = json!(self.bin.len());
        }
        pack_glb(&self.json, &self.bin)
    }
}
