//! Preparation of a fit: bodies matched, contacts detected, the ground placed, goals planned.

use super::{
    Body, JointFrames, Leg, Measures, Motion, MotionMeasurer, RefitParams, Sole, Stance, body,
    contacts::median,
    feet::find_segments,
    hands::{BodyContacts, Support, find_standing},
    motion,
    plan::{BodyMotion, MotionPlan, plan},
    retarget::Retarget,
};
use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::{Pose, Rig, Warnings, path::Site};
use std::ops::Range;

/// Everything that is known before solving.
pub(super) struct Prepared<'a> {
    /// The new body.
    pub target: &'a Rig,
    /// The clip.
    pub motion: &'a Motion,
    /// Pelvis and legs of the new body.
    pub body: Body,
    /// Its soles.
    pub soles: Vec<Sole>,
    /// When feet are planted.
    pub stances: Vec<Stance>,
    /// When hands are planted, and where.
    pub props: Vec<PlantedHand>,
    /// Segments without jumps.
    pub segments: Vec<Range<usize>>,
    /// The ground as placed.
    pub site: Site,
    /// Where feet and pelvis should be.
    pub plan: MotionPlan,
    /// Source angles on the target's bones with the planned pelvis.
    pub base: Vec<Pose>,
    /// Where its joints are.
    pub worlds: Vec<JointFrames>,
    /// The source's angles, placed on the ground.
    pub copied: Motion,
    /// Measurements of the source.
    pub source_measures: Measures,
    /// Ratio of leg lengths.
    pub scale: f64,
}

/// A planted hand of the new body.
pub(super) struct PlantedHand {
    /// Shoulder, elbow and hand.
    pub arm: Leg,
    /// When.
    pub support: Support,
    /// Where the hand's joint should be.
    pub place: DVec3,
}

impl<'a> Prepared<'a> {
    pub fn new(
        source: &'a Rig,
        motion: &'a Motion,
        target: &'a Rig,
        params: &RefitParams,
        warnings: &mut Warnings,
    ) -> Result<Self, ConstrainError> {
        let mut body = Body::find(target, &params.feet)?;
        let mut source_body = Body::find(source, &params.feet)?;
        let retarget = Retarget::new((source, &source_body), (target, &body), warnings)?;
        pair_legs(&mut body, &mut source_body, &retarget);
        if body.legs.is_empty() {
            warnings.push("no feet were found, so nothing is held to the ground; name them with --feet");
        }
        let leg = source_body.leg_length(source);
        let worlds = motion::worlds(source, motion);
        let segments = find_segments(motion, &worlds, source_body.pelvis, leg);
        let BodyContacts { soles: source_soles, stances, supports } = find_standing(
            params.given.as_deref(),
            (source, &source_body),
            &worlds,
            (motion.fps, &segments),
            (leg, &params.contacts),
        )?;
        if stances.is_empty() && !body.legs.is_empty() {
            warnings.push("no foot is planted anywhere in the clip, so none is held");
        }
        let measured = MotionMeasurer {
            rig: source,
            body: &source_body,
            soles: &source_soles,
            stances: &stances,
            supports: &supports,
            segments: &segments,
            site: None,
        };
        let source_measures = measured.measure(motion);
        let scale = retarget.scale();
        // The path begins where the source's does.
        let at = |t: usize| worlds[t].positions[source_body.pelvis];
        let start = at(0) * DVec3::new(1.0, 0.0, 1.0);
        let placed = |t: usize, place: DVec3| retarget.pose(&motion.poses[t], &worlds[t], place);
        let all = |place: &dyn Fn(usize) -> DVec3| -> Vec<Pose> {
            (0..worlds.len()).map(|t| placed(t, place(t))).collect()
        };
        let scaled = |t: usize| start + (at(t) - start) * scale;
        let copy = all(&scaled);
        let copy_worlds: Vec<JointFrames> = copy.iter().map(|pose| JointFrames::of(target, pose)).collect();
        let soles = target_soles(&body, &source_soles, &copy_worlds, &stances, &retarget, &params.flesh);
        let site = lay_out(params, &copy_worlds, body.pelvis, scale * leg);
        let props = props(&supports, (target, &body), &retarget, &copy_worlds, &site);
        let source_scene = BodyMotion { body: &source_body, soles: &source_soles, worlds: &worlds };
        let copy_scene = BodyMotion { body: &body, soles: &soles, worlds: &copy_worlds };
        let plan = plan(&source_scene, &copy_scene, &stances, &segments, (&site, scale, motion.fps));
        // The source's soles were measured at its joints; flesh below the target's lifts it.
        let flesh = params.flesh.iter().sum::<f64>() / params.flesh.len().max(1) as f64;
        let base = all(&|t| plan.pelvis[t] + DVec3::Y * flesh);
        let raised = raised(&copy_scene, &stances, &site, motion.fps);
        let copied = Motion { fps: motion.fps, poses: all(&|t| scaled(t) + DVec3::Y * raised[t]) };
        let worlds = base.iter().map(|pose| JointFrames::of(target, pose)).collect();
        Ok(Self {
            target,
            motion,
            body,
            soles,
            stances,
            props,
            segments,
            site,
            plan,
            base,
            worlds,
            copied,
            source_measures,
            scale,
        })
    }
}

