//! What is done when a page asks for it. Everything here may take its time: it runs beside the socket.

use crate::{
    fit,
    guard::secret,
    news::Topic,
    painter, puppet,
    studio::{Shown, Studio, drag_gesture, lock, stroke_gesture},
    wire::{Paint, Region, Request, What},
};
use anyhow::{Context, bail};
use serde_json::{Value, json};
use sinew::{
    deform::{
        AutoParams, SkinHandleParams, find_handles, handles_from_skin,
        select::{Plane, remove},
    },
    geom::{Warnings, sample::Sample},
    session::{
        Command, Display, ExportParams, HandleData, Job, PaintOp, SessionError, Stage, export, grow_sample,
        open_file_within, write_project,
    },
};
use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

/// Handles that may be asked for, as on the command line.
const MAX_HANDLES: usize = 1000;
/// How far from its mirror image a vertex may be, as a share of the diagonal.
const MIRROR_TOLERANCE: f64 = 0.02;

/// Do what a page asks for, after what it dragged before.
///
/// # Errors
/// Why it could not be done.
pub fn handle(studio: &Arc<Studio>, page: u64, request: Request) -> anyhow::Result<Value> {
    studio.settle(page);
    match request {
        // The socket itself sees to these.
        Request::Ack { .. } | Request::Drag { .. } => {}
        Request::Do { command: Command::Bake { clip, fps, follow }, .. } => {
            return crate::examples::bake(studio, &clip, fps, follow);
        }
        Request::Do { command: Command::Refit { settings }, .. } => {
            return crate::rules::refit(studio, &settings);
        }
        Request::Do { command: Command::BakeFlesh { bake }, .. } => return crate::flesh::bake(studio, &bake),
        Request::FormatRules { text } => return Ok(crate::rules::format(&text)),
        Request::Contacts { clip } => return crate::rules::contacts(studio, &clip),
        Request::ReachEnd { accept } => crate::examples::end_reach(studio, accept)?,
        Request::Sculpt(request) => crate::examples::sculpt(studio, &request)?,
        Request::PickGround { view, at } => return crate::examples::pick_ground(studio, view, at),
        Request::Do { command, .. } if is_heavy(&command) => {
            return job(studio, &command.label(), |_| {
                let before = studio.session().document().clone();
                let after = command.apply(&before)?;
                studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
                Ok(json!({}))
            });
        }
        Request::Do { command, stroke } => {
            studio.session().apply(&command, stroke.map(stroke_gesture))?;
        }
        Request::Undo => move_in_history(studio, |session| session.undo()),
        Request::Redo => move_in_history(studio, |session| session.redo()),
        Request::Jump { step } => move_in_history(studio, |session| {
            step.checked_sub(session.history().first()).is_some_and(|step| session.jump(step))
        }),
        Request::CancelDrag { drag } => {
            studio.session().cancel_drag(drag_gesture(drag));
        }
        Request::Paint(request) => paint(studio, &request)?,
        Request::MirrorHandle { handle } => return mirror(studio, &handle),
        Request::AutoHandles { count, from_shape } => {
            return job(studio, "Finding handles", |job| auto_handles(studio, job, count, from_shape));
        }
        Request::DefaultCenter { handle } => {
            studio.session().apply(&Command::ResetCenter { name: handle }, None)?;
        }
        Request::Pick { view, at } => return pick(studio, view, at),
        Request::Display { what, clip, time } => display(studio, what, clip, time)?,
        Request::Stress { on } => studio.change_looks(|looks| looks.stress = on),
        Request::Refine { on } => studio.change_looks(|looks| looks.refine = on),
        Request::Fit { settings } => {
            return job(studio, "Fitting a skin", |job| fit::run(studio, job, &settings));
        }
        Request::TakeFit => return job(studio, "Taking the skin", |_| fit::take(studio)),
        Request::Compare { on } => studio.change_looks(|looks| looks.compare = on),
        Request::Actor { path } => {
            let path = studio.files.existing(&path)?;
            return puppet::open_actor(studio, &path, Some(studio.files.root()));
        }
        Request::ActorUpload { drop, name } => {
            return with_upload(studio, &drop, &name, |path| puppet::open_actor(studio, path, None));
        }
        Request::PuppetDemo { name } => return puppet::open_demo(studio, &name),
        Request::ActEnd => puppet::end(studio),
        Request::Pairing { on } => puppet::set_pairing(studio, on),
        Request::Pair { name, target } => puppet::pair(studio, &name, &target)?,
        Request::Calibrate { on } => puppet::calibrate(studio, on)?,
        Request::TakeBegin => puppet::begin_take(studio)?,
        Request::TakeEnd { clip } => return puppet::end_take(studio, clip.as_deref()),
        Request::PerformAll { clip } => return puppet::perform_all(studio, &clip),
        Request::FleshLive { on } => crate::flesh::set_live(studio, on),
        Request::FleshPause { on } => crate::flesh::pause(studio, on),
        Request::FleshReset => crate::flesh::reset(studio),
        Request::FleshPush { vertex, direction } => crate::flesh::push(studio, vertex, direction)?,
        Request::FleshCells { on } => studio.change_looks(|looks| looks.cells = on),
        Request::PaintStiffness(request) => crate::flesh::paint(studio, &request)?,
        Request::RigPlace(request) => return crate::flesh::place_rig(studio, &request),
        Request::PutJoint { view, at, parent } => return crate::flesh::put_joint(studio, view, at, parent),
        Request::Sample { name, vertices } => return sample(studio, &name, vertices),
        Request::List { folder } => return studio.files.list(folder.as_deref()),
        Request::Open { path } => {
            let path = studio.files.existing(&path)?;
            return open(studio, &path, true);
        }
        Request::OpenUpload { drop, name } => {
            return with_upload(studio, &drop, &name, |path| open(studio, path, false));
        }
        Request::Save { path, overwrite } => return save(studio, path.as_deref(), overwrite),
        Request::Export(params) => return job(studio, "Exporting", |job| run_export(studio, job, &params)),
        Request::Recover { recovery } => recover(studio, &recovery)?,
        Request::Discard { recovery } => discard(studio, &recovery)?,
        Request::Cancel { job } => {
            studio.jobs.cancel(job);
        }
    }
    Ok(json!({}))
}

