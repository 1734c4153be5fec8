//! Nearest of many points.
//!
//! # Source
//! Bentley, *Multidimensional binary search trees used for associative searching* (1975).

use glam::DVec3;

/// Points sorted so that the middle of every range splits it along the axis of its depth.
pub(crate) struct KdTree {
    points: Vec<(DVec3, u32)>,
}

impl KdTree {
    pub fn new(points: &[DVec3]) -> Self {
        let mut points: Vec<_> = points.iter().copied().zip(0u32..).collect();
        split(&mut points, 0);
        Self { points }
    }

    /// Distance to the nearest point, and which it is. Infinite if there are none.
    pub fn nearest(&self, query: DVec3) -> (f64, usize) {
        let mut best = (f64::INFINITY, 0);
        search(&self.points, 0, query, &mut best);
        (best.0.sqrt(), best.1 as usize)
    }
}

fn split(points: &mut [(DVec3, u32)], axis: usize) {
    if points.len() < 2 {
        return;
    }
    let middle = points.len() / 2;
    points.select_nth_unstable_by(middle, |a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.1.cmp(&b.1)));
    let (low, high) = points.split_at_mut(middle);
    split(low, (axis + 1) % 3);
    split(&mut high[1..], (axis + 1) % 3);
}

fn search(points: &[(DVec3, u32)], axis: usize, query: DVec3, best: &mut (f64, u32)) {
    if points.is_empty() {
        return;
    }
    let middle = points.len() / 2;
    let (point, number) = points[middle];
    let square = point.distance_squared(query);
    if square < best.0 || (square == best.0 && number < best.1) {
        *best = (square, number);
    }
    let offset = query[axis] - point[axis];
    let (low, high) = (&points[..middle], &points[middle + 1..]);
    let (near, far) = if offset < 0.0 { (low, high) } else { (high, low) };
    let next = (axis + 1) % 3;
    search(near, next, query, best);
    if offset * offset <= best.0 {
        search(far, next, query, best);
    }
}
