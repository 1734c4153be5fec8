//! Which fit is done: the default one, that of Antonopoulos (2010), on a decimated sequence, or streamed.

use super::{FitArgs, Times};
use crate::console::{Console, Progress};
use sinew::geom::Mesh;
use sinew::session::{FitGoal, fit_to_goal};
use sinew::skin::{
    Blending, DecimateParams, EigenSkin, FitParams, FitStage, FitStatus, Grouping, LsqrParams, Merge,
    Placement, Queue, SkinError, SkinFit, SkinFitter, ThesisParams, TransformSolver,
};
use std::{
    ops::ControlFlow,
    sync::Mutex,
    time::{Duration, Instant},
};

/// Fraction of a region's queue processed in a turn (Antonopoulos (2010), §4.3.3, advises a small one).
const SHUFFLING_RATIO: f64 = 0.2;

/// What was fitted.
pub struct Fitted {
    pub fit: SkinFit,
    pub eigenskin: Option<EigenSkin>,
    /// Vertices that took part in fitting the bones.
    pub n_fitted: usize,
    /// Name of the method, for the report.
    pub method: &'static str,
}

fn bones(args: &FitArgs) -> usize {
    args.bones.unwrap_or(FitParams::default().bones)
}

/// Bones per vertex: those asked for, else those every player takes, which `--for` may only lower.
fn influences(args: &FitArgs) -> usize {
    let most = args.engine.map_or(usize::MAX, |engine| engine.limits().influences);
    args.influences.map_or(FitParams::default().influences.min(most), usize::from)
}

/// Most joints that the program of `--for` draws.
pub fn most_joints(args: &FitArgs) -> usize {
    args.engine.map_or(usize::MAX, |engine| engine.limits().joints)
}

/// Parameters of the default fit.
pub fn default_params(args: &FitArgs, seed: u64) -> FitParams {
    FitParams {
        bones: bones(args),
        influences: influences(args),
        transforms: args.transforms,
        correct_rest: !args.keep_rest,
        stiffness: args.stiffness.map_or(FitParams::default().stiffness, |percent| percent / 100.0),
        rounds: args.rounds.into(),
        starts: if args.thorough { vec![4.0, 1.0, 0.0] } else { FitParams::default().starts },
        tolerance: if args.thorough { 1e-3 } else { FitParams::default().tolerance },
        seed,
        ..FitParams::default()
    }
}

fn thesis_params(args: &FitArgs, seed: u64) -> ThesisParams {
    let defaults = ThesisParams::default();
    let (pcenter, grouping) = (Some("pcenter"), args.grouping.unwrap_or(Grouping::RegionGrowing));
    let placement =
        if args.joints.as_deref() == pcenter { Placement::PCenter } else { Placement::Deform(grouping) };
    let iterative = args.transforms_by.as_deref() == Some("lsqr");
    ThesisParams {
        bones: bones(args),
        influences: influences(args),
        transforms: args.transforms,
        placement,
        blending: args.weights.unwrap_or(Blending::Distance),
        p_factor: args.p_factor.unwrap_or(defaults.p_factor),
        passes: args.passes.map_or(defaults.passes, usize::from),
        regions: args.regions.map_or(defaults.regions, usize::from),
        solver: if iterative {
            TransformSolver::Lsqr(LsqrParams::default())
        } else {
            TransformSolver::Direct
        },
        correct_weights: args.correct_weights,
        correct_rest: !args.keep_rest,
        seed,
    }
}

fn decimate_params(args: &FitArgs, amount: f64) -> DecimateParams {
    let merge = if args.merge.as_deref() == Some("optimal") { Merge::Optimal } else { Merge::Second };
    let regions = args.queue.as_deref() == Some("regions");
    let queue = if regions { Queue::Regions { shuffling_ratio: SHUFFLING_RATIO } } else { Queue::Global };
    DecimateParams { amount, merge, queue }
}

/// Whether the pipeline of Antonopoulos (2010) is requested.
pub fn is_thesis(args: &FitArgs) -> bool {
    args.joints.is_some() || args.weights.is_some()
}

/// Do the fit that is asked for.
pub fn perform(
    args: &FitArgs,
    seed: u64,
    (fitter, mesh): (&SkinFitter, &Mesh),
    console: &Console,
    times: &mut Times,
) -> Result<Fitted, SkinError> {
    let progress = console.progress("fitting");
    let placed: Mutex<Option<Duration>> = Mutex::new(None);
    let start = Instant::now();
    let limit = args.seconds.map(Duration::from_secs_f64);
    let report = |status: FitStatus| show_progress(&progress, status, start, limit, &placed);
    let params = default_params(args, seed);
    let mut n_fitted = fitter.n_vertices();
    let mut method = if is_thesis(args) { "thesis" } else { "default" };
    let fit = match (args.decimate, is_thesis(args)) {
        (None, false) => {
            let goal = FitGoal { bones: args.bones, error: args.error, joints: most_joints(args) };
            fit_to_goal((fitter, mesh), &goal, &params, &report)?
        }
        (Some(amount), false) => {
            let small = fitter.decimate(&decimate_params(args, amount))?;
            times.lap("decimate");
            (n_fitted, method) = (small.n_vertices(), "default, decimated");
            fitter.fit_decimated(&params, &small, &report)?
        }
        (Some(amount), true) => {
            method = "thesis, decimated";
            let decimate = decimate_params(args, amount);
            let (fit, left) = fitter.fit_thesis_decimated(&thesis_params(args, seed), &decimate, &report)?;
            n_fitted = left;
            fit
        }
        (None, true) => fitter.fit_thesis(&thesis_params(args, seed), &report)?,
    };
    times.lap("fit");
    if let Some(placed) = placed.into_inner().ok().flatten() {
        times.laps.push(("place", placed.as_secs_f64()));
    }
    let eigenskin = match args.eigenskin {
        0 => None,
        n => Some(fitter.eigenskin(&fit.skin, n.into())?),
    };
    if eigenskin.is_some() {
        times.lap("eigenskin");
    }
    Ok(Fitted { fit, eigenskin, n_fitted, method })
}

/// Show how far a fit is; a fit whose time is up keeps the best it has.
fn show_progress(
    progress: &Progress,
    status: FitStatus,
    start: Instant,
    limit: Option<Duration>,
    placed: &Mutex<Option<Duration>>,
) -> ControlFlow<()> {
    if status.stage == FitStage::Refine
        && let Ok(mut placed) = placed.lock()
    {
        placed.get_or_insert_with(|| start.elapsed());
    }
    if status.error.is_finite() {
        progress.say(&format!("fitting, error {:.4} %", status.error));
    }
    let _ = progress.update(status.share);
    let is_over = limit.is_some_and(|limit| start.elapsed() > limit);
    if is_over && status.stage == FitStage::Refine {
        ControlFlow::Break(())
    } else {
        ControlFlow::Continue(())
    }
}
