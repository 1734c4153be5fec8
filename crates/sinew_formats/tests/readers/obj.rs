//! OBJ.

use crate::support::{Expected, characters, check, data, loads, same_polygons};
use glam::DVec3;
use proptest::prelude::*;
use sinew_formats::{
    Content, FormatError, Model,
    Place::Line,
    no_side_files,
    obj::{read_obj, write_obj, write_obj_file},
    read_any,
};
use sinew_geom::{AlphaMode, Image, Material, Warnings};

const THREE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

fn read(text: &str) -> Result<Model, FormatError> {
    read_obj(text.as_bytes(), &no_side_files, "a.obj", &mut Warnings::default())
}

fn model(text: &str) -> (Model, String) {
    loads(|warnings| read_obj(text.as_bytes(), &no_side_files, "a.obj", warnings))
}

#[test]
fn bad_files_are_refused_with_every_line() {
    let table: &[(&str, Expected)] = &[
        // Text instead of a number.
        ("v 0 zero 0\n", &[(Line(1), "`zero` is not a number")]),
        // Two coordinates.
        ("v 0 0\n", &[(Line(1), "3 coordinates, this one has 2")]),
        // Cut short within a vertex; the face before it is good.
        ("v 0 0 0\nf 1 1 1\nv 0", &[(Line(3), "3 coordinates, this one has 1")]),
        // An index beyond the last vertex.
        ("v 0 0 0\n\nf 1 1 2\n", &[(Line(3), "face uses vertex 2, but the file has 1")]),
        // An index that no list can have.
        ("v 0 0 0\nf 1 1 99999999999\n", &[(Line(2), "vertex 99999999999")]),
        // An index beyond all integers.
        ("v 0 0 0\nf 1 1 99999999999999999999\n", &[(Line(2), "not a face corner")]),
        // Zero is no index.
        ("v 0 0 0\nf 1 0 1\n", &[(Line(2), "vertex 0")]),
        // A negative index beyond the first vertex.
        ("v 0 0 0\nf 1 -2 1\n", &[(Line(2), "vertex -2, but there are 1")]),
        // A corner without a vertex.
        ("v 0 0 0\nvt 0 0\nf /1 1 1\n", &[(Line(3), "`/1` is not a face corner")]),
        // Text instead of an index.
        ("v 0 0 0\nf a b c\n", &[(Line(2), "`a` is not a face corner")]),
        // Texture coordinate zero.
        ("v 0 0 0\nvt 0 0\nf 1/0 1 1\n", &[(Line(3), "texture coordinate 0")]),
        // A texture coordinate and a normal without numbers.
        ("vt x\nvn 0 0\n", &[(Line(1), "texture coordinate"), (Line(2), "three numbers")]),
        // Two bad lines are two faults, and a bad vertex still counts.
        ("v 0 0 0\nv a 0 0\nf 1 2 2\nf 7 1 1\n", &[(Line(2), "`a`"), (Line(4), "vertex 7")]),
        // Lines keep their numbers after a continued one.
        ("v 0 0 \\\n0\nf 1 \\\r\n 1 \\\n 1\nf 2 1 1\n", &[(Line(6), "vertex 2")]),
    ];
    for (text, expected) in table {
        check(text, read(text), expected);
        let windows = text.replace("\r\n", "\n").replace('\n', "\r\n");
        check(&windows, read(&windows), expected);
    }
}

#[test]
fn a_file_of_another_kind_stops_early() {
    let text = "v x\n".repeat(100_000);
    assert!(crate::support::faults(read(&text)).len() <= 1001);
}

#[test]
fn odd_but_good_files_are_read() {
    let triangle = [[0, 1, 2]];
    let bodies = [
        "f 1 2 3",
        "f 1/1 2/1 3/1\nvt 0 0",
        "f 1//1 2//1 3//1\nvn 0 0 1",
        "f 1/1/1 2/1/1 3/1/1\nvt 0 0\nvn 0 0 1",
        "f -3 -2 -1",
        "f\t1 2\t3   ",
        "f 1 2 3 # a comment",
        "f 1 \\\n2 3",
        "# f 9 9 9\nf 1 2 3",
    ];
    for body in bodies {
        let text = format!("\u{feff}{THREE}{body}\n");
        for text in [text.clone(), text.replace('\n', "\r\n"), text.trim_end().to_owned()] {
            assert_eq!(model(&text).0.character.mesh.faces(), triangle, "{text:?}");
        }
    }
    // Faces before their vertices, and comments after numbers.
    let (early, _) = model("f 1 2 3\nv 0 0 0 # a\nv 1 0 0 # b\nv 0 1 0\nvt .5 # c\n");
    assert_eq!(early.character.mesh.faces(), triangle);
    // Nothing at all is a mesh of nothing.
    assert_eq!(model("").0.character.mesh.n_vertices(), 0);
}

