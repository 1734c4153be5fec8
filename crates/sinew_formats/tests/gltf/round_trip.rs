//! Write, then read: what comes back is what was there.

use crate::support::{data, diagonal, evaluate, files, read, tube};
use glam::{DAffine3, DVec3, Quat, Vec3};
use proptest::prelude::*;
use sinew_formats::gltf::{GlbOptions, read_gltf, read_views, write_glb, write_glb_file};
use sinew_formats::no_side_files;
use sinew_geom::measure::largest_error;
use sinew_geom::rig::{Interpolation, Joint, JointTrack, Keys, MorphTrack};
use sinew_geom::*;
use std::sync::Arc;

fn again(character: &Character) -> Character {
    let mut warnings = Warnings::default();
    let options = GlbOptions { max_influences: 8, ..GlbOptions::default() };
    let bytes = write_glb(character, &options, &mut warnings).unwrap();
    let name = format!("{}.glb", character.name);
    let file =
        read_gltf(&bytes, &no_side_files, &name, &mut warnings).unwrap_or_else(|error| panic!("{error}"));
    file.character
}

/// What the writer does not promise to keep: the order of faces of different materials, and absent normals
/// and materials, which it fills in.
fn canonical(mut character: Character) -> Character {
    let materials = character.surface.face_materials.clone();
    let mut order: Vec<usize> = (0..character.mesh.n_faces()).collect();
    order.sort_by_key(|&face| materials.get(face).copied().unwrap_or(0));
    let faces = order.iter().map(|&face| character.mesh.faces()[face]).collect();
    character.mesh = Mesh::new(character.mesh.positions().to_vec(), faces).unwrap();
    if let Some(uvs) = &mut character.surface.uvs {
        uvs.corners = order.iter().map(|&face| uvs.corners[face]).collect();
    }
    if !materials.is_empty() {
        character.surface.face_materials = order.iter().map(|&face| materials[face]).collect();
    }
    character
}

#[test]
fn real_rigs_keep_every_bit() {
    let Some(data) = data() else { return };
    for path in files(&data, &["glb", "vrm", "vrma"]) {
        let mut first = read(&path).character;
        // Joints of the same name are distinguished in the file.
        let second = again(&first);
        if first.surface.normals.is_none() {
            first.surface.normals = second.surface.normals.clone();
        }
        if first.surface.materials.is_empty() {
            first.surface.materials = second.surface.materials.clone();
        }
        if let (Some(a), Some(b)) = (&first.rig, &second.rig) {
            for (a, b) in a.joints().iter().zip(b.joints()) {
                assert!(b.name.starts_with(&a.name), "{}: {} became {}", path.display(), a.name, b.name);
            }
            first.rig = Some(rename(a, b));
        }
        let first = canonical(first);
        assert_eq!(first.mesh, second.mesh, "{}", path.display());
        assert_eq!(first.surface.uvs, second.surface.uvs, "{}", path.display());
        assert_eq!(first.rig, second.rig, "{}", path.display());
        assert_eq!(first.clips, second.clips, "{}", path.display());
        assert_eq!(first.morphs, second.morphs, "{}", path.display());
        assert_eq!(first.skin.is_some(), second.skin.is_some(), "{}: a skin was lost", path.display());
        if let (Some(a), Some(b)) = (&first.skin, &second.skin) {
            assert_eq!(a.slots, b.slots, "{}", path.display());
            let off =
                largest_error(a.weights().iter().zip(b.weights()).map(|(a, b)| f64::from((a - b).abs())));
            assert!(a.influences() == b.influences() && off < 1e-6, "{}: {off}", path.display());
        }
        // The third must be the second in every bit.
        assert_eq!(canonical(second.clone()), again(&second), "{}", path.display());
        if let Some(clip) = second.clips.first() {
            let time = clip.duration_secs() * 0.4;
            let (a, b) = (evaluate(&first, Some(clip), time), evaluate(&second, Some(clip), time));
            let worst = largest_error(a.iter().zip(&b).map(|(a, b)| a.distance(*b)));
            assert!(worst <= 1e-6 * diagonal(&a), "{}: {worst}", path.display());
        }
    }
}