/// Commands that work on the whole surface: nobody waits for them, and nothing is locked meanwhile.
pub fn is_heavy(command: &Command) -> bool {
    matches!(
        command,
        Command::Repair {}
            | Command::Scale { .. }
            | Command::Bake { .. }
            | Command::Refit { .. }
            | Command::Take { .. }
            | Command::BindJoints {}
            | Command::BakeFlesh { .. }
            | Command::TakeSkin { .. }
    )
}

fn move_in_history(studio: &Studio, step: impl FnOnce(&mut sinew::session::Session) -> bool) {
    step(&mut studio.session());
}

/// Run long work as a job: pages see how far it is and may stop it.
pub fn job<T>(
    studio: &Studio,
    title: &str,
    work: impl FnOnce(&Job) -> Result<T, SessionError>,
) -> anyhow::Result<T> {
    let job = studio.jobs.start(title);
    studio.tell_job(&job, false, None);
    // Whatever it says of being stopped, that is what happened.
    let done = work(&job).map_err(|error| if job.is_cancelled() { SessionError::Cancelled } else { error });
    studio.jobs.finish(&job);
    studio.tell_job(&job, true, done.as_ref().err());
    Ok(done?)
}

pub fn shown(studio: &Studio) -> anyhow::Result<Arc<Shown>> {
    studio.shown.borrow().clone().context("nothing is shown yet")
}

fn paint(studio: &Studio, request: &Paint) -> anyhow::Result<()> {
    let shown = shown(studio)?;
    let handles = &studio.session().document().handles.clone();
    let own = handles.iter().find(|handle| handle.name == request.handle);
    let own: Vec<u32> = own.map(|handle| handle.vertices.clone()).unwrap_or_default();
    let (region, before) = (request.region.clone(), own.clone());
    let mut vertices = studio
        .painter
        .ask(shown.mesh(), move |selector| painter::select(selector, &region, &own))
        .context("the selection failed")?;
    // What a handle has already keeps its weights when it grows or shrinks.
    let op = match request.region {
        Region::Grow(rings) if rings > 0 => {
            vertices = remove(&vertices, &before);
            PaintOp::Add
        }
        Region::Shrink(_) => {
            vertices = remove(&before, &vertices);
            PaintOp::Remove
        }
        _ => request.op,
    };
    if vertices.is_empty() && op != PaintOp::Replace {
        return Ok(());
    }
    let command = Command::Paint { handle: request.handle.clone(), op, vertices, weight: request.weight };
    studio.apply_on(&shown.document.body, &command, request.stroke.map(stroke_gesture))?;
    Ok(())
}

