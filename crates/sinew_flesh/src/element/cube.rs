//! Elasticity of cubes, eight at a time, without any matrix.
//!
//! # Source
//! The eight corners of a cube determine the coefficients of `p = m₀ + m₁ξ + m₂η + m₃ξη + m₄ζ + m₅ξζ + m₆ηζ + m₇ξηζ`,
//! which are found by a butterfly of additions (the Hadamard transform). Products of different monomials integrate to
//! zero, so the energy separates: with `W(H) = μ |sym H|² + λ/2 tr² H`, it is
//! `V (2/h)² [W(m₁ m₂ m₄) + ⅓ (W(0 m₃ m₅) + W(m₃ 0 m₆) + W(m₅ m₆ 0)) + ⅑ (2μ + λ/2) |m₇|²]`. Incompatible modes (see
//! `hexahedron`) fill the zero columns with the values of least energy: plane stress, `λ* = 2λμ/(λ+2μ)`, and no
//! transverse shear. So a 24 × 24 product becomes about 60 operations with exactly the same result (tested).
//!
//! A stretched cell also resists being turned out of its frame (see `twist`), by `V ½ a · K a`, `a` the axial vector of
//! `skew(m₁ m₂ m₄)`.
//! # Symbols
//! `R` rotation of the cell; lanes: eight cells in parallel.
//! # Cost
//! Per cell about 400 operations and 56 memory accesses, compared with 576 multiply-adds and a row of blocks for a
//! matrix.

use crate::Material;

/// Cells side by side.
pub const LANES: usize = 8;

/// Numbers a solver may use.
pub trait Scalar:
    Copy
    + std::ops::Add<Output = Self>
    + std::ops::Sub<Output = Self>
    + std::ops::Mul<Output = Self>
    + std::ops::Neg<Output = Self>
    + std::ops::AddAssign
    + std::fmt::Debug
    + Send
    + Sync
{
    /// Nothing.
    const ZERO: Self;
    /// From double precision.
    fn of(value: f64) -> Self;
    /// To double precision.
    fn to(self) -> f64;
}

impl Scalar for f32 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn to(self) -> f64 {
        f64::from(self)
    }
}

impl Scalar for f64 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn to(self) -> f64 {
        self
    }
}

/// Elastic constants of a cube, times `h/2` (which is `V (2/h)² / 8`).
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CubeMaterial {
    /// `μ`.
    pub mu: f64,
    /// `λ`.
    pub lambda: f64,
    /// `λ` of the bending modes.
    pub lambda_bend: f64,
    /// `μ` of the shear that comes with bending.
    pub mu_bend: f64,
}

impl CubeMaterial {
    /// Constants of cubes of side `size`, of which a share is filled.
    pub fn new(material: &Material, kind: super::ElementKind, size: f64, share: f64) -> Self {
        let scale = size / 2.0 * share;
        let (mu, lambda) = (material.shear() * scale, material.lambda() * scale);
        match kind {
            super::ElementKind::Incompatible => {
                Self { mu, lambda, lambda_bend: 2.0 * lambda * mu / (lambda + 2.0 * mu), mu_bend: 0.0 }
            }
            super::ElementKind::Trilinear => Self { mu, lambda, lambda_bend: lambda, mu_bend: mu },
        }
    }

    /// The diagonal block of a corner: `d` on its diagonal, `o · s_i s_j` beside it, `s` the corner's side of each axis.
    pub fn corner_block(&self) -> [f64; 2] {
        let mut p = [[[0.0f64; LANES]; 3]; 8];
        p[7][0][0] = 1.0;
        let material = [self.mu, self.lambda, self.lambda_bend, self.mu_bend].map(|x| [x; LANES]);
        to_modes(&mut p);
        stress(&mut p, &material, None);
        to_corners(&mut p);
        [p[7][0][0], p[7][1][0]]
    }
}

