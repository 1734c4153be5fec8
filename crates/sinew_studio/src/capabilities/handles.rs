//! Handles: painted, mirrored, found.

use super::Capability;
use crate::{
    painter::{self, Region},
    studio::Studio,
    wire::{Context, Done, GestureId, JobKind, Part, Point3, Registry, Request, Snapshot, Work},
};
use anyhow::{Context as _, bail};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew::{
    deform::{
        AutoParams, SkinHandleParams, find_handles, handles_from_skin,
        select::{Plane, remove},
    },
    geom::{Handle, Warnings},
    session::{Command, Document, Event, HandleData, Job, PaintOp, SessionError},
};
use std::sync::Arc;
use ts_rs::TS;

/// Handles that may be asked for, as on the command line.
const MAX_HANDLES: usize = 1000;
/// How far from its mirror image a vertex may be, as a share of the diagonal.
const MIRROR_TOLERANCE: f64 = 0.02;

/// Handles.
#[derive(Debug, Default)]
pub struct HandlesCapability;

impl Capability for HandlesCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<Paint>()
            .request::<MirrorHandle>()
            .request::<AutoHandles>()
            .request::<DefaultCenter>()
            .part::<HandlesPart>();
    }
}

/// Resolve a region of the surface as it is shown into vertices of a handle, as one command. Messages with the same
/// `stroke` are one step of history. A handle that does not exist is made.
#[derive(Debug, Deserialize, TS)]
struct Paint {
    handle: String,
    op: PaintOp,
    region: Region,
    /// 1 if absent.
    #[serde(default = "one")]
    #[ts(optional, as = "Option<_>")]
    weight: f32,
    #[ts(optional)]
    stroke: Option<u32>,
}

fn one() -> f32 {
    1.0
}

impl Request for Paint {
    const NAME: &'static str = "paint";
    /// A region may be a list of vertices.
    const MAX_BYTES: usize = 8 << 20;
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let shown = studio.shown()?;
        let document = studio.document();
        let own = document.handles.iter().find(|handle| handle.name == self.handle);
        let own: Vec<u32> = own.map(|handle| handle.vertices.clone()).unwrap_or_default();
        let (region, before) = (self.region.clone(), own.clone());
        let mut vertices = studio
            .painter
            .ask(shown.mesh(), move |selector| painter::select(selector, &region, &own))
            .context("the selection failed")?;
        // What a handle has already keeps its weights when it grows or shrinks.
        let op = match self.region {
            Region::Grow(rings) if rings > 0 => {
                vertices = remove(&vertices, &before);
                PaintOp::Add
            }
            Region::Shrink(_) => {
                vertices = remove(&before, &vertices);
                PaintOp::Remove
            }
            _ => self.op,
        };
        if vertices.is_empty() && op != PaintOp::Replace {
            return Ok(Done {});
        }
        let command = Command::Paint { handle: self.handle, op, vertices, weight: self.weight };
        let stroke = self.stroke.map(|drag| GestureId { page: context.page, drag }.of_stroke());
        studio.apply_on(&shown.document.body, &command, stroke)?;
        Ok(Done {})
    }
}

/// Make a twin of a handle on the other side of the symmetry plane x = centre (`.L` ↔ `.R`).
#[derive(Debug, Deserialize, TS)]
struct MirrorHandle {
    handle: String,
}

/// The twin of a handle.
#[derive(Debug, Serialize, TS)]
struct MirroredHandle {
    handle: String,
}

impl Request for MirrorHandle {
    const NAME: &'static str = "mirror_handle";
    type Reply = MirroredHandle;

    fn run(self, context: &Context<'_>) -> anyhow::Result<MirroredHandle> {
        let (studio, name) = (context.studio, self.handle);
        let document = studio.document();
        let handle = document.handles[document.find_handle(&name)?].clone();
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
        let twin = twin_name(&name);
        let secondary = handle.secondary.iter().map(|other| twin_name(other));
        let secondary = secondary.filter(|other| document.find_handle(other).is_ok()).collect();
        let center = plane.reflect(handle.center).to_array();
        let handle = HandleData { name: twin.clone(), vertices, weights, center, secondary };
        studio.apply_on(&document.body, &Command::PutHandle { handle }, None)?;
        Ok(MirroredHandle { handle: twin })
    }
}

/// The name of the other side.
fn twin_name(name: &str) -> String {
    sinew::session::twin_name(name).unwrap_or_else(|| format!("{name}.mirrored"))
}

