//! A body whose cells are halved where it deforms, and joined again where it does not.
//!
//! # Source
//! Capell (2004), §4.2 and §4.7: a hierarchical basis over levels of subdivision, whose functions are activated where
//! the deformation exceeds the threshold of their level and deactivated below a lower one. Differs: cells are chosen
//! instead of functions. Functions of the finer level that would not be continuous with an inactive neighbour follow
//! the coarser ones (see [`crate::Ties`]), which spans the same space as leaving them out of the hierarchical basis;
//! and a large cell has the element of one large cell, so that the cost of a step is that of its active cells.
//! Deformation is measured by the norm of Green's strain in the middle of a cell, which rotations do not change.
//! # Cost
//! new: a lattice of the finest cells. step: that of the active cells. A change of cells: a few microseconds per finest
//! cell.
//! # Limits
//! Clamped parts are balls, and stay fine. Neighbouring cells differ by at most one level.

use crate::{
    Attachment, Embedding, FleshError, FleshParams, FleshSolver, FleshState, Lattice, LatticeParams,
    Material, StepInput, StepReport,
    lattice::{Fine, OctreeParams, nearest_weights},
};
use glam::{DAffine3, DMat3, DVec3, Vec3};
use sinew_geom::Mesh;

/// When cells are halved and joined.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptiveParams {
    /// For each doubling of the finest cells: strain above which cells of that size are halved, and below which smaller
    /// ones are joined to one of that size. Default 0.05 and 0.02, for two doublings.
    pub thresholds: Vec<[f64; 2]>,
    /// Steps between changes. Default 4.
    pub every: usize,
    /// Cells across a limb at least, where the finest are small enough. Default 1.5.
    pub across: f64,
}

impl Default for AdaptiveParams {
    fn default() -> Self {
        Self { thresholds: vec![[0.05, 0.02]; 2], every: 4, across: 1.5 }
    }
}

impl AdaptiveParams {
    /// # Errors
    /// Thresholds that are not ordered.
    pub fn check(&self) -> Result<(), FleshError> {
        match self.thresholds.iter().find(|[up, down]| !(*down >= 0.0 && *up > *down)) {
            Some(pair) => Err(FleshError::Parameter {
                name: "strain above which cells are halved",
                value: pair[0],
                expected: "it must exceed the one below which cells are joined, which must not be negative",
            }),
            None => Ok(()),
        }
    }
}

/// A ball of the body at rest whose nodes are held.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clamp {
    /// Its middle.
    pub center: DVec3,
    /// Its radius.
    pub radius: f64,
}

/// A body that adapts. All that is simulated is inside, since its nodes come and go.
#[derive(Debug)]
pub struct AdaptiveFlesh {
    fine: Fine,
    rest: Vec<DVec3>,
    clamps: Vec<Clamp>,
    material: Material,
    params: FleshParams,
    adaptive: AdaptiveParams,
    /// How often each finest cell may be doubled.
    limits: Vec<u8>,
    levels: Vec<u8>,
    cell_of: Vec<u32>,
    solver: FleshSolver,
    held: Vec<(u32, usize)>,
    state: FleshState,
    embedding: Embedding,
    steps: usize,
    changes: usize,
}

