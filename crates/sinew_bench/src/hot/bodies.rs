//! Hot paths of skeletons and bodies: rules, refitted walks, puppetry, flesh.

use super::Work;
use anyhow::{Context, ensure};
use glam::DVec3;
use sinew::{
    constrain::{
        Skeleton,
        clip::{Body, Motion, RefitParams, refit, scale_limbs},
        compile::{CompileParams, Problem, Scene},
        language::parse,
        solve::{SolveParams, Solver, Stop},
    },
    flesh::{Attachment, FleshParams, FleshSolver, FleshState, Lattice, Material, StepInput},
    formats::skeleton::read_skeleton,
    geom::{
        Character, Clip, Rig, Warnings,
        sample::{Sample, build_character},
    },
    puppet::{Anatomy, BodyPose, Performer, PerformerParams, RigBody, RigPair},
};
use std::{hint::black_box, ops::ControlFlow};

const RULES: &str = include_str!("../../../sinew/tests/files/walk.rules");
const SKELETON: &[u8] = include_bytes!("../../../sinew/tests/files/skeleton.json");

/// The six test cases of Abdelhay (2008): within their ranges, then the nearest pose with its report.
pub fn rules_solve() -> anyhow::Result<Work> {
    let file = read_skeleton(SKELETON, None, "skeleton.json")?;
    let skeleton = Skeleton::from_rig(&file.rig)?;
    let scene = Scene { markers: file.markers.clone(), ..Scene::default() };
    let (script, _) = parse(RULES);
    let mut solver = Solver::new(Problem::new(&script, &skeleton, &scene, &CompileParams::default()).0);
    let (_, far) = file.poses.iter().find(|(name, _)| name == "far").context("a pose is missing")?;
    let start = skeleton.values_at(far)?;
    let (params, mut values) = (SolveParams::default(), start.clone());
    Ok(Box::new(move || {
        let (stop, _) = solver.solve_feasible(&start, &params, &mut values)?;
        ensure!(stop == Stop::Converged, "the rules do not converge");
        black_box(solver.solve(&start, &params)?);
        Ok(())
    }))
}

fn rig_of(character: &Character) -> anyhow::Result<Rig> {
    character.rig.clone().context("the sample has a rig")
}

fn clip<'a>(character: &'a Character, name: &str) -> anyhow::Result<&'a Clip> {
    character.clips.iter().find(|clip| clip.name == name).with_context(|| format!("no clip {name:?}"))
}

/// The biped's walk on shorter legs up a slope.
pub fn refit_walk() -> anyhow::Result<Work> {
    let biped = build_character(Sample::Biped, 1_000)?;
    let rig = rig_of(&biped)?;
    let motion = Motion::from_clip(&rig, clip(&biped, "walk")?, 30.0)?;
    let target = scale_limbs(&rig, &Body::find(&rig, &[])?, &[("legs".to_owned(), 0.75)])?;
    let params = RefitParams { ground: Some("slope:10".parse()?), ..RefitParams::default() };
    Ok(Box::new(move || {
        let mut go_on = |_| ControlFlow::Continue(());
        black_box(refit((&rig, &motion), &target, &params, &mut Warnings::default(), &mut go_on)?);
        Ok(())
    }))
}

/// Bodies of a clip of the biped, which stands in for the actor.
fn bodies(biped: &Character, name: &str, n: usize) -> anyhow::Result<Vec<BodyPose>> {
    let (rig, clip) = (rig_of(biped)?, clip(biped, name)?);
    let (body, mut world) = (RigBody::find(&rig)?, Vec::new());
    let mut at = |k: usize| {
        let pose = clip.sample(&rig, clip.duration_secs() * k as f32 / n as f32);
        Ok(body.pose(&rig, &pose, &mut world)?)
    };
    (0..n).map(&mut at).collect()
}

/// 24 pairs of the greeting biped and the walking quadruped; the biped then walks, 100 frames per repetition.
pub fn puppet_step() -> anyhow::Result<Work> {
    const PAIRS: usize = 24;
    let (biped, dog) = (build_character(Sample::Biped, 1_000)?, build_character(Sample::Quadruped, 1_000)?);
    let (rig, walk) = (rig_of(&dog)?, clip(&dog, "walk")?);
    let pair = |(k, body): (usize, BodyPose)| RigPair {
        body,
        pose: walk.sample(&rig, walk.duration_secs() * k as f32 / PAIRS as f32),
    };
    let pairs: Vec<RigPair> = bodies(&biped, "greet", PAIRS)?.into_iter().enumerate().map(pair).collect();
    let mut performer = Performer::new(&rig, &Anatomy::read(&rig, &[]), &pairs, &PerformerParams::default())?;
    let actor = bodies(&biped, "walk", 100)?;
    let mut frame = 0;
    Ok(Box::new(move || {
        for body in &actor {
            frame += 1;
            black_box(performer.step(&rig, f64::from(frame) / 30.0, body)?);
        }
        Ok(())
    }))
}

/// A bar of 2,592 cells held at one end, swinging; steps of 10 ms.
pub fn flesh_step() -> anyhow::Result<Work> {
    let lattice = Lattice::block([9, 9, 32], 1.7 / 32.0, DVec3::ZERO)?;
    let held = (0..lattice.n_nodes() as u32).filter(|&k| lattice.nodes()[k as usize].z < 1e-9).collect();
    let attachment = Attachment { held, ..Attachment::default() };
    let material = Material { young: 3e4, ..Material::default() };
    let mut solver = FleshSolver::new(&lattice, &[material], &attachment, &FleshParams::default())?;
    let mut state = FleshState::at_rest(&lattice);
    let drive = StepInput::at_rest(&lattice, &attachment);
    Ok(Box::new(move || {
        black_box(solver.step(&mut state, &drive, 0.01)?);
        Ok(())
    }))
}
