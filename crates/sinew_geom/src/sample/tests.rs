//! Properties of every sample, at several resolutions.

use super::field::Regions;
use super::grow::is_sphere;
use super::*;
use crate::Mesh;
use glam::DVec3;
use std::collections::HashMap;

const CHARACTERS: [Sample; 5] =
    [Sample::Biped, Sample::Quadruped, Sample::Octopus, Sample::Sack, Sample::Bar];

/// Every edge twice and in opposite directions, every vertex one fan, one component, Euler characteristic 2.
fn assert_closed(mesh: &Mesh, what: &str) {
    let mut next: HashMap<(u32, u32), u32> = HashMap::new();
    for &[a, b, c] in mesh.faces() {
        for (u, v, w) in [(a, b, c), (b, c, a), (c, a, b)] {
            assert!(next.insert((u, v), w).is_none(), "{what}: edge {u} {v} is used twice in one direction");
        }
    }
    let mut degree = vec![0; mesh.n_vertices()];
    mesh.faces().as_flattened().iter().for_each(|&v| degree[v as usize] += 1);
    let mut seen = vec![false; mesh.n_vertices()];
    for &[a, b, c] in mesh.faces() {
        for (u, v) in [(a, b), (b, c), (c, a)] {
            assert!(next.contains_key(&(v, u)), "{what}: edge {u} {v} is a border");
            if !std::mem::replace(&mut seen[u as usize], true) {
                // Turn about u from face to face; one fan comes back after all of its faces.
                let (mut at, mut steps) = (v, 0);
                loop {
                    at = next[&(u, at)];
                    steps += 1;
                    if at == v {
                        break;
                    }
                }
                assert_eq!(steps, degree[u as usize], "{what}: vertex {u} has several fans");
            }
        }
    }
    assert!(seen.iter().all(|&s| s), "{what}: unused vertices");
    assert!(is_sphere(mesh.n_vertices(), mesh.faces()), "{what}: not one closed surface of genus 0");
}

fn volume(mesh: &Mesh) -> f64 {
    (0..mesh.n_faces()).map(|f| mesh.corners(f)).map(|[a, b, c]| a.dot(b.cross(c)) / 6.0).sum()
}

/// Smallest angle in degrees.
fn min_angle(mesh: &Mesh) -> f64 {
    (0..mesh.n_faces()).map(|f| remesh::min_sine(mesh.corners(f))).fold(1.0, f64::min).asin().to_degrees()
}

fn assert_skin(character: &Character, what: &str) {
    let (skin, rig) = (character.skin.as_ref().unwrap(), character.rig.as_ref().unwrap());
    assert_eq!(skin.n_vertices(), character.mesh.n_vertices());
    assert_eq!(skin.influences(), 4);
    for v in 0..skin.n_vertices() {
        let held: Vec<_> = skin.vertex(v).filter(|&(_, w)| w > 0.0).collect();
        let sum: f32 = held.iter().map(|&(_, w)| w).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{what}: vertex {v} weighs {sum}");
        let has = |side: &str| held.iter().any(|&(j, _)| rig.joints()[j as usize].name.ends_with(side));
        assert!(!(has(".L") && has(".R")), "{what}: vertex {v} follows both sides");
    }
}

fn assert_handles(character: &Character, what: &str) {
    let mut owner = vec![None; character.mesh.n_vertices()];
    assert!(character.handles.len() >= 3, "{what}");
    for handle in &character.handles {
        assert!(!handle.vertices.is_empty(), "{what}: {} is empty", handle.name);
        assert!(handle.vertices.is_sorted(), "{what}: {}", handle.name);
        for &v in &handle.vertices {
            let before = owner[v as usize].replace(&handle.name);
            assert_eq!(before, None, "{what}: {} shares vertex {v}", handle.name);
        }
        for name in &handle.secondary {
            assert!(character.handles.iter().any(|h| h.name == *name), "{what}: no handle {name}");
        }
    }
    let free = owner.iter().filter(|o| o.is_none()).count();
    assert!(free * 4 > owner.len(), "{what}: only {free} vertices are left between the handles");
}

