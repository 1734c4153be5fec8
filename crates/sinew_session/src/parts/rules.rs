//! Rules, and what surrounds the skeleton.

use super::{LoadedFields, Part, SavedFields, differs, size::unless_shared};
use crate::{Changes, Document, RulesData, SessionError};
use std::sync::Arc;

pub(super) struct Rules;

impl Part for Rules {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.rules = differs(&document.rules, &before.rules);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        unless_shared(&document.rules, &before.rules, RulesData::n_bytes)
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        if *document.rules != RulesData::default() {
            fields.set_as("rules", &*document.rules);
        }
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let rules = fields.take_as("rules", "the rules were", |value| {
            let rules: RulesData = serde_json::from_value(value).map_err(|error| error.to_string())?;
            rules.check().map(|()| rules).map_err(|error| error.to_string())
        });
        document.rules = rules.map_or_else(|| document.rules.clone(), Arc::new);
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        document.rules = Arc::new(document.rules.scaled(factor));
        Ok(())
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (*document.rules != RulesData::default()).then_some("rules")
    }

    fn clip_renamed(&self, document: &mut Document, clip: &str, to: Option<&str>) {
        crate::command::rename_clip_in_rules(document, clip, to);
    }
}
