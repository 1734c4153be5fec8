//! Mutexes with an order, so that threads never wait for each other in a circle. Debug builds check it.

use std::{
    cell::Cell,
    ops::{Deref, DerefMut},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The order in which a thread may lock: only what comes later than everything it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// One save at a time.
    Saving,
    /// The session.
    Session,
    /// What happened to the session.
    Events,
    /// How the document is shown.
    Looks,
    /// The state of a capability, of which a thread holds one at a time; and everything else that is held for a moment.
    State,
    /// What the engine has to do.
    Pending,
}

thread_local! {
    /// A bit for each rank that this thread holds.
    static HELD: Cell<u32> = const { Cell::new(0) };
}

/// A mutex with a rank.
#[derive(Debug)]
pub struct Ranked<T> {
    rank: Rank,
    mutex: Mutex<T>,
}

impl<T> Ranked<T> {
    /// Of a value.
    pub fn new(rank: Rank, value: T) -> Self {
        Self { rank, mutex: Mutex::new(value) }
    }

    /// Hold it. What is locked here is consistent at every moment, even if a thread panicked.
    pub fn lock(&self) -> Held<'_, T> {
        check(self.rank);
        let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
        HELD.with(|held| held.set(held.get() | (1 << self.rank as u32)));
        Held { guard, rank: self.rank }
    }
}

impl<T: Default> Default for Ranked<T> {
    /// The state of a capability.
    fn default() -> Self {
        Self::new(Rank::State, T::default())
    }
}

/// Whether this thread may lock something of a rank.
pub fn check(rank: Rank) {
    let held = HELD.with(Cell::get);
    debug_assert!(held >> rank as u32 == 0, "{rank:?} is locked while {held:b} is held");
}

/// Called where long work begins: this thread may hold no lock that others wait for, except [`Rank::Saving`], whose purpose that is.
pub fn check_none_held() {
    let held = HELD.with(Cell::get) & !(1 << Rank::Saving as u32);
    debug_assert!(held == 0, "long work is done while {held:b} is held");
}

/// What is held.
#[derive(Debug)]
pub struct Held<'a, T> {
    guard: MutexGuard<'a, T>,
    rank: Rank,
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        HELD.with(|held| held.set(held.get() & !(1 << self.rank as u32)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_may_hold_only_the_lock_of_saving() {
        let (saving, looks) = (Ranked::new(Rank::Saving, ()), Ranked::new(Rank::Looks, ()));
        let _saving = saving.lock();
        check_none_held();
        let wrong = || {
            let _held = looks.lock();
            check_none_held();
        };
        assert_eq!(
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).is_err(),
            cfg!(debug_assertions)
        );
        check_none_held();
    }

    #[test]
    fn the_order_is_checked() {
        let (session, state) = (Ranked::new(Rank::Session, 1), Ranked::new(Rank::State, 2));
        {
            let first = session.lock();
            assert_eq!(*first + *state.lock(), 3);
        }
        drop(session.lock());
        let wrong = || {
            let _held = state.lock();
            let _late = session.lock();
        };
        assert_eq!(
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).is_err(),
            cfg!(debug_assertions)
        );
    }
}
