//! Nodes inside the body, so that limbs resist collapsing.
//!
//! # Source
//! After Zhou et al., *Large mesh deformation using the volumetric graph Laplacian* (2005): a lattice of points inside,
//! linked to each other and to the surface. The inside is defined by the winding number, so open and self-intersecting
//! meshes have an inside too.

use super::clusters::{Clustering, Clusters};
use crate::{handled::HandledMesh, soft::SoftPiece};
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use sinew_geom::query::SurfaceTree;
use std::collections::HashMap;

/// Lattice nodes near a piece, with their links.
#[derive(Debug, Clone, Default)]
pub(crate) struct Interior {
    pub nodes: Vec<DVec3>,
    /// Handle that holds each node.
    pub owners: Vec<Option<u32>>,
    /// Links among lattice nodes.
    pub edges: Vec<(u32, u32, f64)>,
    /// Links from surface nodes (first) to lattice nodes (second).
    pub links: Vec<(u32, u32, f64)>,
}

/// Lattice points that are tried at most, and to estimate how much is inside: each costs a winding number.
const MAX_SAMPLES: f64 = 30_000.0;
const FIRST_SAMPLES: f64 = 3_000.0;
/// The same per node of the surface, so that thousands of small pieces do not cost as much as thousands of
/// large ones. They set the limit below a hundred nodes.
const MAX_SAMPLES_PER_NODE: f64 = 300.0;
const FIRST_SAMPLES_PER_NODE: f64 = 30.0;

impl Interior {
    /// Fill the surroundings of a piece with at most about `budget` nodes.
    pub fn new(
        held: HandledMesh,
        tree: &SurfaceTree,
        clustering: &Clustering,
        piece: &SoftPiece,
        budget: usize,
    ) -> Self {
        let clusters = &clustering.clusters;
        let n_nodes = clusters.centers.len();
        if !piece.has_inside() {
            return Self::default();
        }
        let max_tried = MAX_SAMPLES.min(MAX_SAMPLES_PER_NODE * n_nodes as f64);
        let first_tried = FIRST_SAMPLES.min(FIRST_SAMPLES_PER_NODE * n_nodes as f64);
        let [low, high] = sinew_geom::mesh::bounds(&clusters.centers);
        let finest = 1.6 * clusters.spacing;
        let size = high - low + DVec3::splat(finest);
        let volume = size.x * size.y * size.z;
        let mut step = finest.max((volume / first_tried).cbrt());
        let mut found = Self::fill(held, tree, clustering, [low, high], step);
        // A coarse lattice decides how fine the final one may be.
        for _ in 0..2 {
            let fitting = step * (found.nodes.len() as f64 / budget as f64).cbrt();
            let next = fitting.max(finest).max((volume / max_tried).cbrt());
            if next > 0.95 * step && found.nodes.len() <= budget {
                break;
            }
            step = next;
            found = Self::fill(held, tree, clustering, [low, high], step);
        }
        found.linked(tree, clusters, step)
    }

