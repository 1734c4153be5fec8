//! Body recordings: Kinect skeletons in two text layouts, and landmarks in JSON.
//!
//! Coordinates are as in the files: metres for Kinect and world landmarks, pixels for image ones.

use crate::{
    Fault, FormatError,
    text::{Faults, excerpt, fields, file_error, finite, lines, without_mark},
};
use glam::{DVec3, Vec3};
use serde_json::Value;
use sinew_geom::{BodyFrame, BodyLayout, BodyRecording, Warnings};

/// Frames per second of the first Kinect; the files hold frame numbers, not times.
const KINECT_FPS: f64 = 30.0;
/// Joints of the first Kinect.
const N_KINECT: usize = 20;
/// Numbers of a line that holds a whole frame.
const FRAME_NUMBERS: usize = 1 + 3 * N_KINECT;

/// MSR Action3D's order of joints, as indices into [`BodyLayout::Kinect20`]: shoulders (left, right), shoulder
/// centre, spine, hips, hip centre, elbows, wrists, hands, knees, ankles, feet, head. The sides follow from the
/// data set's rule that one-armed actions use the right arm.
const MSR_ORDER: [usize; N_KINECT] = [4, 8, 2, 1, 12, 16, 0, 5, 9, 6, 10, 7, 11, 13, 17, 14, 18, 15, 19, 3];

