//! Rigid bones, with weights and rest pose fixed.
//!
//! # Source
//! Le and Deng, *Smooth skinning decomposition with rigid bones* (2012): bones in turn, each the best rotation and
//! translation for the residual of the others, from the sums of `normal`. Rotations as in Müller et al., *A robust
//! method to extract the rotational part of deformations* (2016), started from their current values; differs: Newton's
//! step where the curvature allows, because the first-order step hardly twists a long limb.
//! # Symbols
//! `Q` [4 × 3] what the others leave to a bone; `A` [3 × 3] its part about the weighted mean; `q` quaternion
//! # Cost
//! Per frame and sweep: 48 multiply-adds for each pair of bones that share a vertex; eight frames at a time.

use crate::{
    lanes::{LANES, V, add, fma, groups, mul, splat, sub},
    normal::Normal,
    state::{Bones, Influences, State},
    tracks::Tracks,
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::{Kernel, dispatch, polar};

/// Newton steps each time a bone is visited.
const NEWTON_STEPS: usize = 2;
/// Squared weight below which a bone has no vertices and is not moved.
const MIN_SQUARED_WEIGHT: f64 = 1e-9;

/// One bone's part of the equations.
struct Own {
    mass: f32,
    /// Weighted mean of the rest positions about the bone's centre.
    mean: [f32; 3],
    others: Vec<(u32, [[f32; 4]; 4])>,
}

/// Sweep over the bones several times, in every frame.
pub(crate) fn update_rigid(tracks: &Tracks, bones: &mut Bones, normal: &Normal, sweeps: usize) {
    let own: Vec<Own> = (0..normal.n_bones).map(|bone| own_part(normal, bone)).collect();
    let right: Vec<f32> = normal.right.iter().map(|&x| x as f32).collect();
    let n_groups = tracks.n_lanes / LANES;
    let done: Vec<Placed> = (0..n_groups)
        .into_par_iter()
        .map(|group| {
            let rows = gather::<12>(&bones.rows, group, n_groups);
            let right = gather::<12>(&right, group, n_groups);
            let turns = gather::<4>(&bones.turns, group, n_groups);
            dispatch(Sweeps { own: &own, right: &right, rows, turns, sweeps })
        })
        .collect();
    for (group, (rows, turns)) in done.iter().enumerate() {
        scatter(rows, &mut bones.rows, group, n_groups);
        scatter(turns, &mut bones.turns, group, n_groups);
    }
    bones.clear_padding(tracks.n_frames);
}

fn own_part(normal: &Normal, bone: usize) -> Own {
    let mass = normal.mass(bone);
    let block = |other: usize| -> [[f32; 4]; 4] {
        std::array::from_fn(|r| {
            std::array::from_fn(|c| match other >= bone {
                // Stored below the diagonal: rows of the other, columns of this one.
                true => normal.at(4 * other + c, 4 * bone + r) as f32,
                false => normal.at(4 * bone + r, 4 * other + c) as f32,
            })
        })
    };
    let shares = |other: usize| {
        let (a, b) = (bone.max(other), bone.min(other));
        normal.at(4 * a + 3, 4 * b + 3) > 0.0
    };
    let others = (0..normal.n_bones).filter(|&k| k != bone && shares(k)).map(|k| (k as u32, block(k)));
    Own {
        mass: if mass > MIN_SQUARED_WEIGHT { mass as f32 } else { 0.0 },
        mean: std::array::from_fn(|a| {
            (normal.at(4 * bone + 3, 4 * bone + a) / mass.max(MIN_SQUARED_WEIGHT)) as f32
        }),
        others: others.collect(),
    }
}

/// The eight frames of a group, of every bone's `N` rows of three or one coordinates.
fn gather<const N: usize>(rows: &[f32], group: usize, n_groups: usize) -> Vec<[V; N]> {
    let all = groups(rows);
    all.chunks_exact(N * n_groups).map(|bone| std::array::from_fn(|k| bone[k * n_groups + group])).collect()
}

fn scatter<const N: usize>(values: &[[V; N]], rows: &mut [f32], group: usize, n_groups: usize) {
    let all = rows.as_chunks_mut::<LANES>().0;
    for (bone, values) in all.chunks_exact_mut(N * n_groups).zip(values) {
        (0..N).for_each(|k| bone[k * n_groups + group] = values[k]);
    }
}

/// Rows and quaternions of all bones in eight frames.
type Placed = (Vec<[V; 12]>, Vec<[V; 4]>);

struct Sweeps<'a> {
    own: &'a [Own],
    right: &'a [[V; 12]],
    /// Entry `3 a + d`: coordinate `d` of column `a`.
    rows: Vec<[V; 12]>,
    turns: Vec<[V; 4]>,
    sweeps: usize,
}

