//! Runs the product as a user does, one process per command, with a limit on time and memory, and records the result.

use super::scene::list;
use anyhow::Context;
use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

/// Seconds that the commands of a row may take together. One file must not delay the others.
pub const TIME_LIMIT: f64 = 90.0;
/// Memory in megabytes that a command may use; several run at the same time.
pub const MEMORY_LIMIT: f64 = 6_000.0;

/// Set by Ctrl-C: running commands are ended, finished rows are written.
pub static STOPPED: AtomicBool = AtomicBool::new(false);

/// A working folder for one row.
pub struct Lab {
    sinew: PathBuf,
    folder: PathBuf,
    /// Results of all commands of the row.
    pub used: std::cell::RefCell<Usage>,
}

/// Result of the commands of a row.
#[derive(Default, Clone)]
pub struct Usage {
    pub seconds: f64,
    pub peak_mb: f64,
    /// Commands in the order they ran, for the report.
    pub commands: Vec<String>,
    /// Whether the product refused, failed, ended with 3 ("written but not to be used") or listed something under `damage`.
    pub warned: bool,
    /// All its warnings; whether one of them is about damage depends on the area.
    pub warnings: Vec<String>,
}

/// Result of a command.
pub struct Outcome {
    /// Exit code; `None` if it was killed.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    pub seconds: f64,
    pub peak_mb: f64,
    /// Why it was killed, if it was.
    pub killed: Option<String>,
}

impl Outcome {
    /// Whether it succeeded.
    pub fn is_done(&self) -> bool {
        self.code == Some(0)
    }

    /// The JSON object it printed.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_default()
    }

    /// What went wrong, in one line.
    pub fn fault(&self) -> String {
        if let Some(killed) = &self.killed {
            return killed.clone();
        }
        let error = self.stderr.lines().find(|line| line.starts_with("error"));
        let line = error.or_else(|| self.stderr.lines().last()).unwrap_or("it printed nothing").to_owned();
        match self.code {
            Some(code) => format!("exit {code}: {line}"),
            None => format!("it crashed: {line}"),
        }
    }
}

impl Lab {
    pub fn new(sinew: &Path, folder: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        Ok(Self { sinew: sinew.to_owned(), folder: folder.to_owned(), used: Default::default() })
    }

    /// A file to be written in the row's own folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// `sinew WORDS --json`, within the limits.
    pub fn sinew<S: AsRef<std::ffi::OsStr>>(&self, words: &[S]) -> anyhow::Result<Outcome> {
        let mut command = Command::new(&self.sinew);
        command.args(words).arg("--json").current_dir(&self.folder);
        let said =
            words.iter().map(|w| w.as_ref().to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
        let left = TIME_LIMIT - self.used.borrow().seconds;
        let outcome = run(command, left)?;
        let mut used = self.used.borrow_mut();
        used.seconds += outcome.seconds;
        used.peak_mb = used.peak_mb.max(outcome.peak_mb);
        used.commands.push(format!("sinew {said}"));
        let json = outcome.json();
        let texts = list(&json, "warnings").iter().filter_map(|w| w.as_str()).map(str::to_owned);
        used.warnings.extend(texts);
        used.warned |= !outcome.is_done() || !list(&json, "damage").is_empty();
        Ok(outcome)
    }
}

/// Run a command, and kill it if it exceeds the limits.
fn run(mut command: Command, most_seconds: f64) -> anyhow::Result<Outcome> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| command.get_program().to_string_lossy().into_owned())?;
    let reader = |stream: Option<Box<dyn Read + Send>>| {
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            if let Some(stream) = stream {
                // Longer output is not an error message.
                let _ = stream.take(16 << 20).read_to_end(&mut bytes);
            }
            String::from_utf8_lossy(&bytes).into_owned()
        })
    };
    let out = reader(child.stdout.take().map(|s| Box::new(s) as Box<dyn Read + Send>));
    let err = reader(child.stderr.take().map(|s| Box::new(s) as Box<dyn Read + Send>));
    let (mut peak_mb, mut killed) = (0.0f64, None);
    let mut pause = 1;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        peak_mb = peak_mb.max(peak_memory(child.id()));
        let seconds = started.elapsed().as_secs_f64();
        if seconds > most_seconds {
            killed = Some(format!("ended after {seconds:.0} s: over the limit of {TIME_LIMIT} s per row"));
        } else if peak_mb > MEMORY_LIMIT {
            killed = Some(format!("ended at {peak_mb:.0} MB, over the memory limit of {MEMORY_LIMIT} MB"));
        } else if STOPPED.load(Ordering::Relaxed) {
            killed = Some("stopped by Ctrl-C".to_owned());
        }
        if killed.is_some() {
            child.kill()?;
            break child.wait()?;
        }
        std::thread::sleep(Duration::from_millis(pause));
        pause = (pause * 2).min(20);
    };
    let join = |thread: std::thread::JoinHandle<String>| thread.join().unwrap_or_default();
    Ok(Outcome {
        code: if killed.is_some() { None } else { status.code() },
        stdout: join(out),
        stderr: join(err),
        seconds: started.elapsed().as_secs_f64(),
        peak_mb,
        killed,
    })
}

/// Peak memory of a process so far, in megabytes; 0 where the system does not report it.
fn peak_memory(process: u32) -> f64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_that_fails_is_distinguished_from_one_that_crashes() {
        let mut fails = Command::new("sh");
        fails.args(["-c", "echo 'error: no' >&2; exit 3"]);
        let outcome = run(fails, 10.0).unwrap();
        assert_eq!(outcome.code, Some(3));
        assert_eq!(outcome.fault(), "exit 3: error: no");
        let mut crashes = Command::new("sh");
        crashes.args(["-c", "kill -SEGV $$"]);
        let outcome = run(crashes, 10.0).unwrap();
        assert_eq!(outcome.code, None);
        assert!(outcome.fault().contains("crashed"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_and_the_limit_named() {
        let mut hangs = Command::new("sleep");
        hangs.arg("60");
        let outcome = run(hangs, 0.2).unwrap();
        assert!(outcome.seconds < 30.0);
        assert!(outcome.fault().contains("limit of 90 s per row"), "{}", outcome.fault());
    }
}
