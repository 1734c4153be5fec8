//! Affine bones, with weights and rest pose fixed.
//!
//! # Source
//! Antonopoulos (2010), §3.3.1, eqs. 3.4–3.9, by one Cholesky factorisation with all frames as right-hand sides instead
//! of LSQR per frame, which takes a thousand times as long. Differs: a small multiple of the current transforms is
//! added, so that what the vertices leave undetermined (flat or isolated bones) stays as it is.
//! # Cost
//! One factorisation of 4K × 4K and 3P solutions.

use crate::{SkinError, normal::Normal, state::State, tracks::Tracks};
use rayon::prelude::*;
use sinew_geom::linalg::DenseCholesky;

/// Regularisation towards the current transforms, relative to the diagonal of the equations.
const REGULARISATION: f64 = 1e-7;
/// Extent of a bone, relative to its longest, below which it counts as flat.
const MIN_RELATIVE_EXTENT: f64 = 1e-3;
/// Frames solved together; fixed, so that the number of threads changes no bit.
const FRAMES_PER_SOLVE: usize = 24;

/// Best affine transforms of all bones in all frames.
///
/// # Errors
/// If the equations cannot be solved, which the regularisation prevents unless numbers are not finite.
pub(crate) fn update_affine(tracks: &Tracks, state: &mut State) -> Result<(), SkinError> {
    let normal = Normal::new(tracks, state);
    let ridge = ridge_of(&normal);
    solve_all(tracks, state, normal, &ridge)
}

/// Regularisation of each row.
pub(crate) fn ridge_of(normal: &Normal) -> Vec<f64> {
    let mean = (0..normal.n_bones).map(|j| normal.mass(j)).sum::<f64>() / normal.n_bones as f64;
    let mut ridge = Vec::with_capacity(4 * normal.n_bones);
    for bone in 0..normal.n_bones {
        let diagonal: [f64; 4] = std::array::from_fn(|a| normal.at(4 * bone + a, 4 * bone + a));
        let extent = diagonal[0].max(diagonal[1]).max(diagonal[2]);
        for (a, d) in diagonal.iter().enumerate() {
            let floor = if a < 3 { MIN_RELATIVE_EXTENT * extent } else { 0.0 };
            ridge.push(REGULARISATION * (d + floor + 1e-9 * mean.max(1.0)));
        }
    }
    ridge
}

fn solve_all(tracks: &Tracks, state: &mut State, normal: Normal, ridge: &[f64]) -> Result<(), SkinError> {
    let n = ridge.len();
    let Normal { mut matrix, right, width, .. } = normal;
    (0..n).for_each(|at| matrix[at * n + at] += ridge[at]);
    let factor = DenseCholesky::new(n, matrix)?;
    let bones = &state.bones;
    let runs: Vec<(usize, usize)> = (0..3)
        .flat_map(|d| {
            (0..tracks.n_frames)
                .step_by(FRAMES_PER_SOLVE)
                .map(move |f| (d, f))
                .map(|(d, f)| (d * tracks.n_lanes + f, FRAMES_PER_SOLVE.min(tracks.n_frames - f)))
        })
        .collect();
    let solved: Result<Vec<Vec<f64>>, _> = runs
        .par_iter()
        .map(|&(first, len)| {
            let mut columns = vec![0.0; n * len];
            for row in 0..n {
                for at in 0..len {
                    let place = row * width + first + at;
                    columns[at * n + row] = right[place] + ridge[row] * f64::from(bones.rows[place]);
                }
            }
            factor.solve(&mut columns).map(|()| columns)
        })
        .collect();
    for ((first, len), columns) in runs.iter().zip(solved?) {
        for row in 0..n {
            for at in 0..*len {
                state.bones.rows[row * width + first + at] = columns[at * n + row] as f32;
            }
        }
    }
    Ok(())
}

/// Best affine transforms if each vertex follows one bone: independent small systems.
pub(crate) fn update_affine_alone(tracks: &Tracks, state: &mut State, normal: &Normal, ridge: &[f64]) {
    let width = tracks.width();
    let n = 4 * normal.n_bones;
    let matrix = |bone: usize| {
        let mut m = [[0.0f64; 4]; 4];
        for c in 0..4 {
            for r in c..4 {
                m[r][c] = normal.matrix[(4 * bone + c) * n + 4 * bone + r];
            }
            m[c][c] += ridge[4 * bone + c];
        }
        factor4(m)
    };
    state.bones.rows.par_chunks_mut(4 * width).enumerate().for_each(|(bone, rows)| {
        let l = matrix(bone);
        for at in 0..width {
            let right: [f64; 4] = std::array::from_fn(|a| {
                normal.right[(4 * bone + a) * width + at]
                    + ridge[4 * bone + a] * f64::from(rows[a * width + at])
            });
            let x = solve4(&l, right);
            (0..4).for_each(|a| rows[a * width + at] = x[a] as f32);
        }
    });
}

fn factor4(mut m: [[f64; 4]; 4]) -> [[f64; 4]; 4] {
    for a in 0..4 {
        for b in 0..=a {
            let mut v = m[a][b];
            (0..b).for_each(|c| v -= m[a][c] * m[b][c]);
            m[a][b] = if a == b { v.max(f64::MIN_POSITIVE).sqrt() } else { v / m[b][b] };
        }
    }
    m
}

fn solve4(l: &[[f64; 4]; 4], mut x: [f64; 4]) -> [f64; 4] {
    for a in 0..4 {
        (0..a).for_each(|c| x[a] -= l[a][c] * x[c]);
        x[a] /= l[a][a];
    }
    for a in (0..4).rev() {
        (a + 1..4).for_each(|c| x[a] -= l[c][a] * x[c]);
        x[a] /= l[a][a];
    }
    x
}
