//! A mesh sequence as a morph-target animation: one target per frame.

use super::builder::{Builder, describe, finite};
use super::{GlbOptions, finish_scene, geometry, write_extensions, write_mesh};
use crate::FormatError;
use crate::gltf::extension::{SinewCharacter, VERSION};
use crate::gltf::schema::{Animation, Attributes, Channel, Node, Sampler, Target};
use glam::Vec3;
use sinew_geom::{Character, MeshSequence, Surface, Warnings};

/// Bytes of a GLB that plays a mesh sequence.
///
/// Each frame that differs from the rest and from the frame before it becomes a target, with a linear key of
/// weight one at its time. Weights take one byte each, since they are zero or one. `surface` is the appearance of the
/// rest pose, except for its normals, which do not follow the frames. `name` names the clip.
///
/// # Errors
/// If the file would have more than 4 GiB.
pub fn write_sequence_glb(
    sequence: &MeshSequence,
    surface: &Surface,
    name: &str,
    warnings: &mut Warnings,
) -> Result<Vec<u8>, FormatError> {
    let mut builder = Builder::new();
    let surface = Surface { normals: None, ..surface.clone() };
    let character = Character { mesh: sequence.rest().clone(), surface, ..Character::default() };
    let options = GlbOptions::default();
    let mut extension = SinewCharacter { version: VERSION, ..SinewCharacter::default() };
    let mesh = write_mesh(&mut builder, &character, &options, &mut extension, warnings);
    let mut scene = Vec::new();
    if let Some(mesh) = mesh {
        builder.root.nodes.push(Node { name: Some(name.to_owned()), mesh: Some(mesh), ..Node::default() });
        scene.push(0);
        let vertices = geometry::split_vertices(&character, warnings);
        let target_of = write_targets(&mut builder, sequence, &vertices, mesh);
        write_weights(&mut builder, sequence.fps(), &target_of, name);
    }
    write_extensions(&mut builder, &extension, &options);
    finish_scene(&mut builder, scene);
    builder.finish()
}

/// Write the targets; returns the target of each frame, `None` where the frame is the rest.
fn write_targets(
    builder: &mut Builder,
    sequence: &MeshSequence,
    vertices: &geometry::Vertices,
    mesh: usize,
) -> Vec<Option<usize>> {
    let rest = geometry::single(sequence.rest().positions());
    let (mut targets, mut names) = (Vec::new(), Vec::new());
    let mut target_of: Vec<Option<usize>> = Vec::with_capacity(sequence.n_frames());
    let mut before = &rest;
    for (index, frame) in sequence.frames().iter().enumerate() {
        let target = if *frame == rest {
            None
        } else if let Some(&same) = target_of.last().filter(|_| frame == before) {
            same
        } else {
            let offset = |(p, rest): (&Vec3, &Vec3)| (p - rest).map(finite);
            let offsets: Vec<Vec3> = frame.iter().zip(&rest).map(offset).collect();
            targets.push(Attributes::from([(
                "POSITION".to_owned(),
                builder.points(&vertices.spread(&offsets), true),
            )]));
            names.push(format!("frame {index}"));
            Some(targets.len() - 1)
        };
        target_of.push(target);
        before = frame;
    }
    let mesh = &mut builder.root.meshes[mesh];
    mesh.primitives.iter_mut().for_each(|primitive| primitive.targets.clone_from(&targets));
    if !targets.is_empty() {
        mesh.weights = vec![0.0; targets.len()];
        mesh.extras = serde_json::json!({ "targetNames": names });
    }
    target_of
}

fn write_weights(builder: &mut Builder, fps: f64, target_of: &[Option<usize>], name: &str) {
    let n_targets = target_of.iter().flatten().max().map_or(0, |&last| last + 1);
    if n_targets == 0 {
        return;
    }
    let times: Vec<f32> = (0..target_of.len()).map(|frame| (frame as f64 / fps) as f32).collect();
    let mut weights = vec![0; n_targets * target_of.len()];
    for (row, target) in weights.chunks_exact_mut(n_targets).zip(target_of) {
        target.iter().for_each(|&target| row[target] = u8::MAX);
    }
    let mut accessor = describe("SCALAR", 5121, weights.len());
    accessor.normalized = true;
    let sampler = Sampler {
        input: builder.times(&times),
        interpolation: None,
        output: builder.curve(weights, accessor),
    };
    let target = Target { node: Some(0), path: "weights".to_owned() };
    builder.root.animations.push(Animation {
        name: Some(name.to_owned()),
        channels: vec![Channel { sampler: 0, target }],
        samplers: vec![sampler],
    });
}
