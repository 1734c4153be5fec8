//! Rigging: `sinew rig MODEL -o OUT.glb` with the skeleton hidden, compared with the rigger's own; and weights alone, by
//! `sinew rig MODEL --keep-skeleton`, compared with the rigger's weights and clips.
//!
//! Joints are compared in the space of the mesh, in which both skeletons are bound to it. A rigger's joint counts if it moves
//! at least 0.2 % of the vertices, is no finger or part of a face, and no other lies in its place.
//! - `distance_*`: mean distance between joints of one skeleton and the nearest of the other, both ways, percent of the
//!   diagonal (bipeds, quadrupeds, others);
//! - `recall_*`, `precision_*`: share of the rigger's joints that have a made one within 5 %, and the reverse. A tree of
//!   many joints has recall, a single joint precision;
//! - `class`, `up`, `facing`: whether they are those of the body map of the rigger's skeleton, where its names are clear;
//! - `overconfident`: confidence with which a wrong class was given;
//! - `weights`: mean over the vertices of the sum of differences of weights (0 to 2), and `replay`: how far vertices get off
//!   when the file's clips play with the new weights (root mean square, percent of the diagonal).
//!
//! Not seen: whether weights are smooth, and the rigs of meshes without a reference rig, except that there is one.

use super::super::{
    Random,
    draw::{Surface, bounds},
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    scene::Scene,
};
use super::Task;
use anyhow::Context;
use glam::DVec3;
use sinew::{
    formats::read_any,
    geom::{
        Character, Warnings,
        body_map::{BodyClass, BodyMap},
    },
};
use std::path::Path;

pub const DAMAGE_WORDS: &[&str] = &["guess"];

/// Joints that a rigger's skeleton may have and a made one need not: fingers, faces, twists, controls.
const SKIPPED: [&str; 25] = [
    "thumb", "index", "middle", "ring", "pinky", "little", "finger", "eye", "brow", "jaw", "mouth", "tongue",
    "teeth", "ear", "hair", "twist", "roll", "end", "tip", "pole", "target", "cape", "sword", "hat", "skirt",
];
/// Joints that move a smaller share of the vertices are controls.
const MIN_VERTEX_SHARE: f64 = 0.002;
/// A joint is found if one lies within this share of the diagonal.
const FOUND_SHARE: f64 = 0.05;
/// Confidence in the rigger's names from which class and facing are compared.
const MIN_CONFIDENCE: f64 = 0.6;
/// Meshes without a skeleton in the sample.
const MESHES: usize = 30;
/// Moments of the clips that are compared.
const MOMENTS: usize = 12;

/// All rigs, and a sample of meshes.
pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let rigs = items.iter().filter(|item| item.kind == Kind::Rig);
    let mut meshes: Vec<&Item> =
        items.iter().filter(|item| item.kind == Kind::Mesh && item.bytes > 4_000).collect();
    random.shuffle(&mut meshes);
    rigs.chain(meshes.into_iter().take(MESHES)).map(Task::of).collect()
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let item = task.items[0];
    let mut verdict = Verdict::default();
    let out = lab.file("rigged.glb");
    let outcome = lab.sinew(&["rig".as_ref(), item.path.as_os_str(), "-o".as_ref(), out.as_os_str()])?;
    if !outcome.is_done() {
        return Ok(verdict.not_done(outcome.fault()));
    }
    let (before, after) = (read(&item.path)?, read(&out)?);
    let size = before.mesh.diagonal().max(f64::MIN_POSITIVE);
    let made = places(&after, size, false);
    verdict.set("joints", made.len() as f64);
    let report = outcome.json();
    let confidence = report["confidence"].as_f64().unwrap_or(f64::NAN);
    verdict.set("confidence", confidence);
    draw(&before, &after, &mut verdict);
    let truth = places(&before, size, true);
    // A skeleton of a few joints is no measure of a body.
    if item.kind != Kind::Rig || truth.len() < 6 {
        return Ok(verdict);
    }
    let Some(rig) = &before.rig else { return Ok(verdict) };
    let map = BodyMap::read(rig, &before.clips);
    compare_joints(map.class, &truth, &made, size, &mut verdict);
    if map.confidence >= MIN_CONFIDENCE {
        let is_right = report["class"] == map.class.name();
        verdict.set("class", f64::from(u8::from(is_right)));
        verdict.set("overconfident", if is_right { 0.0 } else { confidence });
        let along = |key: &str, truth: DVec3| {
            let axis: Vec<f64> =
                report[key].as_array().into_iter().flatten().filter_map(|x| x.as_f64()).collect();
            if axis.len() == 3 { DVec3::from_slice(&axis).dot(truth) } else { f64::NAN }
        };
        verdict.set("up", along("up", map.up));
        verdict.set("facing", along("facing", map.forward));
    }
    judge_weights(item, lab, &before, verdict)
}

fn read(path: &Path) -> anyhow::Result<Character> {
    let content = read_any(path, &mut Warnings::default())?;
    content.into_character().with_context(|| format!("{}: no character", path.display()))
}

