//! Files of other programs: their own poses as OBJ, and the poses that `ufbx` evaluates without any conversion.

use crate::support::{diagonal, files, open, strays};
use glam::DVec3;
use sinew_formats::read_any;
use sinew_geom::{Character, Warnings};
use sinew_outside::interop;
use std::{collections::BTreeSet, path::Path};
use ufbx::{
    AnimStack, CoordinateAxes, CoordinateAxis, EvaluateOpts, FileFormat, InheritModeHandling, LoadOpts,
    Matrix, Scene, SceneRoot,
};

/// Farthest that a point may lie from where it belongs, as a share of the diagonal.
const SHARE: f64 = 1e-4;

/// The file, the clip, the frame, the pose and the length of its unit.
type Case = (&'static str, Option<&'static str>, f64, &'static str, f64, f64);

/// Poses that the programs wrote themselves, with the length of their unit and the share they are exact to. Those of
/// `maya_instanced_skin` are left out: Maya moves a skinned mesh with its node once more, which FBX does not; see
/// [`a_mesh_on_bones_that_is_shown_twice_is_named`].
const POSES: [Case; 21] = [
    (
        "maya_game_sausage_7500_binary_wiggle.fbx",
        Some(""),
        10.0,
        "maya_game_sausage_wiggle_10.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_7500_binary_wiggle.fbx",
        Some(""),
        18.0,
        "maya_game_sausage_wiggle_18.obj",
        0.01,
        SHARE,
    ),
    ("maya_game_sausage_7500_binary_spin.fbx", Some(""), 27.0, "maya_game_sausage_spin_7.obj", 0.01, SHARE),
    ("maya_game_sausage_7500_binary_spin.fbx", Some(""), 35.0, "maya_game_sausage_spin_15.obj", 0.01, SHARE),
    (
        "maya_game_sausage_7500_binary_deform.fbx",
        Some(""),
        48.0,
        "maya_game_sausage_deform_8.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_7500_binary_deform.fbx",
        Some(""),
        55.0,
        "maya_game_sausage_deform_15.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("wiggle"),
        10.0,
        "maya_game_sausage_wiggle_10.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("wiggle"),
        18.0,
        "maya_game_sausage_wiggle_18.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("spin"),
        27.0,
        "maya_game_sausage_spin_7.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("spin"),
        35.0,
        "maya_game_sausage_spin_15.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("deform"),
        48.0,
        "maya_game_sausage_deform_8.obj",
        0.01,
        SHARE,
    ),
    (
        "maya_game_sausage_6100_ascii_combined.fbx",
        Some("deform"),
        55.0,
        "maya_game_sausage_deform_15.obj",
        0.01,
        SHARE,
    ),
    ("maya_blend_inbetween_7500_ascii.fbx", Some(""), 1.0, "maya_blend_inbetween_1.obj", 0.01, SHARE),
    ("maya_blend_inbetween_7500_ascii.fbx", Some(""), 30.0, "maya_blend_inbetween_30.obj", 0.01, SHARE),
    ("maya_blend_inbetween_7500_ascii.fbx", Some(""), 60.0, "maya_blend_inbetween_60.obj", 0.01, SHARE),
    ("maya_blend_inbetween_7500_ascii.fbx", Some(""), 120.0, "maya_blend_inbetween_120.obj", 0.01, SHARE),
    ("maya_rotation_order_7500_binary.fbx", None, 0.0, "maya_rotation_order.obj", 0.01, SHARE),
    ("blender_340_z_up_7400_binary.fbx", None, 0.0, "blender_340_z_up.obj", 1.0, SHARE),
    ("blender_340_y_up_7400_binary.fbx", None, 0.0, "blender_340_y_up.obj", 1.0, SHARE),
    // Max wrote these with few digits.
    ("max7_skin_5000_binary.fbx", Some(""), 5.0, "max7_skin_5.obj", 0.01, 1e-3),
    ("max7_skin_5000_binary.fbx", Some(""), 15.0, "max7_skin_15.obj", 0.01, 1e-3),
];

/// Positions of a character at a frame, which its clip counts from its own begin.
fn positions_at(character: &Character, scene: &Scene, clip: Option<&str>, time: f64) -> Vec<DVec3> {
    let clip = clip.map(|name| {
        let found = character.clips.iter().find(|clip| name.is_empty() || clip.name == name);
        found.unwrap_or_else(|| panic!("no clip {name:?} in {:?}", names(character)))
    });
    let stack = clip.map(|clip| stack_of(scene, &clip.name));
    let begin = stack.map_or(0.0, |stack| stack.time_begin);
    let positions = character.positions_at(clip, (time - begin) as f32).unwrap();
    positions.into_iter().map(DVec3::from).collect()
}

fn names(character: &Character) -> Vec<&str> {
    character.clips.iter().map(|clip| clip.name.as_str()).collect()
}

fn stack_of<'a>(scene: &'a Scene, name: &str) -> &'a AnimStack {
    let stacks = &scene.anim_stacks;
    let found = stacks.iter().find(|stack| &*stack.element.name == name);
    found.unwrap_or_else(|| panic!("no take {name:?}"))
}

