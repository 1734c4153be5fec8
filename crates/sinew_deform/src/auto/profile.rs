//! Girth, width and centre of thin strips between level sets, along every arc of the tree.
//!
//! # Symbols
//! `a` area of a strip; `g` length of the level set at its nearer side; `a / g` its width along the limb
//! # Cost
//! Linear in faces and the strips they reach over.

use super::{
    component::Component,
    loops::{LevelSet, Levels, measure_level_sets},
    tree::{Tree, arc_at},
};
use glam::DVec3;

/// Strips between the least and the most remote vertex. A tenth of a limb is then several strips.
pub(super) const N_STRIPS: usize = 320;

/// One strip of one arc.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Strip {
    /// `f` at its nearer side.
    pub level: f64,
    pub girth: f64,
    pub area: f64,
    /// Mean of the level line in the strip's middle.
    pub center: DVec3,
    /// Share of the longest connected line in the level set at the nearer side.
    pub main_share: f64,
}

impl Strip {
    /// Its extent along the limb.
    pub fn width(&self) -> f64 {
        if self.girth > 0.0 { self.area / self.girth } else { 0.0 }
    }
}

/// Strips of every arc, the most remote first; strips without area are left out.
pub(super) fn compute_profiles(part: &Component, f: &[f64], tree: &Tree, n_strips: usize) -> Vec<Vec<Strip>> {
    let Some(levels) = Levels::new(f, n_strips) else { return vec![Vec::new(); tree.arcs.len()] };
    let mut strips = vec![vec![Strip::default(); n_strips]; tree.arcs.len()];
    for (face, corners) in part.mesh.faces().iter().enumerate() {
        let mut sorted = *corners;
        sorted.sort_by(|&a, &b| f[a as usize].total_cmp(&f[b as usize]).then(a.cmp(&b)));
        let values = sorted.map(|v| f[v as usize]);
        let points = sorted.map(|v| part.mesh.positions()[v as usize]);
        let mut arc = tree.of_vertex[sorted[2] as usize] as usize;
        for strip in (levels.index(values[0])..=levels.index(values[2])).rev() {
            let (from, to) = (levels.level(strip), levels.level(strip + 1));
            let middle = 0.5 * (from.max(values[0]) + to.min(values[2]));
            arc = arc_at(tree, arc, middle);
            let area = part.face_areas[face] * (share_below(values, to) - share_below(values, from));
            let at = &mut strips[arc][strip];
            at.area += area;
            at.center += level_middle(points, values, middle) * area;
        }
    }
    let sets = measure_level_sets(part, f, tree, &levels);
    let top = |arc: usize| f[tree.arcs[arc].peak as usize];
    (strips.into_iter().zip(&sets).enumerate())
        .map(|(arc, (row, sets))| finish(row, &levels, sets, top(arc)))
        .collect()
}

fn finish(row: Vec<Strip>, levels: &Levels, sets: &[LevelSet], top: f64) -> Vec<Strip> {
    let mut kept: Vec<Strip> = Vec::new();
    // What was absorbed may reach higher than the arc that absorbed it; its area counts from the top on.
    let mut higher = 0.0;
    for (k, strip) in row.into_iter().enumerate().rev().filter(|(_, strip)| strip.area > 0.0) {
        if levels.level(k) >= top {
            higher += strip.area;
            continue;
        }
        let LevelSet { length, longest } = sets[k];
        // The last strip of an arc has no nearer side of its own.
        let girth = if length > 0.0 { length } else { kept.last().map_or(0.0, |last| last.girth) };
        let main_share = if length > 0.0 { longest / length } else { 0.0 };
        let center = strip.center / strip.area;
        let area = strip.area + std::mem::take(&mut higher);
        kept.push(Strip { level: levels.level(k), girth, area, center, main_share });
    }
    // Faces larger than a strip make the girth jump; a limb's does not.
    let girths: Vec<f64> = kept.iter().map(|s| s.girth).collect();
    for (k, strip) in kept.iter_mut().enumerate() {
        let window = &girths[k.saturating_sub(2)..(k + 3).min(girths.len())];
        strip.girth = window.iter().sum::<f64>() / window.len() as f64;
    }
    kept
}

/// Share of a triangle's area where a linear function with sorted corner values is below a level.
fn share_below([f0, f1, f2]: [f64; 3], level: f64) -> f64 {
    if level >= f2 {
        1.0
    } else if level <= f0 {
        0.0
    } else if level < f1 {
        (level - f0).powi(2) / ((f1 - f0) * (f2 - f0))
    } else {
        1.0 - (f2 - level).powi(2) / ((f2 - f1) * (f2 - f0))
    }
}

/// Middle of the level line in a triangle with sorted corner values.
fn level_middle([a, b, c]: [DVec3; 3], [fa, fb, fc]: [f64; 3], level: f64) -> DVec3 {
    let between = |p: DVec3, q: DVec3, fp: f64, fq: f64| {
        if fq > fp { p.lerp(q, ((level - fp) / (fq - fp)).clamp(0.0, 1.0)) } else { p }
    };
    let long = between(a, c, fa, fc);
    let short = if level < fb { between(a, b, fa, fb) } else { between(b, c, fb, fc) };
    0.5 * (long + short)
}
