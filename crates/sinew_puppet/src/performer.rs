//! The whole pipeline from a tracked body to a posed skeleton.
//!
//! # Source
//! Sun (2017), §4.3, algorithm 1 and figure 4.1.

use crate::{
    BodyPose, BodyTracker, CanonicalPose, Figure, Footing, GroundParams, Interpolation, Limb, LimbSet,
    PuppetError, Puppeteer, PuppeteerParams, RigBlend, Tracked, TrackerParams, assign_parts, carry,
    figure::{CRAWL_SHARE, FOOT_SLOPE},
    ground::STANDARD_HEIGHT_METRES,
    stance::{Guided, LEG_METRES, Stance, StanceParams},
};
use glam::DAffine3;
use sinew_geom::{
    Clip, Pose, Rig, Transform,
    body_map::{BodyClass, BodyMap, Part, attachments},
};

/// How much further than a person an insect gets, in heights.
const MAX_CRAWL: f64 = 1.5;

/// A pose of the actor and the character's pose for it.
#[derive(Debug, Clone, PartialEq)]
pub struct RigPair {
    /// The actor.
    pub body: BodyPose,
    /// The character.
    pub pose: Pose,
}

/// Settings of a performance.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PerformerParams {
    /// How the actor is followed.
    pub tracker: TrackerParams,
    /// How poses become weights.
    pub puppeteer: PuppeteerParams,
    /// How poses of the character are blended.
    pub interpolation: Interpolation,
    /// How the character travels.
    pub ground: GroundParams,
    /// Whether the body is one space, as in Sun (2017), instead of one for each part (false).
    pub whole_body: bool,
    /// Joints of the character, and the limbs of the actor that move them, as overridden by the user.
    pub limbs: Vec<(usize, Vec<Limb>)>,
    /// Downward slope of the actor's feet when it stands, in radians, if known.
    pub foot_slope: Option<f64>,
}

/// What is known of a skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct Anatomy {
    /// What each joint is.
    pub map: BodyMap,
    /// What joints move with where that is not their parent.
    pub attached: Vec<Option<usize>>,
}

impl Anatomy {
    /// Read a skeleton and how its clips move it.
    pub fn read(rig: &Rig, clips: &[Clip]) -> Self {
        Self { map: BodyMap::read(rig, clips), attached: attachments(rig, clips) }
    }
}

/// The character at one time.
#[derive(Debug, Clone)]
pub struct PerformedFrame {
    /// Its pose, in the world. With blended matrices it is the nearest pose that has no shear.
    pub pose: Pose,
    /// `world_from_joint` of every joint.
    pub world: Vec<DAffine3>,
    /// Weight of each pair, over all parts.
    pub weights: Vec<f64>,
    /// Distance of the actor from the pairs' blend, see [`crate::Weights::residual`].
    pub residual: f64,
    /// Whether the frame was rejected.
    pub held: bool,
}

/// A skeleton that follows an actor.
#[derive(Debug, Clone)]
pub struct Performer {
    tracker: BodyTracker,
    motion: Motion,
    ground: Ground,
    parts: Vec<LimbSet>,
}

/// How poses are found.
#[derive(Debug, Clone)]
enum Motion {
    /// By pairs.
    Pairs { puppeteer: Puppeteer, blend: RigBlend, interpolation: Interpolation },
    /// By what joints are.
    Figure(Figure),
}

/// What carries the character.
#[derive(Debug, Clone)]
enum Ground {
    /// Legs.
    Stance(Box<Stance>),
    /// Its lowest points.
    Footing(Box<Footing>),
    /// Nothing: it stays where its poses are.
    Place,
}

impl Performer {
    /// Prepare pairs for a rig; without pairs its joints do what the actor's do.
    ///
    /// # Errors
    /// No pairs for a body of no known kind, a body that was not fully tracked, poses of another rig, settings out of range.
    pub fn new(
        rig: &Rig,
        anatomy: &Anatomy,
        pairs: &[RigPair],
        params: &PerformerParams,
    ) -> Result<Self, PuppetError> {
        let (motion, parts) = match pairs.is_empty() {
            true => {
                let mut figure = Figure::new(rig, &anatomy.map, &anatomy.attached)?;
                if let Some(slope) = params.foot_slope {
                    figure.set_foot_slope(slope);
                }
                if let Some([_, share]) = crawling(rig, anatomy) {
                    figure.set_crawl_share(share);
                }
                (Motion::Figure(figure), vec![LimbSet::BODY; rig.n_joints()])
            }
            false => by_pairs(rig, anatomy, pairs, params)?,
        };
        let ground = ground(rig, anatomy, !pairs.is_empty(), params);
        Ok(Self { tracker: BodyTracker::new(params.tracker.clone()), motion, ground, parts })
    }

