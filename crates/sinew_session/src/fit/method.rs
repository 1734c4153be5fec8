//! How many bones a fit takes: the same for every front end.
//!
//! # Source
//! The methods are those of `sinew_skin`; this file decides which of them is done, and with how many bones.

use super::{MAX_FITTED_BONES, affordable_bones};
use sinew_geom::Mesh;
use sinew_skin::{BoneKind, FitParams, Progress, SkinError, SkinFit, SkinFitter};

/// Joints of a skin that every program draws.
const MAX_JOINTS: usize = 256;

/// Maximum number of bones of a skin with this number of joints, one of which is the root: bones that scale and shear take two each.
pub fn most_bones(kind: BoneKind, joints: usize) -> usize {
    let joints_each = if kind == BoneKind::Affine { 2 } else { 1 };
    joints.saturating_sub(1) / joints_each
}

/// What a fit aims at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FitGoal {
    /// Number of bones; if absent, as many as the surface needs and a file smaller than the frames has room for.
    pub bones: Option<usize>,
    /// If given, as few bones as bring `E_RMS_diag1` down to so many percent, instead of a number of them.
    pub error: Option<f64>,
    /// Most joints that the program draws for which it is made.
    pub joints: usize,
}

impl Default for FitGoal {
    fn default() -> Self {
        Self { bones: None, error: None, joints: usize::MAX }
    }
}

/// Fit bones to frames of a mesh. The number of bones in `params` is replaced by that of the goal.
///
/// # Errors
/// As [`SkinFitter::fit`].
pub fn fit_to_goal(
    (fitter, mesh): (&SkinFitter, &Mesh),
    goal: &FitGoal,
    params: &FitParams,
    progress: Progress,
) -> Result<SkinFit, SkinError> {
    let with = |bones: usize| FitParams { bones, ..params.clone() };
    match (goal.error, goal.bones) {
        (Some(error), _) => {
            let most = most_bones(params.transforms, goal.joints).min(MAX_FITTED_BONES);
            fitter.fit_to_error(error, &with(most), progress)
        }
        (None, Some(bones)) => fitter.fit(&with(bones), progress),
        (None, None) => {
            let most = most_bones(params.transforms, goal.joints.min(MAX_JOINTS));
            let affordable = affordable_bones(mesh, fitter.n_frames(), most);
            fitter.fit_to_look(affordable, &with(FitParams::default().bones.min(affordable)), progress)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bones_leave_room_for_the_root_and_for_second_joints() {
        assert_eq!(most_bones(BoneKind::Rigid, 256), 255);
        assert_eq!(most_bones(BoneKind::Affine, 256), 127);
        assert!(2 * most_bones(BoneKind::Affine, 256) < 256);
        assert!(most_bones(BoneKind::Affine, usize::MAX) > MAX_FITTED_BONES);
    }
}
