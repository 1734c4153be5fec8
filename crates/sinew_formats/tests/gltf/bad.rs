//! A table of bad inputs: each must fail with the right place and cause, or be repaired with a warning.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use sinew_formats::{FormatError, Place};
use sinew_formats::{gltf::read_gltf, no_side_files};
use sinew_geom::Warnings;

/// A good text file: a triangle on two joints with a clip and a picture-less material.
fn good() -> Value {
    let mut bin: Vec<u8> = Vec::new();
    let floats = |values: &[f32]| values.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    bin.extend(floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0])); // 0: positions, 36 bytes
    bin.extend([0, 0, 1, 0, 2, 0, 0, 0]); // 36: indices, padded
    bin.extend([0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0]); // 44: joints
    bin.extend(floats(&[0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])); // 56: weights
    bin.extend(floats(&[0.0, 1.0])); // 104: times
    bin.extend(floats(&[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0])); // 112: rotations
    bin.extend(floats(&[0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0])); // 144: normals, 36 bytes
    json!({
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": [{"mesh": 0, "skin": 0}, {"name": "hip", "children": [2]}, {"translation": [0, 1, 0]}],
        "meshes": [{"primitives": [{
            "attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3, "NORMAL": 6},
            "indices": 1, "material": 0
        }]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}],
        "skins": [{"joints": [1, 2]}],
        "animations": [{
            "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
            "samplers": [{"input": 4, "output": 5}]
        }],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 0, "byteOffset": 36, "componentType": 5123, "count": 3, "type": "SCALAR"},
            {"bufferView": 0, "byteOffset": 44, "componentType": 5121, "count": 3, "type": "VEC4"},
            {"bufferView": 0, "byteOffset": 56, "componentType": 5126, "count": 3, "type": "VEC4"},
            {"bufferView": 0, "byteOffset": 104, "componentType": 5126, "count": 2, "type": "SCALAR"},
            {"bufferView": 0, "byteOffset": 112, "componentType": 5126, "count": 2, "type": "VEC4"},
            {"bufferView": 0, "byteOffset": 144, "componentType": 5126, "count": 3, "type": "VEC3"}
        ],
        "bufferViews": [{"buffer": 0, "byteLength": bin.len()}],
        "buffers": [{
            "byteLength": bin.len(),
            "uri": format!("data:application/octet-stream;base64,{}", STANDARD.encode(&bin))
        }]
    })
}