/// Where in the space of the mesh the joints are that move a part of it, none twice.
fn places(character: &Character, size: f64, is_truth: bool) -> Vec<DVec3> {
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else { return Vec::new() };
    let mut share = vec![0.0; skin.slots.len()];
    for v in 0..skin.n_vertices() {
        skin.vertex(v).for_each(|(slot, w)| share[slot as usize] += f64::from(w) / skin.n_vertices() as f64);
    }
    let least = if is_truth { MIN_VERTEX_SHARE } else { 0.25 * MIN_VERTEX_SHARE };
    let mut found: Vec<DVec3> = Vec::new();
    for (slot, share) in skin.slots.iter().zip(share) {
        let name = rig.joints()[slot.joint].name.to_lowercase();
        let is_skipped = is_truth && SKIPPED.iter().any(|word| name.contains(word));
        let place = slot.inverse_bind.inverse().translation;
        let is_new = found.iter().all(|other| other.distance(place) > 0.005 * size);
        if share >= least && !is_skipped && is_new {
            found.push(place);
        }
    }
    found
}

fn compare_joints(class: BodyClass, truth: &[DVec3], made: &[DVec3], size: f64, verdict: &mut Verdict) {
    let kind = match class {
        BodyClass::Biped => "biped",
        BodyClass::Quadruped => "quadruped",
        _ => "other",
    };
    let (recall, there) = compare(truth, made, size);
    let (precision, back) = compare(made, truth, size);
    verdict.set(&format!("recall_{kind}"), recall);
    verdict.set(&format!("precision_{kind}"), precision);
    verdict.set(&format!("distance_{kind}"), 50.0 * (there + back));
}

/// Share of points that have one of the others near, and the mean distance to the nearest, in sizes.
fn compare(points: &[DVec3], others: &[DVec3], size: f64) -> (f64, f64) {
    let nearest = |p: &DVec3| others.iter().map(|q| p.distance(*q) / size).fold(1.0, f64::min);
    let distances: Vec<f64> = points.iter().map(nearest).collect();
    let n = distances.len().max(1) as f64;
    (distances.iter().filter(|d| **d < FOUND_SHARE).count() as f64 / n, distances.iter().sum::<f64>() / n)
}

/// The same skeleton with new weights.
fn judge_weights(
    item: &Item,
    lab: &Lab,
    before: &Character,
    mut verdict: Verdict,
) -> anyhow::Result<Verdict> {
    let out = lab.file("bound.glb");
    let words = ["rig".as_ref(), item.path.as_os_str(), "--keep-skeleton".as_ref(), "-o".as_ref()];
    let outcome = lab.sinew(&[&words[..], &[out.as_os_str()]].concat())?;
    if !outcome.is_done() {
        return Ok(verdict.not_done(outcome.fault()));
    }
    let after = read(&out)?;
    let (Some(old), Some(new)) = (&before.skin, &after.skin) else { return Ok(verdict) };
    if let (Some(rig), Some(again)) = (&before.rig, &after.rig)
        && old.n_vertices() == new.n_vertices()
    {
        let mut sum = 0.0;
        for v in 0..old.n_vertices() {
            let mut difference = std::collections::BTreeMap::new();
            for (slot, w) in old.vertex(v) {
                let name = rig.joints()[old.slots[slot as usize].joint].name.as_str();
                *difference.entry(name).or_insert(0.0) += f64::from(w);
            }
            for (slot, w) in new.vertex(v) {
                let name = again.joints()[new.slots[slot as usize].joint].name.as_str();
                *difference.entry(name).or_insert(0.0) -= f64::from(w);
            }
            sum += difference.values().map(|d| d.abs()).sum::<f64>();
        }
        verdict.set("weights", sum / old.n_vertices().max(1) as f64);
    }
    let (old, new) = (Scene::read(&item.path)?, Scene::read(&out)?);
    if let Some(error) = replay(&old, &new) {
        verdict.set("replay", error);
    }
    Ok(verdict)
}

/// Root mean square distance of vertices over moments of all clips, percent of the diagonal at rest.
fn replay(old: &Scene, new: &Scene) -> Option<f64> {
    if old.n_vertices() != new.n_vertices() || old.clips().is_empty() {
        return None;
    }
    let (low, high) = bounds(&old.positions(None, 0.0));
    let (mut sum, mut n) = (0.0, 0.0);
    let per_clip = MOMENTS.div_ceil(old.clips().len());
    for (clip, (name, seconds)) in old.clips().iter().enumerate() {
        let same = new.clips().iter().position(|(other, _)| other == name)?;
        for k in 0..per_clip {
            let time = seconds * (k as f64 + 0.5) / per_clip as f64;
            let (a, b) = (old.positions(Some(clip), time), new.positions(Some(same), time));
            sum += a.iter().zip(&b).map(|(a, b)| a.distance_squared(*b)).sum::<f64>();
            n += a.len() as f64;
        }
    }
    Some(100.0 * (sum / n).sqrt() / low.distance(high).max(f64::MIN_POSITIVE))
}

fn draw(before: &Character, after: &Character, verdict: &mut Verdict) {
    let positions = before.mesh.positions();
    let (low, high) = bounds(positions);
    verdict.sheet.add("model", &Surface { positions, faces: before.mesh.faces(), damage: &[] });
    for (title, character) in [("rigger", before), ("made", after)] {
        let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else { continue };
        let mut place = vec![None; rig.n_joints()];
        for slot in &skin.slots {
            place[slot.joint] = Some(slot.inverse_bind.inverse().translation);
        }
        let bone = |k: usize| Some((place[rig.joints()[k].parent?]?, place[k]?));
        let bones: Vec<(DVec3, DVec3)> = (0..rig.n_joints()).filter_map(bone).collect();
        verdict.sheet.add_bones_within(title, &bones, low, high);
    }
}
