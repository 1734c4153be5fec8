//! Sculpting: a brush that pushes, pulls or smooths offsets along the normal.
//!
//! # Source
//! Hansen (2006), §6.4.1, which leaves the tools open (§10.5). The brush fades with the distance over the surface as
//! `(1 − d²)²`, which is flat in the middle and at its rim.

use super::Selector;

/// What a brush does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SculptOp {
    /// Inwards.
    Push,
    /// Outwards.
    Pull,
    /// Towards the mean of the neighbours.
    Smooth,
}

/// A brush.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SculptBrush {
    /// What it does.
    pub op: SculptOp,
    /// How far it reaches over the surface, in metres.
    pub radius: f64,
    /// 0 does nothing, 1 is the maximum.
    pub strength: f64,
}

/// Height of one touch at full strength, as a share of the radius.
const TOUCH_HEIGHT: f64 = 0.08;

impl Selector<'_> {
    /// Apply a brush at a point of the surface. Returns the vertices whose offsets change, with the new offsets.
    pub fn sculpt(
        &self,
        face: u32,
        barycentric: [f64; 3],
        brush: &SculptBrush,
        offsets: &[f32],
    ) -> Vec<(u32, f32)> {
        let Some(corners) = self.mesh.faces().get(face as usize) else { return Vec::new() };
        let at = |v: u32| self.mesh.positions()[v as usize];
        let place = (0..3).map(|k| at(corners[k]) * barycentric[k]).sum();
        let sources = corners.map(|v| (v, at(v).distance(place)));
        let distances = self.steps.distances(&sources, brush.radius);
        let offset = |v: u32| offsets.get(v as usize).copied().map_or(0.0, f64::from);
        let touched = distances.iter().enumerate().filter(|(_, distance)| **distance < brush.radius);
        touched
            .map(|(v, distance)| {
                let v = v as u32;
                let fade = (1.0 - (distance / brush.radius).powi(2)).powi(2) * brush.strength;
                let now = offset(v);
                let new = match brush.op {
                    SculptOp::Push => now - fade * TOUCH_HEIGHT * brush.radius,
                    SculptOp::Pull => now + fade * TOUCH_HEIGHT * brush.radius,
                    SculptOp::Smooth => now + fade * (self.mean_around(v, offset) - now),
                };
                (v, new as f32)
            })
            .filter(|(v, new)| f64::from(*new) != offset(*v) && new.is_finite())
            .collect()
    }

    fn mean_around(&self, v: u32, offset: impl Fn(u32) -> f64) -> f64 {
        let neighbors = self.adjacency.neighbors.row(v as usize);
        let sum: f64 = neighbors.iter().map(|&other| offset(other)).sum();
        if neighbors.is_empty() { offset(v) } else { sum / neighbors.len() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use sinew_geom::Mesh;

    /// A flat sheet of 21 × 21 vertices, a metre wide.
    fn sheet() -> Mesh {
        let positions = (0..441).map(|i| DVec3::new(f64::from(i % 21), f64::from(i / 21), 0.0) / 20.0);
        let quad = |i: u32| [[i, i + 1, i + 21], [i + 1, i + 22, i + 21]];
        let faces = (0..420).filter(|i| i % 21 < 20).flat_map(quad).collect();
        Mesh::new(positions.collect(), faces).unwrap()
    }

    #[test]
    fn a_brush_pulls_most_in_its_middle_and_nothing_beyond_its_rim() {
        let mesh = sheet();
        let selector = Selector::new(&mesh);
        let face = mesh.faces().iter().position(|f| f[0] == 220).unwrap() as u32;
        let brush = |op| SculptBrush { op, radius: 0.2, strength: 0.5 };
        let flat = vec![0.0; 441];
        let pulled = selector.sculpt(face, [1.0, 0.0, 0.0], &brush(SculptOp::Pull), &flat);
        let pushed = selector.sculpt(face, [1.0, 0.0, 0.0], &brush(SculptOp::Push), &flat);
        assert!(pulled.len() > 20);
        for ((v, up), (w, down)) in pulled.iter().zip(&pushed) {
            let far = mesh.positions()[*v as usize].distance(mesh.positions()[220]);
            assert!(v == w && *up == -*down && far < 0.2 && *up > 0.0);
            assert!(*v == 220 || *up < 0.5 * 0.08 * 0.2);
        }
        let top = pulled.iter().find(|(v, _)| *v == 220).unwrap().1;
        assert!((f64::from(top) - 0.5 * TOUCH_HEIGHT * 0.2).abs() < 1e-6);
        // Smoothing lowers a spike and changes nothing that is even.
        let mut spike = flat.clone();
        spike[220] = 0.1;
        let smoothed = selector.sculpt(face, [1.0, 0.0, 0.0], &brush(SculptOp::Smooth), &spike);
        let now = smoothed.iter().find(|(v, _)| *v == 220).unwrap().1;
        assert!((now - 0.05).abs() < 1e-6, "half way to the neighbours, which lie at 0: {now}");
        let even = vec![0.3; 441];
        assert!(selector.sculpt(face, [1.0, 0.0, 0.0], &brush(SculptOp::Smooth), &even).is_empty());
        let none = SculptBrush { strength: 0.0, ..brush(SculptOp::Pull) };
        assert!(selector.sculpt(face, [1.0, 0.0, 0.0], &none, &flat).is_empty());
        assert!(selector.sculpt(9_999, [1.0, 0.0, 0.0], &brush(SculptOp::Pull), &flat).is_empty());
    }
}
