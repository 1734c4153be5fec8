//! One page: its messages, what is done with them, and what it is sent. How messages travel is the transport's business.

use super::{
    Ack, Context, ErrorFlag, GestureId, Level, Notice, Reply, Sent, Work,
    registry::{Call, Step, registry},
};
use crate::{
    engine::{Engine, FAULT},
    frames::SentFrames,
    studio::{Drag, Shown, Studio},
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use sinew::session::SessionError;
use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

/// Binary messages that may be on their way to a page.
const MAX_IN_FLIGHT: usize = 2;
/// Requests a page may have waiting; one that sends more without awaiting answers is not ours.
const MAX_WAITING: usize = 1024;

/// Numbers of pages, so that none waits for the gestures of another.
static NEXT_PAGE: AtomicU64 = AtomicU64::new(1);

type Waiting = (Option<u64>, Box<dyn Call>);
/// Takes answers that come later.
pub type Answers = Arc<dyn Fn(String) + Send + Sync>;

/// One page.
pub struct Page {
    studio: Arc<Studio>,
    number: u64,
    waiting: SyncSender<Waiting>,
    /// Binary messages on their way.
    in_flight: Vec<u32>,
    /// A gesture that has not ended.
    drag: Option<u32>,
    sent: Sent,
    frames: SentFrames,
    last_frame: u32,
}

/// What every message has; the rest of it is read once its kind is known.
#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    id: Option<u64>,
    drag: Option<u32>,
    #[serde(borrow, rename = "move")]
    step: Option<Key<'a>>,
    #[serde(default)]
    end: bool,
}

/// The first key of an object; its values are skipped.
struct Key<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Key<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> serde::de::Visitor<'de> for First {
            type Value = Cow<'de, str>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a gesture")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let first = map.next_entry::<Cow<'de, str>, IgnoredAny>()?;
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(first.map(|(key, _)| key).unwrap_or_default())
            }
        }
        deserializer.deserialize_map(First).map(Self)
    }
}

/// The number of a message that is wrong otherwise.
#[derive(Deserialize)]
struct Numbered {
    id: Option<u64>,
}

/// An invalid step of a gesture. It is answered by a frame like any other, because the page waits for one.
#[derive(Debug)]
struct Unclear(String);

impl Step for Unclear {
    fn apply(self: Box<Self>, _: &mut Engine<'_>, _: GestureId) -> Result<(), SessionError> {
        Err(SessionError::Value { what: "drag", cause: self.0 })
    }
}

