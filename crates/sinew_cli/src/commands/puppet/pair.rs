//! `sinew puppet pair`: one more pair of poses.

use super::{
    super::{input::with_path, output::find_clip},
    actor::{read_actor, split},
};
use super::{CalibrateArgs, PairArgs};
use crate::console::Console;
use anyhow::{Context, bail, ensure};
use serde_json::json;
use sinew::{
    formats::{
        pairs::{PairFile, PairTarget, PosePair, read_pairs, write_calibration, write_pairs},
        write_atomic,
    },
    geom::{Character, Pose, Rig, Warnings},
    puppet::{BodyPose, Calibration},
    session::{DEFAULT_FPS, Document, open_file},
};
use std::path::Path;

pub fn run(args: &PairArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let mut file = match std::fs::read(&args.pairs) {
        Ok(bytes) => read_pairs(&bytes, &args.pairs.to_string_lossy())?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => PairFile::default(),
        Err(error) => return Err(error).with_context(|| args.pairs.display().to_string()),
    };
    let body = read_body(&args.source, &mut warnings)?;
    let (path, at) = split(&args.target);
    let path = Path::new(path);
    let document = {
        let progress = console.progress(&format!("reading {}", path.display()));
        open_file(path, &mut |share| progress.update(share), &mut warnings)?
    };
    let target = read_target(&document, at).map_err(|error| with_path(error, path))?;
    let name = args.name.clone().unwrap_or_else(|| format!("pair {}", file.pairs.len() + 1));
    let pair = PosePair { name: name.clone(), body, target };
    match file.pairs.iter_mut().find(|other| other.name == name) {
        Some(other) => *other = pair,
        None => file.pairs.push(pair),
    }
    write_atomic(&args.pairs, &write_pairs(&file))?;
    console.warn(path, &warnings);
    let n = file.pairs.len();
    let shown = args.pairs.display().to_string();
    let report = json!({ "written": shown, "pairs": n, "name": name, "warnings": warnings.messages });
    console.result(&report, || format!("{shown}  {n} pairs, the last changed is {name:?}"))
}

/// `sinew puppet calibrate`.
pub fn calibrate(args: &CalibrateArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let body = read_body(&args.source, &mut warnings)?;
    let joints: [glam::DVec3; 20] = body.as_slice().try_into().context("no whole body")?;
    let found = Calibration::of_standing(&BodyPose::new(joints))?;
    write_atomic(&args.output, &write_calibration(found.upright.to_array(), found.trunk))?;
    let shown = args.output.display().to_string();
    let (_, angle) = found.upright.to_axis_angle();
    let report = json!({
        "written": shown, "tilt_degrees": angle.to_degrees(), "trunk": found.trunk, "warnings": warnings.messages,
    });
    console.result(&report, || {
        let trunk = found.trunk;
        format!("{shown}  the camera is tilted by {:.1}°, the trunk is {trunk:.2} m long", angle.to_degrees())
    })
}

fn read_body(source: &str, warnings: &mut Warnings) -> anyhow::Result<Vec<glam::DVec3>> {
    let (path, frame) = split(source);
    let actor = read_actor(path, warnings)?;
    let frame = frame.with_context(|| format!("{source}: say which frame, as in {source}@12"))?;
    let frame: usize = frame.parse().with_context(|| format!("{source}: {frame:?} is not a frame number"))?;
    let n = actor.frames.len();
    let (_, pose) =
        actor.frames.get(frame).with_context(|| format!("{path}: there are frames 0 to {}", n - 1))?;
    if let Some(joint) = pose.first_missing() {
        bail!("{path}: in frame {frame} the body was not fully tracked ({joint} is missing); choose another");
    }
    Ok(pose.joints.to_vec())
}

/// A pose of a character: at rest, a frame of its first clip, `CLIP:SECONDS`, or a stored pose.
fn read_target(document: &Document, at: Option<&str>) -> anyhow::Result<PairTarget> {
    if let Some(name) = at.filter(|name| document.find_example(name).is_ok()) {
        return Ok(PairTarget::Example(name.to_owned()));
    }
    let Some(rig) = &document.body.rig else {
        ensure!(at.is_none_or(|name| name == "rest"), "there is no stored pose {:?}", at.unwrap_or_default());
        return Ok(PairTarget::Joints(Vec::new()));
    };
    let pose = match at {
        None | Some("rest") => rig.rest_pose(),
        Some(at) => pose_at(&document.character(), rig, at)?,
    };
    Ok(PairTarget::Joints(moved_joints(rig, &pose)))
}

fn pose_at(character: &Character, rig: &Rig, at: &str) -> anyhow::Result<Pose> {
    let (clip, time) = match (at.parse::<u32>(), at.rsplit_once(':')) {
        (Ok(frame), _) => (None, f64::from(frame) / DEFAULT_FPS),
        (_, Some((clip, secs))) => {
            (Some(clip), secs.parse().with_context(|| format!("{secs:?} is not a time in seconds"))?)
        }
        _ => bail!("{at:?} is neither a stored pose, nor a frame (12), nor a moment of a clip (walk:0.4)"),
    };
    let clip = find_clip(character, clip)?;
    let end = f64::from(clip.duration_secs());
    ensure!(
        (0.0..=end + 0.5 / DEFAULT_FPS).contains(&time),
        "clip {:?} lasts {end:.2} s; {time:.2} s is outside",
        clip.name
    );
    Ok(clip.sample(rig, time as f32))
}

/// Only joints that do not rest are worth a line.
fn moved_joints(rig: &Rig, pose: &Pose) -> Vec<(String, sinew::geom::Transform)> {
    let rest = rig.rest_pose();
    let joints = rig.joints().iter().zip(&pose.locals).zip(&rest.locals);
    joints
        .filter(|((_, local), rest)| local != rest)
        .map(|((joint, local), _)| (joint.name.clone(), *local))
        .collect()
}
