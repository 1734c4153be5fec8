//! What the format allows and the real files at hand do not use, checked against numbers worked out by hand.

use crate::support::evaluate;
use glam::{DVec3, Quat, Vec3};
use serde_json::{Value, json};
use sinew_formats::gltf::{GlbOptions, GltfFile, morph_sequence, portable_extensions, read_gltf, write_glb};
use sinew_formats::no_side_files;
use sinew_geom::rig::Interpolation;
use sinew_geom::{AlphaMode, Warnings};
use std::cell::RefCell;

/// A text file under construction, its one buffer a side file.
struct Maker {
    root: Value,
    bin: RefCell<Vec<u8>>,
}

impl Maker {
    fn new() -> Self {
        let root = json!({
            "asset": {"version": "2.0"}, "accessors": [], "bufferViews": [], "meshes": [], "nodes": [],
            "buffers": [{"uri": "my%20data.bin", "byteLength": 0}]
        });
        Self { root, bin: RefCell::new(Vec::new()) }
    }

    fn view(&mut self, bytes: &[u8]) -> usize {
        let mut bin = self.bin.borrow_mut();
        let offset = bin.len();
        bin.extend(bytes);
        push(
            &mut self.root,
            "bufferViews",
            json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}),
        )
    }

    fn accessor(&mut self, bytes: &[u8], component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes);
        let accessor = json!({"bufferView": view, "componentType": component, "type": kind, "count": count});
        push(&mut self.root, "accessors", accessor)
    }

    fn floats(&mut self, values: &[f32], kind: &str, count: usize) -> usize {
        self.accessor(&le(values), 5126, kind, count)
    }

    fn node(&mut self, node: Value) -> usize {
        push(&mut self.root, "nodes", node)
    }

    fn mesh(&mut self, primitive: Value) -> usize {
        push(&mut self.root, "meshes", json!({"primitives": [primitive]}))
    }

    /// The unit triangle in the plane z = 0.
    fn triangle(&mut self) -> usize {
        let positions = self.floats(&TRIANGLE, "VEC3", 3);
        self.mesh(json!({"attributes": {"POSITION": positions}}))
    }

    fn read(&self) -> (GltfFile, Vec<String>) {
        let mut warnings = Warnings::default();
        let side = |name: &str| {
            assert_eq!(name, "my data.bin");
            Ok(self.bin.borrow().clone())
        };
        let file = read_gltf(self.root.to_string().as_bytes(), &side, "made.gltf", &mut warnings);
        (file.unwrap_or_else(|error| panic!("{error}")), warnings.messages)
    }
}

const TRIANGLE: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

fn push(root: &mut Value, key: &str, item: Value) -> usize {
    let list = root[key].as_array_mut().unwrap();
    list.push(item);
    list.len() - 1
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|x| x.to_le_bytes()).collect()
}

fn positions(file: &GltfFile) -> Vec<Vec3> {
    file.character.mesh.positions().iter().map(|p| p.as_vec3()).collect()
}

#[test]
fn sparse_accessors_with_and_without_a_base() {
    let mut maker = Maker::new();
    let indices = maker.view(&[2, 0]);
    let values = maker.view(&le(&[5.0, 6.0, 7.0]));
    let sparse = json!({
        "count": 1,
        "indices": {"bufferView": indices, "componentType": 5123},
        "values": {"bufferView": values}
    });
    let based = maker.floats(&TRIANGLE, "VEC3", 3);
    maker.root["accessors"][based]["sparse"] = sparse.clone();
    let bare = json!({"componentType": 5126, "type": "VEC3", "count": 3, "sparse": sparse});
    let bare = push(&mut maker.root, "accessors", bare);
    let mesh = maker.mesh(json!({"attributes": {"POSITION": based}, "targets": [{"POSITION": bare}]}));
    maker.node(json!({"mesh": mesh, "weights": [0.5]}));
    let (file, warnings) = maker.read();
    assert_eq!(warnings, [""; 0]);
    assert_eq!(positions(&file), [Vec3::ZERO, Vec3::X, Vec3::new(5.0, 6.0, 7.0)]);
    assert_eq!(file.character.morphs[0].offsets, [Vec3::ZERO, Vec3::ZERO, Vec3::new(5.0, 6.0, 7.0)]);
    assert_eq!(file.character.morphs[0].default_weight, 0.5);
    assert_eq!(file.character.morphs[0].name, "target 0");
}

