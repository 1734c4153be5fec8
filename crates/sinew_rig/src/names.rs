//! Names that other programs expect for the joints of a person.

use crate::RigError;
use sinew_geom::{Joint, Rig};

/// A convention for the names of joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NamePreset {
    /// `mixamorig:LeftUpLeg`
    Mixamo,
    /// `thigh_l`, as Unreal's mannequin has them.
    Unreal,
    /// `LeftUpperLeg`, as Unity's humanoid avatars have them.
    Unity,
    /// `leftUpperLeg`, as in VRM.
    Vrm,
}

/// Our name without its side; then that of Mixamo, Unreal, Unity. `*` stands for the side. VRM's names are Unity's with a
/// small first letter.
const TABLE: [[&str; 4]; 14] = [
    ["hips", "Hips", "pelvis", "Hips"],
    ["spine.1", "Spine", "spine_01", "Spine"],
    ["spine.2", "Spine1", "spine_02", "Chest"],
    ["chest", "Spine2", "spine_03", "UpperChest"],
    ["neck", "Neck", "neck_01", "Neck"],
    ["head", "Head", "head", "Head"],
    ["shoulder", "*Shoulder", "clavicle_*", "*Shoulder"],
    ["upper_arm", "*Arm", "upperarm_*", "*UpperArm"],
    ["forearm", "*ForeArm", "lowerarm_*", "*LowerArm"],
    ["hand", "*Hand", "hand_*", "*Hand"],
    ["thigh", "*UpLeg", "thigh_*", "*UpperLeg"],
    ["shin", "*Leg", "calf_*", "*LowerLeg"],
    ["foot", "*Foot", "foot_*", "*Foot"],
    ["toe", "*ToeBase", "ball_*", "*Toes"],
];

impl NamePreset {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mixamo, Self::Unreal, Self::Unity, Self::Vrm];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        ["mixamo", "unreal", "unity", "vrm"][self as usize]
    }

    /// Preset of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.name() == name)
    }

    /// What the preset calls one of our joints, if it has a word for it.
    pub fn translate(self, joint: &str) -> Option<String> {
        let (stem, side) = match joint.strip_suffix(".L") {
            Some(stem) => (stem, Some(0)),
            None => joint.strip_suffix(".R").map_or((joint, None), |stem| (stem, Some(1))),
        };
        let row = TABLE.iter().find(|row| row[0] == stem && row[1].contains('*') == side.is_some())?;
        let word = |text: &str, sides: [&str; 2]| text.replace('*', side.map_or("", |side| sides[side]));
        let long = |text: &str| word(text, ["Left", "Right"]);
        Some(match self {
            Self::Mixamo => format!("mixamorig:{}", long(row[1])),
            Self::Unreal => word(row[2], ["l", "r"]),
            Self::Unity => long(row[3]),
            Self::Vrm => {
                let name = long(row[3]);
                name[..1].to_lowercase() + &name[1..]
            }
        })
    }

    /// The rig with the preset's names. Joints without a word in it (tails, wings) keep theirs, with `_` for `.`, which some
    /// programs reject; their number comes second.
    ///
    /// # Errors
    /// None for a rig that [`build_rig`](crate::build_rig) made.
    pub fn rename(self, rig: &Rig) -> Result<(Rig, usize), RigError> {
        let mut n_kept = 0;
        let rename = |joint: &Joint| {
            let name = self.translate(&joint.name).unwrap_or_else(|| {
                n_kept += 1;
                joint.name.replace('.', "_")
            });
            Joint { name, ..joint.clone() }
        };
        let joints = rig.joints().iter().map(rename).collect();
        Ok((Rig::new(joints)?, n_kept))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sinew_geom::Transform;

    #[test]
    fn joints_get_the_names_of_other_programs() {
        let table = [
            ("thigh.L", ["mixamorig:LeftUpLeg", "thigh_l", "LeftUpperLeg", "leftUpperLeg"]),
            ("forearm.R", ["mixamorig:RightForeArm", "lowerarm_r", "RightLowerArm", "rightLowerArm"]),
            ("hips", ["mixamorig:Hips", "pelvis", "Hips", "hips"]),
            ("chest", ["mixamorig:Spine2", "spine_03", "UpperChest", "upperChest"]),
        ];
        for (ours, theirs) in table {
            for (preset, name) in NamePreset::ALL.into_iter().zip(theirs) {
                assert_eq!(preset.translate(ours).as_deref(), Some(name));
            }
        }
        assert_eq!(NamePreset::Unity.translate("wing.1.L"), None);
    }

    #[test]
    fn what_has_no_word_keeps_its_name_without_dots() {
        let joint = |name: &str, parent| Joint::new(name, parent, Transform::IDENTITY);
        let rig = Rig::new(vec![joint("hips", None), joint("tail.1", Some(0))]).unwrap();
        let (renamed, n_kept) = NamePreset::Unreal.rename(&rig).unwrap();
        assert_eq!((renamed.joints()[1].name.as_str(), n_kept), ("tail_1", 1));
    }
}
