//! Refit: a clip on its own body stays what it is; on another body it keeps the directions of limbs, stands where the source
//! stands, goes where the source goes, and neither jumps nor shakes more.
//!
//! What must hold, whatever unit, facing, rest pose and size the bodies have:
//! * `identity_*_cm`, `scaled_*_cm`: distances of joints from the source, on its own body and on one larger by 0.1 %.
//! * `direction_*_deg`: angles between the limbs of source and result, each seen from where its body faces.
//! * `trunk_deg`: the same of the trunk alone, which is one limb of nine and all of the posture.
//! * `feet_deg`, `turn_deg`, `course_deg`: where feet point, how the body turns, and which way it goes relative to its front.
//! * `jump_cm`, `jerk_ratio`: steps between frames beyond the source's, and third differences over the source's.
//! * `slide_cm_s`, `drift_cm`: what feet that stand in the source do in the result, beyond the source's own.
//! * `depth_cm`, `float_cm`, `off_ground_cm`: the whole surface against the ground.
//! * twins, since a body at rest breaks none of these: `amplitude`, `travel_ratio`, `moves` against the source.
//!
//! Centimetres are those of a body of 1.7 m. Limbs of quadrupeds are not known by name: what remains is judged.

pub mod body;
pub mod limbs;
pub mod measure;
pub mod mesh;

use super::super::{
    Random,
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    scene::{Scene, list},
    shape::quantile,
};
use super::Task;
use body::{Body, STATURE};
use measure::Match;
use std::{collections::HashSet, ffi::OsString, fs, path::Path};

/// What `sinew refit` says where a result is worse than its clip.
pub const DAMAGE_WORDS: &[&str] = &[
    "should not be used",
    "further than in the clip",
    "in the ground",
    "elsewhere than the clip's",
    "planted feet slide",
    "as jerky as the clip",
];

/// Rows of a clip on another body.
const N_PAIRS: usize = 60;
/// Rate at which glTF clips are played.
const FPS: f64 = 30.0;

/// Every clip and every rig's clip on its own body, and a sample of clips on other bodies.
///
/// Not planned: copies of a file, clips that this player cannot play (Draco, meshopt, malformed: area `open`), clips of less
/// than two frames or four joints; on other bodies: clips of less than a quarter of a second or of something else than a
/// humanoid, and bodies without legs.
pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let items = distinct(items);
    let moves = |item: &Item| item.n_clips > 0 && matches!(item.kind, Kind::Rig | Kind::Clip) || is_bvh(item);
    let played: Vec<(&Item, Body)> = items
        .iter()
        .filter(|item| moves(item))
        .filter_map(|item| Some((*item, read_clip(item).ok()?.body)))
        .collect();
    let mut tasks: Vec<Task> = played.iter().map(|(item, _)| Task::of(item)).collect();
    let is_source = |body: &Body| {
        body.is_humanoid && body.n_frames() >= 5 && body.n_frames() as f64 * body.motion.step > 0.25
    };
    let mut sources: Vec<&Item> =
        played.iter().filter(|(_, body)| is_source(body)).map(|(item, _)| *item).collect();
    let (humans, others) = targets(&items);
    random.shuffle(&mut sources);
    let mut seen = HashSet::new();
    for k in 0..4 * N_PAIRS {
        let Some(source) = sources.get(k % sources.len().max(1)) else { break };
        // Three of four on humanoids: what most people want.
        let rigs = if random.below(4) > 0 && !humans.is_empty() { &humans } else { &others };
        let Some(rig) = rigs.get(random.below(rigs.len())) else { continue };
        if seen.len() < N_PAIRS && source.path != rig.path && seen.insert((&source.path, &rig.path)) {
            tasks.push(Task::pair(source, rig));
        }
    }
    tasks
}

/// Rigs with legs that can be played: humanoids, and all others.
pub fn targets<'a>(items: &[&'a Item]) -> (Vec<&'a Item>, Vec<&'a Item>) {
    let rigs = items.iter().filter(|item| item.kind == Kind::Rig && has_legs(&item.path));
    let (mut humans, mut others) = (Vec::new(), Vec::new());
    for rig in rigs {
        let Ok(scene) = Scene::read(&rig.path) else { continue };
        // A clip that is not there is the rest pose.
        let is_human = Body::of_scene(&scene, usize::MAX, FPS).is_humanoid;
        if is_human { humans.push(*rig) } else { others.push(*rig) }
    }
    (humans, others)
}