#[test]
fn integers_strides_and_quantisation() {
    let mut maker = Maker::new();
    maker.root["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
    // Positions of three i16 and colours of three u8, interleaved with a stride of 12.
    let mut bytes = Vec::new();
    for (position, color) in
        [([0i16, 0, 0], [255u8, 0, 51]), ([32767, 0, 0], [0; 3]), ([0, -32768, 0], [0; 3])]
    {
        bytes.extend(position.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0, 0]);
        bytes.extend(color);
        bytes.push(0);
    }
    // The last element needs no padding.
    bytes.pop();
    let view = maker.view(&bytes);
    maker.root["bufferViews"][view]["byteStride"] = json!(12);
    let p =
        json!({"bufferView": view, "componentType": 5122, "normalized": true, "type": "VEC3", "count": 3});
    let p = push(&mut maker.root, "accessors", p);
    let c = json!({
        "bufferView": view, "byteOffset": 8, "componentType": 5121, "normalized": true, "type": "VEC3", "count": 3
    });
    let c = push(&mut maker.root, "accessors", c);
    let uv: Vec<u8> = [0u16, 65535, 13107, 0, 0, 0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let uv = maker.accessor(&uv, 5123, "VEC2", 3);
    maker.root["accessors"][uv]["normalized"] = json!(true);
    // Whole numbers as offsets.
    let t = maker.accessor(&[0, 0, 0, 0xFD, 5, 127, 0, 0, 0], 5120, "VEC3", 3);
    let attributes = json!({"POSITION": p, "COLOR_0": c, "TEXCOORD_0": uv});
    let mesh = maker.mesh(json!({"attributes": attributes, "targets": [{"POSITION": t}]}));
    maker.node(json!({"mesh": mesh}));
    let (file, warnings) = maker.read();
    assert_eq!(warnings, [""; 0]);
    assert_eq!(positions(&file), [Vec3::ZERO, Vec3::X, -Vec3::Y]);
    let surface = &file.character.surface;
    assert_eq!(surface.colors.as_ref().unwrap()[0], [1.0, 0.0, 0.2, 1.0]);
    assert_eq!(surface.uvs.as_ref().unwrap().coords, [[0.0, 1.0], [0.2, 0.0], [0.0, 0.0]]);
    assert_eq!(file.character.morphs[0].offsets[1], Vec3::new(-3.0, 5.0, 127.0));
}

#[test]
fn strips_fans_and_lists() {
    type Case<'a> = (u32, &'a [u8], &'a [[u32; 3]]);
    let table: [Case; 4] = [
        (4, &[0, 1, 2, 2, 1, 3], &[[0, 1, 2], [2, 1, 3]]),
        // A list may end with a part of a triangle, which is ignored.
        (4, &[0, 1, 2, 3], &[[0, 1, 2]]),
        // Every second triangle is turned, and repeated corners only stitch.
        (5, &[0, 1, 2, 3, 3, 1], &[[0, 1, 2], [1, 3, 2]]),
        (6, &[0, 1, 2, 3], &[[0, 1, 2], [0, 2, 3]]),
    ];
    for (mode, corners, faces) in table {
        let mut maker = Maker::new();
        let square = maker.floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0], "VEC3", 4);
        let indices = maker.accessor(corners, 5121, "SCALAR", corners.len());
        let mesh = maker.mesh(json!({"attributes": {"POSITION": square}, "indices": indices, "mode": mode}));
        maker.node(json!({"mesh": mesh}));
        assert_eq!(maker.read().0.character.mesh.faces(), faces, "mode {mode}");
    }
}

#[test]
fn instances_are_placed_and_mirrored_ones_turned() {
    let mut maker = Maker::new();
    let mesh = maker.triangle();
    maker.node(json!({"mesh": mesh, "translation": [10, 0, 0]}));
    maker.node(json!({"mesh": mesh, "scale": [-1, 1, 1], "translation": [0, 5, 0]}));
    let (file, _) = maker.read();
    let p = positions(&file);
    assert_eq!(p[..3], [Vec3::new(10.0, 0.0, 0.0), Vec3::new(11.0, 0.0, 0.0), Vec3::new(10.0, 1.0, 0.0)]);
    assert_eq!(p[3..], [Vec3::new(0.0, 5.0, 0.0), Vec3::new(-1.0, 5.0, 0.0), Vec3::new(0.0, 6.0, 0.0)]);
    assert_eq!(file.character.mesh.faces(), [[0, 1, 2], [3, 5, 4]]);
    assert_eq!((file.info.n_vertices, file.info.n_instances), (3, 2));
    assert!(file.character.rig.is_none() && file.character.skin.is_none());
}

