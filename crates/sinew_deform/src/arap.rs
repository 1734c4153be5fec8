//! As-rigid-as-possible deformation at full resolution: the reference for the faster methods.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), with the spokes-and-rims energy of Chao et al.,
//! *A simple geometric model for elastic deformations* (2010), summed over faces. Differs: iterations start from
//! harmonic guidance, so the result does not depend on how a pose was reached.
//! # Symbols
//! `c_e` half cotangents, `e`, `d` rest and posed edges of a face; `S_f = Σ c_e d eᵀ`; `R_i` fits `Σ S_f` around vertex
//! `i`; `R̄_f` mean of a face's rotations; `K` cotangent stiffness of the soft vertices
//! # Cost
//! new: one sparse Cholesky factorisation per piece and one solve per handle. Each iteration: two passes over faces and
//! vertices, one back-substitution.
//! # Limits
//! Surface only: limbs that bend or twist far lose volume. Use the guided method for that.

use crate::{
    DeformError, HandlePose,
    guide::Guide,
    handled::HandledMesh,
    local::VertexMap,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{
    linalg::{Cholesky, SparseMatrix, fit_rotations},
    mesh::Ragged,
    operators::half_cotangents,
};

/// Parameters of the as-rigid-as-possible method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArapParams {
    /// Iterations per frame (default 10).
    pub iterations: usize,
}

impl Default for ArapParams {
    fn default() -> Self {
        Self { iterations: 10 }
    }
}

/// Vertices and faces per unit of parallel work.
const CHUNK_ELEMENTS: usize = 2048;
/// Rounds of rotation fitting per iteration: the next iteration continues from there.
const ROTATION_ROUNDS: usize = 3;
/// Rounds where there is no previous iteration to continue from.
const FIRST_ROTATION_ROUNDS: usize = 12;

/// One soft piece, factored. Local vertices are the piece's, then those of handles around it.
#[derive(Debug, Clone)]
pub(crate) struct ArapPiece {
    n_free: usize,
    rest: Vec<DVec3>,
    /// Handle of each local vertex after the free ones.
    owners: Vec<u32>,
    /// Number of local vertices that have a rotation: the free ones and their neighbours.
    n_rotations: usize,
    faces: Vec<[u32; 3]>,
    /// `c_e e` of each face.
    edges: Vec<[DVec3; 3]>,
    faces_of: Ragged,
    /// Off-diagonal entries of `K` between free and held vertices.
    held: SparseMatrix,
    /// Free vertices that a spring pulls towards a handle, with the handle and the stiffness.
    springs: Vec<(u32, u32, f64)>,
    /// Stiffness of the spring that holds each free vertex at its start while refining; empty if there are none.
    anchor_stiffness: Vec<f64>,
    factor: Cholesky<f64>,
    guide: Guide,
}

