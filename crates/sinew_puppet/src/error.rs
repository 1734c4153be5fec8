//! Why a character could not be puppeteered.

use sinew_geom::GeomError;
use thiserror::Error;

/// What is wrong with pairs, bodies or settings.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum PuppetError {
    /// There is nothing to blend.
    #[error("there are no pairs; pair at least one pose of the body with one of the character")]
    NoPairs,
    /// Examples of different size.
    #[error(
        "pair {pair} has {actual} numbers, the first has {expected}; all must come from the same kind of body"
    )]
    Length {
        /// Which pair, counted from 0.
        pair: usize,
        /// Numbers of the first pair.
        expected: usize,
        /// Numbers of this one.
        actual: usize,
    },
    /// A coordinate is not a number.
    #[error("{what} {index} is not finite; leave it out or record it again")]
    NonFinite {
        /// What was checked.
        what: &'static str,
        /// Which of them, counted from 0.
        index: usize,
    },
    /// A pose of the character does not fit its skeleton.
    #[error("pair {pair}: the character's pose has {actual} joints, its skeleton {expected}; pair it again")]
    Joints {
        /// Which pair, counted from 0.
        pair: usize,
        /// Joints of the skeleton.
        expected: usize,
        /// Joints of the pose.
        actual: usize,
    },
    /// A pose of a body that was not fully tracked.
    #[error("pair {pair}: the body was not fully tracked ({joint} is missing); choose another frame")]
    Untracked {
        /// Which pair, counted from 0.
        pair: usize,
        /// The first joint that is missing.
        joint: &'static str,
    },
    /// A pose that cannot calibrate camera and actor.
    #[error(
        "this pose cannot be used for calibration: {cause}; stand straight, wholly in the picture, with the arms down"
    )]
    Calibration {
        /// Why not.
        cause: String,
    },
    /// A body that no person moves without pairs.
    #[error(
        "this skeleton is a {class}, which does not follow a person by itself; pair poses with `sinew puppet pair`"
    )]
    NoFigure {
        /// What it is.
        class: &'static str,
    },
    /// A skeleton in which no body can be found.
    #[error(
        "no {missing} was found among the joints {known}; name the joints as in Mixamo, CMU or VRM skeletons"
    )]
    NoBody {
        /// What is missing.
        missing: &'static str,
        /// Some joints there are.
        known: String,
    },
    /// A recording that has no depth.
    #[error("{layout} points have no depth; record with Kinect, MediaPipe world landmarks, BVH or VMC")]
    Flat {
        /// Its layout.
        layout: String,
    },
    /// A parameter is outside its range.
    #[error("{name} is {value}, but {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value given.
        value: String,
        /// What would be valid, as a clause.
        expected: &'static str,
    },
    /// A geometric computation failed.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
