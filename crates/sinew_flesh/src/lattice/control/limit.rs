//! Limit masks: limit positions of the nodes of a hexahedral lattice under subdivision.
//!
//! # Source
//! Capell (2004), §4.1 (figure 4.2: subdivide a few times, then apply limit masks). Cell averaging: each cell, boundary
//! face or crease around a node contributes its own corners with weights `(⅔, ⅓)` along each of its axes, and the mean
//! of these is the limit; because averaging treats every cell alike, sums over cells obey the same recurrence at any
//! valence, whose left eigenvector of eigenvalue 1 is that of the cubic B-spline. MacCracken and Joy: the same where a
//! node is regular; elsewhere the local subdivision matrix `S`, which maps the ring of a node to its next finer ring,
//! is squared until it converges: its row then is that eigenvector (a test compares both ways).
//! # Cost
//! Some microseconds for a closed form, a few hundred otherwise.

use super::{ControlLattice, Row, Scheme, Solid, rules::split, topology::Topology};

/// Squarings of a local matrix: its second eigenvalue is about one half, so that 2⁷ steps leave nothing of it.
const N_SQUARINGS: usize = 7;

/// Row of the limit position of each of some nodes of a lattice of hexahedra.
pub fn limit_rows(lattice: &ControlLattice, nodes: &[u32], scheme: Scheme) -> Vec<Row> {
    let topology = match scheme {
        Scheme::CellAveraging => Topology::for_averaging(lattice),
        _ => Topology::new(lattice),
    };
    let one = |&node: &u32| match scheme {
        Scheme::Trilinear => vec![(node, 1.0)],
        Scheme::CellAveraging => averaged(&topology, lattice, node),
        Scheme::MacCrackenJoy if is_regular(&topology, node) => averaged(&topology, lattice, node),
        Scheme::MacCrackenJoy => settled(&topology, lattice, node, scheme),
    };
    nodes.iter().map(one).collect()
}

/// Whether everything around a node is as in a grid, on a straight boundary or along a crease.
fn is_regular(topology: &Topology, node: u32) -> bool {
    let at = node as usize;
    if topology.is_corner[at] {
        return true;
    }
    let n_border = topology.border_faces(topology.node_faces.row(at)).count();
    match topology.creases_at(node).len() {
        0 => {
            n_border == 4
                || (n_border == 0
                    && topology.node_cells.row(at).len() == 8
                    && topology.node_edges.row(at).len() == 6)
        }
        n => n == 2,
    }
}

/// Mean over the cells around a node, or over what of lower dimension it lies on, of their corners' shares.
fn averaged(topology: &Topology, lattice: &ControlLattice, node: u32) -> Row {
    let at = node as usize;
    let creases = topology.creases_at(node);
    if topology.is_corner[at] || !matches!(creases.len(), 0 | 2) {
        return vec![(node, 1.0)];
    }
    let mut row = Vec::new();
    if !creases.is_empty() {
        row.extend(creases.iter().flat_map(|&end| [(node, 1.0 / 3.0), (end, 1.0 / 6.0)]));
        return merged(row);
    }
    let border: Vec<u32> = topology.border_faces(topology.node_faces.row(at)).collect();
    for &face in &border {
        let corners = topology.face(face);
        let place = corners.iter().position(|&c| c == node).unwrap_or(0);
        let scale = 1.0 / (9.0 * border.len() as f64);
        let shares = [(0, 4.0), (1, 2.0), (2, 1.0), (3, 2.0)];
        row.extend(shares.map(|(k, share)| (corners[(place + k) % 4], share * scale)));
    }
    if border.is_empty() {
        let cells = topology.node_cells.row(at);
        for &cell in cells {
            let corners = lattice.cells()[cell as usize].nodes();
            let place = corners.iter().position(|&c| c == node).unwrap_or(0);
            let share = |k: usize| f64::from(8u32 >> (k ^ place).count_ones()) / (27.0 * cells.len() as f64);
            row.extend(corners.iter().enumerate().map(|(k, &corner)| (corner, share(k))));
        }
        if cells.is_empty() {
            row.push((node, 1.0));
        }
    }
    merged(row)
}

/// Entries of the same node as one, sorted.
fn merged(mut row: Row) -> Row {
    row.sort_unstable_by_key(|(node, _)| *node);
    row.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 += if same { next.1 } else { 0.0 };
        same
    });
    row
}

/// Mask of any node, from its ring.
pub(super) fn settled(topology: &Topology, lattice: &ControlLattice, node: u32, scheme: Scheme) -> Row {
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
    for _ in 0..N_SQUARINGS {
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
