//! The experiments of Sun (2017), chapter 5, on real recordings: tables 5.1–5.9 in numbers, 5.10–5.13 in pictures.
//!
//! `cargo run --release -p sinew_bench -- puppet --experiments docs/puppet` writes `experiments.md` and its pictures.

use super::{choose, poses};
use anyhow::Context;
use glam::{DQuat, DVec3};
use sinew::{
    geom::{
        Character, Pose, Rig,
        sample::{Sample, build_character},
    },
    puppet::{
        BodyPose, CanonicalPose, Projection, ProjectionParams, ProjectionSolver, ProjectionState, RigBlend,
        Weights,
    },
    session::draw_thumbnail,
};
use std::{fmt::Write, path::Path};

/// Vertices of the characters in the pictures.
const VERTICES: usize = 6_000;
/// Weights of the first of two base poses, as in Sun (2017), tables 5.10–5.13; the other has the rest.
const COLUMNS: [f64; 7] = [-1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0];

/// Write the page and its pictures into a folder.
pub fn run(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let page = Page { text: HEAD.to_owned(), agreed: Vec::new() };
    let page = page.projections()?.pictures(folder)?;
    let mut text = page.text;
    let _ = writeln!(text, "## Agreement\n\n{}", page.agreed.join(" "));
    let path = folder.join("experiments.md");
    std::fs::write(&path, text).with_context(|| path.display().to_string())?;
    println!("{}", path.display());
    Ok(())
}

const HEAD: &str = "# The experiments of Sun (2017)\n\n\
Sun (2017), tables 5.1–5.13, on recordings of UTKinect, which he did not have: base poses are of person 1, inputs of \
person 3 unless stated otherwise. Poses are normalised as everywhere in Sinew (place, heading and bone lengths taken out). \
Made by `cargo run --release -p sinew_bench -- puppet --experiments docs/puppet`.\n\n";

struct Page {
    text: String,
    /// Sentences on what agrees with Sun (2017).
    agreed: Vec<String>,
}

/// A pose with a name.
type Named = (String, CanonicalPose);

/// How high the hands are, on average, above the shoulders: −1 hanging, 1 stretched up.
fn arms(pose: &CanonicalPose) -> f64 {
    let lift = |shoulder: usize| (pose.joint(shoulder + 2) - pose.joint(shoulder)).y / 0.53;
    0.5 * (lift(4) + lift(8))
}

/// How far the hands are to the side of the shoulders.
fn spread(pose: &CanonicalPose) -> f64 {
    (pose.joint(6) - pose.joint(4)).x.min((pose.joint(8) - pose.joint(10)).x) / 0.53
}

/// How high a knee is above that of a standing leg; 0 left, 1 right.
fn knee(pose: &CanonicalPose, side: usize) -> f64 {
    (pose.joint(13 + 4 * side).y + 0.45) / 0.43
}

fn best(poses: &[CanonicalPose], score: impl Fn(&CanonicalPose) -> f64) -> anyhow::Result<CanonicalPose> {
    poses.iter().max_by(|a, b| score(a).total_cmp(&score(b))).cloned().context("no poses")
}

/// Weights of a pose.
fn project(bases: &[Named], pose: &[f64], projection: Projection) -> anyhow::Result<Vec<f64>> {
    let numbers: Vec<Vec<f64>> = bases.iter().map(|(_, pose)| pose.numbers.to_vec()).collect();
    let params = ProjectionParams { projection, ..ProjectionParams::default() };
    let mut state = ProjectionState::default();
    ProjectionSolver::new(&numbers, &params)?.solve(pose, &mut state)?;
    Ok(state.weights)
}

const METHODS: [Projection; 3] =
    [Projection::Linear, Projection::L1(Projection::LAMBDA), Projection::Positive];

fn least(rows: &[Vec<f64>]) -> f64 {
    rows.iter().flatten().copied().fold(f64::INFINITY, f64::min)
}

fn difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

impl Page {
    /// A table of weights: a row for each input.
    fn table(&mut self, title: &str, bases: &[Named], rows: &[(String, Vec<f64>)]) {
        let names: Vec<&str> = bases.iter().map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(self.text, "**{title}**\n\n| input | {} |", names.join(" | "));
        let _ = writeln!(self.text, "|---|{}", "---:|".repeat(names.len()));
        for (name, weights) in rows {
            let cells: Vec<String> = weights.iter().map(|w| format!("{w:.2}")).collect();
            let _ = writeln!(self.text, "| {name} | {} |", cells.join(" | "));
        }
        self.text.push('\n');
    }

