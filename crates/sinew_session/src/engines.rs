//! Limits of other programs, as fitted skins have to keep them.
//!
//! # Source
//! Documentation of Unreal Engine (“Skeletal Mesh Rendering Paths”: 8 influences per vertex, 256 bones per section before it is
//! split), Unity (“Quality settings”, skin weights: 4 by default), Godot (`ImporterMesh`: 4, 8 with a flag), three.js
//! (`SkinnedMesh`: 4; bones in a texture), Blender (no limits; its importer decomposes matrices of joints, so that shear is
//! not guaranteed).

/// A program that plays what is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Unreal Engine 5.
    Unreal,
    /// Unity.
    Unity,
    /// Godot 4.
    Godot,
    /// three.js.
    Three,
    /// Blender.
    Blender,
}

/// What a program takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineLimits {
    /// Most bones per vertex without a change of its settings.
    pub influences: usize,
    /// Most joints of a skin that all of its paths draw.
    pub joints: usize,
    /// Whether joints below one that is scaled unevenly shear as they do in glTF.
    pub plays_shear: bool,
}

impl Engine {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Unreal, Self::Unity, Self::Godot, Self::Three, Self::Blender];

    /// Name for users.
    pub fn name(self) -> &'static str {
        ["unreal", "unity", "godot", "three", "blender"][self as usize]
    }

    /// What it takes.
    pub fn limits(self) -> EngineLimits {
        let (influences, joints, plays_shear) = match self {
            Self::Unreal => (8, 256, false),
            Self::Unity | Self::Godot | Self::Three => (4, 256, true),
            Self::Blender => (8, usize::MAX, false),
        };
        EngineLimits { influences, joints, plays_shear }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_program_gets_more_than_all_formats_hold() {
        for engine in Engine::ALL {
            let limits = engine.limits();
            assert!((1..=8).contains(&limits.influences) && limits.joints >= 256, "{}", engine.name());
        }
        let names: Vec<&str> = Engine::ALL.map(Engine::name).to_vec();
        assert_eq!(names, ["unreal", "unity", "godot", "three", "blender"]);
    }
}
