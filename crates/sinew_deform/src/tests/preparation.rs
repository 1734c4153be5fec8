//! Preparation reports progress, can be stopped, and its cost depends on the soft pieces.

use super::{bar, farthest, handle, solve, tolerance};
use crate::{
    DeformError, EditParams, HandleMotion, HandlePose, HandleSet, Method, SurfaceEditor,
    guided::Guided,
    handled::HandledMesh,
    progress::{ProgressMeter, no_progress},
    soft::SoftSurface,
};
use glam::{DQuat, DVec3};
use sinew_geom::{
    Mesh, Warnings,
    mesh::Adjacency,
    sample::{Sample, build_character},
};
use std::{
    ops::ControlFlow,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

#[test]
fn preparation_tells_how_far_it_is() {
    let (mesh, handles) = bar(6000);
    for method in Method::ALL {
        let params = EditParams { method, ..EditParams::default() };
        let reported = Mutex::new(Vec::new());
        let progress = |share: f64| {
            reported.lock().unwrap().push(share);
            ControlFlow::Continue(())
        };
        SurfaceEditor::prepare(&mesh, &handles, &params, &mut Warnings::default(), &progress).unwrap();
        let reported = reported.into_inner().unwrap();
        assert!(reported.len() > 4 && reported.is_sorted(), "{method:?}: {reported:?}");
        assert_eq!((reported.first(), reported.last()), (Some(&0.0), Some(&1.0)), "{method:?}");
        // The parts before the end sum up to the whole.
        assert!(reported[reported.len() - 2] > 0.8, "{method:?}: {reported:?}");
    }
}

#[test]
fn preparation_can_be_stopped_anywhere() {
    let (mesh, handles) = bar(3000);
    for method in Method::ALL {
        let params = EditParams { method, ..EditParams::default() };
        for limit in [0.0, 0.3, 0.7, 1.0] {
            let n_later = AtomicUsize::new(0);
            let progress = |share: f64| {
                if share < limit {
                    return ControlFlow::Continue(());
                }
                n_later.fetch_add(1, Ordering::Relaxed);
                ControlFlow::Break(())
            };
            let stopped =
                SurfaceEditor::prepare(&mesh, &handles, &params, &mut Warnings::default(), &progress);
            assert_eq!(stopped.err(), Some(DeformError::Cancelled), "{method:?} at {limit}");
            assert_eq!(n_later.into_inner(), 1, "{method:?} at {limit}: nothing is reported after a stop");
        }
    }
}

/// Every fifth vertex soft, in no order.
fn sprinkled(mesh: &Mesh) -> HandleSet {
    let noise = |v: u32| (u64::from(v) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 33;
    let n = mesh.n_vertices() as u32;
    let pick = |k: u64| (0..n).filter(|&v| noise(v) % 5 != 0 && noise(v) / 5 % 2 == k).collect();
    HandleSet::new(mesh, &[handle("a", pick(0)), handle("b", pick(1))], &mut Warnings::default()).unwrap()
}

#[test]
fn thousands_of_small_pieces_cost_what_they_are() {
    let mesh = build_character(Sample::Bar, 20_000).unwrap().mesh;
    let handles = sprinkled(&mesh);
    let adjacency = Adjacency::new(&mesh);
    let held = HandledMesh { mesh: &mesh, adjacency: &adjacency, handles: &handles };
    let soft = SoftSurface::new(held, &mut Warnings::default());
    assert!(soft.pieces.len() > 1500, "{}", soft.pieces.len());
    let small = soft.pieces.iter().filter(|piece| !piece.has_inside()).count();
    assert!(small * 10 > soft.pieces.len() * 9, "{small}");
    // A small piece has a small map, and few nodes: itself and two rings.
    let n_nodes =
        Guided::new(held, &soft, &Default::default(), &ProgressMeter::new(&no_progress).unwrap(), 1.0)
            .unwrap()
            .n_nodes();
    let n_near: usize = soft.pieces.iter().map(|piece| 40 * piece.vertices.len()).sum();
    assert!(n_nodes < n_near, "{n_nodes} nodes for {} vertices", soft.n_vertices());
    let motion = HandleMotion::rigid(DQuat::from_rotation_x(0.5), DVec3::Y);
    let pose = HandlePose::from_motions(&handles, vec![motion.clone(); 2]).unwrap();
    for method in Method::ALL {
        let moved = mesh.positions().iter().map(|p| motion.position(*p));
        let off = farthest(&solve(&mesh, &handles, method, &pose), moved);
        assert!(off <= 2.0 * tolerance(method, &mesh), "{method:?}: {off}");
    }
}
