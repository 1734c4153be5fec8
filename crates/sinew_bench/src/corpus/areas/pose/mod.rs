//! Posing: handles found by the product are turned, bent and twisted; what was written is compared with converged
//! as-rigid-as-possible (ARAP), computed here with cotangent weights, the same handles held where the product put them.
//!
//! A body that opens gets handles, and under each edit the handles turn rigidly by what was asked (`moved`, `rigid`) while the
//! surface between them follows. Of all edits of a row the worst counts:
//! - `moved`: share of the asked rotation and travel that the handles made (the twin of all the others; 1 is all);
//! - `reshaped`: largest change of the shape, motion of the whole left out, percent of the diagonal (of all edits the largest
//!   counts: a ball that is only turned as a whole was not posed);
//! - `rigid`: handles' distance from a rigid motion, percent of the diagonal (root mean square);
//! - `distortion`: root mean square of singular values less one, over that of converged ARAP, where that keeps the volume of what
//!   moved within 10 %; elsewhere `distortion_bulky`, with a wider limit, because a surface that keeps its volume must distort
//!   more;
//! - `flipped`: faces whose normal points backwards after their surroundings' rotation is removed, beyond those that ARAP
//!   flips or tilts by 75° and more;
//! - `noise`: degrees by which soft faces tilt against their surroundings (root mean square), beyond ARAP;
//! - `intersections`: faces that run into others and did not at rest, percent of the faces that moved, beyond ARAP;
//! - `volume`: percent by which the volume of what moved changes, beyond 2 % where ARAP does no better;
//! - `cracks`: widest gap along seams that were closed at rest, percent of the diagonal;
//! - `left_behind`: how far a part without a handle of its own (an eye, a button) comes off all that it touched, percent of the
//!   diagonal.
//!
//! Above [`MAX_ARAP_VERTICES`] vertices ARAP is not computed, and counts are not reduced by its own.

mod arap;
mod edits;
mod harm;

use super::super::{
    Random,
    draw::Surface,
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    shape,
};
use super::Task;
use arap::Arap;
use edits::{Edit, Handles};
use glam::DVec3;
use harm::Body;
use sinew::{
    formats::{Content, read_any},
    geom::Warnings,
};
use std::{collections::HashSet, path::Path};

pub const DAMAGE_WORDS: &[&str] = &["flipped", "intersect", "distort", "torn", "come apart"];

/// Vertices above which ARAP is not computed.
const MAX_ARAP_VERTICES: usize = 60_000;
/// Vertices below which there is nothing to bend.
const MIN_VERTICES: usize = 200;
/// Rigs in the sample: their handles come from bones, and other areas move them all.
const RIGS: usize = 12;

/// All meshes that can be read and have at least [`MIN_VERTICES`] vertices and triangles, and a sample of rigs. A surface that was seen
/// already, in another folder or format, is left out.
pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let of = |kind: Kind| items.iter().filter(move |item| item.kind == kind && item.bytes > 4_000);
    let mut seen = HashSet::new();
    let mut can = |item: &&Item| {
        let Some((points, faces)) = read(&item.path) else { return false };
        let size = shape::diagonal(&points) as f32;
        let is_large = points.len() >= MIN_VERTICES && faces.len() >= MIN_VERTICES;
        is_large && seen.insert((points.len(), faces.len(), size.to_bits()))
    };
    let mut rigs: Vec<&Item> = of(Kind::Rig).collect();
    random.shuffle(&mut rigs);
    let mut planned: Vec<&Item> = of(Kind::Mesh).filter(&mut can).collect();
    planned.extend(rigs.into_iter().filter(can).take(RIGS));
    planned.into_iter().map(Task::of).collect()
}

