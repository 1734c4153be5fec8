//! Actors: clips of people, and bodies recorded by a camera, read by the judges on their own and put on an even clock.

use super::super::super::{
    find::{Item, Kind},
    motion::Motion,
};
use super::super::refit::{body::Body, limbs::Limbs, read_clip};
use anyhow::{Context, ensure};
use glam::{DMat4, DVec3};
use serde_json::Value;
use std::fs;

/// Frames per second of the first Kinect, by which frame numbers are times.
const KINECT_FPS: f64 = 30.0;

pub struct Actor {
    /// On an even clock.
    pub body: Body,
    /// The time of each frame as the product counts them.
    pub times: Vec<f64>,
    /// Whether the file has a clock: landmarks have none.
    pub has_clock: bool,
    /// Motion capture, of which no frame is to be thrown away.
    pub is_clean: bool,
}

/// Names by which limbs are found, and parents, in the order of the Kinect.
const JOINTS: [(&str, usize); 20] = [
    ("Hips", 0),
    ("Spine", 0),
    ("Neck", 1),
    ("Head", 2),
    ("LeftShoulder", 2),
    ("LeftElbow", 4),
    ("LeftWrist", 5),
    ("LeftHand", 6),
    ("RightShoulder", 2),
    ("RightElbow", 8),
    ("RightWrist", 9),
    ("RightHand", 10),
    ("LeftHip", 0),
    ("LeftKnee", 12),
    ("LeftAnkle", 13),
    ("LeftFoot", 14),
    ("RightHip", 0),
    ("RightKnee", 16),
    ("RightAnkle", 17),
    ("RightFoot", 18),
];
/// MSR Action3D lists the same joints in another order.
const MSR: [usize; 20] = [4, 8, 2, 1, 12, 16, 0, 5, 9, 6, 10, 7, 11, 13, 17, 14, 18, 15, 19, 3];
/// The same joints among MediaPipe's 33 landmarks, two where it is the middle of two.
const MEDIAPIPE: [[usize; 2]; 20] = [
    [23, 24],
    [11, 24],
    [11, 12],
    [0, 0],
    [11, 11],
    [13, 13],
    [15, 15],
    [19, 19],
    [12, 12],
    [14, 14],
    [16, 16],
    [20, 20],
    [23, 23],
    [25, 25],
    [27, 27],
    [31, 31],
    [24, 24],
    [26, 26],
    [28, 28],
    [32, 32],
];

pub fn read(item: &Item) -> anyhow::Result<Actor> {
    if matches!(item.kind, Kind::Clip | Kind::Rig) {
        let clip = read_clip(item)?;
        // Pairs name frames of the first clip, so the first it is.
        let body = match &clip.scene {
            Some(scene) if clip.index > 0 => Body::of_scene(scene, 0, 1.0 / clip.body.motion.step),
            _ => clip.body,
        };
        ensure!(body.n_frames() >= 5, "it is too short");
        let times = (0..body.n_frames()).map(|k| k as f64 * body.motion.step).collect();
        return Ok(Actor { body, times, has_clock: true, is_clean: true });
    }
    let bytes = fs::read(&item.path)?;
    let start = bytes.iter().find(|b| !b.is_ascii_whitespace());
    let (frames, up, has_clock) = match start {
        Some(b'[') => (landmarks(&bytes)?, -DVec3::Y, false),
        _ => (kinect(&String::from_utf8_lossy(&bytes))?, DVec3::Y, true),
    };
    let times: Vec<f64> = frames.iter().map(|(time, _)| *time).collect();
    let motion = even(&frames)?;
    let limbs = Limbs::find(&motion.names, &motion.parents);
    let body = Body::new(motion, limbs, up);
    ensure!(body.reach > 1e-6 && body.is_humanoid, "nobody is tracked");
    Ok(Actor { body, times, has_clock, is_clean: false })
}

type Frames = Vec<(f64, Vec<DVec3>)>;

