//! The thread that simulates flesh.

use super::state::LivePart;
use crate::{
    engine::FAULT,
    locks::Ranked,
    studio::Studio,
    wire::{GestureId, JobKind, Level},
};
use glam::{DVec3, Vec3};
use sinew::{
    geom::Character,
    session::{Display, Document, FleshStatus, Frame, LiveFlesh, SessionError},
};
use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// Seconds from one shape to the next.
const FRAME: f64 = 1.0 / 60.0;
/// Share of that which steps may take; the rest is left to other threads.
const BUDGET: f64 = 0.7;
/// How often its state is sent to pages.
const REPORT_EVERY: Duration = Duration::from_millis(300);

/// What is shared of the simulation.
#[derive(Debug, Default)]
pub struct LiveStage {
    wanted: Mutex<Wanted>,
    bell: Condvar,
    shown: Ranked<Option<Arc<Shape>>>,
    pub(super) status: Ranked<Option<FleshStatus>>,
}

/// Something to be done on the flesh's thread.
pub type Task = Box<dyn FnOnce(&Studio) + Send>;

/// What pages want of it.
#[derive(Default)]
pub struct Wanted {
    pub on: bool,
    pub paused: bool,
    /// Whether it shall start again.
    pub reset: bool,
    /// What gestures hold, in the order in which they began; the first has it.
    held: Vec<(GestureId, usize, DVec3)>,
    pub push: Option<(usize, DVec3)>,
    pub task: Option<Task>,
    /// Why it stopped by itself.
    pub fault: Option<String>,
    stop: bool,
}

impl Debug for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wanted").field("on", &self.on).field("paused", &self.paused).finish_non_exhaustive()
    }
}

impl Wanted {
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

impl LiveStage {
    /// What pages want, for a moment; nothing else is locked meanwhile.
    pub fn wanted(&self) -> MutexGuard<'_, Wanted> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Want something else.
    pub fn change(&self, change: impl FnOnce(&mut Wanted)) {
        change(&mut self.wanted());
        self.bell.notify_all();
    }

    /// Whether something is simulated.
    pub fn is_on(&self) -> bool {
        self.wanted().on
    }

    /// Let the thread end.
    pub fn stop(&self) {
        self.change(|wanted| wanted.stop = true);
    }

    /// A gesture holds the surface, or nothing any more.
    pub fn hold(&self, gesture: GestureId, held: Option<(usize, DVec3)>) {
        self.change(|wanted| {
            let at = wanted.held.iter().position(|(other, ..)| *other == gesture);
            match (at, held) {
                (Some(at), Some((vertex, to))) => wanted.held[at] = (gesture, vertex, to),
                (None, Some((vertex, to))) => wanted.held.push((gesture, vertex, to)),
                (Some(at), None) => drop(wanted.held.remove(at)),
                (None, None) => {}
            }
        });
    }

    /// What a gesture held is released; what others hold is not.
    pub fn release(&self, gesture: GestureId) {
        self.hold(gesture, None);
    }

    /// Nothing is simulated any more.
    pub fn end(&self) {
        self.change(|wanted| *wanted = Wanted { stop: wanted.stop, ..Wanted::default() });
        *self.shown.lock() = None;
        *self.status.lock() = None;
    }

    /// The newest shape of a document, and its cells if they are asked for.
    pub fn frame(&self, document: &Document, display: &Display, cells: bool) -> Option<super::Shape> {
        if !self.is_on() {
            return None;
        }
        let shape = self.shown.lock().clone()?;
        let is_of = Arc::ptr_eq(&shape.body, &document.body) || shape.body.mesh == document.body.mesh;
        if !is_of || !LiveFlesh::is_seen(document, display) {
            return None;
        }
        let frame: Frame = LiveFlesh::frame(document, shape.positions.clone());
        Some((frame, cells.then(|| shape.cells.clone())))
    }
}

/// Simulate whenever it is wanted, until the server ends.
pub fn run(studio: &Studio) {
    let stage = &studio.capabilities.flesh.stage;
    let mut work = Work { live: None, last: Instant::now(), reported: Instant::now() };
    loop {
        let mut wanted = stage.wanted();
        while !wanted.stop && wanted.task.is_none() && !wanted.is_running() {
            work.live = work.live.filter(|_| wanted.on);
            wanted = stage.bell.wait(wanted).unwrap_or_else(PoisonError::into_inner);
            work.last = Instant::now();
        }
        if wanted.stop {
            return;
        }
        let (task, is_on) = (wanted.task.take(), wanted.is_running());
        drop(wanted);
        if let Some(task) = task
            && catch_unwind(AssertUnwindSafe(|| task(studio))).is_err()
        {
            studio.notice(Level::Error, FAULT);
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
    reported: Instant,
}

impl Work {
    fn turn(&mut self, studio: &Studio) -> Result<(), SessionError> {
        let stage = &studio.capabilities.flesh.stage;
        let document = studio.document();
        let display = studio.looks().display;
        if !self.live.as_ref().is_some_and(|live| live.serves(&document)) {
            self.fill(studio, &document)?;
        }
        let Some(live) = &mut self.live else { return Ok(()) };
        let (reset, held, push) = {
            let mut wanted = stage.wanted();
            let held = wanted.held.first().map(|(_, vertex, to)| (*vertex, *to));
            (std::mem::take(&mut wanted.reset), held, wanted.push.take())
        };
        if reset {
            live.reset(&document, &display)?;
        }
        live.hold(held)?;
        if let Some((vertex, direction)) = push {
            live.push(vertex, direction)?;
        }
        let elapsed = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        live.advance(&document, &display, elapsed, BUDGET * FRAME)?;
        let shape = Shape { body: document.body.clone(), positions: live.positions()?, cells: live.cells() };
        if !stage.is_on() {
            return Ok(());
        }
        *stage.shown.lock() = Some(Arc::new(shape));
        studio.ring();
        if self.reported.elapsed() > REPORT_EVERY {
            self.reported = Instant::now();
            *stage.status.lock() = Some(live.status());
            studio.raise::<LivePart>();
        }
        Ok(())
    }

    /// Fill the document with cells, as a job that pages see.
    fn fill(&mut self, studio: &Studio, document: &Document) -> Result<(), SessionError> {
        let job = studio.jobs.start(JobKind::Flesh.name(), "Filling with flesh");
        studio.report_job(&job, false, None);
        let filled = LiveFlesh::new(document, self.live.take());
        let filled = if job.is_cancelled() { Err(SessionError::Cancelled) } else { filled };
        studio.jobs.finish(&job);
        studio.report_job(&job, true, None);
        let live = filled?;
        *studio.capabilities.flesh.stage.status.lock() = Some(live.status());
        studio.raise::<LivePart>();
        self.live = Some(live);
        self.last = Instant::now();
        Ok(())
    }

    fn fail(&mut self, studio: &Studio, message: Option<&str>) {
        self.live = None;
        let stage = &studio.capabilities.flesh.stage;
        stage.end();
        stage.wanted().fault = message.map(str::to_owned);
        if let Some(message) = message {
            studio.notice(Level::Error, &format!("flesh: {message}"));
        }
        studio.raise::<LivePart>();
        studio.ring();
    }
}