impl Page {
    /// A page that has just connected. Answers that come later are given to `answers`.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn open(studio: Arc<Studio>, answers: Answers) -> std::io::Result<Self> {
        let number = NEXT_PAGE.fetch_add(1, Ordering::Relaxed);
        let (waiting, received) = sync_channel(MAX_WAITING);
        let worker = {
            let studio = studio.clone();
            move || work(&studio, number, &received, &answers)
        };
        std::thread::Builder::new().name("page".into()).spawn(worker)?;
        Ok(Self::with(studio, number, waiting))
    }

    fn with(studio: Arc<Studio>, number: u64, waiting: SyncSender<Waiting>) -> Self {
        let (sent, frames) = Default::default();
        Self { studio, number, waiting, in_flight: Vec::new(), drag: None, sent, frames, last_frame: 0 }
    }

    /// What is new in the state; none if the page has everything.
    pub fn news(&mut self) -> Option<String> {
        self.sent.news(&self.studio)
    }

    /// Send all of the state with the next news.
    pub fn forget_state(&mut self) {
        self.sent = Sent::default();
    }

    /// Whether a shape may be sent: not more than the page can take.
    pub fn may_send(&self) -> bool {
        self.in_flight.len() < MAX_IN_FLIGHT
    }

    /// The messages that bring the page to a shape.
    pub fn frames(&mut self, shown: &Shown) -> Vec<Vec<u8>> {
        let messages = self.frames.update(&shown.drawn, self.number, &mut self.last_frame);
        let first = self.last_frame.wrapping_sub(messages.len() as u32 - 1);
        self.in_flight.extend((0..messages.len() as u32).map(|k| first.wrapping_add(k)));
        messages
    }

    /// Take a message. What is quick is done and answered here; the rest is left to the page's own thread, which keeps
    /// its order and waits for drags that came before.
    pub fn receive(&mut self, text: &str) -> Option<String> {
        let envelope = match serde_json::from_str::<Envelope<'_>>(text) {
            Ok(envelope) => envelope,
            Err(error) => {
                let id = serde_json::from_str::<Numbered>(text).ok().and_then(|numbered| numbered.id);
                return Some(refuse(id, &format!("not understood: {error}"), None));
            }
        };
        let id = envelope.id;
        if text.len() > super::MAX_BYTES && matches!(&*envelope.kind, "ack" | "drag") {
            return Some(refuse(id, &too_large(text.len(), super::MAX_BYTES), None));
        }
        match &*envelope.kind {
            "ack" => match serde_json::from_str::<Ack>(text) {
                Ok(ack) => {
                    self.in_flight.retain(|number| *number != ack.frame);
                    None
                }
                Err(error) => Some(refuse(id, &format!("not understood: {error}"), None)),
            },
            "drag" => self.drag(&envelope, text),
            kind => self.request(kind, id, text),
        }
    }

    fn drag(&mut self, envelope: &Envelope<'_>, text: &str) -> Option<String> {
        let (Some(drag), Some(Key(name))) = (envelope.drag, &envelope.step) else {
            return Some(refuse(envelope.id, "not understood: a drag needs its number and a move", None));
        };
        let entry = registry().gestures.iter().find(|entry| entry.name == name);
        let parsed = match entry {
            Some(entry) => (entry.parse)(text).map_err(|error| error.to_string()),
            None => Err(format!("there is no gesture {name:?}")),
        };
        let step = parsed.unwrap_or_else(|cause| Box::new(Unclear(cause)));
        self.drag = Some(drag).filter(|_| !envelope.end);
        let gesture = GestureId { page: self.number, drag };
        self.studio.leave_drag(Drag { gesture, step: Some(step), end: envelope.end });
        envelope.id.map(|id| accept(id, "{}"))
    }

    fn request(&mut self, kind: &str, id: Option<u64>, text: &str) -> Option<String> {
        let Some(entry) = registry().requests.iter().find(|entry| entry.name == kind) else {
            let kind: String = kind.chars().take(40).collect();
            return Some(refuse(id, &format!("not understood: there is no request {kind:?}"), None));
        };
        if text.len() > entry.max_bytes {
            return Some(refuse(id, &too_large(text.len(), entry.max_bytes), None));
        }
        let call = match (entry.parse)(text) {
            Ok(call) => call,
            Err(error) => return Some(refuse(id, &format!("not understood: {error}"), None)),
        };
        if call.work() == Work::Quick {
            return answer(id, attempt(&self.studio, self.number, call));
        }
        match self.waiting.try_send((id, call)) {
            Ok(()) => None,
            Err(_) => Some(refuse(id, "too many requests are waiting; wait for answers", None)),
        }
    }
}

impl Drop for Page {
    /// The gesture of a page that is gone has ended.
    fn drop(&mut self) {
        if let Some(drag) = self.drag {
            let gesture = GestureId { page: self.number, drag };
            self.studio.leave_drag(Drag { gesture, step: None, end: true });
        }
    }
}

/// Run requests one after the other, until the page is gone.
fn work(studio: &Arc<Studio>, page: u64, waiting: &Receiver<Waiting>, answers: &Answers) {
    while let Ok((id, call)) = waiting.recv() {
        studio.settle(page);
        // Nothing that comes later waits for a job.
        if call.work() == Work::Long {
            start(studio, page, id, call, answers);
        } else if let Some(text) = answer(id, attempt(studio, page, call)) {
            answers(text);
        }
    }
}

/// Run long work on a thread of its own, if there is room for it.
fn start(studio: &Arc<Studio>, page: u64, id: Option<u64>, call: Box<dyn Call>, answers: &Answers) {
    let Some(place) = studio.take_place_for_job() else {
        return answers(refuse(id, "too many jobs are running; wait for one to end, or cancel one", None));
    };
    let (shared, later) = (studio.clone(), answers.clone());
    let run = move || {
        let done = answer(id, attempt(&shared, page, call));
        drop(place);
        if let Some(text) = done {
            later(text);
        }
    };
    if std::thread::Builder::new().name("job".into()).spawn(run).is_err() {
        answers(refuse(id, "could not start a worker thread; close other programs", None));
    }
}

