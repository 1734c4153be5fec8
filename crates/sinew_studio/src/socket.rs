//! Pages over WebSockets.

use crate::{
    studio::Studio,
    wire::{Page, welcome},
};
use axum::extract::ws::{Message, WebSocket};
use std::sync::Arc;
use tokio::sync::{broadcast::error::RecvError, mpsc};

/// Talk to a page until it is gone.
pub async fn talk(mut socket: WebSocket, studio: Arc<Studio>) {
    let (send, mut answers) = mpsc::unbounded_channel::<String>();
    // A page that is gone needs no answer.
    let answer = move |text: String| drop(send.send(text));
    let Ok(mut page) = Page::open(studio.clone(), Arc::new(answer)) else { return };
    let mut shown = studio.watch_shown();
    let mut news = studio.watch_news();
    let mut words = studio.watch_words();
    let mut outgoing = vec![Message::text(welcome(&studio))];
    outgoing.extend(page.news().map(Message::text));
    shown.mark_changed();
    loop {
        for message in outgoing.drain(..) {
            if socket.send(message).await.is_err() {
                return;
            }
        }
        let may_send = page.may_send();
        tokio::select! {
            biased;
            received = socket.recv() => match received {
                Some(Ok(Message::Text(text))) => outgoing.extend(page.receive(text.as_str()).map(Message::text)),
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                Some(Ok(_)) => {}
            },
            Some(answer) = answers.recv() => {
                // What is new comes before the answer that depends on it.
                while let Ok(word) = words.try_recv() {
                    outgoing.push(Message::text(word.to_string()));
                }
                outgoing.extend(page.news().map(Message::text));
                outgoing.push(Message::text(answer));
            }
            word = words.recv() => match word {
                Ok(word) => outgoing.push(Message::text(word.to_string())),
                // It was too slow for all messages; the state has what matters.
                Err(RecvError::Lagged(_)) => {
                    page.forget_state();
                    outgoing.extend(page.news().map(Message::text));
                }
                Err(RecvError::Closed) => return,
            },
            Ok(()) = news.changed() => {
                news.mark_unchanged();
                // A part may have been sent already, with what changed before it.
                outgoing.extend(page.news().map(Message::text));
            }
            Ok(()) = shown.changed(), if may_send => {
                let newest = shown.borrow_and_update().clone();
                if let Some(newest) = newest {
                    outgoing.extend(page.frames(&newest).into_iter().map(Message::binary));
                }
            }
        }
    }
}
