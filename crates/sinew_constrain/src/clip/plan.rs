//! Where feet and pelvis should be in every frame: the source's motion, carried from its footprints to new ones.
//!
//! # Source
//! After Gleicher, *Retargetting motion to new characters* (1998) and Kovar, Schreiner and Gleicher (2002): footprints
//! are constraints, and between them the motion is displaced smoothly. Differs: the motion between two footprints is
//! carried rigidly from the old pair to the new one, slopes included, before anything is solved.
//! # Symbols
//! `S`, `F` footprint in source and target; `u` fraction of the way from one to the next; `s` ratio of leg lengths
//! # Limits
//! A foot is planted on one footprint at a time.

use super::{
    JointFrames, SkinPoints,
    body::{Body, Leg, ancestry},
    feet::{FootPart, Sole, Stance},
    footprints::Footprint,
};
use glam::{DQuat, DVec3};
use sinew_geom::{Rig, path::PlacedGround};
use std::ops::Range;

/// Seconds over which the offset of a planted foot fades.
const FADE_SECS: f64 = 0.15;
/// Half the time over which displacements of feet and pelvis are smoothed, seconds.
const SMOOTH_SECS: f64 = 0.12;
/// Seconds over which a foot is raised before an obstacle.
const LIFT_SECS: f64 = 0.12;
/// Clearance of planned feet over obstacles, metres.
const OBSTACLE_MARGIN_METRES: f64 = 0.015;

/// A body and its motion.
pub struct BodyMotion<'a> {
    /// Pelvis and legs.
    pub body: &'a Body,
    /// Its soles, one per leg.
    pub soles: &'a [Sole],
    /// Where its joints are.
    pub worlds: &'a [JointFrames],
    /// Points of each foot that can touch the ground, with the joints that carry them.
    pub surfaces: Vec<Vec<(usize, DVec3)>>,
}

impl<'a> BodyMotion<'a> {
    /// A body whose feet touch the ground with their skin, or with their soles where none is known.
    pub fn new(
        (rig, body): (&Rig, &'a Body),
        soles: &'a [Sole],
        worlds: &'a [JointFrames],
        skin: Option<&SkinPoints>,
    ) -> Self {
        let surface = |(leg, sole): (&Leg, &Sole)| {
            let is_foot = |joint: usize| ancestry(rig, joint).any(|above| above == leg.ankle);
            let of_skin = skin.iter().flat_map(|skin| skin.points()).filter(|(joint, _)| is_foot(*joint));
            let points: Vec<(usize, DVec3)> = of_skin.collect();
            let of_sole = || sole.points.iter().map(|point| (point.joint, point.local)).collect();
            if points.is_empty() { of_sole() } else { points }
        };
        let surfaces = body.legs.iter().zip(soles).map(surface).collect();
        Self { body, soles, worlds, surfaces }
    }
}

/// Goal of a foot in one frame.
#[derive(Debug, Clone, Copy)]
pub struct FootGoal {
    /// Middle of the ball.
    pub ball: DVec3,
    /// Orientation of the ankle.
    pub rotation: DQuat,
    /// Footprint it is planted on, or the one between two.
    pub print: Footprint,
    /// Whether the heel is held.
    pub holds_heel: bool,
    /// Whether the ball is held.
    pub holds_ball: bool,
    /// How deep the source's own foot is below its ground, at the size of the target.
    pub depth: f64,
}

/// Goals of all frames.
#[derive(Debug, Clone)]
pub struct MotionPlan {
    /// For each leg, one goal per frame.
    pub feet: Vec<Vec<FootGoal>>,
    /// Place of the pelvis.
    pub pelvis: Vec<DVec3>,
}

/// A footprint and its frames: in the source, as its angles leave it on the target's bones, and where it should be.
struct Step {
    frames: Range<usize>,
    source: Footprint,
    copied: Footprint,
    target: Footprint,
}

/// Where and how a motion is planned.
pub struct PlanContext<'a> {
    /// Another ground; `None` to keep the heights of the source's footprints.
    pub site: Option<&'a PlacedGround>,
    /// Height of the source's ground if it is level.
    pub level: Option<f64>,
    /// Height of the source's ground that becomes zero.
    pub drop: f64,
    /// Ratio of leg lengths.
    pub scale: f64,
    /// Frames per second.
    pub fps: f64,
    /// Whether planted feet are held still, rather than moved as the source's.
    pub is_still: bool,
}

