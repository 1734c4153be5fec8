//! Painting by face and by radius.

use super::Selector;

impl Selector<'_> {
    /// The corners of a face. Empty if there is no such face.
    pub fn paint_face(&self, face: u32) -> Vec<u32> {
        let mut corners = self.mesh.faces().get(face as usize).map_or(Vec::new(), |f| f.to_vec());
        corners.sort_unstable();
        corners.dedup();
        corners
    }

    /// Vertices within a radius, in metres, of a point on the surface. The distance is measured along the surface,
    /// so that paint does not appear on the other side of a thin sheet.
    pub fn paint_radius(&self, face: u32, barycentric: [f64; 3], radius: f64) -> Vec<u32> {
        let Some(corners) = self.mesh.faces().get(face as usize) else { return Vec::new() };
        let at = |v: u32| self.mesh.positions()[v as usize];
        let place = (0..3).map(|k| at(corners[k]) * barycentric[k]).sum();
        let sources = corners.map(|v| (v, at(v).distance(place)));
        let distance = self.steps.distances(&sources, radius);
        (0..distance.len() as u32).filter(|&v| distance[v as usize] <= radius).collect()
    }
}
