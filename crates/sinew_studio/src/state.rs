//! The document as the page shows it, without its vertices.

use crate::{
    fit,
    news::{Topic, Versions},
    studio::Studio,
};
use glam::DVec3;
use serde_json::{Map, Value, json};
use sinew::{
    deform::{Frames, Method},
    geom::{Clip, Handle, Material, Move, operators::LaplacianKind, sample::Sample},
    session::{Display, Document, EditChange, History, Job},
};
use std::sync::Arc;

/// The first message to a page.
pub fn welcome(studio: &Studio) -> Value {
    json!({
        "type": "welcome",
        "version": env!("CARGO_PKG_VERSION"),
        "session": studio.session_id,
        "root": studio.files.root().display().to_string(),
        "samples": Sample::ALL.map(Sample::name),
        "methods": Method::ALL.map(Method::name),
        "laplacians": LaplacianKind::ALL.map(LaplacianKind::name),
        "frames": Frames::ALL.map(Frames::name),
        "search": crate::examples::choices(),
        "language": crate::rules::language(),
        "max_upload": crate::files::MAX_UPLOAD,
    })
}

/// What a page has heard of the state, so that it is told only what it lacks.
#[derive(Debug, Default)]
pub struct Told {
    /// Nothing, if the page is new.
    versions: Option<Versions>,
    first: usize,
    steps: Vec<Arc<str>>,
    moves: Arc<Vec<Move>>,
    warnings: Vec<String>,
    fit: Option<(u32, bool)>,
}

impl Told {
    /// A `state` message with the parts that changed since the last: all of them for the first. Of the lists that grow
    /// with every step, the history and the moves, only what is new behind what the page has.
    pub fn news(&mut self, studio: &Studio) -> Value {
        // Under the lock, so that they are of the document that is told.
        let session = studio.session();
        let versions = *studio.news.borrow();
        let before = self.versions.replace(versions);
        let is_news = |topic| before.is_none_or(|before| versions.differs(&before, topic));
        let mut news = Map::new();
        news.insert("type".into(), json!("state"));
        let mut put = |part: Value| {
            if let Value::Object(part) = part {
                news.extend(part);
            }
        };
        let document = {
            if is_news(Topic::File) {
                let path = session.path().map(|path| path.display().to_string());
                let name = &session.document().name;
                put(json!({
                    "name": name, "path": path, "dirty": session.is_dirty(), "document": studio.n_opened()
                }));
            }
            if is_news(Topic::History) {
                put(json!({ "history": self.history(session.history(), before.is_none()) }));
            }
            session.document().clone()
        };
        drop(session);
        if is_news(Topic::Pose) {
            put(json!({
                "n_moves": document.pose.len(), "moves": self.moves(&document, before.is_none()),
                "detail": document.detail.is_some(),
            }));
        }
        let parts: [(Topic, &dyn Fn() -> Value); 16] = [
            (Topic::Surface, &|| surface(studio, &document)),
            (Topic::Handles, &|| json!({ "handles": handles(&document) })),
            (Topic::Examples, &|| json!({ "examples": examples(&document) })),
            (
                Topic::Clips,
                &|| json!({ "clips": document.clips.iter().map(|c| clip(c)).collect::<Vec<_>>() }),
            ),
            (Topic::Edit, &|| json!({ "edit": EditChange::of_all(&document.edit) })),
            (Topic::Motion, &|| crate::examples::motion(&document)),
            (Topic::Reach, &|| json!({ "reach": crate::examples::reach(studio) })),
            (
                Topic::Rules,
                &|| json!({ "rules": *document.rules, "grounds": crate::rules::grounds(&document) }),
            ),
            (Topic::Ruled, &|| json!({ "ruled": crate::rules::state(studio) })),
            (Topic::Puppet, &|| json!({ "puppet": crate::puppet::state(&document) })),
            (Topic::Actor, &|| json!({ "actor": crate::puppet::actor(studio) })),
            (Topic::Act, &|| json!({ "act": crate::puppet::act(studio) })),
            (
                Topic::Flesh,
                &|| json!({ "flesh": crate::flesh::state(&document), "rigs": crate::flesh::rigs(studio, &document) }),
            ),
            (Topic::Fleshed, &|| json!({ "fleshed": crate::flesh::live(studio) })),
            (Topic::Looks, &|| looks(studio)),
            (Topic::Work, &|| work(studio)),
        ];
        parts.into_iter().filter(|(topic, _)| is_news(*topic)).for_each(|(_, part)| put(part()));
        // Whether it still belongs to the document depends on much of it.
        let fit = fit::summary(studio, &document);
        if before.is_none() || fit != self.fit {
            put(json!({ "fit": fit::state(studio, &document) }));
            self.fit = fit;
        }
        // Some come with time, such as a disk that is full.
        let warnings = studio.warnings();
        if before.is_none() || warnings != self.warnings {
            put(json!({ "warnings": warnings }));
            self.warnings = warnings;
        }
        Value::Object(news)
    }

    fn history(&mut self, history: &History, is_new: bool) -> Value {
        // Those that were forgotten meanwhile are not among those the page keeps.
        let gone = (history.first().saturating_sub(self.first)).min(self.steps.len());
        self.steps.drain(..gone);
        if is_new || history.first() < self.first {
            self.steps.clear();
        }
        let labels: Vec<Arc<str>> = history.labels().cloned().collect();
        let keep = labels.iter().zip(&self.steps).take_while(|(a, b)| a == b).count();
        let more: Vec<&str> = labels[keep..].iter().map(|label| &**label).collect();
        let value = json!({ "first": history.first(), "keep": keep, "steps": more, "at": history.at() });
        (self.first, self.steps) = (history.first(), labels);
        value
    }

