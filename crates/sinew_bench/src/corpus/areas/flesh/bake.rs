//! A baked file beside the skin it was made from, vertex by vertex and moment by moment.

use super::super::super::{
    scene::{Scene, list},
    shape,
};
use super::partners;
use glam::DVec3;
use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

/// Largest number of compared times; the first and the last frame are among them.
const MOMENTS: usize = 24;
/// Shorter edges, as a share of the diagonal, count as this long: their stretch is invisible.
const MIN_EDGE_SHARE: f64 = 1e-3;
/// Edges longer than in the skin by more than this factor are stretched.
pub const LONG_EDGE: f64 = 2.0;
/// Deviation, in percent of the diagonal, that is drawn red.
const RED: f64 = 5.0;

/// Whether a measure is over a limit; NaN is.
pub fn is_over(value: f64, limit: f64) -> bool {
    value.is_nan() || value > limit
}

/// A moment: where the skin has the vertices, and where flesh has them.
pub struct Frame {
    pub time: f64,
    pub skin: Vec<DVec3>,
    pub flesh: Vec<DVec3>,
}

pub struct Bake {
    pub diagonal: f64,
    /// Share of the written vertices whose partner in the source is known exactly.
    pub mapped: f64,
    /// At rest: of the source, and as written.
    pub rest: [Vec<DVec3>; 2],
    pub faces: Vec<[u32; 3]>,
    edges: Vec<[u32; 2]>,
    pub frames: Vec<Frame>,
    /// Seconds by which the written clip begins later than the source's.
    offset: f64,
    /// Vertex of the source for each written one.
    partners: Vec<u32>,
}

