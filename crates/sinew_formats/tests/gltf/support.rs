//! A plain evaluator, and small made-up characters.

use glam::{DAffine3, DVec3, Quat, Vec3};
use sinew_formats::gltf::{GltfFile, read_gltf_file};
use sinew_geom::rig::{Interpolation, Joint, JointTrack, Keys};
use sinew_geom::{Character, Clip, Mesh, Rig, Skin, Transform, Warnings};
pub use sinew_outside::{data, tools, workspace};
use std::path::{Path, PathBuf};

/// All files below a folder with one of these extensions, sorted.
pub fn files(folder: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let fits = |path: &PathBuf| path.extension().is_some_and(|own| extensions.iter().any(|e| own == *e));
    sinew_outside::files_below(folder).into_iter().filter(fits).collect()
}

/// Read a file that must be good.
pub fn read(path: &Path) -> GltfFile {
    read_gltf_file(path, &mut Warnings::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// World positions at a time of a clip, or at rest: morphs, forward kinematics, linear blend skinning. Slow and
/// plain; the fast kernel is judged by it elsewhere.
pub fn evaluate(character: &Character, clip: Option<&Clip>, time: f32) -> Vec<DVec3> {
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
        let bent =
            |(slot, weight): (u16, f32)| f64::from(weight) * matrices[slot as usize].transform_point3(*p);
        skin.vertex(vertex).map(bent).sum()
    };
    positions.iter().enumerate().map(blend).collect()
}

/// Length of the diagonal of the box around some points.
pub fn diagonal(points: &[DVec3]) -> f64 {
    let [low, high] = sinew_geom::mesh::bounds(points);
    low.distance(high)
}

/// A tube along +Y with a chain of joints inside, bending and twisting over one second.
pub fn tube(n_joints: usize, n_rings: usize) -> Character {
    const SIDES: usize = 12;
    let (mut positions, mut faces) = (Vec::new(), Vec::new());
    let (mut indices, mut weights) = (Vec::new(), Vec::new());
    for ring in 0..=n_rings {
        let along = ring as f64 / n_rings as f64;
        for side in 0..SIDES {
            let angle = side as f64 / SIDES as f64 * std::f64::consts::TAU;
            let p = DVec3::new(0.1 * angle.cos(), along, 0.1 * angle.sin());
            positions.push(p.as_vec3().as_dvec3());
            let at = along * (n_joints - 1) as f64;
            let (low, part) = (at.floor().min(n_joints as f64 - 2.0) as u16, at - at.floor());
            let part = if ring == n_rings { 1.0 } else { part as f32 };
            indices.extend([low, low + 1]);
            weights.extend([1.0 - part, part]);
        }
    }
    for ring in 0..n_rings as u32 {
        for side in 0..SIDES as u32 {
            let next = (side + 1) % SIDES as u32;
            let [a, b] = [ring, ring + 1].map(|ring| ring * SIDES as u32);
            faces.extend([[a + side, b + side, a + next], [a + next, b + side, b + next]]);
        }
    }
    let joint = |index: usize| {
        let step = if index == 0 { DVec3::ZERO } else { DVec3::Y / (n_joints - 1) as f64 };
        Joint::new(format!("joint{index}"), index.checked_sub(1), Transform::from_translation(step))
    };
    let rig = Rig::new((0..n_joints).map(joint).collect()).unwrap();
    let slots = Skin::slots_at_rest(&rig);
    let skin = Skin::new(slots, 2, indices, weights, &mut Warnings::default()).unwrap();
    let mesh = Mesh::new(positions, faces).unwrap();
    let clips = vec![bend(n_joints)];
    Character { name: "tube".into(), mesh, rig: Some(rig), skin: Some(skin), clips, ..Character::default() }
}

/// Keys on Blender's frame grid of 24 per second.
fn bend(n_joints: usize) -> Clip {
    let times: Vec<f32> = (0..=24).map(|frame| frame as f32 / 24.0).collect();
    let track = |joint: usize| {
        let turn = |&t: &f32| Quat::from_rotation_z(0.9 * t) * Quat::from_rotation_y(0.5 * t * joint as f32);
        let rotation = Keys::new(times.clone(), times.iter().map(turn).collect(), Interpolation::Linear, 1);
        let shift = |&t: &f32| Vec3::new(0.3 * t, 0.0, -0.2 * t * t);
        let translation =
            Keys::new(times.clone(), times.iter().map(shift).collect(), Interpolation::Linear, 1);
        let translation = (joint == 0).then(|| translation.unwrap());
        JointTrack { joint, translation, rotation: Some(rotation.unwrap()), scale: None }
    };
    Clip { name: "bend".into(), joints: (0..n_joints).map(track).collect(), morphs: Vec::new() }
}
