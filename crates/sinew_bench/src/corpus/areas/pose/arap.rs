//! As-rigid-as-possible surfaces, converged: what could have been reached. Spokes and rims (Chao et al. 2010), as libigl computes
//! surfaces by default: spokes alone have a lower energy of their own in spikes and folds.

use anyhow::anyhow;
use faer::{
    Mat, Side,
    linalg::solvers::Solve,
    sparse::{SparseColMat, Triplet},
};
use glam::{DMat3, DQuat, DVec3};

/// Relative decrease of the energy in an iteration below which it has converged.
const CONVERGED: f64 = 2e-4;
/// Largest cotangent of a face; slivers have infinite ones, of either sign.
const MAX_COTANGENT: f64 = 50.0;
/// Added to all, so that right angles hold on to something.
const LEAST_COTANGENT: f64 = 0.01;

/// Height over the longest edge below which a face is not measured: single precision makes as much of a line.
const LEAST_HEIGHT: f64 = 1e-4;

/// A surface at rest with cotangent weights.
pub struct Arap<'a> {
    rest: &'a [DVec3],
    faces: &'a [[u32; 3]],
    /// Per face half the cotangents at its corners.
    weights: Vec<[f64; 3]>,
    /// Per vertex its faces.
    around: Vec<Vec<u32>>,
}

impl<'a> Arap<'a> {
    pub fn new(rest: &'a [DVec3], faces: &'a [[u32; 3]]) -> Self {
        let weights = faces.iter().map(|face| {
            let p = face.map(|v| rest[v as usize]);
            let cotangents: [f64; 3] = std::array::from_fn(|k| {
                let (u, v) = (p[(k + 1) % 3] - p[k], p[(k + 2) % 3] - p[k]);
                u.dot(v) / u.cross(v).length()
            });
            let largest = cotangents.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
            // Scaled together, so that no energy becomes negative.
            let scale = if largest.is_finite() { (MAX_COTANGENT / largest).min(1.0) } else { 0.0 };
            let of = |c: f64| 0.5 * (if scale > 0.0 { c * scale } else { 0.0 } + LEAST_COTANGENT);
            cotangents.map(of)
        });
        let mut around = vec![Vec::new(); rest.len()];
        for (at, face) in faces.iter().enumerate() {
            face.iter().for_each(|&v| around[v as usize].push(at as u32));
        }
        Self { rest, faces, weights: weights.collect(), around }
    }

    /// Edges of a face, each opposite to the corner of the same index.
    fn edges(&self, face: u32, points: &[DVec3]) -> [DVec3; 3] {
        let [a, b, c] = self.faces[face as usize].map(|v| points[v as usize]);
        [c - b, a - c, b - a]
    }

    /// The best rotation around each vertex.
    pub fn rotations(&self, posed: &[DVec3]) -> Vec<DMat3> {
        let rotation = |faces: &Vec<u32>| {
            let mut covariance = DMat3::ZERO;
            for &f in faces {
                let (from, to, w) =
                    (self.edges(f, self.rest), self.edges(f, posed), self.weights[f as usize]);
                (0..3).for_each(|k| covariance += outer(from[k], to[k]) * w[k]);
            }
            DMat3::from_quat(best_rotation(covariance))
        };
        self.around.iter().map(rotation).collect()
    }

    fn energy(&self, posed: &[DVec3], rotations: &[DMat3]) -> f64 {
        let of_face = |f: u32| {
            let (from, to, w) = (self.edges(f, self.rest), self.edges(f, posed), self.weights[f as usize]);
            let at = |v: u32| {
                let off = |k: usize| w[k] * (to[k] - rotations[v as usize] * from[k]).length_squared();
                (0..3).map(off).sum::<f64>()
            };
            self.faces[f as usize].iter().map(|&v| at(v)).sum::<f64>()
        };
        (0..self.faces.len() as u32).map(of_face).sum()
    }

