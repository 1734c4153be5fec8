//! Bones without vertices are moved to where the error is largest.

use crate::{
    state::{Influences, State},
    tracks::Tracks,
};

/// Weight on a bone, in vertices, below which it is moved while there is time for it to grow elsewhere.
pub(crate) const MIN_BONE_WEIGHT: f64 = 0.5;

/// Give each bone whose weight, in vertices, is at most `weak` half of the region with the largest error. Returns how
/// many were moved. `errors` are the squared errors of the vertices.
pub(crate) fn reseed(tracks: &Tracks, state: &mut State, errors: &[f32], weak: f64) -> usize {
    let n_bones = state.bones.n_bones;
    let masses = state.influences.masses(n_bones);
    let idle: Vec<usize> = (0..n_bones).filter(|&bone| masses[bone] <= weak).collect();
    for &bone in &idle {
        release(&mut state.influences, bone as u16, state.bones.n_bones);
        split_worst(tracks, state, errors, bone);
    }
    idle.len()
}

/// Remove a bone from all blends; a vertex that had no other follows the bone of lowest index until it is refitted.
fn release(influences: &mut Influences, bone: u16, n_bones: usize) {
    for vertex in 0..influences.n_vertices() {
        let entries: Vec<(u16, f32)> = influences.of(vertex).collect();
        if !entries.iter().any(|(own, _)| *own == bone) {
            continue;
        }
        let kept: Vec<(u16, f32)> = entries.into_iter().filter(|(own, w)| *own != bone && *w > 0.0).collect();
        let sum: f32 = kept.iter().map(|(_, w)| w).sum();
        if kept.is_empty() || sum <= 0.0 {
            influences.set_hard(vertex, (bone + 1) % n_bones.max(2) as u16 % n_bones as u16);
            continue;
        }
        let start = vertex * influences.width;
        influences.counts[vertex] = kept.len() as u8;
        for (at, (slot, weight)) in kept.into_iter().enumerate() {
            influences.slots[start + at] = slot;
            influences.weights[start + at] = weight / sum;
        }
    }
}

/// Split the region of the bone whose vertices leave the largest error, and give one half to `idle`.
fn split_worst(tracks: &Tracks, state: &mut State, errors: &[f32], idle: usize) {
    let n = tracks.n_vertices;
    let n_bones = state.bones.n_bones;
    let strongest: Vec<u16> = (0..n).map(|vertex| state.influences.strongest(vertex)).collect();
    let mut sums = vec![(0.0f64, 0usize); n_bones];
    for vertex in 0..n {
        let sum = &mut sums[strongest[vertex] as usize];
        sum.0 += f64::from(errors[vertex]);
        sum.1 += 1;
    }
    // Regions of one vertex cannot be split; among equal errors the largest region is.
    let order = |&a: &usize, &b: &usize| {
        sums[a].0.total_cmp(&sums[b].0).then(sums[a].1.cmp(&sums[b].1)).then(b.cmp(&a))
    };
    let Some(worst) = (0..n_bones).filter(|&bone| bone != idle && sums[bone].1 > 1).max_by(order) else {
        return;
    };
    let members: Vec<usize> = (0..n).filter(|&vertex| strongest[vertex] as usize == worst).collect();
    let peak = |best: usize, &at: &usize| if errors[at] > errors[best] { at } else { best };
    let seed = members.iter().fold(members[0], peak);
    let far = |best: usize, &at: &usize| {
        if square(&state.rest[at], &state.rest[seed]) > square(&state.rest[best], &state.rest[seed]) {
            at
        } else {
            best
        }
    };
    let other = members.iter().fold(seed, far);
    let is_near = |at: usize| {
        at == seed
            || (at != other
                && square(&state.rest[at], &state.rest[seed]) < square(&state.rest[at], &state.rest[other]))
    };
    state.bones.copy_bone(worst, idle, state.rest[seed]);
    for &at in members.iter().filter(|&&at| is_near(at)) {
        state.influences.set_hard(at, idle as u16);
    }
}

fn square(a: &[f32; 3], b: &[f32; 3]) -> f32 {
    (0..3).map(|d| (a[d] - b[d]) * (a[d] - b[d])).sum()
}
