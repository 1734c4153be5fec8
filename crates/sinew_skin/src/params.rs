//! Parameters and progress of a fit.

use crate::SkinError;
use std::ops::ControlFlow;

/// How a bone may deform the surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoneKind {
    /// Rotation, translation, scale and shear: smallest error per bone, but engines that compose joints part by part, as
    /// Unreal does, do not play shear.
    Affine,
    /// Rotation and translation only, which every engine plays: smallest error per byte.
    #[default]
    Rigid,
}

impl BoneKind {
    /// Both kinds.
    pub const ALL: [Self; 2] = [Self::Affine, Self::Rigid];

    /// Name for users.
    pub fn name(self) -> &'static str {
        match self {
            Self::Affine => "affine",
            Self::Rigid => "rigid",
        }
    }

    /// The kind with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Parameters of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct FitParams {
    /// Number of bones; the result has exactly that many. Default 50.
    pub bones: usize,
    /// Largest number of bones per vertex, 1 to 8. Default 4.
    pub influences: usize,
    /// How a bone may deform the surface. Default rigid.
    pub transforms: BoneKind,
    /// Whether the rest pose may be corrected. Default true.
    pub correct_rest: bool,
    /// Length, in diagonals of the rest pose, at which a strain of the corrected rest pose of one counts as half a length of
    /// error of place in every frame: edges keep their vectors. 0 corrects freely, and may tear it. Default 0.005.
    pub stiffness: f64,
    /// Largest number of refinement rounds; fewer if the error stops falling, usually about 25. Default 80.
    pub rounds: usize,
    /// Rounds with one bone per vertex before weights are blended. Default 10.
    pub hard_rounds: usize,
    /// Weights of the trajectories, relative to the distance at rest, in the choice of seeds. Each is a separate start,
    /// and the best is continued. Default 4.
    pub starts: Vec<f64>,
    /// Candidate bones per vertex, up to 16. Default 12.
    pub candidates: usize,
    /// Largest momentum between rounds; 0 is plain descent. Default 0.9.
    pub momentum: f64,
    /// Stop when three rounds together reduce the error by no more than this fraction. Default 1e-2; 1e-3 takes
    /// about twice as long for a few percent more. Many bones stop at less, rigid ones at still less.
    pub tolerance: f64,
    /// 0 starts in the middle of the mesh, other seeds elsewhere. Default 0.
    pub seed: u64,
}

impl Default for FitParams {
    fn default() -> Self {
        Self {
            bones: 50,
            influences: 4,
            transforms: BoneKind::default(),
            correct_rest: true,
            stiffness: 0.005,
            rounds: 80,
            hard_rounds: 10,
            starts: vec![4.0],
            candidates: 12,
            momentum: 0.9,
            tolerance: 1e-2,
            seed: 0,
        }
    }
}

/// Largest number of influences per vertex.
pub const MAX_INFLUENCES: usize = 8;
/// Largest number of candidate bones per vertex.
pub(crate) const MAX_CANDIDATES: usize = 16;
/// A skin indexes its bones by 16 bits.
const MAX_BONES: usize = 1 << 16;

impl FitParams {
    /// # Errors
    /// A number outside its range.
    pub(crate) fn check(&self, n_vertices: usize) -> Result<(), SkinError> {
        check_bones(self.bones, n_vertices)?;
        let wrong = |name, value: String, expected| Err(SkinError::Parameter { name, value, expected });
        if !(1..=MAX_INFLUENCES).contains(&self.influences) {
            return wrong("influences", self.influences.to_string(), "it must be 1 to 8");
        }
        if !(1..=MAX_CANDIDATES).contains(&self.candidates) {
            return wrong("candidates", self.candidates.to_string(), "it must be 1 to 16");
        }
        if !(0.0..=1.0).contains(&self.stiffness) {
            return wrong("stiffness", self.stiffness.to_string(), "it must be 0 to 1");
        }
        if !(0.0..1.0).contains(&self.momentum) {
            return wrong("momentum", self.momentum.to_string(), "it must be at least 0 and below 1");
        }
        if self.starts.is_empty() || self.starts.iter().any(|alpha| !(alpha.is_finite() && *alpha >= 0.0)) {
            let expected = "there must be at least one, none of them negative";
            return wrong("starts", format!("{:?}", self.starts), expected);
        }
        Ok(())
    }
}

/// # Errors
/// No bones, or more than vertices.
pub(crate) fn check_bones(asked: usize, n_vertices: usize) -> Result<(), SkinError> {
    let limit = n_vertices.min(MAX_BONES);
    match asked {
        0 => Err(SkinError::NoBones),
        _ if asked > limit => Err(SkinError::TooManyBones { asked, limit }),
        _ => Ok(()),
    }
}

/// Stages of a fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FitStage {
    /// Reading frames.
    Read,
    /// Placing bones: one bone per vertex.
    Place,
    /// Blending: weights, bones and rest pose in turn.
    Refine,
    /// Measuring the result.
    Measure,
}

/// Progress of a fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitStatus {
    /// The current stage.
    pub stage: FitStage,
    /// Share of all work done, 0..=1, never decreasing.
    pub share: f64,
    /// `E_RMS_diag1` of the current state; NaN before there is one.
    pub error: f64,
}

/// Called regularly with the progress of a fit; breaks to stop it. A fit that is stopped after its bones are placed
/// returns its best result so far.
pub type Progress<'a> = &'a (dyn Fn(FitStatus) -> ControlFlow<()> + Sync);

/// A progress callback that does nothing and never stops the fit.
pub fn no_progress(_: FitStatus) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
