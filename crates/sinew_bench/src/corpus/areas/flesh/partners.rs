//! Which vertex of the source a written vertex is.
//!
//! At rest a baked file may show the pose in which the skin was bound, or that of its nodes; so positions alone do not decide.
//! What is tried first is the order: if the written file lists as many vertices as the source, part by part, each part must be
//! the stored one up to an affine map (the bind pose), or be where the source has it at rest. Only what passes is exact.

use super::super::super::{scene::Scene, shape};
use glam::{DMat3, DVec3, IVec3};
use std::collections::{BTreeMap, HashMap};

/// How near, as a share of the diagonal, a written vertex must lie to where it is expected.
const SAME_PLACE_SHARE: f64 = 1e-4;

/// Partners of those written vertices (`used` among all, with their places at rest) as their order gives them.
pub fn by_order(source: &Scene, baked: &Scene, used: &[u32], rest: &[DVec3]) -> Vec<Option<u32>> {
    let none = vec![None; used.len()];
    let total = source.n_vertices();
    let sizes: Vec<usize> = baked.stored().iter().map(|part| part.1.len()).collect();
    let places: Vec<u32> = if sizes.iter().all(|&n| n == total) {
        // Primitives share one list of vertices.
        used.iter().map(|v| v % total.max(1) as u32).collect()
    } else if sizes.iter().sum::<usize>() == total {
        used.to_vec()
    } else {
        return none;
    };
    let orders = [part_order(source, false), part_order(source, true)];
    let tries = orders.iter().map(|order| verified(source, order, &places, rest));
    tries.max_by_key(|partners| partners.iter().flatten().count()).unwrap_or(none)
}

/// Vertices of the source in the order of parts below the scene's roots, or in the order of nodes.
fn part_order(source: &Scene, is_by_node: bool) -> Vec<u32> {
    let mut first = 0;
    let mut parts: Vec<(usize, std::ops::Range<u32>)> = Vec::new();
    for (node, stored) in source.stored() {
        parts.push((node, first..first + stored.len() as u32));
        first += stored.len() as u32;
    }
    if is_by_node {
        parts.sort_by_key(|(node, _)| *node);
    }
    parts.into_iter().flat_map(|(_, range)| range).collect()
}

fn verified(source: &Scene, order: &[u32], places: &[u32], rest: &[DVec3]) -> Vec<Option<u32>> {
    let shown = source.positions(None, 0.0);
    let stored: Vec<DVec3> = source.stored().iter().flat_map(|part| part.1.iter().copied()).collect();
    let sizes = source.stored().into_iter().map(|part| part.1.len());
    let part_of: Vec<usize> = sizes.enumerate().flat_map(|(k, n)| std::iter::repeat_n(k, n)).collect();
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (k, &place) in places.iter().enumerate() {
        members.entry(part_of[order[place as usize] as usize]).or_default().push(k);
    }
    let least = SAME_PLACE_SHARE * shape::diagonal(&shown).max(shape::diagonal(rest));
    let mut partners = vec![None; places.len()];
    for list in members.values() {
        let partner = |k: usize| order[places[k] as usize];
        let pairs: Vec<(DVec3, DVec3)> =
            list.iter().map(|&k| (stored[partner(k) as usize], rest[k])).collect();
        let map = affine(&pairs);
        for (&k, &(p, q)) in list.iter().zip(&pairs) {
            let is_same = map(p).distance(q) <= least || shown[partner(k) as usize].distance(q) <= least;
            partners[k] = is_same.then(|| partner(k));
        }
    }
    partners
}

/// The affine map that brings the first of all pairs nearest to the second; flat parts keep what they have.
pub fn affine(pairs: &[(DVec3, DVec3)]) -> impl Fn(DVec3) -> DVec3 + use<> {
    let n = pairs.len().max(1) as f64;
    let (sum_p, sum_q) = pairs.iter().fold((DVec3::ZERO, DVec3::ZERO), |s, (p, q)| (s.0 + *p, s.1 + *q));
    let (mean_p, mean_q) = (sum_p / n, sum_q / n);
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let (mut pp, mut qp) = (DMat3::ZERO, DMat3::ZERO);
    for (p, q) in pairs {
        pp += outer(*p - mean_p, *p - mean_p);
        qp += outer(*q - mean_q, *p - mean_p);
    }
    let trace = pp.x_axis.x + pp.y_axis.y + pp.z_axis.z;
    let ridge = (1e-10 * trace).max(f64::MIN_POSITIVE);
    let matrix = qp * (pp + DMat3::from_diagonal(DVec3::splat(ridge))).inverse();
    move |p| matrix * (p - mean_p) + mean_q
}

