//! Eight numbers at a time.
//!
//! Frames are adjacent in memory, eight to a wide register, so that eight frames are processed at once.

use sinew_geom::linalg;

/// Frames handled together.
pub(crate) const LANES: usize = 8;

/// Eight numbers.
pub(crate) type V = [f32; LANES];

/// The same number eight times.
#[inline(always)]
pub(crate) fn splat(x: f32) -> V {
    [x; LANES]
}

/// `a · b + c`.
#[inline(always)]
pub(crate) fn fma<const FMA: bool>(a: V, b: V, mut c: V) -> V {
    for l in 0..LANES {
        c[l] = linalg::fma::<FMA, _>(a[l], b[l], c[l]);
    }
    c
}

/// `a − b`.
#[inline(always)]
pub(crate) fn sub(mut a: V, b: V) -> V {
    for l in 0..LANES {
        a[l] -= b[l];
    }
    a
}

/// `a + b`.
#[inline(always)]
pub(crate) fn add(mut a: V, b: V) -> V {
    for l in 0..LANES {
        a[l] += b[l];
    }
    a
}

/// `a · b`.
#[inline(always)]
pub(crate) fn mul(mut a: V, b: V) -> V {
    for l in 0..LANES {
        a[l] *= b[l];
    }
    a
}

/// Sum of the eight, always in the same order.
#[inline(always)]
pub(crate) fn sum(a: V) -> f32 {
    ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7]))
}

/// A row of numbers as groups of eight; rows are padded, so that nothing is left over.
#[inline(always)]
pub(crate) fn groups(row: &[f32]) -> &[V] {
    row.as_chunks().0
}

/// As [`groups`], to be written.
#[inline(always)]
pub(crate) fn groups_mut(row: &mut [f32]) -> &mut [V] {
    row.as_chunks_mut().0
}
