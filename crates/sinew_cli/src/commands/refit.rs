//! `sinew refit`: a clip on another body and another ground.

use super::{
    input::{ensure_skeleton, ground_of, with_path},
    output::{Origin, OutputOptions, check_name, find_clip, free_name, write_character},
};
use crate::console::{Console, Unusable};
use anyhow::{Context, bail, ensure};
use clap::Args;
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    constrain::{
        ConstrainError,
        clip::{Body, scale_limbs, stretch_limbs},
        compile::Scene,
        language::Span,
    },
    formats::{Content, read_any, skeleton::read_skeleton},
    geom::{Character, Clip, Rig, Warnings, body_map::BodyMap, path::Ground},
    session::{RefitNumbers, RefitRequest, RefitRules, Refitted, SessionError, refit_motion},
};
use std::path::PathBuf;
use std::{path::Path, time::Instant};

/// Fit a clip to another body and another ground: feet stay planted and do not slide or sink
#[derive(Args)]
#[command(
    after_help = "Contacts are found in the clip itself, whatever ground it was made on. The target is any file with a \
                  skeleton, whatever its rest pose, facing and names, or the clip's own skeleton with other limb lengths \
                  (--scale). Slopes, steps and hills follow the path of the clip. If the result is not usable, it is still \
                  written, the reasons are printed, and the exit code is 3.\n\n\
                  Examples:  sinew refit walk.bvh --scale legs=0.7 --ground slope:10 -o uphill.bvh\n           \
                  sinew refit walk.bvh --skeleton child.glb --ground steps:0.15,0.3 -o child-on-stairs.glb"
)]
pub struct RefitArgs {
    /// File with the clip to fit (bvh, glb)
    pub motion: PathBuf,
    /// Body to fit it to (glb, bvh, skeleton json); a mesh without a skeleton is given
    /// one as by `sinew rig` [default: the clip's own]
    #[arg(long, value_name = "FILE")]
    pub skeleton: Option<PathBuf>,
    /// Scale of body parts: all, legs, feet, arms or a joint, and a factor
    #[arg(long, value_name = "PART=FACTOR,…", value_delimiter = ',')]
    pub scale: Vec<String>,
    /// Rules that hold over its frames, such as `distance LeftHand RightHand >= 20 cm`
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Another ground, in metres: flat, flat:HEIGHT, slope:DEGREES, steps:RISE,RUN, hills, hills:HEIGHT,LENGTH, or a file with a
    /// height field [default: the ground of the clip, as high as it is there]
    #[arg(long, value_name = "GROUND", allow_hyphen_values = true)]
    pub ground: Option<String>,
    /// Hold planted feet still even where those of the clip slide
    #[arg(long)]
    pub still_feet: bool,
    /// Direction of the ground: along the path of the clip (way) or along +Z of the world [default: way; world for files]
    #[arg(long, value_name = "WHAT", value_parser = ["way", "world"])]
    pub ground_along: Option<String>,
    /// Joints that carry feet [default: found by their names]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    pub feet: Vec<String>,
    /// Clip to read [default: the first]
    #[arg(long, value_name = "NAME")]
    pub clip: Option<String>,
    /// Name of the clip to write [default: the name of the clip that was read]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// Frames per second of the result [default: those of the clip, or 30 if its keys are further apart than 1/20 s]
    #[arg(long)]
    pub fps: Option<f64>,
    /// Metres per unit of a BVH clip [default: guessed from the length of the legs]
    #[arg(long, value_name = "METRES")]
    pub unit: Option<f64>,
    /// Fit every frame by itself, for comparison (jerky)
    #[arg(long)]
    pub frame_by_frame: bool,
    /// File to write (bvh, glb)
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &RefitArgs, console: &Console) -> anyhow::Result<()> {
    check_name(&args.output, false)?;
    ensure!(
        ["glb", "bvh"].iter().any(|e| args.output.extension().is_some_and(|x| x.eq_ignore_ascii_case(e))),
        "{}: a clip is written as .bvh or .glb",
        args.output.display()
    );
    let mut warnings = Warnings::default();
    let source = open(&args.motion, args.unit, console, &mut warnings)?;
    source.rig(&args.motion)?;
    let clip = find_clip(&source.character, args.clip.as_deref()).map_err(|e| with_path(e, &args.motion))?;
    let target = target(args, &source, console, &mut warnings)?;
    target.rig(args.skeleton.as_deref().unwrap_or(&args.motion))?;
    let request = request(args, &target)?;
    let start = Instant::now();
    let refitted = {
        let progress = console.progress("fitting");
        let mut update = |share: f64| progress.update(share);
        refit_motion((&source.character, clip), &target.character, &request, &mut warnings, &mut update)
            .map_err(|error| blame(error, args))?
    };
    let secs = start.elapsed().as_secs_f64();
    if let Some(path) = &args.rules {
        report_rules(path, &refitted, &mut warnings);
    }
    let n_bytes = write(args, &target, clip, &refitted, &mut warnings)?;
    console.warn(&args.motion, &warnings);
    let numbers = RefitNumbers::new(&refitted, warnings.messages);
    let mut value = json!(numbers);
    value["seconds"] = json!(secs);
    value["unit"] = json!(source.unit);
    value["written"] = json!(args.output.display().to_string());
    value["bytes"] = json!(n_bytes);
    console.result(&value, || as_text(&value))?;
    match numbers.damage.is_empty() {
        true => Ok(()),
        false => Err(Unusable(numbers.damage.join("; ")).into()),
    }
}

