//! Obstacles and handles of `sinew flesh`.

use super::{
    input::{read_surface, with_path},
    pose::{choose_handles, read_bytes},
};
use crate::{
    args::{HandleArgs, ObstacleArgs},
    console::Console,
};
use anyhow::{Context, ensure};
use glam::{DQuat, DVec3};
use sinew::{
    deform::{HandleMotion, HandlePose, HandleSet, Twist},
    flesh::{
        BakeParams, Baker, Body, Collider, FleshError, HandleBaker, Obstacle, Simulation, StepReport, Terrain,
    },
    formats::moves::read_recorded_moves,
    geom::{Character, Warnings},
};
use std::{path::Path, sync::Arc};

/// Numbers between commas, as many as an option wants.
fn numbers<const N: usize>(option: &str, text: &str) -> anyhow::Result<[f64; N]> {
    let list: Vec<f64> = text.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    let found: Option<[f64; N]> = list.try_into().ok();
    let sound = found.filter(|list| text.split(',').count() == N && list.iter().all(|x| x.is_finite()));
    sound.with_context(|| format!("--{option} {text:?}: give {N} numbers with commas between them"))
}

fn corners(option: &str, text: &str) -> anyhow::Result<[DVec3; 2]> {
    let n: [f64; 6] = numbers(option, text)?;
    let (a, b) = (DVec3::from_slice(&n[..3]), DVec3::from_slice(&n[3..]));
    let (low, high) = (a.min(b), a.max(b));
    ensure!(
        (high - low).min_element() > 0.0,
        "--{option} {text:?}: the corners must differ along every axis"
    );
    Ok([low, high])
}

fn radius(option: &str, text: &str, radius: f64) -> anyhow::Result<f64> {
    ensure!(radius > 0.0, "--{option} {text:?}: the radius must be positive");
    Ok(radius)
}

/// Everything that is in the way.
pub fn obstacles(args: &ObstacleArgs, console: &Console) -> anyhow::Result<Vec<Obstacle>> {
    let friction = args.friction;
    ensure!(friction >= 0.0 && friction.is_finite(), "--friction {friction} must not be negative");
    ensure!(args.floor.is_none_or(f64::is_finite), "--floor must be finite");
    let mut shapes: Vec<Collider> = args.floor.map(Collider::floor).into_iter().collect();
    for text in &args.wall {
        let n: [f64; 6] = numbers("wall", text)?;
        let normal = DVec3::from_slice(&n[3..]).try_normalize();
        let normal = normal
            .with_context(|| format!("--wall {text:?}: the last three numbers are a direction, not 0,0,0"))?;
        shapes.push(Collider::Plane { point: DVec3::from_slice(&n[..3]), normal });
    }
    for text in &args.boxes {
        let [low, high] = corners("box", text)?;
        let (center, half) = ((low + high) / 2.0, (high - low) / 2.0);
        shapes.push(Collider::Cuboid { center, half, rotation: DQuat::IDENTITY });
    }
    if let Some(text) = &args.room {
        let [low, high] = corners("room", text)?;
        shapes.extend(Collider::room(low, high));
    }
    for text in &args.ball {
        let n: [f64; 4] = numbers("ball", text)?;
        shapes.push(Collider::Sphere {
            center: DVec3::from_slice(&n[..3]),
            radius: radius("ball", text, n[3])?,
        });
    }
    for text in &args.rod {
        let n: [f64; 7] = numbers("rod", text)?;
        let ends = [DVec3::from_slice(&n[..3]), DVec3::from_slice(&n[3..6])];
        shapes.push(Collider::Capsule { ends, radius: radius("rod", text, n[6])? });
    }
    if let Some(path) = &args.terrain {
        let (ground, _) = read_surface(path, console, &mut Warnings::default())?;
        let terrain = Terrain::from_mesh(&ground.mesh).map_err(|error| with_path(error, path))?;
        shapes.push(Collider::Terrain(Arc::new(terrain)));
    }
    Ok(shapes.into_iter().map(|shape| Obstacle { shape, friction }).collect())
}

