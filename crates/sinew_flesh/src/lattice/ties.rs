//! Hanging nodes: their motion is a mean of that of independent nodes.
//!
//! # Source
//! Where a large cell meets small ones, nodes in the middle of its faces and edges follow its corners, so that the
//! motion is continuous. With `T` the map from independent nodes to all, the system of a step is `Tᵀ A T`; conjugate
//! gradients with the preconditioner `T D⁻¹ Tᵀ` solve it without forming that matrix.

use crate::element::Scalar;
use glam::DVec3;

/// Hanging nodes and the true nodes they follow.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Ties {
    /// Hanging nodes.
    nodes: Vec<u32>,
    starts: Vec<u32>,
    /// True nodes and their shares, which sum to one.
    shares: Vec<(u32, f64)>,
}

impl Ties {
    /// From rows; the nodes of shares must not hang themselves.
    pub fn new(rows: impl IntoIterator<Item = (u32, Vec<(u32, f64)>)>) -> Self {
        let mut ties = Self { starts: vec![0], ..Self::default() };
        for (node, row) in rows {
            ties.nodes.push(node);
            ties.shares.extend(row);
            ties.starts.push(ties.shares.len() as u32);
        }
        ties
    }

    /// Whether no node hangs.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Hanging nodes.
    pub fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Each hanging node with the true nodes it follows, and their shares.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[(u32, f64)])> {
        self.nodes.iter().enumerate().map(|(k, &node)| {
            (node as usize, &self.shares[self.starts[k] as usize..self.starts[k + 1] as usize])
        })
    }

    /// `T`: bring hanging nodes to where true ones have them.
    pub fn spread<T: Scalar>(&self, x: &mut [[T; 4]]) {
        for (node, shares) in self.rows() {
            let mut sum = [T::ZERO; 4];
            for &(other, w) in shares {
                (0..4).for_each(|k| sum[k] += T::of(w) * x[other as usize][k]);
            }
            x[node] = sum;
        }
    }

    /// The same for places.
    pub fn spread_places(&self, x: &mut [DVec3]) {
        for (node, shares) in self.rows() {
            x[node] = shares.iter().map(|&(other, w)| x[other as usize] * w).sum();
        }
    }

    /// `Tᵀ`: give what acts on hanging nodes to true ones.
    pub fn gather<T: Scalar>(&self, r: &mut [[T; 4]]) {
        for (node, shares) in self.rows() {
            let own = r[node];
            for &(other, w) in shares {
                (0..4).for_each(|k| r[other as usize][k] += T::of(w) * own[k]);
            }
            r[node] = [T::ZERO; 4];
        }
    }

    /// Give the diagonal blocks of hanging nodes to true ones, which leaves an approximation of those of `Tᵀ A T`.
    pub fn gather_blocks(&self, blocks: &mut [[f64; 6]]) {
        for (node, shares) in self.rows() {
            let own = blocks[node];
            for &(other, w) in shares {
                (0..6).for_each(|k| blocks[other as usize][k] += w * w * own[k]);
            }
        }
    }

    /// `z = T D⁻¹ Tᵀ r`, of which `precondition` is `D⁻¹` on true nodes and zero on others.
    pub fn around<T: Scalar>(
        &self,
        r: &[[T; 4]],
        z: &mut [[T; 4]],
        mut precondition: impl FnMut(&[[T; 4]], &mut [[T; 4]]),
    ) {
        if self.is_empty() {
            return precondition(r, z);
        }
        let mut gathered = r.to_vec();
        self.gather(&mut gathered);
        precondition(&gathered, z);
        self.spread(z);
    }
}
