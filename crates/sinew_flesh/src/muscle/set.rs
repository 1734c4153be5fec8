//! All muscles of a character, and the forces they exert at given values of the control parameters.
//!
//! # Source
//! Capell (2004), eqs. 6.2, 6.3 and 6.6; §7.3: a muscle may make flesh stiffer where it acts, as a muscle does. Forces are
//! those at rest, rotated by `R_F(α)`.
//! # Cost
//! A muscle is integrated again only when its control parameter changed.

use super::{Control, Guide, MuscleError, Samples, Template, integrate::Placed, parameters::bracket};
use crate::{FleshError, Lattice, LatticeSource};
use glam::{DQuat, DVec3};
use sinew_geom::{Pose, Rig, Transform, mesh::bounds};

/// What a muscle does.
#[derive(Debug, Clone, PartialEq)]
pub enum MuscleShape {
    /// A template; its parameters are followed by those of its guide.
    Template {
        /// The force field.
        template: Template,
        /// What it is placed by.
        guide: Guide,
        /// `τ`.
        samples: Samples,
    },
    /// Forces on the nodes of one lattice, in the frame of the rest pose (eq. 6.6).
    Surface {
        /// Side of a cell of that lattice, the smallest if there are several sizes.
        cell_size: f64,
        /// Doublings of each of the smallest cells, of an adapted muscle; empty if all are of one size.
        levels: Vec<u8>,
        /// Forces at values of the control parameter, by rising value.
        samples: Vec<(f64, Vec<DVec3>)>,
    },
}

/// A muscle: one control parameter in, a force field out.
#[derive(Debug, Clone, PartialEq)]
pub struct Muscle {
    /// Name, unique among the muscles of a character.
    pub name: String,
    /// The control parameter it follows.
    pub control: String,
    /// What it does.
    pub shape: MuscleShape,
    /// How many times as stiff flesh is where it acts fully. Default 1.
    pub stiffen: f64,
    /// The pose it was made in: joints with their local transforms. Empty at rest.
    pub pose: Vec<(String, Transform)>,
}

/// The control parameters and muscles of a character.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct MuscleSet {
    /// `Θ`.
    pub controls: Vec<Control>,
    /// The muscles, whose forces are summed.
    pub muscles: Vec<Muscle>,
}

impl Muscle {
    /// A template that acts fully at 1 and not at all at 0; `eta`: parameters of template and guide.
    pub fn template(name: &str, control: &str, template: Template, guide: Guide, eta: Vec<f64>) -> Self {
        let mut samples = Samples::default();
        let mut off = eta.clone();
        if let Some(amplitude) = off.first_mut() {
            *amplitude = 0.0;
        }
        samples.record(0.0, off);
        samples.record(1.0, eta);
        let shape = MuscleShape::Template { template, guide, samples };
        Self { name: name.to_owned(), control: control.to_owned(), shape, stiffen: 1.0, pose: Vec::new() }
    }

    /// Forces on the nodes of a lattice that act fully at `gamma` and not at all at 0 (eq. 6.6).
    pub fn surface(name: &str, control: &str, cell_size: f64, (gamma, forces): (f64, Vec<DVec3>)) -> Self {
        let mut samples = vec![(0.0, vec![DVec3::ZERO; forces.len()]), (gamma, forces)];
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shape = MuscleShape::Surface { cell_size, levels: Vec::new(), samples };
        let (name, control) = (name.to_owned(), control.to_owned());
        Self { name, control, shape, stiffen: 1.0, pose: Vec::new() }
    }

    /// The pose it was made in, for a skeleton; joints it does not name are at rest.
    pub fn pose_on(&self, rig: &Rig) -> Pose {
        let mut pose = rig.rest_pose();
        for (name, local) in &self.pose {
            if let Some(joint) = rig.find(name) {
                pose.locals[joint] = *local;
            }
        }
        pose
    }

    /// Remember the pose it was made in; joints at rest are left out.
    pub fn set_pose(&mut self, rig: &Rig, pose: &Pose) {
        let joints = rig.joints().iter().zip(&pose.locals).filter(|(joint, local)| joint.rest != **local);
        self.pose = joints.map(|(joint, local)| (joint.name.clone(), *local)).collect();
    }

