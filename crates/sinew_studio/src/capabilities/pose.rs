//! Moves of handles, and how the soft surface follows.

use super::Capability;
use crate::{
    engine::Engine,
    studio::Studio,
    wire::{Choices, Gesture, GestureId, Part, Point3, Registry, Snapshot},
};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew::{
    deform::{Frames, Method},
    geom::{Move, operators::LaplacianKind},
    session::{EditChange, Event, SessionError},
};
use std::sync::Arc;
use ts_rs::TS;

/// A hundred turns, as in moves.json.
const MAX_DEGREES: f64 = 36_000.0;

/// Moves of handles.
#[derive(Debug, Default)]
pub struct PoseCapability;

impl Capability for PoseCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .gesture::<Rotate>()
            .gesture::<Translate>()
            .gesture::<Twist>()
            .part::<PosePart>()
            .part::<EditPart>()
            .choices::<Methods>();
    }
}

/// Turn a handle and those that follow it about its centre. Without `handles`: it and its stored secondary ones.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Rotate {
    main: String,
    #[serde(default)]
    handles: Vec<String>,
    axis: Point3,
    degrees: f64,
}

/// Shift handles.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Translate {
    handles: Vec<String>,
    vector: Point3,
}

/// Twist handles about an axis, spread over others.
#[derive(Debug, Clone, Serialize, Deserialize, TS)]
#[serde(deny_unknown_fields)]
pub struct Twist {
    handles: Vec<String>,
    axis: Point3,
    degrees: f64,
    #[serde(default)]
    over: Vec<String>,
}

/// A move of handles, as in moves.json.
#[derive(Debug, Clone, Serialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "Move")]
enum MoveState {
    Rotate(Rotate),
    Translate(Translate),
    Twist(Twist),
}

impl From<&Move> for MoveState {
    fn from(step: &Move) -> Self {
        match step.clone() {
            Move::Rotate { main, handles, axis, radians } => {
                Self::Rotate(Rotate { main, handles, axis: axis.to_array(), degrees: radians.to_degrees() })
            }
            Move::Translate { handles, vector } => {
                Self::Translate(Translate { handles, vector: vector.to_array() })
            }
            Move::Twist { handles, axis, radians, over } => {
                Self::Twist(Twist { handles, axis: axis.to_array(), degrees: radians.to_degrees(), over })
            }
        }
    }
}

impl Gesture for Rotate {
    const NAME: &'static str = "rotate";

    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        let Self { main, handles, axis, degrees } = self;
        let (axis, radians) = (direction(axis)?, radians(degrees)?);
        apply(engine, gesture, Move::Rotate { main, handles, axis, radians })
    }
}

impl Gesture for Translate {
    const NAME: &'static str = "translate";

    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        let (handles, vector) = (named(self.handles)?, vector(self.vector)?);
        apply(engine, gesture, Move::Translate { handles, vector })
    }
}

impl Gesture for Twist {
    const NAME: &'static str = "twist";

    fn apply(self, engine: &mut Engine<'_>, gesture: GestureId) -> Result<(), SessionError> {
        let Self { handles, axis, degrees, over } = self;
        let (handles, axis, radians) = (named(handles)?, direction(axis)?, radians(degrees)?);
        apply(engine, gesture, Move::Twist { handles, axis, radians, over })
    }
}

fn wrong<T>(cause: String) -> Result<T, SessionError> {
    Err(SessionError::Value { what: "move", cause })
}

/// A vector that stays finite in single precision.
fn vector(numbers: Point3) -> Result<DVec3, SessionError> {
    match numbers.iter().all(|x| (*x as f32).is_finite()) {
        true => Ok(DVec3::from_array(numbers)),
        false => wrong(format!("{numbers:?} are not three numbers of reasonable size")),
    }
}

fn direction(axis: Point3) -> Result<DVec3, SessionError> {
    let axis = vector(axis)?;
    if axis.try_normalize().is_none() { wrong("the axis has no direction".into()) } else { Ok(axis) }
}

fn radians(degrees: f64) -> Result<f64, SessionError> {
    match degrees.abs() <= MAX_DEGREES {
        true => Ok(degrees.to_radians()),
        false => wrong(format!("{degrees} degrees are not within ±{MAX_DEGREES}")),
    }
}

fn named(handles: Vec<String>) -> Result<Vec<String>, SessionError> {
    if handles.is_empty() { wrong("no handle is named, so nothing would move".into()) } else { Ok(handles) }
}

/// Make a move as it is seen a move of the pose at rest, in place of the gesture's last.
fn apply(engine: &mut Engine<'_>, gesture: GestureId, step: Move) -> Result<(), SessionError> {
    let studio = engine.studio;
    let (document, before) = {
        let session = studio.session();
        (session.document().clone(), session.moves_before(gesture.of_drag()))
    };
    let step = engine.prepare(&document)?.at_rest(&before, step)?;
    let mut session = studio.session();
    // Another document may have been opened while this one was prepared.
    match Arc::ptr_eq(&session.document().body, &document.body) {
        true => session.drag(gesture.of_drag(), step),
        false => Err(SessionError::Cancelled),
    }
}

/// Moves of the pose. They grow with the work, so that only their end is sent: the page keeps the first `keep` of those it
/// has, and the given ones follow.
#[derive(Debug)]
pub struct PosePart;

#[derive(Debug, Serialize, TS)]
pub struct PoseState {
    n_moves: usize,
    moves: MovesTail,
    /// Whether the pose has a detail layer.
    detail: bool,
}

/// The end of the moves.
#[derive(Debug, Serialize, TS)]
struct MovesTail {
    /// How many of the known moves stay.
    keep: usize,
    /// What follows them.
    moves: Vec<MoveState>,
}

impl Part for PosePart {
    type Value = PoseState;
    type Sent = Arc<Vec<Move>>;

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.pose)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, sent: &mut Arc<Vec<Move>>) -> Option<PoseState> {
        let keep = document.pose.iter().zip(sent.iter()).take_while(|(a, b)| a == b).count();
        *sent = document.pose.clone();
        let moves = document.pose[keep..].iter().map(MoveState::from).collect();
        let (n_moves, detail) = (document.pose.len(), document.detail.is_some());
        Some(PoseState { n_moves, moves: MovesTail { keep, moves }, detail })
    }
}

/// How the soft surface follows.
#[derive(Debug)]
pub struct EditPart;

#[derive(Debug, Serialize, TS)]
pub struct EditState {
    #[ts(type = "Edit")]
    edit: EditChange,
}

impl Part for EditPart {
    type Value = EditState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.edit)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<EditState> {
        Some(EditState { edit: EditChange::of_all(&document.edit) })
    }
}

/// Names of methods.
#[derive(Debug)]
pub struct Methods;

#[derive(Debug, Serialize, TS)]
pub struct MethodNames {
    #[ts(type = "string[]")]
    methods: Vec<&'static str>,
    #[ts(type = "string[]")]
    laplacians: Vec<&'static str>,
    #[ts(type = "string[]")]
    frames: Vec<&'static str>,
}

impl Choices for Methods {
    type Value = MethodNames;

    fn value(_: &Studio) -> MethodNames {
        MethodNames {
            methods: Method::ALL.map(Method::name).to_vec(),
            laplacians: LaplacianKind::ALL.map(LaplacianKind::name).to_vec(),
            frames: Frames::ALL.map(Frames::name).to_vec(),
        }
    }
}
