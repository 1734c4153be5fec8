//! The `sinew` command.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 failed with a
//! message, 2 wrong usage.

mod args;
mod commands;
mod console;
mod interrupt;
mod licenses;
mod standard;

use args::{Cli, Command, HandlesCommand, PuppetCommand};
use clap::{CommandFactory, Parser};
use console::Console;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = commands::muscle::renamed_from_rig(&words) {
        Cli::command().error(clap::error::ErrorKind::InvalidSubcommand, message).exit();
    }
    let cli = Cli::parse();
    let console = Console::new(&cli.common);
    if let Some(threads) = cli.common.threads {
        // More threads than cores would only get in each other's way.
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        // Fails only if a pool exists already, which it does not at this point.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.get().min(most)).build_global();
    }
    let done = match cli.command {
        Some(Command::Info(args)) => commands::info::run(&args, &console),
        Some(Command::Convert(args)) => commands::convert::run(&args, &console),
        Some(Command::Rig(args)) => commands::rig::run(&args, &console),
        Some(Command::Sample(args)) => commands::sample::run(&args, &console),
        Some(Command::Pose(args)) => commands::pose::run(&args, &console),
        Some(Command::Fit(args)) => commands::fit::run(&args, cli.common.seed, &console),
        Some(Command::Handles { command: HandlesCommand::Auto(args) }) => {
            commands::handles::run_auto(&args, &console)
        }
        Some(Command::Reach(args)) => commands::reach::run(&args, cli.common.seed, &console),
        Some(Command::Refit(args)) => commands::refit::run(&args, &console),
        Some(Command::Animate(args)) => commands::animate::run(&args, cli.common.seed, &console),
        Some(Command::Solve(args)) => commands::solve::run(&args, cli.common.seed, &console),
        Some(Command::Flesh(args)) => commands::flesh::run(&args, cli.common.seed, &console),
        Some(Command::Muscle { command }) => commands::muscle::run(&command, cli.common.seed, &console),
        Some(Command::Puppet(args)) => match &args.command {
            Some(PuppetCommand::Pair(args)) => commands::puppet::run_pair(args, &console),
            Some(PuppetCommand::Calibrate(args)) => commands::puppet::run_calibrate(args, &console),
            None => commands::puppet::run(&args, &console),
        },
        #[cfg(feature = "studio")]
        Some(Command::Studio(args)) => commands::studio::run(&args, &console),
        Some(Command::Bench(args)) => commands::bench::run(&args, &console),
        Some(Command::Licenses(args)) => commands::licenses::run(&args, &console),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sinew", &mut script);
            console::print(&script)
        }
        // Scripts ask for one object, which help is not.
        None if cli.common.json => Cli::command()
            .error(
                clap::error::ErrorKind::MissingSubcommand,
                "--json needs a command, such as `sinew info FILE --json`",
            )
            .exit(),
        #[cfg(feature = "studio")]
        None => commands::studio::run(&args::StudioArgs::default(), &console),
        #[cfg(not(feature = "studio"))]
        None => console::print(Cli::command().render_long_help().to_string().as_bytes()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error);
            ExitCode::FAILURE
        }
    }
}
