//! The state of a fit: bones, weights and the rest pose.

use crate::tracks::Tracks;

/// The bones that each vertex follows, and their weights. Weights are positive and sum to one.
#[derive(Debug, Clone)]
pub(crate) struct Influences {
    /// Entries per vertex.
    pub width: usize,
    pub slots: Vec<u16>,
    pub weights: Vec<f32>,
    pub counts: Vec<u8>,
}

impl Influences {
    /// Each vertex follows one bone.
    pub fn hard(labels: &[u16], width: usize) -> Self {
        let n = labels.len();
        let mut influences =
            Self { width, slots: vec![0; n * width], weights: vec![0.0; n * width], counts: vec![1; n] };
        labels.iter().enumerate().for_each(|(vertex, &label)| influences.set_hard(vertex, label));
        influences
    }

    /// Let a vertex follow one bone alone.
    pub fn set_hard(&mut self, vertex: usize, bone: u16) {
        let range = vertex * self.width..(vertex + 1) * self.width;
        self.slots[range.clone()].fill(0);
        self.weights[range].fill(0.0);
        self.slots[vertex * self.width] = bone;
        self.weights[vertex * self.width] = 1.0;
        self.counts[vertex] = 1;
    }

    /// Let a vertex follow the bones of another one.
    pub fn copy_vertex(&mut self, vertex: usize, others: &Self, other: usize) {
        let (a, b) = (vertex * self.width, other * others.width);
        self.slots[a..a + self.width].copy_from_slice(&others.slots[b..b + others.width]);
        self.weights[a..a + self.width].copy_from_slice(&others.weights[b..b + others.width]);
        self.counts[vertex] = others.counts[other];
    }

    pub fn n_vertices(&self) -> usize {
        self.counts.len()
    }

    /// Bones and weights of a vertex.
    #[inline(always)]
    pub fn of(&self, vertex: usize) -> impl ExactSizeIterator<Item = (u16, f32)> + '_ {
        let range = vertex * self.width..vertex * self.width + usize::from(self.counts[vertex]);
        self.slots[range.clone()].iter().copied().zip(self.weights[range].iter().copied())
    }

    /// The bone a vertex follows most.
    pub fn strongest(&self, vertex: usize) -> u16 {
        let start = vertex * self.width;
        let mut best = start;
        for at in start + 1..start + usize::from(self.counts[vertex]) {
            if self.weights[at] > self.weights[best] {
                best = at;
            }
        }
        self.slots[best]
    }

    /// Sum of the weights on each bone.
    pub fn masses(&self, n_bones: usize) -> Vec<f64> {
        let mut masses = vec![0.0; n_bones];
        for vertex in 0..self.n_vertices() {
            self.of(vertex).for_each(|(bone, weight)| masses[bone as usize] += f64::from(weight));
        }
        masses
    }

    /// Vertices and weights of each bone: starts, then pairs.
    pub fn by_bone(&self, n_bones: usize) -> (Vec<u32>, Vec<(u32, f32)>) {
        let mut starts = vec![0u32; n_bones + 1];
        for vertex in 0..self.n_vertices() {
            self.of(vertex).for_each(|(bone, _)| starts[bone as usize + 1] += 1);
        }
        (0..n_bones).for_each(|bone| starts[bone + 1] += starts[bone]);
        let mut next = starts.clone();
        let mut pairs = vec![(0, 0.0); starts[n_bones] as usize];
        for vertex in 0..self.n_vertices() {
            for (bone, weight) in self.of(vertex) {
                pairs[next[bone as usize] as usize] = (vertex as u32, weight);
                next[bone as usize] += 1;
            }
        }
        (starts, pairs)
    }
}

/// Transforms of all bones in all frames. Bone `j` moves the rest position `u` to `A_j (u − c_j) + t_j`: turning about
/// its own centre keeps single precision accurate.
#[derive(Debug, Clone)]
pub(crate) struct Bones {
    pub n_bones: usize,
    pub n_lanes: usize,
    /// Four rows per bone: the columns of `A_j`, then `t_j`; each laid out as a path.
    pub rows: Vec<f32>,
    pub centers: Vec<[f32; 3]>,
    /// Unit quaternions of rigid bones, x y z w, each over all frames; empty if bones are affine.
    pub turns: Vec<f32>,
}

