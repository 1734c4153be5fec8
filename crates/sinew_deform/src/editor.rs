//! One interface for all methods: prepare once, then pose as often as the user moves a handle.
//!
//! # Source
//! Hansen (2006), §6.3: handles are moved rigidly, and the soft surface between them is solved for. Differs: pieces
//! that touch no handle are carried along instead of being lost (§8.3.5).

use crate::{
    DeformError, HandlePose, HandleSet,
    arap::{ArapParams, ArapPiece},
    error::check,
    examples::add_detail,
    guided::{Guided, GuidedParams},
    handled::HandledMesh,
    lipman::{LipmanParams, LipmanPiece},
    progress::{Progress, ProgressMeter, ProgressSpan, no_progress},
    soft::{Posed, SoftPiece, SoftSurface},
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, Warnings, mesh::Adjacency, operators::build_laplacian};

/// Share of the preparation that finding the soft pieces takes.
pub(crate) const SOFT_SHARE: f64 = 0.1;

/// How the soft surface follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Method {
    /// Harmonic guidance, then as rigid as possible on a small graph with interior.
    #[default]
    Guided,
    /// As rigid as possible, spokes and rims, at full resolution.
    Arap,
    /// The Laplacian editing of Hansen (2006), after Lipman et al. (2004).
    Lipman,
}

impl Method {
    /// All of them, the default first.
    pub const ALL: [Self; 3] = [Self::Guided, Self::Arap, Self::Lipman];

    /// Name in options and files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guided => "guided",
            Self::Arap => "arap",
            Self::Lipman => "lipman",
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
    rest: Vec<DVec3>,
    n_handles: usize,
    soft: SoftSurface,
    engine: Engine,
}

#[derive(Debug, Clone)]
enum Engine {
    Guided(Guided),
    Arap(Vec<ArapPiece>, ArapParams),
    Lipman(Vec<LipmanPiece>),
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
            Method::Guided => Self::Guided(Guided::new(held, soft, &params.guided, meter, share)?),
            Method::Arap => {
                let build = |piece: &SoftPiece, span: ProgressSpan| ArapPiece::new(held, piece, None, span);
                Self::Arap(soft.build_pieces(meter, share, build)?, params.arap)
            }
            Method::Lipman => {
                let laplacian = build_laplacian(held.mesh, held.adjacency, params.lipman.laplacian);
                let build = |piece: &SoftPiece, span: ProgressSpan| {
                    LipmanPiece::new(held, &laplacian, piece, &params.lipman, span)
                };
                Self::Lipman(soft.build_pieces(meter, share, build)?)
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
        let adjacency = Adjacency::new(mesh);
        let held = HandledMesh { mesh, adjacency: &adjacency, handles };
        let soft = SoftSurface::new(held, warnings);
        meter.add(SOFT_SHARE)?;
        let engine = Engine::new(held, &soft, params, &meter)?;
        meter.finish()?;
        Ok(Self { rest: mesh.positions().to_vec(), n_handles: handles.len(), soft, engine })
    }

    /// Pose the surface. The result depends on the pose alone.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or `positions` has another length than the mesh.
    pub fn solve(&self, pose: &HandlePose, positions: &mut [DVec3]) -> Result<(), DeformError> {
        check("pose", self.n_handles, pose.motions().len())?;
        check("positions", self.rest.len(), positions.len())?;
        let carry = |(out, (rest, carrier)): (&mut DVec3, (&DVec3, &Option<u32>))| {
            if let Some(handle) = carrier {
                *out = pose.motions()[*handle as usize].position(*rest);
            }
        };
        let inputs = self.rest.par_iter().zip(&self.soft.carrier);
        positions.par_iter_mut().zip(inputs).with_min_len(4096).for_each(carry);
        for (piece, posed) in self.soft.pieces.iter().zip(self.solve_pieces(pose, false)?) {
            piece.vertices.iter().zip(posed.positions).for_each(|(&v, p)| positions[v as usize] = p);
        }
        Ok(())
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
        check("pose", self.n_handles, pose.motions().len())?;
        for (what, actual) in
            [("positions", positions.len()), ("rest normals", rest_normals.len()), ("normals", normals.len())]
        {
            check(what, self.rest.len(), actual)?;
        }
        for (v, carrier) in self.soft.carrier.iter().enumerate() {
            if let Some(handle) = carrier {
                let motion = &pose.motions()[*handle as usize];
                positions[v] = motion.position(self.rest[v]);
                normals[v] = motion.rotation_at(self.rest[v]) * rest_normals[v];
            }
        }
        for (piece, posed) in self.soft.pieces.iter().zip(self.solve_pieces(pose, true)?) {
            for (at, &v) in piece.vertices.iter().enumerate() {
                positions[v as usize] = posed.positions[at];
                normals[v as usize] = posed.rotations[at] * rest_normals[v as usize];
            }
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
        check("detail layer", self.rest.len(), detail.len())?;
        let mut normals = vec![DVec3::ZERO; self.rest.len()];
        self.solve_with_normals(pose, rest_normals, positions, &mut normals)?;
        add_detail(detail, &normals, positions);
        Ok(())
    }

    fn solve_pieces(&self, pose: &HandlePose, with_rotations: bool) -> Result<Vec<Posed>, DeformError> {
        match &self.engine {
            Engine::Guided(guided) => guided.solve(pose, with_rotations),
            Engine::Arap(pieces, params) => pieces.par_iter().map(|piece| piece.pose(pose, params)).collect(),
            Engine::Lipman(pieces) => {
                pieces.par_iter().map(|piece| piece.pose(pose, with_rotations)).collect()
            }
        }
    }

    /// Equations and unknowns of the method of Hansen (2006), over all pieces; `None` for other methods.
    pub fn system_size(&self) -> Option<[usize; 2]> {
        let Engine::Lipman(pieces) = &self.engine else { return None };
        Some(pieces.iter().map(LipmanPiece::size).fold([0, 0], |[m, n], [a, b]| [m + a, n + b]))
    }

    /// Number of vertices that are solved for, rather than carried by a handle.
    pub fn n_soft(&self) -> usize {
        self.soft.n_vertices()
    }
}
