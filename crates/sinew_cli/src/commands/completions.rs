//! `sinew completions`: a script for the shell.

use crate::console::{self, Console};
use clap::Args;

/// Print completions for a shell: `source <(sinew completions bash)`
#[derive(Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: clap_complete::Shell,
}

pub fn run(args: &CompletionsArgs, console: &Console) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut (console.program)(), "sinew", &mut script);
    console::print(&script)
}
