//! Surfaces that hang on handles, and regions that are blended.

use super::{Rigged, nodes_where, noise3};
use crate::{
    BakeParams, FleshError, FleshParams, HandleBaker, Lattice, LatticeParams, Material, Mode,
    SimulationParams,
};
use glam::{DQuat, DVec3, Vec3};
use sinew_geom::{
    Warnings,
    sample::{Sample, build_character},
};

/// One end of a bar is held, the other turned by a quarter and shifted: both ends are where their handles have them, what
/// lies between is bent, and once all is still nothing moves any more.
#[test]
fn a_bar_follows_its_handles() {
    let bar = build_character(Sample::Bar, 1500).unwrap().mesh;
    let [low, high] = bar.bounds();
    let long = high - low;
    let axis = (0..3).max_by(|a, b| long[*a].total_cmp(&long[*b])).unwrap();
    let within = |from: f64, to: f64| -> Vec<u32> {
        let share = |p: &DVec3| (p[axis] - low[axis]) / long[axis];
        let is_in = |v: &u32| (from..=to).contains(&share(&bar.positions()[*v as usize]));
        (0..bar.n_vertices() as u32).filter(is_in).collect()
    };
    let handles = [within(0.0, 0.2), within(0.8, 1.0)];
    let simulation = SimulationParams {
        lattice: LatticeParams { cells: 200, size: None },
        flesh: FleshParams { gravity: DVec3::ZERO, stiffness_damping: 0.05, ..FleshParams::default() },
        material: Material { young: 3e4, ..Material::default() },
        ..SimulationParams::default()
    };
    let params = BakeParams::from(simulation);
    let mut baker = HandleBaker::new(&bar, &handles, &params, &mut Warnings::default()).unwrap();
    assert!(baker.simulation().n_held() > 8);
    let middle = (low + high) / 2.0;
    let turn = |t: f64| {
        DQuat::from_axis_angle(DVec3::AXES[(axis + 1) % 3], std::f64::consts::FRAC_PI_2 * t.min(1.0))
    };
    let moved =
        |handle: usize, p: DVec3, t: f64| if handle == 1 { middle + turn(t) * (p - middle) } else { p };
    baker.advance(4.0, moved, |report| assert!(report.converged, "{report:?}")).unwrap();
    let mut at = Vec::new();
    baker.simulation().positions(&mut at).unwrap();
    for (handle, vertices) in handles.iter().enumerate() {
        let off =
            |v: &u32| at[*v as usize].as_dvec3().distance(moved(handle, bar.positions()[*v as usize], 4.0));
        let worst = vertices.iter().map(off).fold(0.0, f64::max);
        assert!(worst < 0.03 * long[axis], "handle {handle}: {worst}");
    }
    let before = at.clone();
    baker.advance(4.5, moved, |_| {}).unwrap();
    baker.simulation().positions(&mut at).unwrap();
    let creep = at.iter().zip(&before).map(|(a, b): (&Vec3, &Vec3)| a.distance(*b)).fold(0.0, f32::max);
    assert!(f64::from(creep) < 0.01 * long[axis], "{creep}");
    let refused = |handles: &[Vec<u32>]| {
        HandleBaker::new(&bar, handles, &params, &mut Warnings::default()).unwrap_err()
    };
    assert_eq!(refused(&[]), FleshError::NothingHeld);
    assert!(refused(&[vec![999_999]]).to_string().contains("vertex of a handle 999999"));
}

/// One region with everything is the linear mode in the frame of its bone, step by step; two that turn alike are the same.
#[test]
fn blended_regions() {
    let lattice = Lattice::block([4, 2, 2], 0.1, DVec3::ZERO).unwrap();
    // Each region has a bone of its own.
    let held = nodes_where(&lattice, |p| p.x < 1e-9 || p.x > 0.4 - 1e-9);
    let turn = DQuat::from_rotation_y(0.7);
    let run = |mode: Mode, regions: Vec<[(u16, f32); 4]>| {
        let params = FleshParams { mode, tolerance: 1e-9, polar_steps: 0, ..FleshParams::default() };
        let attachment = crate::Attachment { held: held.clone(), regions, ..Default::default() };
        let material = Material { young: 1e5, ..Material::default() };
        let mut rigged = Rigged {
            solver: crate::FleshSolver::new(&lattice, &[material], &attachment, &params).unwrap(),
            state: crate::FleshState::at_rest(&lattice),
            input: crate::StepInput::at_rest(&lattice, &attachment),
        };
        rigged.state.positions.iter_mut().for_each(|p| *p = turn * *p);
        rigged.state.velocities.iter_mut().enumerate().for_each(|(i, v)| *v = noise3(i));
        rigged.input.held.iter_mut().for_each(|p| *p = turn * *p);
        rigged.input.cell_rotations = vec![turn; lattice.n_cells()];
        rigged.input.region_rotations = vec![turn; 2];
        for _ in 0..20 {
            assert!(rigged.step(0.01).converged);
        }
        rigged.state.positions
    };
    let share = |p: &DVec3| ((p.x - 0.1) / 0.2).clamp(0.0, 1.0) as f32;
    let two: Vec<_> =
        lattice.nodes().iter().map(|p| [(0u16, 1.0 - share(p)), (1, share(p)), (0, 0.0), (0, 0.0)]).collect();
    let off = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let (predicted, one) = (run(Mode::Predicted, vec![]), run(Mode::Blended, vec![]));
    assert!(off(&predicted, &one) < 1e-6, "{:e}", off(&predicted, &one));
    // Regions that are solved alone know less of each other, but come near.
    let blended = run(Mode::Blended, two);
    assert!(off(&one, &blended) < 0.05 && off(&one, &blended) > 1e-6, "{:e}", off(&one, &blended));
}
