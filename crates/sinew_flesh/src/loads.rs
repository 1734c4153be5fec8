//! Everything that acts on a body in a step besides its own elasticity.

use crate::{
    Attachment, FleshError, FleshState, Lattice, StepInput,
    contact::respond,
    system::{Nodes, PinRow, PinSpace, PointTerm, add_points, apply_points},
};
use glam::{DMat3, DVec3};

/// Impulses of a step, and what they add to the system.
pub struct Loads {
    /// Momentum that outer forces bring about in the step.
    pub impulse: Nodes<f64>,
    /// What reacts to the change of velocity.
    pub points: Vec<PointTerm<f64>>,
    /// What reacts to the change of velocity of each node alone; empty if nothing does.
    pub diagonal: Vec<f64>,
    /// Change of velocity to start from: that of held nodes, and what brings pins to their places.
    pub start: Nodes<f64>,
    /// Directions pins forbid.
    pub pins: PinSpace,
    /// Contact points that touch something.
    pub n_contacts: usize,
}

/// What loads need to know of a solver.
pub struct Scene<'a> {
    pub lattice: &'a Lattice,
    pub attachment: &'a Attachment,
    pub is_held: &'a [bool],
    pub masses: &'a [f64],
    pub gravity: DVec3,
    pub contact_stiffness: f64,
    pub skin_pull: &'a [f64],
}

impl Loads {
    pub fn gather(
        scene: &Scene,
        state: &FleshState,
        input: &StepInput,
        secs: f64,
    ) -> Result<Self, FleshError> {
        let lattice = scene.lattice;
        let push = |m: &f64| {
            let p = scene.gravity * (*m * secs);
            [p.x, p.y, p.z, 0.0]
        };
        let impulse = scene.masses.iter().map(push).collect();
        let start = vec![[0.0; 4]; lattice.n_nodes()];
        let (points, diagonal, pins) = (Vec::new(), Vec::new(), PinSpace::default());
        let mut loads = Self { impulse, points, diagonal, start, pins, n_contacts: 0 };
        let pulls = input.pulls.iter().map(|pull| (&pull.anchor, &pull.target));
        for (anchor, target) in scene.attachment.anchors.iter().zip(&input.anchors).chain(pulls) {
            let p = anchor.point.evaluate(lattice, &state.positions);
            let v = anchor.point.evaluate(lattice, &state.velocities);
            let k = secs * anchor.stiffness;
            loads.add(
                lattice,
                &anchor.point,
                &DMat3::from_diagonal(DVec3::splat(secs * k)),
                k * (*target - p - secs * v),
            );
        }
        for (point, force) in &input.pushes {
            let cell = &lattice.cells()[point.cell as usize];
            add_points(cell, &point.weights, *force * secs, &mut loads.impulse);
        }
        for (impulse, force) in loads.impulse.iter_mut().zip(&input.forces) {
            (0..3).for_each(|k| impulse[k] += force[k] * secs);
        }
        loads.pull_to_skin(scene, state, input, secs);
        loads.touch(scene, state, input, secs);
        loads.hold(scene, state, input, secs)?;
        Ok(loads)
    }

    fn add(&mut self, lattice: &Lattice, point: &crate::BodyPoint, matrix: &DMat3, impulse: DVec3) {
        let cell = &lattice.cells()[point.cell as usize];
        self.points.push(PointTerm::new(cell, &point.weights, matrix));
        add_points(cell, &point.weights, impulse, &mut self.impulse);
    }

    /// Nodes are drawn to where skinning puts them.
    fn pull_to_skin(&mut self, scene: &Scene, state: &FleshState, input: &StepInput, secs: f64) {
        if input.skinned.len() != scene.skin_pull.len() {
            return;
        }
        self.diagonal = scene.skin_pull.iter().map(|k| secs * secs * k).collect();
        for (node, (impulse, k)) in self.impulse.iter_mut().zip(scene.skin_pull).enumerate() {
            let way = input.skinned[node] - state.positions[node] - secs * state.velocities[node];
            (0..3).for_each(|axis| impulse[axis] += secs * k * way[axis]);
        }
    }

    /// `out +=` what reacts to a change of velocity.
    pub fn react(&self, change: &[[f64; 4]], out: &mut [[f64; 4]]) {
        apply_points(&self.points, change, out);
        for ((out, change), k) in out.iter_mut().zip(change).zip(&self.diagonal) {
            (0..3).for_each(|axis| out[axis] += k * change[axis]);
        }
    }

    fn touch(&mut self, scene: &Scene, state: &FleshState, input: &StepInput, secs: f64) {
        if input.obstacles.is_empty() {
            return;
        }
        for (at, point) in scene.attachment.contact_points.iter().enumerate() {
            let offset = input.contact_offsets.get(at).copied().unwrap_or_default();
            let p = point.evaluate(scene.lattice, &state.positions) + offset;
            let v = point.evaluate(scene.lattice, &state.velocities);
            for obstacle in &input.obstacles {
                if let Some((matrix, impulse)) = respond(obstacle, (p, v), scene.contact_stiffness, secs) {
                    self.add(scene.lattice, point, &matrix, impulse);
                    self.n_contacts += 1;
                }
            }
        }
    }

