//! Puppetry: projections beside Clarabel, the way from a body to vertices, and how near unseen people come to the pairs.

mod experiments;

use crate::{
    measure::{compare, print_head, print_row, time},
    places,
};
use anyhow::Context;
use clarabel::{
    algebra::CscMatrix,
    solver::{DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT},
};
use glam::Vec3;
use sinew::{
    formats::{Content, read_any},
    geom::{
        Warnings,
        linalg::dot,
        rig::skin_linear,
        sample::{Sample, build_character},
    },
    puppet::{
        Anatomy, BodyPose, BodyTracker, CanonicalPose, Limb, LimbSet, Performer, PerformerParams, Projection,
        ProjectionParams, ProjectionSolver, ProjectionState, Puppeteer, PuppeteerParams, RigPair,
        TrackerParams,
    },
};
use std::hint::black_box;

/// Pairs of the largest experiment of Sun (2017).
const PAIRS: usize = 23;
/// Poses projected in a round.
const POSES: usize = 400;
/// Vertices of the character.
const VERTICES: usize = 50_000;

/// Print the tables; with `--experiments FOLDER`, those of Sun (2017) as a page instead.
pub fn run(args: &[String]) -> anyhow::Result<()> {
    match args {
        [] => {}
        [option, folder] if option == "--experiments" => return experiments::run(folder.as_ref()),
        _ => anyhow::bail!("usage: sinew_bench puppet [--experiments FOLDER]"),
    }
    let examples = choose(&poses("s01_e01")?, PAIRS);
    let unseen = poses("s03_e01")?;
    projections(&examples, &unseen)?;
    vertices(&examples, &unseen)?;
    unseen_residuals(&examples)
}

/// Poses of a recording, as they are tracked without smoothing.
fn poses(name: &str) -> anyhow::Result<Vec<CanonicalPose>> {
    let data = places::data();
    let path = data.join(format!("kinect20/utkinect/joints_{name}.txt"));
    let Content::Recording(recording) = read_any(&path, &mut Warnings::default())? else {
        anyhow::bail!("{}: no recording", path.display())
    };
    let mut tracker = BodyTracker::new(TrackerParams { smoothing: 0.0, ..TrackerParams::default() });
    let frames = BodyPose::from_recording(&recording)?;
    let tracked = frames.iter().filter_map(|(time, body)| tracker.step(*time, body));
    Ok(tracked.filter(|tracked| !tracked.held).map(|tracked| tracked.pose).collect())
}

