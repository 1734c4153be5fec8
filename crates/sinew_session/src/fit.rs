//! The fit step of the motion stack: clips of the document, whatever moves them, as a small skin.
//!
//! # Source
//! The method is that of `sinew_skin`; this file defines its inputs, what is stored, and when it is run again.

mod method;
mod skin_file;
mod verdict;

pub use method::{FitGoal, fit_to_goal, most_bones};
pub use skin_file::{
    MAX_FITTED_BONES, SkinFile, SkinFileParams, affordable_bones, fit_sequence, measure_character, write_skin,
};
pub use verdict::{FitOutcome, warn_of_frames};

use crate::{
    Display, Document, Frame, MotionStack, SessionError, Stage,
    limits::{DEFAULT_FPS, MAX_SEQUENCE_BYTES},
    stack::count_held_frames,
    stage::smooth_normals,
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew_geom::{Character, Clip, Move, Warnings};
use sinew_skin::{
    BoneKind, ExportReport, FitParams, FitReport, FitStage, FitStatus, FittedSkin, FrameSource, Progress,
    SkinError, SkinErrors, SkinFit, SkinFitter, compute_bind_stretch,
};
use std::{
    ops::{ControlFlow, Range},
    sync::Arc,
    time::Instant,
};

/// Shares of the whole that reading and fitting take; measuring takes the rest.
const READ_SHARE: f64 = 0.05;
const FIT_SHARE: f64 = 0.85;

/// What a user can choose about a fit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct FitSettings {
    /// Clips that share the skin, by name; empty means all of the document.
    pub clips: Vec<String>,
    /// Frames per second; if absent, those of the keys, or 30.
    pub fps: Option<f64>,
    /// Whether the pose of the handles is the shape that moves.
    pub reshaped: bool,
    /// Number of bones; if absent, as many as the surface needs and a file smaller than the frames has room for.
    pub bones: Option<usize>,
    /// If given, as few bones as bring `E_RMS_diag1` down to so many percent, instead of a number of them.
    pub error: Option<f64>,
    /// Most bones per vertex.
    pub influences: usize,
    /// Whether bones only turn and shift.
    pub rigid: bool,
    /// Whether the rest pose may be corrected.
    pub correct_rest: bool,
    /// Whether all joints hang below one, instead of a tree.
    pub flat: bool,
}

impl Default for FitSettings {
    fn default() -> Self {
        let FitParams { influences, correct_rest, .. } = FitParams::default();
        Self {
            clips: Vec::new(),
            fps: None,
            reshaped: false,
            bones: None,
            error: None,
            influences,
            rigid: true,
            correct_rest,
            flat: false,
        }
    }
}

impl FitSettings {
    fn params(&self) -> FitParams {
        FitParams {
            influences: self.influences,
            transforms: if self.rigid { BoneKind::Rigid } else { BoneKind::Affine },
            correct_rest: self.correct_rest,
            ..FitParams::default()
        }
    }

    fn goal(&self) -> FitGoal {
        FitGoal { bones: self.bones, error: self.error, ..FitGoal::default() }
    }
}

/// What a fit depends on. Parts are compared by identity, as everywhere in the stack.
#[derive(Debug, Clone)]
struct FitKey {
    body: Arc<Character>,
    clips: Vec<Arc<Clip>>,
    settings: FitSettings,
}

impl PartialEq for FitKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.body, &other.body)
            && self.settings == other.settings
            && self.clips.len() == other.clips.len()
            && self.clips.iter().zip(&other.clips).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

/// A skin fitted to clips of a document.
#[derive(Debug)]
pub struct Fitted {
    key: FitKey,
    /// The body as it was in the document; the key holds the shape that moved.
    body: Arc<Character>,
    pose: Arc<Vec<Move>>,
    /// Bones, weights and rest pose.
    pub skin: FittedSkin,
    /// What players show: joints, weights, and clips of the same names.
    pub character: Character,
    /// How the fit went.
    pub report: FitReport,
    /// What became of the bones.
    pub exported: ExportReport,
    /// How far the character is from the clips, keys left out and all.
    pub errors: SkinErrors,
    /// By which factor edges of the bind pose differ: exceeded by one of a hundred, and the largest.
    pub bind_stretch: [f64; 2],
    /// Mean deformation around each vertex.
    pub deformation: Vec<f32>,
    /// Frames of all clips.
    pub n_frames: usize,
    /// Frames per second that were fitted.
    pub fps: f64,
    /// Bytes of the positions of all frames, and of the character as a GLB file.
    pub bytes: [usize; 2],
    /// Seconds it took.
    pub seconds: f64,
    warnings: Vec<String>,
}

impl Fitted {
    /// What was asked for, with the clips by name.
    pub fn settings(&self) -> &FitSettings {
        &self.key.settings
    }

