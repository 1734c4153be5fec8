//! Which parts of the surface are hidden.

use super::{LoadedFields, Part, SavedFields, differs};
use crate::{Changes, Document, hidden_parts};
use sinew_formats::gltf::SurfaceParts;
use std::{collections::BTreeSet, sync::Arc};

pub(super) struct Visibility;

impl Part for Visibility {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.visibility = differs(&document.hidden, &before.hidden);
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        // With a file of others it is always said, as that file may hide parts itself.
        if document.host.is_some() || !document.hidden.is_empty() {
            fields.set_as("hidden_parts", &hidden_parts(document));
        }
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let read = serde_json::from_value::<BTreeSet<String>>;
        let hidden =
            fields.take_as("hidden_parts", "which parts are hidden was", read).unwrap_or_else(|| {
                let parts = SurfaceParts::of(document.host.as_deref(), &document.body).parts;
                parts.into_iter().filter(|part| !part.is_visible).map(|part| part.name).collect()
            });
        document.hidden = Arc::new(hidden);
    }
}
