//! Sinew compared with its peers: the same work in the same run, the ratio, and the physical limit of the machine.
//!
//! `cargo run --release -p sinew_bench -- AREA [OPTIONS] …`, or `sinew bench AREA [OPTIONS] …`; without an area it lists them.

mod corpus;
mod deform;
mod examples;
mod fit;
mod flesh;
mod guard;
mod hot;
mod load;
mod measure;
mod muscle;
mod places;
mod puppet;
#[path = "../../sinew/examples/draw_samples/raster.rs"]
mod raster;
mod refit;
mod rules;
mod skin;
mod solve;

use std::process::ExitCode;

/// An area of the bench: its name, its options, a description, and the work.
struct Area(&'static str, &'static str, &'static str, Run);

enum Run {
    Plain(fn() -> anyhow::Result<()>),
    WithOptions(fn(&[String]) -> anyhow::Result<()>),
    /// Whether it consumes all words that follow, also names of areas.
    WithAll(fn(&[String]) -> anyhow::Result<()>),
}

const AREAS: [Area; 16] = [
    Area(
        "corpus",
        "[DIR] [--only AREA,…] [--limit N] [--seed N] [--minutes N] [--report OUT.html] [--json OUT.json] [--table OUT.md] [--against TABLE.md]",
        "every capability, with its defaults, on a folder of unprepared files",
        Run::WithAll(corpus::run),
    ),
    Area(
        "deform",
        "",
        "handles: quality, speed and the tables of Hansen (2006), compared with libigl",
        Run::Plain(deform::run),
    ),
    Area("edits", "", "deform: quality of the standard edits only", Run::Plain(deform::standard_edits)),
    Area("frames", "", "deform: frames of the guided method only", Run::Plain(deform::frames)),
    Area(
        "examples",
        "[table] [walk] [speed] [plots]",
        "pose search: every optimiser and objective, walks",
        Run::WithOptions(examples::run),
    ),
    Area(
        "fit",
        "[--peers] [--bones 20,50] [--only flag] [--kinds rigid] | --decimation [FOLDER] | --ground | --stream",
        "skins of sequences, compared with py-dem-bones",
        Run::WithOptions(fit::run),
    ),
    Area(
        "flesh",
        "[--peers | --scenes FOLDER | --adaptive | --lattices | --long]",
        "elastic bodies, compared with rapier and MuJoCo",
        Run::WithOptions(flesh::run),
    ),
    Area(
        "guard",
        "COMMIT [--only PATH,…] [--rounds N]",
        "compare hot paths with a commit",
        Run::WithAll(guard::run),
    ),
    // Run by guard; not listed.
    Area("hot", "", "", Run::WithAll(hot::run)),
    Area("load", "", "readers, compared with tobj and gltf", Run::Plain(load::run)),
    Area(
        "puppet",
        "[--experiments FOLDER]",
        "projections compared with Clarabel, the engine, tables 5.1 to 5.13 of Sun (2017)",
        Run::WithOptions(puppet::run),
    ),
    Area(
        "refit",
        "[--all]",
        "walks on other bodies and grounds, compared with copied angles",
        Run::WithOptions(refit::run),
    ),
    Area(
        "muscle",
        "[drag] [surface] [transfer [FOLDER]]",
        "muscles: dragged, fitted, transferred",
        Run::WithOptions(muscle::run),
    ),
    Area(
        "rules",
        "[--peers]",
        "the six cases, compared with CasADi and Pinocchio",
        Run::WithOptions(rules::run),
    ),
    Area("skin", "", "skinning, compared with a glam loop and memory bandwidth", Run::Plain(skin::run)),
    Area("solve", "", "back-substitution, compared with faer", Run::Plain(solve::run)),
];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let asks_help = |word: &String| ["help", "--help", "-h"].contains(&word.as_str());
    if words.is_empty() || words.iter().any(asks_help) {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Several areas may follow one another, each with its options after its name.
fn run(words: &[String]) -> anyhow::Result<()> {
    let area = |word: &String| AREAS.iter().find(|area| area.0 == word);
    let mut rest = words;
    while let [first, options @ ..] = rest {
        let Some(Area(name, _, _, run)) = area(first) else {
            anyhow::bail!("there is no bench {first:?}; there are {}", AREAS.map(|area| area.0).join(", "));
        };
        let next = options.iter().position(|word| area(word).is_some());
        let end = next.filter(|_| !matches!(run, Run::WithAll(_))).unwrap_or(options.len());
        let (own, others) = options.split_at(end);
        match run {
            Run::WithOptions(run) | Run::WithAll(run) => run(own)?,
            Run::Plain(run) if own.is_empty() => run()?,
            Run::Plain(_) => anyhow::bail!("{name} takes no options, but there is {:?}", own[0]),
        }
        rest = others;
    }
    Ok(())
}

fn help() -> String {
    let mut text = String::from("usage: sinew_bench AREA [OPTIONS] [AREA [OPTIONS]] …\n\n");
    for Area(name, options, about, _) in AREAS.iter().filter(|area| !area.2.is_empty()) {
        text += &format!("  {name:<9} {about}\n");
        if !options.is_empty() {
            text += &format!("            {options}\n");
        }
    }
    text + "\nPeers are installed by the scripts in crates/sinew_bench/peers; data is found through SINEW_DATA.\n"
}
