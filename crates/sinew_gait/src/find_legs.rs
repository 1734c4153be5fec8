//! Which joints are legs.
//!
//! Bodies of a known plan have legs by name. Of others, a leg is whatever stands on the ground, up to where it meets something
//! else that does.

use crate::{base::Base, leg::Leg, sole::Sole};
use glam::DVec3;
use sinew_geom::{
    body_map::{BodyClass, Part},
    rig::Side,
};

/// Height above its lowest point, as a share of the body's, up to which a surface stands on the ground.
const MAX_STANDING_HEIGHT: f64 = 0.04;
/// Height above the ground, as a share of the leg's, below which a joint is that of a foot, and stays level.
const FOOT: f64 = 0.22;
/// Bends below this, in radians, say nothing about the direction in which a joint is made to bend.
const STRAIGHT: f64 = 0.12;
/// Points of the end of a leg that are looked at.
const MAX_POINTS: usize = 2000;

/// Joints of a leg from the hip to what stands on the ground.
struct Path {
    joints: Vec<usize>,
    is_right: bool,
    is_front: bool,
}

/// The legs of a body, sorted from front to back, left before right. Moves the body's origin between them, on the ground.
pub(crate) fn find_legs(base: &mut Base) -> Vec<Leg> {
    let paths = match base.map.class {
        BodyClass::Biped | BodyClass::HorizontalBiped | BodyClass::Bird => by_parts(base, false),
        BodyClass::Quadruped => by_parts(base, true),
        _ => Vec::new(),
    };
    let paths = if paths.len() < 2 { by_ground(base) } else { paths };
    if paths.len() < 2 {
        return Vec::new();
    }
    let mean = |points: &mut dyn Iterator<Item = DVec3>| {
        let all: Vec<DVec3> = points.collect();
        all.iter().sum::<DVec3>() / all.len() as f64
    };
    let hips = mean(&mut paths.iter().map(|path| base.places[path.joints[0]]));
    let floor = mean(&mut paths.iter().map(|path| DVec3::Y * lowest(base, path.joints[0])));
    base.set_origin(DVec3 { y: floor.y, ..hips });
    let mut legs: Vec<Leg> = paths.iter().filter_map(|path| build(base, path)).collect();
    let ahead = |leg: &Leg| leg.points[0].z + 0.5 * leg.tip.z;
    legs.sort_by(|a, b| a.is_right.cmp(&b.is_right).then(ahead(b).total_cmp(&ahead(a))));
    stand(base, &mut legs);
    legs
}

/// Height of the lowest point that hangs on a joint.
fn lowest(base: &Base, joint: usize) -> f64 {
    let below = base.below(joint);
    let on_surface = base.surface.iter().filter(|(_, k)| below[*k]).map(|(p, _)| p.y);
    let low = on_surface.fold(f64::INFINITY, f64::min);
    let joints =
        (0..below.len()).filter(|&k| below[k]).map(|k| base.places[k].y).fold(f64::INFINITY, f64::min);
    if low.is_finite() { low } else { joints }
}

fn by_parts(base: &Base, with_arms: bool) -> Vec<Path> {
    let mut paths = Vec::new();
    for side in [Side::Left, Side::Right] {
        let roots = [(Part::UpperArm, true), (Part::Thigh, false)];
        for (part, is_front) in roots.into_iter().filter(|(_, is_front)| with_arms || !is_front) {
            let Some(root) = base.map.find(part, side) else { continue };
            let joints = path_down(base, root);
            paths.push(Path { joints, is_right: side == Side::Right, is_front });
        }
    }
    paths
}

