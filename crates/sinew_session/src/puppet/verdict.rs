//! What a user should know about a take: where it is worse than what the actor did, measured on what was made.
//!
//! # Source
//! Sinew's own. Amplitudes are distances of joints from where they mostly are, root mean square, over their distance from the
//! middle of the body; what shakes accelerates more than its source for the same amplitude.

use super::{Actor, Performance};
use crate::{DEFAULT_FPS, Document};
use glam::{DAffine3, DVec3, Vec3};
use sinew_geom::{
    Character, Clip,
    body_map::{BodyClass, BodyMap, Part},
    rig::Side,
};
use sinew_puppet::{BodyPose, Limb};

/// Acceleration and amplitude relative to the actor's beyond which it is seen.
const MAX_ACCELERATION_RATIO: f64 = 1.3;
const AMPLITUDE_RATIOS: [f64; 2] = [0.5, 1.5];
/// Travel relative to the actor's in heights of both, and of a character whose actor stays.
const TRAVEL_RATIOS: [f64; 2] = [0.5, 2.0];
const MAX_STRAY_HEIGHTS: f64 = 0.3;
/// How much further edges stretch than in the character's own clips.
const MAX_EXTRA_STRETCH: f64 = 0.33;
/// Speed of feet that stand in the source, and height above their lowest; speed of their likes in the take that is seen.
const STANDING_M_PER_S: f64 = 0.12;
const STANDING_HEIGHT_M: f64 = 0.04;
const MAX_SLIDE_M_PER_S: f64 = 0.018;
/// Length of the legs of a person of 1.7 m.
const LEG_METRES: f64 = 0.83;
/// Shares of frames that may be lost, of motion files and of cameras.
const MAX_LOST_SHARES: [f64; 2] = [0.01, 0.25];
/// Amplitude below which nothing moves.
const MIN_AMPLITUDE: f64 = 0.005;
/// Height of the standard body over its trunk.
const HEIGHT_OF_TRUNK: f64 = 3.5;
/// The actor's joints that are those of limbs.
const LIMB_JOINTS: [usize; 14] = [4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19];
/// Words by which a gait is found among clips.
const GAITS: [&str; 5] = ["walk", "run", "gallop", "trot", "jump"];

/// Points over time.
struct Track {
    frames: Vec<Vec<DVec3>>,
    secs: f64,
}

impl Performance {
    /// Where the take is worse than what the actor did, one sentence each.
    pub fn faults(&self, document: &Document, actor: &Actor) -> Vec<String> {
        let mut faults = self.lost_frames(actor);
        let worlds = self.worlds();
        let Some(rig) = document.body.rig.as_ref().filter(|_| worlds.len() >= 5) else { return faults };
        let clips: Vec<Clip> = document.clips.iter().map(|clip| (**clip).clone()).collect();
        let map = BodyMap::read(rig, &clips);
        let is_person = map.class == BodyClass::Biped;
        let joints = compared_joints(&document.body, &map, is_person);
        if joints.is_empty() {
            return faults;
        }
        let points = |world: &[DAffine3]| joints.iter().map(|&k| world[k].translation).collect();
        let take =
            Track { frames: worlds.iter().map(|world| points(world)).collect(), secs: self.fps.recip() };
        let source = actor_track(actor, worlds.len(), self.fps, is_person);
        let cuts = source.cuts();
        let (ours, theirs) = (take.amplitude(), source.amplitude());
        let rough = |track: &Track, amplitude: f64| track.acceleration(&cuts) / amplitude.max(MIN_AMPLITUDE);
        let shake = rough(&take, ours) / rough(&source, theirs);
        if shake.is_finite() && shake > MAX_ACCELERATION_RATIO {
            faults.push(format!("the take shakes: it accelerates {shake:.1} times as much as the actor"));
        }
        let gait = if is_person { None } else { gait_amplitude(document, &joints) };
        let (least, most) = (theirs.min(gait.unwrap_or(theirs)), theirs.max(gait.unwrap_or(theirs)));
        if ours < AMPLITUDE_RATIOS[0] * least.max(1e-6) {
            faults.push(format!("the take moves {:.0} % as much as the actor", 100.0 * ours / least));
        } else if ours > AMPLITUDE_RATIOS[1] * most.max(4.0 * MIN_AMPLITUDE) {
            faults.push(format!("the take moves {:.1} times as much as the actor", ours / most));
        }
        faults.extend(travel_fault(document, actor, &map, &worlds));
        faults.extend(slide_fault(actor, &map, &worlds, self.fps).filter(|_| is_person));
        faults.extend(stretch_fault(&document.body, &clips, &worlds));
        faults
    }

