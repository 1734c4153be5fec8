//! Sequences larger than memory: bones from a sample of the vertices, then all vertices frame by frame.
//!
//! # Source
//! The idea of Antonopoulos (2010), ch. 4: a few vertices suffice to find the transforms. Weights of all vertices then
//! follow from Gram matrices that are summed over the frames (see `simplex`), and the bones are refitted to all
//! vertices block by block.
//! # Cost
//! Three passes over the frames. Memory: the paths of the sample, and `n (n + 1) / 2` numbers per vertex for n
//! candidates.
//! # Limits
//! The rest pose is not corrected.

use crate::{
    BoneKind, FitParams, FitReport, FitStage, FitStatus, FittedSkin, FrameSource, Progress, SkinError,
    SkinErrors, SkinFit,
    affine::update_affine,
    fit::Run,
    lanes::{LANES, V, fma, groups, splat, sub, sum},
    measure::{Sums, is_closest_frame},
    normal::Normal,
    params::MAX_CANDIDATES,
    rigid::update_rigid,
    simplex::{Blend, GRAM_STRIDE},
    state::{Bones, Influences, State},
    tracks::{Tracks, read_frame},
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{
    Mesh,
    linalg::{Kernel, dispatch},
    mesh::{EdgeTable, Ragged, bounds},
};
use std::collections::BTreeMap;

/// Sweeps over rigid bones in the last pass.
const RIGID_SWEEPS: usize = 10;
/// Candidate bones per vertex, for which weights are solved.
const N_CANDIDATES: usize = 12;
/// Entries of a Gram matrix with [`N_CANDIDATES`] rows, lower triangle.
const GRAM_ENTRIES: usize = N_CANDIDATES * (N_CANDIDATES + 1) / 2;
const CHUNK_VERTICES: usize = 512;

/// Fit a sequence while only the paths of about `n_sample` vertices are in memory.
///
/// # Errors
/// As [`crate::fit_skin`].
pub fn fit_streamed(
    rest: &Mesh,
    source: &mut dyn FrameSource,
    params: &FitParams,
    n_sample: usize,
    progress: Progress,
) -> Result<(SkinFit, SkinErrors), SkinError> {
    params.check(rest.n_vertices().max(1))?;
    let sample = Sample::new(rest, n_sample.max(params.bones));
    report_progress(progress, FitStage::Read, 0.0, f64::NAN)?;
    let tracks = Tracks::read_some(rest, source, &sample.kept, sample.neighbors.clone())?;
    let held = FitParams { correct_rest: false, ..params.clone() };
    let scaled = |status: FitStatus| progress(FitStatus { share: 0.2 + 0.4 * status.share, ..status });
    let (small, report) = Run::new(&tracks, &held, &scaled).run()?;
    let mut stream = Stream::new(rest, &tracks, &sample, small, params);
    stream.find_weights(source, progress)?;
    let errors = stream.refit(rest, source, progress)?;
    let skin = FittedSkin::from_state(&tracks, &stream.state);
    let report = FitReport { errors: [report.errors, vec![errors.e_rms_diag1]].concat(), ..report };
    Ok((SkinFit { skin, report }, errors))
}

fn report_progress(progress: Progress, stage: FitStage, share: f64, error: f64) -> Result<(), SkinError> {
    if progress(FitStatus { stage, share, error }).is_break() { Err(SkinError::Cancelled) } else { Ok(()) }
}

/// Vertices spread evenly in space, and the one that represents each vertex.
struct Sample {
    kept: Vec<u32>,
    owners: Vec<u32>,
    neighbors: Ragged,
}

impl Sample {
    fn new(rest: &Mesh, wanted: usize) -> Self {
        let points = rest.positions();
        let (mut coarse, mut fine) = (1.0f64, 4096.0f64);
        let mut best = cells(points, fine);
        if points.len() <= wanted {
            best = ((0..points.len() as u32).collect(), (0..points.len() as u32).collect());
        } else {
            // The coarsest grid found that fills at least as many cells as requested; up to a quarter more is close
            // enough.
            for _ in 0..20 {
                let middle = (coarse * fine).sqrt();
                let found = cells(points, middle);
                let n = found.0.len();
                if n >= wanted {
                    fine = middle
                } else {
                    coarse = middle
                }
                if n >= wanted {
                    best = found;
                }
                if n >= wanted && n <= wanted * 5 / 4 {
                    break;
                }
            }
        }
        let (kept, owners) = best;
        let edges = EdgeTable::from_triangles(points.len(), rest.faces());
        let mut pairs: Vec<(u32, u32)> = edges
            .vertices()
            .iter()
            .map(|&[a, b]| (owners[a as usize], owners[b as usize]))
            .filter(|(a, b)| a != b)
            .flat_map(|(a, b)| [(a, b), (b, a)])
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let neighbors = Ragged::from_pairs(kept.len(), || pairs.iter().copied());
        Self { kept, owners, neighbors }
    }
}

/// The first vertex in each cell of a grid with this many cells along the diagonal, and the cell of each vertex.
fn cells(points: &[DVec3], resolution: f64) -> (Vec<u32>, Vec<u32>) {
    let [low, high] = bounds(points);
    let scale = resolution / low.distance(high).max(f64::MIN_POSITIVE);
    let mut of_cell: BTreeMap<[u32; 3], u32> = BTreeMap::new();
    let mut kept = Vec::new();
    let owner = |(vertex, p): (usize, &DVec3)| {
        let cell = ((*p - low) * scale).to_array().map(|x| x as u32);
        *of_cell.entry(cell).or_insert_with(|| {
            kept.push(vertex as u32);
            kept.len() as u32 - 1
        })
    };
    let owners = points.iter().enumerate().map(owner).collect();
    (kept, owners)
}

/// All vertices and the bones of the sample.
struct Stream<'a> {
    tracks: &'a Tracks,
    params: &'a FitParams,
    state: State,
    /// Candidate bones of each vertex; the first `counts` are valid.
    candidates: Vec<[u16; N_CANDIDATES]>,
    counts: Vec<u8>,
}