impl AdaptiveFlesh {
    /// A body of cells as large as thresholds have levels; `lattice` is that of the finest ones.
    ///
    /// # Errors
    /// As for lattices; thresholds that are not ordered; clamps without a node.
    pub fn new(
        mesh: &Mesh,
        lattice: &LatticeParams,
        material: &Material,
        clamps: &[Clamp],
        params: &FleshParams,
        adaptive: &AdaptiveParams,
    ) -> Result<Self, FleshError> {
        adaptive.check()?;
        material.check()?;
        let most = adaptive.thresholds.len();
        let near = clamps.iter().map(|clamp| (clamp.center, clamp.radius)).collect();
        let octree = OctreeParams { levels: most, across: adaptive.across, near };
        let (fine, mut limits) = Fine::with_limits(mesh, lattice, &octree)?;
        for (cell, limit) in limits.iter_mut().enumerate() {
            if clamps
                .iter()
                .any(|clamp| fine.middle(cell).distance(clamp.center) <= clamp.radius + fine.size())
            {
                *limit = 0;
            }
        }
        let levels = fine.balance(&limits, most);
        let (built, cell_of) = fine.lattice(&levels);
        let (solver, held) = solve(&built, material, clamps, params)?;
        let embedding = fine.embed(mesh.positions(), &built, &cell_of);
        Ok(Self {
            state: FleshState::at_rest(&built),
            rest: mesh.positions().to_vec(),
            clamps: clamps.to_vec(),
            material: *material,
            params: params.clone(),
            adaptive: adaptive.clone(),
            limits,
            fine,
            levels,
            cell_of,
            solver,
            held,
            embedding,
            steps: 0,
            changes: 0,
        })
    }

    /// The cells as they are now.
    pub fn lattice(&self) -> &Lattice {
        self.solver.lattice()
    }

    /// What is simulated, on the nodes there are now.
    pub fn state(&self) -> &FleshState {
        &self.state
    }

    /// Unknowns now.
    pub fn n_dof(&self) -> usize {
        3 * (self.lattice().n_nodes() - self.lattice().ties().nodes().len() - self.held.len())
    }

    /// Times cells changed.
    pub fn n_changes(&self) -> usize {
        self.changes
    }

    /// Where the surface is.
    ///
    /// # Errors
    /// Another number of vertices.
    pub fn positions(&self, out: &mut [Vec3]) -> Result<(), FleshError> {
        self.embedding.evaluate(self.lattice(), &self.state.positions, out)
    }

    /// Move on by `secs`, to where `motions` take the clamps from rest.
    ///
    /// # Errors
    /// Another number of motions; numbers that are not finite.
    pub fn step(&mut self, motions: &[DAffine3], secs: f64) -> Result<StepReport, FleshError> {
        let (expected, actual) = (self.clamps.len(), motions.len());
        if expected != actual {
            return Err(FleshError::Length { what: "motions of clamps", expected, actual });
        }
        self.steps += 1;
        if self.steps.is_multiple_of(self.adaptive.every.max(1)) {
            self.adapt()?;
        }
        let target = |&(node, clamp): &(u32, usize)| {
            motions[clamp].transform_point3(self.lattice().nodes()[node as usize])
        };
        let input = StepInput { held: self.held.iter().map(target).collect(), ..StepInput::default() };
        self.solver.step(&mut self.state, &input, secs)
    }

    /// Halve and join cells as their deformation asks for.
    fn adapt(&mut self) -> Result<(), FleshError> {
        let now = Sizes { fine: &self.fine, levels: &self.levels, cell_of: &self.cell_of };
        let levels = now.wanted(self.solver.lattice(), &self.state, &self.limits, &self.adaptive);
        if levels != self.levels {
            self.rebuild(levels)?;
        }
        Ok(())
    }

    /// Go over to cells of other levels, keeping the motion.
    fn rebuild(&mut self, levels: Vec<u8>) -> Result<(), FleshError> {
        let (lattice, cell_of) = self.fine.lattice(&levels);
        let now = Sizes { fine: &self.fine, levels: &self.levels, cell_of: &self.cell_of };
        let state = now.carry((self.solver.lattice(), &self.state), (&lattice, &cell_of));
        (self.solver, self.held) = solve(&lattice, &self.material, &self.clamps, &self.params)?;
        self.embedding = self.fine.embed(&self.rest, &lattice, &cell_of);
        (self.state, self.levels, self.cell_of) = (state, levels, cell_of);
        self.changes += 1;
        Ok(())
    }
}

/// Sizes of the cells of a body now: the finest cells, how often each is doubled, and which cell it is part of.
#[derive(Clone, Copy)]
pub(crate) struct Sizes<'a> {
    pub fine: &'a Fine,
    pub levels: &'a [u8],
    pub cell_of: &'a [u32],
}

