//! Bodies with a spine along the ground: animals on four legs, dinosaurs on two, birds.

use super::{
    Cost, Proposal,
    extras::{self, Leftover},
    legs::{LegKind, Torso, place_leg},
    unexplained,
};
use crate::{limb::Limb, skeleton::Skeleton, view::View};
use glam::DVec3;
use sinew_geom::body_map::BodyClass;

/// Names of the joints of legs.
const FRONT: [&str; 5] = ["shoulder", "front_leg", "front_shin", "front_foot", "front_toe"];
const HIND: [&str; 5] = ["hind_leg", "hind_shin", "hind_hock", "hind_foot", "hind_toe"];
const ONLY: [&str; 5] = ["thigh", "shin", "ankle", "foot", "toe"];

/// Two pairs of legs, one in front of the other.
pub(super) fn propose_quadruped(view: &View) -> Vec<Proposal> {
    let is_leg = |pair: &&[usize; 2]| {
        view.persistence(pair) > 0.05 && view.share_of_height(view.middle_of_tips(pair)) < 0.45
    };
    let legs: Vec<&[usize; 2]> = view.pairs.iter().filter(is_leg).collect();
    let mut proposals = Vec::new();
    for front in &legs {
        for hind in &legs {
            if front != hind && view.ahead_of(front, hind) > 0.08 {
                proposals.extend(build(view, BodyClass::Quadruped, &[**front, **hind], None));
            }
        }
    }
    proposals
}

/// One pair of legs under a body that reaches far in front and behind.
pub(super) fn propose_biped(view: &View) -> Vec<Proposal> {
    let is_leg = |pair: &&[usize; 2]| {
        view.persistence(pair) > 0.07 && view.share_of_height(view.middle_of_tips(pair)) < 0.3
    };
    let legs = view.pairs.iter().filter(is_leg);
    legs.filter_map(|legs| build(view, BodyClass::HorizontalBiped, &[*legs], None)).collect()
}

/// One pair of legs, and one of wings.
pub(super) fn propose_bird(view: &View) -> Vec<Proposal> {
    let long = |pair: &&[usize; 2]| view.persistence(pair) > 0.07;
    let mut proposals = Vec::new();
    for legs in view.pairs.iter().filter(|legs| view.share_of_height(view.middle_of_tips(legs)) < 0.3) {
        for wings in view.pairs.iter().filter(long).filter(|wings| *wings != legs) {
            proposals.extend(build(view, BodyClass::Bird, &[*legs], Some(*wings)));
        }
    }
    proposals
}

/// Tips of head and tail.
struct Ends {
    head: Option<usize>,
    tail: Option<usize>,
}

fn find_ends(view: &View) -> Ends {
    let ahead = |tip: &usize| view.ahead(view.tip(*tip).point);
    let order = |a: &usize, b: &usize| ahead(a).total_cmp(&ahead(b));
    let head = view.central().max_by(order).filter(|tip| ahead(tip) > 0.08);
    let tail = view.central().min_by(order).filter(|tip| ahead(tip) < -0.08 && Some(*tip) != head);
    // Muzzles below antlers and trunks do not stick out: then the foremost place on the plane of symmetry is the nose.
    let is_high = |tip: &usize| ahead(tip) > 0.1 && view.share_of_height(view.tip(*tip).point) > 0.3;
    let nose = || view.shape.outermost_along(&view.plane, view.forward).filter(is_high);
    Ends { head: head.or_else(nose), tail }
}

