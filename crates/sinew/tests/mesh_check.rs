//! Our counts against `MESH_CHECK.md`, which another program measured.

use crate::support::data;
use sinew::{
    formats::{Content, Format, read_any},
    geom::{Character, RawMesh, Warnings, mesh::RepairParams},
};
use std::collections::BTreeMap;

/// Files we read otherwise than the other program, each with its reason.
const DIFFERENT: [(&str, &str); 4] = [
    ("bad/trimesh/points_emptyface.ply", "it drops points without faces; we keep the 1024 vertices"),
    ("bad/trimesh/whitespace.off", "it fails on the header `OFF8 6 12`; we read the cube"),
    ("bad/trimesh/mode5.gltf", "it copies shared vertices per primitive; we keep one copy"),
    ("bad/trimesh/multi.ply", "it cut the quadrilateral in two; we count one face"),
];

/// What the list says of a mesh: `V`, `F`, `chi`, and flags by name; an absent flag is zero, of components one.
fn parse(line: &str) -> Option<(String, BTreeMap<String, i64>)> {
    let (name, rest) = line.split_once('\t')?;
    let (numbers, flags) = rest.split_once('\t').unwrap_or((rest, ""));
    let mut counts = BTreeMap::new();
    for word in numbers.split(' ') {
        if let Some((key, value)) = word.split_once('=')
            && let Ok(value) = value.parse()
        {
            counts.insert(key.to_owned(), value);
        }
    }
    counts.get("V")?;
    for flag in flags.split("; ") {
        if let Some((n, what)) = flag.trim().split_once(' ')
            && let Ok(n) = n.parse()
        {
            counts.insert(what.to_owned(), n);
        }
    }
    Some((name.to_owned(), counts))
}

fn ours(raw: &RawMesh) -> BTreeMap<String, i64> {
    let d = raw.defects();
    let counts = [
        ("V", raw.positions().len() as i64),
        ("F", raw.n_faces() as i64),
        ("chi", d.euler_characteristic),
        ("unreferenced verts", d.unreferenced_vertices as i64),
        ("zero-area faces", d.degenerate_faces as i64),
        ("duplicate faces", d.duplicate_faces as i64),
        ("boundary edges", d.boundary_edges as i64),
        ("non-manifold edges", d.non_manifold_edges as i64),
        ("non-manifold (bow-tie) verts", d.non_manifold_vertices as i64),
        ("inconsistently oriented edges", d.inconsistent_edges as i64),
        ("coincident verts", d.coincident_vertices as i64),
        ("components", d.components as i64),
    ];
    counts.map(|(key, n)| (key.to_owned(), n)).into()
}

#[test]
fn defects_agree_with_independent_measurements() {
    let Some(data) = data() else { return };
    let list = std::fs::read_to_string(data.join("MESH_CHECK.md")).unwrap();
    let mut problems = Vec::new();
    let mut n_compared = 0;
    for (name, theirs) in list.lines().filter_map(parse) {
        let mut warnings = Warnings::default();
        let raw = match read_any(&data.join(&name), &mut warnings) {
            Ok(Content::Model(model)) => model.raw,
            Ok(Content::Gltf(file)) if name.starts_with("bad/") => RawMesh::from_mesh(&file.character.mesh),
            Ok(_) => continue,
            Err(error) => {
                problems.push(format!("{name}: {error}"));
                continue;
            }
        };
        if DIFFERENT.iter().any(|(different, _)| *different == name) {
            continue;
        }
        n_compared += 1;
        for (key, n) in ours(&raw) {
            let default = i64::from(key == "components" && theirs["F"] > 0);
            let wanted = theirs.get(&key).copied().unwrap_or(default);
            if n != wanted {
                problems.push(format!("{name}: {key} {n}, they say {wanted}"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert_eq!(n_compared, 83, "meshes compared");
}

/// Whatever is closed stays so when it is repaired.
#[test]
fn repair_opens_nothing_closed() {
    let Some(data) = data() else { return };
    let mut n_closed = 0;
    for path in crate::support::files_below(&data) {
        let inside = path.strip_prefix(&data).unwrap();
        let is_mesh = Format::of_extension(&path).is_some_and(Format::is_mesh);
        if inside.starts_with("sequences") || !is_mesh {
            continue;
        }
        let Ok(Content::Model(model)) = read_any(&path, &mut Warnings::default()) else { continue };
        let n_open = |character: &Character| RawMesh::from_mesh(&character.mesh).defects().boundary_edges;
        if model.character.mesh.n_faces() > 0 && n_open(&model.character) == 0 {
            let (repaired, report) = model.character.repaired(&RepairParams::default()).unwrap();
            assert_eq!(n_open(&repaired), 0, "{}: {report:?}", inside.display());
            n_closed += 1;
        }
    }
    assert!(n_closed > 20, "{n_closed}");
}
