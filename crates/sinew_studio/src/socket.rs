//! One page: what it says, and what it is told.

use crate::{
    engine::FAULT,
    frames::Sent,
    requests::{self, Exists, NeedsPath},
    state::{Told, welcome},
    studio::{Studio, Wish},
    wire::Request,
};
use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};
use tokio::sync::{broadcast::error::RecvError, mpsc};

/// Binary messages that may be on their way to a page.
const MAX_IN_FLIGHT: usize = 2;
/// Requests a page may have waiting; one that sends more without hearing an answer is not ours.
const MAX_WAITING: usize = 1024;

/// Talk to a page until it goes.
pub async fn talk(mut socket: WebSocket, studio: Arc<Studio>) {
    let (replies, mut answered) = mpsc::unbounded_channel::<String>();
    let (asked, waiting) = std::sync::mpsc::sync_channel::<(Option<Value>, Request)>(MAX_WAITING);
    let number_of_page = NEXT_PAGE.fetch_add(1, Ordering::Relaxed);
    let worker = {
        let studio = studio.clone();
        let replies = replies.clone();
        move || work(&studio, number_of_page, &waiting, &replies)
    };
    if std::thread::Builder::new().name("page".into()).spawn(worker).is_err() {
        return;
    }
    let mut shown = studio.shown.subscribe();
    let mut news = studio.news.subscribe();
    let mut words = studio.words.subscribe();
    let (mut sent, mut told, mut number) = (Sent::default(), Told::default(), 0u32);
    let mut page =
        Page { studio: studio.clone(), number: number_of_page, asked, in_flight: Vec::new(), drag: None };
    let first = [welcome(&studio), told.news(&studio)];
    for message in first {
        if socket.send(Message::text(message.to_string())).await.is_err() {
            return;
        }
    }
    shown.mark_changed();
    loop {
        let may_send = page.in_flight.len() < MAX_IN_FLIGHT;
        let outgoing: Vec<Message> = tokio::select! {
            biased;
            said = socket.recv() => {
                let Some(Ok(message)) = said else { return };
                match message {
                    Message::Text(text) => match page.hear(text.as_str()) {
                        Some(answer) => vec![Message::text(answer)],
                        None => continue,
                    },
                    Message::Close(_) => return,
                    _ => continue,
                }
            }
            Some(answer) = answered.recv() => vec![Message::text(answer)],
            word = words.recv() => match word {
                Ok(word) => vec![Message::text(word.to_string())],
                // It was too slow to hear everything; the state tells what matters.
                Err(RecvError::Lagged(_)) => {
                    told = Told::default();
                    vec![Message::text(told.news(&studio).to_string())]
                }
                Err(RecvError::Closed) => return,
            },
            Ok(()) = news.changed() => {
                news.mark_unchanged();
                let message = told.news(&studio);
                // A part may have been told already, with what changed before it.
                if message.as_object().is_some_and(|message| message.len() == 1) {
                    continue;
                }
                vec![Message::text(message.to_string())]
            }
            Ok(()) = shown.changed(), if may_send => {
                let newest = shown.borrow_and_update().clone();
                let Some(newest) = newest else { continue };
                let messages = sent.update(&newest.drawn, &mut number);
                let first = number.wrapping_sub(messages.len() as u32 - 1);
                page.in_flight.extend((0..messages.len() as u32).map(|k| first.wrapping_add(k)));
                messages.into_iter().map(Message::binary).collect()
            }
        };
        for message in outgoing {
            if socket.send(message).await.is_err() {
                return;
            }
        }
    }
}

/// Numbers of pages, so that nobody waits for the hand of another.
static NEXT_PAGE: AtomicU64 = AtomicU64::new(1);

/// What is asked of a page's own thread.
type Asked = std::sync::mpsc::SyncSender<(Option<Value>, Request)>;

/// One page that is listened to.
struct Page {
    studio: Arc<Studio>,
    number: u64,
    asked: Asked,
    /// Binary messages on their way.
    in_flight: Vec<u32>,
    /// A gesture that has not ended.
    drag: Option<u32>,
}