impl<'a> Stream<'a> {
    fn new(rest: &Mesh, tracks: &'a Tracks, sample: &Sample, small: State, params: &'a FitParams) -> Self {
        let most = params.candidates.clamp(params.influences, N_CANDIDATES);
        // Bones of the vertex that represents it, then of that one's neighbours.
        let of_sample: Vec<(u8, [u16; N_CANDIDATES])> = (0..sample.kept.len())
            .map(|at| {
                let mut found: Vec<u16> = small.influences.of(at).map(|(bone, _)| bone).collect();
                for &next in sample.neighbors.row(at) {
                    for (bone, _) in small.influences.of(next as usize) {
                        if found.len() < most && !found.contains(&bone) {
                            found.push(bone);
                        }
                    }
                }
                let mut row = [0; N_CANDIDATES];
                row[..found.len()].copy_from_slice(&found);
                (found.len() as u8, row)
            })
            .collect();
        let n = rest.n_vertices();
        let inside = |p: &DVec3| ((*p - tracks.rest_center) / tracks.scale).as_vec3().to_array();
        let state = State {
            influences: Influences::hard(&vec![0; n], params.influences),
            bones: small.bones,
            rest: rest.positions().iter().map(inside).collect(),
        };
        let owned = |&owner: &u32| of_sample[owner as usize];
        let (counts, candidates) = sample.owners.iter().map(owned).unzip();
        Self { tracks, params, state, candidates, counts }
    }

