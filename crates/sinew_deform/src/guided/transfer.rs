//! How the vertices of a piece follow the nodes of its graph.
//!
//! # Source
//! Sumner et al., *Embedded deformation for shape manipulation* (2007), eqs. 3–5: nearby nodes, weighted by a kernel.
//! Differs: the kernel is as wide everywhere, so that weights are smooth, and speckles of dense meshes disappear;
//! candidates are neighbours on the surface and theirs, so that fingers do not stick together; and vertices next to a
//! handle blend into its motion, so that its border does not tear.

use super::clusters::{Clustering, Clusters};
use crate::handled::HandledMesh;
use glam::{DAffine3, DMat3, DQuat, DVec3, Vec3};
use rayon::prelude::*;
use sinew_geom::{GeomError, Skin, SkinSlot, rig::skin_linear};
use std::{cmp::Reverse, collections::BinaryHeap};

/// Nodes per vertex; the last is that of a handle beside it.
const NODES_PER_VERTEX: usize = 16;
/// Radius of the kernel in distances between nodes.
const KERNEL_RADIUS: f64 = 2.0;

/// Weights of a piece's vertices.
#[derive(Debug, Clone)]
pub(crate) struct Transfer {
    skin: Skin,
    rest: Vec<Vec3>,
    center: DVec3,
}

impl Transfer {
    /// Let vertices follow the nodes near them; `edges` says which nodes are neighbours on the surface.
    pub fn new(
        held: HandledMesh,
        vertices: &[u32],
        clustering: &Clustering,
        edges: &[(u32, u32, f64)],
    ) -> Result<Self, GeomError> {
        let (mesh, clusters) = (held.mesh, &clustering.clusters);
        let n_nodes = clusters.centers.len();
        let near = two_rings(held, clusters, edges);
        let borders = nearest_borders(held, vertices, clustering);
        let follow = |(&v, border): (&u32, &Option<(u32, f64)>)| {
            let p = mesh.positions()[v as usize];
            let candidates = &near[clustering.node(v).unwrap_or_default() as usize];
            let mut chosen = nearest_nodes(p, candidates, clusters);
            if let Some((k, share)) = *border {
                chosen.iter_mut().for_each(|(_, w)| *w *= 1.0 - share);
                chosen.push((k, share));
            }
            chosen.resize(NODES_PER_VERTEX, (chosen[0].0, 0.0));
            chosen
        };
        let chosen: Vec<(u32, f64)> =
            vertices.par_iter().zip(&borders).with_min_len(1024).flat_map_iter(follow).collect();
        let indices = chosen.iter().map(|&(k, _)| k as u16).collect();
        let weights = chosen.iter().map(|&(_, w)| w as f32).collect();
        let [low, high] = sinew_geom::mesh::bounds(&clusters.centers);
        let center = (low + high) / 2.0;
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; n_nodes];
        let skin =
            Skin::new(slots, NODES_PER_VERTEX, indices, weights, &mut sinew_geom::Warnings::default())?;
        let rest = vertices.iter().map(|&v| (mesh.positions()[v as usize] - center).as_vec3()).collect();
        Ok(Self { skin, rest, center })
    }

    /// Positions of the piece's vertices for posed nodes.
    pub fn apply(&self, clusters: &Clusters, x: &[DVec3], turns: &[DMat3]) -> Result<Vec<DVec3>, GeomError> {
        let matrices: Vec<DAffine3> = clusters
            .centers
            .iter()
            .zip(x.iter().zip(turns))
            // x' = R (x − g) + y, with coordinates relative to the piece's centre to keep single precision accurate.
            .map(|(g, (y, r))| {
                DAffine3::from_mat3_translation(*r, *y - self.center + *r * (self.center - *g))
            })
            .collect();
        let mut out = vec![Vec3::ZERO; self.rest.len()];
        skin_linear(&self.skin, &matrices, &self.rest, &mut out)?;
        Ok(out.iter().map(|p| p.as_dvec3() + self.center).collect())
    }

    /// Rotations of the piece's vertices: those of their nodes, blended.
    pub fn blend(&self, rotations: &[DQuat]) -> Vec<DQuat> {
        let blend = |v: usize| {
            let first = self.skin.vertex(v).next().map_or(DQuat::IDENTITY, |(k, _)| rotations[k as usize]);
            let mut sum = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
            for (k, w) in self.skin.vertex(v) {
                let q = rotations[k as usize];
                sum += q * (f64::from(w) * q.dot(first).signum());
            }
            if sum.length_squared() > 0.0 { sum.normalize() } else { first }
        };
        (0..self.skin.n_vertices()).into_par_iter().with_min_len(1024).map(blend).collect()
    }
}

