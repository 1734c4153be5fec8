//! A document's character, moved by a body.

use super::{
    ActorSource, PuppetData,
    by_handles::{HandlePerformer, HandleShape},
    pairs::{body_of, find_limbs},
};
use crate::{Document, Example, Frame, Prepared, SessionError, stage::frame_of, stage::smooth_normals};
use glam::DAffine3;
use sinew_formats::pairs::{PairTarget, PosePair};
use sinew_geom::{Character, Clip, Handle, Pose, Rig};
use sinew_puppet::{Anatomy, BodyPose, Interpolation, LimbSet, Performer, PerformerParams, RigPair};
use std::{sync::Arc, time::Instant};

/// What the character does at a moment.
#[derive(Debug, Clone)]
pub struct Acted {
    /// Its shape.
    pub shape: ActedShape,
    /// Weight of each pair, over all parts.
    pub weights: Vec<f64>,
    /// Distance of the actor from the pairs' blend, in metres of the standard body.
    pub residual: f64,
    /// Whether the frame was not trusted.
    pub held: bool,
}

/// A shape of a character.
#[derive(Debug, Clone)]
pub enum ActedShape {
    /// Of its skeleton: a pose, and `world_from_joint` of every joint, which may shear if matrices are blended.
    Joints {
        /// The pose.
        pose: Pose,
        /// The matrices.
        world: Vec<DAffine3>,
    },
    /// Of its handles.
    Handles(Box<HandleShape>),
}

/// A character that follows a body.
#[derive(Debug, Clone)]
pub struct Puppet {
    body: Arc<Character>,
    data: Arc<PuppetData>,
    handles: Vec<Arc<Handle>>,
    examples: Vec<Arc<Example>>,
    source: ActorSource,
    interpolation: Interpolation,
    start: Follower,
    follower: Follower,
}

/// What changes from frame to frame.
#[derive(Debug, Clone)]
enum Follower {
    Joints(Box<Performer>),
    Handles(Box<HandlePerformer>),
}

impl Puppet {
    /// Prepare the pairs of a document; without pairs its skeleton does what the actor does.
    ///
    /// # Errors
    /// No pairs for a body of no known kind, pairs of two kinds, or one that names what the character does not have; settings out of range.
    pub fn new(document: &Document, source: ActorSource) -> Result<Self, SessionError> {
        let data = &document.puppet;
        let params = data.settings.params(source)?;
        let is_of = |kind: fn(&PairTarget) -> bool| data.pairs.iter().any(|pair| kind(&pair.pair.target));
        let has_examples = is_of(|target| matches!(target, PairTarget::Example(_)));
        // A pose that moves no joint is the one at rest, with or without a skeleton.
        let has_joints = is_of(|target| matches!(target, PairTarget::Joints(joints) if !joints.is_empty()));
        let follower = match (has_examples, has_joints) {
            (true, true) => {
                let cause = "some hold poses of the skeleton, others stored poses of handles; use one kind";
                return Err(SessionError::Value { what: "pairs", cause: cause.into() });
            }
            (true, false) => Follower::Handles(Box::new(HandlePerformer::new(document, &params)?)),
            (false, _) => follow_by_joints(document, &params)?,
        };
        Ok(Self {
            body: document.body.clone(),
            data: data.clone(),
            handles: document.handles.clone(),
            examples: document.examples.clone(),
            source,
            interpolation: params.interpolation,
            start: follower.clone(),
            follower,
        })
    }

