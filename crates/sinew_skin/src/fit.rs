//! The default fit: bones, weights and rest pose in turn, each optimal for the others.
//!
//! # Source
//! Antonopoulos (2010): eq. 3.1 is the model that is fitted, eqs. 3.4–3.9 (§3.3.1) the bones, eqs. 5.8–5.12 (§5.3) the
//! rest pose, eqs. 5.13–5.21 (§5.3) the weights. Differs: Antonopoulos solves each once, from weights by distance; here
//! they alternate (Le and Deng 2012), after rounds with one bone per vertex that place the bones, and each round starts
//! slightly beyond the last (momentum), which halves their number.
//! # Symbols
//! `E` squared error of all vertices in all frames, in diagonals
//! # Cost
//! About 180 passes over the sequence per round; see `weights`, `normal`, `affine`, `rigid`, `rest`.
//! # Limits
//! A local minimum. The same bits for any number of threads.

use crate::{
    BoneKind, FitParams, FitStage, FitStatus, FittedSkin, FrameSource, Progress, SkinError,
    affine::{ridge_of, update_affine, update_affine_alone},
    measure::{SkinErrors, check_size, measure_tracks},
    momentum::{extrapolate, momentum},
    normal::Normal,
    normals::{NormalErrors, NormalSums},
    reseed::{MIN_BONE_WEIGHT, reseed},
    rest::update_rest,
    rigid::{start_blended, start_rigid, update_rigid},
    seeds::find_seeds,
    shape::Shape,
    state::{Bones, Influences, State, centroids},
    summary::Summary,
    tracks::Tracks,
    weights::{Choice, SwapSchedule, update_labels, update_weights},
};
use glam::DVec3;
use sinew_geom::Mesh;

/// Candidate bones per vertex while it follows a single one.
const HARD_CANDIDATES: usize = 20;
/// Rounds after which the starts are compared.
const TRIAL_ROUNDS: usize = 3;
/// Sweeps over rigid bones within a round.
const RIGID_SWEEPS: usize = 6;
/// Rounds on all vertices after a fit on some of them.
const FINISH_ROUNDS: usize = 3;
/// Share of the squared error of the first round that a summary of the paths may lose.
const MAX_SUMMARY_LOSS: f64 = 2e-3;
/// Rounds in which bones with few vertices are moved to where the error is largest.
pub(crate) const RESEEDING_ROUNDS: usize = 30;
/// Rounds in which every vertex may swap its bones.
const SETTLING_ROUNDS: usize = 8;
/// Share of the average number of vertices per bone below which a bone has few.
const WEAK_BONE_SHARE: f64 = 0.2;
/// Increase of the error at which momentum restarts.
const RESTART_RISE: f64 = 1.0005;

/// A sequence in the form that fits work on, so that it can be fitted several times.
pub struct SkinFitter {
    pub(crate) tracks: Tracks,
    pub(crate) rest: Mesh,
}

/// A fit and its report.
#[derive(Debug, Clone)]
pub struct SkinFit {
    /// The result.
    pub skin: FittedSkin,
    /// Its report.
    pub report: FitReport,
}

/// Report of a fit.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FitReport {
    /// Rounds with blended weights.
    pub rounds: usize,
    /// `E_RMS_diag1` at each round, after its weights were found.
    pub errors: Vec<f64>,
    /// Whether the error stopped falling before the rounds were used up.
    pub converged: bool,
    /// Whether the caller stopped it.
    pub cancelled: bool,
    /// Bones that were moved elsewhere.
    pub reseeded: usize,
    /// Weight of the trajectories in the start that won.
    pub start: f64,
}

impl SkinFitter {
    /// Read a sequence.
    ///
    /// # Errors
    /// No frames, no vertices, or a broken frame, with its index.
    pub fn new(rest: &Mesh, source: &mut dyn FrameSource) -> Result<Self, SkinError> {
        Ok(Self { tracks: Tracks::read(rest, source)?, rest: rest.clone() })
    }

    /// Number of vertices.
    pub fn n_vertices(&self) -> usize {
        self.tracks.n_vertices
    }

