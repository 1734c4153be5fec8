//! Flesh: it follows its skin, and it moves.
//!
//! Invariants, all against the skin alone (the source file played at the same moments), in percent of the diagonal at rest:
//! - as stiffness grows flesh becomes its skin: `dev_1e8_max` (no gravity, so that only the attachment is left), and
//!   `stiffness_gain`, how many times smaller the deviation is at 1e8 than at 1e6 Pa (1/E would be 100);
//! - by default it stays near it: `dev_p99`, `dev_max`; `edges_over_2x`, the largest share of edges in a frame, in percent, that
//!   are over twice as long as in the skin; `volume_min` and `volume_max`, volume of closed parts over that of the skin;
//! - where the skin loops, flesh loops: `loop_gap`, largest way between its first and its last frame;
//! - and, so that doing nothing fails, it moves where the skin accelerates: `moves`, 95th percentile of the deviation about its
//!   mean over time (sag alone is no motion), and `lag`, 90th percentile of the deviation where the skin is faster than
//!   `FAST_ACCELERATION`.
//!
//! Planned are rigs whose surface the judge can play (not compressed ones) and that are not flat, copies of a file once, each
//! with one clip; rigs without clips stand still, and there is nothing to move.

mod bake;
mod partners;

use super::super::{
    Random,
    draw::{Sheet, Surface, bounds},
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    scene::Scene,
    shape,
};
use super::Task;
use bake::{Bake, Frame, LONG_EDGE, is_over};
use glam::DVec3;
use std::path::Path;

/// Words of warnings that report damage; `jumps` and `unsolved` are about the clip and the solver.
pub const DAMAGE_WORDS: &[&str] = &["off its skin", "stretched", "volume", "folded"];

/// Between the file and the clip in the name of a row.
const WITH: &str = " · ";
/// Seconds of clips that are preferred, and the most that is played of longer ones.
const SECONDS: [f64; 2] = [0.3, 4.0];
/// Acceleration, in diagonals per square second, that soft parts answer to: about 1 g for a body of 2 m.
const FAST_ACCELERATION: f64 = 5.0;
/// Stiffness in pascals of the runs, with what their measures are called. Bodies longer than `LONG_CLIP_SECS` get more: inertia per area
/// grows with the square of the length, so that a fox of 150 m (of centimetres, that is) is jelly at 1e8 Pa, and rightly so.
const STIFF: [(&str, f64); 3] = [("1e6", 1e6), ("1e7", 1e7), ("1e8", 1e8)];
const LONG_CLIP_SECS: f64 = 4.0;

pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let mut tasks: Vec<Task> = Vec::new();
    for item in items.iter().filter(|item| item.kind == Kind::Rig) {
        if tasks.iter().any(|task| is_copy(task.items[0], item)) {
            continue;
        }
        let Ok(scene) = Scene::read(&item.path) else { continue };
        if is_flat(&scene) {
            continue;
        }
        let mut task = Task::of(item);
        if let Some(name) = choose(&scene, random) {
            task.file = format!("{}{WITH}{name}", item.label);
        }
        tasks.push(task);
    }
    tasks
}

fn is_copy(a: &Item, b: &Item) -> bool {
    let read = |item: &Item| std::fs::read(&item.path).unwrap_or_default();
    a.bytes == b.bytes && read(a) == read(b)
}

/// Whether there is nothing that could be flesh.
pub fn is_flat(scene: &Scene) -> bool {
    let (low, high) = bounds(&scene.positions(None, 0.0));
    (high - low).min_element() <= 1e-3 * (high - low).length()
}

/// A clip of a good length, a fast one if there is one, else the shortest that takes time.
fn choose(scene: &Scene, random: &mut Random) -> Option<String> {
    let clips = scene.clips();
    let is_only = |name: &str| clips.iter().filter(|(other, _)| *other == name).count() == 1;
    // Behind the first, what has no name of its own cannot be asked for.
    let has_name =
        |k: usize| scene.json["animations"][k]["name"].as_str().is_some_and(|name| !name.is_empty());
    let can_ask = |k: usize| is_only(clips[k].0) && (k == 0 || has_name(k));
    let mut usable: Vec<usize> = (0..clips.len()).filter(|&k| clips[k].1 > 0.0 && can_ask(k)).collect();
    usable.sort_by(|&a, &b| clips[a].1.total_cmp(&clips[b].1));
    let is_good = |k: &usize| (SECONDS[0]..=SECONDS[1]).contains(&clips[*k].1);
    let good: Vec<usize> = usable.iter().copied().filter(is_good).collect();
    let fast: Vec<usize> = good.iter().copied().filter(|&k| is_fast(scene, k)).collect();
    let list = [fast, good].into_iter().find(|list| !list.is_empty());
    let chosen = list.map(|list| list[random.below(list.len())]).or(usable.first().copied());
    chosen.map(|k| clips[k].0.to_owned())
}

