//! Whether a part is its own mirror image, and which points correspond.
//!
//! # Source
//! Sinew's own. The mirror plane passes through the centroid, and its normal is a principal axis of the surface. Where
//! two principal axes are equally long, every direction between them is a principal axis, so the axes of the model are
//! tried as well.
//! # Cost
//! One closest-point query per vertex; only a few where those already show that the part is not symmetric.

use super::component::Component;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::{linalg::svd3, query::SurfaceTree};

/// How far from the surface a mirrored vertex may be, in diagonals: less than a nose is off the middle of a face.
const DISTANCE_TOLERANCE: f64 = 0.01;

/// Share of the vertices that must meet it: a parted hair or a pocket does not make a model asymmetric.
const MIN_SYMMETRIC_SHARE: f64 = 0.97;

/// Vertices sampled to choose a plane.
const N_PROBES: usize = 300;

/// A plane of symmetry of a part.
pub(super) struct Mirror {
    center: DVec3,
    normal: DVec3,
    /// For each vertex, the corners of the face its mirror image lies in, and their shares.
    images: Vec<([u32; 3], [f64; 3])>,
    /// How far each vertex can be trusted to have an image, 0..=1: a tail that hangs to one side has none.
    trust: Vec<f64>,
}

impl Mirror {
    /// The plane of symmetry, if there is one.
    pub fn find(part: &Component) -> Option<Self> {
        let (n, tolerance) = (part.mesh.n_vertices(), DISTANCE_TOLERANCE * part.mesh.diagonal());
        let center = part.centroid();
        let (tree, stride) = (SurfaceTree::new(&part.mesh), n.div_ceil(N_PROBES));
        let at = |v: usize| part.mesh.positions()[v];
        let mut best: Option<(f64, DVec3)> = None;
        for normal in [DVec3::X, DVec3::Z, DVec3::Y].into_iter().chain(principal_axes(part, center)) {
            let probes = (0..n).step_by(stride.max(1));
            let mut offsets: Vec<f64> = probes
                .filter_map(|v| tree.closest_point(reflect(at(v), center, normal)))
                .map(|image| image.distance)
                .collect();
            offsets.sort_by(f64::total_cmp);
            let Some(&most) = offsets.get((MIN_SYMMETRIC_SHARE * offsets.len() as f64) as usize) else {
                continue;
            };
            // Axes of the model that are as good as principal ones win by coming first.
            if most <= tolerance && best.is_none_or(|(least, _)| most < 0.9 * least) {
                best = Some((most, normal));
            }
        }
        let (_, normal) = best?;
        let images: Option<Vec<_>> = (0..n)
            .into_par_iter()
            .map(|v| {
                let image = tree.closest_point(reflect(at(v), center, normal))?;
                let trust = (2.0 - image.distance / tolerance.max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
                Some(((part.mesh.faces()[image.face as usize], image.barycentric), trust))
            })
            .collect();
        let (images, trust) = images?.into_iter().unzip();
        Some(Self { center, normal, images, trust })
    }

    /// The mirror image of a function.
    pub fn pull(&self, f: &[f64]) -> Vec<f64> {
        let value = |(corners, shares): &([u32; 3], [f64; 3])| {
            corners.iter().zip(shares).map(|(&v, share)| share * f[v as usize]).sum()
        };
        self.images.iter().map(value).collect()
    }

    /// A function made symmetric.
    pub fn even(&self, f: &[f64]) -> Vec<f64> {
        let values = f.iter().zip(self.pull(f)).zip(&self.trust);
        values.map(|((a, b), trust)| a + 0.5 * trust * (b - a)).collect()
    }

    /// The vertex nearest to the mirror image of one.
    pub fn image(&self, v: u32) -> u32 {
        let (corners, shares) = &self.images[v as usize];
        corners[(0..3).fold(0, |a, b| if shares[b] > shares[a] { b } else { a })]
    }

    /// The mirror image of a point.
    pub fn reflect(&self, p: DVec3) -> DVec3 {
        reflect(p, self.center, self.normal)
    }
}

fn reflect(p: DVec3, center: DVec3, normal: DVec3) -> DVec3 {
    p - 2.0 * (p - center).dot(normal) * normal
}

fn principal_axes(part: &Component, center: DVec3) -> [DVec3; 3] {
    let (mut moments, size) = (DMat3::ZERO, part.mesh.diagonal().max(f64::MIN_POSITIVE));
    for (&p, &area) in part.mesh.positions().iter().zip(&part.vertex_areas) {
        let r = (p - center) / size;
        moments += DMat3::from_cols(r * r.x, r * r.y, r * r.z) * (area / part.area);
    }
    let (axes, _, _) = svd3(&moments);
    [axes.x_axis, axes.y_axis, axes.z_axis].map(|axis| axis.normalize_or(DVec3::X))
}
