//! Materials of the document, found when a page first draws them.

use super::Studio;
use sinew::formats::gltf::Appearance;
use std::sync::Arc;

/// The newest materials and their address.
pub(super) type Known = Option<(String, Arc<Appearance>)>;

impl Studio {
    /// Where the materials of the document are. Another run of the server counts from the beginning again, and another
    /// document may have the same geometry.
    pub fn appearance_address(&self) -> String {
        format!("/appearance/{}-{}-{}", self.session_id, self.n_opened(), self.revision())
    }

    /// The materials at an address, if that is the present one. The file of the document is read again, which takes a moment.
    pub fn appearance(&self, address: &str) -> Option<Arc<Appearance>> {
        if address != self.appearance_address() {
            return None;
        }
        let known = self.appearance.lock().clone();
        if let Some((_, found)) = known.filter(|(of, _)| of == address) {
            return Some(found);
        }
        let document = self.document();
        let found = Arc::new(Appearance::of(document.host.as_deref(), &document.body));
        *self.appearance.lock() = Some((address.to_owned(), found.clone()));
        Some(found)
    }
}
