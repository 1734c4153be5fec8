//! Bones of a character, as its own clips show them: joints that carry skin and stay as far apart as they are at rest.

use super::super::super::{
    scene::{Scene, list},
    shape::quantile,
};
use super::super::refit::body::Body;
use super::measure::edge_change;
use std::collections::HashSet;

/// Distances that change by less than this share in the character's own clips are bones.
const RIGID: f64 = 0.02;

pub struct Bones {
    names: Vec<String>,
    pairs: Vec<(usize, usize)>,
    /// How long each is: mostly, in the character's own clips; at rest, if it has none.
    rest: Vec<f64>,
    /// How long each is at rest, which is a shape without tears too.
    bound: Vec<f64>,
    /// The change of each, as a share, that 95 % of frames of its own clips keep to.
    own: Vec<f64>,
    /// Change of the edges of the surface that one in a thousand exceeds in its own clips.
    own_edges: Option<f64>,
}

/// What tore in a take.
pub struct Torn {
    /// The largest change of a bone beyond the character's own clips, in 99 % of frames and at most.
    pub usual: f64,
    pub most: f64,
    pub edges: Option<f64>,
    /// The joints it is between.
    pub between: String,
}

impl Bones {
    /// Joints and their parents, and near joints that clips keep at their distance though they hang elsewhere: paws of many
    /// rigs hang from the root and not from the shin. Joints that carry no skin tear nothing.
    pub fn of(rig: &Scene) -> Option<Self> {
        let body = Body::of_scene(rig, usize::MAX, 30.0);
        let rest = body.rest.clone()?;
        let carriers = carriers(rig);
        let carries = |joint: usize| carriers.contains(body.motion.names[joint].as_str());
        let joints: Vec<usize> = (0..rest.len()).filter(|&joint| carries(joint)).collect();
        let mut candidates: Vec<(usize, usize)> = Vec::new();
        // Joints without skin tear nothing, but hold together what hangs on them.
        let links = (0..rest.len()).filter_map(|joint| Some((joint, body.motion.parents[joint]?)));
        candidates.extend(links);
        for &joint in &joints {
            let mut others: Vec<usize> = joints.iter().copied().filter(|&k| k != joint).collect();
            others.sort_by(|&a, &b| rest[a].distance(rest[joint]).total_cmp(&rest[b].distance(rest[joint])));
            let n = if rig.clips().is_empty() { 0 } else { 6 };
            candidates.extend(others.into_iter().take(n).map(|other| (joint, other)));
        }
        let long = |&(a, b): &(usize, usize)| rest[a].distance(rest[b]);
        let is_link = |&(a, b): &(usize, usize)| body.motion.parents[a] == Some(b);
        candidates.retain(|pair| is_link(pair) || long(pair) > 0.02 * body.height);
        let mut bones = Self {
            names: body.motion.names.clone(),
            rest: candidates.iter().map(long).collect(),
            bound: candidates.iter().map(long).collect(),
            own: vec![0.0; candidates.len()],
            own_edges: None,
            pairs: candidates,
        };
        bones.learn(rig);
        let is_measured = |&(a, b): &(usize, usize)| {
            carries(a) && carries(b) && rest[a].distance(rest[b]) > 0.02 * body.height
        };
        bones.choose(&body.motion.parents, body.height, &is_measured);
        Some(bones)
    }

    /// What the character's own clips do to the candidates: how long they mostly are, and how much 95 % of frames change that.
    /// A rest pose may be a pose like no other, and a single clip may break what the others keep.
    fn learn(&mut self, rig: &Scene) {
        let ours: Vec<Option<usize>> = (0..self.names.len()).map(Some).collect();
        let mut seen: Vec<Vec<f64>> = vec![Vec::new(); self.pairs.len()];
        for (clip, &(_, seconds)) in rig.clips().iter().enumerate().take(16) {
            let body = Body::of_scene(rig, clip, (24.0 / seconds.max(0.05)).min(30.0));
            for k in 0..body.n_frames() {
                for (pair, long) in self.lengths(&body, &ours, k).into_iter().enumerate() {
                    seen[pair].extend(long);
                }
            }
            let edges = edge_change(rig, clip, &[0.25, 0.5, 0.75].map(|s| s * seconds));
            self.own_edges = Some(self.own_edges.unwrap_or(0.0).max(edges));
        }
        for (pair, lengths) in seen.iter().enumerate().filter(|(_, lengths)| !lengths.is_empty()) {
            let usual = quantile(lengths, 0.5).max(1e-12);
            let changes: Vec<f64> = lengths.iter().map(|long| (long / usual - 1.0).abs()).collect();
            (self.rest[pair], self.own[pair]) = (usual, quantile(&changes, 0.95));
        }
    }

