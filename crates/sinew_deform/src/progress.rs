//! How far a preparation is: told to whoever waits for it, who may stop it.

use crate::DeformError;
use std::{
    ops::ControlFlow,
    sync::{Mutex, PoisonError},
};

/// Told the share done, 0..=1, from any thread, never falling; breaks to stop the work.
pub type Progress<'a> = &'a (dyn Fn(f64) -> ControlFlow<()> + Sync);

/// Smallest advance that is told: thousands of small pieces need not be heard one by one.
const LEAST_TOLD: f64 = 0.002;

/// A progress closure that hears nothing and never stops.
pub(crate) fn no_progress(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Sums up the shares that threads have done.
pub(crate) struct ProgressMeter<'a> {
    progress: Progress<'a>,
    state: Mutex<State>,
}

struct State {
    done: f64,
    told: f64,
    is_stopped: bool,
}

impl<'a> ProgressMeter<'a> {
    /// Nothing is done yet, which is told.
    ///
    /// # Errors
    /// If the work is stopped at once.
    pub fn new(progress: Progress<'a>) -> Result<Self, DeformError> {
        let meter = Self {
            progress,
            state: Mutex::new(State { done: 0.0, told: f64::NEG_INFINITY, is_stopped: false }),
        };
        meter.add(0.0)?;
        Ok(meter)
    }

    /// A further share of the whole is done.
    ///
    /// # Errors
    /// If the work is to stop, or was stopped on another thread.
    pub fn add(&self, share: f64) -> Result<(), DeformError> {
        // Held while telling, so that shares are told in order.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done = (state.done + share).min(1.0);
        if !state.is_stopped && state.done - state.told >= LEAST_TOLD {
            state.told = state.done;
            state.is_stopped = (self.progress)(state.done).is_break();
        }
        if state.is_stopped { Err(DeformError::Cancelled) } else { Ok(()) }
    }

    /// All is done.
    ///
    /// # Errors
    /// If the work is to stop even now.
    pub fn finish(self) -> Result<(), DeformError> {
        let state = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        let is_stopped = state.is_stopped || (self.progress)(1.0).is_break();
        if is_stopped { Err(DeformError::Cancelled) } else { Ok(()) }
    }
}

/// The part of a progress that one piece fills.
#[derive(Clone, Copy)]
pub(crate) struct ProgressSpan<'a> {
    /// Where it counts.
    pub meter: &'a ProgressMeter<'a>,
    /// Its share of the whole.
    pub share: f64,
}

impl ProgressSpan<'_> {
    /// A further share of this part is done.
    ///
    /// # Errors
    /// If the work is to stop.
    pub fn add(&self, share: f64) -> Result<(), DeformError> {
        self.meter.add(share * self.share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_told_in_order_and_a_stop_is_kept() {
        let told = Mutex::new(Vec::new());
        let progress = |share: f64| {
            told.lock().unwrap().push(share);
            if share >= 0.5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let meter = ProgressMeter::new(&progress).unwrap();
        let span = ProgressSpan { meter: &meter, share: 0.5 };
        assert_eq!(span.add(0.5), Ok(()));
        // Too little to be told.
        assert_eq!(span.add(0.001), Ok(()));
        assert_eq!(meter.add(0.3), Err(DeformError::Cancelled));
        assert_eq!(meter.add(0.0), Err(DeformError::Cancelled));
        assert_eq!(meter.finish(), Err(DeformError::Cancelled));
        assert_eq!(*told.lock().unwrap(), [0.0, 0.25, 0.5505]);
    }

    #[test]
    fn the_end_is_told_exactly_once() {
        let told = Mutex::new(Vec::new());
        let progress = |share: f64| {
            told.lock().unwrap().push(share);
            ControlFlow::Continue(())
        };
        let meter = ProgressMeter::new(&progress).unwrap();
        meter.add(0.9999).unwrap();
        meter.finish().unwrap();
        assert_eq!(*told.lock().unwrap(), [0.0, 0.9999, 1.0]);
    }
}
