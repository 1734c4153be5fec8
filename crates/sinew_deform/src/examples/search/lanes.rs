//! Numbers of the examples, four at a time: what a compiler makes vector instructions of.

use sinew_geom::linalg::fma;

/// Four numbers.
pub type Lane = [f64; 4];

/// A number of a row.
#[inline(always)]
pub fn get(row: &[Lane], at: usize) -> f64 {
    row[at / 4][at % 4]
}

/// Add to a number of a row.
#[inline(always)]
pub fn put(row: &mut [Lane], at: usize, value: f64) {
    row[at / 4][at % 4] += value;
}

/// Add a share of one row to another, as far as the other goes.
#[inline(always)]
pub fn add<const FMA: bool>(to: &mut [Lane], share: f64, row: &[Lane]) {
    for (to, from) in to.iter_mut().zip(row) {
        for i in 0..4 {
            to[i] = fma::<FMA, _>(share, from[i], to[i]);
        }
    }
}