pub type Lane<T> = [T; LANES];
type Vec3s<T> = [Lane<T>; 3];
/// Modes of eight cells, or vectors of their corners.
pub type Modes<T> = [Vec3s<T>; 8];

/// A quarter of `K` of eight cells (see `twist`), in the units of their constants: xx, yy, zz, xy, xz, yz.
pub type Twist<T> = [Lane<T>; 6];

/// Eight cubes: nodes, rotations by columns, and material.
#[derive(Debug, Clone)]
pub struct Batch<T> {
    /// Node of each corner of each cell.
    pub nodes: [[u32; LANES]; 8],
    /// Rotation of each cell; column `j` of it in entries `3 j ..`.
    pub rotation: [Lane<T>; 9],
    /// `μ`, `λ`, `λ` and `μ` of bending, of each cell; zero in lanes without one.
    pub material: [Lane<T>; 4],
    /// Half the side of each cell; one in lanes without one.
    pub half: Lane<T>,
}

impl<T: Scalar> Batch<T> {
    /// Rotations in another precision.
    pub fn set_rotation(&mut self, lane: usize, columns: &[f64; 9]) {
        (0..9).for_each(|k| self.rotation[k][lane] = T::of(columns[k]));
    }

    #[inline(always)]
    fn gather(&self, x: &[[T; 4]]) -> [Vec3s<T>; 8] {
        let mut p = [[[T::ZERO; LANES]; 3]; 8];
        for c in 0..8 {
            for l in 0..LANES {
                let at = x[self.nodes[c][l] as usize];
                for k in 0..3 {
                    p[c][k][l] = at[k];
                }
            }
        }
        p
    }

    #[inline(always)]
    fn scatter(&self, force: &[Vec3s<T>; 8], out: &mut [[T; 4]]) {
        for c in 0..8 {
            for l in 0..LANES {
                let at = &mut out[self.nodes[c][l] as usize];
                for k in 0..3 {
                    at[k] += force[c][k][l];
                }
            }
        }
    }

    /// `out += R K Rᵀ x`, and what resists turning if that is given.
    #[inline(always)]
    pub fn apply(&self, twist: Option<&Twist<T>>, x: &[[T; 4]], out: &mut [[T; 4]]) {
        let mut p = self.gather(x);
        self.respond(&mut p, &[T::ZERO; LANES], twist);
        self.scatter(&p, out);
    }

    /// `out += R K (Rᵀ x − X)`, the elastic force with its sign turned.
    #[inline(always)]
    pub fn add_gradient(&self, x: &[[T; 4]], out: &mut [[T; 4]]) {
        let mut p = self.gather(x);
        self.respond(&mut p, &self.half, None);
        self.scatter(&p, out);
    }

    /// `out += R K (Rᵀ x − X)` where `X` is another shape at rest, given by its modes.
    #[inline(always)]
    pub fn add_gradient_from(&self, rest: &Modes<T>, x: &[[T; 4]], out: &mut [[T; 4]]) {
        let mut p = self.gather(x);
        to_modes(&mut p);
        rotate_back(&self.rotation, &mut p);
        for (mode, rest) in p.iter_mut().zip(rest).skip(1) {
            for k in 0..3 {
                for l in 0..LANES {
                    mode[k][l] = mode[k][l] - rest[k][l];
                }
            }
        }
        self.answer(&mut p, &self.material, None);
        self.scatter(&p, out);
    }

    /// `out +=` what resists turning alone.
    #[inline(always)]
    pub fn apply_twist(&self, twist: &Twist<T>, x: &[[T; 4]], out: &mut [[T; 4]]) {
        let mut p = self.gather(x);
        to_modes(&mut p);
        rotate_back(&self.rotation, &mut p);
        self.answer(&mut p, &[[T::ZERO; LANES]; 4], Some(twist));
        self.scatter(&p, out);
    }

