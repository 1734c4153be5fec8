//! What is shown: where every vertex is, and which way it faces.

use crate::{Document, Ruled, SessionError, turned_pose};
use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew_deform::{
    DeformError, EditParams, HandlePose, HandleSet, SurfaceEditor, SurfaceRefiner, examples::add_detail,
};
use sinew_geom::{Character, Handle, Move, Warnings, measure::compute_vertex_normals};
use std::{
    ops::ControlFlow,
    sync::{Arc, OnceLock},
    time::{Duration, Instant},
};

/// Which of its shapes a document shows.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Display {
    /// As it was made.
    Rest,
    /// As its handles were moved.
    #[default]
    Posed,
    /// A moment of a clip.
    Clip {
        /// Its name.
        clip: String,
        /// Seconds from its beginning.
        time: f32,
    },
    /// As its rules want it.
    Ruled,
    /// As its joints are turned.
    Jointed,
}

/// A shape.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Frame {
    /// Of every vertex.
    pub positions: Vec<Vec3>,
    /// Unit normal of every vertex; zero where there is no surface.
    pub normals: Vec<Vec3>,
    /// Centre and rotation of every handle.
    pub handles: Vec<(DVec3, DQuat)>,
    /// Time it took to find.
    pub solve_time: Duration,
}

impl Frame {
    /// Move everything rigidly.
    pub(crate) fn carry(&mut self, world_from_model: &DAffine3) {
        if *world_from_model == DAffine3::IDENTITY {
            return;
        }
        let turn = DQuat::from_mat3(&world_from_model.matrix3);
        for (position, normal) in self.positions.iter_mut().zip(&mut self.normals) {
            *position = world_from_model.transform_point3(position.as_dvec3()).as_vec3();
            *normal = (turn * normal.as_dvec3()).as_vec3();
        }
        for (center, rotation) in &mut self.handles {
            (*center, *rotation) = (world_from_model.transform_point3(*center), turn * *rotation);
        }
    }
}

/// A mesh with handles, prepared for posing by one method.
#[derive(Debug)]
pub struct Prepared {
    body: Arc<Character>,
    handles: Vec<Arc<Handle>>,
    edit: EditParams,
    set: HandleSet,
    editor: Arc<SurfaceEditor>,
    rest_normals: Arc<Vec<DVec3>>,
    /// Made when the pose is refined.
    refiner: Arc<OnceLock<SurfaceRefiner>>,
    /// What had to be repaired or is worth knowing.
    pub warnings: Vec<String>,
    /// Time it took.
    pub time: Duration,
}

