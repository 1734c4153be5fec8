//! A skeleton placed in a surface by the user: joints by clicks, bones by connecting them, weights automatically.
//!
//! # Source
//! Capell (2004), §5.4: a joint is placed midway between the first two intersections of a ray with the surface.
//! Weights: equilibrium of heat given off by bones (Baran and Popović, *Automatic rigging and animation of 3D
//! characters*, 2007, §4). Differs: heat flows through a lattice, not along the surface, so that open and scattered
//! surfaces work; the nearest bone is found along cells, so that one leg does not warm the other.
//! # Symbols
//! `(L + D) w = D p`: `L` Laplacian of the lattice, `D` heat by distance, `p` 1 where a joint's bones are nearest. The
//! rows of `L` sum to zero and have no positive entries off the diagonal, hence weights lie in 0..=1 and sum to one.
//! # Cost
//! One lattice, one sparse Cholesky factorisation, one back-substitution per four joints.

use crate::{Body, FleshError, Lattice, LatticeParams, build_body, contact::closest_on_segment};
use glam::DVec3;
use sinew_geom::{
    Joint, Mesh, Rig, Skin, Warnings,
    linalg::{Cholesky, SparseMatrix},
    mesh::Ragged,
    query::SurfaceTree,
    rig::Transform,
};
use std::{cmp::Reverse, collections::BinaryHeap};

/// A joint to be.
#[derive(Debug, Clone, PartialEq)]
pub struct JointSite {
    /// Its name.
    pub name: String,
    /// The joint it hangs on, which comes before it.
    pub parent: Option<usize>,
    /// Where it is.
    pub position: DVec3,
}

/// Cells of the lattice that weights are found in.
const N_CELLS: usize = 3000;
/// Cells over which joints are blended, near bones and far from them.
const BLEND: [f64; 2] = [0.5, 3.0];
/// Joints per vertex at most.
const JOINTS_PER_VERTEX: usize = 4;
/// Hits nearer to each other than this share of the diagonal are one.
const COINCIDENT_DIAGONALS: f64 = 1e-6;
/// Right-hand sides that are solved together.
const BATCH_SIZE: usize = 4;

/// Half-way between the first two places where a ray meets a surface; where it meets it once, that place.
pub fn place_joint(tree: &SurfaceTree, origin: DVec3, direction: DVec3, diagonal: f64) -> Option<DVec3> {
    let at = |t: f64| origin + direction * t;
    let hits = tree.all_hits(origin, direction);
    let first = at(hits.first()?.t);
    let second =
        hits.iter().map(|hit| at(hit.t)).find(|p| p.distance(first) > COINCIDENT_DIAGONALS * diagonal);
    Some(second.map_or(first, |second| first.midpoint(second)))
}

/// A skeleton of joints in a surface, and the skin that hangs on it.
///
/// # Errors
/// No joints, a parent that does not come before its child, places that are not finite, a surface without an inside.
pub fn build_skeleton(mesh: &Mesh, sites: &[JointSite]) -> Result<(Rig, Skin), FleshError> {
    if sites.is_empty() {
        let expected = "there must be at least 1; put a joint into the body first";
        return Err(FleshError::Parameter { name: "number of joints", value: 0.0, expected });
    }
    if let Some(index) = sites.iter().position(|site| !site.position.is_finite()) {
        return Err(FleshError::NonFinite { what: "place of joint", index });
    }
    let joint = |site: &JointSite| {
        let origin = site.parent.and_then(|at| sites.get(at)).map_or(DVec3::ZERO, |parent| parent.position);
        Joint::new(site.name.clone(), site.parent, Transform::from_translation(site.position - origin))
    };
    let rig = Rig::new(sites.iter().map(joint).collect())?;
    let body = build_body(mesh, &LatticeParams { cells: N_CELLS, size: None })?;
    let nodes = node_weights(&body.lattice, sites)?;
    let (indices, weights) = vertex_weights(&body, &nodes, sites.len());
    let slots = Skin::slots_at_rest(&rig);
    let skin = Skin::new(slots, JOINTS_PER_VERTEX, indices, weights, &mut Warnings::default())?;
    Ok((rig, skin))
}

/// A bone; the ends of that of a last joint are one.
#[derive(Debug, Clone, Copy)]
struct Bone {
    /// The joint that moves it.
    joint: usize,
    /// The joint it leads to.
    child: Option<usize>,
    ends: [DVec3; 2],
}

impl Bone {
    fn closest(&self, p: DVec3) -> DVec3 {
        closest_on_segment(self.ends[0], self.ends[1], p)
    }

    fn distance(&self, p: DVec3) -> f64 {
        self.closest(p).distance(p)
    }
}

fn bones_of(sites: &[JointSite]) -> Vec<Bone> {
    let mut bones: Vec<Bone> = Vec::new();
    for (joint, site) in sites.iter().enumerate() {
        let children = (0..sites.len()).filter(|&other| sites[other].parent == Some(joint));
        let before = bones.len();
        bones.extend(children.map(|child| {
            let ends = [site.position, sites[child].position];
            Bone { joint, child: Some(child), ends }
        }));
        if bones.len() == before {
            bones.push(Bone { joint, child: None, ends: [site.position; 2] });
        }
    }
    bones
}

/// What lies beyond the end of a bone belongs to what hangs on it there.
fn descend(bones: &[Bone], mut bone: usize, p: DVec3) -> usize {
    while let Some(child) = bones[bone].child.filter(|_| bones[bone].closest(p) == bones[bone].ends[1]) {
        let below = (0..bones.len()).filter(|&other| bones[other].joint == child);
        let nearest = below.min_by(|a, b| bones[*a].distance(p).total_cmp(&bones[*b].distance(p)));
        let Some(nearest) = nearest else { break };
        bone = nearest;
    }
    bone
}

