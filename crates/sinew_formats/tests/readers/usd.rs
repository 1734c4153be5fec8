//! USD of other programs: what moves in it moves as the baked files of the same makers say.

use glam::{DAffine3, DVec3};
use sinew_formats::{Content, GltfFile, no_side_files, read_any, usd::read_usd};
use sinew_geom::{Character, Clip, Warnings};
use sinew_outside::{data, files_below, interop};
use std::path::Path;

fn open(path: &Path) -> Result<(GltfFile, Vec<String>), String> {
    let mut warnings = Warnings::default();
    match read_any(path, &mut warnings).map_err(|error| error.to_string())? {
        Content::Gltf(file) => Ok((*file, warnings.messages)),
        _ => panic!("{}: not a scene", path.display()),
    }
}

/// World positions at a time of a clip, slow and plain.
fn evaluate(character: &Character, clip: Option<&Clip>, time: f32) -> Vec<DVec3> {
    let mut weights: Vec<f32> = character.morphs.iter().map(|morph| morph.default_weight).collect();
    if let Some(clip) = clip {
        clip.sample_morphs(time, &mut weights);
    }
    let mut positions = character.mesh.positions().to_vec();
    for (morph, weight) in character.morphs.iter().zip(weights) {
        positions.iter_mut().zip(&morph.offsets).for_each(|(p, o)| *p += f64::from(weight) * o.as_dvec3());
    }
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else { return positions };
    let pose = clip.map_or_else(|| rig.rest_pose(), |clip| clip.sample(rig, time));
    let mut world = Vec::new();
    rig.forward(&pose, &mut world).unwrap();
    let matrices: Vec<DAffine3> = skin.matrices(&world);
    let blend = |(vertex, p): (usize, &DVec3)| {
        skin.vertex(vertex)
            .map(|(slot, w): (u16, f32)| f64::from(w) * matrices[slot as usize].transform_point3(*p))
            .sum()
    };
    positions.iter().enumerate().map(blend).collect()
}

fn diagonal(points: &[DVec3]) -> f64 {
    let [low, high] = sinew_geom::mesh::bounds(points);
    low.distance(high)
}

