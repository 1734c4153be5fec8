//! The thread that finds shapes: always the newest wish, never a queue.

use crate::{
    flesh::Cells,
    frames::{Drawn, Geometry},
    news::Topic,
    puppet::Cue,
    studio::{Shown, Studio, Wish, drag_gesture},
};
use serde::Deserialize;
use serde_json::{Value, json};
use sinew::{
    deform::HandlePose,
    formats::moves::read_moves,
    geom::{Character, Move},
    session::{
        Command, Display, Document, Frame, Reach, ReachWish, RulesChange, SessionError, Stage,
        compute_stretch,
    },
};
use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

/// Preparation that takes longer is shown as a job.
const SHOW_AFTER: Duration = Duration::from_millis(300);
/// The hand rests if nothing came for this long.
const REST: Duration = Duration::from_millis(150);

/// Show what there is to show, until the server ends.
pub fn run(studio: &Studio) {
    let mut engine = Engine {
        studio,
        stage: Stage::default(),
        geometry: None,
        last_drag: 0,
        is_new: true,
        is_stopped: false,
        failed: None,
    };
    let mut seen = 0;
    loop {
        let mut pending = studio.pending();
        while pending.tick == seen && !pending.stop {
            pending = studio.wait(pending);
        }
        if pending.stop {
            return;
        }
        seen = pending.tick;
        let drag = pending.drags.pop_front();
        pending.dragging = drag.as_ref().map(|wish| wish.page);
        if !pending.drags.is_empty() {
            // The next is taken up in the next turn.
            seen = seen.wrapping_sub(1);
        }
        drop(pending);
        // A fault of ours must not take the user's session with it.
        if catch_unwind(AssertUnwindSafe(|| engine.turn(drag, seen))).is_err() {
            engine.stage = Stage::default();
            studio.notice("error", FAULT);
        }
        studio.drag_done();
    }
}

/// What is said when we are wrong, not the user.
pub const FAULT: &str = "an internal fault; your work is kept, undo the last step and report what you did";

struct Engine<'a> {
    studio: &'a Studio,
    stage: Stage,
    /// What is drawn of the body it was made of.
    geometry: Option<(Arc<Character>, u32, Arc<Geometry>)>,
    last_drag: u32,
    /// Whether the geometry has not been shown yet.
    is_new: bool,
    /// Whether the user stopped the last preparation.
    is_stopped: bool,
    /// The last failure, so that it is told once.
    failed: Option<String>,
}

