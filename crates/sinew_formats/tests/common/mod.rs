//! Where test data and the outside judges lie.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// The root of the workspace.
pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Outside test data, if it is there: `SINEW_DATA`, else `../shared/data`.
pub fn data() -> Option<PathBuf> {
    let named = std::env::var_os("SINEW_DATA").map(PathBuf::from);
    let data = named.unwrap_or_else(|| workspace().join("../shared/data"));
    present(&data, "data").then_some(data)
}

/// The outside judges, if they are installed: `SINEW_TOOLS`, else `.tools`.
pub fn tools() -> Option<PathBuf> {
    let named = std::env::var_os("SINEW_TOOLS").map(PathBuf::from);
    let tools = named.unwrap_or_else(|| workspace().join(".tools"));
    let judges = ["npm/node_modules/three", "npm/node_modules/gltf-validator", "bpy/bin"];
    let all = judges.iter().all(|judge| present(&tools.join(judge), "judge; run tests/judges/install"));
    all.then_some(tools)
}

/// Whether there is a folder that only continuous integration insists on.
fn present(folder: &Path, what: &str) -> bool {
    let found = folder.is_dir();
    assert!(
        found || std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "no {what} at {}",
        folder.display()
    );
    if !found {
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        // Unlike `eprintln!` this is not captured: a test that was skipped must not look like one that passed.
        let _ = writeln!(std::io::stderr(), "skipped {test}: no {what} at {}", folder.display());
    }
    found
}
