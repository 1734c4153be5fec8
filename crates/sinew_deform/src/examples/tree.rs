//! Which handle carries which: forearm and hand go with the upper arm.

use crate::HandleSet;
use sinew_geom::Move;

/// A forest of handles.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct HandleTree {
    /// Per handle, the one that carries it.
    pub parent: Vec<Option<usize>>,
    /// Handles in an order in which parents come first.
    pub order: Vec<usize>,
}

impl HandleTree {
    /// Derive it from the secondary handles of each handle, and from the rotations of the examples.
    ///
    /// A handle is carried by the one that carries least of all that carry it: the hand by the forearm, not by the
    /// chest. Of two that carry each other, the one that carries more is the parent, so that no circle can form.
    pub fn new<'a>(handles: &HandleSet, moves: impl Iterator<Item = &'a Move>) -> Self {
        let n = handles.len();
        let mut carries = vec![vec![false; n]; n];
        let mut carry = |main: Option<usize>, names: &[String]| {
            let Some(main) = main else { return };
            for name in names {
                if let Some(h) = handles.find(name).filter(|&h| h != main) {
                    carries[main][h] = true;
                }
            }
        };
        for (main, handle) in handles.handles().iter().enumerate() {
            carry(Some(main), &handle.secondary);
        }
        for step in moves {
            if let Move::Rotate { main, handles: names, .. } = step {
                // A rotation that does not include its own main handle gives no information.
                if names.contains(main) {
                    carry(handles.find(main), names);
                }
            }
        }
        let rank = |h: usize| (carries[h].iter().filter(|c| **c).count(), n - h);
        let parent: Vec<_> = (0..n)
            .map(|h| (0..n).filter(|&p| carries[p][h] && rank(p) > rank(h)).min_by_key(|&p| rank(p)))
            .collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|&h| std::cmp::Reverse(rank(h)));
        Self { parent, order }
    }

    /// A handle and all that it carries, at any distance, in increasing order.
    pub fn subtree(&self, root: usize) -> Vec<usize> {
        let is_below =
            |h: usize| std::iter::successors(Some(h), |&up| self.parent[up]).any(|above| above == root);
        (0..self.parent.len()).filter(|&h| is_below(h)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use sinew_geom::{Handle, Mesh, Warnings};

    #[test]
    fn the_nearest_carrier_is_the_parent_and_circles_are_cut() {
        let positions = (0..5).map(|i| DVec3::X * f64::from(i)).collect();
        let mesh = Mesh::new(positions, vec![]).unwrap();
        let handle = |name: &str, v: u32, secondary: &[&str]| Handle {
            name: name.into(),
            vertices: vec![v],
            weights: vec![1.0],
            center: DVec3::ZERO,
            secondary: secondary.iter().map(|s| (*s).to_owned()).collect(),
        };
        let handles = [
            handle("hand", 0, &[]),
            handle("chest", 1, &["arm", "hand", "left"]),
            handle("arm", 2, &["hand"]),
            handle("left", 3, &["right"]),
            handle("right", 4, &["left"]),
        ];
        let set = HandleSet::new(&mesh, &handles, &mut Warnings::default()).unwrap();
        let tree = HandleTree::new(&set, [].iter());
        assert_eq!(tree.parent, [Some(2), None, Some(1), Some(1), Some(3)]);
        assert_eq!(tree.subtree(1), [0, 1, 2, 3, 4]);
        for (h, parent) in tree.parent.iter().enumerate() {
            let place = |x: usize| tree.order.iter().position(|&o| o == x);
            assert!(parent.is_none_or(|p| place(p) < place(h)));
        }
        // A rotation gives the same information.
        let turn = Move::Rotate {
            main: "right".into(),
            handles: ["right", "chest", "hand", "arm", "left"].map(String::from).to_vec(),
            axis: DVec3::Z,
            radians: 1.0,
        };
        let turned = HandleTree::new(&set, [turn].iter());
        assert_eq!(turned.parent[1], Some(4));
    }
}
