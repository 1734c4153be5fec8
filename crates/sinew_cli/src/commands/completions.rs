//! `sinew completions`: a script for the shell.

use crate::{
    cli::Cli,
    console::{self, Console},
};
use clap::{Args, CommandFactory};

/// Print completions for a shell: `source <(sinew completions bash)`
#[derive(Args)]
pub struct CompletionsArgs {
    /// Which shell
    shell: clap_complete::Shell,
}

pub fn run(args: &CompletionsArgs, _: &Console) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "sinew", &mut script);
    console::print(&script)
}