    /// Read eight frames as paths; the last block is padded with zeros.
    fn read_block(
        &self,
        rest: &Mesh,
        source: &mut dyn FrameSource,
        block: usize,
    ) -> Result<Tracks, SkinError> {
        struct Part<'a> {
            source: &'a mut dyn FrameSource,
            first: usize,
            len: usize,
        }
        impl FrameSource for Part<'_> {
            fn n_frames(&self) -> usize {
                self.len
            }
            fn read(&mut self, frame: usize, out: &mut [DVec3]) -> Result<(), SkinError> {
                read_frame(self.source, self.first + frame, out)
            }
        }
        let first = block * LANES;
        let len = LANES.min(self.tracks.n_frames - first);
        let all: Vec<u32> = (0..rest.n_vertices() as u32).collect();
        let neighbors = Ragged::from_pairs(0, std::iter::empty::<(u32, u32)>);
        Tracks::read_some(rest, &mut Part { source, first, len }, &all, neighbors)
    }

    /// Weights of all vertices, from one pass over the frames.
    fn find_weights(&mut self, source: &mut dyn FrameSource, progress: Progress) -> Result<(), SkinError> {
        let n = self.state.rest.len();
        let mut grams = vec![0.0f32; n * GRAM_ENTRIES];
        let rest = self.outside();
        let n_blocks = self.tracks.n_lanes / LANES;
        for block in 0..n_blocks {
            report_progress(
                progress,
                FitStage::Refine,
                0.6 + 0.2 * block as f64 / n_blocks as f64,
                f64::NAN,
            )?;
            let paths = self.read_block(&rest, source, block)?;
            grams.par_chunks_mut(CHUNK_VERTICES * GRAM_ENTRIES).enumerate().for_each(|(chunk, grams)| {
                dispatch(AddProducts {
                    stream: self,
                    paths: &paths,
                    block,
                    first: chunk * CHUNK_VERTICES,
                    grams,
                });
            });
        }
        let k = self.params.influences;
        let chosen: Vec<Blend> = (0..n)
            .into_par_iter()
            .with_min_len(CHUNK_VERTICES)
            .map(|vertex| choose(&grams[vertex * GRAM_ENTRIES..], usize::from(self.counts[vertex]), k))
            .collect();
        let influences = &mut self.state.influences;
        for (vertex, blend) in chosen.iter().enumerate() {
            influences.counts[vertex] = blend.n as u8;
            for at in 0..blend.n {
                influences.slots[vertex * k + at] = self.candidates[vertex][blend.members[at] as usize];
                influences.weights[vertex * k + at] = blend.weights[at] as f32;
            }
        }
        Ok(())
    }

    /// The rest pose as a mesh without faces.
    fn outside(&self) -> Mesh {
        let outside =
            |u: &[f32; 3]| DVec3::from_array(u.map(f64::from)) * self.tracks.scale + self.tracks.rest_center;
        // Finite, since it was read from a mesh.
        Mesh::new(self.state.rest.iter().map(outside).collect(), Vec::new()).unwrap_or_default()
    }

    /// Refit the bones to all vertices, block by block, and measure the errors.
    fn refit(
        &mut self,
        rest: &Mesh,
        source: &mut dyn FrameSource,
        progress: Progress,
    ) -> Result<SkinErrors, SkinError> {
        let n_blocks = self.tracks.n_lanes / LANES;
        let mut sums = Sums::new(rest);
        let mut wanted = vec![DVec3::ZERO; rest.n_vertices()];
        for block in 0..n_blocks {
            report_progress(
                progress,
                FitStage::Measure,
                0.8 + 0.2 * block as f64 / n_blocks as f64,
                f64::NAN,
            )?;
            let paths = self.read_block(rest, source, block)?;
            let bones = block_of(&self.state.bones, block);
            let whole = std::mem::replace(&mut self.state.bones, bones);
            match self.params.transforms {
                BoneKind::Affine => update_affine(&paths, &mut self.state)?,
                BoneKind::Rigid => {
                    let normal = Normal::new(&paths, &self.state);
                    update_rigid(&paths, &mut self.state.bones, &normal, RIGID_SWEEPS);
                }
            }
            let skin = FittedSkin::from_state(&paths, &self.state);
            let bones = std::mem::replace(&mut self.state.bones, whole);
            put_block(&mut self.state.bones, &bones, block);
            for frame in 0..paths.n_frames {
                paths.frame(frame, &mut wanted);
                let found = skin.positions(frame);
                sums.add(&wanted, &found);
                if is_closest_frame(block * LANES + frame, self.tracks.n_frames, rest.n_vertices())
                    && rest.n_faces() > 0
                {
                    sums.add_closest(rest, &wanted, &found)?;
                }
            }
        }
        Ok(sums.finish(self.tracks.spread, self.tracks.scale))
    }
}

/// Bones in the frames of one block.
fn block_of(bones: &Bones, block: usize) -> Bones {
    let pick = |rows: &[f32]| -> Vec<f32> {
        rows.chunks_exact(bones.n_lanes)
            .flat_map(|lanes| &lanes[block * LANES..(block + 1) * LANES])
            .copied()
            .collect()
    };
    Bones {
        n_lanes: LANES,
        rows: pick(&bones.rows),
        turns: pick(&bones.turns),
        centers: bones.centers.clone(),
        ..*bones
    }
}

fn put_block(bones: &mut Bones, part: &Bones, block: usize) {
    let n_lanes = bones.n_lanes;
    for (rows, part) in [(&mut bones.rows, &part.rows), (&mut bones.turns, &part.turns)] {
        for (lanes, part) in rows.chunks_exact_mut(n_lanes).zip(part.chunks_exact(LANES)) {
            lanes[block * LANES..(block + 1) * LANES].copy_from_slice(part);
        }
    }
}

