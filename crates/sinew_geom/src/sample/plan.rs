//! Body plans: bones, flesh around them, materials and handles, defined for the left half.

use super::field::{Field, Group, Prim};
use super::shape::{Cone, Ellipsoid, Shape};
use crate::{Dof, DofKind, EulerOrder, GeomError, Joint, Material, Rig, Transform};
use glam::{DMat3, DQuat, DVec3};

/// Which half of the body a bone moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Center,
    Left,
    Right,
}

/// A joint and the segment it carries, in world coordinates at rest.
#[derive(Debug, Clone)]
pub(super) struct Bone {
    pub name: String,
    pub parent: Option<usize>,
    pub head: DVec3,
    pub tail: DVec3,
    /// Half width over which the skin blends from the parent to this bone.
    pub radius: f64,
    /// World rotation of the joint's rest frame, in which its degrees of freedom turn.
    pub frame: DQuat,
    pub dofs: Vec<Dof>,
    pub side: Side,
}

/// A region of the surface: a ball, and the bone whose skin it selects from.
#[derive(Debug, Clone)]
pub(super) struct HandlePlan {
    pub name: String,
    pub bone: usize,
    pub ball: (DVec3, f64),
    pub pivot: DVec3,
    pub secondary: Vec<String>,
}

/// A creature before it has a surface.
#[derive(Debug, Clone, Default)]
pub(super) struct Plan {
    pub bones: Vec<Bone>,
    pub field: Field,
    pub materials: Vec<Material>,
    pub handles: Vec<HandlePlan>,
}

/// Shorthand for a point.
pub(super) const fn v(x: f64, y: f64, z: f64) -> DVec3 {
    DVec3::new(x, y, z)
}

/// Mirror image of a point.
pub(super) fn flip(p: DVec3) -> DVec3 {
    v(-p.x, p.y, p.z)
}

/// Name of the other side's twin.
fn twin_name(name: &str) -> String {
    name.strip_suffix(".L").map_or_else(|| name.to_owned(), |stem| format!("{stem}.R"))
}

impl Plan {
    /// Add a bone; a name ending in `.L` also adds its twin, right after it.
    pub fn bone(
        &mut self,
        name: &str,
        parent: Option<usize>,
        head: DVec3,
        tail: DVec3,
        radius: f64,
    ) -> usize {
        let side = if name.ends_with(".L") { Side::Left } else { Side::Center };
        let frame = parent.map_or(DQuat::IDENTITY, |p| self.bones[p].frame);
        let left = Bone { name: name.into(), parent, head, tail, radius, frame, dofs: Vec::new(), side };
        let index = self.bones.len();
        if side == Side::Left {
            let parent = parent.map(|p| if self.bones[p].side == Side::Left { p + 1 } else { p });
            let frame = flip_rotation(frame);
            let (head, tail, name) = (flip(head), flip(tail), twin_name(name));
            let right = Bone { name, parent, head, tail, frame, side: Side::Right, ..left.clone() };
            self.bones.extend([left, right]);
        } else {
            self.bones.push(left);
        }
        index
    }

    /// Turn the frame of a bone just added, before it has children.
    pub fn turn(&mut self, bone: usize, frame: DQuat) {
        self.bones[bone].frame = frame;
        if self.bones[bone].side == Side::Left {
            self.bones[bone + 1].frame = flip_rotation(frame);
        }
    }

    /// Degrees of freedom of a bone, in degrees; its twin gets their mirror image.
    pub fn limits(&mut self, bone: usize, ranges: &[(DofKind, f64, f64)]) {
        let dof =
            |&(kind, low, high): &(DofKind, f64, f64)| Dof { kind, range: [low, high].map(f64::to_radians) };
        self.bones[bone].dofs = ranges.iter().map(dof).collect();
        if self.bones[bone].side == Side::Left {
            let mirrored = |&(kind, low, high): &(DofKind, f64, f64)| match kind {
                DofKind::Ry | DofKind::Rz => dof(&(kind, -high, -low)),
                _ => dof(&(kind, low, high)),
            };
            self.bones[bone + 1].dofs = ranges.iter().map(mirrored).collect();
        }
    }

    /// Give a root all six degrees of freedom.
    pub fn free(&mut self, bone: usize) {
        let full = |kind| {
            let reach = if kind < DofKind::Rx { 100.0 } else { std::f64::consts::PI };
            Dof { kind, range: [-reach, reach] }
        };
        self.bones[bone].dofs = DofKind::ALL.map(full).to_vec();
    }

    /// Add a limb that blends into `parent` over `blend`.
    pub fn group(&mut self, parent: Option<usize>, blend: f64) -> usize {
        self.field.groups.push(Group { parent, blend });
        self.field.groups.len() - 1
    }

    /// Add a material; returns its tint.
    pub fn material(&mut self, name: &str, srgb: u32, roughness: f32) -> usize {
        let channel = |shift: u32| (f64::from(srgb >> shift & 255) / 255.0).powf(2.2) as f32;
        let base_color = [channel(16), channel(8), channel(0), 1.0];
        self.materials.push(Material { name: name.into(), base_color, roughness, ..Material::default() });
        self.materials.len() - 1
    }

