//! Subdivision of lattices: positions of new nodes, as weights of the old ones.
//!
//! # Source
//! Trilinear: Capell (2004), appendix B. MacCracken and Joy, *Free-form deformations with lattices of arbitrary
//! topology* (1996), whose boundary is a Catmull–Clark surface; sharp features on it: DeRose, Kass and Truong (1998).
//! Multi-linear cell averaging: Bajaj, Schaefer, Warren and Xu, *A subdivision scheme for hexahedral meshes* (2002):
//! split trilinearly, then move every node to the mean of the centroids of the cells around it; on the boundary, of its
//! faces; on creases, of their edges.
//! # Symbols
//! `C`, `A`, `M`, `P` means of the centroids of cells, faces, edges, and the node itself
//! # Limits
//! A crease that ends, or where more than two creases meet, ends in a sharp corner.

use super::{ControlLattice, Solid, topology::Topology};

/// Weights of old nodes, which sum to one; sorted by node.
pub type Row = Vec<(u32, f64)>;

/// How a lattice is subdivided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scheme {
    /// Straight: the shape stays as it is.
    #[default]
    Trilinear,
    /// Smooth inside, with a Catmull–Clark surface.
    MacCrackenJoy,
    /// Smooth inside, also along creases within.
    CellAveraging,
}

impl Scheme {
    /// All schemes.
    pub const ALL: [Self; 3] = [Self::Trilinear, Self::MacCrackenJoy, Self::CellAveraging];

    /// Name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trilinear => "trilinear",
            Self::MacCrackenJoy => "maccracken-joy",
            Self::CellAveraging => "mlca",
        }
    }

    /// Scheme of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scheme| scheme.name() == name)
    }
}

/// Sums of weighted rows.
#[derive(Debug, Default)]
struct Sum(Row);

impl Sum {
    fn add(&mut self, row: &[(u32, f64)], factor: f64) {
        self.0.extend(row.iter().map(|&(node, w)| (node, factor * w)));
    }

    fn done(mut self) -> Row {
        self.0.sort_unstable_by_key(|(node, _)| *node);
        let mut out: Row = Vec::with_capacity(self.0.len());
        for (node, w) in self.0 {
            match out.last_mut() {
                Some(last) if last.0 == node => last.1 += w,
                _ => out.push((node, w)),
            }
        }
        out.retain(|(_, w)| *w != 0.0);
        out
    }
}

/// Mean of some nodes.
fn mean(nodes: &[u32]) -> Row {
    let mut sum = Sum::default();
    nodes.iter().for_each(|&node| sum.add(&[(node, 1.0)], 1.0 / nodes.len() as f64));
    sum.done()
}

/// Mean of some rows.
fn mean_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Row {
    let rows: Vec<&Row> = rows.into_iter().collect();
    blend(rows.iter().map(|row| (*row, 1.0 / rows.len() as f64)))
}

fn blend<'a>(rows: impl IntoIterator<Item = (&'a Row, f64)>) -> Row {
    let mut sum = Sum::default();
    rows.into_iter().for_each(|(row, factor)| sum.add(row, factor));
    sum.done()
}

/// Subdivide: the new cells (with their nodes where they were not yet put), and a row for each new node. Nodes come first,
/// then those of edges, faces and cells.
pub fn split(lattice: &ControlLattice, scheme: Scheme) -> (ControlLattice, Vec<Row>) {
    let topology = Topology::new(lattice);
    let refined = connect(lattice, &topology);
    let middles = Middles::new(lattice, &topology);
    let rows = match scheme {
        Scheme::Trilinear => middles.rows(lattice.nodes().len()),
        Scheme::MacCrackenJoy => maccracken_joy(lattice, &topology, &middles),
        Scheme::CellAveraging => average(&refined, &middles.rows(lattice.nodes().len())),
    };
    (refined, rows)
}

