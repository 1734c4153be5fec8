//! Muscles: forces that shape the flesh.

use super::Capability;
use crate::{
    locks::Ranked,
    painter,
    studio::Studio,
    wire::{
        Context, GestureId, JobKind, Level, Part, Point2, Point3, Registry, Request, Snapshot, ViewMatrix,
        Work,
    },
};
use anyhow::Context as _;
use glam::{DVec2, DVec3};
use serde::{Deserialize, Serialize};
use sinew::{
    flesh::muscle::Control,
    session::{
        Command, Document, Event, MuscleBench, MuscleChange, MuscleCurve, MusclePlace, SessionError,
        ShownMuscle, control_value_in, muscles_to_json, shown_muscles,
    },
};
use std::sync::Arc;
use ts_rs::TS;

/// The body on which muscles are made.
#[derive(Debug, Default)]
pub struct MusclesCapability {
    bench: Ranked<Option<Arc<MuscleBench>>>,
}

impl Capability for MusclesCapability {
    fn register(&self, registry: &mut Registry) {
        registry.request::<PlaceMuscle>().part::<MusclesPart>();
    }

    /// Muscles are sent as they are in what is shown.
    fn looks_changed(&self, studio: &Studio) {
        studio.raise::<MusclesPart>();
    }
}

/// The body on which muscles are made, as the document shows it now; prepared if need be, as a job that pages see.
fn bench(studio: &Studio) -> Result<(Document, Arc<MuscleBench>), SessionError> {
    let document = studio.document();
    let display = studio.looks().display;
    let stored = studio.capabilities.muscles.bench.lock().clone();
    if let Some(bench) = stored.filter(|bench| bench.serves(&document, &display)) {
        return Ok((document, bench));
    }
    let job = studio.jobs.start(JobKind::Muscles.name(), "Preparing the flesh for muscles");
    studio.report_job(&job, false, None);
    let made = MuscleBench::new(&document, &display).map(Arc::new);
    studio.jobs.finish(&job);
    studio.report_job(&job, true, None);
    let made = made?;
    *studio.capabilities.muscles.bench.lock() = Some(made.clone());
    Ok((document, made))
}

/// Fit a muscle until a vertex is at a place.
#[derive(Debug, Clone, Deserialize, TS)]
pub struct FitTouch {
    muscle: String,
    vertex: usize,
    to: Point3,
}

impl FitTouch {
    /// Leave it for the flesh's thread; one step of history per gesture.
    ///
    /// # Errors
    /// If it is invalid.
    pub fn leave(self, studio: &Studio, gesture: GestureId) -> Result<(), SessionError> {
        let n = studio.document().mesh().n_vertices();
        if self.vertex >= n || !DVec3::from_array(self.to).is_finite() {
            let cause = format!("a fit has a vertex below {n} and a place");
            return Err(SessionError::Value { what: "flesh", cause });
        }
        let fit = move |studio: &Studio| match self.fit(studio, gesture) {
            Ok(()) | Err(SessionError::Cancelled) => {}
            Err(error) => studio.notice(Level::Error, &error.to_string()),
        };
        studio.capabilities.flesh.leave(Box::new(fit));
        Ok(())
    }

    fn fit(&self, studio: &Studio, gesture: GestureId) -> Result<(), SessionError> {
        let (document, bench) = bench(studio)?;
        let display = studio.looks().display;
        let value = |control: &str| control_value_in(&document, &display, control).unwrap_or(0.0);
        let data = &document.flesh.muscles;
        let control = data.set.muscle(&self.muscle).map(|at| data.set.muscles[at].control.clone());
        let control = control.map_err(sinew::flesh::FleshError::from)?;
        let eta = bench.fit(data, &self.muscle, &value, (self.vertex, DVec3::from_array(self.to)))?;
        let change = MuscleChange::Record { muscle: self.muscle.clone(), at: value(&control), eta };
        studio.apply_on(&document.body, &Command::Muscles(change), Some(gesture.of_drag()))
    }
}

/// Put a template on the body under a point of the screen, just strong enough to move the skin a little, with a control
/// parameter of its own; null beside the surface.
#[derive(Debug, Deserialize, TS)]
struct PlaceMuscle {
    /// `bump`, `bulge`, `radial` or `torus`.
    template: String,
    /// `skin`, `bone` or `free`.
    guide: String,
    view: ViewMatrix,
    at: Point2,
}

/// A muscle that was placed.
#[derive(Debug, Serialize, TS)]
struct PlacedMuscle {
    name: String,
}

impl Request for PlaceMuscle {
    const NAME: &'static str = "muscle_place";
    const WORK: Work = Work::Long;
    type Reply = Option<PlacedMuscle>;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Option<PlacedMuscle>> {
        let (studio, Self { template, guide, view, at }) = (context.studio, self);
        let mesh = studio.shown()?.mesh();
        let hit = studio.painter.ask(mesh.clone(), move |selector| painter::pick(selector, &view, at));
        let Some(hit) = hit.flatten() else { return Ok(None) };
        let vertex = mesh.faces()[hit.face as usize][painter::nearest_corner(&hit)] as usize;
        let (document, bench) = bench(studio)?;
        let ray = painter::view(&view).ray(document.mesh(), DVec2::from_array(at));
        let ray = ray.context("the view is not valid")?;
        let set = &document.flesh.muscles.set;
        let is_taken = |name: &str| {
            set.muscles.iter().any(|muscle| muscle.name == name)
                || set.controls.iter().any(|control| control.name == name)
        };
        let name = (1..).map(|k| format!("{template}.{k}")).find(|name| !is_taken(name)).unwrap_or_default();
        let place = MusclePlace { template, guide, vertex, ray: [ray.origin, ray.direction] };
        let muscles = muscles_to_json(&bench.place(&name, &place)?);
        let gesture = Some(studio.next_gesture());
        studio.apply_on(&document.body, &Command::Muscles(MuscleChange::Add { muscles }), gesture)?;
        // Shown as it acts.
        let value = MuscleChange::Value { control: name.clone(), value: 1.0 };
        studio.apply_on(&document.body, &Command::Muscles(value), gesture)?;
        Ok(Some(PlacedMuscle { name }))
    }
}

/// Muscles of the document in what is shown.
#[derive(Debug)]
pub struct MusclesPart;

#[derive(Debug, Serialize, TS)]
pub struct MusclesState {
    muscles: Muscles,
}

/// Muscles in what is shown.
#[derive(Debug, Serialize, TS)]
struct Muscles {
    controls: Vec<MuscleControl>,
    muscles: Vec<ShownMuscle>,
    curves: Vec<MuscleCurve>,
}

/// A control parameter.
#[derive(Debug, Serialize, TS)]
struct MuscleControl {
    name: String,
    /// The angle of a joint it follows; null if it is free.
    follows: Option<String>,
    range: [f64; 2],
    #[ts(type = "number")]
    value: Option<f64>,
}

impl Part for MusclesPart {
    type Value = MusclesState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.flesh || changes.surface)
    }

    fn value(Snapshot { studio, document }: &Snapshot<'_>, (): &mut ()) -> Option<MusclesState> {
        let display = studio.looks().display;
        let data = &document.flesh.muscles;
        let control = |control: &Control| MuscleControl {
            name: control.name.clone(),
            follows: control.source.text(),
            range: control.range,
            value: control_value_in(document, &display, &control.name),
        };
        let controls = data.set.controls.iter().map(control).collect();
        let (muscles, curves) = (shown_muscles(document, &display), data.curves.clone());
        Some(MusclesState { muscles: Muscles { controls, muscles, curves } })
    }
}
