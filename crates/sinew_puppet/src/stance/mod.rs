//! Legs that carry the character: it travels as far as the actor in leg lengths, and feet stay where they were put down.
//!
//! # Source
//! Sun (2017), §6.2, leaves contact with the ground to future work; this is Sinew's own. Without pairs the actor's feet say where
//! those of the character are, see `guide`. What cameras see, and poses of pairs, do not say it well enough: there a foot of the
//! actor is down while its toe or its ankle is low and hardly moves. The foot of the character then stays where it is: the leg is
//! bent by what is missing, which is the angle at the knee and a turn of the whole leg. A foot that is lifted gives back the
//! difference within a tenth of a second, so that nothing jumps.

mod crouch;
mod guide;
mod leg;

use crate::{
    BodyPlacement, BodyPose, CanonicalPose,
    canonical::TRUNK,
    figure::{PAW_SHARE, arm_of, hanging, raised},
};
use crouch::Crouch;
use glam::{DAffine3, DMat3, DQuat, DVec3};
use guide::{Guide, unit};
use leg::{Leg, legs};
use sinew_geom::{
    Rig,
    body_map::{BodyClass, BodyMap, Part},
};

/// Leg of the standard body from hip to ankle, metres.
pub(crate) const LEG_METRES: f64 = 0.84;
/// Height of its hips above the ground, metres.
const HIP_METRES: f64 = 0.92;
/// Speed of a foot below which it is put down, and above which it is lifted; metres of the standard body per second.
const SPEEDS: [f64; 2] = [0.25, 0.6];
/// Height above the floor below which a foot can be down, metres of the standard body.
const LOW_METRES: f64 = 0.07;
/// Share of the leg over which feet that carry take turns, and over which the hips begin to come down for a leg too short.
const SOFT: f64 = 0.01;
/// Rise of the floor under the actor while it is estimated, metres of the standard body per second.
const FLOOR_DRIFT: f64 = 0.02;
/// Rise of the actor's feet that counts as a jump of a body that stands on its lowest foot, metres.
const MIN_JUMP: f64 = 0.06;
/// Share by which the length of the actor's legs follows what is seen, per frame.
const LEG_RATE: f64 = 0.02;

/// Follows an actor over the ground.
#[derive(Debug, Clone)]
pub(crate) struct Stance {
    legs: Vec<Leg>,
    /// What each leg hangs on.
    carriers: Vec<Option<usize>>,
    rest: Vec<DAffine3>,
    /// Joints between the legs that carry the actor's travel, at rest.
    hips: Vec<usize>,
    pivot: DVec3,
    /// Other joints that the ground may carry, and how high they are above it then.
    supports: Vec<(usize, f64)>,
    up: DVec3,
    level: f64,
    leg_length: f64,
    is_upright: bool,
    world_from_body: DQuat,
    params: StanceParams,
    crouch: Crouch,
    last: Option<Last>,
}

/// What is known of the actor.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct StanceParams {
    /// Metres of the character per metre of the standard body; by the legs if absent.
    pub scale: Option<f64>,
    /// Height of the ankles of the actor when they stand, if known.
    pub floor: Option<f64>,
    /// Without pairs the actor's feet say where those of the character are; poses of pairs say so themselves.
    pub guided: Option<Guided>,
}

/// How the actor's feet are known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guided {
    /// Whether every joint is measured: then what stands is known to stand.
    pub is_exact: bool,
    /// Downward slope of the feet of the actor when it stands, in radians.
    pub slope: f64,
}

/// The actor at one moment.
struct Seen<'a> {
    body: Option<&'a BodyPose>,
    place: &'a BodyPlacement,
    pose: &'a CanonicalPose,
}

#[derive(Debug, Clone)]
struct Last {
    time: f64,
    start: f64,
    hips: DVec3,
    /// Ankle and toe of each foot.
    feet: [[DVec3; 2]; 2],
    /// Which of them are down.
    down: [[bool; 2]; 2],
    position: DVec3,
    /// Height of the lowest ankle.
    floor: f64,
    /// Length of the actor's legs.
    leg: f64,
}