    /// Number of frames.
    pub fn n_frames(&self) -> usize {
        self.tracks.n_frames
    }

    /// Fit from seeds.
    ///
    /// # Errors
    /// A parameter outside its range, or a stop before the bones were placed.
    pub fn fit(&self, params: &FitParams, progress: Progress) -> Result<SkinFit, SkinError> {
        params.check(self.tracks.n_vertices)?;
        let (state, report) = Run::new(&self.tracks, params, progress).run()?;
        Ok(SkinFit { skin: FittedSkin::from_state(&self.tracks, &state), report })
    }

    /// Continue from an earlier result, which may have been made with other parameters: its weights and rest pose are
    /// the start.
    ///
    /// # Errors
    /// As [`SkinFitter::fit`], and if the result belongs to another mesh or number of bones.
    pub fn fit_from(
        &self,
        start: &FittedSkin,
        params: &FitParams,
        progress: Progress,
    ) -> Result<SkinFit, SkinError> {
        params.check(self.tracks.n_vertices)?;
        let mut run = Run::new(&self.tracks, params, progress);
        let state = run.resume(start)?;
        let (state, report) = run.refine(state)?;
        Ok(SkinFit { skin: FittedSkin::from_state(&self.tracks, &state), report })
    }

    /// The motion of given bones: weights and rest pose stay, only transforms are fitted. Those of `skin` are not used.
    ///
    /// # Errors
    /// If the skin belongs to another mesh, or has no bones.
    pub fn fit_bones(&self, skin: &FittedSkin, transforms: BoneKind) -> Result<FittedSkin, SkinError> {
        let params = FitParams {
            bones: skin.n_bones,
            influences: skin.influences,
            transforms,
            correct_rest: false,
            ..FitParams::default()
        };
        params.check(self.tracks.n_vertices)?;
        let state = Run::new(&self.tracks, &params, &crate::no_progress).resume(skin)?;
        Ok(FittedSkin::from_state(&self.tracks, &state))
    }

    /// Errors of a skin against the sequence.
    ///
    /// # Errors
    /// If the skin belongs to another mesh or number of frames.
    pub fn measure(&self, skin: &FittedSkin) -> Result<SkinErrors, SkinError> {
        check_size(&self.tracks, skin)?;
        self.measure_positions(&mut |frame| Ok(skin.positions(frame)))
    }

    /// Angles between the facets of a skin and those of the sequence.
    ///
    /// # Errors
    /// As [`SkinFitter::measure`].
    pub fn normals(&self, skin: &FittedSkin) -> Result<NormalErrors, SkinError> {
        check_size(&self.tracks, skin)?;
        let mut sums = NormalSums::new(&self.rest);
        let mut wanted = vec![DVec3::ZERO; self.n_vertices()];
        for frame in 0..self.n_frames() {
            self.tracks.frame(frame, &mut wanted);
            sums.add(&wanted, &skin.positions(frame));
        }
        Ok(sums.finish())
    }

    /// Errors of any source of positions, such as a file that was read back.
    ///
    /// # Errors
    /// What `positions` returns, or a wrong number of positions.
    pub fn measure_positions(
        &self,
        positions: &mut dyn FnMut(usize) -> Result<Vec<DVec3>, SkinError>,
    ) -> Result<SkinErrors, SkinError> {
        measure_tracks(&self.tracks, &self.rest, positions)
    }

    /// Whether all frames are the same.
    pub fn is_still(&self) -> bool {
        self.tracks.spread == 0.0
    }
}

/// Read and fit in one go.
///
/// # Errors
/// As [`SkinFitter::new`] and [`SkinFitter::fit`].
pub fn fit_skin(
    rest: &Mesh,
    source: &mut dyn FrameSource,
    params: &FitParams,
    progress: Progress,
) -> Result<SkinFit, SkinError> {
    params.check(rest.n_vertices().max(1))?;
    SkinFitter::new(rest, source)?.fit(params, progress)
}

