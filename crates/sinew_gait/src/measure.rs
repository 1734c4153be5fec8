//! What a gait does, measured on the character that plays its clip.

use crate::{error::GaitError, footfall::Floor, gait::Gait, leg::Leg, params::GaitParams, walker::Walker};
use glam::{DAffine3, DVec2, DVec3};
use sinew_geom::{Character, Clip, body_map::BodyClass};
use std::collections::VecDeque;

/// What a gait does. Lengths are metres.
#[derive(Debug, Clone, PartialEq)]
pub struct GaitReport {
    /// Which it is.
    pub gait: Gait,
    /// What the body was taken for.
    pub class: BodyClass,
    /// Mean speed along its way, metres per second.
    pub speed: f64,
    /// The speed that was asked for or chosen; none for a line, on which it starts and stops.
    pub asked_speed: Option<f64>,
    /// Length of a stride.
    pub stride: f64,
    /// Seconds of a stride.
    pub stride_secs: f64,
    /// Height of the hips.
    pub leg: f64,
    /// Height of the body.
    pub height: f64,
    /// How far anything gets below the ground.
    pub sink: f64,
    /// Every foot.
    pub feet: Vec<FootReport>,
}

/// What a foot does.
#[derive(Debug, Clone, PartialEq)]
pub struct FootReport {
    /// Name of its joint.
    pub name: String,
    /// Speed at which it slides while it stands, metres per second: 95 of 100 moments are below.
    pub slide: f64,
    /// How high its lowest point is lifted.
    pub lift: f64,
}

/// Slide per metre of leg, depth per height and lift per leg beyond which a gait is faulty.
const MAX_SLIDE: f64 = 0.05;
const MAX_SINK: f64 = 0.01;
const MIN_LIFT: f64 = 0.04;
/// Relative difference from the speed that was asked for.
const MAX_SPEED_ERROR: f64 = 0.05;
/// Height above the ground in heights of the body up to which something stands on it.
const MAX_STANDING_HEIGHT: f64 = 0.01;

impl GaitReport {
    /// What is wrong, in words; nothing if the gait is good.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for foot in &self.feet {
            if foot.slide > MAX_SLIDE * self.leg {
                faults.push(format!(
                    "{} slides at {:.1} cm/s while it stands",
                    foot.name,
                    100.0 * foot.slide
                ));
            }
            if foot.lift < MIN_LIFT * self.leg {
                faults.push(format!("{} is lifted by only {:.1} cm", foot.name, 100.0 * foot.lift));
            }
        }
        if self.sink > MAX_SINK * self.height {
            faults.push(format!("the surface gets {:.1} cm below the ground", 100.0 * self.sink));
        }
        if let Some(asked) =
            self.asked_speed.filter(|asked| (self.speed / asked - 1.0).abs() > MAX_SPEED_ERROR)
        {
            faults.push(format!("its speed is {:.2} instead of {asked:.2} m/s", self.speed));
        }
        faults
    }
}

impl GaitReport {
    pub(crate) fn of(
        walker: &Walker,
        feet: Vec<FootReport>,
        [speed, sink]: [f64; 2],
        asked_speed: Option<f64>,
    ) -> Self {
        Self {
            gait: walker.gait,
            class: walker.base.map.class,
            speed,
            asked_speed,
            stride: walker.speed * walker.period * walker.unit,
            stride_secs: walker.period,
            leg: walker.hip_height * walker.unit,
            height: walker.base.height() * walker.unit,
            sink,
            feet,
        }
    }
}

/// What is followed of a character: its surface, or its joints.
struct Seen<'a> {
    character: &'a Character,
    walker: &'a Walker<'a>,
    unit: f64,
}