/// Plan the goals of a target body (`copy`: the source's angles on its bones).
pub fn plan(
    source: &BodyMotion,
    copy: &BodyMotion,
    stances: &[Stance],
    segments: &[Range<usize>],
    context: &PlanContext,
) -> MotionPlan {
    let n_frames = source.worlds.len();
    let mut plan = MotionPlan { feet: Vec::new(), pelvis: vec![DVec3::ZERO; n_frames] };
    let mut shifts = vec![DVec3::ZERO; n_frames];
    for leg in 0..source.body.legs.len() {
        let walk = LegPlan { leg, source, copy, context };
        let mut goals = Vec::with_capacity(n_frames);
        for segment in segments {
            let steps = walk.steps(stances, segment);
            walk.add_goals(&steps, segment, stances, &mut goals, &mut shifts);
        }
        plan.feet.push(goals);
    }
    let n_legs = source.body.legs.len();
    if context.site.is_none() {
        for (t, shift) in shifts.iter_mut().enumerate() {
            shift.y = raise(copy, &plan, t) * n_legs as f64;
        }
        for segment in segments {
            let smooth = smoothed(shifts[segment.clone()].to_vec(), context.fps);
            shifts[segment.clone()].copy_from_slice(&smooth);
        }
    }
    for t in 0..n_frames {
        let copied = copy.worlds[t].positions[copy.body.pelvis];
        plan.pelvis[t] = match (n_legs, context.site) {
            // Without legs it follows the ground below.
            (0, Some(site)) => copied + DVec3::Y * site.height(copied.x, copied.z),
            (0, None) => copied - DVec3::Y * context.drop * context.scale,
            (n, _) => copied + shifts[t] / n as f64,
        };
    }
    plan
}

/// Weight of a foot in the air, relative to one that stands, for the height of the pelvis.
const AIRBORNE_WEIGHT: f64 = 0.15;

/// How much higher the goals of feet are than the copied feet.
fn raise(copy: &BodyMotion, plan: &MotionPlan, t: usize) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for ((leg, sole), goals) in copy.body.legs.iter().zip(copy.soles).zip(&plan.feet) {
        let goal = &goals[t];
        let weight = if goal.holds_heel || goal.holds_ball { 1.0 } else { AIRBORNE_WEIGHT };
        sum += weight * (goal.ball.y - copy.worlds[t].point(leg.ankle, sole.ball).y);
        total += weight;
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

struct LegPlan<'a> {
    leg: usize,
    source: &'a BodyMotion<'a>,
    copy: &'a BodyMotion<'a>,
    context: &'a PlanContext<'a>,
}

