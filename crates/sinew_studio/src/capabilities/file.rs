//! Files: opening, saving, exporting, and recovering unsaved work.

use super::Capability;
use crate::{
    files::{Folder, MAX_UPLOAD},
    guard::secret,
    locks,
    studio::Studio,
    wire::{Choices, Context, Done, ErrorFlag, JobKind, JobState, Part, Registry, Request, Snapshot, Work},
};
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sinew::{
    geom::{Warnings, sample::Sample},
    session::{
        Event, ExportParams, Job, SessionError, Stage, export, grow_sample, open_file_within, write_project,
    },
};
use std::path::{Path, PathBuf};
use ts_rs::TS;

/// Files.
#[derive(Debug, Default)]
pub struct FileCapability;

impl Capability for FileCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<OpenSample>()
            .request::<List>()
            .request::<Open>()
            .request::<OpenUpload>()
            .request::<Save>()
            .request::<Export>()
            .request::<Recover>()
            .request::<Discard>()
            .part::<FilePart>()
            .part::<WorkPart>()
            .part::<WarningsPart>()
            .choices::<Program>();
    }

    fn reset(&self, studio: &Studio) {
        studio.raise::<WorkPart>();
    }
}

/// Open a sample as a new document.
#[derive(Debug, Deserialize, TS)]
struct OpenSample {
    name: String,
    vertices: usize,
}

impl Request for OpenSample {
    const NAME: &'static str = "sample";
    const WORK: Work = Work::Long;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let Self { name, vertices } = self;
        let sample = Sample::from_name(&name).with_context(|| format!("there is no sample {name:?}"))?;
        context.studio.job(JobKind::Open, &format!("Growing {name}"), |job| {
            let mut warnings = Warnings::default();
            let document = grow_sample(sample, vertices, &mut |share| job.update(share), &mut warnings)?;
            if job.is_cancelled() {
                return Err(SessionError::Cancelled);
            }
            context.studio.open(document, None, warnings);
            Ok(Done {})
        })
    }
}

/// List a folder within the allowed root.
#[derive(Debug, Deserialize, TS)]
struct List {
    /// The root if absent.
    #[ts(optional)]
    folder: Option<String>,
}

impl Request for List {
    const NAME: &'static str = "list";
    type Reply = Folder;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Folder> {
        context.studio.files.list(self.folder.as_deref())
    }
}

/// Open a file of the root, or a folder of frames. Side files and frames that are links out of the root are refused.
#[derive(Debug, Deserialize, TS)]
struct Open {
    path: String,
}

/// What was opened.
#[derive(Debug, Serialize, TS)]
struct Opened {
    /// How many warnings there are.
    warnings: usize,
}

impl Request for Open {
    const NAME: &'static str = "open";
    const WORK: Work = Work::Long;
    type Reply = Opened;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Opened> {
        let path = context.studio.files.existing(&self.path)?;
        open(context.studio, &path, true)
    }
}

/// Open what was posted to `/upload`.
#[derive(Debug, Deserialize, TS)]
struct OpenUpload {
    /// The `D` of `/upload`.
    drop: String,
    name: String,
}

impl Request for OpenUpload {
    const NAME: &'static str = "open_upload";
    const WORK: Work = Work::Long;
    type Reply = Opened;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Opened> {
        with_upload(context.studio, &self.drop, &self.name, |path| open(context.studio, path, false))
    }
}

/// Open a file. One that lies in the user's folder and is a project is saved there again.
fn open(studio: &Studio, path: &Path, is_users: bool) -> anyhow::Result<Opened> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // What was dropped lies where nothing else is, and no links are.
    let root = is_users.then(|| studio.files.root());
    studio.job(JobKind::Open, &format!("Opening {name}"), |job| {
        let mut warnings = Warnings::default();
        let document = open_file_within(path, root, &mut |share| job.update(share), &mut warnings)?;
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        let is_project = name.to_ascii_lowercase().ends_with(".sinew.glb");
        let own = (is_users && is_project).then(|| path.to_owned());
        let opened = Opened { warnings: warnings.messages.len() };
        studio.open(document, own, warnings);
        Ok(opened)
    })
}

/// Read a file that was uploaded. The user knows it by its name, not by where we put it.
pub fn with_upload<T>(
    studio: &Studio,
    drop: &str,
    name: &str,
    read: impl FnOnce(&Path) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let path = studio.files.upload(drop, name)?;
    let ours = format!("{}/", path.parent().unwrap_or(&path).display());
    let done = read(&path);
    studio.files.forget_upload(drop);
    done.map_err(|error| anyhow::anyhow!(format!("{error:#}").replace(&ours, "")))
}

