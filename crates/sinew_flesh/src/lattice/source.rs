//! Where the cells of a body come from.

use super::{
    Body, ControlLattice, Fine, LatticeParams, OctreeParams, build_body, build_made_body, build_octree_body,
};
use crate::FleshError;
use glam::DVec3;
use sinew_geom::{Mesh, query::SurfaceTree};

/// How a body gets its cells.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum LatticeSource {
    /// Cubes of one size.
    #[default]
    Cubes,
    /// Cubes of several sizes, small around joints and in thin limbs: doublings of the smallest at most.
    Octree(usize),
    /// Cubes of several sizes as they were laid out before: doublings of each of the smallest, whose side is given.
    Levels(Vec<u8>),
    /// A lattice made by hand.
    Made(Box<ControlLattice>),
}

/// Cells are small around a joint within this share of its depth.
const AROUND_JOINTS: f64 = 0.6;

impl LatticeSource {
    /// A body of these cells. `joints` are places to keep fine, if cells have several sizes.
    ///
    /// # Errors
    /// As for the lattices.
    pub fn build(&self, mesh: &Mesh, params: &LatticeParams, joints: &[DVec3]) -> Result<Body, FleshError> {
        match self {
            Self::Cubes => build_body(mesh, params),
            Self::Made(control) => build_made_body(mesh, control),
            Self::Levels(levels) => {
                let fine = Fine::around(mesh, params)?;
                let (expected, actual) = (fine.len(), levels.len());
                if expected != actual {
                    return Err(FleshError::Length { what: "levels of cells", expected, actual });
                }
                let most = levels.iter().copied().max().unwrap_or(0).into();
                Ok(fine.body(mesh, &fine.balance(levels, most)))
            }
            Self::Octree(levels) => {
                let octree = OctreeParams {
                    levels: *levels,
                    near: near_joints(mesh, joints),
                    ..OctreeParams::default()
                };
                build_octree_body(mesh, params, &octree)
            }
        }
    }
}

/// Joints inside, with the radius that is kept fine.
pub fn near_joints(mesh: &Mesh, joints: &[DVec3]) -> Vec<(DVec3, f64)> {
    let tree = SurfaceTree::new(mesh);
    let inside = joints.iter().filter(|p| tree.winding_number_roughly(**p).abs() > 0.5);
    inside.filter_map(|&p| Some((p, AROUND_JOINTS * tree.closest_point(p)?.distance))).collect()
}