    fn lost_frames(&self, actor: &Actor) -> Vec<String> {
        let n = self.acted.len().max(1) as f64;
        let share = |frames: usize| frames as f64 / n;
        let most = MAX_LOST_SHARES[usize::from(!actor.source.is_exact)];
        let mut faults = Vec::new();
        if share(self.report.n_held) > most {
            let held = 100.0 * share(self.report.n_held);
            faults.push(format!("{held:.0} % of the frames were not tracked; the last pose is held there"));
        }
        for (limb, kept) in Limb::ALL.into_iter().zip(self.puppet().kept_limbs()) {
            if share(kept) > most {
                faults.push(format!(
                    "{} was not tracked in {:.0} % of the frames and keeps its pose there",
                    limb.name(),
                    100.0 * share(kept)
                ));
            }
        }
        faults
    }
}

/// Joints of limbs of a person; of other bodies all that carry skin.
fn compared_joints(body: &Character, map: &BodyMap, is_person: bool) -> Vec<usize> {
    const LIMBS: [Part; 7] =
        [Part::UpperArm, Part::Forearm, Part::Hand, Part::Thigh, Part::Shin, Part::Foot, Part::Toe];
    match is_person {
        true => [Side::Left, Side::Right]
            .into_iter()
            .flat_map(|side| LIMBS.into_iter().filter_map(move |part| map.find(part, side)))
            .collect(),
        false => {
            let carries = carriers(body, map.joints.len());
            (0..map.joints.len()).filter(|&k| carries[k]).collect()
        }
    }
}

/// Which joints carry skin: controls move nothing that is seen.
fn carriers(body: &Character, n: usize) -> Vec<bool> {
    let Some(skin) = &body.skin else { return vec![true; n] };
    let mut carries = vec![false; n];
    for vertex in 0..skin.n_vertices() {
        for (slot, weight) in skin.vertex(vertex) {
            carries[skin.slots[slot as usize].joint] |= weight > 0.1;
        }
    }
    carries
}

/// The actor at the moments of the take.
fn actor_track(actor: &Actor, n: usize, fps: f64, is_person: bool) -> Track {
    let joints: Vec<usize> = if is_person { LIMB_JOINTS.to_vec() } else { (0..20).collect() };
    // What was not seen at a moment is where it was seen last.
    let mut known: Vec<(f64, Vec<DVec3>)> = Vec::with_capacity(actor.frames.len());
    for (time, body) in &actor.frames {
        let at = |(i, &k): (usize, &usize)| match (body.joints[k].is_finite(), known.last()) {
            (false, Some((_, last))) => last[i],
            (false, None) => first_seen(actor, k),
            _ => body.joints[k],
        };
        let places = joints.iter().enumerate().map(at).collect();
        known.push((*time, places));
    }
    let start = known.first().map_or(0.0, |(time, _)| *time);
    let mut next = 1;
    let frame = |k: usize| {
        let time = start + k as f64 / fps;
        while next + 1 < known.len() && known[next].0 <= time {
            next += 1;
        }
        let ((a, from), (b, to)) = (&known[next.min(known.len()) - 1], &known[next.min(known.len() - 1)]);
        let share = if b > a { ((time - a) / (b - a)).clamp(0.0, 1.0) } else { 0.0 };
        from.iter().zip(to).map(|(p, q)| p.lerp(*q, share)).collect()
    };
    Track { frames: (0..n).map(frame).collect(), secs: fps.recip() }
}

fn first_seen(actor: &Actor, joint: usize) -> DVec3 {
    let place = |(_, body): &(f64, BodyPose)| Some(body.joints[joint]).filter(|p| p.is_finite());
    actor.frames.iter().find_map(place).unwrap_or_default()
}

impl Track {
    /// Points against their middle.
    fn locals(&self) -> Vec<Vec<DVec3>> {
        let local = |points: &Vec<DVec3>| {
            let middle = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
            points.iter().map(|p| *p - middle).collect()
        };
        self.frames.iter().map(local).collect()
    }

