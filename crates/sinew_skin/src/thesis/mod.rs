//! The pipeline of Antonopoulos (2010), as named choices: proxy joints, weights, transforms, corrections, each once.
//!
//! # Source
//! Antonopoulos (2010), ch. 3 (algorithm 3.1) and ch. 5 (corrections). Differs: at most [`ThesisParams::influences`]
//! bones per vertex, so that the result can be played; corrections of rest pose and weights are those of the default
//! fit.
//! # Cost
//! One solve of the transforms, and one more after corrections.

mod blends;
mod centers;
mod joints;
mod regions;
mod solvers;
#[cfg(test)]
mod tests;

pub use blends::Blending;
pub use regions::Grouping;
pub use solvers::LsqrParams;

use crate::{
    BoneKind, FitReport, FitStage, FitStatus, FittedSkin, Progress, SkinError, SkinFit, SkinFitter,
    affine::update_affine,
    normal::Normal,
    params::{MAX_INFLUENCES, check_bones},
    rest::update_rest,
    rigid::{start_blended, update_rigid},
    state::{Bones, Influences, State, centroids},
    tracks::Tracks,
    weights::{Choice, SwapSchedule, update_weights},
};
use blends::{by_convolution, by_distance, strongest};
use centers::{Clusters, find_centers};
use glam::DVec3;
use joints::{describe_regions, share_joints, spread_joints};
use regions::{Facets, group_facets};
use sinew_geom::{
    Mesh,
    measure::compute_face_areas,
    mesh::Adjacency,
    operators::{FacetDeformation, compute_deformation_gradients, decompose_gradient},
};

/// Where proxy joints are placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// Evenly over the surface (§3.4.3).
    PCenter,
    /// More where the deformation is larger (§3.4.4).
    Deform(Grouping),
}

/// How transforms are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TransformSolver {
    /// One factorisation for all frames; rigid bones by sweeps.
    Direct,
    /// LSQR on every frame; rigid bones by linearised dual quaternions.
    Lsqr(LsqrParams),
}

/// Parameters of the pipeline of Antonopoulos (2010).
#[derive(Debug, Clone, PartialEq)]
pub struct ThesisParams {
    /// Number of proxy joints. Default 50.
    pub bones: usize,
    /// Largest number of bones per vertex. Default 4.
    pub influences: usize,
    /// How a bone may deform the surface. Default affine.
    pub transforms: BoneKind,
    /// Where the joints are placed. Default by deformation, in grown regions.
    pub placement: Placement,
    /// How weights are computed. Default by distance.
    pub blending: Blending,
    /// Enlargement of a joint's reach. Default 1.6.
    pub p_factor: f64,
    /// Passes of convolution. Default 5.
    pub passes: usize,
    /// Regions of similar deformation; at most as many as bones. Default 20.
    pub regions: usize,
    /// How transforms are computed. Default directly.
    pub solver: TransformSolver,
    /// Whether weights are corrected (eqs. 5.13–5.21). Default no.
    pub correct_weights: bool,
    /// Whether the rest pose is corrected (eqs. 5.8–5.12). Default no.
    pub correct_rest: bool,
    /// Where the first joint is placed. Default 0, the middle.
    pub seed: u64,
}

impl Default for ThesisParams {
    fn default() -> Self {
        Self {
            bones: 50,
            influences: 4,
            transforms: BoneKind::Affine,
            placement: Placement::Deform(Grouping::RegionGrowing),
            blending: Blending::Distance,
            p_factor: 1.6,
            passes: 5,
            regions: 20,
            solver: TransformSolver::Direct,
            correct_weights: false,
            correct_rest: false,
            seed: 0,
        }
    }
}

impl ThesisParams {
    pub(crate) fn check(&self, n_vertices: usize) -> Result<(), SkinError> {
        check_bones(self.bones, n_vertices)?;
        let wrong = |name, value: String, expected| Err(SkinError::Parameter { name, value, expected });
        if !(1..=MAX_INFLUENCES).contains(&self.influences) {
            return wrong("influences", self.influences.to_string(), "it must be 1 to 8");
        }
        if !(self.p_factor.is_finite() && self.p_factor >= 1.0) {
            return wrong("p_factor", self.p_factor.to_string(), "it must be at least 1");
        }
        if self.regions == 0 {
            return wrong("regions", "0".to_owned(), "there must be at least one");
        }
        Ok(())
    }
}

