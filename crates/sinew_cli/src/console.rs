//! What the user sees: results, warnings, errors, progress.

use anyhow::Context;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Value, json};
use sinew::geom::Warnings;
use std::{
    io::{IsTerminal, Write},
    num::NonZeroUsize,
    ops::ControlFlow,
    path::Path,
    time::Duration,
};

/// Options of every command.
#[derive(Args)]
pub struct Common {
    /// Print exactly one JSON object as the result
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Print no progress and no warnings
    #[arg(long, short, global = true, help_heading = GLOBAL)]
    pub quiet: bool,
    /// Use at most N threads [default: all]
    #[arg(long, global = true, value_name = "N", help_heading = GLOBAL)]
    pub threads: Option<NonZeroUsize>,
    /// Random seed (fit, solve, `--optimiser annealing`); the same seed gives the same result
    #[arg(long, global = true, value_name = "N", default_value_t = 0, help_heading = GLOBAL)]
    pub seed: u64,
}

/// Heading of the options of every command in `--help`.
const GLOBAL: &str = "Global options";

/// Where and how to print.
pub struct Console {
    json: bool,
    quiet: bool,
    color: bool,
    /// Random seed of commands that use one.
    pub seed: u64,
    /// All commands and options, for completions.
    pub program: fn() -> clap::Command,
}

impl Console {
    pub fn new(common: &Common, program: fn() -> clap::Command) -> Self {
        let color = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { json: common.json, quiet: common.quiet, color, seed: common.seed, program }
    }

    /// Whether the result is written as one JSON object.
    pub fn wants_json(&self) -> bool {
        self.json
    }

    /// Print the result: the object with `--json`, else the text.
    ///
    /// # Errors
    /// If it cannot be written, except to a reader that has gone away.
    pub fn result(&self, value: &Value, text: impl FnOnce() -> String) -> anyhow::Result<()> {
        let text = if self.json { value.to_string() } else { text().trim_end().to_owned() };
        print(format!("{text}\n").as_bytes())
    }

    /// Print warnings of a file.
    pub fn warn(&self, path: &Path, warnings: &Warnings) {
        if !self.quiet {
            for message in &warnings.messages {
                say(&format!("{} {}: {message}", self.paint("33", "warning:"), path.display()));
            }
        }
    }

    /// Print something worth knowing.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            say(&format!("{} {text}", self.paint("36", "note:")));
        }
    }

    /// Print an error; with `--json` also as the one object.
    pub fn fail(&self, error: &anyhow::Error) {
        let message = format!("{error:#}");
        for line in message.lines() {
            say(&format!("{} {line}", self.paint("1;31", "error:")));
        }
        if self.json && !error.is::<Printed>() && !error.is::<Unusable>() {
            // There is nowhere left to say that this failed too.
            let _ = self.result(&json!({ "error": message }), String::new);
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.color { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    /// A bar for work that reports its share, a spinner for other work. Nothing is drawn unless a
    /// person is looking, nor for work that is done at once.
    pub fn progress(&self, what: &str) -> Progress {
        let visible = !self.quiet && std::io::stderr().is_terminal();
        let target =
            if visible { ProgressDrawTarget::stderr_with_hz(10) } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target).with_message(what.to_owned());
        bar.enable_steady_tick(Duration::from_millis(500));
        Progress { bar }
    }
}

/// Write a line to standard error. If that is closed or full there is nowhere left to say so.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Write to standard output. A reader that has gone away (`| head`) is no error.
///
/// # Errors
/// Whatever else the system reports, such as a full disk.
pub fn print(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("standard output cannot be written")
        }
        _ => Ok(()),
    }
}

/// A result that was written but should not be used; the program ends with 3.
#[derive(Debug)]
pub struct Unusable(pub String);

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unusable {}

/// A failure whose JSON object has been printed already.
#[derive(Debug)]
pub struct Printed(pub String);

impl std::fmt::Display for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Printed {}

/// Progress of one piece of work; gone when dropped.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// Say what is being done now.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.to_owned());
    }

    /// Show a share done, 0..=1.
    pub fn update(&self, share: f64) -> ControlFlow<()> {
        if self.bar.length().is_none() {
            self.bar.set_length(1000);
            if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {eta}") {
                self.bar.set_style(style);
            }
        }
        self.bar.set_position((share.clamp(0.0, 1.0) * 1000.0) as u64);
        ControlFlow::Continue(())
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
