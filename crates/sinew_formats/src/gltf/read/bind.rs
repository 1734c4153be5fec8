//! Placement and binding of a mesh instance.
//!
//! All parts of a file are transformed into one space: the world at rest. A part without skin gets its node's
//! transform; a skinned part gets `B = world_from_joint · inverse_bind` of its skin (its node's transform is
//! ignored, as glTF requires), which is the same for all joints where the rest pose is the bind pose. The slots
//! then bind with `inverse_bind · B⁻¹`, so that the evaluated surface does not change. Files we wrote are in that
//! space already and are not transformed.

use super::accessor::Decoder;
use super::resource::out_of_range;
use super::rig::RigMap;
use super::scene::Scene;
use crate::Fault;
use glam::{DAffine3, DMat3, DMat4, DVec3};
use sinew_geom::{SkinSlot, Warnings};
use std::collections::HashMap;

/// Two bindings closer than this (relative to the size of the part) are the same: the noise of a chain of
/// single-precision transforms, well below what players agree on (1e-5 of the diagonal).
const SAME_BIND_SHARE: f64 = 3e-6;
/// Joints compared to find the bind transform of a skin, and slots of a joint to find an equal one.
const MAX_COMPARED: usize = 64;

/// A mesh at a node.
#[derive(Debug, Clone, Copy)]
pub(super) struct Instance {
    pub node: usize,
    pub mesh: usize,
    pub skin: Option<usize>,
}

/// Placement of an instance.
pub(super) struct Placement {
    /// `world_from_mesh` at rest, applied to the vertices; `None` leaves them unchanged.
    pub world: Option<DAffine3>,
    pub bound: Bound,
}

/// What the vertices of an instance follow.
#[derive(Debug, Clone)]
pub(in crate::gltf) enum Bound {
    /// Nothing in the file moves.
    Nothing,
    /// One slot.
    Rigid(u16),
    /// The slot of each joint of the skin.
    Skinned(Vec<u16>),
}

/// Binds instances and collects the slots they need.
pub(super) struct Binder<'a> {
    pub decoder: &'a Decoder<'a>,
    pub scene: &'a Scene,
    pub rig: &'a mut RigMap,
    /// Whether Sinew wrote the file.
    pub own_file: bool,
    /// Joints of a skin that move the surface, if the file says how many.
    pub bound_joints: Option<usize>,
    pub slots: Vec<SkinSlot>,
    /// Slots of each joint.
    pub slots_of: HashMap<usize, Vec<u16>>,
}

