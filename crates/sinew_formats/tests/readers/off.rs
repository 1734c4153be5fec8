//! OFF and MEDIT.

use crate::support::{Expected, check, data, loads};
use glam::DVec3;
use sinew_formats::{
    Model,
    Place::{Line, Whole},
    medit::{read_medit, read_solids},
    off::read_off,
};
use sinew_geom::Warnings;

const POINTS: &str = "0 0 0\n1 0 0\n0 1 0\n";

fn model(text: &str) -> (Model, String) {
    loads(|warnings| read_off(text.as_bytes(), "a.off", warnings))
}

#[test]
fn bad_off_is_refused_with_every_line() {
    let table: &[(String, Expected)] = &[
        // Nothing, or only a comment.
        (String::new(), &[(Whole, "the file is empty")]),
        ("# nothing\n".into(), &[(Whole, "the file is empty")]),
        // Another format; a word that only contains the header.
        ("ply\n".into(), &[(Whole, "`ply` is not an OFF header")]),
        ("KICK-OFF\n".into(), &[(Whole, "`KICK-OFF` is not an OFF header")]),
        // Formats that are not read.
        ("4OFF\n1 1 1\n".into(), &[(Whole, "four-dimensional")]),
        ("OFF BINARY\n".into(), &[(Whole, "binary")]),
        // No counts, text for counts, negative counts.
        ("OFF\n".into(), &[(Line(1), "numbers of vertices and faces are missing")]),
        ("OFF\nmany 1 0\n".into(), &[(Line(2), "numbers of vertices and faces are missing")]),
        ("OFF\n\n-3 1 0\n".into(), &[(Line(3), "numbers of vertices and faces are missing")]),
        // Cut short.
        (format!("OFF 3 1 0\n{POINTS}"), &[(Line(4), "3 of 3 vertices and 0 of 1 faces")]),
        // More claimed than there is.
        (
            format!("OFF\n1000000000000 1000000000000 0\n{POINTS}"),
            &[(Line(5), "3 of 1000000000000 vertices and 0 of 1000000000000 faces")],
        ),
        // Text and too few numbers: two faults, and the faces are read as faces.
        (
            "OFF 3 1 0\n0 x 0\n1 0\n0 1 0\n3 0 1 2\n".into(),
            &[(Line(2), "`0 x 0` is not a vertex"), (Line(3), "`1 0` is not a vertex")],
        ),
        // Indices out of range, a face of four billion corners, a negative one, one of words.
        (
            format!("OFF 3 5 0\n{POINTS}3 0 1 3\n3 -1 0 1\n4000000000 0 1 2\n-2 0 1\n3 a b c\n"),
            &[
                (Line(5), "vertex 3, but there are 3"),
                (Line(6), "vertex -1"),
                (Line(7), "is not a face"),
                (Line(8), "is not a face"),
                (Line(9), "is not a face"),
            ],
        ),
    ];
    for (text, expected) in table {
        check(text, read_off(text.as_bytes(), "a.off", &mut Warnings::default()), expected);
        let windows = text.replace('\n', "\r\n");
        check(&windows, read_off(windows.as_bytes(), "a.off", &mut Warnings::default()), expected);
    }
}

#[test]
fn odd_but_good_off_is_read() {
    let body = format!("{POINTS}3 0 1 2\n");
    let texts = [
        format!("OFF\n3 1 0\n{body}"),
        format!("OFF 3 1 0\n{body}"),
        format!("OFF3 1 0\n{body}"),
        format!("\u{feff}OFF\n3 1\n{body}"),
        format!("# a\n\nOFF # b\n# c\n3 1 0 # d\n\n{}", body.replace('\n', " # e\n\n")),
        format!("OFF\r\n3\t1\t0\r\n{}", body.replace('\n', " \t\r\n")),
        format!("OFF\n3 1 0\n{}", body.trim_end()),
        format!("OFF\n3 1 0\n{POINTS}3 0 1 2 255 0 0\n"),
        format!("NOFF\n3 1 0\n{}3 0 1 2\n", POINTS.replace('\n', " 0 0 1\n")),
    ];
    for text in texts {
        let (model, warnings) = model(&text);
        assert_eq!(model.character.mesh.faces(), [[0, 1, 2]], "{text:?}");
        assert_eq!(model.character.mesh.positions(), [DVec3::ZERO, DVec3::X, DVec3::Y], "{text:?}");
        assert_eq!(warnings, "", "{text:?}");
    }
}

