//! The `sinew` command.
//!
//! Results go to standard output, everything else to standard error. Exit codes: 0 done, 1 failed with a
//! message, 2 wrong usage, 3 a result that was written but is not usable.

mod cli;
mod commands;
mod console;
mod interrupt;
mod licenses;
mod standard;

use clap::{CommandFactory, Parser, error::ErrorKind};
use cli::Cli;
use console::Console;
use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(message) = commands::muscle::renamed_from_rig(&words) {
        Cli::command().error(ErrorKind::InvalidSubcommand, message).exit();
    }
    let cli = Cli::parse();
    let console = Console::new(&cli.common, Cli::command);
    if let Some(threads) = cli.common.threads {
        // More threads than cores would only get in each other's way.
        let most = std::thread::available_parallelism().map_or(1, usize::from);
        // Fails only if a pool exists already, which it does not at this point.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads.get().min(most)).build_global();
    }
    let done = match &cli.command {
        Some(command) => command.run(&console),
        // Scripts ask for one object, which help is not.
        None if cli.common.json => {
            let message = "--json needs a command, such as `sinew info FILE --json`";
            Cli::command().error(ErrorKind::MissingSubcommand, message).exit()
        }
        #[cfg(feature = "studio")]
        None => commands::studio::run(&commands::studio::StudioArgs::default(), &console),
        #[cfg(not(feature = "studio"))]
        None => console::print(Cli::command().render_long_help().to_string().as_bytes()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            console.fail(&error);
            if error.is::<console::Unusable>() { ExitCode::from(3) } else { ExitCode::FAILURE }
        }
    }
}