/// Rounds with momentum: whether they move the rest pose, and where they are within the whole.
#[derive(Clone, Copy)]
struct Phase {
    moves_rest: bool,
    shares: [f64; 2],
}

/// A fit in progress.
pub(crate) struct Run<'a> {
    tracks: &'a Tracks,
    params: &'a FitParams,
    progress: Progress<'a>,
    report: FitReport,
}

impl<'a> Run<'a> {
    pub fn new(tracks: &'a Tracks, params: &'a FitParams, progress: Progress<'a>) -> Self {
        Self { tracks, params, progress, report: FitReport::default() }
    }

    /// From seeds to the end.
    pub fn run(mut self) -> Result<(State, FitReport), SkinError> {
        let state = self.choose_start()?;
        self.refine(state)
    }

    /// Bones that were fitted elsewhere, transferred to these tracks: weights first, then a few rounds.
    pub fn finish(mut self, mut state: State) -> Result<(State, FitReport), SkinError> {
        for _ in 0..FINISH_ROUNDS {
            let moves_rest = self.params.correct_rest;
            let (error, _) = self.round(&mut state, 0.0, SwapSchedule::All, moves_rest)?;
            self.report.errors.push(self.percent(error));
        }
        Ok((state, self.report))
    }

    fn is_rigid(&self) -> bool {
        self.params.transforms == BoneKind::Rigid
    }

    /// Percent of the diagonal, root mean square over coordinates (eq. 6.2).
    fn percent(&self, squared: f64) -> f64 {
        100.0 * (squared / (self.tracks.n_vertices * self.tracks.n_coordinates) as f64).sqrt()
    }

    fn report(&self, stage: FitStage, share: f64, squared: f64) -> bool {
        (self.progress)(FitStatus { stage, share, error: self.percent(squared) }).is_break()
    }

    /// Place bones from every start and continue with the most promising.
    fn choose_start(&mut self) -> Result<State, SkinError> {
        let starts = &self.params.starts;
        let mut best: Option<(f64, State, f64)> = None;
        for (at, &alpha) in starts.iter().enumerate() {
            if self.report(FitStage::Place, 0.2 * at as f64 / starts.len() as f64, f64::NAN) {
                return Err(SkinError::Cancelled);
            }
            let mut state = self.place(alpha)?;
            let mut error = 0.0;
            if starts.len() > 1 {
                for _ in 0..TRIAL_ROUNDS {
                    error = self.round(&mut state, MIN_BONE_WEIGHT, SwapSchedule::All, false)?.0;
                }
            }
            if best.as_ref().is_none_or(|best| error < best.0) {
                best = Some((error, state, alpha));
            }
        }
        let (_, state, alpha) = best.ok_or(SkinError::NoBones)?;
        self.report.start = alpha;
        Ok(state)
    }

    /// Bones with one bone per vertex.
    fn place(&mut self, alpha: f64) -> Result<State, SkinError> {
        let (tracks, params) = (self.tracks, self.params);
        let seeds = find_seeds(tracks, params.bones, alpha, params.seed);
        let influences = Influences::hard(&seeds.labels, params.influences);
        let at_seeds: Vec<[f32; 3]> = seeds.vertices.iter().map(|&v| tracks.rest[v as usize]).collect();
        let centers = centroids(&influences, &tracks.rest, &at_seeds);
        let bones = Bones::at_rest(centers, tracks, self.is_rigid());
        let mut state = State { influences, bones, rest: tracks.rest.clone() };
        self.fit_alone(&mut state, true);
        for _ in 0..params.hard_rounds {
            let (labels, errors) = update_labels(tracks, &state, HARD_CANDIDATES);
            let before =
                std::mem::replace(&mut state.influences, Influences::hard(&labels, params.influences));
            self.report.reseeded += reseed(tracks, &mut state, &errors, MIN_BONE_WEIGHT);
            self.fit_alone(&mut state, false);
            if before.slots == state.influences.slots {
                break;
            }
        }
        let centers = centroids(&state.influences, &state.rest, &state.bones.centers);
        centers.into_iter().enumerate().for_each(|(bone, center)| state.bones.move_center(bone, center));
        Ok(state)
    }

