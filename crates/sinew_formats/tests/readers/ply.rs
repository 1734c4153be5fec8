//! PLY.

use crate::support::{Expected, characters, check, data, loads, same_polygons};
use glam::DVec3;
use proptest::prelude::*;
use sinew_formats::{
    Model,
    Place::{Byte, Line, Whole},
    ply::{read_ply, write_ply},
};
use sinew_geom::Warnings;

/// A header of 9 lines: vertices of three numbers and faces.
fn header(format: &str, vertices: u64, faces: u64) -> String {
    format!(
        "ply\nformat {format} 1.0\nelement vertex {vertices}\nproperty float x\nproperty float y\nproperty float z\n\
         element face {faces}\nproperty list uchar int vertex_indices\nend_header\n"
    )
}

fn ascii(vertices: u64, faces: u64, body: &str) -> String {
    header("ascii", vertices, faces) + body
}

fn binary(little: bool, points: &[[f32; 3]], faces: &[&[i32]]) -> Vec<u8> {
    let format = if little { "binary_little_endian" } else { "binary_big_endian" };
    let mut out = header(format, points.len() as u64, faces.len() as u64).into_bytes();
    for x in points.as_flattened() {
        out.extend(if little { x.to_le_bytes() } else { x.to_be_bytes() });
    }
    for face in faces {
        out.push(face.len() as u8);
        face.iter().for_each(|i| out.extend(if little { i.to_le_bytes() } else { i.to_be_bytes() }));
    }
    out
}

fn model(bytes: &[u8]) -> (Model, String) {
    loads(|warnings| read_ply(bytes, "a.ply", warnings))
}

const POINTS: &str = "0 0 0\n1 0 0\n0 1 0\n";

#[test]
fn bad_text_is_refused_with_every_line() {
    let cut = "the file ends at record 1 of 3 of element vertex";
    let table: &[(String, Expected)] = &[
        // Nothing.
        (String::new(), &[(Whole, "the file is empty")]),
        // Another format.
        ("solid\n".into(), &[(Whole, "does not start with `ply`")]),
        // Cut short within the header.
        ("ply\nformat ascii 1.0\nelement ver".into(), &[(Whole, "no `end_header`")]),
        // No format.
        ("ply\nend_header\n".into(), &[(Line(1), "no `format`")]),
        // An unknown format, a wrong count, an element without one, a strange type: all are named.
        (
            "ply\nformat middle 1.0\nelement vertex many\nelement face\nelement face 1\nproperty quad x\nend_header\n".into(),
            &[
                (Line(2), "`middle` is unknown"),
                (Line(3), "`many` is not a count"),
                (Line(4), "a name and a count"),
                (Line(6), "is not a property"),
            ],
        ),
        // A property before any element.
        ("ply\nformat ascii 1.0\nproperty int x\nend_header\n".into(), &[(Line(3), "before any element")]),
        // Vertices without coordinates.
        (
            "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n".into(),
            &[(Line(3), "no x, y and z")],
        ),
        // Cut short after one vertex.
        (ascii(3, 0, "0 0 0\n"), &[(Line(10), cut)]),
        // More vertices claimed than any file holds.
        (ascii(1_000_000_000_000, 0, POINTS), &[(Line(12), "record 3 of 1000000000000")]),
        // Text instead of a number, a missing number: two faults, and the later lines keep their meaning.
        (
            ascii(3, 1, "0 zero 0\n1 0\n0 1 0\n3 0 1 2\n"),
            &[(Line(10), "`zero` is not a number"), (Line(11), "too few numbers for a vertex")],
        ),
        // A list of four billion, a negative one, half a corner.
        (
            ascii(3, 3, &format!("{POINTS}4000000000 0 1 2\n-1 0\n2.5 0 1\n")),
            &[(Line(13), "too few"), (Line(14), "-1 is not the length"), (Line(15), "2.5 is not the length")],
        ),
        // Indices beyond the last and below the first, after a blank line.
        (
            ascii(3, 3, &format!("{POINTS}\n3 0 1 3\n3 0 1 2\n3 0 -1 2\n")),
            &[(Line(14), "face 0 uses vertex 3, but there are 3"), (Line(16), "face 2 uses a negative vertex")],
        ),
    ];
    for (text, expected) in table {
        check(text, read_ply(text.as_bytes(), "a.ply", &mut Warnings::default()), expected);
        let windows = text.replace('\n', "\r\n");
        check(&windows, read_ply(windows.as_bytes(), "a.ply", &mut Warnings::default()), expected);
    }
}

