//! Fine iterations make a posed surface more rigid, and change nothing that is rigid already.

use super::{bar, bent, solve};
use crate::{
    DeformError, HandleMotion, HandlePose, Method, SurfaceRefiner, progress::no_progress,
    quality::measure_quality,
};
use glam::{DQuat, DVec3};
use std::{ops::ControlFlow, sync::Mutex};

#[test]
fn refining_makes_the_surface_more_rigid_and_keeps_its_handles() {
    let (mesh, handles) = bar(6000);
    let pose = bent(&handles);
    let posed = solve(&mesh, &handles, Method::Guided, &pose);
    let reported = Mutex::new(Vec::new());
    let progress = |share: f64| {
        reported.lock().unwrap().push(share);
        ControlFlow::Continue(())
    };
    let refiner = SurfaceRefiner::new(&mesh, &handles, &progress).unwrap();
    let reported = reported.into_inner().unwrap();
    assert!(reported.is_sorted() && reported.last() == Some(&1.0), "{reported:?}");
    let mut out = posed.clone();
    let before = measure_quality(&mesh, &posed);
    let mut last = (before.arap_energy, f64::INFINITY);
    for _ in 0..4 {
        let moved = refiner.refine(&pose, &mut out).unwrap();
        let energy = measure_quality(&mesh, &out).arap_energy;
        assert!(energy < last.0 && moved < last.1, "{energy}, moved {moved}, before {last:?}");
        last = (energy, moved);
    }
    let after = measure_quality(&mesh, &out);
    assert!((after.volume_ratio - before.volume_ratio).abs() < 0.005, "{before:?} {after:?}");
    for v in (0..mesh.n_vertices()).filter(|&v| handles.is_rigid(v)) {
        let wanted = pose.motions()[handles.owner(v).unwrap()].position(mesh.positions()[v]);
        assert_eq!(out[v], wanted);
    }
    // From the same start it is the same, whatever was refined before.
    let mut again = posed.clone();
    refiner.refine(&HandlePose::rest(&handles), &mut mesh.positions().to_vec()).unwrap();
    for _ in 0..4 {
        refiner.refine(&pose, &mut again).unwrap();
    }
    assert_eq!(out, again);
}

#[test]
fn refining_leaves_a_rigid_motion_alone_and_refuses_what_does_not_fit() {
    let (mesh, handles) = bar(3000);
    let motion = HandleMotion::rigid(DQuat::from_scaled_axis(DVec3::new(0.5, -2.0, 1.0)), DVec3::X * 3.0);
    let pose = HandlePose::from_motions(&handles, vec![motion.clone(); 2]).unwrap();
    let refiner = SurfaceRefiner::new(&mesh, &handles, &no_progress).unwrap();
    let mut out: Vec<DVec3> = mesh.positions().iter().map(|p| motion.position(*p)).collect();
    assert!(refiner.refine(&pose, &mut out).unwrap() < 1e-9);
    assert!(refiner.refine(&pose, &mut out[1..]).is_err());
    out[5].y = f64::NAN;
    assert!(matches!(refiner.refine(&pose, &mut out), Err(DeformError::NonFinite { .. })));
    let stop = |_: f64| ControlFlow::Break(());
    assert_eq!(SurfaceRefiner::new(&mesh, &handles, &stop).err(), Some(DeformError::Cancelled));
}