    /// Transforms while each vertex follows one bone.
    fn fit_alone(&self, state: &mut State, from_nothing: bool) {
        let normal = Normal::new(self.tracks, state);
        if self.is_rigid() {
            if from_nothing {
                start_rigid(self.tracks, &mut state.bones, &normal);
            }
            update_rigid(self.tracks, &mut state.bones, &normal, 1);
        } else {
            update_affine_alone(self.tracks, state, &normal, &ridge_of(&normal));
        }
    }

    fn fit_bones(&self, state: &mut State) -> Result<(), SkinError> {
        if self.is_rigid() {
            let normal = Normal::new(self.tracks, state);
            update_rigid(self.tracks, &mut state.bones, &normal, RIGID_SWEEPS);
            Ok(())
        } else {
            update_affine(self.tracks, state)
        }
    }

    /// Weights, bones, and the rest pose if it moves. Returns the squared error after the weights, and whether bones were
    /// moved elsewhere, which happens to those with less than `weak` vertices.
    fn round(
        &mut self,
        state: &mut State,
        weak: f64,
        exchanges: SwapSchedule,
        moves_rest: bool,
    ) -> Result<(f64, bool), SkinError> {
        let choice =
            Choice { candidates: self.params.candidates, influences: self.params.influences, exchanges };
        let (influences, errors) = update_weights(self.tracks, state, choice);
        state.influences = influences;
        let error = self.tracks.left_out + errors.iter().map(|&e| f64::from(e)).sum::<f64>();
        let moved = reseed(self.tracks, state, &errors, weak);
        self.report.reseeded += moved;
        self.fit_bones(state)?;
        if moves_rest {
            let shape = (self.params.stiffness > 0.0).then(|| Shape::new(self.params.stiffness));
            update_rest(self.tracks, state, shape);
        }
        Ok((error, moved > 0))
    }

    /// All rounds.
    fn refine(mut self, mut state: State) -> Result<(State, FitReport), SkinError> {
        let summary = if self.is_rigid() {
            None
        } else {
            let (error, _) = self.round(&mut state, MIN_BONE_WEIGHT, SwapSchedule::All, false)?;
            Summary::new(self.tracks, MAX_SUMMARY_LOSS * error)
        };
        let mut settled = match summary {
            None => self.settle(state)?,
            Some(summary) => {
                let mut run =
                    Run { report: self.report, ..Run::new(&summary.tracks, self.params, self.progress) };
                let settled = run.settle(summary.shorten(state))?;
                self.report = run.report;
                summary.lengthen(settled)
            }
        };
        // A last one without momentum; bones are not moved elsewhere any longer, even if they do little.
        self.round(&mut settled, 0.0, SwapSchedule::All, self.params.correct_rest)?;
        Ok((settled, self.report))
    }

    /// Weights and bones first; then the rest pose with them, which so can only gain.
    fn settle(&mut self, state: State) -> Result<State, SkinError> {
        let mut state = self.descend(state, Phase { moves_rest: false, shares: [0.2, 0.7] })?;
        if self.params.correct_rest && !self.report.cancelled {
            state = self.descend(state, Phase { moves_rest: true, shares: [0.7, 0.95] })?;
        }
        Ok(state)
    }

    /// Rounds with momentum, until the error stops falling.
    fn descend(&mut self, state: State, phase: Phase) -> Result<State, SkinError> {
        let rounds = self.params.rounds;
        let mut settled = state;
        let mut ahead: Option<State> = None;
        let mut squares: Vec<f64> = Vec::new();
        let mut streak = 0;
        for round in 0..rounds {
            let mut state = ahead.take().unwrap_or_else(|| settled.clone());
            let weak = if phase.moves_rest { 0.0 } else { self.weak(round) };
            let (error, moved) = self.round(&mut state, weak, self.exchanges(round), phase.moves_rest)?;
            let rose = squares.last().is_some_and(|&last| error > RESTART_RISE * last);
            streak = if moved || rose { 0 } else { streak + 1 };
            squares.push(error);
            let before = std::mem::replace(&mut settled, state);
            self.report.rounds += 1;
            self.report.errors.push(self.percent(error));
            let [from, to] = phase.shares;
            if self.report(FitStage::Refine, from + (to - from) * (round + 1) as f64 / rounds as f64, error) {
                self.report.cancelled = true;
                break;
            }
            // A round after a restart of momentum does not predict those to come.
            if streak > 3 && self.stands_still(&squares) {
                self.report.converged = true;
                break;
            }
            let momentum = momentum(streak, self.params.momentum);
            if momentum > 0.0 && round + 1 < rounds {
                ahead = Some(extrapolate(self.tracks, &before, &settled, momentum, phase.moves_rest));
            }
        }
        Ok(settled)
    }

