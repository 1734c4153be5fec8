//! `sinew pose` and `sinew handles auto`.

use super::{Folder, QUAD, SINEW, bad_files, character, fails, ok};
use serde_json::{Value, json};
use sinew::{
    formats::handles::read_handles,
    geom::{Character, Handle},
};
use std::{path::Path, process::Command};

const RAISED: &str = r#"{"moves":[{"rotate":{"main":"elbow.L","axis":[0,0,1],"degrees":60}}]}"#;

/// How far the vertices of a handle went, least and most.
fn shifts(rest: &Character, posed: &Character, handle: &str) -> [f64; 2] {
    let handle = rest.handles.iter().find(|h| h.name == handle).unwrap();
    let shift = |v: &u32| rest.mesh.positions()[*v as usize].distance(posed.mesh.positions()[*v as usize]);
    handle.vertices.iter().map(shift).fold([f64::INFINITY, 0.0], |[l, h], d| [l.min(d), h.max(d)])
}

/// The quadruped without anything but its faces.
fn bare_quadruped(folder: &Folder) -> String {
    let (glb, obj) = (folder.at("fox.glb"), folder.at("fox.obj"));
    ok(&["sample", "quadruped", "-n", "2000", "-o", &glb, "--json"]);
    ok(&["convert", &glb, &obj, "--json"]);
    obj
}

#[test]
fn a_raised_arm_moves_the_hand_and_not_the_feet() {
    let folder = Folder::new("raise");
    let (glb, posed) = (folder.at("biped.glb"), folder.at("posed.glb"));
    ok(&["sample", "biped", "-n", "3000", "-o", &glb, "--json"]);
    let moves = folder.write("moves.json", RAISED);
    let report = ok(&["pose", &glb, "--moves", &moves, "--method", "guided", "-o", &posed, "--json"]);
    let keys = "roi_vertices prepare_ms frame_ms volume_ratio edge_rms arap_energy flipped self_intersections \
                written bytes warnings handles";
    for key in keys.split_whitespace() {
        assert!(!report[key].is_null(), "{key} is missing in {report}");
    }
    assert!(report["warnings"].to_string().contains("left out: skeleton and skin, animations"), "{report}");
    assert_eq!((report["handles_from"].as_str(), report["flipped"].as_u64()), (Some("model"), Some(0)));
    assert!((report["volume_ratio"].as_f64().unwrap() - 1.0).abs() < 0.02, "{report}");
    assert!(report["edge_rms"].as_f64().unwrap() < 0.06, "{report}");
    let (rest, posed) = (character(&glb), character(&posed));
    assert!(shifts(&rest, &posed, "hand.L")[0] > 0.4);
    for still in ["foot.L", "foot.R", "hand.R", "head", "hips"] {
        assert!(shifts(&rest, &posed, still)[1] < 1e-6, "{still}");
    }
    assert!(posed.rig.is_none() && posed.skin.is_none() && posed.clips.is_empty());
    assert_eq!(posed.surface.materials, rest.surface.materials);
    // Handles come along: the centre of the hand goes up, that of the shoulder stays.
    let center =
        |c: &Character, name: &str| c.handles.iter().find(|h| h.name == name).map(|h| h.center).unwrap();
    assert!(center(&posed, "hand.L").y > center(&rest, "hand.L").y + 0.2);
    assert!(center(&posed, "elbow.L").distance(center(&rest, "elbow.L")) < 1e-9);
}

#[test]
fn refining_makes_a_pose_more_rigid() {
    let folder = Folder::new("refine");
    let glb = folder.at("biped.glb");
    ok(&["sample", "biped", "-n", "6000", "-o", &glb, "--json"]);
    let moves = folder.write("moves.json", RAISED);
    let energies = ["0", "1", "4"].map(|n| {
        let out = folder.at(&format!("{n}.glb"));
        let report = ok(&["pose", &glb, "--moves", &moves, "--refine", n, "-o", &out, "--json"]);
        assert_eq!(report["refinements"].to_string(), n);
        report["arap_energy"].as_f64().unwrap()
    });
    // What dragging shows has an iteration already.
    assert!(energies[1] < energies[0] && energies[2] < energies[1], "{energies:?}");
    let out = folder.at("idle.glb");
    let idle = ok(&["pose", &glb, "--moves", &moves, "-o", &out, "--json"]);
    assert!(idle["refinements"].as_u64().unwrap() >= 10, "{idle}");
    assert!(idle["arap_energy"].as_f64().unwrap() < energies[2], "{idle}");
    fails(&["pose", &glb, "--moves", &moves, "--refine", "-1", "-o", &folder.at("x.glb")], 2);
}

