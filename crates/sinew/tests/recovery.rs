//! Sessions that are killed and journals that are damaged, as often as asked: nothing is torn, at most a second is lost, and every
//! loss is reported. `SINEW_KILLS` and `SINEW_DAMAGES` say how often; `./test long` asks for a thousand of each.

use sinew::{
    geom::{
        Warnings,
        sample::{Sample, build_character},
    },
    session::{Command, Document, Recovery, Session, open_file},
};
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    process::{Command as Process, Stdio},
    time::{Duration, Instant},
};

/// What may be lost, in milliseconds.
const MAX_LOST_MS: u64 = 1000;
/// Processes that work at the same time.
const N_WORKERS: usize = 4;

/// Numbers that look random, the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

fn times(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().map_or(usual, |text| text.parse().unwrap())
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew-recovery-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn small() -> Document {
    Document::new(build_character(Sample::Sack, 1_000).unwrap())
}

/// Adds one handle after the other, each a step. Their names say the number and the millisecond.
fn handle(number: usize, ms: u64) -> Command {
    Command::AddHandle { name: format!("{number} at {ms}") }
}

/// Numbers and milliseconds of the handles that the worker added, in their order.
fn steps(document: &Document) -> Vec<(usize, u64)> {
    let read = |name: &str| {
        let (number, ms) = name.split_once(" at ")?;
        Some((number.parse().ok()?, ms.parse().ok()?))
    };
    document.handles.iter().filter_map(|handle| read(&handle.name)).collect()
}

/// Nothing is missing between the first step and the last.
fn assert_unbroken(steps: &[(usize, u64)], what: &str) {
    assert!(steps.iter().enumerate().all(|(at, (number, _))| at == *number), "{what}: {steps:?}");
}

/// The process that is killed: it works without end, saves now and then, and writes down how far it is and for how long the
/// machine kept it waiting.
#[test]
fn work_until_killed() {
    let Some(root) = std::env::var_os("SINEW_TEST_KILL_AT") else { return };
    let root = PathBuf::from(root);
    let mut session = Session::new(small(), None, Some(root.join("journals")));
    let (begun, mut stall) = (Instant::now(), 0);
    for number in 0.. {
        let now = begun.elapsed().as_millis() as u64;
        session.apply(&handle(number, now), None).unwrap();
        if number % 23 == 7 {
            session.save(&root.join("project.sinew.glb"), &mut Warnings::default()).unwrap();
        }
        std::fs::write(root.join("clock.new"), format!("{now} {stall}")).unwrap();
        std::fs::rename(root.join("clock.new"), root.join("clock")).unwrap();
        let pause = Instant::now();
        std::thread::sleep(Duration::from_millis(5));
        stall = stall.max(pause.elapsed().as_millis() as u64);
    }
}

/// The newest step that was done, in milliseconds, and the longest time the process was kept waiting.
fn clock(root: &Path) -> Option<(u64, u64)> {
    let text = std::fs::read_to_string(root.join("clock")).ok()?;
    let (now, stall) = text.split_once(' ')?;
    Some((now.parse().ok()?, stall.parse().ok()?))
}

/// Start a worker, kill it after a while, and recover its work. Returns what was lost, in milliseconds.
fn kill_one(root: &Path, live_ms: u64) -> u64 {
    let mut child = Process::new(std::env::current_exe().unwrap())
        .args(["recovery::work_until_killed", "--exact", "--nocapture"])
        .env("SINEW_TEST_KILL_AT", root)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while clock(root).is_none_or(|(now, _)| now < live_ms) {
        assert!(child.try_wait().unwrap().is_none(), "the worker ended by itself");
        std::thread::sleep(Duration::from_millis(3));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (last, stall) = clock(root).unwrap();
    let project = root.join("project.sinew.glb");
    if project.exists() {
        let mut warnings = Warnings::default();
        let saved = open_file(&project, &mut |_| ControlFlow::Continue(()), &mut warnings).unwrap();
        assert_unbroken(&steps(&saved), "saved");
        assert_eq!(warnings.messages, [""; 0]);
    }
    let found = Recovery::find_all(&root.join("journals"));
    let Some(work) = found.first() else {
        // Nothing was written yet, or everything was saved the moment before.
        return if project.exists() { 0 } else { last.saturating_sub(stall) };
    };
    assert_eq!(found.len(), 1);
    let mut warnings = Warnings::default();
    let recovered = work.recover(&mut warnings).unwrap();
    assert_eq!(recovered.is_complete, warnings.messages.is_empty(), "{:?}", warnings.messages);
    let done = steps(recovered.history.document());
    assert_unbroken(&done, "recovered");
    let named = done.last().map_or(0, |(_, ms)| *ms);
    // Time in which the machine stalled is not counted.
    last.saturating_sub(named + stall)
}

#[test]
fn kills_tear_nothing_and_lose_a_second_at_most() {
    let n_kills = times("SINEW_KILLS", 12);
    let root = folder("kills");
    let worker = |worker: usize| {
        let mut random = Random(worker as u64 + 1);
        (worker..n_kills)
            .step_by(N_WORKERS)
            .map(|round| {
                let root = root.join(round.to_string());
                std::fs::create_dir(&root).unwrap();
                let lost = kill_one(&root, 10 + random.below(1500) as u64);
                assert!(lost <= MAX_LOST_MS, "kill {round}: {lost} ms were lost");
                std::fs::remove_dir_all(root).unwrap();
                lost
            })
            .max()
    };
    let worst = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..N_WORKERS).map(|at| scope.spawn(move || worker(at))).collect();
        workers.into_iter().filter_map(|worker| worker.join().unwrap()).max()
    });
    println!("{n_kills} kills: {} ms lost at most", worst.unwrap_or(0));
    std::fs::remove_dir_all(root).unwrap();
}