/// Find handles, which replace all there are: of the skeleton, or of the shape.
#[derive(Debug, Deserialize, TS)]
struct AutoHandles {
    /// How many; chosen if absent.
    #[ts(optional)]
    count: Option<usize>,
    /// Whether the skeleton is ignored.
    #[serde(default)]
    #[ts(optional, as = "Option<_>")]
    from_shape: bool,
}

/// What was found.
#[derive(Debug, Serialize, TS)]
struct FoundHandles {
    handles: usize,
    warnings: Vec<String>,
}

impl Request for AutoHandles {
    const NAME: &'static str = "auto_handles";
    const WORK: Work = Work::Long;
    type Reply = FoundHandles;

    fn run(self, context: &Context<'_>) -> anyhow::Result<FoundHandles> {
        context.studio.job(JobKind::Handles, "Finding handles", |job| self.find(context.studio, job))
    }
}

impl AutoHandles {
    fn find(&self, studio: &Studio, job: &Job) -> Result<FoundHandles, SessionError> {
        let document = studio.document();
        let character = document.character();
        let mut warnings = Warnings::default();
        let of_bones = match (&character.skin, self.from_shape) {
            (Some(_), false) => {
                handles_from_skin(&character, &SkinHandleParams::default(), &mut warnings).ok()
            }
            _ => None,
        };
        let handles = match of_bones {
            Some(handles) => handles,
            None => {
                let count = self.count.map(|count| count.clamp(1, MAX_HANDLES));
                let params = AutoParams { count, ..AutoParams::default() };
                find_handles(document.mesh(), &params, &mut |share| job.update(share), &mut warnings)?
            }
        };
        if job.is_cancelled() {
            return Err(SessionError::Cancelled);
        }
        let handles: Vec<HandleData> = handles.iter().map(HandleData::from).collect();
        let found = FoundHandles { handles: handles.len(), warnings: warnings.messages };
        studio.apply_on(&document.body, &Command::SetHandles { handles }, None)?;
        Ok(found)
    }
}

/// Put the rotation centre back to the middle of the handle's border.
#[derive(Debug, Deserialize, TS)]
struct DefaultCenter {
    handle: String,
}

impl Request for DefaultCenter {
    const NAME: &'static str = "default_center";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.session().apply(&Command::ResetCenter { name: self.handle }, None)?;
        Ok(Done {})
    }
}

/// Handles.
#[derive(Debug)]
pub struct HandlesPart;

#[derive(Debug, Serialize, TS)]
pub struct HandlesState {
    handles: Vec<HandleInfo>,
}

/// A handle.
#[derive(Debug, Serialize, TS)]
struct HandleInfo {
    name: String,
    /// How many.
    vertices: usize,
    /// What it turns about, at rest.
    center: Point3,
    /// Middle of its vertices at rest: what targets and paths are for.
    middle: Point3,
    /// Handles that move along.
    secondary: Vec<String>,
    /// `#rrggbb`.
    color: String,
}

impl Part for HandlesPart {
    type Value = HandlesState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.handles)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<HandlesState> {
        let handle = |(index, handle): (usize, &Arc<Handle>)| HandleInfo {
            name: handle.name.clone(),
            vertices: handle.vertices.len(),
            center: handle.center.to_array(),
            middle: middle(document, handle).to_array(),
            secondary: handle.secondary.clone(),
            color: color(index),
        };
        Some(HandlesState { handles: document.handles.iter().enumerate().map(handle).collect() })
    }
}

/// Middle of a handle's vertices at rest: what targets and paths are for.
pub fn middle(document: &Document, handle: &Handle) -> DVec3 {
    let positions = document.mesh().positions();
    let sum: DVec3 = handle.vertices.iter().filter_map(|&v| positions.get(v as usize)).sum();
    if handle.vertices.is_empty() { handle.center } else { sum / handle.vertices.len() as f64 }
}

/// Colours far from each other for neighbours in the list: hues by the golden angle, two lightnesses.
fn color(index: usize) -> String {
    let hue = (index as f64 * 137.508) % 360.0;
    let lightness = if index.is_multiple_of(2) { 0.55 } else { 0.68 };
    let chroma = (1.0 - f64::abs(2.0 * lightness - 1.0)) * 0.62;
    let channel = |offset: f64| {
        let k = (offset + hue / 30.0) % 12.0;
        let value = lightness - chroma / 2.0 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0))
}
