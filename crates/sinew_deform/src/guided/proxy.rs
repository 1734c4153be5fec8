//! The graph of one soft piece, and its solution for a pose.

use super::{
    GuidedParams,
    clusters::{Clustering, Clusters},
    graph::Graph,
    interior::Interior,
    transfer::Transfer,
};
use crate::{
    DeformError, HandlePose,
    guide::Guide,
    handled::HandledMesh,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};
use glam::{DQuat, DVec3};
use sinew_geom::{operators::half_cotangents, query::SurfaceTree};
use std::collections::BTreeMap;

/// Fraction of the last step that the next iteration adds.
const MOMENTUM: f64 = 0.5;

/// A soft piece as a small graph.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    pub clusters: Clusters,
    graph: Graph,
    /// Handle that holds each node.
    owners: Vec<Option<u32>>,
    /// Handle that pulls at each node, and how strongly.
    springs: Vec<Option<(u32, f64)>>,
    guide: Guide,
    /// How vertices follow nodes; none if each vertex of the piece is a node.
    transfer: Option<Transfer>,
    /// Node of each vertex of the piece.
    node_of: Vec<u32>,
}

impl Proxy {
    /// Build a graph of about `budget` nodes for a piece, at a cost proportional to the piece.
    pub fn new(
        held: HandledMesh,
        tree: &SurfaceTree,
        piece: &SoftPiece,
        budget: usize,
        params: &GuidedParams,
        span: ProgressSpan,
    ) -> Result<Self, DeformError> {
        let clustering = Clustering::new(held, piece, budget);
        span.add(0.3)?;
        let clusters = &clustering.clusters;
        let n_surface = clusters.centers.len() as u32;
        let interior = Interior::new(held, tree, &clustering, piece, budget / 2);
        span.add(0.2)?;
        let mut edges = surface_edges(held, &clustering);
        edges.extend(
            interior
                .edges
                .iter()
                .map(|&(a, b, w)| (a + n_surface, b + n_surface, params.stiffness_inside * w)),
        );
        edges.extend(interior.links.iter().map(|&(a, b, w)| (a, b + n_surface, params.stiffness_links * w)));
        let rest = [clusters.centers.as_slice(), &interior.nodes].concat();
        let mut owners = [clusters.owners.as_slice(), &interior.owners].concat();
        let mut springs = clusters.springs.clone();
        springs.resize(rest.len(), None);
        hold_loose(&edges, &springs, &mut owners, piece.handles[0]);
        let is_held: Vec<bool> = owners.iter().map(Option::is_some).collect();
        let anchors = springs.iter().map(|spring| spring.map_or(0.0, |(_, s)| s)).collect();
        let node_of: Vec<u32> = piece.vertices.iter().filter_map(|&v| clustering.node(v)).collect();
        span.add(0.2)?;
        let transfer = if piece.vertices.len() <= budget {
            None
        } else {
            Some(Transfer::new(held, &piece.vertices, &clustering, &edges)?)
        };
        span.add(0.2)?;
        let graph = Graph::new(rest, &edges, &is_held, anchors, params.smoothness)?;
        let mut counts: BTreeMap<u32, usize> = piece.handles.iter().map(|&h| (h, 0)).collect();
        owners.iter().flatten().for_each(|h| *counts.entry(*h).or_default() += 1);
        let mut handles: Vec<u32> = counts.keys().copied().collect();
        // The guide is taken relative to the handle with the most nodes.
        handles.sort_by_key(|h| (std::cmp::Reverse(counts[h]), *h));
        let columns = handles.iter().map(|&h| harmonic_weights(&graph, &owners, &springs, h));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        let guide = Guide::new(handles, &columns);
        span.add(0.1)?;
        Ok(Self { clusters: clustering.clusters, graph, owners, springs, guide, transfer, node_of })
    }

    /// Positions of the piece's vertices.
    pub fn pose_vertices(
        &self,
        pose: &HandlePose,
        params: &GuidedParams,
        with_rotations: bool,
    ) -> Result<Posed, DeformError> {
        let (x, rotations) = self.solve(pose, params)?;
        match &self.transfer {
            Some(transfer) => Ok(Posed {
                positions: transfer.apply(&self.clusters, &x, &rotations)?,
                rotations: if with_rotations { transfer.blend(&rotations) } else { Vec::new() },
            }),
            None => Ok(Posed {
                positions: self.node_of.iter().map(|&k| x[k as usize]).collect(),
                rotations: self.node_of.iter().map(|&k| rotations[k as usize]).collect(),
            }),
        }
    }

    /// Never use more than one thread: other pieces are posed at the same time.
    pub fn without_threads(&mut self) {
        self.graph.without_threads();
    }

