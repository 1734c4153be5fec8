//! Momentum: a round starts beyond the last one, in the direction of what it changed.
//!
//! # Source
//! Nesterov, *A method for solving the convex programming problem with convergence rate O(1/k²)* (1983), as a heuristic:
//! it restarts when the error rises.

use crate::{
    rigid::apply_turns,
    state::{Bones, State},
    tracks::Tracks,
};

/// Share of the last round's change that is added, after so many rounds without a restart.
pub(crate) fn momentum(streak: usize, most: f64) -> f32 {
    let k = streak as f64;
    (1.3 * (k - 1.0) / (k + 2.0)).clamp(0.0, most) as f32
}

/// The state beyond a round.
pub(crate) fn extrapolate(
    tracks: &Tracks,
    before: &State,
    now: &State,
    share: f32,
    moves_rest: bool,
) -> State {
    let beyond = |now: &[f32], before: &[f32]| -> Vec<f32> {
        now.iter().zip(before).map(|(now, before)| now + share * (now - before)).collect()
    };
    let mut next = now.clone();
    next.bones.rows = beyond(&now.bones.rows, &before.bones.rows);
    if !now.bones.turns.is_empty() {
        next.bones.turns = beyond_turns(&now.bones, &before.bones, share);
        apply_turns(tracks, &mut next.bones);
    }
    if moves_rest {
        let rest = beyond(now.rest.as_flattened(), before.rest.as_flattened());
        next.rest = rest.as_chunks().0.to_vec();
    }
    next
}

/// Quaternions extrapolated, of unit length.
fn beyond_turns(now: &Bones, before: &Bones, share: f32) -> Vec<f32> {
    let lanes = now.n_lanes;
    let mut turns = now.turns.clone();
    for (next, before) in turns.chunks_exact_mut(4 * lanes).zip(before.turns.chunks_exact(4 * lanes)) {
        for l in 0..lanes {
            let [a, b]: [[f32; 4]; 2] = [
                std::array::from_fn(|k| next[k * lanes + l]),
                std::array::from_fn(|k| before[k * lanes + l]),
            ];
            let dot: f32 = (0..4).map(|k| a[k] * b[k]).sum();
            let sign = if dot < 0.0 { -1.0 } else { 1.0 };
            let q: [f32; 4] = std::array::from_fn(|k| a[k] + share * (a[k] - sign * b[k]));
            let length = q.iter().map(|x| x * x).sum::<f32>().sqrt();
            (0..4).for_each(|k| next[k * lanes + l] = q[k] / length);
        }
    }
    turns
}