fn rename(rig: &Rig, names: &Rig) -> Rig {
    let mut joints = rig.joints().to_vec();
    assert_eq!(joints.len(), names.n_joints());
    joints.iter_mut().zip(names.joints()).for_each(|(joint, named)| joint.name.clone_from(&named.name));
    Rig::new(joints).unwrap()
}

#[test]
fn files_are_written_in_one_step() {
    let path = std::env::temp_dir().join(format!("sinew-{}.glb", std::process::id()));
    let character = tube(3, 8);
    write_glb_file(&path, &character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
    assert_eq!(read(&path).character.mesh, character.mesh);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn seams_are_cut_in_the_file_and_joined_again() {
    let mut character = tube(2, 1);
    let faces = character.mesh.faces().to_vec();
    // Every corner has the coordinate of its vertex, but one corner has another.
    let mut uvs = Uvs { coords: (0..24).map(|i| [i as f32, 0.5]).collect(), corners: faces.clone() };
    uvs.coords.push([7.0, 7.0]);
    uvs.corners[3][1] = 24;
    character.surface.uvs = Some(uvs.clone());
    let bytes = write_glb(&character, &GlbOptions::default(), &mut Warnings::default()).unwrap();
    let file = read_gltf(&bytes, &no_side_files, "a.glb", &mut Warnings::default()).unwrap();
    assert_eq!(file.info.n_vertices, 25, "players see the seam");
    let joined = file.character;
    assert_eq!(joined.mesh.positions(), character.mesh.positions());
    assert_eq!(joined.mesh.faces(), faces);
    assert_eq!(joined.skin.unwrap().n_vertices(), 24);
    assert_eq!(joined.surface.uvs, Some(uvs));
    // Another index of the same coordinate is no seam.
    let mut uvs = character.surface.uvs.clone().unwrap();
    uvs.coords[24] = uvs.coords[faces[3][1] as usize];
    character.surface.uvs = Some(uvs);
    assert_eq!(again(&character).mesh.n_vertices(), 24);
}

#[test]
fn a_joint_bound_twice_and_two_roots_come_back() {
    let mut character = tube(3, 4);
    let mut skin = character.skin.clone().unwrap();
    let mut slots = skin.slots.clone();
    slots.push(SkinSlot { joint: 1, inverse_bind: DAffine3::from_translation(DVec3::new(0.5, 0.25, 0.0)) });
    let mut indices = skin.indices().to_vec();
    // Entries without weight come back as slot 0, behind those with weight.
    let mut weights = skin.weights().to_vec();
    for (slots, weights) in indices.chunks_exact_mut(2).zip(weights.chunks_exact_mut(2)) {
        if weights[0] == 0.0 {
            slots.swap(0, 1);
            weights.swap(0, 1);
        }
        slots[1] = if weights[1] == 0.0 { 0 } else { slots[1] };
    }
    indices[0] = 3;
    skin = Skin::new(slots, 2, indices, weights, &mut Warnings::default()).unwrap();
    character.skin = Some(skin);
    let mut joints = character.rig.clone().unwrap().joints().to_vec();
    joints.push(Joint::new("prop", None, Transform::from_translation(DVec3::X)));
    character.rig = Some(Rig::new(joints).unwrap());
    let found = again(&character);
    assert_eq!((found.rig, found.skin, found.clips), (character.rig, character.skin, character.clips));
}

#[test]
fn further_extensions_and_their_bytes_come_back() {
    let mut options = GlbOptions { views: vec![vec![1, 2, 3], vec![], vec![9; 5]], ..GlbOptions::default() };
    options.extensions.insert("SINEW_character".into(), serde_json::json!({"rules": 0, "version": 7}));
    options.extensions.insert("ACME_note".into(), serde_json::json!({"text": "hello"}));
    let mut character = tube(3, 4);
    character.handles = vec![Handle { name: "tip".into(), ..Handle::default() }];
    let mut warnings = Warnings::default();
    let bytes = write_glb(&character, &options, &mut warnings).unwrap();
    let file = read_gltf(&bytes, &no_side_files, "x", &mut warnings).unwrap();
    assert_eq!(file.extensions["ACME_note"], options.extensions["ACME_note"]);
    assert_eq!(file.extensions["SINEW_character"]["rules"], 0);
    assert_eq!(file.extensions["SINEW_character"]["version"], 1);
    assert_eq!(file.character.handles, character.handles);
    let views = read_views(&bytes, &no_side_files, "x", &[2, 0, 1]).unwrap();
    assert_eq!(views, [vec![9; 5], vec![1, 2, 3], vec![0; 4]]);
    assert!(read_views(&bytes, &no_side_files, "x", &[99]).is_err());
}

#[test]
fn strongest_influences_are_kept() {
    let mut character = tube(6, 4);
    let n = character.mesh.n_vertices();
    let weights: Vec<f32> = (0..n).flat_map(|_| [0.1, 0.3, 0.2, 0.05, 0.25, 0.1]).collect();
    let slots = character.skin.unwrap().slots;
    let indices = (0..n).flat_map(|_| 0..6u16).collect();
    character.skin = Some(Skin::new(slots, 6, indices, weights, &mut Warnings::default()).unwrap());
    assert_eq!(again(&character).skin.unwrap().influences(), 6);
    let mut warnings = Warnings::default();
    let bytes = write_glb(&character, &GlbOptions::default(), &mut warnings).unwrap();
    assert!(warnings.messages[0].contains("the strongest were kept"));
    let skin = read_gltf(&bytes, &no_side_files, "x", &mut warnings).unwrap().character.skin.unwrap();
    let kept: Vec<(u16, f32)> = skin.vertex(0).collect();
    assert_eq!(kept.iter().map(|entry| entry.0).collect::<Vec<_>>(), [1, 4, 2, 0]);
    assert!((kept[0].1 - 0.3 / 0.85).abs() < 1e-6);
}

#[test]
fn misfits_and_oddities() {
    // A skin of another mesh.
    let mut character = tube(3, 4);
    character.mesh = tube(3, 5).mesh;
    assert!(write_glb(&character, &GlbOptions::default(), &mut Warnings::default()).is_err());
    // A rig that lacks a joint.
    let mut character = tube(3, 4);
    character.rig = tube(2, 4).rig;
    assert!(write_glb(&character, &GlbOptions::default(), &mut Warnings::default()).is_err());
    // Nothing at all.
    let nothing = Character { name: "nothing".into(), ..Character::default() };
    assert_eq!(again(&nothing), nothing);
    // A rig and a clip alone, as from a BVH file.
    let character = Character { mesh: Mesh::default(), skin: None, ..tube(3, 4) };
    assert_eq!(again(&character), character);
    // Numbers that are none.
    let mut character = tube(3, 4);
    let n = character.mesh.n_vertices();
    character.surface.normals = Some(vec![Vec3::NAN; n]);
    character.surface.colors = Some(vec![[f32::NAN, f32::INFINITY, -1.0, 0.5]; n]);
    character.morphs =
        vec![Morph { name: "m".into(), offsets: vec![Vec3::NAN; n], default_weight: f32::NAN }];
    character.skin.as_mut().unwrap().slots[1].inverse_bind = DAffine3::NAN;
    let found = again(&character);
    assert_eq!(found.surface.colors.unwrap()[0], [0.0, 1.0, 0.0, 0.5]);
    assert_eq!(found.morphs[0].offsets[0], Vec3::ZERO);
}

fn vec3() -> impl Strategy<Value = Vec3> + Clone {
    proptest::array::uniform3(-10.0f32..10.0).prop_map(Vec3::from_array)
}

fn quat() -> impl Strategy<Value = Quat> + Clone {
    (vec3(), -3.0f32..3.0)
        .prop_map(|(axis, angle)| Quat::from_axis_angle(axis.try_normalize().unwrap_or(Vec3::X), angle))
}

fn interpolation() -> impl Strategy<Value = Interpolation> {
    prop_oneof![Just(Interpolation::Step), Just(Interpolation::Linear), Just(Interpolation::Cubic)]
}

fn keys<T: rig::Interpolate + std::fmt::Debug + 'static>(
    value: impl Strategy<Value = T> + Clone + 'static,
    width: usize,
) -> impl Strategy<Value = Keys<T>> {
    (2usize..6, interpolation()).prop_flat_map(move |(n, interpolation)| {
        let per_key = if interpolation == Interpolation::Cubic { 3 * width } else { width };
        let times: Vec<f32> = (0..n).map(|i| i as f32 * 0.3).collect();
        proptest::collection::vec(value.clone(), n * per_key)
            .prop_map(move |values| Keys::new(times.clone(), values, interpolation, width).unwrap())
    })
}

prop_compose! {
    /// Joints in any topological order, each carrying weight so that it belongs to the skeleton.
    fn joints(n: usize)(
        parents in proptest::collection::vec(any::<proptest::sample::Index>(), n),
        shifts in proptest::collection::vec(vec3(), n),
        turns in proptest::collection::vec(quat(), n),
        scales in proptest::collection::vec(0.5f64..2.0, n),
        order in 0..6usize,
        low in -3.0f64..0.0,
    ) -> Vec<Joint> {
        (0..n).map(|i| {
            let parent = (i > 0).then(|| parents[i].index(i));
            let rest = Transform {
                translation: shifts[i].as_dvec3() * 1.1,
                rotation: turns[i].as_dquat().normalize(),
                scale: DVec3::new(scales[i], 1.0, 1.0),
            };
            let mut joint = Joint::new(format!("j{i}"), parent, rest);
            joint.euler = EulerOrder::ALL[(order + i) % 6];
            joint.dofs = vec![Dof { kind: DofKind::ALL[i % 6], range: [low, f64::INFINITY] }];
            joint
        }).collect()
    }
}

prop_compose! {
    fn character()(n_vertices in 3usize..12, n_joints in 1usize..5)(
        positions in proptest::collection::vec(vec3(), n_vertices),
        faces in proptest::collection::vec(proptest::array::uniform3(0..n_vertices as u32), 1..8),
        face_materials in proptest::collection::vec(0..3u16, 8),
        normals in proptest::collection::vec(quat(), n_vertices),
        uvs in proptest::collection::vec(proptest::array::uniform2(0.0f32..1.0), n_vertices),
        colors in proptest::collection::vec(proptest::array::uniform4(0.0f32..1.0), n_vertices),
        joints in joints(n_joints),
        binds in proptest::collection::vec((vec3(), quat()), n_joints),
        weights in proptest::collection::vec(0.1f32..0.9, n_vertices),
        slots in proptest::collection::vec(0..n_joints as u16, n_vertices),
        offsets in proptest::collection::vec(vec3(), n_vertices),
        translation in keys(vec3(), 1),
        rotation in keys(quat(), 1),
        scale in keys(vec3(), 1),
        morph_keys in keys(-1.0f32..1.0, 2),
        factor in 0.0f32..1.0,
    ) -> Character {
        let (n_vertices, n_faces, n_joints) = (positions.len(), faces.len(), joints.len());
        let mut face_materials = face_materials[..n_faces].to_vec();
        // All faces of the first material are written as no list at all.
        face_materials[0] = 1;
        let bind = |(joint, (shift, turn)): (usize, &(Vec3, Quat))| {
            let exact = DAffine3::from_rotation_translation(turn.as_dquat(), shift.as_dvec3());
            let single = exact.to_cols_array().map(|x| f64::from(x as f32));
            SkinSlot { joint, inverse_bind: DAffine3::from_cols_array(&single) }
        };
        let skin_slots = binds.iter().enumerate().map(bind).collect();
        let second = |slot: u16| (slot + 1) % n_joints as u16;
        let (indices, weights): (Vec<u16>, Vec<f32>) = match n_joints {
            1 => (vec![0; n_vertices], vec![1.0; n_vertices]),
            _ => (
                slots.iter().flat_map(|&s| [s, second(s)]).collect(),
                weights.iter().flat_map(|&w| [w, 1.0 - w]).collect(),
            ),
        };
        let influences = indices.len() / n_vertices;
        let morph = |k: usize| Morph {
            name: format!("m{k}"),
            offsets: offsets.iter().map(|o| *o * (k + 1) as f32).collect(),
            default_weight: 0.25 * k as f32,
        };
        let material = |k: u8| Material {
            name: format!("material {k}"),
            base_color: [factor, 0.1 * f32::from(k), 0.5, 1.0],
            base_color_image: (k == 1).then(|| Image {
                mime: "image/jpeg".into(),
                bytes: Arc::new(vec![0xFF, 0xD8, 0xFF, k, 1, 2, 3]),
            }),
            metallic: factor,
            roughness: 1.0 - factor,
            double_sided: k == 2,
            alpha: [AlphaMode::Opaque, AlphaMode::Blend, AlphaMode::Mask(factor)][usize::from(k)],
        };
        let track = JointTrack {
            joint: n_joints - 1,
            translation: Some(translation),
            rotation: Some(rotation),
            scale: Some(scale),
        };
        let mut warnings = Warnings::default();
        Character {
            name: "made up".into(),
            mesh: Mesh::new(positions.iter().map(|p| p.as_dvec3()).collect(), faces.clone()).unwrap(),
            surface: Surface {
                polygons: None,
                normals: Some(normals.iter().map(|q| *q * Vec3::Y).collect()),
                uvs: Some(Uvs { coords: uvs, corners: faces }),
                colors: Some(colors),
                materials: (0..3).map(material).collect(),
                face_materials,
            },
            rig: Some(Rig::new(joints).unwrap()),
            skin: Some(Skin::new(skin_slots, influences, indices, weights, &mut warnings).unwrap()),
            morphs: (0..2).map(morph).collect(),
            clips: vec![Clip {
                name: "clip".into(),
                joints: vec![track],
                morphs: vec![MorphTrack { morphs: 0..2, keys: morph_keys }],
            }],
            handles: vec![Handle {
                name: "handle".into(),
                vertices: vec![0, 2],
                weights: vec![1.0, factor],
                center: DVec3::new(0.1, 0.2, f64::from(factor)),
                secondary: vec!["other".into()],
            }],
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn write_then_read_is_identity(character in character()) {
        prop_assert_eq!(again(&character), canonical(character));
    }
}

/// Fewer bits: a skin keeps its positions, a plain mesh is put on a grid; weights and normals are rounded.
#[test]
fn quantised_files_are_smaller_and_nearly_the_same() {
    let skinned = tube(4, 30);
    let plain = Character { mesh: skinned.mesh.clone(), name: "plain".into(), ..Character::default() };
    for (character, limit) in [(&skinned, 1e-4), (&plain, 1e-4)] {
        let write = |quantize| {
            let options = GlbOptions { quantize, ..GlbOptions::default() };
            write_glb(character, &options, &mut Warnings::default()).unwrap()
        };
        let (full, small) = (write(false), write(true));
        assert!(small.len() < full.len());
        let again = read_gltf(&small, &no_side_files, "small", &mut Warnings::default()).unwrap().character;
        for time in [0.0, 0.4, 1.0] {
            let [a, b] = [character, &again].map(|c| c.positions_at(c.clips.first(), time).unwrap());
            let worst = a.iter().zip(&b).map(|(a, b)| f64::from(a.distance(*b))).fold(0.0, f64::max);
            assert!(worst < limit * character.mesh.diagonal(), "{}: {worst}", character.name);
        }
        if let Some(skin) = &again.skin {
            for vertex in 0..skin.n_vertices() {
                let sum: f32 = skin.vertex(vertex).map(|(_, w)| w).sum();
                assert!((sum - 1.0).abs() < 1e-6);
            }
        }
    }
}