    /// Names of its parameters `η`; none of a surface muscle, which has three per node.
    pub fn parameters(&self) -> Vec<&'static str> {
        match &self.shape {
            MuscleShape::Template { template, guide, .. } => {
                template.parameters().iter().chain(guide.parameters()).copied().collect()
            }
            MuscleShape::Surface { .. } => Vec::new(),
        }
    }

    /// Values of its control parameter at which something is recorded.
    pub fn sampled_at(&self) -> Vec<f64> {
        match &self.shape {
            MuscleShape::Template { samples, .. } => samples.list().iter().map(|(at, _)| *at).collect(),
            MuscleShape::Surface { samples, .. } => samples.iter().map(|(at, _)| *at).collect(),
        }
    }

    fn check(&self) -> Result<(), MuscleError> {
        let wrong = |what: &str, value, expected| {
            Err(MuscleError::Parameter { muscle: self.name.clone(), what: what.to_owned(), value, expected })
        };
        if !(self.stiffen > 0.0 && self.stiffen <= 1e4) {
            return wrong(
                "the factor of stiffness",
                self.stiffen,
                "it must lie above 0 and be at most 10000",
            );
        }
        if let Some(at) = self.sampled_at().into_iter().find(|at| !at.is_finite()) {
            return wrong("the place of a sample", at, "it must be finite");
        }
        if self.sampled_at().is_empty() {
            return Err(MuscleError::NoSamples { muscle: self.name.clone() });
        }
        let MuscleShape::Template { samples, .. } = &self.shape else { return Ok(()) };
        let names = self.parameters();
        for (_, eta) in samples.list() {
            if eta.len() != names.len() {
                let expected = "a template has another number of parameters";
                return wrong("the number of parameters", eta.len() as f64, expected);
            }
            for (name, value) in names.iter().zip(eta) {
                if !value.is_finite() {
                    return wrong(name, *value, "it must be finite");
                }
                if matches!(*name, "radius" | "ring") && *value <= 0.0 {
                    return wrong(name, *value, "it must be positive");
                }
            }
        }
        Ok(())
    }

    /// How strongly it acts at a value of its control, relative to the most it does, 0 to 1.
    fn activity(&self, gamma: f64) -> f64 {
        let share = |sizes: Vec<(f64, f64)>| {
            let most = sizes.iter().map(|(_, s)| *s).fold(0.0, f64::max);
            let Some((low, high, share)) = bracket(&sizes, gamma).filter(|_| most > 0.0) else { return 0.0 };
            (sizes[low].1 + (sizes[high].1 - sizes[low].1) * share) / most
        };
        match &self.shape {
            MuscleShape::Template { samples, .. } => {
                share(samples.list().iter().map(|(at, eta)| (*at, eta[0].abs())).collect())
            }
            MuscleShape::Surface { samples, .. } => {
                let size = |forces: &[DVec3]| forces.iter().map(|f| f.length_squared()).sum::<f64>().sqrt();
                share(samples.iter().map(|(at, forces)| (*at, size(forces))).collect())
            }
        }
    }
}

impl MuscleSet {
    /// Every name once, every control known, every number in range.
    ///
    /// # Errors
    /// The first thing that is not so.
    pub fn check(&self) -> Result<(), MuscleError> {
        for (at, control) in self.controls.iter().enumerate() {
            if self.controls[..at].iter().any(|other| other.name == control.name) {
                return Err(MuscleError::DuplicateControl { name: control.name.clone() });
            }
        }
        for (at, muscle) in self.muscles.iter().enumerate() {
            if self.muscles[..at].iter().any(|other| other.name == muscle.name) {
                return Err(MuscleError::DuplicateMuscle { name: muscle.name.clone() });
            }
            self.control(&muscle.control)?;
            muscle.check()?;
        }
        Ok(())
    }

    /// Place of a control parameter in `Θ`.
    ///
    /// # Errors
    /// A name none has.
    pub fn control(&self, name: &str) -> Result<usize, MuscleError> {
        let known = || self.controls.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown =
            || MuscleError::Unknown { what: "control parameter", name: name.to_owned(), known: known() };
        self.controls.iter().position(|control| control.name == name).ok_or_else(unknown)
    }

