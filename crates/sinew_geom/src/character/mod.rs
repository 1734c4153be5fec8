//! A character: all data of one thing that moves.

mod evaluate;
mod handle;
mod repair;
mod scale;
mod subset;

use crate::{Clip, Mesh, Rig, Skin};
use glam::Vec3;

pub use handle::{Handle, Move, compute_default_center, find_borders};

/// A mesh and what makes it move. Every part except the mesh may be absent, and the mesh may be empty
/// (a BVH file holds only a rig and a clip).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Character {
    /// Name shown to the user.
    pub name: String,
    /// The surface in its rest pose.
    pub mesh: Mesh,
    /// Appearance of the surface.
    pub surface: Surface,
    /// Joint tree.
    pub rig: Option<Rig>,
    /// How the surface follows the rig.
    pub skin: Option<Skin>,
    /// Stored offsets of the surface.
    pub morphs: Vec<Morph>,
    /// Animations of the rig and the morphs.
    pub clips: Vec<Clip>,
    /// Painted regions by which a user moves the surface.
    pub handles: Vec<Handle>,
}

/// Appearance besides positions. Indices refer to the vertices and faces of the character's mesh.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Surface {
    /// The polygons the triangles were cut from, if some had more than three corners: for writing them back.
    pub polygons: Option<Vec<Vec<u32>>>,
    /// Unit normals per vertex, if the file had them.
    pub normals: Option<Vec<Vec3>>,
    /// Texture coordinates.
    pub uvs: Option<Uvs>,
    /// Linear RGBA per vertex.
    pub colors: Option<Vec<[f32; 4]>>,
    /// Materials; empty means one neutral material.
    pub materials: Vec<Material>,
    /// Material of each triangle; empty means the first of all.
    pub face_materials: Vec<u16>,
}

/// Texture coordinates with their own index, so that a seam does not cut the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct Uvs {
    /// Coordinates, origin at the image's upper left as in glTF.
    pub coords: Vec<[f32; 2]>,
    /// Per triangle, the coordinate of each corner.
    pub corners: Vec<[u32; 3]>,
}

/// Surface colour, in the metallic-roughness terms of glTF.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name shown to the user.
    pub name: String,
    /// Linear RGBA factor.
    pub base_color: [f32; 4],
    /// Base colour texture.
    pub base_color_image: Option<Image>,
    /// 0 dielectric, 1 metal.
    pub metallic: f32,
    /// 0 mirror, 1 matte.
    pub roughness: f32,
    /// Drawn from both sides.
    pub double_sided: bool,
    /// What the fourth component of the colour means.
    pub alpha: AlphaMode,
}

/// How a surface shows what is behind it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum AlphaMode {
    /// Not at all, whatever its opacity.
    #[default]
    Opaque,
    /// Fully where its opacity is below this, else not at all.
    Mask(f32),
    /// By its opacity.
    Blend,
}

impl Default for Material {
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [0.8, 0.8, 0.8, 1.0],
            base_color_image: None,
            metallic: 0.0,
            roughness: 0.9,
            double_sided: false,
            alpha: AlphaMode::Opaque,
        }
    }
}

/// An encoded picture, kept as its file's bytes.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// `image/png` or `image/jpeg`.
    pub mime: String,
    /// The encoded bytes, shared since several materials may use one picture.
    pub bytes: std::sync::Arc<Vec<u8>>,
}

/// A morph target (blend shape): an offset for every vertex.
#[derive(Debug, Clone, PartialEq)]
pub struct Morph {
    /// Name shown to the user.
    pub name: String,
    /// Offset of each vertex at weight 1.
    pub offsets: Vec<Vec3>,
    /// Weight when no clip animates it.
    pub default_weight: f32,
}

impl Morph {
    /// The largest whole number of [`Self::rounded`] offsets.
    pub const STEPS: f32 = 127.0;

    /// The same displacement in whole steps of a 127th of its largest coordinate, and the weight at which the result is the
    /// original: files hold such offsets in 8 bits without loss. The largest coordinate becomes 1; if it is larger than that,
    /// offsets become whole numbers, the largest of them 127. Nothing moves by more than half a step along an axis. Offsets that
    /// are all zero, not finite or larger than 127, for which a weight above 1 would be needed, stay as they are.
    pub fn rounded(mut self) -> (Self, f32) {
        let largest = self.offsets.iter().map(|offset| offset.abs().max_element()).fold(0.0, f32::max);
        if !(largest > 0.0 && largest <= Self::STEPS) {
            return (self, 1.0);
        }
        let unit = if largest <= 1.0 { Self::STEPS } else { 1.0 };
        let whole = |x: f32| (x / largest * Self::STEPS).round() / unit;
        self.offsets.iter_mut().for_each(|offset| *offset = offset.map(whole));
        let weight = largest * unit / Self::STEPS;
        self.default_weight *= weight;
        (self, weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounded_offsets_are_whole_steps_and_move_as_before() {
        let offsets: Vec<Vec3> =
            (0..500).map(|k| Vec3::new((k * 37 % 101) as f32 - 50.0, (k % 7) as f32, -0.3) * 1e-3).collect();
        let morph = Morph { name: "m".into(), offsets, default_weight: 2.0 };
        for (factor, unit) in [(1.0, Morph::STEPS), (100.0, 1.0)] {
            let offsets = morph.offsets.iter().map(|o| *o * factor).collect();
            let morph = Morph { offsets, ..morph.clone() };
            let (rounded, weight) = morph.clone().rounded();
            assert!((rounded.default_weight - 2.0 * weight).abs() < 1e-6 && weight <= 1.0);
            for (a, b) in morph.offsets.iter().zip(&rounded.offsets) {
                assert!((*b * weight - *a).abs().max_element() <= 0.501 * weight / unit, "{a} {b}");
                assert!((*b * unit).to_array().iter().all(|x| (x - x.round()).abs() < 1e-4), "{b}");
            }
            let (again, one) = rounded.clone().rounded();
            assert_eq!((again, one), (rounded, 1.0));
        }
        let large = Morph { offsets: vec![Vec3::splat(300.0); 3], ..morph.clone() };
        assert_eq!(large.clone().rounded(), (large, 1.0));
        let zero = Morph { offsets: vec![Vec3::ZERO; 3], ..morph };
        assert_eq!(zero.clone().rounded(), (zero, 1.0));
    }
}
