//! The thread that finds shapes: always the newest drag, never a queue.

use crate::{
    capabilities::{Capability, Shape, SurfacePart, WorkPart},
    frames::{Drawn, Geometry},
    studio::{Drag, Looks, Shown, Studio},
    wire::{GestureId, JobKind, Level},
};
use sinew::{
    deform::Method,
    session::{Display, Document, Prepared, SessionError, Stage, compute_stretch, is_hidden},
};
use std::{
    ops::ControlFlow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// Preparation that takes longer is shown as a job.
const SHOW_AFTER: Duration = Duration::from_millis(300);
/// The pointer rests if nothing came for this long.
const REST: Duration = Duration::from_millis(150);
/// Pages whose newest drag is known; others have been gone for long.
const MAX_PAGES: usize = 64;

/// Show what there is to show, until the server ends.
pub fn run(studio: &Studio) {
    let mut engine = Engine {
        studio,
        stage: Stage::default(),
        geometry: None,
        drags: Vec::new(),
        seen: 0,
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
        pending.dragging = drag.as_ref().map(|drag| drag.gesture.page);
        if !pending.drags.is_empty() {
            // The next is taken up in the next turn.
            seen = seen.wrapping_sub(1);
        }
        drop(pending);
        engine.seen = seen;
        // A fault of ours must not take the user's session with it.
        if catch_unwind(AssertUnwindSafe(|| engine.turn(drag))).is_err() {
            engine.stage = Stage::default();
            studio.notice(Level::Error, FAULT);
        }
        studio.drag_done();
    }
}

/// Message for errors of the program itself.
pub const FAULT: &str =
    "internal error; your work is safe. Undo the last step, and please report what you did";

/// What finds shapes.
pub struct Engine<'a> {
    /// What all pages share.
    pub studio: &'a Studio,
    /// What is prepared of the document.
    pub stage: Stage,
    /// What is drawn of the body it was made of.
    geometry: Option<(Document, u32, Arc<Geometry>)>,
    /// The newest drag of each page.
    drags: Vec<GestureId>,
    /// The tick of this turn.
    seen: u64,
    /// Whether the geometry has not been shown yet.
    is_new: bool,
    /// Whether the user cancelled the last preparation.
    is_stopped: bool,
    /// The last failure, so that it is reported once.
    failed: Option<String>,
}

