//! The flesh step of the motion stack: a clip with flesh on its bones, as vertices over time.
//!
//! # Source
//! The method is that of `sinew_flesh`; this file defines its inputs, what is stored, and when it is run again.

use crate::{Document, FleshData, MotionStack, SessionError, motion, turned_pose};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use sinew_flesh::{FleshError, FleshQuality, Simulation};
use sinew_geom::{Character, Clip, Pose, Warnings};
use std::{ops::ControlFlow, sync::Arc, time::Instant};

/// Seconds without a clip to say how long.
const DEFAULT_SECS: f64 = 2.0;
/// Share of the whole that filling with cells takes.
const FILL_SHARE: f64 = 0.1;

/// What is baked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FleshBake {
    /// The clip the bones follow; if absent, they stand as they are turned.
    pub clip: Option<String>,
    /// Name of the result; a clip of that name that was baked before is exchanged.
    pub to: String,
    /// Frames a second; those of the clip if absent.
    pub fps: Option<f64>,
    /// Seconds; those of the clip if absent.
    pub seconds: Option<f64>,
}

/// How a bake went.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
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

/// What a bake stands on; parts are compared by identity, as everywhere in the stack.
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

/// The document with a clip baked. `progress` hears the share done and may stop it.
///
/// # Errors
/// If there is no such clip, the surface has no inside, a setting makes no sense, there would be too many frames, or it
/// was stopped.
pub fn bake_flesh(
    document: &Document,
    bake: &FleshBake,
    stack: &mut MotionStack,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<(Document, FleshReport), SessionError> {
    let mut after = document.clone();
    motion::make_room(&mut after, &bake.to)?;
    let (fps, fleshed) = stack.flesh(document, bake, progress)?;
    motion::add_vertex_clip(&mut after, &bake.to, fps, fleshed.frames.clone())?;
    Ok((after, fleshed.report.clone()))
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
    let fps = bake.fps.unwrap_or_else(|| clip.as_ref().map_or(30.0, |clip| clip.joint_rate()));
    crate::command::within("frames a second", fps, [1.0, 1000.0])?;
    let own = clip.as_ref().map_or(DEFAULT_SECS, |clip| clip.duration_secs().into());
    let seconds = crate::command::within("seconds", bake.seconds.unwrap_or(own), [0.0, 3600.0])?;
    let n_frames = (seconds * fps).round() as usize + 1;
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
    let standing = turned_pose(document);
    let pose_at = |time: f64| -> Option<Pose> {
        match (&key.clip, &key.body.rig) {
            (Some(clip), Some(rig)) => Some(clip.sample(rig, time as f32)),
            _ => standing.clone(),
        }
    };
    let clip = key.clip.as_ref().map(|clip| clip.name.as_str());
    simulation.set_rigs(key.flesh.muscles.drive(&simulation.body().lattice, clip)?);
    simulation.begin(pose_at(0.0).as_ref(), params.settle)?;
    if let Some(clip) = key.clip.as_deref() {
        let period = simulation.is_loop(clip)?.then(|| f64::from(clip.duration_secs()));
        simulation.warm_up(period, params.max_step, pose_at)?;
    }
    let mut quality = FleshQuality::new(&key.body.mesh);
    let lattice = &simulation.body().lattice;
    let mut report = FleshReport {
        frames: key.n_frames,
        fps: key.fps,
        cells: lattice.n_cells(),
        dof: 3 * (lattice.n_nodes() - simulation.n_held()),
        uncovered: simulation.body().uncovered.len(),
        ..FleshReport::default()
    };
    let n_steps = (1.0 / (key.fps * params.max_step) - 1e-6).ceil().max(1.0) as usize;
    let secs = 1.0 / (key.fps * n_steps as f64);
    let mut frames = Vec::with_capacity(key.n_frames);
    for frame in 0..key.n_frames {
        for step in 1..=n_steps.min(n_steps * frame) {
            let time = (frame - 1) as f64 / key.fps + secs * step as f64;
            note(&mut report, simulation.step(pose_at(time).as_ref(), secs))?;
        }
        let mut positions = Vec::new();
        simulation.positions(&mut positions)?;
        quality.observe(&simulation, &positions, frame as f64 / key.fps)?;
        frames.push(positions);
        go_on(FILL_SHARE + (1.0 - FILL_SHARE) * (frame + 1) as f64 / key.n_frames as f64)?;
    }
    report.jumps = simulation.n_jumps();
    report.seconds = start.elapsed().as_secs_f64();
    if report.unsolved > 0 {
        let FleshReport { unsolved, steps, residual_max, .. } = &report;
        warnings.push(format!(
            "{unsolved} of {steps} steps were not solved to the tolerance (worst residual {residual_max:.1e}); choose \
             shorter steps or softer flesh"
        ));
    }
    quality.warn(|vertex| simulation.part_of(vertex), &mut warnings);
    report.warnings = warnings.messages;
    Ok(Fleshed { frames, report })
}

fn note(
    report: &mut FleshReport,
    step: Result<sinew_flesh::StepReport, FleshError>,
) -> Result<(), SessionError> {
    let step = step?;
    report.steps += 1;
    report.unsolved += usize::from(!step.converged);
    report.residual_max = report.residual_max.max(step.residual);
    Ok(())
}
