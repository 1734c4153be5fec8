//! Rigging meshes of other people: what bodies in motion are taken for.

use glam::DVec3;
use sinew::{
    formats::read_any,
    geom::{Warnings, body_map::BodyClass},
    rig::{AutoRig, RigParams, build_rig},
};
use std::path::Path;

fn rigged(path: &Path) -> AutoRig {
    let character = read_any(path, &mut Warnings::default()).unwrap().into_character().unwrap();
    build_rig(&character.mesh, &RigParams::default()).unwrap()
}

#[test]
fn animals_that_walk_are_animals_that_face_forward() {
    let Some(data) = sinew_outside::data() else {
        return;
    };
    // All of these files face +Z; heads and bodies turn by up to 40° in them.
    for name in ["horse", "camel"] {
        let folder = data.join(format!("sequences/sumner-{name}-poses"));
        let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.retain(|file| file.extension().is_some_and(|e| e == "obj"));
        files.sort();
        assert!(files.len() > 2);
        for file in files {
            let AutoRig { rig, report, .. } = rigged(&file);
            assert_eq!(report.class, BodyClass::Quadruped, "{}: {:?}", file.display(), report.alternatives);
            assert!(report.forward.dot(DVec3::Z) > 0.7, "{}: {}", file.display(), report.forward);
            assert!(report.up.y > 0.98, "{}: {}", file.display(), report.up);
            let world = rig.rest_world();
            let at = |name: &str| world[rig.find(name).unwrap()].translation;
            for limb in ["front_leg", "hind_leg"] {
                let across = at(&format!("{limb}.L")) - at(&format!("{limb}.R"));
                assert!(across.dot(DVec3::X) > 0.0, "{}: {limb} {across}", file.display());
            }
            assert!((at("head") - at("hips")).dot(report.forward) > 0.0, "{}", file.display());
        }
    }
}

#[test]
fn arms_along_the_body_do_not_make_a_fish() {
    let Some(data) = sinew_outside::data() else {
        return;
    };
    let AutoRig { rig, report, .. } = rigged(&data.join("bad/threejs/female02.obj"));
    assert_eq!(report.class, BodyClass::Biped, "{:?}", report.alternatives);
    assert!(report.confidence <= 0.5, "guessed arms are not certain: {}", report.confidence);
    assert!(report.notes.iter().any(|note| note.contains("guessed")), "{:?}", report.notes);
    assert!(rig.find("hand.L").is_some() && rig.find("hand.R").is_some());
}
