//! Hot paths of surfaces: posing, skinning, fitting, files.

use super::Work;
use crate::deform::waving;
use glam::{DAffine3, DQuat, DVec3, Vec3};
use sinew::{
    deform::{EditParams, HandlePose, HandleSet, Method, SurfaceEditor},
    formats::{
        gltf::{GlbOptions, read_gltf, write_glb},
        no_side_files,
        obj::{read_obj, write_obj},
    },
    geom::{
        MeshSequence, Skin, SkinSlot, Warnings,
        rig::{skin_dual_quaternion, skin_linear},
        sample::{Sample, build_character, build_sequence},
    },
    skin::{FitParams, SkinFitter, no_progress},
};
use std::{hint::black_box, ops::ControlFlow};

/// A frame of the default method: both arms up, a leg forward.
pub fn pose_frame() -> anyhow::Result<Work> {
    frame(Method::default(), 20_000)
}

/// The same as rigid as possible.
pub fn arap_frame() -> anyhow::Result<Work> {
    frame(Method::Arap, 8_000)
}

fn frame(method: Method, n_vertices: usize) -> anyhow::Result<Work> {
    let character = build_character(Sample::Biped, n_vertices)?;
    let mut warnings = Warnings::default();
    let handles = HandleSet::new(&character.mesh, &character.handles, &mut warnings)?;
    let pose = HandlePose::from_moves(&character.mesh, &handles, &waving(&character))?;
    let params = EditParams { method, ..EditParams::default() };
    let editor = SurfaceEditor::new(&character.mesh, &handles, &params, &mut warnings)?;
    let mut out = character.mesh.positions().to_vec();
    Ok(Box::new(move || {
        editor.solve(&pose, &mut out)?;
        black_box(&out);
        Ok(())
    }))
}

/// Linear and dual-quaternion skinning, four influences per vertex.
pub fn skinning() -> anyhow::Result<Work> {
    const N: usize = 200_000;
    const JOINTS: usize = 60;
    let slots = (0..JOINTS).map(|joint| SkinSlot { joint, inverse_bind: DAffine3::IDENTITY }).collect();
    // Neighbouring vertices share joints, as on a body.
    let indices = (0..4 * N).map(|i| ((i / 4 / (N / JOINTS) + i % 4) % JOINTS) as u16).collect();
    let weights = (0..4 * N).map(|i| [0.4, 0.3, 0.2, 0.1][i % 4]).collect();
    let skin = Skin::new(slots, 4, indices, weights, &mut Warnings::default())?;
    let matrix = |j: usize| {
        DAffine3::from_rotation_translation(DQuat::from_rotation_y(0.1 * j as f64), DVec3::X * j as f64)
    };
    let matrices: Vec<DAffine3> = (0..JOINTS).map(matrix).collect();
    let rest: Vec<Vec3> = (0..N).map(|i| Vec3::new((i % 997) as f32 * 1e-3, 0.5, i as f32 * 1e-6)).collect();
    let mut out = vec![Vec3::ZERO; N];
    Ok(Box::new(move || {
        skin_linear(&skin, &matrices, &rest, &mut out)?;
        skin_dual_quaternion(&skin, &matrices, &rest, &mut out)?;
        black_box(&out);
        Ok(())
    }))
}

/// The built-in tablecloth on 20 bones.
pub fn cloth_fit() -> anyhow::Result<Work> {
    let whole = build_sequence(Sample::Tablecloth, 1_000, &mut |_| ControlFlow::Continue(()))?;
    let frames = whole.frames().iter().step_by(2).cloned().collect();
    let sequence = MeshSequence::new(whole.rest().clone(), frames, 12.0)?;
    let params = FitParams { bones: 20, ..FitParams::default() };
    Ok(Box::new(move || {
        let mut source = &sequence;
        let fitter = SkinFitter::new(sequence.rest(), &mut source)?;
        black_box(fitter.fit(&params, &no_progress)?);
        Ok(())
    }))
}

pub fn glb_write() -> anyhow::Result<Work> {
    let character = build_character(Sample::Biped, 20_000)?;
    Ok(Box::new(move || {
        black_box(write_glb(&character, &GlbOptions::default(), &mut Warnings::default())?);
        Ok(())
    }))
}

pub fn glb_read() -> anyhow::Result<Work> {
    let character = build_character(Sample::Biped, 20_000)?;
    let bytes = write_glb(&character, &GlbOptions::default(), &mut Warnings::default())?;
    Ok(Box::new(move || {
        black_box(read_gltf(&bytes, &no_side_files, "biped", &mut Warnings::default())?);
        Ok(())
    }))
}

pub fn obj_read() -> anyhow::Result<Work> {
    let bytes = write_obj(&build_character(Sample::Biped, 20_000)?);
    Ok(Box::new(move || {
        black_box(read_obj(&bytes, &no_side_files, "biped", &mut Warnings::default())?);
        Ok(())
    }))
}
