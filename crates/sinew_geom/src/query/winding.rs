//! Generalised winding number: how often a surface wraps around a point, also when it is open, overlaps itself or
//! consists of unconnected triangles.
//!
//! # Source
//! Jacobson, Kavan and Sorkine-Hornung (2013; definition); Barill et al., *Fast winding numbers for soups and clouds*
//! (2018), eqs. 12–15: far nodes are replaced by the expansion of their triangles' dipoles, up to second order. Solid
//! angle: van Oosterom and Strackee (1983).
//! # Cost
//! Logarithmic per point for a well-distributed surface.
//! # Limits
//! Off by about 1e-3 at most with the default accuracy (tested against the exact sum); points within rounding of the
//! surface get either side.

use super::tree::{Moments, SurfaceTree};
use crate::measure::area_vector;
use glam::{DMat3, DVec3};
use std::f64::consts::PI;

/// A node is far if the point is farther from its centre than this many radii. 2 is the paper's default;
/// with 2.5 the error of the expansion does not affect an inside test.
const FAR_RADII: f64 = 2.5;
/// The same for distinguishing inside from outside only: errors of a few hundredths, for a third of the cost.
const ROUGHLY_FAR_RADII: f64 = 1.6;

impl SurfaceTree {
    /// About 1 inside a closed outward-oriented surface, 0 outside, in between near holes; more where parts
    /// overlap. 0 for a point that is not finite.
    pub fn winding_number(&self, point: DVec3) -> f64 {
        self.winding_number_within(point, FAR_RADII)
    }

    /// The winding number to within a few hundredths, several times faster: enough to distinguish inside from outside.
    pub fn winding_number_roughly(&self, point: DVec3) -> f64 {
        self.winding_number_within(point, ROUGHLY_FAR_RADII)
    }

    fn winding_number_within(&self, point: DVec3, far_radii: f64) -> f64 {
        let p = point - self.center;
        if self.triangles.is_empty() || !p.is_finite() {
            return 0.0;
        }
        let mut solid_angle = 0.0;
        let mut stack = Vec::with_capacity(64);
        stack.push(0usize);
        while let Some(index) = stack.pop() {
            let (node, far) = (&self.bvh.nodes[index], &self.moments[index]);
            let first = node.first_index as usize;
            let reach = far_radii * far.radius;
            if far.center.distance_squared(p) > reach * reach {
                solid_angle += far.solid_angle(p);
            } else if node.is_leaf() {
                let faces = &self.bvh.primitive_indices[first..first + node.prim_count as usize];
                solid_angle +=
                    faces.iter().map(|&f| solid_angle_of(&self.triangles[f as usize], p)).sum::<f64>();
            } else {
                stack.extend([first + 1, first]);
            }
        }
        solid_angle / (4.0 * PI)
    }

    /// Whether a point is inside: its winding number is above one half.
    pub fn contains(&self, point: DVec3) -> bool {
        self.winding_number(point) > 0.5
    }

    /// Moments of every node, from its triangles.
    pub(super) fn compute_moments(&self) -> Vec<Moments> {
        let mut moments = vec![Moments::default(); self.bvh.nodes.len()];
        if self.triangles.is_empty() {
            return moments;
        }
        // Parents come before children; iterated backwards, children come first.
        let mut order = vec![0usize];
        let mut at = 0;
        while at < order.len() {
            let node = &self.bvh.nodes[order[at]];
            if !node.is_leaf() {
                order.extend([node.first_index as usize, node.first_index as usize + 1]);
            }
            at += 1;
        }
        let mut areas = vec![0.0; self.bvh.nodes.len()];
        for &index in order.iter().rev() {
            let node = &self.bvh.nodes[index];
            let first = node.first_index as usize;
            let (m, area) = if node.is_leaf() {
                let faces = &self.bvh.primitive_indices[first..first + node.prim_count as usize];
                self.leaf_moments(faces)
            } else {
                let pair = [first, first + 1];
                join(pair.map(|child| moments[child]), pair.map(|child| areas[child]))
            };
            moments[index] = m;
            areas[index] = area;
        }
        moments
    }

    fn leaf_moments(&self, faces: &[u32]) -> (Moments, f64) {
        let parts: Vec<(DVec3, DVec3)> = faces
            .iter()
            .map(|&f| &self.triangles[f as usize])
            .map(|t| ((t[0] + t[1] + t[2]) / 3.0, area_vector(*t)))
            .collect();
        let area: f64 = parts.iter().map(|(_, n)| n.length()).sum();
        let center = match area {
            a if a > 0.0 => parts.iter().map(|&(c, n)| c * n.length()).sum::<DVec3>() / a,
            _ => parts.first().map_or(DVec3::ZERO, |&(c, _)| c),
        };
        let corners = faces.iter().flat_map(|&f| self.triangles[f as usize]);
        let m = Moments {
            center,
            radius: corners.map(|p| p.distance(center)).fold(0.0, f64::max),
            dipole: parts.iter().map(|&(_, n)| n).sum(),
            gradient: parts.iter().map(|&(c, n)| outer(c - center, n)).fold(DMat3::ZERO, |a, b| a + b),
            second: [0, 1, 2].map(|i| {
                let spread = |&f: &u32| {
                    let t = self.triangles[f as usize];
                    area_vector(t)[i] * second_moment(t.map(|p| p - center))
                };
                faces.iter().map(spread).fold(DMat3::ZERO, |a, b| a + b)
            }),
        };
        (m, area)
    }
}

