//! The meaning of the name of a joint, in the conventions of all programs.
//!
//! Names of Mixamo, Unreal, Unity, VRM, Blender, Biped (3ds Max), DAZ, CMU, Xsens, Bandai Namco and hobby rigs are understood.

use super::Part;
use crate::{Rig, rig::Side};

/// What a name says about a joint.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NameMeaning {
    pub side: Side,
    /// Which of several limbs of a kind, such as `front` or `midback`.
    pub place: String,
    pub word: Word,
}

/// What the words of a name mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Exactly this part.
    Is(Part),
    /// Some joint of an arm, or of a leg.
    Arm,
    Leg,
    /// Controls, twist and end joints: they carry nothing of their own.
    Helper,
    Unknown,
}

/// Prefixes that makers put before every name.
const PREFIXES: [&str; 9] = ["mixamorig", "bip", "valvebiped", "def", "org", "mch", "bn", "bone", "skeleton"];

/// Words, and what they mean; the first that fits counts. `=` before a word means the whole word.
const WORDS: [(&str, Word); 74] = [
    ("=ik", Word::Helper),
    ("pole", Word::Helper),
    ("target", Word::Helper),
    ("twist", Word::Helper),
    ("roll", Word::Helper),
    ("control", Word::Helper),
    ("ctrl", Word::Helper),
    ("orient", Word::Helper),
    ("tracker", Word::Helper),
    ("slot", Word::Helper),
    ("=end", Word::Helper),
    ("nub", Word::Helper),
    ("=tip", Word::Helper),
    ("=site", Word::Helper),
    ("hipjoint", Word::Is(Part::HipBone)),
    ("buttock", Word::Is(Part::HipBone)),
    ("backshoulder", Word::Is(Part::HipBone)),
    ("backhip", Word::Is(Part::HipBone)),
    ("thumb", Word::Is(Part::Finger)),
    ("index", Word::Is(Part::Finger)),
    ("middle", Word::Is(Part::Finger)),
    ("=ring", Word::Is(Part::Finger)),
    ("handring", Word::Is(Part::Finger)),
    ("pinky", Word::Is(Part::Finger)),
    ("little", Word::Is(Part::Finger)),
    ("finger", Word::Is(Part::Finger)),
    ("phalan", Word::Is(Part::Finger)),
    ("carpal", Word::Is(Part::Finger)),
    ("eye", Word::Is(Part::Face)),
    ("brow", Word::Is(Part::Face)),
    ("jaw", Word::Is(Part::Face)),
    ("mouth", Word::Is(Part::Face)),
    ("=lip", Word::Is(Part::Face)),
    ("tongue", Word::Is(Part::Face)),
    ("teeth", Word::Is(Part::Face)),
    ("hair", Word::Is(Part::Face)),
    ("=ear", Word::Is(Part::Face)),
    ("antenna", Word::Is(Part::Face)),
    ("tail", Word::Is(Part::Tail)),
    ("wing", Word::Is(Part::Wing)),
    ("flipper", Word::Is(Part::Fin)),
    ("=fin", Word::Is(Part::Fin)),
    ("tentacle", Word::Is(Part::Tentacle)),
    ("toe", Word::Is(Part::Toe)),
    ("=ball", Word::Is(Part::Toe)),
    ("foot", Word::Is(Part::Foot)),
    ("ankle", Word::Is(Part::Foot)),
    ("hock", Word::Is(Part::Foot)),
    ("thigh", Word::Is(Part::Thigh)),
    ("upleg", Word::Is(Part::Thigh)),
    ("upperleg", Word::Is(Part::Thigh)),
    ("shin", Word::Is(Part::Shin)),
    ("calf", Word::Is(Part::Shin)),
    ("lowleg", Word::Is(Part::Shin)),
    ("lowerleg", Word::Is(Part::Shin)),
    ("knee", Word::Is(Part::Shin)),
    ("leg", Word::Leg),
    ("clavicle", Word::Is(Part::Shoulder)),
    ("collar", Word::Is(Part::Shoulder)),
    ("shoulder", Word::Is(Part::Shoulder)),
    ("shldr", Word::Is(Part::UpperArm)),
    ("upperarm", Word::Is(Part::UpperArm)),
    ("forearm", Word::Is(Part::Forearm)),
    ("lowerarm", Word::Is(Part::Forearm)),
    ("elbow", Word::Is(Part::Forearm)),
    ("hand", Word::Is(Part::Hand)),
    ("wrist", Word::Is(Part::Hand)),
    ("palm", Word::Is(Part::Hand)),
    ("paw", Word::Is(Part::Hand)),
    ("head", Word::Is(Part::Head)),
    ("neck", Word::Is(Part::Neck)),
    ("=arm", Word::Arm),
    ("chest", Word::Is(Part::Chest)),
    ("thorax", Word::Is(Part::Chest)),
];

