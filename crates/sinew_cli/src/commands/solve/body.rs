//! The skeleton rules are solved on, its surroundings, and the pose to begin with.

use super::super::{
    input::{ensure_skeleton, with_path},
    output::{Origin, find_clip},
};
use crate::console::Console;
use anyhow::{Context, bail, ensure};
use sinew::{
    constrain::{Skeleton, compile::Scene},
    formats::{Content, read_any, read_file, skeleton::read_skeleton},
    geom::{Character, Pose, Rig, Warnings},
};
use std::path::Path;

/// What a skeleton file and a pose give.
pub struct Body {
    /// With the rig, and a mesh if the file has one.
    pub character: Character,
    pub skeleton: Skeleton,
    pub scene: Scene,
    /// Frame of the pose, if it is one of a clip.
    pub frame: Option<f64>,
    /// The file that a result is written into.
    pub origin: Origin,
    pose: Pose,
}

impl Body {
    pub fn read(
        path: &Path,
        variant: Option<&str>,
        pose: Option<&str>,
        console: &Console,
        warnings: &mut Warnings,
    ) -> anyhow::Result<Self> {
        let shown = path.display();
        let _progress = console.progress(&format!("reading {shown}"));
        let is_json = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"));
        let mut origin = Origin::default();
        let (character, scene, poses) = if is_json {
            let file = read_skeleton(&read_file(path)?, variant, &shown.to_string())?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let character = Character { name, rig: Some(file.rig), ..Character::default() };
            (character, Scene { markers: file.markers, ..Scene::default() }, file.poses)
        } else {
            ensure!(variant.is_none(), "{shown}: only skeletons in .json have variants; leave out --variant");
            let character;
            (character, origin) = read_rigged(path, console, warnings)?;
            (character, Scene::default(), Vec::new())
        };
        let rig = character.rig.as_ref().context("a rig was read")?;
        let skeleton = Skeleton::from_rig(rig).map_err(|error| with_path(error, path))?;
        let (pose, frame) = match pose {
            None => (rig.rest_pose(), None),
            Some(text) => match poses.iter().find(|(name, _)| name == text) {
                Some((_, pose)) => (pose.clone(), None),
                None => read_pose(text, &character, &poses, (console, warnings))?,
            },
        };
        Ok(Self { skeleton: skeleton.with_rest_pose(&pose)?, character, scene, frame, origin, pose })
    }

    /// Values of the starting pose on a skeleton whose freedom the rules may have changed.
    pub fn start(&self, skeleton: &Skeleton) -> anyhow::Result<Vec<f64>> {
        Ok(skeleton.values_at(&self.pose)?)
    }
}

/// A character with a skeleton, and the file it comes from; a mesh without a skeleton is given one.
fn read_rigged(
    path: &Path,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(Character, Origin)> {
    let content = read_any(path, warnings)?;
    let origin = match &content {
        Content::Gltf(file) => Origin::of(file, path, warnings)?,
        _ => Origin::default(),
    };
    let mut character = match content {
        Content::Recording(_) | Content::Sequence(_) => None,
        content => content.into_character(),
    };
    if let Some(character) = &mut character {
        ensure_skeleton(character, path, console, warnings)?;
    }
    match character.filter(|character| character.rig.is_some()) {
        Some(character) => Ok((character, origin)),
        None => bail!("{}: there is no skeleton in it; give a .json, .bvh or .glb with one", path.display()),
    }
}

/// `FILE@FRAME`, or `@FRAME` of the skeleton's own clip.
fn read_pose(
    text: &str,
    body: &Character,
    poses: &[(String, Pose)],
    (console, warnings): (&Console, &mut Warnings),
) -> anyhow::Result<(Pose, Option<f64>)> {
    let Some((file, frame)) = text.rsplit_once('@') else {
        let names: Vec<&str> = poses.iter().map(|(name, _)| name.as_str()).collect();
        let known = if names.is_empty() {
            "the skeleton has none".into()
        } else {
            format!("there are {}", names.join(", "))
        };
        bail!("{text:?} is not a pose; {known}; poses of clips are written as FILE@FRAME");
    };
    let frame: f64 = frame
        .parse()
        .ok()
        .filter(|frame: &f64| *frame >= 0.0)
        .with_context(|| format!("{text:?}: the frame must be a number from 0"))?;
    let read;
    let from = if file.is_empty() {
        body
    } else {
        read = read_rigged(Path::new(file), console, warnings)?.0;
        &read
    };
    let (Some(rig), Some(source)) = (&body.rig, &from.rig) else { bail!("{text:?}: there is no skeleton") };
    let clip = find_clip(from, None).with_context(|| format!("{text:?}: there is no clip"))?;
    let fps = clip.joint_rate();
    let last = (f64::from(clip.duration_secs()) * fps).round();
    ensure!(frame <= last, "{text:?}: the clip ends at frame {last}");
    let sampled = clip.sample(source, (frame / fps) as f32);
    Ok((carried_over(rig, source, &sampled, text)?, Some(frame)))
}

/// The pose of another rig on ours, joint by joint of the same name: turns from rest, and shifts of roots.
fn carried_over(rig: &Rig, source: &Rig, pose: &Pose, text: &str) -> anyhow::Result<Pose> {
    let mut result = rig.rest_pose();
    let mut missing = Vec::new();
    for (joint, local) in rig.joints().iter().zip(&mut result.locals) {
        let Some(index) = source.find(&joint.name) else {
            if !joint.dofs.is_empty() {
                missing.push(joint.name.as_str());
            }
            continue;
        };
        let rest = source.joints()[index].rest;
        local.rotation = joint.rest.rotation * (rest.rotation.inverse() * pose.locals[index].rotation);
        local.translation = joint.rest.translation + (pose.locals[index].translation - rest.translation);
    }
    if !missing.is_empty() {
        let shown = missing.iter().take(8).copied().collect::<Vec<_>>().join(", ");
        bail!(
            "{text:?}: the clip's skeleton has no {shown}; its joints must have the names of those they pose"
        );
    }
    Ok(result)
}