    /// Held nodes reach their places in one step; pins do by the free nodes of their cells.
    fn hold(
        &mut self,
        scene: &Scene,
        state: &FleshState,
        input: &StepInput,
        secs: f64,
    ) -> Result<(), FleshError> {
        for (&node, target) in scene.attachment.held.iter().zip(&input.held) {
            let node = node as usize;
            let change = (*target - state.positions[node]) / secs - state.velocities[node];
            self.start[node] = [change.x, change.y, change.z, 0.0];
        }
        scene.lattice.ties().spread(&mut self.start);
        if input.pins.is_empty() {
            return Ok(());
        }
        let ties = scene.lattice.ties();
        let hanging: std::collections::HashMap<usize, &[(u32, f64)]> = ties.rows().collect();
        let owners = |node: u32, w: f64| match hanging.get(&(node as usize)) {
            Some(row) => row.iter().map(|&(other, share)| (other, w * share)).collect(),
            None => vec![(node, w)],
        };
        let row = |pin: &crate::Pin| {
            let cell = &scene.lattice.cells()[pin.point.cell as usize];
            let p = pin.point.evaluate(scene.lattice, &state.positions);
            let v = pin.point.evaluate(scene.lattice, &state.velocities);
            let mut change = (pin.target - p) / secs - v;
            let mut shares = std::collections::BTreeMap::new();
            for (&node, w) in cell.iter().zip(pin.point.weights) {
                for (true_node, w) in owners(node, w) {
                    match scene.is_held[true_node as usize] {
                        true => change -= DVec3::from_slice(&self.start[true_node as usize][..3]) * w,
                        false => *shares.entry(true_node).or_insert(0.0) += w,
                    }
                }
            }
            let shares = shares.into_iter().filter(|(_, w)| *w != 0.0).collect();
            PinRow { shares, change }
        };
        let rows: Vec<PinRow> = input.pins.iter().map(row).collect();
        // A millionth of a cell apart is rounding.
        let gap = 1e-6 * scene.lattice.size() / secs;
        let (pins, start) = PinSpace::new(&rows, ties, scene.lattice.n_nodes(), gap, secs)?;
        self.pins = pins;
        self.start.iter_mut().zip(&start).for_each(|(to, from)| (0..3).for_each(|k| to[k] += from[k]));
        Ok(())
    }
}

/// Modes that cannot hold points say so.
pub fn refuse_pins(input: &StepInput, expected: &'static str) -> Result<(), FleshError> {
    let (name, value) = ("number of pins", input.pins.len() as f64);
    if input.pins.is_empty() { Ok(()) } else { Err(FleshError::Parameter { name, value, expected }) }
}

/// An input that does not fit its body is named.
pub fn check(scene: &Scene, input: &StepInput) -> Result<(), FleshError> {
    let (attachment, lattice) = (scene.attachment, scene.lattice);
    let fits = |what, expected: usize, actual: usize| {
        if expected == actual { Ok(()) } else { Err(FleshError::Length { what, expected, actual }) }
    };
    fits("places of held nodes", attachment.held.len(), input.held.len())?;
    fits("places of anchors", attachment.anchors.len(), input.anchors.len())?;
    if !input.cell_rotations.is_empty() {
        fits("rotations of cells", lattice.n_cells(), input.cell_rotations.len())?;
    }
    if !input.node_rotations.is_empty() {
        fits("rotations of nodes", lattice.n_nodes(), input.node_rotations.len())?;
    }
    for (what, list) in [("skinned nodes", &input.skinned), ("skinned nodes before", &input.skinned_before)] {
        if !input.skinned.is_empty() {
            fits(what, lattice.n_nodes(), list.len())?;
        }
    }
    if !input.contact_offsets.is_empty() {
        fits("offsets of contact points", attachment.contact_points.len(), input.contact_offsets.len())?;
    }
    let finite = |what, list: &[DVec3]| match list.iter().position(|p| !p.is_finite()) {
        Some(index) => Err(FleshError::NonFinite { what, index }),
        None => Ok(()),
    };
    finite("place of held node", &input.held)?;
    finite("place of anchor", &input.anchors)?;
    finite("skinned place of node", &input.skinned)?;
    finite("skinned place of node before the step", &input.skinned_before)?;
    finite("offset of contact point", &input.contact_offsets)?;
    if !input.forces.is_empty() {
        fits("forces on nodes", lattice.n_nodes(), input.forces.len())?;
    }
    finite("force on node", &input.forces)?;
    if let Some(index) = input.pins.iter().position(|pin| !pin.target.is_finite()) {
        return Err(FleshError::NonFinite { what: "place of pin", index });
    }
    input.pins.iter().try_for_each(|pin| pin.point.check(lattice, "cell of a pin"))?;
    input.pulls.iter().try_for_each(|pull| pull.anchor.point.check(lattice, "cell of a pull"))?;
    if let Some(index) = input.pulls.iter().position(|pull| !pull.target.is_finite()) {
        return Err(FleshError::NonFinite { what: "place of pull", index });
    }
    input.pushes.iter().try_for_each(|(point, _)| point.check(lattice, "cell of a push"))?;
    input.obstacles.iter().try_for_each(|obstacle| {
        let (name, value, expected) = ("friction", obstacle.friction, "it must be 0 or more");
        let fits = value >= 0.0 && value.is_finite();
        if fits { obstacle.shape.check() } else { Err(FleshError::Parameter { name, value, expected }) }
    })
}
