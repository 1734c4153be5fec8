//! Long work: how far it is, and whether it is still wanted.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

/// Work in progress. Clones are the same job.
#[derive(Debug, Clone)]
pub struct Job {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    id: u64,
    kind: &'static str,
    title: String,
    /// Share done in millionths; `u32::MAX` if it is not known.
    share: AtomicU32,
    cancelled: AtomicBool,
    note: Mutex<String>,
    check: fn(),
}

const UNKNOWN: u32 = u32::MAX;
const WHOLE: f64 = 1e6;

impl Job {
    /// Number by which it is cancelled.
    pub fn id(&self) -> u64 {
        self.inner.id
    }

    /// What kind of work it is, for programs.
    pub fn kind(&self) -> &'static str {
        self.inner.kind
    }

    /// What is being done, for people.
    pub fn title(&self) -> &str {
        &self.inner.title
    }

    /// Share done, 0..=1; `None` if that is not known.
    pub fn share(&self) -> Option<f64> {
        let share = self.inner.share.load(Ordering::Relaxed);
        (share != UNKNOWN).then(|| f64::from(share) / WHOLE)
    }

    /// What it has come to, for people; empty if it does not say.
    pub fn note(&self) -> String {
        self.inner.note.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Say what it has come to, such as the error of a fit.
    pub fn say(&self, note: String) {
        *self.inner.note.lock().unwrap_or_else(PoisonError::into_inner) = note;
    }

    /// Report the share done, and return whether to go on.
    pub fn update(&self, share: f64) -> ControlFlow<()> {
        (self.inner.check)();
        self.inner.share.store((share.clamp(0.0, 1.0) * WHOLE) as u32, Ordering::Relaxed);
        if self.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// Whether the user has stopped it.
    pub fn is_cancelled(&self) -> bool {
        self.inner.cancelled.load(Ordering::Relaxed)
    }

    /// Stop it at the next place where it asks.
    pub fn cancel(&self) {
        self.inner.cancelled.store(true, Ordering::Relaxed);
    }
}

/// The jobs under way.
#[derive(Debug)]
pub struct Jobs {
    next: AtomicU64,
    running: Mutex<Vec<Job>>,
    check: fn(),
}

impl Default for Jobs {
    fn default() -> Self {
        Self::with_check(|| {})
    }
}

impl Jobs {
    /// Jobs that call `check` whenever they report how far they are: a place to assert what must hold during long work.
    pub fn with_check(check: fn()) -> Self {
        Self { next: AtomicU64::new(0), running: Mutex::default(), check }
    }

    /// Enter a new job.
    pub fn start(&self, kind: &'static str, title: impl Into<String>) -> Job {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let (share, cancelled) = (AtomicU32::new(UNKNOWN), AtomicBool::new(false));
        let (note, check) = (Mutex::default(), self.check);
        let inner = Inner { id, kind, title: title.into(), share, cancelled, note, check };
        let job = Job { inner: Arc::new(inner) };
        self.lock().push(job.clone());
        job
    }

    /// Strike a job off the list.
    pub fn finish(&self, job: &Job) {
        self.lock().retain(|other| other.id() != job.id());
    }

    /// Those under way, the oldest first.
    pub fn list(&self) -> Vec<Job> {
        self.lock().clone()
    }

    /// Stop one; false if there is none of that number.
    pub fn cancel(&self, id: u64) -> bool {
        self.lock().iter().find(|job| job.id() == id).map(Job::cancel).is_some()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Job>> {
        // A list of jobs is consistent at every moment, even if a thread panicked.
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
