//! What is measured on a body before it is classified: solid, planes of symmetry, tips and their profiles.

use crate::{
    accessories,
    limb::{Limb, Profile},
    posed,
    solid::Solid,
    symmetry::{Plane, find_planes, mirror_error},
    tips::{Tip, find_center, find_feet, find_tips},
};
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::Mesh;

/// Cells on the longest side of the solid in which limbs are found, and of the coarse one for the centre.
const RESOLUTION: usize = 110;
const COARSE_RESOLUTION: usize = 48;
/// Cells beyond which a finer solid would show nothing more.
const N_CELLS: usize = 90_000;
/// Tips that stick out less than this share of the diagonal are bumps.
const MIN_TIP_SHARE: f64 = 0.045;
/// Legs shorter than this share of the diagonal are bumps.
const SHORT_LEG: f64 = 0.025;
/// More tips than this are noise (leaves, spikes); the most persistent are used.
const MOST_TIPS: usize = 40;
/// Planes of symmetry that are followed up.
const MOST_PLANES: usize = 3;

/// A body in units of the diagonal of its bounding box.
#[derive(Debug)]
pub(crate) struct Shape {
    pub solid: Solid,
    pub planes: Vec<Plane>,
    pub center: DVec3,
    pub tips: Vec<Tip>,
    /// Outermost cells on the planes of symmetry, for heads and tails that do not stick out.
    pub outermost: Vec<Tip>,
    /// Of all tips, then of the outermost cells.
    pub profiles: Vec<Profile>,
}

impl Shape {
    /// Of a mesh whose diagonal is 1.
    pub fn analyse(mesh: &Mesh) -> Self {
        let coarse = Solid::build(mesh, COARSE_RESOLUTION);
        let solid = Solid::build_like(mesh, &coarse, RESOLUTION, N_CELLS);
        let planes = find_body_planes(&solid);
        match accessories::leave_out(mesh, &solid, &planes) {
            Some(body) => {
                let coarse = Solid::build(&body, COARSE_RESOLUTION);
                let solid = Solid::build_like(&body, &coarse, RESOLUTION, N_CELLS);
                let planes = find_body_planes(&solid);
                Self::of_solid(solid, &coarse, planes)
            }
            None => Self::of_solid(solid, &coarse, planes),
        }
    }

    fn of_solid(solid: Solid, coarse: &Solid, planes: Vec<Plane>) -> Self {
        let middle = find_center(coarse);
        let center = solid.nearest(planes[0].project(middle));
        let mut tips = find_tips(&solid, center, MIN_TIP_SHARE);
        tips.truncate(MOST_TIPS);
        for up in [DVec3::Y, DVec3::Z] {
            let feet = find_feet(&solid, center, up, SHORT_LEG);
            add_feet(&mut tips, &feet, &planes[0]);
        }
        let posed = posed::find_plane(&solid, &tips, &planes);
        let planes: Vec<Plane> = planes.into_iter().chain(posed).collect();
        let outermost = find_outermost(&solid, &planes);
        let ends: Vec<Tip> = tips.iter().chain(&outermost).copied().collect();
        let profiles = ends.par_iter().map(|&tip| Profile::new(&solid, tip)).collect();
        Self { center: solid.points[center], solid, planes, tips, outermost, profiles }
    }

    /// A tip, or an outermost cell numbered after the tips.
    pub fn end(&self, number: usize) -> &Tip {
        &self.profiles[number].tip
    }

    /// The outermost cell in a direction on the plane of symmetry, as the number of an end.
    pub fn outermost_along(&self, plane: &Plane, direction: DVec3) -> Option<usize> {
        let is_on = |tip: &Tip| plane.height(tip.point).abs() < 1.5 * self.solid.cell();
        let along = |tip: &Tip| tip.point.dot(direction);
        let on_plane = self.outermost.iter().enumerate().filter(|(_, tip)| is_on(tip));
        let best = on_plane.max_by(|a, b| along(a.1).total_cmp(&along(b.1)))?;
        Some(self.tips.len() + best.0)
    }

    /// Tips in mirrored pairs (the first on the side of the plane's normal), and those that have no partner.
    pub fn pair_tips(&self, plane: &Plane) -> (Vec<[usize; 2]>, Vec<usize>) {
        let mut pairs = Vec::new();
        let mut is_used = vec![false; self.tips.len()];
        let height = |i: usize| plane.height(self.tips[i].point);
        let mut take = |found: &mut Vec<(f64, usize, usize)>, is_used: &mut Vec<bool>| {
            found.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
            for &(_, i, j) in found.iter() {
                if !is_used[i] && !is_used[j] {
                    (is_used[i], is_used[j]) = (true, true);
                    pairs.push(if height(i) > height(j) { [i, j] } else { [j, i] });
                }
            }
        };
        let n = self.tips.len();
        let both = || (0..n).flat_map(move |i| (i + 1..n).map(move |j| (i, j)));
        let by_mirror = |(i, j): (usize, usize)| {
            let off = plane.mirror(self.tips[i].point).distance(self.tips[j].point);
            let is_beside = height(i).abs().min(height(j).abs()) > 0.012;
            (off < 0.1 && is_beside && height(i) * height(j) < 0.0).then_some((off, i, j))
        };
        take(&mut both().filter_map(by_mirror).collect(), &mut is_used);
        // Posed limbs: by length and place along the plane, not by reflection.
        if plane.error > 0.0015 {
            let is_free: Vec<bool> = (0..n)
                .map(|i| !is_used[i] && height(i).abs() > 0.02 && self.tips[i].persistence > 0.07)
                .collect();
            let by_length = |(i, j): (usize, usize)| {
                let (a, b) = (self.tips[i], self.tips[j]);
                let off = plane.project(a.point).distance(plane.project(b.point))
                    + 0.5 * (a.remoteness - b.remoteness).abs()
                    + 0.3 * (height(i) + height(j)).abs();
                (is_free[i] && is_free[j] && height(i) * height(j) < 0.0 && off < 0.36).then_some((off, i, j))
            };
            take(&mut both().filter_map(by_length).collect(), &mut is_used);
        }
        (pairs, (0..n).filter(|&i| !is_used[i]).collect())
    }

