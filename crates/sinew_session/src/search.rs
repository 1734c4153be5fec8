//! How the pose space of a document's examples is searched: chosen by the user, kept with the document.

use crate::SessionError;
use serde::{Deserialize, Serialize};
use sinew_deform::examples::{Objective, Optimiser, Reorder, SearchParams};

/// Choices of the search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// What makes a pose good; if none, what suits single poses or motions.
    pub objective: Option<Objective>,
    /// How weights are searched for.
    pub optimiser: Optimiser,
    /// In which order examples are tried.
    pub reorder: Reorder,
    /// Whether examples are loaded one after the other, as in Hansen (2006).
    pub in_order: bool,
    /// Least and greatest weight.
    pub limits: [f64; 2],
    /// How far a weight may move from frame to frame, if that is limited.
    pub local: Option<f64>,
    /// Whether handles may move a little beyond the examples.
    pub residual: bool,
}

impl Default for SearchSettings {
    fn default() -> Self {
        let params = SearchParams::default();
        Self {
            objective: None,
            optimiser: params.optimiser,
            reorder: params.reorder,
            in_order: params.sequential,
            limits: params.limits,
            local: None,
            residual: true,
        }
    }
}

impl SearchSettings {
    /// As the search takes them; `objective` if the user chose none.
    pub fn params(&self, objective: Objective) -> SearchParams {
        SearchParams {
            objective: self.objective.clone().unwrap_or(objective),
            optimiser: self.optimiser,
            reorder: self.reorder,
            sequential: self.in_order,
            limits: self.limits,
            local: self.local,
            residual: self.residual,
            ..SearchParams::default()
        }
    }
}

/// Choices to change; what is absent stays.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, deny_unknown_fields)]
pub struct SearchChange {
    /// As text; empty for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<String>,
    /// By name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub optimiser: Option<String>,
    /// By name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reorder: Option<String>,
    /// The order of Hansen (2006).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_order: Option<bool>,
    /// Least and greatest weight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<[f64; 2]>,
    /// Local limit; 0 for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub local: Option<f64>,
    /// Residual motion.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual: Option<bool>,
}

impl SearchChange {
    /// All choices, for showing and saving.
    pub fn of_all(settings: &SearchSettings) -> Self {
        Self {
            objective: Some(settings.objective.as_ref().map(ToString::to_string).unwrap_or_default()),
            optimiser: Some(settings.optimiser.name().into()),
            reorder: Some(settings.reorder.name().into()),
            in_order: Some(settings.in_order),
            limits: Some(settings.limits),
            local: Some(settings.local.unwrap_or(0.0)),
            residual: Some(settings.residual),
        }
    }

    /// Change what is given.
    ///
    /// # Errors
    /// If a name is unknown, the objective is not understood or a number is invalid.
    pub fn apply(&self, settings: &mut SearchSettings) -> Result<(), SessionError> {
        if let Some(text) = &self.objective {
            settings.objective = if text.trim().is_empty() { None } else { Some(text.parse::<Objective>()?) };
        }
        if let Some(name) = &self.optimiser {
            let names = Optimiser::ALL.map(Optimiser::name).into_iter();
            settings.optimiser =
                Optimiser::from_name(name).ok_or_else(|| SessionError::absent("optimiser", name, names))?;
        }
        if let Some(name) = &self.reorder {
            let names = Reorder::ALL.map(Reorder::name).into_iter();
            settings.reorder =
                Reorder::from_name(name).ok_or_else(|| SessionError::absent("order", name, names))?;
        }
        if let Some([low, high]) = self.limits {
            if !(low.is_finite() && high.is_finite() && low < high) {
                let cause = format!("{low} to {high} is not a range; the first must be below the second");
                return Err(SessionError::Value { what: "limits of weights", cause });
            }
            settings.limits = [low, high];
        }
        if let Some(local) = self.local {
            if !(0.0..=1e6).contains(&local) {
                let cause = format!("{local} is not above 0; give 0 for none");
                return Err(SessionError::Value { what: "local limit of weights", cause });
            }
            settings.local = (local > 0.0).then_some(local);
        }
        settings.in_order = self.in_order.unwrap_or(settings.in_order);
        settings.residual = self.residual.unwrap_or(settings.residual);
        Ok(())
    }
}