    /// Root mean square, over the area that is not held, of singular values less one.
    pub fn distortion(&self, posed: &[DVec3], is_fixed: &[bool]) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (f, face) in self.faces.iter().enumerate() {
            if face.iter().all(|&v| is_fixed[v as usize]) {
                continue;
            }
            let (from, to) = (flat(self.edges(f as u32, self.rest)), flat(self.edges(f as u32, posed)));
            let double = from[0] * from[2];
            let edges = self.edges(f as u32, self.rest);
            let longest = edges.iter().fold(0.0, |most: f64, edge| most.max(edge.length_squared()));
            if double.is_nan() || double <= LEAST_HEIGHT * longest {
                continue;
            }
            let a = to[0] / from[0];
            let (b, d) = ((to[1] - a * from[1]) / from[2], to[2] / from[2]);
            // Sum and difference of the singular values of [a b; 0 d].
            let (sums, less) = ((a + d).hypot(b), (a - d).hypot(b));
            sum += double * ((0.5 * (sums + less) - 1.0).powi(2) + (0.5 * (sums - less) - 1.0).powi(2));
            all += double;
        }
        if all > 0.0 { (sum / all).sqrt() } else { 0.0 }
    }

    /// Vertices without neighbours, and parts nothing holds: they stay where they are.
    fn loose(&self, is_fixed: &[bool]) -> Vec<bool> {
        let mut is_held = is_fixed.to_vec();
        let mut open: Vec<usize> = (0..is_held.len()).filter(|&v| is_held[v]).collect();
        while let Some(v) = open.pop() {
            for n in self.around[v].iter().flat_map(|&f| self.faces[f as usize]) {
                if !std::mem::replace(&mut is_held[n as usize], true) {
                    open.push(n as usize);
                }
            }
        }
        is_held.into_iter().map(|is| !is).collect()
    }

    /// Converged positions from a start; handles stay.
    pub fn relax(&self, start: &[DVec3], is_fixed: &[bool], iterations: usize) -> anyhow::Result<Vec<DVec3>> {
        let is_loose = self.loose(is_fixed);
        let free: Vec<usize> = (0..start.len()).filter(|&v| !is_fixed[v] && !is_loose[v]).collect();
        if free.is_empty() {
            return Ok(start.to_vec());
        }
        let mut row = vec![usize::MAX; start.len()];
        free.iter().enumerate().for_each(|(k, &v)| row[v] = k);
        let factor = self.factor(&row, free.len())?;
        let mut posed = start.to_vec();
        let mut before = f64::INFINITY;
        for _ in 0..iterations {
            let rotations = self.rotations(&posed);
            let energy = self.energy(&posed, &rotations);
            if before - energy <= CONVERGED * energy {
                break;
            }
            before = energy;
            let mut right = self.right_side(&posed, &rotations, &row, free.len());
            factor.solve_in_place(right.as_mut());
            for (k, &v) in free.iter().enumerate() {
                posed[v] = DVec3::new(right[(k, 0)], right[(k, 1)], right[(k, 2)]);
            }
        }
        Ok(posed)
    }

    fn factor(
        &self,
        row: &[usize],
        n: usize,
    ) -> anyhow::Result<faer::sparse::linalg::solvers::Llt<usize, f64>> {
        let mut entries = Vec::new();
        for (face, w) in self.faces.iter().zip(&self.weights) {
            for k in 0..3 {
                let ends = [row[face[(k + 1) % 3] as usize], row[face[(k + 2) % 3] as usize]];
                for (i, j) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                    if i != usize::MAX {
                        entries.push(Triplet::new(i, i, w[k]));
                        if j != usize::MAX {
                            entries.push(Triplet::new(i, j, -w[k]));
                        }
                    }
                }
            }
        }
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(n, n, &entries)
            .map_err(|error| anyhow!("{error:?}"))?;
        matrix.sp_cholesky(Side::Lower).map_err(|error| anyhow!("{error:?}"))
    }

    fn right_side(&self, posed: &[DVec3], rotations: &[DMat3], row: &[usize], n: usize) -> Mat<f64> {
        let mut right = Mat::<f64>::zeros(n, 3);
        for (f, face) in self.faces.iter().enumerate() {
            let mean = face.iter().fold(DMat3::ZERO, |sum, &v| sum + rotations[v as usize]) * (1.0 / 3.0);
            let (edges, w) = (self.edges(f as u32, self.rest), self.weights[f]);
            for k in 0..3 {
                // The edge leads from a to b.
                let (a, b) = (face[(k + 1) % 3] as usize, face[(k + 2) % 3] as usize);
                let pull = mean * edges[k] * w[k];
                for (here, there, pull) in [(a, b, -pull), (b, a, pull)] {
                    if row[here] != usize::MAX {
                        let held = if row[there] == usize::MAX { posed[there] * w[k] } else { DVec3::ZERO };
                        (0..3).for_each(|c| right[(row[here], c)] += (pull + held)[c]);
                    }
                }
            }
        }
        right
    }
}

/// A triangle of these edges in its plane: corners 0, (x, 0) and (p, q) as `[x, p, q]`.
fn flat([_, b, c]: [DVec3; 3]) -> [f64; 3] {
    let (u, v) = (c, -b);
    let x = u.length();
    if x == 0.0 {
        return [0.0; 3];
    }
    [x, u.dot(v) / x, u.cross(v).length() / x]
}

/// `from` times the transpose of `to`.
pub fn outer(from: DVec3, to: DVec3) -> DMat3 {
    DMat3::from_cols(from * to.x, from * to.y, from * to.z)
}

