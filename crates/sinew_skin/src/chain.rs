//! An affine bone as two joints: glTF joints turn, scale and shift, but do not shear.
//!
//! Any matrix is `A = R₁ S R₂` with rotations and a scale (its singular value decomposition), so a joint that turns by
//! `R₁` and scales by `S` with a child that turns by `R₂` does what the bone does. `R₂` stays constant whenever that
//! costs less than a tolerance, so that most curves are constant. Otherwise, of the many such triples of a frame, the
//! one is chosen for which players interpolate closest to the straight path from the last matrix. Bones of cloth,
//! which nothing constrains across the surface, still turn inside out within a frame: there, keys between frames are
//! added until players stay near the straight path.

use glam::{DMat3, DQuat, DVec3};
use sinew_geom::linalg::svd3;

/// One frame of a chain.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Link {
    pub outer: DQuat,
    pub scale: DVec3,
    pub inner: DQuat,
}

impl Link {
    pub const REST: Self = Self { outer: DQuat::IDENTITY, scale: DVec3::ONE, inner: DQuat::IDENTITY };

    /// The matrix the chain makes.
    pub fn matrix(&self) -> DMat3 {
        DMat3::from_quat(self.outer) * DMat3::from_diagonal(self.scale) * DMat3::from_quat(self.inner)
    }

    /// What players show halfway to another one.
    fn halfway(&self, other: &Self) -> Self {
        Self {
            outer: halfway(self.outer, other.outer),
            scale: 0.5 * (self.scale + other.scale),
            inner: halfway(self.inner, other.inner),
        }
    }

    /// The chain of a matrix that follows this one best.
    fn towards(&self, a: &DMat3, tolerance: Tolerance) -> Self {
        let link = with_inner(a, self, tolerance.at).unwrap_or_else(|| straightest(a, self, tolerance));
        Self { outer: aligned(link.outer, self.outer), inner: aligned(link.inner, self.inner), ..link }
    }
}

fn halfway(a: DQuat, b: DQuat) -> DQuat {
    (a + aligned(b, a)).normalize()
}

/// Entries of matrices that were computed in single precision have at least this error.
const MATRIX_ROUNDING: f64 = 4e-6;

/// Largest number of halvings of a frame.
const MAX_HALVINGS: usize = 4;

/// Tolerances of chains.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tolerance {
    /// Entries of matrices at the frames.
    pub at: f64,
    /// Vertices of the bone between frames, distance from the straight path, root mean square.
    pub between: f64,
    /// A root of the second moments of the bone's vertices: `‖E shape‖` is how far an error `E` of the matrix moves
    /// them; directions across a flat bone do not count.
    pub shape: DMat3,
}

