//! Signed-distance fields of creatures: round cones and ellipsoids, blended along the limbs they belong to.
//!
//! # Source
//! Distance functions and the polynomial smooth minimum: Inigo Quilez, *Distance functions* and *Smooth minimum*,
//! iquilezles.org. Differs: blending follows a tree of groups, so that limbs that merely pass each other (fingers,
//! legs, an arm along the flank) are not joined by webs.
//! # Symbols
//! `own(g)` the primitives of group `g`, folded in order; `F(g) = min over children c of smin(own(g), F(c))`
//! # Cost
//! Linear in the active primitives; [`Active`] keeps those that matter within a ball.
//! # Limits
//! Values bound the distance where primitives do: see [`super::shape`].

use super::shape::Shape;
use glam::{DVec3, IVec3};
use rayon::prelude::*;

/// Value where there is no surface: large, but its differences stay finite.
const FAR_VALUE: f64 = 1e9;
/// Widest group tree a field may have; evaluation stores its values on the stack.
pub(super) const MAX_GROUPS: usize = 32;
/// Half width in metres over which the mirror plane is rounded, so that no crease runs down the middle.
const MIRROR_SOFTNESS: f64 = 0.003;

/// One lump of flesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prim {
    pub shape: Shape,
    /// Radius over which it blends with the earlier primitives of its group.
    pub blend: f64,
    /// Subtracted instead of added.
    pub carve: bool,
    pub group: usize,
    /// Joint that owns its surface.
    pub joint: usize,
    /// Material of its surface.
    pub tint: usize,
    /// Relative edge length on it in coarse meshes.
    pub grain: f64,
}

/// A limb: blends into its parent, but not into its siblings.
#[derive(Debug, Clone, Copy)]
pub(super) struct Group {
    pub parent: Option<usize>,
    pub blend: f64,
}

/// A creature's shape. Primitives are sorted by group, parents come before their children.
#[derive(Debug, Clone, Default)]
pub(super) struct Field {
    pub prims: Vec<Prim>,
    pub groups: Vec<Group>,
}

/// The part of a field that matters within some ball.
#[derive(Debug, Clone, Default)]
pub(super) struct Active {
    prims: Vec<u32>,
    groups: Vec<u32>,
}

/// Active parts on a grid of cubes around the creature, for points in no particular order.
pub(super) struct Regions<'a> {
    pub field: &'a Field,
    all: Active,
    low: DVec3,
    count: IVec3,
    cubes: Vec<Active>,
}

/// Side of the cubes of [`Regions`], in metres.
const REGION_SIDE: f64 = 0.04;

impl<'a> Regions<'a> {
    pub fn new(field: &'a Field) -> Self {
        let [low, high] = field.bounds();
        let low = low - REGION_SIDE;
        let count = ((high + REGION_SIDE - low) / REGION_SIDE).ceil().as_ivec3();
        let all = field.all();
        let narrowed = |within: &Active, at: DVec3, side: f64| {
            field.narrow(within, low + (at + 0.5) * side, 0.5 * side * 3f64.sqrt()).0
        };
        // Large cubes first: most primitives are excluded once for many small ones.
        let wide = (count + 3) / 4;
        let at = |i: i32, n: IVec3| IVec3::new(i % n.x, i / n.x % n.y, i / (n.x * n.y));
        let large: Vec<Active> = (0..wide.element_product())
            .into_par_iter()
            .map(|i| narrowed(&all, at(i, wide).as_dvec3(), 4.0 * REGION_SIDE))
            .collect();
        let cube = |i: i32| {
            let p = at(i, count);
            let q = p / 4;
            let within = &large[(q.x + wide.x * (q.y + wide.y * q.z)) as usize];
            narrowed(within, p.as_dvec3(), REGION_SIDE)
        };
        let cubes = (0..count.element_product()).into_par_iter().map(cube).collect();
        Self { field, all, low, count, cubes }
    }

