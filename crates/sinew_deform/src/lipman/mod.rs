//! Laplacian editing as in Hansen (2006).
//!
//! # Source
//! Hansen (2006), §4.1.5–4.1.8, §6.5.1 (band), §6.5.2 (normals), after Lipman et al., *Differential coordinates for
//! interactive mesh editing* (2004). Differs: the smooth solve of every frame is replaced by a precomputed linear map
//! of the handles' motions, which agrees to rounding.
//! # Symbols
//! columns: free vertices and the band; rows: differentials of free vertices and of the band but its last ring. `L`
//! [rows × columns]; `W` diagonal weights of the band; `N = Lᵀ L + W²`; `δ = L p`; `F_i` local frames; `M` [columns × 4
//! handles] map of the smooth solve
//! # Cost
//! new: one sparse Cholesky factorisation of `N` per piece, four solves per handle for `M`. solve: `M` applied, frames,
//! one back-substitution.
//! # Limits
//! Large rotations: the smooth surface from which frames are read collapses as a twist nears 180°. Where handles are
//! too small to define frames, details keep their direction instead.

mod surface;

use crate::{
    DeformError, HandlePose,
    handled::HandledMesh,
    local::VertexMap,
    progress::ProgressSpan,
    soft::{Posed, SoftPiece},
};
use glam::{DMat3, DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{
    linalg::{Cholesky, SparseMatrix},
    operators::LaplacianKind,
};
use surface::{LocalSurface, neighborhood_averages};

/// How the rotation of details is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Frames {
    /// From a second, smooth solution (§4.1.7.1).
    #[default]
    SmoothSolve,
    /// From a solution without rotation: what Blender's Laplacian Deform does.
    UnrotatedSolve,
    /// From normals averaged over a neighbourhood, before and after a solution without rotation (end of §4.1.7.1).
    EstimatedNormals,
}

impl Frames {
    /// All of them, Hansen's first.
    pub const ALL: [Self; 3] = [Self::SmoothSolve, Self::UnrotatedSolve, Self::EstimatedNormals];

    /// Name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::SmoothSolve => "smooth",
            Self::UnrotatedSolve => "unrotated",
            Self::EstimatedNormals => "estimated",
        }
    }

    /// The choice with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|frames| frames.name() == name)
    }
}

/// Parameters of the method of Hansen (2006).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LipmanParams {
    /// Laplacian weights (default cotangent).
    pub laplacian: LaplacianKind,
    /// Rings of handle vertices that enter the system (default 2).
    pub band: usize,
    /// How the rotation of details is found (default by the smooth solve).
    pub frames: Frames,
    /// Radius of the neighbourhood of estimated normals, in mean edge lengths (default 4).
    pub normal_radius: f64,
}

impl Default for LipmanParams {
    fn default() -> Self {
        Self { laplacian: LaplacianKind::Cotangent, band: 2, frames: Frames::SmoothSolve, normal_radius: 4.0 }
    }
}

/// One soft piece, factored.
#[derive(Debug, Clone)]
pub(crate) struct LipmanPiece {
    /// Number of leading columns that are vertices of the piece.
    n_soft: usize,
    /// Constrained columns with their handle, weight and rest position.
    band: Vec<(u32, u32, f64, DVec3)>,
    /// Rest positions of columns.
    rest: Vec<DVec3>,
    /// Column of each row.
    rows: Vec<u32>,
    l: SparseMatrix,
    lt: SparseMatrix,
    factor: Cholesky<f64>,
    /// Local frames of the smooth rest surface, and the rest differentials in them.
    rest_frames: Vec<DMat3>,
    local: Vec<DVec3>,
    surface: LocalSurface,
    /// Handles of the band, and per column four entries per handle.
    handles: Vec<u32>,
    map: Vec<f64>,
    frames: Frames,
    /// Columns around each row with their shares, for estimated normals.
    averages: Option<SparseMatrix>,
}

