//! The linear system of one step of cubes.

use crate::{
    FleshState,
    body::ElasticBody,
    loads::Loads,
    system::{Cubes, Nodes, PinSpace, PointTerm, apply_points, dot},
};
use glam::DVec3;

/// The system of one step.
pub(crate) struct System<'a> {
    /// Mass of each node with its damping and what else reacts to its own velocity.
    pub masses: Vec<f64>,
    /// Factor of the stiffness.
    pub scale: f64,
    pub drag: f64,
    secs: f64,
    pub loads: &'a Loads,
}

impl<'a> System<'a> {
    pub fn new(body: &ElasticBody, loads: &'a Loads, secs: f64) -> Self {
        let params = &body.params;
        let drag = secs * params.mass_damping;
        let mut masses: Vec<f64> = body.masses.iter().map(|m| m * (1.0 + drag)).collect();
        masses.iter_mut().zip(&loads.diagonal).for_each(|(m, k)| *m += k);
        Self { masses, scale: secs * secs + secs * params.stiffness_damping, drag, secs, loads }
    }

    pub fn apply(&self, cubes: &Cubes<f64>, x: &[[f64; 4]], out: &mut [[f64; 4]]) {
        cubes.apply(x, out);
        for ((out, x), m) in out.iter_mut().zip(x).zip(&self.masses) {
            (0..4).for_each(|k| out[k] = self.scale * out[k] + m * x[k]);
        }
        apply_points(&self.loads.points, x, out);
    }

    /// `b − A Δv`; zero for held nodes.
    pub fn residual(
        &self,
        cubes: &Cubes<f64>,
        body: &ElasticBody,
        state: &FleshState,
        gradient: &[[f64; 4]],
        change: &[[f64; 4]],
    ) -> Nodes<f64> {
        let speed = |(v, c): (&DVec3, &[f64; 4])| [v.x + c[0], v.y + c[1], v.z + c[2], 0.0];
        let w: Nodes<f64> = state.velocities.iter().zip(change).map(speed).collect();
        let mut stress = vec![[0.0; 4]; w.len()];
        cubes.apply(&w, &mut stress);
        let mut reaction = vec![[0.0; 4]; w.len()];
        self.loads.react(change, &mut reaction);
        let at = |node: usize| -> [f64; 4] {
            if body.is_held[node] {
                return [0.0; 4];
            }
            let m = body.masses[node];
            std::array::from_fn(|k| {
                let inner = self.secs * gradient[node][k] + self.scale * stress[node][k];
                self.loads.impulse[node][k]
                    - inner
                    - m * (self.drag * w[node][k] + change[node][k])
                    - reaction[node][k]
            })
        };
        (0..w.len()).map(at).collect()
    }

    /// `r −= A x` on free nodes.
    pub fn subtract(&self, cubes: &Cubes<f64>, x: &[[f32; 4]], r: &mut Nodes<f64>) {
        let x: Nodes<f64> = x.iter().map(|x| x.map(f64::from)).collect();
        let mut out = vec![[0.0; 4]; x.len()];
        self.apply(cubes, &x, &mut out);
        for (r, out) in r.iter_mut().zip(&out) {
            (0..4).for_each(|k| r[k] -= out[k]);
        }
    }

    /// A residual that is too small to matter: a hundredth of a percent of what gravity does in a step.
    pub fn floor(&self, inverse: &[[f32; 6]], body: &ElasticBody, secs: f64) -> f64 {
        let pull = body.params.gravity.length().max(1.0) * secs * 1e-4;
        let entries = inverse.iter().zip(&body.masses);
        entries.map(|(inverse, m)| f64::from(inverse[1]) * (m * pull).powi(2)).sum()
    }
}

/// `rᵀ M⁻¹ r` of a residual whose part along pins does not count.
pub(crate) fn size(
    precondition: &mut impl FnMut(&[[f32; 4]], &mut [[f32; 4]]),
    pins: &PinSpace,
    r: &[[f32; 4]],
) -> f64 {
    let (mut r, mut z) = (r.to_vec(), vec![[0f32; 4]; r.len()]);
    pins.project_forces(&mut r);
    precondition(&r, &mut z);
    pins.project(&mut z);
    dot(&r, &z)
}

pub(crate) fn lower(point: &PointTerm<f64>) -> PointTerm<f32> {
    PointTerm {
        nodes: point.nodes,
        weights: point.weights.map(|x| x as f32),
        matrix: point.matrix.map(|x| x as f32),
    }
}
