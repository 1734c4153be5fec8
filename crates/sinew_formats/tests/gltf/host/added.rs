//! What is added to a file: the places of animations, and the size of morphs.

use super::maker::{Maker, zoo};
use super::{bent, close, frames, json_of, moved, read, turning, write};
use crate::support::evaluate;
use glam::{DAffine3, DQuat, DVec3, Vec3};
use serde_json::json;
use sinew_formats::gltf::{GlbOptions, write_glb_hosted};
use sinew_geom::{Rig, Skin, Warnings, rig::SkinSlot};

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
    // Of the last one, a large one, the offsets are whole numbers.
    now.morphs.iter_mut().skip(3).flat_map(|morph| &mut morph.offsets).for_each(|offset| *offset *= 1000.0);
    for morph in &mut now.morphs {
        let (rounded, factor) = morph.clone().rounded();
        factors.push(factor);
        *morph = rounded;
    }
    let (again, warnings) = write(&file, &now);
    assert!(warnings.is_empty(), "{warnings:?}");
    // The JSON differs a little.
    let (saved, wanted) = (plain.len() - again.len(), 4 * n * (12 - 4));
    assert!(saved.abs_diff(wanted) < 200, "{saved} bytes instead of {wanted}");
    assert!(factors.iter().all(|factor| (0.01..0.5).contains(factor)), "{factors:?}");
    let large = &now.morphs[3].offsets;
    assert!(large.iter().all(|o| o.to_array().iter().all(|x| *x == x.round())), "{:?}", large[7]);
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

/// A skeleton under a mirrored node, a joint that mirrors what hangs on it, and one skinned mesh at two nodes: a changed shape,
/// a clip and frames come back as they were meant.
#[test]
fn mirrored_skeletons_and_shared_skinned_meshes_come_back_as_they_were_meant() {
    let node = |maker: &mut Maker, name: &str| -> usize {
        let nodes = maker.root["nodes"].as_array().unwrap();
        nodes.iter().position(|node| node["name"] == name).unwrap()
    };
    let mirror = |maker: &mut Maker, name: &str, scale: [f64; 3]| {
        let at = node(maker, name);
        maker.root["nodes"][at]["scale"] = json!(scale);
    };
    let variants: [&dyn Fn(&mut Maker); 4] = [
        &|maker| mirror(maker, "armature", [-0.01, 0.01, 0.01]),
        &|maker| mirror(maker, "hip", [1.0, 1.0, -1.0]),
        &|maker| mirror(maker, "tip", [-1.0, -1.0, -1.0]),
        &|maker| {
            let hair = node(maker, "Hair");
            let twin = maker.root["nodes"][hair].clone();
            maker.node(twin);
            mirror(maker, "armature", [0.01, -0.01, 0.01]);
        },
    ];
    for (at, change) in variants.iter().enumerate() {
        let mut maker = zoo();
        change(&mut maker);
        let (file, bytes) = maker.read();
        assert!(write(&file, &file.character).0 == bytes, "{at}: unchanged");
        let tip = file.character.rig.as_ref().unwrap().find("tip").unwrap();
        let mut now = moved(&file.character, bent);
        now.clips.push(turning(tip));
        frames(&mut now, "bake", 3, |frame, v| Vec3::new(0.1, 0.0, v as f32 * 0.1) * frame as f32);
        let (again, _) = write(&file, &now);
        let (old, new) = (json_of(&bytes), json_of(&again));
        assert_eq!(old["nodes"].as_array().unwrap().len(), new["nodes"].as_array().unwrap().len());
        let back = read(&again).character;
        close(&evaluate(&now, None, 0.0), &evaluate(&back, None, 0.0), 1e-6);
        for (clip, other) in now.clips.iter().zip(&back.clips) {
            for time in [0.1, 0.7] {
                let (a, b) = (evaluate(&now, Some(clip), time), evaluate(&back, Some(other), time));
                close(&a, &b, 1e-5);
            }
        }
    }
}

/// What never moves turns with the rest when the whole character is turned at rest.
#[test]
fn still_parts_turn_with_the_character() {
    let (file, _) = zoo().read();
    let before = &file.character;
    let turn = DQuat::from_rotation_y(2.0);
    let mut now = before.clone();
    let turned = before.mesh.positions().iter().map(|p| turn * *p).collect();
    now.mesh = before.mesh.with_positions(turned).unwrap();
    now.surface.normals = None;
    now.morphs.iter_mut().flat_map(|m| &mut m.offsets).for_each(|o| *o = (turn * o.as_dvec3()).as_vec3());
    let mut joints = before.rig.as_ref().unwrap().joints().to_vec();
    for root in joints.iter_mut().filter(|joint| joint.parent.is_none()) {
        root.rest.translation = turn * root.rest.translation;
        root.rest.rotation = turn * root.rest.rotation;
    }
    now.rig = Some(Rig::new(joints).unwrap());
    let skin = before.skin.as_ref().unwrap();
    let back = DAffine3::from_quat(turn.inverse());
    let slots = skin.slots.iter().map(|slot| SkinSlot { inverse_bind: slot.inverse_bind * back, ..*slot });
    let (indices, weights) = (skin.indices().to_vec(), skin.weights().to_vec());
    let slots = slots.collect();
    now.skin = Some(Skin::new(slots, skin.influences(), indices, weights, &mut Warnings::default()).unwrap());
    let again = read(&write(&file, &now).0).character;
    let expected: Vec<DVec3> = evaluate(before, None, 0.0).iter().map(|p| turn * *p).collect();
    close(&evaluate(&now, None, 0.0), &expected, 1e-6);
    close(&evaluate(&again, None, 0.0), &expected, 1e-5);
}
