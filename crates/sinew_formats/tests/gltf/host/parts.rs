//! Parts that are hidden, shown and left out.

use super::maker::{Maker, zoo};
use super::{close, json_of, read};
use crate::support::evaluate;
use serde_json::{Value, json};
use sinew_formats::gltf::{
    GlbOptions, GltfFile, PartChoice, SurfaceParts, read_gltf_with_host, write_glb_hosted,
};
use sinew_formats::no_side_files;
use sinew_geom::{Character, Handle, Warnings};
use std::collections::BTreeSet;

fn write(file: &GltfFile, character: &Character, left_out: &[&str], hidden: Option<&[&str]>) -> Vec<u8> {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
    let parts = PartChoice { left_out: set(left_out), hidden: hidden.map(set) };
    let options = GlbOptions { parts, ..GlbOptions::default() };
    let mut warnings = Warnings::default();
    let bytes = write_glb_hosted(file.host.as_deref(), character, &options, &mut warnings).unwrap();
    assert!(warnings.messages.is_empty(), "{:?}", warnings.messages);
    bytes
}

fn parts(file: &GltfFile) -> SurfaceParts {
    SurfaceParts::of(file.host.as_deref(), &file.character)
}

fn shown(file: &GltfFile) -> Vec<String> {
    parts(file).parts.into_iter().filter(|part| part.is_visible).map(|part| part.name).collect()
}

fn node<'v>(root: &'v Value, name: &str) -> &'v Value {
    root["nodes"].as_array().unwrap().iter().find(|node| node["name"] == name).unwrap()
}

#[test]
fn parts_are_hidden_and_shown_again_and_nothing_else_changes() {
    let (file, bytes) = zoo().read();
    assert_eq!(shown(&file), ["Body", "Hair", "Hat"]);
    assert!(write(&file, &file.character, &[], Some(&[])) == bytes);
    let hidden = write(&file, &file.character, &[], Some(&["Hair"]));
    let back = read(&hidden);
    assert_eq!(shown(&back), ["Body", "Hat"]);
    assert_eq!(back.character, file.character);
    let mut root = json_of(&hidden);
    let hair = root["nodes"].as_array_mut().unwrap().iter_mut().find(|node| node["name"] == "Hair").unwrap();
    assert_eq!(hair["extensions"]["KHR_node_visibility"], json!({ "visible": false }));
    hair.as_object_mut().unwrap().remove("extensions");
    assert_eq!(root["nodes"], json_of(&bytes)["nodes"]);
    assert!(json_of(&hidden)["extensionsUsed"].as_array().unwrap().contains(&json!("KHR_node_visibility")));
    assert_eq!(shown(&read(&write(&back, &back.character, &[], Some(&[])))), ["Body", "Hair", "Hat"]);
}

#[test]
fn a_part_below_a_hidden_node_is_shown_without_the_others_there() {
    let mut maker = Maker::new();
    let meshes = ["a", "b"].map(|name| maker.quad(name));
    let nodes =
        meshes.map(|mesh| maker.add("nodes", json!({ "name": format!("part {mesh}"), "mesh": mesh })));
    let hidden = json!({ "KHR_node_visibility": { "visible": false } });
    maker.node(json!({ "name": "clothes", "children": nodes, "extensions": hidden }));
    maker.root["extensionsUsed"] = json!(["KHR_node_visibility"]);
    let (file, _) = maker.read();
    assert!(shown(&file).is_empty());
    let back = read(&write(&file, &file.character, &[], Some(&["part 0"])));
    assert_eq!(shown(&back), ["part 1"]);
}

