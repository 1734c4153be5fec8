//! The paths of all vertices, in the form the fit works on.
//!
//! Each frame is taken relative to its own centroid, so that a walk across the room costs no precision, and lengths
//! are divided by the diagonal of the rest pose. A vertex's path is one row: x of all frames, then y, then z, each
//! padded with zeros to a multiple of eight frames.

use crate::{FrameSource, SkinError, lanes::LANES};
use glam::{DVec3, Vec3};
use sinew_geom::{
    Mesh,
    mesh::{Adjacency, Ragged, bounds},
};

/// Rows of paths and the transform back to the caller's space.
#[derive(Debug, Clone)]
pub(crate) struct Tracks {
    pub n_vertices: usize,
    pub n_frames: usize,
    /// Frames with padding.
    pub n_lanes: usize,
    rows: Vec<f32>,
    /// Rest pose relative to `rest_center`, in diagonals.
    pub rest: Vec<[f32; 3]>,
    pub rest_center: DVec3,
    /// Centroid of each frame.
    pub centers: Vec<DVec3>,
    /// The length that is scaled to one.
    pub scale: f64,
    /// `‖A − A_avg‖²` in the caller's units (denominator of Antonopoulos (2010), eq. 6.1).
    pub spread: f64,
    pub neighbors: Ragged,
    /// Coordinates of a path in all frames: more than `3 n_frames` if paths are [summarised](crate::summary).
    pub n_coordinates: usize,
    /// Squared length of the part of all paths that a summary drops.
    pub left_out: f64,
}

impl Tracks {
    /// Read all frames.
    ///
    /// # Errors
    /// No frames or vertices, or a broken frame.
    pub fn read(rest: &Mesh, source: &mut dyn FrameSource) -> Result<Self, SkinError> {
        let kept: Vec<u32> = (0..rest.n_vertices() as u32).collect();
        let neighbors = Adjacency::new(rest).neighbors;
        Self::read_some(rest, source, &kept, neighbors)
    }

    /// Read the paths of some vertices, whose neighbours (in their own numbering) are given.
    ///
    /// # Errors
    /// As [`Tracks::read`].
    pub fn read_some(
        rest: &Mesh,
        source: &mut dyn FrameSource,
        kept: &[u32],
        neighbors: Ragged,
    ) -> Result<Self, SkinError> {
        let (n, n_frames) = (kept.len(), source.n_frames());
        if n == 0 {
            return Err(SkinError::NoVertices);
        }
        if n_frames == 0 {
            return Err(SkinError::NoFrames);
        }
        let n_lanes = n_frames.next_multiple_of(LANES);
        let rest_center = mean(rest.positions());
        let scale = length_of(rest.positions());
        let mut tracks = Self {
            n_vertices: n,
            n_frames,
            n_lanes,
            rows: vec![0.0; n * 3 * n_lanes],
            rest: kept
                .iter()
                .map(|&v| ((rest.positions()[v as usize] - rest_center) / scale).as_vec3().to_array())
                .collect(),
            rest_center,
            centers: Vec::with_capacity(n_frames),
            scale,
            spread: 0.0,
            neighbors,
            n_coordinates: 3 * n_frames,
            left_out: 0.0,
        };
        let mut moments = Moments::new(rest.n_vertices());
        let mut frame_positions = vec![DVec3::ZERO; rest.n_vertices()];
        for frame in 0..n_frames {
            read_frame(source, frame, &mut frame_positions)?;
            let center = mean(&frame_positions);
            tracks.centers.push(center);
            moments.add(&frame_positions);
            for (row, &v) in tracks.rows.chunks_exact_mut(3 * n_lanes).zip(kept) {
                let p = (frame_positions[v as usize] - center) / scale;
                (0..3).for_each(|d| row[d * n_lanes + frame] = p[d] as f32);
            }
        }
        tracks.spread = moments.spread();
        Ok(tracks)
    }