impl LipmanPiece {
    /// Assemble and factor, at a cost proportional to the piece.
    pub fn new(
        held: HandledMesh,
        laplacian: &SparseMatrix,
        piece: &SoftPiece,
        params: &LipmanParams,
        span: ProgressSpan,
    ) -> Result<Self, DeformError> {
        let HandledMesh { mesh, handles, .. } = held;
        let columns = band_columns(held, piece, params.band.max(1) * reach_of(params.laplacian));
        let column_of = VertexMap::numbering(mesh.n_vertices(), &columns);
        let rest: Vec<DVec3> = columns.iter().map(|&v| mesh.positions()[v as usize]).collect();
        // A row is used if its whole neighbourhood is in the system.
        let complete = |v: u32| laplacian.row(v as usize).all(|(j, _)| column_of.get(j).is_some());
        let rows: Vec<u32> = (0..columns.len() as u32).filter(|&c| complete(columns[c as usize])).collect();
        let entries = rows.iter().enumerate().flat_map(|(r, &c)| {
            let column_of = &column_of;
            laplacian
                .row(columns[c as usize] as usize)
                .filter_map(move |(j, value)| Some((r as u32, column_of.get(j)?, value)))
        });
        let l = SparseMatrix::from_triplets(rows.len(), columns.len(), entries);
        let band: Vec<(u32, u32, f64, DVec3)> = (0..columns.len())
            .filter_map(|c| {
                let v = columns[c] as usize;
                Some((c as u32, handles.owner(v)? as u32, handles.weight(v), rest[c]))
            })
            .collect();
        let mut squared = vec![0.0; columns.len()];
        band.iter().for_each(|&(c, _, w, _)| squared[c as usize] = w * w);
        let normal = l.gram().add_diagonal(&squared);
        span.add(0.2)?;
        // Fused or flat faces can leave a direction without any constraint; a trace of stiffness adds one.
        let factor = Cholesky::new(&normal).or_else(|_| {
            let n = columns.len();
            let mean = (0..n)
                .flat_map(|i| normal.row(i).filter(move |e| e.0 as usize == i))
                .map(|e| e.1)
                .sum::<f64>();
            Cholesky::new(&normal.add_diagonal(&vec![1e-9 * (mean / n as f64).max(1e-9); n]))
        })?;
        span.add(0.5)?;
        let surface = LocalSurface::new(held, &columns, &column_of, &rows);
        let mut holding: Vec<u32> = band.iter().map(|&(_, h, ..)| h).collect();
        holding.sort_unstable();
        holding.dedup();
        let averages = (params.frames == Frames::EstimatedNormals)
            .then(|| neighborhood_averages(&rest, &surface, &rows, params.normal_radius));
        let lt = l.transpose();
        let mut built = Self {
            n_soft: piece.vertices.len(),
            band,
            rest,
            rows,
            l,
            lt,
            factor,
            rest_frames: Vec::new(),
            local: Vec::new(),
            surface,
            handles: holding,
            map: Vec::new(),
            frames: params.frames,
            averages,
        };
        built.map = built.handle_map()?;
        (built.rest_frames, built.local) = built.local_differentials()?;
        span.add(0.3)?;
        Ok(built)
    }

    /// `M`: motion of the smooth surface if one handle moves by one entry of its matrix.
    fn handle_map(&self) -> Result<Vec<f64>, DeformError> {
        let (n, h) = (self.rest.len(), self.handles.len());
        let mut map = vec![0.0; n * 4 * h];
        for (k, &handle) in self.handles.iter().enumerate() {
            let mut rhs = vec![[0.0; 4]; n];
            for &(c, _, w, p) in self.band.iter().filter(|b| b.1 == handle) {
                rhs[c as usize] = [p.x, p.y, p.z, 1.0].map(|x| w * w * x);
            }
            self.factor.solve(&mut rhs)?;
            for (c, values) in rhs.iter().enumerate() {
                map[(c * h + k) * 4..][..4].copy_from_slice(values);
            }
        }
        Ok(map)
    }