/// The rotation that brings vectors closest to others, of their covariance (Horn 1987: the eigenvector of the largest
/// eigenvalue of a symmetric matrix of four rows).
pub fn best_rotation(covariance: DMat3) -> DQuat {
    let s = |i: usize, j: usize| covariance.col(j)[i];
    let (xx, yy, zz) = (s(0, 0), s(1, 1), s(2, 2));
    let mut a = [[0.0; 4]; 4];
    a[0] = [xx + yy + zz, s(1, 2) - s(2, 1), s(2, 0) - s(0, 2), s(0, 1) - s(1, 0)];
    a[1] = [a[0][1], xx - yy - zz, s(0, 1) + s(1, 0), s(2, 0) + s(0, 2)];
    a[2] = [a[0][2], a[1][2], yy - xx - zz, s(1, 2) + s(2, 1)];
    a[3] = [a[0][3], a[1][3], a[2][3], zz - xx - yy];
    if !a.iter().flatten().all(|x| x.is_finite()) {
        return DQuat::IDENTITY;
    }
    let (values, vectors) = eigen(a);
    let best = (0..4).fold(0, |best, k| if values[k] > values[best] { k } else { best });
    let [w, x, y, z] = [0, 1, 2, 3].map(|row: usize| vectors[row][best]);
    DQuat::from_xyzw(x, y, z, w).normalize()
}

/// Eigenvalues and eigenvectors (columns) of a symmetric matrix, by Jacobi's rotations.
fn eigen(mut a: [[f64; 4]; 4]) -> ([f64; 4], [[f64; 4]; 4]) {
    let mut v = [[0.0; 4]; 4];
    (0..4).for_each(|k| v[k][k] = 1.0);
    let size: f64 = a.iter().flatten().map(|x| x * x).sum();
    for _ in 0..12 {
        let off: f64 = (0..4).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-26 * size {
            break;
        }
        for p in 0..3 {
            for q in p + 1..4 {
                if a[p][q] != 0.0 {
                    turn(&mut a, &mut v, p, q);
                }
            }
        }
    }
    ([a[0][0], a[1][1], a[2][2], a[3][3]], v)
}

fn turn(a: &mut [[f64; 4]; 4], v: &mut [[f64; 4]; 4], p: usize, q: usize) {
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
    let c = 1.0 / (t * t + 1.0).sqrt();
    let s = t * c;
    for k in 0..4 {
        (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
    }
    for k in 0..4 {
        (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
        (v[k][p], v[k][q]) = (c * v[k][p] - s * v[k][q], s * v[k][p] + c * v[k][q]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_rotation_is_found() {
        let turn = DQuat::from_axis_angle(DVec3::new(1.0, 2.0, -0.5).normalize(), 2.9);
        let points = [DVec3::X, DVec3::Y * 2.0, DVec3::new(0.3, -1.0, 0.1)];
        let covariance = points.iter().fold(DMat3::ZERO, |sum, &p| sum + outer(p, turn * p));
        assert!(best_rotation(covariance).angle_between(turn) < 1e-7);
    }

    /// A strip of a plane with both ends held: turned as a whole it has no energy, disturbed it returns.
    #[test]
    fn a_turned_strip_relaxes_to_the_turned_strip() {
        let rest: Vec<DVec3> = (0..30).map(|k| DVec3::new(f64::from(k / 3), f64::from(k % 3), 0.0)).collect();
        let mut faces = Vec::new();
        for k in (0..27u32).filter(|k| k % 3 < 2) {
            faces.extend([[k, k + 3, k + 1], [k + 1, k + 3, k + 4]]);
        }
        let turn = DQuat::from_rotation_z(1.0);
        let turned: Vec<DVec3> = rest.iter().map(|p| turn * *p).collect();
        let arap = Arap::new(&rest, &faces);
        assert!(arap.energy(&turned, &arap.rotations(&turned)) < 1e-20);
        assert!(arap.distortion(&turned, &[false; 30]) < 1e-12);
        let wide: Vec<DVec3> = rest.iter().map(|p| DVec3::new(1.3 * p.x, p.y, p.z)).collect();
        assert!((arap.distortion(&wide, &[false; 30]) - 0.3).abs() < 1e-12);
        // A face whose corners are on a line, but for rounding, stretches without end when one leaves it; that means nothing.
        let line = [&faces[..], &[[0, 2, 1]]].concat();
        let single: Vec<DVec3> = turned.iter().map(|p| p.as_vec3().as_dvec3()).collect();
        let mut bent = single.clone();
        bent[1] += turn * DVec3::X * 0.01;
        let distortion = Arap::new(&single, &line).distortion(&bent, &[false; 30]);
        assert!(distortion > 1e-4 && distortion < 0.02, "{distortion}");
        let mut start = turned.clone();
        start[13] += DVec3::new(0.1, 0.05, 0.2);
        let is_fixed: Vec<bool> = (0..30).map(|k| !(3..27).contains(&k)).collect();
        let relaxed = arap.relax(&start, &is_fixed, 500).unwrap();
        let off = relaxed.iter().zip(&turned).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 0.03, "{off}");
    }
}