/// From a joint down to the one that moves most of what stands on the ground, or to the lowest. A joint that is named a foot
/// is on the way.
fn path_down(base: &Base, root: usize) -> Vec<usize> {
    let below = base.below(root);
    let side = base.map.joints[root].side;
    let is_foot = |k: &usize| {
        let meaning = &base.map.joints[*k];
        matches!(meaning.part, Part::Foot | Part::Hand) && meaning.side == side && below[*k]
    };
    let has_surface =
        |part: &Vec<bool>| base.surface.is_empty() || base.surface.iter().any(|(_, k)| part[*k]);
    let foot = (0..below.len()).find(is_foot).map(|foot| base.below(foot)).filter(has_surface);
    let below = foot.unwrap_or(below);
    let limit = lowest(base, root) + MAX_STANDING_HEIGHT * base.height();
    let mut counts = vec![0usize; below.len()];
    for (_, k) in base.surface.iter().filter(|(p, k)| below[*k] && p.y < limit) {
        counts[*k] += 1;
    }
    let joints = || (0..below.len()).filter(|&k| below[k]);
    let most = joints().map(|k| counts[k]).max().unwrap_or(0);
    let depth = |k: usize| path_to(base, root, k).len();
    let most = joints().filter(|&k| most > 0 && 4 * counts[k] >= most).max_by_key(|&k| depth(k));
    let low = joints().min_by(|&a, &b| base.places[a].y.total_cmp(&base.places[b].y));
    path_to(base, root, most.or(low).unwrap_or(root))
}

fn path_to(base: &Base, root: usize, end: usize) -> Vec<usize> {
    let mut path = vec![end];
    while let Some(on) = base.hangs_on[path[path.len() - 1]].filter(|_| path[path.len() - 1] != root) {
        path.push(on);
    }
    path.reverse();
    path
}

/// Legs of a body of no known plan: what stands on the ground.
fn by_ground(base: &Base) -> Vec<Path> {
    let floor = base.surface.iter().map(|(p, _)| p.y).fold(f64::INFINITY, f64::min);
    let limit = floor + MAX_STANDING_HEIGHT * base.height();
    let n = base.hangs_on.len();
    let mut stands = vec![false; n];
    base.surface.iter().filter(|(p, _)| p.y < limit).for_each(|(_, k)| stands[*k] = true);
    if base.surface.is_empty() {
        let low = |k: usize| {
            lowest(base, k)
                < base.places.iter().map(|p| p.y).fold(f64::INFINITY, f64::min)
                    + MAX_STANDING_HEIGHT * base.height()
        };
        (0..n).for_each(|k| stands[k] = low(k) && !(0..n).any(|c| base.hangs_on[c] == Some(k)));
    }
    let can_be = |k: usize| {
        !matches!(
            base.map.joints[k].part,
            Part::Root
                | Part::Hips
                | Part::Spine
                | Part::Chest
                | Part::Neck
                | Part::Head
                | Part::Face
                | Part::Tail
                | Part::Wing
        )
    };
    // The lowest joint of each chain that stands.
    let ends: Vec<usize> = (0..n)
        .filter(|&k| stands[k] && can_be(k))
        .filter(|&k| {
            let below = base.below(k);
            !(0..n).any(|c| c != k && stands[c] && below[c])
        })
        .collect();
    let count = |joint: usize| {
        let below = base.below(joint);
        ends.iter().filter(|&&end| below[end]).count()
    };
    let mut paths: Vec<Path> = Vec::new();
    for &end in &ends {
        let mut root = end;
        while let Some(on) = base.hangs_on[root].filter(|&on| can_be(on) && count(on) == 1) {
            root = on;
        }
        let joints = path_down(base, root);
        let is_right = base.places[root].x + base.places[end].x < 0.0;
        if joints.len() >= 2 {
            paths.push(Path { joints, is_right, is_front: false });
        }
    }
    paths
}

