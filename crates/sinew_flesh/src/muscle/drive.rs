//! Muscles over a clip: curves of control parameters, forces at each time.
//!
//! # Source
//! Capell (2004), §6.1: an animation is a curve `Θ(t)`; pose parameters come from the clip, the others from their own
//! curves or from interaction.

use super::{Belt, MuscleError, MuscleEvaluator, MuscleSet, parameters::bracket};
use crate::{FleshError, Lattice, StepInput};
use glam::DAffine3;
use sinew_geom::{Pose, Rig};

/// A value over time: linear between keys, constant beyond.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    keys: Vec<(f64, f64)>,
}

impl Curve {
    /// The same value at all times.
    pub fn constant(value: f64) -> Self {
        Self { keys: vec![(0.0, value)] }
    }

    /// Keys of seconds and values, in any order.
    ///
    /// # Errors
    /// No key, two at one time, or numbers that are not finite.
    pub fn new(mut keys: Vec<(f64, f64)>) -> Result<Self, MuscleError> {
        let wrong = |what: &str, value, expected| {
            Err(MuscleError::Parameter { muscle: "curve".into(), what: what.into(), value, expected })
        };
        if let Some((time, value)) = keys.iter().find(|(t, v)| !(t.is_finite() && v.is_finite())) {
            return wrong("a key", if time.is_finite() { *value } else { *time }, "it must be finite");
        }
        keys.sort_by(|a, b| a.0.total_cmp(&b.0));
        if let Some(pair) = keys.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return wrong("the time of two keys", pair[0].0, "there can be one key at a time");
        }
        if keys.is_empty() {
            return wrong("the number of keys", 0.0, "a curve needs one");
        }
        Ok(Self { keys })
    }

    /// Keys of seconds and values, by rising time.
    pub fn keys(&self) -> &[(f64, f64)] {
        &self.keys
    }

    /// Its value at a time.
    pub fn at(&self, secs: f64) -> f64 {
        bracket(&self.keys, secs).map_or(0.0, |(low, high, share)| {
            self.keys[low].1 + (self.keys[high].1 - self.keys[low].1) * share
        })
    }
}

/// Muscles, the curves that drive them, and belts.
#[derive(Debug, Clone)]
pub struct MuscleDrive {
    evaluator: MuscleEvaluator,
    curves: Vec<(String, Curve)>,
    belts: Vec<Belt>,
    theta: Vec<f64>,
}

impl MuscleDrive {
    /// # Errors
    /// Muscles that do not fit the lattice, or curves of controls that do not exist.
    pub fn new(
        set: &MuscleSet,
        lattice: &Lattice,
        curves: Vec<(String, Curve)>,
        belts: Vec<Belt>,
    ) -> Result<Self, FleshError> {
        curves.iter().try_for_each(|(name, _)| set.control(name).map(|_| ()))?;
        Ok(Self { evaluator: MuscleEvaluator::new(set, lattice)?, curves, belts, theta: Vec::new() })
    }

    /// Values of the control parameters when it was last applied.
    pub fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Whether all curves have the same value at the beginning and after `period` seconds.
    pub(crate) fn is_periodic(&self, period: f64) -> bool {
        self.curves.iter().all(|(_, curve)| (curve.at(0.0) - curve.at(period)).abs() < 1e-9)
    }

    /// Let one control parameter have a value from now on, whatever curve it had.
    ///
    /// # Errors
    /// A control that does not exist.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), MuscleError> {
        self.evaluator.set().control(name)?;
        self.curves.retain(|(other, _)| other != name);
        self.curves.push((name.to_owned(), Curve::constant(value)));
        Ok(())
    }

    /// Put the forces and pins of a time into an input whose nodes are turned already; `matrices` are those of the skin.
    ///
    /// # Errors
    /// Joints that do not exist.
    pub fn apply(
        &mut self,
        lattice: &Lattice,
        posed: Option<(&Rig, &Pose)>,
        matrices: &[DAffine3],
        secs: f64,
        input: &mut StepInput,
    ) -> Result<(), FleshError> {
        let curves = &self.curves;
        let free = |name: &str| curves.iter().find(|(of, _)| of == name).map(|(_, curve)| curve.at(secs));
        self.theta = self.evaluator.set().theta(posed, free)?;
        self.evaluator.forces(lattice, &self.theta, &input.node_rotations, &mut input.forces)?;
        input.pins.clear();
        self.belts.iter().for_each(|belt| belt.pin(matrices, &mut input.pins));
        Ok(())
    }

    /// Factor of the stiffness of every cell as it was last applied; `None` if no muscle changes it.
    pub fn stiffness(&self, lattice: &Lattice) -> Option<Vec<f64>> {
        self.evaluator.stiffness(lattice, &self.theta)
    }
}
