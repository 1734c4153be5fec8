//! What all pages on one server share.

use crate::{
    files::Files,
    flesh::FleshStage,
    frames::Drawn,
    news::{Topic, Versions},
    painter::Painter,
    puppet::Theatre,
};
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    geom::{Character, Mesh, Warnings},
    session::{
        Command, Display, Document, Event, Fitted, Gesture, Job, Jobs, MotionStack, Reach, Recovery, Ruled,
        Session, SessionError,
    },
};
use std::{
    collections::VecDeque,
    ops::{Deref, DerefMut},
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
        mpsc::Receiver,
    },
};
use tokio::sync::{broadcast, watch};

/// Messages a page may lag behind before it is told to ask for everything anew.
const BACKLOG: usize = 256;
/// Gestures that may wait for the engine; more come only from a page that is not ours.
const MAX_DRAGS: usize = 64;
/// Warnings of a file that are shown.
const MAX_WARNINGS: usize = 50;

/// The shared part.
#[derive(Debug)]
pub struct Studio {
    /// A number no other run of the server has.
    pub session_id: String,
    session: Mutex<Session>,
    /// What happens to the session.
    events: Mutex<Receiver<Event>>,
    view: Mutex<Looks>,
    /// A pose that is being reached for: shown, but not done.
    reach: Mutex<Option<Reach>>,
    /// What the rules of the document come to, if somebody has looked.
    ruled: Mutex<Option<Arc<Ruled>>>,
    /// An actor, and the character that follows.
    pub theatre: Mutex<Theatre>,
    /// Flesh that is simulated.
    pub flesh: FleshStage,
    /// The newest wish of a hand that the engine has not taken up yet.
    pending: Mutex<Pending>,
    /// Rung whenever the engine has something to look at, and when it has taken up a drag.
    bell: Condvar,
    /// Long work.
    pub jobs: Jobs,
    /// Held while a project is written and noted as such, so that two saves do not cross.
    pub saving: Mutex<()>,
    /// Steps of the motion stack, kept between exports.
    pub stack: Mutex<MotionStack>,
    /// The newest fit and how many there have been.
    pub fit: Mutex<(u32, Option<Arc<Fitted>>)>,
    /// The newest shape.
    pub shown: watch::Sender<Option<Arc<Shown>>>,
    /// Versions of the parts of the state that pages show.
    pub news: watch::Sender<Versions>,
    /// Words for every page.
    pub words: broadcast::Sender<Arc<str>>,
    /// Finds vertices.
    pub painter: Painter,
    /// Where pages may read and write.
    pub files: Files,
    journals: PathBuf,
    recoveries: Mutex<Vec<Recovery>>,
    revision: AtomicU32,
    /// How many documents were opened.
    n_opened: AtomicU32,
    prepare_us: AtomicU64,
    n_gestures: AtomicU64,
    warnings: Mutex<Vec<String>>,
}

/// How the document is shown.
#[derive(Debug, Clone, Default)]
pub struct Looks {
    /// Which shape.
    pub display: Display,
    /// Whether stretch is sent with each frame.
    pub stress: bool,
    /// Whether poses are polished while nothing else is to do.
    pub refine: bool,
    /// Whether the fit is sent with each frame, to be seen beside the document.
    pub compare: bool,
    /// Whether the cells of flesh are sent with each frame.
    pub cells: bool,
}

/// What the engine has to do.
#[derive(Debug, Default)]
pub struct Pending {
    /// Moves in progress, one for each gesture.
    pub drags: VecDeque<Wish>,
    /// The page whose drag the engine is at work on.
    pub dragging: Option<u64>,
    /// Rises with every change.
    pub tick: u64,
    /// Whether the server ends.
    pub stop: bool,
}

/// A move in progress.
#[derive(Debug, PartialEq)]
pub struct Wish {
    /// The page whose hand it is.
    pub page: u64,
    /// Number of the gesture.
    pub drag: u32,
    /// The move, in the words of moves.json; none if the gesture only ends.
    pub step: Option<Value>,
    /// Whether it is the last.
    pub end: bool,
}

/// A shape that was shown.
#[derive(Debug)]
pub struct Shown {
    /// What is drawn.
    pub drawn: Arc<Drawn>,
    /// The document it is of.
    pub document: Document,
    // Search structures are kept for as long as this is the same.
    mesh: OnceLock<Arc<Mesh>>,
}

impl Shown {
    /// A shape of a document. If it is where the one before was, so is its surface.
    pub fn new(drawn: Drawn, document: Document, before: Option<&Self>) -> Self {
        let is_same = |before: &&Self| {
            before.drawn.revision == drawn.revision && before.drawn.frame.positions == drawn.frame.positions
        };
        let mesh = before.filter(is_same).map(|before| before.mesh.clone()).unwrap_or_default();
        Self { drawn: Arc::new(drawn), document, mesh }
    }

