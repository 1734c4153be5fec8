//! The places pages may read and write: one folder of the user's, what was dropped on the page, what was exported.

use crate::{guard::secret, locks::Ranked};
use anyhow::{Context, bail, ensure};
use serde::Serialize;
use sinew::formats::remove_abandoned;
use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{ErrorKind, Write},
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};
use ts_rs::TS;

/// Bytes of a file that may be dropped on the page. Larger ones are opened by name.
pub const MAX_UPLOAD: u64 = 1 << 30;
/// Bytes of all files that were dropped and not read yet.
const MAX_UPLOADS: u64 = 4 << 30;
/// Exports stored for the browser to fetch.
const MAX_DOWNLOADS: usize = 8;
/// Entries of a folder that are listed.
const MAX_ENTRIES: usize = 5000;
/// Letters of a token.
const MIN_TOKEN: usize = 32;
/// Characters of a dropped file's name.
const MAX_NAME: usize = 255;

/// The places.
#[derive(Debug)]
pub struct Files {
    root: PathBuf,
    /// A folder of our own.
    home: PathBuf,
    /// A folder of this run, removed at its end.
    scratch: PathBuf,
    downloads: Ranked<BTreeMap<String, Download>>,
    /// Bytes of files that were dropped and not read yet.
    n_uploaded: AtomicU64,
    /// Held as long as we run, so that the next run does not take our folder for an old one.
    _lock: File,
}

const LOCK: &str = "lock";

/// Folders of runs that were killed.
fn remove_old_runs(runs: &Path) {
    for run in fs::read_dir(runs).into_iter().flatten().flatten() {
        let lock = File::options().write(true).open(run.path().join(LOCK));
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // What cannot be removed now is tried again by the next run.
            let _ = fs::remove_dir_all(run.path());
        }
    }
}

/// What is in a folder.
#[derive(Debug, Serialize, TS)]
pub struct Folder {
    folder: PathBuf,
    /// Null for the root.
    parent: Option<PathBuf>,
    entries: Vec<Entry>,
    /// Frames of a sequence that the folder itself is, which can be opened; 0 if it is none.
    frames: usize,
}

/// A file or a folder.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "FolderEntry")]
struct Entry {
    name: String,
    path: PathBuf,
    is_folder: bool,
    bytes: u64,
}

/// An exported file.
#[derive(Debug, Clone)]
pub struct Download {
    /// Its name.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    order: usize,
}

impl Files {
    /// Pages may read and write below `root`; our own files lie below `home`.
    ///
    /// # Errors
    /// If `root` is no folder, or ours cannot be made.
    pub fn new(root: &Path, home: &Path, run: &str) -> anyhow::Result<Self> {
        let root = root
            .canonicalize()
            .with_context(|| format!("{}: the folder cannot be opened", root.display()))?;
        ensure!(root.is_dir(), "{}: this is not a folder", root.display());
        remove_old_runs(&home.join("runs"));
        remove_abandoned(&root);
        let scratch = home.join("runs").join(run);
        let fail = || format!("{}: the folder cannot be made", scratch.display());
        fs::create_dir_all(&scratch).with_context(fail)?;
        let lock = File::create(scratch.join(LOCK)).with_context(fail)?;
        lock.try_lock().with_context(fail)?;
        Ok(Self {
            root,
            home: home.to_owned(),
            scratch,
            downloads: Ranked::default(),
            n_uploaded: AtomicU64::new(0),
            _lock: lock,
        })
    }

