//! Grow a built-in character and write it as a GLB that any viewer plays: `grow_character [OUT.glb]`.

use sinew::{
    formats::gltf::{GlbOptions, write_glb_file},
    geom::{
        Warnings,
        sample::{Sample, build_character},
    },
};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).map_or_else(|| PathBuf::from("fox.glb"), PathBuf::from);
    let character = build_character(Sample::Quadruped, 5_000)?;
    let mut warnings = Warnings::default();
    write_glb_file(&path, &character, &GlbOptions::default(), &mut warnings)?;
    let joints = character.rig.as_ref().map_or(0, |rig| rig.n_joints());
    let clips: Vec<&str> = character.clips.iter().map(|clip| clip.name.as_str()).collect();
    println!("{} vertices, {joints} joints, clips {clips:?}", character.mesh.n_vertices());
    println!("written to {}", path.display());
    Ok(())
}
