//! As-rigid-as-possible surfaces, converged: the judge's own measure of distortion, and what could have been reached.

use anyhow::anyhow;
use faer::{
    Mat, Side,
    linalg::solvers::Solve,
    sparse::{SparseColMat, Triplet},
};
use glam::{DMat3, DQuat, DVec3};
use std::collections::BTreeMap;

/// Relative decrease of the energy in an iteration below which it has converged.
const CONVERGED: f64 = 2e-4;

/// A surface at rest with cotangent weights.
pub struct Arap<'a> {
    rest: &'a [DVec3],
    /// Per vertex its neighbours with their weights.
    rings: Vec<Vec<(u32, f64)>>,
}

impl<'a> Arap<'a> {
    pub fn new(rest: &'a [DVec3], faces: &[[u32; 3]]) -> Self {
        let mut weights: BTreeMap<[u32; 2], f64> = BTreeMap::new();
        for face in faces {
            for k in 0..3 {
                let (a, b, c) = (face[k], face[(k + 1) % 3], face[(k + 2) % 3]);
                let (u, v) = (rest[a as usize] - rest[c as usize], rest[b as usize] - rest[c as usize]);
                let cotangent = u.dot(v) / u.cross(v).length();
                // Slivers have infinite ones, of either sign.
                let half = if cotangent.is_finite() { 0.5 * cotangent.clamp(-50.0, 50.0) } else { 0.0 };
                *weights.entry([a.min(b), a.max(b)]).or_default() += half;
            }
        }
        let mut rings: Vec<Vec<(u32, f64)>> = vec![Vec::new(); rest.len()];
        for ([a, b], w) in weights {
            let w = w.max(0.01);
            rings[a as usize].push((b, w));
            rings[b as usize].push((a, w));
        }
        Self { rest, rings }
    }

    fn rotation(&self, posed: &[DVec3], v: usize) -> DQuat {
        let mut covariance = DMat3::ZERO;
        for &(n, w) in &self.rings[v] {
            let (from, to) = (self.rest[v] - self.rest[n as usize], posed[v] - posed[n as usize]);
            covariance += outer(from, to) * w;
        }
        best_rotation(covariance)
    }

    /// The best rotation around each vertex.
    pub fn rotations(&self, posed: &[DVec3]) -> Vec<DMat3> {
        (0..self.rest.len()).map(|v| DMat3::from_quat(self.rotation(posed, v))).collect()
    }

    /// Energy of each vertex.
    pub fn energies(&self, posed: &[DVec3], rotations: &[DMat3]) -> Vec<f64> {
        let at = |v: usize, &(n, w): &(u32, f64)| {
            let n = n as usize;
            w * (posed[v] - posed[n] - rotations[v] * (self.rest[v] - self.rest[n])).length_squared()
        };
        (0..self.rest.len()).map(|v| self.rings[v].iter().map(|pair| at(v, pair)).sum()).collect()
    }

    /// Weighted squares of edges at vertices: what energies are compared with.
    pub fn scale(&self, is_fixed: &[bool]) -> f64 {
        let square =
            |v: usize, &(n, w): &(u32, f64)| w * self.rest[v].distance_squared(self.rest[n as usize]);
        let free = (0..self.rest.len()).filter(|&v| !is_fixed[v]);
        free.flat_map(|v| self.rings[v].iter().map(move |pair| square(v, pair))).sum()
    }

    /// Vertices without neighbours, and parts nothing holds: they stay where they are.
    fn loose(&self, is_fixed: &[bool]) -> Vec<bool> {
        let mut is_held = is_fixed.to_vec();
        let mut open: Vec<usize> = (0..is_held.len()).filter(|&v| is_held[v]).collect();
        while let Some(v) = open.pop() {
            for &(n, _) in &self.rings[v] {
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
        let factor = self.factor(&free, &row)?;
        let mut posed = start.to_vec();
        let mut before = f64::INFINITY;
        for _ in 0..iterations {
            let rotations = self.rotations(&posed);
            let energy: f64 = self.energies(&posed, &rotations).iter().sum();
            if before - energy <= CONVERGED * energy {
                break;
            }
            before = energy;
            let mut right = Mat::<f64>::zeros(free.len(), 3);
            for (k, &v) in free.iter().enumerate() {
                let b = self.right_side(v, &posed, &rotations, &row);
                (0..3).for_each(|c| right[(k, c)] = b[c]);
            }
            factor.solve_in_place(right.as_mut());
            for (k, &v) in free.iter().enumerate() {
                posed[v] = DVec3::new(right[(k, 0)], right[(k, 1)], right[(k, 2)]);
            }
        }
        Ok(posed)
    }

    fn factor(
        &self,
        free: &[usize],
        row: &[usize],
    ) -> anyhow::Result<faer::sparse::linalg::solvers::Llt<usize, f64>> {
        let mut entries = Vec::new();
        for (k, &v) in free.iter().enumerate() {
            entries.push(Triplet::new(k, k, self.rings[v].iter().map(|(_, w)| w).sum::<f64>()));
            for &(n, w) in &self.rings[v] {
                if row[n as usize] != usize::MAX {
                    entries.push(Triplet::new(row[n as usize], k, -w));
                }
            }
        }
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(free.len(), free.len(), &entries)
            .map_err(|error| anyhow!("{error:?}"))?;
        matrix.sp_cholesky(Side::Lower).map_err(|error| anyhow!("{error:?}"))
    }

    fn right_side(&self, v: usize, posed: &[DVec3], rotations: &[DMat3], row: &[usize]) -> DVec3 {
        let mut sum = DVec3::ZERO;
        for &(n, w) in &self.rings[v] {
            let n = n as usize;
            sum += (rotations[v] + rotations[n]) * (self.rest[v] - self.rest[n]) * (0.5 * w);
            if row[n] == usize::MAX {
                sum += posed[n] * w;
            }
        }
        sum
    }
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
        let energy: f64 = arap.energies(&turned, &arap.rotations(&turned)).iter().sum();
        assert!(energy < 1e-20);
        let mut start = turned.clone();
        start[13] += DVec3::new(0.1, 0.05, 0.2);
        let is_fixed: Vec<bool> = (0..30).map(|k| !(3..27).contains(&k)).collect();
        let relaxed = arap.relax(&start, &is_fixed, 500).unwrap();
        let off = relaxed.iter().zip(&turned).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off < 0.03, "{off}");
    }
}
