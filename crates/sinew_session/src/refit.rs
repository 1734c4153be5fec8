//! The refit step of the motion stack: a clip of the skeleton on another ground, or on longer limbs.
//!
//! # Source
//! The method is that of `sinew_constrain::clip`; this file defines its inputs and how the document changes.

mod numbers;

pub use numbers::{CopiedNumbers, GroundNumbers, HandNumbers, RefitNumbers, StanceNumbers};

use crate::{
    ClipGround, ContactData, DEFAULT_FPS, Document, SessionError, motion::remove_clip, rules::rig_of,
};
use glam::DVec3;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sinew_constrain::{
    clip::{
        ClipRules, Contact, FootPart, Motion, Refit, RefitParams, SkinPoints, Worst, detect_contacts, refit,
        stretch_limbs,
    },
    compile::{Scene, has_errors},
    language::{Severity, parse},
};
use sinew_formats::paths::GroundData;
use sinew_geom::{Character, Clip, GeomError, Pose, Rig, Skin, Warnings, body_map::BodyMap, path::Ground};
use std::{ops::ControlFlow, sync::Arc};

/// What a user can choose about refitting a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
#[serde(default, deny_unknown_fields)]
pub struct RefitSettings {
    /// The clip, by name.
    pub clip: String,
    /// Name of the result; a clip of that name is exchanged.
    pub to: String,
    /// Another ground; that of the clip if absent.
    pub ground: Option<GroundData>,
    /// Whether the ground lies along the way of the clip, rather than along +Z.
    pub along_way: bool,
    /// Whether the rules of the document hold in it.
    pub rules: bool,
    /// Length of the legs, relative to what it was.
    pub legs: f64,
    /// Length of the arms.
    pub arms: f64,
}

impl Default for RefitSettings {
    fn default() -> Self {
        let (clip, to) = (String::new(), String::new());
        Self { clip, to, ground: None, along_way: true, rules: false, legs: 1.0, arms: 1.0 }
    }
}

/// When feet stand in a clip.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContactTrack {
    /// The clip, by name.
    pub clip: String,
    /// Frames per second in which they count.
    pub fps: f64,
    /// Number of frames.
    pub frames: usize,
    /// Joints that carry feet.
    pub feet: Vec<String>,
    /// All contacts.
    pub contacts: Vec<ContactData>,
    /// Whether the user changed them.
    pub edited: bool,
}

/// The contacts of a clip: as the user changed them, else as detected.
///
/// # Errors
/// If there is no such clip or skeleton.
pub fn find_contact_track(document: &Document, clip: &str) -> Result<ContactTrack, SessionError> {
    let rig = rig_of(document)?;
    let source = &document.clips[document.find_clip(clip)?];
    let edited = document.rules.contacts_of(clip);
    let fps = edited.map_or_else(|| rate_of(source), |edited| edited.fps);
    let motion = Motion::from_clip(rig, source, fps)?;
    let (found, feet) = detect_contacts(rig, &motion, &RefitParams::default())?;
    let data = |contact: &Contact| ContactData {
        foot: contact.foot.clone(),
        heel: contact.part == FootPart::Heel,
        frames: [contact.frames.start, contact.frames.end - 1],
    };
    let contacts = edited.map_or_else(|| found.iter().map(data).collect(), |edited| edited.contacts.clone());
    let (clip, frames) = (clip.to_owned(), motion.n_frames());
    Ok(ContactTrack { clip, fps, frames, feet, contacts, edited: edited.is_some() })
}

