//! Motion from examples: along paths, or from one example to the next.
//!
//! # Source
//! Hansen (2006), §7.6.2 and §7.6.3. Differs: the translation of the body follows the pose during the search, so that
//! the foot on the ground does not slide; by default several feet share the support, weighted by how still their
//! targets are, so that nothing jumps when one foot hands over to the other; weights are smoothed over time where
//! residual motion still brings the handles to their targets; and the body can turn with its path.

use super::{
    blend::Blend,
    energy::{Energy, Target},
    search::{Residual, SearchParams, SearchResult, Start},
    space::PoseSpace,
};
use crate::{DeformError, HandlePose};
use glam::{DQuat, DVec2, DVec3};
use sinew_geom::path::{Ground, Path};
use std::ops::ControlFlow;

/// What a body follows.
#[derive(Debug, Clone, Default)]
pub struct Course {
    /// Handles with their paths.
    pub tracks: Vec<Track>,
    /// Whether the body goes with the track that moves least, as in Hansen (2006), rather than with all candidates
    /// by how still they are.
    pub abrupt: bool,
    /// The path of the body over the ground; the body faces along it.
    pub way: Option<Path>,
    /// No track goes below it.
    pub ground: Option<Ground>,
}

/// A handle and where it should be over time.
#[derive(Debug, Clone)]
pub struct Track {
    /// Which handle.
    pub handle: usize,
    /// Where the middle of its vertices should be.
    pub path: Path,
    /// Whether it must be there.
    pub is_pinned: bool,
    /// Whether it may carry the body.
    pub carries: bool,
}

/// A moment of a motion.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionFrame {
    /// What was found: weights, energy, how far targets are missed.
    pub found: SearchResult,
    /// Where the targets were.
    pub targets: Vec<Target>,
    /// The pose, without the place of the body.
    pub pose: HandlePose,
    /// Rotation of the body about the origin, before the shift.
    pub turn: DQuat,
    /// Shift of the body.
    pub shift: DVec3,
}

impl MotionFrame {
    /// Where a point of the posed body is in the world.
    pub fn place(&self, point: DVec3) -> DVec3 {
        self.turn * point + self.shift
    }

    /// Where the middles of the handles are in the world.
    pub fn world_grips(&self) -> Vec<DVec3> {
        self.found.grips.iter().map(|grip| self.place(*grip)).collect()
    }
}

/// How far ahead in time a body looks along its path, so that it turns smoothly.
const LOOK_AHEAD_SECS: f64 = 0.35;
/// A candidate that moves at this share of the mean speed carries a quarter of what a still one does.
const QUARTER_SUPPORT_SPEED: f64 = 0.1;

/// Weights are smoothed over this time before and after each frame.
const SMOOTH_SECS: f64 = 0.1;

/// How fast a weight may change unless the user chooses otherwise. Residual motion corrects the error this causes.
const MAX_WEIGHT_SPEED: f64 = 1.6;

/// A moment as it was searched for, before weights are smoothed.
#[derive(Debug, Clone)]
struct Moment {
    targets: Vec<Target>,
    anchors: Vec<(usize, f64)>,
    turn: DQuat,
    found: SearchResult,
}

/// Weights around a moment, averaged with a raised cosine. The motion is constant before the first and after the last.
fn smooth(moments: &[Moment], at: usize, reach: usize) -> Vec<f64> {
    let (mut sum, mut total) = (vec![0.0; moments[at].found.weights.len()], 0.0);
    for offset in -(reach as isize)..=reach as isize {
        let share = 1.0 + (std::f64::consts::PI * offset as f64 / (reach + 1) as f64).cos();
        let near = at.saturating_add_signed(offset).min(moments.len() - 1);
        sum.iter_mut().zip(&moments[near].found.weights).for_each(|(sum, w)| *sum += share * w);
        total += share;
    }
    sum.iter_mut().for_each(|w| *w /= total);
    sum
}

