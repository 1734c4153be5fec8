//! Where the outside data is.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

/// `SINEW_DATA`, else `../shared/data`; `None` if there is none, which CI does not accept.
pub fn data() -> Option<PathBuf> {
    let fallback = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("SINEW_DATA").map_or_else(fallback, PathBuf::from);
    if path.is_dir() {
        return Some(path);
    }
    assert!(std::env::var_os("CI").is_none(), "{} is missing, and CI must have it", path.display());
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    // Unlike `eprintln!` this is not captured: a test that was skipped must not look like one that passed.
    let _ = writeln!(std::io::stderr(), "skipped {test}: no data at {} (set SINEW_DATA)", path.display());
    None
}

/// All files below a folder, sorted.
pub fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { open.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files
}