fn build(view: &View, class: BodyClass, legs: &[[usize; 2]], wings: Option<[usize; 2]>) -> Option<Proposal> {
    let ends = find_ends(view);
    let limbs: Vec<[Limb; 2]> = legs.iter().map(|pair| legs_of(view, pair)).collect();
    let tail = ends.tail.map(|tip| view.limb(tip, 0.06));
    let torso = Torso::measure(view, tail.as_ref())?;
    let rump = find_rump(view, &torso, &limbs[limbs.len() - 1], tail.as_ref());
    let kind = |k: usize| match (legs.len(), k) {
        (1, _) => LegKind::Only,
        (_, 0) => LegKind::Front,
        _ => LegKind::Hind,
    };
    let mut placed: Vec<[Vec<DVec3>; 2]> = limbs
        .iter()
        .enumerate()
        .map(|(k, pair)| [0, 1].map(|side| place_leg(view, &torso, &pair[side], kind(k), rump)))
        .collect();
    // However the legs swing, what they hang on is symmetric.
    for (k, [left, right]) in placed.iter_mut().enumerate() {
        let n = if kind(k) == LegKind::Front { 2 } else { 1 };
        for (a, b) in left.iter_mut().zip(right).take(n) {
            *a = 0.5 * (*a + view.plane.mirror(*b));
            *b = view.plane.mirror(*a);
        }
    }
    let along =
        |joint: usize, pair: &[Vec<DVec3>; 2]| 0.5 * (pair[0][joint] + pair[1][joint]).dot(view.forward);
    let hips = along(0, &placed[placed.len() - 1]);
    let head_limb = ends.head.map(|tip| view.limb(tip, 0.1));
    let shoulders = match legs.len() {
        1 => hips + 0.5 * (head_limb.map_or(torso.range()[1], |head| head.base().dot(view.forward)) - hips),
        _ => along(1, &placed[0]),
    };
    let mut skeleton = Skeleton::default();
    let mut last = skeleton.add("hips", torso.spine(view, hips), None);
    for (name, share) in [("spine.1", 0.33), ("spine.2", 0.68), ("chest", 1.0)] {
        last = skeleton.add(name, torso.spine(view, hips + (shoulders - hips) * share), Some(last));
    }
    let chest = last;
    if let (Some(tip), Some(head)) = (ends.head, head_limb) {
        add_neck(view, &mut skeleton, tip, &head, chest);
    }
    if let Some(tail) = &tail {
        extras::add_tail(view, &mut skeleton, tail, 0);
    }
    for (k, sides) in placed.iter().enumerate() {
        let (names, parent) = match kind(k) {
            LegKind::Front => (FRONT, chest),
            LegKind::Hind => (HIND, 0),
            LegKind::Only => (ONLY, 0),
        };
        skeleton.add_pair(view, &names, sides.clone(), parent);
    }
    let mut cost = judge(view, class, legs, &limbs, &ends, &torso);
    judge_facing(view, &mut cost, &limbs, &ends);
    let mut notes = describe(view, class, &ends);
    let rest: Vec<[usize; 2]> =
        view.pairs.iter().filter(|pair| !legs.contains(pair) && Some(**pair) != wings).copied().collect();
    if let Some(wings) = wings {
        add_wings(view, &mut skeleton, &wings, chest);
        judge_wings(view, &mut cost, &wings, &limbs[0]);
        notes.push("wings: the pair that reaches far to both sides".to_owned());
    }
    let mut used: Vec<[usize; 2]> = legs.to_vec();
    used.extend(wings);
    let rest = judge_rest(view, &mut cost, &rest, &ends, &skeleton, &used);
    extras::add_pairs(view, &mut skeleton, &rest, &mut notes);
    Some(Proposal { class, skeleton, cost, most_confidence: 0.98, notes })
}

/// Both legs of a pair.
fn legs_of<'a>(view: &View<'a>, pair: &[usize; 2]) -> [Limb<'a>; 2] {
    let limbs = view.limbs(pair, 0.1);
    if limbs.iter().any(|limb| limb.is_found) {
        return limbs;
    }
    // How far the farther tip of two sticks out is no length: it persists until the whole body ends.
    let end = pair.map(|tip| view.limb(tip, 0.1).end).into_iter().min().unwrap_or(0);
    limbs.map(|limb| limb.extended(end))
}

fn describe(view: &View, class: BodyClass, ends: &Ends) -> Vec<String> {
    let legs = match class {
        BodyClass::Quadruped => "front and hind legs: the two pairs that stand on the ground",
        _ => "legs: the pair that stands on the ground",
    };
    let mut notes = vec![legs.to_owned()];
    let height = |tip: usize| 100.0 * view.share_of_height(view.tip(tip).point);
    match ends.head {
        Some(tip) => notes.push(format!("head: the end in front, at {:.0} % of the height", height(tip))),
        None => notes.push("head: not found".to_owned()),
    }
    if let Some(tip) = ends.tail {
        notes.push(format!("tail: the end behind, at {:.0} % of the height", height(tip)));
    }
    notes
}

