//! Which joint is which limb, by the naming conventions of many programs. Only for the judges: the product has its own table.

use glam::DVec3;

/// Parts that a humanoid has on both sides.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    UpperArm,
    ForeArm,
    Hand,
    Thigh,
    Shin,
    Foot,
    Toe,
}
use Part::{Foot, ForeArm, Hand, Shin, Thigh, Toe, UpperArm};

pub const PARTS: [Part; 7] = [UpperArm, ForeArm, Hand, Thigh, Shin, Foot, Toe];

/// Limbs as directions from one joint to the next. Feet are apart: where their joints lie in the shoe is a matter of taste.
pub const SEGMENTS: [(Part, Part); 4] = [(UpperArm, ForeArm), (ForeArm, Hand), (Thigh, Shin), (Shin, Foot)];

/// Names per part without side, separators and prefixes; earlier ones are preferred. CMU, Mixamo, Bandai Namco, VRM, VRoid,
/// Quaternius, Unreal, Rigify, DAZ, Xsens, Kinect and MakeHuman are covered.
const NAMES: [(Part, &[&str]); 7] = [
    (UpperArm, &["upperarm", "uparm", "humerus", "arm", "shldr", "shoulder"]),
    (ForeArm, &["forearm", "lowerarm", "loarm", "lowarm", "elbow", "radius"]),
    (Hand, &["wrist", "hand", "palm"]),
    (Thigh, &["thigh", "upperleg", "upleg", "femur", "hip"]),
    (Shin, &["shin", "calf", "lowerleg", "loleg", "lowleg", "knee", "tibia", "leg"]),
    (Foot, &["ankle", "foot"]),
    (Toe, &["toe", "toes", "ball", "foot"]),
];

/// Words that do not identify the part.
const NOISE: [&str; 21] = [
    "mixamorig",
    "bip",
    "j",
    "c",
    "cc",
    "base",
    "def",
    "org",
    "b",
    "bn",
    "joint",
    "jnt",
    "skeleton",
    "armature",
    "bone",
    "valve",
    "biped",
    "character",
    "rig",
    "skel",
    "human",
];

/// Joints of the parts, left and right.
#[derive(Default, Clone, Debug)]
pub struct Limbs {
    joints: [[Option<usize>; 2]; 7],
}

/// A name taken apart.
struct Name {
    core: String,
    side: Option<usize>,
    number: Option<u32>,
    is_end: bool,
}

impl Limbs {
    pub fn find(names: &[String], parents: &[Option<usize>]) -> Self {
        let parsed: Vec<Name> = names.iter().map(|name| parse(name)).collect();
        let mut limbs = Self::default();
        for side in 0..2 {
            for (part, cores) in NAMES {
                let found = cores.iter().find_map(|core| best(&parsed, names, side, core));
                limbs.joints[part as usize][side] = found;
            }
            limbs.chains(&parsed, parents, side);
            // The foot cannot be its own toe; an end site of the foot is a toe.
            let foot = limbs.joints[Foot as usize][side];
            if limbs.joints[Toe as usize][side] == foot {
                let end = |k: &usize| parsed[*k].is_end && parents[*k] == foot && foot.is_some();
                limbs.joints[Toe as usize][side] = (0..names.len()).find(end);
            }
        }
        limbs
    }

    /// `leg_joint_L_1`, `leg_joint_L_2`, …: limbs that are only numbered, in the order of the chain.
    fn chains(&mut self, parsed: &[Name], parents: &[Option<usize>], side: usize) {
        let depth = |mut joint: usize| {
            let mut depth = 0;
            while let Some(parent) = parents[joint].filter(|_| depth <= parents.len()) {
                (joint, depth) = (parent, depth + 1);
            }
            depth
        };
        for (core, parts) in [("arm", &[UpperArm, ForeArm, Hand][..]), ("leg", &[Thigh, Shin, Foot, Toe][..])]
        {
            let is_one = |k: &usize| parsed[*k].core == core && parsed[*k].side == Some(side);
            let mut chain: Vec<usize> = (0..parsed.len()).filter(is_one).collect();
            let is_numbered = chain.iter().any(|&k| parsed[k].number.is_some());
            chain.sort_by_key(|&k| depth(k));
            // One limb is one line of joints; a crab has many.
            let is_line = chain.windows(2).all(|pair| is_above(parents, pair[0], pair[1]));
            let is_free = self.joints[parts[1] as usize][side].is_none_or(|k| chain.contains(&k));
            if chain.len() >= 3 && is_numbered && is_line && is_free {
                for (k, part) in parts.iter().enumerate() {
                    self.joints[*part as usize][side] = chain.get(k).copied();
                }
            }
        }
    }

    pub fn joint(&self, part: Part, side: usize) -> Option<usize> {
        self.joints[part as usize][side]
    }

    /// Arms and legs of both sides are known.
    pub fn are_whole(&self) -> bool {
        let both = |part: Part| self.joints[part as usize].iter().all(Option::is_some);
        [UpperArm, ForeArm, Thigh, Shin, Foot].into_iter().all(both)
    }

