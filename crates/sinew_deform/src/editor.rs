//! One interface for all methods: prepare once, then pose as often as the user moves a handle.
//!
//! # Source
//! Hansen (2006), §6.3: handles are moved rigidly, and the soft surface between them is solved for. Differs: pieces
//! that touch no handle are carried along instead of being lost (§8.3.5), and vertices at the same place are one.

use crate::{
    DeformError, HandlePose, HandleSet,
    arap::{ArapParams, ArapPiece},
    closed::ClosedMesh,
    error::check,
    examples::add_detail,
    guided::{Guided, GuidedParams},
    handled::HandledMesh,
    lipman::{LipmanParams, LipmanPiece},
    progress::{Progress, ProgressMeter, ProgressSpan, no_progress},
    skinned::SkinnedPiece,
    soft::{Posed, SoftPiece, SoftSurface},
};
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use sinew_geom::{Mesh, Warnings, operators::build_laplacian};
use std::sync::Arc;

/// Share of the preparation that finding the soft pieces takes.
pub(crate) const SOFT_SHARE: f64 = 0.1;

/// How the soft surface follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Harmonic guidance, then as rigid as possible on two small graphs, with a weak and a stiff interior, mixed by the volume
    /// that the pose would lose; smaller surfaces are then iterated at full resolution.
    #[default]
    Guided,
    /// As rigid as possible, spokes and rims, at full resolution.
    Arap,
    /// The Laplacian editing of Hansen (2006), after Lipman et al. (2004).
    Lipman,
    /// Bones and weights, as players show what is exported as a skin.
    Skin,
}

impl Method {
    /// All of them, the default first.
    pub const ALL: [Self; 4] = [Self::Guided, Self::Arap, Self::Lipman, Self::Skin];

    /// Name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guided => "guided",
            Self::Arap => "arap",
            Self::Lipman => "lipman",
            Self::Skin => "skin",
        }
    }

    /// The method with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// Parameters of a [`SurfaceEditor`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct EditParams {
    /// How the soft surface follows.
    pub method: Method,
    /// Parameters of the guided method.
    pub guided: GuidedParams,
    /// Parameters of the as-rigid-as-possible method.
    pub arap: ArapParams,
    /// Parameters of the Laplacian method.
    pub lipman: LipmanParams,
}

/// A mesh with handles, prepared for posing.
#[derive(Debug, Clone)]
pub struct SurfaceEditor {
    pub(crate) surface: Arc<EditedSurface>,
    pub(crate) engine: Engine,
}

/// What moves each vertex of a mesh.
#[derive(Debug)]
pub(crate) struct EditedSurface {
    /// Positions at rest, seams closed.
    pub rest: Vec<DVec3>,
    pub diagonal: f64,
    pub n_handles: usize,
    pub soft: SoftSurface,
    /// Place of every vertex in `rest`; none if the mesh has no seams.
    of: Option<Vec<u32>>,
    n_vertices: usize,
    n_soft: usize,
}

impl EditedSurface {
    fn new(closed: &ClosedMesh, soft: SoftSurface) -> Self {
        let rest = closed.mesh.positions().to_vec();
        let is_soft = |v: usize| soft.carrier[v].is_none();
        let n_soft = match &closed.of {
            Some(of) => of.iter().filter(|&&v| is_soft(v as usize)).count(),
            None => soft.n_vertices(),
        };
        Self {
            diagonal: closed.mesh.diagonal(),
            n_handles: closed.handles.len(),
            n_vertices: closed.of.as_ref().map_or(rest.len(), Vec::len),
            of: closed.of.clone(),
            rest,
            soft,
            n_soft,
        }
    }

    /// Check a pose and what is to be written for the vertices of the open mesh.
    pub fn check(&self, pose: &HandlePose, n_positions: usize) -> Result<(), DeformError> {
        check("pose", self.n_handles, pose.motions().len())?;
        check("positions", self.n_vertices, n_positions)
    }

    /// Let handles carry what they hold, of the closed mesh.
    pub fn carry(&self, pose: &HandlePose, positions: &mut [DVec3]) {
        let carry = |(out, (rest, carrier)): (&mut DVec3, (&DVec3, &Option<u32>))| {
            if let Some(handle) = carrier {
                *out = pose.motions()[*handle as usize].position(*rest);
            }
        };
        let inputs = self.rest.par_iter().zip(&self.soft.carrier);
        positions.par_iter_mut().zip(inputs).with_min_len(4096).for_each(carry);
    }

