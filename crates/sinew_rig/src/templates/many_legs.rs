//! Insects, spiders and crabs: three or more pairs of legs on the ground.

use super::{Cost, Proposal, extras, tree, unexplained};
use crate::{limb::Limb, skeleton::Skeleton, view::View};
use glam::DVec3;
use sinew_geom::body_map::BodyClass;

/// A body on all pairs that reach the ground.
pub(super) fn propose(view: &View) -> Option<Proposal> {
    let is_leg = |pair: &&[usize; 2]| {
        view.persistence(pair) > 0.06 && view.share_of_height(view.middle_of_tips(pair)) < 0.4
    };
    let mut legs: Vec<[usize; 2]> = view.pairs.iter().filter(is_leg).copied().collect();
    if legs.len() < 3 {
        return None;
    }
    legs.sort_by(|a, b| view.ahead(view.middle_of_tips(b)).total_cmp(&view.ahead(view.middle_of_tips(a))));
    let mut skeleton = Skeleton::default();
    tree::add_spine(view, &mut skeleton)?;
    for (k, pair) in legs.iter().enumerate() {
        add_leg(view, &mut skeleton, pair, k + 1);
    }
    let mut notes = vec![format!("legs: {} pairs that stand on the ground", legs.len())];
    let rest: Vec<[usize; 2]> = view.pairs.iter().filter(|pair| !legs.contains(pair)).copied().collect();
    extras::add_pairs(view, &mut skeleton, &rest, &mut notes);
    let cost = judge(view, &legs, &rest);
    for (k, &tip) in view.singles.iter().enumerate() {
        extras::add_single(view, &mut skeleton, tip, &format!("branch_{}", k + 1));
    }
    Some(Proposal { class: BodyClass::Arthropod, skeleton, cost, most_confidence: 0.95, notes })
}

fn add_leg(view: &View, skeleton: &mut Skeleton, pair: &[usize; 2], number: usize) {
    let limbs = view.limbs(pair, 0.05);
    let parent = skeleton.nearest_central(view.flat(0.5 * (limbs[0].base() + limbs[1].base())));
    let body = skeleton.joints[parent].position;
    // The first joint lies inside the body, the last at the foot.
    let place = |limb: Limb| -> Vec<DVec3> {
        let mut points: Vec<DVec3> = limb.corners(3).into_iter().map(|s| limb.at(s)).collect();
        points[0] = points[0].lerp(body, 0.35);
        points.push(limb.at(0.08 * limb.length()));
        points
    };
    let sides = limbs.map(place);
    let n = sides[0].len().min(sides[1].len());
    skeleton.add_pair(view, &Skeleton::chain_names(&format!("leg_{number}"), n), sides, parent);
}

fn judge(view: &View, legs: &[[usize; 2]], rest: &[[usize; 2]]) -> Cost {
    let mut cost = Cost::default();
    cost.add("less common than four legs", 0.15);
    let slender = |pair: &[usize; 2]| {
        view.limb(pair[0], 0.05).slenderness().min(view.limb(pair[1], 0.05).slenderness())
    };
    let stoutest = legs.iter().map(slender).fold(f64::MAX, f64::min);
    cost.expect("legs as thick as long", stoutest, [3.0, 1e3], 1.0);
    let lengths: Vec<f64> = legs.iter().map(|pair| view.persistence(pair)).collect();
    let (short, long) = lengths.iter().fold((f64::MAX, 0f64), |(s, l), &x| (s.min(x), l.max(x)));
    cost.expect("legs of unlike length", (long / short.max(1e-6)).ln(), [0.0, 0.9], 0.5);
    cost.expect("tall", view.height, [0.0, 0.45], 0.12);
    let tips: Vec<f64> = legs.iter().map(|pair| view.share_of_height(view.middle_of_tips(pair))).collect();
    let mean = tips.iter().sum::<f64>() / tips.len() as f64;
    cost.expect("feet are not on the ground", mean, [-1.0, 0.15], 0.12);
    for pair in rest {
        cost.add(
            "a pair of limbs without meaning",
            0.3 * (unexplained(view, pair[0]) + unexplained(view, pair[1])),
        );
    }
    for &tip in &view.singles {
        let is_central = view.aside(view.tip(tip).point) < 0.06;
        cost.add("a limb without meaning", if is_central { 0.3 } else { 0.8 } * unexplained(view, tip));
    }
    // Eyes, jaws and claws are in front; without them nothing says where that is.
    let widest = view.shape.center;
    let middle =
        legs.iter().map(|pair| view.ahead(view.middle_of_tips(pair))).sum::<f64>() / legs.len() as f64;
    cost.add("faces backwards", (0.1 - (view.ahead(widest) - middle)).clamp(0.0, 0.2));
    cost
}