impl Kernel for Sweeps<'_> {
    type Output = Placed;
    #[inline(always)]
    fn run<const FMA: bool>(self) -> Self::Output {
        let Self { own, right, mut rows, mut turns, sweeps } = self;
        for _ in 0..sweeps {
            for (bone, own) in own.iter().enumerate().filter(|(_, own)| own.mass > 0.0) {
                let mut left = right[bone];
                for (other, block) in &own.others {
                    let x = &rows[*other as usize];
                    for r in 0..4 {
                        for c in 0..4 {
                            let h = splat(-block[r][c]);
                            for d in 0..3 {
                                left[3 * r + d] = fma::<FMA>(h, x[3 * c + d], left[3 * r + d]);
                            }
                        }
                    }
                }
                rows[bone] = place::<FMA>(own, &left, &mut turns[bone]);
            }
        }
        (rows, turns)
    }
}

/// Best rotation and shift of one bone for the residual of the others.
#[inline(always)]
fn place<const FMA: bool>(own: &Own, left: &[V; 12], turn: &mut [V; 4]) -> [V; 12] {
    let mut a = [splat(0.0); 9];
    for col in 0..3 {
        let mean = splat(-own.mean[col]);
        for d in 0..3 {
            a[3 * col + d] = fma::<FMA>(mean, left[9 + d], left[3 * col + d]);
        }
    }
    for _ in 0..NEWTON_STEPS {
        step::<FMA>(&a, turn);
    }
    let r = matrix::<FMA>(turn);
    let mut rows = [splat(0.0); 12];
    rows[..9].copy_from_slice(&r);
    let inverse = splat(1.0 / own.mass);
    for d in 0..3 {
        let mut t = mul(left[9 + d], inverse);
        for col in 0..3 {
            t = fma::<FMA>(splat(-own.mean[col]), r[3 * col + d], t);
        }
        rows[9 + d] = t;
    }
    rows
}

/// Rotation matrices of unit quaternions, by columns.
#[inline(always)]
fn matrix<const FMA: bool>(q: &[V; 4]) -> [V; 9] {
    let [x, y, z, w] = *q;
    let mut m = [splat(0.0); 9];
    for l in 0..LANES {
        let (x, y, z, w) = (x[l], y[l], z[l], w[l]);
        m[0][l] = 1.0 - 2.0 * (y * y + z * z);
        m[1][l] = 2.0 * (x * y + w * z);
        m[2][l] = 2.0 * (x * z - w * y);
        m[3][l] = 2.0 * (x * y - w * z);
        m[4][l] = 1.0 - 2.0 * (x * x + z * z);
        m[5][l] = 2.0 * (y * z + w * x);
        m[6][l] = 2.0 * (x * z + w * y);
        m[7][l] = 2.0 * (y * z - w * x);
        m[8][l] = 1.0 - 2.0 * (x * x + y * y);
    }
    m
}

