//! Stored poses: reaching with them, and sculpting their detail.

use super::{Capability, Shape};
use crate::{
    engine::Engine,
    locks::Ranked,
    painter,
    studio::{Looks, Studio},
    wire::{
        Choices, Context, Done, Gesture, GestureId, Part, Point2, Point3, Registry, Request, Snapshot,
        ViewMatrix,
    },
};
use anyhow::{Context as _, bail};
use glam::DVec3;
use serde::{Deserialize, Serialize};
use sinew::{
    deform::{
        examples::{Objective, Optimiser, Reorder, Term},
        select::{SculptBrush, SculptOp},
    },
    session::{Command, Display, Document, Event, Example, Reach, ReachGoal, SessionError, reach_objective},
};
use std::{collections::BTreeMap, sync::Arc};
use ts_rs::TS;

/// Touches of a brush that are looked at in one message.
const MAX_PLACES: usize = 256;

/// A pose that is being reached for: shown, but not done.
#[derive(Debug, Default)]
pub struct ExamplesCapability {
    search: Ranked<Search>,
}

#[derive(Debug, Default)]
struct Search {
    reach: Option<Reach>,
    /// Rises when it is ended, so that a search that runs meanwhile is forgotten.
    n_ended: u64,
}

impl Capability for ExamplesCapability {
    fn register(&self, registry: &mut Registry) {
        registry
            .request::<ReachEnd>()
            .request::<Sculpt>()
            .gesture::<ReachGoal>()
            .part::<ExamplesPart>()
            .part::<ReachPart>()
            .choices::<SearchChoices>();
    }

    fn reset(&self, studio: &Studio) {
        self.end(studio);
    }

    fn is_shown(&self) -> bool {
        self.search.lock().reach.is_some()
    }

    fn shape(
        &self,
        engine: &mut Engine<'_>,
        document: &Document,
        looks: &Looks,
    ) -> Option<Result<Shape, SessionError>> {
        let reach = self.search.lock().reach.clone()?;
        if !reach.serves(document) {
            // The document has changed meanwhile.
            self.end(engine.studio);
            return None;
        }
        if looks.display != Display::Posed {
            return None;
        }
        let prepared = engine.prepare_to_show(document);
        Some(
            prepared.and_then(|prepared| {
                Ok((prepared.frame_of(&reach.pose(), reach.detail().as_deref())?, None))
            }),
        )
    }
}

impl ExamplesCapability {
    /// End the search; what it had found.
    fn end(&self, studio: &Studio) -> Option<Reach> {
        let mut search = self.search.lock();
        search.n_ended += 1;
        let reach = search.reach.take();
        drop(search);
        studio.raise::<ReachPart>();
        reach
    }
}

impl Gesture for ReachGoal {
    const NAME: &'static str = "reach";

    fn apply(self, engine: &mut Engine<'_>, _: GestureId) -> Result<(), SessionError> {
        let studio = engine.studio;
        let document = studio.document();
        engine.prepare(&document)?;
        let capability = &studio.capabilities.examples;
        // The search uses a copy, so that no other request waits for it.
        let (before, n_ended) = {
            let search = capability.search.lock();
            (search.reach.clone(), search.n_ended)
        };
        let found = before.filter(|reach| reach.serves(&document)).map_or_else(|| Reach::new(&document), Ok);
        let found = found.and_then(|mut reach| {
            crate::locks::check_none_held();
            let followed = reach.follow(&self, &document.search);
            followed.map(|()| reach)
        });
        let stored = found.map(|reach| {
            let mut search = capability.search.lock();
            if search.n_ended == n_ended {
                search.reach = Some(reach);
            }
        });
        studio.raise::<ReachPart>();
        stored
    }
}

/// Take the pose that was reached, as one step, or drop it without a trace.
#[derive(Debug, Deserialize, TS)]
struct ReachEnd {
    accept: bool,
}