impl Prepared {
    /// Prepare the current handles and method of a document. `progress` is given the share done and may stop it.
    ///
    /// # Errors
    /// If no handle has a vertex, if the surface cannot be prepared, or if it was stopped.
    pub fn new(
        document: &Document,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Self, SessionError> {
        Self::with_normals(document, Arc::new(normals_of(document)), progress)
    }

    fn with_normals(
        document: &Document,
        rest_normals: Arc<Vec<DVec3>>,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Self, SessionError> {
        let start = Instant::now();
        let mut warnings = Warnings::default();
        let mesh = document.mesh();
        let set = HandleSet::new(mesh, &document.plain_handles(), &mut warnings)?;
        let editor = SurfaceEditor::prepare(mesh, &set, &document.edit, &mut warnings, progress)?;
        Ok(Self {
            body: document.body.clone(),
            handles: document.handles.clone(),
            edit: document.edit,
            set,
            editor: Arc::new(editor),
            rest_normals,
            refiner: Arc::default(),
            warnings: warnings.messages,
            time: start.elapsed(),
        })
    }

    /// Whether it is still what the document needs: the same surface, handles and method.
    pub fn serves(&self, document: &Document) -> bool {
        let is_same = |(a, b): (&Arc<Handle>, &Arc<Handle>)| {
            Arc::ptr_eq(a, b)
                || (holds_same(a, b)
                    && a.name == b.name
                    && a.center == b.center
                    && a.secondary == b.secondary)
        };
        Arc::ptr_eq(&self.body, &document.body)
            && self.holds(document)
            && self.handles.iter().zip(&document.handles).all(is_same)
    }

    /// Whether the same vertices are held by the same method, so that nothing needs to be factored again. Names,
    /// centres and who follows whom matter to moves only.
    fn holds(&self, document: &Document) -> bool {
        // A clip that was baked changes the body, but not its surface.
        (Arc::ptr_eq(&self.body, &document.body) || self.body.mesh == document.body.mesh)
            && self.edit == document.edit
            && self.handles.len() == document.handles.len()
            && self.handles.iter().zip(&document.handles).all(|(a, b)| holds_same(a, b))
    }

    /// The same preparation for handles that hold the same vertices.
    fn with_handles_of(&self, document: &Document) -> Result<Self, SessionError> {
        let set = HandleSet::new(document.mesh(), &document.plain_handles(), &mut Warnings::default())?;
        Ok(Self {
            body: document.body.clone(),
            handles: document.handles.clone(),
            edit: self.edit,
            set,
            editor: self.editor.clone(),
            rest_normals: self.rest_normals.clone(),
            refiner: self.refiner.clone(),
            warnings: self.warnings.clone(),
            time: self.time,
        })
    }

    /// Where moves bring the handles.
    ///
    /// # Errors
    /// If a move does not fit the handles.
    pub fn pose(&self, moves: &[Move]) -> Result<HandlePose, SessionError> {
        Ok(HandlePose::from_moves(&self.body.mesh, &self.set, moves)?)
    }

    /// A move whose axis is given as it is seen now, after other moves, as it is kept: carried back to rest with the
    /// handle it belongs to.
    ///
    /// # Errors
    /// If the moves do not fit the handles.
    pub fn at_rest(&self, before: &[Move], step: Move) -> Result<Move, SessionError> {
        let pose = self.pose(before)?;
        let back = |name: Option<&String>, axis: DVec3| {
            let handle = name.and_then(|name| self.set.find(name));
            handle.map_or(axis, |handle| pose.motions()[handle].rotation.inverse() * axis)
        };
        Ok(match step {
            Move::Rotate { main, handles, axis, radians } => {
                let axis = back(Some(&main), axis);
                Move::Rotate { main, handles, axis, radians }
            }
            Move::Twist { handles, axis, radians, over } => {
                let axis = back(handles.first(), axis);
                Move::Twist { handles, axis, radians, over }
            }
            shift @ Move::Translate { .. } => shift,
        })
    }

    /// The posed surface in full precision.
    ///
    /// # Errors
    /// If a move does not fit the handles.
    pub fn positions(&self, moves: &[Move]) -> Result<Vec<DVec3>, SessionError> {
        let mut positions = self.body.mesh.positions().to_vec();
        if !moves.is_empty() {
            self.editor.solve(&self.pose(moves)?, &mut positions)?;
        }
        Ok(positions)
    }

    /// The surface in the current pose of a document, with its detail, in full precision.
    ///
    /// # Errors
    /// If a move does not fit the handles.
    pub fn positions_of(&self, document: &Document) -> Result<Vec<DVec3>, SessionError> {
        let Some(detail) = &document.detail else { return self.positions(&document.pose) };
        let mut positions = self.body.mesh.positions().to_vec();
        let pose = self.pose(&document.pose)?;
        self.editor.solve_with_detail(&pose, &self.rest_normals, Some(detail), &mut positions)?;
        Ok(positions)
    }

    /// The posed surface.
    ///
    /// # Errors
    /// If a move does not fit the handles.
    pub fn frame(&self, moves: &[Move]) -> Result<Frame, SessionError> {
        self.frame_of(&self.pose(moves)?, None)
    }

    /// The surface in a pose that was found otherwise, with a detail layer.
    ///
    /// # Errors
    /// If the pose belongs to other handles, or the layer to another mesh.
    pub fn frame_of(&self, pose: &HandlePose, detail: Option<&[f32]>) -> Result<Frame, SessionError> {
        self.solve(pose, detail, |_, _, _| Ok(()))
    }

    /// The posed surface with its detail polished: for moments in which nothing else is to be done.
    ///
    /// # Errors
    /// If a move does not fit the handles, or `progress` broke.
    pub fn refined_frame(
        &self,
        moves: &[Move],
        detail: Option<&[f32]>,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Frame, SessionError> {
        let refiner = match self.refiner.get() {
            Some(refiner) => refiner,
            None => {
                let made = SurfaceRefiner::new(&self.body.mesh, &self.set, &self.editor, progress)?;
                self.refiner.get_or_init(|| made)
            }
        };
        self.solve(&self.pose(moves)?, detail, |pose, positions, normals| {
            refiner.refine(pose, refiner.iterations(), positions)?;
            // Those that turned with the surface are of the pose before it was polished.
            *normals = compute_vertex_normals(positions, self.body.mesh.faces());
            Ok(())
        })
    }

    fn solve(
        &self,
        pose: &HandlePose,
        detail: Option<&[f32]>,
        polish: impl FnOnce(&HandlePose, &mut [DVec3], &mut Vec<DVec3>) -> Result<(), DeformError>,
    ) -> Result<Frame, SessionError> {
        let start = Instant::now();
        let n = self.rest_normals.len();
        let (mut positions, mut normals) = (vec![DVec3::ZERO; n], vec![DVec3::ZERO; n]);
        self.editor.solve_with_normals(pose, &self.rest_normals, &mut positions, &mut normals)?;
        polish(pose, &mut positions, &mut normals)?;
        if let Some(detail) = detail {
            add_detail(detail, &normals, &mut positions);
            normals = compute_vertex_normals(&positions, self.body.mesh.faces());
        }
        if let Some(index) = positions.iter().position(|p| !p.is_finite()) {
            return Err(DeformError::NonFinite { what: format!("vertex {index} of the pose") }.into());
        }
        Ok(Frame {
            positions: positions.iter().map(|p| p.as_vec3()).collect(),
            normals: normals.iter().map(|n| n.as_vec3()).collect(),
            handles: self.handle_frames(pose),
            solve_time: start.elapsed(),
        })
    }

    fn handle_frames(&self, pose: &HandlePose) -> Vec<(DVec3, DQuat)> {
        let motions = self.set.handles().iter().zip(pose.motions());
        motions.map(|(handle, motion)| (motion.position(handle.center), motion.rotation)).collect()
    }
}

/// Finds shapes, keeping what was prepared for as long as it serves.
#[derive(Debug, Default)]
pub struct Stage {
    prepared: Option<Arc<Prepared>>,
    rest: Option<(Arc<Character>, Arc<Vec<DVec3>>)>,
    ruled: Option<Arc<Ruled>>,
}

impl Stage {
    /// What poses the document; prepared again if handles, mesh or method have changed.
    ///
    /// # Errors
    /// As [`Prepared::new`].
    pub fn prepare(
        &mut self,
        document: &Document,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Arc<Prepared>, SessionError> {
        if let Some(prepared) = self.prepared.as_ref().filter(|prepared| prepared.serves(document)) {
            return Ok(prepared.clone());
        }
        if let Some(prepared) = self.prepared.as_ref().filter(|prepared| prepared.holds(document)) {
            let prepared = Arc::new(prepared.with_handles_of(document)?);
            self.prepared = Some(prepared.clone());
            return Ok(prepared);
        }
        // The old one may be large; there should not be two.
        self.prepared = None;
        let normals = self.rest_normals(document);
        let prepared = Arc::new(Prepared::with_normals(document, normals, progress)?);
        self.prepared = Some(prepared.clone());
        Ok(prepared)
    }

    /// Normals at rest. They turn with the surface, so that a pose that moves nothing looks as rest does.
    fn rest_normals(&mut self, document: &Document) -> Arc<Vec<DVec3>> {
        if let Some((_, normals)) = self.rest.as_ref().filter(|(body, _)| Arc::ptr_eq(body, &document.body)) {
            return normals.clone();
        }
        let normals = Arc::new(normals_of(document));
        self.rest = Some((document.body.clone(), normals.clone()));
        normals
    }

    /// The rules of a document, solved; again only if they have changed.
    ///
    /// # Errors
    /// As [`Ruled::new`].
    pub fn ruled(&mut self, document: &Document) -> Result<Arc<Ruled>, SessionError> {
        if let Some(ruled) = self.ruled.as_ref().filter(|ruled| ruled.serves(document)) {
            return Ok(ruled.clone());
        }
        let ruled = Arc::new(Ruled::new(document, self.ruled.as_deref())?);
        self.ruled = Some(ruled.clone());
        Ok(ruled)
    }

    /// What was prepared, if it still serves.
    pub fn ready(&self, document: &Document) -> Option<&Arc<Prepared>> {
        self.prepared.as_ref().filter(|prepared| prepared.serves(document))
    }

    /// The shape a document shows. Without moves nothing needs to be prepared.
    ///
    /// # Errors
    /// As [`Prepared::new`], or if there is no such clip.
    pub fn show(
        &mut self,
        document: &Document,
        display: &Display,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Frame, SessionError> {
        match display {
            Display::Posed if !document.pose.is_empty() => {
                let prepared = self.prepare(document, progress)?;
                prepared.frame_of(&prepared.pose(&document.pose)?, document.detail.as_ref().map(|d| &d[..]))
            }
            Display::Clip { clip, time } => {
                let start = Instant::now();
                let clip = &document.clips[document.find_clip(clip)?];
                let positions = document.body.positions_at(Some(clip), *time)?;
                Ok(frame_of_positions(document, positions, start))
            }
            Display::Posed if document.detail.is_some() => {
                let start = Instant::now();
                let mut positions = document.mesh().positions().to_vec();
                let detail = document.detail.as_ref().map_or(&[][..], |detail| &detail[..]);
                add_detail(detail, &self.rest_normals(document), &mut positions);
                let positions: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
                Ok(frame_of_positions(document, positions, start))
            }
            Display::Ruled => self.ruled(document)?.frame(document),
            Display::Jointed if !document.flesh.turns.is_empty() && document.body.rig.is_some() => {
                let start = Instant::now();
                let positions = document.body.positions_posed(&turned_pose(document).unwrap_or_default())?;
                Ok(frame_of_positions(document, positions, start))
            }
            Display::Rest | Display::Posed | Display::Jointed => {
                let start = Instant::now();
                let positions = document.mesh().positions().iter().map(|p| p.as_vec3()).collect();
                let normals = self.rest_normals(document).iter().map(|n| n.as_vec3()).collect();
                Ok(frame_of(document, positions, normals, start))
            }
        }
    }
}

fn holds_same(a: &Handle, b: &Handle) -> bool {
    a.vertices == b.vertices && a.weights == b.weights
}

pub(crate) fn normals_of(document: &Document) -> Vec<DVec3> {
    compute_vertex_normals(document.mesh().positions(), document.mesh().faces())
}

/// A shape of which only the places of vertices are known.
pub(crate) fn frame_of_positions(document: &Document, positions: Vec<Vec3>, start: Instant) -> Frame {
    let normals = smooth_normals(&positions, document.mesh().faces());
    frame_of(document, positions, normals, start)
}

pub(crate) fn frame_of(
    document: &Document,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    start: Instant,
) -> Frame {
    let handles = document.handles.iter().map(|handle| (handle.center, DQuat::IDENTITY)).collect();
    Frame { positions, normals, handles, solve_time: start.elapsed() }
}

/// Normals for the eye: faces weighted by area, which costs a fraction of weighting them by angle.
pub fn smooth_normals(positions: &[Vec3], faces: &[[u32; 3]]) -> Vec<Vec3> {
    let mut normals = vec![Vec3::ZERO; positions.len()];
    for face in faces {
        let [a, b, c] = face.map(|v| positions[v as usize]);
        let normal = (b - a).cross(c - a);
        face.iter().for_each(|&v| normals[v as usize] += normal);
    }
    normals.iter_mut().for_each(|n| *n = n.normalize_or_zero());
    normals
}

/// How much longer than at rest the edges at each vertex are, on average; 1 where there are none.
pub fn compute_stretch(rest: &[DVec3], positions: &[Vec3], faces: &[[u32; 3]]) -> Vec<f32> {
    let mut sums = vec![[0f32; 2]; positions.len()];
    for face in faces {
        for k in 0..3 {
            let [a, b] = [face[k] as usize, face[(k + 1) % 3] as usize];
            let (now, then) = (positions[a].distance(positions[b]), rest[a].distance(rest[b]) as f32);
            for v in [a, b] {
                sums[v][0] += now;
                sums[v][1] += then;
            }
        }
    }
    sums.iter().map(|[now, then]| if *then > 0.0 { now / then } else { 1.0 }).collect()
}