impl Binder<'_> {
    /// Bind an instance without skin; `moving` says whether anything in the file moves.
    pub fn bind_rigid(&mut self, node: usize, moving: bool) -> Result<Placement, Fault> {
        let world = self.scene.world[node];
        let placed = |bound| Placement { world: (world != DAffine3::IDENTITY).then_some(world), bound };
        if !moving {
            return Ok(placed(Bound::Nothing));
        }
        let joint = match self.rig.carrier[node] {
            Some(joint) => joint,
            None => self.rig.still_joint(),
        };
        if let Some(inverse) = invert(self.rig.world[joint]) {
            return Ok(placed(Bound::Rigid(self.slot(joint, inverse, 0.0)?)));
        }
        // The joint is flattened at rest: the part stays in its own space.
        let above = self.scene.chain(node).take_while(|&node| self.rig.joint_of[node] != Some(joint));
        let joint_from_node =
            above.fold(DAffine3::IDENTITY, |product, node| self.scene.local[node].to_affine() * product);
        Ok(Placement { world: None, bound: Bound::Rigid(self.slot(joint, joint_from_node, 0.0)?) })
    }

    /// Bind a skinned instance of about this size.
    pub fn bind_skinned(
        &mut self,
        skin: usize,
        size: f64,
        warnings: &mut Warnings,
    ) -> Result<Placement, Fault> {
        let (joints, inverse_binds) = self.read_skin(skin)?;
        let binds: Vec<DAffine3> = joints
            .iter()
            .zip(&inverse_binds)
            .map(|(&joint, inverse)| self.rig.world[joint] * *inverse)
            .collect();
        let world = if self.own_file { DAffine3::IDENTITY } else { most_typical(&binds) };
        let (world, mesh_from_world) = match invert(world) {
            Some(inverse) if !is_same(world, DAffine3::IDENTITY, size) => (world, inverse),
            Some(_) => (DAffine3::IDENTITY, DAffine3::IDENTITY),
            None => {
                warnings.push(format!("/skins/{skin}: its joints are flattened at rest"));
                (DAffine3::IDENTITY, DAffine3::IDENTITY)
            }
        };
        let size = size * largest(world.matrix3);
        let mut slots = Vec::with_capacity(joints.len());
        for (&joint, &inverse_bind) in joints.iter().zip(&inverse_binds) {
            let inverse_bind = inverse_bind * mesh_from_world;
            let rest = invert(self.rig.world[joint]).filter(|_| !self.own_file);
            let at_rest =
                rest.filter(|_| is_same(self.rig.world[joint] * inverse_bind, DAffine3::IDENTITY, size));
            slots.push(self.slot(joint, at_rest.unwrap_or(inverse_bind), size)?);
        }
        let world = (world != DAffine3::IDENTITY).then_some(world);
        Ok(Placement { world, bound: Bound::Skinned(slots) })
    }

    /// Joints of the rig and inverse bind matrices of a skin.
    fn read_skin(&self, index: usize) -> Result<(Vec<usize>, Vec<DAffine3>), Fault> {
        let skin = &self.decoder.root.skins[index];
        let n_bound = self.bound_joints.unwrap_or(usize::MAX).min(skin.joints.len());
        let mut joints = Vec::with_capacity(n_bound);
        for (at, &node) in skin.joints[..n_bound].iter().enumerate() {
            let joint = self.rig.joint_of.get(node).copied().flatten();
            let path = || format!("/skins/{index}/joints/{at}");
            joints.push(joint.ok_or_else(|| out_of_range(&path(), "node", node, self.scene.parent.len()))?);
        }
        let Some(accessor) = skin.inverse_bind_matrices else {
            return Ok((joints, vec![DAffine3::IDENTITY; n_bound]));
        };
        let path = format!("/skins/{index}/inverseBindMatrices");
        let matrices = self.decoder.floats::<16>(accessor, &path)?;
        if matrices.len() < joints.len() {
            let cause = format!("{} matrices for {} joints", matrices.len(), joints.len());
            return Err(Fault::json(path, cause));
        }
        let affine = |m: &[f32; 16]| DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)));
        let inverse_binds: Vec<DAffine3> = matrices[..joints.len()].iter().map(affine).collect();
        match inverse_binds.iter().position(|matrix| !matrix.is_finite()) {
            Some(at) => Err(Fault::json(path, format!("matrix {at} is not finite"))),
            None => Ok((joints, inverse_binds)),
        }
    }

    /// The slot of a joint and a binding, rounded to the precision of files so that a round trip preserves it. Skins
    /// of parts of one body differ by noise; in files not ours they share their slots.
    fn slot(&mut self, joint: usize, inverse_bind: DAffine3, size: f64) -> Result<u16, Fault> {
        let single = inverse_bind.to_cols_array().map(|x| f64::from(x as f32));
        let inverse_bind = DAffine3::from_cols_array(&single);
        let world = self.rig.world[joint];
        let found = self.slots_of.entry(joint).or_default();
        let is_found = |&&slot: &&u16| {
            let other = self.slots[slot as usize].inverse_bind;
            other == inverse_bind || !self.own_file && is_same(world * other, world * inverse_bind, size)
        };
        if let Some(&slot) = found.iter().take(MAX_COMPARED).find(is_found) {
            return Ok(slot);
        }
        let slot = u16::try_from(self.slots.len()).map_err(|_| {
            Fault::json("/skins", "more than 65536 different bindings of joints")
                .with_remedy("split the file into several characters")
        })?;
        found.push(slot);
        self.slots.push(SkinSlot { joint, inverse_bind });
        Ok(slot)
    }
}

fn invert(affine: DAffine3) -> Option<DAffine3> {
    let inverse = affine.inverse();
    (affine.matrix3.determinant() != 0.0 && inverse.is_finite()).then_some(inverse)
}

fn largest(matrix: DMat3) -> f64 {
    matrix.to_cols_array().into_iter().fold(0.0, |most: f64, x| most.max(x.abs()))
}

/// Whether two transforms map points up to `size` from the origin to the same positions.
fn is_same(a: DAffine3, b: DAffine3, size: f64) -> bool {
    largest(a.matrix3 - b.matrix3) <= SAME_BIND_SHARE
        && (a.translation - b.translation).abs().max_element() <= SAME_BIND_SHARE * size
}

/// The transform nearest to all others: if they agree any of them, else the one of the least moved joint.
fn most_typical(binds: &[DAffine3]) -> DAffine3 {
    let step = binds.len().div_ceil(MAX_COMPARED).max(1);
    let sample: Vec<DAffine3> = binds.iter().copied().step_by(step).collect();
    let distance = |a: &DAffine3, b: &DAffine3| {
        let [linear, shift] = [a.matrix3 - b.matrix3, DMat3::from_diagonal(a.translation - b.translation)];
        largest(linear) + largest(shift)
    };
    let total = |a: &DAffine3| sample.iter().map(|b| distance(a, b)).sum::<f64>();
    sample.iter().min_by(|a, b| total(a).total_cmp(&total(b))).copied().unwrap_or(DAffine3::IDENTITY)
}

/// Largest coordinate of some points: their size as seen from the origin.
pub(super) fn size_of_points(points: &[glam::Vec3]) -> f64 {
    points.iter().fold(DVec3::ZERO, |most, p| most.max(p.abs().as_dvec3())).max_element()
}
