//! Bodies that stand upright on two legs.
//!
//! # Source
//! Proportions of the riggers' own skeletons of public characters: hips a little above where the legs part, ankles at an
//! eighth of the height of the hips, wrists at the thinnest section of the last third of an arm.

use super::{
    Cost, Proposal,
    extras::{self, Leftover},
    unexplained,
};
use crate::{
    limb::Limb,
    skeleton::Skeleton,
    view::{Slices, View},
};
use glam::DVec3;
use sinew_geom::body_map::BodyClass;

/// Proposals for every choice of legs and arms.
pub(super) fn propose(view: &View) -> Vec<Proposal> {
    let is_leg = |pair: &&[usize; 2]| {
        view.persistence(pair) > 0.025 && view.share_of_height(view.middle_of_tips(pair)) < 0.35
    };
    let is_arm = |pair: &&[usize; 2]| {
        view.persistence(pair) > 0.05 && view.share_of_height(view.middle_of_tips(pair)) > 0.05
    };
    let mut proposals = Vec::new();
    for legs in view.pairs.iter().filter(is_leg) {
        for arms in view.pairs.iter().filter(is_arm).filter(|arms| *arms != legs) {
            proposals.extend(build(view, legs, Some(arms)));
        }
        proposals.extend(build(view, legs, None));
    }
    proposals
}

/// Arms that hang along the body show no tips: then they are guessed, and the confidence is at most this.
const MOST_CONFIDENCE_WITHOUT_ARMS: f64 = 0.5;

struct Trunk {
    slices: Slices,
    hips: f64,
    shoulders: f64,
    neck: f64,
    top: f64,
}

fn build(view: &View, legs: &[usize; 2], arms: Option<&[usize; 2]>) -> Option<Proposal> {
    let leg_limbs = view.limbs(legs, 0.16);
    let arm_limbs = arms.map(|arms| arms.map(|tip| view.limb(tip, 0.08)));
    let arm_points = match &arm_limbs {
        Some(limbs) => place_arms(view, limbs),
        None => guess_arms(view, &leg_limbs)?,
    };
    let trunk = measure_trunk(view, &leg_limbs, arm_limbs.as_ref(), &arm_points)?;
    let leg_points = leg_limbs.map(|limb| place_leg(view, &limb, trunk.hips));
    let mut skeleton = Skeleton::default();
    let chest = add_trunk(view, &mut skeleton, &trunk);
    let between = view.flat(trunk.slices.at(view.low + trunk.shoulders - 0.02 * view.height));
    let arm_chains = arm_points.clone().map(|points| {
        let mut chain = vec![between.lerp(points[0], 0.35)];
        chain.extend(points);
        chain
    });
    skeleton.add_pair(view, &["shoulder", "upper_arm", "forearm", "hand"], arm_chains, chest);
    skeleton.add_pair(view, &["thigh", "shin", "foot", "toe"], leg_points.clone(), 0);
    let mut cost = judge(view, legs, &leg_limbs, &trunk);
    judge_facing(view, &mut cost, &leg_limbs, &trunk);
    let shoulders = 100.0 * trunk.shoulders / view.height;
    let arms_are = match (&arm_limbs, arms) {
        (Some(limbs), Some(arms)) => {
            judge_arms(view, &mut cost, arms, limbs, &leg_limbs, &trunk);
            format!("the pair at {shoulders:.0} % of the height, {}", describe(limbs))
        }
        _ => {
            cost.add("arms that are not apart from the body", 0.4);
            "not apart from the body; guessed along its sides".to_owned()
        }
    };
    let mut notes = vec![
        format!("legs: the pair of limbs that stands on the ground, {}", describe(&leg_limbs)),
        format!("arms: {arms_are}"),
    ];
    let used: Vec<&[usize; 2]> = [Some(legs), arms].into_iter().flatten().collect();
    add_rest(view, &mut skeleton, &mut cost, &mut notes, &used);
    let most_confidence = if arms.is_some() { 0.98 } else { MOST_CONFIDENCE_WITHOUT_ARMS };
    Some(Proposal { class: BodyClass::Biped, skeleton, cost, most_confidence, notes })
}

