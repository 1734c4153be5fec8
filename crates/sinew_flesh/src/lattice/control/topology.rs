//! Edges and faces of a lattice of solids, and what meets where.
//!
//! # Cost
//! Two sorts; no list of its own for any cell, since smooth display makes thousands of small lattices.

use super::{ControlLattice, Solid};
use sinew_geom::mesh::Ragged;

/// No second cell, or no fourth corner.
pub const NONE: u32 = u32::MAX;

/// Everything subdivision has to know of a lattice's connections.
#[derive(Debug)]
pub struct Topology {
    /// Ends of each edge, the smaller first.
    pub edges: Vec<[u32; 2]>,
    /// Corners of each face in order around, the last [`NONE`] of triangles.
    corners: Vec<[u32; 4]>,
    /// Cells on both sides of each face; the second is [`NONE`] at the boundary.
    pub face_cells: Vec<[u32; 2]>,
    /// Faces of each cell, as [`Solid::faces`] has them.
    pub cell_faces: Vec<[u32; 6]>,
    /// Edges of each cell that leave each of its corners, as [`Solid::spokes`] has them.
    pub cell_spokes: Vec<[[u32; 3]; 8]>,
    pub node_cells: Ragged,
    pub node_faces: Ragged,
    pub node_edges: Ragged,
    pub edge_faces: Ragged,
    pub edge_cells: Ragged,
    pub is_crease: Vec<bool>,
    pub is_corner: Vec<bool>,
}

impl Topology {
    /// All of it.
    pub fn new(lattice: &ControlLattice) -> Self {
        let mut topology = Self::of_faces(lattice);
        topology.find_edges(lattice);
        topology
    }

    /// Without edges, where nothing asks for them: for averaging without creases.
    pub fn for_averaging(lattice: &ControlLattice) -> Self {
        if lattice.creases().is_empty() { Self::of_faces(lattice) } else { Self::new(lattice) }
    }

    fn of_faces(lattice: &ControlLattice) -> Self {
        let n = lattice.nodes().len();
        let (corners, face_cells, cell_faces) = find_faces(lattice);
        let mut is_corner = vec![false; n];
        lattice.corners().iter().for_each(|&node| is_corner[node as usize] = true);
        let cells = lattice.cells();
        let in_cells = || {
            let one = |(cell, solid): (usize, &Solid)| {
                let nodes = *solid;
                (0..nodes.nodes().len()).map(move |k| (nodes.nodes()[k], cell as u32))
            };
            cells.iter().enumerate().flat_map(one)
        };
        let in_faces = || {
            let each = corners.iter().enumerate();
            let all = each.flat_map(|(face, corners)| corners.map(|node| (node, face as u32)));
            all.filter(|(node, _)| *node != NONE)
        };
        Self {
            node_cells: Ragged::from_pairs(n, in_cells),
            node_faces: Ragged::from_pairs(n, in_faces),
            node_edges: Ragged::from_pairs(n, std::iter::empty),
            edge_faces: Ragged::default(),
            edge_cells: Ragged::default(),
            edges: Vec::new(),
            corners,
            face_cells,
            cell_faces,
            cell_spokes: Vec::new(),
            is_crease: Vec::new(),
            is_corner,
        }
    }

