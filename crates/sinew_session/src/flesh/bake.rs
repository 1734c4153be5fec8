//! The flesh step of the motion stack: a clip with flesh on its bones, as vertices over time.
//!
//! # Source
//! The method is that of `sinew_flesh`; this file defines its inputs, what is stored, and when it is run again.

use super::simulate::{FleshRunner, flesh_timing, simulate_flesh};
use crate::{Document, FleshData, MotionStack, SessionError, motion, turned_pose, with_skeleton};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_flesh::{FleshError, Simulation, StepReport};
use sinew_geom::{Character, Clip, Pose, Warnings};
use std::{ops::ControlFlow, sync::Arc, time::Instant};

/// Share of the whole that filling with cells takes.
const FILL_SHARE: f64 = 0.1;

/// What is baked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct FleshBake {
    /// The clip the bones follow; if absent, they stand as they are turned.
    pub clip: Option<String>,
    /// Name of the result; a clip of that name that was baked before is exchanged.
    pub to: String,
    /// Frames per second; those of the clip if absent.
    pub fps: Option<f64>,
    /// Seconds; those of the clip if absent.
    pub seconds: Option<f64>,
}

/// How a bake went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(rename = "FleshBaked"))]
#[allow(missing_docs)]
pub struct FleshReport {
    pub frames: usize,
    pub fps: f64,
    pub cells: usize,
    pub dof: usize,
    pub steps: usize,
    /// Steps that were not solved to the tolerance.
    pub unsolved: usize,
    pub residual_max: f64,
    /// Times that bones jumped and flesh was carried along.
    pub jumps: usize,
    pub uncovered: usize,
    pub seconds: f64,
    pub warnings: Vec<String>,
}

/// What a bake depends on; parts are compared by identity, as everywhere in the stack.
#[derive(Debug, Clone)]
pub(crate) struct FleshKey {
    body: Arc<Character>,
    clip: Option<Arc<Clip>>,
    flesh: Arc<FleshData>,
    fps: f64,
    n_frames: usize,
}

impl PartialEq for FleshKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.body, &other.body)
            && self.clip.as_ref().map(Arc::as_ptr) == other.clip.as_ref().map(Arc::as_ptr)
            && Arc::ptr_eq(&self.flesh, &other.flesh)
            && (self.fps, self.n_frames) == (other.fps, other.n_frames)
    }
}

/// Frames of a bake.
#[derive(Debug)]
pub(crate) struct Fleshed {
    frames: Vec<Vec<Vec3>>,
    report: FleshReport,
}