/// Damage a text, and say how many of its lines that concerns.
fn damage(lines: &[&[u8]], random: &mut Random) -> (Vec<u8>, usize) {
    let mut text: Vec<u8> = lines.concat();
    let (at, length) = (random.below(text.len()), 1 + random.below(400));
    let end = (at + length).min(text.len());
    let n_touched = 2 + text[at..end].iter().filter(|byte| **byte == b'\n').count();
    match random.below(6) {
        0 => text[at..end].fill(0),
        1 => text[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
        2 => drop(text.drain(at..end)),
        3 => drop(text.splice(at..at, b"garbage\n\0{}\n".iter().copied())),
        4 => {
            let n_lost = lines.len() - text[..at].iter().filter(|byte| **byte == b'\n').count();
            text.truncate(at);
            return (text, n_lost);
        }
        _ => {
            let copied = lines[random.below(lines.len())].to_vec();
            let start: usize = lines[..random.below(lines.len())].iter().map(|line| line.len()).sum();
            drop(text.splice(start..start, copied));
        }
    }
    (text, n_touched)
}

#[test]
fn every_loss_of_a_damaged_journal_is_reported() {
    let root = folder("damages");
    let mut session = Session::new(small(), None, Some(root.clone()));
    for number in 0..40 {
        session.apply(&handle(number, 0), None).unwrap();
    }
    assert!(session.flush());
    let wanted = steps(session.document());
    drop(session);
    let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let file = of.join("journal.jsonl");
    let text = std::fs::read(&file).unwrap();
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let mut random = Random(7);
    for round in 0..times("SINEW_DAMAGES", 200) {
        let (damaged, n_touched) = damage(&lines, &mut random);
        std::fs::write(&file, &damaged).unwrap();
        let found = Recovery::find_all(&root);
        // A journal without a single line that is whole holds nothing, and is left alone.
        let Some(work) = found.first() else {
            assert!(n_touched >= lines.len() && of.exists(), "damage {round}");
            continue;
        };
        let mut warnings = Warnings::default();
        let recovered = work.recover(&mut warnings).unwrap();
        let there = steps(recovered.history.document());
        assert_eq!(recovered.is_complete, warnings.messages.is_empty(), "damage {round}");
        assert!(
            !recovered.is_complete || there == wanted || is_cut(&damaged, &text),
            "damage {round}: {there:?}"
        );
        let missing = wanted.iter().filter(|step| !there.contains(step)).count();
        assert!(missing <= n_touched, "damage {round}: {missing} missing, {n_touched} lines touched");
    }
    std::fs::remove_dir_all(root).unwrap();
}

/// What the journal begins with is as much part of the work as its lines.
#[test]
fn a_damaged_base_is_reported_and_the_file_saved_last_is_named() {
    let root = folder("bases");
    let saved = root.with_extension("saved.sinew.glb");
    let mut session = Session::new(small(), None, Some(root.clone()));
    session.apply(&handle(0, 0), None).unwrap();
    session.save(&saved, &mut Warnings::default()).unwrap();
    session.apply(&handle(1, 0), None).unwrap();
    assert!(session.flush());
    drop(session);
    let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let is_base = |path: &PathBuf| path.to_string_lossy().ends_with(".sinew.glb");
    let base = std::fs::read_dir(&of).unwrap().map(|entry| entry.unwrap().path()).find(is_base).unwrap();
    let whole = std::fs::read(&base).unwrap();
    let recover = || {
        let mut warnings = Warnings::default();
        let recovered = Recovery::find_all(&root)[0].recover(&mut warnings);
        recovered.map(|recovered| (recovered.is_complete, warnings.messages))
    };
    assert_eq!(recover().unwrap(), (true, Vec::new()));
    // A bit of a coordinate, which no reader could notice.
    let mut changed = whole.clone();
    *changed.last_mut().unwrap() ^= 1;
    std::fs::write(&base, changed).unwrap();
    let (is_complete, said) = recover().unwrap();
    assert!(!is_complete && said[0].contains("changed on the disk"), "{said:?}");
    std::fs::write(&base, &whole[..whole.len() / 2]).unwrap();
    let said = recover().unwrap_err().to_string();
    assert!(said.contains("saved.sinew.glb was saved last") && said.contains("open that file"), "{said}");
    std::fs::remove_file(&base).unwrap();
    assert!(recover().unwrap_err().to_string().contains("was saved last"));
    std::fs::remove_dir_all(root).unwrap();
    std::fs::remove_file(saved).unwrap();
}

/// Cut off between two lines: it cannot be known that there was more.
fn is_cut(damaged: &[u8], text: &[u8]) -> bool {
    text.starts_with(damaged) && damaged.ends_with(b"\n")
}
