//! Writing into the file that was opened: what did not change is kept, what changed comes back as it was meant.

mod added;
mod maker;
mod parts;

use crate::support::{data, diagonal, evaluate, files, tools, workspace};
use glam::{DVec3, Quat, Vec3};
use maker::{Maker, zoo};
use serde_json::{Value, json};
use sinew_formats::gltf::{GlbOptions, GltfFile, read_gltf_file, read_gltf_with_host, write_glb_hosted};
use sinew_formats::no_side_files;
use sinew_geom::rig::{Interpolation, JointTrack, Keys, MorphTrack};
use sinew_geom::{Character, Clip, Handle, Mesh, Morph, Warnings};

fn read(bytes: &[u8]) -> GltfFile {
    read_gltf_with_host(bytes, &no_side_files, "made.glb", &mut Warnings::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

fn write(file: &GltfFile, character: &Character) -> (Vec<u8>, Vec<String>) {
    let mut warnings = Warnings::default();
    let bytes = write_glb_hosted(file.host.as_deref(), character, &GlbOptions::default(), &mut warnings);
    (bytes.unwrap_or_else(|error| panic!("{error}")), warnings.messages)
}

fn json_of(glb: &[u8]) -> Value {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

/// The JSON without what a change of shape or motion may change.
fn rest_of(mut root: Value) -> Value {
    let object = root.as_object_mut().unwrap();
    for key in ["accessors", "bufferViews", "buffers", "animations", "skins"] {
        object.remove(key);
    }
    for mesh in root["meshes"].as_array_mut().into_iter().flatten() {
        for primitive in mesh["primitives"].as_array_mut().unwrap() {
            let attributes = primitive["attributes"].as_object_mut().unwrap();
            ["POSITION", "NORMAL", "TANGENT"].iter().for_each(|name| drop(attributes.remove(*name)));
        }
    }
    root
}

fn moved(character: &Character, motion: impl Fn(DVec3) -> DVec3) -> Character {
    let positions = character.mesh.positions().iter().map(|p| motion(*p)).collect();
    let mut surface = character.surface.clone();
    surface.normals = None;
    Character {
        mesh: Mesh::new(positions, character.mesh.faces().to_vec()).unwrap(),
        surface,
        ..character.clone()
    }
}

fn bent(p: DVec3) -> DVec3 {
    p + DVec3::new(0.1 * p.y * p.y, 0.05 * p.x, 0.02 * p.z + 0.03 * p.x)
}

fn close(a: &[DVec3], b: &[DVec3], tolerance: f64) {
    let size = diagonal(a).max(1e-9);
    assert_eq!(a.len(), b.len());
    for (at, (p, q)) in a.iter().zip(b).enumerate() {
        assert!(p.distance(*q) <= tolerance * size, "vertex {at}: {p} became {q}, size {size}");
    }
}

fn frames(character: &mut Character, name: &str, n: usize, offset: impl Fn(usize, usize) -> Vec3) {
    let first = character.morphs.len();
    let n_vertices = character.mesh.n_vertices();
    for at in 0..n {
        let offsets = (0..n_vertices).map(|v| offset(at, v)).collect();
        character.morphs.push(Morph { name: format!("{name}/{at}"), offsets, default_weight: 0.0 });
    }
    let mut weights = vec![0.0; n * n];
    (0..n).for_each(|at| weights[at * n + at] = 1.0);
    let times = (0..n).map(|at| at as f32 / 10.0).collect();
    let keys = Keys::new(times, weights, Interpolation::Linear, n).unwrap();
    let morphs = vec![MorphTrack { morphs: first..first + n, keys }];
    character.clips.push(Clip { name: name.to_owned(), joints: Vec::new(), morphs });
}

fn turning(joint: usize) -> Clip {
    let rotation =
        Keys::new(vec![0.0, 1.0], vec![Quat::IDENTITY, Quat::from_rotation_x(1.0)], Interpolation::Linear, 1);
    let translation = Keys::new(vec![0.5], vec![Vec3::new(0.1, 0.2, 0.3)], Interpolation::Linear, 1);
    let joints = vec![JointTrack {
        joint,
        rotation: Some(rotation.unwrap()),
        translation: Some(translation.unwrap()),
        scale: None,
    }];
    Clip { name: "turning".into(), joints, morphs: Vec::new() }
}

#[test]
fn nothing_changed_nothing_written() {
    let (file, bytes) = zoo().read();
    let (again, warnings) = write(&file, &file.character);
    assert!(again == bytes && warnings.is_empty(), "{warnings:?}");
}

#[test]
fn a_changed_shape_changes_only_the_shape() {
    let (file, bytes) = zoo().read();
    let now = moved(&file.character, bent);
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(rest_of(json_of(&again)), rest_of(json_of(&bytes)));
    assert_eq!(json_of(&again)["animations"], json_of(&bytes)["animations"]);
    assert_eq!(json_of(&again)["skins"], json_of(&bytes)["skins"]);
    let back = read(&again).character;
    close(&evaluate(&now, None, 0.0), &evaluate(&back, None, 0.0), 1e-6);
    let clip = |c: &Character| evaluate(c, Some(&c.clips[0]), 0.7);
    close(&clip(&now), &clip(&back), 1e-6);
    // Normals follow: those of the mirrored hat are turned back through its node.
    for (v, normal) in back.surface.normals.unwrap().iter().enumerate() {
        let own = now.mesh.faces().iter().find(|face| face.contains(&(v as u32))).unwrap();
        let [a, b, c] = own.map(|v| now.mesh.positions()[v as usize]);
        let flat = (b - a).cross(c - a).normalize();
        assert!(normal.as_dvec3().dot(flat) > 0.9, "{v}: {normal} {flat}");
    }
    // Written once more without a change, it stays as it is.
    let file = read(&again);
    assert!(write(&file, &file.character).0 == again);
}

#[test]
fn one_moved_part_leaves_the_others_alone() {
    let (file, bytes) = zoo().read();
    let mut now = file.character.clone();
    let mut positions = now.mesh.positions().to_vec();
    positions[9].z += 0.5;
    now.mesh = Mesh::new(positions, now.mesh.faces().to_vec()).unwrap();
    let (again, _) = write(&file, &now);
    let (old, new) = (json_of(&bytes), json_of(&again));
    assert_eq!(old["meshes"][0], new["meshes"][0]);
    assert_eq!(old["meshes"][1], new["meshes"][1]);
    assert_ne!(old["meshes"][2], new["meshes"][2]);
    close(&evaluate(&now, None, 0.0), &evaluate(&read(&again).character, None, 0.0), 1e-6);
}

#[test]
fn clips_are_added_changed_renamed_and_removed() {
    let (file, bytes) = zoo().read();
    let tip = file.character.rig.as_ref().unwrap().find("tip").unwrap();
    let mut now = file.character.clone();
    now.clips.push(turning(tip));
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    let root = json_of(&again);
    assert_eq!(root["animations"][0], json_of(&bytes)["animations"][0]);
    assert_eq!(root["animations"][1]["name"], "turning");
    assert_eq!(root["animations"][1]["channels"][0]["target"]["node"], 0, "the source's own node");
    let back = read(&again).character;
    let at = |c: &Character, k: usize| evaluate(c, Some(&c.clips[k]), 0.6);
    close(&at(&now, 1), &at(&back, 1), 1e-6);
    // Renamed.
    now.clips[0].name = "hello".into();
    let root = json_of(&write(&file, &now).0);
    assert_eq!(
        (&root["animations"][0]["name"], &root["animations"][0]["extras"]),
        (&json!("hello"), &json!({"loop": true}))
    );
    // Changed: the other curves stay.
    now.clips[0].name = "wave".into();
    now.clips[0].joints.iter_mut().find(|t| t.joint == tip).unwrap().translation =
        turning(tip).joints[0].translation.clone();
    let (again, _) = write(&file, &now);
    let root = json_of(&again);
    let (old, new) = (&json_of(&bytes)["animations"][0], &root["animations"][0]);
    assert_eq!(new["channels"].as_array().unwrap().len(), 3);
    assert_eq!(old["samplers"][0], new["samplers"][0]);
    let back = read(&again).character;
    close(&at(&now, 0), &at(&back, 0), 1e-6);
    // Removed.
    now.clips.remove(0);
    assert_eq!(json_of(&write(&file, &now).0)["animations"].as_array().unwrap().len(), 1);
}

#[test]
fn vertices_over_time_become_targets_of_every_mesh_that_they_move() {
    let (file, _) = zoo().read();
    let mut now = file.character.clone();
    // The hat (vertices 8..12) is moved by the second frame alone.
    frames(&mut now, "bake", 3, |at, v| match (at, v) {
        (1, _) => Vec3::new(0.1, 0.2, v as f32 * 0.1),
        (2, v) if v < 8 => Vec3::Y,
        _ => Vec3::ZERO,
    });
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    let root = json_of(&again);
    let names = |mesh: usize| root["meshes"][mesh]["extras"]["targetNames"].clone();
    assert_eq!(names(1), json!(["wind", "bake/1", "bake/2"]));
    assert_eq!(names(2), json!(["bake/1"]));
    let keys =
        |target: usize| root["meshes"][1]["primitives"][0]["targets"][target].as_object().unwrap().len();
    assert_eq!((keys(0), keys(1)), (2, 2), "all targets of a primitive have the same attributes");
    // The old clip has weights for the new targets.
    let output = root["animations"][0]["samplers"].as_array().unwrap();
    let sampler = root["animations"][0]["channels"][2]["sampler"].as_u64().unwrap() as usize;
    assert_eq!(root["accessors"][output[sampler]["output"].as_u64().unwrap() as usize]["count"], 6);
    let back = read(&again).character;
    assert_eq!(back.morphs.len(), now.morphs.len(), "meshes share the morphs of the whole character");
    assert_eq!(back.clips[1].morphs[0].morphs, now.clips[1].morphs[0].morphs);
    assert_eq!(back.clips[0], now.clips[0]);
    for time in [0.0, 0.05, 0.1, 0.17, 0.2] {
        let at = |c: &Character, k: usize| evaluate(c, Some(&c.clips[k]), time);
        close(&at(&now, 1), &at(&back, 1), 1e-6);
        close(&at(&now, 0), &at(&back, 0), 1e-6);
    }
    // And without them again, the file does not remember.
    let file = read(&again);
    let (third, _) = write(
        &file,
        &Character {
            morphs: now.morphs[..1].to_vec(),
            clips: now.clips[..1].to_vec(),
            ..file.character.clone()
        },
    );
    let back = read(&third).character;
    assert_eq!((back.morphs.len(), &back.clips), (1, &now.clips[..1].to_vec()));
}

#[test]
fn a_character_of_another_size_keeps_its_bindings() {
    let (file, bytes) = zoo().read();
    let now = file.character.scaled(2.5).unwrap();
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    let (old, new) = (json_of(&bytes), json_of(&again));
    assert_eq!(old["skins"].as_array().unwrap().len(), new["skins"].as_array().unwrap().len());
    let back = read(&again).character;
    close(&evaluate(&now, None, 0.0), &evaluate(&back, None, 0.0), 1e-6);
    let clip = |c: &Character| evaluate(c, Some(&c.clips[0]), 0.7);
    close(&clip(&now), &clip(&back), 1e-6);
}

#[test]
fn another_skin_on_other_bones_is_written_for_every_mesh() {
    let (file, bytes) = zoo().read();
    let mut now = file.character.clone();
    let tube = crate::support::tube(3, 2);
    let n = now.mesh.n_vertices();
    let (rig, skin) = (tube.rig.unwrap(), tube.skin.unwrap());
    let take = |v: usize| v % skin.n_vertices();
    let rows = || (0..n).flat_map(|v| skin.vertex(take(v)));
    let (indices, weights) = (rows().map(|e| e.0).collect(), rows().map(|e| e.1).collect());
    let made = sinew_geom::Skin::new(skin.slots.clone(), 2, indices, weights, &mut Warnings::default());
    (now.rig, now.skin) = (Some(rig), Some(made.unwrap()));
    now.clips = tube.clips;
    let (again, _) = write(&file, &now);
    let root = json_of(&again);
    let names = |root: &Value| {
        root["meshes"].as_array().unwrap().iter().map(|m| m["name"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&root), names(&json_of(&bytes)));
    let back = read(&again).character;
    let bend = back.clips.iter().find(|clip| clip.name == "bend").unwrap();
    close(&evaluate(&now, Some(&now.clips[0]), 0.6), &evaluate(&back, Some(bend), 0.6), 1e-5);
}

#[test]
fn one_mesh_under_several_nodes_is_copied_where_they_differ() {
    let mut maker = Maker::new();
    let mesh = maker.quad("leaf");
    for x in 0..3 {
        maker.node(
            json!({"name": format!("leaf {x}"), "mesh": mesh, "translation": [2.0 * f64::from(x), 0.0, 0.0]}),
        );
    }
    let (file, _) = maker.read();
    let mut positions = file.character.mesh.positions().to_vec();
    positions[5].z += 1.0;
    let mut now = file.character.clone();
    now.mesh = Mesh::new(positions, now.mesh.faces().to_vec()).unwrap();
    let (again, warnings) = write(&file, &now);
    assert!(warnings.len() == 1 && warnings[0].contains("leaf"), "{warnings:?}");
    let root = json_of(&again);
    let meshes: Vec<u64> = (0..3).map(|node| root["nodes"][node]["mesh"].as_u64().unwrap()).collect();
    assert_eq!(meshes, [0, 1, 0]);
    assert_eq!(root["meshes"][1]["name"], "leaf");
    close(&evaluate(&now, None, 0.0), &evaluate(&read(&again).character, None, 0.0), 1e-6);
}

#[test]
fn two_hundred_parts_stay_two_hundred() {
    let mut maker = Maker::new();
    for k in 0..200 {
        let mesh = maker.quad(&format!("part {k}"));
        maker.node(json!({"name": format!("Part {k}"), "mesh": mesh, "rotation": [0.0, 0.6, 0.0, 0.8]}));
    }
    let (file, bytes) = maker.read();
    let mut now = moved(&file.character, bent);
    frames(&mut now, "bake", 12, |at, v| Vec3::X * (at * (v % 7)) as f32);
    let (again, _) = write(&file, &now);
    let (old, new) = (json_of(&bytes), json_of(&again));
    assert_eq!(old["nodes"], new["nodes"]);
    assert_eq!(old["meshes"].as_array().unwrap().len(), new["meshes"].as_array().unwrap().len());
    let back = read(&again).character;
    assert_eq!(back.morphs.len(), 12);
    close(&evaluate(&now, None, 0.0), &evaluate(&back, None, 0.0), 1e-6);
    let at = |c: &Character| evaluate(c, Some(&c.clips[0]), 0.73);
    close(&at(&now), &at(&back), 1e-5);
}

#[test]
fn handles_stay_and_writing_again_and_again_does_not_grow() {
    let (mut file, _) = zoo().read();
    let options = GlbOptions {
        extensions: [("SINEW_character".to_owned(), json!({"pose": {"bufferView": 0}}))]
            .into_iter()
            .collect(),
        views: vec![vec![7; 40]],
        ..GlbOptions::default()
    };
    let mut sizes = Vec::new();
    for round in 0..4 {
        let mut now = moved(&file.character, bent);
        let center = DVec3::splat(f64::from(round));
        now.handles = vec![Handle {
            name: "h".into(),
            vertices: vec![1, 5],
            weights: vec![1.0, 0.5],
            center,
            secondary: Vec::new(),
        }];
        let bytes = write_glb_hosted(file.host.as_deref(), &now, &options, &mut Warnings::default()).unwrap();
        let root = json_of(&bytes);
        let view = root["extensions"]["SINEW_character"]["pose"]["bufferView"].as_u64().unwrap() as usize;
        assert_eq!(root["bufferViews"][view]["byteLength"], 40);
        assert_eq!(root["extensions"]["X_all"], json!({"nodes": [1, 0], "accessor": 3}));
        file = read(&bytes);
        assert_eq!(file.character.handles, now.handles);
        close(&evaluate(&now, None, 0.0), &evaluate(&file.character, None, 0.0), 1e-6);
        sizes.push(bytes.len());
    }
    assert!(sizes.windows(2).skip(1).all(|pair| pair[1].abs_diff(pair[0]) < 200), "{sizes:?}");
}

#[test]
fn other_faces_are_refused_and_written_on_their_own() {
    let (file, _) = zoo().read();
    let mut now = file.character.clone();
    let faces = now.mesh.faces()[..4].to_vec();
    now.mesh = Mesh::new(now.mesh.positions().to_vec(), faces.clone()).unwrap();
    now.surface.uvs.as_mut().unwrap().corners = faces;
    let (again, warnings) = write(&file, &now);
    assert_eq!(read(&again).character.mesh.n_faces(), 4);
    assert!(
        warnings[0].contains("faces changed") && warnings.iter().any(|w| w.contains("not kept")),
        "{warnings:?}"
    );
}

#[test]
fn side_files_come_along_and_what_is_missing_is_named() {
    let png = [&[0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n'][..], &[0; 16]].concat();
    let mut maker = Maker::new();
    let mesh = maker.quad("a");
    maker.node(json!({"mesh": mesh}));
    maker.root["images"] = json!([
        {"uri": "normal%20map.png", "name": "n"}, {"uri": "gone.png"}, {"uri": "../../etc/passwd"}, {"uri": "/etc/passwd"},
    ]);
    maker.root["buffers"] =
        json!([{"uri": "a.bin", "byteLength": maker.bin.len()}, {"uri": "a.bin", "byteLength": 4}]);
    let text = maker.root.to_string();
    let (bin, read_names) = (maker.bin.clone(), std::cell::RefCell::new(Vec::new()));
    let side = |name: &str| {
        read_names.borrow_mut().push(name.to_owned());
        match name {
            "a.bin" => Ok(bin.clone()),
            "normal map.png" => Ok(png.clone()),
            _ => Err(std::io::Error::other("not there")),
        }
    };
    let mut warnings = Warnings::default();
    let file = read_gltf_with_host(text.as_bytes(), &side, "a.gltf", &mut warnings).unwrap();
    assert_eq!(warnings.messages.len(), 3, "{:?}", warnings.messages);
    assert!(read_names.borrow().iter().all(|name| !name.contains("etc")));
    let (again, _) = write(&file, &file.character);
    let root = json_of(&again);
    assert_eq!(root["buffers"].as_array().unwrap().len(), 1);
    let view = root["images"][0]["bufferView"].as_u64().unwrap() as usize;
    assert_eq!(
        (&root["images"][0]["name"], &root["images"][0]["mimeType"]),
        (&json!("n"), &json!("image/png"))
    );
    assert_eq!(root["bufferViews"][view]["byteLength"], png.len());
    assert_eq!(root["images"][1], json!({"uri": "gone.png"}));
    assert_eq!(root["images"][2], json!({"uri": "../../etc/passwd"}));
    assert_eq!(read(&again).character.mesh, file.character.mesh);
}

/// All files at hand: unchanged ones are the same, changed ones keep everything else.
#[test]
fn files_at_hand_keep_what_did_not_change() {
    let Some(data) = data() else { return };
    let folder = std::env::temp_dir().join(format!("sinew-host-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut written = Vec::new();
    for path in files(&data, &["glb", "gltf", "vrm", "vrma"]) {
        let mut warnings = Warnings::default();
        let Ok(file) = read_gltf_file(&path, &mut warnings) else { continue };
        if file.host.is_none() || !(1..60_000).contains(&file.character.mesh.n_vertices()) {
            continue;
        }
        let shown = path.display();
        let (same, _) = write(&file, &file.character);
        let bytes = std::fs::read(&path).unwrap();
        if bytes.starts_with(b"glTF") {
            assert!(
                json_of(&same)["buffers"].as_array().is_none_or(|b| b.len() > 1) || same == bytes,
                "{shown}"
            );
        }
        let before = evaluate(&file.character, None, 0.0);
        let size = diagonal(&before).max(1e-9);
        let mut now =
            moved(&file.character, |p| p + DVec3::new(0.0, 0.1 * p.x, 0.0) + DVec3::splat(0.01 * size));
        frames(&mut now, "bake", 3, |at, v| Vec3::splat(at as f32 * size as f32 * 0.01 * (v % 5) as f32));
        let clip = now.rig.as_ref().map(|rig| turning(rig.n_joints() - 1));
        now.clips.extend(clip);
        let (again, warnings) = write(&file, &now);
        let out = folder.join(format!("{}.glb", written.len()));
        std::fs::write(&out, &again).unwrap();
        written.push(format!("{}={}", out.display(), path.display()));
        let root = json_of(&again);
        for key in ["nodes", "materials", "textures", "samplers", "cameras", "scenes", "asset"] {
            let of =
                |root: &Value| root[key].as_array().map(|list| list.iter().map(plain).collect::<Vec<_>>());
            assert_eq!(of(&root), of(&json_of(&same)), "{shown} {key} {warnings:?}");
        }
        let back = read(&again).character;
        close(&evaluate(&now, None, 0.0), &evaluate(&back, None, 0.0), 1e-4);
        for clip in now.clips.iter().rev().take(3) {
            let Some(other) = back.clips.iter().rfind(|other| other.name == clip.name) else {
                panic!("{shown}: clip {:?} is lost: {warnings:?}", clip.name)
            };
            let time = 0.4 * clip.duration_secs();
            close(&evaluate(&now, Some(clip), time), &evaluate(&back, Some(other), time), 1e-4);
        }
    }
    if let Some(tools) = tools() {
        let script = workspace().join("tests/judges/validate.mjs");
        let mut node = std::process::Command::new("node");
        let judged = node.arg(script).args(&written).env("SINEW_TOOLS", tools).output().unwrap();
        assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A node without what may change: the mesh it shows may have been copied, its matrix taken apart.
fn plain(value: &Value) -> Value {
    let mut value = value.clone();
    if let Some(object) = value.as_object_mut() {
        ["mesh", "matrix", "translation", "rotation", "scale", "weights"]
            .iter()
            .for_each(|key| drop(object.remove(*key)));
    }
    value
}
