//! What a simulated character is made of, and how it is simulated.

use crate::{
    Body, BoneParams, FleshError, FleshParams, LatticeParams, LatticeSource, Material, Obstacle, Pin,
    Skeleton, paint::cell_factors,
};
use glam::DVec3;
use sinew_geom::{Rig, Skin};

/// How a character is filled with flesh and simulated, whether live or baked.
#[derive(Debug, Clone, PartialEq)]
pub struct SimulationParams {
    /// Resolution of the lattice.
    pub lattice: LatticeParams,
    /// Where its cells come from. Default cubes of one size.
    pub source: LatticeSource,
    /// Whether the surface is smoothed between cells. Default false.
    pub smooth: bool,
    /// What the flesh is made of.
    pub material: Material,
    /// Whether the material is stiffened where clips would bend it too far, see [`crate::Simulation::limit_stiffness`].
    /// Default false.
    pub safe_stiffness: bool,
    /// How many times as soft as that it is: 1 is safe on every body, 4 is jelly. Only with `safe_stiffness`. Default 1.
    pub softness: f64,
    /// Joints around which it is stiffer or softer, with factors.
    pub stiffer: Vec<(usize, f64)>,
    /// Painted factor of the stiffness per vertex, see [`crate::cell_factors`]; empty if nothing is painted.
    pub paint: Vec<f32>,
    /// How it is attached to bones.
    pub bones: BoneParams,
    /// How it is simulated.
    pub flesh: FleshParams,
    /// Obstacles.
    pub obstacles: Vec<Obstacle>,
    /// Vertices that are held exactly, and where. Muscles with belts replace them.
    pub pins: Vec<(u32, DVec3)>,
}

impl Default for SimulationParams {
    fn default() -> Self {
        Self {
            lattice: LatticeParams::default(),
            source: LatticeSource::default(),
            smooth: false,
            material: Material::default(),
            safe_stiffness: false,
            softness: 1.0,
            stiffer: Vec::new(),
            paint: Vec::new(),
            bones: BoneParams::default(),
            flesh: FleshParams::default(),
            obstacles: Vec::new(),
            pins: Vec::new(),
        }
    }
}

/// Points of vertices that are held exactly.
pub(crate) fn build_pins(body: &Body, wanted: &[(u32, DVec3)]) -> Result<Vec<Pin>, FleshError> {
    let pin = |&(vertex, target): &(u32, DVec3)| {
        let (what, index, len) = ("vertex of a pin", vertex as usize, body.embedding.len());
        if index >= len {
            return Err(FleshError::OutOfLattice { what, index, len });
        }
        Ok(Pin { point: body.point(index), target })
    };
    wanted.iter().map(pin).collect()
}

/// Material of each cell: the common one, changed by paint and by joints.
pub(crate) fn compute_materials(
    body: &Body,
    rigged: Option<&(Rig, Skin, Skeleton)>,
    params: &SimulationParams,
) -> Result<Vec<Material>, FleshError> {
    let mut materials = vec![params.material; body.lattice.n_cells()];
    if !params.paint.is_empty() {
        let factors = cell_factors(body, &params.paint)?;
        materials.iter_mut().zip(factors).for_each(|(material, by)| *material = material.stiffened(by));
    }
    if let Some((_, skin, skeleton)) = rigged {
        stiffen(&mut materials, skin, skeleton, &params.stiffer);
    }
    materials.iter().try_for_each(Material::check)?;
    Ok(materials)
}

/// Change the stiffness around joints, in proportion to their weight there.
fn stiffen(materials: &mut [Material], skin: &Skin, skeleton: &Skeleton, factors: &[(usize, f64)]) {
    if factors.is_empty() {
        return;
    }
    for (cell, material) in materials.iter_mut().enumerate() {
        let mut log = 0.0;
        for (slot, bound) in skin.slots.iter().enumerate() {
            for (_, factor) in factors.iter().filter(|(joint, _)| *joint == bound.joint) {
                log += skeleton.cell_weight(cell, slot) * factor.ln();
            }
        }
        *material = material.stiffened(log.exp());
    }
}