/// Turn `q` towards the largest `tr(Rᵀ A)`.
#[inline(always)]
fn step<const FMA: bool>(a: &[V; 9], q: &mut [V; 4]) {
    let r = matrix::<FMA>(q);
    // M = A Rᵀ, by rows.
    let mut m = [splat(0.0); 9];
    for i in 0..3 {
        for j in 0..3 {
            let mut v = mul(a[i], r[j]);
            v = fma::<FMA>(a[3 + i], r[3 + j], v);
            m[3 * i + j] = fma::<FMA>(a[6 + i], r[6 + j], v);
        }
    }
    let g = [sub(m[7], m[5]), sub(m[2], m[6]), sub(m[3], m[1])];
    let trace = add(add(m[0], m[4]), m[8]);
    let half = |a: V, b: V| mul(add(a, b), splat(-0.5));
    // N = tr(M) − sym(M), the curvature.
    let (n00, n11, n22) = (sub(trace, m[0]), sub(trace, m[4]), sub(trace, m[8]));
    let (n01, n02, n12) = (half(m[1], m[3]), half(m[2], m[6]), half(m[5], m[7]));
    for l in 0..LANES {
        let size = trace[l].abs() + n00[l].abs() + n11[l].abs() + n22[l].abs() + 1e-30;
        let s = 1.0 / size;
        let little = 1e-6;
        let (a, b, c) = (n00[l] * s + little, n01[l] * s, n02[l] * s);
        let (d, e, f) = (n11[l] * s + little, n12[l] * s, n22[l] * s + little);
        let g = [g[0][l] * s, g[1][l] * s, g[2][l] * s];
        let (c00, c01, c02) = (d * f - e * e, c * e - b * f, b * e - c * d);
        let (c11, c12, c22) = (a * f - c * c, b * c - a * e, a * d - b * b);
        let det = a * c00 + b * c01 + c * c02;
        let newton = a > 0.0 && c22 > 0.0 && det > 1e-9;
        let scale = if newton { 0.5 / det } else { 0.5 / (trace[l].abs() * s + 0.1) };
        let pick = |n: f32, plain: f32| (if newton { n } else { plain }) * scale;
        let hx = pick(c00 * g[0] + c01 * g[1] + c02 * g[2], g[0]);
        let hy = pick(c01 * g[0] + c11 * g[1] + c12 * g[2], g[1]);
        let hz = pick(c02 * g[0] + c12 * g[1] + c22 * g[2], g[2]);
        let (x, y, z, w) = (q[0][l], q[1][l], q[2][l], q[3][l]);
        let nx = x + hx * w + hy * z - hz * y;
        let ny = y + hy * w + hz * x - hx * z;
        let nz = z + hz * w + hx * y - hy * x;
        let nw = w - hx * x - hy * y - hz * z;
        let inverse = 1.0 / (nx * nx + ny * ny + nz * nz + nw * nw).sqrt();
        (q[0][l], q[1][l], q[2][l], q[3][l]) = (nx * inverse, ny * inverse, nz * inverse, nw * inverse);
    }
}

/// Rotations of bones that share no vertices, without a start.
pub(crate) fn start_rigid(tracks: &Tracks, bones: &mut Bones, normal: &Normal) {
    let (lanes, width) = (tracks.n_lanes, tracks.width());
    bones.turns.par_chunks_mut(4 * lanes).enumerate().for_each(|(bone, turns)| {
        let mass = normal.mass(bone);
        if mass <= MIN_SQUARED_WEIGHT {
            return;
        }
        for frame in 0..tracks.n_frames {
            let entry = |a: usize| {
                DVec3::from_array(std::array::from_fn(|d| {
                    normal.right[(4 * bone + a) * width + d * lanes + frame]
                }))
            };
            let shift = entry(3);
            let mean = |a: usize| normal.at(4 * bone + 3, 4 * bone + a) / mass;
            let column = |a: usize| entry(a) - shift * mean(a);
            let (r, _) = polar(&DMat3::from_cols(column(0), column(1), column(2)));
            let q = DQuat::from_mat3(&r).normalize();
            (0..4).for_each(|k| turns[k * lanes + frame] = q.to_array()[k] as f32);
        }
    });
}

/// Initial rotations and shifts for blended weights: each vertex counts for the bone it follows most.
pub(crate) fn start_blended(tracks: &Tracks, state: &mut State) {
    let strongest: Vec<u16> =
        (0..tracks.n_vertices).map(|vertex| state.influences.strongest(vertex)).collect();
    let hard = Influences::hard(&strongest, state.influences.width);
    let blended = std::mem::replace(&mut state.influences, hard);
    let normal = Normal::new(tracks, state);
    start_rigid(tracks, &mut state.bones, &normal);
    update_rigid(tracks, &mut state.bones, &normal, 1);
    state.influences = blended;
}

/// Write the rotation part of the rows from the quaternions, as after a change of the latter.
pub(crate) fn apply_turns(tracks: &Tracks, bones: &mut Bones) {
    let n_groups = tracks.n_lanes / LANES;
    let width = 3 * n_groups;
    let turns = bones.turns.as_chunks::<LANES>().0;
    let rows = bones.rows.as_chunks_mut::<LANES>().0;
    rows.par_chunks_mut(4 * width).zip(turns.par_chunks(4 * n_groups)).for_each(|(rows, turns)| {
        for group in 0..n_groups {
            let r = matrix::<false>(&std::array::from_fn(|k| turns[k * n_groups + group]));
            (0..9).for_each(|k| rows[k / 3 * width + k % 3 * n_groups + group] = r[k]);
        }
    });
    bones.clear_padding(tracks.n_frames);
}
