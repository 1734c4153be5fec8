//! `sinew muscle transfer`: muscles of one character on another.

use super::{BodyArgs, body_params, read_features, read_muscles, write_muscles};
use crate::{
    commands::{
        input::{read_surface, with_path},
        output::{OutputOptions, write_character},
    },
    console::Console,
};
use anyhow::{Context, bail, ensure};
use clap::Args;
use glam::DVec3;
use serde_json::{Value, json};
use sinew::{
    flesh::{
        muscle::MuscleError,
        muscle_fit::{
            CharacterMap, Feature, JointPairs, MapPairs, MapParams, PosedBody, carry_skeleton, fit_map,
            match_joints, transfer_muscles,
        },
    },
    geom::{Character, Mesh, Warnings},
};
use std::{
    path::{Path, PathBuf},
    time::Instant,
};

#[derive(Args)]
pub struct MuscleTransferArgs {
    /// Character that has the muscles
    pub source: PathBuf,
    /// Its muscle file
    #[arg(long, value_name = "FILE", alias = "rigs")]
    pub muscles: PathBuf,
    /// Character to transfer them to; without a skeleton it also gets the skeleton of the source
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// Pairs of vertices, source:target, that correspond (json, yml, corr)
    #[arg(long, value_name = "FILE")]
    pub features: Option<PathBuf>,
    /// Joints with different names that correspond: arm_l=LeftArm
    #[arg(long, value_name = "SOURCE=TARGET,…", value_delimiter = ',')]
    pub pair: Vec<String>,
    /// Write the target with its new skeleton (glb)
    #[arg(long, value_name = "FILE")]
    pub character: Option<PathBuf>,
    #[command(flatten)]
    pub body: BodyArgs,
    /// File to write (.json)
    #[arg(long, short)]
    pub output: PathBuf,
}

pub fn run(args: &MuscleTransferArgs, console: &Console) -> anyhow::Result<()> {
    let mut warnings = Warnings::default();
    let set = read_muscles(&args.muscles)?;
    let (source, _) = read_surface(&args.source, console, &mut warnings)?;
    let (mut target, origin) = read_surface(&args.to, console, &mut warnings)?;
    let features = args.features.as_deref().map(read_features).transpose()?.unwrap_or_default();
    let is_bare = target.rig.is_none() || target.skin.is_none();
    if is_bare {
        ensure!(
            args.character.is_some(),
            "{}: there is no skeleton; name a file by --character FILE.glb that gets the mesh with that of the source",
            args.to.display()
        );
    }
    let params = body_params(&args.body, &source, Some(&set))?;
    let mut from = {
        let _progress = console.progress("filling the source with flesh");
        PosedBody::new(&source, &params, &mut warnings).map_err(|e| with_path(e, &args.source))?
    };
    let mut joints = if is_bare { JointPairs::new() } else { pairs_of(args, &source, &target)? };
    let start = Instant::now();
    let pairs = MapPairs {
        bones: places(&source, &target, &joints),
        features: features_of((&source.mesh, &target.mesh), &features, args.features.as_deref())?,
    };
    let map: CharacterMap = {
        let progress = console.progress("mapping one body to the other");
        let body = (from.body(), &source.mesh);
        fit_map(body, &target.mesh, &pairs, &MapParams::default(), &mut |share| progress.update(share))
            .map_err(|e| with_path(e, &args.to))?
    };
    if is_bare {
        let carried = carry_skeleton(&map, &source, &target.mesh, &mut warnings)?;
        (target.rig, target.skin) = (carried.rig, carried.skin);
        joints = pairs_of(args, &source, &target)?;
    }
    let _progress = console.progress("transferring muscles");
    let target_params = body_params(&args.body, &target, None)?;
    let mut to =
        PosedBody::new(&target, &target_params, &mut warnings).map_err(|e| with_path(e, &args.to))?;
    let (carried, done) = transfer_muscles(&mut from, &set, &map, &mut to, &joints)?;
    if done.folded_cells > 0 {
        warnings.push(format!(
            "{} cells still fold over, between bones that turn against each other; more --cells may help",
            done.folded_cells
        ));
    }
    let bytes = write_muscles(&args.output, &carried)?;
    if let Some(path) = &args.character {
        let options = OutputOptions { clip: None, fps: None, influences: 4, origin };
        write_character(&target, path, &options, &mut warnings)?;
    }
    let report = json!({
        "muscles": carried.muscles.iter().map(|muscle| muscle.name.clone()).collect::<Vec<_>>(),
        "joints": joints.len(),
        "features": features.len(),
        "map_skeleton_percent": 100.0 * map.report.skeleton,
        "map_features_percent": 100.0 * map.report.features,
        "map_surface_percent": 100.0 * map.report.surface,
        "map_least_volume": map.report.least_volume,
        "unfolded_cells": done.unfolded_cells,
        "folded_cells": done.folded_cells,
        "least_volume": done.least_volume,
        "seconds": start.elapsed().as_secs_f64(),
        "written": args.output.display().to_string(),
        "bytes": bytes,
        "warnings": warnings.messages,
    });
    console.warn(&args.to, &warnings);
    console.result(&report, || as_text(&report))
}