impl Seen<'_> {
    fn points(&self, clip: &Clip, time: f32) -> Result<Vec<DVec3>, GaitError> {
        let base = &self.walker.base;
        let mut world: Vec<DAffine3> = Vec::new();
        base.rig.forward(&clip.sample(base.rig, time), &mut world)?;
        let points: Vec<DVec3> = if self.has_surface() {
            self.character.positions_by(&world)?.iter().map(|p| p.as_dvec3()).collect()
        } else {
            world.iter().map(|joint| joint.translation).collect()
        };
        Ok(points.into_iter().map(|p| base.body_from_world.transform_point3(p) * self.unit).collect())
    }

    fn has_surface(&self) -> bool {
        self.character.skin.as_ref().is_some_and(|skin| skin.n_vertices() > 0)
    }

    /// Points of the end of each leg.
    fn feet(&self) -> Vec<Vec<usize>> {
        let base = &self.walker.base;
        let ends = self.walker.legs.iter().map(|leg| leg.foot.unwrap_or(leg.chain[leg.chain.len() - 1]));
        let owner = |v: usize| -> usize {
            let Some(skin) = self.character.skin.as_ref().filter(|_| self.has_surface()) else { return v };
            let most = skin.vertex(v).max_by(|a, b| a.1.total_cmp(&b.1));
            most.and_then(|(slot, _)| skin.slots.get(slot as usize)).map_or(0, |slot| slot.joint)
        };
        let n = if self.has_surface() { self.character.mesh.n_vertices() } else { base.places.len() };
        let owners: Vec<usize> = (0..n).map(owner).collect();
        ends.map(|end| {
            let below = base.below(end);
            (0..n).filter(|&v| below[owners[v]]).collect()
        })
        .collect()
    }
}

/// Play a clip and measure.
pub(crate) fn measure(
    character: &Character,
    walker: &Walker,
    clip: &Clip,
    frames: usize,
    floor: &Floor,
    params: &GaitParams,
) -> Result<GaitReport, GaitError> {
    let unit = walker.unit;
    let seen = Seen { character, walker, unit };
    let high = |p: DVec3| p.y - unit * floor(DVec2::new(p.x, p.z) / unit);
    let feet = seen.feet();
    let near = MAX_STANDING_HEIGHT * walker.base.height() * unit;
    let mut slides: Vec<Vec<f64>> = vec![Vec::new(); feet.len()];
    let mut lifts = vec![0.0f64; feet.len()];
    let (mut sink, mut path) = (0.0f64, 0.0);
    let mut seen_last: VecDeque<Vec<DVec3>> = VecDeque::new();
    // On a treadmill feet that stand are carried back.
    let back = if params.in_place { walker.speed * unit / params.fps } else { 0.0 };
    for frame in 0..frames {
        let points = seen.points(clip, (frame as f64 / params.fps) as f32)?;
        // Joints of a skeleton without a surface lie inside of its body.
        if seen.has_surface() {
            sink = points.iter().map(|p| -high(*p)).fold(sink, f64::max);
        }
        for (leg, foot) in feet.iter().enumerate() {
            let low = foot.iter().map(|&v| high(points[v])).fold(f64::INFINITY, f64::min);
            if low.is_finite() {
                lifts[leg] = lifts[leg].max(low);
            }
            let [first, from, to] = [0, 1, 2].map(|k| seen_last.get(k));
            let (Some(first), Some(from), Some(to)) = (first, from, to) else { continue };
            // Whatever stays near the ground stands there, whether it was meant to or not; what lands or leaves does not.
            let stands = |v: &&usize| [first, from, to, &points].iter().all(|at| high(at[**v]) < near);
            let speed = |v: &usize| {
                let way = to[*v] - from[*v] + back * DVec3::Z;
                (DVec3 { y: 0.0, ..way }).length() * params.fps
            };
            let slowest = foot.iter().filter(stands).map(speed).fold(f64::INFINITY, f64::min);
            // A foot that rolls has a point at rest; one that slides has none.
            slides[leg].extend(Some(slowest).filter(|speed| speed.is_finite()));
        }
        let middle = |points: &[DVec3]| points.iter().sum::<DVec3>() / points.len().max(1) as f64;
        if let Some(last) = seen_last.back() {
            let way = middle(&points) - middle(last) + back * DVec3::Z;
            path += (DVec3 { y: 0.0, ..way }).length();
        }
        if seen_last.len() == 3 {
            seen_last.pop_front();
        }
        seen_last.push_back(points);
    }
    let name = |leg: &Leg| {
        let joint = leg.foot.unwrap_or(leg.chain[leg.chain.len() - 1]);
        walker.base.rig.joints()[joint].name.clone()
    };
    let report = |leg: usize| FootReport {
        name: name(&walker.legs[leg]),
        slide: quantile(&mut slides[leg].clone(), 0.95).unwrap_or(0.0),
        lift: lifts[leg],
    };
    let reports = (0..feet.len()).map(report).collect();
    let seconds = frames.saturating_sub(1) as f64 / params.fps;
    let asked = params.line.is_empty().then_some(walker.speed * unit);
    Ok(GaitReport::of(walker, reports, [path / seconds, sink], asked))
}

fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(((values.len() as f64 - 1.0) * share).round().max(0.0) as usize).copied()
}
