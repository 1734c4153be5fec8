//! Writing BVH.

use super::{END, MAX_NAME};
use crate::{FormatError, text::file_error};
use glam::{DQuat, DVec3};
use sinew_geom::{Clip, DofKind, EulerOrder, Joint, Pose, Rig, Warnings};
use std::fmt::Write;

/// Largest number of frames.
const MAX_FRAMES: f64 = 1e7;
/// Motion below this fraction of a bone's length (and of the unit) is rounding.
const STILL_SHARE: f32 = 1e-5;
/// Largest indentation: long chains would fill disks.
const MAX_INDENT: usize = 40;

/// Text of a BVH file: a rig and a clip sampled at a frame rate.
///
/// Joints read from BVH keep their channels and orders; others get rotations in Z X Y order, roots and joints that
/// the clip moves positions too. Rest rotations, which BVH does not have, go into the channels.
///
/// # Errors
/// If the rig has no joint, the frame rate is not positive or there are more than ten million frames.
pub fn write_bvh(rig: &Rig, clip: &Clip, fps: f64, warnings: &mut Warnings) -> Result<Vec<u8>, FormatError> {
    if rig.n_joints() == 0 || !(fps.is_finite() && fps > 0.0) {
        return Err(file_error(
            "BVH",
            "there is no joint to write, or no frame rate",
            "give a character with a skeleton",
        ));
    }
    let n_frames = f64::from(clip.duration_secs()) * fps;
    if n_frames > MAX_FRAMES {
        let cause = format!("{n_frames} frames are more than {MAX_FRAMES}");
        let remedy = "choose a lower frame rate";
        return Err(FormatError::Unwritable { what: "the clip", cause, remedy });
    }
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rig.n_joints()];
    for (index, joint) in rig.joints().iter().enumerate() {
        if let Some(parent) = joint.parent {
            children[parent].push(index);
        }
    }
    let mut is_moved = vec![false; rig.n_joints()];
    for track in clip.joints.iter().filter(|track| track.joint < rig.n_joints()) {
        is_moved[track.joint] = true;
    }
    // An end site has only an offset.
    let is_end = |j: usize| {
        let joint = &rig.joints()[j];
        let still = !is_moved[j] && joint.rest.rotation.angle_between(DQuat::IDENTITY) < 1e-9;
        let bare = children[j].is_empty() && joint.dofs.is_empty() && joint.parent.is_some();
        still && bare && joint.name.ends_with(END)
    };
    let mut moves = vec![false; rig.n_joints()];
    for track in &clip.joints {
        let Some(joint) = rig.joints().get(track.joint) else { continue };
        let rest = joint.rest.translation.as_vec3();
        let keys = track.translation.iter().flat_map(|keys| keys.values());
        moves[track.joint] = keys.into_iter().any(|t| t.distance(rest) > STILL_SHARE * (1.0 + rest.length()));
    }
    let channels: Vec<(Vec<DofKind>, EulerOrder)> =
        rig.joints().iter().zip(moves).map(|(joint, moves)| channels_of(joint, moves)).collect();
    let mut out = String::from("HIERARCHY\n");
    let mut order = Vec::new();
    // Depth first without recursion: a joint to open, or the depth of a brace to close.
    let mut stack: Vec<Result<usize, usize>> =
        (0..rig.n_joints()).rev().filter(|&j| rig.joints()[j].parent.is_none()).map(Ok).collect();
    let mut depth = 0;
    while let Some(step) = stack.pop() {
        match step {
            Ok(joint) => {
                write_joint(&mut out, &rig.joints()[joint], is_end(joint), depth, &channels[joint].0);
                if !is_end(joint) {
                    order.push(joint);
                }
                stack.push(Err(depth));
                if children[joint].is_empty() && !is_end(joint) {
                    let pad = indent(depth + 1);
                    let _ = write!(out, "{pad}End Site\n{pad}{{\n{pad}\tOFFSET 0 0 0\n{pad}}}\n");
                }
                depth += 1;
                stack.extend(children[joint].iter().rev().map(|&c| Ok(c)));
            }
            Err(closing) => {
                depth = closing;
                let _ = writeln!(out, "{}}}", indent(depth));
            }
        }
    }
    if clip.joints.iter().any(|track| track.scale.is_some()) {
        warnings.push("BVH has no scale; the clip's scale curves were left out");
    }
    if rig.joints().iter().any(|joint| (joint.rest.scale - DVec3::ONE).abs().max_element() > 1e-3) {
        warnings.push("BVH has no scale; joints that are scaled at rest were written without it");
    }
    write_motion(&mut out, rig, clip, fps, &order, &channels);
    Ok(out.into_bytes())
}

