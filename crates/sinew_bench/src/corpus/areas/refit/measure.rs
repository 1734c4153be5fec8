//! A motion against the one it was made from: directions of limbs, jumps, jerk, planted feet, travel. Sizes and facings do not
//! matter: lengths are relative to the body, directions to where each body faces.

use super::super::super::shape::quantile;
use super::body::{Body, Contact, STATURE};
use super::limbs::{PARTS, Part, SEGMENTS};
use glam::{DMat3, DVec3};

/// Joints of the source and of the target that mean the same, and how much further the target's may move because it lies
/// further from the hips.
pub struct Match {
    pub source: usize,
    pub target: usize,
    reach: f64,
    /// Which limb it is, where limbs are known.
    limb: Option<(Part, usize)>,
}

/// The same limbs of two humanoids.
pub fn limbs_of_both(source: &Body, target: &Body) -> Vec<Match> {
    if !(source.is_humanoid && target.is_humanoid) {
        return Vec::new();
    }
    let far = |body: &Body, joint: usize| {
        let distances: Vec<f64> = (0..body.n_frames())
            .step_by(body.stride(30))
            .map(|k| body.motion.position(k, joint).distance(body.middle(k)) / body.reach)
            .collect();
        quantile(&distances, 0.5)
    };
    let sides = PARTS.into_iter().flat_map(|part| [(part, 0), (part, 1)]);
    sides
        .filter_map(|(part, side)| {
            let (source_joint, target_joint) =
                (source.limbs.joint(part, side)?, target.limbs.joint(part, side)?);
            let ratio = far(target, target_joint) / far(source, source_joint).max(1e-9);
            let limb = Some((part, side));
            Some(Match { source: source_joint, target: target_joint, reach: ratio.clamp(1.0, 2.0), limb })
        })
        .collect()
}

/// Joints with the same name.
pub fn same_names(source: &Body, target: &Body) -> Vec<Match> {
    // Joints without names can only be matched by their order.
    if source.motion.names.iter().all(String::is_empty)
        && source.motion.n_joints() == target.motion.n_joints()
    {
        let same = |k| Match { source: k, target: k, reach: 1.0, limb: None };
        return (0..source.motion.n_joints()).map(same).collect();
    }
    let one = |(k, name): (usize, &String)| {
        // Names may repeat: the order is the same in both files.
        let before = source.motion.names[..k].iter().filter(|n| *n == name).count();
        let mut others = (0..target.motion.n_joints()).filter(|&j| target.motion.names[j] == *name);
        others.nth(before).map(|j| Match { source: k, target: j, reach: 1.0, limb: None })
    };
    source.motion.names.iter().enumerate().filter_map(one).collect()
}

fn n_of_both(source: &Body, target: &Body) -> usize {
    source.n_frames().min(target.n_frames())
}

/// Angles in degrees between limbs, each seen from where its own body faces: per frame, of all limbs
/// and, last, the trunk.
pub fn directions(source: &Body, target: &Body) -> Vec<(usize, Vec<f64>)> {
    let n = n_of_both(source, target);
    let angles = |k: usize| {
        let facing = source.heading(k)?;
        // A body that lies on its side while the source stands is as wrong as can be.
        let Some(other) = target.heading(k) else { return Some((k, vec![90.0; 2 * SEGMENTS.len() + 1])) };
        let local =
            |basis: DMat3, [a, b]: [Option<DVec3>; 2]| Some(basis.transpose() * (b? - a?).try_normalize()?);
        let mut angles = Vec::new();
        for (from, to) in SEGMENTS {
            for side in 0..2 {
                let ends = |body: &Body| [body.spot(k, from, side), body.spot(k, to, side)];
                let (a, b) = (local(facing, ends(source)), local(other, ends(target)));
                angles.extend(a.zip(b).map(|(a, b)| a.angle_between(b).to_degrees()));
            }
        }
        let trunk = |body: &Body| {
            [Some(body.middle(k)), body.limbs.between(Part::UpperArm, &|j| body.motion.position(k, j))]
        };
        let (a, b) = (local(facing, trunk(source)), local(other, trunk(target)));
        angles.extend(a.zip(b).map(|(a, b)| a.angle_between(b).to_degrees()));
        Some((k, angles))
    };
    (0..n).filter_map(angles).collect()
}

