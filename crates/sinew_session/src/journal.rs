//! Work written to disk while it is done, so that a crash loses at most the last moment.
//!
//! A folder for each document: `base-N.sinew.glb`, the document as it was opened, written before the first change;
//! `journal.jsonl`, whose first line names the base and whose others are the steps since (see `record`); `lock`, held while the
//! document is open; `closed`, if the user closed it without saving; `discarded`, if it is to be removed. A line is small
//! whatever the size of the mesh, so nothing waits for a save.

use crate::{
    Command, Document, SessionError,
    record::{Entry, Place, sum_of, write_line},
    write_project,
};
use sinew_formats::{FormatError, write_atomic};
use sinew_geom::Warnings;
use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Steps reach the disk after this time at the latest; a drag in progress counts once in it.
const FLUSH_AFTER: Duration = Duration::from_millis(700);
/// Bytes of a journal beyond which it starts again from the current state.
const MAX_BYTES: u64 = 64 << 20;

pub(crate) const LINES: &str = "journal.jsonl";
pub(crate) const LOCK: &str = "lock";
/// Marks work that the user closed without saving.
pub(crate) const CLOSED: &str = "closed";
/// Marks work that the user discarded or saved, should its folder outlive that.
pub(crate) const DISCARDED: &str = "discarded";

enum Message {
    Entry(Entry, Box<Document>),
    Flush(Sender<()>),
}

/// Writes down what happens to one document, on a thread of its own: nobody else waits for the disk.
#[derive(Debug)]
pub(crate) struct Journal {
    sender: Option<Sender<Message>>,
    /// Gives the folder back when it ends, still locked.
    thread: Option<JoinHandle<Option<Home>>>,
    fault: Fault,
}

type Fault = Arc<Mutex<Option<String>>>;

/// The folder of a document.
#[derive(Debug)]
struct Home {
    folder: PathBuf,
    // Closing the file gives up the lock.
    _lock: File,
}

/// Folders that are tried: whoever looks for unsaved work may lock a new one before it is locked here.
const ATTEMPTS: usize = 5;

impl Home {
    fn new(root: &Path) -> Result<Self, FormatError> {
        let mut last: io::Error = io::ErrorKind::WouldBlock.into();
        for _ in 0..ATTEMPTS {
            let folder = new_folder(root)?;
            let lock = File::create(folder.join(LOCK));
            match lock.and_then(|lock| lock.try_lock().map(|()| lock).map_err(io::Error::from)) {
                Ok(lock) => return Ok(Self { folder, _lock: lock }),
                Err(error) => last = error,
            }
        }
        Err(FormatError::Io { path: root.to_owned(), error: last })
    }
}

/// A journal that came to its end. Letting go of it waits for the disk: do so without a lock.
#[derive(Debug, Default)]
pub struct EndedJournal {
    journal: Option<Journal>,
    /// Whether there is something in it that was not saved.
    is_kept: bool,
    /// Whether the user closed the document; else the program ended.
    is_closed: bool,
}

impl EndedJournal {
    pub(crate) fn new(journal: Option<Journal>, is_kept: bool, is_closed: bool) -> Self {
        Self { journal, is_kept, is_closed }
    }
}

impl Drop for EndedJournal {
    fn drop(&mut self) {
        let Some(home) = self.journal.take().and_then(|mut journal| journal.join()) else { return };
        if !self.is_kept {
            remove_folder(&home.folder);
        } else if self.is_closed {
            // Without the mark it is offered once more, which does no harm.
            let _ = fs::write(home.folder.join(CLOSED), b"");
        }
    }
}

/// Work on its way to the disk.
#[derive(Debug)]
pub struct Flushing(Option<(Receiver<()>, Fault)>);

impl Flushing {
    pub(crate) fn of(journal: Option<&Journal>) -> Self {
        Self(journal.map(|journal| {
            let (done, wait) = channel();
            journal.send(Message::Flush(done));
            (wait, journal.fault.clone())
        }))
    }

    /// Wait until it is there; false if it cannot be kept there.
    pub fn wait(self) -> bool {
        self.0.is_some_and(|(wait, fault)| wait.recv().is_ok() && read_fault(&fault).is_none())
    }
}

