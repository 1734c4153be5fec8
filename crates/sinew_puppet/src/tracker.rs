//! From the output of a camera to a reliable pose.
//!
//! # Source
//! Sun (2017), §2.2.5 and §6.2: only fully tracked frames are used; otherwise the pose is held, not guessed. Differs: a limb that
//! is lost keeps its pose while the rest is followed, see `limb_memory`. Smoothing:
//! Casiez, Roussel and Vogel, *1 € filter: a simple speed-based low-pass filter for noisy input in interactive systems*
//! (2012), eqs. 1–3. Sinew's own: jumps count as lost tracking; a body that stays lost fades to a standing pose, and returns
//! without a jump.

use crate::{
    BodyPlacement, BodyPose, Calibration, CanonicalPose, Limb,
    canonical::{N_NUMBERS, TRUNK},
    figure::smooth,
    limb_memory::{Doubt, LimbMemory},
};
use glam::{DQuat, DVec3};
use std::f64::consts::{PI, TAU};

/// Settings of a tracker.
#[derive(Debug, Clone, PartialEq)]
pub struct TrackerParams {
    /// Smoothing: 0 is none, 1 is slow and smooth (0.4).
    pub smoothing: f64,
    /// Whether left and right are swapped, as in a mirror (false).
    pub mirror: bool,
    /// Limbs that are ignored: they stay in the rest pose (none).
    pub ignored: Vec<Limb>,
    /// Seconds after which a body that stays lost begins to fade to standing (1).
    pub hold_secs: f64,
    /// Speed of a joint beyond which it was mistracked, metres per second (12).
    pub max_speed: f64,
    /// Calibration of camera and actor (none).
    pub calibration: Option<Calibration>,
    /// Whether the source measures every joint, as motion capture does: then no frame is mistracked (false).
    pub is_exact: bool,
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
            is_exact: false,
        }
    }
}

impl TrackerParams {
    /// The body after calibration and mirroring. Pairs are made of such bodies.
    pub fn taken(&self, body: &BodyPose) -> BodyPose {
        let upright = self.calibration.map_or_else(|| body.clone(), |calibration| calibration.apply(body));
        if self.mirror { upright.mirrored() } else { upright }
    }

    /// The body with ignored limbs in the rest pose: complete, if the rest was seen.
    pub fn whole(&self, body: &BodyPose) -> BodyPose {
        self.without_ignored(body.clone())
    }

    /// The body of a pair, as it is compared with tracked bodies.
    pub fn paired(&self, body: &BodyPose) -> CanonicalPose {
        CanonicalPose::of(&self.without_ignored(body.clone())).0
    }

    /// A pose and its place, measured by the calibrated trunk.
    fn measure(&self, body: &BodyPose) -> (CanonicalPose, BodyPlacement) {
        let (pose, place) = CanonicalPose::of(body);
        let trunk = self.calibration.map_or(place.trunk, |calibration| calibration.trunk);
        (pose, BodyPlacement { trunk, ..place })
    }

    /// The body with ignored limbs in the rest pose.
    fn without_ignored(&self, mut body: BodyPose) -> BodyPose {
        if self.ignored.is_empty() {
            return body;
        }
        let (_, place) = CanonicalPose::of(&body);
        let (rest, turn) = (CanonicalPose::rest(), DQuat::from_rotation_y(place.heading));
        for k in self.ignored.iter().flat_map(|limb| limb.joints()) {
            body.joints[k] = body.joints[0] + turn * rest.joint(k) * (place.trunk / TRUNK);
            body.seen[k] = true;
        }
        body
    }
}

/// The tracked body at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracked {
    /// Its pose.
    pub pose: CanonicalPose,
    /// Where it is.
    pub place: BodyPlacement,
    /// Whether this frame was rejected, and the last accepted one is held.
    pub held: bool,
}

/// Seconds of a fade, to standing and back.
const FADE_SECS: f64 = 0.5;
/// A body that stays where it jumped to for this long is accepted.
const ACCEPT_SECS: f64 = 0.25;
/// Cut-off frequencies at smoothing 0 and 1.
const CUTOFF_HERTZ: [f64; 2] = [15.0, 0.4];
/// Increase of the cut-off with speed: hertz per metre per second.
const CUTOFF_PER_SPEED: f64 = 3.0;
/// Cut-off of the speed itself, as in the paper.
const SPEED_CUTOFF_HERTZ: f64 = 1.0;
/// Joints of the trunk, without which nothing is known of the body.
const ROOTS: [usize; 8] = [0, 1, 2, 3, 4, 8, 12, 16];