impl Bones {
    /// Bones that only shift with the centroid of each frame.
    pub fn at_rest(centers: Vec<[f32; 3]>, tracks: &Tracks, is_rigid: bool) -> Self {
        let (n_bones, n_lanes, width) = (centers.len(), tracks.n_lanes, tracks.width());
        let mut rows = vec![0.0; 4 * n_bones * width];
        let mut turns = vec![0.0; if is_rigid { 4 * n_bones * n_lanes } else { 0 }];
        for (bone, center) in centers.iter().enumerate() {
            for frame in 0..tracks.n_frames {
                for d in 0..3 {
                    rows[(4 * bone + d) * width + d * n_lanes + frame] = 1.0;
                    rows[(4 * bone + 3) * width + d * n_lanes + frame] = center[d];
                }
            }
        }
        turns.chunks_exact_mut(4 * n_lanes.max(1)).for_each(|turn| turn[3 * n_lanes..].fill(1.0));
        Self { n_bones, n_lanes, rows, centers, turns }
    }

    /// Length of a row.
    pub fn width(&self) -> usize {
        3 * self.n_lanes
    }

    /// The four rows of a bone.
    #[inline(always)]
    pub fn of(&self, bone: usize) -> &[f32] {
        let size = 12 * self.n_lanes;
        &self.rows[bone * size..(bone + 1) * size]
    }

    /// Copy the transform of another bone, about another centre.
    pub fn copy_bone(&mut self, from: usize, to: usize, center: [f32; 3]) {
        let size = 4 * self.width();
        self.rows.copy_within(from * size..(from + 1) * size, to * size);
        self.centers[to] = self.centers[from];
        self.move_center(to, center);
        if !self.turns.is_empty() {
            let size = 4 * self.n_lanes;
            self.turns.copy_within(from * size..(from + 1) * size, to * size);
        }
    }

    /// Express the same transform about another centre.
    pub fn move_center(&mut self, bone: usize, center: [f32; 3]) {
        let width = self.width();
        let shift: [f32; 3] = std::array::from_fn(|d| center[d] - self.centers[bone][d]);
        let rows = &mut self.rows[4 * bone * width..4 * (bone + 1) * width];
        let (columns, translation) = rows.split_at_mut(3 * width);
        for (d, column) in columns.chunks_exact(width).enumerate() {
            translation.iter_mut().zip(column).for_each(|(t, a)| *t += a * shift[d]);
        }
        self.centers[bone] = center;
    }

    /// Zero the padding, so that it adds nothing to any sum.
    pub fn clear_padding(&mut self, n_frames: usize) {
        if n_frames == self.n_lanes {
            return;
        }
        self.rows.chunks_exact_mut(self.n_lanes).for_each(|lanes| lanes[n_frames..].fill(0.0));
    }
}

/// The state of a fit.
#[derive(Debug, Clone)]
pub(crate) struct State {
    pub influences: Influences,
    pub bones: Bones,
    /// Rest positions as corrected so far.
    pub rest: Vec<[f32; 3]>,
}

/// Weighted mean of the rest positions of each bone; the old centre where a bone has no vertices.
pub(crate) fn centroids(influences: &Influences, rest: &[[f32; 3]], old: &[[f32; 3]]) -> Vec<[f32; 3]> {
    let mut sums = vec![[0.0f64; 4]; old.len()];
    for (vertex, u) in rest.iter().enumerate() {
        for (bone, weight) in influences.of(vertex) {
            // Squared, so that the centre of a bone is where its weight is large.
            let w = f64::from(weight) * f64::from(weight);
            let sum = &mut sums[bone as usize];
            (0..3).for_each(|d| sum[d] += w * f64::from(u[d]));
            sum[3] += w;
        }
    }
    let center = |(sum, old): (&[f64; 4], &[f32; 3])| match sum[3] > 1e-9 {
        true => std::array::from_fn(|d| (sum[d] / sum[3]) as f32),
        false => *old,
    };
    sums.iter().zip(old).map(center).collect()
}
