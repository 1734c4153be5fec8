//! From the output of a camera to a reliable pose.
//!
//! # Source
//! Sun (2017), §2.2.5 and §6.2: only fully tracked frames are used; otherwise the pose is held, not guessed. Smoothing:
//! Casiez, Roussel and Vogel, *1 € filter: a simple speed-based low-pass filter for noisy input in interactive systems*
//! (2012), eqs. 1–3. Sinew's own: jumps count as lost tracking; what stays lost fades to a standing pose, and returns
//! without a jump.

use crate::{
    BodyPose, Calibration, Limb, NormalPose, Place,
    normal::{N_NUMBERS, TRUNK},
};
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// How a stream of bodies is treated.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackerParams {
    /// 0 leaves everything as it is, 1 makes it slow and smooth (0.4).
    pub smoothing: f64,
    /// Whether left and right are exchanged, as in a mirror (false).
    pub mirror: bool,
    /// Limbs that are not listened to: they stand or hang (none).
    pub ignored: Vec<Limb>,
    /// Seconds after which a body that stays lost begins to fade to standing (1).
    pub hold_secs: f64,
    /// Metres a second beyond which a joint did not move but was mistaken (12).
    pub max_speed: f64,
    /// What is known of camera and actor (nothing).
    pub calibration: Option<Calibration>,
}

impl Default for TrackerParams {
    fn default() -> Self {
        Self {
            smoothing: 0.4,
            mirror: false,
            ignored: Vec::new(),
            hold_secs: 1.0,
            max_speed: 12.0,
            calibration: None,
        }
    }
}

impl TrackerParams {
    /// The body as it is taken: upright, and mirrored if it should be. Pairs are made of such bodies.
    pub fn taken(&self, body: &BodyPose) -> BodyPose {
        let upright = self.calibration.map_or_else(|| body.clone(), |calibration| calibration.apply(body));
        if self.mirror { upright.mirrored() } else { upright }
    }

    /// The body with what is not listened to standing or hanging: whole, if the rest was seen.
    pub fn whole(&self, body: &BodyPose) -> BodyPose {
        self.without_ignored(body.clone())
    }

    /// The body of a pair, as the bodies that follow are compared with it.
    pub fn paired(&self, body: &BodyPose) -> NormalPose {
        NormalPose::of(&self.without_ignored(body.clone())).0
    }

    /// A pose and its place, measured by the trunk that is known.
    fn measure(&self, body: &BodyPose) -> (NormalPose, Place) {
        let (pose, place) = NormalPose::of(body);
        let trunk = self.calibration.map_or(place.trunk, |calibration| calibration.trunk);
        (pose, Place { trunk, ..place })
    }

    /// The body with the limbs that are not listened to standing or hanging.
    fn without_ignored(&self, mut body: BodyPose) -> BodyPose {
        if self.ignored.is_empty() {
            return body;
        }
        let (_, place) = NormalPose::of(&body);
        let (rest, turn) = (NormalPose::rest(), DQuat::from_rotation_y(place.heading));
        for k in self.ignored.iter().flat_map(|limb| limb.joints()) {
            body.joints[k] = body.joints[0] + turn * rest.joint(k) * (place.trunk / TRUNK);
            body.seen[k] = true;
        }
        body
    }
}

/// What is known of the body at a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracked {
    /// Its pose.
    pub pose: NormalPose,
    /// Where it is.
    pub place: Place,
    /// Whether this frame was not trusted, and the last that was is held.
    pub held: bool,
}

/// Seconds a fade takes, to standing and back.
const FADE_SECS: f64 = 0.5;
/// A body that stays where it jumped to for so long is really there.
const ACCEPT_SECS: f64 = 0.25;
/// Cut-off frequencies at smoothing 0 and 1.
const CUTOFFS: [f64; 2] = [15.0, 0.4];
/// How much faster movements are let through: hertz for a metre a second.
const EAGERNESS: f64 = 3.0;
/// Cut-off of the speed itself, as in the paper.
const SPEED_CUTOFF: f64 = 1.0;

/// Follows one body.
#[derive(Debug, Clone)]
pub struct BodyTracker {
    params: TrackerParams,
    last: Option<Last>,
}

#[derive(Debug, Clone)]
struct Last {
    time: f64,
    /// The last frame as it came.
    raw: BodyPose,
    /// The last that was trusted, with its time.
    trusted: (f64, NormalPose, Place),
    /// What was shown.
    shown: Tracked,
    /// Since when frames have been held.
    lost_at: Option<f64>,
    /// What was shown when the body came back, and when.
    back: Option<(f64, NormalPose, Place)>,
    filter: Box<Filter>,
}

impl BodyTracker {
    /// Follow a body with these settings.
    pub fn new(params: TrackerParams) -> Self {
        Self { params, last: None }
    }

    /// Take the next frame; times rise, in seconds. Nothing is known before the first that was fully tracked.
    pub fn step(&mut self, time: f64, body: &BodyPose) -> Option<Tracked> {
        let body = self.params.without_ignored(self.params.taken(body));
        let is_whole = body.first_missing().is_none();
        let Some(last) = &mut self.last else {
            return is_whole.then(|| self.begin(time, body));
        };
        // Frames that come twice, or late, tell nothing new.
        if time <= last.time {
            return Some(last.shown.clone());
        }
        let is_jump = is_whole && jumps(&last.raw, &body, time - last.time, self.params.max_speed);
        let has_settled = last.lost_at.is_none_or(|at| time - at > ACCEPT_SECS);
        let is_trusted = is_whole && (!is_jump || (last.lost_at.is_some() && has_settled));
        let shown = match is_trusted {
            true => last.trust(time, self.params.measure(&body), self.params.smoothing),
            false => last.hold(time, self.params.hold_secs),
        };
        last.time = time;
        // A jump is judged from where the body was; a body that was lost may come back elsewhere.
        if is_whole && !is_jump || is_trusted {
            last.raw = body;
        }
        last.shown = shown.clone();
        Some(shown)
    }