fn describe(limbs: &[Limb; 2]) -> String {
    format!("{:.0} % of the size of the body long", 50.0 * (limbs[0].length() + limbs[1].length()))
}

/// Joints of both arms. An arm that touches the hip seems to end there: then the other one knows where its shoulder is.
fn place_arms(view: &View, limbs: &[Limb; 2]) -> [Vec<DVec3>; 2] {
    let mut points = limbs.map(|limb| place_arm(&limb));
    for (short, long) in [(0, 1), (1, 0)] {
        if limbs[short].length() < 0.75 * limbs[long].length() {
            let shoulder = view.plane.mirror(points[long][0]);
            let wrist = limbs[short].at(limbs[long].length() * 0.25 + 0.02);
            points[short] = vec![shoulder, shoulder.lerp(wrist, 0.5), wrist];
        }
    }
    points
}

/// Shoulder, elbow and wrist.
fn place_arm(limb: &Limb) -> Vec<DVec3> {
    let length = limb.length();
    let shoulder = length + 0.016;
    // Riggers put the wrist a little above the thinnest section.
    let wrist = limb.thinnest(0.14, 0.42).unwrap_or(0.25 * length).clamp(0.17 * length, 0.36 * length) + 0.02;
    let elbow = limb.bend(wrist, shoulder, 0.5, 0.14);
    vec![limb.at(shoulder), limb.at(elbow), limb.at(wrist)]
}

/// Shoulders, elbows and wrists along the sides of a body whose arms hang: below a neck, as far aside as the body is wide.
fn guess_arms(view: &View, legs: &[Limb; 2]) -> Option<[Vec<DVec3>; 2]> {
    let h = view.height;
    let hips = find_crotch(view, legs).unwrap_or(0.45 * h) + 0.04 * h;
    let above = |cell: usize| view.above_ground(view.shape.solid.points[cell]) > hips;
    let slices = Slices::new(view.shape, view.up, 60, above)?;
    let neck = slices.smallest(view.low + 0.72 * h, view.low + 0.93 * h)?;
    // Without a neck that is thinner than the head there are no shoulders to hang arms on.
    if slices.share_of_fullest(neck, neck) > 0.8 || slices.share_of_fullest(neck, view.low + hips) > 0.45 {
        return None;
    }
    let shoulders = neck - view.low - 0.05 * h;
    let side = |height: f64, share: f64, sign: f64| -> Option<DVec3> {
        let is_there = |p: &&DVec3| {
            (view.above_ground(**p) - height).abs() < 0.015 * h && sign * view.plane.height(**p) > 0.0
        };
        let cells: Vec<DVec3> = view.shape.solid.points.iter().filter(is_there).copied().collect();
        let widest = cells.iter().map(|p| view.aside(*p)).fold(0.0, f64::max);
        let outer: Vec<DVec3> = cells.into_iter().filter(|p| view.aside(*p) > share * widest).collect();
        let middle = outer.iter().sum::<DVec3>() / outer.len().max(1) as f64;
        (!outer.is_empty()).then(|| view.with_height(middle, height))
    };
    let arm = |sign: f64| -> Option<Vec<DVec3>> {
        let shoulder = side(shoulders, 0.6, sign)?;
        let elbow = side(shoulders - 0.17 * h, 0.75, sign)?;
        let wrist = side(shoulders - 0.32 * h, 0.8, sign)?;
        Some(vec![shoulder, elbow, wrist])
    };
    Some([arm(1.0)?, arm(-1.0)?])
}

