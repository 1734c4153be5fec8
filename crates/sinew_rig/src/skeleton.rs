//! A skeleton while it is put together: named joints, limbs on both sides at once.

use crate::view::View;
use glam::DVec3;

/// A joint of a proposed skeleton.
#[derive(Debug, Clone)]
pub(crate) struct ProposedJoint {
    pub name: String,
    pub position: DVec3,
    pub parent: Option<usize>,
}

/// Joints, parents first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Skeleton {
    pub joints: Vec<ProposedJoint>,
}

/// Joints of the two sides that are closer than this after reflection are made symmetric.
const SYMMETRIC_DISTANCE: f64 = 0.06;

impl Skeleton {
    pub fn add(&mut self, name: impl Into<String>, position: DVec3, parent: Option<usize>) -> usize {
        self.joints.push(ProposedJoint { name: name.into(), position, parent });
        self.joints.len() - 1
    }

    /// A chain of joints from a parent; the last of it.
    pub fn add_chain(&mut self, stem: &str, points: &[DVec3], parent: Option<usize>) -> Option<usize> {
        let mut last = parent;
        for (k, &point) in points.iter().enumerate() {
            let name = if points.len() == 1 { stem.to_owned() } else { format!("{stem}.{}", k + 1) };
            last = Some(self.add(name, point, last));
        }
        last
    }

    /// Chains of the same names on both sides; where they agree they become exactly symmetric.
    pub fn add_pair(
        &mut self,
        view: &View,
        names: &[impl AsRef<str>],
        sides: [Vec<DVec3>; 2],
        parent: usize,
    ) -> [Vec<usize>; 2] {
        let [mut left, mut right] = sides;
        for (a, b) in left.iter_mut().zip(&mut right) {
            let mirrored = view.plane.mirror(*b);
            if mirrored.distance(*a) < SYMMETRIC_DISTANCE {
                *a = 0.5 * (*a + mirrored);
                *b = view.plane.mirror(*a);
            }
        }
        let mut side = |points: &[DVec3], suffix: &str| -> Vec<usize> {
            let mut last = parent;
            let mut added = Vec::new();
            for (name, &point) in names.iter().zip(points) {
                last = self.add(format!("{}{suffix}", name.as_ref()), point, Some(last));
                added.push(last);
            }
            added
        };
        [side(&left, ".L"), side(&right, ".R")]
    }

    /// Names of a chain of `n` joints: `stem`, or `stem.1`, `stem.2` and so on.
    pub fn chain_names(stem: &str, n: usize) -> Vec<String> {
        if n == 1 { vec![stem.to_owned()] } else { (1..=n).map(|k| format!("{stem}.{k}")).collect() }
    }

    /// The joint in the middle of the body (on no side) nearest to a point.
    pub fn nearest_central(&self, point: DVec3) -> usize {
        let is_central = |joint: &&ProposedJoint| !joint.name.ends_with(".L") && !joint.name.ends_with(".R");
        let distance = |joint: &ProposedJoint| joint.position.distance_squared(point);
        let central = self.joints.iter().enumerate().filter(|(_, joint)| is_central(joint));
        central.min_by(|a, b| distance(a.1).total_cmp(&distance(b.1))).map_or(0, |(k, _)| k)
    }
}
