//! Regular grids: the surface of a box of cells, an open sheet, and smooth resampling of both.

use glam::{DVec3, IVec3};

/// Surface of a box of `cells` cells: its lattice points, numbered layer by layer along x.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoxLattice {
    pub cells: IVec3,
}

impl BoxLattice {
    /// Points in a ring around the x axis.
    fn ring(&self) -> i32 {
        2 * (self.cells.y + self.cells.z)
    }

    fn cap(&self) -> i32 {
        (self.cells.y + 1) * (self.cells.z + 1)
    }

    pub fn n_vertices(&self) -> usize {
        (2 * self.cap() + (self.cells.x - 1) * self.ring()) as usize
    }

    /// Number of a point on the surface.
    pub fn index(&self, p: IVec3) -> u32 {
        let IVec3 { x: a, y: b, z: c } = self.cells;
        let on_cap = p.y * (c + 1) + p.z;
        let around = if p.z == 0 {
            p.y
        } else if p.y == b {
            b + p.z
        } else if p.z == c {
            b + c + (b - p.y)
        } else {
            2 * b + c + (c - p.z)
        };
        let index = match p.x {
            0 => on_cap,
            x if x == a => self.cap() + (a - 1) * self.ring() + on_cap,
            x => self.cap() + (x - 1) * self.ring() + around,
        };
        index as u32
    }

    /// All points, in order.
    pub fn points(&self) -> Vec<IVec3> {
        let mut points = vec![IVec3::ZERO; self.n_vertices()];
        for axis in 0..3 {
            self.for_side(axis, |p, _, _| points[self.index(p) as usize] = p);
        }
        points
    }

    /// Visit the lattice points of both sides across an axis, with the two other axes.
    fn for_side(&self, axis: usize, mut visit: impl FnMut(IVec3, usize, usize)) {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        for end in [0, self.cells[axis]] {
            for i in 0..=self.cells[u] {
                for j in 0..=self.cells[v] {
                    let mut p = IVec3::ZERO;
                    (p[axis], p[u], p[v]) = (end, i, j);
                    visit(p, u, v);
                }
            }
        }
    }

    /// Outward quads.
    pub fn quads(&self) -> Vec<[u32; 4]> {
        let mut quads = Vec::with_capacity(self.n_vertices());
        for axis in 0..3 {
            self.for_side(axis, |p, u, v| {
                if p[u] < self.cells[u] && p[v] < self.cells[v] {
                    let (du, dv) = (IVec3::AXES[u], IVec3::AXES[v]);
                    let mut quad = [p, p + du, p + du + dv, p + dv].map(|q| self.index(q));
                    if p[axis] == 0 {
                        quad.reverse();
                    }
                    quads.push(quad);
                }
            });
        }
        quads
    }

    /// Smooth values at the points of a finer (or coarser) box: Catmull–Rom on each side, folded over the edges.
    pub fn resample(&self, values: &[DVec3], fine: &BoxLattice) -> Vec<DVec3> {
        fine.points().iter().map(|&p| self.sample(values, p, fine.cells)).collect()
    }

    fn sample(&self, values: &[DVec3], p: IVec3, cells: IVec3) -> DVec3 {
        let axis = (0..3).find(|&d| p[d] == 0 || p[d] == cells[d]).unwrap_or(0);
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let at = |d: usize| f64::from(p[d]) * f64::from(self.cells[d]) / f64::from(cells[d]);
        let mut corner = IVec3::ZERO;
        corner[axis] = if p[axis] == 0 { 0 } else { self.cells[axis] };
        let ((i, wi), (j, wj)) = (cubic_weights(at(u), self.cells[u]), cubic_weights(at(v), self.cells[v]));
        let mut sum = DVec3::ZERO;
        for (a, wa) in wi.into_iter().enumerate() {
            for (b, wb) in wj.into_iter().enumerate() {
                (corner[u], corner[v]) = (i + a as i32, j + b as i32);
                sum += self.fetch(values, corner, axis, u, v) * (wa * wb);
            }
        }
        sum
    }