fn mirror(studio: &Studio, name: &str) -> anyhow::Result<Value> {
    let document = studio.session().document().clone();
    let handle = document.handles[document.find_handle(name)?].clone();
    let [low, high] = document.mesh().bounds();
    let middle = (low.x + high.x) / 2.0;
    let plane = Plane { offset: middle, ..Plane::default() };
    let tolerance = MIRROR_TOLERANCE * document.mesh().diagonal();
    let mesh = Arc::new(document.mesh().clone());
    let copy = handle.clone();
    let (vertices, weights) = studio
        .painter
        .ask(mesh, move |selector| painter::mirror(selector, &copy, &plane, tolerance))
        .context("the mirror image failed")?;
    if vertices.is_empty() {
        bail!(
            "the surface has nothing opposite to {name:?}; the model must be symmetric about x = {middle:.3}"
        );
    }
    let twin = twin_name(name);
    let secondary = handle.secondary.iter().map(|other| twin_name(other));
    let secondary = secondary.filter(|other| document.find_handle(other).is_ok()).collect();
    let center = plane.reflect(handle.center).to_array();
    let handle = HandleData { name: twin.clone(), vertices, weights, center, secondary };
    studio.apply_on(&document.body, &Command::PutHandle { handle }, None)?;
    Ok(json!({ "handle": twin }))
}

/// The name of the other side.
fn twin_name(name: &str) -> String {
    sinew::session::twin_name(name).unwrap_or_else(|| format!("{name}.mirrored"))
}

fn auto_handles(
    studio: &Studio,
    job: &Job,
    count: Option<usize>,
    from_shape: bool,
) -> Result<Value, SessionError> {
    let document = studio.session().document().clone();
    let character = document.character();
    let mut warnings = Warnings::default();
    let of_bones = match (&character.skin, from_shape) {
        (Some(_), false) => handles_from_skin(&character, &SkinHandleParams::default(), &mut warnings).ok(),
        _ => None,
    };
    let handles = match of_bones {
        Some(handles) => handles,
        None => {
            let count = count.map(|count| count.clamp(1, MAX_HANDLES));
            let params = AutoParams { count, ..AutoParams::default() };
            find_handles(document.mesh(), &params, &mut |share| job.update(share), &mut warnings)?
        }
    };
    if job.is_cancelled() {
        return Err(SessionError::Cancelled);
    }
    let handles: Vec<HandleData> = handles.iter().map(HandleData::from).collect();
    let n = handles.len();
    studio.apply_on(&document.body, &Command::SetHandles { handles }, None)?;
    Ok(json!({ "handles": n, "warnings": warnings.messages }))
}

fn pick(studio: &Studio, view: [f64; 16], at: [f64; 2]) -> anyhow::Result<Value> {
    let shown = shown(studio)?;
    let mesh = shown.mesh();
    let hit = studio.painter.ask(mesh.clone(), move |selector| painter::pick(selector, &view, at)).flatten();
    let Some(hit) = hit else { return Ok(Value::Null) };
    let corners = mesh.faces()[hit.face as usize];
    let points = mesh.corners(hit.face as usize);
    let position = points.iter().zip(hit.barycentric).map(|(p, w)| *p * w).sum::<glam::DVec3>();
    // The corner it is nearest to says whose it is.
    let nearest = (0..3).max_by(|&a, &b| hit.barycentric[a].total_cmp(&hit.barycentric[b])).unwrap_or(0);
    let vertex = corners[nearest];
    // The newest handles, which the shape need not have been made with.
    let document = studio.session().document().clone();
    let owner = document.handles.iter().find(|handle| handle.vertices.binary_search(&vertex).is_ok());
    Ok(json!({
        "handle": owner.map(|handle| handle.name.clone()), "vertex": vertex, "face": hit.face,
        "position": position.to_array(), "distance": hit.t,
    }))
}

fn display(studio: &Studio, what: What, clip: Option<String>, time: Option<f32>) -> anyhow::Result<()> {
    let display = match what {
        What::Rest => Display::Rest,
        What::Posed => Display::Posed,
        What::Ruled => Display::Ruled,
        What::Jointed => Display::Jointed,
        What::Clip => {
            let clip = clip.context("which clip?")?;
            studio.session().document().find_clip(&clip)?;
            let time = time.filter(|time| time.is_finite()).unwrap_or(0.0);
            Display::Clip { clip, time }
        }
    };
    studio.show(display);
    Ok(())
}

fn sample(studio: &Studio, name: &str, vertices: usize) -> anyhow::Result<Value> {
    let sample = Sample::from_name(name).with_context(|| format!("there is no sample {name:?}"))?;
    job(studio, &format!("Growing {name}"), |job| {
        let mut warnings = Warnings::default();
        let document = grow_sample(sample, vertices, &mut |share| job.update(share), &mut warnings)?;
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        studio.open(document, None, warnings);
        Ok(json!({}))
    })
}