fn build(base: &Base, path: &Path) -> Option<Leg> {
    let at = |k: usize| base.places[k];
    let root = path.joints[0];
    let floor = lowest(base, root);
    let high = at(root).y - floor;
    if high <= 0.0 {
        return None;
    }
    let is_low = |k: usize| at(k).y - floor < FOOT * high;
    let foot_at = (2..path.joints.len()).find(|&m| is_low(path.joints[m]));
    let chain: Vec<usize> = path.joints[..foot_at.unwrap_or(path.joints.len())].to_vec();
    // Joints on the same spot fold nothing.
    let mut joints: Vec<usize> = Vec::new();
    for k in chain {
        if joints.last().is_none_or(|&last| at(last).distance(at(k)) > 1e-3 * high) {
            joints.push(k);
        }
    }
    let foot = foot_at.map(|m| path.joints[m]);
    let end = foot.unwrap_or(joints[joints.len() - 1]);
    let below = base.below(end);
    let mut surface: Vec<(DVec3, usize)> = base.surface.iter().filter(|(_, k)| below[*k]).copied().collect();
    if surface.is_empty() {
        surface = (0..below.len()).filter(|&k| below[k]).map(|k| (at(k), k)).collect();
    }
    surface.sort_by(|a, b| a.0.y.total_cmp(&b.0.y));
    let low = surface.first().map_or(floor, |(p, _)| p.y);
    let standing: Vec<DVec3> =
        surface.iter().map(|(p, _)| *p).take_while(|p| p.y < low + MAX_STANDING_HEIGHT * high).collect();
    let middle = standing.iter().sum::<DVec3>() / standing.len().max(1) as f64;
    let tip = foot.map_or(DVec3 { y: low, ..middle }, at);
    let toes: Vec<usize> = foot.map_or(Vec::new(), |foot| toes(base, foot, high));
    let ahead = foot.map_or(DVec3::Z, |foot| heading(at(foot), &surface, high));
    let points: Vec<DVec3> = surface.iter().map(|(p, _)| *p).collect();
    let pivot = (!toes.is_empty()).then(|| toes.iter().map(|&k| at(k)).sum::<DVec3>() / toes.len() as f64);
    let sole = Sole::new(&points, ahead, pivot);
    let surface = near_ground(base, &joints, foot, &toes, low + 0.5 * high);
    let places: Vec<DVec3> = joints.iter().map(|&k| at(k)).collect();
    let is_sagittal = matches!(
        base.map.class,
        BodyClass::Biped | BodyClass::Quadruped | BodyClass::HorizontalBiped | BodyClass::Bird
    );
    let axis = axis(&places, tip, is_sagittal);
    let bends = bends(base, &joints, &places, tip, axis, path, is_sagittal);
    Some(Leg {
        chain: joints,
        foot,
        toes,
        points: places,
        tip,
        axis,
        bends,
        sole,
        surface,
        is_right: path.is_right,
        is_front: path.is_front,
        phase: 0.0,
        shift: DVec3::ZERO,
    })
}

/// The lowest points of the surface of a leg, each with the joint of the leg that it moves with.
fn near_ground(
    base: &Base,
    chain: &[usize],
    foot: Option<usize>,
    toes: &[usize],
    limit: f64,
) -> Vec<(DVec3, usize)> {
    let is_ours = |k: usize| chain.contains(&k) || foot == Some(k) || toes.contains(&k);
    let mover = |joint: usize| {
        let mut at = Some(joint);
        while let Some(k) = at.filter(|&k| !is_ours(k)) {
            at = base.hangs_on[k];
        }
        at
    };
    let movers: Vec<Option<usize>> = (0..base.hangs_on.len()).map(mover).collect();
    let low = base.surface.iter().filter(|(p, _)| p.y < limit);
    let mut points: Vec<(DVec3, usize)> = low.filter_map(|(p, k)| Some((*p, movers[*k]?))).collect();
    points.sort_by(|a, b| a.0.y.total_cmp(&b.0.y));
    points.truncate(MAX_POINTS);
    points
}

/// Joints of the toes of a foot, ahead of it and near the ground.
fn toes(base: &Base, foot: usize, high: f64) -> Vec<usize> {
    let at = base.places[foot];
    let is_toe = |&k: &usize| {
        let away = base.places[k] - at;
        base.hangs_on[k] == Some(foot) && away.y < 0.0 && (DVec3 { y: 0.0, ..away }).length() > 0.06 * high
    };
    (0..base.places.len()).filter(is_toe).collect()
}

/// Where a foot points, level; straight ahead if it is not long.
fn heading(ankle: DVec3, surface: &[(DVec3, usize)], high: f64) -> DVec3 {
    let flat = |v: DVec3| DVec3 { y: 0.0, ..v };
    let far = surface.iter().map(|(p, _)| flat(*p - ankle)).max_by(|a, b| a.length().total_cmp(&b.length()));
    match far.filter(|v| v.length() > 0.08 * high && v.z > 0.5 * v.length()) {
        Some(far) => far.normalize(),
        None => DVec3::Z,
    }
}