impl Course {
    /// First and last moment of its paths.
    pub fn span(&self) -> [f64; 2] {
        let spans = self.tracks.iter().map(|track| track.path.span());
        spans.fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], [c, d]| [a.min(c), b.max(d)])
    }

    fn heading(&self, time: f64) -> DQuat {
        let Some(way) = &self.way else { return DQuat::IDENTITY };
        // The direction at the end of the path is that of its last part: there is nothing to look ahead to.
        let [start, end] = way.span();
        let from = (time - LOOK_AHEAD_SECS).clamp(start, (end - 2.0 * LOOK_AHEAD_SECS).max(start));
        let ahead = way.at(from + 2.0 * LOOK_AHEAD_SECS) - way.at(from);
        let ahead = DVec2::new(ahead.x, ahead.z);
        match ahead.length() > 1e-9 {
            true => DQuat::from_rotation_y(ahead.x.atan2(ahead.y)),
            false => DQuat::IDENTITY,
        }
    }

    fn position(&self, space: &PoseSpace, track: &Track, time: f64) -> DVec3 {
        let mut position = track.path.at(time);
        if let Some(ground) = &self.ground {
            // The middle of a handle is as high above the ground as it is at rest.
            let least = ground.height(position.x, position.z) + space.grip[track.handle].y.max(0.0);
            position.y = position.y.max(least);
        }
        position
    }

    /// Which targets carry the body, with their shares.
    fn anchors(&self, space: &PoseSpace, time: f64, step: f64, mean_speed: f64) -> Vec<(usize, f64)> {
        let candidates = self.tracks.iter().enumerate().filter(|(_, track)| track.carries);
        let mut speeds: Vec<(usize, f64)> = candidates
            .map(|(at, track)| {
                let [before, after] =
                    [time - 0.5 * step, time + 0.5 * step].map(|t| self.position(space, track, t));
                (at, before.distance(after) / step)
            })
            .collect();
        if self.abrupt {
            let least = speeds.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
            return least.map(|(at, _)| (at, 1.0)).into_iter().collect();
        }
        let floor = QUARTER_SUPPORT_SPEED * mean_speed + 1e-9;
        speeds.iter_mut().for_each(|(_, speed)| *speed = (floor / (floor + *speed)).powi(2));
        let total: f64 = speeds.iter().map(|(_, share)| share).sum();
        speeds.into_iter().map(|(at, share)| (at, share / total)).collect()
    }

    fn mean_speed(&self) -> f64 {
        let carriers = || self.tracks.iter().filter(|track| track.carries);
        let length = |track: &Track| -> f64 {
            let [start, end] = track.path.span();
            let points: f64 = track.path.points().windows(2).map(|p| p[0].distance(p[1])).sum();
            points / (end - start).max(1e-9)
        };
        carriers().map(length).sum::<f64>() / carriers().count().max(1) as f64
    }
}

impl PoseSpace {
    /// Follow paths at a frame rate. `each` is called with every frame as it is found, and may stop.
    ///
    /// # Errors
    /// If there is no track, the frame rate is invalid, a track is for no handle, or it was stopped.
    pub fn follow(
        &self,
        course: &Course,
        params: &SearchParams,
        fps: f64,
        each: &mut dyn FnMut(usize, usize, &MotionFrame) -> ControlFlow<()>,
    ) -> Result<(), DeformError> {
        let n_frames = count_frames(course.span(), fps)?;
        // Only residual motion can correct what smoothing moves away from the targets.
        let reach = if params.uses_residual() { (SMOOTH_SECS * fps).round() as usize } else { 0 };
        let (mut moments, mut last) = (Vec::<Moment>::with_capacity(n_frames), None);
        for frame in 0..n_frames + reach {
            if frame < n_frames {
                let time = course.span()[0] + frame as f64 / fps;
                let moment =
                    self.moment(course, params, time, fps, moments.last().map(|moment| &moment.found))?;
                moments.push(moment);
            }
            let Some(ready) = frame.checked_sub(reach) else { continue };
            let moment = self.finish(&moments, ready, reach, params, last.as_ref());
            if each(ready, n_frames, &moment).is_break() {
                return Err(DeformError::Cancelled);
            }
            last = Some(moment.found.residual);
        }
        Ok(())
    }