    fn fill(
        HandledMesh { mesh, handles, .. }: HandledMesh,
        tree: &SurfaceTree,
        clustering: &Clustering,
        [low, high]: [DVec3; 2],
        step: f64,
    ) -> Lattice {
        let counts = ((high - low) / step).ceil().max(DVec3::ONE).as_ivec3();
        // The lattice is centred on the piece.
        let origin = (low + high) / 2.0 - (counts - 1).as_dvec3() * (step / 2.0);
        let cells: Vec<IVec3> = (0..counts.z)
            .flat_map(|z| (0..counts.y).flat_map(move |y| (0..counts.x).map(move |x| IVec3::new(x, y, z))))
            .collect();
        let inside: Vec<(IVec3, DVec3, f64, Option<u32>)> = cells
            .into_par_iter()
            .filter_map(|cell| {
                let p = origin + cell.as_dvec3() * step;
                let near = tree.closest_point(p)?;
                if near.distance < 0.4 * step {
                    return None;
                }
                let corners = mesh.faces()[near.face as usize];
                let heaviest = (0..3).max_by(|&a, &b| near.barycentric[a].total_cmp(&near.barycentric[b]))?;
                let v = corners[heaviest] as usize;
                let is_near = clustering.local.get(corners[heaviest]).is_some();
                if !is_near || tree.winding_number(p).abs() < 0.5 {
                    return None;
                }
                let owner = handles.owner(v).filter(|_| handles.is_rigid(v)).map(|h| h as u32);
                Some((cell, p, near.distance, owner))
            })
            .collect();
        Lattice {
            index: inside.iter().enumerate().map(|(at, (cell, ..))| (*cell, at as u32)).collect(),
            nodes: inside.iter().map(|(_, p, ..)| *p).collect(),
            depths: inside.iter().map(|(_, _, depth, _)| *depth).collect(),
            owners: inside.iter().map(|(.., owner)| *owner).collect(),
            cells: inside.iter().map(|(cell, ..)| *cell).collect(),
            origin,
        }
    }
}

struct Lattice {
    nodes: Vec<DVec3>,
    /// Distance of each node from the surface.
    depths: Vec<f64>,
    owners: Vec<Option<u32>>,
    cells: Vec<IVec3>,
    index: HashMap<IVec3, u32>,
    origin: DVec3,
}

impl Lattice {
    fn linked(self, tree: &SurfaceTree, clusters: &Clusters, step: f64) -> Interior {
        let half: Vec<IVec3> = (-1..=1)
            .flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| IVec3::new(x, y, z))))
            .filter(|d| (d.x, d.y, d.z) > (0, 0, 0))
            .collect();
        let edges = (0..self.nodes.len())
            .into_par_iter()
            .flat_map_iter(|a| {
                half.iter()
                    .filter_map(|d| Some((*self.index.get(&(self.cells[a] + *d))?, *d)))
                    .filter(|&(b, _)| self.sees(tree, b as usize, self.nodes[a], self.depths[a]))
                    .map(|(b, d)| (a as u32, b, 1.0 / f64::from(d.length_squared())))
                    .collect::<Vec<_>>()
            })
            .collect();
        // Many surface nodes share the stiffness of one lattice cell.
        let share = (step / clusters.spacing).powi(2).max(1.0);
        let links = (0..clusters.centers.len())
            .into_par_iter()
            .flat_map_iter(|node| {
                let p = clusters.centers[node];
                self.nearest(p, step, 6)
                    .into_iter()
                    .filter(|&(b, _)| self.sees(tree, b as usize, p, 0.0))
                    .map(|(b, d)| (node as u32, b, (-(d / step).powi(2)).exp() / share))
                    .collect::<Vec<_>>()
            })
            .collect();
        Interior { nodes: self.nodes, owners: self.owners, edges, links }
    }

    /// Whether the segment from a node to a point at this distance from the surface meets no surface. A hit at its
    /// end does not count.
    fn sees(&self, tree: &SurfaceTree, node: usize, point: DVec3, depth: f64) -> bool {
        let (from, way) = (self.nodes[node], point - self.nodes[node]);
        self.depths[node] + depth >= way.length() || tree.first_hit(from, way).is_none_or(|hit| hit.t > 0.98)
    }

    /// The lattice nodes nearest to a point, within 2.2 steps.
    fn nearest(&self, p: DVec3, step: f64, count: usize) -> Vec<(u32, f64)> {
        let cell = ((p - self.origin) / step).round().as_ivec3();
        let mut found: Vec<(u32, f64)> = (-3..=3)
            .flat_map(|x| (-3..=3).flat_map(move |y| (-3..=3).map(move |z| IVec3::new(x, y, z))))
            .filter_map(|d| self.index.get(&(cell + d)))
            .map(|&b| (b, self.nodes[b as usize].distance(p)))
            .filter(|(_, d)| *d < 2.2 * step)
            .collect();
        found.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        found.truncate(count);
        found
    }
}
