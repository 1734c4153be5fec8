//! Alembic caches (Ogawa): polygon meshes and subdivision cages with transforms, over time.
//!
//! # Source
//! Alembic 1.8, read without its library; see the modules.
//! # Limits
//! All meshes become one surface in the space of the world; a material of its own tells each apart. What changes its faces is
//! read at its first frame. Subdivision surfaces are read as their cages. No cameras, curves, points, lights and materials.
//! Files of the older back end HDF5 are refused.

mod archive;
mod ogawa;
mod scene;

use crate::{
    Fault, FormatError, Model, Place,
    polygons::{NONE, Polygons},
    vertex_clip::{add_frames, check_size},
};
use archive::Archive;
use glam::Vec3;
use ogawa::fault_at;
use scene::{MeshSource, Scene};
use sinew_geom::{Material, Warnings};

/// Times closer than this, in seconds, are one frame.
const SAME_TIME: f64 = 1e-6;

/// Whether bytes begin as an Alembic file.
pub(crate) fn is_alembic(bytes: &[u8]) -> bool {
    bytes.starts_with(b"Ogawa")
}

/// Read Alembic from memory.
///
/// # Errors
/// The faults of the content, and if there is no mesh in it.
pub fn read_alembic(bytes: &[u8], name: &str, warnings: &mut Warnings) -> Result<Model, FormatError> {
    let fail = |fault| FormatError::faults(name, vec![fault]);
    if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
        let cause = "the Alembic file is of the old kind that is stored as HDF5";
        let remedy = "convert it with `abcconvert -toOgawa IN OUT`, or export it again as Ogawa";
        return Err(fail(Fault::new(Place::Whole, cause).with_remedy(remedy)));
    }
    let (mut archive, top) = ogawa::root(bytes).and_then(Archive::open).map_err(fail)?;
    let scene = Scene::read(&mut archive, &top).map_err(fail)?;
    let others: Vec<String> = scene.others.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
    if scene.meshes.is_empty() {
        let cause = match others.is_empty() {
            true => "there is no mesh in it".to_owned(),
            false => format!("there is no mesh in it, only {}", others.join(", ")),
        };
        return Err(fail(Fault::new(Place::Whole, cause).with_remedy("export polygon meshes")));
    }
    if !others.is_empty() {
        warnings.push(format!("not read: {}", others.join(", ")));
    }
    read_scene(&archive, &scene, name, warnings)
}