#[test]
fn colours_are_bytes_or_shares() {
    let colors = |rows: [&str; 3]| {
        let [a, b, c] = rows;
        let text = format!("COFF 3 0 0\n0 0 0 {a}\n1 0 0 {b}\n0 1 0 {c}\n");
        model(&text).0.character.surface.colors.unwrap()
    };
    // A dark byte among bytes is still a byte.
    let bytes = colors(["255 0 0 255", "1 0 0 255", "0 51 0 0"]);
    // As seen on a screen there, linear here: worked out by the formulae of sRGB.
    assert_eq!(bytes[0], [1.0, 0.0, 0.0, 1.0]);
    assert!((bytes[1][0] - 1.0 / 255.0 / 12.92).abs() < 1e-9 && bytes[1][3] == 1.0);
    assert!((bytes[2][1] - 0.033_104_77).abs() < 1e-7 && bytes[2][3] == 0.0);
    let shares = colors(["1 0 0", "0 .5 0", "0 0 0 .25"]);
    assert!((shares[1][1] - 0.214_041_14).abs() < 1e-7 && shares[1][3] == 1.0);
    assert_eq!(shares[2], [0.0, 0.0, 0.0, 0.25]);
    let (model, warnings) = model("COFF 2 0 0\n0 0 0 1 1 1\n1 0 0\n");
    assert_eq!(model.character.surface.colors, None);
    assert!(warnings.contains("colours are incomplete"), "{warnings}");
}

#[test]
fn what_can_be_repaired_in_off_is_repaired_and_reported() {
    let (repaired, warnings) = model("OFF 3 3 0\nnan 0 0\n1 inf 0\n0 1 0\n2 0 1\n1 0\n3 0 1 2\n");
    assert_eq!(repaired.character.mesh.positions(), [DVec3::ZERO, DVec3::ZERO, DVec3::Y]);
    assert_eq!(repaired.character.mesh.n_faces(), 1);
    assert!(
        warnings.contains("2 vertices have NaN") && warnings.contains("2 faces have fewer"),
        "{warnings}"
    );
}

#[test]
fn real_files_with_comments_and_colours() {
    let Some(data) = data() else { return };
    for (name, n_vertices, n_faces) in [
        ("trimesh/comments.off", 8, 6),
        ("trimesh/whitespace.off", 8, 6),
        ("cgal/mesh_with_colors.off", 8, 4),
    ] {
        let text = std::fs::read_to_string(data.join("bad").join(name)).unwrap();
        let raw = model(&text).0.raw;
        assert_eq!((raw.positions().len(), raw.n_faces()), (n_vertices, n_faces), "{name}");
    }
}

const MEDIT: &str = "MeshVersionFormatted 1\nDimension 3\nVertices\n3\n0 0 0 1\n1 0 0 1\n0 1 0 1\n";

#[test]
fn bad_medit_is_refused_with_its_line() {
    let table: &[(String, Expected)] = &[
        // Nothing, and another format of the same name.
        (String::new(), &[(Whole, "does not start with `MeshVersionFormatted`")]),
        ("<mesh>".into(), &[(Whole, "does not start with `MeshVersionFormatted`")]),
        // Two dimensions.
        ("MeshVersionFormatted 1\nDimension 2\n".into(), &[(Whole, "2 dimensions")]),
        // Text instead of numbers.
        (MEDIT.replace("1 0 0", "1 x 0"), &[(Line(6), "expected a number, found `x`")]),
        ("MeshVersionFormatted 1\nVertices\nmany\n".into(), &[(Line(3), "whole number, found `many`")]),
        ("MeshVersionFormatted 1\nVertices\n-1\n".into(), &[(Line(3), "whole number, found `-1`")]),
        // Cut short.
        (MEDIT[..MEDIT.len() - 7].into(), &[(Line(7), "found the end of the file")]),
        // More claimed than there is.
        (MEDIT.replace("\n3\n", "\n1000000000000\n"), &[(Line(7), "found the end of the file")]),
        (format!("{MEDIT}Triangles\n4000000000\n1 2 3 0\n"), &[(Line(10), "found the end of the file")]),
        // Vertices that do not exist, in two faces.
        (
            format!("{MEDIT}Triangles\n3\n1 2 4 0\n1 2 3 0\n0 1 2 0\nEnd\n"),
            &[(Line(10), "face 1 uses a vertex that is not between 1 and 3"), (Line(12), "face 3")],
        ),
        (format!("{MEDIT}Triangles\n1\n1 2 -3 0\n"), &[(Line(10), "whole number, found `-3`")]),
    ];
    for (text, expected) in table {
        check(text, read_medit(text.as_bytes(), "a.mesh", &mut Warnings::default()), expected);
        let windows = text.replace('\n', "\r\n");
        check(&windows, read_medit(windows.as_bytes(), "a.mesh", &mut Warnings::default()), expected);
    }
}