impl Moments {
    /// Solid angle of the expansion, eq. 12 with the terms of eqs. 13–15.
    fn solid_angle(&self, p: DVec3) -> f64 {
        let d = self.center - p;
        let r2 = d.length_squared();
        let inverse_cube = 1.0 / (r2 * r2.sqrt());
        let mut curved = 0.0;
        for (i, m) in self.second.iter().enumerate() {
            let md = *m * d;
            let trace = m.x_axis.x + m.y_axis.y + m.z_axis.z;
            curved += 7.5 * d[i] * d.dot(md) / r2 - 1.5 * (2.0 * md[i] + trace * d[i]);
        }
        let trace = self.gradient.x_axis.x + self.gradient.y_axis.y + self.gradient.z_axis.z;
        let bent = d.dot(self.gradient * d);
        inverse_cube * (self.dipole.dot(d) + trace + (curved - 3.0 * bent) / r2)
    }
}

fn join(parts: [Moments; 2], areas: [f64; 2]) -> (Moments, f64) {
    let area = areas[0] + areas[1];
    let share = if area > 0.0 { areas[1] / area } else { 0.5 };
    let center = parts[0].center.lerp(parts[1].center, share);
    let mut m = Moments { center, ..Moments::default() };
    for part in parts {
        m.radius = m.radius.max(part.center.distance(center) + part.radius);
        m.dipole += part.dipole;
        let shift = part.center - center;
        m.gradient += part.gradient + outer(shift, part.dipole);
        for i in 0..3 {
            let mixed = outer(part.gradient.col(i), shift);
            m.second[i] += part.second[i] + mixed + mixed.transpose() + part.dipole[i] * outer(shift, shift);
        }
    }
    (m, area)
}

/// Mean of `x xᵀ` over a triangle.
fn second_moment(corners: [DVec3; 3]) -> DMat3 {
    let centroid = (corners[0] + corners[1] + corners[2]) / 3.0;
    let spread = corners.map(|p| outer(p - centroid, p - centroid));
    outer(centroid, centroid) + (spread[0] + spread[1] + spread[2]) * (1.0 / 12.0)
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// Signed solid angle of a triangle seen from `p`; zero in its plane's degenerate cases.
fn solid_angle_of(triangle: &[DVec3; 3], p: DVec3) -> f64 {
    let [a, b, c] = triangle.map(|q| q - p);
    let (la, lb, lc) = (a.length(), b.length(), c.length());
    let determinant = a.dot(b.cross(c));
    let denominator = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
    if determinant == 0.0 && denominator == 0.0 { 0.0 } else { 2.0 * determinant.atan2(denominator) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mesh;

    /// A sphere of latitude and longitude, oriented outward, with `keep` choosing its faces.
    fn sphere(n: usize, keep: impl Fn(DVec3) -> bool) -> Mesh {
        let at = |i: usize, j: usize| {
            let (theta, phi) = (PI * i as f64 / n as f64, 2.0 * PI * j as f64 / (2 * n) as f64);
            DVec3::new(theta.sin() * phi.cos(), theta.cos(), -theta.sin() * phi.sin())
        };
        let mut positions = Vec::new();
        let mut faces = Vec::new();
        for i in 0..n {
            for j in 0..2 * n {
                let quad = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                if keep(quad[0] + quad[2]) {
                    let v = positions.len() as u32;
                    positions.extend(quad);
                    faces.extend([[v, v + 1, v + 2], [v, v + 2, v + 3]]);
                }
            }
        }
        Mesh::new(positions, faces).unwrap()
    }

    fn exact(mesh: &Mesh, p: DVec3) -> f64 {
        (0..mesh.n_faces()).map(|f| solid_angle_of(&mesh.corners(f), p)).sum::<f64>() / (4.0 * PI)
    }

    fn probes() -> impl Iterator<Item = DVec3> {
        (0..500).map(|i| {
            let u = |k: f64| ((i as f64 * k).fract() - 0.5) * 4.0;
            DVec3::new(u(0.618_034), u(0.754_877), u(0.569_840))
        })
    }

    #[test]
    fn the_expansion_agrees_with_the_exact_sum() {
        // A soup of separate quads, whole and with a large hole.
        for keep in [|_: DVec3| true, |p: DVec3| p.y < 0.8] {
            let mesh = sphere(40, keep);
            let tree = SurfaceTree::new(&mesh);
            let errors = probes().map(|p| (tree.winding_number(p) - exact(&mesh, p)).abs());
            let worst = crate::measure::largest_error(errors);
            assert!(worst < 1e-3, "{worst}");
            let errors = probes().map(|p| (tree.winding_number_roughly(p) - exact(&mesh, p)).abs());
            let worst = crate::measure::largest_error(errors);
            assert!(worst < 0.03, "{worst}");
        }
    }

    #[test]
    fn inside_is_inside_even_with_a_hole_and_twice_when_doubled() {
        let open = SurfaceTree::new(&sphere(30, |p| p.y < 1.7));
        assert!(open.contains(DVec3::ZERO) && !open.contains(DVec3::new(1.5, 0.0, 0.0)));
        let one = sphere(30, |_| true);
        let shifted = one.positions().iter().map(|&p| p + DVec3::X * 0.5);
        let positions: Vec<_> = one.positions().iter().copied().chain(shifted).collect();
        let n = one.n_vertices() as u32;
        let faces = one.faces().iter().copied().chain(one.faces().iter().map(|f| f.map(|v| v + n))).collect();
        let both = SurfaceTree::new(&Mesh::new(positions, faces).unwrap());
        assert!((both.winding_number(DVec3::X * 0.25) - 2.0).abs() < 1e-2);
    }
}
