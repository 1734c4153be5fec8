//! How normals and tangents follow a changed surface.
//!
//! # Source
//! Deformation gradients of triangles (Sumner and Popović, *Deformation Transfer for Triangle Meshes*, 2004, §3), averaged
//! by area at each vertex. Vertices at the same place share theirs, so that seams stay closed and hard edges hard.
//! # Cost
//! One pass over the faces.

use glam::{DMat3, DVec3};
use sinew_geom::Mesh;
use std::collections::HashMap;

/// The linear map of the surface at each vertex; none where nothing moved.
pub(super) struct Carry {
    group_of: Vec<u32>,
    maps: Vec<Option<DMat3>>,
}

impl Carry {
    /// Of a mesh that moved to other positions.
    pub fn new(before: &Mesh, after: &[DVec3]) -> Self {
        let mut groups: HashMap<[u64; 3], u32> = HashMap::new();
        let group_of: Vec<u32> = before
            .positions()
            .iter()
            .map(|p| {
                let next = groups.len() as u32;
                // The sum turns −0 into 0.
                *groups.entry((*p + DVec3::ZERO).to_array().map(f64::to_bits)).or_insert(next)
            })
            .collect();
        let mut sums = vec![(DMat3::ZERO, 0.0); groups.len()];
        let mut moved = vec![false; groups.len()];
        for face in before.faces() {
            let old = face.map(|v| before.positions()[v as usize]);
            let new = face.map(|v| after[v as usize]);
            let Some(map) = gradient(old, new) else { continue };
            let area = (old[1] - old[0]).cross(old[2] - old[0]).length();
            for &v in face {
                let group = group_of[v as usize] as usize;
                sums[group].0 += map * area;
                sums[group].1 += area;
                moved[group] |= old != new;
            }
        }
        let mean =
            |((sum, area), moved): ((DMat3, f64), bool)| (moved && area > 0.0).then(|| sum * (1.0 / area));
        Self { group_of, maps: sums.into_iter().zip(moved).map(mean).collect() }
    }

    /// The map at a vertex.
    pub fn at(&self, vertex: usize) -> Option<DMat3> {
        self.maps[self.group_of[vertex] as usize]
    }
}

fn gradient(old: [DVec3; 3], new: [DVec3; 3]) -> Option<DMat3> {
    let frame = |[a, b, c]: [DVec3; 3]| {
        let (x, y) = (b - a, c - a);
        let normal = x.cross(y);
        let length = normal.length();
        (length > 0.0).then(|| DMat3::from_cols(x, y, normal / length.sqrt()))
    };
    let map = frame(new)? * frame(old)?.inverse();
    map.is_finite().then_some(map)
}

/// How a linear map turns normals; zero for what has no direction.
pub(super) fn turn_normal(map: DMat3, normal: DVec3) -> DVec3 {
    let cofactor = DMat3::from_cols(
        map.y_axis.cross(map.z_axis),
        map.z_axis.cross(map.x_axis),
        map.x_axis.cross(map.y_axis),
    );
    (cofactor * normal * map.determinant().signum()).normalize_or_zero()
}

/// How a linear map turns a tangent of a surface with this normal.
pub(super) fn turn_tangent(map: DMat3, tangent: DVec3, normal: DVec3) -> DVec3 {
    let turned = map * tangent;
    (turned - normal * normal.dot(turned)).normalize_or_zero()
}