    /// The best weights at a time.
    fn moment(
        &self,
        course: &Course,
        params: &SearchParams,
        time: f64,
        fps: f64,
        last: Option<&SearchResult>,
    ) -> Result<Moment, DeformError> {
        let turn = course.heading(time);
        let back = turn.inverse();
        let target = |track: &Track| Target {
            handle: track.handle,
            position: back * course.position(self, track, time),
            is_pinned: track.is_pinned,
        };
        let targets: Vec<Target> = course.tracks.iter().map(target).collect();
        let anchors = course.anchors(self, time, 1.0 / fps, course.mean_speed());
        let start = Start {
            weights: last.map_or(&[], |found| &found.weights),
            // The motion begins at rest: of equally good poses, the one nearest to rest is the first.
            grips: Some(last.map_or(&self.grip, |found| &found.grips)),
            residual: None,
            anchors: &anchors,
        };
        let params = SearchParams { residual: false, ..params.clone() };
        // The first pose is found by a global search, because local searches need some frames to find it.
        let params = match last.is_none() {
            true => SearchParams { multi_start: true, rounds: params.rounds.max(60), ..params },
            false => SearchParams { local: params.local.or(Some(MAX_WEIGHT_SPEED / fps)), ..params },
        };
        let found = self.search(&targets, &params, &start)?;
        Ok(Moment { targets, anchors, turn, found })
    }

    /// A moment with its weights smoothed over its neighbours, and residual motion that reaches the targets.
    fn finish(
        &self,
        moments: &[Moment],
        at: usize,
        reach: usize,
        params: &SearchParams,
        last: Option<&Residual>,
    ) -> MotionFrame {
        let Moment { targets, anchors, turn, mut found } = moments[at].clone();
        if params.uses_residual() {
            let mut energy = Energy::new(self, Blend::Free, &params.objective, &targets, &anchors, None);
            energy.evaluations = found.evaluations;
            found = self.finish_search(energy, smooth(moments, at, reach), found.order, params, last);
        }
        let pose = self.pose_of(&found, params);
        MotionFrame { pose, turn, shift: turn * found.shift, targets, found }
    }

    /// Poses from one example to the next, evenly (table 7.3): weights of two examples at a time, in a straight line.
    ///
    /// # Errors
    /// If there is no example in the list, one does not exist, or times make no sense.
    pub fn keyframes(
        &self,
        examples: &[usize],
        secs_each: f64,
        fps: f64,
    ) -> Result<Vec<(Vec<f64>, HandlePose)>, DeformError> {
        if examples.is_empty() || examples.iter().any(|&e| e >= self.n_examples()) {
            return Err(DeformError::Setting {
                what: "keyframes",
                cause: format!(
                    "name examples out of: {}",
                    self.example_names().collect::<Vec<_>>().join(", ")
                ),
            });
        }
        if !(secs_each.is_finite() && secs_each > 0.0) {
            let cause = format!("{secs_each} seconds from one to the next is not above 0");
            return Err(DeformError::Setting { what: "keyframes", cause });
        }
        let n_frames = count_frames([0.0, secs_each * (examples.len() - 1) as f64], fps)?;
        let pose = |frame: usize| {
            let place = (frame as f64 / fps / secs_each).min((examples.len() - 1) as f64);
            let key = (place as usize).min(examples.len().saturating_sub(2));
            let mut weights = vec![0.0; self.n_examples()];
            weights[examples[key]] += 1.0 - (place - key as f64);
            if let Some(&next) = examples.get(key + 1) {
                weights[next] += place - key as f64;
            }
            let pose = self.blend(&Blend::Free, &weights);
            (weights, pose)
        };
        Ok((0..n_frames).map(pose).collect())
    }
}

/// Largest number of frames; more are a typing error.
const MAX_FRAMES: f64 = 100_000.0;

fn count_frames([start, end]: [f64; 2], fps: f64) -> Result<usize, DeformError> {
    if start > end {
        return Err(DeformError::Setting { what: "paths", cause: "there is none to follow".into() });
    }
    let n_frames = ((end - start) * fps).round() + 1.0;
    if !(fps.is_finite() && fps > 0.0 && n_frames <= MAX_FRAMES) {
        let cause =
            format!("{fps} fps would make {n_frames} frames; choose one that makes up to {MAX_FRAMES}");
        return Err(DeformError::Setting { what: "frame rate", cause });
    }
    Ok(n_frames as usize)
}