/// Position along the body where it ends behind, without the tail.
fn find_rump(view: &View, torso: &Torso, hind: &[Limb; 2], tail: Option<&Limb>) -> f64 {
    let at = |limb: &Limb| limb.at_height(view.low + 0.25 * view.height, view.up).dot(view.forward);
    let leg = at(&hind[0]).min(at(&hind[1]));
    let rump = match tail.filter(|tail| tail.is_found) {
        Some(tail) => tail.base().dot(view.forward),
        None => torso.range()[0].max(leg - 0.03),
    };
    rump.clamp(leg - 0.16, leg + 0.12)
}

/// Neck and head, on the way from the chest to the tip of the nose.
fn add_neck(view: &View, skeleton: &mut Skeleton, tip: usize, limb: &Limb, chest: usize) {
    let from = skeleton.joints[chest].position;
    let profile = view.profile(tip);
    let total = f64::from(profile.distance[view.shape.solid.nearest(from)]);
    let narrow = Limb {
        profile,
        end: ((total / crate::limb::SECTION_STEP) as usize).min(profile.n_sections() - 1),
        is_found: true,
    };
    let back = (narrow.thinnest(0.3, 0.72).unwrap_or(0.48 * total) - 0.02).clamp(0.3 * total, 0.62 * total);
    let limit = if limb.is_found { limb.length() } else { 0.8 * total };
    let head = view.flat(profile.at(back)) - 0.01 * view.forward;
    let n = match total - back {
        long if long > 0.16 => 3,
        long if long > 0.1 => 2,
        _ => 1,
    };
    let mut points = Vec::new();
    for k in 0..n {
        let t = if n > 1 { (k as f64 + 0.6) / (n as f64 + 0.3) } else { 0.5 };
        let distance = total - (total - back) * t;
        let line = from.lerp(head, t);
        // On the straight line, halfway to the middle of the section where that belongs to the neck.
        let point = if distance < limit { line.lerp(view.flat(profile.at(distance)), 0.5) } else { line };
        // Necks begin low in front of the chest.
        points.push(if k == 0 { point - 0.012 * view.up + 0.008 * view.forward } else { point });
    }
    let last = skeleton.add_chain("neck", &points, Some(chest));
    skeleton.add("head", head, last);
}

fn add_wings(view: &View, skeleton: &mut Skeleton, wings: &[usize; 2], chest: usize) {
    let place = |limb: Limb| -> Vec<DVec3> { limb.corners(3).into_iter().map(|s| limb.at(s)).collect() };
    let sides = view.limbs(wings, 0.08).map(place);
    let n = sides[0].len().min(sides[1].len());
    skeleton.add_pair(view, &Skeleton::chain_names("wing", n), sides, chest);
}

fn judge_wings(view: &View, cost: &mut Cost, wings: &[usize; 2], legs: &[Limb; 2]) {
    let [left, right] = view.limbs(wings, 0.08);
    let span = (left.tip() - right.tip()).dot(view.left);
    cost.expect("wings that do not spread", span, [0.45, 1.0], 0.12);
    let reach = left.length() / legs[0].length().max(0.02);
    cost.expect("wings no longer than legs", reach, [1.3, 20.0], 0.4);
    cost.add("birds are rare", 0.3);
}

fn judge(
    view: &View,
    class: BodyClass,
    legs: &[[usize; 2]],
    limbs: &[[Limb; 2]],
    ends: &Ends,
    torso: &Torso,
) -> Cost {
    let mut cost = Cost::default();
    for (pair, limbs) in legs.iter().zip(limbs) {
        cost.expect("feet are not on the ground", view.lower_tip(pair), [-1.0, 0.09], 0.1);
        let rise =
            |limb: &Limb| (limb.base() - limb.tip()).dot(view.up) / limb.length() * limb.fold().min(2.0);
        cost.expect("legs do not rise", 0.5 * (rise(&limbs[0]) + rise(&limbs[1])), [0.3, 3.0], 0.3);
        let slender = limbs[0].slenderness().min(limbs[1].slenderness());
        cost.expect("legs as thick as long", slender, [2.2, 1e3], 0.8);
        if limbs.iter().all(|limb| !limb.is_found) {
            cost.add("legs that merge into the body", 0.3);
        }
        let along = 0.5 * (limbs[0].base() + limbs[1].base()).dot(view.forward);
        let deep = (torso.back(along) - torso.belly(along)) / limbs[0].length();
        cost.expect("no body above the legs", deep, [0.25, 1e3], 0.1);
        let shortest = if class == BodyClass::Bird { 0.06 } else { 0.09 };
        cost.expect("legs shorter than limbs are", view.persistence(pair), [shortest, 2.0], 0.04);
    }
    let head = ends.head.map_or(0.0, |tip| view.ahead(view.tip(tip).point));
    let tail = ends.tail.map_or(0.0, |tip| -view.ahead(view.tip(tip).point));
    if class == BodyClass::Quadruped {
        let apart = view.ahead_of(&legs[0], &legs[1]);
        cost.expect("front and hind legs close together", apart, [0.18, 2.0], 0.07);
        let length = |pair: &[Limb; 2]| 0.5 * (pair[0].length() + pair[1].length());
        cost.expect("legs of unlike length", (length(&limbs[0]) / length(&limbs[1])).ln(), [-0.7, 0.7], 0.4);
        cost.expect("flat on the ground", view.height, [0.24, 2.0], 0.08);
        cost.expect("no head in front", head, [0.12, 2.0], 0.15);
    } else {
        let reach = if class == BodyClass::Bird { 0.12 } else { 0.2 };
        cost.expect("no head in front", head, [reach, 2.0], 0.08);
        cost.expect("no tail behind", tail, [reach, 2.0], 0.08);
        let [start, end] = torso.range();
        cost.expect("body not along the ground", (end - start) / view.height, [0.75, 20.0], 0.2);
        cost.add("less common than standing upright", 0.1);
    }
    cost
}