fn read_scene(
    archive: &Archive,
    scene: &Scene,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Model, FormatError> {
    let fail = |fault| FormatError::faults(name, vec![fault]);
    let mut times = Vec::new();
    let mut n_vertices = 0u64;
    for mesh in &scene.meshes {
        if mesh.times.len() > 1 {
            times.extend(&mesh.times);
        }
        if let Some(transform) = &mesh.transform {
            transform.add_times(&mut times);
        }
        n_vertices += mesh.n_points(0).map_err(fail)? as u64;
    }
    times.sort_by(f64::total_cmp);
    times.dedup_by(|b, a| *b - *a < SAME_TIME);
    let start = times.first().copied().unwrap_or(scene.meshes[0].times[0]);
    check_size(times.len() as u64, n_vertices).map_err(fail)?;
    let mut polygons = Polygons::default();
    let is_named = scene.meshes.len() > 1 && scene.meshes.len() < usize::from(u16::MAX);
    for (number, mesh) in scene.meshes.iter().enumerate() {
        add_mesh(mesh, start, &mut polygons).map_err(fail)?;
        if is_named {
            polygons.face_materials.resize(polygons.sizes.len(), number as u16);
            polygons.materials.push(Material { name: mesh.path.clone(), ..Material::default() });
        }
    }
    let mut model = polygons.finish(name, warnings)?;
    let mut changes = Vec::new();
    for mesh in &scene.meshes {
        let change = mesh.first_change(archive).map_err(fail)?;
        changes.extend(change.map(|(sample, time)| (sample, time, mesh.path.as_str())));
    }
    if let Some((sample, time, path)) = changes.into_iter().min_by_key(|change| change.0) {
        warnings.push(format!(
            "{CHANGES} at frame {sample} ({time:.3} s, {path}), so only the first frame was read; a clip and a fitted skin need a \
             mesh that keeps its faces"
        ));
        return Ok(model);
    }
    if times.len() > 1 {
        let frames: Result<Vec<Vec<Vec3>>, Fault> = times.iter().map(|&time| frame(scene, time)).collect();
        let clip = model.character.name.clone();
        add_frames(&mut model.character, &clip, &times, frames.map_err(fail)?).map_err(fail)?;
    }
    Ok(model)
}

/// How the warning of a surface that changes begins.
pub const CHANGES: &str = "the faces of the mesh change";

fn frame(scene: &Scene, time: f64) -> Result<Vec<Vec3>, Fault> {
    let mut positions = Vec::new();
    scene.meshes.iter().try_for_each(|mesh| mesh.positions_at(time, &mut positions))?;
    Ok(positions)
}

/// Append a mesh as it is at a time.
fn add_mesh(mesh: &MeshSource, time: f64, polygons: &mut Polygons) -> Result<(), Fault> {
    let base = polygons.positions.len();
    let mut positions = Vec::new();
    mesh.positions_at(time, &mut positions)?;
    let n = positions.len();
    polygons.positions.extend(positions.iter().map(|p| p.as_dvec3()));
    let at = mesh.corners.sample(0)?.at;
    let corners = mesh.corners.integers(0)?;
    let is_mirrored =
        mesh.transform.as_ref().is_some_and(|transform| transform.world_at(time).determinant() < 0.0);
    let uvs = read_uvs(mesh, corners.len(), n, polygons)?;
    let mut end = 0usize;
    for count in mesh.counts.integers(0)? {
        let size = usize::try_from(i32::from_le_bytes(*count)).unwrap_or(usize::MAX);
        let start = end;
        end = start.checked_add(size).filter(|&end| end <= corners.len()).ok_or_else(|| {
            fault_at(
                at,
                format!("the faces of {} have more corners than the {} there are", mesh.path, corners.len()),
            )
        })?;
        let first = polygons.corners.len();
        for (corner, vertex) in corners.iter().enumerate().take(end).skip(start) {
            let vertex = i32::from_le_bytes(*vertex);
            let known = usize::try_from(vertex).ok().filter(|&vertex| vertex < n).ok_or_else(|| {
                fault_at(
                    at,
                    format!("corner {corner} of {} is vertex {vertex}, but there are {n}", mesh.path),
                )
            })?;
            polygons.corners.push((base + known) as u32);
            polygons.uv_corners.push(uvs.as_ref().map_or(NONE, |uvs| uvs.coordinate(corner, known)));
        }
        // Alembic's faces are clockwise.
        if !is_mirrored {
            polygons.corners[first..].reverse();
            polygons.uv_corners[first..].reverse();
        }
        polygons.sizes.push(size as u32);
    }
    if end != corners.len() {
        let cause =
            format!("the faces of {} have {end} corners, but {} are listed", mesh.path, corners.len());
        return Err(fault_at(at, cause));
    }
    Ok(())
}

/// Where the texture coordinate of a corner is found.
struct UvsOf {
    base: u32,
    is_per_vertex: bool,
    indices: Option<Vec<u32>>,
    n: usize,
}

impl UvsOf {
    fn coordinate(&self, corner: usize, vertex: usize) -> u32 {
        let at = if self.is_per_vertex { vertex } else { corner };
        let at = match &self.indices {
            Some(indices) => indices.get(at).map_or(usize::MAX, |&at| at as usize),
            None => at,
        };
        if at < self.n { self.base + at as u32 } else { NONE }
    }
}

/// Append the texture coordinates of a mesh, if it has any that fit.
fn read_uvs(
    mesh: &MeshSource,
    n_corners: usize,
    n_vertices: usize,
    polygons: &mut Polygons,
) -> Result<Option<UvsOf>, Fault> {
    let Some(uvs) = &mesh.uvs else { return Ok(None) };
    let values = uvs.values.doubles(0)?;
    let coords = values.as_chunks::<2>().0;
    let indices = match &uvs.indices {
        Some(indices) if indices.n_samples() > 0 => {
            Some(indices.integers(0)?.iter().map(|index| u32::from_le_bytes(*index)).collect::<Vec<u32>>())
        }
        _ => None,
    };
    let n = indices.as_ref().map_or(coords.len(), Vec::len);
    let is_per_vertex = match n {
        n if n == n_corners && n != n_vertices => false,
        n if n == n_vertices && n != n_corners => true,
        _ => uvs.is_per_vertex,
    };
    if n != if is_per_vertex { n_vertices } else { n_corners } {
        return Ok(None);
    }
    let base = polygons.uv_coords.len() as u32;
    // The origin is at the lower left.
    polygons.uv_coords.extend(coords.iter().map(|&[u, v]| [u as f32, 1.0 - v as f32]));
    Ok(Some(UvsOf { base, is_per_vertex, indices, n: coords.len() }))
}
