//! Numbers of the examples, four at a time: what a compiler makes vector instructions of.

/// Four numbers.
pub type Lane = [f64; 4];

/// `a · b + c`, in one instruction where the machine has it.
#[inline(always)]
pub fn fma<const FMA: bool>(a: f64, b: f64, c: f64) -> f64 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

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
            to[i] = fma::<FMA>(share, from[i], to[i]);
        }
    }
}
