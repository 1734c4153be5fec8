//! One page: what it says, and what it is told.

use crate::{
    engine::FAULT,
    frames::Sent,
    requests::{self, Exists, NeedsPath},
    state::{state, welcome},
    studio::Studio,
    wire::Request,
};
use axum::extract::ws::{Message, WebSocket};
use serde_json::{Value, json};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
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
    let worker = {
        let studio = studio.clone();
        let replies = replies.clone();
        move || work(&studio, &waiting, &replies)
    };
    if std::thread::Builder::new().name("page".into()).spawn(worker).is_err() {
        return;
    }
    let mut shown = studio.shown.subscribe();
    let mut numbers = studio.state_number.subscribe();
    let mut words = studio.words.subscribe();
    let (mut sent, mut number, mut in_flight) = (Sent::default(), 0u32, Vec::new());
    let first = [welcome(&studio), state(&studio)];
    for message in first {
        if socket.send(Message::text(message.to_string())).await.is_err() {
            return;
        }
    }
    shown.mark_changed();
    loop {
        let may_send = in_flight.len() < MAX_IN_FLIGHT;
        let outgoing: Vec<Message> = tokio::select! {
            biased;
            said = socket.recv() => {
                let Some(Ok(message)) = said else { return };
                match message {
                    Message::Text(text) => match hear(&studio, &asked, text.as_str(), &mut in_flight) {
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
                Err(RecvError::Lagged(_)) => vec![Message::text(state(&studio).to_string())],
                Err(RecvError::Closed) => return,
            },
            Ok(()) = numbers.changed() => {
                numbers.mark_unchanged();
                vec![Message::text(state(&studio).to_string())]
            }
            Ok(()) = shown.changed(), if may_send => {
                let newest = shown.borrow_and_update().clone();
                let Some(newest) = newest else { continue };
                let messages = sent.update(&newest.drawn, &mut number);
                let first = number.wrapping_sub(messages.len() as u32 - 1);
                in_flight.extend((0..messages.len() as u32).map(|k| first.wrapping_add(k)));
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

/// Take a message. What is quick is done here, the rest is left to the page's own thread, which keeps its order and
/// waits for drags that came before.
fn hear(
    studio: &Arc<Studio>,
    asked: &std::sync::mpsc::SyncSender<(Option<Value>, Request)>,
    text: &str,
    in_flight: &mut Vec<u32>,
) -> Option<String> {
    let fail = |id: Option<&Value>, cause: &str| Some(answer_error(id, cause, None));
    let message: Value = match serde_json::from_str(text) {
        Ok(message) => message,
        Err(error) => return fail(None, &format!("not understood: {error}")),
    };
    let id = message.get("id").cloned();
    match serde_json::from_value::<Request>(message) {
        Ok(Request::Ack { frame }) => {
            in_flight.retain(|number| *number != frame);
            None
        }
        // Stopping something must not wait for it.
        Ok(Request::Cancel { job }) => {
            studio.jobs.cancel(job);
            id.map(|id| json!({ "type": "reply", "id": id, "ok": {} }).to_string())
        }
        Ok(Request::Drag { drag, r#move, end }) => {
            studio.leave_drag(drag, r#move, end);
            id.map(|id| json!({ "type": "reply", "id": id, "ok": {} }).to_string())
        }
        Ok(request) => match asked.try_send((id.clone(), request)) {
            Ok(()) => None,
            Err(_) => fail(id.as_ref(), "too much is asked at once; wait for answers"),
        },
        Err(error) => fail(id.as_ref(), &format!("not understood: {error}")),
    }
}

/// Do what was asked, one after the other, until the page goes.
fn work(
    studio: &Arc<Studio>,
    waiting: &std::sync::mpsc::Receiver<(Option<Value>, Request)>,
    replies: &mpsc::UnboundedSender<String>,
) {
    while let Ok((id, request)) = waiting.recv() {
        // Stopping a job must not wait for it, nor must anything else that comes after it.
        if is_long(&request) {
            let (shared, replies) = (studio.clone(), replies.clone());
            let run = move || answer(&replies, id, attempt(&shared, request));
            if std::thread::Builder::new().name("job".into()).spawn(run).is_err() {
                studio.notice("error", "the system gives no thread for this; close other programs");
            }
        } else {
            answer(replies, id, attempt(studio, request));
        }
    }
}

/// A fault of ours is an error like any other: the page and the document go on.
fn attempt(studio: &Arc<Studio>, request: Request) -> anyhow::Result<Value> {
    let done = catch_unwind(AssertUnwindSafe(|| requests::handle(studio, request)));
    done.unwrap_or_else(|_| Err(anyhow::anyhow!(FAULT)))
}

fn is_long(request: &Request) -> bool {
    if let Request::Do { command } = request {
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
