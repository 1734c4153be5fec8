//! Files written by older versions open with everything they hold.

use sinew::{
    geom::Warnings,
    session::{Command, Display, Document, read_project, shown_muscles, write_project},
};
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files").join(name)
}

fn read(bytes: &[u8], path: &Path) -> Document {
    let mut warnings = Warnings::default();
    let document = read_project(bytes, path, &mut warnings).unwrap();
    assert_eq!(warnings.messages, [""; 0]);
    document
}

/// Everything that the commands in `commands.v1.jsonl` made.
fn check_content(document: &Document) {
    assert_eq!(document.name, "Bar");
    assert_eq!(document.handles.len(), 4);
    assert_eq!(document.pose.len(), 1);
    let bent = &document.examples[document.find_example("bent").unwrap()];
    assert!(bent.thumbnail.is_some() && bent.detail.is_some() && document.detail.is_some());
    assert_eq!(document.search.limits, [-0.5, 1.5]);
    assert_eq!(document.paths.paths.len(), 1);
    assert_eq!(document.rules.text, "put Cup on Floor");
    assert_eq!((document.rules.markers.len(), document.rules.planes.len()), (1, 1));
    assert!(!document.puppet.pairs.is_empty() && document.puppet.settings.smoothing == Some(0.0));
    let flesh = &document.flesh;
    assert_eq!((flesh.settings.cells, flesh.settings.floor), (200, Some(-0.25)));
    assert_eq!(flesh.paint.as_ref().unwrap()[7], 8.0);
    let muscles = &flesh.muscles;
    assert_eq!(muscles.value("swell"), 0.5);
    assert_eq!(muscles.curve("bend", "swell").unwrap().keys, [(0.25, 1.0)]);
    assert_eq!(shown_muscles(document, &Display::Posed)[0].name, "belly");
    assert_eq!(document.edit.lipman.band, 3);
}

#[test]
fn a_project_of_version_1_opens_whole_and_stays_the_same_when_saved() {
    let path = file("everything.v1.sinew.glb");
    let document = read(&std::fs::read(&path).unwrap(), &path);
    check_content(&document);
    let saved = write_project(&document, &mut Warnings::default()).unwrap();
    check_content(&read(&saved, Path::new("again.sinew.glb")));
}

/// Journals hold one command per line.
#[test]
fn commands_of_version_1_are_replayed() {
    let path = file("everything.v1.sinew.glb");
    let mut document = read(&std::fs::read(&path).unwrap(), &path);
    // The commands were applied to the document as it was before these parts were added.
    document.handles.retain(|handle| handle.name != "spare");
    document.examples.retain(|example| example.name != "bent");
    document.flesh = Document::default().flesh;
    document.rules = Document::default().rules;
    for line in std::fs::read_to_string(file("commands.v1.jsonl")).unwrap().lines() {
        let command: Command = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        document = command.apply(&document).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    check_content(&document);
}
