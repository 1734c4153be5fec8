//! `sinew flesh`.

use super::{Folder, QUAD, SINEW, character, fails, ok, sample};
use serde_json::json;
use sinew::{
    formats::gltf::{GlbOptions, write_glb_file},
    geom::{Character, Warnings},
};
use std::{path::Path, process::Command};

fn write(path: &str, character: &Character) {
    write_glb_file(Path::new(path), character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
}

/// Flesh follows the bones of a walk: near the skinned surface, but not on it; the keys of the contract are there.
#[test]
fn flesh_follows_a_walk() {
    let folder = Folder::new("flesh-walk");
    let (biped, out) = (sample(&folder, "biped"), folder.at("soft.glb"));
    let report = ok(&["flesh", &biped, "--clip", "walk", "--cells", "400", "-o", &out, "--json"]);
    for key in
        ["cells", "dof", "steps", "step_ms_median", "residual_max", "real_time_factor", "frames", "written"]
    {
        assert!(report.get(key).is_some(), "{key} is missing in {report}");
    }
    assert!(
        report["cells"].as_u64().unwrap() > 250 && report["residual_max"].as_f64().unwrap() < 2e-3,
        "{report}"
    );
    assert_eq!((&report["unsolved_steps"], &report["jumps"]), (&0.into(), &0.into()));
    let (hard, soft) = (character(&biped), character(&out));
    let walk = hard.clips.iter().find(|clip| clip.name == "walk").unwrap();
    let [low, high] = hard.mesh.bounds();
    let height = (high - low).y as f32;
    let (mut farthest, mut moved) = (0f32, 0f32);
    for time in [0.0, 0.3, 0.7] {
        let skinned = hard.positions_at(Some(walk), time).unwrap();
        let fleshed = soft.positions_at(soft.clips.first(), time).unwrap();
        assert_eq!(skinned.len(), fleshed.len());
        let apart = skinned.iter().zip(&fleshed).map(|(a, b)| a.distance(*b));
        farthest = apart.clone().fold(farthest, f32::max);
        moved = moved.max(apart.sum::<f32>() / skinned.len() as f32);
    }
    assert!(farthest < 0.12 * height && moved < 0.02 * height, "{farthest} {moved} of {height}");
    assert!(moved > 1e-4 * height, "flesh moves by itself");
    // The same again gives the same bytes.
    let again = folder.at("again.glb");
    ok(&["flesh", &biped, "--clip", "walk", "--cells", "400", "-o", &again, "--threads", "1", "--json"]);
    assert!(std::fs::read(&out).unwrap() == std::fs::read(&again).unwrap());
}

#[test]
fn results_are_sequences_folders_and_skins() {
    let folder = Folder::new("flesh-forms");
    let dog = sample(&folder, "quadruped");
    let (frames, skin) = (folder.at("frames"), folder.at("skin.glb"));
    let short = ["--cells", "200", "--seconds", "0.3", "--fps", "20", "--json"];
    let report = ok(&[&["flesh", &dog, "-o", &frames][..], &short].concat());
    assert_eq!((&report["frames"], &ok(&["info", &frames, "--json"])["frames"]), (&7.into(), &7.into()));
    let report = ok(&[&["flesh", &dog, "--fit", "12", "-o", &skin][..], &short].concat());
    assert!(report["E_RMS_diag1"].as_f64().unwrap() < 1.0, "{report}");
    let fitted = character(&skin);
    assert!(fitted.skin.is_some() && fitted.clips.len() == 1);
}

/// Sag under gravity, the difference to the same without it, goes with the inverse of stiffness, however it is given: for
/// the whole, around joints, painted.
#[test]
fn stiffness_by_number_joint_and_paint() {
    let folder = Folder::new("flesh-stiffness");
    let (bar, out) = (sample(&folder, "bar"), folder.at("out.glb"));
    let last = |stiffness: &str, gravity: &str, extra: &[&str]| {
        let fixed = ["--cells", "60", "--seconds", "0.5", "--fps", "4", "--tolerance", "1e-7", "-o", &out];
        let given = ["--stiffness", stiffness, "--gravity", gravity, "--json"];
        ok(&[&["flesh", &bar][..], &fixed, &given, extra].concat());
        let soft = character(&out);
        soft.positions_at(soft.clips.first(), 0.5).unwrap()
    };
    let sags = |stiffness: &str, extra: &[&str]| -> Vec<f32> {
        let (pulled, free) = (last(stiffness, "9.81", extra), last(stiffness, "0", extra));
        pulled.iter().zip(&free).map(|(a, b)| a.distance(*b)).collect()
    };
    let most = |sags: &[f32]| sags.iter().copied().fold(0f32, f32::max);
    let body = character(&bar);
    let joints = body.rig.as_ref().unwrap().joints();
    let all: Vec<String> = joints.iter().map(|joint| format!("{}=4", joint.name)).collect();
    let write = |name: &str, factor: &dyn Fn(usize) -> f64| {
        let factors: Vec<f64> = (0..body.mesh.n_vertices()).map(factor).collect();
        folder.write(name, &json!(factors).to_string())
    };
    let (even, half) = (write("even.json", &|_| 4.0), write("half.json", &|v| [1.0, 4.0][v % 2]));
    let (soft, firm, hard) = (sags("2e4", &[]), sags("4e4", &[]), sags("8e4", &[]));
    let ratio = most(&soft) / most(&hard);
    assert!((3.9..4.1).contains(&ratio), "four times as stiff, {ratio} times less");
    // The same body in other words. Painted factors meet by their logarithms: every other vertex at four is two for all.
    let same = [
        (sags("2e4", &["--stiffen", &all.join(",")]), &hard, 1e-4),
        (sags("2e4", &["--paint", &even]), &hard, 1e-4),
        (sags("2e4", &["--paint", &half]), &firm, 0.02),
    ];
    for (k, (ours, theirs, tolerance)) in same.iter().enumerate() {
        let apart = ours.iter().zip(*theirs).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        assert!(apart < tolerance * most(theirs), "{k}: {apart} of {}", most(theirs));
    }
    // One joint: stiff around it, and nothing else.
    let stiff = format!("{}=50", joints[0].name);
    let one = sags("2e4", &["--stiffen", &stiff]);
    let share = |heights: std::ops::Range<f64>| {
        let lies = |v: &usize| heights.contains(&body.mesh.positions()[*v].y);
        let highest = |sags: &[f32]| (0..sags.len()).filter(lies).map(|v| sags[v]).fold(0f32, f32::max);
        highest(&one) / highest(&soft)
    };
    let (near, far) = (share(-1.0..0.1), share(0.6..2.0));
    assert!(near < 0.06 && (0.98..1.02).contains(&far), "{near} {far}");
}

/// Every mode goes through a clip; a body without bones falls on the floor.
#[test]
fn modes_and_floor() {
    let folder = Folder::new("flesh-modes");
    let (bar, out) = (sample(&folder, "bar"), folder.at("out.glb"));
    for mode in ["linear", "quasi", "blended", "warped", "predicted", "stvk", "neohookean"] {
        let args = ["flesh", &bar, "--mode", mode, "--cells", "60", "--seconds", "0.1", "-o", &out, "--json"];
        assert_eq!(ok(&args)["mode"], mode);
    }
    let obj = folder.at("bar.obj");
    ok(&["convert", &bar, &obj, "--json"]);
    let args = [
        "flesh",
        &obj,
        "--floor",
        "-0.5",
        "--seconds",
        "1.5",
        "--cells",
        "60",
        "--stiffness",
        "1e5",
        "-o",
        &out,
        "--json",
    ];
    let report = ok(&args);
    assert!(report["warnings"].to_string().contains("falls freely"), "{report}");
    let fallen = character(&out);
    let lowest =
        fallen.positions_at(fallen.clips.first(), 1.5).unwrap().iter().map(|p| p.y).fold(f32::MAX, f32::min);
    assert!(lowest > -0.55 && lowest < -0.4, "{lowest}");
    // As in the studio: without anything to meet it stays where it is.
    let args = ["flesh", &obj, "--seconds", "1", "--cells", "60", "--stiffness", "1e5", "-o", &out, "--json"];
    assert!(ok(&args)["warnings"].to_string().contains("rests on the ground"));
    let (resting, low) = (character(&out), character(&bar).mesh.bounds()[0].y as f32);
    let at = resting.positions_at(resting.clips.first(), 1.0).unwrap();
    let lowest = at.iter().map(|p| p.y).fold(f32::MAX, f32::min);
    assert!((lowest - low).abs() < 0.05, "{lowest} {low}");
}

#[test]
fn bad_input_is_named_with_what_to_do() {
    let folder = Folder::new("flesh-bad");
    let (bar, out) = (sample(&folder, "bar"), folder.at("out.glb"));
    let said = |extra: &[&str]| fails(&[&["flesh", &bar, "-o", &out][..], extra].concat(), 1);
    assert!(said(&["--poisson", "0.5"]).contains("at most 0.499"));
    assert!(said(&["--stiffness", "-1"]).contains("above 0"));
    assert!(said(&["--density", "0"]).contains("density is 0"));
    assert!(said(&["--cells", "0"]).contains("within 1 and 200000"));
    assert!(said(&["--cell-size", "1e-7"]).contains("choose larger cells"));
    assert!(said(&["--clip", "unicorn"]).contains("there is no clip"));
    assert!(said(&["--stiffen", "unicorn=2"]).contains("there is no joint"));
    assert!(said(&["--stiffen", "root=-2"]).contains("factors above 0"));
    assert!(said(&["--seconds", "-1"]).contains("seconds: -1"));
    assert!(said(&["--fps", "0"]).contains("fps: 0"));
    assert!(said(&["--step", "0"]).contains("longest step: 0 is not within"));
    assert!(said(&["--density", "-5"]).contains("at most 1e6 kg/m³"));
    assert!(said(&["--wall", "1,2,3"]).contains("give 6 numbers"));
    assert!(said(&["--wall", "0,0,0,0,0,0"]).contains("direction"));
    assert!(said(&["--box", "0,0,0,1,0,1"]).contains("differ along every axis"));
    assert!(said(&["--room", "a,b,c,d,e,f"]).contains("give 6 numbers"));
    assert!(said(&["--ball", "0,0,0,-1"]).contains("radius must be positive"));
    assert!(said(&["--rod", "0,0,0,1,1,1,0"]).contains("radius must be positive"));
    assert!(said(&["--bone-radius", "1"]).contains("not within 0 and 0.95"));
    assert!(said(&["--softness", "1000"]).contains("not within 0.001 and 100"));
    assert!(said(&["--friction", "-1"]).contains("friction: -1 is not within 0 and 100"));
    assert!(said(&["--terrain", "nowhere.obj"]).contains("nowhere.obj"));
    assert!(said(&["--moves", "nowhere.json"]).contains("nowhere.json"));
    assert!(said(&["--pin", "12"]).contains("give a vertex and a place"));
    assert!(said(&["--pin", "99999999=0,0,0"]).contains("vertex of a pin 99999999"));
    let twice = ["--cells", "60", "--pin", "5=0,1,0", "--pin", "5=0,2,0"];
    assert!(said(&twice).contains("pin 1 contradicts pin 0"));
    fails(&["flesh", &bar, "--mode", "unicorn", "-o", &out], 2);
    let paint = |text: &str| said(&["--paint", &folder.write("paint.json", text)]);
    assert!(paint("[1, 2").contains("array of factors"));
    assert!(paint("[1, 2]").contains("one per vertex"));
    let n = character(&bar).mesh.n_vertices();
    assert!(paint(&json!(vec![0.0; n]).to_string()).contains("0.001 and 1000"));
    let quad = folder.write("quad.obj", QUAD);
    assert!(fails(&["flesh", &quad, "-o", &out], 1).contains("encloses no volume"));
    assert!(fails(&["flesh", &quad, "-o", &folder.at("out.fbx")], 1).contains("folder of .obj"));
    assert!(!Path::new(&out).exists(), "nothing is written");
    // A skeleton far from its surface.
    let mut moved = character(&bar);
    let far = moved.mesh.positions().iter().map(|p| *p + glam::DVec3::X * 100.0).collect();
    moved.mesh = moved.mesh.with_positions(far).unwrap();
    let path = folder.at("moved.glb");
    write(&path, &moved);
    assert!(fails(&["flesh", &path, "-o", &out], 1).contains("no bone of the skeleton lies within"));
}

/// A bone of no length is reported and holds nothing; flesh follows the others.
#[test]
fn bones_without_length_are_reported() {
    let folder = Folder::new("flesh-short-bone");
    let (bar, short, out) = (sample(&folder, "bar"), folder.at("short.glb"), folder.at("out.glb"));
    let mut body = character(&bar);
    // The last joint is bound where the one before it is.
    let skin = body.skin.as_mut().unwrap();
    let n = skin.slots.len();
    skin.slots[n - 1].inverse_bind = skin.slots[n - 2].inverse_bind;
    body.clips.clear();
    write(&short, &body);
    let report = ok(&["flesh", &short, "--cells", "60", "--seconds", "0.1", "-o", &out, "--json"]);
    assert!(report["warnings"].to_string().contains("have no length"), "{report}");
}

/// A body in a room with a hill, a box, a ball and a rod stays within and above; a handle draws flesh along.
#[test]
fn obstacles_and_handles() {
    let folder = Folder::new("flesh-scene");
    let (bar, out) = (sample(&folder, "bar"), folder.at("out.glb"));
    let (obj, hill) = (folder.at("bar.obj"), folder.at("hill.obj"));
    ok(&["convert", &bar, &obj, "--json"]);
    let text = "v -3 -1.5 -3\nv 3 -1.5 -3\nv 3 -1.5 3\nv -3 -1.5 3\nv 0 -0.6 0\n\
                f 1 5 2\nf 2 5 3\nf 3 5 4\nf 4 5 1\n";
    std::fs::write(&hill, text).unwrap();
    let args = [
        "flesh",
        &obj,
        "--seconds",
        "1.5",
        "--cells",
        "60",
        "--stiffness",
        "1e5",
        "--terrain",
        &hill,
        "--room",
        "-1.2,-9,-1.2,1.2,9,1.2",
        "--box",
        "0.5,-2,-1,1,-1,1",
        "--ball",
        "-0.8,-1,0,0.2",
        "--rod",
        "-1,-1,1,1,-1,1,0.1",
        "--wall",
        "0,-1.45,0,0,1,0",
        "-o",
        &out,
        "--json",
    ];
    ok(&args);
    let fallen = character(&out);
    let at = fallen.positions_at(fallen.clips.first(), 1.5).unwrap();
    assert!(at.iter().all(|p| p.y > -1.6 && p.x.abs() < 1.3 && p.z.abs() < 1.3), "it stays in its room");
    assert!(at.iter().any(|p| p.y < -0.55), "it fell");
    // Handles of a file: the lower end stays, the upper one goes half a metre aside.
    let mesh = character(&bar).mesh;
    let [low, high] = mesh.bounds();
    let axis = (0..3).max_by(|a, b| (high - low)[*a].total_cmp(&(high - low)[*b])).unwrap();
    let within = |from: f64, to: f64| -> Vec<usize> {
        let share = |p: &glam::DVec3| (p[axis] - low[axis]) / (high - low)[axis];
        let all = mesh.positions().iter().enumerate();
        all.filter(|(_, p)| (from..=to).contains(&share(p))).map(|(v, _)| v).collect()
    };
    let (still, drawn) = (within(0.0, 0.2), within(0.8, 1.0));
    let handles = json!({"handles": [
        {"name": "still", "vertices": still, "center": low.to_array()},
        {"name": "drawn", "vertices": drawn, "center": high.to_array()},
    ]});
    let moves = json!({"moves": [
        {"translate": {"handles": ["drawn"], "vector": [0.0, 0.0, 0.3]}},
    ]});
    let handles = folder.write("handles.json", &handles.to_string());
    let moves = folder.write("moves.json", &moves.to_string());
    let report = ok(&[
        "flesh",
        &bar,
        "--handles",
        &handles,
        "--moves",
        &moves,
        "--seconds",
        "2",
        "--cells",
        "120",
        "--gravity",
        "0",
        "--damping",
        "0.05",
        "-o",
        &out,
        "--json",
    ]);
    assert!(report["held_nodes"].as_u64().unwrap() > 0, "{report}");
    let soft = character(&out);
    let at = soft.positions_at(soft.clips.first(), 2.0).unwrap();
    let shift = |list: &[usize]| {
        list.iter().map(|&v| at[v].as_dvec3() - mesh.positions()[v]).sum::<glam::DVec3>() / list.len() as f64
    };
    assert!(shift(&still).length() < 0.03 && (shift(&drawn) - glam::DVec3::Z * 0.3).length() < 0.03);
}

/// A clip that jumps fifty metres: flesh is carried along, and that is reported.
#[test]
fn a_jump_carries_flesh_along() {
    let folder = Folder::new("flesh-jump");
    let (bar, jumping, out) = (sample(&folder, "bar"), folder.at("jump.glb"), folder.at("out.glb"));
    let mut body = character(&bar);
    let rig = body.rig.clone().unwrap();
    let poses: Vec<_> = (0..4)
        .map(|frame| {
            let mut pose = rig.rest_pose();
            pose.locals[0].translation.x += if frame < 2 { 0.0 } else { 50.0 };
            pose
        })
        .collect();
    // One frame per second, which is the other thing that could go wrong.
    body.clips = vec![sinew::geom::Clip::from_poses("jump", &rig, &poses, 1.0).unwrap()];
    write(&jumping, &body);
    let report =
        ok(&["flesh", &jumping, "--cells", "60", "--fps", "2", "--step", "0.5", "-o", &out, "--json"]);
    assert!(
        report["jumps"].as_u64().unwrap() > 0 && report["warnings"].to_string().contains("jumps"),
        "{report}"
    );
    let moved = character(&out);
    let ([low, high], at) = (body.mesh.bounds(), moved.positions_at(moved.clips.first(), 3.0).unwrap());
    let size = (high - low).max_element() as f32;
    assert!(at.iter().all(|p| (p.x - 50.0).abs() < 2.0 * size), "it arrived in one piece");
}

/// Wait until a process has worked for some seconds of processor time, however busy the machine is.
#[cfg(unix)]
fn wait_until_busy(id: u32, secs: f64) {
    let ticks = |stat: &str| -> f64 {
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        after_name.split_whitespace().skip(11).take(2).filter_map(|x| x.parse::<f64>().ok()).sum()
    };
    for _ in 0..600 {
        std::thread::sleep(std::time::Duration::from_millis(500));
        match std::fs::read_to_string(format!("/proc/{id}/stat")) {
            Ok(stat) if ticks(&stat) / 100.0 < secs => {}
            Ok(_) => return,
            // Where processes are not files, time has to do.
            Err(_) => return std::thread::sleep(std::time::Duration::from_secs_f64(secs)),
        }
    }
}

/// Ctrl-C stops the work and keeps the frames that are done.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_is_done() {
    let folder = Folder::new("flesh-interrupt");
    let (biped, out) = (sample(&folder, "biped"), folder.at("out.glb"));
    let args = ["flesh", &biped, "--seconds", "3000", "--fps", "10", "--cells", "1000", "-o", &out, "--json"];
    let mut child = Command::new(SINEW).args(args).stdout(std::process::Stdio::piped()).spawn().unwrap();
    wait_until_busy(child.id(), 6.0);
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stdout.take().unwrap(), &mut said).unwrap();
    assert!(child.wait().unwrap().success(), "{said}");
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["stopped"], true);
    let frames = report["frames"].as_u64().unwrap();
    assert!((1..100_000).contains(&frames));
    // Not the number of morphs: a body that has come to rest repeats them.
    let played = character(&out).clips[0].duration_secs();
    assert!((f64::from(played) - (frames - 1) as f64 / 10.0).abs() < 1e-3, "{played} s for {frames} frames");
}

