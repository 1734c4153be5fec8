//! Puppetry in a document: pairs of poses, how they are used, actors, and takes.
//!
//! ```text
//! recording, camera, stream ─► Actor ─► Puppet::step ─► Acted ─► Frame
//!                                │                        ▲
//!                                └─► Take (command) ──────┴─► clip of the document
//! ```

mod actor;
mod by_handles;
mod demo;
mod pairs;
mod perform;
mod settings;
mod take;
#[cfg(test)]
mod tests;
mod verdict;

pub use actor::{Actor, ActorSource, read_actor};
pub use by_handles::HandleShape;
pub use demo::{add_demo, demo_actor};
pub use perform::{Acted, ActedShape, Puppet};
pub use settings::PuppetSettings;
pub use take::{MAX_TAKE_FRAMES, Performance, TakeData, TakeReport, perform_take};

use sinew_formats::pairs::{PairFile, PosePair};
use std::sync::Arc;

/// Pairs of a document and how they are used.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PuppetData {
    /// The pairs, in order.
    pub pairs: Vec<Arc<Pair>>,
    /// Joints with the limbs of the actor that move them, where the user said so.
    pub limbs: Vec<(String, Vec<String>)>,
    /// How a body moves the character.
    pub settings: PuppetSettings,
}

/// A pair with its picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Pair {
    /// The two poses.
    pub pair: PosePair,
    /// A small picture of the character, as a PNG file.
    pub thumbnail: Option<Arc<Vec<u8>>>,
}

impl PuppetData {
    /// Pairs of a file, without pictures.
    pub fn from_file(file: PairFile) -> Self {
        let pair = |pair| Arc::new(Pair { pair, thumbnail: None });
        Self {
            pairs: file.pairs.into_iter().map(pair).collect(),
            limbs: file.limbs,
            settings: PuppetSettings::default(),
        }
    }

    /// The pairs as a file holds them.
    pub fn file(&self) -> PairFile {
        PairFile {
            pairs: self.pairs.iter().map(|pair| pair.pair.clone()).collect(),
            limbs: self.limbs.clone(),
        }
    }

    /// Place of a pair in the list.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.pairs.iter().position(|pair| pair.pair.name == name)
    }
}