    /// Whether it is still what the document needs.
    pub fn serves(&self, document: &Document, source: ActorSource) -> bool {
        let is_same = |a: &[Arc<Handle>], b: &[Arc<Handle>]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b))
        };
        let poses = !self.is_by_handles()
            || (is_same(&self.handles, &document.handles) && self.examples == document.examples);
        Arc::ptr_eq(&self.body, &document.body)
            && (Arc::ptr_eq(&self.data, &document.puppet) || self.data == document.puppet)
            && self.source == source
            && poses
    }

    /// Forget the actor, as before the first frame.
    pub fn restart(&mut self) {
        self.follower.clone_from(&self.start);
    }

    /// Whether the character is moved by its handles, rather than by its skeleton.
    pub fn is_by_handles(&self) -> bool {
        matches!(self.follower, Follower::Handles(..))
    }

    /// How poses of a skeleton are blended.
    pub fn interpolation(&self) -> Interpolation {
        self.interpolation
    }

    /// In how many frames each limb of the actor was not seen and kept its pose while the rest was followed, in the order of
    /// [`sinew_puppet::Limb::ALL`].
    pub fn kept_limbs(&self) -> [usize; 5] {
        match &self.follower {
            Follower::Joints(performer) => performer.kept_limbs(),
            Follower::Handles(performer) => performer.kept_limbs(),
        }
    }

    /// Which part of the actor moves each joint, or each handle.
    pub fn parts(&self) -> &[LimbSet] {
        match &self.follower {
            Follower::Joints(performer) => performer.parts(),
            Follower::Handles(performer) => performer.parts(),
        }
    }

    /// Take the next frame; nothing before the first that was fully tracked. Times rise, in seconds.
    ///
    /// # Errors
    /// Numbers that are not finite.
    pub fn step(&mut self, time: f64, body: &BodyPose) -> Result<Option<Acted>, SessionError> {
        match &mut self.follower {
            Follower::Joints(performer) => {
                let rig = self.body.rig.as_ref().ok_or_else(no_skeleton)?;
                Ok(performer.step(rig, time, body)?.map(|done| Acted {
                    shape: ActedShape::Joints { pose: done.pose, world: done.world },
                    weights: done.weights,
                    residual: done.residual,
                    held: done.held,
                }))
            }
            Follower::Handles(performer) => {
                Ok(performer.step(time, body)?.map(|(shape, weights, residual, held)| Acted {
                    shape: ActedShape::Handles(Box::new(shape)),
                    weights,
                    residual,
                    held,
                }))
            }
        }
    }

    /// The shape half-way between two: for takes whose frames came unevenly.
    pub(super) fn between(&self, a: &Acted, b: &Acted, share: f64) -> ActedShape {
        match (&a.shape, &b.shape, &self.follower) {
            (ActedShape::Joints { pose: p, world: v }, ActedShape::Joints { pose: q, world: w }, _) => {
                let locals = p.locals.iter().zip(&q.locals).map(|(p, q)| p.lerp(q, share)).collect();
                let mix = |(v, w): (&DAffine3, &DAffine3)| DAffine3 {
                    matrix3: v.matrix3 * (1.0 - share) + w.matrix3 * share,
                    translation: v.translation.lerp(w.translation, share),
                };
                let world = v.iter().zip(w).map(mix).collect();
                ActedShape::Joints { pose: Pose { locals }, world }
            }
            (ActedShape::Handles(a), ActedShape::Handles(b), Follower::Handles(performer)) => {
                ActedShape::Handles(Box::new(performer.between(a, b, share)))
            }
            _ => a.shape.clone(),
        }
    }

    /// Where every vertex is. `prepared` poses the document by its handles, and is needed only for such shapes.
    ///
    /// # Errors
    /// If the shape is not of this document.
    pub fn frame(
        &self,
        document: &Document,
        shape: &ActedShape,
        prepared: Option<&Prepared>,
    ) -> Result<Frame, SessionError> {
        let start = Instant::now();
        match shape {
            ActedShape::Joints { world, .. } => {
                let positions = self.body.positions_by(world)?;
                let normals = smooth_normals(&positions, self.body.mesh.faces());
                Ok(frame_of(document, positions, normals, start))
            }
            ActedShape::Handles(shape) => {
                let prepared = prepared.ok_or_else(|| SessionError::Value {
                    what: "handles",
                    cause: "the surface is not prepared yet".into(),
                })?;
                let mut frame = prepared.frame_of(&shape.pose, shape.detail.as_deref())?;
                frame.carry(&shape.world_from_model);
                Ok(frame)
            }
        }
    }
}

fn no_skeleton() -> SessionError {
    let cause =
        "the character has no skeleton, but the pairs hold poses of one; add a skeleton, then pair it again"
            .into();
    SessionError::Value { what: "pairs", cause }
}

fn follow_by_joints(document: &Document, params: &PerformerParams) -> Result<Follower, SessionError> {
    let data = &document.puppet;
    let rig = match &document.body.rig {
        Some(rig) => rig,
        None if data.pairs.is_empty() => return Err(sinew_puppet::PuppetError::NoPairs.into()),
        None => return Err(no_skeleton()),
    };
    let pairs = data.pairs.iter().map(|pair| rig_pair(rig, &pair.pair)).collect::<Result<Vec<_>, _>>()?;
    let params = PerformerParams {
        limbs: find_limbs("joint", rig.joints().iter().map(|joint| joint.name.as_str()), data)?,
        ..params.clone()
    };
    let clips: Vec<Clip> = document.clips.iter().map(|clip| (**clip).clone()).collect();
    let anatomy = Anatomy::read(rig, &clips);
    Ok(Follower::Joints(Box::new(Performer::new(rig, &anatomy, &pairs, &params)?)))
}

/// A pair for a rig.
fn rig_pair(rig: &Rig, pair: &PosePair) -> Result<RigPair, SessionError> {
    let mut pose = rig.rest_pose();
    let PairTarget::Joints(joints) = &pair.target else { return Err(no_skeleton()) };
    for (name, local) in joints {
        let joint = rig.joints().iter().position(|joint| joint.name == *name);
        let joint = joint.ok_or_else(|| SessionError::Value {
            what: "pairs",
            cause: format!(
                "pair {:?} moves a joint {name:?}, which the character does not have; pair it again",
                pair.name
            ),
        })?;
        pose.locals[joint] = *local;
    }
    Ok(RigPair { body: body_of(pair)?, pose })
}