    fn spread(&self) -> f64 {
        let square = |points: &Vec<DVec3>| {
            points.iter().map(|p| p.length_squared()).sum::<f64>() / points.len().max(1) as f64
        };
        let mut all: Vec<f64> = self.locals().iter().map(square).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2].sqrt().max(1e-12)
    }

    fn amplitude(&self) -> f64 {
        let (frames, n) = (self.locals(), self.frames.len() as f64);
        let square = |k: usize| {
            let mean = frames.iter().map(|points| points[k]).sum::<DVec3>() / n;
            frames.iter().map(|points| points[k].distance_squared(mean)).sum::<f64>() / n
        };
        let points = frames[0].len();
        ((0..points).map(square).sum::<f64>() / points.max(1) as f64).sqrt() / self.spread()
    }

    /// Frames at which it jumps.
    fn cuts(&self) -> Vec<usize> {
        let widest = |pair: &[Vec<DVec3>]| {
            pair[0].iter().zip(&pair[1]).map(|(p, q)| p.distance(*q)).fold(0.0, f64::max)
        };
        let steps: Vec<f64> = self.frames.windows(2).map(widest).collect();
        let mut sorted = steps.clone();
        sorted.sort_by(f64::total_cmp);
        let usual = sorted[sorted.len() * 19 / 20];
        let most = (4.0 * usual).max(0.1 * self.spread());
        (1..self.frames.len()).filter(|&k| steps[k - 1] > most).collect()
    }

    /// Root mean square, in spreads, apart from what is near cuts.
    fn acceleration(&self, cuts: &[usize]) -> f64 {
        let (mut sum, mut n) = (0.0, 0u32);
        let moments = 1..self.frames.len() - 1;
        for k in moments.filter(|k| !cuts.iter().any(|cut| k.abs_diff(*cut) <= 3)) {
            for p in 0..self.frames[k].len() {
                let at = |k: usize| self.frames[k][p];
                sum += (at(k + 1) - 2.0 * at(k) + at(k - 1)).length_squared();
                n += 1;
            }
        }
        (sum / f64::from(n.max(1))).sqrt() / self.secs.powi(2) / self.spread()
    }
}

/// How much the character moves in a gait of its own.
fn gait_amplitude(document: &Document, joints: &[usize]) -> Option<f64> {
    let rig = document.body.rig.as_ref()?;
    let is_of = |word: &str| document.clips.iter().find(|clip| clip.name.to_lowercase().contains(word));
    let clip = GAITS.into_iter().find_map(is_of).or_else(|| document.clips.first())?;
    let n = (clip.duration_secs() * DEFAULT_FPS as f32) as usize + 1;
    let mut world = Vec::new();
    let mut frames = Vec::with_capacity(n);
    for k in 0..n {
        rig.forward(&clip.sample(rig, k as f32 / DEFAULT_FPS as f32), &mut world).ok()?;
        frames.push(joints.iter().map(|&k| world[k].translation).collect());
    }
    (n >= 2).then(|| Track { frames, secs: 1.0 / DEFAULT_FPS }.amplitude())
}

/// A character gets as far as its actor, in heights, and stays with one who stays.
fn travel_fault(document: &Document, actor: &Actor, map: &BodyMap, worlds: &[&[DAffine3]]) -> Option<String> {
    let furthest = |places: &[DVec3], up: DVec3| {
        places.iter().map(|p| (*p - places[0]).reject_from(up).length()).fold(0.0, f64::max)
    };
    let middle =
        |world: &&[DAffine3]| world.iter().map(|m| m.translation).sum::<DVec3>() / world.len() as f64;
    let bodies = || actor.frames.iter().map(|(_, body)| body).filter(|body| body.joints[0].is_finite());
    let hips: Vec<DVec3> = bodies().map(|body| body.joints[0]).collect();
    let mut trunks: Vec<f64> = bodies().map(|body| body.joints[0].distance(body.joints[2])).collect();
    trunks.sort_by(f64::total_cmp);
    let theirs = furthest(&hips, DVec3::Y) / (HEIGHT_OF_TRUNK * trunks.get(trunks.len() / 2)?);
    let heights = || document.mesh().positions().iter().map(|p| p.dot(map.up));
    let tall = heights().fold(f64::MIN, f64::max) - heights().fold(f64::MAX, f64::min);
    let ours = furthest(&worlds.iter().map(middle).collect::<Vec<_>>(), map.up) / tall;
    let strays = theirs < 0.1 && ours > MAX_STRAY_HEIGHTS;
    let differs = theirs > 1.0 && !(TRAVEL_RATIOS[0]..=TRAVEL_RATIOS[1]).contains(&(ours / theirs));
    let goes = document.puppet.settings.travel && ours.is_finite();
    (goes && (strays || differs)).then(|| {
        format!("the character travels {ours:.1} times its height, the actor {theirs:.1} times its own")
    })
}

