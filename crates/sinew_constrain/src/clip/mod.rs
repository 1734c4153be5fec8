//! Whole clips on another body and another ground (G6).
//!
//! # Source
//! Abdelhay 2008, §3.2 and 5.2 (constraints between consecutive poses); Gleicher 1998. See [`plan`] and [`solve`].
//! # Cost
//! Linear in frames; about a dozen rounds of a banded factorisation.
//! # Limits
//! Rigs whose joints scale evenly. Feet stand on one footprint at a time; hands do not stand.

mod banded;
mod body;
mod contacts;
mod feet;
mod freedom;
mod knees;
mod measure;
mod motion;
mod plan;
mod prints;
mod retarget;
mod rules;
mod solve;
#[cfg(test)]
mod tests;

pub use body::{Body, Leg, flesh_below, guess_unit, scale_limbs};
pub use contacts::ContactParams;
pub use feet::{Part, Sole, SolePoint, Stance};
pub use measure::{Measured, Measures};
pub use motion::{Motion, World};
pub use rules::{FrameRule, Quantity, Relation};

use crate::{ConstrainError, Skeleton};
use feet::{find_segments, find_stances};
use freedom::{Freedoms, Kind};
use glam::DVec3;
use plan::{Plan, Scene, goal_points, plan};
use retarget::Retarget;
use sinew_geom::{
    Pose, Rig, Warnings,
    path::{Ground, Site},
};
use solve::{ClipSolver, PointGoal, Problem, Stage};
use std::ops::{ControlFlow, Range};

/// What to fit a clip to.
#[derive(Debug, Clone)]
pub struct RefitParams {
    /// How contacts are found.
    pub contacts: ContactParams,
    /// Names of the joints that carry feet; empty to find them by their names.
    pub feet: Vec<String>,
    /// The ground.
    pub ground: Ground,
    /// Whether the ground is laid out along the way of the clip, from where it starts; else along +Z of the world.
    /// Default: along the way.
    pub along_way: bool,
    /// Rules that hold over frames; joints are those of the target.
    pub rules: Vec<FrameRule>,
    /// Whether frames are fitted together; if not, each on its own, as most tools do. Default: together.
    pub together: bool,
    /// Flesh below the soles' joints, in metres, one number a leg; empty for none.
    pub flesh: Vec<f64>,
}

impl Default for RefitParams {
    fn default() -> Self {
        Self {
            contacts: ContactParams::default(),
            feet: Vec::new(),
            ground: Ground::default(),
            along_way: true,
            rules: Vec::new(),
            together: true,
            flesh: Vec::new(),
        }
    }
}

/// A fitted clip.
#[derive(Debug, Clone)]
pub struct Refit {
    /// The motion of the target.
    pub motion: Motion,
    /// The source's angles on the target's bones, set on the ground: what most tools give.
    pub copied: Motion,
    /// The ground where it was laid out.
    pub site: Site,
    /// When feet stand.
    pub stances: Vec<Stance>,
    /// Numbers.
    pub report: RefitReport,
}

/// Numbers of a fit.
#[derive(Debug, Clone, PartialEq)]
pub struct RefitReport {
    /// Of the source on its own ground, which is not known: no heights.
    pub source: Measures,
    /// Of copied angles.
    pub copied: Measures,
    /// Of the result.
    pub fitted: Measures,
    /// Greatest violation of a rule, in metres.
    pub rule_violation: f64,
    /// Rounds of the solver.
    pub rounds: usize,
    /// Ratio of leg lengths, target to source.
    pub scale: f64,
    /// Frames at which the clip jumps and was cut.
    pub cuts: Vec<usize>,
}

impl RefitReport {
    /// Jerk relative to the source; 1 where the source has none and the result neither.
    pub fn jerk_ratio(&self) -> f64 {
        match self.source.jerk {
            jerk if jerk > 1e-9 => self.fitted.jerk / jerk,
            _ => 1.0 + self.fitted.jerk,
        }
    }
}

/// Corrections that count as usual: of the pelvis in metres and radians, of other joints in radians.
const USUAL: [f64; 3] = [0.05, 0.1, 0.4];
/// Accelerations of corrections that count as usual, a second squared.
const USUAL_ACCELERATION: [f64; 3] = [1.0, 4.0, 12.0];
/// From soft to stiff.
const STAGES: [Stage; 3] = [
    Stage { held: 3e-3, free: 0.02, ground: 3e-3, rounds: 12 },
    Stage { held: 3e-4, free: 0.02, ground: 5e-4, rounds: 10 },
    Stage { held: 2e-5, free: 0.02, ground: 1e-4, rounds: 8 },
];

