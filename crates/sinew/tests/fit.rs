//! Skins fitted to outside sequences: ground truth, hard meshes, and other people's players of the result.

use crate::support::{data, tools, workspace};
use glam::{DVec3, Vec3};
use sinew::{
    formats::{
        SequenceFolder,
        gltf::{GlbOptions, read_gltf, write_glb},
        no_side_files,
    },
    geom::{
        Character, MeshSequence, Surface, Warnings,
        sample::{Sample, build_sequence},
    },
    skin::{
        BoneKind, ExportParams, FitParams, FittedSkin, SkinErrors, SkinFitter, add_eigenskin,
        build_character, no_progress,
    },
};
use std::{ops::ControlFlow, path::Path, process::Command};

fn load(path: &Path) -> MeshSequence {
    let mut warnings = Warnings::default();
    let folder = SequenceFolder::open(path, &mut warnings).unwrap();
    folder.read_all(24.0, &mut warnings, &mut |_| ControlFlow::Continue(())).unwrap().unwrap()
}

fn fit(sequence: &MeshSequence, params: &FitParams) -> (FittedSkin, SkinErrors) {
    let mut source = sequence;
    let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
    let skin = fitter.fit(params, &no_progress).unwrap().skin;
    let errors = fitter.measure(&skin).unwrap();
    (skin, errors)
}

/// Meshes that were skinned by known bones, with up to nine influences per vertex.
#[test]
fn ground_truth_is_recovered() {
    let Some(data) = data() else { return };
    for (name, bones) in [("wolf", 21), ("cylinder", 4)] {
        let sequence = load(&data.join("sequences/gt-skinning").join(name));
        let params =
            FitParams { bones, influences: 8, rounds: 60, correct_rest: false, ..FitParams::default() };
        let (skin, errors) = fit(&sequence, &params);
        println!("{name}: {:.5} %", errors.e_rms_diag1);
        assert!(errors.e_rms_diag1 <= 0.01, "{name}: {}", errors.e_rms_diag1);
        assert_eq!(skin.n_used_bones(), bones);
    }
}

/// A flat rest pose and 41 loose parts, on which other tools return fewer bones than asked for. Distortions of affine and of
/// rigid bones, measured 2.17 % and 2.91 %, 0.0230 % and 0.0527 %, with a tenth of room.
#[test]
fn every_bone_asked_for_is_there() {
    let Some(data) = data() else { return };
    for (name, most) in [("tablecloth", [2.4, 3.2]), ("chickenCrossing", [0.0255, 0.058])] {
        let whole = load(&data.join("sequences").join(name));
        let frames: Vec<Vec<Vec3>> = whole.frames().iter().step_by(4).cloned().collect();
        let sequence = MeshSequence::new(whole.rest().clone(), frames, 24.0).unwrap();
        let distortions = [BoneKind::Affine, BoneKind::Rigid].map(|transforms| {
            let params = FitParams { bones: 50, transforms, rounds: 8, ..FitParams::default() };
            let (skin, errors) = fit(&sequence, &params);
            assert_eq!(skin.n_used_bones(), 50, "{name}");
            errors.de
        });
        let [affine, rigid] = distortions;
        assert!(affine < most[0] && rigid < most[1], "{name}: {distortions:?}");
        assert!(affine < rigid, "{name}: every rigid bone is an affine one; {distortions:?}");
    }
}

/// Errors on horse-gallop, loosely, so that a change for the worse is seen: py-dem-bones reaches 0.192 % at its best.
#[test]
fn a_horse_gallops_on_twenty_bones() {
    let Some(data) = data() else { return };
    let sequence = load(&data.join("sequences/horse-gallop"));
    for (transforms, correct_rest, limit) in [(BoneKind::Affine, true, 0.075), (BoneKind::Rigid, false, 0.15)]
    {
        let params = FitParams { bones: 20, transforms, correct_rest, ..FitParams::default() };
        let (_, errors) = fit(&sequence, &params);
        println!("{} {correct_rest}: {:.4} %", transforms.name(), errors.e_rms_diag1);
        assert!(errors.e_rms_diag1 < limit, "{transforms:?}: {}", errors.e_rms_diag1);
    }
}

