//! Decimated sequences: valid, cheap where flat, and good enough to fit to.

use super::*;
use crate::{Blending, Placement, no_progress, tests::known_sequence};
use glam::DVec3;
use sinew_geom::{Mesh, MeshSequence, mesh::Adjacency};

fn fitter(sequence: &MeshSequence) -> SkinFitter {
    let mut source = sequence;
    SkinFitter::new(sequence.rest(), &mut source).unwrap()
}

/// A sheet whose right half folds into a roof.
fn roof() -> MeshSequence {
    let n = 17u32;
    let positions = (0..n * n).map(|i| DVec3::new(f64::from(i % n), 0.0, f64::from(i / n))).collect();
    let mut faces = Vec::new();
    for y in 0..n - 1 {
        for x in 0..n - 1 {
            let a = y * n + x;
            faces.extend([[a, a + n, a + 1], [a + 1, a + n, a + n + 1]]);
        }
    }
    let mesh = Mesh::new(positions, faces).unwrap();
    let frame = |t: f64| {
        let wave = |p: &DVec3| Vec3::new(p.x as f32, (t * (p.x - 8.0).max(0.0).sin()) as f32, p.z as f32);
        mesh.positions().iter().map(wave).collect()
    };
    MeshSequence::new(mesh.clone(), (0..6).map(|f| frame(0.4 * f as f64)).collect(), 24.0).unwrap()
}

fn all_variants() -> Vec<DecimateParams> {
    let queues = [Queue::Global, Queue::Regions { shuffling_ratio: 0.2 }];
    let merges = [Merge::Second, Merge::Optimal];
    queues
        .into_iter()
        .flat_map(|queue| merges.map(|merge| DecimateParams { amount: 0.4, merge, queue }))
        .collect()
}

#[test]
fn what_is_left_is_a_surface_without_flips() {
    let sequence = roof();
    let fitter = fitter(&sequence);
    for merge in [Merge::Second, Merge::Optimal] {
        let small =
            fitter.decimate(&DecimateParams { amount: 0.5, merge, ..DecimateParams::default() }).unwrap();
        let n = sequence.rest().n_vertices();
        assert!(small.n_vertices() <= n - n / 2 + 1, "{merge:?}: {} of {n}", small.n_vertices());
        assert!(small.owners.iter().all(|&owner| (owner as usize) < small.n_vertices()));
        let rest: Vec<DVec3> = small.tracks.rest.iter().map(|u| Vec3::from_array(*u).as_dvec3()).collect();
        let mesh = Mesh::new(rest, small.faces.clone()).unwrap();
        let adjacency = Adjacency::new(&mesh);
        assert!((0..adjacency.edges.len()).all(|edge| adjacency.edges.n_uses(edge) <= 2), "{merge:?}");
        assert_eq!(adjacency.components().1, 1);
        // No facet of the flat rest pose faces down.
        let normal = |face: usize| {
            let [a, b, c] = mesh.corners(face);
            (b - a).cross(c - a).normalize_or_zero()
        };
        assert!((0..mesh.n_faces()).all(|face| normal(face).y > 0.5), "{merge:?}");
        // The flat half loses more vertices than the half that folds.
        let calm = small.kept.iter().filter(|&&v| sequence.rest().positions()[v as usize].x < 8.0).count();
        assert!(calm < small.n_vertices() / 3, "{merge:?}: {calm} of {}", small.n_vertices());
    }
}

#[test]
fn every_variant_fits_nearly_as_well() {
    let sequence = known_sequence(6, 10, false);
    let fitter = fitter(&sequence);
    for placement in [Placement::PCenter, ThesisParams::default().placement] {
        for blending in Blending::ALL {
            let params =
                ThesisParams { bones: 8, regions: 4, placement, blending, ..ThesisParams::default() };
            let error = |fit: &SkinFit| fitter.measure(&fit.skin).unwrap().e_rms;
            let whole = error(&fitter.fit_thesis(&params, &no_progress).unwrap());
            for decimate in all_variants() {
                let (fit, left) = fitter.fit_thesis_decimated(&params, &decimate, &no_progress).unwrap();
                assert!(left < fitter.n_vertices(), "{placement:?} {decimate:?}");
                let ratio = error(&fit) / whole;
                assert!(ratio < 1.6, "{placement:?} {blending:?} {decimate:?}: {ratio}");
                assert_eq!(fit.skin.n_used_bones(), 8);
            }
        }
    }
}

#[test]
fn the_default_fit_is_carried_to_all_vertices() {
    let sequence = known_sequence(6, 10, false);
    let fitter = fitter(&sequence);
    let params = FitParams { bones: 6, ..FitParams::default() };
    let small = fitter.decimate(&DecimateParams::default()).unwrap();
    let fit = fitter.fit_decimated(&params, &small, &no_progress).unwrap();
    let whole = fitter.fit(&params, &no_progress).unwrap();
    let error = |fit: &SkinFit| fitter.measure(&fit.skin).unwrap().e_rms;
    assert_eq!(fit.skin.n_vertices(), fitter.n_vertices());
    assert!(error(&fit) < 1.5 * error(&whole), "{} {}", error(&fit), error(&whole));
    assert!(fitter.decimate(&DecimateParams { amount: 1.0, ..DecimateParams::default() }).is_err());
    assert!(fitter.decimate(&DecimateParams { amount: f64::NAN, ..DecimateParams::default() }).is_err());
}

#[test]
fn threads_do_not_change_regions() {
    let sequence = known_sequence(6, 6, false);
    let fitter = fitter(&sequence);
    let params = ThesisParams { bones: 8, regions: 4, ..ThesisParams::default() };
    let decimate =
        DecimateParams { queue: Queue::Regions { shuffling_ratio: 0.3 }, ..DecimateParams::default() };
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| fitter.fit_thesis_decimated(&params, &decimate, &no_progress).unwrap().0.skin)
    };
    assert_eq!(run(1), run(3));
}
