//! Gaits of every rig of the outside data.

use crate::support::{corpus, data, files_below};
use sinew::{
    formats::read_any,
    gait::{GaitParams, make_gait},
    geom::{
        Warnings,
        body_map::{BodyClass, BodyMap, Part},
        rig::Side,
    },
};

/// Rigs of known plans that cannot walk well yet, and why.
const KNOWN: [(&str, &str); 1] = [("RecursiveSkeletons", "several bodies in one file")];

/// Every rig with legs walks on all of them without fault: feet stay, nothing sinks, all are lifted, and the speed is right.
#[test]
fn every_rig_with_legs_walks() {
    let (Some(data), Some(corpus)) = (data(), corpus()) else { return };
    let mut walked = Vec::new();
    for path in [data.join("rigs"), corpus.join("rigs")].iter().flat_map(|folder| files_below(folder)) {
        if KNOWN.iter().any(|(name, _)| path.to_string_lossy().contains(name)) {
            continue;
        }
        let content = read_any(&path, &mut Warnings::default()).ok();
        let Some(character) = content.and_then(|content| content.into_character()) else { continue };
        // Clips of a skeleton alone have nothing that stands.
        let Some(rig) = character.rig.as_ref().filter(|_| character.mesh.n_faces() > 0) else { continue };
        let map = BodyMap::read(rig, &character.clips);
        // Some files have clips of a trunk alone.
        if map.find(Part::Thigh, Side::Left).is_none() {
            continue;
        }
        let legs = match map.class {
            BodyClass::Biped | BodyClass::HorizontalBiped | BodyClass::Bird => 2,
            BodyClass::Quadruped => 4,
            _ => continue,
        };
        let made = make_gait(&character, rig, &GaitParams::default())
            .unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let shown = path.display();
        assert_eq!(made.report.feet.len(), legs, "{shown}");
        assert!(made.report.faults().is_empty(), "{shown}: {:?}", made.report.faults());
        walked.push(shown.to_string());
    }
    assert!(walked.len() >= 10, "{walked:?}");
}
