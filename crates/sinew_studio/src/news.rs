//! What changed: a version for each part of the state, so that a page is sent only what it does not have.

use crate::wire::registry;
use sinew::session::Event;

/// How often each part has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Versions(Vec<u64>);

impl Default for Versions {
    fn default() -> Self {
        Self(vec![0; registry().n_parts()])
    }
}

impl Versions {
    /// A part has changed.
    pub fn raise(&mut self, part: usize) {
        self.0[part] += 1;
    }

    /// Whether a part is another than it was then.
    pub fn differs(&self, then: &Self, part: usize) -> bool {
        self.0[part] != then.0[part]
    }

    /// What happened to the session. A move in progress changes no part: pages see it as vertices.
    pub fn record(&mut self, event: &Event) {
        match event {
            Event::Opened => self.0.iter_mut().for_each(|version| *version += 1),
            Event::Moving => {}
            event => registry().followers(event).for_each(|part| self.raise(part)),
        }
    }
}
