//! Skinning: many vertices, few matrices.
//!
//! # Source
//! Linear blending; dual quaternions after Kavan et al., *Geometric skinning with approximate dual quaternion blending*
//! (2008), algorithm 1, with signs chosen relative to the vertex's heaviest influence.
//! # Symbols
//! `M_j` [3 × 4] `world_from_mesh` of slot `j`, stored as four padded columns so that two fill a wide register
//! # Cost
//! One pass over the vertices, shared between threads. 4 influences: 36 bytes read and 12 written per vertex; linear
//! blending reaches 55 to 90 % of the memory bandwidth of the host (`sinew_bench skin`).
//! # Limits
//! Dual quaternions represent rigid motion only: scale and shear of a matrix are dropped.

use super::Skin;
use crate::{
    GeomError,
    linalg::{AnyLanes, Kernel, Lanes8, dispatch, fma, polar},
};
use glam::{DAffine3, DQuat, Vec3};
use rayon::prelude::*;

/// Vertices per unit of parallel work: large enough to hide the overhead, small enough to balance.
const CHUNK_VERTICES: usize = 8_192;

/// Linear-blend skinning: `out_i = Σ w_ij M_j · rest_i`.
///
/// # Errors
/// If the number of vertices or matrices does not fit the skin.
pub fn skin_linear(
    skin: &Skin,
    matrices: &[DAffine3],
    rest: &[Vec3],
    out: &mut [Vec3],
) -> Result<(), GeomError> {
    check(skin, matrices, rest, out)?;
    let mut columns: Vec<Columns> = matrices.iter().map(padded_columns).collect();
    columns.resize(columns.len().max(BYTE_INDEXED), [[0.0; 8]; 2]);
    run_chunks(skin, rest, out, |chunk| dispatch(Linear { columns: &columns, chunk }));
    Ok(())
}

/// Dual-quaternion skinning, which preserves the volume of twisted limbs.
///
/// # Errors
/// If the number of vertices or matrices does not fit the skin.
pub fn skin_dual_quaternion(
    skin: &Skin,
    matrices: &[DAffine3],
    rest: &[Vec3],
    out: &mut [Vec3],
) -> Result<(), GeomError> {
    check(skin, matrices, rest, out)?;
    let duals: Vec<[f32; 8]> = matrices.iter().map(dual_quaternion).collect();
    run_chunks(skin, rest, out, |chunk| dispatch(Dual { duals: &duals, chunk }));
    Ok(())
}

fn check(skin: &Skin, matrices: &[DAffine3], rest: &[Vec3], out: &[Vec3]) -> Result<(), GeomError> {
    let lengths = [
        ("skinning matrices", skin.slots.len(), matrices.len()),
        ("rest positions", skin.n_vertices(), rest.len()),
        ("skinned positions", skin.n_vertices(), out.len()),
    ];
    match lengths.into_iter().find(|(_, expected, actual)| expected != actual) {
        Some((what, expected, actual)) => Err(GeomError::Length { what, expected, actual }),
        None => Ok(()),
    }
}

/// A run of vertices with their influences.
struct Chunk<'a> {
    influences: usize,
    indices: &'a [u16],
    weights: &'a [f32],
    rest: &'a [Vec3],
    out: &'a mut [Vec3],
}

fn run_chunks(skin: &Skin, rest: &[Vec3], out: &mut [Vec3], kernel: impl Fn(Chunk) + Sync) {
    let k = skin.influences();
    if k == 0 {
        return;
    }
    let inputs =
        skin.indices().par_chunks(CHUNK_VERTICES * k).zip(skin.weights().par_chunks(CHUNK_VERTICES * k));
    let vertices = rest.par_chunks(CHUNK_VERTICES).zip(out.par_chunks_mut(CHUNK_VERTICES));
    inputs.zip(vertices).for_each(|((indices, weights), (rest, out))| {
        kernel(Chunk { influences: k, indices, weights, rest, out });
    });
}

fn padded_columns(m: &DAffine3) -> Columns {
    let columns = [m.matrix3.x_axis, m.matrix3.y_axis, m.matrix3.z_axis, m.translation];
    let [x, y, z, t] = columns.map(|c| c.as_vec3().to_array());
    [[x[0], x[1], x[2], 0.0, y[0], y[1], y[2], 0.0], [z[0], z[1], z[2], 0.0, t[0], t[1], t[2], 0.0]]
}

/// A matrix as its columns `x y` and `z t`, each padded to four lanes: two registers of eight.
type Columns = [[f32; 8]; 2];

