//! Seams closed: vertices at the same place are one, so that a surface that a file cut along the edges of its texture is posed
//! as it looks.
//!
//! # Source
//! Sinew's own.
//! # Limits
//! Only exact coincidences are closed, those of handles that differ are not, and lips that lie on each other are closed too:
//! hold them by different handles.

use crate::{DeformError, HandleSet, handled::HandledMesh};
use glam::DVec3;
use sinew_geom::{Handle, Mesh, Warnings, mesh::Adjacency};
use std::borrow::Cow;

/// A mesh without seams, with its handles.
pub(crate) struct ClosedMesh<'a> {
    pub mesh: Cow<'a, Mesh>,
    pub handles: Cow<'a, HandleSet>,
    adjacency: Adjacency,
    /// Vertex of the closed mesh for every vertex of the open one; none if nothing was closed.
    pub of: Option<Vec<u32>>,
}

impl<'a> ClosedMesh<'a> {
    /// Close the seams of a mesh. Copies that different handles hold stay apart; soft ones join a held one.
    pub fn new(mesh: &'a Mesh, handles: &'a HandleSet) -> Result<Self, DeformError> {
        let place = weld(mesh.positions());
        let n_places = place.iter().max().map_or(0, |&last| last as usize + 1);
        let open = || Self {
            mesh: Cow::Borrowed(mesh),
            handles: Cow::Borrowed(handles),
            adjacency: Adjacency::new(mesh),
            of: None,
        };
        if n_places == mesh.n_vertices() {
            return Ok(open());
        }
        // Per place the vertices of the closed mesh there, each with its handle.
        let mut there: Vec<Vec<(Option<usize>, u32)>> = vec![Vec::new(); n_places];
        let mut positions = Vec::with_capacity(n_places);
        let mut of = vec![0u32; mesh.n_vertices()];
        let held = (0..mesh.n_vertices()).filter(|&v| handles.owner(v).is_some());
        let soft = (0..mesh.n_vertices()).filter(|&v| handles.owner(v).is_none());
        for v in held.chain(soft) {
            let owner = handles.owner(v);
            let list = &mut there[place[v] as usize];
            let known = list.iter().find(|(other, _)| *other == owner || owner.is_none());
            of[v] = known.map_or(positions.len() as u32, |(_, at)| *at);
            if known.is_none() {
                list.push((owner, positions.len() as u32));
                positions.push(mesh.positions()[v]);
            }
        }
        let faces = mesh.faces().iter().map(|face| face.map(|v| of[v as usize]));
        let faces = faces.filter(|[a, b, c]| a != b && b != c && c != a).collect();
        let Ok(closed) = Mesh::new(positions, faces) else { return Ok(open()) };
        let handles = close_handles(&closed, handles, &of)?;
        let adjacency = Adjacency::new(&closed);
        Ok(Self { mesh: Cow::Owned(closed), handles: Cow::Owned(handles), adjacency, of: Some(of) })
    }

    /// What methods are prepared from.
    pub fn held(&self) -> HandledMesh<'_> {
        HandledMesh { mesh: &self.mesh, adjacency: &self.adjacency, handles: &self.handles }
    }
}

/// The same handles on a closed mesh; a vertex follows as firmly as the firmest of its copies.
fn close_handles(closed: &Mesh, handles: &HandleSet, of: &[u32]) -> Result<HandleSet, DeformError> {
    let close = |handle: &Handle| {
        let mut pairs: Vec<(u32, f32)> =
            handle.vertices.iter().zip(&handle.weights).map(|(&v, &w)| (of[v as usize], w)).collect();
        pairs.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        pairs.dedup_by_key(|pair| pair.0);
        let (vertices, weights) = pairs.into_iter().unzip();
        Handle { vertices, weights, ..handle.clone() }
    };
    let closed_handles: Vec<Handle> = handles.handles().iter().map(close).collect();
    HandleSet::new(closed, &closed_handles, &mut Warnings::default())
}

/// Number of the place of each vertex, counted in the order of first use.
pub(crate) fn weld(positions: &[DVec3]) -> Vec<u32> {
    // Adding zero makes −0 and 0 the same.
    let key = |v: &u32| (positions[*v as usize] + DVec3::ZERO).to_array().map(f64::to_bits);
    let mut order: Vec<u32> = (0..positions.len() as u32).collect();
    order.sort_by_cached_key(|v| (key(v), *v));
    let mut first = vec![0u32; positions.len()];
    for group in order.chunk_by(|a, b| key(a) == key(b)) {
        group.iter().for_each(|&v| first[v as usize] = group[0]);
    }
    let mut place = vec![0u32; positions.len()];
    let mut n = 0;
    for v in 0..positions.len() {
        place[v] = if first[v] as usize == v {
            n += 1;
            n - 1
        } else {
            place[first[v] as usize]
        };
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_one_unless_different_handles_hold_them() {
        // Two triangles with their own copies of the edge they share.
        let points = [[0, 0], [1, 0], [0, 1], [1, 0], [1, 1], [0, 1]];
        let positions = points.map(|[x, y]| DVec3::new(f64::from(x), f64::from(y), 0.0)).to_vec();
        let mesh = Mesh::new(positions, vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let handle = |name: &str, vertices: &[u32]| Handle {
            name: name.into(),
            vertices: vertices.to_vec(),
            weights: vec![1.0; vertices.len()],
            ..Handle::default()
        };
        let handles = [handle("a", &[0, 1]), handle("b", &[3, 4])];
        let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
        let closed = ClosedMesh::new(&mesh, &set).unwrap();
        // The copies at (1, 0) have two handles, those at (0, 1) none.
        let of = closed.of.unwrap();
        assert_eq!((closed.mesh.n_vertices(), of[1] == of[3], of[2] == of[5]), (5, false, true));
        let one = HandleSet::new(&mesh, &[handle("a", &[1])], &mut Warnings::default()).unwrap();
        let closed = ClosedMesh::new(&mesh, &one).unwrap();
        let of = closed.of.unwrap();
        assert_eq!((closed.mesh.n_vertices(), of[1] == of[3]), (4, true));
        assert_eq!(closed.handles.owner(of[3] as usize), Some(0));
    }
}