impl Bake {
    pub fn read(source: &Scene, clip: Option<usize>, written: &Path) -> anyhow::Result<Self> {
        let baked = Scene::read(written)?;
        let (used, faces) = used_vertices(&baked.faces);
        let pick = |all: Vec<DVec3>| -> Vec<DVec3> { used.iter().map(|&v| all[v as usize]).collect() };
        let source_rest = source.positions(None, 0.0);
        let diagonal = shape::diagonal(&source_rest);
        let rest = pick(baked.positions(None, 0.0));
        let known = partners::by_order(source, &baked, &used, &rest);
        let candidates = partners::candidates(&source_rest, &rest, &known, diagonal);
        let mapped = partners::mapped(&source_rest, &rest, &known, &candidates, diagonal);
        let baked_clip = baked_clip(source, clip, &baked);
        let times = baked_clip.map_or_else(|| vec![0.0], |clip| sample(&key_times(&baked, clip)));
        let flesh: Vec<Vec<DVec3>> = times.iter().map(|&t| pick(baked.positions(baked_clip, t))).collect();
        let start = clip.and_then(|clip| key_times(source, clip).first().copied()).unwrap_or(0.0);
        let offsets = if start > 1e-6 { vec![0.0, start] } else { vec![0.0] };
        let tries = offsets.into_iter().map(|offset| {
            let skins: Vec<_> = times.iter().map(|&t| source.positions(clip, t + offset)).collect();
            let (partners, cost) = partners::nearest_path(&candidates, &skins, &flesh);
            (cost, offset, partners, skins)
        });
        let best = tries.min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, offset, partners, skins) = best.unwrap_or_default();
        let follow = |all: &[DVec3]| -> Vec<DVec3> { partners.iter().map(|&v| all[v as usize]).collect() };
        let frames = times.iter().zip(skins).zip(flesh);
        Ok(Self {
            diagonal,
            mapped,
            edges: shape::edges(&faces),
            faces,
            frames: frames.map(|((&time, skin), flesh)| Frame { time, skin: follow(&skin), flesh }).collect(),
            rest: [follow(&source_rest), rest],
            offset,
            partners,
        })
    }

    /// Way between flesh and skin, of all vertices in all frames, in percent of the diagonal.
    pub fn deviations(&self) -> Vec<f64> {
        self.frames.iter().flat_map(|frame| self.frame_deviations(frame)).collect()
    }

    fn frame_deviations(&self, frame: &Frame) -> Vec<f64> {
        let way = |(a, b): (&DVec3, &DVec3)| 100.0 * a.distance(*b) / self.diagonal;
        frame.skin.iter().zip(&frame.flesh).map(way).collect()
    }

    /// The same about its mean over time: what only hangs does not move.
    pub fn swings(&self) -> Vec<f64> {
        let n = self.frames.len().max(1) as f64;
        let off = |frame: &Frame, v: usize| frame.flesh[v] - frame.skin[v];
        let of_vertex = |v: usize| {
            let mean = self.frames.iter().map(|frame| off(frame, v)).sum::<DVec3>() / n;
            self.frames.iter().map(move |frame| 100.0 * off(frame, v).distance(mean) / self.diagonal)
        };
        (0..self.rest[0].len()).flat_map(of_vertex).collect()
    }

    /// Acceleration of the skin, of all vertices in all frames, in diagonals per square second.
    pub fn accelerations(&self, source: &Scene, clip: usize) -> Vec<f64> {
        let step = 1.0 / 30.0;
        let seconds = source.clips()[clip].1;
        let mut all = Vec::new();
        for frame in &self.frames {
            // At its ends a clip stands still as far as a player can say.
            let time = (frame.time + self.offset).min(seconds - step).max(step);
            let [a, b, c] = [-1.0, 0.0, 1.0].map(|k| source.positions(Some(clip), time + k * step));
            let of = |&v: &u32| {
                let v = v as usize;
                (a[v] - 2.0 * b[v] + c[v]).length() / (step * step * self.diagonal)
            };
            all.extend(self.partners.iter().map(of));
        }
        all
    }

    /// Length of each edge over that of the skin at the same moment.
    pub fn stretches(&self, frame: &Frame) -> Vec<f64> {
        self.edges.iter().map(|&edge| self.stretch(frame, edge)).collect()
    }

    fn stretch(&self, frame: &Frame, [a, b]: [u32; 2]) -> f64 {
        let length = |points: &[DVec3]| points[a as usize].distance(points[b as usize]);
        let least = MIN_EDGE_SHARE * self.diagonal;
        length(&frame.flesh).max(least) / length(&frame.skin).max(least)
    }

    /// Smallest and largest volume over that of the skin at the same moment, of closed parts together.
    ///
    /// A skin may crush what it bends; it counts as at least a fifth of the volume at rest.
    pub fn volumes(&self) -> Option<[f64; 2]> {
        let parts = closed_parts(&self.rest[0], &self.faces, self.diagonal);
        let at_rest: Vec<f64> = parts.iter().map(|faces| shape::volume(&self.rest[0], faces)).collect();
        let total: f64 = at_rest.iter().map(|v| v.abs()).sum();
        if total < 1e-6 * self.diagonal.powi(3) {
            return None;
        }
        let volume = |points: &[DVec3]| -> f64 {
            parts.iter().zip(&at_rest).map(|(faces, rest)| rest.signum() * part_volume(points, faces)).sum()
        };
        let ratios: Vec<f64> = self
            .frames
            .iter()
            .map(|frame| {
                let (skin, flesh) = (volume(&frame.skin), volume(&frame.flesh));
                1.0 + (flesh - skin) / skin.max(0.2 * total)
            })
            .collect();
        Some([shape::quantile(&ratios, 0.0), shape::quantile(&ratios, 1.0)])
    }

    /// Way between the first and the last frame of flesh, in percent of the diagonal, if the skin returns after it has moved.
    pub fn loop_gap(&self) -> Option<f64> {
        let (first, last) = (self.frames.first()?, self.frames.last()?);
        let apart = |a: &[DVec3], b: &[DVec3]| {
            let ways: Vec<f64> =
                a.iter().zip(b).map(|(p, q)| 100.0 * p.distance(*q) / self.diagonal).collect();
            shape::quantile(&ways, 1.0)
        };
        let returns = apart(&first.skin, &last.skin) < 0.1;
        let moves = self.frames.iter().any(|frame| apart(&first.skin, &frame.skin) > 1.0);
        (returns && moves).then(|| apart(&first.flesh, &last.flesh))
    }

    /// The frame with the largest deviation.
    pub fn worst(&self) -> usize {
        let most = |frame: &Frame| shape::quantile(&self.frame_deviations(frame), 1.0);
        let all: Vec<f64> = self.frames.iter().map(most).collect();
        (0..all.len()).max_by(|&a, &b| all[a].total_cmp(&all[b])).unwrap_or(0)
    }

    /// 1 for vertices that are far off or at an edge that is stretched over twice.
    pub fn damage(&self, frame: &Frame) -> Vec<f64> {
        let far = |d: f64| f64::from(u8::from(is_over(d, RED)));
        let mut damage: Vec<f64> = self.frame_deviations(frame).into_iter().map(far).collect();
        for edge in &self.edges {
            if is_over(self.stretch(frame, *edge), LONG_EDGE) {
                edge.iter().for_each(|&v| damage[v as usize] = 1.0);
            }
        }
        damage
    }
}

