//! The body as it stands before it walks: in its own axes (x left, y up, z ahead), on the ground at 0, between its legs.

use glam::{DAffine3, DQuat, DVec3};
use sinew_geom::{
    Character, GeomError, Pose, Rig, Transform,
    body_map::{BodyMap, ReferenceStance, attachments},
    rig::parents_first,
};

/// A skeleton in its base pose: people stand upright with their arms down, other bodies as they were made.
pub(crate) struct Base<'a> {
    pub rig: &'a Rig,
    pub map: BodyMap,
    /// What carries each joint: its parent, or the joint it is attached to.
    pub hangs_on: Vec<Option<usize>>,
    /// All joints, each after what carries it.
    pub order: Vec<usize>,
    /// `world_from_joint` in the space of the skeleton.
    world: Vec<DAffine3>,
    pub body_from_world: DAffine3,
    /// Joints in the axes of the body.
    pub places: Vec<DVec3>,
    /// The surface in the axes of the body, and the joint that moves most of each vertex.
    pub surface: Vec<(DVec3, usize)>,
}

impl<'a> Base<'a> {
    /// Stand a character with a skeleton.
    pub fn new(character: &'a Character, rig: &'a Rig) -> Result<Self, GeomError> {
        let map = BodyMap::read(rig, &character.clips);
        let attached = attachments(rig, &character.clips);
        let hangs_on: Vec<Option<usize>> =
            (0..rig.n_joints()).map(|k| attached[k].or(rig.joints()[k].parent)).collect();
        let order = parents_first(&hangs_on);
        let mut read = Vec::new();
        rig.forward(&map.pose, &mut read)?;
        let wanted = map.reference(rig, ReferenceStance::ArmsDown);
        let mut moved = vec![DAffine3::IDENTITY; rig.n_joints()];
        for &k in &order {
            let at = read[k].translation;
            let turn =
                (wanted[k] * read[k].to_scale_rotation_translation().1.normalize().inverse()).normalize();
            let turn = if turn.is_finite() { turn } else { DQuat::IDENTITY };
            let carried = hangs_on[k].map_or(at, |on| moved[on].transform_point3(at));
            moved[k] = DAffine3::from_rotation_translation(turn, carried - turn * at);
        }
        let world: Vec<DAffine3> = moved.iter().zip(&read).map(|(moved, read)| *moved * *read).collect();
        let body_from_world = DAffine3::from_quat(map.basis().inverse());
        let mut base = Self {
            places: Vec::new(),
            surface: surface(character, &world)?,
            rig,
            map,
            hangs_on,
            order,
            world,
            body_from_world,
        };
        base.place();
        for (point, _) in &mut base.surface {
            *point = body_from_world.transform_point3(*point);
        }
        Ok(base)
    }

    fn place(&mut self) {
        self.places =
            self.world.iter().map(|joint| self.body_from_world.transform_point3(joint.translation)).collect();
    }

    /// Move the origin of the body's axes.
    pub fn set_origin(&mut self, origin: DVec3) {
        self.body_from_world = DAffine3::from_translation(-origin) * self.body_from_world;
        self.surface.iter_mut().for_each(|(point, _)| *point -= origin);
        self.place();
    }

    /// `world_from_joint` of every joint moved from the base pose, in the space of the skeleton.
    pub fn world(&self, moved: &[DAffine3]) -> Vec<DAffine3> {
        let world_from_body = self.body_from_world.inverse();
        let one =
            |(moved, base): (&DAffine3, &DAffine3)| world_from_body * *moved * self.body_from_world * *base;
        moved.iter().zip(&self.world).map(one).collect()
    }

    /// The pose in which joints are at these places. Lengths of bones are those at rest wherever the parent carries a joint.
    pub fn pose(&self, world: &[DAffine3]) -> Pose {
        let local = |k: usize| {
            let joint = &self.rig.joints()[k];
            let local = joint.parent.map_or(world[k], |parent| world[parent].inverse() * world[k]);
            let (local, _) = Transform::from_affine(local);
            Transform { scale: self.map.pose.locals[k].scale, ..local }
        };
        Pose { locals: (0..self.rig.n_joints()).map(local).collect() }
    }

    /// Which joints hang on one, itself among them.
    pub fn below(&self, joint: usize) -> Vec<bool> {
        let mut found = vec![false; self.hangs_on.len()];
        for &k in &self.order {
            found[k] = k == joint || self.hangs_on[k].is_some_and(|on| found[on]);
        }
        found
    }

    /// Height of everything there is.
    pub fn height(&self) -> f64 {
        let points = self.surface.iter().map(|(p, _)| p.y).chain(self.places.iter().map(|p| p.y));
        let (low, high) = points.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)));
        if high > low { high - low } else { 0.0 }
    }
}

/// The surface in a pose, with the joint that moves most of each vertex.
fn surface(character: &Character, world: &[DAffine3]) -> Result<Vec<(DVec3, usize)>, GeomError> {
    let Some(skin) = character.skin.as_ref().filter(|skin| skin.n_vertices() > 0) else {
        return Ok(Vec::new());
    };
    let points = character.positions_by(world)?;
    let owner = |v: usize| {
        let most = skin.vertex(v).max_by(|a, b| a.1.total_cmp(&b.1));
        most.and_then(|(slot, _)| skin.slots.get(slot as usize)).map_or(0, |slot| slot.joint)
    };
    Ok(points
        .iter()
        .enumerate()
        .map(|(v, p)| (p.as_dvec3(), owner(v)))
        .filter(|(p, _)| p.is_finite())
        .collect())
}
