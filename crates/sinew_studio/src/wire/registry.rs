//! All messages of the wire, by name. Capabilities register theirs once.

use super::{Choices, Context, Gesture, GestureId, Part, Request, Snapshot, Work};
use crate::{capabilities::Capabilities, engine::Engine, studio::Studio};
use serde::Deserialize;
use sinew::session::{Event, SessionError};
use std::{
    any::{Any, TypeId},
    fmt::Debug,
    sync::LazyLock,
};

/// What was registered.
#[derive(Debug, Default)]
pub struct Registry {
    pub(super) requests: Vec<RequestEntry>,
    pub(super) gestures: Vec<GestureEntry>,
    pub(super) parts: Vec<PartEntry>,
    pub(super) choices: Vec<ChoicesEntry>,
}

/// The registry of all capabilities.
pub fn registry() -> &'static Registry {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
        let mut registry = Registry::default();
        Capabilities::default().list().iter().for_each(|capability| capability.register(&mut registry));
        registry
    });
    &REGISTRY
}

/// A request that was parsed.
pub trait Call: Send {
    /// How it is run.
    fn work(&self) -> Work;

    /// Run it; the answer as JSON.
    ///
    /// # Errors
    /// Why it could not be done.
    fn run(self: Box<Self>, context: &Context<'_>) -> anyhow::Result<String>;
}

impl<R: Request> Call for R {
    fn work(&self) -> Work {
        Request::work(self)
    }

    fn run(self: Box<Self>, context: &Context<'_>) -> anyhow::Result<String> {
        Ok(serde_json::to_string(&Request::run(*self, context)?)?)
    }
}

/// A step of a gesture that was parsed.
pub trait Step: Debug + Send {
    /// Follow the pointer.
    ///
    /// # Errors
    /// Why it could not be followed.
    fn apply(self: Box<Self>, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError>;
}

impl<G: Gesture> Step for G {
    fn apply(self: Box<Self>, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        Gesture::apply(*self, engine, gesture)
    }
}

/// How a `drag` is written: the gesture by its name.
#[derive(Deserialize)]
struct Drag<G> {
    #[serde(rename = "move", deserialize_with = "only_value", bound(deserialize = "G: Deserialize<'de>"))]
    step: G,
}

/// The value of the only key of an object; the key was read before.
fn only_value<'de, G: Deserialize<'de>, D: serde::Deserializer<'de>>(deserializer: D) -> Result<G, D::Error> {
    struct Only<G>(std::marker::PhantomData<G>);
    impl<'de, G: Deserialize<'de>> serde::de::Visitor<'de> for Only<G> {
        type Value = G;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object with the name of a gesture as its only key")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<G, A::Error> {
            let step = map.next_entry::<serde::de::IgnoredAny, G>()?;
            let step = step.ok_or_else(|| serde::de::Error::custom("the gesture is missing"))?.1;
            match map.next_key::<serde::de::IgnoredAny>()? {
                None => Ok(step),
                Some(_) => Err(serde::de::Error::custom("there is more than one gesture")),
            }
        }
    }
    deserializer.deserialize_map(Only(std::marker::PhantomData))
}

type ParseRequest = fn(&str) -> serde_json::Result<Box<dyn Call>>;
type ParseGesture = fn(&str) -> serde_json::Result<Box<dyn Step>>;
/// What a page has of a part.
pub(super) type SentPart = Box<dyn Any + Send>;

#[derive(Debug)]
pub(super) struct RequestEntry {
    pub name: &'static str,
    pub max_bytes: usize,
    pub parse: ParseRequest,
    #[cfg(test)]
    pub describe: fn(&mut super::document::Document) -> super::document::RequestText,
}

#[derive(Debug)]
pub(super) struct GestureEntry {
    pub name: &'static str,
    pub parse: ParseGesture,
    #[cfg(test)]
    pub describe: fn(&mut super::document::Document) -> (String, String),
}

#[derive(Debug)]
pub(super) struct PartEntry {
    kind: TypeId,
    pub always: bool,
    pub follows: fn(&Event) -> bool,
    pub forget: fn() -> SentPart,
    pub write: fn(&Snapshot<'_>, &mut SentPart) -> Option<String>,
    #[cfg(test)]
    pub describe: fn(&mut super::document::Document) -> (String, String),
}

#[derive(Debug)]
pub(super) struct ChoicesEntry {
    pub write: fn(&Studio) -> String,
    #[cfg(test)]
    pub describe: fn(&mut super::document::Document) -> (String, String),
}

impl Registry {
    /// Something a page can ask for.
    pub fn request<R: Request>(&mut self) -> &mut Self {
        self.requests.push(RequestEntry {
            name: R::NAME,
            max_bytes: R::MAX_BYTES,
            parse: |text| Ok(Box::new(serde_json::from_str::<R>(text)?)),
            #[cfg(test)]
            describe: super::document::Document::request::<R>,
        });
        self
    }

    /// Something a gesture can stream.
    pub fn gesture<G: Gesture>(&mut self) -> &mut Self {
        self.gestures.push(GestureEntry {
            name: G::NAME,
            parse: |text| Ok(Box::new(serde_json::from_str::<Drag<G>>(text)?.step)),
            #[cfg(test)]
            describe: super::document::Document::named::<G>,
        });
        self
    }

    /// A part of the state.
    pub fn part<P: Part>(&mut self) -> &mut Self {
        self.parts.push(PartEntry {
            kind: TypeId::of::<P>(),
            always: P::ALWAYS,
            follows: P::follows,
            forget: || Box::<P::Sent>::default(),
            write: |snapshot, sent| {
                let value = P::value(snapshot, sent.downcast_mut::<P::Sent>()?)?;
                // Types of the wire are always JSON.
                serde_json::to_string(&value).ok()
            },
            #[cfg(test)]
            describe: super::document::Document::shape::<P::Value>,
        });
        self
    }

    /// What a page needs to know once.
    pub fn choices<C: Choices>(&mut self) -> &mut Self {
        self.choices.push(ChoicesEntry {
            write: |studio| serde_json::to_string(&C::value(studio)).unwrap_or_default(),
            #[cfg(test)]
            describe: super::document::Document::shape::<C::Value>,
        });
        self
    }

    /// The place of a part in lists of versions.
    pub fn index<P: Part>(&self) -> Option<usize> {
        self.parts.iter().position(|part| part.kind == TypeId::of::<P>())
    }

    /// How many parts there are.
    pub fn n_parts(&self) -> usize {
        self.parts.len()
    }

    /// The parts that something that happened to the session changes.
    pub fn followers<'a>(&'a self, event: &'a Event) -> impl Iterator<Item = usize> + 'a {
        let parts = self.parts.iter().enumerate();
        parts.filter(|(_, part)| (part.follows)(event)).map(|(index, _)| index)
    }

    /// The most bytes that any message may have.
    pub fn max_bytes(&self) -> usize {
        self.requests.iter().map(|entry| entry.max_bytes).max().unwrap_or(super::MAX_BYTES)
    }

    /// Parse a request, as a page does.
    #[cfg(test)]
    pub fn call(&self, name: &str, text: &str) -> serde_json::Result<Box<dyn Call>> {
        let entry = self.requests.iter().find(|entry| entry.name == name).expect("a known request");
        (entry.parse)(text)
    }

    /// Parse a step of a gesture, as a page does.
    #[cfg(test)]
    pub fn step(&self, name: &str, text: &str) -> serde_json::Result<Box<dyn Step>> {
        let entry = self.gestures.iter().find(|entry| entry.name == name).expect("a known gesture");
        (entry.parse)(text)
    }
}
