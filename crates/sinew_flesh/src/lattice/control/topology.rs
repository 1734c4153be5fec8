//! Edges and faces of a lattice of solids, and what meets where.

use super::ControlLattice;
use sinew_geom::mesh::Ragged;

/// No second cell.
pub const NONE: u32 = u32::MAX;

/// Everything subdivision has to know of a lattice's connections.
#[derive(Debug)]
pub struct Topology {
    /// Ends of each edge, the smaller first.
    pub edges: Vec<[u32; 2]>,
    /// Corners of each face, in order around.
    pub faces: Vec<Vec<u32>>,
    /// Cells on both sides of each face; the second is [`NONE`] at the boundary.
    pub face_cells: Vec<[u32; 2]>,
    /// Faces of each cell, as [`super::Solid::faces`] has them.
    pub cell_faces: Vec<Vec<u32>>,
    /// Edges of each cell that leave each of its corners, as [`super::Solid::spokes`] has them.
    pub cell_spokes: Vec<Vec<[u32; 3]>>,
    pub node_cells: Ragged,
    pub node_faces: Ragged,
    pub node_edges: Ragged,
    pub edge_faces: Ragged,
    pub edge_cells: Ragged,
    pub is_crease: Vec<bool>,
    pub is_corner: Vec<bool>,
}

impl Topology {
    pub fn new(lattice: &ControlLattice) -> Self {
        let n = lattice.nodes().len();
        let (edges, cell_spokes) = find_edges(lattice);
        let (faces, face_cells, cell_faces) = find_faces(lattice);
        let edge_of = |a: u32, b: u32| edges.binary_search(&[a.min(b), a.max(b)]).unwrap_or(0) as u32;
        let around = |face: &[u32]| -> Vec<u32> {
            (0..face.len()).map(|k| edge_of(face[k], face[(k + 1) % face.len()])).collect()
        };
        let face_edges: Vec<Vec<u32>> = faces.iter().map(|face| around(face)).collect();
        let pairs = |lists: &[Vec<u32>]| -> Vec<(u32, u32)> {
            let one = |(index, list): (usize, &Vec<u32>)| {
                list.iter().map(move |&x| (x, index as u32)).collect::<Vec<_>>()
            };
            lists.iter().enumerate().flat_map(one).collect()
        };
        let cell_edges: Vec<Vec<u32>> = cell_spokes
            .iter()
            .map(|spokes| {
                let mut all: Vec<u32> = spokes.iter().flatten().copied().collect();
                all.sort_unstable();
                all.dedup();
                all
            })
            .collect();
        let cell_nodes: Vec<Vec<u32>> = lattice.cells().iter().map(|cell| cell.nodes().to_vec()).collect();
        let edge_nodes: Vec<Vec<u32>> = edges.iter().map(|edge| edge.to_vec()).collect();
        let ragged = |n: usize, pairs: Vec<(u32, u32)>| Ragged::from_pairs(n, || pairs.iter().copied());
        let mut is_crease = vec![false; edges.len()];
        for [a, b] in lattice.creases() {
            if let Ok(edge) = edges.binary_search(&[*a.min(b), *a.max(b)]) {
                is_crease[edge] = true;
            }
        }
        let mut is_corner = vec![false; n];
        lattice.corners().iter().for_each(|&node| is_corner[node as usize] = true);
        Self {
            node_cells: ragged(n, pairs(&cell_nodes)),
            node_faces: ragged(n, pairs(&faces)),
            node_edges: ragged(n, pairs(&edge_nodes)),
            edge_faces: ragged(edges.len(), pairs(&face_edges)),
            edge_cells: ragged(edges.len(), pairs(&cell_edges)),
            edges,
            faces,
            face_cells,
            cell_faces,
            cell_spokes,
            is_crease,
            is_corner,
        }
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

    pub fn other_end(&self, edge: u32, node: u32) -> u32 {
        let [a, b] = self.edges[edge as usize];
        if a == node { b } else { a }
    }
}

fn find_edges(lattice: &ControlLattice) -> (Vec<[u32; 2]>, Vec<Vec<[u32; 3]>>) {
    let mut edges = Vec::new();
    for cell in lattice.cells() {
        let nodes = cell.nodes();
        for (corner, spokes) in cell.spokes().iter().enumerate() {
            let ends = spokes.iter().map(|&k| [nodes[corner].min(nodes[k]), nodes[corner].max(nodes[k])]);
            edges.extend(ends);
        }
    }
    edges.sort_unstable();
    edges.dedup();
    let find = |a: u32, b: u32| edges.binary_search(&[a.min(b), a.max(b)]).unwrap_or(0) as u32;
    let spokes = lattice.cells().iter().map(|cell| {
        let nodes = cell.nodes();
        let one = |(corner, spokes): (usize, &[usize; 3])| spokes.map(|k| find(nodes[corner], nodes[k]));
        cell.spokes().iter().enumerate().map(one).collect()
    });
    let spokes = spokes.collect();
    (edges, spokes)
}

type Faces = (Vec<Vec<u32>>, Vec<[u32; 2]>, Vec<Vec<u32>>);

fn find_faces(lattice: &ControlLattice) -> Faces {
    // Sorted corners, padded, with the cell and place they come from.
    let mut sides: Vec<([u32; 4], u32, u32)> = Vec::new();
    for (cell, solid) in lattice.cells().iter().enumerate() {
        for (place, face) in solid.faces().iter().enumerate() {
            let mut key = [NONE; 4];
            face.iter().enumerate().for_each(|(k, &at)| key[k] = solid.nodes()[at]);
            key.sort_unstable();
            sides.push((key, cell as u32, place as u32));
        }
    }
    sides.sort_unstable();
    let (mut faces, mut face_cells) = (Vec::new(), Vec::new());
    let mut cell_faces: Vec<Vec<u32>> =
        lattice.cells().iter().map(|solid| vec![0; solid.faces().len()]).collect();
    let mut at = 0;
    while at < sides.len() {
        let same = sides[at..].iter().take_while(|side| side.0 == sides[at].0).count();
        let (_, cell, place) = sides[at];
        let solid = &lattice.cells()[cell as usize];
        faces.push(solid.faces()[place as usize].iter().map(|&k| solid.nodes()[k]).collect());
        face_cells.push([cell, if same > 1 { sides[at + 1].1 } else { NONE }]);
        for (_, cell, place) in &sides[at..at + same] {
            cell_faces[*cell as usize][*place as usize] = faces.len() as u32 - 1;
        }
        at += same;
    }
    (faces, face_cells, cell_faces)
}