#[test]
fn an_extension_that_is_no_object_is_replaced() {
    for odd in [json!("hidden"), json!(1), json!(true), json!([]), Value::Null] {
        let mut maker = Maker::new();
        let mesh = maker.quad("a");
        maker.node(json!({ "name": "a", "mesh": mesh, "extensions": { "KHR_node_visibility": odd } }));
        let (file, _) = maker.read();
        assert_eq!(shown(&file), ["a"]);
        let hidden = write(&file, &file.character, &[], Some(&["a"]));
        assert!(shown(&read(&hidden)).is_empty(), "{odd}");
    }
}

#[test]
fn hidden_parts_that_are_written_visibly_are_named() {
    let (file, _) = zoo().read();
    let names = ["Hair", "Hat"].map(str::to_owned);
    let parts = PartChoice { left_out: names[1..].iter().cloned().collect(), hidden: Some(names.into()) };
    let options = GlbOptions { parts, ..GlbOptions::default() };
    // A character with other faces is written as a file of its own.
    let other = file.character.with_faces(|face| face > 0).unwrap();
    for (host, character) in [(file.host.as_deref(), &other), (None, &file.character)] {
        let mut warnings = Warnings::default();
        write_glb_hosted(host, character, &options, &mut warnings).unwrap();
        let said: Vec<&String> =
            warnings.messages.iter().filter(|message| message.contains("written visibly")).collect();
        assert!(said.len() == 1 && said[0].contains("Hair") && !said[0].contains("Hat"), "{said:?}");
    }
}

#[test]
fn what_is_left_out_is_gone_and_the_rest_is_as_it_was() {
    let mut maker = zoo();
    let unused = maker.floats(&vec![1.0; 3000], "VEC3");
    let hair = maker.root["meshes"][1]["primitives"][0]["attributes"].as_object_mut().unwrap();
    // A large attribute, to see that its bytes go.
    hair.insert("_LARGE".into(), json!(unused));
    let (file, bytes) = maker.read();
    let mut now = file.character.clone();
    let all = parts(&file);
    let of = |name: &str| -> Vec<u32> {
        let faces = now.mesh.faces().iter().enumerate().filter(|(face, _)| all.name_of(*face) == Some(name));
        let mut vertices: Vec<u32> = faces.flat_map(|(_, face)| *face).collect();
        vertices.sort_unstable();
        vertices.dedup();
        vertices
    };
    let (hair, hat) = (of("Hair"), of("Hat"));
    let vertices = [hair.clone(), hat.clone()].concat();
    let weights = vertices.iter().map(|_| 1.0).collect();
    now.handles = vec![Handle { name: "head".into(), vertices, weights, ..Handle::default() }];
    let without = write(&file, &now, &["Hair"], None);
    assert!(without.len() + 11_000 < bytes.len(), "{} {}", without.len(), bytes.len());
    let back = read(&without);
    assert_eq!(shown(&back), ["Body", "Hat"]);
    let (old, new) = (json_of(&bytes), json_of(&without));
    for key in ["materials", "cameras", "skins", "asset", "scenes", "extras"] {
        assert_eq!(old[key], new[key], "{key}");
    }
    assert_eq!(node(&old, "Hat"), node(&new, "Hat"));
    assert!(node(&new, "Hair").get("mesh").is_none() && node(&new, "Hair")["extras"] == json!({ "x": 7 }));
    assert_eq!(old["nodes"].as_array().unwrap().len(), new["nodes"].as_array().unwrap().len());
    let clip = |c: &Character| evaluate(c, c.clips.first(), 0.7);
    let (before, after) = (clip(&file.character), clip(&back.character));
    let kept: Vec<_> =
        (0..before.len()).filter(|v| !hair.contains(&(*v as u32))).map(|v| before[v]).collect();
    close(&kept, &after, 1e-9);
    // The handle keeps the hat, by the hat's new numbers.
    let head = &back.character.handles[0];
    let place = |c: &Character, v: u32| c.mesh.positions()[v as usize];
    assert_eq!(
        head.vertices.iter().map(|&v| place(&back.character, v)).collect::<Vec<_>>(),
        hat.iter().map(|&v| place(&file.character, v)).collect::<Vec<_>>()
    );
    // Without a file to write into, the same faces are written.
    let bare = GltfFile { host: None, ..read(&bytes) };
    assert_eq!(bare.character.mesh.n_faces(), file.character.mesh.n_faces());
}

