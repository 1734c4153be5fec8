//! Which part each joint of a skeleton moves: by its name, and by its place in its limb where the name only tells the limb.

use super::{
    Part,
    names::{NameMeaning, Word},
};
use crate::{Rig, rig::Side};

/// Parts and sides of all joints.
#[derive(Debug)]
pub(super) struct Parts {
    pub parts: Vec<Part>,
    pub sides: Vec<Side>,
    /// Which of several limbs, as the names say.
    pub limbs: Vec<String>,
    /// Joints whose names tell something.
    pub n_named: usize,
}

const ARM: [Part; 5] = [Part::Shoulder, Part::UpperArm, Part::Forearm, Part::Hand, Part::Finger];
const LEG: [Part; 5] = [Part::HipBone, Part::Thigh, Part::Shin, Part::Foot, Part::Toe];

/// Read parts from names and order.
pub(super) fn find_parts(rig: &Rig, names: &[NameMeaning]) -> Parts {
    let n = rig.n_joints();
    let is_leg =
        |word: Word| matches!(word, Word::Leg) || matches!(word, Word::Is(part) if LEG.contains(&part));
    // Feet may hang on a root, driven by controls.
    let begins_leg = |&k: &usize| {
        let is_foot = matches!(names[k].word, Word::Is(Part::Foot | Part::Toe));
        is_leg(names[k].word)
            && !is_foot
            && names[k].side == Side::Left
            && parent_in_limb(rig, names, k).is_none()
    };
    let has_many_legs = (0..n).filter(begins_leg).count() > 2;
    let mut parts = vec![Part::Unknown; n];
    for k in 0..n {
        let is_front_limb = matches!(names[k].word, Word::Is(part) if ARM.contains(&part));
        let is_limb =
            |word: Word| is_leg(word) || word == Word::Arm || (is_front_limb && names[k].place == "front");
        let before = parent_in_limb(rig, names, k);
        parts[k] =
            match names[k].word {
                Word::Helper => Part::Helper,
                Word::Unknown => Part::Unknown,
                word if is_leg(word) && has_many_legs => Part::Leg,
                // `BackLeg`, `BackUpLeg`, `BackLowLeg`: the first is what the leg hangs on.
                Word::Leg if before.is_none() && carries_thigh(rig, names, k) => {
                    if names[k].place == "front" { ARM[0] } else { LEG[0] }
                }
                word if is_limb(word) => limb_part(&names[k], before.map(|parent| parts[parent])),
                Word::Is(part) => part,
                Word::Arm | Word::Leg => Part::Unknown,
            };
    }
    let sides = names.iter().map(|name| name.side).collect();
    let limbs = names.iter().map(|name| name.place.clone()).collect();
    let n_named = names.iter().filter(|name| name.word != Word::Unknown).count();
    let mut found = Parts { parts, sides, limbs, n_named };
    found.complete_arms(rig);
    found.complete_trunk(rig);
    found
}

/// Whether a child of a joint, in the same limb, is called a thigh.
fn carries_thigh(rig: &Rig, names: &[NameMeaning], joint: usize) -> bool {
    (0..rig.n_joints()).any(|c| {
        rig.joints()[c].parent == Some(joint)
            && names[c].word == Word::Is(Part::Thigh)
            && names[c].side == names[joint].side
            && names[c].place == names[joint].place
    })
}

/// The nearest ancestor in the same limb.
fn parent_in_limb(rig: &Rig, names: &[NameMeaning], joint: usize) -> Option<usize> {
    let mut above = rig.joints()[joint].parent;
    while let Some(k) = above {
        let is_limb = matches!(names[k].word, Word::Arm | Word::Leg)
            || matches!(names[k].word, Word::Is(part) if ARM.contains(&part) || LEG.contains(&part));
        if is_limb && names[k].side == names[joint].side && names[k].place == names[joint].place {
            return Some(k);
        }
        if names[k].word != Word::Helper {
            return None;
        }
        above = rig.joints()[k].parent;
    }
    None
}

