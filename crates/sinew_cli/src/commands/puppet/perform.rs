//! A take: every frame of the actor performed, and written.

use super::super::output::{Origin, OutputOptions, write_character, write_vertex_clip};
use crate::console::Console;
use anyhow::{Context, ensure};
use glam::Vec3;
use serde_json::{Map, Value, json};
use sinew::{
    geom::{Clip, MeshSequence, Pose, Warnings},
    puppet::Interpolation,
    session::{Acted, ActedShape, Actor, Document, Prepared, Puppet, TakeData, perform_take},
};
use std::{ops::ControlFlow, path::Path, time::Instant};

/// Name of the clip that a take becomes.
const CLIP: &str = "puppet";

/// Perform with the pairs of a document, and write what came of it.
pub fn perform(
    document: &Document,
    actor: &Actor,
    output: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Value> {
    let mut puppet = Puppet::new(document, actor.knows_height)?;
    let (frames, tally) = act(&mut puppet, actor, console)?;
    ensure!(!frames.is_empty(), "the body was never fully tracked; give another recording");
    let mut report = tally.report(actor.fps);
    report["parts"] = parts_of(&puppet);
    let by_skeleton = !puppet.is_by_handles() && puppet.interpolation() == Interpolation::ForwardKinematics;
    report["bytes"] = match by_skeleton {
        true => json!(write_clip(document, frames, actor.fps, output, warnings)?),
        // Matrices that shear are no poses of a skeleton, and handles have none: the surface is written.
        false => {
            let sequence = surfaces(document, &puppet, &frames, actor.fps, console)?;
            let (character, origin) = (document.character(), Origin::of_document(document));
            json!(write_vertex_clip(&character, &origin, &sequence, &document.name, output, warnings)?)
        }
    };
    Ok(report)
}

fn act(puppet: &mut Puppet, actor: &Actor, console: &Console) -> anyhow::Result<(Vec<Acted>, Tally)> {
    let progress = console.progress("performing");
    let (mut frames, mut tally) = (Vec::new(), Tally::default());
    for (k, (time, body)) in actor.frames.iter().enumerate() {
        let begun = Instant::now();
        let acted = puppet.step(*time, body)?;
        tally.secs += begun.elapsed().as_secs_f64();
        if let Some(acted) = acted {
            tally.note(&acted);
            frames.push(acted);
        }
        if progress.update((k + 1) as f64 / actor.frames.len() as f64).is_break() {
            break;
        }
    }
    Ok((frames, tally))
}

/// Write poses of the skeleton as a clip.
fn write_clip(
    document: &Document,
    frames: Vec<Acted>,
    fps: f64,
    output: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let mut character = document.character();
    let pose = |frame: Acted| match frame.shape {
        ActedShape::Joints { pose, .. } => Some(pose),
        ActedShape::Handles(_) => None,
    };
    let poses: Vec<Pose> = frames.into_iter().filter_map(pose).collect();
    let rig = character.rig.as_ref().context("no skeleton")?;
    let clip = Clip::from_poses(CLIP, rig, &poses, fps)?;
    character.clips.retain(|other| other.name != CLIP);
    character.clips.push(clip);
    let clip = Some(CLIP.to_owned());
    let options =
        OutputOptions { clip, fps: Some(fps), influences: 4, origin: Origin::of_document(document) };
    write_character(&character, output, &options, warnings)
}

/// Write what an actor did at uneven times.
pub fn write_take(
    document: &Document,
    actor: &Actor,
    output: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let mut before = document.clone();
    before.clips.retain(|clip| clip.name != CLIP);
    let go_on = |_| ControlFlow::Continue(());
    let (after, _) = perform_take(&before, CLIP, &TakeData::new(actor), &go_on)?;
    let clip = Some(CLIP.to_owned());
    let options =
        OutputOptions { clip, fps: Some(actor.fps), influences: 4, origin: Origin::of_document(document) };
    write_character(&after.character(), output, &options, warnings)
}

fn surfaces(
    document: &Document,
    puppet: &Puppet,
    frames: &[Acted],
    fps: f64,
    console: &Console,
) -> anyhow::Result<MeshSequence> {
    ensure!(
        puppet.is_by_handles() || document.body.skin.is_some(),
        "there is no skin, so blended matrices move nothing"
    );
    let prepared = match puppet.is_by_handles() {
        true => {
            let progress = console.progress("preparing");
            Some(Prepared::new(document, &|share| progress.update(share))?)
        }
        false => None,
    };
    let progress = console.progress("posing");
    let mut positions: Vec<Vec<Vec3>> = Vec::with_capacity(frames.len());
    for (k, frame) in frames.iter().enumerate() {
        positions.push(puppet.frame(document, &frame.shape, prepared.as_ref())?.positions);
        if progress.update((k + 1) as f64 / frames.len() as f64).is_break() {
            break;
        }
    }
    Ok(MeshSequence::new(document.mesh().clone(), positions, fps)?)
}

/// How many joints each part of the actor moves.
fn parts_of(puppet: &Puppet) -> Value {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for part in puppet.parts() {
        match counts.iter_mut().find(|(name, _)| *name == part.name()) {
            Some((_, n)) => *n += 1,
            None => counts.push((part.name(), 1)),
        }
    }
    counts.into_iter().map(|(name, n)| (name, json!(n))).collect::<Map<_, _>>().into()
}

/// What is told of the frames of a take.
#[derive(Default)]
pub struct Tally {
    weights: Vec<Vec<f64>>,
    residual: f64,
    n_held: usize,
    /// Seconds the performance took.
    pub secs: f64,
}

impl Tally {
    /// Count a frame.
    pub fn note(&mut self, acted: &Acted) {
        self.weights.push(acted.weights.clone());
        self.residual += acted.residual * acted.residual;
        self.n_held += usize::from(acted.held);
    }

    /// All frames.
    pub fn report(&self, fps: f64) -> Value {
        let n = self.weights.len().max(1) as f64;
        json!({
            "frames": self.weights.len(),
            "fps": fps,
            "us_per_frame": 1e6 * self.secs / n,
            "held_frames": self.n_held,
            "residual_cm": 100.0 * (self.residual / n).sqrt(),
            "weights": self.weights,
        })
    }
}
