//! A figure held in its middle and at the tip that is farthest above it.

use glam::DVec3;
use sinew::{
    flesh::Clamp,
    geom::{GeomError, Mesh},
};

/// The mesh, 1.7 m large, and both clamps.
pub fn hold_tip(mesh: &Mesh) -> Result<(Mesh, [Clamp; 2]), GeomError> {
    let [low, high] = mesh.bounds();
    let scale = 1.7 / (high - low).max_element();
    let mesh = mesh.with_positions(mesh.positions().iter().map(|p| (*p - low) * scale).collect())?;
    let [low, high] = mesh.bounds();
    let middle = (low + high) / 2.0;
    let far = |p: &&DVec3| p.distance(middle) * if p.y > middle.y { 1.0 } else { 0.0 };
    let tip = mesh.positions().iter().max_by(|a, b| far(a).total_cmp(&far(b))).copied().unwrap_or(middle);
    Ok((mesh, [Clamp { center: middle, radius: 0.2 }, Clamp { center: tip, radius: 0.12 }]))
}
