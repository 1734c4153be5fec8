//! The trunk of a body that stands along the ground, and the legs under it.
//!
//! # Source
//! Proportions of riggers' skeletons of public animals: knee, hock and foot at 73, 38 and 13 % of the height of the hip, elbow
//! and wrist at 58 and 15 % of that of the shoulder.

use crate::{
    limb::{Limb, point_at_height, smooth},
    view::View,
};
use glam::DVec3;

/// Belly and back along the body.
pub(super) struct Torso {
    low: f64,
    width: f64,
    /// Heights above the ground, per slice.
    belly: Vec<f64>,
    back: Vec<f64>,
}

const N_SLICES: usize = 48;

impl Torso {
    /// Of the cells near the plane of symmetry that are not part of the tail.
    pub fn measure(view: &View, tail: Option<&Limb>) -> Option<Self> {
        let solid = &view.shape.solid;
        let near = (1.5 * solid.cell()).max(0.015);
        let keep = |&cell: &usize| {
            view.aside(solid.points[cell]) < near && tail.is_none_or(|tail| tail.is_beyond(cell))
        };
        let cells: Vec<DVec3> = (0..solid.len()).filter(keep).map(|cell| solid.points[cell]).collect();
        let along = |p: &DVec3| p.dot(view.forward);
        let (low, high) =
            cells.iter().fold((f64::MAX, f64::MIN), |(l, h), p| (l.min(along(p)), h.max(along(p))));
        if cells.len() < 50 || high - low < 0.05 {
            return None;
        }
        let width = (high - low) / N_SLICES as f64;
        let mut heights: Vec<Vec<f64>> = vec![Vec::new(); N_SLICES];
        for p in &cells {
            heights[(((along(p) - low) / width) as usize).min(N_SLICES - 1)].push(view.above_ground(*p));
        }
        heights.iter_mut().for_each(|slice| slice.sort_by(f64::total_cmp));
        let line = |share: f64, window: usize| {
            let at = |slice: &Vec<f64>| {
                (slice.len() > 3).then(|| slice[((slice.len() - 1) as f64 * share).round() as usize])
            };
            let mut values = fill_gaps(heights.iter().map(at).collect());
            values = median_filter(&values, window);
            (0..2).for_each(|_| smooth(&mut values, |a, b, c| 0.25 * (a + 2.0 * b + c)));
            values
        };
        Some(Self { low, width, belly: line(0.06, 9), back: line(0.96, 7) })
    }

    /// Where it begins and ends along the forward axis.
    pub fn range(&self) -> [f64; 2] {
        [self.low, self.low + self.width * N_SLICES as f64]
    }

    fn sample(&self, values: &[f64], along: f64) -> f64 {
        let x = ((along - self.low) / self.width - 0.5).clamp(0.0, (N_SLICES - 1) as f64);
        let k = x as usize;
        let next = (k + 1).min(N_SLICES - 1);
        values[k] + (values[next] - values[k]) * (x - k as f64)
    }

    pub fn belly(&self, along: f64) -> f64 {
        self.sample(&self.belly, along)
    }

    pub fn back(&self, along: f64) -> f64 {
        self.sample(&self.back, along)
    }

    /// Where the spine is.
    pub fn spine(&self, view: &View, along: f64) -> DVec3 {
        let (belly, back) = (self.belly(along), self.back(along));
        let center = view.flat(view.shape.center);
        let point = center + (along - center.dot(view.forward)) * view.forward;
        view.with_height(point, belly + 0.52 * (back - belly))
    }
}

fn fill_gaps(values: Vec<Option<f64>>) -> Vec<f64> {
    let known: Vec<(usize, f64)> = values.iter().enumerate().filter_map(|(k, v)| v.map(|v| (k, v))).collect();
    let at = |k: usize| {
        let after = known.iter().find(|(i, _)| *i >= k);
        let before = known.iter().rev().find(|(i, _)| *i <= k);
        match (before, after) {
            (Some((i, a)), Some((j, b))) if j > i => a + (b - a) * (k - i) as f64 / (j - i) as f64,
            (Some((_, v)), _) | (_, Some((_, v))) => *v,
            _ => 0.0,
        }
    };
    (0..values.len()).map(at).collect()
}

fn median_filter(values: &[f64], window: usize) -> Vec<f64> {
    let half = window / 2;
    let last = values.len() as isize - 1;
    let at = |k: usize| {
        let index = |i: isize| (k as isize + i).clamp(0, last) as usize;
        let mut around: Vec<f64> = (-(half as isize)..=half as isize).map(|i| values[index(i)]).collect();
        around.sort_by(f64::total_cmp);
        around[half]
    };
    (0..values.len()).map(at).collect()
}

/// Which leg of the body.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LegKind {
    /// Of two pairs, the one in front.
    Front,
    /// Of two pairs, the one behind.
    Hind,
    /// The only pair.
    Only,
}

