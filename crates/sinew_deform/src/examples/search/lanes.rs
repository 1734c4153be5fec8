//! Numbers of the examples, four at a time: what a compiler makes vector instructions of.

/// Four numbers.
pub type Lane = [f64; 4];

/// A number of a row.
pub fn get(row: &[Lane], at: usize) -> f64 {
    row[at / 4][at % 4]
}

/// Add to a number of a row.
pub fn put(row: &mut [Lane], at: usize, value: f64) {
    row[at / 4][at % 4] += value;
}

/// Add a share of one row to another, as far as the other goes.
pub fn add(to: &mut [Lane], share: f64, row: &[Lane]) {
    for (to, from) in to.iter_mut().zip(row) {
        for i in 0..4 {
            to[i] += share * from[i];
        }
    }
}
