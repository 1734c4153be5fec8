//! Forward and backward substitution with a supernodal factor and a few interleaved right-hand sides.
//!
//! # Source
//! Sinew's own, developed from measurements of handle editing. Differs from a general solver: values are stored in
//! panels in the order they are read, and right-hand sides are interleaved, so that each value of `L` is loaded once
//! and multiplied with a whole vector register.
//! # Cost
//! One pass over `L` each way: bound by memory. Four subtrees are solved in parallel.

use super::{
    simd::{Kernel, dispatch},
    supernodes::{Layout, N_PARTS, Supernode},
};
use faer::sparse::linalg::cholesky::SymbolicCholesky;
use rayon::prelude::*;

/// Precision a factor is stored and solved in.
pub trait Real:
    Substitute<1>
    + Substitute<2>
    + Substitute<4>
    + Substitute<8>
    + Copy
    + Default
    + Send
    + Sync
    + std::fmt::Debug
    + 'static
{
    /// Round to this precision.
    fn from_f64(value: f64) -> Self;
    /// Widen.
    fn to_f64(self) -> f64;
    /// `self · b`.
    fn times(self, b: Self) -> Self;
    /// `self + b`.
    fn plus(self, b: Self) -> Self;
    /// `c − self · b`, fused if `FMA`.
    fn subtract_from<const FMA: bool>(self, b: Self, c: Self) -> Self;
    /// Copy faer's factor into our layout.
    fn pack(layout: &Layout, symbolic: &SymbolicCholesky<u32>, l: &[f64]) -> Vec<Self>;
}

/// Both substitutions for `W` interleaved right-hand sides, compiled here once: generic code would be compiled again in
/// every crate that uses it.
pub trait Substitute<const W: usize>: Sized {
    /// Replace right-hand sides, in the order of the factor, by their solutions.
    fn substitute(layout: &Layout, values: &[Self], x: &mut [[Self; W]]);
}

macro_rules! impl_real {
    ($t:ty) => {
        impl Real for $t {
            #[inline(always)]
            fn from_f64(value: f64) -> Self {
                value as $t
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn times(self, b: Self) -> Self {
                self * b
            }
            #[inline(always)]
            fn plus(self, b: Self) -> Self {
                self + b
            }
            #[inline(always)]
            fn subtract_from<const FMA: bool>(self, b: Self, c: Self) -> Self {
                if FMA { (-self).mul_add(b, c) } else { c - self * b }
            }
            fn pack(layout: &Layout, symbolic: &SymbolicCholesky<u32>, l: &[f64]) -> Vec<Self> {
                layout.pack(symbolic, l, Self::from_f64)
            }
        }
        impl_real!(@ $t; 1 2 4 8);
    };
    (@ $t:ty; $($w:literal)*) => {
        $(impl Substitute<$w> for $t {
            fn substitute(layout: &Layout, values: &[Self], x: &mut [[Self; $w]]) {
                Substitution { layout, values }.run(x);
            }
        })*
    };
}
impl_real!(f32);
impl_real!(f64);

/// Unknowns below which threads cost more than they gain.
const PARALLEL_UNKNOWNS: usize = 4_000;

/// Solve for `R` right-hand sides, in vector registers of suitable width.
pub(super) fn solve<T: Real, const R: usize>(layout: &Layout, values: &[T], x: &mut [[f64; R]]) {
    let mut first = 0;
    while first < R {
        match R - first {
            1 => solve_width::<T, R, 1>(layout, values, x, first),
            2 => solve_width::<T, R, 2>(layout, values, x, first),
            3 | 4 => solve_width::<T, R, 4>(layout, values, x, first),
            _ => solve_width::<T, R, 8>(layout, values, x, first),
        }
        first += 8;
    }
}

/// Solve right-hand sides `first .. first + W`, as many as there are.
fn solve_width<T: Real + Substitute<W>, const R: usize, const W: usize>(
    layout: &Layout,
    values: &[T],
    x: &mut [[f64; R]],
    first: usize,
) {
    let used = W.min(R - first);
    let mut work = vec![[T::default(); W]; x.len()];
    for (row, &column) in x.iter().zip(&layout.column_of) {
        let target = &mut work[column as usize];
        (0..used).for_each(|k| target[k] = T::from_f64(row[first + k]));
    }
    T::substitute(layout, values, &mut work);
    for (row, &column) in x.iter_mut().zip(&layout.column_of) {
        let source = &work[column as usize];
        (0..used).for_each(|k| row[first + k] = source[k].to_f64());
    }
}

/// Compile `$work` for every width of a panel, and run the matching one.
macro_rules! for_width {
    ($width:expr, $b:ident => $work:expr) => {
        for_width!(@ $width, $b => $work; 1 2 3 4 5 6 7 8)
    };
    (@ $width:expr, $b:ident => $work:expr; $($n:literal)*) => {
        match $width {
            $($n => { const $b: usize = $n; $work })*
            _ => unreachable!("panels have at most eight columns"),
        }
    };
}

struct Substitution<'a, T> {
    layout: &'a Layout,
    values: &'a [T],
}

