//! One module per command: a struct of arguments, whose doc comment is the help, and a function `run`. The list at the end is
//! the order in which help shows them.

pub mod animate;
pub mod bench;
mod body;
pub mod completions;
pub mod convert;
mod examples;
pub mod fit;
pub mod flesh;
pub mod handles;
pub mod info;
mod input;
pub mod licenses;
pub mod muscle;
mod names;
mod output;
pub mod pose;
pub mod puppet;
pub mod reach;
pub mod refit;
pub mod rig;
pub mod sample;
mod scene;
pub mod solve;
#[cfg(feature = "studio")]
pub mod studio;
pub mod turntable;
pub mod walk;

use crate::console::Console;
use clap::Subcommand;

macro_rules! commands {
    ($($(#[$attribute:meta])* $variant:ident: $module:ident::$args:ident,)+) => {
        #[derive(Subcommand)]
        pub enum Command {
            $($(#[$attribute])* $variant(Box<$module::$args>),)+
        }

        impl Command {
            /// Run the command.
            pub fn run(&self, console: &Console) -> anyhow::Result<()> {
                match self {
                    $($(#[$attribute])* Self::$variant(args) => $module::run(args, console),)+
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
