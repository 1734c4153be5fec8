//! Compressed files (Draco, meshoptimizer) and quantised ones: read as what they were made of, and kept without compression.

use crate::support::{diagonal, evaluate, files};
use glam::DVec3;
use serde_json::Value;
use sinew_formats::gltf::{
    GlbOptions, GltfFile, read_gltf, read_gltf_file, read_gltf_with_host, write_glb_hosted,
};
use sinew_formats::no_side_files;
use sinew_geom::{Character, Mesh, Warnings, query::SurfaceTree};
use sinew_outside::{data, interop};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

fn json_of(bytes: &[u8]) -> Value {
    if !bytes.starts_with(b"glTF") {
        return serde_json::from_slice(bytes).unwrap();
    }
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

fn is_compressed(json: &Value) -> bool {
    json["extensionsUsed"].to_string().contains("_compression")
}

/// Every compressed file among those of other programs.
fn compressed() -> Vec<PathBuf> {
    let Some(interop) = interop() else { return Vec::new() };
    let all = files(&interop, &["glb", "gltf", "vrm"]);
    let good = all.into_iter().filter(|path| !path.to_string_lossy().contains("_bad"));
    let found: Vec<PathBuf> =
        good.filter(|path| is_compressed(&json_of(&std::fs::read(path).unwrap()))).collect();
    assert!(found.len() >= 7, "{found:?}");
    found
}

fn read(path: &Path) -> (GltfFile, Vec<String>) {
    let mut warnings = Warnings::default();
    let file = read_gltf_file(path, &mut warnings).unwrap_or_else(|error| panic!("{error}"));
    (file, warnings.messages)
}

fn write(file: &GltfFile, character: &Character) -> Vec<u8> {
    let mut warnings = Warnings::default();
    write_glb_hosted(file.host.as_deref(), character, &GlbOptions::default(), &mut warnings).unwrap()
}

/// Positions fill the bounds that the compressed file states, within what quantisation takes, and those of the plain file are
/// those of its values, which the Khronos validator checks elsewhere.
#[test]
fn positions_fill_the_bounds_that_files_state() {
    for path in compressed() {
        let (file, warnings) = read(&path);
        let name = path.display();
        assert!(
            warnings.iter().any(|warning| warning.contains("without compression")),
            "{name}: {warnings:?}"
        );
        let host = file.host.as_deref().expect("a file of others is kept");
        let plain = host.write(&file.character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
        let (json, source) = (json_of(&plain), json_of(&std::fs::read(&path).unwrap()));
        assert!(
            !is_compressed(&json) && !json["extensionsRequired"].to_string().contains("_compression"),
            "{name}"
        );
        let primitives =
            json["meshes"].as_array().unwrap().iter().flat_map(|mesh| mesh["primitives"].as_array().unwrap());
        let positions: BTreeSet<u64> =
            primitives.filter_map(|p| p["attributes"]["POSITION"].as_u64()).collect();
        assert!(!positions.is_empty(), "{name}");
        for at in positions {
            let bounds = |json: &Value| {
                let corner =
                    |key: &str| [0, 1, 2].map(|k| json["accessors"][at as usize][key][k].as_f64().unwrap());
                [corner("min"), corner("max")]
            };
            let (found, stated) = (bounds(&json), bounds(&source));
            let size = (0..3).map(|k| stated[1][k] - stated[0][k]).fold(0.0, f64::max);
            for (found, stated) in found.iter().flatten().zip(stated.iter().flatten()) {
                assert!((found - stated).abs() <= 2e-3 * size, "{name}: accessor {at}: {found}, {stated}");
            }
        }
    }
}

/// What is written plays as what was read, also after a change of shape.
#[test]
fn compressed_files_are_written_into() {
    for path in compressed() {
        let (file, _) = read(&path);
        let name = path.display();
        let again = |bytes: &[u8]| {
            let mut warnings = Warnings::default();
            read_gltf_with_host(bytes, &no_side_files, "again.glb", &mut warnings).unwrap().character
        };
        let same = again(&write(&file, &file.character));
        let clip = file.character.clips.first();
        let time = clip.map_or(0.0, |clip| 0.4 * clip.duration_secs());
        let (before, after) =
            (evaluate(&file.character, clip, time), evaluate(&same, same.clips.first(), time));
        let size = diagonal(&before);
        assert_eq!(before.len(), after.len(), "{name}");
        let off = before.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off <= 1e-6 * size, "{name}: {off} of {size}");
        let moved: Vec<DVec3> =
            file.character.mesh.positions().iter().map(|p| *p * 1.1 + DVec3::Y * size).collect();
        let mesh = Mesh::new(moved.clone(), file.character.mesh.faces().to_vec()).unwrap();
        let surface = sinew_geom::Surface { normals: None, ..file.character.surface.clone() };
        let shown = again(&write(&file, &Character { mesh, surface, ..file.character.clone() }));
        let off = moved.iter().zip(shown.mesh.positions()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(off <= 1e-4 * size, "{name}: {off} of {size} after a change");
    }
}

/// Distance of every vertex of one surface from the other, as a share of the diagonal.
fn farthest(from: &[DVec3], to: &Mesh) -> f64 {
    let tree = SurfaceTree::new(to);
    let size = diagonal(to.positions());
    from.iter()
        .map(|p| tree.closest_point(*p).map_or(f64::INFINITY, |hit| hit.distance) / size)
        .fold(0.0, f64::max)
}

/// Compressed and plain files of the same model have the same surface at rest and in motion.
#[test]
fn compressed_models_are_those_that_were_compressed() {
    let (Some(interop), Some(data)) = (interop(), data()) else { return };
    let duck = interop.join("gltf/Duck-quantized/Duck.gltf");
    let pairs = [
        (interop.join("gltf/CesiumMan-draco/CesiumMan.gltf"), data.join("rigs/khronos/CesiumMan.glb"), 2e-3),
        (
            interop.join("gltf/BrainStem-meshopt/BrainStem.gltf"),
            data.join("rigs/khronos/BrainStem.glb"),
            2e-3,
        ),
        (interop.join("gltf/Duck-draco/Duck.gltf"), duck, 2e-3),
    ];
    for (packed, plain, tolerance) in pairs {
        if !plain.exists() {
            continue;
        }
        let ((packed_file, _), (plain_file, _)) = (read(&packed), read(&plain));
        let (a, b) = (packed_file.character, plain_file.character);
        let duration = b.clips.first().map_or(0.0, |clip| clip.duration_secs());
        for share in [0.0, 0.3, 0.7] {
            let (at_a, at_b) = (
                evaluate(&a, a.clips.first(), share * duration),
                evaluate(&b, b.clips.first(), share * duration),
            );
            let (mesh_a, mesh_b) =
                (a.mesh.with_positions(at_a.clone()).unwrap(), b.mesh.with_positions(at_b.clone()).unwrap());
            let off = farthest(&at_a, &mesh_b).max(farthest(&at_b, &mesh_a));
            println!("{} at {share}: {off:.2e}", packed.display());
            assert!(off < tolerance, "{}: {off} at {share}", packed.display());
        }
    }
}

#[test]
fn broken_streams_are_named() {
    let Some(interop) = interop() else { return };
    let bad = read_gltf_file(&interop.join("gltf_bad/Box-draco.glb"), &mut Warnings::default());
    match bad {
        Err(error) => assert!(error.to_string().contains("/meshes/0/primitives/0"), "{error}"),
        Ok(file) => assert!(file.character.mesh.n_faces() > 0),
    }
    for path in compressed() {
        let bytes = std::fs::read(&path).unwrap();
        if !bytes.starts_with(b"glTF") {
            continue;
        }
        // Damage within the binary chunk: an error with a place, or another mesh, never a panic.
        let start = 28 + u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let mut state = 1u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..100 {
            let mut broken = bytes.clone();
            for _ in 0..=random(8) {
                broken[start + random(bytes.len() - start)] = random(256) as u8;
            }
            drop(read_gltf(&broken, &no_side_files, "a.glb", &mut Warnings::default()));
        }
        let step = ((bytes.len() - start) / 60).max(1);
        for at in (start..bytes.len()).step_by(step).chain(start..(start + 40).min(bytes.len())) {
            let mut broken = bytes.clone();
            broken[at] ^= 0x5B;
            if let Err(error) = read_gltf(&broken, &no_side_files, "a.glb", &mut Warnings::default()) {
                assert!(error.to_string().starts_with("a.glb:"), "{error}");
            }
        }
    }
}
