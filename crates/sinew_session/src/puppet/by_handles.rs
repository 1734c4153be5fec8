//! A character without a skeleton, moved by a body: stored poses of its handles are blended limb by limb.
//!
//! # Source
//! Sun (2017), §4.4–4.6, with the handles of Hansen (2006), ch. 7, in place of joints. Sinew's own: handles belong to
//! limbs of the actor as joints do; the body travels as a whole, on the lowest points of its handles.

use super::{
    PuppetData,
    pairs::{body_of, find_limbs},
};
use crate::{Document, Example, SessionError};
use glam::{DAffine3, DVec3};
use sinew_deform::{
    HandlePose, HandleSet,
    examples::{ExamplePose, PoseSpace},
};
use sinew_formats::pairs::PairTarget;
use sinew_geom::{Mesh, Warnings};
use sinew_puppet::{
    BodyPose, BodyTracker, CanonicalPose, Footing, LimbSet, PerformerParams, Puppeteer, Weights, assign_parts,
};
use std::sync::Arc;

/// What handles do at a moment.
#[derive(Debug, Clone)]
pub struct HandleShape {
    /// Where they are in the model.
    pub pose: HandlePose,
    /// Offsets along the normal.
    pub detail: Option<Vec<f32>>,
    /// Where the whole model is.
    pub world_from_model: DAffine3,
    weights: Weights,
}

/// Handles that follow an actor.
#[derive(Debug, Clone)]
pub(super) struct HandlePerformer {
    tracker: BodyTracker,
    puppeteer: Puppeteer,
    footing: Footing,
    parts: Vec<LimbSet>,
    space: Arc<PoseSpace>,
    /// Lowest and highest vertex of each handle at rest.
    ends: Arc<Vec<[DVec3; 2]>>,
}

/// A shape with its weights, its distance from the pairs' blend, and whether its frame was not trusted.
pub(super) type Done = (HandleShape, Vec<f64>, f64, bool);

impl HandlePerformer {
    pub fn new(document: &Document, params: &PerformerParams) -> Result<Self, SessionError> {
        let (mesh, data) = (document.mesh(), &document.puppet);
        let set = HandleSet::new(mesh, &document.plain_handles(), &mut Warnings::default())?;
        let space = pose_space(document, &set)?;
        let source = |pair: &Arc<super::Pair>| Ok(params.tracker.paired(&body_of(&pair.pair)?));
        let sources = data.pairs.iter().map(source).collect::<Result<Vec<_>, SessionError>>()?;
        let parts = parts(&space, &sources, data, params.whole_body)?;
        let ends: Vec<[DVec3; 2]> = (0..set.len()).map(|h| ends(mesh, &set, h)).collect();
        Ok(Self {
            tracker: BodyTracker::new(params.tracker.clone()),
            puppeteer: Puppeteer::new(&sources, &parts, &params.puppeteer)?,
            footing: Footing::new(ends.iter().flatten().copied(), &[], params.ground),
            parts,
            space: Arc::new(space),
            ends: Arc::new(ends),
        })
    }

    /// Which part of the actor moves each handle.
    pub fn parts(&self) -> &[LimbSet] {
        &self.parts
    }

    /// In how many frames each limb of the actor kept its pose.
    pub fn kept_limbs(&self) -> [usize; 5] {
        self.tracker.kept_limbs()
    }

    pub fn step(&mut self, time: f64, body: &BodyPose) -> Result<Option<Done>, SessionError> {
        let Some(tracked) = self.tracker.step(time, body) else { return Ok(None) };
        let weights = self.puppeteer.step(&tracked.pose)?.clone();
        let (mean, residual) = (weights.mean(), weights.residual);
        let mut shape = self.shape(weights, DAffine3::IDENTITY);
        let motions = shape.pose.motions();
        shape.world_from_model =
            self.footing.step(time, &tracked, |end| motions[end / 2].position(self.ends[end / 2][end % 2]));
        Ok(Some((shape, mean, residual, tracked.held)))
    }

    /// A shape on the way from one to another.
    pub fn between(&self, a: &HandleShape, b: &HandleShape, share: f64) -> HandleShape {
        let (_, turn_a, from) = a.world_from_model.to_scale_rotation_translation();
        let (_, turn_b, to) = b.world_from_model.to_scale_rotation_translation();
        let place = DAffine3::from_rotation_translation(turn_a.slerp(turn_b, share), from.lerp(to, share));
        self.shape(a.weights.lerp(&b.weights, share), place)
    }

    fn shape(&self, weights: Weights, world_from_model: DAffine3) -> HandleShape {
        let pose = self.space.blend_each(|handle| weights.of(handle));
        HandleShape { pose, detail: self.space.detail(&weights.mean()), world_from_model, weights }
    }
}

/// The stored poses that pairs name; the one at rest where they name none.
fn pose_space(document: &Document, set: &HandleSet) -> Result<PoseSpace, SessionError> {
    let pairs = &document.puppet.pairs;
    let example = |pair: &Arc<super::Pair>| match &pair.pair.target {
        PairTarget::Example(name) => {
            document.find_example(name).map(|at| Some(document.examples[at].clone()))
        }
        PairTarget::Joints(_) => Ok(None),
    };
    let poses = pairs.iter().map(example).collect::<Result<Vec<Option<Arc<Example>>>, _>>()?;
    let moves: Vec<_> =
        poses.iter().map(|pose| pose.as_ref().map(|e| e.moves.clone()).unwrap_or_default()).collect();
    let named = pairs.iter().zip(&moves);
    let named: Vec<_> = named.map(|(pair, moves)| ExamplePose { name: &pair.pair.name, moves }).collect();
    let space = PoseSpace::new(document.mesh(), set, &named)?;
    if poses.iter().flatten().all(|example| example.detail.is_none()) {
        return Ok(space);
    }
    let details = poses.iter().map(|pose| pose.as_ref().and_then(|e| e.detail.clone())).collect();
    Ok(space.with_details(details, document.mesh().n_vertices())?)
}

fn parts(
    space: &PoseSpace,
    sources: &[CanonicalPose],
    data: &PuppetData,
    whole_body: bool,
) -> Result<Vec<LimbSet>, SessionError> {
    let n = space.n_handles();
    let mut parts = match whole_body {
        true => vec![LimbSet::BODY; n],
        false => assign_parts(sources, n, |handle, i, k| space.distance(handle, i, k)),
    };
    for (handle, limbs) in find_limbs("handle", (0..n).map(|h| space.handle_name(h)), data)? {
        parts[handle] = LimbSet::of(&limbs);
    }
    Ok(parts)
}

/// The lowest and the highest vertex of a handle; its centre if it has none.
fn ends(mesh: &Mesh, set: &HandleSet, handle: usize) -> [DVec3; 2] {
    let handle = &set.handles()[handle];
    let points = || handle.vertices.iter().map(|&v| mesh.positions()[v as usize]);
    let ends = [points().min_by(|a, b| a.y.total_cmp(&b.y)), points().max_by(|a, b| a.y.total_cmp(&b.y))];
    ends.map(|end| end.unwrap_or(handle.center))
}
