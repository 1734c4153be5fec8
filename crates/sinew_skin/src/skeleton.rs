//! A skeleton for fitted bones: the parent of each bone, and the joints about which they turn.
//!
//! # Source
//! Sinew's own, after Le and Deng, *Robust and accurate skeletal rigging from mesh sequences* (2014): a joint is the point
//! that two bones move alike, by least squares over all frames; the tree is the spanning tree of the least errors of joints
//! (Kruskal 1956) among bones that share vertices or edges. Differs: nothing is removed or fitted again, so that the played
//! surface stays what was fitted.
//! # Symbols
//! `x` joint about the middle `m` of what two bones share: `Σ_p |(R_a − R_b) x + T_a m − T_b m|² + λ P |x|²`
//! # Cost
//! One pass over the frames for each pair of neighbouring bones; all pairs are only compared where parts are loose.

use crate::FittedSkin;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use sinew_geom::{Mesh, mesh::bounds};
use std::collections::BTreeMap;

/// Pull of a joint towards the middle of what its bones share, per frame: directions in which they hardly turn about each
/// other (about a degree) are undetermined.
const REGULARISATION: f64 = 5e-4;
/// What distance adds to the error of a joint: among bones that move alike, the near ones are joined.
const DISTANCE_COST: f64 = 0.02;
/// Weight of a shared edge beside that of shared vertices.
const EDGE_WEIGHT: f64 = 0.01;

/// Bones as a tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Skeleton {
    /// Parent of each bone; `None` for the first.
    pub parents: Vec<Option<usize>>,
    /// Where each bone turns about its parent, in the rest pose.
    pub joints: Vec<DVec3>,
    /// Bones, parents first, limb after limb.
    pub order: Vec<usize>,
}

/// A possible joint.
struct Pair {
    bones: [usize; 2],
    joint: Option<DVec3>,
    cost: f64,
}

impl Skeleton {
    /// The tree of a skin's bones.
    pub fn find(skin: &FittedSkin, mesh: &Mesh) -> Self {
        let (middles, masses) = middles(skin);
        let [low, high] = bounds(&skin.rest);
        let diagonal = low.distance(high).max(f64::MIN_POSITIVE);
        let shared: Vec<_> = shared_places(skin, mesh).into_iter().collect();
        let mut pairs: Vec<Pair> = shared
            .par_iter()
            .map(|&((a, b), (sum, weight))| Pair::new(skin, [a.into(), b.into()], sum / weight, &middles))
            .collect();
        pairs.iter_mut().for_each(|pair| pair.cost /= diagonal);
        pairs.sort_by(|a, b| a.cost.total_cmp(&b.cost).then(a.bones.cmp(&b.bones)));
        let mut forest = Forest::new(skin.n_bones);
        pairs.into_iter().for_each(|pair| forest.join(pair));
        forest.join_loose(&middles);
        forest.hang(&middles, &masses)
    }

    /// Bones of the longest chain.
    pub fn depth(&self) -> usize {
        let mut depths = vec![1; self.parents.len()];
        for &bone in &self.order {
            depths[bone] = self.parents[bone].map_or(1, |parent| depths[parent] + 1);
        }
        depths.into_iter().max().unwrap_or(0)
    }

    /// No tree: every bone turns about the middle of its vertices.
    pub fn flat(skin: &FittedSkin) -> Self {
        let n = skin.n_bones;
        Self { parents: vec![None; n], joints: middles(skin).0, order: (0..n).collect() }
    }
}

/// Weighted middle of the vertices of each bone, and their weight.
pub(crate) fn middles(skin: &FittedSkin) -> (Vec<DVec3>, Vec<f64>) {
    let mut sums = vec![(DVec3::ZERO, 0.0); skin.n_bones];
    for (vertex, u) in skin.rest.iter().enumerate() {
        for (bone, w) in skin.vertex(vertex) {
            let w = f64::from(w) * f64::from(w);
            sums[bone as usize].0 += w * *u;
            sums[bone as usize].1 += w;
        }
    }
    sums.into_iter().map(|(sum, w)| (if w > 0.0 { sum / w } else { DVec3::ZERO }, w)).unzip()
}