    /// Value at a point of a side that may be one cell beyond its edge: continue around the edge.
    fn fetch(&self, values: &[DVec3], p: IVec3, axis: usize, u: usize, v: usize) -> DVec3 {
        let inside = |d: usize| (0..=self.cells[d]).contains(&p[d]);
        let fold = |d: usize| {
            let mut q = p.clamp(IVec3::ZERO, self.cells);
            if !inside(d) {
                q[axis] += if p[axis] == 0 { 1 } else { -1 };
            }
            values[self.index(q) as usize]
        };
        match (inside(u), inside(v)) {
            (true, _) => fold(v),
            (false, true) => fold(u),
            (false, false) => {
                fold(u) + fold(v) - values[self.index(p.clamp(IVec3::ZERO, self.cells)) as usize]
            }
        }
    }
}

/// First of four neighbouring points along an axis of `n` cells, and their Catmull–Rom weights.
fn cubic_weights(at: f64, n: i32) -> (i32, [f64; 4]) {
    let cell = (at.floor() as i32).clamp(0, n - 1);
    let t = at - f64::from(cell);
    let (t2, t3) = (t * t, t * t * t);
    let weights = [
        0.5 * (-t + 2.0 * t2 - t3),
        0.5 * (2.0 - 5.0 * t2 + 3.0 * t3),
        0.5 * (t + 4.0 * t2 - 3.0 * t3),
        0.5 * (t3 - t2),
    ];
    (cell - 1, weights)
}

/// An open sheet of `cells` cells; points run along u first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sheet {
    pub cells: [i32; 2],
}

impl Sheet {
    pub fn index(&self, i: i32, j: i32) -> u32 {
        (j * (self.cells[0] + 1) + i) as u32
    }

    /// All points in order, as numbers of cells along u and v.
    pub fn points(&self) -> impl Iterator<Item = (i32, i32)> + use<> {
        let [n, m] = self.cells;
        (0..=m).flat_map(move |j| (0..=n).map(move |i| (i, j)))
    }

    pub fn quads(&self) -> Vec<[u32; 4]> {
        let [n, m] = self.cells;
        let quad = |i, j| [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| self.index(i, j));
        (0..m).flat_map(|j| (0..n).map(move |i| (i, j))).map(|(i, j)| quad(i, j)).collect()
    }

    /// Smooth values at the points of another sheet.
    pub fn resample(&self, values: &[DVec3], fine: &Sheet) -> Vec<DVec3> {
        let scale = [0, 1].map(|d| f64::from(self.cells[d]) / f64::from(fine.cells[d]));
        let point = |(i, j): (i32, i32)| {
            let (u, wu) = cubic_weights(f64::from(i) * scale[0], self.cells[0]);
            let (v, wv) = cubic_weights(f64::from(j) * scale[1], self.cells[1]);
            let mut sum = DVec3::ZERO;
            for (b, wb) in wv.into_iter().enumerate() {
                for (a, wa) in wu.into_iter().enumerate() {
                    sum += self.fetch(values, u + a as i32, v + b as i32) * (wa * wb);
                }
            }
            sum
        };
        fine.points().map(point).collect()
    }

    /// Value at a point; one cell beyond the border it is extrapolated linearly.
    fn fetch(&self, values: &[DVec3], i: i32, j: i32) -> DVec3 {
        let [n, m] = self.cells;
        let at = |i: i32, j: i32| values[self.index(i, j) as usize];
        let along = |j: i32| {
            if i < 0 {
                2.0 * at(0, j) - at(1, j)
            } else if i > n {
                2.0 * at(n, j) - at(n - 1, j)
            } else {
                at(i, j)
            }
        };
        if j < 0 {
            2.0 * along(0) - along(1)
        } else if j > m {
            2.0 * along(m) - along(m - 1)
        } else {
            along(j)
        }
    }
}

/// Two triangles per quad, the diagonals alternating so that no direction is preferred.
pub(super) fn split_quads(quads: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let split = |&[a, b, c, d]: &[u32; 4]| {
        if (a ^ b ^ c ^ d ^ (a >> 1)) & 1 == 0 { [[a, b, c], [a, c, d]] } else { [[a, b, d], [b, c, d]] }
    };
    quads.iter().flat_map(split).collect()
}
