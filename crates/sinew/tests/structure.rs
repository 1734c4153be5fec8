//! The shape of the workspace: arrows between crates, sources of algorithms, sizes of files.

use crate::support::files_below;
use std::path::{Path, PathBuf};

/// The crate that finds outside data for tests. Every crate may use it, but only while it is tested.
const FOR_TESTS: &str = "sinew_outside";

/// Which of our crates each crate may use. An arrow that is not listed is a mistake, or needs a line here.
const ARROWS: [(&str, &[&str]); 15] = [
    ("sinew_geom", &[]),
    (FOR_TESTS, &[]),
    ("sinew_formats", &["sinew_geom"]),
    ("sinew_deform", &["sinew_geom"]),
    ("sinew_flesh", &["sinew_geom"]),
    ("sinew_gait", &["sinew_geom"]),
    ("sinew_puppet", &["sinew_geom"]),
    ("sinew_rig", &["sinew_geom"]),
    ("sinew_skin", &["sinew_geom"]),
    ("sinew_constrain", &["sinew_geom"]),
    (
        "sinew_session",
        &[
            "sinew_geom",
            "sinew_formats",
            "sinew_deform",
            "sinew_flesh",
            "sinew_skin",
            "sinew_constrain",
            "sinew_gait",
            "sinew_puppet",
            "sinew_rig",
        ],
    ),
    (
        "sinew",
        &[
            "sinew_geom",
            "sinew_formats",
            "sinew_deform",
            "sinew_flesh",
            "sinew_gait",
            "sinew_puppet",
            "sinew_rig",
            "sinew_session",
            "sinew_skin",
            "sinew_constrain",
        ],
    ),
    ("sinew_studio", &["sinew"]),
    ("sinew_cli", &["sinew", "sinew_studio"]),
    ("sinew_bench", &["sinew"]),
];

/// Crates that hide a library, and the library nobody else may name.
const HIDDEN: [(&str, &[&str]); 5] = [
    ("faer", &["sinew_geom", "sinew_bench"]),
    ("obvhs", &["sinew_geom"]),
    ("anyhow", &["sinew_cli", "sinew_studio", "sinew_bench"]),
    ("serde", &KNOW_FILES),
    ("serde_json", &KNOW_FILES),
];

/// Crates that know what files and messages look like.
const KNOW_FILES: [&str; 6] =
    ["sinew_formats", "sinew_session", "sinew", "sinew_studio", "sinew_cli", "sinew_bench"];

/// Most lines of a file, and of a function.
const MAX_LINES: [usize; 2] = [500, 100];

/// Words of an older dialect, with what to write instead.
const WORDS: [(&str, &str); 9] = [
    ("anew", "again"),
    ("mend", "repair"),
    ("mended", "repaired"),
    ("mends", "repairs"),
    ("told", "reported"),
    ("stranger", "another"),
    ("strangers", "others, unseen people"),
    ("wish", "goal, request"),
    ("wishes", "goals, requests"),
];

/// Quantities and units between which "a" stands for "per", as in "frames a second".
const RATES: [(&str, &[&str]); 8] = [
    ("bones", &["vertex"]),
    ("frames", &["second", "minute"]),
    ("influences", &["vertex"]),
    ("milliseconds", &["frame", "step"]),
    ("ms", &["frame", "iteration", "step"]),
    ("pictures", &["second"]),
    ("seconds", &["frame", "step"]),
    ("steps", &["second", "frame"]),
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Names in the dependency sections of a manifest; development ones too, since they make arrows as well, but for the one
/// crate that is made for them.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut is_for_tests = false;
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
            is_for_tests = line == "[dev-dependencies]";
        } else if let (true, Some((name, _))) = (inside, line.split_once(['=', '.'])) {
            let name = name.trim();
            if !(is_for_tests && name == FOR_TESTS) {
                names.push(name.to_owned());
            }
        }
    }
    names
}

