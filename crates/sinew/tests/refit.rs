//! Recorded clips on other bodies and grounds.

use crate::support::data;
use sinew::{
    constrain::clip::{Body, Motion, Refit, RefitParams, refit, scale_limbs},
    formats::{Content, read_any},
    geom::{Rig, Warnings, body_map::BodyMap},
};
use std::ops::ControlFlow;

/// A recording in metres, if the outside data is there.
fn recording(name: &str) -> Option<(Rig, Motion)> {
    let path = data()?.join("bvh").join(name);
    let Content::Bvh(file) = read_any(&path, &mut Warnings::default()).unwrap() else { panic!("{name}") };
    let rig = file.character.rig.as_ref().unwrap();
    let unit = BodyMap::read(rig, &file.character.clips).metres_per_unit.unwrap();
    let character = file.character.scaled(unit).unwrap();
    let rig = character.rig.unwrap();
    let motion = Motion::from_clip(&rig, &character.clips[0], (1.0 / file.frame_secs).round()).unwrap();
    Some((rig, motion))
}

fn fit(clip: &(Rig, Motion), limbs: &[(&str, f64)], ground: &str) -> Refit {
    let limbs: Vec<(String, f64)> =
        limbs.iter().map(|(part, factor)| ((*part).to_owned(), *factor)).collect();
    let target = scale_limbs(&clip.0, &Body::find(&clip.0, &[]).unwrap(), &limbs).unwrap();
    let params =
        RefitParams { ground: Some(ground.parse().unwrap()), still_feet: true, ..RefitParams::default() };
    let mut go_on = |_| ControlFlow::Continue(());
    refit((&clip.0, &clip.1), &target, &params, &mut Warnings::default(), &mut go_on).unwrap()
}

#[test]
fn recorded_walks_stand_on_other_grounds() {
    for (name, n_stances) in [("cmu/02_01.bvh", 6), ("bandai-namco/dataset-1_walk_normal_001.bvh", 12)] {
        let Some(clip) = recording(name) else { return };
        for (limbs, ground) in [("legs", "slope:20"), ("all", "steps:0.15,0.6"), ("arms", "hills")] {
            let fitted = fit(&clip, &[(limbs, 0.75)], ground);
            let (m, what) = (&fitted.report.fitted, format!("{name} {limbs} {ground}"));
            assert!(fitted.stances.len().abs_diff(n_stances) <= 2, "{what}: {:?}", fitted.stances.len());
            assert!(m.slide < 0.01 && m.drift < 0.005, "{what}: {m:?}");
            assert!(m.penetration < 0.005 && m.height_error < 0.002, "{what}: {m:?}");
            assert!(fitted.report.jerk_ratio() < 1.2, "{what}: {}", fitted.report.jerk_ratio());
            // What it replaces slides or sinks.
            let copied = &fitted.report.copied;
            assert!(copied.slide > 0.02 || copied.penetration > 0.01, "{what}: {copied:?}");
        }
    }
}

#[test]
fn units_of_recordings_are_guessed() {
    for (name, legs) in [("cmu/02_01.bvh", 0.82), ("bandai-namco/dataset-1_walk_normal_001.bvh", 0.80)] {
        let Some((rig, _)) = recording(name) else { return };
        let length = Body::find(&rig, &[]).unwrap().leg_length(&rig);
        assert!((length - legs).abs() < 0.05, "{name}: {length}");
    }
}

#[test]
fn a_run_a_jump_and_a_cartwheel_survive() {
    for name in ["cmu/09_01.bvh", "cmu/16_03.bvh", "cmu/49_06.bvh"] {
        let Some(clip) = recording(name) else { return };
        let fitted = fit(&clip, &[("all", 0.8)], "slope:10");
        let m = &fitted.report.fitted;
        assert!(m.slide < 0.02 && m.penetration < 0.01, "{name}: {m:?}");
        assert!(fitted.report.jerk_ratio() < 1.2, "{name}");
        // The first frame of these is a pose of calibration.
        assert!(
            fitted.report.cuts.contains(&1) && fitted.report.cuts.len() < 6,
            "{name}: {:?}",
            fitted.report.cuts
        );
    }
}