/// A table of this many matrices is indexed by a byte, which is always in range: no check per influence.
const BYTE_INDEXED: usize = 256;

struct Linear<'a> {
    columns: &'a [Columns],
    chunk: Chunk<'a>,
}

impl Kernel for Linear<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        #[cfg(target_arch = "x86_64")]
        if let Some(v3) = pulp::x86::V3::try_new() {
            return self.look_up(v3);
        }
        self.look_up(AnyLanes::<FMA>);
    }
}

impl Linear<'_> {
    #[inline(always)]
    fn look_up(self, lanes: impl Lanes8) {
        let columns = self.columns;
        match <&[Columns; BYTE_INDEXED]>::try_from(columns) {
            Ok(table) => self.unroll(lanes, |slot| &table[usize::from(slot as u8)]),
            Err(_) => self.unroll(lanes, |slot| &columns[usize::from(slot)]),
        }
    }

    /// A constant number of influences lets the compiler unroll.
    #[inline(always)]
    fn unroll<'m>(self, lanes: impl Lanes8, matrix: impl Fn(u16) -> &'m Columns) {
        let Chunk { influences, indices, weights, rest, out } = self.chunk;
        match influences {
            4 => linear::<4>(lanes, matrix, indices, weights, rest, out),
            8 => linear::<8>(lanes, matrix, indices, weights, rest, out),
            k => {
                let rows = indices.chunks_exact(k).zip(weights.chunks_exact(k));
                for ((indices, weights), (rest, out)) in rows.zip(rest.iter().zip(out)) {
                    let [x, y, z, _] = move_point(lanes, &matrix, indices, weights, *rest);
                    *out = Vec3::new(x, y, z);
                }
            }
        }
    }
}

/// Results are buffered as padded vectors. Writing all four lanes there keeps the compiler
/// from splitting registers to leave out the fourth; the buffer stays in the nearest cache.
const BLOCK_VERTICES: usize = 64;

#[inline(always)]
fn linear<'m, const K: usize>(
    lanes: impl Lanes8,
    matrix: impl Fn(u16) -> &'m Columns,
    indices: &[u16],
    weights: &[f32],
    rest: &[Vec3],
    out: &mut [Vec3],
) {
    let mut buffer = [[0.0; 4]; BLOCK_VERTICES];
    let inputs = indices
        .as_chunks::<K>()
        .0
        .chunks(BLOCK_VERTICES)
        .zip(weights.as_chunks::<K>().0.chunks(BLOCK_VERTICES));
    for ((indices, weights), (rest, out)) in
        inputs.zip(rest.chunks(BLOCK_VERTICES).zip(out.chunks_mut(BLOCK_VERTICES)))
    {
        for (((indices, weights), p), padded) in indices.iter().zip(weights).zip(rest).zip(&mut buffer) {
            *padded = move_point(lanes, &matrix, indices, weights, *p);
        }
        for (out, &[x, y, z, _]) in out.iter_mut().zip(&buffer) {
            *out = Vec3::new(x, y, z);
        }
    }
}

/// Blend the matrices, then transform the point; the fourth lane is padding.
#[inline(always)]
fn move_point<'m>(
    lanes: impl Lanes8,
    matrix: impl Fn(u16) -> &'m Columns,
    indices: &[u16],
    weights: &[f32],
    p: Vec3,
) -> [f32; 4] {
    let (mut xy, mut zt) = ([0.0; 8], [0.0; 8]);
    for (&slot, &w) in indices.iter().zip(weights) {
        let m = matrix(slot);
        xy = lanes.mul_add([w; 8], m[0], xy);
        zt = lanes.mul_add([w; 8], m[1], zt);
    }
    let [x, y, z] = p.to_array();
    let zt = lanes.mul_add([z, z, z, z, 1.0, 1.0, 1.0, 1.0], zt, [0.0; 8]);
    let [a, b, c, d, e, f, g, h] = lanes.mul_add([x, x, x, x, y, y, y, y], xy, zt);
    [a + e, b + f, c + g, d + h]
}

/// Rotation `x y z w`, then half of translation times rotation.
fn dual_quaternion(m: &DAffine3) -> [f32; 8] {
    let rotation = DQuat::from_mat3(&polar(&m.matrix3).0);
    let t = m.translation;
    let dual = DQuat::from_xyzw(t.x, t.y, t.z, 0.0) * rotation * 0.5;
    let mut out = [0.0; 8];
    for (o, v) in out.iter_mut().zip(rotation.to_array().into_iter().chain(dual.to_array())) {
        *o = v as f32;
    }
    out
}

