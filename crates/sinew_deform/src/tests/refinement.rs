//! Iterations at full resolution make a posed surface more rigid, and change nothing that is rigid already.

use super::{bar, bent, solve};
use crate::{
    DeformError, EditParams, FINE_ITERATIONS, HandleMotion, HandlePose, HandleSet, Method, SurfaceEditor,
    SurfaceRefiner, progress::no_progress, quality::measure_quality,
};
use glam::{DQuat, DVec3};
use sinew_geom::{Mesh, Warnings};
use std::{ops::ControlFlow, sync::Mutex};

fn editor(mesh: &Mesh, handles: &HandleSet, method: Method, fine_iterations: usize) -> SurfaceEditor {
    let mut params = EditParams { method, ..EditParams::default() };
    params.guided.fine_iterations = fine_iterations;
    SurfaceEditor::new(mesh, handles, &params, &mut Warnings::default()).unwrap()
}

#[test]
fn refining_makes_the_surface_more_rigid_and_keeps_its_handles() {
    let (mesh, handles) = bar(6000);
    let pose = bent(&handles);
    let posed = solve(&mesh, &handles, Method::Guided, &pose);
    let refiner =
        SurfaceRefiner::new(&mesh, &handles, &editor(&mesh, &handles, Method::Guided, 1), &no_progress)
            .unwrap();
    let mut out = posed.clone();
    let before = measure_quality(&mesh, &posed);
    let mut last = (before.arap_energy, f64::INFINITY);
    for _ in 0..4 {
        let moved = refiner.refine(&pose, 1, &mut out).unwrap();
        let energy = measure_quality(&mesh, &out).arap_energy;
        assert!(energy < last.0 && moved < last.1, "{energy}, moved {moved}, before {last:?}");
        last = (energy, moved);
    }
    let after = measure_quality(&mesh, &out);
    assert!((after.volume_ratio - before.volume_ratio).abs() < 0.01, "{before:?} {after:?}");
    for v in (0..mesh.n_vertices()).filter(|&v| handles.is_rigid(v)) {
        let wanted = pose.motions()[handles.owner(v).unwrap()].position(mesh.positions()[v]);
        assert_eq!(out[v], wanted);
    }
    // From the same start it is the same, whatever was refined before.
    let mut again = posed.clone();
    refiner.refine(&HandlePose::rest(&handles), 3, &mut mesh.positions().to_vec()).unwrap();
    for _ in 0..4 {
        refiner.refine(&pose, 1, &mut again).unwrap();
    }
    assert_eq!(out, again);
}

#[test]
fn what_an_editor_lacks_is_prepared() {
    let (mesh, handles) = bar(3000);
    let pose = bent(&handles);
    let energy = |x: &[DVec3]| measure_quality(&mesh, x).arap_energy;
    let best = {
        let mut out = solve(&mesh, &handles, Method::Guided, &pose);
        let own =
            SurfaceRefiner::new(&mesh, &handles, &editor(&mesh, &handles, Method::Guided, 1), &no_progress);
        own.unwrap().refine(&pose, FINE_ITERATIONS, &mut out).unwrap();
        energy(&out)
    };
    for (method, fine_iterations) in [(Method::Guided, 0), (Method::Arap, 1), (Method::Lipman, 1)] {
        let editor = editor(&mesh, &handles, method, fine_iterations);
        let mut out = mesh.positions().to_vec();
        editor.solve(&pose, &mut out).unwrap();
        let reported = Mutex::new(Vec::new());
        let progress = |share: f64| {
            reported.lock().unwrap().push(share);
            ControlFlow::Continue(())
        };
        let refiner = SurfaceRefiner::new(&mesh, &handles, &editor, &progress).unwrap();
        let reported = reported.into_inner().unwrap();
        assert!(reported.is_sorted() && reported.last() == Some(&1.0), "{reported:?}");
        refiner.refine(&pose, FINE_ITERATIONS, &mut out).unwrap();
        assert!(energy(&out) < 1.02 * best, "{method:?}: {} {best}", energy(&out));
        let stop = |_: f64| ControlFlow::Break(());
        assert_eq!(SurfaceRefiner::new(&mesh, &handles, &editor, &stop).err(), Some(DeformError::Cancelled));
    }
}

#[test]
fn refining_leaves_a_rigid_motion_alone_and_refuses_what_does_not_fit() {
    let (mesh, handles) = bar(3000);
    let motion = HandleMotion::rigid(DQuat::from_scaled_axis(DVec3::new(0.5, -2.0, 1.0)), DVec3::X * 3.0);
    let pose = HandlePose::from_motions(&handles, vec![motion.clone(); 2]).unwrap();
    let refiner =
        SurfaceRefiner::new(&mesh, &handles, &editor(&mesh, &handles, Method::Guided, 1), &no_progress)
            .unwrap();
    let mut out: Vec<DVec3> = mesh.positions().iter().map(|p| motion.position(*p)).collect();
    assert!(refiner.refine(&pose, 3, &mut out).unwrap() < 1e-9);
    assert!(refiner.refine(&pose, 3, &mut out[1..]).is_err());
    out[5].y = f64::NAN;
    assert!(matches!(refiner.refine(&pose, 3, &mut out), Err(DeformError::NonFinite { .. })));
}
