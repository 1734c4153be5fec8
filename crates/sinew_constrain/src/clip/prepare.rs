//! Preparation of a fit: bodies matched, contacts detected, the ground placed, goals planned.

use super::{
    Body, JointFrames, Leg, Measures, Motion, MotionMeasurer, RefitParams, Sole, Stance,
    bodies::Bodies,
    contacts::median,
    feet::find_segments,
    footprints::Footprint,
    hands::{BodyContacts, Support, find_standing},
    motion,
    plan::{BodyMotion, MotionPlan, PlanContext, plan},
    quality::ComparedClip,
    reach,
    retarget::Retarget,
    touching::{TouchPoint, find_touching, own_depths},
};
use crate::ConstrainError;
use glam::DVec3;
use sinew_geom::{
    Pose, Rig, Warnings,
    path::{Ground, PlacedGround},
};
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
    pub site: PlacedGround,
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
    /// Whether the height of the ground is known everywhere.
    pub has_ground: bool,
    /// Whether it is not that of the clip.
    pub is_other_ground: bool,
    /// Height of the ground of the source and of the target.
    pub ground: Option<[f64; 2]>,
    /// Whether planted feet do not move at all.
    pub is_still: bool,
    /// Points of the surface near the ground, frame by frame.
    pub touching: Vec<Vec<TouchPoint>>,
    /// How deep the clip's own body is in its ground, frame by frame, at the size of the target.
    pub own_depths: Vec<f64>,
    /// The clip, to compare with.
    pub reference: ComparedClip,
}

/// A planted hand of the new body.
pub(super) struct PlantedHand {
    /// Shoulder, elbow and hand.
    pub arm: Leg,
    /// When.
    pub support: Support,
    /// Where the hand's joint should be, in every frame.
    pub places: Vec<DVec3>,
}

impl<'a> Prepared<'a> {
    pub fn new(
        bodies: &'a Bodies,
        params: &RefitParams,
        warnings: &mut Warnings,
    ) -> Result<Self, ConstrainError> {
        let (source, target, motion) = (&bodies.source.rig, &bodies.target.rig, &bodies.motion);
        let (mut source_body, mut body) = (bodies.source.body.clone(), bodies.target.body.clone());
        let mut retarget = Retarget::new(
            (&bodies.source.mapped(), &source_body),
            (&bodies.target.mapped(), &body),
            &bodies.facing,
            warnings,
        )?;
        pair_legs(&mut body, &mut source_body, &retarget);
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
        level_soles(&mut retarget, (&source_body, &source_soles, &worlds), &body, &stances, bodies);
        warn_without_feet(&body, &stances, warnings);
        let contacts = (&source_soles[..], &stances[..], &supports[..]);
        let source_measures = measure_source(bodies, &source_body, contacts, &segments);
        let scale = retarget.scale();
        let [source_skin, skin] = [&bodies.source.skin, &bodies.target.skin].map(Option::as_ref);
        let source_scene = BodyMotion::new((source, &source_body), &source_soles, &worlds, source_skin);
        let level = find_level(&source_scene, &stances, leg);
        let drop = hidden_soles(bodies, level, leg);
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
        let soles = target_soles(&body, &source_soles, &copy_worlds, &retarget);
        let own = level.map(|level| (level - drop) * scale);
        let site = lay_out(params, own, &copy_worlds, body.pelvis, scale * leg);
        let is_other = params.ground.is_some();
        let begins = site.height(start.x, start.z);
        if let Some(level) = level.filter(|_| is_other) {
            report_height([level * scale, begins], 0.02 * leg * scale, warnings);
        }
        let copy_scene = BodyMotion::new((target, &body), &soles, &copy_worlds, skin);
        let context = PlanContext {
            site: is_other.then_some(&site),
            level,
            drop,
            scale,
            fps: motion.fps,
            is_still: params.still_feet,
        };
        let props = props(&supports, &source_scene, &copy_scene, &retarget, &context);
        let mut plan = plan(&source_scene, &copy_scene, &stances, &segments, &context);
        if !is_other {
            reach::lower(&mut plan, &source_scene, &copy_scene, &segments, motion.fps);
        }
        let base = all(&|t| plan.pelvis[t]);
        let raised = raised(&copy_scene, &stances, &site, motion.fps);
        let copied = Motion { fps: motion.fps, poses: all(&|t| scaled(t) + DVec3::Y * raised[t]) };
        let own_depths = own_depths(&worlds, bodies.source.skin.as_ref(), level, scale);
        let reference = ComparedClip::new(bodies, &retarget, worlds, copy_worlds);
        let worlds: Vec<JointFrames> = base.iter().map(|pose| JointFrames::of(target, pose)).collect();
        let touching = find_touching(bodies.target.skin.as_ref(), &worlds, (&site, scale * leg), &own_depths);
        Ok(Self {
            touching,
            own_depths,
            reference,
            target,
            motion,
            body,
            soles,
            stances,
            props,
            segments,
            has_ground: is_other || level.is_some(),
            is_other_ground: is_other,
            ground: level.map(|level| [level, begins]),
            site,
            plan,
            base,
            worlds,
            copied,
            source_measures,
            scale,
            is_still: params.still_feet,
        })
    }
}

