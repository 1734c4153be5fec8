//! Repairing a character's mesh without losing its skin, morphs, handles and surface.

use super::{Character, Handle, Morph, Surface, Uvs};
use crate::{
    GeomError, Mesh, Skin, Warnings,
    mesh::{RepairParams, RepairReport, repair},
};
use std::collections::HashMap;

impl Character {
    /// Repair the mesh and transfer skin, morphs, handles and surface. Coincident vertices that move
    /// differently (lips, fingers that touch) stay apart. Polygons become triangles if any face changed.
    ///
    /// # Errors
    /// If a part does not fit the mesh.
    pub fn repaired(&self, params: &RepairParams) -> Result<(Self, RepairReport), GeomError> {
        let groups = self.handle_groups();
        let alike = |a: u32, b: u32| {
            self.moves_alike(a as usize, b as usize) && groups[a as usize] == groups[b as usize]
        };
        let (mesh, report) = repair(&self.mesh, params, alike);
        if report.is_unchanged() {
            return Ok((self.clone(), report));
        }
        let sources = &report.vertex_sources;
        let surface = self.repaired_surface(&mesh, &report);
        let skin = self.skin.as_ref().map(|skin| pick_skin(skin, sources)).transpose()?;
        let pick_morph = |m: &Morph| Morph { offsets: pick(&m.offsets, sources), ..m.clone() };
        let handles = self.handles.iter().map(|h| pick_handle(h, sources)).collect();
        let morphs = self.morphs.iter().map(pick_morph).collect();
        Ok((Self { mesh, surface, skin, morphs, handles, ..self.clone() }, report))
    }

    fn moves_alike(&self, a: usize, b: usize) -> bool {
        let same_skin = self.skin.as_ref().is_none_or(|skin| skin.vertex(a).eq(skin.vertex(b)));
        same_skin && self.morphs.iter().all(|m| m.offsets.get(a) == m.offsets.get(b))
    }

    /// The handles each vertex belongs to.
    fn handle_groups(&self) -> Vec<Vec<u32>> {
        let mut groups = vec![Vec::new(); self.mesh.n_vertices()];
        for (index, handle) in self.handles.iter().enumerate() {
            for &v in &handle.vertices {
                if let Some(group) = groups.get_mut(v as usize) {
                    group.push(index as u32);
                }
            }
        }
        groups
    }

    fn repaired_surface(&self, mesh: &Mesh, report: &RepairReport) -> Surface {
        let old = &self.surface;
        let faces_kept =
            mesh.n_faces() == self.mesh.n_faces() && report.flipped_faces == 0 && report.turned_edges == 0;
        let renumbered = report.welded_vertices + report.split_vertices + report.removed_unreferenced > 0;
        let uvs = old.uvs.as_ref().map(|uvs| self.repaired_uvs(uvs, mesh, report));
        Surface {
            polygons: old.polygons.clone().filter(|_| faces_kept && !renumbered),
            // Where vertices were merged or faces turned, the old normals belong to other shapes.
            normals: old
                .normals
                .as_ref()
                .filter(|_| report.welded_vertices + report.flipped_faces + report.turned_edges == 0)
                .map(|n| pick(n, &report.vertex_sources)),
            uvs,
            colors: old.colors.as_ref().map(|c| pick(c, &report.vertex_sources)),
            materials: old.materials.clone(),
            face_materials: match old.face_materials.is_empty() {
                true => Vec::new(),
                false => pick(&old.face_materials, &report.face_sources),
            },
        }
    }

    /// Every corner has the coordinate it had in its own face or, where an edge was turned, in the face across the
    /// edge.
    fn repaired_uvs(&self, uvs: &Uvs, mesh: &Mesh, report: &RepairReport) -> Uvs {
        let across: HashMap<u32, u32> =
            report.turned_faces.iter().flat_map(|&[a, b]| [(a, b), (b, a)]).collect();
        let corners = report.face_sources.iter().zip(mesh.faces()).map(|(&source, face)| {
            let sources = [Some(source), across.get(&source).copied()];
            let candidates = sources.into_iter().flatten().flat_map(|f| (0..3).map(move |k| (f as usize, k)));
            face.map(|v| {
                let (p, vertex) = (mesh.positions()[v as usize], report.vertex_sources[v as usize]);
                // Merged vertices are found by their position.
                let far = |&(f, k): &(usize, usize)| match self.mesh.faces()[f][k] {
                    same if same == vertex => -1.0,
                    other => self.mesh.positions()[other as usize].distance_squared(p),
                };
                let found = candidates.clone().min_by(|a, b| far(a).total_cmp(&far(b)));
                found.map_or(0, |(f, k)| uvs.corners[f][k])
            })
        });
        Uvs { coords: uvs.coords.clone(), corners: corners.collect() }
    }
}

