//! Flesh on characters and on meshes of others.

use crate::support::{data, files_below};
use glam::{DVec3, Vec3};
use sinew::{
    flesh::{BakeParams, Baker, LatticeParams, Material, SimulationParams, build_body},
    formats::read_any,
    geom::{
        Clip, Warnings,
        sample::{Sample, build_character},
    },
};

/// Every mesh of the data set gets a lattice that covers every vertex of its faces, whatever holes and parts it has.
#[test]
fn every_mesh_is_filled() {
    let Some(data) = data() else { return };
    let mut n_filled = 0;
    for path in files_below(&data.join("meshes")) {
        let Some(character) = read_any(&path, &mut Warnings::default()).ok().and_then(|c| c.into_character())
        else {
            continue;
        };
        let mesh = &character.mesh;
        let shown = path.display();
        let body = build_body(mesh, &LatticeParams { cells: 300, size: None })
            .unwrap_or_else(|e| panic!("{shown}: {e}"));
        let mut is_used = vec![false; mesh.n_vertices()];
        mesh.faces().iter().flatten().for_each(|&v| is_used[v as usize] = true);
        assert!(
            body.uncovered.iter().all(|&v| !is_used[v as usize]),
            "{shown}: {} uncovered",
            body.uncovered.len()
        );
        assert!((150..900).contains(&body.lattice.n_cells()), "{shown}: {} cells", body.lattice.n_cells());
        let mut out = vec![Vec3::ZERO; mesh.n_vertices()];
        body.embedding.evaluate(&body.lattice, body.lattice.nodes(), &mut out).unwrap();
        let off =
            out.iter().zip(mesh.positions()).map(|(a, b)| a.as_dvec3().distance(*b)).fold(0.0, f64::max);
        assert!(off < 1e-5 * mesh.diagonal() + 1e-6 * mesh.bounds()[1].length(), "{shown}: {off}");
        n_filled += 1;
    }
    assert!(n_filled >= 10, "only {n_filled} meshes were found");
}

/// A character that walks a kilometre away has the same flesh as one that stays.
#[test]
fn flesh_does_not_care_where_it_is() {
    let character = build_character(Sample::Biped, 1500).unwrap();
    let rig = character.rig.as_ref().unwrap();
    let poses = |far: DVec3| -> Vec<_> {
        let pose = |frame: u32| {
            let mut pose = character.clips[0].sample(rig, frame as f32 / 30.0);
            pose.locals[0].translation += far;
            pose
        };
        (0..10).map(pose).collect()
    };
    let bake = |far: DVec3| {
        let clip = Clip::from_poses("far", rig, &poses(far), 30.0).unwrap();
        let params = BakeParams::from(SimulationParams {
            lattice: LatticeParams { cells: 200, size: None },
            ..SimulationParams::default()
        });
        let mut baker = Baker::new(&character, Some(&clip), &params, &mut Warnings::default()).unwrap();
        baker.advance(0.3, |report| assert!(report.converged, "{report:?}")).unwrap();
        baker.state().positions.iter().map(|p| *p - far).collect::<Vec<DVec3>>()
    };
    let (here, there) = (bake(DVec3::ZERO), bake(DVec3::new(1000.0, 0.0, 500.0)));
    let off = here.iter().zip(&there).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    // Keys of clips are in single precision, which rounds a kilometre to a tenth of a millimetre.
    assert!(off < 2e-3, "{off}");
}

/// The softer flesh is, the farther it strays from stiff flesh. Measured from there and not from the skinned surface, from
/// which stiff flesh differs as well: it bends at joints, where skinning shears.
#[test]
fn stiffness_matters() {
    let character = build_character(Sample::Quadruped, 1500).unwrap();
    let clip = &character.clips[0];
    let bake = |young: f64| -> Vec<Vec<Vec3>> {
        let params = BakeParams::from(SimulationParams {
            lattice: LatticeParams { cells: 300, size: None },
            material: Material { young, ..Material::default() },
            ..SimulationParams::default()
        });
        let mut baker = Baker::new(&character, Some(clip), &params, &mut Warnings::default()).unwrap();
        let frame = |frame: u32| {
            baker.advance(f64::from(frame) / 20.0, |_| {}).unwrap();
            let mut soft = Vec::new();
            baker.positions(&mut soft).unwrap();
            soft
        };
        (1..=10).map(frame).collect()
    };
    let hard = bake(1e7);
    let stray = |young: f64| {
        let pairs = bake(young).into_iter().flatten().zip(hard.iter().flatten()).map(|(a, b)| a.distance(*b));
        pairs.sum::<f32>() / hard.iter().flatten().count() as f32
    };
    let (soft, firm, stiff) = (stray(3e3), stray(3e4), stray(3e5));
    assert!(soft > 3.0 * firm && firm > 3.0 * stiff, "{soft} {firm} {stiff}");
}