fn indent(depth: usize) -> String {
    "\t".repeat(depth.min(MAX_INDENT))
}

/// A name that stays on its line and is not read as a brace.
fn plain_name(joint: &Joint) -> String {
    let line = joint.name.replace(char::is_control, " ");
    let name = line.trim_end_matches(|c: char| c == '{' || c.is_whitespace()).trim_start();
    let name = name[..name.floor_char_boundary(MAX_NAME)].trim_end();
    if name.is_empty() { "joint".to_owned() } else { name.to_owned() }
}

fn write_joint(out: &mut String, joint: &Joint, is_end: bool, depth: usize, kinds: &[DofKind]) {
    let pad = indent(depth);
    let keyword = if depth == 0 { "ROOT" } else { "JOINT" };
    // Writing to a string cannot fail.
    let _ = if is_end {
        writeln!(out, "{pad}End Site")
    } else {
        writeln!(out, "{pad}{keyword} {}", plain_name(joint))
    };
    let t = joint.rest.translation;
    let _ = writeln!(out, "{pad}{{\n{pad}\tOFFSET {} {} {}", t.x, t.y, t.z);
    if !is_end {
        let _ = write!(out, "{pad}\tCHANNELS {}", kinds.len());
        for kind in kinds {
            let what = if (*kind as usize) < 3 { "position" } else { "rotation" };
            let _ = write!(out, " {}{what}", ["X", "Y", "Z"][*kind as usize % 3]);
        }
        out.push('\n');
    }
}

/// A joint's own channels if they can represent its motion, else the usual ones: roots and joints whose clip moves them
/// get positions.
fn channels_of(joint: &Joint, moves: bool) -> (Vec<DofKind>, EulerOrder) {
    let kinds: Vec<DofKind> = joint.dofs.iter().map(|dof| dof.kind).collect();
    let free = joint.dofs.iter().all(|dof| dof.range == [f64::NEG_INFINITY, f64::INFINITY]);
    let can_move = [DofKind::Tx, DofKind::Ty, DofKind::Tz].iter().all(|kind| kinds.contains(kind));
    if free && !kinds.is_empty() && (can_move || !moves) {
        return (kinds, joint.euler);
    }
    let rotations = [DofKind::Rz, DofKind::Rx, DofKind::Ry];
    let kinds = match joint.parent.is_none() || moves {
        true => [DofKind::Tx, DofKind::Ty, DofKind::Tz].into_iter().chain(rotations).collect(),
        false => rotations.to_vec(),
    };
    (kinds, EulerOrder::Zxy)
}

fn write_motion(
    out: &mut String,
    rig: &Rig,
    clip: &Clip,
    fps: f64,
    order: &[usize],
    channels: &[(Vec<DofKind>, EulerOrder)],
) {
    let n_frames = (f64::from(clip.duration_secs()) * fps).round() as usize + 1;
    let _ = writeln!(out, "MOTION\nFrames: {n_frames}\nFrame Time: {}", 1.0 / fps);
    for frame in 0..n_frames {
        let pose: Pose = clip.sample(rig, (frame as f64 / fps) as f32);
        let mut first = true;
        for &joint in order {
            let local = &pose.locals[joint];
            let (kinds, euler) = &channels[joint];
            let angles: DVec3 = euler.to_angles(local.rotation * DQuat::IDENTITY);
            for kind in kinds {
                let value = match *kind as usize {
                    axis @ 0..3 => local.translation[axis],
                    axis => angles[axis - 3].to_degrees(),
                };
                let _ = write!(out, "{}{value:.6}", if std::mem::take(&mut first) { "" } else { " " });
            }
        }
        out.push('\n');
    }
}