fn set(root: &mut Value, path: &str, value: Value) {
    let (parent, key) = path.rsplit_once('/').unwrap();
    let parent = root.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
    match parent {
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
}

fn read(bytes: &[u8], warnings: &mut Warnings) -> Result<sinew_formats::gltf::GltfFile, FormatError> {
    read_gltf(bytes, &no_side_files, "bad.gltf", warnings)
}

#[test]
fn the_good_file_is_good() {
    let mut warnings = Warnings::default();
    let file = read(good().to_string().as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    assert_eq!(file.character.mesh.n_faces(), 1);
    assert_eq!(file.character.rig.unwrap().n_joints(), 2);
    assert_eq!(file.character.clips.len(), 1);
    assert_eq!(file.character.skin.unwrap().influences(), 2);
}

#[test]
fn faults_name_their_place() {
    let huge = json!(1_000_000_000_000_u64);
    #[rustfmt::skip]
    let table = [
        // Wrong JSON type of one field.
        ("/nodes/0/mesh", json!("x"), "/nodes/0", "expected usize"),
        // A negative index.
        ("/meshes/0/primitives/0/indices", json!(-1), "/meshes/0", "invalid value"),
        // A list that is not one.
        ("/accessors", json!({}), "/accessors", "must be an array"),
        // glTF 1.0.
        ("/asset/version", json!("1.0"), "/asset/version", "not supported"),
        // No version at all.
        ("/asset", json!({}), "/asset/version", "not supported"),
        // Streams that are not there.
        ("/bufferViews/0/extensions", json!({"EXT_meshopt_compression": {}}),
            "/bufferViews/0/extensions/EXT_meshopt_compression", "missing field"),
        ("/bufferViews/0/extensions", json!({"KHR_meshopt_compression": {"buffer": 7, "byteLength": 4, "byteStride": 4, "count": 1, "mode": "ATTRIBUTES"}}),
            "/bufferViews/0/extensions/KHR_meshopt_compression", "no buffer 7"),
        ("/bufferViews/0/extensions", json!({"EXT_meshopt_compression": {"buffer": 0, "byteLength": 4, "byteStride": 3, "count": 1, "mode": "ATTRIBUTES"}}),
            "/bufferViews/0/extensions/EXT_meshopt_compression", "multiple of 4"),
        ("/meshes/0/primitives/0/extensions", json!({"KHR_draco_mesh_compression": {"bufferView": 99, "attributes": {"TANGENT": 0}}}),
            "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression", "no buffer view 99"),
        ("/meshes/0/primitives/0/extensions", json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"TANGENT": 0}}}),
            "/meshes/0/primitives/0/extensions/KHR_draco_mesh_compression", "without compression"),
        // A scene that does not exist.
        ("/scene", json!(5), "/scene", "no scene 5"),
        // A scene's node that does not exist.
        ("/scenes/0/nodes/1", json!(9), "/scenes/0/nodes/1", "no node 9"),
        // A child that does not exist.
        ("/nodes/1/children/0", json!(7), "/nodes/1/children/0", "no node 7"),
        // A node that is its own child.
        ("/nodes/1/children/0", json!(1), "/nodes/1", "its own ancestor"),
        // A node with two parents.
        ("/nodes/0/children", json!([2]), "/nodes/1/children/0", "already a child of node 0"),
        // A cycle of two.
        ("/nodes/2/children", json!([1]), "/nodes/1", "its own ancestor"),
        // A mesh that does not exist.
        ("/nodes/0/mesh", json!(4), "/nodes/0/mesh", "no mesh 4"),
        // A skin that does not exist.
        ("/nodes/0/skin", json!(4), "/nodes/0/skin", "no skin 4"),
        // A joint that does not exist.
        ("/skins/0/joints/1", json!(99), "/skins/0/joints/1", "no node 99"),
        // A vertex on a joint the skin lacks.
        ("/skins/0/joints", json!([1]), "/meshes/0/primitives/0/attributes/JOINTS_0", "names joint 1"),
        // Inverse bind matrices of the wrong type.
        ("/skins/0/inverseBindMatrices", json!(0), "/accessors/0/type", "16 components"),
        // Inverse bind matrices that do not exist.
        ("/skins/0/inverseBindMatrices", json!(77), "/skins/0/inverseBindMatrices", "no accessor 77"),
        // No positions.
        ("/meshes/0/primitives/0/attributes", json!({}), "/meshes/0/primitives/0/attributes", "no POSITION"),
        // An accessor that does not exist.
        ("/meshes/0/primitives/0/attributes/POSITION", json!(50), "/meshes/0/primitives/0/attributes/POSITION", "no accessor 50"),
        // Joints without weights.
        ("/meshes/0/primitives/0/attributes", json!({"POSITION": 0, "JOINTS_0": 2}), "/meshes/0/primitives/0/attributes/JOINTS_0", "no WEIGHTS_0"),
        // Weights for fewer vertices.
        ("/accessors/3/count", json!(2), "/meshes/0/primitives/0/attributes/WEIGHTS_0", "2 elements for 3"),
        // Joints as floats.
        ("/accessors/2/componentType", json!(5126), "/accessors/2/componentType", "unsigned"),
        // Indices that do not exist.
        ("/meshes/0/primitives/0/indices", json!(50), "/meshes/0/primitives/0/indices", "no accessor 50"),
        // Indices past the vertices: the joint bytes read as indices.
        ("/accessors/1/byteOffset", json!(44), "/meshes/0/primitives/0/indices", "names vertex 256"),
        // A component type nobody knows.
        ("/accessors/0/componentType", json!(1234), "/accessors/0/componentType", "1234"),
        // A type nobody knows.
        ("/accessors/0/type", json!("VEC9"), "/accessors/0/type", "VEC9"),
        // More elements than the buffer has.
        ("/accessors/0/count", huge.clone(), "/accessors/0", "do not fit"),
        // A count whose product overflows.
        ("/accessors/0/count", json!(u64::MAX), "/accessors/0", "do not fit"),
        // An offset that overflows.
        ("/accessors/0/byteOffset", json!(u64::MAX), "/accessors/0", "do not fit"),
        // An endless accessor without data.
        ("/accessors/0", json!({"componentType": 5126, "count": huge, "type": "VEC3"}), "/accessors/0", "memory"),
        // A stride shorter than an element.
        ("/bufferViews/0/byteStride", json!(4), "/bufferViews/0/byteStride", "less than the 12 bytes"),
        // A buffer view that does not exist.
        ("/accessors/0/bufferView", json!(8), "/accessors/0", "no buffer view 8"),
        // A view past its buffer.
        ("/bufferViews/0/byteLength", json!(5000), "/bufferViews/0", "its buffer has 180"),
        ("/bufferViews/0/byteOffset", json!(u64::MAX), "/bufferViews/0", "its buffer has 180"),
        // A buffer that does not exist.
        ("/bufferViews/0/buffer", json!(3), "/bufferViews/0/buffer", "no buffer 3"),
        // Side files outside the folder, absent, or not base64.
        ("/buffers/0/uri", json!("../../etc/passwd"), "/buffers/0/uri", "own folder"),
        ("/buffers/0/uri", json!("/etc/passwd"), "/buffers/0/uri", "own folder"),
        ("/buffers/0/uri", json!("side.bin"), "/buffers/0/uri", "side.bin"),
        ("/buffers/0/uri", json!("data:;base64,$$$"), "/buffers/0/uri", "base64"),
        // A buffer with no source.
        ("/buffers/0", json!({"byteLength": 10}), "/buffers/0", "no binary chunk"),
        // A sparse element past the end.
        ("/accessors/0/sparse", json!({"count": 1, "indices": {"bufferView": 0, "byteOffset": 47, "componentType": 5125}, "values": {"bufferView": 0}}), "/accessors/0/sparse/indices", "element"),
        // Sparse indices of a signed type.
        ("/accessors/0/sparse", json!({"count": 1, "indices": {"bufferView": 0, "componentType": 5126}, "values": {"bufferView": 0}}), "/accessors/0/sparse/indices/componentType", "unsigned"),
        // Sparse values past their view.
        ("/accessors/0/sparse", json!({"count": 99, "indices": {"bufferView": 0, "componentType": 5121}, "values": {"bufferView": 0}}), "/accessors/0/sparse", "do not fit"),
    ];
    table.into_iter().for_each(check_fault);
}

