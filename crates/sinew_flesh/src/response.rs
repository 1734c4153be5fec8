//! How a deformed body responds: elastic energy, forces, tangent stiffness, deformation gradients.
//!
//! # Limits
//! Contributions of cells are computed in parallel and summed in order, so that the number of threads changes no bit.

use crate::{
    FleshState, Mode, StepInput,
    body::ElasticBody,
    element::{
        CellResponse, Definite, ElementKind, Energy, Integrals, MeanCell, cell_response, exact_gradients,
        gauss_gradients, mean_response, twist, twist_matrix,
    },
    skin_frames::SkinFrames,
    system::{BlockMatrix, Nodes, rotation_matrices},
};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::dot;

/// Add `scale · Σ R K Rᵀ`.
pub(crate) fn add_stiffness(body: &ElasticBody, rotations: &[DMat3], scale: f64, blocks: &mut BlockMatrix) {
    for cell in 0..body.lattice.n_cells() {
        let (matrix, factor) = body.stiffness.of(cell);
        blocks.add_cell(cell, matrix, Some(&rotations[cell]), scale * factor);
    }
}

/// Energy and its gradient by corners of a cell with linear strain in its own frame.
fn turned_cell(
    body: &ElasticBody,
    cell: usize,
    (at, r, rest): (&[DVec3; 8], &DMat3, &[DVec3; 8]),
) -> (f64, [DVec3; 8]) {
    let (matrix, factor) = body.stiffness.of(cell);
    let u: [DVec3; 8] = std::array::from_fn(|c| r.transpose() * (at[c] - at[0]) - (rest[c] - rest[0]));
    let flat: [f64; 24] = std::array::from_fn(|i| u[i / 3][i % 3]);
    let force: [f64; 24] = std::array::from_fn(|i| factor * dot(&matrix[i], &flat));
    let energy = 0.5 * dot(&force, &flat);
    (energy, std::array::from_fn(|c| *r * DVec3::new(force[3 * c], force[3 * c + 1], force[3 * c + 2])))
}

pub(crate) fn energy_of(mode: Mode) -> Option<Energy> {
    match mode {
        Mode::Stvk => Some(Energy::StVenantKirchhoff),
        Mode::NeoHookean => Some(Energy::NeoHookean),
        _ => None,
    }
}

/// Energy, gradient and tangent of every cell at some places.
pub(crate) struct Response {
    pub energy: f64,
    pub gradient: Nodes<f64>,
}

/// Where a body is: places of nodes, rotations of cells, and what cells deform from.
#[derive(Clone, Copy)]
pub(crate) struct Configuration<'a> {
    pub places: &'a [DVec3],
    pub rotations: &'a [DMat3],
    /// Corners at rest; without them, those of the lattice.
    pub rest: Option<&'a [[DVec3; 8]]>,
}

/// The shape of cells in the skinned body, turned back by their rotations.
pub(crate) struct SkinShape {
    pub frames: SkinFrames,
    pub corners: Vec<[DVec3; 8]>,
}

impl SkinShape {
    /// None if the body does not deform relative to a skin.
    pub fn new(body: &ElasticBody, input: &StepInput) -> Option<Self> {
        if !body.is_relative(input) {
            return None;
        }
        let frames = SkinFrames::new(deformations(body, &input.skinned), &input.cell_rotations);
        let cells = body.lattice.cells().iter().zip(frames.matrices());
        let corners = cells.map(|(cell, r)| {
            let origin = input.skinned[cell[0] as usize];
            cell.map(|node| r.transpose() * (input.skinned[node as usize] - origin))
        });
        Some(Self { corners: corners.collect(), frames })
    }
}

pub(crate) fn respond(body: &ElasticBody, at: &Configuration, tangent: Option<&mut BlockMatrix>) -> Response {
    let (lattice, x) = (&body.lattice, at.places);
    let configuration = at;
    let energy = energy_of(body.params.mode);
    let wanted = tangent.is_some();
    let shapes = Shapes::new(body);
    let cell = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        match energy {
            Some(energy) => {
                let done = shapes.respond(body, energy, cell, &at, wanted);
                (done.energy, done.gradient, done.tangent)
            }
            None => {
                let rest = configuration.rest.map_or_else(|| lattice.corners(cell), |rest| rest[cell]);
                let r = &configuration.rotations[cell];
                let (energy, gradient) = turned_cell(body, cell, (&at, r, &rest));
                (energy, gradient, None)
            }
        }
    };
    let cells: Vec<_> = (0..lattice.n_cells()).into_par_iter().map(cell).collect();
    let mut response = Response { energy: 0.0, gradient: vec![[0.0; 4]; x.len()] };
    let mut tangent = tangent;
    if let Some(blocks) = &mut tangent {
        blocks.clear();
    }
    // Summed in order, so that threads do not change a bit.
    for (cell, (energy, gradient, stiffness)) in cells.iter().enumerate() {
        response.energy += energy;
        for (node, g) in lattice.cells()[cell].iter().zip(gradient) {
            (0..3).for_each(|k| response.gradient[*node as usize][k] += g[k]);
        }
        if let Some(blocks) = &mut tangent {
            match stiffness {
                Some(stiffness) => blocks.add_cell(cell, stiffness, None, 1.0),
                None => {
                    let (matrix, factor) = body.stiffness.of(cell);
                    blocks.add_cell(cell, matrix, Some(&configuration.rotations[cell]), factor);
                }
            }
        }
    }
    response
}

