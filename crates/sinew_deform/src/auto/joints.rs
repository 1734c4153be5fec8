//! Where a limb bends: cutting it into segments at narrow places and at bends, else evenly.
//!
//! # Source
//! Sinew's own: dynamic programming over the strips of a limb.
//! # Symbols
//! `s` position along the limb; `L` its length; `g` girth; `θ` turn of the line through the strips' centres
//! # Cost
//! `O(k m²)` for `k` segments and `m` strips, at most 320.

use super::limbs::Limb;
use glam::DVec3;

/// Half the width, in limb lengths, of the neighbourhood a girth is compared with and a bend measured over.
const NEIGHBOURHOOD_SHARE: f64 = 0.17;

/// Shares of the length of three segments: a hand or foot is shorter than what carries it.
const THREE_SEGMENT_SHARES: [f64; 3] = [0.4, 0.36, 0.24];

/// Indices of the slices where `n_segments` segments meet, from the base outward. Fewer if the limb is too short.
pub(super) fn find_joints(limb: &Limb, n_segments: usize) -> Vec<usize> {
    let mut s = 0.0;
    let places: Vec<f64> = (limb.slices.iter())
        .map(|slice| {
            s += slice.strip.width();
            s - slice.strip.width()
        })
        .collect();
    let length = s;
    if n_segments < 2 || limb.slices.len() < 3 * n_segments {
        return Vec::new();
    }
    let share = |k: usize| if n_segments == 3 { THREE_SEGMENT_SHARES[k] } else { 1.0 / n_segments as f64 };
    // Being twice or half as long as expected costs as much as a girth a fifth below its surroundings gains; a length
    // near zero costs more than any joint is worth.
    let uneven = |k: usize, from: f64, to: f64| ((to - from) / length / share(k)).max(1e-3).ln().powi(2);
    let quality: Vec<f64> = (0..places.len()).map(|i| joint_cost(limb, &places, length, i)).collect();
    let m = places.len();
    let mut cost = vec![vec![f64::INFINITY; m]; n_segments - 1];
    let mut before = vec![vec![0; m]; n_segments - 1];
    for k in 0..n_segments - 1 {
        for i in 1..m {
            let (best, from) = match k {
                0 => (uneven(0, 0.0, places[i]), 0),
                _ => (1..i)
                    .map(|j| (cost[k - 1][j] + uneven(k, places[j], places[i]), j))
                    .min_by(|a, b| a.0.total_cmp(&b.0))
                    .unwrap_or((f64::INFINITY, 0)),
            };
            (cost[k][i], before[k][i]) = (best + quality[i], from);
        }
    }
    let end = |i: usize| cost[n_segments - 2][i] + uneven(n_segments - 1, places[i], length);
    let Some(mut at) = (1..m).min_by(|&a, &b| end(a).total_cmp(&end(b))) else { return Vec::new() };
    let mut joints = vec![at];
    for k in (1..n_segments - 1).rev() {
        at = before[k][at];
        joints.push(at);
    }
    joints.reverse();
    joints
}

/// Small where the limb is narrow for its surroundings and where it bends.
fn joint_cost(limb: &Limb, places: &[f64], length: f64, i: usize) -> f64 {
    let reach = (NEIGHBOURHOOD_SHARE * length).min(places[i]).min(length - places[i]);
    let from = places.partition_point(|&s| s < places[i] - reach);
    let to = places.partition_point(|&s| s <= places[i] + reach);
    let around = &limb.slices[from..to];
    let mean = around.iter().map(|slice| slice.strip.girth).sum::<f64>() / around.len().max(1) as f64;
    let center = |k: usize| limb.slices[k].strip.center;
    let (inward, outward): (DVec3, DVec3) = (center(i) - center(from), center(to - 1) - center(i));
    // Directions of short pieces are noise.
    let bend =
        if reach < 0.5 * NEIGHBOURHOOD_SHARE * length || inward == DVec3::ZERO || outward == DVec3::ZERO {
            0.0
        } else {
            inward.angle_between(outward)
        };
    2.0 * limb.slices[i].strip.girth / mean.max(f64::MIN_POSITIVE) - 0.4 * bend
}
