//! Skins fitted to clips.

use super::Capability;
use crate::{
    locks::Ranked,
    studio::Studio,
    wire::{Choices, Context, Done, JobKind, Part, Registry, Request, Snapshot, Work},
};
use serde::{Deserialize, Serialize};
use sinew::{
    session::{Command, Document, FitSettings, Fitted, Frame, Job, SessionError, SkinData, Stage},
    skin::FitStatus,
};
use std::sync::Arc;
use ts_rs::TS;

/// The newest fit and how many there have been.
#[derive(Debug, Default)]
pub struct FitCapability {
    newest: Ranked<(u32, Option<Arc<Fitted>>)>,
}

impl Capability for FitCapability {
    fn register(&self, registry: &mut Registry) {
        registry.request::<Fit>().request::<TakeFit>().request::<Compare>().part::<FitPart>();
        registry.choices::<FitDefaults>();
    }

    fn reset(&self, studio: &Studio) {
        self.newest.lock().1 = None;
        studio.change_looks(|looks| looks.compare = false);
    }
}

/// Settings of a fit that the user has not chosen.
#[derive(Debug)]
pub struct FitDefaults;

#[derive(Debug, Serialize, TS)]
pub struct FitDefaultsValue {
    fit_defaults: FitSettings,
}

impl Choices for FitDefaults {
    type Value = FitDefaultsValue;

    fn value(_: &Studio) -> FitDefaultsValue {
        FitDefaultsValue { fit_defaults: FitSettings::default() }
    }
}

impl FitCapability {
    fn newest(&self) -> (u32, Option<Arc<Fitted>>) {
        self.newest.lock().clone()
    }

    /// The fit at the same moment, if it is to be seen beside the document and is still of it.
    ///
    /// # Errors
    /// If the clip cannot be shown.
    pub fn twin(&self, studio: &Studio, document: &Document) -> Result<Option<Frame>, SessionError> {
        let looks = studio.looks();
        let fitted = self.newest().1.filter(|fitted| looks.compare && fitted.is_of(document));
        fitted.map_or(Ok(None), |fitted| fitted.frame(&looks.display))
    }
}

/// Fit clips as a skin, shown beside the document. Cancelled once bones are placed, the best so far is taken, and the same
/// settings continue from there.
#[derive(Debug, Deserialize, TS)]
struct Fit {
    /// Any of them.
    #[serde(default)]
    #[ts(type = "Partial<FitSettings>")]
    settings: FitSettings,
}

/// How a fit ended.
#[derive(Debug, Serialize, TS)]
struct FitEnded {
    /// Whether it was cancelled, and is the best so far.
    stopped: bool,
}

impl Request for Fit {
    const NAME: &'static str = "fit";
    const WORK: Work = Work::Long;
    type Reply = FitEnded;

    fn run(self, context: &Context<'_>) -> anyhow::Result<FitEnded> {
        context.studio.job(JobKind::Fit, "Fitting a skin", |job| self.fit(context.studio, job))
    }
}

impl Fit {
    fn fit(&self, studio: &Studio, job: &Job) -> Result<FitEnded, SessionError> {
        let document = studio.document();
        let (opened, mut stack) = studio.stack();
        let report = |status: FitStatus| {
            if status.error.is_finite() {
                job.say(format!("error {:.4} % of the diagonal", status.error));
            }
            job.update(status.share)
        };
        let fitted = stack.fit(&document, &self.settings, &mut Stage::default(), &report)?;
        if !studio.store_stack(opened, stack) {
            return Err(SessionError::Cancelled);
        }
        let stopped = fitted.report.cancelled;
        {
            let mut newest = studio.capabilities.fit.newest.lock();
            *newest = (newest.0 + 1, Some(fitted));
        }
        studio.change_looks(|looks| looks.compare = true);
        studio.raise::<FitPart>();
        Ok(FitEnded { stopped })
    }
}

/// Make the newest fit the document's character, as the command `take_skin`.
#[derive(Debug, Deserialize, TS)]
struct TakeFit {}

impl Request for TakeFit {
    const NAME: &'static str = "take_fit";
    const WORK: Work = Work::Long;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.job(JobKind::TakeFit, "Using the fitted skin", |_| {
            let before = context.studio.document();
            let (_, fitted) = context.studio.capabilities.fit.newest();
            let fitted = fitted.filter(|fitted| fitted.is_of(&before)).ok_or_else(|| {
                let cause = "there is no fit of the document as it is now; fit again".to_owned();
                SessionError::Value { what: "fit", cause }
            })?;
            let command = Command::TakeSkin { skin: SkinData::new(&fitted)? };
            let after = command.apply(&before)?;
            context.studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
            Ok(Done {})
        })
    }
}