    /// What is wrong with it, in words; nothing if it is good.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether it is of a document as it is now.
    pub fn is_of(&self, document: &Document) -> bool {
        let is_there = |clip: &Arc<Clip>| document.clips.iter().any(|other| Arc::ptr_eq(clip, other));
        Arc::ptr_eq(&self.body, &document.body)
            && self.key.clips.iter().all(is_there)
            && (!self.key.settings.reshaped || Arc::ptr_eq(&self.pose, &document.pose))
    }

    /// The fitted surface as a document shows its own; `None` in clips that were not fitted.
    ///
    /// # Errors
    /// If skin and mesh do not fit, which is a fault of ours.
    pub fn frame(&self, display: &Display) -> Result<Option<Frame>, SessionError> {
        let start = Instant::now();
        let positions = match display {
            Display::Rest | Display::Posed | Display::Ruled | Display::Jointed => {
                self.character.positions_at(None, 0.0)?
            }
            Display::Clip { clip, time } => match self.character.clips.iter().find(|own| own.name == *clip) {
                None => return Ok(None),
                clip => self.character.positions_at(clip, *time)?,
            },
        };
        let normals = smooth_normals(&positions, self.character.mesh.faces());
        Ok(Some(Frame { positions, normals, handles: Vec::new(), solve_time: start.elapsed() }))
    }
}

impl MotionStack {
    /// Fit clips of a document. What was fitted before with the same settings is given again, unless it was stopped:
    /// then it goes on from there. A fit that is stopped once its bones are placed is the best so far.
    ///
    /// # Errors
    /// If there is no such clip, a setting is invalid, or it was stopped too early.
    pub fn fit(
        &mut self,
        document: &Document,
        settings: &FitSettings,
        stage: &mut Stage,
        progress: Progress,
    ) -> Result<Arc<Fitted>, SessionError> {
        let start = Instant::now();
        let clips = clips_of(document, settings)?;
        let names = clips.iter().map(|clip| clip.name.clone()).collect();
        let body = if settings.reshaped && !document.pose.is_empty() {
            self.reshape(document, stage, &|share| {
                report_stage(progress, FitStage::Read, READ_SHARE * share)
            })?
        } else {
            document.body.clone()
        };
        let key = FitKey { body, clips, settings: FitSettings { clips: names, ..settings.clone() } };
        let before = self.fitted.clone().filter(|fitted| fitted.key == key);
        if let Some(fitted) = before.as_ref().filter(|fitted| !fitted.report.cancelled) {
            return Ok(fitted.clone());
        }
        self.runs[2] += 1;
        let fitted = Arc::new(Work::new(&key, document)?.run(before.as_deref(), start, progress)?);
        self.fitted = Some(fitted.clone());
        Ok(fitted)
    }

    /// What was fitted with these settings to a document as it is now, also if it was stopped.
    pub fn ready_fit(&self, document: &Document, settings: &FitSettings) -> Option<&Arc<Fitted>> {
        let clips = clips_of(document, settings).ok()?;
        let clips = clips.iter().map(|clip| clip.name.clone()).collect();
        let settings = FitSettings { clips, ..settings.clone() };
        self.fitted.as_ref().filter(|fitted| fitted.is_of(document) && fitted.key.settings == settings)
    }

    /// The newest fit, whichever document it is of.
    pub fn fitted(&self) -> Option<&Arc<Fitted>> {
        self.fitted.as_ref()
    }
}

fn clips_of(document: &Document, settings: &FitSettings) -> Result<Vec<Arc<Clip>>, SessionError> {
    if document.clips.is_empty() {
        let cause = "nothing moves, so there is nothing to fit; open a sequence or a character with clips";
        return Err(SessionError::Value { what: "clip", cause: cause.into() });
    }
    if settings.clips.is_empty() {
        return Ok(document.clips.clone());
    }
    settings.clips.iter().map(|name| Ok(document.clips[document.find_clip(name)?].clone())).collect()
}

fn report_stage(progress: Progress, stage: FitStage, share: f64) -> ControlFlow<()> {
    progress(FitStatus { stage, share, error: f64::NAN })
}

/// Frames of clips, found as they are read.
struct Played<'a> {
    key: &'a FitKey,
    fps: f64,
    ranges: &'a [(String, Range<usize>)],
    progress: Progress<'a>,
}

impl FrameSource for Played<'_> {
    fn n_frames(&self) -> usize {
        self.ranges.last().map_or(0, |(_, range)| range.end)
    }

    fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
        let share = READ_SHARE * frame as f64 / self.n_frames() as f64;
        if report_stage(self.progress, FitStage::Read, share).is_break() {
            return Err(SkinError::Cancelled);
        }
        let at = self.ranges.iter().position(|(_, range)| range.contains(&frame)).unwrap_or(0);
        let time = (frame - self.ranges[at].1.start) as f64 / self.fps;
        let positions = self.key.body.positions_at(Some(&self.key.clips[at]), time as f32)?;
        out.iter_mut().zip(positions).for_each(|(out, p)| *out = p.as_dvec3());
        Ok(())
    }
}

