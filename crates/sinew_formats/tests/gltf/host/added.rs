//! What is added to a file: the places of animations, and the size of morphs.

use super::maker::{Maker, zoo};
use super::{frames, json_of, read, turning, write};
use glam::Vec3;
use serde_json::json;
use sinew_formats::gltf::{GlbOptions, write_glb_hosted};
use sinew_geom::Warnings;

/// An extension that nobody knows may refer to animations by number: theirs stay, or it is said that they did not.
#[test]
fn animations_that_others_may_refer_to_keep_their_numbers() {
    let (file, bytes) = zoo().read();
    let mut now = file.character.clone();
    now.clips.insert(0, turning(0));
    let names = |glb: &[u8]| {
        let root = json_of(glb);
        let list = root["animations"].as_array().unwrap().iter();
        list.map(|animation| animation["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let (again, warnings) = write(&file, &now);
    assert_eq!((names(&again), warnings.len()), (vec!["wave".to_owned(), "turning".to_owned()], 0));
    assert_eq!(json_of(&again)["extensions"], json_of(&bytes)["extensions"]);
    now.clips.clear();
    let (_, warnings) = write(&file, &now);
    assert!(
        warnings.len() == 1 && warnings[0].contains("X_all") && warnings[0].contains("X_hat"),
        "{warnings:?}"
    );
    assert!(!warnings[0].contains("KHR_"), "{warnings:?}");
    // Where nobody counts them, they stand in the order of the clips.
    let mut maker = zoo();
    maker.root["extensions"] = json!({ "VRMC_vrm": { "humanoid": { "hips": { "node": 1 } } } });
    maker.root["nodes"].as_array_mut().unwrap().iter_mut().for_each(|node| {
        node.as_object_mut().unwrap().remove("extensions");
    });
    maker.root["meshes"].as_array_mut().unwrap().iter_mut().for_each(|mesh| {
        mesh["primitives"][0].as_object_mut().unwrap().remove("extensions");
    });
    let (file, _) = maker.read();
    let mut now = file.character.clone();
    now.clips.insert(0, turning(0));
    assert_eq!(names(&write(&file, &now).0), ["turning", "wave"]);
    now.clips.clear();
    assert_eq!(write(&file, &now).1, [""; 0]);
}

/// Offsets that 8 bits hold as they are take 4 bytes each, in the file that was opened and in one of our own.
#[test]
fn rounded_morphs_are_written_in_eight_bits_and_come_back_as_they_were() {
    let mut maker = Maker::new();
    let n = 2000;
    let points: Vec<f32> = (0..3 * n).map(|k| ((k * 37) % 101) as f32 * 0.01).collect();
    let position = maker.floats(&points, "VEC3");
    let corners: Vec<u8> =
        (0..n as u16 - 2).flat_map(|k| [k, k + 1, k + 2]).flat_map(u16::to_le_bytes).collect();
    let indices = maker.bytes(&corners, 5123, "SCALAR", corners.len() / 2);
    let primitive = json!({"attributes": {"POSITION": position}, "indices": indices});
    let mesh = maker.add("meshes", json!({"name": "scan", "primitives": [primitive]}));
    maker.node(json!({"name": "Scan", "mesh": mesh}));
    let (file, bytes) = maker.read();
    let mut now = file.character.clone();
    frames(&mut now, "bake", 4, |at, v| {
        Vec3::new(v as f32 * 1e-5, at as f32 * 1e-2, ((v * 7) % 13) as f32 * 1e-3)
    });
    let plain = write(&file, &now).0;
    let mut factors = Vec::new();
    for morph in &mut now.morphs {
        let (rounded, factor) = morph.clone().rounded();
        factors.push(factor);
        *morph = rounded;
    }
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    assert_eq!(plain.len() - again.len(), 4 * n * (12 - 4), "{} {}", plain.len(), again.len());
    assert!(factors.iter().all(|factor| (0.01..0.04).contains(factor)), "{factors:?}");
    let root = json_of(&again);
    assert_eq!(root["extensionsRequired"], json!(["KHR_mesh_quantization"]));
    let own = write_glb_hosted(None, &now, &GlbOptions::default(), &mut Warnings::default()).unwrap();
    for glb in [&again, &own] {
        let back = read(glb).character;
        assert_eq!(
            back.morphs.iter().map(|m| &m.offsets).collect::<Vec<_>>(),
            now.morphs.iter().map(|m| &m.offsets).collect::<Vec<_>>()
        );
    }
    assert!(json_of(&bytes).get("extensionsRequired").is_none());
    let small = zoo().read().0;
    let mut few = small.character.clone();
    frames(&mut few, "bake", 3, |at, _| Vec3::X * at as f32);
    assert!(json_of(&write(&small, &few).0).get("extensionsRequired").is_none(), "not worth it");
}