    /// The middle between the left and right joint of a part.
    pub fn between(&self, part: Part, position: &dyn Fn(usize) -> DVec3) -> Option<DVec3> {
        let [left, right] = self.joints[part as usize];
        Some((position(left?) + position(right?)) * 0.5)
    }
}

fn is_above(parents: &[Option<usize>], above: usize, mut joint: usize) -> bool {
    for _ in 0..parents.len() {
        match parents[joint] {
            Some(parent) if parent == above => return true,
            Some(parent) => joint = parent,
            None => return false,
        }
    }
    false
}

/// Whether a joint's name says that it belongs to a leg.
pub fn is_of_leg(name: &str) -> bool {
    let name = name.to_lowercase();
    ["leg", "foot", "feet", "thigh", "paw", "hoof", "ankle", "knee"].iter().any(|word| name.contains(word))
}

/// The joint with a name: rather one without a number, rather a short one, rather an early one.
fn best(parsed: &[Name], names: &[String], side: usize, core: &str) -> Option<usize> {
    let fits = |k: &usize| parsed[*k].core == core && parsed[*k].side == Some(side) && !parsed[*k].is_end;
    (0..parsed.len()).filter(fits).min_by_key(|&k| (parsed[k].number.is_some(), names[k].len(), k))
}

fn parse(name: &str) -> Name {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let mut parsed = Name { core: String::new(), side: None, number: None, is_end: false };
    for word in words(name) {
        match word.as_str() {
            "l" | "left" => parsed.side = Some(0),
            "r" | "right" => parsed.side = Some(1),
            "end" | "nub" | "site" => parsed.is_end = true,
            word if NOISE.contains(&word) => {}
            word => match word.parse() {
                Ok(number) => parsed.number = Some(number),
                Err(_) => parsed.core.push_str(word),
            },
        }
    }
    parsed
}

/// The words of a name: between separators, at capitals and at digits, in small letters.
fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = vec![String::new()];
    for (k, &c) in letters.iter().enumerate() {
        let before = if k > 0 { letters[k - 1] } else { ' ' };
        let after = letters.get(k + 1).copied().unwrap_or(' ');
        let is_capital =
            c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && after.is_lowercase()));
        let is_digit = c.is_ascii_digit() != before.is_ascii_digit();
        if !c.is_alphanumeric() || is_capital || is_digit {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(names: &[&str]) -> Limbs {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let parents: Vec<Option<usize>> = (0..names.len()).map(|k: usize| k.checked_sub(1)).collect();
        Limbs::find(&names, &parents)
    }

    #[test]
    fn limbs_are_known_by_the_names_of_many_programs() {
        let conventions: [[&str; 6]; 8] = [
            ["LeftArm", "LeftForeArm", "LeftHand", "LeftUpLeg", "LeftLeg", "LeftFoot"],
            [
                "mixamorig:LeftArm",
                "mixamorig:LeftForeArm",
                "mixamorig:LeftHand",
                "mixamorig:LeftUpLeg",
                "mixamorig:LeftLeg",
                "mixamorig:LeftFoot",
            ],
            ["UpperArm_L", "LowerArm_L", "Hand_L", "UpperLeg_L", "LowerLeg_L", "Foot_L"],
            [
                "J_Bip_L_UpperArm",
                "J_Bip_L_LowerArm",
                "J_Bip_L_Hand",
                "J_Bip_L_UpperLeg",
                "J_Bip_L_LowerLeg",
                "J_Bip_L_Foot",
            ],
            ["DEF-upper_arm.L", "DEF-forearm.L", "DEF-hand.L", "DEF-thigh.L", "DEF-shin.L", "DEF-foot.L"],
            [
                "Bip01 L UpperArm",
                "Bip01 L Forearm",
                "Bip01 L Hand",
                "Bip01 L Thigh",
                "Bip01 L Calf",
                "Bip01 L Foot",
            ],
            ["lShldr", "lForeArm", "lHand", "lThigh", "lShin", "lFoot"],
            ["LeftShoulder", "LeftElbow", "LeftWrist", "LeftHip", "LeftKnee", "LeftAnkle"],
        ];
        for names in conventions {
            let limbs = found(&names);
            for (k, part) in [UpperArm, ForeArm, Hand, Thigh, Shin, Foot].into_iter().enumerate() {
                assert_eq!(limbs.joint(part, 0), Some(k), "{names:?} {part:?}");
                assert_eq!(limbs.joint(part, 1), None);
            }
        }
    }

    #[test]
    fn helpers_are_not_limbs_and_chains_are() {
        let limbs = found(&["__UpLeg_L", "UpLeg_L", "IK-foot.l", "Foot.L", "thigh_twist_01_l", "Foot_L_end"]);
        assert_eq!(limbs.joint(Thigh, 0), Some(1));
        assert_eq!(limbs.joint(Foot, 0), Some(3));
        let limbs = found(&["leg_joint_R_1", "leg_joint_R_2", "leg_joint_R_3", "leg_joint_R_5"]);
        assert_eq!([Thigh, Shin, Foot, Toe].map(|part| limbs.joint(part, 1)), [0, 1, 2, 3].map(Some));
        assert_eq!(found(&["FrontUpperLeg.L", "FrontLowerLeg.L"]).joint(Thigh, 0), None);
    }
}