    /// Weight below which a bone is moved elsewhere: high at first, zero when there is no time left to grow.
    fn weak(&self, round: usize) -> f64 {
        let share = self.tracks.n_vertices as f64 / self.params.bones as f64;
        match round {
            _ if round + 3 >= self.params.rounds => 0.0,
            _ if round < RESEEDING_ROUNDS => MIN_BONE_WEIGHT.max(WEAK_BONE_SHARE * share),
            _ => MIN_BONE_WEIGHT,
        }
    }

    /// Once bones have settled few vertices still gain by other bones, so half of them try in turn. Rigid bones settle
    /// late, and weights cost little compared with them.
    fn exchanges(&self, round: usize) -> SwapSchedule {
        match self.is_rigid() || round < SETTLING_ROUNDS {
            true => SwapSchedule::All,
            false => SwapSchedule::InTurn { every: 2, round },
        }
    }

    fn stands_still(&self, squares: &[f64]) -> bool {
        let [.., a, _, _, b] = squares else { return false };
        // Many bones keep gaining longer; rigid ones gain less per round.
        let bones = self.params.bones as f64;
        let share =
            if self.is_rigid() { (20.0 / bones).clamp(0.2, 0.6) } else { (20.0 / bones).clamp(0.3, 0.65) };
        a.sqrt() - b.sqrt() <= share * self.params.tolerance * a.sqrt()
    }

    /// The state that an earlier result describes.
    fn resume(&mut self, start: &FittedSkin) -> Result<State, SkinError> {
        let (tracks, params) = (self.tracks, self.params);
        let fits = start.n_vertices() == tracks.n_vertices && start.n_bones == params.bones;
        if !fits {
            let value = format!("{} vertices and {} bones", start.n_vertices(), start.n_bones);
            let expected = "it must have the vertices of this mesh and as many bones as are asked for";
            return Err(SkinError::Parameter { name: "start", value, expected });
        }
        let mut influences = Influences::hard(&vec![0; tracks.n_vertices], params.influences);
        for vertex in 0..tracks.n_vertices {
            let mut entries: Vec<(u16, f32)> = start.vertex(vertex).collect();
            entries.sort_by(|a, b| b.1.total_cmp(&a.1));
            entries.truncate(params.influences);
            let sum: f32 = entries.iter().map(|(_, w)| w).sum();
            influences.counts[vertex] = entries.len().max(1) as u8;
            for (at, (bone, weight)) in entries.into_iter().enumerate() {
                influences.slots[vertex * params.influences + at] = bone;
                influences.weights[vertex * params.influences + at] = weight / sum;
            }
        }
        let inside = |p: &DVec3| ((*p - tracks.rest_center) / tracks.scale).as_vec3().to_array();
        let rest: Vec<[f32; 3]> =
            if params.correct_rest { start.rest.iter().map(inside).collect() } else { tracks.rest.clone() };
        let centers = centroids(&influences, &rest, &vec![[0.0; 3]; params.bones]);
        let bones = Bones::at_rest(centers, tracks, self.is_rigid());
        let mut state = State { influences, bones, rest };
        if self.is_rigid() {
            start_blended(tracks, &mut state);
        }
        for _ in 0..if self.is_rigid() { 5 } else { 1 } {
            self.fit_bones(&mut state)?;
        }
        Ok(state)
    }
}
