//! The blended local linearisation of Capell (2004): one region per bone, solved in the bone's frame, and the solutions
//! blended.
//!
//! # Source
//! Capell (2004), §5.2.1, algorithm 5.1 and eqs. 5.7 and 5.8: the cells of a region are those whose nodes all have
//! positive weight for it; each region is solved separately with linear strain in its bone's frame, and the changes of
//! velocity are blended by the weights. Differs: a cell that belongs to no region is given to the one with the largest
//! weight there; impulses on nodes are distributed in proportion to the mass that a region has of them.
//! # Cost
//! new: one matrix per region. step: conjugate gradients in each.
//! # Limits
//! No pins. Intended for comparison: where regions overlap, flesh narrows as skinned surfaces do (figure 5.2).

use crate::{
    FleshError,
    body::ElasticBody,
    loads::refuse_pins,
    step::StepContext,
    system::{
        BlockMatrix, Conjugate, KrylovParams, Nodes, Outcome, PinSpace, PointTerm, apply_points,
        invert_block, times_blocks,
    },
};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// Weights below this are none: skins fade out far from their bones.
const LEAST_WEIGHT: f32 = 0.02;
/// Iterations after which a step is reported as not converged.
const MAX_ITERATIONS: usize = 2000;

/// All regions of a body.
#[derive(Debug)]
pub(crate) struct Blended {
    regions: Vec<Region>,
    conjugate: Conjugate<f64>,
}

/// One region: part of the lattice with nodes of its own.
#[derive(Debug)]
struct Region {
    /// Which rotation of the input.
    bone: usize,
    nodes: Vec<u32>,
    /// Own node of each node of the lattice that it has.
    number: BTreeMap<u32, u32>,
    stiffness: BlockMatrix,
    masses: Vec<f64>,
    /// How much its solution counts at each of its nodes.
    weights: Vec<f64>,
}

impl Blended {
    pub fn new(body: &ElasticBody) -> Self {
        let mut cells_of: BTreeMap<usize, Vec<u32>> = BTreeMap::new();
        for (cell, corners) in body.lattice.cells().iter().enumerate() {
            regions_of(body, corners)
                .into_iter()
                .for_each(|bone| cells_of.entry(bone).or_default().push(cell as u32));
        }
        let mut regions: Vec<Region> =
            cells_of.into_iter().map(|(bone, cells)| Region::new(body, bone, &cells)).collect();
        // Weights of the regions that have a node sum to one.
        let mut sums = vec![0.0; body.lattice.n_nodes()];
        for region in &regions {
            region.nodes.iter().zip(&region.weights).for_each(|(node, w)| sums[*node as usize] += w);
        }
        for region in &mut regions {
            region.weights.iter_mut().zip(&region.nodes).for_each(|(w, node)| *w /= sums[*node as usize]);
        }
        Self { regions, conjugate: Conjugate::default() }
    }

    /// The change of velocity of a step.
    pub fn step(&mut self, context: &StepContext, change: &mut Nodes<f64>) -> Result<Outcome, FleshError> {
        refuse_pins(context.input, "mode blended has no pins; choose mode predicted")?;
        change.copy_from_slice(&context.loads.start);
        let mut total = Outcome { converged: true, ..Outcome::default() };
        for region in &self.regions {
            let turn = context.input.region_rotations.get(region.bone).copied().unwrap_or(DQuat::IDENTITY);
            let (outcome, delta) = region.solve(context, &DMat3::from_quat(turn), &mut self.conjugate);
            total.iterations += outcome.iterations;
            total.residual = total.residual.max(outcome.residual);
            total.converged &= outcome.converged;
            for ((node, w), delta) in region.nodes.iter().zip(&region.weights).zip(&delta) {
                (0..3).for_each(|k| change[*node as usize][k] += w * delta[k]);
            }
        }
        Ok(total)
    }
}

