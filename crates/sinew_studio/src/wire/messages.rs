//! Messages that belong to no capability.

use serde::{Deserialize, Serialize};
use sinew::session::Job;
use ts_rs::TS;

/// Three coordinates.
pub type Point3 = [f64; 3];
/// Two coordinates: of the screen, −1..1 with y up, or x and z of the ground.
pub type Point2 = [f64; 2];
/// A rotation: x, y, z, w.
pub type Quaternion = [f64; 4];

/// `clip_from_model`: 16 numbers, column by column.
#[derive(Debug, Clone, Copy, Deserialize, TS)]
#[ts(type = "number[]")]
pub struct ViewMatrix(pub [f64; 16]);

/// Nothing to report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
pub struct Done {}

/// A binary frame has been taken; the server keeps at most two in flight and drops stale ones.
#[derive(Debug, Clone, Copy, Deserialize, TS)]
pub struct Ack {
    /// Number of the frame.
    pub frame: u32,
}

/// What kind of work a job is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, TS)]
#[ts(rename_all = "snake_case")]
pub enum JobKind {
    /// Opening a file, a sample or a demonstration.
    Open,
    /// Writing the project.
    Save,
    /// Writing another file.
    Export,
    /// Finding handles.
    Handles,
    /// Preparing the surface for posing.
    Prepare,
    /// A command that changes the whole surface.
    Command,
    /// Following paths or keyframes.
    Bake,
    /// Refitting a clip.
    Refit,
    /// Fitting a skin.
    Fit,
    /// Making the fitted skin the character.
    TakeFit,
    /// Reading the recording of an actor.
    Actor,
    /// Performing a take.
    Perform,
    /// Filling the body with flesh.
    Flesh,
    /// Preparing the flesh for muscles.
    Muscles,
    /// Baking flesh.
    BakeFlesh,
}

impl JobKind {
    /// As pages know it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Save => "save",
            Self::Export => "export",
            Self::Handles => "handles",
            Self::Prepare => "prepare",
            Self::Command => "command",
            Self::Bake => "bake",
            Self::Refit => "refit",
            Self::Fit => "fit",
            Self::TakeFit => "take_fit",
            Self::Actor => "actor",
            Self::Perform => "perform",
            Self::Flesh => "flesh",
            Self::Muscles => "muscles",
            Self::BakeFlesh => "bake_flesh",
        }
    }
}

/// How far a job is; the last message about it has `done`.
#[derive(Debug, Clone, Serialize, TS)]
#[ts(rename = "Job")]
pub struct JobState {
    /// Number by which it is cancelled.
    pub job: u64,
    /// What kind of work it is.
    #[ts(as = "JobKind")]
    pub kind: &'static str,
    /// What is being done, for people.
    pub title: String,
    /// Share done, 0..1; null if that is not known.
    pub share: Option<f64>,
    /// What it has come to, such as the error of a fit.
    #[ts(optional, as = "Option<_>")]
    pub note: String,
    /// Whether it has ended.
    pub done: bool,
    /// Why it failed; absent if it did not, or was cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub error: Option<String>,
}

impl JobState {
    /// A job as it is now.
    pub fn new(job: &Job, done: bool, error: Option<String>) -> Self {
        let (title, note) = (job.title().to_owned(), job.note());
        Self { job: job.id(), kind: job.kind(), title, share: job.share(), note, done, error }
    }
}

/// How urgent a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, dead_code, reason = "pages have three, and the server one so far")]
pub enum Level {
    Info,
    Warning,
    Error,
}

/// Something every page should show.
#[derive(Debug, Clone, Serialize, TS)]
pub struct Notice {
    /// How urgent it is.
    pub level: Level,
    /// For people.
    pub text: String,
}

/// The answer to a request that could not be done.
#[derive(Debug, Clone, Serialize)]
pub struct Reply<'a> {
    id: u64,
    error: &'a str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    needs_path: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    exists: bool,
}

impl<'a> Reply<'a> {
    /// What failed, why, and what to do.
    pub fn refused(id: u64, error: &'a str, flag: Option<ErrorFlag>) -> Self {
        let is = |wanted| flag == Some(wanted);
        Self { id, error, needs_path: is(ErrorFlag::NeedsPath), exists: is(ErrorFlag::Exists) }
    }
}

/// What a page can do about an error beside showing it, as the context of that error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorFlag {
    /// Ask for a path.
    NeedsPath,
    /// Ask whether to replace the file.
    Exists,
}

impl std::fmt::Display for ErrorFlag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NeedsPath => "the document has not been saved yet; choose a name",
            Self::Exists => "the file exists already; choose another name, or replace it",
        })
    }
}

impl std::error::Error for ErrorFlag {}
