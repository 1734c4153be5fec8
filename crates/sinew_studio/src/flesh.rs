//! Flesh as pages ask for it and see it. It is simulated on a thread of its own, at the rate of the display: edits never
//! wait for it, and the engine shows the newest shape there is.

use crate::{
    engine::FAULT,
    news::Topic,
    painter,
    requests::{job, shown},
    studio::{Studio, drag_gesture, lock, stroke_gesture},
    wire::{PaintStiffness, RigPlaceRequest},
};
use anyhow::{Context, ensure};
use glam::{DQuat, DVec2, DVec3, Vec3};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew::{
    deform::select::View,
    flesh::{Mode, place_joint},
    geom::{Character, query::SurfaceTree},
    session::{
        Command, Display, Document, FleshBake, FleshChange, FleshSettings, FleshStatus, Frame, JointData,
        LiveFlesh, MuscleBench, MuscleChange, MusclePlace, SessionError, bake_flesh, control_value_in,
        posed_joints, shown_muscles, turned_pose,
    },
};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Seconds from one shape to the next.
const FRAME: f64 = 1.0 / 60.0;
/// Share of that which steps may take: others want to work, too.
const BUDGET: f64 = 0.7;
/// How often pages are told how it goes.
const TELL: Duration = Duration::from_millis(300);
/// Vertices in no cell that pages are told of.
const MAX_UNCOVERED: usize = 200;
/// Places of a stroke that are looked at in one message.
const MAX_PLACES: usize = 256;

/// What is shared of the simulation.
#[derive(Debug, Default)]
pub struct FleshStage {
    wish: Mutex<Wish>,
    bell: Condvar,
    shown: Mutex<Option<Arc<Shape>>>,
    status: Mutex<Option<FleshStatus>>,
    /// The body on which rigs are made.
    bench: Mutex<Option<Arc<MuscleBench>>>,
}

/// What hands want of it.
#[derive(Debug, Default)]
struct Wish {
    on: bool,
    paused: bool,
    /// Whether it shall begin anew.
    reset: bool,
    hand: Option<(usize, DVec3)>,
    push: Option<(usize, DVec3)>,
    /// A rig to be fitted until a vertex is at a place, and the drag that wants it.
    fit: Option<(String, usize, DVec3, u32)>,
    /// Why it stopped by itself.
    fault: Option<String>,
    stop: bool,
}

impl Wish {
    fn is_running(&self) -> bool {
        self.on && (self.reset || !self.paused)
    }
}

/// Edges of cells by their ends, and where those are.
pub type Cells = (Arc<Vec<[u32; 2]>>, Vec<Vec3>);

/// The newest shape.
#[derive(Debug)]
struct Shape {
    body: Arc<Character>,
    positions: Vec<Vec3>,
    cells: Cells,
}

/// What a hand does while it drags.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// Hold the surface at a vertex and draw it to a place; null lets go.
    Grab(Option<Grab>),
    /// Turn a joint about an axis of the world, from how it was turned when the hand took it.
    Turn { joint: String, from: [f64; 4], axis: [f64; 3], degrees: f64 },
    /// Move a joint that was put by hand.
    Joint { joint: JointData },
    /// Fit a rig until a vertex is at a place.
    Fit { rig: String, vertex: usize, to: [f64; 3] },
}

/// Where the surface is held.
#[derive(Debug, Deserialize)]
pub struct Grab {
    vertex: usize,
    to: [f64; 3],
}

