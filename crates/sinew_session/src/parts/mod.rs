//! The parts of a document. Each knows how it is saved, loaded, scaled and measured, and what follows from a changed
//! mesh or a renamed clip. Everything that has to visit all parts goes through [`PARTS`]; a new part is added there.

mod character;
mod edit;
mod examples;
mod fields;
mod flesh;
mod motion;
mod pose;
mod puppet;
mod rules;
mod size;
mod visibility;

pub(crate) use fields::{LoadedFields, SavedFields, name_views, renumber};

use crate::{Changes, Document, SessionError};
use std::sync::Arc;

/// Values of a layer: one per vertex.
pub(crate) type Layer = Arc<Vec<f32>>;

/// A part of the document.
pub(crate) trait Part: Sync {
    /// Note in `changes` whether this part differs from that of another state.
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes);

    /// Memory in bytes that this part takes beyond what it shares with another state.
    fn bytes_beyond(&self, _document: &Document, _before: &Document) -> usize {
        0
    }

    /// Write what glTF itself does not hold.
    fn save(&self, _document: &Document, _fields: &mut SavedFields) {}

    /// Read what [`Self::save`] wrote, in this and in older versions. Invalid data is reported and left out.
    fn load(&self, _document: &mut Document, _fields: &mut LoadedFields) {}

    /// Multiply all lengths.
    fn scale(&self, _document: &mut Document, _factor: f64) -> Result<(), SessionError> {
        Ok(())
    }

    /// What of this part has directions of its own, which do not turn with the character.
    fn directed(&self, _document: &Document) -> Option<&'static str> {
        None
    }

    /// Replace every layer of values per vertex.
    fn map_layers(&self, _document: &mut Document, _map: &mut dyn FnMut(&Layer) -> Layer) {}

    /// A clip was renamed, or removed if there is no new name.
    fn clip_renamed(&self, _document: &mut Document, _clip: &str, _to: Option<&str>) {}
}

/// All parts, in the order in which they are loaded and scaled: what others refer to comes first.
pub(crate) static PARTS: [&dyn Part; 12] = [
    &character::Name,
    &character::Body,
    &character::Handles,
    &character::Clips,
    &examples::Examples,
    &pose::CurrentPose,
    &edit::Edit,
    &motion::Motion,
    &rules::Rules,
    &puppet::Puppet,
    &flesh::Flesh,
    &visibility::Visibility,
];

/// What differs between two states.
pub(crate) fn compare(document: &Document, before: &Document) -> Changes {
    let mut changes = Changes::default();
    PARTS.iter().for_each(|part| part.compare(document, before, &mut changes));
    changes
}

/// Memory in bytes that a state takes beyond what it shares with another one, roughly.
pub(crate) fn bytes_beyond(document: &Document, before: &Document) -> usize {
    size_of::<Document>() + PARTS.iter().map(|part| part.bytes_beyond(document, before)).sum::<usize>()
}

/// Multiply all lengths of a document.
///
/// # Errors
/// If the character cannot be scaled by that.
pub(crate) fn scale(document: &mut Document, factor: f64) -> Result<(), SessionError> {
    PARTS.iter().try_for_each(|part| part.scale(document, factor))
}

/// What of a document would not turn with its character.
pub(crate) fn directed(document: &Document) -> Vec<&'static str> {
    PARTS.iter().filter_map(|part| part.directed(document)).collect()
}

/// Replace every layer of values per vertex, in a fixed order.
pub(crate) fn map_layers(document: &mut Document, map: &mut dyn FnMut(&Layer) -> Layer) {
    PARTS.iter().for_each(|part| part.map_layers(document, map));
}

/// Tell all parts that a clip was renamed, or removed if there is no new name.
pub(crate) fn clip_renamed(document: &mut Document, clip: &str, to: Option<&str>) {
    PARTS.iter().for_each(|part| part.clip_renamed(document, clip, to));
}

/// Whether two lists hold the same shared items.
fn is_same_list<T>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
}

/// Whether shared data differs; identical data at another place counts as the same.
fn differs<T: PartialEq>(a: &Arc<T>, b: &Arc<T>) -> bool {
    !Arc::ptr_eq(a, b) && a != b
}
