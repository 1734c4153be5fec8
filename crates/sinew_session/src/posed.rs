//! What a user should know about a posed surface: where it is damaged.

use glam::DVec3;
use sinew_deform::quality::Quality;
use sinew_geom::Handle;

/// Faces that run into others, of all: fewer are a crease that touches itself.
const MAX_INTERSECTING: f64 = 1e-3;
/// Widest gap along a seam that is invisible, in diagonals.
const MAX_GAP: f64 = 5e-4;
/// Distortion beyond which the surface looks torn.
const MAX_DISTORTION: f64 = 0.4;

/// What is wrong with a posed surface of so many faces, and where: beside which of its handles, which are where they have gone.
pub fn posed_warnings(quality: &Quality, handles: &[Handle], n_faces: usize) -> Vec<String> {
    let at = |place: Option<DVec3>| place.map_or_else(String::new, |place| beside(place, handles));
    let flipped = (quality.flipped > 0)
        .then(|| format!("{} faces are flipped{}", quality.flipped, at(quality.flipped_at)));
    let intersects = (quality.self_intersections as f64 > MAX_INTERSECTING * n_faces as f64).then(|| {
        let (n, at) = (quality.self_intersections, at(quality.intersects_at));
        format!("{n} faces intersect others and did not at rest{at}")
    });
    let apart = (quality.gap > MAX_GAP).then(|| {
        format!(
            "vertices that lay on each other come apart by {:.2} % of the size{}: different handles hold them",
            100.0 * quality.gap,
            at(quality.gap_at)
        )
    });
    let distorted = (quality.distortion > MAX_DISTORTION).then(|| {
        format!(
            "the soft surface is distorted by {:.0} %: leave more of it soft, or turn handles less",
            100.0 * quality.distortion
        )
    });
    [flipped, intersects, apart, distorted].into_iter().flatten().collect()
}

fn beside(place: DVec3, handles: &[Handle]) -> String {
    let far = |handle: &&Handle| handle.center.distance(place);
    let nearest = handles.iter().min_by(|a, b| far(a).total_cmp(&far(b)));
    let name = nearest.map(|handle| format!(", next to handle {:?}", handle.name)).unwrap_or_default();
    format!(" at ({:.4}, {:.4}, {:.4}){name}", place.x, place.y, place.z)
}
