//! Walking: `sinew walk MODEL -o OUT.glb` gives any body that stands on 2 to 8 feet a walk, measured on the skin of the
//! first clip in the written file, which is glTF and so has Y up and metres.
//!
//! What carries the body stays where it stands and everything else stays above the ground, while the body travels and
//! every foot takes part:
//! - `travel`: how far the middle of the body gets over the clip, in heights of the body at rest (twin: standing still
//!   slides nowhere);
//! - `feet_used`: share of the feet, the patches it stands on at rest, that leave the ground and come down again (twin);
//! - `slide`: horizontal speed of patches on the ground relative to the body's mean speed (1 is a foot dragged along;
//!   95th percentile over feet and frames; per foot and frame the median of its vertices on the ground, of two the mean);
//! - `sink`: how far any vertex gets below the ground, percent of the height. The ground is the median over the frames of
//!   the lowest height: at most moments of a walk something stands;
//! - `hover`: how far the lowest vertex gets above the ground, percent of the height (walks have no flight).
//!
//! Not seen: knees that bend sideways, spines that do not follow, ground other than flat.

use super::super::{
    Random,
    draw::{Surface, bounds},
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    scene::Scene,
    shape,
};
use super::Task;
use glam::DVec3;
use sinew::{formats::read_any, geom::Warnings};
use std::collections::{BTreeMap, HashMap};

pub const DAMAGE_WORDS: &[&str] = &["slide", "sink", "foot", "feet", "ground"];

/// Models in the sample.
const MODELS: usize = 40;
/// Largest number of sampled frames, and frames per second.
const MOST_FRAMES: usize = 300;
const FPS: f64 = 30.0;
/// Height above the ground, as a share of the body's, up to which something stands.
const NEAR: f64 = 0.015;
/// Height at which a foot has left the ground.
const LIFTED: f64 = 0.02;

/// A sample of rigs and meshes that stand on 2 to 8 legs, with Y or Z up: patches on the ground at rest that are still apart
/// at a tenth of the height. What else is a character cannot be seen from a file. Rigs come first, they are more often.
pub fn plan<'a>(items: &'a [Item], random: &mut Random) -> Vec<Task<'a>> {
    let mut sample = |kind: Kind, most: usize| {
        let mut models: Vec<&Item> =
            items.iter().filter(|item| item.kind == kind && item.bytes > 4_000).collect();
        random.shuffle(&mut models);
        models.into_iter().filter(|item| stands(item)).take(most).collect::<Vec<_>>()
    };
    let rigs = sample(Kind::Rig, MODELS * 5 / 8);
    let meshes = sample(Kind::Mesh, MODELS - rigs.len());
    rigs.into_iter().chain(meshes).map(Task::of).collect()
}

fn stands(item: &Item) -> bool {
    let model = if item.is_gltf {
        Scene::read(&item.path).ok().map(|scene| (scene.positions(None, 0.0), scene.faces))
    } else {
        let content = read_any(&item.path, &mut Warnings::default()).ok();
        let mesh = content.and_then(|c| c.into_character()).map(|c| c.mesh);
        mesh.map(|mesh| (mesh.positions().to_vec(), mesh.faces().to_vec()))
    };
    let Some((points, faces)) = model.filter(|(points, _)| points.len() >= 50) else { return false };
    let lying: Vec<DVec3> = points.iter().map(|p| DVec3::new(p.x, p.z, -p.y)).collect();
    let legs = |points: &Vec<DVec3>, up_to: f64| (2..=8).contains(&patches(points, &faces, up_to).len());
    [points, lying].iter().any(|points| legs(points, 0.03) && legs(points, 0.1))
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let out = lab.file("walk.glb");
    let mut verdict = Verdict::default();
    let path = task.items[0].path.as_os_str();
    let outcome = lab.sinew(&["walk".as_ref(), path, "-o".as_ref(), out.as_os_str()])?;
    // A walk that the command itself calls faulty is written, and measured.
    if !outcome.is_done() && outcome.code != Some(3) {
        return Ok(verdict.not_done(outcome.fault()));
    }
    let scene = Scene::read(&out)?;
    match Walk::play(&scene, 0) {
        None => Ok(verdict.not_done("there is no clip, or nothing to see, in what was written")),
        Some(walk) => {
            walk.measure(&mut verdict);
            walk.draw(&scene.faces, &mut verdict);
            Ok(verdict)
        }
    }
}

/// A clip as it is seen.
struct Walk {
    frames: Vec<Vec<DVec3>>,
    /// Seconds between frames.
    step: f64,
    height: f64,
    ground: f64,
    feet: Vec<Vec<usize>>,
}