impl ArapPiece {
    /// Assemble and factor, at a cost proportional to the piece. With a reach, the piece can be refined, but not posed:
    /// a refinement fades out beyond this length.
    pub fn new(
        HandledMesh { mesh, adjacency, handles }: HandledMesh,
        piece: &SoftPiece,
        reach: Option<f64>,
        span: ProgressSpan,
    ) -> Result<Self, DeformError> {
        let mut vertices = piece.vertices.clone();
        let mut local = VertexMap::numbering(mesh.n_vertices(), &vertices);
        let n_free = vertices.len();
        // Two rings of held vertices: the first has rotations, the second only positions.
        let mut n_rotations = n_free;
        let mut from = 0;
        for ring in 0..2 {
            let to = vertices.len();
            for at in from..to {
                for &w in adjacency.neighbors.row(vertices[at] as usize) {
                    if local.insert(w, vertices.len() as u32) {
                        vertices.push(w);
                    }
                }
            }
            from = to;
            if ring == 0 {
                n_rotations = vertices.len();
            }
        }
        let owners: Vec<u32> = vertices[n_free..]
            .iter()
            .map(|&v| handles.owner(v as usize).unwrap_or_default() as u32)
            .collect();
        let mut near: Vec<u32> = vertices[..n_rotations]
            .iter()
            .flat_map(|&v| adjacency.vertex_faces.row(v as usize))
            .copied()
            .collect();
        near.sort_unstable();
        near.dedup();
        let corners = |f: &u32| local.face(mesh.faces()[*f as usize]);
        let faces: Vec<[u32; 3]> = near.iter().filter_map(corners).collect();
        let rest: Vec<DVec3> = vertices.iter().map(|&v| mesh.positions()[v as usize]).collect();
        let cotangents: Vec<[f64; 3]> =
            faces.iter().map(|f| half_cotangents(f.map(|v| rest[v as usize]))).collect();
        let faces_of = Ragged::from_pairs(n_rotations, || {
            let uses = faces.iter().enumerate().flat_map(|(f, corners)| corners.map(|v| (v, f as u32)));
            uses.filter(|(v, _)| (*v as usize) < n_rotations)
        });
        let (inner, held) = stiffness(n_free, vertices.len(), &faces, &cotangents);
        let springs: Vec<(u32, u32, f64)> = (0..n_free)
            .filter_map(|i| handles.spring(vertices[i] as usize).map(|(handle, s)| (i as u32, handle, s)))
            .collect();
        let mut diagonal = vec![0.0; n_free];
        springs.iter().for_each(|&(i, _, s)| diagonal[i as usize] = s);
        span.add(0.3)?;
        let mut factor = Cholesky::new(&inner.add_diagonal(&diagonal))?;
        span.add(0.5)?;
        let edges = faces
            .iter()
            .zip(&cotangents)
            .map(|(f, c)| {
                let e = edges_of(f, &rest);
                std::array::from_fn(|k| e[k] * c[k])
            })
            .collect();
        let weights = |&handle: &u32| {
            let known: Vec<[f64; 1]> = owners.iter().map(|&o| [f64::from(u8::from(o == handle))]).collect();
            let mut x = vec![[0.0; 1]; n_free];
            held.mul_interleaved(&known, &mut x);
            x.iter_mut().for_each(|v| v[0] = -v[0]);
            springs.iter().filter(|s| s.1 == handle).for_each(|&(i, _, s)| x[i as usize][0] += s);
            factor.solve(&mut x)?;
            let rest = known.iter().take(n_rotations - n_free);
            Ok(x.iter().chain(rest).map(|v| v[0]).collect())
        };
        let columns = piece.handles.iter().map(weights).collect::<Result<Vec<Vec<f64>>, DeformError>>()?;
        let guide = Guide::new(piece.handles.clone(), &columns);
        let anchor_stiffness =
            reach.map_or_else(Vec::new, |reach| vertex_areas(n_free, &faces, &rest, reach));
        if !anchor_stiffness.is_empty() {
            diagonal.iter_mut().zip(&anchor_stiffness).for_each(|(d, s)| *d += s);
            factor = Cholesky::factor(factor.symbolic().clone(), &inner.add_diagonal(&diagonal))?;
        }
        span.add(0.2)?;
        Ok(Self {
            n_free,
            rest,
            owners,
            n_rotations,
            faces,
            edges,
            faces_of,
            held,
            springs,
            anchor_stiffness,
            factor,
            guide,
        })
    }

    /// Positions of the piece's vertices.
    pub fn pose(&self, pose: &HandlePose, params: &ArapParams) -> Result<Posed, DeformError> {
        let (mut x, mut rotations, pulls) = self.begin(pose);
        self.solve_positions(&rotations, &pulls, &mut x)?;
        for _ in 0..params.iterations {
            fit_rotations(&self.covariances(&x), &mut rotations, ROTATION_ROUNDS);
            self.solve_positions(&rotations, &pulls, &mut x)?;
        }
        x.truncate(self.n_free);
        rotations.truncate(self.n_free);
        Ok(Posed { positions: x, rotations })
    }

    /// Positions of the piece's vertices after one iteration from others.
    pub fn refine(&self, pose: &HandlePose, start: Vec<DVec3>) -> Result<Vec<DVec3>, DeformError> {
        let (mut x, mut rotations, mut pulls) = self.begin(pose);
        x[..self.n_free].copy_from_slice(&start);
        pulls.extend(start.iter().zip(&self.anchor_stiffness).zip(0..).map(|((p, s), i)| (i, *p * *s)));
        // The guide is a start that depends on the pose alone, but is farther off than the previous iteration.
        fit_rotations(&self.covariances(&x), &mut rotations, FIRST_ROTATION_ROUNDS);
        self.solve_positions(&rotations, &pulls, &mut x)?;
        x.truncate(self.n_free);
        Ok(x)
    }

    /// Free vertices at rest and held ones moved, rotations of the guide, and the pull of the springs.
    fn begin(&self, pose: &HandlePose) -> (Vec<DVec3>, Vec<DQuat>, Vec<(u32, DVec3)>) {
        let mut x = self.rest.clone();
        let mut rotations = self.guide.rotations(pose);
        for (at, &owner) in self.owners.iter().enumerate() {
            let (v, motion) = (self.n_free + at, &pose.motions()[owner as usize]);
            x[v] = motion.position(self.rest[v]);
            if let Some(rotation) = rotations.get_mut(v) {
                *rotation = motion.rotation_at(self.rest[v]);
            }
        }
        let pull = |&(i, h, s): &(u32, u32, f64)| {
            (i, pose.motions()[h as usize].position(self.rest[i as usize]) * s)
        };
        let pulls = self.springs.iter().map(pull).collect();
        (x, rotations, pulls)
    }

    /// Handles that hold the piece, and how much each of its vertices follows them.
    pub fn harmonic_weights(&self) -> (&[u32], impl Iterator<Item = &[f64]>) {
        let (handles, rows) = self.guide.weights();
        (handles, rows.take(self.n_free))
    }