/// Weight of each joint at each node, one row per node.
fn node_weights(lattice: &Lattice, sites: &[JointSite]) -> Result<Vec<f64>, FleshError> {
    let (n, n_joints) = (lattice.n_nodes(), sites.len());
    let bones = bones_of(sites);
    let nearest = nearest_bones(lattice, &bones);
    let heat = |node: usize| {
        let far = bones[nearest[node]].distance(lattice.nodes()[node]) / lattice.size();
        1.0 / far.clamp(BLEND[0], BLEND[1]).powi(2)
    };
    let heat: Vec<f64> = (0..n).map(heat).collect();
    let edges = lattice.cells().iter().flat_map(|cell| {
        (0..8usize).flat_map(move |c| {
            (0..3).filter(move |k| c >> k & 1 == 0).map(move |k| (cell[c], cell[c ^ 1 << k]))
        })
    });
    let entries = edges.flat_map(|(a, b)| [(a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)]);
    let diagonal = (0..n as u32).map(|node| (node, node, heat[node as usize]));
    let factor = Cholesky::<f64>::new(&SparseMatrix::from_triplets(n, n, entries.chain(diagonal)))?;
    let mut weights = vec![0.0; n * n_joints];
    for first in (0..n_joints).step_by(BATCH_SIZE) {
        let of =
            |node: usize, joint: usize| if bones[nearest[node]].joint == joint { heat[node] } else { 0.0 };
        let mut x: Vec<[f64; BATCH_SIZE]> =
            (0..n).map(|node| std::array::from_fn(|k| of(node, first + k))).collect();
        factor.solve(&mut x)?;
        for (row, x) in weights.chunks_mut(n_joints).zip(&x) {
            row[first..].iter_mut().zip(x).for_each(|(to, from)| *to = from.max(0.0));
        }
    }
    Ok(weights)
}

/// The bone nearest to each node along the cells; straight through where no cells lead to any.
fn nearest_bones(lattice: &Lattice, bones: &[Bone]) -> Vec<usize> {
    let (nodes, n) = (lattice.nodes(), lattice.n_nodes());
    let pairs = |cell: &[u32; 8]| {
        let cell = *cell;
        (0..8usize).flat_map(move |a| (0..8).filter(move |b| *b != a).map(move |b| (cell[a], cell[b])))
    };
    let neighbors = Ragged::from_pairs(n, || lattice.cells().iter().flat_map(pairs));
    let mut best = vec![(f64::INFINITY, usize::MAX); n];
    let mut queue = BinaryHeap::new();
    for (at, bone) in bones.iter().enumerate() {
        let far: Vec<f64> = nodes.iter().map(|p| bone.distance(*p)).collect();
        let least = far.iter().copied().fold(f64::INFINITY, f64::min);
        // Within a cell of it, or at least the node that is nearest.
        let reach = least.max(0.9 * lattice.size());
        for (node, &far) in far.iter().enumerate().filter(|(_, far)| **far <= reach) {
            if far < best[node].0 {
                best[node] = (far, at);
                queue.push(Reverse((far.to_bits(), node as u32, at)));
            }
        }
    }
    while let Some(Reverse((bits, node, bone))) = queue.pop() {
        let node = node as usize;
        if (f64::from_bits(bits), bone) != best[node] {
            continue;
        }
        for &other in neighbors.row(node) {
            let there = best[node].0 + nodes[node].distance(nodes[other as usize]);
            if there < best[other as usize].0 {
                best[other as usize] = (there, bone);
                queue.push(Reverse((there.to_bits(), other, bone)));
            }
        }
    }
    let straight = |p: DVec3| {
        let far = |bone: &usize| bones[*bone].distance(p);
        (0..bones.len()).min_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0)
    };
    let one = |(node, &(_, bone)): (usize, &(f64, usize))| {
        let bone = if bone == usize::MAX { straight(nodes[node]) } else { bone };
        descend(bones, bone, nodes[node])
    };
    best.iter().enumerate().map(one).collect()
}

/// The strongest joints of each vertex, with weights that sum to one.
fn vertex_weights(body: &Body, nodes: &[f64], n_joints: usize) -> (Vec<u16>, Vec<f32>) {
    let (mut indices, mut weights) = (Vec::new(), Vec::new());
    let mut row = vec![0.0; n_joints];
    for vertex in 0..body.embedding.len() {
        row.fill(0.0);
        let corners = &body.lattice.cells()[body.embedding.cell(vertex)];
        for (&node, &near) in corners.iter().zip(body.embedding.weights(vertex)) {
            let of_node = &nodes[node as usize * n_joints..][..n_joints];
            row.iter_mut().zip(of_node).for_each(|(to, from)| *to += f64::from(near.max(0.0)) * from);
        }
        let mut order: Vec<usize> = (0..n_joints).collect();
        order.sort_by(|a, b| row[*b].total_cmp(&row[*a]).then(a.cmp(b)));
        let sum: f64 = order.iter().take(JOINTS_PER_VERTEX).map(|&joint| row[joint]).sum();
        for k in 0..JOINTS_PER_VERTEX {
            let joint = order.get(k).copied();
            indices.push(joint.unwrap_or(0) as u16);
            weights.push(joint.map_or(0.0, |joint| (row[joint] / sum.max(f64::MIN_POSITIVE)) as f32));
        }
    }
    (indices, weights)
}