fn assert_clips(character: &Character, what: &str) {
    assert!(!character.clips.is_empty(), "{what}");
    for track in character.clips.iter().flat_map(|clip| &clip.joints) {
        if let Some(keys) = &track.rotation {
            assert_eq!(keys.values().first(), keys.values().last(), "{what}: the clip jumps when it repeats");
            for (i, &t) in keys.times().iter().enumerate() {
                assert!((t * 30.0 - i as f32).abs() < 1e-4, "{what}: key at {t}");
            }
            assert!(
                keys.values().windows(2).all(|q| q[0].dot(q[1]) > 0.5),
                "{what}: a turn takes the long way"
            );
        }
        if let Some(keys) = &track.translation {
            assert_eq!(keys.values().first(), keys.values().last(), "{what}");
        }
    }
}

fn check(sample: Sample, n_vertices: usize) {
    let character = build_character(sample, n_vertices).unwrap();
    let what = format!("{} at {n_vertices}", sample.name());
    let (mesh, n) = (&character.mesh, character.mesh.n_vertices() as f64);
    assert!((n / n_vertices as f64 - 1.0).abs() < 0.05, "{what}: got {n}");
    assert_closed(mesh, &what);
    assert!(volume(mesh) > 0.003, "{what}: volume {}", volume(mesh));
    assert!(min_angle(mesh) > 8.0, "{what}: smallest angle {}", min_angle(mesh));
    assert!(mesh.bounds()[0].y.abs() < 0.02, "{what}: stands at {}", mesh.bounds()[0].y);
    assert_skin(&character, &what);
    assert_handles(&character, &what);
    assert_clips(&character, &what);
    assert_eq!(character.surface.face_materials.len(), mesh.n_faces());
}

#[test]
fn biped_is_sound_at_any_size() {
    for n in [1_000, 3_000, 20_000] {
        check(Sample::Biped, n);
    }
}

#[test]
fn quadruped_is_sound_at_any_size() {
    for n in [1_000, 3_000, 20_000] {
        check(Sample::Quadruped, n);
    }
}

#[test]
fn octopus_is_sound_at_any_size() {
    for n in [1_000, 3_000, 20_000] {
        check(Sample::Octopus, n);
    }
}

#[test]
fn sack_is_sound_at_any_size() {
    for n in [1_000, 3_000, 20_000] {
        check(Sample::Sack, n);
    }
}

#[test]
fn bar_is_sound_at_any_size() {
    for n in [1_000, 1_717, 3_000, 20_000] {
        check(Sample::Bar, n);
    }
}

#[test]
fn repeats_bit_for_bit_on_any_number_of_threads() {
    let build = || build_character(Sample::Sack, 2_000).unwrap();
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(build(), single.install(build));
}

#[test]
fn fields_are_symmetric_and_culling_changes_nothing() {
    let plan = biped::plan();
    let (regions, all) = (Regions::new(&plan.field), plan.field.all());
    for i in 0..4_000u32 {
        // A low-discrepancy walk through the box around the creature.
        let t = f64::from(i);
        let unit =
            DVec3::new((t * 0.819_172_5).fract(), (t * 0.671_043_6).fract(), (t * 0.549_700_5).fract());
        let p = DVec3::new(unit.x * 1.4 - 0.7, unit.y * 1.8, unit.z * 0.5 - 0.25);
        let value = plan.field.value(&all, p);
        assert_eq!(value, plan.field.value(&all, plan::flip(p)));
        assert!((value - plan.field.value(regions.at(p), p)).abs() < 1e-12, "{p}");
    }
}

