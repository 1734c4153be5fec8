//! One soft piece at full resolution, as rigid as possible, with or without an inside.
//!
//! # Source
//! Sorkine and Alexa, *As-rigid-as-possible surface modeling* (2007), with the spokes-and-rims energy of Chao et al.,
//! *A simple geometric model for elastic deformations* (2010), summed over faces; links to a lattice inside as in Zhou et
//! al., *Large mesh deformation using the volumetric graph Laplacian* (2005). Differs: the stiffness of the inside is
//! scaled for each pose, and the matrices are not: every step solves for what is left, so the factors need neither to be exact
//! nor to know the scale. One holds the surface alone, for poses that need no inside; one holds the whole inside.
//! # Symbols
//! `c_e` half cotangents, `e`, `d` rest and posed edges of a face; `S_f = Σ c_e d eᵀ`; `R_i` fits `Σ S_f` around vertex `i`
//! and its links; `R̄_f` mean of a face's rotations; `K` stiffness of the free places; `s` scale of the inside
//! # Cost
//! new: two sparse Cholesky factorisations, kept in single precision. Each iteration: two passes over faces and vertices, one
//! back-substitution.
//! # Limits
//! With `s` between 0 and 1 a step is shorter than it could be, because `K` holds the whole inside.

use crate::{
    DeformError, HandlePose,
    handled::HandledMesh,
    local::VertexMap,
    soft::{Posed, SoftPiece},
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{
    linalg::{Cholesky, SparseMatrix, fit_rotations},
    measure::largest_error,
    mesh::Ragged,
    operators::half_cotangents,
};

/// Elements per unit of parallel work.
const CHUNK_ELEMENTS: usize = 2048;
/// Rounds of rotation fitting per iteration: the next iteration continues from there.
const ROTATION_ROUNDS: usize = 3;
/// Fraction of the last step by which the next iteration looks ahead.
const MOMENTUM: f64 = 0.5;
/// Added to the diagonal of `K`, so that faces without area cannot make it singular. What is left is solved for again.
const DAMPING: f64 = 1e-7;
/// `s` from which steps are those of the whole inside; between 0 and it, those of the surface alone are mixed in.
const WHOLE_INSIDE: f64 = 0.05;
/// Marks a place that belongs to no handle.
const NO_HANDLE: u32 = u32::MAX;

/// Places inside a piece, linked to each other and to vertices.
#[derive(Debug, Clone, Default)]
pub(crate) struct Inside {
    pub places: Vec<DVec3>,
    /// Handle of each place.
    pub owners: Vec<Option<u32>>,
    /// Links among places.
    pub edges: Vec<(u32, u32, f64)>,
    /// Links of vertices (of the mesh, first) to places (second).
    pub links: Vec<(u32, u32, f64)>,
}

/// Links of places from both of their ends.
#[derive(Debug, Clone, Default)]
struct Links {
    starts: Vec<u32>,
    /// The other end, the rest vector from it times the weight, and the weight.
    ends: Vec<(u32, DVec3, f64)>,
}

impl Links {
    fn new(rest: &[DVec3], n: usize, pairs: &[(u32, u32, f64)]) -> Self {
        let mut starts = vec![0u32; n + 1];
        pairs.iter().for_each(|&(a, b, _)| [a, b].iter().for_each(|&i| starts[i as usize + 1] += 1));
        (0..n).for_each(|i| starts[i + 1] += starts[i]);
        let mut next = starts.clone();
        let mut ends = vec![(0, DVec3::ZERO, 0.0); 2 * pairs.len()];
        for &(a, b, w) in pairs {
            for (i, j) in [(a, b), (b, a)] {
                ends[next[i as usize] as usize] = (j, (rest[i as usize] - rest[j as usize]) * w, w);
                next[i as usize] += 1;
            }
        }
        Self { starts, ends }
    }

    fn row(&self, i: usize) -> &[(u32, DVec3, f64)] {
        &self.ends[self.starts[i] as usize..self.starts[i + 1] as usize]
    }
}

/// A soft piece, factored. Places are its vertices, the ring of handle vertices around it, what is inside, and a second
/// ring of handle vertices.
#[derive(Debug, Clone)]
pub(crate) struct FineSystem {
    n_soft: usize,
    /// Vertices that have a rotation: soft ones and the first ring.
    n_rotating: usize,
    /// The same with the places inside.
    n_turning: usize,
    rest: Vec<DVec3>,
    /// Handle of each place, or [`NO_HANDLE`].
    owners: Vec<u32>,
    /// Places that are solved for.
    free: Vec<u32>,
    faces: Vec<[u32; 3]>,
    /// `c_e e` of each face.
    edges: Vec<[DVec3; 3]>,
    cotangents: Vec<[f64; 3]>,
    faces_of: Ragged,
    links: Links,
    /// Vertices that a spring pulls towards a handle, with the handle and the stiffness.
    springs: Vec<(u32, u32, f64)>,
    /// `K` of the soft vertices without an inside.
    surface: Cholesky<f32>,
    /// `K` with all of it, if there is any.
    whole: Option<Cholesky<f32>>,
}

/// Where the places of a piece are while it is solved.
#[derive(Debug, Clone)]
pub(crate) struct FineState {
    /// Of all places.
    pub x: Vec<DVec3>,
    /// Rotations of those that have one.
    pub rotations: Vec<DQuat>,
}

impl FineState {
    /// What the soft vertices came to.
    pub fn into_posed(self, n_soft: usize) -> Posed {
        let Self { mut x, mut rotations } = self;
        x.truncate(n_soft);
        rotations.truncate(n_soft);
        Posed { positions: x, rotations }
    }
}

impl FineSystem {
    /// Assemble and factor, at a cost proportional to the piece.
    pub fn new(held: HandledMesh, piece: &SoftPiece, inside: &Inside) -> Result<Self, DeformError> {
        let HandledMesh { mesh, adjacency, handles } = held;
        let Rings { mut vertices, mut local, n_rotating } = Rings::around(held, piece);
        let (n_soft, n_inside) = (piece.vertices.len(), inside.places.len());
        // The second ring has positions only, and comes after what is inside.
        for at in n_soft..n_rotating {
            for &w in adjacency.neighbors.row(vertices[at] as usize) {
                if local.insert(w, (vertices.len() + n_inside) as u32) {
                    vertices.push(w);
                }
            }
        }
        let n_turning = n_rotating + n_inside;
        let point = |&v: &u32| mesh.positions()[v as usize];
        let (near, far) = vertices.split_at(n_rotating);
        let rest: Vec<DVec3> = near
            .iter()
            .map(point)
            .chain(inside.places.iter().copied())
            .chain(far.iter().map(point))
            .collect();
        let owner = |&v: &u32| handles.owner(v as usize).unwrap_or_default() as u32;
        let within = inside.owners.iter().map(|owner| owner.unwrap_or(NO_HANDLE));
        let owners: Vec<u32> = std::iter::repeat_n(NO_HANDLE, n_soft)
            .chain(near[n_soft..].iter().map(owner))
            .chain(within)
            .chain(far.iter().map(owner))
            .collect();
        let mut around: Vec<u32> =
            near.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize)).copied().collect();
        around.sort_unstable();
        around.dedup();
        let corners = |f: &u32| local.face(mesh.faces()[*f as usize]);
        let faces: Vec<[u32; 3]> = around.iter().filter_map(corners).collect();
        let cotangents: Vec<[f64; 3]> =
            faces.iter().map(|f| half_cotangents(f.map(|v| rest[v as usize]))).collect();
        let weighted = |(f, c): (&[u32; 3], &[f64; 3])| {
            let e = edges_of(f, &rest);
            std::array::from_fn(|k| e[k] * c[k])
        };
        let edges = faces.iter().zip(&cotangents).map(weighted).collect();
        let faces_of = Ragged::from_pairs(n_rotating, || {
            let uses = faces.iter().enumerate().flat_map(|(f, corners)| corners.map(|v| (v, f as u32)));
            uses.filter(|(v, _)| (*v as usize) < n_rotating)
        });
        let offset = n_rotating as u32;
        let among = inside.edges.iter().map(|&(a, b, w)| (a + offset, b + offset, w));
        let to_surface = inside.links.iter().filter_map(|&(v, b, w)| {
            local.get(v).filter(|&v| (v as usize) < n_rotating).map(|v| (v, b + offset, w))
        });
        let pairs: Vec<(u32, u32, f64)> = among.chain(to_surface).collect();
        let springs: Vec<(u32, u32, f64)> = (0..n_soft)
            .filter_map(|i| handles.spring(vertices[i] as usize).map(|(handle, s)| (i as u32, handle, s)))
            .collect();
        let free: Vec<u32> = (0..n_turning as u32).filter(|&i| owners[i as usize] == NO_HANDLE).collect();
        let links = Links::new(&rest, n_turning, &pairs);
        let factor = |free: &[u32], pairs: &[(u32, u32, f64)]| {
            Cholesky::new(&stiffness(free, rest.len(), &faces, &cotangents, pairs, &springs))
        };
        let whole = || if pairs.is_empty() { Ok(None) } else { factor(&free, &pairs).map(Some) };
        let (surface, whole) = rayon::join(|| factor(&free[..n_soft], &[]), whole);
        let (surface, whole) = (surface?, whole?);
        Ok(Self {
            n_soft,
            n_rotating,
            n_turning,
            rest,
            owners,
            free,
            faces,
            edges,
            cotangents,
            faces_of,
            links,
            springs,
            surface,
            whole,
        })
    }

    /// Free places at rest, held ones moved; rotations of handles where they hold, and those given elsewhere. `rotations`
    /// has one per soft vertex, `inside` positions and rotations of the places inside.
    pub fn begin(
        &self,
        pose: &HandlePose,
        rotations: &[DQuat],
        inside: impl Iterator<Item = (DVec3, DQuat)>,
    ) -> FineState {
        let mut x = self.rest.clone();
        let mut all = rotations.to_vec();
        all.resize(self.n_turning, DQuat::IDENTITY);
        for (at, (position, rotation)) in (self.n_rotating..self.n_turning).zip(inside) {
            (x[at], all[at]) = (position, rotation);
        }
        for (i, &owner) in self.owners.iter().enumerate().filter(|(_, owner)| **owner != NO_HANDLE) {
            let motion = &pose.motions()[owner as usize];
            x[i] = motion.position(self.rest[i]);
            if let Some(rotation) = all.get_mut(i) {
                *rotation = motion.rotation_at(self.rest[i]);
            }
        }
        FineState { x, rotations: all }
    }

    /// Number of soft vertices: the first places and rotations.
    pub fn n_soft(&self) -> usize {
        self.n_soft
    }

    /// Iterate with `scale` times the stiffness of the inside; rotations are fitted in `first_rounds` at first. Returns the
    /// largest movement of a soft vertex in the last iteration.
    pub fn iterate(
        &self,
        pose: &HandlePose,
        state: &mut FineState,
        iterations: usize,
        first_rounds: usize,
        scale: f64,
    ) -> Result<f64, DeformError> {
        let mut ahead = state.x.clone();
        let mut moved = 0.0;
        for iteration in 0..iterations {
            let rounds = if iteration == 0 { first_rounds } else { ROTATION_ROUNDS };
            fit_rotations(&self.covariances(&ahead, scale), &mut state.rotations, rounds);
            let steps = self.step(pose, state, scale)?;
            // Soft vertices come first among the free places.
            moved = largest_error(steps[..self.n_soft].iter().map(|step| DVec3::from_array(*step).length()));
            for (&i, step) in self.free.iter().zip(&steps) {
                let (i, step) = (i as usize, DVec3::from_array(*step));
                state.x[i] += step;
                ahead[i] = state.x[i] + step * MOMENTUM;
            }
        }
        Ok(moved)
    }

    /// Positions for the rotations of a state.
    pub fn settle(&self, pose: &HandlePose, state: &mut FineState) -> Result<(), DeformError> {
        // Further rounds correct the rounding of the factor.
        for _ in 0..3 {
            let steps = self.step(pose, state, 1.0)?;
            self.free.iter().zip(&steps).for_each(|(&i, s)| state.x[i as usize] += DVec3::from_array(*s));
        }
        Ok(())
    }

    /// How much each vertex that has a rotation follows a handle, without an inside: harmonic.
    pub fn harmonic_weights(&self, handle: u32) -> Result<Vec<f64>, DeformError> {
        let mut values: Vec<f64> = self.owners.iter().map(|&o| f64::from(u8::from(o == handle))).collect();
        for _ in 0..3 {
            let mut left = vec![0.0; values.len()];
            for (face, c) in self.faces.iter().zip(&self.cotangents) {
                for k in 0..3 {
                    let (a, b) = (face[(k + 1) % 3] as usize, face[(k + 2) % 3] as usize);
                    let pull = c[k] * (values[b] - values[a]);
                    left[a] += pull;
                    left[b] -= pull;
                }
            }
            for &(i, owner, s) in &self.springs {
                left[i as usize] += s * (f64::from(u8::from(owner == handle)) - values[i as usize]);
            }
            let mut steps: Vec<[f64; 1]> = left[..self.n_soft].iter().map(|&left| [left]).collect();
            self.surface.solve(&mut steps)?;
            values.iter_mut().zip(&steps).for_each(|(value, step)| *value += step[0]);
        }
        values.truncate(self.n_rotating);
        Ok(values)
    }

    /// `Σ S_f` around each place that has a rotation, and what its links add.
    fn covariances(&self, x: &[DVec3], scale: f64) -> Vec<DMat3> {
        let of_face = |(f, e): (&[u32; 3], &[DVec3; 3])| {
            let d = edges_of(f, x);
            // `d₀ = −d₁ − d₂`, so two products do.
            outer(d[1], e[1] - e[0]) + outer(d[2], e[2] - e[0])
        };
        let faces: Vec<DMat3> =
            self.faces.par_iter().zip(&self.edges).with_min_len(CHUNK_ELEMENTS).map(of_face).collect();
        let sum = |i: usize| {
            let linked = |scale: f64| {
                self.links
                    .row(i)
                    .iter()
                    .fold(DMat3::ZERO, |sum, &(j, e, _)| sum + outer(x[i] - x[j as usize], e * scale))
            };
            if i >= self.n_rotating {
                return linked(1.0);
            }
            let around: DMat3 = self.faces_of.row(i).iter().map(|&f| faces[f as usize]).sum();
            if scale > 0.0 { around + linked(scale) } else { around }
        };
        (0..self.n_turning).into_par_iter().with_min_len(CHUNK_ELEMENTS).map(sum).collect()
    }

    /// `K⁻¹ (b − K x)` of the free places for the rotations of a state.
    fn step(&self, pose: &HandlePose, state: &FineState, scale: f64) -> Result<Vec<[f64; 3]>, DeformError> {
        let x = &state.x;
        let to_matrix = |q: &DQuat| DMat3::from_quat(*q);
        let matrices: Vec<DMat3> =
            state.rotations.par_iter().with_min_len(CHUNK_ELEMENTS).map(to_matrix).collect();
        // Faces whose corners all have rotations; the others touch no soft vertex.
        let pull = |(f, (e, c)): (&[u32; 3], (&[DVec3; 3], &[f64; 3]))| {
            if f.iter().any(|&v| v as usize >= self.n_rotating) {
                return [DVec3::ZERO; 3];
            }
            let mean = f.iter().map(|&v| matrices[v as usize]).sum::<DMat3>() * (1.0 / 3.0);
            let d = edges_of(f, x);
            let t: [DVec3; 3] = std::array::from_fn(|k| mean * e[k] - d[k] * c[k]);
            [t[1] - t[2], t[2] - t[0], t[0] - t[1]]
        };
        let terms = self.edges.par_iter().zip(&self.cotangents);
        let pulls: Vec<[DVec3; 3]> =
            self.faces.par_iter().zip(terms).with_min_len(CHUNK_ELEMENTS).map(pull).collect();
        let left = |&i: &u32| {
            let at = i as usize;
            let mut sum = DVec3::ZERO;
            if at < self.n_soft {
                for &f in self.faces_of.row(at) {
                    let corner = self.faces[f as usize].iter().position(|&v| v == i).unwrap_or(0);
                    sum += pulls[f as usize][corner];
                }
            }
            if scale > 0.0 {
                for &(j, e, w) in self.links.row(at) {
                    let j = j as usize;
                    sum += ((matrices[at] + matrices[j]) * e * 0.5 - (x[at] - x[j]) * w) * scale;
                }
            }
            sum.to_array()
        };
        let mut steps: Vec<[f64; 3]> = self.free.par_iter().with_min_len(CHUNK_ELEMENTS).map(left).collect();
        // Soft vertices come first among the free places.
        for &(i, handle, s) in &self.springs {
            let i = i as usize;
            let pull = (pose.motions()[handle as usize].position(self.rest[i]) - x[i]) * s;
            (0..3).for_each(|k| steps[i][k] += pull[k]);
        }
        let Some(whole) = self.whole.as_ref().filter(|_| scale > 0.0) else {
            steps[self.n_soft..].fill([0.0; 3]);
            self.surface.solve(&mut steps[..self.n_soft])?;
            return Ok(steps);
        };
        let t = (scale / WHOLE_INSIDE).min(1.0);
        let share = t * t * (3.0 - 2.0 * t);
        let mut short = if share < 1.0 { steps[..self.n_soft].to_vec() } else { Vec::new() };
        whole.solve(&mut steps)?;
        if share < 1.0 {
            self.surface.solve(&mut short)?;
            steps.iter_mut().for_each(|step| step.iter_mut().for_each(|x| *x *= share));
            for (step, short) in steps.iter_mut().zip(&short) {
                (0..3).for_each(|k| step[k] += (1.0 - share) * short[k]);
            }
        }
        Ok(steps)
    }
}

