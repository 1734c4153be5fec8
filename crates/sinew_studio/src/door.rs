//! Connections: how many there may be, and how long each may take to say what it wants.
//!
//! Whoever has not shown the token waits in a short line. When the line is full, the one who has waited longest is put out: so
//! a browser that asks at once always gets in, however many connections stand there and say nothing.

use crate::locks::Ranked;
use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// Connections that have not shown the token yet.
const MAX_STRANGERS: usize = 128;
/// Connections that have; browsers open six or so per page.
const MAX_GUESTS: usize = 512;
/// Time to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;
/// Pause when the system gives no more connections.
const RETRY: Duration = Duration::from_millis(50);

/// Who is connected.
#[derive(Debug, Default)]
pub struct Door {
    next: AtomicU64,
    people: Ranked<People>,
}

#[derive(Debug, Default)]
struct People {
    /// In the order in which they came.
    strangers: VecDeque<(u64, Option<AbortHandle>)>,
    guests: Vec<u64>,
}

/// The number of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Connection(u64);

impl Door {
    /// Serve connections until the program ends.
    pub async fn open(self: Arc<Self>, listener: TcpListener, app: Router) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => self.admit(stream, app.clone()),
                // Such as too many open files; some are about to be closed.
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    fn admit(self: &Arc<Self>, stream: TcpStream, app: Router) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Frames are small and wanted at once; without it they only come later.
        let _ = stream.set_nodelay(true);
        let oldest = {
            let mut people = self.people.lock();
            people.strangers.push_back((number, None));
            (people.strangers.len() > MAX_STRANGERS).then(|| people.strangers.pop_front()).flatten()
        };
        if let Some((_, Some(oldest))) = oldest {
            oldest.abort();
        }
        let door = self.clone();
        let task = tokio::spawn(async move {
            let _leave = Leave(door, number);
            let service = TowerToHyperService::new(app.layer(Extension(Connection(number))));
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(MAX_HEAD);
            // What is wrong with a connection is its own business.
            let _ = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        });
        let mut people = self.people.lock();
        if let Some((_, handle)) = people.strangers.iter_mut().find(|(other, _)| *other == number) {
            *handle = Some(task.abort_handle());
        }
    }

    /// A connection has shown the token; false if there are too many.
    pub fn recognise(&self, Connection(number): Connection) -> bool {
        let mut people = self.people.lock();
        if people.guests.contains(&number) {
            return true;
        }
        if people.guests.len() >= MAX_GUESTS {
            return false;
        }
        people.strangers.retain(|(other, _)| *other != number);
        people.guests.push(number);
        true
    }

    fn leave(&self, number: u64) {
        let mut people = self.people.lock();
        people.strangers.retain(|(other, _)| *other != number);
        people.guests.retain(|other| *other != number);
    }
}

/// Says that a connection is gone, however it ends.
struct Leave(Arc<Door>, u64);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}
