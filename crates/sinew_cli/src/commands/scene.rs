//! Obstacles and handles of `sinew flesh`.

use super::{
    input::{read_surface, with_path},
    pose::{choose_handles, read_bytes},
};
use crate::console::Console;
use anyhow::{Context, ensure};
use clap::Args;
use glam::{DQuat, DVec3};
use sinew::session::FleshSettings;
use sinew::{
    deform::{HandleMotion, HandlePose, HandleSet, Twist},
    flesh::{
        BakeParams, Baker, Body, Collider, FleshError, HandleBaker, Obstacle, Simulation, StepReport, Terrain,
    },
    formats::moves::read_recorded_moves,
    geom::{Character, Warnings},
    session::FleshRunner,
};
use std::path::PathBuf;
use std::{path::Path, sync::Arc};

/// Solid things.
#[derive(Args)]
pub struct ObstacleArgs {
    /// Height of a floor
    #[arg(long, value_name = "HEIGHT", allow_hyphen_values = true)]
    pub floor: Option<f64>,
    /// Wall: a point of it and its outward normal
    #[arg(long, value_name = "X,Y,Z,NX,NY,NZ", allow_hyphen_values = true)]
    pub wall: Vec<String>,
    /// Box obstacle: two opposite corners
    #[arg(long = "box", value_name = "X,Y,Z,X,Y,Z", allow_hyphen_values = true)]
    pub boxes: Vec<String>,
    /// Room that encloses the flesh: two opposite corners
    #[arg(long, value_name = "X,Y,Z,X,Y,Z", allow_hyphen_values = true)]
    pub room: Option<String>,
    /// Ball obstacle: centre and radius
    #[arg(long, value_name = "X,Y,Z,R", allow_hyphen_values = true)]
    pub ball: Vec<String>,
    /// Capsule obstacle: two ends and a radius
    #[arg(long, value_name = "X,Y,Z,X,Y,Z,R", allow_hyphen_values = true)]
    pub rod: Vec<String>,
    /// Terrain: a mesh used as a height field
    #[arg(long, value_name = "FILE")]
    pub terrain: Option<PathBuf>,
    /// Pin a vertex (numbered from 0) to a position
    #[arg(long, value_name = "VERTEX=X,Y,Z", conflicts_with_all = ["muscles", "moves"])]
    pub pin: Vec<String>,
    /// Friction coefficient of all obstacles
    #[arg(long, value_name = "MU", default_value_t = FleshSettings::default().friction, allow_hyphen_values = true)]
    pub friction: f64,
}

impl ObstacleArgs {
    /// Whether there is anything that a body could meet or hang on.
    pub fn is_given(&self) -> bool {
        let lists = [&self.wall, &self.boxes, &self.ball, &self.rod, &self.pin];
        let any = lists.iter().any(|list| !list.is_empty());
        any || self.floor.is_some() || self.room.is_some() || self.terrain.is_some()
    }
}

/// Handles instead of bones.
#[derive(Args)]
pub struct HandleArgs {
    /// Follow handles instead of bones: their moves (moves.json)
    #[arg(long, value_name = "FILE", conflicts_with_all = ["clip", "stiffen", "smooth", "muscles", "belts"])]
    pub moves: Option<PathBuf>,
    /// Handles (handles.json) [default: those of the model, else found as by `sinew handles auto`]
    #[arg(long, value_name = "FILE", requires = "moves")]
    pub handles: Option<PathBuf>,
    /// Duration of the moves in seconds
    #[arg(long, value_name = "S", default_value_t = 1.0, requires = "moves", allow_hyphen_values = true)]
    pub moves_seconds: f64,
}

/// Numbers separated by commas, as many as an option takes.
fn numbers<const N: usize>(option: &str, text: &str) -> anyhow::Result<[f64; N]> {
    let list: Vec<f64> = text.split(',').filter_map(|word| word.trim().parse().ok()).collect();
    let found: Option<[f64; N]> = list.try_into().ok();
    let sound = found.filter(|list| text.split(',').count() == N && list.iter().all(|x| x.is_finite()));
    sound.with_context(|| format!("--{option} {text:?}: give {N} numbers separated by commas"))
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

/// All obstacles but the floor.
pub fn obstacles(args: &ObstacleArgs, console: &Console) -> anyhow::Result<Vec<Obstacle>> {
    let friction = args.friction;
    let mut shapes: Vec<Collider> = Vec::new();
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
}

impl FleshRunner for Follower<'_> {
    fn advance(&mut self, secs: f64, each: &mut dyn FnMut(&StepReport)) -> Result<(), FleshError> {
        match self {
            Self::Bones(baker) => baker.advance(secs, each),
            Self::Handles(baker, motion) => {
                baker.advance(secs, |handle, rest, time| motion.place(handle, rest, time), each)
            }
        }
    }

    fn simulation(&self) -> &Simulation {
        match self {
            Self::Bones(baker) => baker.simulation(),
            Self::Handles(baker, _) => baker.simulation(),
        }
    }
}