/// Vertices that some face uses, and the faces over them: primitives may share vertices of which each draws a part.
fn used_vertices(faces: &[[u32; 3]]) -> (Vec<u32>, Vec<[u32; 3]>) {
    let mut used: Vec<u32> = faces.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let place = |v: u32| used.binary_search(&v).unwrap_or(0) as u32;
    let faces = faces.iter().map(|face| face.map(place)).collect();
    (used, faces)
}

/// The clip of a baked file that holds the flesh: one that the source lacks, else that of the same name, else the first.
fn baked_clip(source: &Scene, clip: Option<usize>, baked: &Scene) -> Option<usize> {
    let known: Vec<&str> = source.clips().iter().map(|(name, _)| *name).collect();
    let clips = baked.clips();
    let place = |is: &dyn Fn(&str) -> bool| clips.iter().position(|(name, _)| is(name));
    let same = clip.and_then(|clip| known.get(clip).copied());
    place(&|name| !known.contains(&name))
        .or_else(|| place(&|name| Some(name) == same))
        .or((!clips.is_empty()).then_some(0))
}

/// Times of the keys of the sampler of a clip that has most of them.
fn key_times(scene: &Scene, clip: usize) -> Vec<f64> {
    let samplers = list(&scene.json["animations"][clip], "samplers");
    let inputs = samplers.iter().filter_map(|s| s["input"].as_u64());
    let times = inputs.filter_map(|input| scene.numbers(input as usize).ok()).map(|(times, _)| times);
    times.max_by_key(Vec::len).unwrap_or_default()
}

/// Evenly chosen among them, with both ends.
fn sample(times: &[f64]) -> Vec<f64> {
    if times.len() <= MOMENTS {
        return if times.is_empty() { vec![0.0] } else { times.to_vec() };
    }
    (0..MOMENTS).map(|k| times[k * (times.len() - 1) / (MOMENTS - 1)]).collect()
}

/// Faces of the connected parts that are closed but for one edge in fifty, seams closed.
fn closed_parts(rest: &[DVec3], faces: &[[u32; 3]], diagonal: f64) -> Vec<Vec<[u32; 3]>> {
    let size = 1e-5 * diagonal.max(f64::MIN_POSITIVE);
    let rounded: Vec<DVec3> = rest.iter().map(|p| (*p / size).round()).collect();
    let welded = shape::welded(&rounded);
    let mut parents: Vec<u32> = (0..rest.len() as u32).collect();
    for face in faces {
        let [a, b, c] = face.map(|v| welded[v as usize]);
        for (p, q) in [(a, b), (b, c)] {
            let (p, q) = (root(&mut parents, p), root(&mut parents, q));
            parents[p as usize] = q;
        }
    }
    let mut parts: BTreeMap<u32, Vec<[u32; 3]>> = BTreeMap::new();
    for face in faces {
        parts.entry(root(&mut parents, welded[face[0] as usize])).or_default().push(*face);
    }
    parts.into_values().filter(|faces| is_closed(faces, &welded)).collect()
}

fn root(parents: &mut [u32], mut v: u32) -> u32 {
    while parents[v as usize] != v {
        parents[v as usize] = parents[parents[v as usize] as usize];
        v = parents[v as usize];
    }
    v
}

