//! What all pages on one server share.
//!
//! # Locks
//! In the order of [`Rank`]: saving, session, events, looks, the state of one capability, pending. A thread locks only what
//! comes later than everything it holds, which debug builds check. None is held over a solve, a search or a file, but for
//! saving, whose purpose that is: who works longer takes a copy (documents and reaches are cheap to copy) or takes the thing
//! out, works, and puts it back if it is still wanted. The engine alone solves shapes, so that no other thread misses what it took out.

mod appearance;
mod jobs;
mod looks;
mod pending;

pub use looks::{Looks, Shown};
#[cfg(test)]
pub(crate) use pending::MAX_DRAGS;
pub use pending::{Drag, Pending};

use crate::{
    capabilities::Capabilities,
    files::Files,
    locks::{self, Held as Locked, Rank, Ranked},
    news::Versions,
    painter::Painter,
    wire::{Part, registry},
};
use anyhow::Context;
use sinew::{
    geom::{Character, Warnings},
    session::{
        Command, Display, Document, EndedJournal, Event, Gesture, Jobs, MotionStack, Recovery, Session,
        SessionError,
    },
};
use std::{
    ops::{Deref, DerefMut},
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc::Receiver,
    },
};
use tokio::sync::{broadcast, watch};

/// Messages a page may lag behind before it is sent everything again.
const BACKLOG: usize = 256;
/// Warnings of a file that are shown.
const MAX_WARNINGS: usize = 50;

/// The shared part.
#[derive(Debug)]
pub struct Studio {
    /// A number no other run of the server has.
    pub session_id: String,
    session: Ranked<Session>,
    /// What happens to the session.
    events: Ranked<Receiver<Event>>,
    looks: Ranked<Looks>,
    /// What can be done, with the state of each.
    pub capabilities: Capabilities,
    /// The newest drags that the engine has not taken up yet.
    pending: Mutex<Pending>,
    /// Rung whenever the engine has something to look at, and when it has taken up a drag.
    bell: Condvar,
    /// Long work.
    pub jobs: Jobs,
    n_jobs: Arc<AtomicUsize>,
    /// Held while a project is written, so that two saves do not cross.
    pub saving: Ranked<()>,
    /// Steps of the motion stack, stored between exports.
    stack: Ranked<MotionStack>,
    shown: watch::Sender<Option<Arc<Shown>>>,
    /// Materials as they were last asked for.
    appearance: Ranked<appearance::Known>,
    news: watch::Sender<Versions>,
    words: broadcast::Sender<Arc<str>>,
    /// Finds vertices.
    pub painter: Painter,
    /// Where pages may read and write.
    pub files: Files,
    journals: PathBuf,
    recoveries: Ranked<Vec<Recovery>>,
    revision: AtomicU32,
    /// How many documents were opened.
    n_opened: AtomicU32,
    prepare_us: AtomicU64,
    n_gestures: AtomicU64,
    warnings: Ranked<Vec<String>>,
}

