//! Working with examples: reaching, sculpting, paths and motions, as pages ask for them and see them.

use crate::{
    news::Topic,
    painter,
    requests::{job, shown},
    state::middle,
    studio::{Studio, stroke_gesture},
    wire::{Sculpt, Touch},
};
use anyhow::{Context, bail};
use glam::{DMat4, DVec2, DVec3};
use serde_json::{Value, json};
use sinew::{
    deform::{
        examples::{Objective, Optimiser, Reorder, Term},
        select::{SculptBrush, SculptOp, View},
    },
    geom::path::{Ground, Path, plan_walk},
    session::{
        Command, Display, Document, Follow, SearchChange, SessionError, bake as bake_motion, reach_objective,
    },
};
use std::collections::BTreeMap;

/// Touches of a brush that are looked at in one message.
const MAX_PLACES: usize = 256;
/// Points of a path that is drawn.
const CURVE: usize = 96;
/// Cells of the ground that is drawn, in each direction.
const CELLS: usize = 40;

/// What can be chosen of the search.
pub fn choices() -> Value {
    let term = |term: Term| json!({ "name": term.name(), "meaning": term.meaning(), "factor": term.default_factor() });
    json!({
        "optimisers": Optimiser::ALL.map(Optimiser::name),
        "orders": Reorder::ALL.map(Reorder::name),
        "terms": Term::ALL.map(term),
        "objective": reach_objective().to_string(),
        "objective_of_motion": Objective::for_motion().to_string(),
    })
}

/// The search in progress; nothing if there is none.
pub fn reach(studio: &Studio) -> Value {
    let Some(report) = studio.reach().as_ref().map(sinew::session::Reach::report) else { return Value::Null };
    let target = |(handle, position, at, is_pinned): &(String, DVec3, DVec3, bool)| {
        json!({
            "handle": handle, "position": position.to_array(), "at": at.to_array(), "pin": is_pinned,
            "distance": position.distance(*at),
        })
    };
    json!({
        "targets": report.targets.iter().map(target).collect::<Vec<_>>(),
        "pin_others": report.pin_others,
        "weights": report.weights.iter().map(|(_, weight)| *weight).collect::<Vec<_>>(),
        "terms": report.terms.iter().map(|(term, value)| json!([term.name(), value])).collect::<Vec<_>>(),
        "objective": report.objective,
        "energy": report.terms.iter().map(|(_, value)| value).sum::<f64>(),
        "evaluations": report.evaluations,
        "ms": report.time.as_secs_f64() * 1e3,
        "reached": report.is_reached,
        "missed": report.missed,
    })
}

/// Make the pose that was reached the pose, or forget it.
///
/// # Errors
/// If nothing is reached for, or the pose does not fit any more.
pub fn end_reach(studio: &Studio, accept: bool) -> anyhow::Result<()> {
    let reach = studio.reach().take();
    studio.raise(Topic::Reach);
    studio.ring();
    match (reach, accept) {
        (Some(reach), true) => {
            let mut session = studio.session();
            if !reach.serves(session.document()) {
                bail!("the document has changed meanwhile; reach again");
            }
            session.apply(&reach.command(), None)?;
            Ok(())
        }
        (None, true) => bail!("nothing is reached for; put a target on a handle first"),
        (_, false) => Ok(()),
    }
}

/// Sculpt the detail of the present pose.
///
/// # Errors
/// If the pose is not in view, a number makes no sense, or the stored pose is another.
pub fn sculpt(studio: &Studio, request: &Sculpt) -> anyhow::Result<()> {
    let shown = shown(studio)?;
    if studio.looks().display != Display::Posed || studio.reach().is_some() {
        bail!("detail is sculpted on the pose; show it, and take or drop the pose that is being reached for");
    }
    if !(request.radius.is_finite() && request.radius > 0.0 && (0.0..=1.0).contains(&request.strength)) {
        bail!("a brush needs a radius above 0 and a strength within 0 and 1");
    }
    let op = match request.op {
        Touch::Push => SculptOp::Push,
        Touch::Pull => SculptOp::Pull,
        Touch::Smooth => SculptOp::Smooth,
    };
    let brush = SculptBrush { op, radius: request.radius, strength: request.strength };
    let (view, places) = (request.view, request.at.clone());
    let before = studio.session().document().detail.clone();
    let touched = studio.painter.ask(shown.mesh(), move |selector| {
        let n = selector.mesh().n_vertices();
        let mut offsets = before.map_or_else(|| vec![0.0; n], |layer| layer.to_vec());
        let mut touched = BTreeMap::new();
        for place in places.into_iter().take(MAX_PLACES) {
            let Some(hit) = painter::pick(selector, &view, place) else { continue };
            for (v, offset) in selector.sculpt(hit.face, hit.barycentric, &brush, &offsets) {
                offsets[v as usize] = offset;
                touched.insert(v, offset);
            }
        }
        touched
    });
    let (vertices, offsets): (Vec<u32>, Vec<f32>) = touched.context("the brush failed")?.into_iter().unzip();
    if vertices.is_empty() {
        return Ok(());
    }
    let command = Command::Sculpt { example: request.example.clone(), vertices, offsets };
    studio.apply_on(&shown.document.body, &command, request.stroke.map(stroke_gesture))?;
    Ok(())
}

