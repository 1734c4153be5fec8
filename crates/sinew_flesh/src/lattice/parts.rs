//! Separate parts that share a cube each get a cell of their own, so that fingers and thighs do not stick together.
//!
//! # Source
//! Nesme et al., *Preserving topology and elasticity for embedded deformable models* (2009): one cell for every
//! connected component of the fine voxels within a cube; corners are shared where components touch across a face.
//! Differs: edges and triangles of the surface join cells as well, so that no thin part is cut.
//! # Cost
//! Linear in the number of cubes; components are found on 64 bits at a time.
//! # Limits
//! Parts nearer to each other than a quarter of a cell may stick together.

use super::voxels::{FULL, Grid, SAMPLES, sample_place};
use glam::{DVec3, IVec3};
use sinew_geom::{Mesh, mesh::UnionFind};

/// Components of fewer places than this, of 64, are given to a larger one in their cube.
const MIN_PLACES: u32 = 4;
const X0: u64 = 0x1111_1111_1111_1111;
const Y0: u64 = 0x000F_000F_000F_000F;
const Z0: u64 = 0xFFFF;

/// Cells: copies of cubes.
#[derive(Debug, Default)]
pub struct Copies {
    /// Cube of each cell.
    pub cube: Vec<u32>,
    /// Places inside, a bit each; none for parts thinner than the places are apart.
    pub bits: Vec<u64>,
    /// First cell of each cube, one more than there are cubes.
    starts: Vec<u32>,
}

impl Copies {
    /// A cell for every component in every cube of the body.
    pub fn new(bits: &[u64], occupied: &[bool]) -> Self {
        let mut copies = Self { starts: vec![0], ..Self::default() };
        for (cube, (&bits, &is_occupied)) in bits.iter().zip(occupied).enumerate() {
            if is_occupied {
                for component in components(bits) {
                    copies.cube.push(cube as u32);
                    copies.bits.push(component);
                }
            }
            copies.starts.push(copies.cube.len() as u32);
        }
        copies
    }

    fn of_cube(&self, cube: usize) -> std::ops::Range<usize> {
        self.starts[cube] as usize..self.starts[cube + 1] as usize
    }

    /// The cell a point of the surface belongs to: the one whose places are nearest just below the surface.
    pub fn find(&self, grid: &Grid, point: DVec3, outward: DVec3) -> Option<usize> {
        self.find_in(grid.index(grid.place(point)), grid, point, outward)
    }

    /// The same among the cells of a given cube.
    fn find_in(&self, cube: usize, grid: &Grid, point: DVec3, outward: DVec3) -> Option<usize> {
        let range = self.of_cube(cube);
        if range.len() < 2 {
            return range.into_iter().next();
        }
        let below = point - outward * (0.5 * grid.size / SAMPLES as f64);
        let local = (below - grid.corner(grid.at(cube))) / grid.size * SAMPLES as f64;
        let distance = |cell: &usize| {
            let places = (0..64).filter(|s| self.bits[*cell] >> s & 1 == 1);
            places.map(|s| (sample_place(s) + 0.5).distance_squared(local)).fold(f64::INFINITY, f64::min)
        };
        range.min_by(|a, b| distance(a).total_cmp(&distance(b)))
    }

    /// Node of every corner of every cell, and the number of nodes. `cell_of` is the cell of each vertex.
    pub fn join(&self, grid: &Grid, mesh: &Mesh, cell_of: &[Option<usize>]) -> (Vec<[u32; 8]>, usize) {
        let mut corners = UnionFind::new(8 * self.cube.len());
        self.links(grid, mesh, cell_of, |a, b| self.merge(grid, &mut corners, a, b));
        let (labels, n_nodes) = corners.labels();
        (labels.as_chunks::<8>().0.to_vec(), n_nodes)
    }

    /// Every pair of cells that hang together, some more than once: across faces where places inside meet, along edges of
    /// the surface, and where triangles pass through cells too thin to have places inside.
    pub fn links(
        &self,
        grid: &Grid,
        mesh: &Mesh,
        cell_of: &[Option<usize>],
        mut link: impl FnMut(usize, usize),
    ) {
        for cell in 0..self.cube.len() {
            let at = grid.at(self.cube[cell] as usize);
            for (axis, next) in IVec3::AXES.into_iter().enumerate() {
                if grid.contains(at + next) {
                    for other in self.of_cube(grid.index(at + next)) {
                        if meet(self.bits[cell], self.bits[other], axis) {
                            link(cell, other);
                        }
                    }
                }
            }
        }
        for face in mesh.faces() {
            for (i, j) in [(0, 1), (1, 2), (2, 0)] {
                let ends = (cell_of[face[i] as usize], cell_of[face[j] as usize]);
                if let (Some(a), Some(b)) = ends {
                    link(a, b);
                }
            }
        }
        self.link_thin(grid, mesh, link);
    }