    fn moves(&mut self, document: &Document, is_new: bool) -> Value {
        let same = document.pose.iter().zip(self.moves.iter()).take_while(|(a, b)| a == b).count();
        let keep = if is_new { 0 } else { same };
        self.moves = document.pose.clone();
        json!({ "keep": keep, "moves": moves(&document.pose[keep..]) })
    }
}

fn surface(studio: &Studio, document: &Document) -> Value {
    let mesh = document.mesh();
    // Another run of the server counts its geometries from the beginning again.
    let version = format!("{}-{}", studio.session_id, studio.revision());
    json!({
        "vertices": mesh.n_vertices(),
        "faces": mesh.n_faces(),
        "joints": document.body.rig.as_ref().map_or(0, |rig| rig.n_joints()),
        "bounds": mesh.bounds().map(|corner| corner.to_array()),
        "revision": studio.revision(),
        "materials": materials(&document.body.surface.materials, &version),
    })
}

fn looks(studio: &Studio) -> Value {
    let looks = studio.looks();
    json!({
        "display": display(&looks.display), "stress": looks.stress, "refine": looks.refine,
        "compare": looks.compare, "cells": looks.cells,
    })
}

fn work(studio: &Studio) -> Value {
    json!({
        "jobs": studio.jobs.list().iter().map(job).collect::<Vec<_>>(),
        "recoveries": recoveries(studio),
        "prepare_ms": studio.prepare_ms(),
    })
}

fn job(job: &Job) -> Value {
    json!({ "job": job.id(), "title": job.title(), "share": job.share(), "note": job.note(), "done": false })
}

fn handles(document: &Document) -> Vec<Value> {
    let handle = |(index, handle): (usize, &Arc<Handle>)| {
        json!({
            "name": handle.name,
            "vertices": handle.vertices.len(),
            "center": handle.center.to_array(),
            "middle": middle(document, handle).to_array(),
            "secondary": handle.secondary,
            "color": color(index),
        })
    };
    document.handles.iter().enumerate().map(handle).collect()
}

/// Middle of a handle's vertices at rest: what targets and paths are for.
pub fn middle(document: &Document, handle: &Handle) -> DVec3 {
    let positions = document.mesh().positions();
    let sum: DVec3 = handle.vertices.iter().filter_map(|&v| positions.get(v as usize)).sum();
    if handle.vertices.is_empty() { handle.center } else { sum / handle.vertices.len() as f64 }
}

/// Colours far from each other for neighbours in the list: hues by the golden angle, two lightnesses.
fn color(index: usize) -> String {
    let hue = (index as f64 * 137.508) % 360.0;
    let lightness = if index.is_multiple_of(2) { 0.55 } else { 0.68 };
    let chroma = (1.0 - f64::abs(2.0 * lightness - 1.0)) * 0.62;
    let channel = |offset: f64| {
        let k = (offset + hue / 30.0) % 12.0;
        let value = lightness - chroma / 2.0 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0))
}

fn moves(moves: &[Move]) -> Value {
    let file = sinew::formats::moves::write_moves(moves);
    let mut file: Value = serde_json::from_slice(&file).unwrap_or_default();
    file["moves"].take()
}

fn examples(document: &Document) -> Vec<Value> {
    let thumbnail = |index: usize, png: &[u8]| format!("/thumbnail/{index}?{:016x}", digest(png));
    let example = |(index, example): (usize, &std::sync::Arc<sinew::session::Example>)| {
        let url = example.thumbnail.as_ref().map(|png| thumbnail(index, png));
        json!({ "name": example.name, "thumbnail": url, "detail": example.detail.is_some() })
    };
    document.examples.iter().enumerate().map(example).collect()
}

/// Tells pictures apart, so that a browser does not show an old one (FNV-1a).
pub fn digest(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}

fn clip(clip: &Clip) -> Value {
    json!({ "name": clip.name, "duration": clip.duration_secs(), "fps": clip.morph_rate().unwrap_or(30.0) })
}

fn materials(materials: &[Material], version: &str) -> Vec<Value> {
    let default = Material::default();
    let list = if materials.is_empty() { std::slice::from_ref(&default) } else { materials };
    let material = |(index, material): (usize, &Material)| {
        json!({
            "name": material.name,
            "color": material.base_color,
            "image": material.base_color_image.as_ref().map(|_| format!("/image/{index}?{version}")),
            "metallic": material.metallic,
            "roughness": material.roughness,
            "double_sided": material.double_sided,
        })
    };
    list.iter().enumerate().map(material).collect()
}

fn display(display: &Display) -> Value {
    match display {
        Display::Rest => json!({ "what": "rest", "clip": null, "time": 0.0 }),
        Display::Posed => json!({ "what": "posed", "clip": null, "time": 0.0 }),
        Display::Ruled => json!({ "what": "ruled", "clip": null, "time": 0.0 }),
        Display::Jointed => json!({ "what": "jointed", "clip": null, "time": 0.0 }),
        Display::Clip { clip, time } => json!({ "what": "clip", "clip": clip, "time": time }),
    }
}

fn recoveries(studio: &Studio) -> Vec<Value> {
    let recovery = |recovery: &sinew::session::Recovery| {
        let age = recovery.changed.elapsed().unwrap_or_default().as_secs();
        json!({ "recovery": recovery.id(), "title": recovery.title, "age_secs": age })
    };
    studio.recoveries().iter().map(recovery).collect()
}
