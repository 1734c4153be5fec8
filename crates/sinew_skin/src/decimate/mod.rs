//! Fitting on fewer vertices: the sequence is decimated, bones are fitted to the remaining vertices and carried back.
//!
//! # Source
//! Antonopoulos (2010), ch. 4: global queue (algorithm 4.1), one queue per region run in parallel (algorithm 4.2) with
//! shares by the inverse deformation indicator (eqs. 4.4–4.6), validity of proxy joints (§4.3.1), propagation of
//! weights (§4.5).
//! # Limits
//! Quadrics of all poses take ten numbers per vertex and pose, about three times the sequence.

mod contract;
#[cfg(test)]
mod tests;

use crate::{
    FitParams, FitReport, FittedSkin, Progress, SkinError, SkinFit, SkinFitter,
    fit::Run,
    state::{Influences, State},
    thesis::{Layout, ThesisParams},
    tracks::Tracks,
};
use contract::Contractor;
use glam::Vec3;
use rayon::prelude::*;
use sinew_geom::mesh::Ragged;

/// The residual of bones that are fitted to some of the vertices is more than their last rounds would gain: these end
/// sooner, and try fewer bones per vertex.
const ROUGH_TOLERANCE: f64 = 4e-2;
const ROUGH_CANDIDATES: usize = 8;
const ROUGH_HARD_ROUNDS: usize = 2;

/// Position of a merged vertex.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Merge {
    /// That of the vertex that remains ("second edge", SE).
    #[default]
    Second,
    /// Where the quadrics are smallest (OS).
    Optimal,
}

/// Which contractions compete.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Queue {
    /// All of them.
    #[default]
    Global,
    /// Those of a region; each processes a share of its queue in turn (the shuffling ratio), regions in parallel.
    Regions {
        /// Fraction of a queue processed in a turn. Antonopoulos (2010), §4.3.3, advises against large ones.
        shuffling_ratio: f64,
    },
}

/// Parameters of the decimation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecimateParams {
    /// Share of the vertices removed, 0..1.
    pub amount: f64,
    /// Position of merged vertices. Default that of the second vertex.
    pub merge: Merge,
    /// Which contractions compete. Default all.
    pub queue: Queue,
}

impl Default for DecimateParams {
    fn default() -> Self {
        Self { amount: 0.4, merge: Merge::Second, queue: Queue::Global }
    }
}

/// A decimated sequence.
#[derive(Debug, Clone)]
pub struct Decimated {
    pub(crate) tracks: Tracks,
    /// Vertices of the whole mesh that remain.
    pub kept: Vec<u32>,
    /// For every vertex of the whole mesh, which of `kept` it was merged into.
    pub owners: Vec<u32>,
    /// Facets that remain, in numbers of `kept`.
    pub faces: Vec<[u32; 3]>,
    /// Contractions in order: the vertex that was removed and the one that remained.
    merges: Vec<[u32; 2]>,
}

impl Decimated {
    /// Number of remaining vertices.
    pub fn n_vertices(&self) -> usize {
        self.kept.len()
    }
}

impl SkinFitter {
    /// Decimate the sequence, without regard to any bones.
    ///
    /// # Errors
    /// A share outside 0..1, or a mesh without faces.
    pub fn decimate(&self, params: &DecimateParams) -> Result<Decimated, SkinError> {
        self.decimate_for(None, params)
    }

    /// The default fit on a decimated sequence, transferred to all vertices.
    ///
    /// # Errors
    /// As [`SkinFitter::fit`] and [`SkinFitter::decimate`].
    pub fn fit_decimated(
        &self,
        params: &FitParams,
        decimated: &Decimated,
        progress: Progress,
    ) -> Result<SkinFit, SkinError> {
        params.check(decimated.n_vertices())?;
        let rough = FitParams {
            tolerance: params.tolerance.max(ROUGH_TOLERANCE),
            candidates: params.candidates.min(ROUGH_CANDIDATES),
            hard_rounds: params.hard_rounds.min(ROUGH_HARD_ROUNDS),
            ..params.clone()
        };
        let (small, report) = Run::new(&decimated.tracks, &rough, progress).run()?;
        let mut influences = Influences::hard(&vec![0; self.n_vertices()], params.influences);
        for (vertex, &owner) in decimated.owners.iter().enumerate() {
            influences.copy_vertex(vertex, &small.influences, owner as usize);
        }
        let mut rest = self.tracks.rest.clone();
        if params.correct_rest {
            decimated.kept.iter().zip(&small.rest).for_each(|(&v, u)| rest[v as usize] = *u);
        }
        let state = State { influences, bones: small.bones, rest };
        let (state, last) = Run::new(&self.tracks, &rough, progress).finish(state)?;
        let report = FitReport { errors: [report.errors, last.errors].concat(), ..report };
        Ok(SkinFit { skin: FittedSkin::from_state(&self.tracks, &state), report })
    }

