//! Pairs of poses by which a body moves the character, with their pictures and settings.

use super::{LoadedFields, Part, SavedFields, differs, size::of_new_items};
use crate::{
    Changes, Document, Pair, PuppetData, PuppetSettings, SessionError,
    command::{pairs_from_value, pairs_to_value, scaled_puppet},
};
use serde::Deserialize;
use sinew_formats::pairs::PairTarget;
use std::{
    mem::{size_of, size_of_val},
    sync::Arc,
};

pub(super) struct Puppet;

impl Part for Puppet {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.puppet = differs(&document.puppet, &before.puppet);
    }

    fn bytes_beyond(&self, document: &Document, before: &Document) -> usize {
        of_new_items(&document.puppet.pairs, &before.puppet.pairs, of_pair)
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        let puppet = &document.puppet;
        if **puppet == PuppetData::default() {
            return;
        }
        let mut value = pairs_to_value(&puppet.file());
        for (pair, entry) in puppet.pairs.iter().zip(value["pairs"].as_array_mut().into_iter().flatten()) {
            if let Some(png) = &pair.thumbnail {
                entry["thumbnail"] = fields.bytes(png.as_ref().clone());
            }
        }
        value["settings"] = serde_json::to_value(&puppet.settings).unwrap_or_default();
        fields.set("puppet", value);
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let Some(value) = fields.take("puppet") else { return };
        let mut puppet = PuppetData::default();
        match pairs_from_value(&value) {
            Ok(file) => puppet = PuppetData::from_file(file),
            Err(error) => fields.fault(format!("the pairs were left out: {error}")),
        }
        for (pair, entry) in puppet.pairs.iter_mut().zip(value["pairs"].as_array().into_iter().flatten()) {
            let thumbnail = fields.bytes(&entry["thumbnail"]);
            *pair = Arc::new(Pair { thumbnail, ..(**pair).clone() });
        }
        if let Some(settings) = value.get("settings") {
            let settings = PuppetSettings::deserialize(settings).map_err(|error| error.to_string());
            let checked = settings.and_then(|s| {
                s.params(crate::ActorSource::default()).map(|_| s).map_err(|error| error.to_string())
            });
            match checked {
                Ok(settings) => puppet.settings = settings,
                Err(error) => fields.fault(format!("the puppet settings were left out: {error}")),
            }
        }
        document.puppet = Arc::new(puppet);
    }

    fn directed(&self, document: &Document) -> Option<&'static str> {
        (!document.puppet.pairs.is_empty()).then_some("pairs of poses")
    }

    fn scale(&self, document: &mut Document, factor: f64) -> Result<(), SessionError> {
        document.puppet = Arc::new(scaled_puppet(&document.puppet, factor));
        Ok(())
    }
}

fn of_pair(pair: &Pair) -> usize {
    size_of::<Pair>()
        + size_of_val(&pair.pair.body[..])
        + pair.thumbnail.as_ref().map_or(0, |png| png.len())
        + match &pair.pair.target {
            PairTarget::Joints(joints) => size_of_val(&joints[..]),
            PairTarget::Example(_) => 0,
        }
}
