//! A limb from its tip to where it enters the body: a curve through its middle, and how thick it is.
//!
//! # Source
//! Level sets of the distance from the tip along paths inside, as in Lazarus and Verroust, *Level set diagrams of polyhedral
//! objects* (1999); a limb ends where its sections widen suddenly.
//! # Cost
//! One pass of distances per tip, then linear in cells.

use crate::{solid::Solid, tips::Tip};
use glam::DVec3;

/// Distance between sections, as a share of the diagonal.
pub(crate) const SECTION_STEP: f64 = 0.01;

/// Sections of the whole body by distance from one tip.
#[derive(Debug)]
pub(crate) struct Profile {
    /// Distance of every cell from the tip.
    pub distance: Vec<f32>,
    pub tip: Tip,
    /// Middle of each section; section `k` is `(k + ½) · SECTION_STEP` from the tip.
    pub middle: Vec<DVec3>,
    /// Radius of a disc of each section's area.
    pub radius: Vec<f64>,
}

impl Profile {
    pub fn new(solid: &Solid, tip: Tip) -> Self {
        let distance = solid.distances(&[tip.cell], f64::INFINITY);
        let section = |d: f32| if d.is_finite() { (f64::from(d) / SECTION_STEP) as usize } else { 0 };
        let n = distance.iter().map(|&d| section(d)).max().unwrap_or(0) + 1;
        let mut count = vec![0.0; n];
        let mut middle = vec![DVec3::ZERO; n];
        for (&d, &point) in distance.iter().zip(&solid.points) {
            count[section(d)] += 1.0;
            middle[section(d)] += point;
        }
        for k in 0..n {
            middle[k] = match count[k] > 0.0 {
                true => middle[k] / count[k],
                false if k > 0 => middle[k - 1],
                false => tip.point,
            };
        }
        let area = |n: &f64| n * solid.cell().powi(3) / SECTION_STEP;
        let mut radius: Vec<f64> = count.iter().map(|n| (area(n) / std::f64::consts::PI).sqrt()).collect();
        (0..2).for_each(|_| smooth(&mut middle, |a, b, c| 0.25 * (a + 2.0 * b + c)));
        (0..2).for_each(|_| smooth(&mut radius, |a, b, c| 0.25 * (a + 2.0 * b + c)));
        Self { distance, tip, middle, radius }
    }

    pub fn n_sections(&self) -> usize {
        self.middle.len()
    }

    /// Point of the middle curve at a distance from the tip.
    pub fn at(&self, distance: f64) -> DVec3 {
        let position = (distance / SECTION_STEP - 0.5).clamp(0.0, (self.n_sections() - 1) as f64);
        let k = position as usize;
        let next = (k + 1).min(self.n_sections() - 1);
        self.middle[k].lerp(self.middle[next], position - k as f64)
    }
}

/// Replace every inner entry by a function of its neighbours and itself.
pub(crate) fn smooth<T: Copy>(values: &mut [T], blend: impl Fn(T, T, T) -> T) {
    let old = values.to_vec();
    for k in 1..values.len().saturating_sub(1) {
        values[k] = blend(old[k - 1], old[k], old[k + 1]);
    }
}

/// A part of a profile: from the tip to where the body begins.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limb<'a> {
    pub profile: &'a Profile,
    /// Last section of the limb.
    pub end: usize,
    /// Whether the sections widen there; else the length is a guess from how far the tip sticks out.
    pub is_found: bool,
}

impl<'a> Limb<'a> {
    /// The limb of a tip, at least `shortest` long (share of the diagonal).
    pub fn new(profile: &'a Profile, shortest: f64) -> Self {
        const LONGEST: f64 = 0.75;
        let r = &profile.radius;
        let n = r.len();
        let window = (0.06 / SECTION_STEP) as usize;
        let widens = |&k: &usize| {
            r[k + window] > 1.65 * r[k]
                && r[k + window] - r[k] > 0.018
                && (r[k + 2] - r[k]) / (2.0 * SECTION_STEP) > 0.22
        };
        let last = n.saturating_sub(window).min((LONGEST / SECTION_STEP) as usize);
        match ((shortest / SECTION_STEP) as usize..last).find(widens) {
            Some(end) => Self { profile, end, is_found: true },
            None => {
                let length = profile.tip.persistence.clamp(0.06, 0.3);
                Self { profile, end: ((length / SECTION_STEP) as usize).min(n - 1), is_found: false }
            }
        }
    }

    pub fn length(&self) -> f64 {
        (self.end as f64 + 0.5) * SECTION_STEP
    }

    pub fn tip(&self) -> DVec3 {
        self.profile.tip.point
    }

    /// The same limb with another last section.
    pub fn extended(&self, end: usize) -> Self {
        Self { end: end.min(self.profile.n_sections() - 1), ..*self }
    }

    /// Where it leaves the body.
    pub fn base(&self) -> DVec3 {
        self.profile.middle[self.end]
    }

    /// Point at a distance from the tip, at most a little beyond the base.
    pub fn at(&self, distance: f64) -> DVec3 {
        self.profile.at(distance.min(self.length() + 3.0 * SECTION_STEP))
    }

