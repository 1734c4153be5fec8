//! Which cells of a grid a surface encloses, also when it is open, hollow or dirty.
//!
//! # Source
//! Flood fill of the outside; morphological closing for small holes; the generalised winding number of Jacobson, Kavan
//! and Sorkine-Hornung, *Robust inside-outside segmentation using generalized winding numbers* (2013), for open shells.
//! # Cost
//! Linear in cells; the winding number only where the volume of the surface says that the solid is hollow.

use super::grid::Grid;
use glam::DVec3;
use rayon::prelude::*;
use sinew_geom::{Mesh, query::SurfaceTree};

/// Closing must make the solid larger by this factor to be believed.
const CLOSING_GAIN: f64 = 1.6;
/// The winding number must make it larger by this factor.
const WINDING_GAIN: f64 = 1.12;
/// Cells on the longest side of the grid on which winding numbers are computed.
const WINDING_CELLS: usize = 44;

/// Cells of the solid inside a surface, the surface included.
pub(crate) fn fill_solid(mesh: &Mesh, grid: &Grid) -> Vec<bool> {
    let shell = rasterise(mesh, grid);
    let mut best = fill_outside(&shell, grid);
    let mut volume = count(&best);
    for radius in 1..=2 {
        let mut wide = shell.clone();
        (0..radius).for_each(|_| wide = dilate(&wide, grid));
        let mut closed = fill_outside(&wide, grid);
        (0..radius).for_each(|_| closed = erode(&closed, grid));
        closed.iter_mut().zip(&shell).for_each(|(cell, &surface)| *cell |= surface);
        if count(&closed) > CLOSING_GAIN * volume {
            volume = count(&closed);
            best = closed;
        }
    }
    if volume * grid.cell.powi(3) < 1.05 * signed_volume(mesh).abs() {
        add_by_winding(mesh, grid, &mut best);
    }
    best
}

fn count(cells: &[bool]) -> f64 {
    cells.iter().filter(|&&cell| cell).count() as f64
}

/// Cells that triangles pass through, found by samples closer than a cell.
fn rasterise(mesh: &Mesh, grid: &Grid) -> Vec<bool> {
    let mut cells = vec![false; grid.n_cells()];
    for face in 0..mesh.n_faces() {
        let [a, b, c] = mesh.corners(face);
        let longest = a.distance(b).max(b.distance(c)).max(c.distance(a));
        let n = (longest / (0.6 * grid.cell)) as usize + 1;
        let (u, v) = ((b - a) / n as f64, (c - a) / n as f64);
        for i in 0..=n {
            for j in 0..=n - i {
                let point = a + i as f64 * u + j as f64 * v;
                cells[grid.number(grid.containing(point))] = true;
            }
        }
    }
    cells
}

/// Everything that cannot be reached from the corner of the grid.
pub(crate) fn fill_outside(shell: &[bool], grid: &Grid) -> Vec<bool> {
    let mut solid = vec![true; shell.len()];
    let steps = grid.face_steps();
    let mut stack = vec![0usize];
    solid[0] = false;
    while let Some(cell) = stack.pop() {
        let place = grid.place(cell);
        for (k, step) in steps.iter().enumerate() {
            let (axis, forward) = (k / 2, k % 2 == 0);
            let at_end = if forward { place[axis] + 1 == grid.dims[axis] } else { place[axis] == 0 };
            if at_end {
                continue;
            }
            let next = (cell as isize + step) as usize;
            if solid[next] && !shell[next] {
                solid[next] = false;
                stack.push(next);
            }
        }
    }
    solid
}

fn dilate(cells: &[bool], grid: &Grid) -> Vec<bool> {
    let steps = grid.face_steps();
    let near = |cell: usize| {
        cells[cell]
            || (!grid.is_border(cell) && steps.iter().any(|step| cells[(cell as isize + step) as usize]))
    };
    (0..cells.len()).into_par_iter().map(near).collect()
}

fn erode(cells: &[bool], grid: &Grid) -> Vec<bool> {
    let steps = grid.face_steps();
    let within = |cell: usize| {
        cells[cell]
            && (grid.is_border(cell) || steps.iter().all(|step| cells[(cell as isize + step) as usize]))
    };
    (0..cells.len()).into_par_iter().map(within).collect()
}

fn signed_volume(mesh: &Mesh) -> f64 {
    let of_face = |face| {
        let [a, b, c] = mesh.corners(face);
        a.dot(b.cross(c)) / 6.0
    };
    (0..mesh.n_faces()).map(of_face).sum()
}

/// Add what the winding number calls inside, if that is much.
fn add_by_winding(mesh: &Mesh, grid: &Grid, solid: &mut Vec<bool>) {
    let [low, high] = mesh.bounds();
    let coarse = Grid::around(low, high, WINDING_CELLS);
    let tree = SurfaceTree::new(mesh);
    let winding = |cell: usize| tree.winding_number_roughly(coarse.middle(cell)).clamp(-1.0, 1.5) as f32;
    let numbers: Vec<f32> = (0..coarse.n_cells()).into_par_iter().map(winding).collect();
    let is_inside = |cell: usize| sample(&numbers, &coarse, grid.middle(cell)) > 0.55;
    let more: Vec<bool> =
        solid.par_iter().enumerate().map(|(cell, &inside)| inside || is_inside(cell)).collect();
    if count(&more) > WINDING_GAIN * count(solid) {
        *solid = fill_outside(&more, grid);
    }
}

/// Trilinear interpolation of numbers at the middles of cells.
fn sample(numbers: &[f32], grid: &Grid, point: DVec3) -> f32 {
    let p = (point - grid.origin) / grid.cell - 0.5;
    let base = p.floor();
    let t = p - base;
    let mut sum = 0.0;
    for corner in 0..8usize {
        let [dx, dy, dz] = [corner >> 2, (corner >> 1) & 1, corner & 1];
        let place =
            [base.x as isize + dx as isize, base.y as isize + dy as isize, base.z as isize + dz as isize];
        if (0..3).any(|axis| place[axis] < 0 || place[axis] as usize >= grid.dims[axis]) {
            continue;
        }
        let share = |d: usize, t: f64| if d == 1 { t } else { 1.0 - t };
        let weight = share(dx, t.x) * share(dy, t.y) * share(dz, t.z);
        sum += weight as f32 * numbers[grid.number(place.map(|i| i as usize))];
    }
    sum
}
