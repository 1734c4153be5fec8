//! A take of a character with a skeleton.

use super::{
    super::output::{OutputOptions, write_character, write_sequence},
    Actor, Tally, limbs_of,
};
use crate::{args::PuppetArgs, console::Console};
use anyhow::{Context, ensure};
use glam::{DVec3, Vec3};
use serde_json::{Map, Value, json};
use sinew::{
    formats::pairs::{PairFile, PairTarget, PosePair},
    geom::{Character, Clip, MeshSequence, Pose, Rig, Warnings, rig::skin_linear},
    puppet::{BodyPose, Interpolation, Performed, Performer, PerformerParams, RigPair},
    session::Document,
};
use std::time::Instant;

pub fn perform(
    document: &Document,
    file: &PairFile,
    actor: &Actor,
    params: &PerformerParams,
    (args, console): (&PuppetArgs, &Console),
    warnings: &mut Warnings,
) -> anyhow::Result<Value> {
    let mut character = document.character();
    let rig = character.rig.take().context("there is no skeleton, but the pairs hold poses of one")?;
    let pairs = file.pairs.iter().map(|pair| to_rig_pair(&rig, pair)).collect::<anyhow::Result<Vec<_>>>()?;
    let params = PerformerParams { limbs: find_limbs(&rig, file)?, ..params.clone() };
    let mut performer = Performer::new(&rig, &pairs, &params)?;
    let (frames, tally) = take(&rig, &mut performer, actor, console)?;
    ensure!(!frames.is_empty(), "the body was never fully tracked; give another recording");
    let mut report = tally.report(actor.fps);
    report["parts"] = parts_of(&performer);
    character.rig = Some(rig);
    let output = args.output.as_deref().context("no output")?;
    report["bytes"] = match params.interpolation {
        Interpolation::ForwardKinematics => {
            let poses: Vec<Pose> = frames.into_iter().map(|frame| frame.pose).collect();
            add_clip(&mut character, &poses, actor.fps)?;
            let clip = Some(CLIP.to_owned());
            let options = OutputOptions { clip, fps: Some(actor.fps), influences: 4, extensions: Map::new() };
            json!(write_character(&character, output, &options, warnings)?)
        }
        // Matrices that shear are no poses of a skeleton: the surface is written.
        Interpolation::Linear => {
            let sequence = skinned(&character, &frames, actor.fps)?;
            json!(write_sequence(&sequence, &character.surface, &character.name, output, warnings)?)
        }
    };
    Ok(report)
}

/// Name of the clip that a take becomes.
const CLIP: &str = "puppet";

fn take(
    rig: &Rig,
    performer: &mut Performer,
    actor: &Actor,
    console: &Console,
) -> anyhow::Result<(Vec<Performed>, Tally)> {
    let progress = console.progress("performing");
    let (mut frames, mut tally) = (Vec::new(), Tally::default());
    for (k, (time, body)) in actor.frames.iter().enumerate() {
        let begun = Instant::now();
        let performed = performer.step(rig, *time, body)?;
        tally.secs += begun.elapsed().as_secs_f64();
        if let Some(performed) = performed {
            tally.weights.push(performed.weights.clone());
            tally.residual += performed.residual * performed.residual;
            tally.n_held += usize::from(performed.held);
            frames.push(performed);
        }
        if progress.update((k + 1) as f64 / actor.frames.len() as f64).is_break() {
            break;
        }
    }
    Ok((frames, tally))
}

fn to_rig_pair(rig: &Rig, pair: &PosePair) -> anyhow::Result<RigPair> {
    let PairTarget::Joints(joints) = &pair.target else {
        anyhow::bail!("pair {:?} holds no pose of a skeleton", pair.name)
    };
    let mut pose = rig.rest_pose();
    for (name, local) in joints {
        let joint = rig.joints().iter().position(|joint| joint.name == *name);
        let joint = joint.with_context(|| {
            format!(
                "pair {:?} moves a joint {name:?}, which the character does not have; pair it again",
                pair.name
            )
        })?;
        pose.locals[joint] = *local;
    }
    Ok(RigPair { body: to_body(pair)?, pose })
}

pub fn to_body(pair: &PosePair) -> anyhow::Result<BodyPose> {
    let joints: [DVec3; 20] =
        pair.body.as_slice().try_into().with_context(|| format!("pair {:?} has no whole body", pair.name))?;
    Ok(BodyPose::new(joints))
}

fn find_limbs(rig: &Rig, file: &PairFile) -> anyhow::Result<Vec<(usize, Vec<sinew::puppet::Limb>)>> {
    let find = |(name, limbs): (String, Vec<_>)| {
        let joint = rig.joints().iter().position(|joint| joint.name == name);
        Ok((
            joint.with_context(|| format!("limbs are given for a joint {name:?} that does not exist"))?,
            limbs,
        ))
    };
    limbs_of(file)?.into_iter().map(find).collect()
}

/// How many joints each part of the actor moves.
fn parts_of(performer: &Performer) -> Value {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for part in performer.parts() {
        match counts.iter_mut().find(|(name, _)| *name == part.name()) {
            Some((_, n)) => *n += 1,
            None => counts.push((part.name(), 1)),
        }
    }
    counts.into_iter().map(|(name, n)| (name, json!(n))).collect::<Map<_, _>>().into()
}

fn add_clip(character: &mut Character, poses: &[Pose], fps: f64) -> anyhow::Result<()> {
    let rig = character.rig.as_ref().context("no skeleton")?;
    let clip = Clip::from_poses(CLIP, rig, poses, fps)?;
    character.clips.retain(|other| other.name != CLIP);
    character.clips.push(clip);
    Ok(())
}

fn skinned(character: &Character, frames: &[Performed], fps: f64) -> anyhow::Result<MeshSequence> {
    let skin = character.skin.as_ref().context("there is no skin, so blended matrices move nothing")?;
    let rest: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let pose = |frame: &Performed| {
        let mut out = vec![Vec3::ZERO; rest.len()];
        skin_linear(skin, &skin.matrices(&frame.world), &rest, &mut out)?;
        Ok(out)
    };
    let frames = frames.iter().map(pose).collect::<anyhow::Result<Vec<_>>>()?;
    Ok(MeshSequence::new(character.mesh.clone(), frames, fps)?)
}
