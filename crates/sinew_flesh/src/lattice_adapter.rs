//! Cells that are halved and joined while a character moves on its bones.
//!
//! # Source
//! As `adaptive` (after Capell (2004), §4.7), with bones instead of clamps: where cells change, bones and weights are
//! recomputed in them, and the motion is carried over.
//! # Cost
//! step: only a check of the strains every few steps. A change of cells recomputes bones and weights in them, some
//! tenths of a second for a thousand cells; this is why the strains are checked less often than those of clamped
//! bodies.

use crate::{
    AdaptiveParams, Body, FleshError, OctreeParams, Simulation, SimulationParams,
    adaptive::Sizes,
    lattice::{Fine, near_joints},
};
use glam::DVec3;
use sinew_geom::Character;

/// The cells of a character, as they change.
#[derive(Debug)]
pub(crate) struct LatticeAdapter {
    character: Character,
    params: SimulationParams,
    adaptive: AdaptiveParams,
    fine: Fine,
    /// How often each finest cell may be doubled.
    limits: Vec<u8>,
    levels: Vec<u8>,
    cell_of: Vec<u32>,
    steps: usize,
    pub changes: usize,
}

impl LatticeAdapter {
    /// Cells as large as they may be, of which the finest are those of `params.lattice`.
    ///
    /// # Errors
    /// As for lattices; thresholds that are not ordered.
    pub fn new(
        character: &Character,
        params: &SimulationParams,
        adaptive: &AdaptiveParams,
    ) -> Result<(Self, Body), FleshError> {
        adaptive.check()?;
        let mesh = &character.mesh;
        let slots = character.skin.iter().flat_map(|skin| &skin.slots);
        let joints: Vec<DVec3> = slots.map(|slot| slot.inverse_bind.inverse().translation).collect();
        let most = adaptive.thresholds.len();
        let near = near_joints(mesh, &joints);
        let octree = OctreeParams { levels: most, across: adaptive.across, near };
        let (fine, limits) = Fine::with_limits(mesh, &params.lattice, &octree)?;
        let levels = fine.balance(&limits, most);
        let (_, cell_of) = fine.lattice(&levels);
        let body = fine.body(mesh, &levels);
        let (params, adaptive) = (params.clone(), adaptive.clone());
        let character = Character { clips: Vec::new(), ..character.clone() };
        let (steps, changes) = (0, 0);
        Ok((Self { character, params, adaptive, fine, limits, levels, cell_of, steps, changes }, body))
    }

    /// After a step: change cells where that is asked for.
    ///
    /// # Errors
    /// As for simulations.
    pub fn follow(&mut self, simulation: &mut Simulation) -> Result<(), FleshError> {
        self.steps += 1;
        if !self.steps.is_multiple_of(self.adaptive.every.max(1)) {
            return Ok(());
        }
        let now = Sizes { fine: &self.fine, levels: &self.levels, cell_of: &self.cell_of };
        let old = &simulation.body.lattice;
        let levels = now.wanted(old, &simulation.state, &self.limits, &self.adaptive);
        if levels == self.levels {
            return Ok(());
        }
        let (_, cell_of) = self.fine.lattice(&levels);
        let body = self.fine.body(&self.character.mesh, &levels);
        let mut relative = simulation.state.clone();
        relative.positions.iter_mut().zip(&simulation.input.skinned).for_each(|(p, s)| *p -= *s);
        let state = now.carry((old, &relative), (&body.lattice, &cell_of));
        simulation.exchange(body, state, &self.character, &self.params)?;
        (self.levels, self.cell_of) = (levels, cell_of);
        self.changes += 1;
        Ok(())
    }
}
