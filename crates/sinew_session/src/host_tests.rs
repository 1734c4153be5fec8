//! The file that was opened is kept through commands, projects and exports.

use crate::{
    Command, Document, ExportFormat, ExportParams, ExportWhat, MotionStack, Stage, export, read_project,
    write_project,
};
use serde_json::{Value, json};
use sinew_formats::gltf::{GlbOptions, write_glb};
use sinew_geom::{
    Warnings,
    sample::{Sample, build_character},
};
use std::{ops::ControlFlow, path::Path};

fn json_of(glb: &[u8]) -> Value {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

/// A sample as another program would write it, with things that Sinew does not know.
fn foreign() -> Vec<u8> {
    let character = build_character(Sample::Biped, 1_000).unwrap();
    let glb = write_glb(&character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
    let mut root = json_of(&glb);
    root["asset"] = json!({ "version": "2.0", "generator": "Another program", "copyright": "me" });
    root["cameras"] = json!([{ "type": "perspective", "perspective": { "yfov": 1.0, "znear": 0.1 } }]);
    root["materials"][0]["emissiveFactor"] = json!([0.5, 0.0, 0.0]);
    root["extensions"]["X_mine"] = json!({ "nodes": [1, 2] });
    root["extensionsUsed"].as_array_mut().unwrap().push(json!("X_mine"));
    let start = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize + 20;
    let mut text = root.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut out = b"glTF".to_vec();
    let total = 20 + text.len() + glb.len() - start;
    [2, total as u32, text.len() as u32].iter().for_each(|word| out.extend(word.to_le_bytes()));
    out.extend(b"JSON");
    out.extend(text);
    out.extend(&glb[start..]);
    out
}

fn read(bytes: &[u8]) -> Document {
    read_project(bytes, Path::new("foreign.glb"), &mut Warnings::default()).unwrap()
}

fn is_whole(root: &Value) {
    let before = json_of(&foreign());
    for key in ["asset", "cameras", "materials", "nodes", "scenes"] {
        assert_eq!(root[key], before[key], "{key}");
    }
    assert_eq!(root["extensions"]["X_mine"], before["extensions"]["X_mine"]);
}

#[test]
fn a_project_of_a_foreign_file_keeps_all_of_it() {
    let mut document = read(&foreign());
    assert!(document.host.is_some());
    let rename = Command::Rename { name: "mine".into() };
    document = rename.apply(&document).unwrap();
    let mut warnings = Warnings::default();
    let first = write_project(&document, &mut warnings).unwrap();
    assert!(warnings.messages.is_empty(), "{:?}", warnings.messages);
    is_whole(&json_of(&first));
    let back = read(&first);
    assert_eq!((&back.name, &back.body, &back.handles), (&document.name, &document.body, &document.handles));
    // Saving again and again adds nothing.
    let second = write_project(&back, &mut warnings).unwrap();
    let third = write_project(&read(&second), &mut warnings).unwrap();
    assert!(second.len() == third.len(), "{} {} {}", first.len(), second.len(), third.len());
    is_whole(&json_of(&third));
}

#[test]
fn an_export_keeps_it_too_unless_the_faces_changed() {
    let document = read(&foreign());
    let params = ExportParams {
        format: ExportFormat::Glb,
        what: ExportWhat::Character,
        clip: None,
        reshaped: false,
        fps: None,
        parts: None,
        fit: None,
        influences: None,
    };
    let write = |document: &Document| {
        let mut warnings = Warnings::default();
        let go_on = |_| ControlFlow::Continue(());
        let (mut stack, mut stage) = (MotionStack::default(), Stage::default());
        let made = export(document, &params, &mut stack, &mut stage, &go_on, &mut warnings).unwrap();
        (made.bytes, warnings.messages)
    };
    let (bytes, warnings) = write(&document);
    assert!(warnings.is_empty(), "{warnings:?}");
    is_whole(&json_of(&bytes));
    // Without a face, it is a file of its own, and what is lost is reported.
    let mut cut = document;
    let mut body = (*cut.body).clone();
    let faces = body.mesh.faces()[1..].to_vec();
    body.mesh = sinew_geom::Mesh::new(body.mesh.positions().to_vec(), faces).unwrap();
    body.surface = sinew_geom::Surface { materials: body.surface.materials, ..Default::default() };
    cut.body = std::sync::Arc::new(body);
    let (bytes, warnings) = write(&cut);
    assert!(json_of(&bytes)["cameras"].is_null());
    assert!(warnings.iter().any(|w| w.contains("faces changed")), "{warnings:?}");
    assert!(warnings.iter().any(|w| w.contains("not kept") && w.contains("cameras")), "{warnings:?}");
}
