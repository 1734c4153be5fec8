//! BVH.

use crate::support::{Expected, check, data};
use glam::{DQuat, DVec3, Vec3};
use proptest::prelude::*;
use sinew_formats::{
    BvhFile, FormatError,
    Place::{Line, Whole},
    bvh::{read_bvh, write_bvh},
};
use sinew_geom::{Clip, Dof, DofKind, EulerOrder, Joint, Rig, Transform, Warnings};
use std::fmt::Write;

fn read(text: &str) -> Result<BvhFile, FormatError> {
    read_bvh(text.as_bytes(), "a.bvh", &mut Warnings::default())
}

/// 16 lines of hierarchy with 3 channels.
const TREE: &str = "HIERARCHY\nROOT a\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT b\n{\nOFFSET 1 0 0\n\
                    End Site\n{\nOFFSET 1 0 0\n}\n}\n}\nMOTION\n";

fn motion(text: &str) -> String {
    format!("{TREE}{text}")
}

#[test]
fn bad_files_are_refused_with_every_line() {
    let table: &[(String, Expected)] = &[
        // Nothing, and another format.
        (String::new(), &[(Whole, "does not start with `HIERARCHY`")]),
        ("ply\n".into(), &[(Whole, "does not start with `HIERARCHY`")]),
        // A hierarchy of nothing.
        (
            "HIERARCHY\nMOTION\nFrames: 0\nFrame Time: 1\n".into(),
            &[(Line(1), "there is no ROOT")],
        ),
        // Cut short within the hierarchy.
        (
            TREE[..60].into(),
            &[(Line(5), "`Xrotati` is unknown"), (Line(5), "1 joints are not closed"), (Line(5), "no MOTION")],
        ),
        // A brace too few and a brace too many.
        (
            TREE.replace("}\n}\n}\n", "}\n}\n") + "Frames: 0\nFrame Time: 1\n",
            &[(Line(13), "1 joints are not closed by `}`")],
        ),
        (
            TREE.replace("}\n}\n}\n", "} } } }\n") + "Frames: 0\nFrame Time: 1\n",
            &[(Line(12), "closes nothing")],
        ),
        // Channels that are unknown, twice, too few, given twice; an offset of words; a strange line.
        (
            "HIERARCHY\nROOT a\n{\nOFFSET 0 x 0\nCHANNELS 1 Wrotation\nCHANNELS 2 Xrotation Xrotation\n\
             CHANNELS 3 Xrotation\nCHANNELS 1 Xrotation\nCHANNELS 1 Yrotation\nhello\n}\nMOTION\nFrames: 0\nFrame Time: 1\n"
                .into(),
            &[
                (Line(4), "OFFSET needs three numbers"),
                (Line(5), "`Wrotation` is unknown"),
                (Line(6), "`Xrotation` stands twice"),
                (Line(7), "announces 3 channels and names 1"),
                (Line(9), "CHANNELS twice"),
                (Line(10), "`hello` is not part"),
            ],
        ),
        // Lines that belong to no joint.
        (
            "HIERARCHY\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\nROOT a\n{\n}\nMOTION\nFrames: 0\nFrame Time: 1\n".into(),
            &[(Line(2), "OFFSET stands outside"), (Line(3), "CHANNELS stands outside")],
        ),
        // A joint below an end site.
        (
            TREE.replace("OFFSET 1 0 0\n}", "JOINT c\n}") + "Frames: 0\nFrame Time: 1\n",
            &[(Line(11), "an end site holds another")],
        ),
        // No motion at all.
        (TREE.replace("MOTION\n", ""), &[(Line(14), "no MOTION")]),
        // A frame too short, one too long, one of words, one that is not finite: four faults.
        (
            motion("Frames: 5\nFrame Time: .1\n0 0\n0 0 0 0\n0 x 0\n0 0 0\n0 nan 0\n"),
            &[
                (Line(18), "frame has 2 numbers, the hierarchy has 3"),
                (Line(19), "frame has 4 numbers"),
                (Line(20), "`x` is not a finite number"),
                (Line(22), "`nan` is not a finite number"),
                (Line(22), "5 frames are announced, 1 are there"),
            ],
        ),
        // More frames announced than there are.
        (motion("Frames: 1000000000000\nFrame Time: .1\n0 0 0\n"), &[(Line(18), "1000000000000 frames are announced, 1 are there")]),
        // Cut short within the last frame.
        (
            motion("Frames: 2\nFrame Time: .1\n0 0 0\n0 0"),
            &[(Line(19), "frame has 2 numbers"), (Line(19), "the file was cut short")],
        ),
        // Counts and times of words; times that cannot be.
        (
            motion("Frames: many\nFrame Time: soon\n"),
            &[(Line(16), "`many` is not a number of frames"), (Line(17), "`soon` is not a frame time"), (Line(17), "no `Frames:`"), (Line(17), "no `Frame Time:`")],
        ),
        (motion("Frames: 0\nFrame Time: 1e-30\n"), &[(Line(17), "`1e-30` is not a frame time"), (Line(17), "no `Frame Time:`")]),
    ];
    for (text, expected) in table {
        check(text, read(text), expected);
        let windows = text.replace('\n', "\r\n");
        check(&windows, read(&windows), expected);
    }
}