/// The document with a clip refitted, and with longer limbs if these are asked for. `progress` is given the share done and
/// may stop it.
///
/// # Errors
/// If there is no such clip or skeleton, the name is taken, the rules have errors, a number is invalid, or it was
/// stopped.
pub fn refit_clip(
    document: &Document,
    settings: &RefitSettings,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<(Document, RefitNumbers), SessionError> {
    let mut warnings = Warnings::default();
    let clip = document.clips[document.find_clip(&settings.clip)?].clone();
    crate::command::check_name("clip", &settings.to, settings.to == settings.clip)?;
    rig_of(document)?;
    let scaled = with_limbs(document, settings)?;
    let target = scaled.as_ref().unwrap_or(&document.body);
    let given = document.rules.contacts_of(&settings.clip);
    let request = RefitRequest {
        ground: settings.ground.as_ref().map(GroundData::build).transpose()?,
        along_way: settings.along_way,
        rules: settings.rules.then(|| RefitRules {
            name: "line ".into(),
            text: document.rules.text.clone(),
            scene: document.rules.scene(),
        }),
        fps: given.map(|given| given.fps),
        contacts: given.map(|given| given.contacts.iter().map(contact).collect()),
        ..RefitRequest::default()
    };
    let refitted = refit_motion((&document.body, &clip), target, &request, &mut warnings, progress)?;
    let Refitted { fitted, rig, .. } = &refitted;
    let made = Clip { morphs: clip.morphs.clone(), ..fitted.motion.to_clip(rig, &settings.to)? };
    let numbers = RefitNumbers::new(&refitted, warnings.messages);
    let mut result = document.clone();
    if let Some(scaled) = scaled {
        exchange_body(&mut result, scaled);
    }
    if result.find_clip(&settings.to).is_ok() {
        remove_clip(&mut result, &settings.to)?;
        crate::parts::clip_renamed(&mut result, &settings.to, None);
    }
    if let Some(ground) = settings.ground.clone().filter(|ground| *ground != GroundData::Flat(0.0)) {
        let (clip, site) = (settings.to.clone(), &fitted.site);
        let mut rules = (*result.rules).clone();
        rules.grounds.push(ClipGround { clip, ground, origin: site.origin, heading: site.heading });
        result.rules = Arc::new(rules);
    }
    result.clips.push(Arc::new(made));
    Ok((result, numbers))
}

/// Slower keys, in frames per second, were set by an animator; what lies between them counts as well.
const LEAST_RATE: f64 = 20.0;

/// Frames per second in which a clip is refitted.
fn rate_of(clip: &Clip) -> f64 {
    Some(clip.joint_rate()).filter(|rate| *rate >= LEAST_RATE).unwrap_or(DEFAULT_FPS)
}

/// How a clip is refitted.
#[derive(Debug, Clone)]
pub struct RefitRequest {
    /// Another ground; that of the clip if absent.
    pub ground: Option<Ground>,
    /// Whether the ground lies along the path of the clip, rather than along +Z.
    pub along_way: bool,
    /// Rules that hold in the result.
    pub rules: Option<RefitRules>,
    /// Frames per second; by the keys of the clip if absent.
    pub fps: Option<f64>,
    /// Joints that are feet, by name; found if empty.
    pub feet: Vec<String>,
    /// Contacts; found if absent.
    pub contacts: Option<Vec<Contact>>,
    /// Whether all frames are solved together. Default true.
    pub together: bool,
    /// Whether planted feet do not move at all, rather than as little as the clip's. Default false.
    pub still_feet: bool,
}

impl Default for RefitRequest {
    fn default() -> Self {
        Self {
            ground: None,
            along_way: true,
            rules: None,
            fps: None,
            feet: Vec::new(),
            contacts: None,
            together: true,
            still_feet: false,
        }
    }
}

/// A text of rules.
#[derive(Debug, Clone)]
pub struct RefitRules {
    /// What messages begin with: the file, or another name of the text.
    pub name: String,
    /// The rules.
    pub text: String,
    /// What surrounds the skeleton.
    pub scene: Scene,
}

/// A refitted clip.
#[derive(Debug)]
pub struct Refitted {
    /// The motion and its measures.
    pub fitted: Refit,
    /// The skeleton, with the ranges that rules give its joints.
    pub rig: Rig,
    /// What it was solved with.
    pub params: RefitParams,
    /// Whether rules were given, which may ask for what the clip does not do.
    pub has_rules: bool,
}

/// Fit a clip of one character to another. `progress` is given the share done and may stop it.
///
/// # Errors
/// Skeletons that do not match, rules with errors, numbers that make no sense, or it was stopped.
pub fn refit_motion(
    (source, clip): (&Character, &Clip),
    target: &Character,
    request: &RefitRequest,
    warnings: &mut Warnings,
    progress: &mut dyn FnMut(f64) -> ControlFlow<()>,
) -> Result<Refitted, SessionError> {
    let mut rig = target.rig.clone().unwrap_or_default();
    let source_rig = source.rig.clone().unwrap_or_default();
    let mut params = RefitParams {
        ground: request.ground.clone(),
        along_way: request.along_way,
        feet: request.feet.clone(),
        together: request.together,
        // Who sets contacts by hand wants them held.
        still_feet: request.still_feet || request.contacts.is_some(),
        skins: [SkinPoints::of(source), SkinPoints::of(target)],
        // Clips help where the rest pose says nothing; those of the source are looked at as they are fitted.
        maps: [None, (!target.clips.is_empty()).then(|| BodyMap::read(&rig, &target.clips))],
        given: request.contacts.clone(),
        ..RefitParams::default()
    };
    if let Some(rules) = &request.rules {
        let made = compile_rules(rules, &rig, warnings)?;
        (params.rules, rig) = (made.rules, made.rig);
    }
    let motion = Motion::from_clip(&source_rig, clip, request.fps.unwrap_or_else(|| rate_of(clip)))?;
    let mut fitted = refit((&source_rig, &motion), &rig, &params, warnings, progress)?;
    measure_surface((source, &motion), target, &mut fitted)?;
    fitted.report.faults().into_iter().for_each(|fault| warnings.push(fault));
    Ok(Refitted { fitted, rig, params, has_rules: request.rules.is_some() })
}

/// Measure how deep the surface that is written gets in the ground beyond the clip's own, vertex by vertex: the solver knows only a
/// few points of both.
fn measure_surface(
    (source, motion): (&Character, &Motion),
    target: &Character,
    fitted: &mut Refit,
) -> Result<(), SessionError> {
    let (Some(skin), Some(rig), Some(own)) = (&target.skin, &target.rig, &fitted.own_depths) else {
        return Ok(());
    };
    let (scale, level) = (fitted.report.scale, fitted.report.ground.map(|[level, _]| level));
    let deepest = |(frame, pose): (usize, &Pose)| {
        let mut allowed = own[frame];
        if let (Some(level), Some(_)) = (level, &source.skin) {
            let depth = |place: DVec3| level - (fitted.upright[0] * place).y;
            let theirs = deepest_vertex(source, &motion.poses[frame], depth)?;
            allowed = theirs.map_or(allowed, |(depth, _)| allowed.max(depth * scale));
        }
        let depth = |place: DVec3| {
            let place = fitted.upright[1] * place;
            fitted.site.height(place.x, place.z) - place.y - allowed
        };
        Ok(deepest_vertex(target, pose, depth)?.map(|(depth, vertex)| (depth, frame, vertex)))
    };
    let frames = fitted.motion.poses.par_iter().enumerate();
    let deepest: Vec<_> = frames.map(deepest).collect::<Result<_, GeomError>>()?;
    let worst = deepest.into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
    fitted.report.quality.depth = match worst.filter(|worst| worst.0 > 0.0) {
        None => Worst::default(),
        Some((value, frame, vertex)) => {
            let most = skin.vertex(vertex).max_by(|a, b| a.1.total_cmp(&b.1));
            let joint = most.map(|(slot, _)| skin.slots[usize::from(slot)].joint);
            Worst {
                value,
                frame,
                joint: joint.map_or(String::new(), |joint| rig.joints()[joint].name.clone()),
            }
        }
    };
    Ok(())
}

/// The vertex of a posed skin that is deepest, by a measure of places.
fn deepest_vertex(
    character: &Character,
    pose: &Pose,
    depth: impl Fn(DVec3) -> f64,
) -> Result<Option<(f64, usize)>, GeomError> {
    let n = character.skin.as_ref().map_or(0, Skin::n_vertices);
    let places = character.positions_posed(pose)?;
    let depths = places.iter().take(n).enumerate().map(|(vertex, place)| (depth(place.as_dvec3()), vertex));
    Ok(depths.max_by(|a, b| a.0.total_cmp(&b.0)))
}

/// Rules of a skeleton; every error is reported with its place.
fn compile_rules(rules: &RefitRules, rig: &Rig, warnings: &mut Warnings) -> Result<ClipRules, SessionError> {
    let name = &rules.name;
    let (script, mut found) = parse(&rules.text);
    if script.statements.is_empty() && found.is_empty() {
        let name = name.trim_end_matches([':', ' ']);
        warnings
            .push(format!("{name}: there is no rule in it; write for example `hold FOOT during 10 .. 30`"));
    }
    let mut made = ClipRules::new(&script, rig, &rules.scene)?;
    found.append(&mut made.diagnostics);
    if has_errors(&found) {
        let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error);
        let lines = errors.map(|error| format!("{name}{error}")).collect::<Vec<_>>();
        return Err(SessionError::Value { what: "rules", cause: lines.join("\n") });
    }
    found.iter().for_each(|diagnostic| warnings.push(format!("{name}{diagnostic}")));
    Ok(made)
}

