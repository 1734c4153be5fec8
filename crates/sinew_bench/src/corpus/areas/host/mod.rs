//! The host: what a file holds survives opening and writing, whatever was changed meanwhile.
//!
//! Four documents are written: the file as it is (`convert`), with another pose at rest (`pose`), with a new clip (`refit`, from
//! a BVH beside it, else from its own clip) and with flesh (`flesh`). Invariant: everything in the source that the change is not
//! about is in each of them. Facts are compared by content and by name, never by index (`content.rs`); each measure is the
//! smallest share, over the documents, of the source's facts of one sort that are still there, and is absent if it has none:
//! - `materials` name and properties, `texture_slots` what each slot shows and how, `images`, `uv_sets`, `colours` and `tangents`
//!   per material, `parts` node, mesh and material of everything drawn, `mesh_names`, `morph_names`;
//! - `node_names`, `node_tree` name and parent, `node_places` where nodes are at rest (not after `pose`), `skins` joints of each;
//! - `clips` name and length, `channels`, `cameras`, `lights`, `extensions` uses with content, `extras`, `asset`;
//! - `clip_error` largest way, in percent of the diagonal, between nodes of the same name when clips are played (`convert`);
//! - `picture` mean difference, 0 to 1, of pictures by three.js of the rest pose before and after, over the pixels that show the
//!   body in either (not after `pose`), with the camera of the first; 1 if three.js draws the source but not the result.
//!
//! Twins: the change is there: `moved` largest way of a vertex after `pose`, in percent of the diagonal; `new_clip`; `baked`.
//!
//! Every glTF file is planned, copies of a file once. Compressed geometry is not unpacked: UV sets and colours then count as kept
//! if they are there at all.

mod content;
mod facts;
mod picture;

use super::super::{
    Random,
    find::{Item, Kind},
    lab::{Lab, Outcome},
    motion::Motion,
    row::Verdict,
    shape,
};
use super::Task;
use crate::places;
use content::Content;
use glam::DVec3;
use picture::Picture;
use serde_json::{Value, json};
use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

/// Words of the product's warnings about what it leaves out.
pub const DAMAGE_WORDS: &[&str] = &["not kept", "left out", "not supported", "dropped"];

/// A BVH with up to this many bytes is short.
const SHORT_CLIP: u64 = 600_000;
/// A BVH of a whole body has at least this many joints.
const JOINTS: usize = 15;
/// How far a handle is moved, as a share of the diagonal.
const MOVE: f64 = 0.05;

pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let is_body = |item: &Item| Motion::read_bvh(&item.path).is_ok_and(|motion| motion.n_joints() >= JOINTS);
    let is_short = |item: &Item| item.kind == Kind::Clip && !item.is_gltf && item.bytes < SHORT_CLIP;
    let is_motion = |item: &&Item| is_short(item) && is_body(item);
    let motions: Vec<&Item> = items.iter().filter(is_motion).collect();
    let mut tasks: Vec<Task> = Vec::new();
    for item in items.iter().filter(|item| item.is_gltf) {
        if tasks.iter().any(|task| is_copy(task.items[0], item)) {
            continue;
        }
        let mut task = Task::of(item);
        if item.kind == Kind::Rig {
            let tree = |item: &Item| item.label.split('/').next().map(str::to_owned);
            let beside: Vec<&&Item> = motions.iter().filter(|motion| tree(motion) == tree(item)).collect();
            task.items.extend(beside.get(random.below(beside.len())).map(|motion| **motion));
        }
        tasks.push(task);
    }
    tasks
}

fn is_copy(a: &Item, b: &Item) -> bool {
    let read = |item: &Item| std::fs::read(&item.path).unwrap_or_default();
    a.bytes == b.bytes && read(a) == read(b)
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let item = task.items[0];
    let mut verdict = Verdict::default();
    let mut written = Vec::new();
    let plain = lab.file("convert.glb");
    let outcome = lab.sinew(&["convert".as_ref(), item.path.as_os_str(), plain.as_os_str()])?;
    if !outcome.is_done() {
        draw(&item.path, &[], lab, &mut verdict);
        return Ok(verdict.not_done(outcome.fault()));
    }
    let source = Content::read(&item.path)?;
    let opened = Content::read(&plain)?;
    if let Some(error) = content::clip_error(&source, &opened) {
        verdict.set("clip_error", error);
    }
    tally("convert", &source, &opened, &mut verdict);
    written.push(("convert", plain));
    if matches!(item.kind, Kind::Mesh | Kind::Rig) {
        written.extend(pose(item, &source, &opened, lab, &mut verdict)?);
    }
    if item.kind == Kind::Rig {
        let motion = task.items.get(1).copied();
        written.extend(refit(item, motion, &source, lab, &mut verdict)?);
        written.extend(flesh(item, &source, lab, &mut verdict)?);
    }
    if matches!(item.kind, Kind::Mesh | Kind::Rig) {
        draw(&item.path, &written, lab, &mut verdict);
    }
    Ok(verdict)
}

