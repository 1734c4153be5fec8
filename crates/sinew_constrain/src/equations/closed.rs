//! Closed forms of equations over arrows: values and derivatives, written once for every use.

use crate::compile::EquationKind;
use glam::DVec3;
use sinew_geom::path::PlacedGround;

/// Takes rows with their derivatives by arrows, in the order of the blocks.
pub(crate) trait RowSink {
    /// One row: its value, and its derivatives by some arrows.
    fn row<const N: usize>(&mut self, value: f64, parts: [(usize, DVec3); N]) {
        self.expression(value, parts.into_iter(), std::iter::empty());
    }
    /// Three rows.
    fn vector<const N: usize, D: VectorDerivative>(&mut self, value: DVec3, parts: [(usize, D); N]) {
        for k in 0..3 {
            self.row(value[k], parts.map(|(arrow, derivative)| (arrow, derivative.apply(DVec3::AXES[k]))));
        }
    }
    /// One row of the tape: derivatives by arrows and by named degrees of freedom.
    fn expression(
        &mut self,
        value: f64,
        by_arrow: impl Iterator<Item = (usize, DVec3)>,
        by_dof: impl Iterator<Item = (usize, f64)>,
    );
}

/// A symmetric 3 × 3 matrix: the derivative of three rows by an arrow.
pub(crate) trait VectorDerivative: Copy {
    fn apply(self, velocity: DVec3) -> DVec3;
}

/// A multiple of the identity.
#[derive(Clone, Copy)]
struct Scaled(f64);

impl VectorDerivative for Scaled {
    #[inline(always)]
    fn apply(self, velocity: DVec3) -> DVec3 {
        velocity * self.0
    }
}

/// `factor (I − u uᵀ)`: how a unit vector changes.
#[derive(Clone, Copy)]
struct Across {
    unit: DVec3,
    factor: f64,
}

impl VectorDerivative for Across {
    #[inline(always)]
    fn apply(self, velocity: DVec3) -> DVec3 {
        (velocity - self.unit * self.unit.dot(velocity)) * self.factor
    }
}

/// Rows of a closed form, multiplied by `scale`.
#[inline(always)]
pub(super) fn write<S: RowSink>(kind: &EquationKind, scale: f64, arrows: &[DVec3], sink: &mut S) {
    match *kind {
        EquationKind::Zero { a } => sink.vector(arrows[a] * scale, [(a, Scaled(scale))]),
        EquationKind::Unit { a, b } => {
            let ((u, per_a), (v, per_b)) = (unit(arrows[a]), unit(arrows[b]));
            let (by_a, by_b) =
                (Across { unit: u, factor: per_a * scale }, Across { unit: v, factor: -per_b * scale });
            sink.vector((u - v) * scale, [(a, by_a), (b, by_b)]);
        }
        EquationKind::Length { a, target } => {
            // Two points in one place are moved apart along x: some direction is needed.
            let u = match unit(arrows[a]) {
                (_, 0.0) => DVec3::X,
                (u, _) => u,
            };
            sink.row(scale * (arrows[a].length() - target), [(a, u * scale)]);
        }
        EquationKind::Along { a, normal, offset } => {
            sink.row(scale * (normal.dot(arrows[a]) - offset), [(a, normal * scale)]);
        }
        EquationKind::Split { a, b } => {
            let (v, per_b) = unit(arrows[b]);
            let part = v.dot(arrows[a]);
            let by_b = (arrows[a] - v * part) * (per_b * scale);
            sink.row(scale * part, [(a, v * scale), (b, by_b)]);
        }
        EquationKind::Clear { ends, by } => {
            let [a, b, c, d] = ends.map(|end| arrows[end]);
            let (s, t) = nearest_on_segments([a, b], [c, d]);
            let apart = a.lerp(b, s) - c.lerp(d, t);
            let u = unit(apart).0 * scale;
            let by_end = [u * (1.0 - s), u * s, u * (t - 1.0), u * -t];
            sink.row(scale * (apart.length() - by), [0, 1, 2, 3].map(|i| (ends[i], by_end[i])));
        }
        EquationKind::Height { a, ref site, sign, by } => {
            let (height, gradient) = height_over(site, arrows[a]);
            sink.row(scale * (sign * height - by), [(a, gradient * (sign * scale))]);
        }
        // Scalars run on the tape.
        EquationKind::Scalar { .. } => {}
    }
}

/// Vectors shorter than this (metres) have no direction; its derivative is taken as zero.
const MIN_LENGTH_METRES: f64 = 1e-9;

/// Unit vector and one over the length; both zero if there is no direction.
#[inline(always)]
fn unit(vector: DVec3) -> (DVec3, f64) {
    let length = vector.length();
    let per = if length > MIN_LENGTH_METRES { 1.0 / length } else { 0.0 };
    (vector * per, per)
}

/// Rise over run beyond which the ground counts as an edge.
const MAX_SLOPE: f64 = 2.0;

/// Height of a point over the ground, and its derivative by the point.
fn height_over(site: &PlacedGround, at: DVec3) -> (f64, DVec3) {
    const STEP_METRES: f64 = 1e-3;
    let slope = |dx: f64, dz: f64| {
        let rise = site.height(at.x + dx, at.z + dz) - site.height(at.x - dx, at.z - dz);
        (rise / (2.0 * STEP_METRES)).clamp(-MAX_SLOPE, MAX_SLOPE)
    };
    let height = at.y - site.height(at.x, at.z);
    (height, DVec3::new(-slope(STEP_METRES, 0.0), 1.0, -slope(0.0, STEP_METRES)))
}

/// Where on two segments their nearest points lie, 0 to 1 each. Ericson, *Real-Time Collision Detection*, 5.1.9.
#[inline(always)]
fn nearest_on_segments([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> (f64, f64) {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let tiny = MIN_LENGTH_METRES * MIN_LENGTH_METRES;
    if uu <= tiny || vv <= tiny {
        let s = if uu > tiny { (-uw / uu).clamp(0.0, 1.0) } else { 0.0 };
        let t = if vv > tiny { (vw / vv).clamp(0.0, 1.0) } else { 0.0 };
        return (s, t);
    }
    let across = uu * vv - uv * uv;
    let s = if across > 1e-12 * uu * vv { ((uv * vw - uw * vv) / across).clamp(0.0, 1.0) } else { 0.0 };
    let t = (uv * s + vw) / vv;
    let held = t.clamp(0.0, 1.0);
    if held == t { (s, t) } else { (((held * uv - uw) / uu).clamp(0.0, 1.0), held) }
}
