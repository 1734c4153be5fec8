//! The whole chain on one body in several units: what comes out is the same up to scale.

use super::{Folder, character, ok};
use glam::DVec3;

/// From how much of the body's size on a result differs.
const MOST_WALK: f64 = 5e-3;
/// Flesh: gravity and the way of moving bodies do not scale alike, so that it hangs back a little more or less.
const MOST_FLESH: f64 = 0.05;

/// Where every vertex is at shares of the first clip, and the diagonal.
fn shapes(path: &str) -> (Vec<Vec<DVec3>>, f64) {
    let character = character(path);
    let clip = &character.clips[0];
    let at = |share: f32| {
        let shown = character.positions_at(Some(clip), share * clip.duration_secs()).unwrap();
        shown.iter().map(|p| p.as_dvec3()).collect()
    };
    ([0.2, 0.5, 0.9].map(at).to_vec(), character.mesh.diagonal())
}

/// A mesh without a skeleton is given one, walks, is refitted, gets flesh, and is fitted.
fn chain(folder: &Folder, mesh: &str, factor: &str) -> Vec<(&'static str, Vec<Vec<DVec3>>, f64)> {
    let at = |name: &str| folder.at(&format!("{name}-{factor}.glb"));
    let (still, walk, refit, flesh, fit) = (at("still"), at("walk"), at("refit"), at("flesh"), at("fit"));
    ok(&["convert", mesh, &still, "--scale", factor, "--json"]);
    ok(&["walk", &still, "-o", &walk, "--json"]);
    ok(&["refit", &walk, "-o", &refit, "--json"]);
    ok(&["flesh", &walk, "--seconds", "0.4", "--cells", "300", "-o", &flesh, "--json"]);
    ok(&["fit", &flesh, "-o", &fit, "--json"]);
    let named = [("walk", walk), ("refit", refit), ("flesh", flesh), ("fit", fit)];
    named.map(|(name, path)| (name, shapes(&path).0, shapes(&path).1)).to_vec()
}

#[test]
fn the_chain_gives_the_same_in_every_unit() {
    let folder = Folder::new("scale");
    let (biped, mesh) = (folder.at("biped.glb"), folder.at("body.obj"));
    ok(&["sample", "biped", "-n", "1500", "-o", &biped, "--json"]);
    ok(&["convert", &biped, &mesh, "--json"]);
    let own = chain(&folder, &mesh, "1");
    for factor in [0.001, 100.0, 1000.0] {
        for ((name, shapes, size), (_, scaled, _)) in
            own.iter().zip(chain(&folder, &mesh, &factor.to_string()))
        {
            let most = if matches!(*name, "walk" | "refit") { MOST_WALK } else { MOST_FLESH };
            let pairs = shapes.iter().flatten().zip(scaled.iter().flatten());
            let off = pairs.map(|(a, b)| a.distance(*b / factor)).fold(0.0, f64::max) / size;
            assert!(off <= most, "{name} at × {factor} is off by {off:.1e} of the body");
            let moved = shapes[0].iter().zip(&shapes[1]).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(moved > 0.02 * size, "{name} moves");
        }
    }
}
