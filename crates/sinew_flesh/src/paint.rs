//! Stiffness painted on the surface, transferred to the cells.
//!
//! # Source
//! Capell (2004), §3.3 (the moduli are functions of position) and figure 4.6. Factors are blended by their logarithms,
//! so that twice and half as stiff average to one; the inside takes the mean of its surroundings, as weights do
//! (`weights`).

use crate::{Body, FleshError, weights::spread_from_surface};

/// Factors between which stiffness may be painted.
const RANGE: [f32; 2] = [1e-3, 1e3];

/// How much stiffer each cell is, by how much stiffer each vertex of the surface is painted.
///
/// # Errors
/// Another number of factors than of vertices, or a factor out of range.
pub fn cell_factors(body: &Body, vertices: &[f32]) -> Result<Vec<f64>, FleshError> {
    let (expected, actual) = (body.embedding.len(), vertices.len());
    if expected != actual {
        return Err(FleshError::Length { what: "painted stiffness", expected, actual });
    }
    if let Some(factor) = vertices.iter().find(|factor| !(RANGE[0]..=RANGE[1]).contains(*factor)) {
        let (name, value) = ("painted stiffness", f64::from(*factor));
        let expected = "a factor must lie between 0.001 and 1000; 1 changes nothing";
        return Err(FleshError::Parameter { name, value, expected });
    }
    let logs: Vec<f32> = vertices.iter().map(|factor| factor.ln()).collect();
    let nodes = spread_from_surface(body, &logs);
    let of_cell = |corners: &[u32; 8]| {
        let sum: f64 = corners.iter().map(|&node| f64::from(nodes[node as usize])).sum();
        (sum / 8.0).exp()
    };
    Ok(body.lattice.cells().iter().map(of_cell).collect())
}