    /// The smooth surface (eq. 4.8): by the map if handles are rigid, else by a solve.
    pub(crate) fn smooth(&self, pose: &HandlePose) -> Result<Vec<DVec3>, DeformError> {
        let motions = pose.motions();
        if self.handles.iter().any(|&h| !motions[h as usize].twists.is_empty()) {
            return self.smooth_by_solve(pose);
        }
        let matrices: Vec<[DVec3; 4]> = self
            .handles
            .iter()
            .map(|&h| {
                let a = motions[h as usize].affine();
                [a.matrix3.x_axis, a.matrix3.y_axis, a.matrix3.z_axis, a.translation]
            })
            .collect();
        let point = |row: &[f64]| {
            let parts = row.chunks_exact(4).zip(&matrices);
            parts.map(|(w, m)| m[0] * w[0] + m[1] * w[1] + m[2] * w[2] + m[3] * w[3]).sum()
        };
        Ok(self.map.par_chunks(4 * self.handles.len()).with_min_len(1024).map(point).collect())
    }

    /// The smooth surface as in Hansen (2006): a solve without differentials.
    pub(crate) fn smooth_by_solve(&self, pose: &HandlePose) -> Result<Vec<DVec3>, DeformError> {
        self.solve(&vec![DVec3::ZERO; self.rows.len()], pose)
    }

    /// The surface with given differentials (eq. 4.9).
    pub(crate) fn solve(
        &self,
        differentials: &[DVec3],
        pose: &HandlePose,
    ) -> Result<Vec<DVec3>, DeformError> {
        let delta: Vec<[f64; 3]> = differentials.iter().map(|d| d.to_array()).collect();
        let mut x = vec![[0.0; 3]; self.rest.len()];
        self.lt.mul_interleaved(&delta, &mut x);
        for &(c, handle, w, rest) in &self.band {
            let target = pose.motions()[handle as usize].position(rest) * (w * w);
            (0..3).for_each(|k| x[c as usize][k] += target[k]);
        }
        self.factor.solve(&mut x)?;
        Ok(x.into_iter().map(DVec3::from_array).collect())
    }

    /// δ of the rest surface, seen from its local frames (steps 1 and 2 of §4.1.7.1).
    fn local_differentials(&self) -> Result<(Vec<DMat3>, Vec<DVec3>), DeformError> {
        let delta = self.differentials(&self.rest);
        let frames = match self.frames {
            Frames::SmoothSolve => self.surface.frames(&self.smooth_rest()?, &self.rows),
            Frames::UnrotatedSolve => self.surface.frames(&self.rest, &self.rows),
            Frames::EstimatedNormals => self.estimated_frames(&self.rest),
        };
        let local = delta.iter().zip(&frames).map(|(d, f)| f.transpose() * *d).collect();
        Ok((frames, local))
    }

    fn smooth_rest(&self) -> Result<Vec<DVec3>, DeformError> {
        let n_handles = self.handles.iter().max().map_or(0, |h| *h as usize + 1);
        self.smooth(&HandlePose::identity(n_handles))
    }

    fn differentials(&self, x: &[DVec3]) -> Vec<DVec3> {
        let x: Vec<[f64; 3]> = x.iter().map(|p| p.to_array()).collect();
        let mut delta = vec![[0.0; 3]; self.rows.len()];
        self.l.mul_interleaved(&x, &mut delta);
        delta.into_iter().map(DVec3::from_array).collect()
    }

    /// Whether a solution stays near its handles. Handles of one or two vertices do not define frames, and details that
    /// disagree can then push the surface far away.
    fn is_plausible(&self, x: &[DVec3], pose: &HandlePose) -> bool {
        let size = |points: &[DVec3]| {
            let [low, high] = sinew_geom::mesh::bounds(points);
            low.distance(high)
        };
        let moved: Vec<DVec3> =
            self.band.iter().map(|&(_, h, _, rest)| pose.motions()[h as usize].position(rest)).collect();
        x.iter().all(|p| p.is_finite()) && size(x) <= 1.5 * (size(&self.rest) + size(&moved))
    }

