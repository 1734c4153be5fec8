//! Drag the skin, and the parameters of a template follow.
//!
//! # Source
//! Capell (2004), §6.4.3: `C(η) = Σ |p_j − p̄_j|² + Σ ξ_j (η_j − η₀_j)²` under eq. 6.5, by L-BFGS-B with the adjoint
//! gradient `∂C/∂η + (∂C/∂q A⁻¹) R dQ/dη`. Differs: `A⁻¹` is applied to the dragged points once, before the first
//! evaluation; after that positions are products, and no evaluation solves a system. `dQ/dη` is exact instead of by
//! finite differences.
//! # Symbols
//! `g` compliance of a dragged point: how forces on nodes at rest move it
//! # Cost
//! new: one back-substitution per point. Each evaluation: the template integrated twice over the cells it reaches.

use super::{Bounds, MinimiseParams, MinimiseReport, minimise};
use crate::{
    BodyPoint, FleshError, Lattice, StaticSolver,
    muscle::{Guide, MuscleError, Placed, Template},
};
use glam::{DQuat, DVec3};

/// Squared distances, relative to that of the drag, that are invisible to the user.
const INVISIBLE_SHARE: f64 = 1e-5;

/// How freely a template is fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateFitParams {
    /// Weights `ξ` that keep parameters where they are, one per parameter, relative to the way dragged and to what a
    /// parameter can change at all; infinite ones do not change. Default 0 for the amplitude, 0.05 for the others.
    pub keep: Option<Vec<f64>>,
    /// Rounds at most. Default 20.
    pub rounds: usize,
}

impl Default for TemplateFitParams {
    fn default() -> Self {
        Self { keep: None, rounds: 20 }
    }
}

/// A template, fitted.
#[derive(Debug, Clone, PartialEq)]
pub struct TemplateFit {
    /// Its parameters, then those of its guide.
    pub eta: Vec<f64>,
    /// Where the linear body has the dragged points.
    pub reached: Vec<DVec3>,
    /// Root of the mean square distance to the targets, in metres.
    pub distance: f64,
    /// How the search went.
    pub report: MinimiseReport,
}

/// A template on a body in one pose, and the points it is dragged by.
#[derive(Debug)]
pub struct TemplateFitter<'a> {
    lattice: &'a Lattice,
    template: Template,
    guide: &'a Guide,
    /// For each point and axis, how forces at rest on nodes move it.
    compliance: Vec<[Vec<DVec3>; 3]>,
}