/// Vertices and triangles as the product numbers them.
fn read(path: &Path) -> Option<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let content: Content = read_any(path, &mut Warnings::default()).ok()?;
    let mesh = content.into_character()?.mesh;
    Some((mesh.positions().to_vec(), mesh.faces().to_vec()))
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let path = &task.items[0].path;
    let Some((points, faces)) = read(path) else { anyhow::bail!("it cannot be read any more") };
    let mut verdict = Verdict::default();
    let file = lab.file("handles.json");
    let outcome =
        lab.sinew(&["handles".as_ref(), "auto".as_ref(), path.as_os_str(), "-o".as_ref(), file.as_os_str()])?;
    verdict.sheet.add("rest", &Surface { positions: &points, faces: &faces, damage: &[] });
    if !outcome.is_done() {
        return Ok(verdict.not_done(format!("handles: {}", outcome.fault())));
    }
    let handles = Handles::read(&file, points.len())?;
    verdict.set("handles", handles.0.len() as f64);
    let body = Body::new(&points, &faces);
    let edits = handles.edits(&body, &points);
    if edits.is_empty() {
        return Ok(verdict.not_done(format!("{} handles were found: nothing can be turned", handles.0.len())));
    }
    let mut is_fixed = vec![false; body.rest.len()];
    handles.0.iter().flat_map(|h| &h.vertices).for_each(|&v| is_fixed[body.of[v as usize] as usize] = true);
    let mut judge = Judge {
        arap: Arap::new(&body.rest, &body.faces),
        body: &body,
        faces: &faces,
        leads: body.leading(handles.0.iter().map(|handle| handle.vertices.as_slice())),
        is_fixed: &is_fixed,
        worst: None,
    };
    if body.rest.len() > MAX_ARAP_VERTICES {
        verdict.note(format!("ARAP was not computed: more than {MAX_ARAP_VERTICES} vertices"));
    }
    for edit in &edits {
        let Some(posed) = pose(edit, path, &points, lab, &mut verdict)? else { return Ok(verdict) };
        judge.measure(edit, &points, &posed, &mut verdict)?;
    }
    if let Some((_, relaxed)) = &judge.worst {
        verdict
            .sheet
            .add("ARAP of the worst", &Surface { positions: relaxed, faces: &body.faces, damage: &[] });
    }
    Ok(verdict)
}

/// The posed model, in the order of the model's vertices.
fn pose(
    edit: &Edit,
    path: &Path,
    points: &[DVec3],
    lab: &Lab,
    verdict: &mut Verdict,
) -> anyhow::Result<Option<Vec<DVec3>>> {
    let (moves, handles, out) = (lab.file("moves.json"), lab.file("handles.json"), lab.file("posed.obj"));
    std::fs::write(&moves, edit.moves.to_string())?;
    let words = [
        "pose".as_ref(),
        path.as_os_str(),
        "--handles".as_ref(),
        handles.as_os_str(),
        "--moves".as_ref(),
        moves.as_os_str(),
        "-o".as_ref(),
        out.as_os_str(),
    ];
    let outcome = lab.sinew(&words)?;
    let mut fail = |why: String| {
        *verdict = std::mem::take(verdict).not_done(why);
        Ok(None)
    };
    if !outcome.is_done() {
        return fail(format!("{}: {}", edit.title, outcome.fault()));
    }
    let posed = obj_points(&std::fs::read_to_string(&out)?);
    if posed.len() != points.len() {
        return fail(format!("{}: {} vertices came out of {}", edit.title, posed.len(), points.len()));
    }
    if !posed.iter().all(|p| p.is_finite()) {
        return fail(format!("{}: coordinates are not numbers", edit.title));
    }
    Ok(Some(posed))
}

fn obj_points(text: &str) -> Vec<DVec3> {
    let point = |line: &str| {
        let numbers: Vec<f64> =
            line.split_whitespace().take(3).map(|word| word.parse().unwrap_or(f64::NAN)).collect();
        if numbers.len() == 3 { DVec3::from_slice(&numbers) } else { DVec3::NAN }
    };
    text.lines().filter_map(|line| line.strip_prefix("v ")).map(point).collect()
}

struct Judge<'a> {
    body: &'a Body,
    arap: Arap<'a>,
    /// Triangles of the model, with its seams.
    faces: &'a [[u32; 3]],
    /// Parts with handles of their own.
    leads: Vec<bool>,
    is_fixed: &'a [bool],
    /// How bad the worst edit is, and what ARAP makes of it.
    worst: Option<(f64, Vec<DVec3>)>,
}

/// Measures of one surface.
struct Found {
    distortion: f64,
    flipped: Vec<bool>,
    /// Faces that are flipped or nearly so.
    leaning: Vec<bool>,
    crosses: Vec<bool>,
    tilt: f64,
    volume: Option<f64>,
}