/// One fit under way.
struct Work<'a> {
    key: &'a FitKey,
    document: &'a Document,
    fps: f64,
    /// Names and frames of the clips.
    ranges: Vec<(String, Range<usize>)>,
}

impl<'a> Work<'a> {
    fn new(key: &'a FitKey, document: &'a Document) -> Result<Self, SessionError> {
        let own = key.clips.iter().find_map(|clip| clip.morph_rate());
        let fps = key.settings.fps.or(own).unwrap_or(DEFAULT_FPS);
        let n_vertices = key.body.mesh.n_vertices();
        let mut ranges: Vec<(String, Range<usize>)> = Vec::new();
        for clip in &key.clips {
            let first = ranges.last().map_or(0, |(_, range)| range.end);
            ranges.push((clip.name.clone(), first..first + count_held_frames(Some(clip), fps, n_vertices)?));
        }
        let n_bytes = ranges.last().map_or(0, |(_, range)| range.end) as f64 * 12.0 * n_vertices as f64;
        let most = MAX_SEQUENCE_BYTES as f64;
        if n_bytes > most {
            let cause = format!(
                "together they are {:.1} GB, more than the {:.1} GB that fit; choose fewer clips or a lower frame rate, or use \
                 `sinew fit --sample`",
                n_bytes / 1e9,
                most / 1e9
            );
            return Err(SessionError::Value { what: "clips", cause });
        }
        Ok(Self { key, document, fps, ranges })
    }

    fn run(
        &self,
        before: Option<&Fitted>,
        start: Instant,
        progress: Progress,
    ) -> Result<Fitted, SessionError> {
        let mut source = Played { key: self.key, fps: self.fps, ranges: &self.ranges, progress };
        let fitter = SkinFitter::new(&self.key.body.mesh, &mut source)?;
        let within = |status: FitStatus| {
            progress(FitStatus { share: READ_SHARE + FIT_SHARE * status.share, ..status })
        };
        let params = self.key.settings.params();
        let fit = match before {
            Some(before) => {
                let params = FitParams { bones: before.skin.n_bones, ..params };
                fitter.fit_from(&before.skin, &params, &within)?
            }
            None => fit_to_goal((&fitter, &self.key.body.mesh), &self.key.settings.goal(), &params, &within)?,
        };
        self.finish(&fitter, fit, start, progress)
    }

    /// The character, and how good it is. It is not cancelled here, because the best result so far was asked for.
    fn finish(
        &self,
        fitter: &SkinFitter,
        fit: SkinFit,
        start: Instant,
        progress: Progress,
    ) -> Result<Fitted, SessionError> {
        let mesh = &self.key.body.mesh;
        let last = fit.report.errors.last().copied().unwrap_or_default();
        let params = SkinFileParams {
            name: self.document.name.clone(),
            fps: self.fps,
            clips: self.ranges.clone(),
            flat: self.key.settings.flat,
            ..SkinFileParams::default()
        };
        let mut warnings = Warnings::default();
        let file = write_skin(&fit, (mesh, &self.key.body.surface), &params, &mut warnings)?;
        let n_frames = fitter.n_frames();
        let clips = (&self.ranges[..], self.fps);
        let errors = measure_character(fitter, &file.character, clips, &mut |share| {
            let share = READ_SHARE + FIT_SHARE + (1.0 - READ_SHARE - FIT_SHARE) * share;
            let _ = progress(FitStatus { stage: FitStage::Measure, share, error: last });
        })?;
        let bind_stretch = compute_bind_stretch(mesh, &fit.skin.rest);
        let bytes = [mesh.n_vertices() * n_frames * 12, file.skin_bytes];
        let outcome = FitOutcome {
            errors: &errors,
            bones: fit.skin.n_bones,
            bind_max: bind_stretch[1],
            bytes,
            target: self.key.settings.error,
        };
        let warnings =
            warn_of_frames(fitter).map(str::to_owned).into_iter().chain(outcome.warnings()).collect();
        Ok(Fitted {
            key: self.key.clone(),
            body: self.document.body.clone(),
            pose: self.document.pose.clone(),
            deformation: fitter.vertex_deformation()?,
            bind_stretch,
            skin: fit.skin,
            character: file.character,
            report: fit.report,
            exported: file.report,
            errors,
            n_frames,
            fps: self.fps,
            bytes,
            seconds: start.elapsed().as_secs_f64(),
            warnings,
        })
    }
}

#[cfg(test)]
mod tests;
