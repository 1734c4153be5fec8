//! An elastic body: its lattice, what it is made of, and what it hangs on.

use crate::{
    Attachment, FleshError, FleshParams, FleshState, Lattice, Material, Mode, StepInput,
    cell_stiffness::CellStiffness,
    element::is_stretched,
    loads::Scene,
    skin_frames::{compute_skin_pull, trace_of_product},
};
use glam::{DMat3, DQuat};
use sinew_geom::linalg::fit_rotations;

/// Polar steps more for cells that are stretched far: one that lags behind would gain energy.
const STRETCHED_STEPS: usize = 4;

/// What a solver simulates.
#[derive(Debug)]
pub(crate) struct ElasticBody {
    pub lattice: Lattice,
    pub materials: Vec<Material>,
    pub attachment: Attachment,
    pub params: FleshParams,
    pub masses: Vec<f64>,
    pub is_held: Vec<bool>,
    pub contact_stiffness: f64,
    pub stiffness: CellStiffness,
    /// Stiffness of the pull of each node to where skinning puts it, in newtons per metre.
    pub skin_pull: Vec<f64>,
}

impl ElasticBody {
    pub fn new(
        lattice: &Lattice,
        materials: &[Material],
        attachment: &Attachment,
        params: &FleshParams,
    ) -> Result<Self, FleshError> {
        params.check()?;
        materials.iter().try_for_each(Material::check)?;
        let materials = match materials {
            [one] => vec![*one; lattice.n_cells()],
            many if many.len() == lattice.n_cells() => many.to_vec(),
            many => {
                let (expected, actual) = (lattice.n_cells(), many.len());
                return Err(FleshError::Length { what: "materials", expected, actual });
            }
        };
        let mut is_held = vec![false; lattice.n_nodes()];
        for &node in &attachment.held {
            let (index, len) = (node as usize, lattice.n_nodes());
            let held = is_held.get_mut(index);
            *held.ok_or(FleshError::OutOfLattice { what: "held node", index, len })? = true;
        }
        if lattice.ties().nodes().iter().any(|&node| is_held[node as usize]) {
            return Err(FleshError::HeldBetween);
        }
        if lattice.has_ties() && matches!(params.mode, Mode::Warped | Mode::Blended) {
            return Err(FleshError::SeveralSizes);
        }
        attachment.anchors.iter().try_for_each(|anchor| anchor.point.check(lattice, "cell of an anchor"))?;
        attachment
            .contact_points
            .iter()
            .try_for_each(|point| point.check(lattice, "cell of a contact point"))?;
        let masses = masses(lattice, &materials);
        let mean = materials.iter().map(|m| m.young).sum::<f64>() / materials.len() as f64;
        let contact_stiffness = params.contact_stiffness * mean * lattice.size();
        let stiffness = CellStiffness::new(lattice, &materials, params.element)?;
        let skin_pull = compute_skin_pull(lattice, &materials, attachment);
        let (lattice, attachment, params) = (lattice.clone(), attachment.clone(), params.clone());
        Ok(Self {
            lattice,
            materials,
            attachment,
            params,
            masses,
            is_held,
            contact_stiffness,
            stiffness,
            skin_pull,
        })
    }

    /// Nodes that no unknown belongs to: held ones, and those that hang between others.
    pub fn is_fixed(&self) -> Vec<bool> {
        let mut fixed = self.is_held.clone();
        self.lattice.ties().nodes().iter().for_each(|&node| fixed[node as usize] = true);
        fixed
    }

