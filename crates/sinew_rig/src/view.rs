//! One way to look at a body: which direction is up, which is forward, and which tips are left and right.

use crate::{
    limb::{Limb, Profile},
    posed,
    shape::Shape,
    symmetry::Plane,
    tips::Tip,
};
use glam::{DMat3, DVec3};
use sinew_geom::linalg::symmetric_eigen;

/// A body seen from one plausible frame. `left = up × forward` is normal to the plane of symmetry.
#[derive(Debug, Clone)]
pub(crate) struct View<'a> {
    pub shape: &'a Shape,
    pub plane: Plane,
    pub up: DVec3,
    pub forward: DVec3,
    pub left: DVec3,
    /// Tips of pairs, the left one first.
    pub pairs: Vec<[usize; 2]>,
    pub singles: Vec<usize>,
    /// Height of the lowest cell, and from there to the highest.
    pub low: f64,
    pub height: f64,
    /// How unusual the frame is, whatever the body.
    pub cost: f64,
}

/// Directions that files use for up, and how unusual they are.
const UPS: [(DVec3, f64); 6] = [
    (DVec3::Y, 0.0),
    (DVec3::Z, 0.25),
    (DVec3::NEG_Z, 0.8),
    (DVec3::NEG_Y, 0.8),
    (DVec3::X, 0.9),
    (DVec3::NEG_X, 0.95),
];

/// What it costs that limbs are paired by where they begin, not by where they end.
const BASE_PAIRS_COST: f64 = 0.1;

/// All views worth trying.
pub(crate) fn list_views(shape: &Shape) -> Vec<View<'_>> {
    let mut views: Vec<View> = Vec::new();
    for (k, plane) in shape.planes.iter().enumerate() {
        let worse = 30.0 * (plane.error - shape.planes[0].error).max(0.0) + 0.03 * k as f64;
        let pairs = shape.pair_tips(plane);
        views.extend(views_of(shape, plane, &pairs, worse));
        let posed = if plane.error > posed::MAX_PAIR_ERROR { shape.pair_bases(plane) } else { pairs.clone() };
        if posed != pairs {
            views.extend(views_of(shape, plane, &posed, worse + BASE_PAIRS_COST));
        }
    }
    views
}

/// All views with one plane of symmetry and one choice of pairs.
fn views_of<'a>(
    shape: &'a Shape,
    plane: &Plane,
    (pairs, singles): &(Vec<[usize; 2]>, Vec<usize>),
    cost: f64,
) -> Vec<View<'a>> {
    let mut views: Vec<View> = Vec::new();
    for (axis, prior) in UPS.into_iter().chain(main_directions(shape, plane)) {
        let flat = axis - axis.dot(plane.normal) * plane.normal;
        if flat.length() < 0.7 {
            continue;
        }
        let up = flat.normalize();
        if views.iter().any(|view| view.up.dot(up) > 0.94) {
            continue;
        }
        let mut frame = View::new(shape, *plane, up, pairs, singles);
        frame.cost = prior + cost + 0.5 * (1.0 - flat.length());
        let levelled = frame.levelled();
        for view in [Some(frame), levelled].into_iter().flatten() {
            views.push(view.turned());
            views.push(view);
        }
    }
    views
}

/// Directions of greatest and least extent within the plane of symmetry: for bodies that lie askew in their files.
fn main_directions(shape: &Shape, plane: &Plane) -> Vec<(DVec3, f64)> {
    const UNUSUAL: f64 = 0.5;
    let points = &shape.solid.points;
    let mean = points.iter().sum::<DVec3>() / points.len().max(1) as f64;
    let scatter = points.iter().fold(DMat3::ZERO, |sum, p| {
        let v = *p - mean;
        let v = v - v.dot(plane.normal) * plane.normal;
        sum + DMat3::from_cols(v.x * v, v.y * v, v.z * v)
    });
    let (_, axes) = symmetric_eigen(&scatter.to_cols_array(), 3);
    let axis = |k: usize| DVec3::new(axes[3 * k], axes[3 * k + 1], axes[3 * k + 2]);
    let all = [axis(1), -axis(1), axis(2), -axis(2)];
    all.into_iter().filter(|axis| axis.is_finite()).map(|axis| (axis, UNUSUAL)).collect()
}

impl<'a> View<'a> {
    fn new(shape: &'a Shape, plane: Plane, up: DVec3, pairs: &[[usize; 2]], singles: &[usize]) -> Self {
        // The normal is the left side.
        let forward = plane.normal.cross(up);
        let heights = shape.solid.points.iter().map(|p| p.dot(up));
        let (low, high) = heights.fold((f64::MAX, f64::MIN), |(l, h), y| (l.min(y), h.max(y)));
        Self {
            shape,
            plane,
            up,
            forward,
            left: plane.normal,
            pairs: pairs.to_vec(),
            singles: singles.to_vec(),
            low,
            height: (high - low).max(1e-9),
            cost: 0.0,
        }
    }

