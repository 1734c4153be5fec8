//! Selecting the connected surface seen in a box (Hansen (2006), §8.3.3).

use super::{Flood, Ray, ScreenBox, Selector, View, marked};
use glam::{DVec2, DVec3};
use sinew_geom::query::RayHit;

/// How far from its rim towards its middle a face is tested, so that rounding does not miss it.
const RIM_INSET: f64 = 1e-3;

impl Selector<'_> {
    /// Vertices within a box that are connected, within it, to the face seen at its centre; if nothing is seen
    /// there, to the visible face nearest to the centre. Empty if the box shows nothing.
    pub fn flood(&self, view: &View, screen: &ScreenBox, flood: Flood) -> Vec<u32> {
        let Some(ray) = view.ray(self.mesh, screen.center()) else { return Vec::new() };
        let places: Vec<Option<DVec2>> = self.mesh.positions().iter().map(|&p| view.project(p)).collect();
        let in_box = self.faces_in_box(&places, screen);
        let Some(seed) = self.seed(view, &ray, screen, &places, &in_box) else { return Vec::new() };
        // An inside-out surface is seen from its inner side; "facing" then means that side.
        let side = if seed.front { 1.0 } else { -1.0 };
        let faces_viewer = |v: u32| {
            let (normal, p) = (self.normals[v as usize], self.mesh.positions()[v as usize]);
            side * normal.dot(view.towards_viewer(&ray, p)) > 0.0
        };
        let allowed = |v: u32| flood == Flood::Around || faces_viewer(v);
        let mut taken = vec![false; self.mesh.n_vertices()];
        let mut reached = vec![false; self.mesh.n_faces()];
        reached[seed.face as usize] = true;
        let mut stack = vec![seed.face];
        while let Some(face) = stack.pop() {
            for &v in self.mesh.faces()[face as usize].iter().filter(|&&v| allowed(v)) {
                if places[v as usize].is_some_and(|at| screen.contains(at)) {
                    taken[v as usize] = true;
                }
                for &next in self.adjacency.vertex_faces.row(v as usize) {
                    if in_box[next as usize] && !std::mem::replace(&mut reached[next as usize], true) {
                        stack.push(next);
                    }
                }
            }
        }
        marked(&taken)
    }

    /// Faces of which some part appears in the box. Faces reaching behind the viewer do not.
    fn faces_in_box(&self, places: &[Option<DVec2>], screen: &ScreenBox) -> Vec<bool> {
        let triangle = |face: &[u32; 3]| {
            let [a, b, c] = face.map(|v| places[v as usize]);
            Some([a?, b?, c?])
        };
        self.mesh.faces().iter().map(|face| triangle(face).is_some_and(|t| screen.touches(t))).collect()
    }

    /// The face to begin with.
    fn seed(
        &self,
        view: &View,
        ray: &Ray,
        screen: &ScreenBox,
        places: &[Option<DVec2>],
        in_box: &[bool],
    ) -> Option<RayHit> {
        if let Some(hit) = self.tree.first_hit(ray.origin, ray.direction) {
            return Some(hit);
        }
        // Distances in units of the box, so that it is round whatever its shape.
        let half = ((screen.high - screen.low) / 2.0).max(DVec2::splat(f64::MIN_POSITIVE));
        let mut candidates: Vec<(f64, u32, DVec3)> = Vec::new();
        for (face, corners) in self.mesh.faces().iter().enumerate().filter(|(f, _)| in_box[*f]) {
            let [Some(a), Some(b), Some(c)] = corners.map(|v| places[v as usize]) else { continue };
            let flat = [a, b, c].map(|p| (p - screen.center()) / half);
            let (distance, weights) = nearest_on_rim(flat);
            let weights = weights.map(|w| w + RIM_INSET * (1.0 / 3.0 - w));
            let p = self.mesh.corners(face);
            candidates.push((
                distance,
                face as u32,
                p[0] * weights[0] + p[1] * weights[1] + p[2] * weights[2],
            ));
        }
        candidates.sort_by(|x, y| x.0.total_cmp(&y.0).then(x.1.cmp(&y.1)));
        candidates.into_iter().find_map(|(_, face, point)| {
            let at = view.project(point)?;
            self.pick(view, at).filter(|hit| hit.face == face)
        })
    }
}

/// The point of a triangle's rim nearest to the origin: its distance and its weights.
fn nearest_on_rim(t: [DVec2; 3]) -> (f64, [f64; 3]) {
    let mut best = (f64::INFINITY, [0.0; 3]);
    for k in 0..3 {
        let (a, b) = (t[k], t[(k + 1) % 3]);
        let along = b - a;
        let length = along.length_squared();
        let share = if length > 0.0 { (-a.dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        let distance = (a + along * share).length();
        if distance < best.0 {
            let mut weights = [0.0; 3];
            weights[k] = 1.0 - share;
            weights[(k + 1) % 3] = share;
            best = (distance, weights);
        }
    }
    best
}