impl FleshStage {
    fn wish(&self) -> MutexGuard<'_, Wish> {
        lock(&self.wish)
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        change(&mut self.wish());
        self.bell.notify_all();
    }

    /// Whether something is simulated.
    pub fn is_on(&self) -> bool {
        self.wish().on
    }

    /// Let the thread end.
    pub fn stop(&self) {
        self.change(|wish| wish.stop = true);
    }

    /// Whatever was held is let go.
    pub fn let_go(&self) {
        self.change(|wish| wish.hand = None);
    }

    /// Nothing is simulated any more.
    pub fn end(&self) {
        self.change(|wish| *wish = Wish { stop: wish.stop, ..Wish::default() });
        *lock(&self.shown) = None;
        *lock(&self.status) = None;
    }

    /// The newest shape of a document, and its cells if they are asked for.
    pub fn frame(
        &self,
        document: &Document,
        display: &Display,
        cells: bool,
    ) -> Option<(Frame, Option<Cells>)> {
        if !self.is_on() {
            return None;
        }
        let shape = lock(&self.shown).clone()?;
        let is_of = Arc::ptr_eq(&shape.body, &document.body) || shape.body.mesh == document.body.mesh;
        if !is_of || !LiveFlesh::is_seen(document, display) {
            return None;
        }
        let frame = LiveFlesh::frame(document, shape.positions.clone());
        Some((frame, cells.then(|| shape.cells.clone())))
    }
}

/// Simulate whenever it is wanted, until the server ends.
pub fn run(studio: &Studio) {
    let stage = &studio.flesh;
    let mut work = Work { live: None, last: Instant::now(), told: Instant::now() };
    loop {
        let mut wish = stage.wish();
        while !wish.stop && wish.fit.is_none() && !wish.is_running() {
            work.live = work.live.filter(|_| wish.on);
            wish = stage.bell.wait(wish).unwrap_or_else(PoisonError::into_inner);
            work.last = Instant::now();
        }
        if wish.stop {
            return;
        }
        let (fit, is_on) = (wish.fit.take(), wish.is_running());
        drop(wish);
        if let Some(fit) = fit {
            fit_rig(studio, &fit);
        }
        if !is_on {
            continue;
        }
        let begun = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| work.turn(studio)));
        match done {
            Ok(Ok(())) => {}
            Ok(Err(SessionError::Cancelled)) => work.fail(studio, None),
            Ok(Err(error)) => work.fail(studio, Some(&error.to_string())),
            // A fault of ours must not take the user's session with it.
            Err(_) => work.fail(studio, Some(FAULT)),
        }
        let left = Duration::from_secs_f64(FRAME).saturating_sub(begun.elapsed());
        std::thread::sleep(left.max(Duration::from_millis(1)));
    }
}

struct Work {
    live: Option<LiveFlesh>,
    last: Instant,
    told: Instant,
}

impl Work {
    fn turn(&mut self, studio: &Studio) -> Result<(), SessionError> {
        let document = studio.session().document().clone();
        let display = studio.looks().display;
        if !self.live.as_ref().is_some_and(|live| live.serves(&document)) {
            self.fill(studio, &document)?;
        }
        let Some(live) = &mut self.live else { return Ok(()) };
        {
            let mut wish = studio.flesh.wish();
            if std::mem::take(&mut wish.reset) {
                live.reset(&document, &display)?;
            }
            live.hold(wish.hand)?;
            if let Some((vertex, direction)) = wish.push.take() {
                live.push(vertex, direction)?;
            }
        }
        let elapsed = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        live.advance(&document, &display, elapsed, BUDGET * FRAME)?;
        let shape = Shape { body: document.body.clone(), positions: live.positions()?, cells: live.cells() };
        if !studio.flesh.wish().on {
            return Ok(());
        }
        *lock(&studio.flesh.shown) = Some(Arc::new(shape));
        studio.ring();
        if self.told.elapsed() > TELL {
            self.told = Instant::now();
            *lock(&studio.flesh.status) = Some(live.status());
            studio.raise(Topic::Fleshed);
        }
        Ok(())
    }

