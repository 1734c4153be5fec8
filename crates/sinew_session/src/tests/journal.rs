//! Killed, recovered, saved late.

use super::*;

/// The other side of the next test: works without end in a process of its own, to be killed.
#[test]
fn work_until_killed() {
    let Some(root) = std::env::var_os("SINEW_TEST_KILL") else { return };
    let root = PathBuf::from(root);
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "worked on".into() }, None).unwrap();
    let begun = std::time::Instant::now();
    for step in 0.. {
        let now = begun.elapsed().as_millis();
        session.drag(Gesture(step / 200), turn("elbow.L", (step % 200) as f64)).unwrap();
        if step % 37 == 0 {
            session.save(&root.join("project.sinew.glb"), &mut Warnings::default()).unwrap();
            session.apply(&Command::Rename { name: format!("worked on {now}") }, None).unwrap();
        }
        // When it was done, for the other side to compare with.
        std::fs::write(root.join("clock.new"), now.to_string()).unwrap();
        std::fs::rename(root.join("clock.new"), root.join("clock")).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killing_it_loses_a_moment_at_most() {
    for (round, wait_ms) in [1500, 3100, 8000].into_iter().enumerate() {
        let root = folder(&format!("kill-{round}"));
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["tests::journal::work_until_killed", "--exact", "--nocapture"])
            .env("SINEW_TEST_KILL", &root)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Not before it has begun: a slow machine must not make this pass.
        let clock =
            || std::fs::read_to_string(root.join("clock")).ok().and_then(|text| text.parse::<u64>().ok());
        while clock().is_none_or(|ms| ms < 50) {
            assert!(child.try_wait().unwrap().is_none(), "the child ended by itself");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(wait_ms));
        child.kill().unwrap();
        child.wait().unwrap();
        let last = clock().unwrap();
        // The file is whole whenever it was being written.
        let mut warnings = Warnings::default();
        open_file(&root.join("project.sinew.glb"), &mut |_| ControlFlow::Continue(()), &mut warnings)
            .unwrap();
        let found = Recovery::find_all(&root.join("journals"));
        assert_eq!(found.len(), 1);
        assert!(found[0].title.starts_with("biped") && found[0].path.is_some());
        let recovered = found[0].recover(&mut warnings).unwrap();
        assert_eq!(warnings.messages, [""; 0]);
        let document = recovered.history.document();
        // Every drag turns the same handle further, so that the pose is one turn however many there were.
        assert!(matches!(document.pose.as_slice(), [Move::Rotate { .. }]), "{:?}", document.pose);
        assert!(recovered.history.len() >= 2);
        // Names tell the millisecond. Some time passes between two of them, too.
        let named: u64 = document.name.trim_start_matches("worked on").trim().parse().unwrap();
        assert!(last - named < 5000, "{last} ms had passed, {named} ms were found");
        // No other process may open it as long as we hold it.
        assert!(Recovery::find_all(&root.join("journals")).is_empty());
        // Taken up, it is a session that can be recovered again.
        let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
        session.take_up(recovered);
        assert!(session.is_dirty());
        session.flush();
        drop(session);
        found.into_iter().for_each(Recovery::discard);
        assert_eq!(Recovery::find_all(&root.join("journals")).len(), 1);
        std::fs::remove_dir_all(root).unwrap();
    }
}