    /// The active part at a point.
    pub fn at(&self, p: DVec3) -> &Active {
        let at = ((p - self.low) / REGION_SIDE).floor().as_ivec3();
        if at.min_element() < 0 || at.cmpge(self.count).any() {
            return &self.all;
        }
        &self.cubes[(at.x + self.count.x * (at.y + self.count.y * at.z)) as usize]
    }

    /// See [`Field::project`].
    pub fn project(&self, p: DVec3, step: f64, limit: f64) -> (DVec3, DVec3) {
        self.field.project(self.at(p), p, step, limit)
    }

    /// See [`Field::owner`].
    pub fn owner(&self, p: DVec3) -> &'a Prim {
        self.field.owner(self.at(p), p)
    }
}

/// Union of two distances, rounded over `k`.
pub(super) fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let overlap = (k - (a - b).abs()).max(0.0);
    a.min(b) - if overlap > 0.0 { overlap * overlap / (4.0 * k) } else { 0.0 }
}

/// Mirror a point into the half `x ≥ 0`.
pub(super) fn mirror(p: DVec3) -> DVec3 {
    DVec3::new((p.x * p.x + MIRROR_SOFTNESS * MIRROR_SOFTNESS).sqrt() - MIRROR_SOFTNESS, p.y, p.z)
}

/// Interval of a group without primitives.
const EMPTY_INTERVAL: [f64; 2] = [FAR_VALUE; 2];

/// Interval of a smooth minimum.
fn join(a: [f64; 2], b: [f64; 2], k: f64) -> [f64; 2] {
    let blends = a[0] <= b[1] + k && b[0] <= a[1] + k;
    let below = if blends { 0.25 * k } else { 0.0 };
    [a[0].min(b[0]) - below, a[1].min(b[1])]
}

impl Field {
    /// All primitives.
    pub fn all(&self) -> Active {
        Active {
            prims: (0..self.prims.len() as u32).collect(),
            groups: (0..self.groups.len() as u32).collect(),
        }
    }

    /// Value at a point, negative inside.
    pub fn value(&self, active: &Active, p: DVec3) -> f64 {
        let p = mirror(p);
        let mut own = [FAR_VALUE; MAX_GROUPS];
        for &i in &active.prims {
            let prim = &self.prims[i as usize];
            let d = prim.shape.distance(p);
            let sum = &mut own[prim.group];
            *sum =
                if prim.carve { -smooth_min(-*sum, d, prim.blend) } else { smooth_min(*sum, d, prim.blend) };
        }
        let mut total = own;
        for &g in active.groups.iter().rev() {
            let group = self.groups[g as usize];
            if let Some(parent) = group.parent {
                let joined = smooth_min(own[parent], total[g as usize], group.blend);
                total[parent] = total[parent].min(joined);
            }
        }
        total[0]
    }

    /// The part of `within` that can affect the field closer than `radius` to `center`, and the value there.
    ///
    /// The field is evaluated on intervals; operands that lose every minimum are left out.
    pub fn narrow(&self, within: &Active, center: DVec3, radius: f64) -> (Active, f64) {
        let p = mirror(center);
        let mut own = [EMPTY_INTERVAL; MAX_GROUPS];
        let mut kept: Vec<u32> = Vec::with_capacity(within.prims.len());
        for &i in &within.prims {
            let prim = &self.prims[i as usize];
            let range = prim.shape.range(p, radius);
            let sum = &mut own[prim.group];
            if prim.carve {
                if -range[0] > sum[0] - prim.blend {
                    *sum = [sum[0].max(-range[1]), sum[1].max(-range[0]) + 0.25 * prim.blend];
                    kept.push(i);
                }
            } else if range[0] <= sum[1] + prim.blend {
                if sum[0] > range[1] + prim.blend {
                    kept.retain(|&j| self.prims[j as usize].group != prim.group);
                    *sum = range;
                } else {
                    *sum = join(*sum, range, prim.blend);
                }
                kept.push(i);
            }
        }
        let used = self.used_groups(within, &own);
        kept.retain(|&i| used[self.prims[i as usize].group].0);
        let groups = within.groups.iter().copied().filter(|&g| used[g as usize].1).collect();
        (Active { prims: kept, groups }, self.value(within, center))
    }