#[test]
fn a_recorded_step_is_shorter_on_a_smaller_body() {
    let folder = Folder::new("size");
    let (glb, small) = (folder.at("biped.glb"), folder.at("small.glb"));
    ok(&["sample", "biped", "-n", "2000", "-o", &glb, "--json"]);
    ok(&["convert", &glb, &small, "--scale", "0.25", "--json"]);
    let size = character(&glb).mesh.diagonal();
    let step = r#"{"translate":{"handles":["hand.L"],"vector":[0,0.08,0]}}"#;
    let absolute = folder.write("absolute.json", &format!(r#"{{"moves":[{step}]}}"#));
    let sized = folder.write("sized.json", &format!(r#"{{"moves":[{step}],"size":{size}}}"#));
    for (model, moves, wanted) in
        [(&glb, &absolute, 0.08), (&glb, &sized, 0.08), (&small, &absolute, 0.08), (&small, &sized, 0.02)]
    {
        let out = folder.at("out.glb");
        let report = ok(&["pose", model, "--moves", moves, "-o", &out, "--json"]);
        assert_eq!(report["moves_scaled_by"].is_null(), moves == &absolute, "{report}");
        let [least, most] = shifts(&character(model), &character(&out), "hand.L");
        assert!((least - wanted).abs() < 1e-5 && (most - wanted).abs() < 1e-5, "{least} {most} {wanted}");
    }
}

#[test]
fn handles_become_bones() {
    let folder = Folder::new("as_skin");
    let (glb, rigged) = (folder.at("biped.glb"), folder.at("rigged.glb"));
    ok(&["sample", "biped", "-n", "3000", "-o", &glb, "--json"]);
    let report = ok(&["convert", &glb, &rigged, "--as-skin", "--json"]);
    assert!(report["skin_error_rms"].as_f64().unwrap() < 0.01, "{report}");
    let (rest, rigged) = (character(&glb), character(&rigged));
    assert_eq!(rigged.rig.as_ref().map(|rig| rig.n_joints()), Some(rest.handles.len()));
    // The clips move the new bones.
    let walk = |of: &Character| of.positions_at(of.clips.first(), 0.4).unwrap();
    let squared =
        walk(&rest).iter().zip(walk(&rigged)).map(|(p, q)| f64::from(p.distance_squared(q))).sum::<f64>();
    let rms = (squared / rest.mesh.n_vertices() as f64).sqrt() / rest.mesh.diagonal();
    assert!(rigged.clips.len() == rest.clips.len() && rms < 1.5e-3, "{rms}");
    assert!(rigged.skin.is_some_and(|skin| skin.influences() <= 4));
    let obj = bare_quadruped(&folder);
    let refused = fails(&["convert", &obj, &folder.at("fox2.glb"), "--as-skin"], 1);
    assert!(refused.contains("needs handles") && refused.contains("handles auto"), "{refused}");
}

#[test]
fn a_pose_is_the_same_in_every_format_and_with_any_threads() {
    let folder = Folder::new("formats");
    let glb = folder.at("biped.glb");
    ok(&["sample", "biped", "-n", "1500", "-o", &glb, "--json"]);
    let moves = folder.write("moves.json", RAISED);
    let shapes = [("a.glb", "1"), ("b.glb", "2"), ("a.obj", "2"), ("a.ply", "2")].map(|(name, threads)| {
        let out = folder.at(name);
        let done = ok(&["pose", &glb, "--moves", &moves, "-o", &out, "--json", "--threads", threads]);
        // An OBJ also has its library of materials.
        assert!(done["bytes"].as_u64().unwrap() >= std::fs::metadata(&out).unwrap().len());
        character(&out)
    });
    let bytes = ["a.glb", "b.glb"].map(|name| std::fs::read(folder.at(name)).unwrap());
    assert!(bytes[0] == bytes[1]);
    for other in &shapes[2..] {
        assert_eq!(other.mesh.n_vertices(), shapes[0].mesh.n_vertices());
        for (a, b) in shapes[0].mesh.positions().iter().zip(other.mesh.positions()) {
            assert!(a.distance(*b) < 1e-5);
        }
    }
}

#[test]
fn moves_that_cannot_be_made_are_explained() {
    let folder = Folder::new("wrong-moves");
    let glb = folder.at("bar.glb");
    ok(&["sample", "bar", "-n", "1000", "-o", &glb, "--json"]);
    let try_moves = |text: &str| {
        let out = folder.at("out.glb");
        let said = fails(&["pose", &glb, "--moves", &folder.write("moves.json", text), "-o", &out], 1);
        assert!(!Path::new(&out).exists(), "{said}");
        said
    };
    let said = try_moves(r#"{"moves":[{"translate":{"handles":["end.c"],"vector":[0,0,1]}}]}"#);
    assert!(said.contains("moves.json: move 0 names handle \"end.c\""), "{said}");
    assert!(said.contains("end.b, middle, end.a"), "{said}");
    let said = try_moves(r#"{"moves":[{"translate":{"handles":["end.a"],"vector":[NaN,0,1]}}]}"#);
    assert!(said.contains("moves.json:1: ") && said.contains("JSON has no NaN"), "{said}");
    let said =
        try_moves(r#"{"moves":[{"bend":{}},{"translate":{"handles":["end.a"],"vector":[1e300,0,1]}}]}"#);
    assert!(said.contains("moves.json:/moves/0: ") && said.contains("/moves/1/translate/vector/0"), "{said}");
    assert!(try_moves("").contains("moves.json: the file is empty"));
    // Each within reason, together beyond it.
    let far = r#"{"translate":{"handles":["end.a"],"vector":[3e38,0,0]}}"#;
    let said = try_moves(&format!(r#"{{"moves":[{far},{far}]}}"#));
    assert!(said.contains("out of the range of numbers"), "{said}");
    let (none, out) = (folder.at("absent.json"), folder.at("out.glb"));
    assert!(fails(&["pose", &glb, "--moves", &none, "-o", &out], 1).contains("absent.json"));
    assert!(fails(&["pose", &glb, "--moves", "/dev/zero", "-o", &out], 1).contains("larger than 256 MB"));
    fails(&["pose", &glb, "-o", &out], 2);
    let said = fails(&["pose", &glb, "--moves", &none, "--method", "magic", "-o", &out], 2);
    assert!(said.contains("possible values: guided, arap, lipman"), "{said}");
    for wrong in ["x.bvh", "x.stl"] {
        fails(&["pose", &glb, "--moves", &folder.write("m.json", RAISED), "-o", &folder.at(wrong)], 1);
    }
}

#[test]
fn no_moves_leave_the_model_at_rest() {
    let folder = Folder::new("no-moves");
    let (glb, out) = (folder.at("sack.glb"), folder.at("out.glb"));
    ok(&["sample", "sack", "-n", "1000", "-o", &glb, "--json"]);
    let moves = folder.write("moves.json", r#"{"moves":[]}"#);
    let report = ok(&["pose", &glb, "--moves", &moves, "-o", &out, "--json"]);
    assert!(report["warnings"].to_string().contains("holds no moves"), "{report}");
    // The graph's edges are kept in single precision.
    assert!(report["edge_rms"].as_f64().unwrap() < 1e-7, "{report}");
    let (rest, posed) = (character(&glb), character(&out));
    assert_eq!(rest.handles, posed.handles);
    for (a, b) in rest.mesh.positions().iter().zip(posed.mesh.positions()) {
        assert!(a.distance(*b) < 1e-6);
    }
}

#[test]
fn handles_of_a_file_are_checked_and_overlaps_reported() {
    let folder = Folder::new("overlap");
    let (quad, out) = (folder.write("quad.obj", QUAD), folder.at("out.obj"));
    let moves = folder.write("moves.json", r#"{"moves":[{"translate":{"handles":["b"],"vector":[0,0,1]}}]}"#);
    let handles = folder.write(
        "handles.json",
        r#"{"handles":[{"name":"a","vertices":[0,1]},{"name":"b","vertices":[1,2]}]}"#,
    );
    let report = ok(&["pose", &quad, "--handles", &handles, "--moves", &moves, "-o", &out, "--json"]);
    assert!(report["warnings"].to_string().contains("share 1 vertices"), "{report}");
    let heights: Vec<f64> = character(&out).mesh.positions().iter().map(|p| p.z).collect();
    assert!(heights[0] == 0.0 && heights[1] == 1.0 && heights[2] == 1.0, "{heights:?}");
    let handles = folder.write("wrong.json", r#"{"handles":[{"name":"a","vertices":[9]}]}"#);
    let said = fails(&["pose", &quad, "--handles", &handles, "--moves", &moves, "-o", &out], 1);
    assert!(said.contains("wrong.json:/handles/0/vertices/0: the mesh has no vertex 9"), "{said}");
    let handles = folder.write("none.json", r#"{"handles":[]}"#);
    let said = fails(&["pose", &quad, "--handles", &handles, "--moves", &moves, "-o", &out], 1);
    assert!(said.contains("none.json: there is no handle"), "{said}");
}

#[test]
fn handles_found_on_a_bare_mesh_pose_it() {
    let folder = Folder::new("auto");
    let (fox, file, out) = (bare_quadruped(&folder), folder.at("handles.json"), folder.at("out.ply"));
    let found = ok(&["handles", "auto", &fox, "-o", &file, "--json"]);
    let reported = found["handles"].as_array().unwrap();
    assert!(reported.len() >= 5 && found["source"] == "shape", "{found}");
    let rest = character(&fox);
    let handles = read_handles(&std::fs::read(&file).unwrap(), &rest.mesh, "handles.json").unwrap();
    for (reported, handle) in reported.iter().zip(&handles) {
        assert_eq!(reported["name"], handle.name.as_str());
        assert_eq!(reported["vertices"].as_u64(), Some(handle.vertices.len() as u64));
        assert_eq!(
            (&reported["center"], &reported["secondary"]),
            (&json!(handle.center.to_array()), &json!(handle.secondary))
        );
    }
    // The handle farthest out, alone.
    let tip = handles.iter().filter(|h| h.secondary.is_empty()).max_by_key(|h| h.vertices.len()).unwrap();
    let moves = json!({"moves": [{"rotate": {"main": tip.name, "axis": [1, 0, 0], "degrees": 25}}]});
    let moves = folder.write("moves.json", &moves.to_string());
    let report = ok(&["pose", &fox, "--handles", &file, "--moves", &moves, "-o", &out, "--json"]);
    assert_eq!(report["handles_from"], "file");
    let posed = character(&out);
    let rest = Character { handles: handles.clone(), ..rest };
    assert!(shifts(&rest, &posed, &tip.name)[1] > 0.01);
    for other in handles.iter().filter(|h| h.name != tip.name) {
        assert!(shifts(&rest, &posed, &other.name)[1] < 1e-5, "{}", other.name);
    }
    // The same without a file: found again, and reported.
    let again = ok(&["pose", &fox, "--moves", &moves, "-o", &out, "--json"]);
    assert!(again["warnings"].to_string().contains("found from its shape alone"), "{again}");
    assert_eq!(again["edge_rms"], report["edge_rms"]);
}

#[test]
fn handles_come_from_bones_where_there_are_any() {
    let folder = Folder::new("bones");
    let (glb, out) = (folder.at("biped.glb"), folder.at("out.glb"));
    ok(&["sample", "biped", "-n", "2000", "-o", &glb, "--json"]);
    let found = ok(&["handles", "auto", &glb, "--count", "4", "-o", &out, "--json"]);
    assert_eq!(found["source"], "skin");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("--count has no effect") && warnings.contains("are replaced"), "{warnings}");
    let written = character(&out);
    assert!(written.skin.is_some() && written.handles.iter().any(|h| h.name == "forearm.L"));
    let found = ok(&["handles", "auto", &glb, "--from-shape", "--count", "5", "-o", &out, "--json"]);
    assert_eq!((found["source"].as_str(), found["handles"].as_array().unwrap().len()), (Some("shape"), 5));
    assert_eq!(character(&out).handles.len(), 5);
    assert!(fails(&["handles", "auto", &glb, "-o", &folder.at("x.obj")], 1).contains(".json"));
    fails(&["handles", "auto", &glb, "--count", "0", "-o", &out], 2);
}

#[test]
fn a_model_without_surface_is_refused() {
    let folder = Folder::new("faceless");
    let points = folder.write("points.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    let flat = folder.write("flat.obj", "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n");
    let (moves, out) = (folder.write("moves.json", RAISED), folder.at("out.glb"));
    for (model, cause) in [(&points, "there are no faces"), (&flat, "no face has any area")] {
        for args in
            [&["pose", model, "--moves", &moves, "-o", &out][..], &["handles", "auto", model, "-o", &out]]
        {
            let said = fails(args, 1);
            assert!(said.contains(cause) && said.contains(".obj: "), "{args:?}: {said}");
        }
    }
}

/// Run with 2 GB at most; the object printed, if it succeeded. Anything but an answer or an error is a crash.
fn limited(args: &[&str]) -> Option<Value> {
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -v 2097152; exec "$@""#, "sh", SINEW])
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {said}");
    let value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {said}"));
    output.status.success().then_some(value)
}

/// One handle of every bad file that has a surface, moved a little: no crash, and nothing flies away.
#[test]
fn bad_files_are_posed_without_explosion() {
    let Some(data) = sinew_outside::data() else { return };
    let folder = Folder::new("bad-poses");
    let (file, out) = (folder.at("handles.json"), folder.at("out.ply"));
    let (mut n_posed, mut wrong) = (0, Vec::new());
    for path in bad_files(&data) {
        let model = path.to_string_lossy();
        if limited(&["handles", "auto", &model, "-o", &file, "--json"]).is_none() {
            continue;
        }
        let rest = character(&model);
        let handles = read_handles(&std::fs::read(&file).unwrap(), &rest.mesh, "handles.json").unwrap();
        let moves = folder.write("moves.json", &small_moves(&handles, rest.mesh.diagonal()));
        for method in ["guided", "arap", "lipman"] {
            let args = [
                "pose",
                &model,
                "--handles",
                &file,
                "--moves",
                &moves,
                "--method",
                method,
                "-o",
                &out,
                "--json",
            ];
            let Some(report) = limited(&args) else {
                wrong.push(format!("{model}, {method}: handles were found but could not be moved"));
                continue;
            };
            n_posed += 1;
            let ratio = character(&out).mesh.diagonal() / rest.mesh.diagonal();
            // The moves are a turn by 20° and a shift by a twentieth of the diagonal.
            if !(0.5..2.0).contains(&ratio) {
                wrong.push(format!("{model}, {method}: the diagonal grows {ratio} times: {report}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_posed > 150, "{n_posed}");
}

/// The last handle turned and shifted.
fn small_moves(handles: &[Handle], diagonal: f64) -> String {
    let name = &handles[handles.len() - 1].name;
    let moves = json!({"moves": [
        {"rotate": {"main": name, "handles": [name], "axis": [1, 2, 3], "degrees": 20}},
        {"translate": {"handles": [name], "vector": [0.03 * diagonal, 0.04 * diagonal, 0]}},
    ]});
    moves.to_string()
}

/// A body in centimetres whose up is +Z becomes one in metres whose up is +Y, and `info` says that it should.
#[test]
fn units_and_axes_are_doubted_and_changed() {
    let folder = Folder::new("placement");
    let (glb, lying, back) = (folder.at("biped.glb"), folder.at("lying.glb"), folder.at("back.glb"));
    ok(&["sample", "biped", "-n", "1500", "-o", &glb, "--json"]);
    // What points to −Z becomes up, so that the body lies with its head to +Z.
    ok(&["convert", &glb, &lying, "--up", "-z", "--scale", "100", "--json"]);
    let warnings = ok(&["info", &lying, "--json"])["warnings"].to_string();
    assert!(warnings.contains("centimetres") && warnings.contains("--up z"), "{warnings}");
    ok(&["convert", &lying, &back, "--up", "z", "--unit", "cm", "--json"]);
    let (before, after) = (character(&glb), character(&back));
    for time in [0.0, 0.4] {
        let shape = |of: &Character| of.positions_at(of.clips.first(), time).unwrap();
        let far = shape(&before).iter().zip(shape(&after)).map(|(p, q)| p.distance(q)).fold(0.0, f32::max);
        assert!(far < 1e-4, "{far} at {time}");
    }
    assert!(!ok(&["info", &back, "--json"])["warnings"].to_string().contains("metres"));
    let wrong: [(&[&str], &str); 3] = [
        (&["--up", "z", "--facing", "-z"], "one line"),
        (&["--up", "w"], "give x, y, z"),
        (&["--unit", "parsec"], "give mm, cm"),
    ];
    for (options, said) in wrong {
        let args = [&["convert", &glb, &back][..], options].concat();
        let output = Command::new(SINEW).args(&args).output().unwrap();
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains(said), "{options:?}");
    }
}