/// Part of a joint of a leg or arm: as it is called, or the next after its parent. Names of front and hind legs of animals do
/// not agree among makers: there the order decides.
fn limb_part(name: &NameMeaning, before: Option<Part>) -> Part {
    let is_front = name.place == "front";
    let order = if is_front || name.word == Word::Arm { ARM } else { LEG };
    let called = match name.word {
        Word::Is(part) => Some(part),
        _ => None,
    };
    let of_front = |part: Part| LEG.iter().position(|&leg| leg == part).map_or(part, |k| ARM[k]);
    let called = called.map(|part| if is_front { of_front(part) } else { part });
    let is_by_order = !name.place.is_empty();
    let rank = |part: Part| order.iter().position(|&p| p == part);
    match (called, before.and_then(rank)) {
        (Some(part @ (Part::Shoulder | Part::HipBone)), None) => part,
        (Some(part), _) if !is_by_order => part,
        (_, Some(last)) => order[(last + 1).min(4)],
        // Feet that hang on a root, driven by controls.
        (Some(part @ (Part::Foot | Part::Toe | Part::Hand | Part::Finger)), None) => part,
        _ => order[1],
    }
}

impl Parts {
    /// What carries a forearm is an upper arm, though some makers call it a shoulder.
    fn complete_arms(&mut self, rig: &Rig) {
        for k in 0..rig.n_joints() {
            if self.parts[k] != Part::Forearm {
                continue;
            }
            if let Some(above) = rig.joints()[k].parent.filter(|&above| self.parts[above] == Part::Shoulder) {
                self.parts[above] = Part::UpperArm;
            }
        }
    }

    /// A spine joint that carries arms or the neck is the chest; without hips, the joint that carries the legs is.
    fn complete_trunk(&mut self, rig: &Rig) {
        let n = rig.n_joints();
        if !self.parts.contains(&Part::Hips) {
            let carries_leg = |k: usize| {
                (0..n).any(|c| {
                    let is_leg = matches!(self.parts[c], Part::Thigh | Part::HipBone);
                    is_leg && rig.joints()[c].parent == Some(k)
                })
            };
            let is_trunk = |k: usize| matches!(self.parts[k], Part::Spine | Part::Root | Part::Unknown);
            if let Some(hips) = (0..n).find(|&k| is_trunk(k) && carries_leg(k)) {
                self.parts[hips] = Part::Hips;
            }
        }
        if !self.parts.contains(&Part::Chest) {
            let carries = |k: usize| {
                let is_upper = |c: usize| {
                    matches!(self.parts[c], Part::Neck | Part::Shoulder | Part::UpperArm)
                        && rig.joints()[c].parent == Some(k)
                };
                (0..n).filter(|&c| is_upper(c)).count()
            };
            let spine = (0..n).filter(|&k| self.parts[k] == Part::Spine && carries(k) > 0);
            if let Some(chest) = spine.max_by_key(|&k| (carries(k), k)) {
                self.parts[chest] = Part::Chest;
            }
        }
        // Necks that end the body are heads.
        if !self.parts.contains(&Part::Head) {
            let last = (0..n).rev().find(|&k| self.parts[k] == Part::Neck);
            if let Some(head) = last.filter(|_| self.parts.iter().filter(|&&p| p == Part::Neck).count() > 1) {
                self.parts[head] = Part::Head;
            }
        }
    }

    pub fn has(&self, part: Part) -> bool {
        self.parts.contains(&part)
    }

    pub fn joints(&self, part: Part) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().enumerate().filter(move |(_, p)| **p == part).map(|(k, _)| k)
    }

    /// Roots, controls and joints of no length that have the part of their only child.
    pub fn is_structural(&self, rig: &Rig, joint: usize) -> bool {
        let children: Vec<usize> =
            (0..rig.n_joints()).filter(|&c| rig.joints()[c].parent == Some(joint)).collect();
        let has_no_length = |c: usize| rig.joints()[c].rest.translation.length() < 1e-9;
        match self.parts[joint] {
            Part::Root | Part::Helper => true,
            Part::Unknown => children.len() == 1 && has_no_length(children[0]),
            Part::HipBone => children.iter().all(|&c| has_no_length(c)),
            _ => false,
        }
    }
}
