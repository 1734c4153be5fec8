//! Transforms by the solvers of Antonopoulos (2010), frame by frame.
//!
//! # Source
//! Antonopoulos (2010): affine transforms by LSQR on eqs. 3.6–3.9 (§3.3.1), rigid ones by linearised dual quaternions
//! (§3.3.2, eqs. 3.10–3.14, after Kavan et al. 2007). Differs: the rows of eq. 3.6 for x, y, z are the same, so one
//! matrix of N rows serves all three; in eq. 3.12 the signs are those that follow from `v̂ q̂ − q̂ û = 0` with our
//! quaternions. After the linear solve each dual quaternion is scaled to unit length, and its translation is refitted
//! for the blend by sweeps over the bones that keep the rotations.
//! # Symbols
//! `q = (1, x, y, z)` rotation and `q_ε` dual part of a bone, the real part held at one
//! # Limits
//! A half turn cannot be represented with a real part of one. The result is played by linear blending although dual
//! quaternions were fitted, so the error is larger than that of `rigid`.

use crate::{SkinError, state::State, tracks::Tracks};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::{IterationParams, SparseMatrix, lsqr};

/// When LSQR stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LsqrParams {
    /// Tolerance. Default 5e-5, as in Antonopoulos (2010), figure 3.10.
    pub tolerance: f64,
    /// Largest number of iterations per right-hand side. Default 4000.
    pub max_iterations: usize,
}

impl Default for LsqrParams {
    fn default() -> Self {
        Self { tolerance: 5e-5, max_iterations: 4000 }
    }
}

impl LsqrParams {
    fn to_params(self) -> IterationParams {
        IterationParams { tolerance: self.tolerance, max_iterations: self.max_iterations }
    }
}

fn about(state: &State, vertex: usize, bone: usize) -> DVec3 {
    let (u, c) = (state.rest[vertex], state.bones.centers[bone]);
    DVec3::from_array(std::array::from_fn(|d| f64::from(u[d] - c[d])))
}

/// Affine transforms by LSQR, per frame and coordinate.
///
/// # Errors
/// Numbers that are not finite.
pub(crate) fn affine_by_lsqr(
    tracks: &Tracks,
    state: &mut State,
    params: LsqrParams,
) -> Result<(), SkinError> {
    let (n, n_bones, width) = (tracks.n_vertices, state.bones.n_bones, tracks.width());
    let mut triplets = Vec::new();
    for vertex in 0..n {
        for (bone, w) in state.influences.of(vertex) {
            let h = about(state, vertex, bone as usize) * f64::from(w);
            let column = 4 * u32::from(bone);
            (0..3).for_each(|d| triplets.push((vertex as u32, column + d as u32, h[d])));
            triplets.push((vertex as u32, column + 3, f64::from(w)));
        }
    }
    let a = SparseMatrix::from_triplets(n, 4 * n_bones, triplets);
    let columns: Vec<usize> = (0..3)
        .flat_map(|d| (0..tracks.n_frames).map(move |f| (d, f)))
        .map(|(d, f)| d * tracks.n_lanes + f)
        .collect();
    let solved: Result<Vec<Vec<f64>>, _> = columns
        .par_iter()
        .map(|&at| {
            let right: Vec<f64> = (0..n).map(|v| f64::from(tracks.row(v)[at])).collect();
            lsqr(&a, &right, 0.0, &params.to_params()).map(|(x, _)| x)
        })
        .collect();
    for (&at, x) in columns.iter().zip(solved?) {
        x.iter().enumerate().for_each(|(row, x)| state.bones.rows[row * width + at] = *x as f32);
    }
    Ok(())
}

/// Rigid transforms by linearised dual quaternions. The bones must be rigid ones.
///
/// # Errors
/// Numbers that are not finite.
pub(crate) fn rigid_by_dual_quaternions(
    tracks: &Tracks,
    state: &mut State,
    params: LsqrParams,
) -> Result<(), SkinError> {
    let frames: Vec<usize> = (0..tracks.n_frames).collect();
    let moves: Result<Vec<Vec<(DQuat, DVec3)>>, SkinError> =
        frames.par_iter().map(|&frame| dual_frame(tracks, state, frame, params)).collect();
    let (lanes, width) = (tracks.n_lanes, tracks.width());
    for (frame, moves) in moves?.into_iter().enumerate() {
        for (bone, (q, shift)) in moves.into_iter().enumerate() {
            let center = q * DVec3::from_array(state.bones.centers[bone].map(f64::from)) + shift;
            let q = q.to_array();
            (0..4).for_each(|k| state.bones.turns[(4 * bone + k) * lanes + frame] = q[k] as f32);
            let rows = &mut state.bones.rows;
            (0..3).for_each(|d| rows[(4 * bone + 3) * width + d * lanes + frame] = center[d] as f32);
        }
    }
    crate::rigid::apply_turns(tracks, &mut state.bones);
    fit_shifts(tracks, state);
    Ok(())
}

