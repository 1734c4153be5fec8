//! Moves in progress: the newest of each gesture, on top of the pose before them all. Two pointers may be at work at once,
//! in two tabs; each replaces its own move only.

use crate::Gesture;
use sinew_geom::Move;
use std::sync::Arc;

/// Gestures that are made at the same time; together they are one step of history.
#[derive(Debug, Clone)]
pub(crate) struct Drags {
    /// The gesture under whose number the history keeps the step.
    pub key: Gesture,
    /// The pose that shows them; if the document has another, another command changed it.
    pub shown: Arc<Vec<Move>>,
    /// The moves before all of them.
    base: Vec<Move>,
    /// Each gesture with its newest move, and whether it is over. In the order in which they began.
    hands: Vec<(Gesture, Move, bool)>,
}

impl Drags {
    /// The first gesture begins.
    pub fn new(key: Gesture, base: Vec<Move>) -> Self {
        Self { key, shown: Arc::default(), base, hands: Vec::new() }
    }

    /// The newest move of a gesture.
    pub fn set(&mut self, gesture: Gesture, step: Move) {
        match self.hands.iter_mut().find(|hand| hand.0 == gesture) {
            Some(hand) => hand.1 = step,
            None => self.hands.push((gesture, step, false)),
        }
    }

    /// Take out a gesture; false if it is none of these.
    pub fn remove(&mut self, gesture: Gesture) -> bool {
        let n = self.hands.len();
        self.hands.retain(|hand| hand.0 != gesture);
        self.hands.len() < n
    }

    /// A gesture is over.
    pub fn end(&mut self, gesture: Gesture) {
        self.hands.iter_mut().filter(|hand| hand.0 == gesture).for_each(|hand| hand.2 = true);
    }

    /// Whether all gestures are over.
    pub fn is_over(&self) -> bool {
        self.hands.iter().all(|hand| hand.2)
    }

    /// Whether there is no gesture.
    pub fn is_empty(&self) -> bool {
        self.hands.is_empty()
    }

    /// All moves.
    pub fn moves(&self) -> Vec<Move> {
        self.joined(self.hands.len())
    }

    /// The moves before those of a gesture: all, if it has not begun.
    pub fn moves_before(&self, gesture: Gesture) -> Vec<Move> {
        self.joined(self.hands.iter().position(|hand| hand.0 == gesture).unwrap_or(self.hands.len()))
    }

    fn joined(&self, n_hands: usize) -> Vec<Move> {
        let mut moves = self.base.clone();
        self.hands[..n_hands].iter().for_each(|(_, step, _)| join(&mut moves, step.clone()));
        moves
    }
}

/// Append a move. A turn about the same axis as the last one continues it.
fn join(moves: &mut Vec<Move>, step: Move) {
    if let (
        Some(Move::Rotate { main, handles, axis, radians }),
        Move::Rotate { main: new_main, handles: new_handles, axis: new_axis, radians: more },
    ) = (moves.last_mut(), &step)
        && main == new_main
        && handles == new_handles
        && axis.distance(*new_axis) < 1e-9
    {
        *radians += more;
        return;
    }
    if let (Some(Move::Translate { handles, vector }), Move::Translate { handles: new_handles, vector: more }) =
        (moves.last_mut(), &step)
        && handles == new_handles
    {
        *vector += *more;
        return;
    }
    moves.push(step);
}
