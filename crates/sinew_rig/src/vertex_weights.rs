//! What moves a vertex.

/// What a joint moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// The body around its bone.
    Moves,
    /// The same if it lies in the body; roots at the floor move nothing.
    MovesInside,
    /// Only a small loose part around it: an eye.
    MovesPart,
    /// Nothing.
    Still,
}

/// The four strongest joints of a vertex.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VertexWeights {
    pub joints: [u16; 4],
    pub weights: [f32; 4],
}

/// The four strongest, which sum to one.
pub(crate) fn strongest(row: &[f32]) -> VertexWeights {
    let mut out = VertexWeights::default();
    for (k, &weight) in row.iter().enumerate() {
        // Kept in falling order; of equal ones the first.
        let Some(slot) = (0..4).find(|&slot| weight > out.weights[slot]) else { continue };
        out.weights.copy_within(slot..3, slot + 1);
        out.joints.copy_within(slot..3, slot + 1);
        (out.weights[slot], out.joints[slot]) = (weight, k as u16);
    }
    let sum: f32 = out.weights.iter().sum();
    if sum > 0.0 {
        out.weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        out.weights[0] = 1.0;
    }
    out
}