/// The document with a clip baked. `progress` is given the share done and may stop it. A character without a skeleton is
/// given one that moves as its surface does in the clip; the report says so.
///
/// # Errors
/// If there is no such clip, the surface has no inside, a setting is invalid, there would be too many frames, or it
/// was stopped.
pub fn bake_flesh(
    document: &Document,
    bake: &FleshBake,
    stack: &mut MotionStack,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<(Document, FleshReport), SessionError> {
    let needs_bones = bake.clip.is_some() && document.body.skin.is_none();
    let rigged = if needs_bones { Some(with_skeleton(document, None)?) } else { None };
    let document = rigged.as_ref().map_or(document, |(rigged, _)| rigged);
    let mut after = document.clone();
    motion::make_room(&mut after, &bake.to)?;
    let (fps, fleshed) = stack.flesh(document, bake, progress)?;
    motion::add_vertex_clip(&mut after, &bake.to, fps, fleshed.frames.clone())?;
    let mut report = fleshed.report.clone();
    report.warnings.extend(rigged.map(|(_, skeleton)| skeleton.text));
    Ok((after, report))
}

impl MotionStack {
    /// Vertices of a clip with flesh; what was baked before is given again.
    fn flesh(
        &mut self,
        document: &Document,
        bake: &FleshBake,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<(f64, Arc<Fleshed>), SessionError> {
        let key = key_of(document, bake)?;
        if let Some((_, fleshed)) = self.fleshed.as_ref().filter(|(known, _)| *known == key) {
            return Ok((key.fps, fleshed.clone()));
        }
        self.runs[3] += 1;
        let fleshed = Arc::new(run(document, &key, progress)?);
        let fps = key.fps;
        self.fleshed = Some((key, fleshed.clone()));
        Ok((fps, fleshed))
    }
}

fn key_of(document: &Document, bake: &FleshBake) -> Result<FleshKey, SessionError> {
    let clip = match &bake.clip {
        Some(name) => Some(document.clips[document.find_clip(name)?].clone()),
        None => None,
    };
    if clip.as_ref().is_some_and(|clip| clip.joints.is_empty()) {
        let cause =
            "it moves no bones, so there is nothing for flesh to follow; choose a clip of the skeleton";
        return Err(SessionError::Value { what: "clip", cause: cause.into() });
    }
    let given = (bake.fps, bake.seconds);
    let (fps, n_frames) = flesh_timing(clip.as_deref(), given, document.mesh().n_vertices())?;
    motion::check_frames(document, n_frames, fps)?;
    let (body, flesh) = (document.body.clone(), document.flesh.clone());
    Ok(FleshKey { body, clip, flesh, fps, n_frames })
}

fn run(
    document: &Document,
    key: &FleshKey,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Fleshed, SessionError> {
    let start = Instant::now();
    let params = key.flesh.params(document)?;
    let go_on = |share: f64| if progress(share).is_break() { Err(SessionError::Cancelled) } else { Ok(()) };
    go_on(0.0)?;
    let mut warnings = Warnings::default();
    let mut simulation = Simulation::new(&key.body, &params.simulation, &mut warnings)?;
    let clips: Vec<&Clip> = key.clip.as_deref().into_iter().collect();
    simulation.limit_stiffness(&clips, &params.simulation, &mut warnings)?;
    go_on(FILL_SHARE)?;
    let clip = key.clip.as_ref().map(|clip| clip.name.as_str());
    simulation.set_muscles(key.flesh.muscles.drive(&simulation.body().lattice, clip)?);
    let n_steps = (1.0 / (key.fps * params.max_step) - 1e-6).ceil().max(1.0) as usize;
    let mut runner = Runner { simulation, key, standing: turned_pose(document), n_steps, n_frames: 0 };
    runner.begin(params.settle, params.max_step)?;
    let mut report = |share: f64| progress(FILL_SHARE + (1.0 - FILL_SHARE) * share);
    let (frames, steps, quality) =
        simulate_flesh((&mut runner, &key.body.mesh), (key.fps, key.n_frames), &mut report)?;
    if frames.len() < key.n_frames {
        return Err(SessionError::Cancelled);
    }
    steps.warn(&mut warnings);
    let simulation = &runner.simulation;
    quality.warn(|vertex| simulation.part_of(vertex), &mut warnings);
    let lattice = &simulation.body().lattice;
    let report = FleshReport {
        frames: key.n_frames,
        fps: key.fps,
        cells: lattice.n_cells(),
        dof: 3 * (lattice.n_nodes() - simulation.n_held()),
        steps: steps.millis.len(),
        unsolved: steps.n_unsolved,
        residual_max: steps.residual,
        jumps: simulation.n_jumps(),
        uncovered: simulation.body().uncovered.len(),
        seconds: start.elapsed().as_secs_f64(),
        warnings: warnings.messages,
    };
    Ok(Fleshed { frames, report })
}

/// A simulation that follows a clip, or keeps the pose of its joints.
struct Runner<'a> {
    simulation: Simulation,
    key: &'a FleshKey,
    standing: Option<Pose>,
    /// Steps per frame.
    n_steps: usize,
    /// Frames done.
    n_frames: usize,
}

impl Runner<'_> {
    fn pose_at(&self, time: f64) -> Option<Pose> {
        match (&self.key.clip, &self.key.body.rig) {
            (Some(clip), Some(rig)) => Some(clip.sample(rig, time as f32)),
            _ => self.standing.clone(),
        }
    }

    /// Stand in the first pose; then move as the clip does before its beginning, all around if it is a loop.
    fn begin(&mut self, settle: bool, max_step: f64) -> Result<(), FleshError> {
        let first = self.pose_at(0.0);
        self.simulation.begin(first.as_ref(), settle)?;
        if let (Some(clip), Some(rig)) = (&self.key.clip, &self.key.body.rig) {
            let period = self.simulation.is_loop(clip)?.then(|| f64::from(clip.duration_secs()));
            self.simulation.warm_up(period, max_step, |time| Some(clip.sample(rig, time as f32)))?;
        }
        Ok(())
    }
}

impl FleshRunner for Runner<'_> {
    /// One frame further; the first is where it begins.
    fn advance(&mut self, _: f64, each: &mut dyn FnMut(&StepReport)) -> Result<(), FleshError> {
        let secs = 1.0 / (self.key.fps * self.n_steps as f64);
        let n_steps = if self.n_frames == 0 { 0 } else { self.n_steps };
        for step in 1..=n_steps {
            let time = (self.n_frames - 1) as f64 / self.key.fps + secs * step as f64;
            each(&self.simulation.step(self.pose_at(time).as_ref(), secs)?);
        }
        self.n_frames += 1;
        Ok(())
    }

    fn simulation(&self) -> &Simulation {
        &self.simulation
    }
}