#[test]
fn arrows_between_crates_are_the_listed_ones() {
    let mut seen = Vec::new();
    for entry in std::fs::read_dir(crates()).unwrap() {
        let folder = entry.unwrap().path();
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let used = dependencies(&std::fs::read_to_string(folder.join("Cargo.toml")).unwrap());
        let (_, allowed) =
            ARROWS.iter().find(|(of, _)| *of == name).unwrap_or_else(|| panic!("{name} is not listed"));
        for arrow in used.iter().filter(|used| used.starts_with("sinew")) {
            assert!(allowed.contains(&arrow.as_str()), "{name} must not use {arrow}");
        }
        for (library, homes) in HIDDEN {
            assert!(
                !used.iter().any(|u| u == library) || homes.contains(&name.as_str()),
                "{name} names {library}"
            );
        }
        seen.push(name);
    }
    assert_eq!(seen.len(), ARROWS.len(), "{seen:?}");
}

fn sources() -> impl Iterator<Item = (PathBuf, String)> {
    files_below(&crates())
        .into_iter()
        .filter(|path| {
            path.extension().is_some_and(|e| e == "rs")
                && !path.components().any(|c| c.as_os_str() == "target")
        })
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
}

#[test]
fn algorithms_name_their_source() {
    let mut n_found = 0;
    for (path, text) in sources() {
        let declares = text.lines().any(|line| {
            let line = line.trim_start();
            let solver = line.starts_with("pub struct")
                && (line.contains("Solver") || line.contains("Editor") || line.contains("Cholesky"));
            let fit = line.starts_with("pub fn fit") || line.starts_with("pub fn solve_");
            solver || fit
        });
        if declares {
            n_found += 1;
            assert!(text.contains("//! # Source"), "{} declares a solver without `# Source`", path.display());
        }
    }
    assert!(n_found > 0);
}

#[test]
fn files_and_functions_are_short() {
    let [max_file, max_function] = MAX_LINES;
    for (path, text) in sources() {
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() <= max_file, "{} has {} lines; split it", path.display(), lines.len());
        for (at, line) in lines.iter().enumerate() {
            let code = line.trim_start();
            if !(code.starts_with("fn ") || code.starts_with("pub") && code.contains(" fn ")) {
                continue;
            }
            // As rustfmt lays it out, a function ends with a brace of its own indentation.
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let n = 1 + lines[at..].iter().position(|other| *other == end).unwrap_or(0);
            assert!(n <= max_function, "{}:{} has {n} lines; split it", path.display(), at + 1);
        }
    }
}

/// What people read: sources, pages, tests and documents, but neither history nor what programs write.
fn texts() -> impl Iterator<Item = (PathBuf, String)> {
    let root = crates().join("..");
    let is_made = |path: &Path| {
        let name = path.to_string_lossy();
        [
            "/target/",
            "/node_modules/",
            "/.git/",
            "/.tools/",
            "docs/corpus.md",
            "CHANGELOG.md",
            "THIRD_PARTY.md",
        ]
        .iter()
        .any(|part| name.contains(part))
            || name.ends_with("tests/structure.rs")
    };
    let folders =
        ["crates", "docs", "tests", "fuzz/fuzz_targets"].map(|folder| files_below(&root.join(folder)));
    let own = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name));
    let is_text = |path: &PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("");
        ["rs", "ts", "mjs", "md", "py", "css", "html"].contains(&ending)
    };
    let all = folders.into_iter().flatten().chain(own).filter(move |path| is_text(path) && !is_made(path));
    all.map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
}

#[test]
fn words_are_plain() {
    for (path, text) in texts() {
        for (at, line) in text.lines().enumerate() {
            let words = line.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
            for word in words {
                if let Some((_, better)) = WORDS.iter().find(|(old, _)| *old == word) {
                    panic!("{}:{}: write {better:?} instead of {word:?}", path.display(), at + 1);
                }
            }
        }
    }
}

