//! Connections: how many there may be, and how long each may take to send a request.
//!
//! Connections that have not shown the token are held in a short queue. When it is full, the oldest is closed: a browser that
//! sends its request at once always gets in, however many idle connections there are.

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
const MAX_UNRECOGNISED: usize = 128;
/// Connections that have; browsers open six or so per page.
const MAX_RECOGNISED: usize = 512;
/// Time to send the head of a request.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// Bytes of the head of a request.
const MAX_HEAD: usize = 64 << 10;
/// Pause when the system has no more file descriptors.
const RETRY: Duration = Duration::from_millis(50);
/// Pause after each connection while the queue is full, so that a flood of them takes little time from the pages.
const CROWDED_PAUSE: Duration = Duration::from_millis(1);

/// The connections of the server.
#[derive(Debug, Default)]
pub struct Door {
    next: AtomicU64,
    connections: Ranked<Connections>,
}

#[derive(Debug, Default)]
struct Connections {
    /// The oldest first.
    unrecognised: VecDeque<(u64, Option<AbortHandle>)>,
    recognised: Vec<u64>,
}

/// The number of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Connection(u64);

impl Door {
    /// Serve connections until the program ends.
    pub async fn open(self: Arc<Self>, listener: TcpListener, app: Router) {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    if self.admit(stream, app.clone()) {
                        tokio::time::sleep(CROWDED_PAUSE).await;
                    }
                }
                // Such as too many open files; some are about to be closed.
                Err(_) => tokio::time::sleep(RETRY).await,
            }
        }
    }

    /// Serve a connection; returns whether another one had to go for it.
    fn admit(self: &Arc<Self>, stream: TcpStream, app: Router) -> bool {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        // Frames are small and needed at once; if this fails they are only slower.
        let _ = stream.set_nodelay(true);
        let oldest = {
            let mut connections = self.connections.lock();
            connections.unrecognised.push_back((number, None));
            (connections.unrecognised.len() > MAX_UNRECOGNISED)
                .then(|| connections.unrecognised.pop_front())
                .flatten()
        };
        let is_crowded = oldest.is_some();
        if let Some((_, Some(oldest))) = oldest {
            oldest.abort();
        }
        let door = self.clone();
        let task = tokio::spawn(async move {
            let _leave = Leave(door, number);
            let service = TowerToHyperService::new(app.layer(Extension(Connection(number))));
            let mut builder = http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIME).max_buf_size(MAX_HEAD);
            // Errors of one connection do not affect others.
            let _ = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await;
        });
        let mut connections = self.connections.lock();
        if let Some((_, handle)) = connections.unrecognised.iter_mut().find(|(other, _)| *other == number) {
            *handle = Some(task.abort_handle());
        }
        is_crowded
    }

    /// A connection has shown the token; false if there are too many.
    pub fn recognise(&self, Connection(number): Connection) -> bool {
        let mut connections = self.connections.lock();
        if connections.recognised.contains(&number) {
            return true;
        }
        if connections.recognised.len() >= MAX_RECOGNISED {
            return false;
        }
        connections.unrecognised.retain(|(other, _)| *other != number);
        connections.recognised.push(number);
        true
    }

    fn leave(&self, number: u64) {
        let mut connections = self.connections.lock();
        connections.unrecognised.retain(|(other, _)| *other != number);
        connections.recognised.retain(|other| *other != number);
    }
}

/// Removes a connection from the list, however it ends.
struct Leave(Arc<Door>, u64);

impl Drop for Leave {
    fn drop(&mut self) {
        self.0.leave(self.1);
    }
}
