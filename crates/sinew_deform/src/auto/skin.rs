//! Handles from the bones of a skin.
//!
//! # Source
//! Sinew's own: vertices that belong almost entirely to one bone form its handle; vertices that several bones share are
//! soft.
//! # Cost
//! Linear in the weights for each generation of bones that is merged.

use crate::DeformError;
use sinew_geom::{Character, GeomError, Handle, Rig, Skin, Warnings, mesh::Adjacency};

/// Parameters of handles from bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SkinHandleParams {
    /// Weight above which a vertex belongs to a bone's handle. Default 0.8.
    pub least_weight: f32,
    /// Share of all vertices below which a bone is merged into its parent. Default 0.002, and never fewer than
    /// four vertices.
    pub least_share: f64,
}

impl Default for SkinHandleParams {
    fn default() -> Self {
        Self { least_weight: 0.8, least_share: 0.002 }
    }
}

/// One handle for each bone that holds enough of the surface, named after it. It turns about the joint, and those
/// of the bones below it are its secondary handles.
///
/// # Errors
/// If there is no rig or no skin, if the skin does not fit the mesh, or if no bone holds anything.
pub fn handles_from_skin(
    character: &Character,
    params: &SkinHandleParams,
    warnings: &mut Warnings,
) -> Result<Vec<Handle>, DeformError> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else {
        let expected = "the character must have a rig and a skin";
        return Err(GeomError::Parameter { name: "skin", value: "absent".into(), expected }.into());
    };
    let n = character.mesh.n_vertices();
    if skin.n_vertices() != n {
        return Err(DeformError::Length { what: "skin", expected: n, actual: skin.n_vertices() });
    }
    if let Some(slot) = skin.slots.iter().find(|slot| slot.joint >= rig.n_joints()) {
        let (index, len) = (slot.joint, rig.n_joints());
        return Err(GeomError::OutOfRange { what: "joint of the skin", index, len }.into());
    }
    let least = ((params.least_share * n as f64) as usize).max(4);
    let adjacency = Adjacency::new(&character.mesh);
    // Which joint's handle each joint has become part of.
    let mut into: Vec<usize> = (0..rig.n_joints()).collect();
    let mut n_merged = 0;
    let owners = loop {
        let owners = soften(&adjacency, dominant(skin, &into, params.least_weight), least);
        let mut counts = vec![0; rig.n_joints()];
        owners.iter().flatten().for_each(|&joint| counts[joint] += 1);
        let n_before = n_merged;
        merge_small(rig, &counts, least, &mut into, &mut n_merged);
        if n_merged == n_before {
            break owners;
        }
    };
    if n_merged > 0 {
        warnings.push(format!(
            "{n_merged} bones hold too little of the surface and were merged into their parents"
        ));
    }
    let handles = collect(rig, skin, &owners);
    if handles.is_empty() { Err(DeformError::NoHandle) } else { Ok(handles) }
}

/// The joint that moves each vertex almost alone.
fn dominant(skin: &Skin, into: &[usize], least: f32) -> Vec<Option<usize>> {
    let owner = |v: usize| {
        let mut sums: Vec<(usize, f32)> = Vec::with_capacity(skin.influences());
        for (slot, weight) in skin.vertex(v) {
            let joint = into[skin.slots[slot as usize].joint];
            match sums.iter_mut().find(|(other, _)| *other == joint) {
                Some((_, sum)) => *sum += weight,
                None => sums.push((joint, weight)),
            }
        }
        sums.into_iter().find(|(_, sum)| *sum >= least).map(|(joint, _)| joint)
    };
    (0..skin.n_vertices()).map(owner).collect()
}

/// Where two handles touch, as those of a skin with hard borders do, make both sides soft, unless that would leave
/// a handle empty.
fn soften(adjacency: &Adjacency, owners: Vec<Option<usize>>, least: usize) -> Vec<Option<usize>> {
    let touches = |v: usize| {
        let mut row = adjacency.neighbors.row(v).iter();
        owners[v].is_some() && row.any(|&w| owners[w as usize].is_some_and(|other| Some(other) != owners[v]))
    };
    let touching: Vec<bool> = (0..owners.len()).map(touches).collect();
    let n_joints = owners.iter().flatten().max().map_or(0, |&last| last + 1);
    let mut kept = vec![0; n_joints];
    for (owner, _) in owners.iter().zip(&touching).filter(|(_, touching)| !**touching) {
        owner.iter().for_each(|&joint| kept[joint] += 1);
    }
    let is_kept = |owner: &usize, touching: bool| !touching || kept[*owner] < least;
    owners.iter().zip(touching).map(|(owner, t)| owner.filter(|joint| is_kept(joint, t))).collect()
}

/// Merge joints with too few vertices into their parents, leaves first and one generation at a time.
fn merge_small(rig: &Rig, counts: &[usize], least: usize, into: &mut [usize], n_merged: &mut usize) {
    let is_small = |joint: usize| counts[joint] < least;
    let mut waits = vec![false; rig.n_joints()];
    for joint in (0..rig.n_joints()).rev() {
        let Some(parent) = rig.joints()[joint].parent else { continue };
        if into[joint] == joint && is_small(joint) && !waits[joint] {
            let target = into[parent];
            into.iter_mut().filter(|other| **other == joint).for_each(|other| *other = target);
            *n_merged += 1;
            // The parent may have become large enough; it is tested in the next round.
            waits[target] = true;
        }
    }
}

fn collect(rig: &Rig, skin: &Skin, owners: &[Option<usize>]) -> Vec<Handle> {
    let mut vertices: Vec<Vec<u32>> = vec![Vec::new(); rig.n_joints()];
    for (v, owner) in owners.iter().enumerate() {
        owner.iter().for_each(|&joint| vertices[joint].push(v as u32));
    }
    let is_below = |mut joint: usize, above: usize| {
        while let Some(parent) = rig.joints()[joint].parent.filter(|_| joint != above) {
            joint = parent;
        }
        joint == above
    };
    let rest = rig.rest_world();
    // In the mesh's space at the time of binding, which is where the mesh is.
    let center = |joint: usize| match skin.slots.iter().find(|slot| slot.joint == joint) {
        Some(slot) => slot.inverse_bind.inverse().translation,
        None => rest[joint].translation,
    };
    let held: Vec<usize> = (0..rig.n_joints()).filter(|&joint| !vertices[joint].is_empty()).collect();
    let names = unique_names(rig, &held);
    let handle = |(index, &joint): (usize, &usize)| Handle {
        name: names[index].clone(),
        weights: vec![1.0; vertices[joint].len()],
        vertices: vertices[joint].clone(),
        center: center(joint),
        secondary: (0..held.len())
            .filter(|&other| other != index && is_below(held[other], joint))
            .map(|other| names[other].clone())
            .collect(),
    };
    held.iter().enumerate().map(handle).collect()
}

/// Names of joints; files may use one twice.
fn unique_names(rig: &Rig, held: &[usize]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for &joint in held {
        let name = &rig.joints()[joint].name;
        let name = if name.is_empty() { format!("joint_{joint}") } else { name.clone() };
        names.push(if names.contains(&name) { format!("{name}_{joint}") } else { name });
    }
    names
}
