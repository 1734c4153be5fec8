//! Bones inside a lattice: which nodes they hold, which points they attract, how they rotate cells.
//!
//! # Source
//! Capell (2004), §5.1 (bones as nodes whose motion is given) and §5.3 (an energy that keeps flesh near a bone from
//! slipping and twisting around it, eq. 5.11). Differs: a bone has thickness, a fraction of the distance to the
//! surface, and holds the nodes within it, so that the lattice need not be aligned with it; the energy is an integral
//! over rings of points. §5.2.2: rotations of bones blended by skin weights predict the rotation of the flesh.

use crate::{
    Anchor, Attachment, Body, BodyPoint, FleshError, Lattice, Material, StepInput,
    contact::closest_on_segment,
    lattice::Locator,
    weights::{LatticeWeights, blend, rotations_of},
};
use glam::{DAffine3, DMat3, DVec3};
use sinew_geom::{Mesh, Rig, Skin, Warnings, query::SurfaceTree};
use std::collections::BTreeSet;

/// How flesh hangs on bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoneParams {
    /// Thickness of bones, as a share of the distance to the surface. Default 0.4.
    pub radius: f64,
    /// Stiffness of the points drawn to bones, in units of the flesh's own. Default 10.
    pub stiffness: f64,
}

impl Default for BoneParams {
    fn default() -> Self {
        Self { radius: 0.4, stiffness: 10.0 }
    }
}

/// A bone at rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bone {
    /// Slot of the skin that it moves with.
    pub slot: usize,
    /// Where it begins and ends.
    pub ends: [DVec3; 2],
    /// How thick it is.
    pub radius: f64,
}

/// A skin's bones, bound to a lattice.
#[derive(Debug, Clone)]
pub struct Skeleton {
    held: Vec<(u32, u16)>,
    anchors: Vec<(Anchor, u16, DVec3)>,
    weights: LatticeWeights,
    bones: Vec<Bone>,
    rest: Vec<DVec3>,
    contact_points: Vec<BodyPoint>,
}

/// Flesh follows a bone only if that bone moves it by at least this much: parts beside it may lie in it.
const LEAST_WEIGHT: f32 = 0.1;
/// Diagonals of the surface beyond which a joint has nothing to do with it.
const NEAR_DIAGONALS: f64 = 0.25;
/// Length of a bone that ends in flesh, in distances from its joint to the middle of that flesh.
const TIP_REACH: f64 = 1.6;
/// Points around the axis of a bone.
const RING_POINTS: usize = 4;

impl Skeleton {
    /// Bind the bones of a skin. `materials` has one entry per cell.
    ///
    /// # Errors
    /// A skeleton outside the surface.
    pub fn new(
        mesh: &Mesh,
        (rig, skin): (&Rig, &Skin),
        body: &Body,
        materials: &[Material],
        params: &BoneParams,
        warnings: &mut Warnings,
    ) -> Result<Self, FleshError> {
        let tree = SurfaceTree::new(mesh);
        let weights = LatticeWeights::new(body, skin);
        let bones = find_bones(mesh, rig, skin, &tree, params, warnings);
        let locator = Locator::new(&body.lattice);
        let place = Place { body, weights: &weights, locator: &locator };
        let held = place.held(&bones);
        let anchors: Vec<(Anchor, u16, DVec3)> =
            bones.iter().flat_map(|bone| place.anchors(bone, materials, params)).collect();
        if held.is_empty() && anchors.is_empty() {
            let ends: Vec<DVec3> = bones.iter().flat_map(|bone| bone.ends).collect();
            let show = |[low, high]: [DVec3; 2]| format!("{low:.3} to {high:.3}");
            let (bones, surface) = (show(sinew_geom::mesh::bounds(&ends)), show(mesh.bounds()));
            return Err(FleshError::SkeletonOutside { bones, surface });
        }
        let is_held: BTreeSet<u32> = held.iter().map(|(node, _)| *node).collect();
        let is_free = |(anchor, ..): &(Anchor, u16, DVec3)| {
            !body.lattice.cells()[anchor.point.cell as usize].iter().all(|node| is_held.contains(node))
        };
        let anchors = anchors.into_iter().filter(is_free).collect();
        let rest = body.lattice.nodes().to_vec();
        Ok(Self {
            held,
            anchors,
            weights,
            bones,
            rest,
            contact_points: contact_points(body, &contact_vertices(mesh, body)),
        })
    }