    /// Some of the vertices, with neighbours in their own numbering. `moved` gives other positions: all frames, then
    /// the rest pose.
    pub fn subset<'a>(
        &self,
        kept: &[u32],
        neighbors: Ragged,
        moved: impl Fn(u32) -> Option<&'a [Vec3]>,
    ) -> Self {
        let width = self.width();
        let mut rows = Vec::with_capacity(kept.len() * width);
        let mut rest = Vec::with_capacity(kept.len());
        for &v in kept {
            rows.extend_from_slice(self.row(v as usize));
            rest.push(self.rest[v as usize]);
            if let Some(poses) = moved(v) {
                let start = rows.len() - width;
                for (frame, p) in poses[..self.n_frames].iter().enumerate() {
                    (0..3).for_each(|d| rows[start + d * self.n_lanes + frame] = p[d]);
                }
                if let Some(last) = rest.last_mut() {
                    *last = poses[self.n_frames].to_array();
                }
            }
        }
        Self { n_vertices: kept.len(), rows, rest, neighbors, centers: self.centers.clone(), ..*self }
    }

    /// The same vertices with other paths, of `3 n_lanes` numbers each, which represent the paths of all frames.
    pub fn with_rows(&self, n_lanes: usize, rows: Vec<f32>, left_out: f64) -> Self {
        let (rest, neighbors) = (self.rest.clone(), self.neighbors.clone());
        Self { n_frames: n_lanes, n_lanes, rows, rest, neighbors, centers: Vec::new(), left_out, ..*self }
    }

    /// Length of a row.
    pub fn width(&self) -> usize {
        3 * self.n_lanes
    }

    /// Positions of a frame in the caller's space.
    pub fn frame(&self, frame: usize, out: &mut [DVec3]) {
        for (row, out) in self.rows.chunks_exact(3 * self.n_lanes).zip(out) {
            let p = DVec3::from_array(std::array::from_fn(|d| f64::from(row[d * self.n_lanes + frame])));
            *out = p * self.scale + self.centers[frame];
        }
    }

    /// Path of a vertex.
    #[inline(always)]
    pub fn row(&self, vertex: usize) -> &[f32] {
        let width = 3 * self.n_lanes;
        &self.rows[vertex * width..(vertex + 1) * width]
    }
}

/// Read a frame and check its numbers.
///
/// # Errors
/// The error of the source, or the first vertex that is not finite.
pub(crate) fn read_frame(
    source: &mut dyn FrameSource,
    frame: usize,
    out: &mut [DVec3],
) -> Result<(), SkinError> {
    source.read(frame, out)?;
    match out.iter().position(|p| !p.is_finite()) {
        Some(vertex) => Err(SkinError::FrameNonFinite { frame, vertex }),
        None => Ok(()),
    }
}

pub(crate) fn mean(points: &[DVec3]) -> DVec3 {
    points.iter().sum::<DVec3>() / points.len().max(1) as f64
}

/// Diagonal of the rest pose; one for a point, which has no size.
pub(crate) fn length_of(rest: &[DVec3]) -> f64 {
    let [low, high] = bounds(rest);
    let diagonal = low.distance(high);
    if diagonal > 0.0 { diagonal } else { 1.0 }
}

/// Sums for the spread of paths about their means, relative to the first frame so that large coordinates do not
/// hide small motion.
pub(crate) struct Moments {
    first: Vec<DVec3>,
    sums: Vec<DVec3>,
    squares: f64,
    n: f64,
}

impl Moments {
    pub fn new(n_vertices: usize) -> Self {
        Self { first: Vec::new(), sums: vec![DVec3::ZERO; n_vertices], squares: 0.0, n: 0.0 }
    }

    pub fn add(&mut self, positions: &[DVec3]) {
        if self.first.is_empty() {
            self.first = positions.to_vec();
        }
        self.n += 1.0;
        for ((sum, first), p) in self.sums.iter_mut().zip(&self.first).zip(positions) {
            let d = *p - *first;
            *sum += d;
            self.squares += d.length_squared();
        }
    }

    /// `‖A − A_avg‖²`.
    pub fn spread(&self) -> f64 {
        let means: f64 = self.sums.iter().map(|sum| sum.length_squared()).sum();
        (self.squares - means / self.n.max(1.0)).max(0.0)
    }
}
