//! Turns what a user drew on the screen into vertices, on a thread that keeps the search structures of one mesh.

use crate::wire::{Point2, ViewMatrix};
use glam::{DMat4, DVec2};
use serde::Deserialize;
use sinew::{
    deform::select::{Flood, Plane, ScreenBox, Selector, View},
    geom::{Handle, Mesh, query::RayHit},
};
use std::{
    collections::BTreeMap,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
};
use ts_rs::TS;

/// Places of a brush stroke that are looked at in one message.
const MAX_PLACES: usize = 256;

/// A part of the surface. `grow` and `shrink` are of the handle itself, by rings of faces.
#[derive(Debug, Clone, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// What is inside a box on the screen.
    Box {
        /// How it is seen.
        view: ViewMatrix,
        /// One corner.
        from: Point2,
        /// The opposite corner.
        to: Point2,
        /// What of it is meant.
        mode: RegionMode,
    },
    /// What is inside a closed line on the screen.
    Lasso {
        /// How it is seen.
        view: ViewMatrix,
        /// The line.
        points: Vec<Point2>,
        /// What of it is meant.
        mode: RegionMode,
    },
    /// What a brush touches.
    Brush {
        /// How it is seen.
        view: ViewMatrix,
        /// Where the brush was.
        at: Vec<Point2>,
        /// Metres; 0 for single faces.
        radius: f64,
    },
    /// Vertices by number.
    Vertices(Vec<u32>),
    /// The handle and this many rings around it.
    Grow(usize),
    /// The handle without this many rings at its border.
    Shrink(usize),
}

/// What of a box or lasso is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum RegionMode {
    /// Everything in it, seen or not.
    All,
    /// What is connected to its middle and faces the viewer.
    Facing,
    /// What is connected to its middle, with its far side.
    Around,
}

type Task = Box<dyn FnOnce(&Selector) + Send>;

/// The thread.
#[derive(Debug)]
pub struct Painter {
    sender: Sender<(Arc<Mesh>, Task)>,
}

impl Painter {
    /// Start it.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn new() -> std::io::Result<Self> {
        let (sender, receiver) = channel();
        std::thread::Builder::new().name("painter".into()).spawn(move || run(&receiver))?;
        Ok(Self { sender })
    }

    /// Prepare a mesh, so that the first question about it is answered at once.
    pub fn warm(&self, mesh: Arc<Mesh>) {
        // Without the thread there are no answers either, which is reported then.
        let _ = self.sender.send((mesh, Box::new(|_| {})));
    }

    /// Ask something of a mesh and wait for the answer; `None` if that is beyond it.
    pub fn ask<T: Send + 'static>(
        &self,
        mesh: Arc<Mesh>,
        question: impl FnOnce(&Selector) -> T + Send + 'static,
    ) -> Option<T> {
        let (answer, wait) = channel();
        let task: Task = Box::new(move |selector| {
            // A panic in one question must not end all answers; its asker is answered with an error.
            if let Ok(found) = catch_unwind(AssertUnwindSafe(|| question(selector))) {
                // The page may be gone.
                let _ = answer.send(found);
            }
        });
        self.sender.send((mesh, task)).ok()?;
        wait.recv().ok()
    }
}

fn run(receiver: &Receiver<(Arc<Mesh>, Task)>) {
    let mut next = receiver.recv();
    while let Ok((mesh, task)) = next {
        let selector = Selector::new(&mesh);
        task(&selector);
        loop {
            next = receiver.recv();
            match next {
                Ok((other, task)) if Arc::ptr_eq(&other, &mesh) => task(&selector),
                _ => break,
            }
        }
    }
}