impl Sizes<'_> {
    /// Levels that the deformation asks for, and no more than `limits`.
    pub fn wanted(
        &self,
        lattice: &Lattice,
        state: &FleshState,
        limits: &[u8],
        params: &AdaptiveParams,
    ) -> Vec<u8> {
        let strains: Vec<f64> = (0..lattice.n_cells()).map(|cell| strain(lattice, state, cell)).collect();
        let most = params.thresholds.len();
        let wanted = |cell: usize| {
            let (level, strain) = (usize::from(self.levels[cell]), strains[self.cell_of[cell] as usize]);
            let next = match level {
                l if l > 0 && strain > params.thresholds[l - 1][0] => l - 1,
                l if l < most && strain < params.thresholds[l][1] => l + 1,
                l => l,
            };
            (next as u8).min(limits[cell])
        };
        let wanted: Vec<u8> = (0..self.fine.len()).map(wanted).collect();
        self.fine.balance(&wanted, most)
    }

    /// What is simulated, on the nodes of other cells.
    pub fn carry(
        &self,
        (old, from): (&Lattice, &FleshState),
        (lattice, cell_of): (&Lattice, &[u32]),
    ) -> FleshState {
        let sources = self.fine.corner_sources(lattice, cell_of);
        let mut state = FleshState::at_rest(lattice);
        for (cell, corners) in lattice.cells().iter().enumerate() {
            for (c, &node) in corners.iter().enumerate() {
                let source = self.cell_of[sources[cell][c] as usize] as usize;
                let weights = nearest_weights(old, source, lattice.nodes()[node as usize]);
                let value = |list: &[DVec3]| -> DVec3 {
                    old.cells()[source].iter().zip(weights).map(|(&n, w)| list[n as usize] * w).sum()
                };
                state.positions[node as usize] = value(&from.positions);
                state.velocities[node as usize] = value(&from.velocities);
                state.rotations[cell] = from.rotations[source];
            }
        }
        lattice.ties().spread_places(&mut state.positions);
        lattice.ties().spread_places(&mut state.velocities);
        state
    }
}

/// Size of Green's strain in the middle of a cell.
fn strain(lattice: &Lattice, state: &FleshState, cell: usize) -> f64 {
    let at = lattice.cells()[cell].map(|node| state.positions[node as usize]);
    let column = |axis: usize| {
        let side = |c: usize| if c >> axis & 1 == 1 { 0.25 } else { -0.25 };
        at.iter().enumerate().map(|(c, p)| *p * side(c)).sum::<DVec3>() / lattice.cell_size(cell)
    };
    let f = DMat3::from_cols(column(0), column(1), column(2));
    let green = (f.transpose() * f - DMat3::IDENTITY) * 0.5;
    green.to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// A solver whose nodes within clamps are held, and which of them follows which clamp.
fn solve(
    lattice: &Lattice,
    material: &Material,
    clamps: &[Clamp],
    params: &FleshParams,
) -> Result<(FleshSolver, Vec<(u32, usize)>), FleshError> {
    let mut hangs = vec![false; lattice.n_nodes()];
    lattice.ties().nodes().iter().for_each(|&node| hangs[node as usize] = true);
    let clamp_of = |p: DVec3| clamps.iter().position(|clamp| p.distance(clamp.center) <= clamp.radius);
    let nodes = (0..lattice.n_nodes()).filter(|&node| !hangs[node]);
    let held: Vec<(u32, usize)> =
        nodes.filter_map(|node| Some((node as u32, clamp_of(lattice.nodes()[node])?))).collect();
    if let Some(index) = (0..clamps.len()).find(|clamp| !held.iter().any(|(_, of)| of == clamp)) {
        return Err(FleshError::OutOfLattice { what: "any node within clamp", index, len: 0 });
    }
    let attachment =
        Attachment { held: held.iter().map(|(node, _)| *node).collect(), ..Attachment::default() };
    Ok((FleshSolver::new(lattice, &[*material], &attachment, params)?, held))
}