/// Measure what is preserved, and name what is not.
fn tally(run: &str, source: &Content, after: &Content, verdict: &mut Verdict) {
    let mut lost = Vec::new();
    for kept in facts::compare(source, after, run != "pose") {
        let share = kept.kept as f64 / kept.all as f64;
        let least = verdict.measures.get(kept.name).copied().unwrap_or(1.0);
        verdict.set(kept.name, least.min(share));
        if kept.kept < kept.all {
            let first: String = kept
                .lost
                .first()
                .map_or("", String::as_str)
                .replace(content::UNNAMED, "(unnamed)")
                .chars()
                .take(70)
                .collect();
            lost.push(format!("{} {} of {} ({first})", kept.name, kept.all - kept.kept, kept.all));
        }
    }
    if !lost.is_empty() {
        verdict.note(format!("{run} loses {}", lost.join(", ")));
    }
}

/// Another pose at rest.
fn pose(
    item: &Item,
    source: &Content,
    opened: &Content,
    lab: &Lab,
    verdict: &mut Verdict,
) -> anyhow::Result<Option<(&'static str, PathBuf)>> {
    let [handles, moves, out] = ["handles.json", "moves.json", "pose.glb"].map(|name| lab.file(name));
    let words = ["handles", "auto"].map(OsStr::new);
    let found =
        lab.sinew(&[words[0], words[1], item.path.as_os_str(), "-o".as_ref(), handles.as_os_str()])?;
    if !found.is_done() {
        return Ok(fail("handles auto", &found, verdict));
    }
    let rest = opened.scene.as_ref().map(|scene| scene.positions(None, 0.0)).unwrap_or_default();
    let diagonal = shape::diagonal(&rest);
    let list: Value = serde_json::from_slice(&std::fs::read(&handles)?)?;
    let name = list["handles"].as_array().and_then(|list| list.last()).map(|handle| handle["name"].clone());
    let Some(name) = name else {
        verdict.note("pose: no handles were found");
        return Ok(None);
    };
    let step = json!({ "translate": { "handles": [name], "vector": [0.0, MOVE * diagonal, 0.0] } });
    std::fs::write(&moves, json!({ "moves": [step] }).to_string())?;
    let options = ["pose", "--handles", "--moves", "-o"].map(OsStr::new);
    let [h, m, o] = [&handles, &moves, &out].map(|path| path.as_os_str());
    let outcome =
        lab.sinew(&[options[0], item.path.as_os_str(), options[1], h, options[2], m, options[3], o])?;
    if !outcome.is_done() {
        return Ok(fail("pose", &outcome, verdict));
    }
    let after = Content::read(&out)?;
    tally("pose", source, &after, verdict);
    let posed = after.scene.as_ref().map(|scene| scene.positions(None, 0.0)).unwrap_or_default();
    verdict.set("moved", 100.0 * moved(&rest, &posed) / diagonal);
    Ok(Some(("pose", out)))
}

/// The largest way from a posed vertex to where it was, or, if vertices were cut or merged, to where any was.
fn moved(rest: &[DVec3], posed: &[DVec3]) -> f64 {
    if rest.len() == posed.len() {
        return rest.iter().zip(posed).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    }
    let nearest = |p: &DVec3| rest.iter().map(|q| p.distance(*q)).fold(f64::INFINITY, f64::min);
    posed.iter().step_by(posed.len() / 2000 + 1).map(nearest).fold(0.0, f64::max)
}