#[test]
fn odd_but_good_files_are_read() {
    let good = motion("Frames: 2\nFrame Time: .0083\n0 0 0\n90 0 0\n");
    let texts = [
        good.clone(),
        good.replace('\n', "\r\n"),
        good.replace('\n', " \t\n\n"),
        format!("\u{feff}{good}"),
        good.replace("a\n{", "a {").replace("Site\n{", "Site {").replace("}\n}\n}", "} } }"),
        good.replace("Frame Time: ", "Frame time:\t"),
        good.replace("Zrotation", "zROTATION"),
        good.trim_end().to_owned(),
    ];
    for text in texts {
        let file = read(&text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!((file.n_frames, file.frame_secs, file.n_end_sites), (2, 0.0083, 1));
        let rig = file.character.rig.unwrap();
        let names: Vec<&str> = rig.joints().iter().map(|joint| joint.name.as_str()).collect();
        assert_eq!(names, ["a", "b", "b_end"], "{text:?}");
        assert_eq!(rig.joints()[0].euler, EulerOrder::Zxy);
        let mut world = Vec::new();
        rig.forward(&file.character.clips[0].sample(&rig, 0.0083), &mut world).unwrap();
        // A quarter turn about z carries x to y.
        let tip = world[2].translation;
        assert!(tip.distance(DVec3::new(0.0, 3.0, 0.0)) < 1e-6, "{tip}");
    }
}

#[test]
fn fewer_frames_announced_than_there_are_is_reported() {
    let mut warnings = Warnings::default();
    let text = motion("Frames: 1\nFrame Time: .1\n0 0 0\n0 0 0\n");
    assert_eq!(read_bvh(text.as_bytes(), "a.bvh", &mut warnings).unwrap().n_frames, 2);
    assert!(warnings.messages[0].contains("1 frames are announced, but 2 are there"));
}

#[test]
fn positions_replace_the_offset_and_missing_ones_keep_it() {
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 5 6 7\nCHANNELS 2 Zposition Xposition\nJOINT b\n{\nOFFSET 1 2 3\n\
                CHANNELS 4 Yrotation Yposition Xposition Zposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 1\n10 20 90 1 2 3\n";
    let file = read(text).unwrap();
    let rig = file.character.rig.unwrap();
    let pose = file.character.clips[0].sample(&rig, 0.0);
    assert_eq!(pose.locals[0].translation, DVec3::new(20.0, 6.0, 10.0));
    assert_eq!(pose.locals[1].translation, DVec3::new(2.0, 1.0, 3.0));
    assert!((pose.locals[1].rotation * DVec3::Z).distance(DVec3::X) < 1e-6);
}

#[test]
fn rotations_are_multiplied_in_the_order_of_their_channels() {
    for order in EulerOrder::ALL {
        let axes = order.axes();
        let names = axes.map(|axis| format!("{}rotation", ["X", "Y", "Z"][axis])).join(" ");
        let text =
            TREE.replace("Zrotation Xrotation Yrotation", &names) + "Frames: 1\nFrame Time: 1\n10 20 30\n";
        let file = read(&text).unwrap();
        let rig = file.character.rig.unwrap();
        let found = file.character.clips[0].sample(&rig, 0.0).locals[0].rotation;
        let turn =
            |k: usize| DQuat::from_axis_angle(DVec3::AXES[axes[k]], (10.0 * (k + 1) as f64).to_radians());
        assert!(found.dot(turn(0) * turn(1) * turn(2)).abs() > 1.0 - 1e-12, "{order:?}");
        assert_eq!(rig.joints()[0].euler, order);
    }
}

/// A chain of joints, closed by as many braces.
fn chain(n: usize, keyword: &str) -> String {
    let mut text = String::from("HIERARCHY\n");
    for index in 0..n {
        let word = if index == 0 { "ROOT" } else { keyword };
        let _ = write!(text, "{word} j\n{{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n");
    }
    text.push_str(&"}\n".repeat(n));
    text
}

#[test]
fn a_hundred_thousand_nested_joints_are_read_and_written() {
    let n = 100_000;
    let text = chain(n, "JOINT") + "MOTION\nFrames: 2\nFrame Time: 1\n" + &("0 ".repeat(n) + "\n").repeat(2);
    let file = read(&text).unwrap();
    let rig = file.character.rig.unwrap();
    assert_eq!(rig.n_joints(), n);
    let written = write_bvh(&rig, &file.character.clips[0], 1.0, &mut Warnings::default()).unwrap();
    assert!(written.len() < 400 * n);
    assert_eq!(
        read_bvh(&written, "b.bvh", &mut Warnings::default()).unwrap().character.rig.unwrap().n_joints(),
        n + 1
    );
}

#[test]
fn nested_end_sites_and_long_names_do_not_fill_the_memory() {
    // Each end site is named after its parent: a chain of them would be quadratic.
    assert!(read(&chain(100_000, "End")).is_err());
    let long = "x".repeat(500_000);
    let text = format!("HIERARCHY\nROOT {long}\n{{\n{}}}\nMOTION\n", "End Site\n{\n}\n".repeat(40_000));
    assert!(read(&text).is_err());
}

#[test]
fn clips_without_an_end_are_not_written() {
    let rig = Rig::new(vec![Joint::new("a", None, Transform::IDENTITY)]).unwrap();
    let keys = sinew_geom::rig::Keys::new(vec![0.0, 1e30], vec![glam::Vec3::ZERO; 2], Default::default(), 1)
        .unwrap();
    let track =
        sinew_geom::rig::JointTrack { joint: 0, translation: Some(keys), rotation: None, scale: None };
    let clip = Clip { joints: vec![track], ..Clip::default() };
    let error = write_bvh(&rig, &clip, 30.0, &mut Warnings::default()).unwrap_err();
    assert!(error.to_string().contains("choose a lower frame rate"), "{error}");
    assert!(write_bvh(&rig, &clip, f64::NAN, &mut Warnings::default()).is_err());
    assert!(write_bvh(&Rig::default(), &clip, 30.0, &mut Warnings::default()).is_err());
}

#[test]
fn names_of_other_formats_stay_names() {
    let names = ["", "a\nJOINT b", "hand {", "  ", "{", "Ä ö", &"é".repeat(2000)];
    let joint = |(k, name): (usize, &&str)| Joint::new(*name, k.checked_sub(1), Transform::IDENTITY);
    let rig = Rig::new(names.iter().enumerate().map(joint).collect()).unwrap();
    let text = write_bvh(&rig, &Clip::default(), 30.0, &mut Warnings::default()).unwrap();
    let again = read_bvh(&text, "a.bvh", &mut Warnings::default()).unwrap().character.rig.unwrap();
    let found: Vec<&str> = again.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(found[..6], ["joint", "a JOINT b", "hand", "joint", "joint", "Ä ö"]);
}

/// A random tree with random channels, every leaf an end site, and its motion as a file's numbers.
fn motions() -> impl Strategy<Value = (Rig, Vec<Vec<f64>>)> {
    let joint = (
        0..6usize,
        any::<bool>(),
        any::<prop::sample::Index>(),
        [-5.0..5.0, -5.0..5.0, -5.0..5.0f64],
        0..4usize,
    );
    prop::collection::vec(joint, 1..8).prop_flat_map(|specs| {
        let mut joints: Vec<Joint> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        for (index, (order, moves, parent, offset, shuffle)) in specs.iter().enumerate() {
            // Depth first, as a file lists them: the parent is the latest joint or above it.
            if index > 0 {
                open.truncate(parent.index(open.len()) + 1);
            }
            let order = EulerOrder::ALL[*order];
            let mut kinds: Vec<DofKind> = order.axes().map(|axis| DofKind::ALL[axis + 3]).to_vec();
            if *moves || index == 0 {
                for (k, axis) in [2, 0, 1].into_iter().enumerate() {
                    kinds.insert((shuffle * k).min(kinds.len()), DofKind::ALL[axis]);
                }
            }
            let rest = Transform::from_translation(DVec3::from_array(*offset));
            let mut joint = Joint::new(format!("joint {index}"), open.last().copied(), rest);
            joint.dofs =
                kinds.iter().map(|&kind| Dof { kind, range: [f64::NEG_INFINITY, f64::INFINITY] }).collect();
            joint.euler = order;
            open.push(joints.len());
            joints.push(joint);
        }
        let joints = with_end_sites(joints);
        let n_channels: usize = joints.iter().map(|joint| joint.dofs.len()).sum();
        let rows = prop::collection::vec(prop::collection::vec(-170.0..170.0f64, n_channels), 1..5);
        rows.prop_map(move |rows| (Rig::new(joints.clone()).unwrap(), rows))
    })
}

/// Put an end site right after every leaf.
fn with_end_sites(joints: Vec<Joint>) -> Vec<Joint> {
    let mut renumbered = Vec::new();
    let mut out: Vec<Joint> = Vec::new();
    for (index, joint) in joints.iter().enumerate() {
        renumbered.push(out.len());
        let parent = joint.parent.map(|parent| renumbered[parent]);
        out.push(Joint { parent, ..joint.clone() });
        if joints.iter().all(|other| other.parent != Some(index)) {
            let tip = Transform::from_translation(DVec3::new(0.0, 0.25, index as f64));
            out.push(Joint::new(format!("{}_end", joint.name), Some(out.len() - 1), tip));
        }
    }
    out
}

/// The file a recorder would write, made without our writer.
fn plain_text(rig: &Rig, rows: &[Vec<f64>]) -> String {
    let mut text = String::from("HIERARCHY\n");
    let mut open: Vec<usize> = Vec::new();
    for (index, joint) in rig.joints().iter().enumerate() {
        while open.last().copied() != joint.parent {
            open.pop();
            text.push_str("}\n");
        }
        let t = joint.rest.translation;
        let head = match joint.parent {
            None => format!("ROOT {}", joint.name),
            Some(_) if joint.dofs.is_empty() => "End Site".to_owned(),
            Some(_) => format!("JOINT {}", joint.name),
        };
        let _ = write!(text, "{head}\n{{\nOFFSET {} {} {}\n", t.x, t.y, t.z);
        if !joint.dofs.is_empty() {
            let _ = write!(text, "CHANNELS {}", joint.dofs.len());
            for dof in &joint.dofs {
                let kind = if (dof.kind as usize) < 3 { "position" } else { "rotation" };
                let _ = write!(text, " {}{kind}", ["X", "Y", "Z"][dof.kind as usize % 3]);
            }
            text.push('\n');
        }
        open.push(index);
    }
    text.push_str(&"}\n".repeat(open.len()));
    let _ = write!(text, "MOTION\nFrames: {}\nFrame Time: 0.04\n", rows.len());
    for row in rows {
        for x in row {
            let _ = write!(text, "{x} ");
        }
        text.push('\n');
    }
    text
}

/// Largest differences of two clips at a frame: of positions, and of rotations in radians.
fn differences(rig: &Rig, a: &Clip, b: &Clip, frame: usize) -> (f64, f64) {
    let time = (frame as f64 * 0.04) as f32;
    let (a, b) = (a.sample(rig, time), b.sample(rig, time));
    a.locals.iter().zip(&b.locals).fold((0.0, 0.0), |(far, turned): (f64, f64), (a, b)| {
        (far.max(a.translation.distance(b.translation)), turned.max(a.rotation.angle_between(b.rotation)))
    })
}

proptest! {
    #[test]
    fn writing_and_reading_is_identity((rig, rows) in motions()) {
        let file = read(&plain_text(&rig, &rows)).unwrap();
        prop_assert_eq!(file.character.rig.as_ref(), Some(&rig));
        prop_assert_eq!(file.n_frames, rows.len());
        let clip = &file.character.clips[0];
        let mut warnings = Warnings::default();
        let written = write_bvh(&rig, clip, 25.0, &mut warnings).unwrap();
        let again = read_bvh(&written, "b.bvh", &mut warnings).unwrap();
        prop_assert_eq!(again.character.rig.as_ref(), Some(&rig));
        prop_assert_eq!((again.n_frames, again.n_end_sites), (file.n_frames, file.n_end_sites));
        for frame in 0..rows.len() {
            let (far, turned) = differences(&rig, clip, &again.character.clips[0], frame);
            // Angles pass through single precision twice.
            prop_assert!(far < 1e-5 && turned < 2e-5, "frame {frame}: {far} {turned}");
        }
    }
}

#[test]
fn real_motions_survive_writing() {
    let Some(data) = data() else { return };
    for name in
        ["cmu/02_01.bvh", "bandai-namco/dataset-1_walk_normal_001.bvh", "nonhumanoid/Crab-dance-long.bvh"]
    {
        let bytes = std::fs::read(data.join("bvh").join(name)).unwrap();
        let mut warnings = Warnings::default();
        let file = read_bvh(&bytes, name, &mut warnings).unwrap();
        let (rig, clip) = (file.character.rig.unwrap(), &file.character.clips[0]);
        let written = write_bvh(&rig, clip, 1.0 / file.frame_secs, &mut warnings).unwrap();
        let again = read_bvh(&written, name, &mut warnings).unwrap();
        assert_eq!(again.character.rig.as_ref(), Some(&rig), "{name}");
        assert_eq!((again.n_frames, again.n_end_sites), (file.n_frames, file.n_end_sites));
        for frame in [0, file.n_frames / 2, file.n_frames - 1] {
            let time = (frame as f64 * file.frame_secs) as f32;
            let (a, b) = (clip.sample(&rig, time), again.character.clips[0].sample(&rig, time));
            for (a, b) in a.locals.iter().zip(&b.locals) {
                assert!(a.translation.distance(b.translation) < 1e-4, "{name} {frame}");
                assert!(a.rotation.angle_between(b.rotation) < 2e-4, "{name} {frame}");
            }
        }
    }
}

/// A hip that is not the root moves too: glTF rigs are built that way.
#[test]
fn joints_that_a_clip_moves_keep_their_motion() {
    use sinew_geom::rig::{Interpolation, JointTrack, Keys};
    let at = |y: f64| Transform::from_translation(DVec3::Y * y);
    let rig = Rig::new(vec![Joint::new("root", None, at(0.0)), Joint::new("hip", Some(0), at(1.0))]).unwrap();
    let values = vec![Vec3::Y, Vec3::new(0.5, 1.0, 0.25)];
    let keys = Keys::new(vec![0.0, 1.0], values, Interpolation::Linear, 1).unwrap();
    let track = JointTrack { joint: 1, translation: Some(keys), rotation: None, scale: None };
    let clip = Clip { name: "sway".into(), joints: vec![track], morphs: Vec::new() };
    let bytes = write_bvh(&rig, &clip, 4.0, &mut Warnings::default()).unwrap();
    let again = read_bvh(&bytes, "a.bvh", &mut Warnings::default()).unwrap().character;
    let pose = again.clips[0].sample(again.rig.as_ref().unwrap(), 1.0);
    assert!(pose.locals[1].translation.distance(DVec3::new(0.5, 1.0, 0.25)) < 1e-5);
}

#[test]
fn a_joint_that_only_sounds_like_an_end_keeps_its_motion() {
    use glam::Quat;
    use sinew_geom::rig::{Interpolation, JointTrack, Keys};
    let rest = Transform::from_translation(DVec3::Y);
    let turned = Transform { rotation: glam::DQuat::from_rotation_x(0.5), ..rest };
    let joints = vec![
        Joint::new("hip", None, rest),
        Joint::new("tail_end", Some(0), rest),
        Joint::new("turned_end", Some(0), turned),
        Joint::new("plain_end", Some(0), rest),
    ];
    let rig = Rig::new(joints).unwrap();
    let turns = vec![Quat::IDENTITY, Quat::from_rotation_y(1.0)];
    let rotation = Some(Keys::new(vec![0.0, 1.0], turns, Interpolation::Linear, 1).unwrap());
    let track = JointTrack { joint: 1, translation: None, rotation, scale: None };
    let clip = Clip { joints: vec![track], ..Clip::default() };
    let text = String::from_utf8(write_bvh(&rig, &clip, 10.0, &mut Warnings::default()).unwrap()).unwrap();
    assert!(text.contains("JOINT tail_end") && text.contains("JOINT turned_end"), "{text}");
    assert!(!text.contains("plain_end"), "{text}");
    let again = read(&text).unwrap().character;
    let pose = again.clips[0].sample(again.rig.as_ref().unwrap(), 1.0);
    let tail = again.rig.unwrap().joints().iter().position(|joint| joint.name == "tail_end").unwrap();
    assert!(pose.locals[tail].rotation.angle_between(glam::DQuat::from_rotation_y(1.0)) < 1e-6);
}

#[test]
fn frames_are_not_held_against_a_hierarchy_that_was_misread() {
    let text = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Wrotation\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0\n0\n";
    let error = read(text).unwrap_err();
    check("", read(text), &[(Line(5), "`Wrotation` is unknown")]);
    assert!(error.to_string().contains("correct the line"), "{error}");
}

/// Motion of a suit, twice: as MVNX and as BVH of the same take. Segments are where the file says, and bones are as long.
#[test]
fn mvnx_segments_are_where_the_file_says() {
    let Some(interop) = sinew_outside::interop() else { return };
    let path = interop.join("bvh/test_mocap.mvnx");
    let bytes = std::fs::read(&path).unwrap();
    let file = sinew_formats::mvnx::read_mvnx(&bytes, "take.mvnx", &mut Warnings::default()).unwrap();
    let (rig, clip) = (file.character.rig.as_ref().unwrap(), &file.character.clips[0]);
    assert_eq!((rig.n_joints(), file.n_frames), (23, 112));
    assert!((file.frame_secs - 1.0 / 60.0).abs() < 1e-12);
    // Positions of the last frame, as they stand in the file.
    let text = String::from_utf8(bytes.clone()).unwrap();
    let last = text.rsplit("<position>").next().unwrap().split('<').next().unwrap();
    let numbers: Vec<f64> = last.split_whitespace().map(|x| x.parse().unwrap()).collect();
    let mut world = Vec::new();
    rig.forward(&clip.sample(rig, clip.duration_secs()), &mut world).unwrap();
    for (joint, p) in numbers.as_chunks::<3>().0.iter().enumerate() {
        let said = glam::DVec3::new(p[1], p[2], p[0]);
        let found = world[joint].translation;
        assert!(found.distance(said) < 2e-3, "{}: {found} instead of {said}", rig.joints()[joint].name);
    }
    let bvh = std::fs::read(interop.join("bvh/test_mocap.bvh")).unwrap();
    let bvh = sinew_formats::bvh::read_bvh(&bvh, "take.bvh", &mut Warnings::default())
        .unwrap()
        .character
        .rig
        .unwrap();
    let length = |rig: &sinew_geom::Rig, name: &str| {
        rig.joints().iter().find(|joint| joint.name == name).unwrap().rest.translation.length()
    };
    for (segment, joint) in
        [("RightForeArm", "RightElbow"), ("LeftLowerLeg", "LeftKnee"), ("RightHand", "RightWrist")]
    {
        let (a, b) = (length(rig, segment), 0.01 * length(&bvh, joint));
        assert!((a - b).abs() < 0.01 * b, "{segment}: {a} m, {joint}: {b} m");
    }
    for end in (0..bytes.len().min(60_000)).step_by(997) {
        drop(sinew_formats::mvnx::read_mvnx(&bytes[..end], "cut.mvnx", &mut Warnings::default()));
    }
    let broken = text.replacen("<orientation>1.0", "<orientation>x", 1);
    let error =
        sinew_formats::mvnx::read_mvnx(broken.as_bytes(), "a.mvnx", &mut Warnings::default()).unwrap_err();
    assert!(error.to_string().contains("are not numbers"), "{error}");
}