/// Rotations and shifts of all bones in a frame, from the 4N × 7B system of eqs. 3.12–3.14.
fn dual_frame(
    tracks: &Tracks,
    state: &State,
    frame: usize,
    params: LsqrParams,
) -> Result<Vec<(DQuat, DVec3)>, SkinError> {
    let n = tracks.n_vertices;
    let n_bones = state.bones.n_bones;
    let (mut triplets, mut right) = (Vec::new(), vec![0.0; 4 * n]);
    for vertex in 0..n {
        let row = tracks.row(vertex);
        let v = DVec3::from_array(std::array::from_fn(|d| f64::from(row[d * tracks.n_lanes + frame])));
        let r = 4 * vertex as u32;
        for (bone, w) in state.influences.of(vertex) {
            let w = f64::from(w);
            let u = state.rest[vertex];
            let u = DVec3::from_array(u.map(f64::from));
            let (s, d) = (v + u, v - u);
            let c = 7 * u32::from(bone);
            // v q₀ − q₀ u − 2 q_ε = 0 for q₀ = 1 + x i + y j + z k, component by component: real, i, j, k.
            let entries = [
                (0, 0, -d.x),
                (0, 1, -d.y),
                (0, 2, -d.z),
                (0, 3, -2.0),
                (1, 1, -s.z),
                (1, 2, s.y),
                (1, 4, -2.0),
                (2, 0, s.z),
                (2, 2, -s.x),
                (2, 5, -2.0),
                (3, 0, -s.y),
                (3, 1, s.x),
                (3, 6, -2.0),
            ];
            triplets.extend(entries.iter().map(|&(i, j, x)| (r + i, c + j, w * x)));
            (0..3).for_each(|k| right[4 * vertex + 1 + k] -= w * d[k]);
        }
    }
    let a = SparseMatrix::from_triplets(4 * n, 7 * n_bones, triplets);
    let (x, _) = lsqr(&a, &right, 0.0, &params.to_params())?;
    let motion = |x: &[f64; 7]| {
        // t = 2 q_ε q₀* for a unit q₀.
        let (real, dual) =
            (DQuat::from_xyzw(x[0], x[1], x[2], 1.0), DQuat::from_xyzw(x[4], x[5], x[6], x[3]));
        let shift = (dual * real.conjugate()).xyz() * 2.0 / real.length_squared();
        (real.normalize(), shift)
    };
    Ok(x.as_chunks::<7>().0.iter().map(motion).collect())
}

/// Best translations for given rotations, by sweeps over the bones.
fn fit_shifts(tracks: &Tracks, state: &mut State) {
    const SWEEPS: usize = 20;
    let (n_bones, lanes, width) = (state.bones.n_bones, tracks.n_lanes, tracks.width());
    let (starts, pairs) = state.influences.by_bone(n_bones);
    let mut left: Vec<Vec<DVec3>> = (0..tracks.n_vertices)
        .into_par_iter()
        .map(|vertex| {
            let moved = |frame: usize| -> DVec3 {
                let row = tracks.row(vertex);
                let at = |row: &[f32], a: usize| {
                    DVec3::from_array(std::array::from_fn(|d| f64::from(row[a * width + d * lanes + frame])))
                };
                let blend: DVec3 = state
                    .influences
                    .of(vertex)
                    .map(|(bone, w)| {
                        let rows = state.bones.of(bone as usize);
                        let a = DMat3::from_cols(at(rows, 0), at(rows, 1), at(rows, 2));
                        f64::from(w) * (a * about(state, vertex, bone as usize) + at(rows, 3))
                    })
                    .sum();
                at(row, 0) - blend
            };
            (0..tracks.n_frames).map(moved).collect()
        })
        .collect();
    for _ in 0..SWEEPS {
        for bone in 0..n_bones {
            let members = &pairs[starts[bone] as usize..starts[bone + 1] as usize];
            let mass: f64 = members.iter().map(|(_, w)| f64::from(*w).powi(2)).sum();
            if mass < 1e-12 {
                continue;
            }
            for frame in 0..tracks.n_frames {
                let shift =
                    members.iter().map(|&(v, w)| f64::from(w) * left[v as usize][frame]).sum::<DVec3>()
                        / mass;
                members.iter().for_each(|&(v, w)| left[v as usize][frame] -= f64::from(w) * shift);
                let rows = &mut state.bones.rows;
                (0..3).for_each(|d| rows[(4 * bone + 3) * width + d * lanes + frame] += shift[d] as f32);
            }
        }
    }
}
