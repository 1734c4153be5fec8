//! `sinew muscle add`: a template on a character, or forces that make it look like a target.

use super::{
    BodyArgs, body_params, describe, read_features, read_muscles, shown, typed, vector, write_muscles,
};
use crate::{
    commands::{
        input::{read_surface, with_path},
        names::one_of,
    },
    console::Console,
};
use anyhow::{Context, bail, ensure};
use clap::Args;
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    flesh::{
        muscle::{Control, ControlSource, Guide, Muscle, MuscleSet, MuscleShape, Template},
        muscle_fit::{
            AdaptParams, Feature, Matching, PosedBody, SurfaceParams, TemplateFitParams, TemplateFitter,
            fit_adaptive, fit_pose, fit_surface,
        },
    },
    geom::{Character, Rig, Warnings},
};
use std::path::PathBuf;

/// Vertices at most that a pose is found by, where all correspond.
const MAX_FEATURES: usize = 2000;

#[derive(Args)]
pub struct MuscleAddArgs {
    /// Character with a skin (glb, vrm)
    pub character: PathBuf,
    /// Name of the muscle
    pub name: String,
    /// Control parameter it follows: JOINT.bend, JOINT.rx, .ry, .rz, or a name of your own [default: the name of the muscle]
    #[arg(long, value_name = "CONTROL")]
    pub control: Option<String>,
    /// Value of the control parameter for this sample (degrees for joints) [default: 1, or its value in the pose]
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub at: Option<f64>,
    /// Force field to place
    #[arg(long, value_parser = one_of(Template::ALL, Template::name), required_unless_present = "target", conflicts_with = "target")]
    pub template: Option<Template>,
    /// Place it on the skin, at a vertex
    #[arg(long, value_name = "V", conflicts_with_all = ["bone", "place"])]
    pub vertex: Option<usize>,
    /// Place it on the bone of a joint
    #[arg(long, value_name = "JOINT", conflicts_with = "place")]
    pub bone: Option<String>,
    /// Place it at a point
    #[arg(long, value_name = "X,Y,Z", allow_hyphen_values = true)]
    pub place: Option<String>,
    /// Radius of the template in metres [default: a tenth of the diagonal]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub radius: Option<f64>,
    /// Radius of the ring of a torus [default: its radius]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub ring: Option<f64>,
    /// Strength in newtons per cubic metre [default: as needed for --out]
    #[arg(long, value_name = "A", allow_hyphen_values = true, conflicts_with = "out")]
    pub amplitude: Option<f64>,
    /// How far the skin moves outwards, in metres [default: a fiftieth of the diagonal]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub out: Option<f64>,
    /// On a bone: share of its length
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_hyphen_values = true)]
    pub slide: f64,
    /// On a bone: metres away from it
    #[arg(long, value_name = "METRES", default_value_t = 0.0, allow_hyphen_values = true)]
    pub orbit: f64,
    /// On the skin: metres outwards, negative inwards [default: half the radius inwards]
    #[arg(long, value_name = "METRES", allow_hyphen_values = true)]
    pub depth: Option<f64>,
    /// Degrees around bone or normal
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, allow_hyphen_values = true)]
    pub spin: f64,
    /// Shape to match
    #[arg(long, value_name = "MESH")]
    pub target: Option<PathBuf>,
    /// Pairs of vertices, character:target, from which the pose is found (json, yml, corr) [default: every vertex, if they
    /// correspond]
    #[arg(long, value_name = "FILE", requires = "target")]
    pub features: Option<PathBuf>,
    /// Stay in the rest pose
    #[arg(long, requires = "target", conflicts_with = "features")]
    pub no_pose: bool,
    /// Match closest points instead of vertices with the same index
    #[arg(long, requires = "target")]
    pub closest: bool,
    /// Match only vertices that mostly follow these joints
    #[arg(long, value_name = "JOINT,…", value_delimiter = ',', requires = "target")]
    pub lasso: Vec<String>,
    /// Weight of a smooth deformation
    #[arg(long, value_name = "W", default_value_t = 0.03, requires = "target", allow_hyphen_values = true)]
    pub smooth: f64,
    /// Halve cells where the surface is far from the target, at most this many times; the cells are saved in the file
    #[arg(long, value_name = "LEVELS", requires = "target")]
    pub adapt: Option<usize>,
    /// Metres from the target beyond which cells are halved [default: 0.1 % of the diagonal]
    #[arg(long, value_name = "METRES", requires = "adapt", allow_hyphen_values = true)]
    pub within: Option<f64>,
    /// Stiffness factor of the flesh where the muscle acts fully
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true)]
    pub stiffen: Option<f64>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write or to add to (.json)
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &MuscleAddArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let (character, _) = read_surface(&args.character, console, &mut warnings)?;
    let mut set = if args.output.exists() { read_muscles(&args.output)? } else { MuscleSet::default() };
    let name = args.control.clone().unwrap_or_else(|| args.name.clone());
    let control = match set.controls.iter().find(|control| control.name == name) {
        Some(control) => control.clone(),
        None => {
            let control = Control::parse(&name, character.rig.as_ref());
            warn_of_names(&control, character.rig.as_ref(), &mut warnings);
            set.controls.push(control.clone());
            control
        }
    };
    let params = body_params(&args.body, &character, Some(&set))?;
    let mut posed = {
        let _progress = console.progress("filling with flesh");
        PosedBody::new(&character, &params, &mut warnings).map_err(|e| with_path(e, &args.character))?
    };
    let (muscle, mut extra) = match args.template {
        Some(template) => place(args, template, &control, (&posed, &character), &mut warnings)?,
        None => {
            let is_new = set.lattice().is_none();
            match_target(args, (&control, is_new), &mut posed, &character, console, &mut warnings)?
        }
    };
    let at = insert(&mut set, muscle)?;
    if let Some(factor) = args.stiffen {
        set.muscles[at].stiffen = factor;
    }
    let bytes = write_muscles(&args.output, &set)?;
    let mut report = describe(&set, at);
    if let (Some(to), Some(from)) = (report.as_object_mut(), extra.as_object_mut()) {
        to.append(from);
    }
    report["cells"] = json!(posed.body().lattice.n_cells());
    report["written"] = json!(args.output.display().to_string());
    report["bytes"] = json!(bytes);
    report["warnings"] = json!(warnings.messages);
    console.warn(&args.character, &warnings);
    console.result(&report, || as_text(&report))
}

