//! The current pose: the moves that made it, and its detail layer.

use super::{
    Layer, LoadedFields, Part, SavedFields,
    size::{of_new_layer, unless_shared},
};
use crate::{
    Changes, Document, SessionError,
    command::{moves_from_value, moves_to_value, scaled_moves},
};
use std::{mem::size_of_val, sync::Arc};

pub(super) struct CurrentPose;

impl Part for CurrentPose {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        let is_same_detail = match (&document.detail, &before.detail) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        changes.pose = !Arc::ptr_eq(&document.pose, &before.pose) || !is_same_detail;
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        unless_shared(&document.pose, &before.pose, |pose| size_of_val(&pose[..]))
            + of_new_layer(document.detail.as_ref(), before.detail.as_ref())
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        fields.set("pose", moves_to_value(&document.pose));
        if let Some(detail) = &document.detail {
            let value = fields.layer(detail);
            fields.set("detail", value);
        }
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        if let Some(value) = fields.take("detail") {
            document.detail = fields.layer(&value, "/detail");
        }
        if let Some(moves) = fields.take_as("pose", "the pose was", |moves| moves_from_value(&moves)) {
            document.pose = Arc::new(moves);
        }
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        document.pose = Arc::new(scaled_moves(&document.pose, factor));
        document.detail = document.detail.as_ref().map(|detail| scaled_layer(detail, factor));
        Ok(())
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (!document.pose.is_empty()).then_some("the moves of the pose")
    }

    fn map_layers(&self, document: &mut Document, map: &mut dyn FnMut(&Layer) -> Layer) {
        document.detail = document.detail.as_ref().map(map);
    }
}

/// A detail layer of a body of another size.
pub(super) fn scaled_layer(layer: &Layer, factor: f64) -> Layer {
    Arc::new(layer.iter().map(|x| x * factor as f32).collect())
}
