//! Undo: every state the document has had, with what led to it.

use crate::{Command, Document, SessionError, parts::bytes_beyond};
use std::{sync::Arc, time::Duration};

/// Steps with the same merge key that follow each other within this time are one step.
const MERGE_WITHIN: Duration = Duration::from_millis(500);

/// Bytes that the states of a document may take beyond the oldest; then the oldest are forgotten.
const MAX_BYTES: usize = 1 << 29;

/// A gesture of the pointer: everything done in one gesture is one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gesture(pub u64);

/// The states of a document. They share what they have in common; only when they take half a gigabyte all the same,
/// as after repairing a large mesh many times, are the oldest forgotten.
#[derive(Debug, Clone)]
pub struct History {
    steps: Vec<Step>,
    at: usize,
    /// Steps that were forgotten.
    first: usize,
    max_bytes: usize,
}

#[derive(Debug, Clone)]
struct Step {
    label: Arc<str>,
    document: Document,
    merge: Option<Merge>,
    /// Bytes beyond the step before.
    bytes: usize,
    /// The steps that were undone when this one was made: they come back should it be taken back without a trace.
    undone: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Merge {
    Gesture(Gesture),
    Key(String, Duration),
}

/// What applying a command did to the list of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The step the document is at now.
    pub at: usize,
    /// Whether it replaced the step before.
    pub merged: bool,
    /// How many of the oldest steps were forgotten for it; the number of the present one counts without them.
    pub n_forgotten: usize,
}

impl History {
    /// The state a document was opened in.
    pub fn new(document: Document) -> Self {
        let opened = Step { label: "Opened".into(), document, merge: None, bytes: 0, undone: Vec::new() };
        Self { steps: vec![opened], at: 0, first: 0, max_bytes: MAX_BYTES }
    }

    /// The same with another limit.
    #[cfg(test)]
    pub(crate) fn with_limit(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// The present state.
    pub fn document(&self) -> &Document {
        &self.steps[self.at].document
    }

    /// What each step did, the first being the state as opened, or the oldest that is still known.
    pub fn labels(&self) -> impl Iterator<Item = &Arc<str>> {
        self.steps.iter().map(|step| &step.label)
    }

    /// How many of the oldest steps were forgotten since the document was opened.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Bytes that the states take beyond the oldest, roughly.
    pub fn bytes(&self) -> usize {
        self.steps[1..].iter().map(|step| step.bytes).sum()
    }

    /// Which step is the present one.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Number of steps, the opening one included.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Never true: there is always the state as opened.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Do something. Steps that were undone are forgotten. `now` is any clock that only goes forward.
    ///
    /// # Errors
    /// As the command; nothing is changed then.
    pub fn apply(
        &mut self,
        command: &Command,
        gesture: Option<Gesture>,
        now: Duration,
    ) -> Result<Applied, SessionError> {
        let document = command.apply(self.document())?;
        Ok(self.put(command, document, gesture, now))
    }

    /// Enter the state that a command gives.
    pub(crate) fn put(
        &mut self,
        command: &Command,
        document: Document,
        gesture: Option<Gesture>,
        now: Duration,
    ) -> Applied {
        let merge =
            gesture.map(Merge::Gesture).or_else(|| command.merge_key().map(|key| Merge::Key(key, now)));
        let merged = self.at > 0 && merge.as_ref().is_some_and(|merge| self.goes_on(merge));
        let n_forgotten = self.replay(command.label(), document, merge, merged);
        Applied { at: self.at, merged, n_forgotten }
    }

    /// Put a state behind the present one, or in its place; returns how many of the oldest were dropped for it.
    fn replay(&mut self, label: String, document: Document, merge: Option<Merge>, merged: bool) -> usize {
        let mut undone = self.steps.split_off(self.at + 1);
        if merged && let Some(last) = self.steps.pop() {
            undone = last.undone;
        }
        // What the steps before were made after cannot come back any more.
        self.steps.iter_mut().rev().take(1).for_each(|step| step.undone.clear());
        let bytes = self.steps.last().map_or(0, |before| bytes_beyond(&document, &before.document));
        self.steps.push(Step { label: label.into(), document, merge, bytes, undone });
        self.at = self.steps.len() - 1;
        self.trim()
    }

    /// Forget the oldest steps that are too much. The last one can always be undone.
    fn trim(&mut self) -> usize {
        let mut bytes = self.bytes();
        let mut n = 0;
        while bytes > self.max_bytes && n + 2 < self.steps.len() {
            n += 1;
            bytes -= self.steps[n].bytes;
        }
        self.steps.drain(..n);
        self.at -= n;
        self.first += n;
        n
    }

    /// Whether the present step was made in this gesture.
    pub(crate) fn is_by(&self, gesture: Gesture) -> bool {
        self.steps[self.at].merge == Some(Merge::Gesture(gesture))
    }

    /// Redo what a journal holds.
    pub(crate) fn apply_recorded(&mut self, command: &Command, merged: bool) -> Result<(), SessionError> {
        let document = command.apply(self.document())?;
        self.replay(command.label(), document, None, merged && self.at > 0);
        Ok(())
    }

    /// A step of a journal that could not be done again: it changes nothing, and those after it keep their numbers.
    pub(crate) fn put_lost_step(&mut self) {
        self.replay("Lost step".into(), self.document().clone(), None, false);
    }

    fn goes_on(&self, merge: &Merge) -> bool {
        match (merge, &self.steps[self.at].merge) {
            (Merge::Gesture(new), Some(Merge::Gesture(old))) => new == old,
            (Merge::Key(new, now), Some(Merge::Key(old, then))) => {
                new == old && now.saturating_sub(*then) <= MERGE_WITHIN
            }
            _ => false,
        }
    }

    /// Take back the present step altogether if it was made in this gesture, as if it had never been.
    pub fn forget(&mut self, gesture: Gesture) -> bool {
        self.is_by(gesture) && self.forget_last()
    }

    pub(crate) fn forget_last(&mut self) -> bool {
        if self.at == 0 {
            return false;
        }
        self.steps.truncate(self.at + 1);
        let undone = self.steps.pop().map(|step| step.undone).unwrap_or_default();
        self.steps.extend(undone);
        self.at -= 1;
        true
    }

    /// The step whose state is this one: `None` if it belongs to another document, `Some(None)` if the state is gone.
    pub(crate) fn find(&self, document: &Document) -> Option<Option<usize>> {
        let is_it = |step: &Step| step.document.changes_since(document).is_empty();
        if is_it(&self.steps[self.at]) {
            return Some(Some(self.at));
        }
        let is_ours = self.steps.iter().any(|step| Arc::ptr_eq(&step.document.body, &document.body));
        is_ours.then(|| self.steps.iter().position(is_it))
    }

    /// Go to a step, forward or back; false if there is none such or it is the present one.
    pub fn jump(&mut self, step: usize) -> bool {
        let moved = step < self.steps.len() && step != self.at;
        if moved {
            self.at = step;
            // What is done next begins a new step, whatever was done here before.
            self.steps[step].merge = None;
        }
        moved
    }

    /// One step back.
    pub fn undo(&mut self) -> bool {
        self.at > 0 && self.jump(self.at - 1)
    }

    /// One step forward again.
    pub fn redo(&mut self) -> bool {
        self.jump(self.at + 1)
    }
}