    fn rows(
        &mut self,
        title: &str,
        (bases, inputs): (&[Named], &[Named]),
        projection: Projection,
    ) -> anyhow::Result<Vec<Vec<f64>>> {
        let row = |(name, pose): &Named| Ok((name.clone(), project(bases, &pose.numbers, projection)?));
        let rows = inputs.iter().map(row).collect::<anyhow::Result<Vec<_>>>()?;
        self.table(title, bases, &rows);
        Ok(rows.into_iter().map(|(_, weights)| weights).collect())
    }

    fn projections(mut self) -> anyhow::Result<Self> {
        let (own, other) = (poses("s01_e01")?, poses("s03_e01")?);
        let down = ("arms down".to_owned(), best(&own, |p| -arms(p) - 0.5 * spread(p))?);
        let straight = ("arms straight".to_owned(), best(&own, |p| spread(p) - arms(p).abs())?);
        let up = ("arms up".to_owned(), best(&own, arms)?);
        let near = |wanted: f64| {
            best(&other, |p| -(arms(p) - wanted).abs() - 0.5 * (knee(p, 0).max(0.0) + knee(p, 1).max(0.0)))
        };
        let (low, middle, high) = (arms(&down.1), arms(&straight.1), arms(&up.1));
        let between = |a: f64, b: f64, t: f64| a + t * (b - a);
        let mut inputs: Vec<Named> = Vec::new();
        for (t, name) in [(0.1, "nearly down"), (0.5, "half-way"), (0.9, "nearly straight")] {
            inputs.push((name.into(), near(between(low, middle, t))?));
        }
        let mut five = inputs.clone();
        five.push(("raised".into(), near(between(middle, high, 0.5))?));
        five.push(("up".into(), near(high)?));
        let (two, three) = ([down.clone(), straight.clone()], [down.clone(), straight.clone(), up.clone()]);

        self.text += "## Projection\n\n";
        let first = self.rows(
            "5.1 · two base poses, in-between inputs, linear",
            (&two, &inputs),
            Projection::Linear,
        )?;
        let rising = first.windows(2).all(|w| w[1][1] > w[0][1]);
        self.agreed.push(format!(
            "In-between inputs get weights in their order ({}; table 5.1).",
            if rising { "as in Sun (2017)" } else { "not here" }
        ));
        let linear = self.rows("5.2 · three base poses, linear", (&three, &five), Projection::Linear)?;
        let positive =
            self.rows("5.3 · three base poses, positive", (&three, &five), Projection::Positive)?;
        self.agreed.push(format!(
            "A third base pose brings negative weights to the linear projection (least {:.2}; 5.2), and none to the \
             positive one ({:.2}; 5.3).",
            least(&linear),
            least(&positive).max(0.0)
        ));
        let closed = self.rows(
            "5.4 · two base poses, inputs beyond them, positive",
            (&two, &five),
            Projection::Positive,
        )?;
        self.agreed.push(format!(
            "Raised arms are beyond “down” and “straight”: the positive projection stays at the nearer one ({:.2}; 5.4).",
            closed[4][1]
        ));
        let mut reached = Vec::new();
        for lambda in [0.0, 0.05, 0.2, 1.0] {
            let title = format!("5.5 · the same by L1, λ = {lambda} of the mean square");
            let rows = self.rows(&title, (&two, &five), Projection::L1(lambda))?;
            reached.push(rows[3][1].max(rows[4][1]));
        }
        let falls = reached.windows(2).all(|w| w[1] <= w[0] + 1e-9);
        self.agreed.push(format!(
            "A growing penalty λ reduces extrapolation from {:.2} to {:.2}{} (5.5); in Sinew it is relative to the mean square of the \
             base poses, so that its values differ from Sun's.",
            reached[0],
            reached[3],
            if falls { ", monotonically" } else { "" }
        ));
        self.legs(&three, &own, &other)?;
        self.many(&own, &other)?;
        Ok(self)
    }