/// Whether some joint accelerates by more than soft parts can follow; a quick look by which clips are chosen.
fn is_fast(scene: &Scene, clip: usize) -> bool {
    let (joints, seconds, step) = (scene.joints(), scene.clips()[clip].1, 1.0 / 30.0);
    let diagonal = shape::diagonal(&scene.positions(None, 0.0));
    let at = |time: f64| -> Vec<DVec3> {
        let worlds = scene.worlds(Some(clip), time);
        joints.iter().map(|&joint| worlds[joint].w_axis.truncate()).collect()
    };
    let accelerations: Vec<f64> = [0.2, 0.35, 0.5, 0.65, 0.8]
        .iter()
        .flat_map(|share| {
            let [a, b, c] = [-1.0, 0.0, 1.0].map(|k| at(share * seconds + k * step));
            (0..joints.len()).map(|j| (a[j] - 2.0 * b[j] + c[j]).length()).collect::<Vec<_>>()
        })
        .collect();
    shape::quantile(&accelerations, 0.9) > FAST_ACCELERATION * step * step * diagonal
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let item = task.items[0];
    let source = Scene::read(&item.path)?;
    let name = task.file.strip_prefix(&item.label).and_then(|rest| rest.strip_prefix(WITH));
    let clip = name.and_then(|name| source.clips().iter().position(|(other, _)| *other == name));
    let diagonal = shape::diagonal(&source.positions(None, 0.0));
    let mut verdict = Verdict::default();
    let words = words(&source, clip);
    let out = lab.file("flesh.glb");
    let outcome = run(lab, &item.path, &words, &out)?;
    if !outcome.is_done() {
        return Ok(verdict.not_done(outcome.fault()));
    }
    let default = Bake::read(&source, clip, &out)?;
    describe(&default, &mut verdict);
    measure(&default, &source, clip, &mut verdict);
    let (scale, stiff) = ((diagonal / LONG_CLIP_SECS).max(1.0).powi(2), lab.file("stiff.glb"));
    if scale > 1.0 {
        verdict.note(format!("{diagonal:.3} m across: stiffness × {scale:.3}"));
    }
    let mut stiffest = None;
    for (name, pascals) in STIFF {
        let mut words = words.clone();
        let numbers = ["--stiffness".to_owned(), format!("{:e}", pascals * scale)];
        words.extend(numbers.into_iter().chain(["--gravity", "0"].map(str::to_owned)));
        let outcome = run(lab, &item.path, &words, &stiff)?;
        if !outcome.is_done() {
            verdict.set("done", 0.0);
            verdict.note(format!("at {name} Pa: {}", outcome.fault()));
            continue;
        }
        let bake = Bake::read(&source, clip, &stiff)?;
        let deviations = bake.deviations();
        verdict.set(&format!("dev_{name}_p99"), shape::quantile(&deviations, 0.99));
        verdict.set(&format!("dev_{name}_max"), shape::quantile(&deviations, 1.0));
        stiffest = Some(bake);
    }
    gain(&mut verdict);
    draw(&default, stiffest.as_ref(), &mut verdict.sheet);
    Ok(verdict)
}

/// Options that choose the clip and limit its length.
fn words(source: &Scene, clip: Option<usize>) -> Vec<String> {
    let Some(clip) = clip else { return Vec::new() };
    let (name, seconds) = source.clips()[clip];
    // The first is played unless another is named.
    let mut words: Vec<String> = (clip > 0).then(|| format!("--clip={name}")).into_iter().collect();
    if seconds > SECONDS[1] {
        words.push(format!("--seconds={}", SECONDS[1]));
    }
    words
}

fn run(lab: &Lab, rig: &Path, options: &[String], out: &Path) -> anyhow::Result<super::super::lab::Outcome> {
    let mut words = vec!["flesh".as_ref(), rig.as_os_str()];
    words.extend(options.iter().map(std::ffi::OsStr::new));
    words.extend(["-o".as_ref(), out.as_os_str()]);
    lab.sinew(&words)
}

/// What the comparison rests on.
fn describe(bake: &Bake, verdict: &mut Verdict) {
    verdict.set("mapped", bake.mapped);
    verdict.set("frames", bake.frames.len() as f64);
    if bake.mapped < 1.0 {
        let share = 100.0 * (1.0 - bake.mapped);
        verdict.note(format!(
            "{share:.2} % of the written vertices have no exact partner in the source; the nearest stand in"
        ));
    }
}