fn read_fault(fault: &Fault) -> Option<String> {
    fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Journal {
    /// Begin a journal of a document below a folder.
    pub fn begin(root: &Path, document: &Document, path: Option<&Path>) -> Result<Self, SessionError> {
        let (sender, receiver) = channel();
        let fault = Arc::new(Mutex::new(None));
        let writer = Writer {
            root: root.to_owned(),
            home: None,
            base: document.clone(),
            path: path.map(Path::to_owned),
            is_dirty: false,
            file: None,
            generation: 0,
            n_lines: 0,
            n_bytes: 0,
            n_steps: 0,
            reach: [0, 0],
            fault: fault.clone(),
        };
        let thread = std::thread::Builder::new()
            .name("journal".into())
            .spawn(move || writer.run(&receiver))
            .map_err(|error| FormatError::Io { path: root.to_owned(), error })?;
        Ok(Self { sender: Some(sender), thread: Some(thread), fault })
    }

    /// Write a line down soon; `document` is the state after it.
    pub fn push(&self, entry: Entry, document: &Document) {
        self.send(Message::Entry(entry, Box::new(document.clone())));
    }

    /// Why the work is not safe on disk, if it is not.
    pub fn fault(&self) -> Option<String> {
        read_fault(&self.fault)
    }

    fn send(&self, message: Message) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(message);
        }
    }

    /// Finish writing.
    fn join(&mut self) -> Option<Home> {
        self.sender = None;
        self.thread.take().and_then(|thread| thread.join().ok().flatten())
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.join();
    }
}

/// Remove the folder of a document. What cannot be removed now is marked, so that it is not offered, and tried again later.
pub(crate) fn remove_folder(folder: &Path) {
    let _ = fs::write(folder.join(DISCARDED), b"");
    let _ = fs::remove_dir_all(folder);
}

/// A folder no other document has.
fn new_folder(root: &Path) -> Result<PathBuf, FormatError> {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    for attempt in 0..1000 {
        let folder = root.join(format!("{}-{}-{attempt}", now.as_millis(), std::process::id()));
        match fs::create_dir_all(root).and_then(|()| fs::create_dir(&folder)) {
            Ok(()) => return Ok(folder),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(FormatError::Io { path: folder, error }),
        }
    }
    Err(FormatError::Io { path: root.to_owned(), error: io::ErrorKind::AlreadyExists.into() })
}

struct Writer {
    root: PathBuf,
    /// None until it could be made.
    home: Option<Home>,
    base: Document,
    path: Option<PathBuf>,
    is_dirty: bool,
    file: Option<File>,
    generation: usize,
    /// Lines since the base.
    n_lines: usize,
    n_bytes: u64,
    /// Steps from the base to the current state.
    n_steps: isize,
    /// The furthest step that a replay of the lines could go to, now and before the last step was done.
    reach: [isize; 2],
    fault: Fault,
}

impl Writer {
    fn run(mut self, receiver: &Receiver<Message>) -> Option<Home> {
        // At once, so that it is known early if nothing can be kept.
        let made = self.folder().map(|_| ());
        self.note(made.err().map(SessionError::from));
        while let Ok(first) = receiver.recv() {
            let (mut pending, mut waiting) = (Vec::new(), Vec::new());
            let until = Instant::now() + FLUSH_AFTER;
            let mut next = Ok(first);
            while let Ok(message) = next {
                match message {
                    Message::Entry(entry, document) => add(&mut pending, entry, *document),
                    Message::Flush(done) => {
                        waiting.push(done);
                        break;
                    }
                }
                next = receiver.recv_timeout(until.saturating_duration_since(Instant::now()));
            }
            let last = pending.last().map(|(_, document)| document.clone());
            let written = self.write(pending);
            // What could not be written is in the current state, from which the next try starts again.
            if let (Err(_), Some(last)) = (&written, last) {
                (self.base, self.file) = (last, None);
            }
            // Without a folder nothing was written, even if there was nothing to write.
            let made = self.folder().map(|_| ()).map_err(SessionError::from);
            self.note(written.and(made).err());
            waiting.into_iter().for_each(|done| {
                let _ = done.send(());
            });
        }
        self.home
    }

    fn note(&self, error: Option<SessionError>) {
        let fault = error.map(|error| format!("unsaved work is not kept: {error}"));
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
    }

    /// The folder, which is made if there is none.
    fn folder(&mut self) -> Result<PathBuf, FormatError> {
        let home = match self.home.take() {
            Some(home) => home,
            None => Home::new(&self.root)?,
        };
        Ok(self.home.insert(home).folder.clone())
    }

