//! The thread that finds shapes: always the newest wish, never a queue.

use crate::{
    frames::{Drawn, Geometry},
    studio::{Shown, Studio, drag_gesture},
};
use serde_json::{Value, json};
use sinew::{
    formats::moves::read_moves,
    geom::{Character, Move},
    session::{Display, Document, Frame, SessionError, Stage, compute_stretch},
};
use std::{
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

/// Preparation that takes longer is shown as a job.
const SHOW_AFTER: Duration = Duration::from_millis(300);
/// The hand rests if nothing came for this long.
const REST: Duration = Duration::from_millis(150);

/// Show what there is to show, until the server ends.
pub fn run(studio: &Studio) {
    let mut engine =
        Engine { studio, stage: Stage::default(), geometry: None, last_drag: 0, is_new: true, failed: None };
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
        let drag = pending.drag.take();
        pending.is_dragging = drag.is_some();
        drop(pending);
        if let Some((number, step, end)) = drag {
            engine.drag(number, &step, end);
            studio.drag_done();
        }
        engine.show(seen);
        if studio.pending().tick == seen {
            engine.prepare_ahead(seen);
        }
        if studio.looks().refine && studio.is_idle(seen, REST) {
            engine.refine(seen);
        }
    }
}

struct Engine<'a> {
    studio: &'a Studio,
    stage: Stage,
    /// What is drawn of the body it was made of.
    geometry: Option<(Arc<Character>, u32, Arc<Geometry>)>,
    last_drag: u32,
    /// Whether the geometry has not been shown yet.
    is_new: bool,
    /// The last failure, so that it is told once.
    failed: Option<String>,
}

impl Engine<'_> {
    /// Take up a move in progress.
    fn drag(&mut self, number: u32, step: &Value, end: bool) {
        let gesture = drag_gesture(number);
        let (document, before) = {
            let session = self.studio.session();
            (session.document().clone(), session.moves_before(gesture).to_vec())
        };
        let moved = parse_move(step).and_then(|step| {
            let prepared = self.prepare(&document, None)?;
            let step = prepared.at_rest(&before, step)?;
            self.studio.session().drag(gesture, step)
        });
        // Every drag is answered by a frame, even if nothing moved: the page waits for it.
        self.last_drag = number;
        if let Err(error) = moved.as_ref().map_err(ToString::to_string) {
            self.fail(&error);
        }
        if end {
            self.studio.touch();
        }
    }

    /// Find the present shape and give it to the pages. Work that has become old is stopped.
    fn show(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let looks = self.studio.looks();
        let needs_editor = looks.display == Display::Posed && !document.pose.is_empty();
        if needs_editor {
            match self.prepare(&document, Some(seen)) {
                Err(SessionError::Cancelled) => return,
                Err(error) => self.fail(&error.to_string()),
                Ok(_) => {}
            }
        }
        let go_on = |_| ControlFlow::Continue(());
        let frame = self.stage.show(&document, &looks.display, &go_on).or_else(|error| {
            self.fail(&error.to_string());
            self.stage.show(&document, &Display::Rest, &go_on)
        });
        let published = frame.and_then(|frame| self.publish(document, frame, looks.stress));
        if let Err(error) = published {
            self.fail(&error.to_string());
        }
    }

    fn publish(&mut self, document: Document, frame: Frame, with_stress: bool) -> Result<(), SessionError> {
        let (revision, geometry) = self.geometry(&document)?;
        let mesh = document.mesh();
        let stretch = with_stress.then(|| compute_stretch(mesh.positions(), &frame.positions, mesh.faces()));
        let drag = self.last_drag;
        let drawn = Drawn { revision, geometry, frame, stretch, drag, handles: document.handles.clone() };
        let shown = Arc::new(Shown::new(drawn, document));
        self.studio.shown.send_replace(Some(shown.clone()));
        // The first click on a new surface should not wait for its search tree.
        if std::mem::take(&mut self.is_new) {
            self.studio.painter.warm(shown.mesh());
        }
        Ok(())
    }

    fn geometry(&mut self, document: &Document) -> Result<(u32, Arc<Geometry>), SessionError> {
        if let Some((_, revision, geometry)) =
            self.geometry.as_ref().filter(|(body, ..)| Arc::ptr_eq(body, &document.body))
        {
            return Ok((*revision, geometry.clone()));
        }
        self.is_new = true;
        let is_first = self.geometry.is_none();
        let revision = if is_first { self.studio.revision() } else { self.studio.next_revision() };
        let rest = self.stage.show(document, &Display::Rest, &|_| ControlFlow::Continue(()))?;
        let geometry = Arc::new(Geometry::new(&document.body, rest));
        self.geometry = Some((document.body.clone(), revision, geometry.clone()));
        self.studio.state_number.send_modify(|number| *number += 1);
        Ok((revision, geometry))
    }

    /// Polish the pose while nobody waits; stopped when something new is to be done.
    fn refine(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let looks = self.studio.looks();
        if looks.display != Display::Posed || document.pose.is_empty() {
            return;
        }
        let Some(prepared) = self.stage.ready(&document).cloned() else { return };
        let studio = self.studio;
        let go_on = |_| match studio.pending().tick == seen {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let refined = prepared.refined_frame(&document.pose, &go_on);
        match refined.and_then(|frame| self.publish(document, frame, looks.stress)) {
            Ok(()) | Err(SessionError::Cancelled) => {}
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Prepare handles while nobody waits, so that the first drag starts at once.
    fn prepare_ahead(&mut self, seen: u64) {
        let document = self.studio.session().document().clone();
        let has_handles = document.handles.iter().any(|handle| !handle.vertices.is_empty());
        if has_handles && self.stage.ready(&document).is_none() {
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
                pending.tick != seen && pending.drag.is_none()
            });
            let steps = (start.elapsed().as_secs_f64() / SHOW_AFTER.as_secs_f64()) as u64;
            if steps > told.swap(steps, std::sync::atomic::Ordering::Relaxed) {
                studio.tell_job(&job, false, None);
            }
            if is_old { ControlFlow::Break(()) } else { job.update(share) }
        };
        let prepared = self.stage.prepare(document, &progress);
        self.studio.jobs.finish(&job);
        if told.into_inner() > 0 {
            self.studio.tell_job(&job, true, prepared.as_ref().err());
        }
        if let Ok(prepared) = &prepared {
            self.failed = None;
            self.studio.note_prepared(prepared.time);
            self.studio.state_number.send_modify(|number| *number += 1);
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

/// A move in the words of moves.json.
fn parse_move(step: &Value) -> Result<Move, SessionError> {
    let mut moves = read_moves(json!({ "moves": [step] }).to_string().as_bytes(), "drag")?;
    moves.pop().ok_or(SessionError::Value { what: "move", cause: "there is none".into() })
}