impl LegPlan<'_> {
    /// Footprints of a segment, with invented ones at its ends if the foot is not planted there.
    fn steps(&self, stances: &[Stance], segment: &Range<usize>) -> Vec<Step> {
        let (leg, sole) = (&self.source.body.legs[self.leg], &self.source.soles[self.leg]);
        let mine = stances.iter().filter(|s| s.leg == self.leg && segment.contains(&s.frames.start));
        let mut steps: Vec<Step> = mine
            .map(|stance| {
                let source = Footprint::of_stance(stance, leg, sole, self.source.worlds);
                let copy_leg = &self.copy.body.legs[self.leg];
                let copied =
                    Footprint::of_stance(stance, copy_leg, &self.copy.soles[self.leg], self.copy.worlds);
                Step { frames: stance.frames.clone(), source, copied, target: self.settle(&source, &copied) }
            })
            .collect();
        // The plane of the nearest footprint, and how much higher than the source's the copy's is there.
        let plane = |steps: &[Step], last: bool| {
            let step = if last { steps.last() } else { steps.first() };
            match step {
                Some(step) => (step.source, step.copied.origin.y - self.context.scale * step.source.origin.y),
                None => {
                    let [source, copy] = [self.source, self.copy].map(|scene| self.lowest(scene, segment));
                    let plane = Footprint::new(DVec3::Y * source, DVec3::Z, DVec3::Y);
                    (plane, copy - self.context.scale * source)
                }
            }
        };
        if steps.first().is_none_or(|step| step.frames.start > segment.start) {
            let step = self.airborne(segment.start, plane(&steps, false));
            steps.insert(0, step);
        }
        if steps.last().is_none_or(|step| step.frames.end < segment.end) {
            let step = self.airborne(segment.end - 1, plane(&steps, true));
            steps.push(step);
        }
        steps
    }

    /// Where a footprint should be: on the other ground, or as high as the source's.
    fn settle(&self, source: &Footprint, copied: &Footprint) -> Footprint {
        let (sole, forward) = (&self.copy.soles[self.leg], copied.rotation * DVec3::Z);
        match self.context.site {
            Some(site) => Footprint::settle(site, copied.origin, forward, sole),
            None => {
                let height = (source.origin.y - self.context.drop) * self.context.scale;
                let origin = DVec3::new(copied.origin.x, height, copied.origin.z);
                Footprint::new(origin, forward, source.rotation * DVec3::Y)
            }
        }
    }

    /// The footprint that a foot would leave if it were set down.
    fn airborne(&self, t: usize, (plane, higher): (Footprint, f64)) -> Step {
        let of = |scene: &BodyMotion, plane: &Footprint| {
            Footprint::below(&scene.worlds[t], &scene.body.legs[self.leg], &scene.soles[self.leg], plane)
        };
        let source = of(self.source, &plane);
        let height = self.context.scale * source.origin.y + higher;
        let level = Footprint { origin: DVec3::Y * height, rotation: DQuat::IDENTITY };
        let copied = of(self.copy, &level);
        let copied = Footprint::new(copied.origin, copied.rotation * DVec3::Z, plane.rotation * DVec3::Y);
        Step { frames: t..t + 1, source, copied, target: self.settle(&source, &copied) }
    }

    /// Height of the lowest place of the ball of the foot.
    fn lowest(&self, scene: &BodyMotion, segment: &Range<usize>) -> f64 {
        let (leg, sole) = (&scene.body.legs[self.leg], &scene.soles[self.leg]);
        let height = |t: usize| scene.worlds[t].point(leg.ankle, sole.ball).y;
        segment.clone().map(height).fold(f64::INFINITY, f64::min)
    }

    fn add_goals(
        &self,
        steps: &[Step],
        segment: &Range<usize>,
        stances: &[Stance],
        goals: &mut Vec<FootGoal>,
        shifts: &mut [DVec3],
    ) {
        let shares = self.shares(steps, segment);
        let mut mine: Vec<FootGoal> = Vec::with_capacity(segment.len());
        for (t, &(step, u)) in segment.clone().zip(&shares) {
            let next = &steps[(step + 1).min(steps.len() - 1)];
            let [source, copied, target] = [
                steps[step].source.blend(&next.source, u),
                steps[step].copied.blend(&next.copied, u),
                steps[step].target.blend(&next.target, u),
            ];
            shifts[t] += target.origin - copied.origin;
            let mut goal = self.carried(t, [&source, &copied, &target]);
            let on = |part: &dyn Fn(&Stance) -> Option<Range<usize>>| {
                let mut own = stances.iter().filter(|s| s.leg == self.leg);
                own.any(|s| part(s).is_some_and(|r| r.contains(&t)))
            };
            goal.holds_heel = on(&|s| s.heel.clone());
            goal.holds_ball = on(&|s| s.ball.clone());
            mine.push(goal);
        }
        if self.context.is_still {
            self.fade_rotations(&mut mine);
            self.fade_places(&mut mine);
        }
        match self.context.site {
            Some(site) => self.lift(site, &mut mine, segment),
            None if self.context.is_still => {}
            None => self.smooth(&mut mine, segment),
        }
        goals.append(&mut mine);
    }

    /// For each frame the footprint left last and the share of the way to the next, by the length of the foot's path.
    fn shares(&self, steps: &[Step], segment: &Range<usize>) -> Vec<(usize, f64)> {
        let leg = &self.source.body.legs[self.leg];
        let ball = |t: usize| self.source.worlds[t].point(leg.ankle, self.source.soles[self.leg].ball);
        let mut shares = vec![(0, 0.0); segment.len()];
        for (i, step) in steps.iter().enumerate() {
            for t in step.frames.clone() {
                shares[t - segment.start] = (i, 0.0);
            }
            let Some(next) = steps.get(i + 1) else { continue };
            let (from, to) = (step.frames.end - 1, next.frames.start);
            // Only horizontal length, so that a foot lifted in place makes no progress; time if there is none.
            let level = |t: usize| {
                let way = ball(t + 1) - ball(t);
                way.x.hypot(way.z) + 1e-4 / self.context.fps
            };
            let total: f64 = (from..to).map(level).sum();
            let mut gone = 0.0;
            for t in from..to {
                shares[t - segment.start] = (i, gone / total);
                gone += level(t);
            }
        }
        shares
    }

    /// A frame of the source, moved with its footprints.
    fn carried(&self, t: usize, [source, copied, target]: [&Footprint; 3]) -> FootGoal {
        let (leg, sole) = (&self.source.body.legs[self.leg], &self.source.soles[self.leg]);
        let (world, copy) = (&self.source.worlds[t], &self.copy.worlds[t]);
        let away = source.rotation.inverse() * (world.point(leg.ankle, sole.ball) - source.origin);
        // On its own ground the way of a foot does not depend on how far its toes point out.
        let away = match self.context.site {
            Some(_) => target.rotation * away,
            None => source.rotation * away,
        };
        let turn = target.rotation * copied.rotation.inverse();
        let normal = source.rotation * DVec3::Y;
        let height = |p: DVec3| match self.context.level.filter(|_| self.context.site.is_none()) {
            Some(level) => p.y - level,
            None => normal.dot(p - source.origin),
        };
        let points =
            || self.source.surfaces[self.leg].iter().map(|(joint, local)| world.point(*joint, *local));
        // Feet that are held still are not allowed to sink where the source's do.
        let soles = sole.points.iter().map(|point| world.point(point.joint, point.local));
        let deepest = points().chain(soles).map(|p| -height(p)).fold(0.0, f64::max);
        let depth = if self.context.is_still { 0.0 } else { deepest * self.context.scale };
        let mut goal = FootGoal {
            ball: target.origin + away * self.context.scale,
            rotation: turn * copy.rotations[self.copy.body.legs[self.leg].ankle],
            print: *target,
            holds_heel: false,
            holds_ball: false,
            depth,
        };
        // The lowest point of the foot is as high as the source's, whatever shoes both wear.
        let high = points().map(|p| normal.dot(p - source.origin)).fold(f64::INFINITY, f64::min);
        let up = target.rotation * DVec3::Y;
        let low = self.surface(&goal, t).map(|p| up.dot(p - target.origin)).fold(f64::INFINITY, f64::min);
        goal.ball += up * (high * self.context.scale - low);
        goal
    }

    /// Where a goal puts the points of a foot that can touch the ground.
    fn surface<'b>(&'b self, goal: &FootGoal, t: usize) -> impl Iterator<Item = DVec3> + 'b {
        let (copy, ankle) = (&self.copy.worlds[t], self.copy.body.legs[self.leg].ankle);
        let turn = goal.rotation * copy.rotations[ankle].inverse();
        let origin = goal.ball - goal.rotation * self.copy.soles[self.leg].ball;
        let points = self.copy.surfaces[self.leg].iter();
        points.map(move |(joint, local)| origin + turn * (copy.point(*joint, *local) - copy.positions[ankle]))
    }

    /// A planted foot is flat; before and after, the rotation that made it flat fades.
    fn fade_rotations(&self, goals: &mut [FootGoal]) {
        let sole = &self.copy.soles[self.leg];
        if !sole.has_size() {
            return;
        }
        let off = |goal: &FootGoal| {
            let flat = goal.print.rotation * sole.frame.inverse();
            let turn = flat * goal.rotation.inverse();
            let turn = if turn.w < 0.0 { -turn } else { turn };
            (goal.holds_heel && goal.holds_ball).then(|| turn.to_scaled_axis())
        };
        let offs = self.faded(&goals.iter().map(off).collect::<Vec<_>>());
        for (goal, off) in goals.iter_mut().zip(offs) {
            goal.rotation = (DQuat::from_scaled_axis(off) * goal.rotation).normalize();
        }
    }

    fn fade_places(&self, goals: &mut [FootGoal]) {
        let sole = &self.copy.soles[self.leg];
        let off = |goal: &FootGoal| match (goal.holds_ball, goal.holds_heel) {
            (true, _) => Some(goal.print.origin - goal.ball),
            (false, true) => {
                let heel = goal.ball + goal.rotation * (sole.heel - sole.ball);
                Some(goal.print.place(sole, sole.heel) - heel)
            }
            _ => None,
        };
        let offs = self.faded(&goals.iter().map(off).collect::<Vec<_>>());
        for (goal, off) in goals.iter_mut().zip(offs) {
            goal.ball += off;
        }
    }

    /// What a foot is displaced by changes gradually, also where one stance begins as another ends.
    fn smooth(&self, goals: &mut [FootGoal], segment: &Range<usize>) {
        let (leg, sole) = (&self.source.body.legs[self.leg], &self.source.soles[self.leg]);
        let own = |t: usize| self.source.worlds[t].point(leg.ankle, sole.ball) * self.context.scale;
        let offsets = goals.iter().zip(segment.clone()).map(|(goal, t)| goal.ball - own(t)).collect();
        let offsets = smoothed(offsets, self.context.fps);
        for ((goal, t), offset) in goals.iter_mut().zip(segment.clone()).zip(offsets) {
            goal.ball = own(t) + offset;
        }
    }

    /// Offsets where they are known, and fading ones elsewhere.
    fn faded(&self, known: &[Option<DVec3>]) -> Vec<DVec3> {
        let reach = FADE_SECS * self.context.fps;
        let weight = |distance: usize| {
            let x = (distance as f64 / reach).min(1.0);
            (1.0 - x).powi(2) * (1.0 + 2.0 * x)
        };
        let mut out = vec![DVec3::ZERO; known.len()];
        let mut sweep = |order: &mut dyn Iterator<Item = usize>| {
            let mut last: Option<(usize, DVec3)> = None;
            for t in order {
                match (known[t], last) {
                    (Some(off), _) => {
                        last = Some((t, off));
                        out[t] = off;
                    }
                    (None, Some((at, off))) => out[t] += off * weight(at.abs_diff(t)),
                    (None, None) => {}
                }
            }
        };
        sweep(&mut (0..known.len()));
        sweep(&mut (0..known.len()).rev());
        out
    }

    /// Raise feet that would enter the ground on their path, early enough to be smooth.
    fn lift(&self, site: &PlacedGround, goals: &mut [FootGoal], segment: &Range<usize>) {
        let is_free = |goal: &FootGoal| !(goal.holds_heel || goal.holds_ball);
        let lack: Vec<f64> = goals
            .iter()
            .zip(segment.clone())
            .map(|(goal, t)| if is_free(goal) { self.lack(site, goal, t) } else { 0.0 })
            .collect();
        let reach = (LIFT_SECS * self.context.fps).round() as usize;
        let window = |values: &[f64], t: usize| t.saturating_sub(reach)..(t + reach + 1).min(values.len());
        let highest: Vec<f64> =
            (0..lack.len()).map(|t| lack[window(&lack, t)].iter().copied().fold(0.0, f64::max)).collect();
        for t in (0..goals.len()).filter(|&t| is_free(&goals[t])).collect::<Vec<_>>() {
            let around = window(&highest, t);
            let mean = highest[around.clone()].iter().sum::<f64>() / around.len() as f64;
            goals[t].ball.y += mean;
        }
    }

    /// How much higher a foot must be to clear the ground, with a margin where the ground rises suddenly.
    fn lack(&self, site: &PlacedGround, goal: &FootGoal, t: usize) -> f64 {
        let (sole, copy) = (&self.copy.soles[self.leg], &self.copy.worlds[t]);
        let leg = &self.copy.body.legs[self.leg];
        let lack = |p: DVec3| {
            let ground = site.height(p.x, p.z);
            let room = STEP_ROOM_METRES;
            let around = [(room, 0.0), (-room, 0.0), (0.0, room), (0.0, -room)];
            let edge = around.map(|(dx, dz)| site.height(p.x + dx, p.z + dz));
            let highest = edge.into_iter().fold(ground, f64::max);
            // A slope is no obstacle; an edge is.
            let needed =
                if highest - ground > STEP_ROOM_METRES { highest + OBSTACLE_MARGIN_METRES } else { ground };
            needed - p.y
        };
        let places = goal_points(goal, sole, (copy, leg.ankle));
        places.map(|(_, place)| lack(place)).fold(0.0, f64::max)
    }
}