impl Page {
    /// Take a message. What is quick is done here, the rest is left to the page's own thread, which keeps its order
    /// and waits for drags that came before.
    fn hear(&mut self, text: &str) -> Option<String> {
        let fail = |id: Option<&Value>, cause: &str| Some(answer_error(id, cause, None));
        let message: Value = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => return fail(None, &format!("not understood: {error}")),
        };
        let id = message.get("id").cloned();
        let done =
            |id: Option<Value>| id.map(|id| json!({ "type": "reply", "id": id, "ok": {} }).to_string());
        let request = match serde_json::from_value::<Request>(message) {
            Ok(request) => request,
            Err(error) => return fail(id.as_ref(), &format!("not understood: {error}")),
        };
        match request {
            Request::Ack { frame } => {
                self.in_flight.retain(|number| *number != frame);
                None
            }
            // Stopping something must not wait for it.
            Request::Cancel { job } => {
                self.studio.jobs.cancel(job);
                done(id)
            }
            Request::Drag { drag, r#move, end } => {
                self.drag = Some(drag).filter(|_| !end);
                self.studio.leave_drag(Wish { page: self.number, drag, step: Some(r#move), end });
                done(id)
            }
            request => {
                if matches!(request, Request::CancelDrag { .. }) {
                    self.drag = None;
                }
                match self.asked.try_send((id.clone(), request)) {
                    Ok(()) => None,
                    Err(_) => fail(id.as_ref(), "too much is asked at once; wait for answers"),
                }
            }
        }
    }
}

impl Drop for Page {
    /// A hand that is gone has let go.
    fn drop(&mut self) {
        if let Some(drag) = self.drag {
            self.studio.leave_drag(Wish { page: self.number, drag, step: None, end: true });
        }
    }
}

/// Do what was asked, one after the other, until the page goes.
fn work(
    studio: &Arc<Studio>,
    page: u64,
    waiting: &std::sync::mpsc::Receiver<(Option<Value>, Request)>,
    replies: &mpsc::UnboundedSender<String>,
) {
    while let Ok((id, request)) = waiting.recv() {
        // Stopping a job must not wait for it, nor must anything else that comes after it.
        if is_long(&request) {
            let (shared, replies) = (studio.clone(), replies.clone());
            let run = move || answer(&replies, id, attempt(&shared, page, request));
            if std::thread::Builder::new().name("job".into()).spawn(run).is_err() {
                studio.notice("error", "the system gives no thread for this; close other programs");
            }
        } else {
            answer(replies, id, attempt(studio, page, request));
        }
    }
}

/// A fault of ours is an error like any other: the page and the document go on.
fn attempt(studio: &Arc<Studio>, page: u64, request: Request) -> anyhow::Result<Value> {
    let done = catch_unwind(AssertUnwindSafe(|| requests::handle(studio, page, request)));
    done.unwrap_or_else(|_| Err(anyhow::anyhow!(FAULT)))
}

fn is_long(request: &Request) -> bool {
    if let Request::Do { command, .. } = request {
        return requests::is_heavy(command);
    }
    matches!(
        request,
        Request::AutoHandles { .. }
            | Request::Sample { .. }
            | Request::Open { .. }
            | Request::OpenUpload { .. }
            | Request::Save { .. }
            | Request::Export(_)
            | Request::Fit { .. }
            | Request::TakeFit
            | Request::RigPlace(_)
            | Request::Actor { .. }
            | Request::PuppetDemo { .. }
            | Request::ActorUpload { .. }
            | Request::Pair { .. }
            | Request::TakeEnd { .. }
            | Request::PerformAll { .. }
            | Request::Recover { .. }
    )
}

fn answer(replies: &mpsc::UnboundedSender<String>, id: Option<Value>, done: anyhow::Result<Value>) {
    let text = match (done, &id) {
        (Ok(value), Some(id)) => json!({ "type": "reply", "id": id, "ok": value }).to_string(),
        (Ok(_), None) => return,
        (Err(error), id) => {
            let flag = match () {
                () if error.is::<NeedsPath>() => Some("needs_path"),
                () if error.is::<Exists>() => Some("exists"),
                () => None,
            };
            answer_error(id.as_ref(), &format!("{error:#}"), flag)
        }
    };
    // A page that has gone needs no answer.
    let _ = replies.send(text);
}

fn answer_error(id: Option<&Value>, cause: &str, flag: Option<&str>) -> String {
    match id {
        Some(id) => {
            let mut reply = json!({ "type": "reply", "id": id, "error": cause });
            if let Some(flag) = flag {
                reply[flag] = json!(true);
            }
            reply.to_string()
        }
        None => json!({ "type": "notice", "level": "error", "text": cause }).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::Files;
    use sinew::session::Document;

    /// However much is waiting: stopping a job is done and answered by whoever hears it.
    #[test]
    fn stopping_a_job_waits_for_nothing() {
        let folder = std::env::temp_dir().join(format!("sinew-cancel-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let files = Files::new(&folder, &folder.join("home"), "run").unwrap();
        let studio = Arc::new(Studio::new("1".into(), Document::default(), None, files).unwrap());
        // Nobody takes what is asked.
        let (asked, _waiting) = std::sync::mpsc::sync_channel(1);
        let mut page = Page { studio: studio.clone(), number: 1, asked, in_flight: vec![4, 5], drag: None };
        assert!(page.hear(r#"{"type":"undo","id":1}"#).is_none());
        assert!(page.hear(r#"{"type":"undo","id":2}"#).unwrap().contains("too much is asked"));
        let job = studio.jobs.start("long");
        let cancel = format!(r#"{{"type":"cancel","id":3,"job":{}}}"#, job.id());
        assert_eq!(page.hear(&cancel).as_deref(), Some(r#"{"type":"reply","id":3,"ok":{}}"#));
        assert!(job.is_cancelled());
        assert!(page.hear(r#"{"type":"ack","frame":4}"#).is_none() && page.in_flight == [5]);
        drop(page);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