#[test]
fn a_long_journal_begins_again_and_going_back_beyond_it_is_kept() {
    let root = folder("again");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rename { name: "first".into() }, None).unwrap();
    session.apply(&Command::Rename { name: "second".into() }, None).unwrap();
    session.flush();
    // Twenty thousand vertices per line: more than the journal holds.
    let vertices: Vec<u32> = (0..1000).cycle().take(400_000).collect();
    for stroke in 0..40 {
        let weight = if stroke % 2 == 0 { 1.0 } else { 0.5 };
        let paint =
            Command::Paint { handle: "all".into(), op: PaintOp::Add, vertices: vertices.clone(), weight };
        session.apply(&paint, None).unwrap();
        session.flush();
    }
    let n_bytes = |root: &Path| -> u64 {
        let folder = std::fs::read_dir(root).unwrap().next().unwrap().unwrap().path();
        std::fs::metadata(folder.join("journal.jsonl")).unwrap().len()
    };
    assert!(n_bytes(&root) < 64 << 20);
    session.jump(1);
    session.flush();
    drop(session);
    let found = Recovery::find_all(&root);
    let recovered = found[0].recover(&mut Warnings::default()).unwrap();
    assert_eq!(recovered.history.document().name, "first");
    drop(found);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn saved_work_is_not_offered_for_recovery() {
    let root = folder("clean");
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
    session.save(&root.join("x.sinew.glb"), &mut Warnings::default()).unwrap();
    drop(session);
    assert!(Recovery::find_all(&root.join("journals")).is_empty());
    // Unsaved work on a document stays when another is opened.
    let mut session = Session::new(BIPED.clone(), None, Some(root.join("journals")));
    session.apply(&Command::Rename { name: "y".into() }, None).unwrap();
    session.open(BIPED.clone(), None);
    let found = Recovery::find_all(&root.join("journals"));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].recover(&mut Warnings::default()).unwrap().history.document().name, "y");
    found.into_iter().for_each(Recovery::discard);
    assert!(Recovery::find_all(&root.join("journals")).is_empty());
    std::fs::remove_dir_all(root).unwrap();
}

/// Undone and done again across a journal that does not hold those steps.
#[test]
fn recovered_work_can_be_undone_done_again_and_recovered() {
    let root = folder("again");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    for name in ["one", "two", "three"] {
        session.apply(&Command::Rename { name: name.into() }, None).unwrap();
    }
    assert!(session.flush());
    drop(session);
    type Work<'a> = (&'a dyn Fn(&mut Session), &'a str);
    let rename = |session: &mut Session, name: &str| {
        session.apply(&Command::Rename { name: name.into() }, None).unwrap();
    };
    let undone_and_done = |session: &mut Session| {
        session.undo();
        session.flush();
        session.redo();
    };
    let undone_and_renamed = |session: &mut Session| {
        rename(session, "four");
        session.undo();
        rename(session, "five");
        rename(session, "six");
        session.undo();
    };
    let to_the_start = |session: &mut Session| {
        session.jump(0);
        session.flush();
        session.redo();
        session.undo();
    };
    let work: [Work; 3] =
        [(&undone_and_done, "three"), (&undone_and_renamed, "five"), (&to_the_start, "three")];
    for (doing, name) in work {
        let found = Recovery::find_all(&root);
        let recovered = found[0].recover(&mut Warnings::default()).unwrap();
        assert!(recovered.is_complete);
        let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
        session.take_up(recovered);
        assert!(session.flush());
        found.into_iter().for_each(Recovery::discard);
        doing(&mut session);
        assert_eq!(session.document().name, name);
        assert!(session.flush());
        drop(session);
        let found = Recovery::find_all(&root);
        let mut warnings = Warnings::default();
        assert_eq!(found[0].recover(&mut warnings).unwrap().history.document().name, name);
        assert_eq!(warnings.messages, [""; 0]);
    }
    std::fs::remove_dir_all(root).unwrap();
}

/// A save that ends after more work was done.
#[test]
fn a_late_save_marks_what_was_saved_and_nothing_else() {
    let mut session = Session::new(BIPED.clone(), None, None);
    let rename = |name: &str| Command::Rename { name: name.into() };
    session.apply(&rename("saved"), None).unwrap();
    let saved = session.document().clone();
    session.undo();
    session.apply(&rename("other"), None).unwrap();
    assert!(session.mark_saved(&saved, Path::new("a.sinew.glb")));
    assert!(session.is_dirty() && session.path().is_some());
    // The same place in the history, but not the same state.
    session.undo();
    assert!(session.is_dirty());
    session.open(BIPED.clone(), None);
    let another = Document::new(build_character(Sample::Sack, 1_000).unwrap());
    session.open(another, None);
    assert!(!session.mark_saved(&saved, Path::new("a.sinew.glb")));
    assert!(session.path().is_none() && !session.is_dirty());
}