/// Say that nothing can be held to the ground, and why.
fn warn_without_feet(body: &Body, stances: &[Stance], warnings: &mut Warnings) {
    if body.legs.is_empty() {
        warnings.push("no feet were found, so nothing is held to the ground; name them with --feet");
    } else if stances.is_empty() {
        warnings.push("no foot is planted anywhere in the clip, so none is held");
    }
}

/// The source as it is.
fn measure_source(
    bodies: &Bodies,
    body: &Body,
    (soles, stances, supports): (&[Sole], &[Stance], &[Support]),
    segments: &[Range<usize>],
) -> Measures {
    let rig = &bodies.source.rig;
    MotionMeasurer { rig, body, soles, stances, supports, segments, site: None }.measure(&bodies.motion)
}

/// A skeleton without a surface stands on soles that are not seen: its joints are as high as the soles are thick. That height, or
/// zero.
fn hidden_soles(bodies: &Bodies, level: Option<f64>, leg: f64) -> f64 {
    let is_bare = bodies.source.skin.is_none() && bodies.target.skin.is_some();
    level.filter(|level| is_bare && (0.0..SOLE_LEG_LENGTHS * leg).contains(level)).unwrap_or(0.0)
}

/// Say that a body is raised or lowered to another ground.
fn report_height([from, to]: [f64; 2], least: f64, warnings: &mut Warnings) {
    if (from - to).abs() > least {
        let [from, to] = [100.0 * from, 100.0 * to];
        warnings.push(format!(
            "the clip stands at a height of {from:.1} cm, the ground begins at {to:.1} cm: it is moved there"
        ));
    }
}

/// Feet of the target are level where the source's are: its soles are flat in the pose its map was read from.
fn level_soles(
    retarget: &mut Retarget,
    (source, soles, worlds): (&Body, &[Sole], &[JointFrames]),
    body: &Body,
    stances: &[Stance],
    bodies: &Bodies,
) {
    let map = &bodies.target.map;
    let standing = JointFrames::of(&bodies.target.rig, &map.pose);
    for (index, (leg, (own, sole))) in body.legs.iter().zip(source.legs.iter().zip(soles)).enumerate() {
        if !stances.iter().any(|stance| stance.leg == index && !stance.flat().is_empty()) {
            continue;
        }
        let up = sole.frame * DVec3::Y;
        retarget.level(leg.ankle, up, standing.rotations[leg.ankle].inverse() * map.up);
        if let (Some(toe), Some(theirs)) = (leg.toe, own.toe)
            && retarget.source_of(toe) == Some(theirs)
        {
            let flat =
                |&t: &usize| worlds[t].rotations[theirs].inverse() * (worlds[t].rotations[own.ankle] * up);
            let up: DVec3 = sole.flat.iter().map(flat).sum();
            retarget.level(toe, up, standing.rotations[toe].inverse() * map.up);
        }
    }
}

/// Height of the joints of a foot above its sole that is usual, in leg lengths.
const SOLE_LEG_LENGTHS: f64 = 0.13;
/// Differences in height of level ground, in leg lengths.
const LEVEL_LEG_LENGTHS: f64 = 0.07;
/// Share of the time in which feet stand that must be spent on one level.
const LEVEL_SHARE: f64 = 0.8;

