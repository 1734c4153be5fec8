//! Surface muscles: poses from features, forces from targets, bad targets.

use crate::{
    FleshError, FleshParams, LatticeParams, SimulationParams,
    muscle::MuscleError,
    muscle_fit::{Matching, PosedBody, SurfaceParams, fit_pose, fit_surface},
};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Character, Mesh, Warnings,
    sample::{Sample, build_character},
};

fn biped() -> Character {
    build_character(Sample::Biped, 1500).unwrap()
}

fn params(cells: usize) -> SimulationParams {
    SimulationParams {
        lattice: LatticeParams { cells, size: None },
        flesh: FleshParams { gravity: DVec3::ZERO, ..FleshParams::default() },
        ..SimulationParams::default()
    }
}

fn quiet() -> Warnings {
    Warnings::default()
}

/// The mesh with its vertices elsewhere.
fn moved(mesh: &Mesh, to: impl Fn(DVec3) -> DVec3) -> Mesh {
    Mesh::new(mesh.positions().iter().map(|p| to(*p)).collect(), mesh.faces().to_vec()).unwrap()
}

/// A body whose chest is swollen: all vertices, smoothly.
fn swollen(mesh: &Mesh) -> Mesh {
    let [low, high] = mesh.bounds();
    let middle = DVec3::new(0.5 * (low.x + high.x), low.y + 0.7 * (high.y - low.y), 0.5 * (low.z + high.z));
    let size = high.y - low.y;
    moved(mesh, |p| {
        let r = p.distance(middle) / (0.2 * size);
        p + (p - middle) * (0.35 * (-r * r).exp())
    })
}

/// Known angles are found again from a few dozen vertices.
#[test]
fn a_pose_is_found_from_features() {
    let character = biped();
    let rig = character.rig.as_ref().unwrap();
    let mut pose = rig.rest_pose();
    let joint = rig
        .joints()
        .iter()
        .position(|j| j.name.to_lowercase().contains("elbow") || j.name.contains("forearm"))
        .unwrap();
    pose.locals[joint].rotation *= DQuat::from_rotation_y(0.9);
    pose.locals[0].rotation = DQuat::from_rotation_y(0.5) * pose.locals[0].rotation;
    pose.locals[0].translation += DVec3::new(0.3, 0.1, -0.2);
    let posed = character.positions_posed(&pose).unwrap();
    let target =
        Mesh::new(posed.iter().map(|p| p.as_dvec3()).collect(), character.mesh.faces().to_vec()).unwrap();
    let features: Vec<(u32, u32)> = (0..1500.min(posed.len() as u32)).step_by(11).map(|v| (v, v)).collect();
    let found = fit_pose(&character, &target, &features).unwrap();
    assert!(found.distances[1] < 1e-3 && found.distances[1] < 0.01 * found.distances[0], "{found:?}");
    let again = character.positions_posed(&found.pose).unwrap();
    let off = posed.iter().zip(&again).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 0.02, "{off}");
}

#[test]
fn features_that_fix_no_pose_are_refused() {
    let character = biped();
    let mesh = &character.mesh;
    let refused = |features: &[(u32, u32)]| fit_pose(&character, mesh, features).unwrap_err().to_string();
    assert!(refused(&[(1, 1), (2, 2)]).contains("2 features do not fix the pose"));
    assert!(refused(&[(5, 5), (5, 5), (5, 5)]).contains("on one line"));
    let n = mesh.n_vertices() as u32;
    assert!(
        refused(&[(0, 0), (n, 0), (2, 2)]).contains(&format!("feature 1 names vertex {n} of the character"))
    );
    // A vertex that no face uses.
    let mut places = mesh.positions().to_vec();
    places.push(DVec3::splat(3.0));
    let loose = Mesh::new(places, mesh.faces().to_vec()).unwrap();
    let error = fit_pose(&character, &loose, &[(0, 0), (1, 1), (2, n)]).unwrap_err().to_string();
    assert!(
        error.contains(&format!("feature 2 (vertex {n} of the target) is not on the surface")),
        "{error}"
    );
    let bare = Character { mesh: mesh.clone(), ..Character::default() };
    assert!(matches!(fit_pose(&bare, mesh, &[(0, 0)]), Err(FleshError::Muscle(MuscleError::NotHeld))));
}

