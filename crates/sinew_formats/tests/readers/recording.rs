//! Kinect recordings and landmarks.

use crate::support::{Expected, check, data};
use glam::Vec3;
use sinew_formats::{
    Place::{Json, Line, Whole},
    recording::{read_kinect, read_landmarks},
};
use sinew_geom::{BodyLayout, BodyRecording, Warnings};

fn kinect(text: &str) -> (BodyRecording, String) {
    let mut warnings = Warnings::default();
    let recording = read_kinect(text.as_bytes(), "a.txt", &mut warnings).unwrap();
    (recording, warnings.messages.join("\n"))
}

fn wide(frame: i32) -> String {
    let points = (0..60).map(|k| format!(" {}", f64::from(k) / 4.0)).collect::<String>();
    format!("{frame}{points}\n")
}

fn tall() -> String {
    (0..20).map(|joint| format!("{joint} 0.5 2 {}\n", joint % 2)).collect()
}

#[test]
fn bad_recordings_are_refused_with_every_line() {
    let table: &[(String, Expected)] = &[
        // Nothing, or blanks.
        (String::new(), &[(Line(1), "no line of numbers")]),
        ("\n  \n".into(), &[(Line(1), "no line of numbers")]),
        // Words, values that are not finite, and values beyond single precision.
        (
            tall()
                .replace("\n3 0.5 2 1", "\n3 x 2 1")
                .replace("\n5 0.5 2 1", "\n5 nan 2 1")
                .replace("\n7 0.5 2 1", "\n7 1e300 2 1"),
            &[(Line(4), "`x` is not"), (Line(6), "`nan` is not"), (Line(8), "`1e300` is not")],
        ),
        // A line of another width.
        (tall() + &tall().replace("\n4 0.5 2 0", "\n4 0.5"), &[(Line(25), "line has 2 numbers, expected 4")]),
        // A frame without its last joints.
        (tall() + "0 0 0 0\n", &[(Line(21), "the last frame has 1 of 20 joints")]),
        // Cut short within a wide line.
        (wide(1) + "2 0 0", &[(Line(2), "line has 3 numbers, expected 61")]),
    ];
    for (text, expected) in table {
        check(text, read_kinect(text.as_bytes(), "a.txt", &mut Warnings::default()), expected);
        let windows = text.replace('\n', "\r\n");
        check(&windows, read_kinect(windows.as_bytes(), "a.txt", &mut Warnings::default()), expected);
    }
}

#[test]
fn both_layouts_of_kinect_are_read() {
    let (recording, warnings) = kinect(&(wide(7) + &wide(8) + "\n" + &wide(8) + &wide(10)));
    assert_eq!(recording.layout, BodyLayout::Kinect20);
    let times: Vec<f64> = recording.frames.iter().map(|frame| frame.time_secs).collect();
    assert_eq!(times, [0.0, 1.0 / 30.0, 0.1]);
    assert_eq!(recording.frames[0].points[1], Vec3::new(0.75, 1.0, 1.25));
    assert!(warnings.contains("1 frames repeat"), "{warnings}");
    for text in
        [tall(), tall().replace('\n', "\r\n"), tall().replace(' ', "\t"), format!("\u{feff}{}", tall())]
    {
        let (recording, _) = kinect(&(text + &tall()));
        assert_eq!(recording.frames.len(), 2);
        // The last line is the head, which Kinect counts third.
        assert_eq!(recording.frames[1].points[3], Vec3::new(19.0, 0.5, 2.0));
        assert_eq!((recording.frames[1].confidence[3], recording.frames[1].confidence[4]), (1.0, 0.0));
    }
}

#[test]
fn real_recordings_are_read() {
    let Some(data) = data() else { return };
    for name in ["msraction3d/a01_s01_e01_skeleton3D.txt", "utkinect/joints_s01_e01.txt"] {
        let text = std::fs::read_to_string(data.join("kinect20").join(name)).unwrap();
        let (recording, _) = kinect(&text);
        assert!(recording.frames.len() > 20, "{name}");
        // A person stands upright: the head is above the feet in most frames.
        let upright = recording.frames.iter().filter(|f| f.points[3].y > f.points[15].y).count();
        assert!(2 * upright > recording.frames.len(), "{name}: {upright} of {}", recording.frames.len());
    }
}

#[test]
fn bad_landmarks_are_refused_with_every_path() {
    let good = format!("[{}]", vec!["[0, 1, 2]"; 33].join(","));
    let table: &[(String, Expected)] = &[
        // Nothing, half a list, another kind of JSON, no frames.
        (String::new(), &[(Line(1), "EOF")]),
        ("[\n[".into(), &[(Line(2), "EOF")]),
        ("{}".into(), &[(Whole, "not a list of frames")]),
        ("[]".into(), &[(Whole, "not a list of frames")]),
        // Too few points, a point of words, a point beyond single precision.
        (
            format!("[{good},[[0,1]],{},{}]", good.replacen("0", "\"x\"", 1), good.replacen("0", "1e300", 1)),
            &[
                (Json("/1".into()), "1 points, expected 33"),
                (Json("/2/0".into()), "no x and y"),
                (Json("/3/0".into()), "too far"),
            ],
        ),
        // Named points in the first frame, something else in the second, a broken point in the third.
        (
            "[{},7,{\"nose\":{\"x\":1}}]".into(),
            &[(Json("/1".into()), "not an object"), (Json("/2/nose".into()), "no x and y")],
        ),
        // Deeper than any landmark.
        ("[".repeat(100_000), &[(Line(1), "recursion limit")]),
    ];
    for (text, expected) in table {
        check(text, read_landmarks(text.as_bytes(), 30.0, "a.json"), expected);
    }
    check(
        "",
        read_landmarks(format!("[{good}]").as_bytes(), 0.0, "a.json"),
        &[(Whole, "0 frames per second")],
    );
}

#[test]
fn landmarks_of_both_layouts_are_read() {
    let list = format!("\u{feff}[[{0}],[{0}]]", vec!["[0.5, 1, 2]"; 33].join(","));
    let recording = read_landmarks(list.as_bytes(), 25.0, "a.json").unwrap();
    assert_eq!((recording.layout, recording.frames.len()), (BodyLayout::MediaPipe33, 2));
    assert_eq!(
        (recording.frames[1].time_secs, recording.frames[1].points[32]),
        (0.04, Vec3::new(0.5, 1.0, 2.0))
    );
    let named = r#"[{"nose":{"x":1,"y":2,"score":0.25},"left_eye":[3,4],"right_eye":null}]"#;
    let recording = read_landmarks(named.as_bytes(), 25.0, "a.json").unwrap();
    let frame = &recording.frames[0];
    assert_eq!((recording.layout, frame.points.len()), (BodyLayout::Coco17, 17));
    assert_eq!((frame.points[0], frame.confidence[0]), (Vec3::new(1.0, 2.0, 0.0), 0.25));
    assert_eq!((frame.points[1], frame.confidence[1]), (Vec3::new(3.0, 4.0, 0.0), 1.0));
    assert_eq!((frame.points[2], frame.confidence[2]), (Vec3::ZERO, 0.0));
}