/// Vertices of a region; `own` are those the handle has already.
pub fn select(selector: &Selector, region: &Region, own: &[u32]) -> Vec<u32> {
    match region {
        Region::Vertices(vertices) => vertices.clone(),
        Region::Grow(rings) => selector.grow(own, (*rings).min(1000)),
        Region::Shrink(rings) => selector.shrink(own, (*rings).min(1000)),
        Region::Box { view, from, to, mode } => {
            let screen = ScreenBox::new(DVec2::from_array(*from), DVec2::from_array(*to));
            in_box(selector, &self::view(view), &screen, *mode)
        }
        Region::Lasso { view, points, mode } => in_lasso(selector, &self::view(view), points, *mode),
        Region::Brush { view, at, radius } => brush(selector, &self::view(view), at, *radius),
    }
}

/// What is seen through a place of the screen.
pub fn pick(selector: &Selector, view: &ViewMatrix, at: Point2) -> Option<RayHit> {
    selector.pick(&self::view(view), DVec2::from_array(at))
}

/// A handle on the other side of a plane: vertices in increasing order, and the weight of each.
pub fn mirror(selector: &Selector, handle: &Handle, plane: &Plane, tolerance: f64) -> (Vec<u32>, Vec<f32>) {
    // Vertices of one weight are mirrored together; where they meet again, the heavier stays.
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    let pairs = handle.vertices.iter().zip(&handle.weights);
    pairs.for_each(|(&v, w)| groups.entry(w.to_bits()).or_default().push(v));
    let mut weights: BTreeMap<u32, f32> = BTreeMap::new();
    for (weight, vertices) in groups {
        for vertex in selector.mirror(&vertices, plane, tolerance).vertices {
            weights.insert(vertex, f32::from_bits(weight));
        }
    }
    weights.into_iter().unzip()
}

/// How something is seen.
pub fn view(matrix: &ViewMatrix) -> View {
    View { clip_from_model: DMat4::from_cols_array(&matrix.0) }
}

/// The corner of a face that a hit is nearest to.
pub fn nearest_corner(hit: &RayHit) -> usize {
    (0..3).max_by(|&a, &b| hit.barycentric[a].total_cmp(&hit.barycentric[b])).unwrap_or(0)
}

fn in_box(selector: &Selector, view: &View, screen: &ScreenBox, mode: RegionMode) -> Vec<u32> {
    match mode {
        RegionMode::All => selector.in_box(view, screen),
        RegionMode::Facing => selector.flood(view, screen, Flood::Facing),
        RegionMode::Around => selector.flood(view, screen, Flood::Around),
    }
}

/// What a box around the lasso holds, without what lies outside the lasso.
fn in_lasso(selector: &Selector, view: &View, points: &[[f64; 2]], mode: RegionMode) -> Vec<u32> {
    let points: Vec<DVec2> = points.iter().map(|p| DVec2::from_array(*p)).collect();
    let (Some(low), Some(high)) =
        (points.iter().copied().reduce(DVec2::min), points.iter().copied().reduce(DVec2::max))
    else {
        return Vec::new();
    };
    let mut vertices = in_box(selector, view, &ScreenBox::new(low, high), mode);
    let positions = selector.mesh().positions();
    vertices.retain(|&v| view.project(positions[v as usize]).is_some_and(|at| is_inside(&points, at)));
    vertices
}

/// Whether a closed line goes round a point, by the parity of crossings.
fn is_inside(points: &[DVec2], at: DVec2) -> bool {
    let mut inside = false;
    for (k, b) in points.iter().enumerate() {
        let a = points[(k + points.len() - 1) % points.len()];
        if (a.y > at.y) != (b.y > at.y) && at.x < a.x + (at.y - a.y) / (b.y - a.y) * (b.x - a.x) {
            inside = !inside;
        }
    }
    inside
}

fn brush(selector: &Selector, view: &View, at: &[[f64; 2]], radius: f64) -> Vec<u32> {
    let mut all = Vec::new();
    for place in at.iter().take(MAX_PLACES) {
        let Some(hit) = selector.pick(view, DVec2::from_array(*place)) else { continue };
        all.extend(if radius > 0.0 {
            selector.paint_radius(hit.face, hit.barycentric, radius)
        } else {
            selector.paint_face(hit.face)
        });
    }
    all.sort_unstable();
    all.dedup();
    all
}