/// Open a file. One that lies in the user's folder and is a project is saved there again.
fn open(studio: &Studio, path: &Path, is_users: bool) -> anyhow::Result<Value> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // What was dropped lies where nothing else is, and no links are.
    let root = is_users.then(|| studio.files.root());
    job(studio, &format!("Opening {name}"), |job| {
        let mut warnings = Warnings::default();
        let document = open_file_within(path, root, &mut |share| job.update(share), &mut warnings)?;
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        let is_project = name.to_ascii_lowercase().ends_with(".sinew.glb");
        let own = (is_users && is_project).then(|| path.to_owned());
        let n_warnings = warnings.messages.len();
        studio.open(document, own, warnings);
        Ok(json!({ "warnings": n_warnings }))
    })
}

/// Read a file that was sent. The user knows it by its name, not by where we keep it.
fn with_upload(
    studio: &Studio,
    drop: &str,
    name: &str,
    read: impl FnOnce(&Path) -> anyhow::Result<Value>,
) -> anyhow::Result<Value> {
    let path = studio.files.upload(drop, name)?;
    let ours = format!("{}/", path.parent().unwrap_or(&path).display());
    let done = read(&path);
    studio.files.forget_upload(drop);
    done.map_err(|error| anyhow::anyhow!(format!("{error:#}").replace(&ours, "")))
}

fn save(studio: &Studio, path: Option<&str>, overwrite: bool) -> anyhow::Result<Value> {
    let _one_at_a_time = lock(&studio.saving);
    let path: PathBuf = match path {
        Some(path) => {
            let mut path = path.to_owned();
            if !path.to_ascii_lowercase().ends_with(".glb") {
                path += ".sinew.glb";
            }
            studio.files.writable(&path)?
        }
        None => match studio.session().path() {
            Some(path) => path.to_owned(),
            None => return Err(NeedsPath.into()),
        },
    };
    let (document, own) = {
        let session = studio.session();
        (session.document().clone(), session.path().map(Path::to_owned))
    };
    if !overwrite && own.as_ref() != Some(&path) && path.exists() {
        return Err(Exists(path).into());
    }
    let saved = job(studio, "Saving", |_| {
        let bytes = write_project(&document, &mut Warnings::default())?;
        sinew::formats::write_atomic(&path, &bytes)?;
        Ok(bytes.len())
    })?;
    studio.session().mark_saved(&document, &path);
    Ok(json!({ "path": path, "bytes": saved }))
}

/// The document has no file yet: the page must ask for one.
#[derive(Debug)]
pub struct NeedsPath;

impl std::fmt::Display for NeedsPath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the document has not been saved yet; choose a name")
    }
}

impl std::error::Error for NeedsPath {}

/// The file is there already, and is not the document's own.
#[derive(Debug)]
pub struct Exists(PathBuf);

impl std::fmt::Display for Exists {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} exists already; choose another name, or replace it", self.0.display())
    }
}

impl std::error::Error for Exists {}

fn run_export(studio: &Studio, job: &Job, params: &ExportParams) -> Result<Value, SessionError> {
    let document = studio.session().document().clone();
    let mut warnings = Warnings::default();
    // A copy, whose steps are shared: opening something else does not wait for this.
    let (opened, mut stack) = (studio.n_opened(), lock(&studio.stack).clone());
    let progress = |share: f64| job.update(share);
    let made = export(&document, params, &mut stack, &mut Stage::default(), &progress, &mut warnings)?;
    studio.keep_stack(opened, stack);
    let fail = |error: anyhow::Error| SessionError::Value { what: "export", cause: format!("{error:#}") };
    let id = secret().map_err(fail)?;
    studio.files.keep_download(id.clone(), &made.name, &made.bytes).map_err(fail)?;
    Ok(json!({
        "url": format!("/download/{id}"), "name": made.name, "bytes": made.bytes.len(),
        "warnings": warnings.messages,
    }))
}

fn recover(studio: &Studio, id: &str) -> anyhow::Result<()> {
    let index = studio.recoveries().iter().position(|recovery| recovery.id() == id);
    let recovery = studio.recoveries()[index.context("there is no such unsaved work")?].clone();
    let mut warnings = Warnings::default();
    let recovered = recovery.recover(&mut warnings)?;
    let is_complete = recovered.is_complete;
    studio.exchange(|session| session.take_up(recovered));
    // Only what is wholly in the journal of this session now is no longer needed.
    let is_kept = studio.session().flush();
    if is_complete && is_kept {
        discard(studio, id)?;
    }
    studio.exchanged(warnings);
    Ok(())
}

fn discard(studio: &Studio, id: &str) -> anyhow::Result<()> {
    let mut recoveries = studio.recoveries();
    let index = recoveries.iter().position(|recovery| recovery.id() == id);
    let recovery = recoveries.remove(index.context("there is no such unsaved work")?);
    drop(recoveries);
    recovery.discard();
    studio.raise(Topic::Work);
    Ok(())
}
