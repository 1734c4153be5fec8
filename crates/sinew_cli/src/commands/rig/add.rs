//! `sinew rig add`: a template on a character, or forces that make it look like a target.

use super::{body_params, describe, read_features, read_rigs, shown, typed, vector, write_rigs};
use crate::{
    args::RigAddArgs,
    commands::input::{read_surface, with_path},
    console::Console,
};
use anyhow::{Context, bail, ensure};
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    flesh::rig::{
        AdaptParams, Control, ControlSource, Feature, ForceRig, Guide, Matching, PosedBody, RigSet, RigShape,
        SurfaceParams, Template, TemplateFitParams, TemplateFitter, fit_adaptive, fit_pose, fit_surface,
    },
    geom::{Character, Rig, Warnings},
};

/// Vertices at most that a pose is found by, where all correspond.
const MAX_FEATURES: usize = 2000;

pub fn run(args: &RigAddArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let (character, _) = read_surface(&args.character, console, &mut warnings)?;
    let mut set = if args.output.exists() { read_rigs(&args.output)? } else { RigSet::default() };
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
    let (rig, mut extra) = match args.template {
        Some(template) => place(args, template, &control, (&posed, &character), &mut warnings)?,
        None => {
            let is_new = set.lattice().is_none();
            match_target(args, (&control, is_new), &mut posed, &character, console, &mut warnings)?
        }
    };
    let at = insert(&mut set, rig)?;
    if let Some(factor) = args.stiffen {
        set.rigs[at].stiffen = factor;
    }
    let bytes = write_rigs(&args.output, &set)?;
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

/// Put a rig into a set; a rig of the same name and kind gets its samples.
fn insert(set: &mut RigSet, rig: ForceRig) -> anyhow::Result<usize> {
    let Some(at) = set.rigs.iter().position(|other| other.name == rig.name) else {
        set.rigs.push(rig);
        return Ok(set.rigs.len() - 1);
    };
    let old = &mut set.rigs[at];
    ensure!(
        old.control == rig.control,
        "the rig {:?} follows {:?} already; give another name",
        rig.name,
        old.control
    );
    match (&mut old.shape, rig.shape) {
        (
            RigShape::Template { template, guide, samples },
            RigShape::Template { template: other, guide: place, samples: added },
        ) if *template == other && *guide == place => {
            added.list().iter().for_each(|(at, eta)| samples.record(*at, eta.clone()));
        }
        (RigShape::Surface { samples, .. }, RigShape::Surface { samples: added, .. }) => {
            for (gamma, forces) in added.into_iter().filter(|(gamma, _)| *gamma != 0.0) {
                samples.retain(|(at, _)| *at != gamma);
                samples.push((gamma, forces));
            }
            samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        _ => bail!("the rig {:?} is there already and is something else; give another name", rig.name),
    }
    old.pose = rig.pose;
    Ok(at)
}

/// A template where the command says, as strong as it says.
fn place(
    args: &RigAddArgs,
    template: Template,
    control: &Control,
    (posed, character): (&PosedBody, &Character),
    warnings: &mut Warnings,
) -> anyhow::Result<(ForceRig, Value)> {
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
    let mut rig = ForceRig::template(&args.name, &control.name, template, guide, eta.clone());
    if let Some(at) = args.at.map(|value| typed(control, value)).filter(|at| *at != 1.0)
        && let RigShape::Template { samples, .. } = &mut rig.shape
    {
        samples.remove(1.0);
        samples.record(at, eta);
    }
    let set = RigSet { controls: vec![control.clone()], rigs: vec![rig.clone()] };
    sinew::flesh::rig::RigEvaluator::new(&set, &posed.body().lattice)?;
    Ok((rig, extra))
}

/// The amplitude at which the skin nearest to the template comes out as far as is asked for.
fn strength(
    args: &RigAddArgs,
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
    args: &RigAddArgs,
    (control, is_new): (&Control, bool),
    posed: &mut PosedBody,
    character: &Character,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<(ForceRig, Value)> {
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
            warnings.push(format!("no feature tells of {}; they stay at rest", found.unmoved.join(", ")));
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
                "{}: its surface rigs have their cells already; adapt in a file of its own",
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
    let mut rig =
        ForceRig::surface(&args.name, &control.name, posed.body().lattice.size(), (gamma, fit.forces));
    if let RigShape::Surface { levels: of, .. } = &mut rig.shape {
        *of = levels;
    }
    rig.set_pose(posed.rig(), posed.pose());
    Ok((rig, extra))
}

/// Vertices that mostly follow the joints named.
fn lasso(args: &RigAddArgs, character: &Character) -> anyhow::Result<Option<Vec<u32>>> {
    if args.lasso.is_empty() {
        return Ok(None);
    }
    let (Some(rig), Some(skin)) = (&character.rig, &character.skin) else {
        bail!("--lasso: there is no skin")
    };
    let joints: Vec<usize> = args
        .lasso
        .iter()
        .map(|name| Ok(sinew::flesh::rig::find_joint(rig, name)?))
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
            "  {:.2} mm from the target, {:.2} mm without the rig: {:.1} % less\n",
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