#[test]
fn only_the_default_scene_is_read() {
    let mut maker = Maker::new();
    let mesh = maker.triangle();
    maker.node(json!({"mesh": mesh}));
    maker.node(json!({"mesh": mesh}));
    assert_eq!(maker.read().0.character.mesh.n_faces(), 2, "no scenes: everything");
    maker.root["scenes"] = json!([{"nodes": [0]}, {"nodes": [1]}]);
    assert_eq!(maker.read().0.character.mesh.n_faces(), 2, "no default: all scenes");
    maker.root["scene"] = json!(1);
    assert_eq!(maker.read().0.character.mesh.n_faces(), 1);
}

/// A still floor, a hat on a moving joint's child, and a skinned part, under an armature of scale 100.
#[test]
fn still_rigid_and_skinned_parts_in_one_file() {
    let mut maker = Maker::new();
    let plain = maker.triangle();
    let joints = maker.accessor(&[1, 0, 0, 0].repeat(3), 5121, "VEC4", 3);
    let weights = maker.floats(&[1.0, 0.0, 0.0, 0.0].repeat(3), "VEC4", 3);
    let p = maker.floats(&TRIANGLE.map(|x| x * 0.01), "VEC3", 3);
    let attributes = json!({"POSITION": p, "JOINTS_0": joints, "WEIGHTS_0": weights});
    let skinned = maker.mesh(json!({"attributes": attributes}));
    let times = maker.floats(&[0.0, 1.0], "SCALAR", 2);
    // A quarter turn about z: i16 normalised.
    let half = (std::f32::consts::FRAC_1_SQRT_2 * 32767.0).round() as i16;
    let turn: Vec<u8> =
        [0, 0, 0, 32767, 0, 0, half, half].iter().flat_map(|x: &i16| x.to_le_bytes()).collect();
    let turn = maker.accessor(&turn, 5122, "VEC4", 2);
    maker.root["accessors"][turn]["normalized"] = json!(true);
    let lift = maker.floats(&[0.0, 0.01, 0.0, 0.0, 0.03, 0.0], "VEC3", 2);
    maker.node(json!({"name": "floor", "mesh": plain, "translation": [0, -1, 0]})); // 0
    maker.node(json!({"name": "armature", "scale": [100, 100, 100], "children": [2]})); // 1
    maker.node(json!({"name": "hip", "children": [3]})); // 2
    maker.node(json!({"name": "head", "translation": [0, 0.01, 0], "children": [4]})); // 3
    maker.node(
        json!({"name": "hat", "mesh": plain, "translation": [0, 0.01, 0], "scale": [0.01, 0.01, 0.01]}),
    ); // 4
    // The node of a skinned mesh does not count.
    maker.node(json!({"mesh": skinned, "skin": 0, "translation": [7, 7, 7]})); // 5
    maker.root["skins"] = json!([{"joints": [2, 3]}]);
    maker.root["animations"] = json!([{
        "channels": [
            {"sampler": 0, "target": {"node": 3, "path": "rotation"}},
            {"sampler": 1, "target": {"node": 3, "path": "translation"}}
        ],
        "samplers": [{"input": times, "output": turn}, {"input": times, "output": lift}]
    }]);
    let (file, warnings) = maker.read();
    assert_eq!(warnings, [""; 0]);
    let character = &file.character;
    let rig = character.rig.as_ref().unwrap();
    let names: Vec<&str> = rig.joints().iter().map(|joint| joint.name.as_str()).collect();
    assert_eq!(names, ["armature", "hip", "head", "still"]);
    // Joints are in metres, without scales.
    assert!(rig.joints().iter().all(|joint| joint.rest.scale == DVec3::ONE));
    assert_eq!(rig.joints()[2].rest.translation, DVec3::Y);
    let check = |time: f32, expected: [[f64; 3]; 9]| {
        let found = evaluate(character, character.clips.first(), time);
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.distance(DVec3::from(expected)) < 1e-4, "{time}: {found} {expected:?}");
        }
    };
    let floor = [[0.0, -1.0, 0.0], [1.0, -1.0, 0.0], [0.0, 0.0, 0.0]];
    let rest_hat = [[0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 3.0, 0.0]];
    let rest_skinned = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]];
    check(0.0, [floor, rest_hat, rest_skinned].concat().try_into().unwrap());
    // The head has risen to 3 and turned: x is up, y is left.
    let hat = [[-1.0, 3.0, 0.0], [-1.0, 4.0, 0.0], [-2.0, 3.0, 0.0]];
    let skinned = [[0.0, 3.0, 0.0], [0.0, 4.0, 0.0], [-1.0, 3.0, 0.0]];
    check(1.0, [floor, hat, skinned].concat().try_into().unwrap());
}

