//! Fitting: `sinew fit SEQUENCE -o OUT.glb` turns a moving mesh into a skin. The written file is played here and compared with
//! the frames it was made from.
//!
//! The skin shows what the sequence showed, in every player:
//! - `error`: root mean square distance of played and given vertices, percent of the rest pose's diagonal;
//! - `reported`: that error over the one the product reports, or the inverse if that is more;
//! - `normals_mean`, `normals_p99`: angle between played and given facet normals in degrees, all frames; facets far
//!   smaller than the others are ignored, because they are invisible;
//! - `flipped`: percent of facets that point backwards;
//! - `bind_p99`, `bind_max`: by which factor edges of the written bind pose are longer or shorter than those of the rest pose
//!   (edges far shorter than the others left out): it is what an animator opens;
//! - `shear`: error over `error` when joints are composed part by part (rotations, scales, translations), as Unreal does;
//! - `size`: bytes of the file over those of the frames as 32-bit numbers;
//! - `joints`: joints in the file, without the root, over bones fitted;
//! - `amplitude` (twin): motion kept, as the ratio of root mean square distances from the mean pose (or its inverse, the
//!   smaller).

mod source;

use super::super::{
    Random,
    draw::Surface,
    find::{Item, Kind},
    lab::Lab,
    row::Verdict,
    scene::{Scene, list},
    shape,
};
use super::Task;
use glam::DVec3;
use serde_json::Value;
use source::{Source, times};

pub const DAMAGE_WORDS: &[&str] = &["normals", "flipped", "torn", "shear", "worth a skin"];

/// Largest number of normals per sequence; longer ones are sampled.
const MOST_NORMALS: usize = 3_000_000;

/// Folders of frames, and glTF files whose first clip changes the weights of morph targets.
pub fn plan<'a>(items: &'a [Item], _: &mut Random) -> Vec<Task<'a>> {
    items.iter().filter(|item| item.kind == Kind::Sequence || morphs(item)).map(Task::of).collect()
}

fn morphs(item: &Item) -> bool {
    if !item.is_gltf || item.n_clips == 0 {
        return false;
    }
    let Ok(scene) = Scene::read(&item.path) else { return false };
    let is_morph = |channel: &Value| channel["target"]["path"] == "weights";
    list(&scene.json["animations"][0], "channels").iter().any(is_morph) && scene.n_vertices() >= 50
}

pub fn judge(task: &Task, lab: &Lab) -> anyhow::Result<Verdict> {
    let item = task.items[0];
    let out = lab.file("fitted.glb");
    let mut verdict = Verdict::default();
    let outcome = lab.sinew(&["fit".as_ref(), item.path.as_os_str(), "-o".as_ref(), out.as_os_str()])?;
    if !outcome.is_done() {
        return Ok(verdict.not_done(outcome.fault()));
    }
    let report = outcome.json();
    let n_frames = report["frames"].as_u64().unwrap_or(0) as usize;
    let source = Source::read(item, n_frames)?;
    let written = Scene::read(&out)?;
    if source.frames.len() != n_frames || written.clips().is_empty() {
        return Ok(verdict.not_done(format!("{n_frames} frames were fitted of {}", source.frames.len())));
    }
    let of = source.vertices_of(&written)?;
    let played = Played::new(&source, &written, &of);
    played.measure(&report, &mut verdict);
    let raw = (source.frames.len() * source.rest.len() * 12).max(1) as f64;
    verdict.set("size", std::fs::metadata(&out)?.len() as f64 / raw);
    let bones = report["bones"].as_f64().unwrap_or(0.0);
    let beside_root = written.joints().len().saturating_sub(1) as f64;
    verdict.set("joints", beside_root / bones.max(1.0));
    played.draw(&mut verdict);
    Ok(verdict)
}

/// A skin beside what it was made from. Points are per vertex of the source.
struct Played<'a> {
    source: &'a Source,
    frames: Vec<Vec<DVec3>>,
    /// Joints composed part by part.
    without_shear: Vec<Vec<DVec3>>,
    bind: Vec<DVec3>,
    diagonal: f64,
    /// Per vertex whether it was written.
    is_there: Vec<bool>,
}