    /// The surface as it is seen, for selecting on it.
    pub fn mesh(&self) -> Arc<Mesh> {
        let build = || {
            let positions: Vec<DVec3> = self.drawn.frame.positions.iter().map(|p| p.as_dvec3()).collect();
            // Frames are finite and of the mesh's size.
            Arc::new(
                self.document
                    .mesh()
                    .with_positions(positions)
                    .unwrap_or_else(|_| self.document.mesh().clone()),
            )
        };
        self.mesh.get_or_init(build).clone()
    }
}

impl Studio {
    /// A studio with a document.
    ///
    /// # Errors
    /// If the system gives no thread.
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
            session: Mutex::new(session),
            events: Mutex::new(events),
            view: Mutex::default(),
            reach: Mutex::default(),
            ruled: Mutex::default(),
            theatre: Mutex::default(),
            flesh: FleshStage::default(),
            pending: Mutex::new(Pending { tick: 1, ..Pending::default() }),
            bell: Condvar::new(),
            jobs: Jobs::default(),
            saving: Mutex::default(),
            stack: Mutex::default(),
            fit: Mutex::default(),
            shown: watch::Sender::new(None),
            news: watch::Sender::new(Versions::default()),
            words: broadcast::Sender::new(BACKLOG),
            painter: Painter::new()?,
            files,
            journals,
            recoveries: Mutex::new(recoveries),
            revision: AtomicU32::new(1),
            n_opened: AtomicU32::new(1),
            prepare_us: AtomicU64::new(0),
            n_gestures: AtomicU64::new(0),
            warnings: Mutex::default(),
        })
    }

    /// The session, for a moment: nothing long is done while it is held. What happened to it meanwhile is told when
    /// it is let go, all at once.
    pub fn session(&self) -> Held<'_> {
        Held { session: lock(&self.session), _tell: TellEvents(self) }
    }

    /// How the document is shown.
    pub fn looks(&self) -> Looks {
        lock(&self.view).clone()
    }

    /// Show it otherwise.
    pub fn change_looks(&self, change: impl FnOnce(&mut Looks)) {
        change(&mut lock(&self.view));
        self.raise(Topic::Looks);
        self.ring();
    }

    /// Show another shape. While a clip plays, only its vertices change.
    pub fn show(&self, display: Display) {
        let before = std::mem::replace(&mut lock(&self.view).display, display.clone());
        let is_same = match (&before, &display) {
            (Display::Clip { clip: old, .. }, Display::Clip { clip: new, .. }) => old == new,
            (old, new) => old == new,
        };
        if !is_same {
            self.raise(Topic::Looks);
            // Rigs are told as they are in what is shown.
            self.raise(Topic::Flesh);
        }
        self.ring();
    }

    /// The search in progress, for a moment. Who changes it lets pages hear of it.
    pub fn reach(&self) -> MutexGuard<'_, Option<Reach>> {
        lock(&self.reach)
    }

    /// What the rules come to; null until they are looked at.
    pub fn ruled(&self) -> Option<Arc<Ruled>> {
        lock(&self.ruled).clone()
    }

    /// Let pages see what the rules come to, if it is new.
    pub fn set_ruled(&self, ruled: Option<Arc<Ruled>>) {
        let mut shared = lock(&self.ruled);
        if shared.as_ref().map(Arc::as_ptr) != ruled.as_ref().map(Arc::as_ptr) {
            *shared = ruled;
            drop(shared);
            self.raise(Topic::Ruled);
        }
    }

    /// The engine's list, for a moment.
    pub fn pending(&self) -> MutexGuard<'_, Pending> {
        lock(&self.pending)
    }

    /// Wait for the bell, giving up the list meanwhile.
    pub fn wait<'a>(&self, pending: MutexGuard<'a, Pending>) -> MutexGuard<'a, Pending> {
        self.bell.wait(pending).unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing new comes for a while.
    pub fn is_idle(&self, seen: u64, time: std::time::Duration) -> bool {
        let pending = self.pending();
        let is_same = |pending: &mut Pending| pending.tick == seen && !pending.stop;
        let (pending, waited) =
            self.bell.wait_timeout_while(pending, time, is_same).unwrap_or_else(PoisonError::into_inner);
        waited.timed_out() && pending.tick == seen
    }

    /// Let the engine look.
    pub fn ring(&self) {
        self.pending().tick += 1;
        self.bell.notify_all();
    }

    /// Leave a move in progress for the engine; an older one of the same gesture that it has not taken up is
    /// forgotten. The end of a gesture is not forgotten for the beginning of another.
    pub fn leave_drag(&self, wish: Wish) {
        let mut pending = self.pending();
        let has_room = pending.drags.len() < MAX_DRAGS;
        match pending.drags.iter_mut().find(|other| (other.page, other.drag) == (wish.page, wish.drag)) {
            Some(other) => {
                let step = wish.step.or_else(|| other.step.take());
                *other = Wish { step, ..wish };
            }
            None if has_room => pending.drags.push_back(wish),
            None => {}
        }
        pending.tick += 1;
        self.bell.notify_all();
    }

    /// Wait until no move of a page is on its way, so that what it asks for next is done after it. Moves of others
    /// are none of its business.
    pub fn settle(&self, page: u64) {
        let mut pending = self.pending();
        while (pending.drags.iter().any(|wish| wish.page == page) || pending.dragging == Some(page))
            && !pending.stop
        {
            pending = self.wait(pending);
        }
    }

    /// The engine is done with a drag.
    pub fn drag_done(&self) {
        self.pending().dragging = None;
        self.bell.notify_all();
    }

    fn hear(&self, events: &[Event]) {
        // The engine itself makes the moves in progress, and pages see them.
        if events.iter().all(|event| *event == Event::Moving) {
            return;
        }
        let n_opened = events.iter().filter(|event| **event == Event::Opened).count();
        self.n_opened.fetch_add(n_opened as u32, Ordering::Relaxed);
        self.news.send_modify(|versions| events.iter().for_each(|event| versions.hear(event)));
        self.ring();
    }

    /// Let every page hear of a part of the state that is not the session's.
    pub fn raise(&self, topic: Topic) {
        self.news.send_modify(|versions| versions.raise(topic));
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

    /// A gesture of nobody's hand: several commands that are one step.
    pub fn next_gesture(&self) -> Gesture {
        Gesture((2 << 32) + self.n_gestures.fetch_add(1, Ordering::Relaxed))
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
        fault.into_iter().chain(lock(&self.warnings).iter().cloned()).collect()
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

    /// The newest fit.
    pub fn newest_fit(&self) -> Option<Arc<Fitted>> {
        lock(&self.fit).1.clone()
    }

    /// Keep what steps of the stack gave, unless another document was opened meanwhile; then false.
    pub fn keep_stack(&self, n_opened: u32, stack: MotionStack) -> bool {
        let mut shared = lock(&self.stack);
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

    /// Exchange the whole document. The pose is shown before anybody sees it: a clip of the one before is not of it, and
    /// the engine would report an error.
    pub fn exchange(&self, change: impl FnOnce(&mut Session)) {
        let mut session = self.session();
        change(&mut session);
        lock(&self.view).display = Display::Posed;
    }

    /// After the whole document was exchanged.
    pub fn exchanged(&self, warnings: Warnings) {
        let mut messages = warnings.messages;
        messages.truncate(MAX_WARNINGS);
        *lock(&self.warnings) = messages;
        *lock(&self.stack) = MotionStack::default();
        *self.reach() = None;
        self.raise(Topic::Reach);
        self.flesh.end();
        self.raise(Topic::Fleshed);
        self.theatre().live = None;
        self.raise(Topic::Act);
        lock(&self.fit).1 = None;
        *lock(&self.view) = Looks { display: Display::Posed, compare: false, ..self.looks() };
        self.raise(Topic::Fit);
        self.refresh_recoveries();
        self.raise(Topic::Work);
        self.raise(Topic::Looks);
        self.ring();
    }

    /// Unsaved work that can be taken up.
    pub fn recoveries(&self) -> MutexGuard<'_, Vec<Recovery>> {
        lock(&self.recoveries)
    }

    /// Look for unsaved work again, without what is known already.
    pub fn refresh_recoveries(&self) {
        let mut known = self.recoveries();
        known.extend(Recovery::find_all(&self.journals));
        known.sort_by_key(|recovery| std::cmp::Reverse(recovery.changed));
    }

    /// Say something to every page.
    pub fn tell(&self, message: &Value) {
        // Without a page nobody hears it, which is well.
        let _ = self.words.send(message.to_string().into());
    }

    /// Show every page a notice.
    pub fn notice(&self, level: &str, text: &str) {
        self.tell(&json!({ "type": "notice", "level": level, "text": text }));
    }

    /// Tell how far a job is.
    pub fn tell_job(&self, job: &Job, done: bool, error: Option<&SessionError>) {
        let is_stop = matches!(error, Some(SessionError::Cancelled));
        self.tell(&json!({
            "type": "job", "job": job.id(), "title": job.title(), "share": job.share(),
            "note": job.note(), "done": done,
            "error": error.filter(|_| !is_stop).map(ToString::to_string),
        }));
    }
}

/// The session as long as somebody holds it.
#[derive(Debug)]
pub struct Held<'a> {
    // Before the session: who has it next sees versions that fit it.
    _tell: TellEvents<'a>,
    session: MutexGuard<'a, Session>,
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

/// Tells pages and the engine what happened to the session.
#[derive(Debug)]
struct TellEvents<'a>(&'a Studio);

impl Drop for TellEvents<'_> {
    fn drop(&mut self) {
        let events: Vec<Event> = lock(&self.0.events).try_iter().collect();
        self.0.hear(&events);
    }
}

/// A gesture of a drag.
pub fn drag_gesture(drag: u32) -> Gesture {
    Gesture(u64::from(drag))
}

/// A gesture of a brush stroke; its numbers are others than those of drags.
pub fn stroke_gesture(stroke: u32) -> Gesture {
    Gesture((1 << 32) + u64::from(stroke))
}

/// What is locked here is whole at every moment, whoever panicked.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