#[test]
fn curves_keep_their_kind() {
    let mut maker = Maker::new();
    let times = maker.floats(&[0.0, 1.0], "SCALAR", 2);
    let spline = maker.floats(&[0.5; 18], "VEC3", 6);
    let step = maker.floats(&[1.0, 1.0, 1.0, 2.0, 2.0, 2.0], "VEC3", 2);
    maker.node(json!({}));
    let channel =
        |sampler: usize, path: &str| json!({"sampler": sampler, "target": {"node": 0, "path": path}});
    maker.root["animations"] = json!([{
        "channels": [channel(0, "translation"), channel(1, "scale"), channel(1, "scale")],
        "samplers": [
            {"input": times, "output": spline, "interpolation": "CUBICSPLINE"},
            {"input": times, "output": step, "interpolation": "STEP"}
        ]
    }]);
    maker.root["extensionsUsed"] = json!(["ACME_note"]);
    maker.root["extensions"] = json!({"ACME_note": {"text": [1, {"two": null}]}});
    let (file, warnings) = maker.read();
    assert!(warnings[0].contains("two curves for one property"), "{warnings:?}");
    let track = &file.character.clips[0].joints[0];
    assert_eq!(track.translation.as_ref().unwrap().interpolation(), Interpolation::Cubic);
    assert_eq!(track.scale.as_ref().unwrap().interpolation(), Interpolation::Step);
    assert_eq!(file.character.rig.unwrap().joints()[0].name, "node 0");
    assert_eq!(file.extensions["ACME_note"], json!({"text": [1, {"two": null}]}));
}

#[test]
fn eight_of_twelve_influences_are_kept() {
    let mut maker = Maker::new();
    let p = maker.floats(&TRIANGLE, "VEC3", 3);
    let mut attributes = json!({"POSITION": p});
    for set in 0..3u8 {
        let joints: Vec<u8> = (0..4).map(|at| set * 4 + at).collect();
        attributes[format!("JOINTS_{set}")] = json!(maker.accessor(&joints.repeat(3), 5121, "VEC4", 3));
        // Later sets weigh more.
        let weights: Vec<u8> = (0..4).map(|at| 1 + 10 * set + at).collect();
        let weights = maker.accessor(&weights.repeat(3), 5121, "VEC4", 3);
        maker.root["accessors"][weights]["normalized"] = json!(true);
        attributes[format!("WEIGHTS_{set}")] = json!(weights);
    }
    let mesh = maker.mesh(json!({"attributes": attributes}));
    maker.node(json!({"mesh": mesh, "skin": 0}));
    for joint in 0..12 {
        maker.node(json!({"translation": [joint, 0, 0]}));
    }
    maker.root["skins"] = json!([{"joints": (1..13).collect::<Vec<_>>()}]);
    let (file, _) = maker.read();
    let skin = file.character.skin.unwrap();
    let kept: Vec<u16> = skin.vertex(0).map(|(slot, _)| slot).collect();
    assert_eq!(kept, [11, 10, 9, 8, 7, 6, 5, 4]);
    assert!((skin.vertex(0).map(|(_, weight)| weight).sum::<f32>() - 1.0).abs() < 1e-6);
}

#[test]
fn matrices_are_taken_apart() {
    let mut maker = Maker::new();
    let mesh = maker.triangle();
    let turn = Quat::from_rotation_y(0.7).as_dquat();
    let scale = DVec3::new(2.0, -3.0, 0.5);
    let matrix = glam::DMat4::from_scale_rotation_translation(scale, turn, DVec3::new(1.0, 2.0, 3.0));
    maker.node(json!({"mesh": mesh, "skin": 0, "matrix": matrix.to_cols_array()}));
    maker.root["skins"] = json!([{"joints": [0]}]);
    let (file, warnings) = maker.read();
    assert_eq!(warnings, [""; 0]);
    let rest = file.character.rig.as_ref().unwrap().rest_world()[0];
    assert!(glam::DMat4::from(rest).abs_diff_eq(matrix, 1e-6));
    // Without weights the mesh hangs on its node.
    let corner = evaluate(&file.character, None, 0.0)[1];
    assert!(corner.distance(matrix.transform_point3(DVec3::X)) < 1e-6);
}

