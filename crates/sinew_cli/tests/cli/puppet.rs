//! `sinew puppet`.

use super::{Folder, character, fails, ok, sample};
use sinew::formats::pairs::read_pairs;
use std::path::Path;

/// A dog, taught its walk by four moments of a person's, walks when the person does.
fn pairs_of_a_walk(folder: &Folder, actor: &str, dog: &str) -> String {
    let pairs = folder.at("pairs.json");
    let long = |path: &str| {
        f64::from(character(path).clips.iter().find(|c| c.name == "walk").unwrap().duration_secs())
    };
    let (stride, gait) = (long(actor), long(dog));
    for quarter in 0..4 {
        let share = f64::from(quarter) / 4.0;
        let source = format!("{actor}@{}", (share * stride * 30.0).round());
        let target = format!("{dog}@walk:{}", share * gait);
        let name = format!("step {quarter}");
        ok(&[
            "puppet", "pair", "--pairs", &pairs, "--source", &source, "--target", &target, "--name", &name,
            "--json",
        ]);
    }
    pairs
}

#[test]
fn a_dog_walks_with_a_person() {
    let folder = Folder::new("dog");
    let (actor, dog) = (sample(&folder, "biped"), sample(&folder, "quadruped"));
    let (pairs, take) = (pairs_of_a_walk(&folder, &actor, &dog), folder.at("take.glb"));
    let source = format!("{actor}@walk");
    let report = ok(&[
        "puppet",
        &dog,
        "--pairs",
        &pairs,
        "--source",
        &source,
        "-o",
        &take,
        "--smoothing",
        "0",
        "--json",
    ]);
    for key in
        ["frames", "us_per_frame", "weights", "held_frames", "residual_cm", "parts", "bytes", "written"]
    {
        assert!(!report[key].is_null(), "{key}: {report}");
    }
    assert_eq!((report["held_frames"].as_u64(), report["frames"].as_u64()), (Some(0), Some(33)), "{report}");
    // At the moment of a pair its weight is one, and the dog is in its pose.
    let weights: Vec<Vec<f64>> = serde_json::from_value(report["weights"].clone()).unwrap();
    assert!(weights[0][0] > 0.95, "{:?}", weights[0]);
    assert!(weights.iter().all(|w| (w.iter().sum::<f64>() - 1.0).abs() < 1e-6));
    let (before, after) = (character(&dog), character(&take));
    assert_eq!(after.clips.len(), before.clips.len() + 1);
    let rig = after.rig.as_ref().unwrap();
    let walk = before.clips.iter().find(|clip| clip.name == "walk").unwrap();
    let taken = after.clips.iter().find(|clip| clip.name == "puppet").unwrap();
    for (frame, share) in [(8, 0.25), (16, 0.5)] {
        let (ours, theirs) = (
            taken.sample(rig, frame as f32 / 30.0),
            walk.sample(before.rig.as_ref().unwrap(), walk.duration_secs() * share),
        );
        // Roots travel; everything else is the pose of the pair.
        for (joint, (a, b)) in rig.joints().iter().zip(ours.locals.iter().zip(&theirs.locals)) {
            let off = a.rotation.angle_between(b.rotation).to_degrees();
            assert!(joint.parent.is_none() || off < 5.0, "{} is off by {off} degrees at {share}", joint.name);
        }
    }
    // Feet stay on the ground.
    let lowest = |time: f32| {
        let positions = after.positions_at(Some(taken), time).unwrap();
        positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min)
    };
    for frame in 0..33 {
        assert!(lowest(frame as f32 / 30.0).abs() < 0.06, "frame {frame}: {}", lowest(frame as f32 / 30.0));
    }
    // Blended matrices are fitted by the skeleton; the single space of Sun (2017) works as well.
    let linear = folder.at("linear.glb");
    let args = ["puppet", &dog, "--pairs", &pairs, "--source", &source, "-o", &linear, "--json"];
    let report =
        ok(&[&args[..], &["--interpolation", "linear", "--whole-body", "--projection", "positive"]].concat());
    assert_eq!(report["parts"].as_object().unwrap().len(), 1, "{report}");
    assert!(report["clip_error_percent"].as_f64().unwrap() < 0.1, "{report}");
    assert!(character(&linear).clips[0].joints.len() > 10 && character(&linear).morphs.len() < 10);
}

