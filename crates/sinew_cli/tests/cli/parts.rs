//! Parts of the surface, and what they become: hair, eyes, clothes one by one.

use super::{Folder, character, fails, ok};
use serde_json::{Value, json};
use sinew::{
    geom::{
        Material, Surface, Warnings,
        sample::{Sample, build_character},
    },
    session::{Document, write_project},
};

/// A bar whose upper half is of another material, in a file of another program.
fn dressed(folder: &Folder) -> String {
    let bar = build_character(Sample::Bar, 1_000).unwrap();
    let [low, high] = bar.mesh.bounds();
    let size = high - low;
    let axis = (0..3).max_by(|&a, &b| size[a].total_cmp(&size[b])).unwrap();
    let middle = (0.5 * (low + high))[axis];
    let is_upper = |face: &[u32; 3]| bar.mesh.positions()[face[0] as usize][axis] > middle;
    let face_materials = bar.mesh.faces().iter().map(|face| u16::from(is_upper(face))).collect();
    let material = |name: &str| Material { name: name.into(), ..Material::default() };
    let surface = Surface {
        materials: vec![material("skin"), material("coat")],
        face_materials,
        ..bar.surface.clone()
    };
    let document = Document::new(sinew::geom::Character { surface, ..bar });
    let mut bytes = write_project(&document, &mut Warnings::default()).unwrap();
    let (word, other) = (&b"\"generator\":\"Sinew"[..], &b"\"generator\":\"Other"[..]);
    let at = bytes.windows(word.len()).position(|window| window == word).unwrap();
    bytes[at..at + word.len()].copy_from_slice(other);
    let path = folder.at("dressed.glb");
    std::fs::write(&path, bytes).unwrap();
    path
}

fn names(report: &Value, key: &str) -> Vec<String> {
    let list = report[key].as_array().unwrap_or_else(|| panic!("{key}: {report}"));
    list.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
}

#[test]
fn parts_are_listed_chosen_left_out_hidden_and_shown() {
    let folder = Folder::new("parts");
    let (path, out) = (dressed(&folder), folder.at("out.glb"));
    let all = names(&ok(&["info", &path, "--json"]), "parts");
    assert_eq!(all.len(), 2, "{all:?}");
    assert!(all[0].ends_with("/skin") && all[1].ends_with("/coat"), "{all:?}");
    let whole = character(&path);
    for (option, named, left) in [("--parts", &all[1], &all[1]), ("--without", &all[1], &all[0])] {
        ok(&["convert", &path, &out, option, named, "--json"]);
        super::judges::validate(&out);
        let part = character(&out);
        let of = |name: &str| u16::from(name.ends_with("coat"));
        let n =
            (0..whole.mesh.n_faces()).filter(|&face| whole.surface.face_materials[face] == of(left)).count();
        assert_eq!(part.mesh.n_faces(), n, "{option} {named}");
        assert_eq!(part.clips.len(), whole.clips.len());
        // Also in formats that know no parts.
        let obj = folder.at("out.obj");
        ok(&["convert", &path, &obj, option, named, "--json"]);
        assert_eq!(character(&obj).mesh.n_faces(), n);
        assert_eq!(names(&ok(&["info", &obj, "--json"]), "parts").len(), 1);
    }
    ok(&["convert", &path, &out, "--hide", &all.join(","), "--json"]);
    super::judges::validate(&out);
    let hidden = ok(&["info", &out, "--json"]);
    assert_eq!(
        (names(&hidden, "hidden_parts"), hidden["faces"].as_u64()),
        (all.clone(), Some(whole.mesh.n_faces() as u64))
    );
    let obj = ok(&["convert", &out, &folder.at("hidden.obj"), "--json"]);
    let said = obj["warnings"].to_string();
    assert!(said.contains("written visibly") && said.contains(&all[0]), "{said}");
    let shown = folder.at("shown.glb");
    ok(&["convert", &out, &shown, "--show", &all[0], "--json"]);
    // Both are at one node, which is shown or not.
    assert_eq!(ok(&["info", &shown, "--json"])["hidden_parts"], json!([]));
    assert!(fails(&["convert", &path, &out, "--parts", "shoes"], 1).contains(&all[0]));
    assert!(fails(&["convert", &path, &out, "--without", &all.join(",")], 1).contains("no part"));
}