    /// Keep the candidates that are rigid: joints and their parents, and what holds two parts together that are apart in the
    /// hierarchy. Within a part any two joints may keep their distance by chance, as the fingers of a fist do.
    fn choose(
        &mut self,
        parents: &[Option<usize>],
        height: f64,
        is_measured: &dyn Fn(&(usize, usize)) -> bool,
    ) {
        // What has hardly a length is rigid if it stays so.
        let is_short = |k: usize| self.rest[k] < 0.02 * height;
        let is_rigid = |k: &usize| self.own[*k] < RIGID || is_short(*k);
        let is_bone = |k: &usize| parents[self.pairs[*k].0] == Some(self.pairs[*k].1);
        let mut part: Vec<usize> = (0..parents.len()).collect();
        for k in (0..self.pairs.len()).filter(is_rigid).filter(is_bone) {
            let (from, to) = (part[self.pairs[k].0], part[self.pairs[k].1]);
            part.iter_mut().filter(|p| **p == from).for_each(|p| *p = to);
        }
        let are_apart = |k: &usize| part[self.pairs[*k].0] != part[self.pairs[*k].1];
        let kept: Vec<usize> =
            (0..self.pairs.len()).filter(is_rigid).filter(|k| is_bone(k) || are_apart(k)).collect();
        let kept: Vec<usize> = kept.into_iter().filter(|&k| is_measured(&self.pairs[k])).collect();
        self.pairs = kept.iter().map(|&k| self.pairs[k]).collect();
        self.rest = kept.iter().map(|&k| self.rest[k]).collect();
        self.bound = kept.iter().map(|&k| self.bound[k]).collect();
        self.own = kept.iter().map(|&k| self.own[k]).collect();
    }

    /// Each distance in a frame, given which of the body's joints are ours.
    fn lengths(&self, body: &Body, joints: &[Option<usize>], frame: usize) -> Vec<Option<f64>> {
        let p = |joint: usize| Some(body.motion.position(frame, joints[joint]?));
        self.pairs.iter().map(|&(a, b)| Some(p(a)?.distance(p(b)?))).collect()
    }

    /// A file lists joints in its own order, and may list more.
    fn joints_in(&self, body: &Body) -> Vec<Option<usize>> {
        let is_same = body.motion.names == self.names;
        let find = |(k, name): (usize, &String)| {
            if is_same { Some(k) } else { body.motion.names.iter().position(|n| n == name && !n.is_empty()) }
        };
        self.names.iter().enumerate().map(find).collect()
    }

    /// Of a take on the same rig.
    pub fn torn(&self, scene: &Scene, clip: usize, take: &Body) -> Torn {
        let frames: Vec<usize> = (0..take.n_frames()).step_by(take.stride(400)).collect();
        let joints = self.joints_in(take);
        let lengths: Vec<Vec<Option<f64>>> = frames.iter().map(|&k| self.lengths(take, &joints, k)).collect();
        let mut torn = Torn { usual: 0.0, most: 0.0, edges: None, between: String::new() };
        for (pair, own) in self.own.iter().enumerate() {
            let (rest, bound) = (self.rest[pair], self.bound[pair]);
            let change = |long: f64| {
                let usual = long.clamp(rest.min(bound), rest.max(bound));
                ((long / usual - 1.0).abs() - own).max(0.0)
            };
            let of_pair: Vec<f64> = lengths.iter().filter_map(|frame| frame[pair].map(change)).collect();
            if quantile(&of_pair, 0.99) > torn.usual {
                let (a, b) = self.pairs[pair];
                torn.between = format!("{} to {}", self.names[a], self.names[b]);
            }
            torn.usual = torn.usual.max(quantile(&of_pair, 0.99));
            torn.most = torn.most.max(quantile(&of_pair, 1.0));
        }
        let seconds = take.n_frames() as f64 * take.motion.step;
        let moments: Vec<f64> = (1..10).map(|k| f64::from(k) * 0.1 * seconds).collect();
        // A third more than there: skins that stretch to five times their length in their own clips may go to six.
        torn.edges = self
            .own_edges
            .map(|own| ((1.0 + edge_change(scene, clip, &moments)) / (1.0 + own) - 1.0).max(0.0));
        torn
    }
}

/// Names of the joints that carry skin.
pub fn carriers(scene: &Scene) -> HashSet<&str> {
    let mut names = HashSet::new();
    for node in list(&scene.json, "nodes") {
        let at = |key: &str| node[key].as_u64().and_then(|k| usize::try_from(k).ok());
        let (Some(mesh), Some(skin)) = (at("mesh"), at("skin")) else { continue };
        let joints = list(&scene.json["skins"][skin], "joints");
        for primitive in list(&scene.json["meshes"][mesh], "primitives") {
            let numbers = |name: &str| {
                let accessor = usize::try_from(primitive["attributes"][name].as_u64()?).ok()?;
                Some(scene.numbers(accessor).ok()?.0)
            };
            let (Some(places), Some(weights)) = (numbers("JOINTS_0"), numbers("WEIGHTS_0")) else { continue };
            let used: HashSet<usize> = places
                .iter()
                .zip(&weights)
                .filter(|(_, w)| **w > 0.1)
                .map(|(place, _)| *place as usize)
                .collect();
            let node = |k: &usize| joints.get(*k)?.as_u64().and_then(|node| usize::try_from(node).ok());
            names.extend(used.iter().filter_map(node).map(|node| scene.node_name(node)));
        }
    }
    names
}
