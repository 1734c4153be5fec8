//! What can be done in the studio, one module per capability. A capability enters its requests, gestures and parts of the
//! state into the registry, and holds the state that is not the document's.

mod document;
mod examples;
mod file;
mod fit;
mod flesh;
mod handles;
mod motion;
mod muscles;
mod pose;
mod puppet;
mod refit;
mod rules;
mod turntable;
mod view;
mod walk;

#[cfg(test)]
pub use document::HistoryPart;
pub use document::SurfacePart;
pub use file::{FilePart, WorkPart};
pub use fit::maps as fit_maps;
pub use flesh::Cells;
#[cfg(test)]
pub use puppet::ActPart;
#[cfg(test)]
pub use {handles::HandlesPart, motion::ClipsPart, pose::PosePart};

use crate::{
    engine::Engine,
    studio::{Looks, Studio},
    wire::{GestureId, Registry},
};
use sinew::session::{Document, Frame, SessionError};
use std::fmt::Debug;

/// One capability.
pub trait Capability: Debug + Send + Sync {
    /// Enter requests, gestures, parts of the state and choices.
    fn register(&self, registry: &mut Registry);

    /// Another document was opened.
    fn reset(&self, _: &Studio) {}

    /// What is shown was changed, other than the moment of a clip.
    fn looks_changed(&self, _: &Studio) {}

    /// A gesture has ended, or its page is gone.
    fn release(&self, _: GestureId) {}

    /// Look at the document before it is shown; on the engine's thread.
    fn observe(&self, _: &mut Engine<'_>, _: &Document, _: &Looks) {}

    /// Whether it shows a shape of its own in place of the document's.
    fn is_shown(&self) -> bool {
        false
    }

    /// The shape it shows in place of the document's; on the engine's thread.
    fn shape(&self, _: &mut Engine<'_>, _: &Document, _: &Looks) -> Option<Result<Shape, SessionError>> {
        None
    }

    /// A thread of its own, which ends after `stop`.
    fn thread(&self) -> Option<fn(&Studio)> {
        None
    }

    /// The server ends.
    fn stop(&self) {}
}

/// A shape, and the cells of flesh in it if they are shown.
pub type Shape = (Frame, Option<Cells>);

macro_rules! capabilities {
    ($($(#[$doc:meta])* $name:ident: $kind:ty,)*) => {
        /// All capabilities.
        #[derive(Debug, Default)]
        pub struct Capabilities {
            $($(#[$doc])* pub $name: $kind,)*
        }

        impl Capabilities {
            /// All of them.
            pub fn list(&self) -> Vec<&dyn Capability> {
                vec![$(&self.$name),*]
            }
        }
    };
}

capabilities! {
    /// Opening, saving, exporting, recovering.
    file: file::FileCapability,
    /// Commands and history.
    document: document::DocumentCapability,
    /// What is shown, and how.
    view: view::ViewCapability,
    /// Handles.
    handles: handles::HandlesCapability,
    /// Moves of handles.
    pose: pose::PoseCapability,
    /// Stored poses, reaching and sculpting.
    examples: examples::ExamplesCapability,
    /// Paths and keyframes.
    motion: motion::MotionCapability,
    /// Rules of poses.
    rules: rules::RulesCapability,
    /// Clips in which the character walks.
    walk: walk::WalkCapability,
    /// Clips on other ground.
    refit: refit::RefitCapability,
    /// Skins fitted to clips.
    fit: fit::FitCapability,
    /// Clips that turn the character once.
    turntable: turntable::TurntableCapability,
    /// Actors.
    puppet: puppet::PuppetCapability,
    /// Flesh.
    flesh: flesh::FleshCapability,
    /// Muscles.
    muscles: muscles::MusclesCapability,
}

impl Capabilities {
    /// Whose shape is shown, the first that has one; the document's own if none has.
    pub fn by_precedence(&self) -> [&dyn Capability; 3] {
        [&self.flesh, &self.puppet, &self.examples]
    }

    /// Whether a capability shows a shape of its own.
    pub fn is_other_shown(&self) -> bool {
        self.by_precedence().iter().any(|capability| capability.is_shown())
    }
}
