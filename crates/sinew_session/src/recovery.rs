//! Unsaved work of a session that ended without saying so.

use crate::{
    Document, History, SessionError,
    journal::{Entry, LINES, LOCK},
    read_project,
};
use sinew_formats::FormatError;
use sinew_geom::Warnings;
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Forgotten work that is kept; beyond that the oldest goes.
const MAX_KEPT: usize = 20;

/// Work that can be taken up again.
#[derive(Debug, Clone)]
pub struct Recovery {
    /// Its folder; the last part of it is its name.
    pub folder: PathBuf,
    /// Name of the document.
    pub title: String,
    /// Where it was saved last.
    pub path: Option<PathBuf>,
    /// When it was last changed.
    pub changed: SystemTime,
    // As long as this is held nobody else takes it up or removes it.
    _lock: std::sync::Arc<File>,
}

/// Work that was taken up.
#[derive(Debug)]
pub struct Recovered {
    /// All its steps.
    pub history: History,
    /// Where it was saved last.
    pub path: Option<PathBuf>,
}

impl Recovery {
    /// Name by which it is asked for.
    pub fn id(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// All work below a folder that nobody has open and that was not saved, the newest first. What holds nothing is
    /// removed.
    pub fn find_all(root: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
        let mut found: Vec<Self> = entries.flatten().filter_map(|entry| Self::find(&entry.path())).collect();
        found.sort_by_key(|recovery| std::cmp::Reverse(recovery.changed));
        found.drain(MAX_KEPT.min(found.len())..).for_each(|old| old.discard());
        found
    }

    fn find(folder: &Path) -> Option<Self> {
        let lock = File::options().write(true).open(folder.join(LOCK)).ok()?;
        // Held by a program that still runs.
        lock.try_lock().ok()?;
        let lines = folder.join(LINES);
        let text = fs::read(&lines).unwrap_or_default();
        let entries = parse(&text);
        let Some((Entry::Opened { name, path, is_dirty, .. }, rest)) = entries.split_first() else {
            let _ = fs::remove_dir_all(folder);
            return None;
        };
        let mut saved = rest.iter().rev().filter_map(|entry| match entry {
            Entry::Saved(path) => Some(path.clone()),
            _ => None,
        });
        let path = saved.next().or_else(|| path.clone());
        let is_dirty = rest.last().map_or(*is_dirty, |last| !matches!(last, Entry::Saved(_)));
        if !is_dirty {
            let _ = fs::remove_dir_all(folder);
            return None;
        }
        let changed = fs::metadata(&lines).and_then(|meta| meta.modified()).ok()?;
        let (folder, title) = (folder.to_owned(), name.clone());
        Some(Self { folder, title, path, changed, _lock: std::sync::Arc::new(lock) })
    }

    /// Do again what was done.
    ///
    /// # Errors
    /// If the base cannot be read. Steps that cannot be done again end the work there, with a warning.
    pub fn recover(&self, warnings: &mut Warnings) -> Result<Recovered, SessionError> {
        let read = |path: PathBuf| fs::read(&path).map_err(|error| FormatError::Io { path, error });
        let entries = parse(&read(self.folder.join(LINES))?);
        let base = match entries.first() {
            Some(Entry::Opened { base, .. }) => {
                self.folder.join(Path::new(base).file_name().unwrap_or_default())
            }
            _ => return Err(self.broken("its journal has no beginning")),
        };
        let document: Document = read_project(&read(base.clone())?, &base, warnings)?;
        let mut history = History::new(document);
        for entry in &entries[1..] {
            let done = match entry {
                Entry::Done { merged, command } => history.apply_recorded(command, *merged),
                Entry::Jump(steps) => {
                    history.jump(history.at().saturating_add_signed(*steps));
                    Ok(())
                }
                Entry::Forget => {
                    history.forget_last();
                    Ok(())
                }
                Entry::Opened { .. } | Entry::Saved(_) => Ok(()),
            };
            if let Err(error) = done {
                warnings
                    .push(format!("the work after step {} could not be done again: {error}", history.at()));
                break;
            }
        }
        Ok(Recovered { history, path: self.path.clone() })
    }

    fn broken(&self, cause: &str) -> SessionError {
        SessionError::Unusable { path: self.folder.clone(), cause: cause.into(), remedy: "discard it" }
    }

    /// Do away with it.
    pub fn discard(self) {
        // What cannot be removed is offered again.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// The lines of a journal; the last may have been cut off by the crash.
fn parse(text: &[u8]) -> Vec<Entry> {
    text.split(|&byte| byte == b'\n').map_while(|line| serde_json::from_slice(line).ok()).collect()
}