    /// Fill the document with cells, as a job that pages see.
    fn fill(&mut self, studio: &Studio, document: &Document) -> Result<(), SessionError> {
        let work = studio.jobs.start("Filling with flesh");
        studio.tell_job(&work, false, None);
        let filled = LiveFlesh::new(document, self.live.take());
        let filled = if work.is_cancelled() { Err(SessionError::Cancelled) } else { filled };
        studio.jobs.finish(&work);
        studio.tell_job(&work, true, filled.as_ref().err().filter(|_| false));
        let live = filled?;
        *lock(&studio.flesh.status) = Some(live.status());
        studio.raise(Topic::Fleshed);
        self.live = Some(live);
        self.last = Instant::now();
        Ok(())
    }

    fn fail(&mut self, studio: &Studio, message: Option<&str>) {
        self.live = None;
        studio.flesh.end();
        studio.flesh.wish().fault = message.map(str::to_owned);
        if let Some(message) = message {
            studio.notice("error", &format!("flesh: {message}"));
        }
        studio.raise(Topic::Fleshed);
        studio.ring();
    }
}

/// Start or end the simulation.
pub fn set_live(studio: &Studio, on: bool) {
    match on {
        true => studio.flesh.change(|wish| {
            (wish.on, wish.paused, wish.fault) = (true, false, None);
        }),
        false => studio.flesh.end(),
    }
    studio.raise(Topic::Fleshed);
    studio.ring();
}

/// Hold it still, or let it go on.
pub fn pause(studio: &Studio, on: bool) {
    studio.flesh.change(|wish| wish.paused = on);
    studio.raise(Topic::Fleshed);
}

/// Begin anew, at rest.
pub fn reset(studio: &Studio) {
    studio.flesh.change(|wish| wish.reset = true);
}

/// Push the surface at a vertex, for a moment.
///
/// # Errors
/// If nothing is simulated, or there is no such vertex.
pub fn push(studio: &Studio, vertex: usize, direction: [f64; 3]) -> anyhow::Result<()> {
    ensure!(studio.flesh.wish().on, "no flesh is simulated; press “Flesh” first");
    let n = studio.session().document().mesh().n_vertices();
    ensure!(vertex < n, "there is no vertex {vertex}, there are {n}");
    let direction = DVec3::from_array(direction);
    ensure!(direction.is_finite(), "a direction has three finite numbers");
    studio.flesh.change(|wish| wish.push = Some((vertex, direction)));
    Ok(())
}

/// What a dragging hand does to the flesh; changes of the document are given back as a command.
///
/// # Errors
/// If it makes no sense.
pub fn touch(studio: &Studio, number: u32, touch: &Value) -> Result<Option<Command>, SessionError> {
    let fail = |cause: String| SessionError::Value { what: "flesh", cause };
    let document = studio.session().document().clone();
    let touch = Touch::deserialize(touch).map_err(|error| fail(error.to_string()))?;
    match touch {
        Touch::Grab(grab) => {
            let hand = grab.map(|grab| (grab.vertex, DVec3::from_array(grab.to)));
            let n = document.mesh().n_vertices();
            if hand.is_some_and(|(vertex, to)| vertex >= n || !to.is_finite()) {
                return Err(fail(format!("a grab has a vertex below {n} and a place")));
            }
            studio.flesh.change(|wish| wish.hand = hand);
            Ok(None)
        }
        Touch::Turn { joint, from, axis, degrees } => {
            let rotation = turned(&document, &joint, from, axis, degrees)
                .ok_or_else(|| fail(format!("there is no joint {joint:?} to turn so")))?;
            Ok(Some(Command::Flesh(FleshChange::Turn { joint, rotation })))
        }
        Touch::Fit { rig, vertex, to } => {
            let (n, to) = (document.mesh().n_vertices(), DVec3::from_array(to));
            if vertex >= n || !to.is_finite() {
                return Err(fail(format!("a fit has a vertex below {n} and a place")));
            }
            studio.flesh.change(|wish| wish.fit = Some((rig, vertex, to, number)));
            Ok(None)
        }
        Touch::Joint { joint } => Ok(Some(Command::Flesh(FleshChange::Joint { joint }))),
    }
}