/// Joints and weights before any transform is known; what decimation must respect.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub joints: Clusters,
    pub influences: Influences,
    /// Region of each facet and vertex; empty for p-centers.
    pub facet_regions: Vec<u16>,
    pub vertex_regions: Vec<u16>,
    /// `idI_j` of each region (eq. 4.4).
    pub calm: Vec<f64>,
}

impl SkinFitter {
    /// Mean deformation of every facet over the sequence, by kind (eqs. 3.17–3.21).
    ///
    /// # Errors
    /// None that can occur with a sequence that was read.
    pub fn facet_deformation(&self) -> Result<Vec<FacetDeformation>, SkinError> {
        deformation_of(&self.tracks, &self.rest)
    }

    /// Vertices at which the proxy joints are placed.
    ///
    /// # Errors
    /// A parameter outside its range.
    pub fn proxy_joints(&self, params: &ThesisParams) -> Result<Vec<u32>, SkinError> {
        params.check(self.n_vertices())?;
        Ok(self.lay_out(params)?.joints.centers)
    }

    /// Fit by the pipeline of Antonopoulos (2010).
    ///
    /// # Errors
    /// A parameter outside its range, or a stop.
    pub fn fit_thesis(&self, params: &ThesisParams, progress: Progress) -> Result<SkinFit, SkinError> {
        params.check(self.n_vertices())?;
        report_progress(progress, 0.0)?;
        let layout = self.lay_out(params)?;
        report_progress(progress, 0.4)?;
        let state = fit_layout(&self.tracks, layout.influences, params, progress)?;
        let report = FitReport { rounds: 1, converged: true, ..FitReport::default() };
        Ok(SkinFit { skin: FittedSkin::from_state(&self.tracks, &state), report })
    }

    /// Place joints and weights.
    pub(crate) fn lay_out(&self, params: &ThesisParams) -> Result<Layout, SkinError> {
        let rest = self.rest.positions();
        let (mut facet_regions, mut vertex_regions, mut calm) = (Vec::new(), Vec::new(), Vec::new());
        let joints = match params.placement {
            Placement::PCenter => find_centers(rest, params.bones, params.seed),
            Placement::Deform(grouping) => {
                let totals: Vec<f64> =
                    self.facet_deformation()?.iter().map(FacetDeformation::total).collect();
                let k = params.regions.min(params.bones);
                facet_regions = regions_of(&self.rest, &totals, k, grouping, params.seed);
                vertex_regions = regions_of_vertices(&self.rest, &facet_regions);
                let areas = compute_face_areas(&self.rest);
                let regions = describe_regions(&facet_regions, &totals, &areas, &vertex_regions);
                let shares = share_joints(&regions, params.bones);
                calm = inverse_indicators(&regions.iter().map(|r| r.top).collect::<Vec<_>>(), &totals);
                spread_joints(&regions, &shares, rest, params.seed)
            }
        };
        let rows = match (params.blending, vertex_regions.is_empty()) {
            (Blending::Convolution, false) => {
                by_convolution(&joints, rest, &vertex_regions, &self.tracks.neighbors, params.passes)
            }
            // Without regions the clusters of the joints are used instead.
            (Blending::Convolution, true) => {
                by_convolution(&joints, rest, &joints.labels, &self.tracks.neighbors, params.passes)
            }
            (Blending::Distance, _) => by_distance(&joints, rest, params.p_factor),
        };
        let mut influences = strongest(&rows, params.influences);
        // Every joint retains its own vertex, so that its transform is defined.
        for (joint, &vertex) in joints.centers.iter().enumerate() {
            if !influences.of(vertex as usize).any(|(own, _)| own as usize == joint) {
                influences.set_hard(vertex as usize, joint as u16);
            }
        }
        Ok(Layout { joints, influences, facet_regions, vertex_regions, calm })
    }
}

fn report_progress(progress: Progress, share: f64) -> Result<(), SkinError> {
    let status = FitStatus { stage: FitStage::Place, share, error: f64::NAN };
    if (progress)(status).is_break() { Err(SkinError::Cancelled) } else { Ok(()) }
}