    /// The user's folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What lets pages in. It is stored where only its user can read it, so that pages that are open come back after the
    /// server was started again.
    ///
    /// # Errors
    /// If it cannot be read or written.
    pub fn token(&self) -> anyhow::Result<String> {
        let path = self.home.join("token");
        let fail = || format!("{}: the token cannot be stored", path.display());
        match fs::read_to_string(&path) {
            Ok(token) if token.len() >= MIN_TOKEN && token.bytes().all(|c| c.is_ascii_alphanumeric()) => {
                return Ok(token);
            }
            Ok(_) => fs::remove_file(&path).with_context(fail)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error).with_context(fail),
        }
        let token = secret()?;
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path).and_then(|mut file| file.write_all(token.as_bytes())).with_context(fail)?;
        Ok(token)
    }

    /// Whether so many bytes more may be uploaded; they count until they are read.
    pub fn may_upload(&self, bytes: u64) -> bool {
        self.n_uploaded.fetch_add(bytes, Ordering::Relaxed) + bytes <= MAX_UPLOADS
    }

    /// Where unsaved work is stored.
    pub fn journals(&self) -> PathBuf {
        self.home.join("unsaved")
    }

    /// A path below the root that exists.
    ///
    /// # Errors
    /// If it does not exist or lies elsewhere, by links or otherwise.
    pub fn existing(&self, path: &str) -> anyhow::Result<PathBuf> {
        let path = self.root.join(path);
        let real = path.canonicalize().with_context(|| format!("{}: cannot be opened", path.display()))?;
        ensure!(real.starts_with(&self.root), "{}: lies outside {}", path.display(), self.root.display());
        Ok(real)
    }

    /// A path below the root that may be written.
    ///
    /// # Errors
    /// If its folder does not exist or lies elsewhere.
    pub fn writable(&self, path: &str) -> anyhow::Result<PathBuf> {
        let path = self.root.join(path);
        let name =
            path.file_name().with_context(|| format!("{}: is not the name of a file", path.display()))?;
        let folder = path.parent().unwrap_or(&self.root);
        let folder = self.existing(&folder.to_string_lossy())?;
        let target = folder.join(name);
        // A link that is there already may point elsewhere.
        if target.is_symlink() {
            return self.existing(&target.to_string_lossy());
        }
        Ok(target)
    }

    /// What is in a folder.
    ///
    /// # Errors
    /// If it cannot be read or lies outside the root.
    pub fn list(&self, folder: Option<&str>) -> anyhow::Result<Folder> {
        let folder = self.existing(folder.unwrap_or("."))?;
        let found = fs::read_dir(&folder).with_context(|| format!("{}: cannot be read", folder.display()))?;
        let entry = |entry: fs::DirEntry| {
            let meta = fs::metadata(entry.path()).ok()?;
            let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
            Some(Entry { path: folder.join(&name), name, is_folder: meta.is_dir(), bytes: meta.len() })
        };
        let mut entries: Vec<Entry> = found.flatten().filter_map(entry).collect();
        entries.sort_by_cached_key(|entry| (!entry.is_folder, entry.name.to_lowercase()));
        entries.truncate(MAX_ENTRIES);
        let parent = (folder != self.root).then(|| folder.parent().map(Path::to_owned)).flatten();
        let frames = sinew::formats::count_frames(&folder);
        Ok(Folder { folder, parent, entries, frames })
    }

    /// Where a dropped file goes. Files of one drop lie together, so that they find each other.
    ///
    /// # Errors
    /// If a name is none.
    pub fn upload(&self, drop: &str, name: &str) -> anyhow::Result<PathBuf> {
        let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        ensure!(!drop.is_empty() && drop.len() < 64 && is_plain(drop), "{drop:?} is not the name of a drop");
        ensure!(!name.is_empty() && name.len() <= MAX_NAME, "the name of the file is empty or too long");
        let name = Path::new(name);
        if name.components().any(|part| !matches!(part, Component::Normal(_))) {
            bail!("{}: is not the name of a dropped file", name.display());
        }
        Ok(self.scratch.join("drops").join(drop).join(name))
    }

    /// A drop has been read.
    pub fn forget_upload(&self, drop: &str) {
        if let Ok(path) = self.upload(drop, "x") {
            let folder = path.parent().unwrap_or(&path);
            let n_bytes = count_bytes(folder);
            let subtract = |n: u64| Some(n.saturating_sub(n_bytes));
            let _ = self.n_uploaded.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
            // What stays is removed with the run's folder.
            let _ = fs::remove_dir_all(folder);
        }
    }

    /// Keep an exported file for the browser.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn keep_download(&self, id: String, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
        let folder = self.scratch.join("exports");
        let path = folder.join(&id);
        let write = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes));
        write.with_context(|| format!("{}: the export cannot be kept", path.display()))?;
        let mut downloads = self.downloads.lock();
        let order = downloads.values().map(|download| download.order + 1).max().unwrap_or(0);
        downloads.insert(id, Download { name: name.to_owned(), path, order });
        while downloads.len() > MAX_DOWNLOADS {
            let Some(oldest) = downloads.iter().min_by_key(|(_, d)| d.order).map(|(id, _)| id.clone()) else {
                break;
            };
            if let Some(old) = downloads.remove(&oldest) {
                // What stays is removed with the run's folder.
                let _ = fs::remove_file(old.path);
            }
        }
        Ok(())
    }

    /// An exported file by its number.
    pub fn download(&self, id: &str) -> Option<Download> {
        self.downloads.lock().get(id).cloned()
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Nothing of the user's lies there.
        let _ = fs::remove_dir_all(&self.scratch);
    }
}