/// A good file with one value replaced has this fault at this place.
fn check_fault((path, value, place, cause): (&str, Value, &str, &str)) {
    let mut root = good();
    set(&mut root, path, value.clone());
    let case = format!("{path} = {value}");
    match read(root.to_string().as_bytes(), &mut Warnings::default()) {
        Err(FormatError::Faults { faults, .. }) => {
            let found = faults.iter().any(|fault| {
                fault.place == Place::Json(place.to_owned()) && fault.to_string().contains(cause)
            });
            assert!(found, "{case}: {faults:?}");
        }
        other => panic!("{case}: {:?}", other.map(|file| file.info)),
    }
}

#[test]
fn spared_parts_leave_a_warning() {
    #[rustfmt::skip]
    let table = [
        // Key times that do not rise: both keys are the first.
        ("/accessors/4", json!({"componentType": 5126, "count": 2, "type": "SCALAR"}), "rise strictly"),
        // A clip's sampler, node, accessor or path that does not exist.
        ("/animations/0/channels/0/sampler", json!(6), "no sampler 6"),
        ("/animations/0/channels/0/target/node", json!(66), "no node 66"),
        ("/animations/0/samplers/0/output", json!(66), "no accessor 66"),
        ("/animations/0/channels/0/target/path", json!("colour"), "\"colour\" is not known"),
        ("/animations/0/samplers/0/interpolation", json!("CURLY"), "CURLY"),
        // Fewer values than keys.
        ("/accessors/5/count", json!(1), "expected 2"),
        // Weights of a mesh without morph targets.
        ("/animations/0/channels/0/target/path", json!("weights"), "no mesh with morph targets"),
        // Normals that cannot be read, or are too few.
        ("/accessors/6/componentType", json!(7), "left out"),
        ("/accessors/6/count", json!(1), "1 elements for 3 vertices"),
        // A texture that does not exist.
        ("/materials/0/pbrMetallicRoughness/baseColorTexture", json!({"index": 3}), "no texture 3"),
        // Points instead of triangles.
        ("/meshes/0/primitives/0/mode", json!(0), "points and lines"),
        // A mode nobody knows.
        ("/meshes/0/primitives/0/mode", json!(9), "9 is unknown"),
        // A rotation that is none.
        ("/nodes/2/rotation", json!([0, 0, 0, 0]), "rotation zero"),
        // A sheared matrix.
        ("/nodes/2/matrix", json!([1, 0, 0, 0, 0.5, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "sheared"),
        // A projective matrix.
        ("/nodes/2/matrix", json!([1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), "not an affine"),
        // An unknown required extension.
        ("/extensionsRequired", json!(["ACME_magic"]), "ACME_magic"),
        // Our own extension, broken or from the future.
        ("/extensions", json!({"SINEW_character": {"version": "x"}}), "it was not read"),
        ("/extensions", json!({"SINEW_character": {"version": 99}}), "newer"),
        ("/extensions", json!({"SINEW_character": {"version": 1, "handles": [{"name": "h", "vertices": 9}]}}), "handle is left out"),
        ("/extensions", json!({"SINEW_character": {"version": 1, "joints": [{"node": 1, "euler": "abc", "dofs": []}]}}), "not understood"),
    ];
    for (path, value, cause) in table {
        let mut root = good();
        set(&mut root, path, value.clone());
        let mut warnings = Warnings::default();
        let case = format!("{path} = {value}");
        read(root.to_string().as_bytes(), &mut warnings).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert!(warnings.messages.iter().any(|w| w.contains(cause)), "{case}: {:?}", warnings.messages);
    }
}

/// Every value of the good file, replaced by everything it should not be.
#[test]
fn no_wrong_value_panics() {
    let wrong = [
        json!(null),
        json!(true),
        json!("x"),
        json!([]),
        json!({}),
        json!([1, 2, 3, 4]),
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(3),
        json!(255),
        json!(5121),
        json!(1.5),
        json!(1e300),
        json!(u32::MAX),
        json!(u64::MAX),
    ];
    let mut paths = Vec::new();
    list_paths(&good(), String::new(), &mut paths);
    assert!(paths.len() > 100);
    for path in &paths {
        for value in &wrong {
            let mut root = good();
            *root.pointer_mut(path).unwrap() = value.clone();
            let _ = read(root.to_string().as_bytes(), &mut Warnings::default());
        }
    }
}

fn list_paths(value: &Value, path: String, paths: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| list_paths(item, format!("{path}/{at}"), paths));
        }
        Value::Object(fields) => {
            fields.iter().for_each(|(key, field)| list_paths(field, format!("{path}/{key}"), paths));
        }
        _ => {}
    }
    if !path.is_empty() {
        paths.push(path);
    }
}