/// The vertices of a piece and the ring of handle vertices around it.
struct Rings {
    vertices: Vec<u32>,
    local: VertexMap,
    n_rotating: usize,
}

impl Rings {
    fn around(HandledMesh { mesh, adjacency, .. }: HandledMesh, piece: &SoftPiece) -> Self {
        let mut vertices = piece.vertices.clone();
        let mut local = VertexMap::numbering(mesh.n_vertices(), &vertices);
        for &v in &piece.vertices {
            for &w in adjacency.neighbors.row(v as usize) {
                if local.insert(w, vertices.len() as u32) {
                    vertices.push(w);
                }
            }
        }
        let n_rotating = vertices.len();
        Self { vertices, local, n_rotating }
    }
}

/// Edges of a face, each opposite to the corner of the same index.
fn edges_of(face: &[u32; 3], x: &[DVec3]) -> [DVec3; 3] {
    let [a, b, c] = face.map(|v| x[v as usize]);
    [c - b, a - c, b - a]
}

/// `a bᵀ`.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// `K`, damped.
fn stiffness(
    free: &[u32],
    n: usize,
    faces: &[[u32; 3]],
    cotangents: &[[f64; 3]],
    pairs: &[(u32, u32, f64)],
    springs: &[(u32, u32, f64)],
) -> SparseMatrix {
    let mut unknown = vec![u32::MAX; n];
    free.iter().zip(0..).for_each(|(&i, at)| unknown[i as usize] = at);
    let mut diagonal = vec![0.0; free.len()];
    let mut entries = Vec::with_capacity(6 * faces.len() + 2 * pairs.len() + free.len());
    let of_faces = faces
        .iter()
        .zip(cotangents)
        .flat_map(|(face, c)| [0, 1, 2].map(|k| (face[(k + 1) % 3], face[(k + 2) % 3], c[k])));
    for (a, b, w) in of_faces.chain(pairs.iter().copied()) {
        let (a, b) = (unknown[a as usize], unknown[b as usize]);
        for (i, j) in [(a, b), (b, a)].into_iter().filter(|(i, _)| *i != u32::MAX) {
            diagonal[i as usize] += w;
            if j != u32::MAX {
                entries.push((i, j, -w));
            }
        }
    }
    springs.iter().for_each(|&(i, _, s)| diagonal[unknown[i as usize] as usize] += s);
    // A place that nothing pulls stays where it is.
    let damped = diagonal.iter().map(|&d| if d > 0.0 { d * (1.0 + DAMPING) } else { 1.0 });
    entries.extend(damped.zip(0..).map(|(d, i)| (i, i, d)));
    SparseMatrix::from_triplets(free.len(), free.len(), entries)
}
