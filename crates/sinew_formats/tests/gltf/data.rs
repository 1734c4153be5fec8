//! Real files: all load, and what is counted agrees with an independent count.

use crate::support::{data, files, read};
use sinew_formats::gltf::{read_gltf, read_gltf_file, read_morph_sequence};
use sinew_formats::no_side_files;
use sinew_geom::Warnings;
use std::path::Path;

const EXTENSIONS: [&str; 4] = ["glb", "gltf", "vrm", "vrma"];

#[test]
fn every_good_file_loads() {
    let Some(data) = data() else { return };
    for path in files(&data, &EXTENSIONS).iter().filter(|path| !path.starts_with(data.join("bad"))) {
        let mut warnings = Warnings::default();
        let file = read_gltf_file(path, &mut warnings).unwrap_or_else(|error| panic!("{error}"));
        let character = &file.character;
        println!(
            "{}: {} v {} f, {} joints, {} slots, {} clips, {} morphs {:?}",
            path.display(),
            character.mesh.n_vertices(),
            character.mesh.n_faces(),
            character.rig.as_ref().map_or(0, |rig| rig.n_joints()),
            character.skin.as_ref().map_or(0, |skin| skin.slots.len()),
            character.clips.len(),
            character.morphs.len(),
            warnings.messages
        );
    }
}

#[test]
fn bad_files_load_or_fail_cleanly() {
    let Some(data) = data() else { return };
    for path in files(&data.join("bad"), &EXTENSIONS) {
        match read_gltf_file(&path, &mut Warnings::default()) {
            Ok(file) => println!("{}: {:?}", path.display(), file.info),
            Err(error) => println!("{error}"),
        }
    }
}

/// One line of the table "Rigs and morph files" in MESH_CHECK.md, which other tools counted.
struct Row<'a> {
    file: &'a str,
    line: &'a str,
}

impl Row<'_> {
    fn field(&self, key: &str) -> &str {
        let start = self.line.find(key).unwrap_or_else(|| panic!("no {key} in {}", self.line)) + key.len();
        let rest = &self.line[start..];
        match rest.strip_prefix('[') {
            Some(list) => &list[..list.find(']').unwrap()],
            None => rest.split_whitespace().next().unwrap(),
        }
    }

    fn list<T: std::str::FromStr>(&self, key: &str) -> Vec<T> {
        self.field(key).split(',').filter_map(|item| item.trim().parse().ok()).collect()
    }
}

#[test]
fn counts_agree_with_the_survey() {
    let Some(data) = data() else { return };
    let text = std::fs::read_to_string(data.join("MESH_CHECK.md")).unwrap();
    let table = text.split("## Rigs and morph files").nth(1).unwrap().split("```").nth(1).unwrap();
    let rows = table.lines().filter_map(|line| Some(Row { file: line.split_once('\t')?.0, line }));
    let mut n_rows = 0;
    for row in rows {
        let file = read(&data.join(row.file));
        let (name, info) = (row.file, &file.info);
        assert_eq!(info.n_vertices, row.field("V=").parse::<usize>().unwrap(), "vertices of {name}");
        assert_eq!(info.n_faces, row.field("F=").parse::<usize>().unwrap(), "faces of {name}");
        assert_eq!(info.skin_joints, row.list::<usize>("joints="), "joints of {name}");
        assert_eq!(info.clips.len(), row.field("anims=").parse::<usize>().unwrap(), "clips of {name}");
        assert_eq!(file.character.clips.len(), info.clips.len(), "usable clips of {name}");
        let durations = row.list::<f32>("dur=");
        for (clip, duration) in file.character.clips.iter().zip(&durations) {
            assert!((clip.duration_secs() - duration).abs() < 0.006, "{} of {name}", clip.name);
        }
        if let Some(at) = row.line.find(" morph targets") {
            let count = row.line[..at].rsplit(' ').next().unwrap().parse::<usize>().unwrap();
            assert_eq!(info.n_morphs, count, "morphs of {name}");
        }
        n_rows += 1;
    }
    assert!(n_rows >= 20, "the table was not found");
}

/// `MESH_CHECK.md` counts 752 vertices of this file whose weights do not sum to one.
#[test]
fn weights_that_do_not_sum_to_one_are_reported() {
    let Some(data) = data() else { return };
    let mut warnings = Warnings::default();
    read_gltf_file(&data.join("rigs/threejs/RobotExpressive.glb"), &mut warnings).unwrap();
    assert!(
        warnings.messages.iter().any(|w| w.starts_with("752 vertices have skin weights")),
        "{warnings:?}"
    );
}

#[test]
fn morph_sequences_have_their_keys_as_frames() {
    let Some(data) = data() else { return };
    for (name, n_vertices, n_targets) in [("Horse", 796, 15), ("Parrot", 497, 12)] {
        let path = data.join(format!("sequences/morph-glb/{name}.glb"));
        let bytes = std::fs::read(&path).unwrap();
        let read = |fps| read_morph_sequence(&bytes, &no_side_files, name, fps, &mut Warnings::default());
        let sequence = read(None).unwrap();
        assert_eq!(sequence.rest().n_vertices(), n_vertices);
        assert!((n_targets..=n_targets + 1).contains(&sequence.n_frames()), "{}", sequence.n_frames());
        assert!(read(Some(60.0)).unwrap().n_frames() > 60);
        assert!(read(Some(f64::NAN)).is_err());
        assert!(read(Some(1e12)).is_err());
    }
}

/// Small files of every kind: skinned, with matrices, as text, morphed, interleaved.
const SWEPT: [&str; 5] = [
    "rigs/khronos/RiggedSimple.glb",
    "rigs/khronos/SimpleSkin.gltf",
    "bad/trimesh/BoxInterleaved.glb",
    "bad/trimesh/no_indices_3storybuilding.glb",
    "rigs/khronos/RiggedFigure.glb",
];

#[test]
fn no_truncation_panics() {
    let Some(data) = data() else { return };
    for name in SWEPT {
        let bytes = std::fs::read(data.join(name)).unwrap();
        let step = (bytes.len() / 700).max(1);
        for end in (0..bytes.len()).step_by(step) {
            attempt(&bytes[..end], name);
        }
        // As if the header had been repaired: the cut is then found by the chunks or the accessors.
        for end in (20..bytes.len()).step_by(step * 4).filter(|_| name.ends_with("glb")) {
            let mut cut = bytes[..end].to_vec();
            cut[8..12].copy_from_slice(&(end as u32).to_le_bytes());
            attempt(&cut, name);
        }
    }
}

#[test]
fn no_flipped_byte_panics() {
    let Some(data) = data() else { return };
    for name in SWEPT {
        let bytes = std::fs::read(data.join(name)).unwrap();
        // The JSON text decides most, so that part is swept densely.
        for at in (0..bytes.len().min(4000)).chain((4000..bytes.len()).step_by(97)) {
            for value in [0, b'9', b'-', 0xFF, bytes[at] ^ 1] {
                let mut broken = bytes.clone();
                broken[at] = value;
                attempt(&broken, name);
            }
        }
    }
}

fn attempt(bytes: &[u8], name: &str) {
    let folder = Path::new(name);
    if let Err(error) = read_gltf(bytes, &no_side_files, &folder.to_string_lossy(), &mut Warnings::default())
    {
        assert!(error.to_string().starts_with(name), "{error}");
    }
}