impl<'a> TemplateFitter<'a> {
    /// Solve for the points that are dragged; `rotations` turn rest forces into the pose, empty at rest.
    ///
    /// # Errors
    /// Points outside the lattice.
    pub fn new(
        statics: &StaticSolver,
        lattice: &'a Lattice,
        (template, guide): (Template, &'a Guide),
        points: &[BodyPoint],
        rotations: &[DQuat],
    ) -> Result<Self, FleshError> {
        let mut compliance = Vec::new();
        for point in points {
            point.check(lattice, "cell of a dragged point")?;
            let mut columns = statics.compliance(&lattice.cells()[point.cell as usize], &point.weights)?;
            for column in &mut columns {
                column.iter_mut().zip(rotations).for_each(|(g, turn)| *g = turn.inverse() * *g);
            }
            compliance.push(columns);
        }
        Ok(Self { lattice, template, guide, compliance })
    }

    fn placed<'e>(&self, eta: &'e [f64]) -> Placed<'e> {
        let (params, rest) = eta.split_at(self.template.parameters().len());
        Placed { template: self.template, params, frame: self.guide.frame(rest) }
    }

    /// How far the template moves the points.
    pub fn moved(&self, eta: &[f64]) -> Vec<DVec3> {
        let mut forces = vec![DVec3::ZERO; self.lattice.n_nodes()];
        self.placed(eta).add_forces(self.lattice, &mut forces);
        let along = |column: &[DVec3]| column.iter().zip(&forces).map(|(g, f)| g.dot(*f)).sum::<f64>();
        self.compliance.iter().map(|[x, y, z]| DVec3::new(along(x), along(y), along(z))).collect()
    }

    /// `C_points` and its gradient by `η`; `wanted` is how far each point has to move.
    pub fn cost(&self, eta: &[f64], wanted: &[DVec3], gradient: &mut [f64]) -> f64 {
        let missed: Vec<DVec3> = self.moved(eta).iter().zip(wanted).map(|(a, b)| *a - *b).collect();
        let mut adjoint = vec![DVec3::ZERO; self.lattice.n_nodes()];
        for (columns, missed) in self.compliance.iter().zip(&missed) {
            for (k, column) in columns.iter().enumerate() {
                adjoint.iter_mut().zip(column).for_each(|(to, g)| *to += *g * (2.0 * missed[k]));
            }
        }
        gradient.copy_from_slice(&self.placed(eta).slopes(self.lattice, &adjoint));
        missed.iter().map(|m| m.length_squared()).sum()
    }

    /// Find parameters that bring points from where they are without the template (`base`) to targets.
    ///
    /// # Errors
    /// Lists that do not fit; a template that does not reach the body.
    pub fn fit(
        &self,
        eta: &[f64],
        base: &[DVec3],
        targets: &[DVec3],
        params: &TemplateFitParams,
    ) -> Result<TemplateFit, FleshError> {
        let n = self.compliance.len();
        for (what, actual) in [("places of dragged points", base.len()), ("targets", targets.len())] {
            if actual != n || n == 0 {
                return Err(FleshError::Length { what, expected: n.max(1), actual });
            }
        }
        let wanted: Vec<DVec3> = targets.iter().zip(base).map(|(t, b)| *t - *b).collect();
        let way = wanted.iter().map(|w| w.length_squared()).sum::<f64>();
        let (scales, bounds) = self.scales(eta, &wanted)?;
        let keep = self.keep(params);
        // In units of what each parameter can change; the cost in units of the way dragged.
        let unit = way.max(1e-12 * self.lattice.size().powi(2));
        let start: Vec<f64> = eta.iter().zip(&scales).map(|(e, s)| e / s).collect();
        let mut z = start.clone();
        let mut bounds = bounds;
        for i in (0..z.len()).filter(|&i| keep[i].is_infinite()) {
            (bounds.low[i], bounds.high[i]) = (start[i], start[i]);
        }
        let search = MinimiseParams {
            rounds: params.rounds,
            gain: 1e-3,
            enough: INVISIBLE_SHARE,
            ..MinimiseParams::default()
        };
        let mut report = minimise(&mut z, &bounds, &search, |z, slope| {
            let eta: Vec<f64> = z.iter().zip(&scales).map(|(z, s)| z * s).collect();
            let mut value = self.cost(&eta, &wanted, slope) / unit;
            for i in 0..z.len() {
                slope[i] *= scales[i] / unit;
                if keep[i].is_finite() {
                    let off = z[i] - start[i];
                    value += keep[i] * off * off;
                    slope[i] += 2.0 * keep[i] * off;
                }
            }
            value
        });
        let eta: Vec<f64> = z.iter().zip(&scales).map(|(z, s)| z * s).collect();
        let moved = self.moved(&eta);
        let reached: Vec<DVec3> = base.iter().zip(&moved).map(|(b, m)| *b + *m).collect();
        let missed = reached.iter().zip(targets).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
        report.value *= unit;
        Ok(TemplateFit { eta, reached, distance: (missed / n as f64).sqrt(), report })
    }

    fn keep(&self, params: &TemplateFitParams) -> Vec<f64> {
        let n = self.template.parameters().len() + self.guide.parameters().len();
        let usual = || (0..n).map(|i| if i == 0 { 0.0 } else { 0.05 }).collect();
        params.keep.clone().filter(|keep| keep.len() == n).unwrap_or_else(usual)
    }

    /// Natural units of the parameters, and bounds in them.
    fn scales(&self, eta: &[f64], wanted: &[DVec3]) -> Result<(Vec<f64>, Bounds), FleshError> {
        let names = self.template.parameters().iter().chain(self.guide.parameters());
        let mut unit = eta.to_vec();
        unit[0] = 1.0;
        let moved = self.moved(&unit).iter().map(|m| m.length_squared()).sum::<f64>().sqrt();
        if moved == 0.0 {
            let placed = self.placed(&unit);
            let [low, high] = sinew_geom::mesh::bounds(self.lattice.nodes());
            let outside = MuscleError::TemplateOutside {
                muscle: self.template.name().to_owned(),
                reach: self.template.reach(placed.params),
                center: format!("{:.3}", placed.frame.center),
                body: format!("{low:.3} to {high:.3}"),
            };
            return Err(outside.into());
        }
        let way = wanted.iter().map(|w| w.length_squared()).sum::<f64>().sqrt();
        let radius = eta[1];
        let mut bounds = Bounds::default();
        let mut scales = Vec::new();
        for (name, value) in names.zip(eta) {
            let (scale, low, high) = match *name {
                "amplitude" => {
                    let scale = (way / moved).max(value.abs()).max(f64::MIN_POSITIVE);
                    (scale, -1e4, 1e4)
                }
                // Fields much smaller than a cell slip through the places they are integrated at.
                "radius" => (radius, (self.lattice.size() / radius).clamp(0.5, 1.0), 2.0),
                "ring" => (*value, 0.5, 2.0),
                "slide" => (1.0, 0.0, 1.0),
                "orbit" | "depth" | "x" | "y" | "z" => (radius, value / radius - 1.0, value / radius + 1.0),
                _ => (1.0, value - std::f64::consts::PI, value + std::f64::consts::PI),
            };
            scales.push(scale);
            bounds.low.push(low);
            bounds.high.push(high);
        }
        Ok((scales, bounds))
    }
}
