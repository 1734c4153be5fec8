//! From the model to the screen and back.

use glam::{DMat4, DVec2, DVec3, DVec4};
use sinew_geom::Mesh;

/// How the model is seen: perspective or parallel.
///
/// Clip coordinates divided by `w` put x and y within −1..1 on the screen. A perspective view has `w > 0` before
/// the viewer. In a parallel view depth grows away from the viewer; with reversed depth it would look from behind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct View {
    /// Projection · view · model.
    pub clip_from_model: DMat4,
}

/// A half line in model space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ray {
    /// Where it begins: the viewer's eye, or a place outside the mesh.
    pub origin: DVec3,
    /// Unit direction, away from the viewer.
    pub direction: DVec3,
}

/// A rectangle on the screen, in the units of [`View`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScreenBox {
    /// Smallest x and y.
    pub low: DVec2,
    /// Largest x and y.
    pub high: DVec2,
}

impl ScreenBox {
    /// The box with two opposite corners, in any order.
    pub fn new(from: DVec2, to: DVec2) -> Self {
        Self { low: from.min(to), high: from.max(to) }
    }

    /// Its middle.
    pub fn center(&self) -> DVec2 {
        (self.low + self.high) / 2.0
    }

    /// Whether a point lies in it; its rim belongs to it.
    pub fn contains(&self, at: DVec2) -> bool {
        at.cmpge(self.low).all() && at.cmple(self.high).all()
    }

    /// Whether a triangle and the box share a point, by separating lines.
    pub(super) fn touches(&self, triangle: [DVec2; 3]) -> bool {
        let [a, b, c] = triangle;
        let (low, high) = (a.min(b).min(c), a.max(b).max(c));
        if low.cmpgt(self.high).any() || high.cmplt(self.low).any() {
            return false;
        }
        let half = (self.high - self.low) / 2.0;
        [(a, b), (b, c), (c, a)].into_iter().all(|(p, q)| {
            let normal = (q - p).perp();
            let reach = half.dot(normal.abs());
            let sides = triangle.map(|t| normal.dot(t - self.center()));
            let (least, most) =
                sides.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, m), &s| (l.min(s), m.max(s)));
            least <= reach && most >= -reach
        })
    }
}

impl View {
    /// Where a point appears on the screen; `None` behind the viewer.
    pub fn project(&self, point: DVec3) -> Option<DVec2> {
        let clip = self.clip_from_model * point.extend(1.0);
        let at = DVec2::new(clip.x, clip.y) / clip.w;
        (clip.w > 0.0 && at.is_finite()).then_some(at)
    }

    /// The line of sight through a point of the screen; `None` if the view is singular.
    pub fn ray(&self, mesh: &Mesh, at: DVec2) -> Option<Ray> {
        let model_from_clip = self.clip_from_model.inverse();
        if !model_from_clip.is_finite() {
            return None;
        }
        // The eye is the point that all depths at one place of the screen have in common: x = y = w = 0.
        let eye = model_from_clip * DVec4::new(0.0, 0.0, 1.0, 0.0);
        let on_line = model_from_clip * DVec4::new(at.x, at.y, 0.0, 1.0);
        if !self.is_parallel() {
            let origin = eye.truncate() / eye.w;
            // Points of the line with clip w = 1 are (on_line + λ eye) / h with h > 0 before the viewer; their
            // difference from the origin is this, divided by h.
            let direction = (on_line.truncate() - on_line.w * origin).try_normalize()?;
            return origin.is_finite().then_some(Ray { origin, direction });
        }
        let direction = eye.truncate().try_normalize()?;
        let on_line = on_line.truncate() / on_line.w;
        let [low, high] = mesh.bounds();
        let back = on_line.distance((low + high) / 2.0) + low.distance(high);
        Some(Ray { origin: on_line - direction * back, direction })
    }

    /// Direction from a point towards the viewer, not of unit length.
    pub(super) fn towards_viewer(&self, ray: &Ray, point: DVec3) -> DVec3 {
        if self.is_parallel() { -ray.direction } else { ray.origin - point }
    }

    /// Only perspective views divide by something that varies.
    fn is_parallel(&self) -> bool {
        self.clip_from_model.row(3).truncate() == DVec3::ZERO
    }
}