/// A million warnings must not take time in their square.
#[test]
fn warnings_are_bounded() {
    let mut root = good();
    let nodes = (0..300_000).map(|_| json!({"rotation": [0, 0, 0, 0]}));
    root["nodes"].as_array_mut().unwrap().extend(nodes);
    let mut warnings = Warnings::default();
    read(root.to_string().as_bytes(), &mut warnings).unwrap();
    assert_eq!(warnings.messages.len(), 1001);
}

#[test]
fn all_faults_are_listed() {
    let mut root = good();
    set(&mut root, "/nodes/0/mesh", json!("x"));
    set(&mut root, "/accessors/1/count", json!(-3));
    set(&mut root, "/buffers/0/byteLength", json!(null));
    let error = read(root.to_string().as_bytes(), &mut Warnings::default()).unwrap_err().to_string();
    for place in ["bad.gltf:/nodes/0: ", "bad.gltf:/accessors/1: ", "bad.gltf:/buffers/0: "] {
        assert!(error.contains(place), "{error}");
    }
}

/// A GLB of a JSON text, with lengths as given.
fn glb(json: &[u8], length: u32, chunk: u32) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend(length.to_le_bytes());
    bytes.extend(chunk.to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes
}

#[test]
fn containers_name_their_byte_or_line() {
    let json = br#"{"asset":{"version":"2.0"}}"#;
    let n = json.len() as u32;
    #[rustfmt::skip]
    let table: Vec<(Vec<u8>, Place, &str)> = vec![
        // Nothing.
        (vec![], Place::Whole, "empty"),
        // Something else.
        (b"v 0 0 0".to_vec(), Place::Byte(0), "neither a GLB"),
        // Only the magic.
        (b"glTF".to_vec(), Place::Byte(4), "12 bytes"),
        // GLB version 1.
        (b"glTF\x01\0\0\0\x0c\0\0\0".to_vec(), Place::Byte(4), "version 1"),
        // A header that promises more than there is.
        (glb(json, 5000, n), Place::Byte(8), "promises 5000"),
        // A header and nothing behind.
        (b"glTF\x02\0\0\0\x0c\0\0\0".to_vec(), Place::Byte(12), "cut short"),
        // A header length shorter than the header.
        (b"glTF\x02\0\0\0\x01\0\0\0".to_vec(), Place::Byte(12), "cut short"),
        // A chunk that promises more than there is.
        (glb(json, 20 + n, u32::MAX), Place::Byte(12), "only 27 follow"),
        // A first chunk that is not JSON.
        (b"glTF\x02\0\0\0\x14\0\0\0\0\0\0\0BIN\0".to_vec(), Place::Byte(16), "not JSON"),
        // Invalid UTF-8.
        (glb(b"{\"a\":\"\xFF\"}", 29, 9), Place::Byte(26), "UTF-8"),
        // Garbage behind the text.
        (glb(b"{}x}", 24, 4), Place::Byte(22), "trailing"),
        // A text cut short.
        (b"{\n\"asset\": {\n".to_vec(), Place::Line(2), "EOF"),
        // Deep nesting must not exhaust the stack.
        ([b"{\"extras\":".as_slice(), &b"[".repeat(100_000)].concat(), Place::Line(1), "EOF"),
    ];
    for (bytes, place, cause) in table {
        match read(&bytes, &mut Warnings::default()) {
            Err(FormatError::Faults { faults, .. }) => {
                let fault = &faults[0];
                let line_only =
                    |place: &Place| matches!((place, &fault.place), (Place::Line(_), Place::Line(_)));
                assert!(fault.place == place || line_only(&place), "{fault:?}");
                assert!(fault.cause.contains(cause) || line_only(&place), "{fault:?}");
            }
            other => panic!("{place:?} {cause}: {:?}", other.map(|file| file.info)),
        }
    }
}