    /// The bones, where they were bound.
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }

    /// Let anchors be as stiff as other materials of the cells want it.
    pub(crate) fn set_materials(&mut self, lattice: &Lattice, materials: &[Material], params: &BoneParams) {
        for (anchor, ..) in &mut self.anchors {
            let young = materials[anchor.point.cell as usize].young;
            anchor.stiffness = params.stiffness * young * lattice.size();
        }
    }

    /// What a solver has to know.
    pub fn attachment(&self) -> Attachment {
        Attachment {
            held: self.held.iter().map(|(node, _)| *node).collect(),
            anchors: self.anchors.iter().map(|(anchor, ..)| *anchor).collect(),
            contact_points: self.contact_points.clone(),
            regions: self.weights.of_nodes.clone(),
        }
    }

    /// Prescribe the motion of the bones: `matrices` as in skinning, one per slot of the skin.
    ///
    /// # Errors
    /// Another number of matrices, or one that is not finite.
    pub fn prescribe(
        &self,
        lattice: &Lattice,
        matrices: &[DAffine3],
        input: &mut StepInput,
    ) -> Result<(), FleshError> {
        let (expected, actual) = (self.weights.n_slots, matrices.len());
        if actual != expected {
            return Err(FleshError::Length { what: "matrices of joints", expected, actual });
        }
        if let Some(index) = matrices.iter().position(|m| !m.is_finite()) {
            return Err(FleshError::NonFinite { what: "matrix of joint", index });
        }
        let skinned = self.skinned(lattice, matrices);
        let is_first = input.skinned.len() != skinned.len();
        input.skinned_before = if is_first { skinned.clone() } else { std::mem::take(&mut input.skinned) };
        input.skinned = skinned;
        input.held.clear();
        input.held.extend(self.held.iter().map(|&(node, _)| input.skinned[node as usize]));
        input.anchors.clear();
        input.anchors.extend(self.anchors.iter().map(|(a, ..)| a.point.evaluate(lattice, &input.skinned)));
        let rotations = rotations_of(&matrices.iter().map(|m| m.matrix3).collect::<Vec<DMat3>>());
        input.region_rotations.clone_from(&rotations);
        input.cell_rotations.clear();
        input.cell_rotations.extend(self.weights.of_cells.iter().map(|w| blend(&rotations, w)));
        input.node_rotations.clear();
        input.node_rotations.extend(self.weights.of_nodes.iter().map(|w| blend(&rotations, w)));
        Ok(())
    }

    /// Where skinning puts the nodes; `matrices` as for [`Self::prescribe`].
    pub fn skinned(&self, lattice: &Lattice, matrices: &[DAffine3]) -> Vec<DVec3> {
        let one = |(p, weights): (&DVec3, &[(u16, f32); 4])| {
            let at = |(slot, w): &(u16, f32)| matrices[*slot as usize].transform_point3(*p) * f64::from(*w);
            // Sums in single precision are not quite one, which would move bodies far from the origin.
            weights.iter().map(at).sum::<DVec3>() / weights.iter().map(|(_, w)| f64::from(*w)).sum::<f64>()
        };
        let mut skinned: Vec<DVec3> = self.rest.iter().zip(&self.weights.of_nodes).map(one).collect();
        lattice.ties().spread_places(&mut skinned);
        skinned
    }

    /// How strongly a slot moves a cell, 0..=1.
    pub fn cell_weight(&self, cell: usize, slot: usize) -> f64 {
        let strongest = self.weights.of_cells[cell].iter().find(|(s, _)| *s as usize == slot);
        strongest.map_or(0.0, |(_, w)| f64::from(*w))
    }
}