    /// Let the surface carry the parts that touch no handle; returns the rotation of each.
    pub fn carry_parts(&self, positions: &mut [DVec3]) -> Vec<DQuat> {
        let parts = &self.soft.carried;
        let motions: Vec<(DQuat, DVec3)> =
            parts.par_iter().map(|part| part.motion(&self.rest, positions)).collect();
        for (part, (rotation, shift)) in parts.iter().zip(&motions) {
            for &v in &part.vertices {
                positions[v as usize] = *rotation * self.rest[v as usize] + *shift;
            }
        }
        motions.into_iter().map(|(rotation, _)| rotation).collect()
    }

    /// Work on positions of the closed mesh, and give each vertex that of its place.
    pub fn on_closed<T>(
        &self,
        positions: &mut [DVec3],
        work: impl FnOnce(&mut [DVec3]) -> Result<T, DeformError>,
    ) -> Result<T, DeformError> {
        let Some(of) = &self.of else { return work(positions) };
        let mut closed = vec![DVec3::ZERO; self.rest.len()];
        of.iter().zip(positions.iter()).for_each(|(&v, p)| closed[v as usize] = *p);
        let result = work(&mut closed)?;
        of.iter().zip(positions).for_each(|(&v, p)| *p = closed[v as usize]);
        Ok(result)
    }

    /// Place of a vertex.
    fn place(&self, vertex: usize) -> usize {
        self.of.as_ref().map_or(vertex, |of| of[vertex] as usize)
    }
}

#[derive(Debug, Clone)]
pub(crate) enum Engine {
    Guided(Arc<Guided>),
    Arap(Arc<Vec<ArapPiece>>, ArapParams),
    Lipman(Arc<Vec<LipmanPiece>>),
    Skin(Arc<Vec<SkinnedPiece>>),
}

impl Engine {
    fn new(
        held: HandledMesh,
        soft: &SoftSurface,
        params: &EditParams,
        meter: &ProgressMeter,
    ) -> Result<Self, DeformError> {
        let share = 1.0 - SOFT_SHARE;
        Ok(match params.method {
            Method::Guided => Self::Guided(Arc::new(Guided::new(held, soft, &params.guided, meter, share)?)),
            Method::Arap => {
                let build = |piece: &SoftPiece, span: ProgressSpan| ArapPiece::new(held, piece, span);
                Self::Arap(Arc::new(soft.build_pieces(meter, share, build)?), params.arap)
            }
            Method::Lipman => {
                let laplacian = build_laplacian(held.mesh, held.adjacency, params.lipman.laplacian);
                let build = |piece: &SoftPiece, span: ProgressSpan| {
                    LipmanPiece::new(held, &laplacian, piece, &params.lipman, span)
                };
                Self::Lipman(Arc::new(soft.build_pieces(meter, share, build)?))
            }
            Method::Skin => {
                let build = |piece: &SoftPiece, span: ProgressSpan| SkinnedPiece::new(held, piece, span);
                Self::Skin(Arc::new(soft.build_pieces(meter, share, build)?))
            }
        })
    }
}

impl SurfaceEditor {
    /// [`SurfaceEditor::prepare`] without a progress callback.
    ///
    /// # Errors
    /// As [`SurfaceEditor::prepare`].
    pub fn new(
        mesh: &Mesh,
        handles: &HandleSet,
        params: &EditParams,
        warnings: &mut Warnings,
    ) -> Result<Self, DeformError> {
        Self::prepare(mesh, handles, params, warnings, &no_progress)
    }

    /// Find the soft pieces between the handles, assemble and factor their systems. `progress` is called with the
    /// share done and may stop the work.
    ///
    /// # Errors
    /// If the handles belong to another mesh, a piece's system cannot be factored, or `progress` broke.
    pub fn prepare(
        mesh: &Mesh,
        handles: &HandleSet,
        params: &EditParams,
        warnings: &mut Warnings,
        progress: Progress,
    ) -> Result<Self, DeformError> {
        check("handle structure", mesh.n_vertices(), handles.n_vertices())?;
        let meter = ProgressMeter::new(progress)?;
        let closed = ClosedMesh::new(mesh, handles)?;
        let held = closed.held();
        let soft = SoftSurface::new(held, warnings);
        meter.add(SOFT_SHARE)?;
        let engine = Engine::new(held, &soft, params, &meter)?;
        meter.finish()?;
        Ok(Self { surface: Arc::new(EditedSurface::new(&closed, soft)), engine })
    }

