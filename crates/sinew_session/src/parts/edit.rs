//! How the soft surface follows the handles.

use super::{LoadedFields, Part, SavedFields};
use crate::{Changes, Document, EditChange};
use sinew_deform::EditParams;

pub(super) struct Edit;

impl Part for Edit {
    fn compare(&self, document: &Document, before: &Document, changes: &mut Changes) {
        changes.edit = document.edit != before.edit;
    }

    fn save(&self, document: &Document, fields: &mut SavedFields) {
        fields.set_as("edit", &EditChange::of_all(&document.edit));
    }

    fn load(&self, document: &mut Document, fields: &mut LoadedFields) {
        let params = fields.take_as("edit", "the method of editing was", |value| {
            let change: EditChange = serde_json::from_value(value).map_err(|error| error.to_string())?;
            let mut params = EditParams::default();
            change.apply(&mut params).map(|()| params).map_err(|error| error.to_string())
        });
        document.edit = params.unwrap_or(document.edit);
    }
}
