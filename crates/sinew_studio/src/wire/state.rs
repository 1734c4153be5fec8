//! What a page is sent of the state: everything at first, then the parts that changed.

use super::{
    Snapshot,
    registry::{SentPart, registry},
};
use crate::{news::Versions, studio::Studio};

/// The first message to a page.
pub fn welcome(studio: &Studio) -> String {
    let mut message = Message::new("welcome");
    registry().choices.iter().for_each(|entry| message.extend(&(entry.write)(studio)));
    message.finish()
}

/// What a page has been sent, so that it is sent only what it lacks.
#[derive(Debug)]
pub struct Sent {
    /// Nothing, if the page is new.
    versions: Option<Versions>,
    parts: Vec<SentPart>,
}

impl Default for Sent {
    fn default() -> Self {
        Self { versions: None, parts: registry().parts.iter().map(|part| (part.forget)()).collect() }
    }
}

impl Sent {
    /// A `state` message with the parts that changed since the last, all of them for the first; none if nothing did.
    pub fn news(&mut self, studio: &Studio) -> Option<String> {
        // Versions first: should the document be newer than they say, it is sent once more.
        let versions = studio.versions();
        let before = self.versions.replace(versions.clone());
        let snapshot = Snapshot { studio, document: studio.session().document().clone() };
        let mut message = Message::new("state");
        for (index, (part, sent)) in registry().parts.iter().zip(&mut self.parts).enumerate() {
            let is_new = before.as_ref().is_none_or(|before| versions.differs(before, index));
            if (is_new || part.always)
                && let Some(text) = (part.write)(&snapshot, sent)
            {
                message.extend(&text);
            }
        }
        message.has_content.then(|| message.finish())
    }
}

/// An object that is put together from objects that are JSON already.
struct Message {
    text: String,
    has_content: bool,
}

impl Message {
    fn new(kind: &str) -> Self {
        Self { text: format!("{{\"type\":\"{kind}\""), has_content: false }
    }

    fn extend(&mut self, object: &str) {
        let keys = object.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or("");
        if !keys.is_empty() {
            self.text.push(',');
            self.text.push_str(keys);
            self.has_content = true;
        }
    }

    fn finish(mut self) -> String {
        self.text.push('}');
        self.text
    }
}