    /// The cells that surface muscles were made for: their side, and where they come from. `None` without surface muscles.
    pub fn lattice(&self) -> Option<(f64, LatticeSource)> {
        self.muscles.iter().find_map(|muscle| match &muscle.shape {
            MuscleShape::Surface { cell_size, levels, .. } => Some((*cell_size, source_of(levels))),
            MuscleShape::Template { .. } => None,
        })
    }

    /// Place of a muscle.
    ///
    /// # Errors
    /// A name none has.
    pub fn muscle(&self, name: &str) -> Result<usize, MuscleError> {
        let known = || self.muscles.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", ");
        let unknown = || MuscleError::Unknown { what: "muscle", name: name.to_owned(), known: known() };
        self.muscles.iter().position(|muscle| muscle.name == name).ok_or_else(unknown)
    }

    /// `Θ`: angles of the pose, and for the others what `free` says (0 if it says nothing).
    ///
    /// # Errors
    /// A joint that does not exist.
    pub fn theta(
        &self,
        posed: Option<(&Rig, &Pose)>,
        free: impl Fn(&str) -> Option<f64>,
    ) -> Result<Vec<f64>, MuscleError> {
        let one = |control: &Control| {
            let set = free(&control.name);
            Ok(set.or(control.in_pose(posed)?).unwrap_or(0.0))
        };
        self.controls.iter().map(one).collect()
    }
}

/// Cells of a character's muscles: of one size, or those of an adapted muscle.
fn source_of(levels: &[u8]) -> LatticeSource {
    if levels.is_empty() { LatticeSource::Cubes } else { LatticeSource::Levels(levels.to_vec()) }
}

/// What a muscle did last.
#[derive(Debug, Clone, Default)]
struct Last {
    gamma: Option<f64>,
    forces: Vec<DVec3>,
}

/// Muscles on one lattice, evaluated live: `Θ` in, forces on nodes out.
#[derive(Debug, Clone)]
pub struct MuscleEvaluator {
    set: MuscleSet,
    controls: Vec<usize>,
    last: Vec<Last>,
}

impl MuscleEvaluator {
    /// # Errors
    /// Muscles that are wrong in themselves, that miss the body, or that were made for another lattice.
    pub fn new(set: &MuscleSet, lattice: &Lattice) -> Result<Self, FleshError> {
        set.check()?;
        for muscle in &set.muscles {
            fits(muscle, lattice)?;
        }
        let controls =
            set.muscles.iter().map(|muscle| set.control(&muscle.control)).collect::<Result<_, _>>()?;
        Ok(Self { set: set.clone(), controls, last: vec![Last::default(); set.muscles.len()] })
    }

    /// The muscles it was made for.
    pub fn set(&self) -> &MuscleSet {
        &self.set
    }

    /// Sum of the forces of all muscles (eq. 6.3), turned with the nodes; `rotations` may be empty at rest.
    ///
    /// # Errors
    /// Another number of values or nodes.
    pub fn forces(
        &mut self,
        lattice: &Lattice,
        theta: &[f64],
        rotations: &[DQuat],
        out: &mut Vec<DVec3>,
    ) -> Result<(), FleshError> {
        let fits = |what, expected: usize, actual: usize| {
            if expected == actual { Ok(()) } else { Err(FleshError::Length { what, expected, actual }) }
        };
        fits("values of control parameters", self.set.controls.len(), theta.len())?;
        if !rotations.is_empty() {
            fits("rotations of nodes", lattice.n_nodes(), rotations.len())?;
        }
        out.clear();
        out.resize(lattice.n_nodes(), DVec3::ZERO);
        for ((muscle, &control), last) in self.set.muscles.iter().zip(&self.controls).zip(&mut self.last) {
            let gamma = theta[control];
            if last.gamma != Some(gamma) {
                last.gamma = Some(gamma);
                rest_forces(muscle, lattice, gamma, &mut last.forces);
            }
            out.iter_mut().zip(&last.forces).for_each(|(to, from)| *to += *from);
        }
        out.iter_mut().zip(rotations).for_each(|(force, turn)| *force = *turn * *force);
        Ok(())
    }

