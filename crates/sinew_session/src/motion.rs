//! Motions out of examples: the paths, walk or keyframes of a document followed frame by frame, and baked to a clip.
//!
//! A baked clip moves the skeleton, with a few morph targets for what that misses (see `skinned_clip`).

use crate::limits::{MAX_CLIP_BYTES, MAX_CLIP_FRAMES};
use crate::{
    ClipFit, ClipSource, Document, SessionError, add_motion_clip, build_pose_space, stage::normals_of,
};
use glam::{DQuat, DVec3, Vec3};
use serde::{Deserialize, Serialize};
use sinew_deform::{
    HandlePose, HandleSet, SurfaceEditor,
    examples::{Course, MotionFrame, Objective, PoseSpace, Track},
};
use sinew_formats::paths::{PathFile, PathsData};
use sinew_geom::{
    Character, Clip, Joint, Morph, Rig, Warnings,
    path::{Ground, plan_walk},
    rig::{Interpolation, JointTrack, Keys, MorphTrack},
};
use std::{ops::ControlFlow, sync::Arc};

/// How the names of morph targets begin that belong to baked clips.
pub(crate) const FRAME: &str = "baked/";

/// What a body follows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Follow {
    /// Paths of handles and the walk.
    #[default]
    Paths,
    /// Examples one after the other.
    Keyframes,
}

/// How a motion became, for showing.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MotionReport {
    /// Number of frames.
    pub n_frames: usize,
    /// Mean and greatest distance of targets missed, in metres.
    pub target_error: [f64; 2],
    /// The greatest as a share of the body.
    pub missed: f64,
    /// How the motion was stored.
    pub fit: ClipFit,
}

/// A moment of a motion: pose, detail layer, and where the body stands: turned about the origin, then shifted.
type Moment = (HandlePose, Option<Vec<f32>>, DQuat, DVec3);

/// What paths mean for a pose space of a body of some height.
///
/// # Errors
/// If a handle does not exist or has two paths, or the walk is invalid.
pub fn build_course(space: &PoseSpace, file: PathFile, height: f64) -> Result<Course, SessionError> {
    let ground = file.ground.unwrap_or(Ground::Flat(0.0));
    let mut course = Course { way: file.way, ..Course::default() };
    if let Some(walk) = file.walk {
        let handles = [space.find_handle(&walk.feet[0])?, space.find_handle(&walk.feet[1])?];
        let (paths, way) = plan_walk(&walk.build(height), handles.map(|h| space.rest_grips()[h]), &ground)?;
        course.way.get_or_insert(way);
        let track = |(handle, path)| Track { handle, path, is_pinned: true, carries: true };
        course.tracks.extend(handles.into_iter().zip(paths).map(track));
    }
    for path in file.paths {
        let handle = space.find_handle(&path.handle)?;
        let (is_pinned, carries) = (path.is_pinned, path.carries);
        course.tracks.push(Track { handle, path: path.path, is_pinned, carries });
    }
    for (at, track) in course.tracks.iter().enumerate() {
        if course.tracks[..at].iter().any(|other| other.handle == track.handle) {
            let name = space.handle_name(track.handle);
            let cause = format!("handle {name:?} has two paths; give it one");
            return Err(SessionError::Value { what: "paths", cause });
        }
    }
    course.ground = Some(ground);
    Ok(course)
}