    fn find_edges(&mut self, lattice: &ControlLattice) {
        let cells = lattice.cells();
        // Both ends, and the place among spokes they come from.
        let mut ends: Vec<(u64, u32)> = Vec::with_capacity(24 * cells.len());
        for (cell, solid) in cells.iter().enumerate() {
            let nodes = solid.nodes();
            for (corner, spokes) in solid.spokes().iter().enumerate() {
                for (k, &other) in spokes.iter().enumerate() {
                    let (a, b) = (nodes[corner].min(nodes[other]), nodes[corner].max(nodes[other]));
                    ends.push((u64::from(a) << 32 | u64::from(b), (24 * cell + 3 * corner + k) as u32));
                }
            }
        }
        ends.sort_unstable();
        self.cell_spokes = vec![[[0; 3]; 8]; cells.len()];
        let mut last = None;
        for (key, place) in ends {
            if last != Some(key) {
                self.edges.push([(key >> 32) as u32, key as u32]);
                last = Some(key);
            }
            let place = place as usize;
            self.cell_spokes[place / 24][place / 3 % 8][place % 3] = self.edges.len() as u32 - 1;
        }
        let n_edges = self.edges.len();
        let (edges, spokes, faces) = (&self.edges, &self.cell_spokes, &self.cell_faces);
        let node_edges = || {
            let each = edges.iter().enumerate();
            each.flat_map(|(edge, ends)| ends.map(|node| (node, edge as u32)))
        };
        self.node_edges = Ragged::from_pairs(lattice.nodes().len(), node_edges);
        // Each edge of a cell is a spoke of two corners, of which the smaller decides.
        let edge_cells = || {
            cells.iter().enumerate().flat_map(move |(cell, solid)| {
                let each = solid.spokes().iter().enumerate();
                each.flat_map(move |(corner, to)| {
                    (0..3).filter(move |&k| corner < to[k]).map(move |k| (corner, k))
                })
                .map(move |(corner, k)| (spokes[cell][corner][k], cell as u32))
            })
        };
        self.edge_cells = Ragged::from_pairs(n_edges, edge_cells);
        // A face takes its edges from the first of its cells.
        let cell_of = &self.face_cells;
        let edge_faces = || {
            cells.iter().enumerate().flat_map(move |(cell, solid)| {
                let each = solid.faces().iter().enumerate();
                let own = each.filter(move |(k, _)| cell_of[faces[cell][*k] as usize][0] == cell as u32);
                own.flat_map(move |(k, around)| {
                    (0..around.len()).map(move |at| {
                        let (a, b) = (around[at], around[(at + 1) % around.len()]);
                        let spoke = solid.spokes()[a].iter().position(|&to| to == b).unwrap_or(0);
                        (spokes[cell][a][spoke], faces[cell][k])
                    })
                })
            })
        };
        self.edge_faces = Ragged::from_pairs(n_edges, edge_faces);
        self.is_crease = vec![false; n_edges];
        for [a, b] in lattice.creases() {
            if let Ok(edge) = self.edges.binary_search(&[*a.min(b), *a.max(b)]) {
                self.is_crease[edge] = true;
            }
        }
    }

    pub fn n_faces(&self) -> usize {
        self.corners.len()
    }

    /// Corners of a face, in order around.
    pub fn face(&self, face: u32) -> &[u32] {
        let corners = &self.corners[face as usize];
        if corners[3] == NONE { &corners[..3] } else { corners }
    }

    pub fn is_border(&self, face: u32) -> bool {
        self.face_cells[face as usize][1] == NONE
    }

    pub fn border_faces<'a>(&'a self, faces: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        faces.iter().copied().filter(|&face| self.is_border(face))
    }

    /// Ends of creases at a node that are not the node itself.
    pub fn creases_at(&self, node: u32) -> Vec<u32> {
        let edges = self.node_edges.row(node as usize).iter().filter(|&&edge| self.is_crease[edge as usize]);
        edges.map(|&edge| self.other_end(edge, node)).collect()
    }

    fn other_end(&self, edge: u32, node: u32) -> u32 {
        let [a, b] = self.edges[edge as usize];
        if a == node { b } else { a }
    }
}

type Faces = (Vec<[u32; 4]>, Vec<[u32; 2]>, Vec<[u32; 6]>);

fn find_faces(lattice: &ControlLattice) -> Faces {
    // Sorted corners, padded, with the cell and place they come from.
    let mut sides: Vec<([u32; 4], u32)> = Vec::with_capacity(6 * lattice.cells().len());
    let around = |solid: &Solid, place: usize| {
        let mut corners = [NONE; 4];
        solid.faces()[place].iter().enumerate().for_each(|(k, &at)| corners[k] = solid.nodes()[at]);
        corners
    };
    for (cell, solid) in lattice.cells().iter().enumerate() {
        for place in 0..solid.faces().len() {
            let mut key = around(solid, place);
            key.sort_unstable();
            sides.push((key, (6 * cell + place) as u32));
        }
    }
    sides.sort_unstable();
    let (mut faces, mut face_cells) = (Vec::new(), Vec::new());
    let mut cell_faces = vec![[0; 6]; lattice.cells().len()];
    let mut at = 0;
    while at < sides.len() {
        let same = sides[at..].iter().take_while(|side| side.0 == sides[at].0).count();
        let first = sides[at].1 as usize;
        faces.push(around(&lattice.cells()[first / 6], first % 6));
        face_cells.push([sides[at].1 / 6, if same > 1 { sides[at + 1].1 / 6 } else { NONE }]);
        for (_, side) in &sides[at..at + same] {
            cell_faces[*side as usize / 6][*side as usize % 6] = faces.len() as u32 - 1;
        }
        at += same;
    }
    (faces, face_cells, cell_faces)
}