    /// The same body facing the other way: left and right change places.
    fn turned(&self) -> Self {
        let mut view = self.clone();
        view.forward = -view.forward;
        view.left = -view.left;
        view.plane =
            Plane { normal: -self.plane.normal, offset: -self.plane.offset, error: self.plane.error };
        view.pairs.iter_mut().for_each(|pair| pair.swap(0, 1));
        view
    }

    /// The view in which the foremost and rearmost feet stand level, if they nearly do.
    fn levelled(&self) -> Option<Self> {
        let stands = |&middle: &DVec3| {
            self.share_of_height(middle) < 0.3 && (self.shape.center - middle).dot(self.up) > 0.07
        };
        let long = self.pairs.iter().filter(|pair| self.persistence(pair) > 0.08);
        let mut feet: Vec<DVec3> = long.map(|pair| self.middle_of_tips(pair)).filter(stands).collect();
        feet.sort_by(|a, b| a.dot(self.forward).total_cmp(&b.dot(self.forward)));
        let (first, last) = (feet.first()?, feet.last()?);
        let between = *last - *first;
        let angle = between.dot(self.up).atan2(between.dot(self.forward));
        if between.dot(self.forward) < 0.2 || !(2.0..30.0).contains(&angle.abs().to_degrees()) {
            return None;
        }
        let forward = angle.cos() * self.forward + angle.sin() * self.up;
        let up = forward.cross(self.plane.normal);
        let mut view = Self::new(self.shape, self.plane, up, &self.pairs, &self.singles);
        view.cost = self.cost + 0.02 * angle.abs().to_degrees() / 10.0;
        Some(view)
    }

    pub fn tip(&self, tip: usize) -> &Tip {
        self.shape.end(tip)
    }

    pub fn profile(&self, tip: usize) -> &'a Profile {
        &self.shape.profiles[tip]
    }

    pub fn limb(&self, tip: usize, shortest: f64) -> Limb<'a> {
        Limb::new(self.profile(tip), shortest)
    }

    pub fn limbs(&self, pair: &[usize; 2], shortest: f64) -> [Limb<'a>; 2] {
        let [mut left, mut right] = pair.map(|tip| self.limb(tip, shortest));
        // An arm that touches the hip on one side seems to end there: its mirror image knows better.
        let is_mirrored = self.plane.mirror(left.tip()).distance(right.tip()) < 0.05;
        if is_mirrored && left.end * 4 < right.end * 3 {
            left = left.extended(right.end);
        } else if is_mirrored && right.end * 4 < left.end * 3 {
            right = right.extended(left.end);
        }
        [left, right]
    }

    /// Height above the lowest cell.
    pub fn above_ground(&self, point: DVec3) -> f64 {
        point.dot(self.up) - self.low
    }

    pub fn share_of_height(&self, point: DVec3) -> f64 {
        self.above_ground(point) / self.height
    }

    /// How far in front of the centre.
    pub fn ahead(&self, point: DVec3) -> f64 {
        (point - self.shape.center).dot(self.forward)
    }

    /// Distance from the plane of symmetry.
    pub fn aside(&self, point: DVec3) -> f64 {
        self.plane.height(point).abs()
    }

    pub fn flat(&self, point: DVec3) -> DVec3 {
        self.plane.project(point)
    }

    pub fn with_height(&self, point: DVec3, above_ground: f64) -> DVec3 {
        point + (above_ground - self.above_ground(point)) * self.up
    }

    pub fn middle_of_tips(&self, pair: &[usize; 2]) -> DVec3 {
        self.flat(0.5 * (self.tip(pair[0]).point + self.tip(pair[1]).point))
    }

    /// How far the lower tip of a pair is above the ground, as a share of the height: legs that swing are off it.
    pub fn lower_tip(&self, pair: &[usize; 2]) -> f64 {
        pair.iter().map(|&tip| self.share_of_height(self.tip(tip).point)).fold(f64::MAX, f64::min)
    }

    /// How far one pair is in front of another: their tips, or where they begin, whichever is farther.
    pub fn ahead_of(&self, front: &[usize; 2], hind: &[usize; 2]) -> f64 {
        let tips = self.middle_of_tips(front) - self.middle_of_tips(hind);
        let base = |pair: &[usize; 2]| {
            let [left, right] = self.limbs(pair, 0.1);
            0.5 * (left.base() + right.base())
        };
        tips.dot(self.forward).max((base(front) - base(hind)).dot(self.forward))
    }

    /// How far the less prominent tip of a pair sticks out.
    pub fn persistence(&self, pair: &[usize; 2]) -> f64 {
        self.tip(pair[0]).persistence.min(self.tip(pair[1]).persistence)
    }

    /// Length of the shortest path inside from a tip to a point.
    pub fn way(&self, tip: usize, point: DVec3) -> f64 {
        f64::from(self.profile(tip).distance[self.shape.solid.nearest(point)])
    }

    /// Whether a tip grows on the limb of another: a finger on a hand, a toe on a foot.
    pub fn grows_on(&self, tip: usize, limbs: &[[usize; 2]]) -> bool {
        let is_on = |&other: &usize| {
            let way = f64::from(self.profile(tip).distance[self.tip(other).cell]);
            way < 0.7 * self.limb(other, 0.1).length() && way < 0.2
        };
        limbs.iter().flatten().any(is_on)
    }

    /// Single tips on the plane of symmetry.
    pub fn central(&self) -> impl Iterator<Item = usize> + '_ {
        self.singles.iter().copied().filter(|&tip| self.aside(self.tip(tip).point) < 0.06)
    }
}