    /// Modes of the cells at given places, turned back by given rotations (columns as in `rotation`).
    #[inline(always)]
    pub fn modes(&self, rotation: &[Lane<T>; 9], x: &[[T; 4]]) -> Modes<T> {
        let mut p = self.gather(x);
        to_modes(&mut p);
        rotate_back(rotation, &mut p);
        p
    }

    /// `∂x/∂X` in the middle of each cell, by columns, times half a side.
    #[inline(always)]
    pub fn gradients(&self, x: &[[T; 4]]) -> [Lane<T>; 9] {
        let mut p = self.gather(x);
        to_modes(&mut p);
        let eighth = T::of(0.125);
        let mut out = [[T::ZERO; LANES]; 9];
        for (column, mode) in [1, 2, 4].into_iter().enumerate() {
            for k in 0..3 {
                for l in 0..LANES {
                    out[3 * column + k][l] = p[mode][k][l] * eighth;
                }
            }
        }
        out
    }

    #[inline(always)]
    fn respond(&self, p: &mut [Vec3s<T>; 8], half: &Lane<T>, twist: Option<&Twist<T>>) {
        to_modes(p);
        rotate_back(&self.rotation, p);
        // Modes of the cube at rest; the butterfly has not been divided by 8 yet.
        let eight = T::of(8.0);
        for (k, mode) in [1, 2, 4].into_iter().enumerate() {
            for l in 0..LANES {
                p[mode][k][l] = p[mode][k][l] - eight * half[l];
            }
        }
        self.answer(p, &self.material, twist);
    }

    /// Forces on corners out of modes in the frames of the cells.
    #[inline(always)]
    fn answer(&self, p: &mut Modes<T>, material: &[Lane<T>; 4], twist: Option<&Twist<T>>) {
        let r = &self.rotation;
        stress(p, material, twist);
        for mode in p.iter_mut().skip(1) {
            let m = *mode;
            for i in 0..3 {
                for l in 0..LANES {
                    mode[i][l] = r[i][l] * m[0][l] + r[3 + i][l] * m[1][l] + r[6 + i][l] * m[2][l];
                }
            }
        }
        to_corners(p);
    }
}

/// `Rᵀ m` of all modes but the first.
#[inline(always)]
fn rotate_back<T: Scalar>(r: &[Lane<T>; 9], p: &mut Modes<T>) {
    for mode in p.iter_mut().skip(1) {
        let m = *mode;
        for j in 0..3 {
            for l in 0..LANES {
                mode[j][l] = r[3 * j][l] * m[0][l] + r[3 * j + 1][l] * m[1][l] + r[3 * j + 2][l] * m[2][l];
            }
        }
    }
}

/// Corners to modes, times eight.
#[inline(always)]
fn to_modes<T: Scalar>(p: &mut [Vec3s<T>; 8]) {
    butterfly(p, |low, high| (high + low, high - low));
}

/// The transpose: derivatives by modes to derivatives by corners, times eight.
#[inline(always)]
fn to_corners<T: Scalar>(p: &mut [Vec3s<T>; 8]) {
    butterfly(p, |even, odd| (even - odd, even + odd));
}

/// Combine pairs of corners along the three axes in turn.
#[inline(always)]
fn butterfly<T: Scalar>(p: &mut [Vec3s<T>; 8], combine: impl Fn(T, T) -> (T, T)) {
    for axis in 0..3 {
        for c in 0..8 {
            if c >> axis & 1 == 0 {
                let d = c | 1 << axis;
                for k in 0..3 {
                    for l in 0..LANES {
                        (p[c][k][l], p[d][k][l]) = combine(p[c][k][l], p[d][k][l]);
                    }
                }
            }
        }
    }
}