/// A new clip: from a BVH, else one of its own fitted to itself. A rig that shares no names with a BVH may refuse it.
fn refit(
    item: &Item,
    motion: Option<&Item>,
    source: &Content,
    lab: &Lab,
    verdict: &mut Verdict,
) -> anyhow::Result<Option<(&'static str, PathBuf)>> {
    let own = (item.n_clips > 0).then_some(item);
    let out = lab.file("refit.glb");
    for clip in motion.into_iter().chain(own) {
        let (clip_path, rig) = (clip.path.as_os_str(), item.path.as_os_str());
        let words = ["refit", "--skeleton", "-o"].map(OsStr::new);
        let outcome = lab.sinew(&[words[0], clip_path, words[1], rig, words[2], out.as_os_str()])?;
        if !outcome.is_done() {
            verdict.note(format!("refit of {}: {}", clip.label, outcome.fault()));
            continue;
        }
        let after = Content::read(&out)?;
        tally("refit", source, &after, verdict);
        let clips = facts::clips(&after);
        let known = facts::clips(source);
        let has_moving = after.scene.as_ref().is_some_and(|scene| scene.clips().iter().any(|c| c.1 > 0.0));
        // A clip fitted to its own body may keep its name.
        let is_new = clips.iter().any(|clip| !known.contains(clip)) || clip.path == item.path;
        verdict.set("new_clip", f64::from(u8::from(has_moving && is_new)));
        return Ok(Some(("refit", out)));
    }
    Ok(None)
}

/// Flesh over a moment.
fn flesh(
    item: &Item,
    source: &Content,
    lab: &Lab,
    verdict: &mut Verdict,
) -> anyhow::Result<Option<(&'static str, PathBuf)>> {
    let out = lab.file("flesh.glb");
    let words = ["flesh", "--seconds", "0.3", "-o"].map(OsStr::new);
    let outcome =
        lab.sinew(&[words[0], item.path.as_os_str(), words[1], words[2], words[3], out.as_os_str()])?;
    if !outcome.is_done() {
        // What is flat has no flesh.
        if source.scene.as_ref().is_some_and(super::flesh::is_flat) {
            verdict.note(format!("flesh: {}", outcome.fault()));
            return Ok(None);
        }
        return Ok(fail("flesh", &outcome, verdict));
    }
    let after = Content::read(&out)?;
    tally("flesh", source, &after, verdict);
    verdict.set("baked", f64::from(u8::from(after.scene.as_ref().is_some_and(content::is_baked))));
    Ok(Some(("flesh", out)))
}

/// A change that was refused: the row fails, with the product's message.
fn fail<T>(run: &str, outcome: &Outcome, verdict: &mut Verdict) -> Option<T> {
    verdict.set("done", 0.0);
    verdict.note(format!("{run}: {}", outcome.fault()));
    None
}

/// Pictures of the source and of all results, with the difference of those that must look the same.
fn draw(source: &Path, written: &[(&str, PathBuf)], lab: &Lab, verdict: &mut Verdict) {
    let files: Vec<&Path> =
        std::iter::once(source).chain(written.iter().map(|(_, path)| path.as_path())).collect();
    let pictures = match picture::draw(&files, lab) {
        Ok(pictures) => pictures,
        Err(why) => return verdict.note(format!("no pictures by three.js: {why}")),
    };
    let before = match pictures.first() {
        Some(Ok(before)) if before.is_blank() => {
            return verdict.note("three.js draws nothing of the source");
        }
        Some(Ok(before)) => before,
        Some(Err(why)) => return verdict.note(format!("three.js does not draw the source: {why}")),
        None => return,
    };
    before.show("before", &mut verdict.sheet);
    for ((run, _), after) in written.iter().zip(pictures.iter().skip(1)) {
        match after {
            Ok(after) => {
                after.show(run, &mut verdict.sheet);
                if *run != "pose" {
                    compare(run, before, after, verdict);
                }
            }
            Err(why) => {
                verdict.note(format!("three.js does not draw what {run} wrote: {why}"));
                verdict.raise("picture", 1.0);
            }
        }
    }
}

fn compare(run: &str, before: &Picture, after: &Picture, verdict: &mut Verdict) {
    let difference = before.difference(after);
    verdict.raise("picture", difference);
    if run == "convert" {
        before.changes(after).show("changed", &mut verdict.sheet);
    }
}

/// Where the scripts and tools of other judges are.
fn tools() -> [PathBuf; 2] {
    let script = places::project().join("tests/judges/draw.mjs");
    [script, places::tools("SINEW_TOOLS", "")]
}