/// For bones that meet: the weighted sum of the places where they do, and the weight.
fn shared_places(skin: &FittedSkin, mesh: &Mesh) -> BTreeMap<(u16, u16), (DVec3, f64)> {
    let mut shared: BTreeMap<(u16, u16), (DVec3, f64)> = BTreeMap::new();
    let mut add = |a: u16, b: u16, w: f64, place: DVec3| {
        let entry = shared.entry((a.min(b), a.max(b))).or_default();
        entry.0 += w * place;
        entry.1 += w;
    };
    for (vertex, u) in skin.rest.iter().enumerate() {
        for (a, v) in skin.vertex(vertex) {
            skin.vertex(vertex)
                .filter(|(b, _)| *b > a)
                .for_each(|(b, w)| add(a, b, f64::from(v) * f64::from(w), *u));
        }
    }
    let strongest = skin.strongest_bones();
    for face in mesh.faces() {
        for (a, b) in [(face[0], face[1]), (face[1], face[2]), (face[2], face[0])] {
            let (from, to) = (strongest[a as usize], strongest[b as usize]);
            if from != to {
                add(from, to, EDGE_WEIGHT, 0.5 * (skin.rest[a as usize] + skin.rest[b as usize]));
            }
        }
    }
    shared
}

impl Pair {
    fn new(skin: &FittedSkin, bones: [usize; 2], middle: DVec3, middles: &[DVec3]) -> Self {
        let n_frames = skin.n_frames().max(1) as f64;
        let pull = REGULARISATION * n_frames;
        let (mut matrix, mut right, mut squares) =
            (DMat3::from_diagonal(DVec3::splat(pull)), DVec3::ZERO, 0.0);
        for frame in 0..skin.n_frames() {
            let [a, b] = bones.map(|bone| skin.frame(frame)[bone]);
            let turn = a.matrix3 - b.matrix3;
            let gap = a.transform_point3(middle) - b.transform_point3(middle);
            matrix += turn.transpose() * turn;
            right -= turn.transpose() * gap;
            squares += gap.length_squared();
        }
        let mut x = matrix.inverse() * right;
        // A joint further from both bones than they reach is no joint.
        let reach = bones.map(|bone| middles[bone].distance(middle)).into_iter().fold(0.0, f64::max);
        if !x.is_finite() {
            x = DVec3::ZERO;
        }
        x = x.clamp_length_max(reach);
        // What is left, from the sums: |D x + g|² = xᵀ DᵀD x + 2 xᵀ Dᵀg + |g|².
        let bare = matrix - DMat3::from_diagonal(DVec3::splat(pull));
        let left = (x.dot(bare * x) - 2.0 * x.dot(right) + squares).max(0.0);
        let far = x.length() + middles[bones[0]].distance(middles[bones[1]]);
        Self { bones, joint: Some(middle + x), cost: (left / n_frames).sqrt() + DISTANCE_COST * far }
    }
}

/// Trees that grow together.
struct Forest {
    owners: Vec<usize>,
    edges: Vec<Vec<(usize, Option<DVec3>)>>,
}

impl Forest {
    fn new(n: usize) -> Self {
        Self { owners: (0..n).collect(), edges: vec![Vec::new(); n] }
    }

    fn owner(&mut self, mut bone: usize) -> usize {
        while self.owners[bone] != bone {
            self.owners[bone] = self.owners[self.owners[bone]];
            bone = self.owners[bone];
        }
        bone
    }

    fn join(&mut self, pair: Pair) {
        let [a, b] = pair.bones;
        let owners = [self.owner(a), self.owner(b)];
        if owners[0] != owners[1] {
            self.owners[owners[0].max(owners[1])] = owners[0].min(owners[1]);
            self.edges[a].push((b, pair.joint));
            self.edges[b].push((a, pair.joint));
        }
    }

    /// Parts that share nothing hang on the bones nearest to them.
    fn join_loose(&mut self, middles: &[DVec3]) {
        let n = middles.len();
        let first = self.owner(0);
        if (0..n).all(|bone| self.owner(bone) == first) {
            return;
        }
        let mut near: Vec<(f64, [usize; 2])> = Vec::new();
        for a in 0..n {
            for b in a + 1..n {
                if self.owner(a) != self.owner(b) {
                    near.push((middles[a].distance(middles[b]), [a, b]));
                }
            }
        }
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (cost, bones) in near {
            self.join(Pair { bones, joint: None, cost });
        }
    }

    /// Hang the tree up at the bone that leaves the lightest branches.
    fn hang(mut self, middles: &[DVec3], masses: &[f64]) -> Skeleton {
        let n = middles.len();
        let (order, parents) = self.walk(0);
        let mut below = masses.to_vec();
        for &bone in order.iter().rev() {
            if let Some((parent, _)) = parents[bone] {
                below[parent] += below[bone];
            }
        }
        let total: f64 = masses.iter().sum();
        let heaviest = |bone: usize| {
            let branches = self.edges[bone].iter().map(|&(next, _)| {
                if parents[bone].is_some_and(|(parent, _)| parent == next) {
                    total - below[bone]
                } else {
                    below[next]
                }
            });
            branches.fold(0.0, f64::max)
        };
        let first = (0..n).min_by(|&a, &b| heaviest(a).total_cmp(&heaviest(b))).unwrap_or(0);
        // Heavy branches first.
        let (order, parents) = self.walk(first);
        let mut below = masses.to_vec();
        for &bone in order.iter().rev() {
            if let Some((parent, _)) = parents[bone] {
                below[parent] += below[bone];
            }
        }
        self.edges.iter_mut().for_each(|edges| {
            edges.sort_by(|a, b| below[b.0].total_cmp(&below[a.0]).then(a.0.cmp(&b.0)));
        });
        let (order, parents) = self.walk(first);
        let joints =
            (0..n).map(|bone| parents[bone].and_then(|(_, joint)| joint).unwrap_or(middles[bone])).collect();
        Skeleton {
            parents: parents.iter().map(|parent| parent.map(|(bone, _)| bone)).collect(),
            joints,
            order,
        }
    }

