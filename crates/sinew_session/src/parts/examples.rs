//! Stored poses, with their detail layers and pictures.

use super::{Layer, LoadedFields, Part, SavedFields, is_same_list, pose::scaled_layer, size::of_new_items};
use crate::{
    Changes, Document, Example, SessionError,
    command::{moves_from_value, moves_to_value, scaled_moves},
};
use serde_json::{Value, json};
use std::{
    mem::{size_of, size_of_val},
    sync::Arc,
};

pub(super) struct Examples;

impl Part for Examples {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.examples = !is_same_list(&document.examples, &before.examples);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        of_new_items(&document.examples, &before.examples, |example| {
            size_of::<Example>()
                + size_of_val(&example.moves[..])
                + example.detail.as_ref().map_or(0, |layer| size_of_val(&layer[..]))
                + example.thumbnail.as_ref().map_or(0, |png| png.len())
        })
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        let examples = document.examples.iter().map(|example| {
            let mut object = json!({ "name": example.name, "moves": moves_to_value(&example.moves) });
            if let Some(png) = &example.thumbnail {
                object["thumbnail"] = fields.bytes(png.as_ref().clone());
            }
            if let Some(detail) = &example.detail {
                object["detail"] = fields.layer(detail);
            }
            object
        });
        let examples = examples.collect();
        fields.set("examples", examples);
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let Some(Value::Array(list)) = fields.take("examples") else { return };
        let mut examples: Vec<Arc<Example>> = Vec::new();
        for (at, value) in list.iter().enumerate() {
            let name = value["name"].as_str().map_or_else(|| format!("example {at}"), str::to_owned);
            if examples.iter().any(|other| other.name == name) {
                fields
                    .fault(format!("/examples/{at}: there are two called {name:?}; the second was left out"));
                continue;
            }
            match moves_from_value(&value["moves"]) {
                Ok(moves) => {
                    let thumbnail = fields.bytes(&value["thumbnail"]);
                    let detail = fields.layer(&value["detail"], &format!("/examples/{at}/detail"));
                    examples.push(Arc::new(Example { name, moves: Arc::new(moves), detail, thumbnail }));
                }
                Err(error) => fields.fault(format!("/examples/{at} was left out: {error}")),
            }
        }
        document.examples = examples;
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        for example in &mut document.examples {
            let moves = Arc::new(scaled_moves(&example.moves, factor));
            let detail = example.detail.as_ref().map(|detail| scaled_layer(detail, factor));
            *example = Arc::new(Example { moves, detail, ..(**example).clone() });
        }
        Ok(())
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (!document.examples.is_empty()).then_some("example poses")
    }

    fn map_layers(&self, document: &mut Document, map: &mut dyn FnMut(&Layer) -> Layer) {
        for example in document.examples.iter_mut().filter(|example| example.detail.is_some()) {
            let detail = example.detail.as_ref().map(&mut *map);
            *example = Arc::new(Example { detail, ..(**example).clone() });
        }
    }
}