/// What to do about a file whose motion is not that of joints.
const NO_SKELETON: &str = "there is no skeleton in it, and only motions of one are refitted; `sinew fit` makes bones of a moving \
                           surface, `sinew rig` gives a mesh some; or give a .bvh, .glb or skeleton .json";

/// A character in metres, and what its file's unit is.
struct Opened {
    character: Character,
    unit: f64,
    origin: Origin,
    /// Named places around it.
    markers: Vec<(String, DVec3)>,
}

impl Opened {
    fn rig(&self, path: &Path) -> anyhow::Result<&Rig> {
        let rig = self.character.rig.as_ref().filter(|rig| rig.n_joints() > 0);
        rig.with_context(|| format!("{}: {NO_SKELETON}", path.display()))
    }
}

fn open(
    path: &Path,
    unit: Option<f64>,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Opened> {
    let _progress = console.progress(&format!("reading {}", path.display()));
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("json")) {
        let bytes = std::fs::read(path).with_context(|| path.display().to_string())?;
        let file = read_skeleton(&bytes, None, &path.to_string_lossy())?;
        let character = Character { rig: Some(file.rig), ..Character::default() };
        return Ok(Opened { character, unit: 1.0, origin: Origin::default(), markers: file.markers });
    }
    let (character, origin, is_bvh) = match read_any(path, warnings)? {
        Content::Bvh(file) => (file.character, Origin::default(), true),
        Content::Gltf(file) => {
            let origin = Origin::of(&file, path, warnings)?;
            (file.character, origin, false)
        }
        Content::Model(model) => (model.character, Origin::default(), false),
        _ => bail!("{}: {NO_SKELETON}", path.display()),
    };
    let rig = character.rig.clone().unwrap_or_default();
    let unit = match unit {
        Some(unit) => unit,
        // Only BVH does not say in what it measures.
        None if is_bvh && rig.n_joints() > 0 => {
            BodyMap::read(&rig, &character.clips).metres_per_unit.unwrap_or(1.0)
        }
        None => 1.0,
    };
    ensure!(unit.is_finite() && unit > 0.0, "--unit {unit} must be positive");
    let character = if unit == 1.0 { character } else { character.scaled(unit)? };
    Ok(Opened { character, unit, origin, markers: Vec::new() })
}

/// The body to fit to: a file, or the clip's own with other limbs.
fn target(
    args: &RefitArgs,
    source: &Opened,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Opened> {
    let mut target = match &args.skeleton {
        Some(path) => {
            let mut opened = open(path, None, console, warnings)?;
            ensure_skeleton(&mut opened.character, path, console, warnings)?;
            opened
        }
        None => Opened {
            character: source.character.clone(),
            unit: source.unit,
            origin: source.origin.clone(),
            markers: Vec::new(),
        },
    };
    let parts = parts(args)?;
    let (whole, limbs): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(part, _)| part == "all");
    for (_, factor) in whole {
        target.character = target.character.scaled(factor)?;
    }
    if !limbs.is_empty() && target.character.skin.is_some() {
        target.character = stretch_limbs(&target.character, &limbs).context("--scale")?;
    } else if !limbs.is_empty() {
        let rig = target.character.rig.clone().unwrap_or_default();
        let body = Body::find(&rig, &args.feet)?;
        target.character.rig = Some(scale_limbs(&rig, &body, &limbs).context("--scale")?);
    }
    Ok(target)
}

/// `legs=0.7,arms=1.2`.
fn parts(args: &RefitArgs) -> anyhow::Result<Vec<(String, f64)>> {
    let read = |text: &String| {
        let (part, factor) = text.split_once('=')?;
        let factor: f64 = factor.trim().parse().ok()?;
        (factor.is_finite() && factor > 0.0).then(|| (part.trim().to_owned(), factor))
    };
    let one = |text: &String| {
        read(text).with_context(|| {
            format!("--scale {text:?}: give parts and factors above 0, such as legs=0.7,arms=1.2")
        })
    };
    args.scale.iter().map(one).collect()
}

/// A ground in words, or out of a file; only the former is laid along the way.
fn ground(args: &RefitArgs) -> anyhow::Result<(Option<Ground>, bool)> {
    let Some(ground) = &args.ground else { return Ok((None, true)) };
    let (ground, is_file) = ground_of(ground)?;
    let wanted = if is_file {
        args.ground_along.as_deref() == Some("way")
    } else {
        args.ground_along.as_deref() != Some("world")
    };
    Ok((Some(ground), wanted))
}