#[test]
fn a_sack_without_bones_crouches_with_a_person() {
    let folder = Folder::new("sack");
    let (actor, sack) = (sample(&folder, "biped"), folder.at("sack.sinew.glb"));
    ok(&["sample", "sack", "-n", "1500", "--poses", "jump", "-o", &sack, "--json"]);
    let (pairs, take) = (folder.at("pairs.json"), folder.at("take.glb"));
    for (frame, pose) in [(0, "rest"), (8, "crouch"), (24, "stretch")] {
        let (source, target) = (format!("{actor}@{frame}"), format!("{sack}@{pose}"));
        ok(&["puppet", "pair", "--pairs", &pairs, "--source", &source, "--target", &target, "--json"]);
    }
    assert_eq!(read_pairs(&std::fs::read(&pairs).unwrap(), "p").unwrap().pairs.len(), 3);
    let report = ok(&[
        "puppet",
        &sack,
        "--pairs",
        &pairs,
        "--source",
        &actor,
        "-o",
        &take,
        "--smoothing",
        "0",
        "--json",
    ]);
    let weights: Vec<Vec<f64>> = serde_json::from_value(report["weights"].clone()).unwrap();
    assert!(weights[8][1] > 0.9 && weights[24][2] > 0.9, "{:?} {:?}", weights[8], weights[24]);
    let moving = character(&take);
    let top = |time: f32| {
        let positions = moving.positions_at(moving.clips.first(), time).unwrap();
        positions.iter().map(|p| p.y).fold(f32::NEG_INFINITY, f32::max)
    };
    assert!(
        top(8.0 / 30.0) < top(0.0) && top(0.0) < top(24.0 / 30.0),
        "{} {} {}",
        top(8.0 / 30.0),
        top(0.0),
        top(0.8)
    );
}

/// Recordings of others: two layouts of Kinect, landmarks, skeletons of several makers.
#[test]
fn real_recordings_move_a_character() {
    let Some(data) = sinew_outside::data() else { return };
    let folder = Folder::new("recordings");
    let (dog, take) = (sample(&folder, "quadruped"), folder.at("take.glb"));
    let recordings = [
        ("kinect20/utkinect/joints_s01_e01.txt", 100, 300),
        ("kinect20/msraction3d/a01_s01_e01_skeleton3D.txt", 0, 20),
        ("video/pose_squats_3d.full.json", 2, 12),
        ("bvh/cmu/02_01.bvh", 10, 60),
        ("bvh/threejs-pirouette.bvh", 10, 300),
        ("bvh/bandai-namco/dataset-1_walk_normal_001.bvh", 10, 60),
    ];
    for (file, first, second) in recordings {
        let (source, pairs) = (data.join(file).to_string_lossy().into_owned(), folder.at("p.json"));
        let _ = std::fs::remove_file(&pairs);
        for (frame, pose) in [(first, dog.clone()), (second, format!("{dog}@walk:0.3"))] {
            ok(&[
                "puppet",
                "pair",
                "--pairs",
                &pairs,
                "--source",
                &format!("{source}@{frame}"),
                "--target",
                &pose,
                "--json",
            ]);
        }
        let report = ok(&["puppet", &dog, "--pairs", &pairs, "--source", &source, "-o", &take, "--json"]);
        let weights: Vec<Vec<f64>> = serde_json::from_value(report["weights"].clone()).unwrap();
        let moves = weights
            .iter()
            .map(|w| w[1])
            .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], w| [low.min(w), high.max(w)]);
        assert!(moves[1] - moves[0] > 0.3, "{file}: nothing moves, {moves:?}");
        let taken = character(&take);
        let clip = taken.clips.iter().find(|clip| clip.name == "puppet").unwrap();
        let positions = taken.positions_at(Some(clip), 0.5 * clip.duration_secs()).unwrap();
        assert!(positions.iter().all(|p| p.is_finite() && p.length() < 100.0), "{file}");
    }
    // All zeros: nothing was ever seen.
    let zeros = data.join("kinect20/msraction3d/a13_s09_e02_skeleton3D.txt").to_string_lossy().into_owned();
    let said = fails(&["puppet", &dog, "--pairs", &folder.at("p.json"), "--source", &zeros, "-o", &take], 1);
    assert!(said.contains("never fully tracked"), "{said}");
    let said = fails(
        &[
            "puppet",
            "pair",
            "--pairs",
            &folder.at("p.json"),
            "--source",
            &format!("{zeros}@0"),
            "--target",
            &dog,
        ],
        1,
    );
    assert!(said.contains("not fully tracked"), "{said}");
}