/// Sections across an axis.
pub(crate) struct Slices {
    low: f64,
    width: f64,
    count: Vec<f64>,
    middle: Vec<DVec3>,
}

impl Slices {
    /// Of the cells a filter leaves; `None` if there are too few.
    pub fn new(shape: &Shape, axis: DVec3, n: usize, keep: impl Fn(usize) -> bool) -> Option<Self> {
        let cells: Vec<usize> = (0..shape.solid.len()).filter(|&cell| keep(cell)).collect();
        let along = |cell: usize| shape.solid.points[cell].dot(axis);
        let (low, high) =
            cells.iter().fold((f64::MAX, f64::MIN), |(l, h), &c| (l.min(along(c)), h.max(along(c))));
        if cells.len() < 20 || high - low < 1e-6 {
            return None;
        }
        let width = (high - low) / n as f64;
        let mut count = vec![0.0; n];
        let mut middle = vec![DVec3::ZERO; n];
        for cell in cells {
            let k = (((along(cell) - low) / width) as usize).min(n - 1);
            count[k] += 1.0;
            middle[k] += shape.solid.points[cell];
        }
        let filled: Vec<usize> = (0..n).filter(|&k| count[k] > 0.0).collect();
        filled.iter().for_each(|&k| middle[k] /= count[k]);
        // Empty slices between filled ones lie on the line between them.
        for pair in filled.windows(2) {
            for k in pair[0] + 1..pair[1] {
                let t = (k - pair[0]) as f64 / (pair[1] - pair[0]) as f64;
                middle[k] = middle[pair[0]].lerp(middle[pair[1]], t);
            }
        }
        (0..3).for_each(|_| crate::limb::smooth(&mut middle, |a, b, c| 0.25 * (a + 2.0 * b + c)));
        Some(Self { low, width, count, middle })
    }

    pub fn high(&self) -> f64 {
        self.low + self.width * self.count.len() as f64
    }

    pub fn low(&self) -> f64 {
        self.low
    }

    /// Middle of the slice at a position along the axis.
    pub fn at(&self, position: f64) -> DVec3 {
        let last = self.middle.len() - 1;
        let x = ((position - self.low) / self.width - 0.5).clamp(0.0, last as f64);
        let k = x as usize;
        self.middle[k].lerp(self.middle[(k + 1).min(last)], x - k as f64)
    }

    /// Position of the slice with the fewest cells between two positions, if the range holds three.
    pub fn smallest(&self, from: f64, to: f64) -> Option<f64> {
        let position = |k: usize| self.low + (k as f64 + 0.5) * self.width;
        let within: Vec<usize> =
            (0..self.count.len()).filter(|&k| position(k) > from && position(k) < to).collect();
        let best = within.iter().copied().min_by(|&a, &b| self.count[a].total_cmp(&self.count[b]))?;
        (within.len() > 2).then(|| position(best))
    }
}

impl Slices {
    /// Cells of the slice at a position, as a share of those of the fullest slice above another.
    pub fn share_of_fullest(&self, position: f64, above: f64) -> f64 {
        let slice = |position: f64| ((position - self.low) / self.width).max(0.0) as usize;
        let last = self.count.len() - 1;
        let fullest = self.count[slice(above).min(last)..].iter().copied().fold(1.0, f64::max);
        self.count[slice(position).min(last)] / fullest
    }
}
