//! Paths, walks, keyframes and ground that motions follow, and how examples are searched for them.

use super::{LoadedFields, Part, SavedFields, differs};
use crate::{Changes, Command, Document, SearchChange, SearchSettings, SessionError, command::scaled_paths};
use sinew_formats::paths::PathsData;
use std::sync::Arc;

pub(super) struct Motion;

impl Part for Motion {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.motion = document.search != before.search || differs(&document.paths, &before.paths);
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        if *document.paths != PathsData::default() {
            fields.set_as("paths", &*document.paths);
        }
        if document.search != SearchSettings::default() {
            fields.set_as("search", &SearchChange::of_all(&document.search));
        }
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let paths = fields.take_as("paths", "the paths were", |value| {
            let paths = serde_json::from_value(value).map_err(|error| error.to_string())?;
            let checked = Command::SetPaths { paths: Box::new(paths) }.apply(document);
            checked.map(|checked| checked.paths).map_err(|error| error.to_string())
        });
        document.paths = paths.unwrap_or_else(|| document.paths.clone());
        let search = fields.take_as("search", "the settings of the search were", |value| {
            let change: SearchChange = serde_json::from_value(value).map_err(|error| error.to_string())?;
            let mut settings = SearchSettings::default();
            change.apply(&mut settings).map(|()| settings).map_err(|error| error.to_string())
        });
        document.search = search.unwrap_or_else(|| document.search.clone());
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (*document.paths != PathsData::default()).then_some("paths and keyframes")
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        document.paths = Arc::new(scaled_paths(&document.paths, factor));
        Ok(())
    }
}