impl<'a> Played<'a> {
    fn new(source: &'a Source, written: &Scene, of: &[Option<u32>]) -> Self {
        // Vertices that no triangle uses are not written.
        let back = |points: Vec<DVec3>, base: &[DVec3]| {
            of.iter().zip(base).map(|(w, p)| w.map_or(*p, |w| points[w as usize])).collect()
        };
        let seconds = written.clips()[0].1;
        let moments = || times(seconds, source.frames.len()).zip(&source.frames);
        Self {
            source,
            frames: moments().map(|(time, base)| back(written.positions(Some(0), time), base)).collect(),
            without_shear: moments()
                .map(|(time, base)| back(written.positions_without_shear(Some(0), time), base))
                .collect(),
            bind: back(written.positions(None, 0.0), &source.rest),
            diagonal: shape::diagonal(&source.rest),
            is_there: of.iter().map(Option::is_some).collect(),
        }
    }

    fn measure(&self, report: &Value, verdict: &mut Verdict) {
        let error = self.error(&self.frames);
        verdict.set("error", error);
        // It is reported per coordinate.
        let reported = report["E_RMS_diag1"].as_f64().unwrap_or(f64::NAN) * 3f64.sqrt();
        // Differences below the precision of the file count as equal.
        let (a, b) = (error + 1e-4, reported + 1e-4);
        verdict.set("reported", (a / b).max(b / a));
        verdict.set("error_without_shear", self.error(&self.without_shear));
        verdict.set("shear", (self.error(&self.without_shear) + 1e-4) / (error + 1e-4));
        let angles = self.angles();
        verdict.set("normals_mean", angles.iter().sum::<f64>() / angles.len().max(1) as f64);
        verdict.set("normals_p99", shape::quantile(&angles, 0.99));
        let flipped = angles.iter().filter(|angle| **angle > 90.0).count();
        verdict.set("flipped", 100.0 * flipped as f64 / angles.len().max(1) as f64);
        let tears = self.tears();
        verdict.set("bind_p99", shape::quantile(&tears, 0.99));
        verdict.set("bind_max", shape::quantile(&tears, 1.0));
        let ratio = amplitude(&self.frames) / amplitude(&self.source.frames);
        verdict.set("amplitude", ratio.min(1.0 / ratio));
    }

    fn error(&self, frames: &[Vec<DVec3>]) -> f64 {
        let square = |(a, b): (&Vec<DVec3>, &Vec<DVec3>)| {
            let far = |v: usize| if self.is_there[v] { a[v].distance_squared(b[v]) } else { 0.0 };
            (0..a.len()).map(far).sum::<f64>()
        };
        let n = self.is_there.iter().filter(|is| **is).count() * frames.len();
        let sum: f64 = frames.iter().zip(&self.source.frames).map(square).sum();
        100.0 * (sum / n.max(1) as f64).sqrt() / self.diagonal
    }

    /// Per facet of a frame the angle between its normals; none for those that are far smaller than the others.
    fn frame_angles(&self, frame: usize) -> Vec<Option<f64>> {
        let (given, played) = (&self.source.frames[frame], &self.frames[frame]);
        let normal = |points: &[DVec3], face: &[u32; 3]| {
            let [a, b, c] = face.map(|v| points[v as usize]);
            (b - a).cross(c - a)
        };
        let faces = &self.source.faces;
        let total: f64 = faces.iter().map(|face| normal(given, face).length()).sum();
        let small = 0.01 * total / faces.len().max(1) as f64;
        let angle = |face: &[u32; 3]| {
            let (a, b) = (normal(given, face), normal(played, face));
            let is_seen = a.length() > small;
            is_seen.then(|| if b.length() > 0.0 { a.angle_between(b).to_degrees() } else { 90.0 })
        };
        faces.iter().map(angle).collect()
    }

    fn angles(&self) -> Vec<f64> {
        let n = self.frames.len() * self.source.faces.len();
        let step = n.div_ceil(MOST_NORMALS).max(1);
        (0..self.frames.len()).step_by(step).flat_map(|k| self.frame_angles(k)).flatten().collect()
    }

    /// Per edge by which factor it is longer or shorter in the bind pose.
    fn tears(&self) -> Vec<f64> {
        let edges = shape::edges(&self.source.faces);
        let length =
            |[a, b]: &[u32; 2]| self.source.rest[*a as usize].distance(self.source.rest[*b as usize]);
        let lengths: Vec<f64> = edges.iter().map(length).collect();
        let small = 0.1 * shape::quantile(&lengths, 0.5);
        let long: Vec<[u32; 2]> = edges.into_iter().filter(|edge| length(edge) > small).collect();
        shape::stretches(&self.source.rest, &self.bind, &long).into_iter().map(|s| s.max(1.0 / s)).collect()
    }

