//! A row of the corpus: one file in one area, its measures and its limits.

use super::{
    draw::Sheet,
    lab::Usage,
    limits::{Bound, LIMITS},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Findings of a judge.
#[derive(Default)]
pub struct Verdict {
    pub measures: BTreeMap<String, f64>,
    /// In words: what failed, where, or what the measures cannot say.
    pub notes: Vec<String>,
    pub sheet: Sheet,
}

impl Verdict {
    /// Record a measure.
    pub fn set(&mut self, name: &str, value: f64) {
        self.measures.insert(name.to_owned(), value);
    }

    /// Record a measure; the larger one wins if there is one already.
    pub fn raise(&mut self, name: &str, value: f64) {
        let entry = self.measures.entry(name.to_owned()).or_insert(value);
        // NaN is the worst value.
        *entry = if value.is_nan() { value } else { entry.max(value) };
    }

    /// Record a note.
    pub fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// The product failed: the row fails, with the product's message.
    pub fn not_done(mut self, why: impl Into<String>) -> Self {
        self.set("done", 0.0);
        self.note(why);
        self
    }
}

/// A finished row.
pub struct Row {
    pub file: String,
    pub area: &'static str,
    pub measures: BTreeMap<String, f64>,
    pub notes: Vec<String>,
    pub pass: bool,
    pub used: Usage,
    /// Titles and PNG.
    pub sheet: Option<(Vec<String>, Vec<u8>)>,
}

impl Row {
    pub fn new(file: String, area: &'static str, verdict: Verdict, used: Usage) -> Self {
        let mut measures = verdict.measures;
        measures.entry("done".to_owned()).or_insert(1.0);
        let pass = broken(area, &measures).is_empty();
        Self { file, area, measures, notes: verdict.notes, pass, used, sheet: verdict.sheet.png() }
    }

    /// The violated limits, as text.
    pub fn broken(&self) -> Vec<String> {
        broken(self.area, &self.measures)
    }

    pub fn to_json(&self) -> Value {
        // JSON has no infinity; the largest number violates the same limits.
        let number = |x: f64| if x.is_finite() { json!(x) } else { json!(f64::MAX) };
        let measures: serde_json::Map<String, Value> =
            self.measures.iter().map(|(name, x)| (name.clone(), number(*x))).collect();
        let limits: serde_json::Map<String, Value> = limits(self.area)
            .filter(|(name, _)| self.measures.contains_key(*name))
            .map(|(name, bound)| (name.to_owned(), bound.to_json()))
            .collect();
        json!({
            "file": self.file, "area": self.area, "measures": measures, "limits": limits, "pass": self.pass,
            "seconds": self.used.seconds, "peak_mb": self.used.peak_mb, "warned": self.used.warned,
            "notes": self.notes, "warnings": self.used.warnings, "commands": self.used.commands,
        })
    }
}

fn limits(area: &str) -> impl Iterator<Item = (&'static str, Bound)> + '_ {
    let fits = move |of: &str| of == area || of == "*";
    LIMITS.iter().filter(move |limit| fits(limit.0)).map(|limit| (limit.1, limit.2))
}

fn broken(area: &str, measures: &BTreeMap<String, f64>) -> Vec<String> {
    limits(area)
        .filter_map(|(name, bound)| {
            let value = *measures.get(name)?;
            (!bound.holds(value)).then(|| format!("{name} {} ({bound})", short(value)))
        })
        .collect()
}

/// A number in a readable form.
pub fn short(x: f64) -> String {
    match x.abs() {
        _ if x == x.trunc() && x.abs() < 1e6 => format!("{x:.0}"),
        a if !(1e-3..1e6).contains(&a) => format!("{x:.1e}"),
        a if a < 1.0 => format!("{x:.3}"),
        a if a < 100.0 => format!("{x:.2}"),
        _ => format!("{x:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_passes_no_limit() {
        let mut verdict = Verdict::default();
        verdict.set("seconds_per_mb", f64::NAN);
        assert!(!Row::new("a".into(), "open", verdict, Usage::default()).pass);
    }

    #[test]
    fn a_row_in_which_nothing_was_done_fails() {
        let row = Row::new("a".into(), "open", Verdict::default().not_done("refused"), Usage::default());
        assert!(!row.pass);
        assert_eq!(row.to_json()["measures"]["done"], 0.0);
        assert_eq!(row.broken(), ["done 0 (≥ 1)"]);
    }
}