/// Words of the trunk, looked for last because limbs use them too (`LeftUpLeg`, `FrontUpperLeg`, `BackLeg`).
const TRUNK: [(&str, Part); 11] = [
    ("hips", Part::Hips),
    ("pelvis", Part::Hips),
    ("=hip", Part::Hips),
    ("spine", Part::Spine),
    ("torso", Part::Spine),
    ("abdomen", Part::Spine),
    ("lowerback", Part::Spine),
    ("waist", Part::Spine),
    ("=back", Part::Spine),
    ("=main", Part::Spine),
    ("=body", Part::Root),
];

/// What all joints are. Where the file says which bones they are, that is believed: others with a name that means one of these
/// bones carry nothing of their own.
pub(super) fn understand_all(rig: &Rig) -> Vec<NameMeaning> {
    let joints = rig.joints();
    let mut names: Vec<NameMeaning> = joints.iter().map(|joint| understand(joint.meaning())).collect();
    let said: Vec<(Side, Word)> = (joints.iter().zip(&names))
        .filter(|(joint, _)| joint.bone.is_some())
        .map(|(_, name)| (name.side, name.word))
        .collect();
    for (_, name) in joints.iter().zip(&mut names).filter(|(joint, _)| joint.bone.is_none()) {
        let is_limb = matches!(name.word, Word::Arm | Word::Leg);
        if !said.is_empty() && (is_limb || said.contains(&(name.side, name.word)) && is_one(name.word)) {
            name.word = Word::Helper;
        }
    }
    names
}

/// Whether a person has one of these on each side.
fn is_one(word: Word) -> bool {
    const MANY: [Part; 5] = [Part::Spine, Part::Chest, Part::Neck, Part::Finger, Part::Face];
    matches!(word, Word::Is(part) if !MANY.contains(&part))
}

/// Take a name apart.
pub(super) fn understand(name: &str) -> NameMeaning {
    let name = name.rsplit([':', '|']).next().unwrap_or(name);
    let words = split(name);
    let side_of = |word: &String| match word.as_str() {
        "l" | "left" => Some(Side::Left),
        "r" | "right" => Some(Side::Right),
        _ => None,
    };
    let side = words.iter().find_map(side_of).unwrap_or(Side::Middle);
    let is_content = |word: &&String| {
        side_of(word).is_none()
            && word.parse::<u32>().is_err()
            && !PREFIXES.contains(&word.as_str())
            && word.len() > 1
    };
    let mut words: Vec<&str> = words.iter().filter(is_content).map(String::as_str).collect();
    // Exporters put the name of the armature before or after those of its joints.
    if words.iter().any(|word| *word != "armature") {
        words.retain(|word| *word != "armature");
    }
    let joined = words.concat();
    let has = |pattern: &str| match pattern.strip_prefix('=') {
        Some(whole) => words.contains(&whole),
        None => joined.contains(pattern),
    };
    let limb = WORDS.iter().find(|(pattern, _)| has(pattern)).map(|(_, word)| *word);
    let trunk = TRUNK.iter().find(|(pattern, _)| has(pattern)).map(|(_, part)| *part);
    let word = match (limb, trunk, side) {
        // `LeftHip` begins a leg.
        (None, Some(Part::Hips), Side::Left | Side::Right) => Word::Is(Part::Thigh),
        (Some(word), _, _) => word,
        (None, Some(part), _) => Word::Is(part),
        (None, None, _) if has("root") || has("armature") => Word::Is(Part::Root),
        _ => Word::Unknown,
    };
    let place =
        ["front", "mid", "back", "hind", "rear"].into_iter().filter(|place| joined.contains(place)).collect();
    NameMeaning { side, place, word }
}

