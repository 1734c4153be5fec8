//! Planes in which a body mirrors itself.
//!
//! # Source
//! Candidate planes refined by reflecting samples, matching each with the nearest point of the body and fitting a plane to
//! the matches, as in Podolak et al., *A planar-reflective symmetry transform for 3D shapes* (2006), §5, with nearest points
//! in place of their transform.
//! # Cost
//! Some 60,000 searches for nearest points.

use crate::kd_tree::KdTree;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::linalg::symmetric_eigen;

/// A plane and how far reflected points are from the body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plane {
    pub normal: DVec3,
    pub offset: f64,
    /// Mean distance of reflected points from the body, as a share of the diagonal.
    pub error: f64,
}

impl Plane {
    pub fn height(&self, point: DVec3) -> f64 {
        point.dot(self.normal) - self.offset
    }

    pub fn mirror(&self, point: DVec3) -> DVec3 {
        point - 2.0 * self.height(point) * self.normal
    }

    pub fn project(&self, point: DVec3) -> DVec3 {
        point - self.height(point) * self.normal
    }
}

/// Samples that are reflected, and points they are compared with.
const N_SAMPLES: usize = 900;
const N_POINTS: usize = 6000;
/// Planes in no special direction that are tried.
const N_DIRECTIONS: usize = 40;
/// Distances beyond this share of the diagonal count alike: a missing arm is not worse for being long.
const MAX_DISTANCE_SHARE: f64 = 0.05;

/// Planes of symmetry of points whose bounding box has a diagonal of about 1, best first, no two of them close.
pub(crate) fn find_planes(points: &[DVec3]) -> Vec<Plane> {
    let points = thin_out(points, N_POINTS);
    if points.len() < 8 {
        return vec![Plane { normal: DVec3::X, offset: 0.0, error: 1.0 }];
    }
    let samples = thin_out(&points, N_SAMPLES);
    let tree = KdTree::new(&points);
    let coarse = thin_out(&samples, N_SAMPLES / 6);
    let mut starts: Vec<(f64, usize, Plane)> = candidates(&points)
        .into_par_iter()
        .enumerate()
        .map(|(i, plane)| {
            let refined = refine(plane, &coarse, &points, &tree, 3);
            (refined.error, i, refined)
        })
        .collect();
    starts.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    // Axes of the file always get their chance.
    let chosen: Vec<_> =
        starts.iter().enumerate().filter(|(k, s)| *k < 10 || s.1 < 3).map(|(_, s)| *s).collect();
    let mut planes: Vec<Plane> = chosen
        .into_par_iter()
        .map(|(_, i, plane)| {
            let mut plane = refine(plane, &samples, &points, &tree, 6);
            // A little for the axes of the file, most for the first: bodies are rarely turned in their files.
            plane.error -= [0.003, 0.002, 0.002].get(i).copied().unwrap_or(0.0);
            snap(plane)
        })
        .collect();
    planes.sort_by(|a, b| a.error.total_cmp(&b.error));
    let mut distinct: Vec<Plane> = Vec::new();
    for plane in planes {
        let is_near = |other: &Plane| {
            other.normal.dot(plane.normal).abs() > 0.97
                && (other.offset * other.normal).distance(plane.offset * plane.normal) < 0.05
        };
        if !distinct.iter().any(is_near) {
            distinct.push(plane);
        }
    }
    distinct
}

/// Mean distance of the mirror images of points from the points.
pub(crate) fn mirror_error(plane: &Plane, points: &[DVec3]) -> f64 {
    let points = thin_out(points, N_POINTS);
    error_of(plane, &thin_out(&points, N_SAMPLES), &KdTree::new(&points))
}

fn error_of(plane: &Plane, samples: &[DVec3], tree: &KdTree) -> f64 {
    let sum: f64 = samples.iter().map(|&p| tree.nearest(plane.mirror(p)).0.min(MAX_DISTANCE_SHARE)).sum();
    sum / samples.len().max(1) as f64
}

/// About `n` points, evenly taken from the list.
pub(crate) fn thin_out(points: &[DVec3], n: usize) -> Vec<DVec3> {
    let stride = (points.len() as f64 / n as f64).max(1.0);
    let count = (points.len() as f64 / stride) as usize;
    (0..count).map(|i| points[(i as f64 * stride) as usize]).collect()
}

fn candidates(points: &[DVec3]) -> Vec<Plane> {
    let n = points.len() as f64;
    let mean = points.iter().sum::<DVec3>() / n;
    let [low, high] = sinew_geom::mesh::bounds(points);
    let through = |normal: DVec3, point: DVec3| Plane { normal, offset: normal.dot(point), error: 1.0 };
    let mut planes: Vec<Plane> = DVec3::AXES.iter().map(|&axis| through(axis, 0.5 * (low + high))).collect();
    let covariance = points.iter().fold(DMat3::ZERO, |sum, &p| sum + outer(p - mean));
    let (_, axes) = symmetric_eigen(&covariance.to_cols_array(), 3);
    planes.extend(axes.chunks(3).map(|a| through(DVec3::new(a[0], a[1], a[2]), mean)));
    // Points of a spiral on half a ball.
    for i in 0..N_DIRECTIONS {
        let z = (i as f64 + 0.5) / N_DIRECTIONS as f64;
        let (sin, cos) = (2.399_963 * i as f64).sin_cos();
        let r = (1.0 - z * z).sqrt();
        planes.push(through(DVec3::new(r * cos, r * sin, z), mean));
    }
    planes
}

fn outer(v: DVec3) -> DMat3 {
    DMat3::from_cols(v.x * v, v.y * v, v.z * v)
}

fn refine(start: Plane, samples: &[DVec3], points: &[DVec3], tree: &KdTree, rounds: usize) -> Plane {
    let mut plane = start;
    for _ in 0..rounds {
        let mut scatter = DMat3::ZERO;
        let (mut middle, mut total) = (DVec3::ZERO, 0.0);
        for &sample in samples {
            let (distance, k) = tree.nearest(plane.mirror(sample));
            let weight = (-(distance / (0.6 * MAX_DISTANCE_SHARE)).powi(2)).exp();
            scatter += weight * outer(sample - points[k]);
            middle += weight * 0.5 * (sample + points[k]);
            total += weight;
        }
        let (_, axes) = symmetric_eigen(&scatter.to_cols_array(), 3);
        let normal = DVec3::new(axes[6], axes[7], axes[8]);
        if !normal.is_finite() || normal.dot(plane.normal).abs() < 0.8 || total <= 0.0 {
            break;
        }
        plane.normal = normal * normal.dot(plane.normal).signum();
        plane.offset = plane.normal.dot(middle / total);
    }
    plane.error = error_of(&plane, samples, tree);
    plane
}

/// Turn onto an axis of the file that is within 5°, the normal towards its positive end.
pub(crate) fn snap(mut plane: Plane) -> Plane {
    let k = plane.normal.abs().max_position();
    let sign = plane.normal[k].signum();
    plane.normal *= sign;
    plane.offset *= sign;
    if plane.normal[k] > 0.996 {
        plane.normal = DVec3::AXES[k];
    }
    plane
}