/// Vertices that meet obstacles: one for each half of a cell along each axis.
pub(crate) fn contact_vertices(mesh: &Mesh, body: &Body) -> Vec<u32> {
    let step = body.lattice.size() / 2.0;
    let (mut seen, mut vertices) = (BTreeSet::new(), Vec::new());
    for (vertex, p) in mesh.positions().iter().enumerate() {
        let place = (*p / step).floor().as_ivec3().to_array();
        if seen.insert((place, body.embedding.cell(vertex))) {
            vertices.push(vertex as u32);
        }
    }
    vertices
}

/// Vertices as points of the body.
pub(crate) fn contact_points(body: &Body, vertices: &[u32]) -> Vec<BodyPoint> {
    vertices.iter().map(|&vertex| body.point(vertex as usize)).collect()
}

/// Bones of a skin where it was bound: from each joint to those below it, or into the flesh it moves.
fn find_bones(
    mesh: &Mesh,
    rig: &Rig,
    skin: &Skin,
    tree: &SurfaceTree,
    params: &BoneParams,
    warnings: &mut Warnings,
) -> Vec<Bone> {
    let heads: Vec<DVec3> = skin.slots.iter().map(|slot| slot.inverse_bind.inverse().translation).collect();
    let slot_of = |joint: usize| skin.slots.iter().position(|slot| slot.joint == joint);
    let above = |joint: usize| {
        let mut at = rig.joints()[joint].parent;
        while let Some(parent) = at {
            if let Some(slot) = slot_of(parent) {
                return Some(slot);
            }
            at = rig.joints()[parent].parent;
        }
        None
    };
    let mut bones: Vec<Bone> = Vec::new();
    let mut n_short = 0;
    let mut add = |bones: &mut Vec<Bone>, slot: usize, end: DVec3| {
        let ends = [heads[slot], end];
        if !ends[0].is_finite() || ends[0].distance(end) <= 1e-6 * mesh.diagonal() {
            n_short += 1;
            return;
        }
        bones.push(Bone { slot, ends, radius: params.radius * depth(tree, ends) });
    };
    for (slot, bound) in skin.slots.iter().enumerate() {
        if let Some(parent) = above(bound.joint).filter(|_| slot_of(bound.joint) == Some(slot)) {
            add(&mut bones, parent, heads[slot]);
        }
    }
    // Flesh that no bone of its own joint passes through, as that of hands, or of heads whose only bones lead to the
    // ears, gets one. A joint far from the surface is bound elsewhere; a bone from there would be an invention.
    let [low, high] = mesh.bounds();
    let n_between = bones.len();
    for (slot, middle) in middles(mesh, skin).into_iter().enumerate() {
        let Some(middle) = middle else { continue };
        let holds = |bone: &Bone| {
            let near = closest_on_segment(bone.ends[0], bone.ends[1], middle);
            bone.slot == slot && near.distance(middle) <= bone.radius
        };
        let head = heads[slot];
        let is_near = head.distance(head.clamp(low, high)) <= NEAR_DIAGONALS * mesh.diagonal();
        if is_near && !bones[..n_between].iter().any(holds) {
            add(&mut bones, slot, head + TIP_REACH * (middle - head));
        }
    }
    if n_short > 0 {
        warnings
            .push(format!("{n_short} bones have no length; they turn flesh by their weights but hold none"));
    }
    bones
}

/// Middle of the vertices that follow each slot, those that follow it most counting most.
fn middles(mesh: &Mesh, skin: &Skin) -> Vec<Option<DVec3>> {
    let mut sums = vec![(DVec3::ZERO, 0.0); skin.slots.len()];
    for (vertex, p) in mesh.positions().iter().enumerate().take(skin.n_vertices()) {
        for (slot, weight) in skin.vertex(vertex) {
            let sum = &mut sums[slot as usize];
            sum.0 += *p * f64::from(weight * weight);
            sum.1 += f64::from(weight * weight);
        }
    }
    sums.iter().map(|(sum, weight)| (*weight > 0.0).then(|| *sum / *weight)).collect()
}