    /// As [`Self::pair_tips`], but limbs are paired by where they begin, which poses hardly move.
    pub fn pair_bases(&self, plane: &Plane) -> (Vec<[usize; 2]>, Vec<usize>) {
        let n = self.tips.len();
        let roots: Vec<Option<posed::Root>> = (0..n)
            .map(|tip| posed::Root::of(&Limb::new(&self.profiles[tip], posed::MIN_LIMB_LENGTH)))
            .collect();
        let limbs: Vec<usize> = (0..n).filter(|&tip| roots[tip].is_some()).collect();
        let found: Vec<posed::Root> = roots.iter().flatten().copied().collect();
        let pairs: Vec<[usize; 2]> =
            posed::pair(&found, plane).into_iter().map(|pair| pair.map(|k| limbs[k])).collect();
        let is_taken = |tip: &usize| pairs.iter().flatten().any(|other| other == tip);
        // What is no posed limb pairs as it does otherwise: ears, horns.
        let (others, _) = self.pair_tips(plane);
        let others = others.into_iter().filter(|pair| !pair.iter().any(is_taken));
        let all: Vec<[usize; 2]> = pairs.iter().copied().chain(others).collect();
        let singles = (0..n).filter(|tip| !all.iter().flatten().any(|other| other == tip)).collect();
        (all, singles)
    }
}

/// Add feet that stand in pairs where there is no tip yet.
fn add_feet(tips: &mut Vec<Tip>, feet: &[Tip], plane: &Plane) {
    // A heel and the toes of a foot are no two feet.
    const FOOT: f64 = 0.2;
    let is_new = |foot: &&Tip| tips.iter().all(|tip| tip.point.distance(foot.point) > FOOT);
    let new: Vec<Tip> = feet.iter().filter(is_new).copied().collect();
    let has_partner = |foot: &&Tip| {
        let image = plane.mirror(foot.point);
        plane.height(foot.point).abs() > 0.012
            && feet.iter().any(|other| {
                other.point.distance(image) < 0.06
                    && plane.height(other.point) * plane.height(foot.point) < 0.0
            })
    };
    // Of both sides or none.
    let paired: Vec<Tip> = new.iter().filter(has_partner).copied().collect();
    if paired.len() == 2 {
        let persistence = paired[0].persistence.min(paired[1].persistence);
        tips.extend(paired.into_iter().map(|foot| Tip { persistence, ..foot }));
    }
}

/// On every plane, the outermost cells in the directions of the file's axes.
fn find_outermost(solid: &Solid, planes: &[Plane]) -> Vec<Tip> {
    let mut found: Vec<Tip> = Vec::new();
    for plane in planes {
        let cells: Vec<usize> =
            (0..solid.len()).filter(|&c| plane.height(solid.points[c]).abs() < 1.2 * solid.cell()).collect();
        let axes = DVec3::AXES.into_iter().flat_map(|axis| [axis, -axis]);
        for direction in
            axes.map(|axis| axis - axis.dot(plane.normal) * plane.normal).filter(|d| d.length() > 0.7)
        {
            let along = |cell: &usize| solid.points[*cell].dot(direction);
            let Some(cell) = cells.iter().copied().max_by(|a, b| along(a).total_cmp(&along(b))) else {
                continue;
            };
            if !found.iter().any(|tip| tip.cell == cell) {
                let point = solid.points[cell];
                found.push(Tip { point, cell, persistence: 0.0, remoteness: 0.0 });
            }
        }
    }
    found
}

/// The best planes of the surface of the solid; of its thick core if the limbs are posed.
fn find_body_planes(solid: &Solid) -> Vec<Plane> {
    let surface: Vec<DVec3> =
        (0..solid.len()).filter(|&c| solid.depth[c] < 1.2 * solid.cell()).map(|c| solid.points[c]).collect();
    let mut planes = find_planes(&surface);
    planes.truncate(MOST_PLANES);
    if planes[0].error > 0.005 {
        let deepest = solid.depth.iter().copied().fold(0.0, f64::max);
        let core: Vec<DVec3> =
            (0..solid.len()).filter(|&c| solid.depth[c] > 0.38 * deepest).map(|c| solid.points[c]).collect();
        let of_core = find_planes(&core);
        if mirror_error(&of_core[0], &core) < 0.8 * mirror_error(&planes[0], &core) {
            planes.insert(0, of_core[0]);
            planes.truncate(MOST_PLANES);
        }
    }
    // A plane much worse than the best is no plane of symmetry.
    let best = planes[0].error.max(0.001);
    planes.retain(|plane| plane.error < 2.5 * best + 0.004);
    planes
}
