//! A document that is being worked on: its history, its file, its journal, and its listeners.

use crate::{
    Changes, Command, Document, Gesture, History, Recovered, SessionError,
    drags::Drags,
    history::Applied,
    journal::{EndedJournal, Flushing, Journal},
    record::Entry,
    write_project,
};
use sinew_formats::write_atomic;
use sinew_geom::{Move, Warnings};
use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Instant,
};

/// Something that happened to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// Another document is there.
    Opened,
    /// Parts of the document are others now.
    Changed(Changes),
    /// The pose changed, and will go on changing until the gesture ends: a move in progress.
    Moving,
    /// The list of steps, or which is the present one, changed.
    History,
    /// The document was written to its file.
    Saved(PathBuf),
}

/// A document that is being worked on.
#[derive(Debug)]
pub struct Session {
    history: History,
    path: Option<PathBuf>,
    /// The step as saved; `None` if it can no longer be reached.
    saved_at: Option<usize>,
    drags: Option<Drags>,
    journals: Option<PathBuf>,
    journal: Option<Journal>,
    listeners: Vec<Sender<Event>>,
    started: Instant,
}

impl Session {
    /// Work on a document. Unsaved work is kept in folders below `journals`; with `None` it is not.
    pub fn new(document: Document, path: Option<PathBuf>, journals: Option<PathBuf>) -> Self {
        let mut session = Self {
            history: History::new(document),
            path,
            saved_at: Some(0),
            drags: None,
            journals,
            journal: None,
            listeners: Vec::new(),
            started: Instant::now(),
        };
        session.begin_journal();
        session
    }

    /// The present state.
    pub fn document(&self) -> &Document {
        self.history.document()
    }

    /// All states.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The project file, if it has been saved.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether there is something to save.
    pub fn is_dirty(&self) -> bool {
        self.saved_at != Some(self.history.at())
    }

    /// Receive all events from now on.
    pub fn subscribe(&mut self) -> Receiver<Event> {
        let (sender, receiver) = channel();
        self.listeners.push(sender);
        receiver
    }

    /// Work on another document. Unsaved work on this one stays recoverable, once the journal that is returned was let go of.
    pub fn open(&mut self, document: Document, path: Option<PathBuf>) -> EndedJournal {
        self.exchange(History::new(document), path, Some(0))
    }

    /// Continue with work that was recovered; as [`Session::open`].
    pub fn take_up(&mut self, recovered: Recovered) -> EndedJournal {
        let Recovered { history, path, .. } = recovered;
        let ended = self.exchange(history, path, None);
        // So that it can be recovered again, should this end badly, too.
        if let Some(journal) = &self.journal {
            journal.push(Entry::Jump(0), self.history.document());
        }
        ended
    }

    fn exchange(&mut self, history: History, path: Option<PathBuf>, saved_at: Option<usize>) -> EndedJournal {
        let ended = self.end_journal(true);
        (self.history, self.path, self.saved_at, self.drags) = (history, path, saved_at, None);
        self.begin_journal();
        self.emit(Event::Opened);
        ended
    }

    /// Do something. Everything done in one gesture is one step of history.
    ///
    /// # Errors
    /// As the command; nothing is changed then.
    pub fn apply(&mut self, command: &Command, gesture: Option<Gesture>) -> Result<Changes, SessionError> {
        let after = command.apply(self.document())?;
        let (changes, is_new) = self.put(command, after, gesture);
        self.tell_changes(changes, is_new);
        Ok(changes)
    }

    /// Enter what a long command gave that was applied beside the work; `None` if the document has changed since.
    pub fn commit(&mut self, command: &Command, before: &Document, mut after: Document) -> Option<Changes> {
        command.note_clip_source(&mut after);
        let is_same = self.document().changes_since(before).is_empty();
        is_same.then(|| {
            let (changes, is_new) = self.put(command, after, None);
            self.tell_changes(changes, is_new);
            changes
        })
    }

    fn tell_changes(&mut self, changes: Changes, is_new_step: bool) {
        // First the step: who sees the change should know what it is called.
        if is_new_step {
            self.emit(Event::History);
        }
        self.emit(Event::Changed(changes));
    }

    /// Enter a state into the history and the journal; returns what it changed and whether it is a new step.
    fn put(&mut self, command: &Command, after: Document, gesture: Option<Gesture>) -> (Changes, bool) {
        let before = self.document().clone();
        let at_before = self.history.at();
        let Applied { at, merged, n_forgotten } =
            self.history.put(command, after, gesture, self.started.elapsed());
        // A step that took the place of the saved one, or was done after going back behind it.
        if self.saved_at.is_some_and(|saved| saved > at_before || (merged && saved == at + n_forgotten)) {
            self.saved_at = None;
        }
        self.saved_at = self.saved_at.and_then(|saved| saved.checked_sub(n_forgotten));
        self.record(Entry::Done { merged, command: command.clone() });
        (self.document().changes_since(&before), !merged)
    }

    /// Show a move in progress: the moves before the gesture, then this one. The last of a gesture stays. Gestures
    /// that are made at the same time do not disturb each other and are one step of history together.
    ///
    /// # Errors
    /// If the move does not fit the handles; what was shown before stays.
    pub fn drag(&mut self, gesture: Gesture, step: Move) -> Result<(), SessionError> {
        let mut drags = match self.live_drags() {
            Some(drags) => drags.clone(),
            None => Drags::new(gesture, self.document().pose.to_vec()),
        };
        drags.set(gesture, step);
        let (command, key) = (Command::SetPose { moves: drags.moves() }, drags.key);
        let after = command.apply(self.document())?;
        drags.shown = after.pose.clone();
        self.drags = Some(drags);
        self.put(&command, after, Some(key));
        self.emit(Event::Moving);
        Ok(())
    }