/// For each written vertex its partner if that is known, else all vertices of the source at its place at rest, else the nearest.
pub fn candidates(
    source: &[DVec3],
    written: &[DVec3],
    known: &[Option<u32>],
    diagonal: f64,
) -> Vec<Vec<u32>> {
    let size = (2.0 * SAME_PLACE_SHARE * diagonal).max(f64::MIN_POSITIVE);
    let cell = |p: DVec3| (p / size).floor().as_ivec3();
    let mut grid: HashMap<IVec3, Vec<u32>> = HashMap::new();
    for (v, p) in source.iter().enumerate() {
        grid.entry(cell(*p)).or_default().push(v as u32);
    }
    let near = |p: DVec3| -> Vec<u32> {
        let middle = cell(p);
        let beside = (0..27).map(|k| middle + IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1));
        let found = beside.filter_map(|at| grid.get(&at)).flatten().copied();
        found.filter(|&v| source[v as usize].distance(p) <= SAME_PLACE_SHARE * diagonal).collect()
    };
    let nearest = |p: DVec3| {
        let way = |v: &usize| source[*v].distance_squared(p);
        let found = (0..source.len()).min_by(|a, b| way(a).total_cmp(&way(b)));
        found.map(|v| v as u32).into_iter().collect()
    };
    let of = |(p, known): (&DVec3, &Option<u32>)| {
        if let Some(partner) = known {
            return vec![*partner];
        }
        let found = near(*p);
        if found.is_empty() { nearest(*p) } else { found }
    };
    written.iter().zip(known).map(of).collect()
}

/// Share of the written vertices whose partner is known, or lies at the same place at rest.
pub fn mapped(
    source: &[DVec3],
    written: &[DVec3],
    known: &[Option<u32>],
    candidates: &[Vec<u32>],
    diagonal: f64,
) -> f64 {
    let is_near = |k: usize| {
        let first = candidates[k].first().map(|&v| source[v as usize]);
        first.is_some_and(|p| p.distance(written[k]) <= SAME_PLACE_SHARE * diagonal)
    };
    let found = (0..written.len()).filter(|&k| known[k].is_some() || is_near(k)).count();
    found as f64 / written.len().max(1) as f64
}

/// Of the candidates the one whose path over all frames is nearest (parts that touch at rest part later), and the sum of ways.
pub fn nearest_path(candidates: &[Vec<u32>], skins: &[Vec<DVec3>], flesh: &[Vec<DVec3>]) -> (Vec<u32>, f64) {
    let mut total = 0.0;
    let partners = candidates.iter().enumerate().map(|(k, list)| {
        let way = |v: u32| -> f64 {
            skins.iter().zip(flesh).map(|(skin, flesh)| skin[v as usize].distance(flesh[k])).sum()
        };
        let ways = list.iter().map(|&v| (way(v), v));
        let (least, v) = ways.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0));
        total += least;
        v
    });
    (partners.collect(), total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_that_touch_at_rest_are_distinguished_by_their_paths() {
        let source = [DVec3::ZERO, DVec3::ZERO, DVec3::X];
        let written = [DVec3::ZERO, DVec3::X * 1.001];
        let candidates = candidates(&source, &written, &[None, None], 1.0);
        assert_eq!(candidates, [vec![0, 1], vec![2]]);
        let skins = [vec![DVec3::X, DVec3::Y, DVec3::Z]];
        let flesh = [vec![DVec3::Y, DVec3::Z]];
        assert_eq!(nearest_path(&candidates, &skins, &flesh), (vec![1, 2], 0.0));
    }

    #[test]
    fn an_affine_map_is_found_also_for_flat_parts() {
        let matrix = DMat3::from_cols(DVec3::new(0.0, 100.0, 0.0), DVec3::new(-100.0, 0.0, 3.0), DVec3::Z);
        let image = |p: DVec3| matrix * p + DVec3::new(1.0, 2.0, 3.0);
        let flat = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(0.3, 0.9, 0.0)];
        let map = affine(&flat.map(|p| (p, image(p))));
        assert!(flat.iter().all(|p| map(*p).distance(image(*p)) < 1e-6));
        let map = affine(&flat.map(|p| (p, image(p) + DVec3::Z * p.x * p.y)));
        assert!(flat.iter().any(|p| map(*p).distance(image(*p)) > 1e-3));
    }
}
