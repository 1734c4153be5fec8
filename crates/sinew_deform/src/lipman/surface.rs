//! Normals and local frames of the part of a surface that enters a system.
//!
//! # Source
//! Hansen (2006), §4.1.7.1: frames `{u, n × u, n}`, and normals averaged with a polynomial of the distance along edges.

use crate::{handled::HandledMesh, local::VertexMap};
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::{linalg::SparseMatrix, mesh::Ragged};

/// Faces around the columns of a system, to find normals and frames.
#[derive(Debug, Clone)]
pub(super) struct LocalSurface {
    faces: Vec<[u32; 3]>,
    faces_of: Ragged,
    /// The neighbour towards which each row's frame points.
    toward: Vec<u32>,
}

impl LocalSurface {
    pub fn new(
        HandledMesh { mesh, adjacency, .. }: HandledMesh,
        columns: &[u32],
        column_of: &VertexMap,
        rows: &[u32],
    ) -> Self {
        let mut near: Vec<u32> =
            columns.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize)).copied().collect();
        near.sort_unstable();
        near.dedup();
        let local = |f: &u32| column_of.face(mesh.faces()[*f as usize]);
        let faces: Vec<[u32; 3]> = near.iter().filter_map(local).collect();
        let faces_of = Ragged::from_pairs(columns.len(), || {
            faces.iter().enumerate().flat_map(|(f, corners)| corners.map(|c| (c, f as u32)))
        });
        let first = |&c: &u32| {
            let row = adjacency.neighbors.row(columns[c as usize] as usize);
            row.iter().find_map(|&v| column_of.get(v)).unwrap_or(c)
        };
        Self { toward: rows.iter().map(first).collect(), faces, faces_of }
    }

    pub fn normals(&self, x: &[DVec3]) -> Vec<DVec3> {
        let normal = |f: &[u32; 3]| {
            let [a, b, c] = f.map(|c| x[c as usize]);
            (b - a).cross(c - a)
        };
        let of_faces: Vec<DVec3> = self.faces.par_iter().with_min_len(2048).map(normal).collect();
        let sum = |c: usize| {
            let sum: DVec3 = self.faces_of.row(c).iter().map(|&f| of_faces[f as usize]).sum();
            sum.normalize_or_zero()
        };
        (0..x.len()).into_par_iter().with_min_len(2048).map(sum).collect()
    }

    /// Local frames `{u, n × u, n}` of the rows.
    pub fn frames(&self, x: &[DVec3], rows: &[u32]) -> Vec<DMat3> {
        let normals = self.normals(x);
        let frame = |r: usize| self.frame(r, rows[r] as usize, normals[rows[r] as usize], x);
        (0..rows.len()).into_par_iter().with_min_len(2048).map(frame).collect()
    }

    pub fn frame(&self, row: usize, column: usize, normal: DVec3, x: &[DVec3]) -> DMat3 {
        let edge = x[self.toward[row] as usize] - x[column];
        let along = (edge - normal * edge.dot(normal)).normalize_or_zero();
        if along == DVec3::ZERO || normal == DVec3::ZERO {
            return DMat3::IDENTITY;
        }
        DMat3::from_cols(along, normal.cross(along), normal)
    }
}

/// Shares of the columns around each row: the polynomial `2t³/r³ − 3t²/r² + 1` of the distance along edges.
pub(super) fn neighborhood_averages(
    rest: &[DVec3],
    surface: &LocalSurface,
    rows: &[u32],
    radius: f64,
) -> SparseMatrix {
    let mut edges: Vec<[u32; 2]> =
        surface.faces.iter().flat_map(|f| (0..3).map(|k| [f[k], f[(k + 1) % 3]])).collect();
    edges.iter_mut().for_each(|e| e.sort_unstable());
    edges.sort_unstable();
    edges.dedup();
    let length = |e: &[u32; 2]| rest[e[0] as usize].distance(rest[e[1] as usize]);
    let mean = edges.iter().map(length).sum::<f64>() / edges.len().max(1) as f64;
    let r = (radius * mean).max(f64::MIN_POSITIVE);
    let near = Ragged::from_pairs(rest.len(), || edges.iter().flat_map(|&[a, b]| [(a, b), (b, a)]));
    let entries: Vec<Vec<(u32, u32, f64)>> = rows
        .par_iter()
        .enumerate()
        .map(|(row, &start)| {
            let mut found = vec![(start, 0.0f64)];
            let mut at = 0;
            // A small Dijkstra search: the nearest open vertex is always next.
            while at < found.len() {
                let next = (at..found.len()).min_by(|&a, &b| found[a].1.total_cmp(&found[b].1)).unwrap_or(at);
                found.swap(at, next);
                let (v, here) = found[at];
                at += 1;
                for &w in near.row(v as usize) {
                    let there = here + rest[v as usize].distance(rest[w as usize]);
                    match found.iter_mut().find(|(u, _)| *u == w) {
                        Some(entry) => entry.1 = entry.1.min(there),
                        None if there < r => found.push((w, there)),
                        None => {}
                    }
                }
            }
            let share = |t: f64| 2.0 * (t / r).powi(3) - 3.0 * (t / r).powi(2) + 1.0;
            found.iter().map(|&(c, t)| (row as u32, c, share(t))).collect()
        })
        .collect();
    SparseMatrix::from_triplets(rows.len(), rest.len(), entries.into_iter().flatten())
}
