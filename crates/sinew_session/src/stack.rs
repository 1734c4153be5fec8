//! The motion stack: what moves, then what is made of it, one step on the other. A step runs again only if what it
//! stands on has changed.
//!
//! Today's steps: source (a clip, or the pose held), reshape (the handles' pose becomes the shape that moves), then
//! bake (vertices over time) or fit (a small skin; see `fit`). Refitting and flesh (see `refit`, `flesh`) make clips, so that
//! they come before.

use crate::{
    Document, Fitted, SessionError, Stage,
    flesh::{FleshKey, Fleshed},
    limits::{MAX_SEQUENCE_BYTES, VERTEX_BYTES, count_frames},
    stage::Prepared,
};
use glam::Vec3;
use sinew_deform::{EditParams, examples::Detail};
use sinew_geom::{Character, Clip, Handle, MeshSequence, Move};
use std::{ops::ControlFlow, sync::Arc};

/// What moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nothing: one frame.
    Still,
    /// An animation of the skeleton or of morph targets, by name.
    Clip(String),
}

/// Steps chosen by the user.
#[derive(Debug, Clone, PartialEq)]
pub struct StackParams {
    /// What moves.
    pub source: Source,
    /// Whether the shape that moves is the one the handles were moved to, rather than the one at rest.
    pub reshape: bool,
    /// Frames per second.
    pub fps: f64,
}

/// The steps with what each gave last. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct MotionStack {
    reshape: Option<Cached<ReshapeKey, Character>>,
    bake: Option<Cached<BakeKey, MeshSequence>>,
    pub(crate) fitted: Option<Arc<Fitted>>,
    pub(crate) fleshed: Option<(FleshKey, Arc<Fleshed>)>,
    /// How often each step has run: reshape, bake, fit, flesh.
    pub runs: [usize; 4],
}

#[derive(Debug, Clone)]
struct Cached<K, V> {
    key: K,
    value: Arc<V>,
}

/// Parts are compared by identity: the document shares what did not change. Holding them keeps the identity true.
#[derive(Debug, Clone)]
struct ReshapeKey {
    body: Arc<Character>,
    handles: Vec<Arc<Handle>>,
    pose: Arc<Vec<Move>>,
    detail: Option<Detail>,
    edit: EditParams,
}

impl PartialEq for ReshapeKey {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.body, &other.body)
            && Arc::ptr_eq(&self.pose, &other.pose)
            && self.detail.as_ref().map(Arc::as_ptr) == other.detail.as_ref().map(Arc::as_ptr)
            && self.edit == other.edit
            && self.handles.len() == other.handles.len()
            && self.handles.iter().zip(&other.handles).all(|(a, b)| Arc::ptr_eq(a, b))
    }
}

#[derive(Debug, Clone)]
struct BakeKey {
    body: Arc<Character>,
    clip: Option<Arc<Clip>>,
    fps: f64,
}

impl PartialEq for BakeKey {
    fn eq(&self, other: &Self) -> bool {
        let is_same_clip = match (&self.clip, &other.clip) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        Arc::ptr_eq(&self.body, &other.body) && is_same_clip && self.fps == other.fps
    }
}

impl MotionStack {
    /// Vertices over time. What has not changed since the last call is not computed again.
    ///
    /// # Errors
    /// If there is no such clip, the frame rate is invalid, or a step fails or is stopped.
    pub fn run(
        &mut self,
        document: &Document,
        params: &StackParams,
        stage: &mut Stage,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Arc<MeshSequence>, SessionError> {
        let clip = match &params.source {
            Source::Still => None,
            Source::Clip(name) => Some(document.clips[document.find_clip(name)?].clone()),
        };
        let n_frames = count_held_frames(clip.as_deref(), params.fps, document.mesh().n_vertices())?;
        let body = if params.reshape && !document.pose.is_empty() {
            self.reshape(document, stage, progress)?
        } else {
            document.body.clone()
        };
        let key = BakeKey { body, clip, fps: params.fps };
        if let Some(cached) = self.bake.as_ref().filter(|cached| cached.key == key) {
            return Ok(cached.value.clone());
        }
        self.runs[1] += 1;
        let mut frames = Vec::new();
        for frame in 0..n_frames {
            if progress(frame as f64 / n_frames as f64).is_break() {
                return Err(SessionError::Cancelled);
            }
            frames.push(match &key.clip {
                Some(clip) => key.body.positions_at(Some(clip), (frame as f64 / params.fps) as f32)?,
                None => key.body.mesh.positions().iter().map(|p| p.as_vec3()).collect::<Vec<Vec3>>(),
            });
        }
        let value = Arc::new(MeshSequence::new(key.body.mesh.clone(), frames, params.fps)?);
        self.bake = Some(Cached { key, value: value.clone() });
        Ok(value)
    }

    /// The character with its posed surface as the one at rest; its skin starts from there.
    pub(crate) fn reshape(
        &mut self,
        document: &Document,
        stage: &mut Stage,
        progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
    ) -> Result<Arc<Character>, SessionError> {
        let key = ReshapeKey {
            body: document.body.clone(),
            handles: document.handles.clone(),
            pose: document.pose.clone(),
            detail: document.detail.clone(),
            edit: document.edit,
        };
        if let Some(cached) = self.reshape.as_ref().filter(|cached| cached.key == key) {
            return Ok(cached.value.clone());
        }
        self.runs[0] += 1;
        let prepared: Arc<Prepared> = stage.prepare(document, progress)?;
        let mesh = document.mesh().with_positions(prepared.positions_of(document)?)?;
        let surface = sinew_geom::Surface { normals: None, ..document.body.surface.clone() };
        let value = Arc::new(Character { mesh, surface, ..(*document.body).clone() });
        self.reshape = Some(Cached { key, value: value.clone() });
        Ok(value)
    }
}

/// As [`count_frames`], and refuse what would fill the memory, before it does.
pub(crate) fn count_held_frames(
    clip: Option<&Clip>,
    fps: f64,
    n_vertices: usize,
) -> Result<usize, SessionError> {
    let n_frames = count_frames(clip, fps)? as f64;
    let frame_bytes = (n_vertices * VERTEX_BYTES) as f64;
    let max_bytes = MAX_SEQUENCE_BYTES as f64;
    let most = (max_bytes / frame_bytes.max(1.0)).floor().max(1.0);
    if n_frames > most {
        let duration = clip.map_or(0.0, |clip| f64::from(clip.duration_secs()));
        let best = ((most - 1.0) / duration * 10.0).floor() / 10.0;
        let advice = if best >= 1.0 {
            format!("choose at most {best} fps, or export the character with its skeleton instead")
        } else {
            "export the character with its skeleton instead, or reduce the mesh".to_owned()
        };
        return Err(SessionError::Value {
            what: "vertices over time",
            cause: format!(
                "{n_frames} frames of {n_vertices} vertices are {:.1} GB, more than the {:.1} GB that fit; {advice}",
                n_frames * frame_bytes / 1e9,
                max_bytes / 1e9
            ),
        });
    }
    Ok(n_frames as usize)
}
