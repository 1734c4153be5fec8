//! Files made to waste time or memory: each is large enough that a reader of quadratic cost would not end within
//! minutes.

use sinew_formats::{
    FormatError, alembic, bvh, fbx, handles, medit, moves, no_side_files, obj, off, ply, point_cache,
    recording, stl,
};
use sinew_geom::{Mesh, Warnings};

type Read = fn(&[u8]) -> Result<(), FormatError>;

/// Every reader by the name of its format.
pub const READERS: &[(&str, Read)] = &[
    ("obj", |b| obj::read_obj(b, &no_side_files, "a.obj", &mut Warnings::default()).map(drop)),
    ("ply", |b| ply::read_ply(b, "a.ply", &mut Warnings::default()).map(drop)),
    ("stl", |b| stl::read_stl(b, "a.stl", &mut Warnings::default()).map(drop)),
    ("off", |b| off::read_off(b, "a.off", &mut Warnings::default()).map(drop)),
    ("mesh", |b| medit::read_medit(b, "a.mesh", &mut Warnings::default()).map(drop)),
    ("solids", |b| medit::read_solids(b, "a.mesh").map(drop)),
    ("bvh", |b| bvh::read_bvh(b, "a.bvh", &mut Warnings::default()).map(drop)),
    ("fbx", |b| fbx::read_fbx(b, &no_side_files, "a.fbx", &mut Warnings::default()).map(drop)),
    ("txt", |b| recording::read_kinect(b, "a.txt", &mut Warnings::default()).map(drop)),
    ("abc", |b| alembic::read_alembic(b, "a.abc", &mut Warnings::default()).map(drop)),
    ("pc2", |b| point_cache::read_point_cache(b, "a.pc2", None, &mut Warnings::default()).map(drop)),
    ("json", |b| recording::read_landmarks(b, 30.0, "a.json").map(drop)),
    ("handles", |b| handles::read_handles(b, &Mesh::default(), "a.json").map(drop)),
    ("moves", |b| moves::read_moves(b, "a.json").map(drop)),
];

fn read(format: &str, text: &str) -> Result<(), FormatError> {
    let (_, read) = READERS.iter().find(|(name, _)| *name == format).unwrap();
    read(text.as_bytes())
}

/// A star of many points: every second corner is an ear, and every other corner must be tested to know.
fn star(n: usize) -> String {
    let corner = |k: usize| {
        let (sine, cosine) = (k as f64 / n as f64 * std::f64::consts::TAU).sin_cos();
        let radius = if k.is_multiple_of(2) { 1.0 } else { 0.9 };
        format!("v {:.6} {:.6} 0\n", radius * cosine, radius * sine)
    };
    (0..n).map(corner).collect()
}

#[test]
fn one_concave_polygon_of_a_hundred_thousand_corners() {
    let n = 100_000;
    let corners = (1..=n).map(|k| format!(" {k}")).collect::<String>();
    read("obj", &format!("{}f{corners}\n", star(n))).unwrap();
}

#[test]
fn many_concave_polygons() {
    let corners = (1..=1000).map(|k| format!(" {k}")).collect::<String>();
    read("obj", &(star(1000) + &format!("f{corners}\n").repeat(1000))).unwrap();
}

#[test]
fn many_materials_and_libraries() {
    let mut text = String::from("v 0 0 0\n");
    text.extend((0..100_000).map(|k| format!("usemtl m{k}\nf 1 1 1\nmtllib l{k}\n")));
    read("obj", &text).unwrap();
}

#[test]
fn many_handles_that_name_each_other() {
    let entries: Vec<String> = (0..50_000)
        .map(|k| format!(r#"{{"name":"h{k}","vertices":[],"secondary":["h{}"]}}"#, 49_999 - k))
        .collect();
    read("handles", &format!(r#"{{"handles":[{}]}}"#, entries.join(","))).unwrap();
}

#[test]
fn many_moves_and_endless_lists_of_faults() {
    let step = r#"{"rotate":{"main":"a","axis":[0,0,1],"degrees":1}}"#;
    read("moves", &format!(r#"{{"moves":[{step}{}]}}"#, format!(",{step}").repeat(100_000))).unwrap();
    read("moves", &format!(r#"{{"moves":[7{}]}}"#, ",7".repeat(1_000_000))).unwrap_err();
    let names = format!(r#"{{"translate":{{"handles":[7{}],"vector":[0,0,0]}}}}"#, ",7".repeat(1_000_000));
    read("moves", &format!(r#"{{"moves":[{names}]}}"#)).unwrap_err();
    read("moves", &"[".repeat(1_000_000)).unwrap_err();
}

#[test]
fn endless_lines_and_endless_faults() {
    for (format, head) in [
        ("obj", ""),
        ("ply", "ply\n"),
        ("stl", "solid\n"),
        ("off", "OFF\n9 9 9\n"),
        ("mesh", "MeshVersionFormatted 1\n"),
        ("bvh", "HIERARCHY\n"),
        ("txt", ""),
    ] {
        for body in [
            "x ".repeat(2_000_000),
            "f x\n".repeat(500_000),
            "{\n".repeat(500_000),
            "#".repeat(2_000_000),
            "\\\n".repeat(500_000),
            "0 ".repeat(2_000_000),
            "\n".repeat(2_000_000),
        ] {
            let _ = read(format, &format!("{head}{body}"));
        }
    }
}

#[test]
fn headers_that_claim_everything() {
    let most = i64::MAX;
    let text = format!(
        "ply\nformat ascii 1.0\nelement a {most}\nelement b {most}\nelement c {most}\nelement vertex {most}\nproperty char x\nproperty char y\nproperty char z\n\
         element face {most}\nproperty list char char vertex_indices\nend_header\n"
    );
    assert!(read("ply", &text).is_err());
    assert!(read("ply", &text.replace("ascii", "binary_big_endian")).is_err());
    // Elements without properties take no room, however many there are; the face after them is wrong.
    let text = format!(
        "ply\nformat ascii 1.0\nelement a {most}\nelement b {most}\nelement c {most}\n\
         element face 1\nproperty list char char vertex_indices\nend_header\n3 0 1 2\n"
    );
    assert!(read("ply", &text).is_err());
    for text in
        [format!("OFF {most} {most} {most}\n0 0 0\n"), format!("OFF 1 {most} 0\n0 0 0\n{most} 0 0 0\n")]
    {
        assert!(read("off", &text).is_err());
    }
    for word in ["Vertices", "Triangles", "Quadrilaterals", "Tetrahedra", "Corners", "Edges", "Hexahedra"] {
        assert!(read("mesh", &format!("MeshVersionFormatted 1 Dimension 3 {word} {most} 1 1 1 1")).is_err());
    }
}

#[test]
fn as_many_channels_as_numbers() {
    let n = 50_000;
    let joint = "JOINT j\n{\nCHANNELS 6 Xposition Yposition Zposition Xrotation Yrotation Zrotation\n}\n";
    let rows = ("0 ".repeat(6 * n) + "\n").repeat(5);
    let text =
        format!("HIERARCHY\nROOT r\n{{\n{}}}\nMOTION\nFrames: 5\nFrame Time: 1\n{rows}", joint.repeat(n));
    read("bvh", &text).unwrap();
}
