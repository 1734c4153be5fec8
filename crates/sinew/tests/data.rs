//! Every file of the outside data.

use crate::support::{data, files_below};
use sinew::{
    formats::{Content, Format, read_any},
    geom::{BodyLayout, Warnings},
};

#[test]
fn every_good_file_loads() {
    let Some(data) = data() else { return };
    let mut n_loaded = 0;
    for path in files_below(&data) {
        let inside = path.strip_prefix(&data).unwrap();
        let labels = path.ends_with("actionLabel.txt") || path.to_string_lossy().contains("READMEFIRST");
        // Frames of sequences are read as sequences below.
        let skip = inside.starts_with("bad") || inside.starts_with("sequences/ssd-baselines") || labels;
        let frame = inside.starts_with("sequences") && Format::of_extension(&path) == Some(Format::Obj);
        let named = Format::of_extension(&path).is_some();
        let other_json =
            inside.starts_with("sequences/gt-skinning") && path.extension().is_some_and(|e| e == "json");
        if skip || frame || !named || other_json || path.ends_with("README-sumner.txt") {
            continue;
        }
        let mut warnings = Warnings::default();
        read_any(&path, &mut warnings).unwrap_or_else(|error| panic!("{error}"));
        n_loaded += 1;
    }
    assert!(n_loaded > 60, "only {n_loaded} files were found");
}

#[test]
fn every_sequence_loads_with_its_connectivity() {
    let Some(data) = data() else { return };
    let expected = [
        ("horse-gallop", 24, 8431),
        ("horse-collapse", 14, 8431),
        ("samba", 18, 9971),
        ("chickenCrossing", 25, 3030),
        ("pcow", 26, 2904),
        ("tshirt-cloth", 50, 1426),
        ("sumner-cat-poses", 5, 7207),
        ("sumner-lion-poses", 5, 5000),
        ("sumner-horse-poses", 3, 8431),
        ("sumner-camel-poses", 2, 21887),
        ("gt-skinning/wolf", 6, 5075),
        ("gt-skinning/cylinder", 4, 420),
        ("tablecloth", 70, 0),
        ("flag", 70, 0),
        ("balloon", 60, 0),
    ];
    for (name, n_frames, n_vertices) in expected {
        let mut warnings = Warnings::default();
        let Content::Sequence(folder) = read_any(&data.join("sequences").join(name), &mut warnings).unwrap()
        else {
            panic!("{name} is not a sequence")
        };
        assert_eq!(folder.frames().len(), n_frames, "{name}");
        assert!(n_vertices == 0 || folder.rest().n_vertices() == n_vertices, "{name}");
        let all = folder.read_all(24.0, &mut warnings, &mut |_| std::ops::ControlFlow::Continue(()));
        assert_eq!(all.unwrap_or_else(|error| panic!("{error}")).unwrap().n_frames(), n_frames, "{name}");
    }
}

/// Files of each folder. All of them can be opened, however wrong they are: unknown words, bad numbers and broken faces are
/// left out with a warning. Files that must be refused are in the tables of `sinew_formats/tests`.
const BAD: [(&str, usize); 6] =
    [("cgal", 32), ("common", 3), ("libigl", 2), ("ply", 1), ("threejs", 4), ("trimesh", 32)];
/// Those that hold no faces, and how many vertices they hold.
const WITHOUT_FACES: [(&str, usize); 9] = [
    ("empty.obj", 0),
    ("empty.ply", 0),
    ("empty.stl", 0),
    ("empty_nodes.glb", 0),
    ("face_in_group_name.obj", 1),
    ("obj_points.obj", 8),
    ("obj_wireframe.obj", 8),
    ("ply_empty_header.ply", 0),
    ("points_emptyface.ply", 1024),
];

#[test]
fn bad_files_are_opened_for_what_they_hold() {
    let Some(data) = data() else { return };
    let mut bare = Vec::new();
    for (folder, n_files) in BAD {
        let files = files_below(&data.join("bad").join(folder));
        assert_eq!(files.len(), n_files, "{folder}");
        for path in files {
            let mut warnings = Warnings::default();
            let content = read_any(&path, &mut warnings).unwrap_or_else(|error| panic!("{error}"));
            let mesh = content.into_character().unwrap().mesh;
            if mesh.n_faces() == 0 {
                let name = path.file_name().unwrap().to_string_lossy().into_owned();
                let warned = warnings.messages.iter().any(|m| m.contains("holds no faces"));
                assert!(warned || name == "empty_nodes.glb", "{name}: {warnings:?}");
                bare.push((name, mesh.n_vertices()));
            }
            assert!(mesh.positions().iter().all(|p| p.is_finite()), "{}", path.display());
        }
    }
    let expected: Vec<(String, usize)> = WITHOUT_FACES.map(|(name, n)| (name.to_owned(), n)).to_vec();
    assert_eq!(bare, expected);
}

#[test]
fn recordings_stand_upright_with_left_and_right() {
    let Some(data) = data() else { return };
    let names = BodyLayout::Kinect20.names();
    let at = |name: &str| names.iter().position(|n| *n == name).unwrap();
    let mut n_checked = 0;
    for path in files_below(&data.join("kinect20")) {
        if path.ends_with("actionLabel.txt") {
            continue;
        }
        let mut warnings = Warnings::default();
        let Content::Recording(recording) = read_any(&path, &mut warnings).unwrap() else { panic!() };
        if path.to_string_lossy().contains("a13_s09_e02") {
            assert!(warnings.messages.iter().any(|w| w.contains("no joint was tracked")), "{warnings:?}");
            continue;
        }
        // Means over the recording: single frames may be lying down or mistracked.
        let mean = |name: &str| {
            let frames = recording.frames.iter().map(|f| f.points[at(name)]);
            frames.sum::<glam::Vec3>() / recording.frames.len() as f32
        };
        assert!(mean("head").y > mean("hip_center").y, "{}", path.display());
        assert!(mean("hip_center").y > mean("foot_left").y.max(mean("foot_right").y), "{}", path.display());
        let arms = [("shoulder_left", "elbow_left"), ("shoulder_right", "elbow_right")];
        for (a, b) in arms {
            let length = mean(a).distance(mean(b));
            assert!((0.1..0.5).contains(&length), "{} {a}: {length}", path.display());
        }
        n_checked += 1;
    }
    assert_eq!(n_checked, 15);
}