    /// The pipeline of Antonopoulos (2010) with transforms fitted to a decimated sequence. Also returns its number of
    /// vertices.
    ///
    /// # Errors
    /// As [`SkinFitter::fit_thesis`] and [`SkinFitter::decimate`].
    pub fn fit_thesis_decimated(
        &self,
        params: &ThesisParams,
        decimate: &DecimateParams,
        progress: Progress,
    ) -> Result<(SkinFit, usize), SkinError> {
        params.check(self.n_vertices())?;
        let layout = self.lay_out(params)?;
        let small = self.decimate_for(Some(&layout), decimate)?;
        let influences = small.influences(&layout.influences);
        let uncorrected = ThesisParams { correct_rest: false, correct_weights: false, ..params.clone() };
        let fitted = crate::thesis::fit_layout(&small.tracks, influences, &uncorrected, progress)?;
        let state =
            State { influences: layout.influences, bones: fitted.bones, rest: self.tracks.rest.clone() };
        let state = crate::thesis::correct(&self.tracks, state, params);
        let report = FitReport { rounds: 1, converged: true, ..FitReport::default() };
        Ok((SkinFit { skin: FittedSkin::from_state(&self.tracks, &state), report }, small.n_vertices()))
    }

    pub(crate) fn decimate_for(
        &self,
        layout: Option<&Layout>,
        params: &DecimateParams,
    ) -> Result<Decimated, SkinError> {
        if !(0.0..1.0).contains(&params.amount) {
            let expected = "it must be at least 0 and below 1: the share of vertices removed";
            return Err(SkinError::Parameter {
                name: "decimate",
                value: params.amount.to_string(),
                expected,
            });
        }
        let wanted = (params.amount * self.n_vertices() as f64).round() as usize;
        match (params.queue, layout.filter(|layout| !layout.facet_regions.is_empty())) {
            (Queue::Regions { shuffling_ratio }, Some(layout)) => {
                Ok(self.by_regions(layout, wanted, params.merge, shuffling_ratio))
            }
            _ => Ok(self.globally(layout, wanted, params.merge)),
        }
    }

    fn globally(&self, layout: Option<&Layout>, wanted: usize, merge: Merge) -> Decimated {
        let borders = layout.map(|layout| self.region_borders(layout));
        let may = |a: u32, b: u32| match (layout, &borders) {
            // §4.3.1: the same joints; and no border of a region.
            (Some(layout), Some(borders)) => {
                let free = layout.facet_regions.is_empty() || !(borders[a as usize] || borders[b as usize]);
                free && same_bones(&layout.influences, a, b)
            }
            _ => true,
        };
        let all: Vec<u32> = (0..self.n_vertices() as u32).collect();
        let locked = vec![false; self.n_vertices()];
        let faces = self.rest.faces().to_vec();
        let mut contractor =
            Contractor::new(self.tracks.n_frames + 1, self.poses_of(&all), faces, locked, merge, &may);
        contractor.contract(wanted, &may);
        let mut result = Pieces::new(self.n_vertices());
        result.take(&contractor, &all);
        result.finish(self)
    }

    /// Each region separately (alg. 4.2).
    fn by_regions(&self, layout: &Layout, wanted: usize, merge: Merge, ratio: f64) -> Decimated {
        let borders = self.region_borders(layout);
        let n_regions = layout.calm.len();
        let mut parts: Vec<(Contractor, Vec<u32>)> = (0..n_regions)
            .into_par_iter()
            .map(|region| {
                let own = self
                    .rest
                    .faces()
                    .iter()
                    .zip(&layout.facet_regions)
                    .filter(|(_, r)| **r as usize == region);
                let own: Vec<[u32; 3]> = own.map(|(face, _)| *face).collect();
                let mut vertices: Vec<u32> = own.iter().flatten().copied().collect();
                vertices.sort_unstable();
                vertices.dedup();
                let local = |v: u32| vertices.binary_search(&v).unwrap_or(0) as u32;
                let faces = own.iter().map(|face| face.map(local)).collect();
                let locked = vertices.iter().map(|&v| borders[v as usize]).collect();
                let may = |a: u32, b: u32| self.may_in_region(layout, &borders, &vertices, a, b);
                let poses = self.poses_of(&vertices);
                (Contractor::new(self.tracks.n_frames + 1, poses, faces, locked, merge, &may), vertices)
            })
            .collect();
        let mut left = wanted;
        while left > 0 {
            // eq. 4.6; the least deformed first if not all fit. A queue that is not empty processes at least one.
            let mut quotas: Vec<usize> = parts
                .iter()
                .zip(&layout.calm)
                .map(|((part, _), calm)| {
                    let share = (calm.max(0.05) * ratio * part.n_waiting() as f64).ceil() as usize;
                    share.min(part.n_waiting())
                })
                .collect();
            for quota in &mut quotas {
                *quota = (*quota).min(left);
                left -= *quota;
            }
            let done: usize = parts
                .par_iter_mut()
                .zip(&quotas)
                .map(|((part, vertices), &quota)| {
                    part.contract(quota, &|a, b| self.may_in_region(layout, &borders, vertices, a, b))
                })
                .sum();
            let given: usize = quotas.iter().sum();
            left += given - done;
            if given == 0 {
                break;
            }
        }
        let mut result = Pieces::new(self.n_vertices());
        parts.iter().for_each(|(part, vertices)| result.take(part, vertices));
        result.finish(self)
    }