    /// Factor of the stiffness of every cell; `None` if no muscle changes it.
    pub fn stiffness(&self, lattice: &Lattice, theta: &[f64]) -> Option<Vec<f64>> {
        let mut factors: Option<Vec<f64>> = None;
        for (muscle, &control) in
            self.set.muscles.iter().zip(&self.controls).filter(|(muscle, _)| muscle.stiffen != 1.0)
        {
            let gamma = *theta.get(control)?;
            let activity = muscle.activity(gamma);
            let all = factors.get_or_insert_with(|| vec![1.0; lattice.n_cells()]);
            for (cell, strength) in strengths(muscle, lattice, gamma) {
                all[cell as usize] *= muscle.stiffen.powf(activity * strength);
            }
        }
        factors
    }
}

/// Forces of a muscle at rest.
pub(crate) fn rest_forces(muscle: &Muscle, lattice: &Lattice, gamma: f64, out: &mut Vec<DVec3>) {
    out.clear();
    out.resize(lattice.n_nodes(), DVec3::ZERO);
    match &muscle.shape {
        MuscleShape::Template { template, guide, samples } => {
            let eta = samples.at(gamma);
            if eta.first().is_some_and(|amplitude| *amplitude != 0.0) {
                placed(*template, guide, &eta).add_forces(lattice, out);
            }
        }
        MuscleShape::Surface { samples, .. } => {
            let Some((low, high, share)) = bracket(samples, gamma) else { return };
            let (low, high) = (&samples[low].1, &samples[high].1);
            out.iter_mut().zip(low.iter().zip(high)).for_each(|(out, (a, b))| *out = a.lerp(*b, share));
        }
    }
}

fn placed<'a>(template: Template, guide: &Guide, eta: &'a [f64]) -> Placed<'a> {
    let (params, rest) = eta.split_at(template.parameters().len());
    Placed { template, params, frame: guide.frame(rest) }
}

/// Cells in which a muscle acts, and how strongly, 0 to 1.
fn strengths(muscle: &Muscle, lattice: &Lattice, gamma: f64) -> Vec<(u32, f64)> {
    match &muscle.shape {
        MuscleShape::Template { template, guide, samples } => {
            placed(*template, guide, &samples.at(gamma)).strengths(lattice)
        }
        MuscleShape::Surface { samples, .. } => {
            let size = |node: usize| samples.iter().map(|(_, f)| f[node].length()).fold(0.0, f64::max);
            let sizes: Vec<f64> = (0..lattice.n_nodes()).map(size).collect();
            let most = sizes.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
            let mean = |cell: &[u32; 8]| cell.iter().map(|&n| sizes[n as usize]).sum::<f64>() / (8.0 * most);
            lattice.cells().iter().enumerate().map(|(cell, nodes)| (cell as u32, mean(nodes))).collect()
        }
    }
}

/// Whether a muscle has to do with a lattice.
fn fits(muscle: &Muscle, lattice: &Lattice) -> Result<(), MuscleError> {
    match &muscle.shape {
        MuscleShape::Template { template, guide, samples } => {
            for (_, eta) in samples.list().iter().filter(|(_, eta)| eta[0] != 0.0) {
                let placed = placed(*template, guide, eta);
                let mut scratch = vec![DVec3::ZERO; lattice.n_nodes()];
                if !placed.add_forces(lattice, &mut scratch) {
                    let [low, high] = bounds(lattice.nodes());
                    return Err(MuscleError::TemplateOutside {
                        muscle: muscle.name.clone(),
                        reach: template.reach(placed.params),
                        center: format!("{:.3}", placed.frame.center),
                        body: format!("{low:.3} to {high:.3}"),
                    });
                }
            }
            Ok(())
        }
        MuscleShape::Surface { cell_size, samples, .. } => {
            let actual = lattice.n_nodes();
            match samples.iter().find(|(_, forces)| forces.len() != actual) {
                None => Ok(()),
                Some((_, forces)) => Err(MuscleError::OtherLattice {
                    muscle: muscle.name.clone(),
                    expected: forces.len(),
                    size: *cell_size,
                    actual,
                }),
            }
        }
    }
}
