//! One step's potential, and how far to go along a Newton step.

use crate::{
    response::{Configuration, respond},
    step::StepContext,
    system::{BlockMatrix, Nodes},
};
use glam::{DMat3, DVec3};

/// One step's potential: `Φ(Δv)`, whose minimum is the implicit Euler step.
pub(crate) struct NewtonStep<'a> {
    pub context: &'a StepContext<'a>,
    pub rotations: &'a [DMat3],
    /// Corners of cells at rest; without them, those of the lattice.
    pub rest: Option<&'a [[DVec3; 8]]>,
}

/// Halvings of a Newton step at most.
const MAX_HALVINGS: usize = 30;

impl NewtonStep<'_> {
    fn speed(&self, node: usize, change: &[[f64; 4]]) -> DVec3 {
        self.context.state.velocities[node] + DVec3::new(change[node][0], change[node][1], change[node][2])
    }

    pub fn places(&self, change: &[[f64; 4]]) -> Vec<DVec3> {
        (0..change.len())
            .map(|n| self.context.state.positions[n] + self.context.secs * self.speed(n, change))
            .collect()
    }

    pub fn configuration<'b>(&'b self, places: &'b [DVec3]) -> Configuration<'b> {
        Configuration { places, rotations: self.rotations, rest: self.rest }
    }

    /// Speed of nodes, relative to the skin if cells deform from it.
    fn padded_relative_speeds(&self, w: &Nodes<f64>) -> Nodes<f64> {
        let StepContext { input, secs, .. } = *self.context;
        let mut w = w.clone();
        if self.rest.is_some() {
            for (w, (to, from)) in w.iter_mut().zip(input.skinned.iter().zip(&input.skinned_before)) {
                (0..3).for_each(|k| w[k] -= (to[k] - from[k]) / secs);
            }
        }
        w
    }

    fn padded_speeds(&self, change: &[[f64; 4]]) -> Nodes<f64> {
        let one = |node: usize| {
            let w = self.speed(node, change);
            [w.x, w.y, w.z, 0.0]
        };
        (0..change.len()).map(one).collect()
    }

    /// `−∂Φ/∂Δv`; zero for held nodes.
    pub fn residual(&self, gradient: &[[f64; 4]], damping: &BlockMatrix, change: &[[f64; 4]]) -> Nodes<f64> {
        let w = self.padded_speeds(change);
        let n = w.len();
        let mut drag = vec![[0.0; 4]; n];
        damping.apply(&self.padded_relative_speeds(&w), &mut drag);
        self.context.loads.react(change, &mut drag);
        let alpha = self.context.secs * self.context.body.params.mass_damping;
        let at = |node: usize| {
            if self.context.body.is_held[node] {
                return [0.0; 4];
            }
            let m = self.context.body.masses[node];
            std::array::from_fn(|k| {
                let inertia = m * (change[node][k] + alpha * w[node][k]);
                self.context.loads.impulse[node][k]
                    - self.context.secs * gradient[node][k]
                    - drag[node][k]
                    - inertia
            })
        };
        (0..n).map(at).collect()
    }

    /// `Φ` less its elastic part.
    fn potential(&self, damping: &BlockMatrix, change: &[[f64; 4]]) -> f64 {
        let w = self.padded_speeds(change);
        let (mut drag, mut reaction) = (vec![[0.0; 4]; w.len()], vec![[0.0; 4]; w.len()]);
        damping.apply(&w, &mut drag);
        self.context.loads.react(change, &mut reaction);
        let alpha = self.context.secs * self.context.body.params.mass_damping;
        let at = |node: usize| {
            let m = self.context.body.masses[node];
            let one = |k: usize| {
                let (c, w) = (change[node][k], w[node][k]);
                0.5 * (m * (c * c + alpha * w * w) + w * drag[node][k] + c * reaction[node][k])
                    - self.context.loads.impulse[node][k] * c
            };
            (0..3).map(one).sum::<f64>()
        };
        (0..w.len()).map(at).sum()
    }

    /// Take the step, or as much of it as lowers the potential; the largest change of a velocity.
    pub fn search(
        &self,
        energy: f64,
        damping: &BlockMatrix,
        delta: &[[f64; 4]],
        change: &mut Nodes<f64>,
        is_nonlinear: bool,
    ) -> f64 {
        let before = change.clone();
        let start = if is_nonlinear { energy + self.potential(damping, change) } else { 0.0 };
        let mut share = 1.0;
        let mut is_better = !is_nonlinear;
        for _ in 0..MAX_HALVINGS {
            for (to, (from, delta)) in change.iter_mut().zip(before.iter().zip(delta)) {
                (0..3).for_each(|k| to[k] = from[k] + share * delta[k]);
            }
            if is_better {
                break;
            }
            let energy = respond(self.context.body, &self.configuration(&self.places(change)), None).energy;
            is_better = energy + self.potential(damping, change) <= start + 1e-9 * start.abs();
            if is_better {
                break;
            }
            share *= 0.5;
        }
        if !is_better {
            change.copy_from_slice(&before);
            return 0.0;
        }
        let length = |d: &[f64; 4]| DVec3::new(d[0], d[1], d[2]).length();
        share * delta.iter().map(length).fold(0.0, f64::max)
    }
}