impl<T: Real> Substitution<'_, T> {
    fn run<const W: usize>(&self, x: &mut [[T; W]]) {
        let (lower, top) = x.split_at_mut(self.layout.parts[N_PARTS].1.start);
        let mut parts = split_parts(lower, &self.layout.parts);
        let parallel = self.layout.column_of.len() >= PARALLEL_UNKNOWNS;
        // Each part subtracts from its own copy of the top; the sums are taken in a fixed order.
        let mut tops = vec![vec![[T::default(); W]; top.len()]; N_PARTS];
        let mut jobs: Vec<_> = parts.iter_mut().zip(&mut tops).enumerate().collect();
        run_all(&mut jobs, parallel, |(part, (own, top))| {
            dispatch(Forward { of: self, part: *part, own, top });
        });
        for copy in &tops {
            for (sum, part) in top.iter_mut().zip(copy) {
                (0..W).for_each(|k| sum[k] = sum[k].plus(part[k]));
            }
        }
        dispatch(Forward { of: self, part: N_PARTS, own: top, top: &mut [] });
        dispatch(Backward { of: self, part: N_PARTS, own: top, top: &[] });
        let top = &*top;
        let mut jobs: Vec<_> = parts.iter_mut().enumerate().collect();
        run_all(&mut jobs, parallel, |(part, own)| dispatch(Backward { of: self, part: *part, own, top }));
    }

    /// A panel of a supernode, for the part whose first column is `own_start`.
    #[inline(always)]
    fn panel(
        &self,
        node: &Supernode,
        own_start: usize,
        (j, width, start): (usize, usize, usize),
    ) -> Panel<'_, T> {
        let n_triangle = width * (width + 1) / 2;
        let n_after = node.width - j - width;
        let values = &self.values[node.values + start..];
        let (triangle, below) = values.split_at(n_triangle);
        let (after, below) = below.split_at(width * n_after);
        let (own, below) = below.split_at(width * node.n_own);
        let top = &below[..width * (node.height - node.n_own)];
        let rows = self.layout.rows[node.rows..node.rows + node.height].split_at(node.n_own);
        let starts = (own_start, self.layout.parts[N_PARTS].1.start);
        Panel { triangle, after, rows, blocks: (own, top), starts, column: node.column - own_start + j }
    }
}

/// Run every job, on several threads if worthwhile.
fn run_all<J: Send>(jobs: &mut [J], parallel: bool, run: impl Fn(&mut J) + Sync + Send) {
    if parallel { jobs.par_iter_mut().for_each(run) } else { jobs.iter_mut().for_each(run) }
}

fn split_parts<'a, V>(
    mut x: &'a mut [V],
    parts: &[(std::ops::Range<usize>, std::ops::Range<usize>)],
) -> Vec<&'a mut [V]> {
    let mut out = Vec::with_capacity(N_PARTS);
    for (_, columns) in &parts[..N_PARTS] {
        let (part, rest) = x.split_at_mut(columns.len());
        out.push(part);
        x = rest;
    }
    out
}

struct Forward<'a, T, const W: usize> {
    of: &'a Substitution<'a, T>,
    part: usize,
    own: &'a mut [[T; W]],
    top: &'a mut [[T; W]],
}

impl<T: Real, const W: usize> Kernel for Forward<'_, T, W> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (nodes, columns) = self.of.layout.parts[self.part].clone();
        for node in &self.of.layout.supernodes[nodes] {
            for panel in node.panels() {
                let width = panel.1;
                let panel = self.of.panel(node, columns.start, panel);
                for_width!(width, B => panel.forward::<W, B, FMA>(self.own, self.top));
            }
        }
    }
}

struct Backward<'a, T, const W: usize> {
    of: &'a Substitution<'a, T>,
    part: usize,
    own: &'a mut [[T; W]],
    top: &'a [[T; W]],
}

impl<T: Real, const W: usize> Kernel for Backward<'_, T, W> {
    type Output = ();
    #[inline(always)]
    fn run<const FMA: bool>(self) {
        let (nodes, columns) = self.of.layout.parts[self.part].clone();
        for node in self.of.layout.supernodes[nodes].iter().rev() {
            for panel in node.panels().rev() {
                let width = panel.1;
                let panel = self.of.panel(node, columns.start, panel);
                for_width!(width, B => panel.backward::<W, B, FMA>(self.own, self.top));
            }
        }
    }
}