impl Walk {
    fn play(scene: &Scene, clip: usize) -> Option<Self> {
        let seconds = scene.clips().get(clip)?.1;
        let n = ((seconds * FPS).round() as usize + 1).clamp(2, MOST_FRAMES);
        let step = (seconds / (n - 1) as f64).max(1e-6);
        let frames = (0..n).map(|k| scene.positions(Some(clip), k as f64 * step)).collect();
        Self::new(&scene.positions(None, 0.0), &scene.faces, frames, step)
    }

    fn new(rest: &[DVec3], faces: &[[u32; 3]], frames: Vec<Vec<DVec3>>, step: f64) -> Option<Self> {
        let (low, high) = bounds(rest);
        let height = high.y - low.y;
        if rest.is_empty() || height <= 0.0 || !height.is_finite() {
            return None;
        }
        let lowest: Vec<f64> = frames.iter().map(|frame| bounds(frame).0.y).collect();
        let ground = shape::quantile(&lowest, 0.5);
        Some(Self { frames, step, height, ground, feet: patches(rest, faces, 0.03) })
    }

    fn measure(&self, verdict: &mut Verdict) {
        let is_finite = self.frames.iter().flatten().all(|p| p.is_finite());
        let lowest: Vec<f64> = self.frames.iter().map(|frame| bounds(frame).0.y - self.ground).collect();
        let (low, high) = lowest.iter().fold((0.0f64, 0.0f64), |(l, h), &y| (l.min(y), h.max(y)));
        let percent = |x: f64| if is_finite { 100.0 * x / self.height } else { f64::NAN };
        verdict.set("sink", percent(-low));
        verdict.set("hover", percent(high));
        verdict.set("travel", self.travel() / self.height);
        verdict.set("slide", self.slide());
        verdict.set("feet", self.feet.len() as f64);
        let used = self.feet.iter().filter(|foot| self.is_used(foot)).count();
        verdict.set("feet_used", used as f64 / self.feet.len().max(1) as f64);
    }

    fn middle(&self, frame: usize) -> DVec3 {
        let points = &self.frames[frame];
        points.iter().fold(DVec3::ZERO, |sum, p| sum + *p) / points.len().max(1) as f64
    }

    /// The farthest the body gets from where it began, along the ground.
    fn travel(&self) -> f64 {
        let start = self.middle(0);
        let far = |k: usize| flat(self.middle(k) - start).length();
        (0..self.frames.len()).map(far).fold(0.0, f64::max)
    }

    /// Whether something stands at a moment.
    fn is_near(&self, frame: usize, v: usize) -> bool {
        self.frames[frame][v].y - self.ground < NEAR * self.height
    }

    fn slide(&self) -> f64 {
        let n = self.frames.len();
        // Along the path and not as the crow flies; a body on the spot slides against a slow walk.
        let path: f64 = (1..n).map(|k| flat(self.middle(k) - self.middle(k - 1)).length()).sum();
        let seconds = self.step * (n - 1) as f64;
        let pace = (path / seconds).max(0.1 * self.height);
        let mut speeds = Vec::new();
        for foot in &self.feet {
            for k in 2..n.max(3) - 1 {
                // A foot that lands or leaves between the neighbouring frames is not planted.
                let stands = |v: &&usize| (k - 2..=k + 1).all(|k| self.is_near(k, **v));
                let speed =
                    |v: &usize| flat(self.frames[k][*v] - self.frames[k - 1][*v]).length() / self.step;
                let standing: Vec<f64> = foot.iter().filter(stands).map(speed).collect();
                if !standing.is_empty() {
                    speeds.push(median(standing) / pace);
                }
            }
        }
        // Where no foot ever stands there is nothing to slide; `feet_used` says so.
        shape::quantile(&speeds, 0.95)
    }

    /// Whether a foot leaves the ground and comes down again.
    fn is_used(&self, foot: &[usize]) -> bool {
        let lowest = |k: usize| {
            let height = foot.iter().map(|&v| self.frames[k][v].y).fold(f64::INFINITY, f64::min);
            (height - self.ground) / self.height
        };
        let heights: Vec<f64> = (0..self.frames.len()).map(lowest).collect();
        let first_lift = heights.iter().position(|&h| h > LIFTED);
        first_lift.is_some_and(|at| heights[at..].iter().any(|&h| h < NEAR))
    }

    fn draw(&self, faces: &[[u32; 3]], verdict: &mut Verdict) {
        let n = self.frames.len();
        let last = n.saturating_sub(2);
        for (title, k) in
            [("first", 0), ("1/4", last / 4), ("2/4", last / 2), ("3/4", last * 3 / 4), ("last", last)]
        {
            let points = &self.frames[k];
            let next = &self.frames[(k + 1).min(n - 1)];
            let damage = |v: usize| {
                let below = (self.ground - points[v].y) / self.height > 0.005;
                let moves = flat(next[v] - points[v]).length() / self.step > 0.1 * self.height;
                f64::from(u8::from(below || (self.is_near(k, v) && moves)))
            };
            let damage: Vec<f64> = (0..points.len()).map(damage).collect();
            verdict.sheet.add(title, &Surface { positions: points, faces, damage: &damage });
        }
    }
}

