//! What the engine has to do: moves in progress, and the bell that wakes it.

use super::Studio;
use crate::{
    locks::{self, Rank},
    wire::{GestureId, Step},
};
use sinew::session::Gesture;
use std::{
    collections::VecDeque,
    sync::{MutexGuard, PoisonError},
};

/// Gestures that may wait for the engine; more come only from a page that is not ours.
pub(crate) const MAX_DRAGS: usize = 64;

/// What the engine has to do.
#[derive(Debug, Default)]
pub struct Pending {
    /// Moves in progress, one for each gesture.
    pub drags: VecDeque<Drag>,
    /// The page whose drag the engine is at work on.
    pub dragging: Option<u64>,
    /// Rises with every change.
    pub tick: u64,
    /// Whether the server ends.
    pub stop: bool,
}

/// A move in progress.
#[derive(Debug)]
pub struct Drag {
    /// Whose it is.
    pub gesture: GestureId,
    /// What the pointer does; none if the gesture only ends.
    pub step: Option<Box<dyn Step>>,
    /// Whether it is the last.
    pub end: bool,
}

impl Studio {
    /// What the engine has to do, for a moment.
    pub fn pending(&self) -> MutexGuard<'_, Pending> {
        locks::check(Rank::Pending);
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Leave a move in progress for the engine; an older one of the same gesture that it has not taken up is dropped. The
    /// end of a gesture always has room: without it the gesture would never become a step of history.
    pub fn leave_drag(&self, drag: Drag) {
        let mut pending = self.pending();
        let has_room = drag.end || pending.drags.len() < MAX_DRAGS;
        match pending.drags.iter_mut().find(|other| other.gesture == drag.gesture) {
            Some(other) => {
                let step = drag.step.or_else(|| other.step.take());
                *other = Drag { step, ..drag };
            }
            None if has_room => pending.drags.push_back(drag),
            None => {}
        }
        pending.tick += 1;
        self.bell.notify_all();
    }

    /// Wait until no move of a page is on its way, so that what it asks for next is done after it. Moves of other pages
    /// do not matter.
    pub fn settle(&self, page: u64) {
        let mut pending = self.pending();
        while (pending.drags.iter().any(|drag| drag.gesture.page == page) || pending.dragging == Some(page))
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
}

impl GestureId {
    /// As the session knows it: other pages and strokes have other numbers.
    pub fn of_drag(self) -> Gesture {
        Gesture((self.page << 32) | u64::from(self.drag))
    }

    /// A stroke of a brush; its numbers are others than those of drags.
    pub fn of_stroke(self) -> Gesture {
        Gesture((1 << 62) | (self.page << 32) | u64::from(self.drag))
    }
}