/// Derivatives of the energy with respect to the modes, in place; the first mode, a shift, costs nothing. Modes come times eight, and the constants times `h/2`
/// hold `V (2/h)²` over eight, of which eight more belong to the corners: one eighth is left to divide by.
#[inline(always)]
fn stress<T: Scalar>(m: &mut [Vec3s<T>; 8], material: &[Lane<T>; 4], twist: Option<&Twist<T>>) {
    let (third, eighth) = (T::of(1.0 / 3.0), T::of(0.125));
    for l in 0..LANES {
        let mu = material[0][l] * eighth;
        let lambda = material[1][l] * eighth;
        let lambda_bend = material[2][l] * eighth * third;
        let mu_bend = material[3][l] * eighth * third;
        let mu_third = mu * third;
        let at = |m: &[Vec3s<T>; 8], mode: usize, k: usize| m[mode][k][l];
        // Constant strain: columns m₁, m₂, m₄.
        let (x, y, z) = (at(m, 1, 0), at(m, 2, 1), at(m, 4, 2));
        let pressure = lambda * (x + y + z);
        let (xy, xz, yz) = (
            mu * (at(m, 1, 1) + at(m, 2, 0)),
            mu * (at(m, 1, 2) + at(m, 4, 0)),
            mu * (at(m, 2, 2) + at(m, 4, 1)),
        );
        let turn = |m: &[Vec3s<T>; 8], k: &Twist<T>| {
            let a = [at(m, 2, 2) - at(m, 4, 1), at(m, 4, 0) - at(m, 1, 2), at(m, 1, 1) - at(m, 2, 0)];
            let row =
                |x: usize, y: usize, z: usize| eighth * (k[x][l] * a[0] + k[y][l] * a[1] + k[z][l] * a[2]);
            [row(0, 3, 4), row(3, 1, 5), row(4, 5, 2)]
        };
        let [tx, ty, tz] = twist.map_or([T::ZERO; 3], |k| turn(m, k));
        let mu2 = mu + mu;
        // Bending: m₃ = ξη, m₅ = ξζ, m₆ = ηζ. Along ξ (y of m₃, z of m₅), η (x of m₃, z of m₆), ζ (x of m₅, y of m₆).
        let (b3, b5, b6) = (
            [at(m, 3, 0), at(m, 3, 1), at(m, 3, 2)],
            [at(m, 5, 0), at(m, 5, 1), at(m, 5, 2)],
            [at(m, 6, 0), at(m, 6, 1), at(m, 6, 2)],
        );
        let (px, py, pz) =
            (lambda_bend * (b3[1] + b5[2]), lambda_bend * (b3[0] + b6[2]), lambda_bend * (b5[0] + b6[1]));
        let mu2_third = mu_third + mu_third;
        let (sx, sy, sz) =
            (mu_third * (b3[2] + b5[1]), mu_third * (b3[2] + b6[0]), mu_third * (b5[1] + b6[0]));
        let seven = (T::of(4.0) * mu + lambda) * third * third;
        let write = |m: &mut [Vec3s<T>; 8], mode: usize, v: [T; 3]| {
            for k in 0..3 {
                m[mode][k][l] = v[k];
            }
        };
        write(m, 1, [pressure + mu2 * x, xy + tz, xz - ty]);
        write(m, 2, [xy - tz, pressure + mu2 * y, yz + tx]);
        write(m, 4, [xz + ty, yz - tx, pressure + mu2 * z]);
        // Shear across: x of m₃ along ξ, y of m₃ along η, and so on; z of m₃ is shared by both.
        let across = mu_bend;
        write(
            m,
            3,
            [py + mu2_third * b3[0] + across * b3[0], px + mu2_third * b3[1] + across * b3[1], sx + sy],
        );
        write(
            m,
            5,
            [pz + mu2_third * b5[0] + across * b5[0], sx + sz, px + mu2_third * b5[2] + across * b5[2]],
        );
        write(
            m,
            6,
            [sy + sz, pz + mu2_third * b6[1] + across * b6[1], py + mu2_third * b6[2] + across * b6[2]],
        );
        let m7 = [at(m, 7, 0), at(m, 7, 1), at(m, 7, 2)];
        write(m, 7, m7.map(|x| seven * x));
        write(m, 0, [T::ZERO; 3]);
    }
}