#[test]
fn what_can_be_repaired_is_repaired_and_reported() {
    let (bad, warnings) = model("v nan 0 0\nv 1 inf 0\nv 0 1 -infinity\nv 1 2 3\nf 1 2 3\n");
    assert_eq!(
        bad.character.mesh.positions(),
        [DVec3::ZERO, DVec3::ZERO, DVec3::ZERO, DVec3::new(1.0, 2.0, 3.0)]
    );
    assert!(warnings.contains("3 vertices have NaN or infinite"), "{warnings}");
    let (small, warnings) = model(&format!("{THREE}f 1 2\nf 1\nf 1 2 3\nf\n"));
    assert_eq!((small.character.mesh.n_faces(), small.raw.n_faces()), (1, 4));
    assert!(warnings.contains("3 faces have fewer than 3 corners"), "{warnings}");
    let (uv, warnings) = model(&format!("{THREE}vt nan 0\nf 1/1 2/1 3/1\nf 1/9 2/9 3/9\n"));
    assert_eq!(uv.character.surface.uvs.unwrap().coords, [[0.0, 0.0]]);
    assert!(warnings.contains("not finite") && warnings.contains("3 face corners"), "{warnings}");
    let (_, warnings) = model("v 0 0 0 1 0 0\nv 0 0 0\nl 1 2\n");
    assert!(
        warnings.contains("only some vertices have a colour") && warnings.contains("1 lines"),
        "{warnings}"
    );
}

#[test]
fn attributes_arrive_where_they_belong() {
    let text = format!(
        "{THREE}v 1 1 0\nvt 0 0\nvt 1 0.25\nvn 0 0 2\nusemtl a b\nf 1/1/1 2/2/1 4/2/1 3/1/1\nusemtl c\nf 1 2 3\nusemtl a b\nf 1 2 3\n"
    );
    let surface = model(&text).0.character.surface;
    assert_eq!(surface.polygons.unwrap(), [vec![0, 1, 3, 2], vec![0, 1, 2], vec![0, 1, 2]]);
    let uvs = surface.uvs.unwrap();
    assert_eq!((uvs.coords[1], uvs.corners[0]), ([1.0, 0.75], [0, 1, 1]));
    assert_eq!(surface.materials.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["a b", "c"]);
    assert_eq!(surface.face_materials, [0, 0, 1, 0]);
    // Some corners have no normal, so no vertex keeps one.
    assert_eq!(surface.normals, None);
}

#[test]
fn hard_edges_are_reported() {
    let text = format!("{THREE}v 0 0 1\nvn 0 0 1\nvn 0 1 0\nf 1//1 2//1 3//1\nf 1//2 4//2 2//2\n");
    let (hard, warnings) = model(&text);
    assert_eq!(hard.character.surface.normals, None);
    assert!(warnings.contains("hard edges"), "{warnings}");
    let (smooth, warnings) = model(&format!("{THREE}vn 0 0 1\nf 1//1 2//1 3//1\n"));
    assert!(smooth.character.surface.normals.is_some());
    assert_eq!(warnings, "");
}