    /// Median radius.
    pub fn thickness(&self) -> f64 {
        let mut r = self.profile.radius[(self.end / 8)..=self.end].to_vec();
        r.sort_by(f64::total_cmp);
        r[r.len() / 2]
    }

    /// Volume of the first sections from the tip.
    pub fn volume(&self, n_sections: usize) -> f64 {
        let r = &self.profile.radius;
        r[..=n_sections.min(r.len() - 1)].iter().map(|r| std::f64::consts::PI * r * r * SECTION_STEP).sum()
    }

    /// How many times longer than thick.
    pub fn slenderness(&self) -> f64 {
        self.length() / self.thickness().max(1e-6)
    }

    /// Distance of the thinnest section between two shares of the length, if it is thinner than both ends.
    pub fn thinnest(&self, from: f64, to: f64) -> Option<f64> {
        let inside = |k: &usize| {
            let s = (*k as f64 + 0.5) * SECTION_STEP;
            s > from * self.length() && s < to * self.length()
        };
        let sections: Vec<usize> = (0..self.profile.n_sections()).filter(inside).collect();
        let r = &self.profile.radius;
        let best = sections.iter().copied().min_by(|&a, &b| r[a].total_cmp(&r[b]))?;
        let is_inner = sections.len() > 2 && best != sections[0] && Some(&best) != sections.last();
        is_inner.then_some((best as f64 + 0.5) * SECTION_STEP)
    }

    /// First point of the curve, from the tip, that is as high as this.
    pub fn at_height(&self, height: f64, up: DVec3) -> DVec3 {
        let curve = &self.profile.middle[..(self.end + 4).min(self.profile.n_sections())];
        point_at_height(curve, height, up).unwrap_or_else(|| self.base())
    }

    /// How much longer the curve is than the straight line.
    pub fn fold(&self) -> f64 {
        self.length() / self.base().distance(self.tip()).max(1e-6)
    }

    /// Cells that are not part of the limb.
    pub fn is_beyond(&self, cell: usize) -> bool {
        f64::from(self.profile.distance[cell]) > self.length()
    }

    /// Distance from the tip of the strongest bend between two distances, near a share of the way; the straighter the limb,
    /// the nearer to that share.
    pub fn bend(&self, from: f64, to: f64, share: f64, window: f64) -> f64 {
        let (a, b) = (self.at(from), self.at(to));
        let angle = |t: f64| {
            let p = self.at(from + (to - from) * t);
            (p - a).angle_between(b - p).to_degrees()
        };
        let candidates = (0..9).map(|i| share - window + window * i as f64 / 4.0);
        let (angle, best) = candidates
            .map(|t| (angle(t), t))
            .filter(|(angle, _)| angle.is_finite())
            .max_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((0.0, share));
        let trust = ((angle - 10.0) / 20.0).clamp(0.0, 1.0);
        from + (to - from) * (trust * best + (1.0 - trust) * share)
    }

    /// Distances from the tip at which a chain of `n` joints bends best, the base first.
    ///
    /// # Source
    /// Corners as by Douglas and Peucker, *Algorithms for the reduction of the number of points required to represent a
    /// digitized line* (1973); pieces without a corner are halved.
    pub fn corners(&self, n: usize) -> Vec<f64> {
        const N: usize = 40;
        let place = |i: usize| self.length() * i as f64 / (N - 1) as f64;
        let curve: Vec<DVec3> = (0..N).map(|i| self.at(place(i))).collect();
        let mut picked = vec![0, N - 1];
        while picked.len() < n + 1 {
            let pieces = picked.windows(2).map(|piece| [piece[0], piece[1]]).filter(|[a, b]| b - a >= 8);
            let split = |[a, b]: [usize; 2]| {
                let direction = (curve[b] - curve[a]).normalize_or_zero();
                let off = |i: usize| (curve[i] - curve[a]).reject_from_normalized(direction).length();
                let (far, corner) =
                    (a + 4..=b - 4).map(|i| (off(i), i)).max_by(|p, q| p.0.total_cmp(&q.0))?;
                match far < 0.02 || !direction.is_normalized() {
                    true => Some(((place(b) - place(a)) * 0.02, (a + b) / 2)),
                    false => Some((2.0 * far, corner)),
                }
            };
            let Some((_, corner)) = pieces.filter_map(split).max_by(|p, q| p.0.total_cmp(&q.0)) else {
                break;
            };
            picked.push(corner);
            picked.sort_unstable();
        }
        picked.into_iter().rev().filter(|&i| i > 0).map(place).collect()
    }
}

/// First point of a polyline whose height reaches a value.
pub(crate) fn point_at_height(curve: &[DVec3], height: f64, up: DVec3) -> Option<DVec3> {
    let k = curve.iter().position(|p| p.dot(up) >= height)?;
    if k == 0 {
        return Some(curve[0]);
    }
    let (low, high) = (curve[k - 1].dot(up), curve[k].dot(up));
    Some(curve[k - 1].lerp(curve[k], ((height - low) / (high - low).max(1e-9)).clamp(0.0, 1.0)))
}