/// Mean angle in degrees between the ways that feet point along the ground, while they are level in both.
pub fn feet_off(source: &Body, target: &Body) -> Option<f64> {
    let mut angles = Vec::new();
    for k in 0..n_of_both(source, target) {
        let Some((facing, other)) = source.heading(k).zip(target.heading(k)) else { continue };
        for side in 0..2 {
            let way = |body: &Body, basis: DMat3| {
                let foot = body.spot(k, Part::Toe, side)? - body.spot(k, Part::Foot, side)?;
                let flat = body.flat(foot);
                (flat.length() > 0.6 * foot.length()).then(|| basis.transpose() * flat.normalize())
            };
            let both = way(source, facing).zip(way(target, other));
            angles.extend(both.map(|(a, b)| a.angle_between(b).to_degrees()));
        }
    }
    (angles.len() >= 5).then(|| angles.iter().sum::<f64>() / angles.len() as f64)
}

/// 95th percentile in degrees of how far the target's turn departs from the source's.
pub fn turn_off(source: &Body, target: &Body) -> Option<f64> {
    let yaw = |body: &Body, k: usize| {
        let (world, forward) = (body.world(), body.heading(k)? * DVec3::Z);
        Some(forward.dot(world.x_axis).atan2(forward.dot(world.z_axis)))
    };
    let both = (0..n_of_both(source, target)).filter_map(|k| Some(yaw(target, k)? - yaw(source, k)?));
    let both: Vec<f64> = both.collect();
    let (sin, cos) = both.iter().fold((0.0, 0.0), |(s, c), a| (s + a.sin(), c + a.cos()));
    let mean = f64::atan2(sin, cos);
    let off: Vec<f64> =
        both.iter().map(|a| (a - mean).sin().atan2((a - mean).cos()).abs().to_degrees()).collect();
    (off.len() >= 5).then(|| quantile(&off, 0.95))
}

/// Mean angle in degrees between the ways that the bodies go, each seen from where it faces, over half seconds in which the
/// source gets ahead: a clip that walks forward must not walk backward on another body.
pub fn course_off(source: &Body, target: &Body) -> Option<f64> {
    let w = ((0.5 / source.motion.step).round() as usize).max(1);
    let mut angles = Vec::new();
    for k in 0..n_of_both(source, target).saturating_sub(w) {
        let way = |body: &Body| {
            let ahead = body.flat(body.middle(k + w) - body.middle(k)) / body.reach;
            Some(body.heading(k + w / 2)?.transpose() * ahead)
        };
        if let Some((a, b)) = way(source).zip(way(target))
            && a.length() > 0.1
        {
            angles.push(if b.length() > 0.01 { a.angle_between(b).to_degrees() } else { 90.0 });
        }
    }
    (angles.len() >= 5).then(|| angles.iter().sum::<f64>() / angles.len() as f64)
}

/// The largest step of a joint from one frame to the next beyond what the source asks for in that frame or its neighbours, in
/// centimetres of a body of 1.7 m, its frame and the target's joint. The source asks for its own step, and for that of its limbs'
/// directions at the target's lengths: a longer arm that turns alike moves further. Where joints cannot be matched, the source's
/// fastest joint is the measure.
pub fn jump(source: &Body, target: &Body, matches: &[Match]) -> (f64, usize, usize) {
    let n = n_of_both(source, target);
    let step = |body: &Body, joint: usize, k: usize| {
        body.motion.position(k, joint).distance(body.motion.position(k - 1, joint)) / body.reach
    };
    let around = |steps: &[f64], k: usize| {
        steps[k.saturating_sub(1).max(1)..(k + 2).min(n)].iter().copied().fold(0.0, f64::max)
    };
    let steps = |body: &Body, joint: usize| -> Vec<f64> {
        (0..n).map(|k| if k == 0 { 0.0 } else { step(body, joint, k) }).collect()
    };
    let fastest = || -> Vec<f64> {
        let all: Vec<Vec<f64>> = (0..source.motion.n_joints()).map(|joint| steps(source, joint)).collect();
        (0..n).map(|k| all.iter().map(|steps| steps[k]).fold(0.0, f64::max)).collect()
    };
    let pairs: Vec<(Vec<f64>, usize)> = if matches.is_empty() {
        let fastest = fastest();
        (0..target.motion.n_joints()).map(|joint| (fastest.clone(), joint)).collect()
    } else {
        let asked = |m: &Match| {
            let own = steps(source, m.source);
            let Some(ideal) = m.limb.and_then(|limb| limb_steps(source, target, limb)) else { return own };
            own.iter().zip(ideal).map(|(a, b)| a.max(b)).collect()
        };
        matches.iter().map(|m| (asked(m), m.target)).collect()
    };
    let mut worst = (0.0, 0, 0);
    // How far a cut of the source itself moves another body is not defined.
    let cuts = cuts(source);
    for (steps, joint) in &pairs {
        for k in (1..n).filter(|k| !cuts.iter().any(|cut| k.abs_diff(*cut) <= 1)) {
            let beyond = (step(target, *joint, k) - around(steps, k)) * STATURE;
            // What is not a number is the worst.
            if beyond.is_nan() || beyond > worst.0 {
                worst = (beyond, k, *joint);
            }
        }
    }
    worst
}