fn is_closed(faces: &[[u32; 3]], welded: &[u32]) -> bool {
    let mut sides: HashMap<[u32; 2], i32> = HashMap::new();
    for face in faces {
        let [a, b, c] = face.map(|v| welded[v as usize]);
        for (p, q) in [(a, b), (b, c), (c, a)].into_iter().filter(|(p, q)| p != q) {
            *sides.entry([p.min(q), p.max(q)]).or_default() += if p < q { 1 } else { -1 };
        }
    }
    sides.values().filter(|n| **n != 0).count() * 50 <= sides.len()
}

/// Volume of a part about its own middle, so that a small hole counts little.
fn part_volume(points: &[DVec3], faces: &[[u32; 3]]) -> f64 {
    let corners = faces.iter().flatten().map(|&v| points[v as usize]);
    let middle = corners.sum::<DVec3>() / (3 * faces.len()).max(1) as f64;
    let at = |v: u32| points[v as usize] - middle;
    faces.iter().map(|f| at(f[0]).dot(at(f[1]).cross(at(f[2]))) / 6.0).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A closed cube of side 1 and, beside it, the same without a lid.
    fn cubes() -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let corner = |k: u32| DVec3::new(f64::from(k & 1), f64::from(k >> 1 & 1), f64::from(k >> 2));
        let points: Vec<DVec3> =
            (0..8).map(corner).chain((0..8).map(|k| corner(k) + DVec3::X * 3.0)).collect();
        let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
        let split = |q: &[u32; 4], first: u32| {
            [[q[0], q[1], q[2]], [q[0], q[2], q[3]]].map(|face: [u32; 3]| face.map(|v| v + first))
        };
        let closed = quads.iter().flat_map(|q| split(q, 0));
        let open = quads.iter().skip(1).flat_map(|q| split(q, 8));
        (points.clone(), closed.chain(open).collect())
    }

    fn bake(change: impl Fn(f64, DVec3) -> DVec3) -> Bake {
        let (rest, faces) = cubes();
        let frames = [0.0, 0.5, 1.0].map(|time| {
            let skin: Vec<DVec3> = rest.iter().map(|p| *p + DVec3::Y * (4.0 * time * (1.0 - time))).collect();
            let flesh = skin.iter().map(|p| change(time, *p)).collect();
            Frame { time, skin, flesh }
        });
        let diagonal = shape::diagonal(&rest);
        let partners = (0..rest.len() as u32).collect();
        Bake {
            diagonal,
            mapped: 1.0,
            rest: [rest.clone(), rest],
            edges: shape::edges(&faces),
            faces,
            frames: frames.into(),
            offset: 0.0,
            partners,
        }
    }

    #[test]
    fn flesh_that_is_its_skin_deviates_nowhere_and_does_not_move() {
        let bake = bake(|_, p| p);
        assert!(bake.deviations().iter().chain(&bake.swings()).all(|d| *d == 0.0));
        assert_eq!(bake.volumes(), Some([1.0, 1.0]));
        assert_eq!(bake.loop_gap(), Some(0.0));
    }

    #[test]
    fn what_only_hangs_deviates_but_does_not_move_and_loops() {
        let bake = bake(|_, p| p - DVec3::Y * 0.1);
        let expected = 10.0 / bake.diagonal;
        assert!(bake.deviations().iter().all(|d| (d - expected).abs() < 1e-9));
        assert!(bake.swings().iter().all(|d| *d < 1e-9));
        assert!(bake.loop_gap().unwrap() < 1e-9);
    }

    #[test]
    fn flesh_that_grows_has_longer_edges_more_volume_and_does_not_loop() {
        // Only the closed cube has a volume.
        let bake = bake(|time, p| p * (1.0 + 2.0 * time));
        assert!(bake.stretches(&bake.frames[2]).iter().all(|s| (s - 3.0).abs() < 1e-9));
        let [low, high] = bake.volumes().unwrap();
        assert!((low - 1.0).abs() < 1e-9 && (high - 27.0).abs() < 1e-9, "{low} {high}");
        assert!(bake.loop_gap().unwrap() > 10.0);
        assert_eq!(bake.worst(), 2);
    }
}