/// A name that looks like an angle of a joint there is not is most likely a slip.
fn warn_of_names(control: &Control, rig: Option<&Rig>, warnings: &mut Warnings) {
    let angle = control.name.rsplit_once('.').filter(|(_, angle)| ["bend", "rx", "ry", "rz"].contains(angle));
    if let (Some((joint, _)), true) = (angle, control.source == ControlSource::Free) {
        let joints = rig.map_or(&[][..], |rig| rig.joints());
        let names = joints.iter().map(|joint| joint.name.as_str()).collect::<Vec<_>>().join(", ");
        warnings.push(format!(
            "there is no joint {joint:?}, so {:?} is a control parameter of your own; the joints are: {names}",
            control.name
        ));
    }
}

/// Put a muscle into a set; a muscle of the same name and kind gets its samples.
fn insert(set: &mut MuscleSet, muscle: Muscle) -> anyhow::Result<usize> {
    let Some(at) = set.muscles.iter().position(|other| other.name == muscle.name) else {
        set.muscles.push(muscle);
        return Ok(set.muscles.len() - 1);
    };
    let old = &mut set.muscles[at];
    ensure!(
        old.control == muscle.control,
        "the muscle {:?} already follows {:?}; give another name",
        muscle.name,
        old.control
    );
    match (&mut old.shape, muscle.shape) {
        (
            MuscleShape::Template { template, guide, samples },
            MuscleShape::Template { template: other, guide: place, samples: added },
        ) if *template == other && *guide == place => {
            added.list().iter().for_each(|(at, eta)| samples.record(*at, eta.clone()));
        }
        (MuscleShape::Surface { samples, .. }, MuscleShape::Surface { samples: added, .. }) => {
            for (gamma, forces) in added.into_iter().filter(|(gamma, _)| *gamma != 0.0) {
                samples.retain(|(at, _)| *at != gamma);
                samples.push((gamma, forces));
            }
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        _ => bail!("the muscle {:?} already exists and is of another kind; give another name", muscle.name),
    }
    old.pose = muscle.pose;
    Ok(at)
}

/// A template where the command says, as strong as it says.
fn place(
    args: &MuscleAddArgs,
    template: Template,
    control: &Control,
    (posed, character): (&PosedBody, &Character),
    warnings: &mut Warnings,
) -> anyhow::Result<(Muscle, Value)> {
    let mesh = &character.mesh;
    let radius = args.radius.unwrap_or(0.1 * mesh.diagonal());
    ensure!(radius > 0.0 && radius.is_finite(), "--radius {radius} must be positive");
    let (guide, rest) = match (args.vertex, &args.bone, &args.place) {
        (Some(vertex), ..) => {
            let n = mesh.n_vertices();
            ensure!(vertex < n, "--vertex {vertex}: there are {n} vertices");
            let guide = Guide::at_vertex(mesh, vertex);
            let guide = guide.with_context(|| {
                format!("--vertex {vertex} is not on the surface: no face gives it a normal")
            })?;
            (guide, vec![args.depth.unwrap_or(-0.5 * radius), args.spin.to_radians()])
        }
        (_, Some(joint), _) => {
            let bones = posed.bones();
            let names = || bones.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ");
            let length = |ends: &[DVec3; 2]| ends[0].distance(ends[1]);
            let own = bones.iter().filter(|(name, _)| name == joint);
            let longest = own.max_by(|a, b| length(&a.1).total_cmp(&length(&b.1)));
            let (joint, ends) = longest.with_context(|| {
                format!("--bone {joint:?}: no bone of that joint lies in flesh; there are: {}", names())
            })?;
            let guide = Guide::Bone { joint: joint.clone(), ends: *ends };
            (guide, vec![args.slide, args.orbit, args.spin.to_radians()])
        }
        (.., Some(place)) => {
            let p = vector(place, "--place")?;
            (Guide::Free, vec![p.x, p.y, p.z, 0.0, 0.0, 0.0])
        }
        _ => bail!("say where the template is to be: --vertex V, --bone JOINT or --place X,Y,Z"),
    };
    let mut eta = vec![args.amplitude.unwrap_or(1.0), radius];
    if template == Template::Torus {
        eta.push(args.ring.unwrap_or(radius));
    }
    eta.extend(rest);
    let mut extra = json!({});
    if args.amplitude.is_none() {
        let (fitted, moved) = strength(args, template, &guide, eta, posed, character)?;
        let wanted = args.out.unwrap_or(0.02 * mesh.diagonal());
        // A field wider than the limb pushes to all sides and moves the skin little.
        if moved < 0.9 * wanted {
            warnings.push(format!(
                "the skin comes out by {:.1} mm instead of {:.1} mm; a smaller --radius (now {radius:.3} m) or another --depth \
                 reaches further",
                1e3 * moved,
                1e3 * wanted
            ));
        }
        eta = fitted;
        extra["moves_vertex_by"] = json!(moved);
    }
    let mut muscle = Muscle::template(&args.name, &control.name, template, guide, eta.clone());
    if let Some(at) = args.at.map(|value| typed(control, value)).filter(|at| *at != 1.0)
        && let MuscleShape::Template { samples, .. } = &mut muscle.shape
    {
        samples.remove(1.0);
        samples.record(at, eta);
    }
    let set = MuscleSet { controls: vec![control.clone()], muscles: vec![muscle.clone()] };
    sinew::flesh::muscle::MuscleEvaluator::new(&set, &posed.body().lattice)?;
    Ok((muscle, extra))
}

/// The amplitude at which the skin nearest to the template comes out as far as is asked for.
fn strength(
    args: &MuscleAddArgs,
    template: Template,
    guide: &Guide,
    eta: Vec<f64>,
    posed: &PosedBody,
    character: &Character,
) -> anyhow::Result<(Vec<f64>, f64)> {
    let mesh = &character.mesh;
    let n = template.parameters().len();
    let center = guide.frame(&eta[n..]).center;
    let distance = |v: &usize| mesh.positions()[*v].distance_squared(center);
    let nearest = || (0..mesh.n_vertices()).min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap_or(0);
    let vertex = args.vertex.unwrap_or_else(nearest);
    let way = args.out.unwrap_or(0.02 * mesh.diagonal());
    let Some(Guide::Skin { normal, .. }) = Guide::at_vertex(mesh, vertex) else {
        bail!("vertex {vertex} has no normal; give --amplitude");
    };
    let point = posed.point(vertex)?;
    let statics = posed.statics()?;
    let lattice = &posed.body().lattice;
    let fitter = TemplateFitter::new(&statics, lattice, (template, guide), &[point], posed.rotations())?;
    let keep = (0..eta.len()).map(|i| if i == 0 { 0.0 } else { f64::INFINITY }).collect();
    let params = TemplateFitParams { keep: Some(keep), ..TemplateFitParams::default() };
    let base = posed.place(&point);
    let found = fitter.fit(&eta, &[base], &[base + normal * way], &params)?;
    let (mut eta, mut moved) = (found.eta, (found.reached[0] - base).dot(normal));
    // What a template moves is in proportion to its amplitude. One that moves the skin mostly sideways is left as it is.
    if moved > 0.5 * way {
        eta[0] *= way / moved;
        moved = way;
    }
    Ok((eta, moved))
}

/// Forces that make the character look like a target.
fn match_target(
    args: &MuscleAddArgs,
    (control, is_new): (&Control, bool),
    posed: &mut PosedBody,
    character: &Character,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(Muscle, Value)> {
    let path = args.target.as_ref().context("give a --template or a --target")?;
    let (target, _) = read_surface(path, console, warnings)?;
    let mut extra = json!({});
    if !args.no_pose {
        let features = match &args.features {
            Some(file) => read_features(file)?,
            None if target.mesh.n_vertices() == character.mesh.n_vertices() => {
                let n = character.mesh.n_vertices();
                let step = n.div_ceil(MAX_FEATURES).max(1);
                let mut used = vec![false; n];
                character.mesh.faces().iter().flatten().for_each(|&v| used[v as usize] = true);
                let every = (0..n as u32).step_by(step).filter(|&v| used[v as usize]);
                every.map(|v| (v, v)).collect::<Vec<Feature>>()
            }
            None => bail!(
                "{}: the target has {} vertices, the character {}, so they do not correspond; give pairs by --features \
                 FILE, or --no-pose if the pose is that of rest",
                path.display(),
                target.mesh.n_vertices(),
                character.mesh.n_vertices()
            ),
        };
        let _progress = console.progress("finding the pose");
        let found = fit_pose(character, &target.mesh, &features)
            .map_err(|e| with_path(e, args.features.as_ref().unwrap_or(path)))?;
        if args.features.is_some() && !found.unmoved.is_empty() {
            warnings.push(format!("no feature moves {}; they stay at rest", found.unmoved.join(", ")));
        }
        extra["pose_distance"] = json!(found.distances);
        posed.set_pose(&found.pose)?;
    }
    let lasso = lasso(args, character)?;
    let matching = if args.closest { Matching::Closest } else { Matching::Vertices };
    let params = SurfaceParams { matching, smooth: args.smooth, lasso, ..SurfaceParams::default() };
    let (fit, levels) = match args.adapt {
        None => {
            let _progress = console.progress("finding the forces");
            let fit = fit_surface(posed, &character.mesh, &target.mesh, &params, warnings);
            (fit.map_err(|e| with_path(e, path))?, Vec::new())
        }
        Some(levels) => {
            ensure!(
                is_new,
                "{}: its surface muscles already have adapted cells; use a separate file",
                args.output.display()
            );
            let progress = console.progress("finding forces and cells");
            let adapt = AdaptParams { levels, within: args.within, surface: params };
            let body = body_params(&args.body, character, None)?;
            let pose = posed.pose().clone();
            let found =
                fit_adaptive(character, (&body, &pose), &target.mesh, &adapt, warnings, &mut |share| {
                    progress.update(share)
                });
            let found = found.map_err(|e| with_path(e, path))?;
            extra["rounds"] = found
                .rounds
                .iter()
                .map(|r| json!({"cells": r.cells, "dof": r.dof, "distance": r.distances[1].mean}))
                .collect();
            *posed = found.posed;
            (found.fit, found.levels)
        }
    };
    let gamma = match (args.at, control.in_pose(Some((posed.rig(), posed.pose())))?) {
        (Some(value), _) => typed(control, value),
        (None, Some(angle)) => angle,
        (None, None) => 1.0,
    };
    ensure!(
        gamma.abs() > 1e-3,
        "the control parameter {:?} is {:.3} in the pose of the target, as at rest; choose a joint that moves, or --at VALUE",
        control.name,
        shown(control, gamma)
    );
    extra["distance_before"] = json!(fit.before.mean);
    extra["distance_after"] = json!(fit.after.mean);
    extra["reduced_percent"] = json!(100.0 * (1.0 - fit.after.mean / fit.before.mean.max(f64::MIN_POSITIVE)));
    let mut muscle =
        Muscle::surface(&args.name, &control.name, posed.body().lattice.size(), (gamma, fit.forces));
    if let MuscleShape::Surface { levels: of, .. } = &mut muscle.shape {
        *of = levels;
    }
    muscle.set_pose(posed.rig(), posed.pose());
    Ok((muscle, extra))
}

/// Vertices that mostly follow the joints named.
fn lasso(args: &MuscleAddArgs, character: &Character) -> anyhow::Result<Option<Vec<u32>>> {
    if args.lasso.is_empty() {
        return Ok(None);
    }
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else {
        bail!("--lasso: there is no skin")
    };
    let joints: Vec<usize> = args
        .lasso
        .iter()
        .map(|name| Ok(sinew::flesh::muscle::find_joint(rig, name)?))
        .collect::<anyhow::Result<_>>()?;
    let share = |v: u32| -> f32 {
        let own =
            skin.vertex(v as usize).filter(|(slot, _)| joints.contains(&skin.slots[*slot as usize].joint));
        own.map(|(_, w)| w).sum()
    };
    Ok(Some((0..character.mesh.n_vertices() as u32).filter(|&v| share(v) > 0.5).collect()))
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    let s = |key: &str| report[key].as_str().unwrap_or_default().to_owned();
    let mut text = format!("{}  {} ({}), follows {}\n", s("written"), s("name"), s("kind"), s("control"));
    if report.get("distance_after").is_some() {
        text += &format!(
            "  {:.2} mm from the target, {:.2} mm without the muscle: {:.1} % less\n",
            x("distance_after") * 1e3,
            x("distance_before") * 1e3,
            x("reduced_percent")
        );
    }
    if report.get("moves_vertex_by").is_some() {
        text += &format!("  the skin comes out by {:.2} mm\n", x("moves_vertex_by") * 1e3);
    }
    text
}
