//! Parts of bodies that joints move.

/// A part of a body. Legs in front of an animal are its arms, so that limbs of people and animals correspond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// What only holds the body: armatures, roots at the floor.
    Root,
    /// The pelvis.
    Hips,
    /// Between hips and chest.
    Spine,
    /// Where arms and neck begin.
    Chest,
    /// Between chest and head.
    Neck,
    /// The head.
    Head,
    /// Eyes, jaw, ears, hair.
    Face,
    /// Clavicle or shoulder blade.
    Shoulder,
    /// From shoulder to elbow.
    UpperArm,
    /// From elbow to wrist.
    Forearm,
    /// Hand or front foot.
    Hand,
    /// Fingers, or toes of a front foot.
    Finger,
    /// What carries a leg at the pelvis.
    HipBone,
    /// From hip to knee.
    Thigh,
    /// From knee to ankle.
    Shin,
    /// Foot; of animals that walk on their toes, from the hock.
    Foot,
    /// Toes.
    Toe,
    /// A leg of a body that has many.
    Leg,
    /// Tail.
    Tail,
    /// Wing.
    Wing,
    /// Fin or flipper.
    Fin,
    /// Arm of an octopus.
    Tentacle,
    /// Controls, twist and end joints.
    Helper,
    /// Not known.
    Unknown,
}

impl Part {
    /// The word in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Root => "root",
            Self::Hips => "hips",
            Self::Spine => "spine",
            Self::Chest => "chest",
            Self::Neck => "neck",
            Self::Head => "head",
            Self::Face => "face",
            Self::Shoulder => "shoulder",
            Self::UpperArm => "upper_arm",
            Self::Forearm => "forearm",
            Self::Hand => "hand",
            Self::Finger => "finger",
            Self::HipBone => "hip_bone",
            Self::Thigh => "thigh",
            Self::Shin => "shin",
            Self::Foot => "foot",
            Self::Toe => "toe",
            Self::Leg => "leg",
            Self::Tail => "tail",
            Self::Wing => "wing",
            Self::Fin => "fin",
            Self::Tentacle => "tentacle",
            Self::Helper => "helper",
            Self::Unknown => "unknown",
        }
    }
}
