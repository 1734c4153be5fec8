//! Unsaved work of a session that ended without saying so.

use crate::{
    Display, History, SessionError, Stage, draw_thumbnail,
    journal::{CLOSED, DISCARDED, LINES, LOCK, base_name, remove_folder},
    read_project,
    record::{Entry, Line, Place, read_lines, sum_of},
};
use sinew_formats::{FormatError, remove_abandoned};
use sinew_geom::Warnings;
use std::{
    fs::{self, File},
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::SystemTime,
};

/// Bytes of unsaved work that are kept; beyond that the oldest goes. The newest always stays.
const MAX_KEPT_BYTES: u64 = 4 << 30;
/// Vertices of a document beyond which its picture shows it at rest.
const MAX_POSED: usize = 30_000;
/// Places of a damaged journal that are named one by one.
const MAX_NAMED: usize = 12;

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
    /// Bytes on disk.
    pub bytes: u64,
    /// Whether the user closed the document without saving; else the program ended with it open.
    pub is_closed: bool,
    // As long as this is held no other process opens or removes it.
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
    /// removed, and the oldest beyond 4 GB.
    pub fn find_all(root: &Path) -> Vec<Self> {
        let Ok(entries) = fs::read_dir(root) else { return Vec::new() };
        let mut found: Vec<Self> = entries.flatten().filter_map(|entry| Self::find(&entry.path())).collect();
        found.sort_by_key(|recovery| std::cmp::Reverse(recovery.changed));
        let kept = n_kept(found.iter().map(|recovery| recovery.bytes), MAX_KEPT_BYTES);
        found.drain(kept..).for_each(|old| old.discard());
        found
    }

    fn find(folder: &Path) -> Option<Self> {
        if folder.join(DISCARDED).exists() {
            remove_folder(folder);
            return None;
        }
        let lock = File::options().write(true).open(folder.join(LOCK)).ok()?;
        // Held by a program that still runs.
        lock.try_lock().ok()?;
        // What it was writing when it was killed.
        remove_abandoned(folder);
        let file = folder.join(LINES);
        let lines = match fs::read(&file) {
            Ok(text) => read_lines(&text),
            // Nothing was done yet when it ended.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                remove_folder(folder);
                return None;
            }
            Err(_) => return None,
        };
        // What this version does not understand is left for one that does.
        base_of(folder, &lines)?;
        let (title, opened) = match lines.first().and_then(Line::entry) {
            Some(Entry::Opened { name, path, .. }) => (name.clone(), path.clone()),
            _ => ("unsaved work with a damaged journal".to_owned(), None),
        };
        let mut saved = lines.iter().rev().filter_map(|line| match line.entry() {
            Some(Entry::Saved(path)) => Some(path.clone()),
            _ => None,
        });
        let is_clean = match lines.last().and_then(Line::entry) {
            Some(Entry::Saved(_)) => true,
            Some(Entry::Opened { is_dirty, .. }) => !is_dirty,
            _ => false,
        };
        if is_clean && lines.iter().all(|line| line.entry().is_some()) {
            remove_folder(folder);
            return None;
        }
        Some(Self {
            folder: folder.to_owned(),
            title,
            path: saved.next().or(opened),
            changed: fs::metadata(&file).and_then(|meta| meta.modified()).ok()?,
            bytes: count_bytes(folder),
            is_closed: folder.join(CLOSED).exists(),
            _lock: std::sync::Arc::new(lock),
        })
    }

    /// A picture of the work as it would come back, as a PNG file: in its pose, or at rest if finding that takes long.
    ///
    /// # Errors
    /// As [`Recovery::recover`].
    pub fn picture(&self) -> Result<Vec<u8>, SessionError> {
        let recovered = self.recover(&mut Warnings::default())?;
        let document = recovered.history.document();
        let is_small = document.mesh().n_vertices() <= MAX_POSED;
        let display = if is_small { Display::Posed } else { Display::Rest };
        let go_on = |_| ControlFlow::Continue(());
        let shown = Stage::default().show(document, &display, &go_on);
        let posed = shown.map(|frame| frame.positions.iter().map(|p| p.as_dvec3()).collect::<Vec<_>>());
        Ok(draw_thumbnail(&document.body, &posed.unwrap_or_else(|_| document.mesh().positions().to_vec())))
    }

    /// Do again what was done. What is damaged or cannot be done again is left out and named in a warning; everything else
    /// before and after it is there.
    ///
    /// # Errors
    /// If the base cannot be read.
    pub fn recover(&self, warnings: &mut Warnings) -> Result<Recovered, SessionError> {
        let read = |path: PathBuf| fs::read(&path).map_err(|error| FormatError::Io { path, error });
        let (lines, is_ordered) = in_order(read_lines(&read(self.folder.join(LINES))?));
        let base = base_of(&self.folder, &lines).ok_or_else(|| SessionError::Unusable {
            path: self.folder.clone(),
            cause: "its journal does not say where it begins".into(),
            remedy: "discard it",
        })?;
        let base = self.folder.join(base);
        let bytes = read(base.clone()).map_err(|error| self.without_base(error.into()))?;
        let document = read_project(&bytes, &base, warnings).map_err(|error| self.without_base(error))?;
        let mut replay = Replay { history: History::new(document), n_lines: 0, losses: Vec::new() };
        if let Some(Entry::Opened { sum: Some(sum), .. }) = lines.first().and_then(Line::entry)
            && *sum != sum_of(&bytes)
        {
            let what = "the file that the journal begins with was changed on the disk; look at the whole model before you save it";
            replay.losses.push(what.into());
        }
        if lines.is_empty() {
            replay.losses.push("the journal is empty; what was done since it began is lost".into());
        }
        if !is_ordered {
            replay
                .losses
                .push("lines of the journal were repeated or out of order; they were put in order".into());
        }
        lines.iter().for_each(|line| replay.follow(line));
        let (is_complete, n_more) = (replay.losses.is_empty(), replay.losses.len().saturating_sub(MAX_NAMED));
        replay.losses.into_iter().take(MAX_NAMED).for_each(|loss| warnings.push(loss));
        if n_more > 0 {
            warnings.push(format!("{n_more} more places of the journal could not be replayed"));
        }
        Ok(Recovered { history: replay.history, path: self.path.clone(), is_complete })
    }

    /// Why nothing can be done again, and what is left.
    fn without_base(&self, error: SessionError) -> SessionError {
        let saved = self.path.as_ref().filter(|path| path.is_file());
        let left = saved.map_or_else(String::new, |path| format!("; {} was saved last", path.display()));
        SessionError::Unusable {
            path: self.folder.clone(),
            cause: format!("what its journal begins with cannot be read ({error}){left}"),
            remedy: if saved.is_some() { "open that file" } else { "discard it" },
        }
    }

    /// Do away with it: it is not offered again.
    pub fn discard(self) {
        remove_folder(&self.folder);
    }
}