impl Engine<'_> {
    /// Do what there is to do.
    fn turn(&mut self, drag: Option<Drag>) {
        if let Some(drag) = drag {
            self.drag(drag);
            self.studio.drag_done();
        }
        self.show();
        // While flesh runs, the next shape would only stop it again.
        if !self.studio.capabilities.flesh.is_shown() && self.is_newest() {
            self.prepare_ahead();
        }
        if self.studio.looks().refine && self.studio.is_idle(self.seen, REST) {
            self.refine();
        }
    }

    fn is_newest(&self) -> bool {
        self.studio.pending().tick == self.seen
    }

    /// Take up a move in progress.
    fn drag(&mut self, drag: Drag) {
        if let Some(step) = drag.step {
            // Every drag is answered by a frame, even if nothing moved: the page waits for it.
            self.drags.retain(|other| other.page != drag.gesture.page);
            self.drags.push(drag.gesture);
            if self.drags.len() > MAX_PAGES {
                self.drags.remove(0);
            }
            match step.apply(self, drag.gesture) {
                Ok(()) => self.failed = None,
                Err(SessionError::Cancelled) => {}
                Err(error) => self.fail(&error.to_string()),
            }
        }
        if drag.end {
            Self::release(self.studio, drag.gesture);
            self.studio.session().end_drag(drag.gesture.of_drag());
        }
    }

    /// A gesture has ended, or was taken back.
    pub fn release(studio: &Studio, gesture: GestureId) {
        studio.capabilities.list().iter().for_each(|capability| capability.release(gesture));
    }

    /// Find the present shape and give it to the pages. Work that has become old is stopped.
    fn show(&mut self) {
        let studio = self.studio;
        let document = studio.document();
        let looks = studio.looks();
        for capability in studio.capabilities.list() {
            capability.observe(self, &document, &looks);
        }
        let shapes = studio.capabilities.by_precedence();
        let own = shapes.iter().find_map(|capability| capability.shape(self, &document, &looks));
        let found = own.unwrap_or_else(|| self.own_shape(&document, &looks));
        let shape = match found {
            // Something newer is to be done.
            Err(SessionError::Cancelled) if !self.is_stopped => return,
            Err(error) => {
                self.fail(&match error {
                    SessionError::Cancelled => {
                        "preparing the surface was cancelled; move a handle to start it again".to_owned()
                    }
                    error => error.to_string(),
                });
                self.stage.show(&document, &Display::Rest, &go_on).map(|frame| (frame, None))
            }
            found => found,
        };
        let published = shape.and_then(|shape| self.publish(document, shape, looks.stress));
        if let Err(error) = published {
            self.fail(&error.to_string());
        }
    }

    /// The shape of the document itself.
    fn own_shape(&mut self, document: &Document, looks: &Looks) -> Result<Shape, SessionError> {
        if looks.display == Display::Posed && !document.pose.is_empty() {
            self.prepare_to_show(document)?;
        }
        Ok((self.stage.show(document, &looks.display, &go_on)?, None))
    }

    fn publish(
        &mut self,
        document: Document,
        (mut frame, cells): Shape,
        with_stress: bool,
    ) -> Result<(), SessionError> {
        let (revision, geometry) = self.geometry(&document)?;
        let mesh = document.mesh();
        geometry.shade(&mut frame, mesh.faces());
        let stretch = with_stress.then(|| compute_stretch(mesh.positions(), &frame.positions, mesh.faces()));
        let twin = self.studio.capabilities.fit.twin(self.studio, &document)?;
        let (handles, paint) = (document.handles.clone(), document.flesh.paint.clone());
        let drags = self.drags.clone();
        let drawn = Drawn { revision, geometry, frame, stretch, drags, handles, twin, paint, cells };
        let before = self.studio.shown().ok();
        let shown = Arc::new(Shown::new(drawn, document, before.as_deref()));
        self.studio.publish(shown.clone());
        // The first click on a new surface should not wait for its search tree.
        if std::mem::take(&mut self.is_new) {
            self.studio.painter.warm(shown.mesh());
        }
        Ok(())
    }

    fn geometry(&mut self, document: &Document) -> Result<(u32, Arc<Geometry>), SessionError> {
        if let Some((before, revision, geometry)) =
            self.geometry.as_mut().filter(|(before, ..)| looks_same(before, document))
        {
            *before = document.clone();
            return Ok((*revision, geometry.clone()));
        }
        self.is_new = true;
        let is_first = self.geometry.is_none();
        let revision = if is_first { self.studio.revision() } else { self.studio.next_revision() };
        let rest = self.stage.show(document, &Display::Rest, &go_on)?;
        let geometry = Arc::new(Geometry::new(&document.body, is_hidden(document), rest));
        self.geometry = Some((document.clone(), revision, geometry.clone()));
        self.studio.raise::<SurfacePart>();
        Ok((revision, geometry))
    }

    /// Refine the pose while idle; stopped when something new is to be done.
    fn refine(&mut self) {
        let document = self.studio.document();
        let looks = self.studio.looks();
        let is_own = looks.display == Display::Posed && !self.studio.capabilities.is_other_shown();
        // What a skin shows is what is wanted of it.
        if !is_own || document.pose.is_empty() || document.edit.method == Method::Skin {
            return;
        }
        let Some(prepared) = self.stage.ready(&document).cloned() else { return };
        let (studio, seen) = (self.studio, self.seen);
        let progress = |_| match studio.pending().tick == seen {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        let refined =
            prepared.refined_frame(&document.pose, document.detail.as_ref().map(|d| &d[..]), &progress);
        match refined.and_then(|frame| self.publish(document, (frame, None), looks.stress)) {
            Ok(()) | Err(SessionError::Cancelled) => {}
            Err(error) => self.fail(&error.to_string()),
        }
    }

    /// Prepare handles while idle, so that the first drag starts at once.
    fn prepare_ahead(&mut self) {
        let document = self.studio.document();
        let has_handles = document.handles.iter().any(|handle| !handle.vertices.is_empty());
        if has_handles && !self.is_stopped && self.stage.ready(&document).is_none() {
            // What is wrong is reported when it matters: when something is moved.
            let _ = self.prepare_to_show(&document);
        }
    }

    /// Prepare the surface for handles, as a job if it takes long.
    ///
    /// # Errors
    /// If it cannot be prepared, or the user cancels it.
    pub fn prepare(&mut self, document: &Document) -> Result<Arc<Prepared>, SessionError> {
        self.prepare_for(document, None)
    }

    /// The same, but stopped when something new is to be done.
    ///
    /// # Errors
    /// If it cannot be prepared, or is stopped.
    pub fn prepare_to_show(&mut self, document: &Document) -> Result<Arc<Prepared>, SessionError> {
        self.prepare_for(document, Some(self.seen))
    }

    fn prepare_for(&mut self, document: &Document, seen: Option<u64>) -> Result<Arc<Prepared>, SessionError> {
        if let Some(prepared) = self.stage.ready(document) {
            return Ok(prepared.clone());
        }
        let (start, studio) = (Instant::now(), self.studio);
        let job = studio.jobs.start(JobKind::Prepare.name(), "Preparing the surface");
        let reported = AtomicU64::new(0);
        let progress = |share: f64| {
            let is_old = seen.is_some_and(|seen| {
                let pending = studio.pending();
                pending.tick != seen && pending.drags.is_empty()
            });
            let steps = (start.elapsed().as_secs_f64() / SHOW_AFTER.as_secs_f64()) as u64;
            if steps > reported.swap(steps, Ordering::Relaxed) {
                studio.report_job(&job, false, None);
            }
            if is_old { ControlFlow::Break(()) } else { job.update(share) }
        };
        let prepared = self.stage.prepare(document, &progress);
        studio.jobs.finish(&job);
        self.is_stopped = job.is_cancelled();
        if reported.into_inner() > 0 {
            studio.report_job(&job, true, prepared.as_ref().err());
        }
        if let Ok(prepared) = &prepared {
            self.failed = None;
            studio.note_prepared(prepared.time);
            studio.raise::<WorkPart>();
        }
        prepared
    }

    /// Report a failure, once.
    pub fn fail(&mut self, message: &str) {
        if self.failed.as_deref() != Some(message) {
            self.failed = Some(message.to_owned());
            self.studio.notice(Level::Error, message);
        }
    }
}

fn go_on(_: f64) -> ControlFlow<()> {
    crate::locks::check_none_held();
    ControlFlow::Continue(())
}

/// Whether what is drawn of two documents is the same: a clip that was baked changes neither mesh nor surface.
fn looks_same(a: &Document, b: &Document) -> bool {
    let (old, new) = (&a.body, &b.body);
    a.hidden == b.hidden && (Arc::ptr_eq(old, new) || (old.mesh == new.mesh && old.surface == new.surface))
}