#[test]
fn rotation_keys_are_brought_to_unit_length_and_zeros_left_out() {
    let mut maker = Maker::new();
    let times = maker.floats(&[0.0, 1.0], "SCALAR", 2);
    let long = maker.floats(&[0.0, 0.0, 0.0, 4.0, 0.0, 1e-30, 0.0, 0.0], "VEC4", 2);
    let zero = maker.floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0], "VEC4", 2);
    // Tangents of any length, zero included, belong to a spline.
    let tangents = [[0.0; 4], [0.0, 0.0, 0.0, 2.0], [3.0; 4], [5.0; 4], [0.0, 2.0, 0.0, 0.0], [0.0; 4]];
    let spline = maker.floats(tangents.as_flattened(), "VEC4", 6);
    (0..3).for_each(|_| _ = maker.node(json!({})));
    let channel = |at: usize| json!({"sampler": at, "target": {"node": at, "path": "rotation"}});
    maker.root["animations"] = json!([{
        "channels": [channel(0), channel(1), channel(2)],
        "samplers": [
            {"input": times, "output": long},
            {"input": times, "output": zero},
            {"input": times, "output": spline, "interpolation": "CUBICSPLINE"}
        ]
    }]);
    let (file, warnings) = maker.read();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].starts_with("/animations/0/channels/1: value 1 is a rotation of four zeros"),
        "{warnings:?}"
    );
    let [long, spline] = &file.character.clips[0].joints[..] else { panic!("two tracks") };
    assert_eq!(
        long.rotation.as_ref().unwrap().values(),
        [Quat::IDENTITY, Quat::from_xyzw(0.0, 1.0, 0.0, 0.0)]
    );
    let kept: Vec<[f32; 4]> =
        spline.rotation.as_ref().unwrap().values().iter().map(|q| q.to_array()).collect();
    assert_eq!([kept[1], kept[4]], [[0.0, 0.0, 0.0, 1.0], [0.0, 1.0, 0.0, 0.0]]);
    assert_eq!([kept[2], kept[3]], [[3.0; 4], [5.0; 4]]);
}

#[test]
fn alpha_modes_are_kept_and_what_is_not_is_reported_at_once() {
    let mut maker = Maker::new();
    let p = maker.floats(&TRIANGLE, "VEC3", 3);
    let mesh = maker.mesh(json!({"attributes": {"POSITION": p, "TANGENT": p, "_HEAT": p}, "material": 0}));
    maker.node(json!({"mesh": mesh}));
    let half = json!({"baseColorFactor": [1, 1, 1, 0.5], "metallicRoughnessTexture": {"index": 0}});
    maker.root["materials"] = json!([
        {"pbrMetallicRoughness": half, "normalTexture": {"index": 0}},
        {"alphaMode": "BLEND", "emissiveFactor": [0, 0, 0]},
        {"alphaMode": "MASK", "emissiveFactor": [0, 1, 0]},
        {"alphaMode": "MASK", "alphaCutoff": 0.25, "extensions": {"KHR_materials_unlit": {}}},
        {"alphaMode": "FOG"}
    ]);
    maker.root["cameras"] = json!([{"type": "perspective"}]);
    maker.root["extensions"] =
        json!({"ACME_rig": {"bones": {"hips": {"node": 0}}}, "ACME_note": {"by": "me"}});
    let (file, warnings) = maker.read();
    let modes: Vec<AlphaMode> = file.character.surface.materials.iter().map(|m| m.alpha).collect();
    let mask = AlphaMode::Mask;
    assert_eq!(modes, [AlphaMode::Opaque, AlphaMode::Blend, mask(0.5), mask(0.25), AlphaMode::Opaque]);
    assert!(warnings[0].contains("\"FOG\" is unknown"), "{warnings:?}");
    let lost = "not kept: attribute TANGENT, attribute _HEAT, cameras, emissive colours, \
                extension KHR_materials_unlit, metallic-roughness textures, normal textures";
    assert_eq!(warnings[1..], [lost]);
    let mut reported = Warnings::default();
    let portable = portable_extensions(&file.extensions, &mut reported);
    assert_eq!(reported.messages, ["not kept: extension ACME_rig"]);
    assert_eq!(serde_json::Value::Object(portable), json!({"ACME_note": {"by": "me"}}));
    // Written and read again, an opaque half stays opaque and the others what they are.
    let bytes = write_glb(&file.character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
    let again = read_gltf(&bytes, &no_side_files, "again.glb", &mut Warnings::default()).unwrap();
    let written: Vec<AlphaMode> = again.character.surface.materials.iter().map(|m| m.alpha).collect();
    assert_eq!(written, modes);
    assert_eq!(again.character.surface.materials[0].base_color[3], 0.5);
}

#[test]
fn vertices_without_weight_follow_their_own_skin() {
    let mut maker = Maker::new();
    let p = maker.floats(&TRIANGLE, "VEC3", 3);
    let joints = maker.accessor(&[0; 12], 5121, "VEC4", 3);
    let full = maker.floats(&[1.0, 0.0, 0.0, 0.0].repeat(3), "VEC4", 3);
    // The last vertex has no weight at all.
    let bare = maker.floats(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], "VEC4", 3);
    for (skin, weights) in [full, bare].into_iter().enumerate() {
        let mesh =
            maker.mesh(json!({"attributes": {"POSITION": p, "JOINTS_0": joints, "WEIGHTS_0": weights}}));
        maker.node(json!({"mesh": mesh, "skin": skin}));
    }
    let [first, second] = [0, 10].map(|x| maker.node(json!({"translation": [x, 0, 0]})));
    maker.root["skins"] = json!([{"joints": [first]}, {"joints": [second]}]);
    let (file, warnings) = maker.read();
    assert!(warnings.iter().any(|w| w.contains("1 vertices have no skin weight")), "{warnings:?}");
    let skin = file.character.skin.unwrap();
    let joint_of = |v: usize| skin.slots[skin.vertex(v).find(|(_, w)| *w > 0.0).unwrap().0 as usize].joint;
    assert_eq!((joint_of(0), joint_of(5)), (joint_of(1), joint_of(3)));
    assert_ne!(joint_of(0), joint_of(5));
}

