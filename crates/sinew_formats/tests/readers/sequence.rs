//! Folders of frames, and files opened by their name and content.

use crate::support::{check, faults};
use sinew_formats::{Content, FormatError, Place::Whole, SequenceFolder, read_any};
use sinew_geom::Warnings;
use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
};

/// A folder with these files, removed when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-readers-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        files.iter().for_each(|(file, text)| std::fs::write(path.join(file), text).unwrap());
        Self(path)
    }

    fn open(&self) -> Result<SequenceFolder, FormatError> {
        SequenceFolder::open(&self.0, &mut Warnings::default())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";

fn triangle(x: u32) -> String {
    TRIANGLE.replace("v 0 0 0", &format!("v {x} 0 0"))
}

fn go_on(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[test]
fn frames_are_read_in_natural_order() {
    let texts = [2, 10, 1].map(|k| (format!("walk_{k}.obj"), triangle(k)));
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let folder = Folder::new("order", &files);
    let sequence = folder.open().unwrap();
    let warnings = &mut Warnings::default();
    let mut shares = Vec::new();
    let mut progress = |share| {
        shares.push(share);
        ControlFlow::Continue(())
    };
    let frames = sequence.read_all(24.0, warnings, &mut progress).unwrap().unwrap();
    let first: Vec<f32> = frames.frames().iter().map(|frame| frame[0].x).collect();
    assert_eq!((first, shares.last()), (vec![1.0, 2.0, 10.0], Some(&1.0)));
    assert_eq!(sequence.rest().positions()[0].x, 1.0);
    assert!(sequence.read_all(24.0, warnings, &mut |_| ControlFlow::Break(())).unwrap().is_none());
    assert!(sequence.read_frame(3, warnings).is_err());
}

#[test]
fn what_was_repaired_in_a_frame_is_reported_with_its_name() {
    let bad = TRIANGLE.replace("v 1 0 0", "v nan 0 0");
    let files = [("f1.obj", TRIANGLE), ("f2.obj", bad.as_str()), ("f3.obj", TRIANGLE)];
    let folder = Folder::new("repaired", &files);
    let mut warnings = Warnings::default();
    folder.open().unwrap().read_all(24.0, &mut warnings, &mut go_on).unwrap();
    let [only] = warnings.messages.as_slice() else { panic!("{warnings:?}") };
    assert!(only.starts_with("f2.obj: 1 vertices have NaN"), "{only}");
    // Warnings that the rest pose has as well are reported once.
    let files = ["f1.obj", "f2.obj", "f3.obj"].map(|name| (name, bad.as_str()));
    let folder = Folder::new("repaired-all", &files);
    let mut warnings = Warnings::default();
    let sequence = SequenceFolder::open(&folder.0, &mut warnings).unwrap();
    sequence.read_all(24.0, &mut warnings, &mut go_on).unwrap();
    assert_eq!(warnings.messages.len(), 2, "{warnings:?}");
    assert!(warnings.messages[1].starts_with("in other frames too: 1 vertices"), "{warnings:?}");
}

#[test]
fn frames_that_differ_are_named_with_the_difference() {
    let more = format!("v 5 5 5\n{TRIANGLE}");
    let twice = format!("{TRIANGLE}f 1 2 3\n");
    let turned = TRIANGLE.replace("f 1 2 3", "f 1 3 2");
    let files = [
        ("f1.obj", TRIANGLE),
        ("f2.obj", more.as_str()),
        ("f3.obj", twice.as_str()),
        ("f4.obj", turned.as_str()),
        ("f5.obj", "v 0 x 0\nv 0\n"),
        ("f6.obj", TRIANGLE),
    ];
    let folder = Folder::new("differ", &files);
    let sequence = folder.open().unwrap();
    let warnings = &mut Warnings::default();
    let expected = [
        (Whole, "f2.obj: frame 1 differs from the rest pose: 4 vertices instead of 3"),
        (Whole, "f3.obj: frame 2 differs from the rest pose: 2 faces instead of 1"),
        (
            Whole,
            "f4.obj: frame 3 differs from the rest pose: face 0 joins vertices [0, 2, 1] instead of [0, 1, 2]",
        ),
        (Whole, "f5.obj:1: `x` is not a number"),
        (Whole, "f5.obj:2: a vertex needs 3 coordinates"),
    ];
    check("", sequence.read_all(24.0, warnings, &mut go_on), &expected);
    let error = sequence.read_frame(1, warnings).unwrap_err();
    assert!(error.to_string().contains("f2.obj: frame 1 differs"), "{error}");
    std::fs::remove_file(folder.0.join("f6.obj")).unwrap();
    let error = sequence.read_frame(5, warnings).unwrap_err();
    assert!(matches!(error, FormatError::Io { path, .. } if path.ends_with("f6.obj")));
}

#[test]
fn folders_that_are_no_sequences_say_so() {
    let folder = Folder::new("none", &[("readme.txt", "hello"), ("single.obj", TRIANGLE)]);
    check("", folder.open(), &[(Whole, "holds no numbered mesh files")]);
    let file = folder.0.join("single.obj");
    check(
        "",
        SequenceFolder::open(&file, &mut Warnings::default()),
        &[(Whole, "this is a file, not a folder")],
    );
    let absent = folder.0.join("absent");
    assert!(matches!(SequenceFolder::open(&absent, &mut Warnings::default()), Err(FormatError::Io { .. })));
}

#[test]
fn a_rest_pose_of_its_own_is_found_and_other_files_are_reported() {
    let rest = triangle(7);
    let files =
        [("a1.obj", TRIANGLE), ("a2.obj", TRIANGLE), ("a.obj", rest.as_str()), ("other.obj", TRIANGLE)];
    let folder = Folder::new("rest", &files);
    let mut warnings = Warnings::default();
    let sequence = SequenceFolder::open(&folder.0, &mut warnings).unwrap();
    assert_eq!((sequence.rest().positions()[0].x, sequence.frames().len()), (7.0, 2));
    assert!(warnings.messages[0].contains("1 mesh files do not belong"), "{:?}", warnings.messages);
}

fn open(path: &Path) -> Result<(Content, String), FormatError> {
    let mut warnings = Warnings::default();
    read_any(path, &mut warnings).map(|content| (content, warnings.messages.join("\n")))
}

#[test]
fn the_content_decides_before_the_name() {
    let off = "\u{feff}OFF 3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n";
    let files = [
        ("a.obj", off),
        ("empty.ply", ""),
        ("b.OBJ", TRIANGLE),
        ("c.blend", "BLENDER"),
        ("d.c3d", "x"),
        ("e", "x"),
        ("f.zip", "x"),
        ("points.obj", "v 0 0 0\n"),
    ];
    let folder = Folder::new("open", &files);
    let at = |name: &str| open(&folder.0.join(name));
    let (content, warnings) = at("a.obj").unwrap();
    assert_eq!(content.into_character().unwrap().mesh.n_faces(), 1);
    assert!(warnings.contains("the content is Off"), "{warnings}");
    assert!(matches!(at("b.OBJ"), Ok((Content::Model(_), _))));
    assert!(at("points.obj").unwrap().1.contains("holds no faces"));
    for (name, cause) in [
        ("empty.ply", "the file is empty"),
        ("c.blend", "open it in Blender"),
        ("d.c3d", "convert the motion to BVH"),
        ("e", "no extension"),
        ("f.zip", "`.zip` is not a format"),
    ] {
        let error = at(name).unwrap_err();
        assert!(error.to_string().contains(cause), "{error}");
    }
    assert!(matches!(at("absent.obj"), Err(FormatError::Io { .. })));
    assert!(matches!(at("."), Err(FormatError::Faults { .. })));
    assert_eq!(faults(open(Path::new("/dev/null"))).len(), 1);
}