pub(super) fn pick<T: Clone>(values: &[T], sources: &[u32]) -> Vec<T> {
    sources.iter().filter_map(|&s| values.get(s as usize).cloned()).collect()
}

pub(super) fn pick_skin(skin: &Skin, sources: &[u32]) -> Result<Skin, GeomError> {
    let rows = |v: &u32| skin.vertex(*v as usize);
    let indices = sources.iter().flat_map(rows).map(|(slot, _)| slot).collect();
    let weights = sources.iter().flat_map(rows).map(|(_, w)| w).collect();
    Skin::new(skin.slots.clone(), skin.influences(), indices, weights, &mut Warnings::default())
}

pub(super) fn pick_handle(handle: &Handle, sources: &[u32]) -> Handle {
    let kept = sources.iter().enumerate().filter_map(|(v, source)| {
        let at = handle.vertices.binary_search(source).ok()?;
        Some((v as u32, handle.weights.get(at).copied().unwrap_or(1.0)))
    });
    let (vertices, weights) = kept.unzip();
    Handle { vertices, weights, ..handle.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SkinSlot;
    use glam::{DAffine3, DVec3};

    /// Two triangles with their own copies of a shared edge, as a texture seam leaves them.
    fn seam() -> Character {
        let [a, b, c, d] = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::ONE];
        let mesh = Mesh::new(vec![a, b, c, c, b, d], vec![[0, 1, 2], [3, 4, 5]]).unwrap();
        let slots = vec![SkinSlot { joint: 0, inverse_bind: DAffine3::IDENTITY }; 2];
        let indices = [0, 1].repeat(6);
        let weights = [[1.0, 0.0], [0.5, 0.5], [0.2, 0.8], [0.2, 0.8], [0.5, 0.5], [0.0, 1.0]].concat();
        let skin = Skin::new(slots, 2, indices, weights, &mut Warnings::default()).unwrap();
        let coords = (0..6).map(|i| [i as f32, 0.0]).collect();
        let uvs = Some(Uvs { coords, corners: vec![[0, 1, 2], [3, 4, 5]] });
        let handles =
            vec![Handle { name: "h".into(), vertices: vec![5], weights: vec![0.5], ..Handle::default() }];
        let normals = Some(vec![glam::Vec3::X; 6]);
        let surface = Surface { uvs, normals, ..Surface::default() };
        Character { mesh, surface, skin: Some(skin), handles, ..Character::default() }
    }

    #[test]
    fn a_seam_is_closed_and_its_texture_kept() {
        let (repaired, report) = seam().repaired(&RepairParams::default()).unwrap();
        assert_eq!((repaired.mesh.n_vertices(), report.welded_vertices), (4, 2));
        assert_eq!(repaired.surface.uvs, seam().surface.uvs);
        assert_eq!(repaired.surface.normals, None, "normals of one side do not fit the merged vertex");
        assert_eq!(repaired.skin.unwrap().vertex(1).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
        assert_eq!(
            (repaired.handles[0].vertices.as_slice(), repaired.handles[0].weights[0]),
            (&[3][..], 0.5)
        );
    }

    #[test]
    fn a_turned_cap_takes_the_coordinates_of_both_faces() {
        let p = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, -1.0]];
        let faces = vec![[0, 1, 3], [0, 2, 1], [0, 4, 2], [2, 4, 1]];
        let positions = p.iter().map(|&[x, y]| DVec3::new(x, y, 0.0)).collect();
        // The texture coordinates are positions, so that every coordinate identifies its vertex.
        let coords = p.iter().map(|p| p.map(|x| x as f32)).collect();
        let uvs = Some(Uvs { coords, corners: faces.clone() });
        let surface = Surface { uvs, ..Surface::default() };
        let mesh = Mesh::new(positions, faces).unwrap();
        let character = Character { mesh, surface, ..Character::default() };
        let (repaired, report) = character.repaired(&RepairParams::default()).unwrap();
        assert_eq!(report.turned_edges, 1);
        assert_eq!(repaired.surface.uvs.unwrap().corners, repaired.mesh.faces());
    }

    #[test]
    fn lips_with_other_weights_stay_apart() {
        let mut character = seam();
        character.morphs = vec![Morph {
            name: "open".into(),
            offsets: (0..6).map(|v| glam::Vec3::splat(v as f32)).collect(),
            default_weight: 0.0,
        }];
        let (repaired, _) = character.repaired(&RepairParams::default()).unwrap();
        assert_eq!(repaired.mesh.n_vertices(), 6);
    }
}