#[test]
fn only_rounding_of_weights_is_repaired_in_silence() {
    for (bytes, normalized, reported) in [([128u8, 128, 0, 0], true, false), ([128, 120, 0, 0], true, true)] {
        let mut maker = Maker::new();
        let p = maker.floats(&TRIANGLE, "VEC3", 3);
        let joints = maker.accessor(&[0, 1, 0, 0].repeat(3), 5121, "VEC4", 3);
        let weights = maker.accessor(&bytes.repeat(3), 5121, "VEC4", 3);
        maker.root["accessors"][weights]["normalized"] = json!(normalized);
        let mesh =
            maker.mesh(json!({"attributes": {"POSITION": p, "JOINTS_0": joints, "WEIGHTS_0": weights}}));
        maker.node(json!({"mesh": mesh, "skin": 0}));
        let nodes = [0, 1].map(|x| maker.node(json!({"translation": [x, 0, 0]})));
        maker.root["skins"] = json!([{"joints": nodes}]);
        let (file, warnings) = maker.read();
        assert_eq!(warnings.iter().any(|w| w.contains("do not sum to 1")), reported, "{warnings:?}");
        let sum: f32 = file.character.skin.unwrap().vertex(0).map(|(_, w)| w).sum();
        assert!((sum - 1.0).abs() < 1e-6);
    }
}

#[test]
fn endless_morph_clips_are_refused() {
    for end in [1e30, f32::MAX] {
        let mut maker = Maker::new();
        let p = maker.floats(&TRIANGLE, "VEC3", 3);
        let mesh = maker.mesh(json!({"attributes": {"POSITION": p}, "targets": [{"POSITION": p}]}));
        maker.node(json!({"mesh": mesh}));
        let times = maker.floats(&[0.0, end], "SCALAR", 2);
        let weights = maker.floats(&[0.0, 1.0], "SCALAR", 2);
        maker.root["animations"] = json!([{
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
            "samplers": [{"input": times, "output": weights}]
        }]);
        let (file, _) = maker.read();
        let sequence = |fps| morph_sequence(&file.character, fps, &mut Warnings::default());
        for fps in [30.0, 1e300, f64::NAN] {
            assert!(sequence(Some(fps)).unwrap_err().to_string().contains("too many"));
        }
        // Its own two keys are two frames.
        assert_eq!(sequence(None).unwrap().n_frames(), 2);
    }
}