    /// Number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    /// Positions and rotations of all nodes.
    pub fn solve(
        &self,
        pose: &HandlePose,
        params: &GuidedParams,
    ) -> Result<(Vec<DVec3>, Vec<DQuat>), DeformError> {
        let mut rotations = self.guide.rotations(pose);
        let mut x = self.graph.rest.clone();
        self.place_held(pose, &mut x, &mut rotations);
        let mut targets = x.clone();
        for (target, spring) in targets.iter_mut().zip(&self.springs) {
            if let Some((handle, _)) = spring {
                *target = pose.motions()[*handle as usize].position(*target);
            }
        }
        let graph = &self.graph;
        let mut state = graph.begin(&x, rotations);
        graph.solve_positions(&targets, &mut state)?;
        let mut before = state.x.clone();
        let mut ahead = before.clone();
        for _ in 0..params.iterations {
            // Each iteration continues a little in the direction of the last one, which halves their number.
            for (ahead, (x, before)) in ahead.iter_mut().zip(state.x.iter().zip(&before)) {
                (0..3).for_each(|k| ahead[k] = x[k] + (x[k] - before[k]) * MOMENTUM);
            }
            before.copy_from_slice(&state.x);
            graph.fit_rotations(&mut state, Some(&ahead));
            graph.solve_positions(&targets, &mut state)?;
        }
        if params.smoothness > 0.0 {
            graph.fit_rotations(&mut state, None);
            graph.smooth_rotations(&mut state)?;
            graph.solve_positions(&targets, &mut state)?;
        }
        graph.fit_rotations(&mut state, None);
        graph.give_rotations(&mut state);
        let mut rotations = state.rotations;
        state.x.iter().zip(&mut x).for_each(|(p, x)| *x = DVec3::new(p[0], p[1], p[2]));
        self.place_held(pose, &mut x, &mut rotations);
        Ok((x, rotations))
    }

    /// Move held nodes with their handles.
    fn place_held(&self, pose: &HandlePose, x: &mut [DVec3], rotations: &mut [DQuat]) {
        for (i, owner) in self.owners.iter().enumerate() {
            if let Some(handle) = owner {
                let motion = &pose.motions()[*handle as usize];
                x[i] = motion.position(self.graph.rest[i]);
                rotations[i] = motion.rotation_at(self.graph.rest[i]);
            }
        }
    }
}

/// How much each node follows a handle.
fn harmonic_weights(
    graph: &Graph,
    owners: &[Option<u32>],
    springs: &[Option<(u32, f64)>],
    handle: u32,
) -> Result<Vec<f64>, DeformError> {
    let follows = |(owner, spring): (&Option<u32>, &Option<(u32, f64)>)| {
        f64::from(u8::from(owner.or(spring.map(|s| s.0)) == Some(handle)))
    };
    let mut values: Vec<f64> = owners.iter().zip(springs).map(follows).collect();
    graph.interpolate(&mut values)?;
    Ok(values)
}

/// Edges between neighbouring clusters. Cotangent weights of the fine edges that cross are scaled by how much
/// shorter they are than the coarse edge, so that the stiffness of the surface is preserved.
fn surface_edges(
    HandledMesh { mesh, adjacency, .. }: HandledMesh,
    clustering: &Clustering,
) -> Vec<(u32, u32, f64)> {
    let clusters = &clustering.clusters;
    let mut faces: Vec<u32> =
        clusters.vertices.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize)).copied().collect();
    faces.sort_unstable();
    faces.dedup();
    let mut sums: BTreeMap<(u32, u32), f64> = BTreeMap::new();
    for face in faces {
        let corners = mesh.faces()[face as usize];
        let nodes = corners.map(|v| clustering.node(v));
        if nodes[0] == nodes[1] && nodes[1] == nodes[2] {
            continue;
        }
        let cotangents = half_cotangents(mesh.corners(face as usize));
        for k in 0..3 {
            let [a, b] = [corners[(k + 1) % 3], corners[(k + 2) % 3]];
            let (Some(i), Some(j)) = (nodes[(k + 1) % 3], nodes[(k + 2) % 3]) else { continue };
            if i != j {
                let fine = mesh.positions()[a as usize].distance(mesh.positions()[b as usize]);
                let coarse = clusters.centers[i as usize].distance(clusters.centers[j as usize]);
                let scale = if coarse > 0.0 { (fine / coarse).min(1.0) } else { 1.0 };
                *sums.entry((i.min(j), i.max(j))).or_default() += cotangents[k] * scale;
            }
        }
    }
    // Obtuse triangles have negative cotangents, which would push nodes apart.
    sums.into_iter().map(|((i, j), w)| (i, j, w.max(0.05))).collect()
}

/// Hold nodes that are connected to no held node: their positions would be undefined.
fn hold_loose(
    edges: &[(u32, u32, f64)],
    springs: &[Option<(u32, f64)>],
    owners: &mut [Option<u32>],
    handle: u32,
) {
    let n = owners.len();
    let mut near = vec![Vec::new(); n];
    for &(a, b, _) in edges {
        near[a as usize].push(b);
        near[b as usize].push(a);
    }
    let mut reached: Vec<bool> = (0..n).map(|i| owners[i].is_some() || springs[i].is_some()).collect();
    let mut queue: Vec<u32> = (0..n as u32).filter(|&i| reached[i as usize]).collect();
    while let Some(i) = queue.pop() {
        for &j in &near[i as usize] {
            if !reached[j as usize] {
                reached[j as usize] = true;
                queue.push(j);
            }
        }
    }
    (0..n).filter(|&i| !reached[i]).for_each(|i| owners[i] = Some(handle));
}