    /// Pose the surface. The result depends on the pose alone.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or `positions` has another length than the mesh.
    pub fn solve(&self, pose: &HandlePose, positions: &mut [DVec3]) -> Result<(), DeformError> {
        let surface = &self.surface;
        surface.check(pose, positions.len())?;
        surface.on_closed(positions, |positions| {
            surface.carry(pose, positions);
            for (piece, posed) in surface.soft.pieces.iter().zip(self.solve_pieces(pose, false)?) {
                piece.vertices.iter().zip(posed.positions).for_each(|(&v, p)| positions[v as usize] = p);
            }
            surface.carry_parts(positions);
            Ok(())
        })
    }

    /// Pose the surface and rotate its normals with it, rather than compute them again (Hansen (2006), §6.5.2).
    ///
    /// # Errors
    /// As [`SurfaceEditor::solve`], and if the normals have another length than the mesh.
    pub fn solve_with_normals(
        &self,
        pose: &HandlePose,
        rest_normals: &[DVec3],
        positions: &mut [DVec3],
        normals: &mut [DVec3],
    ) -> Result<(), DeformError> {
        let surface = &self.surface;
        surface.check(pose, positions.len())?;
        for (what, actual) in [("rest normals", rest_normals.len()), ("normals", normals.len())] {
            check(what, surface.n_vertices, actual)?;
        }
        let soft = &surface.soft;
        let rotations = surface.on_closed(positions, |positions| {
            surface.carry(pose, positions);
            let carried = soft.carrier.iter().zip(&surface.rest).map(|(carrier, rest)| {
                carrier.map_or(DQuat::IDENTITY, |handle| pose.motions()[handle as usize].rotation_at(*rest))
            });
            let mut rotations: Vec<DQuat> = carried.collect();
            for (piece, posed) in soft.pieces.iter().zip(self.solve_pieces(pose, true)?) {
                for (at, &v) in piece.vertices.iter().enumerate() {
                    positions[v as usize] = posed.positions[at];
                    rotations[v as usize] = posed.rotations[at];
                }
            }
            for (part, rotation) in soft.carried.iter().zip(surface.carry_parts(positions)) {
                part.vertices.iter().for_each(|&v| rotations[v as usize] = rotation);
            }
            Ok(rotations)
        })?;
        for (v, (normal, rest)) in normals.iter_mut().zip(rest_normals).enumerate() {
            *normal = rotations[surface.place(v)] * *rest;
        }
        Ok(())
    }

    /// Pose the surface and lay a detail layer over it, if there is one, along the normals that turned with the
    /// surface.
    ///
    /// # Errors
    /// As [`SurfaceEditor::solve_with_normals`], and if the layer has another length than the mesh.
    pub fn solve_with_detail(
        &self,
        pose: &HandlePose,
        rest_normals: &[DVec3],
        detail: Option<&[f32]>,
        positions: &mut [DVec3],
    ) -> Result<(), DeformError> {
        let Some(detail) = detail else { return self.solve(pose, positions) };
        check("detail layer", self.surface.n_vertices, detail.len())?;
        let mut normals = vec![DVec3::ZERO; self.surface.n_vertices];
        self.solve_with_normals(pose, rest_normals, positions, &mut normals)?;
        add_detail(detail, &normals, positions);
        Ok(())
    }

    fn solve_pieces(&self, pose: &HandlePose, with_rotations: bool) -> Result<Vec<Posed>, DeformError> {
        match &self.engine {
            Engine::Guided(guided) => {
                guided.solve(pose, &self.surface.soft, &self.surface.rest, with_rotations)
            }
            Engine::Arap(pieces, params) => pieces.par_iter().map(|piece| piece.pose(pose, params)).collect(),
            Engine::Lipman(pieces) => {
                pieces.par_iter().map(|piece| piece.pose(pose, with_rotations)).collect()
            }
            Engine::Skin(pieces) => Ok(pieces.iter().map(|piece| piece.pose(pose)).collect()),
        }
    }

    /// Equations and unknowns of the method of Hansen (2006), over all pieces; `None` for other methods.
    pub fn system_size(&self) -> Option<[usize; 2]> {
        let Engine::Lipman(pieces) = &self.engine else { return None };
        Some(pieces.iter().map(LipmanPiece::size).fold([0, 0], |[m, n], [a, b]| [m + a, n + b]))
    }

    /// Number of vertices that are solved for, rather than carried by a handle.
    pub fn n_soft(&self) -> usize {
        self.surface.n_soft
    }
}