/// Save the project; without `path` where it was saved last (an error with `needs_path` if never). Another file that is
/// there already is replaced only with `overwrite` (else an error with `exists`).
#[derive(Debug, Deserialize, TS)]
struct Save {
    #[ts(optional)]
    path: Option<String>,
    #[serde(default)]
    #[ts(optional, as = "Option<_>")]
    overwrite: bool,
}

/// What was saved.
#[derive(Debug, Serialize, TS)]
struct Saved {
    path: PathBuf,
    bytes: usize,
}

impl Request for Save {
    const NAME: &'static str = "save";
    const WORK: Work = Work::Long;
    type Reply = Saved;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Saved> {
        let studio = context.studio;
        let _one_at_a_time = studio.saving.lock();
        let (document, own) = {
            let session = studio.session();
            (session.document().clone(), session.path().map(Path::to_owned))
        };
        let path: PathBuf = match (self.path, &own) {
            (Some(mut path), _) => {
                if !path.to_ascii_lowercase().ends_with(".glb") {
                    path += ".sinew.glb";
                }
                studio.files.writable(&path)?
            }
            (None, Some(own)) => own.clone(),
            (None, None) => return Err(ErrorFlag::NeedsPath.into()),
        };
        if !self.overwrite && own.as_ref() != Some(&path) && path.exists() {
            return Err(anyhow::Error::new(ErrorFlag::Exists).context(path.display().to_string()));
        }
        let bytes = studio.job(JobKind::Save, "Saving", |_| {
            let bytes = write_project(&document, &mut Warnings::default())?;
            sinew::formats::write_atomic(&path, &bytes)?;
            Ok(bytes.len())
        })?;
        studio.session().mark_saved(&document, &path);
        Ok(Saved { path, bytes })
    }
}

/// Write another file, to be fetched at the address of the reply.
#[derive(Debug, Deserialize, TS)]
#[serde(transparent)]
struct Export(ExportParams);

/// A file to be fetched.
#[derive(Debug, Serialize, TS)]
struct Download {
    url: String,
    name: String,
    bytes: usize,
    warnings: Vec<String>,
}

impl Request for Export {
    const NAME: &'static str = "export";
    const WORK: Work = Work::Long;
    type Reply = Download;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Download> {
        context.studio.job(JobKind::Export, "Exporting", |job| run_export(context.studio, job, &self.0))
    }
}

fn run_export(studio: &Studio, job: &Job, params: &ExportParams) -> Result<Download, SessionError> {
    let document = studio.document();
    let mut warnings = Warnings::default();
    let (opened, mut stack) = studio.stack();
    let progress = |share: f64| job.update(share);
    let made = export(&document, params, &mut stack, &mut Stage::default(), &progress, &mut warnings)?;
    studio.store_stack(opened, stack);
    let fail = |error: anyhow::Error| SessionError::Value { what: "export", cause: format!("{error:#}") };
    let id = secret().map_err(fail)?;
    studio.files.keep_download(id.clone(), &made.name, &made.bytes).map_err(fail)?;
    let (url, bytes) = (format!("/download/{id}"), made.bytes.len());
    Ok(Download { url, name: made.name, bytes, warnings: warnings.messages })
}

/// Continue with unsaved work of a session that ended badly.
#[derive(Debug, Deserialize, TS)]
struct Recover {
    recovery: String,
}

impl Request for Recover {
    const NAME: &'static str = "recover";
    const WORK: Work = Work::Long;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let found = studio.recoveries().iter().find(|recovery| recovery.id() == self.recovery).cloned();
        let recovery = found.context("there is no such unsaved work")?;
        let mut warnings = Warnings::default();
        let recovered = recovery.recover(&mut warnings)?;
        let is_complete = recovered.is_complete;
        studio.exchange(|session| session.take_up(recovered));
        // Only what is wholly in the journal of this session now is no longer needed.
        let flushing = studio.session().begin_flush();
        locks::check_none_held();
        if flushing.wait() && is_complete {
            discard(studio, &self.recovery)?;
        }
        studio.exchanged(warnings);
        Ok(Done {})
    }
}

/// Remove unsaved work of a session that ended badly.
#[derive(Debug, Deserialize, TS)]
struct Discard {
    recovery: String,
}

