//! Some of the faces of a character, with everything that belongs to them.

use super::repair::{pick, pick_handle, pick_skin};
use super::{Character, Morph, Surface, Uvs};
use crate::{GeomError, Mesh};

impl Character {
    /// The character with those of its faces for which `keep` is true, and the vertices of these.
    ///
    /// # Errors
    /// If a part does not fit the mesh.
    pub fn with_faces(&self, keep: impl Fn(usize) -> bool) -> Result<Self, GeomError> {
        let kept: Vec<u32> = (0..self.mesh.n_faces() as u32).filter(|&face| keep(face as usize)).collect();
        if kept.len() == self.mesh.n_faces() {
            return Ok(self.clone());
        }
        let mut is_used = vec![false; self.mesh.n_vertices()];
        kept.iter()
            .flat_map(|&face| self.mesh.faces()[face as usize])
            .for_each(|v| is_used[v as usize] = true);
        let sources: Vec<u32> = (0..is_used.len() as u32).filter(|&v| is_used[v as usize]).collect();
        let mut number = vec![0; is_used.len()];
        sources.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
        let faces = pick(self.mesh.faces(), &kept).into_iter().map(|face| face.map(|v| number[v as usize]));
        let old = &self.surface;
        let uvs = |uvs: &Uvs| Uvs { coords: uvs.coords.clone(), corners: pick(&uvs.corners, &kept) };
        let surface = Surface {
            polygons: None,
            normals: old.normals.as_ref().map(|normals| pick(normals, &sources)),
            uvs: old.uvs.as_ref().map(uvs),
            colors: old.colors.as_ref().map(|colors| pick(colors, &sources)),
            materials: old.materials.clone(),
            face_materials: pick(&old.face_materials, &kept),
        };
        let morph = |morph: &Morph| Morph { offsets: pick(&morph.offsets, &sources), ..morph.clone() };
        Ok(Self {
            mesh: Mesh::new(pick(self.mesh.positions(), &sources), faces.collect())?,
            surface,
            skin: self.skin.as_ref().map(|skin| pick_skin(skin, &sources)).transpose()?,
            morphs: self.morphs.iter().map(morph).collect(),
            handles: self.handles.iter().map(|handle| pick_handle(handle, &sources)).collect(),
            ..self.clone()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{Sample, build_character};

    #[test]
    fn what_is_kept_moves_as_it_did() {
        let whole = build_character(Sample::Biped, 2_000).unwrap();
        let height = |face: usize| whole.mesh.positions()[whole.mesh.faces()[face][0] as usize].y;
        let half = whole.with_faces(|face| height(face) > 1.0).unwrap();
        assert!(half.mesh.n_faces() > 100 && half.mesh.n_faces() < whole.mesh.n_faces());
        assert_eq!(
            half.surface.face_materials.len(),
            if whole.surface.face_materials.is_empty() { 0 } else { half.mesh.n_faces() }
        );
        let (clip, other) = (&whole.clips[0], &half.clips[0]);
        let (all, some) =
            (whole.positions_at(Some(clip), 0.3).unwrap(), half.positions_at(Some(other), 0.3).unwrap());
        let corner = |character: &Character, positions: &[glam::Vec3], face: usize| {
            character.mesh.faces()[face].map(|v| positions[v as usize])
        };
        let kept = (0..whole.mesh.n_faces()).filter(|&face| height(face) > 1.0);
        for (new, old) in kept.enumerate() {
            assert_eq!(corner(&half, &some, new), corner(&whole, &all, old));
        }
        assert!(
            half.handles
                .iter()
                .all(|handle| handle.vertices.iter().all(|&v| (v as usize) < half.mesh.n_vertices()))
        );
    }
}
