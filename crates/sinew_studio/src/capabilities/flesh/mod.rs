//! Flesh. It is simulated on a thread of its own, at the rate of the display: edits never wait for it, and the engine shows
//! the newest shape there is.

mod live;
mod paint;
mod state;

pub use live::Cells;

use super::{Capability, Shape};
use crate::{
    engine::Engine,
    painter,
    studio::{Looks, Studio},
    wire::{
        Context, Done, Gesture, GestureId, JobKind, Point2, Point3, Quaternion, Registry, Request, ViewMatrix,
    },
};
use anyhow::{Context as _, ensure};
use glam::{DQuat, DVec2, DVec3};
use live::LiveStage;
use paint::PaintStiffness;
use serde::{Deserialize, Serialize};
use sinew::{
    flesh::place_joint,
    geom::query::SurfaceTree,
    session::{
        Command, Document, FleshBake, FleshChange, FleshReport, JointData, SessionError, bake_flesh,
        turned_pose,
    },
};
use state::{FleshPart, LivePart};
use ts_rs::TS;

/// Flesh that is simulated.
#[derive(Debug, Default)]
pub struct FleshCapability {
    stage: LiveStage,
}

impl Capability for FleshCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<SetLive>()
            .request::<Pause>()
            .request::<Reset>()
            .request::<Push>()
            .request::<ShowCells>()
            .request::<PaintStiffness>()
            .request::<PutJoint>()
            .gesture::<FleshTouch>()
            .part::<FleshPart>()
            .part::<LivePart>();
    }

    fn reset(&self, studio: &Studio) {
        self.stage.end();
        studio.raise::<LivePart>();
    }

    fn release(&self, gesture: GestureId) {
        self.stage.release(gesture);
    }

    fn is_shown(&self) -> bool {
        self.stage.is_on()
    }

    fn shape(
        &self,
        _: &mut Engine<'_>,
        document: &Document,
        looks: &Looks,
    ) -> Option<Result<Shape, SessionError>> {
        self.stage.frame(document, &looks.display, looks.cells).map(Ok)
    }

    fn thread(&self) -> Option<fn(&Studio)> {
        Some(live::run)
    }

    fn stop(&self) {
        self.stage.stop();
    }
}

impl FleshCapability {
    /// Run something on the flesh's thread while the pointer drags; only the newest of it waits.
    pub fn leave(&self, task: live::Task) {
        self.stage.change(|wanted| wanted.task = Some(task));
    }
}

/// What the pointer does to the flesh while it drags.
#[derive(Debug, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
enum FleshTouch {
    /// Pull the surface at a vertex to a place; null releases it. It is released when the gesture ends, and
    /// is no step of history.
    Grab(Option<Grab>),
    /// Turn a joint about an axis of the world, from how it was turned when the gesture began.
    Turn {
        /// Its name.
        joint: String,
        /// How it was turned.
        from: Quaternion,
        /// The axis.
        axis: Point3,
        /// The angle.
        degrees: f64,
    },
    /// Move a joint that the user placed.
    Joint {
        /// Where it is now.
        joint: JointData,
    },
    /// Fit a muscle until a vertex is at a place, recorded at the present value of its control parameter.
    Fit(super::muscles::FitTouch),
}

/// Where the surface is held.
#[derive(Debug, Deserialize, TS)]
struct Grab {
    vertex: usize,
    to: Point3,
}

impl Gesture for FleshTouch {
    const NAME: &'static str = "flesh";

    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        let fail = |cause: String| Err(SessionError::Value { what: "flesh", cause });
        let studio = engine.studio;
        let document = studio.document();
        let n = document.mesh().n_vertices();
        let change = match self {
            Self::Grab(grab) => {
                let held = grab.map(|grab| (grab.vertex, DVec3::from_array(grab.to)));
                if held.is_some_and(|(vertex, to)| vertex >= n || !to.is_finite()) {
                    return fail(format!("a grab has a vertex below {n} and a place"));
                }
                studio.capabilities.flesh.stage.hold(gesture, held);
                return Ok(());
            }
            Self::Fit(fit) => return fit.leave(studio, gesture),
            Self::Turn { joint, from, axis, degrees } => {
                let Some(rotation) = turned(&document, &joint, from, axis, degrees) else {
                    return fail(format!("there is no joint {joint:?} to turn so"));
                };
                FleshChange::Turn { joint, rotation }
            }
            Self::Joint { joint } => FleshChange::Joint { joint },
        };
        studio.session().apply(&Command::Flesh(change), Some(gesture.of_drag())).map(|_| ())
    }
}

