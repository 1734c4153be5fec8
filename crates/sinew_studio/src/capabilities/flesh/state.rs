//! What pages see of flesh.

use crate::wire::{Part, Snapshot};
use glam::DVec3;
use serde::Serialize;
use sinew::{
    flesh::Mode,
    session::{Document, Event, FleshJoint, FleshSettings, FleshStatus, JointData, posed_joints},
};
use ts_rs::TS;

/// Vertices in no cell that pages are sent.
const MAX_UNCOVERED: usize = 200;

/// Flesh of the document: what it is made of, paint, joints.
#[derive(Debug)]
pub struct FleshPart;

#[derive(Debug, Serialize, TS)]
pub struct FleshState {
    flesh: FleshInfo,
}

/// Flesh of the document.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Flesh")]
struct FleshInfo {
    settings: FleshSettings,
    usual_stiffness: f64,
    #[ts(type = "string[]")]
    modes: Vec<&'static str>,
    painted: bool,
    /// Whether the skeleton was there already.
    own_skeleton: bool,
    /// Whether it was made of the joints placed by the user.
    bound: bool,
    /// Whether one of them was moved since.
    moved: bool,
    /// Joints placed by the user.
    sites: Vec<JointData>,
    turned: bool,
    /// Joints in their pose.
    joints: Vec<FleshJoint>,
}

impl Part for FleshPart {
    type Value = FleshState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.flesh || changes.surface)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<FleshState> {
        let data = &document.flesh;
        let flesh = FleshInfo {
            settings: data.settings.clone(),
            usual_stiffness: FleshSettings::usual_stiffness(document.mesh()),
            modes: Mode::ALL.map(Mode::name).to_vec(),
            painted: data.paint.is_some(),
            own_skeleton: document.body.skin.is_some() && !data.bound,
            bound: data.bound,
            moved: is_moved(document),
            sites: data.joints.clone(),
            turned: !data.turns.is_empty(),
            joints: posed_joints(document).unwrap_or_default(),
        };
        Some(FleshState { flesh })
    }
}

/// Whether joints placed by the user are elsewhere than in the skeleton that was made of them.
fn is_moved(document: &Document) -> bool {
    let Some(rig) = document.body.rig.as_ref().filter(|_| document.flesh.bound) else { return false };
    let world = rig.rest_world();
    // A file keeps places in single precision.
    let near = 1e-5 * document.mesh().diagonal();
    let is_off = |joint: &JointData| {
        let at = rig.find(&joint.name).map(|at| world[at].translation);
        at.is_none_or(|at| at.distance(DVec3::from_array(joint.position)) > near)
    };
    document.flesh.joints.iter().any(is_off)
}

/// How the simulation goes; alone in messages some times per second while it runs.
#[derive(Debug)]
pub struct LivePart;

#[derive(Debug, Serialize, TS)]
pub struct LiveState {
    fleshed: Fleshed,
}

/// How the simulation goes.
#[derive(Debug, Serialize, TS)]
struct Fleshed {
    on: bool,
    paused: bool,
    /// Why it stopped by itself.
    fault: Option<String>,
    status: Option<LiveStatus>,
}

/// Numbers of the simulation; of vertices in no cell at most 200, and how many there are.
#[derive(Debug, Serialize, TS)]
struct LiveStatus {
    #[serde(flatten)]
    status: FleshStatus,
    n_uncovered: usize,
}

impl Part for LivePart {
    type Value = LiveState;
    type Sent = ();

    fn value(snapshot: &Snapshot<'_>, (): &mut ()) -> Option<LiveState> {
        let stage = &snapshot.studio.capabilities.flesh.stage;
        let (on, paused, fault) = {
            let wanted = stage.wanted();
            (wanted.on, wanted.paused, wanted.fault.clone())
        };
        let status = stage.status.lock().clone().map(|mut status| {
            let n_uncovered = status.uncovered.len();
            status.uncovered.truncate(MAX_UNCOVERED);
            LiveStatus { status, n_uncovered }
        });
        Some(LiveState { fleshed: Fleshed { on, paused, fault, status } })
    }
}
