//! Built-in characters and sequences, grown by our own code at any resolution.
//!
//! Creatures are signed-distance fields around a skeleton (such as [`Sample::Biped`]) with skin weights,
//! joint limits, handles and cyclic clips; [`Sample::Bar`] is a regular grid; the sequences are simulated
//! cloth. All are in metres, +Y up, facing +Z with their left at +X, standing on y = 0. The same request gives
//! the same bits on every run and any number of threads.

mod bar;
mod biped;
mod cloth;
mod dress;
mod field;
mod grow;
mod lattice;
mod motion;
mod nets;
mod octopus;
mod plan;
mod poses;
mod quadruped;
mod remesh;
mod sack;
mod scenes;
mod shape;
#[cfg(test)]
mod tests;
mod weights;

use crate::{Character, GeomError, MeshSequence};
pub use poses::PoseSet;
use std::ops::ControlFlow;

/// A built-in character or sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sample {
    /// A person in shirt and trousers.
    Biped,
    /// A dog-like animal.
    Quadruped,
    /// Eight arms around a head.
    Octopus,
    /// The flour sack of animation schools.
    Sack,
    /// A straight bar of square section.
    Bar,
    /// A cloth falling over a round table.
    Tablecloth,
    /// A flag in gusty wind.
    Flag,
    /// A cloth ball dropped onto a pole.
    Balloon,
}

impl Sample {
    /// All samples, characters first.
    pub const ALL: [Self; 8] = [
        Self::Biped,
        Self::Quadruped,
        Self::Octopus,
        Self::Sack,
        Self::Bar,
        Self::Tablecloth,
        Self::Flag,
        Self::Balloon,
    ];

    /// Name used on the command line.
    pub fn name(self) -> &'static str {
        ["biped", "quadruped", "octopus", "sack", "bar", "tablecloth", "flag", "balloon"][self as usize]
    }

    /// The sample with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|sample| sample.name() == name)
    }

    /// Whether it is a mesh sequence rather than a rigged character.
    pub fn is_sequence(self) -> bool {
        matches!(self, Self::Tablecloth | Self::Flag | Self::Balloon)
    }
}

/// Vertex counts for which a sample can be built.
pub const VERTEX_RANGE: std::ops::RangeInclusive<usize> = 1_000..=1_000_000;

/// Build a rigged character of about `n_vertices` vertices.
///
/// # Errors
/// A count outside [`VERTEX_RANGE`], or a sample that is a sequence.
pub fn build_character(sample: Sample, n_vertices: usize) -> Result<Character, GeomError> {
    check_count(n_vertices)?;
    match sample {
        Sample::Biped => biped::build_biped(n_vertices),
        Sample::Quadruped => quadruped::build_quadruped(n_vertices),
        Sample::Octopus => octopus::build_octopus(n_vertices),
        Sample::Sack => sack::build_sack(n_vertices),
        Sample::Bar => bar::build_bar(n_vertices),
        Sample::Tablecloth | Sample::Flag | Sample::Balloon => {
            Err(wrong_kind(sample, "it is a sequence, not a character"))
        }
    }
}

/// Simulate a sequence of about `n_vertices` vertices, 64 frames at 24 fps.
///
/// `progress` is called after each frame with the share done, 0..=1.
///
/// # Errors
/// A count outside [`VERTEX_RANGE`], a sample that is a character, or a stop by `progress`.
pub fn build_sequence(
    sample: Sample,
    n_vertices: usize,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<MeshSequence, GeomError> {
    check_count(n_vertices)?;
    match sample {
        Sample::Tablecloth => scenes::build_tablecloth(n_vertices, progress),
        Sample::Flag => scenes::build_flag(n_vertices, progress),
        Sample::Balloon => scenes::build_balloon(n_vertices, progress),
        _ => Err(wrong_kind(sample, "it is a character, not a sequence")),
    }
}

fn check_count(n_vertices: usize) -> Result<(), GeomError> {
    if VERTEX_RANGE.contains(&n_vertices) {
        return Ok(());
    }
    Err(GeomError::Parameter {
        name: "vertices",
        value: n_vertices.to_string(),
        expected: "it must lie between 1000 and 1000000",
    })
}

fn wrong_kind(sample: Sample, expected: &'static str) -> GeomError {
    GeomError::Parameter { name: "sample", value: sample.name().into(), expected }
}