/// The file as the Khronos validator and Blender see it.
#[test]
fn flesh_is_valid_and_plays_in_blender() {
    let Some(tools) = sinew_outside::tools() else { return };
    let (workspace, python) = (sinew_outside::workspace(), tools.join("bpy/bin/python"));
    let folder = Folder::new("flesh-judges");
    let (biped, glb) = (sample(&folder, "biped"), folder.at("soft.glb"));
    ok(&["flesh", &biped, "--cells", "300", "--seconds", "0.5", "--fps", "24", "-o", &glb, "--json"]);
    let run = |command: &mut Command| {
        let output = command.env("SINEW_TOOLS", &tools).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(Command::new("node").arg(workspace.join("tests/judges/validate.mjs")).arg(&glb));
    let soft = character(&glb);
    let (times, out) = ([0.0, 0.25, 0.5], folder.at("blender.bin"));
    let job = json!([{"file": glb, "clip": soft.clips[0].name, "times": times, "out": out}]);
    let jobs = folder.write("jobs.json", &job.to_string());
    run(Command::new(python).arg(workspace.join("tests/judges/blender.py")).arg(jobs));
    let bytes = std::fs::read(&out).unwrap();
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let theirs: Vec<glam::Vec3> =
        floats.as_chunks::<3>().0.iter().map(|p| glam::Vec3::from_array(*p)).collect();
    let n = theirs.len() / times.len();
    for (time, theirs) in times.iter().zip(theirs.chunks_exact(n)) {
        let ours = soft.positions_at(soft.clips.first(), *time as f32).unwrap();
        let nearest =
            |p: &glam::Vec3| ours.iter().map(|q| p.distance_squared(*q)).fold(f32::INFINITY, f32::min);
        let worst = theirs.iter().map(nearest).fold(0f32, f32::max).sqrt();
        assert!(worst < 1e-4 * 2.2, "Blender is off by {worst} m");
    }
}

/// A lattice by hand around a bar: read, subdivided, shown smoothly; folded cells and lattices elsewhere are named.
#[test]
fn lattices_made_by_hand_and_cells_of_several_sizes() {
    let folder = Folder::new("flesh-lattice");
    let (bar, out, lattice) = (sample(&folder, "bar"), folder.at("out.glb"), folder.at("hand.mesh"));
    let [inner_low, inner_high] = character(&bar).mesh.bounds();
    let write = |margin: f64, shift: f64, last: &str| {
        let space = margin * (inner_high - inner_low);
        let (low, high) = (inner_low - space, inner_high + space);
        let mut text = String::from("MeshVersionFormatted 2\nDimension 3\nVertices\n12\n");
        for layer in 0..3 {
            for (x, z) in [(low.x, low.z), (low.x, high.z), (high.x, high.z), (high.x, low.z)] {
                let y = low.y + (high.y - low.y) * f64::from(layer) / 2.0;
                text += &format!("{} {y} {z} 0\n", x + shift);
            }
        }
        text += &format!("Hexahedra\n1\n1 2 3 4 5 6 7 8 0\nPrisms\n2\n5 6 7 9 10 11 0\n{last} 0\nEnd\n");
        std::fs::write(&lattice, text).unwrap();
    };
    write(0.05, 0.0, "5 7 8 9 11 12");
    let short = ["--seconds", "0.2", "--fps", "10", "-o", &out, "--json"];
    let flesh = |more: &[&'static str]| [&["flesh", &bar, "--lattice", &lattice][..], more, &short].concat();
    let report = ok(&flesh(&[]));
    assert_eq!(
        (&report["cells"], &report["uncovered_vertices"]),
        (&json!(8 + 6 + 6), &json!([])),
        "{report}"
    );
    let fine = ok(&flesh(&["--subdivide", "2", "--smooth"]));
    assert_eq!((&fine["cells"], &fine["unsolved_steps"]), (&json!(8 * 20), &json!(0)));
    write(0.2, 0.0, "5 7 8 9 11 12");
    let rounded = ok(&flesh(&["--subdivide", "1", "--scheme", "mlca"]));
    assert!(!rounded["uncovered_vertices"].as_array().unwrap().is_empty(), "corners are rounded off");
    assert!(rounded["warnings"].to_string().contains("vertices lie in no cell (vertex "), "{rounded}");
    write(0.05, 0.0, "5 8 7 9 12 11");
    let said = fails(&flesh(&[]), 1);
    assert!(
        said.contains("hand.mesh") && said.contains("1 of 3 cells are folded over or flat (prism 2"),
        "{said}"
    );
    write(0.05, 9.0, "5 7 8 9 11 12");
    let said = fails(&flesh(&[]), 1);
    assert!(said.contains("vertices lie in no cell") && said.contains("move or scale the lattice"), "{said}");
    let dog = sample(&folder, "quadruped");
    let report = ok(&[&["flesh", &dog, "--refine", "1", "--cells", "2500"][..], &short].concat());
    assert!(report["hanging_nodes"].as_u64().unwrap() > 0 && report["unsolved_steps"] == 0, "{report}");
    let pinned = ["flesh", &dog, "--refine", "1", "--cells", "800", "--pin", "5=0,0.5,0"];
    assert!(ok(&[&pinned[..], &short].concat())["hanging_nodes"].as_u64().unwrap() > 0);
    let adaptive = ["flesh", &dog, "--adaptive", "0.02", "--cells", "1500"];
    let report = ok(&[&adaptive[..], &short].concat());
    assert!(report["cell_changes"].as_u64().unwrap() > 0 && report["unsolved_steps"] == 0, "{report}");
    let said = fails(&["flesh", &dog, "--adaptive", "-1", "-o", &out], 1);
    assert!(said.contains("strain above which cells are halved is -1"), "{said}");
    let smooth = ok(&[&["flesh", &dog, "--smooth", "--cells", "200"][..], &short].concat());
    assert!(smooth["unsolved_steps"] == 0);
}
