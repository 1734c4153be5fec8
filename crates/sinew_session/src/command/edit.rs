//! Settings of how the soft surface follows the handles.

use super::within;
use crate::SessionError;
use serde::{Deserialize, Serialize};
use sinew_deform::{EditParams, Frames, Method};
use sinew_geom::operators::LaplacianKind;

/// Settings to change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, deny_unknown_fields)]
#[allow(missing_docs)]
pub struct EditChange {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub laplacian: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub band: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frames: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arap_iterations: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fine_iterations: Option<usize>,
    /// Older projects have it; it has no effect any more.
    #[serde(skip_serializing)]
    #[cfg_attr(feature = "ts", ts(skip))]
    pub smoothness: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inside: Option<f64>,
}

impl EditChange {
    /// All settings, for showing and saving.
    pub fn of_all(params: &EditParams) -> Self {
        Self {
            method: Some(params.method.name().into()),
            laplacian: Some(params.lipman.laplacian.name().into()),
            band: Some(params.lipman.band),
            frames: Some(params.lipman.frames.name().into()),
            n_nodes: Some(params.guided.n_nodes),
            iterations: Some(params.guided.iterations),
            arap_iterations: Some(params.arap.iterations),
            fine_iterations: Some(params.guided.fine_iterations),
            smoothness: None,
            inside: Some(params.guided.stiffness_inside),
        }
    }

    /// Change what is given.
    ///
    /// # Errors
    /// If a name is unknown or a number out of range.
    pub fn apply(&self, params: &mut EditParams) -> Result<(), SessionError> {
        if let Some(name) = &self.method {
            let names = Method::ALL.map(Method::name).into_iter();
            params.method =
                Method::from_name(name).ok_or_else(|| SessionError::absent("method", name, names))?;
        }
        if let Some(name) = &self.laplacian {
            let names = LaplacianKind::ALL.map(LaplacianKind::name).into_iter();
            params.lipman.laplacian = LaplacianKind::from_name(name)
                .ok_or_else(|| SessionError::absent("Laplacian", name, names))?;
        }
        if let Some(name) = &self.frames {
            let names = Frames::ALL.map(Frames::name).into_iter();
            params.lipman.frames =
                Frames::from_name(name).ok_or_else(|| SessionError::absent("frames", name, names))?;
        }
        if let Some(band) = self.band {
            params.lipman.band = within("band", band as f64, [1.0, 100.0])? as usize;
        }
        if let Some(n) = self.n_nodes {
            params.guided.n_nodes = within("nodes", n as f64, [100.0, 20_000.0])? as usize;
        }
        if let Some(n) = self.iterations {
            params.guided.iterations = within("iterations", n as f64, [1.0, 200.0])? as usize;
        }
        if let Some(n) = self.arap_iterations {
            params.arap.iterations = within("iterations", n as f64, [1.0, 1000.0])? as usize;
        }
        if let Some(n) = self.fine_iterations {
            params.guided.fine_iterations = within("fine iterations", n as f64, [0.0, 100.0])? as usize;
        }
        if let Some(x) = self.inside {
            params.guided.stiffness_inside = within("inside", x, [0.0, 1000.0])?;
        }
        Ok(())
    }
}