/// Heights of hips, shoulders and neck above the ground.
fn measure_trunk(
    view: &View,
    legs: &[Limb; 2],
    arms: Option<&[Limb; 2]>,
    points: &[Vec<DVec3>; 2],
) -> Option<Trunk> {
    let h = view.height;
    let shoulders = 0.5 * (view.above_ground(points[0][0]) + view.above_ground(points[1][0]));
    let crotch = find_crotch(view, legs).unwrap_or(0.45 * h);
    let hips = crotch + 0.04 * h;
    let hips = if (0.42 * shoulders..0.8 * shoulders).contains(&hips) { hips } else { 0.67 * shoulders };
    let keep = |cell: usize| {
        arms.is_none_or(|arms| arms.iter().all(|arm| arm.is_beyond(cell)))
            && view.above_ground(view.shape.solid.points[cell]) > hips - 0.02 * h
    };
    let slices = Slices::new(view.shape, view.up, 60, keep)?;
    let top = slices.high() - view.low;
    let rest = top - shoulders;
    let from = |share: f64| view.low + shoulders + share * rest;
    let mut neck = shoulders + 0.22 * rest;
    if let Some(thin) = slices.smallest(from(0.06), from(0.5))
        && slices.share_of_fullest(thin, from(0.3)) < 0.75
    {
        neck = (thin - view.low).clamp(shoulders + 0.12 * rest, shoulders + 0.4 * rest);
    }
    Some(Trunk { slices, hips, shoulders, neck, top })
}

/// Height at which the legs part: where both end, or the lowest cell between them.
fn find_crotch(view: &View, legs: &[Limb; 2]) -> Option<f64> {
    let h = view.height;
    let ends = 0.5 * (view.above_ground(legs[0].base()) + view.above_ground(legs[1].base()));
    if legs.iter().all(|leg| leg.is_found) && (0.2 * h..0.62 * h).contains(&ends) {
        return Some(ends);
    }
    let solid = &view.shape.solid;
    let on_plane = solid.points.iter().filter(|p| view.aside(**p) < 1.2 * solid.cell());
    let lowest = on_plane.map(|&p| view.above_ground(p)).fold(f64::MAX, f64::min);
    (0.07 * h..0.6 * h).contains(&lowest).then_some(lowest)
}

/// Hip, knee, ankle and toes.
fn place_leg(view: &View, limb: &Limb, hips: f64) -> Vec<DVec3> {
    let (h, up, forward) = (view.height, view.up, view.forward);
    let crotch = hips - 0.04 * h;
    let at = |above: f64| limb.at_height(view.low + above, up);
    let mut ankle = view.with_height(at(0.13 * crotch + 0.02 * h), 0.115 * hips);
    let shin = at(0.3 * crotch);
    let lead = (ankle - shin).dot(forward);
    ankle += (lead.min(0.012) - lead) * forward;
    let top = (0.9 * crotch).min(0.97 * view.above_ground(limb.base()));
    let upper = at(top);
    let hip = aside_at_least(view, view.with_height(upper, hips), limb.tip(), hip_width(view, hips));
    let knee_height = 0.5 * (view.above_ground(ankle) + hips);
    let knee = match knee_height <= top {
        true => at(knee_height),
        false => {
            let start = view.above_ground(upper);
            upper.lerp(hip, ((knee_height - start) / (hips - start).max(1e-9)).clamp(0.0, 1.0))
        }
    };
    let aside = 0.5 * (view.aside(hip) + view.aside(ankle));
    let knee = aside_at_least(view, knee, limb.tip(), 0.7 * aside) + 0.008 * forward;
    let tip = limb.tip() - ankle;
    let toe = ankle + 0.55 * tip.dot(forward) * forward + 0.3 * tip.dot(view.left) * view.left;
    let toe = view.with_height(toe, 0.025 * hips + 0.005 * h);
    vec![hip, knee, ankle, toe]
}

