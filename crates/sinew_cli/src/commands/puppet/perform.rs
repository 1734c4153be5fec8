//! A take: every frame of the actor performed, and written.

use super::super::output::{Origin, OutputOptions, write_character, write_motion_clip};
use crate::console::Console;
use serde_json::{Map, Value, json};
use sinew::{
    geom::{Character, MeshSequence, Warnings},
    session::{Acted, Actor, Document, Performance, Puppet, TakeData, perform_take},
};
use std::{ops::ControlFlow, path::Path};

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
    let performance = {
        let progress = console.progress("performing");
        Performance::new(document, actor, &|share| progress.update(share))?
    };
    let mut tally = Tally { secs: performance.seconds, ..Tally::default() };
    performance.acted.iter().for_each(|(_, acted)| tally.note(acted));
    let mut report = tally.report(actor.fps);
    report["pairs"] = json!(document.puppet.pairs.len());
    if !document.puppet.pairs.is_empty() {
        report["parts"] = parts_of(performance.puppet());
    }
    let faults = performance.faults(document, actor);
    faults.iter().for_each(|fault| warnings.push(fault.clone()));
    report["damage"] = json!(faults);
    let origin = Origin::of_document(document);
    report["bytes"] = if performance.is_of_skeleton() {
        let mut character = document.character();
        character.clips.retain(|other| other.name != CLIP);
        character.clips.push(performance.clip(document, CLIP)?);
        json!(write_performed(&character, origin, actor.fps, output, warnings)?)
    } else {
        let progress = console.progress("posing");
        let frames = performance.surfaces(document, &|share| progress.update(share))?;
        let sequence = MeshSequence::new(document.mesh().clone(), frames, actor.fps)?;
        json!(write_motion_clip(document, &sequence, &document.name, output, &mut report, warnings)?)
    };
    Ok(report)
}

fn write_performed(
    character: &Character,
    origin: Origin,
    fps: f64,
    output: &Path,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let clip = Some(CLIP.to_owned());
    let options = OutputOptions { clip, fps: Some(fps), influences: 4, origin };
    write_character(character, output, &options, warnings)
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
    write_performed(&after.character(), Origin::of_document(document), actor.fps, output, warnings)
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

/// Statistics of the frames of a take.
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