/// The simulated body comes to rest near the target, by both ways of matching, and within a selection.
#[test]
fn forces_give_a_body_the_shape_of_a_target() {
    let character = biped();
    let target = swollen(&character.mesh);
    let mut posed = PosedBody::new(&character, &params(600), &mut quiet()).unwrap();
    let rest = character.rig.as_ref().unwrap().rest_pose();
    let mut reductions = Vec::new();
    for matching in [Matching::Vertices, Matching::Closest] {
        posed.set_pose(&rest).unwrap();
        let params = SurfaceParams { matching, ..SurfaceParams::default() };
        let fit = fit_surface(&mut posed, &character.mesh, &target, &params, &mut quiet()).unwrap();
        reductions.push(1.0 - fit.after.mean / fit.before.mean);
        // The same forces, from the rest pose, lead to the same shape: muscles can be driven.
        posed.set_pose(&rest).unwrap();
        posed.push(fit.forces.clone()).unwrap();
        let again = posed.positions();
        let off = again.iter().zip(target.positions()).map(|(a, b)| a.distance(*b)).sum::<f64>()
            / again.len() as f64;
        if matching == Matching::Vertices {
            assert!((off - fit.after.mean).abs() < 0.05 * fit.before.mean, "{off} {:?}", fit.after);
        }
    }
    assert!(reductions.iter().all(|r| *r > 0.8), "{reductions:?}");
    // A selection is matched, the rest is left alone.
    posed.set_pose(&rest).unwrap();
    let [low, high] = character.mesh.bounds();
    let half = 0.5 * (low.x + high.x);
    let right: Vec<u32> = (0..character.mesh.n_vertices() as u32)
        .filter(|&v| character.mesh.positions()[v as usize].x > half)
        .collect();
    let params = SurfaceParams { lasso: Some(right), ..SurfaceParams::default() };
    let fit = fit_surface(&mut posed, &character.mesh, &target, &params, &mut quiet()).unwrap();
    assert!(fit.after.mean < 0.3 * fit.before.mean);
    let none = SurfaceParams { lasso: Some(vec![]), ..SurfaceParams::default() };
    let error = fit_surface(&mut posed, &character.mesh, &target, &none, &mut quiet()).unwrap_err();
    assert!(error.to_string().contains("no vertex is selected"));
}

#[test]
fn bad_targets_are_refused_or_reported() {
    let character = biped();
    let mesh = &character.mesh;
    let mut posed = PosedBody::new(&character, &params(300), &mut quiet()).unwrap();
    let closest = SurfaceParams { matching: Matching::Closest, ..SurfaceParams::default() };
    let mut refused = |target: &Mesh, params: &SurfaceParams| {
        fit_surface(&mut posed, mesh, target, params, &mut quiet()).unwrap_err().to_string()
    };
    let fewer = Mesh::new(mesh.positions()[..100].to_vec(), vec![[0, 1, 2]]).unwrap();
    assert!(refused(&fewer, &SurfaceParams::default()).contains("they do not correspond"));
    assert!(refused(&moved(mesh, |p| p * 100.0), &closest).contains("100.000 times as large"));
    assert!(refused(&moved(mesh, |p| p * 0.01), &SurfaceParams::default()).contains("0.010 times as large"));
    assert!(refused(&moved(mesh, |p| p + DVec3::X * 50.0), &closest).contains("do not overlap"));
    let empty = Mesh::new(mesh.positions().to_vec(), vec![]).unwrap();
    assert!(refused(&empty, &closest).contains("no faces"));
    // Holes pull at nothing, and are reported.
    let [low, high] = mesh.bounds();
    let is_kept = |f: &&[u32; 3]| mesh.positions()[f[0] as usize].y < low.y + 0.8 * (high.y - low.y);
    let kept: Vec<[u32; 3]> = mesh.faces().iter().filter(is_kept).copied().collect();
    let headless = Mesh::new(mesh.positions().to_vec(), kept).unwrap();
    let mut warnings = quiet();
    let fit = fit_surface(&mut posed, mesh, &headless, &closest, &mut warnings).unwrap();
    assert!(
        fit.at_holes > 10 && warnings.messages.iter().any(|w| w.contains("rim of a hole")),
        "{warnings:?}"
    );
    let still =
        posed.positions().iter().zip(mesh.positions()).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(still < 0.05 * mesh.diagonal(), "{still}");
}
