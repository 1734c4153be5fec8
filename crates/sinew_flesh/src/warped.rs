//! The skeletally warped linearisation of Capell (2004): one frame per node, rotated as the bones prescribe.
//!
//! # Source
//! Capell (2004), §5.2.2, eq. 5.10: `Q_i = R_i Σ_j S_ij (R_iᵀ x_j − X_j)`, in which translations cancel because the
//! rows of `S` sum to zero. The system is not symmetric; Capell solves it by bi-conjugate gradients, here stabilised
//! ones.
//! # Limits
//! No pins. Intended for comparison: frames of cells (`predicted`) are nearer to the nonlinear material and conserve
//! momentum.

use crate::{
    FleshError,
    loads::refuse_pins,
    step::StepContext,
    system::{
        BlockMatrix, Nodes, Outcome, apply_points, bicgstab, invert_block, rotation_matrices, times_blocks,
    },
};
use glam::{DMat3, DVec3};

/// Iterations after which a step is reported as not converged.
const MAX_ITERATIONS: usize = 2000;

/// The change of velocity of a step; `stiffness` is that at rest.
pub(crate) fn step_warped(
    stiffness: &BlockMatrix,
    context: &StepContext,
    change: &mut Nodes<f64>,
) -> Result<Outcome, FleshError> {
    refuse_pins(context.input, "mode warped has no pins; choose mode predicted")?;
    let warped = Warped::new(stiffness, context);
    let b = warped.right_side();
    let inverse = warped.inverse_blocks();
    let mut delta = vec![[0.0; 4]; b.len()];
    let outcome = bicgstab(
        |x, out| warped.apply(x, out),
        |r, z| warped.precondition(&inverse, r, z),
        &b,
        &mut delta,
        (context.body.params.tolerance, MAX_ITERATIONS),
    );
    for (node, delta) in delta.iter().enumerate() {
        (0..3).for_each(|k| change[node][k] = context.loads.start[node][k] + delta[k]);
    }
    Ok(outcome)
}

struct Warped<'a> {
    stiffness: &'a BlockMatrix,
    context: &'a StepContext<'a>,
    turned: Vec<DMat3>,
    scale: f64,
    drag: f64,
}

fn at(x: &[f64; 4]) -> DVec3 {
    DVec3::new(x[0], x[1], x[2])
}

fn padded(x: DVec3) -> [f64; 4] {
    [x.x, x.y, x.z, 0.0]
}

impl<'a> Warped<'a> {
    fn new(stiffness: &'a BlockMatrix, context: &'a StepContext<'a>) -> Self {
        let (params, secs) = (&context.body.params, context.secs);
        let turned = match context.input.node_rotations.is_empty() {
            true => vec![DMat3::IDENTITY; context.body.lattice.n_nodes()],
            false => rotation_matrices(&context.input.node_rotations),
        };
        let (scale, drag) = (secs * secs + secs * params.stiffness_damping, secs * params.mass_damping);
        Self { stiffness, context, turned, scale, drag }
    }

    fn free(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.turned.len()).filter(|node| !self.context.body.is_held[*node])
    }

    /// Row `i` of `R_i S (R_iᵀ p − X)`; without the shape at rest, of `R_i S R_iᵀ p`.
    fn row(&self, node: usize, p: impl Fn(usize) -> DVec3, rest: Option<&[DVec3]>) -> DVec3 {
        let (r, origin) = (&self.turned[node], p(node));
        let sum = self.stiffness.row_times(node, |other| {
            let shape = rest.map_or(DVec3::ZERO, |rest| rest[other] - rest[node]);
            (r.transpose() * (p(other) - origin) - shape).to_array()
        });
        *r * DVec3::from_array(sum)
    }

    fn apply(&self, x: &[[f64; 4]], out: &mut [[f64; 4]]) {
        for node in self.free() {
            let mass = self.context.body.masses[node] * (1.0 + self.drag);
            out[node] = padded(self.row(node, |n| at(&x[n]), None) * self.scale + at(&x[node]) * mass);
        }
        apply_points(&self.context.loads.points, x, out);
        for (out, held) in out.iter_mut().zip(&self.context.body.is_held) {
            if *held {
                *out = [0.0; 4];
            }
        }
    }

    /// `b − A Δv` at the change to start from.
    fn right_side(&self) -> Nodes<f64> {
        let StepContext { body, state, loads, secs, .. } = *self.context;
        let speed = |node: usize| state.velocities[node] + at(&loads.start[node]);
        let mut reaction = vec![[0.0; 4]; self.turned.len()];
        apply_points(&loads.points, &loads.start, &mut reaction);
        let mut b = vec![[0.0; 4]; self.turned.len()];
        for node in self.free() {
            let elastic = self.row(node, |n| state.positions[n], Some(body.lattice.nodes()));
            let inner = elastic * secs + self.row(node, speed, None) * self.scale;
            let inertia = (speed(node) * self.drag + at(&loads.start[node])) * body.masses[node];
            b[node] = padded(at(&loads.impulse[node]) - at(&reaction[node]) - inner - inertia);
        }
        b
    }

    /// Inverse diagonal blocks in the frames of the nodes; none for held ones.
    fn inverse_blocks(&self) -> Vec<[f64; 6]> {
        let mut inverse = vec![[0.0; 6]; self.turned.len()];
        for node in self.free() {
            let mut block = self.stiffness.diagonal(node).map(|x| self.scale * x);
            (0..3).for_each(|k| block[k] += self.context.body.masses[node] * (1.0 + self.drag));
            inverse[node] = invert_block(block);
        }
        inverse
    }

    fn precondition(&self, inverse: &[[f64; 6]], r: &[[f64; 4]], z: &mut [[f64; 4]]) {
        for (node, turned) in self.turned.iter().enumerate() {
            let local = padded(turned.transpose() * at(&r[node]));
            let mut out = [[0.0; 4]];
            times_blocks(&inverse[node..=node], &[local], &mut out);
            z[node] = padded(*turned * at(&out[0]));
        }
    }
}
