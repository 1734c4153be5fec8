//! All instances to one surface, in file order.

use super::bind::{Bound, Instance, Placement};
use super::part::Part;
use crate::Fault;
use crate::gltf::normals::smooth_normals;
use glam::{DAffine3, DVec3, Mat3, Vec3};
use sinew_geom::Morph;
use std::borrow::Cow;

/// Arrays of the merged surface. Attributes that no part has stay empty.
#[derive(Default)]
pub(super) struct Merged {
    pub positions: Vec<DVec3>,
    pub faces: Vec<[u32; 3]>,
    /// Material of each face by its index in the file; `None` for glTF's default.
    pub face_materials: Vec<Option<usize>>,
    pub normals: Vec<Vec3>,
    pub uvs: Vec<[f32; 2]>,
    pub colors: Vec<[f32; 4]>,
    pub joints: Vec<u16>,
    pub weights: Vec<f32>,
    pub morphs: Vec<Morph>,
    /// Offsets of parts, written into the morphs once all vertices are known.
    offsets: Vec<Offsets>,
    has: Has,
    n_vertices: usize,
}

/// Attributes at least one part has, and the number of influences.
#[derive(Default, Clone, Copy)]
pub(super) struct Has {
    pub normals: bool,
    pub uvs: bool,
    pub colors: bool,
    /// Zero if nothing moves.
    pub influences: usize,
}

struct Offsets {
    morph: usize,
    first_vertex: usize,
    offsets: Vec<Vec3>,
}

impl Has {
    /// Extend by the attributes of a part.
    pub fn add(&mut self, part: &Part, skinned: bool) {
        self.normals |= part.normals.is_some();
        self.uvs |= part.uvs.is_some();
        self.colors |= part.colors.is_some();
        let width = part.influences.as_ref().filter(|_| skinned).map_or(1, |influences| influences.width);
        self.influences = self.influences.max(width);
    }

    /// Bytes that a vertex takes.
    pub fn vertex_size(&self) -> usize {
        size_of::<DVec3>() + 12 + 8 + 16 + 6 * self.influences
    }
}

impl Merged {
    /// For a surface of this many vertices in all.
    pub fn new(has: Has, n_vertices: usize) -> Self {
        let mut merged = Self { has, n_vertices, ..Self::default() };
        merged.positions.reserve_exact(n_vertices);
        merged
    }

    /// Add one part of an instance. `morphs` are the morphs of the instance's targets. If the part is the
    /// only one, its arrays are moved rather than copied.
    pub fn push(
        &mut self,
        part: &mut Part,
        placement: &Placement,
        instance: &Instance,
        morphs: &[usize],
    ) -> Result<(), Fault> {
        let first_vertex = self.positions.len();
        let n_vertices = part.positions.len();
        if first_vertex + n_vertices > u32::MAX as usize {
            return Err(Fault::json(&part.path, "the model has more than 4294967295 vertices"));
        }
        self.push_positions(&part.positions, placement.world);
        self.push_faces(part, first_vertex as u32, placement.world);
        if self.has.normals {
            self.push_normals(part, placement.world);
        }
        let padded = self.positions.len();
        if self.has.uvs {
            join(&mut self.uvs, part.uvs.as_mut(), self.n_vertices);
            self.uvs.resize(padded, [0.0; 2]);
        }
        if self.has.colors {
            join(&mut self.colors, part.colors.as_mut(), self.n_vertices);
            self.colors.resize(padded, [1.0; 4]);
        }
        for (&morph, offsets) in morphs.iter().zip(&part.targets) {
            let Some(offsets) = offsets else { continue };
            let offsets = match placement.world {
                Some(world) => offsets.iter().map(|o| (world.matrix3 * o.as_dvec3()).as_vec3()).collect(),
                None => offsets.clone(),
            };
            self.offsets.push(Offsets { morph, first_vertex, offsets });
        }
        self.push_influences(part, placement, instance)
    }

    /// Rounded to single precision, which the file had and will be written with.
    fn push_positions(&mut self, positions: &[Vec3], world: Option<DAffine3>) {
        match world {
            Some(world) => {
                let place = |p: &Vec3| world.transform_point3(p.as_dvec3()).as_vec3().as_dvec3();
                // A transform can overflow single precision; such vertices would spoil every computation.
                let finite = |p: DVec3| if p.is_finite() { p } else { DVec3::ZERO };
                self.positions.extend(positions.iter().map(place).map(finite));
            }
            None => self.positions.extend(positions.iter().map(|p| p.as_dvec3())),
        }
    }

    fn push_faces(&mut self, part: &Part, first_vertex: u32, world: Option<DAffine3>) {
        // A mirrored instance reverses its faces, so that they are seen from outside.
        let mirrored = world.is_some_and(|world| world.matrix3.determinant() < 0.0);
        for (faces, material) in &part.faces {
            let moved = faces.iter().map(|face| face.map(|vertex| vertex + first_vertex));
            match mirrored {
                true => self.faces.extend(moved.map(|[a, b, c]| [a, c, b])),
                false => self.faces.extend(moved),
            }
            self.face_materials.resize(self.faces.len(), *material);
        }
    }

