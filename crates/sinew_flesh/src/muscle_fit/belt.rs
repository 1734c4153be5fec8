//! Where a belt is.

use super::posed::point_of;
use crate::{
    FleshError, Simulation,
    muscle::{Belt, MuscleError, find_joint},
};
use glam::DVec3;
use sinew_geom::{Mesh, Rig};
use std::collections::BTreeMap;

impl Belt {
    /// Around a bone of a joint, at a share of its length, tightened by a factor (1 leaves the surface where it is): one
    /// point for each cell that the surface crosses there.
    ///
    /// # Errors
    /// A joint without a bone in flesh, numbers out of range, or a place where nothing is to be held.
    pub fn around(
        simulation: &Simulation,
        mesh: &Mesh,
        (joint, share): (&str, f64),
        tighten: f64,
    ) -> Result<Self, FleshError> {
        let wrong = |what: &str, value, expected| {
            let (muscle, what) = (format!("belt around {joint}"), what.to_owned());
            Err(FleshError::Muscle(MuscleError::Parameter { muscle, what, value, expected }))
        };
        if !(0.0..=1.0).contains(&share) {
            return wrong("the place", share, "it must lie between 0 and 1");
        }
        if !(tighten > 0.0 && tighten <= 2.0) {
            return wrong("the factor", tighten, "it must lie above 0 and be at most 2");
        }
        let Some((rig, skin, skeleton)) = &simulation.rigged else { return Err(MuscleError::NotHeld.into()) };
        let body = &simulation.body;
        let index = find_joint(rig, joint)?;
        let on_joint = |slot: usize| skin.slots[slot].joint == index;
        let bones = skeleton.bones().iter().filter(|bone| on_joint(bone.slot));
        let length = |ends: &[DVec3; 2]| ends[0].distance(ends[1]);
        let Some(bone) = bones.max_by(|a, b| length(&a.ends).total_cmp(&length(&b.ends))) else {
            return wrong("the number of bones", 0.0, "the joint moves no flesh; choose another");
        };
        let [a, b] = bone.ends;
        let (middle, axis) = (a.lerp(b, share), (b - a).normalize());
        let lattice = &body.lattice;
        let is_held = |node: &u32| simulation.solver.body.is_held[*node as usize];
        let mut nearest: BTreeMap<usize, (f64, usize)> = BTreeMap::new();
        for (vertex, p) in mesh.positions().iter().enumerate() {
            let off = (*p - middle).dot(axis).abs();
            let cell = body.embedding.cell(vertex);
            let own: f32 = skin
                .vertex(vertex)
                .filter(|(slot, _)| related(rig, skin.slots[*slot as usize].joint, index))
                .map(|(_, w)| w)
                .sum();
            let is_free = !lattice.cells()[cell].iter().all(is_held);
            if off < 0.5 * lattice.size() && own > 0.5 && is_free {
                let best = nearest.entry(cell).or_insert((f64::INFINITY, vertex));
                if off < best.0 {
                    *best = (off, vertex);
                }
            }
        }
        let mut points = Vec::new();
        for (_, vertex) in nearest.values() {
            let p = mesh.positions()[*vertex];
            let center = middle + axis * (p - middle).dot(axis);
            points.push((point_of(body, *vertex)?, bone.slot as u16, center + (p - center) * tighten));
        }
        if points.is_empty() {
            return wrong("the number of points", 0.0, "no surface of that joint lies there; move it");
        }
        Ok(Self::new(points))
    }
}

/// Whether two joints are the same or one carries the other directly.
fn related(rig: &Rig, a: usize, b: usize) -> bool {
    a == b || rig.joints()[a].parent == Some(b) || rig.joints()[b].parent == Some(a)
}
