//! `sinew info`: what is in a file, and its defects.

use crate::console::{Console, Printed};
use clap::Args;
use serde_json::{Map, Value, json};
use sinew::{
    formats::{BvhFile, Content, GltfFile, SequenceFolder, gltf, read_any},
    geom::{BodyRecording, Character, Mesh, RawMesh, Warnings, measure},
    session::describe_doubts,
};
use std::path::Path;
use std::path::PathBuf;

/// Show what a file holds, and what is wrong with it
#[derive(Args)]
pub struct InfoArgs {
    /// Meshes (obj, ply, stl, off, mesh), characters (glb, gltf, vrm, fbx, usd), caches (abc, and pc2 and mdd beside
    /// their mesh), motions (bvh, mvnx, vrma, fbx), recordings (txt, json), or folders of numbered meshes
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

pub fn run(args: &InfoArgs, console: &Console) -> anyhow::Result<()> {
    let mut reports = Vec::new();
    let mut failed = Vec::new();
    for path in &args.files {
        let mut warnings = Warnings::default();
        let progress = console.progress(&format!("reading {}", path.display()));
        let described = describe(path, &mut warnings);
        drop(progress);
        match described {
            Ok(mut report) => {
                report.insert("warnings".into(), json!(warnings.messages));
                reports.push(report);
            }
            Err(error) => failed.push(error),
        }
    }
    let texts: Vec<String> = failed.iter().map(|error| format!("{error:#}")).collect();
    let mut value = match (args.files.len(), reports.len()) {
        (1, 1) => Value::Object(reports[0].clone()),
        _ => json!({ "files": reports }),
    };
    if failed.is_empty() || !reports.is_empty() {
        // Every file gets its say: what could be read is shown, what could not is the error.
        if !texts.is_empty() {
            value["error"] = json!(texts.join("\n"));
        }
        console.result(&value, || reports.iter().map(as_text).collect::<Vec<_>>().join("\n"))?;
    }
    match (failed.is_empty(), reports.is_empty()) {
        (true, _) => Ok(()),
        (false, true) => anyhow::bail!(texts.join("\n")),
        (false, false) => Err(Printed(texts.join("\n")).into()),
    }
}

type Report = Map<String, Value>;

fn describe(path: &Path, warnings: &mut Warnings) -> anyhow::Result<Report> {
    let content = read_any(path, warnings)?;
    let mut report = Map::new();
    report.insert("file".into(), json!(path.display().to_string()));
    match &content {
        Content::Model(model) => {
            add(&mut report, json!({ "kind": "mesh" }));
            describe_mesh(&mut report, &model.raw, &model.character.mesh);
            describe_character(&mut report, &model.character);
            describe_parts(&mut report, None, &model.character);
        }
        Content::Gltf(file) => describe_gltf(&mut report, file),
        Content::Bvh(file) => describe_bvh(&mut report, file),
        Content::Recording(recording) => describe_recording(&mut report, recording),
        Content::Sequence(folder) => describe_sequence(&mut report, folder, warnings)?,
    }
    hint(&report, warnings);
    let character = match &content {
        Content::Model(model) => Some(&model.character),
        Content::Gltf(file) => Some(&file.character),
        _ => None,
    };
    character.and_then(describe_doubts).into_iter().for_each(|doubt| warnings.push(doubt));
    Ok(report)
}

fn add(report: &mut Report, fields: Value) {
    if let Value::Object(fields) = fields {
        report.extend(fields);
    }
}

fn describe_mesh(report: &mut Report, raw: &RawMesh, mesh: &Mesh) {
    let d = raw.defects();
    let [low, high] = mesh.bounds();
    let closed = d.boundary_edges == 0 && d.non_manifold_edges == 0 && raw.n_faces() > 0;
    add(
        report,
        json!({
            "vertices": raw.positions().len(),
            "faces": raw.n_faces(),
            "triangles": mesh.n_faces(),
            "components": d.components,
            "closed": closed,
            "boundary_edges": d.boundary_edges,
            "non_manifold_edges": d.non_manifold_edges,
            "non_manifold_vertices": d.non_manifold_vertices,
            "inconsistent_edges": d.inconsistent_edges,
            "unreferenced_vertices": d.unreferenced_vertices,
            "coincident_vertices": d.coincident_vertices,
            "duplicate_faces": d.duplicate_faces,
            "degenerate_faces": d.degenerate_faces,
            "tiny_faces": d.tiny_faces,
            "non_finite_vertices": d.non_finite_vertices,
            "euler_characteristic": d.euler_characteristic,
            "bounds": [low.to_array(), high.to_array()],
            "diagonal": mesh.diagonal(),
            "area": measure::compute_area(mesh),
        }),
    );
    if closed {
        report.insert("volume".into(), json!(measure::compute_volume(mesh)));
    }
}

fn describe_character(report: &mut Report, character: &Character) {
    let rig = character.rig.as_ref();
    let clips: Vec<Value> = character
        .clips
        .iter()
        .map(|clip| json!({ "name": clip.name, "duration_secs": clip.duration_secs() }))
        .collect();
    let materials: Vec<&str> = character.surface.materials.iter().map(|m| m.name.as_str()).collect();
    let handles: Vec<&str> = character.handles.iter().map(|h| h.name.as_str()).collect();
    add(
        report,
        json!({
            "joints": rig.map_or(0, |rig| rig.n_joints()),
            "clips": clips,
            "morphs": character.morphs.len(),
            "materials": materials,
            "textured": character.surface.uvs.is_some(),
            "handles": handles,
        }),
    );
    if let Some(skin) = &character.skin {
        report.insert("influences".into(), json!(skin.influences()));
    }
    if let Some(body) = super::body::describe(character) {
        report.insert("body".into(), body);
    }
    if let Some(rig) = rig {
        let n_dofs: usize = rig.joints().iter().map(|joint| joint.dofs.len()).sum();
        report.insert("degrees_of_freedom".into(), json!(n_dofs));
        let names: Vec<&str> = rig.joints().iter().map(|joint| joint.name.as_str()).collect();
        report.insert("joint_names".into(), json!(names));
    }
}

/// Vertices and faces are counted as the file holds them, each mesh once; defects on the scene as shown.
fn describe_gltf(report: &mut Report, file: &GltfFile) {
    let mesh = &file.character.mesh;
    let moves = !file.character.clips.is_empty();
    let kind = match (mesh.n_faces(), &file.character.rig) {
        (0, _) if moves => "motion",
        (_, Some(_)) => "character",
        _ => "mesh",
    };
    add(report, json!({ "kind": kind }));
    describe_mesh(report, &RawMesh::from_mesh(mesh), mesh);
    describe_character(report, &file.character);
    add(
        report,
        json!({
            "vertices": file.info.n_vertices,
            "faces": file.info.n_faces,
            "instances": file.info.n_instances,
            "skins": file.info.skin_joints,
            "generator": file.info.generator,
        }),
    );
    if let Some(avatar) = &file.info.avatar {
        describe_avatar(report, avatar);
    }
    describe_parts(report, file.host.as_deref(), &file.character);
    let n_nodes = file.character.rig.as_ref().map_or(0, |rig| rig.n_joints());
    add(report, json!({ "joints": n_joints(file), "nodes": n_nodes }));
}

/// The person in a VRM file, and what the licence says.
fn describe_avatar(report: &mut Report, avatar: &gltf::Avatar) {
    let may = |is_allowed: Option<bool>| match is_allowed {
        Some(true) => "allowed",
        Some(false) => "prohibited",
        None => "not said",
    };
    let expressions = avatar.expressions.iter().map(|(name, n)| format!("{name} ({n} morph targets)"));
    let terms = avatar.terms.iter().map(|(name, value)| format!("{name}: {value}"));
    add(
        report,
        json!({
            "vrm_version": avatar.version,
            "humanoid_bones": avatar.bones.len(),
            "expressions": expressions.collect::<Vec<_>>(),
            "springs": avatar.n_springs,
        }),
    );
    // Motions have no terms.
    if avatar.terms.is_empty() && avatar.authors.is_empty() {
        return;
    }
    add(
        report,
        json!({
            "avatar": avatar.title,
            "authors": avatar.authors,
            "redistribution": may(avatar.may_redistribute),
            "modification": may(avatar.may_modify),
            "terms": terms.collect::<Vec<_>>(),
        }),
    );
}

/// The parts of the surface that `convert` takes.
fn describe_parts(report: &mut Report, host: Option<&gltf::Host>, character: &Character) {
    let parts = gltf::SurfaceParts::of(host, character).parts;
    let name = |part: &gltf::SurfacePart| part.name.clone();
    let all: Vec<String> = parts.iter().map(name).collect();
    let hidden: Vec<String> = parts.iter().filter(|part| !part.is_visible).map(name).collect();
    add(report, json!({ "parts": all, "hidden_parts": hidden }));
}

/// Joints that move the surface; without a surface, those of the largest skin, or all that a clip could move.
fn n_joints(file: &GltfFile) -> usize {
    let slots = file.character.skin.iter().flat_map(|skin| &skin.slots);
    let mut joints: Vec<usize> = slots.map(|slot| slot.joint).collect();
    joints.sort_unstable();
    joints.dedup();
    let in_rig = file.character.rig.as_ref().map_or(0, |rig| rig.n_joints());
    match joints.len() {
        0 => file.info.skin_joints.iter().copied().max().unwrap_or(in_rig),
        n => n,
    }
}

fn describe_bvh(report: &mut Report, file: &BvhFile) {
    add(report, json!({ "kind": "motion" }));
    describe_mesh(report, &RawMesh::default(), &Mesh::default());
    describe_character(report, &file.character);
    let rig_joints = file.character.rig.as_ref().map_or(0, |rig| rig.n_joints());
    add(
        report,
        json!({
            "joints": rig_joints - file.n_end_sites,
            "end_sites": file.n_end_sites,
            "frames": file.n_frames,
            "fps": 1.0 / file.frame_secs,
        }),
    );
}

fn describe_recording(report: &mut Report, recording: &BodyRecording) {
    let frames = &recording.frames;
    add(report, json!({ "kind": "recording" }));
    describe_mesh(report, &RawMesh::default(), &Mesh::default());
    let tracked = |f: &&sinew::geom::BodyFrame| f.confidence.iter().all(|&c| c > 0.0);
    add(
        report,
        json!({
            "layout": format!("{:?}", recording.layout),
            "joints": recording.layout.names().len(),
            "frames": frames.len(),
            "fully_tracked_frames": frames.iter().filter(tracked).count(),
            "clips": [],
            "duration_secs": frames.last().map_or(0.0, |frame| frame.time_secs),
        }),
    );
}

fn describe_sequence(
    report: &mut Report,
    folder: &SequenceFolder,
    warnings: &mut Warnings,
) -> anyhow::Result<()> {
    let rest = folder.rest();
    add(report, json!({ "kind": "sequence", "frames": folder.frames().len() }));
    describe_mesh(report, &RawMesh::from_mesh(rest), rest);
    let diagonal = rest.diagonal().max(f64::MIN_POSITIVE);
    let mut farthest = 0.0f64;
    for frame in 0..folder.frames().len() {
        let positions = folder.read_frame(frame, warnings)?;
        let moved = positions.iter().zip(rest.positions()).map(|(p, r)| p.as_dvec3().distance(*r));
        farthest = moved.fold(farthest, f64::max);
    }
    add(report, json!({ "joints": 0, "clips": [], "largest_motion": farthest / diagonal }));
    Ok(())
}

/// What a user with these defects will want to do.
fn hint(report: &Report, warnings: &mut Warnings) {
    let n = |key: &str| report.get(key).and_then(Value::as_u64).unwrap_or(0);
    let bad =
        n("non_manifold_edges") + n("non_manifold_vertices") + n("inconsistent_edges") + n("duplicate_faces");
    let soup = n("components") > 1 && n("coincident_vertices") * 3 > n("vertices");
    let flat = n("degenerate_faces") - n("tiny_faces");
    if report.get("kind").is_some_and(|kind| kind != "sequence") && n("boundary_edges") > 0 {
        warnings.push(format!("the surface is open, with {} boundary edges", n("boundary_edges")));
    }
    if bad + flat > 0 || soup {
        warnings.push("the mesh has defects; `sinew convert --repair IN OUT` repairs them");
    }
}

fn as_text(report: &Report) -> String {
    let mut out = String::new();
    let no_mesh = report.get("vertices").and_then(Value::as_u64) == Some(0);
    for (key, value) in report {
        if no_mesh && OF_MESHES.contains(&key.as_str()) {
            continue;
        }
        let shown = match value {
            Value::Array(list) if list.is_empty() => continue,
            Value::Array(list) if LISTS.contains(&key.as_str()) || key.ends_with("parts") => {
                list.iter().map(one_line).collect::<Vec<_>>().join(&format!("\n{:24}", ""))
            }
            Value::Null => continue,
            body if key == "body" => super::body::as_text(body),
            Value::Number(number) if number.as_u64() == Some(0) && !ALWAYS.contains(&key.as_str()) => {
                continue;
            }
            other => one_line(other),
        };
        out += &format!("{:<24}{shown}\n", key.replace('_', " "));
    }
    out
}

/// Lists with one entry per line.
const LISTS: [&str; 4] = ["warnings", "clips", "terms", "expressions"];

/// What is not reported of a file without a mesh.
const OF_MESHES: [&str; 7] = ["vertices", "faces", "closed", "bounds", "diagonal", "area", "textured"];

/// Counts that are reported even when they are zero.
const ALWAYS: [&str; 3] = ["vertices", "faces", "joints"];

fn one_line(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(n) if n.is_f64() => format!("{:.6}", n.as_f64().unwrap_or_default()),
        Value::Array(list) => list.iter().map(one_line).collect::<Vec<_>>().join(" "),
        Value::Object(map) => match (map.get("name"), map.get("duration_secs")) {
            (Some(name), Some(secs)) => {
                format!("{} ({:.2} s)", one_line(name), secs.as_f64().unwrap_or_default())
            }
            _ => value.to_string(),
        },
        other => other.to_string(),
    }
}