impl Stance {
    /// Of a body with legs; `None` without.
    pub fn new(rig: &Rig, map: &BodyMap, attached: &[Option<usize>], params: StanceParams) -> Option<Self> {
        let rest = rig.rest_world();
        let hangs_on: Vec<Option<usize>> = (0..rig.n_joints())
            .map(|k| attached.get(k).copied().flatten().or(rig.joints()[k].parent))
            .collect();
        let mut legs = legs(map, &rest, &hangs_on);
        let height = |p: DVec3| p.dot(map.up);
        let points = |leg: &Leg| [rest[leg.ankle].translation, rest[leg.ankle].transform_point3(leg.toe)];
        let level = legs.iter().map(|leg| leg.lowest).reduce(f64::min)?;
        for leg in &mut legs {
            leg.clearance = points(leg).map(|p| height(p) - level);
        }
        let hind: Vec<&Leg> = legs.iter().filter(|leg| leg.actor_arm.is_none()).collect();
        let is_upright = map.class == BodyClass::Biped;
        // Legs of animals have more than two bones: what they reach is the height of the hips.
        let long = |leg: &Leg| match is_upright {
            true => leg.length,
            false => (height(rest[leg.hip].translation) - level) * LEG_METRES / HIP_METRES,
        };
        let leg_length = hind.iter().map(|leg| long(leg)).sum::<f64>() / hind.len().max(1) as f64;
        let hips: Vec<usize> = hind.iter().map(|leg| leg.hip).collect();
        let middle = middle(&hips, &rest);
        let left = map.up.cross(map.forward);
        (leg_length > 0.0).then(|| Self {
            supports: supports(map, leg_length),
            pivot: middle - height(middle) * map.up,
            hips,
            carriers: legs.iter().map(|leg| hangs_on[leg.hip]).collect(),
            legs,
            rest,
            up: map.up,
            level,
            leg_length,
            is_upright,
            world_from_body: DQuat::from_mat3(&DMat3::from_cols(left, map.up, map.forward)).normalize(),
            params,
            crouch: Crouch::default(),
            last: None,
        })
    }

    /// Put the posed joints on the ground. `body` is the actor as it was seen, or nothing if it was not.
    pub fn step(
        &mut self,
        time: f64,
        body: Option<&BodyPose>,
        place: &BodyPlacement,
        pose: &CanonicalPose,
        world: &mut [DAffine3],
    ) {
        let before = self.last.take();
        let feet = |body: &BodyPose| [12, 16].map(|leg| [body.joints[leg + 2], body.joints[leg + 3]]);
        let Some(mut last) = before.or_else(|| body.map(|body| self.begin(time, body, feet(body), place)))
        else {
            return;
        };
        let secs = (time - last.time).max(0.0);
        let mut low = last.floor;
        if let Some(body) = body {
            let feet = feet(body);
            low = feet[0][0].y.min(feet[1][0].y);
            last.leg += LEG_RATE * (leg_of(body) - last.leg);
            let metre = last.leg / LEG_METRES;
            last.floor = match self.params.floor {
                Some(floor) => floor,
                None => (last.floor + FLOOR_DRIFT * metre * secs.min(0.1)).min(low),
            };
            if secs > 0.0 {
                last.down = contacts(&feet, &last, secs, metre);
            }
            last.feet = feet;
        }
        let scale = match self.params.scale {
            Some(scale) if place.trunk > 0.0 => scale * TRUNK / place.trunk,
            _ => self.leg_length / last.leg,
        };
        let hips = place.position;
        let travelled = DQuat::from_rotation_y(-last.start) * (hips - last.hips) * scale;
        last.position += self.world_from_body * DVec3 { y: 0.0, ..travelled };
        (last.time, last.hips) = (time, hips);
        let turn = DQuat::from_axis_angle(self.up, place.heading - last.start);
        let carried =
            DAffine3::from_rotation_translation(turn, self.pivot + last.position - turn * self.pivot);
        world.iter_mut().for_each(|joint| *joint = carried * *joint);
        let seen = Seen { body, place, pose };
        match self.guide(&last, &seen, scale) {
            Some(guide) => {
                self.stand_guided(&guide, &carried, world);
                let down = last.down;
                self.follow(&guide, (down, secs), pose, &carried, world);
            }
            None => {
                let between = body.map_or(hips.y, |body| body.joints[12].midpoint(body.joints[16]).y);
                self.stand((between - last.floor) * scale, (low - last.floor) * scale, world);
                self.plant(last.down, secs, pose, world);
            }
        }
        self.last = Some(last);
    }

    /// Where the actor's feet put those of the character; nothing where poses say so themselves.
    fn guide(&self, last: &Last, seen: &Seen, scale: f64) -> Option<Guide> {
        let Guided { is_exact, slope } = self.params.guided?;
        match seen.body.filter(|_| is_exact) {
            Some(body) => Some(Guide::exact(body, seen.place, last, scale, slope)),
            // Cameras measure directions better than places: people stand where their limbs put their feet.
            None if self.is_upright && !is_exact => None,
            None => {
                let middle = seen.pose.joint(12).midpoint(seen.pose.joint(16)) - seen.pose.joint(0);
                let hips = seen.place.position.y + middle.y * last.leg / LEG_METRES;
                Some(Guide::seen(seen.pose, hips, last, (scale, unit(self.leg_length)), slope))
            }
        }
    }