    fn may_in_region(&self, layout: &Layout, borders: &[bool], vertices: &[u32], a: u32, b: u32) -> bool {
        let [a, b] = [a, b].map(|v| vertices[v as usize]);
        !(borders[a as usize] || borders[b as usize]) && same_bones(&layout.influences, a, b)
    }

    /// Vertices with facets of several regions.
    fn region_borders(&self, layout: &Layout) -> Vec<bool> {
        let mut borders = vec![false; self.n_vertices()];
        for (face, &region) in self.rest.faces().iter().zip(&layout.facet_regions) {
            for &v in face {
                borders[v as usize] |= layout.vertex_regions[v as usize] != region;
            }
        }
        borders
    }

    /// Positions of vertices in all frames and, last, at rest.
    fn poses_of(&self, vertices: &[u32]) -> Vec<Vec3> {
        let lanes = self.tracks.n_lanes;
        let poses = |&v: &u32| {
            let row = self.tracks.row(v as usize);
            let frames =
                (0..self.tracks.n_frames).map(move |f| Vec3::new(row[f], row[lanes + f], row[2 * lanes + f]));
            frames.chain([Vec3::from_array(self.tracks.rest[v as usize])])
        };
        vertices.iter().flat_map(poses).collect()
    }
}

fn same_bones(influences: &Influences, a: u32, b: u32) -> bool {
    let set = |v: u32| {
        let mut bones: Vec<u16> = influences.of(v as usize).map(|(bone, _)| bone).collect();
        bones.sort_unstable();
        bones
    };
    set(a) == set(b)
}

impl Decimated {
    /// Weights of the remaining vertices: the mean of two that were merged (§4.5). They follow the same bones.
    fn influences(&self, whole: &Influences) -> Influences {
        let mut all = whole.clone();
        for &[from, into] in &self.merges {
            let gone: Vec<(u16, f32)> = all.of(from as usize).collect();
            let start = into as usize * all.width;
            for at in start..start + usize::from(all.counts[into as usize]) {
                let other = gone.iter().find(|(bone, _)| *bone == all.slots[at]).map_or(0.0, |(_, w)| *w);
                all.weights[at] = 0.5 * (all.weights[at] + other);
            }
        }
        let mut kept = Influences::hard(&vec![0; self.kept.len()], whole.width);
        self.kept.iter().enumerate().for_each(|(at, &v)| kept.copy_vertex(at, &all, v as usize));
        kept
    }
}

/// Contracted parts put together again.
struct Pieces {
    parents: Vec<u32>,
    moved: Vec<Option<Vec<Vec3>>>,
    faces: Vec<[u32; 3]>,
    merges: Vec<[u32; 2]>,
}

impl Pieces {
    fn new(n: usize) -> Self {
        Self { parents: (0..n as u32).collect(), moved: vec![None; n], faces: Vec::new(), merges: Vec::new() }
    }

    fn take(&mut self, part: &Contractor, vertices: &[u32]) {
        let whole = |v: u32| vertices[v as usize];
        for (local, &parent) in part.parents.iter().enumerate() {
            if parent as usize != local {
                self.parents[whole(local as u32) as usize] = whole(parent);
            }
        }
        for &[from, into] in &part.done {
            self.merges.push([whole(from), whole(into)]);
            self.moved[whole(into) as usize] = Some(part.poses(into).to_vec());
        }
        self.faces.extend(part.faces().map(|face| face.map(whole)));
    }

    fn finish(mut self, fitter: &SkinFitter) -> Decimated {
        let n = self.parents.len();
        for v in 0..n {
            let mut top = v as u32;
            while self.parents[top as usize] != top {
                top = self.parents[top as usize];
            }
            self.parents[v] = top;
        }
        let kept: Vec<u32> = (0..n as u32).filter(|&v| self.parents[v as usize] == v).collect();
        let mut number = vec![0u32; n];
        kept.iter().enumerate().for_each(|(at, &v)| number[v as usize] = at as u32);
        let faces: Vec<[u32; 3]> = self.faces.iter().map(|face| face.map(|v| number[v as usize])).collect();
        let corners = || faces.iter().flat_map(|&[a, b, c]| [(a, b), (b, a), (b, c), (c, b), (c, a), (a, c)]);
        let neighbors = Ragged::from_pairs(kept.len(), corners);
        let tracks = fitter.tracks.subset(&kept, neighbors, |v| self.moved[v as usize].as_deref());
        let owners = self.parents.iter().map(|&top| number[top as usize]).collect();
        Decimated { tracks, kept, owners, faces, merges: self.merges }
    }
}
