//! Files written here, as text.

use glam::DVec3;
use sinew_formats::{GltfFile, SideFiles, fbx::read_fbx, gltf, no_side_files};
use sinew_geom::{AlphaMode, Warnings};
use std::io;

/// A tetrahedron whose corner at the origin, ahead, left and up differ.
const CORNERS: [[f64; 3]; 4] = [[0.0, 0.0, 0.0], [0.2, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.9]];

/// A file: its axes (up, front, right with their signs), centimetres per unit, and what follows the objects.
fn text(axes: [(usize, i32); 3], unit: f64, model: &str, more: &str) -> String {
    let [up, front, right] = axes;
    // Where each of our axes lies in the file.
    let mut place = [(0, 1.0); 3];
    for (ours, (theirs, sign)) in [(1, up), (2, front), (0, right)] {
        place[ours] = (theirs, f64::from(sign));
    }
    let turned = |p: [f64; 3]| {
        let mut out = [0.0; 3];
        (0..3).for_each(|k| out[place[k].0] = p[k] * place[k].1 * 100.0 / unit);
        out
    };
    let points: Vec<String> = CORNERS.into_iter().flat_map(turned).map(|x| x.to_string()).collect();
    // A mirrored space turns the faces over.
    let faces = "0,2,-2,0,1,-4,0,3,-3,1,2,-4";
    format!(
        "; FBX 7.4.0 project file\nFBXHeaderExtension: {{\n FBXVersion: 7400\n}}\nGlobalSettings: {{\n Properties70: {{\n\
         P: \"UpAxis\", \"int\", \"Integer\", \"\",{}\nP: \"UpAxisSign\", \"int\", \"Integer\", \"\",{}\n\
         P: \"FrontAxis\", \"int\", \"Integer\", \"\",{}\nP: \"FrontAxisSign\", \"int\", \"Integer\", \"\",{}\n\
         P: \"CoordAxis\", \"int\", \"Integer\", \"\",{}\nP: \"CoordAxisSign\", \"int\", \"Integer\", \"\",{}\n\
         P: \"UnitScaleFactor\", \"double\", \"Number\", \"\",{unit}\n }}\n}}\nObjects: {{\n\
         Geometry: 1, \"Geometry::tetrahedron\", \"Mesh\" {{\n Vertices: *12 {{\n a: {}\n }}\n\
         PolygonVertexIndex: *12 {{\n a: {faces}\n }}\n}}\n\
         Model: 2, \"Model::body\", \"Mesh\" {{\n Version: 232\n{model}\n}}\n{more}",
        up.0,
        up.1,
        front.0,
        front.1,
        right.0,
        right.1,
        points.join(",")
    )
}

const Y_UP: [(usize, i32); 3] = [(1, 1), (2, 1), (0, 1)];
const LINKS: &str = "}\nConnections: {\nC: \"OO\",1,2\nC: \"OO\",2,0\n";

fn read(text: &str, side: SideFiles) -> (GltfFile, String) {
    let mut warnings = Warnings::default();
    let file = read_fbx(text.as_bytes(), side, "made.fbx", &mut warnings);
    (file.unwrap_or_else(|error| panic!("{error}\n{text}")), warnings.messages.join("\n"))
}

/// Whatever its axes and unit, a file is the same in metres, upright.
#[test]
fn axes_and_units_do_not_matter() {
    for (up, front) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
        for signs in 0..4 {
            let sign = |bit: usize| if signs >> bit & 1 == 1 { -1 } else { 1 };
            let axis = |at: usize, sign: i32| DVec3::AXES[at] * f64::from(sign);
            // Right-handed: right is up × front.
            let right = axis(up, sign(0)).cross(axis(front, sign(1)));
            let at = (0..3).find(|&k| right[k] != 0.0).unwrap();
            for unit in [0.1, 1.0, 2.54, 100.0] {
                let axes = [(up, sign(0)), (front, sign(1)), (at, right[at] as i32)];
                let (file, said) = read(&(text(axes, unit, "", LINKS) + "}\n"), &no_side_files);
                assert!(said.is_empty(), "{said}");
                let mesh = &file.character.mesh;
                for corner in CORNERS.map(DVec3::from_array) {
                    let is_there = mesh.positions().iter().any(|p| p.distance(corner) < 1e-6);
                    assert!(is_there, "{axes:?}, {unit}: {:?} lacks {corner}", mesh.positions());
                }
            }
        }
    }
}

/// Pivots, geometric transforms and scales of nodes are in the positions.
#[test]
fn transforms_of_nodes_are_resolved() {
    let property = |name: &str, value: &str| format!("P: \"{name}\", \"\", \"\", \"\",{value}\n");
    let model = format!(
        " Properties70: {{\n{}{}{}{}{}\n }}",
        property("Lcl Translation", "100,0,0"),
        property("Lcl Rotation", "0,90,0"),
        property("Lcl Scaling", "2,2,2"),
        property("RotationPivot", "0,0,50"),
        property("GeometricTranslation", "0,10,0"),
    );
    let (file, _) = read(&(text(Y_UP, 1.0, &model, LINKS) + "}\n"), &no_side_files);
    // Geometry is shifted, scaled, turned about the pivot, and moved.
    let place = |p: DVec3| {
        let p = 2.0 * (p + DVec3::new(0.0, 0.1, 0.0)) - DVec3::new(0.0, 0.0, 0.5);
        DVec3::new(p.z, p.y, -p.x) + DVec3::new(0.0, 0.0, 0.5) + DVec3::X
    };
    for corner in CORNERS.map(DVec3::from_array).map(place) {
        let positions = file.character.mesh.positions();
        assert!(positions.iter().any(|p| p.distance(corner) < 1e-5), "{positions:?} lacks {corner}");
    }
}