/// Steps of the end of a limb that points as the source's does and is as long as the target's, on hips that move as the
/// source's; relative to the body.
fn limb_steps(source: &Body, target: &Body, (part, side): (Part, usize)) -> Option<Vec<f64>> {
    let n = n_of_both(source, target);
    // Trunk, shoulder and arm; hip and leg.
    let is_arm = matches!(part, Part::UpperArm | Part::ForeArm | Part::Hand);
    let chain: &[Part] = if is_arm {
        &[Part::UpperArm, Part::ForeArm, Part::Hand]
    } else {
        &[Part::Thigh, Part::Shin, Part::Foot, Part::Toe]
    };
    let chain = &chain[..=chain.iter().position(|other| *other == part)?];
    let joint = |body: &Body, k: usize, i: usize| {
        let between = || body.limbs.between(Part::UpperArm, &|joint| body.motion.position(k, joint));
        match i {
            0 => Some(body.middle(k)),
            1 if is_arm => between(),
            _ => body.spot(k, chain[i - 1 - usize::from(is_arm)], side),
        }
    };
    let n_bones = chain.len() + usize::from(is_arm);
    let bone = |body: &Body, k: usize, i: usize| Some(joint(body, k, i + 1)? - joint(body, k, i)?);
    let lengths: Vec<f64> = (0..n_bones)
        .map(|i| {
            let long = (0..n).step_by(target.stride(30)).filter_map(|k| Some(bone(target, k, i)?.length()));
            quantile(&long.collect::<Vec<_>>(), 0.5) / target.reach
        })
        .collect();
    let end = |k: usize| {
        let mut place = source.middle(k) / source.reach;
        for (i, length) in lengths.iter().enumerate() {
            place += bone(source, k, i)?.normalize_or_zero() * *length;
        }
        Some(place)
    };
    let ends: Vec<DVec3> = (0..n).map(end).collect::<Option<_>>()?;
    Some((0..n).map(|k| if k == 0 { 0.0 } else { ends[k].distance(ends[k - 1]) }).collect())
}

/// Root mean square of the third differences of joints, target over source, apart from cuts of the source itself.
pub fn jerk_ratio(source: &Body, target: &Body, matches: &[Match]) -> Option<f64> {
    let n = n_of_both(source, target);
    let third = |body: &Body, joint: usize, k: usize| {
        let p = |d: usize| body.motion.position(k - d, joint);
        (p(0) - p(1) * 3.0 + p(2) * 3.0 - p(3)).length() / body.reach
    };
    let mut squares = [0.0f64; 2];
    let cuts = cuts(source);
    for k in (3..n).filter(|k| !cuts.iter().any(|cut| k.abs_diff(*cut) <= 4)) {
        for m in matches {
            squares[0] += third(source, m.source, k).powi(2);
            squares[1] += third(target, m.target, k).powi(2) / (m.reach * m.reach);
        }
    }
    // A source that stands as still as stone has no jerk to compare with.
    (squares[0] > 1e-14).then(|| (squares[1] / squares[0]).sqrt())
}

