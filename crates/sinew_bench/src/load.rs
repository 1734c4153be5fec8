//! Reading files of a million vertices, against the crates made for it.

use crate::measure::{compare, print_head, print_row, read_bandwidth};
use anyhow::Context;
use sinew::{
    formats::{Content, gltf as ours, obj, ply, read_any, write_atomic},
    geom::{
        Character, Warnings,
        sample::{Sample, build_character},
    },
};
use std::path::Path;

const N_VERTICES: usize = 1_000_000;

/// Print the table. Files are written to the temporary folder and removed afterwards.
pub fn run() -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("sinew-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let done = compare_readers(&folder);
    std::fs::remove_dir_all(&folder)?;
    done
}

fn compare_readers(folder: &Path) -> anyhow::Result<()> {
    let skinned = build_character(Sample::Biped, N_VERTICES)?;
    let plain = Character { mesh: skinned.mesh.clone(), ..Character::default() };
    let [obj_path, ply_path, glb_path, skin_path] =
        ["mesh.obj", "mesh.ply", "mesh.glb", "skinned.glb"].map(|name| folder.join(name));
    write_atomic(&obj_path, &obj::write_obj(&plain))?;
    write_atomic(&ply_path, &ply::write_ply(&plain))?;
    let mut warnings = Warnings::default();
    ours::write_glb_file(&glb_path, &plain, &ours::GlbOptions::default(), &mut warnings)?;
    ours::write_glb_file(&skin_path, &skinned, &ours::GlbOptions::default(), &mut warnings)?;
    print_head();
    let options = tobj::LoadOptions::default();
    compare_one("OBJ, 1 M vertices", &obj_path, "tobj", || {
        let (models, _) = tobj::load_obj(&obj_path, &options).context("tobj")?;
        Ok(models.iter().map(|m| m.mesh.positions.len() / 3).sum())
    })?;
    compare_one("GLB, 1 M vertices", &glb_path, "the gltf crate and its iterators", || {
        read_with_gltf(&glb_path)
    })?;
    compare_one("GLB, 1 M vertices, skinned", &skin_path, "the gltf crate and its iterators", || {
        read_with_gltf(&skin_path)
    })?;
    compare_one("PLY, 1 M vertices", &ply_path, "our GLB reader", || read_ours(&glb_path))
}

fn compare_one(
    what: &str,
    path: &Path,
    peer: &str,
    mut theirs: impl FnMut() -> anyhow::Result<usize>,
) -> anyhow::Result<()> {
    let n = read_ours(path)?;
    anyhow::ensure!(n > N_VERTICES / 2 && theirs()? > N_VERTICES / 2, "{what}: vertices are missing");
    let [a, b] = compare(5, || drop(read_ours(path)), || drop(theirs()));
    let n_bytes = std::fs::metadata(path)?.len() as usize;
    let limit = 1e3 * n_bytes as f64 / read_bandwidth(n_bytes, 1);
    print_row(what, a, peer, b, Some(limit));
    Ok(())
}

fn read_ours(path: &Path) -> anyhow::Result<usize> {
    let content = read_any(path, &mut Warnings::default())?;
    Ok(match content {
        Content::Model(model) => model.character.mesh.n_vertices(),
        Content::Gltf(file) => file.character.mesh.n_vertices(),
        _ => 0,
    })
}

/// Everything the character needs, collected through the crate's own iterators.
fn read_with_gltf(path: &Path) -> anyhow::Result<usize> {
    let gltf::Gltf { document, blob } = gltf::Gltf::open(path)?;
    let blob = blob.context("a GLB has its buffer inside")?;
    let mut n = 0;
    for primitive in document.meshes().flat_map(|mesh| mesh.primitives().collect::<Vec<_>>()) {
        let reader = primitive.reader(|_| Some(&blob));
        let positions: Vec<[f32; 3]> = reader.read_positions().context("positions")?.collect();
        let normals: Option<Vec<[f32; 3]>> = reader.read_normals().map(Iterator::collect);
        let indices: Option<Vec<u32>> = reader.read_indices().map(|i| i.into_u32().collect());
        let joints: Option<Vec<[u16; 4]>> = reader.read_joints(0).map(|j| j.into_u16().collect());
        let weights: Option<Vec<[f32; 4]>> = reader.read_weights(0).map(|w| w.into_f32().collect());
        n += positions.len();
        std::hint::black_box((positions, normals, indices, joints, weights));
    }
    Ok(n)
}