#[test]
fn harmless_oddities_are_accepted() {
    let text = good().to_string();
    // A byte order mark before the text.
    let marked = [b"\xEF\xBB\xBF", text.as_bytes()].concat();
    // Zeros instead of spaces as padding, and bytes behind the file's end.
    let mut padded = text.clone().into_bytes();
    padded.resize(padded.len().next_multiple_of(4) + 4, 0);
    let n = padded.len() as u32;
    let mut binary = glb(&padded, 20 + n, n);
    binary.extend(b"garbage");
    for bytes in [marked, binary] {
        assert_eq!(read(&bytes, &mut Warnings::default()).unwrap().character.mesh.n_faces(), 1);
    }
}

#[test]
fn deep_chains_and_wide_fans_do_not_exhaust_anything() {
    const N: usize = 200_000;
    let mut root = good();
    // Children before their parents, so that the order must be found by walking.
    let chain: Vec<Value> =
        (0..N).map(|i| if i == 0 { json!({}) } else { json!({"children": [i - 1]}) }).collect();
    root["nodes"] = chain.into();
    root["nodes"][0]["mesh"] = json!(0);
    root["nodes"][0]["skin"] = json!(0);
    root["scenes"][0]["nodes"] = json!([N - 1]);
    let file = read(root.to_string().as_bytes(), &mut Warnings::default()).unwrap();
    assert_eq!(file.character.rig.unwrap().n_joints(), N - 1);
    // One small accessor shown so often that it cannot be held.
    let mut root = good();
    root["accessors"][0] = json!({"componentType": 5126, "count": 20_000, "type": "VEC3"});
    root["accessors"][1] = json!({"componentType": 5123, "count": 60_000, "type": "SCALAR"});
    root["meshes"][0]["primitives"][0]["attributes"] = json!({"POSITION": 0});
    root["nodes"] = (0..N).map(|_| json!({"mesh": 0})).collect();
    root["scenes"][0]["nodes"] = (0..N).collect();
    root["skins"] = json!([]);
    root["animations"] = json!([]);
    let error = read(root.to_string().as_bytes(), &mut Warnings::default()).unwrap_err();
    assert!(error.to_string().contains("memory"), "{error}");
}
