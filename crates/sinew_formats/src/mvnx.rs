//! MVNX: motion of Xsens suits, as XML.
//!
//! # Source
//! Xsens, *MVN User Manual*, MVNX version 4: global orientations (real part first) and positions of segments, in metres, +X ahead, +Y to
//! the left, +Z up.
//! # Limits
//! Of the XML only the elements that are named here are looked for. Segments keep the offsets of the identity pose, so that stretching
//! of the body, which is fractions of a millimetre, is not kept.

use crate::{
    BvhFile, FormatError,
    polygons::stem,
    text::{Faults, fields, file_error, finite},
};
use glam::{DQuat, DVec3, Quat, Vec3};
use sinew_geom::{
    Character, Clip, Joint, Rig, Transform, Warnings,
    rig::{Interpolation, JointTrack, Keys},
};

const REMEDY: &str = "export it again from MVN, with positions and orientations of segments";

/// Whether bytes begin as MVNX.
pub(crate) fn is_mvnx(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(4096)];
    memchr::memmem::find(head, b"<mvnx").is_some()
}

/// Read MVNX from memory.
///
/// # Errors
/// All faulty frames, or what is missing.
pub fn read_mvnx(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<BvhFile, FormatError> {
    let missing = |what: &str| file_error(name, format!("there are no {what} in it"), REMEDY);
    let fps = attribute(element_head(bytes, b"<subject"), b"frameRate").and_then(finite).unwrap_or(60.0);
    if !(fps > 0.0 && fps <= 10_000.0) {
        return Err(file_error(name, format!("{fps} frames per second are not usable"), REMEDY));
    }
    let segments: Vec<String> = elements(bytes, b"<segment ")
        .filter_map(|(_, head, _)| Some(String::from_utf8_lossy(attribute(head, b"label")?).into_owned()))
        .collect();
    if segments.is_empty() {
        return Err(missing("segments"));
    }
    let parents = parents_of(bytes, &segments);
    let mut faults = Faults::default();
    let (mut rest, mut frames) = (None, Vec::new());
    for (at, head, body) in elements(bytes, b"<frame ") {
        let kind = attribute(head, b"type").unwrap_or_default();
        if kind != b"identity" && kind != b"normal" {
            continue;
        }
        match read_frame(body, segments.len()) {
            Ok(frame) if kind == b"identity" => rest = Some(frame),
            Ok(frame) => frames.push(frame),
            Err(cause) => {
                let line = 1 + memchr::memchr_iter(b'\n', &bytes[..at]).count();
                faults.line(line, cause);
            }
        }
        if faults.is_full() {
            break;
        }
    }
    faults.finish_with(name, REMEDY)?;
    if frames.is_empty() {
        return Err(missing("frames of motion"));
    }
    let rest = rest.unwrap_or_else(|| {
        warnings.push("the file has no identity pose; the first frame is taken for it");
        frames[0].clone()
    });
    let rig = Rig::new(joints_of(&segments, &parents, &rest))
        .map_err(|error| file_error(name, error.to_string(), REMEDY))?;
    let times: Vec<f32> = (0..frames.len()).map(|frame| (frame as f64 / fps) as f32).collect();
    let tracks: Result<Vec<JointTrack>, _> =
        (0..segments.len()).map(|joint| track(joint, parents[joint], &frames, &times)).collect();
    let tracks = tracks.map_err(|error| file_error(name, error.to_string(), REMEDY))?;
    let clip = Clip { name: stem(name), joints: tracks, morphs: Vec::new() };
    let character = Character { name: stem(name), rig: Some(rig), clips: vec![clip], ..Character::default() };
    Ok(BvhFile { character, n_end_sites: 0, n_frames: frames.len(), frame_secs: 1.0 / fps })
}

/// Global places of all segments.
#[derive(Clone)]
struct Frame {
    rotations: Vec<DQuat>,
    positions: Vec<DVec3>,
}

/// Elements by how they begin: offset, head and content.
fn elements<'a>(bytes: &'a [u8], start: &'static [u8]) -> impl Iterator<Item = (usize, &'a [u8], &'a [u8])> {
    let close: Vec<u8> =
        [b"</", start.trim_ascii_end().strip_prefix(b"<").unwrap_or_default(), b">"].concat();
    memchr::memmem::find_iter(bytes, start).filter_map(move |at| {
        let rest = &bytes[at..];
        let head = memchr::memchr(b'>', rest)?;
        let end = memchr::memmem::find(rest, &close).unwrap_or(rest.len());
        Some((at, &rest[..head], rest.get(head + 1..end).unwrap_or_default()))
    })
}