fn pairs_of(args: &MuscleTransferArgs, source: &Character, target: &Character) -> anyhow::Result<JointPairs> {
    let one = |text: &String| {
        let (a, b) =
            text.split_once('=').with_context(|| format!("--pair {text:?}: give SOURCE=TARGET joints"))?;
        Ok((a.trim().to_owned(), b.trim().to_owned()))
    };
    let by_hand = args.pair.iter().map(one).collect::<anyhow::Result<Vec<_>>>()?;
    match_joints(source, target, &by_hand).map_err(|e| with_path(e, &args.to))
}

/// Where paired joints are at rest.
fn places(source: &Character, target: &Character, joints: &JointPairs) -> Vec<[DVec3; 2]> {
    let (Some(from), Some(to)) = (&source.rig, &target.rig) else { return Vec::new() };
    let (from, to) = (from.rest_world(), to.rest_world());
    joints.iter().map(|&(a, b)| [from[a].translation, to[b].translation]).collect()
}

fn features_of(
    (source, target): (&Mesh, &Mesh),
    features: &[Feature],
    file: Option<&Path>,
) -> anyhow::Result<Vec<[DVec3; 2]>> {
    let place = |mesh: &Mesh, feature: usize, vertex: u32, of: &'static str| -> Result<DVec3, MuscleError> {
        let (vertex, n_vertices) = (vertex as usize, mesh.n_vertices());
        mesh.positions().get(vertex).copied().ok_or(MuscleError::FeatureRange {
            feature,
            vertex,
            of,
            n_vertices,
        })
    };
    let mut out = Vec::new();
    for (k, &(a, b)) in features.iter().enumerate() {
        match (place(source, k, a, "source"), place(target, k, b, "target")) {
            (Ok(from), Ok(to)) => out.push([from, to]),
            (Err(error), _) | (_, Err(error)) => match file {
                Some(file) => bail!("{}: {error}", file.display()),
                None => return Err(error.into()),
            },
        }
    }
    Ok(out)
}

fn as_text(report: &Value) -> String {
    let x = |key: &str| report[key].as_f64().unwrap_or(f64::NAN);
    format!(
        "{}  {} muscles transferred in {:.1} s\n  the map misses the skeleton by {:.2} %, features by {:.2} %, the surface by \
         {:.2} % of the diagonal; least corner {:.2}\n  {} cells are kept from folding over\n",
        report["written"].as_str().unwrap_or_default(),
        report["muscles"].as_array().map_or(0, Vec::len),
        x("seconds"),
        x("map_skeleton_percent"),
        x("map_features_percent"),
        x("map_surface_percent"),
        x("map_least_volume"),
        report["unfolded_cells"]
    )
}