struct Dual<'a> {
    duals: &'a [[f32; 8]],
    chunk: Chunk<'a>,
}

impl Kernel for Dual<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Chunk { influences: k, indices, weights, rest, out } = self.chunk;
        // Components of a block are adjacent, so that eight vertices fill a register.
        let mut blended = [[0.0; BLOCK_VERTICES]; 8];
        let inputs = indices.chunks(BLOCK_VERTICES * k).zip(weights.chunks(BLOCK_VERTICES * k));
        for ((indices, weights), (rest, out)) in
            inputs.zip(rest.chunks(BLOCK_VERTICES).zip(out.chunks_mut(BLOCK_VERTICES)))
        {
            let rows = indices.chunks_exact(k).zip(weights.chunks_exact(k));
            for (v, (indices, weights)) in rows.enumerate().take(BLOCK_VERTICES) {
                let q = match (indices, weights) {
                    (&[a, b, c, d], &[..]) => blend_duals::<FMA>(self.duals, &[a, b, c, d], weights),
                    _ => blend_duals::<FMA>(self.duals, indices, weights),
                };
                for i in 0..8 {
                    blended[i][v] = q[i];
                }
            }
            apply_duals(&blended, rest, out);
        }
    }
}

/// Weighted sum, every term with the sign of the heaviest one's rotation.
#[inline(always)]
fn blend_duals<const FMA: bool>(duals: &[[f32; 8]], indices: &[u16], weights: &[f32]) -> [f32; 8] {
    let mut heaviest = 0;
    for k in 1..weights.len().min(indices.len()) {
        if weights[k] > weights[heaviest] {
            heaviest = k;
        }
    }
    let pivot = &duals[indices[heaviest] as usize];
    let mut sum = [0.0f32; 8];
    for (&slot, &w) in indices.iter().zip(weights) {
        let q = &duals[slot as usize];
        let same_side = (q[0] * pivot[0] + q[1] * pivot[1]) + (q[2] * pivot[2] + q[3] * pivot[3]);
        let w = w.copysign(w * same_side);
        for i in 0..8 {
            sum[i] = fma::<FMA, _>(w, q[i], sum[i]);
        }
    }
    sum
}