#[test]
fn primitives_of_one_mesh_are_parts_by_their_materials() {
    let mut maker = Maker::new();
    let face = maker.quad("face");
    let more = maker.bytes(&[1, 2, 3], 5121, "SCALAR", 3);
    for name in ["skin", "eyes"] {
        maker.add("materials", json!({ "name": name }));
    }
    let mut second = maker.root["meshes"][face]["primitives"][0].clone();
    second["indices"] = json!(more);
    second["material"] = json!(1);
    maker.root["meshes"][face]["primitives"][0]["material"] = json!(0);
    maker.root["meshes"][face]["primitives"].as_array_mut().unwrap().push(second);
    maker.node(json!({ "name": "Face", "mesh": face }));
    maker.node(json!({ "name": "Twin", "mesh": face }));
    let (file, _) = maker.read();
    assert_eq!(shown(&file), ["Face/skin", "Face/eyes", "Twin/skin", "Twin/eyes"]);
    assert_eq!(parts(&file).find("twin"), ["Twin/skin", "Twin/eyes"]);
    let back = read(&write(&file, &file.character, &["Face/eyes"], None));
    assert_eq!(shown(&back), ["Face", "Twin/skin", "Twin/eyes"]);
    assert_eq!(back.character.mesh.n_faces(), 2 + 3);
}

/// What is kept, but neither drawn nor moved here, is said on opening; what another file cannot hold, on losing it.
#[test]
fn instances_and_pointers_are_kept_and_named() {
    let mut maker = zoo();
    let places = maker.floats(&[0.0, 0.0, 0.0, 2.0, 0.0, 0.0], "VEC3");
    let copies = json!({ "EXT_mesh_gpu_instancing": { "attributes": { "TRANSLATION": places } } });
    let hat =
        maker.root["nodes"].as_array_mut().unwrap().iter_mut().find(|node| node["name"] == "Hat").unwrap();
    hat["extensions"] = copies.clone();
    let (times, values) = (maker.floats(&[0.0, 1.0], "SCALAR"), maker.floats(&[0.1, 0.9], "SCALAR"));
    let pointer = json!({ "KHR_animation_pointer": { "pointer": "/materials/0/pbrMetallicRoughness/roughnessFactor" } });
    let channel = json!({ "sampler": 0, "target": { "path": "pointer", "extensions": pointer } });
    let sampler = json!({ "input": times, "output": values });
    maker.add("animations", json!({ "name": "shine", "channels": [channel], "samplers": [sampler] }));
    let bytes = maker.glb();
    let mut warnings = Warnings::default();
    let file = read_gltf_with_host(&bytes, &no_side_files, "x.glb", &mut warnings).unwrap();
    let said = warnings.messages.join("\n");
    assert!(
        said.contains("EXT_mesh_gpu_instancing: 1 ") && said.contains("KHR_animation_pointer: 1 "),
        "{said}"
    );
    assert!(!said.contains("left out"), "{said}");
    let mut now = file.character.clone();
    now.clips.push(super::turning(0));
    let again = json_of(&write(&file, &now, &[], None));
    assert_eq!(node(&again, "Hat")["extensions"], copies);
    assert!(
        again["animations"]
            .as_array()
            .unwrap()
            .contains(&json_of(&bytes)["animations"].as_array().unwrap().last().unwrap().clone())
    );
    let mut lost = Warnings::default();
    file.host.unwrap().warn_lost(&mut lost);
    let said = lost.messages.join("\n");
    assert!(
        said.contains("extension EXT_mesh_gpu_instancing")
            && said.contains("extension KHR_animation_pointer"),
        "{said}"
    );
}