/// A few columns of a supernode: their triangle, the supernode's columns after them, rows of its own part, then
/// rows of the top.
struct Panel<'a, T> {
    triangle: &'a [T],
    after: &'a [T],
    rows: (&'a [u32], &'a [u32]),
    blocks: (&'a [T], &'a [T]),
    /// First column of the own part and of the top.
    starts: (usize, usize),
    /// First column, counted within the own part.
    column: usize,
}

impl<T: Real> Panel<'_, T> {
    #[inline(always)]
    fn forward<const W: usize, const B: usize, const FMA: bool>(
        &self,
        own: &mut [[T; W]],
        top: &mut [[T; W]],
    ) {
        let (y, after) =
            own[self.column..].split_first_chunk_mut::<B>().expect("a panel lies within its part");
        for i in 0..B {
            let row = &self.triangle[i * (i + 1) / 2..];
            let mut v = y[i];
            for t in 0..i {
                subtract::<T, W, FMA>(&mut v, row[t], &y[t]);
            }
            (0..W).for_each(|k| v[k] = v[k].times(row[i]));
            y[i] = v;
        }
        let y = *y;
        for (x, l) in after.iter_mut().zip(self.after.as_chunks::<B>().0) {
            *x = combine::<T, W, B, FMA>(*x, l, &y);
        }
        scatter::<T, W, B, FMA>(self.blocks.0, self.rows.0, self.starts.0, own, &y);
        scatter::<T, W, B, FMA>(self.blocks.1, self.rows.1, self.starts.1, top, &y);
    }

    #[inline(always)]
    fn backward<const W: usize, const B: usize, const FMA: bool>(&self, own: &mut [[T; W]], top: &[[T; W]]) {
        let (y, after) = own[self.column..].split_first_chunk::<B>().expect("a panel lies within its part");
        let mut y = *y;
        for (x, l) in after.iter().zip(self.after.as_chunks::<B>().0) {
            for t in 0..B {
                subtract::<T, W, FMA>(&mut y[t], l[t], x);
            }
        }
        gather::<T, W, B, FMA>(self.blocks.0, self.rows.0, self.starts.0, own, &mut y);
        gather::<T, W, B, FMA>(self.blocks.1, self.rows.1, self.starts.1, top, &mut y);
        for i in (0..B).rev() {
            let row = &self.triangle[i * (i + 1) / 2..];
            let mut v = y[i];
            (0..W).for_each(|k| v[k] = v[k].times(row[i]));
            y[i] = v;
            for t in 0..i {
                subtract::<T, W, FMA>(&mut y[t], row[t], &v);
            }
        }
        own[self.column..self.column + B].copy_from_slice(&y);
    }
}

/// `x −= l · y`.
#[inline(always)]
fn subtract<T: Real, const W: usize, const FMA: bool>(x: &mut [T; W], l: T, y: &[T; W]) {
    for k in 0..W {
        x[k] = l.subtract_from::<FMA>(y[k], x[k]);
    }
}

/// `x − Σ l · y`. A plain loop: with closures here, eight lanes were not vectorised (ten times as slow).
#[inline(always)]
fn combine<T: Real, const W: usize, const B: usize, const FMA: bool>(
    mut x: [T; W],
    l: &[T; B],
    y: &[[T; W]; B],
) -> [T; W] {
    for t in 0..B {
        subtract::<T, W, FMA>(&mut x, l[t], &y[t]);
    }
    x
}

/// `x[row] −= Σ block[row] · y` for every row of a panel.
#[inline(always)]
fn scatter<T: Real, const W: usize, const B: usize, const FMA: bool>(
    block: &[T],
    rows: &[u32],
    start: usize,
    x: &mut [[T; W]],
    y: &[[T; W]; B],
) {
    for (&row, l) in rows.iter().zip(block.as_chunks::<B>().0) {
        let target = &mut x[row as usize - start];
        *target = combine::<T, W, B, FMA>(*target, l, y);
    }
}

/// `y −= Σ block[row]ᵀ · x[row]` over the rows of a panel.
#[inline(always)]
fn gather<T: Real, const W: usize, const B: usize, const FMA: bool>(
    block: &[T],
    rows: &[u32],
    start: usize,
    x: &[[T; W]],
    y: &mut [[T; W]; B],
) {
    for (&row, l) in rows.iter().zip(block.as_chunks::<B>().0) {
        let source = x[row as usize - start];
        for t in 0..B {
            subtract::<T, W, FMA>(&mut y[t], l[t], &source);
        }
    }
}