/// `12=0,1,0`: vertices that are held exactly.
pub fn pins(args: &ObstacleArgs) -> anyhow::Result<Vec<(u32, DVec3)>> {
    let one = |text: &String| {
        let wanted = || format!("--pin {text:?}: give a vertex and a place, such as 12=0,1.5,0");
        let (vertex, place) = text.split_once('=').with_context(wanted)?;
        let vertex = vertex.trim().parse().with_context(wanted)?;
        Ok((vertex, DVec3::from_array(numbers("pin", place)?)))
    };
    args.pin.iter().map(one).collect()
}

/// A body that follows bones or handles.
pub enum Follower<'a> {
    Bones(Box<Baker<'a>>),
    Handles(Box<HandleBaker>, Motion),
}

/// Where handles go, and when they are there.
pub struct Motion {
    pose: HandlePose,
    centers: Vec<DVec3>,
    secs: f64,
}

impl Motion {
    /// Where a handle has a point at a time: gently off and gently there.
    fn place(&self, handle: usize, rest: DVec3, time: f64) -> DVec3 {
        let t = (time / self.secs).clamp(0.0, 1.0);
        let share = t * t * (3.0 - 2.0 * t);
        let (motion, center) = (&self.pose.motions()[handle], self.centers[handle]);
        let rotation = DQuat::from_scaled_axis(motion.turn * share);
        let there = center.lerp(motion.position(center), share);
        let twist = |twist: &Twist| Twist { radians: twist.radians * share, ..*twist };
        let now = HandleMotion {
            rotation,
            translation: there - rotation * center,
            turn: motion.turn * share,
            twists: motion.twists.iter().map(twist).collect(),
        };
        now.position(rest)
    }
}

impl Follower<'_> {
    /// Flesh that hangs on handles.
    pub fn of_handles(
        args: &HandleArgs,
        moves: &Path,
        (character, model): (&Character, &Path),
        params: &BakeParams,
        console: &Console,
        warnings: &mut Warnings,
    ) -> anyhow::Result<Self> {
        let secs = args.moves_seconds;
        ensure!(secs > 0.0 && secs.is_finite(), "--moves-seconds {secs} must be positive");
        let recorded = read_recorded_moves(&read_bytes(moves)?, &moves.to_string_lossy())?;
        let (handles, _) = choose_handles(character, args.handles.as_deref(), model, console, warnings)?;
        let mesh = &character.mesh;
        let shown = args.handles.as_deref().unwrap_or(model);
        let set = HandleSet::new(mesh, &handles, warnings).map_err(|error| with_path(error, shown))?;
        let moves_list = recorded.for_diagonal(mesh.diagonal());
        let pose =
            HandlePose::from_moves(mesh, &set, &moves_list).map_err(|error| with_path(error, moves))?;
        let groups: Vec<Vec<u32>> = set.handles().iter().map(|handle| handle.vertices.clone()).collect();
        let baker =
            HandleBaker::new(mesh, &groups, params, warnings).map_err(|error| with_path(error, model))?;
        let centers = set.handles().iter().map(|handle| handle.center).collect();
        Ok(Self::Handles(Box::new(baker), Motion { pose, centers, secs }))
    }

    pub fn simulation(&self) -> &Simulation {
        match self {
            Self::Bones(baker) => baker.simulation(),
            Self::Handles(baker, _) => baker.simulation(),
        }
    }

    pub fn body(&self) -> &Body {
        self.simulation().body()
    }

    pub fn n_held(&self) -> usize {
        self.simulation().n_held()
    }

    /// Times that cells were halved or joined.
    pub fn n_changes(&self) -> usize {
        match self {
            Self::Bones(baker) => baker.n_changes(),
            Self::Handles(..) => 0,
        }
    }

    pub fn n_jumps(&self) -> usize {
        self.simulation().n_jumps()
    }

    pub fn positions(&self, out: &mut Vec<glam::Vec3>) -> Result<(), FleshError> {
        self.simulation().positions(out)
    }

    pub fn advance(&mut self, time: f64, each: impl FnMut(&StepReport)) -> Result<(), FleshError> {
        match self {
            Self::Bones(baker) => baker.advance(time, each),
            Self::Handles(baker, motion) => {
                baker.advance(time, |handle, rest, time| motion.place(handle, rest, time), each)
            }
        }
    }
}