/// Typical distance of a bone from the surface around it; zero if it lies outside.
fn depth(tree: &SurfaceTree, [a, b]: [DVec3; 2]) -> f64 {
    let at = |k: usize| a.lerp(b, (k as f64 + 0.5) / 9.0);
    let inside = (0..9).map(at).filter(|p| tree.winding_number(*p).abs() > 0.5);
    let mut depths: Vec<f64> = inside.filter_map(|p| Some(tree.closest_point(p)?.distance)).collect();
    depths.sort_by(f64::total_cmp);
    depths.get(depths.len() / 2).copied().unwrap_or(0.0)
}

struct Place<'a> {
    body: &'a Body,
    weights: &'a LatticeWeights,
    locator: &'a Locator,
}

impl Place<'_> {
    /// Nodes within a bone, each with the one it is deepest in.
    fn held(&self, bones: &[Bone]) -> Vec<(u32, u16)> {
        let mut held = Vec::new();
        // Nodes that hang between others follow them.
        let hangs: BTreeSet<u32> = self.body.lattice.ties().nodes().iter().copied().collect();
        for (node, &p) in self.body.lattice.nodes().iter().enumerate() {
            if hangs.contains(&(node as u32)) {
                continue;
            }
            let depth = |bone: &Bone| {
                let distance = closest_on_segment(bone.ends[0], bone.ends[1], p).distance(p);
                let is_own = self.weights.node(node, bone.slot) >= LEAST_WEIGHT;
                (is_own && distance < bone.radius).then(|| distance / bone.radius)
            };
            let nearest = bones.iter().filter_map(|bone| Some((depth(bone)?, bone.slot)));
            if let Some((_, slot)) = nearest.min_by(|a, b| a.0.total_cmp(&b.0)) {
                held.push((node as u32, slot as u16));
            }
        }
        held
    }

    /// Rings of points along a bone, a cell apart.
    fn anchors(&self, bone: &Bone, materials: &[Material], params: &BoneParams) -> Vec<(Anchor, u16, DVec3)> {
        let lattice: &Lattice = &self.body.lattice;
        let along = bone.ends[1] - bone.ends[0];
        let n = (along.length() / lattice.size()).ceil().clamp(1.0, 1000.0) as usize;
        let side = along.normalize().any_orthonormal_vector();
        let other = along.normalize().cross(side);
        let mut anchors = Vec::new();
        for ring in 0..n {
            let middle = bone.ends[0] + along * ((ring as f64 + 0.5) / n as f64);
            for k in 0..RING_POINTS {
                // Points of every other ring are between those of the last.
                let angle = std::f64::consts::TAU * (k as f64 + 0.5 * (ring % 2) as f64) / RING_POINTS as f64;
                let p = middle + (side * angle.cos() + other * angle.sin()) * bone.radius;
                let weight = |cell: &u32| {
                    let corners = &lattice.cells()[*cell as usize];
                    corners.iter().map(|&n| self.weights.node(n as usize, bone.slot)).sum::<f32>() / 8.0
                };
                // Some skeletons have joints that hang on another than the one above them in the body; what lies on
                // the line between follows neither.
                let own = self.locator.cells_at(p).into_iter().filter(|cell| weight(cell) >= LEAST_WEIGHT);
                let Some(cell) = own.max_by(|a, b| weight(a).total_cmp(&weight(b))) else { continue };
                let point = self.locator.point(lattice, cell, p);
                let stiffness = params.stiffness * materials[cell as usize].young * lattice.size();
                anchors.push((Anchor { point, stiffness }, bone.slot as u16, p));
            }
        }
        anchors
    }
}
