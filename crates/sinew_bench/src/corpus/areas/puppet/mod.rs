//! Puppetry: a character follows a recorded actor at once, gets as far as its legs carry it, keeps the actor's time, and neither
//! tears nor shakes.
//!
//! First as anybody begins, without pairs of poses (`without_pairs`). Where the product wants pairs and the rig has clips, the
//! judge makes four as a user would (standing at rest; the actor's strides at the strides of the rig's gait) and measures that:
//! * `travel_ratio`, `stand_travel`: the way of the character in its heights, against the actor's in the actor's.
//! * `limb_stretch`, `limb_stretch_max`, `edge_stretch`: distances of joints and edges against rest, beyond what the rig's own
//!   clips change them.
//! * `shake`: acceleration per amplitude, against the actor's; `restless`: what moves while the actor stands still.
//! * `time_off_frames`, `tempo`: length and pace against the actor's own clock; `held_share`: frames thrown away.
//! * `exaggeration`: amplitude beyond the actor's, or its own gait's if that is more.
//! * twin: `amplitude`, since a character at rest neither tears nor shakes.

mod actor;
mod bones;
mod measure;
mod pairs;

use super::super::{
    Random,
    find::{Item, Kind},
    lab::{Lab, Outcome},
    row::Verdict,
    scene::Scene,
};
use super::Task;
use super::refit::{body::Body, distinct, measure as against, mesh, targets};
use actor::Actor;
use bones::Bones;
use measure::Seen;
use std::{collections::HashSet, ffi::OsString};

pub const DAMAGE_WORDS: &[&str] =
    &["not tracked", "should not be used", "the take", "travels", "stretches", "slide"];

/// Rows.
const N_ROWS: usize = 30;

/// A sample of actors on rigs, a third of them recordings, half of the rigs humanoids.
///
/// Not planned: clips of something else than a person, of less than a second, or that this player cannot play; recordings in
/// the plane, too short, or in which nobody is tracked; rigs without legs; and rigs that are no humanoids and have no clip to
/// make pairs with.
pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let items = distinct(items);
    let is_motion = |item: &Item| item.kind == Kind::Clip || (item.kind == Kind::Rig && item.n_clips > 0);
    // Landmarks are lists of numbers, which nothing but reading tells from other JSON.
    let is_recording =
        |item: &Item| matches!(item.kind, Kind::Recording | Kind::Other) && item.bytes < 8 << 20;
    let long = |actor: &Actor| actor.body.is_humanoid && actor.times.last().is_some_and(|t| *t >= 1.0);
    let usable = |item: &&Item| actor::read(item).is_ok_and(|actor| long(&actor));
    let mut clips: Vec<&Item> = items.iter().copied().filter(|item| is_motion(item)).filter(usable).collect();
    let mut recordings: Vec<&Item> = items
        .iter()
        .copied()
        .filter(|item| is_recording(item))
        .filter(|item| actor::read(item).is_ok())
        .collect();
    let (humans, mut others) = targets(&items);
    others.retain(|rig| rig.n_clips > 0);
    random.shuffle(&mut clips);
    random.shuffle(&mut recordings);
    let mut seen = HashSet::new();
    let mut tasks = Vec::new();
    for k in 0..4 * N_ROWS {
        let motions =
            if (k % 3 == 2 && !recordings.is_empty()) || clips.is_empty() { &recordings } else { &clips };
        let rigs = if random.below(2) == 0 && !humans.is_empty() { &humans } else { &others };
        let Some(motion) =
            motions.get(k / 3 % motions.len().max(1) + if k % 3 == 1 { motions.len() / 2 } else { 0 })
        else {
            continue;
        };
        let Some(rig) = rigs.get(random.below(rigs.len())) else { continue };
        if tasks.len() < N_ROWS && motion.path != rig.path && seen.insert((&motion.path, &rig.path)) {
            tasks.push(Task::pair(motion, rig));
        }
    }
    tasks
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let (motion, rig) = (task.items[0], task.items[1]);
    let actor = actor::read(motion)?;
    let mut verdict = Verdict::default();
    let out = lab.file("take.glb");
    let source: OsString = motion.path.clone().into();
    let words: Vec<OsString> = vec![
        "puppet".into(),
        rig.path.clone().into(),
        "--source".into(),
        source,
        "-o".into(),
        out.clone().into(),
    ];
    let mut outcome = lab.sinew(&words)?;
    verdict.set("without_pairs", f64::from(u8::from(outcome.is_done())));
    let own = Scene::read(&rig.path)?;
    if !outcome.is_done() {
        verdict.note(format!("without pairs: {}", outcome.fault()));
        if own.clips().is_empty() {
            show(&mut verdict, &actor.body, None);
            return Ok(verdict.not_done("it needs pairs, and the rig has no clip to make them with"));
        }
        let file = lab.file("pairs.json");
        if let Err(fault) = pairs::make(motion, &actor, rig, &own, &file, lab)? {
            show(&mut verdict, &actor.body, None);
            return Ok(verdict.not_done(format!("a pair: {fault}")));
        }
        let with: Vec<OsString> = [words, vec!["--pairs".into(), file.into()]].concat();
        outcome = lab.sinew(&with)?;
        if !outcome.is_done() {
            show(&mut verdict, &actor.body, None);
            return Ok(verdict.not_done(format!("with pairs: {}", outcome.fault())));
        }
    }
    let scene = match Scene::read(&out) {
        Ok(scene) if !scene.clips().is_empty() => scene,
        Ok(_) => return Ok(verdict.not_done("there is no clip in what was written")),
        Err(error) => return Ok(verdict.not_done(format!("what was written cannot be read: {error:#}"))),
    };
    let clip = take_of(&scene, &own);
    let take = Body::of_scene(&scene, clip, 1.0 / actor.body.motion.step);
    measures(&mut verdict, &actor, &own, &scene, clip, &take, &outcome);
    show(&mut verdict, &actor.body, Some((&scene, clip, &take)));
    Ok(verdict)
}