/// Height of the ground on which feet stand; nothing if none do, or not on a level.
fn find_level(source: &BodyMotion, stances: &[Stance], leg: f64) -> Option<f64> {
    let print = |stance: &Stance| {
        let (leg, sole) = (&source.body.legs[stance.leg], &source.soles[stance.leg]);
        (Footprint::of_stance(stance, leg, sole, source.worlds).origin.y, stance.frames.len())
    };
    let mut prints: Vec<(f64, usize)> = stances.iter().map(print).collect();
    prints.sort_by(|a, b| a.0.total_cmp(&b.0));
    let total: usize = prints.iter().map(|print| print.1).sum();
    let mut before = 0;
    let middle = prints.iter().find(|print| {
        before += print.1;
        2 * before >= total
    });
    let usual = usual_low(source)?;
    // Feet that are still in the air do not say where the ground is.
    let Some(middle) = middle.filter(|middle| middle.0 - usual < LEVEL_LEG_LENGTHS * leg) else {
        return Some(usual);
    };
    let is_near = |print: &&(f64, usize)| (print.0 - middle.0).abs() < LEVEL_LEG_LENGTHS * leg;
    let near: usize = prints.iter().filter(is_near).map(|print| print.1).sum();
    (near as f64 >= LEVEL_SHARE * total as f64).then_some(middle.0)
}

/// How low the lowest point of the feet usually gets.
fn usual_low(source: &BodyMotion) -> Option<f64> {
    let low = |world: &JointFrames| {
        let points = source.surfaces.iter().flatten();
        points.map(|(joint, local)| world.point(*joint, *local).y).fold(f64::INFINITY, f64::min)
    };
    let mut lows: Vec<f64> = source.worlds.iter().map(low).filter(|low| low.is_finite()).collect();
    lows.sort_by(f64::total_cmp);
    lows.get(lows.len() / 5).copied()
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

/// Where hands of the new body are planted: on the ground below their copied positions, moving as the source's.
fn props(
    supports: &[Support],
    source: &BodyMotion,
    copy: &BodyMotion,
    retarget: &Retarget,
    context: &PlanContext,
) -> Vec<PlantedHand> {
    let prop = |support: &Support| {
        let arm = copy.body.arms.iter().find(|arm| retarget.source_of(arm.ankle) == Some(support.hand))?;
        let path = |worlds: &[JointFrames], joint: usize| -> Vec<DVec3> {
            worlds[support.frames.clone()].iter().map(|world| world.positions[joint]).collect()
        };
        let from = median(&path(source.worlds, support.hand));
        let mut place = median(&path(copy.worlds, arm.ankle));
        place.y = match context.site {
            Some(site) => site.height(place.x, place.z) + support.height * context.scale,
            None => (from.y - context.drop) * context.scale,
        };
        let moved = |world: &JointFrames| place + (world.positions[support.hand] - from) * context.scale;
        let places = source.worlds.iter().map(moved).collect();
        Some(PlantedHand {
            arm: arm.clone(),
            support: Support { hand: arm.ankle, ..support.clone() },
            places,
        })
    };
    supports.iter().filter_map(prop).collect()
}

/// Soles of the new body, measured in the same frames as the source's.
fn target_soles(body: &Body, source: &[Sole], worlds: &[JointFrames], retarget: &Retarget) -> Vec<Sole> {
    let sole = |(leg, sole): (&Leg, &Sole)| {
        let up = retarget.turn(leg.ankle) * (sole.frame * DVec3::Y);
        Sole::measure(leg, worlds, &sole.flat, up, leg.flesh)
    };
    body.legs.iter().zip(source).map(sole).collect()
}

/// Placement of the ground: from the start of the path along it, or as the world is. The clip's own ground is level.
fn lay_out(
    params: &RefitParams,
    own: Option<f64>,
    worlds: &[JointFrames],
    pelvis: usize,
    leg: f64,
) -> PlacedGround {
    let Some(ground) = &params.ground else { return PlacedGround::of(Ground::Flat(own.unwrap_or(0.0))) };
    let mut site = PlacedGround::of(ground.clone());
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
fn raised(copy: &BodyMotion, stances: &[Stance], site: &PlacedGround, fps: f64) -> Vec<f64> {
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