fn request(args: &RefitArgs, target: &Opened) -> anyhow::Result<RefitRequest> {
    let (ground, along_way) = ground(args)?;
    let rules = match &args.rules {
        Some(path) => Some(RefitRules {
            name: format!("{}:", path.display()),
            text: std::fs::read_to_string(path).with_context(|| path.display().to_string())?,
            scene: Scene { markers: target.markers.clone(), ..Scene::default() },
        }),
        None => None,
    };
    Ok(RefitRequest {
        ground,
        along_way,
        rules,
        fps: args.fps,
        feet: args.feet.clone(),
        contacts: None,
        together: !args.frame_by_frame,
        still_feet: args.still_feet,
    })
}

/// Rules that do not hold, and those that are about frames the clip does not have.
fn report_rules(path: &Path, Refitted { fitted, params, .. }: &Refitted, warnings: &mut Warnings) {
    let shown = path.display();
    let (n, fps) = (fitted.motion.n_frames(), fitted.motion.fps);
    let late = params.rules.iter().filter(|rule| rule.frames.start >= n);
    for rule in late {
        let Span { line, column, .. } = rule.span;
        warnings.push(format!(
            "{shown}:{line}:{column}: this is about frame {} and later, but the clip has {n} frames at {fps:.0} fps; \
             `--fps` sets how frames are counted",
            rule.frames.start
        ));
    }
    for broken in &fitted.report.broken {
        let Span { line, column, .. } = broken.span;
        warnings.push(format!(
            "{shown}:{line}:{column}: this does not hold in {} frames, at worst by {:.1} cm in frame {}; it contradicts other rules, \
             the feet or what the body can reach",
            broken.n_frames,
            100.0 * broken.worst,
            broken.frame
        ));
    }
}

/// Which file an error is about.
fn blame(error: SessionError, args: &RefitArgs) -> anyhow::Error {
    match (&error, &args.skeleton) {
        // Each line names the file already.
        (SessionError::Value { what: "rules", cause }, _) => anyhow::anyhow!(cause.clone()),
        (
            SessionError::Constrain(ConstrainError::Unmatched { .. } | ConstrainError::NoLength),
            Some(path),
        ) => with_path(error, path),
        _ => with_path(error, &args.motion),
    }
}

fn write(
    args: &RefitArgs,
    target: &Opened,
    clip: &Clip,
    Refitted { fitted, rig, .. }: &Refitted,
    warnings: &mut Warnings,
) -> anyhow::Result<u64> {
    let mut character = Character { rig: Some(rig.clone()), ..target.character.clone() };
    let mut made = fitted.motion.to_clip(rig, args.name.as_ref().unwrap_or(&clip.name))?;
    if args.skeleton.is_none() {
        // The same character: what the clip does to its morphs stays.
        made.morphs = clip.morphs.clone();
    }
    let is_bvh = args.output.extension().is_some_and(|e| e.eq_ignore_ascii_case("bvh"));
    if !is_bvh && character.mesh.n_faces() > 0 {
        // Beside the clips of the character, before them.
        made.name = free_name(&character, &made.name, "refit");
        character.clips.insert(0, made);
    } else {
        character.clips = vec![made];
    }
    if character.name.is_empty() {
        character.name = clip.name.clone();
    }
    if is_bvh && target.unit != 1.0 {
        character = character.scaled(1.0 / target.unit)?;
    }
    let options = OutputOptions {
        clip: None,
        fps: Some(fitted.motion.fps),
        influences: 4,
        origin: target.origin.clone(),
    };
    write_character(&character, &args.output, &options, warnings)
}

fn as_text(value: &Value) -> String {
    let x = |key: &str| value[key].as_f64().unwrap_or(f64::NAN);
    format!(
        "{}  {} frames at {:.0} fps, {} bytes, {} stances{}\n  \
         slide {:.2} cm/s (the clip: {:.2}, copied angles: {:.1}), drift {:.2} cm\n  \
         deepest in the ground {:.2} cm (copied angles: {:.1}), {:.2} cm beyond the clip's own{}\n  \
         largest step {:.2} cm beyond the clip's{}\n  \
         jerk {:.2} times the clip's, {} angles out of range\n  fitted in {:.2} s",
        value["written"].as_str().unwrap_or_default(),
        value["frames"],
        x("fps"),
        value["bytes"],
        value["contacts"].as_array().map_or(0, Vec::len),
        match value["hands"].as_array().map_or(0, Vec::len) {
            0 => String::new(),
            n => format!(" of feet and {n} of hands"),
        },
        x("slide_cm_s"),
        x("clip_slide_cm_s"),
        value["copied"]["slide_cm_s"].as_f64().unwrap_or(f64::NAN),
        x("drift_cm"),
        x("penetration_cm"),
        value["copied"]["penetration_cm"].as_f64().unwrap_or(f64::NAN),
        x("surface_depth_cm"),
        match value["ground"]["height_cm"].as_f64() {
            Some(height) => format!("; ground at {height:.1} cm"),
            None => String::new(),
        },
        x("jump_cm"),
        match value["direction_deg"].as_f64() {
            Some(degrees) => format!(", limbs {degrees:.1}° off on average"),
            None => String::new(),
        },
        x("jerk_ratio"),
        value["limit_violations"],
        x("seconds"),
    )
}
