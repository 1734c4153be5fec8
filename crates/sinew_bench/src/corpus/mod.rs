//! The corpus: every capability, with its defaults, on a folder of unprepared files.
//!
//! `sinew_bench corpus [DIR] [OPTIONS]` walks the folder, recognises files by content, runs the product as its users do, one
//! process per command, and measures what was written. Judges read files and compute measures on their own: they share no code
//! with the solvers they judge. A crash, a hang or silence is a red row, never the end of the run.

mod areas;
mod draw;
mod find;
mod lab;
mod limits;
mod motion;
mod report;
mod row;
mod scene;
mod shape;

use crate::places;
use anyhow::{Context, bail};
use areas::{AREAS, Area, Task};
use find::Item;
use lab::{Lab, STOPPED};
use row::{Row, Verdict};
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

/// Options.
struct Options {
    roots: Vec<PathBuf>,
    only: Option<Vec<String>>,
    /// Rows per area, at most.
    limit: Option<usize>,
    seed: u64,
    /// No row starts after this many minutes.
    minutes: Option<f64>,
    report: Option<PathBuf>,
    json: Option<PathBuf>,
    /// Table to write.
    table: Option<PathBuf>,
    /// Committed table: rows that are green there must be green.
    against: Option<PathBuf>,
    /// Rows that run at the same time.
    jobs: usize,
    how: String,
}

/// Run the corpus.
pub fn run(words: &[String]) -> anyhow::Result<()> {
    let options = Options::parse(words)?;
    let sinew = product()?;
    // A second Ctrl-C ends the program at once.
    ctrlc::set_handler(|| {
        if STOPPED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("stopping; what is done is kept");
    })?;
    let (items, faults) = find::find(&options.roots);
    faults.iter().for_each(|fault| eprintln!("not read: {fault}"));
    if items.is_empty() {
        let folders: Vec<String> = options.roots.iter().map(|root| root.display().to_string()).collect();
        bail!("there are no files in {}; name a folder with meshes, rigs or clips", folders.join(", "));
    }
    let tasks = plan(&items, &options);
    println!("{} files, {} rows", items.len(), tasks.len());
    let started = Instant::now();
    let rows = work(&tasks, &options, &sinew, started)?;
    print!("\n{}", report::summary(&rows));
    println!("{} of {} rows in {:.0} s", rows.len(), tasks.len(), started.elapsed().as_secs_f64());
    write_all(&rows, &options)?;
    if STOPPED.load(Ordering::Relaxed) {
        bail!("stopped after {} of {} rows; what is done is kept", rows.len(), tasks.len());
    }
    check(&rows, &options)
}

impl Options {
    fn parse(words: &[String]) -> anyhow::Result<Self> {
        let mut options = Self {
            roots: Vec::new(),
            only: None,
            limit: None,
            seed: 1,
            minutes: None,
            report: None,
            json: None,
            table: None,
            against: None,
            jobs: std::thread::available_parallelism().map_or(2, usize::from),
            how: format!("sinew_bench corpus {}", words.join(" ")).trim().to_owned(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} needs a value"));
            let number = |text: &String| {
                text.parse::<u64>().with_context(|| format!("{text:?} is not a whole number"))
            };
            match word.as_str() {
                "--only" => options.only = Some(value()?.split(',').map(str::to_owned).collect()),
                "--limit" => options.limit = Some(number(value()?)? as usize),
                "--seed" => options.seed = number(value()?)?,
                "--jobs" => options.jobs = (number(value()?)? as usize).max(1),
                "--minutes" => options.minutes = Some(value()?.parse().context("--minutes needs a number")?),
                "--report" => options.report = Some(PathBuf::from(value()?)),
                "--json" => options.json = Some(PathBuf::from(value()?)),
                "--table" => options.table = Some(PathBuf::from(value()?)),
                "--against" => options.against = Some(PathBuf::from(value()?)),
                other if other.starts_with('-') => {
                    bail!("corpus has no option {other}; `sinew_bench` lists them")
                }
                folder => options.roots.push(PathBuf::from(folder)),
            }
        }
        for name in options.only.iter().flatten() {
            if !AREAS.iter().any(|area| area.name == name) {
                bail!("there is no area {name:?}; there are {}", AREAS.map(|area| area.name).join(", "));
            }
        }
        if options.roots.is_empty() {
            options.roots = places::outside();
        }
        // The product runs in its own folders, where relative paths would be wrong.
        for root in &mut options.roots {
            *root = std::path::absolute(&root)?;
        }
        Ok(options)
    }
}