    fn draw(&self, verdict: &mut Verdict) {
        let faces = &self.source.faces;
        let far = |k: usize| {
            let pairs = self.frames[k].iter().zip(&self.source.frames[k]);
            pairs.map(|(a, b)| a.distance_squared(*b)).sum::<f64>()
        };
        let worst = (0..self.frames.len()).max_by(|&a, &b| far(a).total_cmp(&far(b))).unwrap_or(0);
        let mut tilted = vec![0.0f64; self.source.rest.len()];
        for (face, angle) in faces.iter().zip(self.frame_angles(worst)) {
            let damage = ((angle.unwrap_or(0.0) - 10.0) / 30.0).clamp(0.0, 1.0);
            face.iter().for_each(|&v| tilted[v as usize] = tilted[v as usize].max(damage));
        }
        let mut torn = vec![0.0; self.source.rest.len()];
        for edge in shape::edges(faces) {
            let stretch = shape::stretches(&self.source.rest, &self.bind, &[edge]);
            if stretch.iter().any(|s| s.max(1.0 / s) > 2.0) {
                edge.iter().for_each(|&v| torn[v as usize] = 1.0);
            }
        }
        let plain: &[f64] = &[];
        for (title, positions, damage) in [
            ("given (worst frame)", &self.source.frames[worst], plain),
            ("played", &self.frames[worst], plain),
            ("normals off by 10° to 40°", &self.frames[worst], &tilted),
            ("played without shear", &self.without_shear[worst], plain),
            ("rest", &self.source.rest, plain),
            ("bind pose, edges × 2", &self.bind, &torn),
        ] {
            verdict.sheet.add(title, &Surface { positions, faces, damage });
        }
    }
}

/// Root mean square distance of all vertices from their mean over the frames.
fn amplitude(frames: &[Vec<DVec3>]) -> f64 {
    let n = frames.len().max(1) as f64;
    let n_vertices = frames.first().map_or(0, Vec::len);
    let mean = |v: usize| frames.iter().fold(DVec3::ZERO, |sum, frame| sum + frame[v]) / n;
    let spread = |v: usize| {
        let mean = mean(v);
        frames.iter().map(|frame| frame[v].distance_squared(mean)).sum::<f64>()
    };
    ((0..n_vertices).map(spread).sum::<f64>() / (n * n_vertices.max(1) as f64)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A square that rises, as given and as played.
    fn played(source: &Source, change: fn(DVec3) -> DVec3) -> Played<'_> {
        let frames: Vec<Vec<DVec3>> =
            source.frames.iter().map(|frame| frame.iter().map(|p| change(*p)).collect()).collect();
        Played {
            source,
            without_shear: frames.clone(),
            frames,
            bind: source.rest.iter().map(|p| change(*p)).collect(),
            diagonal: shape::diagonal(&source.rest),
            is_there: vec![true; 4],
        }
    }

    fn square() -> Source {
        let rest = vec![DVec3::ZERO, DVec3::X, DVec3::X + DVec3::Y, DVec3::Y];
        let frames = (0..5).map(|k| rest.iter().map(|p| *p + DVec3::Z * f64::from(k)).collect()).collect();
        Source { rest, faces: vec![[0, 1, 2], [0, 2, 3]], frames }
    }

    #[test]
    fn what_is_played_as_given_has_no_error() {
        let source = square();
        let played = played(&source, |p| p);
        assert_eq!(played.error(&played.frames), 0.0);
        assert!(played.angles().iter().all(|angle| *angle < 1e-6));
        assert!(played.tears().iter().all(|t| *t == 1.0));
        assert!((amplitude(&source.frames) - 2f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn shifts_turned_facets_and_torn_edges_are_measured() {
        let source = square();
        let shifted = played(&source, |p| p + DVec3::X * 0.1);
        // A tenth of a diagonal of √2.
        assert!((shifted.error(&shifted.frames) - 10.0 / 2f64.sqrt()).abs() < 1e-9);
        let mirrored = played(&source, |p| DVec3::new(-p.x, p.y, p.z));
        assert!(mirrored.angles().iter().all(|angle| *angle > 179.0));
        let long = played(&source, |p| DVec3::new(3.0 * p.x, p.y, p.z));
        assert!((shape::quantile(&long.tears(), 1.0) - 3.0).abs() < 1e-12);
    }
}