/// Points with gradients and volumes, and their means.
type Shape = ([([DVec3; 8], f64); 8], MeanCell);

/// What nonlinear cells know of their shape at rest: once if all are alike.
struct Shapes {
    shared: Option<Shape>,
    integrals: Option<Integrals>,
}

impl Shapes {
    fn new(body: &ElasticBody) -> Self {
        let (lattice, params) = (&body.lattice, &body.params);
        let is_wanted = lattice.is_cubes() && energy_of(params.mode).is_some();
        let corners = lattice.corners(0);
        let points = gauss_gradients(&corners);
        let by_integrals = params.integrals && is_wanted && params.mode == Mode::Stvk;
        Self {
            shared: is_wanted.then(|| (points, MeanCell::new(&corners, &points))),
            integrals: (by_integrals && params.element == ElementKind::Trilinear)
                .then(|| Integrals::new(&exact_gradients(&corners))),
        }
    }

    fn respond(
        &self,
        body: &ElasticBody,
        energy: Energy,
        cell: usize,
        at: &[DVec3; 8],
        tangent: bool,
    ) -> CellResponse {
        let (material, share) = (&body.materials[cell], body.lattice.inside()[cell]);
        let own;
        let (points, mean) = match &self.shared {
            Some(shared) => shared,
            None => {
                let corners = body.lattice.corners(cell);
                let points = gauss_gradients(&corners);
                own = (points, MeanCell::new(&corners, &points));
                &own
            }
        };
        if body.params.element == ElementKind::Incompatible {
            return mean_response(energy, mean, at, (material, share), body.stiffness.of(cell), tangent);
        }
        let definite = tangent.then_some(Definite::Clamped);
        if let (Some(integrals), false) = (&self.integrals, tangent) {
            let rest = body.lattice.corners(cell);
            let q = std::array::from_fn(|c| at[c] - rest[c]);
            let (energy, gradient) = integrals.response(&q, material, share);
            return CellResponse { energy, gradient, tangent: None };
        }
        cell_response(energy, points, at, material, share, definite)
    }
}

pub(crate) fn elastic_energy(body: &ElasticBody, state: &FleshState) -> f64 {
    let rotations = rotation_matrices(&state.rotations);
    let at = Configuration { places: &state.positions, rotations: &rotations, rest: None };
    respond(body, &at, None).energy
}

/// Gradient of the elastic energy, relative to the skin if the input has one.
pub(crate) fn gradient(body: &ElasticBody, state: &FleshState, skin: Option<&SkinShape>) -> Vec<DVec3> {
    let rotations = rotation_matrices(&state.rotations);
    let rest = skin.map(|skin| skin.corners.as_slice());
    let response =
        respond(body, &Configuration { places: &state.positions, rotations: &rotations, rest }, None);
    response.gradient.iter().map(|g| DVec3::new(g[0], g[1], g[2])).collect()
}

/// Mean gradients of a cell's functions, and its volume.
fn mean_gradients(body: &ElasticBody, cell: usize) -> ([DVec3; 8], f64) {
    let points = gauss_gradients(&body.lattice.corners(cell));
    let volume: f64 = points.iter().map(|(_, v)| v).sum();
    let mean = |c: usize| points.iter().map(|(gradients, v)| gradients[c] * (v / volume)).sum();
    (std::array::from_fn(mean), volume)
}

/// Add what keeps stretched cells from being turned out of their frames.
pub(crate) fn add_twists(
    body: &ElasticBody,
    deformations: &[DMat3],
    rotations: &[DMat3],
    blocks: &mut BlockMatrix,
) {
    for (cell, (f, r)) in deformations.iter().zip(rotations).enumerate() {
        if let Some(stiffness) = twist(f, r, &body.materials[cell]) {
            let (gradients, volume) = mean_gradients(body, cell);
            let matrix = twist_matrix(&gradients, volume, &stiffness);
            blocks.add_cell(cell, &matrix, Some(r), body.lattice.inside()[cell]);
        }
    }
}

/// Deformation gradient in the middle of a cell of any shape.
pub(crate) fn deformations(body: &ElasticBody, x: &[DVec3]) -> Vec<DMat3> {
    let lattice = &body.lattice;
    let one = |cell: usize| {
        let at = lattice.cells()[cell].map(|node| x[node as usize]);
        let column = |p: &DVec3, g: &DVec3| DMat3::from_cols(*p * g.x, *p * g.y, *p * g.z);
        let (gradients, _) = mean_gradients(body, cell);
        at.iter().zip(&gradients).fold(DMat3::ZERO, |f, (p, g)| f + column(p, g))
    };
    (0..lattice.n_cells()).map(one).collect()
}
