//! Flesh that is simulated while the user watches and pulls it.

use crate::{
    Display, Document, FleshData, Frame, SessionError, flesh::pose_in, stage::frame_of_positions, turned_pose,
};
use glam::{DVec3, Vec3};
use serde::Serialize;
use sinew_flesh::{BakeParams, FleshError, Grip, Pacer, Simulation};
use sinew_geom::{Character, Pose, Warnings};
use std::{collections::BTreeSet, sync::Arc, time::Instant};

/// Seconds that a push lasts.
const PUSH_SECS: f64 = 0.08;
/// How strong a push is, in what presses a cell flat.
const PUSH: f64 = 1.5;

/// Flesh that runs with the clock.
#[derive(Debug)]
pub struct LiveFlesh {
    body: Arc<Character>,
    flesh: Arc<FleshData>,
    params: BakeParams,
    simulation: Simulation,
    pacer: Pacer,
    /// The pose the bones were in last.
    pose: Option<Pose>,
    hand: Option<(Grip, usize, DVec3)>,
    push: Option<(Grip, DVec3, f64)>,
    edges: Arc<Vec<[u32; 2]>>,
    unsolved: usize,
    warnings: Vec<String>,
}

/// How it goes, for showing.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FleshStatus {
    /// Cells of the lattice.
    pub cells: usize,
    /// Degrees of freedom.
    pub dof: usize,
    /// Vertices that lie in no cell.
    pub uncovered: Vec<u32>,
    /// Milliseconds per step.
    pub step_ms: f64,
    /// Simulated seconds per second.
    pub speed: f64,
    /// Steps that were not solved to the tolerance.
    pub unsolved: usize,
    /// What was found on the way.
    pub warnings: Vec<String>,
}

impl LiveFlesh {
    /// Fill a document with flesh, at rest in its pose. Of another one of the same surface, `before`, the lattice is kept.
    ///
    /// # Errors
    /// If the surface has no inside, or a setting is invalid.
    pub fn new(document: &Document, before: Option<Self>) -> Result<Self, SessionError> {
        let (body, flesh) = (document.body.clone(), document.flesh.clone());
        let params = flesh.params(document)?;
        let mut warnings = Warnings::default();
        let is_same = |old: &Self| {
            old.body.mesh == body.mesh && old.params.simulation.lattice == params.simulation.lattice
        };
        let mut simulation = match before.filter(is_same) {
            Some(old) => {
                Simulation::in_body(old.simulation.into_body(), &body, &params.simulation, &mut warnings)?
            }
            None => Simulation::new(&body, &params.simulation, &mut warnings)?,
        };
        let clips: Vec<_> = body.clips.iter().filter(|clip| clip.morphs.is_empty()).collect();
        simulation.limit_stiffness(&clips, &params.simulation, &mut warnings)?;
        let pose = turned_pose(document);
        simulation.set_muscles(flesh.muscles.drive(&simulation.body().lattice, None)?);
        simulation.begin(pose.as_ref(), true)?;
        let edges = Arc::new(edges(simulation.body().lattice.cells()));
        let (pacer, warnings) = (Pacer::new(params.max_step), warnings.messages);
        Ok(Self {
            body,
            flesh,
            params,
            simulation,
            pacer,
            pose,
            hand: None,
            push: None,
            edges,
            unsolved: 0,
            warnings,
        })
    }

    /// Whether it is of a document as it is now, but for what can be changed while it runs.
    pub fn serves(&self, document: &Document) -> bool {
        let (own, other) = (&self.body, &document.body);
        let is_same_body = Arc::ptr_eq(own, other)
            || (own.mesh == other.mesh && own.rig == other.rig && own.skin == other.skin);
        let (mine, new) = (&self.flesh.settings, &document.flesh.settings);
        is_same_body && (mine.cells, mine.bone_radius) == (new.cells, new.bone_radius)
    }

    /// Advance by `elapsed` seconds towards what a document shows now, within `budget` seconds of work.
    ///
    /// # Errors
    /// If a setting is invalid, or a number is not finite.
    pub fn advance(
        &mut self,
        document: &Document,
        display: &Display,
        elapsed: f64,
        budget: f64,
    ) -> Result<(), SessionError> {
        self.take_changes(document)?;
        if let Some(muscles) = self.simulation.muscles_mut() {
            for control in &document.flesh.muscles.set.controls {
                let value = document.flesh.muscles.value_in(&control.name, display);
                muscles.set(&control.name, value).map_err(FleshError::from)?;
            }
        }
        let target = pose_in(document, display);
        let (n, secs) = self.pacer.plan(elapsed, budget);
        for step in 1..=n {
            let pose = between(self.pose.as_ref(), target.as_ref(), step as f64 / n as f64);
            self.act(secs);
            let start = Instant::now();
            let report = self.simulation.step(pose.as_ref(), secs)?;
            self.pacer.took(start.elapsed().as_secs_f64());
            self.unsolved += usize::from(!report.converged);
        }
        if n > 0 {
            self.pose = target;
        }
        Ok(())
    }

