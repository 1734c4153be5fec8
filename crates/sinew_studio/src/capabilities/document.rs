//! Commands, history, and what the document is.

use super::Capability;
use crate::{
    engine::Engine,
    studio::Studio,
    wire::{Context, Done, GestureId, JobKind, Part, Point3, Registry, Request, Snapshot, Work},
};
use serde::{Deserialize, Serialize, Serializer};
use sinew::{
    formats::gltf::SurfacePart as PartOfSurface,
    session::{
        Command, Document, Event, FleshReport, RefitNumbers, Session, SessionError, SkeletonReport,
        find_doubts, surface_parts, with_skeleton,
    },
};
use std::sync::Arc;
use ts_rs::TS;

/// Bytes of a command: lists of vertices and files of pairs may be long.
const MAX_COMMAND_BYTES: usize = 8 << 20;

/// Commands and history.
#[derive(Debug, Default)]
pub struct DocumentCapability;

impl Capability for DocumentCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<Do>()
            .request::<Undo>()
            .request::<Redo>()
            .request::<Jump>()
            .request::<CancelDrag>()
            .request::<Cancel>()
            .part::<HistoryPart>()
            .part::<SurfacePart>();
    }
}

/// Run an undoable command. Commands with the same `stroke`, such as those of a slider that is dragged, are one step of history.
#[derive(Debug, Deserialize, TS)]
struct Do {
    command: Command,
    #[ts(optional)]
    stroke: Option<u32>,
}

/// What a command answers: numbers of what was made, or nothing.
#[derive(Debug, TS)]
#[ts(untagged)]
enum CommandReply {
    Done(Done),
    Baked(super::motion::Baked),
    Refitted(Box<RefitNumbers>),
    FleshBaked(Box<FleshReport>),
    SkeletonAdded(Box<SkeletonReport>),
}

impl Serialize for CommandReply {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Done(reply) => reply.serialize(serializer),
            Self::Baked(reply) => reply.serialize(serializer),
            Self::Refitted(reply) => reply.serialize(serializer),
            Self::FleshBaked(reply) => reply.serialize(serializer),
            Self::SkeletonAdded(reply) => reply.serialize(serializer),
        }
    }
}

impl Request for Do {
    const NAME: &'static str = "do";
    const MAX_BYTES: usize = MAX_COMMAND_BYTES;
    type Reply = CommandReply;

    fn work(&self) -> Work {
        if is_heavy(&self.command) { Work::Long } else { Work::Ordered }
    }

    fn run(self, context: &Context<'_>) -> anyhow::Result<CommandReply> {
        let studio = context.studio;
        Ok(match &self.command {
            Command::Bake { clip, fps, follow } => {
                CommandReply::Baked(super::motion::bake(studio, clip, *fps, *follow)?)
            }
            Command::Refit { settings } => {
                CommandReply::Refitted(Box::new(super::refit::refit(studio, settings)?))
            }
            Command::BakeFlesh { bake } => {
                CommandReply::FleshBaked(Box::new(super::flesh::bake(studio, bake)?))
            }
            Command::AddSkeleton { template } => {
                CommandReply::SkeletonAdded(Box::new(add_skeleton(studio, template.as_deref())?))
            }
            command if is_heavy(command) => {
                studio.job(JobKind::Command, &command.label(), |_| {
                    let before = studio.document();
                    let after = command.apply(&before)?;
                    studio.session().commit(command, &before, after).ok_or(SessionError::Cancelled)
                })?;
                CommandReply::Done(Done {})
            }
            command => {
                let stroke = self.stroke.map(|drag| GestureId { page: context.page, drag }.of_stroke());
                studio.session().apply(command, stroke)?;
                CommandReply::Done(Done {})
            }
        })
    }
}

/// Add a skeleton as a job, and report what the body was taken for.
fn add_skeleton(studio: &Studio, template: Option<&str>) -> anyhow::Result<SkeletonReport> {
    studio.job(JobKind::Command, "Adding a skeleton", |_| {
        let before = studio.document();
        let (after, report) = with_skeleton(&before, template)?;
        let command = Command::AddSkeleton { template: template.map(str::to_owned) };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(report)
    })
}

/// Commands that work on the whole surface: they run outside the locks, so that no other request waits for them.
fn is_heavy(command: &Command) -> bool {
    matches!(
        command,
        Command::Repair {}
            | Command::Scale { .. }
            | Command::Turn { .. }
            | Command::Bake { .. }
            | Command::Refit { .. }
            | Command::Take { .. }
            | Command::AddSkeleton { .. }
            | Command::BindJoints {}
            | Command::BakeFlesh { .. }
            | Command::TakeSkin { .. }
    )
}

/// Undo a step.
#[derive(Debug, Deserialize, TS)]
struct Undo {}

impl Request for Undo {
    const NAME: &'static str = "undo";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.session().undo();
        Ok(Done {})
    }
}

/// Redo a step.
#[derive(Debug, Deserialize, TS)]
struct Redo {}

impl Request for Redo {
    const NAME: &'static str = "redo";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.session().redo();
        Ok(Done {})
    }
}

/// Go to a step of the history: 0 is the state as opened, `history.first` the oldest that is still known.
#[derive(Debug, Deserialize, TS)]
struct Jump {
    step: usize,
}