/// Follows one body.
#[derive(Debug, Clone)]
pub struct BodyTracker {
    params: TrackerParams,
    memory: LimbMemory,
    last: Option<PreviousFrame>,
}

#[derive(Debug, Clone)]
struct PreviousFrame {
    time: f64,
    /// The last frame as received.
    raw: BodyPose,
    /// The last accepted frame, with its time.
    trusted: (f64, CanonicalPose, BodyPlacement),
    /// The last output.
    shown: Tracked,
    /// Since when frames have been held.
    lost_at: Option<f64>,
    /// The output when the body returned, and when.
    back: Option<(f64, CanonicalPose, BodyPlacement)>,
    filter: Box<Filter>,
}

impl BodyTracker {
    /// Follow a body with these settings.
    pub fn new(params: TrackerParams) -> Self {
        Self { params, memory: LimbMemory::default(), last: None }
    }

    /// Process the next frame; times ascend, in seconds. `None` before the first that was fully tracked.
    pub fn step(&mut self, time: f64, body: &BodyPose) -> Option<Tracked> {
        if let Some(last) = self.last.as_ref().filter(|last| time <= last.time) {
            return Some(last.shown.clone());
        }
        let body = self.completed(time, self.prepared(body));
        let is_whole = body.first_missing().is_none();
        let Some(last) = &mut self.last else {
            return is_whole.then(|| self.begin(time, body));
        };
        let can_jump = is_whole && !self.params.is_exact;
        let is_jump = can_jump && ROOTS.iter().any(|&k| last.jumps(&self.params, time, &body, k));
        let has_settled = last.lost_at.is_none_or(|at| time - at > ACCEPT_SECS);
        let is_trusted = is_whole && (!is_jump || (last.lost_at.is_some() && has_settled));
        let shown = match is_trusted {
            true => {
                let (pose, place) = self.params.measure(&body);
                let pose = self.memory.ease(time, pose);
                last.trust(time, (pose, place), self.params.smoothing)
            }
            false => last.hold(time, self.params.hold_secs),
        };
        last.time = time;
        // A jump is measured from the last position; a body that was lost may return elsewhere.
        if is_whole && !is_jump || is_trusted {
            last.raw = body;
        }
        last.shown = shown.clone();
        Some(shown)
    }

    /// The body as it was followed last, with limbs that were not seen as they were.
    pub(crate) fn followed(&self) -> Option<&BodyPose> {
        self.last.as_ref().map(|last| &last.raw)
    }

    /// In how many frames each limb was not seen, and kept its pose while the rest was followed; in the order of [`Limb::ALL`].
    pub fn kept_limbs(&self) -> [usize; 5] {
        self.memory.kept()
    }

    /// The body with limbs that are lost, or jumped, as they were.
    fn completed(&mut self, time: f64, body: BodyPose) -> BodyPose {
        let rest = CanonicalPose::rest();
        let pose = self.last.as_ref().map_or(&rest, |last| &last.trusted.1);
        let seen = body.clone();
        let has_jumped = |k: usize| {
            let last = self.last.as_ref().filter(|_| !self.params.is_exact);
            last.is_some_and(|last| last.jumps(&self.params, time, &seen, k))
        };
        // A body that jumps as a whole is no matter of its limbs.
        let is_steady = !ROOTS.iter().any(|&k| has_jumped(k));
        let doubt = Doubt {
            time,
            accept_secs: ACCEPT_SECS,
            hold_secs: self.params.hold_secs,
            jumped: &|k| is_steady && has_jumped(k),
        };
        self.memory.complete(body, pose, &doubt)
    }

    /// A body as it is followed: calibrated, mirrored, with ignored limbs at rest.
    pub(crate) fn prepared(&self, body: &BodyPose) -> BodyPose {
        self.params.without_ignored(self.params.taken(body))
    }

