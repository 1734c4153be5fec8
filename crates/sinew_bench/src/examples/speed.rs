//! What a term, a search and a whole frame cost (Hansen (2006), tables 9.6 to 9.8, and the required times).

use super::cases::{SETTINGS, body, space_of, targets};
use crate::measure::time;
use glam::DVec3;
use sinew::{
    deform::{
        EditParams, HandleSet, SurfaceEditor,
        examples::{Optimiser, PoseSpace, SearchParams, Start, Target, Term},
    },
    geom::{
        Character, Handle, Move, Warnings,
        sample::{PoseSet, Sample, build_character},
    },
};
use std::hint::black_box;

/// Print all three.
pub fn run() -> anyhow::Result<()> {
    terms()?;
    searches()?;
    frames()
}

/// Table 9.7: one evaluation of each term beside the distance to targets.
fn terms() -> anyhow::Result<()> {
    let body = body(PoseSet::Walk, 2_000)?;
    let targets = targets(&body.space, SETTINGS[3].1)?;
    println!("\n{:<10}{:>22}   Hansen, µs", "term", "target + term, µs");
    let thesis = [2.0, 1.7, 5.4, 6.0, 2.3, 1.9, 29.0];
    for (term, theirs) in Term::ALL.into_iter().zip(thesis) {
        // A search that may not move evaluates a few times; many of them measure what one costs.
        let params = SearchParams {
            objective: format!("dtt+{}", term.name()).parse()?,
            optimiser: Optimiser::Exhaustive,
            limits: [0.3, 0.3],
            ..SearchParams::default()
        };
        let grips = body.space.rest_grips();
        let start = Start { grips: Some(grips), ..Start::default() };
        let n = body.space.search(&targets, &params, &start)?.evaluations;
        let ms = time(9, || {
            black_box(body.space.search(&targets, &params, &start).ok());
        });
        println!("{:<10}{:>22.3}{theirs:>13}", term.name(), ms * 1e3 / n as f64);
    }
    Ok(())
}

/// The bar: 18 handles and 10 examples, a target that moves a little from frame to frame.
fn searches() -> anyhow::Result<()> {
    let character = build_character(Sample::Biped, 2_000)?;
    let (handles, space) = sized(&character, 18, 10)?;
    println!(
        "\n{} handles, {} examples, a dragged hand{:>20}",
        handles.len(),
        space.n_examples(),
        "µs per frame"
    );
    let hand = space.find_handle("hand.L")?;
    for optimiser in Optimiser::ALL {
        let params = SearchParams { optimiser, ..SearchParams::default() };
        let (mut weights, mut at) = (vec![0.0; space.n_examples()], 0.0f64);
        let ms = time(if optimiser == Optimiser::Annealing { 21 } else { 301 }, || {
            at += 0.05;
            let offset = DVec3::new(0.05 * at.cos(), -0.1 + 0.1 * at.sin(), 0.15 + 0.1 * at.cos());
            let target =
                Target { handle: hand, position: space.rest_grips()[hand] + offset, is_pinned: false };
            let start = Start { weights: &weights, ..Start::default() };
            if let Ok(found) = space.search(&[target], &params, &start) {
                weights = found.weights;
            }
        });
        println!("{:<40}{:>20.1}", optimiser.name(), ms * 1e3);
    }
    Ok(())
}

/// Table 9.8 and the bar of whole frames: search, blend and surface.
fn frames() -> anyhow::Result<()> {
    println!(
        "\n{:<12}{:>10}{:>10}{:>16}{:>16}",
        "vertices", "handles", "examples", "newton fps", "simple-hooke fps"
    );
    for n_vertices in [2_000, 45_000] {
        let character = build_character(Sample::Biped, n_vertices)?;
        for (n_handles, n_examples) in [(18, 8), (18, 12), (18, 20), (24, 8), (24, 12), (24, 20)] {
            let (handles, space) = sized(&character, n_handles, n_examples)?;
            let editor = SurfaceEditor::prepare(
                &character.mesh,
                &handles,
                &EditParams::default(),
                &mut Warnings::default(),
                &|_| std::ops::ControlFlow::Continue(()),
            )?;
            let fps = |optimiser| -> anyhow::Result<f64> {
                let params = SearchParams {
                    optimiser,
                    objective: "dtt+omsow+dtl".parse()?,
                    residual: true,
                    ..SearchParams::default()
                };
                let hand = space.find_handle("hand.L")?;
                let mut positions = character.mesh.positions().to_vec();
                let mut last: Option<sinew::deform::examples::SearchResult> = None;
                let mut at = 0.0f64;
                let ms = time(41, || {
                    at += 0.05;
                    let offset = DVec3::new(0.05 * at.cos(), -0.1 + 0.1 * at.sin(), 0.15 + 0.1 * at.cos());
                    let target = Target {
                        handle: hand,
                        position: space.rest_grips()[hand] + offset,
                        is_pinned: false,
                    };
                    let start = Start {
                        weights: last.as_ref().map_or(&[], |f| &f.weights),
                        grips: last.as_ref().map(|f| f.grips.as_slice()),
                        residual: last.as_ref().map(|f| &f.residual),
                        anchors: &[],
                    };
                    if let Ok(found) = space.search(&[target], &params, &start) {
                        let _ = editor.solve(&space.pose_of(&found, &params), &mut positions);
                        last = Some(found);
                    }
                });
                Ok(1e3 / ms)
            };
            let (ours, theirs) = (fps(Optimiser::Newton)?, fps(Optimiser::SimpleHooke)?);
            println!("{n_vertices:<12}{n_handles:>10}{n_examples:>10}{ours:>16.0}{theirs:>16.0}");
        }
    }
    Ok(())
}

/// The biped with this number of handles, some of its own cut in two, and this number of examples out of both sets.
fn sized(
    character: &Character,
    n_handles: usize,
    n_examples: usize,
) -> anyhow::Result<(HandleSet, PoseSpace)> {
    let mut handles = character.handles.clone();
    while handles.len() < n_handles {
        let Some(largest) = (0..handles.len()).max_by_key(|&h| handles[h].vertices.len()) else { break };
        let half = handles[largest].vertices.len() / 2;
        let vertices = handles[largest].vertices.split_off(half);
        let weights = handles[largest].weights.split_off(half);
        let name = format!("{} {}", handles[largest].name, handles.len());
        handles[largest].secondary.push(name.clone());
        let center = handles[largest].center;
        handles.push(Handle { name, vertices, weights, center, secondary: Vec::new() });
    }
    let set = HandleSet::new(&character.mesh, &handles, &mut Warnings::default())?;
    let mut poses: Vec<(String, Vec<Move>)> = PoseSet::Walk.poses();
    poses.extend(PoseSet::Limbs.poses());
    poses.truncate(n_examples);
    let space = space_of(character, &set, &poses)?;
    Ok((set, space))
}
