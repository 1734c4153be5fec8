//! The messages between pages and the studio, as types. Each is written once: messages are parsed into and written from
//! these types, and `protocol.ts` and the tables of `PROTOCOL.md` are generated from them (see `document.rs`).
//!
//! Nothing here knows how messages travel: a socket carries them today.

#[cfg(test)]
mod document;
mod messages;
mod page;
mod registry;
mod state;

pub use messages::{
    Ack, Done, ErrorFlag, JobKind, JobState, Level, Notice, Point2, Point3, Quaternion, Reply, ViewMatrix,
};
pub use page::{Page, typed};
pub use registry::{Registry, Step, registry};
pub use state::{Sent, welcome};

use crate::{engine::Engine, studio::Studio};
use serde::{Serialize, de::DeserializeOwned};
use sinew::session::{Document, Event, SessionError};
use std::{fmt::Debug, sync::Arc};
use ts_rs::TS;

/// The state at a moment.
#[derive(Debug)]
pub struct Snapshot<'a> {
    /// What all pages share.
    pub studio: &'a Studio,
    /// The document.
    pub document: Document,
}

/// How a request is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// At once, on the thread that receives it: it must wait for nothing.
    Quick,
    /// On the page's own thread, in order, after the drags that came before it.
    Ordered,
    /// On a thread of its own, as a job.
    Long,
}

/// Maximum bytes of a message, unless its kind has a limit of its own.
pub const MAX_BYTES: usize = 1 << 20;

/// Where a request comes from.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What all pages share.
    pub studio: &'a Arc<Studio>,
    /// The page.
    pub page: u64,
}

/// Something a page can ask for. The documentation of the type says what it does.
pub trait Request: DeserializeOwned + TS + Send + 'static {
    /// The `type` of the message.
    const NAME: &'static str;
    /// How it is run.
    const WORK: Work = Work::Ordered;
    /// Bytes that the message may have.
    const MAX_BYTES: usize = MAX_BYTES;
    /// What is answered.
    type Reply: Serialize + TS + 'static;

    /// How this one is run, where that depends on its fields.
    fn work(&self) -> Work {
        Self::WORK
    }

    /// Do it.
    ///
    /// # Errors
    /// Why it could not be done.
    fn run(self, context: &Context<'_>) -> anyhow::Result<Self::Reply>;
}

/// One gesture of one page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GestureId {
    /// The page.
    pub page: u64,
    /// The number of the gesture, which the page chooses.
    pub drag: u32,
}

/// What a gesture streams while the pointer moves: the newest is applied, older ones are dropped.
pub trait Gesture: DeserializeOwned + TS + Debug + Send + 'static {
    /// Its key in the `move` of a `drag`.
    const NAME: &'static str;

    /// Follow the pointer; on the engine's thread.
    ///
    /// # Errors
    /// Why it could not be followed.
    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError>;
}

/// A part of the state that pages show: an object whose keys become keys of the `state` message.
pub trait Part: 'static {
    /// Its keys.
    type Value: Serialize + TS + 'static;
    /// What is remembered per page of what was sent, for parts that send only what is new.
    type Sent: Default + Send + 'static;
    /// Whether it is looked at with every message rather than only when it was raised.
    const ALWAYS: bool = false;

    /// Whether something that happened to the session changes it.
    fn follows(_: &Event) -> bool {
        false
    }

    /// What a page is sent; none if it has it already.
    fn value(snapshot: &Snapshot<'_>, sent: &mut Self::Sent) -> Option<Self::Value>;
}

/// What a page needs to know once, such as the names of methods: keys of the `welcome` message.
pub trait Choices: 'static {
    /// Its keys.
    type Value: Serialize + TS + 'static;

    /// What is sent.
    fn value(studio: &Studio) -> Self::Value;
}