#[test]
fn a_journal_that_is_not_understood_is_left_alone() {
    let root = folder("later");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
    assert!(session.flush());
    drop(session);
    let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let lines = of.join("journal.jsonl");
    let text = std::fs::read_to_string(&lines).unwrap();
    std::fs::write(
        &lines,
        format!("{text}{{\"done\":{{\"merged\":false,\"command\":{{\"dance\":{{}}}}}}}}\n"),
    )
    .unwrap();
    let found = Recovery::find_all(&root);
    assert!(!found[0].recover(&mut Warnings::default()).unwrap().is_complete);
    drop(found);
    std::fs::write(&lines, "{\"begun\":1}\n").unwrap();
    assert!(Recovery::find_all(&root).is_empty() && of.exists());
    std::fs::remove_dir_all(root).unwrap();
}

/// Where no line is left, the work is still offered as it was when the journal began, and the loss is named.
#[test]
fn a_journal_without_a_whole_line_gives_its_base_back() {
    for text in [&b""[..], &[0; 4096], b"\xff\xfe scrambled\nand more\n"] {
        let root = folder(&format!("lost-{}", text.len()));
        let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
        session.apply(&Command::Rename { name: "x".into() }, None).unwrap();
        assert!(session.flush());
        drop(session);
        let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
        std::fs::write(of.join("journal.jsonl"), text).unwrap();
        let found = Recovery::find_all(&root);
        let mut warnings = Warnings::default();
        let recovered = found[0].recover(&mut warnings).unwrap();
        assert!(!recovered.is_complete && !warnings.messages.is_empty());
        // Files have single precision, and the faces of one material one after the other.
        let (mesh, own) = (recovered.history.document().mesh(), BIPED.mesh());
        assert_eq!((mesh.n_vertices(), mesh.faces().len()), (own.n_vertices(), own.faces().len()));
        assert!((mesh.diagonal() - own.diagonal()).abs() < 1e-5);
        drop(found);
        std::fs::remove_dir_all(root).unwrap();
    }
}