impl Request for Discard {
    const NAME: &'static str = "discard";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        discard(context.studio, &self.recovery)?;
        Ok(Done {})
    }
}

fn discard(studio: &Studio, id: &str) -> anyhow::Result<()> {
    let mut recoveries = studio.recoveries();
    let index = recoveries.iter().position(|recovery| recovery.id() == id);
    let recovery = recoveries.remove(index.context("there is no such unsaved work")?);
    drop(recoveries);
    recovery.discard();
    studio.raise::<WorkPart>();
    Ok(())
}

/// Name and path of the document, and whether there is something to save.
#[derive(Debug)]
pub struct FilePart;

#[derive(Debug, Serialize, TS)]
pub struct FileState {
    name: String,
    /// Null if it has not been saved.
    path: Option<String>,
    dirty: bool,
    /// Why unsaved work is not safe on disk at present; null if it is.
    unprotected: Option<String>,
    /// Which document it is, counted from the start of the server.
    document: u32,
}

impl Part for FilePart {
    type Value = FileState;
    type Sent = ();

    fn follows(_: &Event) -> bool {
        true
    }

    fn value(Snapshot { studio, document }: &Snapshot<'_>, (): &mut ()) -> Option<FileState> {
        let session = studio.session();
        let path = session.path().map(|path| path.display().to_string());
        let (name, dirty) = (document.name.clone(), session.is_dirty());
        let unprotected = session.journal_fault();
        Some(FileState { name, path, dirty, unprotected, document: studio.n_opened() })
    }
}

/// Jobs, unsaved work that was found, and what the last preparation took.
#[derive(Debug)]
pub struct WorkPart;

#[derive(Debug, Serialize, TS)]
pub struct WorkState {
    jobs: Vec<JobState>,
    recoveries: Vec<RecoveryInfo>,
    prepare_ms: f64,
}

/// Unsaved work: of a session that ended badly, or of a document that was closed.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Recovery")]
struct RecoveryInfo {
    recovery: String,
    title: String,
    age_secs: u64,
    /// Bytes on disk.
    bytes: u64,
    /// Whether the user closed the document without saving; such work is listed, not offered.
    closed: bool,
}

impl Part for WorkPart {
    type Value = WorkState;
    type Sent = ();

    fn value(Snapshot { studio, .. }: &Snapshot<'_>, (): &mut ()) -> Option<WorkState> {
        let recovery = |recovery: &sinew::session::Recovery| RecoveryInfo {
            recovery: recovery.id().to_owned(),
            title: recovery.title.clone(),
            age_secs: recovery.changed.elapsed().unwrap_or_default().as_secs(),
            bytes: recovery.bytes,
            closed: recovery.is_closed,
        };
        Some(WorkState {
            jobs: studio.jobs.list().iter().map(|job| JobState::new(job, false, None)).collect(),
            recoveries: studio.recoveries().iter().map(recovery).collect(),
            prepare_ms: studio.prepare_ms(),
        })
    }
}

/// Warnings about the document. Some come with time, such as a full disk, so that they are looked at every time.
#[derive(Debug)]
pub struct WarningsPart;

#[derive(Debug, Serialize, TS)]
pub struct WarningsState {
    warnings: Vec<String>,
}

impl Part for WarningsPart {
    type Value = WarningsState;
    type Sent = Option<Vec<String>>;
    const ALWAYS: bool = true;

    fn value(snapshot: &Snapshot<'_>, sent: &mut Self::Sent) -> Option<WarningsState> {
        let warnings = snapshot.studio.warnings();
        if sent.as_ref() == Some(&warnings) {
            return None;
        }
        *sent = Some(warnings.clone());
        Some(WarningsState { warnings })
    }
}

/// What the program is.
#[derive(Debug)]
pub struct Program;

#[derive(Debug, Serialize, TS)]
pub struct ProgramInfo {
    version: &'static str,
    /// Changes when the server was restarted.
    session: String,
    /// Folder of the open dialog.
    root: String,
    #[ts(type = "string[]")]
    samples: Vec<&'static str>,
    /// Bytes of a file that may be dropped on the page.
    max_upload: u64,
}

impl Choices for Program {
    type Value = ProgramInfo;

    fn value(studio: &Studio) -> ProgramInfo {
        ProgramInfo {
            version: env!("CARGO_PKG_VERSION"),
            session: studio.session_id.clone(),
            root: studio.files.root().display().to_string(),
            samples: Sample::ALL.map(Sample::name).to_vec(),
            max_upload: MAX_UPLOAD,
        }
    }
}
