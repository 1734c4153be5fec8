//! `sinew muscle list`: the muscles of a file.

use super::{describe, read_muscles};
use crate::console::Console;
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct MuscleListArgs {
    /// Muscle file, as written by `sinew muscle add`
    pub muscles: PathBuf,
}

pub fn run(args: &MuscleListArgs, console: &Console) -> anyhow::Result<()> {
    let set = read_muscles(&args.muscles)?;
    let muscles: Vec<Value> = (0..set.muscles.len()).map(|at| describe(&set, at)).collect();
    let control = |c: &sinew::flesh::muscle::Control| json!({"name": c.name, "follows": c.source.text(), "range": c.range});
    let report =
        json!({"controls": set.controls.iter().map(control).collect::<Vec<_>>(), "muscles": muscles});
    console.result(&report, || as_text(&report))
}

fn as_text(report: &Value) -> String {
    let mut text = String::new();
    let none = Vec::new();
    for muscle in report["muscles"].as_array().unwrap_or(&none) {
        let s = |key: &str| muscle[key].as_str().unwrap_or_default().to_owned();
        let samples: Vec<String> = muscle["samples"]
            .as_array()
            .unwrap_or(&none)
            .iter()
            .map(|at| format!("{:.3}", at.as_f64().unwrap_or(0.0)))
            .collect();
        let guide = muscle["guide"].as_str().map_or(String::new(), |guide| format!(" on {guide}"));
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {}{guide}, follows {}, samples at {}",
            s("name"),
            s("kind"),
            s("control"),
            samples.join(", ")
        );
    }
    if text.is_empty() { "no muscles\n".to_owned() } else { text }
}
