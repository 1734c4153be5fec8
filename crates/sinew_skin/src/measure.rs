//! Error of a skin relative to its sequence.
//!
//! # Source
//! Antonopoulos (2010), §6.3: distortion percentage `dE` (eq. 6.1), `E_RMS` (eq. 6.2), averaged closest distances
//! `d_avg` (eq. 6.3, here from the vertices of each to the surface of the other).
//! # Limits
//! `d_avg` is computed over at most [`CLOSEST_FRAMES`] frames, evenly spread, and fewer for large meshes, because it
//! can take longer than a fit.

use crate::{
    FittedSkin, SkinError,
    normals::{NormalErrors, NormalSums},
    source::check_length,
    tracks::Tracks,
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, query::SurfaceTree};

/// Largest number of frames whose closest distances are measured.
pub const CLOSEST_FRAMES: usize = 16;

/// Errors of a skin; lengths in the caller's units unless stated otherwise.
#[derive(Debug, Clone, PartialEq)]
pub struct SkinErrors {
    /// Distortion in percent of the motion (eq. 6.1); for frames that do not move, zero if there is no error and
    /// infinite otherwise.
    pub de: f64,
    /// 100 × root mean square over coordinates (eq. 6.2).
    pub e_rms: f64,
    /// `e_rms` with the rest pose scaled to a diagonal of one: percent of the diagonal.
    pub e_rms_diag1: f64,
    /// Mean of the closest distances from either surface to the other (eq. 6.3).
    pub d_avg: f64,
    /// Largest distance of a vertex from its true position.
    pub max: f64,
    /// Angles between facets.
    pub normals: NormalErrors,
    /// Root mean square distance of the vertices, frame by frame.
    pub per_frame: Vec<f64>,
    /// Root mean square distance over the frames, vertex by vertex.
    pub per_vertex: Vec<f64>,
}

/// Sums up errors frame by frame.
pub(crate) struct Sums {
    total: f64,
    max: f64,
    per_frame: Vec<f64>,
    per_vertex: Vec<f64>,
    closest: Vec<f64>,
    normals: NormalSums,
}

impl Sums {
    pub fn new(mesh: &Mesh) -> Self {
        Self {
            total: 0.0,
            max: 0.0,
            per_frame: Vec::new(),
            per_vertex: vec![0.0; mesh.n_vertices()],
            closest: Vec::new(),
            normals: NormalSums::new(mesh),
        }
    }

    pub fn add(&mut self, wanted: &[DVec3], found: &[DVec3]) {
        let mut squared = 0.0;
        for ((sum, a), b) in self.per_vertex.iter_mut().zip(wanted).zip(found) {
            let e = a.distance_squared(*b);
            *sum += e;
            squared += e;
            self.max = self.max.max(e.sqrt());
        }
        self.total += squared;
        self.normals.add(wanted, found);
        self.per_frame.push((squared / wanted.len() as f64).sqrt());
    }

    pub fn add_closest(&mut self, mesh: &Mesh, wanted: &[DVec3], found: &[DVec3]) -> Result<(), SkinError> {
        self.closest.push(closest_distance(mesh, wanted, found)?);
        Ok(())
    }

    pub fn finish(self, spread: f64, diagonal: f64) -> SkinErrors {
        let (n, n_frames) = (self.per_vertex.len(), self.per_frame.len());
        let e_rms = 100.0 * (self.total / (3 * n * n_frames).max(1) as f64).sqrt();
        // Rounding is not distortion where nothing moves; files and players round to single precision.
        let is_rounding = self.max <= 1e-5 * diagonal;
        let de = if spread == 0.0 && is_rounding { 0.0 } else { 100.0 * (self.total / spread).sqrt() };
        SkinErrors {
            de,
            e_rms,
            e_rms_diag1: e_rms / diagonal,
            d_avg: self.closest.iter().sum::<f64>() / self.closest.len().max(1) as f64,
            max: self.max,
            normals: self.normals.finish(),
            per_vertex: self.per_vertex.iter().map(|e| (e / n_frames.max(1) as f64).sqrt()).collect(),
            per_frame: self.per_frame,
        }
    }
}

/// Approximate number of vertices, over all frames, whose closest points are found.
const CLOSEST_VERTICES: usize = 500_000;

/// Whether the closest distances of a frame are measured.
pub(crate) fn is_closest_frame(frame: usize, n_frames: usize, n_vertices: usize) -> bool {
    let n = n_frames.min(CLOSEST_FRAMES).min((CLOSEST_VERTICES / n_vertices.max(1)).max(1));
    (0..n).any(|k| k * n_frames / n == frame)
}

/// # Errors
/// If a skin does not belong to these tracks.
pub(crate) fn check_size(tracks: &Tracks, skin: &FittedSkin) -> Result<(), SkinError> {
    if skin.n_vertices() == tracks.n_vertices && skin.n_frames() == tracks.n_frames {
        return Ok(());
    }
    let value = format!("{} vertices in {} frames", skin.n_vertices(), skin.n_frames());
    let expected = "it must have the vertices and frames of the sequence";
    Err(SkinError::Parameter { name: "skin", value, expected })
}

pub(crate) fn measure_tracks(
    tracks: &Tracks,
    rest: &Mesh,
    positions: &mut dyn FnMut(usize) -> Result<Vec<DVec3>, SkinError>,
) -> Result<SkinErrors, SkinError> {
    let mut sums = Sums::new(rest);
    let mut wanted = vec![DVec3::ZERO; tracks.n_vertices];
    for frame in 0..tracks.n_frames {
        tracks.frame(frame, &mut wanted);
        let found = positions(frame)?;
        check_length(frame, wanted.len(), found.len())?;
        sums.add(&wanted, &found);
        if is_closest_frame(frame, tracks.n_frames, tracks.n_vertices) && rest.n_faces() > 0 {
            sums.add_closest(rest, &wanted, &found)?;
        }
    }
    Ok(sums.finish(tracks.spread, tracks.scale))
}

/// Mean of both directions' mean distances to the other's surface (eq. 6.3). Vertices without a face are ignored.
fn closest_distance(mesh: &Mesh, a: &[DVec3], b: &[DVec3]) -> Result<f64, SkinError> {
    let mut is_surface = vec![false; mesh.n_vertices()];
    mesh.faces().iter().flatten().for_each(|&v| is_surface[v as usize] = true);
    let n_surface = is_surface.iter().filter(|is| **is).count();
    let one_way = |from: &[DVec3], to: &[DVec3]| -> Result<f64, SkinError> {
        let tree = SurfaceTree::new(&mesh.with_positions(to.to_vec())?);
        let distances: Vec<f64> = from
            .par_iter()
            .zip(&is_surface)
            .with_min_len(256)
            .filter(|(_, is_surface)| **is_surface)
            .map(|(p, _)| tree.closest_point(*p).map_or(0.0, |hit| hit.position.distance(*p)))
            .collect();
        Ok(distances.iter().sum::<f64>() / n_surface.max(1) as f64)
    };
    Ok(0.5 * (one_way(a, b)? + one_way(b, a)?))
}