/// A picture beside the file, found by the last part of a path of another machine; without it, a warning.
#[test]
fn pictures_are_found_beside_the_file() {
    const PNG: &[u8] = &[0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1A, b'\n', 0];
    let more = "Material: 3, \"Material::skin\", \"\" {\n ShadingModel: \"phong\"\n Properties70: {\n\
                P: \"DiffuseColor\", \"Color\", \"\", \"A\",0.5,0.25,1\nP: \"TransparencyFactor\", \"Number\", \"\", \"A\",0.25\n\
                P: \"TransparentColor\", \"Color\", \"\", \"A\",1,1,1\n }\n}\n\
                Texture: 4, \"Texture::skin\", \"\" {\n FileName: \"C:\\art\\skin.png\"\n RelativeFilename: \"..\\art\\skin.png\"\n}\n";
    let links = "C: \"OO\",3,2\n";
    let plain = text(Y_UP, 1.0, "", &format!("{more}{LINKS}{links}}}\n"));
    let (file, said) = read(&plain, &no_side_files);
    let material = &file.character.surface.materials[0];
    assert_eq!((material.name.as_str(), material.base_color), ("skin", [0.5, 0.25, 1.0, 0.75]), "{said}");
    assert_eq!(material.alpha, AlphaMode::Blend);
    let textured = text(Y_UP, 1.0, "", &format!("{more}{LINKS}{links}C: \"OP\",4,3, \"DiffuseColor\"\n}}\n"));
    let (file, said) = read(&textured, &no_side_files);
    assert!(said.contains("picture `skin.png` was not found"), "{said}");
    assert!(file.character.surface.materials[0].base_color_image.is_none());
    let side = |name: &str| match name {
        "skin.png" => Ok(PNG.to_vec()),
        _ => Err(io::Error::from(io::ErrorKind::NotFound)),
    };
    let (file, said) = read(&textured, &side);
    assert!(said.is_empty(), "{said}");
    assert_eq!(*file.character.surface.materials[0].base_color_image.as_ref().unwrap().bytes, PNG);
}

/// Hidden meshes are hidden parts, with their names.
#[test]
fn hidden_meshes_are_hidden_parts() {
    let hidden = " Properties70: {\nP: \"Show\", \"bool\", \"\", \"\",0\n }";
    let (file, _) = read(&(text(Y_UP, 1.0, hidden, LINKS) + "}\n"), &no_side_files);
    let parts = gltf::SurfaceParts::of(file.host.as_deref(), &file.character);
    assert_eq!(
        parts.parts.iter().map(|part| (part.name.as_str(), part.is_visible)).collect::<Vec<_>>(),
        [("body", false)]
    );
}

/// A bar on two bones with a blend shape and a take, the seed of fuzzing.
#[test]
fn bones_shapes_and_takes_move_the_surface() {
    let (file, said) = read(include_str!("../../../../fuzz/seeds/fbx/bar.fbx"), &no_side_files);
    assert!(said.is_empty(), "{said}");
    let character = &file.character;
    let clip = &character.clips[0];
    assert_eq!((clip.name.as_str(), clip.duration_secs()), ("wave", 1.0));
    assert_eq!(character.morphs[0].name, "wide");
    let at = |time: f32| -> Vec<DVec3> {
        character.positions_at(Some(clip), time).unwrap().into_iter().map(DVec3::from).collect()
    };
    // At the middle the shape is out and the upper bone turned by 45°, at the end by 90°.
    let (sine, cosine) = 45f64.to_radians().sin_cos();
    let turned = |x: f64, y: f64| DVec3::new(cosine * x - sine * y, sine * x + cosine * y + 0.05, 0.0);
    for (time, expected) in [
        (0.0, [DVec3::ZERO, DVec3::new(0.1, 0.0, 0.0), DVec3::new(0.1, 0.1, 0.0), DVec3::new(0.0, 0.1, 0.0)]),
        (0.5, [DVec3::ZERO, DVec3::new(0.15, 0.0, 0.0), turned(0.15, 0.05), turned(0.0, 0.05)]),
        (
            1.0,
            [
                DVec3::ZERO,
                DVec3::new(0.1, 0.0, 0.0),
                DVec3::new(-0.05, 0.15, 0.0),
                DVec3::new(-0.05, 0.05, 0.0),
            ],
        ),
    ] {
        let off = at(time).into_iter().zip(expected).map(|(a, b)| a.distance(b)).fold(0.0, f64::max);
        assert!(off < 1e-5, "{time}: {:?}", at(time));
    }
    let uvs = &character.surface.uvs.as_ref().unwrap().coords;
    assert_eq!(uvs.as_slice(), [[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]);
}