    /// Tables 5.6–5.8: arms and legs together, and inputs that are shifted.
    fn legs(
        &mut self,
        three: &[Named],
        own: &[CanonicalPose],
        other: &[CanonicalPose],
    ) -> anyhow::Result<()> {
        let alone = |side: usize| move |p: &CanonicalPose| knee(p, side) - knee(p, 1 - side);
        let mut bases = three.to_vec();
        bases.push(("left knee".into(), best(own, alone(0))?));
        bases.push(("right knee".into(), best(own, alone(1))?));
        let inputs: Vec<Named> =
            vec![("left step".into(), best(other, alone(0))?), ("right step".into(), best(other, alone(1))?)];
        for projection in METHODS {
            let title = format!("5.6 · five base poses, arms and legs, {}", projection.name());
            self.rows(&title, (&bases, &inputs), projection)?;
        }
        // As Sun (2017) shifts them: every coordinate of the input, after normalisation.
        let shifted = |pose: &CanonicalPose, axis: usize| {
            let mut numbers = pose.numbers.to_vec();
            numbers.iter_mut().skip(axis).step_by(3).for_each(|x| *x += 0.5);
            numbers
        };
        let mut changes = Vec::new();
        for projection in METHODS {
            let mut rows = Vec::new();
            for (name, pose) in &inputs {
                rows.push((format!("{name}, 0.5 m in x"), project(&bases, &shifted(pose, 0), projection)?));
            }
            self.table(&format!("5.7 · inputs shifted, {}", projection.name()), &bases, &rows);
            let change = |axis: usize| -> anyhow::Result<f64> {
                let mut most = 0.0f64;
                for (_, pose) in &inputs {
                    let (a, b) = (
                        project(&bases, &pose.numbers, projection)?,
                        project(&bases, &shifted(pose, axis), projection)?,
                    );
                    most = most.max(difference(&a, &b));
                }
                Ok(most)
            };
            changes.push((projection.name(), [change(0)?, change(1)?, change(2)?]));
        }
        let _ = writeln!(self.text, "**5.8 · largest change of a weight by a shift of 0.5 m**\n");
        let _ = writeln!(self.text, "| | x | y | z | as Sinew takes it, any |\n|---|---:|---:|---:|---:|");
        let mut ours = 0.0f64;
        for (_, pose) in &inputs {
            let taken = |shift: f64| {
                let body = BodyPose::new(std::array::from_fn(|k| pose.joint(k) + DVec3::splat(shift)));
                CanonicalPose::of(&body).0.numbers
            };
            ours = ours.max(difference(&taken(0.0), &taken(0.5)));
        }
        for (name, [x, y, z]) in &changes {
            let _ = writeln!(self.text, "| {name} | {x:.2} | {y:.2} | {z:.2} | {ours:.0e} |");
        }
        self.text.push('\n');
        let total = |at: usize| changes[at].1.iter().sum::<f64>();
        self.agreed.push(format!(
            "A shift of the input disturbs the linear projection (changes sum to {:.2}), L1 {} ({:.2}; Sun finds it the \
             most stable, with other penalties) and the positive one least ({:.2}; 5.7, 5.8); removing the position from the \
             pose, as both Sun and Sinew do in use, removes the disturbance.",
            total(0),
            if total(1) < 0.9 * total(0) { "less" } else { "about as much" },
            total(1),
            total(2)
        ));
        Ok(())
    }

    /// Table 5.9: all 23 base poses.
    fn many(&mut self, own: &[CanonicalPose], other: &[CanonicalPose]) -> anyhow::Result<()> {
        let bases: Vec<Named> =
            choose(own, 23).into_iter().enumerate().map(|(k, pose)| (k.to_string(), pose)).collect();
        let inputs = [
            ("arms up", best(other, arms)?),
            ("left step", best(other, |p| knee(p, 0))?),
            ("first", other[0].clone()),
        ];
        let _ = writeln!(
            self.text,
            "**5.9 · 23 base poses: how many have a weight beyond 0.01, sum of |w|, distance in cm**\n"
        );
        let _ = writeln!(self.text, "| input | linear | l1 | positive |\n|---|---|---|---|");
        let mut used = [0usize; 3];
        for (name, pose) in &inputs {
            let mut cells = Vec::new();
            for (k, projection) in METHODS.into_iter().enumerate() {
                let weights = project(&bases, &pose.numbers, projection)?;
                let n = weights.iter().filter(|w| w.abs() > 0.01).count();
                let sum: f64 = weights.iter().map(|w| w.abs()).sum();
                let missed = |at: usize| {
                    let blend: f64 = weights.iter().zip(&bases).map(|(w, (_, b))| w * b.numbers[at]).sum();
                    (blend - pose.numbers[at]).powi(2)
                };
                let rms = 100.0 * ((0..60).map(missed).sum::<f64>() / 20.0).sqrt();
                used[k] += n;
                cells.push(format!("{n}, {sum:.1}, {rms:.1}"));
            }
            let _ = writeln!(self.text, "| {name} | {} |", cells.join(" | "));
        }
        self.text.push('\n');
        self.agreed.push(format!(
            "With 23 base poses the linear projection uses most of them ({:.0} on average), L1 {:.0} and the positive one {:.0} \
             (5.9).",
            used[0] as f64 / 3.0,
            used[1] as f64 / 3.0,
            used[2] as f64 / 3.0
        ));
        Ok(())
    }

