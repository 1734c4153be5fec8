//! A simulation whose stiffness is chosen from its body and its clips.

use crate::{
    Attachment, FleshError, FleshSolver, Material, Simulation, SimulationParams, StepInput,
    limit::{Allowance, ROUNDS},
};
use glam::DVec3;
use sinew_geom::{Clip, Warnings};

/// Seconds between the moments at which accelerations are taken.
const SAMPLE_SECS: f64 = 1.0 / 30.0;
/// Moments of all clips together.
const MAX_MOMENTS: usize = 120;
/// Stiffness in pascals beyond which nothing is made.
const MAX_YOUNG: f64 = 1e11;
/// Joints that a warning names.
const MAX_NAMED_JOINTS: usize = 6;
/// Factor from which a joint is named.
const NAMED_FACTOR: f64 = 2.0;
/// Height, as a share of the body's, up to which nodes of a body without a skin are held by the ground.
const FOOT_SHARE: f64 = 0.02;

impl Simulation {
    /// Stiffen what clips, or gravity without clips, would bend too far, if the parameters ask for it. What was stiffened is
    /// reported, with joints and factors.
    ///
    /// # Errors
    /// Poses of another skeleton, or a system that cannot be factorised.
    pub fn limit_stiffness(
        &mut self,
        clips: &[&Clip],
        params: &SimulationParams,
        warnings: &mut Warnings,
    ) -> Result<(), FleshError> {
        if !params.safe_stiffness {
            return Ok(());
        }
        let accelerations = match self.rigged {
            Some(_) => self.accelerations(clips, params.flesh.gravity)?,
            None => vec![vec![vec![params.flesh.gravity; self.body.lattice.n_nodes()]]],
        };
        let attachment = match self.rigged {
            Some(_) => self.attachment.clone(),
            None => self.standing(params.flesh.gravity),
        };
        let allowance = Allowance::new(&self.body.lattice, &attachment, self.diagonal);
        let base: Vec<f64> = self.materials.iter().map(|m| m.young).collect();
        let mut materials = self.materials.clone();
        for _ in 0..ROUNDS {
            let attachment = match &mut self.rigged {
                Some((.., skeleton)) => {
                    skeleton.set_materials(&self.body.lattice, &materials, &params.bones);
                    skeleton.attachment()
                }
                None => attachment.clone(),
            };
            let solver = FleshSolver::new(&self.body.lattice, &materials, &attachment, &params.flesh)?;
            let Some(factors) = allowance.factors(&solver, &accelerations)? else { break };
            for (material, factor) in materials.iter_mut().zip(&factors) {
                material.young = (material.young * factor).min(MAX_YOUNG);
            }
        }
        self.stiffness_floor = materials.iter().map(|m| m.young).collect();
        self.warn_stiffened(&base, warnings);
        self.change(params)
    }

    /// Stiffen materials to the floor that clips ask for, then soften everything.
    pub(crate) fn apply_floor(&self, materials: &mut [Material], params: &SimulationParams) {
        if !params.safe_stiffness {
            return;
        }
        for (material, floor) in materials.iter_mut().zip(&self.stiffness_floor) {
            material.young = material.young.max(*floor);
        }
        materials.iter_mut().for_each(|material| material.young /= params.softness);
    }

    /// `g − s̈` of every node in the frame of its bones, for moments of each clip.
    fn accelerations(&self, clips: &[&Clip], gravity: DVec3) -> Result<Vec<Vec<Vec<DVec3>>>, FleshError> {
        let Some((rig, _, skeleton)) = &self.rigged else { return Ok(Vec::new()) };
        let n = self.body.lattice.n_nodes();
        if clips.is_empty() {
            let size = gravity.length();
            let sideways = [DVec3::X, DVec3::Z].map(|axis| vec![axis * size; n]);
            return Ok(vec![vec![vec![gravity; n]], sideways.into()]);
        }
        let lattice = &self.body.lattice;
        let skinned = |clip: &Clip, time: f64| -> Result<StepInput, FleshError> {
            let matrices = self.matrices_of(Some(&clip.sample(rig, time as f32)))?;
            let mut input = StepInput::default();
            skeleton.prescribe(lattice, &matrices, &mut input)?;
            Ok(input)
        };
        let mut all = Vec::new();
        for clip in clips {
            let secs = f64::from(clip.duration_secs());
            let n_moments = ((secs / SAMPLE_SECS) as usize).clamp(1, (MAX_MOMENTS / clips.len()).max(4));
            let mut moments = Vec::new();
            for moment in 0..n_moments {
                let time = (moment as f64 + 0.5) * secs / n_moments as f64;
                let time = time.min(secs - SAMPLE_SECS).max(SAMPLE_SECS.min(0.5 * secs));
                let [before, now, after] = [-1.0, 0.0, 1.0].map(|k| skinned(clip, time + k * SAMPLE_SECS));
                let (before, now, after) = (before?, now?, after?);
                let one = |node: usize| {
                    let moved = after.skinned[node] - now.skinned[node] * 2.0 + before.skinned[node];
                    now.node_rotations[node].inverse() * (gravity - moved / (SAMPLE_SECS * SAMPLE_SECS))
                };
                moments.push((0..n).map(one).collect());
            }
            all.push(moments);
        }
        Ok(all)
    }

    /// A body without a skin is held at its lowest nodes.
    fn standing(&self, gravity: DVec3) -> Attachment {
        let lattice = &self.body.lattice;
        let up = (-gravity).try_normalize().unwrap_or(DVec3::Y);
        let heights: Vec<f64> = lattice.nodes().iter().map(|p| p.dot(up)).collect();
        let low = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let high = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let reach = low + FOOT_SHARE * (high - low) + 0.5 * lattice.size();
        let ties = lattice.ties().nodes();
        let held = (0..lattice.n_nodes() as u32)
            .filter(|node| heights[*node as usize] <= reach && !ties.contains(node))
            .collect();
        Attachment { held, ..Attachment::default() }
    }

    fn warn_stiffened(&self, base: &[f64], warnings: &mut Warnings) {
        let factors: Vec<f64> =
            self.stiffness_floor.iter().zip(base).map(|(floor, base)| floor / base).collect();
        let most = factors.iter().copied().fold(1.0, f64::max);
        if most < NAMED_FACTOR {
            return;
        }
        let Some((rig, skin, skeleton)) = &self.rigged else {
            warnings.push(format!(
                "the body was made up to {most:.0} times as stiff, so that it does not collapse"
            ));
            return;
        };
        let mut joints: Vec<(f64, String)> = Vec::new();
        for (slot, bound) in skin.slots.iter().enumerate() {
            let own = |cell: &usize| skeleton.cell_weight(*cell, slot) >= 0.5;
            let factor = (0..factors.len()).filter(own).map(|cell| factors[cell]).fold(0.0, f64::max);
            if factor >= NAMED_FACTOR {
                joints.push((factor, rig.joints()[bound.joint].name.clone()));
            }
        }
        joints.sort_by(|a, b| b.0.total_cmp(&a.0));
        let n = joints.len();
        let named = joints.into_iter().take(MAX_NAMED_JOINTS);
        let list: Vec<String> = named.map(|(factor, name)| format!("{name} ×{factor:.0}")).collect();
        let more =
            if n > MAX_NAMED_JOINTS { format!(" and {} more", n - MAX_NAMED_JOINTS) } else { String::new() };
        warnings.push(format!(
            "stiffness was raised up to {most:.0} times so that flesh stays near its skin: {}{more}; \
             give a stiffness to choose it yourself",
            list.join(", ")
        ));
    }
}
