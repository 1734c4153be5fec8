//! From plan to motion: unknowns, weights, and the stages of the solver.

use super::{
    BrokenRule, FootPart, FrameRule, JointFrames, Leg, Motion, MotionMeasurer, Refit, RefitParams,
    RefitReport, Stance, Support, body,
    corrections::{CorrectionKind, Corrections},
    knees,
    plan::{FootGoal, goal_points},
    prepare::{PlantedHand, Prepared},
    rules, smooth,
    solve::{ClipProblem, ClipSolver, PointGoal, Stiffness},
    touching::{TouchPoint, deepest, inside},
};
use crate::ConstrainError;
use glam::{DQuat, DVec3};
use sinew_geom::{Pose, Warnings};
use std::ops::ControlFlow;

/// Typical corrections: of the pelvis in metres and radians, of other joints in radians.
const TYPICAL_CORRECTION: [f64; 3] = [0.05, 0.1, 0.4];
/// Typical accelerations of corrections, per second squared.
const TYPICAL_ACCELERATION: [f64; 3] = [1.0, 4.0, 12.0];
/// Typical speeds of corrections, per second: what must change begins early enough not to be seen as a twitch.
const TYPICAL_SPEED: [f64; 3] = [0.3, 0.5, 1.0];
/// From these heights above the ground, in leg lengths, a foot follows the ground, and its leg's directions.
const NEAR_GROUND: [f64; 2] = [0.06, 0.35];
/// How much more compliant the path of a foot is up there.
const AIRBORNE_COMPLIANCE: f64 = 10.0;
/// From soft to stiff. Feet in the air follow their goals nearly as closely as planted ones, so that they do not jump when they
/// touch down.
const STAGES: [Stiffness; 3] = [
    Stiffness { held: 3e-3, free: 0.01, ground: 3e-3, rounds: 8 },
    Stiffness { held: 1e-3, free: 0.006, ground: 1e-3, rounds: 6 },
    Stiffness { held: 2e-4, free: 0.004, ground: 4e-4, rounds: 8 },
];
/// On another ground, and for feet that must not move at all.
const GROUND_STAGES: [Stiffness; 3] = [
    Stiffness { held: 3e-3, free: 0.02, ground: 3e-3, rounds: 8 },
    Stiffness { held: 3e-4, free: 0.02, ground: 5e-4, rounds: 6 },
    Stiffness { held: 2e-5, free: 0.02, ground: 1e-4, rounds: 10 },
];

/// Greatest correction of the pelvis' orientation, on the clip's ground and on another.
const MAX_PELVIS_TURN_RADIANS: [f64; 2] = [0.2, 0.6];

/// How much more compliant hands are than feet where both cannot be planted.
const HAND_COMPLIANCE: f64 = 10.0;
/// Seconds over which a hand is brought to its place.
const HAND_FADE_SECS: f64 = 0.3;

/// The final stage, repeated at most this many times while a sole is deeper in the ground than this, in metres.
const FINAL_STAGE: Stiffness = Stiffness { held: 2e-5, free: 0.02, ground: 3e-5, rounds: 8 };
const MAX_FINAL_PASSES: usize = 3;
const MAX_DEPTH_METRES: f64 = 0.002;

