//! Painting stiffness.

use crate::{
    painter,
    wire::{Context, Done, GestureId, Point2, Request, ViewMatrix},
};
use anyhow::{Context as _, ensure};
use glam::DVec3;
use serde::Deserialize;
use sinew::session::{Command, FleshChange};
use ts_rs::TS;

/// Places of a stroke that are looked at in one message.
const MAX_PLACES: usize = 256;

/// Touch the surface with a brush: flesh is `factor` times as stiff there. Messages with the same `stroke` are one step.
#[derive(Debug, Deserialize, TS)]
pub struct PaintStiffness {
    /// 1 takes paint away.
    factor: f64,
    /// 0..1.
    strength: f64,
    view: ViewMatrix,
    at: Vec<Point2>,
    radius: f64,
    #[ts(optional)]
    stroke: Option<u32>,
}

impl Request for PaintStiffness {
    const NAME: &'static str = "paint_stiffness";
    type Reply = Done;

    fn run(self, context: &Context<'_>) -> anyhow::Result<Done> {
        let studio = context.studio;
        let shown = studio.shown()?;
        let Self { factor, strength, view, at: places, radius, stroke } = self;
        ensure!(
            radius.is_finite() && radius > 0.0 && (0.0..=1.0).contains(&strength),
            "a brush needs a radius above 0 and a strength within 0 and 1"
        );
        ensure!(
            (1e-3..=1e3).contains(&factor),
            "a factor must lie between 0.001 and 1000; 1 takes paint away"
        );
        let (before, log) = (studio.session().document().flesh.paint.clone(), factor.ln());
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
        let (vertices, factors): (Vec<u32>, Vec<f32>) =
            painted.context("the brush failed")?.into_iter().unzip();
        if vertices.is_empty() {
            return Ok(Done {});
        }
        let command = Command::Flesh(FleshChange::Paint { vertices, factors });
        let stroke = stroke.map(|drag| GestureId { page: context.page, drag }.of_stroke());
        studio.apply_on(&shown.document.body, &command, stroke)?;
        Ok(Done {})
    }
}
