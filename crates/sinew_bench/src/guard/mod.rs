//! Whether something has become slower since a commit.
//!
//! `sinew_bench guard COMMIT [--only PATH,…] [--rounds N]` builds that commit and `HEAD`, runs each hot path of
//! [`crate::hot`] in turns, a process each, and prints how long it takes now over how long it took then. What is slower is
//! measured once more before it is reported.

mod builds;
mod ratios;

use anyhow::{Context, bail, ensure};
use ratios::{LIMIT, Ratios};
use std::{path::Path, process::Command};

const USAGE: &str = "usage: sinew_bench guard COMMIT [--only PATH,…] [--rounds N]";
/// Fewer say nothing about a spread.
const LEAST_ROUNDS: usize = 3;

struct Options {
    commit: String,
    paths: Vec<&'static str>,
    rounds: usize,
}

/// Print the table; an error if something is slower.
pub fn run(words: &[String]) -> anyhow::Result<()> {
    let options = parse(words)?;
    let [then, now] = [builds::resolve(&options.commit)?, builds::resolve("HEAD")?];
    if builds::is_changed() {
        println!("note: changes that are not committed are not measured");
    }
    println!("building {} and {}", &then[..10], &now[..10]);
    let programs = [builds::build("then", &then)?, builds::build("now", &now)?];
    println!("{:<14}{:>10}{:>10}{:>8}   spread of {} rounds", "", "then s", "now s", "ratio", options.rounds);
    let mut slower = Vec::new();
    for path in &options.paths {
        let [mut then, mut now] = [Vec::new(), Vec::new()];
        measure(&programs, path, options.rounds, [&mut then, &mut now])?;
        if of(&then, &now).is_slower() {
            measure(&programs, path, options.rounds, [&mut then, &mut now])?;
        }
        let ratios = of(&then, &now);
        print_row(path, &then, &now, &ratios);
        if ratios.is_slower() {
            slower.push(format!("{path} {:.2}x", ratios.median()));
        }
    }
    ensure!(slower.is_empty(), "slower than {} by more than {LIMIT}x: {}", options.commit, slower.join(", "));
    Ok(())
}

fn of(then: &[f64], now: &[f64]) -> Ratios {
    Ratios::new(&then.iter().zip(now).map(|(then, now)| [*then, *now]).collect::<Vec<_>>())
}

fn print_row(path: &str, then: &[f64], now: &[f64], ratios: &Ratios) {
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let [low, high] = ratios.spread();
    let mark = if ratios.is_slower() { "  SLOWER" } else { "" };
    println!(
        "{path:<14}{:>10.4}{:>10.4}{:>7.3}x   {low:.3} to {high:.3}{mark}",
        best(then),
        best(now),
        ratios.median()
    );
}

/// Run a path in both programs in turns and add the seconds it takes.
fn measure(
    programs: &[impl AsRef<Path>; 2],
    path: &str,
    rounds: usize,
    mut times: [&mut Vec<f64>; 2],
) -> anyhow::Result<()> {
    for _ in 0..rounds {
        for (program, times) in programs.iter().zip(&mut times) {
            times.push(seconds(program.as_ref(), path)?);
        }
    }
    Ok(())
}

fn seconds(program: &Path, path: &str) -> anyhow::Result<f64> {
    let output = Command::new(program).args(["hot", path]).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{} hot {path}: {}", program.display(), complaint.trim());
    let found = text.split_whitespace().nth(1).and_then(|word| word.parse::<f64>().ok());
    found.filter(|secs| *secs > 0.0).with_context(|| format!("hot {path} printed {text:?}"))
}

fn parse(words: &[String]) -> anyhow::Result<Options> {
    let [commit, rest @ ..] = words else { bail!(USAGE) };
    ensure!(!commit.starts_with('-'), USAGE);
    let mut options = Options { commit: commit.clone(), paths: crate::hot::names(), rounds: 5 };
    let (pairs, odd) = rest.as_chunks::<2>();
    ensure!(odd.is_empty(), USAGE);
    for [option, value] in pairs {
        match option.as_str() {
            "--only" => options.paths = choose(value)?,
            "--rounds" => options.rounds = value.parse().with_context(|| format!("--rounds {value:?}"))?,
            _ => bail!("{option:?} is not an option of guard; {USAGE}"),
        }
    }
    ensure!(options.rounds >= LEAST_ROUNDS, "at least {LEAST_ROUNDS} rounds are needed for a spread");
    Ok(options)
}

/// Hot paths by their names or by the first word of them: `fit` is `fit-cloth`.
fn choose(list: &str) -> anyhow::Result<Vec<&'static str>> {
    let all = crate::hot::names();
    let means = |word: &str, name: &str| {
        name.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    if let Some(word) = list.split(',').find(|word| !all.iter().any(|name| means(word, name))) {
        bail!("there is no hot path {word:?}; there are {}", all.join(", "));
    }
    Ok(all.into_iter().filter(|name| list.split(',').any(|word| means(word, name))).collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read() {
        let options = parse(&words("HEAD~3 --only fit,glb --rounds 9")).unwrap();
        assert_eq!(options.commit, "HEAD~3");
        assert_eq!((options.paths, options.rounds), (vec!["fit-cloth", "glb-write", "glb-read"], 9));
        assert_eq!(parse(&words("abc")).unwrap().paths, crate::hot::names());
        for bad in ["--only fit", "HEAD --only", "HEAD --only f", "HEAD --rounds 2", "HEAD --fast yes"] {
            assert!(parse(&words(bad)).is_err(), "{bad}");
        }
        assert!(parse(&[]).is_err());
    }
}