/// A hexahedron for every corner of every cell, and the features of the finer lattice.
fn connect(lattice: &ControlLattice, topology: &Topology) -> ControlLattice {
    let n = lattice.nodes().len() as u32;
    let (edge_0, face_0) = (n, n + topology.edges.len() as u32);
    let cell_0 = face_0 + topology.n_faces() as u32;
    let mut cells = Vec::new();
    for (cell, solid) in lattice.cells().iter().enumerate() {
        let face = |corner: usize, a: usize, b: usize| {
            let at = solid.faces().iter().position(|f| [corner, a, b].iter().all(|k| f.contains(k)));
            face_0 + topology.cell_faces[cell][at.unwrap_or(0)]
        };
        for (corner, &[a, b, c]) in solid.spokes().iter().enumerate() {
            let [to_a, to_b, to_c] = topology.cell_spokes[cell][corner].map(|edge| edge_0 + edge);
            cells.push(Solid::Hexahedron([
                solid.nodes()[corner],
                to_a,
                to_b,
                face(corner, a, b),
                to_c,
                face(corner, a, c),
                face(corner, b, c),
                cell_0 + cell as u32,
            ]));
        }
    }
    let nodes = vec![glam::DVec3::ZERO; cell_0 as usize + lattice.cells().len()];
    let mut refined = ControlLattice::of_hexahedra(nodes, cells);
    let sharp = (0..topology.edges.len()).filter(|&edge| topology.is_crease[edge]);
    refined.creases =
        sharp.flat_map(|edge| topology.edges[edge].map(|end| [end, edge_0 + edge as u32])).collect();
    refined.corners = lattice.corners().to_vec();
    refined
}

/// Middles of edges, faces and cells.
struct Middles {
    edges: Vec<Row>,
    faces: Vec<Row>,
    cells: Vec<Row>,
}

impl Middles {
    fn new(lattice: &ControlLattice, topology: &Topology) -> Self {
        Self {
            edges: topology.edges.iter().map(|ends| mean(ends)).collect(),
            faces: (0..topology.n_faces() as u32).map(|face| mean(topology.face(face))).collect(),
            cells: lattice.cells().iter().map(|cell| mean(cell.nodes())).collect(),
        }
    }

    fn rows(&self, n_nodes: usize) -> Vec<Row> {
        let nodes = (0..n_nodes as u32).map(|node| vec![(node, 1.0)]);
        let middles = self.edges.iter().chain(&self.faces).chain(&self.cells).cloned();
        nodes.chain(middles).collect()
    }
}

fn maccracken_joy(lattice: &ControlLattice, topology: &Topology, middles: &Middles) -> Vec<Row> {
    fn pick(rows: &[Row], list: &[u32]) -> Row {
        mean_of(list.iter().map(|&k| &rows[k as usize]))
    }
    let Middles { edges: edge_rows, faces: face_rows, cells: cell_rows } = middles;
    let node = |node: u32| -> Row {
        let own = vec![(node, 1.0)];
        let at = node as usize;
        let creases = topology.creases_at(node);
        if topology.is_corner[at] || creases.len() > 2 || topology.node_cells.row(at).is_empty() {
            return own;
        }
        if let [a, b] = creases[..] {
            return blend([(&own, 0.75), (&mean(&[a, b]), 0.25)]);
        }
        let border: Vec<u32> = topology.border_faces(topology.node_faces.row(at)).collect();
        if border.is_empty() {
            let c = pick(cell_rows, topology.node_cells.row(at));
            let a = pick(face_rows, topology.node_faces.row(at));
            let m = pick(edge_rows, topology.node_edges.row(at));
            return blend([(&c, 0.125), (&a, 0.375), (&m, 0.375), (&own, 0.125)]);
        }
        // Catmull and Clark: (Q + 2 R + (n − 3) P) / n.
        let mut edges: Vec<u32> = border.iter().flat_map(|&f| edges_of_face_at(topology, f, node)).collect();
        edges.sort_unstable();
        edges.dedup();
        let (q, r) = (pick(face_rows, &border), pick(edge_rows, &edges));
        let n = border.len() as f64;
        blend([(&q, 1.0 / n), (&r, 2.0 / n), (&own, (n - 3.0) / n)])
    };
    let edge = |edge: usize| -> Row {
        let middle = &middles.edges[edge];
        if topology.is_crease[edge] {
            return middle.clone();
        }
        let faces = topology.edge_faces.row(edge);
        let border: Vec<u32> = topology.border_faces(faces).collect();
        if !border.is_empty() {
            return blend([(middle, 0.5), (&pick(face_rows, &border), 0.5)]);
        }
        let (c, a) = (pick(cell_rows, topology.edge_cells.row(edge)), pick(face_rows, faces));
        let n = faces.len() as f64;
        blend([(&c, 1.0 / n), (&a, 2.0 / n), (middle, (n - 3.0) / n)])
    };
    let face = |face: usize| -> Row {
        let cells = topology.face_cells[face];
        if topology.is_border(face as u32) {
            return middles.faces[face].clone();
        }
        blend([(&pick(cell_rows, &cells), 0.5), (&middles.faces[face], 0.5)])
    };
    let nodes = (0..lattice.nodes().len() as u32).map(node);
    let edges = (0..topology.edges.len()).map(edge);
    let faces = (0..topology.n_faces()).map(face);
    nodes.chain(edges).chain(faces).chain(middles.cells.iter().cloned()).collect()
}