/// The program to test: `SINEW_BINARY`, else the one beside this program, built if it is older than its sources.
fn product() -> anyhow::Result<PathBuf> {
    if let Some(path) = std::env::var_os("SINEW_BINARY") {
        return Ok(PathBuf::from(path).canonicalize()?);
    }
    let here = std::env::current_exe()?;
    let folder = here.parent().context("this program lies in no folder")?;
    let is_release = folder.ends_with("release");
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--locked"]).current_dir(places::project());
    // Tests build the whole workspace; a choice of packages would choose other features, and build everything again.
    cargo.args(if is_release {
        ["--release", "-p", "sinew_cli"].as_slice()
    } else {
        &["--workspace", "--bins"]
    });
    if let Some(target) = folder.parent() {
        cargo.env("CARGO_TARGET_DIR", target);
    }
    let built = cargo.status().is_ok_and(|status| status.success());
    let sinew = folder.join(if cfg!(windows) { "sinew.exe" } else { "sinew" });
    if !built || !sinew.is_file() {
        bail!("building `sinew` failed; build it, or name the program in SINEW_BINARY");
    }
    Ok(sinew)
}

/// Rows to run: all of every area, or a seeded sample of each, alternating between areas so that a run cut short covers all.
fn plan<'a>(items: &'a [Item], options: &Options) -> Vec<(&'static Area, Task<'a>)> {
    let is_wanted =
        |area: &&Area| options.only.as_ref().is_none_or(|only| only.iter().any(|name| name == area.name));
    let mut queues: Vec<_> = AREAS
        .iter()
        .filter(is_wanted)
        .map(|area| {
            let mut random = Random::new(options.seed, area.name);
            let mut tasks = (area.plan)(items, &mut random);
            if options.limit.is_some() || options.minutes.is_some() {
                random.shuffle(&mut tasks);
            }
            tasks.truncate(options.limit.unwrap_or(usize::MAX));
            (area, tasks.into_iter())
        })
        .collect();
    let mut tasks = Vec::new();
    loop {
        let before = tasks.len();
        for (area, queue) in &mut queues {
            tasks.extend(queue.next().map(|task| (*area, task)));
        }
        if tasks.len() == before {
            return tasks;
        }
    }
}