    /// Hips that are guided are where the actor's are.
    fn stand_guided(&self, guide: &Guide, carried: &DAffine3, world: &mut [DAffine3]) {
        let ankle = self.legs.iter().map(|leg| leg.clearance[0]).sum::<f64>() / self.legs.len() as f64;
        let mut shift = if self.is_upright {
            let place = carried.transform_point3(self.pivot) + (self.level + ankle + guide.hips) * self.up;
            place - middle(&self.hips, world)
        } else {
            guide.rise(self.leg_length) * self.up
        };
        let soft = SOFT * self.leg_length;
        for &(joint, clearance) in &self.supports {
            let high = (world[joint].translation + shift).dot(self.up) - self.level;
            let missing = clearance - high;
            if missing > -4.0 * soft {
                shift += 0.5 * (missing + missing.hypot(soft)) * self.up;
            }
        }
        world.iter_mut().for_each(|joint| joint.translation += shift);
    }

    /// Bring the feet where the actor's are.
    fn follow(
        &mut self,
        guide: &Guide,
        (down, secs): ([[bool; 2]; 2], f64),
        pose: &CanonicalPose,
        carried: &DAffine3,
        world: &mut [DAffine3],
    ) {
        let (up, level) = (self.up, self.level);
        let turned = DQuat::from_mat3(&carried.matrix3).normalize() * self.world_from_body;
        let is_exact = self.params.guided.is_some_and(|guided| guided.is_exact);
        let below_hips = carried.transform_point3(self.pivot) + level * up;
        let mut goals = Vec::with_capacity(self.legs.len());
        let mut squares = 0.0;
        for (leg, carrier) in self.legs.iter_mut().zip(&self.carriers) {
            let lifted = leg.actor_arm.map_or(0.0, |shoulder| raised(pose, shoulder));
            if !self.is_upright {
                // The knees of animals bend their own way, whatever those of the actor do, and paws are level as its feet are.
                let pitch = DQuat::from_rotation_x(PAW_SHARE * guide.pitch(leg.actor_foot));
                let paw = match leg.actor_arm.filter(|_| lifted > 0.0) {
                    Some(shoulder) => pitch.slerp(hanging(pose, shoulder), lifted),
                    None => pitch,
                };
                leg.unfold(&self.rest, *carrier, turned * paw * self.world_from_body.inverse(), world);
            }
            let points = leg.points(world);
            let toe = points[1] - points[0];
            let away = guide.ankle(leg, !self.is_upright, turned.inverse() * toe, leg.flat);
            let from = match self.is_upright {
                true => below_hips + leg.clearance[0] * up,
                false => carried.transform_point3(leg.rest),
            };
            let mut ankle = from + turned * away;
            if !is_exact {
                let [at_ankle, at_toe] = down[leg.actor_foot].map(|down| down && lifted < 0.5);
                let which = if at_toe { Some(1) } else { at_ankle.then_some(0) };
                leg.follow(which, &[ankle, ankle + toe], secs, up, level);
                ankle += leg.offset;
            }
            if let Some(shoulder) = leg.actor_arm.filter(|_| lifted > 0.0) {
                let raised =
                    world[leg.hip].translation + turned * (0.9 * leg.length * arm_of(pose, shoulder));
                ankle = ankle.lerp(raised, lifted);
            }
            let drop = leg.missing_reach(ankle, world[leg.hip].translation, up);
            squares += drop * drop * (1.0 - lifted);
            goals.push(ankle);
        }
        let drop = self.crouch.step(squares.sqrt(), secs);
        world.iter_mut().for_each(|joint| joint.translation -= drop * up);
        for (leg, goal) in self.legs.iter().zip(goals) {
            leg.reach(goal, world);
        }
    }

    fn begin(&self, time: f64, body: &BodyPose, feet: [[DVec3; 2]; 2], place: &BodyPlacement) -> Last {
        let low = feet[0][0].y.min(feet[1][0].y);
        Last {
            time,
            start: place.heading,
            hips: place.position,
            feet,
            down: [[false; 2]; 2],
            position: DVec3::ZERO,
            floor: self.params.floor.unwrap_or(low),
            leg: leg_of(body).max(1e-9),
        }
    }

    /// How high it is: an upright body holds its hips as high as the actor, in leg lengths; others stand on their lowest foot,
    /// and leave the ground when the actor does.
    fn stand(&self, hips: f64, rise: f64, world: &mut [DAffine3]) {
        let height = |p: DVec3| p.dot(self.up) - self.level;
        let ankle = self.legs.iter().map(|leg| leg.clearance[0]).sum::<f64>() / self.legs.len() as f64;
        let mut shift = if self.is_upright {
            hips + ankle - height(middle(&self.hips, world))
        } else {
            let jump = (rise - MIN_JUMP * self.leg_length / LEG_METRES).max(0.0);
            let missing = |leg: &Leg| {
                let points = leg.points(world);
                [0, 1].map(|k| leg.clearance[k] - height(points[k])).into_iter().fold(f64::MIN, f64::max)
            };
            jump + soft_max(self.legs.iter().map(missing), SOFT * self.leg_length)
        };
        for &(joint, clearance) in &self.supports {
            shift = shift.max(clearance - height(world[joint].translation));
        }
        world.iter_mut().for_each(|joint| joint.translation += shift * self.up);
    }