#[test]
fn every_usd_file_opens_or_says_why() {
    let Some(interop) = interop() else { return };
    // Vertices, and whether there is a clip.
    let expected = [
        ("BrainStem.usdz", 34159, true),
        ("CesiumMan.usdz", 3273, true),
        ("arm.usda", 12, true),
        ("arm_baked.usda", 12, true),
        ("blendshape.usdc", 8, false),
        ("blendshapesWithNormals.baked.usda", 100, true),
        ("blendshapesWithNormals.usda", 100, true),
        ("instancedSkinning.usda", 64, false),
        ("lbs.bakedInterval.usda", 0, true),
        ("lbs.usda", 0, true),
        ("pointsTypes.usda", 0, false),
        ("simple-skin-animation-test.usda", 25, true),
        ("vertexAnim.usda", 8, true),
    ];
    let files = files_below(&interop.join("usd"));
    assert_eq!(files.len(), expected.len());
    let mut wrong = Vec::new();
    for (path, (name, n_vertices, is_animated)) in files.iter().zip(expected) {
        assert!(path.ends_with(name), "{}", path.display());
        let (file, warnings) = open(path).unwrap_or_else(|error| panic!("{error}"));
        let character = &file.character;
        let n = character.mesh.n_vertices();
        let rig = character.rig.as_ref().map_or(0, |rig| rig.n_joints());
        println!(
            "{name}: {n} v {} f {rig} joints {} morphs {} clips {warnings:?}",
            character.mesh.n_faces(),
            character.morphs.len(),
            character.clips.len()
        );
        if (n_vertices > 0 && n != n_vertices) || character.clips.is_empty() == is_animated {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn broken_usd_files_say_why() {
    let Some(interop) = interop() else { return };
    for (path, part) in
        files_below(&interop.join("usd_bad")).iter().zip(["neither a mesh nor a skeleton", "is not USD"])
    {
        let error = open(path).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

/// Skins and blend shapes move vertices to where their makers baked them, at every frame of the baked file.
#[test]
fn poses_are_those_that_were_baked() {
    let Some(interop) = interop() else { return };
    let folder = interop.join("usd");
    let pairs = [
        ("arm.usda", "arm_baked.usda", 24.0, 10),
        ("lbs.usda", "lbs.bakedInterval.usda", 24.0, 10),
        ("blendshapesWithNormals.usda", "blendshapesWithNormals.baked.usda", 24.0, 17),
    ];
    let mut wrong = Vec::new();
    for (source, baked, rate, n_frames) in pairs {
        let (source_file, _) = open(&folder.join(source)).unwrap();
        let (baked_file, _) = open(&folder.join(baked)).unwrap();
        let (a, b) = (&source_file.character, &baked_file.character);
        assert_eq!(a.mesh.n_vertices(), b.mesh.n_vertices(), "{source}");
        let rest = evaluate(b, None, 0.0);
        let mut most = 0.0f64;
        for frame in 0..n_frames {
            let time = (frame as f64 / rate) as f32;
            let (moved, truth) = (evaluate(a, a.clips.first(), time), evaluate(b, b.clips.first(), time));
            let off =
                moved.iter().zip(&truth).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / diagonal(&truth);
            let way =
                rest.iter().zip(&truth).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / diagonal(&truth);
            most = most.max(way);
            println!("{source} frame {frame}: {off:.2e} of {way:.2e}");
            if off > 1e-4 {
                wrong.push((source, frame, off));
            }
        }
        // The blend shapes of the last file move normals only.
        assert!(most > 0.05 || source.starts_with("blend"), "{source}: nothing moves");
    }
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// The same model came to USD and to glTF by other programs: its surface is the same over the clip.
#[test]
fn a_model_is_the_same_in_usd_and_gltf() {
    let (Some(interop), Some(data)) = (interop(), data()) else { return };
    let (usd, _) = open(&interop.join("usd/CesiumMan.usdz")).unwrap();
    let gltf = sinew_formats::gltf::read_gltf_file(
        &data.join("rigs/khronos/CesiumMan.glb"),
        &mut Warnings::default(),
    )
    .unwrap();
    let (a, b) = (&usd.character, &gltf.character);
    // The clip of the USD file is counted from its first key.
    let rotations = b.clips[0].joints.iter().filter_map(|track| Some(track.rotation.as_ref()?.times()[0]));
    let start = rotations.fold(f32::INFINITY, f32::min);
    for share in [0.0, 0.25, 0.6] {
        let time = share * b.clips[0].duration_secs();
        let (p, q) = (evaluate(a, a.clips.first(), time), evaluate(b, b.clips.first(), start + time));
        let size = diagonal(&q);
        let nearest = |p: &DVec3| q.iter().map(|q| p.distance(*q)).fold(f64::INFINITY, f64::min) / size;
        let off = p.iter().step_by(7).map(nearest).fold(0.0, f64::max);
        println!("at {share}: {off:.2e}");
        assert!(off < 1e-3, "{off} at {share}");
    }
}

#[test]
fn damaged_usd_files_give_an_error_or_a_scene() {
    let Some(interop) = interop() else { return };
    let attempt = |bytes: &[u8]| {
        if let Err(error) = read_usd(bytes, &no_side_files, "a.usd", &mut Warnings::default()) {
            assert!(error.to_string().starts_with("a.usd"), "{error}");
        }
    };
    for name in ["blendshape.usdc", "arm.usda", "instancedSkinning.usda"] {
        let bytes = std::fs::read(interop.join("usd").join(name)).unwrap();
        let step = 1 + bytes.len() / 1000;
        (0..bytes.len()).step_by(step).for_each(|end| attempt(&bytes[..end]));
        for at in (0..bytes.len()).step_by(step) {
            for byte in [bytes[at] ^ 1, bytes[at] ^ 0x80, b'9', b'('] {
                let mut broken = bytes.clone();
                broken[at] = byte;
                attempt(&broken);
            }
        }
    }
}

fn read(
    text: &str,
    side: &dyn Fn(&str) -> std::io::Result<Vec<u8>>,
) -> (Result<GltfFile, String>, Vec<String>) {
    let mut warnings = Warnings::default();
    let read = read_usd(text.as_bytes(), &|name| side(name), "a.usda", &mut warnings)
        .map_err(|error| error.to_string());
    (read, warnings.messages)
}

const TRIANGLE: &str = "int[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 2]\n\
                        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n";

#[test]
fn references_are_followed_within_the_folder_and_no_further() {
    let side = |name: &str| {
        match name {
        "parts/leg.usda" => Ok(format!(
            "#usda 1.0\n(\n defaultPrim = \"Leg\"\n)\ndef Xform \"Leg\" {{ def Mesh \"Skin\" {{\n{TRIANGLE} }} rel other = </Leg/Skin> }}\n"
        )
        .into_bytes()),
        "loop.usda" => Ok(b"#usda 1.0\n(\n defaultPrim = \"A\"\n)\ndef \"A\" (references = @loop.usda@) {}\n".to_vec()),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    }
    };
    let text = "#usda 1.0\n(\n metersPerUnit = 1\n)\n\
        def Xform \"Left\" (references = @./parts/leg.usda@) { double3 xformOp:translate = (5, 0, 0)\n\
        uniform token[] xformOpOrder = [\"xformOp:translate\"] }\n\
        def \"Round\" (prepend references = @loop.usda@) {}\n\
        def \"Out\" (prepend payload = @../../secret.usda@) {}\n\
        def \"Gone\" (prepend references = @gone.usda@</X>) {}\n";
    let (file, warnings) = read(text, &side);
    let character = file.unwrap().character;
    assert_eq!(character.mesh.n_vertices(), 3);
    assert_eq!(character.mesh.positions()[0], DVec3::new(5.0, 0.0, 0.0));
    for part in ["refers to itself", "leads out of the folder", "`gone.usda` was not read"] {
        assert!(warnings.iter().any(|warning| warning.contains(part)), "{part}: {warnings:?}");
    }
}

#[test]
fn up_unit_variants_and_classes() {
    let side = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let text = format!(
        "#usda 1.0\n(\n upAxis = \"Z\"\n metersPerUnit = 0.5\n)\n\
         class \"_base\" {{ token kept = \"yes\" }}\n\
         def Xform \"Body\" (inherits = </_base>\n variants = {{ string size = \"tall\" }}\n prepend variantSets = \"size\") {{\n\
         variantSet \"size\" = {{ \"short\" {{ }} \"tall\" {{ def Mesh \"Skin\" {{\n{TRIANGLE} }} }} }} }}\n"
    );
    let (file, warnings) = read(&text, &side);
    let character = file.unwrap_or_else(|error| panic!("{error}")).character;
    assert!(
        character.mesh.positions()[2].distance(DVec3::new(0.0, 0.0, -0.5)) < 1e-6,
        "{:?}",
        character.mesh.positions()
    );
    assert!(warnings.iter().all(|warning| !warning.contains("unit")), "{warnings:?}");
}

/// A skinned square under a node that moves, whose knee turns by 90° while a blend shape passes its in-between.
#[test]
fn everything_that_moves_moves_together() {
    let side = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let text = include_str!("../../../../fuzz/seeds/usd/skinned.usda");
    let (file, warnings) = read(text, &side);
    assert_eq!(warnings, [""; 0]);
    let character = file.unwrap().character;
    let at = |time: f32| evaluate(&character, character.clips.first(), time)[2];
    // Turned to +Y up: x, z, −y.
    for (time, expected) in [
        (0.0, DVec3::new(1.0, 2.0, 0.0)),
        (0.5, DVec3::new(1.5, 1.848_53, 0.565_69)),
        (1.0, DVec3::new(2.0, 2.0, 1.0)),
    ] {
        assert!(at(time).distance(expected) < 1e-4, "{} at {time} instead of {expected}", at(time));
    }
    let text = include_str!("../../../../fuzz/seeds/usd/moving.usda");
    let character = read(text, &side).0.unwrap().character;
    let moved = evaluate(&character, character.clips.first(), 1.0 / 24.0);
    assert!(moved[1].distance(DVec3::new(0.02, 0.0, 0.0)) < 1e-6, "the variant scales: {}", moved[1]);
    assert!(moved[2].distance(DVec3::new(0.0, 0.01, 0.01)) < 1e-6, "{}", moved[2]);
}

#[test]
fn faults_have_lines_and_paths() {
    let side = |_: &str| Err(std::io::ErrorKind::NotFound.into());
    let table = [
        ("#usda 1.0\ndef Mesh \"A\" {\nfloat x = nonsense(\n}\n", ":4"),
        (
            "#usda 1.0\ndef Mesh \"A\" {\npoint3f[] points = [(0, 0, 0), (1, 0)]\n}\n",
            ":3: a tuple has 2 numbers instead of 3",
        ),
        ("#usda 1.0\ndef Mesh \"A\" {\n", ":3"),
        ("#usda 1.0\nundef Mesh \"A\" {}\n", "`undef` is not `def`"),
        (
            "#usda 1.0\ndef Mesh \"A\" {\nint[] faceVertexCounts = [3]\nint[] faceVertexIndices = [0, 1, 9]\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n",
            "/A: corner 2 is vertex 9",
        ),
        (
            "#usda 1.0\ndef Mesh \"A\" {\nint[] faceVertexCounts = [4]\nint[] faceVertexIndices = [0, 1, 2]\npoint3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]\n}\n",
            "4 corners, but 3 are listed",
        ),
        ("#usda 1.0\ndef Xform \"A\" {}\n", "neither a mesh nor a skeleton"),
        ("hello", "does not start with `#usda"),
    ];
    for (text, part) in table {
        let (file, _) = read(text, &side);
        let error = file.map(drop).unwrap_err();
        assert!(error.contains(part), "{text}: {error}");
    }
    let deep = format!("#usda 1.0\n{}", "def \"A\" {\n".repeat(100_000));
    assert!(read(&deep, &side).0.unwrap_err().contains("deeper than"));
    let tuples = format!("#usda 1.0\ndef \"A\" {{\nfloat x = {}\n", "(".repeat(100_000));
    assert!(read(&tuples, &side).0.unwrap_err().contains("deeper than"));
}