/// A file as it is, only turned upright and in metres by its root.
fn load(path: &Path) -> SceneRoot {
    let options = LoadOpts {
        file_format: FileFormat::Fbx,
        target_axes: CoordinateAxes {
            right: CoordinateAxis::PositiveX,
            up: CoordinateAxis::PositiveY,
            front: CoordinateAxis::PositiveZ,
        },
        target_unit_meters: 1.0,
        inherit_mode_handling: InheritModeHandling::Preserve,
        evaluate_skinning: true,
        ..LoadOpts::default()
    };
    ufbx::load_memory(&std::fs::read(path).unwrap(), options)
        .unwrap_or_else(|error| panic!("{}", error.description))
}

#[test]
fn poses_are_those_that_the_programs_wrote() {
    let Some(interop) = interop() else { return };
    let folder = interop.join("fbx");
    let mut wrong = Vec::new();
    for (file, clip, frame, pose, unit, share) in POSES {
        let path = folder.join(file);
        let (read, _) = open(&path).unwrap_or_else(|error| panic!("{error}"));
        let scene = load(&path);
        let time = frame / scene.settings.frames_per_second;
        let found = positions_at(&read.character, &scene, clip, time);
        let expected =
            read_any(&folder.join(pose), &mut Warnings::default()).unwrap().into_character().unwrap().mesh;
        let is_z_up = pose == "blender_340_y_up.obj";
        let upright = |p: DVec3| if is_z_up { DVec3::new(p.x, p.z, -p.y) } else { p };
        let expected: Vec<DVec3> = expected.positions().iter().map(|p| upright(*p) * unit).collect();
        // One file holds more than the pose does.
        let found =
            if pose == "blender_340_z_up.obj" { found[..found.len().min(24)].to_vec() } else { found };
        let n = strays(&found, &expected, share * diagonal(&expected));
        if n > 0 {
            wrong
                .push(format!("{file} at {frame}: {n} of {} points are not those of {pose}", expected.len()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Points that faces use, of every mesh at every node, in the space of the world.
fn evaluated(scene: &Scene) -> Vec<DVec3> {
    let mut points = Vec::new();
    for node in &scene.nodes {
        let Some(mesh) = node.mesh.as_deref() else { continue };
        let faces = mesh.faces.iter().filter(|face| face.num_indices >= 3);
        let corners = faces.flat_map(|face| face.index_begin..face.index_begin + face.num_indices);
        let used: BTreeSet<u32> = corners.map(|corner| mesh.vertex_indices[corner as usize]).collect();
        for point in used {
            let p = mesh.skinned_position.values[point as usize];
            let p = DVec3::new(p.x, p.y, p.z);
            points.push(if mesh.skinned_is_local { place(&node.geometry_to_world, p) } else { p });
        }
    }
    points
}

fn place(m: &Matrix, p: DVec3) -> DVec3 {
    DVec3::new(m.m00, m.m10, m.m20) * p.x
        + DVec3::new(m.m01, m.m11, m.m21) * p.y
        + DVec3::new(m.m02, m.m12, m.m22) * p.z
        + DVec3::new(m.m03, m.m13, m.m23)
}

fn evaluate(scene: &Scene, stack: &AnimStack, time: f64) -> Vec<DVec3> {
    let options = EvaluateOpts { evaluate_skinning: true, ..EvaluateOpts::default() };
    let posed = ufbx::evaluate_scene(scene, &stack.anim, time, options);
    evaluated(&posed.unwrap_or_else(|error| panic!("{}", error.description)))
}

/// Every file, at rest and at frames of every take.
#[test]
fn every_pose_is_the_one_without_conversion() {
    let Some(interop) = interop() else { return };
    let mut wrong = Vec::new();
    let mut n_poses = 0;
    for path in ["fbx", "character"].iter().flat_map(|folder| files(&interop.join(folder), "fbx")) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (read, _) = open(&path).unwrap_or_else(|error| panic!("{error}"));
        let character = &read.character;
        let scene = load(&path);
        if character.mesh.n_vertices() == 0 {
            assert!(evaluated(&scene).is_empty(), "{name}: the surface is lost");
            continue;
        }
        let (found, expected) = (positions_at(character, &scene, None, 0.0), evaluated(&scene));
        let n = strays(&found, &expected, SHARE * diagonal(&expected));
        if n > 0 {
            wrong.push(format!("{name} at rest: {n} of {} points", expected.len()));
        }
        let fps = scene.settings.frames_per_second;
        for stack in &scene.anim_stacks {
            // Takes that move nothing that is read: one that is empty, a camera, and a mesh on bones.
            let is_known = ["Take 001", "(internal)", "Eagle|Idle"].contains(&&*stack.element.name);
            let has_curves = stack.layers.iter().any(|layer| !layer.anim_values.is_empty());
            let is_clip = names(character).contains(&&*stack.element.name);
            assert!(is_clip || is_known || !has_curves, "{name}: take {:?} is lost", &*stack.element.name);
        }
        for clip in &character.clips {
            let stack = stack_of(&scene, &clip.name);
            let last = f64::from(clip.duration_secs()).min(stack.time_end - stack.time_begin);
            for share in [0.0, 0.31, 0.68, 1.0] {
                let frame = ((stack.time_begin + share * last) * fps).round();
                let time = (frame / fps).clamp(stack.time_begin, stack.time_end);
                let expected = evaluate(&scene, stack, time);
                let found = positions_at(character, &scene, Some(&clip.name), time);
                let n = strays(&found, &expected, SHARE * diagonal(&expected));
                n_poses += 1;
                if n > 0 {
                    wrong.push(format!(
                        "{name}: {} at frame {frame}: {n} of {} points",
                        clip.name,
                        expected.len()
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(n_poses > 100, "{n_poses}");
}

/// Skeletons without a surface, and motions of them, are rigs and clips.
#[test]
fn skeletons_without_a_surface_are_rigs() {
    let Some(interop) = interop() else { return };
    for (file, n_joints, is_moving) in [
        ("Silly_Dancing.fbx", 65, true),
        ("maya_human_ik_7400_binary.fbx", 62, false),
        ("maya_human_ik_6100_ascii.fbx", 62, false),
    ] {
        let (read, warnings) = open(&interop.join("fbx").join(file)).unwrap();
        let rig = read.character.rig.as_ref().unwrap();
        assert!(rig.n_joints() >= n_joints, "{file}: {} joints", rig.n_joints());
        assert_eq!(!read.character.clips.is_empty(), is_moving, "{file}: {warnings:?}");
        assert_eq!(read.character.mesh.n_faces(), 0, "{file}");
    }
}

/// Point caches are not read with their mesh, which is said.
#[test]
fn point_caches_are_named() {
    let Some(interop) = interop() else { return };
    for path in files(&interop.join("pointcache"), "fbx") {
        let (read, warnings) = open(&path).unwrap();
        assert!(read.character.mesh.n_faces() > 0);
        assert!(warnings.join("\n").contains("point cache"), "{}: {warnings:?}", path.display());
    }
}

#[test]
fn a_mesh_on_bones_that_is_shown_twice_is_named() {
    let Some(interop) = interop() else { return };
    let (_, warnings) = open(&interop.join("fbx/maya_instanced_skin_7700_binary.fbx")).unwrap();
    let said = warnings.join("\n");
    assert!(said.contains("shown several times") && said.contains("follows bones alone"), "{said}");
}