/// How many of the newest are kept within a limit of bytes.
fn n_kept(bytes: impl Iterator<Item = u64>, most: u64) -> usize {
    let mut sum = 0u64;
    let fits = |(at, bytes): &(usize, u64)| {
        sum = sum.saturating_add(*bytes);
        *at == 0 || sum <= most
    };
    bytes.enumerate().take_while(fits).count()
}

/// Bytes of the files of a folder of ours.
fn count_bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|meta| meta.len()).sum()
}

/// Name of the file that the lines go on from. If the line that names it is damaged, the others say which it is; if all are
/// damaged, it is the newest there is. None if the lines are of another version.
fn base_of(folder: &Path, lines: &[Line]) -> Option<PathBuf> {
    match lines.first().and_then(Line::entry) {
        Some(Entry::Opened { base, .. }) => Some(Path::new(base).file_name()?.into()),
        _ if lines.iter().all(|line| matches!(line, Line::Damaged)) => newest_base(folder),
        _ => lines.iter().find_map(Line::place).map(|place| base_name(place.generation).into()),
    }
}

fn newest_base(folder: &Path) -> Option<PathBuf> {
    let names = fs::read_dir(folder).ok()?.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let generation = |name: String| {
        let number: usize = name.strip_prefix("base-")?.split('.').next()?.parse().ok()?;
        (name == base_name(number)).then_some(number)
    };
    names.filter_map(generation).max().map(|number| base_name(number).into())
}

