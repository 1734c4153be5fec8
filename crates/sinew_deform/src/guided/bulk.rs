//! How much volume a piece has, and how stiff its inside has to be to keep it.
//!
//! # Source
//! Sinew's own. A surface without inside has the least distortion, and keeps its volume where it bends a little; a bar that is
//! twisted by half a turn loses half of it. So the inside counts as much as it saves volume.
//! # Symbols
//! `l_w`, `l_s` share of its volume that the piece loses with a weak and with a stiff inside; `m` what the weak one loses as a
//! share of the whole mesh; `β` blend of both; `s` scale of the inside at full resolution; `S` smooth step
//! # Limits
//! Volume is measured between the nodes, and open pieces are closed by fans to the middle of each handle's rim. The scales
//! were found on 17 edits. All of it is continuous in the pose, but steep where a piece begins to need its inside: some vertices of
//! a bar that is bent by 90° take up to 3.5 median steps at once there.

use super::clusters::Clustering;
use crate::handled::HandledMesh;
use glam::DVec3;
use std::collections::BTreeMap;

/// Volume over the 3/2th power of the area, below which a piece has none that means anything. A ball has 0.094.
const LEAST_BULK: f64 = 0.002;

/// Triangles between the nodes of a piece, closed.
#[derive(Debug, Clone, Default)]
pub(super) struct Bulk {
    faces: Vec<[u32; 3]>,
    /// Sides of the rims, per handle.
    rims: Vec<Vec<[u32; 2]>>,
    volume: f64,
}

/// How a weak and a stiff solution are mixed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Mix {
    /// `β`: 0 is weak, 1 is stiff.
    pub share: f64,
    /// `s`.
    pub inside: f64,
}

impl Bulk {
    /// Faces whose corners belong to three nodes are triangles between these.
    pub fn new(HandledMesh { mesh, adjacency, .. }: HandledMesh, clustering: &Clustering) -> Self {
        let clusters = &clustering.clusters;
        let mut around: Vec<u32> =
            clusters.vertices.iter().flat_map(|&v| adjacency.vertex_faces.row(v as usize)).copied().collect();
        around.sort_unstable();
        around.dedup();
        let is_soft = |node: &u32| clusters.owners[*node as usize].is_none();
        let nodes = |f: &u32| {
            let [a, b, c] = mesh.faces()[*f as usize].map(|v| clustering.node(v));
            Some([a?, b?, c?]).filter(|[a, b, c]| a != b && b != c && c != a)
        };
        let mut faces: Vec<[u32; 3]> = around.iter().filter_map(nodes).collect();
        faces.retain(|face| face.iter().any(is_soft));
        let mut sides: BTreeMap<[u32; 2], i32> = BTreeMap::new();
        for face in &faces {
            for k in 0..3 {
                let (a, b) = (face[k], face[(k + 1) % 3]);
                *sides.entry([a.min(b), a.max(b)]).or_default() += if a < b { 1 } else { -1 };
            }
        }
        let mut rims: BTreeMap<Option<u32>, Vec<[u32; 2]>> = BTreeMap::new();
        for ([a, b], count) in sides {
            let side = if count > 0 { [a, b] } else { [b, a] };
            let rim = rims.entry(clusters.owners[a as usize]).or_default();
            rim.extend(std::iter::repeat_n(side, count.unsigned_abs() as usize));
        }
        let mut bulk = Self { faces, rims: rims.into_values().collect(), volume: 0.0 };
        let area: f64 = bulk.faces.iter().map(|f| bulk.normal(f, &clusters.centers).length() * 0.5).sum();
        let volume = bulk.measure(&clusters.centers);
        if volume.abs() > LEAST_BULK * area.powf(1.5) {
            bulk.volume = volume;
        }
        bulk
    }

    fn normal(&self, face: &[u32; 3], x: &[DVec3]) -> DVec3 {
        let [a, b, c] = face.map(|v| x[v as usize]);
        (b - a).cross(c - a)
    }

    /// Volume of posed nodes.
    fn measure(&self, x: &[DVec3]) -> f64 {
        let Some(origin) = self.faces.first().map(|face| x[face[0] as usize]) else { return 0.0 };
        let at = |v: u32| x[v as usize] - origin;
        let faces = self.faces.iter().map(|f| at(f[0]).dot(at(f[1]).cross(at(f[2]))));
        // A fan on the other side of each rim.
        let caps = self.rims.iter().map(|rim| {
            let middle = rim.iter().map(|side| at(side[0])).sum::<DVec3>() / rim.len().max(1) as f64;
            rim.iter().map(|side| at(side[1]).dot(at(side[0]).cross(middle))).sum::<f64>()
        });
        (faces.sum::<f64>() + caps.sum::<f64>()) / 6.0
    }

    /// How to mix a weak and a stiff solution; `whole` is the volume of the whole mesh.
    pub fn mix(&self, weak: &[DVec3], stiff: &[DVec3], whole: f64) -> Mix {
        if self.volume == 0.0 {
            return Mix { share: 0.0, inside: 0.0 };
        }
        let loss = |x: &[DVec3]| 1.0 - self.measure(x) / self.volume;
        mix_of(loss(weak), loss(stiff), self.volume.abs() / whole.abs().max(self.volume.abs()))
    }
}

/// The mix for losses of a piece whose volume is a share of the whole.
fn mix_of(weak: f64, stiff: f64, share: f64) -> Mix {
    if weak <= 0.0 {
        return Mix { share: 0.0, inside: 0.0 };
    }
    let of_whole = weak * share;
    let ratio = stiff / weak;
    // The piece collapses, and an inside saves at least half of it. Less is not worth the distortion that saving it costs: the
    // crease of a raised arm would fold.
    let saved = smooth((0.5 - ratio) / 0.15) * smooth((weak - stiff - 0.2) / 0.2);
    // The whole loses much, and an inside saves some.
    let felt = smooth((of_whole - 0.02) / 0.04) * smooth((0.85 - ratio) / 0.25);
    let share = saved.max(felt);
    let inside = share.max(0.1 * smooth((of_whole - 0.01) / 0.02));
    Mix { share, inside }
}

/// 0 below 0, 1 above 1, and smooth between.
fn smooth(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inside_counts_where_it_saves_volume() {
        // Nothing is lost, or an inside would not help.
        for (weak, stiff) in [(-0.1, -0.3), (0.0, -0.5), (0.005, 0.0), (0.3, 0.29)] {
            assert_eq!(mix_of(weak, stiff, 0.01).share, 0.0, "{weak} {stiff}");
        }
        // A bar twisted by half a turn.
        assert_eq!(mix_of(0.45, 0.03, 0.8), Mix { share: 1.0, inside: 1.0 });
    }

    #[test]
    fn a_mix_never_jumps() {
        let steps = || (-200..400).map(|k| f64::from(k) * 1e-3);
        for share in [0.01, 0.3, 1.0] {
            for stiff in steps().step_by(7) {
                let mut last = mix_of(-0.21, stiff, share);
                for weak in (-2000..4000).map(|k| f64::from(k) * 1e-4) {
                    let mix = mix_of(weak, stiff, share);
                    let jump = (mix.share - last.share).abs().max((mix.inside - last.inside).abs());
                    assert!(jump < 0.06, "{weak} {stiff} {share}: {last:?} {mix:?}");
                    last = mix;
                }
            }
        }
    }
}