#[test]
fn limits_hold_the_rest_pose() {
    for sample in CHARACTERS {
        let character = build_character(sample, 1_000).unwrap();
        for joint in character.rig.unwrap().joints() {
            assert!(!joint.dofs.is_empty(), "{}: {} cannot move", sample.name(), joint.name);
            assert!(joint.dofs.iter().all(|d| d.range[0] <= 0.0 && d.range[1] >= 0.0), "{}", joint.name);
        }
    }
}

#[test]
fn wrong_counts_and_kinds_are_refused() {
    for n in [0, 999, 1_000_001] {
        assert!(matches!(
            build_character(Sample::Biped, n),
            Err(GeomError::Parameter { name: "vertices", .. })
        ));
    }
    let wrong_kind = |error| matches!(error, GeomError::Parameter { name: "sample", .. });
    assert!(wrong_kind(build_character(Sample::Flag, 1_000).unwrap_err()));
    let bar = build_sequence(Sample::Bar, 1_000, &mut |_| ControlFlow::Continue(()));
    assert!(wrong_kind(bar.unwrap_err()));
    let stopped = build_sequence(Sample::Flag, 1_000, &mut |_| ControlFlow::Break(()));
    assert_eq!(stopped.unwrap_err(), GeomError::Cancelled);
}

#[test]
fn names_go_both_ways() {
    assert!(Sample::ALL.into_iter().all(|sample| Sample::from_name(sample.name()) == Some(sample)));
    assert_eq!(Sample::from_name("horse"), None);
}

#[test]
fn clips_stay_within_the_limits() {
    let mut broken = Vec::new();
    for sample in CHARACTERS {
        let character = build_character(sample, 1_000).unwrap();
        let rig = character.rig.unwrap();
        for clip in &character.clips {
            for frame in 0..(clip.duration_secs() * 30.0).round() as usize {
                let pose = clip.sample(&rig, frame as f32 / 30.0);
                for (joint, local) in rig.joints().iter().zip(&pose.locals) {
                    for (dof, value) in joint.dofs.iter().zip(joint.values_at(local)) {
                        let over = (dof.range[0] - value).max(value - dof.range[1]);
                        if over > 1e-3 {
                            let name =
                                format!("{} {} {} {:?}", sample.name(), clip.name, joint.name, dof.kind);
                            broken.push((name, value.to_degrees()));
                        }
                    }
                }
            }
        }
    }
    broken.dedup_by(|b, a| a.0 == b.0);
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Cloth preserves its lengths. A diagonal may grow by √2 when its cell shears flat; a few cells also stretch.
#[test]
fn cloth_stays_cloth() {
    for sample in [Sample::Tablecloth, Sample::Flag, Sample::Balloon] {
        let mut reported = 0;
        let count = &mut |_| {
            reported += 1;
            ControlFlow::Continue(())
        };
        let sequence = build_sequence(sample, 4_100, count).unwrap();
        let what = sample.name();
        assert_eq!((sequence.n_frames(), reported), (64, 63), "{what}");
        let n = sequence.rest().n_vertices() as f64;
        assert!((n / 4_100.0 - 1.0).abs() < 0.05, "{what}: {n}");
        if sample == Sample::Balloon {
            assert_closed(sequence.rest(), what);
            assert!(volume(sequence.rest()) > 0.1);
        }
        let (mut longest, mut lowest) = (0f32, 0f32);
        for frame in sequence.frames() {
            for &[a, b, c] in sequence.rest().faces() {
                for (u, v) in [(a, b), (b, c), (c, a)] {
                    let now = frame[u as usize].distance(frame[v as usize]);
                    let rest = sequence.rest().positions()[u as usize]
                        .distance(sequence.rest().positions()[v as usize]);
                    longest = longest.max(now / rest as f32);
                }
            }
            lowest = frame.iter().fold(lowest, |low, p| low.min(p.y));
        }
        assert!(longest < 1.8, "{what}: an edge is stretched {longest} times");
        assert!(lowest > -0.02, "{what}: {lowest} below the floor");
    }
}
