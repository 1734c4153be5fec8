//! Elastic flesh: a lattice of cells around a surface that follows bones, sags, jiggles and meets the floor. After
//! Capell, *Interactive Character Animation Using Dynamic Elastic Simulation* (2004).
//!
//! ```text
//! Mesh ─► build_body ─► Lattice + Embedding ─► FleshSolver::step ─► FleshState ─► Embedding::evaluate ─► positions
//! muscle::MuscleSet ─► muscle::MuscleEvaluator ─► StepInput: forces on nodes ──────────────────────────────┤
//! Skin ─► Skeleton (bones in the lattice) ─► StepInput: where held nodes go, how cells turn ──┘
//! ```

mod adaptive;
mod assembled;
mod bake;
mod blended;
mod body;
mod carry;
mod cell_stiffness;
mod contact;
mod cube_system;
mod element;
mod error;
mod grip;
mod handles;
mod joints;
mod lattice;
mod lattice_adapter;
mod limit;
mod loads;
mod material;
mod matrix_free;
pub mod muscle;
mod muscle_error;
pub mod muscle_fit;
mod newton;
mod pace;
mod paint;
mod params;
mod quality;
mod response;
mod safe_stiffness;
mod simulation;
mod simulation_params;
mod skeleton;
mod skin_frames;
mod skinned_surface;
mod solver;
mod state;
mod statics;
mod step;
mod system;
#[cfg(test)]
mod tests;
mod warm_up;
mod warped;
mod weights;

pub use adaptive::{AdaptiveFlesh, AdaptiveParams, Clamp};
pub use bake::{BakeParams, Baker};
pub use contact::{Collider, Obstacle, Terrain};
pub use element::ElementKind;
pub use error::FleshError;
pub use grip::Grip;
pub use handles::HandleBaker;
pub use joints::{JointSite, build_skeleton, place_joint};
pub use lattice::{
    Body, BodyPoint, ControlLattice, Embedding, Lattice, LatticeParams, LatticeSource, OctreeParams, Scheme,
    SmoothEmbedding, Solid, Ties, build_body, build_made_body, build_octree_body,
};
pub use material::Material;
pub use pace::Pacer;
pub use paint::cell_factors;
pub use params::{FleshParams, Mode, PinMethod};
pub use quality::FleshQuality;
pub use simulation::Simulation;
pub use simulation_params::SimulationParams;
pub use skeleton::{Bone, BoneParams, Skeleton};
pub use solver::{FleshSolver, StepReport};
pub use state::{Anchor, Attachment, FleshState, Pin, Pull, StepInput};
pub use statics::{RestReport, StaticSolver, find_rest, holding_forces};