/// Transforms and corrections for given weights.
pub(crate) fn fit_layout(
    tracks: &Tracks,
    influences: Influences,
    params: &ThesisParams,
    progress: Progress,
) -> Result<State, SkinError> {
    let is_rigid = params.transforms == BoneKind::Rigid;
    let centers = centroids(&influences, &tracks.rest, &vec![[0.0; 3]; params.bones]);
    let bones = Bones::at_rest(centers, tracks, is_rigid);
    let mut state = State { influences, bones, rest: tracks.rest.clone() };
    fit_transforms(tracks, &mut state, params)?;
    report_progress(progress, 0.8)?;
    Ok(correct(tracks, state, params))
}

/// Corrections of weights and rest pose, where requested.
pub(crate) fn correct(tracks: &Tracks, mut state: State, params: &ThesisParams) -> State {
    if params.correct_weights {
        let choice = Choice {
            candidates: params.influences,
            influences: params.influences,
            exchanges: SwapSchedule::None,
        };
        state.influences = update_weights(tracks, &state, choice).0;
    }
    if params.correct_rest {
        update_rest(tracks, &mut state, None);
    }
    state
}

fn fit_transforms(tracks: &Tracks, state: &mut State, params: &ThesisParams) -> Result<(), SkinError> {
    const SWEEPS: usize = 40;
    match (params.transforms, params.solver) {
        (BoneKind::Affine, TransformSolver::Direct) => update_affine(tracks, state),
        (BoneKind::Affine, TransformSolver::Lsqr(lsqr)) => solvers::affine_by_lsqr(tracks, state, lsqr),
        (BoneKind::Rigid, TransformSolver::Lsqr(lsqr)) => {
            solvers::rigid_by_dual_quaternions(tracks, state, lsqr)
        }
        (BoneKind::Rigid, TransformSolver::Direct) => {
            start_blended(tracks, state);
            let normal = Normal::new(tracks, state);
            update_rigid(tracks, &mut state.bones, &normal, SWEEPS);
            Ok(())
        }
    }
}

fn deformation_of(tracks: &Tracks, rest: &Mesh) -> Result<Vec<FacetDeformation>, SkinError> {
    let mut sums = vec![FacetDeformation::default(); rest.n_faces()];
    let mut positions = vec![DVec3::ZERO; rest.n_vertices()];
    let share = 1.0 / tracks.n_frames as f64;
    for frame in 0..tracks.n_frames {
        tracks.frame(frame, &mut positions);
        for (sum, gradient) in sums.iter_mut().zip(compute_deformation_gradients(rest, &positions)?) {
            let part = decompose_gradient(&gradient);
            sum.rotation += share * part.rotation;
            sum.scale += share * part.scale;
            sum.shear += share * part.shear;
        }
    }
    Ok(sums)
}

fn regions_of(rest: &Mesh, totals: &[f64], k: usize, grouping: Grouping, seed: u64) -> Vec<u16> {
    let centroids: Vec<DVec3> =
        (0..rest.n_faces()).map(|face| rest.corners(face).iter().sum::<DVec3>() / 3.0).collect();
    let edges = Adjacency::new(rest).edges;
    let mut neighbors = vec![Vec::new(); rest.n_faces()];
    for edge in 0..edges.len() {
        let faces: Vec<u32> = edges.uses(edge).map(|used| used.face).collect();
        for &a in &faces {
            neighbors[a as usize].extend(faces.iter().copied().filter(|&b| b != a));
        }
    }
    let facets = Facets { deformation: totals, centroids: &centroids, neighbors: &neighbors };
    group_facets(&facets, k, grouping, seed)
}

/// A vertex belongs to the region of its first face; without any, to the first region.
fn regions_of_vertices(rest: &Mesh, facet_regions: &[u16]) -> Vec<u16> {
    let mut regions = vec![0; rest.n_vertices()];
    for (face, &region) in rest.faces().iter().zip(facet_regions).rev() {
        face.iter().for_each(|&v| regions[v as usize] = region);
    }
    regions
}

/// `idI_j` (eqs. 4.4–4.5): one for the least deformed region, zero for the most deformed.
fn inverse_indicators(tops: &[f64], totals: &[f64]) -> Vec<f64> {
    let (low, high) =
        totals.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &d| (low.min(d), high.max(d)));
    let (from, to) = (1.0 / high.max(f64::MIN_POSITIVE), 1.0 / low.max(f64::MIN_POSITIVE));
    let indicator = |top: &f64| {
        if to > from {
            ((1.0 / top.max(f64::MIN_POSITIVE) - from) / (to - from)).clamp(0.0, 1.0)
        } else {
            1.0
        }
    };
    tops.iter().map(indicator).collect()
}