#[test]
fn pictures_of_others_are_not_overwritten_and_names_differ() {
    let folder = std::env::temp_dir().join(format!("sinew-pictures-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut character = read(&format!("{THREE}usemtl a\nf 1 2 3\n")).unwrap().character;
    let bytes = std::sync::Arc::new(vec![0x89, b'P', b'N', b'G', 1]);
    let picture = Image { mime: "image/png".into(), bytes: bytes.clone() };
    character.surface.materials[0].base_color_image = Some(picture);
    // A name that the second of the same name would get, and one without any.
    let more = ["a_2", "a", ""].map(|name| Material { name: name.into(), ..Material::default() });
    character.surface.materials.extend(more);
    std::fs::write(folder.join("m_0.png"), b"a holiday").unwrap();
    for _ in 0..2 {
        write_obj_file(&folder.join("m.obj"), &character).unwrap();
    }
    assert_eq!(std::fs::read(folder.join("m_0.png")).unwrap(), b"a holiday");
    assert_eq!(std::fs::read(folder.join("m_0_2.png")).unwrap(), *bytes);
    let text = std::fs::read_to_string(folder.join("m.mtl")).unwrap();
    let names: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("newmtl ")).collect();
    assert_eq!(names, ["a", "a_2", "a_3", "material"]);
    assert!(text.contains("map_Kd m_0_2.png"), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 4);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn materials_come_from_the_library() {
    let library = "newmtl red\r\nKd 1 0 0\r\nd 0.5\r\nnewmtl red\r\nKd 0 1 0\r\n";
    let side = |name: &str| match name {
        "my colours.mtl" => Ok(library.as_bytes().to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    let text = format!("mtllib ./my colours.mtl\nmtllib other.mtl\n{THREE}usemtl red\nf 1 2 3\n");
    let (model, warnings) = loads(|warnings| read_obj(text.as_bytes(), &side, "a.obj", warnings));
    let red = &model.character.surface.materials[0];
    assert_eq!((red.base_color, red.alpha), ([1.0, 0.0, 0.0, 0.5], AlphaMode::Blend));
    assert!(warnings.contains("`other.mtl` was not found"), "{warnings}");
}

#[test]
fn negative_indices_of_a_real_file() {
    let Some(data) = data() else { return };
    let path = data.join("bad/trimesh/negative_indices.obj");
    let bytes = std::fs::read(path).unwrap();
    let (model, _) = loads(|warnings| read_obj(&bytes, &no_side_files, "n.obj", warnings));
    let counted: usize = model.raw.faces().map(|face| face.len() - 2).sum();
    assert!(counted > 0 && model.character.mesh.n_faces() == counted);
}

proptest! {
    #[test]
    fn writing_and_reading_is_identity(character in characters()) {
        let bytes = write_obj(&character);
        let again = read_obj(&bytes, &no_side_files, "a.obj", &mut Warnings::default()).unwrap();
        same_polygons(&character, &again)?;
        let rgb = |colors: &Option<Vec<[f32; 4]>>| {
            colors.as_ref().map(|c| c.iter().map(|c| [c[0], c[1], c[2]]).collect::<Vec<_>>())
        };
        prop_assert_eq!(rgb(&character.surface.colors), rgb(&again.character.surface.colors));
    }
}

/// A textured quad with normals, two materials and a picture comes back whole through OBJ, MTL and PNG.
#[test]
fn materials_textures_and_polygons_survive() {
    let folder = std::env::temp_dir().join(format!("sinew-obj-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let pixel = vec![0x89, b'P', b'N', b'G', 1, 2, 3];
    let source = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nvt 0.5 0.5\nvn 0 0 1\n\
                  usemtl skin\nf 1/1/1 2/2/1 3/3/1 4/4/1\nusemtl cloth\nf 2/5/1 5/2/1 3/3/1\n";
    let mut first = read(source).unwrap().character;
    first.surface.materials[1].base_color_image =
        Some(Image { mime: "image/png".into(), bytes: std::sync::Arc::new(pixel) });
    first.surface.materials[1].base_color = [1.0; 4];
    let path = folder.join("a b.obj");
    write_obj_file(&path, &first).unwrap();
    let Content::Model(again) = read_any(&path, &mut Warnings::default()).unwrap() else { panic!() };
    std::fs::remove_dir_all(folder).unwrap();
    let (old, new) = (&first.surface, &again.character.surface);
    assert_eq!(again.character.mesh, first.mesh);
    assert_eq!((&new.polygons, &new.uvs, &new.normals), (&old.polygons, &old.uvs, &old.normals));
    assert_eq!(new.face_materials, old.face_materials);
    assert_eq!(new.materials[1], old.materials[1]);
    let apart = |k: usize| (new.materials[0].base_color[k] - old.materials[0].base_color[k]).abs();
    assert!((0..4).all(|k| apart(k) < 1e-5));
}

/// Found by fuzzing: a material whose name ends in a backslash took the face below it along.
#[test]
fn names_that_end_in_a_backslash_swallow_no_face() {
    let text = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red \\ \nf 1 2 3\n";
    let mut warnings = Warnings::default();
    let model = read_obj(text, &no_side_files, "a.obj", &mut warnings).unwrap();
    let mut character = model.character;
    assert_eq!((character.mesh.n_faces(), character.surface.materials.len()), (1, 1));
    character.surface.materials.iter_mut().for_each(|material| material.name = "red \\ \\\r".into());
    let again = read_obj(&write_obj(&character), &no_side_files, "b.obj", &mut warnings).unwrap();
    assert_eq!(again.character.mesh, character.mesh);
}
