//! Surface muscles on cells that are halved where the surface is still far from its target.
//!
//! # Source
//! Capell (2004), §6.6, algorithm 6.2: optimise the forces, activate the functions of the next level that support
//! vertices further than `ε` from the target, and repeat. Differs: cells are halved instead of functions activated,
//! which spans the same space (see `AdaptiveFlesh`).
//! # Cost
//! One body and one surface muscle per level.
//! # Limits
//! The cells belong to the muscle: a character has one adapted lattice, which all its surface muscles share.

use super::{Distances, PosedBody, SurfaceFit, SurfaceParams, fit_surface};
use crate::{
    FleshError, LatticeParams, Simulation, SimulationParams,
    lattice::{Fine, build_body},
};
use sinew_geom::{Character, Mesh, Pose, Warnings};
use std::{collections::BTreeMap, ops::ControlFlow};

/// When cells are halved.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaptParams {
    /// Halvings at most. Default 2.
    pub levels: usize,
    /// `ε`: metres from the target beyond which cells are halved. Default 0.1 % of the diagonal.
    pub within: Option<f64>,
    /// How each round matches the surface.
    pub surface: SurfaceParams,
}

impl Default for AdaptParams {
    fn default() -> Self {
        Self { levels: 2, within: None, surface: SurfaceParams::default() }
    }
}

/// One level of alg. 6.2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AdaptRound {
    /// Cells there were.
    pub cells: usize,
    /// Degrees of freedom.
    pub dof: usize,
    /// How far the surface was without and with the muscle.
    pub distances: [Distances; 2],
}

/// A surface muscle and the cells it lives on.
#[derive(Debug)]
pub struct AdaptiveFit {
    /// The muscle on the last cells.
    pub fit: SurfaceFit,
    /// The body, in the shape the muscle gives it.
    pub posed: PosedBody,
    /// Doublings of each finest cell: what [`crate::LatticeSource::Levels`] makes the same cells of.
    pub levels: Vec<u8>,
    /// What was reached level by level.
    pub rounds: Vec<AdaptRound>,
}

/// Find the forces that give a character in a pose the shape of a target, on cells as fine as that needs.
///
/// # Errors
/// As those of bodies and of [`fit_surface`].
pub fn fit_adaptive(
    character: &Character,
    (params, pose): (&SimulationParams, &Pose),
    target: &Mesh,
    adapt: &AdaptParams,
    warnings: &mut Warnings,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<AdaptiveFit, FleshError> {
    if adapt.levels > 3 {
        let (name, value) = ("number of halvings", adapt.levels as f64);
        return Err(FleshError::Parameter { name, value, expected: "it must be at most 3" });
    }
    let mesh = &character.mesh;
    let coarse = match params.lattice.size {
        Some(size) => size,
        None => build_body(mesh, &params.lattice)?.lattice.size(),
    };
    let finest = coarse / f64::from(1u32 << adapt.levels);
    let fine = Fine::around(mesh, &LatticeParams { size: Some(finest), ..params.lattice })?;
    let within = adapt.within.unwrap_or(1e-3 * mesh.diagonal());
    let mut wanted = vec![adapt.levels as u8; fine.len()];
    let mut rounds = Vec::new();
    loop {
        let levels = fine.balance(&wanted, adapt.levels);
        let body = fine.body(mesh, &levels);
        let mut posed = PosedBody::from_simulation(Simulation::in_body(
            body,
            character,
            params,
            &mut Warnings::default(),
        )?)?;
        posed.set_pose(pose)?;
        let last = rounds.len() == adapt.levels;
        let mut ignored = Warnings::default();
        let kept = if last { &mut *warnings } else { &mut ignored };
        let fit = fit_surface(&mut posed, mesh, target, &adapt.surface, kept)?;
        let lattice = &posed.body().lattice;
        rounds.push(AdaptRound {
            cells: lattice.n_cells(),
            dof: 3 * (lattice.n_nodes() - lattice.ties().nodes().len() - posed.n_held()),
            distances: [fit.before, fit.after],
        });
        let share = rounds.len() as f64 / (adapt.levels + 1) as f64;
        let level = adapt.levels - rounds.len().min(adapt.levels);
        let far = (0..fit.distances.len()).filter(|&v| fit.distances[v] > within);
        let n_halved = if last { 0 } else { halve(&fine, mesh, far, level, &mut wanted) };
        if n_halved == 0 || progress(share).is_break() {
            return Ok(AdaptiveFit { fit, posed, levels, rounds });
        }
    }
}

/// Let no cell around some vertices be larger than a level; returns how many finest cells that concerns.
fn halve(
    fine: &Fine,
    mesh: &Mesh,
    vertices: impl Iterator<Item = usize>,
    level: usize,
    wanted: &mut [u8],
) -> usize {
    let origin = fine.middle(0);
    let place = |p: glam::DVec3| ((p - origin) / fine.size()).round().as_i64vec3().to_array();
    let mut cells: BTreeMap<[i64; 3], Vec<usize>> = BTreeMap::new();
    (0..fine.len()).for_each(|cell| cells.entry(place(fine.middle(cell))).or_default().push(cell));
    // Functions of a level reach one of its cells to each side.
    let reach = 1i64 << level;
    let mut n = 0;
    for vertex in vertices {
        let [x, y, z] = place(mesh.positions()[vertex]);
        for k in 0..(2 * reach + 1).pow(3) {
            let side = 2 * reach + 1;
            let at = [x - reach + k % side, y - reach + k / side % side, z - reach + k / side / side];
            for &cell in cells.get(&at).into_iter().flatten() {
                if wanted[cell] as usize > level {
                    wanted[cell] = level as u8;
                    n += 1;
                }
            }
        }
    }
    n
}
