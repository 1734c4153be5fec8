//! Rows of numbers, one per example, in groups of four that the compiler turns into vector instructions.

use sinew_geom::linalg::fma;

/// Four numbers.
pub type Lane = [f64; 4];

/// One number of a row.
#[inline(always)]
pub fn get(row: &[Lane], at: usize) -> f64 {
    row[at / 4][at % 4]
}

/// Add to one number of a row.
#[inline(always)]
pub fn put(row: &mut [Lane], at: usize, value: f64) {
    row[at / 4][at % 4] += value;
}

/// Add a multiple of one row to another, up to the length of the other.
#[inline(always)]
pub fn add<const FMA: bool>(to: &mut [Lane], share: f64, row: &[Lane]) {
    for (to, from) in to.iter_mut().zip(row) {
        for i in 0..4 {
            to[i] = fma::<FMA, _>(share, from[i], to[i]);
        }
    }
}