/// Lines in the order in which they were written, each once, and whether they were so already. Damaged ones stay behind the line
/// they follow.
fn in_order(lines: Vec<Line>) -> (Vec<Line>, bool) {
    let place = |line: &Line| line.place().map(|place| (place.generation, place.number));
    if lines.iter().filter_map(place).is_sorted_by(|a, b| a < b) {
        return (lines, true);
    }
    let mut groups = vec![(None, Vec::new())];
    for line in lines {
        match place(&line) {
            Some(at) if groups.iter().any(|(of, _)| *of == Some(at)) => {}
            Some(at) => groups.push((Some(at), vec![line])),
            None => groups.last_mut().into_iter().for_each(|(_, group)| group.push(Line::Damaged)),
        }
    }
    groups.sort_by_key(|(of, _)| *of);
    (groups.into_iter().flat_map(|(_, group)| group).collect(), false)
}

/// A journal that is done again.
struct Replay {
    history: History,
    /// Lines so far, as the journal counts them.
    n_lines: usize,
    /// What is missing.
    losses: Vec<String>,
}

impl Replay {
    fn follow(&mut self, line: &Line) {
        let number = self.n_lines;
        if let Some(place) = line.place() {
            self.note_gap(place.number);
            self.n_lines = place.number + 1;
        } else {
            self.n_lines += 1;
        }
        match line {
            Line::Damaged => self.lose(number, "is damaged; what it did is missing"),
            Line::Unknown(place) => {
                self.lose(number, "is of another version of Sinew; what it did is missing");
                self.go_to(place.map(|place| place.step));
            }
            Line::Whole(place, entry) => self.do_again(number, *place, entry),
        }
    }

    /// A damaged line may have been several, or a part of one.
    fn note_gap(&mut self, number: usize) {
        if number > self.n_lines {
            let text = match (self.n_lines + 1, number) {
                (first, last) if first == last => format!("line {first} of the journal is missing"),
                (first, last) => format!("lines {first} to {last} of the journal are missing"),
            };
            self.losses.push(text);
        }
    }

    fn lose(&mut self, number: usize, why: &str) {
        self.losses.push(format!("line {} of the journal {why}", number + 1));
    }

    /// The present step, counted from the base.
    fn step(&self) -> isize {
        (self.history.first() + self.history.at()) as isize
    }

    /// Be at a step: what should be there and is not was lost.
    fn go_to(&mut self, step: Option<isize>) -> bool {
        let Some(step) = step else { return true };
        if step < self.step() {
            let at = step.checked_sub_unsigned(self.history.first()).and_then(|at| usize::try_from(at).ok());
            return at.is_some_and(|at| self.history.jump(at));
        }
        while self.step() < step {
            self.history.put_lost_step();
        }
        true
    }

    fn do_again(&mut self, number: usize, place: Option<Place>, entry: &Entry) {
        let after = place.map(|place| place.step);
        // Where it began, had nothing been lost before.
        let before = after.map(|after| match entry {
            Entry::Done { merged: false, .. } => after - 1,
            Entry::Jump(steps) => after - steps,
            Entry::Forget => after + 1,
            Entry::Done { merged: true, .. } | Entry::Opened { .. } | Entry::Saved(_) => after,
        });
        let is_there = self.losses.is_empty() || self.go_to(before);
        let done = match entry {
            Entry::Done { merged, command } => self.history.apply_recorded(command, *merged),
            Entry::Jump(0) | Entry::Opened { .. } | Entry::Saved(_) => Ok(()),
            Entry::Jump(steps) => {
                let there = self.history.at().saturating_add_signed(*steps);
                let is_known = there == self.history.at() || self.history.jump(there);
                let cause = "it goes to a step that the journal does not hold".into();
                if is_known { Ok(()) } else { Err(SessionError::Value { what: "undo", cause }) }
            }
            Entry::Forget => {
                self.history.forget_last();
                Ok(())
            }
        };
        if let (Entry::Done { command, .. }, Err(error)) = (entry, &done) {
            self.lose(number, &format!("({}) could not be replayed: {error}", command.label()));
            self.go_to(after);
        } else if let Err(error) = done {
            self.lose(number, &format!("could not be replayed: {error}"));
        } else if !is_there {
            self.lose(number, "was done from another step than before, because those between are missing");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_work_stays_and_the_oldest_beyond_the_quota_goes() {
        let kept = |bytes: &[u64]| n_kept(bytes.iter().copied(), 100);
        assert_eq!([kept(&[]), kept(&[500]), kept(&[500, 1]), kept(&[60, 40, 1])], [0, 1, 1, 2]);
        assert_eq!(kept(&[1; 99]), 99);
    }
}