/// A panic is an error like any other: the page and the document remain usable.
fn attempt(studio: &Arc<Studio>, page: u64, call: Box<dyn Call>) -> anyhow::Result<String> {
    let done = catch_unwind(AssertUnwindSafe(|| call.run(&Context { studio, page })));
    done.unwrap_or_else(|_| Err(anyhow::anyhow!(FAULT)))
}

/// What is answered; nothing if it was done and no answer is wanted.
fn answer(id: Option<u64>, done: anyhow::Result<String>) -> Option<String> {
    match (done, id) {
        (Ok(value), Some(id)) => Some(accept(id, &value)),
        (Ok(_), None) => None,
        (Err(error), id) => {
            Some(refuse(id, &format!("{error:#}"), error.downcast_ref::<ErrorFlag>().copied()))
        }
    }
}

/// `value` is JSON already.
fn accept(id: u64, value: &str) -> String {
    format!("{{\"type\":\"reply\",\"id\":{id},\"ok\":{value}}}")
}

fn refuse(id: Option<u64>, cause: &str, flag: Option<ErrorFlag>) -> String {
    match id {
        Some(id) => typed("reply", &Reply::refused(id, cause, flag)),
        None => typed("notice", &Notice { level: Level::Error, text: cause.to_owned() }),
    }
}

fn too_large(bytes: usize, most: usize) -> String {
    format!("a message of {bytes} bytes is too large; the most is {most}")
}

/// A message of a kind.
pub fn typed<T: Serialize>(kind: &'static str, content: &T) -> String {
    #[derive(Serialize)]
    struct Typed<'a, T> {
        r#type: &'static str,
        #[serde(flatten)]
        content: &'a T,
    }
    // Types of the wire are always JSON.
    serde_json::to_string(&Typed { r#type: kind, content }).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{files::Files, wire::JobKind};
    use sinew::session::Document;

    /// However much is waiting: cancelling a job is done and answered by whoever receives it.
    #[test]
    fn cancelling_a_job_waits_for_nothing() {
        let folder = std::env::temp_dir().join(format!("sinew-cancel-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = Files::new(&folder, &folder.join("home"), "run").unwrap();
        let studio = Arc::new(Studio::new("1".into(), Document::default(), None, files).unwrap());
        // Nobody takes what is asked.
        let (waiting, _received) = sync_channel(1);
        let mut page = Page::with(studio.clone(), 1, waiting);
        page.in_flight = vec![4, 5];
        assert!(page.receive(r#"{"type":"undo","id":1}"#).is_none());
        assert!(page.receive(r#"{"type":"undo","id":2}"#).unwrap().contains("too many requests"));
        let job = studio.jobs.start(JobKind::Fit.name(), "long");
        let cancel = format!(r#"{{"type":"cancel","id":3,"job":{}}}"#, job.id());
        assert_eq!(page.receive(&cancel).as_deref(), Some(r#"{"type":"reply","id":3,"ok":{}}"#));
        assert!(job.is_cancelled());
        assert!(page.receive(r#"{"type":"ack","frame":4}"#).is_none() && page.in_flight == [5]);
        for (text, cause) in [
            (r#"{"type":"fly","id":9}"#, "no request"),
            (r#"{"type":"undo","id":"#, "not understood"),
            (r#"{"id":9}"#, "missing field `type`"),
            (r#"{"type":"jump","id":9,"step":"x"}"#, "invalid type"),
            (r#"{"type":"drag","id":9,"drag":1}"#, "a drag needs"),
        ] {
            let refused = page.receive(text).unwrap();
            assert!(refused.contains(cause), "{text}: {refused}");
        }
        let large = format!(r#"{{"type":"undo","id":9,"x":"{}"}}"#, "x".repeat(crate::wire::MAX_BYTES));
        assert!(page.receive(&large).unwrap().contains("too large"));
        drop(page);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