    fn pictures(mut self, folder: &Path) -> anyhow::Result<Self> {
        self.text += "## Interpolation\n\nWeights of the first base pose from −1 to 2, the other has the rest; both base \
                      poses are at 0 and 1. Above by turns of joints, below by matrices. Each picture fills its frame, \
                      so that a squeezed bar looks wide.\n\n";
        let turn = |joints: &'static [(&'static str, [f64; 3])]| {
            move |rig: &Rig, pose: &mut Pose| turned(rig, pose, joints)
        };
        let ups: &[(&str, [f64; 3])] =
            &[("upper_arm.L", [0.0, 0.0, 75.0]), ("upper_arm.R", [0.0, 0.0, -75.0])];
        let claps: &[(&str, [f64; 3])] =
            &[("upper_arm.L", [0.0, -80.0, 0.0]), ("upper_arm.R", [0.0, 80.0, 0.0])];
        let wings: &[(&str, [f64; 3])] =
            &[("upper_arm.L", [0.0, 50.0, 0.0]), ("upper_arm.R", [0.0, -50.0, 0.0])];
        let legs: &[(&str, [f64; 3])] = &[
            ("upper_arm.L", [-45.0, 0.0, 0.0]),
            ("upper_arm.R", [35.0, 0.0, 0.0]),
            ("thigh.L", [35.0, 0.0, 0.0]),
            ("thigh.R", [-35.0, 0.0, 0.0]),
        ];
        let twist: &[(&str, [f64; 3])] =
            &[("bone.2", [0.0, 40.0, 0.0]), ("bone.3", [0.0, 40.0, 0.0]), ("bone.4", [0.0, 40.0, 0.0])];
        let squeeze = |rig: &Rig, pose: &mut Pose| {
            for joint in 1..rig.n_joints() {
                pose.locals[joint].translation *= 0.6;
            }
        };
        let none = |_: &Rig, _: &mut Pose| {};
        let (mut stretches, mut widths) = (Vec::new(), Vec::new());
        for (title, file, sample, change) in [
            ("5.10 · a humanoid raises its arms", "5.10", Sample::Biped, [&turn(ups) as &Change, &none]),
            ("5.11 · a humanoid claps", "5.11", Sample::Biped, [&turn(claps), &turn(wings)]),
            ("5.12 · a bar is squeezed", "5.12", Sample::Bar, [&squeeze, &none]),
            ("5.13 · a bar is twisted", "5.13", Sample::Bar, [&turn(twist), &none]),
            ("the same for a dog's stride", "dog", Sample::Quadruped, [&turn(legs), &none]),
        ] {
            let character = build_character(sample, VERTICES)?;
            let strips = Strips::new(&character, change)?;
            let _ = writeln!(
                self.text,
                "**{title}**: limbs are stretched by at most {:.0} % with turns, {:.0} % with matrices.\n",
                100.0 * strips.stretch[0],
                100.0 * strips.stretch[1]
            );
            for (k, way) in ["turns", "matrices"].into_iter().enumerate() {
                let name = format!("{file}-{way}.png");
                std::fs::write(folder.join(&name), &strips.png[k])?;
                let _ = writeln!(self.text, "![{title}, {way}]({name})\n");
            }
            stretches.push(strips.stretch);
            widths.push(strips.width);
        }
        self.agreed.push(format!(
            "Beyond the base poses matrices stretch the arms of a humanoid to {:.1} times their length while turns keep it (5.10, \
             5.11); shifts of joints extrapolate alike in both, so that the bar is elastic (5.12); and twisted beyond its \
             base pose, the bar keeps its width by turns ({:.2} of it) and swells by matrices (to {:.2}; 5.13).",
            1.0 + stretches[0][1].max(stretches[1][1]),
            widths[3][0],
            widths[3][1]
        ));
        Ok(self)
    }
}