/// A fitted skin as a file, in all the ways it can be written.
fn written(sequence: &MeshSequence, transforms: BoneKind, quantize: bool, eigenskin: usize) -> Vec<u8> {
    let mut source = sequence;
    let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
    let params = FitParams { bones: 8, transforms, rounds: 6, ..FitParams::default() };
    let skin = fitter.fit(&params, &no_progress).unwrap().skin;
    let tolerance = 1e-4 * sequence.rest().diagonal();
    let export = ExportParams { fps: 24.0, tolerance, clips: Vec::new(), name: "flag".into(), flat: false };
    let mut warnings = Warnings::default();
    let (mut character, _) =
        build_character(&skin, sequence.rest(), &Surface::default(), &export, &mut warnings).unwrap();
    if eigenskin > 0 {
        add_eigenskin(&mut character, &fitter.eigenskin(&skin, eigenskin).unwrap(), &export).unwrap();
    }
    let bytes =
        write_glb(&character, &GlbOptions { quantize, ..GlbOptions::default() }, &mut warnings).unwrap();
    assert!(warnings.messages.is_empty(), "{warnings:?}");
    bytes
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}: {said}");
    said
}

/// Largest distance of a judge's vertices from ours, in diagonals.
fn error(character: &Character, times: &[f32], out: &Path) -> f64 {
    let bytes = std::fs::read(out).unwrap();
    let floats: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let theirs: Vec<Vec3> = floats.as_chunks::<3>().0.iter().map(|p| Vec3::from_array(*p)).collect();
    let n = character.mesh.n_vertices();
    assert_eq!(theirs.len(), n * times.len());
    let mut worst: f64 = 0.0;
    for (time, theirs) in times.iter().zip(theirs.chunks_exact(n)) {
        let ours = character.positions_at(character.clips.first(), *time).unwrap();
        let far = ours.iter().zip(theirs).map(|(a, b)| f64::from(a.distance(*b)));
        worst = far.fold(worst, f64::max);
    }
    worst / character.mesh.diagonal()
}

/// The Khronos validator, three.js and Blender: joint chains of affine bones, rigid bones, 16 bits, morph targets.
#[test]
fn fitted_skins_play_in_other_programs() {
    let Some(tools) = tools() else { return };
    let sequence = {
        let whole = build_sequence(Sample::Flag, 1000, &mut |_| ControlFlow::Continue(())).unwrap();
        MeshSequence::new(whole.rest().clone(), whole.frames()[..24].to_vec(), 24.0).unwrap()
    };
    let folder = std::env::temp_dir().join(format!("sinew-fit-judges-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let script = |name: &str| workspace().join("tests/judges").join(name);
    let times: Vec<f32> = (0..24).step_by(5).map(|frame| (f64::from(frame) / 24.0) as f32).collect();
    let variants = [
        ("affine", BoneKind::Affine, false, 0),
        ("affine-quantized", BoneKind::Affine, true, 0),
        ("rigid", BoneKind::Rigid, false, 0),
        ("eigen", BoneKind::Rigid, false, 3),
    ];
    let (mut three, mut blender, mut characters) = (Vec::new(), Vec::new(), Vec::new());
    for (name, transforms, quantize, eigenskin) in variants {
        let file = folder.join(format!("{name}.glb"));
        let bytes = written(&sequence, transforms, quantize, eigenskin);
        std::fs::write(&file, &bytes).unwrap();
        run(Command::new("node").arg(script("validate.mjs")).arg(&file));
        let character = read_gltf(&bytes, &no_side_files, name, &mut Warnings::default()).unwrap().character;
        let job = |clip: serde_json::Value, out: &str| serde_json::json!({ "file": file, "clip": clip, "times": times, "out": folder.join(format!("{name}.{out}")) });
        three.push(job(0.into(), "three"));
        blender.push(job("flag".into(), "blender"));
        characters.push((name, character));
    }
    let jobs = |name: &str, jobs: Vec<serde_json::Value>| {
        let path = folder.join(name);
        std::fs::write(&path, serde_json::Value::from(jobs).to_string()).unwrap();
        path
    };
    run(Command::new("node").arg(script("play.mjs")).arg(jobs("three.json", three)));
    run(Command::new(tools.join("bpy/bin/python"))
        .arg(script("blender.py"))
        .arg(jobs("blender.json", blender)));
    for (name, character) in &characters {
        let [three, blender] = ["three", "blender"]
            .map(|judge| error(character, &times, &folder.join(format!("{name}.{judge}"))));
        println!("{name}: three.js {three:.1e}, Blender {blender:.1e}");
        assert!(three < 1e-5 && blender < 1e-4, "{name}: three.js {three:.1e}, Blender {blender:.1e}");
        // And what they play is the flag.
        let played: Vec<DVec3> = character
            .positions_at(character.clips.first(), times[2])
            .unwrap()
            .iter()
            .map(|p| p.as_dvec3())
            .collect();
        let off = played
            .iter()
            .zip(&sequence.frames()[10])
            .map(|(a, b)| a.distance(b.as_dvec3()))
            .fold(0.0, f64::max);
        assert!(off < 0.05 * sequence.rest().diagonal(), "{name}: {off}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
