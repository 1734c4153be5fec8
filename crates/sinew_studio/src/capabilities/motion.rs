//! Clips; paths, walks and keyframes that motions follow.

use super::{Capability, handles::middle};
use crate::{
    painter,
    studio::Studio,
    wire::{Context, JobKind, Part, Point2, Point3, Registry, Request, Snapshot, ViewMatrix},
};
use glam::DVec2;
use serde::{Deserialize, Serialize};
use sinew::{
    formats::paths::PathsData,
    geom::{
        Clip,
        path::{Ground, Path, plan_walk},
    },
    session::{
        ClipFit, ClipSource, Command, DEFAULT_FPS, Document, Event, Follow, MotionReport, SearchChange,
        SessionError, bake as bake_motion,
    },
};
use std::sync::Arc;
use ts_rs::TS;

/// Points of a path that is drawn.
const CURVE: usize = 96;
/// Cells of the ground that is drawn, in each direction.
const CELLS: usize = 40;

/// Clips and paths.
#[derive(Debug, Default)]
pub struct MotionCapability;

impl Capability for MotionCapability {
    fn register(&self, registry: &mut Registry) {
        registry.request::<PickGround>().part::<ClipsPart>().part::<MotionPart>();
    }
}

/// Where the ground is under a point of the screen; null if the ray misses it.
#[derive(Debug, Deserialize, TS)]
struct PickGround {
    view: ViewMatrix,
    at: Point2,
}

/// A place on the ground.
#[derive(Debug, Serialize, TS)]
struct PickedGround {
    position: Point3,
}

impl Request for PickGround {
    const NAME: &'static str = "pick_ground";
    type Reply = Option<PickedGround>;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Option<PickedGround>> {
        let document = context.studio.document();
        let view = painter::view(&self.view);
        let Some(ray) = view.ray(document.mesh(), DVec2::from_array(self.at)) else { return Ok(None) };
        let hit = ground(&document)?.first_hit(ray.origin, ray.direction);
        Ok(hit.map(|hit| PickedGround { position: hit.to_array() }))
    }
}

fn ground(document: &Document) -> anyhow::Result<Ground> {
    Ok(document.paths.ground.as_ref().map(|ground| ground.build()).transpose()?.unwrap_or_default())
}

/// How a bake went.
#[derive(Debug, Serialize, TS)]
pub struct Baked {
    frames: usize,
    /// Mean and greatest distance of targets missed, in metres.
    target_error: [f64; 2],
    /// The greatest as a share of the body.
    missed: f64,
    /// Joints of the skeleton that the clip moves; 0 if it is a clip of vertices.
    joints: usize,
    /// Morph targets that the clip needs.
    morphs: usize,
    /// Root mean square distance of the clip from the surface as it was solved, as a share of the body.
    error: f64,
}

/// Follow paths or keyframes as a job that can be cancelled, and store the motion as a clip.
///
/// # Errors
/// As [`sinew::session::bake`].
pub fn bake(studio: &Studio, clip: &str, fps: f64, follow: Follow) -> anyhow::Result<Baked> {
    studio.job(JobKind::Bake, &format!("Baking {clip}"), |job| {
        let before = studio.document();
        let (after, report) = bake_motion(&before, clip, fps, follow, &|share| job.update(share))?;
        let command = Command::Bake { clip: clip.to_owned(), fps, follow };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        let MotionReport { n_frames: frames, target_error, missed, fit } = report;
        let ClipFit { joints, morphs, error } = fit;
        Ok(Baked { frames, target_error, missed, joints, morphs, error })
    })
}

/// Clips.
#[derive(Debug)]
pub struct ClipsPart;

#[derive(Debug, Serialize, TS)]
pub struct ClipsState {
    clips: Vec<ClipInfo>,
}

/// A clip.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Clip")]
struct ClipInfo {
    name: String,
    duration: f32,
    fps: f64,
    /// What made it; null if it came with the file.
    source: Option<ClipSource>,
}

impl Part for ClipsPart {
    type Value = ClipsState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.clips)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<ClipsState> {
        let clip = |clip: &Arc<Clip>| ClipInfo {
            name: clip.name.clone(),
            duration: clip.duration_secs(),
            fps: clip.morph_rate().unwrap_or(DEFAULT_FPS),
            source: document.clip_sources.get(&clip.name).copied(),
        };
        Some(ClipsState { clips: document.clips.iter().map(clip).collect() })
    }
}

