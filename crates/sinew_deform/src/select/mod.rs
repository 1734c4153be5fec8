//! Choosing vertices, as a user paints handles: boxes on the screen, floods, brushes, rings, mirrors.
//!
//! # Source
//! Hansen (2006), §8.3.3. Differs: floods run over faces, so that a box smaller than a face still finds its surface; a
//! box whose centre misses the surface begins at the nearest visible face; brushes measure distance over the surface.
//! # Cost
//! new: one hierarchy of boxes, `O(n log n)`. Each selection is linear at most; a brush costs what it covers, plus
//! clearing `n` numbers.

mod brush;
mod flood;
mod mirror;
mod rings;
mod sculpt;
#[cfg(test)]
mod tests;
mod view;

pub use mirror::{Mirrored, Plane};
pub use rings::{add, remove};
pub use sculpt::{SculptBrush, SculptOp};
pub use view::{Ray, ScreenBox, View};

use crate::geodesic::Steps;
use sinew_geom::{
    Mesh,
    measure::compute_vertex_normals,
    mesh::Adjacency,
    query::{RayHit, SurfaceTree},
};

/// Whether a flood stops where the surface turns away from the viewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Flood {
    /// Only what faces the viewer.
    #[default]
    Facing,
    /// All around: a limb with its far side, but not the surface behind it.
    Around,
}

/// Data shared by all selections on one mesh. Selections are vertices in increasing order, each once.
#[derive(Debug, Clone)]
pub struct Selector<'a> {
    mesh: &'a Mesh,
    adjacency: Adjacency,
    tree: SurfaceTree,
    steps: Steps,
    normals: Vec<glam::DVec3>,
}

impl<'a> Selector<'a> {
    /// Prepare a mesh.
    pub fn new(mesh: &'a Mesh) -> Self {
        let adjacency = Adjacency::new(mesh);
        let steps = Steps::new(mesh, &adjacency);
        let normals = compute_vertex_normals(mesh.positions(), mesh.faces());
        Self { mesh, adjacency, tree: SurfaceTree::new(mesh), steps, normals }
    }

    /// The mesh it selects on.
    pub fn mesh(&self) -> &Mesh {
        self.mesh
    }

    /// The first place of the surface seen through a point of the screen.
    pub fn pick(&self, view: &View, at: glam::DVec2) -> Option<RayHit> {
        let ray = view.ray(self.mesh, at)?;
        self.tree.first_hit(ray.origin, ray.direction)
    }

    /// All vertices within a box on the screen, visible or not. Vertices behind the viewer are not in it.
    pub fn in_box(&self, view: &View, screen: &ScreenBox) -> Vec<u32> {
        let inside = |p| view.project(p).is_some_and(|at| screen.contains(at));
        let positions = self.mesh.positions().iter().enumerate();
        positions.filter(|(_, p)| inside(**p)).map(|(v, _)| v as u32).collect()
    }
}

/// Vertices marked true.
fn marked(marks: &[bool]) -> Vec<u32> {
    (0..marks.len() as u32).filter(|&v| marks[v as usize]).collect()
}
