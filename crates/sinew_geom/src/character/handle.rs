//! Painted regions of a surface, and the moves a user makes with them.

use crate::Mesh;
use glam::DVec3;

/// A region of the surface that is moved as one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Handle {
    /// Unique name.
    pub name: String,
    /// Vertices that belong to it, in increasing order.
    pub vertices: Vec<u32>,
    /// Weight of each of `vertices`, 0..=1.
    pub weights: Vec<f32>,
    /// Centre of rotation.
    pub center: DVec3,
    /// Names of handles that move along by default.
    pub secondary: Vec<String>,
}

/// One step of a pose: the user's action rather than its result, so that it can be replayed on another body with
/// the same handles.
#[derive(Debug, Clone, PartialEq)]
pub enum Move {
    /// Turn handles about the main handle's centre.
    Rotate {
        /// The handle whose centre and frame are used.
        main: String,
        /// Handles that turn; empty for the main handle and its secondary ones.
        handles: Vec<String>,
        /// Axis in model space at rest; it is carried along by the main handle.
        axis: DVec3,
        /// Angle; more than one turn is allowed, and the surface between winds up accordingly.
        radians: f64,
    },
    /// Shift handles.
    Translate {
        /// Handles that are shifted.
        handles: Vec<String>,
        /// By how much, in model space.
        vector: DVec3,
    },
    /// Turn handles about an axis along a limb, spreading the turn over other handles of the limb.
    Twist {
        /// Handles that turn by the whole angle, about the centre of the first.
        handles: Vec<String>,
        /// Axis in model space at rest; it is carried along by the first handle.
        axis: DVec3,
        /// Angle of the far end.
        radians: f64,
        /// Handles that turn more the nearer they are to the first of `handles`.
        over: Vec<String>,
    },
}

/// Vertices of handles next to surface that belongs to none. `is_soft` says for each vertex whether it
/// belongs to none.
pub fn find_borders(mesh: &Mesh, is_soft: &[bool]) -> Vec<bool> {
    let mut on_border = vec![false; mesh.n_vertices()];
    for face in mesh.faces().iter().filter(|face| face.iter().any(|&v| is_soft[v as usize])) {
        face.iter().for_each(|&v| on_border[v as usize] = !is_soft[v as usize]);
    }
    on_border
}

/// Default centre of rotation of a handle: the centre of its border ([`find_borders`]), else its
/// own.
pub fn compute_default_center(mesh: &Mesh, vertices: &[u32], on_border: &[bool]) -> DVec3 {
    let center = |chosen: &mut dyn Iterator<Item = &u32>| {
        let (sum, count) =
            chosen.fold((DVec3::ZERO, 0), |(sum, count), &v| (sum + mesh.positions()[v as usize], count + 1));
        (count > 0).then(|| sum / f64::from(count))
    };
    center(&mut vertices.iter().filter(|&&v| on_border[v as usize]))
        .or_else(|| center(&mut vertices.iter()))
        .unwrap_or_default()
}
