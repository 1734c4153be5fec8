//! `sinew rig list`: what rigs a file has.

use super::{describe, read_rigs};
use crate::{args::RigListArgs, console::Console};
use serde_json::{Value, json};
use std::fmt::Write;

pub fn run(args: &RigListArgs, console: &Console) -> anyhow::Result<()> {
    let set = read_rigs(&args.rigs)?;
    let rigs: Vec<Value> = (0..set.rigs.len()).map(|at| describe(&set, at)).collect();
    let control = |c: &sinew::flesh::rig::Control| json!({"name": c.name, "follows": c.source.text(), "range": c.range});
    let report = json!({"controls": set.controls.iter().map(control).collect::<Vec<_>>(), "rigs": rigs});
    console.result(&report, || as_text(&report))
}

fn as_text(report: &Value) -> String {
    let mut text = String::new();
    let none = Vec::new();
    for rig in report["rigs"].as_array().unwrap_or(&none) {
        let s = |key: &str| rig[key].as_str().unwrap_or_default().to_owned();
        let samples: Vec<String> = rig["samples"]
            .as_array()
            .unwrap_or(&none)
            .iter()
            .map(|at| format!("{:.3}", at.as_f64().unwrap_or(0.0)))
            .collect();
        let guide = rig["guide"].as_str().map_or(String::new(), |guide| format!(" on {guide}"));
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
    if text.is_empty() { "there are no rigs\n".to_owned() } else { text }
}
