//! The graphs of one soft piece, with a weak and with a stiff inside, and their solutions for a pose.

use super::{
    GuidedParams,
    bulk::{Bulk, Mix},
    clusters::{Clustering, Clusters},
    graph::Graph,
    interior::Interior,
    transfer::Transfer,
};
use crate::{
    DeformError, HandlePose,
    fine::Inside,
    guide::Guide,
    handled::HandledMesh,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{operators::half_cotangents, query::SurfaceTree};
use std::collections::BTreeMap;

/// Fraction of the last step that the next iteration adds.
const MOMENTUM: f64 = 0.5;
/// Stiffness of the weak inside, as a share of the stiff one.
const WEAK_SHARE: f64 = 0.025;

/// A soft piece as two small graphs.
#[derive(Debug, Clone)]
pub(crate) struct Proxy {
    clusters: Clusters,
    interior: Interior,
    bulk: Bulk,
    weak: Layer,
    /// None if there is nothing inside.
    stiff: Option<Layer>,
    /// How vertices follow nodes; none if each vertex of the piece is a node.
    transfer: Option<Transfer>,
    /// Node of each vertex of the piece.
    node_of: Vec<u32>,
}

/// A graph, what holds it, and its start.
#[derive(Debug, Clone)]
struct Layer {
    graph: Graph,
    /// Handle that holds each node.
    owners: Vec<Option<u32>>,
    /// Handle that pulls at each node, and how strongly.
    springs: Vec<Option<(u32, f64)>>,
    guide: Guide,
}

/// Posed nodes.
pub(crate) struct PosedNodes {
    x: Vec<DVec3>,
    /// Linear blends of two rotations.
    matrices: Vec<DMat3>,
    rotations: Vec<DQuat>,
    /// Scale of the inside at full resolution.
    pub inside: f64,
}

impl Proxy {
    /// Build graphs of about `budget` nodes for a piece, at a cost proportional to the piece.
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
        let interior = Interior::new(held, tree, &clustering, piece, budget / 2);
        span.add(0.2)?;
        let surface = surface_edges(held, &clustering);
        let bulk = Bulk::new(held, &clustering);
        let node_of: Vec<u32> = piece.vertices.iter().filter_map(|&v| clustering.node(v)).collect();
        let transfer = if piece.vertices.len() <= budget {
            None
        } else {
            Some(Transfer::new(held, &piece.vertices, &clustering, &surface)?)
        };
        span.add(0.2)?;
        let layer = |share: f64| {
            Layer::new(&clustering.clusters, &interior, &surface, params, share, piece.handles[0])
        };
        let stiff = if interior.nodes.is_empty() { None } else { Some(layer(1.0)?) };
        let weak = layer(WEAK_SHARE)?;
        span.add(0.1)?;
        Ok(Self { clusters: clustering.clusters, interior, bulk, weak, stiff, transfer, node_of })
    }

    /// Number of nodes.
    #[cfg(test)]
    pub fn n_nodes(&self) -> usize {
        self.weak.graph.n_nodes()
    }

    /// Nodes, posed: as weak inside as keeps the volume; `whole` is the volume of the whole mesh.
    pub fn pose_nodes(
        &self,
        pose: &HandlePose,
        params: &GuidedParams,
        whole: f64,
    ) -> Result<PosedNodes, DeformError> {
        let n_surface = self.clusters.centers.len();
        let solve = |layer: &Layer| layer.solve(pose, params);
        let Some(stiff) = &self.stiff else {
            let (x, rotations) = solve(&self.weak)?;
            let matrices = rotations.iter().map(|q| DMat3::from_quat(*q)).collect();
            return Ok(PosedNodes { x, matrices, rotations, inside: 0.0 });
        };
        let (weak, stiff) = rayon::join(|| solve(&self.weak), || solve(stiff));
        let ((mut x, mut rotations), (stiff_x, stiff_rotations)) = (weak?, stiff?);
        let Mix { share, inside } = self.bulk.mix(&x[..n_surface], &stiff_x[..n_surface], whole);
        let mut matrices: Vec<DMat3> = rotations.iter().map(|q| DMat3::from_quat(*q)).collect();
        if share > 0.0 {
            for i in 0..x.len() {
                x[i] = x[i].lerp(stiff_x[i], share);
                matrices[i] = matrices[i] * (1.0 - share) + DMat3::from_quat(stiff_rotations[i]) * share;
                let (a, b) = (rotations[i], stiff_rotations[i]);
                // Of the two quaternions of a rotation the nearer one; opposite ones keep the first.
                let mean = a * (1.0 - share) + b * (share * a.dot(b).signum());
                rotations[i] = if mean.length_squared() > 1e-6 { mean.normalize() } else { a };
            }
        }
        Ok(PosedNodes { x, matrices, rotations, inside })
    }

    /// Positions, and if requested rotations, of the piece's vertices for posed nodes.
    pub fn place_vertices(&self, nodes: &PosedNodes, with_rotations: bool) -> Result<Posed, DeformError> {
        let Some(transfer) = &self.transfer else {
            return Ok(Posed {
                positions: self.node_of.iter().map(|&k| nodes.x[k as usize]).collect(),
                rotations: self.node_of.iter().map(|&k| nodes.rotations[k as usize]).collect(),
            });
        };
        let rotations = if with_rotations { transfer.blend(&nodes.rotations) } else { Vec::new() };
        let positions = transfer.apply(&self.clusters, &nodes.x, &nodes.matrices)?;
        Ok(Posed { positions, rotations })
    }

    /// Positions and rotations of the places inside.
    pub fn places_inside<'a>(&self, nodes: &'a PosedNodes) -> impl Iterator<Item = (DVec3, DQuat)> + use<'a> {
        let from = self.clusters.centers.len();
        nodes.x[from..].iter().copied().zip(nodes.rotations[from..].iter().copied())
    }

    /// The places inside as they are linked to single vertices: what linked a node is shared among its vertices by the area
    /// around them.
    pub fn inside(&self, HandledMesh { mesh, adjacency, .. }: HandledMesh, params: &GuidedParams) -> Inside {
        let Some(stiff) = &self.stiff else { return Inside::default() };
        let n_surface = self.clusters.centers.len();
        let area = |v: u32| -> f64 {
            let faces = adjacency.vertex_faces.row(v as usize).iter();
            let double = faces.map(|&f| {
                let [a, b, c] = mesh.corners(f as usize);
                (b - a).cross(c - a).length()
            });
            double.sum()
        };
        let areas: Vec<f64> = self.clusters.vertices.par_iter().map(|&v| area(v)).collect();
        let mut sums = vec![0.0; n_surface];
        self.clusters.node_of.iter().zip(&areas).for_each(|(&k, a)| sums[k as usize] += a);
        let mut of_node = vec![Vec::new(); n_surface];
        self.interior.links.iter().for_each(|&(k, b, w)| of_node[k as usize].push((b, w)));
        let mut links = Vec::new();
        for ((&v, &k), area) in self.clusters.vertices.iter().zip(&self.clusters.node_of).zip(&areas) {
            let share = params.stiffness_links * area / sums[k as usize].max(f64::MIN_POSITIVE);
            if share > 0.0 {
                links.extend(of_node[k as usize].iter().map(|&(b, w)| (v, b, w * share)));
            }
        }
        Inside {
            places: self.interior.nodes.clone(),
            owners: stiff.owners[n_surface..].to_vec(),
            edges: self.interior.edges.iter().map(|&(a, b, w)| (a, b, w * params.stiffness_inside)).collect(),
            links,
        }
    }
}

