//! Flesh of a surface that is posed by handles: no skeleton, but regions of the surface whose motion is given.
//!
//! # Source
//! Bones as prescribed motion (Capell (2004), §5.1), with regions of the surface in place of bones: a node all of whose
//! vertices belong to one handle moves with it; elsewhere, points of the surface are drawn to their positions in the
//! handle.

use crate::{
    Anchor, Attachment, BakeParams, Body, FleshError, Simulation, SimulationParams, StepReport,
    pace::Clock,
    skeleton::{contact_points, contact_vertices},
};
use glam::DVec3;
use sinew_geom::{Mesh, Warnings};
use std::collections::BTreeSet;

/// A body that follows handles.
#[derive(Debug)]
pub struct HandleBaker {
    simulation: Simulation,
    /// Handle and place at rest of each held node and each anchor.
    held: Vec<(usize, DVec3)>,
    anchors: Vec<(usize, DVec3)>,
    clock: Clock,
}

impl HandleBaker {
    /// Fill a surface with flesh that is attached to groups of its vertices, one per handle.
    ///
    /// # Errors
    /// Surfaces without an inside, vertices that do not exist, handles without vertices, parameters out of range.
    pub fn new(
        mesh: &Mesh,
        handles: &[Vec<u32>],
        params: &BakeParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        let (clock, params) = (Clock::new(params.max_step)?, &params.simulation);
        params.material.check()?;
        let owner = owners(mesh.n_vertices(), handles)?;
        let body = params.source.build(mesh, &params.lattice, &[])?;
        let of_node = held_nodes(&body, &owner);
        let anchors = anchors(mesh, &body, &owner, &of_node, params);
        let rest = |node: usize| body.lattice.nodes()[node];
        let nodes = of_node.iter().enumerate().filter_map(|(node, handle)| Some((node, (*handle)?)));
        let (nodes, held): (Vec<u32>, Vec<(usize, DVec3)>) =
            nodes.map(|(node, handle)| (node as u32, (handle, rest(node)))).unzip();
        if nodes.is_empty() && anchors.is_empty() {
            return Err(FleshError::NothingHeld);
        }
        let attachment = Attachment {
            held: nodes,
            anchors: anchors.iter().map(|(anchor, ..)| *anchor).collect(),
            contact_points: contact_points(&body, &contact_vertices(mesh, &body)),
            ..Attachment::default()
        };
        let materials = vec![params.material; body.lattice.n_cells()];
        let simulation = Simulation::attached(body, mesh, (materials, attachment), params, warnings)?;
        let anchors = anchors.iter().map(|(_, handle, p)| (*handle, *p)).collect();
        Ok(Self { simulation, held, anchors, clock })
    }

    /// What is simulated.
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Advance to a time. `moved` gives the place of a point of a handle: handle, place at rest, seconds.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn advance(
        &mut self,
        time: f64,
        moved: impl Fn(usize, DVec3, f64) -> DVec3,
        mut each: impl FnMut(&StepReport),
    ) -> Result<(), FleshError> {
        let Some(steps) = self.clock.plan(time) else { return Ok(()) };
        for now in steps.times() {
            let places = |list: &[(usize, DVec3)]| list.iter().map(|(h, p)| moved(*h, *p, now)).collect();
            let (held, anchors) = (places(&self.held), places(&self.anchors));
            each(&self.simulation.step_attached(held, anchors, steps.secs)?);
        }
        self.clock.time = time;
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
    params: &SimulationParams,
) -> Vec<(Anchor, usize, DVec3)> {
    let (size, mut seen, mut anchors) = (body.lattice.size(), BTreeSet::new(), Vec::new());
    for (vertex, handle) in owner.iter().enumerate().filter_map(|(v, handle)| Some((v, (*handle)?))) {
        let (cell, p) = (body.embedding.cell(vertex), mesh.positions()[vertex]);
        let is_held = body.lattice.cells()[cell].iter().all(|&node| of_node[node as usize].is_some());
        let place = (p / (size / 2.0)).floor().as_ivec3().to_array();
        if !is_held && seen.insert((place, cell, handle)) {
            let point = body.point(vertex);
            let stiffness = params.bones.stiffness * params.material.young * size;
            anchors.push((Anchor { point, stiffness }, handle, p));
        }
    }
    anchors
}
