//! What `reach` and `animate` share: a project with example poses.

use super::input::with_path;
use super::names::one_of;
use crate::console::Console;
use anyhow::{Context, ensure};
use clap::Args;
use sinew::{
    deform::{
        HandleSet, SurfaceEditor,
        examples::{Detail, ExamplePose, Objective, Optimiser, PoseSpace, Reorder, SearchParams},
    },
    geom::{Move, Warnings, sample::PoseSet},
    session::{Document, open_file},
};
use std::path::Path;

/// How example poses are searched.
#[derive(Args)]
pub struct SearchArgs {
    /// Search method: newton, or one of Hansen (2006)
    #[arg(long, default_value = "newton", value_parser = one_of(Optimiser::ALL, Optimiser::name))]
    pub optimiser: Optimiser,
    /// Objective to minimise, such as "target + 0.2 sum-to-one + 0.3 like-examples" [default: target + 0.2 sum-to-one,
    /// and 0.1 last-pose for motion]
    #[arg(long, value_name = "TERMS")]
    pub objective: Option<String>,
    /// Order in which examples are tried
    #[arg(long, default_value = "none", value_parser = one_of(Reorder::ALL, Reorder::name))]
    pub reorder: Reorder,
    /// Search examples one after the other, as in Hansen (2006), so that their order matters
    #[arg(long)]
    pub in_order: bool,
    /// Smallest and largest weight [default: 0..1]
    #[arg(long, value_name = "LOW..HIGH", allow_hyphen_values = true)]
    pub limits: Option<String>,
    /// Largest change of a weight per frame
    #[arg(long, value_name = "W")]
    pub local: Option<f64>,
    /// Stay within what the examples span; without it handles may move a little further to reach their targets
    #[arg(long)]
    pub examples_only: bool,
    /// Use a built-in set of poses instead of those of the project
    #[arg(long, value_name = "SET", value_parser = one_of(PoseSet::ALL, PoseSet::name))]
    pub poses: Option<PoseSet>,
}

/// A body with examples.
pub struct Body {
    pub document: Document,
    pub handles: HandleSet,
    pub space: PoseSpace,
}

/// Open a project. Its examples are those it carries, unless a set of the samples is named.
pub fn open(
    path: &Path,
    poses: Option<PoseSet>,
    console: &Console,
    warnings: &mut Warnings,
) -> anyhow::Result<Body> {
    let progress = console.progress(&format!("reading {}", path.display()));
    let document = open_file(path, &mut |share| progress.update(share), warnings)?;
    drop(progress);
    let shown = path.display();
    ensure!(
        !document.handles.is_empty(),
        "{shown}: there are no handles to move it by; paint some in the studio, or `sinew handles auto`"
    );
    let poses: Vec<Kept> = match poses {
        Some(set) => set.poses().into_iter().map(|(name, moves)| (name, moves, None)).collect(),
        None => {
            document.examples.iter().map(|e| (e.name.clone(), e.moves.to_vec(), e.detail.clone())).collect()
        }
    };
    let hint = "save poses as examples in the studio, or make a sample with them: \
                `sinew sample biped --poses walk -o walk.sinew.glb`";
    ensure!(!poses.is_empty(), "{shown}: there are no example poses to blend; {hint}");
    prepare(document, &poses, warnings).map_err(|error| with_path(error, path))
}

/// A pose with its name and its detail layer.
pub type Kept = (String, Vec<Move>, Option<Detail>);

/// Prepare a document to be posed by blends of these poses.
pub fn prepare(document: Document, poses: &[Kept], warnings: &mut Warnings) -> anyhow::Result<Body> {
    let handles = HandleSet::new(document.mesh(), &document.plain_handles(), warnings)?;
    let examples: Vec<_> = poses.iter().map(|(name, moves, _)| ExamplePose { name, moves }).collect();
    let mut space = PoseSpace::new(document.mesh(), &handles, &examples)?;
    if poses.iter().any(|(.., detail)| detail.is_some()) {
        let details = poses.iter().map(|(.., detail)| detail.clone()).collect();
        space = space.with_details(details, document.mesh().n_vertices())?;
    }
    Ok(Body { document, handles, space })
}

impl Body {
    /// What poses its surface.
    pub fn editor(&self, console: &Console, warnings: &mut Warnings) -> anyhow::Result<SurfaceEditor> {
        let progress = console.progress("preparing");
        let edit = &self.document.edit;
        Ok(SurfaceEditor::prepare(self.document.mesh(), &self.handles, edit, warnings, &|share| {
            progress.update(share)
        })?)
    }
}

impl Body {
    /// Directions in which detail layers go, at rest.
    pub fn rest_normals(&self) -> Vec<glam::DVec3> {
        let mesh = self.document.mesh();
        sinew::geom::measure::compute_vertex_normals(mesh.positions(), mesh.faces())
    }
}

/// How to search, as typed. `objective` is what is taken if none is.
pub fn params(args: &SearchArgs, objective: Objective, seed: u64) -> anyhow::Result<SearchParams> {
    let objective = args.objective.as_deref().map_or(Ok(objective), str::parse)?;
    let [low, high] = args.limits.as_deref().map_or(Ok([0.0, 1.0]), range)?;
    Ok(SearchParams {
        objective,
        optimiser: args.optimiser,
        reorder: args.reorder,
        sequential: args.in_order,
        limits: [low, high],
        local: args.local,
        residual: !args.examples_only,
        seed,
        ..SearchParams::default()
    })
}

fn range(text: &str) -> anyhow::Result<[f64; 2]> {
    let parse = |part: &str| part.trim().parse::<f64>().ok();
    text.split_once("..")
        .and_then(|(low, high)| Some([parse(low)?, parse(high)?]))
        .with_context(|| format!("--limits {text:?} is not a range; write it as 0..1"))
}
