//! `sinew muscle`.

use super::{Folder, character, fails, ok, sample};
use sinew::{
    formats::obj,
    geom::{Character, Mesh},
};
use std::path::Path;

/// A vertex in front of the belly.
fn belly(mesh: &Mesh) -> usize {
    let [low, high] = mesh.bounds();
    let place = [0.5 * (low.x + high.x), low.y + 0.6 * (high.y - low.y), high.z];
    let distance = |v: &usize| mesh.positions()[*v].distance_squared(place.into());
    (0..mesh.n_vertices()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap()
}

fn write_mesh(path: &str, mesh: &Mesh, to: impl Fn([f64; 3]) -> [f64; 3]) {
    let places = mesh.positions().iter().map(|p| to(p.to_array()).into()).collect();
    let mesh = Mesh::new(places, mesh.faces().to_vec()).unwrap();
    obj::write_obj_file(Path::new(path), &Character { mesh, ..Character::default() }).unwrap();
}

/// A template is added, dragged, listed and driven over a clip; the skin comes out with its curve.
#[test]
fn a_template_from_hand_to_clip() {
    let folder = Folder::new("muscle-template");
    let (biped, muscles, out) =
        (sample(&folder, "biped"), folder.at("biped.muscles.json"), folder.at("soft.glb"));
    let vertex = belly(&character(&biped).mesh);
    let v = vertex.to_string();
    let added = ok(&[
        "muscle",
        "add",
        &biped,
        "breath",
        "--template",
        "bump",
        "--vertex",
        &v,
        "--radius",
        "0.2",
        "--out",
        "0.02",
        "--cells",
        "400",
        "-o",
        &muscles,
        "--json",
    ]);
    assert_eq!((&added["kind"], &added["guide"]), (&"bump".into(), &"skin".into()));
    assert!((added["moves_vertex_by"].as_f64().unwrap() - 0.02).abs() < 4e-3, "{added}");
    let drag = format!("{vertex}+0,0,0.03");
    let fitted = ok(&[
        "muscle",
        "fit",
        &biped,
        "--muscles",
        &muscles,
        "--muscle",
        "breath",
        "--drag",
        &drag,
        "--cells",
        "400",
        "--json",
    ]);
    assert!(fitted["distance"].as_f64().unwrap() < 0.015, "{fitted}");
    let listed = ok(&["muscle", "list", &muscles, "--json"]);
    assert_eq!(listed["muscles"][0]["samples"], serde_json::json!([0.0, 1.0]));
    ok(&[
        "muscle",
        "drive",
        &biped,
        "--muscles",
        &muscles,
        "--clip",
        "walk",
        "--seconds",
        "0.6",
        "--curve",
        "breath=0:0,0.3:1,0.6:1",
        "--cells",
        "400",
        "-o",
        &out,
        "--json",
    ]);
    let plain = folder.at("plain.glb");
    ok(&["flesh", &biped, "--clip", "walk", "--seconds", "0.6", "--cells", "400", "-o", &plain, "--json"]);
    let (a, b) = (character(&out), character(&plain));
    let apart = |time: f32| {
        let at = |c: &Character| c.positions_at(c.clips.first(), time).unwrap()[vertex];
        at(&a).distance(at(&b))
    };
    assert!(apart(0.6) > apart(0.0) + 0.005, "{} {}", apart(0.0), apart(0.6));
}

/// A surface muscle of a swollen body, given to a wider one without a skeleton.
#[test]
fn a_surface_muscle_is_made_and_transferred() {
    let folder = Folder::new("muscle-surface");
    let (biped, muscles) = (sample(&folder, "biped"), folder.at("muscles.json"));
    let mesh = character(&biped).mesh;
    let target = folder.at("target.obj");
    write_mesh(&target, &mesh, |[x, y, z]| {
        let r = ((x / 0.25).powi(2) + ((y - 1.1) / 0.25).powi(2)).min(50.0);
        [x * (1.0 + 0.3 * (-r).exp()), y, z * (1.0 + 0.3 * (-r).exp())]
    });
    let added = ok(&[
        "muscle",
        "add",
        &biped,
        "swell",
        "--target",
        &target,
        "--no-pose",
        "--cells",
        "500",
        "--gravity",
        "0",
        "-o",
        &muscles,
        "--json",
    ]);
    assert!(added["reduced_percent"].as_f64().unwrap() > 70.0, "{added}");
    let wide = folder.at("wide.obj");
    write_mesh(&wide, &mesh, |[x, y, z]| [1.2 * x + 1.0, 0.9 * y, 1.1 * z]);
    let features = folder.at("pairs.yml");
    let lines: String =
        (0..mesh.n_vertices()).step_by(50).map(|v| format!("  - \"{v}:{v}\"  # point\n")).collect();
    std::fs::write(&features, lines).unwrap();
    let (carried, fleshed) = (folder.at("wide.muscles.json"), folder.at("wide.glb"));
    let report = ok(&[
        "muscle",
        "transfer",
        &biped,
        "--muscles",
        &muscles,
        "--to",
        &wide,
        "--features",
        &features,
        "--character",
        &fleshed,
        "--cells",
        "500",
        "--gravity",
        "0",
        "-o",
        &carried,
        "--json",
    ]);
    assert!(report["map_surface_percent"].as_f64().unwrap() < 1.0, "{report}");
    assert!(
        report["map_least_volume"].as_f64().unwrap() > 0.0 && report["least_volume"].as_f64().unwrap() > 0.0
    );
    let out = folder.at("still.glb");
    ok(&[
        "muscle",
        "drive",
        &fleshed,
        "--muscles",
        &carried,
        "--set",
        "swell=1",
        "--gravity",
        "0",
        "--seconds",
        "0",
        "-o",
        &out,
        "--json",
    ]);
    let (still, rest) = (character(&out), character(&fleshed));
    let at = still.positions_at(still.clips.first(), 0.0).unwrap();
    let moved =
        at.iter().zip(rest.mesh.positions()).map(|(a, b)| a.as_dvec3().distance(*b)).fold(0.0, f64::max);
    assert!(moved > 0.01, "{moved}");
}

/// Every bad input says what is wrong, and of which file.
#[test]
fn bad_rigs_are_refused() {
    let folder = Folder::new("muscle-bad");
    let (biped, muscles) = (sample(&folder, "biped"), folder.at("muscles.json"));
    let mesh = character(&biped).mesh;
    let add = |extra: &[&str]| {
        let mut args = vec!["muscle", "add", biped.as_str(), "r", "-o", muscles.as_str(), "--cells", "200"];
        args.extend(extra);
        fails(&args, 1)
    };
    assert!(add(&["--template", "bump"]).contains("--vertex V, --bone JOINT or --place"));
    assert!(add(&["--template", "bump", "--vertex", "999999"]).contains("there are"));
    assert!(add(&["--template", "bump", "--bone", "nobody"]).contains("no bone of that joint"));
    assert!(
        add(&["--template", "bump", "--place", "9,9,9", "--amplitude", "1"])
            .contains("where there is no flesh")
    );
    assert!(add(&["--template", "bump", "--place", "9,9"]).contains("three numbers"));
    let write = |name: &str, to: &dyn Fn([f64; 3]) -> [f64; 3]| {
        let path = folder.at(name);
        write_mesh(&path, &mesh, to);
        path
    };
    let large = write("large.obj", &|p| p.map(|x| 100.0 * x));
    let error = add(&["--target", &large, "--no-pose", "--closest"]);
    assert!(error.contains("large.obj") && error.contains("times as large"), "{error}");
    let far = write("far.obj", &|[x, y, z]| [x + 40.0, y, z]);
    assert!(add(&["--target", &far, "--no-pose", "--closest"]).contains("do not overlap"));
    let small = folder.at("small.obj");
    std::fs::write(&small, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    assert!(add(&["--target", &small]).contains("do not correspond"));
    let features = folder.at("few.json");
    std::fs::write(&features, "{\"features\":[[1,1],[2,2]]}").unwrap();
    let same = write("same.obj", &|p| p);
    let error = add(&["--target", &same, "--features", &features]);
    assert!(error.contains("few.json") && error.contains("2 features do not fix the pose"), "{error}");
    let broken = folder.at("broken.json");
    std::fs::write(&broken, "{\"controls\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"rigs\":[]}").unwrap();
    assert!(fails(&["muscle", "list", &broken], 1).contains("\"a\" exists twice"));
    std::fs::write(&broken, "{").unwrap();
    assert!(fails(&["muscle", "list", &broken], 1).contains("broken.json:1"));
    let out = folder.at("o.glb");
    assert!(fails(&["muscle", "drive", &biped, "-o", &out], 1).contains("--muscles FILE"));
    assert!(!Path::new(&muscles).exists() && !Path::new(&out).exists());
    // Another skeleton: the bones that have no partner are named.
    let fox = folder.at("fox.glb");
    ok(&["sample", "quadruped", "-n", "1500", "-o", &fox, "--json"]);
    let v = belly(&mesh).to_string();
    ok(&[
        "muscle",
        "add",
        &biped,
        "r",
        "--template",
        "bump",
        "--vertex",
        &v,
        "--cells",
        "200",
        "-o",
        &muscles,
        "--json",
    ]);
    let error = fails(
        &["muscle", "transfer", &biped, "--muscles", &muscles, "--to", &fox, "--cells", "200", "-o", &out],
        1,
    );
    assert!(error.contains("the skeletons do not match") && error.contains("no partner"), "{error}");
    let set = fails(&["muscle", "drive", &biped, "--muscles", &muscles, "--set", "smile=1", "-o", &out], 1);
    assert!(set.contains("there is no control parameter \"smile\"; there are: r"), "{set}");
}

/// What older versions called `sinew rig` names its successor, and old files are read.
#[test]
fn rig_commands_of_older_versions_name_the_new_ones() {
    for verb in ["add", "fit", "drive", "transfer", "list"] {
        let said = fails(&["rig", verb, "biped.glb"], 2);
        assert!(said.contains(&format!("`sinew muscle {verb}`")), "{said}");
    }
    let folder = Folder::new("muscle-old");
    let old = folder.at("old.rigs.json");
    std::fs::write(&old, "{\"controls\":[{\"name\":\"a\"}],\"rigs\":[]}").unwrap();
    assert_eq!(ok(&["muscle", "list", &old, "--json"])["controls"][0]["name"], "a");
}