fn element_head<'a>(bytes: &'a [u8], start: &[u8]) -> &'a [u8] {
    let rest = memchr::memmem::find(bytes, start).map_or(&[][..], |at| &bytes[at..]);
    &rest[..memchr::memchr(b'>', rest).unwrap_or(0)]
}

fn attribute<'a>(head: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let start = [b" ", name, b"=\""].concat();
    let value = &head[memchr::memmem::find(head, &start)? + start.len()..];
    Some(&value[..memchr::memchr(b'"', value)?])
}

fn content<'a>(bytes: &'a [u8], open: &[u8]) -> &'a [u8] {
    let rest = memchr::memmem::find(bytes, open).map_or(&[][..], |at| &bytes[at + open.len()..]);
    &rest[..memchr::memchr(b'<', rest).unwrap_or(rest.len())]
}

/// The segment that each hangs on.
fn parents_of(bytes: &[u8], segments: &[String]) -> Vec<Option<usize>> {
    let mut parents = vec![None; segments.len()];
    let segment = |connector: &[u8]| {
        let text = String::from_utf8_lossy(connector);
        let name = text.trim().split('/').next().unwrap_or_default().to_owned();
        segments.iter().position(|segment| *segment == name)
    };
    for (_, _, body) in elements(bytes, b"<joint ") {
        let ends = [&b"<connector1>"[..], b"<connector2>"].map(|open| segment(content(body, open)));
        if let [Some(parent), Some(child)] = ends
            && parent < child
        {
            parents[child] = Some(parent);
        }
    }
    parents
}

fn read_frame(body: &[u8], n: usize) -> Result<Frame, String> {
    let numbers = |open: &[u8], what: &str, width: usize| -> Result<Vec<f64>, String> {
        let values: Option<Vec<f64>> = fields(content(body, open)).map(finite).collect();
        let values = values.ok_or_else(|| format!("the {what} of the frame are not numbers"))?;
        match values.len() == width * n {
            true => Ok(values),
            false => {
                Err(format!("the frame has {} numbers of {what} instead of {}", values.len(), width * n))
            }
        }
    };
    let rotations = numbers(b"<orientation>", "orientations", 4)?;
    let positions = numbers(b"<position>", "positions", 3)?;
    // +Y to the left, +Z up, +X ahead become +X, +Y and +Z.
    let rotation = |q: &[f64; 4]| {
        let turned = DQuat::from_xyzw(q[2], q[3], q[1], q[0]);
        if turned.length_squared() > 0.0 { turned.normalize() } else { DQuat::IDENTITY }
    };
    Ok(Frame {
        rotations: rotations.as_chunks::<4>().0.iter().map(rotation).collect(),
        positions: positions.as_chunks::<3>().0.iter().map(|p| DVec3::new(p[1], p[2], p[0])).collect(),
    })
}

/// Joints in the order of the file, where parents come before their children.
fn joints_of(segments: &[String], parents: &[Option<usize>], rest: &Frame) -> Vec<Joint> {
    let joint = |at: usize| {
        let parent = parents[at];
        let offset = rest.positions[at] - parent.map_or(DVec3::ZERO, |parent| rest.positions[parent]);
        let own = parent.map_or(DQuat::IDENTITY, |parent| rest.rotations[parent]).inverse();
        let local = Transform {
            translation: own * offset,
            rotation: own * rest.rotations[at],
            ..Transform::default()
        };
        Joint::new(&segments[at], parent, local)
    };
    (0..segments.len()).map(joint).collect()
}

fn track(
    joint: usize,
    parent: Option<usize>,
    frames: &[Frame],
    times: &[f32],
) -> Result<JointTrack, sinew_geom::GeomError> {
    let mut before = Quat::IDENTITY;
    let rotation = |frame: &Frame| {
        let above = parent.map_or(DQuat::IDENTITY, |parent| frame.rotations[parent]);
        let mut local = (above.inverse() * frame.rotations[joint]).as_quat();
        if local.dot(before) < 0.0 {
            local = -local;
        }
        before = local;
        local
    };
    let rotations = frames.iter().map(rotation).collect();
    let rotation = Some(Keys::new(times.to_vec(), rotations, Interpolation::Linear, 1)?);
    let translation = match parent {
        Some(_) => None,
        None => {
            let positions: Vec<Vec3> = frames.iter().map(|frame| frame.positions[joint].as_vec3()).collect();
            Some(Keys::new(times.to_vec(), positions, Interpolation::Linear, 1)?)
        }
    };
    Ok(JointTrack { joint, translation, rotation, scale: None })
}