fn measure(bake: &Bake, source: &Scene, clip: Option<usize>, verdict: &mut Verdict) {
    let deviations = bake.deviations();
    let is_finite = deviations.iter().all(|d| d.is_finite());
    verdict.set("finite", f64::from(u8::from(is_finite)));
    verdict.set("dev_p99", shape::quantile(&deviations, 0.99));
    verdict.set("dev_max", shape::quantile(&deviations, 1.0));
    for frame in &bake.frames {
        let stretched = bake.stretches(frame);
        let n_long = stretched.iter().filter(|s| is_over(**s, LONG_EDGE)).count();
        let share = n_long as f64 / stretched.len().max(1) as f64;
        verdict.raise("edges_over_2x", 100.0 * share);
        verdict.raise("stretch_max", shape::quantile(&stretched, 1.0));
    }
    match bake.volumes() {
        Some([low, high]) => {
            verdict.set("volume_min", low);
            verdict.set("volume_max", high);
        }
        None => verdict.note("no part is closed: volume is not judged"),
    }
    if let Some(gap) = bake.loop_gap() {
        verdict.set("loop_gap", gap);
    }
    let Some(clip) = clip else { return };
    let accelerations = bake.accelerations(source, clip);
    let p95 = shape::quantile(&accelerations, 0.95);
    verdict.set("acceleration", p95);
    if p95 > FAST_ACCELERATION {
        verdict.set("moves", shape::quantile(&bake.swings(), 0.95));
        let fast = deviations.iter().zip(&accelerations).filter(|(_, a)| **a > FAST_ACCELERATION);
        let lags: Vec<f64> = fast.map(|(d, _)| *d).collect();
        verdict.set("lag", shape::quantile(&lags, 0.9));
    }
}

/// How much hundredfold stiffness helps. What is within a thousandth of the diagonal anyway says nothing.
fn gain(verdict: &mut Verdict) {
    let get = |name: &str| verdict.measures.get(name).copied();
    if let (Some(soft), Some(stiff)) = (get("dev_1e6_max"), get("dev_1e8_max"))
        && soft > 1.0
    {
        verdict.set("stiffness_gain", soft / stiff.max(1e-3));
    }
}

/// Skin above, flesh below: at rest, at four moments with the worst among them, and the stiffest at its worst.
fn draw<'a>(default: &'a Bake, stiffest: Option<&'a Bake>, sheet: &mut Sheet) {
    let last = default.frames.len().saturating_sub(1);
    let mut moments: Vec<usize> = [1, 2, 3].map(|k| k * last / 4).to_vec();
    moments.push(default.worst());
    moments.sort_unstable();
    let mut tiles =
        vec![Tile::new("rest".to_owned(), default, &default.rest[0], &default.rest[1], Vec::new())];
    let at = |title: String, bake: &'a Bake, frame: &'a Frame| {
        Tile::new(title, bake, &frame.skin, &frame.flesh, bake.damage(frame))
    };
    for frame in moments.into_iter().filter_map(|k| default.frames.get(k)) {
        tiles.push(at(format!("{:.2} s", frame.time), default, frame));
    }
    if let Some((stiff, frame)) = stiffest.and_then(|stiff| Some((stiff, stiff.frames.get(stiff.worst())?))) {
        tiles.push(at(format!("1e8 Pa {:.2} s", frame.time), stiff, frame));
    }
    for tile in &tiles {
        tile.draw("skin", tile.skin, &[], sheet);
    }
    for tile in &tiles {
        tile.draw("flesh", tile.flesh, &tile.damage, sheet);
    }
}

/// A moment as it is drawn.
struct Tile<'a> {
    title: String,
    faces: &'a [[u32; 3]],
    skin: &'a [DVec3],
    flesh: &'a [DVec3],
    damage: Vec<f64>,
}

impl<'a> Tile<'a> {
    fn new(title: String, bake: &'a Bake, skin: &'a [DVec3], flesh: &'a [DVec3], damage: Vec<f64>) -> Self {
        Self { title, faces: &bake.faces, skin, flesh, damage }
    }

    /// Both in the box of the skin, so that they can be compared.
    fn draw(&self, what: &str, positions: &[DVec3], damage: &[f64], sheet: &mut Sheet) {
        let (low, high) = bounds(self.skin);
        let surface = Surface { positions, faces: self.faces, damage };
        sheet.add_within(&format!("{what} {}", self.title), &surface, low, high);
    }
}