/// The body on which rigs are made, as the document shows it now; prepared if need be, as a job that pages see.
fn bench(studio: &Studio) -> Result<(Document, Arc<MuscleBench>), SessionError> {
    let document = studio.session().document().clone();
    let display = studio.looks().display;
    let mut kept = lock(&studio.flesh.bench);
    if let Some(bench) = kept.as_ref().filter(|bench| bench.serves(&document, &display)) {
        return Ok((document, bench.clone()));
    }
    let work = studio.jobs.start("Preparing the flesh for rigs");
    studio.tell_job(&work, false, None);
    let made = MuscleBench::new(&document, &display).map(Arc::new);
    studio.jobs.finish(&work);
    studio.tell_job(&work, true, None);
    let made = made?;
    *kept = Some(made.clone());
    Ok((document, made))
}

/// Fit a rig until a vertex is where a hand has it, and record that; one step of history a drag.
fn fit_rig(studio: &Studio, (rig, vertex, to, drag): &(String, usize, DVec3, u32)) {
    let fit = || -> Result<(), SessionError> {
        let (document, bench) = bench(studio)?;
        let display = studio.looks().display;
        let value = |control: &str| control_value_in(&document, &display, control).unwrap_or(0.0);
        let data = &document.flesh.muscles;
        let control = data.set.rig(rig).map(|at| data.set.rigs[at].control.clone());
        let control = control.map_err(sinew::flesh::FleshError::from)?;
        let eta = bench.fit(data, rig, &value, (*vertex, *to))?;
        let change = MuscleChange::Record { muscle: rig.clone(), at: value(&control), eta };
        studio.apply_on(&document.body, &Command::Muscles(change), Some(drag_gesture(*drag)))
    };
    match catch_unwind(AssertUnwindSafe(fit)) {
        Ok(Ok(()) | Err(SessionError::Cancelled)) => {}
        Ok(Err(error)) => studio.notice("error", &error.to_string()),
        Err(_) => studio.notice("error", FAULT),
    }
}

/// Put a template on the body under a place of the screen.
///
/// # Errors
/// If there is nothing, no skeleton, or no such template.
pub fn place_rig(studio: &Studio, request: &RigPlaceRequest) -> anyhow::Result<Value> {
    let shown = shown(studio)?;
    let (view, at) = (request.view, request.at);
    let hit = studio.painter.ask(shown.mesh(), move |selector| painter::pick(selector, &view, at)).flatten();
    let Some(hit) = hit else { return Ok(Value::Null) };
    let nearest = (0..3).max_by(|&a, &b| hit.barycentric[a].total_cmp(&hit.barycentric[b])).unwrap_or(0);
    let vertex = shown.mesh().faces()[hit.face as usize][nearest] as usize;
    let (document, bench) = bench(studio)?;
    let view = View { clip_from_model: glam::DMat4::from_cols_array(&request.view) };
    let ray = view.ray(document.mesh(), DVec2::from_array(at)).context("the view makes no sense")?;
    let set = &document.flesh.muscles.set;
    let is_taken = |name: &str| {
        set.rigs.iter().any(|rig| rig.name == name) || set.controls.iter().any(|control| control.name == name)
    };
    let stem = &request.template;
    let name = (1..).map(|k| format!("{stem}.{k}")).find(|name| !is_taken(name)).unwrap_or_default();
    let place = MusclePlace {
        template: request.template.clone(),
        guide: request.guide.clone(),
        vertex,
        ray: [ray.origin, ray.direction],
    };
    let made = bench.place(&name, &place)?;
    let muscles = sinew::flesh::muscle::file::to_json(&made);
    let gesture = Some(studio.next_gesture());
    studio.apply_on(&document.body, &Command::Muscles(MuscleChange::Add { muscles }), gesture)?;
    // Shown as it acts.
    let value = MuscleChange::Value { control: name.clone(), value: 1.0 };
    studio.apply_on(&document.body, &Command::Muscles(value), gesture)?;
    Ok(json!({ "name": name }))
}

