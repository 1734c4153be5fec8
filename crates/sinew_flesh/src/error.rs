//! Why flesh could not be made or moved.

use sinew_geom::GeomError;
use thiserror::Error;

/// What is wrong with a body, its skeleton, its material or what holds it.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum FleshError {
    /// Nothing to fill.
    #[error("there are no faces, so there is nothing to fill with flesh; give a mesh with faces")]
    NoFaces,
    /// A surface without an inside.
    #[error(
        "the surface encloses no volume (it is flat, or open all around), so it has no flesh; \
         close it, give it thickness, or ask for smaller cells"
    )]
    NoVolume,
    /// A mesh without extent.
    #[error(
        "all vertices lie in one point, so there is no size to choose cells by; scale or replace the mesh"
    )]
    NoExtent,
    /// More cells than memory or patience allow.
    #[error("cells of {size} m would be {actual} of them, more than {limit}; choose larger cells")]
    TooManyCells {
        /// Side of a cell.
        size: f64,
        /// About how many there would be.
        actual: usize,
        /// The most that are made.
        limit: usize,
    },
    /// A cell without volume, or turned inside out.
    #[error("cell {cell} is folded over or flat (volume {volume:.3e}); move its corners apart")]
    FoldedCell {
        /// Which cell, counted from 0.
        cell: usize,
        /// Its smallest volume at a corner, relative to its size.
        volume: f64,
    },
    /// A lattice of nothing.
    #[error("the lattice has no cells; give it hexahedra, tetrahedra or prisms")]
    NoCells,
    /// Cells of a hand-made lattice that are flat or turned inside out.
    #[error(
        "{count} of {n_cells} cells are folded over or flat ({names}; counted from 1 within their kind); \
         move their corners apart, or turn around the order of their nodes"
    )]
    FoldedCells {
        /// How many.
        count: usize,
        /// Total number.
        n_cells: usize,
        /// The first of them.
        names: String,
    },
    /// Cells of a hand-made lattice that lie in the same place.
    #[error(
        "{first} and {second} overlap at {at:.4} (counted from 1 within their kind); move their nodes apart"
    )]
    OverlappingCells {
        /// One of them.
        first: String,
        /// The other.
        second: String,
        /// A place that both contain.
        at: glam::DVec3,
    },
    /// A lattice that was made for something else.
    #[error(
        "{count} of {n_vertices} vertices lie in no cell, the first at {first:.4} (the lattice spans {lattice}, the \
         surface {surface}); move or scale the lattice so that it contains the surface"
    )]
    LatticeElsewhere {
        /// Vertices outside.
        count: usize,
        /// Total number.
        n_vertices: usize,
        /// Where the first of them is.
        first: glam::DVec3,
        /// Box of the lattice.
        lattice: String,
        /// Box of the surface.
        surface: String,
    },
    /// A cell that refers to a node that does not exist.
    #[error("cell {cell} uses node {node}, but there are only {n_nodes}")]
    CellNode {
        /// Which cell, counted from 0.
        cell: usize,
        /// The offending index.
        node: usize,
        /// Number of nodes.
        n_nodes: usize,
    },
    /// Something that only works with cells of one size.
    #[error(
        "cells of several sizes cannot do that (modes warped and blended, smooth display); choose cells of one size"
    )]
    SeveralSizes,
    /// A node that follows others is held itself.
    #[error("a node that hangs between larger cells is held; hold the corners of those instead")]
    HeldBetween,
    /// Something refers to a node or cell that does not exist.
    #[error("{what} {index} does not exist: there are {len}, counted from 0")]
    OutOfLattice {
        /// What is referred to: "held node", "cell of an anchor", …
        what: &'static str,
        /// The offending index.
        index: usize,
        /// Number there are.
        len: usize,
    },
    /// A skeleton that has nothing to do with the surface.
    #[error(
        "no bone of the skeleton lies within the surface (bones span {bones}, the surface {surface}); \
         bind the skeleton where the mesh is, or correct its unit"
    )]
    SkeletonOutside {
        /// Box of the bones.
        bones: String,
        /// Box of the surface.
        surface: String,
    },
    /// Handles that hold nothing.
    #[error("no handle holds a vertex, so nothing moves the flesh; give handles with vertices of this mesh")]
    NothingHeld,
    /// Points that are held at places which contradict each other.
    #[error(
        "pin {pin} contradicts {others}: together they ask for a shape its cells cannot take \
         ({gap:.3e} m apart); remove one, or move them together"
    )]
    ContradictoryPins {
        /// Which pin, counted from 0.
        pin: usize,
        /// Pins it contradicts.
        others: String,
        /// How far apart.
        gap: f64,
    },
    /// A list that does not fit what it belongs to.
    #[error("{what} has {actual} entries, expected {expected}")]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Entries needed.
        expected: usize,
        /// Entries given.
        actual: usize,
    },
    /// A coordinate that is no number.
    #[error("{what} {index} is not finite")]
    NonFinite {
        /// What was looked at.
        what: &'static str,
        /// Which of them, counted from 0.
        index: usize,
    },
    /// A parameter outside its range.
    #[error("{name} is {value}, but {expected}")]
    Parameter {
        /// Name of the parameter.
        name: &'static str,
        /// Value given.
        value: f64,
        /// What would be valid, as a clause.
        expected: &'static str,
    },
    /// Something is wrong with muscles.
    #[error(transparent)]
    Muscle(#[from] crate::muscle_error::MuscleError),
    /// A geometric computation failed.
    #[error(transparent)]
    Geom(#[from] GeomError),
}