/// How far hip joints are from the middle at least, also under a skirt: a share of half the width of the body there.
fn hip_width(view: &View, hips: f64) -> f64 {
    let at_hips = |p: &&DVec3| (view.above_ground(**p) - hips).abs() < 0.02 * view.height;
    let mut aside: Vec<f64> =
        view.shape.solid.points.iter().filter(at_hips).map(|p| view.aside(*p)).collect();
    aside.sort_by(f64::total_cmp);
    // Hands may hang beside the hips: they are few cells.
    aside.get(aside.len() * 3 / 4).map_or(0.0, |half| (0.5 * half).min(0.05))
}

/// The point moved away from the middle, to the side of `limb`, if it is nearer than this.
fn aside_at_least(view: &View, point: DVec3, limb: DVec3, least: f64) -> DVec3 {
    let side = view.plane.height(limb).signum();
    let missing = least - side * view.plane.height(point);
    point + missing.max(0.0) * side * view.left
}

/// Hips, spine, neck and head; the number of the chest.
fn add_trunk(view: &View, skeleton: &mut Skeleton, trunk: &Trunk) -> usize {
    let rest = trunk.top - trunk.shoulders;
    let middle = |above: f64| view.flat(trunk.slices.at(view.low + above));
    let pelvis = trunk.hips + 0.03 * view.height;
    let neck = trunk.neck - 0.06 * rest;
    let mut last = skeleton.add("hips", middle(pelvis), None);
    for (name, share) in [("spine.1", 0.2), ("spine.2", 0.42), ("chest", 0.68)] {
        last = skeleton.add(name, middle(pelvis + (neck - pelvis) * share), Some(last));
    }
    let chest = last;
    let neck = skeleton.add("neck", middle(neck), Some(chest));
    skeleton.add("head", middle(trunk.neck + 0.09 * rest), Some(neck));
    chest
}

fn mean(limbs: &[Limb; 2], f: impl Fn(&Limb) -> f64) -> f64 {
    0.5 * (f(&limbs[0]) + f(&limbs[1]))
}

fn slenderness(limbs: &[Limb; 2]) -> f64 {
    limbs[0].slenderness().min(limbs[1].slenderness())
}

fn judge(view: &View, legs: &[usize; 2], limbs: &[Limb; 2], trunk: &Trunk) -> Cost {
    let h = view.height;
    let mut cost = Cost::default();
    let feet = view.share_of_height(view.middle_of_tips(legs));
    cost.expect("feet are not on the ground", feet, [-1.0, 0.07], 0.08);
    let rise = |limb: &Limb| (limb.base() - limb.tip()).dot(view.up) / limb.length();
    cost.expect("legs do not rise", mean(limbs, rise), [0.55, 2.0], 0.25);
    cost.expect("not tall", h, [0.45, 2.0], 0.12);
    cost.expect("hips at an odd height", trunk.hips / h, [0.16, 0.6], 0.1);
    cost.expect("shoulders at an odd height", trunk.shoulders / h, [0.36, 0.9], 0.1);
    cost.expect("nothing above the shoulders", (trunk.top - trunk.shoulders) / h, [0.08, 0.64], 0.08);
    cost.expect("legs shorter than limbs are", view.persistence(legs), [0.09, 2.0], 0.06);
    cost.expect("legs as thick as long", slenderness(limbs), [1.8, 1e3], 0.8);
    let apart = (limbs[0].tip() - limbs[1].tip()).dot(view.left) / h;
    cost.expect("feet far apart", apart, [0.0, 0.65], 0.15);
    cost
}