/// Send the fit with each frame.
#[derive(Debug, Deserialize, TS)]
struct Compare {
    on: bool,
}

impl Request for Compare {
    const NAME: &'static str = "compare";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.change_looks(|looks| looks.compare = self.on);
        Ok(Done {})
    }
}

/// The newest fit. Whether it is still of the document depends on much of that, so that it is looked at every time.
#[derive(Debug)]
pub struct FitPart;

#[derive(Debug, Serialize, TS)]
pub struct FitState {
    /// Null if there is none.
    fit: Option<FitReport>,
}

/// A skin that was fitted, in numbers.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Fit")]
#[allow(non_snake_case, reason = "the letters of the literature, as in `sinew fit --json`")]
struct FitReport {
    version: u32,
    /// Whether it is of the document as it is now.
    current: bool,
    settings: FitSettings,
    /// Whether it was cancelled, and is the best so far.
    stopped: bool,
    rounds: usize,
    bones: usize,
    joints: usize,
    frames: usize,
    fps: f64,
    /// Null if nothing moves.
    #[ts(type = "number | null")]
    dE: f64,
    E_RMS: f64,
    E_RMS_diag1: f64,
    d_avg: f64,
    max: f64,
    /// Angles between facets in degrees, their mean and what one of a hundred exceeds; percent that are flipped.
    normals_mean: f64,
    normals_p99: f64,
    flipped: f64,
    /// Largest factor by which an edge of the bind pose differs.
    bind_max: f64,
    per_frame: Vec<f64>,
    bytes_in: usize,
    bytes_out: usize,
    keys: usize,
    full_keys: usize,
    seconds: f64,
    /// What is wrong with it, in words.
    warnings: Vec<String>,
}

impl Part for FitPart {
    type Value = FitState;
    /// Version, and whether it was of the document; the outer is none for a page that has nothing.
    type Sent = Option<Option<(u32, bool)>>;
    const ALWAYS: bool = true;

    fn value(snapshot: &Snapshot<'_>, sent: &mut Self::Sent) -> Option<FitState> {
        let (version, fitted) = snapshot.studio.capabilities.fit.newest();
        let now = fitted.as_ref().map(|fitted| (version, fitted.is_of(&snapshot.document)));
        if *sent == Some(now) {
            return None;
        }
        *sent = Some(now);
        Some(FitState {
            fit: fitted.zip(now).map(|(fitted, (version, current))| report(&fitted, version, current)),
        })
    }
}

fn report(fitted: &Fitted, version: u32, current: bool) -> FitReport {
    let Fitted { errors, report, exported, skin, .. } = fitted;
    FitReport {
        version,
        current,
        settings: fitted.settings().clone(),
        stopped: report.cancelled,
        rounds: report.rounds,
        bones: skin.n_bones,
        joints: exported.joints,
        frames: fitted.n_frames,
        fps: fitted.fps,
        dE: errors.de,
        E_RMS: errors.e_rms,
        E_RMS_diag1: errors.e_rms_diag1,
        d_avg: errors.d_avg,
        max: errors.max,
        normals_mean: errors.normals.mean,
        normals_p99: errors.normals.p99,
        flipped: errors.normals.flipped,
        bind_max: fitted.bind_stretch[1],
        per_frame: errors.per_frame.clone(),
        bytes_in: fitted.bytes[0],
        bytes_out: fitted.bytes[1],
        keys: exported.keys,
        full_keys: exported.full_keys,
        seconds: fitted.seconds,
        warnings: fitted.warnings().to_vec(),
    }
}

/// Values of every vertex: counts, errors, deformations, bones, weights; see `PROTOCOL.md`.
pub fn maps(studio: &Studio, version: u32) -> Option<Vec<u8>> {
    let (newest, fitted) = studio.capabilities.fit.newest();
    let fitted = fitted.filter(|_| newest == version)?;
    let skin = &fitted.skin;
    let counts = [skin.n_vertices() as u32, skin.n_bones as u32, skin.influences as u32, 0];
    let mut bytes: Vec<u8> = counts.into_iter().flat_map(u32::to_le_bytes).collect();
    bytes.extend(fitted.errors.per_vertex.iter().flat_map(|&e| (e as f32).to_le_bytes()));
    bytes.extend(fitted.deformation.iter().flat_map(|d| d.to_le_bytes()));
    bytes.extend(skin.indices.iter().flat_map(|bone| bone.to_le_bytes()));
    bytes.extend(skin.weights.iter().map(|w| (w * 255.0).round() as u8));
    Some(bytes)
}
