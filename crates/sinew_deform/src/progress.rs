//! Progress of a preparation: reported to the caller, who may stop it.

use crate::DeformError;
use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

/// Called with the share done, 0..=1, from any thread, never decreasing; breaks to stop the work.
pub type Progress<'a> = &'a (dyn Fn(f64) -> ControlFlow<()> + Sync);

/// Smallest advance that is reported: thousands of small pieces need not be reported one by one.
const MIN_REPORTED_ADVANCE: f64 = 0.002;

/// A progress callback that does nothing and never stops the work.
pub(crate) fn no_progress(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Adds up the shares that threads have done.
pub(crate) struct ProgressMeter<'a> {
    progress: Progress<'a>,
    state: Mutex<State>,
}

struct State {
    done: f64,
    reported: f64,
    is_stopped: bool,
}

impl<'a> ProgressMeter<'a> {
    /// Starts at zero, which is reported.
    ///
    /// # Errors
    /// If the callback stops the work at once.
    pub fn new(progress: Progress<'a>) -> Result<Self, DeformError> {
        let meter = Self {
            progress,
            state: Mutex::new(State { done: 0.0, reported: f64::NEG_INFINITY, is_stopped: false }),
        };
        meter.add(0.0)?;
        Ok(meter)
    }

    /// Add a share of the whole.
    ///
    /// # Errors
    /// If the callback stops the work, or stopped it on another thread.
    pub fn add(&self, share: f64) -> Result<(), DeformError> {
        // Locked during the callback, so that shares are reported in order.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done = (state.done + share).min(1.0);
        if !state.is_stopped && state.done - state.reported >= MIN_REPORTED_ADVANCE {
            state.reported = state.done;
            state.is_stopped = (self.progress)(state.done).is_break();
        }
        if state.is_stopped { Err(DeformError::Cancelled) } else { Ok(()) }
    }

    /// Report that everything is done.
    ///
    /// # Errors
    /// If the callback stops the work even now.
    pub fn finish(self) -> Result<(), DeformError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_stopped = state.is_stopped || (self.progress)(1.0).is_break();
        if is_stopped { Err(DeformError::Cancelled) } else { Ok(()) }
    }
}

/// The span of the whole progress that belongs to one piece.
#[derive(Clone, Copy)]
pub(crate) struct ProgressSpan<'a> {
    /// Where it is added.
    pub meter: &'a ProgressMeter<'a>,
    /// Its share of the whole.
    pub share: f64,
}

impl ProgressSpan<'_> {
    /// Add a share of this span.
    ///
    /// # Errors
    /// If the callback stops the work.
    pub fn add(&self, share: f64) -> Result<(), DeformError> {
        self.meter.add(share * self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_reported_in_order_and_a_stop_is_kept() {
        let reported = Mutex::new(Vec::new());
        let progress = |share: f64| {
            reported.lock().unwrap().push(share);
            if share >= 0.5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let meter = ProgressMeter::new(&progress).unwrap();
        let span = ProgressSpan { meter: &meter, share: 0.5 };
        assert_eq!(span.add(0.5), Ok(()));
        // Too little to be reported.
        assert_eq!(span.add(0.001), Ok(()));
        assert_eq!(meter.add(0.3), Err(DeformError::Cancelled));
        assert_eq!(meter.add(0.0), Err(DeformError::Cancelled));
        assert_eq!(meter.finish(), Err(DeformError::Cancelled));
        assert_eq!(*reported.lock().unwrap(), [0.0, 0.25, 0.5505]);
    }

    #[test]
    fn the_end_is_reported_exactly_once() {
        let reported = Mutex::new(Vec::new());
        let progress = |share: f64| {
            reported.lock().unwrap().push(share);
            ControlFlow::Continue(())
        };
        let meter = ProgressMeter::new(&progress).unwrap();
        meter.add(0.9999).unwrap();
        meter.finish().unwrap();
        assert_eq!(*reported.lock().unwrap(), [0.0, 0.9999, 1.0]);
    }
}