#[test]
fn rates_are_written_with_per() {
    for (path, text) in texts() {
        let is_sign = |c: char| !c.is_alphanumeric();
        let words = text.split_whitespace().filter(|word| !word.chars().all(is_sign));
        let words: Vec<String> = words.map(str::to_lowercase).collect();
        for three in words.windows(3) {
            let [quantity, between, unit] = [&three[0], &three[1], &three[2]].map(String::as_str);
            let (quantity, unit) = (quantity.trim_start_matches(is_sign), unit.trim_end_matches(is_sign));
            let is_rate = RATES.iter().any(|(of, units)| *of == quantity && units.contains(&unit));
            let is_number = unit == "second" && quantity.parse::<f64>().is_ok();
            assert!(
                !matches!(between, "a" | "an") || !(is_rate || is_number),
                "{}: write \"per\" in {:?}",
                path.display(),
                three.join(" ")
            );
        }
    }
}

/// Text of a module's `# Source`, on one line, without code and formulas.
fn source_of(text: &str) -> String {
    let head = text.lines().take_while(|line| line.starts_with("//!")).map(|line| line[3..].trim());
    let from = head.skip_while(|line| *line != "# Source").skip(1);
    let text = from.take_while(|line| !line.starts_with("# ")).collect::<Vec<_>>().join(" ");
    text.split('`').step_by(2).collect()
}

/// Every work whose title stands in a `# Source` is in the list of sources.
#[test]
fn sources_are_listed() {
    let list = std::fs::read_to_string(crates().join("../docs/sources.md")).unwrap();
    let list = list.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut n_titles = 0;
    for (path, text) in sources() {
        for title in source_of(&text).split('*').skip(1).step_by(2) {
            n_titles += 1;
            assert!(
                list.contains(&title.to_lowercase()),
                "{} cites {title:?}, which docs/sources.md does not list",
                path.display()
            );
        }
    }
    assert!(n_titles > 50, "{n_titles}");
}

/// Links and paths in documents lead somewhere.
#[test]
fn documents_name_files_that_exist() {
    let files: Vec<PathBuf> = sources().map(|(path, _)| path).collect();
    for (path, text) in texts().filter(|(path, _)| path.extension().is_some_and(|e| e == "md")) {
        let folder = path.parent().unwrap();
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let file = link.split('#').next().unwrap_or("");
            let is_here =
                file.is_empty() || link.contains(':') || link.contains(' ') || folder.join(file).exists();
            assert!(is_here, "{} links to {link}", path.display());
        }
        for named in text.split('`').skip(1).step_by(2).filter(|named| named.ends_with(".rs")) {
            let name = named.trim_start_matches("crates/");
            // Crates are named without their `src`; files beside the last one named, without its folder.
            let in_crate = name.split_once('/').map(|(name, rest)| Path::new(name).join("src").join(rest));
            let is_here = named.contains("NAME")
                || files.iter().any(|file| {
                    file.ends_with(name) || in_crate.as_ref().is_some_and(|name| file.ends_with(name))
                });
            assert!(is_here, "{} names {named}", path.display());
        }
    }
}

/// Tests that look for data themselves also skip by themselves, unseen by those who count skips.
#[test]
fn outside_data_and_judges_are_found_in_one_place() {
    let homes = ["sinew_outside/src", "sinew_bench/src", "sinew/tests/structure.rs"];
    let is_home = |path: &Path| homes.iter().any(|home| path.to_string_lossy().contains(home));
    for (path, text) in sources().filter(|(path, _)| !is_home(path)) {
        for word in ["SINEW_DATA", "shared/data", "shared/corpus", "shared/interop", "\".tools"] {
            assert!(!text.contains(word), "{} names {word}; ask {FOR_TESTS}", path.display());
        }
    }
}

fn is_core(path: &Path) -> bool {
    [
        "sinew_geom/src",
        "sinew_deform/src",
        "sinew_skin/src",
        "sinew_constrain/src",
        "sinew_flesh/src",
        "sinew_gait/src",
        "sinew_puppet/src",
        "sinew_rig/src",
    ]
    .iter()
    .any(|core| path.to_string_lossy().contains(core))
}

#[test]
fn the_core_does_no_input_or_output() {
    let words = ["std::fs", "std::net", "std::env", "SystemTime", "Instant::now", "println!", "eprintln!"];
    for (path, text) in sources().filter(|(path, _)| is_core(path)) {
        for word in words {
            assert!(!text.contains(word), "{} uses {word}", path.display());
        }
    }
}