/// Poses that are far from each other: each the farthest from those before.
fn choose(poses: &[CanonicalPose], n: usize) -> Vec<CanonicalPose> {
    let distance = |a: &CanonicalPose, b: &CanonicalPose| -> f64 {
        a.numbers.iter().zip(&b.numbers).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let mut chosen = vec![poses[0].clone()];
    while chosen.len() < n {
        let nearest =
            |pose: &CanonicalPose| chosen.iter().map(|c| distance(c, pose)).fold(f64::INFINITY, f64::min);
        let Some(farthest) = poses.iter().max_by(|a, b| nearest(a).total_cmp(&nearest(b))) else { break };
        chosen.push(farthest.clone());
    }
    chosen
}

/// Microseconds are printed as milliseconds, as everywhere.
fn projections(examples: &[CanonicalPose], unseen: &[CanonicalPose]) -> anyhow::Result<()> {
    let numbers: Vec<Vec<f64>> = examples.iter().map(|pose| pose.numbers.to_vec()).collect();
    let inputs: Vec<Vec<f64>> = unseen.iter().take(POSES).map(|pose| pose.numbers.to_vec()).collect();
    println!(
        "{} pairs of 60 numbers, {} poses of another person; a projection, warm",
        numbers.len(),
        inputs.len()
    );
    print_head();
    for projection in [Projection::Linear, Projection::Positive, Projection::default()] {
        let params = ProjectionParams { projection, ..ProjectionParams::default() };
        let solver = ProjectionSolver::new(&numbers, &params)?;
        let mut state = ProjectionState::default();
        let mut peer = Peer::new(&numbers, &params)?;
        let [ours, theirs] = compare(
            9,
            || inputs.iter().for_each(|pose| drop(black_box(solver.solve(pose, &mut state)))),
            || inputs.iter().for_each(|pose| drop(black_box(peer.solve(pose)))),
        );
        let n = inputs.len() as f64;
        print_row(
            &format!("projection, {}", projection.name()),
            ours / n,
            "Clarabel, update_q",
            theirs / n,
            None,
        );
    }
    Ok(())
}

/// The same problem for Clarabel, prepared as far as it can be.
struct Peer {
    solver: DefaultSolver<f64>,
    mean: Vec<f64>,
    rows: Vec<Vec<f64>>,
    price: Option<f64>,
}

impl Peer {
    fn new(examples: &[Vec<f64>], params: &ProjectionParams) -> anyhow::Result<Self> {
        let (n, d) = (examples.len(), examples[0].len());
        let mean: Vec<f64> = (0..d).map(|k| examples.iter().map(|e| e[k]).sum::<f64>() / n as f64).collect();
        let rows: Vec<Vec<f64>> =
            examples.iter().map(|e| e.iter().zip(&mean).map(|(v, m)| v - m).collect()).collect();
        let scale = rows.iter().map(|r| dot(r, r)).sum::<f64>() / n as f64;
        let price = Some(params.projection.lambda() * scale).filter(|price| price.is_finite());
        let n_split = if price.is_some() { 2 * n } else { n };
        let (mut quadratic, mut constraints) = (Columns::default(), Columns::default());
        for j in 0..n_split {
            for i in 0..=j {
                let sign = if (i < n) == (j < n) { 1.0 } else { -1.0 };
                let ridge = if i % n == j % n { params.ridge * scale } else { 0.0 };
                quadratic.push(i, sign * (dot(&rows[i % n], &rows[j % n]) + ridge));
            }
            quadratic.end();
            constraints.push(0, if j < n { 1.0 } else { -1.0 });
            constraints.push(1 + j, -1.0);
            constraints.end();
        }
        let mut right = vec![0.0; 1 + n_split];
        right[0] = 1.0;
        let settings =
            DefaultSettings { verbose: false, presolve_enable: false, ..DefaultSettings::default() };
        let cones = [ZeroConeT(1), NonnegativeConeT(n_split)];
        let solver = DefaultSolver::new(
            &quadratic.matrix(n_split, n_split),
            &vec![0.0; n_split],
            &constraints.matrix(1 + n_split, n_split),
            &right,
            &cones,
            settings,
        )
        .context("Clarabel refuses the problem")?;
        Ok(Self { solver, mean, rows, price })
    }

    fn solve(&mut self, pose: &[f64]) -> anyhow::Result<f64> {
        let centred: Vec<f64> = pose.iter().zip(&self.mean).map(|(v, m)| v - m).collect();
        let pull: Vec<f64> = self.rows.iter().map(|row| dot(row, &centred)).collect();
        let mut linear: Vec<f64> = pull.iter().map(|b| -b).collect();
        if let Some(price) = self.price {
            linear.extend(pull.iter().map(|b| b + price));
        }
        self.solver.update_q(&linear).context("Clarabel refuses the pose")?;
        self.solver.solve();
        Ok(self.solver.solution.x[0])
    }
}

#[derive(Default)]
struct Columns {
    starts: Vec<usize>,
    rows: Vec<usize>,
    values: Vec<f64>,
}

impl Columns {
    fn push(&mut self, row: usize, value: f64) {
        self.rows.push(row);
        self.values.push(value);
    }

    fn end(&mut self) {
        self.starts.push(self.rows.len());
    }

    fn matrix(self, n_rows: usize, n_columns: usize) -> CscMatrix<f64> {
        let starts = std::iter::once(0).chain(self.starts).collect();
        CscMatrix::new(n_rows, n_columns, starts, self.rows, self.values)
    }
}

/// From a body to the vertices of a character with a skin.
fn vertices(examples: &[CanonicalPose], unseen: &[CanonicalPose]) -> anyhow::Result<()> {
    let character = build_character(Sample::Quadruped, VERTICES)?;
    let (rig, skin) = character.rig.as_ref().zip(character.skin.as_ref()).context("the sample has a skin")?;
    let walk = character.clips.first().context("the sample has a clip")?;
    let body = |pose: &CanonicalPose| BodyPose::new(std::array::from_fn(|k| pose.joint(k)));
    let pair = |(k, pose): (usize, &CanonicalPose)| {
        let time = walk.duration_secs() * k as f32 / examples.len() as f32;
        RigPair { body: body(pose), pose: walk.sample(rig, time) }
    };
    let pairs: Vec<RigPair> = examples.iter().enumerate().map(pair).collect();
    let mut performer = Performer::new(rig, &Anatomy::read(rig, &[]), &pairs, &PerformerParams::default())?;
    let bodies: Vec<BodyPose> = unseen.iter().take(POSES).map(body).collect();
    let rest: Vec<Vec3> = character.mesh.positions().iter().map(|p| p.as_vec3()).collect();
    let mut out = vec![Vec3::ZERO; rest.len()];
    let mut frame = 0;
    let mut perform = |with_skin: bool| {
        for pose in &bodies {
            frame += 1;
            let performed = performer.step(rig, f64::from(frame) / 30.0, pose);
            if let (true, Ok(Some(performed))) = (with_skin, &performed) {
                drop(black_box(skin_linear(skin, &skin.matrices(&performed.world), &rest, &mut out)));
            }
        }
    };
    let n = bodies.len() as f64;
    let [pose_ms, whole_ms] = [time(5, || perform(false)) / n, time(5, || perform(true)) / n];
    println!(
        "\nbody to pose of a quadruped: {:.1} us; to its {} vertices: {whole_ms:.3} ms",
        1e3 * pose_ms,
        rest.len()
    );
    Ok(())
}

/// How far people who paired nothing are from the blends, by kind of space and projection.
fn unseen_residuals(examples: &[CanonicalPose]) -> anyhow::Result<()> {
    println!("\nroot mean square distance of a joint from the pairs' blend, cm, of the standard body");
    println!("{:<22} {:>8} {:>9} {:>8}", "", "linear", "positive", "l1");
    let parts: Vec<LimbSet> = Limb::ALL.iter().map(|limb| LimbSet::of(&[*limb])).collect();
    for name in ["s03_e01", "s05_e02", "s09_e01"] {
        let unseen = poses(name)?;
        for (what, parts) in [("whole body", &[LimbSet::BODY][..]), ("five parts", &parts)] {
            let mut row = format!("{name} {what:<14}");
            for projection in [Projection::Linear, Projection::Positive, Projection::default()] {
                let projection = ProjectionParams { projection, ..ProjectionParams::default() };
                let params = PuppeteerParams { projection, ..PuppeteerParams::default() };
                let mut puppeteer = Puppeteer::new(examples, parts, &params)?;
                let mut sum = 0.0;
                for pose in &unseen {
                    sum += puppeteer.step(pose)?.residual.powi(2);
                }
                row += &format!(" {:>8.2}", 100.0 * (sum / unseen.len() as f64).sqrt());
            }
            println!("{row}");
        }
    }
    Ok(())
}