    /// Bones in depth-first order, and where each comes from.
    #[allow(clippy::type_complexity, reason = "used here only")]
    fn walk(&self, first: usize) -> (Vec<usize>, Vec<Option<(usize, Option<DVec3>)>>) {
        let n = self.edges.len();
        let (mut order, mut parents) = (Vec::with_capacity(n), vec![None; n]);
        let mut open = vec![first];
        while let Some(bone) = open.pop() {
            order.push(bone);
            for &(next, joint) in self.edges[bone].iter().rev() {
                let came_from: Option<(usize, Option<DVec3>)> = parents[bone];
                if came_from.is_none_or(|(parent, _)| parent != next) {
                    parents[next] = Some((bone, joint));
                    open.push(next);
                }
            }
        }
        (order, parents)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DAffine3, DQuat};

    /// A chain of bars, each turning about the end of the one before.
    fn chain(n: usize) -> (FittedSkin, Mesh) {
        let (mut rest, mut faces, mut indices) = (Vec::new(), Vec::new(), Vec::new());
        for bone in 0..n {
            for k in 0..3u32 {
                let x = bone as f64 + 0.1 + 0.4 * f64::from(k);
                let at = rest.len() as u32;
                rest.extend([DVec3::new(x, 0.1, 0.0), DVec3::new(x, -0.1, 0.0), DVec3::new(x, 0.0, 0.15)]);
                indices.extend([bone as u16; 3]);
                faces.push([at, at + 1, at + 2]);
                if at > 0 {
                    faces.extend([[at - 3, at, at - 2], [at, at + 1, at - 2]]);
                }
            }
        }
        let mut transforms = Vec::new();
        for frame in 0..20 {
            let mut world = DAffine3::IDENTITY;
            for bone in 0..n {
                let pivot = DVec3::new(bone as f64, 0.0, 0.0);
                let t = 0.3 * frame as f64 + bone as f64;
                let turn =
                    DQuat::from_rotation_z(0.6 * t.sin()) * DQuat::from_rotation_y(0.4 * (1.3 * t).cos());
                world = world
                    * DAffine3::from_translation(pivot)
                    * DAffine3::from_quat(turn)
                    * DAffine3::from_translation(-pivot);
                transforms.push(world);
            }
        }
        let weights = vec![1.0; rest.len()];
        let mesh = Mesh::new(rest.clone(), faces).unwrap();
        (FittedSkin { rest, n_bones: n, influences: 1, indices, weights, transforms }, mesh)
    }

    #[test]
    fn joints_are_where_bones_turn_about_each_other() {
        let (skin, mesh) = chain(7);
        let found = Skeleton::find(&skin, &mesh);
        assert_eq!(found.parents.iter().filter(|parent| parent.is_none()).count(), 1);
        assert_eq!(found.parents[3], None, "the middle of a chain is first: {:?}", found.parents);
        for (bone, parent) in found.parents.iter().enumerate() {
            let Some(parent) = *parent else { continue };
            assert_eq!(bone.abs_diff(parent), 1, "{:?}", found.parents);
            let truth = DVec3::new(bone.max(parent) as f64, 0.0, 0.0);
            let off = found.joints[bone].distance(truth) / mesh.diagonal();
            assert!(off < 0.005, "joint of {bone}: {off}");
        }
        let place = |bone: usize| found.order.iter().position(|&b| b == bone).unwrap();
        assert!((0..7).all(|bone| found.parents[bone].is_none_or(|parent| place(parent) < place(bone))));
    }

    /// Bones that share nothing are one tree all the same.
    #[test]
    fn loose_parts_hang_on_the_nearest() {
        let (skin, mesh) = chain(5);
        let bare = Mesh::new(mesh.positions().to_vec(), Vec::new()).unwrap();
        let found = Skeleton::find(&skin, &bare);
        assert_eq!(found.order.len(), 5);
        assert_eq!(found.parents.iter().filter(|parent| parent.is_none()).count(), 1);
        assert!(found.parents.iter().enumerate().all(|(b, p)| p.is_none_or(|p| b.abs_diff(p) == 1)));
    }
}
