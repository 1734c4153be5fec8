//! What is simulated, and what is done to it.

use crate::{BodyPoint, Lattice, contact::Obstacle};
use glam::{DQuat, DVec3};

/// All that a simulation carries from step to step.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshState {
    /// Where each node is.
    pub positions: Vec<DVec3>,
    /// Velocity of each node in metres per second.
    pub velocities: Vec<DVec3>,
    /// How each cell is turned.
    pub rotations: Vec<DQuat>,
}

impl FleshState {
    /// At rest where the lattice is.
    pub fn at_rest(lattice: &Lattice) -> Self {
        Self {
            positions: lattice.nodes().to_vec(),
            velocities: vec![DVec3::ZERO; lattice.n_nodes()],
            rotations: vec![DQuat::IDENTITY; lattice.n_cells()],
        }
    }

    /// Sum of mass times velocity.
    pub fn momentum(&self, masses: &[f64]) -> DVec3 {
        self.velocities.iter().zip(masses).map(|(v, m)| *v * *m).sum()
    }

    /// Sum of place cross mass times velocity.
    pub fn angular_momentum(&self, masses: &[f64]) -> DVec3 {
        let all = self.positions.iter().zip(&self.velocities).zip(masses);
        all.map(|((x, v), m)| x.cross(*v * *m)).sum()
    }

    /// Where its mass is on average.
    pub fn center(&self, masses: &[f64]) -> DVec3 {
        let sum: DVec3 = self.positions.iter().zip(masses).map(|(x, m)| *x * *m).sum();
        sum / masses.iter().sum::<f64>()
    }
}

/// A point that a spring draws to its place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Anchor {
    /// Which point.
    pub point: BodyPoint,
    /// Newtons per metre.
    pub stiffness: f64,
}

/// A point that is held exactly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pin {
    /// Which point.
    pub point: BodyPoint,
    /// Where it has to be at the end of the step.
    pub target: DVec3,
}

/// A point that the user pulls to a place by a temporary spring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// Which point, and how strongly.
    pub anchor: Anchor,
    /// Where it is drawn to at the end of the step.
    pub target: DVec3,
}

/// What a body hangs on, fixed for a simulation.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Attachment {
    /// Nodes whose motion is given.
    pub held: Vec<u32>,
    /// Points drawn to places that are given.
    pub anchors: Vec<Anchor>,
    /// Points that meet obstacles.
    pub contact_points: Vec<BodyPoint>,
    /// How much of each node belongs to which regions, for `blended`; empty for one region.
    pub regions: Vec<[(u16, f32); 4]>,
}

/// What is done to a body during one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepInput {
    /// Where each held node is at the end of the step.
    pub held: Vec<DVec3>,
    /// Where each anchor is drawn to at the end of the step.
    pub anchors: Vec<DVec3>,
    /// How bones turn each cell; empty if there are none.
    pub cell_rotations: Vec<DQuat>,
    /// Whether cells are rotated only as `cell_rotations` prescribe, in mode `predicted`, so that forces and displacements
    /// correspond. Default false: frames follow the deformation of the cells.
    pub fixed_frames: bool,
    /// How bones turn each node, for `warped`; empty if there are none.
    pub node_rotations: Vec<DQuat>,
    /// How bones turn each region, for `blended`; empty if there are none.
    pub region_rotations: Vec<DQuat>,
    /// Where skinning puts each node at the end of the step, and where it put it at its beginning; empty if there is no skin.
    /// In mode `predicted` flesh deforms relative to this shape, so that it becomes its skin as stiffness grows.
    pub skinned: Vec<DVec3>,
    /// See `skinned`.
    pub skinned_before: Vec<DVec3>,
    /// Offset of the displayed surface from the lattice at each contact point; empty if there is none.
    pub contact_offsets: Vec<DVec3>,
    /// Obstacles.
    pub obstacles: Vec<Obstacle>,
    /// Points held exactly.
    pub pins: Vec<Pin>,
    /// Points pulled by the user.
    pub pulls: Vec<Pull>,
    /// Forces at points, in newtons.
    pub pushes: Vec<(BodyPoint, DVec3)>,
    /// Forces on nodes, in newtons, such as those of muscles; empty if there are none.
    pub forces: Vec<DVec3>,
}

impl StepInput {
    /// Everything that is attached stays where it is at rest.
    pub fn at_rest(lattice: &Lattice, attachment: &Attachment) -> Self {
        let node = |&node: &u32| lattice.nodes()[node as usize];
        Self {
            held: attachment.held.iter().map(node).collect(),
            anchors: attachment.anchors.iter().map(|a| a.point.evaluate(lattice, lattice.nodes())).collect(),
            ..Self::default()
        }
    }
}
