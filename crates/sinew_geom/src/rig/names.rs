//! Names of joints in the conventions of several makers: which part of a person, and on which side.
//!
//! Names of CMU, Mixamo, Bandai-Namco, DAZ, VRM, Unity and Blender skeletons are understood.

use crate::Rig;

/// A side of the body, or its middle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// At +X of someone who faces +Z.
    Left,
    /// At −X.
    Right,
    /// Neither.
    Middle,
}

/// A part of a person that skeletons have a joint for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BodyPart {
    Hips,
    Spine,
    Neck,
    Head,
    Clavicle,
    UpperArm,
    Forearm,
    Hand,
    /// The root of the middle finger.
    Fingers,
    Thigh,
    Shin,
    Foot,
    Toes,
}

impl BodyPart {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Hips,
        Self::Spine,
        Self::Neck,
        Self::Head,
        Self::Clavicle,
        Self::UpperArm,
        Self::Forearm,
        Self::Hand,
        Self::Fingers,
        Self::Thigh,
        Self::Shin,
        Self::Foot,
        Self::Toes,
    ];

    /// Names without their side, best first.
    fn names(self) -> &'static [&'static str] {
        match self {
            Self::Hips => &["hips", "pelvis", "hip", "root"],
            Self::Spine => &["spine", "lowerback", "abdomen", "spine1", "chest"],
            Self::Neck => &["neck", "neck1", "upperchest"],
            Self::Head => &["head"],
            Self::Clavicle => &["clavicle", "collar", "shoulder"],
            Self::UpperArm => &["upperarm", "arm", "shldr", "shoulder"],
            Self::Forearm => &["forearm", "lowerarm", "elbow"],
            Self::Hand => &["hand", "wrist"],
            Self::Fingers => {
                &["middle1", "mid1", "middleproximal", "handmiddle1", "handindex1", "fingerbase"]
            }
            Self::Thigh => &["upleg", "upperleg", "thigh", "hip"],
            Self::Shin => &["lowerleg", "leg", "shin", "calf", "knee"],
            Self::Foot => &["foot", "ankle"],
            Self::Toes => &["toebase", "toes", "toe", "ball"],
        }
    }
}

/// The names of a rig's joints, parsed.
#[derive(Debug, Clone)]
pub struct PartNames {
    names: Vec<(Side, String)>,
    /// Whether the file says which bone each joint is.
    is_said: Vec<bool>,
}

impl PartNames {
    /// Parse the names of a rig.
    pub fn new(rig: &Rig) -> Self {
        let names = rig.joints().iter().map(|joint| take_apart(joint.meaning())).collect();
        Self { names, is_said: rig.joints().iter().map(|joint| joint.bone.is_some()).collect() }
    }

    /// The joint that is called like a part on a side; what a file says about its bones comes first.
    pub fn find(&self, part: BodyPart, side: Side) -> Option<usize> {
        let place = |name: &str, must_be_said: bool| {
            let is_it = |(at, (s, found)): (usize, &(Side, String))| {
                *s == side && found == name && (self.is_said[at] || !must_be_said)
            };
            self.names.iter().enumerate().position(is_it)
        };
        let named = |must_be_said: bool| part.names().iter().find_map(|name| place(name, must_be_said));
        let found = named(true).or_else(|| named(false));
        // A shoulder is a clavicle only where the upper arm has its own name.
        let arm = || self.find(BodyPart::UpperArm, side);
        found.filter(|joint| part != BodyPart::Clavicle || arm() != Some(*joint))
    }
}

/// A name without its side: `mixamorig:LeftUpLeg` is the left `upleg`, `upper_arm.R` the right `upperarm`.
fn take_apart(name: &str) -> (Side, String) {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let words = words(name);
    let side_of = |word: &str| match word {
        "l" | "left" => Some(Side::Left),
        "r" | "right" => Some(Side::Right),
        _ => None,
    };
    let side = words.iter().find_map(|word| side_of(word)).unwrap_or(Side::Middle);
    (side, words.into_iter().filter(|word| side_of(word).is_none()).collect())
}

/// Words of a name in lower case, split at punctuation and at capitals: `lForeArm` is l, fore, arm.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (c.is_uppercase() && was_small) {
            words.push(String::new());
        }
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    // `LHipJoint` and `RThumb`: one capital before another is a separate word.
    if let Some((first, rest)) = name.split_at_checked(1)
        && ["L", "R"].contains(&first)
        && rest.starts_with(char::is_uppercase)
    {
        return [vec![first.to_lowercase()], self::words(rest)].concat();
    }
    words.retain(|word| !word.is_empty());
    words
}