    fn prim(&mut self, group: usize, joint: usize, shape: Shape, radius: f64) -> &mut Prim {
        let grain = (radius / 0.1).sqrt().clamp(0.12, 1.3);
        let tint = self.field.prims.last().map_or(0, |prim| prim.tint);
        let prim = Prim { shape, blend: 0.5 * radius, carve: false, group, joint, tint, grain };
        let at = self.field.prims.len();
        self.field.prims.push(prim);
        &mut self.field.prims[at]
    }

    /// Add a round cone from `a` to `b`; it has the tint of the previous primitive.
    pub fn cone(&mut self, at: (usize, usize), a: (DVec3, f64), b: (DVec3, f64)) -> &mut Prim {
        let shape = Shape::Cone(Cone::new(a.0, b.0, a.1, b.1));
        self.prim(at.0, at.1, shape, a.1.min(b.1))
    }

    /// Add an ellipsoid with axes along x, y, z.
    pub fn ellipsoid(&mut self, at: (usize, usize), center: DVec3, radii: DVec3) -> &mut Prim {
        let shape = Shape::Ellipsoid(Ellipsoid::new(center, radii, DMat3::IDENTITY));
        self.prim(at.0, at.1, shape, radii.min_element())
    }

    /// Name a region: the skin of `bone` and its descendants within a ball. Left ones get a twin.
    pub fn handle(&mut self, name: &str, bone: usize, ball: (DVec3, f64), secondary: &[&str]) {
        let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect::<Vec<String>>();
        let pivot = self.bones[bone].head;
        let left = HandlePlan { name: name.into(), bone, ball, pivot, secondary: owned(secondary) };
        if name.ends_with(".L") {
            let secondary = left.secondary.iter().map(|n| twin_name(n)).collect();
            let (ball, pivot) = ((flip(ball.0), ball.1), flip(pivot));
            let bone = if self.bones[bone].side == Side::Left { bone + 1 } else { bone };
            self.handles.push(left);
            self.handles.push(HandlePlan { name: twin_name(name), bone, ball, pivot, secondary });
        } else {
            self.handles.push(left);
        }
    }

    /// Bone with a name, for motions and handles.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.bones.iter().position(|bone| bone.name == name)
    }

    /// The joint tree.
    pub fn rig(&self) -> Result<Rig, GeomError> {
        Rig::new(self.bones.iter().map(|bone| self.joint(bone)).collect())
    }

    fn joint(&self, bone: &Bone) -> Joint {
        let (origin, frame) =
            bone.parent.map_or((DVec3::ZERO, DQuat::IDENTITY), |p| (self.bones[p].head, self.bones[p].frame));
        let parent_from_world = frame.inverse();
        let rest = Transform {
            translation: parent_from_world * (bone.head - origin),
            rotation: (parent_from_world * bone.frame).normalize(),
            scale: DVec3::ONE,
        };
        // The middle angle of an order covers a half turn only; elbows need more about y.
        let wide = |dof: &Dof| dof.kind == DofKind::Ry && dof.range.iter().any(|r| r.abs() > 1.6);
        let bends_far = bone.parent.is_some() && bone.dofs.iter().any(wide);
        let euler = if bends_far { EulerOrder::Yxz } else { EulerOrder::default() };
        Joint { dofs: bone.dofs.clone(), euler, ..Joint::new(bone.name.clone(), bone.parent, rest) }
    }
}

/// Mirror image of a rotation in the plane x = 0.
fn flip_rotation(q: DQuat) -> DQuat {
    DQuat::from_xyzw(q.x, -q.y, -q.z, q.w)
}

impl Prim {
    pub fn blend(&mut self, blend: f64) -> &mut Self {
        self.blend = blend;
        self
    }

    pub fn tint(&mut self, tint: usize) -> &mut Self {
        self.tint = tint;
        self
    }

    /// Edge length relative to the one derived from the radius.
    pub fn grain(&mut self, factor: f64) -> &mut Self {
        self.grain *= factor;
        self
    }

    pub fn carve(&mut self) -> &mut Self {
        self.carve = true;
        self
    }

    /// Make a cone `factor` times as thick along `direction`.
    pub fn flat(&mut self, direction: DVec3, factor: f64) -> &mut Self {
        if let Shape::Cone(cone) = &mut self.shape {
            *cone = cone.flattened(direction, factor);
        }
        self
    }

    /// Turn an ellipsoid about an axis, in degrees.
    pub fn tilt(&mut self, axis: DVec3, degrees: f64) -> &mut Self {
        if let Shape::Ellipsoid(ellipsoid) = &mut self.shape {
            let turn = DMat3::from_axis_angle(axis.normalize_or(DVec3::X), degrees.to_radians());
            *ellipsoid = ellipsoid.tilted(turn);
        }
        self
    }
}