/// The document with its motion as a clip. One of the same name that was baked before is exchanged. `progress` is given the
/// share done and may stop it.
///
/// # Errors
/// If there is nothing to follow, an example or a path does not fit, the name is taken by a clip of the skeleton, there
/// would be too many frames, or it was stopped.
pub fn bake(
    document: &Document,
    clip: &str,
    fps: f64,
    follow: Follow,
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<(Document, MotionReport), SessionError> {
    let mut baked = document.clone();
    make_room(&mut baked, clip)?;
    let (set, space) = build_pose_space(document)?;
    let (moments, mut report) = find_moments(document, &space, fps, follow, &|share| progress(0.2 * share))?;
    check_frames(document, moments.len(), fps)?;
    let frames = solve(document, &set, &moments, &|share| progress(0.2 + 0.6 * share))?;
    report.fit = add_motion_clip(&mut baked, clip, fps, frames)?;
    Ok((baked, report))
}

/// Take out a clip of this name if it was baked before.
pub(crate) fn make_room(document: &mut Document, clip: &str) -> Result<(), SessionError> {
    if let Ok(at) = document.find_clip(clip) {
        crate::command::check_name("clip", clip, !is_baked(document, &document.clips[at]))?;
        remove_clip(document, clip)?;
    }
    crate::command::check_name("clip", clip, false)
}

/// Whether so many frames may be baked.
pub(crate) fn check_frames(document: &Document, n_frames: usize, fps: f64) -> Result<(), SessionError> {
    let n_vertices = document.mesh().n_vertices();
    let frame_bytes = (n_vertices * size_of::<Vec3>()).max(1);
    let most = (MAX_CLIP_BYTES / frame_bytes).clamp(2, MAX_CLIP_FRAMES);
    if n_frames <= most {
        return Ok(());
    }
    let cause = format!(
        "{n_frames} frames of {n_vertices} vertices are more than the {most} that fit; choose at most {:.1} fps, \
         or a shorter duration",
        (fps * (most - 1) as f64 / (n_frames - 1) as f64 * 10.0).floor() / 10.0
    );
    Err(SessionError::Value { what: "frames", cause })
}

fn find_moments(
    document: &Document,
    space: &PoseSpace,
    fps: f64,
    follow: Follow,
    progress: &dyn Fn(f64) -> ControlFlow<()>,
) -> Result<(Vec<Moment>, MotionReport), SessionError> {
    match follow {
        Follow::Keyframes => {
            let Some(keys) = &document.paths.keyframes else { return Err(nothing("keyframes")) };
            let find = |name: &String| document.find_example(name);
            let examples = keys.examples.iter().map(find).collect::<Result<Vec<_>, _>>()?;
            if examples.is_empty() {
                return Err(nothing("keyframes"));
            }
            let frames = space.keyframes(&examples, keys.seconds, fps)?;
            let moment = |(weights, pose): (Vec<f64>, HandlePose)| {
                (pose, space.detail(&weights), DQuat::IDENTITY, DVec3::ZERO)
            };
            let report = MotionReport { n_frames: frames.len(), ..MotionReport::default() };
            Ok((frames.into_iter().map(moment).collect(), report))
        }
        Follow::Paths => {
            let data = PathsData { keyframes: None, ..(*document.paths).clone() };
            if data.paths.is_empty() && data.walk.is_none() {
                return Err(nothing("paths"));
            }
            let course = build_course(space, data.build("paths")?, document.height())?;
            let params = document.search.params(Objective::for_motion());
            let (mut moments, mut errors) = (Vec::new(), Vec::new());
            let mut each = |at: usize, n: usize, frame: &MotionFrame| {
                let detail = space.detail(&frame.found.weights);
                moments.push((frame.pose.clone(), detail, frame.turn, frame.shift));
                errors.push(frame.found.target_errors(&frame.targets));
                progress((at + 1) as f64 / n as f64)
            };
            space.follow(&course, &params, fps, &mut each)?;
            let n = errors.len().max(1) as f64;
            let mean = errors.iter().map(|error| error[0]).sum::<f64>() / n;
            let most = errors.iter().map(|error| error[1]).fold(0.0, f64::max);
            let missed = most / (10.0 * space.unit());
            let (n_frames, target_error) = (errors.len(), [mean, most]);
            Ok((moments, MotionReport { n_frames, target_error, missed, ..MotionReport::default() }))
        }
    }
}

fn nothing(what: &'static str) -> SessionError {
    let cause = match what {
        "keyframes" => "no example is chosen; add some in the order in which they follow each other",
        _ => "there is none to follow; draw a walk or the path of a handle",
    };
    SessionError::Value { what, cause: cause.into() }
}

/// Where every vertex is in each moment.
fn solve(
    document: &Document,
    set: &HandleSet,
    moments: &[Moment],
    progress: &(dyn Fn(f64) -> ControlFlow<()> + Sync),
) -> Result<Vec<Vec<Vec3>>, SessionError> {
    let (mesh, mut warnings) = (document.mesh(), Warnings::default());
    let editor =
        SurfaceEditor::prepare(mesh, set, &document.edit, &mut warnings, &|share| progress(0.2 * share))?;
    let normals = moments.iter().any(|(_, detail, ..)| detail.is_some()).then(|| normals_of(document));
    let normals = normals.unwrap_or_default();
    let mut positions = mesh.positions().to_vec();
    let mut frames = Vec::with_capacity(moments.len());
    for (at, (pose, detail, turn, shift)) in moments.iter().enumerate() {
        editor.solve_with_detail(pose, &normals, detail.as_deref(), &mut positions)?;
        frames.push(positions.iter().map(|p| (*turn * *p + *shift).as_vec3()).collect());
        if progress(0.2 + 0.8 * (at + 1) as f64 / moments.len() as f64).is_break() {
            return Err(SessionError::Cancelled);
        }
    }
    Ok(frames)
}

/// Add vertices over time as a clip: frames as morph targets, each at full weight at its time, while the skeleton rests.
///
/// # Errors
/// If a number is not finite or there are no frames.
pub fn add_vertex_clip(
    document: &mut Document,
    name: &str,
    fps: f64,
    frames: Vec<Vec<Vec3>>,
) -> Result<(), SessionError> {
    let (n, first) = (frames.len(), document.body.morphs.len());
    let rest: Vec<Vec3> = document.mesh().positions().iter().map(|p| p.as_vec3()).collect();
    let back = document.body.mesh_from_rest();
    let offset = |(v, (p, rest)): (usize, (&Vec3, &Vec3))| match &back {
        Some(back) => (back[v].transform_point3(p.as_dvec3()) - rest.as_dvec3()).as_vec3(),
        None => *p - *rest,
    };
    let morph = |(at, frame): (usize, Vec<Vec3>)| Morph {
        name: format!("{FRAME}{name}/{at}"),
        offsets: frame.iter().zip(&rest).enumerate().map(offset).collect(),
        default_weight: 0.0,
    };
    let mut body = (*document.body).clone();
    body.morphs.extend(frames.into_iter().enumerate().map(morph));
    let mut weights = vec![0.0; n * n];
    (0..n).for_each(|at| weights[at * n + at] = 1.0);
    let times = (0..n).map(|at| (at as f64 / fps) as f32).collect();
    let keys = Keys::new(times, weights, Interpolation::Linear, n)?;
    let morphs = vec![MorphTrack { morphs: first..first + n, keys }];
    let joints = document.body.rig.as_ref().map(still_joints).transpose()?.unwrap_or_default();
    document.body = Arc::new(body);
    document.clips.push(Arc::new(Clip { name: name.to_owned(), joints, morphs }));
    Ok(())
}

/// A skeleton that is there stands still meanwhile, and says so: players that hold what another clip did would move the
/// surface twice.
pub(crate) fn still_joints(rig: &Rig) -> Result<Vec<JointTrack>, SessionError> {
    let track = |(joint, of): (usize, &Joint)| {
        let (rotation, translation) = (of.rest.rotation.as_quat(), of.rest.translation.as_vec3());
        Ok(JointTrack {
            joint,
            rotation: Some(Keys::new(vec![0.0], vec![rotation], Interpolation::Linear, 1)?),
            translation: Some(Keys::new(vec![0.0], vec![translation], Interpolation::Linear, 1)?),
            scale: None,
        })
    };
    rig.joints().iter().enumerate().map(track).collect()
}

/// Whether a clip was baked; those of older versions show baked frames and nothing else.
pub(crate) fn is_baked(document: &Document, clip: &Clip) -> bool {
    if let Some(ClipSource::Bake | ClipSource::Flesh) = document.clip_sources.get(&clip.name) {
        return true;
    }
    let is_used = used_morphs(&document.body.morphs, clip.morphs.iter());
    let mut used = document.body.morphs.iter().zip(is_used).filter(|(_, used)| *used).peekable();
    used.peek().is_some() && used.all(|(morph, _)| morph.name.starts_with(FRAME))
}

/// Which morphs some tracks show at any time.
fn used_morphs<'a>(morphs: &[Morph], tracks: impl Iterator<Item = &'a MorphTrack>) -> Vec<bool> {
    let mut is_used = vec![false; morphs.len()];
    for track in tracks {
        let width = track.morphs.len().max(1);
        for (at, _) in track.keys.values().iter().enumerate().filter(|(_, value)| **value != 0.0) {
            is_used.get_mut(track.morphs.start + at % width).into_iter().for_each(|used| *used = true);
        }
    }
    is_used
}

