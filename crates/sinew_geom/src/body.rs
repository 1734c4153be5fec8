//! Body poses as points: what a depth camera, a landmark detector or a marker system records.

use glam::Vec3;

/// Which points a recording holds, and in which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyLayout {
    /// The 20 joints of the first Kinect.
    Kinect20,
    /// The 33 landmarks of BlazePose / MediaPipe.
    MediaPipe33,
    /// The 17 key points of COCO, two-dimensional.
    Coco17,
}

impl BodyLayout {
    /// Names of the points, in order.
    pub fn names(self) -> &'static [&'static str] {
        match self {
            Self::Kinect20 => &KINECT_20,
            Self::MediaPipe33 => &MEDIAPIPE_33,
            Self::Coco17 => &COCO_17,
        }
    }
}

/// One moment of a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyFrame {
    /// Seconds since the start.
    pub time_secs: f64,
    /// One position per point of the layout; metres or pixels, as the recording has it.
    pub points: Vec<Vec3>,
    /// Confidence of the source in each point, 0..=1.
    pub confidence: Vec<f32>,
}

/// A body over time.
#[derive(Debug, Clone, PartialEq)]
pub struct BodyRecording {
    /// What the points are.
    pub layout: BodyLayout,
    /// Frames in order of time.
    pub frames: Vec<BodyFrame>,
}

const KINECT_20: [&str; 20] = [
    "hip_center",
    "spine",
    "shoulder_center",
    "head",
    "shoulder_left",
    "elbow_left",
    "wrist_left",
    "hand_left",
    "shoulder_right",
    "elbow_right",
    "wrist_right",
    "hand_right",
    "hip_left",
    "knee_left",
    "ankle_left",
    "foot_left",
    "hip_right",
    "knee_right",
    "ankle_right",
    "foot_right",
];

const MEDIAPIPE_33: [&str; 33] = [
    "nose",
    "left_eye_inner",
    "left_eye",
    "left_eye_outer",
    "right_eye_inner",
    "right_eye",
    "right_eye_outer",
    "left_ear",
    "right_ear",
    "mouth_left",
    "mouth_right",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
    "left_pinky",
    "right_pinky",
    "left_index",
    "right_index",
    "left_thumb",
    "right_thumb",
    "left_hip",
    "right_hip",
    "left_knee",
    "right_knee",
    "left_ankle",
    "right_ankle",
    "left_heel",
    "right_heel",
    "left_foot_index",
    "right_foot_index",
];

const COCO_17: [&str; 17] = [
    "nose",
    "left_eye",
    "right_eye",
    "left_ear",
    "right_ear",
    "left_shoulder",
    "right_shoulder",
    "left_elbow",
    "right_elbow",
    "left_wrist",
    "right_wrist",
    "left_hip",
    "right_hip",
    "left_knee",
    "right_knee",
    "left_ankle",
    "right_ankle",
];