/// Frames at which the source jumps by itself: CMU's clips begin with a frame in T-pose.
pub fn cuts(source: &Body) -> Vec<usize> {
    let step = |k: usize| source.centre(k).distance(source.centre(k - 1)) / source.reach;
    let widest = |k: usize| {
        let joints = 0..source.motion.n_joints();
        joints
            .map(|j| source.motion.position(k, j).distance(source.motion.position(k - 1, j)))
            .fold(0.0, f64::max)
    };
    let steps: Vec<f64> = (1..source.n_frames()).map(|k| widest(k) / source.reach + step(k)).collect();
    let usual = quantile(&steps, 0.95);
    (1..source.n_frames()).filter(|&k| steps[k - 1] > (4.0 * usual).max(0.03)).collect()
}

/// What feet that stand in the source do in the target.
pub struct Planted {
    /// Mean horizontal speed beyond the source's own, in cm/s of a body of 1.7 m.
    pub slide: f64,
    /// How far a standing foot gets from its place beyond the source's own, at the worst contact, in cm.
    pub drift: f64,
}

pub fn planted(source: &Body, target: &Body, contacts: &[Contact]) -> Option<Planted> {
    let n = n_of_both(source, target);
    let (mut speeds, mut drift) = ([Vec::new(), Vec::new()], 0.0f64);
    for contact in contacts.iter().filter(|c| c.last < n && c.last > c.first + 2) {
        // Not every foot has toes.
        let joint_of = |body: &Body| body.limbs.joint(contact.part, contact.side);
        let (Some(ours), Some(theirs)) = (joint_of(source), joint_of(target)) else { continue };
        let mut wander = [0.0; 2];
        for (which, (body, joint)) in [(source, ours), (target, theirs)].into_iter().enumerate() {
            let places: Vec<DVec3> = (contact.first + 1..contact.last)
                .map(|k| body.flat(body.motion.position(k, joint)))
                .collect();
            let mean = places.iter().sum::<DVec3>() / places.len() as f64;
            wander[which] =
                places.iter().map(|p| p.distance(mean)).fold(0.0, f64::max) / body.reach * STATURE;
            let speed = |k: usize| body.flat(body.speed(joint, k)).length() / body.reach * STATURE;
            speeds[which].extend((contact.first + 1..contact.last).map(speed));
        }
        drift = drift.max(wander[1] - wander[0]);
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let slide = mean(&speeds[1]) - mean(&speeds[0]);
    (!speeds[0].is_empty()).then_some(Planted { slide: slide.max(0.0), drift })
}

/// How much hands, elbows, knees and feet swing about where they mostly are, relative to the length of their limbs: root mean
/// square, target over source.
pub fn amplitude(source: &Body, target: &Body) -> Option<f64> {
    let swing = |body: &Body| {
        let (mut sum, mut n) = (0.0, 0);
        for (root, end) in [
            (Part::UpperArm, Part::ForeArm),
            (Part::UpperArm, Part::Hand),
            (Part::Thigh, Part::Shin),
            (Part::Thigh, Part::Foot),
        ] {
            for side in 0..2 {
                let local = |k: usize| {
                    let limb = body.spot(k, end, side)? - body.spot(k, root, side)?;
                    Some(body.heading(k)?.transpose() * limb)
                };
                let places: Vec<DVec3> = (0..n_of_both(source, target)).filter_map(local).collect();
                let mean = places.iter().sum::<DVec3>() / places.len().max(1) as f64;
                let long = places.iter().map(|p| p.length()).fold(1e-12, f64::max);
                sum += places.iter().map(|p| p.distance_squared(mean)).sum::<f64>() / (long * long);
                n += places.len();
            }
        }
        (sum / f64::from(n.max(1) as u32)).sqrt()
    };
    let of_source = swing(source);
    (of_source > 0.02).then(|| swing(target) / of_source)
}

/// How much all joints move about their means, in heights.
pub fn stir(body: &Body) -> f64 {
    let n = body.n_frames();
    let square = |joint: usize| {
        let mean = (0..n).map(|k| body.motion.position(k, joint)).sum::<DVec3>() / n as f64;
        (0..n).map(|k| body.motion.position(k, joint).distance_squared(mean)).sum::<f64>() / n as f64
    };
    let joints = body.motion.n_joints();
    ((0..joints).map(square).sum::<f64>() / joints.max(1) as f64).sqrt() / body.reach
}

/// The largest change of a limb's length against rest, as a share, in 99 % of frames.
pub fn limb_stretch(target: &Body) -> Option<f64> {
    let rest = target.rest.as_ref()?;
    let mut worst = None;
    for (from, to) in SEGMENTS {
        for side in 0..2 {
            let Some((a, b)) = target.limbs.joint(from, side).zip(target.limbs.joint(to, side)) else {
                continue;
            };
            let long = rest[a].distance(rest[b]);
            let change = |k: usize| {
                (target.motion.position(k, a).distance(target.motion.position(k, b)) / long - 1.0).abs()
            };
            let changes: Vec<f64> = (0..target.n_frames()).map(change).collect();
            worst = Some(quantile(&changes, 0.99).max(worst.unwrap_or(0.0)));
        }
    }
    worst.filter(|_| target.is_humanoid)
}

#[cfg(test)]
mod tests {
    use super::super::body::tests::walker;
    use super::*;

    #[test]
    fn a_copy_of_another_size_and_facing_is_right_in_every_measure() {
        let (source, target) = (walker(0.0, 1.0), walker(2.5, 100.0));
        let matches = limbs_of_both(&source, &target);
        assert_eq!(matches.len(), 12);
        let angles: Vec<f64> =
            directions(&source, &target).into_iter().flat_map(|(_, angles)| angles).collect();
        assert!(angles.len() == 120 * 9 && quantile(&angles, 1.0) < 1e-5);
        assert!(turn_off(&source, &target).unwrap() < 1e-6);
        assert!(course_off(&source, &target).unwrap() < 1e-5);
        assert!(jump(&source, &target, &matches).0 < 1e-9);
        assert!((jerk_ratio(&source, &target, &matches).unwrap() - 1.0).abs() < 1e-6);
        assert!((amplitude(&source, &target).unwrap() - 1.0).abs() < 1e-9);
        assert!((stir(&source) - stir(&target)).abs() < 1e-9);
    }

    #[test]
    fn a_longer_arm_moves_further_and_a_twitch_is_still_seen() {
        let source = walker(0.0, 1.0);
        let mut target = walker(0.0, 1.0);
        // Arms three times as long.
        let arms = [Part::ForeArm, Part::Hand]
            .map(|part| [0, 1].map(|side| target.limbs.joint(part, side).unwrap()));
        for k in 0..target.n_frames() {
            for side in 0..2 {
                let at = |part| source.spot(k, part, side).unwrap();
                let (shoulder, elbow, hand) = (at(Part::UpperArm), at(Part::ForeArm), at(Part::Hand));
                let longer = shoulder + (elbow - shoulder) * 3.0;
                target.motion.frames[k][arms[0][side]].w_axis = longer.extend(1.0);
                target.motion.frames[k][arms[1][side]].w_axis = (longer + (hand - elbow) * 3.0).extend(1.0);
            }
        }
        let matches = limbs_of_both(&source, &target);
        assert!(jump(&source, &target, &matches).0 < 1e-6);
        target.motion.frames[60][arms[1][0]].w_axis.y += 0.1;
        assert!(jump(&source, &target, &matches).0 > 4.0);
    }

    #[test]
    fn walking_backward_jumping_and_standing_still_are_seen() {
        let source = walker(0.0, 1.0);
        let mut target = walker(0.0, 1.0);
        let n = target.n_frames();
        let back: Vec<f64> = (0..n).map(|k| -2.0 * target.middle(k).z).collect();
        for (frame, dz) in target.motion.frames.iter_mut().zip(back) {
            frame.iter_mut().for_each(|m| m.w_axis.z += dz);
        }
        assert!(course_off(&source, &target).unwrap() > 170.0);
        let mut target = walker(0.0, 1.0);
        target.motion.frames[60].iter_mut().for_each(|m| m.w_axis.y += 0.1);
        let matches = same_names(&source, &target);
        let (beyond, at, _) = jump(&source, &target, &matches);
        assert!(beyond > 6.0 && (60..=61).contains(&at), "{beyond} {at}");
        assert!(jerk_ratio(&source, &target, &matches).unwrap() > 3.0);
        let mut target = walker(0.0, 1.0);
        let still = target.motion.frames[0].clone();
        target.motion.frames.iter_mut().for_each(|frame| frame.clone_from(&still));
        assert!(amplitude(&source, &target).unwrap() < 1e-6 && stir(&target) < 1e-9);
    }
}
