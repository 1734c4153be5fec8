//! Which joint of one body follows which joint of another: by what the body maps say they are.

use super::joints::plain;
use glam::DVec3;
use sinew_geom::{
    Rig,
    body_map::{BodyClass, BodyMap, Part},
    rig::Side,
};

/// Parts that a side of a body has once; joints beyond the first follow by their order.
const SINGLE: [Part; 13] = [
    Part::Hips,
    Part::Head,
    Part::Shoulder,
    Part::UpperArm,
    Part::Forearm,
    Part::Hand,
    Part::HipBone,
    Part::Thigh,
    Part::Shin,
    Part::Foot,
    Part::Toe,
    Part::Wing,
    Part::Fin,
];
/// Chains with any number of joints: those at the same share of the chain correspond.
const CHAINS: [&[Part]; 3] = [&[Part::Spine, Part::Chest], &[Part::Neck], &[Part::Tail]];
/// Fingers by the words in their names.
const FINGERS: [&[&str]; 5] = [&["thumb"], &["index"], &["middle", "mid"], &["ring"], &["pinky", "little"]];
const SIDES: [Side; 3] = [Side::Left, Side::Middle, Side::Right];

/// A skeleton and what it is.
#[derive(Debug, Clone, Copy)]
pub struct MappedRig<'a> {
    /// The skeleton.
    pub rig: &'a Rig,
    /// Its body map.
    pub map: &'a BodyMap,
}

impl MappedRig<'_> {
    fn name(&self, joint: usize) -> &str {
        &self.rig.joints()[joint].name
    }

    fn all(&self, parts: &[Part], side: Side) -> Vec<usize> {
        let is_one = |k: &usize| {
            let joint = &self.map.joints[*k];
            parts.contains(&joint.part) && joint.side == side
        };
        (0..self.rig.n_joints()).filter(is_one).collect()
    }

    /// The legs of a body that has many, on one side, from front to back.
    fn legs(&self, side: Side) -> Vec<Vec<usize>> {
        let joints = self.all(&[Part::Leg], side);
        let is_leg = |joint: usize| joints.contains(&joint);
        let mut legs: Vec<Vec<usize>> = Vec::new();
        for &joint in &joints {
            let above = self.rig.joints()[joint].parent.filter(|&parent| is_leg(parent));
            match above.and_then(|above| legs.iter_mut().find(|leg| leg.last() == Some(&above))) {
                Some(leg) => leg.push(joint),
                None if above.is_none() => legs.push(vec![joint]),
                // A second branch of a leg.
                None => {}
            }
        }
        let ahead =
            |leg: &Vec<usize>| leg.last().map_or(DVec3::ZERO, |&k| self.map.places[k]).dot(self.map.forward);
        legs.sort_by(|a, b| ahead(b).total_cmp(&ahead(a)));
        legs
    }
}

/// Whether two rigs have the same joints in the same order.
pub fn is_same_skeleton(a: &Rig, b: &Rig) -> bool {
    let same = |(a, b): (&sinew_geom::Joint, &sinew_geom::Joint)| a.name == b.name && a.parent == b.parent;
    a.n_joints() == b.n_joints() && a.joints().iter().zip(b.joints()).all(same)
}

/// Whether the joints of two such rigs rest the same way, whatever their sizes.
pub fn has_same_rest(a: &Rig, b: &Rig) -> bool {
    let same = |(a, b): (&sinew_geom::Joint, &sinew_geom::Joint)| {
        let [p, q] = [a, b].map(|joint| joint.rest.translation.normalize_or_zero());
        a.rest.rotation.dot(b.rest.rotation).abs() > 1.0 - 1e-9 && p.distance(q) < 1e-4
    };
    a.joints().iter().zip(b.joints()).all(same)
}

/// Joint of the source for each joint of the target. Roots, controls and twist joints of other skeletons follow nothing.
pub fn counterparts(source: &MappedRig, target: &MappedRig) -> Vec<Option<usize>> {
    if is_same_skeleton(source.rig, target.rig) {
        return (0..target.rig.n_joints()).map(Some).collect();
    }
    let mut from: Vec<Option<usize>> = vec![None; target.rig.n_joints()];
    for side in SIDES {
        for part in SINGLE {
            by_order(&source.all(&[part], side), &target.all(&[part], side), &mut from);
        }
        for parts in CHAINS {
            by_share(&source.all(parts, side), &target.all(parts, side), &mut from);
        }
        for words in FINGERS {
            let of = |body: &MappedRig| {
                let is_it = |k: &usize| words.iter().any(|word| plain(body.name(*k)).contains(word));
                body.all(&[Part::Finger], side).into_iter().filter(is_it).collect::<Vec<_>>()
            };
            by_order(&of(source), &of(target), &mut from);
        }
        let (theirs, ours) = (source.legs(side), target.legs(side));
        if theirs.len() == ours.len() {
            theirs.iter().zip(&ours).for_each(|(theirs, ours)| by_share(theirs, ours, &mut from));
        }
    }
    by_name(source, target, &mut from);
    from
}

/// The first of one with the first of the other, and so on.
fn by_order(source: &[usize], target: &[usize], from: &mut [Option<usize>]) {
    target.iter().zip(source).for_each(|(&joint, &other)| from[joint] = Some(other));
}

/// Joints at the same share of two chains.
fn by_share(source: &[usize], target: &[usize], from: &mut [Option<usize>]) {
    if source.is_empty() {
        return;
    }
    for (k, &joint) in target.iter().enumerate() {
        let share = (k as f64 + 0.5) / target.len() as f64;
        from[joint] = Some(source[((share * source.len() as f64) as usize).min(source.len() - 1)]);
    }
}

/// Joints of unknown meaning that have the same name.
fn by_name(source: &MappedRig, target: &MappedRig, from: &mut [Option<usize>]) {
    for joint in 0..from.len() {
        let meaning = &target.map.joints[joint];
        if from[joint].is_some()
            || meaning.is_structural
            || !matches!(meaning.part, Part::Unknown | Part::Face)
        {
            continue;
        }
        let is_same = |k: &usize| {
            source.map.joints[*k].part == meaning.part && plain(source.name(*k)) == plain(target.name(joint))
        };
        from[joint] = (0..source.rig.n_joints()).find(is_same).filter(|other| !from.contains(&Some(*other)));
    }
}

/// Names of the parts that follow nothing although the body moves by them.
pub fn without_counterpart(target: &MappedRig, from: &[Option<usize>]) -> Vec<String> {
    let is_body =
        |part: Part| !matches!(part, Part::Root | Part::Helper | Part::Face | Part::Finger | Part::Toe);
    let lacks = |k: &usize| {
        let joint = &target.map.joints[*k];
        // A second joint of a part moves with the first.
        let mut same = target.map.find_all(joint.part, joint.side);
        from[*k].is_none() && !joint.is_structural && is_body(joint.part) && same.all(|k| from[k].is_none())
    };
    (0..from.len()).filter(lacks).map(|k| target.name(k).to_owned()).collect()
}

/// Whether both are people, so that the directions of their limbs can be the same.
pub fn are_people(source: &BodyMap, target: &BodyMap) -> bool {
    source.class == BodyClass::Biped && target.class == BodyClass::Biped
}
