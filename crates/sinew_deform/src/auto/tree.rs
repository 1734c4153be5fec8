//! How the remote parts of a surface merge towards its middle.
//!
//! # Source
//! The join tree of Carr, Snoeyink and Axen, *Computing contour trees in all dimensions* (2003), simplified while it is
//! built: a part that is too small where it meets another gets no arc of its own.
//! # Symbols
//! `{f > c}` the points more remote than `c`; an arc is one of its connected components while `c` decreases.
//! # Cost
//! `O(n log n)`.

/// A piece of `{f > c}` from where it appears to where it meets another.
#[derive(Debug, Clone)]
pub(super) struct Arc {
    /// A vertex that is in the piece at every level of the arc.
    pub peak: u32,
    /// Level at which the piece ends in its parent; −∞ for the last one.
    pub bottom: f64,
    /// What it becomes part of.
    pub parent: Option<usize>,
    /// What grew together where it begins; none for a tip.
    pub children: Vec<usize>,
}

/// Arcs, children before parents, and the arc each vertex belongs to.
pub(super) struct Tree {
    pub arcs: Vec<Arc>,
    pub of_vertex: Vec<u32>,
}

impl Tree {
    /// All of a surface as one arc, for a function whose pieces are known to be connected.
    pub fn path(peak: u32, n_vertices: usize) -> Self {
        let arc = Arc { peak, bottom: f64::NEG_INFINITY, parent: None, children: Vec::new() };
        Self { arcs: vec![arc], of_vertex: vec![0; n_vertices] }
    }
}

/// The arc that a piece belongs to further down, at a level.
pub(super) fn arc_at(tree: &Tree, mut arc: usize, level: f64) -> usize {
    while let Some(parent) = tree.arcs[arc].parent.filter(|_| tree.arcs[arc].bottom >= level) {
        arc = parent;
    }
    arc
}

/// Sweep a function over a graph. Pieces of less than `least` weight where they meet another are absorbed.
pub(super) fn build_tree<'a>(
    f: &[f64],
    weight: &[f64],
    neighbors: impl Fn(usize) -> &'a [u32],
    least: f64,
) -> Tree {
    let mut sweep = Sweep {
        piece: (0..f.len() as u32).collect(),
        arc: vec![u32::MAX; f.len()],
        weight: weight.to_vec(),
        arcs: Vec::new(),
        absorbed: Vec::new(),
    };
    let mut order: Vec<u32> = (0..f.len() as u32).collect();
    order.sort_by(|&a, &b| f[b as usize].total_cmp(&f[a as usize]).then(a.cmp(&b)));
    let mut rank = vec![0u32; f.len()];
    order.iter().enumerate().for_each(|(i, &v)| rank[v as usize] = i as u32);
    let mut of_vertex = vec![0; f.len()];
    for &v in &order {
        let higher = neighbors(v as usize).iter().filter(|&&w| rank[w as usize] < rank[v as usize]);
        let mut roots: Vec<u32> = higher.map(|&w| sweep.find(w)).collect();
        roots.sort_unstable();
        roots.dedup();
        of_vertex[v as usize] = sweep.meet(v, &roots, f[v as usize], least);
    }
    of_vertex.iter_mut().for_each(|arc| *arc = sweep.standing(*arc));
    sweep.compact(of_vertex)
}

struct Sweep {
    /// Union-find over vertices.
    piece: Vec<u32>,
    /// Arc of the piece of a root vertex.
    arc: Vec<u32>,
    /// Weight of the piece of a root vertex.
    weight: Vec<f64>,
    arcs: Vec<Arc>,
    /// For each arc, the one that absorbed it, or itself.
    absorbed: Vec<u32>,
}

impl Sweep {
    fn find(&mut self, mut v: u32) -> u32 {
        while self.piece[v as usize] != v {
            let up = self.piece[self.piece[v as usize] as usize];
            self.piece[v as usize] = up;
            v = up;
        }
        v
    }

    fn standing(&self, mut arc: u32) -> u32 {
        while self.absorbed[arc as usize] != arc {
            arc = self.absorbed[arc as usize];
        }
        arc
    }

    fn new_arc(&mut self, peak: u32, children: Vec<usize>) -> u32 {
        let index = self.arcs.len();
        self.arcs.push(Arc { peak, bottom: f64::NEG_INFINITY, parent: None, children });
        self.absorbed.push(index as u32);
        index as u32
    }

    /// Let a vertex join the pieces around it; the arc it belongs to.
    fn meet(&mut self, v: u32, roots: &[u32], level: f64, least: f64) -> u32 {
        let weight_of = |sweep: &Self, root: u32| sweep.weight[root as usize];
        let Some(largest) =
            roots.iter().copied().max_by(|&a, &b| weight_of(self, a).total_cmp(&weight_of(self, b)))
        else {
            let arc = self.new_arc(v, Vec::new());
            self.arc[v as usize] = arc;
            return arc;
        };
        let large: Vec<u32> = roots.iter().copied().filter(|&r| weight_of(self, r) >= least).collect();
        let arc = if large.len() < 2 {
            self.arc[largest as usize]
        } else {
            let children: Vec<usize> = large.iter().map(|&r| self.arc[r as usize] as usize).collect();
            let arc = self.new_arc(v, children.clone());
            for child in children {
                self.arcs[child].parent = Some(arc as usize);
                self.arcs[child].bottom = level;
            }
            arc
        };
        for &root in roots {
            let own = self.arc[root as usize];
            if own != arc && !large.contains(&root) {
                self.absorbed[own as usize] = arc;
            }
            self.piece[root as usize] = largest;
        }
        let total: f64 = roots.iter().map(|&r| weight_of(self, r)).sum::<f64>() + self.weight[v as usize];
        self.piece[v as usize] = largest;
        self.weight[largest as usize] = total;
        self.arc[largest as usize] = arc;
        arc
    }

    /// Number the remaining arcs from 0.
    fn compact(self, mut of_vertex: Vec<u32>) -> Tree {
        let mut number = vec![usize::MAX; self.arcs.len()];
        let stands = |index: usize| self.absorbed[index] as usize == index;
        (0..self.arcs.len()).filter(|&a| stands(a)).enumerate().for_each(|(new, old)| number[old] = new);
        of_vertex.iter_mut().for_each(|arc| *arc = number[*arc as usize] as u32);
        let arcs = (self.arcs.into_iter().enumerate())
            .filter(|(index, _)| number[*index] != usize::MAX)
            .map(|(_, arc)| Arc {
                parent: arc.parent.map(|p| number[p]),
                children: arc.children.iter().map(|&c| number[c]).collect(),
                ..arc
            })
            .collect();
        Tree { arcs, of_vertex }
    }
}
