//! Parts any plan may have: tails, and limbs that the plan has no word for.

use crate::{limb::Limb, skeleton::Skeleton, view::View};
use glam::DVec3;

/// A tail on the plane of symmetry, from a parent.
pub(super) fn add_tail(view: &View, skeleton: &mut Skeleton, limb: &Limb, parent: usize) {
    let n = (limb.length() / 0.055).round().clamp(2.0, 6.0) as usize;
    let points: Vec<DVec3> =
        (0..n).map(|k| view.flat(limb.at(limb.length() * (1.0 - k as f64 / n as f64)))).collect();
    skeleton.add_chain("tail", &points, Some(parent));
}

/// Pairs of limbs hung on the nearest joint of the middle.
pub(super) fn add_pairs(view: &View, skeleton: &mut Skeleton, pairs: &[[usize; 2]], notes: &mut Vec<String>) {
    let mut count = 0;
    for pair in pairs {
        let [left, right] = view.limbs(pair, 0.05);
        let n = (left.length() / 0.075).round().clamp(1.0, 4.0) as usize;
        let place = |limb: &Limb| limb.corners(n).into_iter().map(|s| limb.at(s)).collect::<Vec<DVec3>>();
        let mut sides = [place(&left), place(&right)];
        let parent = skeleton.nearest_central(view.flat(0.5 * (sides[0][0] + sides[1][0])));
        let n = sides[0].len().min(sides[1].len());
        sides.iter_mut().for_each(|side| side.truncate(n));
        count += 1;
        let stem = if count == 1 { "limb".to_owned() } else { format!("limb_{count}") };
        skeleton.add_pair(view, &Skeleton::chain_names(&stem, n), sides, parent);
        notes.push(format!("{stem}: a pair of limbs of no known kind"));
    }
}

/// A single limb in the middle or on one side.
pub(super) fn add_single(view: &View, skeleton: &mut Skeleton, tip: usize, stem: &str) {
    let limb = view.limb(tip, 0.05);
    let n = (limb.length() / 0.06).round().clamp(1.0, 6.0) as usize;
    let is_central = view.aside(limb.tip()) < 0.03 && view.aside(limb.base()) < 0.03;
    let place = |k: usize| {
        let point = limb.at(limb.length() * (1.0 - k as f64 / n as f64));
        if is_central { view.flat(point) } else { point }
    };
    let points: Vec<DVec3> = (0..n).map(place).collect();
    let parent = skeleton.nearest_central(points[0]);
    skeleton.add_chain(stem, &points, Some(parent));
}

/// What tips without a meaning of their own are.
pub(super) enum Leftover {
    /// Ears, horns, antlers: they move with the head.
    OnHead,
    /// Fingers and toes: they move with the end of their limb.
    OnLimb,
    /// Something the plan has no word for.
    Unknown,
}

/// What a tip is that a plan did not use, given the limbs it did use.
pub(super) fn classify(view: &View, skeleton: &Skeleton, tip: usize, limbs: &[[usize; 2]]) -> Leftover {
    let find = |name: &str| skeleton.joints.iter().find(|joint| joint.name == name);
    if let (Some(head), Some(chest)) = (find("head"), find("chest"))
        && view.way(tip, head.position) < view.way(tip, chest.position) - 0.03
    {
        return Leftover::OnHead;
    }
    if view.grows_on(tip, limbs) { Leftover::OnLimb } else { Leftover::Unknown }
}