fn is_bvh(item: &Item) -> bool {
    item.kind == Kind::Clip && !item.is_gltf
}

/// Items without copies of the same bytes.
pub fn distinct(items: &[Item]) -> Vec<&Item> {
    let mut kept: Vec<&Item> = Vec::new();
    for item in items {
        let is_copy = |other: &&Item| {
            other.bytes == item.bytes
                && other.kind == item.kind
                && fs::read(&other.path).ok() == fs::read(&item.path).ok()
        };
        if !kept.iter().any(is_copy) {
            kept.push(item);
        }
    }
    kept
}

/// Whether joints of a rig are named after legs; a rig whose joints have no names may have some.
pub fn has_legs(path: &Path) -> bool {
    let bytes = fs::read(path).unwrap_or_default();
    let text = if bytes.starts_with(b"glTF") {
        let length = bytes.get(12..16).and_then(|b| b.try_into().ok()).map_or(0, u32::from_le_bytes) as usize;
        bytes.get(20..20 + length).unwrap_or_default()
    } else {
        &bytes
    };
    let json: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    let joints = list(&json, "skins").first().map_or(&[][..], |skin| list(skin, "joints"));
    let names: Vec<&str> = joints
        .iter()
        .filter_map(|joint| json["nodes"][usize::try_from(joint.as_u64()?).ok()?]["name"].as_str())
        .collect();
    if names.is_empty() { joints.len() >= 15 } else { names.iter().any(|name| limbs::is_of_leg(name)) }
}

/// A clip that the player of the judges can play, of at least two frames.
pub struct Clip {
    pub body: Body,
    /// Its name, if it is not the first of its file.
    pub name: Option<String>,
    pub scene: Option<Scene>,
    pub index: usize,
}

pub fn read_clip(item: &Item) -> anyhow::Result<Clip> {
    let clip = if is_bvh(item) {
        Clip { body: Body::of_bvh(&item.path)?, name: None, scene: None, index: 0 }
    } else {
        let scene = Scene::read(&item.path)?;
        let (index, name) = gait(&scene);
        Clip { body: Body::of_scene(&scene, index, FPS), name, index, scene: Some(scene) }
    };
    let (frames, joints) = (clip.body.n_frames(), clip.body.motion.n_joints());
    let are_finite = clip.body.motion.frames.iter().flatten().all(|m| m.is_finite());
    anyhow::ensure!(
        frames >= 2 && joints >= 4 && clip.body.reach > 1e-6 && are_finite,
        "there is nothing to play"
    );
    Ok(clip)
}

/// The clip of a file that goes somewhere: a walk, else a run, else the first; its name if it has one and needs it.
pub fn gait(scene: &Scene) -> (usize, Option<String>) {
    let clips = scene.clips();
    let named = |word: &str| {
        clips.iter().position(|(name, seconds)| *seconds > 0.2 && name.to_lowercase().contains(word))
    };
    let index = ["walk", "run", "gallop", "trot", "jump"].iter().find_map(|word| named(word)).unwrap_or(0);
    (index, (index > 0).then(|| clips[index].0.to_owned()))
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let source = read_clip(task.items[0])?;
    match task.items.get(1) {
        Some(rig) => judge_pair(task.items[0], &source, rig, lab),
        None => judge_identity(task.items[0], &source, lab),
    }
}

/// `sinew refit CLIP …`.
fn refit(
    item: &Item,
    clip: &Clip,
    more: &[&std::ffi::OsStr],
    out: &Path,
    lab: &Lab,
) -> anyhow::Result<Result<(), String>> {
    let mut words: Vec<OsString> = vec!["refit".into(), item.path.clone().into()];
    if let Some(name) = &clip.name {
        words.extend(["--clip".into(), name.into()]);
    }
    words.extend(more.iter().map(|word| (*word).to_owned()));
    words.extend(["-o".into(), out.into()]);
    let outcome = lab.sinew(&words)?;
    Ok(if outcome.is_done() { Ok(()) } else { Err(outcome.fault()) })
}

/// What was written, at the source's moments.
pub fn read_result(path: &Path, source: &Body) -> anyhow::Result<(Body, Option<Scene>)> {
    if path.extension().is_some_and(|e| e == "bvh") {
        return Ok((Body::of_bvh(path)?, None));
    }
    let scene = Scene::read(path)?;
    Ok((Body::of_scene(&scene, 0, 1.0 / source.motion.step), Some(scene)))
}