fn contact(data: &ContactData) -> Contact {
    let frames = data.frames[0]..data.frames[1] + 1;
    Contact { foot: data.foot.clone(), part: data.part(), frames }
}

/// The character with its clips on longer limbs; nothing if they stay as they are.
fn with_limbs(document: &Document, settings: &RefitSettings) -> Result<Option<Character>, SessionError> {
    let parts: Vec<(String, f64)> = [("legs", settings.legs), ("arms", settings.arms)]
        .into_iter()
        .filter(|(_, factor)| *factor != 1.0)
        .map(|(part, factor)| (part.to_owned(), factor))
        .collect();
    if parts.is_empty() {
        return Ok(None);
    }
    if let Some((part, factor)) = parts.iter().find(|(_, factor)| !(0.2..=5.0).contains(factor)) {
        let cause = format!("{part} cannot be {factor} times as long; choose 0.2 to 5");
        return Err(SessionError::Value { what: "limbs", cause });
    }
    Ok(Some(stretch_limbs(&document.character(), &parts)?))
}

/// Replace the character by the same with longer limbs.
fn exchange_body(document: &mut Document, mut character: Character) {
    document.clips = std::mem::take(&mut character.clips).into_iter().map(Arc::new).collect();
    document.handles = std::mem::take(&mut character.handles).into_iter().map(Arc::new).collect();
    character.name.clear();
    document.body = Arc::new(character);
}