/// Where the ground is under a place of the screen.
///
/// # Errors
/// If the ground makes no sense.
pub fn pick_ground(studio: &Studio, view: [f64; 16], at: [f64; 2]) -> anyhow::Result<Value> {
    let document = studio.session().document().clone();
    let view = View { clip_from_model: DMat4::from_cols_array(&view) };
    let Some(ray) = view.ray(document.mesh(), DVec2::from_array(at)) else { return Ok(Value::Null) };
    let hit = ground(&document)?.first_hit(ray.origin, ray.direction);
    Ok(hit.map_or(Value::Null, |hit| json!({ "position": hit.to_array() })))
}

fn ground(document: &Document) -> anyhow::Result<Ground> {
    Ok(document.paths.ground.as_ref().map(|ground| ground.build()).transpose()?.unwrap_or_default())
}

/// Follow paths or keyframes as a job that can be stopped, and keep the motion as a clip.
///
/// # Errors
/// As [`sinew::session::bake`].
pub fn bake(studio: &Studio, clip: &str, fps: f64, follow: Follow) -> anyhow::Result<Value> {
    job(studio, &format!("Baking {clip}"), |job| {
        let before = studio.session().document().clone();
        let (after, report) = bake_motion(&before, clip, fps, follow, &|share| job.update(share))?;
        let command = Command::Bake { clip: clip.to_owned(), fps, follow };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(json!({
            "frames": report.n_frames, "target_error": report.target_error, "missed": report.missed,
        }))
    })
}

/// Paths and search of a document, with what of them is drawn.
pub fn motion(document: &Document) -> Value {
    json!({
        "search": SearchChange::of_all(&document.search),
        "paths": *document.paths,
        "drawn": drawn(document),
    })
}

/// Lines through the points of paths, the walk on the ground with its feet, and the ground itself.
fn drawn(document: &Document) -> Value {
    let paths = &document.paths;
    let ground = ground(document).unwrap_or_default();
    let curve = |path: &Path| {
        let [start, end] = path.span();
        let at = |i: usize| path.at(start + (end - start) * i as f64 / CURVE as f64).to_array();
        (0..=CURVE).map(at).collect::<Vec<_>>()
    };
    let curves: Vec<_> =
        paths.paths.iter().map(|p| p.build().map(|path| curve(&path)).unwrap_or_default()).collect();
    let line: Vec<[f64; 3]> = paths.walk.iter().flat_map(|walk| over(&ground, &walk.line)).collect();
    let feet = feet(document, &ground).map(|feet| feet.each_ref().map(curve)).unwrap_or_default();
    let points = curves.iter().flatten().chain(&line).copied().chain([[0.0; 3]]);
    json!({
        "curves": curves, "line": line, "feet": feet,
        "ground": relief(&ground, points, document.mesh().diagonal()),
    })
}

/// A line on the ground, followed in small steps.
fn over(ground: &Ground, line: &[[f64; 2]]) -> Vec<[f64; 3]> {
    const PARTS: usize = 16;
    let place = |x: f64, z: f64| [x, ground.height(x, z), z];
    let between = line.windows(2).flat_map(|pair| {
        let [[ax, az], [bx, bz]] = [pair[0], pair[1]];
        (0..PARTS).map(move |i| {
            let t = i as f64 / PARTS as f64;
            (ax + t * (bx - ax), az + t * (bz - az))
        })
    });
    between.chain(line.last().map(|[x, z]| (*x, *z))).map(|(x, z)| place(x, z)).collect()
}

/// Where the feet of the walk go, if it can be walked.
fn feet(document: &Document, ground: &Ground) -> Option<[Path; 2]> {
    let file = document.paths.build("paths").ok()?;
    let (walk, names) = file.walk?;
    let place = |name: &String| Some(middle(document, &document.handles[document.find_handle(name).ok()?]));
    let feet = [place(&names[0])?, place(&names[1])?];
    plan_walk(&walk, feet, ground).ok().map(|(paths, _)| paths)
}

/// Heights of uneven ground on a grid around what is drawn; nothing where it is level at zero.
fn relief(ground: &Ground, points: impl Iterator<Item = [f64; 3]>, size: f64) -> Value {
    if *ground == Ground::Flat(0.0) {
        return Value::Null;
    }
    net(&|x, z| ground.height(x, z), points, size)
}

/// Heights on a grid around some points.
pub fn net(height_at: &dyn Fn(f64, f64) -> f64, points: impl Iterator<Item = [f64; 3]>, size: f64) -> Value {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for [x, _, z] in points {
        low = [low[0].min(x), low[1].min(z)];
        high = [high[0].max(x), high[1].max(z)];
    }
    let cell = ((high[0] - low[0]).max(high[1] - low[1]) + 1.5 * size) / CELLS as f64;
    let origin = [0, 1].map(|k| 0.5 * (low[k] + high[k]) - 0.5 * cell * CELLS as f64);
    let height = |i: usize, j: usize| height_at(origin[0] + cell * i as f64, origin[1] + cell * j as f64);
    let rows: Vec<Vec<f64>> = (0..=CELLS).map(|j| (0..=CELLS).map(|i| height(i, j)).collect()).collect();
    json!({ "origin": origin, "cell": cell, "heights": rows })
}
