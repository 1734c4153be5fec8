//! A regular grid of cells, and sets of its cells.

use glam::DVec3;

/// Where the cells of a grid are. Cell `(x, y, z)` has the number `(x · ny + y) · nz + z`.
#[derive(Debug, Clone)]
pub(crate) struct Grid {
    pub dims: [usize; 3],
    pub origin: DVec3,
    pub cell: f64,
}

/// Empty cells on every side, so that what is outside is connected and neighbours exist.
const MARGIN_CELLS: usize = 4;

impl Grid {
    /// Around a box, with `resolution` cells on its longest side.
    pub fn around(low: DVec3, high: DVec3, resolution: usize) -> Self {
        let extent = high - low;
        let cell = extent.max_element() / resolution as f64;
        let count = |length: f64| (length / cell).ceil() as usize + 2 * MARGIN_CELLS + 1;
        let dims = [count(extent.x), count(extent.y), count(extent.z)];
        // Centred, so that the grid of a symmetric body is symmetric.
        let size = cell * DVec3::new(dims[0] as f64, dims[1] as f64, dims[2] as f64);
        Self { dims, origin: 0.5 * (low + high) - 0.5 * size, cell }
    }

    pub fn n_cells(&self) -> usize {
        self.dims.iter().product()
    }

    pub fn number(&self, [x, y, z]: [usize; 3]) -> usize {
        (x * self.dims[1] + y) * self.dims[2] + z
    }

    pub fn place(&self, number: usize) -> [usize; 3] {
        let rest = number / self.dims[2];
        [rest / self.dims[1], rest % self.dims[1], number % self.dims[2]]
    }

    /// The cell that holds a point; the nearest one for points outside.
    pub fn containing(&self, point: DVec3) -> [usize; 3] {
        let p = (point - self.origin) / self.cell;
        let along = |value: f64, n: usize| (value.max(0.0) as usize).min(n - 1);
        [along(p.x, self.dims[0]), along(p.y, self.dims[1]), along(p.z, self.dims[2])]
    }

    /// Middle of a cell.
    pub fn middle(&self, number: usize) -> DVec3 {
        let [x, y, z] = self.place(number).map(|i| i as f64 + 0.5);
        self.origin + self.cell * DVec3::new(x, y, z)
    }

    /// Steps in cell numbers to the six neighbours across faces.
    pub fn face_steps(&self) -> [isize; 6] {
        let (z, y) = (1, self.dims[2] as isize);
        let x = y * self.dims[1] as isize;
        [x, -x, y, -y, z, -z]
    }

    /// All 26 neighbours: step in cell numbers, and length in cells.
    pub fn all_steps(&self) -> Vec<(isize, f64)> {
        let (ny, nz) = (self.dims[1] as isize, self.dims[2] as isize);
        let mut steps = Vec::with_capacity(26);
        for x in -1isize..=1 {
            for y in -1isize..=1 {
                for z in -1isize..=1 {
                    let square = x * x + y * y + z * z;
                    if square > 0 {
                        steps.push(((x * ny + y) * nz + z, (square as f64).sqrt()));
                    }
                }
            }
        }
        steps
    }

    /// Whether a cell lies on the border of the grid, where not all neighbours exist.
    pub fn is_border(&self, number: usize) -> bool {
        let place = self.place(number);
        (0..3).any(|axis| place[axis] == 0 || place[axis] + 1 == self.dims[axis])
    }
}
