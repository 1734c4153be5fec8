//! Bodies caught in motion: legs that gallop have no mirrored tips, but they begin in mirrored places.
//!
//! # Source
//! Own method. Candidate planes from two pairs of limbs, as in random sample consensus (Fischler and Bolles 1981), but all
//! pairs are tried, since there are few.
//! # Cost
//! One pass of distances per limb; the pairs themselves are at most some thousands.

use crate::{
    limb::{Limb, Profile},
    solid::Solid,
    symmetry::{Plane, snap},
    tips::Tip,
};
use glam::DVec3;

/// Limbs are at least as long as this share of the diagonal where they are paired by their beginnings.
pub(crate) const MIN_LIMB_LENGTH: f64 = 0.1;
/// Tips that stick out less are no limbs that are posed.
const MIN_PERSISTENCE: f64 = 0.07;
/// More limbs than this are not tried in all pairs.
const MAX_LIMBS: usize = 12;
/// A body whose best plane mirrors it with less error than this needs no other.
const MAX_MIRROR_ERROR: f64 = 0.005;
/// Tips of a body that a plane mirrors with less error than this pair by where they are.
pub(crate) const MAX_PAIR_ERROR: f64 = 0.0015;
/// How far the beginnings of a pair may be from mirroring each other, and by what share their lengths may differ.
const MAX_PAIR_OFFSET: f64 = 0.15;
const MAX_LENGTH_DIFFERENCE: f64 = 0.35;
/// Beginnings nearer to the plane than this belong to necks and tails.
const MIN_PLANE_DISTANCE: f64 = 0.012;

/// Where a limb begins, and how long it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Root {
    point: DVec3,
    length: f64,
}

impl Root {
    /// Of a limb that is one.
    pub fn of(limb: &Limb) -> Option<Self> {
        let sticks_out = limb.profile.tip.persistence;
        let is_limb = sticks_out > if limb.is_found { MIN_PERSISTENCE } else { 2.0 * MIN_PERSISTENCE };
        is_limb.then(|| Self { point: limb.base(), length: limb.length() })
    }
}

/// How badly two limbs fit each other as left and right, or `None` if they do not.
fn misfit(a: &Root, b: &Root, plane: &Plane) -> Option<f64> {
    let (h, g) = (plane.height(a.point), plane.height(b.point));
    let unlike = (a.length - b.length).abs();
    let off = plane.mirror(a.point).distance(b.point);
    let fits = h * g < 0.0
        && h.abs().min(g.abs()) > MIN_PLANE_DISTANCE
        && unlike < MAX_LENGTH_DIFFERENCE * a.length.max(b.length)
        && off < MAX_PAIR_OFFSET;
    fits.then_some(off + 0.3 * unlike)
}

/// Limbs in pairs that begin in mirrored places, the first on the side of the plane's normal.
pub(crate) fn pair(roots: &[Root], plane: &Plane) -> Vec<[usize; 2]> {
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for i in 0..roots.len() {
        for j in i + 1..roots.len() {
            found.extend(misfit(&roots[i], &roots[j], plane).map(|off| (off, i, j)));
        }
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let mut pairs: Vec<[usize; 2]> = Vec::new();
    for (_, i, j) in found {
        if !pairs.iter().flatten().any(|&k| k == i || k == j) {
            let is_left = plane.height(roots[i].point) > 0.0;
            pairs.push(if is_left { [i, j] } else { [j, i] });
        }
    }
    pairs
}

/// The plane of symmetry of a posed body by where its limbs begin, if there is one that is not known yet.
pub(crate) fn find_plane(solid: &Solid, tips: &[Tip], known: &[Plane]) -> Option<Plane> {
    let error = known.first()?.error;
    if error < MAX_MIRROR_ERROR {
        return None;
    }
    let posed: Vec<Tip> = tips.iter().filter(|tip| tip.persistence > MIN_PERSISTENCE).copied().collect();
    let profiles: Vec<Profile> = posed.iter().take(MAX_LIMBS).map(|&tip| Profile::new(solid, tip)).collect();
    let limbs: Vec<Limb> = profiles.iter().map(|profile| Limb::new(profile, MIN_LIMB_LENGTH)).collect();
    let roots: Vec<Root> = limbs.iter().filter_map(Root::of).collect();
    let bases: Vec<DVec3> = limbs.iter().map(Limb::base).collect();
    let judged = between_pairs(&roots).into_iter().chain(along_bodies(&bases));
    let is_new = |plane: &Plane| {
        !known.iter().any(|other| {
            other.normal.dot(plane.normal).abs() > 0.97
                && (other.offset * other.normal).distance(plane.offset * plane.normal) < 0.05
        })
    };
    let judged = judged.filter(is_new).filter_map(|plane| judge(plane, &roots));
    let found = judged.min_by(|a, b| a.error.total_cmp(&b.error))?;
    // Its own error is that of a few points: beside planes judged by the whole surface it counts as a little worse.
    Some(Plane { error: error + 0.05 * found.error, ..snap(found) })
}

/// Planes in the middle of two pairs whose left and right are the same direction.
fn between_pairs(roots: &[Root]) -> Vec<Plane> {
    let n = roots.len();
    let pairs: Vec<[usize; 2]> = (0..n).flat_map(|i| (i + 1..n).map(move |j| [i, j])).collect();
    let between = |first: &[usize; 2], second: &[usize; 2]| {
        let across = |[i, j]: &[usize; 2]| roots[*i].point - roots[*j].point;
        let (a, b) = (across(first), across(second));
        let b = b * a.dot(b).signum();
        let normal = (a + b).try_normalize()?;
        let sum: DVec3 = first.iter().chain(second).map(|&k| roots[k].point).sum();
        let agree = a.normalize_or_zero().dot(b.normalize_or_zero()) > 0.8;
        agree.then_some(Plane { normal, offset: 0.25 * sum.dot(normal), error: 0.0 })
    };
    let apart = |first: &[usize; 2], second: &[usize; 2]| !second.iter().any(|limb| first.contains(limb));
    let mut planes = Vec::new();
    for (k, first) in pairs.iter().enumerate() {
        planes.extend(
            pairs[k + 1..].iter().filter(|second| apart(first, second)).filter_map(|p| between(first, p)),
        );
    }
    planes
}

/// Upright planes through two ends of a body, a neck and a tail.
fn along_bodies(bases: &[DVec3]) -> Vec<Plane> {
    let mut planes = Vec::new();
    for (k, &a) in bases.iter().enumerate() {
        for &b in bases[k + 1..].iter().filter(|b| b.distance(a) > 0.2) {
            for up in [DVec3::Y, DVec3::Z] {
                let normal = (b - a).cross(up).try_normalize();
                planes.extend(normal.map(|normal| Plane {
                    normal,
                    offset: 0.5 * (a + b).dot(normal),
                    error: 0.0,
                }));
            }
        }
    }
    planes
}

/// The plane with its error: how far pairs are from mirroring each other, and other limbs from beginning on it. A body that
/// is posed shows its symmetry in two pairs at least.
fn judge(plane: Plane, roots: &[Root]) -> Option<Plane> {
    let pairs = pair(roots, &plane);
    if pairs.len() < 2 {
        return None;
    }
    let misfits: f64 = pairs.iter().filter_map(|[i, j]| misfit(&roots[*i], &roots[*j], &plane)).sum();
    let others = (0..roots.len()).filter(|k| !pairs.iter().flatten().any(|other| other == k));
    let aside: f64 = others.map(|k| plane.height(roots[k].point).abs()).sum();
    Some(Plane { error: (misfits + aside) / pairs.len() as f64, ..plane })
}
