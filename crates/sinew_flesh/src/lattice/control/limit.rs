//! Limit masks: where nodes of a hexahedral lattice go when it is subdivided for ever.
//!
//! # Source
//! Capell 2004, §4.1 (figure 4.2: subdivide a few times, then apply limit masks). Regular nodes have the tri-cubic
//! B-spline's, on boundaries the bi-cubic one's, on creases the cubic one's. For all others the local subdivision matrix
//! `S`, which maps the ring of a node to its next finer ring, is squared until it stays: its row then is the left
//! eigenvector of eigenvalue 1.
//! # Cost
//! Some microseconds for a regular node, a few hundred for others.

use super::{ControlLattice, Row, Scheme, Solid, rules::split, topology::Topology};
use std::collections::BTreeMap;

/// Squarings of a local matrix: its second eigenvalue is about one half, so that 2⁷ steps leave nothing of it.
const SQUARINGS: usize = 7;

/// Row of the limit position of each of some nodes of a lattice of hexahedra.
pub fn limit_rows(lattice: &ControlLattice, nodes: &[u32], scheme: Scheme) -> Vec<Row> {
    let topology = Topology::new(lattice);
    let one = |&node: &u32| match scheme {
        Scheme::Trilinear => vec![(node, 1.0)],
        _ => regular(&topology, lattice, node).unwrap_or_else(|| settled(&topology, lattice, node, scheme)),
    };
    nodes.iter().map(one).collect()
}

/// Mask of a node around which everything is as in a grid.
fn regular(topology: &Topology, lattice: &ControlLattice, node: u32) -> Option<Row> {
    let at = node as usize;
    if topology.is_corner[at] {
        return Some(vec![(node, 1.0)]);
    }
    match topology.creases_at(node)[..] {
        [] => {}
        [a, b] => return Some(sorted([(node, 4.0 / 6.0), (a, 1.0 / 6.0), (b, 1.0 / 6.0)].to_vec())),
        _ => return None,
    }
    let border: Vec<u32> = topology.border_faces(topology.node_faces.row(at)).collect();
    let mut weights: BTreeMap<u32, f64> = BTreeMap::new();
    match (border.len(), topology.node_cells.row(at)) {
        (4, _) => {
            for &face in &border {
                let corners = &topology.faces[face as usize];
                let place = corners.iter().position(|&c| c == node)?;
                for (k, scale) in [(0, 4.0), (1, 2.0), (2, 1.0), (3, 2.0)] {
                    *weights.entry(corners[(place + k) % 4]).or_default() += scale / 36.0;
                }
            }
            // Each of the four faces counts a quarter of its node and half of its neighbours along edges.
        }
        (0, cells) if cells.len() == 8 => {
            for &cell in cells {
                let Solid::Hexahedron(corners) = lattice.cells()[cell as usize] else { return None };
                let place = corners.iter().position(|&c| c == node)?;
                for (k, &corner) in corners.iter().enumerate() {
                    let steps = (k ^ place).count_ones();
                    *weights.entry(corner).or_default() += f64::from(1 << (3 - steps)) / 216.0;
                }
            }
            if topology.node_edges.row(at).len() != 6 {
                return None;
            }
        }
        _ => return None,
    }
    let expected = if border.is_empty() { 27 } else { 9 };
    (weights.len() == expected).then(|| weights.into_iter().collect())
}

fn sorted(mut row: Row) -> Row {
    row.sort_unstable_by_key(|(node, _)| *node);
    row
}

/// Mask of any node, from its ring.
fn settled(topology: &Topology, lattice: &ControlLattice, node: u32, scheme: Scheme) -> Row {
    let cells = topology.node_cells.row(node as usize);
    let mut ring: Vec<u32> =
        cells.iter().flat_map(|&c| lattice.cells()[c as usize].nodes().to_vec()).collect();
    ring.sort_unstable();
    ring.dedup();
    let number = |n: u32| ring.binary_search(&n).ok().map(|at| at as u32);
    let Some(own) = number(node) else { return vec![(node, 1.0)] };
    let mut solids = Vec::new();
    for &cell in cells {
        let Solid::Hexahedron(corners) = lattice.cells()[cell as usize] else { return vec![(node, 1.0)] };
        solids.push(Solid::Hexahedron(corners.map(|corner| number(corner).unwrap_or(own))));
    }
    let positions = ring.iter().map(|&n| lattice.nodes()[n as usize]).collect();
    let mut local = ControlLattice::of_hexahedra(positions, solids.clone());
    let edges = topology.node_edges.row(node as usize).iter().filter(|&&e| topology.is_crease[e as usize]);
    local.creases = edges
        .filter_map(|&e| {
            let [a, b] = topology.edges[e as usize];
            Some([number(a)?, number(b)?])
        })
        .collect();
    local.corners =
        ring.iter().filter(|&&n| topology.is_corner[n as usize]).filter_map(|&n| number(n)).collect();
    let (refined, rows) = split(&local, scheme);
    // The finer cell at the node within each cell has the ring's shape: corner for corner.
    let n = ring.len();
    let mut finer = vec![u32::MAX; n];
    for (cell, solid) in solids.iter().enumerate() {
        let place = solid.nodes().iter().position(|&c| c == own).unwrap_or(0);
        let Solid::Hexahedron(fine) = refined.cells()[8 * cell + place] else { continue };
        for (corner, &coarse) in solid.nodes().iter().enumerate() {
            finer[coarse as usize] = fine[spoke_bits(solid, place, corner)];
        }
    }
    let mut matrix = vec![0.0; n * n];
    for (row, &fine) in finer.iter().enumerate() {
        rows[fine as usize].iter().for_each(|&(column, w)| matrix[row * n + column as usize] = w);
    }
    for _ in 0..SQUARINGS {
        matrix = squared(&matrix, n);
    }
    let row = &matrix[own as usize * n..][..n];
    ring.iter().zip(row).filter(|(_, w)| w.abs() > 1e-15).map(|(&n, &w)| (n, w)).collect()
}

/// Where a corner lies in the finer cell at `place`, whose axes are the spokes of that corner.
fn spoke_bits(solid: &Solid, place: usize, corner: usize) -> usize {
    let apart = place ^ corner;
    (0..3).map(|k| ((apart & (solid.spokes()[place][k] ^ place) != 0) as usize) << k).sum()
}

fn squared(a: &[f64], n: usize) -> Vec<f64> {
    let mut out = vec![0.0; n * n];
    for i in 0..n {
        for k in 0..n {
            let w = a[i * n + k];
            if w != 0.0 {
                for j in 0..n {
                    out[i * n + j] += w * a[k * n + j];
                }
            }
        }
    }
    out
}