impl Studio {
    /// A studio with a document.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new(
        session_id: String,
        document: Document,
        path: Option<PathBuf>,
        files: Files,
    ) -> std::io::Result<Self> {
        let journals = files.journals();
        let recoveries = Recovery::find_all(&journals);
        let mut session = Session::new(document, path, Some(journals.clone()));
        let events = session.subscribe();
        Ok(Self {
            session_id,
            session: Ranked::new(Rank::Session, session),
            events: Ranked::new(Rank::Events, events),
            looks: Ranked::new(Rank::Looks, Looks::default()),
            capabilities: Capabilities::default(),
            pending: Mutex::new(Pending { tick: 1, ..Pending::default() }),
            bell: Condvar::new(),
            jobs: Jobs::with_check(locks::check_none_held),
            n_jobs: Arc::default(),
            saving: Ranked::new(Rank::Saving, ()),
            stack: Ranked::default(),
            shown: watch::Sender::new(None),
            appearance: Ranked::default(),
            news: watch::Sender::new(Versions::default()),
            words: broadcast::Sender::new(BACKLOG),
            painter: Painter::new()?,
            files,
            journals,
            recoveries: Ranked::new(Rank::State, recoveries),
            revision: AtomicU32::new(1),
            n_opened: AtomicU32::new(1),
            prepare_us: AtomicU64::new(0),
            n_gestures: AtomicU64::new(0),
            warnings: Ranked::default(),
        })
    }

    /// The session, for a moment: nothing long is done while it is held. What happened to it meanwhile is reported when
    /// it is released, all at once.
    pub fn session(&self) -> Held<'_> {
        Held { session: self.session.lock(), _report: ReportEvents(self) }
    }

    /// The document as it is now.
    pub fn document(&self) -> Document {
        self.session().document().clone()
    }

    /// How the document is shown.
    pub fn looks(&self) -> Looks {
        self.looks.lock().clone()
    }

    /// Show it otherwise.
    pub fn change_looks(&self, change: impl FnOnce(&mut Looks)) {
        let mut looks = self.looks.lock();
        let before = looks.clone();
        change(&mut looks);
        let is_same = before.is_like(&looks);
        drop(looks);
        if !is_same {
            self.capabilities.list().iter().for_each(|capability| capability.looks_changed(self));
        }
        self.ring();
    }

    /// The newest shape that is shown.
    ///
    /// # Errors
    /// If there is none yet.
    pub fn shown(&self) -> anyhow::Result<Arc<Shown>> {
        self.shown.borrow().clone().context("nothing is shown yet")
    }

    /// Show a shape to all pages.
    pub fn publish(&self, shown: Arc<Shown>) {
        self.shown.send_replace(Some(shown));
    }

    /// Receive new shapes.
    pub fn watch_shown(&self) -> watch::Receiver<Option<Arc<Shown>>> {
        self.shown.subscribe()
    }

    /// Receive changes of the state.
    pub fn watch_news(&self) -> watch::Receiver<Versions> {
        self.news.subscribe()
    }

    /// Messages to all pages: notices and the progress of jobs.
    pub fn watch_words(&self) -> broadcast::Receiver<Arc<str>> {
        self.words.subscribe()
    }

    /// Versions of the parts of the state.
    pub fn versions(&self) -> Versions {
        self.news.borrow().clone()
    }

    fn receive(&self, events: &[Event]) {
        // The engine itself makes the moves in progress, and pages see them.
        if events.iter().all(|event| *event == Event::Moving) {
            return;
        }
        let n_opened = events.iter().filter(|event| **event == Event::Opened).count();
        self.n_opened.fetch_add(n_opened as u32, Ordering::Relaxed);
        self.news.send_modify(|versions| events.iter().for_each(|event| versions.record(event)));
        self.ring();
    }

    /// Send a part of the state that changed outside the session to every page.
    pub fn raise<P: Part>(&self) {
        if let Some(part) = registry().index::<P>() {
            self.news.send_modify(|versions| versions.raise(part));
        }
    }

    /// Which document it is, counted from the start of the server.
    pub fn n_opened(&self) -> u32 {
        self.n_opened.load(Ordering::Relaxed)
    }

    /// Which geometry is the present one.
    pub fn revision(&self) -> u32 {
        self.revision.load(Ordering::Relaxed)
    }

    /// The geometry is another now.
    pub fn next_revision(&self) -> u32 {
        self.revision.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// A gesture of no pointer: several commands that are one step.
    pub fn next_gesture(&self) -> Gesture {
        Gesture((2 << 62) + self.n_gestures.fetch_add(1, Ordering::Relaxed))
    }

    /// Time the last preparation took, in milliseconds.
    pub fn prepare_ms(&self) -> f64 {
        self.prepare_us.load(Ordering::Relaxed) as f64 / 1e3
    }

    /// Remember how long a preparation took.
    pub fn note_prepared(&self, time: std::time::Duration) {
        self.prepare_us.store(time.as_micros() as u64, Ordering::Relaxed);
    }

    /// Warnings about the document, and what keeps unsaved work from being safe.
    pub fn warnings(&self) -> Vec<String> {
        let fault = self.session().journal_fault();
        fault.into_iter().chain(self.warnings.lock().iter().cloned()).collect()
    }

    /// Do something that was worked out on a surface, unless another document was opened meanwhile.
    ///
    /// # Errors
    /// As the command.
    pub fn apply_on(
        &self,
        body: &Arc<Character>,
        command: &Command,
        gesture: Option<Gesture>,
    ) -> Result<(), SessionError> {
        let mut session = self.session();
        if !Arc::ptr_eq(&session.document().body, body) {
            return Err(SessionError::Cancelled);
        }
        session.apply(command, gesture)?;
        Ok(())
    }

    /// The steps of the motion stack, as a copy whose steps are shared, and which document they are of.
    pub fn stack(&self) -> (u32, MotionStack) {
        (self.n_opened(), self.stack.lock().clone())
    }

    /// Store what steps of the stack gave, unless another document was opened meanwhile; then false.
    pub fn store_stack(&self, n_opened: u32, stack: MotionStack) -> bool {
        let mut shared = self.stack.lock();
        let is_same = self.n_opened() == n_opened;
        if is_same {
            *shared = stack;
        }
        is_same
    }

    /// Work on another document.
    pub fn open(&self, document: Document, path: Option<PathBuf>, warnings: Warnings) {
        self.exchange(|session| session.open(document, path));
        self.exchanged(warnings);
    }

    /// Exchange the whole document. The pose is shown before any page sees it: a clip of the one before is not of it, and
    /// the engine would report an error.
    pub fn exchange(&self, change: impl FnOnce(&mut Session) -> EndedJournal) {
        let mut session = self.session();
        let ended = change(&mut session);
        self.looks.lock().display = Display::Posed;
        drop(session);
        // Waits for the disk, which other pages do not have to.
        locks::check_none_held();
        drop(ended);
    }

    /// After the whole document was exchanged.
    pub fn exchanged(&self, warnings: Warnings) {
        let mut messages = warnings.messages;
        messages.truncate(MAX_WARNINGS);
        *self.warnings.lock() = messages;
        *self.stack.lock() = MotionStack::default();
        self.change_looks(|looks| looks.display = Display::Posed);
        self.refresh_recoveries();
        for capability in self.capabilities.list() {
            capability.reset(self);
            capability.looks_changed(self);
        }
        self.ring();
    }

    /// Unsaved work that can be recovered.
    pub fn recoveries(&self) -> Locked<'_, Vec<Recovery>> {
        self.recoveries.lock()
    }

    /// Look for unsaved work again, without what is known already.
    pub fn refresh_recoveries(&self) {
        let found = Recovery::find_all(&self.journals);
        let mut known = self.recoveries();
        known.extend(found);
        known.sort_by_key(|recovery| std::cmp::Reverse(recovery.changed));
    }
}

/// The session while it is locked.
#[derive(Debug)]
pub struct Held<'a> {
    // Dropped before the session is unlocked, so that the next holder sees versions that fit it.
    _report: ReportEvents<'a>,
    session: Locked<'a, Session>,
}

impl Deref for Held<'_> {
    type Target = Session;

    fn deref(&self) -> &Session {
        &self.session
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Session {
        &mut self.session
    }
}

/// Reports to pages and the engine what happened to the session.
#[derive(Debug)]
struct ReportEvents<'a>(&'a Studio);

impl Drop for ReportEvents<'_> {
    fn drop(&mut self) {
        let events: Vec<Event> = self.0.events.lock().try_iter().collect();
        self.0.receive(&events);
    }
}