/// A frame number and 20 places per line, or 20 lines of a place and a confidence per frame.
fn kinect(text: &str) -> anyhow::Result<Frames> {
    let numbers =
        |line: &str| -> Vec<f64> { line.split_whitespace().filter_map(|w| w.parse().ok()).collect() };
    let rows: Vec<Vec<f64>> = text.lines().map(numbers).filter(|row| !row.is_empty()).collect();
    let first = rows.first().context("there are no numbers")?;
    let mut frames: Frames = Vec::new();
    if first.len() == 61 {
        for row in rows.iter().filter(|row| row.len() == 61) {
            let time = (row[0] - first[0]) / KINECT_FPS;
            // A frame that is there twice counts once.
            if frames.last().is_none_or(|(last, _)| time > *last) {
                frames.push((time, row[1..].chunks_exact(3).map(DVec3::from_slice).collect()));
            }
        }
    } else {
        ensure!(rows.iter().all(|row| row.len() == 4), "this is no Kinect recording");
        for (k, rows) in rows.chunks_exact(20).enumerate() {
            let mut points = vec![DVec3::ZERO; 20];
            MSR.iter().zip(rows).for_each(|(&joint, row)| points[joint] = DVec3::from_slice(row));
            frames.push((k as f64 / KINECT_FPS, points));
        }
    }
    Ok(frames)
}

/// Lists of 33 places per frame. Points in the plane have no depth and make no actor.
fn landmarks(bytes: &[u8]) -> anyhow::Result<Frames> {
    let value: Value = serde_json::from_slice(bytes)?;
    let list = value.as_array().context("this is no list")?;
    let point = |point: &Value| -> Option<DVec3> {
        let axis = |k: usize| point.get(k)?.as_f64();
        Some(DVec3::new(axis(0)?, axis(1)?, axis(2)?))
    };
    let frame = |(k, frame): (usize, &Value)| -> Option<(f64, Vec<DVec3>)> {
        let points: Vec<DVec3> = frame.as_array()?.iter().map_while(point).collect();
        let joint = |[a, b]: [usize; 2]| (points[a] + points[b]) * 0.5;
        (points.len() == 33).then(|| (k as f64 / KINECT_FPS, MEDIAPIPE.map(joint).to_vec()))
    };
    let frames: Frames = list.iter().enumerate().map_while(frame).collect();
    ensure!(!frames.is_empty() && frames.len() == list.len(), "these are not 33 landmarks per frame");
    Ok(frames)
}

/// Frames at even times, what lies between bridged by straight lines.
fn even(frames: &Frames) -> anyhow::Result<Motion> {
    let last = frames.last().context("there are no frames")?.0;
    ensure!(frames.len() >= 5 && last > 0.1 && last < 3600.0, "it is too short");
    let n = (last * KINECT_FPS).round() as usize + 1;
    let at = |k: usize| -> Vec<DMat4> {
        let time = k as f64 / KINECT_FPS;
        let next = frames.partition_point(|(t, _)| *t <= time).clamp(1, frames.len() - 1);
        let ((a, from), (b, to)) = (&frames[next - 1], &frames[next]);
        let s = ((time - a) / (b - a)).clamp(0.0, 1.0);
        from.iter().zip(to).map(|(p, q)| DMat4::from_translation(p.lerp(*q, s))).collect()
    };
    Ok(Motion {
        names: JOINTS.iter().map(|(name, _)| (*name).to_owned()).collect(),
        parents: JOINTS.iter().enumerate().map(|(k, &(_, parent))| (k > 0).then_some(parent)).collect(),
        step: 1.0 / KINECT_FPS,
        frames: (0..n).map(at).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_in_frame_numbers_are_time_and_repeated_frames_are_not() {
        let row = |id: usize, x: f64| format!("{id} {}\n", vec![x.to_string(); 60].join(" "));
        let text =
            [row(10, 0.0), row(11, 1.0), row(11, 9.0), row(12, 2.0), row(13, 3.0), row(43, 33.0)].concat();
        let frames = kinect(&text).unwrap();
        assert_eq!(frames.len(), 5);
        let motion = even(&frames).unwrap();
        assert_eq!(motion.frames.len(), 34);
        assert!((motion.position(20, 0).x - 20.0).abs() < 1e-9);
    }
}
