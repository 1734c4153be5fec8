//! Flesh of a surface that is posed by handles: no skeleton, but regions of the surface whose motion is given.
//!
//! # Source
//! Bones as prescribed motion (Capell (2004), §5.1), with regions of the surface in place of bones: a node all of whose
//! vertices belong to one handle moves with it; elsewhere, points of the surface are drawn to their positions in the
//! handle.

use crate::{
    Anchor, Attachment, BakeParams, Body, BodyPoint, Drive, FleshError, FleshSolver, FleshState, StepReport,
    skeleton::feelers,
};
use glam::{DVec3, Vec3};
use sinew_geom::{Mesh, Warnings};
use std::collections::BTreeSet;

/// Steps a frame at most; slower films get longer steps.
const MAX_STEPS: usize = 200;

/// A body that follows handles.
#[derive(Debug)]
pub struct HandleBaker {
    body: Body,
    solver: FleshSolver,
    state: FleshState,
    drive: Drive,
    /// Handle and place at rest of each held node and each anchor.
    held: Vec<(usize, DVec3)>,
    drawn: Vec<(usize, DVec3)>,
    time: f64,
    max_step: f64,
    n_jumps: usize,
}

impl HandleBaker {
    /// Fill a surface with flesh that hangs on groups of its vertices, one a handle.
    ///
    /// # Errors
    /// Surfaces without an inside, vertices there are not, handles without vertices, parameters out of range.
    pub fn new(
        mesh: &Mesh,
        handles: &[Vec<u32>],
        params: &BakeParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        params.material.check()?;
        crate::params::check_step(params.max_step)?;
        let owner = owners(mesh.n_vertices(), handles)?;
        let body = params.source.build(mesh, &params.lattice, &[])?;
        if let Some(first) = body.uncovered.first() {
            let n = body.uncovered.len();
            warnings
                .push(format!("{n} vertices lie in no cell (the first is {first}); they follow the nearest"));
        }
        let of_node = held_nodes(&body, &owner);
        let anchors = anchors(mesh, &body, &owner, &of_node, params);
        let nodes = of_node.iter().enumerate().filter_map(|(node, handle)| Some((node as u32, (*handle)?)));
        let (nodes, owners): (Vec<u32>, Vec<usize>) = nodes.unzip();
        if nodes.is_empty() && anchors.is_empty() {
            return Err(FleshError::NothingHeld);
        }
        let attachment = Attachment {
            held: nodes,
            anchors: anchors.iter().map(|(anchor, ..)| *anchor).collect(),
            feelers: feelers(mesh, &body),
            ..Attachment::default()
        };
        let solver = FleshSolver::new(&body.lattice, &[params.material], &attachment, &params.flesh)?;
        let obstacles = params.obstacles.clone();
        let rest = |(&node, handle): (&u32, usize)| (handle, body.lattice.nodes()[node as usize]);
        Ok(Self {
            held: attachment.held.iter().zip(owners).map(rest).collect(),
            drawn: anchors.iter().map(|(_, handle, p)| (*handle, *p)).collect(),
            drive: Drive { obstacles, ..Drive::at_rest(&body.lattice, &attachment) },
            state: FleshState::at_rest(&body.lattice),
            solver,
            body,
            time: 0.0,
            max_step: params.max_step,
            n_jumps: 0,
        })
    }

    /// The lattice and what lies in it.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Nodes held by handles.
    pub fn n_held(&self) -> usize {
        self.held.len()
    }

    /// Times that handles jumped and flesh was carried along.
    pub fn n_jumps(&self) -> usize {
        self.n_jumps
    }

    /// Everything that is simulated.
    pub fn state(&self) -> &FleshState {
        &self.state
    }

    /// Where the surface is.
    ///
    /// # Errors
    /// None that a baker can cause.
    pub fn positions(&self, out: &mut Vec<Vec3>) -> Result<(), FleshError> {
        out.resize(self.body.embedding.len(), Vec3::ZERO);
        self.body.embedding.evaluate(&self.body.lattice, &self.state.positions, out)
    }

    /// Go on to a time. `moved` tells where a handle has a point at a time: handle, place at rest, seconds.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn advance(
        &mut self,
        time: f64,
        moved: impl Fn(usize, DVec3, f64) -> DVec3,
        mut each: impl FnMut(&StepReport),
    ) -> Result<(), FleshError> {
        let way = time - self.time;
        if way.is_nan() || way <= 0.0 {
            return Ok(());
        }
        let n_steps = ((way / self.max_step - 1e-6).ceil() as usize).clamp(1, MAX_STEPS);
        let (start, secs) = (self.time, way / n_steps as f64);
        for step in 1..=n_steps {
            let now = start + secs * step as f64;
            let place = |(handle, p): &(usize, DVec3)| moved(*handle, *p, now);
            self.drive.held = self.held.iter().map(place).collect();
            self.drive.anchors = self.drawn.iter().map(place).collect();
            let report = self.solver.step(&mut self.state, &self.drive, secs)?;
            self.n_jumps += usize::from(report.carried);
            each(&report);
        }
        self.time = time;
        Ok(())
    }
}

/// Handle of each vertex; a vertex of several belongs to the first.
fn owners(n_vertices: usize, handles: &[Vec<u32>]) -> Result<Vec<Option<usize>>, FleshError> {
    let mut owner = vec![None; n_vertices];
    for (handle, vertices) in handles.iter().enumerate().rev() {
        for &vertex in vertices {
            let (what, index) = ("vertex of a handle", vertex as usize);
            let error = FleshError::OutOfLattice { what, index, len: n_vertices };
            *owner.get_mut(index).ok_or(error)? = Some(handle);
        }
    }
    Ok(owner)
}

/// Nodes whose cells hold vertices of one handle alone.
fn held_nodes(body: &Body, owner: &[Option<usize>]) -> Vec<Option<usize>> {
    // Nothing seen, one owner seen, or several (or none at all).
    let mut seen: Vec<Option<Option<usize>>> = vec![None; body.lattice.n_nodes()];
    for (vertex, owner) in owner.iter().enumerate() {
        for &node in &body.lattice.cells()[body.embedding.cell(vertex)] {
            let known = &mut seen[node as usize];
            *known = Some(match known {
                Some(other) if *other != *owner => None,
                _ => *owner,
            });
        }
    }
    body.lattice.ties().nodes().iter().for_each(|&node| seen[node as usize] = None);
    seen.into_iter().map(Option::flatten).collect()
}

/// Points of the handles' vertices beside their held nodes: one for each half of a cell along each axis.
fn anchors(
    mesh: &Mesh,
    body: &Body,
    owner: &[Option<usize>],
    of_node: &[Option<usize>],
    params: &BakeParams,
) -> Vec<(Anchor, usize, DVec3)> {
    let (size, mut seen, mut anchors) = (body.lattice.size(), BTreeSet::new(), Vec::new());
    for (vertex, handle) in owner.iter().enumerate().filter_map(|(v, handle)| Some((v, (*handle)?))) {
        let (cell, p) = (body.embedding.cell(vertex), mesh.positions()[vertex]);
        let is_held = body.lattice.cells()[cell].iter().all(|&node| of_node[node as usize].is_some());
        let place = (p / (size / 2.0)).floor().as_ivec3().to_array();
        if !is_held && seen.insert((place, cell, handle)) {
            let point =
                BodyPoint { cell: cell as u32, weights: body.embedding.weights(vertex).map(f64::from) };
            let stiffness = params.bones.stiffness * params.material.young * size;
            anchors.push((Anchor { point, stiffness }, handle, p));
        }
    }
    anchors
}