#[test]
fn good_medit_is_read() {
    let faces = "Triangles 1 1 2 3 0\nQuadrilaterals\n1\n1 2 3 1 0\nTetrahedra 1\n1 2 3 1 0\n";
    let texts = [
        format!("{MEDIT}{faces}End\n"),
        format!("\u{feff}{MEDIT}# 7\n{faces}"),
        // Faces before their vertices.
        format!("MeshVersionFormatted 2 Dimension 3 {faces} {}", &MEDIT[MEDIT.find("Vert").unwrap()..]),
    ];
    for text in texts {
        let (model, warnings) = loads(|warnings| read_medit(text.as_bytes(), "a.mesh", warnings));
        assert_eq!(model.raw.faces().collect::<Vec<_>>(), [&[0, 1, 2][..], &[0, 1, 2, 0]], "{text:?}");
        assert!(warnings.contains("1 tetrahedra were left out"), "{warnings}");
    }
    let text = MEDIT.replace("1 0 0", "nan 0 inf");
    let (repaired, warnings) = loads(|warnings| read_medit(text.as_bytes(), "a.mesh", warnings));
    assert_eq!(repaired.character.mesh.positions()[1], DVec3::ZERO);
    assert!(warnings.contains("1 vertices have NaN"), "{warnings}");
}

const SOLIDS: &str = "MeshVersionFormatted 2\nDimension 3\nVertices\n9\n0 0 0 0\n1 0 0 0\n1 1 0 0\n0 1 0 0\n0 0 1 0\n1 0 1 0\n\
     1 1 1 0\n0 1 1 0\n0.5 0.5 2 0\nEdges\n2\n1 2 0\n2 3 0\nRidges\n1\n2\nCorners 1 9\nTriangles\n1\n1 2 3 7\n\
     Hexahedra\n1\n1 2 3 4 5 6 7 8 1\nTetrahedra\n1\n5 6 7 9 0\nPrisms\n1\n1 2 3 5 6 7 0\nEnd\n";

#[test]
fn solids_are_read() {
    for text in [SOLIDS.to_owned(), SOLIDS.replace('\n', "\r\n"), SOLIDS.replace("Prisms", "Pentahedra")] {
        let solids = read_solids(text.as_bytes(), "a.mesh").unwrap();
        assert_eq!(solids.positions.len(), 9);
        // Around the bottom and around the top, to bits along axes.
        assert_eq!(solids.hexahedra, [[0, 1, 3, 2, 4, 5, 7, 6]]);
        assert_eq!(
            (&solids.tetrahedra[..], &solids.prisms[..]),
            (&[[4, 5, 6, 8]][..], &[[0, 1, 2, 4, 5, 6]][..])
        );
        assert_eq!((&solids.creases[..], &solids.corners[..]), (&[[1, 2]][..], &[8][..]));
    }
}

#[test]
fn bad_solids_are_refused_with_their_lines() {
    let table: &[(String, Expected)] = &[
        ("<mesh>".into(), &[(Whole, "does not start with `MeshVersionFormatted`")]),
        (MEDIT.into(), &[(Whole, "there are no solids")]),
        (format!("{MEDIT}Pyramids 1 1 2 3 1 2 0"), &[(Whole, "1 pyramids")]),
        (SOLIDS.replace("5 6 7 9 0", "5 6 7 10 0"), &[(Line(30), "vertex 10 is not between 1 and 9")]),
        (SOLIDS.replace("5 6 7 9 0", "5 6 0 9 0"), &[(Line(30), "vertex 0 is not between 1 and 9")]),
        (SOLIDS.replace("Ridges\n1\n2", "Ridges\n1\n3"), &[(Line(20), "edge 3 is not between 1 and 2")]),
        (SOLIDS[..SOLIDS.len() - 20].into(), &[(Line(31), "found")]),
    ];
    for (text, expected) in table {
        check(text, read_solids(text.as_bytes(), "a.mesh"), expected);
    }
}
