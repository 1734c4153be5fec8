//! Elastic flesh: a lattice of cells around a surface that follows bones, sags, jiggles and meets the floor. After
//! Capell, *Interactive Character Animation Using Dynamic Elastic Simulation* (2004).
//!
//! ```text
//! Mesh ─► build_body ─► Lattice + Embedding ─► FleshSolver::step ─► FleshState ─► Embedding::evaluate ─► positions
//! rig::RigSet ─► rig::RigEvaluator ─► Drive: forces on nodes ──────────────────────────────┤
//! Skin ─► Skeleton (bones in the lattice) ─► Drive: where held nodes go, how cells turn ──┘
//! ```

mod adapted;
mod adaptive;
mod assembled;
mod bake;
mod blended;
mod body;
mod carry;
mod contact;
mod element;
mod error;
mod handles;
mod joints;
mod lattice;
mod loads;
mod material;
mod matrix_free;
mod newton;
mod pace;
mod paint;
mod params;
pub mod rig;
mod simulation;
mod skeleton;
mod solver;
mod state;
mod system;
#[cfg(test)]
mod tests;
mod warped;
mod weights;

pub use adaptive::{AdaptiveFlesh, AdaptiveParams, Clamp};
pub use bake::{BakeParams, Baker};
pub use contact::{Collider, Obstacle, Terrain};
pub use element::ElementKind;
pub use error::FleshError;
pub use handles::HandleBaker;
pub use joints::{JointSite, build_skeleton, place_joint};
pub use lattice::{
    Body, ControlLattice, Embedding, Lattice, LatticeParams, LatticeSource, OctreeParams, Scheme,
    SmoothEmbedding, Solid, Ties, build_body, build_made_body, build_octree_body,
};
pub use material::Material;
pub use pace::Pacer;
pub use paint::cell_factors;
pub use params::{FleshParams, Mode, PinMethod};
pub use simulation::{Grip, Simulation};
pub use skeleton::{Bone, BoneParams, Skeleton};
pub use solver::{FleshSolver, StepReport};
pub use state::{Anchor, Attachment, BodyPoint, Drive, FleshState, Pin, Pull};