/// Heads are thicker and higher than tails, and toes point forward.
fn judge_facing(view: &View, cost: &mut Cost, limbs: &[[Limb; 2]], ends: &Ends) {
    let mut vote = 0.0;
    for (end, sign) in [(ends.head, 1.0), (ends.tail, -1.0)] {
        let Some(tip) = end else { continue };
        let limb = view.limb(tip, 0.06);
        vote += sign * (4.0 * limb.thickness() + 0.5 * view.share_of_height(limb.tip()));
    }
    if let (Some(head), Some(tail)) = (ends.head, ends.tail) {
        let [head, tail] = [head, tail].map(|tip| view.limb(tip, 0.06));
        let n = head.end.min(tail.end);
        vote += (head.volume(n) / tail.volume(n).max(1e-9)).ln().clamp(-1.5, 1.5);
    }
    // Beyond where the shin points: legs that walk are slanted.
    let lead = |limb: &Limb| {
        let [shin, ankle] = [0.35, 0.12].map(|h| limb.at_height(view.low + h * view.height, view.up));
        let drop = |from: DVec3, to: DVec3| (from - to).dot(view.up);
        let slant = (ankle - shin).dot(view.forward) / drop(shin, ankle).max(0.1 * view.height);
        (limb.tip() - ankle).dot(view.forward) - slant * drop(ankle, limb.tip()).max(0.0)
    };
    let stands = |limb: &&Limb| view.share_of_height(limb.tip()) < 0.12;
    let toes: f64 = limbs.iter().flatten().filter(stands).map(lead).sum();
    vote += 6.0 * toes.clamp(-0.2, 0.2);
    cost.add("faces backwards", (0.25 - 0.5 * vote).clamp(0.0, 0.8));
}

/// Tips without meaning cost; ears, horns, fingers and toes cost little. Pairs that need joints of their own.
fn judge_rest(
    view: &View,
    cost: &mut Cost,
    pairs: &[[usize; 2]],
    ends: &Ends,
    skeleton: &Skeleton,
    used: &[[usize; 2]],
) -> Vec<[usize; 2]> {
    let mut unknown = Vec::new();
    for pair in pairs {
        let share = match extras::classify(view, skeleton, pair[0], used) {
            Leftover::OnHead => 0.05,
            Leftover::OnLimb => 0.1,
            Leftover::Unknown => {
                unknown.push(*pair);
                // Small arms in front of the legs of a theropod.
                if used.len() == 1 && view.ahead(view.middle_of_tips(pair)) > 0.0 { 0.4 } else { 1.0 }
            }
        };
        cost.add(
            "a pair of limbs without meaning",
            share * (unexplained(view, pair[0]) + unexplained(view, pair[1])),
        );
    }
    for &tip in view.singles.iter().filter(|&&tip| Some(tip) != ends.head && Some(tip) != ends.tail) {
        let share = match extras::classify(view, skeleton, tip, used) {
            Leftover::OnHead => 0.1,
            Leftover::OnLimb => 0.2,
            Leftover::Unknown => 1.0,
        };
        cost.add("a limb without meaning", share * unexplained(view, tip));
    }
    unknown
}
