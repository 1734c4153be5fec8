//! STL.

use crate::support::{Expected, check, loads};
use glam::DVec3;
use sinew_formats::{
    Model,
    Place::{Byte, Line, Whole},
    stl::read_stl,
};
use sinew_geom::Warnings;

const FACET: &str =
    "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";

fn model(bytes: &[u8]) -> (Model, String) {
    loads(|warnings| read_stl(bytes, "a.stl", warnings))
}

fn binary(head: &[u8], claimed: u32, facets: &[[f32; 9]]) -> Vec<u8> {
    let mut out = head.to_vec();
    out.resize(80, b' ');
    out.extend(claimed.to_le_bytes());
    for facet in facets {
        out.extend([0; 12]);
        facet.iter().for_each(|x| out.extend(x.to_le_bytes()));
        out.extend([0; 2]);
    }
    out
}

const CORNER: [f32; 9] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

#[test]
fn bad_files_are_refused_with_their_places() {
    let solid = |body: &str| format!("solid a\n{body}endsolid\n").into_bytes();
    let table: &[(Vec<u8>, Expected)] = &[
        // Nothing.
        (vec![], &[(Whole, "the file is empty")]),
        // Neither text nor long enough for a header.
        (b"hello".to_vec(), &[(Whole, "too short")]),
        // Two bad vertices and a strange word are three faults.
        (
            solid(&format!("{}\nhello\n{}", FACET.replace("1 0 0", "1 x 0"), FACET.replace("1 0 0", "1 0"))),
            &[(Line(5), "`vertex 1 x 0`"), (Line(10), "`hello` is not STL"), (Line(14), "`vertex 1 0`")],
        ),
        // Cut short within a facet.
        (
            b"solid\nfacet\nouter loop\nvertex 0 0 0\nvert".to_vec(),
            &[(Line(5), "`vert` is not STL"), (Line(5), "not closed")],
        ),
        // A loop that is never closed.
        (solid(&FACET.replace("endloop\n", "")), &[(Line(7), "no `endloop`")]),
        // Four billion facets claimed.
        (binary(b"x", u32::MAX, &[CORNER]), &[(Byte(134), "announces 4294967295 facets, the file holds 1")]),
        // The last byte is missing.
        (binary(b"x", 1, &[CORNER])[..133].to_vec(), &[(Byte(84), "the file holds 0")]),
    ];
    for (bytes, expected) in table {
        check(&String::from_utf8_lossy(bytes), read_stl(bytes, "a.stl", &mut Warnings::default()), expected);
    }
}

#[test]
fn text_and_bytes_give_one_mesh() {
    let text = format!("solid a\n{FACET}{FACET}endsolid a\n");
    let (plain, warnings) = model(text.as_bytes());
    assert_eq!(warnings, "");
    assert_eq!(plain.character.mesh.faces(), [[0, 1, 2], [3, 4, 5]]);
    let others = [
        text.replace('\n', "\r\n").into_bytes(),
        text.replace(' ', "\t").into_bytes(),
        text.to_uppercase().into_bytes(),
        format!("\u{feff}{text}").into_bytes(),
        format!("  \n{text}").into_bytes(),
        binary(b"made by hand", 2, &[CORNER; 2]),
        // Many programs start binary files like text ones.
        binary(b"solid made by hand", 2, &[CORNER; 2]),
        // And some add bytes at the end.
        [binary(b"solid made by hand", 2, &[CORNER; 2]), vec![0; 7]].concat(),
    ];
    for bytes in others {
        assert_eq!(
            model(&bytes).0.character.mesh,
            plain.character.mesh,
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
}

#[test]
fn what_can_be_repaired_is_repaired_and_reported() {
    let (repaired, warnings) = model(format!("solid\n{}", FACET.replace("1 0 0", "nan 0 inf")).as_bytes());
    assert_eq!(repaired.character.mesh.positions(), [DVec3::ZERO, DVec3::ZERO, DVec3::Y]);
    assert!(warnings.contains("1 vertices have NaN") && warnings.contains("no `endsolid`"), "{warnings}");
    let (small, warnings) =
        model(format!("solid\n{}endsolid\n", FACET.replace("vertex 1 0 0\n", "")).as_bytes());
    assert_eq!(small.character.mesh.n_faces(), 0);
    assert!(warnings.contains("1 faces have fewer than 3"), "{warnings}");
    let (repaired, warnings) = model(&[binary(b"", 1, &[[f32::NAN; 9]]), vec![1; 3]].concat());
    assert_eq!(repaired.character.mesh.positions(), [DVec3::ZERO; 3]);
    assert!(warnings.contains("3 bytes after the last"), "{warnings}");
}
