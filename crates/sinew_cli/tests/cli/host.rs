//! Files of other programs come out with all that they hold.

use super::{Folder, ok};
use serde_json::Value;

/// The biped, as if another program had written it.
fn foreign(folder: &Folder) -> String {
    let path = folder.at("other.glb");
    ok(&["sample", "biped", "-n", "1500", "-o", &path, "--json"]);
    let mut bytes = std::fs::read(&path).unwrap();
    let (word, other) = (&b"\"generator\":\"Sinew"[..], &b"\"generator\":\"Other"[..]);
    let at = bytes.windows(word.len()).position(|window| window == word).unwrap();
    bytes[at..at + word.len()].copy_from_slice(other);
    std::fs::write(&path, bytes).unwrap();
    path
}

fn root(path: &str) -> Value {
    let glb = std::fs::read(path).unwrap();
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    serde_json::from_slice(&glb[20..20 + length]).unwrap()
}

fn clips(root: &Value) -> Vec<String> {
    let list = root["animations"].as_array().into_iter().flatten();
    list.map(|clip| clip["name"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn what_a_command_does_not_change_stays() {
    let folder = Folder::new("host");
    let (path, out) = (foreign(&folder), folder.at("out.glb"));
    let before = root(&path);
    let own = clips(&before);
    assert!(!own.is_empty());
    ok(&["convert", &path, &out, "--json"]);
    assert!(std::fs::read(&path).unwrap() == std::fs::read(&out).unwrap(), "nothing changed");

    let moves = folder
        .write("moves.json", r#"{"moves":[{"rotate":{"main":"elbow.L","axis":[0,0,1],"degrees":60}}]}"#);
    let report = ok(&["pose", &path, "--moves", &moves, "-o", &out, "--json"]);
    assert!(!report["warnings"].to_string().contains("left out"), "{report}");
    let posed = root(&out);
    for key in ["nodes", "skins", "animations", "materials", "asset"] {
        assert_eq!(posed[key], before[key], "{key}");
    }
    assert_ne!(posed["meshes"], before["meshes"]);

    ok(&["flesh", &path, "--seconds", "0.1", "-o", &out, "--json"]);
    let fleshed = root(&out);
    assert_eq!((&fleshed["nodes"], &fleshed["skins"]), (&before["nodes"], &before["skins"]));
    assert_eq!(clips(&fleshed), [vec![format!("{} flesh", own[0])], own.clone()].concat());

    ok(&["refit", &path, "--skeleton", &path, "--name", &own[0], "-o", &out, "--json"]);
    let fitted = root(&out);
    assert_eq!((&fitted["nodes"], &fitted["meshes"]), (&before["nodes"], &before["meshes"]));
    assert_eq!(clips(&fitted), [vec![format!("{} refit", own[0])], own.clone()].concat());

    // A fitted skin replaces skeleton and clips; its joints come behind the nodes of the file.
    ok(&["fit", &path, "--bones", "8", "--rounds", "3", "-o", &out, "--json"]);
    let skinned = root(&out);
    assert_eq!((&skinned["materials"], &skinned["asset"]), (&before["materials"], &before["asset"]));
    let names = |root: &Value| -> Vec<Value> {
        root["nodes"].as_array().unwrap().iter().map(|node| node["name"].clone()).collect()
    };
    assert!(names(&skinned).starts_with(&names(&before)) && names(&skinned).len() > names(&before).len());
    assert_eq!(clips(&skinned), ["other"]);
    ok(&["flesh", &path, "--seconds", "0.2", "--fit", "8", "-o", &out, "--json"]);
    let skinned = root(&out);
    assert_eq!((&skinned["materials"], &skinned["asset"]), (&before["materials"], &before["asset"]));
    assert_eq!(clips(&skinned), own[..1]);
}
