//! The smallest number of bones that reaches a given error.
//!
//! # Source
//! Sinew's own: in every sequence measured, errors fall approximately as a power of the number of bones, so each trial
//! predicts where the next should lie.
//! # Cost
//! Some trials with few rounds, then one full fit, sometimes two.
//! # Limits
//! The error fluctuates by a few per cent from one number of bones to the next, so a slightly smaller number may
//! suffice.

use crate::{FitParams, FitStage, FitStatus, Progress, SkinError, SkinFit, SkinFitter};
use std::ops::ControlFlow;

/// Rounds of a trial.
const TRIAL_ROUNDS: usize = 6;
const TRIAL_HARD_ROUNDS: usize = 5;
/// Error of a full fit relative to a trial's, about; corrected by actual full fits.
const FULL_FIT_ERROR_RATIO: f64 = 0.9;
/// Share by which the number of bones may be too large.
const COUNT_TOLERANCE: f64 = 0.05;
/// Largest number of full fits.
const MAX_FULL_FITS: usize = 4;

impl SkinFitter {
    /// Fit with the fewest bones that reduce `E_RMS_diag1` to `target` percent. `params.bones` is the maximum;
    /// if even that many do not reach the target, their fit is returned.
    ///
    /// # Errors
    /// As [`SkinFitter::fit`], and a target that is not positive.
    pub fn fit_to_error(
        &self,
        target: f64,
        params: &FitParams,
        progress: Progress,
    ) -> Result<SkinFit, SkinError> {
        if !(target.is_finite() && target > 0.0) {
            let expected = "it must be positive, in percent of the diagonal";
            return Err(SkinError::Parameter { name: "error", value: target.to_string(), expected });
        }
        let most = params.bones.min(self.n_vertices());
        let params = FitParams { bones: most, ..params.clone() };
        params.check(self.n_vertices())?;
        let mut search = Search { fitter: self, params: &params, progress, share: 0.0, best: None };
        let mut full_share = FULL_FIT_ERROR_RATIO;
        let mut below = 0;
        for attempt in 0..MAX_FULL_FITS {
            let bones = match search.bones_for(target / full_share, below, most) {
                Ok(bones) => bones,
                Err(SkinError::Cancelled) => return search.best.ok_or(SkinError::Cancelled),
                Err(error) => return Err(error),
            };
            let fit = search.full(bones, 0.5 + 0.12 * attempt as f64, 0.12)?;
            let reached = self.measure(&fit.skin)?.e_rms_diag1;
            if reached <= target || bones == most || fit.report.cancelled || attempt + 1 == MAX_FULL_FITS {
                // The last attempt takes a few bones more, rather than miss the target.
                if reached > target && bones < most && !fit.report.cancelled {
                    return search.full(((bones as f64 * 1.25).ceil() as usize).min(most), 0.98, 0.02);
                }
                return Ok(fit);
            }
            // Too few: full fits gain less over trials than estimated.
            full_share = (full_share * reached / target).clamp(0.5, 2.0) * 1.02;
            below = bones;
        }
        Err(SkinError::Cancelled)
    }
}

/// Angle of normals in degrees that one facet of a hundred may exceed: shading does not show less.
const GOOD_NORMALS: f64 = 12.0;
/// Normals improve with this power of the number of bones, about: 0.47 to 0.66 on sequences of animals, people and cloth.
const NORMALS_POWER: f64 = 0.6;
/// More bones by this factor than are predicted.
const RESERVE_FACTOR: f64 = 1.1;

impl SkinFitter {
    /// Fit with as many bones as it takes that facets lean as they should, from `params.bones` to `most`: those that are too
    /// few are replaced once by as many as they predict.
    ///
    /// # Errors
    /// As [`SkinFitter::fit`].
    pub fn fit_to_look(
        &self,
        most: usize,
        params: &FitParams,
        progress: Progress,
    ) -> Result<SkinFit, SkinError> {
        let half = |from: f64| {
            move |status: FitStatus| progress(FitStatus { share: from + 0.5 * status.share, ..status })
        };
        let first = self.fit(params, &half(0.0))?;
        let reached = self.normals(&first.skin)?.p99;
        let most = most.min(self.n_vertices());
        if reached <= GOOD_NORMALS || params.bones >= most || first.report.cancelled {
            return Ok(first);
        }
        let wanted =
            params.bones as f64 * RESERVE_FACTOR * (reached / GOOD_NORMALS).powf(1.0 / NORMALS_POWER);
        let bones = (wanted.ceil() as usize).clamp(params.bones + 1, most);
        let second = match self.fit(&FitParams { bones, ..params.clone() }, &half(0.5)) {
            Err(SkinError::Cancelled) => return Ok(first),
            fit => fit?,
        };
        let error = |fit: &SkinFit| fit.report.errors.last().copied().unwrap_or(f64::INFINITY);
        Ok(if error(&second) < error(&first) { second } else { first })
    }
}

struct Search<'a> {
    fitter: &'a SkinFitter,
    params: &'a FitParams,
    progress: Progress<'a>,
    share: f64,
    /// The trial with the most bones so far, which is returned if the search is stopped.
    best: Option<SkinFit>,
}

impl Search<'_> {
    /// The least number of bones whose trial reaches an error.
    fn bones_for(&mut self, error: f64, below: usize, most: usize) -> Result<usize, SkinError> {
        let mut low = below;
        let mut bones = (below + 1).max(8).min(most);
        let mut high = loop {
            let reached = self.trial(bones)?;
            if reached <= error || bones == most {
                break bones;
            }
            low = bones;
            // Straight in logarithms, but never more than three times as many.
            let guess = bones as f64 * (reached / error).powf(1.3);
            bones = (guess.min(3.0 * bones as f64).ceil() as usize).clamp(bones + 1, most);
        };
        while high - low > 1 && (high - low) as f64 > COUNT_TOLERANCE * high as f64 {
            let middle = low + (high - low) / 2;
            if self.trial(middle)? <= error { high = middle } else { low = middle }
        }
        Ok(high)
    }

    fn trial(&mut self, bones: usize) -> Result<f64, SkinError> {
        // Half of the progress belongs to trials, however many there are.
        self.share += 0.1 * (0.5 - self.share);
        let status = FitStatus { stage: FitStage::Place, share: self.share, error: f64::NAN };
        if (self.progress)(status).is_break() {
            return Err(SkinError::Cancelled);
        }
        let params = FitParams {
            bones,
            rounds: TRIAL_ROUNDS,
            hard_rounds: TRIAL_HARD_ROUNDS.min(self.params.hard_rounds),
            starts: self.params.starts[..1].to_vec(),
            ..self.params.clone()
        };
        let progress = self.progress;
        let report = |inner: FitStatus| progress(FitStatus { error: inner.error, ..status });
        let mut fit = self.fitter.fit(&params, &report)?;
        let last = fit.report.errors.last().copied().unwrap_or(f64::NAN);
        if self.best.as_ref().is_none_or(|best| best.skin.n_bones < bones) {
            (fit.report.cancelled, fit.report.converged) = (true, false);
            self.best = Some(fit);
        }
        Ok(last)
    }

    fn full(&self, bones: usize, from: f64, part: f64) -> Result<SkinFit, SkinError> {
        let progress = |status: FitStatus| -> ControlFlow<()> {
            (self.progress)(FitStatus { share: from + part * status.share, ..status })
        };
        self.fitter.fit(&FitParams { bones, ..self.params.clone() }, &progress)
    }
}