    /// Keep feet where they were put down.
    fn plant(&mut self, down: [[bool; 2]; 2], secs: f64, pose: &CanonicalPose, world: &mut [DAffine3]) {
        let (up, level) = (self.up, self.level);
        let mut drop = 0.0f64;
        for leg in &mut self.legs {
            let points = leg.points(world);
            let hangs = leg.actor_arm.is_none_or(|arm| hangs(pose, arm));
            let [ankle, toe] = down[leg.actor_foot].map(|down| down && hangs);
            leg.follow(
                if toe {
                    Some(1)
                } else if ankle {
                    Some(0)
                } else {
                    None
                },
                &points,
                secs,
                up,
                level,
            );
            if leg.planted.is_some() {
                drop = drop.max(leg.missing_reach(points[0] + leg.offset, world[leg.hip].translation, up));
            }
        }
        if drop > 0.0 {
            world.iter_mut().for_each(|joint| joint.translation -= drop * up);
            self.legs.iter_mut().for_each(|leg| leg.offset += drop * up);
        }
        for leg in &self.legs {
            let ankle = world[leg.ankle].translation;
            leg.reach(ankle + leg.offset, world);
        }
        if drop > 0.0 {
            // What the hips gave is not part of the foot's way.
            self.legs.iter_mut().for_each(|leg| leg.offset -= drop * up);
        }
    }
}

/// The largest, smoothly: within `soft` of each other they count alike.
fn soft_max(values: impl Iterator<Item = f64> + Clone, soft: f64) -> f64 {
    let most = values.clone().fold(f64::MIN, f64::max);
    let weigh = |(sum, weights): (f64, f64), x: f64| {
        let weight = ((x - most) / soft).exp();
        (sum + weight * x, weights + weight)
    };
    let (sum, weights) = values.fold((0.0, 0.0), weigh);
    sum / weights
}

/// Which of ankle and toe of each foot are down: low, and hardly moving.
fn contacts(feet: &[[DVec3; 2]; 2], last: &Last, secs: f64, metre: f64) -> [[bool; 2]; 2] {
    let is_down = |foot: usize, point: usize| {
        let speed = feet[foot][point].distance(last.feet[foot][point]) / secs / metre;
        // Toes are lower than ankles.
        let is_low = feet[foot][point].y - last.floor < LOW_METRES * metre;
        is_low && speed < SPEEDS[usize::from(last.down[foot][point])]
    };
    [0, 1].map(|foot| [0, 1].map(|point| is_down(foot, point)))
}

/// Whether an arm of the actor hangs, so that what follows it can stand.
fn hangs(pose: &CanonicalPose, shoulder: usize) -> bool {
    let arm = pose.joint(shoulder + 2) - pose.joint(shoulder);
    arm.angle_between(DVec3::NEG_Y) < 0.8
}

/// Mean length of the actor's legs from hip to ankle.
fn leg_of(body: &BodyPose) -> f64 {
    let length = |hip: usize| {
        body.joints[hip].distance(body.joints[hip + 1]) + body.joints[hip + 1].distance(body.joints[hip + 2])
    };
    0.5 * (length(12) + length(16))
}

fn middle(joints: &[usize], world: &[DAffine3]) -> DVec3 {
    joints.iter().map(|&k| world[k].translation).sum::<DVec3>() / joints.len().max(1) as f64
}

/// Joints that rest on the ground when a body kneels, crawls or lies, with the thickness of the flesh about them.
fn supports(map: &BodyMap, leg: f64) -> Vec<(usize, f64)> {
    let thickness = |part: Part| match part {
        Part::Head => Some(0.08),
        Part::Hips | Part::Chest | Part::Spine => Some(0.1),
        Part::Hand => Some(0.02),
        Part::Forearm => Some(0.04),
        Part::Shin => Some(0.06),
        _ => None,
    };
    let joints = map.joints.iter().enumerate();
    let is_carried = |part: Part| {
        map.class == BodyClass::Biped || !matches!(part, Part::Hand | Part::Forearm | Part::Shin)
    };
    let found = joints.filter(|(_, joint)| is_carried(joint.part) && !joint.is_structural);
    found.filter_map(|(k, joint)| thickness(joint.part).map(|share| (k, share * leg))).collect()
}
