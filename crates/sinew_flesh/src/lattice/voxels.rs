//! A grid of cubes around a surface: which of them it touches, and which of 64 points within each lie inside.
//!
//! # Source
//! The inside is where the generalised winding number exceeds one half (Jacobson et al. 2013), so that surfaces with
//! holes, overlaps and unconnected parts have an inside as well. A triangle touches a box unless an axis separates them
//! (Akenine-Möller 2001).

use glam::{DVec3, IVec3};
use rayon::prelude::*;
use sinew_geom::{Mesh, query::SurfaceTree};

/// Places along a side at which a cell is asked whether it is inside; 4³ fit into the bits of a word.
pub const SAMPLES: usize = 4;
/// Every place of a cell.
pub const FULL: u64 = u64::MAX;
/// A little space around the surface, in cells, so that no vertex lies on the border of the grid.
const MARGIN_CELLS: f64 = 0.05;

/// Cubes in rows, layers and stacks.
#[derive(Debug, Clone)]
pub struct Grid {
    pub low: DVec3,
    pub size: f64,
    pub n: IVec3,
}

impl Grid {
    /// Cubes of a given side around a box.
    pub fn around([low, high]: [DVec3; 2], size: f64) -> Self {
        let n = ((high - low) / size + 2.0 * MARGIN_CELLS).ceil().max(DVec3::ONE);
        // The box lies in the middle of the grid.
        let low = (low + high - n * size) / 2.0;
        Self { low, size, n: n.as_ivec3() }
    }

    pub fn len(&self) -> usize {
        self.n.as_dvec3().element_product() as usize
    }

    /// Grid coordinates of the cube a point lies in; points outside get the nearest.
    pub fn place(&self, p: DVec3) -> IVec3 {
        ((p - self.low) / self.size).floor().as_ivec3().clamp(IVec3::ZERO, self.n - 1)
    }

    pub fn index(&self, at: IVec3) -> usize {
        ((at.z * self.n.y + at.y) * self.n.x + at.x) as usize
    }

    pub fn at(&self, index: usize) -> IVec3 {
        let (nx, ny) = (self.n.x as usize, self.n.y as usize);
        IVec3::new((index % nx) as i32, (index / nx % ny) as i32, (index / (nx * ny)) as i32)
    }

    pub fn contains(&self, at: IVec3) -> bool {
        at.cmpge(IVec3::ZERO).all() && at.cmplt(self.n).all()
    }

    /// Lower corner of a cube.
    pub fn corner(&self, at: IVec3) -> DVec3 {
        self.low + self.size * at.as_dvec3()
    }

    /// Which cubes the surface touches.
    pub fn touched(&self, mesh: &Mesh) -> Vec<bool> {
        let mut touched = vec![false; self.len()];
        for face in 0..mesh.n_faces() {
            self.visit(&mesh.corners(face), |index| touched[index] = true);
        }
        touched
    }

    /// Every cube that a triangle touches, some more than once.
    pub fn visit(&self, corners: &[DVec3; 3], mut each: impl FnMut(usize)) {
        let [low, high] = sinew_geom::mesh::bounds(corners).map(|p| self.place(p));
        if low == high {
            return each(self.index(low));
        }
        for z in low.z..=high.z {
            for y in low.y..=high.y {
                for x in low.x..=high.x {
                    let at = IVec3::new(x, y, z);
                    let middle = self.corner(at) + self.size / 2.0;
                    if touches(corners.map(|p| p - middle), self.size / 2.0 * (1.0 + 1e-9)) {
                        each(self.index(at));
                    }
                }
            }
        }
        // Corners always count, whatever rounding says of a triangle along a border.
        corners.iter().for_each(|&p| each(self.index(self.place(p))));
    }

    /// Which cubes belong to the body: touched, or with their middle inside.
    pub fn occupied(&self, tree: &SurfaceTree, touched: &[bool]) -> Vec<bool> {
        let inside =
            |index: usize| touched[index] || is_inside(tree, self.corner(self.at(index)) + self.size / 2.0);
        (0..self.len()).into_par_iter().map(inside).collect()
    }

    /// Which of the places of a cube lie inside, a bit each, x fastest.
    pub fn inside_bits(&self, tree: &SurfaceTree, index: usize) -> u64 {
        let (low, step) = (self.corner(self.at(index)), self.size / SAMPLES as f64);
        (0..64).fold(0, |bits, sample| {
            let at = low + step * (sample_place(sample) + 0.5);
            bits | u64::from(is_inside(tree, at)) << sample
        })
    }
}

/// Grid coordinates of a sample within its cube.
pub fn sample_place(sample: usize) -> DVec3 {
    DVec3::new((sample % 4) as f64, (sample / 4 % 4) as f64, (sample / 16) as f64)
}

/// Surfaces that are turned inside out have an inside too.
pub fn is_inside(tree: &SurfaceTree, p: DVec3) -> bool {
    tree.winding_number_roughly(p).abs() > 0.5
}

/// Whether a triangle meets a cube around the origin.
fn touches(triangle: [DVec3; 3], half: f64) -> bool {
    let edges = [triangle[1] - triangle[0], triangle[2] - triangle[1], triangle[0] - triangle[2]];
    let separates = |axis: DVec3| {
        let reach = half * axis.abs().element_sum();
        let along = triangle.map(|p| p.dot(axis));
        along.iter().all(|&a| a > reach) || along.iter().all(|&a| a < -reach)
    };
    let crossed = || edges.into_iter().flat_map(|edge| DVec3::AXES.map(|axis| edge.cross(axis)));
    !DVec3::AXES.into_iter().any(separates)
        && !separates(edges[0].cross(edges[1]))
        && !crossed().any(separates)
}