    /// For each group, whether its own primitives matter, and whether it or anything below it does.
    fn used_groups(&self, within: &Active, own: &[[f64; 2]; MAX_GROUPS]) -> [(bool, bool); MAX_GROUPS] {
        let mut total = *own;
        let mut term = *own;
        for &g in within.groups.iter().rev() {
            let g = g as usize;
            if let Some(parent) = self.groups[g].parent {
                term[g] = join(own[parent], total[g], self.groups[g].blend);
                total[parent] = [total[parent][0].min(term[g][0]), total[parent][1].min(term[g][1])];
            }
        }
        let mut used = [(false, false); MAX_GROUPS];
        used[0].1 = true;
        for &g in &within.groups {
            let g = g as usize;
            if let Some(parent) = self.groups[g].parent {
                let blend = self.groups[g].blend;
                let wins = term[g][0] <= total[parent][1] && total[g][0] <= own[parent][1] + blend;
                used[g].1 = used[parent].1 && wins;
                // The parent contributes to this term unless it is far above.
                used[parent].0 |= used[g].1 && own[parent][0] <= total[g][1] + blend;
            }
            used[g].0 |= used[g].1 && own[g][0] <= total[g][1];
        }
        used
    }

    /// Value and gradient, by differences over a tetrahedron of size `step`.
    pub fn gradient(&self, active: &Active, p: DVec3, step: f64) -> (f64, DVec3) {
        const CORNERS: [DVec3; 4] = [
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(1.0, 1.0, 1.0),
        ];
        let values = CORNERS.map(|corner| self.value(active, p + corner * step));
        let gradient: DVec3 = CORNERS.iter().zip(values).map(|(&corner, value)| corner * value).sum();
        (values.iter().sum::<f64>() / 4.0, gradient / (4.0 * step))
    }

    /// One Newton step towards the surface, at most `limit` long; also the unit normal there.
    pub fn project(&self, active: &Active, p: DVec3, step: f64, limit: f64) -> (DVec3, DVec3) {
        let (value, gradient) = self.gradient(active, p, step);
        let slope2 = gradient.length_squared();
        if slope2 < 1e-6 {
            return (p, DVec3::Y);
        }
        let shift = gradient * (-value / slope2);
        let length = shift.length();
        let shift = if length > limit { shift * (limit / length) } else { shift };
        (p + shift, gradient / slope2.sqrt())
    }

    /// The primitive that forms the surface at a point: the nearest one that is added, of the nearest group.
    pub fn owner(&self, active: &Active, p: DVec3) -> &Prim {
        let p = mirror(p);
        let mut own = [FAR_VALUE; MAX_GROUPS];
        let mut best = [(FAR_VALUE, 0); MAX_GROUPS];
        for &i in &active.prims {
            let prim = &self.prims[i as usize];
            let d = prim.shape.distance(p);
            let (sum, nearest) = (&mut own[prim.group], &mut best[prim.group]);
            if prim.carve {
                *sum = -smooth_min(-*sum, d, prim.blend);
            } else {
                *sum = smooth_min(*sum, d, prim.blend);
                // Bones that share a ball tie all around it; the first one wins.
                if d < nearest.0 - 1e-5 {
                    *nearest = (d, i as usize);
                }
            }
        }
        let group = (0..MAX_GROUPS).min_by(|&a, &b| own[a].total_cmp(&own[b])).unwrap_or(0);
        &self.prims[best[group].1]
    }

    /// A box around the whole creature, both halves.
    pub fn bounds(&self) -> [DVec3; 2] {
        let boxes = self.prims.iter().filter(|prim| !prim.carve).map(|prim| prim.shape.bounds());
        let start = [DVec3::INFINITY, DVec3::NEG_INFINITY];
        let [low, high] = boxes.fold(start, |[l, h], [a, b]| [l.min(a), h.max(b)]);
        let reach = high.x.abs().max(low.x.abs());
        [DVec3::new(-reach, low.y, low.z), DVec3::new(reach, high.y, high.z)]
    }
}