impl Engine<'_> {
    /// Do what there is to do.
    fn turn(&mut self, drag: Option<Wish>, seen: u64) {
        if let Some(wish) = drag {
            self.drag(&wish);
            self.studio.drag_done();
        }
        self.show(seen);
        // While flesh runs, the next shape would only stop it again.
        if !self.studio.flesh.is_on() && self.studio.pending().tick == seen {
            self.prepare_ahead(seen);
        }
        if self.studio.looks().refine && self.studio.is_idle(seen, REST) {
            self.refine(seen);
        }
    }

    /// Take up a move in progress.
    fn drag(&mut self, wish: &Wish) {
        let gesture = drag_gesture(wish.drag);
        if let Some(step) = &wish.step {
            self.drag_to(wish.drag, step);
        }
        if wish.end {
            // A hand that is gone has let go of the flesh as well.
            self.studio.flesh.let_go();
            self.studio.session().end_drag(gesture);
        }
    }

    fn drag_to(&mut self, number: u32, step: &Value) {
        if let Some(wish) = step.get("reach") {
            return self.reach_to(number, wish);
        }
        if let Some(change) = step.get("rules") {
            return self.change_rules(number, change);
        }
        if let Some(cue) = step.get("puppet") {
            return self.follow(number, cue);
        }
        if let Some(touch) = step.get("flesh") {
            return self.touch(number, touch);
        }
        let gesture = drag_gesture(number);
        let (document, before) = {
            let session = self.studio.session();
            (session.document().clone(), session.moves_before(gesture))
        };
        let moved = parse_move(step).and_then(|step| {
            let prepared = self.prepare(&document, None)?;
            let step = prepared.at_rest(&before, step)?;
            let mut session = self.studio.session();
            // Another document may have been opened while this one was prepared.
            match Arc::ptr_eq(&session.document().body, &document.body) {
                true => session.drag(gesture, step),
                false => Err(SessionError::Cancelled),
            }
        });
        // Every drag is answered by a frame, even if nothing moved: the page waits for it.
        self.last_drag = number;
        match moved {
            Ok(()) | Err(SessionError::Cancelled) => {}
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Follow a hand that drags a marker or a plane; the pose is solved when it is shown.
    fn change_rules(&mut self, number: u32, change: &Value) {
        let change = serde_json::from_value::<RulesChange>(change.clone())
            .map_err(|error| SessionError::Value { what: "rules", cause: error.to_string() });
        let applied = change.and_then(|change| {
            self.studio.session().apply(&Command::Rules(change), Some(drag_gesture(number)))
        });
        self.last_drag = number;
        if let Err(error) = applied {
            self.fail(&error.to_string());
        }
    }

    /// Follow a hand that holds the flesh, or turns or moves a joint.
    fn touch(&mut self, number: u32, touch: &Value) {
        let done = crate::flesh::touch(self.studio, number, touch).and_then(|command| match command {
            Some(command) => self.studio.session().apply(&command, Some(drag_gesture(number))).map(|_| ()),
            None => Ok(()),
        });
        // Every drag is answered by a frame, even if nothing moved: the page waits for it.
        self.last_drag = number;
        match done {
            Ok(()) => self.failed = None,
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// What the rules come to, for pages that look, and for those that write in another view.
    fn solve_rules(&mut self, document: &Document, display: &Display) {
        let is_wanted = *display == Display::Ruled || !document.rules.text.is_empty();
        let ruled = match document.body.rig.as_ref().filter(|_| is_wanted) {
            None => None,
            Some(_) => self.stage.ruled(document).map_err(|error| self.fail(&error.to_string())).ok(),
        };
        self.studio.set_ruled(ruled);
    }

    /// Follow a hand that drags targets: search the examples, and show what was found without doing it.
    fn reach_to(&mut self, number: u32, wish: &Value) {
        let document = self.studio.session().document().clone();
        let wish = serde_json::from_value::<ReachWish>(wish.clone())
            .map_err(|error| SessionError::Value { what: "reach", cause: error.to_string() });
        let followed = wish.and_then(|wish| {
            self.prepare(&document, None)?;
            let mut reach = self.studio.reach();
            if !reach.as_ref().is_some_and(|reach| reach.serves(&document)) {
                *reach = Some(Reach::new(&document)?);
            }
            reach.as_mut().map_or(Ok(()), |reach| reach.follow(&wish, &document.search))
        });
        // Every drag is answered by a frame, even if nothing moved: the page waits for it.
        self.last_drag = number;
        match followed {
            Ok(()) => self.failed = None,
            Err(SessionError::Cancelled) => {}
            Err(error) => self.fail(&error.to_string()),
        }
        self.studio.raise(Topic::Reach);
    }

    /// Let the character follow an actor by one frame.
    fn follow(&mut self, number: u32, cue: &Value) {
        let document = self.studio.session().document().clone();
        let followed = Cue::deserialize(cue)
            .map_err(|error| SessionError::Value { what: "puppet", cause: error.to_string() })
            .and_then(|cue| self.studio.theatre().follow(&document, cue));
        // Every drag is answered by a frame, even if nothing moved: the page waits for it.
        self.last_drag = number;
        match followed {
            Ok(()) => self.failed = None,
            Err(error) => self.fail(&error.to_string()),
        }
        self.studio.raise(Topic::Act);
    }

    /// What an actor makes of the character now.
    fn acted(&mut self, document: &Document) -> Option<Result<Frame, SessionError>> {
        if self.studio.theatre().needs_editor()
            && let Err(error) = self.prepare(document, None)
        {
            return Some(Err(error));
        }
        let theatre = self.studio.theatre();
        let (puppet, acted) = theatre.acting()?;
        Some(puppet.frame(document, &acted.shape, self.stage.ready(document).map(|p| &**p)))
    }

    /// The pose that is being reached for, unless the document has gone on without it.
    fn reached(&self, document: &Document) -> Option<(HandlePose, Option<Vec<f32>>)> {
        let mut reach = self.studio.reach();
        if reach.as_ref().is_some_and(|reach| !reach.serves(document)) {
            *reach = None;
            drop(reach);
            self.studio.raise(Topic::Reach);
            return None;
        }
        reach.as_ref().map(|reach| (reach.pose(), reach.detail()))
    }

    /// Find the present shape and give it to the pages. Work that has become old is stopped.
    fn show(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let looks = self.studio.looks();
        self.solve_rules(&document, &looks.display);
        if let Some((frame, cells)) = self.studio.flesh.frame(&document, &looks.display, looks.cells) {
            let published = self.publish(document, frame, looks.stress, cells);
            return published.unwrap_or_else(|error| self.fail(&error.to_string()));
        }
        if let Some(acted) = self.acted(&document) {
            let published = acted.and_then(|frame| self.publish(document, frame, looks.stress, None));
            return published.unwrap_or_else(|error| self.fail(&error.to_string()));
        }
        let reached = self.reached(&document).filter(|_| looks.display == Display::Posed);
        let needs_editor =
            looks.display == Display::Posed && (!document.pose.is_empty() || reached.is_some());
        if needs_editor {
            match self.prepare(&document, Some(seen)) {
                Err(SessionError::Cancelled) if !self.is_stopped => return,
                Err(SessionError::Cancelled) => {
                    self.fail("preparing the surface was stopped; move a handle to start it again");
                }
                Err(error) => self.fail(&error.to_string()),
                Ok(_) => {}
            }
        }
        let go_on = |_| ControlFlow::Continue(());
        let is_ready = !needs_editor || self.stage.ready(&document).is_some();
        let display = if is_ready { &looks.display } else { &Display::Rest };
        let found = match (reached, self.stage.ready(&document)) {
            (Some((pose, detail)), Some(prepared)) => prepared.frame_of(&pose, detail.as_deref()),
            _ => self.stage.show(&document, display, &go_on),
        };
        let frame = found.or_else(|error| {
            self.fail(&error.to_string());
            self.stage.show(&document, &Display::Rest, &go_on)
        });
        let published = frame.and_then(|frame| self.publish(document, frame, looks.stress, None));
        if let Err(error) = published {
            self.fail(&error.to_string());
        }
    }

    fn publish(
        &mut self,
        document: Document,
        frame: Frame,
        with_stress: bool,
        cells: Option<Cells>,
    ) -> Result<(), SessionError> {
        let (revision, geometry) = self.geometry(&document)?;
        let mesh = document.mesh();
        let stretch = with_stress.then(|| compute_stretch(mesh.positions(), &frame.positions, mesh.faces()));
        let drag = self.last_drag;
        let twin = self.twin(&document)?;
        let handles = document.handles.clone();
        let paint = document.flesh.paint.clone();
        let drawn = Drawn { revision, geometry, frame, stretch, drag, handles, twin, paint, cells };
        let before = self.studio.shown.borrow().clone();
        let shown = Arc::new(Shown::new(drawn, document, before.as_deref()));
        self.studio.shown.send_replace(Some(shown.clone()));
        // The first click on a new surface should not wait for its search tree.
        if std::mem::take(&mut self.is_new) {
            self.studio.painter.warm(shown.mesh());
        }
        Ok(())
    }

    /// The fit at the same moment, if it is to be seen beside the document and is still of it.
    fn twin(&self, document: &Document) -> Result<Option<Frame>, SessionError> {
        let looks = self.studio.looks();
        let fitted = self.studio.newest_fit().filter(|fitted| looks.compare && fitted.is_of(document));
        fitted.map_or(Ok(None), |fitted| fitted.frame(&looks.display))
    }

    fn geometry(&mut self, document: &Document) -> Result<(u32, Arc<Geometry>), SessionError> {
        if let Some((body, revision, geometry)) =
            self.geometry.as_mut().filter(|(body, ..)| looks_same(body, &document.body))
        {
            *body = document.body.clone();
            return Ok((*revision, geometry.clone()));
        }
        self.is_new = true;
        let is_first = self.geometry.is_none();
        let revision = if is_first { self.studio.revision() } else { self.studio.next_revision() };
        let rest = self.stage.show(document, &Display::Rest, &|_| ControlFlow::Continue(()))?;
        let geometry = Arc::new(Geometry::new(&document.body, rest));
        self.geometry = Some((document.body.clone(), revision, geometry.clone()));
        self.studio.raise(Topic::Surface);
        Ok((revision, geometry))
    }

    /// Polish the pose while nobody waits; stopped when something new is to be done.
    fn refine(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let looks = self.studio.looks();
        let is_other = self.studio.flesh.is_on()
            || self.studio.reach().is_some()
            || self.studio.theatre().acting().is_some();
        if looks.display != Display::Posed || document.pose.is_empty() || is_other {
            return;
        }
        let Some(prepared) = self.stage.ready(&document).cloned() else { return };
        let studio = self.studio;
        let go_on = |_| match studio.pending().tick == seen {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let refined =
            prepared.refined_frame(&document.pose, document.detail.as_ref().map(|d| &d[..]), &go_on);
        match refined.and_then(|frame| self.publish(document, frame, looks.stress, None)) {
            Ok(()) | Err(SessionError::Cancelled) => {}
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Prepare handles while nobody waits, so that the first drag starts at once.
    fn prepare_ahead(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let has_handles = document.handles.iter().any(|handle| !handle.vertices.is_empty());
        if has_handles && !self.is_stopped && self.stage.ready(&document).is_none() {
            // What is wrong is told when it matters: when something is moved.
            let _ = self.prepare(&document, Some(seen));
        }
    }

    /// Prepare, as a job if it takes long. With `seen`, it is stopped when something new is to be done.
    fn prepare(
        &mut self,
        document: &Document,
        seen: Option<u64>,
    ) -> Result<Arc<sinew::session::Prepared>, SessionError> {
        if let Some(prepared) = self.stage.ready(document) {
            return Ok(prepared.clone());
        }
        let start = Instant::now();
        let job = self.studio.jobs.start("Preparing the surface");
        let studio = self.studio;
        let told = std::sync::atomic::AtomicU64::new(0);
        let progress = |share: f64| {
            let is_old = seen.is_some_and(|seen| {
                let pending = studio.pending();
                pending.tick != seen && pending.drags.is_empty()
            });
            let steps = (start.elapsed().as_secs_f64() / SHOW_AFTER.as_secs_f64()) as u64;
            if steps > told.swap(steps, std::sync::atomic::Ordering::Relaxed) {
                studio.tell_job(&job, false, None);
            }
            if is_old { ControlFlow::Break(()) } else { job.update(share) }
        };
        let prepared = self.stage.prepare(document, &progress);
        self.studio.jobs.finish(&job);
        self.is_stopped = job.is_cancelled();
        if told.into_inner() > 0 {
            self.studio.tell_job(&job, true, prepared.as_ref().err());
        }
        if let Ok(prepared) = &prepared {
            self.failed = None;
            self.studio.note_prepared(prepared.time);
            self.studio.raise(Topic::Work);
        }
        prepared
    }

    fn fail(&mut self, message: &str) {
        if self.failed.as_deref() != Some(message) {
            self.failed = Some(message.to_owned());
            self.studio.notice("error", message);
        }
    }
}

/// Whether what is drawn of two bodies is the same: a clip that was baked changes neither mesh nor surface.
fn looks_same(a: &Arc<Character>, b: &Arc<Character>) -> bool {
    Arc::ptr_eq(a, b) || (a.mesh == b.mesh && a.surface == b.surface)
}

/// A move in the words of moves.json.
fn parse_move(step: &Value) -> Result<Move, SessionError> {
    let mut moves = read_moves(json!({ "moves": [step] }).to_string().as_bytes(), "drag")?;
    moves.pop().ok_or(SessionError::Value { what: "move", cause: "there is none".into() })
}
