//! Distance from a tip, growing over a protrusion until it reaches the body.
//!
//! # Source
//! Sinew's own. A stubby leg has nearly the same remoteness as the belly beside it, so level sets of remoteness cross
//! it at an angle; level sets of the distance from its own tip go around it. What a level set encloses on the side away
//! from the body, such as an ear on a head, is filled in, so that one loop is left.
//! # Symbols
//! `d(v)` distance from the tip; `F(v)` maximum, over all paths from the body to `v`, of the minimum of `d` along the
//! path: `{F < r}` is `{d < r}` with the enclosed parts filled in
//! # Cost
//! `O(n log n)` per tip.

use super::{component::Component, remoteness::smooth, tree::build_tree};
use crate::geodesic::Steps;
use std::{cmp::Reverse, collections::BinaryHeap};

/// Ends of protrusions: places more remote than everything around them, except for bumps of less than `least` area.
pub(super) fn find_tips(part: &Component, f: &[f64], least: f64) -> Vec<u32> {
    let tree = build_tree(f, &part.vertex_areas, |v| part.adjacency.neighbors.row(v), least);
    let tips = tree.arcs.iter().filter(|arc| arc.children.is_empty() && arc.parent.is_some());
    tips.map(|arc| arc.peak).collect()
}

/// Share of the area within which the end of a limb is searched.
const MAX_AREA_SHARE: f64 = 0.45;

/// `−F` for a tip, seen from a vertex in the middle of the body; constant beyond a share of the area or
/// the middle.
pub(super) fn tip_field(part: &Component, steps: &Steps, tip: u32, center: u32) -> Vec<f64> {
    let (mut area, mut last) = (0.0, tip);
    let mut distance = steps.distances_until(&[(tip, 0.0)], f64::INFINITY, |v| {
        area += part.vertex_areas[v as usize];
        last = v;
        v == center || area > MAX_AREA_SHARE * part.area
    });
    let most = distance[last as usize];
    distance.iter_mut().for_each(|d| *d = d.min(most));
    let distance = smooth(part, distance);
    // The middle may have been smoothed below what is around it.
    let from = distance[center as usize].min(most);
    let mut filled = vec![f64::NEG_INFINITY; distance.len()];
    filled[center as usize] = from;
    // Values at the maximum need no queue.
    let mut plateau = vec![center];
    let mut queue = BinaryHeap::new();
    loop {
        let (v, value) = match plateau.pop() {
            Some(v) => (v, from),
            // Finite non-negative floats order like their bits.
            None => match queue.pop() {
                Some((bits, Reverse(v))) => (v, f64::from_bits(bits)),
                None => break,
            },
        };
        for &w in part.adjacency.neighbors.row(v as usize) {
            if filled[w as usize] == f64::NEG_INFINITY {
                filled[w as usize] = value.min(distance[w as usize]);
                if filled[w as usize] >= from {
                    plateau.push(w);
                } else {
                    queue.push((filled[w as usize].to_bits(), Reverse(w)));
                }
            }
        }
    }
    filled.iter().map(|&value| -value.max(0.0)).collect()
}