#[test]
fn bad_bytes_are_refused_with_their_place() {
    let points = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for little in [true, false] {
        let good = binary(little, &points, &[&[0, 1, 2], &[2, 1, 0]]);
        let read = |bytes: &[u8]| read_ply(bytes, "a.ply", &mut Warnings::default());
        assert_eq!(read(&good).unwrap().character.mesh.faces(), [[0, 1, 2], [2, 1, 0]]);
        // Cut short within the last face, within the vertices.
        let short = &good[..good.len() - 1];
        check("", read(short), &[(Byte(short.len() as u64), "record 1 of 2 of element face")]);
        let short = &good[..good.len() - 30];
        check("", read(short), &[(Byte(short.len() as u64), "record 2 of 3 of element vertex")]);
        // An index out of range, with the byte where its face starts.
        let wrong = binary(little, &points, &[&[0, 1, 2], &[0, 1, 3], &[0, -1, 2]]);
        let first = (wrong.len() - 26) as u64;
        check("", read(&wrong), &[(Byte(first), "vertex 3"), (Byte(first + 13), "negative vertex")]);
        // Vertices that would fill the memory of a hundred machines.
        let format = if little { "binary_little_endian" } else { "binary_big_endian" };
        let huge = header(format, 1_000_000_000_000, 0);
        check("", read(huge.as_bytes()), &[(Byte(huge.len() as u64), "record 0 of 1000000000000")]);
        // A list of four billion.
        let huge = header(format, 0, 1).replace("uchar int", "uint int");
        let bytes = [huge.as_bytes(), &[0xff; 12]].concat();
        check("", read(&bytes), &[(Byte(bytes.len() as u64), "record 0 of 1 of element face")]);
        // A list of a negative length.
        let huge = header(format, 0, 1).replace("uchar int", "char int");
        let bytes = [huge.as_bytes(), &[0xff; 12]].concat();
        check("", read(&bytes), &[(Byte(huge.len() as u64 + 1), "-1 is not the length")]);
    }
}

#[test]
fn odd_but_good_files_are_read() {
    let body = format!("{POINTS}3 0 1 2\n");
    let good = ascii(3, 1, &body);
    let texts = [
        good.clone(),
        good.replace('\n', "\r\n"),
        good.trim_end().to_owned(),
        format!("\u{feff}{good}"),
        good.replace(' ', "\t"),
        good.replace('\n', "  \n"),
        good.replace("end_header\n", "comment x\nobj_info y\nelement foo 7\nend_header\n"),
        good.replace("vertex_indices", "vertex_index"),
    ];
    for text in texts {
        let (model, warnings) = model(text.as_bytes());
        assert_eq!(model.character.mesh.faces(), [[0, 1, 2]], "{text:?}");
        assert_eq!(warnings, "", "{text:?}");
    }
}

#[test]
fn what_can_be_repaired_is_repaired_and_reported() {
    let (repaired, warnings) =
        model(ascii(3, 3, "nan 0 0\n1 inf 0\n0 1 0\n2 0 1\n1 0\n3 0 1 2\n").as_bytes());
    assert_eq!(repaired.character.mesh.positions(), [DVec3::ZERO, DVec3::ZERO, DVec3::Y]);
    assert_eq!(repaired.character.mesh.n_faces(), 1);
    assert!(
        warnings.contains("2 vertices have NaN") && warnings.contains("2 faces have fewer"),
        "{warnings}"
    );
    let bytes = binary(true, &[[f32::NAN, 0.0, 0.0], [1.0, f32::INFINITY, 0.0], [0.0, 1.0, 0.0]], &[&[0, 1]]);
    let (repaired, warnings) = model(&bytes);
    assert_eq!(repaired.character.mesh.positions(), [DVec3::ZERO, DVec3::ZERO, DVec3::Y]);
    assert!(
        warnings.contains("2 vertices have NaN") && warnings.contains("1 faces have fewer"),
        "{warnings}"
    );
}

