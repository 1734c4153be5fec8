//! What can be chosen about a simulation.

use crate::{FleshError, element::ElementKind};
use glam::DVec3;

/// How strain is measured when a body bends far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// Linear strain: swells when it turns. For comparison.
    Linear,
    /// Linear strain in one frame that turns with the whole body (Capell (2004), §4.3).
    Quasi,
    /// Linear strain in the frame of each bone's region, solutions blended (Capell (2004), §5.2.1): narrows at joints.
    Blended,
    /// Linear strain in a frame per node, rotated as its bones prescribe (Capell (2004), §5.2.2): the system is not
    /// symmetric.
    Warped,
    /// Linear strain in a frame for each cell, predicted from its bones and polished by polar steps.
    #[default]
    Predicted,
    /// Green's strain: the full nonlinear material of Capell (2004), §3.3. Turns inside out when pressed hard.
    Stvk,
    /// Stable neo-Hookean: nonlinear, and safe from being pressed flat.
    NeoHookean,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 7] = [
        Self::Linear,
        Self::Quasi,
        Self::Blended,
        Self::Warped,
        Self::Predicted,
        Self::Stvk,
        Self::NeoHookean,
    ];

    /// Name in commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Quasi => "quasi",
            Self::Blended => "blended",
            Self::Warped => "warped",
            Self::Predicted => "predicted",
            Self::Stvk => "stvk",
            Self::NeoHookean => "neohookean",
        }
    }

    /// Mode of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// How points are held exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PinMethod {
    /// What would move them is projected out within conjugate gradients (Capell (2004), §4.8). The faster one.
    #[default]
    Projection,
    /// Lagrange multipliers, solved by minimal residuals (Capell (2004), §3.5 and §4.5); reports the forces that hold
    /// the points.
    Multipliers,
}

/// How a body is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshParams {
    /// How strain is measured.
    pub mode: Mode,
    /// Functions of a cell.
    pub element: ElementKind,
    /// Of `stvk` with trilinear cubes: energies and forces by the precomputed integrals of Capell (2004), appendix A,
    /// instead of sums over points. Exact, but slower. Default false.
    pub integrals: bool,
    /// Metres per second squared. Default 9.81 down.
    pub gravity: DVec3,
    /// Damping of all motion, per second. Default 0.
    pub mass_damping: f64,
    /// Damping of changes of shape, in seconds: a stress `β` times as large as the elastic one for a strain per second.
    /// Default 0.01.
    pub stiffness_damping: f64,
    /// Of the linear system, relative. Default 1e-3.
    pub tolerance: f64,
    /// Iterations after which a step is solved directly instead. Default: as many as cost about as much.
    pub switch_after: Option<usize>,
    /// Of `predicted`: steps of polar decomposition. Default 1.
    pub polar_steps: usize,
    /// Of nonlinear modes: Newton steps at most. Default 4.
    pub newton_rounds: usize,
    /// How pins are held.
    pub pins: PinMethod,
    /// Of `quasi` and `predicted`: rounds of turning cells and solving. One leaves the frames where the step began; more
    /// let them follow within the step, so that turning bodies keep their angular momentum. Default 1.
    pub frame_rounds: usize,
    /// Stiffness of contact, in units of the flesh's own. Default 10.
    pub contact_stiffness: f64,
}

impl Default for FleshParams {
    fn default() -> Self {
        Self {
            mode: Mode::default(),
            element: ElementKind::default(),
            integrals: false,
            gravity: DVec3::new(0.0, -9.81, 0.0),
            mass_damping: 0.0,
            stiffness_damping: 0.01,
            tolerance: 1e-3,
            switch_after: None,
            polar_steps: 1,
            newton_rounds: 4,
            pins: PinMethod::default(),
            frame_rounds: 1,
            contact_stiffness: 10.0,
        }
    }
}

impl FleshParams {
    /// # Errors
    /// The number out of range, with the range.
    pub fn check(&self) -> Result<(), FleshError> {
        let not_negative = |name, value: f64| {
            let fits = value >= 0.0 && value.is_finite();
            let expected = "it must be 0 or more";
            if fits { Ok(()) } else { Err(FleshError::Parameter { name, value, expected }) }
        };
        not_negative("damping of motion", self.mass_damping)?;
        not_negative("damping of shape", self.stiffness_damping)?;
        not_negative("stiffness of contact", self.contact_stiffness)?;
        if !self.gravity.is_finite() {
            let expected = "it must be finite";
            return Err(FleshError::Parameter { name: "gravity", value: f64::NAN, expected });
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1.0) {
            let expected = "it must lie between 0 and 1";
            return Err(FleshError::Parameter { name: "tolerance", value: self.tolerance, expected });
        }
        Ok(())
    }
}

/// A step must be longer than nothing.
///
/// # Errors
/// The length given, if it is not.
pub(crate) fn check_step(secs: f64) -> Result<(), FleshError> {
    let fits = secs > 0.0 && secs.is_finite();
    let expected = "it must be positive";
    if fits { Ok(()) } else { Err(FleshError::Parameter { name: "time step", value: secs, expected }) }
}