fn choose(triangle: &[f32], n: usize, k: usize) -> Blend {
    let mut gram = [0.0; GRAM_STRIDE * GRAM_STRIDE];
    let mut best = 0;
    for a in 0..n {
        for b in 0..=a {
            let product = f64::from(triangle[a * (a + 1) / 2 + b]);
            (gram[a * GRAM_STRIDE + b], gram[b * GRAM_STRIDE + a]) = (product, product);
        }
        if gram[a * GRAM_STRIDE + a] < gram[best * GRAM_STRIDE + best] {
            best = a;
        }
    }
    let mut blend = Blend::new(&gram, [(best as u8, 1.0)].into_iter());
    blend.improve(&gram, n, k);
    blend
}

struct AddProducts<'a> {
    stream: &'a Stream<'a>,
    paths: &'a Tracks,
    block: usize,
    first: usize,
    grams: &'a mut [f32],
}

impl Kernel for AddProducts<'_> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let Self { stream, paths, block, first, grams } = self;
        let bones = &stream.state.bones;
        let n_groups = bones.n_lanes / LANES;
        for (at, gram) in grams.chunks_exact_mut(GRAM_ENTRIES).enumerate() {
            let vertex = first + at;
            let n = usize::from(stream.counts[vertex]);
            let path = groups(paths.row(vertex));
            let u = stream.state.rest[vertex];
            let mut residuals = [[splat(0.0); 3]; N_CANDIDATES];
            for (residual, &bone) in residuals.iter_mut().zip(&stream.candidates[vertex][..n]) {
                let c = bones.centers[bone as usize];
                let h: [V; 3] = std::array::from_fn(|d| splat(u[d] - c[d]));
                let rows = groups(bones.of(bone as usize));
                for d in 0..3 {
                    let row = |a: usize| rows[(3 * a + d) * n_groups + block];
                    let moved =
                        fma::<FMA>(h[0], row(0), fma::<FMA>(h[1], row(1), fma::<FMA>(h[2], row(2), row(3))));
                    residual[d] = sub(moved, path[d]);
                }
            }
            for a in 0..n {
                for b in 0..=a {
                    let mut product = splat(0.0);
                    (0..3).for_each(|d| product = fma::<FMA>(residuals[a][d], residuals[b][d], product));
                    gram[a * (a + 1) / 2 + b] += sum(product);
                }
            }
        }
    }
}

const _: () = assert!(N_CANDIDATES <= MAX_CANDIDATES);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SkinFitter, no_progress, tests::known_sequence};

    #[test]
    fn a_streamed_fit_is_nearly_as_good() {
        let sequence = known_sequence(6, 19, false);
        let mut source = &sequence;
        let fitter = SkinFitter::new(sequence.rest(), &mut source).unwrap();
        for transforms in BoneKind::ALL {
            let params = FitParams { bones: 6, transforms, correct_rest: false, ..FitParams::default() };
            let whole = fitter.measure(&fitter.fit(&params, &no_progress).unwrap().skin).unwrap();
            for n_sample in [120, 10_000] {
                let mut source = &sequence;
                let (fit, reported) =
                    fit_streamed(sequence.rest(), &mut source, &params, n_sample, &no_progress).unwrap();
                let found = fitter.measure(&fit.skin).unwrap();
                assert_eq!(fit.skin.n_used_bones(), 6);
                assert!(
                    found.e_rms < 1.3 * whole.e_rms,
                    "{transforms:?} {n_sample}: {} {}",
                    found.e_rms,
                    whole.e_rms
                );
                // Its own errors are those of the result.
                assert!(
                    (reported.e_rms - found.e_rms).abs() < 1e-3 * found.e_rms,
                    "{} {}",
                    reported.e_rms,
                    found.e_rms
                );
                assert!(
                    (reported.d_avg - found.d_avg).abs() < 1e-2 * found.d_avg
                        && (reported.de - found.de).abs() < 1e-2 * found.de
                );
            }
        }
    }

    #[test]
    fn samples_have_about_the_size_asked_for() {
        let mesh = crate::tests::tube(200);
        let sample = Sample::new(&mesh, 300);
        assert!((300..=600).contains(&sample.kept.len()), "{}", sample.kept.len());
        assert!((0..sample.kept.len()).all(|at| !sample.neighbors.row(at).is_empty()));
        assert_eq!(Sample::new(&mesh, 100_000).kept.len(), mesh.n_vertices());
    }
}
