//! Octopuses and starfish: arms all around a body.

use super::{Cost, Proposal, unexplained};
use crate::{skeleton::Skeleton, view::View};
use glam::{DVec2, DVec3};
use sinew_geom::body_map::BodyClass;

/// Arms: tips of like length, at least five, all around the up axis.
pub(super) fn propose(view: &View) -> Option<Proposal> {
    let longest = (0..view.shape.tips.len()).map(|tip| view.tip(tip).remoteness).fold(0.0, f64::max);
    let aside = |tip: usize| {
        let v = view.tip(tip).point - view.shape.center;
        DVec2::new(v.dot(view.left), v.dot(view.forward))
    };
    let is_arm = |&tip: &usize| {
        view.tip(tip).persistence > 0.08
            && view.tip(tip).remoteness > 0.4 * longest
            && aside(tip).length() > 0.08
    };
    let mut arms: Vec<usize> = (0..view.shape.tips.len()).filter(is_arm).collect();
    if arms.len() < 5 {
        return None;
    }
    let angle = |tip: usize| aside(tip).to_angle();
    arms.sort_by(|&a, &b| angle(a).total_cmp(&angle(b)));
    let mut skeleton = Skeleton::default();
    let root = view.flat(view.shape.center);
    skeleton.add("body", root, None);
    let mut cost = judge(view, &arms, &angle);
    let top = view
        .singles
        .iter()
        .copied()
        .find(|tip| !arms.contains(tip) && view.tip(*tip).point.dot(view.up) > root.dot(view.up) + 0.05);
    let rest = (0..view.shape.tips.len()).filter(|tip| !arms.contains(tip) && Some(*tip) != top);
    rest.for_each(|tip| cost.add("a limb without meaning", unexplained(view, tip)));
    if let Some(tip) = top {
        skeleton.add("head", view.flat(root.lerp(view.tip(tip).point, 0.5)), Some(0));
    }
    for (k, &tip) in arms.iter().enumerate() {
        let limb = view.limb(tip, 0.08);
        let n = (limb.length() / 0.08).round().clamp(3.0, 6.0) as usize;
        let points: Vec<DVec3> =
            (0..n).map(|i| limb.at(limb.length() * (1.0 - i as f64 / n as f64))).collect();
        skeleton.add_chain(&format!("tentacle_{}", k + 1), &points, Some(0));
    }
    let notes = vec![format!("tentacles: {} limbs all around the body", arms.len())];
    Some(Proposal { class: BodyClass::Octopus, skeleton, cost, most_confidence: 0.95, notes })
}

fn judge(view: &View, arms: &[usize], angle: &dyn Fn(usize) -> f64) -> Cost {
    let mut cost = Cost::default();
    cost.add("less common than legs", 0.5);
    let next = |k: usize| angle(arms[(k + 1) % arms.len()]);
    let gap = |k: usize| (next(k) - angle(arms[k])).rem_euclid(std::f64::consts::TAU);
    let widest = (0..arms.len()).map(gap).fold(0.0, f64::max);
    cost.expect("arms not all around", widest.to_degrees(), [0.0, 100.0], 30.0);
    let far: Vec<f64> = arms.iter().map(|&tip| view.tip(tip).remoteness).collect();
    let (short, long) = far.iter().fold((f64::MAX, 0f64), |(s, l), &x| (s.min(x), l.max(x)));
    cost.expect("arms of unlike length", (long / short.max(1e-6)).ln(), [0.0, 0.5], 0.3);
    let heights: Vec<f64> = arms.iter().map(|&tip| view.above_ground(view.tip(tip).point)).collect();
    let mean = heights.iter().sum::<f64>() / heights.len() as f64;
    let spread = (heights.iter().map(|h| (h - mean).powi(2)).sum::<f64>() / heights.len() as f64).sqrt();
    cost.expect("arms end at unlike heights", spread, [0.0, 0.1], 0.06);
    cost.expect("few arms", arms.len() as f64, [6.0, 1e3], 1.0);
    cost
}
