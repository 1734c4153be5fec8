//! `sinew licenses`: what the program is made of, and under which licences.

use crate::{
    console::Console,
    licenses::{Package, as_json, packages},
};
use anyhow::ensure;
use clap::Args;

/// Print the third-party parts of this program and their licences
#[derive(Args)]
pub struct LicensesArgs {
    /// One part only, such as serde [default: all]
    pub name: Option<String>,
}

pub fn run(args: &LicensesArgs, console: &Console) -> anyhow::Result<()> {
    let mut list = packages()?;
    if let Some(name) = &args.name {
        list.retain(|package| package.name == *name);
        ensure!(!list.is_empty(), "no part of this program is called {name:?}; `sinew licenses` lists all");
    }
    console.result(&as_json(&list), || as_text(&list))
}

/// The list, then every text once with the names it is for.
fn as_text(list: &[Package]) -> String {
    let mut lines = vec![format!(
        "Sinew {} is licensed {}. It is made of:\n",
        env!("CARGO_PKG_VERSION"),
        env!("CARGO_PKG_LICENSE")
    )];
    for package in list {
        let Package { kind, name, version, license, .. } = package;
        lines.push(format!("{kind:<9}  {:<40}  {license}", format!("{name} {version}")));
        lines.extend(package.note.iter().map(|note| format!("{:11}{note}", "")));
    }
    for (text, names) in by_text(list) {
        lines.push(format!("\n{}\n{}\n{}\n\n{text}", "=".repeat(80), names.join(", "), "=".repeat(80)));
    }
    lines.join("\n")
}

fn by_text(list: &[Package]) -> Vec<(String, Vec<&str>)> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    for package in list {
        let text = package.text();
        match found.iter_mut().find(|(known, _)| *known == text) {
            Some((_, names)) => names.push(&package.name),
            None => found.push((text, vec![&package.name])),
        }
    }
    found
}