impl Judge<'_> {
    fn measure(
        &mut self,
        edit: &Edit,
        points: &[DVec3],
        posed: &[DVec3],
        verdict: &mut Verdict,
    ) -> anyhow::Result<()> {
        let (share, off) = edit.done(points, posed, self.body.diagonal);
        let least = verdict.measures.get("moved").copied().unwrap_or(f64::INFINITY);
        verdict.set("moved", least.min(share));
        verdict.raise("rigid", 100.0 * off);
        let (welded, gap) = self.body.welded(posed);
        verdict.raise("reshaped", 100.0 * edits::reshaped(&self.body.rest, &welded, self.body.diagonal));
        verdict.raise("cracks", 100.0 * gap / self.body.diagonal);
        let (behind, part) = self.body.left_behind(&welded, &self.leads);
        verdict.raise("left_behind", 100.0 * behind);
        let active = self.body.active(&welded);
        let before = self.body.crossings(&self.body.rest, &active);
        let found = self.found(&welded, &active, &before);
        let relaxed = if welded.len() > MAX_ARAP_VERTICES { None } else { Some(self.relax(&welded)?) };
        let best = relaxed.as_ref().map(|relaxed| self.found(relaxed, &active, &before));
        let n_active = active.iter().filter(|is| **is).count().max(1) as f64;
        let count = |flags: &[bool]| flags.iter().filter(|is| **is).count() as f64;
        let of_best = |value: fn(&Found) -> &[bool]| best.as_ref().map_or(0.0, |best| count(value(best)));
        let flipped = count(&found.flipped) - of_best(|found| &found.leaning);
        let crossing = count(&found.crosses) - of_best(|found| &found.crosses);
        verdict.raise("flipped", flipped.max(0.0));
        verdict.raise("intersections", 100.0 * crossing.max(0.0) / n_active);
        verdict.raise("noise", (found.tilt - best.as_ref().map_or(0.0, |best| best.tilt)).max(0.0));
        let lost = |found: &Found| found.volume.map(|ratio| 100.0 * (ratio - 1.0).abs());
        let lost_best = best.as_ref().and_then(lost);
        if let Some(lost) = lost(&found) {
            verdict.raise("volume", lost.min((lost - lost_best.unwrap_or(0.0)).max(0.0) + 2.0));
        }
        let mut bad = flipped.max(0.0) + crossing.max(0.0);
        if let (Some(best), Some(relaxed)) = (&best, relaxed) {
            let ratio = self.ratio(&found, best);
            let is_bulky = lost_best.is_some_and(|lost| lost > 10.0);
            verdict.raise(if is_bulky { "distortion_bulky" } else { "distortion" }, ratio);
            bad += 100.0 * (ratio - 1.0);
            if self.worst.as_ref().is_none_or(|(worst, _)| bad > *worst) {
                self.worst = Some((bad, relaxed));
            }
        }
        let is_left = |v: usize| behind > 0.01 && part[v];
        let damage = self.damage(&found, posed, &welded, is_left);
        verdict.sheet.add(edit.title, &Surface { positions: posed, faces: self.faces, damage: &damage });
        Ok(())
    }

    fn relax(&self, welded: &[DVec3]) -> anyhow::Result<Vec<DVec3>> {
        let free = self.is_fixed.iter().filter(|is| !**is).count().max(1);
        self.arap.relax(welded, self.is_fixed, (2_000_000 / free).clamp(20, 100))
    }

    fn found(&self, posed: &[DVec3], active: &[bool], before: &[bool]) -> Found {
        let rotations = self.arap.rotations(posed);
        let tilts = self.body.tilts(posed, &rotations);
        let is_soft = |face: &[u32; 3]| face.iter().any(|&v| !self.is_fixed[v as usize]);
        let soft = (0..tilts.len()).filter(|&k| active[k] && is_soft(&self.body.faces[k]));
        let squares: Vec<f64> = soft.map(|k| tilts[k] * tilts[k]).collect();
        let after = self.body.crossings(posed, active);
        Found {
            distortion: self.arap.distortion(posed, self.is_fixed),
            flipped: tilts.iter().map(|tilt| *tilt > 90.0).collect(),
            leaning: tilts.iter().map(|tilt| *tilt > 75.0).collect(),
            crosses: after.iter().zip(before).map(|(after, before)| *after && !before).collect(),
            tilt: (squares.iter().sum::<f64>() / squares.len().max(1) as f64).sqrt(),
            volume: self.body.volume_ratio(posed),
        }
    }

    /// Distortion over distortion; what is far below anything visible counts as equal.
    fn ratio(&self, found: &Found, best: &Found) -> f64 {
        let visible = |found: &Found| found.distortion.hypot(3e-3);
        visible(found) / visible(best)
    }

    /// Per vertex of the model whether something is wrong there.
    fn damage(
        &self,
        found: &Found,
        posed: &[DVec3],
        welded: &[DVec3],
        is_left: impl Fn(usize) -> bool,
    ) -> Vec<f64> {
        let mut is_bad: Vec<bool> = (0..welded.len()).map(is_left).collect();
        for (k, face) in self.body.faces.iter().enumerate() {
            if found.flipped[k] || found.crosses[k] {
                face.iter().for_each(|&v| is_bad[v as usize] = true);
            }
        }
        let is_torn = |v: usize, p: &DVec3| welded[v].distance(*p) > 5e-4 * self.body.diagonal;
        let vertices = self.body.of.iter().zip(posed);
        vertices.map(|(&v, p)| f64::from(u8::from(is_bad[v as usize] || is_torn(v as usize, p)))).collect()
    }
}