/// For each node the nodes of two rings around it that the kernel of one of its vertices can reach.
fn two_rings(held: HandledMesh, clusters: &Clusters, edges: &[(u32, u32, f64)]) -> Vec<Vec<u32>> {
    let mut near: Vec<Vec<u32>> = (0..clusters.centers.len() as u32).map(|i| vec![i]).collect();
    for &(a, b, _) in edges {
        near[a as usize].push(b);
        near[b as usize].push(a);
    }
    let mut radius = vec![0.0f64; near.len()];
    for (&v, &node) in clusters.vertices.iter().zip(&clusters.node_of) {
        let far = held.mesh.positions()[v as usize].distance(clusters.centers[node as usize]);
        radius[node as usize] = radius[node as usize].max(far);
    }
    let rings = |node: usize| {
        let reach = radius[node] + (KERNEL_RADIUS * clusters.spacing).max(1.01 * radius[node]);
        let is_near = |k: &u32| clusters.centers[*k as usize].distance(clusters.centers[node]) <= reach;
        let mut all: Vec<u32> = near[node].iter().flat_map(|&k| &near[k as usize]).copied().collect();
        all.sort_unstable();
        all.dedup();
        all.retain(is_near);
        all
    };
    (0..near.len()).into_par_iter().map(rings).collect()
}

/// The nodes nearest to a point, with weights that sum to one.
fn nearest_nodes(p: DVec3, candidates: &[u32], clusters: &Clusters) -> Vec<(u32, f64)> {
    let mut all: Vec<(u32, f64)> =
        candidates.iter().map(|&k| (k, clusters.centers[k as usize].distance(p))).collect();
    all.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    all.truncate(NODES_PER_VERTEX - 1);
    // A vertex far from all nodes follows the nearest.
    let reach = (KERNEL_RADIUS * clusters.spacing).max(all[0].1 * 1.01);
    all.iter_mut().for_each(|(_, d)| *d = (1.0 - (*d / reach).powi(2)).max(0.0).powi(3));
    all[0].1 += 1e-9;
    let sum: f64 = all.iter().map(|(_, w)| w).sum();
    all.iter_mut().for_each(|(_, w)| *w /= sum);
    all
}

/// For vertices beside a handle, the handle's node there, and how much they follow it.
fn nearest_borders(
    HandledMesh { mesh, adjacency, .. }: HandledMesh,
    vertices: &[u32],
    Clustering { clusters, local }: &Clustering,
) -> Vec<Option<(u32, f64)>> {
    let width = clusters.spacing;
    let mut best = vec![(f64::INFINITY, u32::MAX); clusters.vertices.len()];
    let mut queue = BinaryHeap::new();
    for (at, &node) in clusters.node_of.iter().enumerate() {
        if clusters.owners[node as usize].is_some() {
            best[at] = (0.0, node);
            queue.push(Reverse((0u64, at as u32)));
        }
    }
    while let Some(Reverse((bits, at))) = queue.pop() {
        let (here, border) = best[at as usize];
        if f64::from_bits(bits) > here {
            continue;
        }
        let v = clusters.vertices[at as usize] as usize;
        for &w in adjacency.neighbors.row(v) {
            let there = here + mesh.positions()[v].distance(mesh.positions()[w as usize]);
            let Some(next) = local.get(w).filter(|_| there < width) else { continue };
            if there < best[next as usize].0 {
                best[next as usize] = (there, border);
                queue.push(Reverse((there.to_bits(), next)));
            }
        }
    }
    vertices
        .iter()
        .map(|&v| {
            let (distance, border) = best[local.get(v)? as usize];
            (border != u32::MAX).then(|| {
                let t = 1.0 - distance / width;
                (border, t * t * (3.0 - 2.0 * t))
            })
        })
        .collect()
}