    /// Gestures in progress: nothing else has changed the pose of the handles since they began.
    fn live_drags(&self) -> Option<&Drags> {
        self.drags.as_ref().filter(|drags| Arc::ptr_eq(&drags.shown, &self.document().pose))
    }

    /// A gesture is over; what it did stays.
    pub fn end_drag(&mut self, gesture: Gesture) {
        if let Some(drags) = &mut self.drags {
            drags.end(gesture);
            if drags.is_over() {
                self.drags = None;
            }
        }
        self.tell_changes(Changes { pose: true, ..Changes::default() }, true);
    }

    /// The moves before a gesture, or the present ones if it has not begun.
    pub fn moves_before(&self, gesture: Gesture) -> Vec<Move> {
        match self.live_drags() {
            Some(drags) => drags.moves_before(gesture),
            None => self.document().pose.to_vec(),
        }
    }

    /// Take back a move in progress, leaving no trace.
    pub fn cancel_drag(&mut self, gesture: Gesture) -> bool {
        let mut key = gesture;
        if let Some(mut drags) = self.live_drags().cloned() {
            if !drags.remove(gesture) {
                return false;
            }
            // Other gestures continue, or something else was done meanwhile, which stays.
            if !drags.is_empty() || !self.history.is_by(drags.key) {
                return self.go_on_without(drags);
            }
            key = drags.key;
        }
        let before = self.document().clone();
        let is_forgotten = self.history.forget(key);
        if is_forgotten {
            self.drags = None;
            // A state that was saved in the middle of the move is gone.
            self.saved_at = self.saved_at.filter(|saved| *saved <= self.history.at());
            self.record(Entry::Forget);
            self.tell_changes(self.document().changes_since(&before), true);
        }
        is_forgotten
    }

    /// Cancel one of several gestures in progress, without a trace.
    fn go_on_without(&mut self, mut drags: Drags) -> bool {
        let (command, key) = (Command::SetPose { moves: drags.moves() }, drags.key);
        // Moves that fitted with others before them fit without: each names its own handles.
        let Ok(after) = command.apply(self.document()) else { return false };
        drags.shown = after.pose.clone();
        self.drags = Some(drags).filter(|drags| !drags.is_over());
        let (changes, _) = self.put(&command, after, Some(key));
        self.tell_changes(changes, true);
        true
    }

    /// Go to a step of the history; false if there is none such or it is the present one.
    pub fn jump(&mut self, step: usize) -> bool {
        let (before, at) = (self.document().clone(), self.history.at());
        let moved = self.history.jump(step);
        if moved {
            self.drags = None;
            self.record(Entry::Jump(step as isize - at as isize));
            self.tell_changes(self.document().changes_since(&before), true);
        }
        moved
    }

    /// One step back.
    pub fn undo(&mut self) -> bool {
        self.history.at() > 0 && self.jump(self.history.at() - 1)
    }

    /// One step forward again.
    pub fn redo(&mut self) -> bool {
        self.jump(self.history.at() + 1)
    }

    /// Write the project to a file, which becomes the document's own.
    ///
    /// # Errors
    /// If it cannot be written; the file that was there is then untouched.
    pub fn save(&mut self, path: &Path, warnings: &mut Warnings) -> Result<u64, SessionError> {
        let bytes = write_project(self.document(), warnings)?;
        write_atomic(path, &bytes)?;
        let saved = self.document().clone();
        self.mark_saved(&saved, path);
        Ok(bytes.len() as u64)
    }

    /// Note that a state has been written to a file, as a job does beside the work. The work may have gone on since,
    /// or be on another document altogether, to which this means nothing; then false.
    pub fn mark_saved(&mut self, saved: &Document, path: &Path) -> bool {
        let Some(step) = self.history.find(saved) else { return false };
        self.path = Some(path.to_owned());
        self.saved_at = step;
        if step == Some(self.history.at()) {
            self.record(Entry::Saved(path.to_owned()));
        }
        self.emit(Event::Saved(path.to_owned()));
        true
    }

    /// Wait until the work is on disk; false if it cannot be kept there.
    pub fn flush(&self) -> bool {
        self.begin_flush().wait()
    }

    /// As [`Session::flush`], for those who must not wait while they hold the session.
    pub fn begin_flush(&self) -> Flushing {
        Flushing::of(self.journal.as_ref())
    }

    /// Why unsaved work is not safe at present, if it is not.
    pub fn journal_fault(&self) -> Option<String> {
        match (&self.journal, &self.journals) {
            (Some(journal), _) => journal.fault(),
            (None, Some(_)) => Some("unsaved work is not kept: its folder cannot be written".into()),
            (None, None) => None,
        }
    }

    fn record(&self, entry: Entry) {
        if let Some(journal) = &self.journal {
            journal.push(entry, self.history.document());
        }
    }

    fn begin_journal(&mut self) {
        let Some(root) = &self.journals else { return };
        match Journal::begin(root, self.history.document(), self.path.as_deref()) {
            Ok(journal) => self.journal = Some(journal),
            // Reported by `journal_fault`.
            Err(_) => self.journal = None,
        }
    }

    /// End the journal: kept if there is something to save, and marked if the user closed the document.
    fn end_journal(&mut self, is_closed: bool) -> EndedJournal {
        EndedJournal::new(self.journal.take(), self.is_dirty(), is_closed)
    }

    fn emit(&mut self, event: Event) {
        if event != Event::Changed(Changes::default()) {
            self.listeners.retain(|listener| listener.send(event.clone()).is_ok());
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Waits until all is written.
        drop(self.end_journal(false));
    }
}