/// How examples are searched, what motions follow, and how that is drawn.
#[derive(Debug)]
pub struct MotionPart;

#[derive(Debug, Serialize, TS)]
pub struct MotionState {
    #[ts(type = "Search")]
    search: SearchChange,
    /// As in paths.json.
    paths: PathsData,
    drawn: DrawnPaths,
}

/// Lines through the points of paths, the walk on the ground with its feet, and the ground itself.
#[derive(Debug, Serialize, TS)]
struct DrawnPaths {
    curves: Vec<Vec<Point3>>,
    line: Vec<Point3>,
    feet: Vec<Vec<Point3>>,
    /// Null where it is level at zero.
    ground: Option<Relief>,
}

/// Heights on a grid.
#[derive(Debug, Serialize, TS)]
pub struct Relief {
    origin: Point2,
    cell: f64,
    heights: Vec<Vec<f64>>,
}

impl Part for MotionPart {
    type Value = MotionState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.motion || changes.surface || changes.handles)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<MotionState> {
        Some(MotionState {
            search: SearchChange::of_all(&document.search),
            paths: (*document.paths).clone(),
            drawn: drawn(document),
        })
    }
}

fn drawn(document: &Document) -> DrawnPaths {
    let paths = &document.paths;
    let ground = ground(document).unwrap_or_default();
    let curve = |path: &Path| {
        let [start, end] = path.span();
        let at = |i: usize| path.at(start + (end - start) * i as f64 / CURVE as f64).to_array();
        (0..=CURVE).map(at).collect::<Vec<_>>()
    };
    let curves: Vec<Vec<Point3>> =
        paths.paths.iter().map(|p| p.build().map(|path| curve(&path)).unwrap_or_default()).collect();
    let line: Vec<Point3> = paths.walk.iter().flat_map(|walk| over(&ground, &walk.line)).collect();
    let feet = feet(document, &ground).map(|feet| feet.iter().map(curve).collect()).unwrap_or_default();
    let points = curves.iter().flatten().chain(&line).copied().chain([[0.0; 3]]);
    let is_level = ground == Ground::Flat(0.0);
    let relief = (!is_level).then(|| relief(&|x, z| ground.height(x, z), points, document.mesh().diagonal()));
    DrawnPaths { ground: relief, curves, line, feet }
}

/// A line on the ground, followed in small steps.
fn over(ground: &Ground, line: &[Point2]) -> Vec<Point3> {
    const PARTS: usize = 16;
    let place = |x: f64, z: f64| [x, ground.height(x, z), z];
    let between = line.windows(2).flat_map(|pair| {
        let [[ax, az], [bx, bz]] = [pair[0], pair[1]];
        (0..PARTS).map(move |i| {
            let t = i as f64 / PARTS as f64;
            (ax + t * (bx - ax), az + t * (bz - az))
        })
    });
    between.chain(line.last().map(|[x, z]| (*x, *z))).map(|(x, z)| place(x, z)).collect()
}

/// Where the feet of the walk go, if it can be walked.
fn feet(document: &Document, ground: &Ground) -> Option<[Path; 2]> {
    let file = document.paths.build("paths").ok()?;
    let walk = file.walk?;
    let place = |name: &String| Some(middle(document, &document.handles[document.find_handle(name).ok()?]));
    let feet = [place(&walk.feet[0])?, place(&walk.feet[1])?];
    plan_walk(&walk.build(document.height()), feet, ground).ok().map(|(paths, _)| paths)
}

/// Heights on a grid around some points.
pub fn relief(
    height_at: &dyn Fn(f64, f64) -> f64,
    points: impl Iterator<Item = Point3>,
    size: f64,
) -> Relief {
    let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
    for [x, _, z] in points {
        low = [low[0].min(x), low[1].min(z)];
        high = [high[0].max(x), high[1].max(z)];
    }
    let cell = ((high[0] - low[0]).max(high[1] - low[1]) + 1.5 * size) / CELLS as f64;
    let origin = [0, 1].map(|k| 0.5 * (low[k] + high[k]) - 0.5 * cell * CELLS as f64);
    let height = |i: usize, j: usize| height_at(origin[0] + cell * i as f64, origin[1] + cell * j as f64);
    let heights = (0..=CELLS).map(|j| (0..=CELLS).map(|i| height(i, j)).collect()).collect();
    Relief { origin, cell, heights }
}