/// Run the rows, several at a time; the report is written regularly, so that nothing is lost if the program is killed.
fn work(
    tasks: &[(&'static Area, Task)],
    options: &Options,
    sinew: &Path,
    started: Instant,
) -> anyhow::Result<Vec<Row>> {
    let folder = std::env::temp_dir().join(format!("sinew-corpus-{}", std::process::id()));
    let next = AtomicUsize::new(0);
    let rows: Mutex<Vec<(usize, Row)>> = Mutex::new(Vec::new());
    let is_over = || {
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        STOPPED.load(Ordering::Relaxed) || options.minutes.is_some_and(|most| minutes > most)
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while !is_over() {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    let Some((area, task)) = tasks.get(k) else { break };
                    let row = make_row(area, task, sinew, &folder.join(k.to_string()));
                    // A row that was cut short by Ctrl-C has no result.
                    if !STOPPED.load(Ordering::Relaxed) {
                        print_row(&row);
                        rows.lock().unwrap_or_else(|e| e.into_inner()).push((k, row));
                    }
                }
            });
        }
        scope.spawn(|| {
            let mut written = Instant::now();
            while next.load(Ordering::Relaxed) < tasks.len() && !is_over() {
                std::thread::sleep(Duration::from_millis(200));
                if written.elapsed() > Duration::from_secs(20) {
                    let rows = rows.lock().unwrap_or_else(|e| e.into_inner());
                    if let (Some(path), false) = (&options.json, rows.is_empty()) {
                        let list: Vec<serde_json::Value> =
                            rows.iter().map(|(_, row)| row.to_json()).collect();
                        let text = serde_json::json!({ "rows": list }).to_string();
                        report::save(path, &text).unwrap_or_else(|error| eprintln!("{error:#}"));
                    }
                    written = Instant::now();
                }
            }
        });
    });
    let _ = std::fs::remove_dir_all(&folder);
    let mut rows = rows.into_inner().unwrap_or_else(|e| e.into_inner());
    rows.sort_by(|(_, a), (_, b)| (a.area, &a.file).cmp(&(b.area, &b.file)));
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// One row; a judge that fails or panics makes it red.
fn make_row(area: &Area, task: &Task, sinew: &Path, folder: &Path) -> Row {
    let lab = match Lab::new(sinew, folder) {
        Ok(lab) => lab,
        Err(error) => {
            let verdict = Verdict::default().not_done(format!("no place to work in: {error:#}"));
            return Row::new(task.file.clone(), area.name, verdict, Default::default());
        }
    };
    let judged = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (area.judge)(task, &lab)));
    let fault = |text: String| {
        let mut verdict = Verdict::default();
        verdict.set("judged", 0.0);
        verdict.note(format!("the judge failed: {text}"));
        verdict
    };
    let verdict = match judged {
        Ok(Ok(verdict)) => verdict,
        Ok(Err(error)) => fault(format!("{error:#}")),
        Err(_) => fault("it panicked".to_owned()),
    };
    let mut used = lab.used.borrow().clone();
    let is_about_damage = |text: &String| area.damage_words.iter().any(|word| text.contains(word));
    used.warned |= used.warnings.iter().any(is_about_damage);
    let row = Row::new(task.file.clone(), area.name, verdict, used);
    let _ = std::fs::remove_dir_all(folder);
    row
}

fn print_row(row: &Row) {
    let wrong = if row.pass {
        String::new()
    } else {
        format!(": {}", [row.broken(), row.notes.clone()].concat().join("; "))
    };
    let wrong: String = wrong.chars().take(200).collect();
    println!(
        "{} {:<7} {:6.1} s  {}{wrong}",
        if row.pass { "green" } else { "red  " },
        row.area,
        row.used.seconds,
        row.file
    );
}

fn write_all(rows: &[Row], options: &Options) -> anyhow::Result<()> {
    let mut faults = Vec::new();
    let mut write = |path: &Option<PathBuf>, text: &dyn Fn() -> String| {
        if let Some(path) = path {
            match report::save(path, &text()) {
                Ok(()) => println!("{}", path.display()),
                Err(error) => faults.push(format!("{error:#}")),
            }
        }
    };
    write(&options.json, &|| report::to_json(rows));
    write(&options.table, &|| report::table(rows, &options.how));
    write(&options.report, &|| report::page(rows, &options.how));
    if faults.is_empty() { Ok(()) } else { bail!("{}", faults.join("\n")) }
}

/// Rows that were green must be green.
fn check(rows: &[Row], options: &Options) -> anyhow::Result<()> {
    let Some(path) = &options.against else { return Ok(()) };
    let table = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let red = report::turned_red(rows, &table);
    if red.is_empty() {
        println!("no row that is green in {} turned red", path.display());
        return Ok(());
    }
    bail!("{} rows were green in {} and are red:\n  {}", red.len(), path.display(), red.join("\n  "))
}

/// Pseudo-random numbers, the same for the same seed (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64, name: &str) -> Self {
        let hash = name.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
        Self(hash)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for k in (1..list.len()).rev() {
            list.swap(k, self.below(k + 1));
        }
    }
}
