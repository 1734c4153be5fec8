//! Fish, snakes and worms: a chain from end to end, with fins.

use super::{Cost, Proposal, extras, unexplained};
use crate::{limb::SECTION_STEP, skeleton::Skeleton, view::View};
use glam::DVec3;
use sinew_geom::body_map::BodyClass;

/// A chain between the two ends that are farthest apart.
pub(super) fn propose(view: &View) -> Option<Proposal> {
    let far = |a: usize, b: usize| f64::from(view.profile(a).distance[view.tip(b).cell]);
    let along = |direction| view.shape.outermost_along(&view.plane, direction);
    let mut ends: Vec<usize> = (0..view.shape.tips.len()).collect();
    ends.extend(along(view.forward));
    ends.extend(along(-view.forward));
    let ends = ends.iter().flat_map(|&a| ends.iter().map(move |&b| (a, b))).filter(|(a, b)| a != b);
    let on_plane = |tip: usize| view.aside(view.tip(tip).point) < 0.06;
    let is_symmetric = view.plane.error < 0.01;
    let ends = ends.filter(|&(a, b)| !is_symmetric || (on_plane(a) && on_plane(b)));
    let (head, tail) = ends
        .filter(|&(a, b)| view.ahead(view.tip(a).point) >= view.ahead(view.tip(b).point))
        .max_by(|&(a, b), &(c, d)| far(a, b).total_cmp(&far(c, d)))?;
    let length = far(head, tail);
    let profile = view.profile(head);
    let n_joints = (length / 0.13).round().clamp(4.0, 10.0) as usize;
    let mut points: Vec<DVec3> =
        (0..n_joints).map(|k| profile.at(length * (k as f64 + 0.5) / n_joints as f64)).collect();
    if is_symmetric && points.iter().all(|p| view.aside(*p) < 0.03) {
        points.iter_mut().for_each(|p| *p = view.flat(*p));
    }
    let mut skeleton = Skeleton::default();
    add_body(&mut skeleton, &points);
    let mut cost = judge(view, length, profile);
    let axis = (view.tip(head).point - view.tip(tail).point).normalize_or_zero();
    cost.expect("body not along the way it faces", axis.dot(view.forward), [0.5, 1.0], 0.2);
    let mut notes = vec!["body: a chain between the two ends that are farthest apart".to_owned()];
    add_fins(view, &mut skeleton, &mut cost, &mut notes);
    // Jaws, tongues and lobes of a tail fin are part of their end.
    let is_at_end = |tip: usize| far(head, tip).min(far(tail, tip)) < 0.25;
    for &tip in view.singles.iter().filter(|&&tip| !is_at_end(tip)) {
        cost.add("a limb without meaning", 0.25 * unexplained(view, tip));
        extras::add_single(view, &mut skeleton, tip, &format!("fin_{tip}"));
    }
    judge_facing(&mut cost, view, profile, length);
    // Anything longer than wide looks like a fish; only a slender chain is surely one.
    let most_confidence = if slenderness(profile, length) > 7.0 { 0.9 } else { 0.45 };
    Some(Proposal { class: BodyClass::Swimmer, skeleton, cost, most_confidence, notes })
}

/// Root near the middle of the body, the head in front of it, the tail behind.
fn add_body(skeleton: &mut Skeleton, points: &[DVec3]) {
    let root = points.len() / 3;
    let mut last = skeleton.add("root", points[root], None);
    for (k, &point) in points[..root].iter().rev().enumerate() {
        let name = if k + 1 == root { "head".to_owned() } else { format!("spine.{}", k + 1) };
        last = skeleton.add(name, point, Some(last));
    }
    last = 0;
    for (k, &point) in points[root + 1..].iter().enumerate() {
        last = skeleton.add(format!("tail.{}", k + 1), point, Some(last));
    }
}

fn add_fins(view: &View, skeleton: &mut Skeleton, cost: &mut Cost, notes: &mut Vec<String>) {
    for (k, pair) in view.pairs.iter().enumerate() {
        let limbs = view.limbs(pair, 0.05);
        let n = (limbs[0].length() / 0.1).round().clamp(1.0, 3.0) as usize;
        let sides = limbs.map(|limb| limb.corners(n).into_iter().map(|s| limb.at(s)).collect::<Vec<DVec3>>());
        let n = sides[0].len().min(sides[1].len());
        let parent = skeleton.nearest_central(view.flat(0.5 * (sides[0][0] + sides[1][0])));
        let stem = if k == 0 { "fin".to_owned() } else { format!("fin_{}", k + 1) };
        skeleton.add_pair(view, &Skeleton::chain_names(&stem, n), sides, parent);
        cost.add(
            "long fins",
            if k == 0 { 0.15 } else { 0.4 } * (unexplained(view, pair[0]) + unexplained(view, pair[1])),
        );
        notes.push(format!("{stem}: a pair beside the body"));
    }
}

fn judge(view: &View, length: f64, profile: &crate::limb::Profile) -> Cost {
    let mut cost = Cost::default();
    cost.add("less common than bodies with limbs", 0.2);
    let slender = slenderness(profile, length);
    cost.expect("not slender", slender, [3.0, 1e3], 1.0);
    if slender < 6.0 && !view.pairs.iter().any(|pair| view.persistence(pair) > 0.08) {
        cost.add("neither fins nor the shape of a snake", 1.2);
    }
    if slender < 6.0 {
        let stands = |pair: &&[usize; 2]| view.share_of_height(view.middle_of_tips(pair)) < 0.1;
        cost.add(
            "stands on its fins",
            0.9 * f64::from(u8::from(view.pairs.iter().any(|pair| stands(&pair)))),
        );
        cost.expect("no tail", narrowest_behind(profile, length), [0.0, 0.55], 0.15);
    }
    cost.expect("not the length of the body", length, [0.5, 1e3], 0.15);
    let is_low = view.height < 0.6 || slender > 6.0;
    cost.add("stands upright", if is_low { 0.0 } else { 0.5 });
    cost
}

/// The head is the thicker end.
fn judge_facing(cost: &mut Cost, _view: &View, profile: &crate::limb::Profile, length: f64) {
    let n = ((length / SECTION_STEP) as usize).min(profile.radius.len()).max(4);
    let mean = |range: &[f64]| range.iter().sum::<f64>() / range.len().max(1) as f64;
    let r = &profile.radius[..n.min(profile.radius.len())];
    let (front, back) = (mean(&r[..r.len() / 3]), mean(&r[r.len() - r.len() / 3..]));
    cost.add("faces backwards", (0.2 + (back - front) / (front + back).max(1e-9)).clamp(0.0, 0.4));
}

/// Least radius of the last third, without its end, as a share of the greatest of all.
fn narrowest_behind(profile: &crate::limb::Profile, length: f64) -> f64 {
    let n = ((length / SECTION_STEP) as usize).min(profile.radius.len());
    let r = &profile.radius[..n];
    let least = r[n * 65 / 100..n * 95 / 100].iter().copied().fold(f64::MAX, f64::min);
    least / r.iter().copied().fold(1e-6, f64::max)
}

/// Length over thickness of the chain.
fn slenderness(profile: &crate::limb::Profile, length: f64) -> f64 {
    let n = ((length / SECTION_STEP) as usize).min(profile.radius.len());
    let mut radii = profile.radius[..n].to_vec();
    radii.sort_by(f64::total_cmp);
    radii.get(n / 2).map_or(0.0, |thick| length / (2.0 * thick.max(1e-6)))
}
