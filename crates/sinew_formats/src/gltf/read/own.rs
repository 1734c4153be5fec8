//! Reading `SINEW_character`. Broken parts of it are left out with a warning.

use super::accessor::Decoder;
use super::rig::RigMap;
use crate::Fault;
use crate::gltf::extension::{HandleJson, NAME, SinewCharacter, VERSION};
use crate::gltf::schema::Root;
use glam::DVec3;
use serde::Deserialize;
use sinew_geom::{Character, GeomError, Handle, Mesh, Skin, Warnings};

/// The extension's object, if the file has one that is readable.
pub(super) fn read_extension(root: &Root, warnings: &mut Warnings) -> Option<SinewCharacter> {
    let found = SinewCharacter::deserialize(root.extensions.get(NAME)?);
    match found {
        Ok(extension) if extension.version <= VERSION => Some(extension),
        Ok(extension) => {
            warnings.push(format!(
                "/extensions/{NAME}: version {} is newer than this program; what it adds is not read",
                extension.version
            ));
            Some(extension)
        }
        Err(error) => {
            warnings.push(format!("/extensions/{NAME}: {error}; it was not read"));
            None
        }
    }
}

/// Set the degrees of freedom of the joints.
pub(super) fn apply_joints(extension: &SinewCharacter, rig: &mut RigMap, warnings: &mut Warnings) {
    for (index, json) in extension.joints.iter().enumerate() {
        let joint = rig.joint_of.get(json.node).copied().flatten();
        if joint.and_then(|joint| json.apply(&mut rig.joints[joint])).is_none() {
            warnings.push(format!("/extensions/{NAME}/joints/{index}: not understood; left out"));
        }
    }
}

/// Read the handles.
pub(super) fn read_handles(
    extension: &SinewCharacter,
    decoder: &Decoder,
    n_vertices: usize,
    warnings: &mut Warnings,
) -> Vec<Handle> {
    let mut handles = Vec::new();
    for (index, json) in extension.handles.iter().enumerate() {
        let path = format!("/extensions/{NAME}/handles/{index}");
        match read_handle(json, decoder, n_vertices, &path) {
            Ok(handle) => handles.push(handle),
            Err(fault) => warnings.push(format!("{path}: {fault}; the handle is left out")),
        }
    }
    handles
}

/// Join the copies that were made at seams with what they were copied from, so that the surface is whole again. Returns
/// what each of the last vertices of the file is a copy of.
pub(super) fn join_copies(
    extension: &SinewCharacter,
    decoder: &Decoder,
    character: &mut Character,
    warnings: &mut Warnings,
) -> Result<Vec<u32>, GeomError> {
    let path = format!("/extensions/{NAME}/seamCopies");
    let Some(view) = extension.seam_copies else { return Ok(Vec::new()) };
    let copies: Vec<u32> = match read_words(Some(view), decoder, &path) {
        Ok(words) => words.into_iter().map(u32::from_le_bytes).collect(),
        Err(fault) => {
            warnings.push(format!("{path}: {fault}; the surface stays cut along its seams"));
            return Ok(Vec::new());
        }
    };
    let n = character.mesh.n_vertices().saturating_sub(copies.len());
    if copies.len() > character.mesh.n_vertices() || copies.iter().any(|&source| source as usize >= n) {
        warnings.push(format!("{path}: does not fit the mesh; the surface stays cut along its seams"));
        return Ok(Vec::new());
    }
    let source = |v: u32| if (v as usize) < n { v } else { copies[v as usize - n] };
    let (mut positions, faces) = std::mem::take(&mut character.mesh).into_parts();
    positions.truncate(n);
    character.mesh = Mesh::new(positions, faces.into_iter().map(|face| face.map(source)).collect())?;
    let surface = &mut character.surface;
    surface.normals.iter_mut().for_each(|normals| normals.truncate(n));
    surface.colors.iter_mut().for_each(|colors| colors.truncate(n));
    character.morphs.iter_mut().for_each(|morph| morph.offsets.truncate(n));
    if let Some(skin) = character.skin.take() {
        let n_kept = n * skin.influences();
        let (indices, weights) = (skin.indices()[..n_kept].to_vec(), skin.weights()[..n_kept].to_vec());
        character.skin = Some(Skin::new(skin.slots.clone(), skin.influences(), indices, weights, warnings)?);
    }
    Ok(copies)
}

/// Four-byte words of a buffer view; none without one.
fn read_words(view: Option<usize>, decoder: &Decoder, path: &str) -> Result<Vec<[u8; 4]>, Fault> {
    let Some(view) = view else { return Ok(Vec::new()) };
    let bytes = decoder.view(view, path)?;
    decoder.charge(bytes.len() as u64, 2, path)?;
    Ok(bytes.as_chunks::<4>().0.to_vec())
}

fn read_handle(json: &HandleJson, decoder: &Decoder, n_vertices: usize, path: &str) -> Result<Handle, Fault> {
    let vertices: Vec<u32> =
        read_words(json.vertices, decoder, path)?.into_iter().map(u32::from_le_bytes).collect();
    let weights: Vec<f32> = match json.weights {
        None => vec![1.0; vertices.len()],
        weights => read_words(weights, decoder, path)?.into_iter().map(f32::from_le_bytes).collect(),
    };
    if vertices.len() != weights.len() {
        return Err(Fault::json(path, format!("{} vertices but {} weights", vertices.len(), weights.len())));
    }
    if let Some(vertex) = vertices.iter().find(|&&vertex| vertex as usize >= n_vertices) {
        return Err(Fault::json(path, format!("names vertex {vertex}, but there are {n_vertices}")));
    }
    if !weights.iter().all(|weight| weight.is_finite()) {
        return Err(Fault::json(path, "a weight is not finite"));
    }
    let center = DVec3::from_array(json.center);
    Ok(Handle { name: json.name.clone(), vertices, weights, center, secondary: json.secondary.clone() })
}