impl Request for Jump {
    const NAME: &'static str = "jump";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let mut session = context.studio.session();
        let first = session.history().first();
        if let Some(step) = self.step.checked_sub(first) {
            Session::jump(&mut session, step);
        }
        Ok(Done {})
    }
}

/// Take back a gesture in progress, leaving no trace.
#[derive(Debug, Deserialize, TS)]
struct CancelDrag {
    drag: u32,
}

impl Request for CancelDrag {
    const NAME: &'static str = "cancel_drag";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let gesture = GestureId { page: context.page, drag: self.drag };
        context.studio.session().cancel_drag(gesture.of_drag());
        Engine::release(context.studio, gesture);
        Ok(Done {})
    }
}

/// Cancel a job.
#[derive(Debug, Deserialize, TS)]
struct Cancel {
    job: u64,
}

impl Request for Cancel {
    const NAME: &'static str = "cancel";
    const WORK: Work = Work::Quick;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.jobs.cancel(self.job);
        Ok(Done {})
    }
}

/// Steps. The list grows with the work, so that only its end is sent: the page drops the steps before `first`, keeps the
/// first `keep` of the others, and the given ones follow.
#[derive(Debug)]
pub struct HistoryPart;

#[derive(Debug, Serialize, TS)]
pub struct HistoryState {
    history: HistoryTail,
}

/// The end of the history.
#[derive(Debug, Serialize, TS)]
struct HistoryTail {
    /// Number of the oldest step that is known.
    first: usize,
    /// How many of the known steps stay.
    keep: usize,
    /// What follows them.
    steps: Vec<String>,
    /// The present step, counted from `first`.
    at: usize,
}

impl Part for HistoryPart {
    type Value = HistoryState;
    type Sent = (usize, Vec<Arc<str>>);

    fn follows(event: &Event) -> bool {
        matches!(event, Event::History)
    }

    fn value(snapshot: &Snapshot<'_>, (sent_first, sent): &mut Self::Sent) -> Option<HistoryState> {
        let (first, at, labels) = {
            let session = snapshot.studio.session();
            let history = session.history();
            (history.first(), history.at(), history.labels().cloned().collect::<Vec<_>>())
        };
        // Those that were dropped meanwhile are not among those the page keeps.
        let gone = first.saturating_sub(*sent_first).min(sent.len());
        sent.drain(..gone);
        if first < *sent_first {
            sent.clear();
        }
        let keep = labels.iter().zip(sent.iter()).take_while(|(a, b)| a == b).count();
        let steps = labels[keep..].iter().map(|label| label.to_string()).collect();
        (*sent_first, *sent) = (first, labels);
        Some(HistoryState { history: HistoryTail { first, keep, steps, at } })
    }
}

/// The mesh in numbers, and its materials.
#[derive(Debug)]
pub struct SurfacePart;

#[derive(Debug, Serialize, TS)]
pub struct SurfaceState {
    vertices: usize,
    faces: usize,
    /// Joints of the skeleton.
    joints: usize,
    /// Least and greatest coordinates.
    bounds: [Point3; 2],
    /// What seems to be wrong with its unit or its up axis; null if nothing.
    doubts: Option<DoubtsInfo>,
    /// What can be shown, hidden and exported by itself.
    parts: Vec<PartInfo>,
    /// Which geometry frames belong to.
    revision: u32,
    /// Where its materials are; another address for other ones.
    appearance: String,
}

/// A part of the surface.
#[derive(Debug, Serialize, TS)]
struct PartInfo {
    name: String,
    faces: usize,
    visible: bool,
}

fn part_info(part: PartOfSurface) -> PartInfo {
    PartInfo { name: part.name, faces: part.n_faces, visible: part.is_visible }
}

/// A document that seems to be in another unit than metres, to have another axis up than +Y, or to face another than +Z.
#[derive(Debug, Serialize, TS)]
struct DoubtsInfo {
    /// As a question.
    text: String,
    /// What to scale it by; null if its unit is not in doubt.
    scale: Option<f64>,
    /// Its axis that seems to be up; null if that is not in doubt.
    up: Option<&'static str>,
    /// The axis along which it seems to face; null if that is not in doubt.
    facing: Option<&'static str>,
}

fn doubts(document: &Document) -> Option<DoubtsInfo> {
    let found = find_doubts(&document.character());
    let up = found.up.map(|axis| format!("Is {axis} up instead of y?"));
    let facing = found.facing.map(|axis| format!("Does it face {axis} instead of z?"));
    let said: Vec<String> = found.question().into_iter().chain(up).chain(facing).collect();
    let (scale, up, facing) = (found.unit, found.up, found.facing);
    (!said.is_empty()).then(|| DoubtsInfo { text: said.join(" "), scale, up, facing })
}

impl Part for SurfacePart {
    type Value = SurfaceState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.surface || changes.visibility)
    }

    fn value(Snapshot { studio, document }: &Snapshot<'_>, (): &mut ()) -> Option<SurfaceState> {
        let mesh = document.mesh();
        Some(SurfaceState {
            vertices: mesh.n_vertices(),
            faces: mesh.n_faces(),
            joints: document.body.rig.as_ref().map_or(0, |rig| rig.n_joints()),
            bounds: mesh.bounds().map(|corner| corner.to_array()),
            doubts: doubts(document),
            parts: surface_parts(document).parts.into_iter().map(part_info).collect(),
            revision: studio.revision(),
            appearance: studio.appearance_address(),
        })
    }
}
