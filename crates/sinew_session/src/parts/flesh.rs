//! Flesh, its painted stiffness, and the muscles that shape it.

use super::{Layer, LoadedFields, Part, SavedFields, differs, size::unless_shared};
use crate::{Changes, Document, FleshData, SessionError};
use std::sync::Arc;

pub(super) struct Flesh;

impl Part for Flesh {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.flesh = differs(&document.flesh, &before.flesh);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        unless_shared(&document.flesh, &before.flesh, FleshData::n_bytes)
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        if *document.flesh == FleshData::default() {
            return;
        }
        let mut flesh = serde_json::to_value(&*document.flesh).unwrap_or_default();
        if let Some(paint) = &document.flesh.paint {
            flesh["paint"] = fields.layer(paint);
        }
        fields.set("flesh", flesh);
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let Some(mut value) = fields.take("flesh") else { return };
        let paint = value.as_object_mut().and_then(|fields| fields.remove("paint"));
        let paint = paint.and_then(|paint| fields.layer(&paint, "/flesh/paint"));
        let read = serde_json::from_value::<FleshData>(value).map_err(|error| error.to_string());
        let checked = read.and_then(|flesh| {
            flesh.settings.params(document).map(|_| flesh).map_err(|error| error.to_string())
        });
        match checked {
            Ok(flesh) => document.flesh = Arc::new(FleshData { paint, ..flesh }),
            Err(error) => fields.fault(format!("the flesh was left out: {error}")),
        }
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        document.flesh = Arc::new(document.flesh.scaled(factor));
        Ok(())
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (!document.flesh.joints.is_empty() || document.flesh.muscles != Default::default())
            .then_some("joints and muscles")
    }

    fn map_layers(&self, document: &mut Document, map: &mut dyn FnMut(&Layer) -> Layer) {
        if let Some(paint) = &document.flesh.paint {
            let paint = Some(map(paint));
            document.flesh = Arc::new(FleshData { paint, ..(*document.flesh).clone() });
        }
    }

    fn clip_renamed(&self, document: &mut Document, clip: &str, to: Option<&str>) {
        crate::command::rename_clip_in_muscles(document, clip, to);
    }
}