fn judge_identity(item: &Item, clip: &Clip, lab: &Lab) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::default();
    let source = &clip.body;
    let out = lab.file(if is_bvh(item) { "out.bvh" } else { "out.glb" });
    let own: &[&std::ffi::OsStr] = &["--skeleton".as_ref(), item.path.as_os_str()];
    if let Err(fault) = refit(item, clip, if is_bvh(item) { &[] } else { own }, &out, lab)? {
        show(&mut verdict, clip, None, &[source.n_frames() / 2], None);
        return Ok(verdict.not_done(fault));
    }
    let (mut target, scene) = match read_result(&out, source) {
        Ok(result) => result,
        Err(error) => return Ok(verdict.not_done(format!("what was written cannot be read: {error:#}"))),
    };
    // The same body has the same size, whichever of its joints a file lists.
    target.reach = source.reach;
    let matches = measure::same_names(source, &target);
    let worst = distances(&mut verdict, "identity", source, &target, &matches, 1.0);
    motion_measures(&mut verdict, source, &target, &matches);
    let moments = [source.n_frames() / 3, worst];
    show(&mut verdict, clip, scene.as_ref().map(|s| (s, &target)), &moments, None);
    if scene.is_none() {
        moments.iter().for_each(|&k| {
            mesh::draw_bones(
                &mut verdict.sheet,
                &format!("own body, frame {k}"),
                &target,
                k.min(target.n_frames() - 1),
            )
        });
        if let Err(fault) = refit(item, clip, &["--scale".as_ref(), "all=1.001".as_ref()], &out, lab)? {
            return Ok(verdict.not_done(format!("on the body larger by 0.1 %: {fault}")));
        }
        let (target, _) = read_result(&out, source)?;
        let matches = measure::same_names(source, &target);
        let worst = distances(&mut verdict, "scaled", source, &target, &matches, 1.001);
        mesh::draw_bones(&mut verdict.sheet, &format!("0.1 % larger, frame {worst}"), &target, worst);
    }
    Ok(verdict)
}

/// Mean and largest distance of joints from the source; the frame of the largest. A body of another size may stand beside it.
fn distances(
    verdict: &mut Verdict,
    name: &str,
    source: &Body,
    target: &Body,
    matches: &[Match],
    scale: f64,
) -> usize {
    let n = source.n_frames().min(target.n_frames());
    verdict.set("frames_off", source.n_frames().abs_diff(target.n_frames()) as f64);
    if source.motion.names.iter().all(String::is_empty) && matches.is_empty() {
        verdict.note("joints without names cannot be matched");
        return 0;
    }
    if matches.len() < source.motion.n_joints() {
        verdict.note(format!("{} of {} joints are in the result", matches.len(), source.motion.n_joints()));
    }
    verdict.set("joints_kept", matches.len() as f64 / source.motion.n_joints() as f64);
    let mean_of =
        |body: &Body, s: f64| (0..n).map(|k| body.flat(body.centre(k)) * s).sum::<glam::DVec3>() / n as f64;
    let beside = if scale == 1.0 { glam::DVec3::ZERO } else { mean_of(target, 1.0) - mean_of(source, scale) };
    let (mut all, mut worst) = (Vec::new(), (0.0, 0));
    for k in 0..n {
        for m in matches {
            let expected = source.motion.position(k, m.source) * scale + beside;
            let off = target.motion.position(k, m.target).distance(expected) / source.reach * STATURE;
            all.push(off);
            if off.is_nan() || off > worst.0 {
                worst = (off, k);
            }
        }
    }
    verdict.set(&format!("{name}_mean_cm"), all.iter().sum::<f64>() / all.len().max(1) as f64);
    verdict.set(&format!("{name}_max_cm"), worst.0);
    worst.1
}

