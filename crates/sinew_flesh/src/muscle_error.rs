//! Why a muscle could not be made, fitted, driven or given to another character.

use thiserror::Error;

/// What is wrong with muscles, their parameters, their targets or the characters they are for.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum MuscleError {
    /// Two control parameters of one name.
    #[error("the control parameter {name:?} exists twice; rename or remove one")]
    DuplicateControl {
        /// The name.
        name: String,
    },
    /// Two muscles of one name.
    #[error("the muscle {name:?} exists twice; rename or remove one")]
    DuplicateMuscle {
        /// The name.
        name: String,
    },
    /// A name that nothing has.
    #[error("there is no {what} {name:?}; there are: {known}")]
    Unknown {
        /// What is looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// Names there are.
        known: String,
    },
    /// A pose parameter of a character without a skeleton.
    #[error("the control parameter {name:?} follows the joint {joint:?}, but there is no skeleton")]
    NoSkeleton {
        /// The control parameter.
        name: String,
        /// The joint.
        joint: String,
    },
    /// A muscle without a recorded sample.
    #[error("the muscle {muscle:?} has no sample, so it has no force; record one")]
    NoSamples {
        /// The muscle.
        muscle: String,
    },
    /// A parameter out of range.
    #[error("{what} of the muscle {muscle:?} is {value}, but {expected}")]
    Parameter {
        /// The muscle.
        muscle: String,
        /// The parameter.
        what: String,
        /// Its value.
        value: f64,
        /// What would be valid, as a clause.
        expected: &'static str,
    },
    /// A template that touches nothing.
    #[error(
        "the template of the muscle {muscle:?} reaches {reach:.3} m around {center}, where there is no flesh \
         (the body spans {body}); move it, or make its radius larger"
    )]
    TemplateOutside {
        /// The muscle.
        muscle: String,
        /// How far it reaches.
        reach: f64,
        /// Where it is.
        center: String,
        /// Box of the body.
        body: String,
    },
    /// A muscle made for another lattice.
    #[error(
        "the muscle {muscle:?} was made for {expected} nodes of cells of {size:.4} m, but the body has {actual}; \
         fill it with the same --cells, or fit the muscle again"
    )]
    OtherLattice {
        /// The muscle.
        muscle: String,
        /// Nodes it was made for.
        expected: usize,
        /// Side of a cell it was made for.
        size: f64,
        /// Nodes there are.
        actual: usize,
    },
    /// A body that nothing holds has no shape at rest.
    #[error(
        "nothing holds the body, so pushing it would move it for ever; give the character a skeleton \
         (`sinew handles auto`, then `sinew convert --as-skin`)"
    )]
    NotHeld,
    /// A mode whose forces do not come from an energy.
    #[error("mode {mode} has no energy to take the forces of a surface muscle from; choose mode predicted")]
    Mode {
        /// The mode.
        mode: &'static str,
    },
    /// A target of other connectivity where vertices have to correspond.
    #[error(
        "the target surface has {actual} vertices, the character {expected}, so they do not correspond; \
         match by the closest distance instead (--closest)"
    )]
    OtherTopology {
        /// Vertices of the character.
        expected: usize,
        /// Vertices of the target.
        actual: usize,
    },
    /// A target of another unit.
    #[error(
        "the target surface is {ratio:.3} times as large as the character; bring it to the same unit first \
         (a factor of 100 or 1000 is centimetres or millimetres)"
    )]
    OtherScale {
        /// Diagonal of the target over that of the character.
        ratio: f64,
    },
    /// A target somewhere else.
    #[error(
        "the target surface spans {target}, the posed character {body}: they do not overlap; \
         move the target to the character, or give features so that the pose can go there"
    )]
    NoOverlap {
        /// Box of the target.
        target: String,
        /// Box of the body.
        body: String,
    },
    /// A target without faces.
    #[error("the target surface has no faces, so nothing can be close to it; give a mesh with faces")]
    EmptyTarget,
    /// A feature that is no vertex.
    #[error("feature {feature} names vertex {vertex} of the {of}, which has {n_vertices}")]
    FeatureRange {
        /// Which feature, counted from 0.
        feature: usize,
        /// The vertex.
        vertex: usize,
        /// Which surface.
        of: &'static str,
        /// Vertices there are.
        n_vertices: usize,
    },
    /// A feature away from every face.
    #[error(
        "feature {feature} (vertex {vertex} of the {of}) is not on the surface: no face uses it; \
         pick a vertex of a face"
    )]
    FeatureOffSurface {
        /// Which feature, counted from 0.
        feature: usize,
        /// The vertex.
        vertex: usize,
        /// Which surface.
        of: &'static str,
    },
    /// Features that do not fix a pose.
    #[error(
        "{actual} features{extra} do not fix the pose; give at least 3 that are not on one line, and one or \
         more on every limb that is to move"
    )]
    TooFewFeatures {
        /// How many there are.
        actual: usize,
        /// What else is wrong with them.
        extra: &'static str,
    },
    /// A selection without vertices.
    #[error("no vertex is selected, so there is nothing to match; select some, or leave the selection out")]
    EmptyLasso,
    /// Skeletons that do not match.
    #[error(
        "the skeletons do not match: {unmatched} of the source {verb} no partner in the target (which has: \
         {target}); rename joints, or pair them by hand"
    )]
    UnmatchedBones {
        /// Joints without partner.
        unmatched: String,
        /// "has" or "have".
        verb: &'static str,
        /// Joints of the target.
        target: String,
    },
    /// A map that folds space over.
    #[error(
        "the map to the other character folds {n_cells} cells over (the first is {cell}, volume {volume:.3}); \
         give more features, or a smaller weight of the surface"
    )]
    FoldedMap {
        /// How many.
        n_cells: usize,
        /// The first.
        cell: usize,
        /// Its least volume at a corner, relative to what it was.
        volume: f64,
    },
}