    /// Which part of the actor moves each joint.
    pub fn parts(&self) -> &[LimbSet] {
        &self.parts
    }

    /// In how many frames each limb of the actor kept its pose, see [`BodyTracker::kept_limbs`].
    pub fn kept_limbs(&self) -> [usize; 5] {
        self.tracker.kept_limbs()
    }

    /// Process the next frame; `None` before the first that was fully tracked. Times ascend, in seconds.
    ///
    /// # Errors
    /// A rig that is not the one it was prepared for.
    pub fn step(
        &mut self,
        rig: &Rig,
        time: f64,
        body: &BodyPose,
    ) -> Result<Option<PerformedFrame>, PuppetError> {
        let Some(tracked) = self.tracker.step(time, body) else { return Ok(None) };
        let (mut pose, mut world) = (Pose::default(), Vec::new());
        let (mut weights, mut residual) = (Vec::new(), 0.0);
        match &mut self.motion {
            Motion::Pairs { puppeteer, blend, interpolation } => {
                let found = puppeteer.step(&tracked.pose)?;
                blend.pose(found, &mut pose);
                rig.forward(&pose, &mut world)?;
                if *interpolation == Interpolation::Linear {
                    blend.matrices(found, &mut world);
                }
                (weights, residual) = (found.mean(), found.residual);
            }
            Motion::Figure(figure) => figure.pose(&tracked.pose, &mut pose, &mut world),
        }
        self.place(rig, time, &tracked, &mut pose, &mut world);
        Ok(Some(PerformedFrame { pose, world, weights, residual, held: tracked.held }))
    }

    fn place(&mut self, rig: &Rig, time: f64, tracked: &Tracked, pose: &mut Pose, world: &mut [DAffine3]) {
        match &mut self.ground {
            Ground::Stance(stance) => {
                let seen = self.tracker.followed().filter(|_| !tracked.held);
                stance.step(time, seen, &tracked.place, &tracked.pose, world);
                pose_of(rig, world, pose);
            }
            Ground::Footing(footing) => {
                let carried = footing.step(time, tracked, |joint| world[joint].translation);
                carry(rig, pose, carried);
                world.iter_mut().for_each(|matrix| *matrix = carried * *matrix);
            }
            Ground::Place => {}
        }
    }
}

fn by_pairs(
    rig: &Rig,
    anatomy: &Anatomy,
    pairs: &[RigPair],
    params: &PerformerParams,
) -> Result<(Motion, Vec<LimbSet>), PuppetError> {
    let mut sources = Vec::with_capacity(pairs.len());
    for (pair, RigPair { body, .. }) in pairs.iter().enumerate() {
        if let Some(joint) = body.first_missing() {
            return Err(PuppetError::Untracked { pair, joint });
        }
        sources.push(params.tracker.paired(body));
    }
    let poses: Vec<Pose> = pairs.iter().map(|pair| pair.pose.clone()).collect();
    let blend = RigBlend::new(rig, &poses, &anatomy.attached)?;
    let mut parts = match params.whole_body {
        true => vec![LimbSet::BODY; blend.n_joints()],
        false => limb_parts(rig, anatomy, &sources, &blend),
    };
    for (joint, limbs) in &params.limbs {
        if let Some(part) = parts.get_mut(*joint) {
            *part = LimbSet::of(limbs);
        }
    }
    let puppeteer = Puppeteer::new(&sources, &parts, &params.puppeteer)?;
    Ok((Motion::Pairs { puppeteer, blend, interpolation: params.interpolation }, parts))
}