impl Tolerance {
    fn moved(&self, error: &DMat3) -> f64 {
        (*error * self.shape).to_cols_array().iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}

/// Turn between two frames, in radians, up to which joints with a constant child get no extra keys: they move along
/// an arc, as a turning surface does.
const MAX_ARC_RADIANS: f64 = 1.0;

/// Chains of a bone's matrices, frame after frame, with their times in frames: whole ones, and some between. There are
/// none between a frame and the next of another clip; `starts` are the first frames of clips.
pub(crate) fn split_affine(
    matrices: &[DMat3],
    starts: &[usize],
    tolerance: Tolerance,
) -> (Vec<f64>, Vec<Link>) {
    let tolerance = Tolerance { at: tolerance.at.max(MATRIX_ROUNDING), ..tolerance };
    let (mut places, mut links): (Vec<f64>, Vec<Link>) = (Vec::new(), Vec::new());
    for (frame, matrix) in matrices.iter().enumerate() {
        let last = links.last().copied().unwrap_or(Link::REST);
        let next = last.towards(matrix, tolerance);
        match frame.checked_sub(1).filter(|_| !starts.contains(&frame)) {
            Some(before) => {
                let ends = [(before as f64, matrices[before]), (frame as f64, *matrix)];
                halve(ends, [last, next], tolerance, MAX_HALVINGS, &mut |place, link| {
                    places.push(place);
                    links.push(link);
                });
            }
            None => {
                places.push(frame as f64);
                links.push(next);
            }
        }
    }
    (places, links)
}

/// Links from one place to the next, without the first and with the last.
fn halve(
    [(from, a), (to, b)]: [(f64, DMat3); 2],
    [first, last]: [Link; 2],
    tolerance: Tolerance,
    halvings: usize,
    put: &mut dyn FnMut(f64, Link),
) -> Link {
    let middle = 0.5 * (a + b);
    let is_arc = first.inner == last.inner
        && first.outer.angle_between(aligned(last.outer, first.outer)) < MAX_ARC_RADIANS;
    let off = || tolerance.moved(&(first.halfway(&last).matrix() - middle));
    if halvings == 0 || is_arc || off() <= tolerance.between {
        put(to, last);
        return last;
    }
    let place = 0.5 * (from + to);
    let link = first.towards(&middle, tolerance);
    let link = halve([(from, a), (place, middle)], [first, link], tolerance, halvings - 1, put);
    let last = link.towards(&b, tolerance);
    halve([(place, middle), (to, b)], [link, last], tolerance, halvings - 1, put)
}

/// Largest entry.
fn worst(m: &DMat3) -> f64 {
    m.to_cols_array().iter().fold(0.0, |worst: f64, x| x.abs().max(worst))
}

/// The same rotation with the sign of `to`, so that curves take the short way.
fn aligned(q: DQuat, to: DQuat) -> DQuat {
    if q.dot(to) < 0.0 { -q } else { q }
}

/// The chain with the same inner rotation, if it reproduces the matrix.
fn with_inner(a: &DMat3, last: &Link, tolerance: f64) -> Option<Link> {
    let b = *a * DMat3::from_quat(last.inner).transpose();
    let columns = [b.x_axis, b.y_axis, b.z_axis];
    let lengths = DVec3::from_array(columns.map(DVec3::length));
    if lengths.min_element() < 1e-9 {
        return None;
    }
    // The rotation nearest to the directions of the columns; a mirroring makes one scale negative.
    let sign = if b.determinant() < 0.0 { -1.0 } else { 1.0 };
    let units =
        DMat3::from_cols(columns[0] / lengths.x, columns[1] / lengths.y, sign * columns[2] / lengths.z);
    let (u, _, v) = svd3(&units);
    let outer = u * v.transpose();
    let scale =
        DVec3::new(outer.x_axis.dot(columns[0]), outer.y_axis.dot(columns[1]), outer.z_axis.dot(columns[2]));
    let missed = outer * DMat3::from_diagonal(scale) - b;
    (worst(&missed) <= tolerance).then(|| Link {
        outer: DQuat::from_mat3(&outer).normalize(),
        scale,
        inner: last.inner,
    })
}

/// Half turns that are absorbed by the scale, of which two may be negative.
const SIGNS: [DVec3; 4] =
    [DVec3::ONE, DVec3::new(1.0, -1.0, -1.0), DVec3::new(-1.0, 1.0, -1.0), DVec3::new(-1.0, -1.0, 1.0)];

/// Of the chains that reproduce the matrix exactly, the one with the straightest interpolation from another.
fn straightest(a: &DMat3, last: &Link, tolerance: Tolerance) -> Link {
    let (u, sigma, v) = svd3(a);
    let middle = 0.5 * (last.matrix() + *a);
    let mut best = (f64::INFINITY, Link::REST);
    for p in signed_permutations() {
        let inner = DQuat::from_mat3(&(v * p).transpose()).normalize();
        let scale = (p.transpose() * DMat3::from_diagonal(sigma) * p).to_cols_array();
        let scale = DVec3::new(scale[0], scale[4], scale[8]);
        for signs in SIGNS {
            let outer = DQuat::from_mat3(&(u * p * DMat3::from_diagonal(signs))).normalize();
            let link = Link { outer, scale: signs * scale, inner };
            let off = tolerance.moved(&(last.halfway(&link).matrix() - middle));
            if off < best.0 - 1e-9 {
                best = (off, link);
            }
        }
    }
    best.1
}

/// The 24 rotations that permute the axes.
fn signed_permutations() -> impl Iterator<Item = DMat3> {
    let axes = [DVec3::X, DVec3::Y, DVec3::Z];
    (0..3).flat_map(move |i| (0..3).filter(move |&j| j != i).map(move |j| (i, j))).flat_map(move |(i, j)| {
        [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(s, t)| {
            let (x, y) = (s * axes[i], t * axes[j]);
            DMat3::from_cols(x, y, x.cross(y))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LOOSE_TOLERANCE: f64 = 1e9;

    /// Links at the frames themselves.
    fn at_frames(matrices: &[DMat3], at: f64) -> Vec<Link> {
        let (places, links) =
            split_affine(matrices, &[0], Tolerance { at, between: LOOSE_TOLERANCE, shape: DMat3::IDENTITY });
        assert_eq!(places, (0..matrices.len()).map(|f| f as f64).collect::<Vec<_>>());
        links
    }

    proptest! {
        /// Every matrix is reproduced, also flat and mirrored ones, within the tolerance.
        #[test]
        fn chains_make_their_matrices(
            entries in prop::collection::vec(prop::array::uniform9(-1.5..1.5f64), 1..6),
            tolerance in prop::sample::select(vec![0.0, 1e-6, 1e-3]),
        ) {
            let matrices: Vec<DMat3> = entries.iter().map(DMat3::from_cols_array).collect();
            for (link, a) in at_frames(&matrices, tolerance).iter().zip(&matrices) {
                prop_assert!(worst(&(link.matrix() - *a)) < 1e-9 + tolerance.max(MATRIX_ROUNDING));
            }
        }

        /// Rotations that scale along fixed axes need no inner rotation, whatever the noise.
        #[test]
        fn what_does_not_shear_needs_no_inner_joint(angle in -3.0..3.0f64, noise in -1e-7..1e-7f64) {
            let turn = DMat3::from_rotation_y(angle);
            let matrices = [turn, turn * DMat3::from_diagonal(DVec3::new(1.0 + noise, 0.8, 1.1))];
            for link in at_frames(&matrices, 1e-6) {
                prop_assert_eq!(link.inner, DQuat::IDENTITY);
            }
        }
    }

    /// A bone of cloth: the direction across the surface is arbitrary from frame to frame.
    #[test]
    fn between_wild_frames_players_stay_near_the_straight_way() {
        let random = |k: usize| ((k as f64 * 12.9898).sin() * 43758.5453).fract();
        let matrix = |f: usize| {
            let across = DVec3::from_array(std::array::from_fn(|d| 2.0 * random(3 * f + d)));
            DMat3::from_rotation_x(0.2 * f as f64) * DMat3::from_cols(DVec3::X, DVec3::Y, across)
        };
        let matrices: Vec<DMat3> = (0..60).map(matrix).collect();
        let (places, links) =
            split_affine(&matrices, &[0, 30], Tolerance { at: 1e-6, between: 0.05, shape: DMat3::IDENTITY });
        assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(!places.iter().any(|place| *place > 29.0 && *place < 30.0), "none between two clips");
        for (place, pair) in places.windows(2).zip(links.windows(2)).filter(|(place, _)| place[0] != 29.0) {
            let middle = 0.5 * (place[0] + place[1]);
            let (frame, share) = (middle.floor() as usize, middle.fract());
            let straight = (1.0 - share) * matrices[frame] + share * matrices[frame + 1];
            let off = worst(&(pair[0].halfway(&pair[1]).matrix() - straight));
            assert!(off < 0.2, "{off} at {middle}");
        }
    }

    #[test]
    fn a_smooth_motion_has_smooth_curves() {
        let at = |t: f64| {
            let shear =
                DMat3::from_cols(DVec3::new(1.0, 0.3 * t.sin(), 0.0), DVec3::Y, DVec3::new(0.0, 0.0, 1.2));
            DMat3::from_rotation_z(0.3 * t) * shear
        };
        let matrices: Vec<DMat3> = (0..100).map(|f| at(0.05 * f as f64)).collect();
        let links = at_frames(&matrices, 1e-6);
        for (pair, matrices) in links.windows(2).zip(matrices.windows(2)) {
            let off = worst(&(pair[0].halfway(&pair[1]).matrix() - 0.5 * (matrices[0] + matrices[1])));
            assert!(off < 5e-3, "{off}");
        }
    }
}
