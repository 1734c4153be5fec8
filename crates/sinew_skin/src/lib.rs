//! Any deforming mesh as a small skin: moving bones, and for each vertex a few of them with weights.
//! After Antonopoulos, *Fast Realistic Skinning for Animating Highly Deformable Objects* (2010).

mod affine;
mod chain;
mod character;
mod corrective;
mod count;
mod decimate;
mod eigenskin;
mod error;
mod fit;
mod keys;
mod lanes;
mod maps;
mod measure;
mod momentum;
mod normal;
mod normals;
mod params;
mod played;
mod reseed;
mod rest;
mod rigid;
mod seeds;
mod shape;
mod simplex;
mod skeleton;
mod skin;
mod source;
mod state;
mod stream;
mod summary;
#[cfg(test)]
mod tests;
mod thesis;
mod tracks;
mod weights;

pub use character::{ExportParams, ExportReport, add_eigenskin, build_character};
pub use corrective::Correctives;
pub use decimate::{DecimateParams, Decimated, Merge, Queue};
pub use eigenskin::EigenSkin;
pub use error::SkinError;
pub use fit::{FitReport, SkinFit, SkinFitter, fit_skin};
pub use measure::{CLOSEST_FRAMES, SkinErrors};
pub use normals::{NormalErrors, compute_bind_stretch};
pub use params::{BoneKind, FitParams, FitStage, FitStatus, MAX_INFLUENCES, Progress, no_progress};
pub use skin::FittedSkin;
pub use source::{FrameSource, Joined};
pub use stream::fit_streamed;
pub use thesis::{Blending, Grouping, LsqrParams, Placement, ThesisParams, TransformSolver};