/// Feet that stand in a motion file and slide in the take, at the size of a person.
fn slide_fault(actor: &Actor, map: &BodyMap, worlds: &[&[DAffine3]], fps: f64) -> Option<String> {
    let times = actor.frames.iter().zip(worlds).skip(1).zip(worlds);
    let first = &actor.frames[0].1.joints;
    let leg = |at: &dyn Fn(usize) -> DVec3| at(0).distance(at(1)) + at(1).distance(at(2));
    let theirs = leg(&|k| first[12 + k]);
    let parts = [Part::Thigh, Part::Shin, Part::Foot].map(|part| map.find(part, Side::Left));
    let [Some(thigh), Some(shin), Some(foot)] = parts else { return None };
    let ours = leg(&|k| worlds[0][[thigh, shin, foot][k]].translation);
    let (mut sum, mut n) = (0.0, 0u32);
    for (part, side, joint) in [
        (Part::Foot, Side::Left, 14),
        (Part::Foot, Side::Right, 18),
        (Part::Toe, Side::Left, 15),
        (Part::Toe, Side::Right, 19),
    ] {
        let Some(own) = map.find(part, side) else { continue };
        let mut heights: Vec<f64> = actor.frames.iter().map(|(_, body)| body.joints[joint].y).collect();
        heights.sort_by(f64::total_cmp);
        let floor = heights[heights.len() / 50];
        for ((((_, body), world), before), (_, last)) in times.clone().zip(&actor.frames) {
            let speed = (body.joints[joint] - last.joints[joint]).length() / theirs * LEG_METRES * fps;
            if speed < STANDING_M_PER_S
                && body.joints[joint].y - floor < STANDING_HEIGHT_M * theirs / LEG_METRES
            {
                let way = (world[own].translation - before[own].translation).reject_from(map.up);
                sum += way.length() / ours * LEG_METRES * fps - speed;
                n += 1;
            }
        }
    }
    let slide = sum / f64::from(n.max(1));
    (actor.source.is_exact && slide > MAX_SLIDE_M_PER_S)
        .then(|| format!("planted feet slide at {:.1} cm/s on a body of 1.7 m", 100.0 * slide))
}

/// Edges that are stretched beyond what the character's own clips do.
fn stretch_fault(body: &Character, clips: &[Clip], worlds: &[&[DAffine3]]) -> Option<String> {
    let (rig, _) = body.rig.as_ref().zip(body.skin.as_ref())?;
    let rest = body.positions_by(&rig.rest_world()).ok()?;
    let change = |world: &[DAffine3]| {
        let posed: Vec<Vec3> = body.positions_by(world).ok()?;
        let mut changes: Vec<f32> = Vec::with_capacity(3 * body.mesh.faces().len());
        for face in body.mesh.faces() {
            for k in 0..3 {
                let (a, b) = (face[k] as usize, face[(k + 1) % 3] as usize);
                let long = rest[a].distance(rest[b]);
                if long > 0.0 {
                    changes.push((posed[a].distance(posed[b]) / long - 1.0).abs());
                }
            }
        }
        let at = changes.len() * 999 / 1000;
        (!changes.is_empty()).then(|| f64::from(*changes.select_nth_unstable_by(at, f32::total_cmp).1))
    };
    let moments = (1..10).filter_map(|k| change(worlds[k * (worlds.len() - 1) / 10]));
    let most = moments.fold(0.0, f64::max);
    if most <= MAX_EXTRA_STRETCH {
        return None;
    }
    let mut own = 0.0f64;
    for clip in clips.iter().take(16) {
        for share in [0.25, 0.5, 0.75] {
            let mut world = Vec::new();
            rig.forward(&clip.sample(rig, share * clip.duration_secs()), &mut world).ok()?;
            own = own.max(change(&world)?);
        }
    }
    ((1.0 + most) / (1.0 + own) > 1.0 + MAX_EXTRA_STRETCH).then(|| {
        format!(
            "the surface stretches by {:.0} % somewhere, {:.0} % in its own clips",
            100.0 * most,
            100.0 * own
        )
    })
}