#[test]
fn colours_are_linear_here_and_as_on_a_screen_there() {
    let text = "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty float z\n\
                property uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n0 0 0 255 188 0\n";
    let (read, _) = model(text.as_bytes());
    let [r, g, b, a] = read.character.surface.colors.as_ref().unwrap()[0];
    assert!((g - 0.502_886_5).abs() < 1e-6, "{g}");
    assert_eq!([r, b, a], [1.0, 0.0, 1.0]);
    let written = write_ply(&read.character);
    assert!(written.ends_with(&[255, 188, 0, 255]));
}

#[test]
fn what_faces_hold_besides_corners_is_reported() {
    let text = ascii(3, 1, &format!("{POINTS}3 0 1 2 6 0 0 1 0 0 1 9\n"));
    let more = "vertex_indices\nproperty list uchar float texcoord\nproperty uchar red\n";
    let (read, warnings) = model(text.replace("vertex_indices\n", more).as_bytes());
    assert_eq!(read.character.mesh.n_faces(), 1);
    assert!(warnings.contains("left out: texcoord, red"), "{warnings}");
}

#[test]
fn texture_coordinates_of_some_vertices_are_left_out() {
    // Two lists of vertices, one of them with coordinates, and faces around them.
    let text = "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\n\
                element vertex 2\nproperty float x\nproperty float y\nproperty float z\n\
                element vertex 1\nproperty float x\nproperty float y\nproperty float z\nproperty float s\nproperty float t\n\
                element face 1\nproperty list uchar int vertex_indices\nend_header\n\
                3 0 1 2\n0 0 0\n1 0 0\n0 1 0 .5 .5\n3 2 1 0\n";
    let (model, _) = model(text.as_bytes());
    assert_eq!(model.character.mesh.faces(), [[0, 1, 2], [2, 1, 0]]);
    assert_eq!(model.character.surface.uvs, None);
}

#[test]
fn three_encodings_give_one_mesh() {
    let Some(data) = data() else { return };
    let read = |name: &str| model(&std::fs::read(data.join("bad/threejs").join(name)).unwrap()).0.character;
    let [text, big, little] = ["dolphins.ply", "dolphins_be.ply", "dolphins_le.ply"].map(read);
    assert_eq!(big.mesh, little.mesh);
    assert_eq!(text.mesh.faces(), little.mesh.faces());
    // The text was rounded to six digits.
    for (a, b) in text.mesh.positions().iter().zip(little.mesh.positions()) {
        assert!((*a - *b).abs().max_element() <= 1e-5 * b.abs().max_element(), "{a} {b}");
    }
}

#[test]
fn strips_give_the_same_faces_as_triangles() {
    let Some(data) = data() else { return };
    let read = |name: &str| model(&std::fs::read(data.join(name)).unwrap()).0.character.mesh;
    let (strips, plain) = (read("bad/ply/igea-tristrips.ply"), read("meshes/igea-tri.ply"));
    assert_eq!(strips.positions(), plain.positions());
    // The same triangles in any order, each from any corner, but not turned.
    let sorted = |faces: &[[u32; 3]]| {
        let mut faces = faces.to_vec();
        for face in &mut faces {
            let least = (0..3).min_by_key(|&k| face[k]).unwrap();
            face.rotate_left(least);
        }
        faces.sort();
        faces
    };
    assert_eq!(sorted(strips.faces()), sorted(plain.faces()));
}

proptest! {
    #[test]
    fn writing_and_reading_is_identity(character in characters()) {
        let again = read_ply(&write_ply(&character), "a.ply", &mut Warnings::default()).unwrap();
        same_polygons(&character, &again)?;
        let colors = character.surface.colors.iter().flatten().flatten();
        let read = again.character.surface.colors.iter().flatten().flatten();
        prop_assert_eq!(colors.clone().count(), read.clone().count());
        // A byte of a screen colour is at most 2.275 of light near white, where its curve is steepest.
        for (a, b) in colors.zip(read) {
            prop_assert!((a - b).abs() <= 2.3 * 0.51 / 255.0);
        }
    }
}