/// Rigs of a document in what is shown.
pub fn rigs(studio: &Studio, document: &Document) -> Value {
    let display = studio.looks().display;
    let data = &document.flesh.muscles;
    let control = |control: &sinew::flesh::muscle::Control| {
        json!({
            "name": control.name,
            "follows": control.source.text(),
            "range": control.range,
            "value": control_value_in(document, &display, &control.name),
        })
    };
    json!({
        "controls": data.set.controls.iter().map(control).collect::<Vec<_>>(),
        "rigs": shown_muscles(document, &display),
        "curves": data.curves,
    })
}

/// How a joint is turned after a turn about an axis of the world.
fn turned(
    document: &Document,
    joint: &str,
    from: [f64; 4],
    axis: [f64; 3],
    degrees: f64,
) -> Option<[f64; 4]> {
    let rig = document.body.rig.as_ref()?;
    let at = rig.find(joint)?;
    let mut world = Vec::new();
    rig.forward(&turned_pose(document)?, &mut world).ok()?;
    let (from, axis) = (DQuat::from_array(from), DVec3::from_array(axis).try_normalize()?);
    if !degrees.is_finite() || !from.is_finite() || from.length_squared() < 1e-12 {
        return None;
    }
    let of_parent = rig.joints()[at]
        .parent
        .map_or(DQuat::IDENTITY, |parent| world[parent].to_scale_rotation_translation().1);
    let rest = rig.joints()[at].rest.rotation;
    let spin = DQuat::from_axis_angle(of_parent.inverse() * axis, degrees.to_radians());
    Some((rest.inverse() * spin * rest * from.normalize()).normalize().to_array())
}

/// Put a joint half-way through the body under a place of the screen.
///
/// # Errors
/// If there is nothing, or no joint can be put.
pub fn put_joint(
    studio: &Studio,
    view: [f64; 16],
    at: [f64; 2],
    parent: Option<String>,
) -> anyhow::Result<Value> {
    let document = studio.session().document().clone();
    let view = View { clip_from_model: glam::DMat4::from_cols_array(&view) };
    let mesh = document.mesh();
    let ray = view.ray(mesh, DVec2::from_array(at)).context("the view makes no sense")?;
    let place = place_joint(&SurfaceTree::new(mesh), ray.origin, ray.direction, mesh.diagonal());
    let Some(place) = place else { return Ok(Value::Null) };
    let is_taken = |name: &str| document.flesh.joints.iter().any(|joint| joint.name == name);
    let name = (1..).map(|k| format!("joint.{k}")).find(|name| !is_taken(name)).unwrap_or_default();
    let joint = JointData { name: name.clone(), parent, position: place.to_array() };
    studio.apply_on(&document.body, &Command::Flesh(FleshChange::Joint { joint }), None)?;
    Ok(json!({ "name": name, "position": place.to_array() }))
}