    fn begin(&mut self, time: f64, body: BodyPose) -> Tracked {
        let (pose, place) = self.params.measure(&body);
        let shown = Tracked { pose: pose.clone(), place, held: false };
        self.last = Some(Last {
            time,
            raw: body,
            trusted: (time, pose.clone(), place),
            shown: shown.clone(),
            lost_at: None,
            back: None,
            filter: Box::new(Filter::new(&pose, &place)),
        });
        shown
    }
}

impl Last {
    fn trust(&mut self, time: f64, (pose, place): (NormalPose, Place), smoothing: f64) -> Tracked {
        if self.lost_at.take().is_some() {
            self.back = Some((time, self.shown.pose.clone(), self.shown.place));
            *self.filter = Filter::new(&pose, &place);
        }
        let (pose, place) = self.filter.step(&pose, &place, time - self.time, smoothing);
        self.trusted = (time, pose.clone(), place);
        let share = self.back.as_ref().map_or(1.0, |(since, ..)| ease((time - since) / FADE_SECS));
        match &self.back {
            Some((_, from, from_place)) if share < 1.0 => {
                Tracked { pose: from.lerp(&pose, share), place: from_place.lerp(&place, share), held: false }
            }
            _ => {
                self.back = None;
                Tracked { pose, place, held: false }
            }
        }
    }

    fn hold(&mut self, time: f64, hold_secs: f64) -> Tracked {
        // What is held is what was seen, not a moment of coming back.
        let since = *self.lost_at.get_or_insert(time);
        let share = ease((time - since - hold_secs) / FADE_SECS);
        let (_, pose, place) = &self.trusted;
        let pose = if share > 0.0 { pose.lerp(&NormalPose::rest(), share) } else { pose.clone() };
        let from = match &self.back {
            // It was lost again while it came back: go on from there.
            Some((at, from, _)) if time - at < FADE_SECS => from.lerp(&pose, ease((time - at) / FADE_SECS)),
            _ => pose,
        };
        Tracked { pose: from, place: *place, held: true }
    }
}

impl Place {
    fn lerp(&self, other: &Self, share: f64) -> Self {
        let turn = (other.heading - self.heading + PI).rem_euclid(TAU) - PI;
        Self {
            position: self.position.lerp(other.position, share),
            heading: self.heading + share * turn,
            trunk: self.trunk + share * (other.trunk - self.trunk),
        }
    }
}

/// From 0 to 1 without a start or stop.
fn ease(share: f64) -> f64 {
    let t = share.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

fn jumps(before: &BodyPose, after: &BodyPose, secs: f64, max_speed: f64) -> bool {
    // Frames that were left out are not speed: beyond a quarter of a second anything may have happened.
    // Motion files have units of their own: the trunk tells how large a metre is.
    let metre = NormalPose::of(before).1.trunk / TRUNK;
    let reach = metre * max_speed * secs.clamp(1e-3, ACCEPT_SECS);
    before.joints.iter().zip(&after.joints).any(|(a, b)| a.distance(*b) > reach)
}

/// A low-pass whose cut-off rises with speed, for every number of a pose and a place.
#[derive(Debug, Clone)]
struct Filter {
    value: [f64; N_FILTERED],
    speed: [f64; N_FILTERED],
}

/// Pose, position, heading, trunk.
const N_FILTERED: usize = N_NUMBERS + 5;

impl Filter {
    fn new(pose: &NormalPose, place: &Place) -> Self {
        Self { value: flatten(pose, place), speed: [0.0; N_FILTERED] }
    }

    fn step(&mut self, pose: &NormalPose, place: &Place, secs: f64, smoothing: f64) -> (NormalPose, Place) {
        let mut input = flatten(pose, place);
        // Headings go on over the full turn.
        let heading = &mut input[N_NUMBERS + 3];
        *heading += TAU * ((self.value[N_NUMBERS + 3] - *heading) / TAU).round();
        if smoothing <= 0.0 {
            *self = Self { value: input, speed: [0.0; N_FILTERED] };
        }
        let lowest = CUTOFFS[0] * (CUTOFFS[1] / CUTOFFS[0]).powf(smoothing.clamp(0.0, 1.0));
        let alpha = |cutoff: f64| 1.0 / (1.0 + 1.0 / (TAU * cutoff * secs));
        for k in 0..N_FILTERED {
            let speed = (input[k] - self.value[k]) / secs;
            self.speed[k] += alpha(SPEED_CUTOFF) * (speed - self.speed[k]);
            let cutoff = lowest + EAGERNESS * self.speed[k].abs();
            self.value[k] += alpha(cutoff) * (input[k] - self.value[k]);
        }
        unflatten(&self.value)
    }
}

fn flatten(pose: &NormalPose, place: &Place) -> [f64; N_FILTERED] {
    let mut values = [0.0; N_FILTERED];
    values[..N_NUMBERS].copy_from_slice(&pose.numbers);
    place.position.write_to_slice(&mut values[N_NUMBERS..]);
    [values[N_NUMBERS + 3], values[N_NUMBERS + 4]] = [place.heading, place.trunk];
    values
}

fn unflatten(values: &[f64; N_FILTERED]) -> (NormalPose, Place) {
    let pose = NormalPose { numbers: std::array::from_fn(|k| values[k]) };
    let position = DVec3::from_slice(&values[N_NUMBERS..]);
    (pose, Place { position, heading: values[N_NUMBERS + 3], trunk: values[N_NUMBERS + 4] })
}