    fn write(&mut self, pending: Vec<(Entry, Document)>) -> Result<(), SessionError> {
        let Some((_, last)) = pending.last() else { return Ok(()) };
        let last = last.clone();
        if self.file.is_none() {
            self.begin()?;
        }
        let mut text = Vec::new();
        let mut is_replayable = true;
        for (entry, _) in &pending {
            self.follow(entry);
            is_replayable &= (0..=self.reach[0]).contains(&self.n_steps);
            self.write_line(entry, &mut text)?;
        }
        self.n_bytes += text.len() as u64;
        // Steps that the lines do not hold, before the base or undone before it, cannot be gone to by a replay.
        if self.n_bytes > MAX_BYTES || !is_replayable {
            self.base = last;
            return self.begin();
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        let written = file.write_all(&text).and_then(|()| file.sync_data());
        written.map_err(|error| self.fail(LINES, error).into())
    }

    fn write_line(&mut self, entry: &Entry, text: &mut Vec<u8>) -> Result<(), SessionError> {
        let place = Place { generation: self.generation, number: self.n_lines, step: self.n_steps };
        write_line(place, entry, text).map_err(|error| self.fail(LINES, error.into()))?;
        self.n_lines += 1;
        Ok(())
    }

    /// Keep account of where the lines lead.
    fn follow(&mut self, entry: &Entry) {
        match entry {
            Entry::Done { merged: true, .. } => self.reach[0] = self.n_steps,
            Entry::Done { merged: false, .. } => {
                self.n_steps += 1;
                self.reach = [self.n_steps, self.reach[0]];
            }
            Entry::Jump(steps) => self.n_steps += steps,
            Entry::Forget => {
                self.n_steps -= 1;
                // What was undone before comes back.
                self.reach = [self.reach[1]; 2];
            }
            Entry::Opened { .. } | Entry::Saved(_) => {}
        }
        self.is_dirty = !matches!(entry, Entry::Saved(_));
        if let Entry::Saved(path) = entry {
            self.path = Some(path.clone());
        }
    }

    /// Write the base, then lines that begin with it, then do away with the base before. Whenever this is cut off,
    /// the journal that is there names a base that is there.
    fn begin(&mut self) -> Result<(), SessionError> {
        let folder = self.folder()?;
        let old = folder.join(base_name(self.generation));
        self.generation += 1;
        let base = base_name(self.generation);
        let bytes = write_project(&self.base, &mut Warnings::default())?;
        write_atomic(&folder.join(&base), &bytes)?;
        let (name, path, is_dirty) = (self.base.name.clone(), self.path.clone(), self.is_dirty);
        (self.n_lines, self.n_steps, self.reach) = (0, 0, [0, 0]);
        let mut head = Vec::new();
        let sum = Some(sum_of(&bytes));
        self.write_line(&Entry::Opened { base, name, path, is_dirty, sum }, &mut head)?;
        let lines = folder.join(LINES);
        write_atomic(&lines, &head)?;
        let file = OpenOptions::new().append(true).open(&lines).map_err(|error| self.fail(LINES, error))?;
        (self.file, self.n_bytes) = (Some(file), head.len() as u64);
        // There is none the first time.
        let _ = fs::remove_file(old);
        Ok(())
    }

    fn fail(&self, file: &str, error: io::Error) -> FormatError {
        let folder = self.home.as_ref().map_or(&self.root, |home| &home.folder);
        FormatError::Io { path: folder.join(file), error }
    }
}

/// Name of the base of a generation.
pub(crate) fn base_name(generation: usize) -> String {
    format!("base-{generation}.sinew.glb")
}

/// Add a line. Of a drag in progress, whose every moment replaces the last, only the newest is worth a line.
fn add(pending: &mut Vec<(Entry, Document)>, entry: Entry, document: Document) {
    if let (Entry::Done { merged: true, command: Command::SetPose { .. } }, Some((last, state))) =
        (&entry, pending.last_mut())
        && let Entry::Done { command: Command::SetPose { moves }, .. } = last
        && let Entry::Done { command: Command::SetPose { moves: newest }, .. } = entry
    {
        *moves = newest;
        *state = document;
        return;
    }
    pending.push((entry, document));
}