/// The mean of the two in the middle where there is no middle one.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

fn flat(v: DVec3) -> DVec3 {
    DVec3::new(v.x, 0.0, v.z)
}

/// The patches of a body up to a share of its height, at rest those it stands on: low vertices that edges join, or that are
/// closer than about 2 % of the height.
fn patches(points: &[DVec3], faces: &[[u32; 3]], up_to: f64) -> Vec<Vec<usize>> {
    let (low, high) = bounds(points);
    let height = high.y - low.y;
    if height <= 0.0 || !height.is_finite() {
        return Vec::new();
    }
    let is_low = |v: usize| points[v].is_finite() && points[v].y < low.y + up_to * height;
    let cell = |v: usize| (points[v] / (0.02 * height)).floor().as_i64vec3().to_array();
    let mut cells: HashMap<[i64; 3], usize> = HashMap::new();
    let mut above: Vec<usize> = (0..points.len()).collect();
    for v in (0..points.len()).filter(|&v| is_low(v)) {
        let [x, y, z] = cell(v);
        for k in 0..27 {
            if let Some(&near) = cells.get(&[x + k % 3 - 1, y + k / 3 % 3 - 1, z + k / 9 - 1]) {
                join(&mut above, v, near);
            }
        }
        cells.entry([x, y, z]).or_insert(v);
    }
    for face in faces {
        for k in 0..3 {
            let (a, b) = (face[k] as usize, face[(k + 1) % 3] as usize);
            if is_low(a) && is_low(b) {
                join(&mut above, a, b);
            }
        }
    }
    let mut patches: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for v in (0..points.len()).filter(|&v| is_low(v)) {
        patches.entry(top(&mut above, v)).or_default().push(v);
    }
    patches.into_values().collect()
}

fn top(above: &mut [usize], mut v: usize) -> usize {
    while above[v] != v {
        above[v] = above[above[v]];
        v = above[v];
    }
    v
}

fn join(above: &mut [usize], a: usize, b: usize) {
    let (a, b) = (top(above, a), top(above, b));
    above[a.max(b)] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table with two legs whose feet are moved by a function of leg and time.
    fn walk(foot: fn(usize, f64) -> DVec3, body: fn(f64) -> f64) -> Verdict {
        let rest: Vec<DVec3> = [-0.2, 0.2]
            .iter()
            .flat_map(|&x| (0..2).map(move |k| DVec3::new(x, 0.0, 0.01 * f64::from(k))))
            .chain([DVec3::Y])
            .collect();
        let frame = |k: usize| {
            let time = k as f64 / 30.0;
            let place =
                |v: usize| if v < 4 { rest[v] + foot(v / 2, time) } else { rest[v] + DVec3::Z * body(time) };
            (0..rest.len()).map(place).collect()
        };
        let frames: Vec<Vec<DVec3>> = (0..91).map(frame).collect();
        let mut verdict = Verdict::default();
        Walk::new(&rest, &[], frames, 1.0 / 30.0).unwrap().measure(&mut verdict);
        verdict
    }

    /// Steps of half a second: one foot stands while the other swings twice as fast as the body.
    fn step(leg: usize, time: f64) -> DVec3 {
        let phase = time + 0.5 * leg as f64;
        let swing = (2.0 * phase.fract() - 1.0).max(0.0);
        DVec3::new(0.0, 0.1 * (swing * std::f64::consts::PI).sin(), phase.floor() + swing - 0.5 * leg as f64)
    }

    #[test]
    fn a_walk_that_stands_and_travels_is_good() {
        let verdict = walk(step, |time| time);
        let m = |name: &str| verdict.measures[name];
        assert_eq!((m("feet"), m("feet_used")), (2.0, 1.0));
        assert!(m("slide") < 1e-9 && m("sink") < 1e-9 && m("travel") > 2.5, "{:?}", verdict.measures);
    }

    #[test]
    fn a_body_that_is_pushed_along_slides_and_a_statue_does_not_travel() {
        let pushed = walk(|_, time| DVec3::Z * time, |time| time);
        assert!((pushed.measures["slide"] - 1.0).abs() < 1e-9);
        assert_eq!(pushed.measures["feet_used"], 0.0);
        let statue = walk(|_, _| DVec3::ZERO, |_| 0.0);
        assert_eq!((statue.measures["travel"], statue.measures["feet_used"]), (0.0, 0.0));
    }

    #[test]
    fn a_foot_below_the_ground_is_seen() {
        let verdict = walk(
            |leg, time| step(leg, time) - DVec3::Y * if (1.0..1.1).contains(&time) { 0.05 } else { 0.0 },
            |time| time,
        );
        assert!((verdict.measures["sink"] - 5.0).abs() < 0.1, "{:?}", verdict.measures);
    }
}
