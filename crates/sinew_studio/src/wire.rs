//! What the page says. `PROTOCOL.md` is the reference.

use crate::puppet::Target;
use serde::Deserialize;
use serde_json::Value;
use sinew::session::{Command, ExportParams, FitSettings, PaintOp};

/// A message from the page.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Request {
    Ack {
        frame: u32,
    },
    Do {
        command: Command,
        /// Commands of one gesture, such as the drag of a slider, are one step.
        #[serde(default)]
        stroke: Option<u32>,
    },
    Undo,
    Redo,
    Jump {
        step: usize,
    },
    Drag {
        drag: u32,
        r#move: Value,
        #[serde(default)]
        end: bool,
    },
    CancelDrag {
        drag: u32,
    },
    Paint(Paint),
    ReachEnd {
        accept: bool,
    },
    Sculpt(Sculpt),
    PickGround {
        view: [f64; 16],
        at: [f64; 2],
    },
    MirrorHandle {
        handle: String,
    },
    AutoHandles {
        count: Option<usize>,
        #[serde(default)]
        from_shape: bool,
    },
    DefaultCenter {
        handle: String,
    },
    Pick {
        view: [f64; 16],
        at: [f64; 2],
    },
    Display {
        what: What,
        clip: Option<String>,
        time: Option<f32>,
    },
    Stress {
        on: bool,
    },
    Refine {
        on: bool,
    },
    Fit {
        #[serde(default)]
        settings: FitSettings,
    },
    TakeFit,
    FormatRules {
        text: String,
    },
    Contacts {
        clip: String,
    },
    Compare {
        on: bool,
    },
    Actor {
        path: String,
    },
    ActorUpload {
        drop: String,
        name: String,
    },
    PuppetDemo {
        name: String,
    },
    ActEnd,
    Pairing {
        on: bool,
    },
    Pair {
        name: String,
        target: Target,
    },
    Calibrate {
        on: bool,
    },
    TakeBegin,
    TakeEnd {
        clip: Option<String>,
    },
    PerformAll {
        clip: String,
    },
    FleshLive {
        on: bool,
    },
    FleshPause {
        on: bool,
    },
    FleshReset,
    FleshPush {
        vertex: usize,
        direction: [f64; 3],
    },
    FleshCells {
        on: bool,
    },
    PaintStiffness(PaintStiffness),
    RigPlace(RigPlaceRequest),
    PutJoint {
        view: [f64; 16],
        at: [f64; 2],
        #[serde(default)]
        parent: Option<String>,
    },
    Sample {
        name: String,
        vertices: usize,
    },
    List {
        folder: Option<String>,
    },
    Open {
        path: String,
    },
    OpenUpload {
        drop: String,
        name: String,
    },
    Save {
        path: Option<String>,
        #[serde(default)]
        overwrite: bool,
    },
    Export(ExportParams),
    Recover {
        recovery: String,
    },
    Discard {
        recovery: String,
    },
    Cancel {
        job: u64,
    },
}

/// Vertices of a handle to be, by where they appear.
#[derive(Debug, Deserialize)]
pub struct Paint {
    pub handle: String,
    pub op: PaintOp,
    pub region: Region,
    #[serde(default = "one")]
    pub weight: f32,
    #[serde(default)]
    pub stroke: Option<u32>,
}

/// Touches of a sculpting brush, by where they appear.
#[derive(Debug, Deserialize)]
pub struct Sculpt {
    pub example: Option<String>,
    pub op: Touch,
    pub view: [f64; 16],
    pub at: Vec<[f64; 2]>,
    pub radius: f64,
    pub strength: f64,
    #[serde(default)]
    pub stroke: Option<u32>,
}

/// Touches of a brush that makes flesh stiffer or softer, by where they appear.
#[derive(Debug, Deserialize)]
pub struct PaintStiffness {
    pub factor: f64,
    pub strength: f64,
    pub view: [f64; 16],
    pub at: Vec<[f64; 2]>,
    pub radius: f64,
    #[serde(default)]
    pub stroke: Option<u32>,
}

/// A template, by where it appears.
#[derive(Debug, Deserialize)]
pub struct RigPlaceRequest {
    pub template: String,
    pub guide: String,
    pub view: [f64; 16],
    pub at: [f64; 2],
}

/// What a sculpting brush does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    Push,
    Pull,
    Smooth,
}

fn one() -> f32 {
    1.0
}

/// A part of the surface. Views are `clip_from_model`, by columns; places on the screen are −1..1, y up.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    Box { view: [f64; 16], from: [f64; 2], to: [f64; 2], mode: Mode },
    Lasso { view: [f64; 16], points: Vec<[f64; 2]>, mode: Mode },
    Brush { view: [f64; 16], at: Vec<[f64; 2]>, radius: f64 },
    Vertices(Vec<u32>),
    Grow(usize),
    Shrink(usize),
}

/// What of a box or lasso is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Everything in it, seen or not.
    All,
    /// What is connected to its middle and faces the viewer.
    Facing,
    /// What is connected to its middle, with its far side.
    Around,
}

/// Which shape is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Rest,
    Posed,
    Clip,
    Ruled,
    Jointed,
}