/// The two edges of a face that meet at a node.
fn edges_of_face_at(topology: &Topology, face: u32, node: u32) -> Vec<u32> {
    let on_face = |edge: &u32| topology.edge_faces.row(*edge as usize).contains(&face);
    topology.node_edges.row(node as usize).iter().copied().filter(on_face).collect()
}

/// Cell averaging over a split lattice, of whose nodes `linear` has the rows.
fn average(refined: &ControlLattice, linear: &[Row]) -> Vec<Row> {
    average_with(refined, linear, |rows| mean_of(rows.iter().copied()))
}

/// Cell averaging of anything there are means of.
fn average_with<V: Clone>(refined: &ControlLattice, linear: &[V], mean: impl Fn(&[&V]) -> V) -> Vec<V> {
    let topology = Topology::for_averaging(refined);
    let middle = |nodes: &[u32]| mean(&nodes.iter().map(|&node| &linear[node as usize]).collect::<Vec<_>>());
    let cells: Vec<V> = refined.cells().iter().map(|cell| middle(cell.nodes())).collect();
    let over = |values: &[V]| mean(&values.iter().collect::<Vec<_>>());
    let node = |node: u32| -> V {
        let at = node as usize;
        let creases = topology.creases_at(node);
        if topology.is_corner[at] || !matches!(creases.len(), 0 | 2) {
            return linear[at].clone();
        }
        if !creases.is_empty() {
            return over(&creases.iter().map(|&other| middle(&[node, other])).collect::<Vec<V>>());
        }
        let border: Vec<u32> = topology.border_faces(topology.node_faces.row(at)).collect();
        if !border.is_empty() {
            return over(&border.iter().map(|&face| middle(topology.face(face))).collect::<Vec<V>>());
        }
        match topology.node_cells.row(at) {
            [] => linear[at].clone(),
            around => mean(&around.iter().map(|&cell| &cells[cell as usize]).collect::<Vec<_>>()),
        }
    };
    (0..linear.len() as u32).map(node).collect()
}

/// Subdivide by cell averaging, taking dense values of the nodes along: faster than rows where each node has many.
pub fn split_values(lattice: &ControlLattice, values: &[Vec<f64>]) -> (ControlLattice, Vec<Vec<f64>>) {
    let topology = Topology::new(lattice);
    let refined = connect(lattice, &topology);
    let rows = Middles::new(lattice, &topology).rows(lattice.nodes().len());
    let width = values.first().map_or(0, Vec::len);
    let sum = |terms: &mut dyn Iterator<Item = (&Vec<f64>, f64)>| {
        let mut out = vec![0.0; width];
        for (values, w) in terms {
            out.iter_mut().zip(values).for_each(|(to, x)| *to += w * x);
        }
        out
    };
    let linear: Vec<Vec<f64>> =
        rows.iter().map(|row| sum(&mut row.iter().map(|&(node, w)| (&values[node as usize], w)))).collect();
    let mean = |list: &[&Vec<f64>]| sum(&mut list.iter().map(|values| (*values, 1.0 / list.len() as f64)));
    let averaged = average_with(&refined, &linear, mean);
    (refined, averaged)
}