    /// `Σ S_f` around each vertex that has a rotation.
    fn covariances(&self, x: &[DVec3]) -> Vec<DMat3> {
        let of_face = |(f, e): (&[u32; 3], &[DVec3; 3])| {
            let d = edges_of(f, x);
            let column = |axis: usize| d[0] * e[0][axis] + d[1] * e[1][axis] + d[2] * e[2][axis];
            DMat3::from_cols(column(0), column(1), column(2))
        };
        let faces: Vec<DMat3> =
            self.faces.par_iter().zip(&self.edges).with_min_len(CHUNK_ELEMENTS).map(of_face).collect();
        let sum = |v: usize| self.faces_of.row(v).iter().map(|&f| faces[f as usize]).sum();
        (0..self.n_rotations).into_par_iter().with_min_len(CHUNK_ELEMENTS).map(sum).collect()
    }

    /// `K x = b` for given rotations and springs; held vertices stay.
    fn solve_positions(
        &self,
        rotations: &[DQuat],
        springs: &[(u32, DVec3)],
        x: &mut [DVec3],
    ) -> Result<(), DeformError> {
        let matrices: Vec<DMat3> =
            rotations.par_iter().with_min_len(CHUNK_ELEMENTS).map(|q| DMat3::from_quat(*q)).collect();
        // Faces whose corners all have rotations; the others touch no free vertex.
        let pull = |(f, e): (&[u32; 3], &[DVec3; 3])| {
            if f.iter().any(|&v| v as usize >= self.n_rotations) {
                return [DVec3::ZERO; 3];
            }
            let mean = f.iter().map(|&v| matrices[v as usize]).sum::<DMat3>() * (1.0 / 3.0);
            let t = e.map(|e| mean * e);
            [t[1] - t[2], t[2] - t[0], t[0] - t[1]]
        };
        let pulls: Vec<[DVec3; 3]> =
            self.faces.par_iter().zip(&self.edges).with_min_len(CHUNK_ELEMENTS).map(pull).collect();
        let known: Vec<[f64; 3]> = x[self.n_free..].iter().map(|p| p.to_array()).collect();
        let mut b = vec![[0.0; 3]; self.n_free];
        self.held.mul_interleaved(&known, &mut b);
        b.par_iter_mut().enumerate().with_min_len(CHUNK_ELEMENTS).for_each(|(v, b)| {
            let mut sum = -DVec3::from_array(*b);
            for &f in self.faces_of.row(v) {
                let corners = &self.faces[f as usize];
                let k = (0..3).find(|&k| corners[k] == v as u32).unwrap_or(0);
                sum += pulls[f as usize][k];
            }
            *b = sum.to_array();
        });
        for (i, pull) in springs {
            (0..3).for_each(|k| b[*i as usize][k] += pull[k]);
        }
        self.factor.solve(&mut b)?;
        x.iter_mut().zip(&b).for_each(|(x, b)| *x = DVec3::from_array(*b));
        Ok(())
    }
}

/// Edges of a face, each opposite to the corner of the same index.
fn edges_of(face: &[u32; 3], x: &[DVec3]) -> [DVec3; 3] {
    let [a, b, c] = face.map(|v| x[v as usize]);
    [c - b, a - c, b - a]
}

/// Areas around free vertices, in units of a squared length.
fn vertex_areas(n_free: usize, faces: &[[u32; 3]], rest: &[DVec3], unit: f64) -> Vec<f64> {
    let mut areas = vec![0.0; n_free];
    for face in faces {
        let [a, b, c] = face.map(|v| rest[v as usize]);
        let third = (b - a).cross(c - a).length() / (6.0 * unit * unit);
        face.iter().filter(|v| (**v as usize) < n_free).for_each(|&v| areas[v as usize] += third);
    }
    areas
}

/// `K` among free vertices, and between free and held ones.
fn stiffness(
    n_free: usize,
    n: usize,
    faces: &[[u32; 3]],
    cotangents: &[[f64; 3]],
) -> (SparseMatrix, SparseMatrix) {
    let (mut inner, mut held) = (Vec::new(), Vec::new());
    for (face, c) in faces.iter().zip(cotangents) {
        for k in 0..3 {
            let (a, b, w) = (face[(k + 1) % 3], face[(k + 2) % 3], c[k]);
            for (i, j) in [(a, b), (b, a)] {
                if (i as usize) < n_free {
                    inner.push((i, i, w));
                    let free = (j as usize) < n_free;
                    if free { inner.push((i, j, -w)) } else { held.push((i, j - n_free as u32, -w)) }
                }
            }
        }
    }
    (
        SparseMatrix::from_triplets(n_free, n_free, inner),
        SparseMatrix::from_triplets(n_free, n - n_free, held),
    )
}