impl Layer {
    fn new(
        clusters: &Clusters,
        interior: &Interior,
        surface: &[(u32, u32, f64)],
        params: &GuidedParams,
        share: f64,
        fallback: u32,
    ) -> Result<Self, DeformError> {
        let n = clusters.centers.len() as u32;
        let (inside, links) = (params.stiffness_inside * share, params.stiffness_links * share);
        let mut edges = surface.to_vec();
        edges.extend(interior.edges.iter().map(|&(a, b, w)| (a + n, b + n, inside * w)));
        edges.extend(interior.links.iter().map(|&(a, b, w)| (a, b + n, links * w)));
        let rest = [clusters.centers.as_slice(), &interior.nodes].concat();
        let mut owners = [clusters.owners.as_slice(), &interior.owners].concat();
        let mut springs = clusters.springs.clone();
        springs.resize(rest.len(), None);
        hold_loose(&edges, &springs, &mut owners, fallback);
        let is_held: Vec<bool> = owners.iter().map(Option::is_some).collect();
        let anchors = springs.iter().map(|spring| spring.map_or(0.0, |(_, s)| s)).collect();
        let graph = Graph::new(rest, &edges, &is_held, anchors)?;
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        let pulling = springs.iter().filter_map(|spring| spring.map(|(handle, _)| handle));
        pulling.for_each(|h| *counts.entry(h).or_default() += 0);
        owners.iter().flatten().for_each(|h| *counts.entry(*h).or_default() += 1);
        let mut handles: Vec<u32> = counts.keys().copied().collect();
        // The guide is taken relative to the handle with the most nodes.
        handles.sort_by_key(|h| (std::cmp::Reverse(counts[h]), *h));
        let columns = handles.iter().map(|&h| harmonic_weights(&graph, &owners, &springs, h));
        let guide = Guide::new(handles.clone(), &columns.collect::<Result<Vec<_>, _>>()?);
        Ok(Self { graph, owners, springs, guide })
    }

    /// Positions and rotations of all nodes.
    fn solve(
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
