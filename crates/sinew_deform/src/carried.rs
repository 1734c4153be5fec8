//! Parts that touch no handle: eyes, buttons, teeth. Each moves rigidly with the surface beside it.
//!
//! # Source
//! The rigid motion nearest to that of points beside the part (Horn, *Closed-form solution of absolute orientation using unit
//! quaternions*, 1987), each with the rotation of its face, so that a single point is enough.
//! # Symbols
//! `p`, `q` points beside the part at rest and posed; `R_f` rotations of their faces; `S = Σ w (q − q̄)(p − p̄)ᵀ + λ w R_f`

use glam::{DMat3, DQuat, DVec3};
use sinew_geom::{Mesh, linalg::fit_rotations, query::SurfaceTree};

/// Vertices of a part whose surroundings are looked up at most.
const MAX_CONTACTS: usize = 64;
/// Contacts farther than the nearest by more than this share of the part's size count little.
const CONTACT_REACH: f64 = 0.1;
/// `√λ` in sizes of the part.
const FACE_SHARE: f64 = 0.1;
/// Rounds of fitting a rotation that is not near its start.
const MAX_ROTATION_ROUNDS: usize = 40;

/// A part, and where it touches the surface.
#[derive(Debug, Clone)]
pub(crate) struct CarriedPart {
    pub vertices: Vec<u32>,
    contacts: Vec<Contact>,
    size: f64,
}

#[derive(Debug, Clone)]
struct Contact {
    corners: [u32; 3],
    barycentric: [f64; 3],
    weight: f64,
}

impl CarriedPart {
    /// Find what a part touches among the faces of a tree, whose corners `corners` names.
    pub fn new(vertices: Vec<u32>, mesh: &Mesh, tree: &SurfaceTree, corners: &[[u32; 3]]) -> Option<Self> {
        let points: Vec<DVec3> = vertices.iter().map(|&v| mesh.positions()[v as usize]).collect();
        let [low, high] = sinew_geom::mesh::bounds(&points);
        let every = points.len().div_ceil(MAX_CONTACTS);
        let hits: Vec<_> = points.iter().step_by(every).filter_map(|&p| tree.closest_point(p)).collect();
        let nearest = hits.iter().map(|hit| hit.distance).fold(f64::INFINITY, f64::min);
        let size = low.distance(high).max(nearest);
        let contact = |hit: &sinew_geom::query::SurfacePoint| {
            let off = (hit.distance - nearest) / (CONTACT_REACH * size).max(f64::MIN_POSITIVE);
            Contact {
                corners: corners[hit.face as usize],
                barycentric: hit.barycentric,
                weight: (1.0 + off * off).powi(-2),
            }
        };
        let contacts: Vec<Contact> = hits.iter().map(contact).collect();
        (!contacts.is_empty()).then_some(Self { vertices, contacts, size })
    }

    /// Rotation and translation of the part for posed vertices of the surface.
    pub fn motion(&self, rest: &[DVec3], posed: &[DVec3]) -> (DQuat, DVec3) {
        let at = |contact: &Contact, x: &[DVec3]| -> DVec3 {
            contact.corners.iter().zip(contact.barycentric).map(|(&v, w)| x[v as usize] * w).sum()
        };
        let total: f64 = self.contacts.iter().map(|c| c.weight).sum();
        let mean = |x: &[DVec3]| self.contacts.iter().map(|c| at(c, x) * c.weight).sum::<DVec3>() / total;
        let (from, to) = (mean(rest), mean(posed));
        let lambda = (FACE_SHARE * self.size).powi(2);
        let mut sum = DMat3::ZERO;
        let (mut start, mut heaviest) = (DQuat::IDENTITY, 0.0);
        for contact in &self.contacts {
            let (p, q) = (at(contact, rest) - from, (at(contact, posed) - to) * contact.weight);
            sum += DMat3::from_cols(q * p.x, q * p.y, q * p.z);
            if let (Some(before), Some(after)) = (frame(contact, rest), frame(contact, posed)) {
                let turn = after * before.transpose();
                sum += turn * (lambda * contact.weight);
                if contact.weight > heaviest {
                    (start, heaviest) = (DQuat::from_mat3(&turn), contact.weight);
                }
            }
        }
        let mut rotation = [start];
        fit_rotations(&[sum], &mut rotation, MAX_ROTATION_ROUNDS);
        (rotation[0], to - rotation[0] * from)
    }

    /// Vertices of what it touches.
    pub fn touched(&self) -> impl Iterator<Item = u32> + '_ {
        let pairs = self.contacts.iter().flat_map(|c| c.corners.into_iter().zip(c.barycentric));
        pairs.filter(|(_, share)| *share > 1e-6).map(|(v, _)| v)
    }
}

/// An orthonormal frame of a face, if it has an area.
fn frame(contact: &Contact, x: &[DVec3]) -> Option<DMat3> {
    let [a, b, c] = contact.corners.map(|v| x[v as usize]);
    let along = (b - a).try_normalize()?;
    let normal = (b - a).cross(c - a).try_normalize()?;
    Some(DMat3::from_cols(along, normal.cross(along), normal))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_beside_a_surface_moves_as_the_surface_does() {
        let corner = |k: u32| DVec3::new(f64::from(k % 3), f64::from(k / 3), 0.0);
        let mut points: Vec<DVec3> = (0..9).map(corner).collect();
        let faces: Vec<[u32; 3]> =
            [0, 1, 3, 4].iter().flat_map(|&k| [[k, k + 1, k + 4], [k, k + 4, k + 3]]).collect();
        let tree = SurfaceTree::new(&Mesh::new(points.clone(), faces.clone()).unwrap());
        let turn = DQuat::from_scaled_axis(DVec3::new(0.4, -2.0, 1.0));
        for part in
            [vec![DVec3::new(1.2, 1.3, 0.2)], vec![DVec3::new(0.2, 0.2, 0.1), DVec3::new(1.7, 0.4, 0.1)]]
        {
            points.truncate(9);
            let vertices = (9..9 + part.len() as u32).collect();
            points.extend(&part);
            let mesh = Mesh::new(points.clone(), faces.clone()).unwrap();
            let carried = CarriedPart::new(vertices, &mesh, &tree, &faces).unwrap();
            let posed: Vec<DVec3> = points.iter().map(|p| turn * *p + DVec3::X).collect();
            let (rotation, shift) = carried.motion(&points, &posed);
            for p in &part {
                assert!((rotation * *p + shift).distance(turn * *p + DVec3::X) < 1e-9);
            }
        }
    }
}