fn judge_pair(item: &Item, clip: &Clip, rig: &Item, lab: &Lab) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::default();
    let source = &clip.body;
    let moments = [source.n_frames() / 4, source.n_frames() * 3 / 5];
    let out = lab.file("out.glb");
    if let Err(fault) = refit(item, clip, &["--skeleton".as_ref(), rig.path.as_os_str()], &out, lab)? {
        show(&mut verdict, clip, None, &moments, None);
        return Ok(verdict.not_done(fault));
    }
    let (target, scene) = match read_result(&out, source) {
        Ok((target, Some(scene))) => (target, scene),
        Ok(_) => anyhow::bail!("no scene"),
        Err(error) => return Ok(verdict.not_done(format!("what was written cannot be read: {error:#}"))),
    };
    verdict.set("frames_off", source.n_frames().abs_diff(target.n_frames()) as f64);
    let matches = measure::limbs_of_both(source, &target);
    motion_measures(&mut verdict, source, &target, &matches);
    let contacts = source.contacts();
    let worst = if matches.is_empty() {
        verdict.note("limbs of the target are not known by name: directions and planted feet are not judged");
        verdict.set("moves", measure::stir(&target) / measure::stir(source).max(1e-9));
        None
    } else {
        if let Some(planted) = measure::planted(source, &target, &contacts) {
            verdict.set("slide_cm_s", planted.slide);
            verdict.set("drift_cm", planted.drift);
        }
        limb_measures(&mut verdict, source, &target)
    };
    let ground = mesh::ground(&scene, 0, source, &target, &contacts);
    match &ground {
        Some(ground) => {
            verdict.set("depth_cm", ground.depth);
            verdict.set("float_cm", ground.float);
            verdict.set("off_ground_cm", ground.off);
        }
        None => verdict.note("the source never stands: the ground is not judged"),
    }
    let moments = [moments[0], moments[1], worst.unwrap_or(source.n_frames() * 9 / 10)];
    show(&mut verdict, clip, Some((&scene, &target)), &moments, ground.map(|g| g.level));
    Ok(verdict)
}

/// Jumps, jerk and travel.
fn motion_measures(verdict: &mut Verdict, source: &Body, target: &Body, matches: &[Match]) {
    let (jump, at, joint) = measure::jump(source, target, matches);
    verdict.set("jump_cm", jump);
    if jump > 1.0 {
        let joint = target.motion.names.get(joint).map_or("", String::as_str);
        verdict.note(format!("the largest jump is of {joint} at frame {at}"));
    }
    if let Some(ratio) = measure::jerk_ratio(source, target, matches) {
        verdict.set("jerk_ratio", ratio);
    }
    let (ours, theirs) = (source.travel() / source.reach, target.travel() / target.reach);
    if ours > 0.5 {
        verdict.set("travel_ratio", theirs / ours);
    }
}

/// Directions, turns and amplitude of two humanoids; the frame in which directions are furthest off.
fn limb_measures(verdict: &mut Verdict, source: &Body, target: &Body) -> Option<usize> {
    let angles = measure::directions(source, target);
    let all: Vec<f64> = angles.iter().flat_map(|(_, angles)| angles.iter().copied()).collect();
    if !all.is_empty() {
        verdict.set("direction_mean_deg", all.iter().sum::<f64>() / all.len() as f64);
        verdict.set("direction_p95_deg", quantile(&all, 0.95));
        let trunk: Vec<f64> = angles.iter().filter_map(|(_, angles)| angles.last().copied()).collect();
        verdict.set("trunk_deg", trunk.iter().sum::<f64>() / trunk.len().max(1) as f64);
    }
    let more = [
        ("feet_deg", measure::feet_off(source, target)),
        ("turn_deg", measure::turn_off(source, target)),
        ("course_deg", measure::course_off(source, target)),
        ("amplitude", measure::amplitude(source, target)),
        ("stretch", measure::limb_stretch(target)),
    ];
    for (name, value) in more {
        if let Some(value) = value {
            verdict.set(name, value);
        }
    }
    let total = |angles: &[f64]| angles.iter().sum::<f64>();
    angles.iter().max_by(|a, b| total(&a.1).total_cmp(&total(&b.1))).map(|(k, _)| *k)
}

/// Draw the source and, beside it, the result at the same moments, both seen from where they face.
fn show(
    verdict: &mut Verdict,
    clip: &Clip,
    result: Option<(&Scene, &Body)>,
    moments: &[usize],
    ground: Option<f64>,
) {
    for &k in moments {
        let title = format!("source, frame {k}");
        match &clip.scene {
            Some(scene) if scene.n_vertices() > 0 => {
                mesh::draw_surface(&mut verdict.sheet, &title, scene, clip.index, &clip.body, k, None);
            }
            _ => mesh::draw_bones(&mut verdict.sheet, &title, &clip.body, k),
        }
        if let Some((scene, target)) = result {
            let k = k.min(target.n_frames() - 1);
            mesh::draw_surface(
                &mut verdict.sheet,
                &format!("result, frame {k}"),
                scene,
                0,
                target,
                k,
                ground,
            );
        }
    }
}