    /// Cells too thin to have places inside hang on the cells that the same triangles pass through.
    fn link_thin(&self, grid: &Grid, mesh: &Mesh, mut link: impl FnMut(usize, usize)) {
        let is_thin = |cube: usize| self.of_cube(cube).any(|cell| self.bits[cell] == 0);
        let mut cubes = Vec::new();
        for face in 0..mesh.n_faces() {
            let triangle = mesh.corners(face);
            cubes.clear();
            grid.visit(&triangle, |cube| cubes.push(cube));
            cubes.sort_unstable();
            cubes.dedup();
            if cubes.len() < 2 || !cubes.iter().any(|&cube| is_thin(cube)) {
                continue;
            }
            let middle = (triangle[0] + triangle[1] + triangle[2]) / 3.0;
            let outward = (triangle[1] - triangle[0]).cross(triangle[2] - triangle[0]).normalize_or_zero();
            for &cube in &cubes {
                let at = grid.at(cube);
                let neighbors = IVec3::AXES.into_iter().filter(|next| grid.contains(at + next));
                for other in neighbors.map(|next| grid.index(at + next)) {
                    if cubes.binary_search(&other).is_ok() && (is_thin(cube) || is_thin(other)) {
                        let cells = [cube, other].map(|cube| self.find_in(cube, grid, middle, outward));
                        if let [Some(a), Some(b)] = cells {
                            link(a, b);
                        }
                    }
                }
            }
        }
    }

    /// Let two cells share the corners that lie in the same places.
    fn merge(&self, grid: &Grid, corners: &mut UnionFind, a: usize, b: usize) {
        if a == b {
            return;
        }
        let (at_a, at_b) = (grid.at(self.cube[a] as usize), grid.at(self.cube[b] as usize));
        for c in 0..8 {
            let place = at_a + bits_of(c) - at_b;
            if place.cmpge(IVec3::ZERO).all() && place.cmple(IVec3::ONE).all() {
                let d = (place.x + 2 * place.y + 4 * place.z) as usize;
                corners.union((8 * a + c) as u32, (8 * b + d) as u32);
            }
        }
    }
}

fn bits_of(corner: usize) -> IVec3 {
    IVec3::new((corner & 1) as i32, (corner >> 1 & 1) as i32, (corner >> 2 & 1) as i32)
}

/// Whether places of two cells side by side along an axis face each other.
fn meet(a: u64, b: u64, axis: usize) -> bool {
    let facing = match axis {
        0 => a >> 3 & X0 & b,
        1 => a >> 12 & Y0 & b,
        _ => a >> 48 & Z0 & b,
    };
    facing != 0
}

/// Connected components of places; at least one, which may be empty.
fn components(bits: u64) -> Vec<u64> {
    if bits == FULL || bits == 0 {
        return vec![bits];
    }
    let (mut left, mut found) = (bits, Vec::new());
    while left != 0 {
        let mut part = left & left.wrapping_neg();
        loop {
            let grown = grow(part) & left;
            if grown == part {
                break;
            }
            part = grown;
        }
        left &= !part;
        found.push(part);
    }
    let Some(largest) = (0..found.len()).max_by_key(|&i| (found[i].count_ones(), usize::MAX - i)) else {
        return vec![bits];
    };
    let crumbs = found.iter().filter(|part| part.count_ones() < MIN_PLACES).fold(0, |sum, part| sum | part);
    found[largest] |= crumbs;
    let large = found[largest];
    found.retain(|part| part.count_ones() >= MIN_PLACES || *part == large);
    found
}

/// Places and their neighbours along the axes.
fn grow(bits: u64) -> u64 {
    let x = (bits & !(X0 << 3)) << 1 | (bits & !X0) >> 1;
    let y = (bits & !(Y0 << 12)) << 4 | (bits & !Y0) >> 4;
    bits | x | y | bits << 16 | bits >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_found_on_bits() {
        assert_eq!(components(FULL), [FULL]);
        assert_eq!(components(0), [0]);
        // Two opposite slabs, and a crumb in between that the first of the largest takes.
        let (low, high) = (X0, X0 << 3);
        assert_eq!(components(low | high), [low, high]);
        assert_eq!(grow(low), low | low << 1);
        assert_eq!(grow(Z0), Z0 | Z0 << 16);
        assert_eq!(grow(Y0), Y0 | Y0 << 4);
        assert_eq!(components(Z0 | 1 << 40), [Z0 | 1 << 40]);
        // A row that wraps around in memory is no connection.
        assert_eq!(grow(0b1000) & 0b1_0000, 0);
    }

    #[test]
    fn cells_meet_where_places_face_each_other() {
        assert!(meet(X0 << 3, X0, 0) && !meet(X0, X0, 0) && !meet(FULL, X0 << 3, 0));
        assert!(meet(Y0 << 12, Y0, 1) && meet(Z0 << 48, Z0, 2) && !meet(Z0, FULL, 2));
        assert!(!meet(0, FULL, 0), "thin parts hang on the surface alone");
    }
}
