//! Why rules could not be solved.

use thiserror::Error;

/// Why a skeleton, a pose or a set of rules was refused.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum ConstrainError {
    /// A skeleton without joints.
    #[error("the skeleton has no joints; give a file with a skeleton")]
    NoJoints,
    /// A joint with a non-uniform or non-positive scale.
    #[error(
        "joint `{joint}` is scaled by {scale:?}, which is not uniform or not above zero; apply the scale in the program it comes from"
    )]
    Scale {
        /// Name of the joint.
        joint: String,
        /// Its factors along x, y and z.
        scale: [f64; 3],
    },
    /// A range that is empty or not made of numbers.
    #[error("the range of `{dof}` is {low} .. {high}; its first number must not exceed the second")]
    Range {
        /// Name of the degree of freedom, such as `KneeR.rx`.
        dof: String,
        /// First number.
        low: f64,
        /// Second number.
        high: f64,
    },
    /// A slice of the wrong length.
    #[error("{what} has {actual} entries, but the skeleton needs {expected}")]
    Length {
        /// What was given.
        what: &'static str,
        /// How many are needed.
        expected: usize,
        /// How many there were.
        actual: usize,
    },
    /// A number that is not finite.
    #[error("{what} {index} is not finite")]
    NonFinite {
        /// What was given.
        what: &'static str,
        /// Which of them.
        index: usize,
    },
    /// A joint that a rule or an option names is not there.
    #[error("there is no joint `{name}`{hint}")]
    NoJoint {
        /// The name.
        name: String,
        /// The nearest name, as the end of a sentence.
        hint: String,
    },
    /// A foot without two bones above it.
    #[error("joint `{joint}` cannot be a foot: it needs a shin and a thigh above it")]
    NoLeg {
        /// Name of the joint.
        joint: String,
    },
    /// Legs without length.
    #[error("the legs have no length; give a skeleton whose bones have lengths")]
    NoLength,
    /// A part of the body that the skeleton does not have.
    #[error("there are no {part} to scale; name a joint, or one of all, legs, feet, arms")]
    NoPart {
        /// The part.
        part: String,
    },
    /// A factor that is not above zero.
    #[error("{part}={factor}: a length must stay above zero")]
    Factor {
        /// What was to be scaled.
        part: String,
        /// By what.
        factor: f64,
    },
    /// A joint of the new body that the clip does not move.
    #[error(
        "joint `{joint}` has no counterpart in the clip, nor has any other limb; give a skeleton of the same kind of body, whose joints are named after their parts"
    )]
    Unmatched {
        /// Name of the joint.
        joint: String,
    },
    /// A frame rate out of range.
    #[error("{fps} fps for {duration} seconds is out of range; choose between 1 and 1000 fps with --fps")]
    Rate {
        /// Frames per second.
        fps: f64,
        /// Seconds.
        duration: f64,
    },
    /// A clip without frames.
    #[error("the clip has no frames")]
    NoFrames,
    /// A frame with a number that is not finite.
    #[error("frame {frame}: joint `{joint}` has a number that is not finite; export the clip again")]
    BrokenFrame {
        /// Which frame, from 0.
        frame: usize,
        /// Name of the joint.
        joint: String,
    },
    /// The caller cancelled.
    #[error("stopped")]
    Cancelled,
    /// Numbers overflowed.
    #[error("numbers grew without bound; are the lengths of the skeleton in metres?")]
    Overflow,
    /// An invalid ground or clip.
    #[error(transparent)]
    Geom(#[from] sinew_geom::GeomError),
}

impl ConstrainError {
    /// A missing joint, with the most similar name.
    pub(crate) fn no_joint(name: &str, rig: &sinew_geom::Rig) -> Self {
        let names = rig.joints().iter().map(|joint| joint.name.as_str());
        let nearest = crate::language::suggest(name, names);
        let hint = nearest.map_or_else(
            || "; `sinew info FILE` lists the joints".to_owned(),
            |near| format!("; did you mean `{near}`?"),
        );
        Self::NoJoint { name: name.to_owned(), hint }
    }
}
