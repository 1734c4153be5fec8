//! Template guides: a few numbers that place a template on a character.
//!
//! # Source
//! Capell (2004), §6.4.2: bone guides (slide, orbit, spin), skin guides (depth, spin), free guides.
//! # Limits
//! Guides are defined at rest; the forces are rotated with the pose afterwards (§6.2).

use crate::contact::closest_on_segment;
use glam::{DMat3, DVec3};
use sinew_geom::{Mesh, measure};

/// How a template is placed.
#[derive(Debug, Clone, PartialEq)]
pub enum Guide {
    /// Along a bone: *slide* from its first end (0) to its second (1), *orbit* away from it, *spin* around it.
    Bone {
        /// Joint at its first end, for people.
        joint: String,
        /// Where it lies at rest.
        ends: [DVec3; 2],
    },
    /// On the skin: *depth* along the outward normal (inwards is negative), *spin* around it.
    Skin {
        /// Where the skin was picked, at rest.
        point: DVec3,
        /// Outward normal there.
        normal: DVec3,
    },
    /// Anywhere: a place and three angles about x, y and z.
    Free,
}

/// Where a template is, and how that changes with each parameter of its guide.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Its origin.
    pub center: DVec3,
    /// Its axes.
    pub axes: DMat3,
    /// Velocity of the origin and angular velocity of the axes for each parameter.
    pub moves: Vec<[DVec3; 2]>,
}

impl Guide {
    /// On the skin, at a vertex; `None` if no face gives it a normal.
    pub fn at_vertex(mesh: &Mesh, vertex: usize) -> Option<Self> {
        let side = if measure::compute_volume(mesh) < 0.0 { -1.0 } else { 1.0 };
        let normals = measure::compute_vertex_normals(mesh.positions(), mesh.faces());
        let normal = normals.get(vertex)?.try_normalize()? * side;
        Some(Self::Skin { point: mesh.positions()[vertex], normal })
    }

    /// Along the bone nearest to a ray, with the *slide* at which it is nearest. `bones`: joint and ends at rest.
    pub fn near_ray(bones: &[(String, [DVec3; 2])], origin: DVec3, direction: DVec3) -> Option<(Self, f64)> {
        let way = direction.try_normalize()?;
        let flat = |p: DVec3| p - way * (p - origin).dot(way);
        let measured = bones.iter().map(|(joint, ends)| {
            let [a, b] = ends.map(flat);
            let near = closest_on_segment(a, b, flat(origin));
            let length = a.distance(b);
            let slide = if length > 0.0 { near.distance(a) / length } else { 0.0 };
            (near.distance(flat(origin)), joint, *ends, slide)
        });
        let (_, joint, ends, slide) = measured.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((Self::Bone { joint: joint.clone(), ends }, slide))
    }

    /// Name in commands and files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Bone { .. } => "bone",
            Self::Skin { .. } => "skin",
            Self::Free => "free",
        }
    }

    /// Names of its parameters. Lengths are metres, *slide* is a share, angles are radians.
    pub fn parameters(&self) -> &'static [&'static str] {
        match self {
            Self::Bone { .. } => &["slide", "orbit", "spin"],
            Self::Skin { .. } => &["depth", "spin"],
            Self::Free => &["x", "y", "z", "rx", "ry", "rz"],
        }
    }

    /// Where its parameters place the template.
    pub fn frame(&self, params: &[f64]) -> Frame {
        match self {
            Self::Bone { ends: [a, b], .. } => {
                let along = *b - *a;
                let axis = along.try_normalize().unwrap_or(DVec3::X);
                let side = spun(axis, axis.any_orthonormal_vector(), params[2]);
                let center = *a + along * params[0] + side * params[1];
                let turned = axis.cross(side);
                let moves = vec![[along, DVec3::ZERO], [side, DVec3::ZERO], [turned * params[1], axis]];
                Frame { center, axes: DMat3::from_cols(axis, side, turned), moves }
            }
            Self::Skin { point, normal } => {
                let side = spun(*normal, normal.any_orthonormal_vector(), params[1]);
                let axes = DMat3::from_cols(side, *normal, side.cross(*normal));
                let moves = vec![[*normal, DVec3::ZERO], [DVec3::ZERO, *normal]];
                Frame { center: *point + *normal * params[0], axes, moves }
            }
            Self::Free => {
                let turn = [
                    DMat3::from_rotation_x(params[3]),
                    DMat3::from_rotation_y(params[4]),
                    DMat3::from_rotation_z(params[5]),
                ];
                let mut moves: Vec<[DVec3; 2]> = DVec3::AXES.map(|axis| [axis, DVec3::ZERO]).to_vec();
                let spins = [DVec3::X, turn[0] * DVec3::Y, turn[0] * turn[1] * DVec3::Z];
                moves.extend(spins.map(|axis| [DVec3::ZERO, axis]));
                let center = DVec3::new(params[0], params[1], params[2]);
                Frame { center, axes: turn[0] * turn[1] * turn[2], moves }
            }
        }
    }
}

/// A vector across an axis, turned about it.
fn spun(axis: DVec3, side: DVec3, angle: f64) -> DVec3 {
    side * angle.cos() + axis.cross(side) * angle.sin()
}
