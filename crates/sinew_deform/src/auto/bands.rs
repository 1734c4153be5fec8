//! Soft bands between regions, so that the rest of each can be moved as one.

use super::{
    component::Component,
    regions::{Cut, Fields, Regions},
};
use crate::geodesic::Steps;

/// Half the width of a band in girths of its cut: the whole band is a little more than half as wide as the limb is
/// thick there, which lets a joint bend without folding.
const HALF_WIDTH: f64 = 0.09;

/// The same in lengths of the segments beside it, so that most of each stays rigid.
const HALF_WIDTH_OF_SEGMENT: f64 = 0.18;

/// A smaller handle cannot be picked.
const MIN_VERTICES: usize = 4;

/// Pieces smaller than this share of a region's largest piece become soft.
const MIN_PIECE_SHARE: f64 = 0.2;

/// Vertices of each region that are not soft. `lengths` holds the length of the segment beyond each cut.
pub(super) fn find_rigid(
    part: &Component,
    steps: &Steps,
    fields: &Fields,
    cuts: &[Cut],
    lengths: &[f64],
    regions: &Regions,
) -> Vec<Vec<u32>> {
    let mut soft = vec![false; part.mesh.n_vertices()];
    let mut seeds: Vec<Vec<(u32, f64)>> = vec![Vec::new(); cuts.len()];
    for &[a, b] in part.adjacency.edges.vertices() {
        let [ra, rb] = [a, b].map(|v| regions.of_vertex[v as usize] as usize);
        if ra == rb {
            continue;
        }
        // Both ends of an edge across a cut: one ring on each side.
        soft[a as usize] = true;
        soft[b as usize] = true;
        let (inner, outer, mut region, end) =
            if regions.is_within(ra, rb) { (a, b, ra, rb) } else { (b, a, rb, ra) };
        let length = part.mesh.positions()[a as usize].distance(part.mesh.positions()[b as usize]);
        while region != end && region != 0 {
            let (cut, f) = (&cuts[region - 1], fields.of(&cuts[region - 1]));
            let (high, low) = (f[inner as usize], f[outer as usize]);
            // Where limbs measured differently meet, the line may not cross this edge at all.
            let share = if high > low { ((high - cut.level) / (high - low)).clamp(0.0, 1.0) } else { 0.5 };
            seeds[region - 1].extend([(inner, share * length), (outer, (1.0 - share) * length)]);
            region = regions.parent[region];
        }
    }
    for (k, seeds) in seeds.iter().enumerate() {
        let inside = regions.parent[k + 1];
        let near = if inside == 0 { f64::INFINITY } else { lengths[inside - 1] };
        let reach = (HALF_WIDTH * cuts[k].girth).min(HALF_WIDTH_OF_SEGMENT * lengths[k].min(near));
        let distance = steps.distances(seeds, reach);
        soft.iter_mut().zip(distance).for_each(|(soft, d)| *soft |= d <= reach);
    }
    collect(part, &soft, regions)
}

/// Connected pieces of what is not soft, by region, small ones left out.
fn collect(part: &Component, soft: &[bool], regions: &Regions) -> Vec<Vec<u32>> {
    if regions.parent.len() == 1 {
        // Without a cut it is a handle, however small.
        return vec![(0..soft.len() as u32).collect()];
    }
    let mut pieces: Vec<Vec<Vec<u32>>> = vec![Vec::new(); regions.parent.len()];
    let mut seen = soft.to_vec();
    for v in 0..soft.len() {
        if std::mem::replace(&mut seen[v], true) {
            continue;
        }
        let mut piece = vec![v as u32];
        let mut next = 0;
        while let Some(&u) = piece.get(next) {
            next += 1;
            for &w in part.adjacency.neighbors.row(u as usize) {
                if !std::mem::replace(&mut seen[w as usize], true) {
                    piece.push(w);
                }
            }
        }
        pieces[regions.of_vertex[v] as usize].push(piece);
    }
    let keep = |pieces: Vec<Vec<u32>>| {
        let largest = pieces.iter().map(Vec::len).max().unwrap_or(0);
        let least = ((MIN_PIECE_SHARE * largest as f64) as usize).max(MIN_VERTICES);
        let mut kept: Vec<u32> = pieces.into_iter().filter(|piece| piece.len() >= least).flatten().collect();
        kept.sort_unstable();
        kept
    };
    pieces.into_iter().map(keep).collect()
}