    pub fn scene(&self) -> Scene<'_> {
        Scene {
            lattice: &self.lattice,
            attachment: &self.attachment,
            is_held: &self.is_held,
            masses: &self.masses,
            gravity: self.params.gravity,
            contact_stiffness: self.contact_stiffness,
            skin_pull: if self.params.mode == Mode::Predicted { &self.skin_pull } else { &[] },
        }
    }

    /// Mass of a cell.
    pub fn cell_mass(&self, cell: usize) -> f64 {
        cell_mass(&self.lattice, &self.materials, cell)
    }

    pub fn check_state(&self, state: &FleshState) -> Result<(), FleshError> {
        let n = self.lattice.n_nodes();
        let lists = [("positions", &state.positions), ("velocities", &state.velocities)];
        for (what, list) in lists {
            if list.len() != n {
                return Err(FleshError::Length { what, expected: n, actual: list.len() });
            }
            if let Some(index) = list.iter().position(|p| !p.is_finite()) {
                return Err(FleshError::NonFinite { what: "position or velocity of node", index });
            }
        }
        let (expected, actual) = (self.lattice.n_cells(), state.rotations.len());
        let fits = expected == actual;
        if fits { Ok(()) } else { Err(FleshError::Length { what: "rotations", expected, actual }) }
    }

    /// Iterations after which factorising costs less; grows with the lattice, since factors fill up.
    pub fn iteration_limit(&self) -> usize {
        self.params.switch_after.unwrap_or(150 + self.lattice.n_nodes() / 20)
    }

    /// Whether it deforms relative to its skin.
    pub fn is_relative(&self, input: &StepInput) -> bool {
        self.params.mode == Mode::Predicted && input.skinned.len() == self.lattice.n_nodes()
    }

    /// Whether frames are those of the cells, so that what is stretched resists being turned out of them.
    pub fn resists_turning(&self, input: &StepInput) -> bool {
        self.params.mode == Mode::Predicted && self.polar_steps(input) > 0
    }

    /// Steps of polar decomposition by which frames follow cells.
    pub fn polar_steps(&self, input: &StepInput) -> usize {
        if input.fixed_frames { 0 } else { self.params.polar_steps }
    }

    /// Cells turned as the mode has it.
    pub fn turn(&self, deformations: &[DMat3], input: &StepInput, rotations: &mut [DQuat]) {
        match self.params.mode {
            Mode::Linear => rotations.fill(DQuat::IDENTITY),
            Mode::Quasi => {
                let mut whole = [rotations.first().copied().unwrap_or_default()];
                let sum = deformations.iter().zip(self.lattice.inside()).map(|(f, share)| *f * *share);
                fit_rotations(&[sum.fold(DMat3::ZERO, |sum, f| sum + f)], &mut whole, 8);
                rotations.fill(whole[0].normalize());
            }
            _ => {
                let polar_steps = self.polar_steps(input);
                // The better of the two guesses: as the bones turn, or as it was.
                for (at, predicted) in input.cell_rotations.iter().enumerate() {
                    let fit = |q: &DQuat| trace_of_product(&DMat3::from_quat(*q), &deformations[at]);
                    if polar_steps == 0 || fit(predicted) >= fit(&rotations[at]) {
                        rotations[at] = *predicted;
                    }
                }
                fit_rotations(deformations, rotations, polar_steps);
                if self.resists_turning(input) {
                    for (f, q) in deformations.chunks(1).zip(rotations.chunks_mut(1)) {
                        if is_stretched(&f[0], &DMat3::from_quat(q[0])) {
                            fit_rotations(f, q, STRETCHED_STEPS);
                        }
                    }
                }
            }
        }
    }
}

/// Mass of a cell.
fn cell_mass(lattice: &Lattice, materials: &[Material], cell: usize) -> f64 {
    let points = crate::element::gauss_gradients(&lattice.corners(cell));
    let volume: f64 = points.iter().map(|(_, volume)| volume).sum();
    volume * lattice.inside()[cell] * materials[cell].density
}

/// Mass of every node: an eighth of each of its cells.
fn masses(lattice: &Lattice, materials: &[Material]) -> Vec<f64> {
    let mut masses = vec![0.0; lattice.n_nodes()];
    for (cell, corners) in lattice.cells().iter().enumerate() {
        let mass = cell_mass(lattice, materials, cell);
        corners.iter().for_each(|&node| masses[node as usize] += mass / 8.0);
    }
    masses
}