/// Fit a motion of one rig to another rig and ground. `progress` is told the share done and may stop it.
///
/// # Errors
/// Rigs that do not match or cannot be posed, feet that are not found, numbers that are not finite, or cancelling.
pub fn refit(
    (source, motion): (&Rig, &Motion),
    target: &Rig,
    params: &RefitParams,
    warnings: &mut Warnings,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Refit, ConstrainError> {
    Skeleton::from_rig(source)?;
    Skeleton::from_rig(target)?;
    check(source, motion)?;
    params.ground.check()?;
    let fit = Fitting::new(source, motion, target, params, warnings)?;
    fit.solve(params, warnings, progress)
}

fn check(rig: &Rig, motion: &Motion) -> Result<(), ConstrainError> {
    if motion.poses.is_empty() {
        return Err(ConstrainError::NoFrames);
    }
    for (frame, pose) in motion.poses.iter().enumerate() {
        if pose.locals.len() != rig.n_joints() {
            let (expected, actual) = (rig.n_joints(), pose.locals.len());
            return Err(ConstrainError::Length { what: "a pose of the clip", expected, actual });
        }
        if let Some(joint) = pose.locals.iter().position(|local| !local.is_finite()) {
            return Err(ConstrainError::BrokenFrame { frame, joint: rig.joints()[joint].name.clone() });
        }
    }
    Ok(())
}

/// All that is known before anything is solved.
struct Fitting<'a> {
    target: &'a Rig,
    motion: &'a Motion,
    body: Body,
    soles: Vec<Sole>,
    stances: Vec<Stance>,
    segments: Vec<Range<usize>>,
    site: Site,
    plan: Plan,
    /// Source angles on the target's bones with the planned pelvis.
    base: Vec<Pose>,
    worlds: Vec<World>,
    copied: Motion,
    source_measures: Measures,
    scale: f64,
}