/// The axis across a leg about which its joints bend.
fn axis(points: &[DVec3], tip: DVec3, is_sagittal: bool) -> DVec3 {
    let down = (tip - points[0]).normalize_or(DVec3::NEG_Y);
    if is_sagittal {
        return (DVec3::X - DVec3::X.dot(down) * down).normalize_or(DVec3::X);
    }
    // Across the plane in which it is bent, where it is.
    let all: Vec<DVec3> = points.iter().copied().chain([tip]).collect();
    let mut normal = DVec3::ZERO;
    for three in all.windows(3) {
        let across =
            (three[1] - three[0]).normalize_or_zero().cross((three[2] - three[1]).normalize_or_zero());
        normal += if across.dot(normal) < 0.0 { -across } else { across };
    }
    if normal.length() > 0.3 {
        return normal.normalize();
    }
    // Legs of insects lie in an upright plane, with the knees up.
    let out = DVec3 { y: 0.0, ..tip - points[0] };
    out.cross(DVec3::NEG_Y).try_normalize().unwrap_or(DVec3::X)
}

/// Bends of the joints after the hip, and the directions in which they are made to bend.
fn bends(
    base: &Base,
    joints: &[usize],
    points: &[DVec3],
    tip: DVec3,
    axis: DVec3,
    path: &Path,
    is_sagittal: bool,
) -> Vec<(f64, f64)> {
    let all: Vec<DVec3> = points.iter().copied().chain([tip]).collect();
    let across = |v: DVec3| v - v.dot(axis) * axis;
    // A knee goes ahead and its shin back; the elbow of a front leg goes back. The next joint goes the other way.
    let mut usual = if path.is_front { -1.0 } else { 1.0 };
    let mut bends = Vec::new();
    for k in 1..points.len() {
        let (upper, lower) = (across(all[k] - all[k - 1]), across(all[k + 1] - all[k]));
        let bend = upper.cross(lower).dot(axis).atan2(upper.dot(lower));
        let hinge = base.map.joints[joints[k]].hinge.map(|hinge| {
            let way = base.body_from_world.transform_vector3(hinge.axis).dot(axis);
            if way.abs() > 0.3 { way.signum() } else { usual }
        });
        let direction = match bend {
            b if b.abs() > STRAIGHT
                && !(is_sagittal && k == 1 && hinge.is_some_and(|h| h * b < 0.0 && b.abs() < 0.4)) =>
            {
                b.signum()
            }
            _ => hinge.unwrap_or(usual),
        };
        usual = -direction;
        bends.push((bend, direction));
    }
    bends
}

/// Where feet stand while the body walks: in pairs alike on both sides, and under people's hips.
fn stand(base: &Base, legs: &mut [Leg]) {
    let half = legs.len() / 2;
    let is_paired = legs.len() == 2 * half
        && legs[..half].iter().all(|leg| !leg.is_right)
        && legs[half..].iter().all(|leg| leg.is_right);
    let width = match base.map.class {
        BodyClass::Biped => 0.75,
        BodyClass::HorizontalBiped | BodyClass::Bird => 0.85,
        BodyClass::Quadruped => 0.9,
        _ => 1.0,
    };
    for k in 0..legs.len() {
        let other = if is_paired { (k + half) % legs.len() } else { k };
        let stands = |leg: &Leg| leg.sole.origin();
        let (own, twin) = (stands(&legs[k]), stands(&legs[other]));
        let side = if legs[k].is_right { -1.0 } else { 1.0 };
        let x = if is_paired { side * 0.5 * (own.x * side - twin.x * side) } else { own.x };
        let mut z = 0.5 * (own.z + twin.z);
        let hip = legs[k].points[0];
        let far = match base.map.class {
            BodyClass::Biped => 0.03,
            BodyClass::Quadruped => 0.3,
            _ => f64::INFINITY,
        } * hip.y;
        // The ankle of people, which is behind the middle of the sole, is under the hip.
        let lag = if base.map.class == BodyClass::Biped { own.z - legs[k].tip.z } else { 0.0 };
        z = z.clamp(hip.z + lag - far, hip.z + lag + far);
        legs[k].shift = DVec3::new(width * x, 0.0, z) - own;
    }
}
