//! Undo: every state the document has had, with what led to it.

use crate::{Command, Document, SessionError};
use std::{sync::Arc, time::Duration};

/// Steps with the same merge key that follow each other within this time are one step.
const MERGE_WITHIN: Duration = Duration::from_millis(500);

/// A gesture of the user's hand: everything done in one gesture is one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Gesture(pub u64);

/// The states of a document. All are kept: they share what they have in common.
#[derive(Debug, Clone)]
pub struct History {
    steps: Vec<Step>,
    at: usize,
}

#[derive(Debug, Clone)]
struct Step {
    label: String,
    document: Document,
    merge: Option<Merge>,
    /// The steps that were undone when this one was made: they come back should it be taken back without a trace.
    undone: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq)]
enum Merge {
    Gesture(Gesture),
    Key(String, Duration),
}

impl Step {
    fn new(label: String, document: Document, merge: Option<Merge>, undone: Vec<Self>) -> Self {
        Self { label, document, merge, undone }
    }
}

/// What applying a command did to the list of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Applied {
    /// The step the document is at now.
    pub at: usize,
    /// Whether it replaced the step before.
    pub merged: bool,
}

impl History {
    /// The state a document was opened in.
    pub fn new(document: Document) -> Self {
        Self { steps: vec![Step::new("Opened".into(), document, None, Vec::new())], at: 0 }
    }

    /// The present state.
    pub fn document(&self) -> &Document {
        &self.steps[self.at].document
    }

    /// What each step did, the first being the state as opened.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().map(|step| step.label.as_str())
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
        self.replay(command.label(), document, merge, merged);
        Applied { at: self.at, merged }
    }

    /// Put a state behind the present one, or in its place.
    fn replay(&mut self, label: String, document: Document, merge: Option<Merge>, merged: bool) {
        let mut undone = self.steps.split_off(self.at + 1);
        if merged && let Some(last) = self.steps.pop() {
            undone = last.undone;
        }
        // What the steps before were made after cannot come back any more.
        self.steps.iter_mut().rev().take(1).for_each(|step| step.undone.clear());
        self.steps.push(Step::new(label, document, merge, undone));
        self.at = self.steps.len() - 1;
    }

    /// Do again what a journal tells.
    pub(crate) fn apply_recorded(&mut self, command: &Command, merged: bool) -> Result<(), SessionError> {
        let document = command.apply(self.document())?;
        self.replay(command.label(), document, None, merged && self.at > 0);
        Ok(())
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
        let is_last = self.steps[self.at].merge == Some(Merge::Gesture(gesture));
        is_last && self.forget_last()
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