/// Read a Kinect recording of either layout: 61 numbers per line (frame number and 20 positions, as UTKinect), or
/// 20 lines of 4 numbers per frame (position and confidence, as MSR Action3D).
///
/// # Errors
/// All faulty lines.
pub fn read_kinect(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<BodyRecording, FormatError> {
    let mut faults = Faults::default();
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    // The first line determines the layout.
    let mut width = None;
    for (line, content) in lines(bytes).filter(|(_, l)| fields(l).next().is_some()) {
        let row: Result<Vec<f64>, &[u8]> = fields(content).map(|word| finite(word).ok_or(word)).collect();
        match row {
            Ok(row) => {
                let width = *width.get_or_insert(if row.len() == FRAME_NUMBERS { FRAME_NUMBERS } else { 4 });
                if row.len() != width {
                    faults.line(line, format!("line has {} numbers, expected {width}", row.len()));
                } else {
                    rows.push((line, row));
                }
            }
            Err(word) => faults.line(line, format!("`{}` is not a finite number", excerpt(word))),
        }
        if faults.is_full() {
            break;
        }
    }
    let wide = width == Some(FRAME_NUMBERS);
    if rows.is_empty() {
        faults.line(1, "there is no line of numbers");
    } else if faults.is_empty() && !wide && !rows.len().is_multiple_of(N_KINECT) {
        let cause = format!("the last frame has {} of {N_KINECT} joints", rows.len() % N_KINECT);
        faults.line(rows[rows.len() - 1].0, cause);
    }
    faults.finish(name)?;
    let frames = if wide { wide_frames(&rows, warnings) } else { tall_frames(&rows) };
    if frames.iter().all(|frame| frame.confidence.iter().all(|&c| c == 0.0)) {
        warnings.push("no joint was tracked in any frame");
    }
    Ok(BodyRecording { layout: BodyLayout::Kinect20, frames })
}

/// Frame numbers give the times; of a repeated frame the first copy is used.
fn wide_frames(rows: &[(usize, Vec<f64>)], warnings: &mut Warnings) -> Vec<BodyFrame> {
    let first = rows.first().map_or(0.0, |(_, row)| row[0]);
    let mut frames: Vec<BodyFrame> = Vec::with_capacity(rows.len());
    let mut n_repeated = 0;
    for (_, row) in rows {
        let time_secs = (row[0] - first) / KINECT_FPS;
        if frames.last().is_some_and(|last| time_secs <= last.time_secs) {
            n_repeated += 1;
            continue;
        }
        let points: Vec<Vec3> =
            row[1..].chunks_exact(3).map(|p| DVec3::new(p[0], p[1], p[2]).as_vec3()).collect();
        frames.push(BodyFrame { time_secs, points, confidence: vec![1.0; N_KINECT] });
    }
    if n_repeated > 0 {
        warnings.push(format!("{n_repeated} frames repeat an earlier frame number; left out"));
    }
    frames
}

fn tall_frames(rows: &[(usize, Vec<f64>)]) -> Vec<BodyFrame> {
    let frame = |(index, joints): (usize, &[(usize, Vec<f64>)])| {
        let mut points = vec![Vec3::ZERO; N_KINECT];
        let mut confidence = vec![0.0; N_KINECT];
        for (&joint, (_, row)) in MSR_ORDER.iter().zip(joints) {
            points[joint] = DVec3::new(row[0], row[1], row[2]).as_vec3();
            confidence[joint] = row[3].clamp(0.0, 1.0) as f32;
        }
        BodyFrame { time_secs: index as f64 / KINECT_FPS, points, confidence }
    };
    rows.chunks_exact(N_KINECT).enumerate().map(frame).collect()
}

/// Read landmarks: a list of frames, each a list of 33 `[x, y, z]` (MediaPipe) or an object of 17 named points
/// (COCO). The files hold no times; `fps` gives them.
///
/// # Errors
/// All faulty frames with their JSON paths.
pub fn read_landmarks(bytes: &[u8], fps: f64, name: &str) -> Result<BodyRecording, FormatError> {
    let value: Value = serde_json::from_slice(without_mark(bytes)).map_err(|error| {
        FormatError::faults(name, vec![Fault::new(crate::Place::Line(error.line()), error.to_string())])
    })?;
    let Some(list) = value.as_array().filter(|list| !list.is_empty()) else {
        return Err(file_error(
            name,
            "this is not a list of frames",
            "expected [[[x, y, z], …], …] or [{\"nose\": {\"x\": …}}, …]",
        ));
    };
    if !(fps.is_finite() && fps > 0.0) {
        return Err(file_error(
            name,
            format!("{fps} frames per second are impossible"),
            "give a positive rate",
        ));
    }
    let layout = if list[0].is_object() { BodyLayout::Coco17 } else { BodyLayout::MediaPipe33 };
    let mut faults = Faults::default();
    let mut frames = Vec::with_capacity(list.len());
    for (index, frame) in list.iter().enumerate() {
        match read_points(frame, layout) {
            Ok((points, confidence)) => {
                frames.push(BodyFrame { time_secs: index as f64 / fps, points, confidence });
            }
            Err((place, cause)) => faults.push(Fault::json(format!("/{index}{place}"), cause)),
        }
        if faults.is_full() {
            break;
        }
    }
    faults.finish(name)?;
    Ok(BodyRecording { layout, frames })
}

type Points = (Vec<Vec3>, Vec<f32>);

fn read_points(frame: &Value, layout: BodyLayout) -> Result<Points, (String, String)> {
    let names = layout.names();
    if layout == BodyLayout::MediaPipe33 {
        let n = frame.as_array().map_or(0, Vec::len);
        if n != names.len() {
            return Err((String::new(), format!("frame has {n} points, expected {}", names.len())));
        }
    }
    if layout == BodyLayout::Coco17 && !frame.is_object() {
        return Err((String::new(), "frame is not an object of named points".to_owned()));
    }
    let (mut points, mut confidence) = (Vec::new(), Vec::new());
    for (k, name) in names.iter().enumerate() {
        let (place, point) = match layout {
            BodyLayout::MediaPipe33 => (format!("/{k}"), &frame[k]),
            _ => (format!("/{name}"), &frame[*name]),
        };
        let at =
            |key: &str, index: usize| point.get(key).or_else(|| point.get(index)).and_then(Value::as_f64);
        match (at("x", 0), at("y", 1)) {
            (Some(x), Some(y)) => {
                let position = DVec3::new(x, y, at("z", 2).unwrap_or(0.0)).as_vec3();
                if !position.is_finite() {
                    return Err((place, "point is too far away".to_owned()));
                }
                points.push(position);
                let sure =
                    ["score", "visibility"].iter().find_map(|key| point.get(key)).and_then(Value::as_f64);
                confidence.push(sure.unwrap_or(1.0).clamp(0.0, 1.0) as f32);
            }
            // A point that was not found is not an error of the file.
            _ if point.is_null() && layout == BodyLayout::Coco17 => {
                points.push(Vec3::ZERO);
                confidence.push(0.0);
            }
            _ => return Err((place, "point has no x and y".to_owned())),
        }
    }
    Ok((points, confidence))
}
