//! A gait from beginning to end: how fast and how long, where the trunk is carried, and how the legs are bent to their feet.

use crate::{
    base::Base,
    error::GaitError,
    find_legs::find_legs,
    measure::{GaitReport, measure},
    params::GaitParams,
    plan::{Plan, shorten_strides},
    walker::Walker,
};
use glam::DVec2;
use sinew_geom::{Character, Clip, Pose, Rig};

/// A gait.
#[derive(Debug, Clone)]
pub struct Gaited {
    /// The clip.
    pub clip: Clip,
    /// What it does, measured on the character that plays it.
    pub report: GaitReport,
}

/// Longest clip, in frames.
const MAX_FRAMES: f64 = 200_000.0;

/// Make a character with a skeleton walk.
///
/// # Errors
/// A body without 2 to 8 legs, or numbers outside their range.
pub fn make_gait(character: &Character, rig: &Rig, params: &GaitParams) -> Result<Gaited, GaitError> {
    params.check()?;
    let mut base = Base::new(character, rig)?;
    let unit = params.unit.unwrap_or_else(|| guess_unit(&base));
    let legs = find_legs(&mut base);
    let mut walker = Walker::new(base, legs, unit, params)?;
    shorten_strides(&mut walker, params);
    let floor = |place: DVec2| params.ground.height(place.x * unit, place.y * unit) / unit;
    let (way, seconds) = walker.way(params)?;
    if seconds * params.fps > MAX_FRAMES {
        let (value, expected) = (format!("of {seconds:.0} s"), "a clip may have 200000 frames at most");
        return Err(GaitError::Value { name: "line", value, expected });
    }
    let frames = (seconds * params.fps).round().max(1.0) as usize;
    let plan = Plan::new(&walker, &way, &floor, frames, params);
    let poses: Vec<Pose> = (0..=frames).map(|k| plan.pose(k)).collect();
    let clip = Clip::from_poses(&params.name, rig, &poses, params.fps)?;
    let report = measure(character, &walker, &clip, poses.len(), &floor, params)?;
    Ok(Gaited { clip, report })
}

/// Metres per unit: one, unless that makes it larger than any animal or smaller than a cat; then the power of ten that makes it
/// about as tall as people are.
fn guess_unit(base: &Base) -> f64 {
    let height = base.height();
    if (0.2..=20.0).contains(&height) || height <= 0.0 {
        return 1.0;
    }
    let known = base.map.metres_per_unit.filter(|unit| (0.2..=20.0).contains(&(height * unit)));
    known.unwrap_or_else(|| 10f64.powf((0.5 - height.log10()).floor()))
}