/// Weight of a region at a node: the first region has everything where none are given.
fn weight(body: &ElasticBody, bone: usize, node: u32) -> f32 {
    let Some(weights) = body.attachment.regions.get(node as usize) else {
        return f32::from(u8::from(bone == 0));
    };
    weights.iter().filter(|(slot, w)| *slot as usize == bone && *w >= LEAST_WEIGHT).map(|(_, w)| w).sum()
}

/// Regions a cell belongs to (eq. 5.7).
fn regions_of(body: &ElasticBody, corners: &[u32; 8]) -> Vec<usize> {
    let Some(weights) = body.attachment.regions.get(corners[0] as usize) else { return vec![0] };
    let candidates = weights.iter().filter(|(_, w)| *w >= LEAST_WEIGHT).map(|(slot, _)| *slot as usize);
    let everywhere = |bone: &usize| corners.iter().all(|&node| weight(body, *bone, node) > 0.0);
    let found: Vec<usize> = candidates.filter(everywhere).collect();
    if !found.is_empty() {
        return found;
    }
    let mut sums: BTreeMap<usize, f32> = BTreeMap::new();
    for (slot, w) in corners.iter().flat_map(|&node| &body.attachment.regions[node as usize]) {
        *sums.entry(*slot as usize).or_default() += w;
    }
    sums.into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
        .map(|(bone, _)| bone)
        .into_iter()
        .collect()
}

impl Region {
    fn new(body: &ElasticBody, bone: usize, cells: &[u32]) -> Self {
        let (mut nodes, mut number) = (Vec::new(), BTreeMap::new());
        let mut own = |node: u32| {
            *number.entry(node).or_insert_with(|| {
                nodes.push(node);
                nodes.len() as u32 - 1
            })
        };
        let corners: Vec<[u32; 8]> =
            cells.iter().map(|&cell| body.lattice.cells()[cell as usize].map(&mut own)).collect();
        let mut stiffness = BlockMatrix::from_cells(nodes.len(), &corners);
        let mut masses = vec![0.0; nodes.len()];
        for (at, &cell) in cells.iter().enumerate() {
            let (matrix, factor) = body.stiffness.of(cell as usize);
            stiffness.add_cell(at, matrix, None, factor);
            let mass = body.cell_mass(cell as usize) / 8.0;
            corners[at].iter().for_each(|&node| masses[node as usize] += mass);
        }
        let weights = nodes.iter().map(|&node| f64::from(weight(body, bone, node)).max(1e-6)).collect();
        Self { bone, nodes, number, stiffness, masses, weights }
    }

    /// Change of velocity beside the one to start from, in the world.
    fn solve(
        &self,
        context: &StepContext,
        turn: &DMat3,
        conjugate: &mut Conjugate<f64>,
    ) -> (Outcome, Nodes<f64>) {
        let params = &context.body.params;
        let (scale, drag) = (
            context.secs * context.secs + context.secs * params.stiffness_damping,
            context.secs * params.mass_damping,
        );
        let points = self.points(context, turn);
        let mut r = self.right_side(context, turn, &points, (scale, drag));
        let inverse = self.inverse_blocks(context, &points, (scale, drag));
        let apply = |x: &[[f64; 4]], out: &mut [[f64; 4]]| {
            self.stiffness.apply(x, out);
            for ((out, x), m) in out.iter_mut().zip(x).zip(&self.masses) {
                (0..3).for_each(|k| out[k] = scale * out[k] + m * (1.0 + drag) * x[k]);
            }
            apply_points(&points, x, out);
        };
        let jacobi = |r: &[[f64; 4]], z: &mut [[f64; 4]]| times_blocks(&inverse, r, z);
        let mut delta = vec![[0.0; 4]; r.len()];
        let goal = KrylovParams { reference: 0.0, tolerance: params.tolerance, limit: MAX_ITERATIONS };
        let outcome = conjugate.solve(apply, jacobi, &PinSpace::default(), (&mut r, &mut delta), goal);
        (outcome, delta.iter().map(|d| padded(*turn * at(d))).collect())
    }