/// Words of a name in small letters, split at punctuation, capitals and digits: `LeftHandIndex1` is left, hand, index, 1.
fn split(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    let letters: Vec<char> = name.chars().collect();
    for (k, &c) in letters.iter().enumerate() {
        let next_is_small = letters.get(k + 1).is_some_and(|next| next.is_lowercase());
        let begins = !before.is_alphanumeric()
            || (c.is_uppercase() && (before.is_lowercase() || (before.is_uppercase() && next_is_small)))
            || (c.is_ascii_digit() != before.is_ascii_digit());
        if c.is_alphanumeric() {
            match words.last_mut() {
                Some(word) if !begins => word.extend(c.to_lowercase()),
                _ => words.push(c.to_lowercase().collect()),
            }
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Transform, rig::Joint};

    #[test]
    fn names_of_many_makers_mean_the_same() {
        let table = [
            ("mixamorig:LeftUpLeg", Side::Left, Word::Is(Part::Thigh)),
            ("mixamorig:LeftLeg", Side::Left, Word::Leg),
            ("mixamorig:RightForeArm", Side::Right, Word::Is(Part::Forearm)),
            ("mixamorig:LeftArm", Side::Left, Word::Arm),
            ("mixamorig:LeftHandRing1", Side::Left, Word::Is(Part::Finger)),
            ("upperarm_l", Side::Left, Word::Is(Part::UpperArm)),
            ("thigh_twist_01_r", Side::Right, Word::Helper),
            ("Bip01 L Calf", Side::Left, Word::Is(Part::Shin)),
            ("J_Bip_R_UpperLeg", Side::Right, Word::Is(Part::Thigh)),
            ("upper_arm.L", Side::Left, Word::Is(Part::UpperArm)),
            ("LHipJoint", Side::Left, Word::Is(Part::HipBone)),
            ("rShldr", Side::Right, Word::Is(Part::UpperArm)),
            ("LowerLeg_R", Side::Right, Word::Is(Part::Shin)),
            ("Skeleton_arm_joint_L__4_", Side::Left, Word::Arm),
            ("b_LeftFoot01_017", Side::Left, Word::Is(Part::Foot)),
            ("BackShoulder.L", Side::Left, Word::Is(Part::HipBone)),
            ("Hips", Side::Middle, Word::Is(Part::Hips)),
            ("b_Hip_01", Side::Middle, Word::Is(Part::Hips)),
            ("Torso2", Side::Middle, Word::Is(Part::Spine)),
            ("PoleTarget.R", Side::Right, Word::Helper),
            ("Tail3", Side::Middle, Word::Is(Part::Tail)),
            ("joint_Root", Side::Middle, Word::Is(Part::Root)),
            ("Main3", Side::Middle, Word::Is(Part::Spine)),
            ("shin.r_Armature", Side::Right, Word::Is(Part::Shin)),
            ("tummy_Armature", Side::Middle, Word::Unknown),
            ("Armature_rootJoint", Side::Middle, Word::Is(Part::Root)),
            ("FrontHair_L", Side::Left, Word::Is(Part::Face)),
        ];
        for (name, side, word) in table {
            let meaning = understand(name);
            assert_eq!((meaning.side, meaning.word), (side, word), "{name}");
        }
        assert_eq!(understand("MidBackLeg2.L").place, "midback");
    }

    #[test]
    fn what_the_file_says_is_believed_before_names() {
        let joint = |name: &str, bone| Joint { bone, ..Joint::new(name, None, Transform::IDENTITY) };
        let joints = vec![
            joint("Bone_17", Some("leftUpperLeg")),
            joint("RightUpLeg", Some("leftLowerLeg")),
            joint("LeftUpLeg", None),
            joint("Hair_L", None),
        ];
        let names = understand_all(&Rig::new(joints).unwrap());
        let meanings: Vec<(Side, Word)> = names.iter().map(|name| (name.side, name.word)).collect();
        let expected = [
            (Side::Left, Word::Is(Part::Thigh)),
            (Side::Left, Word::Is(Part::Shin)),
            (Side::Left, Word::Helper),
            (Side::Left, Word::Is(Part::Face)),
        ];
        assert_eq!(meanings, expected);
    }
}
