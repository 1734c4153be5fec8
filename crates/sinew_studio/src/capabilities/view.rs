//! What is shown, and how; what is under the pointer.

use super::Capability;
use crate::{
    painter,
    studio::Studio,
    wire::{Context, Done, Part, Point2, Point3, Registry, Request, Snapshot, ViewMatrix},
};
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use sinew::session;
use ts_rs::TS;

/// What is shown.
#[derive(Debug, Default)]
pub struct ViewCapability;

impl Capability for ViewCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<Display>()
            .request::<Stress>()
            .request::<Refine>()
            .request::<Pick>()
            .part::<LooksPart>();
    }

    fn looks_changed(&self, studio: &Studio) {
        studio.raise::<LooksPart>();
    }
}

/// Which shape is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "Shown")]
enum What {
    /// The shape as it was made.
    Rest,
    /// The pose of the handles.
    Posed,
    /// A moment of a clip.
    Clip,
    /// The pose at which the rules hold.
    Ruled,
    /// The pose of the turned joints.
    Jointed,
}

/// Choose what is shown; the newest wins.
#[derive(Debug, Deserialize, TS)]
struct Display {
    what: What,
    /// Of `clip`: its name.
    #[ts(optional)]
    clip: Option<String>,
    /// Of `clip`: seconds.
    #[ts(optional)]
    time: Option<f32>,
}

impl Request for Display {
    const NAME: &'static str = "display";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let display = match self.what {
            What::Rest => session::Display::Rest,
            What::Posed => session::Display::Posed,
            What::Ruled => session::Display::Ruled,
            What::Jointed => session::Display::Jointed,
            What::Clip => {
                let clip = self.clip.context("which clip?")?;
                context.studio.session().document().find_clip(&clip)?;
                let time = self.time.filter(|time| time.is_finite()).unwrap_or(0.0);
                session::Display::Clip { clip, time }
            }
        };
        context.studio.change_looks(|looks| looks.display = display);
        Ok(Done {})
    }
}

/// Send stretch per vertex with each frame.
#[derive(Debug, Deserialize, TS)]
struct Stress {
    on: bool,
}

impl Request for Stress {
    const NAME: &'static str = "stress";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.change_looks(|looks| looks.stress = self.on);
        Ok(Done {})
    }
}

/// Refine the pose with fine iterations while idle.
#[derive(Debug, Deserialize, TS)]
struct Refine {
    on: bool,
}

impl Request for Refine {
    const NAME: &'static str = "refine";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        context.studio.change_looks(|looks| looks.refine = self.on);
        Ok(Done {})
    }
}

/// What is under a point of the screen, on the surface as displayed; null beside it.
#[derive(Debug, Deserialize, TS)]
struct Pick {
    view: ViewMatrix,
    at: Point2,
}

/// A place on the surface.
#[derive(Debug, Serialize, TS)]
struct Picked {
    /// The handle it belongs to.
    handle: Option<String>,
    vertex: u32,
    face: u32,
    position: Point3,
    distance: f64,
}

impl Request for Pick {
    const NAME: &'static str = "pick";
    type Reply = Option<Picked>;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Option<Picked>> {
        let (studio, at) = (context.studio, self.at);
        let mesh = studio.shown()?.mesh();
        let hit = studio.painter.ask(mesh.clone(), move |selector| painter::pick(selector, &self.view, at));
        let Some(hit) = hit.flatten() else { return Ok(None) };
        let corners = mesh.faces()[hit.face as usize];
        let points = mesh.corners(hit.face as usize);
        let position = points.iter().zip(hit.barycentric).map(|(p, w)| *p * w).sum::<glam::DVec3>();
        // The corner it is nearest to says whose it is.
        let vertex = corners[painter::nearest_corner(&hit)];
        // The newest handles, which the shape need not have been made with.
        let document = studio.document();
        let owner = document.handles.iter().find(|handle| handle.vertices.binary_search(&vertex).is_ok());
        let handle = owner.map(|handle| handle.name.clone());
        Ok(Some(Picked { handle, vertex, face: hit.face, position: position.to_array(), distance: hit.t }))
    }
}

/// What is shown, and what is sent with each frame.
#[derive(Debug)]
pub struct LooksPart;

#[derive(Debug, Serialize, TS)]
pub struct LooksState {
    display: DisplayState,
    /// Whether stretch is sent with each frame.
    stress: bool,
    /// Whether poses are refined while idle.
    refine: bool,
    /// Whether the fit is sent with each frame.
    compare: bool,
    /// Whether the cells of flesh are sent with each frame.
    cells: bool,
}

/// Which shape is shown.
#[derive(Debug, Serialize, TS)]
struct DisplayState {
    what: What,
    clip: Option<String>,
    time: f32,
}

impl Part for LooksPart {
    type Value = LooksState;
    type Sent = ();

    fn value(snapshot: &Snapshot<'_>, (): &mut ()) -> Option<LooksState> {
        let looks = snapshot.studio.looks();
        let plain = |what| DisplayState { what, clip: None, time: 0.0 };
        let display = match looks.display {
            session::Display::Rest => plain(What::Rest),
            session::Display::Posed => plain(What::Posed),
            session::Display::Ruled => plain(What::Ruled),
            session::Display::Jointed => plain(What::Jointed),
            session::Display::Clip { clip, time } => {
                DisplayState { what: What::Clip, clip: Some(clip), time }
            }
        };
        let (stress, refine) = (looks.stress, looks.refine);
        Some(LooksState { display, stress, refine, compare: looks.compare, cells: looks.cells })
    }
}