/// Joints of a leg, from the body to the toes: shoulder blade, shoulder, elbow, wrist, toe in front; hip, knee, hock, foot,
/// toe behind.
pub(super) fn place_leg(view: &View, torso: &Torso, limb: &Limb, kind: LegKind, rump: f64) -> Vec<DVec3> {
    let (up, forward) = (view.up, view.forward);
    let at = |above: f64| limb.at_height(view.low + above, up);
    let is_lifted = is_lifted(view, limb);
    let upper = match is_lifted {
        true => along_limb(view, torso, limb),
        false => at(0.9 * torso.belly(at(0.5 * view.above_ground(limb.base())).dot(forward))),
    };
    let upper_along = upper.dot(forward);
    let (along, share) = match kind {
        LegKind::Front => (upper_along, 0.18),
        LegKind::Only => (0.5 * (upper_along + limb.base().dot(forward)), 0.42),
        LegKind::Hind => (0.5 * (rump + 0.08 + upper_along), 0.48),
    };
    let belly = torso.belly(along);
    let deep = torso.back(along) - belly;
    let mut top = belly + share * deep;
    if top < 0.5 * belly + 0.1 * view.height {
        top = top.max(0.35 * view.height);
    }
    let hip = view.with_height(upper + (along - upper_along) * forward, top);
    let is_folded = kind != LegKind::Only && limb.fold() > 1.45;
    if is_folded || view.height < 0.33 {
        return place_folded(view, limb, kind);
    }
    if is_lifted {
        return place_lifted(view, limb, kind, hip, deep);
    }
    let curve = leg_curve(view, limb, hip, 0.95 * belly);
    let at = |share: f64| point_at_height(&curve, view.low + share * top, up).unwrap_or(hip);
    let mut points = match kind {
        LegKind::Front => vec![hip, at(0.58), at(0.15)],
        _ => {
            let foot = at(0.13);
            let hock = bend_hock(view, limb, [hip, at(0.38), foot], top) - 0.012 * forward;
            let mut knee = at(0.73);
            if kind == LegKind::Hind {
                let ahead = 0.5 * (knee.dot(forward) + hip.dot(forward) + 0.05) - knee.dot(forward) + 0.012;
                knee += ahead * forward;
            }
            vec![hip, knee, hock, foot]
        }
    };
    let last = points[points.len() - 1];
    let toe = last + 0.5 * (limb.tip() - last).dot(forward) * forward;
    points.push(view.with_height(toe, 0.03 * top));
    if kind == LegKind::Front {
        points.insert(0, view.flat(hip).lerp(hip, 0.6) + 0.2 * deep * up);
    }
    points
}

/// Whether a leg is off the ground, or reaches far ahead or behind: then heights say nothing about its joints.
fn is_lifted(view: &View, limb: &Limb) -> bool {
    let reach = (limb.tip() - limb.base()).dot(view.forward).abs();
    view.share_of_height(limb.tip()) > 0.12 || reach > 0.6 * limb.length()
}

/// Where the straight line of the upper leg meets the belly.
fn along_limb(view: &View, torso: &Torso, limb: &Limb) -> DVec3 {
    const FARTHEST: f64 = 0.12;
    let base = limb.base();
    let direction = (base - limb.at(0.6 * limb.length())).normalize_or_zero();
    let rise = torso.belly(base.dot(view.forward)) - view.above_ground(base);
    let way = (rise / direction.dot(view.up).max(0.3)).clamp(0.0, FARTHEST);
    base + way * direction
}

/// Swinging: the same joints at the same shares of the way from the foot to the hip.
fn place_lifted(view: &View, limb: &Limb, kind: LegKind, hip: DVec3, deep: f64) -> Vec<DVec3> {
    let inside = limb.base().distance(hip);
    let at = |share: f64| {
        let way = share * (limb.length() + inside);
        let beyond = (way - limb.length()) / inside.max(1e-9);
        if beyond > 0.0 { limb.base().lerp(hip, beyond) } else { limb.at(way) }
    };
    match kind {
        LegKind::Front => {
            vec![view.flat(hip).lerp(hip, 0.6) + 0.2 * deep * view.up, hip, at(0.58), at(0.17), at(0.05)]
        }
        _ => vec![hip, at(0.73), at(0.4), at(0.15), at(0.05)],
    }
}

/// The middle of a leg as long as it is below the belly, then straight to the hip.
fn leg_curve(view: &View, limb: &Limb, hip: DVec3, below: f64) -> Vec<DVec3> {
    let curve = &limb.profile.middle[..=limb.end];
    let free = curve.iter().position(|p| view.above_ground(*p) > below).unwrap_or(curve.len()).max(1);
    curve[..free].iter().copied().chain([hip]).collect()
}

/// Hocks stick out behind: where the leg is farthest behind the line from foot to hip.
fn bend_hock(view: &View, limb: &Limb, [hip, hock, foot]: [DVec3; 3], top: f64) -> DVec3 {
    let low = view.above_ground(foot);
    let behind = |p: &DVec3| {
        let t = (view.above_ground(*p) - low) / (top - low).max(1e-9);
        (*p - foot.lerp(hip, t)).dot(view.forward)
    };
    let is_near = |p: &&DVec3| (0.24 * top..0.5 * top).contains(&view.above_ground(**p));
    let around: Vec<&DVec3> = limb.profile.middle[..=limb.end].iter().filter(is_near).collect();
    match around.iter().min_by(|a, b| behind(a).total_cmp(&behind(b))) {
        Some(point) if around.len() > 2 && behind(point) < -0.012 => {
            0.6 * hock + 0.4 * **point + 0.3 * behind(point) * view.forward
        }
        _ => hock,
    }
}

/// Folded or sprawling: joints at its bends, not at heights.
fn place_folded(view: &View, limb: &Limb, kind: LegKind) -> Vec<DVec3> {
    let tip = limb.tip();
    let mut points: Vec<DVec3> = limb.corners(3).into_iter().map(|s| limb.at(s)).take(3).collect();
    while points.len() < 3 {
        points.push(points[points.len() - 1].lerp(tip, 0.5));
    }
    if kind == LegKind::Front {
        points.insert(0, view.flat(points[0]).lerp(points[0], 0.5));
    } else {
        points.push(points[2].lerp(tip, 0.4));
    }
    points.push(points[points.len() - 1].lerp(tip, 0.7));
    points
}
