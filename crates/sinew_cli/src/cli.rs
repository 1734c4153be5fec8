//! The command line: global options, and one of the commands.

use crate::{commands::Command, console::Common};
use clap::Parser;

/// Turn any mesh into a moving character.
#[derive(Parser)]
#[command(name = "sinew", version, about = "Turn any mesh into a moving character", max_term_width = 100)]
#[command(after_help = "Without a command, the studio opens. Try also:  sinew sample biped -o biped.glb")]
pub struct Cli {
    #[command(flatten)]
    pub common: Common,
    #[command(subcommand)]
    pub command: Option<Command>,
}
