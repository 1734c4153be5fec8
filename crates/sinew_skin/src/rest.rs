//! The rest pose, with bones and weights fixed.
//!
//! # Source
//! Antonopoulos (2010), §5.3, eqs. 5.8–5.12: one 3 × 3 least-squares problem per vertex over all frames. Differs: the
//! default fit keeps the edges of the rest pose, because it is what an animator opens (see `shape`); without that a small
//! multiple of the input pose is added, so that undetermined directions stay as they are.
//! # Cost
//! Per vertex with k influences: 4 k + 12 passes over its path.

use crate::{
    lanes::{V, fma, groups, splat, sub, sum},
    shape::{Anchor, Shape},
    state::{Bones, State},
    tracks::Tracks,
};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::{Kernel, dispatch};

/// Regularisation towards the rest pose of the input, relative to the diagonal of the equations.
const REGULARISATION: f64 = 1e-6;
const CHUNK_VERTICES: usize = 128;

/// Best rest positions; with `shape` those of a pose whose edges stay nearly as they were.
pub(crate) fn update_rest(tracks: &Tracks, state: &mut State, shape: Option<Shape>) {
    let origins = origins(&state.bones);
    let mut rest = state.rest.clone();
    rest.par_chunks_mut(CHUNK_VERTICES).enumerate().for_each(|(chunk, rest)| {
        dispatch(Correct { tracks, state, shape, origins: &origins, first: chunk * CHUNK_VERTICES, rest });
    });
    state.rest = rest;
}

/// Where each bone takes the origin of the rest pose: `t − A c`, one row per bone.
pub(crate) fn origins(bones: &Bones) -> Vec<f32> {
    let width = bones.width();
    let mut origins = vec![0.0; bones.n_bones * width];
    origins.par_chunks_mut(width).enumerate().for_each(|(bone, origin)| {
        let rows = bones.of(bone);
        origin.copy_from_slice(&rows[3 * width..]);
        for (d, column) in rows[..3 * width].chunks_exact(width).enumerate() {
            let c = bones.centers[bone][d];
            origin.iter_mut().zip(column).for_each(|(o, a)| *o -= a * c);
        }
    });
    origins
}

struct Correct<'a> {
    tracks: &'a Tracks,
    state: &'a State,
    shape: Option<Shape>,
    origins: &'a [f32],
    first: usize,
    rest: &'a mut [[f32; 3]],
}

impl Kernel for Correct<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let width = self.tracks.width();
        for (at, u) in self.rest.iter_mut().enumerate() {
            let vertex = self.first + at;
            let path = groups(self.tracks.row(vertex));
            let mut dots = [splat(0.0); 9];
            let here = u.map(splat);
            for g in 0..width / 8 {
                let mut a = [splat(0.0); 3];
                let mut left: V = path[g];
                for (bone, weight) in self.state.influences.of(vertex) {
                    let rows = self.state.bones.of(bone as usize);
                    let w = splat(weight);
                    for d in 0..3 {
                        a[d] = fma::<FMA>(w, groups(&rows[d * width..(d + 1) * width])[g], a[d]);
                    }
                    let origin = groups(&self.origins[bone as usize * width..(bone as usize + 1) * width])[g];
                    left = fma::<FMA>(splat(-weight), origin, left);
                }
                for d in 0..3 {
                    left = sub(left, fma::<FMA>(here[d], a[d], splat(0.0)));
                }
                let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
                for (k, (i, j)) in pairs.into_iter().enumerate() {
                    dots[k] = fma::<FMA>(a[i], a[j], dots[k]);
                }
                (0..3).for_each(|d| dots[6 + d] = fma::<FMA>(a[d], left, dots[6 + d]));
            }
            let dots = dots.map(|dot| f64::from(sum(dot)));
            let anchor = match self.shape {
                Some(shape) => shape.anchor(self.tracks, &self.state.rest, vertex),
                None => {
                    let pull = REGULARISATION * (dots[0] + dots[3] + dots[5]) / 3.0 + 1e-12;
                    Anchor { place: self.tracks.rest[vertex], pull }
                }
            };
            *u = solve(dots, *u, anchor);
        }
    }
}

/// The correction `(AᵀA + μ) e = Aᵀ r + μ (u₀ − u)` added to `u`.
fn solve(dots: [f64; 9], u: [f32; 3], Anchor { place, pull }: Anchor) -> [f32; 3] {
    let [xx, xy, xz, yy, yz, zz, rx, ry, rz] = dots;
    let matrix = DMat3::from_cols(
        DVec3::new(xx + pull, xy, xz),
        DVec3::new(xy, yy + pull, yz),
        DVec3::new(xz, yz, zz + pull),
    );
    let [u, place] = [u, place].map(|p| DVec3::from_array(p.map(f64::from)));
    let step = matrix.inverse() * (DVec3::new(rx, ry, rz) + pull * (place - u));
    let moved = u + step;
    if moved.is_finite() { moved.as_vec3().to_array() } else { u.as_vec3().to_array() }
}
