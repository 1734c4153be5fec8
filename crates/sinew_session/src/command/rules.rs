//! Commands on rules and on what surrounds the skeleton.

use crate::{
    ClipContacts, ContactData, Document, MarkerData, PlaneData, Ruled, RulesData, SessionError, StartData,
    rules::rig_of,
};
use serde::{Deserialize, Serialize};
use sinew_constrain::{compile::has_errors, language::rename};
use sinew_geom::Clip;
use std::sync::Arc;

/// One change of the rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum RulesChange {
    /// Exchange the text, whatever it says.
    Text { text: String },
    /// Put a marker, or move the one of that name.
    Marker { name: String, position: [f64; 3] },
    /// Put a plane, or move the one of that name.
    Plane { name: String, point: [f64; 3], normal: [f64; 3] },
    /// Rename a marker or a plane, in the text as well.
    Rename { name: String, to: String },
    /// Take out a marker or a plane.
    Remove { name: String },
    /// Begin with a moment of a clip, or with rest.
    Start { start: Option<StartData> },
    /// Contacts of a clip set by the user; without any, as detected.
    Contacts { clip: String, fps: f64, contacts: Option<Vec<ContactData>> },
}

impl RulesChange {
    pub(super) fn label(&self) -> String {
        match self {
            Self::Text { .. } => "Edit rules".into(),
            Self::Marker { name, .. } => format!("Place marker {name}"),
            Self::Plane { name, .. } => format!("Place plane {name}"),
            Self::Rename { to, .. } => format!("Rename to {to}"),
            Self::Remove { name } => format!("Remove {name}"),
            Self::Start { start: None } => "Start from rest".into(),
            Self::Start { start: Some(start) } => format!("Start from {}", start.clip),
            Self::Contacts { clip, .. } => format!("Edit contacts of {clip}"),
        }
    }

    pub(super) fn merge_key(&self) -> Option<String> {
        match self {
            Self::Text { .. } => Some("rules".into()),
            Self::Marker { name, .. } | Self::Plane { name, .. } => Some(format!("rules {name}")),
            _ => None,
        }
    }
}

pub(super) fn change(document: &mut Document, change: &RulesChange) -> Result<(), SessionError> {
    let mut rules = (*document.rules).clone();
    match change {
        RulesChange::Text { text } => rules.text.clone_from(text),
        RulesChange::Marker { name, position } => {
            let (name, position) = (name.clone(), *position);
            match rules.markers.iter_mut().find(|marker| marker.name == name) {
                Some(marker) => marker.position = position,
                None => {
                    check_new(document, &rules, &name)?;
                    rules.markers.push(MarkerData { name, position });
                }
            }
        }
        RulesChange::Plane { name, point, normal } => {
            let plane = PlaneData { name: name.clone(), point: *point, normal: *normal };
            match rules.planes.iter_mut().find(|plane| plane.name == *name) {
                Some(old) => *old = plane,
                None => {
                    check_new(document, &rules, name)?;
                    rules.planes.push(plane);
                }
            }
        }
        RulesChange::Rename { name, to } => {
            find(&rules, name)?;
            check_new(document, &rules, to)?;
            let names = rules.markers.iter_mut().map(|m| &mut m.name);
            let names = names.chain(rules.planes.iter_mut().map(|p| &mut p.name));
            names.filter(|own| *own == name).for_each(|own| own.clone_from(to));
            rules.text = rename(&rules.text, name, to);
        }
        RulesChange::Remove { name } => {
            find(&rules, name)?;
            rules.markers.retain(|marker| marker.name != *name);
            rules.planes.retain(|plane| plane.name != *name);
        }
        RulesChange::Start { start } => {
            if let Some(start) = start {
                document.find_clip(&start.clip)?;
                super::within("time", f64::from(start.time), [0.0, 1e6])?;
            }
            rules.start.clone_from(start);
        }
        RulesChange::Contacts { clip, fps, contacts } => {
            document.find_clip(clip)?;
            super::within("frames per second", *fps, [1.0, 1000.0])?;
            rules.contacts.retain(|other| other.clip != *clip);
            if let Some(contacts) = contacts {
                let (clip, contacts) = (clip.clone(), contacts.clone());
                rules.contacts.push(ClipContacts { clip, fps: *fps, contacts });
            }
        }
    }
    rules.check()?;
    document.rules = Arc::new(rules);
    Ok(())
}

fn find(rules: &RulesData, name: &str) -> Result<(), SessionError> {
    let absent = || SessionError::absent("marker or plane", name, rules.names());
    rules.names().any(|own| own == name).then_some(()).ok_or_else(absent)
}

/// A marker must not hide a joint, nor another marker.
fn check_new(document: &Document, rules: &RulesData, name: &str) -> Result<(), SessionError> {
    let is_joint = document.body.rig.as_ref().is_some_and(|rig| rig.find(name).is_some());
    super::check_name("marker", name, is_joint || rules.names().any(|own| own == name))?;
    if name.contains(['"', '\n', '\r']) {
        let (name, cause) = (name.to_owned(), "it has a quotation mark or several lines");
        return Err(SessionError::Name { what: "marker", name, cause });
    }
    Ok(())
}

/// Rules about a clip follow it to its new name, or are removed with it.
pub(crate) fn rename_clip(document: &mut Document, clip: &str, to: Option<&str>) {
    let is_named = |rules: &RulesData| {
        rules.contacts_of(clip).is_some()
            || rules.grounds.iter().any(|ground| ground.clip == clip)
            || rules.start.as_ref().is_some_and(|start| start.clip == clip)
    };
    if !is_named(&document.rules) {
        return;
    }
    let mut rules = (*document.rules).clone();
    match to {
        Some(to) => {
            let contacts = rules.contacts.iter_mut().map(|contacts| &mut contacts.clip);
            let contacts = contacts.chain(rules.grounds.iter_mut().map(|ground| &mut ground.clip));
            let names = contacts.chain(rules.start.iter_mut().map(|start| &mut start.clip));
            names.filter(|own| *own == clip).for_each(|own| to.clone_into(own));
        }
        None => {
            rules.contacts.retain(|contacts| contacts.clip != clip);
            rules.grounds.retain(|ground| ground.clip != clip);
            rules.start = rules.start.filter(|start| start.clip != clip);
        }
    }
    document.rules = Arc::new(rules);
}

/// The pose at which the rules hold, as a clip of one frame. One of the same name that is one is exchanged.
pub(super) fn keep_pose(document: &mut Document, clip: &str) -> Result<(), SessionError> {
    let ruled = Ruled::new(document, None)?;
    let fault = ruled.diagnostics.iter().find(|_| has_errors(&ruled.diagnostics));
    let Some(solved) = ruled.solved.as_ref().filter(|_| fault.is_none()) else {
        let cause = fault.map_or_else(|| "there is no pose".to_owned(), ToString::to_string);
        return Err(SessionError::Value { what: "rules", cause });
    };
    let kept = Clip::from_pose(clip, rig_of(document)?, &solved.pose)?;
    super::character::store_pose(document, kept)
}
