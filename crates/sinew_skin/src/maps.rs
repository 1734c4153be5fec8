//! A fit shown on the surface: values for each vertex, to be displayed as colours.
//!
//! # Source
//! Antonopoulos (2010), §3.4.4, figures 3.12, 3.15 and 3.16: maps of deformation, clusters and proxy joints.

use crate::{FittedSkin, SkinError, SkinFitter};
use glam::DVec3;

impl SkinFitter {
    /// Mean deformation of the facets around each vertex (eqs. 3.20–3.21); zero without a facet.
    ///
    /// # Errors
    /// As [`SkinFitter::facet_deformation`].
    pub fn vertex_deformation(&self) -> Result<Vec<f32>, SkinError> {
        let mut sums = vec![(0.0, 0.0); self.n_vertices()];
        for (face, deformation) in self.rest.faces().iter().zip(self.facet_deformation()?) {
            for &v in face {
                sums[v as usize].0 += deformation.total();
                sums[v as usize].1 += 1.0;
            }
        }
        Ok(sums.iter().map(|(sum, n): &(f64, f64)| (sum / n.max(1.0)) as f32).collect())
    }
}

impl FittedSkin {
    /// The bone that each vertex follows most: its cluster.
    pub fn strongest_bones(&self) -> Vec<u16> {
        let strongest = |vertex: usize| {
            self.vertex(vertex).fold((0, 0.0), |best, own| if own.1 > best.1 { own } else { best }).0
        };
        (0..self.n_vertices()).map(strongest).collect()
    }

    /// Centre of the vertices of each bone, at rest.
    pub fn bone_middles(&self) -> Vec<DVec3> {
        let mut sums = vec![(DVec3::ZERO, 0.0); self.n_bones];
        for (vertex, p) in self.rest.iter().enumerate() {
            for (bone, w) in self.vertex(vertex) {
                sums[bone as usize].0 += f64::from(w) * *p;
                sums[bone as usize].1 += f64::from(w);
            }
        }
        sums.iter().map(|(sum, w): &(DVec3, f64)| *sum / w.max(1e-12)).collect()
    }
}