/// Whatever bit of a journal is changed: the place is named, and every step before and after it is there.
#[test]
fn a_damaged_place_is_named_and_everything_else_is_done_again() {
    let root = folder("damaged");
    let small = Document::new(build_character(Sample::Sack, 1_000).unwrap());
    let mut session = Session::new(small.clone(), None, Some(root.clone()));
    let add = |n: usize| Command::AddHandle { name: format!("handle {n}") };
    for n in 0..20 {
        session.apply(&add(n), None).unwrap();
    }
    session.undo();
    session.undo();
    session.apply(&add(30), None).unwrap();
    assert!(session.flush());
    let names = |document: &Document| -> Vec<String> {
        document.handles.iter().map(|handle| handle.name.clone()).collect()
    };
    let wanted = names(session.document());
    drop(session);
    let of = std::fs::read_dir(&root).unwrap().next().unwrap().unwrap().path();
    let file = of.join("journal.jsonl");
    let text = std::fs::read(&file).unwrap();
    let n_lines = text.split(|&byte| byte == b'\n').count() - 1;
    let check = |damaged: &[u8], what: &str| {
        std::fs::write(&file, damaged).unwrap();
        let found = Recovery::find_all(&root);
        assert_eq!(found.len(), 1, "{what}");
        let mut warnings = Warnings::default();
        let recovered = found[0].recover(&mut warnings).unwrap();
        let there = names(recovered.history.document());
        let missing = wanted.iter().filter(|name| !there.contains(name)).count();
        assert_eq!(recovered.is_complete, warnings.messages.is_empty(), "{what}");
        assert!(!recovered.is_complete || there == wanted, "{what}: {there:?}");
        (missing, there.len(), recovered.history.at(), warnings.messages)
    };
    assert_eq!(check(&text, "whole"), (0, wanted.len(), 19, Vec::new()));
    // A thousand bits all over the file.
    let mut n_silent = 0;
    for k in 0..1000 {
        let bit = (k * 7919 * 31) % (8 * text.len());
        let mut damaged = text.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let (missing, n, at, messages) = check(&damaged, &format!("bit {bit}"));
        n_silent += usize::from(messages.is_empty());
        // A new line in place of another byte, or none at an end, takes one neighbour along.
        assert!(
            missing <= 2 && n >= wanted.len() - 2 && at >= 18,
            "bit {bit}: {missing} {n} {at} {messages:?}"
        );
    }
    // Letters of a checksum in the other case, and the last end of a line, which nothing depends on.
    assert!(n_silent < 60, "{n_silent}");
    // Every line gone in turn, the one that names the base too.
    let lines: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').collect();
    for gone in 0..n_lines - 1 {
        let rest: Vec<u8> = [&lines[..gone], &lines[gone + 1..]].concat().concat();
        let (missing, ..) = check(&rest, &format!("line {gone}"));
        assert!(missing <= 1, "line {gone}: {missing}");
    }
    // Cut off within the last line.
    assert_eq!(check(&text[..text.len() - 9], "cut off").3.len(), 1);
    std::fs::remove_dir_all(root).unwrap();
}

#[test]
fn closed_work_is_listed_and_discarded_work_is_not() {
    let root = folder("closed");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    session.apply(&Command::Rename { name: "closed".into() }, None).unwrap();
    session.open(BIPED.clone(), None);
    session.apply(&Command::Rename { name: "lost".into() }, None).unwrap();
    drop(session);
    let found = Recovery::find_all(&root);
    let listed: Vec<(&str, bool)> = found.iter().map(|work| (work.title.as_str(), work.is_closed)).collect();
    assert_eq!(listed.len(), 2);
    assert!(listed.iter().filter(|(_, is_closed)| *is_closed).count() == 1 && found[0].bytes > 1000);
    let left = found[1].folder.clone();
    drop(found);
    // A folder that could not be removed.
    std::fs::write(left.join("discarded"), b"").unwrap();
    assert_eq!(Recovery::find_all(&root).len(), 1);
    assert!(!left.exists());
    std::fs::remove_dir_all(root).unwrap();
}

/// Who holds the session does not wait for the disk: the journal before is put away when it is let go of.
#[test]
fn a_journal_is_put_away_when_it_is_let_go_of() {
    let root = folder("ended");
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    assert!(session.begin_flush().wait());
    let n_folders = || std::fs::read_dir(&root).unwrap().count();
    assert_eq!(n_folders(), 1);
    let ended = session.open(BIPED.clone(), None);
    assert!(session.flush());
    assert_eq!(n_folders(), 2);
    drop(ended);
    assert_eq!(n_folders(), 1);
    drop(session);
    assert_eq!(n_folders(), 0);
    // A folder that cannot be made is reported, and made once it can be.
    std::fs::remove_dir_all(&root).unwrap();
    std::fs::write(&root, b"").unwrap();
    let mut session = Session::new(BIPED.clone(), None, Some(root.clone()));
    assert!(!session.flush() && session.journal_fault().unwrap().contains("unsaved work is not kept"));
    std::fs::remove_file(&root).unwrap();
    session.apply(&Command::Rename { name: "kept".into() }, None).unwrap();
    assert!(session.flush() && session.journal_fault().is_none());
    drop(session);
    assert_eq!(Recovery::find_all(&root).len(), 1);
    std::fs::remove_dir_all(root).unwrap();
}