#[test]
fn wrong_requests_get_a_remedy() {
    let folder = Folder::new("puppet-wrong");
    let (actor, dog, out) = (sample(&folder, "biped"), sample(&folder, "quadruped"), folder.at("out.glb"));
    let pairs = pairs_of_a_walk(&folder, &actor, &dog);
    let (none, odd) = (folder.write("none.json", r#"{"pairs":[]}"#), folder.at("odd.json"));
    let text = std::fs::read_to_string(&pairs).unwrap();
    std::fs::write(&odd, text.replace("\"tail.1\"", "\"trunk\"")).unwrap();
    let limb = folder.write("limb.json", &text.replacen('{', r#"{"limbs":{"tail.1":["nose"]},"#, 1));
    let at = |frame: &str| format!("{actor}@{frame}");
    let (far, word) = (at("9999"), at("soon"));
    let (late, unknown) = (format!("{dog}@walk:99"), format!("{dog}@gallop"));
    let cases: [(&[&str], i32, &str); 13] = [
        (&["puppet", &dog, "--pairs", &pairs, "-o", &out], 1, "--source"),
        (&["puppet", &dog, "--pairs", &pairs, "--source", &actor], 1, "-o FILE"),
        (&["puppet"], 1, "puppet pair"),
        (&["puppet", &dog, "--pairs", &none, "--source", &actor, "-o", &out], 1, "no pairs"),
        (&["puppet", &dog, "--pairs", &odd, "--source", &actor, "-o", &out], 1, "\"trunk\""),
        (&["puppet", &dog, "--pairs", &limb, "--source", &actor, "-o", &out], 1, "\"nose\""),
        (&["puppet", &dog, "--pairs", &pairs, "--source", &dog, "-o", &out], 1, "left hand"),
        (
            &["puppet", &dog, "--pairs", &pairs, "--source", &actor, "--smoothing", "2", "-o", &out],
            1,
            "0 to 1",
        ),
        (
            &["puppet", &dog, "--pairs", &pairs, "--source", &actor, "--ignore", "tail", "-o", &out],
            1,
            "arm.L",
        ),
        (&["puppet", "pair", "--pairs", &pairs, "--source", &far, "--target", &dog], 1, "0 to 32"),
        (&["puppet", "pair", "--pairs", &pairs, "--source", &word, "--target", &dog], 1, "\"soon\""),
        (&["puppet", "pair", "--pairs", &pairs, "--source", &at("0"), "--target", &late], 1, "outside"),
        (&["puppet", "pair", "--pairs", &pairs, "--source", &at("0"), "--target", &unknown], 1, "\"gallop\""),
    ];
    for (args, code, expected) in cases {
        let said = fails(args, code);
        assert!(said.contains(expected), "{args:?}: {said}");
    }
    assert!(!Path::new(&out).exists(), "nothing is written when something is wrong");
    // One pair holds the character in its pose; two equal pairs share.
    let one = folder.at("one.json");
    for name in ["a", "b"] {
        ok(&[
            "puppet",
            "pair",
            "--pairs",
            &one,
            "--source",
            &at("3"),
            "--target",
            &format!("{dog}@walk:0.2"),
            "--name",
            name,
            "--json",
        ]);
        let report = ok(&["puppet", &dog, "--pairs", &one, "--source", &actor, "-o", &out, "--json"]);
        let weights: Vec<Vec<f64>> = serde_json::from_value(report["weights"].clone()).unwrap();
        let share = 1.0 / weights[0].len() as f64;
        assert!(weights.iter().flatten().all(|w| (w - share).abs() < 1e-6), "{:?}", weights[0]);
    }
}

/// A character with pairs of our own.
fn demo(folder: &Folder, name: &str) -> String {
    let path = folder.at(&format!("{name}.sinew.glb"));
    ok(&["sample", name, "-n", "1200", "--puppet", "-o", &path, "--json"]);
    path
}

/// Each sample with pairs follows the actor that was grown for it, near its pairs, and differently in each scene.
#[test]
fn the_demonstration_moves_every_sample() {
    let folder = Folder::new("puppet-demo");
    for name in ["quadruped", "octopus", "sack", "bar"] {
        let (target, take) = (demo(&folder, name), folder.at(&format!("{name}.glb")));
        let report = ok(&["puppet", &target, "--source", "demo", "-o", &take, "--json"]);
        assert!(report["frames"].as_u64().unwrap() > 700 && report["held_frames"] == 0, "{name}");
        assert!(report["residual_cm"].as_f64().unwrap() < 12.0, "{name}: {}", report["residual_cm"]);
        let rows: Vec<Vec<f64>> = report["weights"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row.as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect())
            .collect();
        for pair in 0..rows[0].len() {
            let most = rows.iter().map(|row| row[pair]).fold(0.0, f64::max);
            assert!(most > 0.25, "{name}: pair {pair} is never meant ({most})");
        }
        assert!(character(&take).clips.iter().any(|clip| clip.name == "puppet"));
        assert!(
            character(&target).clips.iter().any(|clip| clip.name == "demo"),
            "the take is in the project"
        );
    }
    let text = fails(&["sample", "biped", "--puppet", "-o", &folder.at("b.sinew.glb")], 1);
    assert!(text.contains("no pairs for the biped"), "{text}");
}

#[test]
fn a_calibration_is_saved_and_used() {
    let folder = Folder::new("puppet-calibration");
    let (target, file, take) = (demo(&folder, "bar"), folder.at("c.json"), folder.at("t.glb"));
    let report = ok(&["puppet", "calibrate", "--source", "demo@0", "-o", &file, "--json"]);
    assert!(report["tilt_degrees"].as_f64().unwrap() < 5.0 && report["trunk"].as_f64().unwrap() > 0.4);
    ok(&["puppet", &target, "--source", "demo", "--calibration", &file, "-o", &take, "--json"]);
    std::fs::write(&file, "{}").unwrap();
    let text = fails(&["puppet", &target, "--source", "demo", "--calibration", &file, "-o", &take], 1);
    assert!(text.contains("sinew puppet calibrate") && text.contains("c.json"), "{text}");
}

mod live {
    use super::*;
    use sinew::{
        formats::vmc::{VmcPacket, VmcReceiver, VmcSender},
        geom::Rig,
    };
    use std::{
        io::{BufRead, BufReader, Read},
        net::{SocketAddr, UdpSocket},
        process::{Child, Command, Stdio},
        time::{Duration, Instant},
    };

    /// A run of `sinew puppet --listen` on a port of its own.
    struct Listening {
        child: Child,
        address: SocketAddr,
    }

    fn listen(args: &[&str]) -> Listening {
        let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(["puppet"])
            .args(args)
            .args(["--listen", "127.0.0.1:0", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let line = lines.find_map(|line| line.ok().filter(|line| line.contains("listening on"))).unwrap();
        let address = line.split("listening on ").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
        std::thread::spawn(move || lines.for_each(drop));
        Listening { child, address }
    }

    impl Listening {
        fn report(mut self) -> serde_json::Value {
            let mut text = String::new();
            self.child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
            assert!(self.child.wait().unwrap().success(), "{text}");
            serde_json::from_str(&text).unwrap()
        }
    }

    /// A performer who raises the left arm over the frames.
    fn perform(rig: &Rig, share: f64) -> sinew::geom::Pose {
        let mut pose = rig.rest_pose();
        let at = |name: &str| rig.joints().iter().position(|joint| joint.name == name).unwrap();
        pose.locals[at("LeftUpperArm")].rotation = glam::DQuat::from_rotation_z(1.2 * share);
        pose.locals[at("RightUpperArm")].rotation = glam::DQuat::from_rotation_z(-1.2 * share);
        pose
    }

    fn send(socket: &UdpSocket, to: SocketAddr, sender: &VmcSender, rig: &Rig, share: f64) {
        for packet in sender.packets(share, &perform(rig, share)) {
            socket.send_to(&packet, to).unwrap();
        }
    }

    /// Frames come in over real sockets, poses go out, the recording is kept; others are not listened to.
    #[test]
    fn only_the_performer_moves_the_character() {
        let folder = Folder::new("puppet-live");
        let (target, take) = (demo(&folder, "quadruped"), folder.at("live.glb"));
        let ear = UdpSocket::bind("127.0.0.1:0").unwrap();
        ear.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
        let to = ear.local_addr().unwrap().to_string();
        let run = listen(&[&target, "--seconds", "3", "--send", &to, "-o", &take, "--smoothing", "0"]);
        let rig = VmcReceiver::default().rig().clone();
        let sender = VmcSender::new(&rig, |_| None);
        let performer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        other.send_to(b"garbage before anybody", run.address).unwrap();
        let mut n_heard = 0;
        let mut buffer = [0; 4096];
        for k in 0..40 {
            send(&performer, run.address, &sender, &rig, f64::from(k) / 40.0);
            // Another sender pretends to be the performer.
            send(&other, run.address, &sender, &rig, 1.0 - f64::from(k) / 40.0);
            performer.send_to(b"#bundle\0garbage of the performer", run.address).unwrap();
            std::thread::sleep(Duration::from_millis(30));
        }
        while let Ok((n, _)) = ear.recv_from(&mut buffer) {
            let heard = VmcReceiver::default().take(&buffer[..n]);
            assert!(heard != VmcPacket::Garbage, "what is sent on is VMC");
            n_heard += 1;
        }
        let report = run.report();
        let count = |path: &str| report.pointer(path).unwrap().as_u64().unwrap();
        assert!((35..=40).contains(&count("/frames")), "{report}");
        assert!(count("/ignored/foreign") >= 70 && count("/ignored/garbage") >= 35, "{report}");
        assert!(n_heard > 60 && count("/sent_packets") >= n_heard, "{n_heard} {report}");
        let clip = character(&take).clips.into_iter().find(|clip| clip.name == "puppet").unwrap();
        assert!(clip.duration_secs() > 0.8, "the recording is kept: {}", clip.duration_secs());
        // The weights go their way, without jumping to the other sender's poses, which go the other.
        let rows: Vec<Vec<f64>> = serde_json::from_value(report["weights"].clone()).unwrap();
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let jump = rows.windows(2).map(|pair| apart(&pair[0], &pair[1])).fold(0.0, f64::max);
        assert!(jump < 0.1 && apart(&rows[0], &rows[rows.len() - 1]) > 0.15, "{jump} {rows:?}");
    }

    /// Ten thousand packets per second, by the performer and by another sender: it ends in time, and says what it ignored.
    #[test]
    fn a_flood_is_counted_and_survived() {
        let folder = Folder::new("puppet-flood");
        let target = demo(&folder, "bar");
        let run = listen(&[&target, "--seconds", "3"]);
        let rig = VmcReceiver::default().rig().clone();
        let sender = VmcSender::new(&rig, |_| None);
        let performer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let packets = sender.packets(0.0, &perform(&rig, 0.3));
        send(&performer, run.address, &sender, &rig, 0.0);
        let begun = Instant::now();
        let mut n_sent = 0u64;
        while begun.elapsed() < Duration::from_secs(2) {
            for k in 0..100 {
                let _ = performer.send_to(&packets[k % packets.len()], run.address);
                let _ = other.send_to(&packets[k % packets.len()], run.address);
                n_sent += 2;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let report = run.report();
        assert!(n_sent > 10_000, "{n_sent} packets were sent");
        let frames = report["frames"].as_u64().unwrap();
        assert!(frames > 10 && frames < 900, "frames are performed at a bounded rate: {report}");
        assert!(report["ignored"]["foreign"].as_u64().unwrap() > 1000, "{report}");
        assert!(
            report["skipped_frames"].as_u64().unwrap() + report["ignored"]["flood"].as_u64().unwrap() > 100
        );
    }

    /// `--from` names who is meant; an interrupt keeps what there is.
    #[test]
    fn a_named_performer_is_waited_for_and_an_interrupt_keeps_the_take() {
        let folder = Folder::new("puppet-from");
        let (target, take) = (demo(&folder, "sack"), folder.at("live.glb"));
        let performer = UdpSocket::bind("127.0.0.1:0").unwrap();
        let other = UdpSocket::bind("127.0.0.1:0").unwrap();
        let from = performer.local_addr().unwrap().to_string();
        let run = listen(&[&target, "--from", &from, "-o", &take]);
        let rig = VmcReceiver::default().rig().clone();
        let sender = VmcSender::new(&rig, |_| None);
        for k in 0..20 {
            send(&other, run.address, &sender, &rig, 0.5);
            send(&performer, run.address, &sender, &rig, f64::from(k) / 20.0);
            std::thread::sleep(Duration::from_millis(30));
        }
        std::thread::sleep(Duration::from_millis(200));
        let pid = run.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let report = run.report();
        assert_eq!(report["performer"], from.as_str());
        assert!(report["frames"].as_u64().unwrap() >= 15, "{report}");
        assert!(character(&take).clips.iter().any(|clip| clip.name == "puppet"));
    }

    #[test]
    fn wrong_addresses_are_reported() {
        let folder = Folder::new("puppet-wrong");
        let target = demo(&folder, "bar");
        let text = fails(&["puppet", &target, "--listen", "nowhere::1", "--seconds", "1"], 1);
        assert!(text.contains("is not an address"), "{text}");
        let text = fails(&["puppet", &target, "--listen", "0", "--from", "me", "--seconds", "1"], 1);
        assert!(text.contains("--from \"me\""), "{text}");
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap().to_string();
        let text = fails(&["puppet", &target, "--listen", &address, "--seconds", "1"], 1);
        assert!(text.contains("cannot listen on"), "{text}");
    }
}
