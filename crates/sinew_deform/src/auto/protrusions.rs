//! Limbs that remoteness does not show: each tip is grown along the distance from it until its girth jumps.
//!
//! # Source
//! Sinew's own. The ratio `A / g²` of the part within a distance of a tip grows along a limb and falls where the limb
//! ends, because the girth jumps there: every peak, such as at the root of a finger and at that of its arm, may be a
//! limb. A disk has 0.08, half a ball 0.16.
//! # Symbols
//! `A` area within a distance of the tip, with what it encloses; `g` girth there
//! # Cost
//! That of the distances from the tips, at most [`MAX_TIPS`] of them.

use super::{
    component::Component,
    limbs::Limb,
    profile::{Strip, compute_profiles},
    regions::Cut,
    tips::{find_tips, tip_field},
    tree::Tree,
};
use rayon::prelude::*;
use std::ops::ControlFlow;

/// Tips that are examined: the most remote ones.
const MAX_TIPS: usize = 48;

/// Tips that are grown between two calls of the progress callback.
const TIPS_PER_BATCH: usize = 4;

/// Strips from a tip to the farthest place where its end is searched.
const N_STRIPS: usize = 160;

/// Least `A / g²`.
const MIN_STRETCH: f64 = 0.2;

/// Share of its `A / g²` that a protrusion must lose behind its end.
const MAX_REST_SHARE: f64 = 0.5;

/// Share of a peak above which a cut is as good: before the girth jumps, rather than within the jump.
const NEAR_PEAK_SHARE: f64 = 0.92;

/// Share of the area above which it is not a limb but half of the body.
const MAX_AREA_SHARE: f64 = 0.3;

/// Share of the level set that is one loop.
const MIN_LOOP_SHARE: f64 = 0.9;

/// Fewer vertices make no handle once bands are removed.
const MIN_VERTICES: usize = 24;

/// A candidate for a limb.
pub(super) struct Protrusion {
    pub limb: Limb,
    /// Which of the fields it is measured in.
    pub field: usize,
    /// Whether each vertex is in it.
    pub inside: Vec<bool>,
}

/// All protrusions of at least a given area, the most stretched first, and the fields they are measured in. `None` if
/// `progress` asks to stop.
pub(super) fn find_protrusions(
    part: &Component,
    f: &[f64],
    least_area: f64,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<(Vec<Protrusion>, Vec<Vec<f64>>)> {
    let lowest = |best: u32, v: u32| if f[v as usize] < f[best as usize] { v } else { best };
    let center = (0..f.len() as u32).fold(0, lowest);
    let mut tips = find_tips(part, f, 0.3 * least_area);
    tips.sort_by(|&a, &b| f[b as usize].total_cmp(&f[a as usize]).then(a.cmp(&b)));
    tips.truncate(MAX_TIPS);
    let steps = part.steps();
    let grow_tip = |&tip: &u32| {
        let field = tip_field(part, &steps, tip, center);
        (grow(part, &field, least_area), field)
    };
    let mut grown = Vec::new();
    for (at, some) in tips.chunks(TIPS_PER_BATCH).enumerate() {
        if progress((at * TIPS_PER_BATCH) as f64 / tips.len() as f64).is_break() {
            return None;
        }
        let found: Vec<_> = some.par_iter().map(grow_tip).collect();
        grown.extend(found.into_iter().filter(|(limbs, _)| !limbs.is_empty()));
    }
    let (mut protrusions, mut fields) = (Vec::new(), Vec::new());
    for (limbs, field) in grown {
        for limb in limbs {
            let level = limb.slices[0].cut.level;
            let inside = field.iter().map(|&value| value > level).collect();
            protrusions.push(Protrusion { limb, field: fields.len(), inside });
        }
        fields.push(field);
    }
    protrusions.sort_by(|a, b| b.limb.stretch.total_cmp(&a.limb.stretch));
    Some((protrusions, fields))
}

/// Limbs from a tip to each end it may have.
fn grow(part: &Component, field: &[f64], least_area: f64) -> Vec<Limb> {
    let highest = |best: u32, v: u32| if field[v as usize] > field[best as usize] { v } else { best };
    let peak = (0..field.len() as u32).fold(0, highest);
    let mut strips = compute_profiles(part, field, &Tree::path(peak, field.len()), N_STRIPS).swap_remove(0);
    // The last one holds all that is farther away than the middle of the body.
    strips.pop();
    let mut above = 0.0;
    let slices: Vec<(Strip, Cut)> = (strips.into_iter())
        .map(|strip| {
            above += strip.area;
            (strip, Cut { field: 0, peak, level: strip.level, girth: strip.girth, above })
        })
        .collect();
    let stretch: Vec<f64> =
        slices.iter().map(|(_, cut)| cut.above / cut.girth.max(f64::MIN_POSITIVE).powi(2)).collect();
    let n_inside = |level: f64| field.iter().filter(|&&value| value > level).count();
    let is_limb = |at: usize| {
        let (strip, cut) = slices[at];
        (least_area..=MAX_AREA_SHARE * part.area).contains(&cut.above)
            && strip.main_share >= MIN_LOOP_SHARE
            && n_inside(cut.level) >= MIN_VERTICES
    };
    (0..slices.len())
        .filter(|&at| stretch[at] >= MIN_STRETCH && is_peak(&stretch, at))
        .filter_map(|peak| {
            (0..=peak).find(|&at| stretch[at] >= NEAR_PEAK_SHARE * stretch[peak] && is_limb(at))
        })
        .map(|at| Limb::new(&slices[..=at], stretch[at]))
        .collect()
}

/// Whether the value falls far enough on both sides before it is exceeded.
fn is_peak(stretch: &[f64], at: usize) -> bool {
    let falls = |values: &mut dyn Iterator<Item = &f64>| {
        values.take_while(|&&x| x <= stretch[at]).any(|&x| x <= MAX_REST_SHARE * stretch[at])
    };
    let is_first = at == 0 || stretch[at - 1] < stretch[at];
    is_first && falls(&mut stretch[at + 1..].iter()) && falls(&mut stretch[..at].iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peaks_fall_to_half_on_both_sides() {
        // A finger, its palm, which falls too little, the arm behind it, and the body, which has no end.
        let stretch = [0.08, 0.3, 0.45, 0.2, 0.34, 0.3, 0.9, 1.8, 1.8, 0.3, 0.2, 0.5];
        let peaks: Vec<usize> = (0..stretch.len()).filter(|&at| is_peak(&stretch, at)).collect();
        assert_eq!(peaks, [2, 7]);
    }
}