/// The clip that the rig did not have before.
fn take_of(scene: &Scene, own: &Scene) -> usize {
    let before: Vec<&str> = own.clips().iter().map(|(name, _)| *name).collect();
    let clips = scene.clips();
    clips.iter().position(|(name, _)| !before.contains(name)).unwrap_or(clips.len() - 1)
}

fn measures(
    verdict: &mut Verdict,
    actor: &Actor,
    own: &Scene,
    scene: &Scene,
    clip: usize,
    take: &Body,
    outcome: &Outcome,
) {
    let body = &actor.body;
    travel(verdict, body, take);
    if let Some(bones) = Bones::of(own) {
        let torn = bones.torn(scene, clip, take);
        verdict.set("limb_stretch", torn.usual);
        verdict.set("limb_stretch_max", torn.most);
        if torn.usual > 0.01 {
            verdict.note(format!("{} changes most", torn.between));
        }
        if let Some(edges) = torn.edges {
            verdict.set("edge_stretch", edges);
        }
    }
    let carriers = bones::carriers(own);
    let seen = measure::both(body, take, &carriers);
    if let Some(shake) = measure::shake(&seen) {
        verdict.set("shake", shake);
        if let Some((joint, frame)) = measure::shakiest(&seen).filter(|_| shake > 1.3) {
            verdict.note(format!("{joint} accelerates most, in frame {frame}"));
        }
    }
    if let Some(restless) = measure::restless(body, take) {
        verdict.set("restless", restless);
    }
    let (least, most) = expected_amplitude(&seen, own, &carriers);
    verdict.set("amplitude", seen[1].amplitude() / least.max(1e-6));
    verdict.set("exaggeration", seen[1].amplitude() / most.max(0.02));
    if actor.has_clock {
        let expected = actor.times.last().copied().unwrap_or(0.0);
        let written = scene.clips()[clip].1;
        verdict.set("time_off_frames", (written - expected).abs() / body.motion.step.max(1.0 / 30.0));
        if let Some(tempo) = measure::tempo(body, take) {
            verdict.set("tempo", tempo);
        }
    }
    let json = outcome.json();
    if let (Some(held), Some(frames)) = (json["held_frames"].as_f64(), json["frames"].as_f64()) {
        let name = if actor.is_clean { "held_share" } else { "held_share_recording" };
        verdict.set(name, held / frames.max(1.0));
    }
    humanoid(verdict, actor, take);
}

/// The way of the character, in its own heights.
fn travel(verdict: &mut Verdict, body: &Body, take: &Body) {
    let (of_actor, of_take) = (body.travel() / body.height, take.travel() / take.height);
    verdict.set("actor_travel", of_actor);
    if of_actor > 1.0 {
        verdict.set("travel_ratio", of_take / of_actor);
    } else if of_actor < 0.1 {
        verdict.set("stand_travel", of_take);
    }
}

/// How much a humanoid is to move: as its actor; anything else between its actor and its own gait.
fn expected_amplitude([actor, take]: &[Seen; 2], own: &Scene, carriers: &HashSet<&str>) -> (f64, f64) {
    let of_actor = actor.amplitude();
    if take.body.is_humanoid || own.clips().is_empty() {
        return (of_actor, of_actor);
    }
    let (gait, _) = super::refit::gait(own);
    let of_gait = Seen::carrying(&Body::of_scene(own, gait, 30.0), carriers).amplitude();
    (of_actor.min(of_gait), of_actor.max(of_gait))
}

/// On another person, feet stand and, if it followed without pairs, limbs point where the actor's do.
fn humanoid(verdict: &mut Verdict, actor: &Actor, take: &Body) {
    if !(actor.is_clean && take.is_humanoid) {
        return;
    }
    if let Some(planted) = against::planted(&actor.body, take, &actor.body.contacts()) {
        verdict.set("slide_cm_s", planted.slide);
    }
    let angles = against::directions(&actor.body, take);
    let all: Vec<f64> = angles.into_iter().flat_map(|(_, angles)| angles).collect();
    if verdict.measures.get("without_pairs") == Some(&1.0) && !all.is_empty() {
        verdict.set("direction_mean_deg", all.iter().sum::<f64>() / all.len() as f64);
    }
}

/// Draw the actor and, beside it, the character at four moments.
fn show(verdict: &mut Verdict, actor: &Body, take: Option<(&Scene, usize, &Body)>) {
    for share in [0.15, 0.4, 0.65, 0.9] {
        let k = (actor.n_frames() as f64 * share) as usize;
        mesh::draw_bones(&mut verdict.sheet, &format!("actor, frame {k}"), actor, k);
        if let Some((scene, clip, take)) = take {
            let k = k.min(take.n_frames() - 1);
            mesh::draw_surface(&mut verdict.sheet, &format!("take, frame {k}"), scene, clip, take, k, None);
        }
    }
}
