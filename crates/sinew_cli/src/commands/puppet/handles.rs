//! A take of a character that has handles and stored poses, and no skeleton (X2).

use super::{
    super::{
        examples::{Body, prepare},
        output::write_sequence,
    },
    Actor, Tally,
    rig::to_body,
};
use crate::{args::PuppetArgs, console::Console};
use anyhow::{Context, ensure};
use serde_json::{Value, json};
use sinew::{
    deform::{HandlePose, examples::Blend},
    formats::pairs::{PairFile, PairTarget},
    geom::{MeshSequence, Warnings},
    puppet::{BodyTracker, NormalPose, Part, PerformerParams, Puppeteer},
    session::Document,
};
use std::time::Instant;

pub fn perform(
    document: Document,
    file: &PairFile,
    actor: &Actor,
    params: &PerformerParams,
    (args, console): (&PuppetArgs, &Console),
    warnings: &mut Warnings,
) -> anyhow::Result<Value> {
    let mut poses = Vec::new();
    for pair in &file.pairs {
        let (moves, detail) = match &pair.target {
            PairTarget::Example(name) => {
                let example = &document.examples[document.find_example(name)?];
                (example.moves.to_vec(), example.detail.clone())
            }
            PairTarget::Joints(_) => (Vec::new(), None),
        };
        poses.push((pair.name.clone(), moves, detail));
    }
    let body = prepare(document, &poses, warnings)?;
    let (poses, tally) = take(&body, file, actor, params, console)?;
    ensure!(!poses.is_empty(), "the body was never fully tracked; give another recording");
    let editor = body.editor(console, warnings)?;
    let progress = console.progress("posing");
    let mut positions = body.document.mesh().positions().to_vec();
    let normals = body.rest_normals();
    let mut frames = Vec::with_capacity(poses.len());
    for (k, (pose, weights)) in poses.iter().zip(&tally.weights).enumerate() {
        let detail = body.space.detail(weights);
        editor.solve_with_detail(pose, &normals, detail.as_deref(), &mut positions)?;
        frames.push(positions.iter().map(|p| p.as_vec3()).collect());
        if progress.update((k + 1) as f64 / poses.len() as f64).is_break() {
            break;
        }
    }
    drop(progress);
    let mut report = tally.report(actor.fps);
    let sequence = MeshSequence::new(body.document.mesh().clone(), frames, actor.fps)?;
    let (surface, name) = (&body.document.body.surface, &body.document.name);
    let output = args.output.as_deref().context("no output")?;
    report["bytes"] = json!(write_sequence(&sequence, surface, name, output, warnings)?);
    Ok(report)
}

fn take(
    body: &Body,
    file: &PairFile,
    actor: &Actor,
    params: &PerformerParams,
    console: &Console,
) -> anyhow::Result<(Vec<HandlePose>, Tally)> {
    let source = |pair| Ok(NormalPose::of(&to_body(pair)?).0);
    let sources = file.pairs.iter().map(source).collect::<anyhow::Result<Vec<_>>>()?;
    let mut puppeteer = Puppeteer::new(&sources, &[Part::BODY], &params.puppeteer)?;
    let mut tracker = BodyTracker::new(params.tracker.clone());
    let progress = console.progress("performing");
    let (mut poses, mut tally) = (Vec::new(), Tally::default());
    for (k, (time, pose)) in actor.frames.iter().enumerate() {
        let begun = Instant::now();
        if let Some(tracked) = tracker.step(*time, pose) {
            let weights = puppeteer.step(&tracked.pose)?;
            poses.push(body.space.blend(&Blend::Free, weights.of(0)));
            tally.weights.push(weights.of(0).to_vec());
            tally.residual += weights.residual * weights.residual;
            tally.n_held += usize::from(tracked.held);
        }
        tally.secs += begun.elapsed().as_secs_f64();
        if progress.update((k + 1) as f64 / actor.frames.len() as f64).is_break() {
            break;
        }
    }
    Ok((poses, tally))
}
