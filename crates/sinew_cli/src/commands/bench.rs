//! `sinew bench`: hands over to `sinew_bench`, a separate program, so that its dependencies are not part of the product.

use crate::console::Console;
use anyhow::{Context, ensure};
use clap::Args;
use serde_json::json;
use std::{
    path::PathBuf,
    process::{Command, Stdio},
};

/// Run benchmarks: `sinew bench` lists them, `sinew bench fit --peers` compares one with its peers
#[derive(Args)]
pub struct BenchArgs {
    /// Benchmarks, each followed by its options [default: list them]
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "AREA")]
    pub words: Vec<String>,
}

pub fn run(args: &BenchArgs, console: &Console) -> anyhow::Result<()> {
    // Everything behind the area reaches the bench, also what every command understands.
    let (own, words): (Vec<&String>, Vec<&String>) = args.words.iter().partition(|word| *word == "--json");
    let program = find()?;
    let mut command = Command::new(&program);
    command.args(&words).stdin(Stdio::null());
    let shown = program.display();
    if !console.wants_json() && own.is_empty() {
        let status = command.status().with_context(|| format!("{shown} cannot be started"))?;
        ensure!(status.success(), "the bench failed ({status})");
        return Ok(());
    }
    let output =
        command.stderr(Stdio::inherit()).output().with_context(|| format!("{shown} cannot be started"))?;
    ensure!(output.status.success(), "the bench failed ({})", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().collect();
    crate::console::print(format!("{}\n", json!({ "arguments": words, "output": lines })).as_bytes())
}

/// Beside this program, as cargo builds it, else wherever the system finds it.
fn find() -> anyhow::Result<PathBuf> {
    let name = format!("sinew_bench{}", std::env::consts::EXE_SUFFIX);
    let own = std::env::current_exe().context("the path of this program is unknown")?;
    let beside = own.parent().map(|folder| folder.join(&name));
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let elsewhere = std::env::split_paths(&paths).map(|folder| folder.join(&name));
    beside.into_iter().chain(elsewhere).find(|path| path.is_file()).with_context(|| {
        format!(
            "{name} is neither beside {} nor on the PATH; build it in Sinew's sources: `cargo build --release -p sinew_bench`",
            own.display()
        )
    })
}
