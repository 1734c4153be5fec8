//! Signed-distance fields of creatures: round cones and ellipsoids, blended along the limbs they belong to.
//!
//! # Source
//! Distance functions and the polynomial smooth minimum: Inigo Quilez, *Distance functions* and *Smooth
//! minimum*, iquilezles.org. Differs: blending follows a tree of groups, so that limbs which merely pass each
//! other (fingers, legs, an arm along the flank) never grow webs.
//! # Symbols
//! `own(g)` the primitives of group `g`, folded in order; `F(g) = min over children c of smin(own(g), F(c))`
//! # Cost
//! Linear in the active primitives; [`Active`] keeps those that matter within a ball.
//! # Limits
//! Ellipsoids and squashed cones only bound the distance; [`STRETCH`] covers how far they may be off.

use glam::{DMat3, DVec3};

/// Stands for "nothing here": large, yet its differences stay finite.
const FAR: f64 = 1e9;
/// Widest group tree a field may have; evaluation keeps its values on the stack.
pub(super) const MAX_GROUPS: usize = 32;
/// Factor by which a primitive's value may change faster than the distance it stands for.
pub(super) const STRETCH: f64 = 1.35;
/// Half width in metres over which the mirror plane is rounded, so that no crease runs down the middle.
const MIRROR_SOFTNESS: f64 = 0.003;

/// Geometry of a primitive.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape {
    /// Spheres of radius `ra` at `a` and `rb` at `b` and their hull, made `flat` times as thick along `across`.
    Cone { a: DVec3, b: DVec3, ra: f64, rb: f64, across: DVec3, flat: f64 },
    /// Half axes `radii` in a frame given by `local_from_world`.
    Ellipsoid { center: DVec3, local_from_world: DMat3, radii: DVec3 },
}

/// One lump of flesh.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prim {
    pub shape: Shape,
    /// Radius over which it blends with what its group holds before it.
    pub blend: f64,
    /// Taken away instead of added.
    pub carve: bool,
    pub group: usize,
    /// Joint that owns the surface it makes.
    pub joint: usize,
    /// Material of the surface it makes.
    pub tint: usize,
    /// Relative edge length wanted on it in coarse meshes.
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

/// Union of two distances, rounded over `k`.
pub(super) fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    let overlap = (k - (a - b).abs()).max(0.0);
    a.min(b) - if overlap > 0.0 { overlap * overlap / (4.0 * k) } else { 0.0 }
}

/// Point of the half `x ≥ 0` that stands for `p`.
pub(super) fn mirror(p: DVec3) -> DVec3 {
    DVec3::new((p.x * p.x + MIRROR_SOFTNESS * MIRROR_SOFTNESS).sqrt() - MIRROR_SOFTNESS, p.y, p.z)
}

impl Shape {
    /// Signed distance, or a bound of it.
    pub fn distance(&self, p: DVec3) -> f64 {
        match *self {
            Self::Cone { a, b, ra, rb, across, flat } => {
                let q = p - a;
                let q = q + across * (q.dot(across) * (1.0 / flat - 1.0));
                round_cone(q, b - a, ra, rb) * flat
            }
            Self::Ellipsoid { center, local_from_world, radii } => {
                let q = local_from_world * (p - center);
                let k0 = (q / radii).length();
                let k1 = (q / (radii * radii)).length();
                if k1 < 1e-12 { -radii.min_element() } else { k0 * (k0 - 1.0) / k1 }
            }
        }
    }

    /// Corners of a box around it.
    pub fn bounds(&self) -> [DVec3; 2] {
        match *self {
            Self::Cone { a, b, ra, rb, .. } => [(a - ra).min(b - rb), (a + ra).max(b + rb)],
            Self::Ellipsoid { center, local_from_world, radii } => {
                let m = local_from_world.transpose();
                let half = m.x_axis.abs() * radii.x + m.y_axis.abs() * radii.y + m.z_axis.abs() * radii.z;
                [center - half, center + half]
            }
        }
    }
}

/// Exact distance to a round cone whose first end is the origin.
fn round_cone(q: DVec3, axis: DVec3, ra: f64, rb: f64) -> f64 {
    let l2 = axis.length_squared();
    let dr = ra - rb;
    let a2 = l2 - dr * dr;
    // One ball holds the other: there is no cone between them.
    if a2 <= 0.0 {
        return (q.length() - ra).min((q - axis).length() - rb);
    }
    let y = q.dot(axis);
    let z = y - l2;
    let x2 = (q * l2 - axis * y).length_squared();
    let (y2, z2) = (y * y * l2, z * z * l2);
    let k = dr.signum() * dr * dr * x2;
    if z.signum() * a2 * z2 > k {
        return (x2 + z2).sqrt() / l2 - rb;
    }
    if y.signum() * a2 * y2 < k {
        return (x2 + y2).sqrt() / l2 - ra;
    }
    ((x2 * a2 / l2).sqrt() + y * dr) / l2 - ra
}

impl Field {
    /// Everything.
    pub fn all(&self) -> Active {
        Active { prims: (0..self.prims.len() as u32).collect(), groups: (0..self.groups.len() as u32).collect() }
    }

    /// Value at a point, negative inside.
    pub fn value(&self, active: &Active, p: DVec3) -> f64 {
        let p = mirror(p);
        let mut own = [FAR; MAX_GROUPS];
        for &i in &active.prims {
            let prim = &self.prims[i as usize];
            let d = prim.shape.distance(p);
            let sum = &mut own[prim.group];
            *sum = if prim.carve { -smooth_min(-*sum, d, prim.blend) } else { smooth_min(*sum, d, prim.blend) };
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

    /// What of `within` can shape the surface closer than `radius` to `center`, and the value there.
    pub fn narrow(&self, within: &Active, center: DVec3, radius: f64) -> (Active, f64) {
        let value = self.value(within, center);
        let p = mirror(center);
        let reach = value.abs() + 2.0 * STRETCH * radius;
        let matters = |i: &u32| {
            let prim = &self.prims[*i as usize];
            let joins = self.groups[prim.group].blend.max(prim.blend);
            prim.shape.distance(p) < reach + 1.5 * joins
        };
        let prims: Vec<u32> = within.prims.iter().copied().filter(matters).collect();
        let mut used = [false; MAX_GROUPS];
        for &i in &prims {
            let mut at = Some(self.prims[i as usize].group);
            while let Some(g) = at.filter(|&g| !used[g]) {
                used[g] = true;
                at = self.groups[g].parent;
            }
        }
        let groups = within.groups.iter().copied().filter(|&g| used[g as usize]).collect();
        (Active { prims, groups }, value)
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

    /// The primitive that makes the surface at a point: the nearest one that adds.
    pub fn owner(&self, p: DVec3) -> &Prim {
        let p = mirror(p);
        let mut best = (FAR, 0);
        for (i, prim) in self.prims.iter().enumerate().filter(|(_, prim)| !prim.carve) {
            let d = prim.shape.distance(p);
            if d < best.0 {
                best = (d, i);
            }
        }
        &self.prims[best.1]
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