/// How a joint is turned after a turn about an axis of the world.
fn turned(
    document: &Document,
    joint: &str,
    from: [f64; 4],
    axis: [f64; 3],
    degrees: f64,
) -> Option<[f64; 4]> {
    let rig = document.body.rig.as_ref()?;
    let at = rig.find(joint)?;
    let mut world = Vec::new();
    rig.forward(&turned_pose(document)?, &mut world).ok()?;
    let (from, axis) = (DQuat::from_array(from), DVec3::from_array(axis).try_normalize()?);
    if !degrees.is_finite() || !from.is_finite() || from.length_squared() < 1e-12 {
        return None;
    }
    let of_parent = rig.joints()[at]
        .parent
        .map_or(DQuat::IDENTITY, |parent| world[parent].to_scale_rotation_translation().1);
    let rest = rig.joints()[at].rest.rotation;
    let spin = DQuat::from_axis_angle(of_parent.inverse() * axis, degrees.to_radians());
    Some((rest.inverse() * spin * rest * from.normalize()).normalize().to_array())
}

/// Simulate flesh at the rate of the display, on what is shown: clips of the skeleton play with it, all else keeps the pose of its
/// joints.
#[derive(Debug, Deserialize, TS)]
struct SetLive {
    on: bool,
}

impl Request for SetLive {
    const NAME: &'static str = "flesh_live";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let (studio, stage) = (context.studio, &context.studio.capabilities.flesh.stage);
        match self.on {
            true => stage.change(|wanted| (wanted.on, wanted.paused, wanted.fault) = (true, false, None)),
            false => stage.end(),
        }
        studio.raise::<LivePart>();
        studio.ring();
        Ok(Done {})
    }
}

/// Pause the simulation, or continue it.
#[derive(Debug, Deserialize, TS)]
struct Pause {
    on: bool,
}

impl Request for Pause {
    const NAME: &'static str = "flesh_pause";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.capabilities.flesh.stage.change(|wanted| wanted.paused = self.on);
        context.studio.raise::<LivePart>();
        Ok(Done {})
    }
}

/// Start the simulation again, at rest.
#[derive(Debug, Deserialize, TS)]
struct Reset {}

impl Request for Reset {
    const NAME: &'static str = "flesh_reset";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.capabilities.flesh.stage.change(|wanted| wanted.reset = true);
        Ok(Done {})
    }
}

/// Push the surface at a vertex, for a moment.
#[derive(Debug, Deserialize, TS)]
struct Push {
    vertex: usize,
    direction: Point3,
}

impl Request for Push {
    const NAME: &'static str = "flesh_push";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let (stage, vertex) = (&context.studio.capabilities.flesh.stage, self.vertex);
        ensure!(stage.is_on(), "no flesh is simulated; press “Flesh” first");
        let n = context.studio.document().mesh().n_vertices();
        ensure!(vertex < n, "there is no vertex {vertex}, there are {n}");
        let direction = DVec3::from_array(self.direction);
        ensure!(direction.is_finite(), "a direction has three finite numbers");
        stage.change(|wanted| wanted.push = Some((vertex, direction)));
        Ok(Done {})
    }
}

/// Send the cells with each frame.
#[derive(Debug, Deserialize, TS)]
struct ShowCells {
    on: bool,
}

impl Request for ShowCells {
    const NAME: &'static str = "flesh_cells";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.change_looks(|looks| looks.cells = self.on);
        Ok(Done {})
    }
}

/// Put a joint half-way between the first two places where a ray meets the surface at rest; null beside the surface.
#[derive(Debug, Deserialize, TS)]
struct PutJoint {
    view: ViewMatrix,
    at: Point2,
    /// The joint it hangs on.
    parent: Option<String>,
}

/// A joint that was put.
#[derive(Debug, Serialize, TS)]
struct NewJoint {
    name: String,
    position: Point3,
}

impl Request for PutJoint {
    const NAME: &'static str = "put_joint";
    type Reply = Option<NewJoint>;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Option<NewJoint>> {
        let document = context.studio.document();
        let mesh = document.mesh();
        let ray = painter::view(&self.view).ray(mesh, DVec2::from_array(self.at));
        let ray = ray.context("the view is not valid")?;
        let place = place_joint(&SurfaceTree::new(mesh), ray.origin, ray.direction, mesh.diagonal());
        let Some(place) = place else { return Ok(None) };
        let is_taken = |name: &str| document.flesh.joints.iter().any(|joint| joint.name == name);
        let name = (1..).map(|k| format!("joint.{k}")).find(|name| !is_taken(name)).unwrap_or_default();
        let position = place.to_array();
        let joint = JointData { name: name.clone(), parent: self.parent, position };
        context.studio.apply_on(&document.body, &Command::Flesh(FleshChange::Joint { joint }), None)?;
        Ok(Some(NewJoint { name, position }))
    }
}

/// Bake a clip with flesh as a job that can be cancelled, and store it as a clip.
///
/// # Errors
/// As [`sinew::session::bake_flesh`].
pub fn bake(studio: &Studio, bake: &FleshBake) -> anyhow::Result<FleshReport> {
    studio.job(JobKind::BakeFlesh, &format!("Baking {}", bake.to), |job| {
        let before = studio.document();
        let (opened, mut stack) = studio.stack();
        let (after, report) = bake_flesh(&before, bake, &mut stack, &|share| job.update(share))?;
        studio.store_stack(opened, stack);
        let command = Command::BakeFlesh { bake: bake.clone() };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(report)
    })
}