impl Request for ReachEnd {
    const NAME: &'static str = "reach_end";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let reach = studio.capabilities.examples.end(studio);
        studio.ring();
        match (reach, self.accept) {
            (Some(reach), true) => {
                let mut session = studio.session();
                if !reach.serves(session.document()) {
                    bail!("the document has changed in the meantime; search again");
                }
                session.apply(&reach.command(), None)?;
                Ok(Done {})
            }
            (None, true) => bail!("there is no target; put one on a handle first"),
            (_, false) => Ok(Done {}),
        }
    }
}

/// Touch the posed surface with a brush: offsets along the normal, in the present pose and in the stored one that it is.
/// Messages with the same `stroke` are one step of history.
#[derive(Debug, Deserialize, TS)]
struct Sculpt {
    /// The stored pose that the present one is.
    example: Option<String>,
    op: BrushOp,
    view: ViewMatrix,
    at: Vec<Point2>,
    radius: f64,
    /// 0..1.
    strength: f64,
    #[ts(optional)]
    stroke: Option<u32>,
}

/// What a sculpting brush does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
#[ts(rename = "SculptOp")]
enum BrushOp {
    Push,
    Pull,
    Smooth,
}

impl Request for Sculpt {
    const NAME: &'static str = "sculpt";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let shown = studio.shown()?;
        if studio.looks().display != Display::Posed || studio.capabilities.is_other_shown() {
            bail!(
                "detail is sculpted on the pose; show it, and end what is shown in its place (flesh, an actor, a pose \
                 that is being reached for)"
            );
        }
        if !(self.radius.is_finite() && self.radius > 0.0 && (0.0..=1.0).contains(&self.strength)) {
            bail!("a brush needs a radius above 0 and a strength within 0 and 1");
        }
        let op = match self.op {
            BrushOp::Push => SculptOp::Push,
            BrushOp::Pull => SculptOp::Pull,
            BrushOp::Smooth => SculptOp::Smooth,
        };
        let brush = SculptBrush { op, radius: self.radius, strength: self.strength };
        let (view, places) = (self.view, self.at);
        let before = studio.session().document().detail.clone();
        let touched = studio.painter.ask(shown.mesh(), move |selector| {
            let n = selector.mesh().n_vertices();
            let mut offsets = before.map_or_else(|| vec![0.0; n], |layer| layer.to_vec());
            let mut touched = BTreeMap::new();
            for place in places.into_iter().take(MAX_PLACES) {
                let Some(hit) = painter::pick(selector, &view, place) else { continue };
                for (v, offset) in selector.sculpt(hit.face, hit.barycentric, &brush, &offsets) {
                    offsets[v as usize] = offset;
                    touched.insert(v, offset);
                }
            }
            touched
        });
        let (vertices, offsets): (Vec<u32>, Vec<f32>) =
            touched.context("the brush failed")?.into_iter().unzip();
        if vertices.is_empty() {
            return Ok(Done {});
        }
        let command = Command::Sculpt { example: self.example, vertices, offsets };
        let stroke = self.stroke.map(|drag| GestureId { page: context.page, drag }.of_stroke());
        studio.apply_on(&shown.document.body, &command, stroke)?;
        Ok(Done {})
    }
}

/// Stored poses.
#[derive(Debug)]
pub struct ExamplesPart;

#[derive(Debug, Serialize, TS)]
pub struct ExamplesState {
    examples: Vec<ExampleInfo>,
}

/// A stored pose.
#[derive(Debug, Serialize, TS)]
struct ExampleInfo {
    name: String,
    /// Address of a small picture.
    thumbnail: Option<String>,
    /// Whether it has a detail layer.
    detail: bool,
}

impl Part for ExamplesPart {
    type Value = ExamplesState;
    type Sent = ();

    fn follows(event: &Event) -> bool {
        matches!(event, Event::Changed(changes) if changes.examples)
    }

    fn value(Snapshot { document, .. }: &Snapshot<'_>, (): &mut ()) -> Option<ExamplesState> {
        let example = |(index, example): (usize, &Arc<Example>)| {
            let png = example.thumbnail.as_ref();
            let thumbnail = png.map(|png| format!("/thumbnail/{index}?{:016x}", digest(png)));
            ExampleInfo { name: example.name.clone(), thumbnail, detail: example.detail.is_some() }
        };
        Some(ExamplesState { examples: document.examples.iter().enumerate().map(example).collect() })
    }
}