fn judge_arms(
    view: &View,
    cost: &mut Cost,
    arms: &[usize; 2],
    limbs: &[Limb; 2],
    legs: &[Limb; 2],
    trunk: &Trunk,
) {
    let length = mean(limbs, |limb| limb.length()) / (trunk.shoulders - trunk.hips).max(0.02);
    cost.expect("arms of an odd length", length, [0.7, 3.5], 0.8);
    cost.expect("arms shorter than limbs are", view.persistence(arms), [0.1, 2.0], 0.05);
    cost.expect("arms as thick as long", slenderness(limbs), [2.0, 1e3], 0.8);
    let ahead = |limbs: &[Limb; 2]| 0.5 * (limbs[0].base() + limbs[1].base()).dot(view.forward);
    let above = (ahead(limbs) - ahead(legs)) / view.height;
    cost.expect("arms and legs not above each other", above, [-0.12, 0.15], 0.1);
    let thick = mean(limbs, |limb| limb.thickness()) / mean(legs, |limb| limb.thickness()).max(1e-6);
    cost.expect("arms much thinner or thicker than legs", thick.ln(), [-1.2, 0.7], 0.5);
}

/// Toes lead the shins.
fn judge_facing(view: &View, cost: &mut Cost, legs: &[Limb; 2], trunk: &Trunk) {
    let at = |leg: &Limb, share: f64| leg.at_height(view.low + share * trunk.hips, view.up);
    let lead = |leg: &Limb| {
        (leg.tip() - at(leg, 0.5)).dot(view.forward) + 0.5 * (at(leg, 0.1) - at(leg, 0.25)).dot(view.forward)
    };
    let lead = (lead(&legs[0]) + lead(&legs[1])) / trunk.hips.max(0.05);
    cost.add("toes point backwards", (0.25 - 2.0 * lead).clamp(0.0, 0.5));
}

/// A tail, and whatever else sticks out.
fn add_rest(
    view: &View,
    skeleton: &mut Skeleton,
    cost: &mut Cost,
    notes: &mut Vec<String>,
    used: &[&[usize; 2]],
) {
    let hips = skeleton.joints[0].position;
    let head = skeleton.joints.iter().find(|joint| joint.name == "head").map_or(hips, |joint| joint.position);
    let head_height = view.above_ground(head);
    for tip in view.singles.iter().copied() {
        let point = view.tip(tip).point;
        let is_central = view.aside(point) < 0.06;
        let is_on_head = view.way(tip, head) < view.way(tip, hips);
        if is_central && is_on_head && view.ahead(head) - view.ahead(point) > 0.08 {
            cost.add("a nose at the back of the head", 0.2);
        }
        if view.above_ground(point) > head_height && view.aside(point) < 0.1 {
            continue;
        }
        let limb = view.limb(tip, 0.06);
        let is_tail = view.ahead(point) < view.ahead(hips) - 0.06
            && view.aside(point) < 0.06
            && !is_on_head
            && view.above_ground(limb.base()) < head_height
            && view.above_ground(limb.base()) > 0.1 * view.height;
        if is_tail {
            extras::add_tail(view, skeleton, &limb, 0);
            cost.add("a tail", 0.1 + 0.3 * unexplained(view, tip));
            notes.push("tail: the limb behind the hips".to_owned());
        } else {
            let pairs: Vec<[usize; 2]> = used.iter().map(|pair| **pair).collect();
            let share = match extras::classify(view, skeleton, tip, &pairs) {
                Leftover::OnHead => 0.1,
                Leftover::OnLimb => 0.2,
                Leftover::Unknown => 1.0,
            };
            cost.add("a limb without meaning", share * unexplained(view, tip));
        }
    }
    let used: Vec<[usize; 2]> = used.iter().map(|pair| **pair).collect();
    let mut unknown = Vec::new();
    for pair in view.pairs.iter().filter(|pair| !used.contains(pair)) {
        let share = match extras::classify(view, skeleton, pair[0], &used) {
            Leftover::OnHead => 0.15,
            Leftover::OnLimb => 0.1,
            Leftover::Unknown => {
                unknown.push(*pair);
                1.0
            }
        };
        cost.add(
            "a pair of limbs without meaning",
            share * (unexplained(view, pair[0]) + unexplained(view, pair[1])),
        );
    }
    extras::add_pairs(view, skeleton, &unknown, notes);
}
