//! The types every capability of Sinew consumes and produces, and the mathematics they share.
//!
//! A [`Character`] is a [`Mesh`] with, optionally, a [`Rig`], a [`Skin`], morph targets, clips and handles.
//! A motion is a [`Clip`] of a rig, or a [`MeshSequence`] of vertices. Nothing here reads files, clocks or
//! global state.

pub mod body;
pub mod body_map;
pub mod character;
mod error;
pub mod linalg;
pub mod measure;
pub mod mesh;
pub mod operators;
pub mod path;
pub mod query;
pub mod rig;
pub mod sample;
pub mod sequence;
mod suggest;

pub use body::{BodyFrame, BodyLayout, BodyRecording};
pub use character::{AlphaMode, Character, Handle, Image, Material, Morph, Move, Surface, Uvs};
pub use error::{GeomError, Warnings};
pub use mesh::{Mesh, RawMesh};
pub use rig::{Clip, Dof, DofKind, EulerOrder, Joint, Pose, Rig, Skin, SkinSlot, Transform};
pub use sequence::MeshSequence;
pub use suggest::suggest;