impl<'a> Fitting<'a> {
    fn new(
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
        let (source_soles, stances) =
            find_stances(&source_body, &worlds, motion.fps, &segments, (leg, &params.contacts));
        if stances.is_empty() && !body.legs.is_empty() {
            warnings.push("no foot stands still anywhere in the clip, so none is held");
        }
        let measured = Measured {
            rig: source,
            body: &source_body,
            soles: &source_soles,
            stances: &stances,
            segments: &segments,
            site: None,
        };
        let source_measures = measured.measure(motion);
        let scale = retarget.scale();
        // The way begins where the source's does.
        let start = worlds[0].positions[source_body.pelvis] * DVec3::new(1.0, 0.0, 1.0);
        let copy: Vec<Pose> = motion
            .poses
            .iter()
            .zip(&worlds)
            .map(|(pose, world)| {
                retarget.pose(pose, world, start + (world.positions[source_body.pelvis] - start) * scale)
            })
            .collect();
        let copy_worlds: Vec<World> = copy.iter().map(|pose| World::of(target, pose)).collect();
        let soles = target_soles(&body, &source_soles, &copy_worlds, &stances, &retarget, &params.flesh);
        let site = lay_out(params, &copy_worlds, body.pelvis, scale * leg);
        let source_scene = Scene { body: &source_body, soles: &source_soles, worlds: &worlds };
        let copy_scene = Scene { body: &body, soles: &soles, worlds: &copy_worlds };
        let plan = plan(&source_scene, &copy_scene, &stances, &segments, (&site, scale, motion.fps));
        let placed = |t: usize, place: DVec3| retarget.pose(&motion.poses[t], &worlds[t], place);
        let base: Vec<Pose> = plan.pelvis.iter().enumerate().map(|(t, &place)| placed(t, place)).collect();
        let copied = copied_on_ground(&copy, &copy_worlds, (target, body.pelvis), &site, &stances, motion.fps, &soles, &body);
        let worlds = base.iter().map(|pose| World::of(target, pose)).collect();
        Ok(Self {
            target,
            motion,
            body,
            soles,
            stances,
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

    fn solve(
        self,
        params: &RefitParams,
        warnings: &mut Warnings,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Refit, ConstrainError> {
        let n_frames = self.base.len();
        let freedoms = self.freedoms(&params.rules);
        let n = freedoms.n;
        let (mut low, mut high) = (vec![0.0; n * n_frames], vec![0.0; n * n_frames]);
        for t in 0..n_frames {
            let frame = t * n..(t + 1) * n;
            freedoms.bounds(self.target, &self.base[t], &mut low[frame.clone()], &mut high[frame]);
        }
        knees::bound(self.target, &self.body, &freedoms, &self.worlds, &mut low, &mut high);
        let (bias, smooth) = self.weights(&freedoms, params.together);
        let goals: Vec<Vec<PointGoal>> = (0..n_frames).map(|t| self.goals(t)).collect();
        let problem = Problem {
            rig: self.target,
            base: &self.base,
            worlds: &self.worlds,
            freedoms: &freedoms,
            goals: &goals,
            site: Some(&self.site),
            rules: &params.rules,
            segments: &self.segments,
            fps: self.motion.fps,
            low: &low,
            high: &high,
            bias: &bias,
            smooth: &smooth,
        };
        let mut x: Vec<f64> = vec![0.0; n * n_frames];
        for i in 0..x.len() {
            x[i] = x[i].clamp(low[i], high[i]);
        }
        let mut solver = ClipSolver::new(n_frames, n);
        let mut rounds = 0;
        let total: usize = STAGES.iter().map(|stage| stage.rounds).sum();
        let mut before = 0;
        for stage in &STAGES {
            let mut tell = |round: usize| progress((before + round) as f64 / total as f64);
            rounds += solver.solve(&problem, stage, &mut x, &mut tell)?;
            before += stage.rounds;
        }
        let fitted = self.corrected(&freedoms, &x);
        Ok(self.finish(fitted, params, rounds, warnings))
    }

    fn freedoms(&self, rules: &[FrameRule]) -> Freedoms {
        let mut free = vec![(self.body.pelvis, Kind::Shift), (self.body.pelvis, Kind::Ball)];
        let mut tracked = vec![self.body.pelvis];
        for (leg, sole) in self.body.legs.iter().zip(&self.soles) {
            free.push((leg.hip, Kind::Ball));
            free.push((leg.knee, Kind::Hinge(knees::axis(leg, sole, &self.worlds))));
            free.push((leg.ankle, Kind::Ball));
            if let (Some(toe), Some(_)) = (leg.toe, leg.tip) {
                free.push((toe, Kind::Hinge(knees::toe_axis(leg, toe, sole, &self.worlds))));
            }
            tracked.extend([leg.ankle].into_iter().chain(leg.toe));
        }
        for rule in rules {
            let joints = rule.joints();
            let top = body::common_ancestor(self.target, joints.iter().copied());
            for &joint in &joints {
                // What lies between a joint and what it shares with the others.
                let chain = body::ancestry(self.target, joint).skip(1).take_while(|&j| Some(j) != top);
                free.extend(chain.filter(|&j| j != self.body.pelvis).map(|j| (j, Kind::Ball)));
                tracked.push(joint);
            }
        }
        Freedoms::new(self.target, &free, &tracked)
    }

    fn weights(&self, freedoms: &Freedoms, together: bool) -> (Vec<f64>, Vec<f64>) {
        let (mut bias, mut smooth) = (vec![0.0; freedoms.n], vec![0.0; freedoms.n]);
        for free in &freedoms.joints {
            let class = match free.kind {
                Kind::Shift => 0,
                _ if free.joint == self.body.pelvis => 1,
                _ => 2,
            };
            // Lengths are those of a body, not of the world.
            let unit = if class == 0 { self.scale_of_body() } else { 1.0 };
            for d in free.first..free.first + free.n {
                bias[d] = 1.0 / (USUAL[class] * unit);
                smooth[d] = if together { 1.0 / (USUAL_ACCELERATION[class] * unit) } else { 0.0 };
            }
        }
        (bias, smooth)
    }

    /// Length of a leg relative to a usual one.
    fn scale_of_body(&self) -> f64 {
        self.body.leg_length(self.target) / 0.85
    }

    fn goals(&self, t: usize) -> Vec<PointGoal> {
        let mut goals = Vec::new();
        for ((leg, sole), plan) in self.body.legs.iter().zip(&self.soles).zip(&self.plan.feet) {
            let goal = &plan[t];
            let places = goal_points(goal, sole, (&self.worlds[t], leg.ankle));
            for (point, (part, place)) in sole.points.iter().zip(places) {
                let is_held = match part {
                    Part::Heel => goal.holds_heel,
                    Part::Ball => goal.holds_ball,
                    Part::Tip => false,
                };
                let target = if is_held { goal.print.place(sole, point.local) } else { place };
                goals.push(PointGoal { joint: point.joint, local: point.local, target, is_held });
            }
        }
        goals
    }

    fn corrected(&self, freedoms: &Freedoms, x: &[f64]) -> Vec<Pose> {
        let shift = freedoms.joints.iter().find(|free| free.kind == Kind::Shift).map_or(0, |free| free.first);
        let mut poses = Vec::with_capacity(self.base.len());
        for (t, base) in self.base.iter().enumerate() {
            let x = &x[t * freedoms.n..][..freedoms.n];
            let mut pose = base.clone();
            freedoms.apply(self.target, base, x, &mut pose);
            let by = DVec3::new(x[shift], x[shift + 1], x[shift + 2]);
            pose.locals[self.body.pelvis].translation += self.into_parent(t, by);
            poses.push(pose);
        }
        poses
    }

    /// A shift of the world in the space of the pelvis' parent.
    fn into_parent(&self, t: usize, by: DVec3) -> DVec3 {
        match self.target.joints()[self.body.pelvis].parent {
            Some(parent) => {
                let world = &self.worlds[t];
                world.rotations[parent].inverse() * by / world.scale(parent)
            }
            None => by,
        }
    }

    fn finish(self, poses: Vec<Pose>, params: &RefitParams, rounds: usize, warnings: &mut Warnings) -> Refit {
        let motion = Motion { fps: self.motion.fps, poses };
        let measured = Measured {
            rig: self.target,
            body: &self.body,
            soles: &self.soles,
            stances: &self.stances,
            segments: &self.segments,
            site: Some(&self.site),
        };
        let worst = |rule: &FrameRule| {
            let frames = rule.frames.start..rule.frames.end.min(motion.n_frames());
            frames.map(|t| rule.violation(&World::of(self.target, &motion.poses[t]))).fold(0.0, f64::max)
        };
        let report = RefitReport {
            source: self.source_measures,
            copied: measured.measure(&self.copied),
            fitted: measured.measure(&motion),
            rule_violation: params.rules.iter().map(worst).fold(0.0, f64::max),
            rounds,
            scale: self.scale,
            cuts: self.segments.iter().skip(1).map(|segment| segment.start).collect(),
        };
        if let Some(first) = report.cuts.first() {
            let n = report.cuts.len();
            warnings.push(format!("the clip jumps at {n} frames, first at frame {first}; it is not smoothed there"));
        }
        Refit { motion, copied: self.copied, site: self.site, stances: self.stances, report }
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

fn target_soles(
    body: &Body,
    source: &[Sole],
    worlds: &[World],
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
        let measured = Sole::measure(leg, worlds, &flat, up);
        soles.push(measured.lowered(flesh.get(index).copied().unwrap_or(0.0)));
    }
    soles
}

/// Where the ground lies: from the start of the way along it, or as the world is.
fn lay_out(params: &RefitParams, worlds: &[World], pelvis: usize, leg: f64) -> Site {
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

/// Copied angles with the pelvis raised by the ground below it, and all so high that feet stand on average: what
/// tools do that know nothing of contacts.
#[allow(clippy::too_many_arguments)] // Private, and every one is a different thing.
fn copied_on_ground(
    copy: &[Pose],
    worlds: &[World],
    (rig, pelvis): (&Rig, usize),
    site: &Site,
    stances: &[Stance],
    fps: f64,
    soles: &[Sole],
    body: &Body,
) -> Motion {
    let below = |t: usize| site.height(worlds[t].positions[pelvis].x, worlds[t].positions[pelvis].z);
    let reach = (0.25 * fps).round() as usize;
    let smooth = |t: usize| {
        let window = t.saturating_sub(reach)..(t + reach + 1).min(copy.len());
        window.clone().map(below).sum::<f64>() / window.len() as f64
    };
    let mut floors: Vec<f64> = Vec::new();
    for stance in stances {
        let (leg, sole) = (&body.legs[stance.leg], &soles[stance.leg]);
        floors.extend(stance.frames.clone().map(|t| worlds[t].point(leg.ankle, sole.ball).y));
    }
    let floor = floors.iter().sum::<f64>() / floors.len().max(1) as f64;
    let poses = copy.iter().enumerate().map(|(t, pose)| {
        let mut pose = pose.clone();
        let by = DVec3::Y * (smooth(t) - floor);
        pose.locals[pelvis].translation += match rig.joints()[pelvis].parent {
            Some(parent) => worlds[t].rotations[parent].inverse() * by / worlds[t].scale(parent),
            None => by,
        };
        pose
    });
    Motion { fps, poses: poses.collect() }
}
