//! The command line: global options, and the list of commands. Each command is a module of `commands` with a struct of
//! arguments, whose doc comment is its help, and a function `run`.

use crate::{
    commands,
    console::{Common, Console},
};
use clap::{Parser, Subcommand};

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

macro_rules! commands {
    ($($(#[$attribute:meta])* $variant:ident: $module:ident::$args:ident,)+) => {
        #[derive(Subcommand)]
        pub enum Command {
            $($(#[$attribute])* $variant(Box<commands::$module::$args>),)+
        }

        impl Command {
            /// Run the command.
            pub fn run(&self, console: &Console) -> anyhow::Result<()> {
                match self {
                    $($(#[$attribute])* Self::$variant(args) => commands::$module::run(args, console),)+
                }
            }
        }
    };
}

commands! {
    Info: info::InfoArgs,
    Convert: convert::ConvertArgs,
    Sample: sample::SampleArgs,
    Rig: rig::RigArgs,
    Pose: pose::PoseArgs,
    Fit: fit::FitArgs,
    Handles: handles::HandlesArgs,
    Reach: reach::ReachArgs,
    Animate: animate::AnimateArgs,
    Walk: walk::WalkArgs,
    Refit: refit::RefitArgs,
    Solve: solve::SolveArgs,
    Flesh: flesh::FleshArgs,
    Muscle: muscle::MuscleArgs,
    Puppet: puppet::PuppetArgs,
    Turntable: turntable::TurntableArgs,
    #[cfg(feature = "studio")]
    Studio: studio::StudioArgs,
    Bench: bench::BenchArgs,
    Licenses: licenses::LicensesArgs,
    Completions: completions::CompletionsArgs,
}