/// Normalise the blended dual quaternions of a block and transform its points.
#[inline(always)]
fn apply_duals(blended: &[[f32; BLOCK_VERTICES]; 8], rest: &[Vec3], out: &mut [Vec3]) {
    let [qx, qy, qz, qw, dx, dy, dz, dw] = blended;
    let mut p = [[0.0; BLOCK_VERTICES]; 3];
    for (v, point) in rest.iter().enumerate().take(BLOCK_VERTICES) {
        (p[0][v], p[1][v], p[2][v]) = (point.x, point.y, point.z);
    }
    let mut moved = [[0.0; BLOCK_VERTICES]; 3];
    for v in 0..BLOCK_VERTICES {
        let (x, y, z, w) = (qx[v], qy[v], qz[v], qw[v]);
        let (px, py, pz) = (p[0][v], p[1][v], p[2][v]);
        // All terms are quadratic in the quaternion: one division replaces the normalisation.
        let scale = 2.0 / (x * x + y * y + z * z + w * w);
        // r × p + w p
        let (ax, ay, az) = (y * pz - z * py + w * px, z * px - x * pz + w * py, x * py - y * px + w * pz);
        let turned = [y * az - z * ay, z * ax - x * az, x * ay - y * ax];
        let shift = [
            w * dx[v] - dw[v] * x + y * dz[v] - z * dy[v],
            w * dy[v] - dw[v] * y + z * dx[v] - x * dz[v],
            w * dz[v] - dw[v] * z + x * dy[v] - y * dx[v],
        ];
        moved[0][v] = px + scale * (turned[0] + shift[0]);
        moved[1][v] = py + scale * (turned[1] + shift[1]);
        moved[2][v] = pz + scale * (turned[2] + shift[2]);
    }
    for (v, out) in out.iter_mut().enumerate().take(BLOCK_VERTICES) {
        *out = Vec3::new(moved[0][v], moved[1][v], moved[2][v]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SkinSlot, Warnings};
    use glam::DVec3;
    use proptest::prelude::*;

    fn skin(influences: usize, n: usize) -> Skin {
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; 5];
        let indices = (0..n * influences).map(|i| (i * 7 % 5) as u16).collect();
        let weights = (0..n * influences).map(|i| ((i * 13 % 11) + 1) as f32).collect();
        Skin::new(slots, influences, indices, weights, &mut Warnings::default()).unwrap()
    }

    fn rigid(axis: [f64; 3], angle: f64, shift: f64) -> DAffine3 {
        let axis = DVec3::from_array(axis).try_normalize().unwrap_or(DVec3::Y);
        DAffine3::from_rotation_translation(DQuat::from_axis_angle(axis, angle), DVec3::splat(shift))
    }

    proptest! {
        /// The kernel equals the formula in double precision, for any number of influences.
        #[test]
        fn linear_blending_matches_its_formula(influences in 1..9usize, entries in prop::collection::vec(-2.0..2.0f64, 60)) {
            let n = 37;
            let skin = skin(influences, n);
            let matrices: Vec<_> = entries.chunks(12).map(DAffine3::from_cols_slice).collect();
            let rest: Vec<Vec3> = (0..n).map(|i| Vec3::new(i as f32 * 0.1, 1.0, -(i as f32) * 0.03)).collect();
            let mut out = vec![Vec3::ZERO; n];
            skin_linear(&skin, &matrices, &rest, &mut out).unwrap();
            for v in 0..n {
                let exact: DVec3 = skin.vertex(v).map(|(s, w)| w as f64 * matrices[s as usize].transform_point3(rest[v].as_dvec3())).sum();
                prop_assert!(out[v].as_dvec3().distance(exact) < 1e-4);
            }
        }

        /// When all slots move in the same way, both methods move the surface rigidly.
        #[test]
        fn one_motion_is_followed_exactly(axis in prop::array::uniform3(-1.0..1.0f64), angle in -3.0..3.0f64, shift in -2.0..2.0f64) {
            let skin = skin(4, 20);
            let m = rigid(axis, angle, shift);
            let rest: Vec<Vec3> = (0..20).map(|i| Vec3::new(i as f32 * 0.1, 1.0, 0.5)).collect();
            let (mut a, mut b) = (vec![Vec3::ZERO; 20], vec![Vec3::ZERO; 20]);
            skin_linear(&skin, &[m; 5], &rest, &mut a).unwrap();
            skin_dual_quaternion(&skin, &[m; 5], &rest, &mut b).unwrap();
            for v in 0..20 {
                let exact = m.transform_point3(rest[v].as_dvec3()).as_vec3();
                prop_assert!(a[v].distance(exact) < 1e-5 && b[v].distance(exact) < 1e-5);
            }
        }
    }

    #[test]
    fn a_half_twist_keeps_its_radius_only_with_dual_quaternions() {
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; 2];
        let skin = Skin::new(slots, 2, vec![0, 1], vec![0.5, 0.5], &mut Warnings::default()).unwrap();
        let matrices = [DAffine3::IDENTITY, rigid([1.0, 0.0, 0.0], 3.0, 0.0)];
        let (mut a, mut b) = ([Vec3::ZERO], [Vec3::ZERO]);
        skin_linear(&skin, &matrices, &[Vec3::Y], &mut a).unwrap();
        skin_dual_quaternion(&skin, &matrices, &[Vec3::Y], &mut b).unwrap();
        assert!(a[0].length() < 0.1, "linear blending collapses");
        assert!((b[0].length() - 1.0).abs() < 1e-6, "dual quaternions do not");
    }

    #[test]
    fn an_influence_without_weight_does_not_choose_the_side() {
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; 3];
        let skin = Skin::new(slots, 3, vec![0, 1, 2], vec![0.0, 0.5, 0.5], &mut Warnings::default()).unwrap();
        let third = std::f64::consts::TAU / 3.0;
        let matrices = [-third, 0.0, third].map(|angle| rigid([0.0, 0.0, 1.0], angle, 0.0));
        let mut out = [Vec3::ZERO];
        skin_dual_quaternion(&skin, &matrices, &[Vec3::X], &mut out).unwrap();
        let half = (third / 2.0) as f32;
        assert!(out[0].distance(Vec3::new(half.cos(), half.sin(), 0.0)) < 1e-6, "{}", out[0]);
    }

    #[test]
    fn wrong_lengths_are_errors() {
        let skin = skin(4, 3);
        let error = skin_linear(&skin, &[DAffine3::IDENTITY; 4], &[Vec3::ZERO; 3], &mut [Vec3::ZERO; 3]);
        assert_eq!(error, Err(GeomError::Length { what: "skinning matrices", expected: 5, actual: 4 }));
    }
}
