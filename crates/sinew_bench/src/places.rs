//! Where outside data and peers are: beside the sources, wherever the bench is started, unless variables override it.

use std::path::{Path, PathBuf};

/// The project's folder.
pub fn project() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// Outside data: `SINEW_DATA`, else `../shared/data` of the project.
pub fn data() -> PathBuf {
    std::env::var_os("SINEW_DATA").map_or_else(|| project().join("../shared/data"), PathBuf::from)
}

/// All available outside data: the data folder, and `corpus` and `interop` beside it.
pub fn outside() -> Vec<PathBuf> {
    let data = data();
    let data = data.canonicalize().unwrap_or(data);
    let beside = |name: &str| data.with_file_name(name);
    [data.clone(), beside("corpus"), beside("interop")].into_iter().filter(|folder| folder.is_dir()).collect()
}

/// Where a script of `peers/` installs its peer: a variable, else a folder of `.tools`.
pub fn tools(variable: &str, folder: &str) -> PathBuf {
    std::env::var_os(variable).map_or_else(|| project().join(".tools").join(folder), PathBuf::from)
}

/// A script that installs or runs a peer.
pub fn peer(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers").join(name)
}