/// The part of the actor that moves each limb of the character: all joints of a limb have the same, or it would tear.
fn limb_parts(rig: &Rig, anatomy: &Anatomy, sources: &[CanonicalPose], blend: &RigBlend) -> Vec<LimbSet> {
    let limbs = anatomy.map.limbs(rig, &anatomy.attached);
    let n = limbs.iter().copied().max().map_or(0, |most| most + 1);
    let distance = |limb: usize, i: usize, k: usize| {
        let joints = (0..limbs.len()).filter(|&joint| limbs[joint] == limb);
        joints.map(|joint| blend.distance(joint, i, k)).sum::<f64>()
    };
    let of_limb = assign_parts(sources, n, distance);
    limbs.into_iter().map(|limb| of_limb[limb]).collect()
}

fn ground(rig: &Rig, anatomy: &Anatomy, has_pairs: bool, params: &PerformerParams) -> Ground {
    let GroundParams { scale, travel, feet, jumps, floor, .. } = params.ground;
    if !travel {
        return Ground::Place;
    }
    // Sheared matrices have no legs that could be bent; without a place of the actor the feet have to tell it.
    let can_plant = feet && jumps && params.interpolation == Interpolation::ForwardKinematics;
    let guided = (!has_pairs).then(|| Guided {
        is_exact: params.tracker.is_exact,
        slope: params.foot_slope.unwrap_or(FOOT_SLOPE),
    });
    let stance = can_plant
        .then(|| Stance::new(rig, &anatomy.map, &anatomy.attached, StanceParams { scale, floor, guided }))
        .flatten();
    match stance {
        Some(stance) => Ground::Stance(Box::new(stance)),
        None => {
            let is_foot = anatomy.map.feet();
            let rest = rig.rest_world();
            // Insects wave their legs with the actor's, who knows how far it got.
            let crawls = crawling(rig, anatomy).filter(|_| !has_pairs);
            let (carried, scale) = (crawls.is_some(), scale.or(crawls.map(|[scale, _]| scale)));
            let ground = GroundParams { scale, carried, ..params.ground };
            let points = rest.iter().map(|joint| joint.translation);
            Ground::Footing(Box::new(Footing::new(points, &is_foot, ground)))
        }
    }
}

/// Metres of an insect for one of the standard body, and how far its legs swing for a radian of the actor's, so that they stay
/// where they stand.
fn crawling(rig: &Rig, anatomy: &Anatomy) -> Option<[f64; 2]> {
    if anatomy.map.class != BodyClass::Arthropod {
        return None;
    }
    let rest = rig.rest_world();
    let is_leg = |k: usize| anatomy.map.joints[k].part == Part::Leg;
    let above = |k: usize| {
        let hangs_on = anatomy.attached.get(k).copied().flatten().or(rig.joints()[k].parent);
        hangs_on.filter(|&k| is_leg(k))
    };
    let legs = || (0..rig.n_joints()).filter(|&k| is_leg(k));
    let tips = legs().filter(|&k| !legs().any(|other| above(other) == Some(k)) && above(k).is_some());
    let reach = |tip: usize| {
        let mut first = tip;
        // A leg has no more joints than the skeleton.
        for _ in 0..rig.n_joints() {
            first = above(first).unwrap_or(first);
        }
        (rest[tip].translation - rest[first].translation).reject_from(anatomy.map.up).length()
    };
    let reaches: Vec<f64> = tips.map(reach).filter(|reach| *reach > 0.0).collect();
    let mean = reaches.iter().sum::<f64>() / reaches.len() as f64;
    let is_seen =
        |k: &usize| !matches!(anatomy.map.joints[*k].part, Part::Helper | Part::Root | Part::Unknown);
    let seen = || (0..rig.n_joints()).filter(is_seen);
    let heights = || seen().map(|k| rest[k].translation.dot(anatomy.map.up));
    let tall = heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min);
    let most = CRAWL_SHARE[0] * mean / LEG_METRES;
    // Wide legs under a low body take short steps.
    let scale = most.min(MAX_CRAWL * tall / STANDARD_HEIGHT_METRES);
    (!reaches.is_empty() && scale > 0.0).then(|| [scale, scale * LEG_METRES / mean])
}

/// The pose of joints in the world.
fn pose_of(rig: &Rig, world: &[DAffine3], pose: &mut Pose) {
    pose.locals.clear();
    for (joint, at) in rig.joints().iter().zip(world) {
        let local = joint.parent.map_or(*at, |parent| world[parent].inverse() * *at);
        pose.locals.push(Transform::from_affine(local).0);
    }
}