/// Bytes of all files below a folder of ours.
fn count_bytes(folder: &Path) -> u64 {
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(meta) if meta.is_dir() => count_bytes(&entry.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    fs::read_dir(folder).into_iter().flatten().flatten().map(size).sum()
}

/// Where programs keep what they know between runs.
pub fn default_home() -> PathBuf {
    let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || var("HOME").or_else(|| var("USERPROFILE"));
    var("SINEW_HOME")
        .or_else(|| var("XDG_STATE_HOME").map(|folder| folder.join("sinew")))
        .or_else(|| var("LOCALAPPDATA").map(|folder| folder.join("Sinew")))
        .or_else(|| home().map(|folder| folder.join(".local/state/sinew")))
        .unwrap_or_else(|| std::env::temp_dir().join("sinew"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_outside_the_root_is_reached() {
        let base = std::env::temp_dir().join(format!("sinew-files-{}", std::process::id()));
        let (root, home) = (base.join("root"), base.join("home"));
        fs::create_dir_all(root.join("inner")).unwrap();
        fs::write(base.join("secret.txt"), b"x").unwrap();
        fs::write(root.join("inner/a.obj"), b"x").unwrap();
        let files = Files::new(&root, &home, "1").unwrap();
        assert!(files.existing("inner/a.obj").is_ok());
        let absolute = base.join("secret.txt").display().to_string();
        for path in ["../secret.txt", "inner/../../secret.txt", &absolute, "/etc/passwd", "absent.obj"] {
            assert!(files.existing(path).is_err(), "{path}");
        }
        for path in ["../new.glb", "/tmp/new.glb", "absent/new.glb", ".."] {
            assert!(files.writable(path).is_err(), "{path}");
        }
        assert_eq!(files.writable("inner/new.glb").unwrap().file_name().unwrap(), "new.glb");
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&base, root.join("out")).unwrap();
            std::os::unix::fs::symlink(base.join("secret.txt"), root.join("link.glb")).unwrap();
            assert!(files.existing("out/secret.txt").is_err() && files.writable("out/new.glb").is_err());
            assert!(files.writable("link.glb").is_err());
            assert!(files.list(Some("out")).is_err());
        }
        for (drop, name) in [("1", "../a"), ("1", "/a"), ("..", "a"), ("1", ""), ("", "a"), ("a/b", "a")] {
            assert!(files.upload(drop, name).is_err(), "{drop} {name}");
        }
        assert!(files.upload("7", "frames/0001.obj").unwrap().ends_with("drops/7/frames/0001.obj"));
        let listed = files.list(None).unwrap();
        assert!(listed.parent.is_none() && listed.entries[0].name == "inner");
        drop(files);
        assert!(!home.join("runs/1").exists());
        // Files of a killed run are removed by the next one, those of a running one are not.
        fs::create_dir_all(home.join("runs/killed")).unwrap();
        fs::write(home.join("runs/killed/lock"), b"").unwrap();
        let (one, two) = (Files::new(&root, &home, "2").unwrap(), Files::new(&root, &home, "3").unwrap());
        assert!(!home.join("runs/killed").exists() && home.join("runs/2").exists());
        drop((one, two));
        fs::remove_dir_all(base).unwrap();
    }
}
