//! The connected components of a mesh, with vertices at the same position merged.

use crate::{closed::weld, geodesic::Steps};
use glam::DVec3;
use sinew_geom::{Mesh, measure::compute_face_areas, mesh::Adjacency};

/// One connected component, as its own mesh.
pub(super) struct Component {
    pub mesh: Mesh,
    pub adjacency: Adjacency,
    /// Vertices of the whole mesh at each vertex of the component.
    pub originals: Vec<Vec<u32>>,
    /// Area of each face.
    pub face_areas: Vec<f64>,
    /// A third of the area of the faces around each vertex.
    pub vertex_areas: Vec<f64>,
    /// Area of the component.
    pub area: f64,
}

impl Component {
    fn new(mesh: Mesh, originals: Vec<Vec<u32>>) -> Self {
        let adjacency = Adjacency::new(&mesh);
        let face_areas = compute_face_areas(&mesh);
        let mut vertex_areas = vec![0.0; mesh.n_vertices()];
        for (face, area) in mesh.faces().iter().zip(&face_areas) {
            face.iter().for_each(|&v| vertex_areas[v as usize] += area / 3.0);
        }
        let area = face_areas.iter().sum();
        Self { mesh, adjacency, originals, face_areas, vertex_areas, area }
    }

    pub fn steps(&self) -> Steps {
        Steps::new(&self.mesh, &self.adjacency)
    }

    /// Centre of the surface, each vertex weighted by the area around it.
    pub fn centroid(&self) -> DVec3 {
        let positions = self.mesh.positions().iter();
        positions.zip(&self.vertex_areas).map(|(&p, a)| p * *a).sum::<DVec3>()
            / self.area.max(f64::MIN_POSITIVE)
    }
}

/// The components that have faces with area, largest first, and the number of vertices that are in none.
pub(super) fn split_parts(mesh: &Mesh) -> (Vec<Component>, usize) {
    let place = weld(mesh.positions());
    let n_places = place.iter().max().map_or(0, |&last| last as usize + 1);
    let mut positions = vec![DVec3::ZERO; n_places];
    place.iter().zip(mesh.positions()).for_each(|(&at, &p)| positions[at as usize] = p);
    let faces: Vec<[u32; 3]> = (mesh.faces().iter().map(|face| face.map(|v| place[v as usize])))
        .filter(|[a, b, c]| a != b && b != c && c != a)
        .collect();
    let Ok(welded) = Mesh::new(positions, faces) else { return (Vec::new(), mesh.n_vertices()) };
    let (component, n_components) = Adjacency::new(&welded).components();
    let mut local = vec![u32::MAX; n_places];
    let mut points: Vec<Vec<DVec3>> = vec![Vec::new(); n_components];
    for (v, &c) in component.iter().enumerate() {
        local[v] = points[c as usize].len() as u32;
        points[c as usize].push(welded.positions()[v]);
    }
    let mut triangles: Vec<Vec<[u32; 3]>> = vec![Vec::new(); n_components];
    for face in welded.faces() {
        triangles[component[face[0] as usize] as usize].push(face.map(|v| local[v as usize]));
    }
    let mut originals: Vec<Vec<Vec<u32>>> = points.iter().map(|p| vec![Vec::new(); p.len()]).collect();
    for (v, &at) in place.iter().enumerate() {
        let at = at as usize;
        originals[component[at] as usize][local[at] as usize].push(v as u32);
    }
    let mut parts: Vec<Component> = (points.into_iter().zip(triangles).zip(originals))
        .filter(|((_, triangles), _)| !triangles.is_empty())
        .filter_map(|((points, triangles), originals)| {
            Some(Component::new(Mesh::new(points, triangles).ok()?, originals))
        })
        .filter(|part| part.area > 0.0)
        .collect();
    parts.sort_by(|a, b| b.area.total_cmp(&a.area));
    let used: usize = parts.iter().flat_map(|part| &part.originals).map(Vec::len).sum();
    (parts, mesh.n_vertices() - used)
}