impl Prepared<'_> {
    /// Solve it, from soft to stiff.
    pub fn solve(
        self,
        params: &RefitParams,
        warnings: &mut Warnings,
        progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
    ) -> Result<Refit, ConstrainError> {
        let n_frames = self.base.len();
        let corrections = self.corrections(&params.rules);
        let n = corrections.n;
        let (mut low, mut high) = (vec![0.0; n * n_frames], vec![0.0; n * n_frames]);
        for t in 0..n_frames {
            let frame = t * n..(t + 1) * n;
            corrections.bounds(self.target, &self.base[t], &mut low[frame.clone()], &mut high[frame]);
        }
        self.bound_pelvis(&corrections, &mut low, &mut high);
        knees::bound(&self.body, &corrections, &self.worlds, &mut low, &mut high);
        let [bias, slow, smooth] = self.weights(&corrections, params);
        let goals: Vec<Vec<PointGoal>> = (0..n_frames).map(|t| self.goals(t)).collect();
        let mut rules = params.rules.clone();
        rules::anchor(&mut rules, &self.worlds, &self.site);
        let active = self.active(&rules);
        let problem = ClipProblem {
            rig: self.target,
            base: &self.base,
            worlds: &self.worlds,
            corrections: &corrections,
            goals: &goals,
            touching: &self.touching,
            site: Some(&self.site).filter(|_| self.has_ground),
            rules: &rules,
            active: &active,
            segments: &self.segments,
            fps: self.motion.fps,
            unit: self.scale_of_body(),
            low: &low,
            high: &high,
            bias: &bias,
            smooth: &smooth,
            slow: &slow,
        };
        let mut x: Vec<f64> = vec![0.0; n * n_frames];
        let keep_within = |x: &mut [f64]| {
            for (x, (low, high)) in x.iter_mut().zip(low.iter().zip(&high)) {
                *x = x.clamp(*low, *high);
            }
        };
        keep_within(&mut x);
        let mut solver = ClipSolver::new(&problem);
        let unit = self.scale_of_body();
        let mut rounds = 0;
        let stages = if self.is_still || self.is_other_ground { &GROUND_STAGES } else { &STAGES };
        let total: usize = stages.iter().map(|stage| stage.rounds).sum();
        let mut before = 0;
        for stage in stages {
            let mut report = |round: usize| progress((before + round) as f64 / total as f64);
            rounds += solver.solve(&problem, &stage.of_size(unit), &mut x, &mut report)?;
            before += stage.rounds;
        }
        let supports: Vec<Support> = self.props.iter().map(|prop| prop.support.clone()).collect();
        if params.together && params.rules.is_empty() && !self.is_still {
            smooth::smooth(&mut x, n, &self.segments, self.motion.fps);
            keep_within(&mut x);
        }
        let mut fitted = self.corrected(&corrections, &x);
        for _ in 0..MAX_FINAL_PASSES {
            if self.deepest(&fitted, &goals) <= MAX_DEPTH_METRES * unit {
                break;
            }
            rounds += solver.solve(&problem, &FINAL_STAGE.of_size(unit), &mut x, &mut |_| progress(1.0))?;
            fitted = self.corrected(&corrections, &x);
        }
        Ok(self.finish(fitted, supports, (&rules, &active), rounds, warnings))
    }

    /// A body does not tip over to reach a footprint.
    fn bound_pelvis(&self, corrections: &Corrections, low: &mut [f64], high: &mut [f64]) {
        let most = MAX_PELVIS_TURN_RADIANS[usize::from(self.is_other_ground)];
        let is_turn = |kind| matches!(kind, CorrectionKind::Ball);
        let turns =
            corrections.joints.iter().filter(|free| free.joint == self.body.pelvis && is_turn(free.kind));
        for d in turns.flat_map(|free| free.first..free.first + free.n) {
            for at in (d..low.len()).step_by(corrections.n) {
                (low[at], high[at]) = (-most, most);
            }
        }
    }

    /// Depth of the deepest free point of a sole in the ground, beyond the source's own.
    fn deepest(&self, poses: &[Pose], goals: &[Vec<PointGoal>]) -> f64 {
        let depth = |(pose, goals): (&Pose, &Vec<PointGoal>)| {
            let world = JointFrames::of(self.target, pose);
            let free = goals.iter().filter(|goal| !goal.is_held);
            let deep = |goal: &PointGoal| {
                inside(&self.site, world.point(goal.joint, goal.local), goal.depth).map_or(0.0, |(d, _)| d)
            };
            free.map(deep).fold(0.0, f64::max)
        };
        if self.has_ground { poses.iter().zip(goals).map(depth).fold(0.0, f64::max) } else { 0.0 }
    }

    fn measured<'m>(&'m self, supports: &'m [Support]) -> MotionMeasurer<'m> {
        MotionMeasurer {
            rig: self.target,
            body: &self.body,
            soles: &self.soles,
            stances: &self.stances,
            supports,
            segments: &self.segments,
            site: Some(&self.site).filter(|_| self.has_ground),
        }
    }

    fn corrections(&self, rules: &[FrameRule]) -> Corrections {
        let mut free =
            vec![(self.body.pelvis, CorrectionKind::Shift), (self.body.pelvis, CorrectionKind::Ball)];
        let mut tracked = vec![self.body.pelvis];
        for (leg, sole) in self.body.legs.iter().zip(&self.soles) {
            free.push((leg.hip, CorrectionKind::Ball));
            free.push((leg.knee, CorrectionKind::Hinge(knees::axis(leg, sole, &self.worlds))));
            free.push((leg.ankle, CorrectionKind::Ball));
            if let (Some(toe), Some(_)) = (leg.toe, leg.tip) {
                free.push((toe, CorrectionKind::Hinge(knees::toe_axis(leg, toe, sole, &self.worlds))));
            }
            tracked.extend([leg.ankle].into_iter().chain(leg.toe));
        }
        for PlantedHand { arm, .. } in &self.props {
            let chain = body::ancestry(self.target, arm.ankle).take_while(|&j| j != arm.hip);
            free.extend(chain.chain([arm.hip]).map(|joint| (joint, CorrectionKind::Ball)));
            tracked.push(arm.ankle);
        }
        tracked.extend(self.touching.iter().flatten().map(|point| point.joint));
        tracked.sort_unstable();
        tracked.dedup();
        for arm in self.body.arms.iter().filter(|arm| self.is_in_ground(arm)) {
            free.extend([arm.hip, arm.knee].map(|joint| (joint, CorrectionKind::Ball)));
        }
        for rule in rules {
            let joints = rule.joints();
            // Joints between a joint and the common ancestor, or the pelvis.
            let shared = body::common_ancestor(self.target, joints.iter().copied());
            let top = shared.filter(|_| rule.is_relative()).unwrap_or(self.body.pelvis);
            for &joint in &joints {
                let chain = body::ancestry(self.target, joint).take_while(|&j| j != top);
                free.extend(chain.filter(|&j| j != self.body.pelvis).map(|j| (j, CorrectionKind::Ball)));
                tracked.push(joint);
            }
        }
        Corrections::new(self.target, &free, &tracked)
    }

    /// Whether something below the shoulder would enter the ground.
    fn is_in_ground(&self, arm: &Leg) -> bool {
        let is_arm = |joint: usize| body::ancestry(self.target, joint).any(|above| above == arm.hip);
        let depth = |(points, world): (&Vec<TouchPoint>, &JointFrames)| {
            let of_arm: Vec<TouchPoint> =
                points.iter().filter(|point| is_arm(point.joint)).copied().collect();
            deepest(&of_arm, world, &self.site).map_or(0.0, |(depth, _)| depth)
        };
        let deepest = self.touching.iter().zip(&self.worlds).map(depth).fold(0.0, f64::max);
        self.has_ground && deepest > MAX_DEPTH_METRES * self.scale_of_body()
    }

    /// Which rules hold in each frame.
    fn active(&self, rules: &[FrameRule]) -> Vec<Vec<usize>> {
        let is_on_hand = |joint: usize, t: usize| {
            let mut props = self.props.iter().filter(|prop| prop.support.frames.contains(&t));
            props.any(|prop| [prop.arm.ankle, prop.arm.knee, prop.arm.hip].contains(&joint))
        };
        let touches = |joint: usize, t: usize| {
            let is_of = |leg: &Leg| {
                let foot = [Some(leg.ankle), leg.toe, leg.tip].into_iter().flatten();
                foot.chain([leg.knee, leg.hip]).any(|j| j == joint)
            };
            let is_planted = |s: &Stance| s.frames.contains(&t) && is_of(&self.body.legs[s.leg]);
            self.stances.iter().any(is_planted) || is_on_hand(joint, t)
        };
        let holds = |rule: &FrameRule, t: usize| {
            rule.frames.contains(&t) && rule.contact.is_none_or(|joint| touches(joint, t))
        };
        (0..self.base.len()).map(|t| (0..rules.len()).filter(|&r| holds(&rules[r], t)).collect()).collect()
    }

    /// Inverses of typical corrections, of their speeds and of their accelerations. Rules say themselves when they begin.
    fn weights(&self, corrections: &Corrections, params: &RefitParams) -> [Vec<f64>; 3] {
        let is_used = [true, params.together && params.rules.is_empty(), params.together];
        let mut weights = [(); 3].map(|()| vec![0.0; corrections.n]);
        let typical = [TYPICAL_CORRECTION, TYPICAL_SPEED, TYPICAL_ACCELERATION];
        for free in &corrections.joints {
            let class = match free.kind {
                CorrectionKind::Shift => 0,
                _ if free.joint == self.body.pelvis => 1,
                _ => 2,
            };
            // Lengths are relative to the body's size.
            let unit = if class == 0 { self.scale_of_body() } else { 1.0 };
            for ((weights, typical), is_used) in weights.iter_mut().zip(typical).zip(is_used) {
                let weight = if is_used { 1.0 / (typical[class] * unit) } else { 0.0 };
                weights[free.first..free.first + free.n].fill(weight);
            }
        }
        weights
    }

    /// How compliant the path of a foot is: the higher it is, the more its leg may point as the clip's does instead.
    fn airborne_give(&self, goal: &FootGoal) -> f64 {
        let up = goal.print.rotation * DVec3::Y;
        let height = up.dot(goal.ball - goal.print.origin) / self.body.leg_length(self.target);
        let [near, far] = NEAR_GROUND;
        let u = ((height - near) / (far - near)).clamp(0.0, 1.0);
        AIRBORNE_COMPLIANCE.powf(u * u * (3.0 - 2.0 * u))
    }

    /// Length of a leg relative to a typical one.
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
                    FootPart::Heel => goal.holds_heel,
                    FootPart::Ball => goal.holds_ball,
                    FootPart::Tip => false,
                };
                let is_still = is_held && self.is_still;
                let target = if is_still { goal.print.place(sole, point.local) } else { place };
                let (joint, local, depth) = (point.joint, point.local, goal.depth);
                let give = if is_held { 1.0 } else { self.airborne_give(goal) };
                goals.push(PointGoal { joint, local, target, is_held, give, depth });
            }
        }
        for prop in &self.props {
            // Softer and softer before and after, so that the hand comes and goes smoothly.
            let frames = &prop.support.frames;
            let away = frames.start.saturating_sub(t).max((t + 1).saturating_sub(frames.end)) as f64;
            let share = away / (HAND_FADE_SECS * self.motion.fps);
            if share < 1.0 {
                let (joint, target) = (prop.arm.ankle, prop.places[t]);
                let give = HAND_COMPLIANCE * 1e3f64.powf(share);
                let local = DVec3::ZERO;
                goals.push(PointGoal { joint, local, target, is_held: true, give, depth: f64::INFINITY });
            }
        }
        goals
    }

    fn corrected(&self, corrections: &Corrections, x: &[f64]) -> Vec<Pose> {
        let shift = corrections
            .joints
            .iter()
            .find(|free| free.kind == CorrectionKind::Shift)
            .map_or(0, |free| free.first);
        let mut poses = Vec::with_capacity(self.base.len());
        for (t, base) in self.base.iter().enumerate() {
            let x = &x[t * corrections.n..][..corrections.n];
            let mut pose = base.clone();
            corrections.apply(self.target, base, x, &mut pose);
            let by = DVec3::new(x[shift], x[shift + 1], x[shift + 2]);
            pose.locals[self.body.pelvis].translation += self.shift_in_parent(t, by);
            poses.push(pose);
        }
        poses
    }

    /// A shift of the world in the space of the pelvis' parent.
    fn shift_in_parent(&self, t: usize, by: DVec3) -> DVec3 {
        match self.target.joints()[self.body.pelvis].parent {
            Some(parent) => {
                let world = &self.worlds[t];
                world.rotations[parent].inverse() * by / world.scale(parent)
            }
            None => by,
        }
    }

    /// Largest excess over a limit, relative to it.
    fn limit_excess(&self, motion: &Motion, rules: &[FrameRule], active: &[Vec<usize>]) -> f64 {
        if rules.iter().all(|rule| rule.limit().is_none()) {
            return 0.0;
        }
        let worlds: Vec<JointFrames> =
            motion.poses.iter().map(|pose| JointFrames::of(self.target, pose)).collect();
        let at = |t: usize, rule: usize| {
            let Some(limit) = rules[rule].limit() else { return 0.0 };
            let first = (t + 1).saturating_sub(limit.n_frames());
            let is_whole = (first..t).all(|before| active[before].contains(&rule))
                && !self.segments.iter().any(|segment| (first + 1..=t).contains(&segment.start));
            if is_whole { limit.excess_at(motion.fps, &worlds[first..=t]) } else { 0.0 }
        };
        let worst = |t: usize| active[t].iter().map(|&rule| at(t, rule)).fold(0.0, f64::max);
        (0..active.len()).map(worst).fold(0.0, f64::max)
    }

    /// The worst of all rules, and those that do not hold. Frames in which a rule fades do not count.
    fn violations(
        &self,
        motion: &Motion,
        rules: &[FrameRule],
        active: &[Vec<usize>],
    ) -> (f64, Vec<BrokenRule>) {
        let mut worst = 0.0f64;
        let mut broken: Vec<Option<BrokenRule>> = vec![None; rules.len()];
        for (frame, now) in active.iter().enumerate().filter(|(_, now)| !now.is_empty()) {
            let world = JointFrames::of(self.target, &motion.poses[frame]);
            for &at in now {
                let (rule, off) = (&rules[at], rules[at].violation(&world));
                worst = worst.max(off);
                if off <= rule.allowance() || rule.share(frame) < 1.0 {
                    continue;
                }
                let new = BrokenRule { span: rule.span, worst: 0.0, frame, n_frames: 0 };
                let worst_of_rule = broken[at].get_or_insert(new);
                worst_of_rule.n_frames += 1;
                if off > worst_of_rule.worst {
                    (worst_of_rule.worst, worst_of_rule.frame) = (off, frame);
                }
            }
        }
        (worst, broken.into_iter().flatten().collect())
    }

    /// Joints of feet, and when they stand.
    fn planted(&self) -> Vec<(usize, std::ops::Range<usize>)> {
        let mut planted = Vec::new();
        for stance in &self.stances {
            let leg = &self.body.legs[stance.leg];
            planted.extend(stance.heel.clone().map(|frames| (leg.ankle, frames)));
            planted.extend(leg.toe.zip(stance.ball.clone()));
        }
        planted
    }

    fn finish(
        self,
        poses: Vec<Pose>,
        supports: Vec<Support>,
        (rules, active): (&[FrameRule], &[Vec<usize>]),
        rounds: usize,
        warnings: &mut Warnings,
    ) -> Refit {
        let motion = Motion { fps: self.motion.fps, poses };
        let measured = self.measured(&supports);
        let (rule_violation, broken) = self.violations(&motion, rules, active);
        let worlds: Vec<JointFrames> =
            motion.poses.iter().map(|pose| JointFrames::of(self.target, pose)).collect();
        let quality = self.reference.measure(
            (self.target, &worlds),
            &self.segments,
            (&self.touching, Some(&self.site).filter(|_| self.has_ground)),
            (self.body.leg_length(self.target), &self.planted(), motion.fps),
        );
        let report = RefitReport {
            source: self.source_measures,
            copied: measured.measure(&self.copied),
            fitted: measured.measure(&motion),
            rule_violation,
            broken,
            limit_excess: self.limit_excess(&motion, rules, active),
            rounds,
            scale: self.scale,
            ground: self.ground,
            quality,
            cuts: self.segments.iter().skip(1).map(|segment| segment.start).collect(),
        };
        if let Some(first) = report.cuts.first() {
            let more = match report.cuts.len() - 1 {
                0 => String::new(),
                n => format!(" and {n} more"),
            };
            warnings.push(format!("the clip jumps at frame {first}{more}; it is not smoothed there"));
        }
        Refit {
            motion,
            copied: self.copied,
            site: self.site,
            stances: self.stances,
            supports,
            own_depths: Some(self.own_depths).filter(|_| self.has_ground),
            upright: [DQuat::IDENTITY; 2],
            report,
        }
    }
}