    /// The surface whose details keep their direction (eq. 4.9).
    fn unrotated(&self, pose: &HandlePose) -> Result<Vec<DVec3>, DeformError> {
        self.solve(&self.differentials(&self.rest), pose)
    }

    /// Frames from averaged normals of the surface itself.
    fn estimated_frames(&self, x: &[DVec3]) -> Vec<DMat3> {
        let Some(averages) = &self.averages else { return Vec::new() };
        let normals: Vec<[f64; 3]> = self.surface.normals(x).iter().map(|n| n.to_array()).collect();
        let mut mean = vec![[0.0; 3]; self.rows.len()];
        averages.mul_interleaved(&normals, &mut mean);
        let normal = |r: usize| DVec3::from_array(mean[r]).normalize_or_zero();
        (0..self.rows.len()).map(|r| self.surface.frame(r, self.rows[r] as usize, normal(r), x)).collect()
    }

    /// Positions of the piece's vertices.
    pub fn pose(&self, pose: &HandlePose, with_rotations: bool) -> Result<Posed, DeformError> {
        let frames = match self.frames {
            Frames::SmoothSolve => self.surface.frames(&self.smooth(pose)?, &self.rows),
            Frames::UnrotatedSolve => self.surface.frames(&self.unrotated(pose)?, &self.rows),
            Frames::EstimatedNormals => self.estimated_frames(&self.unrotated(pose)?),
        };
        let turned: Vec<DVec3> = self.local.iter().zip(&frames).map(|(d, f)| *f * *d).collect();
        let mut x = self.solve(&turned, pose)?;
        if !self.is_plausible(&x, pose) {
            x = self.unrotated(pose)?;
        }
        // Normals turn with the frames (§6.5.2). A vertex beside another piece may have no complete row, and so no
        // frame; it turns with the handle nearest to it.
        let turn = |c: usize| match self.rows.binary_search(&(c as u32)) {
            Ok(row) => DQuat::from_mat3(&(frames[row] * self.rest_frames[row].transpose())),
            Err(_) => {
                let distance = |b: &&(u32, u32, f64, DVec3)| b.3.distance_squared(self.rest[c]);
                let nearest = self.band.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)));
                nearest.map_or(DQuat::IDENTITY, |b| pose.motions()[b.1 as usize].rotation_at(b.3))
            }
        };
        let n_turned = if with_rotations { self.n_soft } else { 0 };
        Ok(Posed {
            positions: x[..self.n_soft].to_vec(),
            rotations: (0..n_turned).into_par_iter().with_min_len(1024).map(turn).collect(),
        })
    }

    /// Equations (differentials and constraints) and unknowns.
    pub fn size(&self) -> [usize; 2] {
        [self.rows.len() + self.band.len(), self.rest.len()]
    }
}

/// How many rings a row of the Laplacian reaches.
fn reach_of(kind: LaplacianKind) -> usize {
    if kind == LaplacianKind::Squared { 2 } else { 1 }
}

/// The piece's vertices, then rings of rigid handle vertices around it.
fn band_columns(held: HandledMesh, piece: &SoftPiece, n_rings: usize) -> Vec<u32> {
    let mut columns = piece.vertices.clone();
    let mut seen = VertexMap::numbering(held.mesh.n_vertices(), &columns);
    let mut from = 0;
    for _ in 0..n_rings {
        let to = columns.len();
        for at in from..to {
            for &w in held.adjacency.neighbors.row(columns[at] as usize) {
                if held.handles.is_rigid(w as usize) && seen.insert(w, 0) {
                    columns.push(w);
                }
            }
        }
        columns[to..].sort_unstable();
        if columns.len() == to {
            break;
        }
        from = to;
    }
    columns
}
