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
    io,
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
    /// Whether all of it could be done again.
    pub is_complete: bool,
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
        let text = match fs::read(&lines) {
            Ok(text) => text,
            // Nothing was done yet when it ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let _ = fs::remove_dir_all(folder);
                return None;
            }
            Err(_) => return None,
        };
        let (entries, is_whole) = parse(&text);
        // What this version does not understand is left for one that does.
        let (Entry::Opened { name, path, is_dirty, .. }, rest) = entries.split_first()? else { return None };
        let mut saved = rest.iter().rev().filter_map(|entry| match entry {
            Entry::Saved(path) => Some(path.clone()),
            _ => None,
        });
        let path = saved.next().or_else(|| path.clone());
        let is_dirty = rest.last().map_or(*is_dirty, |last| !matches!(last, Entry::Saved(_)));
        if !is_dirty && is_whole {
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
        let (entries, is_whole) = parse(&read(self.folder.join(LINES))?);
        let base = match entries.first() {
            Some(Entry::Opened { base, .. }) => {
                self.folder.join(Path::new(base).file_name().unwrap_or_default())
            }
            _ => return Err(self.broken("its journal has no beginning")),
        };
        let document: Document = read_project(&read(base.clone())?, &base, warnings)?;
        let mut history = History::new(document);
        let mut is_complete = is_whole;
        for entry in &entries[1..] {
            let done = match entry {
                Entry::Done { merged, command } => history.apply_recorded(command, *merged),
                Entry::Jump(0) => Ok(()),
                Entry::Jump(steps) => match history.jump(history.at().saturating_add_signed(*steps)) {
                    true => Ok(()),
                    false => Err(self.broken("its journal goes to a step that it does not hold")),
                },
                Entry::Forget => {
                    history.forget_last();
                    Ok(())
                }
                Entry::Opened { .. } | Entry::Saved(_) => Ok(()),
            };
            if let Err(error) = done {
                warnings
                    .push(format!("the work after step {} could not be done again: {error}", history.at()));
                is_complete = false;
                break;
            }
        }
        Ok(Recovered { history, path: self.path.clone(), is_complete })
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

/// The lines of a journal, and whether all were understood; the last may have been cut off by the crash.
fn parse(text: &[u8]) -> (Vec<Entry>, bool) {
    let end = text.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let lines = text[..end].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let n_lines = lines.clone().count();
    let entries: Vec<Entry> = lines.map_while(|line| serde_json::from_slice(line).ok()).collect();
    let is_whole = entries.len() == n_lines;
    (entries, is_whole)
}