/// Tells pictures apart, so that a browser does not show an old one (FNV-1a).
pub fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

/// The pose that is being reached for.
#[derive(Debug)]
pub struct ReachPart;

#[derive(Debug, Serialize, TS)]
pub struct ReachState {
    /// Null if nothing is reached for.
    pub reach: Option<ReachInfo>,
}

/// A pose that is being reached for.
#[derive(Debug, Serialize, TS)]
#[ts(rename = "Reach")]
pub struct ReachInfo {
    targets: Vec<ReachTarget>,
    pin_others: bool,
    /// One for each example, in order.
    weights: Vec<f64>,
    /// Value of each term of the objective.
    #[ts(type = "[string, number][]")]
    terms: Vec<(&'static str, f64)>,
    objective: String,
    energy: f64,
    evaluations: usize,
    ms: f64,
    reached: bool,
    /// Share of the body by which the worst target is missed.
    missed: f64,
}

/// Where a handle should be.
#[derive(Debug, Serialize, TS)]
struct ReachTarget {
    handle: String,
    position: Point3,
    /// Where the handle is.
    at: Point3,
    pin: bool,
    distance: f64,
}

impl Part for ReachPart {
    type Value = ReachState;
    type Sent = ();

    fn value(snapshot: &Snapshot<'_>, (): &mut ()) -> Option<ReachState> {
        let report = snapshot.studio.capabilities.examples.search.lock().reach.as_ref().map(Reach::report);
        let Some(report) = report else { return Some(ReachState { reach: None }) };
        let target = |(handle, position, at, pin): &(String, DVec3, DVec3, bool)| ReachTarget {
            handle: handle.clone(),
            position: position.to_array(),
            at: at.to_array(),
            pin: *pin,
            distance: position.distance(*at),
        };
        let reach = ReachInfo {
            targets: report.targets.iter().map(target).collect(),
            pin_others: report.pin_others,
            weights: report.weights.iter().map(|(_, weight)| *weight).collect(),
            terms: report.terms.iter().map(|(term, value)| (term.name(), *value)).collect(),
            energy: report.terms.iter().map(|(_, value)| value).sum::<f64>(),
            objective: report.objective,
            evaluations: report.evaluations,
            ms: report.time.as_secs_f64() * 1e3,
            reached: report.is_reached,
            missed: report.missed,
        };
        Some(ReachState { reach: Some(reach) })
    }
}

/// What can be chosen of the search.
#[derive(Debug)]
pub struct SearchChoices;

#[derive(Debug, Serialize, TS)]
pub struct SearchWords {
    search: SearchNames,
}

/// Names of what can be chosen of the search.
#[derive(Debug, Serialize, TS)]
struct SearchNames {
    #[ts(type = "string[]")]
    optimisers: Vec<&'static str>,
    #[ts(type = "string[]")]
    orders: Vec<&'static str>,
    terms: Vec<TermInfo>,
    /// The default while the pointer drags targets.
    objective: String,
    /// The default of motions.
    objective_of_motion: String,
}

/// A term of an objective.
#[derive(Debug, Clone, Serialize, TS)]
struct TermInfo {
    name: &'static str,
    meaning: &'static str,
    /// Its default factor.
    factor: f64,
}

impl Choices for SearchChoices {
    type Value = SearchWords;

    fn value(_: &Studio) -> SearchWords {
        let term = |term: Term| TermInfo {
            name: term.name(),
            meaning: term.meaning(),
            factor: term.default_factor(),
        };
        SearchWords {
            search: SearchNames {
                optimisers: Optimiser::ALL.map(Optimiser::name).to_vec(),
                orders: Reorder::ALL.map(Reorder::name).to_vec(),
                terms: Term::ALL.map(term).to_vec(),
                objective: reach_objective().to_string(),
                objective_of_motion: Objective::for_motion().to_string(),
            },
        }
    }
}