    fn begin(&mut self, time: f64, body: BodyPose) -> Tracked {
        let (pose, place) = self.params.measure(&body);
        let shown = Tracked { pose: pose.clone(), place, held: false };
        self.last = Some(PreviousFrame {
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

impl PreviousFrame {
    /// Whether a joint is further away than it can have moved.
    fn jumps(&self, params: &TrackerParams, time: f64, body: &BodyPose, joint: usize) -> bool {
        // Motion files have units of their own: the trunk gives the length of a metre.
        let metre = self.place().trunk / TRUNK;
        // After a gap of more than a quarter of a second, speed is not judged.
        let reach = metre * params.max_speed * (time - self.time).clamp(1e-3, ACCEPT_SECS);
        self.raw.joints[joint].distance(body.joints[joint]) > reach
    }

    fn place(&self) -> &BodyPlacement {
        &self.trusted.2
    }

    fn trust(&mut self, time: f64, (pose, place): (CanonicalPose, BodyPlacement), smoothing: f64) -> Tracked {
        if self.lost_at.take().is_some() {
            self.back = Some((time, self.shown.pose.clone(), self.shown.place));
            *self.filter = Filter::new(&pose, &place);
        }
        let (pose, place) = self.filter.step(&pose, &place, time - self.time, smoothing);
        self.trusted = (time, pose.clone(), place);
        let share = self.back.as_ref().map_or(1.0, |(since, ..)| smooth((time - since) / FADE_SECS));
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
        // The held pose is the tracked one, not one of a fade.
        let since = *self.lost_at.get_or_insert(time);
        let share = smooth((time - since - hold_secs) / FADE_SECS);
        let (_, pose, place) = &self.trusted;
        let pose = if share > 0.0 { pose.lerp(&CanonicalPose::rest(), share) } else { pose.clone() };
        let from = match &self.back {
            // It was lost again while it returned: continue from there.
            Some((at, from, _)) if time - at < FADE_SECS => from.lerp(&pose, smooth((time - at) / FADE_SECS)),
            _ => pose,
        };
        Tracked { pose: from, place: *place, held: true }
    }
}

impl BodyPlacement {
    fn lerp(&self, other: &Self, share: f64) -> Self {
        let turn = (other.heading - self.heading + PI).rem_euclid(TAU) - PI;
        Self {
            position: self.position.lerp(other.position, share),
            heading: self.heading + share * turn,
            trunk: self.trunk + share * (other.trunk - self.trunk),
        }
    }
}

/// A low-pass filter whose cut-off increases with speed, for every number of a pose and a placement.
#[derive(Debug, Clone)]
struct Filter {
    value: [f64; N_FILTERED],
    speed: [f64; N_FILTERED],
}

/// Pose, position, heading, trunk.
const N_FILTERED: usize = N_NUMBERS + 5;

impl Filter {
    fn new(pose: &CanonicalPose, place: &BodyPlacement) -> Self {
        Self { value: flatten(pose, place), speed: [0.0; N_FILTERED] }
    }

    fn step(
        &mut self,
        pose: &CanonicalPose,
        place: &BodyPlacement,
        secs: f64,
        smoothing: f64,
    ) -> (CanonicalPose, BodyPlacement) {
        let mut input = flatten(pose, place);
        // Headings continue beyond a full turn.
        let heading = &mut input[N_NUMBERS + 3];
        *heading += TAU * ((self.value[N_NUMBERS + 3] - *heading) / TAU).round();
        if smoothing <= 0.0 {
            *self = Self { value: input, speed: [0.0; N_FILTERED] };
        }
        let lowest = CUTOFF_HERTZ[0] * (CUTOFF_HERTZ[1] / CUTOFF_HERTZ[0]).powf(smoothing.clamp(0.0, 1.0));
        let alpha = |cutoff: f64| 1.0 / (1.0 + 1.0 / (TAU * cutoff * secs));
        for k in 0..N_FILTERED {
            let speed = (input[k] - self.value[k]) / secs;
            self.speed[k] += alpha(SPEED_CUTOFF_HERTZ) * (speed - self.speed[k]);
            let cutoff = lowest + CUTOFF_PER_SPEED * self.speed[k].abs();
            self.value[k] += alpha(cutoff) * (input[k] - self.value[k]);
        }
        unflatten(&self.value)
    }
}

fn flatten(pose: &CanonicalPose, place: &BodyPlacement) -> [f64; N_FILTERED] {
    let mut values = [0.0; N_FILTERED];
    values[..N_NUMBERS].copy_from_slice(&pose.numbers);
    place.position.write_to_slice(&mut values[N_NUMBERS..]);
    [values[N_NUMBERS + 3], values[N_NUMBERS + 4]] = [place.heading, place.trunk];
    values
}

fn unflatten(values: &[f64; N_FILTERED]) -> (CanonicalPose, BodyPlacement) {
    let pose = CanonicalPose { numbers: std::array::from_fn(|k| values[k]) };
    let position = DVec3::from_slice(&values[N_NUMBERS..]);
    (pose, BodyPlacement { position, heading: values[N_NUMBERS + 3], trunk: values[N_NUMBERS + 4] })
}
