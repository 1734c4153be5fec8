//! How remote each vertex is: small in the middle of the body, largest at the tips.
//!
//! # Source
//! Average geodesic distance: Hilaga et al., *Topology matching for fully automatic similarity estimation of 3D shapes*
//! (2001), §3. The average is taken over samples, each the farthest from those before it, weighted by the area nearest
//! to it.
//! # Symbols
//! `f(v) = Σ aₖ d(v, sₖ) / Σ aₖ`
//! # Cost
//! One run of Dijkstra's algorithm per sample.

use super::component::Component;
use std::ops::ControlFlow;

/// Samples; more change the level sets by less than an edge.
const N_SAMPLES: usize = 32;

/// Rounds of averaging with the neighbours, which remove the zigzag of paths along edges from the level sets.
const N_SMOOTHINGS: usize = 4;

/// The average distance of every vertex to the rest of the surface. `None` if `progress` asks to stop.
pub(super) fn compute_remoteness(
    part: &Component,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Option<Vec<f64>> {
    let (n, steps) = (part.mesh.n_vertices(), part.steps());
    let center = part.centroid();
    let from_center: Vec<f64> = part.mesh.positions().iter().map(|p| p.distance(center)).collect();
    let mut source = farthest(&from_center);
    let mut nearest = vec![f64::INFINITY; n];
    let mut nearest_sample = vec![0; n];
    // Stored in f32: a million vertices would fill the memory otherwise, and an average needs no more.
    let mut distances: Vec<Vec<f32>> = Vec::new();
    for sample in 0..N_SAMPLES.min(n) {
        let distance = steps.distances(&[(source as u32, 0.0)], f64::INFINITY);
        for v in 0..n {
            if distance[v] < nearest[v] {
                (nearest[v], nearest_sample[v]) = (distance[v], sample);
            }
        }
        distances.push(distance.into_iter().map(|d| d as f32).collect());
        source = farthest(&nearest);
        if progress((sample + 1) as f64 / N_SAMPLES as f64).is_break() {
            return None;
        }
    }
    let mut weights = vec![0.0; distances.len()];
    (0..n).for_each(|v| weights[nearest_sample[v]] += part.vertex_areas[v] / part.area);
    let mut average = vec![0.0; n];
    for (distance, weight) in distances.iter().zip(&weights) {
        average.iter_mut().zip(distance).for_each(|(f, &d)| *f += weight * f64::from(d));
    }
    Some(smooth(part, average))
}

fn farthest(distance: &[f64]) -> usize {
    // Of equally far ones the first.
    (0..distance.len()).fold(0, |best, v| if distance[v] > distance[best] { v } else { best })
}

pub(super) fn smooth(part: &Component, mut values: Vec<f64>) -> Vec<f64> {
    for _ in 0..N_SMOOTHINGS {
        let mean = |v: usize| {
            let row = part.adjacency.neighbors.row(v);
            let sum: f64 = row.iter().map(|&w| values[w as usize]).sum();
            if row.is_empty() { values[v] } else { 0.5 * values[v] + 0.5 * sum / row.len() as f64 }
        };
        values = (0..values.len()).map(mean).collect();
    }
    values
}
