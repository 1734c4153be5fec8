//! The written surface against the ground, and pictures of bodies that can be compared whichever way they face.

use super::super::super::{
    draw::{Sheet, Surface, bounds},
    scene::Scene,
    shape::quantile,
};
use super::body::{Body, Contact, STATURE};
use glam::{DMat3, DVec3};

/// The surface against the ground, in centimetres of a body of 1.7 m.
pub struct Ground {
    /// Height of the ground in the file's unit: the lowest vertex while the source's feet stand, in the middle of all such frames.
    pub level: f64,
    /// The deepest vertex of all sampled frames below the ground, beyond what the source's own joints sink.
    pub depth: f64,
    /// How far the lowest vertex hovers above the ground in 90 % of the frames in which the source stands, beyond the source.
    pub float: f64,
    /// How far the ground is from 0, or from the source's ground at this body's size, whichever is nearer.
    pub off: f64,
}

/// Sampled over the clip; nothing where the source never stands or there is no surface.
pub fn ground(
    scene: &Scene,
    clip: usize,
    source: &Body,
    target: &Body,
    contacts: &[Contact],
) -> Option<Ground> {
    let n = source.n_frames().min(target.n_frames());
    let ours: Vec<f64> = (0..n).map(|k| source.low(k)).collect();
    let usual = quantile(&ours, 0.2);
    // Who walks on the spot stands where the lowest joint is as low as usual.
    let stands = |k: usize| match contacts {
        [] => (ours[k] - usual).abs() < 2.0 / STATURE * source.height,
        _ => contacts.iter().any(|c| (c.first..=c.last).contains(&k)),
    };
    let mut frames: Vec<usize> = (0..n).step_by((n / 24).max(1)).collect();
    let few = (contacts.len() / 12).max(1);
    frames.extend(contacts.iter().step_by(few).map(|c| (c.first + c.last) / 2).filter(|&k| k < n));
    // Where the skeleton is lowest the surface may be, too.
    frames.extend((0..n).min_by(|&a, &b| target.low(a).total_cmp(&target.low(b))));
    frames.sort_unstable();
    frames.dedup();
    let low = |k: usize| {
        let points = scene.positions(Some(clip), k as f64 * target.motion.step);
        points.iter().map(|p| p.dot(target.up)).fold(f64::INFINITY, f64::min)
    };
    let lows: Vec<(bool, f64, f64)> = frames
        .iter()
        .map(|&k| (stands(k), source.low(k) / source.height * STATURE, low(k) / target.height * STATURE))
        .collect();
    let standing: Vec<&(bool, f64, f64)> = lows.iter().filter(|l| l.0).collect();
    if standing.len() < 2 || scene.n_vertices() == 0 {
        return None;
    }
    let level =
        |of: fn(&(bool, f64, f64)) -> f64| quantile(&standing.iter().map(|l| of(l)).collect::<Vec<_>>(), 0.5);
    let (ours, theirs) = (level(|l| l.1), level(|l| l.2));
    // A ground below the origin is as deep in lengths of legs, which is what refits keep.
    let by_legs = ours * source.height / source.reach - theirs * target.height / target.reach;
    let deepest =
        |of: fn(&(bool, f64, f64)) -> f64, level: f64| lows.iter().map(|l| level - of(l)).fold(0.0, f64::max);
    let hover = |of: fn(&(bool, f64, f64)) -> f64, level: f64| {
        quantile(&standing.iter().map(|l| of(l) - level).collect::<Vec<_>>(), 0.9).max(0.0)
    };
    Some(Ground {
        level: theirs / STATURE * target.height,
        depth: (deepest(|l| l.2, theirs) - deepest(|l| l.1, ours)).max(0.0),
        float: (hover(|l| l.2, theirs) - hover(|l| l.1, ours)).max(0.0),
        off: theirs.abs().min((theirs - ours).abs()).min(by_legs.abs()),
    })
}

/// Into the frame of a body at a moment: hips at the middle, left along X, up along Y, facing Z, and as tall as 1.
fn placed(body: &Body, frame: usize) -> impl Fn(DVec3) -> DVec3 {
    let basis: DMat3 = body.heading(frame).unwrap_or_else(|| body.world());
    let (middle, size) = (body.middle(frame), body.height);
    move |p| basis.transpose() * (p - middle) / size
}

/// Draw the bones of a body.
pub fn draw_bones(sheet: &mut Sheet, title: &str, body: &Body, frame: usize) {
    let place = placed(body, frame);
    // A bone from a root on the floor to the hips is no limb.
    let bones: Vec<(DVec3, DVec3)> = body
        .motion
        .bones(frame)
        .into_iter()
        .map(|(a, b)| (place(a), place(b)))
        .filter(|(a, b)| a.distance(*b) < 0.9)
        .collect();
    sheet.add_bones_within(title, &bones, DVec3::splat(-0.45), DVec3::splat(0.45));
}

/// Draw the surface of a body; red is what lies below a height of the ground.
pub fn draw_surface(
    sheet: &mut Sheet,
    title: &str,
    scene: &Scene,
    clip: usize,
    body: &Body,
    frame: usize,
    ground: Option<f64>,
) {
    let points = scene.positions(Some(clip), frame as f64 * body.motion.step);
    let deep = |p: &DVec3| ground.map_or(0.0, |level| (level - p.dot(body.up)) / body.height * STATURE / 3.0);
    let damage: Vec<f64> = points.iter().map(deep).collect();
    let place = placed(body, frame);
    let placed: Vec<DVec3> = points.iter().map(|p| place(*p)).collect();
    // A tail or wings may be wider than the body is tall.
    let (low, high) = bounds(&placed);
    let half = if body.is_humanoid { 0.45 } else { (high - low).max_element().clamp(0.6, 3.0) * 0.5 };
    let middle = if body.is_humanoid { DVec3::ZERO } else { (low + high) * 0.5 };
    let surface = Surface { positions: &placed, faces: &scene.faces, damage: &damage };
    sheet.add_within(title, &surface, middle - DVec3::splat(half), middle + DVec3::splat(half));
}