/// Take out a clip, and the frames that were baked for it alone.
pub(crate) fn remove_clip(document: &mut Document, name: &str) -> Result<(), SessionError> {
    document.clips.remove(document.find_clip(name)?);
    let morphs = &document.body.morphs;
    let is_used = used_morphs(morphs, document.clips.iter().flat_map(|clip| &clip.morphs));
    let is_kept: Vec<bool> = morphs
        .iter()
        .zip(&is_used)
        .map(|(morph, used)| *used || morph.default_weight != 0.0 || !morph.name.starts_with(FRAME))
        .collect();
    if is_kept.iter().all(|kept| *kept) {
        return Ok(());
    }
    for clip in document.clips.iter_mut().filter(|clip| !clip.morphs.is_empty()) {
        let tracks = clip.morphs.iter().filter_map(|track| narrowed(track, &is_kept).transpose());
        let morphs = tracks.collect::<Result<_, _>>()?;
        *clip = Arc::new(Clip { morphs, ..(**clip).clone() });
    }
    let kept = morphs.iter().zip(&is_kept).filter(|(_, kept)| **kept).map(|(morph, _)| morph.clone());
    let body = Character { morphs: kept.collect(), ..without_morphs(&document.body) };
    document.body = Arc::new(body);
    Ok(())
}

fn without_morphs(body: &Character) -> Character {
    Character {
        name: body.name.clone(),
        mesh: body.mesh.clone(),
        surface: body.surface.clone(),
        rig: body.rig.clone(),
        skin: body.skin.clone(),
        ..Character::default()
    }
}

/// A track without the morphs that go; nothing if none stays. Those that stay are neighbours again.
fn narrowed(track: &MorphTrack, is_kept: &[bool]) -> Result<Option<MorphTrack>, SessionError> {
    let width = track.morphs.len().max(1);
    let stays = |morph: usize| is_kept.get(morph).copied().unwrap_or(false);
    let n_stay = track.morphs.clone().filter(|&morph| stays(morph)).count();
    if n_stay == 0 {
        return Ok(None);
    }
    let first = (0..track.morphs.start).filter(|&morph| stays(morph)).count();
    let values = track.keys.values().iter().enumerate();
    let values = values.filter(|(at, _)| stays(track.morphs.start + at % width)).map(|(_, value)| *value);
    let keys = Keys::new(track.keys.times().to_vec(), values.collect(), track.keys.interpolation(), n_stay)?;
    Ok(Some(MorphTrack { morphs: first..first + n_stay, keys }))
}
