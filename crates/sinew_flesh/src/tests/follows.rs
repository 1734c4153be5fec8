//! Flesh follows its skin: the limit of stiffness, rigid motion, and what is displayed.

use crate::{BakeParams, Baker, FleshParams, LatticeParams, LatticeSource, Material, Mode, SimulationParams};
use glam::{DVec3, Vec3};
use sinew_geom::{
    Character, Clip, Warnings,
    sample::{Sample, build_character},
};

fn params(young: f64, gravity: f64) -> SimulationParams {
    SimulationParams {
        lattice: LatticeParams { cells: 400, size: None },
        material: Material { young, ..Material::default() },
        flesh: FleshParams { gravity: DVec3::new(0.0, -gravity, 0.0), ..FleshParams::default() },
        ..SimulationParams::default()
    }
}

/// Where skinning alone puts the vertices.
fn skinned(character: &Character, clip: &Clip, time: f64) -> Vec<DVec3> {
    let (rig, skin) = (character.rig.as_ref().unwrap(), character.skin.as_ref().unwrap());
    let mut world = Vec::new();
    rig.forward(&clip.sample(rig, time as f32), &mut world).unwrap();
    let matrices = skin.matrices(&world);
    let vertex = |(v, p): (usize, &DVec3)| {
        skin.vertex(v).map(|(slot, w)| matrices[slot as usize].transform_point3(*p) * f64::from(w)).sum()
    };
    character.mesh.positions().iter().enumerate().map(vertex).collect()
}

/// Largest distance of flesh from skin over a clip, in diagonals.
fn deviation(character: &Character, params: SimulationParams) -> f64 {
    let clip = &character.clips[0];
    let mut baker =
        Baker::new(character, Some(clip), &BakeParams::from(params), &mut Warnings::default()).unwrap();
    let mut worst = 0f64;
    let mut out: Vec<Vec3> = Vec::new();
    for frame in 0..12 {
        let time = f64::from(frame) / 24.0;
        baker.advance(time, |report| assert!(report.converged, "{report:?}")).unwrap();
        baker.positions(&mut out).unwrap();
        let skin = skinned(character, clip, time);
        let off = out.iter().zip(&skin).map(|(a, b)| a.as_dvec3().distance(*b));
        worst = worst.max(off.fold(0.0, f64::max));
    }
    worst / character.mesh.diagonal()
}

/// As stiffness grows flesh becomes its skin, in proportion to `1/E`.
#[test]
fn stiff_flesh_is_its_skin() {
    for sample in [Sample::Quadruped, Sample::Biped] {
        let character = build_character(sample, 1500).unwrap();
        let [soft, stiff, stiffer] = [1e6, 1e7, 1e8].map(|young| deviation(&character, params(young, 0.0)));
        assert!(
            stiff < soft / 5.0 && stiffer < stiff / 4.0,
            "{sample:?}: {soft:.2e} {stiff:.2e} {stiffer:.2e}"
        );
        assert!(stiffer < 2e-3, "{sample:?}: {stiffer:.2e}");
    }
}

/// The same on octrees, on cells that change, and on cells that are assembled.
#[test]
fn other_lattices_follow_too() {
    let character = build_character(Sample::Quadruped, 1500).unwrap();
    let octree = SimulationParams { source: LatticeSource::Octree(2), ..params(1e8, 0.0) };
    let off = deviation(&character, octree);
    assert!(off < 2e-3, "{off:.2e}");
}

/// A clip that moves a body as a whole at a constant speed leaves it in its shape, however soft it is.
#[test]
fn uniform_motion_deforms_nothing() {
    let character = build_character(Sample::Biped, 1500).unwrap();
    let rig = character.rig.as_ref().unwrap();
    let mut simulation =
        crate::Simulation::new(&character, &params(1e4, 0.0), &mut Warnings::default()).unwrap();
    let pose_at = |time: f64| {
        let mut pose = rig.rest_pose();
        pose.locals[0].translation += DVec3::new(2.0 * time, 0.0, 0.0);
        pose
    };
    simulation.begin(Some(&pose_at(0.0)), false).unwrap();
    // It starts at rest and is at the speed of its bones once that has died away.
    for step in 1..=400 {
        simulation.step(Some(&pose_at(0.01 * f64::from(step))), 0.01).unwrap();
    }
    let mut out = Vec::new();
    simulation.positions(&mut out).unwrap();
    let shift = DVec3::new(8.0, 0.0, 0.0);
    let off = out.iter().zip(character.mesh.positions()).map(|(a, b)| a.as_dvec3().distance(*b + shift));
    let worst = off.fold(0.0, f64::max) / character.mesh.diagonal();
    assert!(worst < 1e-3, "{worst:.2e}");
}

/// In every mode what is displayed at rest without gravity is the skin.
#[test]
fn at_rest_the_skin_is_displayed() {
    let character = build_character(Sample::Biped, 1500).unwrap();
    for mode in Mode::ALL {
        let mut wanted = params(3e4, 0.0);
        wanted.flesh.mode = mode;
        let mut simulation = crate::Simulation::new(&character, &wanted, &mut Warnings::default()).unwrap();
        simulation.begin(None, false).unwrap();
        (0..5).for_each(|_| _ = simulation.step(None, 0.01).unwrap());
        let mut out = Vec::new();
        simulation.positions(&mut out).unwrap();
        let off = out.iter().zip(character.mesh.positions()).map(|(a, b)| a.as_dvec3().distance(*b));
        let worst = off.fold(0.0, f64::max) / character.mesh.diagonal();
        assert!(worst < 1e-5, "{}: {worst:.2e}", mode.name());
    }
}