    fn push_normals(&mut self, part: &mut Part, world: Option<DAffine3>) {
        if world.is_none() && part.normals.is_some() {
            return join(&mut self.normals, part.normals.as_mut(), self.n_vertices);
        }
        let computed = || {
            let faces = part.faces.iter().flat_map(|(faces, _)| faces.iter().copied());
            smooth_normals(&part.positions, faces)
        };
        let normals = part.normals.as_ref().map_or_else(|| Cow::from(computed()), |normals| normals.into());
        let Some(world) = world else { return self.normals.extend_from_slice(&normals) };
        let linear = world.matrix3;
        // The cofactor matrix transforms normals as the inverse transpose does, and exists for flat transforms too.
        let cofactor = Mat3::from_cols(
            linear.y_axis.cross(linear.z_axis).as_vec3(),
            linear.z_axis.cross(linear.x_axis).as_vec3(),
            linear.x_axis.cross(linear.y_axis).as_vec3(),
        ) * linear.determinant().signum() as f32;
        self.normals.extend(normals.iter().map(|&normal| (cofactor * normal).normalize_or_zero()));
    }

    fn push_influences(
        &mut self,
        part: &mut Part,
        placement: &Placement,
        instance: &Instance,
    ) -> Result<(), Fault> {
        let width = self.has.influences;
        match (&placement.bound, &mut part.influences) {
            (Bound::Nothing, _) => {}
            (Bound::Rigid(slot), _) => self.push_rigid(*slot, part.positions.len()),
            (Bound::Skinned(slots), None) => {
                self.push_rigid(slots.first().copied().unwrap_or(0), part.positions.len());
            }
            (Bound::Skinned(slots), Some(influences)) => {
                let over = influences.largest_joint().filter(|&(_, joint)| joint as usize >= slots.len());
                if let Some((vertex, joint)) = over {
                    let (n, skin) = (slots.len(), instance.skin.unwrap_or(0));
                    let cause = format!("vertex {vertex} names joint {joint}, but skin {skin} has {n}");
                    return Err(Fault::json(format!("{}/attributes/JOINTS_0", part.path), cause));
                }
                let start = self.joints.len();
                // Entries without weight name slot 0, whatever the slot of joint 0 is.
                let slot =
                    |(&joint, &weight): (&u16, &f32)| if weight > 0.0 { slots[joint as usize] } else { 0 };
                if influences.width == width {
                    self.joints.extend(influences.joints.iter().zip(&influences.weights).map(slot));
                    join(&mut self.weights, Some(&mut influences.weights), self.n_vertices * width);
                } else {
                    let rows = influences.joints.chunks_exact(influences.width);
                    for (joints, weights) in rows.zip(influences.weights.chunks_exact(influences.width)) {
                        self.joints.extend(joints.iter().zip(weights).map(slot));
                        self.weights.extend_from_slice(weights);
                        self.joints.extend(std::iter::repeat_n(0, width - influences.width));
                        self.weights.extend(std::iter::repeat_n(0.0, width - influences.width));
                    }
                }
                self.bind_bare(start, slots.first().copied().unwrap_or(0));
            }
        }
        Ok(())
    }

    /// Vertices from `start` on that have no weight will follow the first joint of their own skin.
    fn bind_bare(&mut self, start: usize, first_slot: u16) {
        let width = self.has.influences;
        let rows =
            self.joints[start..].chunks_exact_mut(width).zip(self.weights[start..].chunks_exact(width));
        for (joints, _) in rows.filter(|(_, weights)| weights.iter().all(|&weight| weight == 0.0)) {
            joints[0] = first_slot;
        }
    }

    fn push_rigid(&mut self, slot: u16, n_vertices: usize) {
        for _ in 0..n_vertices {
            self.joints.push(slot);
            self.weights.push(1.0);
            self.joints.extend(std::iter::repeat_n(0, self.has.influences - 1));
            self.weights.extend(std::iter::repeat_n(0.0, self.has.influences - 1));
        }
    }

    /// Copy the collected offsets to the whole surface.
    pub fn finish_morphs(&mut self) {
        let n_vertices = self.positions.len();
        self.morphs.iter_mut().for_each(|morph| morph.offsets.resize(n_vertices, Vec3::ZERO));
        for part in self.offsets.drain(..) {
            let Some(morph) = self.morphs.get_mut(part.morph) else { continue };
            morph.offsets[part.first_vertex..][..part.offsets.len()].copy_from_slice(&part.offsets);
        }
    }
}

/// Append one array to another; if it is the whole of `n` elements it is moved.
fn join<T: Copy>(to: &mut Vec<T>, from: Option<&mut Vec<T>>, n: usize) {
    match from {
        Some(from) if to.is_empty() && from.len() == n => *to = std::mem::take(from),
        Some(from) => to.extend_from_slice(from),
        None => {}
    }
}