/// Means over a window, twice; beyond the ends it stays what it is there.
fn smoothed(mut values: Vec<DVec3>, fps: f64) -> Vec<DVec3> {
    let reach = (SMOOTH_SECS * fps).round() as usize;
    let n = values.len();
    for _ in 0..2 {
        let at = |k: usize| values[k.saturating_sub(reach).min(n - 1)];
        let mut sums = vec![DVec3::ZERO];
        (0..n + 2 * reach).for_each(|k| sums.push(sums[k] + at(k)));
        let mean = |k: usize| (sums[k + 2 * reach + 1] - sums[k]) / (2 * reach + 1) as f64;
        values = (0..n).map(mean).collect();
    }
    values
}

/// Distance at which edges are noticed, metres.
const STEP_ROOM_METRES: f64 = 0.03;

/// Where a goal puts the points of a sole; points on the toes bend as in `copy`.
pub fn goal_points<'a>(
    goal: &'a FootGoal,
    sole: &'a Sole,
    (copy, ankle): (&'a JointFrames, usize),
) -> impl Iterator<Item = (FootPart, DVec3)> + 'a {
    let turn = goal.rotation * copy.rotations[ankle].inverse();
    let origin = goal.ball - goal.rotation * sole.ball;
    sole.points.iter().map(move |point| {
        let place = copy.point(point.joint, point.local) - copy.positions[ankle];
        (point.part, origin + turn * place)
    })
}