/// How a base pose differs from rest.
type Change<'a> = dyn Fn(&Rig, &mut Pose) + 'a;

fn turned(rig: &Rig, pose: &mut Pose, joints: &[(&str, [f64; 3])]) {
    for (name, degrees) in joints {
        let Some(joint) = rig.find(name) else { continue };
        let [x, y, z] = degrees.map(f64::to_radians);
        let turn = DQuat::from_rotation_z(z) * DQuat::from_rotation_y(y) * DQuat::from_rotation_x(x);
        // About the axes of the world, whichever way the joint is turned at rest.
        pose.locals[joint].rotation = turn * pose.locals[joint].rotation;
    }
}

/// Pictures of both interpolations, and how much they stretch limbs.
struct Strips {
    png: [Vec<u8>; 2],
    stretch: [f64; 2],
    /// Largest distance from the vertical axis, of that at rest.
    width: [f64; 2],
}

impl Strips {
    fn new(character: &Character, change: [&Change; 2]) -> anyhow::Result<Self> {
        let rig = character.rig.as_ref().context("samples have a skeleton")?;
        let bases = change.map(|change| {
            let mut pose = rig.rest_pose();
            change(rig, &mut pose);
            pose
        });
        let blend = RigBlend::new(rig, &bases, &[])?;
        let (mut rows, mut stretch, mut width) = ([Vec::new(), Vec::new()], [0.0f64; 2], [0.0f64; 2]);
        let radius = |positions: &[DVec3]| positions.iter().map(|p| p.x.hypot(p.z)).fold(0.0, f64::max);
        let at_rest = radius(character.mesh.positions());
        for first in COLUMNS {
            let weights = Weights::uniform(vec![first, 1.0 - first], rig.n_joints());
            let (mut pose, mut worlds) = (Pose::default(), [Vec::new(), Vec::new()]);
            blend.pose(&weights, &mut pose);
            rig.forward(&pose, &mut worlds[0])?;
            blend.matrices(&weights, &mut worlds[1]);
            for (k, world) in worlds.iter().enumerate() {
                let at = |joint: usize| world[joint].translation;
                for (joint, of) in rig.joints().iter().enumerate() {
                    let Some(parent) = of.parent else { continue };
                    // What the poses themselves shift is no stretching.
                    let length =
                        bases.iter().map(|base| base.locals[joint].translation.length()).fold(0.0, f64::max);
                    if length > 0.02
                        && bases[0].locals[joint].translation == bases[1].locals[joint].translation
                    {
                        stretch[k] = stretch[k].max(at(joint).distance(at(parent)) / length - 1.0);
                    }
                }
                let positions: Vec<DVec3> =
                    character.positions_by(world)?.iter().map(|p| p.as_dvec3()).collect();
                width[k] = width[k].max(radius(&positions) / at_rest);
                rows[k].push(draw_thumbnail(character, &positions));
            }
        }
        Ok(Self { png: [strip(&rows[0])?, strip(&rows[1])?], stretch, width })
    }
}

/// Pictures side by side.
fn strip(pictures: &[Vec<u8>]) -> anyhow::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    for picture in pictures {
        let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info()?;
        let mut pixels = vec![0; reader.output_buffer_size().context("too large")?];
        let info = reader.next_frame(&mut pixels)?;
        pixels.truncate(info.buffer_size());
        decoded.push((info.width as usize, info.height as usize, info.color_type, pixels));
    }
    let (width, height, color, _) =
        *decoded.first().map(|(w, h, c, p)| (*w, *h, *c, p.len())).as_ref().context("no pictures")?;
    let bytes = width * color.samples();
    let rows = (0..height)
        .flat_map(|y| decoded.iter().flat_map(move |(.., pixels)| &pixels[y * bytes..(y + 1) * bytes]));
    let all: Vec<u8> = rows.copied().collect();
    let mut out = Vec::new();
    let mut encoder = png::Encoder::new(&mut out, (width * decoded.len()) as u32, height as u32);
    encoder.set_color(color);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.write_header()?.write_image_data(&all)?;
    Ok(out)
}