/// Paint stiffness with touches of a brush, by where they appear.
///
/// # Errors
/// If a number makes no sense.
pub fn paint(studio: &Studio, request: &PaintStiffness) -> anyhow::Result<()> {
    let shown = shown(studio)?;
    ensure!(
        request.radius.is_finite() && request.radius > 0.0 && (0.0..=1.0).contains(&request.strength),
        "a brush needs a radius above 0 and a strength within 0 and 1"
    );
    ensure!(
        (1e-3..=1e3).contains(&request.factor),
        "a factor must lie between 0.001 and 1000; 1 takes paint away"
    );
    let before = studio.session().document().flesh.paint.clone();
    let (view, places, radius) = (request.view, request.at.clone(), request.radius);
    let (log, strength) = (request.factor.ln(), request.strength);
    let painted = studio.painter.ask(shown.mesh(), move |selector| {
        let mesh = selector.mesh();
        let mut logs: Vec<f64> = match &before {
            Some(layer) => layer.iter().map(|factor| f64::from(*factor).ln()).collect(),
            None => vec![0.0; mesh.n_vertices()],
        };
        let mut touched = std::collections::BTreeSet::new();
        for place in places.into_iter().take(MAX_PLACES) {
            let Some(hit) = painter::pick(selector, &view, place) else { continue };
            let points = mesh.corners(hit.face as usize);
            let middle = points.iter().zip(hit.barycentric).map(|(p, w)| *p * w).sum::<DVec3>();
            for vertex in selector.paint_radius(hit.face, hit.barycentric, radius) {
                let far = mesh.positions()[vertex as usize].distance(middle) / radius;
                let share = strength * (1.0 - far * far).max(0.0);
                let own = &mut logs[vertex as usize];
                *own += share * (log - *own);
                touched.insert(vertex);
            }
        }
        let factor = |v: &u32| logs[*v as usize].exp() as f32;
        touched.iter().map(|v| (*v, factor(v))).collect::<Vec<(u32, f32)>>()
    });
    let (vertices, factors): (Vec<u32>, Vec<f32>) = painted.context("the brush failed")?.into_iter().unzip();
    if vertices.is_empty() {
        return Ok(());
    }
    let command = Command::Flesh(FleshChange::Paint { vertices, factors });
    studio.apply_on(&shown.document.body, &command, request.stroke.map(stroke_gesture))?;
    Ok(())
}

/// Bake a clip with flesh as a job that can be stopped, and keep it as a clip.
///
/// # Errors
/// As [`sinew::session::bake_flesh`].
pub fn bake(studio: &Studio, bake: &FleshBake) -> anyhow::Result<Value> {
    job(studio, &format!("Baking {}", bake.to), |job| {
        let before = studio.session().document().clone();
        let (opened, mut stack) = (studio.n_opened(), lock(&studio.stack).clone());
        let (after, report) = bake_flesh(&before, bake, &mut stack, &|share| job.update(share))?;
        studio.keep_stack(opened, stack);
        let command = Command::BakeFlesh { bake: bake.clone() };
        studio.session().commit(&command, &before, after).ok_or(SessionError::Cancelled)?;
        Ok(json!(report))
    })
}

/// Flesh of a document as pages show it.
pub fn state(document: &Document) -> Value {
    let data = &document.flesh;
    json!({
        "settings": data.settings,
        "usual_stiffness": FleshSettings::usual_stiffness(document),
        "modes": Mode::ALL.map(Mode::name),
        "painted": data.paint.is_some(),
        "own_skeleton": document.body.skin.is_some() && !data.bound,
        "bound": data.bound,
        "moved": is_moved(document),
        "sites": data.joints,
        "turned": !data.turns.is_empty(),
        "joints": posed_joints(document).unwrap_or_default(),
    })
}

/// Whether joints put by hand are elsewhere than in the skeleton that was made of them.
fn is_moved(document: &Document) -> bool {
    let Some(rig) = document.body.rig.as_ref().filter(|_| document.flesh.bound) else { return false };
    let world = rig.rest_world();
    // A file keeps places in single precision.
    let near = 1e-5 * document.mesh().diagonal();
    let is_off = |joint: &JointData| {
        let at = rig.find(&joint.name).map(|at| world[at].translation);
        at.is_none_or(|at| at.distance(DVec3::from_array(joint.position)) > near)
    };
    document.flesh.joints.iter().any(is_off)
}

/// How the simulation goes; null if there is none.
pub fn live(studio: &Studio) -> Value {
    let (on, paused, fault) = {
        let wish = studio.flesh.wish();
        (wish.on, wish.paused, wish.fault.clone())
    };
    let status = lock(&studio.flesh.status).clone().map(|mut status| {
        let n = status.uncovered.len();
        status.uncovered.truncate(MAX_UNCOVERED);
        let mut value = json!(status);
        value["n_uncovered"] = json!(n);
        value
    });
    json!({ "on": on, "paused": paused, "fault": fault, "status": status })
}
