//! Damage that flesh does to a surface: how far it is off its skin, what it stretches, and volume that it loses.

use crate::{FleshError, Simulation};
use glam::{DVec3, Vec3};
use sinew_geom::{Mesh, Warnings};
use std::collections::BTreeMap;

/// Deviation from the skin, in percent of the diagonal, that is reported.
const MAX_DEVIATION_PERCENT: f64 = 6.0;
/// Edges longer than in the skin by more than this factor are reported.
const MAX_STRETCH: f64 = 2.0;
/// Edges shorter than this share of the diagonal are treated as having this length: their stretch is invisible.
const SHORT_EDGE_DIAGONALS: f64 = 1e-3;
/// Relative change of volume that is reported.
const MAX_VOLUME_CHANGE: f64 = 0.05;
/// Skins may crush what they bend; they count as at least this share of the volume at rest.
const LEAST_VOLUME: f64 = 0.2;

/// A surface with at most one open edge in this many has a volume.
const OPEN_EDGES: usize = 50;

/// The worst of all frames of a bake, each with its time in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshQuality {
    diagonal: f64,
    edges: Vec<[u32; 2]>,
    faces: Vec<[u32; 3]>,
    rest_volume: f64,
    /// Largest distance of a vertex from its skin, in percent of the diagonal; time, vertex.
    pub deviation_percent: (f64, f64, usize),
    /// Largest length of an edge, relative to that in the skin; time, vertex.
    pub stretch: (f64, f64, usize),
    /// Smallest and largest volume, relative to that of the skin; times.
    pub volume: [(f64, f64); 2],
    /// Most cells that are turned inside out though the skin does not; time.
    pub folded_cells: (usize, f64),
}

impl FleshQuality {
    /// Of a surface at rest.
    pub fn new(mesh: &Mesh) -> Self {
        // How often each edge is passed in its own direction rather than the other; not at all where faces are closed.
        let mut passed: BTreeMap<[u32; 2], i32> = BTreeMap::new();
        for face in mesh.faces() {
            for k in 0..3 {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                *passed.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
            }
        }
        let n_open = passed.values().filter(|n| **n != 0).count();
        let is_closed = OPEN_EDGES * n_open <= passed.len();
        let edges = passed.into_keys().collect();
        let faces = if is_closed { mesh.faces().to_vec() } else { Vec::new() };
        Self {
            diagonal: mesh.diagonal(),
            rest_volume: volume(mesh.positions(), &faces),
            edges,
            faces,
            deviation_percent: (0.0, 0.0, 0),
            stretch: (1.0, 0.0, 0),
            volume: [(1.0, 0.0); 2],
            folded_cells: (0, 0.0),
        }
    }

    /// Look at a frame of a simulation.
    ///
    /// # Errors
    /// None that a simulation can cause.
    pub fn observe(
        &mut self,
        simulation: &Simulation,
        positions: &[Vec3],
        time: f64,
    ) -> Result<(), FleshError> {
        let mut skin = Vec::new();
        if !simulation.skin_positions(&mut skin) {
            return Ok(());
        }
        let flesh: Vec<DVec3> = positions.iter().map(|p| p.as_dvec3()).collect();
        for (vertex, (a, b)) in flesh.iter().zip(&skin).enumerate() {
            let percent = 100.0 * a.distance(*b) / self.diagonal;
            if percent > self.deviation_percent.0 {
                self.deviation_percent = (percent, time, vertex);
            }
        }
        let least = SHORT_EDGE_DIAGONALS * self.diagonal;
        let length = |p: &[DVec3], [a, b]: [u32; 2]| p[a as usize].distance(p[b as usize]).max(least);
        for &edge in &self.edges {
            let stretch = length(&flesh, edge) / length(&skin, edge);
            if stretch > self.stretch.0 {
                self.stretch = (stretch, time, edge[0] as usize);
            }
        }
        if !self.faces.is_empty() {
            let (own, other) = (volume(&flesh, &self.faces), volume(&skin, &self.faces));
            let ratio = 1.0 + (own - other) / other.max(LEAST_VOLUME * self.rest_volume);
            if ratio < self.volume[0].0 {
                self.volume[0] = (ratio, time);
            }
            if ratio > self.volume[1].0 {
                self.volume[1] = (ratio, time);
            }
        }
        let folded = simulation.n_folded_cells();
        if folded > self.folded_cells.0 {
            self.folded_cells = (folded, time);
        }
        Ok(())
    }

    /// Report what is worse than it should be; `part` names the part of the body that a vertex belongs to.
    pub fn warn(&self, part: impl Fn(usize) -> String, warnings: &mut Warnings) {
        let (percent, time, vertex) = self.deviation_percent;
        if percent > MAX_DEVIATION_PERCENT {
            warnings.push(format!(
                "flesh is up to {percent:.1} % of the diagonal off its skin (at {time:.2} s, {}); choose a lower softness \
                 or a higher stiffness",
                part(vertex)
            ));
        }
        let (stretch, time, vertex) = self.stretch;
        if stretch > MAX_STRETCH {
            warnings.push(format!(
                "edges are stretched up to {stretch:.1} times their length in the skin (at {time:.2} s, {})",
                part(vertex)
            ));
        }
        for (ratio, time) in self.volume {
            if (ratio - 1.0).abs() > MAX_VOLUME_CHANGE {
                let percent = 100.0 * (ratio - 1.0);
                warnings.push(format!(
                    "the volume differs by {percent:+.0} % from that of the skin (at {time:.2} s)"
                ));
            }
        }
        let (folded, time) = self.folded_cells;
        if folded > 0 {
            warnings
                .push(format!("{folded} cells are folded over that the skin does not fold (at {time:.2} s)"));
        }
    }
}

fn volume(points: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let middle = points.first().copied().unwrap_or_default();
    let at = |v: u32| points[v as usize] - middle;
    faces.iter().map(|f| at(f[0]).dot(at(f[1]).cross(at(f[2]))) / 6.0).sum::<f64>().abs()
}
