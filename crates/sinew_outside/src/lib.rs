//! Outside data and outside judges: where tests find them, and how a test that lacks them is skipped.
//!
//! Used by tests alone. What is absent is reported in one line, `TEST: no WHAT at PATH`: added to the file that
//! `SINEW_SKIPS` names, else written to the standard error of the process, which the test harness does not capture. With
//! `CI=true` a skip is a failure.

use std::{
    collections::BTreeSet,
    io::Write,
    panic::Location,
    path::{Path, PathBuf},
    sync::Mutex,
};

/// The judges that `tests/judges/install` puts below the folder of tools.
const JUDGES: [&str; 3] = ["npm/node_modules/three", "npm/node_modules/gltf-validator", "bpy/bin/python"];

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

/// Outside test data, if it is there: `SINEW_DATA`, else `../shared/data`.
///
/// # Panics
/// With `CI=true`, if it is absent.
#[track_caller]
pub fn data() -> Option<PathBuf> {
    present(data_folder(), "data")
}

/// Files that other people's programs wrote, in bulk, if they are there: `corpus` beside the data.
///
/// # Panics
/// With `CI=true`, if it is absent.
#[track_caller]
pub fn corpus() -> Option<PathBuf> {
    present(data_folder().with_file_name("corpus"), "corpus")
}

/// Files for the exchange with other programs, if they are there: `interop` beside the data.
///
/// # Panics
/// With `CI=true`, if it is absent.
#[track_caller]
pub fn interop() -> Option<PathBuf> {
    present(data_folder().with_file_name("interop"), "interop files")
}

/// The folder of the outside judges, if all of them are installed: `SINEW_TOOLS`, else `.tools`.
///
/// # Panics
/// With `CI=true`, if one is absent.
#[track_caller]
pub fn tools() -> Option<PathBuf> {
    for judge in JUDGES {
        tool(judge)?;
    }
    Some(tools_folder())
}

/// One file or folder below the folder of tools, if it is installed.
///
/// # Panics
/// With `CI=true`, if it is absent.
#[track_caller]
pub fn tool(path: &str) -> Option<PathBuf> {
    present(tools_folder().join(path), "judge (run tests/judges/install)")
}

/// All files below a folder, sorted; empty if it cannot be read.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}

fn data_folder() -> PathBuf {
    named("SINEW_DATA").unwrap_or_else(|| workspace().join("../shared/data"))
}

fn tools_folder() -> PathBuf {
    named("SINEW_TOOLS").unwrap_or_else(|| workspace().join(".tools"))
}

/// A path in a variable. An empty one counts as unset.
fn named(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The path, if there is something; else the test is skipped and it is reported, or it fails where nothing may be skipped.
#[track_caller]
fn present(path: PathBuf, what: &str) -> Option<PathBuf> {
    if path.exists() {
        return Some(path);
    }
    let line = format!("{}: no {what} at {}", test_name(Location::caller()), path.display());
    assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{line}, and CI=true allows no skip");
    report(&line);
    None
}

/// The crate and the test. The harness names its threads after the tests; with one thread it has none, and the place of the
/// call must do.
fn test_name(caller: &Location) -> String {
    match std::thread::current().name() {
        Some(name) if name != "main" => match crate_of(caller.file()) {
            Some(of) => format!("{of}::{name}"),
            None => name.to_owned(),
        },
        _ => format!("{}:{}", caller.file(), caller.line()),
    }
}

/// The crate that a file of the workspace belongs to.
fn crate_of(file: &str) -> Option<&str> {
    let mut parts = file.split(['/', '\\']).skip_while(|part| *part != "crates");
    parts.nth(1)
}

/// Lines this process has reported: a test that asks twice is skipped once.
static REPORTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fn report(line: &str) {
    let mut reported = REPORTED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if reported.insert(line.to_owned()) {
        write_line(named("SINEW_SKIPS").as_deref(), line);
    }
}

/// Add a line to a file, or to the standard error if there is none or it cannot be written.
fn write_line(file: Option<&Path>, line: &str) {
    let open = |path| std::fs::OpenOptions::new().append(true).create(true).open(path);
    // In one piece, since several processes add to the same file.
    let whole = format!("{line}\n");
    let is_written =
        file.is_some_and(|path| open(path).is_ok_and(|mut f| f.write_all(whole.as_bytes()).is_ok()));
    if !is_written {
        // Unlike `eprintln!` this is not captured: a test that was skipped must not look like one that passed.
        let _ = std::io::stderr().write_all(whole.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn lines_are_added_to_a_file() {
        let file = std::env::temp_dir().join(format!("sinew-skips-{}", std::process::id()));
        let _ = std::fs::remove_file(&file);
        ["one", "two"].iter().for_each(|line| write_line(Some(&file), line));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\ntwo\n");
        std::fs::remove_file(file).unwrap();
    }

    #[test]
    fn a_skip_names_the_test_or_its_place() {
        let here = Location::caller();
        let name_in = |thread: &str| {
            let thread = std::thread::Builder::new().name(thread.to_owned());
            thread.spawn(move || test_name(here)).unwrap().join().unwrap()
        };
        assert_eq!(name_in("some::test"), "sinew_outside::some::test");
        assert_eq!(name_in("main"), format!("{}:{}", here.file(), here.line()));
        assert_eq!(crate_of("/root/crates/sinew_geom/src/lib.rs"), Some("sinew_geom"));
        assert_eq!(crate_of("src/lib.rs"), None);
    }

    #[test]
    fn the_workspace_is_found_and_the_three_folders_are_siblings() {
        assert!(workspace().join("crates/sinew_outside").is_dir());
        let beside = |name| data_folder().with_file_name(name);
        assert_eq!(beside("corpus").parent(), data_folder().parent());
        assert_eq!(beside("interop").parent(), data_folder().parent());
    }
}
