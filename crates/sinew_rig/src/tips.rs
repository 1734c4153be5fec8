//! Where a body ends: places farther from its centre than everything around them.
//!
//! # Source
//! Edelsbrunner, Letscher and Zomorodian, *Topological persistence and simplification* (2002): a maximum of the distance
//! from the centre persists from its value down to where its region meets that of a higher one.
//! # Cost
//! One sort of the cells.

use crate::solid::Solid;
use glam::DVec3;

/// The end of a limb, a head, a tail, an ear.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tip {
    pub point: DVec3,
    pub cell: usize,
    /// How far it sticks out: its distance from the centre, less that of where it joins a longer limb.
    pub persistence: f64,
    /// Distance from the centre along a path inside.
    pub remoteness: f64,
}

/// The cell from which the others are least far, along paths inside, judged by a few sources.
pub(crate) fn find_center(solid: &Solid) -> DVec3 {
    const N_SOURCES: usize = 24;
    let mut sum = vec![0f64; solid.len()];
    for i in 0..N_SOURCES.min(solid.len()) {
        let source = (i * 2 + 1) * solid.len() / (2 * N_SOURCES.min(solid.len()));
        let far = solid.distances(&[source], f64::INFINITY);
        sum.iter_mut().zip(far).filter(|(_, d)| d.is_finite()).for_each(|(sum, d)| *sum += f64::from(d));
    }
    let best = (0..sum.len()).min_by(|&a, &b| sum[a].total_cmp(&sum[b])).unwrap_or(0);
    solid.points[best]
}

/// Tips that persist for at least `threshold`, the most persistent first.
pub(crate) fn find_tips(solid: &Solid, center: usize, threshold: f64) -> Vec<Tip> {
    let far = solid.distances(&[center], f64::INFINITY);
    let tip = |(cell, persistence): (usize, f32)| Tip {
        point: solid.points[cell],
        cell,
        persistence: persistence.into(),
        remoteness: far[cell].into(),
    };
    find_maxima(solid, &far, threshold).into_iter().map(tip).collect()
}

/// Feet that do not stick out far enough to be tips: the lowest places along `up`, if what hangs down there stays apart
/// from everything else for at least `threshold`.
pub(crate) fn find_feet(solid: &Solid, center: usize, up: DVec3, threshold: f64) -> Vec<Tip> {
    let height = |cell: usize| solid.points[cell].dot(up);
    let (low, high) =
        (0..solid.len()).fold((f64::MAX, f64::MIN), |(l, h), c| (l.min(height(c)), h.max(height(c))));
    let depth: Vec<f32> = (0..solid.len()).map(|cell| (high - height(cell)) as f32).collect();
    let far = solid.distances(&[center], f64::INFINITY);
    let is_low = |&(cell, _): &(usize, f32)| height(cell) - low < 0.06 * (high - low);
    let tip = |(cell, persistence): (usize, f32)| Tip {
        point: solid.points[cell],
        cell,
        // The whole body persists for its height; a foot does for its leg, which is less.
        persistence: f64::from(persistence).min(0.5 * (high - low)),
        remoteness: far[cell].into(),
    };
    find_maxima(solid, &depth, threshold).into_iter().filter(is_low).map(tip).collect()
}

/// Cells where a function is greater than all around, and how far it falls from there to where a greater one is reached.
fn find_maxima(solid: &Solid, far: &[f32], threshold: f64) -> Vec<(usize, f32)> {
    let mut order: Vec<usize> = (0..solid.len()).filter(|&cell| far[cell].is_finite()).collect();
    order.sort_by(|&a, &b| far[b].total_cmp(&far[a]).then(a.cmp(&b)));
    let mut parent = vec![usize::MAX; solid.len()];
    let peak: Vec<usize> = (0..solid.len()).collect();
    let mut found: Vec<(usize, f32)> = Vec::new();
    for &cell in &order {
        parent[cell] = cell;
        for (next, _) in solid.around(cell) {
            if parent[next] == usize::MAX {
                continue;
            }
            let (mut high, mut low) = (find(&mut parent, next), find(&mut parent, cell));
            if high == low {
                continue;
            }
            if far[peak[high]] < far[peak[low]] {
                std::mem::swap(&mut high, &mut low);
            }
            let persistence = far[peak[low]] - far[cell];
            if f64::from(persistence) > threshold {
                found.push((peak[low], persistence));
            }
            parent[low] = high;
        }
    }
    // The farthest place of all never dies.
    if let Some(&first) = order.first() {
        let last = peak[find(&mut parent, first)];
        found.push((last, far[last]));
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

fn find(parent: &mut [usize], mut x: usize) -> usize {
    while parent[x] != x {
        parent[x] = parent[parent[x]];
        x = parent[x];
    }
    x
}