/// Keep the legs that both bodies have, in the same order.
fn pair_legs(target: &mut Body, source: &mut Body, retarget: &Retarget) {
    let partner = |leg: &Leg| {
        source.legs.iter().find(|other| retarget.source_of(leg.ankle) == Some(other.ankle)).cloned()
    };
    let pairs: Vec<(Leg, Leg)> =
        target.legs.iter().filter_map(|leg| partner(leg).map(|other| (leg.clone(), other))).collect();
    (target.legs, source.legs) = pairs.into_iter().unzip();
    if let Some(pelvis) = retarget.source_of(target.pelvis) {
        source.pelvis = pelvis;
    }
}

/// Where hands of the new body are planted: on the ground below their copied positions.
fn props(
    supports: &[Support],
    (target, body): (&Rig, &Body),
    retarget: &Retarget,
    worlds: &[JointFrames],
    site: &Site,
) -> Vec<PlantedHand> {
    let arms = body::arms(target, body);
    let prop = |support: &Support| {
        let arm = arms.iter().find(|arm| retarget.source_of(arm.ankle) == Some(support.hand))?;
        let path: Vec<DVec3> =
            worlds[support.frames.clone()].iter().map(|world| world.positions[arm.ankle]).collect();
        let mut place = median(&path);
        place.y = site.height(place.x, place.z) + support.height * retarget.scale();
        Some(PlantedHand { arm: arm.clone(), support: Support { hand: arm.ankle, ..support.clone() }, place })
    };
    supports.iter().filter_map(prop).collect()
}

fn target_soles(
    body: &Body,
    source: &[Sole],
    worlds: &[JointFrames],
    stances: &[Stance],
    retarget: &Retarget,
    flesh: &[f64],
) -> Vec<Sole> {
    let mut soles = Vec::new();
    for (index, (leg, sole)) in body.legs.iter().zip(source).enumerate() {
        let mine = || stances.iter().filter(|stance| stance.leg == index);
        let mut flat: Vec<usize> = mine().flat_map(|stance| stance.flat()).collect();
        if flat.is_empty() {
            flat.extend(mine().flat_map(|stance| stance.frames.clone()));
        }
        if flat.is_empty() {
            flat.push(0);
        }
        let up = retarget.turn(leg.ankle) * (sole.frame * DVec3::Y);
        let depth = flesh.get(index).copied().unwrap_or(0.0);
        soles.push(Sole::measure(leg, worlds, &flat, up, depth));
    }
    soles
}

/// Placement of the ground: from the start of the path along it, or as the world is.
fn lay_out(params: &RefitParams, worlds: &[JointFrames], pelvis: usize, leg: f64) -> Site {
    let mut site = Site::of(params.ground.clone());
    if params.along_way {
        let (from, to) = (worlds[0].positions[pelvis], worlds[worlds.len() - 1].positions[pelvis]);
        site.origin = [from.x, from.z];
        let way = to - from;
        if way.x.hypot(way.z) > 0.5 * leg {
            site.heading = way.x.atan2(way.z);
        }
    }
    site
}

/// Height by which tools without contacts raise a body: by the ground below it, so that its feet are on the ground on
/// average.
fn raised(copy: &BodyMotion, stances: &[Stance], site: &Site, fps: f64) -> Vec<f64> {
    let below = |world: &JointFrames| {
        let at = world.positions[copy.body.pelvis];
        site.height(at.x, at.z)
    };
    let mut floors: Vec<f64> = Vec::new();
    for stance in stances {
        let (leg, sole) = (&copy.body.legs[stance.leg], &copy.soles[stance.leg]);
        floors.extend(copy.worlds[stance.frames.clone()].iter().map(|w| w.point(leg.ankle, sole.ball).y));
    }
    let floor = floors.iter().sum::<f64>() / floors.len().max(1) as f64;
    let reach = (0.25 * fps).round() as usize;
    let around = |t: usize| &copy.worlds[t.saturating_sub(reach)..(t + reach + 1).min(copy.worlds.len())];
    let mean = |t: usize| around(t).iter().map(below).sum::<f64>() / around(t).len() as f64;
    (0..copy.worlds.len()).map(|t| mean(t) - floor).collect()
}