    /// Stiffness, gravity, paint and obstacles, as they are now.
    fn take_changes(&mut self, document: &Document) -> Result<(), SessionError> {
        self.body = document.body.clone();
        if Arc::ptr_eq(&self.flesh, &document.flesh) {
            return Ok(());
        }
        let params = document.flesh.params(document)?;
        if params != self.params {
            self.simulation.change(&params.simulation)?;
            self.pacer = Pacer::new(params.max_step);
            self.params = params;
        }
        if document.flesh.muscles.set != self.flesh.muscles.set {
            let muscles = document.flesh.muscles.drive(&self.simulation.body().lattice, None)?;
            self.simulation.set_muscles(muscles);
        }
        self.flesh = document.flesh.clone();
        Ok(())
    }

    fn act(&mut self, secs: f64) {
        let hand = self.hand.as_ref().map(|(grip, _, target)| (grip, *target));
        self.simulation.hold(hand);
        let push = self.push.as_ref().map(|(grip, force, _)| (grip, *force));
        self.simulation.push(push);
        if let Some((.., left)) = &mut self.push {
            *left -= secs;
        }
        self.push = self.push.take().filter(|(.., left)| *left > 0.0);
    }

    /// Grab the surface at a vertex and pull it to a place; `None` releases it.
    ///
    /// # Errors
    /// If there is no such vertex.
    pub fn hold(&mut self, hand: Option<(usize, DVec3)>) -> Result<(), SessionError> {
        self.hand = match (hand, self.hand.take()) {
            (None, _) => None,
            (Some((vertex, target)), Some((grip, held, _))) if held == vertex => Some((grip, vertex, target)),
            (Some((vertex, target)), _) => Some((self.simulation.grip(vertex)?, vertex, target)),
        };
        Ok(())
    }

    /// Push the surface at a vertex along a direction, for a moment.
    ///
    /// # Errors
    /// If there is no such vertex.
    pub fn push(&mut self, vertex: usize, direction: DVec3) -> Result<(), SessionError> {
        let force = direction.normalize_or_zero() * (PUSH * self.simulation.unit_force());
        self.push = Some((self.simulation.grip(vertex)?, force, PUSH_SECS));
        Ok(())
    }

    /// Back to rest in the pose that a document shows now.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn reset(&mut self, document: &Document, display: &Display) -> Result<(), SessionError> {
        (self.hand, self.push) = (None, None);
        self.pose = pose_in(document, display);
        Ok(self.simulation.begin(self.pose.as_ref(), true)?)
    }

    /// Where the surface is.
    ///
    /// # Errors
    /// If the document has another surface.
    pub fn positions(&self) -> Result<Vec<Vec3>, SessionError> {
        let mut positions = Vec::new();
        self.simulation.positions(&mut positions)?;
        Ok(positions)
    }

    /// A shape of it as it is shown.
    pub fn frame(document: &Document, positions: Vec<Vec3>) -> Frame {
        frame_of_positions(document, positions, Instant::now())
    }

    /// Whether flesh is seen where a document shows this: not in clips that move vertices themselves.
    pub fn is_seen(document: &Document, display: &Display) -> bool {
        match display {
            Display::Clip { clip, .. } => document.find_clip(clip).is_ok_and(|at| {
                let clip = &document.clips[at];
                !clip.joints.is_empty() && clip.morphs.is_empty()
            }),
            Display::Rest | Display::Posed | Display::Ruled | Display::Jointed => true,
        }
    }

    /// Edges of the cells, and where their ends are.
    pub fn cells(&self) -> (Arc<Vec<[u32; 2]>>, Vec<Vec3>) {
        let nodes = self.simulation.state().positions.iter().map(|p| p.as_vec3()).collect();
        (self.edges.clone(), nodes)
    }

    /// How it goes.
    pub fn status(&self) -> FleshStatus {
        let body = self.simulation.body();
        FleshStatus {
            cells: body.lattice.n_cells(),
            dof: 3 * (body.lattice.n_nodes() - self.simulation.n_held()),
            uncovered: body.uncovered.clone(),
            step_ms: self.pacer.cost() * 1e3,
            speed: self.pacer.speed(),
            unsolved: self.unsolved,
            warnings: self.warnings.clone(),
        }
    }
}

fn between(from: Option<&Pose>, to: Option<&Pose>, share: f64) -> Option<Pose> {
    let (Some(from), Some(to)) = (from, to) else { return to.cloned() };
    if from.locals.len() != to.locals.len() || share >= 1.0 {
        return Some(to.clone());
    }
    let locals = from.locals.iter().zip(&to.locals).map(|(a, b)| a.lerp(b, share)).collect();
    Some(Pose { locals })
}

fn edges(cells: &[[u32; 8]]) -> Vec<[u32; 2]> {
    let of_cell = |cell: &[u32; 8]| {
        let cell = *cell;
        (0..8usize).flat_map(move |c| {
            (0..3).filter(move |k| c >> k & 1 == 0).map(move |k| {
                let (a, b) = (cell[c], cell[c ^ 1 << k]);
                [a.min(b), a.max(b)]
            })
        })
    };
    cells.iter().flat_map(of_cell).collect::<BTreeSet<_>>().into_iter().collect()
}