    /// Points of its cells, turned into its frame.
    fn points(&self, context: &StepContext, turn: &DMat3) -> Vec<PointTerm<f64>> {
        let own = |point: &PointTerm<f64>| {
            let nodes: Vec<u32> =
                point.nodes.iter().filter_map(|node| self.number.get(node).copied()).collect();
            let [xx, yy, zz, xy, xz, yz] = point.matrix;
            let matrix = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            let nodes: [u32; 8] = nodes.try_into().ok()?;
            Some(PointTerm::new(&nodes, &point.weights, &(turn.transpose() * matrix * *turn)))
        };
        context.loads.points.iter().filter_map(own).collect()
    }

    /// `b − A Δv` at the change to start from, in its frame; zero for held nodes.
    fn right_side(
        &self,
        context: &StepContext,
        turn: &DMat3,
        points: &[PointTerm<f64>],
        (scale, drag): (f64, f64),
    ) -> Nodes<f64> {
        let StepContext { body, state, loads, secs, .. } = *context;
        let back = turn.transpose();
        let origin = self.nodes.first().map_or(0, |node| *node as usize);
        let (place, rest) = (state.positions[origin], body.lattice.nodes()[origin]);
        let local = |f: &dyn Fn(usize) -> DVec3| -> Nodes<f64> {
            self.nodes.iter().map(|&node| padded(f(node as usize))).collect()
        };
        let start = local(&|node| back * at(&loads.start[node]));
        let speed = local(&|node| back * (state.velocities[node] + at(&loads.start[node])));
        let moved =
            local(&|node| back * (state.positions[node] - place) - (body.lattice.nodes()[node] - rest));
        let [mut stress, mut drawn, mut reaction] = [(); 3].map(|()| vec![[0.0; 4]; self.nodes.len()]);
        self.stiffness.apply(&moved, &mut stress);
        self.stiffness.apply(&speed, &mut drawn);
        apply_points(points, &start, &mut reaction);
        let one = |own: usize| {
            let node = self.nodes[own] as usize;
            if body.is_held[node] {
                return [0.0; 4];
            }
            let share = self.masses[own] / body.masses[node];
            let impulse = back * at(&loads.impulse[node]) * share;
            let inner = at(&stress[own]) * secs + at(&drawn[own]) * scale;
            let inertia = (at(&speed[own]) * drag + at(&start[own])) * self.masses[own];
            padded(impulse - inner - inertia - at(&reaction[own]))
        };
        (0..self.nodes.len()).map(one).collect()
    }

    fn inverse_blocks(
        &self,
        context: &StepContext,
        points: &[PointTerm<f64>],
        (scale, drag): (f64, f64),
    ) -> Vec<[f64; 6]> {
        let mut blocks: Vec<[f64; 6]> =
            (0..self.nodes.len()).map(|own| self.stiffness.diagonal(own).map(|x| scale * x)).collect();
        for (block, m) in blocks.iter_mut().zip(&self.masses) {
            (0..3).for_each(|k| block[k] += m * (1.0 + drag));
        }
        for point in points {
            for (node, w) in point.nodes.iter().zip(point.weights) {
                (0..6).for_each(|k| blocks[*node as usize][k] += w * w * point.matrix[k]);
            }
        }
        let is_held = |own: usize| context.body.is_held[self.nodes[own] as usize];
        let one =
            |(own, block): (usize, &[f64; 6])| if is_held(own) { [0.0; 6] } else { invert_block(*block) };
        blocks.iter().enumerate().map(one).collect()
    }
}

fn at(x: &[f64; 4]) -> DVec3 {
    DVec3::new(x[0], x[1], x[2])
}

fn padded(x: DVec3) -> [f64; 4] {
    [x.x, x.y, x.z, 0.0]
}
